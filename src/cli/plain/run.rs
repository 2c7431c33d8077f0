//! Writes the lines of a linear conversation, and waits for the session, a typed line or a signal.

use std::io::{self, BufRead, IsTerminal, Write};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::sleep_until;

use super::{PlainEffect, PlainSession};
use crate::cli::messages::{self, Printer};
use crate::cli::print::{PrintChannels, QUIET};
use crate::cli::{Exit, table};
use avocet_core::protocol::{Op, SessionOp, TurnOp};
use avocet_core::signals;
use avocet_core::terminal_modes;

/// The maximum length of a typed line; a longer one is cut, since no model could read it.
const MAX_LENGTH: usize = 4 << 20;
/// The maximum number of lines that wait to be read.
const CAPACITY: usize = 1_024;
/// What was handed on at the end of that time is heard within this.
const MARGIN: Duration = Duration::from_millis(50);
/// A read that takes less time than this found what had come before.
const AT_ONCE: Duration = Duration::from_millis(1);

/// A typed line, and when its first letter had come at the latest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    pub began: Instant,
}

/// Delays the prompt for an answer.
#[derive(Debug, Default)]
struct Gate {
    /// When the question was written; `None` once the prompt is shown.
    question_written: Option<Instant>,
    /// Lines that began earlier are not answers.
    answers_from: Option<Instant>,
}

impl Gate {
    fn close(&mut self) {
        let now = Instant::now();
        (self.question_written, self.answers_from) = (Some(now), Some(now + QUIET + MARGIN));
        terminal_modes::pass_on_typed();
    }

    /// Waits until the prompt is due.
    async fn wait_until_open(&self) {
        match (self.question_written, self.answers_from) {
            (Some(written), Some(from)) => {
                sleep_until((written + QUIET).into()).await;
                terminal_modes::pass_on_typed();
                sleep_until(from.into()).await;
            }
            _ => std::future::pending().await,
        }
    }

    fn accepts(&self, line: &Line) -> bool {
        self.answers_from.is_none_or(|from| line.began >= from)
    }
}

/// An event of standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlainInput {
    Line(Line),
    /// The input ended. At a terminal, where Ctrl-D does that, more may follow.
    End,
}

/// How the user left a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainEnd {
    pub exit: Exit,
    /// The user knows that something was not saved, and where it is instead.
    pub knows_unsaved: bool,
}

/// Runs until the user leaves or the session ends.
pub async fn run(
    mut session: PlainSession,
    first: Option<String>,
    mut channels: PrintChannels,
    mut lines: Receiver<PlainInput>,
    printer: Printer,
    out: impl Write,
) -> PlainEnd {
    let mut output = PlainOutput { out, printer, is_prompting: false };
    let submit = |text| PlainEffect::Send(Op::Turn(TurnOp::Submit { text }));
    let mut effects: Vec<_> = first.into_iter().map(submit).collect();
    // Whether more can be typed, and whether the input ended since the last line.
    let (mut open, mut ended) = (true, false);
    let mut gate = Gate::default();
    loop {
        for effect in effects {
            match effect {
                PlainEffect::Send(op) => drop(channels.ops.send(op.into()).await),
                PlainEffect::End(exit) => {
                    let _ = channels.ops.try_send(Op::Session(SessionOp::Shutdown).into());
                    return PlainEnd { exit, knows_unsaved: session.knows_unsaved() };
                }
                PlainEffect::Prompt if session.is_asking() => gate.close(),
                shown => {
                    if output.write(&shown).is_err() {
                        let _ = channels.ops.try_send(Op::Session(SessionOp::Shutdown).into());
                        return PlainEnd { exit: Exit::INTERRUPTED, knows_unsaved: false };
                    }
                }
            }
        }
        if !session.is_asking() {
            gate = Gate::default();
        }
        // Lines typed before a question are handled before it, and do not answer it.
        effects = tokio::select! {
            biased;
            Some(number) = channels.signals.recv() => match number {
                signals::INT => session.interrupt(),
                number => vec![PlainEffect::End(Exit::by_signal(number))],
            },
            line = lines.recv(), if open => match line {
                Some(PlainInput::Line(line)) => {
                    (ended, output.is_prompting) = (false, false);
                    if gate.accepts(&line) { session.on_line(&line.text) } else { session.on_early_line(&line.text) }
                }
                end => {
                    open = end.is_some();
                    ended = true;
                    session.on_end_of_input()
                }
            },
            event = channels.events.recv() => match event {
                Some(event) => session.on_event(event),
                None => vec![PlainEffect::End(Exit::Failed)],
            },
            () = gate.wait_until_open() => {
                gate.question_written = None;
                match output.write(&PlainEffect::Prompt) {
                    Ok(()) => Vec::new(),
                    Err(_) => vec![PlainEffect::End(Exit::INTERRUPTED)],
                }
            }
        };
        if ended && session.is_idle() {
            effects.extend(session.on_end_of_input());
        }
    }
}

pub(super) struct PlainOutput<W> {
    pub out: W,
    pub printer: Printer,
    /// The prompt is the beginning of a line that the user has not typed yet.
    pub is_prompting: bool,
}

impl<W: Write> PlainOutput<W> {
    pub fn write(&mut self, effect: &PlainEffect) -> io::Result<()> {
        let PlainOutput { out, printer, is_prompting } = self;
        let prompts = *effect == PlainEffect::Prompt;
        let was_prompting = std::mem::replace(is_prompting, prompts);
        if was_prompting && prompts {
            return Ok(());
        }
        if was_prompting {
            // What comes unasked begins a line of its own.
            writeln!(out)?;
        }
        match effect {
            PlainEffect::Line(line) => writeln!(out, "{line}")?,
            PlainEffect::Notice(notice) => messages::notice(out, notice, *printer),
            PlainEffect::Page(shown) => {
                writeln!(out, "{}", (printer.clean)(&shown.title.text(printer.lang)))?;
                table::write(out, &shown.rows, *printer)?;
            }
            PlainEffect::Prompt => write!(out, "> ")?,
            PlainEffect::Send(_) | PlainEffect::End(_) => {}
        }
        out.flush()
    }
}

/// Reads the lines of standard input as they are typed. The thread ends with the input or with the
/// program.
pub fn stdin_lines() -> Receiver<PlainInput> {
    let (sender, receiver) = channel(CAPACITY);
    let goes_on = io::stdin().is_terminal();
    let read = move || read_lines(io::stdin().lock(), goes_on, &sender);
    // Without a thread, the input counts as ended.
    let _ = std::thread::Builder::new().name("lines".into()).spawn(read);
    receiver
}

/// A closed terminal ends its input again and again: the second end is final.
fn read_lines(mut from: impl BufRead, goes_on: bool, sender: &Sender<PlainInput>) {
    let mut ended = false;
    // Set while there was no room: what is read then may have come long before.
    let mut late: Option<Instant> = None;
    let (mut bytes, mut first) = (Vec::new(), None);
    loop {
        let asked = Instant::now();
        let Ok(came) = from.fill_buf() else { return };
        if asked.elapsed() > AT_ONCE {
            late = None;
        }
        let began = *first.get_or_insert_with(|| late.unwrap_or_else(Instant::now));
        let end = came.iter().position(|byte| *byte == b'\n');
        let (taken, over) = (end.map_or(came.len(), |end| end + 1), came.is_empty());
        let room = MAX_LENGTH.saturating_sub(bytes.len());
        bytes.extend(came.iter().take(taken.min(room)));
        from.consume(taken);
        let typed = if bytes.is_empty() {
            if goes_on && !ended { PlainInput::End } else { return }
        } else if end.is_none() && !over && bytes.len() < MAX_LENGTH {
            continue;
        } else {
            let text = String::from_utf8_lossy(&bytes);
            let text = text.trim_end_matches(['\n', '\r']).to_owned();
            PlainInput::Line(Line { text, began })
        };
        bytes.clear();
        first = None;
        ended = typed == PlainInput::End;
        match sender.try_send(typed) {
            Ok(()) => {}
            Err(TrySendError::Full(typed)) => {
                late = late.or_else(|| Some(Instant::now()));
                if sender.blocking_send(typed).is_err() {
                    return;
                }
            }
            Err(TrySendError::Closed(_)) => return,
        }
    }
}
