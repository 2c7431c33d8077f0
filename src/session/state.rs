//! The state of a session between two ops.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::changed_files::ChangedFileCounter;
use super::event_sink::Outbox;
use super::goal_progress::GoalProgress;
use super::job_board::JobBoard;
use super::mcp_servers::McpServers;
use super::memory::SessionInstructions;
use super::message_queue::MessageQueue;
use super::model_selection::ModelSelection;
use super::persistence::{Replay, SessionStore};
use super::session_hooks::SessionHooks;
use super::settings::SettingsAccess;
use super::shared_queues::SharedQueues;
use super::skill_tool::ActiveSkills;
use super::turn_messages::{FinishedTurn, TurnHandle, TurnMessage};
use super::turn_resources::TurnResources;
use super::turn_update::UnreadSettings;
use super::usage_log::UsageLog;
use super::user_input::UserInput;
use super::{Security, SessionConfig};
use crate::agent::Steering;
use crate::context::window::{ContextUsage, History, TurnPosition};
use avocet_core::protocol::budget::Budget;
use avocet_core::protocol::{
    Ask, AskId, Decision, Event, Question, SessionInfo, Step, StepAction, StepQuestion,
};
use avocet_core::text::visible;
use avocet_safety::ToolRestriction;
use avocet_safety::redact::Redactor;
use avocet_store::SessionRecord;

/// The most output and answers kept for an export, in bytes.
const RECORD: usize = 16 * 1024 * 1024;

/// One conversation in one folder.
pub(super) struct Session {
    pub info: SessionInfo,
    pub resources: TurnResources,
    pub conversation: Conversation,
    pub security: Security,
    pub outbox: Outbox,
    pub store: SessionStore,
    pub queue: MessageQueue,
    pub(super) running: Option<RunningTurn>,
    pub callbacks: super::Callbacks,
    pub jobs: JobBoard,
    pub hooks: SessionHooks,
    pub settings: Option<Box<dyn SettingsAccess>>,
    pub instructions: SessionInstructions,
    pub changed_files: ChangedFileCounter,
}

impl Session {
    pub fn new(
        mut config: SessionConfig,
        store: SessionStore,
        outbox: Outbox,
        notes: mpsc::UnboundedSender<TurnMessage>,
    ) -> Session {
        let mode = config.info.mode;
        let base = config.access.settings.as_ref().map(|settings| settings.policy());
        config.security.begin_session(base);
        let folder = config.security.place.workspace.clone();
        let jobs = JobBoard::new(config.access.kept_jobs, folder, notes.clone());
        let shared = SharedQueues::new(config.info.max_subagents)
            .with_worktrees(config.model_access.callbacks.worktrees.clone());
        let messages = notes.clone();
        // A closed session needs no report.
        let report_hooks = Arc::new(move |news| drop(messages.send(TurnMessage::Hook(news))));
        let access = &config.model_access;
        let model = ModelSelection::new(access, mode, config.persona, config.bounds, notes.clone());
        Session {
            changed_files: ChangedFileCounter::new(config.counts_changed_files),
            info: config.info,
            resources: TurnResources {
                model,
                extensions: config.extensions,
                servers: McpServers::new(config.access.servers),
                tools: config.tools,
                surroundings: config.surroundings,
                outputs: config.outputs,
                approves_template_commands: config.approves_template_commands,
                messages: notes,
            },
            callbacks: config.model_access.callbacks,
            conversation: Conversation { shared, ..Conversation::default() },
            security: config.security,
            outbox,
            store,
            queue: MessageQueue::new(),
            running: None,
            jobs,
            hooks: SessionHooks::new(config.access.hooks, report_hooks),
            settings: config.access.settings,
            instructions: SessionInstructions::new(config.user_notes),
        }
    }

    /// How the room of the next request is divided, without the words that are yet to come.
    pub fn next_request(&self) -> ContextUsage {
        let notes = &self.instructions.current.notes.text;
        self.resources.next_request(&self.info, &self.conversation, &self.security, notes)
    }

    pub(super) fn update_running(&mut self, change: impl FnOnce(&mut RunningTurn)) {
        if let Some(running) = &mut self.running {
            change(running);
        }
    }

    pub fn is_idle(&self) -> bool {
        self.running.is_none()
    }

    /// True while a turn runs or a question waits that belongs to none.
    pub(super) fn is_busy(&self) -> bool {
        !self.is_idle() || self.open_question().is_some()
    }
}

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
    /// The model was last told that it plans.
    pub is_planning: bool,
    /// The branch that the model last heard of.
    pub told_branch: Option<String>,
    pub usage: UsageLog,
    /// How the work towards the goal goes.
    pub goal: GoalProgress,
}

impl Default for Conversation {
    fn default() -> Conversation {
        Conversation {
            history: Arc::default(),
            record: VecDeque::new(),
            bytes: 0,
            next_step: 1,
            shared: SharedQueues::new(0),
            last_input: None,
            active_skills: ActiveSkills::default(),
            is_planning: false,
            told_branch: None,
            usage: UsageLog::default(),
            goal: GoalProgress::default(),
        }
    }
}

impl Conversation {
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
            shared: self.shared.clone(),
            ..Conversation::default()
        };
    }
}

/// The running turn.
#[derive(Debug)]
pub struct RunningTurn {
    pub turn: u64,
    /// Its end was shown, and only the result of its task is outstanding.
    pub is_over: bool,
    pub cancel: CancellationToken,
    pub decisions: UnboundedSender<(AskId, Decision)>,
    pub steering: UnboundedSender<Steering>,
    /// Sends its running step to the background.
    pub background: UnboundedSender<()>,
    /// Messages to the turn that it has not read yet, oldest first.
    pub unread_steering: VecDeque<Steering>,
    /// The parts of its last request, by size.
    pub context_usage: Option<Box<ContextUsage>>,
    pub open_question: Option<Box<Ask>>,
    /// Settings that changed since it began, or since its last request.
    pub unread_settings: Option<UnreadSettings>,
    /// The tools that an entered skill leaves it.
    pub restriction: Option<ToolRestriction>,
    pub task: JoinHandle<FinishedTurn>,
    pub after: AfterTurn,
}

/// The action after the running turn has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterTurn {
    /// Continue with the queue.
    Continue,
    /// Clear the conversation first.
    Clear,
}

impl RunningTurn {
    pub fn new(
        turn: u64,
        cancel: CancellationToken,
        handle: TurnHandle,
        task: JoinHandle<FinishedTurn>,
    ) -> RunningTurn {
        RunningTurn {
            turn,
            is_over: false,
            cancel,
            decisions: handle.decisions,
            steering: handle.steering,
            background: handle.background,
            unread_steering: VecDeque::new(),
            context_usage: None,
            open_question: None,
            unread_settings: None,
            restriction: None,
            task,
            after: AfterTurn::Continue,
        }
    }

    /// The step of a question, if this question is open.
    pub fn step_of_question(&self, ask: AskId) -> Option<&Step> {
        match self.open_question.as_deref() {
            Some(Ask { id, question: Question::Step(StepQuestion { step, .. }) }) if *id == ask => {
                Some(step)
            }
            _ => None,
        }
    }
}

/// The checks that the settings run after file changes.
pub fn check_action(info: &SessionInfo) -> Option<StepAction> {
    let (program, args) = info.check.split_first()?;
    Some(StepAction::Exec { program: program.clone(), args: args.to_vec() })
}

/// The session info with its changing parts filled in.
pub fn session_info(info: &SessionInfo, model: &ModelSelection, jobs: &JobBoard) -> SessionInfo {
    SessionInfo {
        model: model.connected.model.name().to_owned(),
        provider: model.connected.provider,
        base_url: model.connected.base_url.clone(),
        effort: model.effort_in_use(),
        effort_levels: model.effort_levels.clone().unwrap_or_default(),
        jobs: jobs.infos(),
        agents: jobs.subagents.counts(),
        prices: model.connected.model.prices(),
        ..info.clone()
    }
}
