//! Describes in sentences what a rule covers and what it leaves to a question, whether it
//! can answer anything at all, and which content it is bound to.

use std::path::Path;

use avocet_core::i18n::{LocalizedText, rules as phrases, web};
use avocet_core::protocol::{ApprovalMode, Effect, Requires, Step, StepAction, Tier};

use super::grant::{self, starts_with_script_file};
use super::mcp_names;
use super::policy::{Grant, PolicyRule, Terms};
use super::reach;
use super::rules::remembered::{Operand, Rest, RuleReach};
use super::web::SEARCH;
use super::{Policy, PolicyContext, Verdict, Workspace, assess, paths, tools};

/// Options that are named one by one.
const NAMED: usize = 12;

/// The coverage of the rule when it was given on these terms, or written by the user, in
/// `folder`.
pub fn describe_coverage(
    rule: &PolicyRule,
    terms: Option<&Terms>,
    folder: &Path,
) -> Vec<LocalizedText> {
    let folder = terms.map_or(folder, |terms| &terms.folder).to_string_lossy().into_owned();
    if tools::REMEMBERED.contains(&rule.program.as_str()) {
        return vec![phrases::FILES.with("folder", folder), phrases::FILES_ASK.into()];
    }
    if mcp_names::is_call(&rule.program) {
        return vec![phrases::MCP_CALL.with("tool", rule.program.as_str())];
    }
    if rule.program == SEARCH {
        return vec![web::COVERS_SEARCH.into()];
    }
    if let ([host], true) = (rule.args.as_slice(), tools::web::is_host_rule(rule)) {
        return vec![web::COVERS_HOST.with("host", host.as_str())];
    }
    if terms.is_none() && is_unbound(rule) {
        return vec![phrases::UNBOUND.with("rule", rule.to_string())];
    }
    let mut out = match coverage_of(rule, terms.is_none()) {
        Coverage::Nothing => vec![phrases::NOTHING.with("program", rule.program.as_str())],
        Coverage::Exactly if rule.open => {
            let rule = PolicyRule { open: false, ..rule.clone() };
            vec![phrases::NO_STAR.with("command", rule.to_string()).with("folder", folder)]
        }
        Coverage::Exactly => vec![phrases::EXACT.with("folder", folder)],
        Coverage::Open(rest) => {
            let command = PolicyRule { open: false, ..rule.clone() }.to_string();
            describe_open_rule(&rest, command, folder)
        }
    };
    if let Some(terms) = terms {
        let reasons = terms.reasons.join(", ");
        out.push(phrases::REASONS.with("reasons", reasons));
        if terms.pinned.is_some() {
            out.push(phrases::PINNED.with("program", rule.program.as_str()));
        }
        if let Some(script) = &terms.script {
            let path = script.path.strip_prefix(&terms.folder).unwrap_or(&script.path);
            out.push(phrases::PINNED.with("program", path.to_string_lossy().into_owned()));
        }
    }
    out
}

/// Programs covered by their content alone, which a text cannot hold: a script, and a
/// program named by a path below the folder.
fn is_unbound(rule: &PolicyRule) -> bool {
    let reach = reach::match_form(&rule.program, &rule.args).reach;
    let script = matches!(reach, RuleReach::Script) && starts_with_script_file(&rule.args);
    let named = rule.args.iter().any(|arg| !arg.starts_with('-'));
    rule.program.starts_with("./") || script && named
}

fn describe_open_rule(rest: &Rest, command: String, folder: String) -> Vec<LocalizedText> {
    let what = match rest.operands {
        Operand::None => phrases::OPERANDS_NONE,
        Operand::Name => phrases::OPERANDS_NAMES,
        Operand::Inside | Operand::Changed | Operand::ChangedFolder => phrases::OPERANDS_INSIDE,
        Operand::Remote => phrases::OPERANDS_REMOTE,
    };
    let open = phrases::OPEN.with("command", command).with("what", what);
    let mut out = vec![open.with("folder", folder)];
    let options: Vec<&str> =
        rest.flags.split_ascii_whitespace().chain(rest.values.split_ascii_whitespace()).collect();
    let more = options.len().saturating_sub(NAMED);
    let named = options.iter().take(NAMED).copied().collect::<Vec<_>>().join(" ");
    match (named.is_empty(), more) {
        (true, _) => {}
        (false, 0) => out.push(phrases::OPTIONS.with("options", named)),
        (false, more) => out.push(phrases::OPTIONS_MORE.with("options", named).with("count", more)),
    }
    out.push(phrases::ASKS.into());
    out
}

enum Coverage {
    Nothing,
    Exactly,
    Open(Rest),
}

fn coverage_of(rule: &PolicyRule, by_hand: bool) -> Coverage {
    let governed = reach::match_form(&rule.program, &rule.args);
    match governed.reach {
        _ if !rule.open => Coverage::Exactly,
        RuleReach::Nothing => Coverage::Nothing,
        RuleReach::Script if !starts_with_script_file(&rule.args) => Coverage::Nothing,
        RuleReach::ByHand(_) if !by_hand => Coverage::Nothing,
        _ if reach::star_covers_sub_commands(&governed, &rule.program, rule.args.len()) => {
            Coverage::Nothing
        }
        RuleReach::ExactOr(_) if !by_hand => Coverage::Exactly,
        RuleReach::Exact | RuleReach::Script | RuleReach::Local => Coverage::Exactly,
        RuleReach::Open(rest) | RuleReach::ByHand(rest) | RuleReach::ExactOr(rest) => {
            Coverage::Open(rest)
        }
    }
}

/// Why a rule the user writes would answer nothing; `None`: it may answer something.
/// `grant`: it is bound to the content of a program of the folder.
pub fn why_never_applies(
    rule: &PolicyRule,
    grant: Option<&Grant>,
    policy_cx: PolicyContext<'_>,
) -> Option<LocalizedText> {
    let shown = rule.to_string();
    if tools::web::is_host_rule(rule) {
        return None;
    }
    let is_call = mcp_names::is_call(&rule.program);
    if is_call || tools::is_tool(&rule.program) {
        let known = tools::is_remembered(&rule.program);
        let whole = rule.open && rule.args.is_empty();
        let say = phrases::NEVER_TOOL.with("rule", shown).with("tool", rule.program.as_str());
        return (!known || !whole).then_some(say);
    }
    let policy = Policy {
        allowed: vec![rule.clone()],
        granted: grant.cloned().into_iter().collect(),
        narrowed: None,
        approval: ApprovalMode::Ask,
        ..policy_cx.policy.clone()
    };
    let workspace = Workspace { trusted: true, ..policy_cx.place.clone() };
    let verdict =
        assess_rule(rule, PolicyContext { policy: &policy, place: &workspace, ..policy_cx });
    let risk = &verdict.judgement().risk;
    let why = risk.reasons.first().map(|reason| reason.say.clone())?;
    match verdict {
        Verdict::Refuse(_) => Some(phrases::NEVER_REFUSED.with("rule", shown).with("why", why)),
        _ if matches!(coverage_of(rule, true), Coverage::Nothing) => {
            let say = phrases::NEVER_OPEN.with("rule", shown);
            Some(say.with("program", rule.program.as_str()))
        }
        // More arguments may turn it into something the rule covers.
        Verdict::Ask(_) if rule.open => None,
        Verdict::Ask(_) => Some(phrases::NEVER_ASKED.with("rule", shown).with("why", why)),
        Verdict::Run(_) if risk.tier == Tier::L0 && !rule.open => {
            Some(phrases::NEVER_NEEDED.with("rule", shown))
        }
        Verdict::Run(_) => None,
    }
}

/// The content that a rule the user writes is bound to: a program of the folder, or the
/// script passed to an interpreter. An error: it names neither.
pub fn bind_to_content(
    rule: PolicyRule,
    policy_cx: PolicyContext<'_>,
) -> Result<Grant, PolicyRule> {
    let folder = policy_cx.place.cwd.clone();
    let path = paths::absolute(&rule.program, &folder, &policy_cx.place.home);
    let named = rule.program.contains('/').then(|| policy_cx.world.executable_at(&path)).flatten();
    let trusted = policy_cx.world.program(&path.to_string_lossy()).is_some();
    let pinned = grant::pin(named.as_ref().filter(|_| !trusted), policy_cx);
    let Some(pinned) = pinned else { return bind_to_script(rule, policy_cx) };
    let reasons = grant::OF_FOLDER.iter().map(|reason| (*reason).to_owned()).collect();
    let effects = vec![Effect::Exec];
    let pinned = Some(pinned);

    Ok(Grant { rule, terms: Terms { folder, reasons, effects, pinned, script: None } })
}

/// The same for an interpreter that is given a script: what its step would be offered.
fn bind_to_script(rule: PolicyRule, policy_cx: PolicyContext<'_>) -> Result<Grant, PolicyRule> {
    let workspace = Workspace { trusted: true, ..policy_cx.place.clone() };
    let approval = ApprovalMode::Ask;
    let policy = Policy { allowed: vec![], granted: vec![], approval, ..policy_cx.policy.clone() };
    let policy_cx = PolicyContext { policy: &policy, place: &workspace, ..policy_cx };
    let offered = grant::suggest_grant(assess_rule(&rule, policy_cx).judgement(), policy_cx);
    offered.filter(|grant| grant.rule == rule && grant.terms.script.is_some()).ok_or(rule)
}

/// Judges exactly what a rule names.
fn assess_rule(rule: &PolicyRule, policy_cx: PolicyContext<'_>) -> Verdict {
    let exec = StepAction::Exec { program: rule.program.clone(), args: rule.args.clone() };
    let step = Step { id: String::new(), work: exec, requires: Requires::default(), cwd: None };
    assess(step, policy_cx)
}
