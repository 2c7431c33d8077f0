//! Searching the conversation.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Modifier;

use super::*;

fn press(screen: &mut Screen, code: KeyCode) -> bool {
    let taken = screen.transcript.search_key(&KeyEvent::from(code));
    search_to_the_end(screen);
    taken
}

/// Draws until everything is searched.
fn search_to_the_end(screen: &mut Screen) {
    screen.buffer();
    while screen.transcript.is_searching() {
        screen.buffer();
    }
}

fn find(screen: &mut Screen, words: &str) -> (usize, usize) {
    screen.transcript.search(words);
    search_to_the_end(screen);
    hit_position(screen)
}

fn hit_position(screen: &Screen) -> (usize, usize) {
    let found = screen.transcript.search_status().unwrap();
    (found.current, found.total)
}

/// The text of the marked cells, one line per row.
fn marked_rows(screen: &mut Screen) -> Vec<String> {
    let buf = screen.buffer();
    let cells = |y| (0..screen.width).map(move |x| (x, y));
    let is_marked = |at: &(u16, u16)| {
        let cell = &buf[*at];
        let now = Modifier::BOLD | Modifier::UNDERLINED;
        cell.modifier.contains(Modifier::REVERSED) || cell.modifier.contains(now)
    };
    let row = |y| cells(y).filter(is_marked).map(|at| buf[at].symbol()).collect::<String>();
    (0..screen.height).map(row).filter(|row| !row.is_empty()).collect()
}

fn long_conversation() -> Screen {
    let mut screen = Screen::new(40, 10);
    for turn in 0..30 {
        screen.apply_all([
            turn_started(&format!("question {turn}")),
            reply_finished("Some **nee**dle here.\n\nmore"),
        ]);
    }
    screen.buffer();
    screen
}

#[test]
fn every_occurrence_counts_and_is_marked() {
    let mut screen = Screen::with_events([
        turn_started("Where is the Parser?"),
        reply_finished("The *parser* is in `parser.rs`.\n\n```rust\nlet parser = 1;\n```\n"),
    ]);
    assert_eq!(find(&mut screen, "parser"), (1, 4));
    assert_eq!(marked_rows(&mut screen), ["Parser", "parserparser", "parser"]);
}

#[test]
fn a_capital_makes_the_search_case_sensitive() {
    let mut screen = Screen::with_events([turn_started("Parser and parser and PARSER")]);
    assert_eq!(find(&mut screen, "parser").1, 3);
    assert_eq!(find(&mut screen, "Parser").1, 1);
    assert_eq!(find(&mut screen, "ÉTÉ").1, 0);
}

#[test]
fn words_are_found_across_markup_and_broken_rows() {
    let mut screen = Screen::new(16, 20);
    screen
        .apply_all([reply_finished("one **two** three four five six 中文标点，不会在行首出现。")]);
    assert_eq!(find(&mut screen, "three four"), (1, 1));
    assert_eq!(marked_rows(&mut screen).concat(), "threefour");
    assert_eq!(find(&mut screen, "不会在行首出现"), (1, 1));
    assert_eq!(find(&mut screen, "six 中文"), (1, 1));
}

#[test]
fn a_folded_step_is_searched_and_unfolded() {
    let list = step("cmd_001", "ls", &[]);
    let mut screen = Screen::with_events([
        turn_started("List."),
        step_started(list.clone(), Tier::L0),
        step_ran(list, 0, "src\nneedle.txt\n", ""),
        reasoning_delta("First.\nA needle was thought of."),
        reply_finished("Done."),
    ]);
    assert!(!screen.text().contains("needle"));
    assert_eq!(find(&mut screen, "needle.txt"), (1, 1));
    assert!(screen.text().contains("needle.txt"));
    assert!(!screen.text().contains("was thought of"), "only what is hit opens");
    assert_eq!(find(&mut screen, "thought of"), (1, 1));
    assert_eq!(marked_rows(&mut screen), ["thought of"]);
}

#[test]
fn only_the_step_of_the_last_hit_stays_unfolded() {
    let found = |id: &str, file: &str| {
        let list = step(id, "ls", &[]);
        [step_started(list.clone(), Tier::L1), step_ran(list, 0, &format!("needle\n{file}\n"), "")]
    };
    let mut events = vec![turn_started("List.")];
    events.extend(found("cmd_001", "first.txt"));
    events.extend(found("cmd_002", "second.txt"));
    events.push(reply_finished("Done."));
    let mut screen = Screen::with_events(events);
    assert_eq!(find(&mut screen, "needle"), (1, 2));
    assert!(screen.text().contains("first.txt") && !screen.text().contains("second.txt"));
    press(&mut screen, KeyCode::Char('n'));
    assert!(screen.text().contains("second.txt"), "{}", screen.text());
    assert!(!screen.text().contains("first.txt"), "{}", screen.text());
    assert!(press(&mut screen, KeyCode::Esc));
    assert!(screen.text().contains("second.txt"), "what was found can be read");
}

#[test]
fn a_long_message_is_folded_searched_and_unfolded() {
    let lines: Vec<String> = (1..=200).map(|n| format!("line {n} of the paste")).collect();
    let mut screen = Screen::with_events([turn_started(&lines.join("\n")), reply_finished("Yes.")]);
    let text = screen.text();
    assert!(text.contains("line 12 of") && !text.contains("line 13 of"), "{text}");
    assert!(text.contains("+188 lines"), "{text}");
    assert_eq!(find(&mut screen, "line 150 of"), (1, 1));
    assert!(screen.text().contains("line 150 of"), "{}", screen.text());
    let short = lines[..20].join("\n");
    let text = Screen::with_events([turn_started(&short)]).text();
    assert!(text.contains("line 20 of"), "{text}");
    let wide = Screen::with_events([turn_started(&"汉字".repeat(5_000))]).text();
    assert!(wide.lines().count() < 20, "{wide}");
}

#[test]
fn keys_go_from_hit_to_hit_and_wrap_around() {
    let mut screen = long_conversation();
    assert_eq!(find(&mut screen, "needle"), (29, 30), "the first one below the top of the view");
    assert!(screen.text().contains("needle here"));
    for expected in [30, 1, 2] {
        press(&mut screen, KeyCode::Char('n'));
        assert_eq!(hit_position(&screen), (expected, 30));
    }
    assert!(screen.text().contains("question 1"), "{}", screen.text());
    press(&mut screen, KeyCode::Char('N'));
    press(&mut screen, KeyCode::Up);
    press(&mut screen, KeyCode::Enter);
    assert_eq!(hit_position(&screen), (1, 30));
    assert!(press(&mut screen, KeyCode::Esc));
    assert_eq!(screen.transcript.search_status(), None);
    assert!(marked_rows(&mut screen).is_empty());
}

#[test]
fn typing_narrows_the_search() {
    let mut screen = long_conversation();
    screen.transcript.search("");
    for c in "question 1".chars() {
        assert!(press(&mut screen, KeyCode::Char(c)));
    }
    assert_eq!(hit_position(&screen).1, 11);
    press(&mut screen, KeyCode::Char('7'));
    assert_eq!(hit_position(&screen), (1, 1));
    assert!(screen.text().contains("question 17"));
    press(&mut screen, KeyCode::Backspace);
    assert_eq!(hit_position(&screen).1, 11);
    press(&mut screen, KeyCode::Enter);
    press(&mut screen, KeyCode::Char('/'));
    press(&mut screen, KeyCode::Char('n'));
    assert_eq!(screen.transcript.search_status().unwrap().query, "question 1n");
    assert_eq!(hit_position(&screen), (0, 0));
    let page = KeyEvent::new(KeyCode::PageUp, KeyModifiers::NONE);
    assert!(!screen.transcript.search_key(&page), "other keys keep what they do");
}

#[test]
fn new_text_is_found_and_removed_text_is_not() {
    let mut screen = Screen::with_events([turn_started("x"), delta("a needle\n\nand a nee")]);
    assert_eq!(find(&mut screen, "needle").1, 1);
    screen.apply_all([delta("dle\n\n- needle")]);
    search_to_the_end(&mut screen);
    assert_eq!(hit_position(&screen).1, 3);
    screen.apply_all([reply_finished("no such thing")]);
    search_to_the_end(&mut screen);
    assert_eq!(hit_position(&screen), (0, 0));
    screen.apply_all([reply_finished("needle"), Event::Cleared]);
    search_to_the_end(&mut screen);
    assert_eq!(hit_position(&screen), (0, 0));
}

#[test]
fn another_width_finds_the_same_hits() {
    let mut screen = long_conversation();
    let before = find(&mut screen, "question 2");
    for width in [9, 80, 3, 40] {
        screen.width = width;
        search_to_the_end(&mut screen);
        assert_eq!(hit_position(&screen).1, before.1, "{width}");
    }
}

#[test]
fn a_long_conversation_is_searched_in_slices() {
    let mut screen = Screen::new(80, 24);
    let line = "a line of the answer with a needle\n\n";
    screen.apply_all([turn_started("x"), reply_finished(&line.repeat(20_000))]);
    screen.buffer();
    screen.transcript.search("line");
    let mut slices = 0;
    while screen.transcript.is_searching() {
        let before = screen.transcript.search_status().unwrap().total;
        screen.buffer();
        assert!(screen.transcript.search_status().unwrap().total <= before + 900);
        slices += 1;
    }
    assert!(slices > 5, "{slices}");
    let found = screen.transcript.search_status().unwrap();
    assert!(found.total == 9_999 && found.has_more, "more than that is not counted");
}

#[test]
fn an_empty_query_finds_nothing() {
    let mut screen = long_conversation();
    screen.transcript.search("");
    search_to_the_end(&mut screen);
    assert_eq!(hit_position(&screen), (0, 0));
    press(&mut screen, KeyCode::Enter);
    press(&mut screen, KeyCode::Backspace);
    assert_eq!(hit_position(&screen), (0, 0));
}
