//! Turns a typed line into an outcome: finds the row, checks its requirements, calls its function;
//! a name without a row may be a custom command or a skill. Mistakes become a sentence, never a
//! message to the model.

use super::table::{COMMANDS, OVER_A_QUESTION};
use super::{
    Availability, CommandContext, CommandOutcome, OptionValues, SlashCommand, Surface, UiAction,
    WhileBusy, custom, shorten,
};
use avocet_core::i18n::{LocalizedText, commands as w};
use avocet_core::protocol::{
    CommandTraits, Extension, ExtensionKind, Extensions, Notice, NoticeLevel, ServerPromptCall,
};

/// The row for a name or alias, with or without its slash; names take precedence over aliases.
pub fn find(name: &str) -> Option<&'static SlashCommand> {
    find_in(COMMANDS, name)
}

/// The registry's name of the command or skill that is dispatched for a name or an alias; `None`:
/// there is none.
pub fn canonical_name<'n>(extensions: &'n Extensions, name: &str) -> Option<&'n str> {
    let built_in = find(name).map(|command| command.name);
    built_in.or_else(|| extensions.find(name).map(|entry| entry.name.as_str()))
}

/// Dispatches a line that begins with `/` while a question is open. A command that does not work
/// then says so.
pub fn dispatch_over_question(cx: &CommandContext<'_>, line: &str) -> CommandOutcome {
    let (name, _) = split(line);
    let row = find_in(COMMANDS, name);
    let works = row.is_some_and(|row| OVER_A_QUESTION.contains(&row.name));
    let follows = cx.busy && row.is_some_and(|row| row.busy == WhileBusy::Wait);
    let is_unknown = canonical_name(cx.extensions, name).is_none();
    if works || follows || is_unknown {
        dispatch(cx, line)
    } else {
        let name = row.map_or(name, |row| row.name);
        let notice = Notice::warning(w::QUESTION_FIRST.with("name", shorten(name)));
        CommandOutcome::Say(notice.with_hint(match cx.surface {
            Surface::Gateway { .. } => w::QUESTION_FIRST_IN_CHAT,
            Surface::Local | Surface::Plain => w::QUESTION_FIRST_HINT,
        }))
    }
}

/// Dispatches a line that begins with `/`.
pub fn dispatch(cx: &CommandContext<'_>, line: &str) -> CommandOutcome {
    dispatch_in(COMMANDS, cx, line)
}

pub(super) fn find_in<'t>(commands: &'t [SlashCommand], name: &str) -> Option<&'t SlashCommand> {
    let name = name.strip_prefix('/').unwrap_or(name).to_lowercase();
    commands
        .iter()
        .find(|command| command.name == name)
        .or_else(|| commands.iter().find(|command| command.aliases.contains(&name.as_str())))
}

pub(super) fn dispatch_in(
    commands: &[SlashCommand],
    cx: &CommandContext<'_>,
    line: &str,
) -> CommandOutcome {
    let (name, args) = split(line);
    if name.is_empty() {
        return CommandOutcome::Do(UiAction::Help(None));
    }
    let Some(command) = find_in(commands, name) else {
        let known = commands.iter().filter(|command| command.reach.covers(cx.surface));
        let known: Vec<&str> = known.flat_map(SlashCommand::names).collect();
        return match custom::find(cx, name, &known) {
            Ok(entry) => dispatch_custom(cx, entry, args, line),
            // Its server may not have started yet.
            Err(_) if ServerPromptCall::is_name(name) => custom::invoke(name, args),
            Err(refused) => *refused,
        };
    };
    if !command.reach.covers(cx.surface) {
        return out_of_reach(command.name, &command.reach);
    }
    let outcome = match check(command, args) {
        Some(wrong) => CommandOutcome::Say(Notice::error(wrong)),
        None => while_busy(command.busy, cx, command.name, line)
            .unwrap_or_else(|| (command.run)(cx, args)),
    };
    with_usage(command, outcome)
}

/// Dispatches a command of the user or a skill, by what its file says.
fn dispatch_custom(
    cx: &CommandContext<'_>,
    extension: &Extension,
    args: &str,
    line: &str,
) -> CommandOutcome {
    let CommandTraits { reach, busy, arguments, .. } = &extension.traits;
    if !reach.covers(cx.surface) {
        return out_of_reach(&extension.name, reach);
    }
    // A script asks for its inputs itself.
    let is_script = extension.kind == ExtensionKind::Script;
    let missing = arguments.first().filter(|it| it.is_required && args.is_empty() && !is_script);
    if let Some(first) = missing {
        let what = format!("<{}>", first.name);
        let say = w::MISSING.with("name", extension.name.as_str()).with("what", what);
        let usage = w::USAGE.with("usage", custom::usage(extension));
        return CommandOutcome::Say(Notice::error(say).with_hint(usage));
    }
    while_busy(*busy, cx, &extension.name, line).unwrap_or_else(|| custom::run(extension, args))
}

/// What happens instead while a turn runs; `None`: the command runs.
fn while_busy(
    busy: WhileBusy,
    cx: &CommandContext<'_>,
    name: &str,
    line: &str,
) -> Option<CommandOutcome> {
    match (busy, cx.busy) {
        (WhileBusy::Now, _) | (_, false) => None,
        (WhileBusy::Wait, true) => Some(CommandOutcome::after_the_turn(name, line.to_owned())),
        (WhileBusy::Refuse, true) => {
            let notice = Notice::error(w::BUSY.with("name", name));
            Some(CommandOutcome::Say(notice.with_hint(w::BUSY_HINT)))
        }
    }
}

/// Says where the command works.
pub(super) fn out_of_reach<Setting: AsRef<str>>(
    name: &str,
    availability: &Availability<Setting>,
) -> CommandOutcome {
    let say = w::OUT_OF_REACH.with("name", name);
    CommandOutcome::Say(Notice::error(say).with_hint(match availability {
        Availability::GatewayOnly => w::ONLY_IN_A_CHAT.into(),
        Availability::LocalUnless(setting) => {
            w::ONLY_WITH_SETTING.with("setting", setting.as_ref())
        }
        Availability::ScreenOnly => w::ONLY_ON_THE_SCREEN.into(),
        Availability::LocalOnly | Availability::Everywhere => w::ONLY_IN_THE_TERMINAL.into(),
    }))
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

/// What is wrong with the arguments.
fn check(command: &SlashCommand, args: &str) -> Option<LocalizedText> {
    let name = command.name;
    let Some(first) = command.options.first() else {
        return (!args.is_empty()).then(|| w::NO_ARGS.with("name", name));
    };
    match first.values {
        _ if !first.is_required => None,
        OptionValues::OneOf(choices) if args.is_empty() => {
            Some(w::MISSING.with("name", name).with("what", choices.join("|")))
        }
        _ if args.is_empty() => {
            Some(w::MISSING.with("name", name).with("what", format!("<{}>", first.name)))
        }
        OptionValues::OneOf(choices) if !choices.contains(&args.to_lowercase().as_str()) => Some(
            w::NO_CHOICE
                .with("name", name)
                .with("choices", choices.join(", "))
                .with("found", shorten(args)),
        ),
        _ => None,
    }
}

/// An error that says nothing of what to do instead is about the arguments: the usage line does.
fn with_usage(command: &SlashCommand, outcome: CommandOutcome) -> CommandOutcome {
    match outcome {
        CommandOutcome::Say(notice)
            if notice.level == NoticeLevel::Error && notice.hint.is_none() =>
        {
            let usage = w::USAGE.with("usage", command.usage());
            CommandOutcome::Say(notice.with_hint(usage))
        }
        other => other,
    }
}
