//! The images of past turns: sent with them, and dropped when there are too many.

use super::{History, PastTurn};
use avocet_core::protocol::{ContentBlock, Image, Message};

/// Maximum number of images in all turns, and the text in the place of a dropped one.
const IMAGES: usize = 20;
const IMAGE_GONE: &str = "[image left out of this request]";

impl PastTurn {
    /// The images that the user sent with it.
    fn images(&self) -> impl Iterator<Item = &Image> {
        self.images.iter().chain(self.sent.iter().flat_map(Message::images))
    }

    /// These messages of the turn, with its images after the words of the first.
    pub(super) fn with_images(&self, mut messages: Vec<Message>) -> Vec<Message> {
        if let Some(first) = messages.first_mut() {
            first.blocks.extend(self.images().cloned().map(ContentBlock::Image));
        }
        messages
    }
}

impl History {
    /// The images that the user sent with a turn, as far as they are kept.
    pub fn images_of(&self, turn: u64) -> Vec<&Image> {
        let past = self.recent.iter().find(|past| past.turn == turn);
        past.into_iter().flat_map(PastTurn::images).collect()
    }

    /// Images are large: of too many the older half is dropped at once, so that requests rarely
    /// change.
    pub(super) fn drop_old_images(&mut self) {
        let count: usize = self.recent.iter().map(|past| past.images().count()).sum();
        let mut gone = if count > IMAGES { count - IMAGES / 2 } else { 0 };
        for past in &mut self.recent {
            if gone == 0 {
                return;
            }
            gone = gone.saturating_sub(past.images().count());
            past.images.clear();
            past.sent.iter_mut().for_each(|message| message.replace_images(IMAGE_GONE));
        }
    }
}
