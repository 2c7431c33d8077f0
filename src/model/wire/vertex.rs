//! Models of Google's Vertex AI: Anthropic's in their own format, Gemini as Google has it elsewhere.

use serde_json::Value;

use super::anthropic::{self, Messages};
use super::format::{WireCall, WireFormat, WireReader};
use super::gemini::GenerateContent;

#[derive(Debug)]
pub(super) struct Vertex;

/// The version of Anthropic's format there.
const ANTHROPIC_VERSION: &str = "vertex-2023-10-16";

fn is_anthropic(model: &str) -> bool {
    model.starts_with("claude-")
}

impl WireFormat for Vertex {
    fn path(&self, model: &str) -> String {
        if is_anthropic(model) {
            format!("publishers/anthropic/models/{model}:streamRawPredict")
        } else {
            format!("publishers/google/{}", GenerateContent.path(model))
        }
    }

    fn body(&self, call: &WireCall<'_>) -> Value {
        if !is_anthropic(call.model) {
            return GenerateContent.body(call);
        }
        let mut body = anthropic::hosted_body(call, ANTHROPIC_VERSION);
        body["stream"] = true.into();
        body
    }

    fn reader(&self, call: &WireCall<'_>) -> Box<dyn WireReader> {
        if is_anthropic(call.model) { Messages.reader(call) } else { GenerateContent.reader(call) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{call, conversation};
    use super::*;
    use avocet_core::protocol::Provider;

    #[test]
    fn each_publisher_has_its_own_path_and_format() {
        let request = conversation(Provider::Vertex, [None, None, None]);
        let claude = Vertex.body(&call(Provider::Vertex, "claude-sonnet-4-5@20250929", &request));
        assert_eq!(claude["anthropic_version"], ANTHROPIC_VERSION);
        assert_eq!((&claude["stream"], claude.get("model")), (&Value::Bool(true), None));
        let gemini = Vertex.body(&call(Provider::Vertex, "gemini-3.1-pro", &request));
        assert!(gemini["contents"].is_array());
        assert_eq!(
            Vertex.path("claude-sonnet-4-5@20250929"),
            "publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict"
        );
        assert_eq!(
            Vertex.path("gemini-3.1-pro"),
            "publishers/google/models/gemini-3.1-pro:streamGenerateContent?alt=sse"
        );
    }
}
