//! Commands about the conversation itself.

use super::{Act, Call, Outcome};
use crate::protocol::{ExportFormat, Notice, Op, Report, Rewind};
use crate::words::commands as w;

pub(super) fn new(_: &Call<'_>, _: &str) -> Outcome {
    Outcome::Send(Op::New)
}

pub(super) fn stop(call: &Call<'_>, _: &str) -> Outcome {
    match call.busy {
        true => Outcome::Send(Op::Stop),
        false => Outcome::Say(Notice::info(w::NOTHING_RUNS)),
    }
}

/// A message queues itself: the session queues input that is submitted while it is busy. When it is
/// idle, there is nothing to wait for. Without a message, the queue is started.
pub(super) fn queue(_: &Call<'_>, message: &str) -> Outcome {
    Outcome::Send(match message {
        "" => Op::RunQueue,
        message => Op::Submit { text: message.to_owned() },
    })
}

pub(super) fn steer(_: &Call<'_>, message: &str) -> Outcome {
    Outcome::Send(Op::Steer { text: message.to_owned() })
}

pub(super) fn retry(_: &Call<'_>, _: &str) -> Outcome {
    Outcome::Send(Op::Retry)
}

pub(super) fn compress(_: &Call<'_>, focus: &str) -> Outcome {
    Outcome::Send(Op::Compress { focus: (!focus.is_empty()).then(|| focus.to_owned()) })
}

pub(super) fn recall(_: &Call<'_>, id: &str) -> Outcome {
    Outcome::Send(Op::Recall { id: id.to_owned() })
}

/// The request for a first AGENTS.md.
const INIT: &str = include_str!("../../assets/prompts/init.md");

pub(super) fn init(_: &Call<'_>, _: &str) -> Outcome {
    Outcome::Send(Op::Submit { text: INIT.trim_end().to_owned() })
}

/// A shell line like any other: judged, shown, and kept from the model.
const DIFF: &str = "git diff --stat --patch";

pub(super) fn diff(_: &Call<'_>, _: &str) -> Outcome {
    // First the changes by steps of this session, also where git does not look; then git's output.
    Outcome::Many(vec![
        Outcome::Send(Op::Report { report: Report::Changes }),
        Outcome::Send(Op::Shell { line: DIFF.to_owned(), keep: false }),
    ])
}

pub(super) fn undo(_: &Call<'_>, number: &str) -> Outcome {
    match number {
        "" => Outcome::Send(Op::Undo { turns: 1 }),
        number => match number.parse() {
            Ok(turns) if turns > 0 => Outcome::Send(Op::Undo { turns }),
            _ => Outcome::Say(Notice::error(w::NO_TURNS.with("found", super::short(number)))),
        },
    }
}

pub(super) fn copy(_: &Call<'_>, number: &str) -> Outcome {
    match number {
        "" => Outcome::Do(Act::Copy(1)),
        number => match number.parse() {
            Ok(number) if number > 0 => Outcome::Do(Act::Copy(number)),
            _ => Outcome::Say(Notice::error(w::NO_NUMBER.with("found", super::short(number)))),
        },
    }
}

pub(super) fn search(_: &Call<'_>, words: &str) -> Outcome {
    Outcome::Do(Act::Search(words.to_owned()))
}

pub(super) fn raw(_: &Call<'_>, _: &str) -> Outcome {
    Outcome::Do(Act::Dump)
}

/// The format is the first word if it is a format, else the file's ending, else Markdown.
pub(super) fn export(_: &Call<'_>, args: &str) -> Outcome {
    let (first, rest) = args.split_once(char::is_whitespace).unwrap_or((args, ""));
    let (format, file) = match format(first) {
        Some(format) => (format, rest.trim()),
        None => {
            let ending = args.rsplit_once('.').and_then(|(_, ending)| self::format(ending));
            (ending.unwrap_or(ExportFormat::Md), args)
        }
    };
    let path = (!file.is_empty()).then(|| file.to_owned());
    Outcome::Send(Op::Export { format, path })
}

fn format(name: &str) -> Option<ExportFormat> {
    match name.to_lowercase().as_str() {
        "md" => Some(ExportFormat::Md),
        "json" => Some(ExportFormat::Json),
        "html" => Some(ExportFormat::Html),
        _ => None,
    }
}

pub(super) fn resume(_: &Call<'_>, session: &str) -> Outcome {
    match session {
        "" => Outcome::Do(Act::Sessions),
        session => Outcome::Send(Op::Resume { session: session.to_owned() }),
    }
}

pub(super) fn sessions(_: &Call<'_>, words: &str) -> Outcome {
    Outcome::Send(Op::Find { words: words.to_owned() })
}

pub(super) fn fork(_: &Call<'_>, name: &str) -> Outcome {
    Outcome::Send(Op::Fork { name: (!name.is_empty()).then(|| name.to_owned()) })
}

pub(super) fn rename(_: &Call<'_>, name: &str) -> Outcome {
    Outcome::Send(Op::Rename { name: name.to_owned() })
}

/// Goes back this many turns; without a number, the user chooses. If the argument does not say what
/// to take back, the user is asked.
pub(super) fn rewind(call: &Call<'_>, words: &str) -> Outcome {
    if words.is_empty() {
        return Outcome::Do(Act::Rewind);
    }
    let (back, what) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let what = match what.trim() {
        "" => None,
        name => match Rewind::named(name) {
            Some(what) => Some(what),
            None => {
                let say = w::NO_REWIND.with("found", super::short(name));
                return Outcome::Say(Notice::error(say));
            }
        },
    };
    match back.parse::<u64>() {
        Ok(back) if (1..=call.facts.turns).contains(&back) => {
            let turn = call.facts.turns + 1 - back;
            Outcome::Send(Op::Rewind { turn, what })
        }
        _ => {
            let say = w::NO_TURN.with("found", super::short(back)).with("turns", call.facts.turns);
            Outcome::Say(Notice::error(say))
        }
    }
}

pub(super) fn exit(_: &Call<'_>, _: &str) -> Outcome {
    Outcome::Do(Act::Quit)
}
