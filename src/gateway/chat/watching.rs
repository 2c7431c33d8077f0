//! A question that no one answers: the chat is reminded of it once, and in the end it is rejected. One
//! that only an admin decides, in a chat where none is, is shown to one in a private chat, whose
//! buttons answer it here.

use std::future::ready;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;

use super::super::platform::{NewMessage, Outgoing, PlatformError, PostContent};
use super::super::question_watch::{QuestionWatch, Referred};
use super::{Chat, ChatNote};
use avocet_core::i18n::chat as w;

/// How often the closing of a question in a private chat is tried, and the longest pause between.
const CLOSING_TRIES: u32 = 5;
const MAX_PAUSE: Duration = Duration::from_secs(60);

impl Chat {
    pub(super) async fn watch_question(&mut self) {
        let now = Instant::now();
        let open = self.conversation.view.question().and_then(|question| question.unanswered());
        if open != self.question.open {
            self.close_referral();
            // Half of its time, and the other half after the reminder.
            let half = self.parts.options.question_time.map(|time| time / 2);
            let left = half.filter(|_| open.is_some());
            let due = left.map(|half| now + half);
            self.question = QuestionWatch { open, due, left, ..QuestionWatch::default() };
            if open.is_some() {
                self.claim_presses().await;
                self.refer_question();
            }
        }
        if self.question.due.is_none_or(|due| due > now) {
            return;
        }
        let left = self.question.left.take();
        self.question.due = left.map(|left| now + left);
        if left.is_some() {
            self.conversation.view.posts.say(w::QUESTION_REMINDER);
            return;
        }
        let effects = self.conversation.view.expire_question().into_iter().collect();
        Box::pin(self.apply(effects)).await;
    }

    /// A press in a group is for the conversation that asked, whichever user it is of.
    async fn claim_presses(&mut self) {
        let at = self.parts.options.address.clone();
        let Some(open) = self.conversation.view.question().filter(|_| at.user.is_some()) else {
            return;
        };
        let nonce = open.question.nonce().to_owned();
        let _ = self.parts.notes.send(ChatNote::Referred(nonce, at)).await;
    }

    fn refer_question(&mut self) {
        let Some(admin) = self.parts.admin.clone() else { return };
        let Some(referred) = self.conversation.view.question_for_admin() else { return };
        let at = self.parts.options.address.clone();
        if self.parts.notes.try_send(ChatNote::Referred(referred.nonce, at)).is_err() {
            return;
        }
        self.question.text.clone_from(&referred.question.text.text);
        let platform = Arc::clone(&self.parts.platform);
        self.question.asking = Some(Box::pin(async move {
            let at = platform.private_chat(&admin).await?;
            if let Some(file) = &referred.file {
                platform.send(&at, PostContent::File(file), &NewMessage::answering(None)).await?;
            }
            let new = NewMessage::answering(None);
            let message =
                platform.send(&at, PostContent::Question(&referred.question), &new).await?;
            Ok((at, message))
        }));
    }

    pub(super) fn on_referred(&mut self, referred: Referred) {
        self.conversation.view.posts.say(match &referred {
            Ok(_) => w::ADMIN_ASKED.into(),
            Err(why) => w::ADMIN_NOT_ASKED.with("why", why.to_string()),
        });
        self.question.shown = referred.ok();
    }

    /// Its buttons answer nothing any more.
    fn close_referral(&mut self) {
        let shown = match (self.question.shown.take(), self.question.asking.take()) {
            (Some(shown), _) => ready(Ok(shown)).boxed(),
            // What is on its way arrives first.
            (None, Some(asking)) => asking,
            (None, None) => return,
        };
        let platform = Arc::clone(&self.parts.platform);
        let lang = self.conversation.view.posts.lang();
        let text = w::CLOSED.with("summary", self.question.text.as_str()).text(lang);
        tokio::spawn(async move {
            let Ok((at, message)) = shown.await else { return };
            for tries in 0..CLOSING_TRIES {
                let pause = match platform.edit(&at, &message, &Outgoing::plain(&*text)).await {
                    Err(PlatformError::RateLimited { after }) => after.min(MAX_PAUSE),
                    Err(PlatformError::Network(_)) => Duration::from_secs(1 << tries),
                    _ => return,
                };
                tokio::time::sleep(pause).await;
            }
        });
    }
}
