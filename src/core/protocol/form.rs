//! A form: several values that a script asks for at once.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::i18n::{Lang, LocalizedText, cli, script_run as phrases};

/// One value of a form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FormField {
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    pub kind: FormFieldKind,
    /// The only values it may have; any, if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The value that it has at first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    pub required: bool,
    /// Why the value that was given last was not taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<LocalizedText>,
}

/// The form of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormFieldKind {
    #[default]
    Text,
    Number,
    /// Yes or no, as `true` or `false`.
    Confirm,
    /// Texts with commas between them.
    List,
    Object,
}

impl FormField {
    /// The values to choose from, each with its label; none if it is typed.
    pub fn options(&self, lang: Lang) -> Vec<(String, String)> {
        if self.kind == FormFieldKind::Confirm {
            let options = [("true", cli::YES), ("false", cli::NO)];
            return options
                .map(|(value, label)| (value.to_owned(), label.text(lang).to_owned()))
                .to_vec();
        }
        self.choices.iter().map(|choice| (choice.clone(), choice.clone())).collect()
    }

    /// The value that a typed text means, or why it is none. A choice may be typed as its number.
    pub fn parse(&self, typed: &str, lang: Lang) -> Result<String, LocalizedText> {
        let typed = typed.trim();
        if typed.is_empty() {
            return match (&self.default, self.required) {
                (Some(default), _) => Ok(default.clone()),
                (None, true) => Err(phrases::INPUT_REQUIRED.into()),
                (None, false) => Ok(String::new()),
            };
        }
        let options = self.options(lang);
        if !options.is_empty() {
            let is = |text: &String| text.eq_ignore_ascii_case(typed);
            let named = options.iter().find(|(value, label)| is(value) || is(label));
            let letter = || self.kind == FormFieldKind::Confirm && typed.chars().count() == 1;
            let begun = options.iter().find(|(value, label)| {
                letter() && (label.starts_with(typed) || value.starts_with(typed))
            });
            let at = typed.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let numbered = at.and_then(|at| options.get(at));
            let found = named.or(numbered).or(begun).map(|(value, _)| value.clone());
            let labels: Vec<&str> = options.iter().map(|(_, label)| label.as_str()).collect();
            return found.ok_or_else(|| phrases::INPUT_ONE_OF.with("list", labels.join(", ")));
        }
        match self.kind {
            FormFieldKind::Number => {
                let number = serde_json::from_str::<Value>(typed).is_ok_and(|it| it.is_number());
                number.then(|| typed.to_owned()).ok_or_else(|| phrases::INPUT_NUMBER.into())
            }
            // The script reads the rest of it.
            FormFieldKind::Object if !typed.starts_with(['{', '[']) => {
                Err(phrases::INPUT_JSON.into())
            }
            FormFieldKind::Object
            | FormFieldKind::Text
            | FormFieldKind::List
            | FormFieldKind::Confirm => Ok(typed.to_owned()),
        }
    }

    /// What may be given, in a few words.
    pub fn kind_text(&self, lang: Lang) -> LocalizedText {
        let options = self.options(lang);
        if !options.is_empty() {
            let labels: Vec<String> = options.into_iter().map(|(_, label)| label).collect();
            return phrases::KIND_ONE_OF.with("list", labels.join(", "));
        }
        match self.kind {
            FormFieldKind::Text | FormFieldKind::Confirm => phrases::KIND_TEXT,
            FormFieldKind::Number => phrases::KIND_NUMBER,
            FormFieldKind::List => phrases::KIND_LIST,
            FormFieldKind::Object => phrases::KIND_OBJECT,
        }
        .into()
    }

    /// A line about it: its name, what may be given, and what it is for.
    pub fn line(&self, lang: Lang) -> LocalizedText {
        let line = phrases::FIELD_LINE.with("name", self.name.as_str());
        let line = line.with("kind", self.kind_text(lang));
        if self.about.is_empty() {
            line
        } else {
            phrases::FIELD_ABOUT.with("field", line).with("about", self.about.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(kind: FormFieldKind, choices: &[&str]) -> FormField {
        FormField {
            name: "n".to_owned(),
            about: String::new(),
            kind,
            choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
            default: None,
            required: true,
            fault: None,
        }
    }

    #[test]
    fn a_typed_value_is_checked_against_what_its_field_takes() {
        let of = |field: &FormField, typed: &str| field.parse(typed, Lang::En).ok();
        let (text, number) = (field(FormFieldKind::Text, &[]), field(FormFieldKind::Number, &[]));
        assert_eq!(of(&text, " Ann "), Some("Ann".to_owned()));
        assert_eq!(of(&text, "  "), None);
        assert_eq!((of(&number, "-2.5"), of(&number, "two")), (Some("-2.5".to_owned()), None));
        let choice = field(FormFieldKind::Text, &["red", "7"]);
        for (typed, value) in
            [("RED", Some("red")), ("2", Some("7")), ("7", Some("7")), ("b", None)]
        {
            assert_eq!(of(&choice, typed).as_deref(), value, "{typed}");
        }
        let confirm = field(FormFieldKind::Confirm, &[]);
        for (typed, value) in
            [("y", Some("true")), ("no", Some("false")), ("2", Some("false")), ("x", None)]
        {
            assert_eq!(of(&confirm, typed).as_deref(), value, "{typed}");
        }
        assert_eq!(confirm.parse("否", Lang::Zh).ok().as_deref(), Some("false"));
        let object = field(FormFieldKind::Object, &[]);
        assert_eq!((of(&object, "{a: 1}").is_some(), of(&object, "a")), (true, None));
        let preset = FormField { default: Some("4".to_owned()), ..number };
        assert_eq!(of(&preset, ""), Some("4".to_owned()));
    }
}
