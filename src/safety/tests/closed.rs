//! Tests that anything unknown ends in a question or a refusal, never in a run.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use avocet_core::protocol::SandboxStatus;

/// A machine that cannot answer: which of its answers are missing.
#[derive(Clone, Copy, Default)]
struct Mute {
    folders: bool,
    files: bool,
}

impl Machine for Mute {
    fn resolve(&self, path: &Path) -> PathBuf {
        paths::normalize(path)
    }

    fn kind(&self, _: &Path) -> PathKind {
        if self.folders { PathKind::Other } else { PathKind::Folder }
    }

    fn program(&self, _: &str) -> Option<Program> {
        None
    }

    fn read(&self, _: &Path, _: usize) -> Contents {
        if self.files { Contents::Unreadable } else { Contents::Missing }
    }
}

/// Every example of the tables that runs by itself.
fn harmless() -> impl Iterator<Item = &'static str> {
    examples().filter(|example| line(example).tier == Tier::L0)
}

fn assess_on(world: &dyn Machine, policy: &Policy, example: &str) -> Verdict {
    let words = words_of(example);
    let (program, args) = words.split_first().unwrap();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let place = place();
    assess(step(program, &args), PolicyContext { policy, place: &place, world })
}

#[test]
fn there_are_examples_that_run_by_themselves() {
    assert!(harmless().count() > 200);
    assert!(harmless().filter(|example| example.starts_with("git ")).count() > 40);
}

#[test]
fn nothing_runs_unasked_when_the_folder_cannot_be_read() {
    let world = Mute { folders: true, files: false };
    for example in harmless() {
        assert!(
            !matches!(assess_on(&world, &Policy::default(), example), Verdict::Run(_)),
            "{example}"
        );
    }
}

#[test]
fn no_git_step_runs_unasked_when_repository_settings_cannot_be_read() {
    let world = Mute { folders: false, files: true };
    for example in harmless().filter(|example| example.starts_with("git ")) {
        // A program that prints its version looks at no repository.
        let version = ["git --version", "git -v", "git version", "git --no-pager --version"];
        if !version.contains(&example) {
            let verdict = assess_on(&world, &Policy::default(), example);
            assert!(!matches!(verdict, Verdict::Run(_)), "{example}");
        }
    }
}

#[test]
fn without_a_sandbox_only_steps_with_code_in_an_argument_ask() {
    let policy = Policy { shelter: SandboxStatus::Absent, ..Policy::default() };
    let languages = ["sed", "gsed", "jq", "find", "git", "awk", "gawk", "mawk", "nawk"];
    let version = ["--version", "-V", "-v", "version", "--exec-path", "--no-pager", "--help"];
    for example in harmless() {
        let mut words = example.split(' ');
        let speaks = words.next().is_some_and(|name| languages.contains(&name));
        if speaks && words.next().is_none_or(|first| version.contains(&first)) {
            continue;
        }
        let verdict = assess_on(&world(), &policy, example);
        let rules = rules_of(&verdict.judgement().risk);
        let asks = rules.contains(&"sandbox.absent.language");
        assert_eq!(asks, matches!(verdict, Verdict::Ask(_)), "{example}: {rules:?}");
        assert!(asks || !speaks, "{example}: {rules:?}");
    }
    for line in [
        "timeout 5 sed -n 1p a.txt",
        "env LC_ALL=C git status",
        "nice jq . data.json",
        "yq . config.yaml",
        "yq -r .a config.yaml",
        "fd -x cat",
        "fd -e rs -X head",
        "fd --exec cat",
        "fd --exec-batch cat",
        "fdfind -x cat",
        "find . -exec cat {} ;",
        "git log -p",
    ] {
        assert!(matches!(assess_on(&world(), &policy, line), Verdict::Ask(_)), "{line}");
    }
    assert!(matches!(assess_on(&world(), &policy, "rm -rf x"), Verdict::Refuse(_)));
}

#[test]
fn a_step_too_large_to_judge_is_refused() {
    let many = vec!["a"; 4097];
    assert!(matches!(verdict("ls", &many), Verdict::Refuse(_)));
    let long = "a".repeat(64 * 1024 + 1);
    assert!(matches!(verdict("cat", &[&long]), Verdict::Refuse(_)));
    let line = ["x"; 9].join(" && ") + &" && env".repeat(3000);
    assert!(!matches!(verdict("bash", &["-c", &line]), Verdict::Run(_)));
}

/// A machine that counts how often it is asked where a path leads.
#[derive(Default)]
struct Counting {
    resolved: AtomicUsize,
}

impl Machine for Counting {
    fn resolve(&self, path: &Path) -> PathBuf {
        self.resolved.fetch_add(1, Ordering::Relaxed);
        world().resolve(path)
    }

    fn kind(&self, path: &Path) -> PathKind {
        world().kind(path)
    }

    fn program(&self, name: &str) -> Option<Program> {
        world().program(name)
    }

    fn read(&self, path: &Path, most: usize) -> Contents {
        world().read(path, most)
    }
}

#[test]
fn a_step_with_too_many_words_is_refused_before_one_of_them_is_looked_at() {
    let judged = |program: &str, count: usize| {
        let names: Vec<String> = (0..count).map(|n| format!("f{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (world, policy, place) = (Counting::default(), Policy::default(), place());
        let policy_cx = PolicyContext { policy: &policy, place: &place, world: &world };
        let risk = assess(step(program, &names), policy_cx).judgement().risk.clone();
        (risk.tier, risk.rule, world.resolved.load(Ordering::Relaxed))
    };
    for program in ["cat", "rm", "env", "unheard-of"] {
        let (tier, rule, resolved) = judged(program, 131_072);
        assert_eq!((tier, rule.as_str()), (Tier::L2, "malformed.size"), "{program}");
        assert!(resolved < 10, "{program}: {resolved}");
    }
    // What is taken costs as much as it is long.
    let few = judged("cat", 500).2;
    let many = judged("cat", 4_000).2;
    assert!(many <= 8 * few, "{few} {many}");
    assert_eq!(judged("cat", 4_000).0, Tier::L0);
}
