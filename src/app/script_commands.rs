//! `script …`, and `help scripts`.

use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::CommandFactory;
use clap::error::ErrorKind;
use serde_json::json;

use super::startup::{self, Startup};
use super::subcommands::{print_rows, print_text};
use super::{script_check, script_seal, script_test};
use crate::cli::language_server::{self, ScriptServerConfig};
use crate::cli::messages::{self, Printer};
use crate::cli::output::{self, MAX_COLUMNS};
use crate::cli::script_command::{self, ScriptCommand, SearchFolders};
use crate::cli::{Cli, Exit, help, table};
use avocet_config::atomic_file;
use avocet_core::i18n::{
    Lang, Localize, LocalizedText, PhraseValue, commands, common, config, script_help as phrases,
};
use avocet_core::protocol::{Notice, PageRow};
use avocet_present::commands::{Surface, TOPICS, topic_rows};
use avocet_script::built_in;
use avocet_script::manifest::Manifest;
use avocet_script::reference::schema;
use avocet_script::source::{ENDINGS, ScriptLibrary, stem};
use avocet_session::script_places::{DiskFiles, ScriptPlaces, SealOpener};

/// `help`, `help COMMAND`, `help TOPIC` and `help scripts CHAPTER`: nothing else is started for it.
pub fn help(topics: &[String]) -> Exit {
    let lang = startup::help_lang();
    let out = output::stdout();
    let clean = if out.is_terminal() { startup::clean } else { str::to_owned };
    let width = Some(out.columns().unwrap_or(MAX_COLUMNS));
    let printer = Printer { lang, clean, width };
    if let Some((title, mut rows)) = topic_rows(&topics.join(" "), Surface::Local) {
        rows.insert(0, PageRow::heading(title));
        return match table::write(&mut output::stdout(), &rows, printer) {
            Ok(()) => Exit::Done,
            Err(_) => Exit::Failed,
        };
    }
    let notice = match topics {
        [first, chapter, ..] if first == "scripts" => {
            let why = script_command::unknown_chapter(chapter);
            Notice::error(why).with_hint(script_command::known_chapters())
        }
        [first, ..] if Cli::command().find_subcommand(first).is_none() => {
            let names: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
            let known = commands::MANUAL_CELL.with("name", commands::HELP_TOPICS);
            Notice::error(commands::NO_TOPIC.with("name", first.as_str()))
                .with_hint(known.with("value", names.join(" ")))
        }
        _ => return messages::usage(&command_help(topics, lang)),
    };
    messages::notice(&mut output::stderr(), &notice, printer);
    Exit::WrongUse
}

/// The page of a command, as `--help` shows it.
fn command_help(topics: &[String], lang: Lang) -> clap::Error {
    let mut command = Cli::command();
    let mut inner = &mut command;
    for name in topics {
        let unknown = inner.find_subcommand(name).is_none();
        if unknown {
            let why = format!("unrecognized subcommand '{name}'");
            return inner.error(ErrorKind::InvalidSubcommand, why);
        }
        inner = match inner.find_subcommand_mut(name) {
            Some(found) => found,
            None => break,
        };
    }
    let args = ["avocet"].into_iter().chain(topics.iter().map(String::as_str)).chain(["--help"]);
    let page = help::page(args.map(Into::into), lang);
    page.unwrap_or_else(|| Cli::command().error(ErrorKind::DisplayHelp, ""))
}

pub fn run(startup: &Startup, command: &ScriptCommand, json: bool) -> Exit {
    match command {
        ScriptCommand::List(search) => {
            let library = library(startup, search);
            print_rows(startup, &list(startup, &library), json)
        }
        ScriptCommand::Show { script, search } => {
            show(startup, script, &library(startup, search), json)
        }
        ScriptCommand::New { name, like } => create(startup, name, like.as_deref(), json),
        ScriptCommand::Check(named) => {
            let library = library(startup, &named.search);
            script_check::check_scripts(startup, &named.paths, &library, json)
        }
        ScriptCommand::Test(named) => {
            let library = library(startup, &named.search);
            script_test::test_scripts(startup, &named.paths, &library, json)
        }
        ScriptCommand::Seal(seal) => script_seal::seal(startup, seal, json),
        ScriptCommand::Schema => print_text(startup, &format!("{:#}\n", schema::json_schema())),
        ScriptCommand::Lsp(search) => lsp(startup, search),
    }
}

/// The scripts of this folder, of the folders of `-s` and of the settings, and the built-in ones.
/// Those that are sealed stay closed.
pub fn library(startup: &Startup, search: &SearchFolders) -> ScriptLibrary {
    let (folders, disk) = script_folders(startup, search);
    let disk = DiskFiles { opener: SealOpener::default(), ..disk };
    ScriptLibrary::new(Arc::new(disk), folders, built_in::SCRIPTS)
}

/// The same for a run, which opens sealed ones.
pub fn opening_library(startup: &Startup, search: &SearchFolders) -> ScriptLibrary {
    let (folders, disk) = script_folders(startup, search);
    ScriptLibrary::new(Arc::new(disk), folders, built_in::SCRIPTS)
}

/// Where scripts are searched, those of `-s` first, and the disk with what is trusted on it.
fn script_folders(startup: &Startup, search: &SearchFolders) -> (Vec<PathBuf>, DiskFiles) {
    let ScriptPlaces { folders, trusted, opener, .. } =
        startup.script_folder_finder()(startup.trusted);
    let named = search.search.iter().map(|folder| startup.folder.join(folder));
    (named.chain(folders).collect(), DiskFiles { trusted, opener })
}

/// A heading for each folder, below it the ID and the title of each script.
fn list(startup: &Startup, library: &ScriptLibrary) -> Vec<PageRow> {
    let mut rows = Vec::new();
    let mut last = None;
    for path in library.paths(&startup.folder) {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        if last.as_ref() != Some(&folder) {
            rows.push(PageRow::heading(folder.display().to_string()));
            last = Some(folder.clone());
        }
        rows.push(described(library, &path.display().to_string(), &folder));
    }
    rows.push(PageRow::heading(config::FROM_BUILT_IN));
    rows.extend(library.built_in().map(|id| described(library, id, Path::new(""))));
    rows
}

fn described(library: &ScriptLibrary, name: &str, folder: &Path) -> PageRow {
    let loaded = library.find(name, folder).and_then(|found| Manifest::load(found, library));
    let file = Path::new(name).file_name().map(|name| name.to_string_lossy().into_owned());
    match loaded {
        Ok(shape) => {
            let title = shape.text_setting("title").or(shape.text_setting("description"));
            let title = title.and_then(|title| title.lines().next());
            let title = title.map_or_else(|| phrases::NO_TITLE.into(), PhraseValue::from);
            PageRow::pair(shape.id(), title)
        }
        Err(why) => {
            let what = phrases::UNREADABLE_SCRIPT.with("why", why.localized());
            PageRow::pair(stem(&file.unwrap_or_default()), what)
        }
    }
}

/// Prints the file unchanged; its path and what it takes go to standard error.
fn show(startup: &Startup, name: &str, library: &ScriptLibrary, json: bool) -> Exit {
    let fail = |why: LocalizedText| startup.fail(&Notice::error(why), Exit::Failed);
    let source = match library.find(name, &startup.folder) {
        Ok(source) => source,
        Err(why) => return fail(why.localized()),
    };
    let origin = source.origin.clone();
    let built_in = built_in::SCRIPTS.iter().find(|(id, _)| origin.is_built_in && *id == origin.id);
    let text = match built_in {
        Some((_, text)) => Ok(Some((*text).to_owned())),
        None => library.files().read(Path::new(&origin.file)),
    };
    let text = match text {
        Ok(text) => text.unwrap_or_default(),
        Err(why) => return fail(why),
    };
    let place = if origin.is_built_in {
        config::FROM_BUILT_IN.into()
    } else {
        phrases::SCRIPT_FILE.with("file", origin.file.clone())
    };
    let said = Manifest::load(source, library).map(|shape| shape.interface().to_vec());
    if json {
        let lang = startup.lang();
        let about: Vec<String> =
            said.unwrap_or_default().iter().map(|line| line.text(lang)).collect();
        let file = Some(&origin.file).filter(|_| !origin.is_built_in);
        let row = json!({ "id": origin.id, "file": file, "about": about, "text": text });
        return print_text(startup, &format!("{row}\n"));
    }
    for line in [place].into_iter().chain(said.unwrap_or_default()) {
        startup.fail(&Notice::info(line), Exit::Done);
    }
    print_text(startup, &if output::stdout().is_terminal() { startup::clean(&text) } else { text })
}

fn create(startup: &Startup, name: &str, like: Option<&str>, json: bool) -> Exit {
    let id = stem(name);
    let id = id.strip_suffix(".yaml").or(id.strip_suffix(".yml")).unwrap_or(id);
    let is_path = name.contains('/') || id != name;
    let path = if is_path { startup.folder.join(id) } else { startup.paths.scripts().join(id) };
    // `.` and `..` are folders, and would name the file after another one.
    let own = id.rsplit('/').next().unwrap_or_default().to_owned();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_named = !id.is_empty() && !id.ends_with('/');
    if !is_named || own.is_empty() || own.starts_with('.') || !own.chars().all(is_name) {
        return startup.fail(&Notice::error(phrases::NEW_NAME.with("name", name)), Exit::WrongUse);
    }
    let files = match script_command::new_script_files(&own, like) {
        Ok(files) => files,
        Err(why) => {
            let notice = Notice::error(why).with_hint(script_command::known_chapters());
            return startup.fail(&notice, Exit::WrongUse);
        }
    };
    for (at, (file, text)) in files.into_iter().enumerate() {
        let file = path.with_file_name(file);
        let shown = file.display().to_string();
        match atomic_file::create(&file, text) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                let say = phrases::NEW_EXISTS.with("file", shown);
                match at {
                    0 => return startup.fail(&Notice::error(say), Exit::Failed),
                    _ => startup.fail(&Notice::info(say), Exit::Done),
                };
            }
            Err(error) => {
                let say = common::NOT_WRITTEN.with("file", shown).with("why", error.to_string());
                return startup.fail(&Notice::error(say), Exit::Failed);
            }
        }
    }
    let file = path.with_file_name(format!("{own}{}", ENDINGS[0])).display().to_string();
    if built_in::SCRIPTS.iter().any(|(id, _)| *id == own) {
        let say = phrases::NEW_SHADOWS.with("name", own.clone());
        startup.fail(&Notice::warning(say), Exit::Done);
    }
    if json {
        return print_text(startup, &format!("{}\n", json!({ "id": own, "file": file })));
    }
    let run = if is_path { file.clone() } else { own };
    let say = phrases::NEW_WRITTEN.with("file", file).with("name", run);
    startup.fail(&Notice::info(say), Exit::Done)
}

fn lsp(startup: &Startup, search: &SearchFolders) -> Exit {
    let (folders, disk) = script_folders(startup, search);
    let disk = DiskFiles { opener: SealOpener::default(), ..disk };
    let setup = ScriptServerConfig { disk, folders, lang: startup.lang() };
    match language_server::serve(BufReader::new(io::stdin()), output::stdout(), setup) {
        Ok(exit) => exit,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Failed,
        Err(error) => startup.fail_io(&error),
    }
}
