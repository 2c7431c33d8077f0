//! `/config`: a list of all settings, searched by typing. A flag is toggled at once, a choice is made
//! in a list, and any other value is typed; the session writes it and says what became of it.

use super::event::ScreenEffect;
use super::modal::{Modal, Picker, PickerAction, PickerRow, SettingEntry, Topic};
use super::state::{SettingsEditor, State};
use avocet_core::i18n::{LocalizedText, PhraseValue, common, screen as phrases};
use avocet_core::protocol::{Notice, NoticeLevel, Op, SettingInput, SettingOp, SettingRow};

/// Opens the list, with these words typed.
pub fn open(state: &mut State, filter: &str) -> Vec<ScreenEffect> {
    state.settings_editor = SettingsEditor::default();
    let picker = Picker::new(Topic::Setting, Vec::new(), "").with_filter(filter);
    state.modals.open(Modal::Picker(Box::new(picker)));
    vec![send(None, None)]
}

fn send(key: Option<String>, value: Option<String>) -> ScreenEffect {
    ScreenEffect::Send(Op::Setting(SettingOp::EditSettings { key, value }))
}

/// The session listed the settings, or reported what became of one.
pub fn fill(state: &mut State, rows: Vec<SettingRow>, said: Option<Notice>) {
    let failed = said.as_ref().is_some_and(|said| said.level == NoticeLevel::Error);
    state.settings_editor.rows = rows;
    let note = said.map(note);
    if let Some(entry) = state.modals.setting_entry_mut() {
        if failed {
            entry.note = note;
            return;
        }
        state.modals.pop();
    }
    let rows = state.settings_editor.rows.iter().map(picker_row).collect();
    if let Some(picker) = state.modals.picker_mut().filter(|it| it.topic() == Topic::Setting) {
        picker.set_rows(rows);
        picker.note = note;
    }
}

/// A notice in one line: why a change does not count yet matters more than that it was made.
fn note(notice: Notice) -> LocalizedText {
    notice.hint.unwrap_or(notice.say)
}

fn picker_row(row: &SettingRow) -> PickerRow {
    let value =
        if row.value.is_empty() { PhraseValue::from("-") } else { row.value.as_str().into() };
    let about = phrases::SETTING_VALUE.with("value", value).with("origin", row.origin.clone());
    let details = phrases::SETTING_DETAILS.with("about", row.about.clone());
    PickerRow {
        value: row.key.clone(),
        about: Some(about),
        more: Some(details.with("timing", row.timing.clone())),
        ..PickerRow::default()
    }
}

pub fn apply_choice(state: &mut State, topic: Topic, action: PickerAction) -> Vec<ScreenEffect> {
    match (topic, action) {
        (Topic::SettingValue, PickerAction::Confirmed(value)) => set(state, Some(value)),
        (_, PickerAction::Confirmed(key)) => edit(state, key),
        (_, PickerAction::Reset(key)) => {
            state.settings_editor.key = key;
            set(state, None)
        }
        (_, PickerAction::Selected(_)) => {
            if let Some(picker) = state.modals.picker_mut() {
                picker.note = None;
            }
            Vec::new()
        }
        (_, PickerAction::Cancelled) => Vec::new(),
    }
}

/// Sets the setting that is being edited; without a value, its default counts again.
pub fn set(state: &State, value: Option<String>) -> Vec<ScreenEffect> {
    vec![send(Some(state.settings_editor.key.clone()), value)]
}

fn edit(state: &mut State, key: String) -> Vec<ScreenEffect> {
    let Some(row) = state.settings_editor.rows.iter().find(|row| row.key == key).cloned() else {
        return Vec::new();
    };
    state.settings_editor.key = key;
    match &row.input {
        SettingInput::Flag => {
            let on = row.value != "true";
            return set(state, Some(on.to_string()));
        }
        SettingInput::Text { .. } if row.key == "theme" => {
            let names = state.appearance.theme_registry.names().to_vec();
            open_choices(state, &row, &names);
        }
        SettingInput::Choice(choices) => open_choices(state, &row, choices),
        SettingInput::Text { start, expected } => {
            let lang = state.appearance.lang;
            let entry = SettingEntry::new(&row, start, expected.clone(), lang);
            state.modals.open(Modal::SettingEntry(Box::new(entry)));
        }
    }
    Vec::new()
}

fn open_choices(state: &mut State, row: &SettingRow, choices: &[String]) {
    let choice = |value: &String| PickerRow {
        value: value.clone(),
        about: (*value == row.value).then(|| common::IN_USE.into()),
        ..PickerRow::default()
    };
    let rows = choices.iter().map(choice).collect();
    let mut picker = Picker::new(Topic::SettingValue, rows, &row.value);
    picker.heading = row.key.clone();
    state.modals.open(Modal::Picker(Box::new(picker)));
}
