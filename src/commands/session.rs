//! Commands about the conversation itself.

use super::{CommandContext, CommandOutcome, UiAction};
use crate::i18n::commands as w;
use crate::protocol::{ExportFormat, Notice, Op, Report, Rewind};

pub(super) fn new(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::New)
}

pub(super) fn stop(call: &CommandContext<'_>, _: &str) -> CommandOutcome {
    match call.busy {
        true => CommandOutcome::Send(Op::Stop),
        false => CommandOutcome::Say(Notice::info(w::NOTHING_RUNS)),
    }
}

/// A message queues itself: the session queues input that is submitted while it is busy. When it is
/// idle, there is nothing to wait for. Without a message, the queue is started.
pub(super) fn queue(_: &CommandContext<'_>, message: &str) -> CommandOutcome {
    CommandOutcome::Send(match message {
        "" => Op::RunQueue,
        message => Op::Submit { text: message.to_owned() },
    })
}

pub(super) fn steer(_: &CommandContext<'_>, message: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Steer { text: message.to_owned() })
}

pub(super) fn retry(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Retry)
}

pub(super) fn compress(_: &CommandContext<'_>, focus: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Compress { focus: (!focus.is_empty()).then(|| focus.to_owned()) })
}

pub(super) fn recall(_: &CommandContext<'_>, id: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Recall { id: id.to_owned() })
}

/// The request for a first AGENTS.md.
const INIT: &str = include_str!("../../assets/prompts/init.md");

pub(super) fn init(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Submit { text: INIT.trim_end().to_owned() })
}

/// A shell line like any other: judged, shown, and kept from the model.
const DIFF: &str = "git diff --stat --patch";

pub(super) fn diff(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    // First the changes by steps of this session, also where git does not look; then git's output.
    CommandOutcome::Many(vec![
        CommandOutcome::Send(Op::Report { report: Report::Changes }),
        CommandOutcome::Send(Op::Shell { line: DIFF.to_owned(), keep: false }),
    ])
}

pub(super) fn undo(_: &CommandContext<'_>, number: &str) -> CommandOutcome {
    match number {
        "" => CommandOutcome::Send(Op::Undo { turns: 1 }),
        number => match number.parse() {
            Ok(turns) if turns > 0 => CommandOutcome::Send(Op::Undo { turns }),
            _ => CommandOutcome::Say(Notice::error(
                w::NO_TURNS.with("found", super::shorten(number)),
            )),
        },
    }
}

pub(super) fn copy(_: &CommandContext<'_>, number: &str) -> CommandOutcome {
    match number {
        "" => CommandOutcome::Do(UiAction::Copy(1)),
        number => match number.parse() {
            Ok(number) if number > 0 => CommandOutcome::Do(UiAction::Copy(number)),
            _ => CommandOutcome::Say(Notice::error(
                w::NO_NUMBER.with("found", super::shorten(number)),
            )),
        },
    }
}

pub(super) fn search(_: &CommandContext<'_>, words: &str) -> CommandOutcome {
    CommandOutcome::Do(UiAction::Search(words.to_owned()))
}

pub(super) fn raw(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Do(UiAction::Dump)
}

/// The format is the first word if it is a format, else the file's ending, else Markdown.
pub(super) fn export(_: &CommandContext<'_>, args: &str) -> CommandOutcome {
    let (first, rest) = args.split_once(char::is_whitespace).unwrap_or((args, ""));
    let (format, file) = match format(first) {
        Some(format) => (format, rest.trim()),
        None => {
            let ending = args.rsplit_once('.').and_then(|(_, ending)| self::format(ending));
            (ending.unwrap_or(ExportFormat::Md), args)
        }
    };
    let path = (!file.is_empty()).then(|| file.to_owned());
    CommandOutcome::Send(Op::Export { format, path })
}

fn format(name: &str) -> Option<ExportFormat> {
    match name.to_lowercase().as_str() {
        "md" => Some(ExportFormat::Md),
        "json" => Some(ExportFormat::Json),
        "html" => Some(ExportFormat::Html),
        _ => None,
    }
}

pub(super) fn resume(_: &CommandContext<'_>, session: &str) -> CommandOutcome {
    match session {
        "" => CommandOutcome::Do(UiAction::Sessions),
        session => CommandOutcome::Send(Op::Resume { session: session.to_owned() }),
    }
}

pub(super) fn sessions(_: &CommandContext<'_>, words: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::SearchSessions { words: words.to_owned() })
}

pub(super) fn fork(_: &CommandContext<'_>, name: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Fork { name: (!name.is_empty()).then(|| name.to_owned()) })
}

pub(super) fn rename(_: &CommandContext<'_>, name: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Rename { name: name.to_owned() })
}

/// Goes back this many turns; without a number, the user chooses. If the argument does not say what
/// to take back, the user is asked.
pub(super) fn rewind(call: &CommandContext<'_>, words: &str) -> CommandOutcome {
    if words.is_empty() {
        return CommandOutcome::Do(UiAction::Rewind);
    }
    let (back, what) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let what = match what.trim() {
        "" => None,
        name => match Rewind::from_name(name) {
            Some(what) => Some(what),
            None => {
                let say = w::NO_REWIND.with("found", super::shorten(name));
                return CommandOutcome::Say(Notice::error(say));
            }
        },
    };
    match back.parse::<u64>() {
        Ok(back) if (1..=call.facts.turns).contains(&back) => {
            let turn = call.facts.turns + 1 - back;
            CommandOutcome::Send(Op::Rewind { turn, what })
        }
        _ => {
            let say =
                w::NO_TURN.with("found", super::shorten(back)).with("turns", call.facts.turns);
            CommandOutcome::Say(Notice::error(say))
        }
    }
}

pub(super) fn exit(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Do(UiAction::Quit)
}
