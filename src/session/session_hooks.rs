//! The hooks of a session: reads their files, asks about those of the project, runs what follows
//! the session's start and end, and lists them.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::json;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::hook_runner::{HookNews, HookReport, HookRunner, StartReply};
use super::state::Session;
use super::turn_messages::TurnMessage;
use avocet_core::i18n::{Localize, LocalizedText, hooks as phrases, mcp_pages};
use avocet_core::protocol::{Event, Notice, Page, PageRow};
use avocet_hooks::{ActiveHooks, HookCall, HookEvent, HookFile, HookFiles, HookFolders, HookReply};
use avocet_safety::PolicyContext;
use avocet_tools::Tool;

/// How long the end of a session waits for its hooks.
const END_WAIT: Duration = Duration::from_millis(1500);

/// What a session needs for hooks; provided by `app`.
pub trait HookAccess: Send {
    /// Reads the files, those of the project only in a trusted folder.
    fn read(&self, is_trusted: bool) -> HookFiles;

    fn folders(&self) -> HookFolders;

    /// What the user answered about a file of this project, by its hash; `None`: nothing yet.
    fn answer(&self, hash: &str) -> Option<bool>;

    /// Saves the answer.
    ///
    /// # Errors
    /// A sentence with the reason.
    fn save_answer(&mut self, hash: &str, is_allowed: bool) -> Result<(), LocalizedText>;

    /// Runs programs, also while Avocet ends.
    fn exec(&self) -> Arc<dyn Tool>;

    /// Whether a user is there to be asked, and whose next message comes later.
    fn has_user(&self) -> bool;
}

/// The hooks of a session.
pub struct SessionHooks {
    access: Option<Box<dyn HookAccess>>,
    read: HookFiles,
    active: Arc<ActiveHooks>,
    /// Questions that were put off: they come back with the next session.
    put_off: Vec<String>,
    /// No user can be asked, and that was said.
    is_told: bool,
    /// The last run of each.
    reports: Vec<HookReport>,
    /// How the session started, until its hooks were told.
    source: Option<&'static str>,
    start: Option<StartReply>,
}

/// Whether the hooks of a file run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HookFileState {
    Untrusted,
    Unanswered,
    Declined,
    Changed,
    Active,
}

impl SessionHooks {
    /// None is read yet.
    pub fn new(access: Option<Box<dyn HookAccess>>) -> SessionHooks {
        SessionHooks {
            access,
            read: HookFiles::default(),
            active: Arc::default(),
            put_off: Vec::new(),
            is_told: false,
            reports: Vec::new(),
            source: Some("startup"),
            start: None,
        }
    }

    pub(super) fn has_user(&self) -> bool {
        self.access.as_ref().is_some_and(|access| access.has_user())
    }

    fn state(&self, file: &HookFile, is_trusted: bool) -> HookFileState {
        let Some(access) = &self.access else { return HookFileState::Untrusted };
        let answer =
            if file.origin.is_from_repository { access.answer(&file.hash) } else { Some(true) };
        match answer {
            // A program of the folder may take the place of the one that is meant.
            _ if !is_trusted => HookFileState::Untrusted,
            None => HookFileState::Unanswered,
            Some(false) => HookFileState::Declined,
            Some(true) if !file.is_unchanged(&access.folders()) => HookFileState::Changed,
            Some(true) => HookFileState::Active,
        }
    }

    /// The next file of the project that the user is to be asked about.
    pub(super) fn unanswered(&self, is_trusted: bool) -> Option<&HookFile> {
        self.read.files.iter().find(|file| {
            self.state(file, is_trusted) == HookFileState::Unanswered
                && !self.put_off.contains(&file.hash)
        })
    }

    pub(super) fn file(&self, hash: &str) -> Option<&HookFile> {
        self.read.files.iter().find(|file| file.hash == hash)
    }

    fn update_active(&mut self, is_trusted: bool) {
        let is_active = |file: &&HookFile| self.state(file, is_trusted) == HookFileState::Active;
        let files: Vec<HookFile> = self.read.files.iter().filter(is_active).cloned().collect();
        let folders = self.access.as_ref().map(|access| access.folders()).unwrap_or_default();
        self.active = Arc::new(ActiveHooks { files, folders });
    }

    pub(super) fn handle_news(&mut self, news: HookNews) {
        match news {
            HookNews::StartHeard => self.start = None,
            HookNews::Ran(report) => {
                self.reports.retain(|known| known.hook != report.hook);
                self.reports.push(*report);
            }
        }
    }

    fn rows(&self, is_trusted: bool) -> Vec<PageRow> {
        let mut rows = Vec::new();
        for file in &self.read.files {
            rows.push(PageRow::heading(file.origin.file.display().to_string()));
            let state = match self.state(file, is_trusted) {
                HookFileState::Active => phrases::STATE_ON,
                HookFileState::Untrusted => phrases::STATE_UNTRUSTED,
                HookFileState::Unanswered => phrases::STATE_WAITS,
                HookFileState::Declined => phrases::STATE_DECLINED,
                HookFileState::Changed => phrases::STATE_CHANGED,
            };
            for hook in &file.hooks {
                let event = match hook.matcher.as_str() {
                    "" => hook.event.name().to_owned(),
                    matcher => {
                        format!("{} {}", hook.event.name(), avocet_core::text::visible(matcher))
                    }
                };
                rows.push(PageRow::pair(event, hook.label()));
                let state = match hook.event {
                    HookEvent::SubagentStop => phrases::STATE_NO_SUBAGENTS,
                    _ => state,
                };
                rows.push(PageRow::pair("", state));
                let ran = self.reports.iter().find(|report| report.hook == *hook);
                rows.extend(ran.map(|ran| PageRow::pair(phrases::LAST_RUN, ran.end.clone())));
            }
        }
        let is_empty = rows.is_empty();
        rows.extend(self.read.diagnostics.iter().map(|fault| PageRow::line(fault.localized())));
        if is_empty {
            rows.push(PageRow::line(phrases::NONE));
        }
        rows
    }
}

impl Session {
    /// Reads the files of hooks: a few small files, and without any only their absence.
    pub(super) async fn load_hooks(&mut self) {
        let Some(access) = &self.hooks.access else { return };
        let is_trusted = self.security.place.trusted;
        self.hooks.read = access.read(is_trusted);
        self.hooks.update_active(is_trusted);
        if !self.hooks.has_user()
            && !self.hooks.is_told
            && let Some(file) = self.hooks.unanswered(is_trusted)
        {
            let say = phrases::NOT_ASKED.with("files", file.origin.file.display().to_string());
            self.hooks.is_told = true;
            self.notify(Notice::warning(say).with_hint(mcp_pages::NOT_ASKED_HINT)).await;
        }
    }

    /// Runs the hooks of the session's start, unless a question about hooks is to come first.
    pub(super) fn run_start_hooks(&mut self, waits_for_answers: bool) {
        let waits = waits_for_answers
            && self.hooks.has_user()
            && self.hooks.unanswered(self.security.place.trusted).is_some();
        if waits || self.hooks.access.is_none() {
            return;
        }
        let Some(source) = self.hooks.source.take() else { return };
        let fields = json!({ "source": source, "model": self.info.model });
        let call = HookCall::new(HookEvent::SessionStart, source, fields);
        let Some(run) = self.run_session_hooks(&call) else { return };
        let mut outbox = self.outbox.clone();
        let shown = tokio::spawn(async move {
            let reply = run.await;
            for notice in reply.notices.iter().cloned() {
                outbox.send(Event::Notice(notice)).await;
            }
            reply
        });
        self.hooks.start = Some(async move { shown.await.unwrap_or_default() }.boxed().shared());
    }

    /// Runs the hooks of the session's end, for a short time.
    pub(super) async fn run_end_hooks(&mut self, reason: &str) {
        let call = HookCall::new(HookEvent::SessionEnd, reason, json!({ "reason": reason }));
        if let Some(run) = self.run_session_hooks(&call)
            && let Ok(reply) = timeout(END_WAIT, run).await
        {
            for notice in reply.notices {
                self.notify(notice).await;
            }
        }
    }

    /// Another conversation begins.
    pub(super) fn restart_hooks(&mut self, source: &'static str) {
        self.hooks.source = Some(source);
        self.hooks.start = None;
    }

    fn run_session_hooks(
        &self,
        call: &HookCall,
    ) -> Option<impl Future<Output = HookReply> + Send + use<>> {
        let runner = self.hook_runner();
        let context = PolicyContext {
            policy: &self.security.policy,
            place: &self.security.place,
            world: self.security.world.as_ref(),
        };
        let cancel = CancellationToken::new();
        runner.follows(call).then(|| runner.run(call, context, &cancel))
    }

    pub(super) fn hook_runner(&self) -> HookRunner {
        let messages = self.turn_messages.clone();
        HookRunner {
            active: Arc::clone(&self.hooks.active),
            exec: self.hooks.access.as_ref().map(|access| access.exec()),
            session: self.info.session.clone(),
            // A closed session needs no report.
            report: Arc::new(move |news| drop(messages.send(TurnMessage::Hook(news)))),
            start: self.hooks.start.clone(),
            put_off: 0,
        }
    }

    pub(super) fn active_hooks(&self) -> Arc<ActiveHooks> {
        Arc::clone(&self.hooks.active)
    }

    /// The user decided about the hooks of a file of the project; `None`: put off.
    pub(super) async fn decide_about_hooks(&mut self, hash: String, is_allowed: Option<bool>) {
        let Some(is_allowed) = is_allowed else {
            self.hooks.put_off.push(hash);
            return self.run_start_hooks(true);
        };
        let Some(access) = &mut self.hooks.access else { return };
        let saved = access.save_answer(&hash, is_allowed);
        self.hooks.update_active(self.security.place.trusted);
        if let Err(why) = saved {
            self.notify(Notice::warning(mcp_pages::NOT_SAVED.with("why", why))).await;
        }
        self.run_start_hooks(true);
    }

    /// `/hooks`.
    pub(super) async fn send_hooks_page(&mut self) {
        self.load_hooks().await;
        let rows = self.hooks.rows(self.security.place.trusted);
        let page = Page { title: phrases::TITLE.into(), rows };
        self.outbox.send(Event::Page(Box::new(page))).await;
    }
}
