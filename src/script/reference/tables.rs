//! The forms of texts, and the limits of a run, each with what it means.

use crate::js::MAX_SECONDS;
use crate::run::dialogue::MAX_LINES;
use crate::run::limits::{MAX_CALLS, MAX_CALLS_DEPTH, MAX_DEPTH, MAX_ROUNDS, MAX_STEPS};
use crate::{directive, syntax, template, wasm};
use avocet_core::i18n::{Phrase, script_help as docs};

/// A form of text: how it is written, and what it means.
#[derive(Clone, Copy, Debug)]
pub struct SyntaxForm {
    pub form: &'static str,
    pub about: Phrase,
}

const fn form(form: &'static str, phrase: Phrase) -> SyntaxForm {
    SyntaxForm { form, about: phrase }
}

/// The prefixes of a text.
pub const PREFIXES: &[SyntaxForm] = &[
    form("?=a + 1", docs::PREFIX_EXPRESSION),
    form("~text", docs::PREFIX_RAW),
    form("#text", docs::PREFIX_NOW),
    form("#:[-1:role]text", docs::PREFIX_REPLACE),
    form("#+[0:role]text", docs::PREFIX_INSERT),
];

/// The marks inside a text.
pub const MARKS: &[SyntaxForm] = &[
    form("[[NAME]]", docs::MARK_ANSWER),
    form("[[NAME:temperature=0.2]]", docs::MARK_PARAMETERS),
    form("[[NAME:|yes|no]]", docs::MARK_CHOICE),
    form("[[NAME:|red|blue:random]]", docs::MARK_RANDOM),
    form("[[@script(input=1)]]", docs::MARK_SCRIPT),
    form("[[@$name(1)]]", docs::MARK_DIRECTIVE),
    form("[[/a(.+)b/i:NAME:1]]", docs::MARK_PATTERN),
    form("@role(PM), text", docs::MARK_ADDRESS),
    form("((word:20%))", docs::MARK_BIAS),
];

/// What ends a run that exceeds it.
pub const LIMITS: &[(Phrase, usize)] = &[
    (docs::LIMIT_SIZE, syntax::MAX_BYTES >> 20),
    (docs::LIMIT_INSTRUCTIONS, MAX_STEPS),
    (docs::LIMIT_TURNS, directive::MAX_TURNS),
    (docs::LIMIT_CALLS, MAX_CALLS),
    (docs::LIMIT_DEPTH, MAX_DEPTH),
    (docs::LIMIT_NESTED, MAX_CALLS_DEPTH),
    (docs::LIMIT_MESSAGES, MAX_LINES),
    (docs::LIMIT_LEVELS, syntax::MAX_DEPTH),
    (docs::LIMIT_EXPRESSION, MAX_SECONDS as usize),
    (docs::LIMIT_RENDERED, template::MAX_OUTPUT >> 20),
    (docs::LIMIT_TOOL_ROUNDS, MAX_ROUNDS),
    (docs::LIMIT_WASM_MEMORY, wasm::MEMORY >> 20),
    (docs::LIMIT_TEMPLATE, template::MAX_LENGTH >> 10),
];
