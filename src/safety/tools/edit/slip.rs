//! How models slip when they copy a text.

use avocet_core::i18n::{Phrase, safety as phrases};

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
            Slip::Ends => phrases::SLIP_ENDS,
            Slip::Blanks => phrases::SLIP_BLANKS,
            Slip::Tabs => phrases::SLIP_TABS,
            Slip::Indent => phrases::SLIP_INDENT,
            Slip::EmptyLines => phrases::SLIP_EMPTY_LINES,
            Slip::LineEnds => phrases::SLIP_LINE_ENDS,
            Slip::Signs => phrases::SLIP_SIGNS,
            Slip::Forms => phrases::SLIP_FORMS,
            Slip::Numbers => phrases::SLIP_NUMBERS,
            Slip::Marks => phrases::SLIP_MARKS,
            Slip::Fence => phrases::SLIP_FENCE,
            Slip::Escapes => phrases::SLIP_ESCAPES,
            Slip::Entities => phrases::SLIP_ENTITIES,
        }
    }
}
