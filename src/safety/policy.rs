//! What a step is judged by: the user's settings, the rules they wrote and those that were
//! remembered.

use std::fmt;
use std::path::{Path, PathBuf};

use avocet_core::i18n::{LocalizedText, safety as phrases};
use avocet_core::protocol::{ApprovalMode, Effect, SandboxDenial, SandboxStatus, StepAction};
use avocet_core::text::{quote_visible, short_name};

use super::mcp_names;
use super::web::WebSettings;
use super::{Machine, Workspace};

/// What becomes of steps with these effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectLimits {
    pub network: Limit,
    pub write: Limit,
    pub elevate: Limit,
}

impl Default for EffectLimits {
    fn default() -> EffectLimits {
        EffectLimits { network: Limit::Ask, write: Limit::Ask, elevate: Limit::Refuse }
    }
}

/// The user's settings, as data. Project settings may only make it stricter.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Changes to the built-in allow-list: `+name`, `-name`; a list with a plain name
    /// replaces it.
    pub allowed_programs: Vec<String>,
    pub unknown_program: Unknown,
    pub limits: EffectLimits,
    /// Rule ids whose L2 becomes a question.
    pub lift: Vec<String>,
    /// Rules for steps that run without asking, when they are L1, as the user wrote them.
    pub allowed: Vec<PolicyRule>,
    /// The same, remembered on the terms of a step that was approved.
    pub granted: Vec<Grant>,
    /// What the sandbox had denied a command, and the user opened to it for the session.
    pub opened: Vec<SessionOpening>,
    /// Rules for steps that are refused, before anything else.
    pub denied: Vec<PolicyRule>,
    /// Rules for steps that are asked about, whatever allows them.
    pub asked: Vec<PolicyRule>,
    /// Which steps the system holds, as far as that is known.
    pub shelter: SandboxStatus,
    /// JSON files beside those of slothtool that `config.json_patch` may change.
    pub config_files: Vec<String>,
    /// The only tools that the model gets in this run.
    pub offered: Option<ToolRestriction>,
    /// The mode of the session.
    pub approval: ApprovalMode,
    /// The tools that the entered skill leaves, while its turn lasts.
    pub narrowed: Option<ToolRestriction>,
    pub web: WebSettings,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            allowed_programs: Vec::new(),
            unknown_program: Unknown::Refuse,
            limits: EffectLimits::default(),
            lift: Vec::new(),
            allowed: Vec::new(),
            granted: Vec::new(),
            opened: Vec::new(),
            denied: Vec::new(),
            asked: Vec::new(),
            shelter: SandboxStatus::Unknown,
            config_files: Vec::new(),
            offered: None,
            approval: ApprovalMode::Ask,
            narrowed: None,
            web: WebSettings::default(),
        }
    }
}

/// Programs and tools that change files and run nothing.
const PLAIN: &[&str] = &["file.write", "file.edit", "mkdir", "touch", "rmdir", "cp", "mv"];

/// What happens to a program that is not on the allow-list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    Refuse,
    Confirm,
}

/// What happens to a step with an effect the user may switch off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Ask,
    Refuse,
}

/// A remembered rule: a program and the start of its args, `git push *`, or exactly
/// these args, `git push`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyRule {
    pub program: String,
    pub args: Vec<String>,
    /// True when more args may follow (`*` at the end).
    pub open: bool,
}

/// What one command, in one folder, may do in this session although the sandbox denied it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionOpening {
    pub command: StepAction,
    pub cwd: PathBuf,
    pub denied: SandboxDenial,
}

/// A rule with the terms it was given on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub rule: PolicyRule,
    pub terms: Terms,
}

/// The terms of the step that a rule was given for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The folder it ran in, absolute.
    pub folder: PathBuf,
    /// Ids of the rules that asked.
    pub reasons: Vec<String>,
    pub effects: Vec<Effect>,
    /// The file, where it is a program of the folder.
    pub pinned: Option<Pinned>,
    /// The file that an interpreter is given.
    pub script: Option<Pinned>,
}

/// A program of the folder, by its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    pub path: PathBuf,
    /// SHA-256 in hex; of a file too large for that, what identifies it.
    pub digest: String,
}

/// The restrictions of a turn since a skill was entered that names its tools. They only
/// take away: a step beyond them asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRestriction {
    pub skill: String,
    pub tools: Vec<String>,
}

/// Where a step would run, and under which policy.
#[derive(Clone, Copy)]
pub struct PolicyContext<'a> {
    pub policy: &'a Policy,
    pub place: &'a Workspace,
    pub world: &'a dyn Machine,
}

impl fmt::Debug for PolicyContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scene").field("place", self.place).finish_non_exhaustive()
    }
}

impl Policy {
    /// Whether a program of this name may be judged by what it does. `has_row`: it is in
    /// the tables, which are the built-in list.
    pub fn allows(&self, name: &str, has_row: bool) -> bool {
        let entries = || self.allowed_programs.iter().map(String::as_str);
        // A list that could mean everything would be no list.
        let replaced = entries().any(|e| !e.starts_with(['+', '-', '/']) && e != "*");
        let listed = entries().any(|entry| entry.strip_prefix('+').unwrap_or(entry) == name);
        let taken = entries().any(|entry| entry.strip_prefix('-') == Some(name));
        !taken && (listed || (has_row && !replaced))
    }

    /// What the user opened to a command for the session.
    pub fn session_opening(&self, action: &StepAction, cwd: &Path) -> SandboxDenial {
        let own = self.opened.iter().filter(|one| one.command == *action && one.cwd == cwd);
        own.fold(SandboxDenial::default(), |all, one| all.merged(&one.denied))
    }

    /// Every rule that allows: those the user wrote, then those that were remembered.
    pub fn allow_rules(&self) -> Vec<PolicyRule> {
        let granted = self.granted.iter().map(|grant| &grant.rule);
        self.allowed.iter().chain(granted).cloned().collect()
    }

    /// Whether a rule may let a step run unasked that does what the files of a build say, also by
    /// way of a hook.
    pub(super) fn runs_builds_unasked(&self) -> bool {
        let granted = self.granted.iter().map(|grant| &grant.rule);
        self.allowed.iter().chain(granted).any(|rule| !PLAIN.contains(&short_name(&rule.program)))
    }

    /// Whether the user's settings make a question of this refusal.
    pub fn lifts(&self, rule: &str) -> bool {
        !is_firm(rule) && self.lift.iter().any(|lifted| lifted == rule || lifted == "*")
    }
}

/// Whether no setting makes a question of a refusal by this rule.
pub fn is_firm(rule: &str) -> bool {
    matches!(rule, "denied" | "mode.plan" | "tool.withheld") || rule.starts_with("malformed.")
}

impl PolicyRule {
    /// Parses a rule as the user writes it. Quotes keep blanks together; a bare `*` at the
    /// end lets any further arguments follow.
    pub fn parse(text: &str) -> Result<PolicyRule, LocalizedText> {
        let mut words = split(text).ok_or_else(|| phrases::RULE_QUOTE.with("rule", text))?;
        let open = words.last().is_some_and(|(word, quoted)| word == "*" && !quoted);
        if open {
            words.pop();
        }
        let mut words = words.into_iter().map(|(word, _)| word);
        match words.next().filter(|program| !program.is_empty() && program != "*") {
            Some(program) => {
                let args: Vec<String> = words.collect();
                // A tool is named without its input.
                let open = open || args.is_empty() && mcp_names::is_call(&program);
                Ok(PolicyRule { program, args, open })
            }
            None => Err(phrases::RULE_EMPTY.into()),
        }
    }

    /// Whether a command line of plain words, quoted as rules are, is one the rule applies
    /// to; `None` for a line that is not of this form.
    pub fn matches_line(&self, line: &str) -> Option<bool> {
        let mut words = split(line)?.into_iter().map(|(word, _)| word);
        let program = words.next()?;
        let args: Vec<String> = words.collect();
        Some(self.matches(&program, &args))
    }

    /// Whether these are the program and the args the rule speaks of.
    pub fn matches(&self, program: &str, args: &[String]) -> bool {
        let short = short_name(program);
        let named = self.program == program || self.program == short;
        let same = if self.open { args.starts_with(&self.args) } else { args == self.args };
        named && same
    }
}

/// As the user writes it; [`PolicyRule::parse`] reads it back.
impl fmt::Display for PolicyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quote_visible(&self.program))?;
        for arg in &self.args {
            write!(f, " {}", quote_visible(arg))?;
        }
        if self.open && !mcp_names::is_call(&self.program) { f.write_str(" *") } else { Ok(()) }
    }
}

/// The words of a rule, and whether a part of each was quoted; `None` when a quote is
/// left open.
pub(super) fn split(text: &str) -> Option<Vec<(String, bool)>> {
    let mut out: Vec<(String, bool)> = Vec::new();
    let mut word: Option<(String, bool)> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                let (word, quoted) = word.get_or_insert_default();
                *quoted = true;
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().0.push(chars.next()?),
            c if c.is_whitespace() => out.extend(word.take()),
            c => word.get_or_insert_default().0.push(c),
        }
    }
    out.extend(word);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> PolicyRule {
        PolicyRule::parse(text).unwrap()
    }

    #[test]
    fn a_rule_is_read_back_as_it_is_written() {
        for text in ["git push *", "git push", "npm run 'build all' *", "echo '*'", "a 'it'\\''s'"]
        {
            assert_eq!(rule(text).to_string(), text);
            assert_eq!(rule(&rule(text).to_string()), rule(text));
        }
        assert!(rule("git push *").open);
        assert!(!rule("echo '*'").open);
    }

    #[test]
    fn a_rule_matches_the_lines_that_begin_like_it() {
        assert_eq!(rule("git push *").matches_line("git push 'a b'"), Some(true));
        assert_eq!(rule("git push").matches_line("git push origin"), Some(false));
        assert_eq!(rule("git push").matches_line("git 'push"), None);
        assert_eq!(rule("git push").matches_line(" "), None);
    }

    #[test]
    fn a_rule_without_a_program_is_refused() {
        for text in ["", "  ", "*", "* x", "'", "a 'b"] {
            assert!(PolicyRule::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_list_of_programs_grows_shrinks_and_is_replaced() {
        let policy = |entries: &[&str]| Policy {
            allowed_programs: entries.iter().map(|e| (*e).to_owned()).collect(),
            ..Policy::default()
        };
        assert!(policy(&[]).allows("ls", true));
        assert!(!policy(&[]).allows("just", false));
        assert!(policy(&["+just"]).allows("just", false));
        assert!(!policy(&["-curl"]).allows("curl", true));
        assert!(policy(&["ls"]).allows("ls", true));
        assert!(!policy(&["ls"]).allows("git", true));
        assert!(!policy(&["*"]).allows("just", false));
    }
}
