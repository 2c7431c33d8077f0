//! Judges what a template or a message brings along: shell pieces, which a person is
//! always asked about, and files that are named.

use serde_json::json;

use super::{Cleared, Held, Judged, Policy, Refused, Scene, Unknown, Verdict, step};
use crate::protocol::{Requires, Step, Tier, Work};

/// Judges a line for the user's shell; a program that is not on the list is an L1, since
/// the list is about what a model may propose.
pub(super) fn line(id: &str, line: &str, scene: Scene<'_>) -> Judged {
    let policy = Policy { unknown_program: Unknown::Confirm, ..scene.policy.clone() };
    let scene = Scene { policy: &policy, ..scene };
    let work = Work::Shell { line: line.to_owned() };
    let step = Step { id: id.to_owned(), work, requires: Requires::default(), cwd: None };
    step::judge(step, scene).0
}

/// No text for a shell at all.
pub(super) fn is_no_line(judged: &Judged) -> bool {
    judged.risk.reasons.iter().any(|reason| reason.rule == "malformed.nul")
}

/// Judges a shell piece of a template, with the arguments in it. Whatever its tier, a
/// person is asked; only what is no text for a shell is refused.
pub fn assess_piece(id: &str, text: &str, scene: Scene<'_>) -> Verdict {
    let judged = line(id, text, scene);
    match is_no_line(&judged) {
        true => Verdict::Refuse(Refused(judged)),
        false => Verdict::Ask(Held::new(judged)),
    }
}

/// Judges the reading of a file or folder that a person or a template names, exactly as
/// `file.read` is judged for a model. Whatever is more than reading in the workspace, a
/// person is asked about; no skill that was entered takes from what they name themselves.
pub fn assess_mention(id: &str, path: &str, scene: Scene<'_>) -> Verdict {
    let policy = Policy { narrowed: None, ..scene.policy.clone() };
    let scene = Scene { policy: &policy, ..scene };
    let work = Work::Tool { name: "file.read".into(), input: json!({ "path": path }) };
    let step = Step { id: id.to_owned(), work, requires: Requires::default(), cwd: None };
    let (judged, _) = step::judge(step, scene);
    match judged.risk.tier {
        Tier::L0 => Verdict::Run(Cleared::new(judged)),
        Tier::L1 | Tier::L2 => Verdict::Ask(Held::new(judged)),
    }
}
