//! Commands of a chat: found in the registry, run as in every frontend, or acted on here.

use super::super::access::{AccessRole, may_use};
use super::super::menu;
use super::super::platform::DeliveryId;
use super::super::question::{ChatAnswer, ChatQuestion};
use super::{ChatConversation, ChatEffect, ChatState, Speaker, display_name};
use crate::commands::{
    self, ApprovalSpan, ChatAction, CommandContext, CommandOutcome, Surface, UiAction,
};
use crate::i18n::{Localize as _, chat as w};
use crate::protocol::{Mention, Op, Prompt, PromptPart, Report};
use crate::safety::sanitize::{TextSource, clean};

impl ChatConversation {
    /// `/approve`, with the name of a choice.
    pub fn approve(&mut self, speaker: &Speaker, choice: &str) -> Vec<ChatEffect> {
        self.decide(speaker, |question| question.approve(choice, speaker.is_admin))
    }

    /// `/deny`.
    pub fn reject(&mut self, speaker: &Speaker, reason: Option<String>) -> Vec<ChatEffect> {
        self.decide(speaker, |question| ChatAnswer::Decided(question.reject(reason)))
    }

    fn decide(
        &mut self,
        speaker: &Speaker,
        answer: impl FnOnce(&ChatQuestion) -> ChatAnswer,
    ) -> Vec<ChatEffect> {
        let refusal = match &self.state {
            ChatState::Asking(open)
                if open.answered.is_none() && self.timeline.is_begun(open.post) =>
            {
                if open.question.may_answer(&speaker.id, speaker.is_admin) {
                    let answer = answer(&open.question);
                    return self.apply_answer(answer, speaker);
                }
                w::NOT_YOURS
            }
            _ => w::NO_QUESTION,
        };
        self.say(refusal);
        Vec::new()
    }

    /// A command of the menu, or typed. It is never run twice, so it ends before it is run.
    pub fn on_command(
        &mut self,
        speaker: &Speaker,
        delivery: DeliveryId,
        name: &str,
        args: &str,
    ) -> Vec<ChatEffect> {
        self.hear(speaker);
        let mut effects = vec![ChatEffect::Done(delivery)];
        let line = self.typed_line(name, args);
        let is_built_in = commands::find(name_of(&line)).is_some();
        if is_built_in || matches!(self.state, ChatState::Asking(_)) {
            effects.extend(self.run_line(&line));
        } else {
            // A file may have been added since the extensions were read.
            self.waiting_command = Some((name.to_owned(), args.to_owned()));
            effects.push(ChatEffect::Send(Op::RefreshExtensions));
        }
        effects
    }

    /// The line of the registry for a command as the service sent it.
    pub(super) fn typed_line(&self, name: &str, args: &str) -> String {
        let rows = commands::rows(&self.extensions, self.options.lang);
        let (open, first) = (&self.options.open, &self.options.menu_first);
        let options = menu::MenuOptions { open, first };
        menu::typed_line(self.options.platform, name, args, &rows, options)
    }

    /// Runs a line if its speaker may use the command.
    pub(super) fn run_line(&mut self, line: &str) -> Vec<ChatEffect> {
        let Some(speaker) = self.last_speaker.clone() else { return Vec::new() };
        let rows = commands::rows(&self.extensions, self.options.lang);
        let row = rows.iter().find(|row| row.name == name_of(line));
        let role = if speaker.is_admin { AccessRole::Admin } else { AccessRole::User };
        let listed = &self.options.user_commands;
        if row.is_some_and(|row| !may_use(role, &row.name, row.category, listed)) {
            self.say(w::COMMAND_OF_ADMINS.with("name", name_of(line)));
            return Vec::new();
        }
        self.dispatch(line)
    }

    fn context(&self) -> CommandContext<'_> {
        CommandContext {
            facts: &self.info,
            models: &self.models,
            themes: &[],
            extensions: &self.extensions,
            folders: &[],
            surface: Surface::Gateway { open: &self.options.open },
            busy: !matches!(self.state, ChatState::Idle),
        }
    }

    /// What could follow in an option of a command.
    pub fn suggest(&self, command: &str, _option: &str, typed: &str) -> Vec<String> {
        let start = format!("{} ", self.typed_line(command, ""));
        let found = commands::complete(&self.context(), &format!("{start}{typed}"));
        found
            .iter()
            .filter_map(|found| found.text.strip_prefix(&start))
            .map(str::to_owned)
            .collect()
    }

    pub(super) fn dispatch(&mut self, line: &str) -> Vec<ChatEffect> {
        let call = self.context();
        let outcome = match self.state {
            ChatState::Asking(_) => commands::dispatch_over_question(&call, line),
            ChatState::Idle | ChatState::Working => commands::dispatch(&call, line),
        };
        self.apply_outcome(outcome)
    }

    fn apply_outcome(&mut self, outcome: CommandOutcome) -> Vec<ChatEffect> {
        match outcome {
            CommandOutcome::Send(op) => {
                if let Some(speaker) = &self.last_speaker {
                    self.asker = Some(speaker.id.clone());
                }
                vec![ChatEffect::Send(op)]
            }
            CommandOutcome::Say(notice) => {
                self.post_notice(&notice);
                Vec::new()
            }
            CommandOutcome::Page { title, rows } => {
                self.post_page(&title, &rows);
                Vec::new()
            }
            CommandOutcome::Many(all) => {
                all.into_iter().flat_map(|one| self.apply_outcome(one)).collect()
            }
            CommandOutcome::Do(action) => self.perform(action),
        }
    }

    fn perform(&mut self, action: UiAction) -> Vec<ChatEffect> {
        match action {
            UiAction::Help(topic) => {
                let surface = Surface::Gateway { open: &self.options.open };
                let page = commands::help_page(topic.as_deref(), surface, &self.extensions);
                self.apply_outcome(page)
            }
            UiAction::Lang(lang) => {
                self.set_lang(lang);
                vec![ChatEffect::Send(Op::SetLang { lang })]
            }
            UiAction::Models => {
                self.asked_models = true;
                vec![ChatEffect::Send(Op::Report { report: Report::Models })]
            }
            UiAction::Efforts => {
                let page = commands::efforts_page(&self.info);
                self.apply_outcome(page)
            }
            UiAction::Bots => {
                let page = commands::bots_page(
                    &self.extensions,
                    self.info.bot.as_deref(),
                    Surface::Gateway { open: &self.options.open },
                );
                self.apply_outcome(page)
            }
            UiAction::Later(line) => {
                self.deferred.push(line);
                Vec::new()
            }
            UiAction::Chat(action) => self.perform_in_chat(action),
            _ => {
                self.say(w::NEEDS_TERMINAL);
                Vec::new()
            }
        }
    }

    fn perform_in_chat(&mut self, action: ChatAction) -> Vec<ChatEffect> {
        let Some(speaker) = self.last_speaker.clone() else { return Vec::new() };
        match action {
            ChatAction::Approve(span) => self.approve(
                &speaker,
                match span {
                    ApprovalSpan::Once => "once",
                    ApprovalSpan::Session => "session",
                    ApprovalSpan::Project => "project",
                },
            ),
            ChatAction::Reject(reason) => self.reject(&speaker, reason),
            ChatAction::WhoAmI => {
                let role = if speaker.is_admin { AccessRole::Admin } else { AccessRole::User };
                let say = w::WHO_YOU_ARE.with("id", display_name(&speaker.id.0));
                self.say(say.with("role", role.localized()));
                Vec::new()
            }
            ChatAction::SetHome(None) => {
                self.say(w::HOME_IS.with("folder", self.info.cwd.as_str()));
                Vec::new()
            }
            ChatAction::SendFile(path) => {
                let name = path.rsplit('/').next().unwrap_or_default();
                self.requested_file = Some(clean(name, TextSource::Text));
                let parts = vec![PromptPart::Insert(Mention { path: path.clone(), lines: None })];
                let shown = format!("/file {path}");
                let prompt = Box::new(Prompt { shown, parts, ..Prompt::default() });
                vec![ChatEffect::Send(Op::Render { prompt })]
            }
            ChatAction::SetHome(Some(folder)) => vec![ChatEffect::SetHome(folder)],
        }
    }
}

/// The name of the command of a line.
fn name_of(line: &str) -> &str {
    line.trim_start_matches('/').split_whitespace().next().unwrap_or_default()
}
