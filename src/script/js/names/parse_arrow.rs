//! Parses the arrow functions among the arguments of a call.

use super::SimpleExpression;
use super::parse::{ExpressionParser, RESERVED};

impl<'t> ExpressionParser<'t> {
    /// The names of `name =>` or `(a, {b}, [c]) =>`; nothing is read if there is none.
    pub fn parse_arrow_head(&mut self) -> Option<Vec<Box<str>>> {
        let mut parser = ExpressionParser { rest: self.rest, depth: 0 };
        let names: Vec<Box<str>> = if parser.eat("(") {
            parser
                .parse_all(")", ExpressionParser::parse_parameter)?
                .into_iter()
                .flatten()
                .collect()
        } else {
            vec![parser.parse_own_name()?.into()]
        };
        let is_twice = |at: usize| names[..at].contains(&names[at]);
        if (0..names.len()).any(is_twice) {
            return None;
        }
        // No line may end before the arrow.
        let before = parser.rest;
        let is_arrow = parser.eat("=>") && !before.split_once("=>")?.0.contains(['\n', '\r']);
        self.rest = if is_arrow { parser.rest } else { self.rest };
        is_arrow.then_some(names)
    }

    /// A value, or a block that returns one.
    pub fn parse_arrow_body(&mut self) -> Option<SimpleExpression> {
        if !self.eat("{") {
            return self.parse_choice();
        }
        self.skip_space();
        // A line that ends after `return` returns nothing.
        let is_value = self.eat_word("return") && {
            let value = self.rest.trim_start_matches([' ', '\t']);
            !value.starts_with(['\n', '\r'])
        };
        let value = if is_value { self.parse_choice()? } else { return None };
        self.eat(";");
        self.eat("}").then_some(value)
    }

    fn parse_all<T>(
        &mut self,
        end: &str,
        parse: impl Fn(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut all = Vec::new();
        while !self.eat(end) {
            all.push(parse(self)?);
            self.skip_space();
            if !self.eat(",") && !self.rest.starts_with(end) {
                return None;
            }
        }
        Some(all)
    }

    fn parse_parameter(&mut self) -> Option<Vec<Box<str>>> {
        if self.eat("{") {
            self.parse_all("}", ExpressionParser::parse_field)
        } else if self.eat("[") {
            self.parse_all("]", |parser| parser.parse_own_name().map(Box::from))
        } else {
            self.parse_own_name().map(|name| vec![name.into()])
        }
    }

    /// The name of `key` or `key: name`.
    fn parse_field(&mut self) -> Option<Box<str>> {
        let mut parser = ExpressionParser { rest: self.rest, depth: 0 };
        parser.parse_name().filter(|_| !parser.rest.starts_with('$'))?;
        if parser.eat(":") {
            self.rest = parser.rest;
        }
        self.parse_own_name().map(Box::from)
    }

    fn parse_own_name(&mut self) -> Option<&'t str> {
        let name = self.parse_name()?;
        let is_word = ["true", "false", "null", "undefined"].contains(&name);
        (!is_word && !RESERVED.contains(&name) && !self.rest.starts_with('$')).then_some(name)
    }
}
