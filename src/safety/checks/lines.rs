//! Judges shell lines in git's settings and options and in variables of many programs:
//! aliases, pagers, editors, filters, transport hooks. Each is judged as the line it is, so
//! that what is refused in a shell is refused here, too.

use avocet_core::protocol::Tier;

use super::super::Contents;
use super::super::findings::Findings;
use super::super::policy::split;
use super::super::repository::{self, GitSetting};
use super::super::spec::{ArgToken, ProgramCall, flag_values, operands};
use avocet_core::text::quote_visible;

/// Judges a line that may be run later, or by another program. A program that is not on
/// the list is a question there: that it is named does not start it.
fn judge_stored_line(call: &ProgramCall<'_>, at: usize, line: &str, findings: &mut Findings) {
    let mut found = Findings::default();
    call.judge_line(line, at, &mut found);
    for finding in found.iter_mut() {
        if matches!(finding.reason.rule.as_str(), "program.unknown" | "program.outside") {
            finding.reason.tier = Tier::L1;
        }
    }
    findings.merge(&found);
}

/// Judges a possible line: only what would be refused counts.
fn judge_possible_line(call: &ProgramCall<'_>, at: usize, text: &str, findings: &mut Findings) {
    let mut found = Findings::default();
    judge_stored_line(call, at, text, &mut found);
    if found.tier_or(Tier::L0) == Tier::L2 {
        findings.merge(&found);
    }
}

/// Judges the value of one of git's settings.
fn judge_setting(
    call: &ProgramCall<'_>,
    at: usize,
    (key, value): (&str, &str),
    findings: &mut Findings,
) {
    if let Some(line) = GitSetting::from_key_value(key, value).as_ref().and_then(setting_line) {
        judge_stored_line(call, at, &line, findings);
    }
}

/// Judges several settings in a variable: `'alias.x=!ls' 'core.pager'='cat'`.
fn judge_settings(call: &ProgramCall<'_>, at: usize, text: &str, findings: &mut Findings) {
    for (word, _) in split(text).unwrap_or_default() {
        judge_setting(call, at, word.split_once('=').unwrap_or((&word, "")), findings);
    }
    if split(text).is_none() {
        judge_possible_line(call, at, text, findings);
    }
}

/// The line that git would run for a setting, if it runs one.
fn setting_line(setting: &GitSetting) -> Option<String> {
    if !repository::starts_program(setting) || NO_LINES.contains(&setting.section.as_str()) {
        return None;
    }
    let value = setting.value.trim_start();
    let value = value.strip_prefix('!').unwrap_or(value);
    let helper =
        setting.section == "credential" && !setting.value.starts_with(['!', '/', '~', '.']);
    Some(match setting.section.as_str() {
        _ if helper => format!("git credential-{value}"),
        "remote" => value.split_once("::").map_or(value, |(_, line)| line).to_owned(),
        _ => value.to_owned(),
    })
}

/// Sections whose values are not shell lines: addresses, folders, rules for transports.
const NO_LINES: &[&str] = &["protocol", "url"];

/// A variable in which programs look for a line.
pub fn judge_variable(
    name: &str,
    value: &str,
    call: &ProgramCall<'_>,
    at: usize,
    findings: &mut Findings,
) {
    let expands = ["BASH_ENV", "ENV", "PS0", "PS1", "PS2", "PS4"].contains(&name);
    match name {
        "GIT_CONFIG_PARAMETERS" => judge_settings(call, at, value, findings),
        _ if name.starts_with("GIT_CONFIG_VALUE_") => {
            let value = value.strip_prefix('!').unwrap_or(value);
            let line = value.split_once("::").map_or(value, |(_, line)| line);
            judge_possible_line(call, at, line, findings);
        }
        _ if is_line_variable(name) => {
            let line = value.trim_start_matches(['|', '-', '!', ' ']);
            judge_stored_line(call, at, line, findings);
        }
        _ if expands && (value.contains("$(") || value.contains('`')) => {
            judge_stored_line(call, at, &format!("echo \"{value}\""), findings);
        }
        _ => {}
    }
}

fn is_line_variable(name: &str) -> bool {
    const ENDS: &[&str] = &["PAGER", "EDITOR", "ASKPASS", "BROWSER", "SSH_COMMAND", "_RSH", "_SSH"];
    #[rustfmt::skip]
    const NAMES: &[&str] = &[
        "VISUAL", "FCEDIT", "PROMPT_COMMAND", "LESSOPEN", "LESSCLOSE", "GIT_EXTERNAL_DIFF",
        "GIT_PROXY_COMMAND", "GIT_SSH",
    ];
    NAMES.contains(&name) || ENDS.iter().any(|end| name.ends_with(end))
}

/// The settings of `git` for this one call: `-c KEY=VALUE` in front of the sub-command,
/// lines in its options, and the alias that its sub-command may be.
pub fn git(
    call: &ProgramCall<'_>,
    tokens: &[ArgToken<'_>],
    settings: &repository::RepositorySettings,
    findings: &mut Findings,
) {
    let given: Vec<(usize, &str)> = flag_values(tokens, "-c").collect();
    for (at, setting) in &given {
        judge_setting(call, *at, setting.split_once('=').unwrap_or((setting, "")), findings);
    }
    let Some((at, name)) = operands(tokens).next() else {
        return given
            .iter()
            .for_each(|(at, setting)| judge_alias_definition(call, *at, setting, findings));
    };
    judge_line_options(call, (at, name), findings);
    for (at, setting) in &given {
        judge_alias_definition(call, *at, setting, findings);
    }
    let row = call.context.row("git");
    let known = row.is_some_and(|row| row.sub(name).is_some());
    if known && !given.iter().any(|(_, setting)| names_alias(setting, name)) {
        return;
    }
    let own = given.iter().rev().filter_map(|(_, setting)| GitSetting::parse_pair(setting));
    let kept = settings.settings.iter().rev().map(|(entry, _)| entry.clone());
    let users = user_settings(call);
    let alias = own.chain(kept).chain(users).find(|entry| is_alias(entry, name));
    if let Some(alias) = alias {
        let rest = call.args.get(at + 1..).unwrap_or_default();
        judge_alias(&alias.value, rest, call, at, findings);
    }
}

/// An alias of words of git, which this call names; whether it is called or not.
fn judge_alias_definition(
    call: &ProgramCall<'_>,
    at: usize,
    setting: &str,
    findings: &mut Findings,
) {
    if let Some(entry) = GitSetting::parse_pair(setting)
        && entry.section == "alias"
    {
        judge_alias(&entry.value, &[], call, at, findings);
    }
}

fn names_alias(setting: &str, name: &str) -> bool {
    GitSetting::parse_pair(setting).is_some_and(|entry| is_alias(&entry, name))
}

fn is_alias(setting: &GitSetting, name: &str) -> bool {
    let named = match &setting.subsection {
        Some(subsection) if setting.name == "command" => subsection.as_str(),
        Some(_) => return false,
        None => setting.name.as_str(),
    };
    setting.section == "alias" && named.eq_ignore_ascii_case(name)
}

/// An alias with its value: a shell line, or words of git.
fn judge_alias(
    value: &str,
    rest: &[String],
    call: &ProgramCall<'_>,
    at: usize,
    findings: &mut Findings,
) {
    let value = value.trim_start();
    if let Some(line) = value.strip_prefix('!') {
        let words: Vec<String> = rest.iter().map(|word| quote_visible(word)).collect();
        return call.judge_line(&format!("{line} {}", words.join(" ")), at, findings);
    }
    let Some(own) = split(value).filter(|own| !own.is_empty()) else { return };
    let own = own.into_iter().map(|(word, _)| word).chain(rest.iter().cloned());
    let words: Vec<String> = std::iter::once("git".to_owned()).chain(own).collect();
    let call = ProgramCall { seat: call.seat.within(at), ..call.clone() };
    call.judge_words(&words, 0, findings);
}

/// The contents of the user's own settings files.
fn user_settings(call: &ProgramCall<'_>) -> Vec<GitSetting> {
    const MAX_BYTES: usize = 256 * 1024;
    let policy_cx = call.context.policy_cx;
    let files = [".gitconfig", ".config/git/config"].map(|file| policy_cx.place.home.join(file));
    let read = files.iter().filter_map(|file| match policy_cx.world.read(file, MAX_BYTES) {
        Contents::Bytes(bytes) => repository::parse(&bytes),
        Contents::Missing | Contents::Unreadable => None,
    });
    read.flatten().rev().collect()
}

/// Options of sub-commands whose value is a line: the program on the other side, filters.
#[rustfmt::skip]
const OPTIONS: &[(&str, &[&str])] = &[
    ("clone fetch pull ls-remote fetch-pack remote", &["--upload-pack", "--exec", "-u"]),
    ("push send-pack archive", &["--receive-pack", "--exec"]),
    ("filter-branch", &["--env-filter", "--tree-filter", "--index-filter", "--parent-filter", "--msg-filter", "--commit-filter", "--tag-name-filter", "--setup"]),
    ("difftool mergetool", &["--extcmd"]),
];

fn judge_line_options(call: &ProgramCall<'_>, (at, name): (usize, &str), findings: &mut Findings) {
    let rows = OPTIONS.iter().filter(|(subs, _)| subs.split(' ').any(|sub| sub == name));
    let options: Vec<&str> = rows.flat_map(|(_, options)| options.iter().copied()).collect();
    let sets = matches!(name, "clone" | "submodule" | "init");
    for (at, arg) in call.args.iter().enumerate().skip(at + 1) {
        if let Some(line) = arg.strip_prefix("ext::") {
            judge_stored_line(call, at, line, findings);
        }
        let next = call.args.get(at + 1).map(|next| (at + 1, next.as_str()));
        let (option, value) = match arg.split_once('=') {
            Some((option, value)) => (option, Some((at, value))),
            None => (arg.as_str(), next),
        };
        let Some((at, value)) = value else { continue };
        if options.contains(&option) {
            judge_stored_line(call, at, value, findings);
        }
        if sets && matches!(option, "-c" | "--config") {
            judge_setting(call, at, value.split_once('=').unwrap_or((value, "")), findings);
        }
    }
}

/// `git config KEY VALUE`, with options anywhere between the two.
pub fn git_config(call: &ProgramCall<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    for (at, key) in call.args.iter().enumerate().filter(|(_, arg)| arg.contains('.')) {
        if let Some(entry) = GitSetting::parse_pair(key).filter(|_| key.contains('=')) {
            judge_setting(call, at, (&entry.key(), &entry.value), findings);
        }
        let behind = || call.args.iter().enumerate().skip(at + 1);
        let next = behind().next();
        let operand = behind().find(|(_, arg)| !arg.starts_with('-'));
        for (at, value) in next.into_iter().chain(operand.filter(|found| Some(*found) != next)) {
            judge_setting(call, at, (key, value), findings);
        }
    }
}
