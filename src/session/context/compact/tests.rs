use proptest::prelude::*;

use super::*;
use crate::context::history::{ReplyKind, TurnRecord};
use crate::context::message_size::messages_size;

fn chat(words: &str, answer: &str) -> TurnRecord {
    let mut kept = TurnRecord::default();
    kept.add_user(words);
    kept.add_reply(ReplyKind::Chat, answer);
    kept
}

fn history(turns: u64, bytes: usize) -> History {
    let mut history = History::default();
    for turn in 1..=turns {
        history.push(turn, chat(&format!("question {turn}"), &"a".repeat(bytes)), |_| {});
    }
    history
}

fn summary(text: &str) -> Summary {
    Summary { summary: text.into(), ..Summary::default() }
}

const BOUNDS: fn() -> Bounds = Bounds::default;

#[test]
fn a_short_history_is_left_alone() {
    let history = history(5, 100);
    assert!(!is_due(&history, BOUNDS()));
    assert_eq!(plan(&history, BOUNDS(), CompactionTrigger::Automatic), None);
}

#[test]
fn long_texts_of_old_turns_are_shortened_first() {
    let mut history = history(4, 8_000);
    assert!(is_due(&history, BOUNDS()));
    let shortened = shrink(&mut history);
    let ids: Vec<&str> = shortened.iter().map(|part| part.id.as_str()).collect();
    assert_eq!(ids, ["turn_1", "turn_2"]);
    assert!(shortened.iter().all(|part| part.bytes > 6_000), "{shortened:?}");
    assert!(!is_due(&history, BOUNDS()), "no model was needed");
    assert_eq!(shrink(&mut history), [], "once is enough");
}

#[test]
fn a_history_still_too_long_is_summarised_except_for_the_latest_turns() {
    let mut history = history(25, 400);
    let plan = plan(&history, BOUNDS(), CompactionTrigger::Automatic).expect("there is enough");
    let asked = summary_request(&history, plan, Some("the lexer"), BOUNDS());
    assert!(asked[1].text().contains("question 1\n") && asked[1].text().contains("the lexer"));
    assert!(!asked[1].text().contains("question 25"));
    let receipt = apply(&mut history, plan, summary("They talked."));
    assert_eq!((receipt.summed.len(), receipt.turns), (22, 3));
    assert!(receipt.after < receipt.before);
    assert_eq!(receipt.summed[0].about, "question 1");
    assert!(!is_due(&history, BOUNDS()));
    assert_eq!(history.summary.summary, "They talked.");
}

#[test]
fn compaction_is_not_retried_before_another_turn() {
    let mut history = history(25, 400);
    assert!(can_compact(&history, CompactionTrigger::Automatic));
    let first = plan(&history, BOUNDS(), CompactionTrigger::Automatic).expect("there is enough");
    apply(&mut history, first, summary("x"));
    assert!(
        !can_compact(&history, CompactionTrigger::Automatic)
            && !can_compact(&history, CompactionTrigger::Manual)
    );
    history.push(26, chat("more", "yes"), |_| {});
    assert!(
        can_compact(&history, CompactionTrigger::Automatic)
            && can_compact(&history, CompactionTrigger::Manual)
    );
}

#[test]
fn a_failure_changes_nothing_and_is_not_repeated_at_once() {
    let mut history = history(25, 400);
    let before = history.recent.clone();
    record_failure(&mut history);
    assert_eq!(history.recent, before);
    for turn in 26..=29 {
        assert!(!can_compact(&history, CompactionTrigger::Automatic), "turn {turn}");
        history.push(turn, chat("more", "yes"), |_| {});
        assert!(can_compact(&history, CompactionTrigger::Manual), "a person may");
    }
    assert!(can_compact(&history, CompactionTrigger::Automatic));
}

#[test]
fn the_user_may_summarise_all_but_the_last_turn() {
    let mut history = history(2, 10);
    let plan = plan(&history, BOUNDS(), CompactionTrigger::Manual).expect("one is enough");
    assert_eq!(apply(&mut history, plan, summary("x")).summed.len(), 1);
    assert_eq!(super::plan(&history, BOUNDS(), CompactionTrigger::Manual), None);
}

#[test]
fn an_answer_is_read_strictly() {
    let before = Summary {
        summary: "old".into(),
        key_facts: vec!["fact".into()],
        open_tasks: vec!["task".into()],
    };
    let read = |text: &str| super::parse_summary(text, &before);
    let good = read(r#"{"summary":"new","keyFacts":["a"],"openTasks":[]}"#).expect("it is one");
    assert_eq!((good.summary.as_str(), good.open_tasks.len()), ("new", 0));
    let fenced = read("Here:\n```json\n{\"summary\":\"new\"}\n```").expect("it is one");
    assert_eq!(fenced.key_facts, ["fact"], "a list that is left out stays");
    for nonsense in [
        "",
        "Sure, here is a summary: we talked.",
        r#"{"type":"chat","message":"hi","data":{}}"#,
        r#"{"summary":""}"#,
        r#"{"summary":7}"#,
        r#"{"summary":"x","keyFacts":"a"}"#,
        r#"{"summary":"x","openTasks":[1]}"#,
        r#"{"summary":"x","summary":"y"}"#,
        r#"["summary"]"#,
        r#"{"summary":"x""#,
    ] {
        assert_eq!(read(nonsense), None, "{nonsense}");
    }
}

#[test]
fn a_summary_has_its_own_bounds() {
    let text = serde_json::json!({
        "summary": "s".repeat(90_000),
        "keyFacts": vec!["f".repeat(5_000); 500],
    });
    let read = super::parse_summary(&text.to_string(), &Summary::default()).expect("it is one");
    assert!(read.text().len() <= SUMMARY + (ITEM + 3) * ITEMS + 200, "{}", read.text().len());
}

#[test]
fn a_task_that_is_closed_is_listed() {
    let mut history = history(25, 400);
    history.summary.open_tasks = vec!["write a test".into(), "fix it".into()];
    let plan = plan(&history, BOUNDS(), CompactionTrigger::Automatic).expect("there is enough");
    let now = Summary { open_tasks: vec!["fix it".into()], ..summary("x") };
    let receipt = apply(&mut history, plan, now);
    assert_eq!(receipt.summary.expect("one").closed, ["write a test"]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]
    #[test]
    fn the_request_for_a_summary_is_bounded(
        words in prop::collection::vec("[a-z你好]{0,200}", 2..40),
        huge in 0usize..400_000,
        bytes in 4_000usize..100_000,
        tokens in 1_500usize..30_000,
    ) {
        let mut history = History::default();
        for (turn, words) in (1..).zip(&words) {
            history.push(turn, chat(words, &words.repeat(20)), |_| {});
        }
        history.push(99, chat(&"长".repeat(huge / 3), "b"), |_| {});
        history.push(100, chat("last", "b"), |_| {});
        let bounds = Bounds::from_room(ContextSize { bytes, tokens });
        let plan = plan(&history, bounds, CompactionTrigger::Manual).expect("there is enough");
        let asked = summary_request(&history, plan, Some("x"), bounds);
        prop_assert!(messages_size(&asked).fits(bounds.room), "{:?}", messages_size(&asked));
    }

    #[test]
    fn compacting_never_loops(texts in prop::collection::vec(0usize..30_000, 1..60)) {
        // Each turn that may make a request is followed by turns that do not.
        let (mut history, mut last) = (History::default(), None);
        let bounds = BOUNDS();
        for (turn, bytes) in (1u64..).zip(texts) {
            history.push(turn, chat("w", &"x".repeat(bytes)), |_| {});
            if !is_due(&history, bounds) {
                continue;
            }
            shrink(&mut history);
            if is_due(&history, bounds) && can_compact(&history, CompactionTrigger::Automatic)
                && let Some(plan) = plan(&history, bounds, CompactionTrigger::Automatic)
            {
                prop_assert!(last.is_none_or(|last| turn > last), "{last:?} {turn}");
                last = Some(turn);
                apply(&mut history, plan, summary("s"));
                prop_assert!(!can_compact(&history, CompactionTrigger::Automatic) && !can_compact(&history, CompactionTrigger::Manual));
            }
        }
    }
}
