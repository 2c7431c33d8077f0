//! Applies events to the state. Pure: no I/O, no clock, no channel; it routes each event to the
//! area it belongs to and returns what the driver must do.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

use super::composer::pasted_image_path;
use super::connecting;
use super::event::{ScreenEffect, ScreenInput, TimedInput};
use super::focus::{Focus, focus, input_focus};
use super::keys::{self, KeyAction, KeyContext, ScrollAction};
use super::modal::{Modal, ModalAction};
use super::notify::NotifyMethod;
use super::palette;
use super::screen_settings;
use super::state::{State, WindowFocus};
use super::submit;
use super::time::Millis;
use super::transcript::Scroll;
use super::{pickers, settings_editor, title};
use avocet_core::i18n::{Phrase, screen as phrases};
use avocet_core::protocol::{
    Ask, Event as SessionEvent, ExtensionOp, JobRequest, Notice, Op, RuleOp, SessionOp, TurnOp,
    TurnOutcome,
};

mod asking;
mod history;
mod input;
pub mod layout;
mod mouse;
mod pictures;
mod suggest;

use input::{input_changed, open_palette, type_key};

/// A second Ctrl-C counts within this time.
const LEAVING: Millis = 3_000;
/// A turn longer than this notifies the user when it ends and the terminal is not focused.
const LONG_TURN: Millis = 20_000;
/// A larger paste is refused: no model could read such a message.
const PASTE: usize = 4 << 20;

pub fn update(state: &mut State, event: TimedInput) -> Vec<ScreenEffect> {
    let TimedInput { at, input } = event;
    state.transcript.set_time(at);
    let mut effects = match input {
        ScreenInput::Key(key) if key.kind == KeyEventKind::Release => {
            state.modals.key_released();
            state.guard.key_released();
            return Vec::new();
        }
        ScreenInput::Key(key) => match translate_key(state, key, at) {
            Some(key) => key_pressed(state, &key, at),
            None => Vec::new(),
        },
        ScreenInput::Paste(text) => handle_paste(state, &text, at),
        ScreenInput::Mouse(mouse) => mouse::handle_mouse(state, mouse, at),
        ScreenInput::Resized => pictures::redraw(state),
        ScreenInput::Picture(input) => pictures::apply(state, input),
        ScreenInput::ScreenReturned => {
            state.appearance.title.clear();
            vec![ScreenEffect::Redraw]
        }
        ScreenInput::FileMatches(found) => {
            state.composer.files.set_matches(found);
            Vec::new()
        }
        ScreenInput::Folders(found) => {
            input::set_folder_listing(state, found);
            Vec::new()
        }
        ScreenInput::Highlighted(painted) => {
            state.add_highlight(*painted);
            Vec::new()
        }
        ScreenInput::Connect(result) => connecting::apply_result(state, *result),
        ScreenInput::ImagePasted(pasted) => pictures::paste_image(state, *pasted, at),
        ScreenInput::Copied(copied) => {
            state.presence.show_message(copied.message(), at);
            Vec::new()
        }
        ScreenInput::FocusGained => set_window_focus(state, WindowFocus::Focused),
        ScreenInput::FocusLost => set_window_focus(state, WindowFocus::Unfocused),
        ScreenInput::Session(event) => handle_session_event(state, *event, at),
        ScreenInput::Background(ground) => {
            state.appearance.set_background(ground);
            Vec::new()
        }
        ScreenInput::Lines(lines) => pictures::set_lines(state, lines),
        ScreenInput::SettingNotSaved(why) => {
            state.transcript.add_notice(Notice::warning(*why));
            Vec::new()
        }
        ScreenInput::Tick => handle_tick(state, at),
        ScreenInput::EditorClosed(edited) => input::apply_editor_result(state, edited, at),
        ScreenInput::FirstMessage(text) => input::send_first(state, &text, at),
    };
    // The user's commands and skills may have changed.
    let refresh = ScreenEffect::Send(Op::Extension(ExtensionOp::RefreshExtensions));
    effects.extend(state.palette.take_opened().then_some(refresh));
    effects.extend(submit::read_results(state));
    effects.extend(title::refresh(state));
    effects
}

fn set_window_focus(state: &mut State, focus: WindowFocus) -> Vec<ScreenEffect> {
    state.presence.window_focus = focus;
    Vec::new()
}

fn handle_tick(state: &mut State, at: Millis) -> Vec<ScreenEffect> {
    if state.presence.confirm_quit_until.is_some_and(|until| until <= at) {
        state.presence.confirm_quit_until = None;
    }
    if state.presence.temporary_message.as_ref().is_some_and(|(_, until)| *until <= at) {
        state.presence.temporary_message = None;
    }
    match state.modals.take_held(at) {
        Some(op) => asking::decide(state, op, None, at),
        None => Vec::new(),
    }
}

/// The built-in key for this one by the user's own keys; `None`: it does nothing.
fn translate_key(state: &State, key: KeyEvent, at: Millis) -> Option<KeyEvent> {
    use KeyContext as C;
    let contexts: &[KeyContext] = match focus(state, at) {
        Focus::Question => &[C::Question, C::Anywhere],
        Focus::Page if state.modals.is_diff_on_top() => &[C::Diff, C::Page, C::Anywhere],
        Focus::Page => &[C::Page, C::Anywhere],
        Focus::Picker => &[C::Palette, C::Anywhere],
        Focus::Queue => &[C::Queue, C::EmptyInput, C::Input, C::Anywhere],
        Focus::Agents => &[C::Agents, C::EmptyInput, C::Input, C::Anywhere],
        Focus::HistorySearch => &[C::HistorySearch, C::Input, C::Anywhere],
        Focus::TranscriptSearch => &[C::SearchResults, C::Search, C::Anywhere],
        Focus::Palette | Focus::Files => &[C::Palette, C::Input, C::Anywhere],
        Focus::Composer if state.activity.is_running_step() => {
            &[C::RunningStep, C::Input, C::Anywhere]
        }
        Focus::Composer if state.composer.is_empty() => &[C::EmptyInput, C::Input, C::Anywhere],
        Focus::Draft | Focus::Composer => &[C::Input, C::Anywhere],
    };
    state.keys.keymap.translate(contexts, key)
}

/// A key goes to what has the focus, and then to its global meaning.
fn key_pressed(state: &mut State, key: &KeyEvent, at: Millis) -> Vec<ScreenEffect> {
    let leaving = state.presence.confirm_quit_until.take();
    if key.code != KeyCode::Esc {
        // Only two in a row are two.
        state.presence.last_escape = None;
    }
    state.presence.should_quit_after_export = false;
    if state.guard.repeats_decision(key, at) {
        return Vec::new();
    }
    let focus = focus(state, at);
    if matches!(focus, Focus::Question | Focus::Draft) {
        return asking::handle_key(state, key, focus, at);
    }
    state.guard.record_key(at);
    if matches!(focus, Focus::Page | Focus::Picker) {
        return modal_key(state, key, at);
    }
    if state.activity.is_busy() && asking::is_text_key(key) {
        state.guard.record_typing(at);
    }
    // A key that a selection or a search does not know has its usual meaning.
    match focus {
        Focus::Queue => {
            if let Some(effects) = input::queue_key(state, key) {
                return effects;
            }
        }
        Focus::Agents => {
            if let Some(effects) = input::agent_key(state, key) {
                return effects;
            }
        }
        Focus::HistorySearch if input::search_key(state, key) => return Vec::new(),
        Focus::TranscriptSearch if state.transcript.search_key(key) => return Vec::new(),
        _ => {}
    }
    if let Some(effects) = list_key(state, key, at) {
        return effects;
    }
    if state.composer.vim_key(key) {
        input_changed(state);
        return Vec::new();
    }
    if keys::action(KeyContext::RunningStep, key) == Some(KeyAction::Background)
        && state.activity.is_running_step()
    {
        return vec![ScreenEffect::Send(Op::Session(SessionOp::Job {
            job: JobRequest::Background,
        }))];
    }
    let action = Some(KeyContext::EmptyInput)
        .filter(|_| state.composer.is_empty())
        .and_then(|place| keys::action(place, key))
        .or_else(|| keys::action(KeyContext::Input, key))
        .or_else(|| keys::action(KeyContext::Anywhere, key));
    match action {
        Some(KeyAction::Interrupt) => interrupt(state, leaving, at),
        Some(action) => act(state, action, key, at),
        None => type_key(state, key),
    }
}

/// A key of a list that is open over the input; `None`: it is none of its keys.
fn list_key(state: &mut State, key: &KeyEvent, at: Millis) -> Option<Vec<ScreenEffect>> {
    let action = keys::action(KeyContext::Palette, key)?;
    match input_focus(state) {
        Focus::Palette => {
            let action = state.palette.act(action);
            Some(apply_palette_action(state, action, at))
        }
        Focus::Files => {
            let action = state.composer.files.act(action);
            input::apply_files_action(state, action);
            Some(Vec::new())
        }
        _ => None,
    }
}

/// A key in a dialog that is not a question: a page, or a picker.
fn modal_key(state: &mut State, key: &KeyEvent, at: Millis) -> Vec<ScreenEffect> {
    match state.modals.key(key, (at, false), state.appearance.lang) {
        ModalAction::Unhandled => match keys::action(KeyContext::Anywhere, key) {
            Some(
                KeyAction::Palette
                | KeyAction::Search
                | KeyAction::SearchHistory
                | KeyAction::Stop
                | KeyAction::Interrupt,
            )
            | None => Vec::new(),
            Some(action) => act(state, action, key, at),
        },
        action => apply_modal_action(state, action, at),
    }
}

fn apply_modal_action(state: &mut State, action: ModalAction, at: Millis) -> Vec<ScreenEffect> {
    match action {
        ModalAction::Stay | ModalAction::Undecided | ModalAction::Unhandled => Vec::new(),
        ModalAction::Close => {
            state.modals.pop();
            state.guard.restart(at);
            Vec::new()
        }
        ModalAction::Send(op) => vec![ScreenEffect::Send(op)],
        ModalAction::Copy(text) => vec![ScreenEffect::Copy(text)],
        ModalAction::Insert(text) => {
            state.modals.pop();
            state.guard.restart(at);
            state.composer.paste(&text, state.appearance.lang);
            input_changed(state);
            Vec::new()
        }
        ModalAction::KeyEntered(key) => connecting::enter_key(state, key),
        ModalAction::SettingEntered(value) => settings_editor::set(state, Some(value)),
        ModalAction::Picked(topic, choice) => pickers::apply_choice(state, topic, choice, at),
    }
}

fn apply_palette_action(
    state: &mut State,
    action: palette::PaletteAction,
    at: Millis,
) -> Vec<ScreenEffect> {
    match action {
        palette::PaletteAction::Stay => Vec::new(),
        palette::PaletteAction::Fill(text) => {
            state.composer.set_text(&text, state.appearance.lang);
            input_changed(state);
            Vec::new()
        }
        palette::PaletteAction::Run(text) => {
            state.composer.set_text(&text, state.appearance.lang);
            submit::send(state, at)
        }
        palette::PaletteAction::Send => submit::send(state, at),
        palette::PaletteAction::Closed(draft) => {
            if let Some(draft) = draft {
                state.composer.set_text(&draft, state.appearance.lang);
            }
            Vec::new()
        }
    }
}

/// Carries out the action of a key.
fn act(state: &mut State, action: KeyAction, key: &KeyEvent, at: Millis) -> Vec<ScreenEffect> {
    match action {
        KeyAction::Stop => return stop(state, at),
        KeyAction::Quit => return pickers::quit(state),
        KeyAction::Redraw => return vec![ScreenEffect::Redraw],
        KeyAction::Suspend => return vec![ScreenEffect::Suspend],
        KeyAction::Mouse => return vec![mouse::toggle_mouse(state)],
        KeyAction::Send => return enter(state, at),
        KeyAction::Up => return up(state),
        KeyAction::Help => {
            let help = Modal::help(&state.completions.extensions, &state.keys.keymap);
            state.modals.open(help);
        }
        KeyAction::Steps => state.transcript.toggle_steps(),
        KeyAction::SidePanel => input::toggle_side_panel(state, at),
        KeyAction::Dump => return submit::dump(state),
        KeyAction::Copy => {
            return state.transcript.selected_text().map(ScreenEffect::Copy).into_iter().collect();
        }
        KeyAction::Search => state.transcript.search(""),
        KeyAction::Scroll(by) => scroll(state, by),
        KeyAction::Palette => open_palette(state),
        KeyAction::Edit(edit) => {
            state.composer.edit(edit);
            input_changed(state);
        }
        KeyAction::Down => {
            state.composer.down(state.appearance.lang);
            state.palette.close();
            input::refresh_files(state);
        }
        KeyAction::SearchHistory => input::search(state),
        KeyAction::Editor => return vec![ScreenEffect::Editor(state.composer.full_text())],
        KeyAction::PasteImage => return vec![ScreenEffect::PasteImage],
        KeyAction::NextMode => {
            let mode = state.facts.next_approval_mode();
            state.facts.approval = mode;
            state.presence.show_message(mode.about(), at);
            return vec![ScreenEffect::Send(Op::Rules(RuleOp::SetApprovalMode { mode }))];
        }
        KeyAction::Suggest if state.activity.is_busy() && !state.composer.is_blank() => {
            return submit::send_as(state, state.keys.enter_while_busy.other(), at);
        }
        KeyAction::Suggest => return suggest::suggest(state, None, at),
        KeyAction::SuggestNth => return suggest::suggest(state, keys::digit(key), at),
        // They are keys of lists and dialogs.
        _ => {}
    }
    Vec::new()
}

/// Ctrl-C: clears the input, then stops the turn, then asks whether to quit.
fn interrupt(state: &mut State, leaving: Option<Millis>, at: Millis) -> Vec<ScreenEffect> {
    if !state.composer.is_empty() {
        state.composer.clear();
        input_changed(state);
        return Vec::new();
    }
    if state.activity.is_busy() && !state.activity.is_stopping() {
        return stop(state, at);
    }
    if leaving.is_some_and(|until| at < until) {
        return pickers::quit(state);
    }
    state.presence.confirm_quit_until = Some(at + LEAVING);
    Vec::new()
}

fn stop(state: &mut State, at: Millis) -> Vec<ScreenEffect> {
    if state.display.agents.deselect().is_some() {
        return Vec::new();
    }
    if history::is_second_escape(state, at) {
        pickers::open_turns(state);
        return Vec::new();
    }
    state.transcript.deselect();
    if !state.activity.is_busy() {
        return Vec::new();
    }
    submit::stop_turn(state, Op::Turn(TurnOp::Stop), at)
}

fn enter(state: &mut State, at: Millis) -> Vec<ScreenEffect> {
    if state.composer.break_at_backslash() {
        return Vec::new();
    }
    let text = state.composer.display_text();
    if state.guard.ends_word(&text) && !text.is_empty() && !text.starts_with('/') {
        let say = state.keys.keymap.with_keys(phrases::QUESTION_ENTER_AGAIN);
        state.presence.show_message(say, at);
        return Vec::new();
    }
    let waits = !state.queue.pending().0.is_empty();
    if waits && state.composer.is_empty() && !state.activity.is_busy() {
        return vec![ScreenEffect::Send(Op::Turn(TurnOp::RunQueue))];
    }
    submit::send(state, at)
}

/// Up on an empty input selects a subagent or a queued message; else goes a row up, or back in the history.
fn up(state: &mut State) -> Vec<ScreenEffect> {
    let lang = state.appearance.lang;
    let is_empty = state.composer.is_empty();
    if is_empty && (state.display.agents.select_last() || state.queue.select_last()) {
        return Vec::new();
    }
    state.composer.up(lang);
    state.palette.close();
    input::refresh_files(state);
    Vec::new()
}

fn handle_paste(state: &mut State, text: &str, at: Millis) -> Vec<ScreenEffect> {
    state.presence.confirm_quit_until = None;
    let lang = state.appearance.lang;
    if text.len() > PASTE {
        let size = phrases::PASTE_TOO_BIG.with("size", text.len() >> 20).with("most", PASTE >> 20);
        state.transcript.add_notice(Notice::warning(size));
        return Vec::new();
    }
    let focus = focus(state, at);
    if matches!(focus, Focus::Question | Focus::Draft) {
        return asking::handle_paste(state, text, focus, at);
    }
    state.guard.record_key(at);
    match focus {
        Focus::Question | Focus::Draft | Focus::Page | Focus::Picker => {
            state.modals.paste_into_entry(text, state.appearance.lang);
        }
        Focus::HistorySearch => {
            state.composer.history.extend_search(text.lines().next().unwrap_or_default())
        }
        Focus::TranscriptSearch => state.transcript.search_paste(text),
        Focus::Queue | Focus::Agents | Focus::Palette | Focus::Files | Focus::Composer => {
            // Terminals paste nothing where the clipboard holds an image.
            if text.is_empty() {
                return vec![ScreenEffect::PasteImage];
            }
            match pasted_image_path(text) {
                Some(path) => state.composer.insert_mention(&path),
                None => state.composer.paste(text, lang),
            }
            input_changed(state);
        }
    }
    Vec::new()
}

fn scroll(state: &mut State, action: ScrollAction) {
    state.transcript.scroll(match action {
        ScrollAction::LineUp => Scroll::Lines(-1),
        ScrollAction::LineDown => Scroll::Lines(1),
        ScrollAction::PageUp => Scroll::Pages(-1),
        ScrollAction::PageDown => Scroll::Pages(1),
        ScrollAction::Top => Scroll::Top,
        ScrollAction::Bottom => Scroll::Bottom,
        ScrollAction::TurnUp => Scroll::Turn(-1),
        ScrollAction::TurnDown => Scroll::Turn(1),
    });
}

fn handle_turn_end(
    state: &mut State,
    outcome: &TurnOutcome,
    elapsed_ms: u64,
    at: Millis,
) -> Vec<ScreenEffect> {
    state.modals.close_all_questions();
    state.guard.restart(at);
    match outcome {
        TurnOutcome::Failed { .. } => {
            let word = |phrase: Phrase| phrase.text(state.appearance.lang);
            let again = word(phrases::CHIP_AGAIN);
            let other = word(phrases::CHIP_OTHER_MODEL);

            state.suggestions.set_commands(&[("/retry", again), ("/model", other)]);
        }
        TurnOutcome::Unsent { .. } => history::restore_unsent(state),
        _ => state.suggestions.set(state.transcript.suggestions()),
    }
    let mut effects = submit::run_deferred(state, at);
    if elapsed_ms >= LONG_TURN {
        effects.extend(notify(state, phrases::RING_DONE));
    }
    effects
}

/// Notifies a user who is looking elsewhere.
fn notify(state: &State, phrase: Phrase) -> Vec<ScreenEffect> {
    match (state.presence.window_focus, state.presence.notify_method) {
        (WindowFocus::Focused, _) | (WindowFocus::Unfocused, NotifyMethod::Off) => Vec::new(),
        (WindowFocus::Unfocused, ring) => {
            vec![ScreenEffect::Notify(ring, phrase.text(state.appearance.lang))]
        }
    }
}

fn open_question(state: &mut State, ask: Ask, at: Millis) -> Vec<ScreenEffect> {
    let modal = Modal::for_question(ask, &state.facts);
    state.modals.open(modal);
    asking::open_question(state, at);
    notify(state, phrases::RING_ASKS)
}

fn begin_turn(state: &mut State) {
    state.suggestions.set::<&str>(&[]);
    state.queue.clear_steered();
}

/// Applies an event of the session to each area that shows it.
#[allow(clippy::too_many_lines, reason = "a row for each event")]
fn handle_session_event(state: &mut State, event: SessionEvent, at: Millis) -> Vec<ScreenEffect> {
    state.activity.apply(&event, at);
    state.display.agents.apply(&event, at);
    if state.composer.is_empty() {
        state.display.agents.forget_ended();
    }
    state.transcript.apply(&event);
    state.display.side_panel.apply(&event);
    match event {
        SessionEvent::Asked(ask) => return open_question(state, *ask, at),
        SessionEvent::TerminalRequested { ask } => return vec![ScreenEffect::LendTerminal(ask)],
        SessionEvent::QuestionClosed { ask } => {
            state.modals.close_question(ask);
            state.guard.question_closed(at);
        }
        SessionEvent::Judged { ask, work, risk, change } => {
            state.modals.set_assessment(ask, work, risk, change.map(|change| *change));
        }
        SessionEvent::Queued { messages } => state.queue.set(messages),
        SessionEvent::TurnStarted { .. } => begin_turn(state),
        SessionEvent::Steered { submit, .. } => state.queue.mark_read(submit),
        SessionEvent::TurnEnded { elapsed_ms, ending, .. } => {
            state.queue.clear_steered();
            return handle_turn_end(state, &ending, elapsed_ms, at);
        }
        SessionEvent::Facts(facts) => {
            return screen_settings::set_facts(state, *facts);
        }
        SessionEvent::HistoryChunk { events, at, .. } => {
            history::prepend_events(state, &events, &at)
        }
        SessionEvent::Rewound { text, .. } => history::restore_message(state, &text),
        SessionEvent::RewindAsked { turn, files } => pickers::open_rewind_parts(state, turn, files),
        SessionEvent::Sessions { rows, more } => pickers::fill_sessions(state, rows, more),
        SessionEvent::Changes { session, uncommitted } => {
            state.modals.open(Modal::diff(&state.facts.cwd, session, uncommitted));
        }
        SessionEvent::SideAnswer(page) => {
            state.modals.open_below_question(Modal::side_answer(*page))
        }
        SessionEvent::Cleared => pickers::suggest_first_steps(state),
        SessionEvent::Models { names, offers } => pickers::fill_models(state, names, offers),
        SessionEvent::Settings { rows, said } => settings_editor::fill(state, rows, said),
        SessionEvent::Catalogue(kept) => input::set_extensions(state, *kept),
        SessionEvent::ArgumentValues(values) => input::set_argument_values(state, *values),
        // Keys typed meanwhile were meant for the step.
        SessionEvent::TerminalReturned { .. } => state.guard.restart(at),
        SessionEvent::Closed => return vec![ScreenEffect::Quit],
        // The areas above have shown the others.
        _ => {}
    }
    Vec::new()
}

#[cfg(test)]
mod tests;
