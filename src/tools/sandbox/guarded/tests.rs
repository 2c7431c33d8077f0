//! Files that steps change without being asked for it.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use super::super::built::LayerCache;
use super::*;

mod planted;

/// A step that begins now.
struct Begun(RunningSteps, LayerCache);

fn begin(root: &Path) -> Begun {
    begin_with(root, &[])
}

fn begin_with(root: &Path, named: &[&str]) -> Begun {
    let mut begun = Begun(RunningSteps::default(), LayerCache::default());
    let named = named.iter().map(|name| root.join(name)).collect();
    let layers = &begun.1;
    begun.0.begin(&|root| layers.guarded_names(root), vec![root.to_owned()], named);
    begun
}

impl Begun {
    fn put_back(&self, guarded: &GuardedFiles) -> PutBack {
        self.0.put_back(&|root| self.1.guarded_names(root), guarded)
    }

    fn names(&self) -> Vec<String> {
        let root = self.0.roots.first().unwrap();
        let done = self.put_back(&GuardedFiles::Followed);
        let names = done.paths.iter().map(|path| path.strip_prefix(root).unwrap());
        names.map(|name| name.to_string_lossy().into_owned()).collect()
    }
}

fn contents(root: &Path) -> BTreeMap<PathBuf, Content> {
    let files = begin(root).0.files;
    files.into_iter().map(|(path, file)| (path, file.content)).collect()
}

const SETTINGS: &str = "[core]\nhooksPath = tools/hooks\n[include]\npath = ../tools/settings\n";

fn repository() -> (tempfile::TempDir, PathBuf) {
    let temp = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
    let root = temp.path().canonicalize().unwrap();
    for folder in [
        ".git/hooks",
        ".git/info",
        ".git/modules/lib/objects",
        ".git/modules/a/b/objects",
        ".git/modules/far/a/b/c/objects",
        "tools/hooks",
    ] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    for (name, text) in [
        (".git/config", SETTINGS),
        ("tools/settings", "[core]\n"),
        (".git/hooks/pre-commit", "#!/bin/sh\n"),
        (".git/modules/lib/config", "[core]\n"),
        (".git/modules/a/b/config", "[core]\n"),
    ] {
        fs::write(root.join(name), text).unwrap();
    }
    (temp, root)
}

#[test]
fn every_change_of_settings_and_hooks_is_put_back_and_named() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 13] = [
        (".git/hooks/pre-push", |root| fs::write(root.join(".git/hooks/pre-push"), "x").unwrap()),
        (".git/hooks/pre-commit", |root| {
            fs::write(root.join(".git/hooks/pre-commit"), "x").unwrap()
        }),
        (".git/hooks/pre-commit", |root| {
            let mode = Permissions::from_mode(0o755);
            fs::set_permissions(root.join(".git/hooks/pre-commit"), mode).unwrap();
        }),
        (".git/config", |root| {
            fs::write(root.join(".git/config"), "[core]\nfsmonitor=x\n").unwrap()
        }),
        (".git/config", |root| fs::remove_file(root.join(".git/config")).unwrap()),
        (".git/info/attributes", |root| {
            fs::write(root.join(".git/info/attributes"), "* filter=x").unwrap()
        }),
        (".git/modules/lib/config", |root| {
            fs::write(root.join(".git/modules/lib/config"), "x").unwrap()
        }),
        (".git/modules/a/b/hooks/x", |root| {
            fs::create_dir(root.join(".git/modules/a/b/hooks")).unwrap();
            fs::write(root.join(".git/modules/a/b/hooks/x"), "x").unwrap();
        }),
        (".git/commondir", |root| {
            fs::write(root.join(".git/commondir"), "../evil\n").unwrap();
        }),
        (".git/modules/far/a/b/c/hooks/x", |root| {
            fs::create_dir(root.join(".git/modules/far/a/b/c/hooks")).unwrap();
            fs::write(root.join(".git/modules/far/a/b/c/hooks/x"), "x").unwrap();
        }),
        ("tools/hooks/pre-push", |root| {
            fs::write(root.join("tools/hooks/pre-push"), "x").unwrap();
            fs::write(root.join("tools/hooks/readme"), "x").unwrap();
            fs::remove_file(root.join("tools/hooks/readme")).unwrap();
        }),
        ("tools/settings", |root| fs::write(root.join("tools/settings"), "x").unwrap()),
        (".git/config", |root| {
            fs::write(root.join("evil"), "x").unwrap();
            fs::remove_file(root.join(".git/config")).unwrap();
            symlink(root.join("evil"), root.join(".git/config")).unwrap();
        }),
    ];
    for (name, change) in changes {
        let (_temp, root) = repository();
        let before = contents(&root);
        let guarded = begin(&root);
        change(&root);
        assert_eq!(guarded.names(), [name]);
        assert_eq!(contents(&root), before, "{name}");
    }
}

#[test]
fn a_folder_of_hooks_that_became_a_link_is_a_folder_again() {
    let (_temp, root) = repository();
    let guarded = begin(&root);
    fs::create_dir(root.join("evil")).unwrap();
    fs::write(root.join("evil/pre-push"), "x").unwrap();
    fs::remove_dir_all(root.join(".git/hooks")).unwrap();
    symlink("../evil", root.join(".git/hooks")).unwrap();
    assert_eq!(guarded.names(), [".git/hooks", ".git/hooks/pre-commit"]);
    assert!(is_folder(&root.join(".git/hooks")) && root.join("evil/pre-push").exists());
    assert!(!root.join(".git/hooks/pre-push").exists());
}

#[test]
fn a_repository_that_became_a_link_to_a_copy_is_a_folder_again() {
    let (_temp, root) = repository();
    let guarded = begin(&root);
    fs::rename(root.join(".git/modules/a"), root.join("evil")).unwrap();
    symlink("../../evil", root.join(".git/modules/a")).unwrap();
    assert_eq!(guarded.names(), [".git/modules/a", ".git/modules/a/b/config"]);
    assert!(is_folder(&root.join(".git/modules/a/b")));
}

#[test]
fn nothing_is_removed_or_written_where_a_link_leads() {
    for link in [".git/info", ".git/hooks", ".git/modules", ".git/modules/a", ".git/modules/lib"] {
        let (_temp, root) = repository();
        let elsewhere = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
        for folder in ["b", "a/b", "lib", "hooks"] {
            fs::create_dir_all(elsewhere.path().join(folder)).unwrap();
        }
        for name in ["attributes", "config", "b/config", "pre-commit", "lib/config", "hooks/x"] {
            fs::write(elsewhere.path().join(name), "own").unwrap();
        }
        let guarded = begin(&root);
        let before = contents(&root);
        fs::remove_dir_all(root.join(link)).unwrap();
        symlink(elsewhere.path(), root.join(link)).unwrap();
        guarded.put_back(&GuardedFiles::Followed);
        for name in ["attributes", "config", "b/config", "pre-commit", "lib/config", "hooks/x"] {
            let text = fs::read_to_string(elsewhere.path().join(name)).unwrap();
            assert_eq!(text, "own", "{link} {name}");
        }
        assert!(!elsewhere.path().join("a/b/config").exists(), "{link}");
        for (path, was) in before {
            let Content::File { bytes, .. } = was else { panic!("{path:?}") };
            assert_eq!(fs::read(&path).unwrap(), *bytes, "{link} {path:?}");
        }
    }
}

#[test]
fn nothing_is_put_back_through_a_link_that_came_meanwhile() {
    let (_temp, root) = repository();
    let elsewhere = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
    fs::write(elsewhere.path().join("x"), "own").unwrap();
    symlink(elsewhere.path(), root.join("link")).unwrap();
    remove(&root.join("link/x"));
    assert_eq!(fs::read_to_string(elsewhere.path().join("x")).unwrap(), "own");
    let was = Content::File { bytes: b"was".as_slice().into(), mode: 0o750 };
    write(&root, &root.join("link/x"), &was).unwrap();
    assert_eq!(fs::read_to_string(elsewhere.path().join("x")).unwrap(), "own");
    assert_eq!(fs::read_to_string(root.join("link/x")).unwrap(), "was");
    assert_eq!(fs::metadata(root.join("link/x")).unwrap().permissions().mode() & 0o777, 0o750);
    // Whatever is in its place goes, a folder with links in it too.
    fs::remove_file(root.join(".git/config")).unwrap();
    fs::create_dir_all(root.join(".git/config/deep")).unwrap();
    symlink(elsewhere.path(), root.join(".git/config/deep/link")).unwrap();
    write(&root, &root.join(".git/config"), &was).unwrap();
    assert_eq!(fs::read_to_string(root.join(".git/config")).unwrap(), "was");
    assert_eq!(fs::read_to_string(elsewhere.path().join("x")).unwrap(), "own");
}

#[test]
fn a_repository_that_became_a_pointer_leads_nowhere() {
    let (_temp, root) = repository();
    let guarded = begin(&root);
    fs::rename(root.join(".git"), root.join("moved")).unwrap();
    fs::write(root.join(".git"), "gitdir: evil\n").unwrap();
    assert_eq!(guarded.names(), [".git"]);
    assert!(!root.join(".git").exists());
}

#[test]
fn ordinary_work_in_a_repository_changes_nothing_that_is_guarded() {
    let (_temp, root) = repository();
    let guarded = begin(&root);
    fs::write(root.join(".git/index"), "x").unwrap();
    fs::write(root.join("a.rs"), "x").unwrap();
    assert_eq!(guarded.names(), [""; 0]);
}

#[test]
fn files_that_others_follow_by_themselves_are_put_back_and_their_text_is_kept_for_a_question() {
    let files = [
        ".vscode/tasks.json",
        ".envrc",
        "AGENTS.md",
        ".avocet/config.toml",
        ".husky/pre-commit",
        "web/.envrc",
        "web/CLAUDE.md",
        ".github/workflows/ci.yml",
        ".mcp.json",
        ".claude/settings.json",
        "sub/.git/config",
        "sub/.git/hooks/post-checkout",
        ".hg/hgrc",
    ];
    for name in files {
        for before in [None, Some("old")] {
            let (_temp, root) = repository();
            fs::create_dir_all(root.join("web")).unwrap();
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            before.iter().for_each(|text| fs::write(root.join(name), text).unwrap());
            let guarded = begin(&root);
            fs::write(root.join(name), "[core]\n\tfsmonitor = ./evil\n").unwrap();
            let done = guarded.put_back(&GuardedFiles::Followed);
            assert_eq!(done.paths, [root.join(name)]);
            assert_eq!(done.texts.first().unwrap().1, "[core]\n\tfsmonitor = ./evil\n");
            assert_eq!(fs::read_to_string(root.join(name)).ok().as_deref(), before, "{name}");
        }
    }
}

#[test]
fn what_the_question_named_and_what_git_brings_or_notes_stays() {
    let (_temp, root) = repository();
    let settings = format!("{SETTINGS}[remote \"origin\"]\n\turl = https://x.example/y\n");
    fs::write(root.join(".git/config"), &settings).unwrap();
    let guarded = begin_with(&root, &["AGENTS.md", ".vscode", "."]);
    fs::create_dir(root.join(".vscode")).unwrap();
    for name in ["AGENTS.md", ".vscode/tasks.json"] {
        fs::write(root.join(name), "new").unwrap();
    }
    let branch = "[branch \"x\"]\n\tremote = origin\n\tmerge = refs/heads/x\n";
    fs::write(root.join(".git/config"), format!("{settings}{branch}")).unwrap();
    assert_eq!(guarded.names(), [""; 0]);
    fs::write(root.join(".envrc"), "new").unwrap();
    assert_eq!(guarded.put_back(&GuardedFiles::Repositories), PutBack::default());
    assert_eq!(guarded.names(), [".envrc"]);
    let remote = "[core]\n[branch \"x\"]\n\tremote = https://evil.example\n";
    fs::write(root.join(".git/config"), remote).unwrap();
    assert_eq!(guarded.put_back(&GuardedFiles::Repositories).paths, [root.join(".git/config")]);
}

#[test]
fn a_linked_tree_guards_the_repository_that_it_belongs_to() {
    let (_temp, root) = repository();
    let own = root.join(".git/worktrees/side");
    fs::create_dir_all(&own).unwrap();
    fs::create_dir(root.join("side")).unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    let pointer = format!("gitdir: {}\n", own.display());
    fs::write(root.join("side/.git"), pointer).unwrap();
    for config in ["config", "hooks/x"] {
        let guarded = begin(&root);
        fs::remove_file(own.join("commondir")).unwrap();
        fs::create_dir_all(own.join("hooks")).unwrap();
        fs::write(own.join(config), "x").unwrap();
        let planted = format!(".git/worktrees/side/{config}");
        assert_eq!(guarded.names(), [".git/worktrees/side/commondir", &planted]);
    }
    let guarded = begin(&root);
    fs::create_dir_all(root.join(".git/worktrees/new")).unwrap();
    fs::write(root.join(".git/worktrees/new/commondir"), "../..\n").unwrap();
    fs::remove_dir_all(&own).unwrap();
    assert_eq!(guarded.names(), [""; 0], "made and removed by git");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    let guarded = begin(&root.join("side"));
    fs::write(root.join(".git/hooks/pre-push"), "x").unwrap();
    let done = guarded.put_back(&GuardedFiles::Followed);
    assert_eq!(done.paths, [root.join(".git/hooks/pre-push")]);
    assert!(!root.join(".git/hooks/pre-push").exists());
}

#[test]
fn a_step_of_the_project_leaves_what_agents_change_in_worktrees_meanwhile() {
    let (_temp, root) = repository();
    fs::create_dir_all(root.join(".avocet/worktrees/x/sub")).unwrap();
    fs::write(root.join(".avocet/worktrees/x/.git"), "gitdir: ../../../.git\n").unwrap();
    let lock = File::create(root.join(".avocet/worktrees/.x.lock")).unwrap();
    lock.lock().unwrap();
    let guarded = begin(&root);
    for name in [".envrc", "sub/.vscode"] {
        fs::write(root.join(".avocet/worktrees/x").join(name), "new").unwrap();
    }
    // One that is made meanwhile.
    fs::create_dir_all(root.join(".avocet/worktrees/y")).unwrap();
    fs::write(root.join(".avocet/worktrees/y/.git"), "new").unwrap();
    assert_eq!(guarded.names(), [""; 0]);
    let guarded = begin(&root.join(".avocet/worktrees/x"));
    fs::write(root.join(".avocet/worktrees/x/.envrc"), "more").unwrap();
    assert_eq!(guarded.names(), [".envrc"], "a step in the worktree does not");
}

#[test]
fn a_step_of_the_project_leaves_nothing_in_worktrees_in_which_nobody_works() {
    let (_temp, root) = repository();
    for name in ["x", "y", "z"] {
        let worktree = root.join(".avocet/worktrees").join(name);
        fs::create_dir_all(worktree.join("sub")).unwrap();
        fs::write(worktree.join(".git"), "gitdir: ../../../.git\n").unwrap();
        fs::write(worktree.join("sub/.envrc"), "own").unwrap();
    }
    let guarded = begin(&root);
    let planted = ["x/.envrc", "x/sub/.envrc", "x/.git", "y/.vscode/tasks.json"];
    for name in planted {
        let path = root.join(".avocet/worktrees").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "evil").unwrap();
    }
    // An agent began to work in one, and another was removed.
    let lock = File::create(root.join(".avocet/worktrees/.y.lock")).unwrap();
    lock.lock().unwrap();
    fs::remove_dir_all(root.join(".avocet/worktrees/z")).unwrap();
    let names = ["x/.envrc", "x/.git", "x/sub/.envrc"];
    assert_eq!(guarded.names(), names.map(|name| format!(".avocet/worktrees/{name}")));
    let text = |name: &str| fs::read_to_string(root.join(".avocet/worktrees").join(name)).ok();
    assert_eq!((text("x/.envrc"), text("x/sub/.envrc").as_deref()), (None, Some("own")));
    assert_eq!(text("y/.vscode/tasks.json").as_deref(), Some("evil"));
    assert!(!root.join(".avocet/worktrees/z").exists());
}

#[test]
fn files_of_builds_are_put_back_where_a_rule_runs_builds() {
    let builds = |command: &str| GuardedFiles::FollowedAndBuilds { command: command.to_owned() };
    let names = [
        ("Makefile", Some("all:\n")),
        ("package.json", Some("{\"scripts\": {\"test\": \"jest\"}}")),
        ("crates/a/build.rs", Some("fn main() {}\n")),
        ("GNUmakefile", None),
        (".npmrc", None),
        (".cargo/config.toml", None),
        ("conftest.py", None),
        ("crates/a/.cargo/config.toml", None),
    ];
    for (name, before) in names {
        let (_temp, root) = repository();
        fs::create_dir_all(root.join("crates/a")).unwrap();
        fs::write(root.join("crates/a/Cargo.toml"), "").unwrap();
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        before.iter().for_each(|text| fs::write(root.join(name), text).unwrap());
        let guarded = begin(&root);
        fs::write(root.join(name), "evil").unwrap();
        assert_eq!(guarded.put_back(&GuardedFiles::Followed), PutBack::default(), "{name}");
        let done = guarded.put_back(&builds("make.all"));
        assert_eq!(done.paths, [root.join(name)]);
        assert_eq!(done.texts, [(root.join(name), "evil".to_owned())]);
        assert_eq!(fs::read_to_string(root.join(name)).ok().as_deref(), before, "{name}");
    }
}

#[test]
fn what_a_build_makes_and_what_a_command_is_made_to_change_stays() {
    let builds = |command: &str| GuardedFiles::FollowedAndBuilds { command: command.to_owned() };
    let (_temp, root) = repository();
    fs::write(root.join("package.json"), "{\"name\":\"x\"}").unwrap();
    fs::write(root.join("Makefile"), "all:\n").unwrap();
    let guarded = begin(&root);
    // A new project, a build, and another form of the same.
    for name in ["dist/esm/package.json", "new/app/package.json", "new/app/Makefile"] {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), "{}").unwrap();
    }
    fs::write(root.join("package.json"), "{\n  \"name\": \"x\"\n}\n").unwrap();
    assert_eq!(guarded.put_back(&builds("npm.run")), PutBack::default());
    fs::write(root.join("package.json"), "{\"name\":\"y\"}").unwrap();
    assert_eq!(guarded.put_back(&builds("npm.install")), PutBack::default());
    fs::write(root.join("Makefile"), "evil:\n").unwrap();
    assert_eq!(guarded.put_back(&builds("npm.install")).paths, [root.join("Makefile")]);
    assert_eq!(guarded.put_back(&builds("npm.run")).paths, [root.join("package.json")]);
}

#[test]
fn a_new_file_of_a_build_is_put_back_at_any_depth_of_what_was_there() {
    let builds = GuardedFiles::FollowedAndBuilds { command: "make.all".to_owned() };
    for name in [
        // A member of a workspace, in a folder that is new.
        "crates/new/build.rs",
        "crates/new/deeper/.cargo/config.toml",
        "packages/a/src/deep/package.json",
        "tests/unit/deep/conftest.py",
        "tests/unit/new/more/Makefile",
        // What a test of the root collects, wherever it is.
        "new/deep/conftest.py",
        "new/a/b/c/BUILD.bazel",
        "new/Makefile",
        ".cargo/config.toml",
    ] {
        let (_temp, root) = repository();
        for folder in ["crates/a/src", "packages/a/src/deep", "tests/unit/deep"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("Cargo.toml"), "[workspace]\nmembers = [\"crates/*\"]\n").unwrap();
        let guarded = begin(&root);
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), "evil").unwrap();
        let done = guarded.put_back(&builds);
        assert_eq!(done.texts, [(root.join(name), "evil".to_owned())], "{name}");
        assert!(!root.join(name).exists(), "{name}");
    }
}

#[test]
fn in_a_home_files_of_builds_are_put_back_but_those_of_a_new_project() {
    let at_home = GuardedFiles::FollowedAndHome { command: String::new() };
    let (_temp, root) = repository();
    fs::create_dir_all(root.join("code/shop/src")).unwrap();
    fs::write(root.join("code/shop/go.mod"), "module x\n").unwrap();
    let evil = [
        ".cargo/config.toml",
        "Makefile",
        "code/package.json",
        "code/shop/.cargo/config.toml",
        "code/shop/go.mod",
        "code/shop/src/conftest.py",
    ];
    let guarded = begin(&root);
    for name in evil.iter().chain(&["new/Makefile", "code/new/app/build.rs"]) {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), "evil").unwrap();
    }
    assert_eq!(guarded.put_back(&GuardedFiles::Followed), PutBack::default());
    let done = guarded.put_back(&at_home);
    assert_eq!(done.paths, evil.map(|name| root.join(name)));
    assert!(root.join("new/Makefile").exists() && root.join("code/new/app/build.rs").exists());
    fs::write(root.join("package.json"), "{}").unwrap();
    let installs = GuardedFiles::FollowedAndHome { command: "npm.install".to_owned() };
    assert_eq!(guarded.put_back(&installs), PutBack::default());
}

#[test]
fn among_more_files_of_builds_than_are_read_a_new_one_is_put_back() {
    let builds = GuardedFiles::FollowedAndBuilds { command: "make.all".to_owned() };
    let (_temp, root) = repository();
    for at in 0..=MAX_FILES {
        let folder = root.join(format!("packages/p{at}/a"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("package.json"), "{}").unwrap();
    }
    let guarded = begin(&root);
    let new = root.join("packages/p1/a/b/c/conftest.py");
    fs::create_dir_all(new.parent().unwrap()).unwrap();
    fs::write(&new, "evil").unwrap();
    assert_eq!(guarded.put_back(&builds).paths, std::slice::from_ref(&new));
    assert!(!new.exists());
    assert_eq!(guarded.put_back(&builds), PutBack::default());
}

#[test]
fn a_change_of_mode_alone_is_put_back_without_a_question() {
    let (_temp, root) = repository();
    fs::write(root.join(".envrc"), "x").unwrap();
    let guarded = begin(&root);
    for name in [".git/hooks/pre-commit", ".envrc"] {
        fs::set_permissions(root.join(name), Permissions::from_mode(0o777)).unwrap();
    }
    let done = guarded.put_back(&GuardedFiles::Followed);
    assert_eq!(done.paths, [root.join(".envrc"), root.join(".git/hooks/pre-commit")]);
    assert_eq!(done.texts, []);
    for name in [".git/hooks/pre-commit", ".envrc"] {
        let mode = fs::metadata(root.join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o111, 0, "{name}");
    }
}

#[test]
fn however_much_a_step_adds_to_a_folder_all_of_it_is_put_back() {
    let (_temp, root) = repository();
    fs::create_dir(root.join(".vscode")).unwrap();
    let guarded = begin(&root);
    for at in 0..=MAX_FILES {
        fs::write(root.join(format!(".vscode/{at}")), "x").unwrap();
        fs::write(root.join(format!(".git/hooks/{at}")), "x").unwrap();
    }
    assert_eq!(guarded.names().len(), 2 * (MAX_FILES + 1));
    // What was too much before is not known, and stays.
    for at in 0..MAX_FILES {
        fs::write(root.join(format!(".vscode/{at}")), "x").unwrap();
    }
    let guarded = begin(&root);
    fs::write(root.join(".vscode/more"), "x").unwrap();
    fs::remove_file(root.join(".vscode/0")).unwrap();
    assert_eq!(guarded.names(), [".vscode/0"]);
    assert_eq!(fs::read_dir(root.join(".vscode")).unwrap().count(), MAX_FILES + 1);
}

#[test]
fn a_folder_that_becomes_a_repository_with_settings_that_start_something_is_none_again() {
    let plant = |root: &Path, config: &str| {
        for folder in ["src/objects", "src/refs", "src/hooks"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("src/HEAD"), "ref: refs/heads/x\n").unwrap();
        fs::write(root.join("src/config"), config).unwrap();
    };
    let evil = "[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = ./evil\n";
    for (config, expected) in [(evil, &["src/HEAD"][..]), ("[core]\n\tbare = true\n", &[])] {
        let (_temp, root) = repository();
        fs::create_dir_all(root.join("src/hooks")).unwrap();
        fs::write(root.join("src/hooks/use.ts"), "own").unwrap();
        let guarded = begin(&root);
        plant(&root, config);
        assert_eq!(guarded.names(), expected);
        assert!(root.join("src/hooks/use.ts").exists(), "what was there is the project's");
        plant(&root, "[core]\n");
        let guarded = begin(&root);
        fs::write(root.join("src/hooks/post-receive"), "x").unwrap();
        assert_eq!(guarded.names(), ["src/hooks/post-receive"]);
    }
}

#[test]
fn settings_that_a_step_names_make_no_file_of_the_project_a_hook() {
    let (_temp, root) = repository();
    fs::write(root.join("pre-commit"), "own").unwrap();
    let guarded = begin(&root);
    fs::write(root.join(".git/config"), "[core]\nhooksPath = .\n").unwrap();
    assert_eq!(guarded.names(), [".git/config"]);
    assert!(root.join("pre-commit").exists());
}

#[test]
fn a_repository_that_a_build_fetched_keeps_where_it_came_from() {
    let config = |url: &str| {
        format!(
            "[remote \"origin\"]\n\turl = {url}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
        )
    };
    for (url, stays) in [
        ("https://example.com/x.git", true),
        ("git@example.com:x.git", true),
        ("ext::sh -c evil", false),
        ("https::evil", false),
        ("/elsewhere/x", false),
    ] {
        let (_temp, root) = repository();
        let guarded = begin(&root);
        fs::create_dir_all(root.join("build/x/.git")).unwrap();
        fs::write(root.join("build/x/.git/config"), config(url)).unwrap();
        assert_eq!(guarded.names().is_empty(), stays, "{url}");
        // In one that was there it says where a push goes.
        let guarded = begin(&root);
        fs::write(root.join(".git/config"), config(url)).unwrap();
        assert_eq!(guarded.names(), [".git/config"], "{url}");
    }
}
