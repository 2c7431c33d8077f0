//! Methods of Python's strings and dictionaries, which HuggingFace templates call on their values
//! (`messages.items()`, `text.strip()`), and bounded versions of filters that could grow without
//! end.

use minijinja::value::{Kwargs, Value, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State};

/// Longest text one filter or method may produce, in bytes.
const MOST: usize = 4 * 1024 * 1024;
/// Longest list that may get a name.
const MOST_ITEMS: usize = 200_000;

/// The result of calling the method `name` on this value.
pub(super) fn call_method(
    state: &mut State<'_, '_>,
    value: &Value,
    name: &str,
    args: &[Value],
) -> Result<Value, Error> {
    match value.kind() {
        ValueKind::String => string_method(value.as_str().unwrap_or_default(), name, args),
        ValueKind::Map => map_method(state, value, name, args),
        ValueKind::Seq | ValueKind::Iterable => list_method(value, name, args),
        _ => Err(ErrorKind::UnknownMethod.into()),
    }
}

fn string_method(text: &str, name: &str, args: &[Value]) -> Result<Value, Error> {
    let done = match name {
        "upper" => Value::from(text.to_uppercase()),
        "lower" => Value::from(text.to_lowercase()),
        "capitalize" => Value::from(capitalise(text)),
        "title" => Value::from(title_case(text)),
        "strip" | "lstrip" | "rstrip" => strip(text, name, args)?,
        "split" | "rsplit" => split(text, name, args)?,
        "splitlines" => text.lines().map(Value::from).collect(),
        "startswith" | "endswith" => {
            let (with,): (Value,) = from_args(args)?;
            let hit = |end: &str| {
                if name == "startswith" { text.starts_with(end) } else { text.ends_with(end) }
            };
            match with.as_str() {
                Some(end) => Value::from(hit(end)),
                None => Value::from(with.try_iter()?.any(|end| end.as_str().is_some_and(hit))),
            }
        }
        "replace" => {
            let (old, new, most): (&str, &str, Option<usize>) = from_args(args)?;
            Value::from(replace(text, old, new, most)?)
        }
        "find" | "index" => {
            let (part,): (&str,) = from_args(args)?;
            let at = text.find(part).map(|at| text.split_at(at).0.chars().count());
            Value::from(at.map_or(-1, |at| i64::try_from(at).unwrap_or(i64::MAX)))
        }
        "count" => {
            let (part,): (&str,) = from_args(args)?;
            Value::from(text.matches(part).count())
        }
        "join" => {
            let (items,): (Value,) = from_args(args)?;
            Value::from(join_items(&items, text)?)
        }
        "isdigit" => Value::from(!text.is_empty() && text.chars().all(|c| c.is_ascii_digit())),
        "isalpha" => Value::from(!text.is_empty() && text.chars().all(char::is_alphabetic)),
        "isalnum" => Value::from(!text.is_empty() && text.chars().all(char::is_alphanumeric)),
        "isspace" => Value::from(!text.is_empty() && text.chars().all(char::is_whitespace)),
        "isupper" => Value::from(
            text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase),
        ),
        "islower" => Value::from(
            text.chars().any(char::is_lowercase) && !text.chars().any(char::is_uppercase),
        ),
        "removeprefix" => {
            let (part,): (&str,) = from_args(args)?;
            Value::from(text.strip_prefix(part).unwrap_or(text))
        }
        "removesuffix" => {
            let (part,): (&str,) = from_args(args)?;
            Value::from(text.strip_suffix(part).unwrap_or(text))
        }
        _ => return Err(ErrorKind::UnknownMethod.into()),
    };
    Ok(done)
}

fn capitalise(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars.flat_map(char::to_lowercase)).collect()
    })
}

fn title_case(text: &str) -> String {
    let mut inside = false;
    let mut out = String::new();
    for c in text.chars() {
        if inside {
            out.extend(c.to_lowercase())
        } else {
            out.extend(c.to_uppercase())
        }
        inside = c.is_alphabetic();
    }
    out
}

fn strip(text: &str, name: &str, args: &[Value]) -> Result<Value, Error> {
    let (signs,): (Option<&str>,) = from_args(args)?;
    let cut = |c: char| signs.map_or(c.is_whitespace(), |signs| signs.contains(c));
    Ok(Value::from(match name {
        "lstrip" => text.trim_start_matches(cut),
        "rstrip" => text.trim_end_matches(cut),
        _ => text.trim_matches(cut),
    }))
}

fn split(text: &str, name: &str, args: &[Value]) -> Result<Value, Error> {
    let (separator, most): (Option<&str>, Option<i64>) = from_args(args)?;
    let most = most
        .and_then(|most| usize::try_from(most).ok())
        .map_or(usize::MAX, |most| most.saturating_add(1));
    Ok(match separator {
        Some("") => return Err(Error::new(ErrorKind::InvalidOperation, "empty separator")),
        Some(separator) if name == "split" => {
            text.splitn(most, separator).map(Value::from).collect()
        }
        Some(separator) => {
            let mut parts: Vec<&str> = text.rsplitn(most, separator).collect();
            parts.reverse();
            parts.into_iter().map(Value::from).collect()
        }
        None => text.split_whitespace().map(Value::from).collect(),
    })
}

fn map_method(
    state: &mut State<'_, '_>,
    value: &Value,
    name: &str,
    args: &[Value],
) -> Result<Value, Error> {
    match name {
        "items" => {
            let () = from_args(args)?;
            state.apply_filter("items", std::slice::from_ref(value))
        }
        "keys" => {
            let () = from_args(args)?;
            Ok(value.try_iter()?.collect())
        }
        "values" => {
            let () = from_args(args)?;
            value
                .try_iter()?
                .map(|key| value.get_item(&key))
                .collect::<Result<Vec<_>, _>>()
                .map(Value::from)
        }
        "get" => {
            let (key, other): (Value, Option<Value>) = from_args(args)?;
            let found = value.get_item(&key)?;
            Ok(if found.is_undefined() { other.unwrap_or_else(|| Value::from(())) } else { found })
        }
        _ => Err(ErrorKind::UnknownMethod.into()),
    }
}

fn list_method(value: &Value, name: &str, args: &[Value]) -> Result<Value, Error> {
    match name {
        "count" | "index" => {
            let (wanted,): (Value,) = from_args(args)?;
            let mut items = value.try_iter()?;
            Ok(if name == "count" {
                Value::from(items.filter(|item| *item == wanted).count())
            } else {
                Value::from(
                    items
                        .position(|item| item == wanted)
                        .map_or(-1, |at| i64::try_from(at).unwrap_or(i64::MAX)),
                )
            })
        }
        // A list is never changed in place: `append` and the like return the new list.
        "append" | "push" => {
            let (item,): (Value,) = from_args(args)?;
            Ok(value.try_iter()?.take(MOST_ITEMS).chain([item]).collect())
        }
        _ => Err(ErrorKind::UnknownMethod.into()),
    }
}

fn too_large_error() -> Error {
    Error::new(ErrorKind::OutOfFuel, "a value got too large")
}

/// The measuring filter of [`limits`](super::limits).
pub(super) fn check_size(value: Value) -> Result<Value, Error> {
    let fits = match value.kind() {
        ValueKind::String | ValueKind::Bytes => {
            value.as_str().is_none_or(|text| text.len() <= MOST)
        }
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => {
            value.len().is_none_or(|len| len <= MOST_ITEMS)
        }
        _ => true,
    };
    if fits { Ok(value) } else { Err(too_large_error()) }
}

pub(super) fn replace(
    text: &str,
    old: &str,
    new: &str,
    most: Option<usize>,
) -> Result<String, Error> {
    let times = text.matches(old).count().min(most.unwrap_or(usize::MAX));
    if times.saturating_mul(new.len()).saturating_add(text.len()) > MOST {
        return Err(too_large_error());
    }
    Ok(text.replacen(old, new, most.unwrap_or(usize::MAX)))
}

pub(super) fn join_items(items: &Value, separator: &str) -> Result<String, Error> {
    let mut out = String::new();
    for (index, item) in items.try_iter()?.enumerate() {
        if index > 0 {
            out.push_str(separator);
        }
        out.push_str(&super::hf::value_text(&item));
        if out.len() > MOST {
            return Err(too_large_error());
        }
    }
    Ok(out)
}

/// `items|join(', ', attribute='name')`.
pub(super) fn join(items: Value, separator: Option<&str>, args: Kwargs) -> Result<String, Error> {
    let attribute: Option<&str> = args.get("attribute")?;
    let named: Option<&str> = args.get("d")?;
    args.assert_all_used()?;
    let separator = separator.or(named).unwrap_or("");
    match attribute {
        Some(attribute) => {
            let items: Vec<Value> = items
                .try_iter()?
                .take(MOST_ITEMS)
                .map(|item| item.get_attr(attribute))
                .collect::<Result<_, _>>()?;
            join_items(&Value::from(items), separator)
        }
        None => join_items(&items, separator),
    }
}

/// `text|indent(4, first=true, blank=true)`.
pub(super) fn indent(
    text: &str,
    width: Option<usize>,
    first: Option<bool>,
    args: Kwargs,
) -> Result<String, Error> {
    let width = width.or(args.get("width")?).unwrap_or(4);
    let first = first.or(args.get("first")?).unwrap_or(false);
    let blank = args.get::<Option<bool>>("blank")?.unwrap_or(false);
    args.assert_all_used()?;
    let lines = text.matches('\n').count() + 1;
    if width.saturating_mul(lines).saturating_add(text.len()) > MOST {
        return Err(too_large_error());
    }
    let space = " ".repeat(width);
    let indented = |(index, line): (usize, &str)| {
        let plain = (index == 0 && !first) || (line.is_empty() && !blank);
        if plain { line.to_owned() } else { format!("{space}{line}") }
    };
    Ok(text.split('\n').enumerate().map(indented).collect::<Vec<_>>().join("\n"))
}

/// JSON as Python writes it, or indented.
pub(super) fn tojson(value: Value, indent: Option<usize>, args: Kwargs) -> Result<String, Error> {
    let indent = indent.or(args.get("indent")?);
    // An argument Python has; its effect is the default here.
    let _: Option<Value> = args.get("ensure_ascii")?;
    let _: Option<Value> = args.get("sort_keys")?;
    args.assert_all_used()?;
    let wrong = |_| Error::new(ErrorKind::BadSerialization, "this value has no JSON form");
    let plain = serde_json::to_value(&value).map_err(wrong)?;
    let out = match indent {
        Some(width) => indented_json(&plain, width.min(16)),
        None => spaced_json(&plain),
    };
    if out.len() > MOST { Err(too_large_error()) } else { Ok(out) }
}

fn spaced_json(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Array(items) => {
            let items: Vec<_> = items.iter().map(spaced_json).collect();
            format!("[{}]", items.join(", "))
        }
        serde_json::Value::Object(map) => {
            let quoted = |key: &str| serde_json::Value::from(key).to_string();
            let items: Vec<_> = map
                .iter()
                .map(|(key, value)| format!("{}: {}", quoted(key), spaced_json(value)))
                .collect();
            format!("{{{}}}", items.join(", "))
        }
        other => other.to_string(),
    }
}

fn indented_json(value: &serde_json::Value, width: usize) -> String {
    let space = " ".repeat(width);
    let format = serde_json::ser::PrettyFormatter::with_indent(space.as_bytes());
    let mut out = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, format);
    let _ = serde::Serialize::serialize(value, &mut serializer);
    String::from_utf8_lossy(&out).into_owned()
}
