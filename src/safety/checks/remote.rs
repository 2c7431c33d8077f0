//! Words that take things down on other machines and in containers, and words that send there.

use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect;

use super::super::findings::{DELETES, Findings, POWER, REMOTE, excerpt};
use super::super::places::is_named;
use super::super::spec::{ArgToken, ProgramCall, operands};

/// `docker run` with the machine's own insides handed over.
pub fn docker(call: &ProgramCall<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    for (at, arg) in call.args.iter().enumerate() {
        let root = arg.starts_with("/:")
            || arg.contains("=/:")
            || arg.contains("src=/,")
            || arg.contains("source=/,");
        #[rustfmt::skip]
        let host = [
            "--privileged", "--pid=host", "--net=host", "--network=host", "--ipc=host",
            "--userns=host",
        ];
        if root
            || arg.contains("docker.sock")
            || arg.starts_with("--device")
            || host.contains(&arg.as_str())
            || arg.starts_with("--cap-add")
        {
            call.refuse(
                "host",
                phrases::CONTAINER_HOST.with("arg", excerpt(arg)),
                at,
                POWER,
                findings,
            );
        }
    }
}

/// Sub-commands of cloud tools that take things down, or change them without asking.
pub fn destroys(call: &ProgramCall<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    #[rustfmt::skip]
    let verbs = [
        "destroy", "delete", "rm", "rb", "remove", "uninstall", "drain", "purge", "down",
        "teardown", "terminate-instances", "--delete", "nuke", "undeploy", "deregister",
    ];
    let unasked = ["-auto-approve", "--auto-approve", "--force", "-force", "--destroy", "-destroy"];
    let grave = |arg: &String| {
        verbs.contains(&arg.as_str())
            || unasked.iter().any(|u| arg.starts_with(u))
            || arg.starts_with("delete-")
    };
    if let Some(at) = call.args.iter().position(grave) {
        call.refuse("destroy", phrases::CLOUD_DESTROYS, at, REMOTE, findings);
    }
}

/// `docker volume rm`, `docker system prune`.
pub fn prune(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let volume = call.id.ends_with(".volume");
    let grave = |text: &str| text == "prune" || (volume && matches!(text, "rm" | "remove"));
    if let Some((at, _)) = operands(tokens).find(|(_, text)| grave(text)) {
        call.refuse("prune", phrases::CLOUD_DESTROYS, at, DELETES, findings);
    }
}

/// `gh repo delete`, `gh auth token`.
pub fn forge(call: &ProgramCall<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    let at = |word: &str| call.args.iter().position(|arg| arg == word);
    if let Some(at) = at("delete").or_else(|| at("DELETE")).or_else(|| at("-XDELETE")) {
        call.refuse("delete", phrases::CLOUD_DESTROYS, at, REMOTE, findings);
    }
    if let Some(at) = at("token").or_else(|| at("--show-token")) {
        call.ask("token", phrases::SHOWS_SECRETS, at, &[Effect::Secret], findings);
    }
}

/// Sub-commands and words by which a program sends, where its row alone does not say so. Without
/// words it always does; `*` is every program that may use the network or runs code of the project.
#[rustfmt::skip]
const SENDING: &[(&str, &str)] = &[
    ("psql mysql mariadb mongosh redis-cli", ""),
    ("gh glab hub tea fj", "create new edit close reopen merge comment note review upload ready lock unlock pin unpin transfer fork rename archive sync set run rerun \
                            cancel enable disable delete add remove approve revoke import publish update field raw-field input f F"),
    ("svn", "commit ci import"),
    ("npm pnpm yarn cnpm", "dist-tag star unstar team hook org"),
    ("git.svn git.p4 git.lfs git.annex git.subtree", "dcommit submit push copy move sync"),
    ("*", "publish push deploy release upload"),
];
/// Words that say of a call that it only fetches: `gh run list`.
const READING: &str = "list ls view status diff checks search download watch";
/// Methods that send a body, and are meant to change what is there.
const METHODS: &[&str] = &["POST", "PUT", "PATCH", "DELETE"];

/// Whether a call sends something to another machine.
pub fn sends(call: &ProgramCall<'_>, effects: &[Effect]) -> bool {
    let uses_network = effects.contains(&Effect::Network);
    let runs = effects.contains(&Effect::Exec);

    let program = call.id.split('.').next().unwrap_or_default();
    if !uses_network && !runs {
        return false;
    }
    let has_method = |arg: &String| {
        let before = METHODS.iter().find_map(|method| arg.strip_suffix(method));
        before.is_some_and(|before| before.is_empty() || before.ends_with(['X', '=']))
    };
    // The first words: what comes later is of the program that is run.
    let words = || {
        let first = call.args.iter().take(4).map(|arg| arg.trim_start_matches('-'));
        first.filter_map(|arg| arg.split([':', '.', '-', '_', '=']).next().map(|word| (arg, word)))
    };
    let is_sending = |(programs, listed): &(&str, &str)| {
        let applies = match *programs {
            "*" => program != "git",
            programs => is_named(programs, program) || is_named(programs, &call.id),
        };
        let is_listed = |(arg, word)| is_named(listed, arg) || is_named(listed, word);
        let reads = words().any(|(arg, _)| is_named(READING, arg));
        applies && (listed.is_empty() || words().any(is_listed) && !reads)
    };
    // To a host, and not from one.
    let copies_out = || {
        let last = call.args.iter().rfind(|arg| !arg.starts_with('-'));
        program == "rsync" && last.is_some_and(|last| last.contains(':'))
    };
    uses_network && (call.args.iter().any(has_method) || copies_out())
        || SENDING.iter().any(is_sending)
}
