//! What is known of a chat and its session, and what the names of its commands mean there.

use std::time::{Duration, SystemTime};

use super::super::access::{AccessRole, may_use};
use super::super::menu::{self, MenuRows, SentCommand};
use super::super::platform::{ChatAddress, PlatformLimits};
use super::effect::ChatEffect;
use super::speaker::Speaker;
use super::suggest_query::SuggestQuery;
use avocet_core::i18n::Lang;
use avocet_core::protocol::{ApprovalMode, ChatPlatform, Extensions, Op, RuleOp, SessionInfo};
use avocet_present::commands::{
    self, CalledRows, CommandContext, CommandOutcome, RowOrigin, Surface,
};

/// Fixed facts of a conversation.
#[derive(Clone, Debug)]
pub struct ChatOptions {
    pub platform: ChatPlatform,
    pub address: ChatAddress,
    pub lang: Lang,
    pub limits: PlatformLimits,
    /// The settings that open commands to chats.
    pub open: Vec<&'static str>,
    /// The commands that come first in a menu.
    pub menu_first: Vec<String>,
    /// The commands of users who are not admins; empty: all that change no settings.
    pub user_commands: Vec<String>,
    /// Messages that may wait for their turn.
    pub most_queued: usize,
    /// How long a question stays open; `None`: until it is answered.
    pub question_time: Option<Duration>,
    /// When the conversation was taken up here.
    pub started: SystemTime,
}

#[derive(Debug)]
pub struct ChatContext {
    pub options: ChatOptions,
    pub info: SessionInfo,
    pub models: Vec<String>,
    pub extensions: Extensions,
    /// The commands of the menu that the service shows.
    pub menu_rows: MenuRows,
}

impl ChatContext {
    pub fn surface(&self) -> Surface<'_> {
        Surface::Gateway { open: &self.options.open }
    }

    pub fn for_command(&self, busy: bool) -> CommandContext<'_> {
        CommandContext {
            facts: &self.info,
            models: &self.models,
            themes: &[],
            extensions: &self.extensions,
            folders: &[],
            argument_values: None,
            surface: self.surface(),
            busy,
        }
    }

    /// Whether a name leads to a command.
    pub fn has_command(&self, name: &str) -> bool {
        commands::canonical_name(&self.extensions, name).is_some()
    }

    /// The command that a name leads to and that the speaker may not use.
    pub fn forbidden(&self, speaker: &Speaker, name: &str) -> Option<String> {
        let rows = commands::rows(&self.extensions, self.options.lang);
        // Whatever the name is that leads to it.
        let row = commands::canonical_name(&self.extensions, name)?;
        let row = rows.iter().find(|known| known.name == row)?;
        let role = if speaker.is_admin { AccessRole::Admin } else { AccessRole::User };
        // The list means what is called exactly so.
        let called = CalledRows::new(&rows);
        let listed = self.options.user_commands.iter();
        let listed = listed.map(|name| called.find(name).map_or(name, |row| &row.name));
        let listed: Vec<&str> = listed.map(String::as_str).collect();
        (!may_use(role, &row.name, row.category, &listed)).then(|| row.name.clone())
    }

    /// The command of a line that needs an argument and has none.
    pub fn lacks_argument(&self, speaker: &Speaker, line: &str) -> Option<String> {
        let name = line.strip_prefix('/').filter(|name| !name.contains(char::is_whitespace))?;
        let rows = commands::rows(&self.extensions, self.options.lang);
        let row = commands::canonical_name(&self.extensions, name)?;
        let row = rows.iter().find(|known| known.name == row && known.needs_argument())?;
        self.forbidden(speaker, name).is_none().then(|| row.name.clone())
    }

    /// The page of a help topic, whatever it is called here.
    pub fn help_page(&self, topic: Option<String>) -> CommandOutcome {
        let named =
            |topic: String| self.with_names(|names| names.row_name(&topic)).unwrap_or(topic);
        let topic = topic.map(named);
        commands::help_page(topic.as_deref(), self.surface(), &self.extensions)
    }

    /// Takes over the mode that an operation sets; false: this user may not set it. Only admins
    /// choose one in which less is asked, and it is theirs alone.
    pub fn set_mode(&mut self, speaker: &Speaker, op: &Op) -> bool {
        let Op::Rules(RuleOp::SetApprovalMode { mode }) = op else { return true };
        if mode.answers() && !speaker.is_admin {
            return false;
        }
        // The session tells it later, and a message may come before that.
        self.info.approval = *mode;
        true
    }

    /// Before the words of a user without admin rights, the session goes back to asking: no admin
    /// agreed to what they lead to.
    pub fn ask_again(&mut self, speaker_is_admin: bool) -> Option<Op> {
        if speaker_is_admin || !self.info.approval.answers() {
            return None;
        }
        let mode = ApprovalMode::Ask;
        self.info.approval = mode;
        Some(Op::Rules(RuleOp::SetApprovalMode { mode }))
    }

    /// The line of the registry for a command as the service sent it.
    pub fn typed_line(&self, sent: &SentCommand) -> String {
        self.with_names(|names| names.typed_line(sent))
    }

    /// Looks at what the names of this chat mean.
    fn with_names<T>(&self, look: impl FnOnce(&menu::MenuNames<'_>) -> T) -> T {
        let rows = commands::rows(&self.extensions, self.options.lang);
        let options =
            menu::MenuOptions { open: &self.options.open, first: &self.options.menu_first };
        let platform = self.options.platform;
        look(&menu::MenuNames { platform, rows: &rows, shown: &self.menu_rows, options })
    }

    pub fn suggestion(&self, query: SuggestQuery, busy: bool) -> ChatEffect {
        let choices = self.suggest(&query.command, &query.option, &query.typed, busy);
        ChatEffect::Suggest { query: query.query, choices }
    }

    /// What could follow in an option of a command.
    pub fn suggest(&self, command: &str, option: &str, typed: &str, busy: bool) -> Vec<String> {
        // The one command that takes all others takes their names and arguments.
        if command.eq_ignore_ascii_case(menu::UMBRELLA) {
            return self.complete("/", typed.trim_start_matches('/'), busy);
        }
        let rows = commands::rows(&self.extensions, self.options.lang);
        let name = self.with_names(|names| names.row_name(command));
        let row = name.and_then(|name| rows.into_iter().find(|row| row.name == name));
        match row {
            Some(row) if row.origin != RowOrigin::BuiltIn => {
                menu::discord::own_choices(&row, option, typed)
            }
            // Only what comes first is completed.
            Some(row) if menu::discord::is_first_option(&row, option) => {
                self.complete(&format!("/{} ", row.name), typed, busy)
            }
            _ => Vec::new(),
        }
    }

    pub fn complete(&self, start: &str, typed: &str, busy: bool) -> Vec<String> {
        let found = commands::complete(&self.for_command(busy), &format!("{start}{typed}"));
        let rest = found.iter().filter_map(|found| found.text.strip_prefix(start));
        rest.map(str::to_owned).collect()
    }
}
