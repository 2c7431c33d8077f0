//! Answers `avocet agents …`, `avocet bot …`, `avocet command …` and `avocet skill …` as rows and JSON, and drafts the
//! text of a new file. [`extensions`](avocet_config::extensions) reads and writes the files; `app` connects
//! both.

pub mod args;

use std::path::Path;

use serde_json::{Value as Json, json};
use toml_edit::Value as Toml;

use self::args::{Sampling, Texts};
use avocet_config::extensions::examples::ExampleCopy;
use avocet_config::extensions::{
    ExtensionFileKind, ExtensionLibrary, ExtensionSource, LoadState, LoadedFile, LookupError,
    ShadowedBy, edit, skill_list,
};
use avocet_core::i18n::{Lang, Localize, LocalizedText, agents, common, library as w};
use avocet_present::commands::{self, PageRow};

/// All files of a kind: those in use, by origin, then the others.
pub fn rows(library: &ExtensionLibrary, kind: ExtensionFileKind) -> Vec<PageRow> {
    let mut rows = library.rows(kind);
    if kind == ExtensionFileKind::Skill {
        let at = rows.len() - usize::from(library.places().untrusted_note.is_some());
        let omitted = commands::omitted_skill_rows(&library.skills.omitted(skill_list::BUDGET));
        rows.splice(at..at, omitted);
    }
    rows
}

/// The result of reading each file, for `doctor`.
pub fn doctor_rows(library: &ExtensionLibrary) -> Vec<PageRow> {
    let mut rows: Vec<PageRow> = library
        .files
        .iter()
        .filter(|file| file.owner.maker != ExtensionSource::BuiltIn)
        .map(|file| {
            let label = w::LABEL.with("kind", file.kind.phrase()).with("name", file.name.as_str());
            PageRow::pair(
                label,
                w::STATE_OF.with("state", file.state.localized()).with("file", path(file)),
            )
        })
        .collect();
    rows.extend(library.cut.iter().map(|cut| PageRow::line(cut.clone())));
    if rows.is_empty() {
        rows.push(PageRow::line(w::NOTHING_KEPT));
    }
    rows.extend(library.places().untrusted_note.clone().map(PageRow::line));
    rows
}

fn path(file: &LoadedFile) -> String {
    file.path.display().to_string()
}

/// One JSON object per file, each on its own line.
pub fn list_json(library: &ExtensionLibrary, kind: ExtensionFileKind, lang: Lang) -> String {
    let files = library.files.iter().filter(|file| file.kind == kind);
    files.map(|file| format!("{}\n", file_json(library, file, lang))).collect()
}

fn file_json(library: &ExtensionLibrary, file: &LoadedFile, lang: Lang) -> Json {
    let mut object = json!({
        "kind": file.kind.code(),
        "name": file.name,
        "state": file.state.code(),
        "file": path(file),
        "project": file.owner.project,
        "from": file.owner.localized().text(lang),
    });
    match &file.state {
        LoadState::Loaded { remarks } => {
            object["description"] = library.about(file).text(lang).into();
            let remarks: Vec<String> = remarks.iter().map(|say| say.text(lang)).collect();
            object["remarks"] = remarks.into();
        }
        LoadState::Shadowed { by: ShadowedBy::File(by) } => {
            object["by"] = by.display().to_string().into()
        }
        LoadState::Shadowed { by: ShadowedBy::BuiltIn } => object["by"] = "built-in".into(),
        LoadState::Refused { because } => object["because"] = because.text(lang).into(),
    }
    object
}

/// One file with everything read from it.
pub fn show_json(library: &ExtensionLibrary, file: &LoadedFile, lang: Lang) -> Json {
    let mut object = file_json(library, file, lang);
    match file.kind {
        ExtensionFileKind::Agent => {
            if let Ok(agent) = library.agent(&file.name) {
                object["prompt"] = agent.prompt.clone().into();
                object["tools"] = json!(agent.tools);
                object["model"] = json!(agent.model);
                object["effort"] = json!(agent.effort);
                object["mode"] = json!(agent.mode);
            }
        }
        ExtensionFileKind::Bot => {
            if let Ok(bot) = library.bot(&file.name) {
                object["system_prompt"] = bot.system_prompt.clone().into();
                object["params"] = json!(bot.params);
            }
        }
        ExtensionFileKind::Command => {
            if let Ok(command) = library.command(&file.name) {
                object["prompt"] = command.prompt.clone().into();
                object["argument_hint"] = command.argument_hint.clone().into();
                object["allowed_tools"] = json!(command.allowed_tools);
            }
        }
        ExtensionFileKind::Skill => {
            if let Ok(skill) = library.skill(&file.name) {
                object["examples"] = json!(skill.examples);
                object["argument_hint"] = skill.argument_hint.clone().into();
                object["allowed_tools"] = json!(skill.allowed_tools);
                object["disable_model_invocation"] = skill.disable_model_invocation.into();
                object["license"] = skill.unused.license.clone().into();
                object["compatibility"] = skill.unused.compatibility.clone().into();
                object["metadata"] = pairs(&skill.unused.metadata);
                object["more"] = pairs(&skill.unused.more);
                object["body"] = skill.body().ok().into();
            }
        }
    }
    object
}

fn pairs(pairs: &[(String, String)]) -> Json {
    pairs.iter().map(|(name, value)| (name.clone(), Json::from(value.as_str()))).collect()
}

/// The file with this name, whether it can be used or not.
pub fn find<'l>(
    library: &'l ExtensionLibrary,
    kind: ExtensionFileKind,
    name: &str,
) -> Result<&'l LoadedFile, LookupError> {
    let spelt = match kind {
        ExtensionFileKind::Command => {
            library.command(name).map(|command| command.name.as_str()).ok()
        }
        _ => None,
    };
    let spelt = spelt.unwrap_or(name);
    let by_file =
        |file: &&LoadedFile| matches!(file.state, LoadState::Shadowed { by: ShadowedBy::File(_) });
    let mut named = library.files.iter().filter(|file| file.kind == kind && file.name == spelt);
    match named.find(|file| !by_file(file)) {
        Some(file) => Ok(file),
        None => Err(match kind {
            ExtensionFileKind::Agent => library.agent(name).err(),
            ExtensionFileKind::Bot => library.bot(name).err(),
            ExtensionFileKind::Command => library.command(name).err(),
            ExtensionFileKind::Skill => library.skill(name).err(),
        }
        .unwrap_or_else(|| LookupError::bad_name(kind, name))),
    }
}

/// The text of a new file.
pub fn new_file_text(
    kind: ExtensionFileKind,
    name: &str,
    texts: &Texts,
    prompt: &str,
    sampling: &Sampling,
) -> String {
    if kind == ExtensionFileKind::Skill {
        let described = texts.description.as_deref().unwrap_or_default();
        return skill_text(name, "", described, prompt);
    }
    let mut keys: Vec<(&str, Toml)> = Vec::new();
    if let Some(description) = &texts.description {
        keys.push(("description", description.as_str().into()));
    }
    keys.push((prompt_key(kind), prompt.into()));
    let Sampling { temperature, top_p, presence_penalty, frequency_penalty, max_tokens } = sampling;
    let numbers = [("temperature", temperature), ("top_p", top_p)];
    keys.extend(
        numbers.iter().filter_map(|(key, number)| Some((*key, number.as_ref().copied()?.into()))),
    );
    keys.extend(max_tokens.map(|count| ("max_tokens", count.into())));
    let numbers =
        [("presence_penalty", presence_penalty), ("frequency_penalty", frequency_penalty)];
    keys.extend(
        numbers.iter().filter_map(|(key, number)| Some((*key, number.as_ref().copied()?.into()))),
    );
    edit::toml(&keys)
}

/// The text of a new skill; a JSON string is a YAML string as well.
fn skill_text(name: &str, comment: &str, description: &str, body: &str) -> String {
    let described = Json::from(avocet_core::text::one_line(description));
    let body = body.trim_matches('\n');
    format!("---\nname: {name}\n{comment}description: {described}\n---\n\n{body}\n")
}

/// The draft of a new file for the editor: the values of the options, and where to write the rest.
pub fn draft_text(
    kind: ExtensionFileKind,
    name: &str,
    texts: &Texts,
    sampling: &Sampling,
    lang: Lang,
) -> String {
    let about = match kind {
        ExtensionFileKind::Agent => agents::DRAFT,
        ExtensionFileKind::Bot => w::DRAFT_BOT,
        ExtensionFileKind::Command => w::DRAFT_COMMAND,
        ExtensionFileKind::Skill => w::DRAFT_SKILL,
    };
    let comment: String = about.text(lang).lines().map(|line| format!("# {line}\n")).collect();
    if kind == ExtensionFileKind::Skill {
        let described = texts.description.as_deref().unwrap_or_default();
        return skill_text(name, &comment, described, &format!("# {name}"));
    }
    let texts = Texts {
        description: texts.description.clone().or_else(|| Some(String::new())),
        prompt: None,
    };
    let file = new_file_text(kind, name, &texts, "\n", sampling);
    format!("{comment}{file}")
}

fn prompt_key(kind: ExtensionFileKind) -> &'static str {
    match kind {
        ExtensionFileKind::Bot => "system_prompt",
        _ => "prompt",
    }
}

/// What `init-home` did in this folder, one row per example.
pub fn example_rows(copies: &[ExampleCopy], folder: &Path) -> Vec<PageRow> {
    let name = |file: &Path| file.strip_prefix(folder).unwrap_or(file).display().to_string();
    let row = |copy: &ExampleCopy| match copy {
        ExampleCopy::Written(file) => PageRow::pair(name(file), w::WRITTEN),
        ExampleCopy::Existing(file) => PageRow::pair(name(file), w::KEPT),
    };
    let heading = PageRow::heading(folder.display().to_string());
    [heading].into_iter().chain(copies.iter().map(row)).collect()
}

/// The findings of `skill check`.
pub fn check_findings(file: &LoadedFile) -> Vec<LocalizedText> {
    match &file.state {
        LoadState::Loaded { remarks } if remarks.is_empty() => {
            vec![common::NO_PROBLEMS.with("file", path(file))]
        }
        LoadState::Loaded { remarks } => {
            let of = |text: &LocalizedText| {
                w::CHECKED_ODD.with("file", path(file)).with("remark", text.clone())
            };
            remarks.iter().map(of).collect()
        }
        LoadState::Shadowed { .. } => {
            vec![w::STATE_OF.with("state", file.state.localized()).with("file", path(file))]
        }
        LoadState::Refused { because } => vec![because.clone()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_config::Paths;
    use avocet_config::extensions::{Owner, SearchPath, bot, command};

    const OWN: Owner = Owner { maker: ExtensionSource::Avocet, project: false };

    #[test]
    fn a_new_file_contains_only_the_given_options() {
        let texts = Texts { description: Some("Re\"views".into()), prompt: None };
        let sampling =
            Sampling { temperature: Some(0.5), max_tokens: Some(9), ..Sampling::default() };
        let text =
            new_file_text(ExtensionFileKind::Bot, "b", &texts, "Be strict.\n{{x}}\n", &sampling);
        let bot = bot::read(Path::new("b.toml"), "b", OWN, &text).unwrap();
        assert_eq!(
            (bot.description.as_str(), bot.system_prompt.as_str()),
            ("Re\"views", "Be strict.\n{{x}}\n")
        );
        assert_eq!(
            (bot.params.temperature, bot.params.max_tokens, bot.params.top_p),
            (Some(0.5), Some(9), None)
        );
        assert!(!text.contains("top_p"), "{text}");
    }

    #[test]
    fn a_draft_explains_itself_and_is_invalid_until_it_is_filled_in() {
        for lang in [Lang::En, Lang::Zh] {
            let draft = draft_text(
                ExtensionFileKind::Command,
                "c",
                &Texts::default(),
                &Sampling::default(),
                lang,
            );
            assert!(draft.starts_with("# ") && draft.contains("{{args}}"), "{draft}");
            let form = avocet_config::extensions::TemplateMarks::Toml;
            assert!(command::read(Path::new("c.toml"), "c", OWN, form, &draft).is_err());
            let written = draft.replace("prompt = \"\"\"\n", "prompt = \"\"\"\nDo it.");
            assert!(
                command::read(Path::new("c.toml"), "c", OWN, form, &written).is_ok(),
                "{written}"
            );
        }
    }

    #[test]
    fn a_new_skill_can_be_read_and_its_draft_only_once_it_is_described() {
        let file = Path::new("/s/release/SKILL.md");
        let read = |text: &str| avocet_config::extensions::skill::parse(file, OWN, text, true);
        let texts = Texts { description: Some("When: a \"release\" is made".into()), prompt: None };
        let sampling = Sampling::default();
        let text = new_file_text(ExtensionFileKind::Skill, "release", &texts, "Tag it.", &sampling);
        let (skill, remarks) = read(&text).unwrap();
        assert_eq!((skill.name.as_str(), remarks.len()), ("release", 0));
        assert_eq!(skill.description, "When: a \"release\" is made");
        assert!(text.ends_with("---\n\nTag it.\n"), "{text}");
        for lang in [Lang::En, Lang::Zh] {
            let none = Texts::default();
            let draft = draft_text(ExtensionFileKind::Skill, "release", &none, &sampling, lang);
            assert!(draft.contains("\n# ") && read(&draft).is_err(), "{draft}");
            let described = draft.replace("description: \"\"", "description: It is useful.");
            assert!(read(&described).is_ok_and(|(_, remarks)| remarks.is_empty()), "{described}");
        }
    }

    #[test]
    fn a_file_is_found_by_its_name_even_when_it_is_broken() {
        let root = tempfile::tempdir().unwrap();
        let paths = Paths::with_root(&root.path().join("own"), root.path().join("home"));
        std::fs::create_dir_all(paths.bots()).unwrap();
        std::fs::write(paths.bots().join("b.toml"), "x = ").unwrap();
        let library = ExtensionLibrary::load(&SearchPath::new(&paths, None, &[]));
        assert_eq!(
            find(&library, ExtensionFileKind::Bot, "b").unwrap().path,
            paths.bots().join("b.toml")
        );
        assert!(matches!(
            find(&library, ExtensionFileKind::Bot, "c"),
            Err(LookupError::None { .. })
        ));
        assert!(matches!(
            find(&library, ExtensionFileKind::Bot, "../b"),
            Err(LookupError::BadName { .. })
        ));
        let json = list_json(&library, ExtensionFileKind::Bot, Lang::En);
        let json: Json = serde_json::from_str(json.trim()).unwrap();
        assert_eq!((&json["state"], &json["name"]), (&"refused".into(), &"b".into()));
    }
}
