//! An expression for the engine, with what its text tells. It is read once, however often a loop
//! evaluates it.

/// Ways to reach a value without its name: through a function, `this`, or an escape.
const HIDDEN_READS: &[&str] = &["$", "this", "eval", "Function", "\\u"];

/// An expression, and what its text tells.
#[derive(Debug, PartialEq)]
pub struct JsExpression {
    text: String,
    names: Option<Vec<String>>,
    reads_messages: bool,
}

impl From<&str> for JsExpression {
    fn from(text: &str) -> JsExpression {
        let is_hidden = HIDDEN_READS.iter().any(|word| text.contains(word));
        JsExpression {
            names: (!is_hidden).then(|| names_in(text)),
            reads_messages: text.contains("messages"),
            text: text.to_owned(),
        }
    }
}

impl JsExpression {
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Every name that it can read; `None` if it may read any value.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    pub fn reads_messages(&self) -> bool {
        self.reads_messages
    }
}

/// The names that may be meant in an expression, each once.
fn names_in(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for name in text.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && c != '_') {
        let is_name = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
        if is_name && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_tells_what_it_can_read() {
        let names = |text: &str| JsExpression::from(text).names().map(<[String]>::to_vec);
        assert_eq!(names("/\\d+/.test(值) && n + n").unwrap(), ["d", "test", "值", "n"]);
        for text in ["$same(n)", "this.n", "eval(n)", "\\u006e"] {
            assert_eq!(names(text), None, "{text}");
        }
        assert!(JsExpression::from("prompt.messages.length").reads_messages());
    }
}
