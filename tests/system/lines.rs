//! Lines for a shell that run by themselves: inside the sandbox they say what a bare shell says,
//! and the shell reads no file at its start.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use avocet::protocol::{Observation, SandboxMode, SandboxStatus};
use avocet::safety::Verdict;

use crate::programs::{ProgramFixture, run};
use crate::support::skip::{Reason, skip};

/// A repository, and a home that marks whatever reads it.
struct LineFixture {
    root: tempfile::TempDir,
    desk: ProgramFixture,
}

impl LineFixture {
    fn new() -> LineFixture {
        let root = crate::support::temp_dir();
        let home = root.path().join("home");
        fs::create_dir(&home).unwrap();
        let desk = ProgramFixture::at(root.path(), &home, &[]);
        let lines = LineFixture { root, desk };
        lines.write("sub/one.txt", "needle one\n");
        lines.write("sub/two words.txt", "needle two\n");
        lines.write(".env", "KEY=sk-hidden-needle\n");
        for args in [&["init", "-q"][..], &["add", "sub", "a.txt"], &["commit", "-qm", "Begin"]] {
            lines.git(args);
        }
        lines
    }

    fn git(&self, args: &[&str]) {
        let mut git = Command::new("git");
        git.current_dir(&self.desk.workspace);
        git.args(["-c", "user.name=x", "-c", "user.email=x@y"]).args(args);
        assert!(git.status().unwrap().success(), "{args:?}");
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.desk.workspace.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn home(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("home").join(name)
    }

    /// Whether a sandbox holds what runs by itself here.
    fn is_held(&self) -> bool {
        self.desk.exec(SandboxMode::Read).1 != SandboxStatus::Absent
    }

    /// What a line says that runs by itself.
    async fn seen(&self, words: &[&str], mode: SandboxMode) -> Observation {
        let (exec, _) = self.desk.exec(mode);
        match self.desk.judge(words) {
            Verdict::Run(cleared) => run(&exec, cleared).await,
            other => panic!("{words:?} asks: {:?}", other.judgement().risk.reasons),
        }
    }
}

/// Lines whose words mean the same to every shell, of programs that every machine has.
const LINES: &[&str] = &[
    "ls | head -1",
    "cd sub && git status --short && ls",
    "cd sub; ls; git log --oneline | wc -l",
    "cat a.txt | tail -n 1; echo \"status $?\"",
    "ls missing 2>/dev/null || echo none",
    "ls missing >/dev/null 2>&1; echo $?",
    "cat sub/*.txt",
    "ls sub/* && wc -l < a.txt",
    "grep -rn needle sub | sort",
    "(cd sub && pwd -P) | tail -c 5; ls sub",
    "[ -f a.txt ] && echo yes || echo no",
    "printf '%s\\n' b a 'c d' | sort",
    "echo 'a; b' \"it's\" $HOME/x",
    "LC_ALL=C sort a.txt | head -n 1",
    "! grep -q zebra a.txt && echo none",
    "git diff | head -3; git log --format=%s | cat",
    "find . -name '*.txt' | sort",
    "sed -n 1p a.txt | tr a-z A-Z",
    "git --version | cut -d' ' -f1; ls",
    "false || exit 3; ls",
    "for f in sub/*.txt a.txt; do echo \"== $f\"; cat \"$f\"; done",
    "for i in 1 2; do head -$i a.txt; done | wc -l",
    "for i in 1 2; do false; done; echo $?",
    "if [ -f a.txt ]; then cat a.txt; else echo none; fi",
    "if grep -q zebra a.txt; then echo yes; elif [[ ! -d sub ]]; then echo no; else ls sub; fi",
    "if false; then echo never; fi; echo $?",
    "[[ -f a.txt ]] && echo yes; [[ a == b ]] || echo other",
    "N=1; D=sub; head -$N \"$D/two words.txt\" && ls $D",
    "cd -- sub && ls",
    "set +e; false; ls",
    "git ls-files '*.txt' | grep -v words | xargs wc -l",
    "git ls-files -z | xargs -0 ls",
    "ls sub | xargs -I{} echo 'f {}'",
    "seq 3 | xargs -n1 echo; seq 3 | xargs echo a",
    "for f in $(git ls-files); do echo $f; done",
    "for f in $(ls sub | grep -v words); do head -n 1 sub/$f; done",
    "ls | grep txt | while read -r f; do wc -l < \"$f\"; cat \"$f\"; done",
    "git log --format=%h | while read -r h; do git show --stat --format=%s $h; done",
    "git show --format=%s --stat $(git rev-parse HEAD)",
    "cat $(git ls-files a.txt)",
    "case abc in b*) echo b ;; a?c|x) echo ok ;; *) echo none ;; esac",
    "case \"$(ls sub | head -1)\" in\n  one*)\n    echo one\n    ;;\n  *) ;;\nesac",
    "x=4; echo $((1 + 2 * 3)) $((x + 1)); n=$(wc -l < a.txt); echo $((n + 1)) $((n >= 1 && x != 4))",
    "n=$(wc -l < a.txt); head -n $((n + 0)) a.txt; sed -n \"${n}p\" a.txt",
    "diff <(ls) <(ls sub); cat <(echo one) <(echo two) | wc -l",
    "while read -r f; do echo \"<$f>\"; done < <(ls sub)",
    "for ((i=0; i<3; i++)); do echo $i; done",
    "f=sub/one.txt; echo ${f%.txt} ${f##*/} ${f#*/} ${f%%/*} ${f%.md}",
    "ls sub | while read -r f; do echo \"${f%.txt}\"; done",
    "D=sub; ls $D/*.txt \"$D\"/one.*; ls \"sub\"/*.txt",
    "read -r x < a.txt; echo \"<$x>\"; IFS=: read -r a b <<< 'x:y:z'; echo $b $a; read -r c < missing; echo $?",
    "if read -r x < a.txt; then echo \"$x\"; fi; ls sub | while read -r l; do read -r y <<< \"$l\"; echo \"$y\"; done",
    "echo $(( $(wc -l < a.txt) + 1 )); n=$(( $(ls sub | wc -l) * 2 )); head -n $n a.txt; echo $((10 - $(seq 3 3)))",
    "a=(a.txt 'sub/two words.txt'); for f in \"${a[@]}\"; do head -1 \"$f\"; done; cat \"${a[@]}\" | wc -l; b=(sub/*.txt); ls \"${b[@]}\"",
    "bash -c 'ls sub | head -1'",
    "ls | tee /dev/null | wc -l",
    "i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done; echo $i",
    "i=5; until [ $i -le -2 ]; do echo $((i * 2)); ((i-=2)); done; ((i)) && echo $i; ((i > 0)) || echo $?",
    "i=0; ((i++)) || echo zero; ((i++)) && echo $i; ((++i)); echo $i; ((i = i * 2)); echo $i",
    "n=0; for f in sub/*.txt; do n=$((n+1)); echo \"$n $f\"; done; echo $n",
    "m=; for f in a.txt nope; do [ -f $f ] || m=\"$m $f\"; done; echo \"<$m>\"",
    "for f in a.txt nope sub; do [ -f \"$f\" ] || continue; echo $f; done; for i in 1 2 3; do for j in 1 2; do [ $j = 2 ] && continue 2; echo $i$j; [ $i = 2 ] && break 2; done; done",
    "for f in $(git ls-files | grep -v words); do [ -f \"$f\" ] && echo $f && break; done; echo $?",
    "while true; do echo once; break; done; while IFS= read -r l || [ -n \"$l\" ]; do echo \"<$l>\"; done < a.txt",
    "for d in sub; do x=$d/one.txt; cat $x; done",
    "show() { echo \"== $1 $2\"; head -n 1 \"$1\" || return 3; echo end; }; show a.txt x; show nope; echo $?",
    "cd sub && show() { head -n \"$2\" \"$1\"; }; show one.txt 1; for f in $(grep -l needle *.txt); do echo $f; done",
    "all() { for f in \"$@\"; do local n=$(wc -l < \"$f\"); echo \"$f $n ${2:-none}\"; done; }; all a.txt 'sub/two words.txt'; all a.txt | wc -l; echo \"$(all a.txt)\"",
    "[[ v12.3 =~ ^v([0-9]+)\\.[0-9]$ ]] && echo yes; [[ abc =~ ^(x|y) ]] || echo no; [[ $(ls) ]] && echo some; [[ ! $(ls nope 2>/dev/null) ]] && echo none",
    "ls -d a.txt sub nope 2>/dev/null | while read -r f; do [ -d \"$f\" ] && echo $f; [[ -f $f && -s $f ]] && echo file $f; done",
    "n=2; cat <<EOF\nn is $n, $((n + 1)), $(ls sub | wc -l) \\$n \\\\ \"q\" 'q'\n  $HOME ~ \\x\nEOF",
    "v=$(ls sub); cat <<< \"$v\"; wc -w <<< \"$(ls) $v\"; cat <<< ${v%words.txt}",
    "timeout 9 bash -c 'ls | wc -l; cat a.txt'; timeout 9 sh -c 'false'; echo $?",
    "ls sub | xargs -I{} sh -c 'echo \"== {}\"; ls \"sub/{}\"'",
    "ls nope 2>/dev/null | wc -l; echo ${PIPESTATUS[0]} ${PWD##*/} ${HOME:-x} ${1:-y}",
    "n=$(ls | wc -l); [[ $n -gt 1 ]] && echo many; [[ $(ls) -eq 0 ]]; printf 'a,b,c\\n' | while IFS=, read -r x _ y; do echo $y $x; done",
    "l=$(grep -n . a.txt | tail -n 1 | cut -d: -f1); sed -n \"${l}p\" a.txt; head -n \"$l\" a.txt",
    "[[ -f a.txt && abc == a* ]] && echo yes; [[ a == \"b*\" || -d nope ]] || echo no",
];

#[tokio::test]
async fn a_line_says_inside_the_sandbox_what_a_shell_says() {
    let lines = LineFixture::new();
    if !lines.is_held() {
        return skip(Reason::NoSandbox);
    }
    for line in LINES {
        let inside = lines.seen(&["bash", "-lc", line], SandboxMode::Read).await;
        let mut shell = Command::new("bash");
        shell.args(["--noprofile", "--norc", "-c", line]).current_dir(&lines.desk.workspace);
        shell.env("HOME", lines.home("").to_string_lossy().trim_end_matches('/'));
        let outside = shell.output().unwrap();
        let said = String::from_utf8_lossy(&outside.stdout).into_owned();
        assert_eq!((inside.exit_code, inside.stdout), (outside.status.code(), said), "{line}");
    }
}

#[tokio::test]
async fn a_search_in_a_line_leaves_credentials_out() {
    let lines = LineFixture::new();
    if !lines.is_held() {
        return skip(Reason::NoSandbox);
    }
    for mode in [SandboxMode::Read, SandboxMode::Off] {
        for line in ["grep -rn needle . | sort", "grep -rhi hidden .; ls", "cat sub/* | sort"] {
            let seen = lines.seen(&["bash", "-c", line], mode).await;
            assert!(!seen.stdout.contains("sk-hidden"), "{line}: {}", seen.stdout);
        }
    }
}

#[tokio::test]
async fn a_name_that_would_be_an_option_or_a_credential_file_reaches_no_program() {
    let lines = LineFixture::new();
    if !lines.is_held() {
        return skip(Reason::NoSandbox);
    }
    for name in ["--files0-from=.env", "-exec", "server.pem", "sub/.env.bak", "prod.ENV~~"] {
        lines.write(name, "sk-hidden-needle\n");
    }
    let outside = crate::support::temp_dir();
    fs::write(outside.path().join("note"), "sk-hidden-needle\n").unwrap();
    let at = |name: &str| lines.desk.workspace.join(name);
    std::os::unix::fs::symlink(outside.path(), at("link")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("note"), at("hx1")).unwrap();
    lines.git(&["add", "-A", "-f"]);
    lines.git(&["tag", "--", "ok"]);
    for (line, left_out) in [
        ("ls -a | xargs cat", "left out: .env"),
        ("ls | xargs -n1 wc -c", "left out: --files0-from=.env"),
        ("for f in $(ls -a); do head -n 1 \"$f\"; done", "left out: server.pem"),
        ("for f in $(ls); do find $f; done", "left out: -exec"),
        ("ls sub -a | while read -r f; do cat \"sub/$f\"; done", "left out: sub/.env.bak"),
        ("ls -a | while read -r f; do wc -l < \"$f\"; done", "left out: .."),
        ("for f in $(git ls-files); do git log --oneline -- $f; done", "left out: server.pem"),
        ("git ls-files | xargs -I{} git diff HEAD -- {}", "left out: .env"),
        ("for f in $(ls); do sed -n \"${f}p\" a.txt; done", "left out: a.txt"),
        ("n=$(ls | head -1); echo $((n + 1)); head -n $n a.txt", "left out: "),
        ("cat $(ls -a)", "left out: .env"),
        ("ls | xargs cat", "left out: prod.ENV~~"),
        ("for d in $(ls); do cat $d/note; done", "left out: link/note"),
        ("ls | while read -r d; do wc -l < \"$d/./note\"; done", "left out: link/./note"),
        ("n=$(ls -d a.txt | wc -l); base64 hx$n", "left out: hx1"),
        ("ls -a | while read -r d; do find \"$d\" -name config; done", "left out: .git"),
    ] {
        let seen = lines.seen(&["bash", "-lc", line], SandboxMode::Read).await;
        assert!(seen.stderr.contains(left_out), "{line}: {}", seen.stderr);
        assert!(!seen.stdout.contains("sk-hidden"), "{line}: {}", seen.stdout);
    }
}

/// Files may be replaced between the judgement and the run.
#[tokio::test]
async fn a_git_of_a_line_opens_no_credentials_to_its_other_commands() {
    let lines = LineFixture::new();
    if !lines.is_held() {
        return skip(Reason::NoSandbox);
    }
    lines.git(&["add", "-f", ".env"]);
    lines.git(&["commit", "-qm", "Track"]);
    let env = lines.desk.workspace.join(".env");
    for line in [
        "git diff; cat note.txt",
        "git status --short; head -n 1 note.txt",
        "git status --short && wc -l < note.txt && sort note.txt",
        "git log -p -- a.txt | cat - note.txt",
        "cat note.txt; git diff --stat | tail -n 1",
        "git diff --name-only | grep -h sk note.txt",
        "git stash list; sed -n 1p note.txt",
        "git log --oneline; tr a-z A-Z < note.txt",
    ] {
        let note = lines.desk.workspace.join("note.txt");
        let _ = fs::remove_file(&note);
        lines.write("note.txt", "note\n");
        let (exec, _) = lines.desk.exec(SandboxMode::Read);
        let Verdict::Run(cleared) = lines.desk.judge(&["bash", "-c", line]) else {
            panic!("{line} asks")
        };
        fs::remove_file(&note).unwrap();
        std::os::unix::fs::symlink(&env, &note).unwrap();
        let seen = run(&exec, cleared).await;
        let said = seen.stdout.to_lowercase();
        assert!(!said.contains("sk-hidden"), "{line}: {}", seen.stdout);
    }
}

#[tokio::test]
async fn a_tracked_credential_file_that_did_not_change_is_not_called_changed() {
    let lines = LineFixture::new();
    if !lines.is_held() {
        return skip(Reason::NoSandbox);
    }
    lines.write("secrets/token.txt", "x\n");
    lines.git(&["add", "-f", ".env", "secrets"]);
    lines.git(&["commit", "-qm", "Track"]);
    for name in [".env", "secrets/token.txt"] {
        let file = fs::File::open(lines.desk.workspace.join(name)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    for line in ["git status --short | head -n 3", "git status --short; git log --oneline | wc -l"]
    {
        let seen = lines.seen(&["bash", "-c", line], SandboxMode::Read).await;
        assert!(!seen.stdout.contains(".env"), "{line}: {} {}", seen.stdout, seen.stderr);
        assert!(!seen.stdout.contains("secrets"), "{line}: {} {}", seen.stdout, seen.stderr);
    }
    let seen = lines.seen(&["git", "status", "--short"], SandboxMode::Read).await;
    assert!(!seen.stdout.contains(".env"), "{} {}", seen.stdout, seen.stderr);
    assert!(!seen.stdout.contains("secrets"), "{} {}", seen.stdout, seen.stderr);
}

#[test]
fn a_line_whose_git_or_other_command_shows_a_credential_file_asks() {
    let lines = LineFixture::new();
    for line in [
        "git show HEAD:.env | rev",
        "git diff; cat .env",
        "git log -p -- .env | tac",
        "git cat-file -p HEAD:.env | base64",
        "git status; head -c 9 .env | od -c",
        "git diff | cat - .env",
    ] {
        let verdict = lines.desk.judge(&["bash", "-c", line]);
        assert!(!matches!(verdict, Verdict::Run(_)), "{line}");
    }
}

#[tokio::test]
async fn the_shell_of_a_line_reads_no_file_at_its_start() {
    let lines = LineFixture::new();
    if !lines.is_held() {
        return skip(Reason::NoSandbox);
    }
    let canary = lines.root.path().join("canary");
    let evil = format!("echo read >> '{}'\necho read\nls() {{ echo read; }}\n", canary.display());
    for name in [".bash_profile", ".bash_login", ".profile", ".bashrc", ".shrc", ".zshenv"] {
        fs::write(lines.home(name), &evil).unwrap();
        lines.write(name, &evil);
    }
    for words in [
        ["bash", "-lc", "ls a.txt | cat"],
        ["bash", "-c", "ls a.txt | cat"],
        ["sh", "-lc", "ls a.txt | cat"],
        ["bash", "-lc", "cd sub && ls ../a.txt | cat"],
    ] {
        for mode in [SandboxMode::Read, SandboxMode::Off] {
            let seen = lines.seen(&words, mode).await;
            assert!(seen.stdout.trim_end().ends_with("a.txt"), "{words:?}: {seen:?}");
            assert!(!seen.stdout.contains("read") && !canary.exists(), "{words:?}: {seen:?}");
        }
    }
}
