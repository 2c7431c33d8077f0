//! How a turn or an answer ended.

use ratatui::style::Style;

use super::paragraph::{LayoutContext, StyledRow, layout_sentence};
use super::time;
use avocet_core::i18n::{LocalizedText, Phrase, common, screen, session};
use avocet_core::protocol::{Truncation, TurnOutcome, Usage};

/// A turn shorter than this that used no tokens does not show its duration.
const CHEAP_MS: u64 = 1_000;

/// Short turns end without a line; all others show their outcome, duration and cost.
pub(super) fn layout_turn_end(
    outcome: &TurnOutcome,
    usage: &Usage,
    elapsed_ms: u64,
    cx: &LayoutContext<'_>,
) -> Vec<StyledRow> {
    let theme = cx.theme;
    let (say, style): (Option<LocalizedText>, Style) = match outcome {
        TurnOutcome::Done | TurnOutcome::Error => (None, theme.dim),
        TurnOutcome::Cancelled | TurnOutcome::Stopped => (Some(common::STOPPED.into()), theme.dim),
        TurnOutcome::Limit { why } => {
            (Some(screen::ENDED_LIMIT.with("why", why.clone())), theme.warn)
        }
        TurnOutcome::Unsent { why } => (Some(why.clone()), theme.text),
        TurnOutcome::Interrupted => {
            let why = session::INTERRUPTED;
            (Some(screen::ENDED_FAILED.with("why", why)), theme.text)
        }
        TurnOutcome::Failed { why } => {
            (Some(screen::ENDED_FAILED.with("why", why.clone())), theme.text)
        }
    };
    let mut rows = say.map_or_else(Vec::new, |say| layout_sentence(&say, style, cx));
    let mut cost = screen::ENDED_AFTER.with("time", time::duration_text(elapsed_ms));
    if usage.input_tokens + usage.output_tokens > 0 {
        let word = if usage.estimated { screen::ENDED_ABOUT } else { screen::ENDED_COST };
        cost = word
            .with("time", time::duration_text(elapsed_ms))
            .with("input", time::group_digits(usage.input_tokens))
            .with("output", time::group_digits(usage.output_tokens));
    }
    // A turn without cost shows none.
    if elapsed_ms >= CHEAP_MS || usage.input_tokens + usage.output_tokens > 0 {
        rows.extend(layout_sentence(&cost, theme.dim, cx));
    }
    rows
}

pub(super) fn truncation_phrase(truncation: Truncation) -> Phrase {
    match truncation {
        Truncation::Cancelled => screen::CUT_CANCELLED,
        Truncation::Broken => screen::CUT_BROKEN,
        Truncation::Length => screen::CUT_LENGTH,
        Truncation::Filtered => screen::CUT_FILTERED,
        Truncation::Repeated => screen::CUT_REPEATED,
    }
}
