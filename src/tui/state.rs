//! All that the screen remembers, split by area. Each area owns its own struct; this
//! file only holds them side by side.

use super::Millis;
use super::activity::Activity;
use super::chips::Chips;
use super::clerk;
use super::composer::Composer;
use super::files::Found;
use super::modal::Modals;
use super::palette::Palette;
use super::queue::Queue;
use super::start;
use super::theme::{Depth, Theme};
use super::transcript::Transcript;
use crate::commands::{Call, Surface};
use crate::config::draft::Draft;
use crate::protocol::{Facts, Notice};
use crate::words::Lang;

/// What the screen starts from: plain data, gathered by the caller.
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub lang: Lang,
    /// A built-in theme; an unknown name means the first.
    pub theme: String,
    pub depth: Depth,
    pub facts: Facts,
    /// What was sent before, oldest first.
    pub history: Vec<String>,
    /// What stood in the input when the last session ended.
    pub draft: Draft,
    /// Where what is sent and what is being written are kept.
    pub keep: clerk::Files,
    /// The person's own editor, as `VISUAL` names it.
    pub editor: Option<String>,
    /// Whether the input begins with vi's keys.
    pub vim: bool,
    /// The first message, sent at once.
    pub first: Option<String>,
    /// The models the server offers, where somebody asked it already.
    pub models: Vec<String>,
    /// What the start has to say: a broken settings file, a server that was found.
    pub notices: Vec<Notice>,
}

#[derive(Debug)]
pub struct State {
    pub(super) composer: Composer,
    pub(super) palette: Palette,
    pub(super) chips: Chips,
    pub(super) queue: Queue,
    pub(super) transcript: Transcript,
    pub(super) modals: Modals,
    pub(super) activity: Activity,
    pub(super) facts: Facts,
    /// The models the server offers, as far as they are known.
    pub(super) models: Vec<String>,
    pub(super) dress: Dress,
    pub(super) person: Person,
    pub(super) mouse: Mouse,
}

/// How things look and in which words.
#[derive(Clone, Debug)]
pub struct Dress {
    pub theme: Theme,
    pub depth: Depth,
    pub lang: Lang,
    /// The window's title, as it was last set.
    pub title: String,
}

/// What is known of the person at the keyboard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Person {
    pub attention: Attention,
    /// Set when leaving was asked for once, until this time.
    pub leaving_until: Option<Millis>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Attention {
    #[default]
    Here,
    Elsewhere,
}

/// Whose the mouse is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mouse {
    /// The wheel scrolls the transcript.
    #[default]
    Ours,
    /// The terminal selects text.
    Terminals,
}

impl State {
    pub fn new(config: Config) -> State {
        let Config { lang, theme, depth, facts, history, draft, models, notices, vim, .. } = config;
        let mut composer = Composer::new(history);
        if !draft.is_empty() {
            composer.restore(draft);
        }
        composer.set_vim(Some(vim));
        let mut chips = Chips::default();
        chips.set(&start::suggestions(lang));
        let mut transcript = Transcript::default();
        notices.into_iter().for_each(|notice| transcript.notice(notice));
        State {
            composer,
            palette: Palette::default(),
            chips,
            queue: Queue::default(),
            transcript,
            modals: Modals::default(),
            activity: Activity::default(),
            facts,
            models,
            dress: Dress { theme: themed(&theme, depth), depth, lang, title: String::new() },
            person: Person::default(),
            mouse: Mouse::default(),
        }
    }

    /// When something must be drawn again though nothing happens; `None`: never.
    pub fn wakes_at(&self, now: Millis) -> Option<Millis> {
        let spinner = self.activity.moves().then_some(now + super::activity::FRAME);
        [spinner, self.person.leaving_until].into_iter().flatten().min()
    }

    /// What is being written: it may wait below the list of commands.
    pub fn draft(&self) -> Draft {
        self.palette.draft().map_or_else(|| self.composer.draft(), Draft::of)
    }

    /// What files are looked for, and below which folder.
    pub fn wanted_files(&self) -> (Option<&str>, &str) {
        (self.composer.files.wanted(), &self.facts.cwd)
    }

    /// Files that were found.
    pub fn found_files(&mut self, found: Found) {
        self.composer.files.found(found);
    }

    pub(super) fn call(&self) -> Call<'_> {
        Call {
            facts: &self.facts,
            models: &self.models,
            themes: Theme::names(),
            surface: Surface::Local,
            busy: self.activity.is_busy(),
        }
    }
}

/// A built-in theme by name, the first one for an unknown name.
fn themed(name: &str, depth: Depth) -> Theme {
    Theme::built_in(name, depth)
        .or_else(|| Theme::names().first().and_then(|first| Theme::built_in(first, depth)))
        .unwrap_or_default()
}
