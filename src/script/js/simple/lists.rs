//! Pure methods of lists.

use serde_json::Value;

use super::compare::{is_same, slice_range, whole};
use super::{Computed, texts};

type Callback<'c> = dyn FnMut(&[&Value]) -> Option<Computed<'static>> + 'c;

/// Methods with a function as their first argument.
pub(super) fn visit<'e>(
    name: &str,
    whole_list: &Value,
    list: &[Value],
    rest: &[Computed<'_>],
    call: &mut Callback<'_>,
) -> Option<Computed<'e>> {
    if name == "reduce" {
        return reduce(whole_list, list, rest, call);
    }
    if !rest.is_empty() {
        return None;
    }
    let mut came = Vec::new();
    for (at, item) in list.iter().enumerate() {
        let value = call(&[item, &Value::from(at), whole_list])?;
        match name {
            "map" => came.push(value.into_value()?),
            "flatMap" => match value.into_value()? {
                Value::Array(items) => came.extend(items),
                item => came.push(item),
            },
            "filter" if value.is_truthy() => came.push(item.clone()),
            "find" if value.is_truthy() => return Some(Computed::owned(item.clone())),
            "findIndex" if value.is_truthy() => return Some(Computed::owned(at)),
            "some" if value.is_truthy() => return Some(Computed::owned(true)),
            "every" if !value.is_truthy() => return Some(Computed::owned(false)),
            "filter" | "find" | "findIndex" | "some" | "every" => {}
            _ => return None,
        }
    }
    Some(match name {
        "map" | "flatMap" | "filter" => Computed::owned(came),
        "find" => Computed::Undefined,
        "findIndex" => Computed::owned(-1),
        "some" => Computed::owned(false),
        "every" => Computed::owned(true),
        _ => return None,
    })
}

fn reduce<'e>(
    whole_list: &Value,
    list: &[Value],
    rest: &[Computed<'_>],
    call: &mut Callback<'_>,
) -> Option<Computed<'e>> {
    let mut items = list.iter().enumerate();
    let mut total = match rest {
        [] => items.next()?.1.clone(),
        [first] => first.value()?.clone(),
        _ => return None,
    };
    for (at, item) in items {
        total = call(&[&total, item, &Value::from(at), whole_list])?.into_value()?;
    }
    Some(Computed::owned(total))
}

/// The other methods.
pub(super) fn method<'e>(
    name: &str,
    list: &[Value],
    args: &[Computed<'_>],
) -> Option<Computed<'e>> {
    let position = |plain: &Value| {
        let mut found = None;
        for (at, item) in list.iter().enumerate() {
            if is_same(item, plain)? {
                found = found.or(Some(at));
            }
        }
        Some(found)
    };
    match (name, args) {
        ("includes", [plain]) => Some(Computed::owned(position(plain.value()?)?.is_some())),
        ("indexOf", [plain]) => Some(match position(plain.value()?)? {
            Some(at) => Computed::owned(at),
            None => Computed::owned(-1),
        }),
        ("at", [index]) => {
            let index = whole(index)?;
            let from_end = || list.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?);
            let at = if index < 0 { from_end() } else { usize::try_from(index).ok() };
            let item = at.and_then(|at| list.get(at));
            Some(item.map_or(Computed::Undefined, |item| Computed::owned(item.clone())))
        }
        ("slice", args) => {
            let (start, end) = slice_range(list.len(), args)?;
            Some(Computed::owned(list.get(start..end)?.to_vec()))
        }
        ("concat", args) => {
            let mut all = list.to_vec();
            for arg in args {
                match arg.value()? {
                    Value::Array(items) => all.extend(items.iter().cloned()),
                    item => all.push(item.clone()),
                }
            }
            Some(Computed::owned(all))
        }
        ("flat", []) => {
            let mut all = Vec::with_capacity(list.len());
            for item in list {
                match item {
                    Value::Array(items) => all.extend(items.iter().cloned()),
                    item => all.push(item.clone()),
                }
            }
            Some(Computed::owned(all))
        }
        ("join", []) | ("toString", []) => texts::limited(texts::joined(list, ",")?),
        ("join", [between]) => texts::limited(texts::joined(list, between.text()?)?),
        _ => None,
    }
}
