//! Checks what a flag table cannot express about a program: small languages (`find`, `sed`,
//! `jq`), operands that set instead of show, targets that mean everything at once.
//!
//! Each function only adds findings; a text it does not understand is raised.

use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect;

use super::findings::{DELETES, Findings, POWER};
use super::spec::{ArgPart, ArgToken, ProgramCall, operands};
use super::{WriteOpening, args, wrappers};

mod awk;
mod data;
mod find;
mod forms;
mod git;
mod jq;
pub mod lines;
mod pathspec;
mod project;
mod recursive;
mod remote;
mod sed;

pub use awk::awk;
pub use data::{queries, statements};
pub use find::{find, reads_found_names};
pub use forms::{
    ar_lists, bat, checks_format, fd_reads, firewall, git_help, git_no_index, git_one_setting,
    git_range_diff, git_setting, ip_shows, journalctl, kernel_names, lsof, lsof_files, names_only,
    no_coder, no_list_file, no_pager_command, numbers_only, openssl_input, plain_files,
    right_after, short_time, tar_lists, to_output, unit_properties, units, without_query, yq,
};
pub use git::{
    git_bisect, git_branch, git_diff, git_dirty, git_discard, git_format, git_push, git_reflog,
    git_repository, git_symbolic_ref, git_tag,
};
pub use jq::{jq, unnamed};
pub use lines::git_config;
pub use pathspec::{git_grep, git_object, git_paths, git_stash};
pub use project::{
    cargo_fmt, cargo_makes_only, cargo_reads, git_submodules, jar_lists, npm_reads, npm_setting,
    python_module, python_pip, rust_toolchain, rustc_explain,
};
pub use recursive::{diff, grep, ls, recursive_flag, rg};
pub use remote::{destroys, docker, forge, prune, sends};
pub use sed::sed;

/// `date`: an operand that is not a format sets the clock.
pub fn date(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    if let Some((at, _)) = operands(tokens).find(|(_, text)| !text.starts_with('+')) {
        call.refuse("set", phrases::SETS_CLOCK, at, POWER, findings);
    }
}

/// `hostname NAME` gives the machine another name.
pub fn hostname(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    if let Some((at, _)) = operands(tokens).next() {
        call.refuse("set", phrases::SETS_HOSTNAME, at, POWER, findings);
    }
}

/// `kill`: `-1` as a target is every process there is, `1` is the first of all.
pub fn kill(call: &ProgramCall<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    let everything = |(at, arg): &(usize, &String)| *at > 0 && *arg == "-1" || *arg == "1";
    if let Some((at, _)) = call.args.iter().enumerate().find(everything) {
        call.refuse("all", phrases::KILLS_ALL, at, &[Effect::Irreversible], findings);
    }
}

/// `pkill`, `killall`: a pattern that fits every name.
pub fn kill_by_name(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    if let Some((at, _)) =
        operands(tokens).find(|(_, text)| ["", ".", ".*", "*", "^"].contains(text))
    {
        call.refuse("all", phrases::KILLS_ALL, at, &[Effect::Irreversible], findings);
    }
}

/// `printenv NAME` for a name that tells nothing.
pub fn printenv(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let names: Vec<_> = operands(tokens).collect();
    let harmless =
        ["HOME", "USER", "SHELL", "LANG", "PWD", "TERM", "TZ", "EDITOR", "PATH", "LOGNAME"];
    let told = names.is_empty() || names.iter().any(|(_, name)| !harmless.contains(name));
    if told && !wrappers::prints_own_environment(call, tokens) {
        call.ask("print", phrases::PRINTS_ENVIRONMENT, 0, &[Effect::Secret], findings);
    }
}

/// `ps`: names of programs; their arguments and environments, which may contain passwords,
/// are left out.
pub fn ps(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let harmless = [
        "aux", "a", "x", "ax", "au", "ux", "auxww", "axww", "l", "axl", "j", "f", "auxf", "axf",
        "c", "axc", "auxc", "axu", "axjf", "axj", "fax", "xa", "faux",
    ];
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b',');
    let odd = |(_, text): &(usize, &str)| !number(text) && !harmless.contains(text);
    let format = |token: &&ArgToken<'_>| matches!(token.part, ArgPart::Flag { value: Some(v), .. } if v.contains("env"));
    let at = operands(tokens).find(odd).map(|(at, _)| at);
    if let Some(at) = at.or_else(|| tokens.iter().find(format).map(|token| token.at)) {
        call.ask("print", phrases::PRINTS_ENVIRONMENT, at, &[Effect::Secret], findings);
    }
    if call.is_busybox() {
        call.ask("print", phrases::PRINTS_ARGUMENTS, 0, &[Effect::Secret], findings);
    }
    call.insert(0, if cfg!(target_os = "macos") { "-c" } else { "c" }, findings);
}

/// `pgrep -l` shows names; some versions show whole lines once they have searched them.
pub fn pgrep(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let full = args::find_flag(tokens, "-f|--full");
    let lists = args::find_flag(tokens, "-l|--list-name").is_some();
    if let (Some(token), true) = (full, lists && (cfg!(target_os = "macos") || call.is_busybox())) {
        let at = token.at;
        call.ask("print", phrases::PRINTS_ARGUMENTS, at, &[Effect::Secret], findings);
    }
}

/// For rows of which only the quiet forms are harmless.
pub fn needs_quiet(call: &ProgramCall<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    call.ask_operand(&avocet_core::text::command_line(call.args), 0, &[Effect::Exec], findings);
}

/// A target of a write that is the root, the home folder or the whole workspace.
pub fn removes(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let recursive = args::find_flag(tokens, "-r|-R|--recursive").is_some();
    for (at, text) in operands(tokens) {
        let text = if text == "/" { text } else { text.trim_end_matches(['/', '*', '.']) };
        if recursive
            && ["/", "", "~", "$HOME", "${HOME}", "/home", "/usr", "/etc", "/var"].contains(&text)
        {
            call.refuse("root", phrases::REMOVES_ROOT, at, DELETES, findings);
        }
    }
}

/// `ln`: a link that leads out of the workspace is a way out for everything after it.
pub fn links(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    for (at, text) in operands(tokens) {
        call.check_read(text, at, findings);
    }
}

/// Words that stop the machine, for the programs that manage it.
pub fn power(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    #[rustfmt::skip]
    let words = [
        "poweroff", "reboot", "halt", "kexec", "suspend", "hibernate", "hybrid-sleep", "emergency",
        "suspend-then-hibernate", "rescue", "default", "isolate", "exit", "soft-reboot",
        "switch-root",
    ];
    if let Some((at, _)) = operands(tokens).find(|(_, text)| words.contains(text)) {
        call.refuse("power", phrases::POWER, at, POWER, findings);
    }
}

/// `timedatectl set-time`, `sysctl a=b`.
pub fn system_settings(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let set = |(_, text): &(usize, &str)| {
        text.starts_with("set-") || (call.name == "sysctl" && text.contains('='))
    };
    if let Some((at, _)) = operands(tokens).find(set) {
        call.refuse("set", phrases::CHANGES_SYSTEM, at, POWER, findings);
    }
}

/// `diskutil` verbs that lose the contents of a disk.
pub fn disk(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    #[rustfmt::skip]
    let verbs = [
        "erase", "partition", "secureerase", "reformat", "zero", "random", "apfs", "merge", "split",
        "resize", "unmount", "eject",
    ];
    if let Some((at, _)) = operands(tokens).next().filter(|(_, text)| {
        let text = text.to_ascii_lowercase();
        verbs.iter().any(|verb| text.starts_with(verb))
    }) {
        call.refuse("erase", phrases::DISK, at, DELETES, findings);
    }
}

/// `sort -o`-like options that write to their value.
pub fn output(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let names = "-o|--output|-O|--output-document|-t|--target-directory|-C|--directory|-d|-P|\
                 --directory-prefix|-D|--output-dir";
    for token in tokens {
        let Some(file) = token.value_of(names) else { continue };
        let opening = token.flag().and_then(|option| call.output_option(option));
        call.check_output(file, token.at, opening.unwrap_or(WriteOpening::Existing), findings);
    }
}
