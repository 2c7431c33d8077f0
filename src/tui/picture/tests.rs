use std::sync::Arc;

use ratatui::layout::Rect;

use super::graphics::{Graphics, GraphicsProtocol};
use super::sample::image;
use super::size::{PIXELS, ROWS};
use super::*;
use avocet_core::protocol::Image;
use avocet_tools::image::scaled_size;

const CELL: CellSize = CellSize { width: 10, height: 20 };
const KITTY: GraphicsProtocol = GraphicsProtocol::Kitty { compression: false };

fn cells(width: u32, height: u32, columns: usize) -> Option<(u16, u16)> {
    picture_size((width, height), CELL, columns).map(|size| (size.columns, size.rows))
}

#[test]
fn a_picture_keeps_its_proportions_and_takes_twelve_rows_and_the_text_width_at_most() {
    assert_eq!(cells(100, 100, 80), Some((10, 5)), "as it is");
    assert_eq!(cells(3, 2, 80), Some((1, 1)));
    assert_eq!(cells(480, 480, 80), Some((24, 12)), "as high as it may be");
    assert_eq!(cells(1600, 100, 80), Some((80, 3)), "as wide as it may be");
    assert_eq!(cells(1568, 882, 100), Some((43, 12)));
    assert_eq!(cells(0, 10, 80), None);
    assert_eq!(cells(10, 10, 0), None);
    for (width, height) in [(u32::MAX, 1), (1, u32::MAX), (u32::MAX, u32::MAX), (40_000_000, 3)] {
        let (columns, rows) = cells(width, height, 80).unwrap();
        assert!((1..=80).contains(&columns) && (1..=ROWS).contains(&rows), "{width} {height}");
    }
    let large = CellSize { width: 200, height: 400 };
    let size = picture_size((8_000, 4_800), large, 100).unwrap();
    let pixels = scaled_size((8_000, 4_800), size.side);
    assert!(u64::from(pixels.0) * u64::from(pixels.1) <= PIXELS, "{pixels:?}");
}

#[test]
fn only_a_terminal_that_nothing_stands_before_is_asked() {
    let support = |set: &[(&str, &str)]| {
        PictureSupport::from_variables(|name| {
            let found = set.iter().find(|(set, _)| *set == name);
            found.map_or(String::new(), |(_, value)| (*value).to_owned())
        })
    };
    assert_eq!(support(&[("TERM", "xterm-kitty")]), PictureSupport::Unknown);
    assert_eq!(support(&[("TERM", "foot"), ("SSH_TTY", "x")]), PictureSupport::Unknown);
    assert_eq!(support(&[("TERM_PROGRAM", "iTerm.app")]), PictureSupport::Iterm2);
    assert_eq!(support(&[("LC_TERMINAL", "iTerm2"), ("SSH_TTY", "x")]), PictureSupport::Iterm2);
    assert_eq!(support(&[("WEZTERM_EXECUTABLE", "x")]), PictureSupport::Iterm2);
    for between in [
        ("TMUX", "x"),
        ("STY", "x"),
        ("ZELLIJ", "0"),
        ("TERM", "screen-256color"),
        ("TERM", "tmux-256color"),
        ("TERM_PROGRAM", "tmux"),
        ("KONSOLE_VERSION", "230800"),
    ] {
        assert_eq!(support(&[("LC_TERMINAL", "iTerm2"), between]), PictureSupport::None);
    }
}

/// What is found when the terminal answers so.
fn found(support: PictureSupport, replies: &[GraphicsReply]) -> Option<Graphics> {
    let mut probe = GraphicsProbe::new(true, support);
    replies.iter().for_each(|reply| probe.handle(*reply, None));
    probe.graphics()
}

#[test]
fn the_answers_of_the_terminal_choose_the_protocol_and_none_means_no_pictures() {
    let (size, end) = (GraphicsReply::CellSize(CELL), GraphicsReply::Attributes { sixel: false });
    let sixel = GraphicsReply::Attributes { sixel: true };
    let protocol = |replies: &[GraphicsReply]| {
        found(PictureSupport::Unknown, replies).map(|graphics| graphics.protocol)
    };
    assert_eq!(protocol(&[GraphicsReply::Kitty, size, sixel]), Some(KITTY));
    let all = [GraphicsReply::Kitty, GraphicsReply::KittyCompression, size, end];
    assert_eq!(protocol(&all), Some(GraphicsProtocol::Kitty { compression: true }));
    assert_eq!(protocol(&[size, sixel]), Some(GraphicsProtocol::Sixel));
    assert_eq!(protocol(&[size, end]), None);
    assert_eq!(protocol(&[GraphicsReply::Kitty, size]), None, "before the last answer");
    assert_eq!(protocol(&[GraphicsReply::Kitty, end]), None, "cells of an unknown size");
    assert_eq!(protocol(&[]), None);
    assert_eq!(protocol(&[size, sixel, end]), Some(GraphicsProtocol::Sixel), "not our answer");
    let iterm2 = found(PictureSupport::Iterm2, &[size, sixel]).map(|graphics| graphics.protocol);
    assert_eq!(iterm2, Some(GraphicsProtocol::Iterm2));
    let mut probe = GraphicsProbe::new(true, PictureSupport::Unknown);
    probe.handle(sixel, Some(CELL));
    assert_eq!(probe.graphics().map(|graphics| graphics.cell), Some(CELL), "as the system knows");
}

#[test]
fn nothing_is_asked_or_believed_while_the_setting_is_off() {
    for mut probe in [
        GraphicsProbe::new(false, PictureSupport::Unknown),
        GraphicsProbe::new(true, PictureSupport::None),
    ] {
        assert_eq!(probe.query(), "");
        let end = GraphicsReply::Attributes { sixel: true };
        [GraphicsReply::Kitty, GraphicsReply::CellSize(CELL), end]
            .into_iter()
            .for_each(|reply| probe.handle(reply, Some(CELL)));
        assert_eq!(probe.graphics(), None);
    }
    assert!(GraphicsProbe::new(true, PictureSupport::Unknown).query().ends_with("\x1b[c"));
    assert!(!GraphicsProbe::new(true, PictureSupport::Iterm2).query().contains("\x1b_G"));
}

#[test]
fn each_protocol_gets_an_image_in_its_own_form() {
    let size = picture_size((30, 40), CELL, 80).unwrap();
    let image = image(30, 40);
    let encode = |protocol| EncodedPicture::new(&image, size, protocol, 0x0102_0304).unwrap();
    let kitty = encode(KITTY);
    assert!(kitty.transmission.starts_with("\x1b_Gq=2,i=16909060,a=T,U=1,f=32,t=d,s=30,v=40"));
    assert_eq!(kitty.cells.len(), 3 * 2);
    assert!(kitty.cells.iter().all(|(_, _, cell)| !cell.symbol().contains('\x1b')));
    let packed = encode(GraphicsProtocol::Kitty { compression: true });
    assert!(packed.transmission.contains("o=z") && packed.byte_count() < kitty.byte_count());
    for (protocol, mark) in
        [(GraphicsProtocol::Iterm2, "\x1b]1337;File=inline=1;"), (GraphicsProtocol::Sixel, "\x1bP")]
    {
        let picture = encode(protocol);
        assert_eq!((picture.transmission.as_str(), picture.cells.len()), ("", 1));
        assert!(picture.cells[0].2.symbol().contains(mark), "{protocol:?}");
    }
}

#[test]
fn an_image_that_is_damaged_or_lies_about_its_size_has_no_picture() {
    let size = picture_size((30, 40), CELL, 80).unwrap();
    let encode = |image: &Image| EncodedPicture::new(image, size, KITTY, 1);
    let whole = image(30, 40);
    let mut cut = whole.clone();
    cut.data.truncate(whole.data.len() / 8 * 4);
    assert_eq!(encode(&cut), None);
    let bytes = |data: &[u8]| {
        use base64::Engine as _;
        let data = base64::engine::general_purpose::STANDARD.encode(data);
        Image { mime: "image/png".into(), data }
    };
    let mut huge = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    huge.extend([0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 8, 6, 0, 0, 0]);
    assert_eq!(encode(&bytes(&huge)), None);
    assert_eq!(encode(&bytes(b"GIF89a\x05\0\x05\0")), None);
    assert_eq!(encode(&bytes(b"")), None);
}

/// A shelf with one wanted image, and that image encoded.
fn shelf(protocol: GraphicsProtocol, area: Rect) -> PictureShelf {
    let mut shelf = PictureShelf::default();
    shelf.set_graphics(Some(Graphics { protocol, cell: CELL }));
    shelf.want(vec![wanted(area)], 0);
    let request = shelf.next_request().unwrap();
    let picture = EncodedPicture::new(&request.image, request.size, protocol, request.id);
    let picture = picture.map(Arc::new);
    shelf.add(&EncodeResult { source: request.source, protocol, picture });
    shelf
}

fn wanted(area: Rect) -> WantedPicture {
    let size = picture_size((30, 40), CELL, 80).unwrap();
    WantedPicture { source: 1, image: Arc::new(image(30, 40)), size, area }
}

#[test]
fn a_picture_that_cannot_be_moved_waits_until_the_view_is_still() {
    let (here, there) = (Rect::new(2, 1, 3, 2), Rect::new(2, 0, 3, 2));
    let mut moved = shelf(KITTY, here);
    moved.want(vec![wanted(there)], 10);
    assert_eq!(moved.placed()[0].area, there, "at once");
    assert!(moved.next_request().is_none(), "it is not encoded again");

    let mut sent = shelf(GraphicsProtocol::Sixel, here);
    sent.want(vec![wanted(here)], 200);
    assert_eq!(sent.placed().len(), 1);
    sent.want(vec![wanted(there)], 210);
    assert_eq!((sent.placed().len(), sent.next_wakeup()), (0, Some(330)));
    sent.want(vec![wanted(there)], 330);
    assert_eq!((sent.placed().len(), sent.next_wakeup()), (1, None));
}

#[test]
fn the_number_of_pictures_that_are_kept_is_bounded() {
    let mut shelf = PictureShelf::default();
    shelf.set_graphics(Some(Graphics { protocol: KITTY, cell: CELL }));
    let area = Rect::new(0, 0, 3, 2);
    for source in 0..40 {
        shelf.want(vec![WantedPicture { source, ..wanted(area) }], 0);
        let request = shelf.next_request().unwrap();
        let picture = EncodedPicture::new(&request.image, request.size, KITTY, request.id);
        let picture = picture.map(Arc::new);
        shelf.add(&EncodeResult { source, protocol: KITTY, picture });
        assert_eq!(shelf.placed().len(), 1);
    }
    shelf.want(vec![WantedPicture { source: 39, ..wanted(area) }], 0);
    assert!(shelf.next_request().is_none(), "the last one is there");
    shelf.want(vec![WantedPicture { source: 0, ..wanted(area) }], 0);
    assert!(shelf.next_request().is_some(), "the first one is not");
}
