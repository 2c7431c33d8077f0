//! Every rule id, with its tier and its reason: the names that `[safety] lift` accepts and
//! that the reasons in a modal refer to.
//!
//! Most ids follow from the tables: a row's name, its sub-commands, its dangers. What
//! code adds beside them is listed here, and a test holds the list to the code.

use std::collections::HashSet;
use std::sync::LazyLock;

use avocet_core::i18n::{LocalizedText, Phrase, agents, lsp, prompt, safety as phrases, web};
use avocet_core::protocol::Tier;

use super::rules;
use super::spec::Spec;

/// One rule.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleId {
    /// `git.reset.hard`; `*.option` represents the id of any row before the dot.
    pub id: String,
    pub tier: Tier,
    pub why: LocalizedText,
    /// Whether a setting can make a question of this refusal.
    pub lifts: bool,
}

/// The suffixes that checks add to the id of a row.
#[rustfmt::skip]
const OF_ANY_ROW: &[(&str, Tier, Phrase)] = &[
    ("option",     Tier::L1, phrases::OPTION_UNKNOWN),
    ("operand",    Tier::L1, phrases::OPERAND_UNKNOWN),
    ("arguments",  Tier::L1, phrases::READS_ARGUMENTS),
    ("code",       Tier::L1, phrases::CODE_STARTS),
    ("create",     Tier::L1, phrases::GIT_MAKES_BRANCH),
    ("credentials", Tier::L1, phrases::READS_SECRETS),
    ("delete",     Tier::L2, phrases::CLOUD_DESTROYS),
    ("destroy",    Tier::L2, phrases::CLOUD_DESTROYS),
    ("prune",      Tier::L2, phrases::CLOUD_DESTROYS),
    ("erase",      Tier::L2, phrases::DISK),
    ("exec",       Tier::L1, phrases::RUNS_FOR_EACH),
    ("expire",     Tier::L2, phrases::GIT_DISCARDS),
    ("all",        Tier::L2, phrases::GIT_DISCARDS_ALL),
    ("filter",     Tier::L1, phrases::JQ_FILTER),
    ("follow",     Tier::L1, phrases::FOLLOWS_LINKS),
    ("force",      Tier::L2, phrases::GIT_FORCES),
    ("host",       Tier::L2, phrases::CONTAINER_HOST),
    ("loses",      Tier::L2, phrases::DATABASE_LOSES),
    ("number",     Tier::L1, phrases::GIT_NUMBER),
    ("output",     Tier::L1, phrases::WRITES_A_FILE),
    ("pieces",     Tier::L1, phrases::SPLITS_OUTPUT),
    ("power",      Tier::L2, phrases::POWER),
    ("print",      Tier::L1, phrases::PRINTS_ENVIRONMENT),
    ("recursive",  Tier::L1, phrases::READS_SECRETS),
    ("root",       Tier::L2, phrases::REMOVES_ROOT),
    ("script",     Tier::L1, phrases::SED_SCRIPT),
    ("set",        Tier::L2, phrases::CHANGES_SYSTEM),
    ("signature",  Tier::L1, phrases::GIT_SIGNATURE),
    ("strips",     Tier::L1, phrases::STRIPS_ENVIRONMENT),
    ("submodules", Tier::L1, phrases::GIT_SUBMODULES),
    ("token",      Tier::L1, phrases::SHOWS_SECRETS),
    ("value",      Tier::L1, phrases::OPTION_LACKS_VALUE),
    ("variable",   Tier::L1, phrases::SETS_VARIABLE),
];

/// Rules that are about no program of the tables.
#[rustfmt::skip]
const GENERAL: &[(&str, Tier, Phrase)] = &[
    ("malformed.program",    Tier::L2, phrases::PROGRAM_ODD),
    ("malformed.size",       Tier::L2, phrases::ARGS_TOO_LARGE),
    ("malformed.nul",        Tier::L2, phrases::ARG_NUL),
    ("malformed.hidden",     Tier::L1, phrases::ARG_HIDDEN),
    ("program.unknown",      Tier::L2, phrases::PROGRAM_UNKNOWN),
    ("program.tool",         Tier::L2, phrases::PROGRAM_IS_TOOL),
    ("program.outside",      Tier::L2, phrases::PROGRAM_OUTSIDE),
    ("program.builtin",      Tier::L2, phrases::PROGRAM_BUILT_IN),
    ("program.added",        Tier::L1, phrases::PROGRAM_ADDED),
    ("program.path",         Tier::L1, phrases::PROGRAM_OF_WORKSPACE),
    ("wrap.depth",           Tier::L2, phrases::TOO_DEEP),
    ("denied",               Tier::L2, phrases::DENIED),
    ("asked",                Tier::L1, phrases::ASKED_RULE),
    ("tool.unknown",         Tier::L0, phrases::TOOL_UNKNOWN),
    ("path.sensitive",       Tier::L1, phrases::PATH_SENSITIVE),
    ("path.outside",         Tier::L1, phrases::PATH_OUTSIDE),
    ("path.secret",          Tier::L1, phrases::PATH_SECRET),
    ("path.git",             Tier::L1, phrases::WRITES_REPOSITORY),
    ("path.sensitive.write", Tier::L1, phrases::WRITES_SENSITIVE),
    ("path.outside.write",   Tier::L1, phrases::WRITES_OUTSIDE),
    ("path.secret.write",    Tier::L2, phrases::WRITES_SECRET),
    ("shell.lookup",         Tier::L0, phrases::ONLY_READS),
    ("program.folder",       Tier::L1, phrases::PROGRAM_OF_FOLDER),
    ("code.lookup",          Tier::L0, lsp::LOOKS_UP),
    ("web.fetch",            Tier::L1, web::FETCHES),
    ("web.search",           Tier::L1, web::SEARCHES),
    ("web.plain",            Tier::L1, web::FETCHES_PLAIN),
    ("web.port",             Tier::L1, web::FETCHES_PORT),
    ("web.user",             Tier::L1, web::FETCHES_USER),
    ("path.link",            Tier::L2, phrases::PATH_LINK),
    ("path.steers",          Tier::L1, phrases::WRITES_STEERING),
    ("path.names",           Tier::L1, phrases::WRITES_OTHER_NAMES),
    ("file.read",            Tier::L0, phrases::TOOL_READS),
    ("file.write",           Tier::L1, phrases::TOOL_WRITES),
    ("note",                 Tier::L1, phrases::ADDS_NOTE),
    ("file.delete",          Tier::L1, phrases::TOOL_DELETES),
    ("file.changed",         Tier::L1, phrases::FILE_CHANGED),
    ("file.unread",          Tier::L1, phrases::FILE_UNREAD),
    ("file.large",           Tier::L1, phrases::LARGE_NOT_UNDONE),
    ("secret.value",         Tier::L1, phrases::WRITES_MASKED),
    ("mask.argument",        Tier::L2, phrases::MASK_IN_ARGUMENT),
    ("tool.fault",           Tier::L0, phrases::TOOL_FAULT),
    ("ask",                  Tier::L0, phrases::TOOL_TALKS),
    ("task",                 Tier::L0, agents::HANDS_ON),
    ("plan",                 Tier::L0, phrases::TOOL_TALKS),
    ("job",                  Tier::L0, phrases::TOOL_JOBS),
    ("job.stop",             Tier::L1, phrases::JOB_OF_USER),
    ("recall",               Tier::L0, phrases::TOOL_RECALLS),
    ("file.send",            Tier::L1, phrases::TOOL_SENDS),
    ("tool.withheld",        Tier::L2, phrases::TOOL_WITHHELD),
    ("mode.plan",            Tier::L2, phrases::PLAN_MODE),
    ("mode.edits",           Tier::L0, phrases::EDITS_MODE),
    ("mode.auto",            Tier::L0, phrases::AUTO_MODE),
    ("plugin.run",           Tier::L1, phrases::PLUGIN_RUNS),
    ("plugin.outside",       Tier::L2, phrases::PLUGIN_OUTSIDE),
    ("plugin.interactive",   Tier::L1, phrases::PLUGIN_TERMINAL),
    ("config.patch",         Tier::L1, phrases::TOOL_PATCHES),
    ("config.path",          Tier::L2, phrases::CONFIG_NOT_LISTED),
    ("skill.malformed",      Tier::L2, prompt::SKILL_MALFORMED),
    ("skill.unknown",        Tier::L2, prompt::SKILL_UNKNOWN),
    ("skill.closed",         Tier::L1, prompt::SKILL_CLOSED),
    ("skill.tools",          Tier::L1, prompt::SKILL_TOOLS),
    ("skill.shell",          Tier::L1, prompt::SKILL_SHELL),
    ("skill.narrow",         Tier::L1, prompt::SKILL_NARROWS),
    ("script.malformed",     Tier::L2, prompt::SCRIPT_MALFORMED),
    ("script.unknown",       Tier::L2, prompt::SCRIPT_UNKNOWN),
    ("script.run",           Tier::L0, prompt::SCRIPT_RUNS),
    ("cwd.missing",          Tier::L1, phrases::CWD_MISSING),
    ("cwd.outside",          Tier::L1, phrases::CWD_OUTSIDE),
    ("folder.untrusted",     Tier::L1, phrases::FOLDER_UNTRUSTED),
    ("sandbox.absent.language", Tier::L1, phrases::SANDBOX_ABSENT),
    ("sandbox.denied",       Tier::L1, phrases::SANDBOX_DENIED_RULE),
    ("sandbox.without",      Tier::L1, phrases::SANDBOX_WITHOUT_RULE),
    ("sandbox.put-back",     Tier::L1, phrases::SANDBOX_PUT_BACK),
    ("sandbox.opened",       Tier::L1, phrases::SANDBOX_OPENED_RULE),
    ("sandbox.work",         Tier::L1, phrases::SANDBOX_WORK_RULE),
    ("sandbox.network",      Tier::L1, phrases::SANDBOX_NETWORK),
    ("sandbox.credentials",  Tier::L1, phrases::SANDBOX_CREDENTIALS_RULE),
    ("sandbox.hooks",        Tier::L1, phrases::SANDBOX_HOOKS_RULE),
    ("sandbox.homes",        Tier::L1, phrases::SANDBOX_HOMES_RULE),
    ("sandbox.none",         Tier::L1, phrases::SANDBOX_NONE_RULE),
    ("sandbox.free",         Tier::L1, phrases::SANDBOX_FREE),
    ("requires.confirm",     Tier::L1, phrases::REQUIRES_CONFIRM),
    ("requires.elevated",    Tier::L2, phrases::REQUIRES_ELEVATED),
    ("requires.network",     Tier::L1, phrases::REQUIRES_NETWORK),
    ("requires.write",       Tier::L1, phrases::REQUIRES_WRITE),
    ("limit.network",        Tier::L2, phrases::LIMIT_NETWORK),
    ("limit.write",          Tier::L2, phrases::LIMIT_WRITE),
    ("allowed",              Tier::L0, phrases::ALLOWED),
    ("git-config-exec",      Tier::L1, phrases::GIT_CONFIG_EXEC),
    ("git-config-unread",    Tier::L1, phrases::GIT_UNREAD),
    ("git-bare",             Tier::L1, phrases::GIT_BARE),
    ("git-outside",          Tier::L1, phrases::GIT_OUTSIDE),
    ("shell",                Tier::L0, phrases::SHELL_PIECE),
    ("shell.empty",          Tier::L1, phrases::SHELL_EMPTY),
    ("shell.opaque",         Tier::L1, phrases::SHELL_NOT_UNDERSTOOD),
    ("shell.string",         Tier::L1, phrases::SHELL_STRING),
    ("shell.eval",           Tier::L1, phrases::SHELL_EVALUATES),
    ("shell.source",         Tier::L1, phrases::SHELL_EVALUATES),
    ("shell.state",          Tier::L1, phrases::SHELL_CHANGES),
    ("shell.expansion",      Tier::L1, phrases::SHELL_EXPANDS),
    ("shell.background",     Tier::L1, phrases::SHELL_BACKGROUND),
    ("shell.endless",        Tier::L1, phrases::SHELL_ENDLESS),
    ("shell.function",       Tier::L1, phrases::SHELL_DEFINES),
    ("shell.recursion",      Tier::L2, phrases::SHELL_RECURSES),
    ("shell.variable",       Tier::L1, phrases::SETS_VARIABLE),
    ("shell.folder",         Tier::L1, phrases::SHELL_FOLDER),
    ("shell.network",        Tier::L1, phrases::USES_NETWORK),
    ("shell.redirect",       Tier::L1, phrases::WRITES_A_FILE),
    ("shell.piped",          Tier::L1, phrases::SHELL_PIPED),
    ("shell.declare",        Tier::L1, phrases::PRINTS_ENVIRONMENT),
    ("shell.export",         Tier::L1, phrases::PRINTS_ENVIRONMENT),
    ("shell.local",          Tier::L1, phrases::PRINTS_ENVIRONMENT),
    ("shell.readonly",       Tier::L1, phrases::PRINTS_ENVIRONMENT),
    ("shell.typeset",        Tier::L1, phrases::PRINTS_ENVIRONMENT),
    ("shell.set",            Tier::L1, phrases::PRINTS_ENVIRONMENT),
    ("shell.unguarded",      Tier::L0, phrases::LINE_UNGUARDED),
];

/// All rules: first the general ones, then what any row may add, then the tables.
pub fn rules() -> Vec<RuleId> {
    let mut ids: Vec<RuleId> = GENERAL
        .iter()
        .map(|(id, tier, why)| build_rule_id((*id).to_owned(), *tier, *why, "…"))
        .collect();
    let any =
        OF_ANY_ROW.iter().map(|(id, tier, why)| build_rule_id(format!("*.{id}"), *tier, *why, "…"));
    ids.extend(any);
    for spec in rules::all() {
        add_row_rules("", spec, &mut ids);
    }
    // A danger with several forms has one id.
    let mut seen = HashSet::new();
    ids.retain(|rule| seen.insert((rule.id.clone(), rule.tier)));
    ids
}

/// The rule of this id, if there is one: what `[safety] lift` may name. `*`: all that may be lifted.
pub fn is_rule(id: &str) -> bool {
    let any = id.rsplit_once('.').is_some_and(|(row, last)| {
        OF_ANY_ROW.iter().any(|(suffix, ..)| *suffix == last) && is_row(row)
    });
    any || id == "*" || IDS.contains(id)
}

/// A fact of the program, made once.
static IDS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let of_rows = rules().into_iter().map(|rule| rule.id);
    of_rows.chain(rules::forms::sub_command_ids()).collect()
});

fn is_row(id: &str) -> bool {
    let (program, rest) = id.split_once('.').unwrap_or((id, ""));
    let Some((spec, _)) = rules::find(program) else { return false };
    rest.is_empty() || spec.subs.iter().any(|sub| names(sub).any(|name| name == rest))
}

fn names(spec: &Spec) -> impl Iterator<Item = &str> {
    let plain = |name: &'static str| name.trim_end_matches('*').trim_end_matches(['.', '-']);
    spec.names.split_ascii_whitespace().map(plain)
}

fn add_row_rules(before: &str, spec: &Spec, ids: &mut Vec<RuleId>) {
    for name in names(spec) {
        let id = if before.is_empty() { name.to_owned() } else { format!("{before}.{name}") };
        let shown = id.replace('.', " ");
        ids.push(build_rule_id(id.clone(), spec.tier, spec.why, &shown));
        for danger in spec.dangers {
            ids.push(build_rule_id(format!("{id}.{}", danger.id), danger.tier, danger.why, &shown));
        }
        for sub in spec.subs {
            add_row_rules(&id, sub, ids);
        }
    }
}

fn build_rule_id(id: String, tier: Tier, why: Phrase, program: &str) -> RuleId {
    let gaps = [
        "alias", "arg", "changes", "driver", "file", "folder", "host", "line", "lines", "mask",
        "masks", "name", "option", "path", "port", "query", "real", "reason", "rule", "setting",
        "target", "tool", "tools", "variable", "version", "word",
    ];
    let why = gaps.into_iter().fold(LocalizedText::from(why), |say, gap| say.with(gap, "…"));
    let lifts = tier == Tier::L2 && id != "denied" && !id.starts_with("malformed.");
    RuleId { id, tier, why: why.with("program", program), lifts }
}
