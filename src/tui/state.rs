//! The state of the screen, by area. Each area owns its own struct; this file only puts them
//! together.

use std::path::PathBuf;
use std::sync::Arc;

use ratatui::layout::Rect;

use super::Millis;
use super::activity::Activity;
use super::agents::AgentList;
use super::composer::Composer;
use super::connect::{Connecting, SetupHandle};
use super::guard::QuestionGuard;
use super::keymap::Keymap;
use super::modal::Modals;
use super::notify::NotifyMethod;
use super::palette::Palette;
use super::picture::GraphicsProbe;
use super::queue::Queue;
use super::side_panel::SidePanel;
use super::suggestions::{self, Suggestions};
use super::symbols::LineStyle;
use super::terminal_caps::TerminalCaps;
use super::theme::{AUTO, Background, Depth, Theme, ThemeRegistry, ThemeSource};
use super::transcript::{HighlightedCode, Snippet, Transcript};
use avocet_config::draft::SavedDraft;
use avocet_config::{BusyInput, ShowThinking};
use avocet_core::i18n::{Lang, LocalizedText, input, screen as phrases};
use avocet_core::protocol::{
    ArgumentValues, Extensions, ModelOffer, Notice, Op, SessionInfo, SettingRow, TurnOp,
    TypedArgument,
};
use avocet_present::commands::{self, CommandContext, Surface};
use avocet_safety::redact::Redactor;
use avocet_tools::exec::Watchdog;
use avocet_tools::temp::RunFolder;

/// The initial configuration of the screen: plain data, gathered by the caller.
#[derive(Clone, Debug, Default)]
pub struct ScreenConfig {
    pub lang: Lang,
    /// The name of a theme; `auto` or an empty name follows the background.
    pub theme: String,
    /// The user's own themes.
    pub themes: Vec<ThemeSource>,
    pub terminal_caps: TerminalCaps,
    pub facts: SessionInfo,
    /// Sent messages, oldest first.
    pub history: Vec<String>,
    /// The text in the input when the last session ended.
    pub draft: SavedDraft,
    pub files: ScreenFiles,
    pub preferences: Preferences,
    /// The text of the user's `keys.toml`.
    pub keymap: String,
    /// The first message, sent at once.
    pub first: Option<String>,
    /// The models of the server, where they were already requested.
    pub models: Vec<String>,
    /// Connects to other providers.
    pub setup: SetupHandle,
    /// Notices of the start: a broken settings file, a server that was found.
    pub notices: Vec<Notice>,
    /// Restores the terminal when nothing else can any more.
    pub watchdog: Watchdog,
}

/// Files of the input.
#[derive(Clone, Debug, Default)]
pub struct ScreenFiles {
    /// Those for the history and the draft.
    pub save_paths: SavePaths,
    /// The user's editor, as in `VISUAL`.
    pub editor: Option<String>,
    /// The folder for the editor's files.
    pub temp: Arc<RunFolder>,
}

/// The files to save to; `None`: not saved.
#[derive(Clone, Debug, Default)]
pub struct SavePaths {
    pub history: Option<PathBuf>,
    pub draft: Option<PathBuf>,
    /// Which secrets are masked in what was sent; `None`: those that are known by their shape.
    pub secrets: Option<Arc<Redactor>>,
}

/// Settings that the user turned on permanently.
#[allow(clippy::struct_excessive_bools, reason = "each is a setting of the user")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preferences {
    /// The input begins with vi keys.
    pub vim: bool,
    /// Times are shown.
    pub timestamps: bool,
    /// Nothing moves on the screen but text and seconds.
    pub is_still: bool,
    pub show_thinking: ShowThinking,
    pub enter_while_busy: BusyInput,
    /// Images are shown as pictures.
    pub show_pictures: bool,
}

#[derive(Debug)]
pub struct State {
    pub(super) composer: Composer,
    pub(super) palette: Palette,
    pub(super) suggestions: Suggestions,
    pub(super) queue: Queue,
    pub(super) transcript: Transcript,
    pub(super) modals: Modals,
    pub(super) guard: QuestionGuard,
    pub(super) activity: Activity,
    pub(super) facts: SessionInfo,
    pub(super) completions: Completions,
    pub(super) pickers: PickerData,
    pub(super) appearance: Appearance,
    pub(super) presence: Presence,
    pub(super) keys: KeySettings,
    pub(super) display: Display,
}

/// What keys do.
#[derive(Clone, Debug)]
pub struct KeySettings {
    pub keymap: Arc<Keymap>,
    pub enter_while_busy: BusyInput,
}

/// What is on the screen besides the conversation, and who has the mouse.
#[derive(Debug)]
pub struct Display {
    pub agents: AgentList,
    pub areas: ScreenAreas,
    pub side_panel: SidePanel,
    pub mouse: MouseOwner,
    pub graphics: GraphicsProbe,
}

/// What pickers of several pages have chosen so far.
#[derive(Debug, Default)]
pub struct PickerData {
    pub connecting: Connecting,
    pub settings_editor: SettingsEditor,
}

/// Where the last frame had what takes clicks.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScreenAreas {
    /// Above the input, where a list is at the bottom.
    pub above_input: Rect,
    pub suggestions: Rect,
    /// The rows of the start page to try.
    pub first_steps: Rect,
    pub dialog: Rect,
    /// The conversation, above a dialog that leaves it some rows.
    pub transcript: Rect,
    pub screen_width: u16,
}

/// Names for completion, as far as they are known.
#[derive(Clone, Debug, Default)]
pub struct Completions {
    /// The models of the server, by name and with what is known of them.
    pub models: Vec<String>,
    pub offers: Vec<ModelOffer>,
    /// The user's commands, skills and bots.
    pub extensions: Extensions,
    /// Folders that may complete a typed path.
    pub folders: Vec<String>,
    /// The argument of an MCP server's prompt that is being typed, and its values.
    pub typed_argument: Option<TypedArgument>,
    pub argument_values: Option<ArgumentValues>,
    /// The files were read.
    pub has_loaded_extensions: bool,
}

/// The settings that `/config` lists, and the one that is being edited.
#[derive(Clone, Debug, Default)]
pub struct SettingsEditor {
    pub rows: Vec<SettingRow>,
    /// The setting whose value is chosen or typed.
    pub key: String,
}

impl Completions {
    fn of_models(models: Vec<String>) -> Completions {
        let offers = models.iter().map(|name| name.as_str().into()).collect();
        Completions { offers, models, ..Completions::default() }
    }
}

impl Completions {
    /// True for a user who has no extensions yet.
    pub fn has_no_extensions(&self) -> bool {
        self.has_loaded_extensions && self.extensions == Extensions::default()
    }
}

/// The appearance and the language.
#[derive(Clone, Debug)]
pub struct Appearance {
    pub theme: Theme,
    /// The name under which it was chosen, which may be `auto`.
    pub theme_name: String,
    pub theme_registry: ThemeRegistry,
    pub background: Background,
    pub depth: Depth,
    /// The colours without a setting.
    pub auto_depth: Depth,
    pub lines: LineStyle,
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
    pub window_focus: WindowFocus,
    /// Set after a first request to quit, until this time.
    pub confirm_quit_until: Option<Millis>,
    /// Unsaved changes are being written to another place; the screen quits after that.
    pub should_quit_after_export: bool,
    /// The user was asked about unsaved changes.
    pub has_handled_unsaved: bool,
    /// When Esc was last pressed.
    pub last_escape: Option<Millis>,
    /// The note whose place is being chosen.
    pub note: String,
    /// The user's home, for `~` in what is shown.
    pub home: PathBuf,
    /// A temporary message, and when it ends.
    pub temporary_message: Option<(LocalizedText, Millis)>,
    /// How many questions there were.
    pub question_count: usize,
    /// How the user is notified.
    pub notify_method: NotifyMethod,
    /// The same without a setting.
    pub auto_notify: NotifyMethod,
}

/// A temporary message is shown this long.
const TOLD: Millis = 4_000;

impl Presence {
    /// Shows a temporary message over the input.
    pub fn show_message(&mut self, say: impl Into<LocalizedText>, now: Millis) {
        self.temporary_message = Some((say.into(), now + TOLD));
    }

    fn new(caps: &TerminalCaps) -> Presence {
        let notify_method = caps.notify_method;
        let auto_notify = caps.auto_notify;

        let home = caps.home.clone();
        Presence { notify_method, auto_notify, home, ..Presence::default() }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowFocus {
    #[default]
    Focused,
    Unfocused,
}

/// Who handles the mouse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MouseOwner {
    /// The wheel scrolls the transcript.
    #[default]
    App,
    /// The terminal selects text.
    Terminal,
}

/// Restores the text that was not sent, and says so.
fn restore_text(composer: &mut Composer, draft: SavedDraft) -> Option<Notice> {
    (!draft.shown.trim().is_empty()).then(|| {
        composer.restore(draft);
        Notice::info(input::DRAFT_KEPT)
    })
}

impl State {
    /// Code in or near the view that has no colours yet.
    pub fn next_unhighlighted(&self) -> Option<Snippet> {
        self.modals.next_unhighlighted().or_else(|| self.transcript.next_unhighlighted())
    }

    /// Takes the colours of a piece of code.
    pub fn add_highlight(&mut self, code: HighlightedCode) {
        match code.index_in_dialog() {
            Some(_) => self.modals.add_highlight(code),
            None => self.transcript.add_highlight(code),
        }
    }

    /// What is said of a message that is too long to be sent whole, before it is sent.
    pub fn omitted_notice(&self) -> Option<LocalizedText> {
        let (bytes, tokens) = self.composer.size();
        let omitted = self.facts.context.omitted_bytes(bytes, tokens);
        (omitted > 0)
            .then(|| phrases::INPUT_TOO_LONG.with("bytes", avocet_core::text::size(omitted)))
    }

    pub fn new(config: ScreenConfig) -> State {
        let ScreenConfig {
            lang,
            theme,
            themes,
            terminal_caps: around,
            preferences: habits,
            facts,
            history,
            draft,
            ..
        } = config;
        let (models, notices) = (config.models, config.notices);
        let keymap = Arc::new(Keymap::parse(&config.keymap));
        let mut composer = Composer::new(history);
        let queue = Queue::from_draft(&draft);
        let kept_text = restore_text(&mut composer, draft);
        composer.set_vim(Some(habits.vim));
        // Without colours a picture would have none either.
        let graphics = habits.show_pictures && around.depth != Depth::None;
        let graphics = GraphicsProbe::new(graphics, around.pictures);
        let mut transcript = Transcript::new(habits.show_thinking);
        transcript.keep_images(graphics.is_on());
        let wrong_key = |why| Notice::warning(phrases::KEYMAP_PROBLEM.with("why", why));
        let wrong_keys = keymap.problems.iter().cloned().map(wrong_key);
        notices
            .into_iter()
            .chain(wrong_keys)
            .chain(kept_text)
            .chain(queue.restored_notice(&keymap))
            .for_each(|notice| transcript.add_notice(notice));
        let (mut dress, torn) =
            Appearance::from_theme_name(theme, ThemeRegistry::new(themes), &around, lang);
        dress.timestamps = habits.timestamps;
        torn.into_iter().for_each(|why| transcript.add_notice(Notice::error(why)));
        let completions = Completions::of_models(models);
        let mut chips = Suggestions::default();
        chips.set(&suggestions::first_steps(&facts, &completions.offers, lang));
        State {
            composer,
            palette: Palette::default(),
            suggestions: chips,
            queue,
            transcript,
            modals: Modals::default(),
            guard: QuestionGuard::default(),
            activity: Activity::new(habits.is_still),
            facts,
            completions,
            pickers: PickerData::default(),
            appearance: dress,
            presence: Presence::new(&around),
            keys: KeySettings { keymap, enter_while_busy: habits.enter_while_busy },
            display: Display {
                agents: AgentList::default(),
                areas: ScreenAreas::default(),
                side_panel: SidePanel::default(),
                mouse: MouseOwner::default(),
                graphics,
            },
        }
    }

    /// When something must be redrawn even if no event comes; `None`: never.
    pub fn next_wakeup(&self, now: Millis) -> Option<Millis> {
        let spinner = self.activity.next_wakeup(now);
        let reading = self.transcript.is_searching().then_some(now + super::frame_limiter::FRAME);
        let told = self.presence.temporary_message.as_ref().map(|(_, until)| *until);
        let listens =
            self.modals.is_question_on_top().then(|| self.guard.next_wakeup(now)).flatten();
        let pictures = self.transcript.pictures.next_wakeup();
        let quits = self.presence.confirm_quit_until;
        let agents = self.display.agents.next_wakeup(now);
        [spinner, agents, quits, reading, told, listens, pictures, self.modals.next_wakeup()]
            .into_iter()
            .flatten()
            .min()
    }

    /// The current draft, which may be hidden under the palette.
    pub fn draft(&self) -> SavedDraft {
        let draft =
            self.palette.draft().map_or_else(|| self.composer.draft(), SavedDraft::from_text);
        let (queue, later) = self.queue.pending();
        let steered = self.queue.steered().iter().map(|message| message.text.clone());
        let queue = steered.chain(queue).collect();
        SavedDraft { queue, later, ..draft }
    }

    /// Messages queued at the last exit are queued again: tells the session.
    pub fn requeue_op(&self) -> Option<Op> {
        let (texts, _) = self.queue.pending();
        (!texts.is_empty()).then_some(Op::Turn(TurnOp::SetQueue { texts }))
    }

    /// The query for files, and the folder to search.
    pub fn file_query(&self) -> (Option<&str>, &str) {
        (self.composer.files.query(), &self.facts.cwd)
    }

    /// The folder at the end of a path in a command's argument, as typed.
    pub fn folder_prefix(&self) -> Option<String> {
        let line = self.palette.is_completing().then(|| self.composer.display_text())?;
        commands::typed_folder(&line).map(str::to_owned)
    }

    /// An argument for whose values its server has not been asked.
    pub fn take_typed_argument(&mut self) -> Option<TypedArgument> {
        let line = self.palette.is_completing().then(|| self.composer.display_text());
        let typed = line.and_then(|line| commands::typed_argument(&self.command_context(), &line));
        let known = std::mem::replace(&mut self.completions.typed_argument, typed);
        self.completions.typed_argument.clone().filter(|typed| known.as_ref() != Some(typed))
    }

    pub(super) fn command_context(&self) -> CommandContext<'_> {
        CommandContext {
            facts: &self.facts,
            models: &self.completions.models,
            extensions: &self.completions.extensions,
            folders: &self.completions.folders,
            argument_values: self.completions.argument_values.as_ref(),
            themes: self.appearance.theme_registry.names(),
            surface: Surface::Local,
            busy: self.activity.is_busy(),
        }
    }
}

impl Appearance {
    /// The theme of that name; if it is unavailable, `auto`, and the reason.
    fn from_theme_name(
        name: String,
        registry: ThemeRegistry,
        caps: &TerminalCaps,
        lang: Lang,
    ) -> (Appearance, Option<LocalizedText>) {
        let worn = if name.is_empty() { AUTO.to_owned() } else { name };
        let theme = Theme::default();
        let title = String::new();

        let TerminalCaps { depth, auto_depth, background: ground, clock, .. } = *caps;
        let timestamps = false;
        let mut appearance = Appearance {
            theme,
            theme_name: worn,
            theme_registry: registry,
            background: ground,
            depth,
            auto_depth,
            lines: LineStyle::default(),
            lang,
            title,
            clock,
            timestamps,
        };
        let torn = appearance.set_theme(&appearance.theme_name.clone()).err();
        if torn.is_some() {
            // `auto` is built in, so it is always available.
            let _ = appearance.set_theme(AUTO);
        }
        (appearance, torn)
    }

    /// Switches to another theme; the current one stays if that is unavailable.
    ///
    /// # Errors
    /// The sentence that says why.
    pub fn set_theme(&mut self, name: &str) -> Result<(), LocalizedText> {
        let theme = self.theme_registry.theme(name, self.depth, self.background)?;
        self.wear(theme);
        name.clone_into(&mut self.theme_name);
        Ok(())
    }

    /// Shows the theme in these colours.
    pub fn set_depth(&mut self, depth: Depth) {
        self.depth = depth;
        // It is available already.
        let _ = self.set_theme(&self.theme_name.clone());
    }

    /// Shows this theme, with the lines that the terminal can draw.
    pub fn wear(&mut self, theme: Theme) {
        self.theme = Theme { lines: self.lines, ..theme };
    }

    /// The terminal has reported how wide it draws solid lines.
    pub fn set_lines(&mut self, lines: LineStyle) {
        self.lines = lines;
        self.theme.lines = lines;
    }

    /// The background is known now.
    pub fn set_background(&mut self, background: Background) {
        self.background = background;
        if self.theme_name == AUTO
            && let Ok(theme) = self.theme_registry.theme(AUTO, self.depth, background)
        {
            self.wear(theme);
        }
    }

    /// What asks the terminal for its background; empty when the answer would change nothing.
    pub fn background_query(&self) -> &'static str {
        if self.theme_name == AUTO && self.depth != Depth::None { Background::QUERY } else { "" }
    }
}
