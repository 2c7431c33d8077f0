//! Which request is tried next.

use super::*;
use crate::ToolSchema;
use crate::wire::capability_cache::CapabilityCache;
use crate::wire::chat::ChatCompletions;
use crate::wire::format::{WireCall, WireFormat};
use avocet_core::protocol::{Image, Message, Params, Provider};

fn body(model: &str, request: &Request, features: RequestFeatures) -> Value {
    let (provider, host) = (Provider::OpenAi, "server.example");
    ChatCompletions.body(&WireCall { provider, host, model, request, features })
}

#[test]
fn a_server_that_accepts_one_system_message_gets_one() {
    let mut request = request();
    request.messages.insert(1, Message::system("summary"));
    let said = ServerMessage::from_body("System message must be at the beginning.", None);
    let step = RequestFeatures::default().step_down(&request, 400, &said);
    assert_eq!(step, Some(Downgrade::Named(RequestFeatures::ONE_SYSTEM)));
    let none = RequestFeatures::ONE_SYSTEM.with(RequestFeatures::NO_SYSTEM);
    let step = RequestFeatures::ONE_SYSTEM.step_down(&request, 400, &said);
    assert_eq!(step, Some(Downgrade::Named(none)));
    assert_eq!(none.step_down(&request, 400, &said), None);
    let sent = body("m", &request, RequestFeatures::ONE_SYSTEM);
    assert_eq!(sent["messages"][0]["content"], "s\n\nsummary");
    assert_eq!(sent["messages"].as_array().map(Vec::len), Some(2));
}

#[test]
fn what_the_account_may_not_changes_nothing() {
    for message in [
        "User location is not supported for the API use.",
        "Your organization must be verified to stream this model: unsupported_value",
    ] {
        assert_eq!(refused(RequestFeatures::default(), 400, message), None, "{message}");
    }
    let named = |part| Some(Downgrade::Named(part));
    let store = refused(RequestFeatures::default(), 400, "Unknown parameter: 'store'.");
    assert_eq!(store, named(RequestFeatures::NO_STORE));
    let schema = "Unknown name \"parametersJsonSchema\": Cannot find field.";
    let schema = refused(RequestFeatures::default(), 400, schema);
    assert_eq!(schema, named(RequestFeatures::OLD_SCHEMA));
}

fn request() -> Request {
    Request {
        messages: vec![Message::system("s"), Message::user("u")],
        params: Params { max_tokens: Some(9), temperature: Some(0.5), ..Params::default() },
        schema: Some(json!({ "type": "object" }).into()),
        ..Request::default()
    }
}

/// ISDK-110, 111: biases by text are for servers that accept them.
#[test]
fn isdk_110_biases_by_text_go_to_servers_that_accept_them() {
    let mut request = request();
    request.params.more.insert(BIAS.into(), json!([["happy", 0.2], ["bad", false]]));
    let near = CapabilityCache::for_server(true).features();
    assert_eq!(body("m", &request, near)[BIAS], json!([["happy", 0.2], ["bad", false]]));
    assert!(body("m", &request, CapabilityCache::for_server(false).features()).get(BIAS).is_none());
    let said = ServerMessage::from_body("logit_bias must be an object", None);
    let step = near.step_down(&request, 400, &said);
    assert_eq!(step, Some(Downgrade::Named(RequestFeatures::NO_BIAS)));
    assert!(body("m", &request, RequestFeatures::NO_BIAS).get(BIAS).is_none());
    request.params.more.insert(BIAS.into(), json!({"15": 1}));
    assert_eq!(body("m", &request, RequestFeatures::NO_BIAS)[BIAS], json!({"15": 1}));
    assert_eq!(near.step_down(&request, 400, &said), None);
}

fn refused(shape: RequestFeatures, status: u16, message: &str) -> Option<Downgrade> {
    let said = ServerMessage::from_body(message, None);
    shape.step_down(&request(), status, &said)
}

#[test]
fn the_first_request_has_every_optional_part() {
    assert_eq!(
        body("m", &request(), RequestFeatures::default()),
        json!({
            "model": "m",
            "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
            "stream": true,
            "temperature": 0.5,
            "max_tokens": 9,
            "stream_options": {"include_usage": true},
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": {"type": "object"}},
            },
        })
    );
}

#[test]
fn the_format_steps_down_one_level_at_a_time() {
    let first = refused(RequestFeatures::default(), 400, "json_schema is not available");
    assert_eq!(first, Some(Downgrade::Named(RequestFeatures::NO_SCHEMA)));
    let second = refused(RequestFeatures::NO_SCHEMA, 422, "'response_format.type' must be text");
    assert_eq!(
        second,
        Some(Downgrade::Named(RequestFeatures::NO_SCHEMA.with(RequestFeatures::NO_OBJECT)))
    );
    let bottom = RequestFeatures::NO_SCHEMA.with(RequestFeatures::NO_OBJECT);
    assert_eq!(refused(bottom, 400, "response_format"), None);
    assert!(body("m", &request(), bottom).get("response_format").is_none());
}

#[test]
fn an_unrelated_error_changes_nothing() {
    for (status, message) in [
        (401, "response_format"),
        (400, "temperature must be below 2"),
        (500, "out of memory"),
        (429, "unknown"),
    ] {
        assert_eq!(
            refused(RequestFeatures::default(), status, message),
            None,
            "{status} {message}"
        );
    }
}

#[test]
fn a_vague_refusal_leads_to_one_plain_request() {
    let plain = refused(RequestFeatures::default(), 400, "Unrecognized request argument");
    assert_eq!(plain, Some(Downgrade::Guessed(RequestFeatures::PLAIN)));
    assert_eq!(refused(RequestFeatures::PLAIN, 400, "Unrecognized request argument"), None);
}

#[test]
fn usage_and_the_limits_newer_name_step_down_separately() {
    let usage = refused(RequestFeatures::default(), 400, "unknown field stream_options");
    assert_eq!(usage, Some(Downgrade::Named(RequestFeatures::NO_USAGE)));
    let limit = refused(RequestFeatures::default(), 400, "Use 'max_completion_tokens' instead.");
    assert_eq!(limit, Some(Downgrade::Named(RequestFeatures::NEW_LIMIT)));
    let sent = body("m", &request(), RequestFeatures::NEW_LIMIT);
    assert_eq!((sent.get("max_tokens"), &sent["max_completion_tokens"]), (None, &json!(9)));
}

#[test]
fn a_server_without_tools_is_recognised_and_a_mistake_in_a_call_is_not() {
    let tool = ToolSchema {
        name: "shell".into(),
        description: "Runs.".into(),
        parameters: json!({ "type": "object" }),
    };
    let request = Request { tools: [tool].into(), ..request() };
    let step = |status, message: &str| {
        let said = ServerMessage::from_body(message, None);
        RequestFeatures::default().step_down(&request, status, &said)
    };
    for (status, message) in [
        (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
        (404, "No endpoints found that support tool use."),
        (500, "tools param requires --jinja flag"),
        (400, "\"auto\" tool choice requires --enable-auto-tool-choice to be set"),
        (400, "This model does not support function calling"),
        (422, "Unrecognized request argument supplied: tools"),
    ] {
        assert_eq!(step(status, message), Some(Downgrade::NoTools), "{message}");
    }
    for message in [
        "tool_use ids were found without tool_result blocks immediately after",
        "Invalid schema for function 'shell': unknown type",
        "An assistant message with 'tool_calls' must be followed by tool messages",
    ] {
        assert_ne!(step(400, message), Some(Downgrade::NoTools), "{message}");
    }
    let clash = "Function tools with reasoning_effort are not supported for m in \
                 /v1/chat/completions. Set reasoning_effort to 'none'.";
    assert_eq!(step(400, clash), Some(Downgrade::Named(RequestFeatures::EFFORT_NONE)));
    let sent = body("m", &request, RequestFeatures::EFFORT_NONE);
    assert_eq!(sent["reasoning_effort"], "none");
}

#[test]
fn a_server_that_cannot_be_told_how_much_to_think_is_not_told() {
    let request = Request { effort: Some(Effort::High), ..request() };
    let said = ServerMessage::from_body("\"llama3\" does not support thinking", None);
    let step = RequestFeatures::default().step_down(&request, 400, &said);
    assert_eq!(step, Some(Downgrade::Named(RequestFeatures::NO_EFFORT)));
    assert!(body("m", &request, RequestFeatures::NO_EFFORT).get("reasoning_effort").is_none());
}

#[test]
fn a_parameter_that_is_named_is_left_out_and_said() {
    let params = Params { temperature: Some(0.2), top_p: Some(0.9), ..Params::default() };
    let more = json!({ "min_p": 0.1 });
    let more = more.as_object().cloned().unwrap_or_default();
    let request = Request { params: Params { more, ..params }, ..request() };
    for (body, name) in [
        (
            r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this model.","param":"temperature"}}"#,
            "temperature",
        ),
        (r#"{"error":{"message":"`top_p` is deprecated for this model."}}"#, "top_p"),
        (r#"{"error":{"message":"Unsupported parameter","param":"min_p"}}"#, "min_p"),
    ] {
        let said = ServerMessage::from_body(body, None);
        let features = RequestFeatures::default();
        let Some(Downgrade::Named(next)) = features.step_down(&request, 400, &said) else {
            panic!("{body}")
        };
        let (before, after) =
            (param_names(&request.params), param_names(&next.trim(&request).params));
        let lost: Vec<&String> = before.iter().filter(|name| !after.contains(name)).collect();
        assert_eq!(lost, [name], "{body}");
        let told = next.describe_lost(features).map(|say| say.to_string());
        assert_eq!(told.is_some_and(|told| told.contains(name)), name != "min_p", "{name}");
    }
}

#[test]
fn a_field_that_was_not_sent_costs_no_part_of_the_request() {
    let tool = ToolSchema {
        name: "shell".into(),
        description: "Runs.".into(),
        parameters: json!({ "type": "object" }),
    };
    let request = Request { effort: Some(Effort::High), tools: [tool].into(), ..request() };
    let sent = body("m", &request, RequestFeatures::default());
    let step = |message: &str| {
        let said = ServerMessage::from_body(message, None).about(&sent);
        RequestFeatures::default().step_down(&request, 400, &said)
    };
    for message in [
        r#"{"error":{"message":"Unsupported parameter","param":"verbosity"}}"#,
        r#"{"error":{"message":"Unknown parameter: 'parallel_tool_calls'."}}"#,
        r#"{"detail":[{"type":"extra_forbidden","loc":["body","prompt_mode"],"msg":"Extra inputs are not permitted"}]}"#,
        "Unrecognized request argument supplied: context_id",
        "unknown field `prompt_id`, expected one of `messages`, `model`; reasoning models only",
        "prompt_id: Extra inputs are not permitted",
        "openai does not support parameters: ['prompt_id'], for model=m. Thinking models do",
    ] {
        assert_eq!(step(message), None, "{message}");
    }
    for message in [
        "Unknown parameter: 'reasoning_effort'.",
        // A gateway calls it by the name of its own server.
        "openai does not support parameters: ['thinking'], for model=m",
        "thinking: Extra inputs are not permitted",
    ] {
        let named = Downgrade::Named(RequestFeatures::NO_EFFORT);
        assert_eq!(step(message), Some(named), "{message}");
    }
    let tools = "Unrecognized request argument supplied: functions";
    assert_eq!(step(tools), Some(Downgrade::NoTools));
    let vague = "Unrecognized request argument";
    assert_eq!(step(vague), Some(Downgrade::Guessed(RequestFeatures::PLAIN)));
}

#[test]
fn what_only_reasoning_models_take_is_left_out_by_its_name() {
    let mut request = request();
    request.effort = Some(Effort::High);
    for (text, part) in [
        ("Encrypted content is not supported with this model.", RequestFeatures::NO_INCLUDE),
        (
            "Your organization must be verified to generate reasoning summaries.",
            RequestFeatures::NO_SUMMARY,
        ),
    ] {
        let said = ServerMessage::from_body(text, None);
        let step = RequestFeatures::default().step_down(&request, 400, &said);
        assert_eq!(step, Some(Downgrade::Named(part)), "{text}");
    }
}

#[test]
fn images_that_are_refused_are_left_out_and_others_stay() {
    let image =
        |data: &str| ContentBlock::Image(Image { mime: "image/png".into(), data: data.into() });
    let mut request = request();
    request.messages[1].blocks.push(image("b2xk"));
    let cache = CapabilityCache::default();
    let features = cache.features();
    cache.accept(features, &cache.fit(&request, features));
    request.messages[1].blocks.push(image("bmV3"));
    let said = ServerMessage::from_body("image exceeds 5 MB", None);
    let sent = cache.fit(&request, features).into_owned();
    assert_eq!(features.step_down(&sent, 400, &said), Some(Downgrade::NoImages));
    cache.refuse_images(&sent);
    let images = |request: &Request| {
        let blocks = &request.messages[1].blocks;
        blocks.iter().filter(|block| matches!(block, ContentBlock::Image(_))).count()
    };
    let sent = cache.fit(&request, features).into_owned();
    assert_eq!(images(&sent), 1, "the one that was accepted before");
    assert_eq!(features.step_down(&sent, 400, &said), Some(Downgrade::NoImages));
    cache.refuse_images(&sent);
    let sent = cache.fit(&request, features).into_owned();
    assert_eq!((images(&sent), features.step_down(&sent, 400, &said)), (0, None));
}
