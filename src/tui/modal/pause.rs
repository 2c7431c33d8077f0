//! The dialog that asks whether a paused turn is to continue.

use ratatui::text::Line;

use super::asking::Asking;
use super::choice::{Care, Choices};
use super::on_sheet::OnSheet;
use super::sheet::Page;
use crate::protocol::{AskId, Risk, StepAction};
use crate::tui::clean;
use crate::tui::paint::Pen;
use crate::words::{LocalizedText, screen as words};

#[derive(Debug)]
pub struct Pause {
    pub asking: Asking,
    why: LocalizedText,
}

impl Pause {
    pub fn new(id: AskId, why: LocalizedText) -> Pause {
        Pause { asking: Asking::new(id, Choices::for_pause(), Care::Plain), why }
    }
}

impl OnSheet for Pause {
    fn parts(&mut self) -> (&mut Asking, Option<(&StepAction, &Risk)>) {
        (&mut self.asking, None)
    }

    fn body(&mut self, width: usize, pen: &Pen<'_>) -> Page {
        let rows = clean::wrap(&self.why.text(pen.lang), width.min(100));
        Page {
            title: words::PAUSE_TITLE.text(pen.lang).to_owned(),
            tone: pen.theme.warn,
            must: rows
                .into_iter()
                .map(|row| Line::styled(row, pen.theme.text))
                .collect::<Vec<_>>()
                .into(),
            ..Page::default()
        }
    }
}
