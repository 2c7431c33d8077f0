//! Images of the conversation as pictures.

use std::sync::Arc;

use ratatui::style::Style;

use super::*;
use crate::picture::{CellSize, EncodeResult, EncodedPicture, PlacedPicture, sample};
use crate::transcript::Overlays;
use avocet_core::protocol::{AttachmentInfo, AttachmentSize, Image};

const CELL: CellSize = CellSize { width: 10, height: 20 };

/// A message with an image of 100 by 60 pixels: 10 columns and 3 rows.
fn attached(image: Image) -> [Event; 2] {
    let size = AttachmentSize::Pixels { width: 100, height: 60 };
    let items = vec![
        AttachmentInfo { name: "@a.rs".into(), size: AttachmentSize::Lines(3), cut: false },
        AttachmentInfo { name: "@shot.png".into(), size, cut: false },
    ];
    [turn_started("look"), Event::Attached { items, images: vec![Arc::new(image)] }]
}

fn screen(image: Image, after: &str) -> Screen {
    let mut screen = Screen::new(80, 12);
    screen.transcript = Transcript::default();
    screen.transcript.keep_images(true);
    screen.transcript.pictures.set_graphics(Some(sample::kitty(CELL)));
    screen.apply_all(attached(image).into_iter().chain([reply_finished(after)]));
    screen
}

fn frame(screen: &mut Screen) -> (Buffer, Overlays) {
    let area = Rect::new(0, 0, screen.width, screen.height);
    let mut buf = Buffer::empty(area);
    let look = DrawOptions {
        theme: &screen.theme,
        lang: screen.lang,
        steps_key: "Ctrl-O",
        elapsed_ms: 0,
        clock: None,
        cell: Some(CELL),
    };
    screen.transcript.fit(area, &look);
    screen.transcript.place_pictures(0);
    let overlays = screen.transcript.draw(&mut buf);
    (buf, overlays)
}

/// The frame once all pictures in view are encoded.
fn whole_frame(screen: &mut Screen) -> (Buffer, Vec<PlacedPicture>) {
    frame(screen);
    while let Some(request) = screen.transcript.pictures.next_request() {
        let protocol = request.protocol;
        let picture =
            EncodedPicture::new(&request.image, request.size, protocol, request.id).map(Arc::new);
        let result = EncodeResult { source: request.source, protocol, picture };
        screen.transcript.add_picture(&result);
        frame(screen);
    }
    let (buf, overlays) = frame(screen);
    (buf, overlays.pictures)
}

fn lines(buf: &Buffer) -> Vec<String> {
    (0..buf.area.height).map(|y| row(buf, y)).collect()
}

#[test]
fn a_picture_is_below_the_row_of_its_image_and_its_cells_are_blank() {
    let mut screen = screen(sample::image(100, 60), "I see.");
    let (before, overlays) = frame(&mut screen);
    assert!(overlays.pictures.is_empty(), "it is not encoded yet");
    let (buf, pictures) = whole_frame(&mut screen);
    assert_eq!(lines(&buf), lines(&before), "no row moves when it is");
    let rows = lines(&buf);
    let y = rows.iter().position(|row| row.contains("@shot.png  image, 100x60")).unwrap();
    let areas: Vec<Rect> = pictures.iter().map(|placed| placed.area).collect();
    assert_eq!(areas, [Rect::new(2, y as u16 + 1, 10, 3)]);
    assert_eq!(rows[y + 1..y + 4], ["", "", ""]);
    assert!(rows[y + 5].contains("I see."), "{rows:?}");
    assert!(buf.content.iter().all(|cell| !cell.symbol().contains(['\x1b', '\u{10eeee}'])));
    assert!(pictures.iter().all(|placed| placed.is_visible(&buf)));
}

#[test]
fn whatever_is_drawn_over_a_picture_hides_it() {
    let mut screen = screen(sample::image(100, 60), "I see.");
    let (buf, pictures) = whole_frame(&mut screen);
    let area = pictures[0].area;
    let hides = |change: &dyn Fn(&mut Buffer)| {
        let mut buf = buf.clone();
        change(&mut buf);
        let mut overlays = Overlays { pictures: pictures.clone(), ..Overlays::default() };
        overlays.retain_visible(&buf);
        overlays.pictures.is_empty()
    };
    let corner = Rect::new(area.right() - 1, area.bottom() - 1, 9, 9).intersection(buf.area);
    assert!(!hides(&|_| ()));
    assert!(hides(&|buf| buf.set_string(area.x, area.y, "x", Style::new())));
    let theme = Theme::default();
    assert!(hides(&|buf| crate::draw::clear(corner, buf, &theme)), "a blank corner");
}

#[test]
fn a_picture_that_is_partly_out_of_view_is_not_drawn_and_comes_back_as_it_was() {
    let mut screen = screen(sample::image(100, 60), &"A line.\n\n".repeat(12));
    screen.transcript.scroll(Scroll::Top);
    frame(&mut screen);
    screen.transcript.scroll(Scroll::Top);
    let (_, pictures) = whole_frame(&mut screen);
    let (id, top) = (pictures[0].picture.id, pictures[0].area);
    let mut tops = Vec::new();
    for _ in 0..top.y + 1 {
        screen.transcript.scroll(Scroll::Lines(1));
        let (_, overlays) = frame(&mut screen);
        tops.extend(overlays.pictures.iter().map(|placed| placed.area.y));
    }
    assert_eq!(tops, (0..top.y).rev().collect::<Vec<_>>(), "it moves, then it is gone");
    screen.transcript.scroll(Scroll::Top);
    let (_, overlays) = frame(&mut screen);
    assert_eq!(overlays.pictures[0].picture.id, id);
    assert!(screen.transcript.pictures.next_request().is_none(), "nothing is encoded again");
    // Too low a screen for it.
    screen.height = top.y + top.height - 1;
    screen.transcript.scroll(Scroll::Top);
    assert!(whole_frame(&mut screen).1.is_empty());
}

#[test]
fn an_image_that_cannot_be_a_picture_keeps_its_row_alone() {
    let mut damaged = sample::image(100, 60);
    damaged.data.truncate(80);
    let gif = Image { mime: "image/gif".into(), data: "R0lGODlh".into() };
    for image in [damaged, gif] {
        let mut screen = screen(image, "I see.");
        let (buf, pictures) = whole_frame(&mut screen);
        assert!(pictures.is_empty());
        let rows = lines(&buf);
        let y = rows.iter().position(|row| row.contains("@shot.png")).unwrap();
        assert!(rows[y + 2].contains("I see."), "{rows:?}");
    }
}

#[test]
fn without_a_way_to_draw_pictures_images_are_rows_and_none_is_kept() {
    let mut plain = screen(sample::image(100, 60), "I see.");
    plain.transcript = Transcript::default();
    plain.apply_all(attached(sample::image(100, 60)).into_iter().chain([reply_finished("Yes.")]));
    let (buf, pictures) = whole_frame(&mut plain);
    assert!(pictures.is_empty());
    let rows = lines(&buf);
    let y = rows.iter().position(|row| row.contains("@shot.png")).unwrap();
    assert!(rows[y + 2].contains("Yes."), "{rows:?}");
}

#[test]
fn only_the_newest_images_are_kept_for_pictures() {
    let mut screen = screen(sample::image(100, 60), "I see.");
    for _ in 0..30 {
        screen.apply_all(attached(sample::image(100, 60)));
    }
    screen.transcript.prepend(&attached(sample::image(100, 60)), &[]);
    screen.height = 400;
    let (_, pictures) = whole_frame(&mut screen);
    assert_eq!(pictures.len(), 20);
    let text = screen.transcript.plain_text();
    assert_eq!(text.matches("@shot.png").count(), 32);
    assert!(!text.contains("\n\n\n"), "blank rows are no text: {text:?}");
}
