//! Checks texts: messages with their marks and templates, and expressions.

use super::Checker;
use super::code::UncompiledExpression;
use super::fault_log::FaultLog;
use super::keys::{misspelt_parameter, regex_fault};
use super::marks::{check_broken_marks, check_choices, check_group};
use super::names::{self, is_language_name};
use super::near::with_near;
use super::role_names::check_leading_role;
use crate::error::quoted;
use crate::js::names_read;
use crate::run::single_interpolation;
use crate::syntax::{ScriptValue, Tree};
use crate::template::FILTERS;
use crate::text::args::CallExpr;
use crate::text::prefix::{self, PrefixPosition, TextPrefix};
use crate::text::{CallMark, Placeholder};
use crate::text::{MessageText, PlaceholderMark, TextSpan};
use avocet_core::i18n::script_run as phrases;

impl Checker<'_> {
    pub(super) fn check_message(&mut self, text: &str) {
        match prefix::parse_prefix(text, PrefixPosition::Message) {
            (TextPrefix::Expression, expression) => self.check_expression(expression),
            (TextPrefix::Raw, _) => {}
            (_, rest) => {
                check_leading_role(self.manifest, rest, &mut self.faults);
                self.check_text(rest);
            }
        }
    }

    /// A text among the arguments of a directive.
    pub(super) fn check_value_text(&mut self, text: &str) {
        match prefix::parse_prefix(text, PrefixPosition::Value) {
            (TextPrefix::Expression, expression) => self.check_expression(expression),
            (TextPrefix::Now, template) => self.check_text(template),
            (TextPrefix::Raw, _) => {}
            _ if text.contains("[[@") || text.contains("[[/") => self.check_text(text),
            _ => {
                if let Some(name) = single_interpolation(text) {
                    self.check_variable(name);
                }
            }
        }
    }

    /// The messages of `prompt.messages`.
    pub(super) fn check_declared_messages(&mut self) {
        let messages = self.manifest.front_matter.get("prompt").and_then(|it| it.get("messages"));
        let Some(Tree::List(items)) = messages.map(|node| node.tree.clone()) else { return };
        for item in &items {
            let content = item.get("content").unwrap_or(item);
            if let Some(text) = content.as_text() {
                self.faults.enter(content);
                self.check_message(text);
            }
        }
    }

    /// A text with marks and a template.
    fn check_text(&mut self, text: &str) {
        let draft = MessageText::read(text);
        check_broken_marks(text, &mut self.faults);
        for span in draft.spans().to_vec() {
            let TextSpan::Mark { mark, source } = span else { continue };
            match mark {
                PlaceholderMark::Call(call) => self.check_call_mark(&call),
                PlaceholderMark::Regex(pattern) => {
                    if let Some(what) = regex_fault(&pattern.source, &pattern.flags) {
                        self.faults.add_of(&pattern.source, what);
                    }
                    check_group(&pattern, &mut self.faults);
                    self.check_variable(&pattern.variable);
                }
                PlaceholderMark::Placeholder(ask) => {
                    check_parameters(&ask, &mut self.faults);
                    check_choices(&ask, &source, &mut self.faults);
                }
            }
        }
        if self.manifest.text_setting("formatStringStrategy") != Some("Raw") {
            let sealed = draft.mask();
            self.check_template(sealed.template());
        }
    }

    fn check_call_mark(&mut self, call: &CallMark) {
        let place = self.faults.place_of(&call.name);
        let outer = std::mem::replace(&mut self.faults.place, place);
        let name = call.name.clone();
        let args = call.args.clone();

        let call = CallExpr { name, directive: call.directive, pipe: false, args };
        if call.directive {
            self.check_call(&call)
        } else {
            self.check_script_call(&call, false)
        }
        self.faults.place = outer;
    }

    fn check_template(&mut self, text: &str) {
        let names = match self.templates.compile(text) {
            Ok(names) => names,
            Err(fault) => {
                let line = fault.line.unwrap_or(1).saturating_sub(1);
                return self.faults.add_at_line(line, fault.why.0);
            }
        };
        if let Some(field) = names.unclosed {
            self.faults.add_of(&field, phrases::FIELD_OPEN.with("text", quoted(&field)));
        }
        names.variables.iter().for_each(|name| self.check_variable(name));
        for name in &names.filters {
            if !self.names.has_variable(name) && !self.names.has_function(name) {
                let what = phrases::FILTER_UNKNOWN.with("name", quoted(name));
                let known = FILTERS.iter().copied();
                let known = known.chain(self.names.functions.iter().map(String::as_str));
                let what = with_near(what, name, known);
                self.faults.add_of(name, what);
            }
        }
        for name in &names.tests {
            self.faults.add_of(name, phrases::TEST_UNKNOWN.with("name", quoted(name)));
        }
    }

    pub(super) fn check_variable(&mut self, path: &str) {
        let name = path.split(['.', '[']).next().unwrap_or(path);
        if !self.names.has_variable(name) && !self.faults.is_full() {
            let what = phrases::VARIABLE_NOT_SET.with("name", quoted(name));
            // Functions that every template has are no variables that were meant.
            let is_function = |known: &&str| ["dict", "namespace", "range"].contains(known);
            let known = self.names.variables.iter().map(String::as_str);
            let near = with_near(what, name, known.filter(|known| !is_function(known)));
            self.faults.add_of(name, near);
        }
    }

    pub(super) fn check_expression(&mut self, text: &str) {
        if ["[[@", "[[/"].iter().any(|mark| text.trim_start().starts_with(mark)) {
            return self.check_text(text);
        }
        for name in names::called_functions(text) {
            self.check_function(name);
        }
        for name in names::called_names(text) {
            if !is_language_name(name)
                && !self.names.has_variable(name)
                && !self.names.has_function(name)
            {
                self.check_variable(name);
            }
        }
        if text.contains("{{") {
            return;
        }
        let text = text.trim();
        for name in names_read(text).unwrap_or_default() {
            if !is_language_name(&name) {
                self.check_variable(&name);
            }
        }
        let location = self.faults.location(self.faults.place);
        self.code.expressions.push(UncompiledExpression { text: text.to_owned(), location });
    }

    /// The value of `$match`: an expression, or else a text.
    pub(super) fn check_subject(&mut self, call: &CallExpr, value: &ScriptValue) {
        let Some(text) = value.as_text().filter(|_| call.args.is_empty()) else { return };
        self.faults.enter(value);
        let text = text.strip_prefix("?=").unwrap_or(text).trim();
        for name in names_read(text).unwrap_or_default() {
            if !is_language_name(&name) {
                self.check_variable(&name);
            }
        }
    }

    /// What a loop goes over: a value, or a range between two of them.
    pub(super) fn check_loop_items(&mut self, text: &str) {
        let text = text.strip_prefix("?=").unwrap_or(text).trim();
        if text.contains("{{") {
            return;
        }
        let range = text.split_once("..").filter(|(_, end)| !end.starts_with('.'));
        let ends = match range.filter(|_| !text.starts_with(['[', '{', '"', '\''])) {
            Some((start, end)) => {
                vec![start.trim().trim_end_matches('>'), end.trim().trim_start_matches('<')]
            }
            None => vec![text],
        };
        for part in ends {
            for name in names_read(part.trim()).unwrap_or_default() {
                if !is_language_name(&name) {
                    self.check_variable(&name);
                }
            }
        }
    }

    /// The conditions and the blocks of `$match`.
    pub(super) fn check_cases(&mut self, pairs: &[(ScriptValue, ScriptValue)]) {
        for (key, block) in pairs {
            let Some(pattern) = key.key_text() else { continue };
            if pattern == "_" {
                self.check_block(block);
            }
            let Some(pattern) = pattern.strip_prefix(':').map(str::trim) else { continue };
            self.faults.enter(key);
            let regex = pattern.strip_prefix('/').and_then(|text| text.rsplit_once('/'));
            if let Some(what) = regex.and_then(|(source, flags)| regex_fault(source, flags)) {
                self.faults.add(what);
            } else if let Some(expression) = pattern.strip_prefix("?=") {
                self.check_expression(expression);
            }
            self.check_block(block);
        }
    }
}

fn check_parameters(placeholder: &Placeholder, faults: &mut FaultLog<'_>) {
    for name in placeholder.params.iter().filter_map(|arg| arg.name.as_deref()) {
        if let Some(near) = misspelt_parameter(name) {
            let what = phrases::KEY_MISSPELT.with("of", format!("[[{}]]", placeholder.name));
            faults.add_of(name, what.with("name", quoted(name)).with("near", near));
        }
    }
}
