//! The symbols of the screen: rules, bars, signs, spinners.
//!
//! Each takes one column in every terminal. `─`, `│`, `┌`, `…` and most arrows do not: their width
//! is ambiguous, and many terminals for East Asian text draw them two columns wide, which breaks
//! frames. Characters of texts are not listed here; a row that contains them is drawn whole and cut
//! at the edge, see `backend`.

/// A horizontal rule.
pub const RULE: &str = "╌";
/// The rule over a question.
pub const HEAVY: &str = "╍";
/// At the left of code, of quotes and between the columns of a table.
pub const BAR: &str = "╎";
/// The bar where a line of code continues in another row.
pub const BAR_ON: &str = "⋮";
/// The top of the bar of a code block.
pub const BAR_TOP: &str = "╷";
/// In front of a message of the user.
pub const SIGIL: &str = "›";
/// In front of the selected row of a list, and of the first line of the input.
pub const CHOSEN: &str = "› ";
/// As wide as [`CHOSEN`].
pub const NOT_CHOSEN: &str = "  ";
/// The gauge of the context.
pub const GAUGE_FULL: &str = "▰";
pub const GAUGE_FREE: &str = "▱";
/// An item of a plan that is under way, and one that waits.
pub const DOING: &str = "▸";
pub const WAITING: &str = "◦";
pub const DONE: &str = "✓";
pub const FAILED: &str = "✗";
/// The spinner while something is awaited.
pub const SPINNER: [&str; 8] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"];
/// The spinner of a running step.
pub const WHEEL: [&str; 8] = ["⠋", "⠙", "⠸", "⠴", "⠦", "⠇", "⠏", "⠛"];

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr as _;

    use super::*;

    #[test]
    fn every_mark_takes_one_column_in_every_terminal() {
        let marks = [
            RULE, HEAVY, BAR, BAR_ON, BAR_TOP, SIGIL, DONE, FAILED, DOING, WAITING, GAUGE_FULL,
            GAUGE_FREE,
        ];
        for mark in marks.iter().chain(&SPINNER).chain(&WHEEL) {
            assert_eq!((mark.width(), mark.width_cjk()), (1, 1), "{mark}");
        }
        assert_eq!((CHOSEN.width_cjk(), NOT_CHOSEN.width()), (2, 2));
        assert_eq!(("─".width(), "─".width_cjk()), (1, 2), "or the test could not fail");
    }
}
