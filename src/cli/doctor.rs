//! The rows of `avocet doctor` and `/doctor`: the state of settings, model and terminal. A function
//! of plain facts; the caller gathers them.

use std::path::PathBuf;

use super::Exit;
use super::extensions;
use super::model::ModelListing;
use avocet_config::extensions::ExtensionLibrary;
use avocet_config::{Connection, Loaded, Paths, ProviderSetting, SettingsLayer};
use avocet_core::i18n::{
    Localize, LocalizedText, PhraseValue, cli as w, common, hooks as phrases, session, temp, web,
};
use avocet_core::protocol::{InstructionFile, Notice, SandboxMode};
use avocet_hooks::HookFiles;
use avocet_present::commands::PageRow;
use avocet_safety::web::host_label;
use avocet_tools::temp::RunFolder;

/// The facts to report.
#[derive(Debug)]
pub struct DoctorFindings<'a> {
    pub paths: &'a Paths,
    pub loaded: &'a Loaded,
    /// Where the key is, if it is in no variable.
    pub key_place: Option<LocalizedText>,
    /// The answer of the server.
    pub offer: &'a ModelListing,
    pub terminal: &'a Terminal,
    /// The folder of the session, and whether it is trusted.
    pub folder: PathBuf,
    pub trusted: bool,
    /// The project's instructions to agents; empty if the folder is not trusted.
    pub notes: &'a [InstructionFile],
    /// Why rules of the settings that allow steps have no effect.
    pub idle_rules: &'a [avocet_core::i18n::LocalizedText],
    /// The folders where programs are looked up.
    pub programs: &'a [PathBuf],
    /// The result of testing the sandbox.
    pub sandbox: &'a [PageRow],
    /// The folder for temporary files.
    pub temp: &'a RunFolder,
    /// Every bot, command and skill.
    pub library: &'a ExtensionLibrary,
    /// What of each file that defines MCP servers is used.
    pub servers: &'a [PageRow],
    /// The files with hooks, and what of them is not used.
    pub hooks: &'a HookFiles,
}

/// The properties of the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// `TERM`, empty when it is not set.
    pub kind: String,
    /// Columns and rows; `None` when it is not a terminal.
    pub size: Option<(u16, u16)>,
    /// `COLORTERM`, empty when it is not set.
    pub color: String,
    /// `LANG` or the variable that replaces it.
    pub locale: String,
}

/// The facts as rows.
pub fn rows(findings: &DoctorFindings<'_>) -> Vec<PageRow> {
    let mut rows = vec![
        PageRow::heading(w::DOCTOR_PROGRAM),
        PageRow::pair(w::DOCTOR_VERSION, env!("CARGO_PKG_VERSION")),
        PageRow::pair(common::FOLDER, findings.folder.display().to_string()),
        PageRow::pair(w::DOCTOR_TRUST, if findings.trusted { w::TRUSTED } else { w::NOT_TRUSTED }),
    ];
    rows.extend(
        findings.notes.iter().map(|note| PageRow::pair(common::INSTRUCTIONS, note.localized())),
    );
    rows.extend(files(findings.paths));
    rows.push(PageRow::pair(temp::DOCTOR, findings.temp.doctor_value()));
    rows.extend(settings(findings.loaded));
    rows.extend(findings.idle_rules.iter().map(|why| PageRow::pair(w::DOCTOR_WRONG, why.clone())));
    rows.extend(model(findings));
    rows.push(PageRow::pair(web::DOCTOR_SEARCH, search(findings.loaded)));
    rows.push(PageRow::heading(w::DOCTOR_KEPT));
    rows.extend(extensions::doctor_rows(findings.library));
    rows.extend(findings.servers.iter().cloned());
    rows.extend(hooks(findings.hooks));
    rows.extend(terminal(findings.terminal));
    rows.extend(findings.sandbox.iter().cloned());
    rows.push(PageRow::heading(w::DOCTOR_PROGRAMS));
    rows.extend(findings.programs.iter().map(|folder| PageRow::line(folder.display().to_string())));
    rows
}

/// Failed if something keeps a session from working as intended.
pub fn exit(findings: &DoctorFindings<'_>) -> Exit {
    match (findings.offer, findings.loaded.problems.is_empty()) {
        (ModelListing::Failed(_), _) => Exit::Model,
        (_, false) => Exit::Failed,
        (ModelListing::NoServer | ModelListing::Models(_), true) => Exit::Done,
    }
}

/// The rows as notices, for frontends that can show only notices.
pub fn notices(rows: &[PageRow]) -> Vec<Notice> {
    let notice = |row: &PageRow| {
        let say = match row {
            PageRow::Heading(text) | PageRow::Line(text) => {
                w::DOCTOR_LINE.with("text", text.clone())
            }
            PageRow::Pair { label, value } => {
                w::DOCTOR_PAIR.with("label", label.clone()).with("value", value.clone())
            }
        };
        Notice::info(say)
    };
    rows.iter().map(notice).collect()
}

/// What is used of the files with hooks, and what is not.
fn hooks(files: &HookFiles) -> Vec<PageRow> {
    let mut rows = vec![PageRow::heading(phrases::TITLE)];
    for file in &files.files {
        let mut events: Vec<&str> = file.hooks.iter().map(|hook| hook.event.name()).collect();
        events.dedup();
        let used = phrases::USED.with("count", file.hooks.len()).with("events", events.join(", "));
        rows.push(PageRow::pair(file.origin.file.display().to_string(), used));
    }
    rows.extend(files.rule_rows());
    rows.extend(files.diagnostics.iter().map(|fault| PageRow::line(fault.localized())));
    if rows.len() == 1 {
        rows.push(PageRow::line(phrases::NONE));
    }
    rows
}

fn files(paths: &Paths) -> Vec<PageRow> {
    let shown = |path: PathBuf| path.display().to_string();
    vec![
        PageRow::heading(w::DOCTOR_FILES),
        PageRow::pair(w::DOCTOR_SETTINGS_FILE, shown(paths.settings())),
        PageRow::pair(w::DOCTOR_BOTS, shown(paths.bots())),
        PageRow::pair(w::DOCTOR_DATA, shown(paths.data.clone())),
        PageRow::pair(w::DOCTOR_LOG, shown(paths.log())),
    ]
}

/// First the problems, then each value that was set, with the layer it comes from.
fn settings(loaded: &Loaded) -> Vec<PageRow> {
    let mut rows = vec![PageRow::heading(common::SETTINGS)];
    let wrong =
        loaded.problems.iter().map(|problem| PageRow::pair(w::DOCTOR_WRONG, problem.localized()));
    rows.extend(wrong);
    let set = loaded.all().into_iter().filter(|(_, _, layer)| *layer != SettingsLayer::BuiltIn);
    rows.extend(set.flat_map(|(key, value, layer)| {
        let older =
            (key == "safety.sandbox").then(|| renamed_word(&value.display_text())).flatten();
        let seen = super::config::without_password(&key, value).display_text();
        let value = w::DOCTOR_VALUE.with("value", seen);
        let row = PageRow::pair(key, value.with("from", layer.localized()));
        std::iter::once(row).chain(older)
    }));
    if rows.len() == 1 {
        rows.push(PageRow::line(w::DOCTOR_ALL_BUILT_IN));
    }
    rows
}

/// Today's name for a word of an older version.
fn renamed_word(word: &str) -> Option<PageRow> {
    let new = SandboxMode::parse(word)?.name();
    let say = avocet_core::i18n::sandbox::OLD_WORD.with("old", word).with("new", new);
    (new != word).then(|| PageRow::line(say))
}

fn model(findings: &DoctorFindings<'_>) -> Vec<PageRow> {
    let mut rows = vec![PageRow::heading(common::MODEL_TITLE)];
    match &findings.loaded.settings.connection {
        None => rows.push(PageRow::line(avocet_model::not_connected())),
        Some(Connection {
            provider: ProviderSetting::Guide | ProviderSetting::Scripted(_),
            high,
            ..
        }) => {
            rows.push(PageRow::pair(common::PROVIDER, high.as_str()));
        }
        Some(connection) => {
            rows.extend(server(connection, findings.offer, findings.key_place.as_ref()))
        }
    }
    rows
}

fn server(
    connection: &Connection,
    listing: &ModelListing,
    place: Option<&LocalizedText>,
) -> Vec<PageRow> {
    let Connection { provider, base_url, api_key, key_variable, low, high, .. } = connection;
    let value: PhraseValue = match (api_key, place) {
        (Some(_), _) => w::KEY_SET.with("name", key_variable.as_str()).into(),
        (None, Some(place)) => place.clone().into(),
        (None, None) => w::KEY_NOT_SET.with("name", key_variable.as_str()).into(),
    };
    let phrase_value: PhraseValue = match listing {
        ModelListing::NoServer => w::NOT_ASKED.into(),
        ModelListing::Models(models) => w::REACHED.with("count", models.len()).into(),
        ModelListing::Failed(why) => why.clone().into(),
    };
    let unlisted = unlisted(connection, listing);
    let exposed = avocet_model::exposed_host(base_url, api_key.is_some() || place.is_some());
    let exposed = exposed.map(|host| session::KEY_IN_THE_OPEN.with("host", host));
    let mut rows = vec![
        PageRow::pair(common::PROVIDER, provider.kind().name()),
        PageRow::pair(common::SERVER, avocet_model::display_address(base_url).as_str()),
        PageRow::pair(w::DOCTOR_KEY, value),
        PageRow::pair(
            w::DOCTOR_MODELS,
            w::LOW_AND_HIGH.with("low", low.as_str()).with("high", high.as_str()),
        ),
        PageRow::pair(w::DOCTOR_ANSWER, phrase_value),
    ];
    rows.extend(unlisted);
    rows.extend(exposed.map(|exposed| PageRow::pair(common::NOT_ENCRYPTED, exposed)));
    rows
}

/// The configured models that the server does not list, with the names that may have been meant.
fn unlisted(connection: &Connection, listing: &ModelListing) -> Vec<PageRow> {
    let ModelListing::Models(models) = listing else { return Vec::new() };
    let names: Vec<String> = models.iter().map(|model| model.name.clone()).collect();
    let mut wanted = vec![&connection.low, &connection.high];
    wanted.dedup();
    let missing = wanted.into_iter().filter(|name| {
        !name.is_empty() && !names.is_empty() && !names.iter().any(|listed| listed == *name)
    });
    let rows = missing.flat_map(|name| {
        let near = super::login::near_models(name, &names);
        let missing = w::DOCTOR_UNLISTED.with("model", name.as_str());
        [Some(missing), near].into_iter().flatten()
    });
    rows.map(|say| PageRow::pair(w::DOCTOR_WRONG, say)).collect()
}

/// Where models search the web, or why they cannot.
fn search(loaded: &Loaded) -> LocalizedText {
    let Some(settings) = loaded.settings.policy().web.search else {
        return web::DOCTOR_NO_SEARCH.into();
    };
    if settings.is_by_provider() {
        let is_plain = settings.key_variable.is_empty() && settings.address.is_none();
        let phrase =
            if is_plain { web::DOCTOR_SEARCH_BY_PROVIDER } else { web::DOCTOR_SEARCH_NEEDS_NO_KEY };
        return phrase.into();
    }
    let at = |url| {
        web::DOCTOR_SEARCH_AT
            .with("service", settings.service.name())
            .with("host", host_label(&url))
    };
    settings.endpoint().map_or_else(|why| why, at)
}

fn terminal(terminal: &Terminal) -> Vec<PageRow> {
    let value: PhraseValue = match terminal.size {
        Some((columns, rows)) => w::SIZE.with("columns", columns).with("rows", rows).into(),
        None => w::NO_SIZE.into(),
    };
    let or_not_set = |text: &str| match text {
        "" => PhraseValue::from(w::NOT_SET),
        text => PhraseValue::from(text),
    };
    vec![
        PageRow::heading(w::DOCTOR_TERMINAL),
        PageRow::pair("TERM", or_not_set(&terminal.kind)),
        PageRow::pair(w::DOCTOR_SIZE, value),
        PageRow::pair("COLORTERM", or_not_set(&terminal.color)),
        PageRow::pair("LANG", or_not_set(&terminal.locale)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::messages::Printer;
    use crate::cli::table;
    use avocet_config::{Environment, Sources, load};
    use avocet_core::i18n::Lang;

    fn page_of(text: &str, offer: &ModelListing, lang: Lang) -> (String, Exit) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.toml"), text).unwrap();
        let paths = Paths::with_root(folder.path(), folder.path().to_owned());
        let environment = Environment::from_pairs([("AVOCET_API_KEY", "sk-secret")]);
        let sources =
            Sources { paths: &paths, environment: &environment, options: &[], project: &[] };
        let loaded = load(sources);
        let terminal = Terminal { size: Some((80, 24)), ..Terminal::default() };
        let found = DoctorFindings {
            key_place: None,
            idle_rules: &[],
            paths: &paths,
            loaded: &loaded,
            offer,
            terminal: &terminal,
            folder: "/work".into(),
            trusted: true,
            notes: &[InstructionFile { path: "AGENTS.md".into(), bytes: 40_000, sent: 32_768 }],
            programs: &["/usr/bin".into()],
            sandbox: &[],
            temp: &RunFolder::default(),
            library: &ExtensionLibrary::default(),
            servers: &[],
            hooks: &HookFiles::default(),
        };
        let mut out = Vec::new();
        let rows = rows(&found);
        table::write(&mut out, &rows, Printer { lang, clean: str::to_owned, width: None }).unwrap();
        assert_eq!(notices(&rows).len(), rows.len());
        (String::from_utf8(out).unwrap(), exit(&found))
    }

    const SERVER: &str = "[profiles.default]\nbase_url = \"http://x/v1\"\nhigh = \"m\"";

    #[test]
    fn doctor_shows_the_layer_of_each_setting_and_no_secret() {
        let (page, exit) = page_of(SERVER, &ModelListing::Models(vec!["m".into()]), Lang::En);
        assert!(page.contains("http://x/v1 (your settings, "), "{page}");
        assert!(page.contains("go to x unencrypted (http://)"), "{page}");
        assert!(page.contains("AVOCET_API_KEY") && !page.contains("sk-secret"), "{page}");
        assert!(page.contains("80 columns, 24 rows") && page.contains("/usr/bin"), "{page}");
        assert!(page.contains("AGENTS.md (32.0 KiB of 39.1 KiB)"), "{page}");
        assert_eq!(exit, Exit::Done);
    }

    #[test]
    fn a_model_that_the_server_does_not_list_is_told_with_the_near_ones() {
        let text = "[profiles.default]\nbase_url = \"http://x/v1\"\nhigh = \"qwen3-8\"";
        let offer = |name: &str| ModelListing::Models(vec![name.into(), "other".into()]);
        let (page, _) = page_of(text, &offer("qwen3-8b"), Lang::En);
        assert!(page.contains("`qwen3-8` is not among them"), "{page}");
        assert!(page.contains("Did you mean `qwen3-8b`?"), "{page}");
        let (page, _) = page_of(text, &offer("qwen3-8"), Lang::En);
        assert!(!page.contains("not among them"), "{page}");
    }

    #[test]
    fn keys_that_a_search_by_the_model_s_server_does_not_use_are_told() {
        let unused = "`search_key_env` and `search_url` are not used";
        for (more, is_told) in [
            ("", false),
            ("search_key_env = \"MY_KEY\"\n", true),
            ("search_url = \"https://s.example\"\n", true),
        ] {
            let text = format!("{SERVER}\n[web]\nsearch = \"provider\"\n{more}");
            let (page, _) = page_of(&text, &ModelListing::NoServer, Lang::En);
            assert!(page.contains("by the server of the model"), "{page}");
            assert_eq!(page.contains(unused), is_told, "{page}");
        }
    }

    #[test]
    fn problems_are_listed_and_decide_the_exit_code() {
        let (page, exit) = page_of("mode = 3", &ModelListing::NoServer, Lang::Zh);
        assert!(page.contains("第 1 行第 8 列"), "{page}");
        assert_eq!(exit, Exit::Failed);
        let failed = ModelListing::Failed(avocet_model::not_connected());
        assert_eq!(page_of(SERVER, &failed, Lang::En).1, Exit::Model);
    }
}
