//! The control sequences of keys and of the mouse. Sequences that are not listed have no meaning.

use std::str::FromStr;

use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyEventState, KeyModifiers, MouseButton, MouseEvent,
    MouseEventKind,
};

/// Parses a sequence `CSI text last`; `None`: it is swallowed.
pub(super) fn event(text: &[u8], last: u8) -> Option<Event> {
    let text = std::str::from_utf8(text).ok()?;
    if let Some(rest) = text.strip_prefix('<') {
        return sgr_mouse(rest, last);
    }
    // Answers of the terminal begin with `?`, `>` or `=`.
    if text.starts_with(|c: char| !c.is_ascii_digit() && c != ';') {
        return None;
    }
    match last {
        b'I' => Some(Event::FocusGained),
        b'O' => Some(Event::FocusLost),
        b'M' => rxvt_mouse(text),
        b'Z' => Some(key(KeyCode::BackTab, KeyModifiers::SHIFT, KeyEventKind::Press)),
        b'u' => unicode(text),
        b'~' => numbered_key(text),
        _ => {
            let (modifiers, kind, _) = modifiers(text.split(';').nth(1));
            Some(key(letter_key(last)?, modifiers, kind))
        }
    }
}

/// A key after `ESC O`.
pub(super) fn ss3(byte: u8) -> Option<KeyCode> {
    match byte {
        b'R' => Some(KeyCode::F(3)),
        b'M' => Some(KeyCode::Enter),
        _ => letter_key(byte),
    }
}

/// `ESC [ M` and three bytes.
pub(super) fn x10_mouse(bytes: &[u8]) -> Option<Event> {
    let [button, column, row] = bytes else { return None };
    let at = |byte: &u8| u16::from(byte.saturating_sub(33));
    mouse(u16::from(button.checked_sub(32)?), at(column), at(row), false)
}

fn letter_key(byte: u8) -> Option<KeyCode> {
    Some(match byte {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'P' => KeyCode::F(1),
        b'Q' => KeyCode::F(2),
        b'S' => KeyCode::F(4),
        _ => return None,
    })
}

fn numbered_key(text: &str) -> Option<Event> {
    let mut parts = text.split(';');
    let first: u16 = number(parts.next()?)?;
    let held = parts.next();
    // The form of xterm for keys that have no other.
    if first == 27 {
        let (modifiers, kind, state) = modifiers(held);
        let code = code(number(parts.next()?)?, modifiers)?;
        return Some(Event::Key(KeyEvent::new_with_kind_and_state(code, modifiers, kind, state)));
    }
    let function = |from: u16| u8::try_from(first - from).ok().map(KeyCode::F);
    let code = match first {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => function(10)?,
        17..=21 => function(11)?,
        23..=26 => function(12)?,
        28..=29 => function(15)?,
        31..=34 => function(17)?,
        _ => return None,
    };
    let (modifiers, kind, state) = modifiers(held);
    Some(Event::Key(KeyEvent::new_with_kind_and_state(code, modifiers, kind, state)))
}

/// `CSI code:shifted;modifiers:kind u`.
fn unicode(text: &str) -> Option<Event> {
    let mut parts = text.split(';');
    let mut codes = parts.next()?.split(':');
    let first: u32 = number(codes.next()?)?;
    let (mut modifiers, kind, mut state) = modifiers(parts.next());
    let mut code = match keypad(first) {
        Some(code) => {
            state |= KeyEventState::KEYPAD;
            code
        }
        // Keys without a character.
        None if (57_344..=63_743).contains(&first) => return None,
        None => code(first, modifiers)?,
    };
    if modifiers.contains(KeyModifiers::SHIFT)
        && let Some(shifted) = codes.next().and_then(number).and_then(char::from_u32)
    {
        code = KeyCode::Char(shifted);
        modifiers.remove(KeyModifiers::SHIFT);
    }
    Some(Event::Key(KeyEvent::new_with_kind_and_state(code, modifiers, kind, state)))
}

fn code(number: u32, modifiers: KeyModifiers) -> Option<KeyCode> {
    Some(match char::from_u32(number)? {
        '\x1b' => KeyCode::Esc,
        '\r' => KeyCode::Enter,
        '\t' if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        '\t' => KeyCode::Tab,
        '\x7f' => KeyCode::Backspace,
        c => KeyCode::Char(c),
    })
}

fn keypad(code: u32) -> Option<KeyCode> {
    const SIGNS: [char; 5] = ['.', '/', '*', '-', '+'];
    const MOVES: [KeyCode; 11] = [
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::Insert,
        KeyCode::Delete,
        KeyCode::KeypadBegin,
    ];
    let at = |from: u32| usize::try_from(code - from).unwrap_or(usize::MAX);
    match code {
        57_399..=57_408 => char::from_digit(code - 57_399, 10).map(KeyCode::Char),
        57_409..=57_413 => SIGNS.get(at(57_409)).copied().map(KeyCode::Char),
        57_414 => Some(KeyCode::Enter),
        57_415 => Some(KeyCode::Char('=')),
        57_416 => Some(KeyCode::Char(',')),
        57_417..=57_427 => MOVES.get(at(57_417)).copied(),
        _ => None,
    }
}

/// `modifiers:kind`: one more than the sum of the modifiers held.
fn modifiers(text: Option<&str>) -> (KeyModifiers, KeyEventKind, KeyEventState) {
    const HELD: [(u8, KeyModifiers); 6] = [
        (1, KeyModifiers::SHIFT),
        (2, KeyModifiers::ALT),
        (4, KeyModifiers::CONTROL),
        (8, KeyModifiers::SUPER),
        (16, KeyModifiers::HYPER),
        (32, KeyModifiers::META),
    ];
    let mut parts = text.unwrap_or_default().split(':');
    let mask = parts.next().and_then(number::<u8>).unwrap_or(1).saturating_sub(1);
    let kind = match parts.next() {
        Some("2") => KeyEventKind::Repeat,
        Some("3") => KeyEventKind::Release,
        _ => KeyEventKind::Press,
    };
    let held = HELD.iter().filter(|(bit, _)| mask & bit != 0);
    let held = held.fold(KeyModifiers::NONE, |all, (_, one)| all | *one);
    let mut state = KeyEventState::NONE;
    state.set(KeyEventState::CAPS_LOCK, mask & 64 != 0);
    state.set(KeyEventState::NUM_LOCK, mask & 128 != 0);
    (held, kind, state)
}

fn key(code: KeyCode, modifiers: KeyModifiers, kind: KeyEventKind) -> Event {
    Event::Key(KeyEvent::new_with_kind(code, modifiers, kind))
}

/// `CSI < button;column;row M`, or `m` for a released button.
fn sgr_mouse(text: &str, last: u8) -> Option<Event> {
    let mut parts = text.split(';').map(number::<u16>);
    let button = parts.next()??;
    let column = parts.next()??;
    let row = parts.next()??;

    matches!(last, b'M' | b'm').then_some(())?;
    mouse(button, column.saturating_sub(1), row.saturating_sub(1), last == b'm')
}

/// `CSI button;column;row M`.
fn rxvt_mouse(text: &str) -> Option<Event> {
    let mut parts = text.split(';').map(number::<u16>);
    let button = parts.next()??;
    let column = parts.next()??;
    let row = parts.next()??;

    mouse(button.checked_sub(32)?, column.saturating_sub(1), row.saturating_sub(1), false)
}

fn mouse(button: u16, column: u16, row: u16, is_up: bool) -> Option<Event> {
    let drags = button & 32 != 0;
    let which = (button & 3) | ((button & 0b1100_0000) >> 4);
    let pressed = match which {
        0 => Some(MouseButton::Left),
        1 => Some(MouseButton::Middle),
        2 => Some(MouseButton::Right),
        _ => None,
    };
    let kind = match (which, pressed, drags) {
        (_, Some(button), false) if is_up => MouseEventKind::Up(button),
        (_, Some(button), false) => MouseEventKind::Down(button),
        (_, Some(button), true) => MouseEventKind::Drag(button),
        (3, _, false) => MouseEventKind::Up(MouseButton::Left),
        (3..=5, _, true) => MouseEventKind::Moved,
        (4, _, false) => MouseEventKind::ScrollUp,
        (5, _, false) => MouseEventKind::ScrollDown,
        (6, _, false) => MouseEventKind::ScrollLeft,
        (7, _, false) => MouseEventKind::ScrollRight,
        _ => return None,
    };
    let held = [(4, KeyModifiers::SHIFT), (8, KeyModifiers::ALT), (16, KeyModifiers::CONTROL)];
    let held = held.into_iter().filter(|(bit, _)| button & bit != 0);
    let modifiers = held.fold(KeyModifiers::NONE, |all, (_, one)| all | one);
    Some(Event::Mouse(MouseEvent { kind, column, row, modifiers }))
}

fn number<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}
