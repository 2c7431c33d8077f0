//! Evaluates the tree of a Go template.

use serde_json::Value;

use super::call;
use super::parse::{GoNode, Pipe, Term};
use crate::error::ScriptError;
use crate::template::limits::{MAX_OUTPUT, output_limit_error, template_error};
use crate::template::print;
use avocet_core::i18n::script as phrases;

/// Maximum number of nodes and terms one rendering may visit.
const STEPS: usize = 2_000_000;

pub(super) fn run(nodes: &[GoNode], data: &Value) -> Result<String, ScriptError> {
    let mut evaluator =
        Evaluator { root: data, variables: Vec::new(), out: String::new(), steps: 0 };
    evaluator.eval_nodes(nodes, data)?;
    Ok(evaluator.out)
}

struct Evaluator<'a> {
    root: &'a Value,
    variables: Vec<(String, Value)>,
    out: String,
    steps: usize,
}

/// How a body ended.
enum LoopFlow {
    Normal,
    Break,
    Continue,
}

impl Evaluator<'_> {
    fn count_step(&mut self) -> Result<(), ScriptError> {
        self.count_steps(1)
    }

    fn count_steps(&mut self, steps: usize) -> Result<(), ScriptError> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > STEPS { Err(ScriptError::limit(phrases::TEMPLATE_WORK)) } else { Ok(()) }
    }

    fn push_text(&mut self, text: &str) -> Result<(), ScriptError> {
        if self.out.len() + text.len() > MAX_OUTPUT {
            return Err(output_limit_error());
        }
        self.out.push_str(text);
        Ok(())
    }

    /// A body with its own variable scope.
    fn eval_nodes(&mut self, nodes: &[GoNode], dot: &Value) -> Result<LoopFlow, ScriptError> {
        let known = self.variables.len();
        let mut flow = LoopFlow::Normal;
        for node in nodes {
            flow = self.eval_node(node, dot)?;
            if !matches!(flow, LoopFlow::Normal) {
                break;
            }
        }
        self.variables.truncate(known);
        Ok(flow)
    }

    fn eval_node(&mut self, node: &GoNode, dot: &Value) -> Result<LoopFlow, ScriptError> {
        self.count_step()?;
        match node {
            GoNode::Text(text) => self.push_text(text)?,
            GoNode::Print { pipe, line } => {
                let value = self.eval_pipe(pipe, dot, *line)?;
                if pipe.names.is_empty() {
                    self.push_text(&print::text(&value))?;
                } else if let Some(name) = pipe.names.first() {
                    self.assign(name, value, pipe.declares);
                }
            }
            GoNode::Branch { with, pipe, then, other, line } => {
                let known = self.variables.len();
                let value = self.eval_pipe(pipe, dot, *line)?;
                if let Some(name) = pipe.names.first() {
                    self.assign(name, value.clone(), pipe.declares);
                }
                let flow = if !call::is_truthy(&value) {
                    self.eval_nodes(other, dot)
                } else if *with {
                    self.eval_nodes(then, &value)
                } else {
                    self.eval_nodes(then, dot)
                };
                self.variables.truncate(known);
                return flow;
            }
            GoNode::Range { pipe, body, other, line } => {
                self.eval_range(pipe, body, other, dot, *line)?
            }
            GoNode::Break => return Ok(LoopFlow::Break),
            GoNode::Continue => return Ok(LoopFlow::Continue),
        }
        Ok(LoopFlow::Normal)
    }

    fn assign(&mut self, name: &str, value: Value, declares: bool) {
        let known = self.variables.iter_mut().rev().find(|(known, _)| known == name);
        match known {
            Some((_, old)) if !declares => *old = value,
            _ => self.variables.push((name.to_owned(), value)),
        }
    }

    fn eval_range(
        &mut self,
        pipe: &Pipe,
        nodes: &[GoNode],
        go_nodes: &[GoNode],
        dot: &Value,
        line: usize,
    ) -> Result<(), ScriptError> {
        let value = self.eval_pipe(pipe, dot, line)?;
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
            _ => return Err(template_error(line, "`range` needs a list, a map or a number")),
        };
        if items.is_empty() {
            self.eval_nodes(go_nodes, dot)?;
        }
        let known = self.variables.len();
        for (key, item) in items {
            self.count_step()?;
            match pipe.names.as_slice() {
                [one] => self.assign(one, item.clone(), pipe.declares),
                [index, one] => {
                    self.assign(index, key, pipe.declares);
                    self.assign(one, item.clone(), pipe.declares);
                }
                _ => {}
            }
            let flow = self.eval_nodes(nodes, &item)?;
            self.variables.truncate(known);
            if matches!(flow, LoopFlow::Break) {
                break;
            }
        }
        Ok(())
    }

    fn eval_pipe(&mut self, pipe: &Pipe, dot: &Value, line: usize) -> Result<Value, ScriptError> {
        let mut last: Option<Value> = None;
        for command in &pipe.commands {
            last = Some(self.eval_command(command, last.take(), dot, line)?);
        }
        Ok(last.unwrap_or(Value::Null))
    }

    fn eval_command(
        &mut self,
        terms: &[Term],
        piped: Option<Value>,
        dot: &Value,
        line: usize,
    ) -> Result<Value, ScriptError> {
        self.count_step()?;
        let Some((head, args)) = terms.split_first() else { return Ok(Value::Null) };
        let Term::Function(name) = head else {
            if !args.is_empty() || piped.is_some() {
                return Err(template_error(line, "only a function takes arguments"));
            }
            return self.eval_term(head, dot, line);
        };
        let mut values = Vec::new();
        for arg in args {
            let value = self.eval_term(arg, dot, line)?;
            // `and` and `or` short-circuit.
            let truth = call::is_truthy(&value);
            if (name == "and" && !truth) || (name == "or" && truth) {
                return Ok(value);
            }
            values.push(value);
        }
        values.extend(piped);
        let value = call::call(name, &values, line)?;
        self.count_steps(copy_cost(&value))?;
        Ok(value)
    }

    fn eval_term(&mut self, term: &Term, dot: &Value, line: usize) -> Result<Value, ScriptError> {
        let value = self.term_value(term, dot, line)?;
        self.count_steps(1 + copy_cost(&value))?;
        Ok(value)
    }

    fn term_value(&mut self, term: &Term, dot: &Value, line: usize) -> Result<Value, ScriptError> {
        Ok(match term {
            Term::Field(names) => follow_fields(dot, names),
            Term::Variable(name, names) if name.is_empty() => follow_fields(self.root, names),
            Term::Variable(name, names) => {
                let known = self.variables.iter().rev().find(|(known, _)| known == name);
                let (_, value) = known.ok_or_else(|| {
                    template_error(line, format!("there is no variable `${name}`"))
                })?;
                follow_fields(value, names)
            }
            Term::Function(name) => call::call(name, &[], line)?,
            Term::Literal(value) => value.clone(),
            Term::Inner(pipe, names) => {
                let value = self.eval_pipe(pipe, dot, line)?;
                if let Some(name) = pipe.names.first() {
                    self.assign(name, value.clone(), pipe.declares);
                }
                follow_fields(&value, names)
            }
        })
    }
}

/// Follows field names; a missing field is null. `.Content` also finds `content`, since Go's fields
/// are capitalised.
fn follow_fields(value: &Value, names: &[String]) -> Value {
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
fn copy_cost(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() / 64,
        Value::Array(items) => items.iter().map(|item| 1 + copy_cost(item)).sum(),
        Value::Object(map) => map.values().map(|item| 1 + copy_cost(item)).sum(),
        _ => 0,
    }
}
