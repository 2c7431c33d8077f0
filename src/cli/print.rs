//! Runs one turn without a screen: sends the message, follows the events, writes the
//! answer to one stream and everything else to the other.
//!
//! What each event means is decided in `headless`; this file writes
//! and waits.

use std::io::{self, BufRead, Read, Write};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio_util::sync::CancellationToken;

use super::args::Approved;
use super::headless::{Effect, Headless, Said};
use super::report::{self, Voice};
use super::schema::Schema;
use super::{Clean, Exit};
use crate::protocol::{Event, Notice, Op};
use crate::terminal_modes::forget_typed;
use crate::words::{Say, cli as w};

#[derive(Debug)]
pub struct Options {
    /// Events as JSON instead of the answer as text.
    pub json: bool,
    pub approved: Approved,
    /// The user sits at a terminal and is asked where no `-y` answers.
    pub asks: bool,
    pub schema: Option<Schema>,
    /// How standard error is spoken to.
    pub voice: Voice,
    /// How the answer is made safe for standard output; a pipe gets it as it is.
    pub clean: Clean,
}

/// The ends of the session, and the signals.
#[derive(Debug)]
pub struct Wires {
    pub ops: Sender<Op>,
    pub events: Receiver<Event>,
    /// The numbers of signals that end the program. A closed one means that none comes.
    pub signals: Receiver<i32>,
    /// How long a turn may take to end after a signal: [`GRACE`], unless a test is in a hurry.
    pub grace: Duration,
    /// Cancelled when the program is being left, so that steps are given less time.
    pub leaving: CancellationToken,
}

/// Long enough for all signals of a step that is given little time.
pub const GRACE: Duration = Duration::from_millis(1400);

/// Runs the turn that `first` begins. The session is told to shut down in the end, whatever the end was.
pub async fn run(
    first: Op,
    mut wires: Wires,
    mut person: Person,
    options: &Options,
    streams: (impl Write, impl Write),
) -> Exit {
    let (out, err) = streams;
    let mut turn = Headless::new(options);
    let mut streams = Streams { out, err, options };
    let mut effects = vec![Effect::Send(first)];
    let mut grace: Option<Instant> = None;
    let mut signal: Option<i32> = None;
    let mut line: Option<Line> = None;
    // When the question that was written takes an answer.
    let mut opens: Option<tokio::time::Instant> = None;
    let exit = loop {
        if effects.iter().any(|effect| matches!(effect, Effect::Ask(_))) {
            opens = Some(tokio::time::Instant::now() + QUIET);
        }
        if let Some(exit) = perform(effects, &wires.ops, &mut streams).await {
            break exit;
        }
        let left = grace.map_or(wires.grace, |end| end.saturating_duration_since(Instant::now()));
        effects = tokio::select! {
            event = wires.events.recv() => match event {
                Some(event) => turn.next(&event),
                None => turn.lost(),
            },
            Some(number) = wires.signals.recv() => {
                signal.get_or_insert(number);
                wires.leaving.cancel();
                grace.get_or_insert_with(|| Instant::now() + wires.grace);
                turn.interrupt()
            }
            () = opening(opens), if opens.is_some() => {
                opens = None;
                if forget_typed() {
                    streams.end_line();
                    turn.typed_too_soon()
                } else {
                    streams.sign();
                    line = Some(person());
                    Vec::new()
                }
            }
            typed = typed(&mut line), if line.is_some() => {
                line = None;
                turn.typed(typed.as_deref())
            }
            () = tokio::time::sleep(left), if grace.is_some() => {
                vec![Effect::End(Exit::INTERRUPTED)]
            }
        };
    };
    // A session that is gone already has nothing to shut down.
    let _ = wires.ops.try_send(Op::Shutdown);
    match signal {
        Some(number) if exit == Exit::INTERRUPTED => Exit::by_signal(number),
        _ => exit,
    }
}

/// A question without a screen takes nothing that was typed before it had been there for
/// so long.
pub const QUIET: Duration = Duration::from_millis(700);

/// What the user types for one question; `None`: the input is at its end.
type Line = BoxFuture<'static, Option<String>>;

/// Reads a line whenever one is wanted, and nothing otherwise: what is typed while no
/// question is open is for whoever has the terminal next.
pub type Person = Box<dyn FnMut() -> Line + Send>;

/// The person at the terminal.
pub fn person() -> Person {
    Box::new(|| {
        let read = || {
            let mut line = Vec::new();
            let read = io::stdin().lock().take(LONGEST).read_until(b'\n', &mut line);
            matches!(read, Ok(1..)).then(|| String::from_utf8_lossy(&line).into_owned())
        };
        tokio::task::spawn_blocking(read).map(|read| read.ok().flatten()).boxed()
    })
}

/// Nobody is there.
pub fn nobody() -> Person {
    Box::new(|| std::future::ready(None).boxed())
}

/// The most of a typed answer that is read, in bytes.
const LONGEST: u64 = 4096;

async fn opening(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

async fn typed(line: &mut Option<Line>) -> Option<String> {
    match line {
        Some(line) => line.await,
        None => std::future::pending().await,
    }
}

async fn perform<O: Write, E: Write>(
    effects: Vec<Effect>,
    ops: &Sender<Op>,
    streams: &mut Streams<'_, O, E>,
) -> Option<Exit> {
    for effect in effects {
        match effect {
            Effect::Out(line) => {
                if let Some(exit) = streams.out(&line) {
                    return Some(exit);
                }
            }
            Effect::Tell(said) => streams.tell(&said),
            Effect::Ask(question) => streams.ask(&question),
            // A session that is gone closes its events too, which is where it is seen.
            Effect::Send(op) => drop(ops.send(op).await),
            Effect::End(exit) => return Some(exit),
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
    /// Writes a line of the answer. A reader that left has seen enough; any other fault
    /// means that the answer is lost.
    fn out(&mut self, line: &str) -> Option<Exit> {
        let line = match self.options.json {
            true => line.to_owned(),
            false => (self.options.clean)(line),
        };
        let end = if line.ends_with('\n') { "" } else { "\n" };
        let written = write!(self.out, "{line}{end}").and_then(|()| self.out.flush());
        match written {
            Ok(()) => None,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Some(Exit::Done),
            Err(error) => {
                let why = crate::config::problem::io_reason(&error);
                self.tell(&Said::Notice(Notice::error(w::OUT_LOST.with("why", why))));
                Some(Exit::Failed)
            }
        }
    }

    /// Asks on an unfinished line, which the answer ends. What was typed before it answers
    /// nothing, nor does what is typed before its sign.
    fn ask(&mut self, question: &Say) {
        forget_typed();
        let voice = self.options.voice;
        let text = (voice.clean)(&question.text(voice.lang));
        let _ = write!(self.err, "{text}").and_then(|()| self.err.flush());
    }

    /// The sign that an answer can be typed.
    fn sign(&mut self) {
        let _ = write!(self.err, "> ").and_then(|()| self.err.flush());
    }

    /// Ends the line of a question that no Enter has ended.
    fn end_line(&mut self) {
        let _ = writeln!(self.err);
    }

    /// Tells what happens. If standard error is closed, nobody wanted to know.
    fn tell(&mut self, said: &Said) {
        let voice = self.options.voice;
        let _ = match said {
            Said::Text(text) => writeln!(self.err, "{}", (voice.clean)(text)),
            Said::Line(say) | Said::Asked(say) => {
                writeln!(self.err, "{}", (voice.clean)(&say.text(voice.lang)))
            }
            Said::Notice(notice) => {
                report::notice(&mut self.err, notice, voice);
                Ok(())
            }
        };
    }
}

#[cfg(test)]
mod tests;
