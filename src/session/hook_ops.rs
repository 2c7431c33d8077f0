//! Reads the files of hooks, asks about those of the project, and runs what follows the session's
//! start and end.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::json;
use tokio::time::timeout;

use super::hook_runner::HookNews;
use super::state::Session;
use avocet_config::atomic_file;
use avocet_core::i18n::{hooks as phrases, mcp_pages};
use avocet_core::protocol::{Event, Notice};
use avocet_hooks::{HookCall, HookEvent, HookSession, transcript};

/// How long the end of a session waits for its hooks.
const END_WAIT: Duration = Duration::from_millis(1500);

impl Session {
    /// Reads the files of hooks: a few small files, and without any only their absence.
    pub(super) async fn load_hooks(&mut self) {
        let is_trusted = self.security.place.trusted;
        self.hooks.read_files(is_trusted);
        if self.hooks.tighten(&mut self.security.policy) {
            self.security.publish(&mut self.info);
        }
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
        let id = self.info.session.clone();
        let Some(run) = self.hooks.run(&call, id, self.security.context()) else { return };
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
        let id = self.info.session.clone();
        if self.hooks.runner(id.clone()).follows(&call) {
            write_transcript(self).await;
        }
        if let Some(run) = self.hooks.run(&call, id, self.security.context())
            && let Ok(reply) = timeout(END_WAIT, run).await
        {
            for notice in reply.notices {
                self.notify(notice).await;
            }
        }
    }
}

/// Hooks of a turn ran, or are about to run.
pub(super) fn handle_news(session: &mut Session, news: HookNews) {
    match news {
        HookNews::TranscriptNeeded(done) => {
            // A turn that was stopped does not wait for it.
            tokio::spawn(write_transcript(session).map(|()| done.send(())));
        }
        news => session.hooks.handle_news(news),
    }
}

/// Writes the conversation for hooks to read. Without hooks it has no file.
fn write_transcript(session: &mut Session) -> impl Future<Output = ()> + Send + use<> {
    let path = session.hooks.transcript_path();
    let hook_session = HookSession {
        id: session.info.session.clone(),
        cwd: session.security.place.cwd.clone(),
        ..HookSession::default()
    };
    let redactor = Arc::clone(&session.security.redactor);
    let mask = |text: &str| redactor.mask(text).into_owned();
    let text = transcript(session.conversation.record(), &hook_session, &mask);
    let write = move || path.map(|path| atomic_file::write_unsynced(&path, &text));
    // A hook that finds none goes on without it.
    tokio::task::spawn_blocking(write).map(drop)
}
