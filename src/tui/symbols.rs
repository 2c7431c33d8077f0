//! The symbols of the screen: rules, bars, signs, spinners.
//!
//! Each takes one column in every terminal, but for solid lines. `─`, `│`, `┌` and most arrows
//! do not: their width is ambiguous, and many terminals for East Asian text draw them two columns
//! wide, which breaks frames. Lines are solid only on a terminal that was found to draw them one
//! column wide, see `line_probe`. Characters of texts are not listed here; a row that contains them
//! is drawn whole and cut at the edge, see `backend`.

use avocet_core::protocol::PlanState;

/// How lines are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineStyle {
    /// Dashes, which are narrow everywhere.
    #[default]
    Dashed,
    /// For terminals whose solid lines are known to be narrow.
    Solid,
}

impl LineStyle {
    /// A horizontal rule.
    pub fn rule(self) -> &'static str {
        self.pick("╌", "─")
    }

    /// The rule over a question.
    pub fn heavy(self) -> &'static str {
        self.pick("╍", "━")
    }

    /// At the left of code, of quotes and between the columns of a table.
    pub fn bar(self) -> &'static str {
        self.pick("╎", "│")
    }

    /// The top of the bar of a code block.
    pub fn bar_top(self) -> &'static str {
        self.pick("╷", "╭")
    }

    fn pick(self, dashed: &'static str, solid: &'static str) -> &'static str {
        match self {
            LineStyle::Dashed => dashed,
            LineStyle::Solid => solid,
        }
    }
}

/// The bar where a line of code continues in another row.
pub const BAR_ON: &str = "⋮";
/// In front of a message of the user.
pub const SIGIL: &str = "›";
/// In front of the selected row of a list, and of the first line of the input.
pub const CHOSEN: &str = "› ";
/// As wide as [`CHOSEN`].
pub const NOT_CHOSEN: &str = "  ";
/// The gauge of the context.
pub const ELLIPSIS: &str = "…";
pub const GAUGE_FULL: &str = "▰";
pub const GAUGE_FREE: &str = "▱";
/// In front of an item of a list. A copy has a dash in its place, as Markdown writes it.
pub const BULLET: &str = "∙ ";
/// A step or an item of a plan that is under way, and an item that waits.
pub const DOING: &str = "▸";
pub const WAITING: &str = "◦";
pub const DONE: &str = "✓";

/// In front of an item of a plan.
pub fn plan_sign(state: PlanState) -> &'static str {
    match state {
        PlanState::Pending => WAITING,
        PlanState::Doing => DOING,
        PlanState::Done => DONE,
    }
}

pub const FAILED: &str = "✗";
/// The spinner while something is awaited: only the line over the input has one, so that one thing
/// moves on the screen.
pub const SPINNER: [&str; 8] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"];

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr as _;

    use super::*;

    #[test]
    fn every_mark_takes_one_column_in_every_terminal() {
        let lines = LineStyle::Dashed;
        let marks = [
            lines.rule(),
            lines.heavy(),
            lines.bar(),
            lines.bar_top(),
            BAR_ON,
            SIGIL,
            DONE,
            FAILED,
            DOING,
            WAITING,
            GAUGE_FULL,
            GAUGE_FREE,
        ];
        for mark in marks.iter().chain(&SPINNER) {
            assert_eq!((mark.width(), mark.width_cjk()), (1, 1), "{mark}");
        }
        assert_eq!((CHOSEN.width_cjk(), NOT_CHOSEN.width(), BULLET.width_cjk()), (2, 2, 2));
        assert_eq!(("─".width(), "─".width_cjk()), (1, 2), "or the test could not fail");
    }
}
