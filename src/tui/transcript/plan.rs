//! The to-do list of a plan: one line per item with a sign, and bold for the item under way.
//! Progress is shown by the sign, not by colour.

use ratatui::style::Modifier;

use super::paragraph::{LayoutContext, StyledRow, layout_labelled, layout_sentence};
use crate::symbols::{DOING, DONE, WAITING};
use avocet_core::i18n::{plural, screen};
use avocet_core::protocol::{PlanItem, PlanState};

pub(super) fn layout(items: &[PlanItem], paper: &LayoutContext<'_>) -> Vec<StyledRow> {
    let theme = paper.theme;
    let done = items.iter().filter(|item| item.state == PlanState::Done).count();
    let of = plural(items.len(), screen::PLAN_ONE, screen::PLAN_MANY);
    let head = screen::PLAN_HEAD.with("done", done).with("of", of);
    let mut rows = layout_sentence(&head, theme.dim, paper);
    for item in items {
        let (sign, style) = match item.state {
            PlanState::Pending => (WAITING, theme.text),
            PlanState::Doing => (DOING, theme.accent.add_modifier(Modifier::BOLD)),
            PlanState::Done => (DONE, theme.dim),
        };
        rows.extend(layout_labelled(&format!("{sign} "), 2, &item.text, style, paper));
    }
    rows
}
