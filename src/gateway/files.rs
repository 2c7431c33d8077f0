//! Files that came from a chat, in a private folder of the run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use avocet_core::private_dir::private_folder;
use avocet_core::protocol::Event;
use avocet_safety::redact::Redactor;

/// Files of one message.
pub const MAX_FILES: usize = 10;

/// Longest name of a file, in bytes.
const MAX_NAME: usize = 100;

/// The folder of one chat.
#[derive(Clone, Debug)]
pub struct ReceivedFiles {
    folder: PathBuf,
    next: usize,
}

/// A file that was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedFile {
    pub path: PathBuf,
    /// Text, or an image that models know: it is sent with the message.
    pub can_attach: bool,
}

impl ReceivedFiles {
    pub fn new(folder: PathBuf) -> ReceivedFiles {
        ReceivedFiles { folder, next: 1 }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Saves a file under a name that is made safe.
    ///
    /// # Errors
    /// Whatever the disk says.
    pub fn save(&mut self, name: &str, bytes: &[u8]) -> io::Result<SavedFile> {
        private_folder(&self.folder)?;
        let path = self.folder.join(format!("{}-{}", self.next, safe_name(name)));
        self.next += 1;
        fs::write(&path, bytes)?;
        let is_text = std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'));
        Ok(SavedFile { path, can_attach: is_text || is_image(bytes) })
    }
}

/// Files and changes for the chat have their secrets masked, as what goes to a model has.
pub fn mask_event(event: Event, redactor: &Redactor) -> Event {
    match event {
        Event::Changes { .. } => {
            let masked = event.to_value().and_then(|mut value| {
                redactor.mask_value(&mut value);
                Event::from_json(&value.to_string())
            });
            // What cannot be masked is not shown.
            masked.unwrap_or(Event::Changes { session: Vec::new(), uncommitted: None })
        }
        Event::Rendered { text, images } => {
            Event::Rendered { text: redactor.mask(&text).into_owned(), images }
        }
        event => event,
    }
}

/// PNG, JPEG, GIF and WebP, by their first bytes.
fn is_image(bytes: &[u8]) -> bool {
    let starts: [&[u8]; 3] = [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8"];
    starts.iter().any(|start| bytes.starts_with(start))
        || bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP")
}

/// The name without anything that a path, a shell or a terminal would read.
fn safe_name(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = name.trim_start_matches('.').chars().map(plain).collect();
    let start = name.len().saturating_sub(MAX_NAME);
    // The end names the kind of the file.
    let name = name.get(name.ceil_char_boundary(start)..).unwrap_or_default();
    if name.is_empty() { "file".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_never_leaves_the_folder() {
        for (name, safe) in [
            ("../../etc/passwd", "passwd"),
            ("..\\x.txt", "x.txt"),
            ("a b\n;rm.png", "a_b__rm.png"),
            ("..", "file"),
            ("", "file"),
            ("图.png", "图.png"),
        ] {
            assert_eq!(safe_name(name), safe);
        }
        assert!(safe_name(&format!("{}.rs", "字".repeat(200))).ends_with("字.rs"));
    }

    #[test]
    fn text_and_images_are_told_from_other_files() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = ReceivedFiles::new(folder.path().join("chat"));
        let text = files.save("a.txt", "hallo".as_bytes()).unwrap();
        let other = files.save("a.txt", &[0x89, b'P', 0xff]).unwrap();
        let image = files.save("a.png", b"\x89PNG\r\n\x1a\n\0").unwrap();
        assert!(text.can_attach && image.can_attach && !other.can_attach);
        assert_ne!(text.path, other.path);
    }
}
