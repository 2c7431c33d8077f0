//! What directives need, and where they may be.

use super::Checker;
use super::names::named_entries;
use super::near::with_near;
use crate::error::quoted;
use crate::manifest::imports::strip_dollar;
use crate::syntax::{ScriptNode, Tree};
use crate::text::args::CallExpr;
use avocet_core::i18n::script_run as words;

/// The parts of a structured system message.
const SYSTEM_PARTS: &[&str] = &["background", "content", "output", "notes"];

impl Checker<'_> {
    /// The condition of `$if` and `$while`.
    pub(super) fn check_condition(
        &mut self,
        call: &CallExpr,
        value: &ScriptNode,
        pairs: &[(ScriptNode, ScriptNode)],
    ) {
        let condition = value.get(&call.name).unwrap_or(value);
        if let Some(text) = condition.as_text().filter(|_| call.args.is_empty()) {
            self.enter(condition);
            self.check_expression(text.strip_prefix("?=").unwrap_or(text));
        }
        self.check_call_arguments(call);
        let mut all = value.pairs().iter().chain(pairs);
        let has_then = all.any(|(key, _)| key.as_text() == Some("then"));
        if call.name == "if" && !has_then && call.args.is_empty() {
            self.fault(words::IF_NEEDS);
        }
    }

    /// `$match`: its value, and its cases beside or below it.
    pub(super) fn check_match(
        &mut self,
        call: &CallExpr,
        value: &ScriptNode,
        pairs: &[(ScriptNode, ScriptNode)],
    ) {
        self.check_case_keys(call, value, pairs);
        self.check_subject(call, value);
        let below = value.pairs().iter().filter(|_| !call.args.is_empty());
        let all: Vec<_> = pairs.iter().chain(below).cloned().collect();
        self.check_cases(&all);
    }

    /// The variables that `$get` names.
    pub(super) fn check_read_names(&mut self, value: &ScriptNode) {
        for (name, place) in named_entries(value) {
            self.place = place;
            self.check_variable(name.trim_start_matches('$'));
        }
    }

    /// A loop without instructions does nothing.
    pub(super) fn check_loop(
        &mut self,
        call: &CallExpr,
        value: &ScriptNode,
        pairs: &[(ScriptNode, ScriptNode)],
    ) {
        let mut all = value.pairs().iter().chain(pairs);
        let has_block = all.any(|(key, _)| key.as_text() == Some("do"));
        if matches!(call.name.as_str(), "for" | "while") && !has_block {
            self.fault(words::LOOP_NEEDS.with("name", format!("${}", call.name)));
        }
    }

    /// `$break` and `$continue` belong to a loop.
    pub(super) fn check_exit(&mut self, call: &CallExpr) {
        let leaves = matches!(call.name.as_str(), "break" | "continue");
        if leaves && self.loops == 0 && !self.names.is_own(&call.name) {
            self.fault(words::LOOP_OUTSIDE.with("name", format!("${}", call.name)));
        }
    }

    /// The keys of `$exec`, `$tool` and `$pipe` that name what is called: any other may be an
    /// argument of it.
    pub(super) fn check_target_keys(&mut self, call: &CallExpr, value: &ScriptNode) {
        let known: &[&str] = match call.name.as_str() {
            "exec" => &["id", "filename", "script", "program"],
            "tool" | "pipe" => &["name"],
            _ => return,
        };
        let pairs = value.pairs();
        let is_named = pairs
            .iter()
            .filter_map(|(key, _)| key.as_text())
            .any(|key| known.contains(&key) || key.starts_with('$'));
        if pairs.is_empty() || is_named || !call.args.is_empty() {
            return;
        }
        // `$tool` without a name is a call of the model, with any parameters.
        if call.name == "exec" {
            return self.fault(words::EXEC_NEEDS);
        }
        for (key, _) in pairs {
            let name = key.key_text().unwrap_or_default();
            let what = words::KEY_UNKNOWN.with("of", format!("${}", call.name));
            let what = what.with("name", quoted(&name));
            let near = with_near(what.clone(), &name, known.iter().copied());
            if near != what {
                self.fault_at(key.position, near);
            }
        }
    }

    /// The parts of a system message.
    pub(super) fn check_system_parts(&mut self, content: &ScriptNode) {
        for (key, _) in content.pairs() {
            let name = key.key_text().unwrap_or_default();
            if !SYSTEM_PARTS.contains(&name.as_str()) && !name.starts_with('$') {
                let what = words::SYSTEM_PART.with("key", quoted(&name));
                self.fault_at(key.position, with_near(what, &name, SYSTEM_PARTS.iter().copied()));
            }
        }
    }

    /// The conditions of `$match` begin with a colon.
    pub(super) fn check_case_keys(
        &mut self,
        call: &CallExpr,
        value: &ScriptNode,
        pairs: &[(ScriptNode, ScriptNode)],
    ) {
        let below = value.pairs().iter().filter(|_| !call.args.is_empty());
        let keys: Vec<&ScriptNode> = pairs.iter().chain(below).map(|(key, _)| key).collect();
        let mut has_case = false;
        for key in keys {
            let name = key.key_text().unwrap_or_default();
            has_case |= name == "_" || name.starts_with(':');
            let is_known = name.starts_with(['$', ':']) || name == "_" || name == "allMatches";
            if !is_known {
                has_case = true;
                self.fault_at(key.position, words::MATCH_NO_COLON.with("key", quoted(&name)));
            }
        }
        if !has_case {
            self.fault(words::MATCH_NEEDS);
        }
    }

    /// The function that `$initializeExec` names.
    pub(super) fn check_initializer(&mut self) {
        let node = self.manifest.front_matter.get("$initializeExec");
        let Some(node) = node.filter(|node| node.tag.is_none()) else { return };
        if let Tree::Text(name) = &node.tree {
            self.place = node.position;
            self.check_function(&strip_dollar(name));
        }
    }
}
