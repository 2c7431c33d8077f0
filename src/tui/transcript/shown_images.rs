//! The images of the user's messages, and where their pictures are in view.

use std::sync::Arc;

use super::Transcript;
use super::block::{Block, BlockBody, ShownAttachment, ShownImage};
use super::builder::TranscriptBuilder;
use crate::Millis;
use crate::picture::EncodeResult;
use avocet_core::protocol::{AttachmentInfo, Image};
use avocet_tools::image::is_decodable;

/// The most bytes of images that are kept for pictures, and their number.
const BYTES: usize = 24 << 20;
const MAX_IMAGES: usize = 20;

impl Transcript {
    /// Keeps images from now on, so that they can be shown as pictures.
    pub fn keep_images(&mut self, keeps: bool) {
        self.builder.keeps_images = keeps;
    }

    /// Finds the pictures that are in view as a whole.
    pub fn place_pictures(&mut self, now: Millis) {
        self.pictures.want(self.frame.pictures(&self.builder.blocks), now);
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
