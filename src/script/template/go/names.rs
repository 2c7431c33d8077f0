//! The names that a template reads, found without rendering it.

use std::collections::BTreeSet;

use super::parse::{GoNode, Pipe, Term};

/// The names, each once; functions with the line of a call.
#[derive(Debug, Default)]
pub(super) struct GoNames<'a> {
    read: BTreeSet<&'a str>,
    /// What a condition or a default allows to be missing.
    optional: BTreeSet<&'a str>,
    pub(super) functions: Vec<(&'a str, usize)>,
}

impl GoNames<'_> {
    /// The fields of the data that must be there.
    pub(super) fn required(&self) -> Vec<String> {
        self.read.difference(&self.optional).map(|name| (*name).to_owned()).collect()
    }
}

pub(super) fn read(nodes: &[GoNode]) -> GoNames<'_> {
    let mut names = GoNames::default();
    names.add_nodes(nodes, true);
    names
}

/// What a value is used for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldUse {
    Required,
    Optional,
}

impl<'a> GoNames<'a> {
    /// `at_root`: `.` is the data itself, as it is outside `range` and `with`.
    fn add_nodes(&mut self, nodes: &'a [GoNode], at_root: bool) {
        for node in nodes {
            match node {
                GoNode::Text(_) | GoNode::Break | GoNode::Continue => {}
                GoNode::Print { pipe, line } => {
                    self.add_pipe(pipe, *line, at_root, FieldUse::Required)
                }
                GoNode::Branch { with, pipe, then, other, line } => {
                    self.add_pipe(pipe, *line, at_root, FieldUse::Optional);
                    self.add_nodes(then, at_root && !with);
                    self.add_nodes(other, at_root);
                }
                GoNode::Range { pipe, body, other, line } => {
                    self.add_pipe(pipe, *line, at_root, FieldUse::Optional);
                    self.add_nodes(body, false);
                    self.add_nodes(other, at_root);
                }
            }
        }
    }

    fn add_pipe(&mut self, pipe: &'a Pipe, line: usize, at_root: bool, used: FieldUse) {
        let is_default = |term: &Term| matches!(term, Term::Function(name) if name == "default");
        let has_default =
            pipe.commands.iter().any(|command| command.first().is_some_and(is_default));
        let used = if has_default { FieldUse::Optional } else { used };
        for term in pipe.commands.iter().flatten() {
            match term {
                Term::Field(path) if at_root => self.add(path, used),
                // `$` alone is the data.
                Term::Variable(name, path) if name.is_empty() => self.add(path, used),
                Term::Function(name) => self.functions.push((name, line)),
                Term::Inner(inner, _) => self.add_pipe(inner, line, at_root, used),
                Term::Field(_) | Term::Variable(..) | Term::Literal(_) => {}
            }
        }
    }

    fn add(&mut self, path: &'a [String], used: FieldUse) {
        let Some(name) = path.first() else { return };
        match used {
            FieldUse::Required => self.read.insert(name),
            FieldUse::Optional => self.optional.insert(name),
        };
    }
}
