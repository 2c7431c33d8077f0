//! Pictures of the conversation's images: asked for, drawn, and hidden by what is above them.

use std::sync::Arc;

use super::*;
use crate::PictureSupport;
use crate::picture::{CellSize, EncodeResult, EncodedPicture, GraphicsReply, PictureEvent, sample};
use crate::terminal_caps::TerminalCaps;
use avocet_core::protocol::{AttachmentInfo, AttachmentSize};

fn with_pictures(show_pictures: bool) -> State {
    let preferences = crate::Preferences { show_pictures, ..Default::default() };
    let terminal_caps =
        TerminalCaps { pictures: PictureSupport::Unknown, ..TerminalCaps::default() };
    State::new(ScreenConfig { preferences, terminal_caps, ..ScreenConfig::default() })
}

fn tell(state: &mut State, input: PictureEvent) {
    let effects = update(state, TimedInput { at: 1_000, input: ScreenInput::Picture(input) });
    assert!(visible_effects(effects).is_empty());
}

/// How many pictures a frame has; those in view are encoded first.
fn pictures(state: &mut State) -> usize {
    let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).expect("a test terminal");
    let mut count = 0;
    loop {
        let frame = terminal
            .draw(|frame| count = draw_frame(state, frame, 10_000).pictures.len())
            .map(drop);
        frame.expect("a frame");
        let Some(request) = state.transcript.pictures.next_request() else { return count };
        let protocol = request.protocol;
        let picture = EncodedPicture::new(&request.image, request.size, protocol, request.id);
        let picture = picture.map(Arc::new);
        let result = EncodeResult { source: request.source, protocol, picture };
        tell(state, PictureEvent::Encoded(result));
    }
}

fn attach(state: &mut State) {
    receive(state, started());
    let size = AttachmentSize::Pixels { width: 100, height: 60 };
    let items = vec![AttachmentInfo { name: "@shot.png".into(), size, cut: false }];
    let images = vec![Arc::new(sample::image(100, 60))];
    receive(state, protocol::Event::Attached { items, images });
    receive(state, ended(10));
}

fn answer(state: &mut State) {
    let cell = CellSize { width: 10, height: 20 };
    for reply in [
        GraphicsReply::Kitty,
        GraphicsReply::CellSize(cell),
        GraphicsReply::Attributes { sixel: false },
    ] {
        tell(state, PictureEvent::Reply(reply, None));
    }
}

#[test]
fn a_resized_terminal_is_asked_again_only_while_pictures_are_on() {
    let effects = |on| {
        let input = ScreenInput::Resized;
        visible_effects(update(&mut with_pictures(on), TimedInput { at: 1_000, input }))
    };
    assert_eq!(effects(false), [ScreenEffect::Redraw]);
    let [ScreenEffect::Redraw, ScreenEffect::Query(query)] = &effects(true)[..] else {
        panic!("a question")
    };
    assert!(query.starts_with("\x1b_Gi=31") && query.ends_with("\x1b[c"), "{query:?}");
}

#[test]
fn pictures_appear_with_the_answer_and_never_while_the_setting_is_off() {
    let mut state = with_pictures(true);
    attach(&mut state);
    assert_eq!(pictures(&mut state), 0);
    answer(&mut state);
    assert_eq!(pictures(&mut state), 1);
    receive(&mut state, protocol::Event::Cleared);
    assert_eq!(pictures(&mut state), 0);
    attach(&mut state);
    assert_eq!(pictures(&mut state), 1, "after /clear too");

    let mut state = with_pictures(false);
    attach(&mut state);
    answer(&mut state);
    assert_eq!(pictures(&mut state), 0);
}

#[test]
fn a_page_or_a_list_over_a_picture_hides_it_until_it_closes() {
    let mut state = with_pictures(true);
    answer(&mut state);
    for _ in 0..4 {
        attach(&mut state);
    }
    let all = pictures(&mut state);
    assert!(all >= 2, "{all}");
    press(&mut state, "/");
    let beside = pictures(&mut state);
    assert!(beside < all, "{beside} of {all}");
    press(&mut state, "\x1b");
    assert_eq!(pictures(&mut state), all);
    hold(&mut state, KeyCode::F(1), KeyModifiers::NONE);
    assert_eq!(pictures(&mut state), 0);
    press(&mut state, "\x1b");
    assert_eq!(pictures(&mut state), all);
}
