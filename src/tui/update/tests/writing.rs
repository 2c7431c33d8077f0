//! What one writes: history, search, draft, mentions.

use super::*;
use crate::config::draft::Draft;

#[test]
fn what_is_sent_is_kept_at_once() {
    let mut state = screen();
    for (typed, kept) in [("hello\n", "hello"), ("/version\n", "/version"), ("!ls\n", "!ls")] {
        let mut effects: Vec<Effect> = Vec::new();
        for c in typed.chars() {
            let code = if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) };
            effects.extend(update(&mut state, Event::key(10_000, code)));
        }
        assert!(effects.contains(&Effect::Keep(kept.into())), "{effects:?}");
    }
}

fn searched(keys: &str) -> State {
    let history = ["cargo test", "运行 测试", "git status", "cargo build"];
    let history = history.map(String::from).to_vec();
    let mut state = State::new(Config { history, ..Config::default() });
    press(&mut state, "a draft");
    hold(&mut state, KeyCode::Char('r'), KeyModifiers::CONTROL);
    press(&mut state, keys);
    state
}

#[test]
fn a_search_takes_the_newest_that_holds_the_letters() {
    let mut state = searched("cargo");
    assert_eq!(state.composer.shown(), "a draft", "until it is taken");
    hold(&mut state, KeyCode::Char('r'), KeyModifiers::CONTROL);
    assert_eq!(press(&mut state, "\n"), [], "taken, not sent");
    assert_eq!(state.composer.shown(), "cargo test");
    assert_eq!(press(&mut state, "\n"), sends("cargo test"));
}

#[test]
fn a_search_in_chinese_finds_chinese() {
    let mut state = searched("测试\n");
    assert_eq!(state.composer.shown(), "运行 测试");
    hold(&mut state, KeyCode::Char('_'), KeyModifiers::CONTROL);
    assert_eq!(state.composer.shown(), "", "undone as one");
}

#[test]
fn a_search_that_is_left_changes_nothing() {
    for leave in
        [KeyEvent::from(KeyCode::Esc), KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)]
    {
        let mut state = searched("cargo");
        update(&mut state, Event::key(10_000, leave));
        assert_eq!(state.composer.shown(), "a draft");
        assert!(state.composer.searching().is_none());
        assert_eq!(state.person.leaving_until, None);
    }
}

#[test]
fn another_key_takes_what_was_found_and_does_its_work_there() {
    let mut state = searched("build");
    hold(&mut state, KeyCode::Char('a'), KeyModifiers::CONTROL);
    press(&mut state, "x");
    assert_eq!(state.composer.shown(), "xcargo build");
}

#[test]
fn a_search_that_finds_nothing_leaves_the_draft() {
    let state = searched("nowhere\n");
    assert_eq!(state.composer.shown(), "a draft");
}

#[test]
fn a_draft_comes_back_and_a_first_message_leaves_it_there() {
    let pastes = vec![crate::config::draft::Paste { mark: "[m]".into(), text: "long".into() }];
    let draft = Draft { shown: "see [m]\n好 👋".into(), pastes };
    let mut state = State::new(Config { draft: draft.clone(), ..Config::default() });
    assert_eq!(state.draft(), draft);
    let effects = update(&mut state, Event { at: 0, input: Input::First("go".into()) });
    assert_eq!(told(effects), sends("go"));
    assert_eq!(state.draft(), draft);
    hold(&mut state, KeyCode::Char('p'), KeyModifiers::CONTROL);
    assert_eq!(state.draft(), Draft::of("see long\n好 👋"), "below the list of commands");
}
