//! Tests what a repository can plant.

use super::*;

#[test]
fn a_repository_that_would_start_programs_makes_a_question_of_every_git_step() {
    let policy = Policy::default();
    let place = place();
    let of = |settings| {
        let world = Fake { settings, ..world() };
        let scene = PolicyContext { policy: &policy, place: &place, world: &world };
        let judged = assess(step("git", &["-C", ".", "status"]), scene).judged().clone();
        let offered = offered(&judged, scene);
        (judged.risk.tier, judged.risk.rule.clone(), offered)
    };
    assert_eq!(of("[core]\nfsmonitor = ./x\n"), (Tier::L1, "git-config-exec".to_owned(), None));
    assert_eq!(of("[core"), (Tier::L1, "git-config-unread".to_owned(), None));
    assert_eq!(of("[core]\nbare = false\n").0, Tier::L0);
}

#[test]
fn no_rule_of_the_user_answers_a_question_a_repository_planted() {
    let allowed = vec![PolicyRule::parse("git add *").unwrap()];
    let policy = Policy { allowed, ..Policy::default() };
    let place = place();
    let runs = |settings| {
        let world = Fake { settings, ..world() };
        let scene = PolicyContext { policy: &policy, place: &place, world: &world };
        matches!(assess(step("git", &["add", "."]), scene), Verdict::Run(_))
    };
    assert!(runs("[core]\nbare = false\n"));
    assert!(!runs("[filter \"x\"]\nclean = ./x\n"));
}
