//! Commands of a chat: found in the registry, run as in every frontend, or acted on here.

use super::super::access::{AccessRole, may_use};
use super::super::menu::{self, SentCommand};
use super::super::platform::DeliveryId;
use super::super::question::{ChatAnswer, ChatQuestion};
use super::{
    ChatConversation, ChatEffect, ChatState, CommandRequest, FetchState, Speaker, Submitted,
    WaitingInput, WaitingWords, display_name, log_refusal,
};
use avocet_core::i18n::{Localize as _, chat as w, common};
use avocet_core::protocol::{
    ChatPlatform, ExtensionOp, Mention, Op, Prompt, PromptPart, Report, SessionOp, SettingOp,
    Submission, TurnOp,
};
use avocet_present::commands::{
    self, ApprovalSpan, CalledRows, ChatAction, CommandContext, CommandOutcome, Surface, UiAction,
};
use avocet_safety::sanitize::{TextSource, clean};

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
                    if answer == ChatAnswer::NotAnAnswer {
                        self.say(w::NO_SUCH_ANSWER);
                    }
                    return self.apply_answer(answer, speaker);
                }
                log_refusal(speaker, "the question of another user");
                w::NOT_YOURS
            }
            _ => w::NO_QUESTION,
        };
        self.say(refusal);
        Vec::new()
    }

    /// A command of the menu, or typed.
    pub fn on_command(
        &mut self,
        speaker: &Speaker,
        delivery: DeliveryId,
        sent: SentCommand,
    ) -> Vec<ChatEffect> {
        self.hear(speaker);
        self.open_commands.open(&delivery);
        let (speaker, line) = (speaker.clone(), self.typed_line(&sent));
        let name = name_of(&line);
        let built_in = commands::find(name).map(|command| command.name);
        if is_greeting(self.options.platform, &line) && self.extensions.find("start").is_none() {
            self.answering(Some(delivery.clone()), |chat| chat.say(w::GREETING));
            return vec![ChatEffect::Done(delivery)];
        }
        let is_asking = matches!(self.state, ChatState::Asking(_));
        let is_known = commands::canonical_name(&self.extensions, name).is_some();
        let is_ready = if is_asking {
            is_known
        } else if !self.waiting.is_empty() {
            // What came before it is still to be done, but a turn that runs can be stopped.
            built_in == Some("stop") && self.has_turn()
        } else {
            is_built_in(name)
        };
        if is_ready {
            return self.run_sent(&speaker, delivery, &sent);
        }
        // A file may have been added since the extensions were read.
        self.waiting.push(&speaker, delivery, WaitingWords::Command(sent));
        self.read_files()
    }

    /// Has the files of the user's commands read for what waits.
    fn read_files(&mut self) -> Vec<ChatEffect> {
        let asks = self.waiting.ask();
        asks.then_some(ChatEffect::Send(Op::Extension(ExtensionOp::RefreshExtensions).into()))
            .into_iter()
            .collect()
    }

    /// The extensions were read: what waited for that is run, in its order.
    pub(super) fn run_waiting(&mut self) -> Vec<ChatEffect> {
        let mut effects = Vec::new();
        let mut waiting = std::mem::take(&mut self.waiting);
        let ready = waiting.take(|words| match words {
            WaitingWords::Text(..) => false,
            WaitingWords::Command(sent) => !is_built_in(name_of(&self.typed_line(sent))),
        });
        self.waiting = waiting;
        for WaitingInput { speaker, delivery, words } in ready {
            effects.extend(match words {
                WaitingWords::Command(sent) => self.run_sent(&speaker, delivery, &sent),
                WaitingWords::Text(text, mentions) => {
                    self.run_text(&speaker, delivery, &text, mentions)
                }
            });
        }
        effects.extend(self.read_files());
        effects
    }

    /// Runs a command; what follows the name of the bot on Slack and is none is a message.
    fn run_sent(
        &mut self,
        speaker: &Speaker,
        delivery: DeliveryId,
        sent: &SentCommand,
    ) -> Vec<ChatEffect> {
        let line = self.typed_line(sent);
        let is_known = commands::canonical_name(&self.extensions, name_of(&line)).is_some();
        let of_bot = sent.name.eq_ignore_ascii_case(menu::UMBRELLA);
        if self.options.platform == ChatPlatform::Slack && of_bot && !is_known {
            return self.run_text(speaker, delivery, &sent.args, Vec::new());
        }
        let speaker = speaker.clone();
        self.run_line(CommandRequest { speaker, delivery, line, is_due: false })
    }

    /// The commands that waited for the end of the turn, up to one that begins a turn of its own:
    /// those after it wait for the end of that one, and so does it while messages come before it.
    pub(super) fn run_deferred(&mut self) -> Vec<ChatEffect> {
        let (mut effects, starters) = (Vec::new(), self.starters.len());
        while self.starters.len() == starters
            && let Some(request) = self.deferred.pop_front()
        {
            let (name, args) = split_line(&request.line);
            if commands::find(name).is_none() {
                // Its file may have changed or gone since.
                let sent = SentCommand {
                    name: name.to_owned(),
                    args: args.to_owned(),
                    options: Vec::new(),
                };
                let words = WaitingWords::Command(sent);
                self.waiting.push(&request.speaker, request.delivery, words);
                effects.extend(self.read_files());
                continue;
            }
            let request = CommandRequest { is_due: true, ..request };
            let outcome = commands::dispatch(&self.context(false), &request.line);
            if begins_turn(&outcome) && !self.submitted.is_empty() {
                self.deferred.push_front(request);
                break;
            }
            let delivery = request.delivery.clone();
            effects.extend(self.answering(Some(delivery), |chat| chat.run_permitted(request)));
        }
        effects
    }

    /// The line of the registry for a command as the service sent it.
    pub(super) fn typed_line(&self, sent: &SentCommand) -> String {
        self.with_names(|names| names.typed_line(sent))
    }

    /// Looks at what the names of this chat mean.
    pub(super) fn with_names<T>(&self, look: impl FnOnce(&menu::MenuNames<'_>) -> T) -> T {
        let rows = commands::rows(&self.extensions, self.options.lang);
        let (open, first) = (&self.options.open, &self.options.menu_first);
        let options = menu::MenuOptions { open, first };
        let (platform, shown) = (self.options.platform, &self.menu_rows);
        look(&menu::MenuNames { platform, rows: &rows, shown, options })
    }

    /// Runs a line if its speaker may use the command.
    fn run_line(&mut self, request: CommandRequest) -> Vec<ChatEffect> {
        self.answering(Some(request.delivery.clone()), |chat| chat.run_permitted(request))
    }

    fn run_permitted(&mut self, request: CommandRequest) -> Vec<ChatEffect> {
        let CommandRequest { speaker, line, .. } = &request;
        let rows = commands::rows(&self.extensions, self.options.lang);
        // Whatever the name is that leads to it.
        let row = commands::canonical_name(&self.extensions, name_of(line));
        let row = row.and_then(|name| rows.iter().find(|row| row.name == name));
        let role = if speaker.is_admin { AccessRole::Admin } else { AccessRole::User };
        // The list means what is called exactly so.
        let called = CalledRows::new(&rows);
        let listed = self.options.user_commands.iter();
        let listed = listed.map(|name| called.find(name).map_or(name, |row| &row.name));
        let listed: Vec<&str> = listed.map(String::as_str).collect();
        if let Some(row) = row.filter(|row| !may_use(role, &row.name, row.category, &listed)) {
            log_refusal(speaker, &format!("/{}", row.name));
            self.say(w::COMMAND_OF_ADMINS.with("name", row.name.as_str()));
            return vec![ChatEffect::Done(request.delivery)];
        }
        self.dispatch(&request)
    }

    pub(super) fn context(&self, busy: bool) -> CommandContext<'_> {
        CommandContext {
            facts: &self.info,
            models: &self.models,
            themes: &[],
            extensions: &self.extensions,
            folders: &[],
            surface: Surface::Gateway { open: &self.options.open },
            busy,
        }
    }

    fn dispatch(&mut self, request: &CommandRequest) -> Vec<ChatEffect> {
        let call = self.context(self.is_busy() && !request.is_due);
        let outcome = match self.state {
            ChatState::Asking(_) => commands::dispatch_over_question(&call, &request.line),
            ChatState::Idle | ChatState::Working => commands::dispatch(&call, &request.line),
        };
        let effects = self.apply_outcome(outcome, request);
        let waits = self.submitted.iter().chain(&self.steers).map(|one| &one.delivery);
        let mut waits = waits.chain(self.deferred.iter().map(|one| &one.delivery));
        if waits.any(|kept| *kept == request.delivery) {
            return effects;
        }
        // It is never run twice, so it ends before it is run.
        std::iter::once(ChatEffect::Done(request.delivery.clone())).chain(effects).collect()
    }

    /// Sends an operation of a command. One that becomes a message waits like every message.
    fn send_op(&mut self, op: Op, request: &CommandRequest) -> Vec<ChatEffect> {
        let (by, delivery) = (&request.speaker.id, &request.delivery);
        if !self.may_send(&request.speaker, &op) {
            return Vec::new();
        }
        let id = self.submit_ids.next_id();
        let message = match &op {
            Op::Turn(TurnOp::Submit { text }) => Some(text.clone()),
            Op::Turn(TurnOp::Steer { text }) if !self.has_turn() => Some(text.clone()),
            Op::Turn(TurnOp::Steer { text }) => {
                let (delivery, text, by) = (delivery.clone(), text.clone(), by.clone());
                self.steers.push_back(Submitted { id, delivery, text, by });
                None
            }
            Op::Turn(TurnOp::Invoke { name, args, .. }) => {
                Some(format!("/{name} {args}").trim_end().to_owned())
            }
            Op::Turn(TurnOp::Stop) if self.fetching == FetchState::Fetching && !self.has_turn() => {
                self.say(common::STOPPED);
                return vec![ChatEffect::StopFetch];
            }
            op => {
                if op.begins_turn_without_message() {
                    self.starters.push((id, by.clone()));
                }
                None
            }
        };
        let begins = message.is_some()
            || op.begins_turn_without_message()
            || matches!(op, Op::Turn(TurnOp::Steer { .. }));
        if message.is_none_or(|text| self.accept(id, by, delivery, text)) {
            let asks = begins.then(|| self.ask_again_for(request.speaker.is_admin)).flatten();
            asks.into_iter().chain([ChatEffect::Send(Submission { id: Some(id), op })]).collect()
        } else {
            Vec::new()
        }
    }

    fn apply_outcome(
        &mut self,
        outcome: CommandOutcome,
        request: &CommandRequest,
    ) -> Vec<ChatEffect> {
        match outcome {
            CommandOutcome::Send(op) => self.send_op(op, request),
            CommandOutcome::Say(notice) => {
                self.post_notice(&notice);
                Vec::new()
            }
            CommandOutcome::Page { title, rows } => {
                self.post_page(&title, &rows);
                Vec::new()
            }
            CommandOutcome::Many(all) => {
                let is_refused = all.iter().any(|one| match one {
                    CommandOutcome::Send(op) => !self.may_send(&request.speaker, op),
                    _ => false,
                });
                if is_refused {
                    return Vec::new();
                }
                all.into_iter().flat_map(|one| self.apply_outcome(one, request)).collect()
            }
            CommandOutcome::Do(action) => self.perform(action, request),
        }
    }

    fn perform(&mut self, action: UiAction, request: &CommandRequest) -> Vec<ChatEffect> {
        match action {
            UiAction::Help(topic) => {
                let named = |topic: String| {
                    self.with_names(|names| names.row_name(&topic)).unwrap_or(topic)
                };
                let topic = topic.map(named);
                let surface = Surface::Gateway { open: &self.options.open };
                let page = commands::help_page(topic.as_deref(), surface, &self.extensions);
                self.apply_outcome(page, request)
            }
            UiAction::Lang(lang) => {
                self.set_lang(lang);
                self.say(w::LANG_SET);
                vec![ChatEffect::Send(Op::Setting(SettingOp::SetLang { lang }).into())]
            }
            UiAction::Models => {
                self.asked_models = true;
                vec![ChatEffect::Send(
                    Op::Session(SessionOp::Report { report: Report::Models }).into(),
                )]
            }
            UiAction::Efforts => {
                let page = commands::efforts_page(&self.info);
                self.apply_outcome(page, request)
            }
            UiAction::Bots => {
                let page = commands::bots_page(
                    &self.extensions,
                    self.info.bot.as_deref(),
                    Surface::Gateway { open: &self.options.open },
                );
                self.apply_outcome(page, request)
            }
            UiAction::Later(line) => {
                self.deferred.push_back(CommandRequest { line, ..request.clone() });
                Vec::new()
            }
            UiAction::Chat(action) => self.perform_in_chat(action, request),
            _ => {
                self.say(w::NEEDS_TERMINAL);
                Vec::new()
            }
        }
    }

    fn perform_in_chat(&mut self, action: ChatAction, request: &CommandRequest) -> Vec<ChatEffect> {
        let speaker = &request.speaker;
        if matches!(action, ChatAction::Approve(_) | ChatAction::Reject(_)) {
            // What follows a decision answers the turn that asked for it.
            self.open_commands.close(&request.delivery);
        }
        match action {
            ChatAction::Approve(span) => self.approve(
                speaker,
                match span {
                    ApprovalSpan::Once => "once",
                    ApprovalSpan::Session => "session",
                    ApprovalSpan::Project => "project",
                },
            ),
            ChatAction::Reject(reason) => self.reject(speaker, reason),
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
                let name = clean(name, TextSource::Text);
                let parts = vec![PromptPart::Insert(Mention { path: path.clone(), lines: None })];
                let shown = format!("/file {path}");
                let prompt = Box::new(Prompt { shown, parts, ..Prompt::default() });
                let effects = self.send_op(Op::Turn(TurnOp::Render { prompt }), request);
                let sent = effects.iter().find_map(|effect| match effect {
                    ChatEffect::Send(Submission { id, op: Op::Turn(TurnOp::Render { .. }) }) => *id,
                    _ => None,
                });
                self.file_requests.extend(sent.map(|id| (id, name)));
                effects
            }
            ChatAction::SetHome(Some(folder)) => {
                vec![ChatEffect::SetHome(folder, request.delivery.clone())]
            }
        }
    }
}

/// Built-in commands that show what the files of the user are.
const LISTS_FILES: [&str; 4] = ["help", "commands", "skills", "bot"];

/// Whether a name leads to a command that needs no files of the user's.
fn is_built_in(name: &str) -> bool {
    commands::find(name).is_some_and(|command| !LISTS_FILES.contains(&command.name))
}

fn begins_turn(outcome: &CommandOutcome) -> bool {
    match outcome {
        CommandOutcome::Send(op) => op.begins_turn_without_message(),
        CommandOutcome::Many(all) => all.iter().any(begins_turn),
        CommandOutcome::Do(UiAction::Chat(ChatAction::SendFile(_))) => true,
        _ => false,
    }
}

/// Telegram sends it when a user opens the chat for the first time.
fn is_greeting(platform: ChatPlatform, line: &str) -> bool {
    platform == ChatPlatform::Telegram && name_of(line) == "start"
}

/// The name of the command of a line.
fn name_of(line: &str) -> &str {
    split_line(line).0
}

/// The name and the arguments of a line.
fn split_line(line: &str) -> (&str, &str) {
    let line = line.trim_start_matches('/').trim_start();
    line.split_once(char::is_whitespace).unwrap_or((line, ""))
}
