//! The key bindings: one table of keys, contexts and actions.
//!
//! The screen looks keys up here, and help is drawn from it, so the two cannot drift apart. Letters
//! of a question (`y`, `n`, …) are listed with the question's choices.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use avocet_core::i18n::{Lang, Phrase, agents, common, input, screen as phrases};

/// The context of a key. The first context that knows a key wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyContext {
    Anywhere,
    Input,
    /// The input while it is empty.
    EmptyInput,
    /// The input while a step runs.
    RunningStep,
    Palette,
    /// A queued message is selected.
    Queue,
    /// A running subagent is selected.
    Agents,
    /// During a search in the history.
    HistorySearch,
    /// The query of a search in the conversation.
    Search,
    /// The hits of that search.
    SearchResults,
    /// A question: may this run, shall it go on.
    Question,
    /// A page over the screen, such as help.
    Page,
    /// The page of changed files.
    Diff,
}

/// The action of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyAction {
    /// Clear the input, stop the turn, then quit.
    Interrupt,
    /// Stop the turn, or close what is open.
    Stop,
    Quit,
    Redraw,
    Suspend,
    Help,
    Mouse,
    Steps,
    /// The panel at the right.
    SidePanel,
    Search,
    /// Print the conversation on the normal screen.
    Dump,
    /// Copy the selection.
    Copy,
    Scroll(ScrollAction),
    Palette,
    Send,
    Edit(EditAction),
    /// One up or down; at the edge of the input, through the history.
    Up,
    Down,
    /// The next suggestion, or the nth.
    Suggest,
    SuggestNth,
    /// Sends the running step to the background.
    Background,
    /// The next mode: which steps ask.
    NextMode,
    /// Search the history.
    SearchHistory,
    /// Edit in the user's editor.
    Editor,
    PasteImage,
    /// In a list of choices.
    Next,
    Previous,
    Complete,
    Accept,
    /// Remove the selected message.
    Remove,
    /// Show the part of a question that did not fit.
    More,
    /// Show or hide the details of a question.
    Details,
    Close,
}

/// How the transcript scrolls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScrollAction {
    LineUp,
    LineDown,
    PageUp,
    PageDown,
    Top,
    Bottom,
    TurnUp,
    TurnDown,
}

/// Changes of a text, and moves of its cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditAction {
    InsertNewline,
    DeleteBack,
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

/// One key combination, as a terminal reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chord {
    pub(super) code: KeyCode,
    pub(super) modifiers: KeyModifiers,
}

/// A row: the keys for one action in one context. Rows without a sentence are alternatives, which
/// help leaves out.
#[derive(Debug)]
pub struct KeyBinding {
    pub context: KeyContext,
    pub chords: &'static [Chord],
    pub action: KeyAction,
    pub about: Option<Phrase>,
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

use EditAction::{
    Delete, DeleteBack, DeleteWord, DeleteWordBack, InsertNewline, KillToEnd, KillToStart, Left,
    LineEnd, LineStart, Redo, Right, Undo, WordLeft, WordRight, Yank,
};
use KeyAction::{
    Accept, Close, Complete, Interrupt, More, Mouse, Next, Previous, Quit, Redraw, Send, Steps,
    Stop, Suggest, SuggestNth, Suspend,
};
use KeyCode::{Backspace, Char, Down, End, Enter, Esc, F, Home, PageDown, PageUp, Tab, Up};
use KeyContext::{Anywhere, Diff, EmptyInput, Input, Page, Palette, Question, SearchResults};
use ScrollAction as S;

#[rustfmt::skip]
pub const KEYS: &[KeyBinding] = &[
    binding(KeyContext::RunningStep, &[ctrl('b')], KeyAction::Background, phrases::KEY_BACKGROUND),

    binding(EmptyInput, &[ctrl('d')], Quit, common::QUIT),
    binding(EmptyInput, &[key(Char('?')), key(Char('？'))], KeyAction::Help, phrases::KEY_HELP),
    binding(EmptyInput, &[key(Home)], KeyAction::Scroll(S::Top), phrases::KEY_TOP),
    binding(EmptyInput, &[key(End)], KeyAction::Scroll(S::Bottom), phrases::KEY_BOTTOM),

    binding(Input, &[key(Enter)], Send, phrases::KEY_SEND),
    binding(Input, &[ctrl('j'), alt_key(Enter), shift(Enter)], KeyAction::Edit(InsertNewline), phrases::KEY_BREAK),
    binding(Input, &[key(Up)], KeyAction::Up, phrases::KEY_UP),
    binding(Input, &[key(Down)], KeyAction::Down, phrases::KEY_DOWN),
    alternative(Input, &[ctrl_key(Enter)], KeyAction::Edit(InsertNewline)),
    alternative(Input, &[ctrl('n')], KeyAction::Down),
    binding(Input, &[key(KeyCode::Left), ctrl('b')], KeyAction::Edit(Left), phrases::KEY_LEFT),
    binding(Input, &[key(KeyCode::Right)], KeyAction::Edit(Right), phrases::KEY_RIGHT),
    binding(Input, &[ctrl_key(KeyCode::Left), alt('b')], KeyAction::Edit(WordLeft), phrases::KEY_WORD_LEFT),
    binding(Input, &[ctrl_key(KeyCode::Right), alt('f')], KeyAction::Edit(WordRight), phrases::KEY_WORD_RIGHT),
    alternative(Input, &[alt_key(KeyCode::Left)], KeyAction::Edit(WordLeft)),
    alternative(Input, &[alt_key(KeyCode::Right)], KeyAction::Edit(WordRight)),
    binding(Input, &[key(Home), ctrl('a')], KeyAction::Edit(LineStart), phrases::KEY_LINE_START),
    binding(Input, &[key(End), ctrl('e')], KeyAction::Edit(LineEnd), phrases::KEY_LINE_END),
    alternative(Input, &[key(Backspace), shift(Backspace), ctrl('h')], KeyAction::Edit(DeleteBack)),
    alternative(Input, &[key(KeyCode::Delete), ctrl('d')], KeyAction::Edit(Delete)),
    binding(Input, &[ctrl('w'), alt_key(Backspace)], KeyAction::Edit(DeleteWordBack), phrases::KEY_DELETE_WORD_BACK),
    alternative(Input, &[ctrl_key(Backspace)], KeyAction::Edit(DeleteWordBack)),
    binding(Input, &[alt('d'), ctrl_key(KeyCode::Delete)], KeyAction::Edit(DeleteWord), phrases::KEY_DELETE_WORD),
    binding(Input, &[ctrl('u')], KeyAction::Edit(KillToStart), phrases::KEY_KILL_TO_START),
    binding(Input, &[ctrl('k')], KeyAction::Edit(KillToEnd), phrases::KEY_KILL_TO_END),
    binding(Input, &[ctrl('y')], KeyAction::Edit(Yank), phrases::KEY_YANK),
    binding(Input, &[ctrl('_'), alt('z')], KeyAction::Edit(Undo), phrases::KEY_UNDO),
    alternative(Input, &[ctrl('7'), ctrl('/')], KeyAction::Edit(Undo)),
    binding(Input, &[alt('Z'), alt('_')], KeyAction::Edit(Redo), phrases::KEY_REDO),
    binding(Input, &[shift(Tab)], KeyAction::NextMode, phrases::KEY_NEXT_MODE),
    alternative(Input, &[key(KeyCode::BackTab), shift(KeyCode::BackTab)], KeyAction::NextMode),
    binding(Input, &[key(Tab)], Suggest, phrases::KEY_SUGGEST),
    binding(Input, &[alt('1')], SuggestNth, phrases::KEY_SUGGEST_NTH),
    alternative(Input, &[alt('2'), alt('3'), alt('4'), alt('5'), alt('6'), alt('7'), alt('8'), alt('9')], SuggestNth),

    binding(Input, &[ctrl('r')], KeyAction::SearchHistory, input::KEY_SEARCH),
    binding(Input, &[ctrl('g')], KeyAction::Editor, input::KEY_EDITOR),
    binding(Input, &[ctrl('v')], KeyAction::PasteImage, input::KEY_PASTE_IMAGE),

    binding(KeyContext::HistorySearch, &[ctrl('r'), key(Up)], Next, input::KEY_OLDER),
    binding(KeyContext::HistorySearch, &[ctrl('s'), key(Down)], Previous, input::KEY_NEWER),
    binding(KeyContext::HistorySearch, &[key(Enter), key(Tab)], Accept, input::KEY_TAKE),
    binding(KeyContext::HistorySearch, &[key(Esc), ctrl('c'), ctrl('g')], Close, input::KEY_AS_IT_WAS),
    alternative(KeyContext::HistorySearch, &[key(Backspace), shift(Backspace), ctrl('h')], KeyAction::Edit(DeleteBack)),

    binding(Palette, &[key(Down), ctrl('n')], Next, phrases::KEY_NEXT),
    binding(Palette, &[key(Up), ctrl('p')], Previous, phrases::KEY_PREVIOUS),
    binding(Palette, &[key(Tab)], Complete, phrases::KEY_COMPLETE),
    binding(Palette, &[key(Enter)], Accept, phrases::KEY_ACCEPT),
    binding(Palette, &[key(Esc)], Close, phrases::KEY_CLOSE),

    binding(KeyContext::Queue, &[key(Up)], Previous, phrases::KEY_PREVIOUS),
    binding(KeyContext::Queue, &[key(Down)], Next, phrases::KEY_NEXT),
    binding(KeyContext::Queue, &[key(Enter)], Accept, input::KEY_QUEUE_EDIT),
    binding(KeyContext::Queue, &[key(KeyCode::Delete), key(Backspace)], KeyAction::Remove, input::KEY_QUEUE_REMOVE),
    binding(KeyContext::Queue, &[key(Esc), ctrl('c')], Close, phrases::KEY_CLOSE),

    binding(KeyContext::Agents, &[key(Up)], Previous, phrases::KEY_PREVIOUS),
    binding(KeyContext::Agents, &[key(Down)], Next, phrases::KEY_NEXT),
    binding(KeyContext::Agents, &[key(Enter)], Accept, agents::KEY_WORK),
    binding(KeyContext::Agents, &[key(Char('x'))], KeyAction::Remove, agents::KEY_STOP),
    binding(KeyContext::Agents, &[key(Esc), ctrl('c')], Close, phrases::KEY_CLOSE),

    binding(KeyContext::Search, &[key(Enter), key(Down)], Next, phrases::KEY_FOUND_NEXT),
    binding(KeyContext::Search, &[shift(Enter), key(Up)], Previous, phrases::KEY_FOUND_PREVIOUS),
    binding(KeyContext::Search, &[key(Esc), ctrl('c')], Close, phrases::KEY_CLOSE),
    alternative(KeyContext::Search, &[ctrl('f')], KeyAction::Search),
    binding(SearchResults, &[key(Char('n'))], Next, phrases::KEY_FOUND_NEXT),
    binding(SearchResults, &[key(Char('N'))], Previous, phrases::KEY_FOUND_PREVIOUS),
    binding(SearchResults, &[key(Char('/'))], KeyAction::Search, phrases::KEY_FOUND_OTHER),

    binding(Question, &[key(Down), key(KeyCode::Right)], Next, phrases::KEY_NEXT),
    binding(Question, &[key(Tab)], Next, phrases::KEY_QUESTION_TAB),
    binding(Question, &[key(Up), key(KeyCode::Left)], Previous, phrases::KEY_PREVIOUS),
    alternative(Question, &[key(KeyCode::BackTab), shift(KeyCode::BackTab)], Previous),
    binding(Question, &[key(Enter)], Accept, phrases::KEY_CHOOSE),
    binding(Question, &[key(Char(' ')), key(Char('　'))], More, phrases::KEY_MORE),
    binding(Question, &[key(PageDown)], KeyAction::Scroll(S::PageDown), phrases::KEY_QUESTION_DOWN),
    binding(Question, &[key(PageUp)], KeyAction::Scroll(S::PageUp), phrases::KEY_QUESTION_UP),
    binding(Question, &[key(End), key(Char('G'))], KeyAction::Scroll(S::Bottom), phrases::KEY_QUESTION_END),
    binding(Question, &[key(Home), key(Char('g'))], KeyAction::Scroll(S::Top), phrases::KEY_QUESTION_TOP),
    binding(Question, &[key(Char('d'))], KeyAction::Details, phrases::KEY_QUESTION_DETAILS),
    binding(Question, &[key(Char('/'))], KeyAction::Palette, phrases::KEY_QUESTION_LINE),
    binding(Question, &[key(Esc)], Close, phrases::KEY_REJECT),

    binding(Page, &[key(Esc), key(Char('q')), key(Char('?'))], Close, phrases::KEY_CLOSE),
    alternative(Page, &[key(F(1)), ctrl('c'), key(Enter)], Close),
    alternative(Page, &[key(Down), key(Char('j'))], Next),
    alternative(Page, &[key(Up), key(Char('k'))], Previous),
    alternative(Page, &[key(Char(' '))], KeyAction::Scroll(S::PageDown)),
    alternative(Page, &[key(Home)], KeyAction::Scroll(S::Top)),
    alternative(Page, &[key(End)], KeyAction::Scroll(S::Bottom)),

    binding(Diff, &[key(Down), key(KeyCode::Right), key(Tab), key(Char('n'))], Next, phrases::KEY_NEXT_FILE),
    binding(Diff, &[key(Up), key(KeyCode::Left), key(Char('p'))], Previous, phrases::KEY_PREVIOUS_FILE),
    alternative(Diff, &[key(KeyCode::BackTab), shift(KeyCode::BackTab)], Previous),
    binding(Diff, &[key(Char('j'))], KeyAction::Scroll(S::LineDown), phrases::KEY_LINE_DOWN),
    binding(Diff, &[key(Char('k'))], KeyAction::Scroll(S::LineUp), phrases::KEY_LINE_UP),

    binding(Anywhere, &[ctrl('c')], Interrupt, phrases::KEY_INTERRUPT),
    binding(Anywhere, &[key(Esc)], Stop, phrases::KEY_STOP),
    binding(Anywhere, &[ctrl('p')], KeyAction::Palette, phrases::KEY_PALETTE),
    binding(Anywhere, &[key(F(1))], KeyAction::Help, phrases::KEY_HELP),
    binding(Anywhere, &[ctrl('o')], Steps, phrases::KEY_STEPS),
    binding(Anywhere, &[key(F(3)), alt('p')], KeyAction::SidePanel, phrases::KEY_SIDE_PANEL),
    binding(Anywhere, &[ctrl('f')], KeyAction::Search, common::SEARCH),
    binding(Anywhere, &[ctrl('C'), alt('c')], KeyAction::Copy, phrases::KEY_COPY),
    binding(Anywhere, &[ctrl('t')], KeyAction::Dump, phrases::KEY_DUMP),
    binding(Anywhere, &[key(PageUp)], KeyAction::Scroll(S::PageUp), phrases::KEY_PAGE_UP),
    binding(Anywhere, &[key(PageDown)], KeyAction::Scroll(S::PageDown), phrases::KEY_PAGE_DOWN),
    binding(Anywhere, &[ctrl_key(Home)], KeyAction::Scroll(S::Top), phrases::KEY_TOP),
    binding(Anywhere, &[ctrl_key(End)], KeyAction::Scroll(S::Bottom), phrases::KEY_BOTTOM),
    binding(Anywhere, &[shift(Up)], KeyAction::Scroll(S::LineUp), phrases::KEY_LINE_UP),
    binding(Anywhere, &[shift(Down)], KeyAction::Scroll(S::LineDown), phrases::KEY_LINE_DOWN),
    binding(Anywhere, &[ctrl_key(Up), alt_key(Up)], KeyAction::Scroll(S::TurnUp), phrases::KEY_TURN_UP),
    binding(Anywhere, &[ctrl_key(Down), alt_key(Down)], KeyAction::Scroll(S::TurnDown), phrases::KEY_TURN_DOWN),
    binding(Anywhere, &[key(F(2))], Mouse, phrases::KEY_MOUSE),
    binding(Anywhere, &[ctrl('l')], Redraw, phrases::KEY_REDRAW),
    binding(Anywhere, &[ctrl('z')], Suspend, phrases::KEY_SUSPEND),
];

const fn binding(
    cx: KeyContext,
    chords: &'static [Chord],
    action: KeyAction,
    phrase: Phrase,
) -> KeyBinding {
    KeyBinding { context: cx, chords, action, about: Some(phrase) }
}

const fn alternative(cx: KeyContext, chords: &'static [Chord], action: KeyAction) -> KeyBinding {
    KeyBinding { context: cx, chords, action, about: None }
}

/// The most useful keys, for the manual: without the keys of a question and the small edits, which
/// the help on the screen lists.
pub fn manual_rows(lang: Lang) -> impl Iterator<Item = (String, String)> {
    let told = |key: &&KeyBinding| {
        let place = matches!(key.context, Anywhere | EmptyInput | Input | KeyContext::RunningStep);
        place && !matches!(key.action, KeyAction::Edit(edit) if edit != InsertNewline)
    };
    KEYS.iter().filter(told).filter_map(move |key| {
        let about = key.about?.text(lang);
        let chords: Vec<String> =
            key.chords.iter().map(|chord| format!("`{}`", chord.name())).collect();
        let about = match key.context {
            EmptyInput => phrases::ON_AN_EMPTY_INPUT.with("about", about).text(lang),
            KeyContext::RunningStep => phrases::WHILE_IT_RUNS.with("about", about).text(lang),
            _ => about.to_owned(),
        };
        Some((chords.join(" "), about))
    })
}

/// The action of a key in one context; `None` when the context does not know it.
pub fn action(cx: KeyContext, event: &KeyEvent) -> Option<KeyAction> {
    KEYS.iter()
        .filter(|key| key.context == cx)
        .find(|key| key.chords.iter().any(|chord| chord.matches(event)))
        .map(|key| key.action)
}

impl Chord {
    /// Shift is part of the character, so it does not count for characters; some terminals send the
    /// lower-case letter with it.
    pub(super) fn matches(&self, event: &KeyEvent) -> bool {
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

    /// `Ctrl-J`, as users write it.
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

/// The character that selects a choice of a question: full-width forms are folded, so that `ｙ` and
/// `１` of an input method count as `y` and `1`. Case is kept.
pub fn letter(event: &KeyEvent) -> Option<char> {
    let Char(c) = event.code else { return None };
    if event.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
        return None;
    }
    let folded = match u32::from(c) {
        wide @ 0xFF01..=0xFF5E => char::from_u32(wide - 0xFEE0),
        _ => Some(c),
    };
    folded.map(|c| {
        if event.modifiers.contains(KeyModifiers::SHIFT) { c.to_ascii_uppercase() } else { c }
    })
}

/// The digit of a key, with any modifiers.
pub fn digit(event: &KeyEvent) -> Option<usize> {
    let Char(c) = event.code else { return None };
    c.to_digit(10).and_then(|digit| usize::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_context_has_a_key_twice() {
        for (at, one) in KEYS.iter().enumerate() {
            for other in KEYS.iter().skip(at + 1).filter(|other| other.context == one.context) {
                for chord in one.chords {
                    assert!(!other.chords.contains(chord), "{} in {:?}", chord.name(), one.context);
                }
            }
        }
    }

    #[test]
    fn a_key_is_written_as_users_write_it() {
        let names: Vec<_> =
            [ctrl('j'), alt('Z'), shift(Enter), key(F(1)), key(Char('?')), key(PageUp)]
                .iter()
                .map(Chord::name)
                .collect();
        assert_eq!(names, ["Ctrl-J", "Alt-Shift-Z", "Shift-Enter", "F1", "?", "PgUp"]);
    }

    #[test]
    fn full_width_letters_of_an_input_method_count() {
        let cases = [('ｙ', Some('y')), ('１', Some('1')), ('Ｙ', Some('Y')), ('n', Some('n'))];
        for (typed, meant) in cases {
            assert_eq!(letter(&KeyEvent::from(Char(typed))), meant);
        }
        assert_eq!(letter(&KeyEvent::new(Char('y'), KeyModifiers::CONTROL)), None);
    }

    #[test]
    fn shift_is_part_of_the_character() {
        let undo = KeyEvent::new(Char('Z'), KeyModifiers::ALT | KeyModifiers::SHIFT);
        assert_eq!(action(Input, &undo), Some(KeyAction::Edit(Redo)));
        assert_eq!(action(EmptyInput, &KeyEvent::from(Char('?'))), Some(KeyAction::Help));
    }
}
