//! Tests steps that were misjudged on purpose: each is called L0 by hand, tries to do what
//! no L0 step may, and must leave no mark. Where the machine has no sandbox, the tests say
//! so and check nothing.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::super::*;
use super::judged;
use super::skip::{Reason, skip};
use crate::sandbox::{Sandbox, SandboxPaths};
use avocet_core::i18n::{Lang, PhraseValue};
use avocet_core::protocol::{Effect, PageRow, SandboxMode};

mod limits;
mod named;

/// A workspace, a home with a key in it, and the files outside of both.
struct SandboxFixture {
    root: tempfile::TempDir,
    sandbox: Arc<Sandbox>,
    exec: Exec,
}

/// The properties of a file that must not change: kind and mode, change of contents,
/// contents.
type Mark = (u32, i64, i64, Vec<u8>);

impl SandboxFixture {
    fn new(setting: SandboxMode) -> SandboxFixture {
        SandboxFixture::with_own_folder(setting, "own", |sandbox| sandbox)
    }

    /// With our own folder there, and a sandbox made so.
    fn with_own_folder(
        setting: SandboxMode,
        own: &str,
        make: impl FnOnce(Sandbox) -> Sandbox,
    ) -> SandboxFixture {
        let root = tempfile::Builder::new().prefix("avocet").tempdir().expect("a folder");
        let at = root.path().canonicalize().expect("a folder");
        for folder in ["ws/sub", "ws/empty", "home/.ssh", "outside"] {
            std::fs::create_dir_all(at.join(folder)).expect("a folder");
        }
        for file in ["ws/a.txt", "ws/sub/b.txt", "home/.ssh/id_rsa", "home/plain", "outside/o"] {
            std::fs::write(at.join(file), format!("contents of {file}\n")).expect("a file");
        }
        std::fs::write(at.join("ws/evil.sh"), "#!/bin/sh\necho ran\n").expect("a file");
        let runs = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(at.join("ws/evil.sh"), runs).expect("a mode");
        let places = SandboxPaths {
            workspace: at.join("ws"),
            home: at.join("home"),
            programs: vec!["/usr/bin".into(), "/bin".into()],
            own: vec![at.join(own)],
            ..SandboxPaths::default()
        };
        let sandbox = Arc::new(make(Sandbox::new(setting, places)));
        let environment = ChildEnvironment {
            user: BTreeMap::from([("HOME".into(), at.join("home").into())]),
            path: "/usr/bin:/bin".into(),
            ..ChildEnvironment::default()
        };
        let setup = Setup {
            shell: "/bin/sh".into(),
            environment,
            // So that a slow machine ends none of them.
            limits: StepLimits { alone: Duration::from_secs(600), ..StepLimits::default() },
            redactor: None,
            lang: Lang::En,
        };
        let exec = Exec::new(setup).with_sandbox(Arc::clone(&sandbox));
        SandboxFixture { root, sandbox, exec }
    }

    /// `None`, with a printed notice, where this machine has no sandbox.
    fn sandboxed(setting: SandboxMode) -> Option<SandboxFixture> {
        SandboxFixture::new(setting).if_sandboxed()
    }

    fn if_sandboxed(self) -> Option<SandboxFixture> {
        (self.sandbox.status() != SandboxStatus::Absent).then_some(self)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().expect("a folder").join(name)
    }

    async fn sh(&self, tier: Tier, effects: &[Effect], line: &str) -> Observation {
        let mut judged = judged(tier, &self.at("ws"), Path::new("/bin/sh"), &["-c", line]);
        judged.risk.effects = effects.to_vec();
        judged.launch.needs = avocet_safety::Needs::for_test("", effects);
        // A shell and all other programs, as a row would name them that starts so much.
        judged.launch.helpers = vec!["/usr".into(), "/bin".into()];
        let (output, _live) = tokio::sync::mpsc::unbounded_channel();
        let cancel = tokio_util::sync::CancellationToken::new();
        run(&self.exec, &ClearedStep::new_for_test(judged), None, &RunControl::new(cancel, output))
            .await
            .observation
    }

    async fn run_automatic(&self, line: &str) -> Observation {
        self.sh(Tier::L0, &[], line).await
    }

    /// Every file below the root, and what must not change of it.
    fn marks(&self) -> BTreeMap<PathBuf, Mark> {
        let mut out = BTreeMap::new();
        let mut left = vec![self.at("")];
        while let Some(path) = left.pop() {
            let meta = std::fs::symlink_metadata(&path).expect("a file");
            if meta.is_dir() {
                let entries = std::fs::read_dir(&path).expect("a folder").flatten();
                left.extend(entries.map(|entry| entry.path()));
            }
            let contents = std::fs::read(&path).unwrap_or_default();
            let nanos = meta.mtime() * 1_000_000_000 + meta.mtime_nsec();
            out.insert(path, (meta.mode(), nanos, meta.ctime_nsec(), contents));
        }
        out
    }
}

/// Each would write, in one way or another, from within the workspace.
const WRITERS: &[&str] = &[
    "touch new",
    "touch a.txt",
    "touch -d 2001-01-01 a.txt",
    "touch -a a.txt",
    "cp a.txt copy.txt",
    "cp a.txt sub/b.txt",
    "mv a.txt b.txt",
    "mv a.txt sub/",
    "rm -f a.txt",
    "rm -rf sub",
    "mkdir made",
    "rmdir empty",
    "ln a.txt hard",
    "ln -s a.txt soft",
    "chmod 777 a.txt",
    "chmod -R go+w .",
    "chown 1:1 a.txt",
    "chgrp 1 a.txt",
    "truncate -s 0 a.txt",
    "dd if=/dev/zero of=a.txt bs=1 count=1",
    "echo x > new",
    "echo x >> a.txt",
    ": > a.txt",
    "echo x | tee a.txt",
    "sed -i s/contents/x/ a.txt",
    "sort -o a.txt a.txt",
    "uniq a.txt out.txt",
    "install -m 755 a.txt made",
    "mkfifo pipe",
    "mknod node p",
    "find . -delete",
    "find . -exec touch {} +",
    "ls | xargs touch",
    "tar cf all.tar .",
    "perl -e 'open F, q(>), q(a.txt) or die; print F 1'",
    "perl -e 'utime(1, 1, q(a.txt)) or die'",
    "perl -e 'truncate(q(a.txt), 0) or die'",
    "echo x > ../outside/new",
    "rm ../outside/o",
    "git init -q .",
    "(trap '' HUP; touch later) & wait; test -e later",
];

#[tokio::test]
async fn a_misjudged_writer_changes_nothing_where_there_is_a_sandbox() {
    let Some(field) = SandboxFixture::sandboxed(SandboxMode::Read) else {
        return skip(Reason::NoSandbox);
    };
    for line in WRITERS {
        let before = field.marks();
        let seen = field.run_automatic(line).await;
        assert_eq!(before, field.marks(), "`{line}` left a mark");
        assert_eq!(seen.outcome, Outcome::Ran, "{line}: {}", super::note_of(&seen));
        // A shell says it went wrong; `find -exec` and the like only print.
        assert!(seen.exit_code != Some(0) || !seen.stderr.is_empty(), "`{line}` went well");
    }
}

#[tokio::test]
async fn the_same_writers_do_leave_marks_without_a_sandbox() {
    let field = SandboxFixture::new(SandboxMode::Off);
    for line in ["touch new", "chmod 777 a.txt", "touch -d 2001-01-01 a.txt", "./evil.sh"] {
        let before = field.marks();
        let seen = field.run_automatic(line).await;
        assert_eq!(seen.exit_code, Some(0), "{line}: {}", seen.stderr);
        assert!(before != field.marks() || seen.stdout == "ran\n", "{line}");
    }
}

#[tokio::test]
async fn a_misjudged_step_reaches_no_network_where_there_is_a_sandbox() {
    let Some(field) = SandboxFixture::sandboxed(SandboxMode::Read) else {
        return skip(Reason::NoSandbox);
    };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a flag");
    let port = listener.local_addr().expect("an address").port();
    let local = field.at("outside/socket");
    let _unix = std::os::unix::net::UnixListener::bind(&local).expect("a socket");
    let local = local.display();
    let lines = [
        format!(
            "perl -MIO::Socket::INET -e 'IO::Socket::INET->new(q(127.0.0.1:{port})) or die $!'"
        ),
        format!("bash -c ': > /dev/tcp/127.0.0.1/{port}'"),
        format!("bash -c ': > /dev/udp/127.0.0.1/{port}'"),
        format!("curl -s http://127.0.0.1:{port}/"),
        format!("perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer => q({local})) or die $!'"),
        "perl -MSocket -e 'socket(S, AF_INET6, SOCK_DGRAM, 0) or die $!'".to_owned(),
        // Packets, the kernel's own, and virtual machines.
        "perl -e 'socket(S, 17, 3, 768) or die $!'".to_owned(),
        "perl -e 'socket(S, 16, 3, 0) or die $!'".to_owned(),
        "perl -e 'socket(S, 40, 1, 0) or die $!'".to_owned(),
    ];
    for line in lines {
        let seen = field.run_automatic(&line).await;
        assert!(seen.exit_code.is_some_and(|code| code != 0), "`{line}`: {}", seen.stdout);
    }
    let tried = listener.accept().map_err(|error| error.kind());
    assert!(matches!(tried, Err(std::io::ErrorKind::WouldBlock)), "{tried:?}");
}

#[tokio::test]
async fn a_misjudged_step_reads_no_secret_and_starts_no_workspace_program() {
    let Some(field) = SandboxFixture::sandboxed(SandboxMode::Read) else {
        return skip(Reason::NoSandbox);
    };
    let key = field.at("home/.ssh/id_rsa");
    let us = std::process::id();
    let lines = [
        format!("cat {}", key.display()),
        "cat ~/.ssh/*".to_owned(),
        "cat /etc/shadow".to_owned(),
        format!("cat /proc/{us}/environ"),
        format!("cat /proc/{us}/mem"),
        format!("readlink /proc/{us}/fd/0"),
        format!("cat /proc/{us}/root{}", key.display()),
        "./evil.sh".to_owned(),
        "env ./evil.sh".to_owned(),
        "find . -name evil.sh -exec {} ';' -quit | grep ran".to_owned(),
    ];
    for line in lines {
        let seen = field.run_automatic(&line).await;
        assert_ne!(seen.exit_code, Some(0), "`{line}`: {}", seen.stdout);
        assert_eq!(seen.stdout, "", "`{line}`");
    }
    let seen = field.run_automatic("cat ~/plain a.txt; ls -R . >/dev/null && echo listed").await;
    assert_eq!(seen.stdout, "contents of ws/a.txt\nlisted\n", "{}", seen.stderr);
}

/// Calls by their x86-64 numbers, each with arguments that would do no harm.
const CALLS: &[(&str, &str)] = &[
    ("ptrace", "101, 0, 0, 0, 0"),
    ("io_uring_setup", "425, 1, 0"),
    ("keyctl", "250, 0, 0"),
    ("bpf", "321, 0, 0, 0"),
    ("userfaultfd", "323, 0"),
    ("mount", "165, 0, 0, 0, 0, 0"),
    ("unshare", "272, 0"),
    ("setns", "308, -1, 0"),
    ("perf_event_open", "298, 0, 0, -1, -1, 0"),
    ("chmod", "90, 0, 0"),
    ("socket by its x32 number", "1073741865, 2, 1, 0"),
    ("even the harmless by their x32 numbers", "1073741863"),
];

#[tokio::test]
async fn dangerous_system_calls_fail_where_there_is_a_sandbox() {
    // The numbers are those of this processor, and it takes perl to call them.
    if std::env::consts::ARCH != "x86_64" {
        return skip(Reason::OtherProcessor);
    }
    if !Path::new("/usr/bin/perl").exists() {
        return skip(Reason::NotInstalled("perl"));
    }
    let Some(field) = SandboxFixture::sandboxed(SandboxMode::Read) else {
        return skip(Reason::NoSandbox);
    };
    for (name, call) in CALLS {
        // 1: not permitted. Anything else would come from the call itself.
        let line = format!("perl -e 'syscall({call}); print $!+0'");
        let seen = field.run_automatic(&line).await;
        assert_eq!(seen.stdout, "1", "{name}: {}", seen.stderr);
    }
    let tty = "perl -e 'ioctl(STDIN, 0x5412, 0); print $!+0'";
    assert_eq!(field.run_automatic(tty).await.stdout, "1");
    let rights = field.run_automatic("grep NoNewPrivs /proc/self/status").await;
    assert_eq!(rights.stdout.trim(), "NoNewPrivs:\t1");
}

#[tokio::test]
async fn signals_do_not_leave_the_sandbox_where_the_kernel_restricts_them() {
    let Some(field) = SandboxFixture::sandboxed(SandboxMode::Read) else {
        return skip(Reason::NoSandbox);
    };
    let seen = field.run_automatic(&format!("kill -0 {}", std::process::id())).await;
    if field.sandbox.restricts_signals() {
        assert_ne!(seen.exit_code, Some(0));
    } else {
        skip(Reason::OldKernel);
    }
}

#[tokio::test]
async fn a_step_has_a_private_folder_that_is_removed_afterwards() {
    let Some(field) = SandboxFixture::sandboxed(SandboxMode::Read) else {
        return skip(Reason::NoSandbox);
    };
    let line =
        "echo x > $TMPDIR/x && cat $TMPDIR/x >/dev/null && stat -c %a $TMPDIR && echo $TMPDIR";
    let seen = field.run_automatic(line).await;
    assert_eq!(seen.exit_code, Some(0), "{}", seen.stderr);
    let (mode, temp) = seen.stdout.trim().split_once('\n').expect("two lines");
    assert_eq!(mode, "700");
    let deadline = Instant::now() + Duration::from_secs(60);
    while Path::new(temp).exists() {
        assert!(Instant::now() < deadline, "{temp} stays");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn approved_steps_are_unrestricted_when_only_automatic_steps_are_sandboxed() {
    let Some(field) = SandboxFixture::sandboxed(SandboxMode::Read) else {
        return skip(Reason::NoSandbox);
    };
    let seen = field.sh(Tier::L1, &[], "echo x > ../outside/free && cat ~/.ssh/id_rsa").await;
    assert_eq!(seen.exit_code, Some(0), "{}", seen.stderr);
}

#[tokio::test]
async fn an_approved_step_writes_only_in_the_workspace() {
    let Some(field) = SandboxFixture::sandboxed(SandboxMode::Work) else {
        return skip(Reason::NoSandbox);
    };
    let works = "echo x > new && chmod 700 new && mv new sub/ && ./evil.sh && echo y > $TMPDIR/y";
    let seen = field.sh(Tier::L1, &[Effect::Write], works).await;
    assert_eq!((seen.exit_code, seen.stdout.as_str()), (Some(0), "ran\n"), "{}", seen.stderr);
    let seen = field.sh(Tier::L1, &[Effect::Write], "echo x > ../outside/new").await;
    assert_ne!(seen.exit_code, Some(0));
    assert!(!field.at("outside/new").exists());
}

#[tokio::test]
async fn only_approved_steps_that_declare_it_reach_the_network() {
    let Some(field) = SandboxFixture::sandboxed(SandboxMode::Work) else {
        return skip(Reason::NoSandbox);
    };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a flag");
    let port = listener.local_addr().expect("an address").port();
    let line = format!("bash -c ': > /dev/tcp/127.0.0.1/{port}'");
    assert_ne!(field.sh(Tier::L1, &[Effect::Exec], &line).await.exit_code, Some(0));
    assert!(listener.accept().is_err());
    assert_eq!(field.sh(Tier::L1, &[Effect::Network], &line).await.exit_code, Some(0));
    assert!(listener.accept().is_ok());
}

impl SandboxFixture {
    /// A program called harmless by hand, with nothing its row names.
    async fn reads(&self, program: &str, args: &[&str]) -> Observation {
        let judged = judged(Tier::L0, &self.at("ws"), Path::new(program), args);
        let (output, _live) = tokio::sync::mpsc::unbounded_channel();
        let cancel = tokio_util::sync::CancellationToken::new();
        run(&self.exec, &ClearedStep::new_for_test(judged), None, &RunControl::new(cancel, output))
            .await
            .observation
    }

    async fn approved(&self, rule: &str, effects: &[Effect], line: &str) -> Observation {
        let mut judged = judged(Tier::L1, &self.at("ws"), Path::new("/bin/sh"), &["-c", line]);
        judged.risk.effects = effects.to_vec();
        judged.launch.needs = avocet_safety::Needs::for_test(rule, effects);
        let (output, _live) = tokio::sync::mpsc::unbounded_channel();
        let cancel = tokio_util::sync::CancellationToken::new();
        run(&self.exec, &ClearedStep::new_for_test(judged), None, &RunControl::new(cancel, output))
            .await
            .observation
    }
}

#[tokio::test]
async fn a_misjudged_step_starts_nothing_but_its_own_program() {
    let Some(field) = SandboxFixture::sandboxed(SandboxMode::Read) else {
        return skip(Reason::NoSandbox);
    };
    let loader = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
    let loader = loader.iter().find(|path| Path::new(path).exists()).copied().unwrap_or("/none");
    let lines: &[(&str, &[&str])] = &[
        ("/usr/bin/env", &["sh", "-c", "echo ran"]),
        ("/usr/bin/env", &["perl", "-e", "print 'ran'"]),
        ("/usr/bin/env", &[loader, "/bin/sh", "-c", "echo ran"]),
        ("/usr/bin/find", &[".", "-maxdepth", "0", "-exec", "sh", "-c", "echo ran", ";"]),
        ("/usr/bin/sed", &["-n", "1e echo ran", "a.txt"]),
        ("/usr/bin/awk", &["BEGIN { system(\"echo ran\") }"]),
        ("/usr/bin/xargs", &["-a", "a.txt", "/bin/echo", "ran"]),
    ];
    for (program, args) in lines.iter().filter(|(program, _)| Path::new(program).exists()) {
        let seen = field.reads(program, args).await;
        assert!(!seen.stdout.contains("ran"), "{program} {args:?}: {}", seen.stdout);
    }
    let seen = field.reads("/usr/bin/sed", &["-n", "1p", "a.txt"]).await;
    assert_eq!(seen.stdout, "contents of ws/a.txt\n", "{}", seen.stderr);
}

#[tokio::test]
async fn automatic_steps_read_neither_old_nor_new_credentials_of_the_workspace() {
    let Some(field) = SandboxFixture::sandboxed(SandboxMode::Work) else {
        return skip(Reason::NoSandbox);
    };
    let write = |name: &str| std::fs::write(field.at(name), "SECRET\n").expect("a file");
    for name in ["ws/.env", "ws/sub/server.pem"] {
        write(name);
    }
    let seen = field.run_automatic("cat .env; grep -rh SECRET .; cat sub/b.txt").await;
    assert_eq!(seen.stdout, "contents of ws/sub/b.txt\n", "{}", seen.stderr);
    assert!(seen.denied.is_none(), "it did well in the end");
    std::fs::create_dir(field.at("ws/new")).expect("a folder");
    for name in ["ws/new/.env", "ws/sub/.npmrc", "ws/id_rsa"] {
        write(name);
    }
    std::fs::write(field.at("ws/plain.txt"), "plain\n").expect("a file");
    let seen = field.run_automatic("grep -rh SECRET .; cat plain.txt").await;
    assert_eq!(seen.stdout, "plain\n", "{}", seen.stderr);
    // The user who approved it wants the project's own code to find them.
    let seen = field.approved("make", &[Effect::Exec], "cat .env").await;
    assert_eq!(seen.stdout, "SECRET\n", "{}", seen.stderr);
}

#[tokio::test]
async fn our_own_folders_are_closed_even_inside_the_workspace() {
    let field = SandboxFixture::with_own_folder(SandboxMode::Work, "ws/own", |sandbox| sandbox);
    let Some(field) = field.if_sandboxed() else { return skip(Reason::NoSandbox) };
    std::fs::create_dir(field.at("ws/own")).expect("a folder");
    std::fs::write(field.at("ws/own/config.toml"), "SECRET\n").expect("a file");
    let line = "cat own/config.toml; echo x > own/config.toml; echo x > own/new; cat a.txt";
    for seen in
        [field.run_automatic(line).await, field.approved("make", &[Effect::Exec], line).await]
    {
        assert_eq!(seen.stdout, "contents of ws/a.txt\n", "{}", seen.stderr);
    }
    let kept = std::fs::read_to_string(field.at("ws/own/config.toml")).expect("a file");
    assert_eq!(kept, "SECRET\n");
}

#[tokio::test]
async fn an_approved_step_writes_caches_and_reports_what_it_is_denied_elsewhere() {
    let Some(field) = SandboxFixture::sandboxed(SandboxMode::Work) else {
        return skip(Reason::NoSandbox);
    };
    std::fs::create_dir_all(field.at("home/.npm/_cacache")).expect("a folder");
    let install = "echo x > ~/.npm/_cacache/x && ! cat ~/plain && ! touch ~/.npm/x";
    let seen = field.approved("npm.install", &[Effect::Exec, Effect::Network], install).await;
    assert_eq!(seen.exit_code, Some(0), "{}", seen.stderr);
    let seen = field.approved("mkdir", &[Effect::Write], "echo x > ~/.npm/_cacache/y").await;
    assert_ne!(seen.exit_code, Some(0));
    let seen = field.approved("make", &[Effect::Exec], "touch ../outside/new").await;
    let denied = seen.denied.as_ref().expect("it met the wall");
    assert_eq!(denied.writes, [field.at("outside/new").display().to_string()]);
    assert!(super::note_of(&seen).contains("outside/new"), "{}", super::note_of(&seen));
    assert!(!field.at("outside/new").exists());
}

#[tokio::test]
async fn credentials_are_open_only_to_the_command_that_needs_them() {
    let Some(field) = SandboxFixture::sandboxed(SandboxMode::Work) else {
        return skip(Reason::NoSandbox);
    };
    let line = "cat ~/.ssh/id_rsa";
    let seen = field.approved("make", &[Effect::Exec], line).await;
    let offered = seen.denied.as_ref().map(avocet_core::protocol::SandboxDenial::is_offered);
    assert_eq!((seen.stdout.as_str(), offered), ("", Some(false)));
    let seen = field.approved("git.push", &[Effect::Network], line).await;
    assert_eq!(seen.stdout, "contents of home/.ssh/id_rsa\n", "{}", seen.stderr);
}

#[tokio::test]
async fn our_own_folder_is_created_before_a_step_can_create_it() {
    let field =
        SandboxFixture::with_own_folder(SandboxMode::Work, "ws/own/deep", |sandbox| sandbox);
    let Some(field) = field.if_sandboxed() else { return skip(Reason::NoSandbox) };
    let line = "mkdir -p own/deep; echo x > own/deep/config.toml; echo x > sub/new; cat sub/new";
    let seen = field.approved("make", &[Effect::Exec], line).await;
    assert_eq!(seen.stdout, "x\n", "{}", seen.stderr);
    assert!(!field.at("ws/own/deep/config.toml").exists());
    // A file that comes beside it later is the workspace's.
    std::fs::create_dir(field.at("ws/later")).expect("a folder");
    let line = "rm -rf own; mv own away; ln -s sub own; echo x > later/new && cat later/new";
    let seen = field.approved("make", &[Effect::Exec], line).await;
    assert_eq!(seen.stdout, "x\n", "{}", seen.stderr);
    assert!(field.at("ws/own/deep").is_dir() && !field.at("ws/away").exists());
    let seen = field.approved("make", &[Effect::Exec], "touch ./first").await;
    let denied = seen.denied.expect("it met the wall");
    assert_eq!(denied.writes, [field.at("ws/first").display().to_string()]);
}

#[tokio::test]
async fn our_own_folder_stays_closed_among_many_entries() {
    let field = SandboxFixture::with_own_folder(SandboxMode::Work, "ws/own", |sandbox| sandbox);
    let Some(field) = field.if_sandboxed() else { return skip(Reason::NoSandbox) };
    std::fs::create_dir(field.at("ws/own")).expect("a folder");
    std::fs::write(field.at("ws/own/config.toml"), "SECRET\n").expect("a file");
    for n in 0..2_100 {
        std::fs::write(field.at("ws").join(format!("f{n}")), "").expect("a file");
    }
    let line = "cat own/config.toml; echo x > own/new; echo x > f1 && cat f1 a.txt";
    let seen = field.approved("make", &[Effect::Exec], line).await;
    assert_eq!(seen.stdout, "x\ncontents of ws/a.txt\n", "{}", seen.stderr);
    assert!(!field.at("ws/own/new").exists());
    let seen = field.run_automatic("cat own/config.toml; cat a.txt").await;
    assert_eq!(seen.stdout, "contents of ws/a.txt\n", "{}", seen.stderr);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn every_version_of_the_kernels_interface_restricts_all_it_can() {
    if SandboxFixture::sandboxed(SandboxMode::Work).is_none() {
        return skip(Reason::NoSandbox);
    }
    for abi in 1..=7 {
        let field = SandboxFixture::with_own_folder(SandboxMode::Work, "own", |sandbox| {
            sandbox.with_abi(abi)
        });
        if field.sandbox.status() != SandboxStatus::Held {
            skip(Reason::OldKernel);
            continue;
        }
        let fails = PhraseValue::from(avocet_core::i18n::sandbox::MOVES_FAIL);
        let rows = field.sandbox.rows();
        let said =
            rows.iter().any(|row| matches!(row, PageRow::Pair { value, .. } if *value == fails));
        assert_eq!(said, abi == 1, "{abi}");
        assert_eq!(field.sandbox.restricts_signals(), abi >= 6, "{abi}");
        let before = field.marks();
        for line in ["touch a.txt", "echo x > new", "mv a.txt b.txt", "cat ~/.ssh/id_rsa"] {
            let seen = field.run_automatic(line).await;
            assert_ne!(seen.exit_code, Some(0), "{abi}: `{line}`");
        }
        assert_eq!(field.marks(), before, "{abi}");
        let works = "echo x > new && mv new sub/ && : > new && cat sub/new";
        let seen = field.approved("make", &[Effect::Exec], works).await;
        assert_eq!(seen.stdout, "x\n", "{abi}: {}", seen.stderr);
        let before = field.marks();
        for line in [
            "echo x > ../outside/new",
            "perl -e 'truncate(q(../outside/o), 0) or die'",
            "mv ../outside/o .",
            "cat ~/.ssh/id_rsa",
        ] {
            let seen = field.approved("make", &[Effect::Exec], line).await;
            assert_ne!(seen.exit_code, Some(0), "{abi}: `{line}`");
        }
        let outside = |marks: BTreeMap<PathBuf, Mark>| -> BTreeMap<PathBuf, Mark> {
            marks.into_iter().filter(|(path, _)| !path.starts_with(field.at("ws"))).collect()
        };
        assert_eq!(outside(field.marks()), outside(before), "{abi}");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let line = format!("bash -c ': > /dev/tcp/127.0.0.1/{port}'");
        let seen = field.approved("mkdir", &[Effect::Write], &line).await;
        assert_ne!(seen.exit_code, Some(0), "{abi}: it reached the network");
    }
}
