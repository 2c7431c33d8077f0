//! Tests which questions the modes answer, line by line, and that each reason to ask is among them.

use super::*;
use avocet_core::protocol::{ApprovalMode, SandboxStatus};

mod recorded;
mod thirty_steps;

/// A folder with a repository, a few files of the project, and some that no undo brings back.
#[derive(Clone, Copy, Default)]
struct Project {
    has_no_undo: bool,
}

const FILES: &[&str] = &[
    "/w/a.txt",
    "/w/b.txt",
    "/w/src/main.rs",
    "/w/src/util/x.rs",
    "/w/docs/guide.md",
    "/w/node_modules/.bin/prettier",
    "/w/node_modules/.bin/tsc",
    "/w/tools/.vscode/tasks.json",
    "/w/keys/.env",
    "/w/AGENTS.md",
    "/w/build/app.o",
    "/w/run.sh",
    "/w/tests/limit.test.js",
    "/w/examples/pizza.js",
];
const FOLDERS: &[&str] = &[
    "/w",
    "/w/.git",
    "/w/src",
    "/w/src/util",
    "/w/docs",
    "/w/build",
    "/w/tools",
    "/w/tools/.vscode",
    "/w/keys",
    "/w/node_modules",
    "/w/empty",
    "/w/configure",
];

impl Machine for Project {
    fn resolve(&self, path: &Path) -> PathBuf {
        world().resolve(path)
    }

    fn kind(&self, path: &Path) -> PathKind {
        let is_listed = |list: &[&str]| list.iter().any(|known| path == Path::new(known));
        match () {
            () if is_listed(FILES) => PathKind::File,
            () if is_listed(FOLDERS) => PathKind::Folder,
            () => PathKind::Missing,
        }
    }

    fn is_link(&self, path: &Path) -> bool {
        path == Path::new("/w/link")
    }

    fn program(&self, name: &str) -> Option<Program> {
        world().program(name)
    }

    fn executable_at(&self, path: &Path) -> Option<Program> {
        let path = path.to_owned();
        Some(Program { path, device: 1, inode: 2, modified: 1, link: None })
    }

    fn entries(&self, folder: &Path, most: usize) -> Vec<(PathBuf, FileKind)> {
        let listed = |list: &[&'static str], kind| -> Vec<(PathBuf, FileKind)> {
            let inside = list.iter().map(Path::new).filter(|path| path.parent() == Some(folder));
            inside.map(|path| (path.to_owned(), kind)).collect()
        };
        let mut found = listed(FILES, FileKind::File);
        found.extend(listed(FOLDERS, FileKind::Folder));
        found.truncate(most);
        found
    }

    fn read(&self, path: &Path, _: usize) -> Contents {
        match self.kind(path) {
            PathKind::File => Contents::Bytes(b"text\n".to_vec()),
            _ => Contents::Missing,
        }
    }

    fn last_known_digest(&self, path: &Path) -> Option<String> {
        (self.kind(path) == PathKind::File).then(|| tools::digest(b"text\n"))
    }

    /// Everything but what is built.
    fn comes_back(&self, _: &Path, path: &Path) -> bool {
        !self.has_no_undo && !path.starts_with("/w/build") && path != Path::new("/w")
    }

    fn takes_checkpoints(&self) -> bool {
        !self.has_no_undo
    }
}

fn policy(approval: ApprovalMode, shelter: SandboxStatus) -> Policy {
    Policy { approval, shelter, ..Policy::default() }
}

fn assess_in(step: Step, policy: &Policy, machine: Project) -> Verdict {
    let place = place();
    assess(step, PolicyContext { policy, place: &place, world: &machine })
}

fn step_of(line: &str) -> Step {
    let words = words_of(line);
    let (program, args) = words.split_first().unwrap();
    step(program, &args.iter().map(String::as_str).collect::<Vec<_>>())
}

fn tool(name: &str, input: serde_json::Value) -> Step {
    let work = StepAction::Tool { name: name.to_owned(), input };
    Step { id: String::new(), work, requires: Requires::default(), cwd: None }
}

fn runs_in(approval: ApprovalMode, line: &str) -> bool {
    let policy = policy(approval, SandboxStatus::Held);
    matches!(assess_in(step_of(line), &policy, Project::default()), Verdict::Run(_))
}

/// The lines whose verdict differs from the one in the table.
fn wrong<'a>(approval: ApprovalMode, lines: &[&'a str], runs: bool) -> Vec<&'a str> {
    lines.iter().copied().filter(|line| runs_in(approval, line) != runs).collect()
}

/// What a manager of files does.
const EDITED: &[&str] = &[
    "mkdir src/new",
    "mkdir -p build src/dune",
    "rmdir configure",
    "rm -r configure",
    "mkdir -p a/b/c",
    "touch a.txt new.txt",
    "rmdir empty",
    "cp a.txt c.txt",
    "cp a.txt b.txt docs",
    "cp -r src copy",
    "mv a.txt c.txt",
    "mv a.txt b.txt docs",
    "mv src/util lib",
    "ln -s a.txt link2",
    "rm a.txt",
    "rm -f a.txt missing.txt",
    "rm -r src/util",
    "sed -i s/a/b/ a.txt",
    "sed -i -e s/a/b/ -e 3d a.txt src/main.rs",
    "sed -E -i s/a/b/g a.txt",
    "prettier --write src",
    "prettier src/main.rs --write",
    "npx prettier --write src/main.rs",
    "black src",
    "ruff format src",
    "gofmt -w src",
    "go fmt ./...",
    "cargo fmt",
    "cargo fmt --all",
    "rustfmt src/main.rs",
    "git add .",
    "git add -A",
    "git add -u src",
    "git add a.txt src/main.rs",
    "git checkout -b fix/x",
    "git switch -c fix/x",
    "git switch --create x",
    "bash -c 'git add -A && git status'",
    "bash -lc 'mkdir -p src/new && cp a.txt src/new'",
    "bash -c 'ls -la && touch x.txt; git status'",
    "bash -c 'cd src && mkdir y'",
    "sh -c 'rm a.txt && ls'",
];

/// What is more than that, or is beyond the folder.
const NOT_EDITED: &[&str] = &[
    // Outside.
    "mkdir /tmp/x",
    "touch ../x",
    "touch ~/x",
    "cp a.txt /tmp/x",
    "cp /etc/hosts hosts",
    "mv a.txt ..",
    "ln -s /etc/hosts h",
    "ln -s ../outside h",
    "ln -s ../../etc src/h",
    "rm /tmp/x",
    "rm -r ../other",
    "mkdir link_etc/x",
    "cp a.txt link_etc/x",
    // Files that steer.
    "touch AGENTS.md",
    "rm AGENTS.md",
    "mv AGENTS.md x.md",
    "cp a.txt AGENTS.md",
    "mv a.txt .git/hooks/pre-commit",
    "cp a.txt .git/hooks",
    "rm -r .git",
    "mkdir .git/x",
    "mkdir -p .github/workflows/x.yml",
    "cp -r tools .",
    "cp -r tools lib",
    "mv tools lib",
    "rm -r tools",
    "sed -i s/a/b/ AGENTS.md",
    "ln -s a.txt .envrc",
    // Credentials.
    "cp keys/.env x.txt",
    "mv keys/.env x.txt",
    "cp -r keys lib",
    "mv keys lib",
    "rm -r keys",
    "rm keys/.env",
    "cp a.txt .env",
    // What does not come back.
    "rm build/app.o",
    "rm -r build",
    "mv build lib",
    "cp a.txt build/app.o",
    "mv a.txt build/app.o",
    "sed -i s/a/b/ build/app.o",
    "rm -r .",
    "rm -r src/..",
    "rm link",
    "mv link x",
    // Options and programs beyond the list.
    "cp -t docs a.txt",
    "cp -l a.txt c.txt",
    "cp -r src/. copy",
    "cp -r src/ copy",
    "mv -b a.txt c.txt",
    "ln a.txt hard",
    "ln -sf a.txt b.txt",
    "ln -s a.txt b.txt",
    "install a.txt c.txt",
    "sed -i.bak s/a/b/ a.txt",
    "sed -i../x s/a/b/ a.txt",
    "sed -i s/a/b/w_out a.txt",
    "sed -i 1e a.txt",
    "sed -i -f x.sed a.txt",
    "sed -i s/a/b/",
    "sed -n -i p ../x",
    "prettier --write --plugin=./x.js src",
    "prettier --config x.json --write src",
    "npx dprint fmt",
    "npx prettier@3 --write src",
    "cargo fmt -- --config-path x",
    "rustfmt --config-path=x src/main.rs",
    "eslint --fix src",
    "chmod +x run.sh",
    "npm test",
    "git commit -m x",
    "git add -p",
    "git add ../x",
    "git add keys/.env",
    "git add --chmod=+x run.sh",
    "git add --pathspec-from-file=x",
    "git -C .. add .",
    "git -c core.fsmonitor=./x add .",
    "git -c filter.a.clean=./x add .",
    "git checkout -b x main",
    "git checkout -B x",
    "git checkout main",
    "git switch -c x main",
    "git switch main",
    "git reset",
    "git rm a.txt",
    "./run.sh",
    "tee a.txt",
    "dd if=a.txt of=b.txt",
    "find . -delete",
    "bash -c 'mkdir x && npm test'",
    "bash -c 'mkdir x && touch /tmp/y'",
    "bash -c 'rm a.txt && rm build/app.o'",
    "bash -c 'mkdir $(id)'",
    "bash -c 'eval mkdir x'",
    "bash -c 'echo x > AGENTS.md'",
];

/// What the sandbox holds.
const HELD: &[&str] = &[
    "npm test",
    "npm run build",
    "npx tsc --noEmit",
    "node --test src/x.test.js",
    "node -e 1",
    "python3 -m pytest -q",
    "python3 -c 'print(1)'",
    "python3 x.py",
    "pytest -q",
    "cargo test",
    "cargo clippy --all-targets",
    "cargo run",
    "go test ./...",
    "make",
    "make -j4 test",
    "gradle test",
    "mvn test",
    "tsc -p .",
    "eslint --fix src",
    "gcc -o x x.c",
    "./run.sh",
    "bash run.sh",
    "git add -A",
    "git commit -m x",
    "git commit -am x",
    "git checkout -b x",
    "git switch -c x",
    "git checkout main",
    "git checkout -- a.txt",
    "git merge x",
    "git stash",
    "git stash pop",
    "git branch x",
    "git tag v1",
    "git mv a.txt c.txt",
    "git rm a.txt",
    "git reset",
    "git reset HEAD -- a.txt",
    "git restore --staged a.txt",
    "chmod +x run.sh",
    "tee a.txt",
    "tar -xzf x.tar.gz",
    "unzip x.zip",
    "timeout 60 npm test",
    "bash -lc 'npm test'",
    "bash -lc 'cd src && npm test && git add .'",
    "bash -c 'npm test 2>&1 | tail -5'",
    "bash -c 'mkdir x && npm run build; git status'",
];

/// What must still ask in *auto*, each with the reason that it asks for.
const ASKED: &[(&str, &str)] = &[
    // The network, and what is on the other side of it.
    ("curl https://example.com", "curl"),
    ("wget https://example.com", "wget"),
    ("git push", "git.push"),
    ("git push origin main", "git.push"),
    ("git fetch", "git.fetch"),
    ("git pull", "git.pull"),
    ("git clone https://example.com/x", "git.clone"),
    ("git submodule update", "git.submodule"),
    ("git lfs pull", "git.lfs"),
    ("npm install left-pad", "npm.install"),
    ("npm ci", "npm.ci"),
    ("npm uninstall x", "npm.uninstall"),
    ("npx create-react-app x", "npx"),
    ("pip install x", "pip"),
    ("python3 -m pip install x", "python3"),
    ("uv sync", "uv"),
    ("cargo add serde", "cargo.add"),
    ("cargo install x", "cargo.install"),
    ("cargo update", "cargo.update"),
    ("go get x", "go.get"),
    ("go mod tidy", "go.mod"),
    ("bun add x", "bun"),
    ("composer install", "composer"),
    ("bundle install", "bundle"),
    ("ssh host", "ssh"),
    ("scp a.txt host:", "scp"),
    ("rsync -a src host:", "rsync"),
    ("gh pr create", "gh"),
    ("ping example.com", "ping"),
    // Daemons, services and agents outside the sandbox.
    ("docker run alpine", "docker"),
    ("podman ps", "podman"),
    ("kubectl get pods", "kubectl"),
    ("terraform plan", "terraform"),
    ("systemctl restart x", "systemctl"),
    ("tmux new", "tmux"),
    ("crontab job.txt", "crontab"),
    ("psql -c 'select 1'", "psql"),
    ("redis-cli get x", "redis-cli"),
    ("claude x", "claude"),
    ("codex exec x", "codex"),
    ("notify-send x", "notify-send"),
    // Other processes, and what takes the machine.
    ("kill 1234", "kill"),
    ("pkill node", "pkill"),
    ("stress -c 64", "stress"),
    ("sleep 3600", "sleep"),
    // The system.
    ("apt install x", "apt"),
    ("brew install x", "brew"),
    ("systemd-run ls", "systemd-run"),
    // Credentials.
    ("cat keys/.env", "path.sensitive"),
    ("gpg --decrypt a.gpg", "gpg"),
    ("ssh-keygen -t ed25519", "ssh-keygen"),
    ("envsubst", "envsubst"),
    ("cp keys/.env x.txt", "path.sensitive"),
    // Outside the folder.
    ("touch ~/x", "path.outside.write"),
    ("cp a.txt /tmp/x", "path.outside.write"),
    ("cat /etc/passwd", "path.outside"),
    ("git -C .. add .", "path.outside"),
    ("git worktree add ../x", "git.worktree"),
    // What steers programs and agents.
    ("touch AGENTS.md", "path.steers"),
    ("cp a.txt .git/hooks/pre-commit", "path.git"),
    ("git config core.editor vim", "git.config"),
    ("git remote add up x", "git.remote"),
    ("git init", "git.init"),
    ("git apply x.patch", "git.apply"),
    ("git update-index --add x", "git.update-index"),
    ("git -c core.pager=x commit -m x", "git.config"),
    ("husky install", "husky"),
    // History.
    ("git commit --amend", "git.commit"),
    ("git commit --amend --no-edit", "git.commit"),
    ("git rebase main", "git.rebase"),
    ("git reset --soft HEAD~1", "git.reset"),
    ("git reset HEAD~1", "git.reset"),
    ("git branch -m a b", "git.branch.write"),
    ("git branch -d x", "git.branch.delete"),
    ("git branch -f main x", "git.branch.write"),
    ("git tag -d v1", "git.tag.delete"),
    ("git checkout -B main x", "git.checkout"),
    ("git switch -C main x", "git.switch"),
    ("git update-ref HEAD x", "git.update-ref"),
    ("git replace a b", "git.replace"),
    ("git stash drop", "git.stash.drop"),
    ("git worktree remove x", "git.worktree.remove"),
    ("git gc", "git.gc"),
    // What an undo does not bring back.
    ("rm build/app.o", "rm"),
    ("rm -r build", "rm"),
    ("mv build x", "mv"),
    ("cp a.txt build/app.o", "cp"),
    ("git rm build/app.o", "git.rm"),
    ("find . -delete", "find.delete"),
    ("git clean -i", "git.clean"),
    ("shred a.txt", "shred"),
    // What is not understood.
    ("bash -c 'npm test $(id)'", "shell.expansion"),
    ("bash -c 'eval npm test'", "shell.string"),
    ("bash -c 'echo x > out.txt'", "shell.string"),
    ("bash -c 'npm test && git push'", "git.push"),
    ("xargs rm", "xargs"),
    ("watch npm test", "watch"),
    ("env -S 'npm test'", "env"),
];

#[test]
fn accept_edits_runs_what_a_manager_of_files_does_and_formatters() {
    assert_eq!(wrong(ApprovalMode::Edits, EDITED, true), [""; 0]);
}

#[test]
fn git_compares_two_files_without_a_question_and_asks_about_folders() {
    let tier = |line: &str| {
        assess_in(step_of(line), &Policy::default(), Project::default()).judgement().risk.tier
    };
    assert_eq!(tier("git diff --no-index a.txt b.txt"), Tier::L0);
    assert_eq!(tier("git diff --no-index --stat -- a.txt src/main.rs"), Tier::L0);
    for asked in ["git diff --no-index src docs", "git diff --no-index a.txt keys/.env"] {
        assert_eq!(tier(asked), Tier::L1, "{asked}");
    }
}

#[test]
fn accept_edits_asks_about_everything_else() {
    assert_eq!(wrong(ApprovalMode::Edits, NOT_EDITED, false), [""; 0]);
}

#[test]
fn auto_runs_what_the_sandbox_holds_and_what_accept_edits_runs() {
    assert_eq!(wrong(ApprovalMode::Auto, HELD, true), [""; 0]);
    assert_eq!(wrong(ApprovalMode::Auto, EDITED, true), [""; 0]);
    assert_eq!(wrong(ApprovalMode::Ask, HELD, false), [""; 0]);
}

#[test]
fn auto_asks_about_what_leaves_the_sandbox_or_does_not_come_back() {
    let policy = policy(ApprovalMode::Auto, SandboxStatus::Held);
    let mut wrong = Vec::new();
    for (line, reason) in ASKED {
        let verdict = assess_in(step_of(line), &policy, Project::default());
        let reasons: Vec<&str> =
            verdict.judgement().risk.reasons.iter().map(|one| one.rule.as_str()).collect();
        let is_named = reasons.iter().any(|rule| rule.starts_with(reason));
        if matches!(verdict, Verdict::Run(_)) || !is_named {
            wrong.push(format!("{line}: {reasons:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_step_that_says_what_it_needs_asks_in_auto() {
    let policy = policy(ApprovalMode::Auto, SandboxStatus::Held);
    let declared = [
        Requires { network: true, ..Requires::default() },
        Requires { confirm: true, ..Requires::default() },
        Requires { elevated: true, ..Requires::default() },
    ];
    for requires in declared {
        let step = Step { requires, ..step_of("npm test") };
        let verdict = assess_in(step, &policy, Project::default());
        assert!(!matches!(verdict, Verdict::Run(_)), "{requires:?}");
    }
    let outside = Step { cwd: Some("/tmp".into()), ..step_of("npm test") };
    assert!(!matches!(assess_in(outside, &policy, Project::default()), Verdict::Run(_)));
}

#[test]
fn no_mode_runs_a_step_in_a_folder_that_is_not_trusted() {
    for approval in [ApprovalMode::Edits, ApprovalMode::Auto] {
        let policy = policy(approval, SandboxStatus::Held);
        let place = Workspace { trusted: false, ..place() };
        for line in ["mkdir x", "npm test", "rm a.txt"] {
            let policy_cx =
                PolicyContext { policy: &policy, place: &place, world: &Project::default() };
            assert!(!matches!(assess(step_of(line), policy_cx), Verdict::Run(_)), "{line}");
        }
    }
}

#[test]
fn without_a_sandbox_or_a_way_back_auto_asks() {
    use SandboxStatus::{Absent, Off, ReadOnly, Unknown};
    for shelter in [Unknown, Off, Absent, ReadOnly] {
        let policy = policy(ApprovalMode::Auto, shelter);
        for line in ["npm test", "mkdir x", "git add ."] {
            let verdict = assess_in(step_of(line), &policy, Project::default());
            assert!(matches!(verdict, Verdict::Ask(_)), "{line} {shelter:?}");
        }
        let policy = Policy { approval: ApprovalMode::Edits, ..policy };
        let formatted = assess_in(step_of("cargo fmt"), &policy, Project::default());
        assert!(matches!(formatted, Verdict::Ask(_)), "{shelter:?}");
        let made = assess_in(step_of("mkdir x"), &policy, Project::default());
        assert!(matches!(made, Verdict::Run(_)), "{shelter:?}");
    }
    let lost = Project { has_no_undo: true };
    for approval in [ApprovalMode::Edits, ApprovalMode::Auto] {
        let policy = policy(approval, SandboxStatus::Held);
        let verdict = assess_in(step_of("rm a.txt"), &policy, lost);
        assert!(matches!(verdict, Verdict::Ask(_)), "{approval:?}");
    }
}

#[test]
fn a_step_that_a_mode_runs_gets_neither_the_network_nor_anything_of_the_home() {
    let policy = policy(ApprovalMode::Auto, SandboxStatus::Held);
    for line in [
        "npm test",
        "gradle test",
        "npx tsc",
        "git checkout main",
        "cargo fmt",
        "bash -c 'npm test'",
    ] {
        let verdict = assess_in(step_of(line), &policy, Project::default());
        let Verdict::Run(cleared) = verdict else { panic!("{line}") };
        let needs = &cleared.judgement().launch.needs;
        let Needs { network, homes, credentials, variables, system, signals, guarded, .. } = needs;
        assert!(!network && !system && !signals, "{line}: {needs:?}");
        assert!(homes.is_empty() && credentials.is_empty() && variables.is_empty(), "{line}");
        assert_eq!(*guarded, GuardedFiles::Followed, "{line}");
    }
}

#[test]
fn modes_run_edits_of_the_folder_and_ask_about_those_outside_or_of_what_steers() {
    let write = |path: &str| {
        let input = serde_json::json!({ "path": path, "content": "x\n" });
        tool("file.write", input)
    };
    for approval in [ApprovalMode::Edits, ApprovalMode::Auto] {
        let policy = policy(approval, SandboxStatus::Held);
        let verdict = assess_in(write("src/new.rs"), &policy, Project::default());
        assert!(matches!(verdict, Verdict::Run(_)), "{verdict:?}");
        for path in ["../x", "/tmp/x", "~/x", "AGENTS.md", ".git/config", "keys/.env", "link_etc/x"]
        {
            let verdict = assess_in(write(path), &policy, Project::default());
            assert!(!matches!(verdict, Verdict::Run(_)), "{path}");
        }
    }
}
