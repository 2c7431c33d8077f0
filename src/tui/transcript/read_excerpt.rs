//! What a step read of a file: code in its colours, each line after its number.

use ratatui::text::Span;

use super::diff_view::language_of;
use super::highlight::{self, HighlightCache, Snippet};
use super::markdown::highlighted_line;
use super::paragraph::{
    Break, LayoutContext, StyledRow, bar_prefixes, layout_sentence, with_prefix,
};
use super::time;
use avocet_core::i18n::screen;
use avocet_core::protocol::{Observation, StepAction};
use avocet_safety::sanitize::{CarriageReturnMode, clean};

/// Lines that are kept at the start and at the end.
const HEAD: usize = 120;
const TAIL: usize = 60;

/// The lines of a file that are kept.
#[derive(Debug)]
pub(super) struct ReadExcerpt {
    /// The word for the language of the file.
    language: String,
    /// The start, and the end where lines between them are left out.
    parts: [NumberedCode; 2],
    left_out: usize,
}

#[derive(Debug, Default)]
struct NumberedCode {
    numbers: Vec<u64>,
    code: String,
}

impl ReadExcerpt {
    /// `None` for what is not numbered lines of a file.
    pub fn new(observation: &Observation) -> Option<ReadExcerpt> {
        let StepAction::Tool { name, input } = &observation.step.work else { return None };
        let path = input["path"].as_str().filter(|_| name == "file.read")?;
        let text = clean(&observation.stdout, CarriageReturnMode::OverwritesLine);
        let lines: Option<Vec<(u64, &str)>> = text.lines().map(numbered_line).collect();
        let lines = lines.filter(|lines| !lines.is_empty())?;
        let left_out = lines.len().saturating_sub(HEAD + TAIL);
        let (head, rest) = lines.split_at(lines.len().min(HEAD));
        let tail = rest.get(left_out..).unwrap_or_default();
        let parts = [NumberedCode::new(head), NumberedCode::new(tail)];
        Some(ReadExcerpt { language: language_of(path).to_owned(), parts, left_out })
    }

    pub fn is_cut(&self) -> bool {
        self.left_out > 0
    }

    pub fn layout(&self, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        let most = self.parts.iter().flat_map(|part| &part.numbers).max().copied().unwrap_or(0);
        let digits = most.to_string().len();
        let [head, tail] = &self.parts;
        let mut rows = head.layout(0, digits, cx);
        if self.left_out > 0 {
            let say = screen::OUTPUT_LEFT_OUT.with("n", time::group_digits(self.left_out as u64));
            rows.extend(layout_sentence(&say, cx.theme.dim, cx));
        }
        rows.extend(tail.layout(1, digits, cx));
        rows
    }

    /// Code that has no colours yet.
    pub fn unhighlighted(&self, at: (usize, usize), cache: &HighlightCache) -> Option<Snippet> {
        self.parts.iter().enumerate().find_map(|(nth, part)| {
            let place = (at.0, at.1, nth);
            let due = !part.code.is_empty() && cache.get(place).is_none();
            due.then(|| highlight::snippet(place, &self.language, "", &part.code))
        })
    }
}

impl NumberedCode {
    fn new(lines: &[(u64, &str)]) -> NumberedCode {
        let mut code = NumberedCode::default();
        for (number, line) in lines {
            code.numbers.push(*number);
            code.code.push_str(line);
            code.code.push('\n');
        }
        code
    }

    fn layout(&self, nth: usize, digits: usize, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        let (bar, more) = bar_prefixes(cx, cx.width);
        let taken = bar.iter().map(Span::width).sum::<usize>() + digits + 2;
        let room = cx.width.saturating_sub(taken).max(1);
        let mut out = Vec::new();
        for (index, (number, line)) in self.numbers.iter().zip(self.code.lines()).enumerate() {
            let para = highlighted_line(nth, index, line, cx).with_tabs_expanded();
            for (at, row) in para.rows(room, Break::Columns).into_iter().enumerate() {
                let (bar, number) = match at {
                    0 => (&bar, number.to_string()),
                    _ => (&more, String::new()),
                };
                let mut prefix = bar.clone();
                prefix.push(Span::styled(format!("{number:>digits$}  "), cx.theme.dim));
                out.push(with_prefix(&prefix, row));
            }
        }
        out
    }
}

/// `12<tab>fn main() {`.
fn numbered_line(line: &str) -> Option<(u64, &str)> {
    let (number, rest) = line.split_once('\t')?;
    Some((number.parse().ok()?, rest))
}
