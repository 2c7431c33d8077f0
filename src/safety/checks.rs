//! What a flag table cannot say about a program: small languages (`find`, `sed`, `jq`),
//! operands that set instead of show, targets that are everything at once.
//!
//! Each function only adds findings; a text it does not understand is raised.

use crate::protocol::{Effect, Tier};
use crate::words::{Word, safety as words};

use super::args::{self, Part, Token};
use super::findings::{Findings, quoted};
use super::judge::Call;
use super::wrappers;

fn operands<'a>(tokens: &[Token<'a>]) -> impl Iterator<Item = (usize, &'a str)> {
    tokens.iter().filter_map(|token| token.operand().map(|text| (token.at, text)))
}

/// `find`: where to look, then an expression. Only tests, logic and printing are L0.
pub fn find(call: &Call<'_>, _: &[Token<'_>], findings: &mut Findings) {
    let mut at = find_places(call, findings);
    while let Some(word) = call.args.get(at).map(String::as_str) {
        let value = call.args.get(at + 1).map_or("", String::as_str);
        at += match word {
            _ if FIND_BARE.contains(&word) => 1,
            _ if FIND_WORD.contains(&word) => 2,
            _ if FIND_FILE.contains(&word) || is_newer(word) => {
                if !word.ends_with('t') {
                    call.reads(value, at + 1, findings);
                }
                2
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => find_exec(call, at, findings),
            "-delete" => {
                call.find("delete", Tier::L1, words::FIND_DELETES, at, DELETES, findings);
                1
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                let say = words::WRITES_A_FILE.with("arg", quoted(value));
                call.find("output", Tier::L1, say, at, &[Effect::Write], findings);
                call.writes(value, at + 1, findings);
                2 + usize::from(word == "-fprintf")
            }
            _ => {
                let say = words::OPTION_UNKNOWN.with("option", quoted(word));
                call.find("option", Tier::L1, say.with("program", "find"), at, &[], findings);
                1
            }
        };
    }
}

/// The starting points and the options before them; answers with where the expression
/// begins.
fn find_places(call: &Call<'_>, findings: &mut Findings) -> usize {
    for (at, word) in call.args.iter().enumerate() {
        match word.as_str() {
            "-H" | "-P" | "--" => {}
            "-L" => {
                call.find(
                    "follow",
                    Tier::L1,
                    words::FOLLOWS_LINKS.with("arg", "-L"),
                    at,
                    OUT,
                    findings,
                );
            }
            word if word.starts_with('-') && word.len() > 1
                || ["(", ")", "!", ","].contains(&word) =>
            {
                return at;
            }
            place => call.reads(place, at, findings),
        }
    }
    call.args.len()
}

fn find_exec(call: &Call<'_>, at: usize, findings: &mut Findings) -> usize {
    let rest = call.args.get(at + 1..).unwrap_or_default();
    let length = rest.iter().position(|word| word == ";").unwrap_or_else(|| {
        rest.windows(2).position(|w| w == ["{}", "+"]).map_or(rest.len(), |at| at + 1)
    });
    let say = words::RUNS_FOR_EACH.with("program", quoted(rest.first().map_or("", String::as_str)));
    call.find("exec", Tier::L1, say, at, &[Effect::Exec], findings);
    wrappers::section(call, at + 1, at + 1 + length, findings);
    length + 2
}

fn is_newer(word: &str) -> bool {
    word.strip_prefix("-newer").is_some_and(|xy| {
        let mut xy = xy.chars();
        let (x, y) = (xy.next(), xy.next());
        xy.next().is_none()
            && x.is_some_and(|x| "aBcm".contains(x))
            && y.is_some_and(|y| "aBcmt".contains(y))
    })
}

const DELETES: &[Effect] = &[Effect::Delete, Effect::Irreversible];
const OUT: &[Effect] = &[Effect::Outside];
const FIND_BARE: &[&str] = &[
    "(",
    ")",
    "!",
    ",",
    "-not",
    "-a",
    "-and",
    "-o",
    "-or",
    "-true",
    "-false",
    "-empty",
    "-readable",
    "-writable",
    "-executable",
    "-nouser",
    "-nogroup",
    "-prune",
    "-print",
    "-print0",
    "-ls",
    "-depth",
    "-d",
    "-mount",
    "-xdev",
    "-daystart",
    "-noleaf",
    "-quit",
    "-ignore_readdir_race",
    "-noignore_readdir_race",
    "-nowarn",
    "-warn",
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-E",
    "-X",
    "-x",
    "-s",
];
const FIND_WORD: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-type",
    "-xtype",
    "-size",
    "-mtime",
    "-ctime",
    "-atime",
    "-mmin",
    "-cmin",
    "-amin",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-perm",
    "-links",
    "-inum",
    "-maxdepth",
    "-mindepth",
    "-regextype",
    "-fstype",
    "-lname",
    "-ilname",
    "-used",
    "-context",
    "-printf",
    "-D",
];
const FIND_FILE: &[&str] = &["-newer", "-anewer", "-cnewer", "-samefile"];

/// `sed`: only printing, deleting and replacing on the way to standard output.
pub fn sed(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    let mut given = false;
    for token in tokens {
        if let Part::Flag { name, value: Some(value), .. } = &token.part
            && matches!(name.as_ref(), "-e" | "--expression")
        {
            given = true;
            sed_script(value, token.at, call, findings);
        }
    }
    let file = args::hit(tokens, "-f|--file").is_some();
    if let (false, Some((at, script))) = (given || file, operands(tokens).next()) {
        sed_script(script, at, call, findings);
    }
}

fn sed_script(script: &str, at: usize, call: &Call<'_>, findings: &mut Findings) {
    if !script.split([';', '\n']).all(|part| is_plain_sed(part.trim())) && !is_plain_sed(script) {
        call.find("script", Tier::L1, words::SED_SCRIPT, at, &[Effect::Write], findings);
    }
}

/// `ADDRESS[,ADDRESS][!]COMMAND`, where the command writes nothing and runs nothing.
fn is_plain_sed(part: &str) -> bool {
    let rest = sed_address(part);
    let rest = rest.strip_prefix(',').map_or(rest, |rest| sed_address(rest.trim_start()));
    let rest = rest.trim_start().trim_start_matches('!').trim_start();
    match rest.strip_prefix('s') {
        Some(body) => is_plain_substitution(body),
        None => {
            rest.is_empty() && part.is_empty()
                || ["p", "d", "q", "=", "l", "P", "D", "n", "N", "g", "G", "h", "H", "x"]
                    .contains(&rest)
        }
    }
}

fn sed_address(text: &str) -> &str {
    if let Some(body) = text.strip_prefix('/') {
        return delimited(body).map_or(text, |rest| rest.trim_start_matches('I'));
    }
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '~' | '+'));
    if rest.len() == text.len() { text.strip_prefix('$').unwrap_or(text) } else { rest }
}

fn is_plain_substitution(body: &str) -> bool {
    let flags = body.strip_prefix('/').and_then(delimited).and_then(delimited);
    flags.is_some_and(|flags| flags.chars().all(|c| "gpIi0123456789".contains(c)))
}

/// What follows the next `/` that no backslash protects.
fn delimited(text: &str) -> Option<&str> {
    let mut protected = false;
    for (at, c) in text.char_indices() {
        match c {
            '\n' => return None,
            _ if protected => protected = false,
            '\\' => protected = true,
            '/' => return text.get(at + 1..),
            _ => {}
        }
    }
    None
}

/// `jq`: a filter of known functions only; `env`, `input` and modules are not among
/// them.
pub fn jq(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    let file = args::hit(tokens, "-f|--from-file").is_some();
    if let (false, Some((at, filter))) = (file, operands(tokens).next())
        && !is_plain_jq(filter)
    {
        call.find("filter", Tier::L1, words::JQ_FILTER, at, &[Effect::Secret], findings);
    }
}

fn is_plain_jq(filter: &str) -> bool {
    let mut rest = filter;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let word_end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (word, tail) = rest.split_at_checked(word_end).unwrap_or((rest, ""));
        if c == '"' {
            let Some(tail) = jq_string(rest) else { return false };
            rest = tail;
        } else if c.is_ascii_alphabetic() || c == '_' {
            let key = tail.trim_start().starts_with(':') && !tail.starts_with("::");
            let variable =
                before == '$' && word.chars().next().is_some_and(|c| c.is_ascii_lowercase());
            let plain = before == '.' || key || variable || before == '@';
            if !plain && (before == '$' || !JQ_WORDS.contains(&word)) {
                return false;
            }
            rest = tail;
        } else if c.is_ascii_digit() {
            rest = tail;
        } else if !" \t\n.[]{}()|,:;?=<>!+-*/%$@".contains(c) || rest.starts_with("::") {
            return false;
        } else {
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
        before = c;
    }
    true
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// What follows a string without interpolation.
fn jq_string(text: &str) -> Option<&str> {
    let mut protected = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '(' if protected => return None,
            _ if protected => protected = false,
            '\\' => protected = true,
            '"' => return text.get(at + 1..),
            _ => {}
        }
    }
    None
}

const JQ_WORDS: &[&str] = &[
    "keys",
    "keys_unsorted",
    "length",
    "utf8bytelength",
    "map",
    "map_values",
    "select",
    "to_entries",
    "from_entries",
    "with_entries",
    "has",
    "in",
    "inside",
    "type",
    "sort",
    "sort_by",
    "group_by",
    "unique",
    "unique_by",
    "add",
    "any",
    "all",
    "first",
    "last",
    "nth",
    "join",
    "split",
    "test",
    "match",
    "capture",
    "scan",
    "sub",
    "gsub",
    "startswith",
    "endswith",
    "contains",
    "tostring",
    "tonumber",
    "not",
    "and",
    "or",
    "empty",
    "flatten",
    "reverse",
    "min",
    "max",
    "min_by",
    "max_by",
    "values",
    "nulls",
    "strings",
    "numbers",
    "objects",
    "arrays",
    "booleans",
    "iterables",
    "scalars",
    "index",
    "rindex",
    "indices",
    "range",
    "recurse",
    "paths",
    "leaf_paths",
    "del",
    "ascii_downcase",
    "ascii_upcase",
    "if",
    "then",
    "else",
    "elif",
    "end",
    "true",
    "false",
    "null",
    "as",
    "reduce",
    "foreach",
    "ltrimstr",
    "rtrimstr",
    "trim",
    "tojson",
    "fromjson",
    "limit",
    "floor",
    "ceil",
    "round",
    "sqrt",
    "abs",
    "error",
    "try",
    "catch",
    "ascii",
    "implode",
    "explode",
    "todate",
    "fromdate",
    "now",
    "transpose",
    "splits",
    "walk",
    "path",
    "isvalid",
    "infinite",
    "nan",
];

/// `date`: an operand that is no format sets the clock.
pub fn date(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    if let Some((at, _)) = operands(tokens).find(|(_, text)| !text.starts_with('+')) {
        call.find("set", Tier::L2, words::SETS_CLOCK, at, POWER, findings);
    }
}

/// `hostname NAME` gives the machine another name.
pub fn hostname(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    if let Some((at, _)) = operands(tokens).next() {
        call.find("set", Tier::L2, words::SETS_HOSTNAME, at, POWER, findings);
    }
}

const POWER: &[Effect] = &[Effect::Elevate, Effect::Irreversible];

/// `kill`: `-1` as a target is every process there is, `1` is the first of all.
pub fn kill(call: &Call<'_>, _: &[Token<'_>], findings: &mut Findings) {
    let everything = |(at, arg): &(usize, &String)| *at > 0 && *arg == "-1" || *arg == "1";
    if let Some((at, _)) = call.args.iter().enumerate().find(everything) {
        call.find("all", Tier::L2, words::KILLS_ALL, at, &[Effect::Irreversible], findings);
    }
}

/// `pkill`, `killall`: a pattern that fits every name.
pub fn kill_by_name(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    if let Some((at, _)) =
        operands(tokens).find(|(_, text)| ["", ".", ".*", "*", "^"].contains(text))
    {
        call.find("all", Tier::L2, words::KILLS_ALL, at, &[Effect::Irreversible], findings);
    }
}

/// `printenv NAME` for a name that tells nothing.
pub fn printenv(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    let names: Vec<_> = operands(tokens).collect();
    let harmless =
        ["HOME", "USER", "SHELL", "LANG", "PWD", "TERM", "TZ", "EDITOR", "PATH", "LOGNAME"];
    if names.is_empty() || names.iter().any(|(_, name)| !harmless.contains(name)) {
        call.find("print", Tier::L1, words::PRINTS_ENVIRONMENT, 0, &[Effect::Secret], findings);
    }
}

/// `ps e`: the environment of processes, BSD options included.
pub fn ps(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    let harmless =
        ["aux", "a", "x", "ax", "au", "ux", "auxww", "axww", "l", "axl", "j", "f", "auxf", "axf"];
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b',');
    let odd = |(_, text): &(usize, &str)| !number(text) && !harmless.contains(text);
    if let Some((at, _)) = operands(tokens).find(odd) {
        call.find("print", Tier::L1, words::PRINTS_ENVIRONMENT, at, &[Effect::Secret], findings);
    }
}

/// Reads some formats of `git`: `%G?` and `%(signature)` start the program that checks
/// signatures.
pub fn git_format(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    for token in tokens {
        if let Part::Flag { name, value: Some(value), .. } = &token.part
            && matches!(name.as_ref(), "--format" | "--pretty" | "--sort")
            && (value.contains("%G") || value.contains("signature") || value.contains("trust"))
        {
            call.find(
                "signature",
                Tier::L1,
                words::GIT_SIGNATURE,
                token.at,
                &[Effect::Exec],
                findings,
            );
        }
    }
}

/// `git branch NAME` makes one; with a list option the name is a pattern.
pub fn git_branch(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    git_list(call, tokens, words::GIT_MAKES_BRANCH, findings);
}

/// `git tag NAME` makes one; with a list option the name is a pattern.
pub fn git_tag(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    git_list(call, tokens, words::GIT_MAKES_TAG, findings);
}

fn git_list(call: &Call<'_>, tokens: &[Token<'_>], why: Word, findings: &mut Findings) {
    git_format(call, tokens, findings);
    let list = "-l|--list|--contains|--no-contains|--merged|--no-merged|--points-at";
    let lists =
        tokens.iter().any(|token| token.flag().is_some_and(|f| list.split('|').any(|l| l == f)));
    if let (false, Some((at, name))) = (lists, operands(tokens).next()) {
        let say = why.with("name", quoted(name));
        call.find("create", Tier::L1, say, at, &[Effect::Write], findings);
    }
}

/// `git symbolic-ref HEAD x` moves it.
pub fn git_symbolic_ref(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    if let Some((at, _)) = operands(tokens).nth(1) {
        call.find(
            "set",
            Tier::L1,
            words::GIT_WRITES.with("program", "git symbolic-ref"),
            at,
            &[Effect::Write],
            findings,
        );
    }
}

/// `git reflog` shows; `expire` and `delete` throw away the way back.
pub fn git_reflog(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    git_format(call, tokens, findings);
    let first = tokens.iter().find_map(|token| token.operand().map(|text| (token.at, text)));
    if let Some((at, "expire" | "delete" | "drop" | "write")) = first {
        call.find("expire", Tier::L2, words::GIT_DISCARDS, at, DELETES, findings);
    }
}

/// `git bisect run COMMAND`.
pub fn git_bisect(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    if let Some((at, "run")) = operands(tokens).next() {
        call.inner(at + 1, findings);
    }
}

/// For rows of which only the quiet forms are harmless.
pub fn needs_quiet(call: &Call<'_>, _: &[Token<'_>], findings: &mut Findings) {
    let say = words::OPERAND_UNKNOWN.with("program", call.name.to_owned());
    let say = say.with("arg", quoted(&call.args.join(" ")));
    call.find("operand", Tier::L1, say, 0, &[Effect::Exec], findings);
}

/// `git checkout -- .` throws away everything that was not committed.
pub fn git_discard(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    let unstages =
        args::hit(tokens, "-S|--staged").is_some() && args::hit(tokens, "-W|--worktree").is_none();
    let everything = operands(tokens).find(|(_, text)| {
        let text = text.strip_suffix('/').unwrap_or(text);
        [".", ":", ":/", "*", "..", ":/."].contains(&text)
            || text.starts_with(":(top)")
            || text.starts_with(":(exclude")
            || text.starts_with(":!")
    });
    if let (false, Some((at, _))) = (unstages, everything) {
        call.find("all", Tier::L2, words::GIT_DISCARDS_ALL, at, DELETES, findings);
    }
}

/// `+ref` forces and `:ref` deletes.
pub fn git_push(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    for (at, text) in operands(tokens) {
        let (suffix, why) = match text.chars().next() {
            Some('+') => ("force", words::GIT_FORCES),
            Some(':') if text.len() > 1 => ("delete", words::GIT_DELETES_REMOTE),
            _ => continue,
        };
        let say = why.with("arg", quoted(text));
        call.find(suffix, Tier::L2, say, at, &[Effect::Network, Effect::Irreversible], findings);
    }
}

/// `docker run` with the machine's own insides handed over.
pub fn docker(call: &Call<'_>, _: &[Token<'_>], findings: &mut Findings) {
    for (at, arg) in call.args.iter().enumerate() {
        let root = arg.starts_with("/:")
            || arg.contains("=/:")
            || arg.contains("src=/,")
            || arg.contains("source=/,");
        let host = [
            "--privileged",
            "--pid=host",
            "--net=host",
            "--network=host",
            "--ipc=host",
            "--userns=host",
        ];
        if root
            || arg.contains("docker.sock")
            || arg.starts_with("--device")
            || host.contains(&arg.as_str())
            || arg.starts_with("--cap-add")
        {
            call.find(
                "host",
                Tier::L2,
                words::CONTAINER_HOST.with("arg", quoted(arg)),
                at,
                POWER,
                findings,
            );
        }
    }
}

/// A target of a write that is the root, the home folder or the whole workspace.
pub fn removes(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    let recursive = args::hit(tokens, "-r|-R|--recursive").is_some();
    for (at, text) in operands(tokens) {
        let text = if text == "/" { text } else { text.trim_end_matches(['/', '*', '.']) };
        if recursive
            && ["/", "", "~", "$HOME", "${HOME}", "/home", "/usr", "/etc", "/var"].contains(&text)
        {
            call.find("root", Tier::L2, words::REMOVES_ROOT, at, DELETES, findings);
        }
    }
}

/// `ln`: a link that leads out of the workspace is a way out for everything after it.
pub fn links(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    for (at, text) in operands(tokens) {
        call.reads(text, at, findings);
    }
}

/// Words that stop the machine, for the programs that manage it.
pub fn power(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    let words = [
        "poweroff",
        "reboot",
        "halt",
        "kexec",
        "suspend",
        "hibernate",
        "hybrid-sleep",
        "emergency",
        "suspend-then-hibernate",
        "rescue",
        "default",
        "isolate",
        "exit",
        "soft-reboot",
        "switch-root",
    ];
    if let Some((at, _)) = operands(tokens).find(|(_, text)| words.contains(text)) {
        call.find("power", Tier::L2, words::POWER, at, POWER, findings);
    }
}

/// `timedatectl set-time`, `sysctl a=b`.
pub fn sets(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    let set = |(_, text): &(usize, &str)| {
        text.starts_with("set-") || (call.name == "sysctl" && text.contains('='))
    };
    if let Some((at, _)) = operands(tokens).find(set) {
        call.find("set", Tier::L2, words::CHANGES_SYSTEM, at, POWER, findings);
    }
}

/// `diskutil` verbs that lose what was on a disk.
pub fn disk(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    let verbs = [
        "erase",
        "partition",
        "secureerase",
        "reformat",
        "zero",
        "random",
        "apfs",
        "merge",
        "split",
        "resize",
        "unmount",
        "eject",
    ];
    if let Some((at, _)) = operands(tokens).next().filter(|(_, text)| {
        let text = text.to_ascii_lowercase();
        verbs.iter().any(|verb| text.starts_with(verb))
    }) {
        call.find("erase", Tier::L2, words::DISK, at, DELETES, findings);
    }
}

/// Sub-commands of cloud tools that take things down, or change them without asking.
pub fn destroys(call: &Call<'_>, _: &[Token<'_>], findings: &mut Findings) {
    let verbs = [
        "destroy",
        "delete",
        "rm",
        "rb",
        "remove",
        "uninstall",
        "drain",
        "purge",
        "down",
        "teardown",
        "terminate-instances",
        "--delete",
        "nuke",
        "undeploy",
        "deregister",
    ];
    let unasked = ["-auto-approve", "--auto-approve", "--force", "-force", "--destroy", "-destroy"];
    let grave = |arg: &String| {
        verbs.contains(&arg.as_str())
            || unasked.iter().any(|u| arg.starts_with(u))
            || arg.starts_with("delete-")
    };
    if let Some(at) = call.args.iter().position(grave) {
        call.find(
            "destroy",
            Tier::L2,
            words::CLOUD_DESTROYS,
            at,
            &[Effect::Network, Effect::Irreversible],
            findings,
        );
    }
}

/// `docker volume rm`, `docker system prune`.
pub fn prune(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    let volume = call.id.ends_with(".volume");
    let grave = |text: &str| text == "prune" || (volume && matches!(text, "rm" | "remove"));
    if let Some((at, _)) = operands(tokens).find(|(_, text)| grave(text)) {
        call.find("prune", Tier::L2, words::CLOUD_DESTROYS, at, DELETES, findings);
    }
}

/// `gh repo delete`, `gh auth token`.
pub fn forge(call: &Call<'_>, _: &[Token<'_>], findings: &mut Findings) {
    let at = |word: &str| call.args.iter().position(|arg| arg == word);
    if let Some(at) = at("delete").or_else(|| at("DELETE")).or_else(|| at("-XDELETE")) {
        call.find(
            "delete",
            Tier::L2,
            words::CLOUD_DESTROYS,
            at,
            &[Effect::Network, Effect::Irreversible],
            findings,
        );
    }
    if let Some(at) = at("token").or_else(|| at("--show-token")) {
        call.find("token", Tier::L1, words::SHOWS_SECRETS, at, &[Effect::Secret], findings);
    }
}

/// `sort -o`-like options that write to their value.
pub fn output(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    for token in tokens {
        if let Part::Flag { name, value: Some(value), .. } = &token.part
            && matches!(
                name.as_ref(),
                "-o" | "--output"
                    | "-O"
                    | "--output-document"
                    | "-t"
                    | "--target-directory"
                    | "-C"
                    | "--directory"
                    | "-d"
                    | "-P"
                    | "--directory-prefix"
                    | "-D"
                    | "--output-dir"
            )
        {
            call.writes(value, token.at, findings);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sed_scripts_that_only_print_are_told_from_those_that_write() {
        for good in [
            "1,40p",
            "5p",
            "$p",
            "/foo/p",
            "/a\\/b/,/c/p",
            "s/a/b/",
            "s/a/b/gI",
            "1,3d;5q",
            "2,$p",
            "10q",
            "1~2p",
            "/x/!d",
            "=",
        ] {
            assert!(good.split(';').all(is_plain_sed), "{good}");
        }
        for bad in [
            "w out",
            "s/a/b/w out",
            "s/a/b/e",
            "1e id",
            "e id",
            "r /etc/passwd",
            "1!w x",
            "s|a|b|w x",
            "/x/w out",
            "s/a/b/;w x",
            "p}",
            "{p",
            "1,3{w x",
            "R f",
            "W f",
            "y/a/b/",
        ] {
            assert!(!bad.split(';').all(is_plain_sed), "{bad}");
        }
    }

    #[test]
    fn jq_filters_that_reach_the_environment_are_raised() {
        for good in [
            ".",
            ".a.b[0]",
            ".scripts | keys",
            "map(.x) | length",
            ".[] | select(.name == \"env\")",
            "{a: .b, c: 1}",
            ".env",
            ".a as $x | $x",
            "to_entries[] | .key",
            "[.[] | .\"a b\"]",
        ] {
            assert!(is_plain_jq(good), "{good}");
        }
        for bad in [
            "env",
            "$ENV",
            "$ENV.PATH",
            "env.PATH",
            "\"\\(env)\"",
            "input",
            "inputs",
            "import \"a\" as a; .",
            "include \"x\"; .",
            "m::f",
            ". # x",
            "$__prog_args",
            "getpath([\"a\"])",
            "halt",
            "input_filename",
            "{a: env}",
            "`",
        ] {
            assert!(!is_plain_jq(bad), "{bad}");
        }
    }

    #[test]
    fn newer_takes_only_its_known_letters() {
        assert!(is_newer("-newermt") && is_newer("-neweraB"));
        assert!(!is_newer("-newer") && !is_newer("-newerxx") && !is_newer("-newermtt"));
    }
}
