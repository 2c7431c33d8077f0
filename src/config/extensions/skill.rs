//! Skills: a folder with a `SKILL.md` that says when the skill is useful, and how to do it.
//!
//! Only the head of the file is read during the search; the body is read when the skill is entered,
//! and the other files of its folder when the text asks for them.

use std::path::{Path, PathBuf};

use super::traits::TraitsReader;
use super::yaml::YamlNode;
use super::{Owner, front_matter, message_at, name, toml_message};
use crate::atomic_file;
use avocet_core::i18n::{LocalizedText, library as w};
use avocet_core::prompt::template::TemplateForm;
use avocet_core::protocol::CommandTraits;
use avocet_core::text::one_line;

/// The name of the file.
pub const FILE: &str = "SKILL.md";
/// The longest description, in characters.
pub const DESCRIBED: usize = 1_024;
/// Maximum number of examples, tools and keys that are kept.
const MAX_ITEMS: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    /// When it is useful, on one line.
    pub description: String,
    /// Example requests that call for it.
    pub examples: Vec<String>,
    /// The tools it is meant to work with, as its file names them: `Bash(git add:*)`.
    pub allowed_tools: Vec<String>,
    pub argument_hint: String,
    pub traits: CommandTraits,
    /// True for a skill the model may not enter on its own.
    pub disable_model_invocation: bool,
    pub unused: UnusedMetadata,
    /// Absolute.
    pub file: PathBuf,
    pub owner: Owner,
}

/// Metadata of a skill that has no effect here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnusedMetadata {
    pub license: String,
    pub compatibility: String,
    pub metadata: Vec<(String, String)>,
    /// Unknown keys, as written.
    pub more: Vec<(String, String)>,
}

impl Skill {
    /// The folder of the skill.
    pub fn root(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("/"))
    }

    /// Which placeholders its text has: `$1` only if it says that it takes arguments.
    pub fn template_form(&self) -> TemplateForm {
        if self.argument_hint.is_empty() {
            TemplateForm::Unnumbered
        } else {
            TemplateForm::Markdown
        }
    }

    /// The text after the front matter, read now.
    pub fn body(&self) -> Result<String, LocalizedText> {
        let text =
            atomic_file::read(&self.file).map_err(|fault| toml_message(&self.file, fault))?;
        let text = text.ok_or_else(|| message_at(&self.file, None, w::SKILL_GONE))?;
        Ok(front_matter::split(&text).body.to_owned())
    }
}

/// Reads the head of a skill. Harmless oddities are returned with it.
pub fn read(file: &Path, owner: Owner) -> Result<(Skill, Vec<LocalizedText>), LocalizedText> {
    if let Some(other) = misspelt(file) {
        return Err(rename_message(&other));
    }
    let (text, whole) =
        front_matter::read_prefix(file).map_err(|fault| toml_message(file, fault))?;
    parse(file, owner, &text, whole)
}

/// A file in the place of this one whose name differs only in its case.
fn misspelt(file: &Path) -> Option<PathBuf> {
    if file.symlink_metadata().is_ok() {
        return None;
    }
    let entries = std::fs::read_dir(file.parent()?).ok()?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    paths.find(|path| path.file_name().is_some_and(|name| is_misspelt(&name.to_string_lossy())))
}

/// `skill.md` is not found on a system that tells the cases apart.
pub(super) fn is_misspelt(name: &str) -> bool {
    name != FILE && name.eq_ignore_ascii_case(FILE)
}

pub(super) fn rename_message(file: &Path) -> LocalizedText {
    w::RENAME_SKILL.with("file", file.display().to_string())
}

/// Parses the head of a skill; `whole`: `text` is all of its file.
pub fn parse(
    file: &Path,
    owner: Owner,
    text: &str,
    whole: bool,
) -> Result<(Skill, Vec<LocalizedText>), LocalizedText> {
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default();
    let folder = folder.to_string_lossy().into_owned();
    let Some(head) = front_matter::split(text).front else {
        let word = if whole { w::NO_FRONT } else { w::FRONT_TOO_LONG };
        return Err(message_at(file, None, word));
    };
    let (pairs, mended) = front_matter::read(head)
        .map_err(|wrong| message_at(file, Some(wrong.place), w::NOT_YAML).with("why", wrong.why))?;
    let mut skill = Skill {
        name: String::new(),
        description: String::new(),
        examples: Vec::new(),
        allowed_tools: Vec::new(),
        argument_hint: String::new(),
        traits: CommandTraits::default(),
        disable_model_invocation: false,
        unused: UnusedMetadata::default(),
        file: file.to_owned(),
        owner,
    };
    let mut traits = TraitsReader::default();
    for (key, node) in pairs.into_iter().take(MAX_ITEMS) {
        if !traits.take_yaml(&key, &node) {
            skill.set_value(key, node);
        }
    }
    (skill.argument_hint, skill.traits) = traits.finish();
    let mut texts: Vec<LocalizedText> =
        mended.then(|| w::FRONT_MENDED.into()).into_iter().collect();
    texts.extend(check_name(&mut skill, &folder)?);
    if skill.description.is_empty() {
        return Err(message_at(file, None, w::NO_DESCRIPTION));
    }
    if skill.description.chars().count() > DESCRIBED {
        texts.push(w::LONG_DESCRIPTION.with("most", DESCRIBED));
        skill.description = skill.description.chars().take(DESCRIBED).collect();
    }
    Ok((skill, texts))
}

impl Skill {
    fn set_value(&mut self, key: String, node: YamlNode) {
        match key.as_str() {
            "name" => self.name = node.flat(),
            "description" => self.description = one_line(&node.flat()),
            "examples" => self.examples = examples(node),
            "allowed-tools" => self.allowed_tools = tools(&node),
            "license" => self.unused.license = node.flat(),
            "compatibility" => self.unused.compatibility = node.flat(),
            "disable-model-invocation" => self.disable_model_invocation = is_true(&node),
            "metadata" => match node {
                YamlNode::Map(pairs) => {
                    let pairs = pairs.into_iter().map(|(name, node)| (name, node.flat()));
                    self.unused.metadata = pairs.collect();
                }
                node => self.unused.more.push((key, node.flat())),
            },
            _ => self.unused.more.push((key, node.flat())),
        }
    }
}

/// Checks the name: one that cannot be typed or that leaves its folder is refused, one that merely
/// differs from the format is loaded with a remark.
fn check_name(skill: &mut Skill, folder: &str) -> Result<Vec<LocalizedText>, LocalizedText> {
    let mut remarks = Vec::new();
    if skill.name.is_empty() {
        remarks.push(w::NO_SKILL_NAME.with("folder", name::display_name(folder)));
        folder.clone_into(&mut skill.name);
    }
    let is_usable = |name: &str| name::is_usable(super::ExtensionFileKind::Skill, name);
    if !is_usable(&skill.name) && is_for_display(&skill.name) && is_usable(folder) {
        let word = w::DISPLAY_NAME.with("name", name::display_name(&skill.name));
        remarks.push(word.with("folder", folder));
        folder.clone_into(&mut skill.name);
    }
    if !is_usable(&skill.name) {
        let word = message_at(&skill.file, None, w::BAD_NAME_IN);
        return Err(word.with("name", name::display_name(&skill.name)));
    }
    if !name::is_of_format(&skill.name) {
        remarks.push(w::ODD_NAME.with("name", skill.name.as_str()));
    }
    if skill.name != folder {
        let word = w::NAME_IS_NOT_FOLDER.with("name", skill.name.as_str());
        remarks.push(word.with("folder", name::display_name(folder)));
    }
    Ok(remarks)
}

/// Words, as people name things: nothing that leads out of a folder or means something to a shell.
fn is_for_display(name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || " ._-&+,()'".contains(c);
    name.starts_with(char::is_alphanumeric) && name.chars().all(is_word)
}

fn examples(node: YamlNode) -> Vec<String> {
    let texts = match node {
        YamlNode::List(items) => items.iter().map(|item| one_line(&item.flat())).collect(),
        node => vec![one_line(&node.flat())],
    };
    texts.into_iter().filter(|text: &String| !text.is_empty()).take(MAX_ITEMS).collect()
}

/// `Bash(git add:*), Read` or `Bash(git add:*) Read`, or a list of them.
pub(super) fn tools(node: &YamlNode) -> Vec<String> {
    let text = node.flat();
    let mut names = vec![String::new()];
    let mut depth = 0_usize;

    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match names.last_mut() {
            Some(name) if depth > 0 || !(c == ',' || c.is_whitespace()) => name.push(c),
            _ => names.push(String::new()),
        }
    }
    names.retain(|name| !name.is_empty());
    names.truncate(MAX_ITEMS);
    names
}

pub(super) fn is_true(node: &YamlNode) -> bool {
    matches!(node.flat().to_lowercase().as_str(), "true" | "yes" | "on")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::extensions::ExtensionSource;
    use avocet_core::i18n::Lang;

    const OWNER: Owner = Owner { maker: ExtensionSource::Avocet, project: false };

    fn of(folder: &str, text: &str) -> Result<(Skill, Vec<String>), String> {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join(folder).join(FILE);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        let shown = root.path().display().to_string();
        read(&file, OWNER)
            .map(|(skill, remarks)| (skill, remarks.iter().map(|say| say.text(Lang::En)).collect()))
            .map_err(|say| say.text(Lang::En).replace(&shown, ""))
    }

    const FULL: &str = "---\nname: pdf-tools\ndescription: |\n  This skill should be used when\n  a PDF is read.\n\
        examples:\n  - \"Read this PDF\"\n  - Fill the form\nallowed-tools: Bash(git add:*), Read\n\
        argument-hint: [file]\nlicense: MIT\ncompatibility: needs poppler\nmetadata:\n  version: 1.0\n\
        disable-model-invocation: true\ncolour: blue\n---\n# How\n\nDo it.\n";

    #[test]
    fn every_key_of_the_format_is_read_and_unknown_ones_are_kept() {
        let (skill, remarks) = of("pdf-tools", FULL).unwrap();
        assert_eq!(remarks, [""; 0]);
        assert_eq!(skill.description, "This skill should be used when a PDF is read.");
        assert_eq!(skill.examples, ["Read this PDF", "Fill the form"]);
        assert_eq!(skill.allowed_tools, ["Bash(git add:*)", "Read"]);
        assert_eq!(skill.argument_hint, "[file]");
        assert!(skill.disable_model_invocation);
        assert_eq!(skill.unused.metadata, [("version".to_owned(), "1.0".to_owned())]);
        assert_eq!(skill.unused.more, [("colour".to_owned(), "blue".to_owned())]);
        assert_eq!(
            (skill.unused.license.as_str(), skill.unused.compatibility.as_str()),
            ("MIT", "needs poppler")
        );
    }

    #[test]
    fn the_body_is_read_only_on_demand() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("pdf-tools").join(FILE);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, FULL).unwrap();
        let (skill, _) = read(&file, OWNER).unwrap();
        assert_eq!(skill.body().unwrap(), "# How\n\nDo it.\n");
        fs::write(&file, "---\nname: x\n---\nNew.").unwrap();
        assert_eq!(skill.body().unwrap(), "New.");
        fs::remove_file(&file).unwrap();
        assert!(skill.body().unwrap_err().text(Lang::En).contains("SKILL.md"));
    }

    #[test]
    fn an_odd_name_is_loaded_with_a_remark() {
        let (skill, remarks) = of("tools", "---\nname: PDF_Tools\ndescription: x\n---\n").unwrap();
        assert_eq!(skill.name, "PDF_Tools");
        assert!(remarks[0].contains("PDF_Tools") && remarks[1].contains("tools"), "{remarks:?}");
        let (skill, remarks) = of("tools", "---\ndescription: x\n---\n").unwrap();
        assert_eq!((skill.name.as_str(), remarks.len()), ("tools", 1));
    }

    #[test]
    fn a_name_for_display_is_loaded_under_the_name_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ahrefs-automation/SKILL.md");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "---\nname: Ahrefs Automation\ndescription: d\n---\nx\n").unwrap();
        let owner = Owner { maker: super::super::ExtensionSource::Avocet, project: false };
        let (skill, remarks) = read(&file, owner).unwrap();
        assert_eq!(skill.name, "ahrefs-automation");
        assert!(remarks[0].text(Lang::En).contains("`Ahrefs Automation`"), "{remarks:?}");
    }

    #[test]
    fn an_invalid_skill_is_refused_with_its_reason() {
        let cases = [
            ("no front matter at all", "front matter"),
            ("---\nname: x\n---\n", "`description`"),
            ("---\nname: ../x\ndescription: y\n---\n", "`../x`"),
            ("---\nname: \"a\\eb\"\ndescription: y\n---\n", "`a\\u{1b}b`"),
            ("---\nname: a$b\ndescription: y\n---\n", "`a$b`"),
            ("---\n*x: [\n---\n", "line 2"),
        ];
        for (text, expected) in cases {
            let said = of("x", text).unwrap_err();
            assert!(said.contains(expected) && said.contains("/x/SKILL.md"), "{text:?}: {said}");
        }
        let endless = format!("---\nname: x\n{}", "a: b\n".repeat(20_000));
        assert!(of("x", &endless).unwrap_err().contains("64 KiB"));
    }

    #[test]
    fn a_file_whose_name_has_the_wrong_case_is_named_with_what_to_do() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("x");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("skill.md"), "---\nname: x\ndescription: y\n---\n").unwrap();
        let said = read(&folder.join(FILE), OWNER).unwrap_err().text(Lang::En);
        assert!(said.contains("/x/skill.md") && said.contains("`SKILL.md`"), "{said}");
    }

    #[test]
    fn a_long_description_is_cut_and_reported() {
        let text = format!("---\nname: x\ndescription: {}\n---\n", "长".repeat(1_100));
        let (skill, remarks) = of("x", &text).unwrap();
        assert_eq!(skill.description.chars().count(), DESCRIBED);
        assert!(remarks[0].contains("1024"), "{remarks:?}");
    }

    #[test]
    fn tools_are_separated_by_commas_or_spaces() {
        let of = |text: &str| tools(&YamlNode::Text(text.into()));
        assert_eq!(
            of("Bash(git add:*) Bash(git status:*), Read"),
            ["Bash(git add:*)", "Bash(git status:*)", "Read"]
        );
        assert_eq!(
            tools(&YamlNode::List(vec![
                YamlNode::Text("Read".into()),
                YamlNode::Text("Grep".into())
            ])),
            ["Read", "Grep"]
        );
    }
}
