//! The to-do list of a plan: one line per item with a sign, and bold for the item under way.
//! Progress is shown by the sign, not by colour.

use super::paragraph::{LayoutContext, Paragraph, StyledRow, layout_labelled, layout_sentence};
use super::step::Fold;
use crate::symbols::plan_sign;
use avocet_core::i18n::{plural, screen};
use avocet_core::protocol::{PlanItem, PlanState};

pub(super) fn layout(items: &[PlanItem], fold: Fold, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
    let theme = cx.theme;
    let done = items.iter().filter(|item| item.state == PlanState::Done).count();
    let of = plural(items.len(), screen::PLAN_ONE, screen::PLAN_MANY);
    let head = screen::PLAN_HEAD.with("done", done).with("of", of);
    let mut rows = layout_sentence(&head, theme.dim, cx);
    if fold == Fold::Closed {
        return rows;
    }
    for item in items {
        let style = theme.plan_item(item.state);
        let sign = format!("{} ", plan_sign(item.state));
        rows.extend(layout_labelled(&sign, 2, &Paragraph::styled(&item.text, style), cx));
    }
    rows
}
