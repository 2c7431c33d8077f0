//! Templates of commands and skills: parsed once into pieces, then filled.
//!
//! | meaning | in a command (TOML) | in Markdown |
//! |---|---|---|
//! | all arguments, as typed | `{{args}}` | `$ARGUMENTS` |
//! | one argument | | `$1` … `$9` |
//! | the folder of the skill | | `${SKILL_ROOT}` |
//! | the output of a shell line | `!{ line }` | `` !`line` `` |
//! | the contents of a file | `@{path}`, in place | `@path`, after the message |
//!
//! Parsing happens before anything is inserted. An inserted argument or file name becomes
//! [`PromptPart::Text`] or a word of a shell line and is never parsed again; nothing here parses a
//! part. Files and shell lines are handled elsewhere.
//!
//! In fenced code of Markdown only arguments are inserted: an example is not an instruction.

use super::mention;
use crate::i18n::{LocalizedText, Phrase, prompt as phrases};
use crate::protocol::{LineRange, Mention, PromptPart};

mod markdown;
mod placeholder;
mod shell;
#[cfg(test)]
mod tests;

pub use placeholder::{ArgPlaceholder, TemplateForm, TemplateValues};
pub use shell::TemplateLine;

use placeholder::{ARGS, placeholder};

/// Longest template, in bytes.
const MAX_LENGTH: usize = 1024 * 1024;
/// Maximum number of shell lines in one template: the user reads them all.
const MAX_SHELL: usize = 32;

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Placeholder(ArgPlaceholder),
    Shell(TemplateLine),
    Insert { path: Vec<PathFragment>, lines: Option<LineRange> },
    Mention { path: Vec<PathFragment>, lines: Option<LineRange> },
}

/// A piece of the path of a file in a template: literal text, or a placeholder for an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PathFragment {
    Text(String),
    Placeholder(ArgPlaceholder),
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// One sentence with the line, for a piece that is empty or has no end, for an argument in a
    /// place where no quoting works, and for a template beyond the limits.
    pub fn parse(text: &str, form: TemplateForm) -> Result<Template, LocalizedText> {
        if text.len() > MAX_LENGTH {
            return Err(phrases::TEMPLATE_LONG.with("most", MAX_LENGTH / 1024));
        }
        let pieces = match form {
            TemplateForm::Braces => parse_braces(text)?,
            TemplateForm::Markdown | TemplateForm::Unnumbered => markdown::parse(text, form)?,
        };
        if pieces.iter().filter(|piece| matches!(piece, Piece::Shell(_))).count() > MAX_SHELL {
            return Err(phrases::TEMPLATE_SHELL_MANY.with("most", MAX_SHELL));
        }
        Ok(Template { pieces })
    }

    /// The shell lines as they are in the file.
    pub fn shell_lines(&self) -> impl Iterator<Item = &TemplateLine> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Shell(line) => Some(line),
            _ => None,
        })
    }

    /// Whether an argument is inserted anywhere.
    pub fn has_args(&self) -> bool {
        let is_arg = |placeholder: &ArgPlaceholder| *placeholder != ArgPlaceholder::Root;
        self.pieces.iter().any(|piece| match piece {
            Piece::Text(_) => false,
            Piece::Placeholder(hole) => is_arg(hole),
            Piece::Shell(line) => line.placeholders().any(|hole| is_arg(&hole)),
            Piece::Insert { path, .. } | Piece::Mention { path, .. } => path
                .iter()
                .any(|bit| matches!(bit, PathFragment::Placeholder(hole) if is_arg(hole))),
        })
    }

    /// Inserts the values. Arguments without a placeholder follow the text, so that none is lost.
    pub fn fill(&self, values: &TemplateValues) -> Vec<PromptPart> {
        let mut parts = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => push_text(&mut parts, text),
                Piece::Placeholder(hole) => push_text(&mut parts, values.get(*hole)),
                Piece::Shell(line) => parts.push(PromptPart::Shell(line.fill(values))),
                Piece::Insert { path, lines } => {
                    parts.push(PromptPart::Insert(Mention {
                        path: join_path(path, values),
                        lines: *lines,
                    }));
                }
                Piece::Mention { path, lines } => {
                    let mention = Mention { path: join_path(path, values), lines: *lines };
                    if mention.path.is_empty() {
                        push_text(&mut parts, "@")
                    } else {
                        parts.push(PromptPart::Mention { text: mention.as_typed(), mention })
                    }
                }
            }
        }
        if !self.has_args() && !values.all.is_empty() {
            push_text(&mut parts, "\n\n");
            push_text(&mut parts, &values.all);
        }
        parts
    }

    /// Inserts the values and leaves the shell lines as they are in the file: the form for a model
    /// that asks for a skill, since no model may write a line for a shell.
    pub fn fill_without_shell(&self, values: &TemplateValues) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Placeholder(hole) => out.push_str(values.get(*hole)),
                Piece::Shell(line) => out.push_str(&format!("!`{}`", line.source())),
                Piece::Insert { path, lines } | Piece::Mention { path, lines } => {
                    out.push_str(
                        &Mention { path: join_path(path, values), lines: *lines }.as_typed(),
                    );
                }
            }
        }
        if !self.has_args() && !values.all.is_empty() {
            out.push_str("\n\n");
            out.push_str(&values.all);
        }
        out
    }
}

/// Adds text, merging it with text before it.
fn push_text(parts: &mut Vec<PromptPart>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(PromptPart::Text(last)) => last.push_str(text),
        _ => parts.push(PromptPart::Text(text.to_owned())),
    }
}

fn join_path(path: &[PathFragment], values: &TemplateValues) -> String {
    path.iter()
        .map(|bit| match bit {
            PathFragment::Text(text) => text.as_str(),
            PathFragment::Placeholder(hole) => values.get(*hole),
        })
        .collect()
}

/// The arguments of a template inserted into one shell line, for `policy explain`. `None`: the line
/// cannot have them in that place.
pub fn fill_line(line: &str, args: &str) -> Option<String> {
    let (line, _) = shell::parse(line, TemplateForm::Braces, shell::LineEnd::Text).ok()?;
    Some(line.fill(&TemplateValues::new(args, None)))
}

fn parse_braces(text: &str) -> Result<Vec<Piece>, LocalizedText> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let line_of = |rest: &str| line_number(text, text.len() - rest.len());
    while let Some(at) = next_marker(rest) {
        let Some((before, sign)) = rest.split_at_checked(at) else { break };
        // A backslash makes the placeholder plain text.
        if let Some(before) = before.strip_suffix('\\') {
            let len = sign.find('{').map_or(0, |at| at + 1);
            let (plain, behind) = sign.split_at_checked(len).unwrap_or((sign, ""));
            push_piece_text(&mut pieces, before);
            push_piece_text(&mut pieces, plain);
            rest = behind;
            continue;
        }
        push_piece_text(&mut pieces, before);
        if let Some(behind) = sign.strip_prefix(ARGS) {
            pieces.push(Piece::Placeholder(ArgPlaceholder::All));
            rest = behind;
        } else if let Some(behind) = sign.strip_prefix("!{") {
            let read = shell::parse(behind, TemplateForm::Braces, shell::LineEnd::Brace);
            let (line, len) = read.map_err(|fault| fault.with("line", line_of(sign)))?;
            pieces.push(Piece::Shell(line));
            rest = behind.get(len..).unwrap_or_default();
        } else if let Some(behind) = sign.strip_prefix("@{") {
            let at = |phrase: Phrase| phrase.with("line", line_of(sign));
            let (path, len) = parse_path(behind).ok_or_else(|| at(phrases::TEMPLATE_FILE_OPEN))?;
            let (path, lines) =
                split_range(path).ok_or_else(|| at(phrases::TEMPLATE_FILE_EMPTY))?;
            pieces.push(Piece::Insert { path, lines });
            rest = behind.get(len..).unwrap_or_default();
        }
    }
    push_piece_text(&mut pieces, rest);
    Ok(pieces)
}

fn next_marker(text: &str) -> Option<usize> {
    [ARGS, "!{", "@{"].iter().filter_map(|sign| text.find(sign)).min()
}

fn push_piece_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(last)) => last.push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}

/// The path of `@{…}`, and its length with the brace.
fn parse_path(text: &str) -> Option<(Vec<PathFragment>, usize)> {
    let mut bits = Vec::new();
    let mut at = 0;
    let mut from = 0;

    loop {
        let rest = text.get(at..)?;
        if let Some((hole, len)) = placeholder(rest, TemplateForm::Braces) {
            bits.push(PathFragment::Text(text.get(from..at)?.to_owned()));
            bits.push(PathFragment::Placeholder(hole));
            at += len;
            from = at;
            continue;
        }
        match rest.chars().next()? {
            '\n' => return None,
            '}' => {
                bits.push(PathFragment::Text(text.get(from..at)?.to_owned()));
                return Some((bits, at + 1));
            }
            c => at += c.len_utf8(),
        }
    }
}

/// The path without the spaces around it, its quotes, and its range of lines.
fn split_range(mut parts: Vec<PathFragment>) -> Option<(Vec<PathFragment>, Option<LineRange>)> {
    if let Some(PathFragment::Text(first)) = parts.first_mut() {
        *first = first.trim_start().to_owned();
    }
    if let Some(PathFragment::Text(last)) = parts.last_mut() {
        *last = last.trim_end().to_owned();
    }
    let mut lines = None;
    if let [PathFragment::Text(only)] = &mut parts[..]
        && let Some((path, found)) = mention::path_with_range(only)
    {
        lines = found;
        *only = path;
    }
    parts.retain(|bit| !matches!(bit, PathFragment::Text(text) if text.is_empty()));
    (!parts.is_empty()).then_some((parts, lines))
}

fn line_number(text: &str, at: usize) -> usize {
    1 + text.get(..at).map_or(0, |before| before.matches('\n').count())
}
