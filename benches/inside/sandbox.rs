//! What safety costs a step: judging it, and the sandbox around it (`true`, started and
//! waited for, with and without).

#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use avocet::i18n::Lang;
use avocet::protocol::{Effect, Requires, SandboxMode, Step, StepAction};
use avocet::safety::{self, Grant, Policy, PolicyContext, PolicyRule, Terms, Verdict, Workspace};
use avocet::tools::exec::{ChildEnvironment, Exec, Setup, StepLimits};
use avocet::tools::sandbox::{Sandbox, SandboxPaths};
use avocet::tools::system::System;
use avocet::tools::{RunControl, Tool};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

struct Field {
    folder: tempfile::TempDir,
    runtime: Runtime,
    exec: Exec,
    system: System,
}

impl Field {
    fn new(setting: SandboxMode) -> Field {
        Field::holding(setting, 0)
    }

    /// With so many files in the folder, a hundred in each of its folders.
    fn holding(setting: SandboxMode, files: usize) -> Field {
        let folder = tempfile::tempdir().unwrap();
        for at in 0..files {
            let inner = folder.path().join(format!("d{}", at / 100));
            if at % 100 == 0 {
                std::fs::create_dir(&inner).unwrap();
            }
            std::fs::write(inner.join(format!("f{at}")), "").unwrap();
        }
        let here = folder.path().canonicalize().unwrap();
        let system = System::new(&here, &here, &[]);
        let programs = system.folders().to_vec();
        let places = SandboxPaths {
            workspace: here.clone(),
            home: here,
            programs,
            ..SandboxPaths::default()
        };
        let sandbox = Arc::new(Sandbox::new(setting, places));
        let setup = Setup {
            shell: "/bin/sh".into(),
            environment: ChildEnvironment {
                user: BTreeMap::new(),
                path: system.child_path(),
                ..ChildEnvironment::default()
            },
            limits: StepLimits::default(),
            redactor: None,
            lang: Lang::En,
        };
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let _ = sandbox.status();
        let exec = Exec::new(setup).with_sandbox(sandbox);
        Field { folder, runtime, exec, system }
    }

    /// Runs `true`, approved where the sandbox for approved steps is meant.
    fn step(&self, approved: bool) {
        let here = self.folder.path().canonicalize().unwrap();
        let place = Workspace::new(here.clone(), here);
        let policy = Policy::default();
        let scene = PolicyContext { policy: &policy, place: &place, world: &self.system };
        let work = StepAction::exec("true", &[]);
        // Asked about, and yes was said.
        let requires = Requires { write: approved, ..Requires::default() };
        let step = Step { id: "1".into(), work, requires, cwd: None };
        let cleared = match safety::assess(step, scene) {
            Verdict::Run(cleared) => cleared,
            Verdict::Ask(held) => held.approve(),
            Verdict::Refuse(_) => return,
        };
        let (output, _live) = unbounded_channel();
        let watch = RunControl::new(CancellationToken::new(), output);
        let seen = self.runtime.block_on(self.exec.run(cleared, watch));
        assert_eq!(seen.exit_code, Some(0), "{:?}", seen.note);
    }
}

/// In a folder without a repository, and with one whose settings are looked at each time.
#[divan::bench(args = JUDGED)]
fn judging(bencher: divan::Bencher<'_, '_>, line: &str) {
    let field = Field::new(SandboxMode::Off);
    let here = field.folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(here.join("src")).unwrap();
    std::fs::write(here.join("src/main.rs"), "fn main() {}\n").unwrap();
    if line.starts_with("git") {
        std::fs::create_dir(here.join(".git")).unwrap();
        std::fs::write(here.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(here.join(".git/config"), "[core]\n\tbare = false\n").unwrap();
    }
    let place = Workspace::new(here.clone(), here);
    let policy = Policy::default();
    let scene = PolicyContext { policy: &policy, place: &place, world: &field.system };
    let (program, args) = line.split_once(' ').unwrap_or((line, ""));
    let args: Vec<&str> = args.split_whitespace().collect();
    let work = StepAction::exec(program, &args);
    let step = Step { id: "1".into(), work, requires: Requires::default(), cwd: None };
    bencher.with_inputs(|| step.clone()).bench_local_values(|step| safety::assess(step, scene));
}

const JUDGED: &[&str] = &[
    "pwd",
    "ls -la src",
    "rg -n TODO src",
    "find . -name *.rs -type f",
    "sed -n 1,40p src/main.rs",
    "timeout 5 cat src/main.rs",
    "cargo test --lib",
    "rm -rf build",
    "bash -c ls",
    "git status --short",
];

/// With 500 remembered rules: the first line is covered by none of them, the next by the last.
#[divan::bench(args = ["make other", "make t499", "ls -la src", "cargo test --lib"])]
fn judging_with_500_rules(bencher: divan::Bencher<'_, '_>, line: &str) {
    let field = Field::new(SandboxMode::Off);
    let here = field.folder.path().canonicalize().unwrap();
    let place = Workspace::new(here.clone(), here.clone());
    let terms = Terms {
        folder: here,
        reasons: vec!["make".into()],
        effects: vec![Effect::Exec, Effect::Write],
        pinned: None,
        script: None,
    };
    let granted = (0..500).map(|number| Grant {
        rule: PolicyRule::parse(&format!("make t{number}")).unwrap(),
        terms: terms.clone(),
    });
    let policy = Policy { granted: granted.collect(), ..Policy::default() };
    let scene = PolicyContext { policy: &policy, place: &place, world: &field.system };
    let (program, args) = line.split_once(' ').unwrap_or((line, ""));
    let args: Vec<&str> = args.split_whitespace().collect();
    let work = StepAction::exec(program, &args);
    let step = Step { id: "1".into(), work, requires: Requires::default(), cwd: None };
    bencher.with_inputs(|| step.clone()).bench_local_values(|step| safety::assess(step, scene));
}

/// Where the machine has none, all rows are the same. `work`: an approved step.
#[divan::bench(args = ["off", "read", "work"], sample_count = 300, sample_size = 1)]
fn a_step(bencher: divan::Bencher<'_, '_>, setting: &str) {
    let field = Field::new(SandboxMode::parse(setting).unwrap());
    bencher.bench_local(|| field.step(setting == "work"));
}

/// The same in a folder of 20,000 files, which is looked through at the first step.
#[divan::bench(args = ["off", "read", "work"], sample_count = 300, sample_size = 1)]
fn a_step_among_20000_files(bencher: divan::Bencher<'_, '_>, setting: &str) {
    let field = Field::holding(SandboxMode::parse(setting).unwrap(), 20_000);
    field.step(setting == "work");
    bencher.bench_local(|| field.step(setting == "work"));
}

/// The same in a repository with 300 files of builds and a hook, which are looked at before and
/// after an approved step.
#[divan::bench(args = ["off", "work"], sample_count = 300, sample_size = 1)]
fn a_step_among_guarded_files(bencher: divan::Bencher<'_, '_>, setting: &str) {
    let field = Field::holding(SandboxMode::parse(setting).unwrap(), 20_000);
    let here = field.folder.path();
    for folder in [".git/hooks", ".git/objects", ".git/refs"] {
        std::fs::create_dir_all(here.join(folder)).unwrap();
    }
    for (name, text) in [("HEAD", "ref: refs/heads/x\n"), ("config", "[core]\n"), ("hooks/x", "")] {
        std::fs::write(here.join(".git").join(name), text).unwrap();
    }
    for at in 0..300 {
        let folder = here.join(format!("d{}/p{at}", at % 200));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("package.json"), "{}\n").unwrap();
    }
    field.step(true);
    bencher.bench_local(|| field.step(true));
}

/// The first of them.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn the_first_step_among_20000_files(bencher: divan::Bencher<'_, '_>) {
    bencher
        .with_inputs(|| Field::holding(SandboxMode::Read, 20_000))
        .bench_local_values(|field| field.step(false));
}

/// Making the list of what may be read, and trying it all out: once a session.
#[divan::bench(sample_count = 50, sample_size = 1)]
fn trying_it_out(bencher: divan::Bencher<'_, '_>) {
    let folder = tempfile::tempdir().unwrap();
    let here: &Path = folder.path();
    let places = || SandboxPaths {
        workspace: here.into(),
        home: here.into(),
        programs: vec!["/usr/bin".into()],
        ..SandboxPaths::default()
    };
    bencher
        .with_inputs(|| Sandbox::new(SandboxMode::Read, places()))
        .bench_local_values(|sandbox| sandbox.status());
}
