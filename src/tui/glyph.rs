//! The marks the screen draws with: rules, bars, signs, spinners.
//!
//! Each takes one column in every terminal. `─`, `│`, `┌`, `…` and most arrows do not:
//! their width is ambiguous, and where East Asian text is at home many terminals draw
//! them two columns wide, which tears a frame apart. Not in here: what texts consist
//! of; a row of those is drawn whole and cut at the edge, see `careful`.

/// A horizontal rule.
pub const RULE: &str = "╌";
/// The rule over a question.
pub const HEAVY: &str = "╍";
/// At the left of code, of quotes and between the columns of a table.
pub const BAR: &str = "╎";
/// The same where a line of code goes on in another row.
pub const BAR_ON: &str = "⋮";
/// Where the bar of a code block begins.
pub const BAR_TOP: &str = "╷";
/// Before what a person wrote.
pub const SIGIL: &str = "›";
/// Before what is chosen in a list, and before the first line of the input.
pub const CHOSEN: &str = "› ";
/// As wide as [`CHOSEN`].
pub const NOT_CHOSEN: &str = "  ";
pub const DONE: &str = "✓";
pub const FAILED: &str = "✗";
/// What turns while something is waited for.
pub const SPINNER: [&str; 8] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"];
/// The same beside a step that runs.
pub const WHEEL: [&str; 8] = ["⠋", "⠙", "⠸", "⠴", "⠦", "⠇", "⠏", "⠛"];

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr as _;

    use super::*;

    #[test]
    fn every_mark_takes_one_column_in_every_terminal() {
        let marks = [RULE, HEAVY, BAR, BAR_ON, BAR_TOP, SIGIL, DONE, FAILED];
        for mark in marks.iter().chain(&SPINNER).chain(&WHEEL) {
            assert_eq!((mark.width(), mark.width_cjk()), (1, 1), "{mark}");
        }
        assert_eq!((CHOSEN.width_cjk(), NOT_CHOSEN.width()), (2, 2));
        assert_eq!(("─".width(), "─".width_cjk()), (1, 2), "or the test could not fail");
    }
}
