//! The keys: one table of what is pressed, where it counts, and what it does.
//!
//! The screen looks keys up here, and help is drawn from here, so the two cannot
//! drift. Letters of a question (`y`, `n`, …) stand beside the question's choices.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::words::{Lang, Word, input, screen as words};

/// Where a key counts. The first place that knows a key wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Anywhere,
    Input,
    /// The input while nothing stands in it.
    EmptyInput,
    Palette,
    /// One of the messages that wait is picked.
    Queue,
    /// While something that was sent is looked for.
    Recall,
    /// The words to search for.
    Search,
    /// The hits of a search.
    Found,
    /// A question: may this run, shall it go on.
    Question,
    /// A page over the screen, such as help.
    Page,
}

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Clear the input, stop the turn, then leave.
    Interrupt,
    /// Stop the turn, or close what is open.
    Stop,
    Leave,
    Redraw,
    Suspend,
    Help,
    Mouse,
    Steps,
    Search,
    /// Print the conversation on the normal screen.
    Dump,
    /// Copy what is selected.
    Copy,
    Scroll(Scrolled),
    Palette,
    Send,
    Edit(Edit),
    /// One up or down; at the edge of the input, through the history.
    Up,
    Down,
    /// The next suggestion, or the nth.
    Suggest,
    SuggestNth,
    /// Look for what was sent before.
    Recall,
    /// Write in the person's own editor.
    Editor,
    /// In a list of choices.
    Next,
    Previous,
    Complete,
    Accept,
    /// Take the picked one out.
    Remove,
    /// Show the part of a question that did not fit.
    More,
    Close,
}

/// How the transcript moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scrolled {
    LineUp,
    LineDown,
    PageUp,
    PageDown,
    Top,
    Bottom,
    TurnUp,
    TurnDown,
}

/// What changes in a text, or where its caret goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    Break,
    Back,
    Delete,
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    DeleteWordBack,
    DeleteWord,
    KillToStart,
    KillToEnd,
    Yank,
    Undo,
    Redo,
}

/// One combination, as a terminal reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chord {
    code: KeyCode,
    modifiers: KeyModifiers,
}

/// A row: the keys that do one thing in one place. Rows without a word are other ways
/// to the same and stay out of help.
#[derive(Debug)]
pub struct Key {
    pub place: Place,
    pub chords: &'static [Chord],
    pub action: Action,
    pub about: Option<Word>,
}

const fn key(code: KeyCode) -> Chord {
    Chord { code, modifiers: KeyModifiers::NONE }
}

const fn shift(code: KeyCode) -> Chord {
    Chord { code, modifiers: KeyModifiers::SHIFT }
}

const fn ctrl(c: char) -> Chord {
    Chord { code: KeyCode::Char(c), modifiers: KeyModifiers::CONTROL }
}

const fn ctrl_key(code: KeyCode) -> Chord {
    Chord { code, modifiers: KeyModifiers::CONTROL }
}

const fn alt(c: char) -> Chord {
    Chord { code: KeyCode::Char(c), modifiers: KeyModifiers::ALT }
}

const fn alt_key(code: KeyCode) -> Chord {
    Chord { code, modifiers: KeyModifiers::ALT }
}

use Action::{
    Accept, Close, Complete, Interrupt, Leave, More, Mouse, Next, Previous, Redraw, Send, Steps,
    Stop, Suggest, SuggestNth, Suspend,
};
use Edit::{
    Back, Break, Delete, DeleteWord, DeleteWordBack, KillToEnd, KillToStart, Left, LineEnd,
    LineStart, Redo, Right, Undo, WordLeft, WordRight, Yank,
};
use KeyCode::{Backspace, Char, Down, End, Enter, Esc, F, Home, PageDown, PageUp, Tab, Up};
use Place::{Anywhere, EmptyInput, Found, Input, Page, Palette, Question};
use Scrolled as S;

#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    row(EmptyInput, &[ctrl('d')], Leave, words::KEY_LEAVE),
    row(EmptyInput, &[key(Char('?')), key(Char('？'))], Action::Help, words::KEY_HELP),
    row(EmptyInput, &[key(Home)], Action::Scroll(S::Top), words::KEY_TOP),
    row(EmptyInput, &[key(End)], Action::Scroll(S::Bottom), words::KEY_BOTTOM),

    row(Input, &[key(Enter)], Send, words::KEY_SEND),
    row(Input, &[ctrl('j'), alt_key(Enter), shift(Enter)], Action::Edit(Break), words::KEY_BREAK),
    row(Input, &[key(Up)], Action::Up, words::KEY_UP),
    row(Input, &[key(Down)], Action::Down, words::KEY_DOWN),
    also(Input, &[ctrl_key(Enter)], Action::Edit(Break)),
    also(Input, &[ctrl('n')], Action::Down),
    row(Input, &[key(KeyCode::Left), ctrl('b')], Action::Edit(Left), words::KEY_LEFT),
    row(Input, &[key(KeyCode::Right)], Action::Edit(Right), words::KEY_RIGHT),
    row(Input, &[ctrl_key(KeyCode::Left), alt('b')], Action::Edit(WordLeft), words::KEY_WORD_LEFT),
    row(Input, &[ctrl_key(KeyCode::Right), alt('f')], Action::Edit(WordRight), words::KEY_WORD_RIGHT),
    also(Input, &[alt_key(KeyCode::Left)], Action::Edit(WordLeft)),
    also(Input, &[alt_key(KeyCode::Right)], Action::Edit(WordRight)),
    row(Input, &[key(Home), ctrl('a')], Action::Edit(LineStart), words::KEY_LINE_START),
    row(Input, &[key(End), ctrl('e')], Action::Edit(LineEnd), words::KEY_LINE_END),
    also(Input, &[key(Backspace), shift(Backspace), ctrl('h')], Action::Edit(Back)),
    also(Input, &[key(KeyCode::Delete), ctrl('d')], Action::Edit(Delete)),
    row(Input, &[ctrl('w'), alt_key(Backspace)], Action::Edit(DeleteWordBack), words::KEY_DELETE_WORD_BACK),
    also(Input, &[ctrl_key(Backspace)], Action::Edit(DeleteWordBack)),
    row(Input, &[alt('d'), ctrl_key(KeyCode::Delete)], Action::Edit(DeleteWord), words::KEY_DELETE_WORD),
    row(Input, &[ctrl('u')], Action::Edit(KillToStart), words::KEY_KILL_TO_START),
    row(Input, &[ctrl('k')], Action::Edit(KillToEnd), words::KEY_KILL_TO_END),
    row(Input, &[ctrl('y')], Action::Edit(Yank), words::KEY_YANK),
    row(Input, &[ctrl('_'), alt('z')], Action::Edit(Undo), words::KEY_UNDO),
    also(Input, &[ctrl('7'), ctrl('/')], Action::Edit(Undo)),
    row(Input, &[alt('Z'), alt('_')], Action::Edit(Redo), words::KEY_REDO),
    row(Input, &[key(Tab)], Suggest, words::KEY_SUGGEST),
    row(Input, &[alt('1')], SuggestNth, words::KEY_SUGGEST_NTH),
    also(Input, &[alt('2'), alt('3'), alt('4'), alt('5'), alt('6'), alt('7'), alt('8'), alt('9')], SuggestNth),

    row(Input, &[ctrl('r')], Action::Recall, input::KEY_SEARCH),
    row(Input, &[ctrl('g')], Action::Editor, input::KEY_EDITOR),

    row(Place::Recall, &[ctrl('r'), key(Up)], Next, input::KEY_OLDER),
    row(Place::Recall, &[ctrl('s'), key(Down)], Previous, input::KEY_NEWER),
    row(Place::Recall, &[key(Enter), key(Tab)], Accept, input::KEY_TAKE),
    row(Place::Recall, &[key(Esc), ctrl('c'), ctrl('g')], Close, input::KEY_AS_IT_WAS),
    also(Place::Recall, &[key(Backspace), shift(Backspace), ctrl('h')], Action::Edit(Back)),

    row(Palette, &[key(Down), ctrl('n')], Next, words::KEY_NEXT),
    row(Palette, &[key(Up), ctrl('p')], Previous, words::KEY_PREVIOUS),
    row(Palette, &[key(Tab)], Complete, words::KEY_COMPLETE),
    row(Palette, &[key(Enter)], Accept, words::KEY_ACCEPT),
    row(Palette, &[key(Esc)], Close, words::KEY_CLOSE),

    row(Place::Queue, &[key(Up)], Previous, words::KEY_PREVIOUS),
    row(Place::Queue, &[key(Down)], Next, words::KEY_NEXT),
    row(Place::Queue, &[key(Enter)], Accept, input::KEY_QUEUE_EDIT),
    row(Place::Queue, &[key(KeyCode::Delete), key(Backspace)], Action::Remove, input::KEY_QUEUE_REMOVE),
    row(Place::Queue, &[key(Esc), ctrl('c')], Close, words::KEY_CLOSE),

    row(Place::Search, &[key(Enter), key(Down)], Next, words::KEY_FOUND_NEXT),
    row(Place::Search, &[shift(Enter), key(Up)], Previous, words::KEY_FOUND_PREVIOUS),
    row(Place::Search, &[key(Esc), ctrl('c')], Close, words::KEY_CLOSE),
    also(Place::Search, &[ctrl('f')], Action::Search),
    row(Found, &[key(Char('n'))], Next, words::KEY_FOUND_NEXT),
    row(Found, &[key(Char('N'))], Previous, words::KEY_FOUND_PREVIOUS),
    row(Found, &[key(Char('/'))], Action::Search, words::KEY_FOUND_OTHER),

    row(Question, &[key(Down), key(KeyCode::Right)], Next, words::KEY_NEXT),
    row(Question, &[key(Tab)], Next, words::KEY_QUESTION_TAB),
    row(Question, &[key(Up), key(KeyCode::Left)], Previous, words::KEY_PREVIOUS),
    also(Question, &[key(KeyCode::BackTab), shift(KeyCode::BackTab)], Previous),
    row(Question, &[key(Enter)], Accept, words::KEY_CHOOSE),
    row(Question, &[key(Char(' ')), key(Char('　'))], More, words::KEY_MORE),
    row(Question, &[key(PageDown)], Action::Scroll(S::PageDown), words::KEY_QUESTION_DOWN),
    row(Question, &[key(PageUp)], Action::Scroll(S::PageUp), words::KEY_QUESTION_UP),
    row(Question, &[key(End), key(Char('G'))], Action::Scroll(S::Bottom), words::KEY_QUESTION_END),
    row(Question, &[key(Home), key(Char('g'))], Action::Scroll(S::Top), words::KEY_QUESTION_TOP),
    row(Question, &[key(Char('/'))], Action::Palette, words::KEY_QUESTION_LINE),
    row(Question, &[key(Esc)], Close, words::KEY_REJECT),

    row(Page, &[key(Esc), key(Char('q')), key(Char('?'))], Close, words::KEY_CLOSE),
    also(Page, &[key(F(1)), ctrl('c'), key(Enter)], Close),
    also(Page, &[key(Down), key(Char('j'))], Next),
    also(Page, &[key(Up), key(Char('k'))], Previous),
    also(Page, &[key(Char(' '))], Action::Scroll(S::PageDown)),
    also(Page, &[key(Home)], Action::Scroll(S::Top)),
    also(Page, &[key(End)], Action::Scroll(S::Bottom)),

    row(Anywhere, &[ctrl('c')], Interrupt, words::KEY_INTERRUPT),
    row(Anywhere, &[key(Esc)], Stop, words::KEY_STOP),
    row(Anywhere, &[ctrl('p')], Action::Palette, words::KEY_PALETTE),
    row(Anywhere, &[key(F(1))], Action::Help, words::KEY_HELP),
    row(Anywhere, &[ctrl('o')], Steps, words::KEY_STEPS),
    row(Anywhere, &[ctrl('f')], Action::Search, words::KEY_SEARCH),
    row(Anywhere, &[ctrl('C'), alt('c')], Action::Copy, words::KEY_COPY),
    row(Anywhere, &[ctrl('t')], Action::Dump, words::KEY_DUMP),
    row(Anywhere, &[key(PageUp)], Action::Scroll(S::PageUp), words::KEY_PAGE_UP),
    row(Anywhere, &[key(PageDown)], Action::Scroll(S::PageDown), words::KEY_PAGE_DOWN),
    row(Anywhere, &[ctrl_key(Home)], Action::Scroll(S::Top), words::KEY_TOP),
    row(Anywhere, &[ctrl_key(End)], Action::Scroll(S::Bottom), words::KEY_BOTTOM),
    row(Anywhere, &[shift(Up)], Action::Scroll(S::LineUp), words::KEY_LINE_UP),
    row(Anywhere, &[shift(Down)], Action::Scroll(S::LineDown), words::KEY_LINE_DOWN),
    row(Anywhere, &[ctrl_key(Up), alt_key(Up)], Action::Scroll(S::TurnUp), words::KEY_TURN_UP),
    row(Anywhere, &[ctrl_key(Down), alt_key(Down)], Action::Scroll(S::TurnDown), words::KEY_TURN_DOWN),
    row(Anywhere, &[key(F(2))], Mouse, words::KEY_MOUSE),
    row(Anywhere, &[ctrl('l')], Redraw, words::KEY_REDRAW),
    row(Anywhere, &[ctrl('z')], Suspend, words::KEY_SUSPEND),
];

const fn row(place: Place, chords: &'static [Chord], action: Action, about: Word) -> Key {
    Key { place, chords, action, about: Some(about) }
}

const fn also(place: Place, chords: &'static [Chord], action: Action) -> Key {
    Key { place, chords, action, about: None }
}

/// The keys worth knowing at first, as the README shows them: all but the ways of a
/// question and the small moves of editing, which help on the screen lists.
pub fn readme_table() -> String {
    let told = |key: &&Key| {
        let place = matches!(key.place, Anywhere | EmptyInput | Input);
        place && !matches!(key.action, Action::Edit(edit) if edit != Break)
    };
    let mut table = String::from("| key | what it does |\n|---|---|\n");
    for key in KEYS.iter().filter(told) {
        let Some(about) = key.about else { continue };
        let chords: Vec<String> =
            key.chords.iter().map(|chord| format!("`{}`", chord.name())).collect();
        let empty = if key.place == EmptyInput { " (on an empty input)" } else { "" };
        table += &format!("| {} | {}{empty} |\n", chords.join(" "), about.text(Lang::En));
    }
    table
}

/// What a key does in one place; `None` when the place does not know it.
pub fn action(place: Place, event: &KeyEvent) -> Option<Action> {
    KEYS.iter()
        .filter(|key| key.place == place)
        .find(|key| key.chords.iter().any(|chord| chord.matches(event)))
        .map(|key| key.action)
}

impl Chord {
    /// Shift is part of the character, so it does not count for characters; some
    /// terminals send the small letter with it.
    fn matches(&self, event: &KeyEvent) -> bool {
        let asked = KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT;
        let held = event.modifiers & asked;
        let (code, held) = match event.code {
            Char(c) if held.contains(KeyModifiers::SHIFT) => {
                (Char(c.to_ascii_uppercase()), held - KeyModifiers::SHIFT)
            }
            code => (code, held),
        };
        self.code == code && self.modifiers == held
    }

    /// `Ctrl-J`, as people write it.
    pub fn name(&self) -> String {
        let mut name = String::new();
        for (modifier, word) in [
            (KeyModifiers::CONTROL, "Ctrl-"),
            (KeyModifiers::ALT, "Alt-"),
            (KeyModifiers::SHIFT, "Shift-"),
        ] {
            if self.modifiers.contains(modifier) {
                name.push_str(word);
            }
        }
        match self.code {
            Char(' ' | '　') => name.push_str("Space"),
            Char(c) if !self.modifiers.is_empty() && c.is_uppercase() => {
                name.push_str("Shift-");
                name.push(c);
            }
            Char(c) if !self.modifiers.is_empty() => name.extend(c.to_uppercase()),
            Char(c) => name.push(c),
            F(n) => name.push_str(&format!("F{n}")),
            Up => name.push_str("Up"),
            Down => name.push_str("Down"),
            KeyCode::Left => name.push_str("Left"),
            KeyCode::Right => name.push_str("Right"),
            PageUp => name.push_str("PgUp"),
            PageDown => name.push_str("PgDn"),
            other => name.push_str(&format!("{other:?}")),
        }
        name
    }
}

/// The character a question's choice is picked by: lower-cased width folded, so that
/// `ｙ` and `１` of an input method count as `y` and `1`. Case is kept.
pub fn letter(event: &KeyEvent) -> Option<char> {
    let Char(c) = event.code else { return None };
    if event.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
        return None;
    }
    let folded = match u32::from(c) {
        wide @ 0xFF01..=0xFF5E => char::from_u32(wide - 0xFEE0),
        _ => Some(c),
    };
    folded.map(|c| match event.modifiers.contains(KeyModifiers::SHIFT) {
        true => c.to_ascii_uppercase(),
        false => c,
    })
}

/// The digit of a key, whatever is held with it.
pub fn digit(event: &KeyEvent) -> Option<usize> {
    let Char(c) = event.code else { return None };
    c.to_digit(10).and_then(|digit| usize::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_place_knows_a_key_twice() {
        for (at, one) in KEYS.iter().enumerate() {
            for other in KEYS.iter().skip(at + 1).filter(|other| other.place == one.place) {
                for chord in one.chords {
                    assert!(!other.chords.contains(chord), "{} in {:?}", chord.name(), one.place);
                }
            }
        }
    }

    #[test]
    fn a_key_is_written_as_people_write_it() {
        let names: Vec<_> =
            [ctrl('j'), alt('Z'), shift(Enter), key(F(1)), key(Char('?')), key(PageUp)]
                .iter()
                .map(Chord::name)
                .collect();
        assert_eq!(names, ["Ctrl-J", "Alt-Shift-Z", "Shift-Enter", "F1", "?", "PgUp"]);
    }

    #[test]
    fn wide_letters_of_an_input_method_count() {
        let cases = [('ｙ', Some('y')), ('１', Some('1')), ('Ｙ', Some('Y')), ('n', Some('n'))];
        for (typed, meant) in cases {
            assert_eq!(letter(&KeyEvent::from(Char(typed))), meant);
        }
        assert_eq!(letter(&KeyEvent::new(Char('y'), KeyModifiers::CONTROL)), None);
    }

    #[test]
    fn shift_belongs_to_the_character() {
        let undo = KeyEvent::new(Char('Z'), KeyModifiers::ALT | KeyModifiers::SHIFT);
        assert_eq!(action(Input, &undo), Some(Action::Edit(Redo)));
        assert_eq!(action(EmptyInput, &KeyEvent::from(Char('?'))), Some(Action::Help));
    }
}
