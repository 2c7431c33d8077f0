//! Which method of a session carries out which op.

use super::run::Adding;
use super::state::Session;
use super::subagent_ops;
use super::trust::AfterTrust;
use super::user_input::UserInput;
use super::worktrees;
use super::{FoundModelServer, goal, side_question};
use avocet_core::protocol::{
    Event, ExtensionOp, ModelOp, Op, QuestionOp, Report, RuleOp, SavedOp, SessionOp, SettingOp,
    Submission, TurnOp,
};

impl Session {
    /// Carries out an operation. If no turn, no place in the queue and no place in the running turn
    /// comes of it, its sender hears that.
    pub(super) async fn handle(&mut self, Submission { id, op }: Submission) -> AfterTrust {
        self.pending_submit = id;
        let after = self.handle_op(op).await;
        if let Some(submit) = self.pending_submit.take() {
            self.outbox.send(Event::Dropped { submit }).await;
        }
        after
    }

    async fn handle_op(&mut self, op: Op) -> AfterTrust {
        match op {
            op if self.is_read_only_for(&op) => self.warn_read_only().await,
            Op::Turn(op) => self.handle_turn_op(op).await,
            Op::Question(QuestionOp::Decide { ask, decision }) => {
                return self.decide(ask, decision).await;
            }
            Op::Question(QuestionOp::PreviewRisk { ask, work }) => {
                self.preview_risk(ask, work).await
            }
            Op::Model(op) => self.handle_model_op(op).await,
            Op::Rules(op) => self.handle_rule_op(op).await,
            Op::Saved(op) => self.handle_saved_op(op).await,
            Op::Setting(op) => self.handle_setting_op(op).await,
            Op::Extension(op) => self.handle_extension_op(op).await,
            Op::Session(SessionOp::Report { report: Report::Hooks }) => {
                self.send_hooks_page().await
            }
            Op::Session(SessionOp::Report { report }) => {
                if report == Report::Agents {
                    self.refresh_and_wait().await;
                }
                self.send_report(report)
            }
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
            TurnOp::SetQueue { texts } => self.set_queue(texts).await,
            TurnOp::Unqueue { id } => self.unqueue(id).await,
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
        match op {
            ModelOp::SetModel { name } => self.set_model(name).await,
            ModelOp::Connect { server, base_url, key_env, model } => {
                let models = vec![model];
                self.connect_server(FoundModelServer { name: server, base_url, key_env, models })
                    .await;
            }
            ModelOp::SetEffort { effort } => self.set_effort(effort).await,
            ModelOp::SetBot { name } => self.set_bot(name).await,
        }
    }

    async fn handle_rule_op(&mut self, op: RuleOp) {
        match op {
            RuleOp::SetApprovalMode { mode } => self.set_approval_mode(mode).await,
            RuleOp::Allow { rule } => self.add_rule(&rule, Adding::Allow).await,
            RuleOp::Deny { rule } => self.add_rule(&rule, Adding::Deny).await,
            RuleOp::Revoke { rule } => self.revoke_rule(&rule).await,
            RuleOp::Trust => self.ask_trust_again().await,
            RuleOp::AddFolder { path } => self.add_folder(&path).await,
        }
    }

    async fn handle_saved_op(&mut self, op: SavedOp) {
        let done = match op {
            SavedOp::New => return self.clear().await,
            SavedOp::Export { format, path } => return self.export(format, path).await,
            SavedOp::Resume { session } => return self.switch_session(session).await,
            SavedOp::ListSessions => return self.list_sessions().await,
            SavedOp::SearchSessions { words } => self.search_sessions(words).await,
            SavedOp::Fork { .. } | SavedOp::Rewind { .. } if self.is_busy_for_switch().await => {
                return;
            }
            SavedOp::Fork { name } => self.fork(name).await,
            SavedOp::Rename { name } => self.rename(name).await,
            SavedOp::Rewind { turn, what } => self.rewind(turn, what).await,
        };
        self.notify_failure(done).await;
    }

    async fn handle_setting_op(&mut self, op: SettingOp) {
        match op {
            SettingOp::SetMode { mode } => self.set_mode(mode).await,
            SettingOp::SetLang { lang } => self.set_lang(lang).await,
            SettingOp::Configure { key, value } => self.configure(key, value).await,
            SettingOp::EditSettings { key, value } => self.edit_settings(key, value).await,
        }
    }

    async fn handle_extension_op(&mut self, op: ExtensionOp) {
        match op {
            ExtensionOp::RefreshExtensions => self.send_extensions(),
            ExtensionOp::Mcp { action } => self.handle_mcp(action).await,
            ExtensionOp::ShowMemory => self.show_memory().await,
            ExtensionOp::AddNote { place, text } => self.add_note(place, &text).await,
            ExtensionOp::CompleteArgument(typed) => {
                self.servers.complete_argument(typed, self.outbox.clone());
            }
        }
    }
}
