//! `/btw`: a question beside the conversation, also while a turn runs. Its answer is shown and not
//! part of the conversation.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::compaction::part_text;
use super::side_request;
use super::state::Session;
use super::turn_messages::{SideMessage, TurnMessage};
use avocet_core::i18n::side as phrases;
use avocet_core::protocol::{Event, Notice, Page, PageRow};
use avocet_core::text::cut_middle;

/// The most of the running turn that is sent, in bytes.
const RUNNING: usize = 16 * 1024;

/// The words before the question.
const ASIDE: &str = "A question beside the conversation. Answer it from what you know by now, in \
    plain words. Call no tool and propose no step; the work goes on without this answer.";

pub(super) async fn handle_message(session: &mut Session, message: SideMessage) {
    match message {
        SideMessage::GoalJudged(verdict) => session.conversation.goal.verdict = Some(verdict),
        SideMessage::Answered(usage) => {
            session.conversation.shared.spending.add(usage);
            session.conversation.usage.add(usage, &mut session.info);
            session.send_info().await;
        }
        SideMessage::StatusPrinted(text) => {
            if session.info.status_text != text {
                session.info.status_text = text;
                session.send_info().await;
            }
        }
    }
}

/// Sends the request on a task of its own, so that nothing waits for it.
pub(super) fn ask(session: &mut Session, question: String) {
    let Session { info, conversation, security, .. } = &*session;
    let cancel = CancellationToken::new();
    let context = session.resources.turn_context(info, conversation, security, &cancel);
    let web_is_off = session.security.policy.web.is_off;
    let turn = session.running.as_ref().map(|running| running.turn);
    let running =
        turn.and_then(|turn| part_text(session.conversation.record(), &format!("turn_{turn}")));
    let running = running.map_or_else(String::new, |text| {
        format!("\n\nThe turn that is running, so far:\n{}", cut_middle(&text, RUNNING))
    });
    let history = Arc::clone(&session.conversation.history);
    let instructions = Arc::clone(&session.instructions.current);
    let mut outbox = session.outbox.clone();
    let messages = session.resources.messages.clone();
    tokio::spawn(async move {
        let asked = format!("{ASIDE}{running}\n\nQuestion: {question}");
        let answer = tokio::select! {
            answer = side_request::ask(&context, &instructions, &history, web_is_off, &asked) => answer,
            () = messages.closed() => return,
        };
        let event = match answer {
            Ok((answer, usage)) => {
                // A closed session needs no messages.
                let _ = messages.send(TurnMessage::Side(SideMessage::Answered(usage)));
                let rows = answer.lines().map(PageRow::line).collect();
                let title = phrases::TITLE.with("question", question);
                Event::SideAnswer(Box::new(Page { title, rows }))
            }
            Err(why) => Event::Notice(Notice::error(phrases::FAILED.with("why", why))),
        };
        outbox.send(event).await;
    });
}
