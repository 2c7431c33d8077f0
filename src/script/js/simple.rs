//! Evaluates simple expressions without the engine: names, fields, literals and operators, as
//! `n + 1` or `A.length > 3 && !done`. Anything whose value in JavaScript is not plain from here
//! (calls, unknown names, mixed types, numbers beyond the safe ones) is left to the engine.

use std::borrow::Cow;

use serde_json::{Number, Value};

/// Longest expression that is tried, in bytes, and its deepest nesting.
const LONGEST: usize = 1024;
const DEPTH: usize = 32;
/// Integers up to here are exact.
const SAFE: f64 = 9_007_199_254_740_991.0;

/// The value of an expression; `None` if the engine has to evaluate it.
pub fn evaluate<'v>(text: &str, lookup: &dyn Fn(&str) -> Option<&'v Value>) -> Option<Value> {
    if text.len() > LONGEST {
        return None;
    }
    let mut parser = ExpressionParser { rest: text, depth: 0 };
    let expression = parser.parse_choice()?;
    parser.skip_space();
    if !parser.rest.is_empty() {
        return None;
    }
    expression.value(lookup).map(Cow::into_owned)
}

/// A parsed expression.
#[derive(Debug)]
enum SimpleExpression<'t> {
    Literal(Value),
    Name(&'t str),
    Field(Box<SimpleExpression<'t>>, &'t str),
    Index(Box<SimpleExpression<'t>>, Box<SimpleExpression<'t>>),
    Not(Box<SimpleExpression<'t>>),
    Negative(Box<SimpleExpression<'t>>),
    Binary(Operator, Box<[SimpleExpression<'t>; 2]>),
    /// Condition, and the two values.
    Choice(Box<[SimpleExpression<'t>; 3]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Coalesce,
    Or,
    And,
    Equal { strict: bool, negated: bool },
    Less { or_equal: bool },
    Greater { or_equal: bool },
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// The binary operators by rank, the weakest first; a longer sign precedes its beginning.
const OPERATORS: &[&[(&str, Operator)]] = &[
    &[("??", Operator::Coalesce)],
    &[("||", Operator::Or)],
    &[("&&", Operator::And)],
    &[
        ("===", Operator::Equal { strict: true, negated: false }),
        ("!==", Operator::Equal { strict: true, negated: true }),
        ("==", Operator::Equal { strict: false, negated: false }),
        ("!=", Operator::Equal { strict: false, negated: true }),
    ],
    &[
        ("<=", Operator::Less { or_equal: true }),
        (">=", Operator::Greater { or_equal: true }),
        ("<", Operator::Less { or_equal: false }),
        (">", Operator::Greater { or_equal: false }),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)],
];

/// What may not follow an operator of one sign: together they are another one.
const LONGER_SIGNS: &str = "+-*/%<>=&|!?";

/// Words with a meaning of their own.
const RESERVED: &[&str] = &[
    "await",
    "async",
    "class",
    "delete",
    "function",
    "in",
    "instanceof",
    "new",
    "of",
    "super",
    "this",
    "typeof",
    "undefined",
    "void",
    "yield",
    "NaN",
    "Infinity",
    "let",
    "globalThis",
    "arguments",
    "eval",
];

struct ExpressionParser<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> ExpressionParser<'t> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn eat(&mut self, sign: &str) -> bool {
        self.skip_space();
        let after = self.rest.strip_prefix(sign);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn parse_choice(&mut self) -> Option<SimpleExpression<'t>> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let condition = self.parse_binary(0)?;
        self.skip_space();
        let is_choice = self.rest.starts_with('?') && !self.rest.starts_with("?.");
        let parsed = match is_choice && self.eat("?") {
            false => condition,
            true => {
                let then = self.parse_choice()?;
                if !self.eat(":") {
                    return None;
                }
                SimpleExpression::Choice(Box::new([condition, then, self.parse_choice()?]))
            }
        };
        self.depth -= 1;
        Some(parsed)
    }

    fn parse_binary(&mut self, rank: usize) -> Option<SimpleExpression<'t>> {
        let Some(operators) = OPERATORS.get(rank) else { return self.parse_unary() };
        let mut left = self.parse_binary(rank + 1)?;
        while let Some(operator) = self.eat_operator(operators) {
            let right = self.parse_binary(rank + 1)?;
            // JavaScript does not allow `??` beside `||` and `&&`.
            let is_mixed = [&left, &right].into_iter().any(SimpleExpression::is_logical);
            if operator == Operator::Coalesce && is_mixed {
                return None;
            }
            left = SimpleExpression::Binary(operator, Box::new([left, right]));
        }
        Some(left)
    }

    fn eat_operator(&mut self, operators: &[(&str, Operator)]) -> Option<Operator> {
        self.skip_space();
        let (after, operator) = operators
            .iter()
            .find_map(|(sign, operator)| Some((self.rest.strip_prefix(sign)?, *operator)))?;
        // `+=`, `**`, `//` and the like are no simple expression; `a - -b` is one.
        let is_longer = after.starts_with(|c| LONGER_SIGNS.contains(c));
        if is_longer && !after.starts_with('!') {
            return None;
        }
        self.rest = after;
        Some(operator)
    }

    fn parse_unary(&mut self) -> Option<SimpleExpression<'t>> {
        self.skip_space();
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let parsed = match self.rest.chars().next()? {
            '!' if !self.rest.starts_with("!=") => {
                self.eat("!");
                SimpleExpression::Not(Box::new(self.parse_unary()?))
            }
            '-' if !self.rest.starts_with("--") => {
                self.eat("-");
                SimpleExpression::Negative(Box::new(self.parse_unary()?))
            }
            _ => self.parse_path()?,
        };
        self.depth -= 1;
        Some(parsed)
    }

    /// A value, and the fields after it.
    fn parse_path(&mut self) -> Option<SimpleExpression<'t>> {
        let mut value = self.parse_value()?;
        loop {
            self.skip_space();
            value = match self.rest.chars().next() {
                Some('.') => {
                    self.eat(".");
                    SimpleExpression::Field(Box::new(value), self.parse_name()?)
                }
                Some('[') => {
                    self.eat("[");
                    let index = self.parse_choice()?;
                    if !self.eat("]") {
                        return None;
                    }
                    SimpleExpression::Index(Box::new(value), Box::new(index))
                }
                Some('(' | '`' | '$') => return None,
                _ => return Some(value),
            };
        }
    }

    fn parse_value(&mut self) -> Option<SimpleExpression<'t>> {
        self.skip_space();
        match self.rest.chars().next()? {
            '(' => {
                self.eat("(");
                let inner = self.parse_choice()?;
                self.eat(")").then_some(inner)
            }
            quote @ ('"' | '\'') => {
                let (text, after) = self.rest.strip_prefix(quote)?.split_once(quote)?;
                self.rest = after;
                let is_plain = !text.contains(['\\', '\n', '\r']);
                is_plain.then(|| SimpleExpression::Literal(Value::from(text)))
            }
            c if c.is_ascii_digit() => self.parse_number(),
            _ => {
                let name = self.parse_name()?;
                Some(match name {
                    "true" => SimpleExpression::Literal(Value::Bool(true)),
                    "false" => SimpleExpression::Literal(Value::Bool(false)),
                    "null" => SimpleExpression::Literal(Value::Null),
                    // `this.name` is the value of the name.
                    "this" if self.eat(".") => SimpleExpression::Name(self.parse_name()?),
                    name if RESERVED.contains(&name) => return None,
                    name => SimpleExpression::Name(name),
                })
            }
        }
    }

    fn parse_name(&mut self) -> Option<&'t str> {
        self.skip_space();
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (name, after) = self.rest.split_at(end);
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        self.rest = after;
        is_name.then_some(name)
    }

    fn parse_number(&mut self) -> Option<SimpleExpression<'t>> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (digits, after) = self.rest.split_at(end);
        let is_plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
        let is_octal = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
        if !is_plain || is_octal || digits.ends_with('.') {
            return None;
        }
        self.rest = after;
        number(digits.parse().ok()?).map(SimpleExpression::Literal)
    }
}

type SimpleValue<'v> = Option<Cow<'v, Value>>;

impl SimpleExpression<'_> {
    fn is_logical(&self) -> bool {
        matches!(self, SimpleExpression::Binary(Operator::And | Operator::Or, _))
    }

    fn value<'v>(&self, lookup: &dyn Fn(&str) -> Option<&'v Value>) -> SimpleValue<'v> {
        match self {
            SimpleExpression::Literal(value) => Some(Cow::Owned(value.clone())),
            SimpleExpression::Name(name) => lookup(name).map(Cow::Borrowed),
            SimpleExpression::Field(inner, name) => field(inner.value(lookup)?, name),
            SimpleExpression::Index(inner, index) => {
                let (inner, index) = (inner.value(lookup)?, index.value(lookup)?);
                match index.as_ref() {
                    Value::String(name) => field(inner, name),
                    index => item(inner, index.as_u64()?),
                }
            }
            SimpleExpression::Not(inner) => {
                Some(Cow::Owned(Value::Bool(!is_truthy(inner.value(lookup)?.as_ref()))))
            }
            SimpleExpression::Negative(inner) => {
                number(-inner.value(lookup)?.as_f64()?).map(Cow::Owned)
            }
            SimpleExpression::Choice(parts) => {
                let [condition, then, otherwise] = parts.as_ref();
                let holds = is_truthy(condition.value(lookup)?.as_ref());
                if holds { then.value(lookup) } else { otherwise.value(lookup) }
            }
            SimpleExpression::Binary(operator, sides) => {
                let [left, right] = sides.as_ref();
                let left = left.value(lookup)?;
                let takes_left = match operator {
                    Operator::And => !is_truthy(&left),
                    Operator::Or => is_truthy(&left),
                    Operator::Coalesce => !left.is_null(),
                    operator => {
                        let right = right.value(lookup)?;
                        return binary(*operator, &left, &right).map(Cow::Owned);
                    }
                };
                if takes_left { Some(left) } else { right.value(lookup) }
            }
        }
    }
}

/// Own fields of a map, and lengths.
fn field<'v>(value: Cow<'v, Value>, name: &str) -> SimpleValue<'v> {
    let length = match value.as_ref() {
        Value::Array(list) if name == "length" => Some(list.len()),
        Value::String(text) if name == "length" => Some(text.encode_utf16().count()),
        _ => None,
    };
    match (length, value) {
        (Some(length), _) => Some(Cow::Owned(Value::from(length))),
        (None, Cow::Borrowed(value)) => value.as_object()?.get(name).map(Cow::Borrowed),
        (None, Cow::Owned(value)) => value.as_object()?.get(name).cloned().map(Cow::Owned),
    }
}

fn item(value: Cow<'_, Value>, at: u64) -> SimpleValue<'_> {
    let at = usize::try_from(at).ok()?;
    match value {
        Cow::Borrowed(value) => value.as_array()?.get(at).map(Cow::Borrowed),
        Cow::Owned(value) => value.as_array()?.get(at).cloned().map(Cow::Owned),
    }
}

fn binary(operator: Operator, left: &Value, right: &Value) -> Option<Value> {
    let numbers = left.as_f64().zip(right.as_f64());
    match operator {
        Operator::Equal { strict, negated } => {
            Some(Value::Bool(are_equal(left, right, strict)? != negated))
        }
        Operator::Less { or_equal } => {
            let order = order(left, right)?;
            Some(Value::Bool(order.is_lt() || or_equal && order.is_eq()))
        }
        Operator::Greater { or_equal } => {
            let order = order(left, right)?;
            Some(Value::Bool(order.is_gt() || or_equal && order.is_eq()))
        }
        Operator::Add if numbers.is_none() => joined(left, right),
        Operator::Add => numbers.and_then(|(left, right)| number(left + right)),
        Operator::Subtract => numbers.and_then(|(left, right)| number(left - right)),
        Operator::Multiply => numbers.and_then(|(left, right)| number(left * right)),
        Operator::Divide => numbers.and_then(|(left, right)| number(left / right)),
        Operator::Remainder => numbers.and_then(|(left, right)| number(left % right)),
        Operator::And | Operator::Or | Operator::Coalesce => None,
    }
}

/// A text with another text or an integer.
fn joined(left: &Value, right: &Value) -> Option<Value> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if number.is_f64() || number.as_f64()?.abs() > SAFE => None,
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let (left, right) = (text(left)?, text(right)?);
    Some(Value::String(left + &right))
}

fn are_equal(left: &Value, right: &Value, strict: bool) -> Option<bool> {
    match (left, right) {
        (Value::Null, Value::Null) => Some(true),
        (Value::Bool(left), Value::Bool(right)) => Some(left == right),
        (Value::String(left), Value::String(right)) => Some(left == right),
        (Value::Number(left), Value::Number(right)) => Some(left.as_f64()? == right.as_f64()?),
        // Lists and maps are equal only to themselves.
        (Value::Array(_) | Value::Object(_), _) | (_, Value::Array(_) | Value::Object(_)) => None,
        (Value::Null, _) | (_, Value::Null) => Some(false),
        _ => strict.then_some(false),
    }
}

/// The order of two numbers, or of two texts that sort alike in every encoding.
fn order(left: &Value, right: &Value) -> Option<std::cmp::Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64()?.partial_cmp(&right.as_f64()?),
        (Value::String(left), Value::String(right)) if left.is_ascii() && right.is_ascii() => {
            Some(left.cmp(right))
        }
        _ => None,
    }
}

/// A number as JavaScript passes it on; `None` if it is not finite, or too large to be exact.
fn number(value: f64) -> Option<Value> {
    match value.fract() == 0.0 {
        true if value.abs() <= SAFE => Some(Value::from(value as i64)),
        true => None,
        false => Number::from_f64(value).map(Value::Number),
    }
}

/// The truth of a value, as in JavaScript.
pub fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::super::{Engine, JsLimits, JsTask, TaskOutcome};
    use super::*;

    fn scope() -> Map<String, Value> {
        let scope = json!({
            "n": 4, "half": 0.5, "zero": 0, "minus": -3, "big": 9_007_199_254_740_991_u64,
            "s": "ab", "empty": "", "astral": "a😀", "yes": true, "no": false, "nil": null,
            "list": [1, [2, 3], "x"], "map": {"a": 1, "deep": {"b": [5]}}, "名": "值",
        });
        scope.as_object().unwrap().clone()
    }

    fn quick(text: &str) -> Option<Value> {
        let scope = scope();
        evaluate(text, &|name| scope.get(name))
    }

    /// Operands, signs and whole expressions, one to a line or word.
    const OPERANDS: &str = "n half zero minus big s empty astral yes no nil list map 名 7 1.25 't' \
        \"u\" true null list[1] list[1][0] list.length astral.length map.a map['deep'].b[0] (n) -n !s \
        this.n list[9] map.none s.none map.toString list['length'] nil.a";
    const SIGNS: &str = "+ - * / % < <= > >= == != === !== && || ?? ** & | >> , in = +=";
    const WHOLE: &str = "n+1<5&&s=='ab'
        1+2*3-4/2
        (1+2)*3
        2-1-1
        n++
        --n
        n // x
        n /2/ 2
        010
        0x10
        1e3
        1_000
        'a\\nb'
        s.trim()
        [n]
        {a:n}
        n ? 1
        `${n}`
        n ?. a
        !!n
        -(-n)
        1 - -1
        1 <!--n
        s + n + half
        half + s
        typeof n
        n; 1
        (n, 1)
        list[-1]
        list['0']
        s[0]
        n = 5
        1/0
        0/0
        big + 1
        big * 2
        -zero
        '' + -zero
        undefined
        nil ?? 'x'
        nil || yes && n
        nil ?? no || n
        no && nil ?? n
        yes ? no ? 1 : 2 : 3
        n > 3 > 1
        $n
        n.$x
        this
        this.none
        (n
        n)
        map.deep.b.length * 2 + '!'
        名 + 名.length";

    #[test]
    fn what_is_evaluated_here_has_the_value_of_the_engine() {
        let names: Vec<&str> = OPERANDS.split_whitespace().collect();
        let mut signs = SIGNS.split_whitespace().cycle();
        let mut texts: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        texts.extend(WHOLE.lines().map(|line| line.trim().to_owned()));
        for left in &names {
            for right in &names {
                let sign = signs.next().unwrap();
                texts.push(format!("{left} {sign} {right}"));
                texts.push(format!("{right}{sign}{left}"));
                texts.push(format!("{left} ? {right} : n+1 > 2 * {left}"));
                texts.push(format!("{left} {sign} !{right} && n - 1 - 1"));
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let engine = Engine::start(JsLimits::default()).unwrap();
        let mut known = 0;
        for text in texts {
            let Some(value) = quick(&text) else { continue };
            known += 1;
            let task = JsTask::Eval(text.clone());
            let ended = runtime.block_on(engine.compute(task, scope()));
            assert_eq!(ended.outcome, Ok(TaskOutcome::Value(value)), "{text}");
        }
        assert!(known > 1000, "{known}");
    }

    #[test]
    fn usual_expressions_need_no_engine() {
        for (text, value) in [
            ("n+1", json!(5)),
            ("n < 10000", json!(true)),
            ("s == 'ab' && !empty", json!(true)),
            ("list.length > 2 ? 'many' : 'few'", json!("many")),
            ("map.deep.b[0] * 2", json!(10)),
            ("'no. ' + n", json!("no. 4")),
            ("this.n % 3 === 1", json!(true)),
        ] {
            assert_eq!(quick(text), Some(value), "{text}");
        }
    }
}
