//! Writes the lines of a linear conversation, and waits: for the session, for a typed
//! line, for a signal.

use std::io::{self, BufRead, Read, Write};

use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::{Effect, Linear};
use crate::cli::print::Wires;
use crate::cli::report::{self, Voice};
use crate::cli::{Exit, page};
use crate::protocol::Op;
use crate::signals;

/// A typed line longer than this is cut: no message a model could read.
const LONGEST: u64 = 4 << 20;

/// Runs until the person leaves or the session ends.
pub async fn run(
    mut linear: Linear,
    first: Option<String>,
    mut wires: Wires,
    mut lines: Receiver<String>,
    voice: Voice,
    mut out: impl Write,
) -> Exit {
    let mut effects: Vec<_> =
        first.into_iter().map(|text| Effect::Send(Op::Submit { text })).collect();
    let mut open = true;
    loop {
        for effect in effects {
            match effect {
                Effect::Send(op) => drop(wires.ops.send(op).await),
                Effect::End(exit) => {
                    let _ = wires.ops.try_send(Op::Shutdown);
                    return exit;
                }
                shown => {
                    if write(&mut out, &shown, voice).is_err() {
                        let _ = wires.ops.try_send(Op::Shutdown);
                        return Exit::INTERRUPTED;
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
                Some(line) => linear.typed(&line),
                None => {
                    open = false;
                    linear.closed()
                }
            },
            event = wires.events.recv() => match event {
                Some(event) => linear.heard(event),
                None => vec![Effect::End(Exit::Failed)],
            },
        };
        if !open && linear.is_idle() {
            effects.push(Effect::End(Exit::Done));
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
pub fn lines() -> Receiver<String> {
    let (sender, receiver) = channel(16);
    let read = move || read(io::stdin().lock(), &sender);
    // Without a thread the input is at its end.
    let _ = std::thread::Builder::new().name("lines".into()).spawn(read);
    receiver
}

fn read(mut from: impl BufRead, to: &Sender<String>) {
    loop {
        let mut bytes = Vec::new();
        let read = (&mut from).take(LONGEST).read_until(b'\n', &mut bytes);
        if !matches!(read, Ok(1..)) {
            return;
        }
        let line = String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned();
        if to.blocking_send(line).is_err() {
            return;
        }
    }
}
