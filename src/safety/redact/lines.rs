//! Finds secrets after their names: `DB_PASS=…`, `password: …`, `"token": "…"`.
//!
//! The name comes right before the value, on the same line, so nothing else of the text
//! counts. Settings give almost any word after the name of a password; code gives names,
//! calls and types there, so a value without quotes must not look like a name.

use std::ops::Range;

use super::names::{self, NameClass};
use super::values::{self, SecretSpan};
use super::words::{COMMON, GLUE, NOTHING, PROSE, SCHEMES};

/// A longer name does not count.
const NAME: usize = 64;
/// A longer value is taken to here.
const VALUE: usize = 8 * 1024;
/// How much of a value is looked at to judge it.
const LOOKED_AT: usize = 256;

/// How a name is bound to its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BindingForm {
    /// `NAME=value` in capitals, without a blank: an environment.
    Variable,
    /// `NAME: value` or `NAME = value` in capitals.
    Capitals,
    /// `"name": value`, `<name>value`, `'name' => value`.
    Field,
    /// `name: value`
    Colon,
    /// `name=value`
    Tight,
    /// `name = value`
    Spaced,
    /// `--name value`
    Flag,
}

struct CandidateValue<'t> {
    text: &'t str,
    start: usize,
    quoted: bool,
    /// The text right after it.
    next: Option<char>,
    /// Nothing but a remark follows on its line.
    last: bool,
    /// It is one of several, as in `Server=db;Password=…;`.
    listed: bool,
}

/// How far was looked ahead already, so that no part of a long line is looked at again
/// and again.
#[derive(Default)]
struct Lookahead {
    /// A run of characters of which a bare value is made.
    bare: Range<usize>,
    /// For each quote, from where it was looked for, and where the line or the text ends.
    quotes: [Range<usize>; 3],
}

impl Lookahead {
    fn bare_end(&mut self, text: &str, at: usize) -> usize {
        if !self.bare.contains(&at) {
            let ends = |c: char| c.is_whitespace() || "\"'`,;(){}<>[]\\‹&|".contains(c);
            let rest = text.get(at..).unwrap_or_default();
            self.bare = at..at + rest.find(ends).unwrap_or(rest.len());
        }
        self.bare.end
    }

    /// Where a quoted text ends; with a backslash before it the quote is part of the text.
    fn closing_quote(&mut self, text: &str, at: usize, quote: u8) -> Option<usize> {
        let bytes = text.as_bytes();
        let known = self.quotes.get_mut(QUOTES.iter().position(|one| *one == quote)?)?;
        if !known.contains(&at) {
            let ends = |byte: &u8| *byte == quote || *byte == b'\n' || *byte == b'\r';
            let len = bytes.get(at..)?.iter().position(ends);
            *known = at..len.map_or(text.len(), |len| at + len);
        }
        let end = known.end;
        let closes = bytes.get(end) == Some(&quote);
        let escaped = end > at && bytes.get(end - 1) == Some(&b'\\');
        closes.then_some(if escaped { end - 1 } else { end })
    }
}

const QUOTES: [u8; 3] = [b'"', b'\'', b'`'];

/// Adds the value that follows its name.
pub(super) fn find_named_secrets(text: &str, spans: &mut Vec<SecretSpan>) {
    let bytes = text.as_bytes();
    let mut lookahead = Lookahead::default();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let hit = match byte {
            b'=' | b':' => match_assignment(text, at, 1, &mut lookahead),
            0xef if text.get(at..).is_some_and(|rest| rest.starts_with(WIDE_SIGNS)) => {
                match_assignment(text, at, WIDE_SIGNS[0].len_utf8(), &mut lookahead)
            }
            b'>' => match_element(text, at),
            b'-' => match_flag(text, at, &mut lookahead),
            _ => None,
        };
        at = match hit {
            Some(hit) => {
                let end = hit.end;
                spans.push(hit);
                end.max(at + 1)
            }
            None => at + 1,
        };
    }
}

/// `：` and `＝` as Chinese and Japanese texts have them.
const WIDE_SIGNS: [char; 2] = ['\u{ff1a}', '\u{ff1d}'];

fn match_assignment(
    text: &str,
    at: usize,
    len: usize,
    lookahead: &mut Lookahead,
) -> Option<SecretSpan> {
    let bytes = text.as_bytes();
    let (before, sign) = (at.checked_sub(1).and_then(|at| bytes.get(at)), bytes.get(at)?);
    let after = bytes.get(at + 1);
    let compares = |byte: &u8| b"=!<>~+*/%^|&".contains(byte);
    // `:=` and `=>` are signs of their own; `==`, `::` and `://` give no value.
    let (left, right) = match (sign, after) {
        (b':', Some(b'=')) => (at, at + 2),
        (b':', Some(b':' | b'/')) => return None,
        (b'=', Some(b'>')) => (at, at + 2),
        (b'=', Some(b'=' | b'~')) => return None,
        _ => (at, at + len),
    };
    if before.is_some_and(|byte| *byte == b':' || *sign == b'=' && compares(byte)) {
        return None;
    }
    let mut name = name_before(text, left)?;
    if names::classify(name.last).is_none() {
        name = with_word_before(text, name);
    }
    let class = names::classify(name.last)?;
    let blanks =
        text.get(right..)?.len() - text.get(right..)?.trim_start_matches([' ', '\t']).len();
    let is_colon = *sign != b'=';
    let mut value = value_at(text, right + blanks, is_colon, lookahead)?;
    if let Some(words) = phrase_at(text, class, &value) {
        value = words;
    }
    value.listed = text.get(..name.start)?.ends_with(';');
    let in_section =
        class == NameClass::Password && value.last && values::is_in_section(text, name.start);
    let capitals = name.last.len() > 1 && !name.last.contains(|c: char| c.is_ascii_lowercase());
    let tight = blanks == 0 && !name.spaced;
    let form = match sign {
        _ if name.quoted => BindingForm::Field,
        b'=' if capitals && tight => BindingForm::Variable,
        _ if capitals => BindingForm::Capitals,
        _ if is_colon => BindingForm::Colon,
        _ if tight || in_section => BindingForm::Tight,
        _ => BindingForm::Spaced,
    };
    is_secret(form, class, name.last, &value).then(|| secret_span(class, name.start, &value))
}

const CDATA: &str = "<![CDATA[";

/// `master.key`, `api key`: two words are the name.
fn with_word_before<'t>(text: &'t str, name: CandidateName<'t>) -> CandidateName<'t> {
    let before = text.get(..name.start).unwrap_or_default();
    let head = before.strip_suffix(['.', ' ']).filter(|_| !name.quoted).unwrap_or_default();
    let word = head.rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    let (start, end) = (head.len() - word.len(), name.start + name.last.len());
    match text.get(start..end).filter(|_| (2..=16).contains(&word.len())) {
        Some(last) => CandidateName { last, start, ..name },
        None => name,
    }
}

/// `<password>value</password>`, perhaps with attributes
fn match_element(text: &str, at: usize) -> Option<SecretSpan> {
    let line = text.get(..at)?;
    let tag = line.get(line.ceil_char_boundary(at.saturating_sub(LOOKED_AT))..)?.rfind('<');
    let tag = line.get(line.ceil_char_boundary(at.saturating_sub(LOOKED_AT)) + tag?..)?;
    let name_end = tag.find(' ').filter(|_| tag.ends_with(['"', '\'']));
    let name = name_before(text, at - tag.len() + name_end.unwrap_or(tag.len()))?;
    if name.spaced || name.quoted || !text.get(..name.start)?.ends_with('<') {
        return None;
    }
    let class = names::classify(name.last)?;
    let rest = text.get(at + 1..)?;
    let rest = rest.get(..rest.floor_char_boundary(VALUE))?;
    let begin = at + 1 + if rest.starts_with(CDATA) { CDATA.len() } else { 0 };
    let end = begin + text.get(begin..)?.find(['<', '\n', ']'])?;
    let value = trim_value(text, begin, end.min(at + 1 + rest.len()), true);
    is_secret(BindingForm::Field, class, name.last, &value)
        .then(|| secret_span(class, name.start, &value))
}

/// `--password value`, `-storepass value`
fn match_flag(text: &str, at: usize, lookahead: &mut Lookahead) -> Option<SecretSpan> {
    let before = at.checked_sub(1).and_then(|at| text.as_bytes().get(at));
    let begins = before.is_none_or(|byte| byte.is_ascii_whitespace() || b"\"'`(=".contains(byte));
    let dashes = text.get(at..)?.bytes().take_while(|byte| *byte == b'-').count();
    (begins && dashes <= 2).then_some(())?;
    let begin = at + dashes;
    let rest = text.get(begin..)?;
    let part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let len = rest.find(|c| !part(c)).filter(|len| (2..=NAME).contains(len))?;
    let (name, rest) = rest.split_at_checked(len)?;
    let class = names::classify(name)?;
    // `"--password", "value"` in a list of arguments
    let list = rest.strip_prefix(['"', '\'']).and_then(|rest| rest.strip_prefix(','));
    let value = list.map(|it| it.trim_start()).filter(|it| it.starts_with(['"', '\'']));
    let value = value.or_else(|| rest.strip_prefix(' '))?;
    let value = value_at(text, text.len() - value.len(), false, lookahead)?;
    let plain = !value.text.starts_with('-');
    (plain && is_secret(BindingForm::Flag, class, name, &value))
        .then(|| secret_span(class, at, &value))
}

fn secret_span(class: NameClass, from: usize, value: &CandidateValue<'_>) -> SecretSpan {
    let span = SecretSpan::named(class, value.start, value.start + value.text.len());
    SecretSpan { from, ..span }
}

/// Whether a value that a statement or a call gives to a name is a secret; a quoted one may be any
/// word.
pub(super) fn is_given_secret(name: &str, text: &str, quoted: bool) -> Option<NameClass> {
    let class = names::classify(name)?;
    let form = if quoted { BindingForm::Field } else { BindingForm::Flag };
    let value = CandidateValue { text, start: 0, quoted, next: None, last: true, listed: false };
    is_secret(form, class, name, &value).then_some(class)
}

/// Whether a cell below the name of a secret is one.
pub(super) fn is_cell_secret(class: NameClass, text: &str) -> bool {
    let value =
        CandidateValue { text, start: 0, quoted: true, next: None, last: true, listed: false };
    let name = if class == NameClass::Key { "secret_key" } else { "" };
    let marks = text.chars().all(|c| !c.is_ascii_alphanumeric());
    !marks
        && text.len() >= 3
        && !values::is_type(text)
        && is_secret(BindingForm::Field, class, name, &value)
}

struct CandidateName<'t> {
    /// Its last part: `password` of `db.password`.
    last: &'t str,
    start: usize,
    quoted: bool,
    /// There are blanks between it and the sign.
    spaced: bool,
}

/// The name that ends before `end`, perhaps in quotes or in brackets.
fn name_before(text: &str, end: usize) -> Option<CandidateName<'_>> {
    let head = text.get(..end)?;
    let plain = head.trim_end_matches([' ', '\t']);
    let spaced = plain.len() < head.len();
    let plain = plain.strip_suffix(['?', '!']).unwrap_or(plain).trim_end_matches(' ');
    let inner = plain.strip_suffix(']').unwrap_or(plain);
    let inner = inner.strip_suffix(['"', '\'', '`']).unwrap_or(inner);
    let quoted = inner.len() < plain.len();
    let inner = if quoted { inner.strip_suffix('\\').unwrap_or(inner) } else { inner };
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut start = inner.len();
    for c in inner.chars().rev().take_while(|c| part(*c)).take(NAME + 1) {
        start -= c.len_utf8();
    }
    let last = inner.get(start..)?;
    (!last.is_empty() && last.len() <= NAME).then_some(CandidateName {
        last,
        start,
        quoted,
        spaced,
    })
}

/// The value that begins at `at`, on this line.
fn value_at<'t>(
    text: &'t str,
    at: usize,
    typed: bool,
    lookahead: &mut Lookahead,
) -> Option<CandidateValue<'t>> {
    let rest = text.get(at..)?;
    let bytes = rest.as_bytes();
    // The value of YAML is in the next line.
    if typed && let [b'|' | b'>', ..] = bytes {
        let (mark, next) = rest.split_once('\n').filter(|(mark, _)| mark.trim_end().len() <= 2)?;
        let body = next.trim_start_matches(' ');
        let begin = at + mark.len() + 1 + next.len() - body.len();
        return Some(trim_value(text, begin, lookahead.bare_end(text, begin), false));
    }
    let skip = match bytes {
        [b'\\', b'"' | b'\'', ..] => 1,
        [b'b' | b'r' | b'f' | b'@' | b'L' | b'u', b'"' | b'\'', ..] => 1,
        _ => 0,
    };
    if let Some(quote @ (b'"' | b'\'' | b'`')) = bytes.get(skip).copied() {
        let start = at + skip + 1;
        let end = lookahead.closing_quote(text, start, quote)?;
        return Some(trim_value(text, start, end, true));
    }
    // `let name: Type = "value"`
    if typed && let Some(value) = value_after_type(text, at, lookahead) {
        return Some(value);
    }
    Some(trim_value(text, at, lookahead.bare_end(text, at), false))
}

/// A phrase of several words without quotes, up to the end of its line.
fn phrase_at<'t>(
    text: &'t str,
    class: NameClass,
    value: &CandidateValue<'t>,
) -> Option<CandidateValue<'t>> {
    let plain = |c: char| c.is_ascii_lowercase() || c == ' ';
    let rest = text.get(value.start..)?;
    let len = rest.find(|c| !plain(c)).unwrap_or(rest.len());
    let ends = rest.get(len..)?.is_empty() || rest.get(len..)?.starts_with(['\n', '\r']);
    let words = rest.get(..len)?.trim_end();
    let many = words.split(' ').count() >= 4;
    (!value.quoted
        && class != NameClass::Token
        && ends
        && many
        && is_passphrase(class, words, false))
    .then(|| trim_value(text, value.start, value.start + words.len(), true))
}

fn value_after_type<'t>(
    text: &'t str,
    at: usize,
    lookahead: &mut Lookahead,
) -> Option<CandidateValue<'t>> {
    let rest = text.get(at..)?;
    let of_type = |c: char| c.is_ascii_alphanumeric() || " &'<>_:?[]|".contains(c);
    let rest = rest.get(..rest.floor_char_boundary(2 * NAME)).unwrap_or(rest);
    let len = rest.find(|c| !of_type(c)).filter(|len| *len > 0 && *len < NAME)?;
    let value = rest.get(len..)?.strip_prefix('=')?.trim_start_matches(' ');
    let start = at + rest.len() - value.len();
    value.starts_with(['"', '\'']).then(|| value_at(text, start, false, lookahead)).flatten()
}

fn trim_value(text: &str, start: usize, end: usize, quoted: bool) -> CandidateValue<'_> {
    let value = text.get(start..end).unwrap_or_default();
    let next = text.get(end..).and_then(|rest| rest.chars().next());
    let value = match value.len() {
        ..=VALUE => value.trim_end_matches([' ', '\t']),
        _ => value.get(..value.floor_char_boundary(VALUE)).unwrap_or_default(),
    };
    let rest = text.get(end..).unwrap_or_default().trim_start_matches([' ', '\t']);
    let last = rest.is_empty() || rest.starts_with(['\n', '\r', '#', '\\']);
    CandidateValue { text: value, start, quoted, next, last, listed: false }
}

/// Whether the value is a secret, given the form it is bound in and what its name says.
fn is_secret(form: BindingForm, class: NameClass, name: &str, value: &CandidateValue<'_>) -> bool {
    let text = value.text;
    let looked = text.get(..text.floor_char_boundary(LOOKED_AT)).unwrap_or_default();
    let lower = looked.to_ascii_lowercase();
    if looked.is_empty()
        || values::is_placeholder(looked)
        || is_non_value(&lower)
        || values::is_path_or_url(looked)
    {
        return false;
    }
    let is_number = form == BindingForm::Flag && name == "pin";
    if looked.contains('‹') || is_number || is_open_name(name, value) {
        return false;
    }
    if looked.contains(char::is_whitespace) {
        let is_set = matches!(form, BindingForm::Variable | BindingForm::Flag)
            && class == NameClass::Password;
        let is_mixed = is_set && values::has_letter_and_digit(looked);
        return value.quoted && (is_mixed || is_passphrase(class, looked, is_set));
    }
    let speaks = values::contains_secret_word(looked) || values::starts_with_secret_name(&lower);
    let check =
        SecretCheck { form, class, value, text: looked, lower: &lower, is_secret_name: speaks };
    match (form, value.quoted) {
        (BindingForm::Variable, _) => check.is_variable_secret(name),
        (BindingForm::Flag, _) => check.is_flag_secret(),
        (BindingForm::Spaced, false) => !check.is_code() && check.is_spaced_secret(),
        _ if speaks || check.is_label() || check.is_common() => false,
        (BindingForm::Field, _) => !check.is_code() && check.is_field_secret(name),
        (BindingForm::Capitals, true) => check.is_quoted_secret(name, true),
        (BindingForm::Colon | BindingForm::Tight | BindingForm::Spaced, true) => {
            check.is_quoted_secret(name, false)
        }
        (BindingForm::Capitals, false) => !check.is_code() && check.is_constant_secret(),
        (BindingForm::Colon | BindingForm::Tight, false) => {
            !check.is_code() && check.is_bare_secret(name)
        }
    }
}

/// The folder a shell is in, the number of a pin: their names mean secrets elsewhere.
fn is_open_name(name: &str, value: &CandidateValue<'_>) -> bool {
    let pin = name.len() >= 3 && name.to_ascii_lowercase().ends_with("pin");
    let digits = value.text.bytes().all(|byte| byte.is_ascii_digit());
    name == "PWD" && !value.listed || pin && !(digits && (4..=8).contains(&value.text.len()))
}

/// Several words that do not make a sentence: `correct horse battery staple`, the words of a wallet.
fn is_passphrase(class: NameClass, text: &str, is_set: bool) -> bool {
    let least = match class {
        NameClass::Password if is_set => 2,
        NameClass::Password => 3,
        NameClass::Secret => 12,
        NameClass::Key | NameClass::Token | NameClass::Service => return false,
    };
    let words = || text.split(' ');
    let plain = |word: &str| {
        (3..=12).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    (least..=24).contains(&words().count())
        && words().all(|word| plain(word) && !GLUE.contains(&word))
        && !values::contains_secret_word(text)
}

struct SecretCheck<'a> {
    form: BindingForm,
    class: NameClass,
    value: &'a CandidateValue<'a>,
    text: &'a str,
    lower: &'a str,
    /// It speaks of a secret: `access_token`.
    is_secret_name: bool,
}

impl SecretCheck<'_> {
    fn is_variable_secret(&self, name: &str) -> bool {
        let digits = self.is_number();
        match self.class {
            NameClass::Password => !self.is_secret_name,
            NameClass::Secret | NameClass::Key => {
                !self.is_secret_name
                    && self.text.len() >= 3
                    && (!digits || self.text.len() >= 6)
                    && !(self.class == NameClass::Key && values::is_version(self.text))
            }
            NameClass::Token => {
                let scheme = SCHEMES.contains(&self.lower);
                !self.is_secret_name
                    && !scheme
                    && self.text.len() >= 4
                    && (!digits || self.text.len() >= 6)
            }
            NameClass::Service => {
                !names::is_fingerprint(name)
                    && self.text.len() >= 8
                    && values::has_letter_and_digit(self.text)
            }
        }
    }

    fn is_flag_secret(&self) -> bool {
        match self.class {
            NameClass::Password => !self.is_secret_name && !self.is_common(),
            _ => {
                !self.is_secret_name
                    && values::has_letter_and_digit(self.text)
                    && self.text.len() >= 6
            }
        }
    }

    /// In a file of settings or a document of data.
    fn is_field_secret(&self, name: &str) -> bool {
        let bare_word = name == "pass";
        match self.class {
            NameClass::Password if bare_word => values::has_letter_and_digit(self.text),
            NameClass::Password => self.value.quoted || self.is_number() && self.text.len() >= 4,
            NameClass::Secret => {
                self.is_unlike_name(6) || self.text.len() >= 8 && !self.is_number()
            }
            NameClass::Key => names::is_opening_key(name) && self.is_unlike_name(6),
            NameClass::Token => self.is_unlike_name(6) && !SCHEMES.contains(&self.lower),
            NameClass::Service => false,
        }
    }

    /// In code, written out.
    fn is_quoted_secret(&self, name: &str, capitals: bool) -> bool {
        let bare_word = name == "pass";
        match self.class {
            NameClass::Password if bare_word => values::has_letter_and_digit(self.text),
            NameClass::Password => true,
            NameClass::Secret => {
                self.is_unlike_name(6) || self.text.len() >= 8 && self.form != BindingForm::Colon
            }
            NameClass::Key => (capitals || names::is_opening_key(name)) && self.is_unlike_name(8),
            NameClass::Token => self.is_unlike_name(8),
            NameClass::Service => false,
        }
    }

    fn is_constant_secret(&self) -> bool {
        match self.class {
            NameClass::Password => !self.is_number() || self.text.len() >= 4,
            NameClass::Service => false,
            NameClass::Secret | NameClass::Key | NameClass::Token => self.is_unlike_name(6),
        }
    }

    /// `password: hunter2`, `password=hunter2`
    fn is_bare_secret(&self, name: &str) -> bool {
        let of_npm = name.starts_with("_auth") || name.starts_with("_password");
        let tight = self.form == BindingForm::Tight
            && matches!(self.value.next, Some(' ' | '\t' | '&' | '"' | '\'' | ';'));
        let ends = self.value.last || tight;
        match self.class {
            _ if of_npm => self.text.len() >= 6,
            NameClass::Password if name == "pass" => values::has_letter_and_digit(self.text),
            NameClass::Password => {
                ends && !values::is_type(self.text) || values::has_letter_and_digit(self.text)
            }
            NameClass::Secret => self.is_unlike_name(6),
            NameClass::Key if names::is_opening_key(name) => self.is_unlike_name(8),
            NameClass::Key => self.is_of_mixed_case(),
            NameClass::Token => {
                self.is_unlike_name(if self.form == BindingForm::Tight { 6 } else { 8 })
            }
            NameClass::Service => false,
        }
    }

    /// `password = hunter2`: in most languages this is a name.
    fn is_spaced_secret(&self) -> bool {
        !self.is_secret_name
            && (values::is_varied(self.text)
                || self.class == NameClass::Password && values::has_letter_and_digit(self.text))
    }

    /// A long key of random letters, whatever it is for: no checksum.
    fn is_of_mixed_case(&self) -> bool {
        let has = |is: fn(&char) -> bool| self.text.chars().any(|c| is(&c));
        self.text.len() >= 24
            && values::is_varied(self.text)
            && has(char::is_ascii_uppercase)
            && has(char::is_ascii_lowercase)
    }

    /// Made of what names are not made of, and so long.
    fn is_unlike_name(&self, least: usize) -> bool {
        let text = self.text;
        text.len() >= least && values::has_letter_and_digit(text) && !values::is_version(text)
            || text.len() >= 16 && !values::is_separated_words(text)
    }

    fn is_code(&self) -> bool {
        let text = self.text;
        if self.value.quoted {
            return false;
        }
        let dotted = text.contains('.') && text.split('.').all(values::is_identifier);
        let called = self.value.next.is_some_and(|c| "([{<".contains(c));
        let typed = matches!(self.value.next, Some(',' | ';' | ')')) && values::is_identifier(text);
        let typed = typed && !self.value.listed;
        dotted || called || typed || text.contains("::") || text.contains("->")
    }

    /// `Passwort`, `密码`: labels of fields in natural language.
    fn is_label(&self) -> bool {
        let mut chars = self.text.chars();
        let first = chars.next().is_some_and(char::is_uppercase);
        let title = first && chars.all(|c| c.is_lowercase() || "?!.:…".contains(c));
        let foreign = self.text.contains(|c: char| c.is_alphabetic() && !c.is_ascii());
        title || foreign && !self.text.contains(|c: char| c.is_ascii_digit())
    }

    /// Names that programs give things, and rules that forms have for a field.
    fn is_common(&self) -> bool {
        COMMON.contains(&self.lower)
    }

    fn is_number(&self) -> bool {
        self.text.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// `true`, `none`: no value at all.
fn is_non_value(lower: &str) -> bool {
    // `required|min:8`: the rules of a form for a field.
    NOTHING.contains(&lower.split('|').next().unwrap_or_default())
}

/// A word that prose, a type or a form has after the name of a secret.
pub(super) fn is_common_word(lower: &str) -> bool {
    is_non_value(lower) || [COMMON, GLUE, PROSE].iter().any(|words| words.contains(&lower))
}
