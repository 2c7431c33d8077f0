//! Decides which questions a mode answers: that of changes of files, where edits are accepted, and in
//! *auto* that of everything that the sandbox keeps inside the folder.
//!
//! Both are positive lists. A reason that is not in them asks: what leaves the folder or the
//! sandbox, needs a network or credentials, steers programs, rewrites history, or takes away what an
//! undo does not bring back.

use std::path::{Path, PathBuf};

use avocet_core::i18n::{Phrase, safety as phrases};
use avocet_core::protocol::{ApprovalMode, Effect, SandboxStatus, StepAction};
use avocet_core::text::short_name;

use super::grant::{self, CommandFolder, GrantQuestion};
use super::paths::{self, PathClass};
use super::places::is_named;
use super::rules::remembered::{FILE_COMMANDS, FORMATTERS, RECORDING};
use super::spec::operands;
use super::{FileKind, PathKind, PolicyContext, args, reach, rules, signing};

/// The rules of the findings that a mode adds.
const EDITS: &str = "mode.edits";
const AUTO: &str = "mode.auto";

/// The finding of the mode that answers the question of a step, if it does.
pub(super) fn answer(question: GrantQuestion<'_>) -> Option<(&'static str, Phrase)> {
    match question.policy_cx.policy.approval {
        ApprovalMode::Ask | ApprovalMode::Plan => None,
        ApprovalMode::Edits => changes_files(question).then_some((EDITS, phrases::EDITS_MODE)),
        ApprovalMode::Auto if !is_wall_there(question.policy_cx) => None,
        ApprovalMode::Auto => (changes_files(question) || stays_inside(question))
            .then_some((AUTO, phrases::AUTO_MODE)),
    }
}

/// Whether the finding says that a mode let the step run, which then gets nothing beyond the folder.
pub(super) fn is_answer(rule: &str) -> bool {
    [EDITS, AUTO].contains(&rule)
}

/// Whether approved steps are kept inside the folder here, and what they do to its files comes back.
fn is_wall_there(context: PolicyContext<'_>) -> bool {
    let has_repository =
        || context.world.kind(&context.place.workspace.join(".git")) != PathKind::Missing;
    context.policy.shelter == SandboxStatus::Held
        && (context.world.takes_checkpoints() || has_repository())
}

/// A change of files of the folder, by a tool or by a command that does nothing else.
fn changes_files(question: GrantQuestion<'_>) -> bool {
    grant::is_routine_edit(question)
        || is_file_command(question)
        || edits_in_place(question)
        || is_formatter(question)
        || records_state(question)
}

/// Whether all that asks is the row of the command itself.
fn asks_by_row_alone(question: GrantQuestion<'_>, row: &str) -> bool {
    let is_own = |(rule, _): (&str, &[Effect])| rule == row || rule == "requires.write";
    is_here(question) && question.reasons().all(is_own)
}

/// Whether a program of the system runs in the folder.
fn is_here(question: GrantQuestion<'_>) -> bool {
    let StepAction::Exec { program, .. } = question.work else { return false };
    !program.contains('/')
        && !question.is_in_workspace()
        && question.policy_cx.place.contains(question.cwd)
}

fn is_file_command(question: GrantQuestion<'_>) -> bool {
    let StepAction::Exec { program, args } = question.work else { return false };
    let folder = CommandFolder { cwd: question.cwd, policy_cx: question.policy_cx };
    asks_by_row_alone(question, &grant::row_id(program, args))
        && reach::is_command_covered(FILE_COMMANDS, program, args, &folder)
        && FileEffects::of_command(program, args, question).is_some_and(|files| files.are_routine())
}

/// `sed -i` with a plain script.
fn edits_in_place(question: GrantQuestion<'_>) -> bool {
    let StepAction::Exec { program, args: given } = question.work else { return false };
    let Some((spec, name @ ("sed" | "gsed"))) = rules::find(program) else { return false };
    // A suffix can name another folder.
    let is_plain = |arg: &String| ["-i", "--in-place"].contains(&arg.as_str());
    let is_suffixed = |arg: &String| {
        !is_plain(arg) && (arg.starts_with("--i") || arg.starts_with('-') && arg.contains('i'))
    };
    if !given.iter().any(is_plain) || given.iter().any(is_suffixed) {
        return false;
    }
    let tokens = args::parse(given, spec);
    let has_script = args::find_flag(&tokens, "-e|--expression").is_some();
    let files = operands(&tokens).skip(usize::from(!has_script)).map(|(_, text)| text);
    let changed = files.map(|text| paths::normalize(&question.cwd.join(text))).collect();
    let files = FileEffects { question, lost: changed, made: Vec::new() };
    asks_by_row_alone(question, &format!("{name}.in_place"))
        && !files.lost.is_empty()
        && files.are_routine()
}

fn is_formatter(question: GrantQuestion<'_>) -> bool {
    let StepAction::Exec { program, args } = question.work else { return false };
    let folder = CommandFolder { cwd: question.cwd, policy_cx: question.policy_cx };
    question.policy_cx.policy.shelter == SandboxStatus::Held
        && asks_by_row_alone(question, &grant::row_id(program, args))
        && reach::is_command_covered(FORMATTERS, program, args, &folder)
}

/// Hooks of what is staged and of a branch that begins.
const HOOKS: &[&str] = &["post-index-change", "post-checkout", "reference-transaction"];

/// Staging files of the folder, and beginning a branch at the current commit: no file changes, and no
/// program runs. A filter of the repository asks by itself, and a hook of these must not be there.
fn records_state(question: GrantQuestion<'_>) -> bool {
    let StepAction::Exec { program, args } = question.work else { return false };
    let folder = CommandFolder { cwd: question.cwd, policy_cx: question.policy_cx };
    let hooks = || signing::find_hooks(args, question.cwd, question.policy_cx);
    // One more name would be where the branch begins.
    let is_whole =
        args.len() == 3 || args.first().is_some_and(|sub| ["add", "stage"].contains(&sub.as_str()));
    is_whole
        && asks_by_row_alone(question, &grant::row_id(program, args))
        && reach::is_command_covered(RECORDING, program, args, &folder)
        && !hooks().names.iter().any(|name| HOOKS.contains(name))
}

/// What a command does to files of the folder.
struct FileEffects<'a> {
    question: GrantQuestion<'a>,
    /// What is removed, moved away or overwritten.
    lost: Vec<PathBuf>,
    /// What is there afterwards.
    made: Vec<PathBuf>,
}

/// The most files below a folder that is moved, copied or removed.
const MAX_FILES: usize = 200;

impl<'a> FileEffects<'a> {
    /// Those of one of the [`FILE_COMMANDS`]; `None`: not all is known.
    fn of_command(
        program: &str,
        args: &[String],
        question: GrantQuestion<'a>,
    ) -> Option<FileEffects<'a>> {
        let ends = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
        let (options, rest) = args.split_at(ends);
        let plain = options.iter().filter(|arg| !arg.starts_with('-'));
        let texts: Vec<&String> = plain.chain(rest.iter().skip(1)).collect();
        let path_of = |text: &str| paths::normalize(&question.cwd.join(text));
        let mut files = FileEffects { question, lost: Vec::new(), made: Vec::new() };
        match (program, texts.split_last()) {
            ("mkdir" | "touch" | "rmdir", Some(_)) => {}
            ("rm", Some(_)) => files.lost = texts.iter().map(|text| path_of(text)).collect(),
            ("cp" | "mv" | "ln", Some((target, sources))) if !sources.is_empty() => {
                let target = path_of(target);
                let is_folder = question.policy_cx.world.kind(&target) == PathKind::Folder;
                if sources.len() > 1 && !is_folder {
                    return None;
                }
                for text in sources {
                    // `src/.` is what is in the folder, and `src/` may be.
                    if text.ends_with('/')
                        || text.ends_with("/.")
                        || text.ends_with('.') && text.trim_matches('.').is_empty()
                    {
                        return None;
                    }
                    let source = path_of(text);
                    let end =
                        if is_folder { target.join(source.file_name()?) } else { target.clone() };
                    files.add_transfer(program, text, source, end)?;
                }
            }
            _ => return None,
        }
        Some(files)
    }

    /// One file, folder or link that comes into another place.
    fn add_transfer(
        &mut self,
        program: &str,
        text: &str,
        source: PathBuf,
        target: PathBuf,
    ) -> Option<()> {
        let context = self.question.policy_cx;
        if program == "ln" {
            // Its text is read from where the link is.
            let leads = target.parent()?.join(text);
            self.made.push(target.clone());
            let is_inside =
                paths::classify(leads.to_str()?, self.question.cwd, context) == PathClass::Inside;
            let is_new =
                context.world.kind(&target) == PathKind::Missing && !context.world.is_link(&target);
            return (is_inside && is_new).then_some(());
        }
        for file in files_below(&source, context)? {
            let end = target.join(file.strip_prefix(&source).ok()?);
            let is_plain = is_routine_place(&file, self.question) && !target.starts_with(&file);
            if !is_plain {
                return None;
            }
            self.made.push(if file == source { target.clone() } else { end });
        }
        if program == "mv" {
            self.lost.push(source);
        }
        self.made.push(target);
        Some(())
    }

    fn are_routine(&self) -> bool {
        let context = self.question.policy_cx;
        let is_there = |path: &&PathBuf| {
            context.world.kind(path) == PathKind::File || context.world.is_link(path)
        };
        let overwritten = self.made.iter().filter(is_there);
        self.made.iter().all(|path| is_routine_place(path, self.question))
            && self.lost.iter().chain(overwritten).all(|path| comes_back(path, self.question))
    }
}

/// Whether a path is one of the folder that neither holds credentials nor steers anything.
fn is_routine_place(path: &Path, question: GrantQuestion<'_>) -> bool {
    let context = question.policy_cx;
    let is_inside = |text: &str| paths::classify(text, question.cwd, context) == PathClass::Inside;
    path.to_str().is_some_and(is_inside)
        && !path.components().any(|part| part.as_os_str() == ".git")
        && !context.steers(&context.world.resolve(path))
        && !context.steers(path)
}

/// Whether what is at a path, with all that is below it, is brought back by an undo; so is what is
/// not there. A folder around others is never taken away.
fn comes_back(path: &Path, question: GrantQuestion<'_>) -> bool {
    let context = question.policy_cx;
    let Some(root) = context.place.root_of(path) else { return false };
    let holds_all = path == root || question.cwd.starts_with(path);
    if holds_all || context.world.is_link(path) {
        return false;
    }
    context.world.kind(path) == PathKind::Missing
        || context.world.comes_back(root, path)
            && files_below(path, context)
                .is_some_and(|files| files.iter().all(|file| is_routine_place(file, question)))
}

/// The regular files at and below a path; `None`: there are others, or too many of them.
fn files_below(path: &Path, context: PolicyContext<'_>) -> Option<Vec<PathBuf>> {
    if context.world.kind(path) != PathKind::Folder {
        return Some(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    let mut folders = vec![path.to_owned()];

    let mut left = MAX_FILES;
    while let Some(folder) = folders.pop() {
        for (entry, kind) in context.world.entries(&folder, left + 1) {
            left = left.checked_sub(1)?;
            match kind {
                FileKind::File => files.push(entry),
                FileKind::Folder => folders.push(entry),
                FileKind::Link | FileKind::Other => return None,
            }
        }
    }
    Some(files)
}

/// Effects that no mode answers.
#[rustfmt::skip]
const GRAVE: &[Effect] = &[
    Effect::Secret, Effect::Elevate, Effect::Outside, Effect::Irreversible, Effect::Terminal, Effect::Resource,
    Effect::Send,
];

/// Programs and their sub-commands that do nothing beyond the folder where a sandbox holds them and
/// the network is closed. Without sub-commands it is the row of the program itself.
#[rustfmt::skip]
const HELD: &[(&str, &str)] = &[
    ("npm pnpm yarn cnpm", "run run-script test t build lint format check start restart"),
    ("cargo cross", "build b check c test t run r bench doc clippy fmt fix nextest expand llvm-cov tree metadata locate-project pkgid read-manifest rustc rustdoc"),
    ("go", "build run test vet fmt generate list env version"),
    ("git", "add stage commit merge cherry-pick revert mv stash checkout switch restore rm reset notes branch.create tag.create"),
    ("npx bunx pnpx", ""),
    ("node nodejs deno bun ts-node tsx python python2 python3 pypy pypy3 perl ruby php lua luajit Rscript julia java groovy scala kotlin ghci runghc runhaskell irb swift elixir racket guile sbcl ocaml octave dart crystal nim m4 bc dc tclsh", ""),
    ("rustc rustfmt rustdoc clippy-driver bindgen cbindgen gofmt goimports golangci-lint staticcheck", ""),
    ("make gmake ninja cmake ctest meson scons task rake invoke autoconf automake autoreconf configure ant tox nox waf mage just bazel bazelisk", ""),
    ("gcc g++ cc c++ clang clang++ ld as gas lld gold mold nasm yasm javac kotlinc scalac ghc gfortran ocamlopt ocamlc swiftc zig nvcc strip objcopy ranlib protoc flatc thrift capnp bison flex yacc lex swig moc qmake", ""),
    ("pytest py.test nosetests unittest coverage mypy pyright ruff black isort flake8 pylint bandit autopep8 yapf pyflakes pycodestyle sphinx-build mkdocs django-admin cython vulture codespell djlint", ""),
    ("tsc eslint prettier jest vitest mocha ava tap webpack vite rollup esbuild parcel turbo nx lerna babel swc next nuxt astro ng vue react-scripts biome oxlint stylelint tslint standard xo dprint karma grunt gulp tailwindcss postcss sass svelte-kit commitlint lint-staged markdownlint cspell tsup unbuild zx", ""),
    ("mvn gradle sbt mill bundle rails rspec rubocop jekyll composer phpunit phpstan artisan pest php-cs-fixer mix rebar3 stack cabal dotnet dune swiftlint swiftformat hugo zola quarto ktlint detekt checkstyle spotbugs clang-format clang-tidy cppcheck shellcheck shfmt hadolint yamllint actionlint tflint golint buf sqlfluff vale typos taplo pdflatex xelatex latexmk tex latex bibtex doxygen asciidoctor gradlew mvnw", ""),
    ("sh bash zsh dash", ""),
    ("tee sponge truncate split csplit dos2unix unix2dos patch indent chmod tar zip unzip gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd ctags etags", ""),
];

/// Reasons beside those of rows: a program of the folder or of the user's list, one that another
/// program is started by, settings of the repository that start programs.
const HELD_BESIDE: &str =
    "program.path program.folder program.added requires.write git-config-exec";

/// Words of programs that get, send or install something, which a closed network or the sandbox
/// would only let fail.
#[rustfmt::skip]
const REACHING: &[&str] = &[
    "install", "uninstall", "i", "ci", "add", "remove", "update", "upgrade", "get", "fetch", "download", "restore", "sync",
    "publish", "push", "deploy", "release", "upload", "login", "pip", "ensurepip", "venv", "http.server", "deps.get", "require", "create", "dlx",
];

/// Options of git that rewrite what was committed, or move a branch away from it.
#[rustfmt::skip]
const REWRITING: &[&str] = &["--am", "-C", "-B", "--force-c", "--orphan", "--autosq", "--edit-"];

/// Whether all that asks is in the lists, and nothing that is named by the step is beyond them.
fn stays_inside(question: GrantQuestion<'_>) -> bool {
    let StepAction::Exec { program, args } = question.work else { return false };
    let is_held = |(rule, effects): (&str, &[Effect])| {
        !effects.iter().any(|effect| GRAVE.contains(effect)) && is_held_rule(rule)
    };
    let name = short_name(program);
    question.policy_cx.place.contains(question.cwd)
        && question.reasons().all(is_held)
        && question.findings.launch.reads.is_empty()
        && match name {
            "git" => keeps_history(args, question),
            "npx" | "bunx" | "pnpx" => {
                let folder = CommandFolder { cwd: question.cwd, policy_cx: question.policy_cx };
                let starts = args.iter().find(|arg| !arg.starts_with('-'));
                starts.is_some_and(|name| reach::OperandScope::has_local_program(&folder, name))
                    && !reaches_out(args)
            }
            _ => !reaches_out(args),
        }
}

fn is_held_rule(rule: &str) -> bool {
    let named = |names: &str, name: &str| names.split_ascii_whitespace().any(|own| own == name);
    let is_row = |(programs, subs): &(&str, &str)| match rule.split_once('.') {
        Some((program, sub)) if !subs.is_empty() => named(programs, program) && named(subs, sub),
        _ => subs.is_empty() && named(programs, rule),
    };
    HELD.iter().any(is_row) || is_named(HELD_BESIDE, rule)
}

/// Whether one of the first words says that something is fetched or sent.
fn reaches_out(args: &[String]) -> bool {
    const FIRST: usize = 4;
    args.iter().take(FIRST).any(|arg| REACHING.contains(&arg.as_str()))
}

/// Whether a git command adds to the history and leaves what is there, and the files that it takes
/// away come back.
fn keeps_history(args: &[String], question: GrantQuestion<'_>) -> bool {
    let Some((_, name)) = rules::find("git") else { return false };
    let row = grant::row_id(name, args);
    let rewrites = |arg: &String| REWRITING.iter().any(|start| arg.starts_with(start));
    if args.iter().any(rewrites) {
        return false;
    }
    let operands = || args.iter().skip(1).filter(|arg| !arg.starts_with('-'));
    let path_of = |text: &String| paths::normalize(&question.cwd.join(text));
    let exists = |path: &PathBuf| question.policy_cx.world.kind(path) != PathKind::Missing;
    match row.as_str() {
        // Only the index: a commit would move the branch.
        "git.reset" => {
            let mut before = args.iter().skip(1).take_while(|arg| *arg != "--");
            before.all(|arg| ["HEAD", "-q", "--quiet", "--mixed"].contains(&arg.as_str()))
        }
        "git.rm" | "git.restore" | "git.checkout" => {
            operands().map(path_of).filter(exists).all(|path| comes_back(&path, question))
        }
        "git.mv" => operands().map(path_of).all(|path| is_routine_place(&path, question)),
        _ => true,
    }
}
