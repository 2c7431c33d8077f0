//! Writes the lines of a linear conversation, and waits: for the session, for a typed
//! line, for a signal.

use std::io::{self, BufRead, IsTerminal, Read, Write};

use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::{Effect, Linear};
use crate::cli::print::Wires;
use crate::cli::report::{self, Voice};
use crate::cli::{Exit, page};
use crate::protocol::Op;
use crate::signals;

/// A typed line longer than this is cut: no message a model could read.
const LONGEST: u64 = 4 << 20;

/// What comes from standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    Line(String),
    /// The input ended. At a terminal, where Ctrl-D does that, more may come.
    End,
}

/// How a conversation was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    pub exit: Exit,
    /// The user knows that something was not saved, and where it is instead.
    pub knows_unsaved: bool,
}

/// Runs until the person leaves or the session ends.
pub async fn run(
    mut linear: Linear,
    first: Option<String>,
    mut wires: Wires,
    mut lines: Receiver<Typed>,
    voice: Voice,
    mut out: impl Write,
) -> Left {
    let mut effects: Vec<_> =
        first.into_iter().map(|text| Effect::Send(Op::Submit { text })).collect();
    // Whether more can be typed, and whether the input ended since the last line.
    let (mut open, mut ended) = (true, false);
    loop {
        for effect in effects {
            match effect {
                Effect::Send(op) => drop(wires.ops.send(op).await),
                Effect::End(exit) => {
                    let _ = wires.ops.try_send(Op::Shutdown);
                    return Left { exit, knows_unsaved: linear.knows_unsaved() };
                }
                shown => {
                    if write(&mut out, &shown, voice).is_err() {
                        let _ = wires.ops.try_send(Op::Shutdown);
                        return Left { exit: Exit::INTERRUPTED, knows_unsaved: false };
                    }
                }
            }
        }
        // What was typed before a question came is taken before it, and answers nothing.
        effects = tokio::select! {
            biased;
            Some(number) = wires.signals.recv() => match number {
                signals::INT => linear.interrupt(),
                number => vec![Effect::End(Exit::by_signal(number))],
            },
            line = lines.recv(), if open => match line {
                Some(Typed::Line(line)) => {
                    ended = false;
                    linear.typed(&line)
                }
                end => {
                    open = end.is_some();
                    ended = true;
                    linear.closed()
                }
            },
            event = wires.events.recv() => match event {
                Some(event) => linear.heard(event),
                None => vec![Effect::End(Exit::Failed)],
            },
        };
        if ended && linear.is_idle() {
            effects.extend(linear.closed());
        }
    }
}

fn write(out: &mut impl Write, effect: &Effect, voice: Voice) -> io::Result<()> {
    match effect {
        Effect::Line(line) => writeln!(out, "{line}")?,
        Effect::Notice(notice) => report::notice(out, notice, voice),
        Effect::Page(shown) => {
            writeln!(out, "{}", (voice.clean)(&shown.title.text(voice.lang)))?;
            page::write(out, &shown.rows, voice)?;
        }
        Effect::Prompt => write!(out, "> ")?,
        Effect::Send(_) | Effect::End(_) => {}
    }
    out.flush()
}

/// The lines of standard input, as they are typed. The thread ends with the input or
/// with the program.
pub fn lines() -> Receiver<Typed> {
    let (sender, receiver) = channel(16);
    let goes_on = io::stdin().is_terminal();
    let read = move || read(io::stdin().lock(), goes_on, &sender);
    // Without a thread the input is at its end.
    let _ = std::thread::Builder::new().name("lines".into()).spawn(read);
    receiver
}

/// A terminal that went away ends its input again and again: the second end is the last.
fn read(mut from: impl BufRead, goes_on: bool, to: &Sender<Typed>) {
    let mut ended = false;
    loop {
        let mut bytes = Vec::new();
        let read = (&mut from).take(LONGEST).read_until(b'\n', &mut bytes);
        let typed = match read {
            Ok(1..) => {
                let line =
                    String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned();
                Typed::Line(line)
            }
            Ok(0) if goes_on && !ended => Typed::End,
            Ok(0) | Err(_) => return,
        };
        ended = typed == Typed::End;
        if to.blocking_send(typed).is_err() {
            return;
        }
    }
}
