//! Checks what the harmless forms of a program must not contain. Each function only adds
//! findings.

use std::path::PathBuf;

use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect;

use super::super::findings::Findings;
use super::super::spec::{ArgPosition, ArgToken, ProgramCall, flag_values, operands};
use super::super::{PathKind, args, sensitive};
use super::find::exec_read_findings;
use super::{jq, recursive};

/// Raises the call because of the argument at `at`.
fn raise_at(call: &ProgramCall<'_>, at: usize, findings: &mut Findings) {
    let text = call.args.get(at).map_or("", String::as_str);
    call.ask_operand(text, at, &[Effect::Exec], findings);
}

fn raise_where(
    call: &ProgramCall<'_>,
    tokens: &[ArgToken<'_>],
    findings: &mut Findings,
    is_odd: impl Fn(&str) -> bool,
) {
    if let Some((at, _)) = operands(tokens).find(|(_, text)| is_odd(text)) {
        raise_at(call, at, findings);
    }
}

/// Words that cannot be a file: `ls`, `git-log`, `3p`.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+:".contains(c))
}

pub fn names_only(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    raise_where(call, tokens, findings, |text| !is_name(text));
}

/// The second file is the one it writes: its own output.
pub fn to_output(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let second = operands(tokens).nth(1).map(|(_, text)| text);
    if second != Some("-") {
        raise_at(call, 0, findings);
    }
}

/// `terraform fmt`, `ruff format` write without it.
pub fn checks_format(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    if args::find_flag(tokens, "-check|--check|--diff").is_none() {
        raise_at(call, 0, findings);
    }
}

/// Nothing in front of the sub-command, where another folder or setting could be named.
pub fn right_after(call: &ProgramCall<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    if call.seat != ArgPosition::From(1) {
        raise_at(call, 0, findings);
    }
}

pub fn numbers_only(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let number = |text: &str| text.len() < 7 && text.bytes().all(|byte| byte.is_ascii_digit());
    raise_where(call, tokens, findings, |text| !number(text));
}

/// `git help NAME`.
pub fn git_help(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    right_after(call, tokens, findings);
    names_only(call, tokens, findings);
}

/// `git remote show -n NAME`: only `-n` keeps it from asking the other machine.
pub fn without_query(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    if args::find_flag(tokens, "-n").is_none() {
        raise_at(call, 0, findings);
    }
    names_only(call, tokens, findings);
}

/// `git diff --no-index A B`: in a folder it would read every file.
pub fn git_no_index(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let kind = |text: &str| call.context.policy_cx.world.kind(&call.context.cwd.join(text));
    raise_where(call, tokens, findings, |text| kind(text) == PathKind::Folder);
}

/// `@FILE` among the operands holds more of them.
pub fn no_list_file(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    raise_where(call, tokens, findings, |text| text.starts_with(['@', '!']));
}

/// `ephemeral:FILE` is removed after it was read, and `msl:FILE` is a script.
pub fn no_coder(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    raise_where(call, tokens, findings, |text| text.starts_with('@') || text.contains(':'));
}

/// `less +COMMAND`.
pub fn no_pager_command(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    raise_where(call, tokens, findings, |text| text.starts_with('+'));
}

/// `bat cache --build`, and a pager although a step has no terminal.
pub fn bat(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    raise_where(call, tokens, findings, |text| text == "cache");
    if let Some((at, _)) =
        flag_values(tokens, "--paging").find(|(_, when)| !["never", "auto"].contains(when))
    {
        raise_at(call, at, findings);
    }
}

/// Names of units: `x.service`, `getty@tty1.service`, `docker*`.
pub fn units(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    raise_where(call, tokens, findings, |text| !is_name(&text.replace(['@', '*'], "x")));
}

/// The environment of a unit may hold secrets.
pub fn unit_properties(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    units(call, tokens, findings);
    let mut named = flag_values(tokens, "-p|--property").peekable();
    if named.peek().is_none() {
        return raise_at(call, 0, findings);
    }
    if let Some((at, _)) = named.find(|(_, name)| name.to_ascii_lowercase().contains("env")) {
        raise_at(call, at, findings);
    }
}

/// `ip addr`, `ip route show dev eth0`. Every other word is a command, and may be shortened.
pub fn ip_shows(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:/".contains(c));
    let shows = operands(tokens).next().is_none_or(|(_, word)| ["show", "list"].contains(&word));
    match operands(tokens).find(|(_, text)| !plain(text)) {
        Some((at, _)) => raise_at(call, at, findings),
        None if !shows => raise_at(call, 0, findings),
        None => {}
    }
}

/// `sysctl kernel.hostname`; with `=` it would be set.
pub fn kernel_names(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    raise_where(call, tokens, findings, |text| !is_name(text) || text.contains([':', '+']));
}

/// Up to a minute, as a step of its own.
pub fn short_time(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let seconds = |text: &str| text.strip_suffix('s').unwrap_or(text).parse::<f64>().ok();
    let is_digits = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let short = |text: &str| is_digits(text) && seconds(text).is_some_and(|time| time <= 60.0);
    match operands(tokens).collect::<Vec<_>>().as_slice() {
        [(_, text)] if short(text) => {}
        _ => raise_at(call, 0, findings),
    }
}

/// Names of files that no script can take for something else.
pub fn plain_files(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let plain = |c: char| c.is_alphanumeric() || "_-./+@".contains(c);
    let mut files = operands(tokens).skip(1);
    if let Some((at, _)) = files.find(|(_, text)| !text.chars().all(plain)) {
        raise_at(call, at, findings);
    }
}

/// Firewalls: what does not just list their rules changes what gets into the machine.
pub fn firewall(call: &ProgramCall<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    if !lists_rules(call.name, call.args) {
        let say = phrases::FIREWALL.with("program", call.name.to_owned());
        call.refuse("set", say, 0, &[Effect::Elevate, Effect::Irreversible], findings);
    }
}

fn lists_rules(name: &str, args: &[String]) -> bool {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let any = |known: &[&str]| args.iter().any(|arg| known.contains(arg));
    match name {
        "ufw" => {
            matches!(args.as_slice(), ["status" | "version"] | ["status", "verbose" | "numbered"])
        }
        "nft" => {
            matches!(args.as_slice(), ["list", kinds @ ..] if kinds.iter().all(|word| is_name(word)))
        }
        "firewall-cmd" => {
            let reads = |arg: &&str| {
                FIREWALL_READS.iter().any(|start| arg.starts_with(start))
                    && !arg.contains("lockdown")
            };
            !args.is_empty() && args.iter().all(|arg| arg.starts_with("--zone=") || reads(arg))
        }
        _ => {
            let chain = |arg: &&str| is_name(arg);
            any(TABLE_LISTS) && args.iter().all(|arg| TABLE_READS.contains(arg) || chain(arg))
        }
    }
}

const FIREWALL_READS: &[&str] =
    &["--list-", "--get-active-", "--get-default-zone", "--get-zones", "--state"];
const TABLE_LISTS: &[&str] = &["-L", "-S", "-nL", "-vL", "-nvL", "-vnL", "--list", "--list-rules"];
const TABLE_READS: &[&str] = &[
    "-L",
    "-S",
    "-nL",
    "-vL",
    "-nvL",
    "-vnL",
    "--list",
    "--list-rules",
    "-n",
    "-v",
    "-x",
    "-t",
    "--table",
    "--numeric",
    "--verbose",
    "--exact",
    "--line-numbers",
];

/// `lsof +r` never ends, `+m` writes a file.
pub fn lsof(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let known = ["+D", "+d", "+c", "+w", "+L"];
    raise_where(call, tokens, findings, |text| {
        text.starts_with('+') && !known.iter().any(|known| text.starts_with(known))
            || names_machine(text)
    });
    // A value that begins like an option is one: `-i-D`.
    let odd = |text: &str| names_machine(text) || text.starts_with(['-', '+']);
    if let Some((at, _)) = flag_values(tokens, "-i|-s|-p|-c|-u").find(|(_, text)| odd(text)) {
        raise_at(call, at, findings);
    }
}

/// `-i TCP@host:80`: the name of another machine is looked up over the network.
fn names_machine(text: &str) -> bool {
    text.split_once('@').is_some_and(|(_, address)| {
        !address.chars().all(|c| c.is_ascii_digit() || ".:,-[]".contains(c))
    })
}

pub fn lsof_files(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    lsof(call, tokens, findings);
    if operands(tokens).next().is_none() {
        raise_at(call, 0, findings);
    }
}

/// `fd PATTERN -x COMMAND`: the command only reads the found files, and neither links nor
/// files of credentials are among them.
pub fn fd_reads(call: &ProgramCall<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    let hands_on = |arg: &String| FD_EXEC.contains(&arg.as_str());
    let Some(at) = call.args.iter().position(hands_on) else { return raise_at(call, 0, findings) };
    let end = call.args.iter().skip(at).position(|arg| arg == ";").map(|end| at + end);
    let words = call.args.get(at + 1..end.unwrap_or(call.args.len())).unwrap_or_default();
    let ends = end.is_none_or(|end| end + 1 == call.args.len());
    let plain = words.iter().all(|word| word == "{}" || !word.contains('{'));
    let each = FD_EACH.contains(&call.args.get(at).map_or("", String::as_str));
    let (Some(spec), true) = (call.context.row("fd"), ends && plain) else {
        return raise_at(call, at, findings);
    };
    // Where no place is given for the matches, they go at the end.
    let mut filled = words.to_vec();
    if !filled.iter().any(|word| word == "{}") {
        filled.push("{}".to_owned());
    }
    let Some(inner) = exec_read_findings(call, at + 1, &filled, each) else {
        return raise_at(call, at, findings);
    };
    let before = call.args.get(..at).unwrap_or_default();
    let tokens = args::parse(before, spec);
    let folders = flag_values(&tokens, "--search-path|-C|--base-directory");
    recursive::check_start_folders(call, operands(&tokens).skip(1).chain(folders), findings);
    // Each kind adds to the others, and a link that is found would be followed.
    let linked = tokens.iter().any(|token| {
        let kind = token.value_of("-t|--type");
        matches!(token.flag(), Some("-t" | "--type"))
            && kind.is_none_or(|kind| !FD_KINDS.contains(&kind))
    });
    if linked {
        return raise_at(call, at, findings);
    }
    (call.context.judges.judge_row)(spec, &ProgramCall { args: before, ..call.clone() }, findings);
    // An argument that begins with `/` is never an option.
    ["--type=file", "--absolute-path"].iter().for_each(|word| call.insert(0, word, findings));
    let folders = sensitive::excluded_folders().map(str::to_owned);
    for glob in sensitive::sensitive_globs().chain(folders) {
        call.insert(0, &format!("--exclude={}", sensitive::case_insensitive_glob(&glob)), findings);
    }
    findings.merge(&inner);
}

const FD_KINDS: &[&str] = &["f", "file", "d", "directory", "e", "empty", "x", "executable"];
const FD_EACH: &[&str] = &["-x", "--exec"];
const FD_EXEC: &[&str] = &["-x", "--exec", "-X", "--exec-batch"];

/// `journalctl -o json`: every field of an entry, the arguments of programs among them.
pub fn journalctl(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let told = |token: &&ArgToken<'_>| {
        let format = token.value_of("-o|--output").unwrap_or_default();
        let field = token.value_of("-F|--field|--output-fields").unwrap_or_default();
        JOURNAL_FIELDS.iter().any(|kind| format.starts_with(kind))
            || field.to_ascii_uppercase().contains("CMDLINE")
    };
    if let Some(token) = tokens.iter().find(told) {
        call.ask("print", phrases::PRINTS_ARGUMENTS, token.at, &[Effect::Secret], findings);
    }
    findings.launch.readable.extend(JOURNALS.iter().map(PathBuf::from));
    // `-n 50`: the number may be a word of its own.
    let number = |text: &str| text == "all" || text.bytes().all(|byte| byte.is_ascii_digit());
    raise_where(call, tokens, findings, |text| !number(text));
}

const JOURNALS: &[&str] = &["/var/log/journal", "/run/log/journal"];
const JOURNAL_FIELDS: &[&str] = &["json", "export", "verbose"];

/// `git range-diff`: files of credentials are left out of the comparison.
pub fn git_range_diff(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    if args::find_flag(tokens, "-s|--no-patch").is_none() {
        super::pathspec::exclude_credentials(call, findings);
    }
}

/// `openssl req` without a request would make one, and an address is asked for over the
/// network.
pub fn openssl_input(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let input = flag_values(tokens, "-in").next();
    if input.is_none_or(|(_, text)| text.contains(':')) {
        raise_at(call, input.map_or(0, |(at, _)| at), findings);
    }
}

/// `yq FILTER FILE`, `yq FILE`, `yq eval FILTER FILE`: of two programs of this name. What one
/// takes for a format or a file the other takes for its filter.
pub fn yq(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let formats = flag_values(tokens, "-o|--output-format|-p|--input-format");
    let odd = formats.filter(|(_, text)| !YQ_FORMATS.contains(&text.trim_start_matches('=')));
    let indents = flag_values(tokens, "-I|--indent");
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '=');
    let wide = indents.filter(|(_, text)| !is_number(text));
    if let Some((at, _)) = odd.chain(wide).next() {
        raise_at(call, at, findings);
    }
    let mut words = operands(tokens).skip_while(|(_, text)| ["eval", "e"].contains(text));
    match words.next() {
        Some((_, text)) if jq::is_plain_jq(text) || is_data_file(text) => {}
        Some((at, _)) => raise_at(call, at, findings),
        None => raise_at(call, 0, findings),
    }
}

/// `config.yml`: the name of a file, which as a filter would tell nothing.
fn is_data_file(text: &str) -> bool {
    let is_data = text.rsplit_once('.').is_some_and(|(_, end)| YQ_FORMATS.contains(&end));
    let mut words = text.split(['.', '-', '/']);
    is_data
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
        && words.all(|word| word != "env")
}

const YQ_FORMATS: &[&str] =
    &["json", "j", "yaml", "y", "yml", "toml", "xml", "x", "props", "csv", "tsv", "auto"];

/// `ar t ARCHIVE [MEMBER…]`.
pub fn ar_lists(call: &ProgramCall<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    let (mode, rest) = call.args.split_first().map_or(("", &[][..]), |(m, rest)| (m, rest));
    let mode = mode.strip_prefix('-').unwrap_or(mode);
    let lists = mode.starts_with('t') && mode.bytes().all(|byte| b"tvO".contains(&byte));
    let plain = rest.iter().all(|arg| !arg.starts_with(['-', '@']));
    match rest.first().filter(|_| lists && plain) {
        Some(archive) => call.check_read(archive, 1, findings),
        None => raise_at(call, 0, findings),
    }
}

/// `tar tf ARCHIVE`, in its old and its new spelling. A `:` in the name of the archive
/// would name another machine, and a program to reach it.
pub fn tar_lists(call: &ProgramCall<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    let mut listing = Listing::default();
    let mut at = 0;
    while let Some(arg) = call.args.get(at) {
        let next = call.args.get(at + 1).map(|next| (at + 1, next.as_str()));
        let took = match arg.as_str() {
            text if at == 0 && !text.starts_with('-') => listing.letters(text, next, true),
            text if text.starts_with("--") => listing.long(at, text, next),
            text if text.len() > 1 && text.starts_with('-') => {
                listing.letters(text.get(1..).unwrap_or_default(), next, false)
            }
            _ => Some(1),
        };
        let Some(took) = took else { return raise_at(call, at, findings) };
        at += took;
    }
    match listing {
        Listing { is_listing: true, archive: Some((at, archive)), .. }
            if !archive.contains(':') =>
        {
            call.check_read(archive, at, findings);
        }
        _ => raise_at(call, 0, findings),
    }
}

#[derive(Default)]
struct Listing<'a> {
    is_listing: bool,
    archive: Option<(usize, &'a str)>,
}

impl<'a> Listing<'a> {
    /// How many arguments were read; `None`: it is not understood.
    fn letters(
        &mut self,
        letters: &'a str,
        next: Option<(usize, &'a str)>,
        old: bool,
    ) -> Option<usize> {
        for (index, letter) in letters.char_indices() {
            match letter {
                't' => self.is_listing = true,
                'v' | 'z' | 'j' | 'J' | 'a' => {}
                'f' => {
                    let rest = letters.get(index + 1..)?;
                    // In the old spelling the name comes after all letters.
                    let letters = old && rest.chars().all(|c| "tvzjJa".contains(c));
                    if !rest.is_empty() && !letters {
                        return None;
                    }
                    self.is_listing |= old && rest.contains('t');
                    self.set_archive(next?)?;
                    return Some(2);
                }
                _ => return None,
            }
        }
        Some(1)
    }

    fn long(&mut self, at: usize, text: &'a str, next: Option<(usize, &'a str)>) -> Option<usize> {
        match text.split_once('=') {
            Some(("--file", file)) => self.set_archive((at, file)).map(|()| 1),
            Some(_) => None,
            None if text == "--file" => self.set_archive(next?).map(|()| 2),
            None if text == "--list" => {
                self.is_listing = true;
                Some(1)
            }
            None => LISTS.contains(&text).then_some(1),
        }
    }

    fn set_archive(&mut self, file: (usize, &'a str)) -> Option<()> {
        self.archive.is_none().then(|| self.archive = Some(file))
    }
}

#[rustfmt::skip]
const LISTS: &[&str] = &[
    "--verbose", "--gzip", "--gunzip", "--bzip2", "--xz", "--zstd", "--lzma", "--auto-compress",
    "--utc", "--full-time", "--numeric-owner", "--wildcards", "--no-wildcards", "--ignore-case",
];

/// Settings whose values are secrets: they are asked for one by one.
pub fn git_setting(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let secret = |text: &str| {
        let text = text.to_ascii_lowercase();
        SECRET_SETTINGS.iter().any(|part| text.contains(part))
    };
    raise_where(call, tokens, findings, secret);
}

/// `git config NAME` reads; a second word would be its new value.
pub fn git_one_setting(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    git_setting(call, tokens, findings);
    let words: Vec<(usize, &str)> = operands(tokens).collect();
    match words.as_slice() {
        [(_, name)] if name.contains('.') && is_name(name) => {}
        _ => raise_at(call, 0, findings),
    }
}

const SECRET_SETTINGS: &[&str] =
    &["token", "pass", "secret", "extraheader", "credential", "cookie", "auth", "key"];
