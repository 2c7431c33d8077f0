//! Tests what a repository can plant.

use super::*;

#[test]
fn every_git_step_asks_in_a_repository_that_would_start_programs() {
    let policy = Policy::default();
    let place = place();
    let of = |settings| {
        let world = Fake { settings, ..world() };
        let policy_cx = PolicyContext { policy: &policy, place: &place, world: &world };
        let judged = assess(step("git", &["-C", ".", "status"]), policy_cx).judgement().clone();
        let offered = suggest_grant(&judged, policy_cx);
        (judged.risk.tier, judged.risk.rule.clone(), offered)
    };
    assert_eq!(of("[core]\nfsmonitor = ./x\n"), (Tier::L1, "git-config-exec".to_owned(), None));
    assert_eq!(of("[core"), (Tier::L1, "git-config-unread".to_owned(), None));
    assert_eq!(of("[core]\nbare = false\n").0, Tier::L0);
}

#[test]
fn no_user_rule_allows_a_step_that_repository_settings_make_ask() {
    let allowed = vec![PolicyRule::parse("git add *").unwrap()];
    let policy = Policy { allowed, ..Policy::default() };
    let place = place();
    let runs = |settings| {
        let world = Fake { settings, ..world() };
        let policy_cx = PolicyContext { policy: &policy, place: &place, world: &world };
        matches!(assess(step("git", &["add", "."]), policy_cx), Verdict::Run(_))
    };
    assert!(runs("[core]\nbare = false\n"));
    assert!(!runs("[filter \"x\"]\nclean = ./x\n"));
}
