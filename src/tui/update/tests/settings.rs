//! Settings chosen from a list: themes and models.

use super::*;

#[test]
fn a_theme_is_previewed_while_it_is_selected_and_restored_by_esc() {
    let mut state = screen();
    press(&mut state, "/theme\n");
    let before = state.appearance.theme.clone();
    hold(&mut state, KeyCode::Down, KeyModifiers::NONE);
    hold(&mut state, KeyCode::Down, KeyModifiers::NONE);
    assert_ne!(state.appearance.theme, before);
    assert_eq!(state.appearance.theme_name, "auto");
    assert_eq!(press(&mut state, "\x1b"), []);
    assert_eq!(state.appearance.theme, before);
    assert!(state.modals.is_empty());
}

#[test]
fn a_confirmed_theme_stays_and_is_saved() {
    let mut state = screen();
    press(&mut state, "/theme\nhigh");
    let seen = state.appearance.theme.clone();
    let kept = ScreenEffect::SaveSetting { key: "theme", value: "high-contrast".into() };
    assert_eq!(press(&mut state, "\n"), [kept]);
    assert_eq!(
        (state.appearance.theme_name.as_str(), &state.appearance.theme),
        ("high-contrast", &seen)
    );
}

#[test]
fn a_broken_theme_says_why_and_the_current_one_stays() {
    let own = crate::tui::theme::ThemeSource { name: "torn".into(), toml: "text = 3".into() };
    let mut state = State::new(ScreenConfig { themes: vec![own], ..ScreenConfig::default() });
    let before = state.appearance.theme.clone();
    press(&mut state, "/theme\ntorn");
    let said =
        state.modals.picker_mut().and_then(|choose| choose.note.clone()).expect("a sentence");
    assert!(said.text(Lang::En).contains("line 1"), "{}", said.text(Lang::En));
    assert_eq!(press(&mut state, "\n"), []);
    assert_eq!((state.appearance.theme_name.as_str(), &state.appearance.theme), ("auto", &before));
    assert!(!state.transcript.is_empty(), "it is told as well");
}

#[test]
fn models_are_requested_and_listed_when_they_arrive() {
    let mut state = screen();
    let asked = ScreenEffect::Send(Op::Report { report: protocol::Report::Models });
    assert_eq!(press(&mut state, "/model\n"), [asked]);
    receive(&mut state, protocol::Event::Models { names: vec!["large".into(), "small".into()] });
    let set = ScreenEffect::Send(Op::SetModel { name: "small".into() });
    assert_eq!(press(&mut state, "sm\n"), [set]);
    assert!(state.modals.is_empty());
}
