//! Manages bots, commands and skills from the command line: list, show, create, edit, delete,
//! check; and the examples.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::Instant;

use super::runtime::runtime;
use super::startup::{self, Startup};
use super::subcommands::{print_rows, print_text};
use crate::cli::extensions;
use crate::cli::extensions::args::{ExtensionAction, Sampling, Texts};
use crate::cli::input::{self, Confirmation};
use crate::cli::print::QUIET;
use crate::cli::{Exit, messages, output};
use crate::extensions::{
    ExtensionFileKind, ExtensionSet, LoadState, LoadedFile, edit, examples, skill,
};
use crate::extensions::{Maker, Owner};
use crate::i18n::{Localize, LocalizedText, library as w, prompt};
use crate::protocol::Notice;
use crate::terminal_modes::discard_typed;
use crate::tools::exec::editor::Editing;

/// The options of the subcommand.
#[derive(Clone, Copy, Debug)]
pub struct ExtensionOptions {
    pub json: bool,
    pub yes: bool,
}

/// Carries out a subcommand about one kind of file.
pub fn run(
    ground: &Startup,
    kind: ExtensionFileKind,
    asked: ExtensionAction,
    how: ExtensionOptions,
) -> Exit {
    ground.report_problems();
    // Whether a command has the same name matters for a skill.
    let kinds: &[ExtensionFileKind] = if kind == ExtensionFileKind::Skill {
        &[ExtensionFileKind::Command, ExtensionFileKind::Skill]
    } else {
        &[kind]
    };
    let library = ExtensionSet::load_kinds(&ground.search_path(), kinds);
    let named = |name: &str| {
        extensions::find(&library, kind, name)
            .map_err(|absent| ground.fail(&Notice::error(absent.localized()), Exit::WrongUse))
    };
    let done = match asked {
        ExtensionAction::List if how.json => {
            Ok(print_text(ground, &extensions::list_json(&library, kind, ground.lang())))
        }
        ExtensionAction::List => Ok(print_rows(ground, &extensions::rows(&library, kind), false)),
        ExtensionAction::Show(name) => named(&name).map(|file| show(ground, &library, file, how)),
        ExtensionAction::New { name, texts, sampling } => {
            Ok(create(ground, kind, &name, &texts, &sampling))
        }
        ExtensionAction::Edit(name) => named(&name).map(|file| edit(ground, file)),
        ExtensionAction::Delete(name) => named(&name).map(|file| delete(ground, file, how)),
        ExtensionAction::Check(name) if name.contains('/') => {
            Ok(check_path(ground, Path::new(&name)))
        }
        ExtensionAction::Check(name) => named(&name).map(|file| check(ground, file)),
    };
    done.unwrap_or_else(|exit| exit)
}

/// `init-home`.
pub fn init_home(ground: &Startup, json: bool) -> Exit {
    match examples::copy(&ground.paths) {
        Ok(done) => {
            print_rows(ground, &extensions::example_rows(&done, &ground.paths.config), json)
        }
        Err(why) => report_error(ground, why),
    }
}

fn report_error(ground: &Startup, why: LocalizedText) -> Exit {
    ground.fail(&Notice::error(why), Exit::Failed)
}

fn report_info(ground: &Startup, say: LocalizedText) -> Exit {
    ground.fail(&Notice::info(say), Exit::Done)
}

/// Prints the file unchanged; its path goes to standard error.
fn show(
    ground: &Startup,
    library: &ExtensionSet,
    file: &LoadedFile,
    how: ExtensionOptions,
) -> Exit {
    if how.json {
        let json = extensions::show_json(library, file, ground.lang());
        return print_text(ground, &format!("{json}\n"));
    }
    let text = match crate::config::atomic_file::read(&file.path) {
        Ok(text) => text.unwrap_or_default(),
        Err(fault) => {
            let problem = crate::config::ConfigDiagnostic::of_file(&file.path, fault);
            return report_error(ground, problem.localized());
        }
    };
    let place = w::SHOWN_FROM.with("file", file.path.display().to_string());
    report_info(ground, place.with("from", file.owner.localized()));
    if let LoadState::Refused { because } = &file.state {
        ground.fail(&Notice::warning(because.clone()), Exit::Done);
    }
    let text = if output::stdout().is_terminal() { startup::clean(&text) } else { text };
    let end = if text.ends_with('\n') { "" } else { "\n" };
    print_text(ground, &format!("{text}{end}"))
}

fn create(
    ground: &Startup,
    kind: ExtensionFileKind,
    name: &str,
    texts: &Texts,
    sampling: &Sampling,
) -> Exit {
    // An invalid name is reported before the user writes the file.
    let file = match edit::file_path(&ground.paths, kind, name) {
        Ok(file) => file,
        Err(why) => return ground.fail(&Notice::error(why), Exit::WrongUse),
    };
    if kind == ExtensionFileKind::Command && ground.search_path().is_built_in(name) {
        return ground.fail(&Notice::error(w::SHADOWED_NAME.with("name", name)), Exit::WrongUse);
    }
    if file.symlink_metadata().is_ok() {
        return report_error(ground, w::THERE_ALREADY.with("file", file.display().to_string()));
    }
    let text = match &texts.prompt {
        Some(prompt) => extensions::new_file_text(kind, texts, prompt, sampling),
        None if io::stdin().is_terminal() => {
            let draft = extensions::draft_text(kind, texts, sampling, ground.lang());
            let check = |text: &str| edit::check(kind, OWN, &file, text);
            match edit_until_valid(ground, &file, &draft, check) {
                Ok(Some(text)) => text,
                Ok(None) => return report_info(ground, w::NOTHING_WRITTEN.into()),
                Err(exit) => return exit,
            }
        }
        None => match input::read(io::stdin().lock()) {
            Ok(piped) if piped.truncated => {
                return report_error(ground, w::PIPED_TOO_LONG.with("most", input::LONGEST / 1024));
            }
            Ok(piped) => extensions::new_file_text(kind, texts, &piped.text, sampling),
            Err(error) => return ground.fail_io(&error),
        },
    };
    match edit::create(&ground.paths, kind, name, &text) {
        Ok(file) => report_info(
            ground,
            w::MADE.with("kind", kind.phrase()).with("file", file.display().to_string()),
        ),
        Err(why) => report_error(ground, why),
    }
}

const OWN: Owner = Owner { maker: Maker::Avocet, project: false };

fn edit(ground: &Startup, file: &LoadedFile) -> Exit {
    let text = match crate::config::atomic_file::read(&file.path) {
        Ok(text) => text.unwrap_or_default(),
        Err(fault) => {
            return report_error(
                ground,
                crate::config::ConfigDiagnostic::of_file(&file.path, fault).localized(),
            );
        }
    };
    let check = |text: &str| edit::check(file.kind, file.owner, &file.path, text);
    match edit_until_valid(ground, &file.path, &text, check) {
        Ok(Some(text)) => match edit::replace(file.kind, file.owner, &file.path, &text) {
            Ok(()) => report_info(ground, w::CHANGED.with("file", file.path.display().to_string())),
            Err(why) => report_error(ground, why),
        },
        Ok(None) => report_info(ground, w::NOTHING_CHANGED.into()),
        Err(exit) => exit,
    }
}

/// Opens the editor until the text is valid or the user gives up; `None`: unchanged.
fn edit_until_valid(
    ground: &Startup,
    file: &Path,
    text: &str,
    check: impl Fn(&str) -> Result<(), LocalizedText>,
) -> Result<Option<String>, Exit> {
    let Some(editor) = ground.editor() else {
        let notice = Notice::error(w::NO_EDITOR).with_hint(w::NO_EDITOR_HINT);
        return Err(ground.fail(&notice, Exit::WrongUse));
    };
    let runtime = runtime().map_err(|error| ground.fail_io(&error))?;
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut now = text.to_owned();
    loop {
        let written = runtime.block_on(async {
            let mut editing = Editing::start_named(&ground.temp, &editor, &name, &now)?;
            editing.wait().await?;
            editing.text()
        });
        let written = written.map_err(|why| report_error(ground, why))?;
        let written = if written.is_empty() { written } else { format!("{written}\n") };
        if written.trim_end() == text.trim_end() {
            return Ok(None);
        }
        let Err(why) = check(&written) else { return Ok(Some(written)) };
        ground.fail(&Notice::error(why), Exit::Failed);
        match confirm(ground, w::EDIT_AGAIN.into(), true) {
            Confirmation::Yes => now = written,
            Confirmation::No | Confirmation::NoUser => return Err(report_unchanged(ground)),
        }
    }
}

fn report_unchanged(ground: &Startup) -> Exit {
    ground.fail(&Notice::info(w::NOTHING_CHANGED), Exit::Failed)
}

fn delete(ground: &Startup, file: &LoadedFile, how: ExtensionOptions) -> Exit {
    let shown = file.path.display().to_string();
    let sure = match how.yes {
        true => Confirmation::Yes,
        false => confirm(ground, w::DELETE_ASK.with("file", shown.as_str()), false),
    };
    match sure {
        Confirmation::Yes => match edit::delete(&file.path) {
            Ok(()) => report_info(ground, w::DELETED.with("file", shown)),
            Err(why) => report_error(ground, why),
        },
        Confirmation::No => ground.fail(&Notice::info(w::NOT_DELETED_NO), Exit::Blocked),
        Confirmation::NoUser => {
            let notice =
                Notice::error(w::DELETE_NOBODY.with("file", shown)).with_hint(w::DELETE_HOW);
            ground.fail(&notice, Exit::Blocked)
        }
    }
}

/// Asks on standard error; reads a line of standard input, if that is a terminal. What was typed
/// before the question could be read does not answer it: the question is written again.
fn confirm(ground: &Startup, question: LocalizedText, usual: bool) -> Confirmation {
    if !io::stdin().is_terminal() {
        return Confirmation::NoUser;
    }
    let voice = ground.printer();
    loop {
        let _ = write!(output::stderr(), "{} ", (voice.clean)(&question.text(voice.lang)));
        let shown = Instant::now();
        while let Some(left) = QUIET.checked_sub(shown.elapsed()) {
            std::thread::park_timeout(left);
        }
        if !discard_typed() {
            break;
        }
        let _ = writeln!(output::stderr());
        messages::notice(&mut output::stderr(), &Notice::info(prompt::TERMINAL_TOO_SOON), voice);
    }
    input::read_confirmation(io::stdin().lock(), usual)
}

fn check(ground: &Startup, file: &LoadedFile) -> Exit {
    let refused = matches!(file.state, LoadState::Refused { .. });
    for say in extensions::check_findings(file) {
        let notice = if refused { Notice::error(say) } else { Notice::info(say) };
        messages::notice(&mut output::stderr(), &notice, ground.printer());
    }
    if refused { Exit::Failed } else { Exit::Done }
}

/// A skill in any place, by its folder or its file.
fn check_path(ground: &Startup, path: &Path) -> Exit {
    let path = ground.folder.join(path);
    let path = if path.is_dir() { path.join(skill::FILE) } else { path };
    let (name, state) = match skill::read(&path, OWN) {
        Ok((skill, remarks)) => (skill.name, LoadState::Loaded { remarks }),
        Err(because) => (String::new(), LoadState::Refused { because }),
    };
    check(ground, &LoadedFile { kind: ExtensionFileKind::Skill, name, path, owner: OWN, state })
}
