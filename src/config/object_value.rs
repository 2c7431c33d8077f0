//! Tables of a profile that go into requests as they are: headers, and fields of the body.

use serde_json::{Map, Value};
use toml_edit::Item;

use super::Environment;
use super::diagnostic::describe_item;
use avocet_core::i18n::{LocalizedText, config as phrases};
use avocet_core::protocol::KEY_PLACE;
use avocet_core::text;

/// What a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestTable {
    /// Headers of a request; `${NAME}` in a value is a variable.
    Headers,
    /// Fields of its body.
    Fields,
}

/// Headers that the client or the connection sets.
const OWN_HEADERS: &[&str] = &[
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

const MAX_ITEMS: usize = 50;
const MAX_LENGTH: usize = 8 * 1024;

/// How deep a table may be.
const MAX_DEPTH: usize = 16;

impl RequestTable {
    pub(super) fn expected(self) -> LocalizedText {
        match self {
            RequestTable::Headers => phrases::A_HEADER_TABLE.into(),
            RequestTable::Fields => phrases::A_FIELD_TABLE.into(),
        }
    }

    /// The table as JSON text; the error says what is there instead.
    pub(super) fn check(self, item: &Item) -> Result<String, LocalizedText> {
        let value = match item.as_str() {
            Some(text) => serde_json::from_str(text).ok(),
            None => json(item, 0),
        };
        let Some(Value::Object(object)) = value else { return Err(describe_item(item)) };
        if object.len() > MAX_ITEMS {
            return Err(phrases::FOUND_MANY.with("count", object.len()));
        }
        if self == RequestTable::Headers {
            object.iter().try_for_each(|(name, value)| check_header(name, value.as_str()))?;
        }
        Ok(Value::Object(object).to_string())
    }
}

/// The table of a setting.
pub(super) fn object(text: Option<String>) -> Map<String, Value> {
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Whether a header can be sent beside those of the client.
pub(super) fn check_header(name: &str, value: Option<&str>) -> Result<(), LocalizedText> {
    let lower = name.to_ascii_lowercase();
    if OWN_HEADERS.contains(&lower.as_str()) {
        return Err(phrases::FOUND_OWN_HEADER.with("name", lower));
    }
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let is_name = !name.is_empty() && name.len() <= 100 && name.chars().all(is_letter);
    let is_value = |value: &str| {
        value.len() <= MAX_LENGTH && value.chars().all(|c| c == ' ' || c.is_ascii_graphic())
    };
    if is_name && value.is_some_and(is_value) {
        return Ok(());
    }
    Err(phrases::FOUND_BAD_HEADER.with("name", text::cut(&name.escape_default().to_string(), 40)))
}

/// The text with the variables that it names; the error is the name of one that is not set. The
/// place of the key stays.
pub(super) fn expand(text: &str, environment: &Environment) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        let Some((name, after)) = behind.split_once('}') else { break };
        out.push_str(before);
        match environment.get(name) {
            _ if name == "key" => out.push_str(KEY_PLACE),
            Some(value) => out.push_str(value),
            None => return Err(text::cut(name, 40)),
        }
        rest = after;
    }
    Ok(out + rest)
}

fn json(item: &Item, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    let value = |value: &toml_edit::Value| json(&Item::from(value.clone()), depth + 1);
    if let Some(table) = item.as_table_like() {
        let fields =
            table.iter().map(|(name, item)| Some((name.to_owned(), json(item, depth + 1)?)));
        return fields.collect::<Option<Map<String, Value>>>().map(Value::Object);
    }
    let text = || item.as_str().map(Value::from);
    let number = || item.as_float().and_then(serde_json::Number::from_f64);
    item.as_bool()
        .map(Value::from)
        .or_else(|| item.as_integer().map(Value::from))
        .or_else(|| number().map(Value::from))
        .or_else(text)
        .or_else(|| item.as_array()?.iter().map(value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(kind: RequestTable, toml: &str) -> Result<String, String> {
        let document: toml_edit::DocumentMut = format!("x = {toml}").parse().unwrap();
        kind.check(&document["x"]).map_err(|why| why.text(avocet_core::i18n::Lang::En))
    }

    #[test]
    fn a_table_of_fields_is_kept_as_json() {
        let nested = checked(RequestTable::Fields, r#"{ a = { b = [1, 2.5, "c"], d = true } }"#);
        assert_eq!(nested.unwrap(), r#"{"a":{"b":[1,2.5,"c"],"d":true}}"#);
        assert_eq!(checked(RequestTable::Fields, r#"'{"a":null}'"#).unwrap(), r#"{"a":null}"#);
        assert!(checked(RequestTable::Fields, "3").is_err());
        assert!(
            checked(RequestTable::Fields, &format!("{}1{}", "{a=".repeat(40), "}".repeat(40)))
                .is_err()
        );
    }

    #[test]
    fn a_header_of_the_connection_or_of_the_key_is_refused() {
        assert!(checked(RequestTable::Headers, r#"{ x-team = "web ${TEAM}" }"#).is_ok());
        for name in ["Host", "authorization", "Transfer-Encoding", "proxy-authorization"] {
            let said =
                checked(RequestTable::Headers, &format!("{{ {name} = \"x\" }}")).unwrap_err();
            assert!(said.contains(&name.to_lowercase()), "{said}");
        }
        for bad in [r#"{ "a b" = "x" }"#, r#"{ a = 1 }"#, "{ a = \"x\\ny\" }", r#"{ "" = "x" }"#] {
            assert!(checked(RequestTable::Headers, bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_value_takes_variables_and_leaves_the_place_of_the_key() {
        let environment = Environment::from_pairs([("TEAM", "web")]);
        let of = |text| expand(text, &environment);
        assert_eq!(of("a ${TEAM}${TEAM} ${key}"), Ok("a webweb ${key}".into()));
        assert_eq!(of("${MORE}"), Err("MORE".into()));
        assert_eq!(of("cost ${ open"), Ok("cost ${ open".into()));
    }
}
