//! Completes a slash command while it is typed.

use super::dispatch::find_in;
use super::table::COMMANDS;
use super::{ArgsSpec, Category, CommandContext, SlashCommand, ValueSource, custom};
use crate::i18n::{PhraseValue, common};
use crate::protocol::HOSTED;

/// One possible completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The whole line after completion.
    pub text: String,
    /// The hint for what may follow: `<message>`.
    pub hint: String,
    pub about: Option<PhraseValue>,
    pub category: Option<Category>,
}

/// The candidates for `line`, which begins with `/`: names while the name is typed, values after
/// it. The best come first; those of equal rank in the order of the table.
pub fn complete(call: &CommandContext<'_>, line: &str) -> Vec<Candidate> {
    let line = line.trim_start();
    let typed = line.strip_prefix('/').unwrap_or(line);
    match typed.split_once(char::is_whitespace) {
        None => names(call, &typed.to_lowercase()),
        Some((name, args)) => find_in(COMMANDS, name)
            .filter(|command| command.reach.covers(call.surface))
            .map(|command| values(call, command, name, args.trim_start()))
            .unwrap_or_default(),
    }
}

fn names(call: &CommandContext<'_>, typed: &str) -> Vec<Candidate> {
    let reachable = COMMANDS.iter().filter(|command| command.reach.covers(call.surface));
    let mut found: Vec<(Rank, Candidate)> = reachable
        .filter_map(|command| {
            let rank = command.names().filter_map(|n| rank(n, typed)).min()?;
            let candidate = Candidate {
                text: format!("/{}", command.name),
                hint: command.args.hint(),
                about: Some(command.about.into()),
                category: Some(command.category),
            };
            Some((rank, candidate))
        })
        .collect();
    found.extend(custom::typeable(call.extensions).filter_map(|entry| {
        let rank = rank(&entry.name.to_lowercase(), typed)?;
        let candidate = Candidate {
            text: format!("/{}", entry.name),
            hint: entry.hint.clone(),
            about: Some(entry.about.as_str().into()),
            category: Some(Category::Tools),
        };
        Some((rank, candidate))
    }));
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Completes the inputs of a script while its arguments are typed: `{name: …, ` and the next one.
fn script_inputs(
    call: &CommandContext<'_>,
    name: &str,
    script: &str,
    typed: &str,
) -> Vec<Candidate> {
    let Some((_, inputs)) = call.extensions.inputs.iter().find(|(known, _)| known == script) else {
        return Vec::new();
    };
    let (before, partial) = match typed.rfind(['{', ',']) {
        Some(at) => typed.split_at(at + 1),
        None if typed.is_empty() => ("{", ""),
        // A plain text is assigned to the input that accepts one.
        None => return Vec::new(),
    };
    let partial = partial.trim_start();
    let quotes = before.chars().filter(|c| *c == '"').count();
    // After a colon, or inside quotes, a value is being typed.
    if partial.contains([':', '}']) || quotes % 2 == 1 || !before.starts_with('{') {
        return Vec::new();
    }
    let given = |input: &str| {
        before.split(['{', ',']).any(|part| {
            part.split_once(':').is_some_and(|(key, _)| key.trim().trim_matches('"') == input)
        })
    };
    let space = if before.ends_with(',') { " " } else { "" };
    inputs
        .iter()
        .filter(|input| !given(input) && input.to_lowercase().starts_with(&partial.to_lowercase()))
        .map(|input| Candidate {
            text: format!("/{name} {script} {before}{space}{input}: "),
            hint: String::new(),
            about: None,
            category: None,
        })
        .collect()
}

fn values(
    call: &CommandContext<'_>,
    command: &SlashCommand,
    name: &str,
    typed: &str,
) -> Vec<Candidate> {
    if let ArgsSpec::RequiredOfThen(_, ValueSource::Scripts, _) = command.args
        && let Some((script, rest)) = typed.split_once(char::is_whitespace)
    {
        return script_inputs(call, name, script, rest.trim_start());
    }
    let mut values: Vec<String> = match command.args {
        ArgsSpec::None | ArgsSpec::Optional(_) | ArgsSpec::Required(_) => return Vec::new(),
        ArgsSpec::Choice(choices) | ArgsSpec::ChoiceThen(choices, _) => {
            choices.iter().map(|choice| (*choice).to_owned()).collect()
        }
        ArgsSpec::OptionalOf(_, source)
        | ArgsSpec::RequiredOf(_, source)
        | ArgsSpec::RequiredOfThen(_, source, _) => current_values(call, source),
    };
    if is_path(command.args) {
        // Hidden entries are offered only when asked for.
        let hidden = |path: &str| last_component(path).starts_with('.');
        values.retain(|value| hidden(typed) || !hidden(value.trim_end_matches('/')));
    }
    let used = current_value(call, command);
    let typed = typed.to_lowercase();
    let mut found: Vec<(Rank, String)> = values
        .into_iter()
        .filter_map(|value| Some((rank(&value.to_lowercase(), &typed)?, value)))
        .collect();
    found.sort_by_key(|(rank, _)| *rank);
    found
        .into_iter()
        .map(|(_, value)| Candidate {
            about: about(call, command, &value, used),
            text: format!("/{name} {value}"),
            hint: String::new(),
            category: None,
        })
        .collect()
}

fn is_path(args: ArgsSpec) -> bool {
    matches!(args, ArgsSpec::OptionalOf(_, ValueSource::Folders))
}

/// The folder of the path typed so far; `None`: the line does not take a path.
pub fn typed_folder(line: &str) -> Option<&str> {
    let (name, typed) = line.trim_start().strip_prefix('/')?.split_once(char::is_whitespace)?;
    let command = find_in(COMMANDS, name).filter(|command| is_path(command.args));
    command
        .map(|_| typed.trim_start())
        .map(|typed| typed.split_at(typed.len() - last_component(typed).len()).0)
}

/// The last name in a path.
fn last_component(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn about(
    call: &CommandContext<'_>,
    command: &SlashCommand,
    value: &str,
    used: Option<&str>,
) -> Option<PhraseValue> {
    if used == Some(value) {
        return Some(common::IN_USE.into());
    }
    let is_of_bots = matches!(command.args, ArgsSpec::OptionalOf(_, ValueSource::Bots));
    let bot = call.extensions.bots.iter().find(|(name, _)| is_of_bots && name == value)?;
    Some(bot.1.as_str().into())
}

/// The values known at this moment.
fn current_values(call: &CommandContext<'_>, source: ValueSource) -> Vec<String> {
    match source {
        ValueSource::Models => call.models.to_vec(),
        ValueSource::Providers => {
            let shared = HOSTED.iter().filter(|hosted| !hosted.base_url.is_empty());
            let mut names: Vec<String> = shared.map(|hosted| hosted.simple_name()).collect();
            names.dedup();
            names
        }
        ValueSource::Themes => call.themes.iter().map(|theme| (*theme).to_owned()).collect(),
        ValueSource::Commands => {
            let names = COMMANDS.iter().map(|command| command.name);
            let kept = custom::typeable(call.extensions).map(|entry| entry.name.as_str());
            names.chain(kept).map(str::to_owned).collect()
        }
        ValueSource::Bots => {
            let names = call.extensions.bots.iter().map(|(name, _)| name.as_str());
            let none = call.facts.bot.as_ref().map(|_| custom::NO_BOT);
            names.chain(none).map(str::to_owned).collect()
        }
        ValueSource::Scripts => call.extensions.scripts.clone(),
        ValueSource::Allowed => call.facts.allowed.clone(),
        ValueSource::Switch => vec!["on".to_owned(), "off".to_owned()],
        ValueSource::Denied => call.facts.denied.clone(),
        ValueSource::Folders => call.folders.to_vec(),
    }
}

/// The current value, if the session knows it.
fn current_value<'c>(call: &'c CommandContext<'_>, command: &SlashCommand) -> Option<&'c str> {
    match command.name {
        "model" => Some(call.facts.model.as_str()),
        "bot" => call.facts.bot.as_deref(),
        "mode" => Some(call.facts.mode.name()),
        "lang" => Some(call.facts.lang.code()),
        _ => None,
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
