//! Tests that the place of a workspace does not change what may be done in it.

use super::*;

/// A place, with the path of a file of the workspace there.
fn workspace_at(workspace: &str, home: &str) -> Workspace {
    Workspace::new(workspace, home)
}

fn risk_in(place: &Workspace, program: &str, args: &[&str]) -> Risk {
    assess_with(step(program, args), &Policy::default(), place).judgement().risk.clone()
}

fn tool_risk(place: &Workspace, name: &str, input: serde_json::Value) -> Risk {
    let work = StepAction::Tool { name: name.into(), input };
    let step = Step { work, ..step("", &[]) };
    assess_with(step, &Policy::default(), place).judgement().risk.clone()
}

/// Workspaces below places that are secret in general, with the user's home.
const ANYWHERE: &[(&str, &str)] = &[
    ("/root/p", "/root"),
    ("/root/code/deep/p", "/root"),
    ("/root", "/root"),
    ("/root/p", "/home/u"),
    ("/boot/p", "/h"),
    ("/dev/shm/p", "/h"),
    ("/etc/ssh/p", "/h"),
    ("/etc/letsencrypt", "/h"),
    ("/private/var/db/p", "/h"),
    ("/run/secrets/p", "/h"),
    ("/sys/kernel/p", "/h"),
    ("/", "/h"),
    ("/h", "/h"),
];

#[test]
fn a_system_secret_folder_does_not_close_a_workspace_in_it() {
    for (workspace, home) in ANYWHERE {
        let place = workspace_at(workspace, home);
        for (program, args) in [
            ("cat", &["src/main.rs"][..]),
            ("ls", &["src"]),
            ("rg", &["-n", "TODO", "."]),
            ("find", &[".", "-name", "*.rs"]),
            ("wc", &["-l", "./src/main.rs"]),
        ] {
            let risk = risk_in(&place, program, args);
            assert_eq!(risk.tier, Tier::L0, "{workspace}: {program} {args:?}: {:?}", risk.reasons);
        }
        let read = tool_risk(&place, "file.read", serde_json::json!({ "path": "a.txt" }));
        assert_eq!((read.tier, read.rule.as_str()), (Tier::L0, "file.read"), "{workspace}");
        let write = serde_json::json!({ "path": "b.txt", "content": "x" });
        let write = tool_risk(&place, "file.write", write);
        assert_eq!((write.tier, write.rule.as_str()), (Tier::L1, "file.write"), "{workspace}");
        assert_eq!(risk_in(&place, "mkdir", &["new"]).rule, "mkdir", "{workspace}");
    }
}

#[test]
fn a_file_secret_by_its_own_name_stays_so_in_such_a_workspace() {
    for (workspace, home) in ANYWHERE {
        let place = workspace_at(workspace, home);
        for secret in [".env", ".ssh/id_rsa", ".aws/credentials", "x/.netrc", "server.pem"] {
            assert!(risk_in(&place, "cat", &[secret]).tier > Tier::L0, "{workspace}: {secret}");
        }
        let key = serde_json::json!({ "path": ".ssh/authorized_keys", "content": "x" });
        assert_eq!(tool_risk(&place, "file.write", key).tier, Tier::L2, "{workspace}");
    }
}

#[test]
fn the_rest_of_a_system_secret_folder_stays_closed() {
    for (workspace, home, other) in [
        ("/root/p", "/home/u", "/root/other"),
        ("/boot/p", "/h", "/boot/grub.cfg"),
        ("/dev/shm/p", "/h", "/dev/shm/other"),
        ("/dev/shm/p", "/h", "/dev/mem"),
        ("/dev/shm/p", "/h", "/proc/self/environ"),
        ("/etc/ssh/p", "/h", "/etc/ssh/ssh_host_rsa_key"),
        ("/", "/h", "/etc/shadow"),
        ("/", "/h", "/root/x"),
        ("/", "/h", "/dev/sda"),
        ("/", "/h", "/proc/1/environ"),
        ("/", "/h", "/h/.kube/config"),
        ("/dev", "/h", "/dev/mem"),
        ("/proc/self", "/h", "/proc/self/environ"),
        ("/h", "/h", "/h/.config/gh/hosts.yml"),
        ("/h", "/h", "/h/.config/avocet/config.toml"),
        ("/w", "/h", "/root/x"),
        ("/w", "/root/deep", "/root/x"),
    ] {
        let risk = risk_in(&workspace_at(workspace, home), "cat", &[other]);
        assert_eq!(risk.rule, "path.secret", "{workspace}: {other}");
    }
    let rest = risk_in(&workspace_at("/root/p", "/root"), "cat", &["/root/notes.txt"]);
    assert_eq!(rest.rule, "path.outside", "the home is nobody else's");
}

#[test]
fn a_system_secret_folder_closes_an_untrusted_workspace_in_it() {
    let place = Workspace { trusted: false, ..workspace_at("/etc/ssh/p", "/h") };
    let read = tool_risk(&place, "file.read", serde_json::json!({ "path": "a.txt" }));
    assert_eq!((read.tier, read.rule.as_str()), (Tier::L1, "path.secret"));
}

#[test]
fn a_link_out_of_a_workspace_below_dev_is_detected() {
    let links = [("/dev/shm/p/link", "/etc/shadow"), ("/dev/shm/p/note", "/outside/x")];
    let world = Fake { links: links.into_iter().collect(), settings: "" };
    let (policy, place) = (Policy::default(), workspace_at("/dev/shm/p", "/h"));
    let policy_cx = PolicyContext { policy: &policy, place: &place, world: &world };
    let rule = |path| assess(step("cat", &[path]), policy_cx).judgement().risk.rule.clone();
    assert_eq!(rule("link"), "path.secret");
    assert_eq!(rule("note"), "path.outside");
    assert_eq!(rule("plain"), "cat");
}

#[test]
fn a_path_of_dots_is_named_in_full() {
    let risk = risk_in(&workspace_at("/w/deep", "/h"), "find", &[".."]);
    let why = risk.main_reason().unwrap().to_string();
    assert!(why.contains("`/w`"), "{why}");
}

fn nested_workspace() -> Workspace {
    Workspace { readable: vec!["/m".into()], ..workspace_at("/m/apps/shop", "/h") }
}

#[test]
fn the_enclosing_repository_is_readable_and_nothing_more() {
    let place = nested_workspace();
    for (program, args) in [
        ("ls", &[".."][..]),
        ("cat", &["../README.md"]),
        ("cat", &["/m/lib/x.rs"]),
        ("git", &["grep", "x", "--", ":/"]),
        ("rg", &["x", "../../lib"]),
    ] {
        let risk = risk_in(&place, program, args);
        assert_eq!(risk.tier, Tier::L0, "{program} {args:?}: {:?}", risk.reasons);
    }
    let read = serde_json::json!({ "path": "../../README.md" });
    assert_eq!(tool_risk(&place, "file.read", read).tier, Tier::L0);
    let write = serde_json::json!({ "path": "../../README.md", "content": "x" });
    assert!(rules_of(&tool_risk(&place, "file.write", write)).contains(&"path.outside.write"));
    assert!(rules_of(&risk_in(&place, "touch", &["../x"])).contains(&"path.outside.write"));
    for outside in ["../../../x", "/mother/x", "/m2/x"] {
        assert_eq!(risk_in(&place, "cat", &[outside]).rule, "path.outside", "{outside}");
    }
    for secret in ["../../.env", "../../.git/config", "/m/lib/.ssh/id_rsa"] {
        assert_eq!(risk_in(&place, "cat", &[secret]).rule, "path.secret", "{secret}");
    }
    assert_eq!(risk_in(&place, "../../tool.sh", &[]).rule, "program.outside");
}

#[test]
fn a_step_may_read_from_any_folder_of_the_repository_and_write_only_from_the_workspace() {
    let place = nested_workspace();
    let rule = |program: &str, args: &[&str]| {
        let step = Step { cwd: Some("..".into()), ..step(program, args) };
        let verdict = assess_with(step, &Policy::default(), &place);
        rules_of(&verdict.judgement().risk).contains(&"cwd.outside")
    };
    assert!(!rule("ls", &[]));
    assert!(rule("cargo", &["build"]));
    assert!(rule("touch", &["x"]));
}

#[test]
fn a_folder_the_user_added_counts_as_the_workspace() {
    let place = Workspace { added: vec!["/lib/own".into()], ..workspace_at("/w", "/h") };
    assert_eq!(risk_in(&place, "cat", &["/lib/own/a.txt"]).tier, Tier::L0);
    assert_eq!(risk_in(&place, "cat", &["/srv/other/a.txt"]).rule, "path.outside");
    assert_eq!(risk_in(&place, "cat", &["/lib/own/.env"]).rule, "path.sensitive");
    let write = serde_json::json!({ "path": "/lib/own/b.txt", "content": "x" });
    assert_eq!(tool_risk(&place, "file.write", write).rule, "file.write");
    let touch = risk_in(&place, "touch", &["/lib/own/x"]);
    assert!(!rules_of(&touch).contains(&"path.outside.write"));
    let step = Step { cwd: Some("/lib/own".into()), ..step("ls", &[]) };
    assert_eq!(assess_with(step, &Policy::default(), &place).judgement().risk.tier, Tier::L0);
}

#[test]
fn folders_that_are_too_broad_or_not_of_the_project_are_not_added() {
    let place = Workspace { own: vec!["/data/avocet".into()], ..workspace_at("/w", "/h/u") };
    for (folder, refused) in [
        ("/", Some(phrases::ADD_TOO_MUCH)),
        ("/h", Some(phrases::ADD_TOO_MUCH)),
        ("/h/u", Some(phrases::ADD_TOO_MUCH)),
        ("/data", Some(phrases::ADD_OWN)),
        ("/data/avocet", Some(phrases::ADD_OWN)),
        ("/data/avocet/logs", Some(phrases::ADD_OWN)),
        ("/h/u/.ssh", Some(phrases::ADD_SECRET)),
        ("/h/u/.config/gh", Some(phrases::ADD_SECRET)),
        ("/h/u/.config/avocet", Some(phrases::ADD_SECRET)),
        ("/etc/ssh", Some(phrases::ADD_SECRET)),
        ("/proc/1", Some(phrases::ADD_SECRET)),
        ("/h/u/code/lib", None),
        ("/srv/lib", None),
    ] {
        assert_eq!(place.reason_not_to_add(Path::new(folder)), refused, "{folder}");
    }
}

#[test]
fn avocet_folders_stay_closed_wherever_they_are() {
    let place = Workspace { own: vec!["/data/avocet".into()], ..workspace_at("/w", "/h") };
    assert_eq!(risk_in(&place, "cat", &["/data/avocet/config.toml"]).rule, "path.secret");
    let write = serde_json::json!({ "path": "/data/avocet/config.toml", "content": "x" });
    assert_eq!(tool_risk(&place, "file.write", write).tier, Tier::L2);
    let inside = Workspace { own: vec!["/w/.home".into()], ..workspace_at("/w", "/h") };
    assert_eq!(risk_in(&inside, "cat", &["/w/.home/config.toml"]).rule, "path.secret");
    let working = Workspace { own: vec!["/data".into()], ..workspace_at("/data/ws", "/h") };
    assert_eq!(risk_in(&working, "cat", &["a.txt"]).tier, Tier::L0);
}

/// A machine on which `/w/link` leads in and out of the workspace by turns.
struct Flipping(std::sync::atomic::AtomicUsize);

impl Machine for Flipping {
    fn resolve(&self, path: &Path) -> PathBuf {
        if paths::normalize(path) != Path::new("/w/link") {
            return paths::normalize(path);
        }
        let asked = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if asked.is_multiple_of(2) { "/w/plain".into() } else { "/outside/file".into() }
    }

    fn kind(&self, path: &Path) -> PathKind {
        if path.starts_with("/w/link") { PathKind::File } else { PathKind::Folder }
    }

    fn program(&self, name: &str) -> Option<Program> {
        Fake::default().program(name)
    }

    fn read(&self, _: &Path, _: usize) -> Contents {
        Contents::Bytes(b"text\n".to_vec())
    }
}

#[test]
fn a_link_that_changes_while_it_is_judged_leads_to_one_place() {
    let (policy, place) = (Policy::default(), place());
    let tool = |name: &str, input: serde_json::Value| Step {
        work: StepAction::Tool { name: name.to_owned(), input },
        ..step("ls", &[])
    };
    let steps = [
        tool("file.read", serde_json::json!({ "path": "link" })),
        tool("file.list", serde_json::json!({ "path": "link" })),
        tool("file.search", serde_json::json!({ "pattern": "text", "path": "link" })),
        step("cat", &["link"]),
        step("diff", &["link", "plain"]),
    ];
    for (step, first) in steps.iter().flat_map(|step| (0..4).map(move |first| (step, first))) {
        let world = Flipping(first.into());
        let policy_cx = PolicyContext { policy: &policy, place: &place, world: &world };
        let verdict = assess(step.clone(), policy_cx);
        let judged = verdict.judgement();
        let passed_on = format!("{:?} {:?}", judged.task, judged.launch.reads);
        let leads_out = passed_on.contains("/outside") || first % 2 == 1;
        assert_eq!(judged.risk.tier, if leads_out { Tier::L1 } else { Tier::L0 }, "{passed_on}");
    }
}

#[test]
fn paths_are_relative_to_the_folder_given_to_git() {
    let links = [("/w/src/log", "/h/.ssh")].into_iter().collect();
    let world = Fake { links, settings: "" };
    let (policy, place) = (Policy::default(), place());
    let policy_cx = PolicyContext { policy: &policy, place: &place, world: &world };
    let tier = |args: &[&str]| assess(step("git", args), policy_cx).judgement().risk.tier;
    assert_eq!(tier(&["-C", "src", "diff", "main.rs"]), Tier::L0);
    assert_eq!(tier(&["diff", "log"]), Tier::L0);
    assert_eq!(tier(&["-C", "src", "diff", "log"]), Tier::L1);
}

#[test]
fn files_of_builds_are_guarded_where_the_home_is_worked_in() {
    let mut place = place();
    let policy = Policy::default();
    for (home, expected) in [("/w/home", true), ("/w", true), ("/elsewhere", false)] {
        place.home = home.into();
        let policy_cx = PolicyContext { policy: &policy, place: &place, world: &world() };
        let guarded = |program: &str, args: &[&str]| {
            assess(step(program, args), policy_cx).judgement().launch.needs.guarded.clone()
        };
        let command = "make.all".to_owned();
        let at_home = GuardedFiles::FollowedAndHome { command };
        let builds = if expected { at_home } else { GuardedFiles::Followed };
        assert_eq!(guarded("make", &["all"]), builds, "{home}");
        assert_eq!(guarded("git", &["stash"]), GuardedFiles::Repositories, "{home}");
    }
}
