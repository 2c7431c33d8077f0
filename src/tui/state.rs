//! The state of the screen, by area. Each area owns its own struct; this file only puts them
//! together.

use super::Millis;
use super::activity::Activity;
use super::chips::Chips;
use super::clerk;
use super::composer::Composer;
use super::files::FileMatches;
use super::folders::Listing;
use super::guard::QuestionGuard;
use super::modal::Modals;
use super::palette::Palette;
use super::queue::Queue;
use super::ring::Ring;
use super::start;
use super::surroundings::Surroundings;
use super::theme::{AUTO, Background, Depth, Theme, ThemeRegistry, ThemeSource};
use super::transcript::Transcript;
use crate::commands::{self, CommandContext, Surface};
use crate::config::draft::SavedDraft;
use crate::protocol::{Extensions, Notice, Op, SessionInfo};
use crate::tools::exec::Watchdog;
use crate::words::{Lang, LocalizedText};

/// The initial configuration of the screen: plain data, gathered by the caller.
#[derive(Clone, Debug, Default)]
pub struct ScreenConfig {
    pub lang: Lang,
    /// The name of a theme; `auto` or an empty name follows the background.
    pub theme: String,
    /// The user's own themes.
    pub themes: Vec<ThemeSource>,
    pub around: Surroundings,
    pub facts: SessionInfo,
    /// Sent messages, oldest first.
    pub history: Vec<String>,
    /// The text in the input when the last session ended.
    pub draft: SavedDraft,
    /// The files for the history and the draft.
    pub keep: clerk::SavePaths,
    /// The user's editor, as in `VISUAL`.
    pub editor: Option<String>,
    /// The folder for the editor's files.
    pub temp: std::sync::Arc<crate::tools::temp::RunFolder>,
    pub habits: Habits,
    /// The first message, sent at once.
    pub first: Option<String>,
    /// The models of the server, where they were already requested.
    pub models: Vec<String>,
    /// Notices of the start: a broken settings file, a server that was found.
    pub notices: Vec<Notice>,
    /// Restores the terminal when nothing else can any more.
    pub watchdog: Watchdog,
}

/// Settings that the user turned on permanently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Habits {
    /// The input begins with vi keys.
    pub vim: bool,
    /// Times are shown.
    pub timestamps: bool,
}

#[derive(Debug)]
pub struct State {
    pub(super) composer: Composer,
    pub(super) palette: Palette,
    pub(super) chips: Chips,
    pub(super) queue: Queue,
    pub(super) transcript: Transcript,
    pub(super) modals: Modals,
    pub(super) guard: QuestionGuard,
    pub(super) activity: Activity,
    pub(super) facts: SessionInfo,
    pub(super) known: Completions,
    pub(super) dress: Appearance,
    pub(super) person: Presence,
    pub(super) mouse: Mouse,
}

/// Names for completion, as far as they are known.
#[derive(Clone, Debug, Default)]
pub struct Completions {
    /// The models of the server.
    pub models: Vec<String>,
    /// The user's commands, skills and bots.
    pub kept: Extensions,
    /// Folders that may complete a typed path.
    pub folders: Vec<String>,
    /// The files were read.
    pub looked: bool,
}

impl Completions {
    /// True for a user who has no extensions yet.
    pub fn keeps_nothing(&self) -> bool {
        self.looked && self.kept == Extensions::default()
    }
}

/// The appearance and the language.
#[derive(Clone, Debug)]
pub struct Appearance {
    pub theme: Theme,
    /// The name under which it was chosen, which may be `auto`.
    pub worn: String,
    pub wardrobe: ThemeRegistry,
    pub ground: Background,
    pub depth: Depth,
    pub lang: Lang,
    /// The window's title, as last set.
    pub title: String,
    /// The local time when the screen started, in milliseconds since midnight.
    pub clock: Millis,
    /// Whether times are shown.
    pub timestamps: bool,
}

/// The state of the user at the keyboard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    pub attention: WindowFocus,
    /// Set after a first request to quit, until this time.
    pub leaving_until: Option<Millis>,
    /// Unsaved changes are being written to another place; the screen quits after that.
    pub leaves_when_written: bool,
    /// The user was asked about unsaved changes.
    pub knows_unsaved: bool,
    /// When Esc was last pressed.
    pub escaped: Option<Millis>,
    /// A temporary message, and when it ends.
    pub told: Option<(LocalizedText, Millis)>,
    /// How the user is notified.
    pub ring: Ring,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowFocus {
    #[default]
    Here,
    Elsewhere,
}

/// Who handles the mouse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mouse {
    /// The wheel scrolls the transcript.
    #[default]
    Ours,
    /// The terminal selects text.
    Terminals,
}

impl State {
    pub fn new(config: ScreenConfig) -> State {
        let ScreenConfig { lang, theme, themes, around, habits, facts, history, draft, .. } =
            config;
        let (models, notices) = (config.models, config.notices);
        let mut composer = Composer::new(history);
        let queue = Queue::of(&draft);
        if !draft.shown.trim().is_empty() {
            composer.restore(draft);
        }
        composer.set_vim(Some(habits.vim));
        let mut chips = Chips::default();
        chips.set(&start::suggestions(lang));
        let mut transcript = Transcript::default();
        notices.into_iter().chain(queue.kept()).for_each(|notice| transcript.notice(notice));
        let (mut dress, torn) = Appearance::of(theme, ThemeRegistry::new(themes), &around, lang);
        dress.timestamps = habits.timestamps;
        torn.into_iter().for_each(|why| transcript.notice(Notice::error(why)));
        State {
            composer,
            palette: Palette::default(),
            chips,
            queue,
            transcript,
            modals: Modals::default(),
            guard: QuestionGuard::default(),
            activity: Activity::default(),
            facts,
            known: Completions { models, ..Completions::default() },
            dress,
            person: Presence { ring: around.ring, ..Presence::default() },
            mouse: Mouse::default(),
        }
    }

    /// When something must be redrawn even if no event comes; `None`: never.
    pub fn wakes_at(&self, now: Millis) -> Option<Millis> {
        let spinner = self.activity.moves().then_some(now + super::activity::FRAME);
        let reading = self.transcript.is_reading().then_some(now + super::pace::FRAME);
        let told = self.person.told.as_ref().map(|(_, until)| *until);
        let listens = self.modals.is_asking().then(|| self.guard.wakes_at(now)).flatten();
        [spinner, self.person.leaving_until, reading, told, listens].into_iter().flatten().min()
    }

    /// The current draft, which may be hidden under the palette.
    pub fn draft(&self) -> SavedDraft {
        let draft =
            self.palette.draft().map_or_else(|| self.composer.draft(), SavedDraft::from_text);
        let (queue, later) = self.queue.waiting();
        SavedDraft { queue: queue.to_vec(), later, ..draft }
    }

    /// Messages queued at the last exit are queued again: tells the session.
    pub fn requeued(&self) -> Option<Op> {
        let (texts, _) = self.queue.waiting();
        (!texts.is_empty()).then(|| Op::SetQueue { texts: texts.to_vec() })
    }

    /// The query for files, and the folder to search.
    pub fn wanted_files(&self) -> (Option<&str>, &str) {
        (self.composer.files.wanted(), &self.facts.cwd)
    }

    /// Takes the files found.
    pub fn found_files(&mut self, found: FileMatches) {
        self.composer.files.found(found);
    }

    /// The folder at the end of a path in a command's argument, as typed.
    pub fn wanted_folder(&self) -> Option<String> {
        let line = self.palette.is_wanted().then(|| self.composer.shown())?;
        commands::typed_folder(&line).map(str::to_owned)
    }

    /// Takes the folders found. Those of another path came too late.
    pub fn found_folders(&mut self, found: Listing) {
        if self.wanted_folder().as_ref() == Some(&found.lead) {
            self.known.folders = found.folders;
            let mut palette = std::mem::take(&mut self.palette);
            palette.refresh(&self.composer.shown(), &self.call());
            self.palette = palette;
        }
    }

    pub(super) fn call(&self) -> CommandContext<'_> {
        CommandContext {
            facts: &self.facts,
            models: &self.known.models,
            extensions: &self.known.kept,
            folders: &self.known.folders,
            themes: self.dress.wardrobe.names(),
            surface: Surface::Local,
            busy: self.activity.is_busy(),
        }
    }
}

impl Appearance {
    /// The theme of that name; if it is unavailable, `auto`, and the reason.
    fn of(
        name: String,
        wardrobe: ThemeRegistry,
        around: &Surroundings,
        lang: Lang,
    ) -> (Appearance, Option<LocalizedText>) {
        let worn = if name.is_empty() { AUTO.to_owned() } else { name };
        let (theme, title) = (Theme::default(), String::new());
        let Surroundings { depth, ground, clock, .. } = *around;
        let timestamps = false;
        let mut dress =
            Appearance { theme, worn, wardrobe, ground, depth, lang, title, clock, timestamps };
        let torn = dress.put_on(&dress.worn.clone()).err();
        if torn.is_some() {
            // `auto` is built in, so it is always available.
            let _ = dress.put_on(AUTO);
        }
        (dress, torn)
    }

    /// Switches to another theme; the current one stays if that is unavailable.
    ///
    /// # Errors
    /// The sentence that says why.
    pub fn put_on(&mut self, name: &str) -> Result<(), LocalizedText> {
        self.theme = self.wardrobe.theme(name, self.depth, self.ground)?;
        name.clone_into(&mut self.worn);
        Ok(())
    }

    /// The background is known now.
    pub fn stands_on(&mut self, ground: Background) {
        self.ground = ground;
        if self.worn == AUTO
            && let Ok(theme) = self.wardrobe.theme(AUTO, self.depth, ground)
        {
            self.theme = theme;
        }
    }

    /// True when the terminal's answer would change something.
    pub fn wants_ground(&self) -> bool {
        self.worn == AUTO && self.depth != Depth::None
    }
}
