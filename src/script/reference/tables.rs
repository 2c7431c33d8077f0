//! The forms of texts, and the limits of a run, each with what it means.

use crate::js::MOST_SECONDS;
use crate::run::dialogue::MOST_LINES;
use crate::run::limits::{DEEPEST, DEEPEST_CALLS, MOST_CALLS, MOST_ROUNDS, MOST_STEPS};
use crate::{directive, syntax, template, wasm};
use avocet_core::i18n::{Phrase, script_help as docs};

/// A form of text: how it is written, and what it means.
#[derive(Clone, Copy, Debug)]
pub struct SyntaxForm {
    pub form: &'static str,
    pub about: Phrase,
}

const fn form(form: &'static str, about: Phrase) -> SyntaxForm {
    SyntaxForm { form, about }
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
    (docs::LIMIT_SIZE, syntax::MOST >> 20),
    (docs::LIMIT_INSTRUCTIONS, MOST_STEPS),
    (docs::LIMIT_TURNS, directive::MOST_TURNS),
    (docs::LIMIT_CALLS, MOST_CALLS),
    (docs::LIMIT_DEPTH, DEEPEST),
    (docs::LIMIT_NESTED, DEEPEST_CALLS),
    (docs::LIMIT_MESSAGES, MOST_LINES),
    (docs::LIMIT_LEVELS, syntax::DEEPEST),
    (docs::LIMIT_EXPRESSION, MOST_SECONDS as usize),
    (docs::LIMIT_RENDERED, template::MOST_OUTPUT >> 20),
    (docs::LIMIT_TOOL_ROUNDS, MOST_ROUNDS),
    (docs::LIMIT_WASM_MEMORY, wasm::MEMORY >> 20),
    (docs::LIMIT_TEMPLATE, template::LONGEST >> 10),
];
