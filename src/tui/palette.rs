//! The list over the input while it begins with `/`: commands, then their arguments.
//!
//! Completions come from [`crate::commands`]; this file matches, highlights, selects and draws.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::draw::{self, DrawContext};
use super::fuzzy_list::{self, FuzzyMatcher, ListSelection, RowStyle};
use super::keys::KeyAction;
use super::text;
use super::theme::Theme;
use crate::commands::{self, ArgsSpec, Candidate, CommandContext, SlashCommand, complete};
use crate::i18n::{Lang, screen as words};

/// From this width on, each row names its category; below it the head does, for the selected one.
const WIDE: usize = 110;
/// Candidates that are kept at most.
const MOST: usize = 200;

#[derive(Debug, Default)]
pub struct Palette {
    stage: CompletionStage,
    items: Vec<PaletteItem>,
    /// Candidates that are not kept.
    omitted: usize,
    selection: ListSelection,
    /// The text of the input when the palette was opened over it.
    draft: Option<String>,
    /// It opened, and has not been reported yet.
    is_newly_opened: bool,
}

/// What is being completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CompletionStage {
    #[default]
    Closed,
    Name,
    /// An argument from a closed list.
    Choice,
    /// An argument that may also be something else.
    Free,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct PaletteItem {
    candidate: Candidate,
    /// Characters of its text that were typed.
    matched_chars: Vec<u32>,
}

/// The result of a key in the palette.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaletteAction {
    Stay,
    /// Put this into the input.
    Fill(String),
    /// Put this into the input and send it.
    Run(String),
    /// Send the text of the input.
    Send,
    /// Closed; restore this text.
    Closed(Option<String>),
}

impl Palette {
    pub fn is_open(&self) -> bool {
        self.stage != CompletionStage::Closed && !self.items.is_empty()
    }

    /// True while something is typed that it could complete.
    pub fn is_completing(&self) -> bool {
        self.stage != CompletionStage::Closed
    }

    /// Matches again, after the input changed.
    pub fn refresh(&mut self, input: &str, call: &CommandContext<'_>) {
        self.selection = ListSelection::default();
        let was_closed = self.stage == CompletionStage::Closed;
        self.stage = stage(input);
        self.is_newly_opened |= was_closed && self.stage == CompletionStage::Name;
        let candidates = match self.stage {
            CompletionStage::Closed => Vec::new(),
            CompletionStage::Name | CompletionStage::Choice | CompletionStage::Free => {
                complete(call, input)
            }
        };
        self.omitted = candidates.len().saturating_sub(MOST);
        self.items = find(input, candidates);
        if input.is_empty() {
            self.draft = None;
        }
    }

    /// True once after it opened.
    pub fn take_opened(&mut self) -> bool {
        std::mem::take(&mut self.is_newly_opened)
    }

    /// Opens over a text, which is kept until the palette closes.
    pub fn keep(&mut self, draft: String) {
        self.draft = Some(draft);
    }

    pub fn close(&mut self) {
        self.stage = CompletionStage::Closed;
        self.items.clear();
    }

    /// The kept text, while the palette is open over one.
    pub fn draft(&self) -> Option<&str> {
        self.draft.as_deref()
    }

    /// Takes the kept text.
    pub fn take_draft(&mut self) -> Option<String> {
        self.draft.take()
    }

    pub fn act(&mut self, action: KeyAction) -> PaletteAction {
        match action {
            KeyAction::Next => {
                self.selection.next(self.items.len());
                PaletteAction::Stay
            }
            KeyAction::Previous => {
                self.selection.previous(self.items.len());
                PaletteAction::Stay
            }
            KeyAction::Complete => match self.current() {
                // A folder may be completed further.
                Some(found) if found.candidate.text.ends_with('/') => {
                    PaletteAction::Fill(found.candidate.text.clone())
                }
                Some(found) => PaletteAction::Fill(format!("{} ", found.candidate.text)),
                None => PaletteAction::Stay,
            },
            KeyAction::Accept => self.accept(),
            _ => {
                self.close();
                PaletteAction::Closed(self.draft.take())
            }
        }
    }

    fn current(&self) -> Option<&PaletteItem> {
        self.items.get(self.selection.row())
    }

    /// Enter: runs a complete command, or continues with the argument where one is needed. The
    /// typed text counts when any text is allowed and nothing was selected.
    fn accept(&self) -> PaletteAction {
        let Some(found) = self.current() else { return PaletteAction::Send };
        let text = found.candidate.text.clone();
        match self.stage {
            CompletionStage::Closed => PaletteAction::Send,
            CompletionStage::Free if !self.selection.is_moved() => PaletteAction::Send,
            CompletionStage::Name
                if needs_argument(&text) || found.candidate.hint.starts_with('<') =>
            {
                PaletteAction::Fill(format!("{text} "))
            }
            CompletionStage::Name | CompletionStage::Choice | CompletionStage::Free => {
                PaletteAction::Run(text)
            }
        }
    }

    /// Draws the list at the bottom of `above`, on top of the content.
    pub fn draw(&self, above: Rect, buf: &mut Buffer, theme: &Theme, lang: Lang) {
        if self.items.is_empty() {
            return;
        }
        let Some(area) = fuzzy_list::list_area(self.items.len(), above) else { return };
        let pen = DrawContext { theme, lang, now: 0 };
        let category = self.current().and_then(|found| found.candidate.category);
        let category = category.map_or("", |category| category.name().text(lang));
        let omitted =
            (self.omitted > 0).then(|| words::QUEUE_MORE.with("n", self.omitted).text(lang));
        let count = self.selection.count(self.items.len(), omitted.as_deref());
        let count = format!("{category}  {count}").trim_start().to_owned();
        let title = words::PALETTE_TITLE.text(lang);
        let rows = fuzzy_list::draw_head(area, buf, &pen, title, count);
        let columns = Columns::measure(&self.items, area.width, lang);
        self.selection.draw_rows(self.items.len(), rows, buf, theme, |row, area, buf, style| {
            if let Some(found) = self.items.get(row) {
                found.draw(area, buf, lang, &columns, style);
            }
        });
    }
}

/// Where the columns of the list begin, counted from its left.
struct Columns {
    about: usize,
    category: Option<usize>,
}

impl Columns {
    fn measure(found: &[PaletteItem], width: u16, lang: Lang) -> Columns {
        let width = usize::from(width);
        let widest = |of: &dyn Fn(&Candidate) -> usize| {
            found.iter().map(|found| of(&found.candidate)).max().unwrap_or(0)
        };
        let name = widest(&|c| text::width(&c.text) + 1 + text::width(&c.hint));
        let category = widest(&|c| c.category.map_or(0, |it| text::width(it.name().text(lang))));
        Columns {
            about: (name + 4).min((width / 3).max(16)),
            category: (width >= WIDE && category > 0).then(|| width.saturating_sub(category + 2)),
        }
    }
}

impl PaletteItem {
    fn draw(&self, area: Rect, buf: &mut Buffer, lang: Lang, columns: &Columns, style: &RowStyle) {
        let quiet = style.quiet;
        let mut name = vec![style.sigil()];
        name.extend(style.highlight(&self.candidate.text, 0, &self.matched_chars));
        name.push(Span::raw(" "));
        let used = text::width(&self.candidate.text) + 3;
        let room = columns.about.saturating_sub(used + 2);
        name.push(Span::styled(text::elide_end(&self.candidate.hint, room), quiet));
        draw::line(area, buf, 0, columns.about.saturating_sub(2), &Line::from(name));
        let end = columns.category.unwrap_or(area.width.into());
        let about = self.candidate.about.as_ref().map_or_else(String::new, |it| it.text(lang));
        let about =
            text::elide_end(&text::single_line(&about), end.saturating_sub(columns.about + 2));
        draw::line(area, buf, columns.about, end, &Line::styled(about, quiet));
        if let Some(at) = columns.category {
            let category = self.candidate.category.map_or("", |it| it.name().text(lang));
            let category = Line::styled(category, quiet);
            draw::line(area, buf, at, area.width.into(), &category);
        }
    }
}

/// The part of the input to complete.
fn stage(input: &str) -> CompletionStage {
    let Some(rest) = input.strip_prefix('/') else { return CompletionStage::Closed };
    if input.contains('\n') {
        return CompletionStage::Closed;
    }
    match rest.split_once(char::is_whitespace) {
        None => CompletionStage::Name,
        Some((name, _)) => match find_command(name).map(|row| row.args) {
            Some(ArgsSpec::Choice(_)) => CompletionStage::Choice,
            _ => CompletionStage::Free,
        },
    }
}

fn find_command(name: &str) -> Option<&'static SlashCommand> {
    commands::find(name)
}

fn needs_argument(line: &str) -> bool {
    let name = line.trim().trim_start_matches('/');
    match find_command(name).map(|row| row.args) {
        Some(
            ArgsSpec::Required(_)
            | ArgsSpec::RequiredOf(..)
            | ArgsSpec::RequiredOfThen(..)
            | ArgsSpec::Choice(_),
        ) => true,
        Some(
            ArgsSpec::None
            | ArgsSpec::Optional(_)
            | ArgsSpec::OptionalOf(..)
            | ArgsSpec::ChoiceThen(..),
        )
        | None => false,
    }
}

/// The candidates, which come best first, with the typed letters.
fn find(input: &str, candidates: Vec<Candidate>) -> Vec<PaletteItem> {
    let (before, typed) = split_typed(input);
    let mut fuzzy = FuzzyMatcher::new(typed);
    candidates
        .into_iter()
        .take(MOST)
        .map(|candidate| {
            let name: String = candidate.text.chars().skip(before).collect();
            let (_, mut marks) = fuzzy.positions(&name).unwrap_or_default();
            let before = u32::try_from(before).unwrap_or(0);
            marks.iter_mut().for_each(|at| *at += before);
            PaletteItem { candidate, matched_chars: marks }
        })
        .collect()
}

/// The text to complete, and the number of characters in front of it.
fn split_typed(input: &str) -> (usize, &str) {
    match input.split_once(char::is_whitespace) {
        None => (1, input.trim_start_matches('/')),
        Some((name, args)) => (name.chars().count() + 1, args.trim_start()),
    }
}
