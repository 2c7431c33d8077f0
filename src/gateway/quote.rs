//! Marks words of others in a message: they are no command, and `@` in them attaches no file.

const MARK: &str = "> ";

/// A text that was forwarded, each of its lines with the mark.
pub fn quoted(text: &str) -> String {
    let lines: Vec<String> = text.trim().lines().map(|line| format!("{MARK}{line}")).collect();
    lines.join("\n")
}

/// The lines of a message that have the mark.
pub fn quoted_lines(text: &str) -> Vec<String> {
    text.lines().filter(|line| line.starts_with(MARK)).map(str::to_owned).collect()
}
