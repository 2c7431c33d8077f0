//! Images in the input: a pasted one is `[image 1]` in the text, and a pasted path to one becomes a
//! mention of it.

use avocet_core::i18n::{Lang, screen as phrases};
use avocet_core::protocol::PastedImage;
use avocet_tools::image::PreparedImage;

/// So many are kept for texts that name them.
const MAX_IMAGES: usize = 20;

/// The images that were pasted since the program started: a text that comes back from the history
/// or the queue still has its own.
#[derive(Debug, Default)]
pub struct PastedImages {
    images: Vec<PastedImage>,
    count: usize,
}

impl PastedImages {
    /// Keeps an image; returns its name, which is a unit of the text.
    pub fn add(&mut self, PreparedImage { image, size }: PreparedImage, lang: Lang) -> String {
        self.count += 1;
        let name = format!("[{}]", phrases::PASTED_IMAGE.with("n", self.count).text(lang));
        self.images.push(PastedImage { name: name.clone(), size, image });
        if self.images.len() > MAX_IMAGES {
            self.images.remove(0);
        }
        name
    }

    /// Those that a text names.
    pub fn named_in(&self, text: &str) -> Vec<PastedImage> {
        self.images.iter().filter(|image| text.contains(&image.name)).cloned().collect()
    }

    /// Their names in one line, as byte ranges.
    pub fn ranges(&self, line: &str) -> Vec<(usize, usize)> {
        let names = self.images.iter().map(|image| image.name.as_str());
        let found = names.flat_map(|name| line.match_indices(name));
        found.map(|(at, name)| (at, at + name.len())).collect()
    }
}

/// The path to an image that a whole paste is, as terminals write a file that is dropped on them:
/// quoted, with escaped blanks, or as an address.
pub fn pasted_image_path(text: &str) -> Option<String> {
    let text = text.trim();
    let quoted = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    let path = match quoted('\'').or_else(|| quoted('"')) {
        Some(path) => path.to_owned(),
        None => match text.strip_prefix("file://") {
            Some(address) => percent_decoded(address.strip_prefix("localhost").unwrap_or(address))?,
            None => unescaped(text)?,
        },
    };
    let name = path.rsplit('/').next().unwrap_or_default();
    let (stem, ending) = name.rsplit_once('.')?;
    let is_image = ENDINGS.contains(&ending.to_lowercase().as_str()) && !stem.is_empty();
    let is_whole = path.starts_with('/') || path.starts_with("~/");
    let is_plain = !path.contains(|c: char| c.is_control() || c == '"');
    (is_image && is_whole && is_plain).then_some(path)
}

const ENDINGS: &[&str] = &["png", "jpg", "jpeg", "gif", "webp"];

/// Without the backslashes of a shell; `None` if blanks separate several words.
fn unescaped(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            c if c.is_whitespace() => return None,
            c => out.push(c),
        }
    }
    Some(out)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let code = behind.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if *first == b'%' => {
                out.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            _ => {
                out.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composer::Composer;
    use avocet_core::protocol::{AttachmentSize, Image};

    #[test]
    fn a_pasted_path_to_an_image_is_told_in_every_way_terminals_write_it() {
        for (text, path) in [
            ("/tmp/shot.png", Some("/tmp/shot.png")),
            (" '/tmp/my shot.PNG' \n", Some("/tmp/my shot.PNG")),
            ("/tmp/my\\ shot.jpeg", Some("/tmp/my shot.jpeg")),
            ("\"~/a.webp\"", Some("~/a.webp")),
            ("file:///tmp/my%20%E5%9B%BE.gif", Some("/tmp/my 图.gif")),
            ("shot.png", None),
            ("see /tmp/shot.png", None),
            ("/tmp/shot.txt", None),
            ("/tmp/.png", None),
            ("/tmp/a\n/b.png", None),
            ("file:///tmp/%0a.png", None),
        ] {
            assert_eq!(pasted_image_path(text).as_deref(), path, "{text}");
        }
    }

    #[test]
    fn a_pasted_image_is_a_unit_of_the_text_and_found_by_its_name() {
        let image = Image { mime: "image/png".into(), data: "AAAA".into() };
        let size = AttachmentSize::Pixels { width: 4, height: 3 };
        let prepared = PreparedImage { image, size };
        let mut composer = Composer::new(Vec::new());
        composer.paste_image(prepared.clone(), Lang::En);
        composer.paste_image(prepared, Lang::En);
        assert_eq!(composer.display_text(), "[image 1] [image 2] ");
        assert_eq!(composer.units.images.ranges("see [image 2]"), [(4, 13)]);
        let named: Vec<_> = composer.units.images.named_in("[image 2]").into_iter().collect();
        assert_eq!(named.len(), 1);
        composer.edit(crate::keys::EditAction::DeleteBack);
        composer.edit(crate::keys::EditAction::DeleteBack);
        assert_eq!(composer.display_text(), "[image 1] ");
    }
}
