//! Claude's commands: Markdown with front matter; the template follows it.
//!
//! `model` is ignored: a file does not choose the model. `allowed-tools` is reported and grants
//! nothing: a step asks by its own tier.

use std::path::Path;

use crate::extensions::command::first_line;
use crate::extensions::front_matter;
use crate::extensions::skill::tools;
use crate::extensions::traits::TraitsReader;
use crate::extensions::{CustomCommand, Owner, TemplateMarks, message_at};
use avocet_core::i18n::{LocalizedText, library as w};
use avocet_core::prompt::template::TemplateForm;
use avocet_core::protocol::CommandTraits;
use avocet_core::text::one_line;

/// Parses a command. Harmless oddities are returned with it.
pub fn read(
    file: &Path,
    name: &str,
    owner: Owner,
    text: &str,
) -> Result<(CustomCommand, Vec<LocalizedText>), LocalizedText> {
    let parts = front_matter::split(text);
    let (pairs, mended) = front_matter::read(parts.front.unwrap_or_default())
        .map_err(|wrong| message_at(file, Some(wrong.place), w::NOT_YAML).with("why", wrong.why))?;
    let mut command = CustomCommand {
        name: name.to_owned(),
        description: first_line(parts.body),
        argument_hint: String::new(),
        traits: CommandTraits::default(),
        exec: Vec::new(),
        prompt: parts.body.trim_start_matches(['\r', '\n']).to_owned(),
        form: TemplateMarks::Markdown,
        allowed_tools: Vec::new(),
        file: file.to_owned(),
        owner,
    };
    if command.prompt.trim().is_empty() {
        return Err(message_at(file, None, w::NO_TEMPLATE));
    }
    let mut texts: Vec<LocalizedText> =
        mended.then(|| w::FRONT_MENDED.into()).into_iter().collect();
    let mut traits = TraitsReader::default();
    for (key, node) in &pairs {
        match key.as_str() {
            "description" => command.description = one_line(&node.flat()),
            "allowed-tools" => command.allowed_tools = tools(node),
            "model" => {
                texts.push(w::MODEL_IGNORED.with("model", node.text().unwrap_or_default()));
            }
            // The user types commands; the model cannot call them.
            key => {
                traits.take_yaml(key, node);
            }
        }
    }
    traits.infer_hint(&command.prompt, TemplateForm::Markdown);
    (command.argument_hint, command.traits) = traits.finish();
    Ok((command, texts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extensions::ExtensionSource;
    use crate::extensions::yaml::YamlNode;
    use avocet_core::i18n::Lang;

    const OWNER: Owner = Owner { maker: ExtensionSource::Claude, project: true };

    fn of(text: &str) -> Result<(CustomCommand, Vec<LocalizedText>), String> {
        let file = Path::new("/p/.claude/commands/git/commit.md");
        read(file, "git:commit", OWNER, text).map_err(|say| say.text(Lang::En))
    }

    #[test]
    fn front_matter_describes_and_the_template_follows_it() {
        let text = "---\ndescription: Commit\nargument-hint: [message] [scope]\n\
                    allowed-tools: Bash(git add:*), Bash(git commit:*)\nmodel: opus\n---\n\n\
                    Status: !`git status`\n\nCommit: $ARGUMENTS\n";
        let (command, remarks) = of(text).unwrap();
        assert_eq!(command.name, "git:commit");
        assert_eq!(command.description, "Commit");
        assert_eq!(command.argument_hint, "[message] [scope]");
        assert_eq!(command.allowed_tools, ["Bash(git add:*)", "Bash(git commit:*)"]);
        assert_eq!(command.prompt, "Status: !`git status`\n\nCommit: $ARGUMENTS\n");
        assert_eq!(command.form, TemplateMarks::Markdown);
        let remarks: Vec<_> = remarks.iter().map(|say| say.text(Lang::En)).collect();
        assert!(remarks.len() == 2 && remarks[1].contains("opus"), "{remarks:?}");
    }

    #[test]
    fn without_front_matter_the_first_line_describes() {
        let (command, remarks) = of("# Fix the issue\n\nFix $1.\n").unwrap();
        assert_eq!((command.description.as_str(), remarks.len()), ("Fix the issue", 0));
        assert_eq!(command.prompt, "# Fix the issue\n\nFix $1.\n");
    }

    #[test]
    fn an_empty_command_is_refused() {
        assert!(of("---\ndescription: x\n---\n\n").unwrap_err().contains("commit.md"));
    }

    #[test]
    fn a_value_that_is_not_text_is_shown_as_text() {
        assert_eq!(YamlNode::List(vec![]).flat(), "");
        assert_eq!(of("---\ndescription: [a, b]\n---\nx").unwrap().0.description, "a, b");
    }
}
