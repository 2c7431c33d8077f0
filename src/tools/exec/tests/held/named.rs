//! Places outside that the question about a step named as written: open to that step once the user
//! answered it, and to nothing else.

use super::*;
use crate::system::System;
use avocet_core::protocol::{Requires, Step, StepAction};
use avocet_safety::{self as safety, NeedsApproval, Policy, PolicyContext, Workspace};

/// `HOME` is a folder with credentials in it; the workspace is two folders below.
#[rustfmt::skip]
const NAMED: &[&str] = &[
    "touch ../new", "touch ../old.txt", "touch ../a1 ../a2", "touch AWAY/new",
    "mkdir ../made", "mkdir -p ../made/deep/er", "mkdir ../old", "rmdir ../empty",
    "cp run.sh ../run2.sh", "cp run.sh HOME/plain.txt", "cp -p run.sh AWAY/run2.sh", "cp run.sh ..", "cp run.sh ../old", "cp run.sh ../old.txt",
    "cp -r tree ../copied", "cp -r tree ../old", "cp -a tree ../old", "cp run.sh tree/b.txt ../old", "cp -n run.sh ../old.txt", "cp -n run.sh ../new",
    "mv run.sh ../moved", "mv tree ../moved", "mv run.sh ../old.txt", "mv tree ../old", "mv ../old.txt .", "mv ../old inside", "mv ../old.txt ../renamed",
    "sed -i s/old/new/ ../old.txt", "sed -i -e s/x/y/ ../old/x.txt",
    "ln -s run.sh ../link", "rm ../old.txt", "rm -r ../old", "rm ../missing",
    "zip -q ../new.zip run.sh", "zip -qr HOME/code/new.zip tree run.sh", "zip -q ../new.zip ../old.txt", "cargo new -q ../app", "cargo new -q --lib --vcs none ../old/lib",
    "tee ../new", "tee -a ../old.txt", "truncate -s 3 ../new", "sort -o ../sorted run.sh",
    "tar -cf ../new.tar tree", "tar -czf HOME/new.tgz tree", "tar -xf tree.tar -C ../old", "tar --extract --file tree.tar --directory ../empty",
    "cc hello.c -o ../hello", "cc -c hello.c -o HOME/hello.o", "cargo build -q --offline --manifest-path sub/Cargo.toml --target-dir ../built", "cargo init -q --lib ../lib",
    "git clone -q . ../clone", "git worktree add -q ../side -b side", "git init -q ../fresh", "git archive -o ../a.tar HEAD",
    "install -m 600 run.sh ../installed", "install run.sh ../old.txt", "install run.sh tree/b.txt ../old",
    "bash -c 'mkdir -p ../two && cp run.sh ../two/run.sh'", "bash -lc 'cp -r tree ../t2 && ls ../t2'", "bash -c 'd=../two; mkdir $d && cp run.sh $d/x'", "bash -c 'touch ../{a1,a2}'",
    "bash -c 'echo hi > ../log'", "sh -c 'echo hi >> ../old.txt'", "bash -c 'ls nothere 2> ../err; cat run.sh > AWAY/copy'", "bash -c 'echo x > HOME/new.txt'",
    "bash -c './run.sh > ../ran 2>&1'", "bash -c 'echo x | tee ../teed'", "bash -c 'cat run.sh tree/b.txt | sort > ../sorted'", "bash -c 'cc hello.c -o ../hello 2> ../err'",
    "bash -c 'cd ../old && touch y'", "bash -c 'cd ../old && echo x > z && cp x.txt w.txt'", "bash -c 'cd AWAY && mkdir deep && ls'", "bash -c 'cd ../old && rm x.txt'",
    "bash -c 'echo x > ~/new.txt'", "bash -c 'cat run.sh >> ~/plain.txt'",
    "bash -c 'mkdir -p ../out && echo x > ../out/log'", "bash -c 'rm ../old.txt; echo new > ../old.txt'", "bash -c 'mkdir inside && cp run.sh ../copy > ../log'", "bash -c 'install run.sh ../x && echo done'",
];

/// The folder around these is the home, or holds credentials: only what is there is opened.
#[rustfmt::skip]
const BESIDE_CREDENTIALS: &[&str] = &[
    "touch HOME/new", "mkdir HOME/made", "mkdir -p HOME/made/deep", "mkdir -p HOME/.config/app", "touch HOME/.config/x", "cp run.sh HOME/run2.sh", "cp -r tree HOME/copied", "mv run.sh HOME/moved",
    "ln -s run.sh HOME/link", "rm HOME/plain.txt", "install run.sh HOME/new", "bash -c 'cp run.sh ~/b'", "sed -i s/plain/x/ HOME/plain.txt", "bash -c 'cd HOME && touch b'", "bash -c 'mkdir -p HOME/made && echo x > HOME/made/y'",
    "zip -q HOME/new.zip run.sh", "cargo new -q HOME/app",
];

/// What a line writes outside that its question did not name, or not for certain.
#[rustfmt::skip]
const UNNAMED: &[&str] = &[
    "bash -c 'f=../log; ./evil.sh > $f'", "bash -c 'f=../log; echo x > \"$f\"'", "bash -c 'echo x > $(echo ../log)'", "bash -c 'echo x > `echo ../log`'",
    "bash -c 'echo x > ../o*.txt'", "bash -c 'touch ../[o]ld.txt/../log'", "bash -c 'echo x > out/log'", "bash -c 'echo x > ../home/log'", "bash -c 'cd out && touch log'", "bash -c 'cd ../home && touch log'",
    "bash -c 'cd $X; echo x > ../log'", "bash -c 'pushd tree; echo x > ../../log'", "bash -c 'source ./evil.sh; echo x > ../log'", "bash -c ./writes.sh", "make log", "bash -c 'cat < run.sh > /dev/null; ./writes.sh'",
    "bash -c 'touch() { ./evil.sh; }; touch ../log2'", "bash -c 'PATH=.:$PATH; touch ../log2'", "bash -c 'PATH=. touch ../log2'", "bash -c './evil.sh; mkdir ../log2'", "bash -c 'mkdir ../log2; find tree -exec ./evil.sh {} +'",
    "zip -qT -TT ./evil.sh ../log run.sh", "zip -qm ../log run.sh", "zip -q -b .. a.zip run.sh", "bash -c './evil.sh; zip -q ../log run.sh'", "cargo new -q --config x=1 ../app",
    "sed -i 'e ./evil.sh' ../old.txt", "sed -i 'w ../log' run.sh",
    "bash -c 'eval touch ../log2'", "bash -c 'echo ../log | xargs touch'", "bash -c 'echo $(./evil.sh) && touch ../log2'", "bash -c 'touch ../log2 > >(./evil.sh)'", "bash -c 'bash -c \"touch ../log2; ./evil.sh\"'",
    "bash -c 'echo x > ~/.ssh/x'", "bash -c 'echo x > HOME/.ssh/x'", "bash -c 'cd HOME/.ssh && touch x'", "bash -c 'echo x >> HOME/.codex/config.toml'", "bash -c 'tee HOME/.config/gh/hosts.yml < run.sh'",
];

/// A workspace in a folder of a home, with credentials in it.
struct NamedFixture {
    root: tempfile::TempDir,
    exec: Exec,
}

impl NamedFixture {
    /// `None` where this machine holds nothing.
    async fn new(mode: SandboxMode) -> Option<NamedFixture> {
        // By chance the usual name, `.tmp…`, ends in `rc`: that of a startup file, which stays closed.
        let root = tempfile::Builder::new().prefix("named").tempdir().expect("a folder");
        let at = root.path().canonicalize().expect("a folder");
        for folder in ["home/code/shop", "home/code/empty", "away"] {
            std::fs::create_dir_all(at.join(folder)).expect("a folder");
        }
        let (workspace, home) = (at.join("home/code/shop"), at.join("home"));
        let system = System::new(&workspace, &home, &[]);
        let paths = SandboxPaths {
            workspace,
            home: home.clone(),
            programs: system.folders().to_vec(),
            own: vec![at.join("own")],
            ..SandboxPaths::default()
        };
        let sandbox = Arc::new(Sandbox::new(mode, paths));
        if sandbox.status() == SandboxStatus::Absent {
            return None;
        }
        let user = BTreeMap::from([("HOME".into(), home.into())]);
        let setup = Setup {
            shell: "/bin/sh".into(),
            environment: ChildEnvironment {
                user,
                path: system.child_path(),
                ..ChildEnvironment::default()
            },
            limits: StepLimits { alone: Duration::from_secs(600), ..StepLimits::default() },
            redactor: None,
            lang: Lang::En,
        };
        let fixture = NamedFixture { root, exec: Exec::new(setup).with_sandbox(sandbox) };
        fixture.fill().await;
        Some(fixture)
    }

    async fn fill(&self) {
        for (name, text) in [
            ("shop/run.sh", "#!/bin/sh\necho ran\n"),
            ("shop/hello.c", "int main(void) { return 0; }\n"),
            ("shop/tree/a/c.txt", "c\n"),
            ("shop/tree/b.txt", "b\n"),
            ("shop/sub/Cargo.toml", "[package]\nname = \"sub\"\nedition = \"2021\"\n[workspace]\n"),
            ("shop/sub/src/lib.rs", ""),
            ("old.txt", "old\n"),
            ("old/x.txt", "x\n"),
            ("../plain.txt", "plain\n"),
            (
                "../.gitconfig",
                "[user]\n\tname = a\n\temail = a@b\n[init]\n\tdefaultBranch = main\n",
            ),
            ("../.ssh/id_rsa", "SECRET"),
            ("../.config/gh/hosts.yml", "SECRET"),
        ] {
            self.write(&self.at("home/code").join(name), text);
        }
        for line in ["tar -cf tree.tar tree", "git init -q", "git add -A", "git commit -qm all"] {
            assert_eq!(self.answer(line).await.exit_code, Some(0), "{line}");
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().expect("a folder").join(name)
    }

    fn workspace(&self) -> PathBuf {
        self.at("home/code/shop")
    }

    fn write(&self, path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
        let runs = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(path, runs).expect("a mode");
    }

    /// A line as its words, with the places of this fixture.
    fn words(&self, line: &str) -> Vec<String> {
        let line = line.replace("HOME", self.at("home").to_str().unwrap());
        let line = line.replace("AWAY", self.at("away").to_str().unwrap());
        let mut words = Vec::new();
        for (at, part) in line.split('\'').enumerate() {
            match at % 2 {
                0 => words.extend(part.split_whitespace().map(str::to_owned)),
                _ => words.push(part.to_owned()),
            }
        }
        words
    }

    /// The question about it; `None`: it is refused.
    fn question(&self, line: &str) -> Option<NeedsApproval> {
        let words = self.words(line);
        let (program, args) = words.split_first().expect("a program");
        let mut place = Workspace::new(self.workspace(), self.at("home"));
        place.home = self.at("home");
        let system = System::new(&place.workspace, &place.home, &[]);
        let scene = PolicyContext { policy: &Policy::default(), place: &place, world: &system };
        let work = StepAction::Exec { program: program.clone(), args: args.to_vec() };
        let step = Step { id: "cmd_001".into(), work, requires: Requires::default(), cwd: None };
        safety::assess(step, scene).into_needs_approval()
    }

    async fn run(&self, cleared: ClearedStep) -> Observation {
        let (output, _live) = tokio::sync::mpsc::unbounded_channel();
        let cancel = tokio_util::sync::CancellationToken::new();
        run(&self.exec, &cleared, None, &RunControl::new(cancel, output)).await.observation
    }

    /// Runs it as where the user answers its question.
    async fn answer(&self, line: &str) -> Observation {
        let held = self.question(line).unwrap_or_else(|| panic!("refused: {line}"));
        self.run(held.approve_named()).await
    }

    /// Every file with its mode and its length.
    fn tree(&self) -> BTreeMap<String, (u32, u64)> {
        let mut found = BTreeMap::new();
        let mut left = vec![self.at("")];
        while let Some(path) = left.pop() {
            let meta = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(self.at("")).unwrap().display().to_string();
            // What builds and git keep for themselves differs from run to run.
            if ["target", "built", ".git", ".cargo", ".cache"]
                .iter()
                .any(|part| name.ends_with(part))
            {
                found.insert(name, (0, 0));
                continue;
            }
            if meta.is_dir() {
                left.extend(std::fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
            }
            // A packed one has times in it.
            let is_counted = meta.is_file() && !name.ends_with(".tgz");
            let length = if is_counted { meta.len() } else { 0 };
            found.insert(name, (meta.permissions().mode(), length));
        }
        found
    }
}

#[tokio::test]
async fn what_the_question_names_outside_is_written_at_the_first_run_as_without_the_sandbox() {
    let mut differing = Vec::new();
    for line in NAMED {
        let inside = NamedFixture::new(SandboxMode::Work).await;
        let outside = NamedFixture::new(SandboxMode::Off).await;
        let (Some(inside), Some(outside)) = (inside, outside) else {
            return skip(Reason::NoSandbox);
        };
        let bare = outside.answer(line).await.exit_code;
        let seen = inside.answer(line).await;
        let (left, right) = (inside.tree(), outside.tree());
        if seen.exit_code != bare || left != right {
            let more: Vec<_> =
                left.iter().filter(|(name, meta)| right.get(*name) != Some(*meta)).collect();
            let less: Vec<_> =
                right.iter().filter(|(name, meta)| left.get(*name) != Some(*meta)).collect();
            differing.push(format!(
                "{line}: {:?} and not {bare:?}, {more:?} for {less:?}, {}",
                seen.exit_code, seen.stderr
            ));
        }
    }
    assert_eq!(differing, [""; 0]);
}

#[tokio::test]
async fn nothing_is_opened_that_the_question_did_not_name_or_that_no_user_answered() {
    let Some(wall) = NamedFixture::new(SandboxMode::Work).await else {
        return skip(Reason::NoSandbox);
    };
    let evil = "#!/bin/bash\nfor f in ../other ../old.txt ../old/x ~/.ssh/id_rsa ~/new ~/.config/gh/hosts.yml AWAY/x; do\n\
                (echo evil > \"$f\") 2>/dev/null && echo \"WROTE $f\"; cat \"$f\" 2>/dev/null\ndone\nrm -r ../old ../log 2>/dev/null && echo REMOVED\necho done\n";
    wall.write(
        &wall.workspace().join("evil.sh"),
        &evil.replace("AWAY", wall.at("away").to_str().unwrap()),
    );
    wall.write(&wall.workspace().join("touch"), "#!/bin/bash\n./evil.sh\n");
    wall.write(
        &wall.workspace().join("writes.sh"),
        "#!/bin/sh\necho x > ../log\ntouch ../old.txt\n",
    );
    wall.write(&wall.workspace().join("Makefile"), "log:\n\ttouch ../log\n");
    for (link, to) in [("home/code/shop/out", "away"), ("home/code/home", "home")] {
        std::os::unix::fs::symlink(wall.at(to), wall.at(link)).unwrap();
    }
    let outside = |wall: &NamedFixture| {
        let mut tree = wall.tree();
        tree.retain(|name, _| !name.starts_with("home/code/shop"));
        tree
    };
    let before = outside(&wall);
    for line in BESIDE_CREDENTIALS.iter().chain(UNNAMED) {
        let Some(held) = wall.question(line) else { continue };
        let seen = wall.run(held.approve_named()).await;
        assert_eq!(outside(&wall), before, "{line}: {seen:?}");
    }
    wall.write(&wall.workspace().join("rust-toolchain.toml"), "[toolchain]\npath = \"evil\"\n");
    wall.write(&wall.workspace().join("evil/bin/cargo"), "#!/bin/bash\n../evil.sh\nmkdir ../app\n");
    wall.answer("cargo new -q ../app").await;
    assert_eq!(outside(&wall), before, "the project chooses what runs");
    for line in [
        "bash -c './evil.sh > ../log'",
        "bash -c './evil.sh | tee ../log'",
        "bash -c 'touch ../log; ./evil.sh | cat > ../log'",
        "bash -c 'mkdir -p ../log2 && ./evil.sh > ../log'",
    ] {
        wall.answer(line).await;
        let text = std::fs::read_to_string(wall.at("home/code/log")).unwrap_or_default();
        assert!(text.is_empty() || text == "done\n", "{line}: {text}");
        assert_eq!(
            std::fs::read_to_string(wall.at("home/code/old.txt")).unwrap(),
            "old\n",
            "{line}"
        );
    }
    for line in NAMED.iter().filter(|line| !line.contains("rm ../missing")) {
        let Some(wall) = NamedFixture::new(SandboxMode::Work).await else { continue };
        let before = outside(&wall);
        let held = wall.question(line).unwrap_or_else(|| panic!("refused: {line}"));
        wall.run(held.approve()).await;
        assert_eq!(outside(&wall), before, "{line}");
    }
}

#[tokio::test]
async fn credentials_and_homes_of_programs_are_no_places_that_a_question_opens() {
    let Some(wall) = NamedFixture::new(SandboxMode::Work).await else {
        return skip(Reason::NoSandbox);
    };
    wall.write(&wall.at("home/.codex/config.toml"), "old");
    wall.write(&wall.workspace().join("d/.ssh/authorized_keys"), "evil");
    wall.write(&wall.workspace().join("d/.codex/config.toml"), "evil");
    let root = wall.workspace();
    std::os::unix::fs::symlink(wall.at("home/.ssh/id_rsa"), root.join("tree/key")).unwrap();
    let before = wall.tree();
    for line in [
        "cp run.sh HOME/.codex/config.toml",
        "touch HOME/.codex/new",
        "rm -r HOME/.codex",
        "mv HOME/.codex inside",
        "cp -r d/.codex HOME",
        "cp -r d/. HOME",
        "cp -r d/.ssh HOME",
        "rm -r HOME/.config",
        "mkdir -p HOME/.codex/new",
        "bash -c 'echo x > HOME/.codex/config.toml'",
        "mv HOME/.config ../x",
        "ln -s run.sh HOME/.codex/x",
        "cp run.sh ~/.codex/config.toml",
        "tee HOME/.codex/config.toml",
        "tar -xf tree.tar -C HOME",
    ] {
        let Some(held) = wall.question(line) else { continue };
        wall.run(held.approve_named()).await;
        assert_eq!(wall.tree(), before, "{line}");
    }
    // A link that one copy brings is not followed by the next.
    for _ in 0..2 {
        wall.answer("cp -r tree ../old").await;
        std::fs::remove_file(root.join("tree/key")).unwrap();
        wall.write(&root.join("tree/key"), "evil");
    }
    assert_eq!(std::fs::read_to_string(wall.at("home/.ssh/id_rsa")).unwrap(), "SECRET");
}
