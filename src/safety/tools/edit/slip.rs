//! How models slip when they copy a text.

use avocet_core::i18n::{Phrase, safety as words};

/// In what an old text may differ from the file and still mean one place of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slip {
    Ends,
    Blanks,
    Tabs,
    Indent,
    EmptyLines,
    LineEnds,
    Signs,
    Forms,
    Numbers,
    Marks,
    Fence,
    Escapes,
    Entities,
}

impl Slip {
    pub fn phrase(self) -> Phrase {
        match self {
            Slip::Ends => words::SLIP_ENDS,
            Slip::Blanks => words::SLIP_BLANKS,
            Slip::Tabs => words::SLIP_TABS,
            Slip::Indent => words::SLIP_INDENT,
            Slip::EmptyLines => words::SLIP_EMPTY_LINES,
            Slip::LineEnds => words::SLIP_LINE_ENDS,
            Slip::Signs => words::SLIP_SIGNS,
            Slip::Forms => words::SLIP_FORMS,
            Slip::Numbers => words::SLIP_NUMBERS,
            Slip::Marks => words::SLIP_MARKS,
            Slip::Fence => words::SLIP_FENCE,
            Slip::Escapes => words::SLIP_ESCAPES,
            Slip::Entities => words::SLIP_ENTITIES,
        }
    }
}
