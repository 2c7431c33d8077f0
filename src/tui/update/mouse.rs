//! The mouse: the wheel scrolls, a press selects text, and a click does what a key does.

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::input;
use crate::Millis;
use crate::event::ScreenEffect;
use crate::focus::{Focus, focus};
use crate::state::{MouseOwner, ScreenAreas, State};
use crate::submit;
use crate::transcript::{ReleaseOutcome, Scroll};

/// Lines per step of the wheel.
const WHEEL: i32 = 3;

pub(super) fn handle_mouse(state: &mut State, mouse: MouseEvent, at: Millis) -> Vec<ScreenEffect> {
    let focus = focus(state, at);
    if matches!(mouse.kind, MouseEventKind::Down(_)) {
        // Who clicks is at work, also where the question opens only now.
        state.guard.record_key(at);
    }
    let dialog = matches!(focus, Focus::Question | Focus::Draft | Focus::Page | Focus::Picker);
    let lines = match mouse.kind {
        MouseEventKind::ScrollUp => -WHEEL,
        MouseEventKind::ScrollDown => WHEEL,
        MouseEventKind::Down(_) if matches!(focus, Focus::Question | Focus::Draft) => {
            return Vec::new();
        }
        MouseEventKind::Down(MouseButton::Left) if mouse.modifiers == KeyModifiers::NONE => {
            if let Some(effects) = click(state, mouse, focus, at) {
                return effects;
            }
            if !dialog {
                state.transcript.press(mouse.column, mouse.row, at);
            }
            return Vec::new();
        }
        MouseEventKind::Drag(MouseButton::Left) => {
            state.transcript.drag(mouse.column, mouse.row);
            return Vec::new();
        }
        MouseEventKind::Up(MouseButton::Left) if !dialog => {
            return match state.transcript.release(mouse.column, mouse.row) {
                ReleaseOutcome::Selected(text) => vec![ScreenEffect::Copy(text)],
                ReleaseOutcome::Clicked => Vec::new(),
            };
        }
        _ => return Vec::new(),
    };
    let position = Position { x: mouse.column, y: mouse.row };
    let over_dialog =
        state.areas.dialog.contains(position) && !state.areas.transcript.contains(position);
    match focus {
        Focus::Page => state.modals.scroll_lines(lines),
        Focus::Question if over_dialog => state.modals.scroll_lines(lines),
        // Elsewhere the transcript is in view.
        _ => state.transcript.scroll(Scroll::Lines(lines)),
    }
    Vec::new()
}

/// A click on something that a key does as well; `None`: there is nothing of that kind.
fn click(
    state: &mut State,
    mouse: MouseEvent,
    focus: Focus,
    at: Millis,
) -> Option<Vec<ScreenEffect>> {
    let ScreenAreas { above_input, suggestions, first_steps, dialog, .. } = state.areas;
    let position = Position { x: mouse.column, y: mouse.row };
    match focus {
        Focus::Palette => {
            let action = state.palette.click(above_input, position.y)?;
            Some(super::apply_palette_action(state, action, at))
        }
        Focus::Files => {
            let action = state.composer.files.click(above_input, position.y)?;
            input::apply_files_action(state, action);
            Some(Vec::new())
        }
        Focus::Picker => {
            let action = state.modals.click(dialog, position.y)?;
            Some(super::apply_modal_action(state, action, at))
        }
        Focus::Composer if first_steps.contains(position) => {
            super::suggest::suggest(state, Some(usize::from(position.y - first_steps.y) + 1), at);
            // A command is complete; a question may still be changed.
            let is_command = state.composer.display_text().starts_with('/');
            Some(if is_command { submit::send(state, at) } else { Vec::new() })
        }
        Focus::Composer if suggestions.contains(position) => {
            let number = state.suggestions.number_at(suggestions, position)?;
            Some(super::suggest::suggest(state, Some(number), at))
        }
        _ => None,
    }
}

pub(super) fn toggle_mouse(state: &mut State) -> ScreenEffect {
    let (mouse, effect) = match state.mouse {
        MouseOwner::App => (MouseOwner::Terminal, ScreenEffect::ReleaseMouse),
        MouseOwner::Terminal => (MouseOwner::App, ScreenEffect::CaptureMouse),
    };
    state.mouse = mouse;
    effect
}
