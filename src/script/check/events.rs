//! Checks the handlers of events, in the head and in the body.

use super::Checker;
use super::fault_log::FaultLog;
use super::near::with_near;
use crate::error::quoted;
use crate::settings::EVENTS;
use crate::syntax::{ScriptValue, Tree};
use crate::text::args::{self, CallExpr};
use avocet_config::suggest;
use avocet_core::i18n::script_run as phrases;

impl Checker<'_> {
    /// `on:` of the head.
    pub(super) fn check_declared_events(&mut self) {
        let Some(on) = self.manifest.front_matter.get("on").cloned() else { return };
        let items = match &on.tree {
            Tree::List(items) => items.clone(),
            _ => vec![on],
        };
        for item in &items {
            if let Some((event, callback)) = item.as_text().and_then(|text| text.split_once(':')) {
                self.faults.enter(item);
                check_event(event.trim(), &mut self.faults);
                self.check_callback(callback.trim());
            }
            if let (Some(event), Some(callback)) = (item.get("event"), item.get("callback")) {
                self.faults.enter(event);
                check_event(&event.key_text().unwrap_or_default(), &mut self.faults);
                self.check_callback_node(callback);
                continue;
            }
            for (event, callback) in item.pairs() {
                self.faults.enter(event);
                check_event(&event.key_text().unwrap_or_default(), &mut self.faults);
                self.check_callback_node(callback);
            }
        }
    }

    /// `$on` and `$once`.
    pub(super) fn check_handler(
        &mut self,
        call: &CallExpr,
        value: &ScriptValue,
        pairs: &[(ScriptValue, ScriptValue)],
    ) {
        let part = |name: &str| {
            let all = value.pairs().iter().chain(pairs);
            all.into_iter().find(|(key, _)| key.as_text() == Some(name)).map(|(_, node)| node)
        };
        let named = |name: &str, at: usize| {
            let mut args = call.args.iter();
            let arg = args.find(|arg| arg.name.as_deref() == Some(name)).or(call.args.get(at));
            arg.map(|arg| arg.expr.trim_matches(['"', '\'']).to_owned())
        };
        let event = part("event").and_then(ScriptValue::key_text).or_else(|| named("event", 0));
        match event.or_else(|| value.as_text().map(str::to_owned)) {
            Some(event) => check_event(&event, &mut self.faults),
            None => return self.faults.add(phrases::ON_NEEDS),
        }
        match (part("callback"), named("callback", 1)) {
            (Some(callback), _) => self.check_callback_node(callback),
            (None, Some(name)) => self.check_callback(&name),
            (None, None) => self.faults.add(phrases::ON_NEEDS),
        }
    }

    fn check_callback_node(&mut self, value: &ScriptValue) {
        if let Some(text) = value.as_text().filter(|_| value.tag.is_none()) {
            self.faults.enter(value);
            self.check_callback(text);
        }
    }

    fn check_callback(&mut self, text: &str) {
        if let Some(expression) = text.strip_prefix("?=") {
            self.check_expression(expression);
        } else if let Some(call) = args::parse_call(text) {
            self.check_function(&call.name);
        }
    }
}

/// A script may emit events of its own, so only what is nearly one of the run's is wrong.
fn check_event(name: &str, faults: &mut FaultLog<'_>) {
    let is_known = EVENTS.contains(&name) || name.chars().count() < 4;
    if is_known
        || faults.source.contains("emit")
        || suggest::nearest(name, EVENTS.iter().copied()).is_empty()
    {
        return;
    }
    let what = phrases::EVENT_UNKNOWN.with("name", quoted(name));
    faults.add(with_near(what, name, EVENTS.iter().copied()));
}
