//! Splits the arguments of a call: `5+2, lang="zh", {a: 1}`. Each value stays the expression its
//! author wrote. Input of a model or of the user is not an expression: [`json5`](super::json5)
//! parses that.

use super::delimiters;

/// Maximum number of arguments of one call; the rest is dropped.
pub const MAX_ARGUMENTS: usize = 256;

/// One argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    /// `None` for a positional argument.
    pub name: Option<String>,
    /// The expression as written, trimmed.
    pub expr: String,
}

/// A call as written: `name`, `name(args)`, `$name(args)`, `$|name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallExpr {
    /// The name without `$` and `$|`; with `/ - . :` for a script ID.
    pub name: String,
    /// True for `$name`: a directive or function; false for the ID of a script.
    pub directive: bool,
    /// `$|name`: the last result is passed as an argument.
    pub pipe: bool,
    pub args: Vec<Arg>,
}

/// Splits the text between the brackets of a call into its arguments.
pub fn read(text: &str) -> Vec<Arg> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let mut args: Vec<Arg> = delimiters::split_outside(text, ',')
        .into_iter()
        .take(MAX_ARGUMENTS)
        .map(parse_arg)
        .collect();
    // `f(a,)`: a trailing comma adds no argument.
    if args.last().is_some_and(|arg| arg.name.is_none() && arg.expr.is_empty()) {
        args.pop();
    }
    args
}

fn parse_arg(text: &str) -> Arg {
    let text = text.trim();
    match split_named(text) {
        Some((name, expr)) => Arg { name: Some(name.to_owned()), expr: expr.trim().to_owned() },
        None => Arg { name: None, expr: text.to_owned() },
    }
}

/// `k=v`, but neither `k == v` nor `k => v`.
fn split_named(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = match text.chars().next()? {
        quote @ ('"' | '\'') => {
            let (name, rest) = text.strip_prefix(quote)?.split_once(quote)?;
            // After a backslash the quote continues, and an apparent `=` is text.
            (!name.contains('\\')).then_some((name, rest))?
        }
        '!' => delimiters::leading_word(text.strip_prefix('!')?, |_| false)
            .map(|(name, rest)| (text.split_at(name.len() + 1).0, rest))?,
        _ => delimiters::leading_word(text, |c| c == '-' || c == '.')?,
    };
    let value = rest.trim_start().strip_prefix('=')?;
    let free =
        !value.starts_with(['=', '>', '~']) && !name.is_empty() && !name.ends_with(['-', '.']);
    free.then_some((name, value))
}

/// Parses a call that fills the whole text; `None` if there is anything else.
pub fn parse_call(text: &str) -> Option<CallExpr> {
    let (call, rest) = parse_leading_call(text.trim())?;
    rest.trim().is_empty().then_some(call)
}

/// The call at the start of the text, and the rest.
pub fn parse_leading_call(text: &str) -> Option<(CallExpr, &str)> {
    let (directive, pipe, after) = match text.strip_prefix('$') {
        Some(after) => match after.strip_prefix('|') {
            Some(piped) => (true, true, piped.strip_prefix('$').unwrap_or(piped)),
            None => (true, false, after),
        },
        None => (false, false, text),
    };
    let (name, rest) = leading_name(after)?;
    let (args, rest) = match rest.strip_prefix('(') {
        Some(open) => {
            let (within, rest) = delimiters::bracket_content(open, ')')?;
            (read(within), rest)
        }
        None => (Vec::new(), rest),
    };
    Some((CallExpr { name: name.to_owned(), directive, pipe, args }, rest))
}

/// The name of a directive or the ID of a script; it may not end in `-`, so that
/// `a->b` is a chain, nor in `.` or `:`.
fn leading_name(text: &str) -> Option<(&str, &str)> {
    let end = text
        .char_indices()
        .find(|(at, c)| {
            let arrow = *c == '-' && text.split_at(*at).1.starts_with("->");
            arrow || !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '$' | '#'))
        })
        .map_or(text.len(), |(at, _)| at);
    let (name, _) = text.split_at(end);
    let name = name.trim_end_matches(['.', ':', '#']);
    let starts = name.chars().next()?;
    let good = starts.is_alphanumeric() || matches!(starts, '_' | '.' | '/');
    good.then(|| text.split_at(name.len()))
}

/// `-> a(x=1) -> $print`: the calls from left to right; `None` if the line does not begin with `->`
/// or one of its links is not a call.
pub fn parse_chain(text: &str) -> Option<Vec<CallExpr>> {
    let mut rest = text.trim();
    let mut calls = Vec::new();
    while !rest.is_empty() {
        let (call, after) = parse_leading_call(rest.strip_prefix("->")?.trim_start())?;
        calls.push(call);
        rest = after.trim_start();
    }
    (!calls.is_empty()).then_some(calls)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(args: &[Arg]) -> Vec<String> {
        args.iter()
            .map(|arg| match &arg.name {
                Some(name) => format!("{name}={}", arg.expr),
                None => arg.expr.clone(),
            })
            .collect()
    }

    #[test]
    fn arguments_are_split_at_commas_outside_quotes_and_brackets() {
        assert_eq!(
            shown(&read("5+2, lang=\"zh, en\", {a: [1, 2]}")),
            ["5+2", "lang=\"zh, en\"", "{a: [1, 2]}"]
        );
        assert_eq!(shown(&read("file.txt")), ["file.txt"]);
        assert_eq!(
            shown(&read("a == b, x => x + 1, ok=c==d")),
            ["a == b", "x => x + 1", "ok=c==d"]
        );
        assert_eq!(shown(&read("葡萄牙语='x', 'a b'=1")), ["葡萄牙语='x'", "a b=1"]);
        assert_eq!(shown(&read("a,")), ["a"]);
        assert_eq!(shown(&read(r#""a\"=v, 'b'=1""#)), [r#""a\"=v, 'b'=1""#]);
        assert!(read("  ").is_empty());
    }

    #[test]
    fn a_call_is_a_directive_or_a_script() {
        let call = parse_call("$print(JOKE)").unwrap();
        assert_eq!((call.name.as_str(), call.directive, call.args.len()), ("print", true, 1));
        let piped = super::parse_call("$|merge(a=1)").unwrap();
        assert!(piped.pipe && piped.directive);
        assert_eq!(super::parse_call("lib/char-dobby_2").unwrap().name, "lib/char-dobby_2");
        assert_eq!(super::parse_call("$path.basename('/x/y')").unwrap().name, "path.basename");
        assert_eq!(super::parse_call("two words"), None);
        assert_eq!(super::parse_call("open(1"), None);
        assert_eq!(super::parse_call(""), None);
    }

    /// ISDK-083: several links run from left to right.
    #[test]
    fn isdk_083_a_chain_names_its_links_from_left_to_right() {
        let names = |text: &str| -> Option<Vec<String>> {
            parse_chain(text).map(|calls| calls.into_iter().map(|call| call.name).collect())
        };
        assert_eq!(names("-> a(x=\"1 -> 2\") -> $print").unwrap(), ["a", "print"]);
        assert_eq!(names("->a->b-c").unwrap(), ["a", "b-c"]);
        assert_eq!(names("-> a b"), None);
        assert_eq!(names("->"), None);
        assert_eq!(names("a -> b"), None);
    }
}
