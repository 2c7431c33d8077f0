//! Which method of a session carries out which op.

use super::persistence::ResumeTarget;
use super::saved_sessions::{is_writing, read_only_notice, unsaved_warning};
use super::state::Session;
use super::subagent_ops;
use super::trust::AfterTrust;
use super::user_input::UserInput;
use super::worktrees;
use super::{FoundModelServer, goal, side_question};
use avocet_core::i18n::session as phrases;
use avocet_core::protocol::{
    Event, ExtensionOp, ModelOp, Notice, Op, QuestionOp, RuleOp, SavedOp, SessionOp, SettingOp,
    Submission, TurnOp,
};

impl Session {
    /// Carries out an operation. If no turn, no place in the queue and no place in the running turn
    /// comes of it, its sender hears that.
    pub(super) async fn handle(&mut self, Submission { id, op }: Submission) -> AfterTrust {
        self.queue.submission = id;
        let after = self.handle_op(op).await;
        if let Some(submit) = self.queue.submission.take() {
            self.outbox.send(Event::Dropped { submit }).await;
        }
        after
    }

    async fn handle_op(&mut self, op: Op) -> AfterTrust {
        match op {
            op if self.info.read_only && is_writing(&op) => {
                self.notify(read_only_notice()).await;
            }
            Op::Turn(op) => self.handle_turn_op(op).await,
            Op::Question(QuestionOp::Decide { ask, decision }) => {
                return self.decide(ask, decision).await;
            }
            Op::Question(QuestionOp::PreviewRisk { ask, work }) => {
                self.preview_risk(ask, work).await
            }
            Op::Model(op) => self.handle_model_op(op).await,
            Op::Rules(RuleOp::Trust) => self.ask_trust_again().await,
            Op::Rules(op) => {
                let effects = self.security.handle(op, &mut self.info);
                self.follow(effects).await;
            }
            Op::Saved(op) => self.handle_saved_op(op).await,
            Op::Setting(op) => self.handle_setting_op(op).await,
            Op::Extension(op) => self.handle_extension_op(op).await,
            Op::Session(SessionOp::Report { report }) => self.send_report(report).await,
            Op::Session(SessionOp::Agent { agent, request }) => {
                subagent_ops::handle_request(self, &agent, request).await;
            }
            Op::Session(SessionOp::Job { job }) => self.handle_job(job).await,
            Op::Session(SessionOp::Worktrees { request }) => {
                worktrees::answer_request(self, request)
            }
            // The loop has ended before.
            Op::Session(SessionOp::Shutdown) => {}
        }
        AfterTrust::Continue
    }

    async fn handle_turn_op(&mut self, op: TurnOp) {
        match op {
            TurnOp::Submit { text } => self.submit(UserInput::Text(text)).await,
            TurnOp::SubmitPrompt { prompt } => self.submit(UserInput::Prompt(prompt)).await,
            TurnOp::Render { prompt } => self.render(*prompt).await,
            TurnOp::Shell { line, keep } => self.submit(UserInput::Shell { line, keep }).await,
            TurnOp::RunQueue => self.run_queue().await,
            TurnOp::SetQueue { texts } => {
                let running = self.running.as_mut();
                let unread = running.map(|running| std::mem::take(&mut running.unread_steering));
                let effects = self.queue.replace(texts, unread);
                self.follow(effects).await;
            }
            TurnOp::Unqueue { id } => {
                let effects = self.queue.remove(id);
                self.follow(effects).await;
            }
            TurnOp::Steer { text } => self.steer(text).await,
            TurnOp::ReadResults => subagent_ops::read_results(self).await,
            TurnOp::Retry => self.retry().await,
            TurnOp::Undo { turns } => self.undo(turns).await,
            TurnOp::Redo => self.redo().await,
            TurnOp::Stop => self.stop().await,
            TurnOp::Invoke { name, args, mentions } => self.invoke(&name, &args, mentions).await,
            TurnOp::RunScript { script, args } => self.run_script(script, args).await,
            TurnOp::Compress { focus } => self.compress(focus).await,
            TurnOp::Recall { id } => self.recall(&id).await,
            TurnOp::MergeWorktree { name } => worktrees::start_merge(self, name).await,
            TurnOp::Goal { goal } => goal::handle(self, goal).await,
            TurnOp::AskAside { question } => side_question::ask(self, question),
        }
    }

    async fn handle_model_op(&mut self, op: ModelOp) {
        let effects = match op {
            ModelOp::SetModel { name } => self.resources.model.set_model(name, self.info.lang),
            ModelOp::Connect { server, base_url, key_env, model } => {
                // Connecting saved it as a profile: what the user chose counts, and not that once
                // more.
                self.reload_settings().await;
                let models = vec![model];
                let server = FoundModelServer { name: server, base_url, key_env, models };
                self.resources.model.connect_server(server, self.info.lang)
            }
            ModelOp::SetEffort { effort } => self.resources.model.set_effort(effort),
            ModelOp::SetBot { name } => {
                self.refresh_and_wait().await;
                self.resources.model.set_bot(
                    name,
                    &self.resources.extensions.library,
                    &mut self.info,
                )
            }
        };
        self.follow(effects).await;
    }

    async fn handle_saved_op(&mut self, op: SavedOp) {
        let done = match op {
            SavedOp::New => return self.clear().await,
            SavedOp::Export { format, path } => return self.export(format, path).await,
            SavedOp::Resume { .. } | SavedOp::Fork { .. } | SavedOp::Rewind { .. }
                if !self.is_idle() =>
            {
                Ok(vec![Notice::warning(phrases::SAVED_BUSY).into()])
            }
            SavedOp::Resume { session } => {
                return match unsaved_warning(&self.info) {
                    Some(notice) => self.notify(notice).await,
                    None => self.resume(ResumeTarget::Id(session)).await,
                };
            }
            SavedOp::ListSessions => self.store.sessions(&self.info.cwd).await,
            SavedOp::SearchSessions { words } => self.store.search(words).await,
            SavedOp::Fork { name } => self.store.fork(name, &mut self.info).await,
            SavedOp::Rename { name } => self.store.rename(name, &mut self.info).await,
            SavedOp::Rewind { turn, what } => self.rewind(turn, what).await.map(|()| Vec::new()),
        };
        self.follow(done.unwrap_or_else(|why| vec![Notice::error(why).into()])).await;
    }

    async fn handle_setting_op(&mut self, op: SettingOp) {
        let effects = match op {
            SettingOp::SetMode { mode } => self.resources.model.set_mode(mode, &mut self.info),
            SettingOp::SetLang { lang } => self.resources.model.set_lang(lang, &mut self.info),
            SettingOp::Configure { key, value } => return self.configure(key, value).await,
            SettingOp::EditSettings { key, value } => return self.edit_settings(key, value).await,
        };
        self.follow(effects).await;
    }

    async fn handle_extension_op(&mut self, op: ExtensionOp) {
        match op {
            ExtensionOp::RefreshExtensions => {
                self.resources.extensions.is_requested = true;
                self.resources.extensions.refresh(&self.security.place, &self.resources.messages);
            }
            ExtensionOp::Mcp { action } => self.handle_mcp(action).await,
            ExtensionOp::ShowMemory => {
                let page = self.instructions.page(&self.info, &self.security.place.cwd);
                self.outbox.send(Event::Page(Box::new(page))).await;
            }
            ExtensionOp::AddNote { place, text } => {
                let folder = &self.security.place.cwd;
                let notice = self.instructions.add_note(place, &text, folder);
                self.follow(notice).await;
            }
            ExtensionOp::CompleteArgument(typed) => {
                self.resources.servers.complete_argument(typed, self.outbox.clone());
            }
        }
    }
}
