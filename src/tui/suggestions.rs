//! Suggestions under an answer and on the welcome screen: Tab cycles them through an empty input,
//! Alt with a digit inserts one. They are only inserted, never sent.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::draw::{self, DrawContext};
use super::keymap::Keymap;
use super::keys::{KeyAction, KeyContext};
use super::{status, text};
use avocet_core::i18n::{Lang, Phrase, common, screen as phrases};
use avocet_core::protocol::{ModelOffer, SessionInfo};

/// One per digit.
const MAX_COUNT: usize = 9;
const ROWS: u16 = 2;
const GAP: usize = 3;
const MARGIN: usize = 2;

/// What is tried first with a model.
const QUESTIONS: &[Phrase] =
    &[phrases::START_TRY_CHANGED, phrases::START_TRY_FIND, common::RUN_TESTS];
/// The command that connects a model.
pub const CONNECT: &str = "/connect";
/// Offered models before it, each of another provider.
const OFFERED: usize = 2;

/// What is offered first: a model while there is none.
pub fn first_steps(info: &SessionInfo, offers: &[ModelOffer], lang: Lang) -> Vec<String> {
    let questions = QUESTIONS.iter().map(|word| word.text(lang).to_owned());
    if !status::is_guide(info) {
        return questions.collect();
    }
    let commands = first_offers(offers).map(|offer| format!("/model {}", offer.name));
    commands.chain([CONNECT.to_owned()]).chain(questions.take(1)).collect()
}

/// The first model of each provider.
fn first_offers(offers: &[ModelOffer]) -> impl Iterator<Item = &ModelOffer> {
    let is_first = move |(at, offer): &(usize, &ModelOffer)| {
        !offer.provider.is_empty()
            && offers.iter().take(*at).all(|before| before.provider != offer.provider)
    };
    offers.iter().enumerate().filter(is_first).map(|(_, offer)| offer).take(OFFERED)
}

/// The key that inserts it.
fn key_name(at: usize) -> String {
    if at == 0 { "Tab".to_owned() } else { format!("Alt-{}", at + 1) }
}

/// One of them, as the start page shows it.
#[derive(Clone, Debug)]
pub struct Suggestion<'a> {
    pub key: String,
    pub text: &'a str,
    /// It was inserted into the input.
    pub is_inserted: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestions {
    texts: Vec<String>,
    /// What they are called, where they are commands that run at once.
    labels: Vec<String>,
    /// The one inserted last.
    last_inserted: Option<usize>,
}

impl Suggestions {
    /// New suggestions: cleaned, one line each.
    pub fn set<T: AsRef<str>>(&mut self, texts: &[T]) {
        self.texts =
            texts.iter().take(MAX_COUNT).map(|text| text::single_line(text.as_ref())).collect();
        self.texts.retain(|text| !text.trim().is_empty());
        self.labels.clear();
        self.last_inserted = None;
    }

    /// Commands with their names, which run at once.
    pub fn set_commands(&mut self, commands: &[(&str, &str)]) {
        let (texts, labels): (Vec<_>, Vec<_>) =
            commands.iter().map(|(text, label)| ((*text).to_owned(), (*label).to_owned())).unzip();
        *self = Suggestions { texts, labels, last_inserted: None };
    }

    pub fn run_at_once(&self) -> bool {
        !self.labels.is_empty()
    }

    /// The same, unless they are there already.
    pub fn replace(&mut self, texts: &[String]) {
        if self.texts != texts {
            self.set(texts);
        }
    }

    /// All of them, with their keys.
    pub fn entries(&self, keymap: &Keymap) -> impl Iterator<Item = Suggestion<'_>> {
        let first = keymap.key_of(KeyContext::Input, KeyAction::Suggest);
        self.texts.iter().enumerate().map(move |(at, text)| Suggestion {
            key: if at == 0 && !first.is_empty() { first.clone() } else { key_name(at) },
            text,
            is_inserted: self.last_inserted == Some(at),
        })
    }

    /// The suggestion with this number, from 1.
    pub fn nth(&mut self, number: usize) -> Option<&str> {
        let at = number.checked_sub(1)?;
        let text = self.texts.get(at)?;
        self.last_inserted = Some(at);
        Some(text)
    }

    /// The suggestion after the one inserted last.
    pub fn next(&mut self) -> Option<&str> {
        let at = self.last_inserted.map_or(0, |at| (at + 1) % self.texts.len().max(1));
        self.nth(at + 1)
    }

    /// True when `input` is a suggestion as inserted.
    pub fn is_last_inserted(&self, input: &str) -> bool {
        self.last_inserted.and_then(|at| self.texts.get(at)).is_some_and(|text| text == input)
    }

    /// Rows needed in `width` columns: none without suggestions, two at most.
    pub fn rows(&self, width: u16) -> u16 {
        u16::try_from(self.layout(width).len()).unwrap_or(0)
    }

    /// The number of the suggestion at a place of the area where they are drawn.
    pub fn number_at(&self, area: Rect, position: Position) -> Option<usize> {
        let row = self.layout(area.width).into_iter().nth(usize::from(position.y - area.y))?;
        let mut end = MARGIN;
        for (at, text) in row {
            end += text::width(&key_name(at)) + 1 + text::width(&text);
            if usize::from(position.x - area.x) < end {
                return Some(at + 1);
            }
            end += GAP;
        }
        None
    }

    pub fn draw(&self, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) {
        for (y, row) in (area.y..area.bottom()).zip(self.layout(area.width)) {
            let mut line = Line::from(" ".repeat(MARGIN));
            for (at, text) in row {
                let style =
                    if self.last_inserted == Some(at) { cx.theme.selection } else { cx.theme.text };
                line.spans.push(Span::styled(key_name(at), cx.theme.accent));
                line.spans.push(Span::raw(" "));
                line.spans.push(Span::styled(text, style));
                line.spans.push(Span::raw(" ".repeat(GAP)));
            }
            draw::line(Rect { y, height: 1, ..area }, buf, 0, area.width.into(), &line);
        }
    }

    /// The content of each row.
    fn layout(&self, width: u16) -> Vec<Vec<(usize, String)>> {
        let room = usize::from(width).saturating_sub(3);
        let mut rows: Vec<Vec<(usize, String)>> = Vec::new();
        let mut used = room;
        for (at, text) in self.texts.iter().enumerate() {
            let key = text::width(&key_name(at)) + 1;
            let text = text::elide_end(
                self.labels.get(at).unwrap_or(text),
                room.saturating_sub(key).min(48),
            );
            let wide = text::width(&text) + key;
            if used + GAP + wide > room {
                if rows.len() == usize::from(ROWS) {
                    break;
                }
                rows.push(Vec::new());
                used = 0;
            }
            used += wide + if used == 0 { 0 } else { GAP };
            if let Some(row) = rows.last_mut() {
                row.push((at, text));
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tab_wraps_around() {
        let mut chips = Suggestions::default();
        chips.set(&["one", "two"]);
        assert_eq!(chips.next(), Some("one"));
        assert!(chips.is_last_inserted("one"));
        assert_eq!(chips.next(), Some("two"));
        assert_eq!(chips.next(), Some("one"));
        assert_eq!(chips.nth(3), None);
    }

    #[test]
    fn suggestions_take_two_rows_at_most() {
        let mut chips = Suggestions::default();
        chips.set(&["a rather long suggestion"; 9]);
        assert_eq!(chips.rows(40), 2);
        assert_eq!(chips.rows(0), chips.rows(1));
        chips.set::<&str>(&[]);
        assert_eq!(chips.rows(40), 0);
    }
}
