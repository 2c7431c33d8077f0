//! Makes old text shorter without a model: the ends of an output, the head of a list.
//!
//! A tool result keeps what it is about (program, args, exit code, outcome) and loses
//! what it printed; other text loses its middle. Each says how much is left out.

use serde_json::{Value, json};

/// How many items of a parsed list an old result keeps.
const ITEMS: usize = 8;

/// The text in at most `limit` bytes. Lines that are tool results are made shorter
/// field by field, so that they stay JSON where the limit allows it.
pub fn shorten(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.lines().collect();
    let share = limit / lines.len().max(1);
    let shorter: Vec<String> = lines.iter().map(|line| result(line, share)).collect();
    cut_middle(&shorter.join("\n"), limit)
}

fn result(line: &str, limit: usize) -> String {
    if line.len() <= limit {
        return line.to_owned();
    }
    match serde_json::from_str::<Value>(line) {
        Ok(Value::Object(mut fields)) if fields.contains_key("_event") => {
            for name in ["stdoutTail", "stderrTail"] {
                if let Some(Value::String(text)) = fields.get(name) {
                    let short = tail(text, limit / 4);
                    fields.insert(name.to_owned(), json!(short));
                }
            }
            if let Some(Value::Array(items)) =
                fields.get_mut("parsed").and_then(|parsed| parsed.get_mut("items"))
            {
                items.truncate(ITEMS);
            }
            fields.insert("truncated".to_owned(), json!(true));
            Value::Object(fields).to_string()
        }
        _ => line.to_owned(),
    }
}

/// The end of a text, in at most `limit` bytes, from a line's start where there is one.
fn tail(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let start = boundary_up(text, text.len() - limit);
    let end = text.split_at(start).1;
    match end.split_once('\n') {
        Some((_, rest)) if !rest.is_empty() => rest,
        _ => end,
    }
}

/// Both ends of a text, in at most `limit` bytes, with a line between that says how
/// many bytes are left out.
pub fn cut_middle(text: &str, limit: usize) -> String {
    const MARK: usize = 48;
    if text.len() <= limit {
        return text.to_owned();
    }
    if limit <= MARK * 2 {
        return text.split_at(boundary_down(text, limit)).0.to_owned();
    }
    let half = (limit - MARK) / 2;
    let head = text.split_at(boundary_down(text, half)).0;
    let end = text.split_at(boundary_up(text, text.len() - half)).1;
    let left_out = text.len() - head.len() - end.len();
    format!("{head}\n[… {left_out} bytes left out …]\n{end}")
}

fn boundary_down(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn boundary_up(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at.min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long_result() -> String {
        json!({
            "_event": "tool_result", "tool": "cmd", "id": "cmd_001", "program": "rg",
            "args": ["x"], "exitCode": 0, "stdoutTail": "line\n".repeat(2_000), "stderrTail": "",
            "truncated": false, "parsed": {"kind": "search_matches", "total": 90,
                "items": (0..50).map(|n| json!({"file": "a", "line": n})).collect::<Vec<_>>()},
        })
        .to_string()
    }

    #[test]
    fn an_old_result_stays_json_and_keeps_what_it_is_about() {
        let short = shorten(&long_result(), 2_000);
        assert!(short.len() <= 2_000);
        let value: Value = serde_json::from_str(&short).expect("still JSON");
        assert_eq!(value["program"], "rg");
        assert_eq!(value["parsed"]["total"], 90);
        assert_eq!(value["parsed"]["items"].as_array().map(Vec::len), Some(ITEMS));
        assert_eq!(value["truncated"], true);
    }

    #[test]
    fn any_text_fits_any_limit() {
        for text in ["", "short", &"长".repeat(500), &long_result()] {
            for limit in [0, 1, 7, 96, 97, 300, 5_000] {
                assert!(shorten(text, limit).len() <= limit);
            }
        }
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let text = "a".repeat(1_000);
        let short = cut_middle(&text, 200);
        let kept = short.matches('a').count();
        // The mark itself has no `a` but in none of its words.
        assert!(short.contains(&format!("{} bytes left out", 1_000 - kept)), "{short}");
    }
}
