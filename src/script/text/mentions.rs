//! Whether a script reads a variable: in a template, an expression or an argument.

use crate::syntax::{ScriptValue, Tree};

/// Whether a node reads a name; a message that only contains the word does not.
pub fn reads_name(script_value: &ScriptValue, name: &str) -> bool {
    match &script_value.tree {
        Tree::Text(text) => text_reads_name(text, name),
        Tree::List(items) => items.iter().any(|item| reads_name(item, name)),
        Tree::Map(pairs) => pairs.iter().any(|(key, value)| {
            let is_call = key.as_text().is_some_and(|key| key.starts_with('$'));
            let read = if is_call { holds_name(value, name) } else { reads_name(value, name) };
            read || key.as_text().is_some_and(|key| text_reads_name(key, name))
        }),
        _ => false,
    }
}

/// Whether any text below the node holds the name.
fn holds_name(script_value: &ScriptValue, name: &str) -> bool {
    match &script_value.tree {
        Tree::Text(text) => has_name(text, name),
        Tree::List(items) => items.iter().any(|item| holds_name(item, name)),
        Tree::Map(pairs) => pairs.iter().any(|(_, value)| holds_name(value, name)),
        _ => false,
    }
}

fn text_reads_name(text: &str, name: &str) -> bool {
    if ["$", "?=", "->"].iter().any(|sign| text.starts_with(sign)) {
        return has_name(text, name);
    }
    [("{{", "}}"), ("{%", "%}"), ("[[@", "]]"), ("[[/", "]]")].into_iter().any(|(open, close)| {
        text.split(open).skip(1).any(|part| has_name(part.split(close).next().unwrap_or(""), name))
    })
}

/// Whether a text holds a name as a whole word.
pub fn has_name(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, rest) = text.split_at(at);
        let after = rest.split_at(name.len()).1;
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax;

    #[test]
    fn a_name_is_read_in_templates_expressions_and_arguments_but_not_in_prose() {
        let reads = |script: &str| {
            let document = syntax::parse("s", script).unwrap();
            document.body.iter().any(|node| reads_name(node, "content"))
        };
        for script in [
            "user: \"{{content}}\"",
            "user: \"{% if content %}x{% endif %}\"",
            "$echo: \"?=content\"",
            "-> sub(a=content)",
            "user: \"[[@sub(content)]]\"",
            "- $if: content\n  then: [{user: x}]",
        ] {
            assert!(reads(script), "{script}");
        }
        for script in
            ["system: A content reviewer", "- role: user\n  content: hi", "user: contents"]
        {
            assert!(!reads(script), "{script}");
        }
    }
}
