//! Turns lines into YAML. The head is split off; then every line of the body becomes an item of one
//! sequence or belongs to the item above it. Lines are only indented, never added or removed, so
//! that a place in the YAML maps back to the source.

use crate::error::SourcePosition;

/// The YAML that replaces a separator of the dialogue.
pub const SEPARATOR: &str = "- \"$initDone\"";
pub const FIRST_SEPARATOR: &str = "- \"$initDone(force=true)\"";

/// The head and the body of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct HeadAndBody {
    /// The number of lines above the head's YAML, and the YAML.
    pub front_matter: Option<(u32, String)>,
    pub body: String,
    /// The number of lines above the body.
    pub lines_above: u32,
    /// The line of a `---` that opens a head without an end.
    pub unclosed: Option<u32>,
}

/// Splits off the settings. There is a head only if the first line with content is `---` and
/// another line begins with it.
pub fn split(text: &str) -> HeadAndBody {
    let mut lines = text.split('\n').enumerate();
    let begin = lines
        .by_ref()
        .find(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
        .filter(|(_, line)| line.trim_end() == "---");
    let whole = |unclosed: Option<usize>| HeadAndBody {
        front_matter: None,
        body: text.to_owned(),
        lines_above: 0,
        unclosed: unclosed.map(|line| line_count(line + 1)),
    };
    let Some((begin, _)) = begin else { return whole(None) };
    let Some((end, _)) = lines.find(|(_, line)| line.starts_with("---")) else {
        return whole(Some(begin));
    };
    let of = |from: usize, to: usize| {
        text.split('\n').skip(from).take(to.saturating_sub(from)).collect::<Vec<_>>().join("\n")
    };
    HeadAndBody {
        front_matter: Some((line_count(begin + 1), of(begin + 1, end))),
        body: of(end + 1, usize::MAX),
        lines_above: line_count(end + 1),
        unclosed: None,
    }
}

fn line_count(lines: usize) -> u32 {
    u32::try_from(lines).unwrap_or(u32::MAX)
}

/// The body as YAML, and how far each line was shifted.
#[derive(Debug, PartialEq, Eq)]
pub struct PreparedBody {
    pub yaml: String,
    shifts: Vec<i32>,
    lines_above: u32,
}

impl PreparedBody {
    /// Maps a place in the YAML to its place in the file.
    pub fn source_position(&self, position: SourcePosition) -> SourcePosition {
        let at = usize::try_from(position.line.saturating_sub(1)).unwrap_or(0);
        let moved = self.shifts.get(at).copied().unwrap_or(0);
        SourcePosition {
            line: position.line + self.lines_above,
            column: position.column.saturating_add_signed(-moved).max(1),
        }
    }
}

/// Turns the lines of a body into the items of one sequence.
pub fn prepare(body: &str, above: u32) -> PreparedBody {
    prepare_lines(body, above, LineState::default())
}

/// The same for a body that YAML cannot read: an asterisk begins an alias there, so that separators
/// of asterisks inside a block are put in quotes.
pub fn prepare_with_quotes(body: &str, above: u32) -> PreparedBody {
    prepare_lines(body, above, LineState { quotes_asterisks: true, ..LineState::default() })
}

fn prepare_lines(body: &str, above: u32, mut state: LineState) -> PreparedBody {
    let mut yaml = String::with_capacity(body.len() + body.len() / 8);
    let mut moved = Vec::new();
    for line in body.split('\n') {
        let (text, by) = state.convert_line(line.trim_end());
        yaml.push_str(&text);
        yaml.push('\n');
        moved.push(by);
    }
    PreparedBody { yaml, shifts: moved, lines_above: above }
}

#[derive(Debug, Default)]
struct LineState {
    /// Whether the last unindented line began with a dash.
    in_list: bool,
    has_separator: bool,
    quotes_asterisks: bool,
}

impl LineState {
    /// The line as YAML, and the number of columns its text was shifted to the right.
    fn convert_line(&mut self, line: &str) -> (String, i32) {
        // A comment between two items would otherwise become an item itself.
        if line.is_empty() || line.starts_with('#') {
            return (String::new(), 0);
        }
        if let Some(forced) = parse_separator(line) {
            let first = !std::mem::replace(&mut self.has_separator, true);
            let item = if forced || first { FIRST_SEPARATOR } else { SEPARATOR };
            return (item.to_owned(), 0);
        }
        if line.starts_with("->") {
            return convert_chain(line);
        }
        if line.starts_with('-') {
            self.in_list = true;
            return (line.to_owned(), 0);
        }
        if line.starts_with([' ', '\t']) {
            let quoted = quote_asterisks(line).filter(|_| self.quotes_asterisks);
            let line = quoted.as_deref().unwrap_or(line);
            return if self.in_list { (line.to_owned(), 0) } else { (format!("  {line}"), 2) };
        }
        if let Some(rest) = line.strip_prefix("|-").filter(|_| !self.in_list) {
            let text = rest.trim_start();
            let cut = i32::try_from(line.len() - text.len()).unwrap_or(2);
            return (format!("  {text}"), 2 - cut);
        }
        self.in_list = false;
        (format!("- {line}"), 2)
    }
}

/// The separator `- ***` of a block, in quotes.
fn quote_asterisks(line: &str) -> Option<String> {
    let (indent, item) = line.split_at(line.len() - line.trim_start().len());
    let mark = item.strip_prefix('-')?.trim_start();
    let forced = parse_separator(item).filter(|_| mark.starts_with("***"))?;
    Some(format!("{indent}- \"***{}\"", if forced { "!" } else { "" }))
}

/// A chain is one text, whatever colons and quotes its arguments contain.
fn convert_chain(line: &str) -> (String, i32) {
    let plain = !line.contains(": ") && !line.ends_with(':');
    if plain {
        return (format!("- {line}"), 2);
    }
    let line = strip_comment(line);
    (format!("- '{}'", line.replace('\'', "''")), 3)
}

/// The line without a trailing ` # …`; a `#` in quotes is text.
fn strip_comment(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open && before != '\\' => quote = None,
            Some(_) => {}
            None if c == '#' && before.is_whitespace() => return line.split_at(at).0.trim_end(),
            None if c == '"' || c == '\'' => quote = Some(c),
            None => {}
        }
        before = c;
    }
    line
}

/// `---`, `***`, `- "***"`, `---!`, `--- # comment`: whether it is a separator, and
/// whether it is a forced one.
pub fn parse_separator(line: &str) -> Option<bool> {
    let line = match line.strip_prefix('-') {
        Some(rest) if rest.starts_with(char::is_whitespace) => rest.trim_start(),
        _ => line,
    };
    let quote = line.chars().next().filter(|c| matches!(c, '"' | '\''));
    let line = quote.and_then(|quote| line.strip_prefix(quote)).unwrap_or(line);
    let mark = line.chars().next().filter(|c| matches!(c, '-' | '*'))?;
    let rest = line.trim_start_matches(mark);
    if line.len() - rest.len() < 3 {
        return None;
    }
    let (forced, rest) = match rest.strip_prefix('!') {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let rest = match quote {
        Some(quote) => rest.strip_prefix(quote)?,
        None => rest,
    };
    let rest = rest.trim_start();
    (rest.is_empty() || rest.starts_with('#')).then_some(forced)
}
