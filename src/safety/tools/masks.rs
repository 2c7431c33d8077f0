//! Turns masks back into values where a file is written, and nowhere else.
//!
//! A value that is already in the file may be written there again. Anywhere else it is new,
//! and a question of its own that no rule answers: what is written to a file can be sent
//! from it. The written text has the value; the shown text has the mask.

use std::sync::Arc;

use serde_json::Value;

use super::{InputError, ResolvedPath, excerpt};
use crate::findings::Findings;
use crate::redact::{Redactor, Revealed, UnknownMask};
use crate::spec::JudgeContext;
use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::{Effect, Tier};

/// The masks of one step, against the file as it is.
pub(super) struct Masks<'a> {
    secrets: Option<&'a Redactor>,
    before: &'a str,
    /// The values that were turned back, each once.
    used: Vec<(String, Arc<str>)>,
}

impl<'a> Masks<'a> {
    pub fn new(context: &JudgeContext<'a>, before: &'a str) -> Masks<'a> {
        let secrets = context.policy_cx.world.redactor();
        Masks { secrets, before, used: Vec::new() }
    }

    /// The text with the values in it.
    pub fn reveal(&mut self, text: &str) -> Result<String, InputError> {
        let Some(secrets) = self.secrets.filter(|_| text.contains('‹')) else {
            return Ok(text.to_owned());
        };
        // So that the file's own values are known, also after a session was resumed.
        secrets.mask(self.before);
        let Revealed { text, masks } =
            secrets.reveal(text, self.before).map_err(unknown_mask_error)?;
        for (mask, value) in masks {
            if !self.used.iter().any(|(known, _)| *known == mask) {
                self.used.push((mask, value));
            }
        }
        Ok(text)
    }

    /// The same for every string inside a value of JSON.
    pub fn reveal_value(&mut self, value: &Value) -> Result<Value, InputError> {
        Ok(match value {
            Value::String(text) => Value::String(self.reveal(text)?),
            Value::Array(items) => Value::Array(
                items.iter().map(|item| self.reveal_value(item)).collect::<Result<_, _>>()?,
            ),
            Value::Object(fields) => {
                let field = |(name, item): (&String, &Value)| {
                    Ok::<_, InputError>((name.clone(), self.reveal_value(item)?))
                };
                Value::Object(fields.iter().map(field).collect::<Result<_, _>>()?)
            }
            other => other.clone(),
        })
    }

    pub fn has_masks(&self) -> bool {
        !self.used.is_empty()
    }

    /// Says which values come into a file that does not hold them yet.
    pub fn add_findings(&self, path: &ResolvedPath, findings: &mut Findings) {
        let new = self.used.iter().filter(|(_, value)| !self.before.contains(&**value));
        let masks: Vec<&str> = new.map(|(mask, _)| mask.as_str()).collect();
        if !masks.is_empty() {
            let say = phrases::WRITES_MASKED.with("masks", masks.join(", "));
            let say = say.with("path", excerpt(&path.shown));
            findings.add("secret.value", Tier::L1, say, None, &[Effect::Secret, Effect::Write]);
        }
    }

    /// The display of a change to `shown`, which has the masks where `after` has values. A
    /// value that will be in the file without its name is masked everywhere from now on.
    pub fn masked_display(&self, shown: &str, after: &str) -> String {
        let Some(secrets) = self.secrets else { return shown.to_owned() };
        let again = secrets.mask(after);
        let count = |text: &str, value: &str| text.matches(value).count();
        let bare = self.used.iter().filter(|(_, value)| count(&again, value) > count(shown, value));
        secrets.learn_values(bare.map(|(_, value)| &**value));
        shown.to_owned()
    }

    /// A text with the masks in place of the values that were turned back.
    pub fn mask_used(&self, text: &str) -> String {
        let all = self.used.iter();
        all.fold(text.to_owned(), |text, (mask, value)| text.replace(&**value, mask))
    }

    /// The file as it is shown to the model.
    pub fn masked_before(&self) -> String {
        self.secrets.map_or_else(|| self.before.to_owned(), |it| it.mask(self.before).into_owned())
    }
}

fn unknown_mask_error(UnknownMask(mask): UnknownMask) -> InputError {
    InputError::from(phrases::MASK_UNKNOWN.with("mask", mask))
}

/// Programs are given no secrets: a mask in their input would be written as it is, and not
/// as its value.
pub(crate) fn check_arguments(texts: &[&str], context: &JudgeContext<'_>, findings: &mut Findings) {
    let Some(secrets) = context.policy_cx.world.redactor() else { return };
    if let Some(mask) = texts.iter().find_map(|text| secrets.find_mask(text)) {
        let say = phrases::MASK_IN_ARGUMENT.with("mask", mask);
        findings.add("mask.argument", Tier::L2, say, None, &[]);
    }
}
