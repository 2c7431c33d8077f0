//! Reads the files of hooks, asks about those of the project, and runs what follows the session's
//! start and end.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::json;
use tokio::time::timeout;

use super::Security;
use super::conversation::Conversation;
use super::event_sink::Outbox;
use super::hook_runner::HookNews;
use super::session_hooks::SessionHooks;
use super::state::Session;
use avocet_config::atomic_file;
use avocet_core::i18n::{hooks as phrases, mcp_pages};
use avocet_core::protocol::{Event, Notice, SessionInfo};
use avocet_hooks::{HookCall, HookEvent, HookSession, transcript};

/// How long the end of a session waits for its hooks.
const END_WAIT: Duration = Duration::from_millis(1500);

impl SessionHooks {
    /// Reads the files of hooks: a few small files, and without any only their absence. Says once
    /// if no user can be asked about one.
    pub(super) fn load(
        &mut self,
        security: &mut Security,
        info: &mut SessionInfo,
    ) -> Option<Notice> {
        let is_trusted = security.place.trusted;
        self.read_files(is_trusted);
        if self.tighten(&mut security.policy) {
            security.publish(info);
        }
        if self.has_user() || self.is_told {
            return None;
        }
        let file = self.unanswered(is_trusted)?;
        let say = phrases::NOT_ASKED.with("files", file.origin.file.display().to_string());
        self.is_told = true;
        Some(Notice::warning(say).with_hint(mcp_pages::NOT_ASKED_HINT))
    }

    /// Runs the hooks of the session's start, unless a question about hooks is to come first.
    pub(super) fn run_start(
        &mut self,
        waits_for_answers: bool,
        info: &SessionInfo,
        security: &Security,
        outbox: &Outbox,
    ) {
        let waits = waits_for_answers
            && self.has_user()
            && self.unanswered(security.place.trusted).is_some();
        if waits || self.access.is_none() {
            return;
        }
        let Some(source) = self.source.take() else { return };
        let fields = json!({ "source": source, "model": info.model });
        let call = HookCall::new(HookEvent::SessionStart, source, fields);
        let Some(run) = self.run(&call, info.session.clone(), security.context()) else { return };
        let mut outbox = outbox.clone();
        let shown = tokio::spawn(async move {
            let reply = run.await;
            for notice in reply.notices.iter().cloned() {
                outbox.send(Event::Notice(notice)).await;
            }
            reply
        });
        self.start = Some(async move { shown.await.unwrap_or_default() }.boxed().shared());
    }

    /// Runs the hooks of the session's end, for a short time, and returns what they say.
    pub(super) async fn run_end(
        &mut self,
        reason: &str,
        conversation: &mut Conversation,
        info: &SessionInfo,
        security: &mut Security,
    ) -> Vec<Notice> {
        let call = HookCall::new(HookEvent::SessionEnd, reason, json!({ "reason": reason }));
        let id = info.session.clone();
        if self.runner(id.clone()).follows(&call) {
            self.write_transcript(conversation, info, security).await;
        }
        match self.run(&call, id, security.context()) {
            Some(run) => timeout(END_WAIT, run).await.map_or_else(|_| Vec::new(), |it| it.notices),
            None => Vec::new(),
        }
    }

    /// Writes the conversation for hooks to read. Without hooks it has no file.
    pub(super) fn write_transcript(
        &self,
        conversation: &mut Conversation,
        info: &SessionInfo,
        security: &Security,
    ) -> impl Future<Output = ()> + Send + use<> {
        let path = self.transcript_path();
        let hook_session = HookSession {
            id: info.session.clone(),
            cwd: security.place.cwd.clone(),
            ..HookSession::default()
        };
        let redactor = Arc::clone(&security.redactor);
        let mask = |text: &str| redactor.mask(text).into_owned();
        let text = transcript(conversation.record(), &hook_session, &mask);
        let write = move || path.map(|path| atomic_file::write_unsynced(&path, &text));
        // A hook that finds none goes on without it.
        tokio::task::spawn_blocking(write).map(drop)
    }
}

/// Hooks of a turn ran, or are about to run.
pub(super) fn handle_news(session: &mut Session, news: HookNews) {
    match news {
        HookNews::TranscriptNeeded(done) => {
            let Session { hooks, conversation, info, security, .. } = session;
            let written = hooks.write_transcript(conversation, info, security);
            // A turn that was stopped does not wait for it.
            tokio::spawn(written.map(|()| done.send(())));
        }
        news => session.hooks.handle_news(news),
    }
}
