//! Tests what the judgement passes on to the start of a step.

use super::*;

fn launch(line: &str) -> Launch {
    let words = words_of(line);
    let (program, args) = words.split_first().unwrap();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let verdict = verdict(program, &args);
    assert_eq!(
        verdict.judgement().risk.tier,
        Tier::L0,
        "{line}: {}",
        verdict.judgement().risk.rule
    );
    verdict.judgement().launch.clone()
}

fn started_programs(line: &str) -> Vec<String> {
    let starts = launch(line).starts.into_iter();
    starts.map(|program| program.path.to_string_lossy().into_owned()).collect()
}

#[test]
fn the_git_that_runs_is_found_by_parsing_not_by_matching_text() {
    assert_eq!(launch("git status").git, Some(0));
    assert_eq!(launch("git -C src status").git, Some(0));
    assert_eq!(launch("timeout 5 git status").git, Some(2));
    assert_eq!(launch("env LC_ALL=x git status").git, Some(2));
    assert_eq!(launch("time -f git git status").git, Some(3));
    assert_eq!(launch("nice -n 5 env TZ=git timeout 5 git log").git, Some(7));
    assert_eq!(launch("timeout 5 grep git log").git, None);
    assert_eq!(launch("grep git git").git, None);
}

#[test]
fn the_program_a_wrapper_starts_is_named_and_resolved() {
    assert_eq!(started_programs("ls"), [""; 0]);
    assert_eq!(started_programs("timeout 5 ls"), ["/bin/ls"]);
    assert_eq!(
        started_programs("env LANG=C timeout 5 nice ls"),
        ["/bin/timeout", "/bin/nice", "/bin/ls"]
    );
    assert_eq!(started_programs("egrep x a.txt"), ["/bin/grep"]);
}

#[test]
fn the_helpers_of_git_are_listed_wherever_git_appears() {
    for line in ["git status", "timeout 5 git log"] {
        let helpers = launch(line).helpers;
        assert!(helpers.contains(&"/lib/git-core".into()), "{line}: {helpers:?}");
    }
}

#[test]
fn an_approved_step_starts_as_it_was_shown() {
    let verdict = verdict("git", &["commit", "-m", "x"]);
    let launch = &verdict.judgement().launch;
    assert_eq!((launch.git, launch.inserted.len(), launch.empty_folder), (Some(0), 0, false));
}

#[test]
fn a_version_query_starts_in_an_empty_folder() {
    for line in ["node --version", "make --version", "timeout 5 gcc --version", "python3 -V"] {
        assert!(launch(line).empty_folder, "{line}");
    }
    for line in ["git remote -v", "ls", "git status", "rg --version"] {
        assert!(!launch(line).empty_folder, "{line}");
    }
}

/// The inputs a step is started with.
fn launch_arguments(line: &str) -> Vec<String> {
    let words = words_of(line);
    launch(line).arguments(&words[1..])
}

#[test]
fn recursive_readers_exclude_credentials() {
    for line in ["grep -rn x .", "egrep -r x src", "timeout 5 grep -nr x", "grep -d recurse x ."] {
        let args = launch_arguments(line);
        for left_out in
            ["--exclude=.[nN][eE][tT][rR][cC]*", "--exclude-dir=.ssh", "--exclude-dir=.git"]
        {
            assert!(args.contains(&left_out.to_owned()), "{line}: {left_out}");
        }
    }
    let args = launch_arguments("rg -uu x .");
    for left_out in ["--iglob=!.env", "--iglob=!**/.git/config", "--iglob=!**/.ssh/**"] {
        assert!(args.contains(&left_out.to_owned()), "{left_out}");
    }
    for line in [
        "git grep x",
        "git grep --untracked -e x -- src",
        "git log -p --graph -- src",
        "git diff --color src",
    ] {
        let args = launch_arguments(line);
        assert!(args.contains(&":(top,exclude,icase,glob)**/.env".to_owned()), "{line}");
    }
    for line in [
        "git log -p --color-words",
        "git log --word-diff",
        "git log -p --line-prefix=x",
        "git log -p --output-indicator-new=x",
        "git log -p -z",
        "git diff --src-prefix=x",
        "git diff --relative",
        "git log -p --remerge-diff",
        "git reflog -p",
        "git diff --check",
        "git diff-tree -p HEAD",
        "git range-diff a b c",
    ] {
        let args = launch_arguments(line);
        assert!(args.contains(&":(top,exclude,icase,glob)**/.netrc*".to_owned()), "{line}");
    }
    for line in [
        "grep x a.txt",
        "rg --files",
        "git log --stat",
        "git log -- src",
        "ls -R",
        "git diff --stat",
        "git show --name-only HEAD",
        "git log -L1,2:a.txt",
        "git diff-tree HEAD",
    ] {
        assert!(launch(line).inserted.is_empty(), "{line}");
    }
}

#[test]
fn commits_that_change_only_credentials_are_still_shown() {
    let graph = launch_arguments("git log -p --graph");
    assert_eq!(graph[..4], ["log", "--full-history", "--sparse", "-p"]);
    let words = launch_arguments("git show --word-diff");
    assert_eq!(words[..3], ["show", "--full-history", "--sparse"]);
    assert_eq!(launch_arguments("git log -p --graph -- a.txt")[..3], ["log", "-p", "--graph"]);
}

#[test]
fn differences_in_the_usual_form_are_filtered_as_they_arrive() {
    for line in [
        "git log -p",
        "git log -p -3",
        "git log -p -S x",
        "git log -p -SLandlockz",
        "git log --patch --stat -- src",
        "git diff",
        "git diff src",
        "git diff HEAD~1 HEAD",
        "git show",
        "git show HEAD~2",
        "timeout 5 git diff",
    ] {
        let (args, launch) = (launch_arguments(line), launch(line));
        assert!(launch.filters_diffs && args.contains(&"--no-color".to_owned()), "{line}");
        assert!(!args.iter().any(|arg| arg.contains("exclude")), "{line}: {args:?}");
    }
    for line in ["git log", "git diff --stat", "git log -p --graph", "git reflog -p", "ls"] {
        assert!(!launch(line).filters_diffs, "{line}");
    }
}

#[test]
fn a_number_is_shown_if_it_is_a_commit_and_not_if_it_is_a_file() {
    let args = launch_arguments("git show 4bcfe98e");
    assert_eq!(args[..3], ["show", "--do-walk", "--max-count=1"]);
    assert_eq!(
        launch_arguments("git show --stat 4bcfe98e")[..3],
        ["show", "--do-walk", "--max-count=1"]
    );
    assert!(!launch_arguments("git show HEAD").contains(&"--do-walk".to_owned()));
}

#[test]
fn the_arguments_of_other_processes_are_not_shown() {
    let flag = if cfg!(target_os = "macos") { "-c" } else { "c" };
    for line in ["ps", "ps aux", "ps -ef", "ps -eo pid,args", "ps -o command= -p 1", "ps 1"] {
        assert_eq!(launch_arguments(line)[0], flag, "{line}");
    }
    for line in [
        "pgrep -a node",
        "pgrep -fa .",
        "w",
        "lsns",
        "top -bcn1",
        "ps eww",
        "ps -o environ",
        "journalctl -o json",
        "journalctl -n 5 --output=verbose",
        "journalctl -F _CMDLINE",
        "journalctl -o cat --output-fields=_CMDLINE",
    ] {
        assert_eq!(verdict_of(line), Tier::L1, "{line}");
    }
}

fn verdict_of(text: &str) -> Tier {
    line(text).tier
}

#[test]
fn a_form_that_needs_added_arguments_asks_in_a_line_for_a_shell() {
    for line in [
        "grep -rn x .",
        "rg x",
        "git grep x",
        "ps aux",
        "python3 --version",
        "ls && rg x src",
        "git log -p -- src | head",
    ] {
        let policy = Policy::default();
        let step = Step { work: StepAction::Shell { line: line.into() }, ..step("x", &[]) };
        let verdict = assess_with(step, &policy, &place());
        assert!(matches!(verdict, Verdict::Ask(_)), "{line}");
    }
    let step =
        Step { work: StepAction::Shell { line: "cat a.txt | wc -l".into() }, ..step("x", &[]) };
    assert!(matches!(assess_with(step, &Policy::default(), &place()), Verdict::Run(_)));
}

#[test]
fn fd_passes_on_neither_links_nor_credentials() {
    for line in [
        "fd -e rs -x wc -l",
        "fd . src -X grep -n TODO",
        "fd -x cat {}",
        "fd main --exec head -n 3 {} ;",
    ] {
        let args = launch_arguments(line);
        assert!(args.starts_with(&["--type=file".to_owned()]), "{line}");
        assert!(args.contains(&"--exclude=.[nN][eE][tT][rR][cC]*".to_owned()), "{line}");
        assert!(args.contains(&"--exclude=.[sS][sS][hH]".to_owned()), "{line}");
    }
    for line in [
        "fd -x rm",
        "fd -x uniq {} {}",
        "fd -X uniq",
        "fd -x sh -c id",
        "fd -x cat {.}",
        "fd -x cat x{}",
        "fd -x cat ; -x rm",
        "fd -L -x cat",
        "fd . / -x cat",
        "fd -x sed {} a.txt",
        "fd -x cat .env",
        "fd -lx cat",
        "fd -t l -x cat",
        "fd --type symlink . -x cat",
        "fd -tf -tl -X head",
        "fd --exec=cat",
        "fd -Hx cat",
    ] {
        assert_eq!(verdict_of(line), Tier::L1, "{line}");
    }
}

#[test]
fn exclusions_come_after_all_options_and_before_the_end_of_them() {
    let args = launch_arguments("grep -r --include=*.rs -e x -- src");
    let end = args.iter().position(|arg| arg == "--").unwrap();
    let last = args.iter().rposition(|arg| arg.starts_with("--exclude")).unwrap();
    let given = args.iter().position(|arg| arg.starts_with("--include")).unwrap();
    assert!(given < last && last + 1 == end, "{args:?}");
    assert_eq!(args.last().unwrap(), "src");
    let args = launch_arguments("git grep x -- src");
    assert_eq!(args[..4], ["grep", "x", "--", "src"]);
}
