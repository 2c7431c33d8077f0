//! What a server refused, for as long as the client lives: optional parts of a request, by server
//! or by model, and images.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::Request;
use super::features::RequestFeatures;
use avocet_core::protocol::{ContentBlock, Image};

/// The text in the place of an image that the server refused.
const REFUSED_IMAGE: &str = "[an image that the server did not accept]";

/// The refusals of a server, and of one of its models.
#[derive(Debug, Default)]
pub(crate) struct CapabilityCache {
    of_server: Arc<AtomicU32>,
    of_model: AtomicU32,
    images: Mutex<KnownImages>,
}

/// Images by a hash of their content.
#[derive(Debug, Default)]
struct KnownImages {
    accepted: HashSet<u64>,
    refused: HashSet<u64>,
}

impl CapabilityCache {
    /// The initial assumptions about a server: one on another machine has an unknown tokenizer, and
    /// rejects biases by text.
    pub fn for_server(is_local: bool) -> CapabilityCache {
        let ladder = CapabilityCache::default();
        if !is_local {
            ladder.remember(RequestFeatures::NO_BIAS);
        }
        ladder
    }

    /// Those of another model of the server.
    pub fn for_other_model(&self) -> CapabilityCache {
        CapabilityCache { of_server: Arc::clone(&self.of_server), ..CapabilityCache::default() }
    }

    pub fn features(&self) -> RequestFeatures {
        let of_server = self.of_server.load(Ordering::Relaxed);
        RequestFeatures(of_server | self.of_model.load(Ordering::Relaxed))
    }

    /// Parts this shape omits stay omitted.
    pub fn remember(&self, shape: RequestFeatures) {
        let shared = RequestFeatures::OF_SERVER.0;
        self.of_server.fetch_or(shape.0 & shared, Ordering::Relaxed);
        self.of_model.fetch_or(shape.0 & !shared, Ordering::Relaxed);
    }

    /// The request as it is sent: without what the server refused.
    pub fn fit<'a>(&self, request: &'a Request, features: RequestFeatures) -> Cow<'a, Request> {
        let mut out = features.trim(request);
        let images = self.images();
        let is_refused = |image: &Image| images.refused.contains(&hash(image));
        if all_images(request).any(is_refused) {
            for message in &mut out.to_mut().messages {
                message.replace_images_that(REFUSED_IMAGE, is_refused);
            }
        }
        out
    }

    /// The server took this request.
    pub fn accept(&self, features: RequestFeatures, sent: &Request) {
        self.remember(features);
        self.images().accepted.extend(all_images(sent).map(hash));
    }

    /// Leaves out the images that the server never took; all, if it took each before.
    pub fn refuse_images(&self, sent: &Request) {
        let mut images = self.images();
        let all: Vec<u64> = all_images(sent).map(hash).collect();
        let is_new = |image: &u64| !images.accepted.contains(image);
        let new: Vec<u64> = all.iter().copied().filter(is_new).collect();
        images.refused.extend(if new.is_empty() { all } else { new });
    }

    fn images(&self) -> MutexGuard<'_, KnownImages> {
        self.images.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn all_images(request: &Request) -> impl Iterator<Item = &Image> {
    let blocks = request.messages.iter().flat_map(|message| &message.blocks);
    blocks.filter_map(|block| match block {
        ContentBlock::Image(image) => Some(image),
        _ => None,
    })
}

fn hash(image: &Image) -> u64 {
    let mut hasher = DefaultHasher::new();
    image.data.hash(&mut hasher);
    hasher.finish()
}
