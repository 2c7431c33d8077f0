//! Custom commands: a prompt template that is typed as `/name` (000 §3).
//!
//! Not in here: the syntax of the template.

use std::path::{Path, PathBuf};

use super::traits::{self, TraitsReader};
use super::{Owner, toml_message};
use crate::toml_schema::TomlKind::{List, Text};
use crate::toml_schema::{self, ListKind, SettingKey, TomlEntry, TomlValue};
use crate::{ConfigDiagnostic, ConfigError};
use avocet_core::i18n::{Localize, LocalizedText};
use avocet_core::prompt::template::TemplateForm;
use avocet_core::protocol::CommandTraits;
use avocet_core::text::cut;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomCommand {
    /// Without the slash; `git:commit` for one in a folder of another agent.
    pub name: String,
    pub description: String,
    /// The hint for its arguments, from its file.
    pub argument_hint: String,
    pub traits: CommandTraits,
    /// The template as it is in the file.
    pub prompt: String,
    /// The program that runs in place of a model, and its arguments; empty: the template is sent.
    pub exec: Vec<String>,
    pub form: TemplateMarks,
    /// The tools it is meant to work with, as its file names them.
    pub allowed_tools: Vec<String>,
    /// Absolute.
    pub file: PathBuf,
    pub owner: Owner,
}

/// The syntax of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateMarks {
    /// `{{args}}`, `!{shell}`, `@{path}`.
    Toml,
    /// The same, for Gemini.
    Gemini,
    /// `$1`, `$ARGUMENTS`, `${SKILL_ROOT}`, `` !`shell` ``, `@path`.
    Markdown,
}

impl CustomCommand {
    /// The folder of its file.
    pub fn root(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("/"))
    }
}

const fn key(path: &'static str) -> SettingKey {
    SettingKey::of_extension(path, Text)
}

const KEYS: &[SettingKey] = &{
    let [hint, same_hint, short_hint, aliases, category, reach, setting, busy, priority, arguments] =
        traits::KEYS;
    [
        key("description"),
        key("prompt"),
        SettingKey::of_extension("exec", List(ListKind::Words)),
        hint,
        same_hint,
        short_hint,
        aliases,
        category,
        reach,
        setting,
        busy,
        priority,
        arguments,
    ]
};

/// Parses a command in TOML; `form` says whose it is. Other agents may write more keys than these;
/// the names of such keys are returned.
pub fn read(
    file: &Path,
    name: &str,
    owner: Owner,
    marks: TemplateMarks,
    text: &str,
) -> Result<(CustomCommand, Vec<String>), LocalizedText> {
    let reading = toml_schema::read(file, text, KEYS);
    let mut more = Vec::new();
    for problem in reading.problems {
        match &problem {
            ConfigDiagnostic { fault: ConfigError::Unknown { .. }, key: Some(key), .. }
                if marks == TemplateMarks::Gemini =>
            {
                more.push(key.clone());
            }
            _ => return Err(problem.localized()),
        }
    }
    let mut command = CustomCommand {
        name: name.to_owned(),
        description: String::new(),
        argument_hint: String::new(),
        traits: CommandTraits::default(),
        prompt: String::new(),
        exec: Vec::new(),
        form: marks,
        allowed_tools: Vec::new(),
        file: file.to_owned(),
        owner,
    };
    let mut traits = TraitsReader::default();
    for TomlEntry { path, value, .. } in reading.found {
        match (path.as_str(), value) {
            ("description", TomlValue::Text(text)) => command.description = text,
            ("prompt", TomlValue::Text(text)) => command.prompt = text,
            ("exec", TomlValue::List(words)) => command.exec = words,
            (path, value) => {
                traits.take(path, &value);
            }
        }
    }
    let text =
        if command.exec.is_empty() { command.prompt.clone() } else { command.exec.join(" ") };
    traits.infer_hint(&text, TemplateForm::Braces);
    (command.argument_hint, command.traits) = traits.finish();
    if text.trim().is_empty() {
        return Err(toml_message(file, ConfigError::Missing { key: "prompt" }));
    }
    if command.description.trim().is_empty() {
        command.description = first_line(&text);
    }
    Ok((command, more))
}

/// Longest description that is taken from the template, in characters.
const DESCRIBED: usize = 100;

/// Without a description, the first line of the template describes the command.
pub(super) fn first_line(template: &str) -> String {
    let lines = template.lines().map(|line| line.trim_start_matches('#').trim());
    cut(lines.into_iter().find(|line| !line.is_empty()).unwrap_or_default(), DESCRIBED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extensions::ExtensionSource;
    use avocet_core::i18n::Lang;

    fn of(text: &str, form: TemplateMarks) -> Result<(CustomCommand, Vec<String>), String> {
        let owner = Owner { maker: ExtensionSource::Avocet, project: false };
        read(Path::new("/c/x.toml"), "x", owner, form, text).map_err(|say| say.text(Lang::En))
    }

    #[test]
    fn a_command_has_a_description_and_a_template() {
        let text =
            "description = \"Generate\"\nprompt = \"\"\"\nDiff:\n\n!{git diff --staged}\n\"\"\"\n";
        let (command, more) = of(text, TemplateMarks::Toml).unwrap();
        assert_eq!(command.description, "Generate");
        assert_eq!(command.prompt, "Diff:\n\n!{git diff --staged}\n");
        assert_eq!((command.root(), more), (Path::new("/c"), vec![]));
    }

    #[test]
    fn a_command_without_a_prompt_is_refused() {
        for text in ["", "description = \"x\"", "prompt = \" \\n\""] {
            let said = of(text, TemplateMarks::Toml).unwrap_err();
            assert!(said.starts_with("/c/x.toml: `prompt` is missing"), "{said}");
        }
        assert!(of("prompt = 3", TemplateMarks::Toml).unwrap_err().contains("line 1, column 10"));
    }

    #[test]
    fn a_template_that_inserts_arguments_has_a_hint_unless_its_file_gives_one() {
        let hint = |text: &str| of(text, TemplateMarks::Toml).unwrap().0.argument_hint;
        assert_eq!(hint("prompt = \"Explain {{args}}\""), "[arguments]");
        assert_eq!(hint("prompt = \"Show !{ls {{args}}}\""), "[arguments]");
        assert_eq!(hint("prompt = \"Explain it\""), "");
        for key in ["argument_hint", "argument-hint", "args_hint"] {
            assert_eq!(hint(&format!("prompt = \"{{{{args}}}}\"\n{key} = \"<x>\"")), "<x>");
        }
    }

    #[test]
    fn a_program_takes_the_place_of_a_template() {
        let (command, _) = of("exec = [\"weather\", \"{{args}}\"]", TemplateMarks::Toml).unwrap();
        assert_eq!(command.exec, ["weather", "{{args}}"]);
        assert_eq!(
            (command.argument_hint.as_str(), command.description.as_str()),
            ("[arguments]", "weather {{args}}")
        );
    }

    #[test]
    fn an_unknown_key_is_refused_in_our_format_and_reported_in_others() {
        let text = "prompt = \"x\"\nsystem_prompt = \"y\"\n";
        assert!(of(text, TemplateMarks::Toml).unwrap_err().contains("`system_prompt`"));
        assert_eq!(of(text, TemplateMarks::Gemini).unwrap().1, ["system_prompt"]);
    }
}
