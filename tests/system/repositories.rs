//! Repositories that would run something, through the tool that sessions use: git steps either ask
//! or run without starting anything. Each payload only leaves a mark.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use avocet::i18n::Lang;
use avocet::protocol::{Observation, Requires, Step, StepAction, Tier};
use avocet::safety::{self, Policy, PolicyContext, Verdict, Workspace};
use avocet::tools::exec::{ChildEnvironment, Exec, Setup};
use avocet::tools::system::System;
use avocet::tools::{RunControl, Tool};
use pretty_assertions::assert_eq;
use tempfile::TempDir;

use crate::support::wait::wide_limits;

/// What a model asks first in any repository.
const ASKED: &[&[&str]] = &[
    &["status"],
    &["status", "--porcelain=v2", "-z"],
    &["diff"],
    &["diff", "--stat"],
    &["diff", "HEAD"],
    &["log"],
    &["log", "-p"],
    &["log", "--oneline", "-5"],
    &["show"],
    &["show", "HEAD:f.txt"],
    &["blame", "f.txt"],
    &["grep", "-n", "one"],
    &["stash", "list"],
    &["stash", "list", "-p"],
    &["stash", "show", "-p"],
    &["branch"],
    &["branch", "-vv"],
    &["tag"],
    &["ls-files", "-m"],
    &["rev-parse", "HEAD"],
    &["reflog", "-p"],
    &["diff-files", "-p"],
    &["diff-index", "-p", "HEAD"],
    &["describe", "--always"],
    &["shortlog", "-sn", "HEAD"],
    &["rev-list", "--count", "HEAD"],
];

/// A repository with two commits, a stash and a change, and beside it a program that
/// leaves a mark.
struct HostileRepository {
    folder: TempDir,
    /// The environment the user started with.
    user: Vec<(&'static str, String)>,
    /// The folder steps run in, below the repository.
    inside: &'static str,
}

impl HostileRepository {
    fn new() -> HostileRepository {
        let folder = crate::support::temp_dir();
        let hostile = HostileRepository { folder, user: Vec::new(), inside: "" };
        let mark = hostile.mark();
        std::fs::create_dir_all(hostile.work()).unwrap();
        let script = format!("#!/bin/sh\necho \"fired $0 $*\" >> '{}'\nexit 0\n", mark.display());
        std::fs::write(hostile.payload(), script).unwrap();
        std::fs::set_permissions(hostile.payload(), std::fs::Permissions::from_mode(0o755))
            .unwrap();
        hostile.git(&["init", "-q", "-b", "main", "."]);
        hostile.write("f.txt", "one\n");
        hostile.git(&["add", "-A"]);
        hostile.git(&["commit", "-qm", "first"]);
        hostile.write("f.txt", "one\nstashed\n");
        hostile.git(&["stash", "-q"]);
        hostile.write("f.txt", "one\ntwo\n");
        hostile.git(&["commit", "-qam", "second"]);
        hostile.write("f.txt", "one\ntwo\nthree\n");
        hostile
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn work(&self) -> PathBuf {
        self.root().join("work")
    }

    fn mark(&self) -> PathBuf {
        self.root().join("MARK")
    }

    fn payload(&self) -> PathBuf {
        self.root().join("payload.sh")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.work().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A hook that leaves the mark.
    fn hook(&self, folder: &str, name: &str) {
        let path = self.work().join(folder).join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::copy(self.payload(), path).unwrap();
    }

    /// Runs git to build the repository, with nobody's settings.
    fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.work(), args)
    }

    fn git_in(&self, folder: &Path, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(args).current_dir(folder).env_clear().envs([
            ("PATH", "/usr/bin:/bin:/usr/local/bin"),
            ("HOME", "/nonexistent"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "a"),
            ("GIT_AUTHOR_EMAIL", "a@example.com"),
            ("GIT_COMMITTER_NAME", "a"),
            ("GIT_COMMITTER_EMAIL", "a@example.com"),
        ]);
        let out = command.stdin(Stdio::null()).output().unwrap();
        assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    }

    fn set(&self, key: &str, value: &str) {
        let value = value.replace("PAYLOAD", &self.payload().display().to_string());
        self.git(&["config", key, &value]);
    }

    /// Whether the payload ran, and forgets it.
    fn fired(&self) -> bool {
        std::fs::remove_file(self.mark()).is_ok()
    }

    fn judged(&self, args: &[&str]) -> Verdict {
        self.judged_as("git", args)
    }

    fn judged_as(&self, program: &str, args: &[&str]) -> Verdict {
        let (policy, world) = (Policy::default(), self.system());
        let place = Workspace {
            cwd: self.work().join(self.inside),
            ..Workspace::new(self.work(), self.root().join("home"))
        };
        let scene = PolicyContext { policy: &policy, place: &place, world: &world };
        let work = StepAction::exec(program, args);
        let step = Step { id: "cmd_001".into(), work, requires: Requires::default(), cwd: None };
        safety::assess(step, scene)
    }

    fn system(&self) -> System {
        System::new(&self.work(), &self.root().join("home"), &[])
    }

    /// The observation of a step that runs by itself; `None` when it waits for a yes.
    async fn run_unasked(&self, args: &[&str]) -> Option<Observation> {
        self.run_program_unasked("git", args).await
    }

    async fn run_program_unasked(&self, program: &str, args: &[&str]) -> Option<Observation> {
        match self.judged_as(program, args) {
            Verdict::Run(cleared) => {
                let (output, _live) = tokio::sync::mpsc::unbounded_channel();
                let cancel = tokio_util::sync::CancellationToken::new();
                Some(self.exec().run(cleared, RunControl::new(cancel, output)).await)
            }
            Verdict::Ask(_) => None,
            Verdict::Refuse(refused) => panic!("{:?}", refused.judgement().risk),
        }
    }

    fn exec(&self) -> Exec {
        let user = self.user.iter().map(|(name, value)| ((*name).into(), value.into()));
        let environment = ChildEnvironment {
            user: user.collect::<BTreeMap<_, _>>(),
            path: self.system().child_path(),
            ..ChildEnvironment::default()
        };
        Exec::new(Setup {
            shell: "/bin/sh".into(),
            environment,
            limits: wide_limits(),
            redactor: None,
            lang: Lang::En,
        })
    }

    /// Asks for everything; how many steps waited for a yes. Nothing may fire.
    async fn count_asking_steps(&self) -> usize {
        self.asking_steps().await.len()
    }

    /// The questions of [`ASKED`] that wait for a yes; none of all fires.
    async fn asking_steps(&self) -> Vec<&'static [&'static str]> {
        let mut waiting = Vec::new();
        for args in ASKED {
            let ran = self.run_unasked(args).await;
            assert!(!self.fired(), "git {args:?} ran the payload: {ran:?}");
            if ran.is_none() {
                waiting.push(*args);
            }
        }
        waiting
    }

    /// Nothing fires, and every step says why it waits.
    async fn assert_all_ask(&self, rule: &str, reason: &str) {
        assert_eq!(self.count_asking_steps().await, ASKED.len());
        let verdict = self.judged(&["status"]);
        let risk = &verdict.judgement().risk;
        let said = risk
            .reasons
            .iter()
            .any(|r| r.rule == rule && r.tier == Tier::L1 && r.say.text(Lang::En).contains(reason));
        assert!(said, "{rule} {reason}: {risk:?}");
    }
}

/// Git as a person would run it does fire, so that a silent payload proves something.
fn assert_payload_fires(hostile: &HostileRepository, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(args).current_dir(hostile.work().join(hostile.inside)).stdin(Stdio::null());
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", hostile.root());
    command.envs(hostile.user.iter().map(|(name, value)| (name, value)));
    command.output().unwrap();
    assert!(hostile.fired(), "git {args:?} fires nothing by itself");
}

#[tokio::test]
async fn in_an_ordinary_repository_read_only_steps_run_unasked() {
    let plain = HostileRepository::new();
    assert_eq!(plain.count_asking_steps().await, 0);
    for (args, expected) in [
        (&["status", "--short"][..], " M f.txt"),
        (&["diff"], "+three"),
        (&["log", "--oneline"], "second"),
        (&["show"], "+two"),
        (&["blame", "f.txt"], "three"),
        (&["stash", "list"], "stash@{0}"),
        (&["stash", "show", "-p"], "+stashed"),
        (&["branch"], "* main"),
        (&["grep", "three"], "f.txt:three"),
        (&["ls-files", "-m"], "f.txt"),
    ] {
        let seen = plain.run_unasked(args).await.unwrap();
        assert_eq!(seen.exit_code, Some(0), "{args:?} {}", seen.stderr);
        assert!(seen.stdout.contains(expected), "{args:?}: {}", seen.stdout);
    }
}

/// Each setting that starts a program, and a git step that would: none where that takes
/// a terminal or an answer.
#[tokio::test]
async fn a_setting_that_starts_a_program_makes_every_git_step_ask() {
    for (key, value, attributes, fires) in [
        ("core.fsmonitor", "PAYLOAD", "", &["status"][..]),
        ("diff.external", "PAYLOAD", "", &["diff"]),
        ("diff.x.command", "PAYLOAD", "*.txt diff=x\n", &["diff"]),
        ("diff.x.textconv", "PAYLOAD", "*.txt diff=x\n", &["show"]),
        ("filter.x.clean", "PAYLOAD", "*.txt filter=x\n", &["diff"]),
        ("filter.x.process", "PAYLOAD", "*.txt filter=x\n", &["diff"]),
        ("core.hooksPath", "hooks", "", &["update-index", "--force-write-index"]),
        ("core.pager", "PAYLOAD", "", &[]),
        ("pager.log", "PAYLOAD", "", &[]),
        ("alias.st", "!PAYLOAD", "", &["st"]),
        ("core.editor", "PAYLOAD", "", &[]),
        ("core.sshCommand", "PAYLOAD", "", &["ls-remote", "ssh://x.invalid/y"]),
        ("credential.helper", "!PAYLOAD", "", &[]),
    ] {
        let hostile = HostileRepository::new();
        hostile.set(key, value);
        hostile.write(".gitattributes", attributes);
        if key == "core.hooksPath" {
            hostile.hook("hooks", "post-index-change");
        }
        if !fires.is_empty() {
            assert_payload_fires(&hostile, fires);
        }
        let value = value.replace("PAYLOAD", &hostile.payload().display().to_string());
        let shown = format!("{}={}", key.to_lowercase(), value);
        let shown: String = shown.chars().take(40).collect();
        hostile.assert_all_ask("git-config-exec", &shown).await;
    }
}

#[tokio::test]
async fn a_configured_signature_program_makes_git_ask() {
    let hostile = HostileRepository::new();
    hostile.set("gpg.program", "PAYLOAD");
    hostile.set("log.showSignature", "true");
    let commit = hostile.git(&["cat-file", "commit", "HEAD"]);
    let (head, body) = commit.split_once("\n\n").unwrap();
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n FAKE\n -----END PGP SIGNATURE-----";
    hostile.write("../signed", &format!("{head}\n{signature}\n\n{body}\n"));
    let signed = hostile.git(&["hash-object", "-t", "commit", "-w", "../signed"]);
    hostile.git(&["update-ref", "refs/heads/main", &signed]);
    assert_payload_fires(&hostile, &["log"]);
    hostile.assert_all_ask("git-config-exec", "gpg.program=").await;
}

#[tokio::test]
async fn hooks_of_the_repository_do_not_run() {
    let hostile = HostileRepository::new();
    for hook in ["post-index-change", "pre-commit", "post-checkout", "reference-transaction"] {
        hostile.hook(".git/hooks", hook);
    }
    assert_payload_fires(&hostile, &["update-index", "--force-write-index"]);
    assert_eq!(hostile.count_asking_steps().await, 0);
}

#[tokio::test]
async fn attributes_in_the_git_folder_apply() {
    let hostile = HostileRepository::new();
    hostile.set("diff.x.textconv", "PAYLOAD");
    hostile.write(".git/info/attributes", "*.txt diff=x\n");
    assert_payload_fires(&hostile, &["blame", "f.txt"]);
    hostile.assert_all_ask("git-config-exec", "driver `x`").await;
}

#[tokio::test]
async fn a_bare_repository_in_the_tree_makes_git_ask() {
    let mut hostile = HostileRepository::new();
    hostile.git(&["init", "-q", "--bare", "evil"]);
    let config = hostile.work().join("evil/config").display().to_string();
    let (work, payload) = (hostile.work(), hostile.payload());
    for (key, value) in [
        ("core.bare", "false"),
        ("core.worktree", &work.display().to_string()),
        ("core.fsmonitor", &payload.display().to_string()),
    ] {
        hostile.git(&["config", "-f", &config, key, value]);
    }
    hostile.inside = "evil";
    assert_payload_fires(&hostile, &["status"]);
    hostile.assert_all_ask("git-bare", "without a working tree").await;
    hostile.inside = "";
    assert_eq!(hostile.count_asking_steps().await, 0);
    assert!(hostile.run_unasked(&["-C", "evil", "status"]).await.is_none());
    assert!(!hostile.fired());
}

#[tokio::test]
async fn included_settings_apply() {
    let hostile = HostileRepository::new();
    hostile.write("more.cfg", &format!("[core]\n\tfsmonitor = {}\n", hostile.payload().display()));
    hostile.set("include.path", "../more.cfg");
    assert_payload_fires(&hostile, &["status"]);
    hostile.assert_all_ask("git-config-exec", "include.path=../more.cfg").await;
    let conditional = HostileRepository::new();
    conditional
        .write("more.cfg", &format!("[core]\n\tfsmonitor = {}\n", conditional.payload().display()));
    conditional.set("includeIf.onbranch:main.path", "../more.cfg");
    assert_payload_fires(&conditional, &["status"]);
    conditional.assert_all_ask("git-config-exec", "core.fsmonitor=").await;
}

#[tokio::test]
async fn worktree_settings_apply() {
    let hostile = HostileRepository::new();
    hostile.set("extensions.worktreeConfig", "true");
    assert_eq!(hostile.count_asking_steps().await, 0);
    let payload = hostile.payload().display().to_string();
    hostile.git(&["config", "--worktree", "core.fsmonitor", &payload]);
    assert_payload_fires(&hostile, &["status"]);
    hostile.assert_all_ask("git-config-exec", "core.fsmonitor=").await;
}

#[tokio::test]
async fn a_second_working_tree_has_the_settings_of_the_first() {
    let mut hostile = HostileRepository::new();
    hostile.git(&["worktree", "add", "-q", "tree"]);
    hostile.inside = "tree";
    assert_eq!(hostile.count_asking_steps().await, 0);
    hostile.set("core.fsmonitor", "PAYLOAD");
    assert_payload_fires(&hostile, &["status"]);
    hostile.assert_all_ask("git-config-exec", "core.fsmonitor=").await;
}

#[tokio::test]
async fn an_empty_folder_named_git_hides_no_repository_above_it() {
    let mut hostile = HostileRepository::new();
    hostile.set("core.fsmonitor", "PAYLOAD");
    std::fs::create_dir_all(hostile.work().join("sub/.git")).unwrap();
    hostile.inside = "sub";
    assert_payload_fires(&hostile, &["status"]);
    hostile.assert_all_ask("git-config-exec", "core.fsmonitor=").await;
}

/// A second git looks into a submodule, and drops what the first was told.
#[tokio::test]
async fn submodules_are_not_entered() {
    let hostile = HostileRepository::new();
    let inner = hostile.work().join("lib");
    std::fs::create_dir(&inner).unwrap();
    hostile.git_in(&inner, &["init", "-q", "."]);
    std::fs::write(inner.join("a"), "a\n").unwrap();
    hostile.git_in(&inner, &["add", "a"]);
    hostile.git_in(&inner, &["commit", "-qm", "x"]);
    let payload = hostile.payload().display().to_string();
    hostile.git(&["add", "lib"]);
    hostile.git_in(&inner, &["config", "core.fsmonitor", &payload]);
    hostile.write(".gitmodules", "[submodule \"lib\"]\npath = lib\nurl = x\nignore = none\n");
    assert_payload_fires(&hostile, &["status"]);
    // A stash may change submodules, and git shows no part of one without the others.
    let waiting = hostile.asking_steps().await;
    assert_eq!(waiting, [["stash", "list", "-p"], ["stash", "show", "-p"]]);
    for args in [
        &["status", "--ignore-submodules=none"][..],
        &["diff", "--ignore-submodules=untracked"],
        &["describe", "--always", "--dirty"],
        &["-C", "lib", "status"],
    ] {
        assert!(hostile.run_unasked(args).await.is_none(), "{args:?}");
        assert!(!hostile.fired(), "{args:?}");
    }
}

#[tokio::test]
async fn programs_named_by_the_environment_do_not_run() {
    let mut hostile = HostileRepository::new();
    let payload = hostile.payload().display().to_string();
    hostile.user = vec![
        ("GIT_EXTERNAL_DIFF", payload.clone()),
        ("GIT_PAGER", payload.clone()),
        ("GIT_SSH_COMMAND", payload.clone()),
        ("GIT_CONFIG_COUNT", "1".into()),
        ("GIT_CONFIG_KEY_0", "core.fsmonitor".into()),
        ("GIT_CONFIG_VALUE_0", payload.clone()),
        ("GIT_CONFIG_PARAMETERS", format!("'core.fsmonitor={payload}'")),
        ("GIT_CONFIG_GLOBAL", hostile.root().join("global").display().to_string()),
        ("GIT_EXEC_PATH", hostile.root().display().to_string()),
        ("PATH", format!("{}:/usr/bin:/bin", hostile.root().display())),
    ];
    std::fs::write(hostile.root().join("global"), format!("[core]\nfsmonitor = {payload}\n"))
        .unwrap();
    std::fs::copy(hostile.payload(), hostile.root().join("git")).unwrap();
    assert_eq!(hostile.count_asking_steps().await, 0);
}

/// Where rustup stands in front of them, these run what the folder names.
#[tokio::test]
async fn a_toolchain_named_by_the_folder_asks() {
    let hostile = HostileRepository::new();
    hostile.write("rust-toolchain.toml", "[toolchain]\npath = \"evil\"\n");
    for name in ["cargo", "rustc"] {
        hostile.hook("evil/bin", name);
    }
    hostile.write(".cargo/config.toml", "[build]\nrustc-wrapper = \"./evil/bin/rustc\"\n");
    hostile.write("Cargo.toml", "[package]\nname = \"x\"\n");
    for (program, args) in [
        ("cargo", &["--version"][..]),
        ("cargo", &["metadata", "--no-deps"]),
        ("cargo", &["tree"]),
        ("rustc", &["--version"]),
        ("rustc", &["-V"]),
        ("rustup", &["show"]),
        ("rustfmt", &["--check", "a.rs"]),
    ] {
        let ran = hostile.run_program_unasked(program, args).await;
        // A question for a version is answered from an empty folder.
        let asks_version = matches!(args, ["--version" | "-V"]);
        assert!(asks_version || ran.is_none(), "{program} {args:?} ran: {ran:?}");
        assert!(!hostile.fired(), "{program} {args:?}");
    }
}

#[tokio::test]
async fn a_program_in_the_folder_does_not_replace_another() {
    let mut hostile = HostileRepository::new();
    for name in ["ls", "cat", "git", "grep", "cat.exe"] {
        hostile.hook("", name);
        hostile.hook("bin", name);
    }
    let work = hostile.work().display().to_string();
    for path in ["", ".", "bin", &work, &format!("{work}/bin"), "../work"] {
        hostile.user = vec![("PATH", format!("{path}:/usr/bin:/bin"))];
        for (program, args) in [
            ("ls", &["-1"][..]),
            ("cat", &["f.txt"]),
            ("grep", &["one", "f.txt"]),
            ("git", &["log", "--oneline"]),
            ("timeout", &["5", "cat", "f.txt"]),
            ("env", &["cat", "f.txt"]),
            ("nice", &["ls"]),
        ] {
            let seen = hostile.run_program_unasked(program, args).await.unwrap();
            assert!(!hostile.fired(), "{program} {args:?} with PATH={path}");
            assert_eq!(seen.exit_code, Some(0), "{program} {args:?}: {}", seen.stderr);
            assert!(!seen.stdout.is_empty(), "{program} {args:?}");
        }
    }
    assert!(hostile.run_program_unasked("./ls", &[]).await.is_none());
    assert!(hostile.run_program_unasked("bin/cat", &["f.txt"]).await.is_none());
    assert!(!hostile.fired());
}

/// The driver is the user's own; the repository only names it, as it does for LFS.
#[tokio::test]
async fn a_filter_in_the_users_own_settings_is_allowed() {
    let mut hostile = HostileRepository::new();
    let home = hostile.root().join("home");
    std::fs::create_dir(&home).unwrap();
    let filter = "[filter \"mine\"]\nclean = tr a-z A-Z\n";
    std::fs::write(home.join(".gitconfig"), filter).unwrap();
    hostile.user = vec![("HOME", home.display().to_string())];
    hostile.write(".gitattributes", "*.txt filter=mine\n");
    let seen = hostile.run_unasked(&["diff", "f.txt"]).await.unwrap();
    assert!(seen.stdout.contains("+THREE"), "{} {}", seen.stdout, seen.stderr);
}

/// Steps that were judged harmless while the repository changed under them.
#[tokio::test]
async fn settings_added_after_the_assessment_do_not_run_either() {
    for (key, attributes, args) in [
        ("core.fsmonitor", "", &["status"][..]),
        ("diff.external", "", &["diff"]),
        ("diff.x.textconv", "*.txt diff=x\n", &["show"]),
        ("diff.x.textconv", "*.txt diff=x\n", &["blame", "f.txt"]),
        ("diff.x.textconv", "*.txt diff=x\n", &["stash", "show", "-p"]),
        ("diff.x.textconv", "*.txt diff=x\n", &["reflog", "-p"]),
        ("filter.x.clean", "*.txt filter=x\n", &["diff"]),
        ("filter.x.process", "*.txt filter=x\n", &["status"]),
        ("core.sshCommand", "", &["log"]),
    ] {
        let hostile = HostileRepository::new();
        let Verdict::Run(cleared) = hostile.judged(args) else { panic!("{args:?} asks") };
        hostile.set(key, "PAYLOAD");
        hostile.write(".gitattributes", attributes);
        let (output, _live) = tokio::sync::mpsc::unbounded_channel();
        let cancel = tokio_util::sync::CancellationToken::new();
        let seen = hostile.exec().run(cleared, RunControl::new(cancel, output)).await;
        assert!(!hostile.fired(), "{key} {args:?}: {seen:?}");
    }
}
