//! The catalogue: every sentence that users read, in English and in Chinese.
//!
//! A row has both languages, so a missing translation does not compile, and a sentence is named by
//! a constant, so a missing key does not either. Lower layers return a [`LocalizedText`] (a word
//! and its values); only a user interface turns it into text, in the language set at that moment.
//!
//! The rows are here and not in files under `assets/`, because a key that is a Rust name is checked
//! by the compiler, and two files can drift apart. Text for the model is in `assets/prompts`
//! instead.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// Defines the rows of one area: the constants, and the table that the tests read.
macro_rules! words {
    ($area:literal: $($(#[$doc:meta])* $name:ident: $en:literal, $zh:literal;)*) => {
        $($(#[$doc])* pub const $name: $crate::i18n::Phrase =
            $crate::i18n::Phrase { key: concat!($area, ".", stringify!($name)), en: $en, zh: $zh };)*
        pub(super) const ALL: &[$crate::i18n::Phrase] = &[$($name),*];
    };
}

pub mod acp;
pub mod agent;
pub mod agents;
pub mod batch;
pub mod chat;
pub mod cli;
pub mod commands;
pub mod common;
pub mod config;
pub mod context;
pub mod eval;
pub mod exec;
pub mod gateway;
pub mod goal;
pub mod guide;
pub mod help;
pub mod hooks;
pub mod import;
pub mod input;
pub mod keys;
pub mod library;
pub mod linear;
pub mod lsp;
pub mod mcp;
pub mod mcp_pages;
pub mod model;
pub mod prompt;
pub mod protocol;
pub mod review;
pub mod rules;
pub mod safety;
pub mod sandbox;
pub mod screen;
pub mod script;
pub mod script_help;
pub mod script_run;
pub mod self_update;
pub mod session;
pub mod settings;
pub mod side;
pub mod store;
pub mod temp;
pub mod tools;
pub mod web;
pub mod worktrees;

/// Every area of the catalogue.
const AREAS: &[&[Phrase]] = &[
    acp::ALL,
    agent::ALL,
    agents::ALL,
    batch::ALL,
    chat::ALL,
    cli::ALL,
    commands::ALL,
    common::ALL,
    config::ALL,
    context::ALL,
    eval::ALL,
    exec::ALL,
    gateway::ALL,
    goal::ALL,
    guide::ALL,
    hooks::ALL,
    import::ALL,
    input::ALL,
    keys::ALL,
    library::ALL,
    linear::ALL,
    lsp::ALL,
    mcp::ALL,
    mcp_pages::ALL,
    model::ALL,
    prompt::ALL,
    protocol::ALL,
    review::ALL,
    rules::ALL,
    safety::ALL,
    sandbox::ALL,
    screen::ALL,
    script::ALL,
    script_help::ALL,
    script_run::ALL,
    self_update::ALL,
    session::ALL,
    settings::ALL,
    side::ALL,
    store::ALL,
    temp::ALL,
    tools::ALL,
    web::ALL,
    worktrees::ALL,
];

/// All rows of the catalogue.
pub fn all() -> impl Iterator<Item = Phrase> {
    AREAS.iter().flat_map(|area| area.iter().copied())
}

/// The language of the user interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    #[default]
    En,
    Zh,
}

impl Lang {
    /// `en`, `zh`, and values of `LANG` (`zh_CN.UTF-8`); `None` for anything else.
    pub fn parse(name: &str) -> Option<Lang> {
        let name = name.to_ascii_lowercase();
        match name.split(['_', '-', '.', '@']).next() {
            Some("en" | "c" | "posix") => Some(Lang::En),
            Some("zh") => Some(Lang::Zh),
            _ => None,
        }
    }

    pub fn code(self) -> &'static str {
        match self {
            Lang::En => "en",
            Lang::Zh => "zh",
        }
    }
}

/// One sentence of the catalogue, with `{placeholders}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phrase {
    pub key: &'static str,
    pub en: &'static str,
    pub zh: &'static str,
}

impl Phrase {
    /// The sentence with one placeholder filled.
    pub fn with(self, name: &'static str, value: impl Into<PhraseValue>) -> LocalizedText {
        LocalizedText::from(self).with(name, value)
    }

    /// The sentence without filling its placeholders.
    pub fn text(self, lang: Lang) -> &'static str {
        match lang {
            Lang::En => self.en,
            Lang::Zh => self.zh,
        }
    }
}

/// A number in a sentence: `one` for exactly one, else `many` with its `{n}`.
pub fn plural(n: usize, phrase: Phrase, many: Phrase) -> LocalizedText {
    if n == 1 { phrase.into() } else { many.with("n", n) }
}

/// The value of a placeholder: plain text, or another sentence of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PhraseValue {
    Text(String),
    Say(Box<LocalizedText>),
}

impl PhraseValue {
    /// The text in one language.
    pub fn text(&self, lang: Lang) -> String {
        match self {
            PhraseValue::Text(text) => text.clone(),
            PhraseValue::Say(say) => say.text(lang),
        }
    }
}

impl From<&str> for PhraseValue {
    fn from(text: &str) -> PhraseValue {
        PhraseValue::Text(text.to_owned())
    }
}

impl From<String> for PhraseValue {
    fn from(text: String) -> PhraseValue {
        PhraseValue::Text(text)
    }
}

impl From<LocalizedText> for PhraseValue {
    fn from(text: LocalizedText) -> PhraseValue {
        PhraseValue::Say(Box::new(text))
    }
}

impl From<Phrase> for PhraseValue {
    fn from(phrase: Phrase) -> PhraseValue {
        PhraseValue::from(LocalizedText::from(phrase))
    }
}

macro_rules! value_from_number {
    ($($number:ty)*) => {
        $(impl From<$number> for PhraseValue {
            fn from(number: $number) -> PhraseValue {
                PhraseValue::Text(number.to_string())
            }
        })*
    };
}
value_from_number!(u16 u32 u64 usize i32 i64);

/// A sentence with its values, which lower layers return instead of text.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct LocalizedText {
    #[serde(rename = "key", serialize_with = "key_only")]
    word: Phrase,
    values: Vec<(String, PhraseValue)>,
}

impl LocalizedText {
    /// The same sentence with one more placeholder filled.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<PhraseValue>) -> LocalizedText {
        self.values.push((name.to_owned(), value.into()));
        self
    }

    /// The same values in another sentence.
    #[must_use]
    pub fn with_phrase(self, phrase: Phrase) -> LocalizedText {
        LocalizedText { word: phrase, ..self }
    }

    /// The value of a placeholder, if it has one.
    pub fn value(&self, name: &str) -> Option<&PhraseValue> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Itself or the first of its values, at any depth, that is this sentence.
    pub fn find(&self, phrase: Phrase) -> Option<&LocalizedText> {
        let inside = || {
            self.values.iter().find_map(|(_, value)| match value {
                PhraseValue::Say(say) => say.find(phrase),
                PhraseValue::Text(_) => None,
            })
        };
        if self.word == phrase { Some(self) } else { inside() }
    }

    /// The row of the catalogue with this sentence.
    pub fn phrase(&self) -> Phrase {
        self.word
    }

    /// The sentence in one language: `{n}` is a value, `{n:line|lines}` the word for that many.
    /// Values are inserted once and never expanded again, so a value
    /// that contains `{name}` stays unchanged.
    pub fn text(&self, lang: Lang) -> String {
        self.fill_template(self.word.text(lang), |value| value.text(lang))
    }

    /// The sentence in one language, without the backticks of our own words: what is
    /// between them is code. The backticks of a value stay text.
    pub fn parts(&self, lang: Lang) -> Vec<SentencePart> {
        let text = self.marked_text(lang);
        let parts = text.split(CODE_MARK).zip([false, true].into_iter().cycle());
        let parts = parts.filter(|(text, _)| !text.is_empty());
        parts.map(|(text, is_code)| SentencePart { text: text.to_owned(), is_code }).collect()
    }

    fn marked_text(&self, lang: Lang) -> String {
        let template = self.word.text(lang).replace('`', CODE_MARK);
        self.fill_template(&template, |value| match value {
            PhraseValue::Text(text) => text.replace(CODE_MARK, ""),
            PhraseValue::Say(say) => say.marked_text(lang),
        })
    }

    fn fill_template(&self, template: &str, value_text: impl Fn(&PhraseValue) -> String) -> String {
        fill(template, |gap| {
            let (name, forms) = gap.split_once(':').map_or((gap, None), |(n, f)| (n, Some(f)));
            let value = value_text(self.value(name)?);
            match forms.and_then(|forms| forms.split_once('|')) {
                None => Some(value),
                Some((one, many)) => Some(if value == "1" { one } else { many }.to_owned()),
            }
        })
    }
}

/// In place of a backtick of our own words; no text has this character.
const CODE_MARK: &str = "\u{fdd0}";

/// A stretch of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentencePart {
    pub text: String,
    /// Whether it is a command, a name or a setting, which our words have between backticks.
    pub is_code: bool,
}

/// Fills the `{gaps}` of a text, each gap once and from left to right; an unknown gap stays.
/// Inserted values are not expanded.
pub fn fill(template: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        match after.split_once('}').and_then(|(name, tail)| Some((value(name)?, tail))) {
            Some((value, tail)) => {
                out.push_str(&value);
                rest = tail;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

impl From<Phrase> for LocalizedText {
    fn from(phrase: Phrase) -> LocalizedText {
        LocalizedText { word: phrase, values: Vec::new() }
    }
}

/// English, for logs and for `std::error::Error`; user interfaces use [`LocalizedText::text`].
impl fmt::Display for LocalizedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Lang::En))
    }
}

impl fmt::Debug for LocalizedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Say({:?})", self.text(Lang::En))
    }
}

/// Keys with those that they had in earlier versions, so that sessions saved with them can still
/// be read.
#[rustfmt::skip]
pub const RENAMED: &[(&str, &[&str])] = &[
    // Now in the pages of the manual, or gone with what they were for; no session saves them.
    ("commands.HELP_TOPICS", &["chat.NO_PORT", "gateway.HELP_BUSY", "gateway.HELP_ENABLE", "gateway.HELP_GATEWAYS", "gateway.HELP_IN_A_CHAT", "gateway.HELP_MENU", "gateway.HELP_PAIR", "gateway.HELP_QUESTIONS", "gateway.HELP_RUN", "gateway.HELP_SETUP", "gateway.HELP_STATUS", "gateway.HELP_TOKEN", "gateway.HELP_WHO", "gateway.LEFT_ARGUMENT", "sandbox.HELP_ABOUT", "sandbox.HELP_DENIED", "sandbox.HELP_KERNELS", "sandbox.HELP_OPEN", "sandbox.HELP_OPENED", "sandbox.HELP_PUT_BACK", "sandbox.HELP_STEERING", "script_help.CHAPTERS", "script_help.GUIDE", "script_help.INTRO", "script_help.INTRO_CHAPTER", "script_help.INTRO_RUN"]),
    ("common.LABELLED", &["script_run.INPUT_DESCRIBED"]),
    ("linear.WORD_ALL", &["linear.PICK_ALL"]),
    ("linear.WORD_APPLY", &["linear.PICK_APPLY"]),
    ("linear.WORD_EDIT", &["linear.PICK_EDIT"]),
    ("linear.WORD_PROJECT", &["linear.PICK_PROJECT"]),
    ("linear.WORD_SESSION", &["linear.PICK_SESSION"]),
    ("linear.WORD_TRUST", &["linear.PICK_TRUST", "linear.PICK_TRUST_ABOVE", "linear.PICK_TRUST_FIRST"]),
    ("linear.WORD_WHY", &["linear.PICK_WORD"]),
    ("linear.WORD_YES", &["linear.PICK_RUN", "linear.PICK_GO_ON"]),
    ("linear.WORD_NO", &["linear.PICK_LEAVE", "linear.PICK_READ_ONLY"]),
    ("exec.GONE", &["exec.INTERPRETER_GONE"]),
    ("exec.NOT_PERMITTED", &["exec.INTERPRETER_CLOSED"]),
    ("exec.WRONG_FORMAT", &["exec.OTHER_MACHINE"]),
    ("common.INDENTED_WHY", &["cli.STEP_WHY", "prompt.LINE_NONE"]),
    ("common.SETTINGS", &["cli.DOCTOR_SETTINGS"]),
    ("common.HINT_EDIT", &["input.HINT_QUEUE_EDIT"]),
    ("model.NOT_CONNECTED", &["cli.NO_CONNECTION", "cli.NO_SERVER"]),
    ("model.HOW_TO_CONNECT", &["session.GUIDE_HINT"]),
    ("agent.NO_PROGRESS", &["agent.REFUSALS", "agent.REJECTIONS", "agent.SAME_FAILURE"]),
    ("agent.SAME_STEP", &["agent.SAME_RESULT"]),
    ("cli.STEP_DECLINED", &["cli.STEP_EACH_ASKS"]),
    ("cli.STEP_DECLINED_HINT", &["cli.STEP_EACH_ASKS_HINT"]),
    ("common.ABOUT_IN_USE", &["commands.IN_USE_NOW", "screen.CHOOSE_BOT_NOW"]),
    ("common.ALL_KEYS", &["commands.ABOUT_KEYS", "screen.HELP_KEYS"]),
    ("common.A_BOOLEAN", &["protocol.A_BOOLEAN", "safety.FIELD_FLAG"]),
    ("common.A_LIST", &["config.FOUND_LIST", "protocol.A_LIST", "protocol.IS_LIST", "safety.FIELD_LIST"]),
    ("common.A_STRING", &["protocol.A_STRING", "protocol.IS_STRING", "safety.FIELD_TEXT"]),
    ("common.BOT", &["commands.STATUS_BOT", "library.A_BOT"]),
    ("common.CONTINUE_ASK", &["linear.PAUSE", "screen.PAUSE_TITLE"]),
    ("common.FILES", &["guide.SOME_FILES", "screen.COUNT_FILES"]),
    ("common.FOLDER", &["cli.DOCTOR_FOLDER", "commands.STATUS_FOLDER", "safety.EXPLAIN_FOLDER", "screen.STEP_FOLDER", "screen.START_FOLDER", "screen.ASK_FOLDER"]),
    ("common.IN_USE", &["commands.IN_USE", "screen.CHOOSE_NOW", "session.MODEL_NOW"]),
    ("common.INSTRUCTIONS", &["commands.STATUS_NOTES", "context.PART_NOTES"]),
    ("common.INTERRUPTED", &["screen.STEP_INTERRUPTED", "session.STEP_INTERRUPTED"]),
    ("common.IS_FOLDER", &["safety.TOOL_IS_FOLDER", "tools.IS_FOLDER"]),
    ("common.LINES", &["guide.LINES", "prompt.SIZE_LINES"]),
    ("common.MODEL", &["commands.STATUS_MODEL", "screen.START_MODEL", "screen.ASK_MODEL_SAYS"]),
    ("common.MODEL_ASKS", &["cli.MODEL_ASKED", "linear.MODEL_ASKS"]),
    ("common.MODEL_TITLE", &["cli.DOCTOR_MODEL", "screen.CHOOSE_MODEL"]),
    ("common.NEAR", &["commands.NEAR"]),
    ("common.NOT_ENCRYPTED", &["cli.DOCTOR_EXPOSED", "commands.STATUS_EXPOSED"]),
    ("common.NOT_SAVED", &["commands.STATUS_UNSAVED", "screen.STATUS_UNSAVED"]),
    ("common.NOT_WRITTEN", &["config.NOT_SAVED", "library.NOT_SAVED"]),
    ("common.NO_PROBLEMS", &["cli.SCRIPT_SOUND", "library.CHECKED"]),
    ("common.ONE_FILE", &["guide.ONE_FILE", "screen.COUNT_FILE"]),
    ("common.ONE_LINE", &["guide.ONE_LINE", "prompt.SIZE_LINE"]),
    ("common.NO", &["chat.BUTTON_NO", "screen.PICK_REJECT", "screen.PICK_REJECT_SHORT"]),
    ("common.PROGRAM", &["safety.EXPLAIN_PROGRAM", "screen.ASK_PROGRAM"]),
    ("common.PROVIDER", &["cli.DOCTOR_PROVIDER", "commands.STATUS_PROVIDER"]),
    ("common.QUIT", &["commands.ABOUT_EXIT", "screen.PICK_LEAVE_SHORT", "screen.KEY_LEAVE"]),
    ("common.REJECT", &["linear.PICK_REJECT", "screen.HINT_REJECT"]),
    ("common.REPAIRING", &["cli.REPAIRING", "linear.REPAIRING"]),
    ("common.RUN_TESTS", &["guide.TRY_TESTS", "screen.START_TRY_TESTS"]),
    ("common.SEARCH", &["commands.ABOUT_SEARCH", "screen.KEY_SEARCH"]),
    ("common.SEARCHING", &["input.FILES_LOOKING", "screen.SEARCH_READING"]),
    ("common.SERVER", &["cli.DOCTOR_SERVER", "commands.STATUS_SERVER"]),
    ("common.SESSIONS", &["screen.CHOOSE_SESSION", "session.SESSIONS"]),
    ("common.STOPPED", &["linear.STOPPED", "screen.ENDED_STOPPED"]),
    ("common.STOP_HERE", &["linear.PICK_HALT", "screen.HINT_HALT"]),
    ("common.STOP_TURN", &["linear.PICK_STOP", "screen.HINT_STOP_TURN"]),
    ("common.STRINGS", &["protocol.STRINGS", "safety.FIELD_TEXTS"]),
    ("common.TOKENS", &["commands.STATUS_TOKENS", "context.LEDGER_TOKENS"]),
    ("common.TOKEN_COUNTS", &["commands.TOKENS", "session.USAGE_TOKENS"]),
    ("common.TOKEN_ESTIMATE", &["commands.TOKENS_ESTIMATED", "session.USAGE_ABOUT"]),
    ("common.TRUST_ASK", &["linear.TRUST_FIRST", "screen.ASK_TRUST"]),
    ("common.TRUST_PARENT", &["linear.TRUST_ABOVE", "screen.TRUST_ABOVE"]),
    ("config.A_FLAG", &["config.FOUND_FLAG"]),
    ("context.PART_SUMMARY", &["context.RECEIPT_SUMMARY"]),
    ("protocol.AN_OBJECT", &["protocol.IS_OBJECT"]),
    ("protocol.NEITHER", &["protocol.NO_SHELL"]),
    ("safety.PROGRAM_ADDED", &["safety.PROGRAM_LISTED"]),
    ("sandbox.LIMIT_MOVES", &["sandbox.DOCTOR_MOVES"]),
    ("sandbox.LIMIT_SIGNALS", &["sandbox.DOCTOR_SIGNALS", "sandbox.SIGNALS_HELD"]),
    ("sandbox.WITHOUT_SIGNALS", &["sandbox.SIGNALS_FREE"]),
    ("screen.ASK_COUNT", &["screen.ASK_REST"]),
    ("screen.PICK_APPLY_EDITS", &["linear.PICK_APPLY_EDITS", "linear.PICK_APPLY_PROJECT", "linear.PICK_APPLY_SESSION", "screen.PICK_APPLY_PROJECT", "screen.PICK_APPLY_SESSION"]),
    ("screen.QUESTION_MORE_BELOW", &["screen.QUESTION_LINES"]),
    ("screen.TIER_L1", &["screen.ASK_ASKS"]),
    ("screen.PALETTE_TITLE", &["screen.HINT_COMMANDS"]),
    ("commands.STATUS_EFFORT", &["screen.STATUS_EFFORT"]),
    ("screen.STATUS_TOKENS", &["screen.STATUS_CACHED"]),
    ("screen.START_TRY", &["screen.START_KEYS", "screen.START_KEYS_ARE"]),
    ("screen.PICK_GO_ON", &["screen.PICK_GO_ON_SHORT"]),
    ("screen.SECONDS", &["screen.TIME_SECONDS"]),
    ("script.ENGINE_THREW", &["script_run.BAD_FUNCTION", "script_run.NO_MODULE"]),
    ("script_help.SETTING_CONCURRENT", &["script_run.ANSWER_WAITS"]),
    ("session.MODELS_HERE", &["session.MODELS"]),
];

/// The sentence with this key, which may be one of an earlier version.
pub fn find(key: &str) -> Option<Phrase> {
    let now = RENAMED.iter().find(|(_, old)| old.contains(&key)).map_or(key, |(now, _)| *now);
    all().find(|word| word.key == now)
}

/// JSON for other programs: every sentence of the catalogue, which is stored as its key and values,
/// also gets its `text` in `lang`.
pub fn json_with_text(mut value: serde_json::Value, lang: Lang) -> String {
    add_text(&mut value, lang);
    value.to_string()
}

fn add_text(value: &mut serde_json::Value, lang: Lang) {
    match value {
        serde_json::Value::Array(items) => {
            items.iter_mut().for_each(|item| add_text(item, lang));
        }
        serde_json::Value::Object(fields) => {
            let is_sentence = fields.len() == 2
                && fields.get("values").is_some_and(serde_json::Value::is_array)
                && fields
                    .get("key")
                    .and_then(|key| key.as_str())
                    .is_some_and(|key| find(key).is_some());
            let say = is_sentence
                .then(|| {
                    LocalizedText::deserialize(&serde_json::Value::Object(fields.clone())).ok()
                })
                .flatten();
            for field in fields.values_mut() {
                add_text(field, lang);
            }
            if let Some(say) = say {
                fields.insert("text".to_owned(), say.text(lang).into());
            }
        }
        _ => {}
    }
}

fn key_only<S: serde::Serializer>(phrase: &Phrase, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(phrase.key)
}

impl<'de> Deserialize<'de> for LocalizedText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<LocalizedText, D::Error> {
        #[derive(Deserialize)]
        struct Wire {
            key: String,
            values: Vec<(String, PhraseValue)>,
        }
        let wire = Wire::deserialize(deserializer)?;
        // A stored sentence may come from another version.
        match find(&wire.key) {
            Some(word) => Ok(LocalizedText { word, values: wire.values }),
            None => Ok(protocol::UNKNOWN_WORD.with("key", wire.key)),
        }
    }
}

/// Types with a sentence for users: errors, endings, reasons.
pub trait Localize {
    fn localized(&self) -> LocalizedText;
}

#[cfg(test)]
mod tests;
