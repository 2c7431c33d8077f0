//! The state of a session between two ops.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::changed_files::ChangedFileCounter;
use super::conversation::Conversation;
use super::event_sink::Outbox;
use super::job_board::JobBoard;
use super::mcp_servers::McpServers;
use super::memory::SessionInstructions;
use super::message_queue::MessageQueue;
use super::model_selection::ModelSelection;
use super::persistence::SessionStore;
use super::session_hooks::SessionHooks;
use super::session_questions::SessionQuestions;
use super::session_settings::SessionSettings;
use super::shared_queues::SharedQueues;
use super::turn_messages::{FinishedTurn, TurnHandle, TurnMessage};
use super::turn_resources::TurnResources;
use super::turn_update::UnreadSettings;
use super::{Security, SessionConfig};
use crate::agent::Steering;
use crate::context::window::ContextUsage;
use avocet_core::protocol::{
    Ask, AskId, Decision, Event, Question, SessionInfo, Step, StepAction, StepQuestion,
};
use avocet_safety::ToolRestriction;

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
    pub settings: SessionSettings,
    pub questions: SessionQuestions,
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
                workspace_facts: config.workspace_facts,
                outputs: config.outputs,
                approves_template_commands: config.approves_template_commands,
                messages: notes,
            },
            callbacks: config.model_access.callbacks,
            conversation: Conversation::new(shared),
            security: config.security,
            outbox,
            store,
            queue: MessageQueue::new(),
            running: None,
            jobs,
            hooks: SessionHooks::new(config.access.hooks, report_hooks),
            settings: SessionSettings::new(config.access.settings),
            questions: SessionQuestions::new(),
            instructions: SessionInstructions::new(config.user_notes),
        }
    }

    /// True while a turn runs or a question waits that belongs to none.
    pub(super) fn is_busy(&self) -> bool {
        self.running.is_some() || self.questions.open().is_some()
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

    /// Takes what only changes what is known of the turn.
    pub fn handle_message(&mut self, message: TurnMessage) {
        match message {
            TurnMessage::QuestionOpened(ask) => self.open_question = Some(ask),
            TurnMessage::QuestionClosed => self.open_question = None,
            TurnMessage::SteeringRead => drop(self.unread_steering.pop_front()),
            TurnMessage::ToolsRestricted(narrowed) => self.restriction = narrowed,
            // `Spent` is for the turn of a subagent; the others are not about it.
            _ => {}
        }
    }

    /// An event was shown, of this turn or of the one before; returns the number of this one.
    pub fn follow(&mut self, event: &Event) -> u64 {
        self.is_over |= matches!(event, Event::TurnEnded { turn, .. } if *turn == self.turn);
        self.turn
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
