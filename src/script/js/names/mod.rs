//! The names that an expression reads, for a check before anything runs. Only simple expressions
//! are parsed: names, members, literals, operators, and calls of methods and pure functions, as
//! `n + 1`, `A.length > 3 && !done` or `list.filter(x => x.ok).length`.

mod parse;
mod parse_arrow;
mod read;

pub use read::names_read;

/// The parts of a parsed expression, as far as they tell its names.
#[derive(Debug)]
enum SimpleExpression {
    /// A number, a truth, or a text.
    Literal,
    /// `null` or `undefined`.
    Nothing,
    Name(Box<str>),
    /// A list, a template literal, or a call of a function of the language.
    Parts(Vec<SimpleArg>),
    /// A value, the arguments and indices after it, and whether `?.` follows it.
    Path(Box<SimpleExpression>, Vec<SimpleArg>, bool),
    TypeOf(Box<SimpleExpression>),
    Binary(Operator, Box<[SimpleExpression; 2]>),
}

#[derive(Debug)]
enum SimpleArg {
    /// A value, or `...` before one.
    Value(SimpleExpression),
    /// The names of the parameters, and the value.
    Arrow(Vec<Box<str>>, SimpleExpression),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Coalesce,
    Or,
    And,
    Equal,
    Other,
}
