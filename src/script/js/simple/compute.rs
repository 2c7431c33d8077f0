//! Values of parsed expressions. Each step has the value that JavaScript gives it, or none.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::compare::{are_equal, order};
use super::{
    ArrowParameter, BitOperator, Computed, LocalName, MapPart, Operator, PathLink, PathStep, SAFE,
    SimpleArg, SimpleExpression, SimpleScope, functions, lists, number, texts,
};

/// The fields that every object has besides its own.
const INHERITED: &[&str] = &[
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
];

impl SimpleExpression {
    pub(super) fn compute<'e, 'v: 'e>(&self, scope: &SimpleScope<'e, 'v>) -> Option<Computed<'e>> {
        scope.spend(1)?;
        match self {
            SimpleExpression::Literal(value) => Some(Computed::owned(value.clone())),
            SimpleExpression::Undefined => {
                scope.get("undefined").is_none().then_some(Computed::Undefined)
            }
            SimpleExpression::Name(name) => {
                scope.get(name).map(|value| Computed::Value(Cow::Borrowed(value)))
            }
            SimpleExpression::List(_)
            | SimpleExpression::Map(_)
            | SimpleExpression::Template(_) => self.compute_made(scope),
            SimpleExpression::Path(base, links) => follow(base.compute(scope)?, links, scope),
            SimpleExpression::Call(root, function, args) => {
                if scope.get(root).is_some() {
                    return None;
                }
                let args = compute_args(args, scope)?;
                scope.spend(args.len())?;
                function(&args)
            }
            SimpleExpression::TypeOf(inner) => {
                Some(Computed::owned(type_name(&inner.compute(scope)?)))
            }
            SimpleExpression::Not(inner) => {
                Some(Computed::owned(!inner.compute(scope)?.is_truthy()))
            }
            SimpleExpression::Negative(inner) => {
                number(-inner.compute(scope)?.number()?).map(Computed::owned)
            }
            SimpleExpression::BitNot(inner) => {
                Some(Computed::owned(!low_bits(inner.compute(scope)?.number()?)?))
            }
            SimpleExpression::Choice(parts) => {
                let [condition, then, otherwise] = parts.as_ref();
                let holds = condition.compute(scope)?.is_truthy();
                if holds { then.compute(scope) } else { otherwise.compute(scope) }
            }
            SimpleExpression::Binary(operator, sides) => {
                let [left, right] = sides.as_ref();
                let left = left.compute(scope)?;
                let takes_left = match operator {
                    Operator::And => !left.is_truthy(),
                    Operator::Or => left.is_truthy(),
                    Operator::Coalesce => !left.is_nothing(),
                    operator => return binary(*operator, &left, &right.compute(scope)?),
                };
                if takes_left { Some(left) } else { right.compute(scope) }
            }
        }
    }

    /// A list, a map or a text that is made of other values.
    fn compute_made<'e, 'v: 'e>(&self, scope: &SimpleScope<'e, 'v>) -> Option<Computed<'e>> {
        match self {
            SimpleExpression::List(items) => {
                let items = compute_args(items, scope)?;
                let items = items.into_iter().map(Computed::into_value);
                items.collect::<Option<Vec<Value>>>().map(Computed::owned)
            }
            SimpleExpression::Map(parts) => {
                let mut map = Map::new();
                for part in parts {
                    match part {
                        MapPart::Pair(key, value) => {
                            map.insert(key.clone(), value.compute(scope)?.into_value()?);
                        }
                        MapPart::Spread(value) => {
                            extend(&mut map, value.compute(scope)?, scope)?;
                        }
                    }
                }
                Some(Computed::owned(map))
            }
            SimpleExpression::Template(parts) => {
                let mut text = String::new();
                for (plain, value) in parts {
                    text.push_str(plain);
                    if let Some(value) = value {
                        text.push_str(&texts::of_computed(&value.compute(scope)?)?);
                    }
                }
                texts::limited(text)
            }
            _ => None,
        }
    }
}

/// Adds the fields of a value, if its fields are in the order in which they were written.
fn extend(
    map: &mut Map<String, Value>,
    value: Computed<'_>,
    scope: &SimpleScope<'_, '_>,
) -> Option<()> {
    if value.is_nothing() {
        return Some(());
    }
    let fields = value.value()?.as_object()?;
    scope.spend(fields.len())?;
    if !functions::has_plain_keys(fields) || fields.contains_key("__proto__") {
        return None;
    }
    map.extend(fields.iter().map(|(key, value)| (key.clone(), value.clone())));
    Some(())
}

/// Arguments or items in their order; a function is none here.
fn compute_args<'e, 'v: 'e>(
    args: &[SimpleArg],
    scope: &SimpleScope<'e, 'v>,
) -> Option<Vec<Computed<'e>>> {
    let mut values = Vec::with_capacity(args.len());
    for arg in args {
        match arg {
            SimpleArg::Value(expression) => values.push(expression.compute(scope)?),
            SimpleArg::Spread(expression) => {
                let spread = expression.compute(scope)?;
                let list = spread.value()?.as_array()?;
                scope.spend(list.len())?;
                values.extend(list.iter().map(|item| Computed::owned(item.clone())));
            }
            SimpleArg::Arrow(..) => return None,
        }
    }
    Some(values)
}

/// The value at the end of a path.
fn follow<'e, 'v: 'e>(
    mut value: Computed<'e>,
    links: &[PathLink],
    scope: &SimpleScope<'e, 'v>,
) -> Option<Computed<'e>> {
    for PathLink { optional, step } in links {
        if value.is_nothing() {
            // Without `?.` it is an error, which the engine reports.
            return optional.then_some(Computed::Undefined);
        }
        value = match step {
            PathStep::Field(name) => field(value, name)?,
            PathStep::Index(index) => {
                let index = index.compute(scope)?;
                match index.value()? {
                    Value::String(name) => field(value, name)?,
                    index => item(value, index)?,
                }
            }
            PathStep::Method(name, args) => call_method(&value, name, args, scope)?,
        };
    }
    Some(value)
}

/// Own fields of a map, and lengths.
fn field<'e>(value: Computed<'e>, name: &str) -> Option<Computed<'e>> {
    let Computed::Value(value) = value else { return None };
    let length = match value.as_ref() {
        Value::Array(list) if name == "length" => list.len(),
        Value::String(text) if name == "length" => text.encode_utf16().count(),
        Value::Object(map) if map.contains_key(name) => {
            return Some(Computed::Value(match value {
                Cow::Borrowed(value) => Cow::Borrowed(value.get(name)?),
                Cow::Owned(mut value) => Cow::Owned(value.get_mut(name)?.take()),
            }));
        }
        Value::Object(_) if !INHERITED.contains(&name) && !name.starts_with("__") => {
            return Some(Computed::Undefined);
        }
        _ => return None,
    };
    Some(Computed::owned(length))
}

fn item<'e>(value: Computed<'e>, index: &Value) -> Option<Computed<'e>> {
    let Computed::Value(value) = value else { return None };
    let at = usize::try_from(index.as_u64()?).ok()?;
    let item = match value {
        Cow::Borrowed(Value::Array(list)) => list.get(at).map(Cow::Borrowed),
        Cow::Owned(Value::Array(mut list)) => list.get_mut(at).map(|it| Cow::Owned(it.take())),
        value => match value.as_ref() {
            Value::String(text) => return texts::unit(text, at),
            Value::Object(_) => return field(Computed::Value(value), &at.to_string()),
            _ => return None,
        },
    };
    Some(item.map_or(Computed::Undefined, Computed::Value))
}

/// The value of a method; those that change their list or text are left to the engine.
fn call_method<'e, 'v: 'e>(
    value: &Computed<'e>,
    name: &str,
    args: &[SimpleArg],
    scope: &SimpleScope<'e, 'v>,
) -> Option<Computed<'e>> {
    let value = value.value()?;
    match (value, args) {
        (Value::Array(list), [SimpleArg::Arrow(names, body), rest @ ..]) => {
            let rest = compute_args(rest, scope)?;
            let mut call = |values: &[&Value]| call_arrow(names, body, values, scope);
            lists::visit(name, value, list, &rest, &mut call)
        }
        (Value::Array(list), args) => {
            scope.spend(list.len())?;
            lists::method(name, list, &compute_args(args, scope)?)
        }
        (Value::String(text), args) => {
            scope.spend(text.len() / 8)?;
            texts::method(name, text, &compute_args(args, scope)?)
        }
        (Value::Number(_), args) => texts::number_method(name, value, &compute_args(args, scope)?),
        _ => None,
    }
}

/// The value of an arrow function for these arguments.
fn call_arrow(
    parameters: &[ArrowParameter],
    body: &SimpleExpression,
    values: &[&Value],
    scope: &SimpleScope<'_, '_>,
) -> Option<Computed<'static>> {
    fn bind<'e, 'v: 'e>(
        locals: &'e [(&'e str, &'e Value)],
        body: &SimpleExpression,
        scope: SimpleScope<'e, 'v>,
    ) -> Option<Computed<'static>> {
        match locals {
            [] => Some(match body.compute(&scope)? {
                Computed::Undefined => Computed::Undefined,
                Computed::Value(value) => Computed::Value(Cow::Owned(value.into_owned())),
            }),
            [(name, value), locals @ ..] => {
                let local = LocalName { name, value, outer: scope.local };
                bind(locals, body, SimpleScope { local: Some(&local), ..scope })
            }
        }
    }
    let mut locals: Vec<(&str, &Value)> = Vec::with_capacity(parameters.len());
    for (at, parameter) in parameters.iter().enumerate() {
        let value = *values.get(at)?;
        match parameter {
            ArrowParameter::Name(name) => locals.push((name, value)),
            ArrowParameter::Fields(fields) => {
                for (key, name) in fields {
                    locals.push((name, value.as_object()?.get(&**key)?));
                }
            }
            ArrowParameter::Items(names) => {
                for (at, name) in names.iter().enumerate() {
                    locals.push((name, value.as_array()?.get(at)?));
                }
            }
        }
    }
    bind(&locals, body, *scope)
}

fn type_name(value: &Computed<'_>) -> &'static str {
    match value.value() {
        None => "undefined",
        Some(Value::Null | Value::Array(_) | Value::Object(_)) => "object",
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Number(_)) => "number",
        Some(Value::String(_)) => "string",
    }
}

fn binary<'e>(
    operator: Operator,
    left: &Computed<'e>,
    right: &Computed<'e>,
) -> Option<Computed<'e>> {
    let numbers = left.number().zip(right.number());
    let is = |is: bool| Some(Computed::owned(is));
    let computed = match operator {
        Operator::Equal { strict, negated } => {
            return is(are_equal(left, right, strict)? != negated);
        }
        Operator::Less { or_equal } => {
            let order = order(left, right)?;
            return is(order.is_lt() || or_equal && order.is_eq());
        }
        Operator::Greater { or_equal } => {
            let order = order(left, right)?;
            return is(order.is_gt() || or_equal && order.is_eq());
        }
        Operator::Add if numbers.is_none() => return joined(left, right),
        Operator::Add => numbers.map(|(left, right)| left + right),
        Operator::Subtract => numbers.map(|(left, right)| left - right),
        Operator::Multiply => numbers.map(|(left, right)| left * right),
        Operator::Divide => numbers.map(|(left, right)| left / right),
        Operator::Remainder => numbers.map(|(left, right)| left % right),
        Operator::Bits(operator) => {
            let (left, right) = numbers?;
            Some(of_bits(operator, low_bits(left)?, low_bits(right)?))
        }
        Operator::And | Operator::Or | Operator::Coalesce => None,
    };
    number(computed?).map(Computed::owned)
}

/// The low 32 bits of a number without its fraction, if it is exact.
fn low_bits(number: f64) -> Option<i32> {
    (number.abs() <= SAFE).then_some(number as i64 as i32)
}

fn of_bits(operator: BitOperator, left: i32, right: i32) -> f64 {
    // Only the low five bits of a distance count.
    let distance = right as u32;
    f64::from(match operator {
        BitOperator::Or => left | right,
        BitOperator::Xor => left ^ right,
        BitOperator::And => left & right,
        BitOperator::Left => left.wrapping_shl(distance),
        BitOperator::Right => left.wrapping_shr(distance),
        BitOperator::RightUnsigned => return f64::from((left as u32).wrapping_shr(distance)),
    })
}

/// A text with anything that has a text.
fn joined<'e>(left: &Computed<'e>, right: &Computed<'e>) -> Option<Computed<'e>> {
    let is_text = |side: &Computed<'_>| {
        matches!(side.value(), Some(Value::String(_) | Value::Array(_) | Value::Object(_)))
    };
    if !is_text(left) && !is_text(right) {
        return None;
    }
    texts::limited(texts::of_computed(left)? + &texts::of_computed(right)?)
}
