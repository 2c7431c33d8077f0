//! Turns that pause by themselves.

use pretty_assertions::assert_eq;

use super::*;
use avocet_core::protocol::budget::{SpendLimit, SpendLimits, Spent};

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

#[test]
fn with_a_limit_of_0_even_a_safe_step_asks() {
    let mut bench = Bench::with_limit(0);
    bench.next(TurnInput::Begin);
    let action = bench.proposes(&["ls", "git add ."]);
    assert_eq!(line(&action), "ask 1/2 L0 ls");
    let action = bench.decides(Decision::Approve);
    let action = bench.exits(action, 0);
    assert_eq!(line(&action), "ask 2/2 L1 git add .");
}

#[test]
fn the_same_step_for_the_third_time_pauses() {
    let mut bench = begun();
    for _ in 0..2 {
        let action = bench.proposes(&["git status"]);
        bench.exits(action, 0);
    }
    let why = "The model proposed the same step three times: `git status`.";
    assert_eq!(line(&bench.proposes(&["git status"])), format!("pause: {why}"));
    assert_eq!(line(&bench.decides(Decision::Approve)), "run git status");
}

#[test]
fn another_step_in_between_breaks_the_loop() {
    let mut bench = begun();
    for _ in 0..4 {
        let action = bench.proposes(&["ls", "pwd"]);
        let action = bench.exits(action, 0);
        assert_eq!(line(&bench.exits(action, 0)), "call");
    }
}

#[test]
fn a_step_that_gave_the_same_result_four_times_pauses_whatever_was_in_between() {
    let mut bench = begun();
    for _ in 0..4 {
        let action = bench.proposes(&["ls", "pwd"]);
        let action = bench.exits(action, 0);
        bench.exits(action, 0);
    }
    let why = "The model proposed `ls` again, which gave the same result four times.";
    assert_eq!(line(&bench.proposes(&["ls", "pwd"])), format!("pause: {why}"));
    let mut bench = begun();
    for _ in 0..5 {
        let action = bench.proposes(&["ls", "touch a"]);
        let action = bench.exits(action, 0);
        let action = if line(&action).starts_with("ask") {
            bench.decides(Decision::Approve)
        } else {
            action
        };
        assert_eq!(line(&bench.exits(action, 0)), "call", "a step that writes may change it");
    }
}

#[test]
fn a_step_that_was_rejected_changes_nothing_between_the_same_results() {
    let mut bench = begun();
    for _ in 0..4 {
        let action = bench.proposes(&["ls", "touch a"]);
        bench.exits(action, 0);
        assert_eq!(line(&bench.decides(Decision::Reject { word: None })), "call");
    }
    let why = "The model proposed `ls` again, which gave the same result four times.";
    assert_eq!(line(&bench.proposes(&["ls", "touch a"])), format!("pause: {why}"));
}

#[test]
fn three_failures_of_one_kind_pause() {
    let mut bench = begun();
    for n in 0..3 {
        let action = bench.proposes(&[&format!("git log -{n}")]);
        let mut seen = ran(action, Some(128), Outcome::Ran);
        seen.stderr = "fatal".into();
        let action = bench.next(TurnInput::Observed(seen));
        let expected = if n < 2 { "call" } else { "pause: `git` failed three times in a row." };
        assert_eq!(line(&action), expected);
    }
    assert_eq!(line(&bench.decides(Decision::Approve)), "call");
}

#[test]
fn three_refusals_pause_whatever_their_reasons() {
    let mut bench = begun();
    bench.proposes(&["sudo ls"]);
    bench.proposes(&["rm -rf /"]);
    let action = bench.proposes(&["git reset --hard"]);
    assert_eq!(line(&action), "pause: Three steps in a row were refused.");
    let action = bench.decides(Decision::Stop);
    assert_eq!(line(&action), "limit: Three steps in a row were refused.");
}

#[test]
fn searches_that_find_nothing_are_not_failures() {
    let mut bench = begun();
    for n in 0..4 {
        let action = bench.proposes(&[&format!("rg word{n}")]);
        assert_eq!(line(&bench.exits(action, 1)), "call");
    }
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
fn a_user_who_goes_on_past_the_budget_is_asked_again_when_it_is_spent_once_more() {
    let mut bench = Bench::with_start(25, budget(100, 100), Dialect::Json);
    assert!(line(&bench.next(TurnInput::Begin)).starts_with("pause: "));
    assert_eq!(line(&bench.decides(Decision::Approve)), "call");
    let action = spends(&mut bench, 99, &["ls"]);
    assert_eq!(line(&bench.exits(action, 0)), "call");
    let action = spends(&mut bench, 1, &["pwd"]);
    assert!(line(&bench.exits(action, 0)).starts_with("pause: "));
}
