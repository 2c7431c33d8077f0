//! Parses simple expressions; `None` for anything else.

use super::{Operator, SimpleArg, SimpleExpression};

/// Deepest nesting of an expression.
const DEPTH: usize = 32;

/// The binary operators by rank, the weakest first; a longer sign precedes its beginning.
const OPERATORS: &[&[(&str, Operator)]] = &[
    &[("??", Operator::Coalesce)],
    &[("||", Operator::Or)],
    &[("&&", Operator::And)],
    &[("|", Operator::Other)],
    &[("^", Operator::Other)],
    &[("&", Operator::Other)],
    &[
        ("===", Operator::Equal),
        ("!==", Operator::Equal),
        ("==", Operator::Equal),
        ("!=", Operator::Equal),
    ],
    &[
        ("<=", Operator::Other),
        (">=", Operator::Other),
        ("<", Operator::Other),
        (">", Operator::Other),
    ],
    &[("<<", Operator::Other), (">>>", Operator::Other), (">>", Operator::Other)],
    &[("+", Operator::Other), ("-", Operator::Other)],
    &[("*", Operator::Other), ("/", Operator::Other), ("%", Operator::Other)],
];

/// What may not follow an operator of one sign: together they are another one.
const LONGER_SIGNS: &str = "+-*/%<>=&|^!?";

/// Pure functions of the language, by the name they begin with and the one after its dot.
const FUNCTIONS: &[(&str, &[&str])] = &[
    ("Array", &["isArray"]),
    ("Boolean", &[""]),
    ("JSON", &["stringify"]),
    ("Math", &["abs", "ceil", "floor", "max", "min", "round", "sign", "sqrt", "trunc"]),
    ("Number", &["", "isInteger"]),
    ("Object", &["entries", "keys", "values"]),
    ("String", &[""]),
    ("isNaN", &[""]),
    ("parseFloat", &[""]),
    ("parseInt", &[""]),
];

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
            parts([condition, then, self.parse_choice()?])
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
            sign @ ('!' | '-' | '~') => {
                let rest = self.rest.strip_prefix(sign)?;
                let is_longer = sign == '!' && rest.starts_with('=');
                if is_longer || sign == '-' && rest.starts_with('-') {
                    return None;
                }
                self.rest = rest;
                parts([self.parse_unary()?])
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
        let mut args = Vec::new();
        // Whether `?.` is the first step.
        let mut is_optional = None;
        loop {
            self.skip_space();
            // `a?.5:b` is a choice.
            let is_choice = |after: &str| after.starts_with(|c: char| c.is_ascii_digit());
            let after = self.rest.strip_prefix("?.").filter(|after| !is_choice(after));
            self.rest = after.unwrap_or(self.rest);
            self.skip_space();
            match self.rest.chars().next() {
                Some('[') => {
                    self.eat("[");
                    args.push(SimpleArg::Value(self.parse_choice()?));
                    self.eat("]").then_some(())?;
                }
                Some('(' | '`' | '$') => return None,
                _ if after.is_some() || self.eat(".") => {
                    self.parse_name()?;
                    self.skip_space();
                    if self.rest.starts_with('(') {
                        args.extend(self.parse_args()?);
                    }
                }
                _ => {
                    let Some(is_optional) = is_optional else { return Some(value) };
                    return Some(SimpleExpression::Path(Box::new(value), args, is_optional));
                }
            }
            is_optional.get_or_insert(after.is_some());
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
                SimpleArg::Value(self.parse_choice()?)
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
                (!has_function).then_some(SimpleExpression::Parts(items))
            }
            '{' => self.parse_map(),
            quote @ ('"' | '\'') => {
                self.rest = self.rest.strip_prefix(quote)?;
                self.parse_text(&[quote], &['\n', '\r'])?;
                self.rest = self.rest.strip_prefix(quote)?;
                Some(SimpleExpression::Literal)
            }
            '`' => self.parse_template(),
            c if c.is_ascii_digit() => self.parse_number(),
            _ => {
                let name = self.parse_name()?;
                Some(match name {
                    "true" | "false" => SimpleExpression::Literal,
                    "null" | "undefined" => SimpleExpression::Nothing,
                    // `this.name` is the value of the name.
                    "this" if self.eat(".") => SimpleExpression::Name(self.parse_name()?.into()),
                    name if RESERVED.contains(&name) => return None,
                    name if self.eat_function(name) => SimpleExpression::Parts(self.parse_args()?),
                    name => SimpleExpression::Name(name.into()),
                })
            }
        }
    }

    /// Whether it is a function of the language that is called here: `Math.max(`, `String(`.
    fn eat_function(&mut self, root: &str) -> bool {
        let mut parser = ExpressionParser { rest: self.rest, depth: 0 };
        let name = if parser.eat(".") { parser.parse_name() } else { Some("") };
        parser.skip_space();
        let mut rows = FUNCTIONS.iter().filter(|(first, _)| *first == root);
        let is_called = parser.rest.starts_with('(')
            && name.is_some_and(|name| rows.any(|(_, second)| second.contains(&name)));
        self.rest = if is_called { parser.rest } else { self.rest };
        is_called
    }

    /// `{a: 1, 'b': 2, c, ...d}`
    fn parse_map(&mut self) -> Option<SimpleExpression> {
        self.eat("{");
        let mut values = Vec::new();
        while !self.eat("}") {
            values.push(SimpleArg::Value(self.parse_pair()?));
            if !self.eat(",") && !self.rest.starts_with('}') {
                return None;
            }
        }
        Some(SimpleExpression::Parts(values))
    }

    /// The value of a pair.
    fn parse_pair(&mut self) -> Option<SimpleExpression> {
        if self.eat("...") {
            return self.parse_choice();
        }
        if self.rest.starts_with(['"', '\'']) {
            self.parse_value()?;
            return self.eat(":").then(|| self.parse_choice())?;
        }
        let name = self.parse_name()?;
        if self.eat(":") {
            return self.parse_choice();
        }
        let is_word = ["true", "false", "null", "undefined"].contains(&name);
        (!is_word && !RESERVED.contains(&name)).then(|| SimpleExpression::Name(name.into()))
    }

    /// `text ${value} text`, from its first quote to its last.
    fn parse_template(&mut self) -> Option<SimpleExpression> {
        self.eat("`");
        let mut values = Vec::new();
        loop {
            self.parse_text(&['`', '$'], &['\r'])?;
            if let Some(after) = self.rest.strip_prefix('`') {
                self.rest = after;
                return Some(SimpleExpression::Parts(values));
            }
            self.rest = self.rest.strip_prefix('$')?;
            if self.rest.starts_with('{') {
                self.eat("{");
                values.push(SimpleArg::Value(self.parse_choice()?));
                self.eat("}").then_some(())?;
            }
        }
    }

    /// The text up to one of these signs, with its usual escapes.
    fn parse_text(&mut self, ends: &[char], wrong: &[char]) -> Option<()> {
        loop {
            let at = self.rest.find(|c| c == '\\' || ends.contains(&c) || wrong.contains(&c))?;
            self.rest = self.rest.get(at..)?;
            let Some(escape) = self.rest.strip_prefix('\\') else {
                return self.rest.starts_with(|c| ends.contains(&c)).then_some(());
            };
            self.rest = escape.strip_prefix(['n', 't', 'r', '\\', '\'', '"', '`', '$', '/'])?;
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
        digits.parse::<f64>().ok().map(|_| SimpleExpression::Literal)
    }
}

fn is_name_part(c: char) -> bool {
    c.is_alphabetic() || c.is_ascii_digit() || c == '_'
}

/// An expression that reads what its parts read.
fn parts<const COUNT: usize>(expressions: [SimpleExpression; COUNT]) -> SimpleExpression {
    SimpleExpression::Parts(expressions.map(SimpleArg::Value).into())
}

fn is_logical(expression: &SimpleExpression) -> bool {
    matches!(expression, SimpleExpression::Binary(Operator::And | Operator::Or, _))
}
