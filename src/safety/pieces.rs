//! Judges a line for a shell by its pieces: each command as the step it would be by itself, in
//! the folder it runs in. If all of them run unasked, so does the line, and then its shell gets
//! exactly what was judged.

use std::path::PathBuf;

use super::findings::{Findings, excerpt};
use super::shell::{self, PlainCommand, PlainLine, PlainSegment};
use super::spec::JudgeContext;
use super::{
    Judgement, Launch, NamedWrite, PolicyContext, ShellScript, ShellScriptCommand, ShellScriptPart,
    named,
};
use avocet_core::i18n::{Lang, LocalizedText, safety as phrases};
use avocet_core::protocol::{Effect, Reason, Requires, Risk, Step, StepAction, SubCommand, Tier};
use avocet_core::text::short_name;

/// Judges a step that is a piece of a line, and whether a rule of the user lets it run.
pub type PieceJudge = fn(Step, PolicyContext<'_>) -> (Judgement, bool);

/// A line with its pieces judged.
#[derive(Debug)]
pub struct JudgedLine {
    line: PlainLine,
    /// In the order of the commands of the line.
    pieces: Vec<JudgedPiece>,
    /// The argument of the step that is the line.
    arg: usize,
}

#[derive(Debug)]
struct JudgedPiece {
    text: String,
    judged: Judgement,
    is_allowed: bool,
}

/// The line of a step that gives one to a shell, which of its arguments that is, and whether the
/// shell is bash.
pub fn shell_line(action: &StepAction) -> Option<(&str, usize, bool)> {
    let StepAction::Exec { program, args } = action else { return None };
    let name = short_name(program);
    let (line, options) = args.split_last()?;
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let known = [&["-c"][..], &["-lc"], &["-cl"], &["-l", "-c"], &["--login", "-c"]];
    let is_known = ["bash", "sh"].contains(&name) && known.contains(&options.as_slice());
    is_known.then_some((line, options.len(), name == "bash"))
}

/// Whether a step is a line for a shell.
pub fn is_line(action: &StepAction) -> bool {
    shell_line(action).is_some() || matches!(action, StepAction::Shell { .. })
}

/// The commands of such a line, whether or not all of it is understood.
pub fn sub_commands(action: &StepAction, context: &JudgeContext<'_>) -> Vec<SubCommand> {
    let Some((line, arg, _)) = shell_line(action) else { return Vec::new() };
    let seat = super::spec::ArgPosition::Within(arg);
    shell::judge_line(line, seat, 1, context, &mut Findings::default())
}

/// Judges the pieces of a line; `None`: it is not one, or some of it is only known to the shell.
pub fn judge(
    action: &StepAction,
    context: &JudgeContext<'_>,
    judge_piece: PieceJudge,
) -> Option<JudgedLine> {
    let (text, arg, is_bash) = shell_line(action).filter(|_| !context.in_line)?;
    let line = shell::read_plain(text, is_bash, &context.cwd, context.policy_cx)?;
    let commands = line.0.iter().filter_map(|part| match part {
        PlainSegment::Text(_) => None,
        PlainSegment::Command(command) => Some(command),
    });
    let pieces: Option<Vec<JudgedPiece>> =
        commands.map(|command| JudgedPiece::judge(command, context, judge_piece)).collect();
    let pieces = pieces?;
    let length: usize = pieces.iter().map(JudgedPiece::length).sum();
    (length <= MAX_LENGTH).then_some(JudgedLine { line, pieces, arg })
}

/// How long the words of a line may be with all that is added to them: the system takes no
/// argument of more than 128 KiB.
const MAX_LENGTH: usize = 80 * 1024;
/// What a git is given in front of it, about.
const GIT_SETTINGS: usize = 4 * 1024;

impl JudgedPiece {
    /// In every folder it may run in; they must not make a difference.
    fn judge(
        command: &PlainCommand,
        context: &JudgeContext<'_>,
        judge_piece: PieceJudge,
    ) -> Option<JudgedPiece> {
        let judged_in = |folder: &PathBuf| {
            let args = command.args.clone();
            let exec = StepAction::Exec { program: command.name.clone(), args };
            let cwd = Some(folder.to_str()?.to_owned());
            let step = Step { id: String::new(), work: exec, requires: Requires::default(), cwd };
            Some(judge_piece(step, context.policy_cx))
        };
        let (first, others) = command.folders.split_first()?;
        let (judged, is_allowed) = judged_in(first)?;
        for folder in others {
            let (other, allowed) = judged_in(folder)?;
            let same = other.risk.tier == judged.risk.tier
                && allowed == is_allowed
                && other.launch == judged.launch
                && judged.launch.git.is_none();
            if !same {
                return None;
            }
        }
        // The user would be asked about what only the shell will know.
        let is_asked = judged.risk.tier > Tier::L0 && !command.unknown.is_empty();
        // What the shell does itself gets nothing added.
        let plain = judged.launch.inserted.is_empty() && !judged.launch.empty_folder;
        let is_kept = command.shown.is_none() || plain;
        let text = command.text.clone();
        (is_kept && !is_asked).then_some(JudgedPiece { text, judged, is_allowed })
    }

    fn length(&self) -> usize {
        let Launch { inserted, git, .. } = &self.judged.launch;
        let added: usize = inserted.iter().map(|(_, word)| word.len() + 3).sum();
        let args: usize = match &self.judged.step.work {
            StepAction::Exec { args, .. } => args.iter().map(|arg| arg.len() + 3).sum(),
            StepAction::Shell { .. } | StepAction::Tool { .. } => 0,
        };
        added + args + if git.is_some() { GIT_SETTINGS } else { 0 }
    }

    fn runs(&self) -> bool {
        self.is_alone() || self.judged.risk.tier == Tier::L1 && self.is_allowed
    }

    fn is_alone(&self) -> bool {
        self.judged.risk.tier == Tier::L0
    }
}

impl JudgedLine {
    /// Whether no piece asks. An empty folder is one of a step that runs by itself.
    pub fn runs(&self) -> bool {
        let alone = self.pieces.iter().all(JudgedPiece::is_alone);
        self.pieces.iter().all(JudgedPiece::runs)
            && (alone || !self.pieces.iter().any(|piece| piece.judged.launch.empty_folder))
    }

    pub fn sub_commands(&self) -> Vec<SubCommand> {
        let mut commands: Vec<SubCommand> = Vec::new();
        for JudgedPiece { text, judged, .. } in &self.pieces {
            let command = SubCommand { text: text.clone(), risk: judged.risk.clone() };
            // The same for each value of a loop.
            if !commands.contains(&command) {
                commands.push(command);
            }
        }
        commands
    }

    /// The pieces that ask.
    pub fn asking(&self) -> impl Iterator<Item = &Judgement> {
        self.pieces.iter().filter(|piece| !piece.runs()).map(|piece| &piece.judged)
    }

    /// Why pieces ask, each named.
    pub fn questions(&self) -> Vec<Reason> {
        let asking = |piece: &&JudgedPiece| !piece.runs() && !piece.judged.risk.lifted;
        let pieces = self.pieces.iter().filter(asking);
        let pieces = pieces.map(|piece| (piece.text.as_str(), &piece.judged.risk));
        name_questions(pieces, self.pieces.len() == 1, self.arg)
    }

    /// What the line opens entry by entry, where all of its commands change exactly what they name,
    /// or print.
    pub fn entries(&self, context: &JudgeContext<'_>) -> Option<Vec<NamedWrite>> {
        let entries = self.pieces.iter().map(|JudgedPiece { judged, .. }| {
            let Judgement { step, program, cwd, risk, launch, .. } = judged;
            let context = JudgeContext { cwd: cwd.clone(), ..context.clone() };
            let program = program.as_ref();
            let reasons = risk.reasons.iter();

            named::entries(&step.work, program, &context, reasons, &launch.named)
        });
        entries.collect::<Option<Vec<_>>>().map(|entries| entries.concat())
    }

    /// Adds what refuses a piece, so that it refuses the line.
    pub fn add_refusals(&self, findings: &mut Findings) {
        let reasons = self.pieces.iter().flat_map(|piece| &piece.judged.risk.reasons);
        for reason in reasons.filter(|reason| reason.tier == Tier::L2) {
            findings.add(reason.rule.clone(), Tier::L2, reason.say.clone(), Some(self.arg), &[]);
        }
    }

    /// Adds what was found about the pieces, and what they need to run.
    pub fn add_to(&self, findings: &mut Findings) {
        let arg = Some(self.arg);
        findings.add("shell", Tier::L0, phrases::SHELL_PIECE, arg, &[Effect::Read]);
        for piece in &self.pieces {
            let judged = &piece.judged;
            for reason in &judged.risk.reasons {
                findings.add(reason.rule.clone(), reason.tier, reason.say.clone(), arg, &[]);
            }
            findings.add("shell", Tier::L0, phrases::SHELL_PIECE, arg, &judged.risk.effects);
            let Launch { starts, helpers, readable, lists, .. } = &judged.launch;
            let launch = &mut findings.launch;
            launch.starts.extend(judged.program.iter().chain(starts).cloned());
            launch.helpers.extend_from_slice(helpers);
            launch.readable.extend_from_slice(readable);
            launch.lists.extend_from_slice(lists);
            launch.writes.extend_from_slice(&judged.launch.writes);
            launch.needs.netlink |= judged.launch.needs.netlink;
        }
        // Where nothing holds it, its words are the only proof.
        findings.by_language = true;
    }

    /// The findings above L0 that are those of its pieces.
    pub fn covers(&self, findings: &Findings) -> bool {
        let known = |rule: &str| {
            self.pieces.iter().any(|piece| {
                let mut reasons = piece.judged.risk.reasons.iter();
                reasons.any(|reason| reason.tier > Tier::L0 && reason.rule == rule)
            })
        };
        let mut asking = findings.iter().filter(|finding| finding.reason.tier > Tier::L0);
        asking.all(|finding| known(&finding.reason.rule))
    }

    /// What its shell is given.
    pub fn into_script(self) -> ShellScript {
        let mut pieces = self.pieces.into_iter();
        let parts = self.line.0.into_iter().map(|part| match part {
            PlainSegment::Text(text) => ShellScriptPart::Text(text),
            PlainSegment::Command(command) => match pieces.next() {
                Some(piece) => script_part(command, piece),
                None => ShellScriptPart::Text(String::new()),
            },
        });
        ShellScript(parts.collect())
    }
}

/// Why the pieces of a line ask that is not understood as a whole.
pub fn questions_of(action: &StepAction, commands: &[SubCommand]) -> Vec<Reason> {
    let Some((_, arg, _)) = shell_line(action) else { return Vec::new() };
    let named = commands.iter().map(|piece| (piece.text.as_str(), &piece.risk));
    name_questions(named, commands.len() == 1, arg)
}

/// The reasons to ask of these pieces, in words that name each where it is not the only one.
fn name_questions<'a>(
    pieces: impl Iterator<Item = (&'a str, &'a Risk)>,
    is_alone: bool,
    arg: usize,
) -> Vec<Reason> {
    let mut named_reasons: Vec<Reason> = Vec::new();
    for (text, risk) in pieces {
        for reason in risk.reasons.iter().filter(|reason| reason.tier == Tier::L1) {
            let named = || {
                let say = phrases::SHELL_PIECE_ASKS.with("piece", excerpt(text));
                say.with("why", reason.say.clone())
            };
            let is_named = is_alone || names(&reason.say, text);
            let say = if is_named { reason.say.clone() } else { named() };
            let reason = Reason { say, arg: Some(arg), ..reason.clone() };
            // The same for each value of a loop.
            if !named_reasons.contains(&reason) {
                named_reasons.push(reason);
            }
        }
    }
    named_reasons
}

/// The risk of a line with these reasons first, in place of the same ones about the whole of it, and
/// last the general ones: that it is a line, and what its shell could do.
pub fn lead_with(first_reasons: Vec<Reason>, risk: Risk) -> Risk {
    if first_reasons.is_empty() {
        return risk;
    }
    let is_said = |reason: &Reason| first_reasons.iter().any(|asked| asked.rule == reason.rule);
    let is_general =
        |reason: &Reason| reason.rule == "shell.string" || SHELLS.contains(&reason.rule.as_str());
    let (refused, others): (Vec<Reason>, Vec<Reason>) =
        risk.reasons.into_iter().partition(|reason| reason.tier == Tier::L2);
    let (asking, reading): (Vec<Reason>, Vec<Reason>) =
        others.into_iter().partition(|reason| reason.tier == Tier::L1);
    let beside = asking.into_iter().filter(|reason| !is_said(reason));
    let (general, beside): (Vec<Reason>, Vec<Reason>) = beside.partition(is_general);
    let reasons = [refused, first_reasons, beside, general, reading].concat();
    let rule = reasons.first().map_or(risk.rule, |reason| reason.rule.clone());
    Risk { rule, reasons, ..risk }
}

const SHELLS: &[&str] = &["bash", "sh"];

/// Whether a reason begins with the program of a piece: "`npm test` runs code of the project."
fn names(say: &LocalizedText, piece: &str) -> bool {
    let say = say.text(Lang::En);
    let program = say.strip_prefix('`').and_then(|rest| rest.split_once('`'));
    program.is_some_and(|(program, _)| piece.starts_with(program))
}

fn script_part(command: PlainCommand, piece: JudgedPiece) -> ShellScriptPart {
    let PlainCommand { name, args, unknown, shown, sets, redirects, has_found_names, .. } = command;
    if let Some(shown) = shown {
        return ShellScriptPart::Text(sets + &shown + &redirects);
    }
    let is_alone = piece.is_alone();
    let mut judged = piece.judged;
    // What the user allowed runs as they saw it.
    judged.launch.git = judged.launch.git.filter(|_| is_alone);
    let path = judged.program.as_ref().and_then(|program| program.path.to_str());
    let leaves_out =
        |(_, word): &(usize, String)| word.contains("exclude") || word.contains("glob");
    let searches = judged.launch.git.is_none() && judged.launch.inserted.iter().any(leaves_out);
    ShellScriptPart::Command(Box::new(ShellScriptCommand {
        program: path.map_or(name, str::to_owned),
        args,
        unknown,
        cwd: judged.cwd,
        searches: searches || has_found_names,
        launch: judged.launch,
        sets,
        redirects,
    }))
}
