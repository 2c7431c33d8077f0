//! What the tables promise, held against the real programs: whatever is judged to run by
//! itself neither shows a file that is closed nor changes one, with nothing to hold it
//! back. Programs that are not on this machine are left out, and counted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use avocet::i18n::Lang;
use avocet::protocol::{Observation, Requires, Step, StepAction, Tier};
use avocet::safety::{self, Machine as _, Policy, PolicyContext, Promised, Verdict, Workspace};
use avocet::tools::exec::{ChildEnvironment, Exec, Setup, StepLimits};
use avocet::tools::system::System;
use avocet::tools::{RunControl, Tool};
use futures_util::stream::{self, StreamExt as _};
use tempfile::TempDir;

use crate::ALONE;
use crate::support::skip::{Reason, skip};

/// What stands in files that no step may show by itself.
const CLOSED: &[&str] = &["OUTSIDE-MARK", "SENSITIVE-MARK"];

/// Folders of further programs to try, as in `PATH`.
fn further() -> Vec<PathBuf> {
    let path = std::env::var_os("AVOCET_TEST_PROGRAMS").unwrap_or_default();
    std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect()
}

/// A workspace, and files beside it.
struct DifferentialFixture {
    folder: TempDir,
    exec: Exec,
}

impl DifferentialFixture {
    fn new() -> DifferentialFixture {
        let folder = crate::support::temp_dir();
        let root = folder.path().canonicalize().unwrap();
        let work = root.join("work");
        let system = System::new(&work, &root.join("home"), &further());
        let environment = ChildEnvironment {
            user: BTreeMap::from([("HOME".into(), root.join("home").into_os_string())]),
            path: system.child_path(),
            ..ChildEnvironment::default()
        };
        let alone = Duration::from_secs(3);
        let exec = Exec::new(Setup {
            shell: "/bin/sh".into(),
            environment,
            limits: StepLimits { alone, ..StepLimits::default() },
            redactor: None,
            lang: Lang::En,
        });
        let bench = DifferentialFixture { folder, exec };
        bench.fill();
        bench
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn work(&self) -> PathBuf {
        self.root().join("work")
    }

    fn fill(&self) {
        let outside = self.root().join("outside");
        let folders = ["outside/docs", "home", "work/src/deep", "work/two", "work/.aws"];
        for folder in folders.into_iter().chain(["work/.docker", "work/two/.kube"]) {
            std::fs::create_dir_all(self.root().join(folder)).unwrap();
        }
        for (name, text) in [
            ("outside/notes.txt", "OUTSIDE-MARK one\nOUTSIDE-MARK two\n"),
            ("outside/docs/notes.txt", "OUTSIDE-MARK three\n"),
            ("outside/a.txt", "OUTSIDE-MARK four\n"),
            ("work/a.txt", "alpha 1\nbeta 2\ngamma 3\n"),
            ("work/b.txt", "alpha 1\ndelta 4\n"),
            ("work/data.json", "{\"a\": [1, 2, {\"b\": null}]}\n"),
            ("work/src/main.rs", "fn main() {}\n"),
            ("work/src/deep/x.txt", "deep\n"),
            ("work/two/main.rs", "fn main() { two() }\n"),
            ("work/.env", "KEY=SENSITIVE-MARK\n"),
            ("work/src/.env.local", "KEY=SENSITIVE-MARK\n"),
            ("work/src/server.pem", "SENSITIVE-MARK\n"),
            ("work/id_rsa", "SENSITIVE-MARK\n"),
            ("work/two/.env.example", "KEY=a-sample\n"),
            ("work/two/.env", "KEY=SENSITIVE-MARK-TWO\n"),
            ("work/.aws/config", "SENSITIVE-MARK\n"),
            ("work/.docker/config.json", "{\"auth\": \"SENSITIVE-MARK\"}\n"),
            ("work/two/.kube/config", "token: SENSITIVE-MARK\n"),
            ("work/secrets.json", "{\"k\": \"SENSITIVE-MARK\"}\n"),
        ] {
            std::fs::write(self.root().join(name), text).unwrap();
        }
        let list = format!("{}\n", outside.join("notes.txt").display());
        std::fs::write(self.work().join("list"), list).unwrap();
        for program in ["/usr/bin/true", "/bin/true"] {
            let _ = std::fs::copy(program, self.work().join("a.bin"));
        }
        for (link, to) in [
            ("out", "../outside"),
            ("linked.txt", "../outside/notes.txt"),
            ("src/docs", "../../outside/docs"),
            ("two/linked.txt", "../../outside/notes.txt"),
            ("file:", "../outside"),
            ("~", "../outside"),
            ("-", "../outside/notes.txt"),
        ] {
            std::os::unix::fs::symlink(to, self.work().join(link)).unwrap();
        }
        self.repository();
    }

    /// Everything is tracked, credentials too.
    fn repository(&self) {
        let git = |args: &[&str]| {
            let mut command = Command::new("git");
            command.args(args).current_dir(self.work()).env("HOME", self.root().join("home"));
            for (who, name) in [("AUTHOR", "a"), ("COMMITTER", "c")] {
                command.env(format!("GIT_{who}_NAME"), name);
                command.env(format!("GIT_{who}_EMAIL"), format!("{name}@example.com"));
            }
            assert!(command.output().is_ok_and(|out| out.status.success()), "git {args:?}");
        };
        git(&["init", "-q", "-b", "main", "."]);
        git(&["config", "gc.auto", "0"]);
        git(&["add", "-Af"]);
        git(&["commit", "-qm", "first"]);
        std::fs::write(self.work().join("a.txt"), "alpha 1\nbeta 2\nmore\n").unwrap();
        git(&["commit", "-qam", "second"]);
        std::fs::write(self.work().join("b.txt"), "alpha 1\nchanged\n").unwrap();
    }

    fn system(&self) -> System {
        System::new(&self.work(), &self.root().join("home"), &further())
    }

    fn has(&self, program: &str) -> bool {
        self.system().program(program).is_some()
    }

    /// What a step that runs by itself shows; `None`: it does not. A first word `in:DIR` is
    /// the step's folder.
    async fn run_unasked(&self, words: &[String]) -> Option<Observation> {
        let (policy, world) = (Policy::default(), self.system());
        let place = Workspace::new(self.work(), self.root().join("home"));
        let scene = PolicyContext { policy: &policy, place: &place, world: &world };
        let cwd = words[0].strip_prefix("in:");
        let words = &words[usize::from(cwd.is_some())..];
        let (program, args) = words.split_first().unwrap();
        let work = StepAction::Exec { program: program.clone(), args: args.to_vec() };
        let cwd = cwd.map(str::to_owned);
        let step = Step { id: "cmd_001".into(), work, requires: Requires::default(), cwd };
        let Verdict::Run(cleared) = safety::assess(step, scene) else { return None };
        assert_eq!(cleared.judgement().risk.tier, Tier::L0);
        let (output, _live) = tokio::sync::mpsc::unbounded_channel();
        let cancel = tokio_util::sync::CancellationToken::new();
        Some(self.exec.run(cleared, RunControl::new(cancel, output)).await)
    }

    /// What lies below the root: names, with sizes and times of change.
    fn state(&self) -> BTreeMap<PathBuf, (u64, i64, i64)> {
        let mut out = BTreeMap::new();
        let mut folders = vec![self.root()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap().flatten() {
                let meta = entry.path().symlink_metadata().unwrap();
                use std::os::unix::fs::MetadataExt as _;
                if meta.is_dir() {
                    folders.push(entry.path());
                }
                let kept = (meta.len(), meta.mtime(), meta.mtime_nsec());
                out.insert(entry.path(), kept);
            }
        }
        out
    }

    /// Everything that is wrong with running these lines.
    async fn violations(&self, lines: Vec<Vec<String>>) -> (usize, Vec<String>) {
        let (mut ran, mut wrong) = (0, Vec::new());
        let mut before = self.state();
        for lines in lines.chunks(48) {
            let runs = lines.iter().map(|line| async move { (line, self.run_unasked(line).await) });
            let seen: Vec<_> = stream::iter(runs).buffered(8).collect().await;
            for (line, seen) in seen {
                let Some(seen) = seen else { continue };
                ran += 1;
                let shown = format!("{}{}", seen.stdout, seen.stderr);
                if let Some(mark) = CLOSED.iter().find(|mark| shown.contains(**mark)) {
                    wrong.push(format!("{line:?} shows {mark}"));
                }
            }
            let after = self.state();
            if after != before {
                let changed: Vec<_> =
                    after.iter().filter(|(path, kept)| before.get(*path) != Some(kept)).collect();
                wrong.push(format!("one of {lines:?} changed {changed:?}"));
                before = after;
            }
        }
        (ran, wrong)
    }
}

/// An option with the value that is its own argument, attached, and behind others.
fn with_value(promised: &Promised, entry: &str, mark: &str) -> Vec<Vec<String>> {
    let (flag, _) = entry.split_once('=').unwrap();
    let attached =
        if flag.starts_with("--") { format!("{flag}={mark}") } else { format!("{flag}{mark}") };
    let forms: [&[&str]; 4] =
        [&[flag, mark, "a.txt"], &["a.txt", flag, mark], &[&attached, "a.txt"], &[flag, "2", mark]];
    let line = |form: &[&str]| {
        promised.words.iter().chain(form).map(|word| (*word).to_owned()).collect::<Vec<String>>()
    };
    forms.iter().map(|form| line(form)).collect()
}

fn words_of(promised: &Promised) -> String {
    promised.words.join(" ")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_option_value_makes_an_unasked_step_show_or_change_protected_files() {
    let _alone = ALONE.lock().await;
    let bench = DifferentialFixture::new();
    let outside = bench.root().join("outside/notes.txt").to_string_lossy().into_owned();
    let (mut lines, mut rows) = (Vec::new(), BTreeSet::new());
    let (mut missing, mut tried) = (BTreeSet::new(), BTreeSet::new());
    for promised in safety::harmless_options() {
        if !bench.has(promised.words[0]) {
            missing.insert(words_of(&promised));
            continue;
        }
        tried.insert(words_of(&promised));
        // The names of one row share its options.
        if !rows.insert(promised.values.clone()) {
            continue;
        }
        for entry in &promised.values {
            for mark in [outside.as_str(), ".env"] {
                lines.extend(with_value(&promised, entry, mark));
            }
        }
    }
    let count = lines.len();
    let (ran, wrong) = bench.violations(lines).await;
    println!("{count} lines, {ran} ran; {} tried", tried.len());
    for words in &missing {
        skip(Reason::OneOfMany(words));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for needed in ["head", "sort", "uniq", "cut", "grep", "sed", "git diff"] {
        assert!(tried.contains(needed), "{needed}");
    }
}

/// Operands that lead to something closed, one way or another.
fn operands(bench: &DifferentialFixture) -> Vec<String> {
    let outside = bench.root().join("outside/notes.txt").to_string_lossy().into_owned();
    let fixed = [
        "linked.txt",
        ".env",
        "out",
        "out/notes.txt",
        "src",
        "two",
        ".",
        "@list",
        "list",
        "file://notes.txt",
        "file:",
        "~/notes.txt",
        "./-",
        "../outside/notes.txt",
        "*env",
        "-",
        ".git",
        "secrets.json",
        ":/",
        "a.txt",
    ];
    fixed.iter().map(|word| (*word).to_owned()).chain([outside]).collect()
}

/// All rows, options and operands: minutes of work, for whoever changes the tables.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "strain: all rows, options and operands"]
async fn no_option_makes_a_step_show_or_change_protected_files() {
    let _alone = ALONE.lock().await;
    let bench = DifferentialFixture::new();
    let only = std::env::var("AVOCET_TEST_ROWS").unwrap_or_default();
    // One line of so many, where there is no time for all.
    let each = std::env::var("AVOCET_TEST_EACH").ok().and_then(|text| text.parse().ok());
    let each: usize = each.unwrap_or(1);
    let (mut all, mut seen) = (Vec::new(), BTreeSet::new());
    for promised in safety::harmless_options().filter(|promised| bench.has(promised.words[0])) {
        // The names of one row share its options; one that is asked for by name is tried.
        let first = seen.insert((promised.flags.clone(), promised.values.clone()));
        let wanted = only.split(',').any(|row| row == words_of(&promised));
        if if only.is_empty() { !first && !promised.flags.is_empty() } else { !wanted } {
            continue;
        }
        let mut lines = Vec::new();
        let flags = promised.flags.iter().copied().filter(|flag| *flag != "*");
        let flags = flags.chain(promised.values.iter().filter_map(|v| v.split('=').next()));
        for flag in flags.chain([""]) {
            for word in operands(&bench) {
                let word = word.as_str();
                let forms: [&[&str]; 7] = [
                    &[flag, word],
                    &[flag, "a.txt", word],
                    &[word, flag],
                    &["a.txt", word, flag],
                    &[flag, "--", word],
                    &[flag, "--", "-o", word],
                    &["a", word, flag, "two"],
                ];
                for form in forms {
                    let words = promised.words.iter().chain(form).filter(|word| !word.is_empty());
                    lines.push(words.map(|word| (*word).to_owned()).collect::<Vec<String>>());
                }
            }
        }
        lines.sort();
        lines.dedup();
        let mut at = 0;
        lines.retain(|_| {
            at += 1;
            at % each == 0
        });
        let count = lines.len();
        let (ran, wrong) = bench.violations(lines).await;
        println!("{}: {ran} of {count}", words_of(&promised));
        wrong.iter().for_each(|wrong| println!("  {wrong}"));
        all.extend(wrong);
    }
    assert!(all.is_empty(), "{} wrong", all.len());
}

fn line(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// Lines that once ran by themselves and showed or changed what they should not.
const ONCE_PASSED: &[&str] = &[
    "sed s,[^],],g;s,w\u{20}sedout,p,g a.txt",
    "env POSIXLY_CORRECT=1 head a.txt -n OUT",
    "env POSIXLY_CORRECT=1 uniq a.txt -c",
    "git diff -U OUT /dev/null",
    "git diff --unified OUT /dev/null",
    "cat file://notes.txt",
    "head file://notes.txt",
    "cat ~/notes.txt",
    "strings @list",
    "nm @list",
    "diff -rN src two",
    "diff -N src two",
    "diff -r src/docs two",
    "diff -rN two src",
    "grep -rn . .",
    "grep -rhv . -e",
    "grep -rh . . --label",
    "timeout 5 grep -rhv . -e",
    "rg -uuv . -e",
    "rg -uu . . --context-separator",
    "grep -rh . . --include=*nv",
    "grep -rh . . --include=*",
    "grep -r . src two",
    "grep -rho .. .",
    "grep -d recurse . .",
    "egrep -r . .",
    "fgrep -r MARK",
    "rg -uu . .",
    "rg -uu -g ?env .",
    "rg -uu --type-add s:.env -ts .",
    "rg --iglob * MARK",
    "rg -uu -g * MARK",
    "git grep -h -e . -- :/",
    "git grep --untracked --no-exclude-standard -e . -- *nv",
    "git grep MARK",
    "git log -p -- *env",
    "git log -p -- .",
    "git log -p --all -- src two",
    "git diff HEAD~1 HEAD -- *",
    "git show HEAD~1 -- .",
    "git show HEAD~1 -- :(top)s*",
    "git diff OUT OUT",
    "iconv -f OUT a.txt",
    "ls -LR",
    "timeout 5 ~/bin/ls",
    "xxd a.txt -C",
    "hexdump -",
    "hd -C -",
    "xxd a.txt -p",
    "tree --hintro -- -o linked.txt",
    "tree --houtro -- -o new.html",
    "git diff HEAD~1 HEAD",
    "git diff EMPTY HEAD",
    "git diff --check EMPTY HEAD",
    "git log -p",
    "git log -p --all --graph",
    "git log -u -3",
    "git log --check",
    "git log --follow -p -- .",
    "git log --follow -p -- :(top).env",
    "git log -m --first-parent",
    "git log --cc --root",
    "git log --word-diff",
    "git show",
    "git show HEAD~1",
    "git show HEAD~1 HEAD",
    "git show BLOB",
    "git show --stat BLOB",
    "git show -s BLOB",
    "git show BLOB^{}",
    "git show BLOB --",
    "git cat-file -p BLOB",
    "git cat-file blob BLOB",
    "git grep . BLOB",
    "git grep -e . HEAD:id_rsa",
    "git diff BLOB HEAD:a.txt",
    "git diff-tree -p --root HEAD~1",
    "git diff-index -p EMPTY",
    "git reflog -p",
    "git reflog show -p",
    "git reflog show HEAD -p",
    "git reflog HEAD --patch",
    "git reflog show -p --output=new.txt",
    "git stash show -p STASH",
    "git stash list -p",
    "git status -v",
    "git status -vv",
    "git range-diff EMPTY..HEAD EMPTY..HEAD~1",
    "git describe --dirty --always",
    "fd -HI . -x cat",
    "fd -HI --type l . -x cat",
    "fd -HI -tl -tf notes -X head",
    "fd -HI --exec head",
    "fd -HI -X grep MARK",
    "find .docker -exec cat {} ;",
    "find .docker -type f -exec cat {} +",
    "find -H .docker -exec cat {} ;",
    "find .git -name config -exec cat {} +",
    "find . -type d -exec grep -r auth {} ;",
    "find . -name .docker -exec grep -d recurse auth {} ;",
    "in:.docker find . -exec cat {} ;",
    "in:.docker find -exec cat {} ;",
    "in:.docker grep -r MARK",
    "in:.aws grep -r MARK",
    "in:.aws rg MARK",
    "in:.docker rg -uu auth",
    "in:two/.kube rg -uu token",
    "in:.docker fdfind . -x cat",
    "in:.docker fdfind -HI . -X cat",
    "in:.git fdfind -HI config -X cat",
    "fdfind -HI . .docker -x cat",
    "fdfind -HI --search-path .docker -X cat",
    "fdfind -HI --base-directory .docker . -X cat",
    "fdfind -HI . two/.kube -X cat",
    "fdfind -HI config .git -X cat",
    "rg -uu auth ./.docker/.",
    "rg -uu --files --json MARK .",
    "rg -uu --files -l --json auth .docker",
    "git grep auth HEAD:.docker",
    "git grep token HEAD:two/.kube",
    "in:.docker git grep auth HEAD:./",
    "git diff HEAD:.docker HEAD:src",
    "git diff HEAD:src..HEAD:two/.kube",
    "git diff HEAD:src HEAD:.docker -- .",
    "git diff-tree -p HEAD:src HEAD:.docker",
    "git diff TREE HEAD:src",
    "git diff TREE..HEAD:src",
    "git diff-tree -p HEAD:src TREE",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn past_bypasses_show_and_change_nothing() {
    let _alone = ALONE.lock().await;
    let bench = DifferentialFixture::new();
    let named = named(&bench);
    let filled = |text: &str| {
        named.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    };
    let lines = ONCE_PASSED.iter().map(|text| line(&filled(text))).collect::<Vec<_>>();
    let known = |line: &Vec<String>| line.iter().take(2).any(|word| bench.has(word));
    let lines = lines.into_iter().filter(known).collect();
    let (ran, wrong) = bench.violations(lines).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ran > 4, "some of them run, with less to show");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn excluding_protected_paths_keeps_the_rest_of_the_output() {
    let _alone = ALONE.lock().await;
    let bench = DifferentialFixture::new();
    for (text, shown) in [
        ("grep -rn fn .", "./src/main.rs:1:fn main() {}"),
        ("grep -r --include=*.rs two . -l", "./two/main.rs"),
        ("git grep -n main -- src", "src/main.rs:1:fn main() {}"),
        ("git grep -n main", "two/main.rs:1:fn main() { two() }"),
        ("git log -p --format=%s -- a.txt", "+more"),
        ("git diff -- b.txt", "+changed"),
        ("git diff b.txt", "+changed"),
        ("git diff", "+changed"),
        ("git log -p", "+more"),
        ("git show HEAD", "+more"),
        ("git show --stat HEAD~1", "a.txt"),
        ("git log -p --format=%s", "first"),
        ("git reflog show", "HEAD@{0}"),
        ("git reflog show HEAD -n 5", "HEAD@{0}"),
        ("git reflog show -p", "+more"),
        ("git describe --dirty --always", "-dirty"),
        ("git cat-file -p HEAD", "second"),
        ("fd -e rs -x wc -l", "main.rs"),
        ("ps aux", "PID"),
        ("grep -r KEY= .", "a-sample"),
        ("rg -uu KEY= .", "a-sample"),
        ("git grep KEY=", "a-sample"),
        ("find two -name .env* -exec cat {} +", "a-sample"),
        ("diff -r src two", "two()"),
        ("sed -n 1p a.txt", "alpha 1"),
        ("timeout 5 grep git log", ""),
        ("make --version", "Make"),
    ] {
        if bench.has(&line(text)[0]) {
            let seen = bench.run_unasked(&line(text)).await;
            let seen = seen.unwrap_or_else(|| panic!("{text} asks"));
            assert!(seen.stdout.contains(shown), "{text}: {seen:?}");
        }
    }
}

/// git writes its list of files anew where only times have changed.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_step_that_compares_files_leaves_the_repository_as_it_is() {
    let _alone = ALONE.lock().await;
    let bench = DifferentialFixture::new();
    for text in ["git diff", "git describe --dirty --always", "git describe --broken --always"] {
        let touched = std::fs::File::options().write(true).open(bench.work().join("a.txt"));
        let later = std::time::SystemTime::now() + Duration::from_secs(60);
        touched.unwrap().set_modified(later).unwrap();
        let before = bench.state();
        let seen = bench.run_unasked(&line(text)).await.unwrap_or_else(|| panic!("{text} asks"));
        assert_eq!(seen.exit_code, Some(0), "{text}: {seen:?}");
        assert_eq!(bench.state(), before, "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_commit_is_shown_by_its_hash_but_other_programs_arguments_are_hidden() {
    let _alone = ALONE.lock().await;
    let bench = DifferentialFixture::new();
    let mut head = Command::new("git");
    let head = head.args(["rev-parse", "--short", "HEAD"]).current_dir(bench.work());
    let head = String::from_utf8(head.output().unwrap().stdout).unwrap();
    let text = format!("git show {}", head.trim());
    let seen = bench.run_unasked(&line(&text)).await.unwrap();
    assert!(seen.stdout.contains("+more"), "{seen:?}");
    let mut other = Command::new("sh");
    let other = other.args(["-c", "read x", "--password=hunter2"]);
    let mut other = other.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let id = other.id().to_string();
    for text in
        ["ps aux", "ps -ef", "ps -eo pid,args", "ps -o cmd= -p ID", "ps axww", "ps -F -p ID"]
    {
        let seen = bench.run_unasked(&line(&text.replace("ID", &id))).await.unwrap();
        assert!(seen.stdout.contains("sh"), "{text}: {seen:?}");
        assert!(!seen.stdout.contains("hunter2"), "{text}");
    }
    drop(other.stdin.take());
    other.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_link_out_of_the_repository_makes_git_ask() {
    let _alone = ALONE.lock().await;
    let bench = DifferentialFixture::new();
    let outside = bench.root().join("outside/notes.txt");
    assert!(bench.run_unasked(&line("git status")).await.is_some());
    for place in ["BISECT_LOG", "packed-refs", "shallow", "refs/heads/x", "rebase-merge/done"] {
        let link = bench.work().join(".git").join(place);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&outside, &link).unwrap();
        for text in ["git status", "git log -p", "git branch", "git bisect log"] {
            assert!(bench.run_unasked(&line(text)).await.is_none(), "{place}: {text} runs");
        }
        std::fs::remove_file(&link).unwrap();
    }
    // A second working tree elsewhere points back, and a link within stays within.
    std::os::unix::fs::symlink("HEAD", bench.work().join(".git/x")).unwrap();
    assert!(bench.run_unasked(&line("git status")).await.is_some());
}

/// Lines of a file, each an array of words in JSON: for whoever looks for a way through.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs a file of lines"]
async fn lines_from_a_given_file_show_and_change_nothing_protected() {
    let _alone = ALONE.lock().await;
    let bench = DifferentialFixture::new();
    let text = std::fs::read_to_string(std::env::var("AVOCET_TEST_LINES").unwrap()).unwrap();
    let fill = |text: &str| named(&bench).iter().fold(text.to_owned(), |t, (n, v)| t.replace(n, v));
    let lines: Vec<Vec<String>> =
        text.lines().map(|line| serde_json::from_str(&fill(line)).unwrap()).collect();
    for line in &lines {
        if let Some(seen) = bench.run_unasked(line).await {
            println!("runs: {line:?} {:?} {}", seen.exit_code, seen.stdout.len());
        }
    }
    let (ran, wrong) = bench.violations(lines).await;
    println!("{ran} ran");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the lines name, and what it is on this bench.
fn named(bench: &DifferentialFixture) -> [(&'static str, String); 5] {
    let git = |args: &[&str]| {
        let out = Command::new("git").args(args).current_dir(bench.work()).output().unwrap();
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    };
    [
        ("OUT", bench.root().join("outside/notes.txt").to_string_lossy().into_owned()),
        ("BLOB", git(&["rev-parse", "HEAD:.env"])),
        ("TREE", git(&["rev-parse", "HEAD:.docker"])),
        ("STASH", git(&["-c", "user.name=a", "-c", "user.email=a@b", "stash", "create"])),
        ("EMPTY", "4b825dc642cb6eb9a060e54bf8d69288fbee4904".to_owned()),
    ]
}
