//! `$input`: asks the user for a value; and the questions for inputs that a script requires.

use serde_json::{Value, json};

use super::super::error::{CallResult, ScriptFlow, ScriptResult, quoted};
use super::super::host::{
    FormAnswer, FormQuestion, InputAnswer, InputForm, InputQuestion, ScriptHost,
};
use super::super::manifest::Manifest;
use super::super::manifest::input::{self, DeclaredInput, ScriptArgs};
use super::super::run::arguments::ArgValues;
use super::super::run::frame::{Frame, ScriptRun};
use super::super::run::scope::text_of;
use super::super::text::json5;
use avocet_core::i18n::{LocalizedText, cli, common, script_run as phrases};
use avocet_core::protocol::{FormField, FormFieldKind};

/// How often an answer that is not accepted is asked for again.
const MAX_TRIES: usize = 10;

/// The kinds of answers, with the names that scripts use for them, the usual one first.
const KINDS: &[(InputKind, &[&str])] = &[
    (InputKind::Text, &["input", "text", "string", "str"]),
    (InputKind::Number, &["number", "numeral", "integer", "int", "float"]),
    (InputKind::Confirm, &["confirm", "boolean", "bool", "toggle"]),
    (InputKind::Choice, &["select", "autocomplete", "choice", "enum"]),
    (InputKind::List, &["list", "array"]),
    (InputKind::Object, &["object", "json"]),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InputKind {
    Text,
    Number,
    Confirm,
    Choice,
    /// Texts with commas between them.
    List,
    Object,
}

impl InputKind {
    fn parse(name: &str) -> Result<InputKind, LocalizedText> {
        let is = |known: &&str| known.eq_ignore_ascii_case(name);
        let found = KINDS.iter().find(|(_, names)| names.iter().any(is));
        found.map(|(kind, _)| *kind).ok_or_else(|| {
            let list: Vec<&str> =
                KINDS.iter().filter_map(|(_, names)| names.first().copied()).collect();
            phrases::INPUT_KIND.with("kind", quoted(name)).with("list", list.join(", "))
        })
    }
}

/// A value that the user is asked for.
#[derive(Clone, Debug)]
struct WantedValue {
    text: LocalizedText,
    kind: InputKind,
    /// The labels of the choices, and their values.
    choices: Vec<(String, Value)>,
    default: Option<Value>,
    /// An empty answer is not accepted.
    required: bool,
}

impl WantedValue {
    /// What `$input` is given; without arguments, the script's variables `content`, `inputType`,
    /// `choices`, `value` and `required`.
    fn read(frame: &Frame, args: &ArgValues) -> Result<WantedValue, LocalizedText> {
        let is_given = !args.positional.is_empty() || !args.named.is_empty();
        let part = |names: &[&str]| {
            let found = if is_given {
                names.iter().find_map(|name| args.get(name)).cloned()
            } else {
                names.first().and_then(|name| frame.values.get(name))
            };
            found.filter(|value| !value.is_null())
        };
        let first = args.first().filter(|first| !first.is_object() && !first.is_null()).cloned();
        let text = part(&["content", "message", "question", "title"]).or(first);
        let choices = part(&["choices", "options", "enum"]).map(choices_of).unwrap_or_default();
        let kind = match part(&["inputType", "type"]).as_ref().and_then(Value::as_str) {
            None => {
                if choices.is_empty() {
                    InputKind::Text
                } else {
                    InputKind::Choice
                }
            }
            Some(kind) => InputKind::parse(kind)?,
        };
        Ok(WantedValue {
            text: match text.map(|text| text_of(&text)).filter(|text| !text.trim().is_empty()) {
                Some(text) => cli::DOCTOR_LINE.with("text", text),
                None => phrases::INPUT_OPEN.with("script", asking_script(&frame.manifest)),
            },
            kind,
            choices,
            default: part(&["value", "default", "initial"]),
            required: part(&["required"]) == Some(Value::Bool(true)),
        })
    }

    /// An input that a script declares.
    fn of_input(input: &DeclaredInput) -> Result<WantedValue, LocalizedText> {
        let about = |name: &str| input.about.get(name).and_then(Value::as_str);
        let kind = about("type").map_or(Ok(InputKind::Text), InputKind::parse)?;
        let choices = choices_of(Value::Array(input.choices.clone()));
        let text = match about("description").or(about("title")) {
            Some(said) => common::LABELLED.with("name", input.name.clone()).with("text", said),
            None => cli::DOCTOR_LINE.with("text", input.name.clone()),
        };
        let kind = if choices.is_empty() { kind } else { InputKind::Choice };
        Ok(WantedValue { text, kind, choices, default: None, required: true })
    }

    fn form(&self) -> InputForm {
        match self.kind {
            InputKind::Confirm => InputForm::Confirm,
            _ if !self.choices.is_empty() => InputForm::Choice {
                labels: self.choices.iter().map(|(label, _)| label.clone()).collect(),
                free: self.kind != InputKind::Choice,
            },
            _ => InputForm::Text { default: self.default.as_ref().map(text_of) },
        }
    }

    /// The value of an answer, or why it is not accepted.
    fn value(&self, answer: &InputAnswer) -> Result<Value, LocalizedText> {
        let text = match (answer, self.kind) {
            (InputAnswer::Picked(at), InputKind::Confirm) => return Ok(Value::Bool(*at == 0)),
            (InputAnswer::Picked(at), _) => match (self.choices.get(*at), &self.default) {
                (Some((_, value)), _) => return Ok(value.clone()),
                (None, Some(default)) => return Ok(default.clone()),
                (None, None) => String::new(),
            },
            (InputAnswer::Text(text), _) => text.trim().to_owned(),
        };
        if text.is_empty() {
            return match &self.default {
                Some(default) => Ok(default.clone()),
                None if self.required => Err(phrases::INPUT_REQUIRED.into()),
                None => Ok(Value::String(text)),
            };
        }
        match self.kind {
            InputKind::Text | InputKind::Confirm | InputKind::Choice => Ok(Value::String(text)),
            InputKind::List => Ok(text.split([',', '，']).map(|item| json!(item.trim())).collect()),
            InputKind::Number => {
                let number = serde_json::from_str(&text).ok().filter(Value::is_number);
                number.ok_or_else(|| phrases::INPUT_NUMBER.into())
            }
            InputKind::Object => json5::read(&text).ok_or_else(|| phrases::INPUT_JSON.into()),
        }
    }

    /// The value of a field of a form, in which choices are their labels.
    fn typed_value(&self, text: &str) -> Result<Value, LocalizedText> {
        let at = match self.kind {
            InputKind::Confirm => ["true", "false"].iter().position(|word| *word == text),
            _ => self.choices.iter().position(|(label, _)| label == text),
        };
        let is_choice = self.kind == InputKind::Confirm || !self.choices.is_empty();
        match at {
            Some(at) => self.value(&InputAnswer::Picked(at)),
            None if is_choice && !text.trim().is_empty() => {
                let labels: Vec<&str> = match self.kind {
                    InputKind::Confirm => vec!["true", "false"],
                    _ => self.choices.iter().map(|(label, _)| label.as_str()).collect(),
                };
                Err(phrases::INPUT_ONE_OF.with("list", quoted(&labels.join(", "))))
            }
            None => self.value(&InputAnswer::Text(text.to_owned())),
        }
    }

    /// Asks until an answer is accepted; `None` if the user gives none.
    async fn ask(&self, host: &mut dyn ScriptHost, script: &str) -> Option<Value> {
        let mut text = self.text.clone();
        for _ in 0..MAX_TRIES {
            let question = InputQuestion { script: script.to_owned(), text, form: self.form() };
            let answer = host.ask_input(question).await?;
            match self.value(&answer) {
                Ok(value) => return Some(value),
                Err(why) => {
                    text = phrases::INPUT_WRONG.with("text", self.text.clone()).with("why", why)
                }
            }
        }
        None
    }
}

/// The choices: texts, or maps with a label and a value.
fn choices_of(list: Value) -> Vec<(String, Value)> {
    let Value::Array(items) = list else { return Vec::new() };
    let choice = |item: Value| {
        let part = |names: [&str; 3]| names.iter().find_map(|name| item.get(name)).cloned();
        let label = part(["title", "label", "message"]).or_else(|| item.get("name").cloned());
        let value = part(["value", "name", "title"]).unwrap_or_else(|| item.clone());
        (text_of(&label.unwrap_or_else(|| value.clone())), value)
    };
    items.into_iter().map(choice).collect()
}

/// The script on whose behalf it is asked.
fn asking_script(manifest: &Manifest) -> String {
    manifest.origin.acts_for.as_ref().unwrap_or(&manifest.origin.id).clone()
}

/// `$input: question` asks the user.
pub async fn input(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    ask(run, frame, &args).await.map(|(_, answer)| Some(answer))
}

/// `$consoleInput`, as public scripts have it: the question and the answer.
pub async fn console_input(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let (question, answer) = ask(run, frame, &args).await?;
    Ok(Some(json!({ "question": question.to_string(), "answer": answer })))
}

async fn ask(
    run: &mut ScriptRun,
    frame: &Frame,
    args: &ArgValues,
) -> ScriptResult<(LocalizedText, Value)> {
    let wanted = WantedValue::read(frame, args)?;
    match wanted.ask(run.host.as_mut(), &asking_script(&frame.manifest)).await {
        Some(value) => Ok((wanted.text, value)),
        None => Err(ScriptFlow::from(phrases::INPUT_NO_ANSWER.with("text", wanted.text))),
    }
}

/// Asks for the inputs that the script requires and was not given, all at once where the host has
/// forms. One without an answer stays missing.
pub async fn ask_missing_inputs(
    host: &mut dyn ScriptHost,
    manifest: &Manifest,
    mut args: ScriptArgs,
) -> ScriptArgs {
    let (given, _) = input::bind(&manifest.inputs, args.clone());
    // Those that have a value of their own are shown with the others, and are not asked for alone.
    let is_given = |name: &str| given.get(name).is_some_and(|value| !value.is_null());
    let open = |input: &&DeclaredInput| input.required && !is_given(&input.name);
    let preset = |input: &DeclaredInput| manifest.own_value(input).cloned();
    let inputs: Vec<&DeclaredInput> = manifest.inputs.iter().filter(open).collect();
    if inputs.iter().all(|input| preset(input).is_some()) {
        return args;
    }
    let Ok(mut wanted) = inputs
        .iter()
        .map(|input| Ok(WantedValue { default: preset(input), ..WantedValue::of_input(input)? }))
        .collect::<Result<Vec<_>, LocalizedText>>()
    else {
        return args;
    };
    let mut fields: Vec<FormField> =
        inputs.iter().zip(&wanted).map(|(input, wanted)| form_field(input, wanted)).collect();
    for _ in 0..MAX_TRIES {
        let form = FormQuestion { script: asking_script(manifest), fields: fields.clone() };
        let values = match host.ask_form(form).await {
            FormAnswer::Filled(values) => values,
            FormAnswer::Cancelled => return args,
            FormAnswer::OneByOne => break,
        };
        let mut taken = Vec::new();
        for (at, field) in fields.iter_mut().enumerate() {
            let text = values.get(at).cloned().unwrap_or_default();
            match wanted.get(at).map(|wanted| wanted.typed_value(&text)) {
                Some(Ok(value)) => taken.push((field.name.clone(), value)),
                Some(Err(why)) => field.fault = Some(why),
                None => {}
            }
            field.default = Some(text).filter(|text| !text.is_empty());
        }
        if taken.len() == fields.len() {
            args.named.extend(taken);
            return args;
        }
    }
    for (input, wanted) in inputs.iter().zip(&mut wanted) {
        if wanted.default.is_none() {
            match wanted.ask(host, manifest.id()).await {
                Some(value) => args.named.insert(input.name.clone(), value),
                None => break,
            };
        }
    }
    args
}

fn form_field(input: &DeclaredInput, wanted: &WantedValue) -> FormField {
    let about = |name: &str| input.about.get(name).and_then(Value::as_str);
    FormField {
        name: input.name.clone(),
        about: about("description").or(about("title")).unwrap_or_default().to_owned(),
        kind: match wanted.kind {
            InputKind::Text | InputKind::Choice => FormFieldKind::Text,
            InputKind::Number => FormFieldKind::Number,
            InputKind::Confirm => FormFieldKind::Confirm,
            InputKind::List => FormFieldKind::List,
            InputKind::Object => FormFieldKind::Object,
        },
        choices: wanted.choices.iter().map(|(label, _)| label.clone()).collect(),
        default: wanted.default.as_ref().map(text_of),
        required: true,
        fault: None,
    }
}
