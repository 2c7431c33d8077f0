//! Cut logs, cut files, and files that replaced the open one.

use std::path::Path;

use super::*;

/// The folder of sessions in the state a killed program leaves, copied while it is open.
fn copy_as_if_killed(fixture: &StoreFixture) -> StoreFixture {
    let left = StoreFixture::new();
    copy(&fixture.folder.path().join("data"), &left.folder.path().join("data"));
    left
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.path().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

fn log(fixture: &StoreFixture) -> PathBuf {
    fixture.file().with_extension("db-wal")
}

fn turns(writer: &mut SessionWriter, numbers: std::ops::RangeInclusive<u64>) {
    for number in numbers {
        turn(writer, number, &format!("question {number}"), &format!("answer {number}"));
    }
}

#[test]
fn a_killed_program_loses_nothing_and_nothing_is_reported() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    turns(&mut writer, 1..=9);
    let mut left = copy_as_if_killed(&fixture);
    let mut again = left.writer();
    assert_eq!(again.list(None, 9).unwrap().len(), 1);
    assert_eq!(left.reports(), []);
    assert_eq!(questions(&left.store(), writer.id()), 9);
}

#[test]
fn a_cut_damaged_or_removed_log_is_reported_and_kept_aside() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    turns(&mut writer, 1..=6);
    let whole = fs::read(log(&fixture)).unwrap();
    let mut damages: Vec<Option<Vec<u8>>> = vec![None];
    damages.extend((0..6).map(|n| Some(whole[..whole.len() * n / 6].to_vec())));
    damages.extend((0..6).map(|n| {
        let mut bytes = whole.clone();
        bytes[whole.len() * n / 6 + 7] ^= 0xff;
        Some(bytes)
    }));
    for damage in damages {
        let mut left = copy_as_if_killed(&fixture);
        match &damage {
            Some(bytes) => fs::write(log(&left), bytes).unwrap(),
            None => fs::remove_file(log(&left)).unwrap(),
        }
        let mut again = left.writer();
        again.list(None, 9).unwrap();
        let told = left.reports();
        assert!(matches!(told.as_slice(), [SavingError::Recovered { .. }]), "{told:?}");
        let aside = left.file().with_file_name("sessions.damaged-1.db");
        assert!(aside.exists());
        let kept = fs::read(aside.with_extension("db-wal")).unwrap_or_default();
        assert_eq!(kept, damage.unwrap_or_default());
    }
}

#[test]
fn everything_left_in_a_small_truncated_file_is_read() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    turns(&mut writer, 1..=3);
    let id = writer.id().to_owned();
    writer.close();
    let whole = fs::read(fixture.file()).unwrap();
    let pages = whole.len() / 4096;
    let mut kept = 0;
    for cut in 2..pages {
        for more in [0, 1_000] {
            let mut left = StoreFixture::new();
            fs::create_dir_all(left.folder.path().join("data")).unwrap();
            fs::write(left.file(), &whole[..cut * 4096 + more]).unwrap();
            let mut again = left.writer();
            again.list(None, 9).unwrap();
            let told = left.reports();
            assert!(matches!(told.as_slice(), [SavingError::Recovered { .. }]), "{cut}: {told:?}");
            assert!(left.file().with_file_name("sessions.damaged-1.db").exists());
            drop(again);
            let questions = questions(&left.store(), &id);
            if cut + 1 == pages {
                assert_eq!(questions, 3, "only the last page was cut");
            }
            kept += usize::from(questions == 3);
        }
    }
    assert!(kept >= pages, "of {pages} pages, {kept} of the cuts cost nothing");
}

/// A store with the file that was written beside the one that replaced it.
fn aside(reports: &[SavingError]) -> StoreFixture {
    let [SavingError::Replaced { aside: Some(aside), .. }] = reports else {
        panic!("{reports:?}");
    };
    let fixture = StoreFixture::new();
    fs::create_dir_all(fixture.file().parent().unwrap()).unwrap();
    fs::copy(aside, fixture.file()).unwrap();
    fixture
}

/// Another file of sessions, with one in it.
fn other_store() -> (StoreFixture, String) {
    let mut other = StoreFixture::new();
    let mut writer = other.writer_in("/elsewhere");
    turns(&mut writer, 1..=2);
    let id = writer.id().to_owned();
    writer.close();
    (other, id)
}

#[test]
fn a_session_goes_on_in_a_file_that_replaces_the_open_one_which_is_kept_beside_it() {
    let puts: [fn(&Path, &Path); 4] = [
        // Renamed over it, with its log left or taken away.
        |from, to| fs::rename(from, to).unwrap(),
        |from, to| {
            fs::rename(from, to).unwrap();
            fs::remove_file(to.with_extension("db-wal")).unwrap();
            fs::remove_file(to.with_extension("db-shm")).unwrap();
        },
        // Copied into it.
        |from, to| assert!(fs::copy(from, to).is_ok()),
        |from, to| {
            assert!(fs::copy(from, to).is_ok());
            fs::remove_file(to.with_extension("db-wal")).unwrap();
        },
    ];
    for (number, put) in puts.iter().enumerate() {
        let mut fixture = StoreFixture::new();
        let mut writer = fixture.writer();
        turns(&mut writer, 1..=3);
        let (other, theirs) = other_store();
        put(&other.file(), &fixture.file());
        turns(&mut writer, 4..=5);
        let id = writer.id().to_owned();
        let told = fixture.reports();
        assert_eq!(questions(&aside(&told).store(), &id), 3, "{number}");
        // Also if the program is killed now.
        let left = copy_as_if_killed(&fixture);
        assert_eq!(questions(&left.store(), &id), 2, "{number}");
        assert_eq!(questions(&left.store(), &theirs), 2, "{number}");
        turns(&mut writer, 6..=6);
        writer.close();
        assert_eq!(questions(&fixture.store(), &id), 3, "{number}");
        assert!(!log(&fixture).exists());
        assert_eq!(fixture.reports(), []);
        let mut again = fixture.writer();
        assert_eq!(again.resume(Some(&id), 200).unwrap().history.len(), 3);
        assert_eq!(again.search("question 2", 9).unwrap().len(), 1);
    }
}

#[test]
fn a_restored_older_file_gets_the_messages_from_then_on() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    turns(&mut writer, 1..=2);
    let id = writer.id().to_owned();
    writer.close();
    let backup = fixture.folder.path().join("backup.db");
    fs::copy(fixture.file(), &backup).unwrap();
    let mut writer = fixture.writer();
    writer.resume(Some(&id), 200).unwrap();
    turns(&mut writer, 3..=4);
    fs::rename(&backup, fixture.file()).unwrap();
    turns(&mut writer, 5..=5);
    writer.close();
    assert_eq!(questions(&aside(&fixture.reports()).store(), &id), 4);
    assert_eq!(questions(&fixture.store(), &id), 3);
}

#[test]
fn a_write_of_another_window_does_not_count_as_another_file() {
    let mut fixture = StoreFixture::new();
    let (mut one, mut two) = (fixture.writer(), fixture.writer());
    for number in 1..=12 {
        turn(&mut one, number, &"long ".repeat(20_000), "ok");
        turn(&mut two, number, &"long ".repeat(20_000), "ok");
    }
    one.close();
    turn(&mut two, 13, "last", "ok");
    assert_eq!(fixture.reports(), []);
}

#[test]
fn a_page_is_also_limited_in_bytes() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    for number in 1..=20 {
        turn(&mut writer, number, "again", &"x".repeat(1 << 20));
    }
    let id = writer.id().to_owned();
    let resumed = writer.resume(Some(&id), 200).unwrap();
    assert!(resumed.tail.more && resumed.tail.bytes < 12 << 20, "{}", resumed.tail.bytes);
    assert!(matches!(resumed.tail.events[0].event, Event::TurnStarted { .. }));
    let first = resumed.tail.events[0].seq;
    let before = writer.events_before(first, 1_000).unwrap();
    assert!(before.more && before.bytes < 12 << 20);
    assert!(before.events.last().is_some_and(|last| last.seq < first));
}

/// A file with some sessions of others, whose keys are those that ours have here.
fn backup() -> (StoreFixture, Vec<String>) {
    let mut other = StoreFixture::new();
    let ids = (0..4)
        .map(|_| {
            let mut writer = other.writer_in("/elsewhere");
            turns(&mut writer, 1..=2);
            writer.close();
            writer.id().to_owned()
        })
        .collect();
    (other, ids)
}

fn titles(store: &Store, ids: &[String]) -> Vec<String> {
    let disk = Database::open(store).unwrap().0;
    ids.iter().map(|id| disk.find(id).unwrap().title).collect()
}

#[test]
fn a_session_that_rests_is_in_the_file_beside_the_new_one() {
    let mut fixture = StoreFixture::new();
    let store = fixture.store();
    let mut busy = fixture.writer_of(&store, "/work");
    let mut resting = fixture.writer_of(&store, "/work");
    turns(&mut busy, 1..=2);
    turns(&mut resting, 1..=3);
    for number in 3..=5 {
        let (other, theirs) = backup();
        fs::rename(other.file(), fixture.file()).unwrap();
        turns(&mut busy, number..=number);
        let beside = aside(&fixture.reports());
        assert_eq!(questions(&beside.store(), resting.id()), if number == 3 { 3 } else { 0 });
        assert!(theirs.iter().all(|id| questions(&store, id) == 2), "file {number}");
    }
    turns(&mut resting, 4..=4);
    assert_eq!((questions(&store, busy.id()), questions(&store, resting.id())), (1, 1));
}

#[test]
fn what_is_asked_first_after_a_replacement_concerns_the_own_session() {
    let asks: [fn(&mut SessionWriter); 5] = [
        |writer| assert!(writer.rename("mine").is_err()),
        |writer| assert!(writer.fork(SessionHeader::new("/work", None)).is_err()),
        |writer| assert!(writer.rewind(2, &Event::Cleared, &[]).is_err()),
        |writer| writer.discard_turn_history(1),
        |writer| writer.save_turn_history(1, "[]", Some("another")),
    ];
    for (number, ask) in asks.iter().enumerate() {
        let mut fixture = StoreFixture::new();
        let mut writer = fixture.writer();
        turns(&mut writer, 1..=3);
        let (other, theirs) = backup();
        let before = titles(&other.store(), &theirs);
        fs::rename(other.file(), fixture.file()).unwrap();
        ask(&mut writer);
        let told = fixture.reports();
        assert!(matches!(told.as_slice(), [SavingError::Replaced { .. }]), "{number}: {told:?}");
        assert_eq!(titles(&fixture.store(), &theirs), before, "{number}");
        assert!(theirs.iter().all(|id| questions(&fixture.store(), id) == 2), "{number}");
        let mut reader = fixture.writer();
        for id in &theirs {
            let history = reader.resume(Some(id), 200).unwrap().history;
            assert_eq!(history.len(), 2, "{number}");
        }
        let listed = reader.list(Some("/elsewhere"), 99).unwrap();
        assert!(listed.iter().all(|one| one.model.is_none()), "{number}: {listed:?}");
        assert_eq!(listed.len(), 4, "{number}");
    }
}

#[test]
fn a_file_put_in_place_of_the_open_one_stays_as_it_is_when_the_sessions_end_without_a_word() {
    let mut fixture = StoreFixture::new();
    let store = fixture.store();
    let mut writers = [fixture.writer_of(&store, "/work"), fixture.writer_of(&store, "/work")];
    writers.iter_mut().for_each(|writer| turns(writer, 1..=3));
    let (other, theirs) = backup();
    fs::rename(other.file(), fixture.file()).unwrap();
    writers.iter_mut().for_each(SessionWriter::close);
    assert!(!log(&fixture).exists());
    assert!(theirs.iter().all(|id| questions(&store, id) == 2));
    assert_eq!(asides(&fixture).len(), 1);
}

/// The files beside the one of the sessions.
fn asides(fixture: &StoreFixture) -> Vec<PathBuf> {
    let entries = fs::read_dir(fixture.file().parent().unwrap()).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.to_string_lossy().contains("replaced")).collect()
}

#[test]
fn a_file_that_cannot_be_written_keeps_the_replaced_one_beside_it() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    turns(&mut writer, 1..=3);
    // A file of a version that this program cannot write.
    let newer = StoreFixture::new();
    fs::create_dir_all(newer.folder.path().join("data")).unwrap();
    let db = rusqlite::Connection::open(newer.file()).unwrap();
    db.execute_batch("CREATE TABLE t(x); PRAGMA user_version = 99").unwrap();
    drop(db);
    fs::rename(newer.file(), fixture.file()).unwrap();
    turns(&mut writer, 4..=4);
    turns(&mut writer, 5..=5);
    assert!(writer.unsaved_reason().is_some());
    assert_eq!(asides(&fixture).len(), 1);
}
