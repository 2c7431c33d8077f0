//! Methods of Python's strings and dictionaries, which HuggingFace templates call on their values
//! (`messages.items()`, `text.strip()`), and bounded versions of filters that could grow without
//! end.

use minijinja::value::{Kwargs, Value, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State};
use minijinja_contrib::pycompat;

use super::print;

/// Longest text one filter or method may produce, in bytes.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Longest list that may get a name.
const MAX_ITEMS: usize = 200_000;

/// The result of calling the method `name` on this value.
pub(super) fn call_method(
    state: &mut State<'_, '_>,
    value: &Value,
    name: &str,
    args: &[Value],
) -> Result<Value, Error> {
    let own = match value.kind() {
        ValueKind::String => string_method(value.as_str().unwrap_or_default(), name, args)?,
        ValueKind::Seq | ValueKind::Iterable => list_method(value, name, args)?,
        _ => None,
    };
    if let Some(value) = own {
        return Ok(value);
    }
    let name = if name == "index" { "find" } else { name };
    let made = pycompat::unknown_method_callback(state, value, name, args)?;
    // `items()` and the like give lists instead of iterators, so that an entry can be taken by its
    // index.
    Ok(if made.kind() == ValueKind::Iterable { made.try_iter()?.collect() } else { made })
}

/// The methods of texts that are bounded or missing elsewhere.
fn string_method(text: &str, name: &str, args: &[Value]) -> Result<Option<Value>, Error> {
    Ok(Some(match name {
        "replace" => {
            let (old, new, most): (&str, &str, Option<usize>) = from_args(args)?;
            Value::from(replace(text, old, new, most)?)
        }
        "join" => {
            let (items,): (Value,) = from_args(args)?;
            Value::from(join_items(&items, text)?)
        }
        "rsplit" => {
            let (separator, most): (Option<&str>, Option<usize>) = from_args(args)?;
            let most = most.map_or(usize::MAX, |most| most.saturating_add(1));
            let mut parts: Vec<&str> = match separator {
                Some(separator) => text.rsplitn(most, separator).collect(),
                None => text.split_whitespace().rev().collect(),
            };
            parts.reverse();
            parts.into_iter().map(Value::from).collect()
        }
        "removeprefix" => {
            let (part,): (&str,) = from_args(args)?;
            Value::from(text.strip_prefix(part).unwrap_or(text))
        }
        "removesuffix" => {
            let (part,): (&str,) = from_args(args)?;
            Value::from(text.strip_suffix(part).unwrap_or(text))
        }
        // Its widths are not bounded.
        "format" => return Err(ErrorKind::UnknownMethod.into()),
        _ => return Ok(None),
    }))
}

fn list_method(value: &Value, name: &str, args: &[Value]) -> Result<Option<Value>, Error> {
    let (item,): (Value,) = match name {
        "count" | "index" | "append" | "push" => from_args(args)?,
        _ => return Ok(None),
    };
    Ok(Some(match name {
        "count" => Value::from(value.try_iter()?.filter(|other| *other == item).count()),
        "index" => {
            let at = value.try_iter()?.position(|other| other == item);
            Value::from(at.map_or(-1, |at| i64::try_from(at).unwrap_or(i64::MAX)))
        }
        // A list is never changed in place: `append` and the like return the new list.
        _ => value.try_iter()?.take(MAX_ITEMS).chain([item]).collect(),
    }))
}

fn too_large_error() -> Error {
    Error::new(ErrorKind::OutOfFuel, "a value got too large")
}

/// The measuring filter of [`limits`](super::limits).
pub(super) fn check_size(value: Value) -> Result<Value, Error> {
    let fits = match value.kind() {
        ValueKind::String | ValueKind::Bytes => {
            value.as_str().is_none_or(|text| text.len() <= MAX_BYTES)
        }
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => {
            value.len().is_none_or(|len| len <= MAX_ITEMS)
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
    if times.saturating_mul(new.len()).saturating_add(text.len()) > MAX_BYTES {
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
        out.push_str(&value_text(&item));
        if out.len() > MAX_BYTES {
            return Err(too_large_error());
        }
    }
    Ok(out)
}

/// A value as it is printed, see [`mod@print`].
pub(super) fn value_text(value: &Value) -> String {
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => String::new(),
        ValueKind::String => value.as_str().unwrap_or_default().to_owned(),
        ValueKind::Bool
        | ValueKind::Number
        | ValueKind::Seq
        | ValueKind::Map
        | ValueKind::Iterable => serde_json::to_value(value)
            .map_or_else(|_| value.to_string(), |plain| print::text(&plain)),
        _ => value.to_string(),
    }
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
                .take(MAX_ITEMS)
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
    if width.saturating_mul(lines).saturating_add(text.len()) > MAX_BYTES {
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
    if out.len() > MAX_BYTES { Err(too_large_error()) } else { Ok(out) }
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
