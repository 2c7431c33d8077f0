//! Judges a step as a whole: what it runs, where, what the model says it needs, and what
//! the user's settings make of that.

use std::path::PathBuf;

use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::{
    ApprovalMode, Effect, Reason, Requires, SandboxStatus, Step, StepAction, SubCommand, Tier,
};

use super::command;
use super::findings::{Findings, excerpt};
use super::grant::{self, GrantQuestion};
use super::pieces::{self, JudgedLine};
use super::snapshot::MachineSnapshot;
use super::spec::{ArgPosition, JudgeContext};
use super::{
    Grant, Judgement, Launch, Limit, NamedWrite, Needs, PathKind, Policy, PolicyContext, Program,
    SeenPrograms, ToolTask, malformed, modes, named, paths, shell, tools, user_rules,
};

/// Its proof is a language in an argument, and nothing would hold it.
const UNHELD: &str = "sandbox.absent.language";

/// In plan mode nothing beyond reading runs; no setting changes that.
const PLAN_MODE: &str = "mode.plan";

/// The judgement, and whether a rule of the user lets it run unasked.
pub fn judge(step: Step, policy_cx: PolicyContext<'_>) -> (Judgement, bool) {
    judge_in(step, policy_cx, false)
}

/// The same for a command of a line.
fn judge_piece(step: Step, policy_cx: PolicyContext<'_>) -> (Judgement, bool) {
    judge_in(step, policy_cx, true)
}

/// The rules that "don't ask again" would remember for a step: for a line those of the pieces
/// that ask. None where it is not offered.
pub fn suggest_grants(judged: &Judgement, policy_cx: PolicyContext<'_>) -> Vec<Grant> {
    let context = command::judge_context(policy_cx, judged.cwd.clone());
    let Some(line) = pieces::judge(&judged.step.work, &context, judge_piece) else {
        return grant::suggest_grant(judged, policy_cx).into_iter().collect();
    };
    // No rule of a piece answers what is asked about besides the pieces.
    let beside = judged.step.requires.raises_tier() || judged.risk.lifted;
    let offered = line.asking().map(|piece| grant::suggest_grant(piece, policy_cx));
    let offered_grants: Option<Vec<Grant>> = if beside { None } else { offered.collect() };
    let mut grants = offered_grants.unwrap_or_default();
    grants.dedup();
    grants
}

fn judge_in(step: Step, policy_cx: PolicyContext<'_>, in_line: bool) -> (Judgement, bool) {
    let snapshot = MachineSnapshot::new(policy_cx.world);
    let policy_cx = PolicyContext { world: &snapshot, ..policy_cx };
    let cwd = step_folder(step.cwd.as_deref(), policy_cx);
    let context = JudgeContext { in_line, ..command::judge_context(policy_cx, cwd) };
    let mut findings = Findings::default();
    if let StepAction::Exec { args, .. } = &step.work
        && malformed::is_too_large(args)
    {
        return (refuse_size(step, context.cwd), false);
    }
    let line = pieces::judge(&step.work, &context, judge_piece);
    // A single step is kept from changing anything where no sandbox is; a line is not.
    let is_off = policy_cx.policy.shelter == SandboxStatus::Off;
    let is_own =
        |line: &&JudgedLine| !is_off && line.runs() && may_start_shell(&step.work, &context);
    let running = line.as_ref().filter(is_own);
    let asking = line.as_ref().filter(|_| running.is_none());
    let mut questions = add_questions(asking, &mut findings);
    let (pieces, task) = judge_work(&step.work, running, &context, &mut findings);
    if line.is_none() {
        questions = pieces::questions_of(&step.work, &pieces);
    }
    asking.iter().for_each(|line| line.add_refusals(&mut findings));
    tools::skill::check_restriction(&step.work, policy_cx.policy, &mut findings);
    check_masks(&step.work, &context, &mut findings);
    if !matches!(step.work, StepAction::Tool { .. }) {
        check_folder_and_trust(&context, &mut findings);
    }
    add_requirements(step.requires, &mut findings);
    if policy_cx.policy.shelter == SandboxStatus::Absent
        && findings.by_language
        && findings.tier() == Tier::L0
    {
        findings.add(UNHELD, Tier::L1, phrases::SANDBOX_ABSENT, None, &[]);
    }
    let needs = Needs::find(&step.work, &context, &mut findings);
    let netlink = needs.netlink || findings.launch.needs.netlink;
    findings.launch.needs = Needs { netlink, ..needs };
    let lifted = apply_limits(policy_cx.policy, &mut findings);
    let program = find_program(&step.work, task.as_ref(), &context);
    let entries = find_entries(&step.work, asking, program.as_ref(), &context, &mut findings);
    named::open_entries(entries, &context, &mut findings);
    let allowed = !lifted
        && match running {
            Some(line) => findings.tier() == Tier::L1 && line.covers(&findings),
            None => apply_allow_rules(&step.work, program.as_ref(), &context, &mut findings),
        };
    let seen = findings.seen_programs();
    let by_mode = allowed && findings.rule_ids().any(modes::is_answer);
    let mut launch = build_launch(&mut findings, &context);
    if by_mode {
        launch.needs = launch.needs.without_openings();
    }
    launch.opened = policy_cx.policy.session_opening(&step.work, &context.cwd);
    let risk = pieces::lead_with(questions, findings.into_risk(lifted));
    let runs = running.is_some() && (risk.tier == Tier::L0 || allowed);
    let launch = if risk.tier == Tier::L0 { launch } else { launch.for_approved() };
    let script = line.filter(|_| runs).map(JudgedLine::into_script);
    let launch = Launch { script, ..launch };
    (Judgement { step, risk, program, cwd: context.cwd, pieces, seen, task, launch }, allowed)
}

/// Adds why the pieces of a line ask, and returns it.
fn add_questions(line: Option<&JudgedLine>, findings: &mut Findings) -> Vec<Reason> {
    let questions = line.map(JudgedLine::questions).unwrap_or_default();
    for Reason { rule, tier, say, arg } in &questions {
        findings.add(rule.clone(), *tier, say.clone(), *arg, &[]);
    }
    questions
}

/// What a step opens entry by entry of what it names, where it is one that changes exactly that.
fn find_entries(
    action: &StepAction,
    judged_line: Option<&JudgedLine>,
    program: Option<&Program>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> Option<Vec<NamedWrite>> {
    if let Some(line) = judged_line {
        return line.entries(context);
    }
    let is_trusted = context.policy_cx.place.trusted;
    let of_line = findings.entries.take().filter(|_| is_trusted && pieces::is_line(action));
    let reasons = findings.iter().map(|finding| &finding.reason);
    of_line.or_else(|| named::entries(action, program, context, reasons, &findings.launch.named))
}

/// Refuses a step with too many words, which no setting lets run, before any of them is looked at.
fn refuse_size(step: Step, cwd: PathBuf) -> Judgement {
    let mut findings = Findings::default();
    findings.add("malformed.size", Tier::L2, phrases::ARGS_TOO_LARGE, None, &[]);
    Judgement {
        step,
        risk: findings.into_risk(false),
        program: None,
        cwd,
        pieces: Vec::new(),
        seen: SeenPrograms::default(),
        task: None,
        launch: Launch::default(),
    }
}

/// Judges what a step does: the commands of it, and the task of a tool.
fn judge_work(
    action: &StepAction,
    judged_line: Option<&JudgedLine>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> (Vec<SubCommand>, Option<ToolTask>) {
    let mut commands = Vec::new();
    let mut task = None;

    match action {
        StepAction::Exec { args, .. } if let Some(line) = judged_line => {
            malformed::check_args(args, findings);
            line.add_to(findings);
            commands = line.sub_commands();
        }
        StepAction::Exec { program, args } => {
            malformed::check_args(args, findings);
            let seat = ArgPosition::From(0);
            command::judge_command(program, None, args, seat, 0, context, findings);
            if !context.in_line {
                commands = pieces::sub_commands(action, context);
            }
        }
        StepAction::Shell { line } => {
            commands = shell::judge_line(line, ArgPosition::Line, 0, context, findings);
        }
        StepAction::Tool { name, input } => {
            task = tools::judge(name, input, context, findings);
            user_rules::check_command(name, None, &[], context, findings);
            if let Some(host) = tools::web::host_of(action) {
                user_rules::check_command(name, None, &[host], context, findings);
            }
        }
    }
    (commands, task)
}

/// Whether the shell of a line is one that may be started without a question, whatever it is
/// given.
fn may_start_shell(action: &StepAction, context: &JudgeContext<'_>) -> bool {
    let StepAction::Exec { program, args } = action else { return false };
    let mut findings = Findings::default();
    let asked = ["--version".to_owned()];
    let seat = ArgPosition::From(0);
    command::judge_command(program, None, &asked, seat, 0, context, &mut findings);
    user_rules::check_command(program, None, args, context, &mut findings);
    findings.tier() == Tier::L0
}

/// The findings for the start, with every program resolved.
fn build_launch(findings: &mut Findings, context: &JudgeContext<'_>) -> Launch {
    let mut launch = std::mem::take(&mut findings.launch);
    let place = context.policy_cx.place;
    launch.readable.extend(place.readable.iter().chain(&place.added).cloned());
    launch.writes.extend_from_slice(&place.added);
    for name in std::mem::take(&mut findings.started) {
        if let Some(program) = find_named_program(&name, context)
            && !launch.starts.contains(&program)
        {
            launch.starts.push(program);
        }
    }
    launch
}

/// The folder a step runs in, with links resolved.
fn step_folder(asked: Option<&str>, policy_cx: PolicyContext<'_>) -> PathBuf {
    let place = policy_cx.place;
    match asked {
        Some(text) => policy_cx.resolve(text, &place.cwd),
        None => policy_cx.world.resolve(&place.cwd),
    }
}

/// The rule of a step that waits for trust in the workspace.
pub const UNTRUSTED: &str = "folder.untrusted";

/// The folder it runs in, and whether the workspace is trusted.
fn check_folder_and_trust(context: &JudgeContext<'_>, findings: &mut Findings) {
    let shown = excerpt(&context.cwd.to_string_lossy());
    if context.policy_cx.world.kind(&context.cwd) != PathKind::Folder {
        let say = phrases::CWD_MISSING.with("path", shown);
        findings.add("cwd.missing", Tier::L1, say, None, &[]);
    } else if !is_in_allowed_folder(context, findings) {
        let say = phrases::CWD_OUTSIDE.with("path", shown);
        findings.add("cwd.outside", Tier::L1, say, None, &[Effect::Outside]);
    }
    // A step that only reads, and by no settings of the project, needs no trust in it.
    let asks = findings.tier_or(Tier::L0) > Tier::L0;
    let steered = findings.of_folder && !findings.launch.empty_folder;
    if !context.policy_cx.place.trusted && (asks || steered) {
        findings.add(UNTRUSTED, Tier::L1, phrases::FOLDER_UNTRUSTED, None, &[]);
    }
}

/// Whether it runs in the workspace, or reads where the user's repository may be read.
fn is_in_allowed_folder(context: &JudgeContext<'_>, findings: &Findings) -> bool {
    let place = context.policy_cx.place;
    let reads = findings.tier_or(Tier::L0) == Tier::L0;
    place.contains(&context.cwd) || (reads && place.can_read(&context.cwd))
}

/// Masks where they cannot be turned back.
fn check_masks(action: &StepAction, context: &JudgeContext<'_>, findings: &mut Findings) {
    let (tool, line);
    let texts: Vec<&str> = match action {
        StepAction::Exec { program, args } => {
            args.iter().map(String::as_str).chain([program.as_str()]).collect()
        }
        StepAction::Shell { line: text } => {
            line = text;
            vec![line.as_str()]
        }
        StepAction::Tool { name, input } if name == "plugin.run" => {
            tool = input.to_string();
            vec![tool.as_str()]
        }
        StepAction::Tool { .. } => return,
    };
    tools::masks::check_arguments(&texts, context, findings);
}

/// The needs the model itself declares for a step. They can only add.
fn add_requirements(requires: Requires, findings: &mut Findings) {
    let said = [
        (requires.confirm, "requires.confirm", Tier::L1, phrases::REQUIRES_CONFIRM, None),
        (
            requires.elevated,
            "requires.elevated",
            Tier::L2,
            phrases::REQUIRES_ELEVATED,
            Some(Effect::Elevate),
        ),
        (
            requires.network,
            "requires.network",
            Tier::L1,
            phrases::REQUIRES_NETWORK,
            Some(Effect::Network),
        ),
        (requires.write, "requires.write", Tier::L1, phrases::REQUIRES_WRITE, Some(Effect::Write)),
    ];
    for (_, rule, tier, why, effect) in said.into_iter().filter(|(asked, ..)| *asked) {
        findings.add(rule, tier, why, None, effect.as_slice());
    }
}

/// Applies the user's refusals, then the rules they lift. True: an L2 became a question.
fn apply_limits(policy: &Policy, findings: &mut Findings) -> bool {
    if policy.limits.network == Limit::Refuse && findings.has(Effect::Network) {
        findings.add("limit.network", Tier::L2, phrases::LIMIT_NETWORK, None, &[]);
    }
    if policy.limits.write == Limit::Refuse
        && (findings.has(Effect::Write) || findings.has(Effect::Delete))
    {
        findings.add("limit.write", Tier::L2, phrases::LIMIT_WRITE, None, &[]);
    }
    let mut lifted = false;
    for finding in findings.iter_mut().filter(|finding| finding.reason.tier == Tier::L2) {
        // `allow_sudo` applies to steps that elevate and do nothing worse.
        let elevates = policy.limits.elevate == Limit::Ask
            && finding.effects.contains(&Effect::Elevate)
            && !finding.effects.contains(&Effect::Irreversible);
        if elevates || policy.lifts(&finding.reason.rule) {
            finding.reason.tier = Tier::L1;
            lifted = true;
        }
    }
    if policy.approval == ApprovalMode::Plan && findings.tier() > Tier::L0 {
        findings.add(PLAN_MODE, Tier::L2, phrases::PLAN_MODE, None, &[]);
    }
    lifted && findings.tier() < Tier::L2
}

/// Whether a rule of the user or the mode lets an L1 run unasked; says so. In a folder that is not
/// trusted neither does.
fn apply_allow_rules(
    action: &StepAction,
    program: Option<&Program>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> bool {
    let policy_cx = context.policy_cx;
    let is_asked = findings.rule_ids().any(|rule| rule == user_rules::ASKED);
    if !policy_cx.place.trusted || is_asked || findings.tier() != Tier::L1 {
        return false;
    }
    let question = GrantQuestion { work: action, cwd: &context.cwd, program, findings, policy_cx };
    let rule = grant::find_allowing_rule(question, policy_cx.policy).map(ToString::to_string);
    let answer = match rule {
        Some(rule) => Some(("allowed", phrases::ALLOWED.with("rule", rule))),
        None => modes::answer(question).map(|(id, say)| (id, say.into())),
    };
    if let Some((id, say)) = &answer {
        findings.add(*id, Tier::L0, say.clone(), None, &[]);
    }
    answer.is_some()
}

/// The program to start: the step's own, or for a line the shell.
fn find_program(
    action: &StepAction,
    task: Option<&ToolTask>,
    context: &JudgeContext<'_>,
) -> Option<Program> {
    let world = context.policy_cx.world;
    match action {
        StepAction::Exec { program, args } if shell::shell_lookup_line(program, args).is_some() => {
            world.program("sh")
        }
        StepAction::Exec { program, .. } => find_named_program(program, context),
        StepAction::Shell { .. } => world.program("bash").or_else(|| world.program("sh")),
        StepAction::Tool { .. } => match task {
            Some(ToolTask::Plugin(_)) => world.program("node"),
            _ => None,
        },
    }
}

/// The program that a name or a path in a command refers to.
fn find_named_program(name: &str, context: &JudgeContext<'_>) -> Option<Program> {
    let world = context.policy_cx.world;
    if let Some(own) = command::own_program(name, context) {
        return Some(own.program);
    }
    if !name.contains('/') {
        return world.program(name);
    }
    let path = paths::absolute(name, &context.cwd, &context.policy_cx.place.home);
    world.program(&path.to_string_lossy()).or_else(|| world.executable_at(&path))
}
