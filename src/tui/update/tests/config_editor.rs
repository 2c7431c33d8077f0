//! The editor of settings, and a server that does not answer.

use super::writing::rows_of;
use super::*;
use crate::connect::{ConnectRequest, ConnectResult, ListError, ProviderOffer};
use avocet_core::i18n::{LocalizedText, common, config, keys, session};
use avocet_core::protocol::{Notice, SettingInput, SettingOp, SettingRow};

fn row(key: &str, value: &str, input: SettingInput) -> SettingRow {
    SettingRow {
        key: key.to_owned(),
        value: value.to_owned(),
        input,
        about: avocet_core::i18n::settings::VIM.into(),
        origin: config::FROM_BUILT_IN.into(),
        timing: session::CONFIG_AT_ONCE.into(),
        is_own: false,
    }
}

fn rows(vim: &str) -> Vec<SettingRow> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let text = SettingInput::Text { start: "120".to_owned(), expected: common::A_STRING.into() };
    vec![
        row("mode", "high", SettingInput::Choice(words(&["low", "high"]))),
        row("vim", vim, SettingInput::Flag),
        row("limits.step_timeout_s", "120", text),
    ]
}

fn edits(key: &str, value: Option<&str>) -> Vec<ScreenEffect> {
    let (key, value) = (Some(key.to_owned()), value.map(str::to_owned));
    vec![ScreenEffect::Send(Op::Setting(SettingOp::EditSettings { key, value }))]
}

fn listed(vim: &str, said: Option<Notice>) -> protocol::Event {
    protocol::Event::Settings { rows: rows(vim), said }
}

fn editor() -> State {
    let mut state = screen();
    let asked = ScreenEffect::Send(Op::Setting(SettingOp::EditSettings { key: None, value: None }));
    assert_eq!(press(&mut state, "/config\n"), [asked]);
    receive(&mut state, listed("false", None));
    state
}

fn shown(state: &mut State) -> String {
    rows_of(state).join("\n")
}

#[test]
fn a_setting_is_found_by_its_name_or_by_what_it_does_and_a_flag_is_toggled() {
    let mut state = editor();
    press(&mut state, "keys of vi");
    let picker = state.modals.picker_mut().expect("the list");
    assert!(picker.has_matches(), "what it does is searched too");
    let mut state = editor();
    assert_eq!(press(&mut state, "vim\n"), edits("vim", Some("true")));
    receive(&mut state, listed("true", Some(Notice::info(session::CONFIG_AT_ONCE))));
    assert!(state.modals.is_picker_on_top(), "the list stays");
    assert_eq!(press(&mut state, "\n"), edits("vim", Some("false")));
    assert_eq!(hold(&mut state, KeyCode::Delete, KeyModifiers::NONE), edits("vim", None));
    hold(&mut state, KeyCode::Esc, KeyModifiers::NONE);
    assert!(state.modals.is_empty());
}

#[test]
fn a_choice_is_made_in_a_list() {
    let mut state = editor();
    assert_eq!(press(&mut state, "mode\n"), []);
    assert_eq!(press(&mut state, "lo\n"), edits("mode", Some("low")));
    receive(&mut state, listed("false", None));
    assert!(state.modals.is_picker_on_top(), "back in the list of settings");
    hold(&mut state, KeyCode::Esc, KeyModifiers::NONE);
    assert!(state.modals.is_empty());
}

#[test]
fn a_value_is_typed_and_one_that_is_refused_says_why() {
    let mut state = editor();
    assert_eq!(press(&mut state, "step_time\n"), []);
    hold(&mut state, KeyCode::Backspace, KeyModifiers::NONE);
    assert_eq!(press(&mut state, "x\n"), edits("limits.step_timeout_s", Some("12x")));
    receive(&mut state, listed("false", Some(Notice::error(common::A_LIST))));
    let entry = state.modals.setting_entry_mut().expect("the field stays");
    assert_eq!(entry.note, Some(common::A_LIST.into()));
    hold(&mut state, KeyCode::Backspace, KeyModifiers::NONE);
    assert_eq!(press(&mut state, "\n"), edits("limits.step_timeout_s", Some("12")));
    receive(&mut state, listed("false", Some(Notice::info(common::A_LIST))));
    assert!(state.modals.setting_entry_mut().is_none() && state.modals.is_picker_on_top());
}

#[test]
fn each_setting_shows_its_value_its_origin_and_when_it_counts() {
    let mut state = editor();
    press(&mut state, "vim");
    let text = shown(&mut state);
    for part in ["false  (built in)", "Keys of vi in the input. Takes effect at once.", "Delete"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_server_nearby_that_does_not_answer_has_to_be_started_and_no_key_is_asked_for() {
    let mut state = screen();
    press(&mut state, "/connect\n");
    let offer = ProviderOffer {
        id: "near".into(),
        name: "near".into(),
        url: "http://127.0.0.1:9/v1".into(),
        keys_at: String::new(),
        needs_key: false,
        about: keys::KEY_NEEDED.into(),
    };
    let input = |result| ScreenInput::Connect(Box::new(result));
    let give = |state: &mut State, result| {
        update(state, TimedInput { at: 20_000, input: input(result) });
    };
    give(&mut state, ConnectResult::Providers(None, vec![offer]));
    let models = ConnectRequest::Models { provider: "near".into(), key: None };
    assert_eq!(press(&mut state, "\n"), [ScreenEffect::Connect(models)]);
    let why: LocalizedText = keys::NO_SERVER.with("url", "http://127.0.0.1:9/v1");
    give(&mut state, ConnectResult::Models(Err(ListError::Other(why))));
    assert!(state.modals.is_empty(), "there is nothing to type a key for");
    let text = shown(&mut state);
    assert!(text.contains("Nothing answers at http://127.0.0.1:9/v1. Start the model"), "{text}");
}
