//! Turns that pause by themselves.

use pretty_assertions::assert_eq;

use super::*;
use avocet_core::protocol::budget::{SpendLimit, SpendLimits, Spent};
use avocet_core::protocol::{Money, SandboxStatus};

#[test]
fn at_the_limit_the_turn_pauses_and_continuing_resets_the_count() {
    let mut bench = Bench::with_limit(2);
    bench.next(TurnInput::Begin);
    let mut action = bench.proposes(&["ls", "pwd", "ls -l", "ls -a", "whoami"]);
    action = bench.exits(action, 0);
    action = bench.exits(action, 0);
    let why = "This turn has reached its step limit (2).";
    assert_eq!(line(&action), format!("pause: {why}"));
    action = bench.decides(Decision::Approve);
    assert_eq!(line(&action), "run ls -l");
    action = bench.exits(action, 0);
    action = bench.exits(action, 0);
    assert_eq!(line(&action), format!("pause: {why}"));
    let end = bench.decides(Decision::Reject { word: None });
    assert_eq!(line(&end), format!("limit: {why}"));
    assert_eq!(bench.outcomes().last().map(String::as_str), Some("cmd_005 cancelled"));
    let last = bench.history().pop().expect("results");
    assert_eq!(last.text().lines().count(), 5, "each step has its result");
}

#[test]
fn the_limit_does_not_ask_when_nothing_is_left_to_run() {
    let mut bench = Bench::with_limit(1);
    bench.next(TurnInput::Begin);
    let action = bench.proposes(&["ls"]);
    assert_eq!(line(&bench.exits(action, 0)), "call");
    assert_eq!(line(&bench.says(HI)), "end Done");
}

/// Whether a turn of these steps pauses before this many have run.
fn pauses_within(bench: &mut Bench, steps: usize) -> bool {
    bench.next(TurnInput::Begin);
    (0..steps).any(|n| {
        let action = bench.proposes(&[&format!("cat f{n}")]);
        !matches!(action, TurnAction::Run(_)) || line(&bench.exits(action, 0)) != "call"
    })
}

#[test]
fn the_usual_limit_depends_on_the_sandbox_the_model_and_what_the_run_may_cost() {
    let cost = SpendLimit { tokens: None, cost: Some(Money(1_000_000)) };
    let paid = SpendLimits { run: cost, ..SpendLimits::default() };
    for (is_small, shelter, limits, most) in [
        (false, SandboxStatus::Held, SpendLimits::default(), Some(200)),
        (false, SandboxStatus::ReadOnly, SpendLimits::default(), Some(25)),
        (false, SandboxStatus::Absent, SpendLimits::default(), Some(25)),
        (false, SandboxStatus::Off, SpendLimits::default(), Some(25)),
        (true, SandboxStatus::Held, SpendLimits::default(), Some(25)),
        (false, SandboxStatus::Off, paid, None),
    ] {
        let bench = || {
            let budget = Budget::new(limits, Spent::default());
            let mut bench = Bench::with_start(None, budget, Dialect::Json);
            bench.turn.start.is_small_model = is_small;
            bench.turn.log.limits.update(None, is_small);
            bench.policy.shelter = shelter;
            bench
        };
        let most = most.unwrap_or(300);
        assert!(!pauses_within(&mut bench(), most), "{is_small} {shelter:?}");
        let is_limited = limits == SpendLimits::default();
        assert_eq!(pauses_within(&mut bench(), most + 1), is_limited, "{is_small} {shelter:?}");
    }
}

#[test]
fn a_limit_of_0_is_no_limit() {
    assert!(!pauses_within(&mut Bench::with_limit(0), 300));
    assert!(pauses_within(&mut Bench::with_limit(7), 8));
}

#[test]
fn refused_and_misspelt_steps_count_toward_the_limit() {
    let mut bench = Bench::with_limit(2);
    bench.next(TurnInput::Begin);
    bench.proposes(&["sudo a"]);
    bench.proposes(&["sudo b"]);
    assert!(line(&bench.proposes(&["sudo c"])).starts_with("pause: "));
}

const SAME: &str =
    "pause: The model made the same call three times in a row, with the same result: `git status`.";

#[test]
fn the_same_call_with_the_same_result_for_the_third_time_pauses_after_a_word() {
    let mut bench = begun();
    for n in 0..3 {
        let action = bench.proposes(&["git status"]);
        let action = bench.exits(action, 0);
        let told = bench.observations().last().and_then(|seen| seen.note.clone());
        assert_eq!(told.is_some_and(|note| note.phrase() == phrases::REPEATED), n > 0);
        assert_eq!(line(&action), if n < 2 { "call" } else { SAME });
    }
    assert_eq!(line(&bench.decides(Decision::Approve)), "call");
}

#[test]
fn the_same_call_with_other_results_is_work() {
    let mut bench = begun();
    for n in 0..9 {
        let action = bench.proposes(&["cargo test"]);
        let action = if line(&action).starts_with("ask") {
            bench.decides(Decision::Approve)
        } else {
            action
        };
        let mut seen = ran(action, Some(101), Outcome::Ran);
        seen.stdout = format!("{n} passed; 3 failed");
        assert_eq!(line(&bench.next(TurnInput::Observed(seen))), "call", "{n}");
    }
}

#[test]
fn failures_of_one_program_in_a_row_are_debugging() {
    let mut bench = begun();
    for n in 0..9 {
        let action = bench.proposes(&[&format!("git log -{n}")]);
        let mut seen = ran(action, Some(128), Outcome::Ran);
        seen.stderr = "fatal".into();
        assert_eq!(line(&bench.next(TurnInput::Observed(seen))), "call", "{n}");
    }
}

#[test]
fn reads_of_a_running_job_are_never_a_loop() {
    let mut bench = begun();
    for _ in 0..30 {
        let action = bench.says(
            r#"{"type":"cmd","message":"w","data":{"commands":[{"tool":"job.read","input":{"id":1}}]}}"#,
        );
        let mut seen = ran(action, Some(0), Outcome::Ran);
        (seen.stdout, seen.is_pending) = ("[job 1 runs]\n[nothing new]".into(), true);
        assert_eq!(line(&bench.next(TurnInput::Observed(seen))), "call");
    }
}

#[test]
fn refusals_by_themselves_are_no_loop_and_the_same_one_is() {
    let mut bench = begun();
    for line in ["sudo ls", "rm -rf /", "git reset --hard", "sudo id", "rm -rf /usr"] {
        assert!(matches!(bench.proposes(&[line]), TurnAction::Call(_)), "{line}");
    }
    assert!(matches!(bench.proposes(&["sudo a"]), TurnAction::Call(_)));
    assert!(matches!(bench.proposes(&["sudo a"]), TurnAction::Call(_)));
    assert!(line(&bench.proposes(&["sudo a"])).starts_with("pause: The model made the same call"));
}

#[test]
fn steps_that_bring_nothing_new_pause_whatever_is_between_them() {
    for (is_small, rounds) in [(true, 4), (false, 6)] {
        let mut bench = begun();
        bench.turn.log.limits.update(Some(0), is_small);
        for n in 1..=rounds {
            let action = bench.proposes(&["ls", "pwd"]);
            let action = bench.exits(action, 0);
            let action = bench.exits(action, 0);
            let paused = "pause: The model's last steps brought nothing new.";
            assert_eq!(line(&action), if n < rounds { "call" } else { paused }, "{is_small}");
        }
    }
}

#[test]
fn a_step_that_brings_something_new_breaks_the_circle() {
    let mut bench = Bench::with_limit(0);
    bench.next(TurnInput::Begin);
    for n in 0..9 {
        let action = bench.proposes(&["ls", "pwd", &format!("cat f{n}")]);
        let action = bench.exits(action, 0);
        let action = bench.exits(action, 0);
        assert_eq!(line(&bench.exits(action, 0)), "call");
    }
}

#[test]
fn a_step_that_nobody_can_approve_is_not_called_rejected() {
    let mut bench = begun();
    bench.proposes(&["git push"]);
    let remedy = avocet_core::i18n::cli::STEP_SECRET_HINT.into();
    assert_eq!(line(&bench.decides(Decision::NotAsked { remedy })), "call");
    let seen = bench.observations().last().expect("a step");
    let told = note(seen);
    assert!(told.starts_with("Not run: nobody can be asked. "), "{told}");
    assert!(told.contains("`--approve-secrets`"), "{told}");
}

fn budget(most: u64, before: u64) -> Budget {
    let limit = SpendLimit { tokens: Some(most), cost: None };
    let limits = SpendLimits { session: limit, ..SpendLimits::default() };
    let session = Usage::counted(before, 0);
    Budget::new(limits, Spent { session, ..Spent::default() })
}

fn spends(bench: &mut Bench, tokens: u64, programs: &[&str]) -> TurnAction {
    let usage = Usage::counted(tokens, 0);
    let answer = ModelReply { usage, ..ModelReply::from_text(cmd(programs)) };
    bench.next(TurnInput::Replied(Ok(answer)))
}

#[test]
fn a_turn_that_spent_its_budget_pauses_before_the_next_call_with_the_results_kept() {
    let mut bench = Bench::with_start(25, budget(1_000, 400), Dialect::Json);
    assert_eq!(line(&bench.next(TurnInput::Begin)), "call");
    let action = spends(&mut bench, 599, &["ls"]);
    assert_eq!(line(&bench.exits(action, 0)), "call");
    let action = spends(&mut bench, 1, &["pwd"]);
    let action = bench.exits(action, 0);
    let why = "This conversation has used 1000 tokens; `limits.tokens.session` allows 1000.";
    assert_eq!(line(&action), format!("pause: {why}"));
    assert_eq!(line(&bench.decides(Decision::Stop)), format!("limit: {why}"));
    assert_eq!(bench.outcomes(), ["cmd_001 ran", "cmd_002 ran"]);
    assert_eq!(bench.history().len(), 5, "the message, two proposals and their results");
}

#[test]
fn what_others_used_since_the_turn_began_counts_to_its_budget() {
    let mut bench = Bench::with_start(25, budget(1_000, 0), Dialect::Json);
    assert_eq!(line(&bench.next(TurnInput::Begin)), "call");
    let used = |tokens| {
        let spent = Usage::counted(tokens, 0);
        TurnInput::News(crate::agent::RequestNews { spent, ..Default::default() })
    };
    assert_eq!(line(&bench.next(used(999))), "call");
    assert!(line(&bench.next(used(1_000))).starts_with("pause: "));
    assert_eq!(line(&bench.decides(Decision::Approve)), "call");
    let action = spends(&mut bench, 900, &["ls"]);
    assert_eq!(line(&bench.exits(action, 0)), "call", "its own are among them");
}

#[test]
fn a_user_who_goes_on_past_the_budget_is_asked_again_when_it_is_spent_once_more() {
    let mut bench = Bench::with_start(25, budget(100, 100), Dialect::Json);
    assert!(line(&bench.next(TurnInput::Begin)).starts_with("pause: "));
    assert_eq!(line(&bench.decides(Decision::Approve)), "call");
    let action = spends(&mut bench, 99, &["ls"]);
    assert_eq!(line(&bench.exits(action, 0)), "call");
    let action = spends(&mut bench, 1, &["pwd"]);
    assert!(line(&bench.exits(action, 0)).starts_with("pause: "));
}
