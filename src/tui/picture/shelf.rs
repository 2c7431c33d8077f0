//! The pictures that are encoded, and those that are wanted on the screen.

use std::collections::VecDeque;
use std::sync::Arc;

use ratatui::layout::Rect;

use super::encode::{EncodeResult, EncodedPicture, PictureRequest};
use super::graphics::{Graphics, GraphicsProtocol};
use super::placed::PlacedPicture;
use super::size::PictureSize;
use crate::time::Millis;
use avocet_core::protocol::Image;

/// The most pictures that are kept, and their bytes.
const MAX_PICTURES: usize = 16;
const BYTES: usize = 16 << 20;
/// Where a picture cannot be moved but only sent again, it is drawn once the view has been still
/// for this long.
const STILL: Millis = 120;
/// The numbers of pictures begin here, away from those of other programs.
const FIRST_ID: u32 = 0x0061_7600;

/// An image in view, where its picture belongs.
#[derive(Clone, Debug, PartialEq)]
pub struct WantedPicture {
    pub source: u32,
    pub image: Arc<Image>,
    pub size: PictureSize,
    pub area: Rect,
}

#[derive(Debug, Default)]
pub struct PictureShelf {
    graphics: Option<Graphics>,
    /// Each with the number of its image, the last used last.
    encoded: VecDeque<(u32, Arc<EncodedPicture>)>,
    wanted: Vec<WantedPicture>,
    /// When the view last moved.
    moved_at: Millis,
    is_still: bool,
    count: u32,
}

impl PictureShelf {
    /// Another way to draw, or none: what was made for the last one is useless.
    pub fn set_graphics(&mut self, graphics: Option<Graphics>) {
        if self.graphics != graphics {
            self.graphics = graphics;
            self.encoded.clear();
        }
    }

    /// Sets what is wanted in this frame.
    pub fn want(&mut self, wanted: Vec<WantedPicture>, now: Millis) {
        if self.wanted != wanted {
            self.moved_at = now;
            self.wanted = wanted;
        }
        self.is_still = self.is_movable() || now >= self.moved_at + STILL;
    }

    /// When the view will have been still for long enough, if that matters.
    pub fn next_wakeup(&self) -> Option<Millis> {
        (!self.is_still && !self.wanted.is_empty()).then_some(self.moved_at + STILL)
    }

    /// The terminal keeps a picture and moves it itself.
    fn is_movable(&self) -> bool {
        let protocol = self.graphics.map(|graphics| graphics.protocol);
        matches!(protocol, Some(GraphicsProtocol::Kitty { .. }))
    }

    /// The wanted pictures, as far as they are ready.
    pub fn placed(&self) -> Vec<PlacedPicture> {
        let ready = self.wanted.iter().filter(|_| self.is_still);
        ready
            .filter_map(|wanted| {
                let picture = Arc::clone(self.find(wanted)?);
                Some(PlacedPicture { picture, area: wanted.area })
            })
            .collect()
    }

    fn find(&self, wanted: &WantedPicture) -> Option<&Arc<EncodedPicture>> {
        let same = |(source, picture): &&(u32, Arc<EncodedPicture>)| {
            *source == wanted.source && picture.size == wanted.size
        };
        self.encoded.iter().find(same).map(|(_, picture)| picture)
    }

    /// The next image to encode.
    pub fn next_request(&mut self) -> Option<PictureRequest> {
        let protocol = self.graphics?.protocol;
        let wanted = self.wanted.iter().find(|wanted| self.find(wanted).is_none())?;
        self.count = self.count.wrapping_add(1);
        Some(PictureRequest {
            source: wanted.source,
            image: Arc::clone(&wanted.image),
            size: wanted.size,
            protocol,
            id: FIRST_ID + self.count % 0xffff,
        })
    }

    /// Takes a picture. What is neither wanted nor recent goes.
    pub fn add(&mut self, result: &EncodeResult) {
        let Some(picture) = &result.picture else { return };
        if self.graphics.map(|graphics| graphics.protocol) != Some(result.protocol) {
            return;
        }
        self.encoded.push_back((result.source, Arc::clone(picture)));
        let bytes = |all: &VecDeque<(u32, Arc<EncodedPicture>)>| -> usize {
            all.iter().map(|(_, picture)| picture.byte_count()).sum()
        };
        while self.encoded.len() > MAX_PICTURES || bytes(&self.encoded) > BYTES {
            let is_wanted = |source: u32| self.wanted.iter().any(|it| it.source == source);
            match self.encoded.iter().position(|(source, _)| !is_wanted(*source)) {
                Some(at) => drop(self.encoded.remove(at)),
                None => return,
            }
        }
    }
}
