//! Reads what a tool, a prompt or a resource gave, block by block: a block that is not understood
//! costs only itself.

use serde_json::Value;

use avocet_core::protocol::Image;
use avocet_core::text::size;

use super::clean;
use super::message::McpContent;

/// The most text of a result that is passed on, in bytes.
const MAX_TEXT: usize = 256 << 10;
/// The most bytes of a result's images, as base64.
const MAX_IMAGES: usize = 8 << 20;
const MAX_IMAGE_COUNT: usize = 8;
/// The most of a link to a resource.
const MAX_LINK: usize = 1024;

/// The images that are passed on as such.
const IMAGES: [&str; 5] = ["image/png", "image/jpeg", "image/gif", "image/webp", Image::PDF];

/// The content of an answer to `tools/call`.
pub(crate) fn of_call(result: &Value) -> McpContent {
    let mut content = McpContent {
        is_error: result.get("isError").and_then(Value::as_bool).unwrap_or(false),
        ..McpContent::default()
    };
    for block in list(result, "content") {
        content.push_block(block);
    }
    // Servers repeat it as text, as the protocol asks for.
    if content == (McpContent { is_error: content.is_error, ..McpContent::default() })
        && let Some(structured) = result.get("structuredContent")
    {
        content.push_text(&structured.to_string());
    }
    content
}

/// The content of an answer to `prompts/get`: its messages one after the other.
pub(crate) fn of_prompt(result: &Value) -> McpContent {
    let mut content = McpContent::default();
    for message in list(result, "messages") {
        if message.get("role").and_then(Value::as_str) == Some("assistant") {
            content.push_text("Assistant:");
        }
        if let Some(block) = message.get("content") {
            content.push_block(block);
        }
    }
    content
}

/// The content of an answer to `resources/read`.
pub(crate) fn of_resource(result: &Value) -> McpContent {
    let mut content = McpContent::default();
    for resource in list(result, "contents") {
        content.push_resource(resource);
    }
    content
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

impl McpContent {
    fn push_block(&mut self, block: &Value) {
        match text(block, "type") {
            "text" => self.push_text(text(block, "text")),
            "image" | "audio" => self.push_data(text(block, "mimeType"), text(block, "data")),
            "resource" => {
                if let Some(resource) = block.get("resource") {
                    self.push_resource(resource);
                }
            }
            "resource_link" => {
                let name = clean::member(block, "name", MAX_LINK);
                let uri = clean::member(block, "uri", MAX_LINK);
                self.push_text(&format!("[{name}]({uri})"));
            }
            _ => self.omitted += block.to_string().len(),
        }
    }

    fn push_resource(&mut self, resource: &Value) {
        match resource.get("text").and_then(Value::as_str) {
            Some(text) => self.push_text(text),
            None => self.push_data(text(resource, "mimeType"), text(resource, "blob")),
        }
    }

    fn push_text(&mut self, text: &str) {
        if self.text.len() >= MAX_TEXT {
            self.omitted += text.len();
            return;
        }
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push('\n');
        }
        let room = MAX_TEXT.saturating_sub(self.text.len());
        self.omitted += text.len().saturating_sub(room);
        self.text.push_str(&clean::paragraph(text, room));
    }

    /// Data other than images is only named.
    fn push_data(&mut self, mime: &str, data: &str) {
        let bytes: usize = self.images.iter().map(|image| image.data.len()).sum();
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
        let is_image = IMAGES.contains(&mime) && data.bytes().all(is_base64);
        let fits = bytes + data.len() <= MAX_IMAGES && self.images.len() < MAX_IMAGE_COUNT;
        if is_image && fits {
            self.images.push(Image { mime: mime.to_owned(), data: data.to_owned() });
        } else {
            self.omitted += data.len();
            let mime = clean::line(mime, 100);
            self.push_text(&format!("[{mime}, {}, left out]", size(data.len() / 4 * 3)));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_of_each_kind_are_read_and_the_unknown_are_counted() {
        let content = of_call(&json!({
            "isError": true,
            "content": [
                {"type": "text", "text": "a\u{1b}[31mb\u{202e}"},
                {"type": "image", "mimeType": "image/png", "data": "aGk="},
                {"type": "audio", "mimeType": "audio/wav", "data": "aGkh"},
                {"type": "resource_link", "name": "n\n", "uri": "file:///x"},
                {"type": "resource", "resource": {"uri": "x", "text": "inside"}},
                {"type": "resource", "resource": {"uri": "x", "blob": "not base64!", "mimeType": "image/png"}},
                {"type": "hologram"}, 7
            ]
        }));
        assert!(content.text.starts_with("ab\\u{202e}\n[audio/wav"), "{}", content.text);
        assert!(content.text.contains("[n](file:///x)\ninside\n[image/png"), "{}", content.text);
        assert_eq!(content.images, [Image { mime: "image/png".into(), data: "aGk=".into() }]);
        assert!(content.is_error && content.omitted > 0);
    }

    #[test]
    fn a_result_of_any_size_is_within_its_limit() {
        let long = "x".repeat(MAX_TEXT);
        let block = json!({"type": "text", "text": long});
        let picture =
            json!({"type": "image", "mimeType": "image/png", "data": "A".repeat(MAX_IMAGES)});
        let content = of_call(&json!({"content": [block, block, picture, picture]}));
        assert!(content.text.len() <= MAX_TEXT, "{}", content.text.len());
        assert_eq!(content.images.len(), 1);
        assert!(content.omitted >= MAX_TEXT + MAX_IMAGES);
    }

    #[test]
    fn structured_content_counts_where_there_is_no_other() {
        let structured = json!({"n": 1});
        let alone = of_call(&json!({"content": [], "structuredContent": structured}));
        assert_eq!(alone.text, r#"{"n":1}"#);
        let repeated = json!({"content": [{"type": "text", "text": "n is 1"}], "structuredContent": structured});
        assert_eq!(of_call(&repeated).text, "n is 1");
        assert_eq!(of_call(&json!(null)), McpContent::default());
    }

    #[test]
    fn the_messages_of_a_prompt_are_one_text() {
        let message = |role: &str, text: &str| json!({"role": role, "content": {"type": "text", "text": text}});
        let result =
            json!({"messages": [message("user", "Review this."), message("assistant", "Yes.")]});
        assert_eq!(of_prompt(&result).text, "Review this.\nAssistant:\nYes.");
    }
}
