//! Whole frames.

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::{ScreenConfig, State};
use avocet_core::i18n::Lang;

#[test]
fn a_message_that_is_too_long_for_the_model_is_announced_below_the_input() {
    let mut state = State::new(ScreenConfig::default());
    state.facts.context.longest_bytes = 40_000;
    state.facts.context.longest_tokens = 10_000;
    let mut row_below = |text: &str| {
        state.composer.paste(text, Lang::En);
        let mut terminal = Terminal::new(TestBackend::new(120, 30)).unwrap();
        let drawn = terminal.draw(|frame| drop(super::draw_frame(&mut state, frame, 0))).unwrap();
        let cells = drawn.buffer.content().iter().map(ratatui::buffer::Cell::symbol);
        cells.skip(29 * 120).collect::<String>()
    };
    assert!(!row_below(&"word word\n".repeat(3_000)).contains("Too long"));
    let row = row_below(&"word word\n".repeat(3_000));
    assert!(row.contains("Too long for the model: about "), "{row}");
}
