//! What a server refused, for as long as the client lives: optional parts of a request, by server
//! or by model, and images.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::Request;
use super::super::error_body::ServerMessage;
use super::features::RequestFeatures;
use avocet_core::protocol::{ContentBlock, Image, ToolResult};

/// The text in the place of an image that the server refused.
const REFUSED_IMAGE: &str = "[an image that the server did not accept]";

/// The text in the place of a result that the server refused.
const REFUSED_RESULT: &str = "[left out: the server did not accept this result]";

/// The refusals of a server, and of one of its models.
#[derive(Debug, Default)]
pub(crate) struct CapabilityCache {
    of_server: Arc<AtomicU32>,
    of_model: AtomicU32,
    images: Mutex<KnownParts>,
    /// Results of tools; none are refused before the server accepted a request.
    results: Mutex<KnownParts>,
    has_accepted: AtomicBool,
    /// Tools whose schema or name the server refused.
    tools: Mutex<HashSet<String>>,
    /// The longest answer that it named, in tokens.
    answer: Mutex<Option<u64>>,
}

/// More tools than these are not left out one by one.
const MAX_TOOLS: usize = 3;

/// Parts of a conversation by a hash of their content.
#[derive(Debug, Default)]
struct KnownParts {
    accepted: HashSet<u64>,
    refused: HashSet<u64>,
}

impl CapabilityCache {
    /// The initial assumptions about a server: one on another machine has an unknown tokenizer, and
    /// rejects biases by text.
    pub fn for_server(is_local: bool) -> CapabilityCache {
        let cache = CapabilityCache::default();
        if !is_local {
            cache.remember(RequestFeatures::NO_BIAS);
        }
        cache
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
    pub fn remember(&self, features: RequestFeatures) {
        let shared = RequestFeatures::OF_SERVER.0;
        self.of_server.fetch_or(features.0 & shared, Ordering::Relaxed);
        self.of_model.fetch_or(features.0 & !shared, Ordering::Relaxed);
    }

    /// The request as it is sent: without what the server refused.
    pub fn fit<'a>(&self, request: &'a Request, features: RequestFeatures) -> Cow<'a, Request> {
        let mut out = features.trim(request);
        let images = lock(&self.images);
        let results = lock(&self.results);
        let is_refused = |image: &Image| images.refused.contains(&hash(&image.data));
        if all_results(request).any(|result| results.refused.contains(&hash(&result.content))) {
            let blocks = out.to_mut().messages.iter_mut().flat_map(|message| &mut message.blocks);
            for block in blocks {
                if let ContentBlock::ToolResult(result) = block
                    && results.refused.contains(&hash(&result.content))
                {
                    REFUSED_RESULT.clone_into(&mut result.content);
                }
            }
        }
        let tools = lock(&self.tools);
        if request.tools.iter().any(|tool| tools.contains(&tool.name)) {
            let kept = request.tools.iter().filter(|tool| !tools.contains(&tool.name));
            out.to_mut().tools = kept.cloned().collect();
        }
        if let Some(most) = *lock(&self.answer) {
            let request = out.to_mut();
            request.limits.output =
                Some(request.limits.output.map_or(most, |known| known.min(most)));
            let most = u32::try_from(most).unwrap_or(u32::MAX);
            request.params.max_tokens = request.params.max_tokens.map(|asked| asked.min(most));
        }
        if all_images(request).any(is_refused) {
            for message in &mut out.to_mut().messages {
                message.replace_images_that(REFUSED_IMAGE, is_refused);
            }
        }
        out
    }

    /// The server took this request.
    pub fn accept(&self, features: RequestFeatures, request: &Request) {
        self.remember(features);
        lock(&self.images).accepted.extend(all_images(request).map(|image| hash(&image.data)));
        lock(&self.results)
            .accepted
            .extend(all_results(request).map(|result| hash(&result.content)));
        self.has_accepted.store(true, Ordering::Relaxed);
    }

    /// Leaves out the results that are new since the server accepted a request. False: there are none.
    pub fn refuse_results(&self, request: &Request) -> bool {
        if !self.has_accepted.load(Ordering::Relaxed) {
            return false;
        }
        let mut results = lock(&self.results);
        let others = all_results(request).filter(|result| result.content != REFUSED_RESULT);
        let new = others.map(|result| hash(&result.content));
        let new: Vec<u64> = new.filter(|result| !results.accepted.contains(result)).collect();
        results.refused.extend(&new);
        !new.is_empty()
    }

    /// Leaves out the images that the server never took; all, if it took each before.
    pub fn refuse_images(&self, request: &Request) {
        let mut images = lock(&self.images);
        let all: Vec<u64> = all_images(request).map(|image| hash(&image.data)).collect();
        let is_new = |image: &u64| !images.accepted.contains(image);
        let new: Vec<u64> = all.iter().copied().filter(is_new).collect();
        images.refused.extend(if new.is_empty() { all } else { new });
    }

    /// Leaves out the tool that the server complains of, and returns its name. `None`: it complains
    /// of none, or of too many.
    pub fn refuse_tool(&self, request: &Request, message: &ServerMessage) -> Option<String> {
        let name = message.refused_tool(request.tools.iter().map(|tool| tool.name.as_str()))?;
        let mut tools = lock(&self.tools);
        (tools.len() < MAX_TOOLS && tools.insert(name.to_owned())).then(|| name.to_owned())
    }

    /// Whether the server named an answer shorter than the one of `asked` tokens; it is kept to.
    pub fn shorten_answer(&self, asked: Option<u64>, message: &ServerMessage) -> bool {
        let most = asked.and_then(|asked| message.longest_answer(asked));
        if most.is_some() {
            *lock(&self.answer) = most;
        }
        most.is_some()
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

fn all_images(request: &Request) -> impl Iterator<Item = &Image> {
    let blocks = request.messages.iter().flat_map(|message| &message.blocks);
    blocks.filter_map(|block| match block {
        ContentBlock::Image(image) => Some(image),
        _ => None,
    })
}

fn all_results(request: &Request) -> impl Iterator<Item = &ToolResult> {
    let blocks = request.messages.iter().flat_map(|message| &message.blocks);
    blocks.filter_map(|block| match block {
        ContentBlock::ToolResult(result) => Some(result),
        _ => None,
    })
}

fn hash(content: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    hasher.finish()
}
