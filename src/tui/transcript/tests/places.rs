//! Scrolling, and what happens to the view while text arrives.

use proptest::prelude::*;

use super::*;
use crate::transcript::scroll_view::UNSEEN;
use avocet_core::i18n::common;
use avocet_core::protocol::Notice;

/// Ten turns, each with three rows and two blank ones.
fn ten_turns() -> Screen {
    let mut screen = Screen::new(40, 10);
    for turn in 0..10 {
        screen.apply_all([
            turn_started(&format!("question {turn}")),
            reply_finished(&format!("answer {turn}\n\nmore {turn}")),
        ]);
    }
    screen
}

fn first(screen: &mut Screen) -> String {
    screen.rows().first().cloned().unwrap_or_default()
}

#[test]
fn an_empty_conversation_shows_nothing() {
    let mut screen = Screen::new(80, 24);
    assert_eq!(screen.text(), "");
    assert!(screen.transcript.has_only_notices() && screen.transcript.is_following());
    for by in [Scroll::Lines(3), Scroll::Pages(-1), Scroll::Top, Scroll::Turn(-1)] {
        screen.transcript.scroll(by);
        assert!(screen.transcript.is_following(), "{by:?}");
    }
}

#[test]
fn the_end_is_followed_until_the_user_scrolls_up() {
    let mut screen = ten_turns();
    assert_eq!(screen.rows().last().unwrap(), "  more 9");
    screen.transcript.scroll(Scroll::Lines(-3));
    assert!(!screen.transcript.is_following());
    let before = screen.text();
    screen.apply_all([turn_started("more"), delta("one\n\ntwo\n\nthree\n\nfour")]);
    assert_eq!(screen.text(), before, "the place is kept while text arrives");
    assert_eq!(screen.transcript.unseen_rows(), 10);
    screen.transcript.scroll(Scroll::Bottom);
    assert_eq!(screen.rows().last().unwrap(), "  four");
    assert_eq!(screen.transcript.unseen_rows(), 0);
}

#[test]
fn new_rows_are_counted_until_they_are_seen() {
    let mut screen = ten_turns();
    screen.rows();
    screen.transcript.scroll(Scroll::Lines(-5));
    screen.rows();
    assert_eq!(screen.transcript.unseen_rows(), 0);
    screen.apply_all([delta("one")]);
    screen.rows();
    assert_eq!(screen.transcript.unseen_rows(), 2);
    screen.apply_all([delta(" line\n\nand another\n\n```\ncode\n")]);
    screen.rows();
    assert_eq!(screen.transcript.unseen_rows(), 6);
    screen.transcript.scroll(Scroll::Lines(8));
    screen.rows();
    assert_eq!(screen.transcript.unseen_rows(), 3);
}

#[test]
fn a_narrower_window_brings_nothing_new() {
    let mut screen = ten_turns();
    screen.apply_all([delta(&format!("a long answer {}", "of many words ".repeat(40)))]);
    screen.rows();
    screen.transcript.scroll(Scroll::Lines(-8));
    screen.rows();
    assert_eq!(screen.transcript.unseen_rows(), 0);
    screen.width -= 20;
    screen.rows();
    assert_eq!(screen.transcript.unseen_rows(), 0);
}

#[test]
fn scrolling_stops_at_both_ends() {
    let mut screen = ten_turns();
    screen.rows();
    screen.transcript.scroll(Scroll::Lines(-1_000));
    assert_eq!(first(&mut screen), "› question 0");
    screen.transcript.scroll(Scroll::Pages(1));
    assert_eq!(screen.rows()[1], "  more 1", "a page is a screen less a row");
    screen.transcript.scroll(Scroll::Top);
    assert_eq!(first(&mut screen), "› question 0");
    screen.transcript.scroll(Scroll::Lines(1_000));
    assert!(screen.transcript.is_following());
}

#[test]
fn a_row_down_and_a_row_up_cancel_out() {
    let mut screen = ten_turns();
    screen.rows();
    screen.transcript.scroll(Scroll::Lines(-20));
    let here = screen.text();
    for rows in 1..15 {
        screen.transcript.scroll(Scroll::Lines(-rows));
        screen.rows();
        screen.transcript.scroll(Scroll::Lines(rows));
        assert_eq!(screen.text(), here, "{rows}");
    }
}

#[test]
fn turn_keys_go_from_turn_to_turn() {
    let mut screen = ten_turns();
    screen.rows();
    screen.transcript.scroll(Scroll::Turn(-1));
    assert_eq!(first(&mut screen), "› question 8");
    screen.transcript.scroll(Scroll::Turn(-3));
    assert_eq!(first(&mut screen), "› question 5");
    screen.transcript.scroll(Scroll::Turn(1));
    assert_eq!(first(&mut screen), "› question 6");
    screen.transcript.scroll(Scroll::Turn(99));
    assert!(screen.transcript.is_following());
    screen.transcript.scroll(Scroll::Turn(-99));
    assert_eq!(first(&mut screen), "› question 0");
}

#[test]
fn the_same_words_stay_at_the_top_when_the_width_changes() {
    let mut screen = ten_turns();
    screen.rows();
    screen.transcript.scroll(Scroll::Turn(-4));
    assert_eq!(first(&mut screen), "› question 5");
    for (width, height) in [(14, 10), (120, 10), (3, 4), (40, 10)] {
        (screen.width, screen.height) = (width, height);
        let top = first(&mut screen);
        let expected = if width < 8 { "que" } else { "› question" };
        assert!(top.starts_with(expected), "{width}: {top}");
    }
}

#[test]
fn a_step_opens_by_key_and_by_mouse() {
    let list = step("cmd_001", "ls", &[]);
    let mut screen = Screen::with_events([
        turn_started("List."),
        step_started(list.clone(), Tier::L0),
        step_ran(list, 0, "Cargo.toml\n", ""),
    ]);
    assert!(!screen.text().contains("Cargo.toml"));
    assert!(screen.transcript.click(2), "the step's row");
    assert!(screen.text().contains("Cargo.toml"));
    assert!(screen.transcript.click(3));
    assert!(!screen.text().contains("Cargo.toml"));
    assert!(!screen.transcript.click(0), "words do not fold");
    assert!(!screen.transcript.click(39), "there is nothing");
    screen.transcript.toggle_steps();
    assert!(screen.text().contains("Cargo.toml"));
    let next = step("cmd_002", "cat", &["x"]);
    screen.apply_all([step_started(next.clone(), Tier::L0), step_ran(next, 0, "of x\n", "")]);
    assert!(screen.text().contains("of x"), "later steps are open as well");
    screen.transcript.toggle_steps();
    assert!(!screen.text().contains("of x"));
}

#[test]
fn suggestions_stay_until_something_follows() {
    let mut screen = Screen::new(80, 24);
    let reply = ModelMessage {
        message: "Done.".into(),
        suggestions: vec!["Test\x1b[2J it".into()],
        ..ModelMessage::default()
    };
    screen.apply_all([Event::Replied(reply), turn_ended(TurnOutcome::Done)]);
    assert_eq!(screen.transcript.suggestions(), ["Test it"]);
    screen.apply_all([turn_started("No.")]);
    assert!(screen.transcript.suggestions().is_empty());
}

#[test]
fn the_sources_of_answers_are_available() {
    let mut screen = Screen::new(80, 24);
    screen.apply_all([
        reply_finished("# One\n\n`code`"),
        turn_started("x"),
        reply_finished("two"),
        delta("half"),
    ]);
    assert_eq!(screen.transcript.answer(0), Some("two"));
    assert_eq!(screen.transcript.answer(1), Some("# One\n\n`code`"));
    assert_eq!(screen.transcript.answer(2), None);
}

#[test]
fn a_whole_reply_replaces_what_was_streamed() {
    let mut screen =
        Screen::with_events([delta("Hal"), delta("f a wor"), reply_finished("Another answer.")]);
    assert_eq!(screen.text(), "  Another answer.");
    screen.apply_all([Event::Cleared]);
    assert_eq!(screen.text(), "");
}

#[test]
fn a_line_that_replaces_another_is_redrawn() {
    let retrying = |attempt| Event::Retrying {
        attempt,
        of: 5,
        wait_ms: 2_000,
        why: screen::CUT_BROKEN.into(),
    };
    let mut screen = Screen::with_events([turn_started("x"), retrying(1)]);
    assert!(screen.text().contains("(1 of 5)"));
    screen.apply_all([retrying(2)]);
    assert!(screen.text().contains("(2 of 5)"));
    screen.apply_all([turn_ended(TurnOutcome::Failed { why: screen::CUT_BROKEN.into() })]);
    assert!(screen.text().contains("The turn failed"), "{}", screen.text());
}

#[test]
fn a_long_reason_to_try_again_is_one_row_that_unfolds() {
    let long = avocet_core::i18n::model::KEY_UNUSABLE.with("key", "A_KEY_WITH_A_VERY_LONG_NAME");
    let screen = |width, why: avocet_core::i18n::LocalizedText| {
        let mut screen = Screen::new(width, 20);
        let retrying = Event::Retrying { attempt: 1, of: 5, wait_ms: 1, why };
        screen.apply_all([turn_started("x"), retrying]);
        screen
    };
    for width in [60, 80, 120] {
        let short = screen(width, common::STOPPED.into()).rows();
        assert!(short.concat().contains("(1 of 5)"), "{short:?}");
        let mut screen = screen(width, long.clone());
        let rows = screen.rows();
        assert_eq!(rows.len(), short.len(), "{rows:?}");
        assert!(rows.concat().ends_with("  Ctrl-O"), "{rows:?}");
        screen.transcript.toggle_steps();
        assert!(screen.text().contains("(1 of 5)"), "{}", screen.text());
    }
}

#[test]
fn a_new_answer_takes_the_place_of_the_one_that_broke_off() {
    let why = screen::CUT_BROKEN.into();
    let retrying = Event::Retrying { attempt: 1, of: 5, wait_ms: 1, why };
    let mut screen = Screen::with_events([turn_started("x"), delta("Half of")]);
    screen.apply_all([retrying]);
    assert!(screen.text().contains("Half of"), "it stays until there is another");
    screen.apply_all([Event::ReplyStarted, delta("The whole answer.")]);
    let text = screen.text();
    assert!(text.contains("The whole answer.") && !text.contains("Half of"), "{text}");
}

#[test]
fn only_visible_parts_are_kept_in_rows() {
    let mut screen = Screen::new(80, 24);
    for turn in 0..500 {
        screen.apply_all([
            turn_started(&format!("question {turn}")),
            reply_finished("some\n\nmore\n\n```\ncode\n```\n"),
        ]);
    }
    screen.rows();
    for by in [Scroll::Pages(-3), Scroll::Top, Scroll::Turn(20), Scroll::Bottom] {
        screen.transcript.scroll(by);
        screen.rows();
        screen.rows();
        assert!(
            screen.transcript.view.row_cache.len() < 60,
            "{}",
            screen.transcript.view.row_cache.len()
        );
    }
}

#[test]
fn a_notice_of_the_interface_is_shown() {
    let mut screen = Screen::new(80, 24);
    screen.transcript.add_notice(Notice::info(common::STOPPED));
    assert_eq!(screen.text(), "  Stopped.");
}

pub(super) fn any_event() -> impl Strategy<Value = Event> {
    let markdown = prop::sample::select(vec![
        "# a\n",
        "text ",
        "中文，",
        "\n",
        "\n\n",
        "- x\n",
        "1. y\n",
        "> q\n",
        "```rust\n",
        "```diff\n@@ -1 +1 @@\n-old line\n+new line\n",
        "```\n",
        "| a | b |\n|--|--|\n",
        "| 1 | 2 |\n",
        "`c`",
        "**b",
        "<b>",
        "[l](http://x)",
        "🙂",
        "\x1b[31m",
        "\u{202e}",
        "&#27;[2J",
        "\t",
        "veryveryverylongwordthatdoesnotfit",
    ]);
    let list = step("cmd_001", "ls", &["a b", "\n"]);
    prop_oneof![
        8 => markdown.clone().prop_map(delta),
        1 => any::<String>().prop_map(|text| delta(&text)),
        1 => markdown.clone().prop_map(turn_started),
        1 => markdown.clone().prop_map(reasoning_delta),
        1 => markdown.clone().prop_map(reply_finished),
        1 => Just(step_started(list.clone(), Tier::L1)),
        1 => any::<String>().prop_map(|text| output("cmd_001", &text)),
        1 => any::<String>().prop_map(move |text| step_ran(list.clone(), 1, &text, &text)),
        1 => Just(Event::Repairing { fault: screen::CUT_BROKEN.into() }),
        1 => Just(Event::Retrying { attempt: 1, of: 2, wait_ms: 1, why: screen::CUT_BROKEN.into() }),
        1 => Just(turn_ended(TurnOutcome::Cancelled)),
        1 => Just(truncated_reply("x", Truncation::Length)),
        1 => Just(Event::Cleared),
    ]
}

fn any_scroll() -> impl Strategy<Value = Scroll> {
    prop_oneof![
        (-9..9i32).prop_map(Scroll::Lines),
        (-2..2i32).prop_map(Scroll::Pages),
        (-2..2i32).prop_map(Scroll::Turn),
        Just(Scroll::Top),
        Just(Scroll::Bottom),
    ]
}

proptest! {
    #[test]
    fn every_row_fits_and_has_no_control_characters(
        events in prop::collection::vec((any_event(), any_scroll(), 1u16..42, 1u16..12), 1..25)
    ) {
        let mut screen = Screen::new(1, 1);
        for (event, by, width, height) in events {
            screen.apply_all([event]);
            (screen.width, screen.height) = (width, height);
            let buf = screen.buffer();
            for cell in &buf.content {
                let moves = |c: char| c.is_control() || c == '\u{202e}';
                prop_assert!(!cell.symbol().chars().any(moves));
            }
            for block in &screen.transcript.builder.blocks {
                let cx = screen.transcript.view.row_cache.layout_context();
                for part in 0..block.parts() {
                    for line in block.layout(part, &cx) {
                        prop_assert!(line.width() <= cx.width, "{} > {}: {line:?}", line.width(), cx.width);
                    }
                }
            }
            screen.transcript.scroll(by);
            if by == Scroll::Top && screen.transcript.unseen_rows() > UNSEEN {
                return Err(TestCaseError::fail("counts too far"));
            }
        }
    }

    #[test]
    fn streamed_and_whole_answers_look_the_same(
        chunks in prop::collection::vec("(# a\n|text |中文，|\n|- x\n|> q\n|```\n|\\| a \\|\n)", 0..30),
        width in 8u16..60,
    ) {
        let whole: String = chunks.concat();
        let mut slow = Screen::new(width, 60);
        for chunk in &chunks {
            slow.apply_all([delta(chunk)]);
            slow.buffer();
        }
        slow.apply_all([reply_finished(&whole)]);
        let mut fast = Screen::new(width, 60);
        fast.apply_all([reply_finished(&whole)]);
        prop_assert_eq!(slow.text(), fast.text());
    }
}

#[test]
fn a_broken_stream_is_reported_once() {
    let why = Notice::error(screen::CUT_FILTERED);
    let broken = ModelMessage { cut: Some(Truncation::Broken), ..ModelMessage::default() };
    let broken = Event::Replied(ModelMessage { message: "Half an".into(), ..broken });
    let mut screen = Screen::with_events([
        turn_started("hello"),
        delta("Half an"),
        Event::Notice(why),
        broken.clone(),
    ]);
    let text = screen.text();
    assert!(text.contains("Half an") && text.contains("filtered"), "{text}");
    assert!(!text.contains("the connection dropped"), "{text}");
    let mut screen = Screen::with_events([turn_started("hello"), delta("Half an"), broken]);
    assert!(screen.text().contains("the connection dropped"));
}
