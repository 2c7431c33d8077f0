//! The images of the user's messages, and where their pictures are in view.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Transcript;
use super::block::{Block, BlockBody, ShownAttachment, ShownImage};
use super::builder::TranscriptBuilder;
use super::viewport::{blank_rows_before, gutter};
use crate::Millis;
use crate::picture::{
    EncodeResult, Graphics, PictureRequest, PlacedPicture, WantedPicture, reserve,
};
use avocet_core::protocol::{AttachmentInfo, Image};
use avocet_tools::image::is_decodable;

/// The most bytes of images that are kept for pictures, and their number.
const BYTES: usize = 24 << 20;
const MAX_IMAGES: usize = 20;

impl Transcript {
    /// Keeps images, so that they can be shown as pictures.
    #[must_use]
    pub fn keeping_images(mut self, keeps: bool) -> Transcript {
        self.keep_images(keeps);
        self
    }

    /// The same for the images that come from now on.
    pub fn keep_images(&mut self, keeps: bool) {
        self.builder.keeps_images = keeps;
    }

    /// How pictures are drawn; `None`: there are none.
    pub fn set_graphics(&mut self, graphics: Option<Graphics>) {
        self.pictures.set_graphics(graphics);
    }

    /// Finds the pictures that are in view as a whole.
    pub fn place_pictures(&mut self, now: Millis) {
        let wanted = self.pictures_in_view();
        self.pictures.want(wanted, now);
    }

    fn pictures_in_view(&self) -> Vec<WantedPicture> {
        let area = self.drawn_rows.0;
        let mut wanted = Vec::new();

        let left = area.x + gutter(usize::from(area.width)) as u16;
        let mut y = area.y;
        for (place, rows) in &self.drawn_parts {
            let blank = blank_rows_before(&self.builder.blocks, (place.block, place.part));
            for row in place.row..blank + rows.len() {
                let first = row.checked_sub(blank).and_then(|row| rows.get(row)?.picture);
                if let Some((nth, size)) = first
                    && let Some(BlockBody::Attachments(items)) =
                        self.builder.blocks.get(place.block).map(|block| &block.body)
                    && let Some(shown) = items.get(nth).and_then(|item| item.image.as_ref())
                {
                    let at = Rect { x: left, y, width: size.columns, height: size.rows };
                    let source = shown.source;
                    let image = Arc::clone(&shown.image);

                    let wants = WantedPicture { source, image, size, area: at };
                    wanted.extend((at.intersection(area) == at).then_some(wants));
                }
                y = y.saturating_add(1);
            }
        }
        wanted
    }

    /// Reserves the cells of the pictures that are ready.
    pub(super) fn draw_pictures(&self, buf: &mut Buffer) -> Vec<PlacedPicture> {
        let pictures = self.pictures.placed();
        pictures.iter().for_each(|picture| reserve(picture.area, buf));
        pictures
    }

    /// An image in view whose picture is not encoded yet.
    pub fn next_picture_request(&mut self) -> Option<PictureRequest> {
        self.pictures.next_request()
    }

    /// When pictures may be drawn though nothing else changes.
    pub fn pictures_wakeup(&self) -> Option<Millis> {
        self.pictures.next_wakeup()
    }

    /// Takes a picture. An image that cannot be one gives back its rows.
    pub fn add_picture(&mut self, result: &EncodeResult) {
        self.pictures.add(result);
        if result.picture.is_none() {
            self.builder.drop_images(|source| source == result.source);
        }
    }
}

impl TranscriptBuilder {
    /// The files attached to a message. `images` are those of them that are images, in order.
    pub(super) fn attach(&mut self, infos: &[AttachmentInfo], images: &[Arc<Image>]) {
        let mut images = images.iter();
        let shown = infos.iter().map(|info| {
            let image = if info.is_image() { images.next() } else { None };
            ShownAttachment { info: info.clone(), image: image.and_then(|it| self.number(it)) }
        });
        let shown = shown.collect();
        self.push(BlockBody::Attachments(shown));
        self.drop_old_images();
    }

    fn number(&mut self, image: &Arc<Image>) -> Option<ShownImage> {
        if !self.keeps_images || !is_decodable(&image.mime) {
            return None;
        }
        self.image_count = self.image_count.wrapping_add(1);
        Some(ShownImage { source: self.image_count, image: Arc::clone(image) })
    }

    /// Keeps the newest images only: older ones are rows without pictures again.
    pub(super) fn drop_old_images(&mut self) {
        let mut count = 0;
        let mut bytes = 0;

        let mut is_old = |shown: &&ShownImage| {
            (count, bytes) = (count + 1, bytes + shown.image.data.len());
            count > MAX_IMAGES || bytes > BYTES
        };
        let images = self.blocks.iter().rev().flat_map(images_of);
        let old: Vec<u32> = images.filter(|it| is_old(it)).map(|shown| shown.source).collect();
        if !old.is_empty() {
            self.drop_images(|source| old.contains(&source));
        }
    }

    fn drop_images(&mut self, is_dropped: impl Fn(u32) -> bool) {
        for block in &mut self.blocks {
            let BlockBody::Attachments(items) = &mut block.body else { continue };
            let mut changed = false;
            for item in items {
                let dropped = item.image.take_if(|shown| is_dropped(shown.source));
                changed |= dropped.is_some();
            }
            if changed {
                block.mark_changed();
            }
        }
    }
}

fn images_of(block: &Block) -> impl Iterator<Item = &ShownImage> {
    let items = match &block.body {
        BlockBody::Attachments(items) => items.as_slice(),
        _ => &[],
    };
    items.iter().rev().filter_map(|item| item.image.as_ref())
}
