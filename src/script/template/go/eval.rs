//! Evaluates the tree of a Go template.

use serde_json::Value;

use super::call;
use super::parse::{GoNode, Pipe, Term};
use crate::script::fault::ScriptError;
use crate::script::template::{MOST_OUTPUT, broken, print, too_much};
use crate::words::script as words;

/// Maximum number of nodes and terms one rendering may visit.
const STEPS: usize = 2_000_000;

pub(super) fn run(nodes: &[GoNode], data: &Value) -> Result<String, ScriptError> {
    let mut walk = Walk { root: data, variables: Vec::new(), out: String::new(), steps: 0 };
    walk.nodes(nodes, data)?;
    Ok(walk.out)
}

struct Walk<'a> {
    root: &'a Value,
    variables: Vec<(String, Value)>,
    out: String,
    steps: usize,
}

/// How a body ended.
enum Flow {
    On,
    Break,
    Continue,
}

impl Walk<'_> {
    fn step(&mut self) -> Result<(), ScriptError> {
        self.charge(1)
    }

    fn charge(&mut self, steps: usize) -> Result<(), ScriptError> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > STEPS { Err(words::TEMPLATE_WORK.into()) } else { Ok(()) }
    }

    fn put(&mut self, text: &str) -> Result<(), ScriptError> {
        if self.out.len() + text.len() > MOST_OUTPUT {
            return Err(too_much());
        }
        self.out.push_str(text);
        Ok(())
    }

    /// A body with its own variable scope.
    fn nodes(&mut self, nodes: &[GoNode], dot: &Value) -> Result<Flow, ScriptError> {
        let known = self.variables.len();
        let mut flow = Flow::On;
        for node in nodes {
            flow = self.node(node, dot)?;
            if !matches!(flow, Flow::On) {
                break;
            }
        }
        self.variables.truncate(known);
        Ok(flow)
    }

    fn node(&mut self, node: &GoNode, dot: &Value) -> Result<Flow, ScriptError> {
        self.step()?;
        match node {
            GoNode::Text(text) => self.put(text)?,
            GoNode::Print { pipe, line } => {
                let value = self.pipe(pipe, dot, *line)?;
                if pipe.names.is_empty() {
                    self.put(&print::text(&value))?;
                } else if let Some(name) = pipe.names.first() {
                    self.assign(name, value, pipe.declares);
                }
            }
            GoNode::Branch { with, pipe, then, other, line } => {
                let known = self.variables.len();
                let value = self.pipe(pipe, dot, *line)?;
                if let Some(name) = pipe.names.first() {
                    self.assign(name, value.clone(), pipe.declares);
                }
                let flow = if !call::truth(&value) {
                    self.nodes(other, dot)
                } else if *with {
                    self.nodes(then, &value)
                } else {
                    self.nodes(then, dot)
                };
                self.variables.truncate(known);
                return flow;
            }
            GoNode::Range { pipe, body, other, line } => {
                self.range(pipe, body, other, dot, *line)?
            }
            GoNode::Break => return Ok(Flow::Break),
            GoNode::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::On)
    }

    fn assign(&mut self, name: &str, value: Value, declares: bool) {
        let known = self.variables.iter_mut().rev().find(|(known, _)| known == name);
        match known {
            Some((_, old)) if !declares => *old = value,
            _ => self.variables.push((name.to_owned(), value)),
        }
    }

    fn range(
        &mut self,
        pipe: &Pipe,
        body: &[GoNode],
        other: &[GoNode],
        dot: &Value,
        line: usize,
    ) -> Result<(), ScriptError> {
        let value = self.pipe(pipe, dot, line)?;
        let items: Vec<(Value, Value)> = match value {
            Value::Array(items) => {
                items.into_iter().enumerate().map(|(at, item)| (Value::from(at), item)).collect()
            }
            // Go iterates maps in the order of their keys.
            Value::Object(map) => {
                let mut items: Vec<_> =
                    map.into_iter().map(|(key, item)| (Value::from(key), item)).collect();
                items.sort_by(|(a, _), (b, _)| a.as_str().cmp(&b.as_str()));
                items
            }
            Value::Number(count) => {
                let count = count.as_u64().unwrap_or(0).min(STEPS as u64);
                (0..count).map(|at| (Value::from(at), Value::from(at))).collect()
            }
            Value::Null => Vec::new(),
            _ => return Err(broken(line, "`range` needs a list, a map or a number")),
        };
        if items.is_empty() {
            self.nodes(other, dot)?;
        }
        let known = self.variables.len();
        for (key, item) in items {
            self.step()?;
            match pipe.names.as_slice() {
                [one] => self.assign(one, item.clone(), pipe.declares),
                [index, one] => {
                    self.assign(index, key, pipe.declares);
                    self.assign(one, item.clone(), pipe.declares);
                }
                _ => {}
            }
            let flow = self.nodes(body, &item)?;
            self.variables.truncate(known);
            if matches!(flow, Flow::Break) {
                break;
            }
        }
        Ok(())
    }

    fn pipe(&mut self, pipe: &Pipe, dot: &Value, line: usize) -> Result<Value, ScriptError> {
        let mut last: Option<Value> = None;
        for command in &pipe.commands {
            last = Some(self.command(command, last.take(), dot, line)?);
        }
        Ok(last.unwrap_or(Value::Null))
    }

    fn command(
        &mut self,
        terms: &[Term],
        piped: Option<Value>,
        dot: &Value,
        line: usize,
    ) -> Result<Value, ScriptError> {
        self.step()?;
        let Some((head, args)) = terms.split_first() else { return Ok(Value::Null) };
        let Term::Function(name) = head else {
            if !args.is_empty() || piped.is_some() {
                return Err(broken(line, "only a function takes arguments"));
            }
            return self.term(head, dot, line);
        };
        let mut values = Vec::new();
        for arg in args {
            let value = self.term(arg, dot, line)?;
            // `and` and `or` short-circuit.
            let truth = call::truth(&value);
            if (name == "and" && !truth) || (name == "or" && truth) {
                return Ok(value);
            }
            values.push(value);
        }
        values.extend(piped);
        let value = call::call(name, &values, line)?;
        self.charge(weight(&value))?;
        Ok(value)
    }

    fn term(&mut self, term: &Term, dot: &Value, line: usize) -> Result<Value, ScriptError> {
        let value = self.value(term, dot, line)?;
        self.charge(1 + weight(&value))?;
        Ok(value)
    }

    fn value(&mut self, term: &Term, dot: &Value, line: usize) -> Result<Value, ScriptError> {
        Ok(match term {
            Term::Field(names) => find(dot, names),
            Term::Variable(name, names) if name.is_empty() => find(self.root, names),
            Term::Variable(name, names) => {
                let known = self.variables.iter().rev().find(|(known, _)| known == name);
                let (_, value) =
                    known.ok_or_else(|| broken(line, format!("there is no variable `${name}`")))?;
                find(value, names)
            }
            Term::Function(name) => call::call(name, &[], line)?,
            Term::Literal(value) => value.clone(),
            Term::Inner(pipe, names) => {
                let value = self.pipe(pipe, dot, line)?;
                if let Some(name) = pipe.names.first() {
                    self.assign(name, value.clone(), pipe.declares);
                }
                find(&value, names)
            }
        })
    }
}

/// Follows field names; a missing field is null. `.Content` also finds `content`, since Go's fields
/// are capitalised.
fn find(value: &Value, names: &[String]) -> Value {
    let mut value = value;
    for name in names {
        let mut chars = name.chars();
        let small: String =
            chars.next().into_iter().flat_map(char::to_lowercase).chain(chars).collect();
        match value.get(name.as_str()).or_else(|| value.get(small.as_str())) {
            Some(next) => value = next,
            None => return Value::Null,
        }
    }
    value.clone()
}

/// The cost of copying a value, in steps.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() / 64,
        Value::Array(items) => items.iter().map(|item| 1 + weight(item)).sum(),
        Value::Object(map) => map.values().map(|item| 1 + weight(item)).sum(),
        _ => 0,
    }
}
