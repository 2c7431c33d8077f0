//! Which method of a session carries out which op.

use std::sync::Arc;

use super::job::output_path;
use super::persistence::ResumeTarget;
use super::prompt_expansion::AfterExpansion;
use super::saved_sessions::{is_writing, read_only_notice, unsaved_warning};
use super::session_effects::{Effects, SessionEffect};
use super::state::Session;
use super::subagent_ops;
use super::trust::AfterTrust;
use super::turn_resources::TurnResources;
use super::user_input::UserInput;
use super::{FoundModelServer, compaction, goal, jobs, pages, side_question, undo, worktrees};
use avocet_core::i18n::session as phrases;
use avocet_core::protocol::{
    Decision, Event, ExtensionOp, JobRequest, ModelOp, Notice, Op, QuestionOp, RuleOp, SavedOp,
    SessionOp, SettingOp, Submission, TurnOp, TurnOrigin,
};
use avocet_safety::PolicyContext;

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
                let world = self.resources.machine(&self.security, &self.jobs);
                let context = PolicyContext { world: world.as_ref(), ..self.security.context() };
                let running = self.running.as_ref();
                let judged = running.and_then(|it| it.preview_risk(ask, work, context));
                self.follow(judged).await;
            }
            Op::Model(op) => self.handle_model_op(op).await,
            Op::Rules(RuleOp::Trust) if self.is_busy() => {}
            Op::Rules(RuleOp::Trust) => {
                if let Some(new) = self.settings.trust_prompt() {
                    self.security.trust.renew(new);
                }
                let is_trusted = self.security.place.trusted;
                let because = if is_trusted { phrases::TRUST_IS } else { phrases::TRUST_IS_NOT };
                self.follow([SessionEffect::AskTrust(because.into())]).await;
            }
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
            TurnOp::Render { .. } if self.is_busy() => {
                self.notify(Notice::warning(phrases::RENDER_BUSY)).await;
            }
            TurnOp::Render { prompt } => {
                self.start_expansion(*prompt, TurnOrigin::Typed, AfterExpansion::Render);
            }
            TurnOp::Shell { line, keep } => self.submit(UserInput::Shell { line, keep }).await,
            TurnOp::RunQueue => match self.queue.refusal(self.running.is_none()) {
                Some(notice) => self.notify(notice).await,
                None if self.is_busy() => {}
                None => self.start_next_queued().await,
            },
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
            // A question that belongs to no turn is put off.
            TurnOp::Stop => {
                self.jobs.subagents.stop();
                if let Some(running) = &self.running {
                    running.cancel.cancel();
                } else if let Some(ask) = self.questions.open() {
                    self.decide(ask, Decision::Dismiss).await;
                }
            }
            TurnOp::Invoke { name, args, mentions } => {
                let effects = self.resources.refresh(&self.security.place).await;
                self.follow(effects).await;
                let TurnResources { extensions, servers, .. } = &self.resources;
                match extensions.prompt(&name, &args, servers) {
                    Ok(mut prompt) => {
                        prompt.attach(mentions);
                        self.submit(UserInput::Prompt(Box::new(prompt))).await;
                    }
                    Err(why) => self.notify(Notice::error(why)).await,
                }
            }
            TurnOp::RunScript { script, args } => self.run_script(script, args).await,
            TurnOp::MergeWorktree { name } => worktrees::start_merge(self, name).await,
            TurnOp::Goal { goal } => goal::handle(self, goal).await,
            TurnOp::AskAside { question } => side_question::ask(self, question),
            TurnOp::Retry
            | TurnOp::Undo { .. }
            | TurnOp::Redo
            | TurnOp::Compress { .. }
            | TurnOp::Recall { .. } => self.handle_history_op(op).await,
        }
    }

    /// What changes the conversation so far, or the files that were changed in it.
    async fn handle_history_op(&mut self, op: TurnOp) {
        let is_busy = self.is_busy();
        let Session { conversation, resources, info, security, .. } = self;
        let backups = resources.tools.backups();
        let redactor = &security.redactor;
        let effects = match op {
            TurnOp::Undo { turns } => undo::undo(conversation.record(), backups, turns, is_busy),
            TurnOp::Redo => undo::redo(conversation.record(), backups, is_busy),
            TurnOp::Compress { focus } => {
                let model = &resources.model;
                let focus = focus.as_deref();
                vec![compaction::start(focus, &conversation.history, model, info, redactor)]
            }
            TurnOp::Recall { id } => {
                // The entries of a running turn come after it.
                let last = info.turns - u64::from(self.running.is_some());
                let room = resources.model.request_bounds().room.bytes;
                let notice = conversation.recall(&id, last, room, &self.store, redactor).await;
                vec![notice.into()]
            }
            TurnOp::Retry => match conversation.last_input.take() {
                _ if is_busy => Effects::new(),
                None => vec![Notice::info(phrases::NOTHING_TO_RETRY).into()],
                Some((words, mark)) => {
                    Arc::make_mut(&mut conversation.history).truncate_to(mark);
                    self.store.record_retry(info.turns).await;
                    return self.begin(words, TurnOrigin::Typed).await;
                }
            },
            _ => return,
        };
        self.follow(effects).await;
    }

    async fn handle_model_op(&mut self, op: ModelOp) {
        let effects = match op {
            ModelOp::SetModel { name } => self.resources.model.set_model(name, self.info.lang),
            ModelOp::Connect { server, base_url, key_env, model } => {
                // Connecting saved it as a profile: what the user chose counts, and not that once
                // more.
                let changes = self.settings.reload();
                self.apply_settings(changes).await;
                let models = vec![model];
                let server = FoundModelServer { name: server, base_url, key_env, models };
                self.resources.model.connect_server(server, self.info.lang)
            }
            ModelOp::SetEffort { effort } => self.resources.model.set_effort(effort),
            ModelOp::SetBot { name } => {
                let effects = self.resources.refresh(&self.security.place).await;
                self.follow(effects).await;
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
            SavedOp::Export { format, path } => return pages::export(self, format, path).await,
            SavedOp::Resume { .. } | SavedOp::Fork { .. } | SavedOp::Rewind { .. }
                if self.running.is_some() =>
            {
                Ok(vec![Notice::warning(phrases::SAVED_BUSY).into()])
            }
            SavedOp::Resume { session } => Ok(match unsaved_warning(&self.info) {
                Some(notice) => vec![notice.into()],
                None => self.store.resume(ResumeTarget::Id(session)).await,
            }),
            SavedOp::ListSessions => self.store.sessions(&self.info.cwd).await,
            SavedOp::SearchSessions { words } => self.store.search(words).await,
            SavedOp::Fork { name } => self.store.fork(name, &mut self.info).await,
            SavedOp::Rename { name } => self.store.rename(name, &mut self.info).await,
            SavedOp::Rewind { turn, what } => self.rewind(turn, what).await,
        };
        self.follow(done.unwrap_or_else(|why| vec![Notice::error(why).into()])).await;
    }

    async fn handle_setting_op(&mut self, op: SettingOp) {
        let Session { resources, settings, info, .. } = self;
        let (changes, event) = match op {
            SettingOp::SetMode { mode } => {
                let effects = resources.model.set_mode(mode, info);
                return self.follow(effects).await;
            }
            SettingOp::SetLang { lang } => {
                let effects = resources.model.set_lang(lang, info);
                return self.follow(effects).await;
            }
            SettingOp::Configure { key, value } => {
                settings.configure(key, value.as_deref(), info.lang)
            }
            SettingOp::EditSettings { key, value } => settings.edit(key, value.as_deref()),
        };
        self.apply_settings(changes).await;
        self.outbox.send(event).await;
    }

    async fn handle_extension_op(&mut self, op: ExtensionOp) {
        match op {
            ExtensionOp::RefreshExtensions => {
                self.resources.extensions.is_requested = true;
                self.resources.extensions.refresh(&self.security.place, &self.resources.messages);
            }
            ExtensionOp::Mcp { action } => {
                let place = &self.security.place;
                let effects = self.resources.servers.handle(action, place).await;
                self.follow(effects).await;
            }
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

    async fn handle_job(&mut self, job: JobRequest) {
        let redactor = &self.security.redactor;
        let effects = match job {
            JobRequest::Background => {
                if let Some(running) = &self.running {
                    let _ = running.background.send(());
                }
                return;
            }
            JobRequest::Output { step, page } => {
                let folder = self.resources.outputs.as_deref();
                let id = jobs::step_id(step);
                let file = folder.map(|it| output_path(it, &self.info.session, &id));
                let record = self.conversation.record();
                vec![
                    jobs::step_output(step, page, file, &self.store, record, redactor).await.into(),
                ]
            }
            other => self.jobs.handle(other, redactor).await,
        };
        self.follow(effects).await;
    }
}
