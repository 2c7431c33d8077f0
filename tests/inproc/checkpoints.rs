//! Checkpoints: what programs changed in the workspace is undone and done again like changes by
//! tools, with git's own objects where there is a repository, and shown by `/diff`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use avocet::model::Scripted;
use avocet::protocol::{
    Change, Decision, Event, Op, QuestionOp, Report, Rewind, SavedOp, SessionOp, TurnOp,
    TurnOutcome,
};
use avocet::tools::checkpoint::{CheckpointLimits, Checkpoints};
use avocet::tools::file::{self, Backups, FileToolState};

use crate::support::talk::{self, DONE, SessionClient};

struct Bench {
    _root: tempfile::TempDir,
    work: PathBuf,
    kept: PathBuf,
}

impl Bench {
    fn new() -> Bench {
        let root = crate::support::temp_dir();
        let folder = root.path().canonicalize().unwrap();
        let (work, kept) = (folder.join("work"), folder.join("kept"));
        fs::create_dir(&work).unwrap();
        Bench { _root: root, work, kept }
    }

    fn with_git() -> Bench {
        let bench = Bench::new();
        bench.git(&["init", "-q", "-b", "main"]);
        bench
    }

    fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false"])
            .args(args)
            .current_dir(&self.work)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Commits everything; git knows the files as they are, since they are older than its index.
    fn commit(&self) {
        for entry in walk(&self.work) {
            let old = std::time::SystemTime::now() - Duration::from_secs(60);
            fs::File::options().append(true).open(entry).unwrap().set_modified(old).unwrap();
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", "Begin"]);
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.work.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.work.join(name)).ok()
    }

    fn session(&self, replies: &[&str]) -> SessionClient {
        let model = Scripted::parse("test", &replies.join("\n---\n")).unwrap();
        let mut parts = talk::parts(&self.work, Arc::new(model));
        let backups = Some(Backups::new(self.kept.clone()));
        let state = FileToolState { backups: backups.clone(), ..FileToolState::default() };
        for tool in file::all(&state) {
            parts.tools = parts.tools.with_tool(tool);
        }
        parts.tools = parts.tools.with_backups(backups);
        SessionClient::start(parts)
    }

    /// Contents that were copied.
    fn copies(&self) -> Vec<String> {
        walk(&self.kept)
            .into_iter()
            .map(|file| fs::read_to_string(file).unwrap_or_default())
            .collect()
    }
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() && entry.file_name() != ".git" => {
                files.extend(walk(&entry.path()))
            }
            kind if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
    files
}

/// Runs a line of the user's, and tells what it changed.
async fn shell(talk: &mut SessionClient, line: &str) -> Vec<String> {
    talk.send(Op::Turn(TurnOp::Shell { line: line.to_owned(), keep: false })).await;
    let mut changed = Vec::new();
    for event in talk.until_it_ends().await {
        if let Event::FilesChanged { files, lost, .. } = event {
            assert_eq!(lost, 0, "{files:?}");
            changed.extend(files.iter().map(name));
        }
    }
    changed
}

fn name(change: &Change) -> String {
    let name = change.path.rsplit("/work/").next().unwrap();
    format!("{name} +{} -{}", change.added, change.removed)
}

async fn restored(talk: &mut SessionClient, op: Op) {
    talk.send(op).await;
    assert_eq!(talk.ending().await, TurnOutcome::Done);
}

async fn changes(talk: &mut SessionClient) -> (Vec<Change>, Vec<Change>) {
    talk.send(Op::Session(SessionOp::Report { report: Report::Changes })).await;
    talk.next(|event| match event {
        Event::Changes { session, uncommitted } => Some((session, uncommitted.unwrap_or_default())),
        _ => None,
    })
    .await
}

#[tokio::test]
async fn what_else_is_not_committed_is_unknown_where_git_does_not_answer() {
    for (bench, is_known) in [(Bench::new(), false), (Bench::with_git(), true)] {
        bench.write("new.txt", "new\n");
        let mut talk = bench.session(&[]);
        talk.send(Op::Session(SessionOp::Report { report: Report::Changes })).await;
        let uncommitted = talk.next(|event| match event {
            Event::Changes { uncommitted, .. } => Some(uncommitted),
            _ => None,
        });
        let names = uncommitted.await.map(|all| all.iter().map(name).collect::<Vec<_>>());
        assert_eq!(names, is_known.then(|| vec!["new.txt +1 -0".to_owned()]));
        talk.close().await;
    }
}

#[tokio::test]
async fn what_a_command_changed_is_undone_and_redone_with_gits_own_objects() {
    let bench = Bench::with_git();
    bench.write("src/clean.rs", "one\ntwo\n");
    bench.write("src/gone.sh", "#!/bin/sh\n");
    bench.write("dirty.txt", "committed\n");
    fs::set_permissions(bench.work.join("src/gone.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    bench.commit();
    bench.write("dirty.txt", "not committed\n");
    bench.write("untracked.txt", "untracked\n");
    let index = fs::read(bench.work.join(".git/index")).unwrap();
    let refs = bench.git(&["for-each-ref"]);
    let objects = bench.git(&["count-objects"]);

    let mut talk = bench.session(&[DONE]);
    let line = "echo 1 > src/clean.rs; rm src/gone.sh; echo d >> dirty.txt; rm untracked.txt; \
                mkdir new; echo n > new/file";
    let changed = shell(&mut talk, line).await;
    let expected = [
        "dirty.txt +1 -0",
        "new/file +1 -0",
        "src/clean.rs +1 -2",
        "src/gone.sh +0 -1",
        "untracked.txt +0 -1",
    ];
    assert_eq!(changed, expected);
    // Only what git has not got is copied before the command; a clean file comes from its objects.
    restored(&mut talk, Op::Turn(TurnOp::Undo { turns: 1 })).await;
    let now = |name: &str| bench.read(name);
    let old = [
        ("src/clean.rs", Some("one\ntwo\n")),
        ("src/gone.sh", Some("#!/bin/sh\n")),
        ("dirty.txt", Some("not committed\n")),
        ("untracked.txt", Some("untracked\n")),
        ("new/file", None),
    ];
    for (name, text) in old {
        assert_eq!(now(name).as_deref(), text, "{name}");
    }
    let mode = fs::metadata(bench.work.join("src/gone.sh")).unwrap().permissions().mode();
    assert_ne!(mode & 0o100, 0, "it can be run again");

    restored(&mut talk, Op::Turn(TurnOp::Redo)).await;
    let new = [
        ("src/clean.rs", Some("1\n")),
        ("src/gone.sh", None),
        ("dirty.txt", Some("not committed\nd\n")),
        ("untracked.txt", None),
        ("new/file", Some("n\n")),
    ];
    for (name, text) in new {
        assert_eq!(now(name).as_deref(), text, "{name}");
    }
    talk.send(Op::Turn(TurnOp::Redo)).await;
    assert!(talk.notice().await.say.text(avocet::i18n::Lang::En).starts_with("There is nothing"));
    restored(&mut talk, Op::Turn(TurnOp::Undo { turns: 1 })).await;
    assert_eq!(now("src/clean.rs").as_deref(), Some("one\ntwo\n"));

    assert_eq!(fs::read(bench.work.join(".git/index")).unwrap(), index, "the index is the user's");
    assert_eq!((bench.git(&["for-each-ref"]), bench.git(&["count-objects"])), (refs, objects));
    talk.close().await;
}

#[tokio::test]
async fn clean_files_are_not_copied_and_credentials_and_ignored_files_never() {
    let bench = Bench::with_git();
    bench.write("clean.rs", "clean content\n");
    bench.write(".gitignore", "target/\n");
    bench.commit();
    bench.write(".env", "KEY=credential\n");
    bench.write("deploy/id_rsa", "credential\n");
    bench.write("target/built", "ignored\n");
    bench.write("dirty.txt", "dirty content\n");
    let mut talk = bench.session(&[DONE]);
    let changed = shell(
        &mut talk,
        "echo x >> clean.rs; echo x >> .env; echo x >> deploy/id_rsa; echo x >> target/built; \
         echo x > new.pem",
    )
    .await;
    assert_eq!(changed, ["clean.rs +1 -0"]);
    restored(&mut talk, Op::Turn(TurnOp::Undo { turns: 1 })).await;
    assert_eq!(bench.read("clean.rs").unwrap(), "clean content\n");
    assert_eq!(bench.read(".env").unwrap(), "KEY=credential\nx\n");
    assert_eq!(bench.read("target/built").unwrap(), "ignored\nx\n");
    let copies = bench.copies();
    assert!(copies.iter().any(|text| text.contains("dirty")), "{copies:?}");
    let secret = |text: &String| text.contains("credential") || text.contains("ignored");
    assert!(!copies.iter().any(secret), "{copies:?}");
    let git = walk(&bench.work.join(".git"));
    assert!(
        git.iter().all(|file| !fs::read(file).unwrap().windows(10).any(|it| it == b"credential"))
    );
    talk.close().await;
}

#[tokio::test]
async fn a_changed_ignore_file_makes_no_old_file_a_new_one() {
    let bench = Bench::new();
    bench.write(".gitignore", "target/\n");
    bench.write("target/built", "old\n");
    let mut talk = bench.session(&[DONE]);
    // The test's clock and the file system's differ by a little.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let changed = shell(&mut talk, "rm .gitignore; echo n > new; mv new newer").await;
    assert_eq!(changed, [".gitignore +0 -1", "newer +1 -0"]);
    restored(&mut talk, Op::Turn(TurnOp::Undo { turns: 1 })).await;
    assert_eq!(bench.read("target/built").unwrap(), "old\n");
    assert_eq!(
        (bench.read("newer"), bench.read(".gitignore").unwrap().as_str()),
        (None, "target/\n")
    );
    talk.close().await;
}

#[tokio::test]
async fn without_git_a_rewind_restores_what_a_command_of_the_model_changed() {
    let bench = Bench::new();
    bench.write("a.txt", "one\n");
    let step = talk::cmd("rm", &["a.txt"]);
    let mut talk = bench.session(&[&step, DONE, DONE]);
    talk.submit("remove it").await;
    talk.approve_next().await;
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    assert_eq!(bench.read("a.txt"), None);
    talk.send(Op::Saved(SavedOp::Rewind { turn: 1, what: None })).await;
    let files = talk
        .next(|event| match event {
            Event::RewindAsked { files, .. } => Some(files),
            _ => None,
        })
        .await;
    assert_eq!(files, 1);
    restored(&mut talk, Op::Saved(SavedOp::Rewind { turn: 1, what: Some(Rewind::Both) })).await;
    assert_eq!(bench.read("a.txt").unwrap(), "one\n");
    restored(&mut talk, Op::Turn(TurnOp::Redo)).await;
    assert_eq!(bench.read("a.txt"), None, "redone after a rewind");
    talk.close().await;
}

#[tokio::test]
async fn undoing_and_showing_changes_are_no_turns() {
    let bench = Bench::with_git();
    bench.write("a.txt", "one\n");
    bench.commit();
    bench.write("mine.txt", "mine\n");
    let mut talk = bench.session(&[DONE, DONE]);
    assert_eq!(shell(&mut talk, "echo two >> a.txt; echo b > b.txt").await.len(), 2);
    let (session, uncommitted) = changes(&mut talk).await;
    let names = |all: &[Change]| all.iter().map(name).collect::<Vec<_>>();
    assert_eq!(names(&session), ["a.txt +1 -0", "b.txt +1 -0"]);
    assert_eq!(names(&uncommitted), ["mine.txt +1 -0"]);
    assert!(session[0].diff.contains("@@ -1 +1,2 @@\n one\n+two\n"), "{}", session[0].diff);
    restored(&mut talk, Op::Turn(TurnOp::Undo { turns: 1 })).await;
    let info = talk.facts(|info| info.turns == 2).await;
    assert_eq!(info.counted_turns().collect::<Vec<_>>(), [1]);
    assert_eq!(names(&changes(&mut talk).await.0), [""; 0]);
    talk.submit("hello").await;
    talk.ending().await;
    let info = talk.facts(|info| info.turns == 3).await;
    assert_eq!(info.counted_turns().collect::<Vec<_>>(), [3, 1]);
    talk.close().await;
}

#[tokio::test]
async fn a_repository_cannot_run_its_filters_when_a_checkpoint_reads_it() {
    let bench = Bench::with_git();
    bench.write("a.txt", "one\n");
    bench.commit();
    let marker = bench.work.parent().unwrap().join("ran");
    let program = format!("touch {}; cat", marker.display());
    for key in ["filter.evil.clean", "filter.evil.smudge", "core.fsmonitor", "core.sshCommand"] {
        bench.git(&["config", key, &program]);
    }
    bench.write(".gitattributes", "* filter=evil\n");
    let _ = fs::remove_file(&marker);
    let mut talk = bench.session(&[DONE]);
    assert_eq!(shell(&mut talk, "echo two > a.txt").await, ["a.txt +1 -1"]);
    restored(&mut talk, Op::Turn(TurnOp::Undo { turns: 1 })).await;
    assert_eq!(bench.read("a.txt").unwrap(), "one\n");
    changes(&mut talk).await;
    assert!(!marker.exists(), "a program of the repository ran");
    talk.close().await;
}

#[tokio::test]
async fn what_is_beyond_the_bounds_is_said_to_stay() {
    let bench = Bench::new();
    bench.write("small", "12345");
    bench.write("large", "1234567890");
    let limits = CheckpointLimits {
        file: 8,
        bytes: 100,
        session: 100,
        files: 10,
        time: Duration::from_secs(20),
    };
    let backups = Backups::new(bench.kept.clone());
    let checkpoints = Arc::new(Checkpoints::with_limits(backups, limits));
    let take = || async { checkpoints.take(vec![bench.work.clone()], Vec::new()).await.unwrap() };
    let before = take().await;
    bench.write("small", "changed");
    bench.write("large", "changed");
    let found = checkpoints.changes_since(before).await;
    assert_eq!((found.files.len(), found.lost), (1, 1));
    // Many files at once are all restored or none.
    let before = take().await;
    for number in 0..11 {
        bench.write(&format!("n{number}"), "new");
    }
    let found = checkpoints.changes_since(before).await;
    assert_eq!((found.files.len(), found.lost), (0, 11));
    // A folder that takes too long is looked at once.
    let hurried = CheckpointLimits { time: Duration::ZERO, ..limits };
    let backups = Backups::new(bench.kept.clone());
    let checkpoints = Arc::new(Checkpoints::with_limits(backups, hurried));
    assert!(checkpoints.take(vec![bench.work.clone()], Vec::new()).await.is_none());
    assert!(checkpoints.report_given_up() && !checkpoints.report_given_up());
}

#[tokio::test]
async fn a_change_of_the_same_size_with_the_old_time_is_found_however_soon_it_comes() {
    for bench in [Bench::new(), Bench::with_git()] {
        let backups = Backups::new(bench.kept.clone());
        let checkpoints = Arc::new(Checkpoints::new(backups.clone()));
        let take =
            || async { checkpoints.take(vec![bench.work.clone()], Vec::new()).await.unwrap() };
        let path = bench.work.join("a.txt");
        for round in 10..40 {
            bench.write("a.txt", &format!("old {round}\n"));
            if bench.work.join(".git").exists() {
                bench.git(&["add", "-A"]);
            }
            let time = fs::metadata(&path).unwrap().modified().unwrap();
            let before = take().await;
            bench.write("a.txt", &format!("new {round}\n"));
            fs::File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
            let found = checkpoints.changes_since(before).await;
            assert_eq!((found.files.len(), found.lost), (1, 0), "{round}");
            // Nor is the copy of the old content taken for one of the new content.
            let before = take().await;
            fs::remove_file(&path).unwrap();
            let found = checkpoints.changes_since(before).await;
            assert_eq!((found.files.len(), found.lost), (1, 0), "{round}");
            let kept = backups.get(found.files[0].before.as_deref().unwrap()).unwrap();
            assert_eq!(String::from_utf8(kept).unwrap(), format!("new {round}\n"));
        }
    }
}

/// Undoes, answers the questions, and tells what was said and how it ended.
async fn undone(talk: &mut SessionClient, op: Op, answer: Decision) -> (Vec<String>, usize) {
    talk.send(op).await;
    let (mut said, mut asked) = (Vec::new(), 0);
    loop {
        let event = talk.next(Some).await;
        match event {
            Event::Asked(ask) => {
                asked += 1;
                talk.send(Op::Question(QuestionOp::Decide {
                    ask: ask.id,
                    decision: answer.clone(),
                }))
                .await;
            }
            Event::Notice(notice) => said.push(notice.say.text(avocet::i18n::Lang::En)),
            Event::TurnEnded { .. } => return (said, asked),
            _ => {}
        }
    }
}

fn kind(bench: &Bench, name: &str) -> &'static str {
    match fs::symlink_metadata(bench.work.join(name)) {
        Ok(meta) if meta.is_symlink() => "link",
        Ok(meta) if meta.is_dir() => "folder",
        Ok(meta) if meta.is_file() => "file",
        Ok(_) => "other",
        Err(_) => "nothing",
    }
}

const UNDO: Op = Op::Turn(TurnOp::Undo { turns: 1 });
const REJECT: Decision = Decision::Reject { word: None };

#[tokio::test]
async fn undo_replaces_a_link_in_the_place_of_a_file_and_never_writes_through_it() {
    for name in ["b.txt", "z.txt"] {
        let bench = Bench::with_git();
        bench.write(name, "precious\n");
        let mut talk = bench.session(&[DONE]);
        shell(&mut talk, &format!("mv {name} c.txt; ln -s c.txt {name}")).await;
        // Without the file itself, its only copy stays.
        let (said, asked) = undone(&mut talk, UNDO, REJECT).await;
        assert_eq!((asked, kind(&bench, name)), (1, "link"), "{said:?}");
        assert_eq!(bench.read("c.txt").as_deref(), Some("precious\n"));
        assert!(said.iter().any(|it| it.contains("none was deleted")), "{said:?}");
        // It can still be undone.
        let (said, asked) = undone(&mut talk, UNDO, Decision::Approve).await;
        assert_eq!((asked, kind(&bench, name), kind(&bench, "c.txt")), (1, "file", "nothing"));
        assert_eq!(bench.read(name).as_deref(), Some("precious\n"), "{said:?}");
        talk.close().await;
    }
}

#[tokio::test]
async fn undo_makes_room_for_a_file_that_became_a_folder_or_a_pipe() {
    let lines = [
        ("rm a.txt; mkdir -p a.txt/below; echo q > a.txt/below/q", 0),
        ("rm a.txt; mkfifo a.txt", 1),
        ("rm -r d; echo file > d", 0),
    ];
    for (line, questions) in lines {
        let bench = Bench::new();
        bench.write("a.txt", "old\n");
        bench.write("d/e/f", "deep\n");
        let mut talk = bench.session(&[DONE]);
        shell(&mut talk, line).await;
        let (said, asked) = undone(&mut talk, UNDO, Decision::Approve).await;
        assert_eq!(asked, questions, "{line}: {said:?}");
        assert_eq!(bench.read("a.txt").as_deref(), Some("old\n"), "{line}: {said:?}");
        assert_eq!(bench.read("d/e/f").as_deref(), Some("deep\n"), "{line}: {said:?}");
        talk.close().await;
    }
}

#[tokio::test]
async fn undo_deletes_nothing_while_another_file_cannot_be_restored_and_can_be_done_again() {
    let bench = Bench::new();
    bench.write("a.txt", "old\n");
    bench.write("m.txt", "one\n");
    let mut talk = bench.session(&[DONE]);
    shell(&mut talk, "mv a.txt b.txt; mkdir a.txt; echo two > m.txt").await;
    bench.write("a.txt/mine", "mine\n");
    let (said, _) = undone(&mut talk, UNDO, Decision::Approve).await;
    assert_eq!(bench.read("b.txt").as_deref(), Some("old\n"), "{said:?}");
    assert_eq!(bench.read("a.txt/mine").as_deref(), Some("mine\n"));
    assert_eq!(bench.read("m.txt").as_deref(), Some("one\n"), "what can be restored is");
    assert!(said.iter().any(|it| it.starts_with("Files that stay as they are: 2.")), "{said:?}");
    fs::remove_file(bench.work.join("a.txt/mine")).unwrap();
    let (said, asked) = undone(&mut talk, UNDO, Decision::Approve).await;
    assert_eq!(bench.read("a.txt").as_deref(), Some("old\n"), "{said:?} {asked}");
    assert_eq!((bench.read("b.txt"), said.len()), (None, 1), "{said:?}");
    talk.close().await;
}

#[tokio::test]
async fn a_moved_folder_is_undone_whole_and_a_link_in_its_place_is_named() {
    let bench = Bench::new();
    bench.write("src/f1", "p\n");
    bench.write("src/in/f2", "q\n");
    let mut talk = bench.session(&[DONE]);
    // So that the files are older than the step.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let changed = shell(&mut talk, "mv src lib").await;
    assert_eq!(changed, ["lib/f1 +1 -0", "lib/in/f2 +1 -0", "src/f1 +0 -1", "src/in/f2 +0 -1"]);
    restored(&mut talk, UNDO).await;
    assert_eq!((bench.read("src/f1").as_deref(), bench.read("lib/f1")), (Some("p\n"), None));
    assert_eq!((bench.read("src/in/f2").as_deref(), bench.read("lib/in/f2")), (Some("q\n"), None));

    let changed = shell(&mut talk, "rm -r lib; mv src lib; ln -s lib src").await;
    assert_eq!(changed.len(), 4, "{changed:?}");
    let (said, _) = undone(&mut talk, UNDO, Decision::Approve).await;
    assert_eq!((kind(&bench, "src"), kind(&bench, "lib/f1")), ("link", "file"), "{said:?}");
    fs::remove_file(bench.work.join("src")).unwrap();
    restored(&mut talk, UNDO).await;
    assert_eq!((bench.read("src/f1").as_deref(), bench.read("lib/f1")), (Some("p\n"), None));
    talk.close().await;
}

#[tokio::test]
async fn links_and_permissions_that_are_not_restored_are_counted() {
    let bench = Bench::new();
    bench.write("a.txt", "one\n");
    std::os::unix::fs::symlink("a.txt", bench.work.join("old")).unwrap();
    let checkpoints = Arc::new(Checkpoints::new(Backups::new(bench.kept.clone())));
    let take = || async { checkpoints.take(vec![bench.work.clone()], Vec::new()).await.unwrap() };
    let before = take().await;
    fs::remove_file(bench.work.join("old")).unwrap();
    std::os::unix::fs::symlink("a.txt", bench.work.join("new")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(bench.work.join("a.txt"), mode).unwrap();
    let found = checkpoints.changes_since(before).await;
    assert_eq!((found.files.len(), found.lost), (0, 3));
    let before = take().await;
    assert_eq!(checkpoints.changes_since(before).await.lost, 0);

    // It is said although there is nothing to undo.
    let mut talk = bench.session(&[DONE]);
    talk.send(Op::Turn(TurnOp::Shell { line: "ln -s a.txt more".to_owned(), keep: false })).await;
    talk.until_it_ends().await;
    talk.send(UNDO).await;
    let said = talk.notice().await.say.text(avocet::i18n::Lang::En);
    assert!(said.contains("Links, permissions") && said.contains(": 1."), "{said}");
    talk.close().await;
}

#[tokio::test]
async fn what_came_from_where_nothing_is_looked_at_is_not_removed_by_undo() {
    let bench = Bench::new();
    bench.write(".gitignore", "target/\n");
    bench.write("target/built", "only here\n");
    bench.write(".env", "KEY=1\n");
    fs::write(bench.work.join("large"), vec![b'x'; 9 * 1024 * 1024]).unwrap();
    bench.write("note", "n\n");
    let mut talk = bench.session(&[DONE]);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let line =
        "mv target/built built; mv .env plain; mv large larger; ln note note2; mv note note3";
    talk.send(Op::Turn(TurnOp::Shell { line: line.to_owned(), keep: false })).await;
    let found = talk.until_it_ends().await.into_iter().find_map(|event| match event {
        Event::FilesChanged { files, lost, .. } => {
            Some((files.iter().map(name).collect::<Vec<_>>(), lost))
        }
        _ => None,
    });
    let names = ["note +0 -1", "note2 +1 -0", "note3 +1 -0"].map(str::to_owned).to_vec();
    assert_eq!(found, Some((names, 3)));
    undone(&mut talk, UNDO, Decision::Approve).await;
    for (file, there) in [
        ("built", "file"),
        ("plain", "file"),
        ("larger", "file"),
        ("note", "file"),
        ("note2", "nothing"),
        ("note3", "nothing"),
    ] {
        assert_eq!(kind(&bench, file), there, "{file}");
    }
    talk.close().await;
}

/// Prints how long a checkpoint takes.
#[tokio::test]
#[ignore = "strain: measures checkpoints"]
async fn a_repository_of_100_000_files_is_looked_at_quickly() {
    let bench = Bench::with_git();
    for folder in 0..1_000 {
        for file in 0..100 {
            bench.write(&format!("d{folder}/f{file}.rs"), &format!("file {folder} {file}\n"));
        }
    }
    bench.commit();
    let limits = CheckpointLimits { time: Duration::from_secs(60), ..CheckpointLimits::default() };
    let backups = Backups::new(bench.kept.clone());
    let checkpoints = Arc::new(Checkpoints::with_limits(backups, limits));
    for _ in 0..3 {
        let began = Instant::now();
        let before = checkpoints.take(vec![bench.work.clone()], Vec::new()).await;
        let taken = began.elapsed();
        bench.write("d7/f7.rs", &format!("changed {taken:?}\n"));
        let began = Instant::now();
        let found = checkpoints.changes_since(before.unwrap()).await;
        println!(
            "taken in {taken:?}, compared in {:?}, {} changed",
            began.elapsed(),
            found.files.len()
        );
    }
    println!("{} copies", bench.copies().len());
}
