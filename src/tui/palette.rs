//! The list over the input while it begins with `/`: commands, then their arguments.
//!
//! Completions come from [`crate::commands`]; this file matches, highlights, selects and draws.

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::draw::{self, DrawContext, HorizontalRule};
use super::keys::KeyAction;
use super::symbols::{CHOSEN, NOT_CHOSEN};
use super::text;
use super::theme::Theme;
use crate::commands::{self, ArgsSpec, Candidate, CommandContext, SlashCommand, complete};
use crate::i18n::{Lang, screen as words};

/// Candidates visible at once.
const ROWS: usize = 8;
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
    /// The row that the user selected; `None`: the first, because the selection was not moved.
    selected: Option<usize>,
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
        self.selected = None;
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
            KeyAction::Next => self.step(1),
            KeyAction::Previous => self.step(self.items.len().saturating_sub(1)),
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

    fn step(&mut self, by: usize) -> PaletteAction {
        let now = self.selected.unwrap_or(0);
        self.selected = Some((now + by) % self.items.len().max(1));
        PaletteAction::Stay
    }

    fn current(&self) -> Option<&PaletteItem> {
        self.items.get(self.selected.unwrap_or(0))
    }

    /// Enter: runs a complete command, or continues with the argument where one is needed. The
    /// typed text counts when any text is allowed and nothing was selected.
    fn accept(&self) -> PaletteAction {
        let Some(found) = self.current() else { return PaletteAction::Send };
        let text = found.candidate.text.clone();
        match self.stage {
            CompletionStage::Closed => PaletteAction::Send,
            CompletionStage::Free if self.selected.is_none() => PaletteAction::Send,
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
        let room = usize::from(above.height.saturating_sub(1)).min(ROWS);
        let shown = self.items.len().min(room);
        if shown == 0 || above.width < 12 {
            return;
        }
        let height = u16::try_from(shown + 1).unwrap_or(above.height);
        let area = Rect { y: above.bottom() - height, height, ..above };
        draw::clear(area, buf, theme);
        let now = self.selected.unwrap_or(0);
        let category = self.current().and_then(|found| found.candidate.category);
        let category = category.map_or("", |category| category.name().text(lang));
        let mut count = format!("{category}  {}/{}", now + 1, self.items.len());
        if self.omitted > 0 {
            count = format!("{count}  {}", words::QUEUE_MORE.with("n", self.omitted).text(lang));
        }
        HorizontalRule::new(theme.border)
            .left(Span::styled(words::PALETTE_TITLE.text(lang), theme.accent))
            .right(Span::styled(count.trim_start().to_owned(), theme.dim))
            .draw(area, buf);
        let first = (now + 1).saturating_sub(shown).min(self.items.len() - shown);
        let columns = Columns::measure(&self.items, area.width, lang);
        for (row, found) in self.items.iter().enumerate().skip(first).take(shown) {
            let y = area.y + 1 + u16::try_from(row - first).unwrap_or(0);
            let line = Rect { y, height: 1, ..area };
            found.draw(line, buf, &DrawContext { theme, lang, now: 0 }, &columns, row == now);
        }
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
    fn draw(
        &self,
        area: Rect,
        buf: &mut Buffer,
        pen: &DrawContext<'_>,
        columns: &Columns,
        chosen: bool,
    ) {
        let theme = pen.theme;
        let (sigil, base) =
            if chosen { (CHOSEN, theme.selection) } else { (NOT_CHOSEN, theme.text) };
        if chosen {
            buf.set_style(area, theme.selection);
        }
        let quiet = if chosen { theme.selection } else { theme.dim };
        let mut name = vec![Span::styled(sigil, base)];
        name.extend(self.highlighted_text(base, theme));
        name.push(Span::raw(" "));
        let used = text::width(&self.candidate.text) + 3;
        let room = columns.about.saturating_sub(used + 2);
        name.push(Span::styled(text::elide_end(&self.candidate.hint, room), quiet));
        draw::line(area, buf, 0, columns.about.saturating_sub(2), &Line::from(name));
        let end = columns.category.unwrap_or(area.width.into());
        let about = self.candidate.about.as_ref().map_or_else(String::new, |it| it.text(pen.lang));
        let about =
            text::elide_end(&text::single_line(&about), end.saturating_sub(columns.about + 2));
        draw::line(area, buf, columns.about, end, &Line::styled(about, quiet));
        if let Some(at) = columns.category {
            let category = self.candidate.category.map_or("", |it| it.name().text(pen.lang));
            let category = Line::styled(category, quiet);
            draw::line(area, buf, at, area.width.into(), &category);
        }
    }

    /// The text, with the typed characters in bold.
    fn highlighted_text(&self, base: Style, theme: &Theme) -> Vec<Span<'static>> {
        let hit = base.patch(Style { bg: base.bg, ..theme.accent }).add_modifier(Modifier::BOLD);
        let mut spans: Vec<Span<'static>> = Vec::new();
        for (at, c) in (0_u32..).zip(self.candidate.text.chars()) {
            let style = if self.matched_chars.contains(&at) { hit } else { base };
            match spans.last_mut() {
                Some(span) if span.style == style => span.content.to_mut().push(c),
                _ => spans.push(Span::styled(c.to_string(), style)),
            }
        }
        spans
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
    let pattern = Pattern::new(typed, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy);
    let mut matcher = Matcher::new(Config::DEFAULT);
    candidates
        .into_iter()
        .take(MOST)
        .map(|candidate| {
            let (mut chars, mut marks) = (Vec::new(), Vec::new());
            let name: String = candidate.text.chars().skip(before).collect();
            pattern.indices(Utf32Str::new(&name, &mut chars), &mut matcher, &mut marks);
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
