//! The user's own keys. Each is translated into a built-in key of its action before anything sees
//! it, so that the rest of the screen knows only the built-in table.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use toml_edit::{Document, Item};

use super::keys::{self, Chord, EditAction, KEYS, KeyAction, KeyBinding, KeyContext, ScrollAction};
use avocet_config::suggest;
use avocet_core::i18n::{LocalizedText, PhraseValue, screen as phrases};

/// The word for a key that does nothing any more.
const NONE: &str = "none";

/// The keys of the file, and what is wrong in it.
#[derive(Clone, Debug, Default)]
pub struct Keymap {
    bindings: Vec<UserBinding>,
    pub problems: Vec<LocalizedText>,
}

#[derive(Clone, Debug)]
struct UserBinding {
    context: KeyContext,
    chord: Chord,
    /// The action, and a built-in key of it; `None`: the key does nothing.
    meaning: Option<(KeyAction, Chord)>,
}

const CONTEXTS: &[(&str, KeyContext)] = &[
    ("anywhere", KeyContext::Anywhere),
    ("input", KeyContext::Input),
    ("empty-input", KeyContext::EmptyInput),
    ("running-step", KeyContext::RunningStep),
    ("palette", KeyContext::Palette),
    ("queue", KeyContext::Queue),
    ("agents", KeyContext::Agents),
    ("history-search", KeyContext::HistorySearch),
    ("search", KeyContext::Search),
    ("search-results", KeyContext::SearchResults),
    ("question", KeyContext::Question),
    ("page", KeyContext::Page),
    ("diff", KeyContext::Diff),
];

#[rustfmt::skip]
const ACTIONS: &[(&str, KeyAction)] = &[
    ("quit", KeyAction::Quit), ("stop", KeyAction::Stop), ("redraw", KeyAction::Redraw),
    ("suspend", KeyAction::Suspend), ("help", KeyAction::Help), ("mouse", KeyAction::Mouse),
    ("steps", KeyAction::Steps), ("side-panel", KeyAction::SidePanel), ("search", KeyAction::Search), ("raw", KeyAction::Dump),
    ("copy", KeyAction::Copy), ("palette", KeyAction::Palette),
    ("send", KeyAction::Send), ("up", KeyAction::Up), ("down", KeyAction::Down),
    ("suggest", KeyAction::Suggest), ("search-history", KeyAction::SearchHistory),
    ("editor", KeyAction::Editor), ("paste-image", KeyAction::PasteImage),
    ("next", KeyAction::Next), ("previous", KeyAction::Previous),
    ("complete", KeyAction::Complete), ("accept", KeyAction::Accept),
    ("background", KeyAction::Background), ("next-mode", KeyAction::NextMode), ("remove", KeyAction::Remove), ("more", KeyAction::More), ("details", KeyAction::Details), ("close", KeyAction::Close),
    ("line-up", KeyAction::Scroll(ScrollAction::LineUp)),
    ("line-down", KeyAction::Scroll(ScrollAction::LineDown)),
    ("page-up", KeyAction::Scroll(ScrollAction::PageUp)),
    ("page-down", KeyAction::Scroll(ScrollAction::PageDown)),
    ("top", KeyAction::Scroll(ScrollAction::Top)),
    ("bottom", KeyAction::Scroll(ScrollAction::Bottom)),
    ("turn-up", KeyAction::Scroll(ScrollAction::TurnUp)),
    ("turn-down", KeyAction::Scroll(ScrollAction::TurnDown)),
    ("newline", KeyAction::Edit(EditAction::InsertNewline)),
    ("delete-back", KeyAction::Edit(EditAction::DeleteBack)),
    ("delete", KeyAction::Edit(EditAction::Delete)),
    ("left", KeyAction::Edit(EditAction::Left)), ("right", KeyAction::Edit(EditAction::Right)),
    ("word-left", KeyAction::Edit(EditAction::WordLeft)),
    ("word-right", KeyAction::Edit(EditAction::WordRight)),
    ("line-start", KeyAction::Edit(EditAction::LineStart)),
    ("line-end", KeyAction::Edit(EditAction::LineEnd)),
    ("delete-word-back", KeyAction::Edit(EditAction::DeleteWordBack)),
    ("delete-word", KeyAction::Edit(EditAction::DeleteWord)),
    ("kill-to-start", KeyAction::Edit(EditAction::KillToStart)),
    ("kill-to-end", KeyAction::Edit(EditAction::KillToEnd)),
    ("yank", KeyAction::Edit(EditAction::Yank)), ("undo", KeyAction::Edit(EditAction::Undo)),
    ("redo", KeyAction::Edit(EditAction::Redo)),
];

#[rustfmt::skip]
const CODES: &[(&str, KeyCode)] = &[
    ("enter", KeyCode::Enter), ("tab", KeyCode::Tab), ("backtab", KeyCode::BackTab),
    ("esc", KeyCode::Esc), ("space", KeyCode::Char(' ')), ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete), ("insert", KeyCode::Insert), ("home", KeyCode::Home),
    ("end", KeyCode::End), ("pgup", KeyCode::PageUp), ("pgdn", KeyCode::PageDown),
    ("up", KeyCode::Up), ("down", KeyCode::Down), ("left", KeyCode::Left),
    ("right", KeyCode::Right),
];

/// Commands that a key does as well.
const COMMAND_KEYS: &[(&str, KeyContext, KeyAction)] = &[
    ("help", KeyContext::EmptyInput, KeyAction::Help),
    ("search", KeyContext::Anywhere, KeyAction::Search),
    ("raw", KeyContext::Anywhere, KeyAction::Dump),
    ("exit", KeyContext::EmptyInput, KeyAction::Quit),
    ("stop", KeyContext::Anywhere, KeyAction::Stop),
];

/// The keys that sentences name, by their placeholders.
const NAMED: &[(&str, KeyContext, KeyAction)] = &[
    ("send", KeyContext::Input, KeyAction::Send),
    ("suggest", KeyContext::Input, KeyAction::Suggest),
    ("up", KeyContext::Input, KeyAction::Up),
    ("complete", KeyContext::Palette, KeyAction::Complete),
    ("accept", KeyContext::Question, KeyAction::Accept),
    ("mode", KeyContext::Input, KeyAction::NextMode),
    ("stop", KeyContext::Anywhere, KeyAction::Stop),
    ("steps", KeyContext::Anywhere, KeyAction::Steps),
    ("bottom", KeyContext::Anywhere, KeyAction::Scroll(ScrollAction::Bottom)),
];

impl Keymap {
    /// A sentence with the names of the keys in it.
    pub fn with_keys(&self, say: impl Into<LocalizedText>) -> LocalizedText {
        let named = NAMED.iter();
        named.fold(say.into(), |say, (name, context, action)| {
            say.with(name, self.key_of(*context, *action))
        })
    }

    /// Reads the text of `keys.toml`. A row that is wrong is reported and left out.
    pub fn parse(text: &str) -> Keymap {
        let mut keymap = Keymap::default();
        let line_of = |at: Option<usize>| {
            let before = text.get(..at.unwrap_or(0)).unwrap_or_default();
            before.matches('\n').count() + 1
        };
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let why = error.message().lines().next().unwrap_or_default().to_owned();
                keymap.report(line_of(error.span().map(|span| span.start)), why);
                return keymap;
            }
        };
        for (name, item) in document.iter() {
            let line = line_of(item.span().map(|span| span.start));
            let context = CONTEXTS.iter().find(|(known, _)| *known == name);
            let (Some((_, context)), Some(table)) = (context, item.as_table_like()) else {
                let known = CONTEXTS.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
                keymap
                    .report(line, phrases::KEYMAP_CONTEXT.with("name", name).with("known", known));
                continue;
            };
            for (chord, action) in table.iter() {
                let line = line_of(action.span().map(|span| span.start));
                match user_binding(*context, chord, action) {
                    Ok(binding) => keymap.bindings.push(binding),
                    Err(why) => keymap.report(line, why),
                }
            }
        }
        keymap
    }

    fn report(&mut self, line: usize, why: impl Into<PhraseValue>) {
        self.problems.push(phrases::KEYMAP_LINE.with("line", line).with("why", why));
    }

    /// The key to act on in place of this one; `None`: the key does nothing. The first context that
    /// knows it decides, but the input does not hide a key that the user chose.
    pub fn translate(&self, contexts: &[KeyContext], event: KeyEvent) -> Option<KeyEvent> {
        if self.bindings.is_empty() {
            return Some(event);
        }
        for context in contexts {
            let own = self
                .bindings
                .iter()
                .rfind(|own| own.context == *context && own.chord.matches(&event));
            if let Some(own) = own {
                let (_, chord) = own.meaning?;
                return Some(KeyEvent { code: chord.code, modifiers: chord.modifiers, ..event });
            }
            let is_input = matches!(context, KeyContext::Input | KeyContext::EmptyInput);
            if !is_input && keys::action(*context, &event).is_some() {
                break;
            }
        }
        Some(event)
    }

    /// The keys of a row of the built-in table, with the user's own.
    pub fn chord_names(&self, binding: &KeyBinding) -> Vec<String> {
        let here = || self.bindings.iter().filter(|own| own.context == binding.context);
        let own = here().filter(|own| own.meaning.is_some_and(|(does, _)| does == binding.action));
        let built_in = binding.chords.iter();
        let kept = built_in.filter(|chord| !here().any(|own| own.chord == **chord));
        own.map(|own| own.chord.name()).chain(kept.map(Chord::name)).collect()
    }

    /// The key to show for an action; empty: it has none.
    pub fn key_of(&self, context: KeyContext, action: KeyAction) -> String {
        let row = KEYS.iter().find(|key| key.context == context && key.action == action);
        row.and_then(|row| self.chord_names(row).into_iter().next()).unwrap_or_default()
    }

    /// The key that does the same as a command; empty: there is none.
    pub fn command_key(&self, command: &str) -> String {
        if command == "rewind" {
            return "Esc Esc".to_owned();
        }
        let row = COMMAND_KEYS.iter().find(|(name, ..)| *name == command);
        row.map(|(_, context, action)| self.key_of(*context, *action)).unwrap_or_default()
    }
}

fn user_binding(
    context: KeyContext,
    written: &str,
    action: &Item,
) -> Result<UserBinding, LocalizedText> {
    let chord = parse_chord(written).ok_or_else(|| phrases::KEYMAP_KEY.with("key", written))?;
    let is_letter = matches!(chord.code, KeyCode::Char(_)) && chord.modifiers.is_empty();
    let types = !matches!(
        context,
        KeyContext::EmptyInput | KeyContext::Page | KeyContext::Diff | KeyContext::SearchResults
    );
    if is_letter && types {
        return Err(phrases::KEYMAP_LETTER.with("key", written));
    }
    let event = KeyEvent::new(chord.code, chord.modifiers);
    let built_in = keys::action(KeyContext::Anywhere, &event);
    if matches!(built_in, Some(KeyAction::Interrupt | KeyAction::Stop)) {
        return Err(phrases::KEYMAP_RESERVED.with("key", written));
    }
    let value = action.to_string();
    let name = action.as_str().unwrap_or(value.trim());
    if name == NONE {
        return Ok(UserBinding { context, chord, meaning: None });
    }
    let Some((_, action)) = ACTIONS.iter().find(|(known, _)| *known == name) else {
        let near = suggest::nearest(name, ACTIONS.iter().map(|(known, _)| *known));
        return Err(match near.first() {
            Some(near) => phrases::KEYMAP_ACTION_NEAR.with("name", name).with("near", *near),
            None => phrases::KEYMAP_ACTION.with("name", name),
        });
    };
    let meaning = built_in_chord(context, *action);
    let meaning = meaning.ok_or_else(|| phrases::KEYMAP_NOT_HERE.with("name", name))?;
    Ok(UserBinding { context, chord, meaning: Some((*action, meaning)) })
}

/// A built-in key that does this in a context.
fn built_in_chord(context: KeyContext, action: KeyAction) -> Option<Chord> {
    let of = |cx: KeyContext| {
        let rows = KEYS.iter().filter(move |key| key.context == cx && key.action == action);
        rows.flat_map(|row| row.chords.iter().copied())
    };
    // A key of another context counts where this one does not use it otherwise.
    let mut elsewhere = of(KeyContext::Anywhere).chain(of(KeyContext::Input)).filter(|chord| {
        let event = KeyEvent::new(chord.code, chord.modifiers);
        keys::action(context, &event).is_none()
    });
    let shares = matches!(
        context,
        KeyContext::Input
            | KeyContext::EmptyInput
            | KeyContext::Page
            | KeyContext::Diff
            | KeyContext::Queue
    );
    of(context).next().or_else(|| elsewhere.find(|_| shares))
}

/// `ctrl-shift-x`, `alt-enter`, `f5`, `?`.
fn parse_chord(written: &str) -> Option<Chord> {
    let mut rest = written;
    let mut modifiers = KeyModifiers::NONE;
    loop {
        let lower = rest.to_ascii_lowercase();
        let prefixes = [
            ("ctrl-", KeyModifiers::CONTROL),
            ("alt-", KeyModifiers::ALT),
            ("shift-", KeyModifiers::SHIFT),
        ];
        let Some((prefix, modifier)) = prefixes
            .iter()
            .find(|(prefix, _)| lower.starts_with(prefix) && rest.len() > prefix.len())
        else {
            break;
        };
        modifiers |= *modifier;
        rest = rest.get(prefix.len()..)?;
    }
    let named = rest.to_ascii_lowercase();
    let code = CODES.iter().find(|(name, _)| *name == named).map(|(_, code)| *code);
    let function = || named.strip_prefix('f')?.parse().ok().filter(|n| (1..=24).contains(n));
    let mut chars = rest.chars();
    let code = match (code, function(), chars.next(), chars.next()) {
        (Some(code), ..) => code,
        (None, Some(n), ..) => KeyCode::F(n),
        // Shift is part of a character.
        (None, None, Some(c), None) if modifiers.contains(KeyModifiers::SHIFT) => {
            modifiers -= KeyModifiers::SHIFT;
            KeyCode::Char(c.to_ascii_uppercase())
        }
        (None, None, Some(c), None) if modifiers.is_empty() => KeyCode::Char(c),
        (None, None, Some(c), None) => KeyCode::Char(c.to_ascii_lowercase()),
        _ => return None,
    };
    Some(Chord { code, modifiers })
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::Lang;

    fn event(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
        KeyEvent::new(code, modifiers)
    }

    fn ctrl(c: char) -> KeyEvent {
        event(KeyCode::Char(c), KeyModifiers::CONTROL)
    }

    #[test]
    fn a_key_of_the_user_has_the_meaning_of_the_built_in_one() {
        let map = Keymap::parse(
            "[input]\n\"ctrl-s\" = \"send\"\n[anywhere]\n\"f5\" = \"palette\"\n\"ctrl-o\" = \"none\"\n",
        );
        assert_eq!(map.problems, []);
        let contexts = [KeyContext::Input, KeyContext::Anywhere];
        let translated = |event| map.translate(&contexts, event);
        assert_eq!(translated(ctrl('s')), Some(event(KeyCode::Enter, KeyModifiers::NONE)));
        assert_eq!(translated(event(KeyCode::F(5), KeyModifiers::NONE)), Some(ctrl('p')));
        assert_eq!(translated(ctrl('o')), None);
        assert_eq!(translated(ctrl('k')), Some(ctrl('k')));
    }

    #[test]
    fn a_list_keeps_its_own_keys_and_the_input_does_not() {
        let map = Keymap::parse("[anywhere]\n\"ctrl-n\" = \"search\"\n");
        let search = Some(ctrl('f'));
        assert_eq!(map.translate(&[KeyContext::Input, KeyContext::Anywhere], ctrl('n')), search);
        let listed = [KeyContext::Palette, KeyContext::Input, KeyContext::Anywhere];
        assert_eq!(map.translate(&listed, ctrl('n')), Some(ctrl('n')));
    }

    #[test]
    fn every_wrong_row_is_reported_with_its_line_and_the_rest_counts() {
        let map = Keymap::parse(
            "[input]\na = \"send\"\n\"ctrl-c\" = \"send\"\n\"ctrl-q\" = \"sned\"\n\
             \"ctrl-wat\" = \"send\"\n\"ctrl-s\" = \"send\"\n[nowhere]\n[question]\n\"f2\" = \"undo\"\n",
        );
        let says: Vec<String> = map.problems.iter().map(|say| say.text(Lang::En)).collect();
        let lines = ["line 2", "line 3", "line 4", "line 5", "line 7", "line 9"];
        assert_eq!(says.len(), lines.len(), "{says:#?}");
        for (say, line) in says.iter().zip(lines) {
            assert!(say.contains(line), "{say}");
        }
        assert!(says[2].contains("send"), "{says:?}");
        assert!(map.translate(&[KeyContext::Input], ctrl('s')) != Some(ctrl('s')));
        assert_eq!(Keymap::parse("[input\n").problems.len(), 1);
    }

    #[test]
    fn every_action_of_the_table_has_a_name() {
        let unnamed = |action| matches!(action, KeyAction::Interrupt | KeyAction::SuggestNth);
        for key in KEYS.iter().filter(|key| !unnamed(key.action)) {
            assert!(ACTIONS.iter().any(|(_, action)| *action == key.action), "{:?}", key.action);
            assert!(CONTEXTS.iter().any(|(_, context)| *context == key.context));
        }
    }

    #[test]
    fn a_chord_is_read_as_it_is_shown() {
        for key in KEYS {
            for chord in key.chords {
                if chord.code == KeyCode::Char('　') {
                    continue;
                }
                assert_eq!(parse_chord(&chord.name()), Some(*chord), "{}", chord.name());
            }
        }
    }

    #[test]
    fn the_list_of_keys_shows_the_users_own_first() {
        let map = Keymap::parse("[anywhere]\n\"f5\" = \"search\"\n\"ctrl-t\" = \"none\"\n");
        assert_eq!(map.command_key("search"), "F5");
        assert_eq!(map.command_key("raw"), "");
        assert_eq!(map.command_key("rewind"), "Esc Esc");
    }
}
