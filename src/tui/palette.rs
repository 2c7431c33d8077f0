//! The list over the input while it begins with `/`: commands, then their arguments.
//!
//! Completions come from [`avocet_present::commands`]; this file matches, highlights, selects and draws.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::draw::{self, DrawContext};
use super::fuzzy_list::{self, FuzzyMatcher, ListSelection, RowStyle};
use super::keymap::Keymap;
use super::keys::KeyAction;
use super::text;
use avocet_core::i18n::{Lang, screen as phrases};
use avocet_present::commands::{self, Candidate, CommandContext, complete};

/// Candidates that are kept at most.
const MAX_CANDIDATES: usize = 200;
/// Commands used last that come first.
const RECENT: usize = 3;

/// The list of commands and arguments that complete what is typed.
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
    Argument,
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

    /// Matches again, after the input changed. `history`: what was sent, the oldest first.
    pub fn refresh(&mut self, input: &str, cx: &CommandContext<'_>, history: &[String]) {
        let was_closed = self.stage == CompletionStage::Closed;
        self.stage = stage(input);
        self.is_newly_opened |= was_closed && self.stage == CompletionStage::Name;
        let candidates = match self.stage {
            CompletionStage::Closed => Vec::new(),
            CompletionStage::Name if input == "/" => recent_first(complete(cx, input), history),
            CompletionStage::Name | CompletionStage::Argument => complete(cx, input),
        };
        // A guess is never marked, so that Enter does not run it.
        self.selection = if candidates.first().is_some_and(|first| first.is_certain) {
            ListSelection::default()
        } else {
            ListSelection::unmarked()
        };
        self.omitted = candidates.len().saturating_sub(MAX_CANDIDATES);
        self.items = find(input, candidates);
        if input.is_empty() {
            self.draft = None;
        }
    }

    /// Whether Enter runs something: the marked row, or a command whose argument is being typed.
    pub fn can_run(&self) -> bool {
        self.selection.marked().is_some() || self.stage == CompletionStage::Argument
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
            KeyAction::Complete => match self.items.get(self.selection.row()) {
                // A folder may be completed further, and a value follows a name.
                Some(found) if found.candidate.text.ends_with(['/', '=']) => {
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

    /// A click on a row of the list, drawn at the bottom of `above`; `None`: not on a row.
    pub fn click(&mut self, above: Rect, y: u16) -> Option<PaletteAction> {
        let count = self.items.len();
        let rows = fuzzy_list::list_rows(fuzzy_list::list_area(count, above)?);
        self.selection = ListSelection::at(self.selection.row_at(count, rows, y)?);
        Some(self.accept())
    }

    /// Enter: runs a complete command, or continues with the argument where one is needed. Without
    /// a marked row the typed text counts.
    fn accept(&self) -> PaletteAction {
        let marked = self.selection.marked().and_then(|row| self.items.get(row));
        let Some(found) = marked else { return PaletteAction::Send };
        let text = found.candidate.text.clone();
        match self.stage {
            CompletionStage::Closed => PaletteAction::Send,
            CompletionStage::Name if needs_argument(&text) || found.shows_hint_first() => {
                PaletteAction::Fill(format!("{text} "))
            }
            // A value has to follow.
            CompletionStage::Argument if text.ends_with(['=', ' ']) => PaletteAction::Fill(text),
            CompletionStage::Name | CompletionStage::Argument => PaletteAction::Run(text),
        }
    }

    /// Draws the list at the bottom of `above`, on top of the content.
    pub fn draw(&self, above: Rect, buf: &mut Buffer, cx: &DrawContext<'_>, keymap: &Keymap) {
        if self.items.is_empty() {
            return;
        }
        let Some(area) = fuzzy_list::list_area(self.items.len(), above) else { return };
        let lang = cx.lang;
        let omitted =
            (self.omitted > 0).then(|| phrases::QUEUE_MORE.with("n", self.omitted).text(lang));
        let count = self.selection.count(self.items.len(), omitted.as_deref());
        let title = phrases::PALETTE_TITLE.text(lang);
        let rows = fuzzy_list::draw_head(area, buf, cx, title, count);
        let about = about_column(&self.items, draw::panel_measure(area));
        self.selection.draw_rows(self.items.len(), rows, buf, cx.theme, |row, area, buf, style| {
            if let Some(found) = self.items.get(row) {
                let key = found.candidate.text.strip_prefix('/').map(|it| keymap.command_key(it));
                found.draw(area, buf, lang, (about, &key.unwrap_or_default()), style);
            }
        });
    }
}

/// Where the descriptions begin, counted from the left of the list. Hints give way to descriptions
/// sooner than names do: a name that is cut may be that of another command.
fn about_column(found: &[PaletteItem], width: usize) -> usize {
    let widest = |of: &dyn Fn(&PaletteItem) -> usize| found.iter().map(of).max().unwrap_or(0) + 5;
    let name = |item: &PaletteItem| text::width(&item.candidate.text);
    let with_hint = |item: &PaletteItem| name(item) + text::width(&item.candidate.hint_or_alias());
    let names = widest(&name).min((width * 2 / 3).max(16));
    widest(&with_hint).min((width / 3).max(16)).max(names)
}

impl PaletteItem {
    /// A command of the user that takes arguments is filled in with its hint; it runs without them
    /// if its whole name was typed and they are optional.
    fn shows_hint_first(&self) -> bool {
        let Candidate { text, hint, .. } = &self.candidate;
        let is_built_in = commands::find(text).is_some();
        let is_typed = self.matched_chars.len() + 1 == text.chars().count();
        hint.starts_with('<') || !(is_built_in || is_typed || hint.is_empty())
    }

    /// `key` does the same; it is on the right.
    fn draw(
        &self,
        area: Rect,
        buf: &mut Buffer,
        lang: Lang,
        (at, key): (usize, &str),
        style: &RowStyle,
    ) {
        let quiet = style.quiet;
        let room = at.saturating_sub(2);
        let shown = text::elide_end(self.candidate.text.trim_end(), room.saturating_sub(2));
        let mut name = vec![style.sigil()];
        name.extend(style.highlight(&shown, 0, &self.matched_chars));
        name.push(Span::raw(" "));
        let rest = room.saturating_sub(text::width(&shown) + 3);
        name.push(Span::styled(text::elide_end(&self.candidate.hint_or_alias(), rest), quiet));
        draw::line(area, buf, 0, room, &Line::from(name));
        let width = draw::panel_measure(area);
        let end = width.saturating_sub(if key.is_empty() { 0 } else { text::width(key) + 3 });
        let about = self.candidate.about.as_ref().map_or_else(String::new, |it| it.text(lang));
        let about = text::elide_end(&text::single_line(&about), end.saturating_sub(at + 2));
        draw::line(area, buf, at, end, &Line::styled(about, quiet));
        draw::line(area, buf, end + 1, width, &Line::styled(key.to_owned(), quiet));
    }
}

/// What was used last comes first.
fn recent_first(mut candidates: Vec<Candidate>, history: &[String]) -> Vec<Candidate> {
    let mut first_candidates: Vec<Candidate> = Vec::new();
    for sent in history.iter().rev() {
        let name = sent.split_whitespace().next().unwrap_or_default();
        let at = candidates.iter().position(|candidate| candidate.text == name);
        first_candidates.extend(at.map(|at| candidates.remove(at)));
        if first_candidates.len() == RECENT {
            break;
        }
    }
    first_candidates.append(&mut candidates);
    first_candidates
}

/// The part of the input to complete.
fn stage(input: &str) -> CompletionStage {
    let Some(rest) = input.strip_prefix('/') else { return CompletionStage::Closed };
    if input.contains('\n') {
        return CompletionStage::Closed;
    }
    match rest.split_once(char::is_whitespace) {
        None => CompletionStage::Name,
        Some(_) => CompletionStage::Argument,
    }
}

fn needs_argument(line: &str) -> bool {
    let name = line.trim().trim_start_matches('/');
    commands::find(name).is_some_and(commands::SlashCommand::needs_argument)
}

/// The candidates, which come best first, with the typed letters.
fn find(input: &str, candidates: Vec<Candidate>) -> Vec<PaletteItem> {
    let (before, typed) = split_typed(input);
    let mut fuzzy = FuzzyMatcher::new(typed);
    candidates
        .into_iter()
        .take(MAX_CANDIDATES)
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
