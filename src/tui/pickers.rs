//! The pickers and what their choices do: a theme is previewed while it is selected, a model is set
//! when it is confirmed, a saved session is resumed.

use super::connecting;
use super::event::ScreenEffect;
use super::modal::{Modal, Picker, PickerAction, PickerRow, Topic};
use super::settings_editor;
use super::state::State;
use super::status;
use super::suggestions;
use super::theme::{AUTO, Theme};
use super::time::Millis;
use avocet_core::i18n::{LocalizedText, Phrase, common, screen as phrases};
use avocet_core::protocol::{
    Effort, ExportFormat, ExtensionOp, ModelOffer, ModelOp, NotePlace, Notice, Op, Report, Rewind,
    SavedOp, SessionOp, SessionRow,
};
use avocet_present::commands::{self, NO_BOT};

/// Descriptions of the built-in themes.
const ABOUT: &[(&str, Phrase)] = &[
    (AUTO, phrases::THEME_AUTO),
    ("dark", phrases::THEME_DARK),
    ("light", phrases::THEME_LIGHT),
    ("high-contrast", phrases::THEME_HIGH_CONTRAST),
    ("colorblind", phrases::THEME_COLORBLIND),
    ("16-colors", phrases::THEME_SIXTEEN),
];

pub fn open_themes(state: &mut State) {
    let about = |name: &str| {
        let row = ABOUT.iter().find(|(known, _)| *known == name);
        let about = LocalizedText::from(row.map_or(phrases::THEME_OWN, |(_, about)| *about));
        Some(if name == state.appearance.theme_name {
            phrases::THEME_WORN.with("about", about)
        } else {
            about
        })
    };
    let names = state.appearance.theme_registry.names().iter();
    let rows = names
        .map(|name| PickerRow { value: name.clone(), about: about(name), ..PickerRow::default() })
        .collect();
    let picker = Picker::new(Topic::Theme, rows, &state.appearance.theme_name);
    state.modals.open(Modal::Picker(Box::new(picker)));
}

/// The models that are known, until the servers have listed them again. Where the guide is the only
/// one, a server to connect to.
pub fn open_models(state: &mut State) -> Vec<ScreenEffect> {
    if status::is_guide(&state.facts) && state.completions.models.len() < 2 {
        return connecting::open(state, None);
    }
    let picker = Picker::new(Topic::Model, model_rows(state), &state.facts.model);
    state.modals.open(Modal::Picker(Box::new(picker)));
    vec![ScreenEffect::Send(Op::Session(SessionOp::Report { report: Report::Models }))]
}

fn model_rows(state: &State) -> Vec<PickerRow> {
    let row = |offer: &ModelOffer| connecting::model_row(offer, offer.name == state.facts.model);
    state.completions.offers.iter().map(row).collect()
}

/// What is tried first, until the first turn begins.
pub fn suggest_first_steps(state: &mut State) {
    if state.transcript.has_only_notices() && !state.activity.is_busy() {
        let offers = &state.completions.offers;
        let texts = suggestions::first_steps(&state.facts, offers, state.appearance.lang);
        state.suggestions.replace(&texts);
    }
}

/// The server listed its models.
pub fn fill_models(state: &mut State, names: Vec<String>, offers: Vec<ModelOffer>) {
    (state.completions.models, state.completions.offers) = (names, offers);
    suggest_first_steps(state);
    let rows = model_rows(state);
    if let Some(choose) = state.modals.picker_mut()
        && choose.topic() == Topic::Model
    {
        choose.set_rows(rows);
    }
}

/// The levels of reasoning that the model has.
pub fn open_efforts(state: &mut State) {
    let now = commands::effort_in_use(&state.facts);
    let row = |level: &str| PickerRow {
        value: level.to_owned(),
        about: (level == now).then(|| common::IN_USE.into()),
        ..PickerRow::default()
    };
    let rows = commands::effort_choices(&state.facts).into_iter().map(row).collect();
    let picker = Picker::new(Topic::Effort, rows, now);
    state.modals.open(Modal::Picker(Box::new(picker)));
}

/// Where the note of a `#` line is kept.
pub fn open_note_places(state: &mut State, note: String) {
    state.presence.note = note;
    let about = |place| match place {
        NotePlace::Project => phrases::NOTE_PROJECT,
        NotePlace::Local => phrases::NOTE_LOCAL,
        NotePlace::User => phrases::NOTE_USER,
    };
    let row = |place: NotePlace| PickerRow {
        value: place.name().to_owned(),
        about: Some(about(place).into()),
        ..PickerRow::default()
    };
    let rows = NotePlace::ALL.map(row).to_vec();
    let picker = Picker::new(Topic::NotePlace, rows, NotePlace::Project.name());
    state.modals.open(Modal::Picker(Box::new(picker)));
}

/// The bots, and the choice to continue without one.
pub fn open_bots(state: &mut State) {
    let now = state.facts.bot.as_deref().unwrap_or(NO_BOT);
    let about = |name: &str, text: LocalizedText| {
        if name == now { common::ABOUT_IN_USE.with("about", text) } else { text }
    };
    let row = |name: &str, text: LocalizedText| PickerRow {
        value: name.to_owned(),
        about: Some(about(name, text)),
        ..PickerRow::default()
    };
    let none = row(NO_BOT, phrases::BOT_NONE.into());
    let bots = state.completions.extensions.bots.iter();
    let bots = bots.map(|(name, text)| row(name, phrases::CHOOSE_BOT.with("about", text.as_str())));
    let broken = state.completions.extensions.broken_bots.iter();
    let broken = broken.map(|(name, why)| row(name, phrases::BOT_BROKEN.with("why", why.clone())));
    let rows: Vec<PickerRow> = bots.chain(broken).chain([none]).collect();
    let picker = Picker::new(Topic::Bot, rows, now);
    state.modals.open(Modal::Picker(Box::new(picker)));
}

/// Saved sessions; the rows are added once they are read.
pub fn open_sessions(state: &mut State) -> Vec<ScreenEffect> {
    let picker = Picker::new(Topic::Session, Vec::new(), "");
    state.modals.open(Modal::Picker(Box::new(picker)));
    vec![ScreenEffect::Send(Op::Saved(SavedOp::ListSessions))]
}

pub fn fill_sessions(state: &mut State, rows: Vec<SessionRow>, more: usize) {
    let here = state.facts.cwd.clone();
    let row = |row: SessionRow| {
        let when = match row.model {
            Some(model) => phrases::SESSION_WITH_MODEL.with("when", row.when).with("model", model),
            None => phrases::SESSION_HERE.with("when", row.when),
        };
        let about = if row.folder == here {
            when
        } else {
            phrases::SESSION_THERE.with("when", when).with("folder", row.folder)
        };
        PickerRow {
            value: row.id,
            label: row.title,
            about: Some(about),
            details: row.preview,
            more: None,
        }
    };
    if let Some(choose) = state.modals.picker_mut()
        && choose.topic() == Topic::Session
    {
        choose.set_rows(rows.into_iter().map(row).collect());
        choose.unlisted_count = more;
    }
}

/// The turns one can go back to, the last first.
pub fn open_turns(state: &mut State) {
    let row = |(turn, text): (u64, &str)| PickerRow {
        value: turn.to_string(),
        label: avocet_core::text::one_line(text),
        ..PickerRow::default()
    };
    let rows: Vec<PickerRow> = state.transcript.turns().map(row).collect();
    let picker = Picker::new(Topic::Turn, rows, "");
    state.modals.open(Modal::Picker(Box::new(picker)));
}

/// The parts to undo with a turn, since it or a later one changed files.
pub fn open_rewind_parts(state: &mut State, turn: u64, files: usize) {
    let lang = state.appearance.lang;
    let rows = (1..).zip(Rewind::ALL).map(|(number, what)| {
        let (label, about) = match what {
            Rewind::Both => (phrases::REWIND_BOTH, phrases::REWIND_BOTH_ABOUT.with("n", files)),
            Rewind::Chat => (phrases::REWIND_CHAT, phrases::REWIND_CHAT_ABOUT.into()),
            Rewind::Files => (phrases::REWIND_FILES, phrases::REWIND_FILES_ABOUT.into()),
        };
        let label = format!("{number}  {}", label.text(lang));
        PickerRow {
            value: what.name().to_owned(),
            label,
            about: Some(about),
            ..PickerRow::default()
        }
    });
    let picker = Picker::new(Topic::RewindParts { turn }, rows.collect(), "");
    state.modals.open(Modal::Picker(Box::new(picker)));
}

/// The values of the rows of [`quit`] that are not paths.
const OTHER: &str = "other";
const LOSE: &str = "lose";

/// Quits, unless something would be lost: then the user is asked.
pub fn quit(state: &mut State) -> Vec<ScreenEffect> {
    let lang = state.appearance.lang;
    let unsaved = state.facts.unsaved.as_ref().filter(|unsaved| !unsaved.elsewhere);
    let Some(unsaved) = unsaved else { return vec![ScreenEffect::Quit] };
    let mut choices: Vec<(String, String)> = Vec::new();
    for place in &unsaved.places {
        let label = phrases::LEAVE_WRITE.with("path", place.as_str()).text(lang);
        choices.push((place.clone(), label));
    }
    choices.push((OTHER.to_owned(), phrases::LEAVE_OTHER.text(lang).to_owned()));
    choices.push((LOSE.to_owned(), phrases::LEAVE_LOSE.text(lang).to_owned()));
    let rows = (1..).zip(choices).map(|(number, (value, label))| PickerRow {
        value,
        label: format!("{number}  {label}"),
        ..PickerRow::default()
    });
    let mut picker = Picker::new(Topic::UnsavedConversation, rows.collect(), "");
    picker.note = Some(unsaved.why.clone());
    state.modals.open(Modal::Picker(Box::new(picker)));
    Vec::new()
}

fn apply_quit_choice(state: &mut State, how: String) -> Vec<ScreenEffect> {
    match how.as_str() {
        LOSE => {
            state.presence.has_handled_unsaved = true;
            vec![ScreenEffect::Quit]
        }
        OTHER => {
            state.composer.set_text("/export md ", state.appearance.lang);
            Vec::new()
        }
        _ => {
            state.presence.should_quit_after_export = true;
            vec![ScreenEffect::Send(Op::Saved(SavedOp::Export {
                format: ExportFormat::Md,
                path: Some(how),
            }))]
        }
    }
}

/// New facts arrived: if quitting waited for a file to be written, quit now.
pub fn quit_after_export(state: &mut State) -> Vec<ScreenEffect> {
    let is_lost = state.facts.unsaved.as_ref().is_some_and(|unsaved| !unsaved.elsewhere);
    if state.presence.should_quit_after_export && !is_lost {
        state.presence.has_handled_unsaved = true;
        vec![ScreenEffect::Quit]
    } else {
        Vec::new()
    }
}

/// The theme is again the one that was chosen last.
fn end_preview(state: &mut State) {
    let theme_name = state.appearance.theme_name.clone();
    let _ = state.appearance.set_theme(&theme_name);
}

pub fn apply_choice(
    state: &mut State,
    topic: Topic,
    choice: PickerAction,
    at: Millis,
) -> Vec<ScreenEffect> {
    // The list of settings stays open below their values.
    let stays = topic == Topic::Setting && choice != PickerAction::Cancelled;
    if !stays && !matches!(choice, PickerAction::Selected(_)) {
        state.modals.pop();
        state.guard.restart(at);
    }
    match (topic, choice) {
        (Topic::Setting | Topic::SettingValue, choice) => {
            return settings_editor::apply_choice(state, topic, choice);
        }
        (Topic::Theme, PickerAction::Selected(name)) => preview_theme(state, &name),
        (Topic::Theme, PickerAction::Confirmed(name)) => {
            // If the theme is unavailable, the current one stays, also in view.
            end_preview(state);
            return set_theme(state, &name);
        }
        (Topic::Theme, PickerAction::Cancelled) => end_preview(state),
        (Topic::Bot, PickerAction::Confirmed(name)) => return set_bot(state, name),
        (Topic::UnsavedConversation, PickerAction::Confirmed(how)) => {
            return apply_quit_choice(state, how);
        }
        (Topic::Model, PickerAction::Confirmed(name)) => {
            return vec![ScreenEffect::Send(Op::Model(ModelOp::SetModel { name }))];
        }
        (Topic::Provider | Topic::FirstModel, PickerAction::Confirmed(value)) => {
            return connecting::choose(state, topic, value);
        }
        (Topic::Effort, PickerAction::Confirmed(level)) => {
            return vec![ScreenEffect::Send(Op::Model(ModelOp::SetEffort {
                effort: Effort::from_name(&level),
            }))];
        }
        (Topic::NotePlace, PickerAction::Confirmed(place)) => return add_note(state, &place),
        (Topic::Session, PickerAction::Confirmed(session)) => {
            return vec![ScreenEffect::Send(Op::Saved(SavedOp::Resume { session }))];
        }
        (Topic::Turn, PickerAction::Confirmed(turn)) => {
            let op = turn.parse().ok().map(|turn| Op::Saved(SavedOp::Rewind { turn, what: None }));
            return op.map(ScreenEffect::Send).into_iter().collect();
        }
        (Topic::RewindParts { turn }, PickerAction::Confirmed(what)) => {
            let what = Rewind::from_name(&what);
            let op = what.map(|what| Op::Saved(SavedOp::Rewind { turn, what: Some(what) }));
            return op.map(ScreenEffect::Send).into_iter().collect();
        }
        _ => {}
    }
    Vec::new()
}

fn set_bot(state: &State, name: String) -> Vec<ScreenEffect> {
    let named = state.completions.extensions.bots.iter().any(|(bot, _)| *bot == name);
    let name = (named || name != NO_BOT).then_some(name);
    vec![ScreenEffect::Send(Op::Model(ModelOp::SetBot { name }))]
}

fn add_note(state: &mut State, place: &str) -> Vec<ScreenEffect> {
    let text = std::mem::take(&mut state.presence.note);
    let op =
        NotePlace::parse(place).map(|place| Op::Extension(ExtensionOp::AddNote { place, text }));
    op.map(ScreenEffect::Send).into_iter().collect()
}

/// Shows a theme without changing the current one.
fn preview_theme(state: &mut State, name: &str) {
    let dress = &mut state.appearance;
    let tried: Result<Theme, LocalizedText> =
        dress.theme_registry.theme(name, dress.depth, dress.background);
    let said = match tried {
        Ok(theme) => {
            dress.wear(theme);
            None
        }
        Err(why) => Some(why),
    };
    if let Some(choose) = state.modals.picker_mut() {
        choose.note = said;
    }
}

/// Switches the theme, and saves it for the next start.
pub fn set_theme(state: &mut State, name: &str) -> Vec<ScreenEffect> {
    if let Err(why) = state.appearance.set_theme(name) {
        state.transcript.add_notice(Notice::error(why));
        return Vec::new();
    }
    let keep = ScreenEffect::SaveSetting { key: "theme", value: name.to_owned() };
    let query = state.appearance.background_query();
    let ask = (!query.is_empty()).then(|| ScreenEffect::Query(query.to_owned()));
    ask.into_iter().chain([keep]).collect()
}
