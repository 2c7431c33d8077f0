//! Commands of a chat: found in the registry, run as in every frontend, or acted on here.

use super::super::access::AccessRole;
use super::super::menu::{self, SentCommand};
use super::super::platform::DeliveryId;
use super::super::question::{AnswerOutcome, ChatQuestion};
use super::context::ChatContext;
use super::effect::ChatEffect;
use super::inbox::{CommandRequest, PendingMessage};
use super::speaker::{Speaker, display_name};
use super::waiting::{WaitingInput, WaitingWords};
use super::{ChatConversation, FetchState, SuggestQuery};
use avocet_core::i18n::{Localize as _, chat as w, commands as registry, common};
use avocet_core::protocol::{
    Mention, Op, Prompt, PromptPart, Report, SavedOp, SessionOp, SettingOp, Submission, TurnOp,
};
use avocet_present::commands::{self, ApprovalSpan, ChatAction, CommandOutcome, UiAction};

impl ChatConversation {
    /// What could follow in an option: answered at once, or once the user's commands are known.
    pub fn on_suggest(&mut self, query: SuggestQuery) -> Vec<ChatEffect> {
        let mut effects = Vec::new();
        if query.command == "model" && !std::mem::replace(&mut self.suggesting.has_models, true) {
            // The next letter finds them.
            let report = Op::Session(SessionOp::Report { report: Report::Models });
            effects.push(ChatEffect::Send(report.into()));
        }
        if self.suggesting.has_commands {
            effects.push(self.context.suggestion(query, self.is_busy()));
        } else {
            self.suggesting.waiting.push(query);
        }
        effects
    }

    /// A command of the menu, or typed.
    pub fn on_command(
        &mut self,
        speaker: &Speaker,
        delivery: DeliveryId,
        sent: SentCommand,
    ) -> Vec<ChatEffect> {
        self.view.hear(speaker);
        self.view.posts.open_commands.open(&delivery);
        let line = self.context.typed_line(&sent);
        let name = name_of(&line);
        let built_in = commands::find(name).map(|command| command.name);
        let has_start = self.context.extensions.find("start").is_some();
        if self.context.options.limits.customs.greeting == Some(name) && !has_start {
            self.view.posts.answer(delivery.clone(), w::GREETING);
            return vec![ChatEffect::Done(delivery)];
        }
        let is_ready = if self.view.question().is_some() {
            self.context.has_command(name)
        } else if !self.inbox.waiting.is_empty() {
            // What came before it is still to be done, but a turn that runs can be stopped.
            built_in == Some("stop") && self.has_turn()
        } else {
            is_built_in(name)
        };
        if is_ready {
            return self.run_sent(speaker, delivery, &sent);
        }
        // A file may have been added since the extensions were read.
        self.inbox.waiting.push(speaker, delivery, WaitingWords::Command(sent));
        self.inbox.read_files().into_iter().collect()
    }

    /// The extensions were read: what waited for that is run, in its order.
    pub(super) fn run_waiting(&mut self) -> Vec<ChatEffect> {
        let mut effects = Vec::new();
        let ready = self.inbox.waiting.take(|words| match words {
            WaitingWords::Text(..) => false,
            WaitingWords::Command(sent) => !is_built_in(name_of(&self.context.typed_line(sent))),
        });
        for WaitingInput { speaker, delivery, words } in ready {
            effects.extend(match words {
                WaitingWords::Command(sent) => self.run_sent(&speaker, delivery, &sent),
                WaitingWords::Text(text, mentions) => {
                    self.run_text(&speaker, delivery, &text, mentions)
                }
            });
        }
        effects.extend(self.inbox.read_files());
        effects
    }

    /// Runs a command; what follows the name of the bot and is none may be a message.
    fn run_sent(
        &mut self,
        speaker: &Speaker,
        delivery: DeliveryId,
        sent: &SentCommand,
    ) -> Vec<ChatEffect> {
        let line = self.context.typed_line(sent);
        let is_known = self.context.has_command(name_of(&line));
        let of_bot = sent.name.eq_ignore_ascii_case(menu::UMBRELLA);
        let customs = self.context.options.limits.customs;
        if customs.umbrella_takes_messages && of_bot && !is_known {
            return self.run_text(speaker, delivery, &sent.args, Vec::new());
        }
        let answered = Some(delivery.clone());
        let lacking = self.context.lacks_argument(speaker, &line);
        self.awaited_argument = lacking.map(|name| (speaker.id.clone(), name));
        let request = CommandRequest { speaker: speaker.clone(), delivery, line, is_due: false };
        self.answering(answered, |chat| {
            let effects = chat.run_permitted(request);
            if chat.awaited_argument.is_some() {
                chat.view.posts.say(w::ARGUMENT_NEXT);
            }
            effects
        })
    }

    /// The commands that waited for the end of the turn, up to one that begins a turn of its own:
    /// those after it wait for the end of that one, and so does it while messages come before it.
    pub(super) fn run_deferred(&mut self) -> Vec<ChatEffect> {
        let mut effects = Vec::new();
        let starters = self.inbox.starters.len();
        while self.inbox.starters.len() == starters
            && let Some(request) = self.inbox.deferred.pop_front()
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
                self.inbox.waiting.push(&request.speaker, request.delivery, words);
                effects.extend(self.inbox.read_files());
                continue;
            }
            let request = CommandRequest { is_due: true, ..request };
            let outcome = commands::dispatch(&self.context.for_command(false), &request.line);
            if begins_turn(&outcome) && !self.inbox.submitted.is_empty() {
                self.inbox.deferred.push_front(request);
                break;
            }
            let delivery = request.delivery.clone();
            effects.extend(self.answering(Some(delivery), |chat| chat.run_permitted(request)));
        }
        effects
    }

    /// Runs a line if its speaker may use the command.
    fn run_permitted(&mut self, request: CommandRequest) -> Vec<ChatEffect> {
        let forbidden = self.context.forbidden(&request.speaker, name_of(&request.line));
        if let Some(name) = forbidden {
            request.speaker.log_refusal(&format!("/{name}"));
            self.view.posts.say(w::COMMAND_OF_ADMINS.with("name", name));
            return vec![ChatEffect::Done(request.delivery)];
        }
        self.dispatch(&request)
    }

    fn dispatch(&mut self, request: &CommandRequest) -> Vec<ChatEffect> {
        let context = self.context.for_command(self.is_busy() && !request.is_due);
        let outcome = match self.view.question() {
            Some(_) => commands::dispatch_over_question(&context, &request.line),
            None => commands::dispatch(&context, &request.line),
        };
        let effects = self.apply_outcome(outcome, request);
        if self.inbox.holds(&request.delivery) {
            return effects;
        }
        // It is never run twice, so it ends before it is run.
        std::iter::once(ChatEffect::Done(request.delivery.clone())).chain(effects).collect()
    }

    /// Whether the speaker may set what an operation sets; if not, says so.
    fn may_send(&mut self, speaker: &Speaker, op: &Op) -> bool {
        let may = self.context.set_mode(speaker, op);
        if !may {
            self.view.posts.say(w::MODE_OF_ADMINS);
        }
        may
    }

    /// Sends an operation of a command. One that becomes a message waits like every message.
    fn send_op(&mut self, op: Op, request: &CommandRequest) -> Vec<ChatEffect> {
        if !self.may_send(&request.speaker, &op) {
            return Vec::new();
        }
        let Some(op) = self.saved.within_chat(op) else {
            self.view.posts.say(w::NOT_OF_CHAT);
            return Vec::new();
        };
        let op = request.speaker.signed_op(op);
        let id = self.inbox.next_id();
        let by = &request.speaker.id;
        let message = |text: String| {
            let delivery = request.delivery.clone();
            PendingMessage { id, delivery, text, by: by.clone() }
        };
        let is_taken = match &op {
            Op::Turn(TurnOp::Submit { text }) => self.accept(message(text.clone())),
            Op::Turn(TurnOp::Steer { text }) if !self.has_turn() => {
                self.accept(message(text.clone()))
            }
            Op::Turn(TurnOp::Steer { text }) => {
                self.inbox.steers.push_back(message(text.clone()));
                true
            }
            Op::Turn(TurnOp::Invoke { name, args, .. }) => {
                self.accept(message(format!("/{name} {args}").trim_end().to_owned()))
            }
            Op::Turn(TurnOp::Stop) if self.fetching == FetchState::Fetching && !self.has_turn() => {
                self.view.posts.say(common::STOPPED);
                return vec![ChatEffect::StopFetch];
            }
            op if op.begins_turn_without_message() => {
                self.inbox.starters.push((id, by.clone()));
                true
            }
            _ => return vec![ChatEffect::Send(Submission { id: Some(id), op })],
        };
        if is_taken { self.submit(id, op, request.speaker.is_admin) } else { Vec::new() }
    }

    fn apply_outcome(
        &mut self,
        outcome: CommandOutcome,
        request: &CommandRequest,
    ) -> Vec<ChatEffect> {
        match outcome {
            CommandOutcome::Send(op) => self.send_op(op, request),
            CommandOutcome::Say(notice) => {
                self.view.posts.notice(&notice);
                let customs = self.context.options.limits.customs;
                if customs.marks_commands && notice.say == registry::NOTHING_RUNS.into() {
                    self.view.posts.say(w::STOP_IN_THREAD);
                }
                Vec::new()
            }
            CommandOutcome::Page { title, rows } => {
                self.view.posts.page(&title, &rows);
                self.offer_values(&request.line);
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
                let page = self.context.help_page(topic);
                self.apply_outcome(page, request)
            }
            UiAction::Lang(lang) => {
                self.set_lang(lang);
                self.view.posts.say(w::LANG_SET);
                vec![ChatEffect::Send(Op::Setting(SettingOp::SetLang { lang }).into())]
            }
            UiAction::Models => {
                self.asked_models = true;
                vec![ChatEffect::Send(
                    Op::Session(SessionOp::Report { report: Report::Models }).into(),
                )]
            }
            UiAction::Sessions => {
                self.saved.asked = true;
                vec![ChatEffect::Send(Op::Saved(SavedOp::ListSessions).into())]
            }
            UiAction::Efforts => {
                let page = commands::efforts_page(&self.context.info);
                self.apply_outcome(page, request)
            }
            UiAction::Bots => {
                let ChatContext { extensions, info, .. } = &self.context;
                let surface = self.context.surface();
                let page = commands::bots_page(extensions, info.bot.as_deref(), surface);
                self.apply_outcome(page, request)
            }
            UiAction::Later(line) => {
                self.inbox.deferred.push_back(CommandRequest { line, ..request.clone() });
                Vec::new()
            }
            UiAction::Chat(action) => self.perform_in_chat(action, request),
            _ => {
                self.view.posts.say(w::NEEDS_TERMINAL);
                Vec::new()
            }
        }
    }

    fn perform_in_chat(&mut self, action: ChatAction, request: &CommandRequest) -> Vec<ChatEffect> {
        let speaker = &request.speaker;
        if matches!(action, ChatAction::Approve(_) | ChatAction::Reject(_)) {
            // What follows a decision answers the turn that asked for it.
            self.view.posts.open_commands.close(&request.delivery);
        }
        match action {
            ChatAction::Approve(span) => {
                let choice = match span {
                    ApprovalSpan::Once => "once",
                    ApprovalSpan::Session => "session",
                    ApprovalSpan::Project => "project",
                };
                let answer = |question: &ChatQuestion| question.approve(choice, speaker.is_admin);
                self.view.decide(speaker, answer).into_iter().collect()
            }
            ChatAction::Reject(reason) => {
                let answer =
                    |question: &ChatQuestion| AnswerOutcome::Decided(question.reject(reason));
                self.view.decide(speaker, answer).into_iter().collect()
            }
            ChatAction::WhoAmI => {
                let role = if speaker.is_admin { AccessRole::Admin } else { AccessRole::User };
                let say = w::WHO_YOU_ARE.with("id", display_name(&speaker.id.0));
                self.view.posts.say(say.with("role", role.localized()));
                Vec::new()
            }
            ChatAction::SetHome(None) => {
                self.view.posts.say(w::HOME_IS.with("folder", self.context.info.cwd.as_str()));
                Vec::new()
            }
            ChatAction::SendFile { path, masked } => self.send_file(path, masked, request),
            ChatAction::SetHome(Some(folder)) => {
                vec![ChatEffect::SetHome(folder, request.delivery.clone())]
            }
        }
    }

    fn send_file(
        &mut self,
        path: String,
        masked: bool,
        request: &CommandRequest,
    ) -> Vec<ChatEffect> {
        let mention = Mention { path: path.clone(), lines: None };
        let parts = vec![PromptPart::File { mention, masked }];
        let shown = format!("/file {path}");
        let prompt = Box::new(Prompt { shown, parts, ..Prompt::default() });
        self.send_op(Op::Turn(TurnOp::Render { prompt }), request)
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
        CommandOutcome::Do(UiAction::Chat(ChatAction::SendFile { .. })) => true,
        _ => false,
    }
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
