//! Shows a Jupyter notebook as its cells: what is written in them, and the beginning of what they
//! printed. Pictures among the outputs are only named.

use std::fmt::Write as _;

use serde_json::Value;

/// The most that is shown of one output, in bytes.
const OUTPUT: usize = 2_000;

/// The cells as text, and how many there are; `None` if it is not a notebook.
pub fn cells(text: &str) -> Option<(String, usize)> {
    let notebook: Value = serde_json::from_str(text).ok()?;
    let cells = notebook.get("cells")?.as_array()?;
    let mut out = String::new();
    for (at, cell) in cells.iter().enumerate() {
        let kind = cell.get("cell_type").and_then(Value::as_str).unwrap_or("cell");
        let _ = writeln!(out, "[{kind} {}]\n{}", at + 1, joined(cell.get("source")).trim_end());
        for output in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
            let said = said(output);
            let kept = said.get(..said.floor_char_boundary(OUTPUT)).unwrap_or_default();
            let cut = if kept.len() < said.len() { "…" } else { "" };
            let _ = writeln!(out, "[output]\n{}{cut}", kept.trim_end());
        }
    }
    Some((out, cells.len()))
}

/// A text, or the lines of one.
fn joined(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

fn said(output: &Value) -> String {
    if let Some(name) = output.get("ename").and_then(Value::as_str) {
        let why = output.get("evalue").and_then(Value::as_str).unwrap_or_default();
        return format!("{name}: {why}");
    }
    let Some(data) = output.get("data").and_then(Value::as_object) else {
        return joined(output.get("text"));
    };
    match data.get("text/plain") {
        Some(text) => joined(Some(text)),
        None => data.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_notebook_is_shown_as_its_cells_with_what_they_printed() {
        let plot = json!({ "output_type": "display_data", "data": { "image/png": "iVBOR" } });
        let value = json!({ "output_type": "execute_result", "data": { "text/plain": ["3"] } });
        let failed = json!({ "output_type": "error", "ename": "KeyError", "evalue": "'a'" });
        let long = json!({ "output_type": "stream", "text": "x".repeat(5_000) });
        let notebook = json!({ "nbformat": 4, "cells": [
            { "cell_type": "markdown", "source": ["# Herons\n", "They wade."] },
            { "cell_type": "code", "source": "1 + 2", "outputs": [value, plot, failed] },
            { "cell_type": "code", "source": [], "outputs": [long] },
        ] });
        let (text, count) = cells(&notebook.to_string()).unwrap();
        assert_eq!(count, 3);
        assert!(text.starts_with(
            "[markdown 1]\n# Herons\nThey wade.\n[code 2]\n1 + 2\n[output]\n3\n[output]\nimage/png\n\
             [output]\nKeyError: 'a'\n[code 3]\n"
        ));
        assert!(text.len() < 3_000 && text.ends_with("x…\n"), "{text}");
        assert_eq!(cells("{}"), None);
        assert_eq!(cells("print(1)"), None);
    }
}
