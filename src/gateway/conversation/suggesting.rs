//! What could follow while an option of a command is typed.

use super::super::menu;
use super::suggest_query::SuggestQuery;
use super::{ChatConversation, ChatEffect};
use avocet_present::commands::{self, RowOrigin};

impl ChatConversation {
    /// Answers at once, or once the user's commands are known.
    pub fn on_suggest(&mut self, asked: SuggestQuery) -> Vec<ChatEffect> {
        if !self.suggesting.has_commands {
            self.suggesting.waiting.push(asked);
            return Vec::new();
        }
        vec![self.suggestion_of(&asked)]
    }

    /// The user's commands are known.
    pub(super) fn answer_suggestions(&mut self) -> Vec<ChatEffect> {
        let waiting = self.suggesting.take();
        waiting.iter().map(|asked| self.suggestion_of(asked)).collect()
    }

    fn suggestion_of(&self, asked: &SuggestQuery) -> ChatEffect {
        let choices = self.suggest(&asked.command, &asked.option, &asked.typed);
        ChatEffect::Suggest { query: asked.query.clone(), choices }
    }

    /// What could follow in an option of a command.
    pub fn suggest(&self, command: &str, option: &str, typed: &str) -> Vec<String> {
        // The one command that takes all others takes their names and arguments.
        if command.eq_ignore_ascii_case(menu::UMBRELLA) {
            return self.complete("/", typed.trim_start_matches('/'));
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
                self.complete(&format!("/{} ", row.name), typed)
            }
            _ => Vec::new(),
        }
    }

    fn complete(&self, start: &str, typed: &str) -> Vec<String> {
        let found = commands::complete(&self.context(self.is_busy()), &format!("{start}{typed}"));
        let rest = found.iter().filter_map(|found| found.text.strip_prefix(start));
        rest.map(str::to_owned).collect()
    }
}
