//! What the terminal and the encoding thread say of pictures and lines.

use super::input::input_changed;
use crate::Millis;
use crate::clipboard::PastedResult;
use crate::event::ScreenEffect;
use crate::picture::PictureEvent;
use crate::state::State;
use crate::symbols::LineStyle;

/// The terminal has reported how wide it draws solid lines.
pub(super) fn set_lines(state: &mut State, lines: LineStyle) -> Vec<ScreenEffect> {
    state.appearance.set_lines(lines);
    Vec::new()
}

pub(super) fn apply(state: &mut State, event: PictureEvent) -> Vec<ScreenEffect> {
    match event {
        PictureEvent::Reply(reply, measured) => {
            state.display.graphics.handle(reply, measured);
            state.transcript.pictures.set_graphics(state.display.graphics.graphics());
        }
        PictureEvent::Encoded(result) => state.transcript.add_picture(&result),
    }
    Vec::new()
}

/// Draws everything again, on a terminal whose cells may have another size too.
pub(super) fn redraw(state: &State) -> Vec<ScreenEffect> {
    let query = state.display.graphics.query();
    let ask = (!query.is_empty()).then_some(ScreenEffect::Query(query));
    [ScreenEffect::Redraw].into_iter().chain(ask).collect()
}

/// Puts an image of the clipboard into the message.
pub(super) fn paste_image(
    state: &mut State,
    pasted: PastedResult,
    at: Millis,
) -> Vec<ScreenEffect> {
    match pasted {
        Ok(image) => {
            state.composer.paste_image(image, state.appearance.lang);
            input_changed(state);
        }
        Err(why) => state.presence.show_message(why, at),
    }
    Vec::new()
}
