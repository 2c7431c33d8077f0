//! What runs by itself inside the sandbox and is more than one plain program: scripts,
//! links, one file that is many programs, what version managers put in their place. Each
//! says inside what it says outside. What this machine lacks is left out, and said.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use avocet::i18n::Lang;
use avocet::protocol::{Observation, Requires, SandboxMode, SandboxStatus, Step, StepAction};
use avocet::safety::{self, ClearedStep, Machine, Policy, PolicyContext, Verdict, Workspace};
use avocet::tools::exec::{ChildEnvironment, Exec, Setup};
use avocet::tools::sandbox::{Sandbox, SandboxPaths};
use avocet::tools::system::System;
use avocet::tools::{RunControl, Tool};
use pretty_assertions::assert_eq;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use crate::support::skip::{Reason, skip};
use crate::support::wait::wide_limits;

/// `one`, `two`, each on its line, packed.
const PACKED: &[u8] = &[
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 207, 75, 229, 42, 41, 207, 231, 2, 0, 230, 11, 186, 18,
    8, 0, 0, 0,
];

/// A workspace, and where the user's programs lie.
pub struct ProgramFixture {
    _root: tempfile::TempDir,
    pub workspace: PathBuf,
    home: PathBuf,
    own: PathBuf,
    system: System,
}

impl ProgramFixture {
    /// In a temporary folder, with the real home of who runs the test: toolchains lie there.
    fn real(extra: &[PathBuf]) -> ProgramFixture {
        let home = std::env::home_dir().unwrap_or_else(|| "/nonexistent".into());
        ProgramFixture::at(&std::env::temp_dir(), &home, extra)
    }

    pub fn at(above: &Path, home: &Path, extra: &[PathBuf]) -> ProgramFixture {
        let root = tempfile::tempdir_in(above).unwrap();
        let at = root.path().canonicalize().unwrap();
        let workspace = at.join("ws");
        fs::create_dir(&workspace).unwrap();
        fs::write(workspace.join("a.txt"), "one\ntwo\n").unwrap();
        fs::write(workspace.join("a.json"), "{\"a\": [1, 2]}\n").unwrap();
        fs::write(workspace.join("a.gz"), PACKED).unwrap();
        let system = System::new(&workspace, home, extra);
        let real = |path: &str| std::env::var_os(path).map(PathBuf::from);
        let system = system.with_manager_dirs(real);
        let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
        ProgramFixture { _root: root, workspace, home, own: at.join("own"), system }
    }

    pub fn judge(&self, words: &[&str]) -> Verdict {
        let place = Workspace::new(self.workspace.clone(), self.home.clone());
        let policy = Policy::default();
        let scene = PolicyContext { policy: &policy, place: &place, world: &self.system };
        let work = StepAction::exec(words[0], &words[1..]);
        let step = Step { id: "cmd_001".into(), work, requires: Requires::default(), cwd: None };
        safety::assess(step, scene)
    }

    /// The step, where it is there and runs by itself.
    fn step(&self, words: &[&str]) -> Option<ClearedStep> {
        match self.judge(words) {
            Verdict::Run(cleared) if cleared.judgement().program.is_some() => Some(cleared),
            Verdict::Run(_) => {
                skip(Reason::OneOfMany(words[0]));
                None
            }
            other => panic!("{words:?} asks: {:?}", other.judgement().risk.reasons),
        }
    }

    fn places(&self) -> SandboxPaths {
        let moved = avocet::safety::places::variables()
            .filter_map(|name| Some((name.to_owned(), PathBuf::from(std::env::var_os(name)?))));
        SandboxPaths {
            workspace: self.workspace.clone(),
            home: self.home.clone(),
            programs: self.system.folders().to_vec(),
            own: vec![self.own.clone()],
            moved: moved.filter(|(_, path)| path.is_absolute()).collect(),
            ..SandboxPaths::default()
        }
    }

    pub fn exec(&self, setting: SandboxMode) -> (Exec, SandboxStatus) {
        let sandbox = Arc::new(Sandbox::new(setting, self.places()));
        let shelter = sandbox.status();
        let kept = ["RUSTUP_HOME", "CARGO_HOME", "PYENV_ROOT", "RUSTUP_TOOLCHAIN"];
        let kept = kept.iter().filter_map(|name| Some(((*name).into(), std::env::var_os(name)?)));
        let mut user: BTreeMap<_, _> = kept.collect();
        user.insert("HOME".into(), self.home.clone().into());
        let path = self.system.child_path();
        let setup = Setup {
            shell: "/bin/sh".into(),
            environment: ChildEnvironment { user, path, ..ChildEnvironment::default() },
            limits: wide_limits(),
            redactor: None,
            lang: Lang::En,
        };
        (Exec::new(setup).with_sandbox(sandbox), shelter)
    }

    /// What each line does inside, against what it does outside. Answers with the number
    /// of lines that ran.
    pub async fn assert_same_in_sandbox(&self, lines: &[&str]) -> usize {
        let ((held, shelter), (free, _)) =
            (self.exec(SandboxMode::Read), self.exec(SandboxMode::Off));
        if shelter == SandboxStatus::Absent {
            skip(Reason::NoSandbox);
            return usize::MAX;
        }
        let (mut ran, mut wrong) = (0, Vec::new());
        for line in lines {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let Some(step) = self.step(&words) else { continue };
            let inside = run(&held, step).await;
            let outside = run(&free, self.step(&words).unwrap()).await;
            let of =
                |seen: &Observation| (seen.exit_code, seen.stdout.clone(), seen.stderr.clone());
            if of(&inside) != of(&outside) {
                wrong.push(format!("{line}: {:?}\n  outside: {:?}", of(&inside), of(&outside)));
            }
            ran += 1;
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        ran
    }
}

pub async fn run(exec: &Exec, step: ClearedStep) -> Observation {
    let (output, _live) = unbounded_channel();
    exec.run(step, RunControl::new(CancellationToken::new(), output)).await
}

#[tokio::test]
async fn scripts_and_pagers_print_the_same_in_the_sandbox() {
    let desk = ProgramFixture::real(&[]);
    let ran = desk
        .assert_same_in_sandbox(&[
            "egrep one a.txt",
            "fgrep two a.txt",
            "zcat a.gz",
            "gunzip -c a.gz",
            "gzip -dc a.gz",
            "less a.txt",
            "more a.txt",
            "bat -p a.txt",
            "batcat -p a.txt",
            "man ls",
            "man -w ls",
            "man -k printf",
            "whatis ls",
            "apropos printf",
            "which ls",
            "locale",
            "tar --version",
            "perl -v",
            "jq . a.json",
            "awk {print} a.txt",
            "gawk {print} a.txt",
            "mawk {print} a.txt",
        ])
        .await;
    assert!(ran >= 5, "{ran}");
}

#[tokio::test]
async fn toolchains_print_their_version_in_the_sandbox() {
    let desk = ProgramFixture::real(&[]);
    let ran = desk
        .assert_same_in_sandbox(&[
            "cargo --version",
            "rustc --version",
            "rustc -vV",
            "rustfmt --version",
            "rustup --version",
            "rustup toolchain list",
            "node --version",
            "npm --version",
            "npx --version",
            "java --version",
            "go version",
            "go env GOROOT",
            "python3 --version",
            "pip3 --version",
            "pip3 list",
            "git --version",
            "ruby --version",
            "gcc --version",
            "make --version",
        ])
        .await;
    assert!(ran >= 1, "{ran}");
}

#[tokio::test]
async fn version_manager_shims_work_in_the_sandbox() {
    let home = std::env::home_dir().unwrap_or_default();
    let mut shelves = vec![home.join(".pyenv/shims"), home.join(".asdf/shims")];
    let versions = fs::read_dir(home.join(".nvm/versions/node")).into_iter().flatten().flatten();
    shelves.extend(versions.map(|version| version.path().join("bin")));
    shelves.retain(|folder| folder.is_dir());
    if shelves.is_empty() {
        return skip(Reason::NotInstalled("a version manager"));
    }
    let desk = ProgramFixture::real(&shelves);
    let lines =
        ["python3 --version", "pip3 --version", "pip3 list", "node --version", "npm --version"];
    assert!(desk.assert_same_in_sandbox(&lines).await >= 1);
}

#[tokio::test]
async fn a_multi_call_binary_works_in_the_sandbox_under_each_name() {
    let busybox = ["/usr/bin/busybox", "/bin/busybox"].map(PathBuf::from);
    let Some(busybox) = busybox.into_iter().find(|path| path.is_file()) else {
        return skip(Reason::NotInstalled("busybox"));
    };
    let root = crate::support::temp_dir();
    let shelf = root.path().canonicalize().unwrap().join("bin");
    fs::create_dir(&shelf).unwrap();
    fs::set_permissions(&shelf, fs::Permissions::from_mode(0o755)).unwrap();
    for name in ["ls", "cat", "grep", "sort", "wc", "head", "find", "sed", "awk", "zcat", "env"] {
        symlink(&busybox, shelf.join(name)).unwrap();
    }
    let desk = ProgramFixture::real(&[shelf]);
    let lines = [
        "ls",
        "cat a.txt",
        "grep one a.txt",
        "sort a.txt",
        "wc -l a.txt",
        "head -n 1 a.txt",
        "find . -name a.txt",
        "sed -n 1p a.txt",
        "awk {print} a.txt",
        "zcat a.gz",
        "env ls",
    ];
    let used = desk.system.program("ls").unwrap().path;
    assert!(used.starts_with(root.path().canonicalize().unwrap()), "{used:?}");
    assert!(desk.assert_same_in_sandbox(&lines).await >= 10);
}

#[tokio::test]
async fn a_tmpfs_workspace_and_a_linked_home_are_readable_in_the_sandbox() {
    let shm = Path::new("/dev/shm");
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let is_tmpfs = mounts.lines().any(|line| {
        let mut words = line.split(' ').skip(1);
        words.next() == Some("/dev/shm") && words.next() == Some("tmpfs")
    });
    let above = if is_tmpfs && tempfile::tempdir_in(shm).is_ok() {
        shm.to_owned()
    } else {
        skip(Reason::NoSharedMemory);
        std::env::temp_dir()
    };
    let root = crate::support::temp_dir();
    let at = root.path().canonicalize().unwrap();
    fs::create_dir_all(at.join("real/.ssh")).unwrap();
    fs::write(at.join("real/.gitconfig"), "[user]\n\tname = Linked Home\n").unwrap();
    symlink(at.join("real"), at.join("home")).unwrap();
    let desk = ProgramFixture::at(&above, &at.join("home"), &[]);
    fs::write(desk.workspace.join(".env"), "SECRET=1\n").unwrap();
    let lines = ["ls", "cat a.txt", "grep -r one .", "git config --get user.name"];
    assert!(desk.assert_same_in_sandbox(&lines).await >= 3);
    let (held, shelter) = desk.exec(SandboxMode::Work);
    if shelter == SandboxStatus::Absent {
        return skip(Reason::NoSandbox);
    }
    let approve = |words: &[&str]| match desk.judge(words) {
        Verdict::Run(cleared) => cleared,
        Verdict::Ask(asked) => asked.approve(),
        Verdict::Refuse(refused) => panic!("{:?}", refused.judgement().risk),
    };
    let seen = run(&held, approve(&["touch", "new"])).await;
    assert_eq!(seen.exit_code, Some(0), "{}", seen.stderr);
    for path in [at.join("home/new"), at.join("real/new")] {
        let seen = run(&held, approve(&["touch", &path.to_string_lossy()])).await;
        assert!(seen.exit_code != Some(0) && !path.exists(), "{path:?}");
    }
    // A key is closed wherever the way to it begins.
    fs::write(at.join("real/.ssh/id_rsa"), "SECRET\n").unwrap();
    for path in [at.join("home/.ssh/id_rsa"), at.join("real/.ssh/id_rsa")] {
        fs::write(desk.workspace.join("run.sh"), format!("cat '{}'\n", path.display())).unwrap();
        let seen = run(&held, approve(&["sh", "run.sh"])).await;
        assert!(seen.exit_code != Some(0) && seen.stdout.is_empty(), "{path:?}");
    }
}
