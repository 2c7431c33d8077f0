//! Parses simple expressions; `None` for anything else.

use serde_json::Value;

use super::{
    BitOperator, MapPart, Operator, PathLink, PathStep, SimpleArg, SimpleExpression, functions,
    number,
};

/// Deepest nesting of an expression.
const DEPTH: usize = 32;

/// The binary operators by rank, the weakest first; a longer sign precedes its beginning.
const OPERATORS: &[&[(&str, Operator)]] = &[
    &[("??", Operator::Coalesce)],
    &[("||", Operator::Or)],
    &[("&&", Operator::And)],
    &[("|", Operator::Bits(BitOperator::Or))],
    &[("^", Operator::Bits(BitOperator::Xor))],
    &[("&", Operator::Bits(BitOperator::And))],
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
    &[
        ("<<", Operator::Bits(BitOperator::Left)),
        (">>>", Operator::Bits(BitOperator::RightUnsigned)),
        (">>", Operator::Bits(BitOperator::Right)),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)],
];

/// What may not follow an operator of one sign: together they are another one.
const LONGER_SIGNS: &str = "+-*/%<>=&|^!?";

/// Words with a meaning of their own.
pub(super) const RESERVED: &[&str] = &[
    "arguments",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "finally",
    "for",
    "function",
    "globalThis",
    "if",
    "implements",
    "import",
    "in",
    "Infinity",
    "instanceof",
    "interface",
    "let",
    "NaN",
    "new",
    "of",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// The expression that the whole text is.
pub(super) fn parse(text: &str) -> Option<SimpleExpression> {
    let mut parser = ExpressionParser { rest: text, depth: 0 };
    let expression = parser.parse_choice()?;
    parser.skip_space();
    parser.rest.is_empty().then_some(expression)
}

pub(super) struct ExpressionParser<'t> {
    pub rest: &'t str,
    pub depth: usize,
}

impl<'t> ExpressionParser<'t> {
    pub fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    pub fn eat(&mut self, sign: &str) -> bool {
        self.skip_space();
        let after = self.rest.strip_prefix(sign);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    pub fn parse_choice(&mut self) -> Option<SimpleExpression> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let condition = self.parse_binary(0)?;
        self.skip_space();
        let parsed = if self.rest.starts_with('?') && self.eat("?") {
            let then = self.parse_choice()?;
            if !self.eat(":") {
                return None;
            }
            SimpleExpression::Choice(Box::new([condition, then, self.parse_choice()?]))
        } else {
            condition
        };
        self.depth -= 1;
        Some(parsed)
    }

    fn parse_binary(&mut self, rank: usize) -> Option<SimpleExpression> {
        let Some(operators) = OPERATORS.get(rank) else { return self.parse_unary() };
        let mut left = self.parse_binary(rank + 1)?;
        while let Some(operator) = self.eat_operator(operators) {
            let right = self.parse_binary(rank + 1)?;
            // JavaScript does not allow `??` beside `||` and `&&`.
            let is_mixed = [&left, &right].into_iter().any(is_logical);
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

    fn parse_unary(&mut self) -> Option<SimpleExpression> {
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
            '~' => {
                self.eat("~");
                SimpleExpression::BitNot(Box::new(self.parse_unary()?))
            }
            _ if self.eat_word("typeof") => SimpleExpression::TypeOf(Box::new(self.parse_unary()?)),
            _ => self.parse_path()?,
        };
        self.depth -= 1;
        Some(parsed)
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let after = self.rest.strip_prefix(word);
        let after = after.filter(|after| !after.starts_with(|c| is_name_part(c) || c == '$'));
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// A value, and the fields, items and methods after it.
    fn parse_path(&mut self) -> Option<SimpleExpression> {
        let value = self.parse_value()?;
        let mut links = Vec::new();
        loop {
            self.skip_space();
            // `a?.5:b` is a choice.
            let is_choice = |after: &str| after.starts_with(|c: char| c.is_ascii_digit());
            let optional = match self.rest.strip_prefix("?.").filter(|after| !is_choice(after)) {
                Some(after) => {
                    self.rest = after;
                    true
                }
                None => false,
            };
            self.skip_space();
            let step = match self.rest.chars().next() {
                Some('[') => {
                    self.eat("[");
                    let index = self.parse_choice()?;
                    if !self.eat("]") {
                        return None;
                    }
                    PathStep::Index(index)
                }
                Some('(' | '`' | '$') => return None,
                _ if optional || self.eat(".") => {
                    let name = self.parse_name()?;
                    self.skip_space();
                    if self.rest.starts_with('(') {
                        PathStep::Method(name.into(), self.parse_args()?)
                    } else {
                        PathStep::Field(name.into())
                    }
                }
                _ if links.is_empty() => return Some(value),
                _ => return Some(SimpleExpression::Path(Box::new(value), links)),
            };
            links.push(PathLink { optional, step });
        }
    }

    /// Arguments in brackets.
    fn parse_args(&mut self) -> Option<Vec<SimpleArg>> {
        self.eat("(").then_some(())?;
        self.parse_items(")")
    }

    fn parse_items(&mut self, end: &str) -> Option<Vec<SimpleArg>> {
        let mut items = Vec::new();
        while !self.eat(end) {
            let item = if self.eat("...") {
                SimpleArg::Spread(self.parse_choice()?)
            } else {
                match self.parse_arrow_head() {
                    Some(names) => SimpleArg::Arrow(names, self.parse_arrow_body()?),
                    None => SimpleArg::Value(self.parse_choice()?),
                }
            };
            items.push(item);
            if !self.eat(",") && !self.rest.starts_with(end) {
                return None;
            }
        }
        Some(items)
    }

    fn parse_value(&mut self) -> Option<SimpleExpression> {
        self.skip_space();
        match self.rest.chars().next()? {
            '(' => {
                self.eat("(");
                let inner = self.parse_choice()?;
                self.eat(")").then_some(inner)
            }
            '[' => {
                self.eat("[");
                let items = self.parse_items("]")?;
                let has_function = items.iter().any(|item| matches!(item, SimpleArg::Arrow(..)));
                (!has_function).then_some(SimpleExpression::List(items))
            }
            '{' => self.parse_map(),
            quote @ ('"' | '\'') => {
                self.rest = self.rest.strip_prefix(quote)?;
                let text = self.parse_text(&[quote], &['\n', '\r'])?;
                self.rest = self.rest.strip_prefix(quote)?;
                Some(SimpleExpression::Literal(Value::from(text)))
            }
            '`' => self.parse_template(),
            c if c.is_ascii_digit() => self.parse_number(),
            _ => {
                let name = self.parse_name()?;
                Some(match name {
                    "true" => SimpleExpression::Literal(Value::Bool(true)),
                    "false" => SimpleExpression::Literal(Value::Bool(false)),
                    "null" => SimpleExpression::Literal(Value::Null),
                    "undefined" => SimpleExpression::Undefined,
                    // `this.name` is the value of the name.
                    "this" if self.eat(".") => SimpleExpression::Name(self.parse_name()?.into()),
                    name if RESERVED.contains(&name) => return None,
                    name => match self.parse_function(name) {
                        Some((root, function)) => {
                            SimpleExpression::Call(root, function, self.parse_args()?)
                        }
                        None => SimpleExpression::Name(name.into()),
                    },
                })
            }
        }
    }

    /// A function of the language that is called here: `Math.max(`, `String(`.
    fn parse_function(&mut self, root: &str) -> Option<(&'static str, functions::PureFunction)> {
        let mut ahead = ExpressionParser { rest: self.rest, depth: 0 };
        let name = if ahead.eat(".") { ahead.parse_name()? } else { "" };
        let function = functions::find(root, name)?;
        ahead.skip_space();
        let is_called = ahead.rest.starts_with('(');
        self.rest = if is_called { ahead.rest } else { self.rest };
        is_called.then_some(function)
    }

    /// `{a: 1, 'b': 2, c}`
    fn parse_map(&mut self) -> Option<SimpleExpression> {
        self.eat("{");
        let mut pairs = Vec::new();
        while !self.eat("}") {
            if self.eat("...") {
                pairs.push(MapPart::Spread(self.parse_choice()?));
                if !self.eat(",") && !self.rest.starts_with('}') {
                    return None;
                }
                continue;
            }
            self.skip_space();
            let (key, own) = match self.rest.chars().next()? {
                '"' | '\'' => match self.parse_value()? {
                    SimpleExpression::Literal(Value::String(text)) => (text, None),
                    _ => return None,
                },
                _ => {
                    let name = self.parse_name()?;
                    (name.to_owned(), Some(name))
                }
            };
            // Numbers are sorted before other keys, and `__proto__` sets something else.
            if key.starts_with(|c: char| c.is_ascii_digit()) || key == "__proto__" {
                return None;
            }
            let value = match (self.eat(":"), own) {
                (true, _) => self.parse_choice()?,
                (false, Some(name)) if !RESERVED.contains(&name) && name != "undefined" => {
                    let is_literal = ["true", "false", "null"].contains(&name);
                    (!is_literal).then(|| SimpleExpression::Name(name.into()))?
                }
                _ => return None,
            };
            pairs.push(MapPart::Pair(key, value));
            if !self.eat(",") && !self.rest.starts_with('}') {
                return None;
            }
        }
        Some(SimpleExpression::Map(pairs))
    }

    /// `text ${value} text`, from its first quote to its last.
    fn parse_template(&mut self) -> Option<SimpleExpression> {
        self.eat("`");
        let mut parts = Vec::new();
        loop {
            let mut text = self.parse_text(&['`', '$'], &['\r'])?;
            while !self.rest.starts_with("${") && self.rest.starts_with('$') {
                self.rest = self.rest.strip_prefix('$')?;
                text = text + "$" + &self.parse_text(&['`', '$'], &['\r'])?;
            }
            if let Some(after) = self.rest.strip_prefix('`') {
                self.rest = after;
                parts.push((text, None));
                return Some(SimpleExpression::Template(parts));
            }
            self.rest = self.rest.strip_prefix("${")?;
            let value = self.parse_choice()?;
            self.eat("}").then_some(())?;
            parts.push((text, Some(value)));
        }
    }

    /// The text up to one of these signs, with its usual escapes.
    fn parse_text(&mut self, ends: &[char], wrong: &[char]) -> Option<String> {
        let mut text = String::new();
        loop {
            let at = self.rest.find(|c| c == '\\' || ends.contains(&c) || wrong.contains(&c))?;
            let (plain, after) = self.rest.split_at(at);
            text.push_str(plain);
            self.rest = after;
            let Some(escape) = after.strip_prefix('\\') else {
                return after.starts_with(|c| ends.contains(&c)).then_some(text);
            };
            let sign = escape.chars().next()?;
            text.push(match sign {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '\\' | '\'' | '"' | '`' | '$' | '/' => sign,
                _ => return None,
            });
            self.rest = escape.strip_prefix(sign)?;
        }
    }

    pub fn parse_name(&mut self) -> Option<&'t str> {
        self.skip_space();
        let end = self.rest.find(|c| !is_name_part(c)).unwrap_or(self.rest.len());
        let (name, after) = self.rest.split_at(end);
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        self.rest = after;
        is_name.then_some(name)
    }

    fn parse_number(&mut self) -> Option<SimpleExpression> {
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

fn is_name_part(c: char) -> bool {
    c.is_alphabetic() || c.is_ascii_digit() || c == '_'
}

fn is_logical(expression: &SimpleExpression) -> bool {
    matches!(expression, SimpleExpression::Binary(Operator::And | Operator::Or, _))
}
