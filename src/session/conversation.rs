//! The conversation of a session so far.

use std::collections::VecDeque;
use std::sync::Arc;

use super::goal_progress::GoalProgress;
use super::persistence::Replay;
use super::shared_queues::SharedQueues;
use super::skill_tool::ActiveSkills;
use super::turn_messages::FinishedTurn;
use super::usage_log::UsageLog;
use super::user_input::UserInput;
use crate::context::window::{History, TurnPosition};
use avocet_core::protocol::budget::Budget;
use avocet_core::protocol::{Event, SessionInfo, TurnOutcome};
use avocet_core::text::visible;
use avocet_safety::redact::Redactor;
use avocet_store::SessionRecord;

/// The most output and answers kept for an export, in bytes.
const RECORD: usize = 16 * 1024 * 1024;

/// The conversation so far.
#[derive(Debug)]
pub struct Conversation {
    /// The history sent to the model.
    pub history: Arc<History>,
    /// The shown events, for an export.
    record: VecDeque<Event>,
    bytes: usize,
    /// The number of the next step.
    pub next_step: u64,
    pub shared: SharedQueues,
    /// The last message, and the length of the history before it.
    pub last_input: Option<(UserInput, TurnPosition)>,
    /// The skills in view.
    pub active_skills: ActiveSkills,
    /// The last request of the model named the mode for plans.
    pub is_planning: bool,
    /// The branch that the model last heard of.
    pub told_branch: Option<String>,
    pub usage: UsageLog,
    /// How the work towards the goal goes.
    pub goal: GoalProgress,
}

impl Conversation {
    pub fn new(shared: SharedQueues) -> Conversation {
        Conversation {
            history: Arc::default(),
            record: VecDeque::new(),
            bytes: 0,
            next_step: 1,
            shared,
            last_input: None,
            active_skills: ActiveSkills::default(),
            is_planning: false,
            told_branch: None,
            usage: UsageLog::default(),
            goal: GoalProgress::default(),
        }
    }
    pub fn push_event(&mut self, event: Event) {
        self.bytes += event.weight();
        self.record.push_back(event);
        while self.bytes > RECORD
            && let Some(dropped) = self.record.pop_front()
        {
            self.bytes -= dropped.weight();
        }
    }

    /// An event for exports; a plan also for the next request.
    pub fn record_event(&mut self, event: Event, turn: Option<u64>, redactor: &Redactor) {
        if let (Event::Plan { items }, Some(turn)) = (&event, turn) {
            let mask = |text: &mut String| *text = redactor.mask(text).into_owned();
            Arc::make_mut(&mut self.history).replace_plan(turn, items, mask);
        }
        self.push_event(event);
    }

    /// Adds the entries of a turn to the history; true if it failed.
    pub fn add_turn(
        &mut self,
        turn: u64,
        finished_turn: FinishedTurn,
        info: &mut SessionInfo,
        redactor: &Redactor,
    ) -> bool {
        self.next_step = self.next_step.max(finished_turn.next_step);
        self.usage.add(finished_turn.usage, info);
        if !finished_turn.record.is_empty() {
            let mask = |text: &mut String| *text = redactor.mask(text).into_owned();
            Arc::make_mut(&mut self.history).push(turn, finished_turn.record, mask);
        }
        matches!(finished_turn.ending, TurnOutcome::Failed { .. } | TurnOutcome::Unsent { .. })
    }

    /// Goes on with a saved conversation.
    pub fn restore(&mut self, history: History, record: &SessionRecord) {
        self.clear();
        self.history = Arc::new(history);
        self.next_step = self.next_step.max(record.next_step);
        self.shared.skip_ask_ids(record.next_ask);
    }

    /// The last events of a saved conversation.
    pub fn restore_events(&mut self, events: &[Event]) {
        for event in events {
            if event.is_transcript() {
                self.push_event(event.clone());
            }
            if let Event::TurnEnded { turn, usage, .. } = event {
                self.usage.add_turn(*turn, *usage);
            }
        }
    }

    /// Gives the attachments of earlier messages the images that the conversation still has.
    pub fn restore_images(&self, replay: Replay, events: &mut [Event]) {
        if replay != Replay::AllWithImages {
            return;
        }
        let mut current_turn = 0;
        for event in events {
            match event {
                Event::TurnStarted { turn, .. } => current_turn = *turn,
                Event::Attached { items, images } => {
                    let found = self.history.images_of(current_turn);
                    if items.iter().filter(|item| item.is_image()).count() == found.len() {
                        images.extend(found.into_iter().cloned().map(Arc::new));
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds earlier events before the recorded ones, as far as there is room.
    pub fn prepend_events(&mut self, events: &[Event]) {
        for event in events.iter().rev() {
            let weight = event.weight();
            if self.bytes + weight > RECORD {
                // Older events do not fit either: a record has no gaps.
                self.bytes = RECORD;
                return;
            }
            self.bytes += weight;
            self.record.push_front(event.clone());
        }
    }

    /// True while the conversation is empty.
    pub fn is_empty(&self) -> bool {
        self.record.is_empty() && self.history.is_empty()
    }

    /// The message that began a turn.
    pub fn message_of(&self, turn: u64) -> Option<String> {
        self.record.iter().rev().find_map(|event| match event {
            Event::TurnStarted { turn: number, text, .. } if *number == turn => Some(text.clone()),
            _ => None,
        })
    }

    /// Removes the shown events from a turn on. The caller sets the history.
    pub fn truncate_from(&mut self, turn: u64) {
        let starts = |event: &Event| matches!(event, Event::TurnStarted { turn: number, .. } if *number == turn);
        if let Some(from) = self.record.iter().rposition(starts) {
            self.record.truncate(from);
            self.bytes = self.record.iter().map(Event::weight).sum();
        }
        self.last_input = None;
    }

    /// What the model gets of the mode with the message of a turn.
    pub fn mode_note(&mut self, is_planning: bool) -> &'static str {
        let was_planning = std::mem::replace(&mut self.is_planning, is_planning);
        match (is_planning, was_planning) {
            (true, _) => include_str!("../../assets/prompts/plan_mode.md").trim_end(),
            (false, true) => include_str!("../../assets/prompts/plan_mode_off.md").trim_end(),
            (false, false) => "",
        }
    }

    /// The branch, where it is another than the model knows. It follows the message: in the
    /// system prompt, each switch would change the beginning of every request.
    pub fn branch_note(&mut self, branch: Option<String>) -> String {
        if branch.is_none() || branch == self.told_branch {
            return String::new();
        }
        let name = branch.as_deref().map(visible).unwrap_or_default();
        self.told_branch = branch;
        format!("\n\n[Git branch: {name}]")
    }

    /// What may be spent from now on; what still runs has spent some of it.
    pub fn budget(&self, info: &SessionInfo) -> Budget {
        self.usage.budget(self.shared.spending.total(), info)
    }

    pub fn record(&mut self) -> &[Event] {
        self.record.make_contiguous()
    }

    /// Clears the conversation; the numbers of steps and questions continue, so that an answer to
    /// an old question never matches a new one.
    pub fn clear(&mut self) {
        self.usage.clear();
        *self = Conversation {
            usage: std::mem::take(&mut self.usage),
            next_step: self.next_step,
            ..Conversation::new(self.shared.clone())
        };
    }
}
