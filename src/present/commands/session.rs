//! Commands about the conversation itself.

use super::goals;
use super::{ApprovalSpan, ChatAction, CommandContext, CommandOutcome, Surface, UiAction};
use avocet_core::i18n::{Phrase, commands as w, session, side};
use avocet_core::protocol::{
    ExportFormat, ExtensionOp, JobRequest, NotePlace, Notice, Op, Report, Rewind, SavedOp,
    SessionOp, TurnOp,
};

pub(super) fn new(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Saved(SavedOp::New))
}

pub(super) fn stop(cx: &CommandContext<'_>, _: &str) -> CommandOutcome {
    if cx.busy {
        CommandOutcome::Send(Op::Turn(TurnOp::Stop))
    } else {
        CommandOutcome::Say(Notice::info(w::NOTHING_RUNS))
    }
}

/// A message queues itself: the session queues input that is submitted while it is busy. When it is
/// idle, there is nothing to wait for. Without a message, the queue is started.
pub(super) fn queue(_: &CommandContext<'_>, message: &str) -> CommandOutcome {
    CommandOutcome::Send(match message {
        "" => Op::Turn(TurnOp::RunQueue),
        message => Op::Turn(TurnOp::Submit { text: message.to_owned() }),
    })
}

pub(super) fn steer(cx: &CommandContext<'_>, message: &str) -> CommandOutcome {
    let send = CommandOutcome::Send(Op::Turn(TurnOp::Steer { text: message.to_owned() }));
    if cx.busy {
        let waits = CommandOutcome::Say(Notice::info(session::STEER_WAITS));
        CommandOutcome::Many(vec![send, waits])
    } else {
        send
    }
}

pub(super) fn approve(_: &CommandContext<'_>, span: &str) -> CommandOutcome {
    match ApprovalSpan::parse(span) {
        Some(span) => CommandOutcome::Do(UiAction::Chat(ChatAction::Approve(span))),
        None => {
            let choices = ApprovalSpan::NAMES.join(", ");
            let say = w::NO_CHOICE.with("name", "approve").with("choices", choices);
            CommandOutcome::Say(Notice::error(say.with("found", super::shorten(span))))
        }
    }
}

/// In a chat, rejects the open question; the text is for the model. In the terminal, where the
/// question has keys of its own, it forbids what a rule covers, like `/forbid`.
pub(super) fn deny(cx: &CommandContext<'_>, text: &str) -> CommandOutcome {
    match cx.surface {
        Surface::Local | Surface::Plain => super::configuration::forbid(cx, text),
        Surface::Gateway { .. } => {
            let reason = (!text.is_empty()).then(|| text.to_owned());
            CommandOutcome::Do(UiAction::Chat(ChatAction::Reject(reason)))
        }
    }
}

/// What runs now; `stop` ends it.
pub(super) fn background(cx: &CommandContext<'_>, action: &str) -> CommandOutcome {
    match action.to_lowercase().as_str() {
        "" | "list" => {
            CommandOutcome::Send(Op::Session(SessionOp::Report { report: Report::Running }))
        }
        "stop" => stop(cx, ""),
        _ => {
            let say = w::NO_CHOICE.with("name", "background").with("choices", "list, stop");
            CommandOutcome::Say(Notice::error(say.with("found", super::shorten(action))))
        }
    }
}

/// A number, and a page.
fn number_and_page(words: &str) -> Option<(u64, Option<usize>)> {
    let mut words = words.split_whitespace();
    let number = words.next().unwrap_or_default();
    let number = number.strip_prefix("cmd_").unwrap_or(number).parse().ok()?;
    let page = words.next().map(str::parse).transpose().ok()?;
    Some((number, page))
}

pub(super) fn jobs(_: &CommandContext<'_>, words: &str) -> CommandOutcome {
    let (verb, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let job = match verb {
        "" => Some(JobRequest::List),
        "stop" => number_and_page(rest).map(|(id, _)| JobRequest::Stop { id }),
        "keep" => number_and_page(rest).map(|(id, _)| JobRequest::Keep { id }),
        _ => number_and_page(words).map(|(id, page)| JobRequest::Show { id, page }),
    };
    job_outcome(job, words, w::JOBS_USAGE)
}

fn job_outcome(job: Option<JobRequest>, words: &str, phrase: Phrase) -> CommandOutcome {
    match job {
        Some(job) => CommandOutcome::Send(Op::Session(SessionOp::Job { job })),
        None => {
            let say = phrase.with("found", super::shorten(words));
            CommandOutcome::Say(Notice::error(say))
        }
    }
}

pub(super) fn memory(_: &CommandContext<'_>, words: &str) -> CommandOutcome {
    if words.is_empty() {
        return CommandOutcome::Send(Op::Extension(ExtensionOp::ShowMemory));
    }
    let note = words.strip_prefix("add ").and_then(|rest| {
        let (place, text) = rest.trim().split_once(char::is_whitespace)?;
        Some((NotePlace::parse(place)?, text.trim().to_owned()))
    });
    match note {
        Some((place, text)) => {
            CommandOutcome::Send(Op::Extension(ExtensionOp::AddNote { place, text }))
        }
        None => CommandOutcome::Say(Notice::error(w::MEMORY_USAGE)),
    }
}

pub(super) fn output(_: &CommandContext<'_>, words: &str) -> CommandOutcome {
    let job = number_and_page(words).map(|(step, page)| JobRequest::Output { step, page });
    job_outcome(job, words, w::NO_JOB_NUMBER)
}

pub(super) fn retry(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Turn(TurnOp::Retry))
}

pub(super) fn compress(_: &CommandContext<'_>, focus: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Turn(TurnOp::Compress {
        focus: (!focus.is_empty()).then(|| focus.to_owned()),
    }))
}

pub(super) fn recall(_: &CommandContext<'_>, id: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Turn(TurnOp::Recall { id: id.to_owned() }))
}

pub(super) fn goal(_: &CommandContext<'_>, words: &str) -> CommandOutcome {
    match goals::request(words) {
        Ok(goal) => CommandOutcome::Send(Op::Turn(TurnOp::Goal { goal })),
        Err(say) => CommandOutcome::Say(Notice::error(say)),
    }
}

pub(super) fn ask_aside(_: &CommandContext<'_>, question: &str) -> CommandOutcome {
    let send = Op::Turn(TurnOp::AskAside { question: question.to_owned() });
    let waits = CommandOutcome::Say(Notice::info(side::ASKED));
    CommandOutcome::Many(vec![CommandOutcome::Send(send), waits])
}

/// The request for a first AGENTS.md.
const INIT: &str = include_str!("../../../assets/prompts/init.md");

pub(super) fn init(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Turn(TurnOp::Submit { text: INIT.trim_end().to_owned() }))
}

/// The request for a review; what is to be reviewed follows it.
pub const REVIEW: &str = include_str!("../../../assets/prompts/review.md");

/// Without a range, what is not committed.
pub(super) fn review(_: &CommandContext<'_>, range: &str) -> CommandOutcome {
    let what = match range {
        "" => "Review the uncommitted changes: `git status --short`, `git diff HEAD`, and the \
               untracked files, which a diff does not show."
            .to_owned(),
        range => format!(
            "Review `{range}`: if it names commits, `git log --oneline` and \
                          `git diff` of them; if it names files, those files."
        ),
    };
    CommandOutcome::Send(Op::Turn(TurnOp::Submit {
        text: format!("{what}\n\n{}", REVIEW.trim_end()),
    }))
}

pub(super) fn diff(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Session(SessionOp::Report { report: Report::Changes }))
}

pub(super) fn redo(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Turn(TurnOp::Redo))
}

pub(super) fn undo(_: &CommandContext<'_>, number: &str) -> CommandOutcome {
    match number {
        "" => CommandOutcome::Send(Op::Turn(TurnOp::Undo { turns: 1 })),
        number => match number.parse() {
            Ok(turns) if turns > 0 => CommandOutcome::Send(Op::Turn(TurnOp::Undo { turns })),
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
    CommandOutcome::Send(Op::Saved(SavedOp::Export { format, path }))
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
        session => CommandOutcome::Send(Op::Saved(SavedOp::Resume { session: session.to_owned() })),
    }
}

pub(super) fn sessions(_: &CommandContext<'_>, words: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Saved(SavedOp::SearchSessions { words: words.to_owned() }))
}

pub(super) fn fork(_: &CommandContext<'_>, name: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Saved(SavedOp::Fork {
        name: (!name.is_empty()).then(|| name.to_owned()),
    }))
}

pub(super) fn rename(_: &CommandContext<'_>, name: &str) -> CommandOutcome {
    CommandOutcome::Send(Op::Saved(SavedOp::Rename { name: name.to_owned() }))
}

/// Goes back this many turns; without a number, the user chooses. If the argument does not say what
/// to take back, the user is asked.
pub(super) fn rewind(cx: &CommandContext<'_>, words: &str) -> CommandOutcome {
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
    let number = back.parse::<usize>().ok().and_then(|back| back.checked_sub(1));
    match number.and_then(|number| cx.facts.counted_turns().nth(number)) {
        Some(turn) => CommandOutcome::Send(Op::Saved(SavedOp::Rewind { turn, what })),
        None => {
            let turns = cx.facts.counted_turns().count();
            let say = w::NO_TURN.with("found", super::shorten(back)).with("turns", turns);
            CommandOutcome::Say(Notice::error(say))
        }
    }
}

pub(super) fn exit(_: &CommandContext<'_>, _: &str) -> CommandOutcome {
    CommandOutcome::Do(UiAction::Quit)
}
