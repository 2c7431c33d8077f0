//! What a question about a step shows first: the step as proposed, or as edited, and how current its
//! judgement is.

use ratatui::text::{Line, Span};

use super::dialog_frame::{self, DialogPage};
use super::rows::DiffViewCache;
use super::step_details;
use crate::draw::{DrawContext, MEASURE};
use crate::text;
use avocet_core::i18n::{LocalizedText, screen as phrases};
use avocet_core::protocol::{Change, Risk, StepAction};

/// The content of a dialog: the step as proposed, or as edited.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub work: &'a StepAction,
    pub risk: &'a Risk,
    /// Its change of a file, in the current text.
    pub change: Option<&'a Change>,
    pub certainty: Certainty<'a>,
    pub diffs: &'a DiffViewCache,
}

/// How current the judgement of a subject is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Certainty<'a> {
    Proposed,
    /// Edited, and assessed in its current text.
    Assessed,
    /// Edited; the judgement shown is of an earlier text.
    Pending,
    Unreadable(&'a LocalizedText),
}

impl<'a> Subject<'a> {
    /// The head of the dialog, with the command after its prompt as the first rows.
    pub fn page(
        &self,
        title: LocalizedText,
        counts: Vec<Span<'static>>,
        prompt: &'static str,
        states_reason: bool,
        (width, cx): (usize, &DrawContext<'_>),
    ) -> DialogPage {
        let sure = matches!(self.certainty, Certainty::Proposed | Certainty::Assessed);
        let title = if self.is_edited() { phrases::EDIT_TITLE.into() } else { title };
        let title = title.text(cx.lang);
        let badge = match self.certainty {
            Certainty::Proposed if states_reason => {
                let taken = dialog_frame::head_columns(&title, &counts);
                step_details::stated_badge(self.risk, width.min(MEASURE).saturating_sub(taken), cx)
            }
            Certainty::Proposed | Certainty::Assessed => step_details::badge(self.risk, cx),
            Certainty::Pending => phrases::EDIT_JUDGING.text(cx.lang).to_owned(),
            Certainty::Unreadable(_) => phrases::EDIT_UNREADABLE.text(cx.lang).to_owned(),
        };
        let must = match self.certainty {
            Certainty::Unreadable(fault) => text::wrap(&fault.text(cx.lang), width)
                .into_iter()
                .map(|row| Line::styled(row, cx.theme.warn))
                .collect(),
            Certainty::Proposed | Certainty::Assessed | Certainty::Pending => match self.change {
                Some(change) => super::file_change::rows(change, width, cx, self.diffs),
                None => step_details::prompt_rows(prompt, self.work, self.risk, width, cx).into(),
            },
        };
        DialogPage {
            title,
            counts,
            badge,
            tone: if sure { step_details::tone(self.risk, cx) } else { cx.theme.dim },
            required: must,
            ..DialogPage::default()
        }
    }

    pub fn is_edited(&self) -> bool {
        self.certainty != Certainty::Proposed
    }
}
