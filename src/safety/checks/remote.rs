//! Words that take things down on other machines and in containers.

use avocet_core::i18n::safety as words;
use avocet_core::protocol::Effect;

use super::super::findings::{DELETES, Findings, POWER, REMOTE, excerpt};
use super::super::spec::{ArgToken, Invocation, operands};

/// `docker run` with the machine's own insides handed over.
pub fn docker(call: &Invocation<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
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
                words::CONTAINER_HOST.with("arg", excerpt(arg)),
                at,
                POWER,
                findings,
            );
        }
    }
}

/// Sub-commands of cloud tools that take things down, or change them without asking.
pub fn destroys(call: &Invocation<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
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
        call.refuse("destroy", words::CLOUD_DESTROYS, at, REMOTE, findings);
    }
}

/// `docker volume rm`, `docker system prune`.
pub fn prune(call: &Invocation<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let volume = call.id.ends_with(".volume");
    let grave = |text: &str| text == "prune" || (volume && matches!(text, "rm" | "remove"));
    if let Some((at, _)) = operands(tokens).find(|(_, text)| grave(text)) {
        call.refuse("prune", words::CLOUD_DESTROYS, at, DELETES, findings);
    }
}

/// `gh repo delete`, `gh auth token`.
pub fn forge(call: &Invocation<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    let at = |word: &str| call.args.iter().position(|arg| arg == word);
    if let Some(at) = at("delete").or_else(|| at("DELETE")).or_else(|| at("-XDELETE")) {
        call.refuse("delete", words::CLOUD_DESTROYS, at, REMOTE, findings);
    }
    if let Some(at) = at("token").or_else(|| at("--show-token")) {
        call.ask("token", words::SHOWS_SECRETS, at, &[Effect::Secret], findings);
    }
}
