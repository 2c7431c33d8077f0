//! Gemini's commands: TOML like our own, with more keys and with folders in the name.

use std::path::Path;

use crate::extensions::{CustomCommand, Owner, TemplateMarks, command};
use avocet_core::i18n::{LocalizedText, library as w};

/// Parses a command. Keys that only Gemini knows are reported and ignored.
pub fn read(
    file: &Path,
    name: &str,
    owner: Owner,
    text: &str,
) -> Result<(CustomCommand, Vec<LocalizedText>), LocalizedText> {
    let (command, more) = command::read(file, name, owner, TemplateMarks::Gemini, text)?;
    let remark = (!more.is_empty()).then(|| w::KEYS_IGNORED.with("keys", more.join(", ")));
    Ok((command, remark.into_iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extensions::ExtensionSource;
    use avocet_core::i18n::Lang;

    #[test]
    fn gemini_commands_may_have_more_keys_than_ours() {
        let owner = Owner { maker: ExtensionSource::Gemini, project: false };
        let text = "prompt = \"Explain {{args}}\"\ndescription = \"Explains\"\nmodel = \"x\"\n";
        let file = Path::new("/h/.gemini/commands/git/x.toml");
        let (command, remarks) = read(file, "git:x", owner, text).unwrap();
        assert_eq!(
            (command.prompt.as_str(), command.form),
            ("Explain {{args}}", TemplateMarks::Gemini)
        );
        assert!(remarks[0].text(Lang::En).contains("model"));
    }
}
