//! Manages bots, commands and skills from the command line: list, show, create, edit, delete,
//! check; and the examples.

use std::io::{self, IsTerminal};
use std::path::Path;

use super::runtime::runtime;
use super::startup::{self, Startup};
use super::subcommands::{print_rows, print_text};
use super::terminal_question::write_question;
use crate::cli::extensions;
use crate::cli::extensions::args::{ExtensionAction, Sampling, Texts};
use crate::cli::input::{self, Confirmation};
use crate::cli::{Exit, messages, output};
use avocet_config::extensions::{
    ExtensionFileKind, ExtensionLibrary, LoadState, LoadedFile, agent, edit, examples, skill,
};
use avocet_config::extensions::{ExtensionSource, Owner};
use avocet_core::i18n::{Localize, LocalizedText, library as w};
use avocet_core::protocol::Notice;
use avocet_script::reference::EXAMPLES;
use avocet_tools::exec::editor::Editing;

/// The options of the subcommand.
#[derive(Clone, Copy, Debug)]
pub struct ExtensionOptions {
    pub json: bool,
    pub yes: bool,
}

/// Carries out a subcommand about one kind of file.
pub fn run(
    startup: &Startup,
    kind: ExtensionFileKind,
    action: ExtensionAction,
    options: ExtensionOptions,
) -> Exit {
    startup.report_problems();
    // Whether a command has the same name matters for a skill.
    let kinds: &[ExtensionFileKind] = if kind == ExtensionFileKind::Skill {
        &[ExtensionFileKind::Command, ExtensionFileKind::Skill]
    } else {
        &[kind]
    };
    let library = ExtensionLibrary::load_kinds(&startup.search_path(), kinds);
    let named = |name: &str| {
        extensions::find(&library, kind, name)
            .map_err(|absent| startup.fail(&Notice::error(absent.localized()), Exit::WrongUse))
    };
    let done = match action {
        ExtensionAction::List if options.json => {
            Ok(print_text(startup, &extensions::list_json(&library, kind, startup.lang())))
        }
        ExtensionAction::List => Ok(print_rows(startup, &extensions::rows(&library, kind), false)),
        ExtensionAction::Show(name) => {
            named(&name).map(|file| show(startup, &library, file, options))
        }
        ExtensionAction::New { name, texts, sampling } => {
            Ok(create(startup, kind, &name, &texts, &sampling))
        }
        ExtensionAction::Edit(name) => named(&name).map(|file| edit(startup, file)),
        ExtensionAction::Delete(name) => named(&name).map(|file| delete(startup, file, options)),
        ExtensionAction::Check(name) if name.contains('/') => {
            Ok(check_path(startup, Path::new(&name)))
        }
        ExtensionAction::Check(name) => named(&name).map(|file| check(startup, file)),
    };
    done.unwrap_or_else(|exit| exit)
}

/// `init-home`.
pub fn init_home(startup: &Startup, json: bool) -> Exit {
    match examples::copy(&startup.paths, EXAMPLES.iter().flat_map(|example| example.files)) {
        Ok(done) => {
            print_rows(startup, &extensions::example_rows(&done, &startup.paths.config), json)
        }
        Err(why) => report_error(startup, why),
    }
}

fn report_error(startup: &Startup, why: LocalizedText) -> Exit {
    startup.fail(&Notice::error(why), Exit::Failed)
}

pub fn report_info(startup: &Startup, text: LocalizedText) -> Exit {
    startup.fail(&Notice::info(text), Exit::Done)
}

/// Prints the file unchanged; its path goes to standard error.
fn show(
    startup: &Startup,
    library: &ExtensionLibrary,
    file: &LoadedFile,
    options: ExtensionOptions,
) -> Exit {
    if options.json {
        let json = extensions::show_json(library, file, startup.lang());
        return print_text(startup, &format!("{json}\n"));
    }
    let built_in = agent::BUILT_IN
        .iter()
        .find(|(name, ..)| file.owner.maker == ExtensionSource::BuiltIn && *name == file.name);
    let read = match built_in {
        Some((_, text, _)) => Ok(Some((*text).to_owned())),
        None => avocet_config::atomic_file::read(&file.path),
    };
    let text = match read {
        Ok(text) => text.unwrap_or_default(),
        Err(fault) => {
            let problem = avocet_config::ConfigDiagnostic::of_file(&file.path, fault);
            return report_error(startup, problem.localized());
        }
    };
    let place = w::SHOWN_FROM.with("file", file.path.display().to_string());
    report_info(startup, place.with("from", file.owner.localized()));
    if let LoadState::Refused { because } = &file.state {
        startup.fail(&Notice::warning(because.clone()), Exit::Done);
    }
    let text = if output::stdout().is_terminal() { startup::clean(&text) } else { text };
    let end = if text.ends_with('\n') { "" } else { "\n" };
    print_text(startup, &format!("{text}{end}"))
}

fn create(
    startup: &Startup,
    kind: ExtensionFileKind,
    name: &str,
    texts: &Texts,
    sampling: &Sampling,
) -> Exit {
    // An invalid name is reported before the user writes the file.
    let file = match edit::file_path(&startup.paths, kind, name) {
        Ok(file) => file,
        Err(why) => return startup.fail(&Notice::error(why), Exit::WrongUse),
    };
    if kind == ExtensionFileKind::Command && startup.search_path().is_built_in(name) {
        return startup.fail(&Notice::error(w::SHADOWED_NAME.with("name", name)), Exit::WrongUse);
    }
    if file.symlink_metadata().is_ok() {
        return report_error(startup, w::THERE_ALREADY.with("file", file.display().to_string()));
    }
    let text = match &texts.prompt {
        Some(prompt) => extensions::new_file_text(kind, name, texts, prompt, sampling),
        None if io::stdin().is_terminal() => {
            let draft = extensions::draft_text(kind, name, texts, sampling, startup.lang());
            let check = |text: &str| edit::check(kind, OWN, &file, text);
            match edit_until_valid(startup, &file, &draft, check) {
                Ok(Some(text)) => text,
                Ok(None) => return report_info(startup, w::NOTHING_WRITTEN.into()),
                Err(exit) => return exit,
            }
        }
        None => match input::read(io::stdin().lock()) {
            Ok(piped) if piped.truncated => {
                let say = w::PIPED_TOO_LONG.with("most", input::MAX_LENGTH / 1024);
                return report_error(startup, say);
            }
            Ok(piped) => extensions::new_file_text(kind, name, texts, &piped.text, sampling),
            Err(error) => return startup.fail_io(&error),
        },
    };
    match edit::create(&startup.paths, kind, name, &text) {
        Ok(file) => report_info(
            startup,
            w::MADE.with("kind", kind.phrase()).with("file", file.display().to_string()),
        ),
        Err(why) => report_error(startup, why),
    }
}

const OWN: Owner = Owner { maker: ExtensionSource::Avocet, project: false };

fn edit(startup: &Startup, file: &LoadedFile) -> Exit {
    let text = match avocet_config::atomic_file::read(&file.path) {
        Ok(text) => text.unwrap_or_default(),
        Err(fault) => {
            return report_error(
                startup,
                avocet_config::ConfigDiagnostic::of_file(&file.path, fault).localized(),
            );
        }
    };
    let check = |text: &str| edit::check(file.kind, file.owner, &file.path, text);
    match edit_until_valid(startup, &file.path, &text, check) {
        Ok(Some(text)) => match edit::replace(file.kind, file.owner, &file.path, &text) {
            Ok(()) => {
                report_info(startup, w::CHANGED.with("file", file.path.display().to_string()))
            }
            Err(why) => report_error(startup, why),
        },
        Ok(None) => report_info(startup, w::NOTHING_CHANGED.into()),
        Err(exit) => exit,
    }
}

/// Opens the editor until the text is valid or the user gives up; `None`: unchanged.
fn edit_until_valid(
    startup: &Startup,
    file: &Path,
    text: &str,
    check: impl Fn(&str) -> Result<(), LocalizedText>,
) -> Result<Option<String>, Exit> {
    let Some(editor) = startup.editor() else {
        let notice = Notice::error(w::NO_EDITOR).with_hint(w::NO_EDITOR_HINT);
        return Err(startup.fail(&notice, Exit::WrongUse));
    };
    let runtime = runtime().map_err(|error| startup.fail_io(&error))?;
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut now = text.to_owned();
    loop {
        let written = runtime.block_on(async {
            let mut editing = Editing::start_named(&startup.shared.temp, &editor, &name, &now)?;
            editing.wait().await?;
            editing.text()
        });
        let written = written.map_err(|why| report_error(startup, why))?;
        let written = if written.is_empty() { written } else { format!("{written}\n") };
        if written.trim_end() == text.trim_end() {
            return Ok(None);
        }
        let Err(why) = check(&written) else { return Ok(Some(written)) };
        startup.fail(&Notice::error(why), Exit::Failed);
        match confirm(startup, w::EDIT_AGAIN.into(), true) {
            Confirmation::Yes => now = written,
            Confirmation::No | Confirmation::NoUser => return Err(report_unchanged(startup)),
        }
    }
}

fn report_unchanged(startup: &Startup) -> Exit {
    startup.fail(&Notice::info(w::NOTHING_CHANGED), Exit::Failed)
}

fn delete(startup: &Startup, file: &LoadedFile, options: ExtensionOptions) -> Exit {
    let shown = file.path.display().to_string();
    let ask = w::DELETE_ASK.with("file", shown.as_str());
    let refusal = w::DELETE_NOBODY.with("file", shown.as_str());
    unless_confirmed(startup, options.yes, ask, refusal).unwrap_or_else(|| {
        match edit::delete(&file.path) {
            Ok(()) => report_info(startup, w::DELETED.with("file", shown)),
            Err(why) => report_error(startup, why),
        }
    })
}

/// How the run ends if the user does not want something deleted; `None`: it is to be deleted.
pub fn unless_confirmed(
    startup: &Startup,
    yes: bool,
    ask: LocalizedText,
    refusal: LocalizedText,
) -> Option<Exit> {
    let sure = if yes { Confirmation::Yes } else { confirm(startup, ask, false) };
    match sure {
        Confirmation::Yes => None,
        Confirmation::No => Some(startup.fail(&Notice::info(w::NOT_DELETED_NO), Exit::Blocked)),
        Confirmation::NoUser => {
            let notice = Notice::error(refusal).with_hint(w::DELETE_HOW);
            Some(startup.fail(&notice, Exit::Blocked))
        }
    }
}

/// Asks on standard error; reads a line of standard input, if that is a terminal.
pub fn confirm(startup: &Startup, text: LocalizedText, usual: bool) -> Confirmation {
    if !io::stdin().is_terminal() {
        return Confirmation::NoUser;
    }
    write_question(&text, startup.printer());
    input::read_confirmation(io::stdin().lock(), usual)
}

fn check(startup: &Startup, file: &LoadedFile) -> Exit {
    let refused = matches!(file.state, LoadState::Refused { .. });
    for say in extensions::check_findings(file) {
        let notice = if refused { Notice::error(say) } else { Notice::info(say) };
        messages::notice(&mut output::stderr(), &notice, startup.printer());
    }
    if refused { Exit::Failed } else { Exit::Done }
}

/// A skill in any place, by its folder or its file.
fn check_path(startup: &Startup, path: &Path) -> Exit {
    let path = startup.folder.join(path);
    let path = if path.is_dir() { path.join(skill::FILE) } else { path };
    let (name, state) = match skill::read(&path, OWN) {
        Ok((skill, remarks)) => (skill.name, LoadState::Loaded { remarks }),
        Err(because) => (String::new(), LoadState::Refused { because }),
    };
    check(startup, &LoadedFile { kind: ExtensionFileKind::Skill, name, path, owner: OWN, state })
}
