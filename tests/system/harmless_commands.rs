//! Runs the harmless commands of a working day for real and without a sandbox: they change nothing,
//! start no program of the workspace, and show no protected file.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use avocet::i18n::Lang;
use avocet::protocol::{Observation, Requires, Step, StepAction};
use avocet::safety::{self, Policy, PolicyContext, Verdict, Workspace};
use avocet::tools::exec::{ChildEnvironment, Exec, Setup};
use avocet::tools::sandbox::Sandbox;
use avocet::tools::system::System;
use avocet::tools::{RunControl, Tool};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use crate::support::skip::{Reason, skip};
use crate::support::wait::wide_limits;

const DAY: &str = include_str!("../fixtures/day.txt");
const READING: &str = include_str!("../fixtures/reading.txt");

/// What lies behind links and in files of credentials.
const CLOSED: &str = "CLOSED-TO-STEPS";

/// Programs whose forms are tried here; the rows of the others are tried elsewhere.
const TRIED: &[&str] = &[
    "awk",
    "find",
    "tar",
    "unzip",
    "zipinfo",
    "zcat",
    "gzip",
    "xz",
    "xzcat",
    "bzcat",
    "ar",
    "less",
    "more",
    "man",
    "jq",
    "yq",
    "env",
    "printenv",
    "command",
    "type",
    "openssl",
    "netstat",
    "cargo",
    "rustc",
    "npm",
    "npx",
    "pip",
    "pip3",
    "go",
    "java",
    "sqlite3",
    "psql",
    "pytest",
    "git",
    "who",
    "python",
    "python3",
    "rustup",
    "rustfmt",
    "gofmt",
    "shellcheck",
    "jar",
    "rg",
    "grep",
];

/// Lines beyond the day: what a name of a file could bring in.
const MORE: &[&str] = &[
    "find . -type f -exec cat {} ;",
    "find . -exec cat {} +",
    "find . -exec grep -h . {} ;",
    "find . -name *.txt -exec awk '{print}' {} +",
    "find . -exec sed -n p {} ;",
    "find . -exec head -n 3 {} +",
    "awk '{print}' a.txt FS=: b.txt",
    "awk 1 link.txt",
    "git config --list",
    "env",
];

struct DayFixture {
    root: tempfile::TempDir,
}

impl DayFixture {
    fn new() -> DayFixture {
        let desk = DayFixture { root: crate::support::temp_dir() };
        let ws = desk.at("ws");
        for folder in ["ws/src", "ws/.ssh", "ws/.cargo", "home", "outside"] {
            fs::create_dir_all(desk.at(folder)).unwrap();
        }
        let evil = ws.join("evil.sh");
        let line = format!("#!/bin/sh\necho started >> '{}'\n", desk.mark().display());
        let python = format!("open({:?}, 'a').write('started')\n", desk.mark());
        for (name, text) in [
            ("a.txt", "one two\nthree four\n".to_owned()),
            ("b.txt", "five:six\n".to_owned()),
            ("n=1.txt", "seven\n".to_owned()),
            ("src/main.rs", "fn main() {}\n".to_owned()),
            ("README.md", "# x\n".to_owned()),
            ("data.json", "[{\"key\": 1, \"name\": \"x\"}]\n".to_owned()),
            ("package.json", "{\"name\": \"x\", \"packageManager\": \"yarn@9.9.9\"}\n".to_owned()),
            (".env", format!("TOKEN={CLOSED}\n")),
            ("server.pem", format!("{CLOSED}\n")),
            (".ssh/notes", format!("{CLOSED}\n")),
            // What programs look for where they stand.
            ("evil.sh", line.clone()),
            (".yarnrc", format!("yarn-path \"{}\"\n", evil.display())),
            (".npmrc", format!("script-shell={0}\nnode-options=--require {0}\n", evil.display())),
            (
                ".cargo/config.toml",
                format!("[build]\nrustc-wrapper = {evil:?}\nrustc = {evil:?}\n"),
            ),
            ("rust-toolchain.toml", format!("[toolchain]\npath = {ws:?}\n")),
            ("conftest.py", python.clone()),
            ("pip.py", python.clone()),
            ("sitecustomize.py", python),
            ("go.mod", "module x\n\ntoolchain go9.9.9\n".to_owned()),
            (".lesskey", "#env\nLESSOPEN=|./evil.sh %s\n".to_owned()),
            ("cargo", line),
        ] {
            fs::write(ws.join(name), text).unwrap();
        }
        for program in ["evil.sh", "cargo"] {
            fs::set_permissions(ws.join(program), fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(desk.at("outside/a.txt"), format!("{CLOSED}\n")).unwrap();
        symlink(desk.at("outside/a.txt"), ws.join("link.txt")).unwrap();
        symlink(desk.at("outside"), ws.join("linked")).unwrap();
        desk.repository(&ws);
        desk
    }

    /// A repository by hand, that includes settings from elsewhere.
    fn repository(&self, ws: &Path) {
        for folder in [".git/objects", ".git/refs/heads"] {
            fs::create_dir_all(ws.join(folder)).unwrap();
        }
        fs::write(ws.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let aside = self.at("outside/settings");
        fs::write(&aside, format!("[a]\n\tb = {CLOSED}\n")).unwrap();
        let config = format!(
            "[core]\n\trepositoryformatversion = 0\n[include]\n\tpath = {}\n\
             [remote \"origin\"]\n\turl = https://example.com/x\n",
            aside.display()
        );
        fs::write(ws.join(".git/config"), config).unwrap();
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    fn mark(&self) -> PathBuf {
        self.at("started")
    }

    fn exec(&self, system: &System) -> Exec {
        let user = BTreeMap::from([
            ("HOME".into(), self.at("home").into()),
            ("SECRET_TOKEN".into(), CLOSED.into()),
            ("LESSOPEN".into(), "|./evil.sh %s".into()),
            ("NODE_OPTIONS".into(), "--require ./evil.sh".into()),
        ]);
        let environment =
            ChildEnvironment { user, path: system.child_path(), ..ChildEnvironment::default() };
        Exec::new(Setup {
            shell: "/bin/sh".into(),
            environment,
            limits: wide_limits(),
            redactor: None,
            lang: Lang::En,
        })
        .with_sandbox(Arc::new(Sandbox::off()))
    }

    /// Every file, and what it holds.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut out = BTreeMap::new();
        let mut left = vec![self.at("ws"), self.at("outside")];
        while let Some(path) = left.pop() {
            if fs::symlink_metadata(&path).unwrap().is_dir() {
                left.extend(fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
            } else {
                out.insert(path.clone(), fs::read(&path).unwrap_or_default());
            }
        }
        out
    }
}

fn words_of(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        match at % 2 {
            1 => out.push(part.to_owned()),
            _ => out.extend(part.split_whitespace().map(str::to_owned)),
        }
    }
    out
}

/// What came of a line, if it runs by itself on this machine.
async fn run_line(
    desk: &DayFixture,
    system: &System,
    exec: &Exec,
    line: &str,
) -> Option<Observation> {
    let words = words_of(line);
    let (program, args) = words.split_first()?;
    let place = Workspace::new(desk.at("ws"), desk.at("home"));
    let policy = Policy::default();
    let scene = PolicyContext { policy: &policy, place: &place, world: system };
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let work = StepAction::exec(program, &args);
    let step = Step { id: "cmd_001".into(), work, requires: Requires::default(), cwd: None };
    let Verdict::Run(cleared) = safety::assess(step, scene) else { return None };
    cleared.judgement().program.as_ref()?;
    let (output, _live) = unbounded_channel();
    Some(exec.run(cleared, RunControl::new(CancellationToken::new(), output)).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn read_only_commands_change_nothing_and_show_nothing_protected() {
    let desk = DayFixture::new();
    let system = System::new(&desk.at("ws"), &desk.at("home"), &[]);
    let exec = desk.exec(&system);
    let before = desk.files();
    let day = DAY.lines().filter_map(|line| line.strip_prefix("local").map(str::trim));
    let reading = READING.lines().filter_map(|line| Some(line.split_once(' ')?.1.trim()));
    let day = day
        .chain(reading)
        .filter(|line| TRIED.contains(&line.split(' ').next().unwrap_or_default()));
    let mut count = 0;
    for line in day.chain(MORE.iter().copied()) {
        let Some(seen) = run_line(&desk, &system, &exec, line).await else {
            skip(Reason::OneOfMany(line));
            continue;
        };
        count += 1;
        let shown = format!("{}{}", seen.stdout, seen.stderr);
        assert!(!shown.contains(CLOSED), "{line}: {shown}");
        assert!(!desk.mark().exists(), "{line} started what lies in the workspace");
        assert!(desk.files() == before, "{line} changed a file");
    }
    assert!(count > 30, "{count}");
}

#[tokio::test]
async fn rewritten_commands_still_print_the_expected_output() {
    let desk = DayFixture::new();
    let system = System::new(&desk.at("ws"), &desk.at("home"), &[]);
    let exec = desk.exec(&system);
    let mut count = 0;
    for (line, expected) in [
        ("awk '{print $2}' a.txt", "two\nfour\n"),
        ("find src -name *.rs -exec wc -l {} +", "src/main.rs"),
        ("find . -name a.txt -exec head -n 1 {} ;", "one two"),
        ("command -v ls", "/ls"),
        ("type ls", "/ls"),
        ("less a.txt", "three four"),
        ("env", "PATH="),
        ("git config --get remote.origin.url", "https://example.com/x"),
    ] {
        let Some(seen) = run_line(&desk, &system, &exec, line).await else {
            skip(Reason::OneOfMany(line));
            continue;
        };
        count += 1;
        assert!(seen.stdout.contains(expected), "{line}: {} {}", seen.stdout, seen.stderr);
    }
    assert!(count >= 6, "{count}");
}
