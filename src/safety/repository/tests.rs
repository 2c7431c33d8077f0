//! Tests on made-up repositories: files by name, and nothing else.

use std::collections::BTreeMap;

use super::super::{
    Contents, FileKind, Machine, PathKind, Policy, PolicyContext, Program, Workspace, paths,
};
use super::*;

/// A tree of files. A path with a file below it is a folder.
struct Tree(BTreeMap<&'static str, &'static str>);

impl Machine for Tree {
    fn resolve(&self, path: &Path) -> PathBuf {
        paths::normalize(path)
    }

    fn kind(&self, path: &Path) -> PathKind {
        let path = paths::normalize(path);
        let is_file = self.0.keys().any(|name| Path::new(name) == path);
        if self.0.keys().any(|name| Path::new(name).starts_with(&path)) {
            if is_file { PathKind::File } else { PathKind::Folder }
        } else if is_file {
            PathKind::File
        } else {
            PathKind::Missing
        }
    }

    fn program(&self, _: &str) -> Option<Program> {
        None
    }

    fn entries(&self, folder: &Path, _: usize) -> Vec<(PathBuf, FileKind)> {
        let below = self.0.keys().filter_map(|name| Path::new(name).strip_prefix(folder).ok());
        let names = below.filter_map(|rest| rest.components().next());
        let paths: std::collections::BTreeSet<PathBuf> = names.map(|it| folder.join(it)).collect();
        let kind = |path: &Path| match self.kind(path) {
            PathKind::Folder => FileKind::Folder,
            _ => FileKind::File,
        };
        paths.into_iter().map(|path| (path.clone(), kind(&path))).collect()
    }

    fn read(&self, path: &Path, most: usize) -> Contents {
        match self.0.get(paths::normalize(path).to_str().unwrap_or_default()) {
            None => Contents::Missing,
            Some(text) if text.len() <= most => Contents::Bytes(text.as_bytes().to_vec()),
            Some(_) => Contents::Unreadable,
        }
    }
}

const PLAIN: &[(&str, &str)] = &[
    ("/h/w/.git/HEAD", "ref: refs/heads/main\n"),
    ("/h/w/.git/objects/x", ""),
    ("/h/w/.git/refs/x", ""),
    ("/h/w/.git/config", "[core]\n\tbare = false\n"),
    ("/h/w/src/main.rs", ""),
];

fn worries_in(files: &[(&'static str, &'static str)], folder: &str) -> Vec<Worry> {
    let tree = Tree(PLAIN.iter().chain(files).copied().collect());
    let place = Workspace::new("/h/w", "/h");
    let policy = Policy::default();
    let policy_cx = PolicyContext { policy: &policy, place: &place, world: &tree };
    find_worries(&read(&tree, Path::new(folder)), policy_cx)
}

#[test]
fn repositories_of_submodules_are_looked_through_for_programs_and_hooks() {
    let of = |files: &[(&'static str, &'static str)]| -> Vec<Worry> {
        let tree = Tree(PLAIN.iter().chain(files).copied().collect());
        let place = Workspace::new("/h/w", "/h");
        let policy = Policy::default();
        let policy_cx = PolicyContext { policy: &policy, place: &place, world: &tree };
        find_submodule_worries(&read(&tree, Path::new("/h/w")), policy_cx)
    };
    let head = "ref: refs/heads/x\n";
    let plain = "[core]\n\tworktree = ../../../lib\n[remote \"origin\"]\n\turl = https://x/y\n";
    let module = |config: &'static str| {
        [("/h/w/.git/modules/a/b/HEAD", head), ("/h/w/.git/modules/a/b/config", config)]
    };
    assert_eq!(of(&module(plain)), []);
    assert_eq!(of(&module("[core]\n\tsshCommand = ./x\n")), starts_worry("core.sshcommand=./x"));
    let hook = "/h/w/.git/modules/a/b/hooks/post-checkout";
    let hooks = [module(plain), [(hook, ""), ("/h/w/.git/modules/a/b/hooks/x.sample", "")]];
    assert_eq!(of(&hooks.concat()), starts_worry(hook));
}

fn starts_worry(setting: &str) -> Vec<Worry> {
    vec![Worry::Starts(setting.to_owned())]
}

const HOSTILE: &str = "[core]\nfsmonitor = ./x\n";

#[test]
fn an_ordinary_repository_is_not_a_worry_in_any_of_its_folders() {
    assert_eq!(worries_in(&[], "/h/w"), []);
    assert_eq!(worries_in(&[], "/h/w/src"), []);
    assert_eq!(worries_in(&[], "/"), []);
}

#[test]
fn a_setting_that_starts_a_program_is_named_with_its_value() {
    assert_eq!(
        worries_in(&[("/h/w/.git/config", HOSTILE)], "/h/w/src"),
        starts_worry("core.fsmonitor=./x")
    );
}

#[test]
fn the_settings_of_a_working_tree_count_as_well() {
    let found = worries_in(&[("/h/w/.git/config.worktree", HOSTILE)], "/h/w");
    assert_eq!(found, starts_worry("core.fsmonitor=./x"));
}

#[test]
fn a_pointer_is_followed_to_the_settings_it_leads_to() {
    let files = [
        ("/h/w/tree/.git", "gitdir: ../.git/worktrees/t\n"),
        ("/h/w/.git/worktrees/t/HEAD", "ref: refs/heads/t\n"),
        ("/h/w/.git/worktrees/t/commondir", "../..\n"),
        ("/h/w/.git/config", HOSTILE),
    ];
    assert_eq!(worries_in(&files, "/h/w/tree"), starts_worry("core.fsmonitor=./x"));
    let broken = [("/h/w/tree/.git", "where: x\n")];
    assert_eq!(worries_in(&broken, "/h/w/tree"), [Worry::Unread("/h/w/tree/.git".into())]);
}

#[test]
fn a_folder_that_only_looks_like_a_repository_hides_none_above_it() {
    let files = [("/h/w/src/.git/config", ""), ("/h/w/.git/config", HOSTILE)];
    assert_eq!(worries_in(&files, "/h/w/src"), starts_worry("core.fsmonitor=./x"));
}

#[test]
fn a_repository_inside_another_answers_for_itself() {
    let files = [
        ("/h/.git/HEAD", "ref: refs/heads/main\n"),
        ("/h/.git/objects/x", ""),
        ("/h/.git/refs/x", ""),
        ("/h/.git/config", HOSTILE),
    ];
    assert_eq!(worries_in(&files, "/h/w"), []);
    assert_eq!(worries_in(&files, "/h"), starts_worry("core.fsmonitor=./x"));
}

#[test]
fn a_bare_repository_in_the_tree_is_a_worry_by_itself() {
    let files = [
        ("/h/w/evil/HEAD", "ref: refs/heads/main\n"),
        ("/h/w/evil/objects/x", ""),
        ("/h/w/evil/refs/x", ""),
        ("/h/w/evil/config", ""),
    ];
    assert_eq!(worries_in(&files, "/h/w/evil"), [Worry::Bare("/h/w/evil".into())]);
    assert_eq!(worries_in(&files, "/h/w"), []);
}

#[test]
fn includes_are_worries_unless_they_lead_to_the_users_own_files() {
    let config = |text| [("/h/w/.git/config", text), ("/h/w/x", HOSTILE)];
    let found = worries_in(&config("[include]\npath = ../x\n"), "/h/w");
    assert_eq!(
        found,
        [Worry::Starts("include.path=../x".into()), Worry::Starts("core.fsmonitor=./x".into())]
    );
    assert_eq!(worries_in(&config("[include]\npath = ~/.gitconfig-work\n"), "/h/w"), []);
    assert_eq!(worries_in(&config("[include]\npath = ~/.config/git/work\n"), "/h/w"), []);
    for path in ["~/Downloads/x", "~/.gitconfig.d/x", "/tmp/x", "../../x"] {
        let text = Box::leak(format!("[include]\npath = {path}\n").into_boxed_str());
        assert_eq!(
            worries_in(&config(text), "/h/w"),
            starts_worry(&format!("include.path={path}"))
        );
    }
    assert_eq!(
        worries_in(&config("[includeIf \"gitdir:~/w/\"]\npath = ~/w/x\n"), "/h/w"),
        starts_worry("includeif.gitdir:~/w/.path=~/w/x")
    );
}

#[test]
fn a_working_tree_elsewhere_is_a_worry_and_that_of_a_submodule_is_not() {
    let elsewhere = [("/h/w/.git/config", "[core]\nworktree = /etc\n")];
    assert_eq!(worries_in(&elsewhere, "/h/w"), starts_worry("core.worktree=/etc"));
    let submodule = [
        ("/h/w/lib/.git", "gitdir: ../.git/modules/lib\n"),
        ("/h/w/.git/modules/lib/HEAD", "ref: refs/heads/main\n"),
        ("/h/w/.git/modules/lib/objects/x", ""),
        ("/h/w/.git/modules/lib/refs/x", ""),
        ("/h/w/.git/modules/lib/config", "[core]\nworktree = ../../../lib\n"),
    ];
    assert_eq!(worries_in(&submodule, "/h/w/lib"), []);
}

#[test]
fn drivers_of_the_repositorys_own_attributes_are_worries() {
    let attributes =
        "# diff=no\n*.txt diff=x text\n*.png filter=lfs -diff\n*.rs diff=rust\n*.c merge=union\n";
    let found = worries_in(&[("/h/w/.git/info/attributes", attributes)], "/h/w");
    assert_eq!(found, [Worry::Driver("x".into()), Worry::Driver("lfs".into())]);
}

#[test]
fn unreadable_settings_are_a_worry() {
    let long: &'static str = Box::leak("#".repeat(MOST + 1).into_boxed_str());
    for text in ["[core", "[include]\npath = config\n", long] {
        let found = worries_in(&[("/h/w/.git/config", text)], "/h/w");
        assert!(found.iter().any(|w| matches!(w, Worry::Unread(_))), "{found:?}");
    }
}

fn outside_worry(what: &str) -> Vec<Worry> {
    vec![Worry::Outside(what.to_owned())]
}

const PRIVATE: &[(&str, &str)] = &[
    ("/h/private/.git/HEAD", "ref: refs/heads/main\n"),
    ("/h/private/.git/objects/x", ""),
    ("/h/private/.git/refs/x", ""),
    ("/h/private/.git/config", "[core]\n\tbare = false\n"),
];

#[test]
fn a_pointer_out_of_the_workspace_is_a_worry_unless_the_repository_points_back() {
    let pointer = [("/h/w/tree/.git", "gitdir: ../../private/.git\n")];
    let files: Vec<_> = PRIVATE.iter().chain(&pointer).copied().collect();
    assert_eq!(worries_in(&files, "/h/w/tree"), outside_worry("/h/w/tree/.git -> /h/private/.git"));

    let worktree = [
        ("/h/w/tree/.git", "gitdir: /h/private/.git/worktrees/t\n"),
        ("/h/private/.git/worktrees/t/HEAD", "ref: refs/heads/t\n"),
        ("/h/private/.git/worktrees/t/commondir", "../..\n"),
    ];
    let of = |back| {
        let back = [("/h/private/.git/worktrees/t/gitdir", back)];
        let files: Vec<_> = PRIVATE.iter().chain(&worktree).chain(&back).copied().collect();
        worries_in(&files, "/h/w/tree")
    };
    assert_eq!(of("/h/w/tree/.git\n"), []);
    assert_eq!(
        of("/h/other/.git\n"),
        outside_worry("/h/w/tree/.git -> /h/private/.git/worktrees/t")
    );

    let submodule = [
        ("/h/w/lib/.git", "gitdir: /h/super/.git/modules/lib\n"),
        ("/h/super/.git/modules/lib/HEAD", "ref: refs/heads/main\n"),
        ("/h/super/.git/modules/lib/objects/x", ""),
        ("/h/super/.git/modules/lib/refs/x", ""),
        ("/h/super/.git/modules/lib/config", "[core]\nworktree = ../../../../w/lib\n"),
    ];
    assert_eq!(worries_in(&submodule, "/h/w/lib"), []);
}

#[test]
fn settings_and_objects_of_another_repository_are_worries() {
    let common = [("/h/w/.git/commondir", "../../private/.git\n")];
    let files: Vec<_> = PRIVATE.iter().chain(&common).copied().collect();
    assert_eq!(worries_in(&files, "/h/w"), outside_worry("/h/w/.git/commondir -> /h/private/.git"));
    for line in ["/h/private/.git/objects", "../../../private/.git/objects"] {
        let text = Box::leak(format!("# x\n{line}\n").into_boxed_str());
        let found = worries_in(&[("/h/w/.git/objects/info/alternates", text)], "/h/w");
        let to = "/h/w/.git/objects/info/alternates -> /h/private/.git/objects";
        assert_eq!(found, outside_worry(to));
    }
}

#[test]
fn a_setting_that_names_a_file_elsewhere_is_a_worry() {
    for key in [
        "[blame]\nignoreRevsFile",
        "[mailmap]\nfile",
        "[core]\nexcludesFile",
        "[core]\nattributesFile",
        "[diff]\norderFile",
        "[commit]\ntemplate",
        "[format]\nsignatureFile",
        "[fsck]\nskipList",
        "[fetch \"fsck\"]\nskipList",
        "[receive \"fsck\"]\nSKIPLIST",
    ] {
        let of = |value: &str| {
            let text = Box::leak(format!("{key} = {value}\n").into_boxed_str());
            worries_in(&[("/h/w/.git/config", text)], "/h/w")
        };
        for elsewhere in ["/etc/passwd", "~/notes.txt", "../private.txt", ".env", "/h/w/.env"] {
            assert!(matches!(of(elsewhere)[..], [Worry::Outside(_)]), "{key} {elsewhere}");
        }
        for own in [".git-blame-ignore-revs", "/h/w/ignore", "", "/dev/null"] {
            assert_eq!(of(own), [], "{key} {own}");
        }
    }
}

#[test]
fn files_of_the_workspace_that_settings_of_git_name_are_known() {
    let named = |config: &'static str, own: &'static str, path: &str| {
        let mut files: BTreeMap<_, _> = PLAIN.iter().copied().collect();
        files.extend([("/h/w/.git/config", config), ("/h/.gitconfig", own)]);
        let (tree, place, policy) = (Tree(files), Workspace::new("/h/w", "/h"), Policy::default());
        let policy_cx = PolicyContext { policy: &policy, place: &place, world: &tree };
        is_named_by_settings(Path::new(path), policy_cx)
    };
    for (config, path) in [
        ("[core]\nhooksPath = hooks\n", "/h/w/hooks/pre-commit"),
        ("[core]\nhooksPath = ./tools/git-hooks/\n", "/h/w/tools/git-hooks/lib/x"),
        ("[core]\nhooksPath = /h/w/hooks\n", "/h/w/hooks/commit-msg"),
        ("[include]\npath = ../team.gitconfig\n", "/h/w/team.gitconfig"),
        ("[includeIf \"onbranch:x\"]\npath = ../conf/x\n", "/h/w/conf/x"),
        ("[core]\nfsmonitor = ./scripts/watch\n", "/h/w/scripts/watch"),
        ("[core]\nattributesFile = attributes\n", "/h/w/attributes"),
        ("[filter \"a\"]\nclean = sh ./scripts/clean.sh %f\n", "/h/w/scripts/clean.sh"),
        ("[diff \"a\"]\ntextconv = \"scripts/text conv\"\n", "/h/w/scripts/text conv"),
        ("[alias]\nst = !python3 tools/st.py && true\n", "/h/w/tools/st.py"),
        ("[core]\nsshCommand = ./ssh.sh\n", "/h/w/ssh.sh"),
    ] {
        assert!(named(config, "", path), "{config}");
        assert!(!named(config, "", "/h/w/src/main.rs"), "{config}");
    }
    assert!(named("", "[core]\nhooksPath = ci/hooks\n", "/h/w/ci/hooks/pre-push"));
    for config in [
        "[commit]\ntemplate = docs/commit.txt\n",
        "[core]\nexcludesFile = docs/commit.txt\n",
        "[core]\nhooksPath =\n",
        "[branch \"main\"]\nmerge = refs/heads/main\n",
    ] {
        assert!(!named(config, config, "/h/w/docs/commit.txt"), "{config}");
    }
}
