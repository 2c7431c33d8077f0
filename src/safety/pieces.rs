//! Judges what a template or a message brings along: shell pieces, which a person is
//! always asked about, and files that are named.

use serde_json::json;

use super::findings::Findings;
use super::paths::{self, Class};
use super::{Cleared, Held, Judged, Policy, Refused, Scene, Seen, Unknown, Verdict, step};
use crate::protocol::{Effect, Requires, Step, Tier, Work};
use crate::words::safety as words;

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

/// Judges the reading of a file or folder that a person or a template names: `path` is
/// absolute, its links resolved. What lies outside the workspace or holds secrets asks.
pub fn assess_mention(id: &str, path: &str, scene: Scene<'_>) -> Verdict {
    let mut findings = Findings::default();
    let (rule, tier, why, effects): (_, _, _, &[Effect]) =
        match paths::classify(path, &scene.place.cwd, scene) {
            Class::Inside | Class::Public => {
                ("file.read", Tier::L0, crate::words::prompt::READS_NAMED, &[Effect::Read])
            }
            Class::Sensitive => {
                ("path.sensitive", Tier::L1, words::PATH_SENSITIVE, &[Effect::Read, Effect::Secret])
            }
            Class::Outside => {
                ("path.outside", Tier::L1, words::PATH_OUTSIDE, &[Effect::Read, Effect::Outside])
            }
            Class::Secret => (
                "path.secret",
                Tier::L1,
                words::PATH_SECRET,
                &[Effect::Read, Effect::Secret, Effect::Outside],
            ),
        };
    findings.add(rule, tier, why.with("path", super::findings::quoted(path)), None, effects);
    let work = Work::Tool { name: "file.read".into(), input: json!({ "path": path }) };
    let step = Step { id: id.to_owned(), work, requires: Requires::default(), cwd: None };
    let judged = Judged {
        step,
        risk: findings.risk(false),
        program: None,
        cwd: scene.place.cwd.clone(),
        pieces: Vec::new(),
        seen: Seen::default(),
        task: None,
    };
    match judged.risk.tier {
        Tier::L0 => Verdict::Run(Cleared::new(judged)),
        Tier::L1 | Tier::L2 => Verdict::Ask(Held::new(judged)),
    }
}
