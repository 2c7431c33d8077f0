//! Expands a command or a skill with its arguments to a prompt. Its shell pieces and files are
//! processed later, elsewhere.

use super::{CustomCommand, ExtensionLibrary, Skill, TemplateMarks, message_at};
use avocet_core::i18n::{Localize, LocalizedText, library as w};
use avocet_core::prompt::template::{self, Template, TemplateValues};
use avocet_core::protocol::{Mention, Prompt, PromptPart, PromptSource, PromptTemplateKind};

/// The prompt of a command, or of a skill if there is no command with this name. What is called exactly
/// so comes first; for a command in a folder, the last part of its name is enough.
pub fn by_name(
    library: &ExtensionLibrary,
    name: &str,
    args: &str,
) -> Result<Prompt, LocalizedText> {
    let found = library.command(name);
    match (found, library.skill(name)) {
        (Ok(found), Err(_)) => command(found, args),
        (Ok(found), Ok(_)) if found.name == name => command(found, args),
        (_, Ok(found)) => skill(found, args),
        (Err(absent), Err(_)) => Err(absent.localized()),
    }
}

/// What a program of a command gets the typed arguments for, in one word.
const ARGUMENTS: &str = "{{args}}";

/// The prompt of a command.
pub fn command(command: &CustomCommand, args: &str) -> Result<Prompt, LocalizedText> {
    let shown = typed_line(&command.name, args);
    if !command.exec.is_empty() {
        let words = command.exec.iter().filter(|word| *word != ARGUMENTS || !args.is_empty());
        let words = words.map(|word| word.replace(ARGUMENTS, args)).collect();
        return Ok(Prompt { shown, parts: vec![PromptPart::Program(words)], ..Prompt::default() });
    }
    let (form, root) = match command.form {
        TemplateMarks::Toml | TemplateMarks::Gemini => (template::TemplateForm::Braces, None),
        TemplateMarks::Markdown => {
            (template::TemplateForm::Markdown, Some(command.root().display().to_string()))
        }
    };
    let wrong = |why| message_at(&command.file, None, w::TEMPLATE_WRONG).with("why", why);
    let template = Template::parse(&command.prompt, form).map_err(wrong)?;
    Ok(Prompt {
        shown,
        parts: template.fill(&TemplateValues::new(args, root)),
        source: Some(source(PromptTemplateKind::Command, &command.name, &command.allowed_tools)),
        input: None,
    })
}

/// The prompt of a skill that the user enters: its text, and the folder of its files.
pub fn skill(skill: &Skill, args: &str) -> Result<Prompt, LocalizedText> {
    let root = skill.root().display().to_string();
    let wrong = |why| message_at(&skill.file, None, w::TEMPLATE_WRONG).with("why", why);
    let template = Template::parse(&skill.body()?, skill.template_form()).map_err(wrong)?;
    let head =
        format!("The user entered the skill `{}`. Its files lie in {root:?}.\n\n", skill.name);
    let mut parts = vec![PromptPart::Text(head)];
    let filled = template.fill(&TemplateValues::new(args, Some(root)));
    parts.extend(filled.into_iter().map(|part| beside(skill, part)));
    Ok(Prompt {
        shown: typed_line(&skill.name, args),
        parts,
        source: Some(source(PromptTemplateKind::Skill, &skill.name, &skill.allowed_tools)),
        input: None,
    })
}

/// A file that the skill names and that is beside it is meant, and not one of the workspace.
fn beside(skill: &Skill, part: PromptPart) -> PromptPart {
    let PromptPart::Mention { text, mention } = part else { return part };
    let path = skill.root().join(&mention.path);
    let mention = if path.exists() {
        Mention { path: path.display().to_string(), ..mention }
    } else {
        mention
    };
    PromptPart::Mention { text, mention }
}

fn source(kind: PromptTemplateKind, name: &str, tools: &[String]) -> PromptSource {
    PromptSource { kind, name: name.to_owned(), tools: tools.to_vec() }
}

/// The input as typed.
fn typed_line(name: &str, args: &str) -> String {
    format!("/{name} {args}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Paths;
    use crate::extensions::SearchPath;
    use avocet_core::i18n::Lang;

    fn library(files: &[(&str, &str)]) -> (tempfile::TempDir, ExtensionLibrary) {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let paths = Paths::with_root(&root.path().join("own"), root.path().join("home"));
        let library = ExtensionLibrary::load(&SearchPath::new(&paths, None, &[]));
        (root, library)
    }

    fn texts(prompt: &Prompt) -> String {
        let text = |part: &PromptPart| match part {
            PromptPart::Text(text) => text.clone(),
            PromptPart::Shell(line) => format!("<{line}>"),
            other => format!("{other:?}"),
        };
        prompt.parts.iter().map(text).collect()
    }

    #[test]
    fn a_command_of_each_form_is_filled_by_its_own_rules() {
        let (root, library) = library(&[
            ("home/.r9s/commands/summarize.toml", "prompt = \"Sum up {{args}} !{ls {{args}}}\""),
            ("home/.gemini/commands/a/b.toml", "prompt = \"Explain\""),
            ("home/.claude/commands/fix.md", "Fix $1 of $ARGUMENTS in ${SKILL_ROOT}"),
        ]);
        let of = |name: &str| by_name(&library, name, "focus on risks").unwrap();
        let summarize = of("summarize");
        assert_eq!(texts(&summarize), "Sum up focus on risks <ls 'focus on risks'>");
        assert_eq!(summarize.shown, "/summarize focus on risks");
        assert_eq!(summarize.source.unwrap().name, "summarize");
        assert_eq!(texts(&of("a:b")), "Explain\n\nfocus on risks");
        let folder = root.path().join("home/.claude/commands").display().to_string();
        assert_eq!(texts(&of("fix")), format!("Fix focus of focus on risks in {folder}"));
    }

    #[test]
    fn a_skill_names_the_folder_of_its_files() {
        let text =
            "---\nname: pdf\ndescription: x\n---\nRead ${SKILL_ROOT}/how.md for $ARGUMENTS\n";
        let (root, library) = library(&[("own/skills/pdf/SKILL.md", text)]);
        let folder = root.path().join("own/skills/pdf").display().to_string();
        let prompt = by_name(&library, "pdf", "a.pdf").unwrap();
        let expected = format!(
            "The user entered the skill `pdf`. Its files lie in {folder:?}.\n\nRead {folder}/how.md for a.pdf\n"
        );
        assert_eq!(texts(&prompt), expected);
        assert_eq!(prompt.source.unwrap().kind, PromptTemplateKind::Skill);
    }

    #[test]
    fn a_number_after_a_dollar_is_text_in_a_skill_that_takes_no_arguments() {
        let body = "Run `awk '{print $1}'`, `$B$6`, minimum $5\n";
        let skill = |hint: &str| format!("---\nname: x\ndescription: x\n{hint}---\n{body}");
        let (_root, library) = library(&[
            ("own/skills/x/SKILL.md", &skill("")),
            (
                "own/skills/y/SKILL.md",
                &skill("argument-hint: file\n").replace("name: x", "name: y"),
            ),
        ]);
        let said = texts(&by_name(&library, "x", "go on").unwrap());
        assert!(said.contains(body) && said.ends_with("\n\ngo on"), "{said}");
        assert!(texts(&by_name(&library, "y", "go").unwrap()).contains("{print go}"));
    }

    #[test]
    fn a_file_that_a_skill_names_is_the_one_beside_it() {
        let text = "---\nname: pdf\ndescription: x\n---\nSee @how.md and @other.md\n";
        let (root, library) =
            library(&[("own/skills/pdf/SKILL.md", text), ("own/skills/pdf/how.md", "x")]);
        let prompt = by_name(&library, "pdf", "").unwrap();
        let paths: Vec<_> = prompt
            .parts
            .iter()
            .filter_map(|part| match part {
                PromptPart::Mention { mention, .. } => Some(mention.path.clone()),
                _ => None,
            })
            .collect();
        let beside = root.path().join("own/skills/pdf/how.md").display().to_string();
        assert_eq!(paths, [beside, "other.md".to_owned()]);
    }

    #[test]
    fn an_invalid_template_is_reported_with_its_file() {
        let (_root, library) = library(&[("own/commands/x.toml", "prompt = \"!{ls\"")]);
        let said = by_name(&library, "x", "").unwrap_err().text(Lang::En);
        assert!(said.contains("x.toml: Line 1"), "{said}");
        assert!(by_name(&library, "y", "").unwrap_err().text(Lang::En).contains("`y`"));
    }
}
