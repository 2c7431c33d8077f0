//! Turns a typed line into an outcome: finds the row, checks its requirements, calls its function;
//! a name without a row may be a custom command or a skill. Mistakes become a sentence, never a
//! message to the model.

use super::table::{COMMANDS, OVER_A_QUESTION};
use super::{
    ArgsSpec, CommandContext, CommandOutcome, SlashCommand, UiAction, WhileBusy, custom, shorten,
};
use crate::i18n::commands as w;
use crate::protocol::Notice;

/// The row for a name or alias, with or without its slash; names take precedence over aliases.
pub fn find(name: &str) -> Option<&'static SlashCommand> {
    find_in(COMMANDS, name)
}

/// Dispatches a line that begins with `/` while a question is open. A command that does not work
/// then says so.
pub fn dispatch_over_question(call: &CommandContext<'_>, line: &str) -> CommandOutcome {
    let (name, _) = split(line);
    let row = find_in(COMMANDS, name);
    let works = row.is_some_and(|row| OVER_A_QUESTION.contains(&row.name));
    let follows = call.busy && row.is_some_and(|row| row.busy == WhileBusy::Wait);
    match works || follows || name.is_empty() {
        true => dispatch(call, line),
        false => {
            let name = row.map_or(name, |row| row.name);
            let notice = Notice::warning(w::QUESTION_FIRST.with("name", shorten(name)));
            CommandOutcome::Say(notice.with_hint(w::QUESTION_FIRST_HINT))
        }
    }
}

/// Dispatches a line that begins with `/`.
pub fn dispatch(call: &CommandContext<'_>, line: &str) -> CommandOutcome {
    dispatch_in(COMMANDS, call, line)
}

pub(super) fn find_in<'t>(table: &'t [SlashCommand], name: &str) -> Option<&'t SlashCommand> {
    let name = name.strip_prefix('/').unwrap_or(name).to_lowercase();
    table
        .iter()
        .find(|command| command.name == name)
        .or_else(|| table.iter().find(|command| command.aliases.contains(&name.as_str())))
}

pub(super) fn dispatch_in(
    table: &[SlashCommand],
    call: &CommandContext<'_>,
    line: &str,
) -> CommandOutcome {
    let (name, args) = split(line);
    if name.is_empty() {
        return CommandOutcome::Do(UiAction::Help(None));
    }
    let Some(command) = find_in(table, name) else {
        let known = table.iter().filter(|command| command.reach.covers(call.surface));
        let known: Vec<&str> = known.flat_map(SlashCommand::names).collect();
        return custom::run(call, name, args, &known);
    };
    if !command.reach.covers(call.surface) {
        return CommandOutcome::Say(Notice::error(w::OUT_OF_REACH.with("name", command.name)));
    }
    if let Some(wrong) = check(command, args) {
        return wrong;
    }
    match (command.busy, call.busy) {
        (WhileBusy::Now, _) | (_, false) => (command.run)(call, args),
        (WhileBusy::Wait, true) => CommandOutcome::Many(vec![
            CommandOutcome::Say(Notice::info(w::WAITS.with("name", command.name))),
            CommandOutcome::Do(UiAction::Later(line.to_owned())),
        ]),
        (WhileBusy::Refuse, true) => {
            let notice = Notice::error(w::BUSY.with("name", command.name));
            CommandOutcome::Say(notice.with_hint(w::BUSY_HINT))
        }
    }
}

/// The name without its slash, and what follows it, trimmed.
pub(super) fn split(line: &str) -> (&str, &str) {
    let line = line.trim();
    let line = line.strip_prefix('/').unwrap_or(line);
    match line.split_once(char::is_whitespace) {
        Some((name, args)) => (name, args.trim()),
        None => (line, ""),
    }
}

/// The problem with the arguments, reported with the usage line.
fn check(command: &SlashCommand, args: &str) -> Option<CommandOutcome> {
    let say = match command.args {
        ArgsSpec::Optional(_) | ArgsSpec::OptionalOf(..) | ArgsSpec::ChoiceThen(..) => return None,
        ArgsSpec::None if args.is_empty() => return None,
        ArgsSpec::Required(_) | ArgsSpec::RequiredOf(..) | ArgsSpec::RequiredOfThen(..)
            if !args.is_empty() =>
        {
            return None;
        }
        ArgsSpec::Choice(choices) if choices.contains(&args.to_lowercase().as_str()) => {
            return None;
        }
        ArgsSpec::None => w::NO_ARGS.with("name", command.name),
        ArgsSpec::Required(what)
        | ArgsSpec::RequiredOf(what, _)
        | ArgsSpec::RequiredOfThen(what, ..) => {
            w::MISSING.with("name", command.name).with("what", format!("<{what}>"))
        }
        ArgsSpec::Choice(choices) if args.is_empty() => {
            w::MISSING.with("name", command.name).with("what", choices.join("|"))
        }
        ArgsSpec::Choice(choices) => w::NO_CHOICE
            .with("name", command.name)
            .with("choices", choices.join(", "))
            .with("found", shorten(args)),
    };
    Some(CommandOutcome::Say(Notice::error(say).with_hint(w::USAGE.with("usage", command.usage()))))
}
