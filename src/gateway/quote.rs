//! Marks words of others in a message: they are no command, and `@` in them attaches no file.

use avocet_core::text::{cut, escape, one_line};

const MARK: &str = "> ";

/// Longest message of someone else that comes along, in characters.
const MAX_QUOTE: usize = 2_000;

/// A text that was forwarded, each of its lines with the mark.
pub fn quoted(text: &str) -> String {
    let lines: Vec<String> = text.trim().lines().map(|line| format!("{MARK}{line}")).collect();
    lines.join("\n")
}

/// The same after the name of who wrote it; nothing without a text.
pub fn quoted_by(author: &str, text: &str) -> String {
    let author = cut(&one_line(&escape(author).text), 40);
    let text = cut(text.trim(), MAX_QUOTE);
    match (author.trim(), text.as_str()) {
        (_, "") => String::new(),
        ("", text) => quoted(text),
        (author, text) => quoted(&format!("{author}: {text}")),
    }
}

/// The lines of a message that have the mark.
pub fn quoted_lines(text: &str) -> Vec<String> {
    text.lines().filter(|line| line.starts_with(MARK)).map(str::to_owned).collect()
}
