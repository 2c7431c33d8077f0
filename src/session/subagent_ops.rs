//! What a session does about its subagents: it follows them, carries out what the user asks of one, and
//! lets the model read their results.

use super::settings_takeover::turn_update;
use super::state::Session;
use super::subagent_list::SubagentMessage;
use super::turn_update::TurnNews;
use super::user_input::UserInput;
use avocet_core::i18n::agents as phrases;
use avocet_core::protocol::{AgentRequest, Notice, TurnOrigin};

/// Follows the subagents of a session, and says it if one did not read a message of the user.
pub(super) async fn handle_message(session: &mut Session, message: SubagentMessage) {
    let (agent, outcome, result, usage, read) = match message {
        SubagentMessage::Started(subagent) => {
            let is_background = subagent.info.background;
            session.jobs.subagents.add(*subagent);
            if is_background {
                session.send_info().await;
            }
            return;
        }
        SubagentMessage::Ended { agent, outcome, result, usage, steered } => {
            (agent, outcome, result, usage, steered)
        }
    };
    let Some(subagent) = session.jobs.subagents.remove(&agent) else { return };
    let name = subagent.info.name;
    if subagent.steered > read {
        let unread = Notice::warning(phrases::NOT_READ.with("name", name.as_str()));
        session.notify(unread).await;
    }
    if subagent.info.background {
        let result = format!("The agent {name} ({agent}) ended:\n{result}");
        session.jobs.subagents.add_result(result, outcome);
        session.conversation.usage.add(usage, &mut session.info);
        session.send_info().await;
    }
}

/// Carries out what the user asks of one.
pub(super) async fn handle_request(session: &mut Session, agent: &str, request: AgentRequest) {
    if let Err(why) = session.jobs.subagents.handle_request(agent, request) {
        session.notify(Notice::warning(why)).await;
    }
}

/// What the running turn hears before its next request: also the settings that changed.
pub(super) async fn turn_news(session: &mut Session) -> TurnNews {
    let changes = session.settings.reload();
    session.apply_settings(changes).await;
    let results = session.jobs.subagents.take_results();
    if !results.is_empty() {
        session.send_info().await;
    }
    TurnNews { update: turn_update(session), results }
}

/// Lets the model go on with the results of those that ended meanwhile.
pub(super) async fn read_results(session: &mut Session) {
    let has_results = session.jobs.subagents.counts().unread > 0;
    if has_results && !session.is_busy() {
        let text = phrases::GO_ON.text(session.info.lang).to_owned();
        session.begin(UserInput::Text(text), TurnOrigin::Typed).await;
        session.send_info().await;
    }
}
