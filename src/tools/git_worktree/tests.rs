use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

/// A folder with a repository in it.
struct Project {
    _temp: tempfile::TempDir,
    root: PathBuf,
}

impl Project {
    /// With one commit of `a.txt`.
    async fn new() -> Project {
        let project = Project::unborn().await;
        project.write("a.txt", "a\n");
        project.write(".gitignore", "secret.json\nconf/\n.env\n");
        project.commit(&project.root, "begin").await;
        project
    }

    async fn unborn() -> Project {
        let temp = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap().join("work");
        fs::create_dir(&root).unwrap();
        let project = Project { _temp: temp, root };
        project.git(&["init", "-q", "-b", "main"]).await;
        project
    }

    async fn git(&self, args: &[&str]) -> String {
        git_in(&self.root, args).await
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    async fn commit(&self, folder: &Path, message: &str) {
        git_in(folder, &["add", "-A"]).await;
        git_in(folder, &["commit", "-q", "-m", message]).await;
    }

    async fn repository(&self) -> WorktreeRepository {
        WorktreeRepository::find(&self.root).await.unwrap()
    }

    async fn create(&self, name: &str) -> Worktree {
        self.repository().await.create(name, &[]).await.unwrap()
    }
}

async fn git_in(folder: &Path, args: &[&str]) -> String {
    let person = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
    run_git(folder, &[&person, args].concat()).await.unwrap()
}

fn english(text: &LocalizedText) -> String {
    text.text(Lang::En)
}

fn notices(worktree: &Worktree) -> String {
    worktree.notices().iter().map(english).collect::<Vec<_>>().join(" ")
}

async fn refusal(folder: &Path, name: &str) -> String {
    let opened = match WorktreeRepository::find(folder).await {
        Ok(repository) => repository.open(name, &[]).await,
        Err(why) => Err(why),
    };
    english(&opened.expect_err(name))
}

#[tokio::test]
async fn a_worktree_starts_from_the_commit_and_the_project_stays_as_it_was() {
    let project = Project::new().await;
    project.write("a.txt", "changed\n");
    project.write("new.txt", "new\n");
    let status = project.git(&["status", "--porcelain"]).await;
    let worktree = project.create("look").await;
    assert_eq!(worktree.path, project.root.join(".avocet/worktrees/look"));
    assert_eq!(fs::read_to_string(worktree.path.join("a.txt")).unwrap(), "a\n");
    assert!(!worktree.path.join("new.txt").exists());
    let head = git_in(&worktree.path, &["symbolic-ref", "HEAD"]).await;
    assert_eq!(head.trim(), "refs/heads/avocet/look");
    assert_eq!(project.git(&["status", "--porcelain"]).await, status, "git ignores it");
    assert!(notices(&worktree).contains("not in it (files: 2)"), "{}", notices(&worktree));
}

#[tokio::test]
async fn no_hook_filter_or_monitor_of_the_repository_runs() {
    let project = Project::new().await;
    let ran = project.root.with_file_name("ran");
    let script = format!("#!/bin/sh\ntouch {}\ncat\n", ran.display());
    for name in ["hooks/post-checkout", "hooks/reference-transaction", "program"] {
        project.write(&format!(".git/{name}"), &script);
        let file = project.root.join(".git").join(name);
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    project.write(".gitattributes", "*.txt filter=f diff=f\n");
    project.commit(&project.root, "attributes").await;
    let program = project.root.join(".git/program").display().to_string();
    let keys = ["filter.f.smudge", "filter.f.clean", "filter.f.process", "core.fsmonitor"];
    for key in keys.iter().chain(&["diff.f.textconv", "diff.external", "core.sshCommand"]) {
        project.git(&["config", key, &program]).await;
    }
    project.git(&["config", "filter.f.required", "true"]).await;
    let worktree = project.create("x").await;
    fs::write(worktree.path.join("a.txt"), "b\n").unwrap();
    let state = project.repository().await.state("x").await.unwrap();
    assert_eq!(state.uncommitted, [" M a.txt"]);
    assert!(worktree.finish(&[]).await.unwrap().contains("a.txt"));
    assert!(!ran.exists(), "a program of the repository ran");
}

#[tokio::test]
async fn a_name_that_is_taken_gets_a_number_and_one_in_use_is_not_opened() {
    let project = Project::new().await;
    project.git(&["branch", "avocet/fix-2"]).await;
    let first = project.create("fix").await;
    let second = project.create("fix").await;
    assert_eq!((&*first.name, &*second.name), ("fix", "fix-3"));
    let why = refusal(&project.root, "fix").await;
    assert!(why.contains("in use by another session"), "{why}");
    drop(first);
    let again = project.repository().await.open("fix", &[]).await.unwrap();
    assert!(again.start.is_none() && notices(&again).contains("`avocet/fix`"));
}

#[tokio::test]
async fn a_name_that_a_branch_or_a_folder_cannot_have_is_refused() {
    let project = Project::new().await;
    for name in
        ["", "-x", "a/b", "../x", "a..b", ".x", "x.", "a b", "a\u{1b}[2J", "x.lock", "a\n", "a:b"]
    {
        let why = refusal(&project.root, name).await;
        assert!(why.contains("cannot name a worktree") && !why.contains('\u{1b}'), "{why}");
    }
    assert_eq!(name_from("Fix the *parser*, quickly & well now"), "fix-the-parser-quickly-well-no");
    assert_eq!((&*name_from("修复 解析器"), &*name_from("../..")), ("修复-解析器", "task"));
}

#[tokio::test]
async fn where_git_has_no_working_tree_or_no_commit_there_is_no_worktree() {
    let temp = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
    let why = refusal(temp.path(), "x").await;
    assert!(why.contains("not in the working tree of a git repository"), "{why}");
    git_in(temp.path(), &["init", "-q", "--bare"]).await;
    let why = refusal(temp.path(), "x").await;
    assert!(why.contains("not in the working tree"), "{why}");
    let project = Project::unborn().await;
    let why = refusal(&project.root, "x").await;
    assert!(why.contains("no commit yet"), "{why}");
}

#[tokio::test]
async fn no_worktree_is_made_through_a_link_or_in_place_of_something_else() {
    let project = Project::new().await;
    let elsewhere = project.root.with_file_name("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, project.root.join(".avocet")).unwrap();
    assert!(refusal(&project.root, "x").await.contains("is a link"));
    fs::remove_file(project.root.join(".avocet")).unwrap();
    project.write(".avocet", "a file");
    assert!(refusal(&project.root, "x").await.contains("not a folder"));
    fs::remove_file(project.root.join(".avocet")).unwrap();

    let other = Project::new().await;
    let planted = format!("gitdir: {}\n", other.root.join(".git").display());
    project.write(".avocet/worktrees/planted/.git", &planted);
    project.write(".avocet/worktrees/plain/file", "");
    for name in ["planted", "plain"] {
        let why = refusal(&project.root, name).await;
        assert!(why.contains("not a worktree of this repository"), "{why}");
    }
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[tokio::test]
async fn a_worktree_that_git_cannot_make_leaves_no_branch_and_its_reason() {
    let project = Project::new().await;
    project.git(&["branch", "avocet"]).await;
    let why = refusal(&project.root, "x").await;
    assert!(why.contains("cannot be made") && why.contains("avocet"), "{why}");
    assert_eq!(project.git(&["branch", "--format=%(refname:short)"]).await, "avocet\nmain\n");
}

#[tokio::test]
async fn from_within_a_worktree_with_a_detached_head_the_next_one_is_beside_it() {
    let project = Project::new().await;
    let first = project.create("first").await;
    git_in(&first.path, &["checkout", "-q", "--detach"]).await;
    fs::write(first.path.join("b.txt"), "b\n").unwrap();
    project.commit(&first.path, "more").await;
    fs::create_dir(first.path.join("sub")).unwrap();
    let inside = WorktreeRepository::find(&first.path.join("sub")).await.unwrap();
    let second = inside.create("second", &[]).await.unwrap();
    assert_eq!(second.path, project.root.join(".avocet/worktrees/second"));
    assert!(second.path.join("b.txt").exists(), "it starts from the commit of that worktree");
}

#[tokio::test]
async fn nothing_that_is_nowhere_else_is_removed() {
    let project = Project::new().await;
    let repository = project.repository().await;
    let worktree = project.create("x").await;
    let path = worktree.path.clone();
    assert!(english(&repository.remove("x", false).await.unwrap_err()).contains("in use"));
    drop(worktree);
    fs::write(path.join("new.txt"), "new\n").unwrap();
    let why = english(&repository.remove("x", false).await.unwrap_err());
    assert!(why.contains("in no commit.\n?? new.txt\n"), "{why}");
    project.commit(&path, "new").await;
    let why = english(&repository.remove("x", false).await.unwrap_err());
    assert!(why.contains("no other branch (commits: 1)"), "{why}");
    // A commit that is on no branch at all.
    git_in(&path, &["checkout", "-q", "--detach"]).await;
    project.git(&["merge", "-q", "avocet/x"]).await;
    fs::write(path.join("more.txt"), "more\n").unwrap();
    project.commit(&path, "more").await;
    assert!(repository.remove("x", false).await.is_err());
    git_in(&path, &["checkout", "-q", "avocet/x"]).await;
    repository.remove("x", false).await.unwrap();
    assert!(!path.exists() && !repository.has_branch("x").await);
    assert!(repository.names().await.is_empty());
    assert!(
        english(&repository.remove("x", false).await.unwrap_err())
            .contains("No worktree is named `x`")
    );
}

#[tokio::test]
async fn a_worktree_whose_folder_is_gone_keeps_its_commits_and_can_be_opened_again() {
    let project = Project::new().await;
    let repository = project.repository().await;
    let worktree = project.create("x").await;
    fs::write(worktree.path.join("b.txt"), "b\n").unwrap();
    project.commit(&worktree.path, "more").await;
    fs::remove_dir_all(&worktree.path).unwrap();
    let report = worktree.finish(&[]).await.unwrap();
    assert!(report.contains(" more\n") && report.contains("folder is gone"), "{report}");
    let state = repository.state("x").await.unwrap();
    assert_eq!((state.is_gone, state.commits.len()), (true, 1));
    assert!(repository.remove("x", false).await.is_err());
    let again = repository.open("x", &[]).await.unwrap();
    assert!(again.path.join("b.txt").exists());
}

#[tokio::test]
async fn a_worktree_in_which_nothing_was_done_is_removed_at_its_end() {
    let project = Project::new().await;
    let worktree = project.create("x").await;
    let path = worktree.path.clone();
    assert_eq!(worktree.finish(&[]).await, None);
    assert!(!path.exists() && project.repository().await.names().await.is_empty());

    let worktree = project.create("x").await;
    fs::write(worktree.path.join("b.txt"), "b\n").unwrap();
    project.commit(&worktree.path, "more").await;
    fs::write(worktree.path.join("c.txt"), "c\n").unwrap();
    let report = worktree.finish(&[]).await.unwrap();
    assert!(report.starts_with("Worktree x (") && report.contains("branch avocet/x"), "{report}");
    assert!(report.contains(" more\n") && report.contains("b.txt | 1 +"), "{report}");
    assert!(report.ends_with("Not committed:\n?? c.txt"), "{report}");
    assert!(path.join("c.txt").exists());
    let line = project.repository().await.merge_line("x").await.unwrap().unwrap();
    assert!(
        line.contains("add -A")
            && line.ends_with("git merge -m \"Merge branch 'avocet/x'\" refs/heads/avocet/x"),
        "{line}"
    );
}

#[tokio::test]
async fn a_worktree_with_a_written_file_that_git_ignores_is_not_removed() {
    let project = Project::new().await;
    let worktree = project.create("x").await;
    let path = worktree.path.clone();
    fs::create_dir_all(path.join("conf")).unwrap();
    fs::write(path.join("conf/result"), "of long work\n").unwrap();
    let report = worktree.finish(&["a.txt", "conf/result", "gone"]).await.unwrap();
    assert!(report.ends_with("Not committed:\n!! conf/result"), "{report}");
    assert!(path.join("conf/result").exists());
}

#[tokio::test]
async fn a_merge_brings_the_branch_also_where_a_tag_has_its_name() {
    let project = Project::new().await;
    project.git(&["tag", "avocet/x"]).await;
    let worktree = project.create("x").await;
    fs::write(worktree.path.join("b.txt"), "b\n").unwrap();
    project.commit(&worktree.path, "more").await;
    drop(worktree);
    let line = project.repository().await.merge_line("x").await.unwrap().unwrap();
    let [before, title, reference] = line.split('"').collect::<Vec<_>>()[..] else {
        panic!("{line}")
    };
    assert_eq!(before, "git merge -m ");
    project.git(&["merge", "--no-ff", "-m", title, reference.trim()]).await;
    assert!(project.root.join("b.txt").exists(), "{line}");
    let title = project.git(&["log", "-1", "--format=%s"]).await;
    assert_eq!(title, "Merge branch 'avocet/x'\n");
}

#[tokio::test]
async fn the_ignored_files_of_a_worktree_are_named_before_they_go_with_it() {
    let project = Project::new().await;
    project.write("conf/local", "mine");
    let repository = project.repository().await;
    let copied = ["conf/local".to_owned()];
    let path = repository.create("x", &copied).await.unwrap().path.clone();
    repository.check_removal("x", false).await.expect("a copy is no loss");
    fs::write(path.join("conf/local"), "changed").unwrap();
    fs::write(path.join("new.txt"), "new\n").unwrap();
    let why = english(&repository.remove("x", false).await.unwrap_err());
    assert!(why.contains("?? new.txt\n!! conf/\n"), "{why}");
    assert!(why.contains("`--yes`") && path.join("new.txt").exists(), "{why}");
    repository.remove("x", true).await.unwrap();
    assert!(!path.exists() && repository.names().await.is_empty());
}

#[tokio::test]
async fn a_worktree_that_the_user_locked_in_git_is_not_removed() {
    let project = Project::new().await;
    for name in ["x", "y"] {
        drop(project.create(name).await);
    }
    project.git(&["worktree", "lock", "--reason", "on a stick", ".avocet/worktrees/x"]).await;
    let repository = project.repository().await;
    for with_files in [false, true] {
        let why = english(&repository.remove("x", with_files).await.unwrap_err());
        assert!(why.contains("git worktree unlock"), "{why}");
    }
    repository.remove("y", false).await.unwrap();
    project.git(&["worktree", "unlock", ".avocet/worktrees/x"]).await;
    repository.remove("x", false).await.unwrap();
}

#[tokio::test]
async fn another_worktree_that_a_link_leads_to_is_not_removed() {
    let project = Project::new().await;
    let worktree = project.create("x").await;
    let other = project.create("y").await;
    let path = worktree.path.clone();
    fs::remove_dir_all(&path).unwrap();
    symlink("y", &path).unwrap();
    let report = worktree.finish(&[]).await.unwrap_or_default();
    assert!(other.path.exists(), "{report}");
}

#[tokio::test]
async fn only_ignored_files_that_are_listed_are_copied() {
    let project = Project::new().await;
    for path in [".env", "secret.json", "conf/deep/local.json", "open.txt"] {
        project.write(path, "mine");
    }
    fs::create_dir(project.root.join("conf/folder")).unwrap();
    symlink("/etc/passwd", project.root.join("conf/link")).unwrap();
    let listed = [
        "secret.json",
        "conf/deep/local.json",
        "open.txt",
        "conf/link",
        "../x",
        "/etc/passwd",
        "conf/folder",
    ];
    let listed: Vec<String> = listed.iter().map(|path| (*path).to_owned()).collect();
    let worktree = project.repository().await.create("x", &listed).await.unwrap();
    let has = |path: &str| worktree.path.join(path).symlink_metadata().is_ok();
    assert!(has("secret.json") && has("conf/deep/local.json"));
    assert!(!has(".env") && !has("open.txt") && !has("conf/link"));
    let said = notices(&worktree);
    assert!(said.contains("open.txt, conf/link, ../x, /etc/passwd, conf/folder."), "{said}");
    assert_eq!(worktree.finish(&[]).await, None, "copies are no changes");
}

#[tokio::test]
async fn the_submodules_of_a_worktree_are_said_to_be_empty() {
    let project = Project::new().await;
    let head = project.git(&["rev-parse", "HEAD"]).await;
    project.write(".gitmodules", "[submodule \"m\"]\n\tpath = m\n\turl = https://example.com/m\n");
    let entry = format!("160000,{},m", head.trim());
    project.git(&["update-index", "--add", "--cacheinfo", &entry]).await;
    project.git(&["add", ".gitmodules"]).await;
    project.git(&["commit", "-q", "-m", "module"]).await;
    let worktree = project.create("x").await;
    assert!(notices(&worktree).contains("submodules are empty"));
    assert_eq!(worktree.finish(&[]).await, None);
}
