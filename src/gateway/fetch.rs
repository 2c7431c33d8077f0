//! The files of a message, fetched one after the other: text becomes part of the message, the rest is
//! named with its path.

use std::collections::VecDeque;

use bytes::Bytes;

use super::conversation::{ChatPosts, Speaker, display_name};
use super::files::{self, ReceivedFiles};
use super::platform::{DeliveryId, RemoteFile};
use avocet_core::i18n::{Lang, chat as w};
use avocet_core::protocol::Mention;
use avocet_core::text;

/// A message whose files are being fetched.
#[derive(Debug)]
pub struct MessageAwaitingFiles {
    speaker: Speaker,
    pub delivery: DeliveryId,
    text: String,
    left: VecDeque<RemoteFile>,
    named: Vec<String>,
    mentions: Vec<Mention>,
}

/// What came of one of them.
#[derive(Debug)]
pub struct FetchedFile {
    /// As the sender named it.
    pub name: String,
    pub fetched: Result<Bytes, String>,
}

/// No model hears it.
fn is_recording(file: &RemoteFile) -> bool {
    let is_audio = file.media_type.as_deref().is_some_and(|kind| kind.starts_with("audio/"));
    is_audio || [".ogg", ".opus"].iter().any(|end| file.name.ends_with(end))
}

impl MessageAwaitingFiles {
    pub fn new(
        speaker: Speaker,
        delivery: DeliveryId,
        files: Vec<RemoteFile>,
        text: String,
    ) -> MessageAwaitingFiles {
        let left = files.into_iter().take(files::MAX_FILES).collect();
        MessageAwaitingFiles {
            speaker,
            delivery,
            text,
            left,
            named: Vec::new(),
            mentions: Vec::new(),
        }
    }

    /// The next file to fetch; one that is too large is named and passed over.
    pub fn next(&mut self, most: u64, posts: &mut ChatPosts) -> Option<RemoteFile> {
        while let Some(file) = self.left.pop_front() {
            let name = display_name(&file.name);
            if file.size.is_none_or(|size| size <= most) {
                if is_recording(&file) {
                    posts.say(w::NOT_HEARD.with("name", name));
                }
                return Some(file);
            }
            posts.say(w::FILE_TOO_LARGE.with("name", name).with("most", text::size(most)));
        }
        None
    }

    /// Saves a file that came, or says why it did not.
    pub fn take(&mut self, file: FetchedFile, files: &mut ReceivedFiles, posts: &mut ChatPosts) {
        let FetchedFile { name, fetched } = file;
        let saved =
            fetched.and_then(|bytes| files.save(&name, &bytes).map_err(|error| error.to_string()));
        match saved {
            Ok(saved) => {
                let path = saved.path.display().to_string();
                self.named.push(path.clone());
                self.mentions.extend(saved.can_attach.then_some(Mention { path, lines: None }));
            }
            Err(why) => {
                posts.say(w::FILE_LOST.with("name", display_name(&name)).with("why", why));
            }
        }
    }

    /// The message with what was fetched.
    pub fn message(self, lang: Lang) -> (Speaker, DeliveryId, String, Vec<Mention>) {
        let MessageAwaitingFiles { speaker, delivery, text, named, mentions, .. } = self;
        if named.is_empty() {
            return (speaker, delivery, text, mentions);
        }
        let files = w::SENT_FILES.with("files", named.join(", "));
        let text = format!("{text}\n\n{}", files.text(lang)).trim().to_owned();
        (speaker, delivery, text, mentions)
    }
}
