//! Events of a session as the updates of its client. The same fold shows what happens now and what
//! was saved. Pure.

use std::collections::BTreeSet;

use agent_client_protocol_schema::v1::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, ContentChunk, Cost,
    CurrentModeUpdate, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus, SessionInfoUpdate,
    SessionUpdate, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, UnstructuredCommandInput,
    UsageUpdate,
};

use super::tool_calls::{finished, is_shown, safe, tool_call};
use avocet_core::i18n::{Lang, LocalizedText, cli};
use avocet_core::protocol::{
    Change, Event, Extensions, ModelMessage, Money, Notice, NoticeLevel, Observation, PlanItem,
    PlanState, SessionInfo, Step, Surface,
};
use avocet_present::changes::changes_page;
use avocet_present::commands::{self, PageRow};
use avocet_present::page;
use avocet_present::subagents::SubagentProgress;
use avocet_safety::sanitize::{CarriageReturnMode, Cleaner};

/// Commands that an editor has a way of its own for, or that need the screen.
const LEFT_OUT: &[&str] = &[
    "new", "stop", "queue", "steer", "rewind", "resume", "sessions", "fork", "connect", "theme",
    "exit", "goal",
];

/// Whether a command works in an editor.
pub fn is_offered(name: &str) -> bool {
    commands::find(name).is_none_or(|command| {
        command.reach.covers(Surface::Plain) && !LEFT_OUT.contains(&command.name)
    })
}

/// The overview of the help without the commands that do not work in an editor.
pub fn offered_help(mut rows: Vec<PageRow>) -> Vec<PageRow> {
    rows.retain(|row| match row {
        PageRow::Pair { label, .. } => {
            let label = label.text(Lang::En);
            let name = label.strip_prefix('/').and_then(|usage| usage.split_whitespace().next());
            name.is_none_or(is_offered)
        }
        PageRow::Heading(_) | PageRow::Line(_) => true,
    });
    // From the end: a heading with nothing below it goes too.
    rows.reverse();
    let mut is_below_heading = true;
    rows.retain(|row| {
        let is_heading = matches!(row, PageRow::Heading(_));
        let is_empty = is_heading && is_below_heading;
        is_below_heading = is_heading;
        !is_empty
    });
    rows.reverse();
    rows
}

/// What is known of the messages so far.
#[derive(Default)]
pub struct MessageFold {
    lang: Lang,
    cwd: String,
    cleaner: Cleaner,
    /// The reply as it came in pieces.
    streamed: String,
    /// Another reply was shown in this turn, with nothing between.
    follows_reply: bool,
    /// The steps that the client knows.
    announced: BTreeSet<String>,
    agents: SubagentProgress,
    shown_info: Option<SessionInfo>,
}

impl MessageFold {
    pub fn new(lang: Lang, info: &SessionInfo) -> MessageFold {
        let shown_info = Some(info.clone());
        MessageFold { lang, cwd: info.cwd.clone(), shown_info, ..MessageFold::default() }
    }

    pub fn set_lang(&mut self, lang: Lang) {
        self.lang = lang;
    }

    /// What an event shows.
    pub fn fold(&mut self, event: &Event) -> Vec<SessionUpdate> {
        match event {
            Event::ReplyStarted => {
                self.restart_reply();
                Vec::new()
            }
            Event::Delta { text } => self.on_delta(text),
            Event::ReasoningDelta { text } => vec![thought(&safe(text))],
            Event::Replied(message) => self.on_reply(message),
            Event::Retrying { attempt, of, wait_ms, why } => {
                let say = cli::RETRYING.with("attempt", *attempt).with("of", *of);
                let say = say.with("wait", wait_ms.div_ceil(1000)).with("why", why.clone());
                vec![thought(&format!("{}\n", safe(&say.text(self.lang))))]
            }
            Event::StepStarted { step, .. } => self.on_step_started(step),
            Event::StepFinished(observation) => self.on_step_finished(observation),
            Event::SubagentStarted(_) | Event::Subagent { .. } => {
                self.on_agent(event).into_iter().collect()
            }
            Event::Plan { items } => vec![plan(items)],
            Event::Compacted(receipt) => vec![self.sentence(&receipt.localized())],
            Event::Page(page) | Event::SideAnswer(page) => vec![self.page(&page.title, &page.rows)],
            Event::Changes { session, uncommitted } => {
                let page = changes_page(&self.cwd, session, uncommitted.as_deref());
                vec![self.page(&page.title, &page.rows)]
            }
            Event::Rendered { text, .. } => vec![self.message(&safe(text))],
            Event::Catalogue(extensions) => vec![self.commands(extensions)],
            Event::Facts(info) => self.on_info(info),
            Event::TurnEnded { .. } => {
                self.restart_reply();
                self.follows_reply = false;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// What a saved event shows: also the messages of the user.
    pub fn replay(&mut self, event: &Event) -> Vec<SessionUpdate> {
        match event {
            Event::TurnStarted { text, .. } | Event::Steered { text, .. } => {
                vec![SessionUpdate::UserMessageChunk(ContentChunk::new(safe(text).into()))]
            }
            event => self.fold(event),
        }
    }

    fn restart_reply(&mut self) {
        self.streamed.clear();
        self.cleaner = Cleaner::new(CarriageReturnMode::EndsLine);
    }

    fn on_delta(&mut self, text: &str) -> Vec<SessionUpdate> {
        self.streamed.push_str(text);
        let mut cleaned = String::new();
        self.cleaner.push(text, &mut cleaned);
        if cleaned.is_empty() { Vec::new() } else { vec![self.message(&cleaned)] }
    }

    /// A reply is shown after the one before it, not in one line with it.
    fn message(&mut self, cleaned: &str) -> SessionUpdate {
        let gap = if std::mem::take(&mut self.follows_reply) { "\n\n" } else { "" };
        let text = format!("{gap}{cleaned}");
        SessionUpdate::AgentMessageChunk(ContentChunk::new(text.into()))
    }

    /// What the pieces did not show of it.
    fn on_reply(&mut self, message: &ModelMessage) -> Vec<SessionUpdate> {
        let rest = match message.message.strip_prefix(self.streamed.as_str()) {
            Some(rest) => rest.to_owned(),
            None => format!("\n\n{}", message.message),
        };
        self.streamed.clear();
        let mut cleaned = String::new();
        self.cleaner.push(&rest, &mut cleaned);
        self.cleaner.finish(&mut cleaned);
        let shown = (!cleaned.is_empty()).then(|| self.message(&cleaned));
        self.restart_reply();
        self.follows_reply = true;
        shown.into_iter().collect()
    }

    fn on_step_started(&mut self, step: &Step) -> Vec<SessionUpdate> {
        let mut updates = self.announce(step, None);
        if !updates.is_empty() || self.announced.contains(&step.id) {
            let fields = ToolCallUpdateFields::new().status(ToolCallStatus::InProgress);
            let started = ToolCallUpdate::new(step.id.clone(), fields);
            updates.push(SessionUpdate::ToolCallUpdate(started));
        }
        updates
    }

    /// What a subagent does, in the call of its task.
    fn on_agent(&mut self, event: &Event) -> Option<SessionUpdate> {
        let line = self.agents.apply(event)?;
        let id = line.info.agent.clone();
        let text = safe(&line.text().text(self.lang));
        self.announced.contains(&id).then(|| {
            let fields = ToolCallUpdateFields::new().content(vec![text.into()]);
            SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields))
        })
    }

    /// Shows a step, unless the client knows it.
    pub fn announce(&mut self, step: &Step, change: Option<&Change>) -> Vec<SessionUpdate> {
        if !is_shown(&step.work) || !self.announced.insert(step.id.clone()) {
            return Vec::new();
        }
        self.follows_reply = false;
        vec![SessionUpdate::ToolCall(tool_call(step, change, &self.cwd, self.lang))]
    }

    fn on_step_finished(&mut self, observation: &Observation) -> Vec<SessionUpdate> {
        let mut updates = self.announce(&observation.step, observation.change.as_ref());
        if self.announced.remove(&observation.step.id) {
            updates.push(SessionUpdate::ToolCallUpdate(finished(observation, self.lang)));
        }
        updates
    }

    /// A sentence of the program, in a paragraph of its own.
    pub fn sentence(&mut self, localized_text: &LocalizedText) -> SessionUpdate {
        let text = format!("{}\n\n", safe(&localized_text.text(self.lang)));
        self.message(&text)
    }

    pub fn notice(&mut self, notice: &Notice) -> SessionUpdate {
        let level = match notice.level {
            NoticeLevel::Info => String::new(),
            NoticeLevel::Warning => format!("**{}**: ", cli::WARNING.text(self.lang)),
            NoticeLevel::Error => format!("**{}**: ", cli::ERROR.text(self.lang)),
        };
        let says = std::iter::once(&notice.say).chain(&notice.hint);
        let says: Vec<String> = says.map(|say| safe(&say.text(self.lang))).collect();
        self.message(&format!("{level}{}\n\n", says.join("\n\n")))
    }

    pub fn page(&mut self, localized_text: &LocalizedText, rows: &[PageRow]) -> SessionUpdate {
        // Two blanks at its end make a line of Markdown one.
        let text = page::markdown(localized_text, rows, self.lang).replace('\n', "  \n");
        self.message(&format!("{}\n\n", safe(&text)))
    }

    fn commands(&self, extensions: &Extensions) -> SessionUpdate {
        let rows = commands::rows(extensions, self.lang).into_iter();
        let offered = rows.filter(|row| row.reach.covers(Surface::Plain) && is_offered(&row.name));
        let command = |row: commands::CommandRow| {
            let hint = (!row.hint.is_empty()).then(|| {
                AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(safe(&row.hint)))
            });
            AvailableCommand::new(row.name, safe(&row.about)).input(hint)
        };
        let all = AvailableCommandsUpdate::new(offered.map(command).collect());
        SessionUpdate::AvailableCommandsUpdate(all)
    }

    /// What differs from what the client knows.
    fn on_info(&mut self, info: &SessionInfo) -> Vec<SessionUpdate> {
        let before = self.shown_info.replace(info.clone()).unwrap_or_default();
        let mut updates = Vec::new();
        if info.title != before.title {
            let title = SessionInfoUpdate::new().title(safe(&info.title));
            updates.push(SessionUpdate::SessionInfoUpdate(title));
        }
        if info.approval != before.approval {
            let mode = CurrentModeUpdate::new(info.approval.name());
            updates.push(SessionUpdate::CurrentModeUpdate(mode));
        }
        let fill = info.context;
        if fill.room_tokens > 0 && (fill != before.context || info.usage != before.usage) {
            let usage = UsageUpdate::new(fill.used_tokens as u64, fill.room_tokens as u64);
            let cost =
                (!info.usage.cost.is_zero()).then(|| Cost::new(dollars(info.usage.cost), "USD"));
            updates.push(SessionUpdate::UsageUpdate(usage.cost(cost)));
        }
        updates
    }
}

fn dollars(money: Money) -> f64 {
    money.0 as f64 / 1_000_000.0
}

fn thought(cleaned: &str) -> SessionUpdate {
    SessionUpdate::AgentThoughtChunk(ContentChunk::new(cleaned.into()))
}

fn plan(items: &[PlanItem]) -> SessionUpdate {
    let entry = |item: &PlanItem| {
        let status = match item.state {
            PlanState::Pending => PlanEntryStatus::Pending,
            PlanState::Doing => PlanEntryStatus::InProgress,
            PlanState::Done => PlanEntryStatus::Completed,
        };
        PlanEntry::new(safe(&item.text), PlanEntryPriority::Medium, status)
    };
    SessionUpdate::Plan(Plan::new(items.iter().map(entry).collect()))
}
