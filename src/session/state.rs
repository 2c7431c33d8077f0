//! The state of a session between two ops.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::event_sink::Outbox;
use super::extensions::ExtensionCache;
use super::goal_progress::GoalProgress;
use super::job_board::JobBoard;
use super::mcp_servers::McpServers;
use super::persistence::SessionStore;
use super::session_hooks::SessionHooks;
use super::settings::SettingsAccess;
use super::shared_queues::SharedQueues;
use super::skill_tool::ActiveSkills;
use super::turn_messages::{FinishedTurn, TurnHandle, TurnMessage};
use super::turn_update::UnreadSettings;
use super::user_input::{QueuedInput, UserInput};
use super::{Connected, FoundModelServer, Persona, Security, SessionConfig, Wanted};
use crate::agent::Steering;
use crate::context::system::WorkspaceFacts;
use crate::context::window::{Bounds, ContextUsage, History, TurnPosition};
use avocet_core::protocol::{
    ApprovalMode, Ask, AskId, Decision, Effort, Event, Provider, Question, SessionInfo, Step,
    StepAction, StepQuestion, SubmitId, SubmitIds, Usage,
};
use avocet_safety::{Policy, ToolRestriction};
use avocet_tools::Toolbox;

/// The most output and answers kept for an export, in bytes.
const RECORD: usize = 16 * 1024 * 1024;

/// The number of turns whose token counts are kept for `/usage`.
const COSTS: usize = 20;

/// Where the session's own ids begin: in 2109, later than any sender's clock.
const OWN_IDS_SINCE_1970: Duration = Duration::from_millis(1 << 42);

/// One conversation in one folder.
pub(super) struct Session {
    pub info: SessionInfo,
    pub responder: Responder,
    pub conversation: Conversation,
    pub security: Security,
    pub outbox: Outbox,
    pub store: SessionStore,
    /// Messages that wait for the running turn to end.
    pub(super) queue: VecDeque<QueuedInput>,
    /// How many of them, at the end, come from an earlier session: they start nothing.
    pub(super) restored: usize,
    /// The submission that is being handled, until something comes of it.
    pub(super) pending_submit: Option<SubmitId>,
    /// For messages of the queue that came without an id.
    pub(super) own_ids: SubmitIds,
    pub(super) running: Option<RunningTurn>,
    pub policy: watch::Sender<Policy>,
    pub(super) tools: Toolbox,
    pub turn_messages: mpsc::UnboundedSender<TurnMessage>,
    pub callbacks: super::Callbacks,
    pub jobs: JobBoard,
    pub servers: McpServers,
    pub hooks: SessionHooks,
    pub surroundings: WorkspaceFacts,
    /// The user's own instructions, the first of which takes new notes.
    pub user_notes: Vec<PathBuf>,
    pub settings: Option<Box<dyn SettingsAccess>>,
    /// The policy of the settings as they were read last.
    pub base_policy: Option<Policy>,
    /// The folder for long outputs of steps.
    pub outputs: Option<PathBuf>,
    /// The user was warned that the price of the model is not known.
    pub is_price_reported: bool,
    /// The project's instructions.
    pub instructions: Arc<avocet_config::project_instructions::ProjectInstructions>,
    pub bounds: Bounds,
    /// Whether shell commands that are not of high risk were approved at the start of the program.
    pub approves_template_commands: bool,
    /// The mode that the command line named, and that of the user's settings.
    pub command_line_mode: Option<ApprovalMode>,
    pub mode_of_settings: ApprovalMode,
    /// How many of the added folders come from the command line: they belong to this run, not to a
    /// session.
    pub command_line_folders: usize,
    /// What this run spent, over all its conversations.
    pub run_usage: Usage,
    /// Whether the changed files of the folder are counted, and the count that is under way.
    pub counts_changed_files: bool,
    pub change_count: Option<ChangeCount>,
}

impl Session {
    pub fn new(
        config: SessionConfig,
        store: SessionStore,
        outbox: Outbox,
        notes: mpsc::UnboundedSender<TurnMessage>,
    ) -> Session {
        let (policy, _) = watch::channel(config.security.policy.clone());
        let mode = config.info.mode;
        let folder = config.security.place.workspace.clone();
        let jobs = JobBoard::new(config.kept_jobs, folder, notes.clone());
        let shared = SharedQueues::new(config.info.max_subagents)
            .with_worktrees(config.model_access.callbacks.worktrees.clone());
        Session {
            run_usage: Usage::default(),
            counts_changed_files: config.counts_changed_files,
            change_count: None,
            command_line_mode: config.command_line_mode,
            mode_of_settings: config.mode_of_settings,
            command_line_folders: config.security.place.added.len(),
            info: config.info,
            responder: Responder {
                wanted: match config.model_access.first.provider {
                    Provider::Guide => Wanted::Guide,
                    _ => Wanted::Mode(mode),
                },
                connected: config.model_access.first,
                effort: config.model_access.effort,
                effort_levels: Some(Vec::new()),
                persona: config.persona,
                extensions: config.extensions,
                found_servers: Vec::new(),
            },
            conversation: Conversation { shared, ..Conversation::default() },
            security: config.security,
            outbox,
            store,
            queue: VecDeque::new(),
            restored: 0,
            pending_submit: None,
            own_ids: SubmitIds::starting_at(UNIX_EPOCH + OWN_IDS_SINCE_1970),
            running: None,
            policy,
            tools: config.tools,
            turn_messages: notes,
            callbacks: config.model_access.callbacks,
            jobs,
            servers: McpServers::new(config.servers),
            hooks: SessionHooks::new(config.hooks),
            surroundings: config.surroundings,
            user_notes: config.user_notes,
            base_policy: config.settings.as_ref().map(|settings| settings.policy()),
            settings: config.settings,
            outputs: config.outputs,
            is_price_reported: false,
            instructions: Arc::default(),
            bounds: config.bounds,
            approves_template_commands: config.approves_template_commands,
        }
    }

    pub(super) fn set_running(
        &mut self,
        cancel: CancellationToken,
        handle: TurnHandle,
        task: tokio::task::JoinHandle<FinishedTurn>,
    ) {
        self.running = Some(RunningTurn {
            turn: self.info.turns,
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
        });
    }

    pub(super) fn update_running(&mut self, change: impl FnOnce(&mut RunningTurn)) {
        if let Some(running) = &mut self.running {
            change(running);
        }
    }

    pub fn is_idle(&self) -> bool {
        self.running.is_none()
    }

    pub(super) fn running_turn(&self) -> Option<u64> {
        self.running.as_ref().map(|running| running.turn)
    }
}

/// The count of changed files that is under way.
#[derive(Debug)]
pub struct ChangeCount {
    pub cancel: CancellationToken,
    pub task: JoinHandle<()>,
}

impl ChangeCount {
    /// Ends with everything it started.
    pub async fn stop(self) {
        self.cancel.cancel();
        let _ = self.task.await;
    }
}

/// Which model answers, and how it is addressed.
pub struct Responder {
    pub connected: Connected,
    /// What it was chosen by.
    pub wanted: Wanted,
    /// The level of reasoning that the user wants.
    pub effort: Option<Effort>,
    /// What its model says of that; see [`avocet_model::Model::effort_levels`].
    pub effort_levels: Option<Vec<Effort>>,
    pub persona: Persona,
    pub extensions: ExtensionCache,
    /// The result of a search for models.
    pub found_servers: Vec<FoundModelServer>,
}

impl Responder {
    /// The level that is asked for: the nearest one that the model has.
    pub fn effort_in_use(&self) -> Option<Effort> {
        let wanted = self.effort?;
        match &self.effort_levels {
            None => Some(wanted),
            Some(levels) => wanted.nearest(levels),
        }
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
    /// Token counts of the latest turns by number, oldest first.
    pub usage: VecDeque<(u64, Usage)>,
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
            usage: VecDeque::new(),
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

    /// Records the tokens of a turn.
    pub fn add_usage(&mut self, turn: u64, usage: Usage) {
        self.usage.push_back((turn, usage));
        if self.usage.len() > COSTS {
            self.usage.pop_front();
        }
    }

    pub fn record(&mut self) -> &[Event] {
        self.record.make_contiguous()
    }

    /// Clears the conversation; the numbers of steps and questions continue, so that an answer to
    /// an old question never matches a new one.
    pub fn clear(&mut self) {
        *self = Conversation {
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
pub fn session_info(info: &SessionInfo, responder: &Responder, jobs: &JobBoard) -> SessionInfo {
    SessionInfo {
        model: responder.connected.model.name().to_owned(),
        provider: responder.connected.provider,
        base_url: responder.connected.base_url.clone(),
        effort: responder.effort_in_use(),
        effort_levels: responder.effort_levels.clone().unwrap_or_default(),
        jobs: jobs.infos(),
        agents: jobs.subagents.counts(),
        prices: responder.connected.model.prices(),
        ..info.clone()
    }
}
