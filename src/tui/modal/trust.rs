//! The dialog that asks whether the folder is trusted. Files in it are named and measured, but not
//! shown: their content must not address the user before the decision.

use ratatui::style::Style;
use ratatui::text::Line;

use super::dialog::{QuestionContent, QuestionDialog};
use super::dialog_frame::DialogPage;
use super::question::QuestionState;
use crate::draw::DrawContext;
use crate::text;
use avocet_core::i18n::{LocalizedText, common, screen as phrases};
use avocet_core::protocol::{AskId, TrustOffer, UntrustedFile};
use avocet_present::ChoicePick;
use avocet_present::flow::QuestionFlow;

/// Files that are named; the rest is only counted.
const NAMED: usize = 12;

#[derive(Debug)]
struct TrustQuestion {
    folder: String,
    folder_above: Option<String>,
    reason_text: LocalizedText,
    files: Vec<UntrustedFile>,
}

impl QuestionContent for TrustQuestion {
    fn body(&mut self, _: &QuestionState, width: usize, cx: &DrawContext<'_>) -> DialogPage {
        let mut must = rows(&text::single_line(&self.folder), width, cx.theme.markup.strong);
        must.extend(rows(&self.reason_text.text(cx.lang), width, cx.theme.text));
        must.extend(rows(phrases::TRUST_MEANS.text(cx.lang), width, cx.theme.text));
        must.extend(file_rows(&self.files, width, cx));
        if let Some(above) = &self.folder_above {
            let above = common::TRUST_PARENT.with("folder", text::single_line(above));
            must.extend(rows(&above.text(cx.lang), width, cx.theme.dim));
        }
        DialogPage {
            title: phrases::TRUST_TITLE.text(cx.lang).to_owned(),
            tone: cx.theme.warn,
            required: must.into(),
            ..DialogPage::default()
        }
    }
}

pub fn dialog(
    id: AskId,
    flow: QuestionFlow,
    (folder, above): (String, Option<String>),
    trusted: bool,
    text: LocalizedText,
    files: Vec<UntrustedFile>,
) -> QuestionDialog {
    let flow = if trusted { flow.with_marked(ChoicePick::Trust) } else { flow };
    let content = TrustQuestion { folder, folder_above: above, reason_text: text, files };
    QuestionDialog::new(QuestionState::new(id, flow), content)
}

/// The part of a step's question about the trust it offers.
pub(super) fn offer_rows(
    offer: &TrustOffer,
    width: usize,
    cx: &DrawContext<'_>,
) -> Vec<Line<'static>> {
    let head = common::TRUST_ASK.with("folder", text::single_line(&offer.folder)).text(cx.lang);
    let mut out = rows(&head, width, cx.theme.text);
    if let Some(hazard) = &offer.hazard {
        out.extend(rows(&hazard.text(cx.lang), width, cx.theme.warn));
    }
    // In one paragraph, since the step needs the rows.
    let found = file_rows(&offer.found, usize::MAX, cx);
    let found: Vec<String> = found.iter().map(|row| row.to_string().trim().to_owned()).collect();
    out.extend(rows(&found.join(" "), width, cx.theme.warn));
    out
}

/// Files that steer programs come first.
fn file_rows(files: &[UntrustedFile], width: usize, cx: &DrawContext<'_>) -> Vec<Line<'static>> {
    if files.is_empty() {
        return rows(phrases::TRUST_NOTHING.text(cx.lang), width, cx.theme.dim);
    }
    let steering = files.iter().filter(|file| file.steers);
    let sorted = steering.chain(files.iter().filter(|file| !file.steers));
    let mut out = rows(phrases::TRUST_FOUND.text(cx.lang), width, cx.theme.text);
    out.extend(sorted.take(NAMED).flat_map(|file| {
        let size = phrases::TRUST_FILE
            .with("name", text::single_line(&file.name))
            .with("bytes", file.bytes)
            .text(cx.lang);
        let tone = if file.steers { cx.theme.warn } else { cx.theme.dim };
        rows(&format!("  {size}"), width, tone)
    }));
    if let Some(more) = files.len().checked_sub(NAMED).filter(|more| *more > 0) {
        let more = phrases::TRUST_MORE.with("count", more).text(cx.lang);
        out.extend(rows(&format!("  {more}"), width, cx.theme.dim));
    }
    out
}

fn rows(text: &str, width: usize, style: Style) -> Vec<Line<'static>> {
    text::wrap(text, width.min(100)).into_iter().map(|row| Line::styled(row, style)).collect()
}
