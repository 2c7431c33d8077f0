//! Scrolling, and what happens to the view while text arrives.

use proptest::prelude::*;

use super::*;
use crate::protocol::Notice;

/// Ten turns, each with three rows and two blank ones.
fn ten_turns() -> Screen {
    let mut screen = Screen::new(40, 10);
    for turn in 0..10 {
        screen.take([
            said(&format!("question {turn}")),
            replied(&format!("answer {turn}\n\nmore {turn}")),
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
    assert!(screen.transcript.is_empty() && screen.transcript.following());
    for by in [Scroll::Lines(3), Scroll::Pages(-1), Scroll::Top, Scroll::Turn(-1)] {
        screen.transcript.scroll(by);
        assert!(screen.transcript.following(), "{by:?}");
    }
}

#[test]
fn the_end_is_followed_until_the_user_scrolls_up() {
    let mut screen = ten_turns();
    assert_eq!(screen.rows().last().unwrap(), "  more 9");
    screen.transcript.scroll(Scroll::Lines(-3));
    assert!(!screen.transcript.following());
    let before = screen.text();
    screen.take([said("more"), delta("one\n\ntwo\n\nthree\n\nfour")]);
    assert_eq!(screen.text(), before, "the place is kept while text arrives");
    assert_eq!(screen.transcript.unseen(), 10);
    screen.transcript.scroll(Scroll::Bottom);
    assert_eq!(screen.rows().last().unwrap(), "  four");
    assert_eq!(screen.transcript.unseen(), 0);
}

#[test]
fn new_rows_are_counted_until_they_are_seen() {
    let mut screen = ten_turns();
    screen.rows();
    screen.transcript.scroll(Scroll::Lines(-5));
    screen.rows();
    assert_eq!(screen.transcript.unseen(), 0);
    screen.take([delta("one")]);
    screen.rows();
    assert_eq!(screen.transcript.unseen(), 2);
    screen.take([delta(" line\n\nand another\n\n```\ncode\n")]);
    screen.rows();
    assert_eq!(screen.transcript.unseen(), 6);
    screen.transcript.scroll(Scroll::Lines(8));
    screen.rows();
    assert_eq!(screen.transcript.unseen(), 3);
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
    assert!(screen.transcript.following());
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
    assert!(screen.transcript.following());
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
    let mut screen = Screen::shown([
        said("List."),
        started(list.clone(), Tier::L0),
        ran(list, 0, "Cargo.toml\n", ""),
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
    screen.take([started(next.clone(), Tier::L0), ran(next, 0, "of x\n", "")]);
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
    screen.take([Event::Replied(reply), ended(TurnOutcome::Done)]);
    assert_eq!(screen.transcript.suggestions(), ["Test it"]);
    screen.take([said("No.")]);
    assert!(screen.transcript.suggestions().is_empty());
}

#[test]
fn the_sources_of_answers_are_available() {
    let mut screen = Screen::new(80, 24);
    screen.take([replied("# One\n\n`code`"), said("x"), replied("two"), delta("half")]);
    assert_eq!(screen.transcript.answer(0), Some("two"));
    assert_eq!(screen.transcript.answer(1), Some("# One\n\n`code`"));
    assert_eq!(screen.transcript.answer(2), None);
}

#[test]
fn a_whole_reply_replaces_what_was_streamed() {
    let mut screen = Screen::shown([delta("Hal"), delta("f a wor"), replied("Another answer.")]);
    assert_eq!(screen.text(), "  Another answer.");
    screen.take([Event::Cleared]);
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
    let mut screen = Screen::shown([said("x"), retrying(1)]);
    assert!(screen.text().contains("(1 of 5)"));
    screen.take([retrying(2)]);
    assert!(screen.text().contains("(2 of 5)"));
    screen.take([ended(TurnOutcome::Failed { why: screen::CUT_BROKEN.into() })]);
    assert!(screen.text().contains("The turn failed"), "{}", screen.text());
}

#[test]
fn only_visible_parts_are_kept_in_rows() {
    let mut screen = Screen::new(80, 24);
    for turn in 0..500 {
        screen
            .take([said(&format!("question {turn}")), replied("some\n\nmore\n\n```\ncode\n```\n")]);
    }
    screen.rows();
    for by in [Scroll::Pages(-3), Scroll::Top, Scroll::Turn(20), Scroll::Bottom] {
        screen.transcript.scroll(by);
        screen.rows();
        screen.rows();
        assert!(screen.transcript.sheets.len() < 60, "{}", screen.transcript.sheets.len());
    }
}

#[test]
fn a_notice_of_the_interface_is_shown() {
    let mut screen = Screen::new(80, 24);
    screen.transcript.notice(Notice::info(screen::ENDED_STOPPED));
    assert_eq!(screen.text(), "  Stopped.");
}

pub(super) fn anything() -> impl Strategy<Value = Event> {
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
        1 => markdown.clone().prop_map(said),
        1 => markdown.clone().prop_map(thought),
        1 => markdown.clone().prop_map(replied),
        1 => Just(started(list.clone(), Tier::L1)),
        1 => any::<String>().prop_map(|text| output("cmd_001", &text)),
        1 => any::<String>().prop_map(move |text| ran(list.clone(), 1, &text, &text)),
        1 => Just(Event::Repairing { fault: screen::CUT_BROKEN.into() }),
        1 => Just(Event::Retrying { attempt: 1, of: 2, wait_ms: 1, why: screen::CUT_BROKEN.into() }),
        1 => Just(ended(TurnOutcome::Cancelled)),
        1 => Just(cut("x", Truncation::Length)),
        1 => Just(Event::Cleared),
    ]
}

fn anywhere() -> impl Strategy<Value = Scroll> {
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
    fn whatever_comes_every_row_fits_and_nothing_controls(
        events in prop::collection::vec((anything(), anywhere(), 1u16..42, 1u16..12), 1..25)
    ) {
        let mut screen = Screen::new(1, 1);
        for (event, by, width, height) in events {
            screen.take([event]);
            (screen.width, screen.height) = (width, height);
            let buf = screen.buffer();
            for cell in &buf.content {
                let moves = |c: char| c.is_control() || c == '\u{202e}';
                prop_assert!(!cell.symbol().chars().any(moves));
            }
            for block in &screen.transcript.story.blocks {
                let paper = screen.transcript.sheets.paper();
                for part in 0..block.parts() {
                    for line in block.set(part, &paper) {
                        prop_assert!(line.width() <= paper.width, "{} > {}: {line:?}", line.width(), paper.width);
                    }
                }
            }
            screen.transcript.scroll(by);
            if by == Scroll::Top && screen.transcript.unseen() > UNSEEN {
                return Err(TestCaseError::fail("counts too far"));
            }
        }
    }

    #[test]
    fn streamed_or_whole_an_answer_looks_the_same(
        chunks in prop::collection::vec("(# a\n|text |中文，|\n|- x\n|> q\n|```\n|\\| a \\|\n)", 0..30),
        width in 8u16..60,
    ) {
        let whole: String = chunks.concat();
        let mut slow = Screen::new(width, 60);
        for chunk in &chunks {
            slow.take([delta(chunk)]);
            slow.buffer();
        }
        slow.take([replied(&whole)]);
        let mut fast = Screen::new(width, 60);
        fast.take([replied(&whole)]);
        prop_assert_eq!(slow.text(), fast.text());
    }
}

#[test]
fn a_broken_stream_is_reported_once() {
    let why = Notice::error(screen::CUT_FILTERED);
    let broken = ModelMessage { cut: Some(Truncation::Broken), ..ModelMessage::default() };
    let broken = Event::Replied(ModelMessage { message: "Half an".into(), ..broken });
    let mut screen =
        Screen::shown([said("hello"), delta("Half an"), Event::Notice(why), broken.clone()]);
    let text = screen.text();
    assert!(text.contains("Half an") && text.contains("filtered"), "{text}");
    assert!(!text.contains("the connection dropped"), "{text}");
    let mut screen = Screen::shown([said("hello"), delta("Half an"), broken]);
    assert!(screen.text().contains("the connection dropped"));
}
