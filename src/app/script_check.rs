//! `script check`, and `run SCRIPT --check`: the faults of scripts, without running any of them.

use std::path::Path;

use serde_json::json;

use super::startup::Startup;
use super::subcommands::print_text;
use crate::cli::Exit;
use avocet_core::i18n::{Localize, LocalizedText, common, script_help as phrases};
use avocet_core::protocol::Notice;
use avocet_script::LocatedError;
use avocet_script::check::{ScriptFaultSeverity, check, severity};
use avocet_script::source::{MAX_ENTRIES, ScriptLibrary, is_script};

/// The scripts and the folders of scripts among the arguments of `run … --check`.
pub fn named_scripts(script: &str, args: &[String]) -> Vec<String> {
    let more = args.iter().filter(|arg| is_script(arg) || Path::new(arg.as_str()).is_dir());
    std::iter::once(script).chain(more.map(String::as_str)).map(str::to_owned).collect()
}

/// Checks scripts, with those that they call, and all scripts of folders. Warnings alone are no
/// failure.
pub fn check_scripts(
    startup: &Startup,
    named: &[String],
    library: &ScriptLibrary,
    json: bool,
) -> Exit {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return startup.fail_io(&error),
    };
    let names = match script_files(startup, named, library) {
        Ok(names) => names,
        Err(failed) => return failed,
    };
    let mut about = Vec::new();
    let mut located_errors: Vec<LocatedError> = Vec::new();
    for name in &names {
        match library.find_typed(name, &startup.folder) {
            Err(error) => located_errors.push(error),
            Ok(source) => {
                let (manifest, found) = runtime.block_on(check(source, library));
                let new = found.into_iter().filter(|error| !located_errors.contains(error));
                let new_errors: Vec<LocatedError> = new.collect();
                located_errors.extend(new_errors);
                let [takes, gives] = manifest.interface();
                let fine = common::NO_PROBLEMS.with("file", manifest.origin.file.clone());
                about = vec![fine, takes, gives];
            }
        }
    }
    let warnings =
        located_errors.iter().filter(|it| severity(it) == ScriptFaultSeverity::Warning).count();
    let errors = located_errors.len() - warnings;
    located_errors.iter().for_each(|error| print_error(startup, error, json));
    let summary = phrases::CHECKED.with("scripts", names.len());
    let summary = summary.with("errors", errors).with("warnings", warnings);
    let said = match (names.len(), located_errors.len()) {
        (1, 0) => about,
        (1, _) => Vec::new(),
        _ => vec![summary],
    };
    let said = print_result(startup, &said, json);
    if errors > 0 { Exit::Failed } else { said }
}

fn print_result(startup: &Startup, texts: &[LocalizedText], json: bool) -> Exit {
    let lines: Vec<String> = texts.iter().map(|text| text.text(startup.lang())).collect();
    let text = lines.join("\n");
    match (texts.is_empty(), json) {
        (true, _) => Exit::Done,
        (false, true) => {
            print_text(startup, &format!("{}\n", json!({ "type": "result", "value": text })))
        }
        (false, false) => print_text(startup, &format!("{text}\n")),
    }
}

fn print_error(startup: &Startup, error: &LocatedError, json: bool) {
    let severity = severity(error);
    if !json {
        let text = error.localized();
        let notice = match severity {
            ScriptFaultSeverity::Error => Notice::error(text),
            ScriptFaultSeverity::Warning => Notice::warning(text),
        };
        startup.fail(&notice, Exit::Failed);
        return;
    }
    let mut line = json!({
        "type": severity.name(),
        "severity": severity.name(),
        "message": error.localized().text(startup.lang()),
    });
    if let Some(at) = &error.location {
        line["file"] = at.file.as_str().into();
        line["line"] = at.position.line.into();
        line["column"] = at.position.column.into();
    }
    print_text(startup, &format!("{line}\n"));
}

/// The scripts that are named, and those below the folders that are.
///
/// # Errors
/// A folder has more than is looked through.
pub fn script_files(
    startup: &Startup,
    named: &[String],
    library: &ScriptLibrary,
) -> Result<Vec<String>, Exit> {
    let mut files = Vec::new();
    for name in named {
        let folder = startup.folder.join(name);
        if !folder.is_dir() || is_script(name) {
            files.push(name.clone());
            continue;
        }
        let below = library.paths_below(&folder).ok_or_else(|| {
            let say = phrases::FOLDER_TOO_LARGE.with("folder", name.as_str());
            startup.fail(&Notice::error(say.with("most", MAX_ENTRIES)), Exit::Failed)
        })?;
        files.extend(below.iter().map(|path| path.display().to_string()));
    }
    Ok(files)
}
