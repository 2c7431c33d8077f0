//! Several sessions of one process on one file.

use super::super::file_watch::PathState;
use super::super::shared::WriteUrgency;
use super::*;

/// The locks that this process has on a file, as the system lists them.
#[cfg(target_os = "linux")]
fn locks_on(file: &std::path::Path) -> usize {
    use std::os::unix::fs::MetadataExt as _;
    let inode = fs::metadata(file).unwrap().ino();
    let pid = std::process::id().to_string();
    let list = fs::read_to_string("/proc/locks").unwrap_or_default();
    let is_ours = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.contains(&"POSIX")
            && words.contains(&pid.as_str())
            && words.iter().any(|word| word.ends_with(&format!(":{inode}")))
    };
    list.lines().filter(is_ours).count()
}

/// The system's list may name a lock twice while others change: it is read again then.
#[cfg(target_os = "linux")]
fn has_locks(file: &std::path::Path, count: usize) -> bool {
    (0..100).any(|_| locks_on(file) == count)
}

#[test]
#[cfg(target_os = "linux")]
fn a_session_that_ends_releases_no_lock_of_another_one_in_the_same_process() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::in_folder(folder.path().to_owned());
    let open = || {
        let mut disk = Database::open(&store).unwrap().0;
        disk.watch();
        disk
    };
    let (first, second) = (open(), open());
    let file = store.file().unwrap();
    // One for all connections of a process.
    let held = 1;
    assert!(has_locks(&file, held), "an open file is locked");
    first.close();
    assert!(has_locks(&file, held));
    let third = open();
    second.close();
    assert!(has_locks(&file, held));
    third.close();
    assert!(has_locks(&file, 0));
}

#[test]
fn sessions_that_begin_at_once_create_one_whole_file() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::in_folder(folder.path().to_owned());
        let start = std::sync::Barrier::new(8);
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    start.wait();
                    let mut disk = Database::open(&store).unwrap().0;
                    disk.write_transaction().unwrap().commit().unwrap();
                });
            }
        });
    }
}

/// As many conversations of a gateway begin at once. One that read another number for the file
/// would take it for another file as soon as the log is written into it, and remove that log.
#[test]
fn sessions_that_begin_at_once_in_an_empty_folder_know_the_file_by_the_same_number() {
    for round in 0..30 {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::in_folder(folder.path().to_owned());
        let start = std::sync::Barrier::new(16);
        let mut opened: Vec<Database> = std::thread::scope(|threads| {
            let open = || {
                start.wait();
                let mut disk = Database::open(&store).unwrap().0;
                disk.watch();
                disk
            };
            let threads: Vec<_> = (0..16).map(|_| threads.spawn(open)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let log: (i64, i64, i64) = opened[0]
            .db
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .unwrap();
        assert_eq!(log.0, 0, "round {round}: the log is in the file");
        for disk in &mut opened {
            assert_eq!(disk.path_state(), PathState::Same, "round {round}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_last_session_that_ends_releases_no_lock_of_the_values_of_scripts() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::in_folder(folder.path().to_owned());
    let mut values = KeyValue::new(&store, "script");
    values.set("name", "value").unwrap();
    let file = store.file().unwrap();
    // One for all connections of a process.
    let held = 1;
    assert!(has_locks(&file, held), "an open file is locked");
    let mut session = Database::open(&store).unwrap().0;
    session.watch();
    session.close();
    assert!(has_locks(&file, held));
    drop(values);
    assert!(has_locks(&file, 0));
}

/// All sessions of one process write one more turn at the same moment.
fn write_at_once(writers: &mut [SessionWriter], number: u64) {
    let start = std::sync::Barrier::new(writers.len());
    std::thread::scope(|threads| {
        for writer in writers {
            threads.spawn(|| {
                start.wait();
                turn(writer, number, &format!("question {number}"), "an answer");
            });
        }
    });
}

#[test]
fn all_sessions_of_a_process_go_on_in_a_file_that_replaced_theirs_or_that_was_removed() {
    let replace: fn(&std::path::Path, &std::path::Path) = |from, to| fs::rename(from, to).unwrap();
    let remove: fn(&std::path::Path, &std::path::Path) = |_, to| {
        for ending in ["", "-wal", "-shm"] {
            fs::remove_file(with_suffix(to, ending)).unwrap();
        }
    };
    for (case, change) in [replace, remove].into_iter().enumerate() {
        for round in 0..5 {
            let mut fixture = StoreFixture::new();
            let mut other = StoreFixture::new();
            other.writer().close();
            drop(Database::open(&other.store()).unwrap());
            let store = fixture.store();
            let mut writers: Vec<SessionWriter> =
                (0..8).map(|_| fixture.writer_of(&store, "/work")).collect();
            for number in 1..=3 {
                write_at_once(&mut writers, number);
            }
            change(&other.file(), &fixture.file());
            write_at_once(&mut writers, 4);
            // A file that several write at once may be busy for longer than a session waits.
            writers.iter_mut().for_each(SessionWriter::close);
            for writer in &writers {
                let found = questions(&store, writer.id());
                // What was saved before is beside the file that replaced theirs.
                let wanted = if case == 0 { 1 } else { 4 };
                assert_eq!(found, wanted, "case {case}, round {round}: {:?}", fixture.reports());
            }
        }
    }
}

#[test]
fn sessions_of_a_process_share_one_connection_and_the_last_one_closes_it() {
    let mut fixture = StoreFixture::new();
    let store = fixture.store();
    let (mut one, mut two) =
        (fixture.writer_of(&store, "/work"), fixture.writer_of(&store, "/work"));
    turn(&mut one, 1, "one", "a");
    turn(&mut two, 1, "two", "b");
    let log = with_suffix(&fixture.file(), "-wal");
    assert_eq!(store.shared.lock().file, 1, "opened once");
    one.close();
    assert!(log.exists());
    turn(&mut two, 2, "more", "c");
    drop(two);
    assert!(store.shared.lock().disk.is_none());
    assert!(!log.exists(), "the log is in the file");
    assert_eq!(questions(&store, one.id()), 1);
    // One that has ended may go on.
    turn(&mut one, 2, "again", "d");
    drop(one);
    assert!(store.shared.lock().disk.is_none());
}

#[test]
fn every_session_is_told_that_its_file_was_replaced() {
    let mut fixture = StoreFixture::new();
    let mut other = StoreFixture::new();
    other.writer().close();
    drop(Database::open(&other.store()).unwrap());
    let store = fixture.store();
    let mut writers: Vec<SessionWriter> =
        (0..3).map(|_| fixture.writer_of(&store, "/work")).collect();
    writers.iter_mut().for_each(|writer| turn(writer, 1, "one", "a"));
    fs::rename(other.file(), fixture.file()).unwrap();
    writers.iter_mut().for_each(|writer| turn(writer, 2, "two", "c"));
    let told = fixture.reports();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told.iter().all(|told| matches!(told, SavingError::Replaced { .. })), "{told:?}");
    for writer in &writers {
        assert_eq!(questions(&store, writer.id()), 1);
    }
}

#[test]
fn a_session_only_looks_after_another_one_has_waited_in_vain() {
    use std::time::Duration;
    let mut file = super::super::shared::OpenDatabase::default();
    let whole = file.patience("one", WriteUrgency::Normal);
    assert!(whole > Duration::ZERO);
    file.was_busy("one", whole);
    assert_eq!(file.patience("two", WriteUrgency::Normal), Duration::ZERO);
    assert_eq!(file.patience("one", WriteUrgency::Normal), whole, "it waits for itself");
    assert_eq!(file.patience("two", WriteUrgency::AfterFailure), Duration::ZERO);
    assert!(file.patience("two", WriteUrgency::Last) > Duration::ZERO, "it has no other try");
    // Who only looked has not waited.
    file.was_busy("two", Duration::ZERO);
    assert_eq!(file.patience("one", WriteUrgency::Normal), whole);
    file.was_written();
    assert_eq!(file.patience("three", WriteUrgency::Normal), whole);
}

#[test]
fn a_session_that_only_looked_reports_nothing_before_it_has_waited_as_well() {
    let mut fixture = StoreFixture::new();
    let store = fixture.store();
    let mut one = fixture.writer_of(&store, "/work");
    let mut two = fixture.writer_of(&store, "/work");
    turn(&mut one, 1, "one", "a");
    turn(&mut two, 1, "two", "b");
    let other = rusqlite::Connection::open(fixture.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    record_all(&mut one, [started(2, "more")]);
    record_all(&mut two, [started(2, "more")]);
    let told = fixture.reports();
    assert!(matches!(told.as_slice(), [SavingError::NotSaved(_)]), "{told:?}");
    two.close();
    let told = fixture.reports();
    assert!(matches!(told.as_slice(), [SavingError::NotSaved(_)]), "{told:?}");
    other.execute_batch("ROLLBACK").unwrap();
    two.close();
    one.close();
    assert_eq!(fixture.reports(), [SavingError::SavedAgain, SavingError::SavedAgain]);
    assert_eq!((questions(&store, one.id()), questions(&store, two.id())), (2, 2));
}

#[test]
fn what_is_on_the_disk_already_is_not_put_there_again_for_another_session_and_never_too_often() {
    use std::time::{Duration, Instant};
    let mut fixture = StoreFixture::new();
    let store = fixture.store();
    let mut writer = fixture.writer_of(&store, "/work");
    let sync = |last, pause| store.shared.lock().sync(last, pause);
    let before = Instant::now();
    turn(&mut writer, 1, "one", "a");
    assert_eq!(sync(Instant::now(), Duration::ZERO), None);
    let first = store.shared.lock().synced.unwrap();
    assert_eq!(sync(before, Duration::ZERO), None);
    assert_eq!(store.shared.lock().synced, Some(first));
    let pause = Duration::from_secs(3600);
    assert_eq!(sync(Instant::now(), pause), Some(first + pause));
    assert_eq!(store.shared.lock().synced, Some(first));
    // What a session wrote is on the disk when it ends, although the file stays open.
    let mut other = fixture.writer_of(&store, "/work");
    turn(&mut other, 1, "two", "b");
    other.close();
    assert!(store.shared.lock().synced > Some(first));
}
