//! Leaves a conversation: asks first where to write what is not saved.

use super::leave_question::{LeaveQuestion, UnsavedAnswer};
use super::{PlainEffect, PlainSession};
use crate::cli::Exit;
use avocet_core::protocol::{ExportFormat, Notice, NoticeLevel, Op, SavedOp};

impl PlainSession {
    /// Leaves, unless something would be lost: then it asks first.
    pub(super) fn leave(&mut self) -> Vec<PlainEffect> {
        let unsaved = self.facts.unsaved.as_ref().filter(|unsaved| !unsaved.elsewhere);
        let Some(unsaved) = unsaved.filter(|_| self.can_ask) else {
            self.knows_unsaved = self.can_ask && self.facts.unsaved.is_some();
            return vec![PlainEffect::End(Exit::Done)];
        };
        let mut leaving = LeaveQuestion::new(unsaved.why.clone(), unsaved.places.clone());
        let says = leaving.ask();
        self.leaving = Some(leaving);
        self.lines_and_prompt(says)
    }

    pub(super) fn answer_leaving(&mut self, answer: UnsavedAnswer) -> Vec<PlainEffect> {
        match answer {
            UnsavedAnswer::Write(path) => {
                vec![PlainEffect::Send(Op::Saved(SavedOp::Export {
                    format: ExportFormat::Md,
                    path: Some(path),
                }))]
            }
            UnsavedAnswer::Discard => {
                self.knows_unsaved = true;
                vec![PlainEffect::End(Exit::Done)]
            }
            UnsavedAnswer::Stay => {
                self.leaving = None;
                self.prompt()
            }
            UnsavedAnswer::Lines(says) if says.is_empty() => Vec::new(),
            UnsavedAnswer::Lines(says) => self.lines_and_prompt(says),
        }
    }

    /// Reports a file that could not be written, and asks the question again.
    pub(super) fn on_notice(&mut self, notice: Notice) -> Vec<PlainEffect> {
        let failed = notice.level != NoticeLevel::Info;
        match &mut self.leaving {
            Some(leaving) if leaving.is_writing() && failed => {
                let says = leaving.ask();
                [PlainEffect::Notice(notice)]
                    .into_iter()
                    .chain(self.lines_and_prompt(says))
                    .collect()
            }
            _ => self.with_prompt(PlainEffect::Notice(notice)),
        }
    }
}
