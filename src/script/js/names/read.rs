//! Collects the names of a parsed expression.

use super::{Operator, SimpleArg, SimpleExpression, parse};

/// Longest expression that is parsed, in bytes.
const MAX_EXPRESSION: usize = 1024;

/// The names that an expression reads of what is around it; `None` if it is not a simple one. Names
/// that it expects to be missing, as in `x ?? 1` or `typeof x`, are not among them.
pub fn names_read(text: &str) -> Option<Vec<String>> {
    if text.len() > MAX_EXPRESSION {
        return None;
    }
    let expression = parse::parse(text)?;
    let mut reader = NameReader::default();
    reader.visit(&expression);
    let NameReader { mut names, optional, .. } = reader;
    names.retain(|name| !optional.contains(name));
    Some(names)
}

#[derive(Default)]
struct NameReader {
    names: Vec<String>,
    /// Names that may be missing.
    optional: Vec<String>,
    /// The parameters of the arrow functions around.
    local: Vec<String>,
}

impl NameReader {
    fn visit(&mut self, expression: &SimpleExpression) {
        match expression {
            SimpleExpression::Literal | SimpleExpression::Nothing => {}
            SimpleExpression::Name(name) => {
                let name = name.to_string();
                if !self.local.contains(&name) && !self.names.contains(&name) {
                    self.names.push(name);
                }
            }
            SimpleExpression::Parts(parts) => self.visit_all(parts),
            SimpleExpression::Path(root, args, optional) => {
                self.visit(root);
                self.visit_all(args);
                if *optional {
                    self.may_be_missing(root);
                }
            }
            SimpleExpression::TypeOf(inner) => self.may_be_missing(inner),
            SimpleExpression::Binary(operator, sides) => {
                sides.iter().for_each(|side| self.visit(side));
                let [left, right] = sides.as_ref();
                match operator {
                    Operator::Coalesce | Operator::Or => self.may_be_missing(left),
                    Operator::Equal if is_nothing(right) => self.may_be_missing(left),
                    Operator::Equal if is_nothing(left) => self.may_be_missing(right),
                    Operator::And | Operator::Equal | Operator::Other => {}
                }
            }
        }
    }

    fn visit_all(&mut self, args: &[SimpleArg]) {
        for arg in args {
            match arg {
                SimpleArg::Value(value) => self.visit(value),
                SimpleArg::Arrow(parameters, body) => {
                    let outer = self.local.len();
                    self.local.extend(parameters.iter().map(ToString::to_string));
                    self.visit(body);
                    self.local.truncate(outer);
                }
            }
        }
    }

    fn may_be_missing(&mut self, expression: &SimpleExpression) {
        match expression {
            SimpleExpression::Name(name) => self.optional.push(name.to_string()),
            SimpleExpression::Path(root, ..) => self.may_be_missing(root),
            _ => {}
        }
    }
}

/// Whether it is `null` or `undefined`.
fn is_nothing(expression: &SimpleExpression) -> bool {
    matches!(expression, SimpleExpression::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_an_expression_reads_are_those_around_it() {
        let cases: &[(&str, Option<&[&str]>)] = &[
            ("total + 1", Some(&["total"])),
            ("a.b[c].d(e, ...f) && `x ${g}`", Some(&["a", "c", "e", "f", "g"])),
            ("list.filter(x => x.ok && y).length", Some(&["list", "y"])),
            ("{a, b: c, ...d}", Some(&["a", "c", "d"])),
            ("Math.max(a, 2)", Some(&["a"])),
            ("a ? b : 'c'", Some(&["a", "b"])),
            ("f(1)", None),
            ("a = 1", None),
        ];
        for (text, names) in cases {
            let wanted = names.map(|names| names.iter().map(ToString::to_string).collect());
            assert_eq!(names_read(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_name_that_is_expected_to_be_missing_is_not_among_them() {
        for text in
            ["a ?? 1", "a || 'x'", "typeof a", "a === undefined", "null != a", "a?.b", "a.b ?? 1"]
        {
            assert_eq!(names_read(text), Some(Vec::new()), "{text}");
        }
        assert_eq!(names_read("a ?? b"), Some(vec!["b".to_owned()]));
    }
}
