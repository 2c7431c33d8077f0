//! The vi keys as tables, and their parsing.

use super::grid::Motion;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Insert,
    InsertFirst,
    Append,
    AppendEnd,
    OpenBelow,
    OpenAbove,
    Delete,
    DeleteBack,
    DeleteEnd,
    ChangeEnd,
    Substitute,
    Put,
    PutBefore,
    Undo,
    SwapCase,
    Join,
    Visual,
    VisualLines,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Delete,
    Change,
    Yank,
    Lower,
    Upper,
    SwapCase,
}

/// A letter to find in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Find {
    pub letter: char,
    pub is_forward: bool,
    /// Stop before it.
    pub is_till: bool,
}

impl Find {
    pub fn reversed(self) -> Find {
        Find { is_forward: !self.is_forward, ..self }
    }
}

/// `iw`, `a"`, `i(`: what the letter names, and whether its surroundings belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextObject {
    pub kind: ObjectKind,
    pub is_around: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    Word,
    LongWord,
    Quoted(char),
    Bracketed(char, char),
}

/// Where an operator or the cursor goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Motion(Motion),
    Find(Find),
    /// The last find again, or the other way.
    FindAgain {
        is_reversed: bool,
    },
}

/// The meaning of the keys pressed so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Move(Target),
    Verb(Verb),
    Operate(Operator, Target),
    OperateOn(Operator, TextObject),
    /// `dd`, `cc`, `yy`.
    Lines(Operator),
    /// In visual mode: the selection.
    Selected(Operator),
    SelectObject(TextObject),
    Replace(char),
    /// The last change again.
    Repeat,
}

impl Command {
    /// Whether it leads to insert mode without taking any text away: its count is for what is typed.
    pub fn inserts(self) -> bool {
        matches!(
            self,
            Command::Verb(
                Verb::Insert
                    | Verb::InsertFirst
                    | Verb::Append
                    | Verb::AppendEnd
                    | Verb::OpenBelow
                    | Verb::OpenAbove
            )
        )
    }

    /// Whether what it inserts is a line of its own.
    pub fn opens_line(self) -> bool {
        matches!(self, Command::Verb(Verb::OpenBelow | Verb::OpenAbove))
    }

    /// Whether `.` does it again.
    pub fn is_change(self) -> bool {
        match self {
            Command::Operate(operator, _)
            | Command::OperateOn(operator, _)
            | Command::Lines(operator) => operator != Operator::Yank,
            Command::Verb(verb) => !matches!(verb, Verb::Undo | Verb::Visual | Verb::VisualLines),
            Command::Replace(_) => true,
            Command::Move(_)
            | Command::Selected(_)
            | Command::SelectObject(_)
            | Command::Repeat => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed<T> {
    Complete(T),
    /// More keys must follow.
    Incomplete,
    Invalid,
}

impl<T> Parsed<T> {
    fn map<U>(self, make: impl FnOnce(T) -> U) -> Parsed<U> {
        match self {
            Parsed::Complete(found) => Parsed::Complete(make(found)),
            Parsed::Incomplete => Parsed::Incomplete,
            Parsed::Invalid => Parsed::Invalid,
        }
    }
}

/// A command, and how often.
pub type ParsedKeys = Parsed<(Option<usize>, Command)>;

#[rustfmt::skip]
const MOTIONS: &[(&str, Motion)] = &[
    ("h", Motion::Left), ("l", Motion::Right), ("j", Motion::Down), ("k", Motion::Up),
    ("w", Motion::Word), ("b", Motion::WordBack), ("e", Motion::WordEnd),
    ("W", Motion::LongWord), ("B", Motion::LongWordBack), ("E", Motion::LongWordEnd),
    ("0", Motion::LineStart), ("^", Motion::FirstWord), ("$", Motion::LineEnd),
    ("gg", Motion::Top), ("G", Motion::Bottom), (" ", Motion::Right),
];

#[rustfmt::skip]
const VERBS: &[(&str, Verb)] = &[
    ("i", Verb::Insert), ("I", Verb::InsertFirst), ("a", Verb::Append), ("A", Verb::AppendEnd),
    ("o", Verb::OpenBelow), ("O", Verb::OpenAbove), ("x", Verb::Delete), ("X", Verb::DeleteBack),
    ("D", Verb::DeleteEnd), ("C", Verb::ChangeEnd), ("s", Verb::Substitute), ("p", Verb::Put),
    ("P", Verb::PutBefore), ("u", Verb::Undo), ("~", Verb::SwapCase), ("J", Verb::Join),
    ("v", Verb::Visual), ("V", Verb::VisualLines),
];

#[rustfmt::skip]
const OPERATORS: &[(&str, Operator)] = &[
    ("d", Operator::Delete), ("c", Operator::Change), ("y", Operator::Yank),
    ("gu", Operator::Lower), ("gU", Operator::Upper), ("g~", Operator::SwapCase),
];

/// In visual mode these are operators as well.
#[rustfmt::skip]
const ON_SELECTION: &[(&str, Operator)] = &[
    ("x", Operator::Delete), ("X", Operator::Delete), ("s", Operator::Change),
    ("u", Operator::Lower), ("U", Operator::Upper),
];

/// Single keys for an operator on lines.
const ON_LINES: &[(&str, Operator)] = &[("S", Operator::Change), ("Y", Operator::Yank)];

#[rustfmt::skip]
const OBJECTS: &[(char, ObjectKind)] = &[
    ('w', ObjectKind::Word), ('W', ObjectKind::LongWord),
    ('"', ObjectKind::Quoted('"')), ('\'', ObjectKind::Quoted('\'')), ('`', ObjectKind::Quoted('`')),
    ('(', ObjectKind::Bracketed('(', ')')), (')', ObjectKind::Bracketed('(', ')')),
    ('b', ObjectKind::Bracketed('(', ')')), ('[', ObjectKind::Bracketed('[', ']')),
    (']', ObjectKind::Bracketed('[', ']')), ('{', ObjectKind::Bracketed('{', '}')),
    ('}', ObjectKind::Bracketed('{', '}')), ('B', ObjectKind::Bracketed('{', '}')),
    ('<', ObjectKind::Bracketed('<', '>')), ('>', ObjectKind::Bracketed('<', '>')),
];

/// The largest count, however many digits it has.
pub const MAX_COUNT: usize = 10_000;

pub fn parse_keys(typed: &str, is_visual: bool) -> ParsedKeys {
    let (first, rest) = count(typed);
    if rest.is_empty() {
        return Parsed::Incomplete;
    }
    if is_visual {
        return in_visual(rest).map(|command| (first, command));
    }
    if let Some((key, operator)) = OPERATORS.iter().find(|(key, _)| rest.starts_with(key)) {
        return operation(first, key, *operator, rest.strip_prefix(key).unwrap_or(""));
    }
    if let Some(operator) = lookup(ON_LINES, rest) {
        return Parsed::Complete((first, Command::Lines(operator)));
    }
    common(rest).map(|command| (first, command))
}

/// Keys that mean the same in both modes.
fn common(rest: &str) -> Parsed<Command> {
    let mut letters = rest.chars();
    match (letters.next(), letters.next()) {
        (Some('r'), None) => return Parsed::Incomplete,
        (Some('r'), Some(letter)) => return Parsed::Complete(Command::Replace(letter)),
        (Some('.'), _) => return Parsed::Complete(Command::Repeat),
        _ => {}
    }
    match lookup(VERBS, rest) {
        Some(verb) => Parsed::Complete(Command::Verb(verb)),
        None => target(rest).map(Command::Move),
    }
}

fn in_visual(rest: &str) -> Parsed<Command> {
    if let Some(operator) = lookup(OPERATORS, rest).or_else(|| lookup(ON_SELECTION, rest)) {
        return Parsed::Complete(Command::Selected(operator));
    }
    match object(rest) {
        Parsed::Invalid => {}
        object => return object.map(Command::SelectObject),
    }
    match common(rest) {
        Parsed::Complete(Command::Verb(verb)) if !works_on_selection(verb) => Parsed::Invalid,
        Parsed::Complete(Command::Repeat) => Parsed::Invalid,
        other => other,
    }
}

fn works_on_selection(verb: Verb) -> bool {
    matches!(verb, Verb::Visual | Verb::VisualLines | Verb::SwapCase | Verb::Join)
}

fn operation(first: Option<usize>, key: &str, operator: Operator, rest: &str) -> ParsedKeys {
    let (second, rest) = count(rest);
    let times = match (first, second) {
        (None, None) => None,
        (one, other) => Some((one.unwrap_or(1) * other.unwrap_or(1)).min(MAX_COUNT)),
    };
    if rest.is_empty() {
        return Parsed::Incomplete;
    }
    // `dd`; `gUU` as `gUgU`.
    if rest == key || (key.len() > 1 && key.ends_with(rest)) {
        return Parsed::Complete((times, Command::Lines(operator)));
    }
    let command = match object(rest) {
        Parsed::Invalid => target(rest).map(|target| Command::Operate(operator, target)),
        object => object.map(|object| Command::OperateOn(operator, object)),
    };
    command.map(|command| (times, command))
}

fn object(rest: &str) -> Parsed<TextObject> {
    let mut letters = rest.chars();
    let is_around = match letters.next() {
        Some('i') => false,
        Some('a') => true,
        _ => return Parsed::Invalid,
    };
    let Some(letter) = letters.next() else { return Parsed::Incomplete };
    match OBJECTS.iter().find(|(known, _)| *known == letter) {
        Some((_, kind)) => Parsed::Complete(TextObject { kind: *kind, is_around }),
        None => Parsed::Invalid,
    }
}

fn target(rest: &str) -> Parsed<Target> {
    if let Some(motion) = lookup(MOTIONS, rest) {
        return Parsed::Complete(Target::Motion(motion));
    }
    let mut letters = rest.chars();
    let find = |is_forward, is_till, letter: Option<char>| match letter {
        Some(letter) => Parsed::Complete(Target::Find(Find { letter, is_forward, is_till })),
        None => Parsed::Incomplete,
    };
    match (letters.next(), letters.next()) {
        (Some('g'), None) => Parsed::Incomplete,
        (Some('f'), letter) => find(true, false, letter),
        (Some('F'), letter) => find(false, false, letter),
        (Some('t'), letter) => find(true, true, letter),
        (Some('T'), letter) => find(false, true, letter),
        (Some(';'), None) => Parsed::Complete(Target::FindAgain { is_reversed: false }),
        (Some(','), None) => Parsed::Complete(Target::FindAgain { is_reversed: true }),
        _ => Parsed::Invalid,
    }
}

/// A number at the start; a zero alone is a motion.
fn count(typed: &str) -> (Option<usize>, &str) {
    let rest = typed.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = typed.strip_suffix(rest).unwrap_or("");
    if digits.is_empty() || digits.starts_with('0') {
        return (None, typed);
    }
    (Some(digits.parse().map_or(MAX_COUNT, |count: usize| count.min(MAX_COUNT))), rest)
}

fn lookup<T: Copy>(table: &[(&str, T)], key: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == key).map(|(_, what)| *what)
}
