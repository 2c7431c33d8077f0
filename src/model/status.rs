//! Maps an HTTP status of a model server to an error. Pure: status, headers and body in, a
//! [`ModelError`] out.

use std::time::Duration;

use super::error_body::ServerMessage;
use super::{ModelError, RetryAdvice};

/// The server and model an error is about, as the user knows them.
#[derive(Clone, Copy, Debug)]
pub(super) struct ErrorContext<'a> {
    /// Without user, password or query.
    pub url: &'a str,
    /// Empty if the request named none.
    pub model: &'a str,
    /// Where the key comes from; `has_key` says whether there was one.
    pub key_name: &'a str,
    pub has_key: bool,
    /// A server of this machine or network.
    pub is_near: bool,
}

/// The error for a response with this status.
pub(super) fn error_for_status(
    cx: ErrorContext<'_>,
    status: u16,
    after: Option<Duration>,
    message: &ServerMessage,
) -> ModelError {
    let url = cx.url.to_owned();
    let model = cx.model.to_owned();
    let key = cx.key_name.to_owned();
    let text = message.text.clone();
    match status {
        401 if cx.has_key => ModelError::KeyWrong { url, key, said: text },
        401 => ModelError::KeyMissing { url, key },
        402 => ModelError::Unpaid { url, said: text },
        403 if cx.has_key && message.mentions(EXPIRED) => {
            ModelError::KeyWrong { url, key, said: text }
        }
        403 => ModelError::Forbidden { url, model, said: text },
        404 if !model.is_empty() && message.mentions(&["model"]) => {
            ModelError::NoModel { url, model, said: text }
        }
        404 => ModelError::NoEndpoint { url, said: text },
        429 if after.is_none() && is_unpaid(message) => ModelError::Unpaid { url, said: text },
        429 => ModelError::Busy { url, after: after.or(message.pause), said: text },
        500 if is_too_long(message) => ModelError::TooLong { model, said: text },
        503 if cx.is_near && message.mentions(LOADING) => ModelError::Loading { url, said: text },
        408 | 409 | 425 | 500.. => ModelError::Faulty { url, status, after, said: text },
        400..=499 => rejected(cx, status, message),
        _ => ModelError::Foreign { url, said: text },
    }
}

fn rejected(cx: ErrorContext<'_>, status: u16, message: &ServerMessage) -> ModelError {
    let url = cx.url.to_owned();
    let model = cx.model.to_owned();
    let text = message.text.clone();
    if status == 413 || is_too_long(message) {
        ModelError::TooLong { model, said: text }
    } else if is_unpaid(message) {
        ModelError::Unpaid { url, said: text }
    } else if message.mentions(NO_MODEL) {
        ModelError::NoModel { url, model, said: text }
    } else if message.mentions(&["invalid_api_key", "api key not valid", "incorrect api key"]) {
        ModelError::KeyWrong { url, key: cx.key_name.to_owned(), said: text }
    } else {
        ModelError::Rejected { url, status, said: text }
    }
}

/// An account without money; some call a limit that passes by the same words, and say when.
fn is_unpaid(message: &ServerMessage) -> bool {
    message.mentions(UNPAID) && message.pause.is_none()
}

const UNPAID: &[&str] = &[
    "insufficient_quota",
    "insufficient balance",
    "credit balance",
    "exceeded your current",
    "exceeded_current",
    "spend_limit",
    "arrearage",
    "account is suspended",
    "余额不足",
    "欠费",
];

/// Whether the server says that the messages do not fit: in words of its own, or that what is sent
/// to a model is too long.
fn is_too_long(message: &ServerMessage) -> bool {
    let is_of_messages = message.mentions(SENT) && !message.mentions(OTHER_LENGTHS);
    message.mentions(TOO_LONG) || is_of_messages && message.mentions(EXCESS)
}

/// How servers name what is sent to a model.
const SENT: &[&str] = &[
    "prompt",
    "context",
    "input length",
    "input tokens",
    "`inputs`",
    "messages have",
    "max_seq_len",
    "max_model_len",
    "输入长度",
];

/// How they say that something is too long.
const EXCESS: &[&str] = &[
    "too long",
    "too large",
    "exceed",
    "longer than",
    "greater than",
    "less than",
    "must be <=",
    "overflow",
    "超长",
    "超过",
];

/// What else may be too long.
const OTHER_LENGTHS: &[&str] =
    &["string too long", "image", "per minute", "rate limit", "quota", "output tokens", "deadline"];

/// How servers say that the model is not ready yet.
const LOADING: &[&str] =
    &["loading model", "loading the model", "model is loading", "is currently loading"];

/// How servers say that the messages do not fit.
const TOO_LONG: &[&str] = &[
    "context_length",
    "context length",
    "context window",
    "context size",
    "maximum context",
    "too many tokens",
    "input token count",
    "maximum prompt length",
    "reduce the length of",
    "exceeds the limit of",
    "exceeded model token limit",
    "input is too long",
    "exceed_context_size",
    "exceed max message tokens",
    "exceeds max length",
    "expected maxlength",
    "range of input length",
    "contextwindowexceeded",
];

/// How servers say with a 400 that they do not have the model.
const NO_MODEL: &[&str] = &[
    "model_not_found",
    "model not found",
    "unknown model",
    "invalid model",
    "not a valid model",
    "model identifier is invalid",
    "on-demand throughput",
];

/// How AWS says that credentials are over, or are none.
const EXPIRED: &[&str] = &[
    "security token included",
    "signature expired",
    "signature we calculated",
    "token has expired",
];

/// How servers name an error that passes.
const PASSING: &[&str] = &[
    "rate_limit",
    "overloaded",
    "server_error",
    "unavailable",
    "resource_exhausted",
    "api_error",
    "timeout_error",
    "try again",
    "throttling",
    "internalserver",
    "modelstreamerror",
];

/// An error inside a response that began successfully.
pub(super) fn reported_error(cx: ErrorContext<'_>, message: ServerMessage) -> ModelError {
    let url = cx.url.to_owned();
    if is_too_long(&message) {
        return ModelError::TooLong { model: cx.model.to_owned(), said: message.text };
    }
    if is_unpaid(&message) {
        return ModelError::Unpaid { url, said: message.text };
    }
    let by_status = message.status.is_some_and(|status| {
        matches!(error_for_status(cx, status, None, &message).retry_advice(), RetryAdvice::Soon(_))
    });
    let after = message.pause;
    let passing = by_status || after.is_some() || message.mentions(PASSING);
    ModelError::Reported { url, said: message.text, passing, after }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_names_the_remedy() {
        let cases = [
            (401, r#"{"error":"x"}"#, "KeyWrong"),
            (402, "", "Unpaid"),
            (403, "", "Forbidden"),
            (404, r#"{"error":{"message":"The model `m` does not exist"}}"#, "NoModel"),
            (404, "<html>", "NoEndpoint"),
            (400, r#"{"error":{"code":"context_length_exceeded"}}"#, "TooLong"),
            (400, r#"{"error":{"message":"bad temperature"}}"#, "Rejected"),
            (400, r#"{"error":{"message":"API key not valid"}}"#, "KeyWrong"),
            (429, r#"{"error":{"code":"insufficient_quota"}}"#, "Unpaid"),
            (429, "", "Busy"),
            (409, "", "Faulty"),
            (503, "", "Faulty"),
            (418, "", "Rejected"),
        ];
        let party =
            ErrorContext { url: "u", model: "m", key_name: "K", has_key: true, is_near: true };
        for (status, body, expected) in cases {
            let error = format!(
                "{:?}",
                error_for_status(party, status, None, &ServerMessage::from_body(body, None))
            );
            assert!(error.starts_with(expected), "{status} {body}: {error}");
        }
    }

    #[test]
    fn what_is_too_long_is_told_from_what_is_too_much() {
        let party =
            ErrorContext { url: "u", model: "m", key_name: "K", has_key: true, is_near: true };
        let kind = |status: u16, said: &str| {
            let said = ServerMessage::from_body(said, None);
            format!("{:?}", error_for_status(party, status, None, &said))
        };
        for (status, said) in [
            (
                400,
                "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
            ),
            (500, "the request exceeds the available context size"),
            (500, "prompt too long; exceeded max context length by 4 tokens"),
            (
                422,
                "`inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9001 `inputs` tokens",
            ),
            (422, "Input validation error: `inputs` must have less than 8192 tokens. Given: 9001"),
            (400, "Malformed input request: expected maxLength: 8192, actual: 9001"),
            (400, "Total tokens of image and text exceed max message tokens."),
            (400, "Prompt 超长"),
            (400, "输入长度超过模型限制"),
            (400, "Input length 9001 exceeds the maximum length 8192"),
            (400, "length of prompt_tokens (9001) must be less than max_seq_len (8192)."),
            (400, "Messages have 9001 tokens, which exceeds the max limit of 8192 tokens."),
            (400, "Prompt length 9001 is greater than max_seq_len 8192"),
            (
                400,
                r#"{"error":{"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 9001 tokens > 8192 maximum\"}}"}}}"#,
            ),
        ] {
            assert!(kind(status, said).starts_with("TooLong"), "{said}: {}", kind(status, said));
        }
        let far_behind = format!("{} This exceeds the context length.", "x".repeat(400));
        assert!(kind(400, &far_behind).starts_with("TooLong"));
        for said in [
            "Invalid 'input[3].id': string too long. Expected a string with maximum length 64.",
            "image exceeds 5 MB maximum",
            "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens",
        ] {
            assert!(kind(400, said).starts_with("Rejected"), "{said}: {}", kind(400, said));
        }
        for (status, said) in [
            (400, "Your credit balance is too low to access the Anthropic API."),
            (400, r#"{"error":{"code":"Arrearage","message":"Access denied"}}"#),
            (429, r#"{"error":{"code":"1113","message":"余额不足或无可用资源包,请充值。"}}"#),
        ] {
            assert!(kind(status, said).starts_with("Unpaid"), "{said}: {}", kind(status, said));
        }
    }

    #[test]
    fn errors_in_an_answer_have_the_same_remedies_as_before_it() {
        let party =
            ErrorContext { url: "u", model: "m", key_name: "K", has_key: true, is_near: false };
        let error = |body: &str| reported_error(party, ServerMessage::from_body(body, None));
        let long = error(r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#);
        assert!(matches!(long, ModelError::TooLong { .. }), "{long:?}");
        let quota = error(r#"{"error":{"code":"insufficient_quota","message":"x"}}"#);
        assert!(matches!(quota, ModelError::Unpaid { .. }), "{quota:?}");
        let busy = error(
            r#"{"error":{"message":"You exceeded your current quota. Please retry in 2s."}}"#,
        );
        let after = Some(Duration::from_secs(2));
        assert!(matches!(busy, ModelError::Reported { passing: true, after: a, .. } if a == after));
    }

    #[test]
    fn a_near_server_that_loads_its_model_is_waited_for() {
        let said = ServerMessage::from_body(r#"{"error":{"message":"Loading model"}}"#, None);
        let error = |is_near| {
            let party =
                ErrorContext { url: "u", model: "m", key_name: "K", has_key: true, is_near };
            error_for_status(party, 503, None, &said)
        };
        assert!(matches!(error(true), ModelError::Loading { .. }));
        assert!(matches!(error(false), ModelError::Faulty { .. }));
    }

    #[test]
    fn a_401_without_a_key_asks_for_one() {
        let party =
            ErrorContext { url: "u", model: "m", key_name: "K", has_key: false, is_near: true };
        let error = error_for_status(party, 401, None, &ServerMessage::default());
        assert_eq!(error, ModelError::KeyMissing { url: "u".into(), key: "K".into() });
    }
}
