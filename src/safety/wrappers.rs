//! Finds the command inside programs that run another one, and judges it as a command of
//! its own.

use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::{Effect, Tier};

use super::checks::lines;
use super::findings::{Findings, excerpt};
use super::spec::{
    ArgPart, ArgPosition, ArgToken, ProgramCall, flag_values, is_doubtful, operands,
};
use super::warning::Warning;
use avocet_core::text::short_name;

/// Judges the command after `own` operands of the wrapper. If the wrapper has an unknown
/// option, everything that could be the command is looked at.
pub fn judge_wrapped(
    call: &ProgramCall<'_>,
    tokens: &[ArgToken<'_>],
    own: usize,
    findings: &mut Findings,
) {
    if let Some((at, _)) = operands(tokens).nth(own) {
        call.judge_inner(at, findings);
    }
    if is_doubtful(tokens) {
        for (at, arg) in call.args.iter().enumerate() {
            let name = short_name(arg);
            if call.context.row(name).is_some() && findings.count_command() {
                call.judge_inner(at, findings);
            }
        }
    }
}

/// `env`: variables, then a command; alone it prints the environment.
pub fn env(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    judge_values(call, tokens, "-S|--split-string", findings);
    check_stripped_environment(call, tokens, findings);
    let command = operands(tokens).find(|(at, text)| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => {
            judge_variable(name, value, *at, call, findings);
            false
        }
        _ => true,
    });
    match command {
        Some((at, _)) => call.judge_inner(at, findings),
        // A step that runs by itself has no variables of the user that matter.
        None if prints_own_environment(call, tokens) => {}
        None => call.ask("print", phrases::PRINTS_ENVIRONMENT, 0, &[Effect::Secret], findings),
    }
    if tokens.iter().any(ArgToken::is_unknown) {
        judge_wrapped(call, tokens, 0, findings);
    }
}

/// Whether it prints what the step itself was given, and that is what a step is given
/// that runs by itself; a line for a shell has the user's own environment.
pub fn prints_own_environment(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>]) -> bool {
    matches!(call.seat, ArgPosition::From(_)) && !tokens.iter().any(ArgToken::is_unknown)
}

/// Without its variables git would do what a repository's own settings say, and others
/// would page, ask or go online. Programs that only ever read have none of their own.
fn check_stripped_environment(
    call: &ProgramCall<'_>,
    tokens: &[ArgToken<'_>],
    findings: &mut Findings,
) {
    let names = ["-i", "--ignore-environment", "-u", "--unset"];
    let steered = tokens.iter().filter_map(ArgToken::operand).any(|text| {
        let row = call.context.row(text.rsplit('/').next().unwrap_or(text));
        row.is_some_and(|spec| spec.tier != Tier::L0)
    });
    let flag = tokens.iter().find(|token| token.flag().is_some_and(|flag| names.contains(&flag)));
    if let (true, Some(token)) = (steered, flag) {
        call.ask("strips", phrases::STRIPS_ENVIRONMENT, token.at, &[Effect::Exec], findings);
    }
}

/// `sh -c STRING`: the string is looked into, the rest is a script or a terminal.
pub fn shell_string(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let asked = tokens.iter().any(|token| {
        token
            .flag()
            .is_some_and(|f| matches!(f, "-c" | "--command" | "-Command" | "-EncodedCommand"))
    });
    if let (true, Some((at, text))) = (asked, operands(tokens).next()) {
        call.judge_line(text, at, findings);
    }
}

/// Options whose value is a line for a shell: `script -c`, `npx -c`, `flock -c`.
pub fn dash_c(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    judge_values(call, tokens, "-c|--command|--call|-cmd", findings);
}

/// Judges the values of these flags as lines for a shell.
fn judge_values(
    call: &ProgramCall<'_>,
    tokens: &[ArgToken<'_>],
    names: &'static str,
    findings: &mut Findings,
) {
    flag_values(tokens, names).for_each(|(at, line)| call.judge_line(line, at, findings));
}

/// Programs that join their operands to a line for a shell: `watch`, `parallel`.
pub fn judge_joined_operands(
    call: &ProgramCall<'_>,
    tokens: &[ArgToken<'_>],
    findings: &mut Findings,
) {
    if let Some((at, _)) = operands(tokens).next() {
        let line = call.args.get(at..).unwrap_or_default().join(" ");
        call.judge_line(&line, at, findings);
    }
    dash_c(call, tokens, findings);
}

/// Interpreters: their argument is a program. A look at the text names the worst.
pub fn scan_arguments(call: &ProgramCall<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    for (at, arg) in call.args.iter().enumerate() {
        scan_code(arg, call.seat.arg(at), &call.id, findings);
    }
}

/// Looks through a program in another language for the worst it may do.
pub fn scan_code(text: &str, arg: Option<usize>, id: &str, findings: &mut Findings) {
    for (part, why, effect) in CODE {
        if text.contains(part) {
            let say = why.with("arg", (*part).to_owned());
            findings.add(format!("{id}.code"), Tier::L1, say, arg, &[*effect]);
        }
    }
}

fn judge_variable(
    name: &str,
    value: &str,
    at: usize,
    call: &ProgramCall<'_>,
    findings: &mut Findings,
) {
    findings.warn(Warning::EnvAssign);
    if !is_harmless_variable(name, value) {
        let say = phrases::SETS_VARIABLE.with("name", excerpt(name));
        call.ask("variable", say, at, &[Effect::Exec], findings);
        lines::judge_variable(name, value, call, at, findings);
    }
}

/// Whether a variable changes only language and colours, or lets what is printed stay as it is. The
/// source of languages and time
/// zones may be given as a path, which is not a name of one.
pub fn is_harmless_variable(name: &str, value: &str) -> bool {
    let path = value.starts_with([':', '~', '.', '$']) || value.contains('/');
    (HARMLESS.contains(&name) || name.starts_with("LC_")) && !path
        || name == "TZ" && is_time_zone(value)
        || ["PAGER", "GIT_PAGER"].contains(&name) && value == "cat"
}

/// `Europe/Berlin`: a name the system has for a time zone.
fn is_time_zone(value: &str) -> bool {
    value.split('/').all(|part| {
        part.starts_with(|c: char| c.is_ascii_uppercase())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+'))
    })
}

/// Whether a variable names or brings in what other programs then run.
pub fn starts_programs(name: &str) -> bool {
    // Where `~` and settings are looked for.
    name == "HOME"
        || name == "XDG_CONFIG_HOME"
        || STARTS.iter().any(|start| name.starts_with(start))
}

#[rustfmt::skip]
const STARTS: &[&str] = &[
    "PATH", "LD_", "DYLD_", "BASH_ENV", "ENV", "PROMPT_COMMAND", "PS4", "IFS", "CDPATH", "SHELLOPTS", "BASHOPTS",
    "BASH_FUNC_", "GIT_", "PYTHON", "PERL5", "RUBY", "NODE_", "JAVA_", "_JAVA", "JDK_", "PAGER", "MANPAGER",
    "EDITOR", "VISUAL", "LESS", "RIPGREP_CONFIG_PATH", "RUSTC", "CARGO_", "MAKEFLAGS", "GNUMAKEFLAGS", "CC", "CXX",
    "NPM_CONFIG_", "npm_config_", "ZDOTDIR", "SSH_ASKPASS", "SUDO_ASKPASS", "RSYNC_RSH", "TAR_OPTIONS", "GREP_OPTIONS",
    "MAVEN_", "GRADLE_", "BROWSER", "SHELL", "GCONV_PATH", "OPENSSL_CONF", "command_not_found_handle",
];

#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "LANG", "LANGUAGE", "TZ", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS",
    "LINES", "TERM", "CI", "RUST_BACKTRACE", "TIME_STYLE", "BLOCK_SIZE",
];

#[rustfmt::skip]
const CODE: &[(&str, avocet_core::i18n::Phrase, Effect)] = &[
    ("rm -rf", phrases::CODE_DELETES, Effect::Delete),
    ("rmtree", phrases::CODE_DELETES, Effect::Delete),
    ("rmSync", phrases::CODE_DELETES, Effect::Delete),
    ("rm_rf", phrases::CODE_DELETES, Effect::Delete),
    ("remove_dir_all", phrases::CODE_DELETES, Effect::Delete),
    ("unlink", phrases::CODE_DELETES, Effect::Delete),
    ("os.remove", phrases::CODE_DELETES, Effect::Delete),
    ("os.system", phrases::CODE_STARTS, Effect::Exec),
    ("subprocess", phrases::CODE_STARTS, Effect::Exec),
    ("child_process", phrases::CODE_STARTS, Effect::Exec),
    ("execSync", phrases::CODE_STARTS, Effect::Exec),
    ("system(", phrases::CODE_STARTS, Effect::Exec),
    ("popen", phrases::CODE_STARTS, Effect::Exec),
    ("socket", phrases::CODE_NETWORK, Effect::Network),
    ("urllib", phrases::CODE_NETWORK, Effect::Network),
    ("requests.", phrases::CODE_NETWORK, Effect::Network),
    ("fetch(", phrases::CODE_NETWORK, Effect::Network),
    ("/inet/", phrases::CODE_NETWORK, Effect::Network),
    ("http://", phrases::CODE_NETWORK, Effect::Network),
    ("https://", phrases::CODE_NETWORK, Effect::Network),
    ("socket", phrases::CODE_NETWORK, Effect::Send),
    ("/inet/", phrases::CODE_NETWORK, Effect::Send),
    ("smtplib", phrases::CODE_NETWORK, Effect::Send),
    ("requests.p", phrases::CODE_NETWORK, Effect::Send),
    (".post(", phrases::CODE_NETWORK, Effect::Send),
    ("'POST'", phrases::CODE_NETWORK, Effect::Send),
    ("\"POST\"", phrases::CODE_NETWORK, Effect::Send),
    ("environ", phrases::CODE_ENVIRONMENT, Effect::Secret),
    ("process.env", phrases::CODE_ENVIRONMENT, Effect::Secret),
    ("ENVIRON", phrases::CODE_ENVIRONMENT, Effect::Secret),
    ("%ENV", phrases::CODE_ENVIRONMENT, Effect::Secret),
];

/// `fd -x COMMAND`: the rest runs for each file.
pub fn fd_exec(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let exec = |token: &&ArgToken<'_>| {
        token.flag().is_some_and(|f| {
            matches!(f, "-x" | "-X")
                || (f.len() > 3 && ("--exec".starts_with(f) || "--exec-batch".starts_with(f)))
        })
    };
    let Some(token) = tokens.iter().find(exec) else { return };
    findings.by_language = true;
    match &token.part {
        ArgPart::Flag { value: Some(value), .. } => {
            call.judge_words(&[(*value).to_owned()], token.at, findings);
        }
        ArgPart::Flag { value: None, .. } | ArgPart::Operand(_) => {
            call.judge_inner(token.at + 1, findings)
        }
    }
}

/// `git rebase -x LINE`, `git difftool -x LINE`: the line goes to a shell.
pub fn git_exec(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    judge_values(call, tokens, "-x|--exec|--extcmd", findings);
}

/// `taskset MASK COMMAND`, `chrt PRIORITY COMMAND`: the command is the first word that is
/// not a number.
pub fn after_numbers(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let number = |text: &str| {
        text.bytes().all(|b| b.is_ascii_hexdigit() || matches!(b, b'x' | b',' | b'-' | b':'))
            && text.bytes().any(|b| b.is_ascii_digit())
    };
    let numbers =
        tokens.iter().filter_map(ArgToken::operand).take_while(|text| number(text)).count();
    judge_wrapped(call, tokens, numbers, findings);
}

/// `flock FILE COMMAND` and `flock FILE -c LINE`.
pub fn flock(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    match operands(tokens).nth(1) {
        Some((at, "-c" | "--command")) => {
            for (at, line) in call.args.iter().enumerate().skip(at + 1) {
                call.judge_line(line, at, findings);
            }
        }
        Some(_) | None => judge_wrapped(call, tokens, 1, findings),
    }
    dash_c(call, tokens, findings);
}

/// `npm exec -c LINE`.
pub fn npm(call: &ProgramCall<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    for (at, arg) in call.args.iter().enumerate() {
        if let Some(line) = arg.strip_prefix("--call=") {
            call.judge_line(line, at, findings);
        } else if let ("-c" | "--call", Some(line)) = (arg.as_str(), call.args.get(at + 1)) {
            call.judge_line(line, at + 1, findings);
        }
    }
}
