//! Searching the conversation.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Modifier;

use super::*;

fn press(screen: &mut Screen, code: KeyCode) -> bool {
    let taken = screen.transcript.search_key(&KeyEvent::from(code));
    settle(screen);
    taken
}

/// Draws until everything is searched.
fn settle(screen: &mut Screen) {
    screen.buffer();
    while screen.transcript.is_reading() {
        screen.buffer();
    }
}

fn find(screen: &mut Screen, words: &str) -> (usize, usize) {
    screen.transcript.search_for(words);
    settle(screen);
    at(screen)
}

fn at(screen: &Screen) -> (usize, usize) {
    let found = screen.transcript.found().unwrap();
    (found.at, found.of)
}

/// The text of the marked cells, one line per row.
fn marked(screen: &mut Screen) -> Vec<String> {
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

fn long() -> Screen {
    let mut screen = Screen::new(40, 10);
    for turn in 0..30 {
        screen.take([said(&format!("question {turn}")), replied("Some **nee**dle here.\n\nmore")]);
    }
    screen.buffer();
    screen
}

#[test]
fn every_occurrence_counts_and_is_marked() {
    let mut screen = Screen::shown([
        said("Where is the Parser?"),
        replied("The *parser* is in `parser.rs`.\n\n```rust\nlet parser = 1;\n```\n"),
    ]);
    assert_eq!(find(&mut screen, "parser"), (1, 4));
    assert_eq!(marked(&mut screen), ["Parser", "parserparser", "parser"]);
}

#[test]
fn a_capital_makes_the_search_case_sensitive() {
    let mut screen = Screen::shown([said("Parser and parser and PARSER")]);
    assert_eq!(find(&mut screen, "parser").1, 3);
    assert_eq!(find(&mut screen, "Parser").1, 1);
    assert_eq!(find(&mut screen, "ÉTÉ").1, 0);
}

#[test]
fn words_are_found_across_markup_and_broken_rows() {
    let mut screen = Screen::new(16, 20);
    screen.take([replied("one **two** three four five six 中文标点，不会在行首出现。")]);
    assert_eq!(find(&mut screen, "three four"), (1, 1));
    assert_eq!(marked(&mut screen).concat(), "threefour");
    assert_eq!(find(&mut screen, "不会在行首出现"), (1, 1));
    assert_eq!(find(&mut screen, "six 中文"), (1, 1));
}

#[test]
fn a_folded_step_is_searched_and_unfolded() {
    let list = step("cmd_001", "ls", &[]);
    let mut screen = Screen::shown([
        said("List."),
        started(list.clone(), Tier::L0),
        ran(list, 0, "src\nneedle.txt\n", ""),
        thought("First.\nA needle was thought of."),
        replied("Done."),
    ]);
    assert!(!screen.text().contains("needle"));
    assert_eq!(find(&mut screen, "needle.txt"), (1, 1));
    assert!(screen.text().contains("needle.txt"));
    assert!(!screen.text().contains("was thought of"), "only what is hit opens");
    assert_eq!(find(&mut screen, "thought of"), (1, 1));
    assert_eq!(marked(&mut screen), ["thought of"]);
}

#[test]
fn keys_go_from_hit_to_hit_and_wrap_around() {
    let mut screen = long();
    assert_eq!(find(&mut screen, "needle"), (29, 30), "the first one below the top of the view");
    assert!(screen.text().contains("needle here"));
    for expected in [30, 1, 2] {
        press(&mut screen, KeyCode::Char('n'));
        assert_eq!(at(&screen), (expected, 30));
    }
    assert!(screen.text().contains("question 1"), "{}", screen.text());
    press(&mut screen, KeyCode::Char('N'));
    press(&mut screen, KeyCode::Up);
    press(&mut screen, KeyCode::Enter);
    assert_eq!(at(&screen), (1, 30));
    assert!(press(&mut screen, KeyCode::Esc));
    assert_eq!(screen.transcript.found(), None);
    assert!(marked(&mut screen).is_empty());
}

#[test]
fn typing_narrows_the_search() {
    let mut screen = long();
    screen.transcript.search();
    for c in "question 1".chars() {
        assert!(press(&mut screen, KeyCode::Char(c)));
    }
    assert_eq!(at(&screen).1, 11);
    press(&mut screen, KeyCode::Char('7'));
    assert_eq!(at(&screen), (1, 1));
    assert!(screen.text().contains("question 17"));
    press(&mut screen, KeyCode::Backspace);
    assert_eq!(at(&screen).1, 11);
    press(&mut screen, KeyCode::Enter);
    press(&mut screen, KeyCode::Char('/'));
    press(&mut screen, KeyCode::Char('n'));
    assert_eq!(screen.transcript.found().unwrap().words, "question 1n");
    assert_eq!(at(&screen), (0, 0));
    let page = KeyEvent::new(KeyCode::PageUp, KeyModifiers::NONE);
    assert!(!screen.transcript.search_key(&page), "other keys keep what they do");
}

#[test]
fn new_text_is_found_and_removed_text_is_not() {
    let mut screen = Screen::shown([said("x"), delta("a needle\n\nand a nee")]);
    assert_eq!(find(&mut screen, "needle").1, 1);
    screen.take([delta("dle\n\n- needle")]);
    settle(&mut screen);
    assert_eq!(at(&screen).1, 3);
    screen.take([replied("no such thing")]);
    settle(&mut screen);
    assert_eq!(at(&screen), (0, 0));
    screen.take([replied("needle"), Event::Cleared]);
    settle(&mut screen);
    assert_eq!(at(&screen), (0, 0));
}

#[test]
fn another_width_finds_the_same_hits() {
    let mut screen = long();
    let before = find(&mut screen, "question 2");
    for width in [9, 80, 3, 40] {
        screen.width = width;
        settle(&mut screen);
        assert_eq!(at(&screen).1, before.1, "{width}");
    }
}

#[test]
fn a_long_conversation_is_searched_in_slices() {
    let mut screen = Screen::new(80, 24);
    let line = "a line of the answer with a needle\n\n";
    screen.take([said("x"), replied(&line.repeat(20_000))]);
    screen.buffer();
    screen.transcript.search_for("line");
    let mut slices = 0;
    while screen.transcript.is_reading() {
        let before = screen.transcript.found().unwrap().of;
        screen.buffer();
        assert!(screen.transcript.found().unwrap().of <= before + 900);
        slices += 1;
    }
    assert!(slices > 5, "{slices}");
    let found = screen.transcript.found().unwrap();
    assert!(found.of == 9_999 && found.more, "more than that is not counted");
}

#[test]
fn an_empty_query_finds_nothing() {
    let mut screen = long();
    screen.transcript.search();
    settle(&mut screen);
    assert_eq!(at(&screen), (0, 0));
    press(&mut screen, KeyCode::Enter);
    press(&mut screen, KeyCode::Backspace);
    assert_eq!(at(&screen), (0, 0));
}
