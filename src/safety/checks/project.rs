//! Checks programs that read a project without running what is in it: only where none of its
//! files says otherwise. Each function only adds findings.

use std::path::{Path, PathBuf};

use avocet_core::protocol::Effect;

use super::super::findings::Findings;
use super::super::places::UserPath;
use super::super::repository;
use super::super::spec::{ArgPosition, ArgToken, ProgramCall, flag_values, operands};
use super::super::{Contents, PathKind, args};

/// Settings of `npm`, which name files, programs, and where other settings are.
const NPM: &[&str] = &[".npmrc"];
/// What `rustup` chooses a toolchain by, which may be a folder of the project.
const TOOLCHAIN: &[&str] = &["rust-toolchain", "rust-toolchain.toml"];
const CARGO: &[&str] = &[".cargo/config", ".cargo/config.toml"];
/// The most of a file of settings that is read, in bytes.
const MAX_BYTES: usize = 64 * 1024;

fn raise(call: &ProgramCall<'_>, at: usize, findings: &mut Findings) {
    let text = call.args.get(at).map_or("", String::as_str);
    call.ask_operand(text, at, &[Effect::Exec], findings);
}

/// Files of these names in the folder or above it, where a program would look for them. The
/// user's own in the home are not among them.
fn project_files(call: &ProgramCall<'_>, names: &'static [&'static str]) -> Vec<PathBuf> {
    let policy_cx = call.context.policy_cx;
    let cwd = &call.context.cwd;

    let is_home = |folder: &Path| folder == policy_cx.place.home;
    let folders = cwd.ancestors().take_while(|folder| !is_home(folder));
    let files = folders.flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    files.filter(|file| is_there(call, file)).collect()
}

fn is_there(call: &ProgramCall<'_>, file: &Path) -> bool {
    matches!(call.context.policy_cx.world.kind(file), PathKind::File | PathKind::Other)
}

/// Whether nothing is in front of the sub-command, such as a setting or another folder.
fn follows_program(call: &ProgramCall<'_>) -> bool {
    call.seat == ArgPosition::From(call.id.matches('.').count())
}

/// `npm ls`: reads the packages that are there.
pub fn npm_reads(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let plain = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '@')
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "@/-_.^~".contains(c))
    };
    let odd = operands(tokens).find(|(_, text)| !plain(text)).map(|(at, _)| at);
    if odd.is_some() || !follows_program(call) || !project_files(call, NPM).is_empty() {
        raise(call, odd.unwrap_or(0), findings);
    }
}

/// `npm config get`: the user's own settings are closed to it, and without them its answer
/// would be another.
pub fn npm_setting(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let place = call.context.policy_cx.place;
    let own = UserPath { variable: "NPM_CONFIG_USERCONFIG", home: ".npmrc", rest: "" };
    let own = own.resolve(&place.home, &place.moved);
    let name = |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let plain = operands(tokens).all(|(_, text)| name(text));
    if !plain || own.is_some_and(|own| is_there(call, &own)) {
        raise(call, 0, findings);
    }
    npm_reads(call, tokens, findings);
}

/// Whether `cargo new` makes this folder and changes nothing else: it becomes a member of a workspace
/// that is above it.
pub fn cargo_makes_only(call: &ProgramCall<'_>, text: &str) -> bool {
    let policy_cx = call.context.policy_cx;
    let folder = policy_cx.resolve(text, &call.context.cwd);
    let has_manifest = |above: &Path| is_there(call, &above.join("Cargo.toml"));
    !folder.ancestors().any(has_manifest) && project_files(call, TOOLCHAIN).is_empty()
}

/// `cargo metadata --no-deps` and its like: no compiler is started, but the toolchain may be one
/// of the project's.
pub fn cargo_reads(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let odd = operands(tokens).find(|(_, text)| text.starts_with(['.', '/', '~']));
    if odd.is_some() || !follows_program(call) || !project_files(call, TOOLCHAIN).is_empty() {
        raise(call, 0, findings);
    }
}

/// `cargo fmt --check`, before or after the `--`. An alias of the project would go before the
/// program of this name.
pub fn cargo_fmt(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    cargo_reads(call, tokens, findings);
    let behind = |text: &str| matches!(text, "--check" | "-l" | "--files-with-diff" | "-q" | "-v");
    let checks = args::find_flag(tokens, "--check").is_some()
        || operands(tokens).any(|(_, text)| text == "--check");
    let world = call.context.policy_cx.world;
    // The key `alias` of Cargo's settings may have escapes, or be in an included file.
    let names_alias = |file: &PathBuf| match world.read(file, MAX_BYTES) {
        Contents::Bytes(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            ["alias", "include", "\\"].iter().any(|part| text.contains(part))
        }
        Contents::Missing | Contents::Unreadable => true,
    };
    let plain = operands(tokens).all(|(_, text)| behind(text));
    if !checks || !plain || project_files(call, CARGO).iter().any(names_alias) {
        raise(call, 0, findings);
    }
}

/// `rustfmt --check`, `rustup show`: of the toolchain of the user.
pub fn rust_toolchain(call: &ProgramCall<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    if !project_files(call, TOOLCHAIN).is_empty() {
        raise(call, 0, findings);
    }
}

/// `rustc --explain E0308`.
pub fn rustc_explain(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let code = |text: &str| text.strip_prefix('E').unwrap_or(text).parse::<u32>().is_ok();
    if !flag_values(tokens, "--explain").all(|(_, text)| code(text)) {
        raise(call, 0, findings);
    }
}

/// Modules of Python that show what is in a file or what is installed: the option without which
/// each would do more, and those that it has.
const PYTHON_MODULES: &[(&str, &str, &str)] = &[
    (
        "json.tool",
        "",
        "--sort-keys --no-ensure-ascii --json-lines --no-indent --tab --compact --indent",
    ),
    ("zipfile", "-l|--list", "-l --list"),
    ("tarfile", "-l|--list", "-l --list"),
    ("tokenize", "", "-e --exact"),
    ("ast", "", ""),
    ("platform", "", ""),
    ("site", "", ""),
    ("sysconfig", "", ""),
];

/// `python3 -m json.tool FILE`: any other module, or a script in front of it, is code.
pub fn python_module(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let modules: Vec<_> = flag_values(tokens, "-m").collect();
    let [(0, module)] = modules.as_slice() else { return raise(call, 0, findings) };
    let Some((_, needed, own)) = PYTHON_MODULES.iter().find(|(name, ..)| name == module) else {
        return raise(call, 0, findings);
    };
    let mut rest = tokens.iter().skip(1).filter_map(ArgToken::flag);
    let is_own = rest.all(|flag| own.split(' ').any(|name| name == flag));
    let is_there = needed.is_empty() || args::find_flag(tokens, needed).is_some();
    if !is_own || !is_there {
        raise(call, 0, findings);
    }
}

/// `python3 -m pip list`: what is added for `pip` comes right after its name.
pub fn python_pip(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let is_pip = call.args.starts_with(&["-m".to_owned(), "pip".to_owned()]);
    if !is_pip || tokens.iter().filter(|token| token.flag().is_some()).count() != 1 {
        raise(call, 0, findings);
    }
}

/// `jar tf ARCHIVE [NAME…]`.
pub fn jar_lists(call: &ProgramCall<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    let (mode, rest) = call.args.split_first().map_or(("", &[][..]), |(m, rest)| (m, rest));
    let mode = mode.strip_prefix('-').unwrap_or(mode);
    let plain = rest.iter().all(|arg| !arg.starts_with(['-', '@']));
    match rest.first().filter(|_| ["tf", "tvf", "vtf"].contains(&mode) && plain) {
        Some(archive) => call.check_read(archive, 1, findings),
        None => raise(call, 0, findings),
    }
}

/// `git submodule status`: a second git runs in each submodule, without our overrides.
pub fn git_submodules(call: &ProgramCall<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    let policy_cx = call.context.policy_cx;
    let found = repository::read(policy_cx.world, &policy_cx.world.resolve(&call.context.cwd));
    let Some(inner) = found.submodules(policy_cx.world) else { return raise(call, 0, findings) };
    for folder in inner {
        let found = repository::read(policy_cx.world, &policy_cx.world.resolve(&folder));
        if !repository::find_worries(&found, policy_cx).is_empty() {
            return raise(call, 0, findings);
        }
        findings.launch.readable.extend(found.linked_places.iter().cloned());
    }
}
