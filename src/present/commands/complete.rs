//! Completes a slash command while it is typed.

use super::dispatch::find_in;
use super::manual::TOPICS;
use super::table::COMMANDS;
use super::{
    CommandContext, OptionValues, SlashCommand, ValueSource, WhileBusy, configuration, custom,
};
use avocet_core::i18n::{LocalizedText, PhraseValue, cli, common, script_run as phrases};
use avocet_core::prompt::args;
use avocet_core::protocol::{
    ApprovalMode, CommandArgument, Extension, ExtensionKind, HOSTED, Provider, ScriptInput,
    TypedArgument,
};

/// One possible completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The whole line after completion.
    pub text: String,
    /// The hint for what may follow: `<message>`.
    pub hint: String,
    pub about: Option<PhraseValue>,
    /// The alias that was typed.
    pub alias: Option<String>,
    /// What was typed is the beginning of it, and nothing else can be meant by it.
    pub is_certain: bool,
}

impl Candidate {
    /// The text beside it: the alias that was typed, or else the hint.
    pub fn hint_or_alias(&self) -> String {
        self.alias.as_ref().map_or_else(|| self.hint.clone(), |alias| format!("/{alias}"))
    }
}

/// The commands used most, which are offered first.
const FREQUENT: &[&str] = &[
    "model",
    "resume",
    "diff",
    "undo",
    "rewind",
    "compress",
    "permissions",
    "theme",
    "export",
    "help",
];

/// The candidates for `line`, which begins with `/`: names while the name is typed, values after
/// it. The best come first; those of equal rank in the order of the table.
pub fn complete(cx: &CommandContext<'_>, line: &str) -> Vec<Candidate> {
    let line = line.trim_start();
    let typed = line.strip_prefix('/').unwrap_or(line);
    match typed.split_once(char::is_whitespace) {
        None => names(cx, &typed.to_lowercase()),
        Some((name, args)) => match find_in(COMMANDS, name) {
            Some(command) if command.reach.covers(cx.surface) => {
                values(cx, command, name, args.trim_start())
            }
            Some(_) => Vec::new(),
            None => own_arguments(cx, name, args),
        },
    }
}

fn names(cx: &CommandContext<'_>, typed: &str) -> Vec<Candidate> {
    // What a running turn refuses is offered only to users who name it; an answer gives the reason.
    let is_offered = |busy: WhileBusy| !(cx.busy && typed.is_empty() && busy == WhileBusy::Refuse);
    let reachable = COMMANDS
        .iter()
        .filter(|command| command.reach.covers(cx.surface) && is_offered(command.busy));
    let built_in = reachable.filter_map(|command| {
        let about = (command.hint(), command.about.into());
        name_candidate(command.name, command.aliases.iter().copied(), about, typed)
    });
    let own = custom::typeable(cx.extensions, cx.surface)
        .filter(|entry| is_offered(entry.traits.busy))
        .filter_map(|entry| {
            let aliases = entry.traits.aliases.iter().map(String::as_str);
            let about = (entry.hint.clone(), entry.about.as_str().into());
            name_candidate(&entry.name, aliases, about, typed)
        });
    let mut found: Vec<(Rank, Candidate)> = built_in.chain(own).collect();
    let use_rank = |candidate: &Candidate| {
        let name = candidate.text.get(1..).unwrap_or_default();
        FREQUENT.iter().position(|frequent| *frequent == name).unwrap_or(FREQUENT.len())
    };
    found.sort_by_key(|(rank, candidate)| (*rank, use_rank(candidate)));
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// A command that matches by its name or one of its aliases.
fn name_candidate<'a>(
    name: &str,
    aliases: impl Iterator<Item = &'a str>,
    (hint, about): (String, PhraseValue),
    typed: &str,
) -> Option<(Rank, Candidate)> {
    let by_name = rank(&name.to_lowercase(), typed);
    let by_alias = aliases.filter_map(|alias| Some((rank(&alias.to_lowercase(), typed)?, alias)));
    let by_alias = by_alias.min().filter(|(rank, _)| by_name.is_none_or(|by_name| *rank < by_name));
    let (rank, alias) = match by_alias {
        Some((rank, alias)) => (rank, Some(alias.to_owned())),
        None => (by_name?, None),
    };
    let is_certain = !typed.is_empty() && rank <= Rank::Prefix;
    let text = format!("/{name}");
    Some((rank, Candidate { text, hint, about: Some(about), alias, is_certain }))
}

/// Completes the inputs of a script that is a command, or the arguments of a prompt.
fn own_arguments(cx: &CommandContext<'_>, name: &str, typed: &str) -> Vec<Candidate> {
    let entry = cx.extensions.find(name).filter(|entry| entry.kind == ExtensionKind::Script);
    match entry {
        Some(entry) => script_inputs(cx, &format!("/{name}"), &entry.name, typed.trim_start()),
        None => prompt_arguments(cx, name, typed),
    }
}

/// Completes the names of the arguments of an MCP server's prompt: `focus=`.
fn prompt_arguments(cx: &CommandContext<'_>, name: &str, typed: &str) -> Vec<Candidate> {
    let Some(entry) = find_prompt(cx, name) else { return Vec::new() };
    let (before, partial) = split_last_word(typed);
    if let Some((argument, partial)) = partial.split_once('=') {
        let given = cx.argument_values.filter(|given| given.of.is_for(&entry.name, argument));
        let values = given.into_iter().flat_map(|given| &given.values);
        let fitting = values.filter(|value| value.starts_with(partial) && *value != partial);
        let word = |value: &String| args::join(&[format!("{argument}={value}")]);
        let candidate = |value: &String| Candidate {
            text: format!("/{name} {before}{}", word(value)),
            hint: String::new(),
            about: None,
            alias: None,
            is_certain: false,
        };
        return fitting.map(candidate).collect();
    }
    let is_given = |argument: &str| {
        before
            .split_whitespace()
            .any(|word| word.strip_prefix(argument).is_some_and(|rest| rest.starts_with('=')))
    };
    let fits = |argument: &&CommandArgument| {
        argument.name.starts_with(partial) && !is_given(&argument.name)
    };
    let fitting = entry.traits.arguments.iter().filter(fits);
    let candidate = |argument: &CommandArgument| Candidate {
        text: format!("/{name} {before}{}=", argument.name),
        hint: String::new(),
        about: (!argument.about.is_empty()).then(|| argument.about.as_str().into()),
        alias: None,
        is_certain: false,
    };
    fitting.map(candidate).collect()
}

fn find_prompt<'a>(cx: &CommandContext<'a>, name: &str) -> Option<&'a Extension> {
    cx.extensions.find(name).filter(|entry| entry.kind == ExtensionKind::Prompt)
}

fn split_last_word(typed: &str) -> (&str, &str) {
    typed.split_at(typed.rfind(char::is_whitespace).map_or(0, |at| at + 1))
}

/// The argument of an MCP server's prompt whose value is being typed.
pub fn typed_argument(cx: &CommandContext<'_>, line: &str) -> Option<TypedArgument> {
    let (name, typed) = line.trim_start().strip_prefix('/')?.split_once(char::is_whitespace)?;
    let entry = find_prompt(cx, name)?;
    let (argument, typed) = split_last_word(typed).1.split_once('=')?;
    let is_known = entry.traits.arguments.iter().any(|known| known.name == argument);
    is_known.then(|| TypedArgument {
        prompt: entry.name.clone(),
        argument: argument.to_owned(),
        typed: typed.to_owned(),
    })
}

/// Completes the inputs of a script while its arguments are typed: `{name: …, ` and the next one,
/// and after a name the values it accepts, with the bracket once nothing required is missing.
fn script_inputs(cx: &CommandContext<'_>, head: &str, script: &str, typed: &str) -> Vec<Candidate> {
    let known = cx.extensions.script_details.iter().find(|known| known.name == script);
    let Some(details) = known else { return Vec::new() };
    let (before, partial) = match typed.rfind(['{', ',']) {
        Some(at) => typed.split_at(at + 1),
        None if typed.is_empty() => ("{", ""),
        // A plain text is assigned to the input that accepts one.
        None => return Vec::new(),
    };
    let partial = partial.trim_start();
    let quotes = before.chars().filter(|c| *c == '"').count();
    // Inside quotes a value is being typed.
    if partial.contains('}') || quotes % 2 == 1 || !before.starts_with('{') {
        return Vec::new();
    }
    let space = if before.ends_with(',') { " " } else { "" };
    let candidate = |rest: String, about: Option<PhraseValue>| Candidate {
        text: format!("{head} {before}{space}{rest}"),
        // A value and the bracket have to follow.
        hint: if about.is_some() { "…}".to_owned() } else { String::new() },
        about,
        alias: None,
        is_certain: false,
    };
    let given = |input: &str| {
        before.split(['{', ',']).any(|part| {
            part.split_once(':').is_some_and(|(key, _)| key.trim().trim_matches('"') == input)
        })
    };
    if let Some((input, value)) = partial.split_once(':') {
        let Some(input) = details.inputs.iter().find(|it| it.name == input.trim()) else {
            return Vec::new();
        };
        let mut others = details.inputs.iter().filter(|other| other.name != input.name);
        let is_last = !others.any(|other| other.required && !given(&other.name));
        let values = input_values(input, value.trim_start(), if is_last { "}" } else { ", " });
        return values.map(|value| candidate(value, None)).collect();
    }
    let starts = |input: &&ScriptInput| {
        !given(&input.name) && input.name.to_lowercase().starts_with(&partial.to_lowercase())
    };
    let inputs = details.inputs.iter().filter(starts);
    inputs.map(|it| candidate(format!("{}: ", it.name), Some(about_input(it).into()))).collect()
}

/// The values that an input accepts and that begin so, with what follows them.
fn input_values<'i>(
    input: &'i ScriptInput,
    beginning: &'i str,
    end: &'i str,
) -> impl Iterator<Item = String> {
    let flags = ["true", "false"].into_iter().filter(|_| input.kind == "boolean");
    let values = input.choices.iter().map(String::as_str).chain(flags);
    let values = values.filter(move |value| value.starts_with(beginning) && *value != beginning);
    values.map(move |value| format!("{}: {value}{end}", input.name))
}

/// What is known of an input: its type, or the values it accepts; whether it is required; and what
/// it is for.
fn about_input(input: &ScriptInput) -> LocalizedText {
    let kind = match (input.choices.is_empty(), input.kind.is_empty()) {
        (false, _) => input.choices.join(" | "),
        (true, false) => input.kind.clone(),
        (true, true) => "string".to_owned(),
    };
    let kind = if input.required {
        phrases::REQUIRED.with("name", kind)
    } else {
        cli::DOCTOR_LINE.with("text", kind)
    };
    if input.about.is_empty() {
        kind
    } else {
        common::LABELLED.with("name", kind).with("text", input.about.as_str())
    }
}

fn values(
    cx: &CommandContext<'_>,
    command: &SlashCommand,
    name: &str,
    typed: &str,
) -> Vec<Candidate> {
    let first = command.options.first().map_or(OptionValues::Text, |option| option.values);
    if first == OptionValues::From(ValueSource::Scripts)
        && let Some((script, rest)) = typed.split_once(char::is_whitespace)
    {
        return script_inputs(cx, &format!("/{name} {script}"), script, rest.trim_start());
    }
    let mut values: Vec<String> = match first {
        OptionValues::Text | OptionValues::Named(_) => return Vec::new(),
        OptionValues::OneOf(choices) => choices.iter().map(|choice| (*choice).to_owned()).collect(),
        OptionValues::From(source) => current_values(cx, source),
    };
    if command.name == "mode" && cx.facts.provider == Provider::Guide {
        // It is one model, not a profile of two.
        values.retain(|value| ApprovalMode::parse(value).is_some());
    }
    if takes_path(command) {
        // Hidden entries are offered only when asked for.
        let hidden = |path: &str| last_component(path).starts_with('.');
        values.retain(|value| hidden(typed) || !hidden(value.trim_end_matches('/')));
    }
    let typed = typed.to_lowercase();
    let is_closed = is_closed(first);
    let mut found: Vec<(Rank, String)> = values
        .into_iter()
        .filter_map(|value| Some((rank(&value.to_lowercase(), &typed)?, value)))
        .collect();
    found.sort_by_key(|(rank, _)| *rank);
    found
        .into_iter()
        .map(|(rank, value)| Candidate {
            about: about(cx, command, &value),
            text: format!("/{name} {value}"),
            hint: String::new(),
            alias: None,
            is_certain: is_closed && !typed.is_empty() && rank <= Rank::Prefix,
        })
        .collect()
}

/// Whether nothing but the values it completes is accepted.
fn is_closed(values: OptionValues) -> bool {
    use ValueSource::{Bots, Commands, Efforts, Themes};
    matches!(
        values,
        OptionValues::OneOf(_) | OptionValues::From(Bots | Commands | Efforts | Themes)
    )
}

fn completes_from(command: &SlashCommand, source: ValueSource) -> bool {
    let first = command.options.first();
    first.is_some_and(|option| option.values == OptionValues::From(source))
}

fn takes_path(command: &SlashCommand) -> bool {
    completes_from(command, ValueSource::Folders)
}

/// The folder of the path typed so far; `None`: the line does not take a path.
pub fn typed_folder(line: &str) -> Option<&str> {
    let (name, typed) = line.trim_start().strip_prefix('/')?.split_once(char::is_whitespace)?;
    let command = find_in(COMMANDS, name).filter(|command| takes_path(command));
    command
        .map(|_| typed.trim_start())
        .map(|typed| typed.split_at(typed.len() - last_component(typed).len()).0)
}

/// The last name in a path.
fn last_component(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn about(cx: &CommandContext<'_>, command: &SlashCommand, value: &str) -> Option<PhraseValue> {
    if is_current(cx, command, value) {
        return Some(common::IN_USE.into());
    }
    if completes_from(command, ValueSource::Scripts) {
        let known = cx.extensions.script_details.iter().find(|known| known.name == value);
        let title = known.map(|known| known.title.as_str()).filter(|title| !title.is_empty());
        return title.map(PhraseValue::from);
    }
    let is_of_bots = completes_from(command, ValueSource::Bots);
    let bot = cx.extensions.bots.iter().find(|(name, _)| is_of_bots && name == value)?;
    Some(bot.1.as_str().into())
}

/// The values known at this moment.
fn current_values(cx: &CommandContext<'_>, source: ValueSource) -> Vec<String> {
    match source {
        ValueSource::Models => cx.models.to_vec(),
        ValueSource::Efforts => {
            configuration::effort_choices(cx.facts).into_iter().map(str::to_owned).collect()
        }
        ValueSource::Providers => {
            let shared = HOSTED.iter().filter(|hosted| !hosted.base_url.is_empty());
            let mut names: Vec<String> = shared.map(|hosted| hosted.id.to_owned()).collect();
            names.dedup();
            names
        }
        ValueSource::Themes => cx.themes.iter().map(|theme| (*theme).to_owned()).collect(),
        ValueSource::Commands => {
            let reachable = COMMANDS.iter().filter(|command| command.reach.covers(cx.surface));
            let names = reachable.map(|command| command.name);
            let kept = custom::typeable(cx.extensions, cx.surface).map(|entry| entry.name.as_str());
            let topics = TOPICS.iter().map(|topic| topic.name);
            names.chain(kept).chain(topics).map(str::to_owned).collect()
        }
        ValueSource::Bots => {
            let names = cx.extensions.bots.iter().map(|(name, _)| name.as_str());
            let none = cx.facts.bot.as_ref().map(|_| custom::NO_BOT);
            names.chain(none).map(str::to_owned).collect()
        }
        ValueSource::Scripts => cx.extensions.scripts.clone(),
        ValueSource::Allowed => cx.facts.allowed.clone(),
        ValueSource::Denied => cx.facts.denied.clone(),
        ValueSource::Folders => cx.folders.to_vec(),
    }
}

/// Whether it is the current value, as far as the session knows it.
fn is_current(cx: &CommandContext<'_>, command: &SlashCommand, value: &str) -> bool {
    match command.name {
        "model" => cx.facts.model == value,
        "bot" => cx.facts.bot.as_deref() == Some(value),
        "effort" => configuration::effort_in_use(cx.facts) == value,
        "mode" => [cx.facts.mode.name(), cx.facts.approval.name()].contains(&value),
        "lang" => cx.facts.lang.code() == value,
        _ => false,
    }
}

/// How well a name matches, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Exact,
    Prefix,
    Contains,
    /// Contains the letters in order.
    Scattered,
}

fn rank(name: &str, typed: &str) -> Option<Rank> {
    if name == typed {
        return Some(Rank::Exact);
    }
    if name.starts_with(typed) {
        return Some(Rank::Prefix);
    }
    if name.contains(typed) {
        return Some(Rank::Contains);
    }
    let mut letters = name.chars();
    typed.chars().all(|wanted| letters.any(|letter| letter == wanted)).then_some(Rank::Scattered)
}
