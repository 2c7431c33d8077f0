//! Runs turns without a screen: sends each message, follows the events, writes the answer to one
//! stream and everything else to the other.
//!
//! `headless` decides what each event means; this file writes and waits.

use std::io::{self, BufRead, Read, Write};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio_util::sync::CancellationToken;

use super::Exit;
use super::headless::{HeadlessEffect, HeadlessTurn, Options, StderrLine, json_line};
use super::messages::{self, Printer};
use avocet_core::i18n::{LocalizedText, cli as w};
use avocet_core::protocol::{Event, Notice, Op, SessionOp, Submission};
use avocet_core::terminal_modes::discard_typed;

/// The channels of the session, and the signals.
#[derive(Debug)]
pub struct PrintChannels {
    pub ops: Sender<Submission>,
    pub events: Receiver<Event>,
    /// The numbers of signals that end the program. A closed channel means that none will come.
    pub signals: Receiver<i32>,
    /// How long a turn may take to end after a signal: [`GRACE_PERIOD`], or less in a test.
    pub grace: Duration,
    /// Cancelled when the program exits, so that steps get less time.
    pub leaving: CancellationToken,
}

/// Long enough to send a step all its signals when it gets little time.
pub const GRACE_PERIOD: Duration = Duration::from_millis(1400);

/// The turns of a run.
pub struct PrintTurns<'a> {
    pub first_op: Option<Op>,
    /// The messages that come later; each begins a turn once the one before it has ended.
    pub later: Receiver<Result<String, LocalizedText>>,
    /// Reads a message like the first one; says what is wrong with it.
    pub op_of: &'a (dyn Fn(&str) -> Result<Op, Exit> + Sync),
}

impl PrintTurns<'_> {
    /// One turn.
    pub fn only(op: Op) -> PrintTurns<'static> {
        let later = tokio::sync::mpsc::channel(1).1;
        PrintTurns { first_op: Some(op), later, op_of: &|_| Err(Exit::WrongUse) }
    }
}

/// Runs one turn after another. Always tells the session to shut down at the end.
pub async fn run(
    turns: PrintTurns<'_>,
    mut channels: PrintChannels,
    mut person: LineReader,
    options: &Options,
    (out, err): (impl Write, impl Write),
) -> Exit {
    let mut streams = Streams { out, err, options };
    let PrintTurns { first_op, mut later, op_of } = turns;
    let mut next = first_op;
    let mut end = TurnEnd { exit: Exit::Done, ends_run: false };
    while !end.ends_run {
        let op = match next.take() {
            Some(op) => Ok(op),
            None => match next_message(&mut later, &mut channels, &mut streams).await {
                Ok(Some(Ok(text))) => op_of(&text),
                Ok(Some(Err(why))) => {
                    streams.tell(&StderrLine::Notice(Notice::error(why)));
                    Err(Exit::WrongUse)
                }
                Ok(None) => break,
                Err(exit) => Err(exit),
            },
        };
        end = match op {
            Ok(op) => run_turn(op, &mut channels, &mut person, &mut streams).await,
            Err(exit) => TurnEnd { exit, ends_run: true },
        };
    }
    // A closed session does not need to be shut down.
    let _ = channels.ops.try_send(Op::Session(SessionOp::Shutdown).into());
    end.exit
}

/// The next message; what happens meanwhile is written. `Err`: the run ends instead.
async fn next_message<O: Write, E: Write>(
    later: &mut Receiver<Result<String, LocalizedText>>,
    channels: &mut PrintChannels,
    streams: &mut Streams<'_, O, E>,
) -> Result<Option<Result<String, LocalizedText>>, Exit> {
    loop {
        tokio::select! {
            biased;
            message = later.recv() => return Ok(message),
            event = channels.events.recv() => {
                let event = event.ok_or(Exit::Failed)?;
                let line = streams.options.json.then(|| json_line(streams.options, &event)).flatten();
                if let Some(exit) = line.and_then(|line| streams.out(&line)) {
                    return Err(exit);
                }
            }
            Some(number) = channels.signals.recv() => return Err(Exit::by_signal(number)),
        }
    }
}

/// How a turn ended.
struct TurnEnd {
    exit: Exit,
    /// No later turn follows: the session is closed, a signal came, or nothing can be written.
    ends_run: bool,
}

/// Runs the turn that an op begins.
async fn run_turn<O: Write, E: Write>(
    op: Op,
    channels: &mut PrintChannels,
    person: &mut LineReader,
    streams: &mut Streams<'_, O, E>,
) -> TurnEnd {
    let mut turn = HeadlessTurn::new(streams.options, &op);
    let mut effects = vec![HeadlessEffect::Send(op)];
    let mut is_closed = false;
    let mut grace: Option<Instant> = None;
    let mut signal: Option<i32> = None;
    let mut line: Option<Line> = None;
    // When the written question starts to accept an answer.
    let mut opens: Option<tokio::time::Instant> = None;
    let end = loop {
        if effects.iter().any(|effect| matches!(effect, HeadlessEffect::Ask(_))) {
            opens = Some(tokio::time::Instant::now() + QUIET);
        }
        if let Some(TurnEnd { exit, ends_run }) = perform(effects, &channels.ops, streams).await {
            break TurnEnd { exit, ends_run: ends_run || signal.is_some() || is_closed };
        }
        let left =
            grace.map_or(channels.grace, |end| end.saturating_duration_since(Instant::now()));
        effects = tokio::select! {
            event = channels.events.recv() => match event {
                Some(event) => turn.on_event(&event),
                None => {
                    is_closed = true;
                    turn.on_session_closed()
                }
            },
            Some(number) = channels.signals.recv() => {
                signal.get_or_insert(number);
                channels.leaving.cancel();
                grace.get_or_insert_with(|| Instant::now() + channels.grace);
                turn.interrupt()
            }
            () = wait_until(opens), if opens.is_some() => {
                opens = None;
                if discard_typed() {
                    streams.end_line();
                    turn.on_early_line()
                } else {
                    streams.write_prompt();
                    line = Some(person());
                    Vec::new()
                }
            }
            typed = next_line(&mut line), if line.is_some() => {
                line = None;
                turn.on_line(typed.as_deref())
            }
            () = tokio::time::sleep(left), if grace.is_some() => {
                vec![HeadlessEffect::End(Exit::INTERRUPTED)]
            }
        };
    };
    match signal {
        Some(number) if end.exit == Exit::INTERRUPTED => {
            TurnEnd { exit: Exit::by_signal(number), ..end }
        }
        _ => end,
    }
}

/// Without a screen, a question ignores input that was typed before it had been shown for this
/// long.
pub const QUIET: Duration = Duration::from_millis(700);

/// A line the user typed for a question; `None` at the end of the input.
type Line = BoxFuture<'static, Option<String>>;

/// Reads a line when one is requested, and only then: text typed while no question is open is for
/// the next program that reads the terminal.
pub type LineReader = Box<dyn FnMut() -> Line + Send>;

/// The user at the terminal.
pub fn terminal_user() -> LineReader {
    Box::new(|| {
        let read = || {
            let mut line = Vec::new();
            let read = io::stdin().lock().take(MAX_LENGTH).read_until(b'\n', &mut line);
            matches!(read, Ok(1..)).then(|| String::from_utf8_lossy(&line).into_owned())
        };
        tokio::task::spawn_blocking(read).map(|read| read.ok().flatten()).boxed()
    })
}

/// No user at the terminal.
pub fn no_user() -> LineReader {
    Box::new(|| std::future::ready(None).boxed())
}

/// The maximum length of a typed answer, in bytes.
const MAX_LENGTH: u64 = 4096;

async fn wait_until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

async fn next_line(line: &mut Option<Line>) -> Option<String> {
    match line {
        Some(line) => line.await,
        None => std::future::pending().await,
    }
}

async fn perform<O: Write, E: Write>(
    effects: Vec<HeadlessEffect>,
    sender: &Sender<Submission>,
    streams: &mut Streams<'_, O, E>,
) -> Option<TurnEnd> {
    for effect in effects {
        match effect {
            HeadlessEffect::Out(line) => {
                if let Some(exit) = streams.out(&line) {
                    return Some(TurnEnd { exit, ends_run: true });
                }
            }
            HeadlessEffect::Tell(said) => streams.tell(&said),
            HeadlessEffect::Ask(question) => streams.ask(&question),
            // A closed session closes its events too, which is noticed there.
            HeadlessEffect::Send(op) => drop(sender.send(op.into()).await),
            HeadlessEffect::End(exit) => return Some(TurnEnd { exit, ends_run: false }),
        }
    }
    None
}

struct Streams<'a, O, E> {
    out: O,
    err: E,
    options: &'a Options,
}

impl<O: Write, E: Write> Streams<'_, O, E> {
    /// Writes a line of the answer. A reader that closed the pipe is not an error; any other error
    /// means that the answer is lost.
    fn out(&mut self, line: &str) -> Option<Exit> {
        let line = if self.options.json { line.to_owned() } else { (self.options.clean)(line) };
        let end = if line.ends_with('\n') { "" } else { "\n" };
        let written = write!(self.out, "{line}{end}").and_then(|()| self.out.flush());
        match written {
            Ok(()) => None,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Some(Exit::Done),
            Err(error) => {
                let why = avocet_config::diagnostic::io_reason(&error);
                self.tell(&StderrLine::Notice(Notice::error(w::OUT_LOST.with("why", why))));
                Some(Exit::Failed)
            }
        }
    }

    /// Asks on an unfinished line, which the answer ends. Input typed before the question, or
    /// before its prompt, does not answer it.
    fn ask(&mut self, localized_text: &LocalizedText) {
        discard_typed();
        let printer = self.options.printer;
        let text = (printer.clean)(&localized_text.text(printer.lang));
        let _ = write!(self.err, "{text}").and_then(|()| self.err.flush());
    }

    /// The prompt for an answer.
    fn write_prompt(&mut self) {
        let _ = write!(self.err, "> ").and_then(|()| self.err.flush());
    }

    /// Ends the line of a question that was not answered with Enter.
    fn end_line(&mut self) {
        let _ = writeln!(self.err);
    }

    /// Reports progress.
    fn tell(&mut self, line: &StderrLine) {
        write_line(&mut self.err, line, self.options.printer);
    }
}

/// Writes what is for standard error. That it is closed is not an error.
pub fn write_line(out: &mut impl Write, line: &StderrLine, printer: Printer) {
    let _ = match line {
        StderrLine::Text(text) => writeln!(out, "{}", (printer.clean)(text)),
        StderrLine::Line(say) | StderrLine::Question(say) => {
            writeln!(out, "{}", (printer.clean)(&say.text(printer.lang)))
        }
        StderrLine::Notice(notice) => {
            messages::notice(out, notice, printer);
            Ok(())
        }
    };
}

#[cfg(test)]
mod tests;
