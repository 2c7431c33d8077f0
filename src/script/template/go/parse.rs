//! Parses the tokens of actions to a tree.

use super::lex::{self, GoPart, GoToken};
use crate::error::ScriptError;
use crate::template::limits::template_error;

/// Deepest nesting of blocks and brackets.
const DEPTH: usize = 64;

#[derive(Debug, PartialEq)]
pub(super) enum GoNode {
    Text(String),
    Print {
        pipe: Pipe,
        line: usize,
    },
    /// One of `if` and `with`, its branches in order, and `else`.
    Branch {
        with: bool,
        pipe: Pipe,
        then: Vec<GoNode>,
        other: Vec<GoNode>,
        line: usize,
    },
    Range {
        pipe: Pipe,
        body: Vec<GoNode>,
        other: Vec<GoNode>,
        line: usize,
    },
    Break,
    Continue,
}

/// `$i, $v := command | command`.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Pipe {
    /// The variables that get the value, without `$`.
    pub(super) names: Vec<String>,
    /// True for `:=`, false for `=`.
    pub(super) declares: bool,
    pub(super) commands: Vec<Vec<Term>>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Term {
    Field(Vec<String>),
    Variable(String, Vec<String>),
    Function(String),
    Literal(serde_json::Value),
    /// `(pipe).a.b`.
    Inner(Pipe, Vec<String>),
}

pub(super) fn parse(text: &str) -> Result<Vec<GoNode>, ScriptError> {
    let mut parser = Parser { parts: lex::split_parts(text)?.into_iter() };
    let (nodes, end) = parser.parse_nodes(0)?;
    match end {
        None => Ok(nodes),
        Some(Closing { line, word, .. }) => {
            Err(template_error(line, format!("`{word}` without its beginning")))
        }
    }
}

struct Parser<'a> {
    parts: std::vec::IntoIter<GoPart<'a>>,
}

/// `else` or `end`, and the text after `else`.
struct Closing {
    word: &'static str,
    rest: Vec<GoToken>,
    line: usize,
}

impl Parser<'_> {
    fn parse_nodes(&mut self, depth: usize) -> Result<(Vec<GoNode>, Option<Closing>), ScriptError> {
        let mut out = Vec::new();
        while let Some(part) = self.parts.next() {
            let (inside, line) = match part {
                GoPart::Text(text) => {
                    out.push(GoNode::Text(text.to_owned()));
                    continue;
                }
                GoPart::Action { inside, line } => (inside, line),
            };
            if inside.starts_with("/*") || inside.is_empty() {
                continue;
            }
            if depth > DEPTH {
                return Err(template_error(line, "the blocks are nested too deep"));
            }
            let mut tokens = lex::tokenize(inside, line)?;
            let word = match tokens.first() {
                Some(GoToken::Word(word)) => word.clone(),
                _ => String::new(),
            };
            match word.as_str() {
                "if" | "with" | "range" => {
                    tokens.remove(0);
                    out.push(self.parse_block(&word, tokens, line, depth)?);
                }
                "else" | "end" => {
                    tokens.remove(0);
                    let word = if word == "end" { "end" } else { "else" };
                    return Ok((out, Some(Closing { word, rest: tokens, line })));
                }
                "break" => out.push(GoNode::Break),
                "continue" => out.push(GoNode::Continue),
                "define" | "template" | "block" => {
                    return Err(template_error(
                        line,
                        format!("`{word}` is not part of these templates"),
                    ));
                }
                _ => out.push(GoNode::Print { pipe: parse_pipe(&tokens, line)?, line }),
            }
        }
        Ok((out, None))
    }

    fn parse_block(
        &mut self,
        word: &str,
        tokens: Vec<GoToken>,
        line: usize,
        depth: usize,
    ) -> Result<GoNode, ScriptError> {
        let pipe = parse_pipe(&tokens, line)?;
        let missing = || template_error(line, format!("`{word}` without its `end`"));
        let (body, end) = self.parse_nodes(depth + 1)?;
        let closing = end.ok_or_else(missing)?;
        let other = match (closing.word, closing.rest.first()) {
            ("end", _) => Vec::new(),
            (_, None) => {
                let (other, end) = self.parse_nodes(depth + 1)?;
                if end.ok_or_else(missing)?.word != "end" {
                    return Err(template_error(line, "a second `else`"));
                }
                other
            }
            // `else if` closes with the same `end`.
            (_, Some(GoToken::Word(next))) if matches!(next.as_str(), "if" | "with") => {
                let next = next.clone();
                let rest = closing.rest.into_iter().skip(1).collect();
                if depth > DEPTH {
                    return Err(template_error(closing.line, "the blocks are nested too deep"));
                }
                vec![self.parse_block(&next, rest, closing.line, depth + 1)?]
            }
            _ => {
                return Err(template_error(
                    closing.line,
                    "`else` is followed by something else than `if` or `with`",
                ));
            }
        };
        Ok(match word {
            "range" => GoNode::Range { pipe, body, other, line },
            _ => GoNode::Branch { with: word == "with", pipe, then: body, other, line },
        })
    }
}

fn parse_pipe(tokens: &[GoToken], line: usize) -> Result<Pipe, ScriptError> {
    let mut rest = tokens;
    let pipe = parse_pipe_until_end(&mut rest, line, 0)?;
    if rest.is_empty() { Ok(pipe) } else { Err(template_error(line, "a closing bracket too many")) }
}

fn parse_pipe_until_end(
    tokens: &mut &[GoToken],
    line: usize,
    depth: usize,
) -> Result<Pipe, ScriptError> {
    if depth > DEPTH {
        return Err(template_error(line, "the brackets are nested too deep"));
    }
    let mut pipe = Pipe::default();
    parse_declaration(tokens, &mut pipe);
    let mut command = Vec::new();
    while let Some((token, after)) = tokens.split_first() {
        if *token == GoToken::Sign(")") {
            break;
        }
        *tokens = after;
        match token {
            GoToken::Field(names) => command.push(Term::Field(names.clone())),
            GoToken::Variable(name, names) => {
                command.push(Term::Variable(name.clone(), names.clone()))
            }
            GoToken::Text(text) => command.push(Term::Literal(text.clone().into())),
            GoToken::Number(number) => command.push(Term::Literal(number.clone())),
            GoToken::Word(word) => command.push(match word.as_str() {
                "true" => Term::Literal(true.into()),
                "false" => Term::Literal(false.into()),
                "nil" => Term::Literal(serde_json::Value::Null),
                _ => Term::Function(word.clone()),
            }),
            GoToken::Sign("(") => {
                let inner = parse_pipe_until_end(tokens, line, depth + 1)?;
                let Some((GoToken::Sign(")"), after)) = tokens.split_first() else {
                    return Err(template_error(line, "a bracket is not closed"));
                };
                *tokens = after;
                let mut names = Vec::new();
                if let Some((GoToken::TrailingField(behind), after)) = tokens.split_first() {
                    names.clone_from(behind);
                    *tokens = after;
                }
                command.push(Term::Inner(inner, names));
            }
            GoToken::Sign("|") => {
                if command.is_empty() {
                    return Err(template_error(line, "nothing stands in front of `|`"));
                }
                pipe.commands.push(std::mem::take(&mut command));
            }
            GoToken::Sign(sign) => {
                return Err(template_error(line, format!("`{sign}` is not expected here")));
            }
            GoToken::TrailingField(_) => {
                return Err(template_error(line, "a field is not expected here"));
            }
        }
    }
    if command.is_empty() {
        return Err(template_error(line, "a value is missing"));
    }
    pipe.commands.push(command);
    Ok(pipe)
}

/// `$x :=`, `$i, $v :=`, `$x =`.
fn parse_declaration(tokens: &mut &[GoToken], pipe: &mut Pipe) {
    let (names, after) = match *tokens {
        [GoToken::Variable(a, x), GoToken::Sign(","), GoToken::Variable(b, y), after @ ..]
            if x.is_empty() && y.is_empty() =>
        {
            (vec![a.clone(), b.clone()], after)
        }
        [GoToken::Variable(a, x), after @ ..] if x.is_empty() => (vec![a.clone()], after),
        _ => return,
    };
    if let [GoToken::Sign(sign @ (":=" | "=")), after @ ..] = after {
        pipe.names = names;
        pipe.declares = *sign == ":=";
        *tokens = after;
    }
}
