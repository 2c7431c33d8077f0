//! One turn without a screen whose answer the program itself uses: of a task, or of a review.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::session_builder;
use super::startup::Startup;
use super::step_runner::SessionPurpose;
use crate::cli::args::ApprovalFlags;
use crate::cli::headless::{HeadlessEffect, HeadlessTurn, Options};
use crate::cli::schema::Schema;
use crate::cli::{Exit, print};
use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::{Event, Op, Outcome, Question, SessionOp, TurnOp, Usage};
use avocet_core::signals;
use avocet_session::{self as session, Handle};

/// How long a session may take to stop a step that runs too long.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

pub struct TaskTurn<'a> {
    /// In the folder to work in.
    pub startup: &'a Startup,
    pub approved: ApprovalFlags,
    /// What the answer has to fit.
    pub schema: Option<Schema>,
    /// How long it may take.
    pub limit: Duration,
}

/// How a turn ended, and what was counted in it.
pub struct TaskTurnEnd {
    pub exit: Exit,
    /// The answer.
    pub text: String,
    pub steps: u64,
    /// Questions that a user would have been asked.
    pub questions: u64,
    pub usage: Usage,
}

impl TaskTurn<'_> {
    /// Runs the turn that the op begins, in a session of its own. What `-p` writes to standard error
    /// goes to the log. It is stopped when the program leaves.
    ///
    /// # Errors
    /// There can be no session.
    pub async fn run(
        self,
        op: Op,
        log: &mut (dyn Write + Send),
    ) -> Result<TaskTurnEnd, LocalizedText> {
        let built = session_builder::build(self.startup, None, SessionPurpose::Print);
        let mut config = built.map_err(|failure| failure.notice.say.clone())?;
        let schema = self.schema;
        config.persona.answer_schema =
            schema.as_ref().map(|schema| Arc::new(schema.value().clone()));
        let options = Options {
            json: false,
            approved: self.approved,
            has_user: false,
            schema,
            printer: self.startup.printer(),
            clean: str::to_owned,
            secrets: Arc::clone(&config.security.redactor),
        };
        let mut handle = session::start(config);
        let mut end = TaskTurnEnd {
            exit: Exit::Failed,
            text: String::new(),
            steps: 0,
            questions: 0,
            usage: Usage::default(),
        };
        let leaving = &self.startup.shared.leaving;
        let late = async {
            leaving.cancelled().await;
            sleep(STOP_TIMEOUT).await;
        };
        end.exit = tokio::select! {
            exit = play(self.startup, &mut handle, (&options, op), &mut end, log) => exit,
            () = sleep(self.limit) => Exit::Limit,
            () = late => Exit::INTERRUPTED,
        };
        // A step that runs too long ends with its session.
        let _ = handle.ops.try_send(Op::Session(SessionOp::Shutdown).into());
        let ending = async { while handle.events.recv().await.is_some() {} };
        if timeout(STOP_TIMEOUT, ending).await.is_err() {
            handle.task.abort();
        }
        Ok(end)
    }
}

async fn play(
    startup: &Startup,
    handle: &mut Handle,
    (options, op): (&Options, Op),
    end: &mut TaskTurnEnd,
    mut log: &mut (dyn Write + Send),
) -> Exit {
    let leaving = &startup.shared.leaving;
    let mut turn = HeadlessTurn::new(options, &op);
    let is_line = matches!(op, Op::Turn(TurnOp::Render { .. }));
    let mut line_exit = None;
    let mut is_stopped = false;
    let mut effects = vec![HeadlessEffect::Send(op)];
    loop {
        for effect in effects {
            match effect {
                HeadlessEffect::Send(op) => drop(handle.ops.send(op.into()).await),
                HeadlessEffect::Out(_) if is_line => {}
                HeadlessEffect::Out(line) => {
                    end.text.push_str(&line);
                    end.text.push('\n');
                }
                HeadlessEffect::End(exit) => return line_exit.unwrap_or(exit),
                HeadlessEffect::Tell(line) => print::write_line(&mut log, &line, options.printer),
                HeadlessEffect::Ask(_) => {}
            }
        }
        let event = tokio::select! {
            event = handle.events.recv() => event,
            () = leaving.cancelled(), if !is_stopped => {
                is_stopped = true;
                effects = turn.interrupt();
                continue;
            }
        };
        let Some(event) = event else { return Exit::Failed };
        match event.of_any_agent() {
            Event::StepStarted { .. } => end.steps += 1,
            Event::Asked(ask) if matches!(ask.question, Question::Step(_)) => end.questions += 1,
            Event::StepFinished(seen) if is_line => {
                end.text = format!("{}\n{}", seen.stdout, seen.stderr);
                // However much it wrote.
                line_exit = match seen.outcome {
                    Outcome::TimedOut => Some(Exit::Limit),
                    _ if seen.succeeded() => Some(Exit::Done),
                    _ => None,
                };
            }
            _ => {}
        }
        if let Event::TurnEnded { usage, .. } = &event {
            end.usage = end.usage.plus(*usage);
        }
        effects = turn.on_event(&event);
    }
}

/// Does the work. The first signal that ends the program lets it end by itself, as the turns do that
/// it waits for; the second drops it. The number of the signal comes with what was done.
pub async fn until_signal<T>(
    startup: &Startup,
    work: impl Future<Output = T>,
) -> (Option<T>, Option<i32>) {
    let mut received = signals::listen_ending();
    let mut first = None;
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return (Some(done), first),
            Some(number) = received.recv() => {
                if first.is_some() {
                    return (None, first);
                }
                first = Some(number);
                startup.shared.leaving.cancel();
            }
        }
    }
}
