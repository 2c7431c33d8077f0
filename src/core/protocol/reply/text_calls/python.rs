//! Parses calls written in Python: `print(default_api.exec(program="ls", args=["-l"]))`.
//!
//! The arguments are rewritten as JSON, so names, nested calls and operators are rejected.

use serde_json::{Map, Value};

use crate::protocol::json_string::Unescape;

/// A name and arguments.
pub(super) type PythonCall = (String, Map<String, Value>);

/// All calls, if the text consists of nothing else.
pub(super) fn python_calls(text: &str) -> Option<Vec<PythonCall>> {
    let mut calls = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let printed = rest.strip_prefix("print(");
        let (name, arguments) = printed.unwrap_or(rest).split_once('(')?;
        let (arguments, after) = arguments_of(arguments)?;
        let name = name.trim().trim_end_matches(".call");
        if !name.chars().all(|c| c.is_alphanumeric() || "_.:".contains(c)) {
            return None;
        }
        calls.push((name.to_owned(), arguments));
        rest = if printed.is_some() { after.strip_prefix(')')? } else { after }.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    (!calls.is_empty()).then_some(calls)
}

/// The arguments up to the closing bracket, and the rest of the text.
fn arguments_of(text: &str) -> Option<(Map<String, Value>, &str)> {
    let mut json = String::from("{");
    let (mut depth, mut rest) = (0_usize, text);
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..)?;
        rest = match c {
            ')' if depth == 0 => {
                json.push('}');
                return Some((serde_json::from_str(&json).ok()?, after));
            }
            '"' | '\'' => {
                let (text, after) = string(rest, c)?;
                json.push_str(&Value::from(text).to_string());
                after
            }
            c if c.is_alphabetic() || c == '_' => {
                let is_part = |c: char| c.is_alphanumeric() || c == '_';
                let (word, after) = rest.split_at(rest.find(|c| !is_part(c))?);
                match after.trim_start().strip_prefix('=').filter(|_| depth == 0) {
                    Some(value) => {
                        json.push_str(&format!("\"{word}\":"));
                        value
                    }
                    None => {
                        json.push_str(match word {
                            "True" => "true",
                            "False" => "false",
                            "None" => "null",
                            _ => return None,
                        });
                        after
                    }
                }
            }
            c => {
                depth = match c {
                    '[' | '{' => depth + 1,
                    ']' | '}' => depth.checked_sub(1)?,
                    _ => depth,
                };
                json.push(c);
                after
            }
        };
    }
    None
}

/// A string in single or triple quotes, and the rest of the text.
fn string(text: &str, quote: char) -> Option<(String, &str)> {
    let long = quote.to_string().repeat(3);
    let close = if text.starts_with(&long) { long } else { quote.to_string() };
    let mut rest = text.get(close.len()..)?;
    let mut out = String::new();
    let mut inside = Unescape::default();

    loop {
        if inside.is_plain() && rest.starts_with(&close) {
            return Some((out, rest.get(close.len()..)?));
        }
        let c = rest.chars().next()?;
        rest = rest.get(c.len_utf8()..)?;
        if inside.push(c, &mut out) {
            out.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Vec<(String, String)>> {
        let calls = python_calls(text)?.into_iter();
        Some(calls.map(|(name, arguments)| (name, Value::Object(arguments).to_string())).collect())
    }

    #[test]
    fn literals_become_json() {
        let text = r#"file_write(path='a "b".py', content="""one
"two" \\n
""", all=True, from = 3, list=[1, {'a': None}])
job_list()"#;
        let input = r#"{"path":"a \"b\".py","content":"one\n\"two\" \\n\n","all":true,"from":3,"list":[1,{"a":null}]}"#;
        let calls = [("file_write", input), ("job_list", "{}")];
        let calls = calls.map(|(name, input)| (name.to_owned(), input.to_owned()));
        assert_eq!(read(text), Some(calls.to_vec()));
    }

    #[test]
    fn what_is_no_literal_is_no_call() {
        for text in [
            "exec(program=x)",
            "exec('ls')",
            "exec(program='ls' + 'x')",
            "exec(program=f('ls'))",
            "exec(program='ls')\nx = 1",
            "exec(program='ls",
            "print(1)",
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
