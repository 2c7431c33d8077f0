//! The places outside the workspace that the question about a step names as written. Where the
//! user answered it, each is open to that step, in the narrowest way that serves it.

use std::path::{Component, Path, PathBuf};

use avocet_core::protocol::{Reason, StepAction, Tier};

use super::findings::Findings;
use super::places::is_named;
use super::reach::{self, OperandScope};
use super::rules::remembered::{EXACT_OUTSIDE, FILE_COMMANDS};
use super::spec::{ArgPosition, JudgeContext, ProgramCall};
use super::{NamedWrite, PathKind, Program, WriteOpening, checks, paths};

/// Programs, and the options that name what they write. An empty list of programs means all.
#[rustfmt::skip]
const OUTPUTS: &[(&str, &str, WriteOpening)] = &[
    ("", "--target-dir --out-dir --outdir --outDir --output-dir --build-dir --builddir --dest --destination --artifact-dir --install-root --basetemp --coverage-directory --report-dir --pack-destination", WriteOpening::Folder),
    ("", "--outfile --outFile --out-file --output-file --output-document --junitxml --junit-xml", WriteOpening::File),
    ("cmake", "-B", WriteOpening::Folder),
    ("unzip wget javac", "-d -P --directory-prefix", WriteOpening::Folder),
    ("pip pip2 pip3 uv", "--target -t", WriteOpening::Folder),
    ("gcc g++ cc c++ clang clang++ ld as go rustc gfortran git.archive curl sort uniq patch gpg openssl wget protoc pandoc", "-o --output -O -out", WriteOpening::File),
    ("", "-o --output -O -t --target-directory -C --directory -d -P -D", WriteOpening::Existing),
];

/// Commands that make a missing place that they name.
const MAKERS: &[(&str, WriteOpening)] = &[
    ("git.clone git.worktree git.init cargo.init", WriteOpening::Folder),
    ("tar tee truncate sponge", WriteOpening::File),
    // They take nothing that is there already for what they make.
    ("zip cargo.new", WriteOpening::Replaced),
];

impl ProgramCall<'_> {
    /// How the value of an option is opened; `None`: it is not known to be written.
    pub fn output_option(&self, option: &str) -> Option<WriteOpening> {
        let rows = OUTPUTS.iter().filter(|(programs, names, _)| {
            (programs.is_empty() || is_named(programs, &self.id)) && is_named(names, option)
        });
        // The row of a program says more than that of all.
        rows.max_by_key(|(programs, ..)| !programs.is_empty()).map(|(.., opening)| *opening)
    }

    /// How an argument that may be a path outside is written: as the value of such an option, or
    /// because the command makes what is missing.
    pub fn written_argument(&self, text: &str, at: usize) -> Option<WriteOpening> {
        let name = |at: usize| {
            let arg = self.args.get(at).filter(|arg| arg.starts_with('-'))?;
            Some(arg.split_once('=').map_or(arg.as_str(), |(name, _)| name))
        };
        let before = || at.checked_sub(1).and_then(name);
        // One that is used for different things counts only where a row names the program.
        let by_option = [name(at), before()].into_iter().flatten().find_map(|option| {
            let opening = self.output_option(option)?;
            (opening != WriteOpening::Existing).then_some(opening)
        });
        let is_missing = || {
            let path = self.context.policy_cx.resolve(text, &self.context.cwd);
            self.context.policy_cx.world.kind(&path) == PathKind::Missing
        };
        let maker = MAKERS.iter().find(|(rules, _)| is_named(rules, &self.id));
        let makes = |opening: &WriteOpening| match opening {
            WriteOpening::Replaced if self.id == "zip" => self.is_first_operand(at),
            WriteOpening::Replaced => checks::cargo_makes_only(self, text),
            _ => is_missing(),
        };
        by_option.or_else(|| maker.map(|(_, opening)| *opening).filter(makes))
    }

    /// Whether nothing but options without values is in front of it.
    fn is_first_operand(&self, at: usize) -> bool {
        self.args.iter().take(at).all(|arg| arg.starts_with('-'))
    }

    /// Notes a place that the question names as written.
    pub fn name_written(&self, text: &str, opening: WriteOpening, findings: &mut Findings) {
        let policy_cx = self.context.policy_cx;
        let cwd = &self.context.cwd;

        // A shell writes in the home there, and a program in a folder of that name.
        let is_line = !matches!(self.seat, ArgPosition::From(_));
        let at_home = text.strip_prefix("~/").filter(|_| is_line);
        let at_home = at_home.map(|rest| policy_cx.place.home.join(rest).display().to_string());
        let text = at_home.as_deref().unwrap_or(text);
        // What a shell or the user would take for another place than the program does.
        let is_plain = !text.starts_with('~') && !text.contains(['$', '*', '?', '`', '[', '{']);
        if !is_plain || text.starts_with("file:") || !is_direct(text, self.context) {
            return;
        }
        let path = policy_cx.world.resolve(&cwd.join(text));
        let is_outside = policy_cx.place.root_of(&path).is_none();
        if is_outside
            && is_as_written(text, &path, self.context)
            && !paths::is_private(&path, policy_cx.place)
        {
            findings.launch.named.push(NamedWrite { path, opening });
        }
    }
}

/// A scope without limits: every operand counts as inside, since paths were judged already.
struct AnyOperandScope;

impl OperandScope for AnyOperandScope {
    fn is_inside(&self, _: &str) -> bool {
        true
    }

    fn is_steering_file(&self, _: &str) -> bool {
        false
    }

    fn is_steering_folder(&self, _: &str) -> bool {
        false
    }

    fn has_local_program(&self, _: &str) -> bool {
        false
    }
}

/// Reasons of a command that does nothing but change what it names.
const BESIDE: &str = "path.outside.write path.outside cwd.outside requires.write shell.redirect";
/// Commands of a line that change nothing but the file that the shell writes for them.
const PRINTS: &str = "echo printf cd pwd true ls cat test [";

/// What a command opens entry by entry of what it names; `None`: it does more than change exactly
/// that, or print.
pub fn entries<'a>(
    action: &StepAction,
    program: Option<&Program>,
    context: &JudgeContext<'_>,
    mut reasons: impl Iterator<Item = &'a Reason>,
    named: &[NamedWrite],
) -> Option<Vec<NamedWrite>> {
    let StepAction::Exec { program: name, args } = action else { return None };
    let place = context.policy_cx.place;
    let is_of_system = program.is_none_or(|program| place.root_of(&program.path).is_none());
    let prints = is_named(PRINTS, name);
    let is_exact = || {
        let forms = [FILE_COMMANDS, EXACT_OUTSIDE].concat();
        reach::is_command_covered(&forms, name, args, &AnyOperandScope)
    };
    if !is_of_system
        || name.contains('/')
        || !reasons.all(|reason| is_beside(name, reason))
        || !(prints || is_exact())
    {
        return None;
    }
    let named = named.iter().cloned();
    if prints {
        return Some(named.collect());
    }
    Some(named.flat_map(|write| entries_of(write, name, args, context)).collect())
}

/// Opens these entries, which are all that a step names, in place of what was found, and leaves out
/// what the kernel could only open with too much around it.
pub fn open_entries(
    entries: Option<Vec<NamedWrite>>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) {
    let named = &mut findings.launch.named;
    if entries.is_none() {
        // It may run something else.
        named.retain(|write| write.opening != WriteOpening::Replaced);
    }
    if let Some(entries) = entries {
        // The folder around an entry is open already.
        let around: Vec<PathBuf> = entries
            .iter()
            .filter(|write| write.opening != WriteOpening::File)
            .map(|write| write.path.clone())
            .collect();
        let is_around = |write: &NamedWrite| {
            write.opening == WriteOpening::File
                && around.iter().any(|path| write.path.starts_with(path))
        };
        *named = entries.into_iter().filter(|write| !is_around(write)).collect();
    }
    let world = context.policy_cx.world;
    let place = context.policy_cx.place;
    for write in named.iter_mut() {
        let above =
            write.path.ancestors().skip(1).find(|above| world.kind(above) == PathKind::Folder);
        if matches!(write.opening, WriteOpening::New | WriteOpening::Entry | WriteOpening::Replaced)
            && above.is_none_or(|above| paths::holds_private(above, place))
        {
            write.opening = WriteOpening::Existing;
        }
    }
    named.retain(|write| {
        write.opening != WriteOpening::Existing || world.kind(&write.path) != PathKind::Missing
    });
}

/// Whether a reason says no more than that the command changes what it names.
fn is_beside(name: &str, reason: &Reason) -> bool {
    let rule = reason.rule.as_str();
    let is_own =
        rule.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    reason.tier == Tier::L0 || is_own && rule != "sed.script" || is_named(BESIDE, rule)
}

/// The entries that a command changes at a place that it names.
fn entries_of(
    write: NamedWrite,
    name: &str,
    args: &[String],
    context: &JudgeContext<'_>,
) -> Vec<NamedWrite> {
    let world = context.policy_cx.world;
    let ends = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let (options, rest) = args.split_at(ends);
    let plain = options.iter().filter(|arg| !arg.starts_with('-'));
    let words: Vec<&String> = plain.chain(rest.iter().skip(1)).collect();
    let leads_there =
        |text: &&&String| world.resolve(&context.cwd.join(text.as_str())) == write.path;
    // What is there already is written where it is: a copy goes through links that it finds.
    let makes = ["mkdir", "touch", "cp"].contains(&name);
    let opening = match write.opening {
        WriteOpening::Replaced => WriteOpening::Replaced,
        // What it packs is only read.
        _ if name == "zip" => return vec![write],
        _ if makes => WriteOpening::New,
        _ => WriteOpening::Entry,
    };
    let entry = |path: PathBuf| NamedWrite { path, opening };
    if !words.iter().any(|text| leads_there(&text)) {
        return vec![write];
    }
    let target = words.last().filter(|text| words.len() > 1 && leads_there(text));
    let into_folder = ["cp", "mv", "ln", "install"].contains(&name)
        && world.kind(&write.path) == PathKind::Folder;
    let Some(_) = target.filter(|_| into_folder) else { return vec![entry(write.path)] };
    let sources = words.get(..words.len() - 1).unwrap_or_default();
    let names: Option<Vec<&std::ffi::OsStr>> = sources
        .iter()
        // What is in `src/.` goes into the folder itself.
        .map(|text| Path::new(text).file_name().filter(|_| !text.ends_with('.')))
        .collect();
    let is_twice = |names: &Vec<&std::ffi::OsStr>| {
        names.iter().enumerate().any(|(at, name)| names.iter().skip(at + 1).any(|one| one == name))
    };
    match names.filter(|names| !is_twice(names)) {
        Some(names) => names.into_iter().map(|name| entry(write.path.join(name))).collect(),
        None => vec![write],
    }
}

/// Whether the text says where it leads: it goes through nothing of the workspace, where a link may
/// lead anywhere, and a step may change where.
fn is_direct(text: &str, context: &JudgeContext<'_>) -> bool {
    let place = context.policy_cx.place;
    let mut parts =
        Path::new(text).components().skip_while(|part| !matches!(part, Component::Normal(_)));
    let starts_outside = Path::new(text).is_absolute()
        || place.root_of(&context.cwd).is_none_or(|root| root == context.cwd);
    starts_outside
        && !parts.any(|part| part == Component::ParentDir)
        && place.root_of(&paths::normalize(&context.cwd.join(text))).is_none()
}

/// Whether no link leads elsewhere than the text says, but those to the home, to the workspace and
/// at the root of the system.
fn is_as_written(text: &str, real: &Path, context: &JudgeContext<'_>) -> bool {
    let policy_cx = context.policy_cx;
    let plain = paths::normalize(&context.cwd.join(text));

    let own = policy_cx.place.home.ancestors().chain(policy_cx.place.workspace.ancestors());
    let of_system = plain.ancestors().filter(|above| above.parent() == Some(Path::new("/")));
    own.chain(of_system).any(|base| {
        let rest = plain.strip_prefix(base);
        rest.is_ok_and(|rest| policy_cx.world.resolve(base).join(rest) == real)
    })
}
