//! The messages of a running script, and the ones a model gets to see.

use serde_json::{Map, Value};

use super::super::error::{Location, ScriptResult};
use super::super::text::roles::{Addressee, is_private};
use super::super::text::{Bias, RenderedText};
use super::limits::limit_error;
use super::scope::text_of;
use avocet_core::i18n::script_run as phrases;
use avocet_core::protocol::{ContentBlock, Image, Message};

/// Maximum number of messages of one dialogue.
pub const MAX_LINES: usize = 10_000;
/// The name of the user in a group.
pub const PERSON: &str = "User";

/// The dialogue so far.
#[derive(Clone, Debug, Default)]
pub struct Dialogue {
    pub messages: Vec<DialogueMessage>,
    /// The messages above the first separator.
    pub prologue_len: Option<usize>,
    /// Number of model calls this script has made.
    pub model_calls: usize,
    pub is_flushing: bool,
    /// The running model call is to be stopped.
    pub aborted: bool,
}

/// One message.
#[derive(Clone, Debug)]
pub struct DialogueMessage {
    pub role: String,
    pub addressees: Vec<Addressee>,
    pub body: MessageBody,
    /// The answers of the addressed roles, in order.
    pub replies: Vec<(String, String)>,
    pub bias: Vec<Bias>,
    /// The images beside the text.
    pub images: Vec<Image>,
    /// Loop variables at the time it was written.
    pub locals: Vec<Map<String, Value>>,
    /// Its place in the script, if it has one.
    pub location: Option<Location>,
}

#[derive(Clone, Debug)]
pub enum MessageBody {
    /// As it was written.
    Pending {
        text: String,
        how: RenderMode,
    },
    /// A structured system message, as it was written.
    PendingParts(Value),
    /// Rendered; replies of the model may still be missing.
    Rendered(RenderedText),
    Parts(SystemParts),
}

/// How a text is to be rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderMode {
    Template,
    /// Marks are parsed, the template is not rendered.
    Marks,
    /// Nothing of it is rendered.
    Verbatim,
    Expression,
}

/// A system message in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemParts {
    pub background: Vec<String>,
    pub content: Vec<String>,
    pub output: Vec<String>,
    pub notes: Vec<String>,
}

/// The titles of the parts that have one.
#[derive(Clone, Debug)]
pub struct Titles {
    pub notes: String,
    pub output: String,
}

impl DialogueMessage {
    pub fn new(role: impl Into<String>, body: MessageBody) -> DialogueMessage {
        DialogueMessage {
            role: role.into(),
            addressees: Vec::new(),
            body,
            replies: Vec::new(),
            bias: Vec::new(),
            images: Vec::new(),
            locals: Vec::new(),
            location: None,
        }
    }

    pub fn rendered(role: impl Into<String>, text: impl Into<String>) -> DialogueMessage {
        DialogueMessage::new(role, MessageBody::Rendered(RenderedText::literal(text)))
    }

    /// A message of plain values, in the form of `prompt.messages`.
    pub fn from_value(role: &str, content: &Value) -> DialogueMessage {
        let body = match content {
            Value::Object(_) if role == "system" => MessageBody::PendingParts(content.clone()),
            Value::Array(parts) if let Some((text, images)) = read_parts(parts) => {
                let pending = MessageBody::Pending { text, how: RenderMode::Template };
                return DialogueMessage { images, ..DialogueMessage::new(role, pending) };
            }
            content => MessageBody::Pending { text: text_of(content), how: RenderMode::Template },
        };
        DialogueMessage::new(role, body)
    }

    pub fn is_pending(&self) -> bool {
        match &self.body {
            MessageBody::Pending { .. } | MessageBody::PendingParts(_) => true,
            MessageBody::Rendered(settled) => settled.next_placeholder().is_some(),
            MessageBody::Parts(_) => false,
        }
    }

    pub fn is_private(&self) -> bool {
        is_private(&self.addressees)
    }

    /// The text in its current state.
    pub fn text(&self) -> String {
        match &self.body {
            MessageBody::Pending { text, .. } => text.clone(),
            MessageBody::PendingParts(value) => value.to_string(),
            MessageBody::Rendered(settled) => settled.text(),
            MessageBody::Parts(parts) => parts.content.join("\n"),
        }
    }
}

impl SystemParts {
    fn extend(&mut self, parts: &SystemParts) {
        self.background.extend(parts.background.iter().cloned());
        self.content.extend(parts.content.iter().cloned());
        self.output.extend(parts.output.iter().cloned());
        self.notes.extend(parts.notes.iter().cloned());
    }

    /// The parts in order, with a blank line between them.
    pub fn text(&self, titles: &Titles) -> String {
        let list = |title: &str, items: &[String]| {
            let title = title.trim_end();
            let colon = if title.ends_with([':', '：']) { "" } else { ":" };
            // A description of the output is already a list.
            let item = |item: &String| {
                if item.trim_start().starts_with("* ") {
                    item.trim_end().to_owned()
                } else {
                    format!("* {item}")
                }
            };
            let items: Vec<String> = items.iter().map(item).collect();
            (!items.is_empty()).then(|| format!("{title}{colon}\n{}", items.join("\n")))
        };
        let block = |texts: &[String]| (!texts.is_empty()).then(|| texts.join("\n"));
        let parts = [
            block(&self.background),
            block(&self.content),
            list(&titles.output, &self.output),
            list(&titles.notes, &self.notes),
        ];
        let filled: Vec<String> = parts.into_iter().flatten().filter(|it| !it.is_empty()).collect();
        filled.join("\n\n")
    }
}

impl Dialogue {
    pub fn push(&mut self, message: DialogueMessage) {
        self.messages.push(message);
    }

    /// Adds a message unless there are too many.
    pub fn push_checked(&mut self, message: DialogueMessage) -> ScriptResult {
        self.check_room()?;
        self.push(message);
        Ok(())
    }

    /// Whether there is room for one more message.
    pub fn check_room(&self) -> ScriptResult {
        if self.messages.len() >= MAX_LINES {
            Err(limit_error(phrases::TOO_MANY_MESSAGES.with("most", MAX_LINES)))
        } else {
            Ok(())
        }
    }

    /// The messages that are shown and saved: those of this dialogue.
    pub fn visible(&self) -> impl Iterator<Item = &DialogueMessage> {
        self.messages.iter().skip(self.prologue_len.unwrap_or(0))
    }

    /// The index an edit refers to: from the start, or from the end.
    pub fn resolve_index(&self, at: i64) -> Option<usize> {
        let length = i64::try_from(self.messages.len()).ok()?;
        let at = if at < 0 { length + at } else { at };
        usize::try_from(at).ok().filter(|at| *at < self.messages.len())
    }
}

/// The names used when messages are built.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// The name the script itself uses.
    pub own_name: &'a str,
    pub titles: &'a Titles,
}

/// The messages for the model: one system message first, then the dialogue.
pub fn messages<'a>(
    lines: impl Iterator<Item = &'a DialogueMessage>,
    view: &View<'_>,
    system_parts: &SystemParts,
) -> Vec<Message> {
    let mut system = SystemParts::default();
    let mut out = Vec::new();
    for line in lines {
        match (&line.body, line.role.as_str()) {
            (MessageBody::Parts(parts), _) => system.extend(parts),
            (_, "system") => system.content.push(line.text()),
            (_, role) => {
                out.extend(with_images(to_message(role, line.text(), view), &line.images));
                for (role, reply) in &line.replies {
                    out.extend(to_message(role, reply.clone(), view));
                }
            }
        }
    }
    system.extend(system_parts);
    let system = system.text(view.titles);
    let head = (!system.is_empty()).then(|| Message::system(system));
    head.into_iter().chain(out).collect()
}

/// A message of parts: its text, a line each, and its images. `None` if a part is neither.
pub fn read_parts(parts: &[Value]) -> Option<(String, Vec<Image>)> {
    let mut texts = Vec::new();
    let mut images = Vec::new();

    for part in parts {
        match part.get("type").and_then(Value::as_str)? {
            "text" => texts.push(part.get("text")?.as_str()?),
            "image_url" => {
                let address = part.get("image_url")?;
                images.push(read_image(address.get("url").unwrap_or(address).as_str()?)?);
            }
            _ => return None,
        }
    }
    (!parts.is_empty()).then(|| (texts.join("\n"), images))
}

/// `data:image/png;base64,…`.
fn read_image(address: &str) -> Option<Image> {
    let (mime, data) = address.strip_prefix("data:")?.split_once(";base64,")?;
    let is_known = ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&mime);
    is_known.then(|| Image { mime: mime.to_owned(), data: data.trim().to_owned() })
}

fn with_images(message: Option<Message>, images: &[Image]) -> Option<Message> {
    if images.is_empty() {
        return message;
    }
    let mut message =
        message.unwrap_or_else(|| Message { blocks: Vec::new(), ..Message::user("") });
    message.blocks.extend(images.iter().cloned().map(ContentBlock::Image));
    Some(message)
}

fn to_message(role: &str, text: String, view: &View<'_>) -> Option<Message> {
    if text.is_empty() {
        return None;
    }
    Some(match role {
        "user" => Message::user(text),
        "assistant" => Message::assistant(text),
        own if own == view.own_name => Message::assistant(text),
        other => Message::user(format!("{other}: {text}")),
    })
}

/// The part of the controller's dialogue that a role sees: public messages and those addressed to
/// it, its own as assistant, the others' with their names.
pub fn messages_for_role<'a>(
    role: &str,
    lines: impl Iterator<Item = &'a DialogueMessage>,
    own: &str,
) -> Vec<Message> {
    let mut out = Vec::new();
    for line in lines.filter(|line| line.role != "system" && !line.text().is_empty()) {
        let addressed = line.addressees.iter().any(|to| to.role == role);
        if line.is_private() && !addressed && line.role != role {
            continue;
        }
        out.push(role_message(&line.role, &line.text(), role, own));
        for (from, reply) in line.replies.iter().filter(|(_, reply)| !reply.is_empty()) {
            out.push(role_message(from, reply, role, own));
        }
    }
    out
}

fn role_message(from: &str, text: &str, role: &str, own: &str) -> Message {
    let name = match from {
        "user" => PERSON,
        "assistant" => own,
        other => other,
    };
    if from == role { Message::assistant(text) } else { Message::user(format!("{name}: {text}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles() -> Titles {
        Titles { notes: "Notes".to_owned(), output: "Output (JSON):".to_owned() }
    }

    fn line(role: &str, to: &[(&str, Option<&str>)], text: &str) -> DialogueMessage {
        let to = to
            .iter()
            .map(|(role, arg)| Addressee { role: (*role).to_owned(), arg: arg.map(str::to_owned) });
        DialogueMessage { addressees: to.collect(), ..DialogueMessage::rendered(role, text) }
    }

    fn said(messages: &[Message]) -> Vec<String> {
        messages.iter().map(|it| format!("{:?}: {}", it.role, it.text())).collect()
    }

    #[test]
    fn isdk_016_the_parts_of_a_system_message_stand_in_order_with_their_titles() {
        let list = |items: &[&str]| items.iter().map(|it| (*it).to_owned()).collect();
        let parts = SystemParts {
            background: list(&["b1", "b2"]),
            content: list(&["c"]),
            output: list(&["* a list already"]),
            notes: list(&["n1", "n2"]),
        };
        let wanted = "b1\nb2\n\nc\n\nOutput (JSON):\n* a list already\n\nNotes:\n* n1\n* n2";
        assert_eq!(parts.text(&titles()), wanted);
        assert_eq!(SystemParts::default().text(&titles()), "");
    }

    #[test]
    fn isdk_013_system_messages_become_one_and_stand_first() {
        let titles = titles();
        let view = View { own_name: "guide", titles: &titles };
        let mut addressed = line("user", &[], "q");
        addressed.replies.push(("dobby".to_owned(), "r".to_owned()));
        let lines = [
            addressed,
            line("system", &[], "one"),
            line("guide", &[], "own"),
            line("assistant", &[], ""),
            line("system", &[], "two"),
        ];
        let extra = SystemParts { notes: vec!["n".to_owned()], ..SystemParts::default() };
        let sent = messages(lines.iter(), &view, &extra);
        assert_eq!(
            said(&sent),
            ["System: one\ntwo\n\nNotes:\n* n", "User: q", "User: dobby: r", "Assistant: own"]
        );
    }

    #[test]
    fn isdk_023_a_role_sees_public_messages_and_those_to_it_alone() {
        let lines = [
            line("system", &[], "S"),
            line("user", &[], "to all"),
            line("user", &[("dobby", Some("PM"))], "to dobby alone"),
            line("user", &[("harry", Some("PM"))], "to harry alone"),
            line("harry", &[], "from harry"),
            line("assistant", &[], "from the guide"),
        ];
        let seen = messages_for_role("harry", lines.iter(), "guide");
        assert_eq!(
            said(&seen),
            [
                "User: User: to all",
                "User: User: to harry alone",
                "Assistant: from harry",
                "User: guide: from the guide"
            ]
        );
    }

    #[test]
    fn isdk_152_a_position_counts_from_the_start_or_from_the_end() {
        let mut dialogue = Dialogue::default();
        (0..3).for_each(|_| dialogue.push(line("user", &[], "q")));
        let at = |at| dialogue.resolve_index(at);
        assert_eq!([at(0), at(2), at(-1), at(-3)], [Some(0), Some(2), Some(2), Some(0)]);
        assert_eq!([at(3), at(-4), at(i64::MIN + 3)], [None; 3]);
    }
}
