//! The judged step, and what may become of it: it runs, the user is asked, or it is refused.

use std::path::PathBuf;

use super::{Launch, LaunchRequest, Program, Seal, SeenPrograms, ToolTask};
use avocet_core::protocol::{
    Change, Reason, Risk, SandboxDenial, Step, StepAction, StepQuestion, SubCommand,
};

/// The judgement, and with it the next possible action.
#[derive(Debug)]
pub enum Verdict {
    Run(ClearedStep),
    Ask(NeedsApproval),
    Refuse(DeniedStep),
}

impl Verdict {
    pub(super) fn run(judged: Judgement) -> Verdict {
        Verdict::Run(ClearedStep { seal: judged.seal(), judged, granted: None })
    }

    pub(super) fn ask(judged: Judgement) -> Verdict {
        Verdict::Ask(NeedsApproval { seal: judged.seal(), judged })
    }

    pub(super) fn refuse(judged: Judgement) -> Verdict {
        Verdict::Refuse(DeniedStep(judged))
    }

    pub fn judgement(&self) -> &Judgement {
        match self {
            Verdict::Run(ClearedStep { judged, .. })
            | Verdict::Ask(NeedsApproval { judged, .. })
            | Verdict::Refuse(DeniedStep(judged)) => judged,
        }
    }

    /// The step as a question, whether or not it would run by itself; `None`: it is refused.
    pub fn into_needs_approval(self) -> Option<NeedsApproval> {
        match self {
            Verdict::Run(cleared) => Some(cleared.into_needs_approval()),
            Verdict::Ask(held) => Some(held),
            Verdict::Refuse(_) => None,
        }
    }
}

/// A step that may run, sealed as it was judged. Only `safety` makes one.
#[derive(Debug)]
pub struct ClearedStep {
    judged: Judgement,
    seal: Seal,
    /// What the user opened to it.
    granted: Option<SandboxOpening>,
}

/// What a step may do beyond the sandbox of its kind because the user answered a question about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SandboxOpening {
    /// It writes to the places that the question named.
    Named,
    /// It runs again with this, which the sandbox had denied it, and with what was named.
    Denied(SandboxDenial),
    /// It runs without the sandbox.
    Everything,
}

/// A step that waits for the user.
#[derive(Debug)]
pub struct NeedsApproval {
    judged: Judgement,
    seal: Seal,
}

/// Reasons that say what the sandbox of any approved step is.
const OF_EVERY_SANDBOX: [&str; 2] = ["sandbox.work", "sandbox.network"];

/// A step that does not run, with the reasons.
#[derive(Debug)]
pub struct DeniedStep(Judgement);

/// The judged step: the exact step, and the findings about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    pub step: Step,
    pub risk: Risk,
    /// The program that will run, resolved once; `None` for tools.
    pub program: Option<Program>,
    /// The absolute folder it runs in.
    pub cwd: PathBuf,
    /// The simple commands of a shell line.
    pub pieces: Vec<SubCommand>,
    /// The programs and forms that were met on the way.
    pub seen: SeenPrograms,
    /// The task of a tool; `None` for programs and lines.
    pub task: Option<ToolTask>,
    /// The inputs a program is started with beyond its own words.
    pub launch: Launch,
}

impl Judgement {
    /// Its effect on a file, where that is known before it runs.
    pub fn change(&self) -> Option<&Change> {
        self.task.as_ref().and_then(ToolTask::change)
    }

    /// The question whether it may run, by itself.
    pub fn question(&self) -> StepQuestion {
        StepQuestion {
            resolved: self.program.as_ref().map(|program| program.path.display().to_string()),
            pieces: self.pieces.clone(),
            ..StepQuestion::new(
                self.step.clone(),
                self.risk.clone(),
                self.cwd.display().to_string(),
            )
        }
    }

    /// Everything that was judged, sealed.
    fn seal(&self) -> Seal {
        let program = self.program.as_ref().map(|program| program.path.as_path());
        let (program, args) = match &self.step.work {
            StepAction::Exec { args, .. } => (program, args.clone()),
            StepAction::Shell { line } => (None, vec!["-c".to_owned(), line.clone()]),
            StepAction::Tool { name, input } => match &self.task {
                // The file its script is given to, with the script as its first argument.
                Some(ToolTask::Plugin(plugin)) => (program, plugin.node_args()),
                task => (None, task_words(name, input, task.as_ref())),
            },
        };
        let cwd = &self.cwd;
        let tier = self.risk.tier;
        let launch = &self.launch;

        Seal::from_request(LaunchRequest { program, args: &args, cwd, tier, launch })
    }
}

impl NeedsApproval {
    /// This was approved: by an option, with others, or with a rule.
    pub fn approve(self) -> ClearedStep {
        ClearedStep { judged: self.judged, seal: self.seal, granted: None }
    }

    /// A hook of the user's allowed this: it answers an ordinary question, and no graver one.
    ///
    /// # Errors
    /// The user is asked all the same.
    pub fn approve_by_hook(self) -> Result<ClearedStep, Box<NeedsApproval>> {
        let risk = &self.judged.risk;
        let is_for_user = |reason: &Reason| {
            let rule = reason.rule.as_str();
            matches!(rule, "requires.confirm" | "folder.untrusted" | "asked")
                // Such a place is asked about by itself: what steers others acts outside of steps.
                || rule.starts_with("path.")
                || rule.starts_with("sandbox.") && !OF_EVERY_SANDBOX.contains(&rule)
        };
        let is_grave = !risk.can_batch_approve() || !risk.can_preapprove();
        if is_grave || risk.reasons.iter().any(is_for_user) {
            return Err(Box::new(self));
        }
        Ok(self.approve())
    }

    /// The user answered the question about exactly this, and so about the places it names.
    pub fn approve_named(self) -> ClearedStep {
        ClearedStep { granted: Some(SandboxOpening::Named), ..self.approve() }
    }

    /// The user approved exactly this, with what the sandbox had denied it opened.
    pub fn approve_with(self, denied: SandboxDenial) -> ClearedStep {
        ClearedStep { granted: Some(SandboxOpening::Denied(denied)), ..self.approve() }
    }

    /// The user approved exactly this without the sandbox, as a question of its own.
    pub fn approve_without_sandbox(self) -> ClearedStep {
        ClearedStep { granted: Some(SandboxOpening::Everything), ..self.approve() }
    }

    pub fn judgement(&self) -> &Judgement {
        &self.judged
    }
}

impl ClearedStep {
    pub fn judgement(&self) -> &Judgement {
        &self.judged
    }

    /// What the user opened to it beyond what its kind of step reaches.
    pub fn granted(&self) -> Option<&SandboxOpening> {
        self.granted.as_ref()
    }

    /// Back to a question: the user is asked whether it shall run again with an opening.
    pub fn into_needs_approval(self) -> NeedsApproval {
        NeedsApproval { judged: self.judged, seal: self.seal }
    }

    /// The fingerprint of the judged step, to compare with what is about to start.
    pub fn seal(&self) -> Seal {
        self.seal
    }

    /// Whether the judgement is still the one that was sealed.
    pub fn is_intact(&self) -> bool {
        self.judged.seal() == self.seal
    }

    /// A judgement made by hand, as nothing but a test can.
    #[cfg(any(test, feature = "test-support"))]
    pub fn new_for_test(judged: Judgement) -> ClearedStep {
        ClearedStep { seal: judged.seal(), judged, granted: None }
    }

    /// Changed in spite of the seal, as only a test can.
    #[cfg(any(test, feature = "test-support"))]
    pub fn tampered(mut self, change: impl FnOnce(&mut Judgement)) -> ClearedStep {
        change(&mut self.judged);
        self
    }
}

impl DeniedStep {
    pub fn judgement(&self) -> &Judgement {
        &self.0
    }
}

/// The words a tool's step is sealed by: for a change, also which file becomes what.
fn task_words(name: &str, input: &serde_json::Value, task: Option<&ToolTask>) -> Vec<String> {
    let mut words = vec![name.to_owned(), input.to_string()];
    if let Some(change) = task.and_then(ToolTask::change) {
        for file in change.files() {
            words.push(file.path);
            words.extend([file.before, file.after].map(Option::unwrap_or_default));
        }
    }
    if let Some(ToolTask::Change(write)) = task {
        words.extend(write.obstacle.map(|obstacle| format!("{obstacle:?}")));
    }
    if let Some(task @ (ToolTask::Fetch(_) | ToolTask::WebSearch(_))) = task {
        words.push(format!("{task:?}"));
    }
    words
}
