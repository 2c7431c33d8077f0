//! What steers what runs later, and is changed by a step that was not asked about it.

use avocet::safety::PolicyRule;
use pretty_assertions::assert_eq;

use super::*;

/// What says what builds run.
const BUILDS: &[&str] =
    &["Makefile", "package.json", ".npmrc", ".cargo/config.toml", "build.rs", "web/Makefile"];

#[tokio::test]
async fn files_of_builds_are_put_back_where_a_rule_runs_builds_and_honest_work_stays() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    let root = wall.repository("code/shop");
    let old = "{\"scripts\": {\"test\": \"true\"}}\n";
    for name in ["package.json", "Makefile", "web/Makefile"] {
        wall.write(&root.join(name), old);
    }
    let mut plant = String::new();
    for name in BUILDS {
        let folder = Path::new(name).parent().unwrap().display();
        plant += &format!("mkdir -p ./{folder}; echo evil > {name}\n");
    }
    wall.write(&root.join("attack.sh"), &plant);
    let rules = |rules: &[&str]| Policy {
        allowed: rules.iter().map(|rule| PolicyRule::parse(rule).unwrap()).collect(),
        ..Policy::default()
    };
    let (ask, runs_builds) = (Policy::default(), rules(&["npm test *"]));
    let run = async |policy: &Policy, words: &[&str]| {
        wall.run_cleared(wall.approved_under(policy, words)).await
    };
    // The next build is asked about: it is the user who sees to what it runs.
    let seen = run(&ask, &["bash", "attack.sh"]).await;
    assert_eq!((seen.exit_code, seen.put_back), (Some(0), Vec::new()));
    for name in BUILDS {
        fs::remove_file(root.join(name)).unwrap();
    }
    for name in ["package.json", "Makefile", "web/Makefile"] {
        wall.write(&root.join(name), old);
    }
    let seen = run(&runs_builds, &["bash", "attack.sh"]).await;
    assert_eq!((seen.exit_code, seen.put_back.len()), (Some(0), 5), "{:?}", seen.put_back);
    for name in BUILDS {
        let is_old = ["package.json", "Makefile", "web/Makefile"].contains(name);
        let text = fs::read_to_string(root.join(name)).ok();
        assert_eq!(text.as_deref(), is_old.then_some(old), "{name}");
    }
    // Named by the question, brought by git, and a new project.
    wall.identity();
    for words in [
        &["sed", "-i", "s/true/false/", "package.json"][..],
        &["git", "add", "."],
        &["git", "stash"],
        &["git", "stash", "pop"],
        &["bash", "-c", "mkdir -p new/app; echo {} > new/app/package.json"],
    ] {
        let seen = run(&runs_builds, words).await;
        assert_eq!((seen.exit_code, seen.put_back), (Some(0), Vec::new()), "{words:?}");
    }
    assert!(fs::read_to_string(root.join("package.json")).unwrap().contains("false"));
    assert!(root.join("new/app/package.json").exists());
}

/// What others follow by themselves: git, editors, shells, agents, other machines.
const FOLLOWED: &[&str] = &[
    ".git/hooks/pre-push",
    ".git/info/attributes",
    ".git/commondir",
    ".vscode/tasks.json",
    ".envrc",
    "AGENTS.md",
    ".avocet/config.toml",
    ".husky/pre-commit",
    ".github/workflows/x.yml",
    ".claude/settings.json",
    ".mcp.json",
    "web/.envrc",
    "web/CLAUDE.md",
];

impl Wall {
    async fn puts_back_what_others_follow(&self) {
        let root = self.repository("code/shop");
        fs::create_dir(root.join("web")).unwrap();
        fs::write(root.join("AGENTS.md"), "ours").unwrap();
        let mut script = String::new();
        for name in FOLLOWED {
            let folder = Path::new(name).parent().unwrap().display();
            script += &format!("mkdir -p ./{folder}; echo evil > {name}\n");
        }
        let seen = self.script(&(script + "echo made > kept; echo done")).await;
        assert_eq!((seen.exit_code, seen.stdout.as_str()), (Some(0), "done\n"), "{}", seen.stderr);
        for name in FOLLOWED {
            let text = fs::read_to_string(root.join(name)).ok();
            let before = (*name == "AGENTS.md").then_some("ours");
            assert_eq!(text.as_deref(), before, "{name}");
        }
        assert!(root.join("kept").exists());
        assert!(seen.note.is_some() && !seen.put_back.is_empty());
        assert!(seen.put_back.iter().all(|(_, text)| text == "evil\n"), "{:?}", seen.put_back);
        // What the question names is the step's own.
        let seen = self.run(&["cp", "a.txt", "AGENTS.md"]).await;
        assert_eq!((seen.exit_code, seen.note), (Some(0), None));
        assert_eq!(fs::read_to_string(root.join("AGENTS.md")).unwrap(), "hello\n");
    }
}

#[tokio::test]
async fn what_others_follow_by_themselves_is_put_back_and_asked_about() {
    for mode in [SandboxMode::Work, SandboxMode::Read, SandboxMode::Off] {
        match Wall::in_mode(mode) {
            Some(wall) => wall.puts_back_what_others_follow().await,
            None => skip(Reason::NoSandbox),
        }
    }
}

#[tokio::test]
async fn a_step_that_runs_beside_others_cannot_leave_them_a_hook() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    wall.identity();
    let root = wall.repository("code/shop");
    wall.write(
        &root.join("attack.sh"),
        "echo evil > .git/hooks/pre-commit; touch planted; while ! test -e stop; do sleep 0.05; done",
    );
    let beside = async {
        let planted = root.join("planted");
        while !planted.exists() {
            tokio::task::yield_now().await;
        }
        let seen = wall.run(&["git", "config", "user.name", "other"]).await;
        assert_eq!(seen.exit_code, Some(0), "{}", seen.stderr);
        assert!(seen.note.is_some(), "it says what it met");
        assert!(!root.join(".git/hooks/pre-commit").exists());
        fs::write(root.join("stop"), "").unwrap();
    };
    let running = wall.run(&["bash", "attack.sh"]);
    let (seen, ()) = futures_util::join!(running, beside);
    assert_eq!((seen.exit_code, seen.note), (Some(0), None));
    let config = fs::read_to_string(root.join(".git/config")).unwrap();
    assert!(config.contains("other"), "the change that was asked for stays: {config}");
}

/// What starts with the session or with programs of the user, and what these trust.
#[rustfmt::skip]
const STARTS: &[&str] = &[
    "bin/ls", ".local/bin/ls", ".config/systemd/user/x.service", ".config/fish/config.fish",
    ".config/environment.d/x.conf", ".config/autostart/x.desktop", ".config/nvim/init.lua", ".config/mise/config.toml", ".config/kitty/kitty.conf",
    ".local/share/dbus-1/services/x.service", ".ssh/config", ".docker/config.json", ".gnupg/gpg.conf", ".bashrc", ".profile", ".screenrc", ".xonshrc",
];

#[tokio::test]
async fn where_the_home_is_worked_in_a_step_leaves_nothing_that_starts_by_itself() {
    for has_folders in [false, true] {
        let Some(wall) = Wall::in_folder(SandboxMode::Work, "home") else {
            return skip(Reason::NoSandbox);
        };
        // More settings than are looked through.
        for n in 0..600 {
            wall.write(&wall.home(&format!(".config/app/{n}")), "");
        }
        let mut script = "echo fine > code/shop/x; echo fine > .config/app/1\n".to_owned();
        for name in STARTS {
            let folder = wall.home(name).parent().unwrap().to_owned();
            if has_folders {
                fs::create_dir_all(&folder).unwrap();
            }
            script +=
                &format!("mkdir -p ~/{name} 2>/dev/null && rmdir ~/{name}; echo evil > ~/{name}\n");
        }
        let seen = wall.script(&script).await;
        let text = |name: &str| fs::read_to_string(wall.home(name)).unwrap_or_default();
        let left: Vec<_> = STARTS.iter().filter(|name| text(name).contains("evil")).collect();
        assert_eq!(left, [&""; 0], "{has_folders}: {}", seen.stderr);
        assert_eq!(
            (text("code/shop/x"), text(".config/app/1")),
            ("fine\n".into(), "fine\n".into())
        );
    }
}

/// Files of builds that a program finds in the folders above its own, and those of other projects.
#[rustfmt::skip]
const HOME_BUILDS: &[&str] = &[
    "Makefile", "package.json", "build.rs", "setup.py", "Cargo.toml", "go.work", "pyproject.toml", "Directory.Build.props", ".envrc", "mise.toml",
    ".cargo/config.toml", ".cargo/bin/x", ".tool-versions", ".npmrc", ".yarn/releases/x.cjs", "go/bin/x", ".volta/bin/x", ".bundle/config",
    "code/Makefile", "code/other/package.json", "code/other/.cargo/config.toml", "code/other/src/conftest.py",
];

#[tokio::test]
async fn where_the_home_is_worked_in_new_files_of_builds_are_put_back_but_those_of_a_new_project() {
    let Some(wall) = Wall::in_folder(SandboxMode::Work, "home") else {
        return skip(Reason::NoSandbox);
    };
    fs::create_dir_all(wall.home("code/other/src")).unwrap();
    wall.write(&wall.home("code/other/go.mod"), "module x\n");
    let mut script = String::new();
    for name in HOME_BUILDS {
        let folder = Path::new(name).parent().unwrap().display();
        script += &format!("mkdir -p ~/./{folder}; echo evil > ~/{name}\n");
    }
    script += "echo evil >> ~/code/other/go.mod\n";
    for name in ["new/Makefile", "code/new/app/package.json", "code/new/Cargo.toml"] {
        script += &format!("mkdir -p ~/{name}; rmdir ~/{name}; echo fine > ~/{name}\n");
    }
    let seen = wall.script(&script).await;
    let text = |name: &str| fs::read_to_string(wall.home(name)).unwrap_or_default();
    let left: Vec<_> = HOME_BUILDS.iter().filter(|name| text(name).contains("evil")).collect();
    assert_eq!(left, [&""; 0], "{}", seen.stderr);
    assert_eq!(text("code/other/go.mod"), "module x\n");
    for name in ["new/Makefile", "code/new/app/package.json", "code/new/Cargo.toml"] {
        assert_eq!(text(name), "fine\n", "{name}");
    }
    assert!(seen.put_back.iter().any(|(path, _)| path.ends_with(".cargo/config.toml")), "{seen:?}");
}
