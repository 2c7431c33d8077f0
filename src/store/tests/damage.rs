//! Damaged files and failing disks: what is reported, and what is still there.

use super::skip::{Reason, skip};
use super::*;

fn damaged(fixture: &mut StoreFixture, damage: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut writer = fixture.writer();
    for number in 1..=200 {
        turn(&mut writer, number, &format!("turn {number} {}", "word ".repeat(40)), "answer");
    }
    writer.rename("the name").unwrap();
    let id = writer.id().to_owned();
    drop(writer);
    let mut bytes = fs::read(fixture.file()).unwrap();
    damage(&mut bytes);
    fs::write(fixture.file(), bytes).unwrap();
    id
}

/// The reports about the file.
fn not_saved(fixture: &StoreFixture, why: avocet_core::i18n::Phrase) -> SavingError {
    let file = fixture.file().display().to_string();
    SavingError::NotSaved(phrases::OF_FILE.with("file", file).with("why", LocalizedText::from(why)))
}

#[test]
fn a_file_without_its_header_is_set_aside_and_still_read() {
    let mut fixture = StoreFixture::new();
    let id = damaged(&mut fixture, |bytes| bytes[..100].fill(0));
    let mut writer = fixture.writer();
    let resumed = writer.resume(Some(&id), 9_999).unwrap();
    assert_eq!((resumed.known.title.as_str(), resumed.tail.events.len()), ("the name", 800));
    assert_eq!(writer.search("turn 17", 9_999).unwrap().len(), 12);
    let told = fixture.reports();
    let [SavingError::Recovered { aside, sessions: 1, events: 800, removed: 0 }] = told.as_slice()
    else {
        panic!("{told:?}")
    };
    assert!(aside.exists());
    let left = fs::read_dir(fixture.folder.path().join("data")).unwrap();
    let names: Vec<String> =
        left.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert!(!names.iter().any(|name| name.contains("mend") || name.contains("fresh")), "{names:?}");
}

#[test]
fn lost_pages_lose_only_their_own_data() {
    let mut fixture = StoreFixture::new();
    let id = damaged(&mut fixture, |bytes| {
        // Every ninth page after the first ones, which contain the roots.
        let pages = bytes.len() / 4096;
        for page in (30..pages).step_by(9) {
            bytes[page * 4096..page * 4096 + 2048].fill(0xA5);
        }
    });
    let mut writer = fixture.writer();
    let found = writer.resume(Some(&id), 9_999).unwrap().tail.events.len();
    assert!((200..800).contains(&found), "{found}");
    turn(&mut writer, 201, "on we go", "yes");
    assert_eq!(saved_events(&mut writer, &id).last(), Some(&ended(201)));
    let told = fixture.reports();
    assert!(matches!(told.as_slice(), [SavingError::Recovered { .. }]), "{told:?}");
}

#[test]
fn a_file_that_is_not_a_database_is_set_aside() {
    let mut fixture = StoreFixture::new();
    fs::create_dir_all(fixture.folder.path().join("data")).unwrap();
    fs::write(fixture.file(), "this is not a database at all\n".repeat(400)).unwrap();
    let mut writer = fixture.writer();
    turn(&mut writer, 1, "hello", "hi");
    let id = writer.id().to_owned();
    assert_eq!(saved_events(&mut writer, &id).len(), 4);
    let told = fixture.reports();
    assert!(matches!(told.as_slice(), [SavingError::Recovered { sessions: 0, .. }]), "{told:?}");
}

#[test]
fn a_damaged_file_that_another_window_has_open_is_left_where_it_is() {
    let mut fixture = StoreFixture::new();
    let mut one = fixture.writer();
    turn(&mut one, 1, "hello", "hi");
    let db = rusqlite::Connection::open(fixture.file()).unwrap();
    let _: i64 = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
    drop(db);
    let mut file = fs::OpenOptions::new().write(true).open(fixture.file()).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.write_all(&[0; 4096]).unwrap();
    let mut two = fixture.writer();
    turn(&mut two, 1, "x", "y");
    let told = fixture.reports();
    let damaged = StoreError::Damaged { file: fixture.file() }.localized();
    assert!(told.contains(&SavingError::NotSaved(damaged)), "{told:?}");
}

#[test]
fn a_failing_disk_is_reported_once_and_nothing_is_lost_when_it_works_again() {
    let mut fixture = StoreFixture::new();
    // There is a folder in place of the file.
    fs::create_dir_all(fixture.file()).unwrap();
    let mut writer = fixture.writer();
    turn(&mut writer, 1, "one", "a");
    turn(&mut writer, 2, "two", "b");
    assert!(matches!(fixture.reports().as_slice(), [SavingError::NotSaved(_)]));
    fs::remove_dir(fixture.file()).unwrap();
    writer.close();
    assert_eq!(fixture.reports(), [SavingError::SavedAgain]);
    let id = writer.id().to_owned();
    assert_eq!(saved_events(&mut writer, &id).len(), 8);
}

#[test]
fn a_data_folder_that_is_a_file_is_reported_and_the_conversation_continues() {
    let mut fixture = StoreFixture::new();
    fs::write(fixture.folder.path().join("data"), "").unwrap();
    let mut writer = fixture.writer();
    turn(&mut writer, 1, "one", "a");
    assert!(matches!(fixture.reports().as_slice(), [SavingError::NotSaved(_)]));
    assert!(writer.list(None, 9).is_err());
}

#[test]
fn a_full_disk_is_reported_once_and_the_rows_are_written_later() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    turn(&mut writer, 1, "one", "a");
    writer.limit_pages(Some(20));
    for number in 2..=30 {
        turn(&mut writer, number, &"many words ".repeat(300), "b");
    }
    let told = fixture.reports();
    assert_eq!(told, [not_saved(&fixture, phrases::FULL)]);
    writer.limit_pages(None);
    writer.close();
    assert_eq!(fixture.reports(), [SavingError::SavedAgain]);
    let id = writer.id().to_owned();
    assert_eq!(saved_events(&mut writer, &id).len(), 120);
}

#[test]
fn a_file_removed_while_open_is_written_again_in_full() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    turn(&mut writer, 1, "one", "a");
    fs::remove_dir_all(fixture.folder.path().join("data")).unwrap();
    turn(&mut writer, 2, "two", "b");
    assert_eq!(fixture.reports(), [SavingError::PutBack { file: fixture.file() }]);
    let id = writer.id().to_owned();
    assert_eq!(fixture.store().lock(&id).unwrap().map(|_| ()), None, "it is locked again");
    drop(writer);
    let mut other = fixture.writer();
    assert_eq!(saved_events(&mut other, &id).len(), 8);
}

#[test]
fn the_newest_damaged_files_are_kept_and_the_removal_of_others_is_reported() {
    let mut fixture = StoreFixture::new();
    let data = fixture.folder.path().join("data");
    fs::create_dir_all(&data).unwrap();
    for number in [2, 9, 10] {
        fs::write(data.join(format!("sessions.damaged-{number}.db")), "old").unwrap();
    }
    fs::write(fixture.file(), "this is not a database at all\n".repeat(400)).unwrap();
    let mut writer = fixture.writer();
    turn(&mut writer, 1, "hello", "hi");
    let told = fixture.reports();
    let [SavingError::Recovered { aside, removed: 1, .. }] = told.as_slice() else {
        panic!("{told:?}")
    };
    assert!(aside.ends_with("sessions.damaged-11.db"), "{aside:?}");
    let there = |n: u32| data.join(format!("sessions.damaged-{n}.db")).exists();
    assert_eq!([2, 9, 10, 11].map(there), [false, true, true, true]);
}

/// The report for a folder that is not writable; only root can write to it anyway.
#[cfg(unix)]
#[test]
fn a_read_only_disk_is_reported_and_waiting_rows_are_written_later() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    turn(&mut writer, 1, "one", "a");
    let id = writer.id().to_owned();
    writer.set_read_only(true);
    turn(&mut writer, 2, "two", "b");
    turn(&mut writer, 3, "three", "c");
    assert_eq!(fixture.reports(), [not_saved(&fixture, phrases::READ_ONLY)]);
    writer.set_read_only(false);
    writer.close();
    assert_eq!(fixture.reports(), [SavingError::SavedAgain]);
    assert_eq!(saved_events(&mut writer, &id).len(), 12);
    drop(writer);
    // The same for a folder, unless the tests run as root.
    let data = fixture.folder.path().join("data");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(data.join("probe"), "").is_ok() {
        return skip(Reason::Root);
    }
    fs::remove_file(fixture.file()).ok();
    let mut other = fixture.writer();
    turn(&mut other, 1, "x", "y");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
    other.close();
    let told = fixture.reports();
    assert!(
        matches!(told.as_slice(), [] | [SavingError::NotSaved(_), SavingError::SavedAgain]),
        "{told:?}"
    );
}

#[test]
fn what_a_file_of_an_older_version_holds_is_read_with_nothing_for_what_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("old.db");
    let mut old = rusqlite::Connection::open(&file).unwrap();
    schema::migrate(&mut old, &schema::MIGRATIONS[..3]).unwrap();
    old.execute_batch(
        "INSERT INTO sessions(id, folder, title, created, updated, touched, input)
             VALUES ('abcd', '/work', 'old', 1, 2, 3, 77);",
    )
    .unwrap();
    drop(old);
    let mut new = rusqlite::Connection::open_in_memory().unwrap();
    schema::migrate(&mut new, schema::MIGRATIONS).unwrap();
    let found = recover::copy_readable_rows(&file, &mut new).unwrap();
    assert_eq!(found.sessions, 1);
    let kept: (i64, i64, Option<String>) = new
        .query_row("SELECT input, cost, model FROM sessions", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!(kept, (77, 0, None));
}
