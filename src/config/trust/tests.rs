use super::*;

struct TrustFixture {
    root: tempfile::TempDir,
}

impl TrustFixture {
    fn new() -> TrustFixture {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("work/.avocet")).unwrap();
        fs::write(root.path().join("work/.avocet/config.toml"), "a = 1\n").unwrap();
        TrustFixture { root }
    }

    fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    fn file(&self) -> PathBuf {
        self.root.path().join("data/trust.json")
    }

    fn open(&self) -> TrustStore {
        TrustStore::open(self.file()).0
    }

    fn trust(&self) {
        self.open().set(&self.work(), &survey(&self.work()), TrustLevel::Trusted).unwrap();
    }

    fn standing(&self) -> FolderTrust {
        self.open().folder_trust(&self.work(), &survey(&self.work()))
    }
}

const TRUSTED: FolderTrust = FolderTrust::Known(TrustLevel::Trusted);

#[test]
fn no_folder_is_trusted_before_the_question_and_an_answer_is_remembered() {
    let desk = TrustFixture::new();
    assert_eq!(desk.standing(), FolderTrust::Unknown);
    desk.trust();
    assert_eq!(desk.standing(), TRUSTED);
    desk.open().set(&desk.work(), &survey(&desk.work()), TrustLevel::ReadOnly).unwrap();
    assert_eq!(desk.standing(), FolderTrust::Known(TrustLevel::ReadOnly));
}

#[test]
fn the_hash_of_the_hooks_is_remembered_with_the_answer_for_exactly_this_folder() {
    let desk = TrustFixture::new();
    desk.trust();
    assert_eq!(desk.open().trusted_hooks(&desk.work()), None, "older answers have none");
    let hooks = Survey { hooks: Some("abc".to_owned()), ..survey(&desk.work()) };
    desk.open().set(&desk.work(), &hooks, TrustLevel::Trusted).unwrap();
    assert_eq!(desk.open().trusted_hooks(&desk.work()), Some("abc"));
    assert_eq!(desk.open().trusted_hooks(&desk.work().join("sub")), None);
    assert_eq!(desk.standing(), TRUSTED);
    desk.open().set(&desk.work(), &hooks, TrustLevel::ReadOnly).unwrap();
    assert_eq!(desk.open().trusted_hooks(&desk.work()), None);
}

#[test]
fn files_of_older_and_newer_programs_are_read_and_what_is_new_in_them_is_kept() {
    let desk = TrustFixture::new();
    desk.trust();
    let own = fs::read_to_string(desk.file()).unwrap();
    assert!(!own.contains("hooks"), "as an older program wrote it: {own}");
    let newer = own.replace("\"version\"", "\"later\": [1],\n  \"version\"");
    let newer = newer.replace("\"path\"", "\"until\": {\"day\": 3},\n      \"path\"");
    fs::write(desk.file(), &newer).unwrap();
    assert_eq!((desk.standing(), TrustStore::open(desk.file()).1), (TRUSTED, None));
    fs::create_dir(desk.work().join("sub")).unwrap();
    let sub = desk.work().join("sub");
    desk.open().set(&sub, &survey(&sub), TrustLevel::Trusted).unwrap();
    let kept = fs::read_to_string(desk.file()).unwrap();
    assert!(kept.contains("\"later\"") && kept.contains("\"day\": 3"), "{kept}");
    assert_eq!(desk.standing(), TRUSTED);
}

#[test]
fn concurrent_windows_do_not_lose_each_others_answers() {
    let desk = TrustFixture::new();
    let mut windows: Vec<TrustStore> = (0..4).map(|_| desk.open()).collect();
    let folder = |window: usize, number: usize| desk.work().join(format!("{window}-{number}"));
    for (window, number) in (0..4).flat_map(|window| (0..5).map(move |number| (window, number))) {
        fs::create_dir(folder(window, number)).unwrap();
    }
    std::thread::scope(|scope| {
        for (window, trust) in windows.iter_mut().enumerate() {
            scope.spawn(move || {
                for number in 0..5 {
                    let folder = folder(window, number);
                    trust.set(&folder, &survey(&folder), TrustLevel::ReadOnly).unwrap();
                }
            });
        }
    });
    assert_eq!(desk.open().contents.folders.len(), 20);
}

#[test]
fn trust_is_inherited_where_the_user_said_so_and_no_file_controls_programs() {
    let desk = TrustFixture::new();
    let (plain, steered) = (desk.work().join("a/b"), desk.work().join("c"));
    fs::create_dir_all(&plain).unwrap();
    fs::create_dir_all(steered.join(".avocet")).unwrap();
    fs::write(steered.join(".avocet/config.toml"), "x = 1\n").unwrap();
    desk.open().set(&desk.work(), &survey(&desk.work()), TrustLevel::Below).unwrap();
    assert_eq!(desk.standing(), TRUSTED);
    let stands = |folder: &Path| desk.open().folder_trust(folder, &survey(folder));
    assert_eq!(stands(&plain), TRUSTED);
    assert_eq!(stands(&steered), FolderTrust::Unknown);
    assert_eq!(stands(desk.root.path()), FolderTrust::Unknown);
    // The answer for a nearer folder takes precedence.
    let near = desk.work().join("a");
    desk.open().set(&near, &survey(&near), TrustLevel::ReadOnly).unwrap();
    assert_eq!(stands(&near), FolderTrust::Known(TrustLevel::ReadOnly));
    assert_eq!(stands(&plain), FolderTrust::Unknown);
    // A different folder at the same path passes no trust on.
    fs::rename(desk.work(), desk.root.path().join("old")).unwrap();
    fs::create_dir_all(desk.work().join("d")).unwrap();
    assert_eq!(stands(&desk.work().join("d")), FolderTrust::Unknown);
}

#[test]
fn only_the_users_own_folder_can_be_trusted_with_its_subfolders() {
    use std::os::unix::fs::PermissionsExt;
    let desk = TrustFixture::new();
    let home = desk.root.path().join("home");
    let shop = home.join("code/shop");
    fs::create_dir_all(&shop).unwrap();
    let code = home.join("code");
    fs::set_permissions(&code, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(trustable_parent(&shop, &home), Some(code.as_path()));
    assert_eq!(trustable_parent(&code, &home), None, "the home folder");
    assert_eq!(trustable_parent(&home, &home), None, "what the home folder lies in");
    assert_eq!(trustable_parent(Path::new("/srv"), &home), None, "the root");
    fs::set_permissions(&code, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(trustable_parent(&shop, &home), None, "others may write there");
}

#[test]
fn trust_does_not_extend_to_parents_or_children() {
    let desk = TrustFixture::new();
    desk.trust();
    let below = desk.work().join("below");
    fs::create_dir(&below).unwrap();
    assert_eq!(desk.open().folder_trust(&below, &survey(&below)), FolderTrust::Unknown);
    let above = desk.root.path();
    assert_eq!(desk.open().folder_trust(above, &survey(above)), FolderTrust::Unknown);
}

#[test]
fn another_folder_at_the_same_path_is_not_trusted() {
    let desk = TrustFixture::new();
    desk.trust();
    fs::rename(desk.work(), desk.root.path().join("old")).unwrap();
    fs::create_dir_all(desk.work().join(".avocet")).unwrap();
    fs::write(desk.work().join(".avocet/config.toml"), "a = 1\n").unwrap();
    assert_eq!(desk.standing(), FolderTrust::Unknown);
}

#[test]
fn new_or_changed_steering_files_ask_for_trust_again() {
    for (name, text, expected) in [
        (".avocet/config.toml", "a = 2\n", FolderTrust::Changed),
        (".avocet/commands/x.md", "!{ls}", FolderTrust::Changed),
        (".mcp.json", "{}", FolderTrust::Changed),
        ("AGENTS.md", "be kind", FolderTrust::Changed),
        ("CLAUDE.local.md", "be kind", FolderTrust::Changed),
        ("docs/rules.md", "not taken in", TRUSTED),
        ("Makefile", "all:", TRUSTED),
        (".env", "A=1", TRUSTED),
        ("src/main.rs", "", TRUSTED),
    ] {
        let desk = TrustFixture::new();
        desk.trust();
        let path = desk.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        assert_eq!(desk.standing(), expected, "{name}");
    }
}

#[test]
fn a_changed_file_that_the_notes_take_in_asks_for_trust_again() {
    let desk = TrustFixture::new();
    fs::create_dir_all(desk.work().join("docs")).unwrap();
    fs::write(desk.work().join("AGENTS.md"), "see @docs/rules.md and @docs/later.md").unwrap();
    fs::write(desk.work().join("docs/rules.md"), "tabs").unwrap();
    desk.trust();
    assert_eq!(desk.standing(), TRUSTED);
    let named = survey(&desk.work()).files;
    assert!(named.iter().any(|file| file.name == "docs/rules.md"), "{named:?}");
    fs::write(desk.work().join("docs/rules.md"), "blanks").unwrap();
    assert_eq!(desk.standing(), FolderTrust::Changed);
    desk.trust();
    fs::write(desk.work().join("docs/later.md"), "new").unwrap();
    assert_eq!(desk.standing(), FolderTrust::Changed);
}

#[test]
fn found_files_are_named_and_measured_and_links_are_not_followed() {
    let desk = TrustFixture::new();
    fs::write(desk.work().join("AGENTS.md"), "hello").unwrap();
    fs::create_dir(desk.root.path().join("secret")).unwrap();
    fs::write(desk.root.path().join("secret/key"), "x").unwrap();
    std::os::unix::fs::symlink("../secret", desk.work().join(".claude")).unwrap();
    let found = survey(&desk.work());
    let names: Vec<(&str, u64)> =
        found.files.iter().map(|file| (file.name.as_str(), file.bytes)).collect();
    assert_eq!(names, [(".avocet/config.toml", 6), (".claude", 9), ("AGENTS.md", 5)]);
    assert!(!found.truncated);
}

#[test]
fn a_change_in_a_linked_folder_asks_for_trust_again() {
    for target in ["conf", "../conf"] {
        let desk = TrustFixture::new();
        fs::remove_dir_all(desk.work().join(".avocet")).unwrap();
        let conf = desk.work().join(target);
        fs::create_dir_all(conf.join("skills/a")).unwrap();
        fs::write(conf.join("skills/a/SKILL.md"), "one").unwrap();
        std::os::unix::fs::symlink(target, desk.work().join(".avocet")).unwrap();
        desk.trust();
        assert_eq!(desk.standing(), TRUSTED);
        fs::write(conf.join("skills/a/SKILL.md"), "two").unwrap();
        assert_eq!(desk.standing(), FolderTrust::Changed, "{target}");
        desk.trust();
        fs::write(conf.join("config.toml"), "a = 1").unwrap();
        assert_eq!(desk.standing(), FolderTrust::Changed, "{target}");
    }
}

#[test]
fn a_folder_that_is_more_than_a_project_gets_a_warning() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let home = root.path().join("home");
    let shop = home.join("shop");
    fs::create_dir_all(&shop).unwrap();
    fs::set_permissions(&shop, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(hazard(&shop, &home), None);
    assert_eq!(hazard(&home, &home), Some(i18n::config::HAZARD_HOME));
    assert_eq!(hazard(Path::new("/"), &home), Some(i18n::config::HAZARD_ROOT));
    fs::set_permissions(&shop, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(hazard(&shop, &home), Some(i18n::config::HAZARD_WRITABLE));
}

#[test]
fn a_change_is_detected_even_in_a_folder_too_large_to_list() {
    let desk = TrustFixture::new();
    let skill = |number: usize| desk.work().join(format!(".claude/skills/s{number}/SKILL.md"));
    for number in 0..=MAX_FILES {
        fs::create_dir_all(skill(number).parent().unwrap()).unwrap();
        fs::write(skill(number), "one").unwrap();
    }
    desk.trust();
    assert_eq!(desk.standing(), TRUSTED);
    assert!(survey(&desk.work()).truncated);
    fs::write(skill(7), "another").unwrap();
    assert_eq!(desk.standing(), FolderTrust::Changed);
}

#[test]
fn files_of_other_agents_above_the_folder_are_found_too() {
    let desk = TrustFixture::new();
    let deep = desk.work().join("deep");
    fs::create_dir_all(&deep).unwrap();
    fs::create_dir(desk.work().join(".git")).unwrap();
    for name in [".claude/skills/a/SKILL.md", ".agents/skills/b/SKILL.md", ".claude/other"] {
        let path = desk.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    let files = survey(&deep).files;
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(files.iter().all(|file| file.steers), "{names:?}");
    assert!(!names.iter().any(|name| name.ends_with("other")), "{names:?}");
}

#[test]
fn applicable_settings_above_the_folder_are_found() {
    let desk = TrustFixture::new();
    let deep = desk.work().join("deep");
    fs::create_dir_all(&deep).unwrap();
    fs::create_dir(desk.work().join(".git")).unwrap();
    let before = survey(&deep);
    assert_eq!(before.files.len(), 1);
    fs::write(desk.work().join(".avocet/config.toml"), "b = 1\n").unwrap();
    assert_ne!(survey(&deep).digest, before.digest);
}

#[test]
fn an_unreadable_file_trusts_nothing_and_is_reported_and_kept() {
    let desk = TrustFixture::new();
    desk.trust();
    fs::write(desk.file(), "{").unwrap();
    let (mut trust, said) = TrustStore::open(desk.file());
    assert!(said.is_some());
    assert_eq!(trust.folder_trust(&desk.work(), &survey(&desk.work())), FolderTrust::Unknown);
    trust.set(&desk.work(), &survey(&desk.work()), TrustLevel::Trusted).unwrap();
    assert_eq!(fs::read_to_string(desk.file().with_extension("broken")).unwrap(), "{");
    fs::write(desk.file(), "{again").unwrap();
    trust.set(&desk.work(), &survey(&desk.work()), TrustLevel::Trusted).unwrap();
    assert_eq!(fs::read_to_string(desk.file().with_extension("broken")).unwrap(), "{");
    assert_eq!(fs::read_to_string(desk.file().with_extension("broken-2")).unwrap(), "{again");
    assert_eq!(desk.standing(), TRUSTED);
}

#[test]
fn the_file_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let desk = TrustFixture::new();
    desk.trust();
    assert_eq!(fs::metadata(desk.file()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_worktree_is_trusted_as_its_project_is_while_it_controls_the_same() {
    let desk = TrustFixture::new();
    desk.trust();
    let worktree = desk.work().join(".avocet/worktrees/x");
    let steering = worktree.join(".avocet");
    fs::create_dir_all(&steering).unwrap();
    assert_eq!(desk.standing(), TRUSTED, "what is in a worktree does not count in the project");
    let standing = || desk.open().folder_trust(&worktree, &survey(&worktree));
    assert_eq!(standing(), FolderTrust::Unknown, "it lacks a file");
    fs::write(steering.join("config.toml"), "a = 1\n").unwrap();
    assert_eq!(standing(), TRUSTED);
    let elsewhere = desk.root.path().join("other/.avocet/worktrees/x/.avocet");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::write(elsewhere.join("config.toml"), "a = 1\n").unwrap();
    let elsewhere = elsewhere.parent().unwrap();
    let standing_of = |folder: &Path| desk.open().folder_trust(folder, &survey(folder));
    assert_eq!(standing_of(elsewhere), FolderTrust::Unknown);
    fs::write(steering.join("config.toml"), "a = 2\n").unwrap();
    assert_eq!(standing(), FolderTrust::Unknown);
    fs::write(steering.join("config.toml"), "a = 1\n").unwrap();
    desk.open().set(&desk.work(), &survey(&desk.work()), TrustLevel::ReadOnly).unwrap();
    assert_eq!(standing(), FolderTrust::Unknown);
}
