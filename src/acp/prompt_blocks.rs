//! The blocks of a prompt as the input of a session: text, a command, mentioned files, images and
//! what the editor embeds.

use agent_client_protocol_schema::v1::{
    BlobResourceContents, ContentBlock, EmbeddedResource, EmbeddedResourceResource, ResourceLink,
    TextResourceContents,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use avocet_core::i18n::{LocalizedText, acp as phrases};
use avocet_core::prompt::input::{self, Intent};
use avocet_core::protocol::{
    AttachmentInfo, AttachmentSize, LineRange, Mention, Op, PastedImage, PromptPart, TurnOp,
};
use avocet_tools::attachments::{self, Attachment};
use avocet_tools::image;

/// What a prompt asks for.
#[derive(Debug, PartialEq)]
pub enum PromptInput {
    Send(Op),
    /// A line that begins with `/`, and the files beside it.
    Command {
        line: String,
        mentions: Vec<Mention>,
    },
}

/// Reads a prompt. Decodes its images, so it blocks.
///
/// # Errors
/// One sentence: a part of it cannot be used, or it is empty.
pub fn read(blocks: Vec<ContentBlock>) -> Result<PromptInput, LocalizedText> {
    let mut parts = Vec::new();
    let mut images = Vec::new();
    let mut blocks = blocks.into_iter().peekable();
    let mut command = None;
    if let Some(ContentBlock::Text(first)) = blocks.peek() {
        let text = first.text.clone();
        blocks.next();
        match input::parse(&text) {
            Intent::Command { name, args, mentions } => {
                command = Some((format!("/{name} {args}").trim_end().to_owned(), mentions));
            }
            Intent::Shell { line, keep } if blocks.peek().is_none() => {
                return Ok(PromptInput::Send(Op::Turn(TurnOp::Shell { line, keep })));
            }
            Intent::Message { parts: typed } => {
                parts = typed;
                // What follows the text does not stick to it.
                let gap = text.get(text.trim_end().len()..).unwrap_or_default();
                parts.extend((!gap.is_empty()).then(|| PromptPart::Text(gap.to_owned())));
            }
            Intent::Shell { .. } => parts.push(PromptPart::Text(text)),
            Intent::Empty => {}
        }
    }
    for block in blocks {
        match block {
            ContentBlock::Text(text) => parts.push(PromptPart::Text(text.text)),
            ContentBlock::ResourceLink(link) => parts.push(linked(&link)),
            ContentBlock::Resource(resource) => embed(resource, &mut parts, &mut images)?,
            ContentBlock::Image(shown) => attach(&shown.data, &mut parts, &mut images)?,
            _ => return Err(phrases::NO_AUDIO.into()),
        }
    }
    if let Some((line, mut mentions)) = command {
        mentions.extend(parts.into_iter().filter_map(|part| match part {
            PromptPart::Mention { mention, .. } => Some(mention),
            _ => None,
        }));
        return Ok(PromptInput::Command { line, mentions });
    }
    if parts.is_empty() {
        return Err(phrases::NO_PROMPT.into());
    }
    Ok(PromptInput::Send(input::with_images(input::submit_op(parts, str::to_owned), images)))
}

/// A file that the session reads itself; any other address is only named.
fn linked(link: &ResourceLink) -> PromptPart {
    match file_mention(&link.uri) {
        Some(mention) => PromptPart::Mention { text: mention.as_typed(), mention },
        None => PromptPart::Text(format!("[{}]({})", link.name, link.uri)),
    }
}

fn file_mention(uri: &str) -> Option<Mention> {
    let rest = uri.strip_prefix("file://")?;
    let (path, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let path = percent_decoded(path.get(path.find('/')?..)?)?;
    Some(Mention { path, lines: line_range(fragment) })
}

/// `L10`, `L10:20`, `L10-L20`.
fn line_range(fragment: &str) -> Option<LineRange> {
    let (first, last) = fragment.split_once([':', '-']).unwrap_or((fragment, fragment));
    let number = |text: &str| text.trim_start_matches('L').parse::<usize>().ok();
    let first = number(first)?;
    Some(LineRange { first, last: number(last).map(|last| last.max(first)) })
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
        } else {
            byte
        });
    }
    String::from_utf8(bytes).ok()
}

/// What the editor has of a file, as it is there: it may not be saved.
fn embed(
    resource: EmbeddedResource,
    parts: &mut Vec<PromptPart>,
    images: &mut Vec<PastedImage>,
) -> Result<(), LocalizedText> {
    match resource.resource {
        EmbeddedResourceResource::TextResourceContents(TextResourceContents {
            uri, text, ..
        }) => {
            let name = file_mention(&uri).map_or(uri, |mention| mention.as_typed());
            let size = AttachmentSize::Lines(text.lines().count());
            let attached = AttachmentInfo { name, size, cut: false };
            let block = attachments::block(&Attachment { attached, text, image: None });
            parts.push(PromptPart::Text(format!("\n\n{block}\n")));
            Ok(())
        }
        EmbeddedResourceResource::BlobResourceContents(BlobResourceContents { blob, .. }) => {
            attach(&blob, parts, images)
        }
        _ => Err(phrases::NO_AUDIO.into()),
    }
}

fn attach(
    data: &str,
    parts: &mut Vec<PromptPart>,
    images: &mut Vec<PastedImage>,
) -> Result<(), LocalizedText> {
    let name = format!("[image {}]", images.len() + 1);
    // An image that cannot be decoded is reported as broken.
    let bytes = STANDARD.decode(data).unwrap_or_default();
    let prepared = image::prepare(bytes, &name)?;
    parts.push(PromptPart::Text(name.clone()));
    images.push(PastedImage { name, size: prepared.size, image: prepared.image });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn input(blocks: Value) -> Result<PromptInput, LocalizedText> {
        read(serde_json::from_value(blocks).unwrap())
    }

    #[test]
    fn a_text_is_a_message_a_command_or_a_shell_line() {
        let text = |text: &str| input(json!([{ "type": "text", "text": text }])).unwrap();
        assert_eq!(
            text("hello"),
            PromptInput::Send(Op::Turn(TurnOp::Submit { text: "hello".into() }))
        );
        let command = PromptInput::Command { line: "/review HEAD".into(), mentions: vec![] };
        assert_eq!(text("/review HEAD"), command);
        let shell = Op::Turn(TurnOp::Shell { line: "ls".into(), keep: true });
        assert_eq!(text("!ls"), PromptInput::Send(shell));
        assert!(
            input(json!([])).is_err() && input(json!([{ "type": "text", "text": " " }])).is_err()
        );
    }

    #[test]
    fn a_linked_file_is_mentioned_with_its_lines_and_an_embedded_one_is_quoted() {
        let blocks = json!([
            { "type": "text", "text": "see " },
            { "type": "resource_link", "uri": "file:///w/a%20b.rs#L3:5", "name": "a b.rs" },
            { "type": "resource", "resource": { "uri": "file:///w/c.rs", "text": "fn c() {}" } },
        ]);
        let Ok(PromptInput::Send(Op::Turn(TurnOp::SubmitPrompt { prompt }))) = input(blocks) else {
            panic!()
        };
        let lines = Some(LineRange { first: 3, last: Some(5) });
        let mention = Mention { path: "/w/a b.rs".into(), lines };
        let named = PromptPart::Mention { text: "@\"/w/a b.rs\":3-5".into(), mention };
        assert!(prompt.parts.contains(&named), "{prompt:?}");
        assert!(prompt.shown.starts_with("see @"), "{}", prompt.shown);
        assert!(prompt.shown.contains("[Attached @/w/c.rs: 1 line]\n```\nfn c() {}\n```"));
    }

    #[test]
    fn a_forged_address_or_image_is_no_file_and_an_error() {
        for uri in ["file://", "file:///%zz", "file:///%ff", "http://x/y", ""] {
            assert_eq!(file_mention(uri), None, "{uri}");
        }
        let broken = json!([{ "type": "image", "data": "####", "mimeType": "image/png" }]);
        assert!(input(broken).is_err());
        let audio = json!([{ "type": "audio", "data": "", "mimeType": "audio/wav" }]);
        assert!(input(audio).is_err());
    }
}
