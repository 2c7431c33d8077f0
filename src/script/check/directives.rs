//! What directives need, and where they may be.

use super::Checker;
use super::directive_keys::check_case_keys;
use super::names::named_entries;
use crate::manifest::imports::strip_dollar;
use crate::syntax::{ScriptValue, Tree};
use crate::text::args::CallExpr;
use avocet_core::i18n::script_run as phrases;

impl Checker<'_> {
    /// The condition of `$if` and `$while`.
    pub(super) fn check_condition(
        &mut self,
        call: &CallExpr,
        value: &ScriptValue,
        pairs: &[(ScriptValue, ScriptValue)],
    ) {
        let condition = value.get(&call.name).unwrap_or(value);
        if let Some(text) = condition.as_text().filter(|_| call.args.is_empty()) {
            self.faults.enter(condition);
            self.check_expression(text.strip_prefix("?=").unwrap_or(text));
        }
        self.check_call_arguments(call);
        let mut all = value.pairs().iter().chain(pairs);
        let has_then = all.any(|(key, _)| key.as_text() == Some("then"));
        if call.name == "if" && !has_then && call.args.is_empty() {
            self.faults.add(phrases::IF_NEEDS);
        }
    }

    /// `$match`: its value, and its cases beside or below it.
    pub(super) fn check_match(
        &mut self,
        call: &CallExpr,
        value: &ScriptValue,
        pairs: &[(ScriptValue, ScriptValue)],
    ) {
        check_case_keys(call, value, pairs, &mut self.faults);
        self.check_subject(call, value);
        let below = value.pairs().iter().filter(|_| !call.args.is_empty());
        let all: Vec<_> = pairs.iter().chain(below).cloned().collect();
        self.check_cases(&all);
    }

    /// The block of `$try`, which does nothing without `catch` or `retry`.
    pub(super) fn check_try(&mut self, value: &ScriptValue, pairs: &[(ScriptValue, ScriptValue)]) {
        let keys = ["catch", "retry", "$catch", "$retry"];
        if !pairs.iter().any(|(key, _)| key.as_text().is_some_and(|key| keys.contains(&key))) {
            self.faults.add(phrases::TRY_NEEDS);
        }
        self.check_block(value);
    }

    /// The variables that `$get` names.
    pub(super) fn check_read_names(&mut self, value: &ScriptValue) {
        for (name, place) in named_entries(value) {
            self.faults.place = place;
            self.check_variable(name.trim_start_matches('$'));
        }
    }

    /// `$break` and `$continue` belong to a loop.
    pub(super) fn check_exit(&mut self, call: &CallExpr) {
        let leaves = matches!(call.name.as_str(), "break" | "continue");
        if leaves && self.loops == 0 && !self.names.is_own(&call.name) {
            self.faults.add(phrases::LOOP_OUTSIDE.with("name", format!("${}", call.name)));
        }
    }

    /// Checks that the function that `$initializeExec` names exists.
    pub(super) fn check_initialize_exec(&mut self) {
        let node = self.manifest.front_matter.get("$initializeExec");
        let Some(node) = node.filter(|node| node.tag.is_none()) else { return };
        if let Tree::Text(name) = &node.tree {
            self.faults.place = node.position;
            self.check_function(&strip_dollar(name));
        }
    }
}
