//! Files that are never read whole.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;

use super::*;
use avocet_core::protocol::Outcome;

/// More than is edited whole, in lines that say their number.
const LINES: usize = 400_000;

fn log(end: &str) -> String {
    (1..=LINES).map(|number| format!("line {number} of it{end}")).collect()
}

fn edit(old: &str, new: &str) -> Value {
    json!({"path": "log", "old": old, "new": new})
}

#[tokio::test]
async fn a_large_file_is_changed_in_one_place_and_keeps_all_else() {
    let bench = FileFixture::new();
    let text = log("\n");
    let path = bench.file("log", text.as_bytes());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let (old, new) = ("line 350000 of it\nline 350001 of it", "line 350000\nmore\nline 350001");
    let seen = bench.run("file.edit", edit(old, new)).await;
    assert_eq!(seen.exit_code, Some(0), "{}", note(&seen));
    assert!(note(&seen).contains("`/undo` does not restore it"), "{}", note(&seen));
    assert_eq!(fs::read_to_string(&path).unwrap(), text.replace(old, new));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o640);
    let change = seen.change.unwrap();
    assert_eq!((change.added, change.removed), (3, 2));
    assert!(change.diff.contains("@@ -349997,8 +349997,9 @@"), "{}", change.diff);
    assert!(change.diff.contains("-line 350000 of it\n"), "{}", change.diff);
    let left: Vec<_> = fs::read_dir(&bench.place.workspace).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing is left behind");
}

#[tokio::test]
async fn lines_name_which_of_several_places_is_meant() {
    let bench = FileFixture::new();
    let text = log("\n").replace("line 77 of it", "same").replace("line 390000 of it", "same");
    let path = bench.file("log", text.as_bytes());
    let seen = bench.run("file.edit", edit("same", "other")).await;
    assert!(
        note(&seen).contains("2 times") && note(&seen).contains("77, 390000"),
        "{}",
        note(&seen)
    );
    assert_eq!(fs::metadata(&path).unwrap().len(), text.len() as u64);
    let input =
        json!({"path": "log", "old": "same", "new": "other", "from": 389_990, "to": 390_010});
    let seen = bench.run("file.edit", input).await;
    assert_eq!(seen.exit_code, Some(0), "{}", note(&seen));
    let now = fs::read_to_string(&path).unwrap();
    assert_eq!(now.matches("same\n").count(), 1);
    assert_eq!(now.lines().nth(389_999), Some("other"));
    let all = json!({"path": "log", "edits": [{"old": "line 5 of", "new": "5"}, {"old": "same", "new": "x", "all": true}]});
    assert_eq!(bench.run("file.edit", all).await.exit_code, Some(0));
    let now = fs::read_to_string(&path).unwrap();
    assert!(now.contains("\n5 it\n") && now.contains("\nx\n"));
    let seen = bench.run("file.edit", edit("nowhere", "x")).await;
    assert!(note(&seen).contains("not in the file"), "{}", note(&seen));
}

#[tokio::test]
async fn a_large_file_keeps_its_mark_its_line_ends_its_encoding_and_its_other_names() {
    let bench = FileFixture::new();
    let path = bench.file("log", format!("\u{feff}{}", log("\r\n")).as_bytes());
    let other = bench.place.workspace.join("other");
    fs::hard_link(&path, &other).unwrap();
    let inode = fs::metadata(&path).unwrap().ino();
    let seen = bench.run("file.edit", edit("line 9 of it\nline 10 of", "nine\nten of")).await;
    assert_eq!(seen.exit_code, Some(0), "{}", note(&seen));
    let now = fs::read_to_string(&other).unwrap();
    assert!(
        now.starts_with("\u{feff}line 1 of it\r\n") && now.contains("\r\nnine\r\nten of it\r\n")
    );
    assert_eq!(fs::metadata(&path).unwrap().ino(), inode);
    assert_eq!(now.matches('\n').count(), LINES);
    let line = "这是一个用国标编码保存的日志，里面有不少常用的汉字。\n";
    let text = format!("{}这里出错了。\n{line}", line.repeat(83_000));
    let path = bench.file("log", &encoding_rs::GBK.encode(&text).0);
    let seen = bench.run("file.edit", edit("这里出错了", "这里没有问题")).await;
    assert_eq!(seen.exit_code, Some(0), "{}", note(&seen));
    let wanted = text.replace("这里出错了", "这里没有问题");
    assert_eq!(fs::read(&path).unwrap(), *encoding_rs::GBK.encode(&wanted).0);
    assert!(seen.change.unwrap().diff.contains("+这里没有问题。"));
    let seen = bench.run("file.edit", edit("没有问题", "😀")).await;
    assert!(note(&seen).contains("does not have all of these characters"), "{}", note(&seen));
}

#[tokio::test]
async fn a_large_file_that_changes_meanwhile_is_not_overwritten() {
    let bench = FileFixture::new();
    let path = bench.file("log", log("\n").as_bytes());
    let Verdict::Ask(held) = bench.judged("file.edit", edit("line 9 of it", "nine")) else {
        panic!("asks")
    };
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"written meanwhile\n").unwrap();
    let seen = bench.work(held.approve()).await;
    assert_eq!((seen.exit_code, &seen.outcome), (Some(3), &Outcome::Ran), "{}", note(&seen));
    assert!(note(&seen).contains("not overwritten"), "{}", note(&seen));
    let now = fs::read_to_string(&path).unwrap();
    assert!(now.ends_with("written meanwhile\n") && now.contains("\nline 9 of it\n"));
    let left: Vec<_> = fs::read_dir(&bench.place.workspace).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing is left behind");
}

#[tokio::test]
async fn a_file_of_any_size_is_read_by_range_with_its_line_numbers() {
    let bench = FileFixture::new();
    let text: String = (1..=1_500_000).map(|number| format!("line {number}\n")).collect();
    assert!(text.len() > 16 << 20);
    bench.file("log", text.as_bytes());
    let input = json!({"path": "log", "from": 1_400_000, "to": 1_400_001});
    let seen = bench.run("file.read", input).await;
    assert_eq!(seen.stdout, "1400000\tline 1400000\n1400001\tline 1400001\n", "{}", note(&seen));
    assert!(note(&seen).contains("1500000"), "{}", note(&seen));
    let seen = bench.run("file.read", json!({"path": "log", "from": 1_500_001})).await;
    assert!(note(&seen).contains("1500000 lines"), "{}", note(&seen));
}

#[tokio::test]
async fn a_large_wide_file_keeps_its_encoding_its_mark_its_line_ends_its_mode_and_its_other_names()
{
    let bench = FileFixture::new();
    let line = "上面这一行是日志里的一句话，几乎每一行都一样。\r\n";
    let text =
        format!("\u{feff}{}这里出错了。\r\n下一行\r\n{}", line.repeat(60_000), line.repeat(30_000));
    for bytes_of in [u16::to_le_bytes, u16::to_be_bytes] {
        let encode = |text: &str| text.encode_utf16().flat_map(bytes_of).collect::<Vec<u8>>();
        let path = bench.file("log", &encode(&text));
        assert!(fs::metadata(&path).unwrap().len() > 4 << 20);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let other = bench.place.workspace.join("other");
        fs::hard_link(&path, &other).unwrap();
        let seen = bench
            .run("file.edit", edit("出错了。\n下一行", "没有出错😀。\n新的一行\n下一行"))
            .await;
        assert_eq!(seen.exit_code, Some(0), "{}", note(&seen));
        let wanted = text.replace("出错了。\r\n下一行", "没有出错😀。\r\n新的一行\r\n下一行");
        assert!(
            fs::read(&other).unwrap() == encode(&wanted),
            "the other name has the same content"
        );
        let meta = fs::metadata(&path).unwrap();
        assert_eq!((meta.permissions().mode() & 0o7777, meta.nlink()), (0o640, 2));
        let change = seen.change.unwrap();
        assert_eq!((change.added, change.removed), (2, 1));
        assert!(change.diff.contains("@@ -59998,7 +59998,8 @@"), "{}", change.diff);
        assert!(
            change.diff.contains("\n-这里出错了。\n+这里没有出错😀。\n+新的一行\n 下一行\n"),
            "{}",
            change.diff
        );
        let seen = bench.run("file.edit", edit("这里", "那里")).await;
        assert_eq!(seen.exit_code, Some(0), "a text that is once in the file: {}", note(&seen));
        let seen =
            bench.run("file.read", json!({"path": "log", "from": 60_001, "to": 60_002})).await;
        assert_eq!(seen.stdout, "60001\t那里没有出错😀。\n60002\t新的一行\n", "{}", note(&seen));
        fs::remove_file(&other).unwrap();
        fs::remove_file(&path).unwrap();
    }
}

#[tokio::test]
async fn the_encoding_of_a_log_that_begins_in_ascii_is_found_further_down() {
    let bench = FileFixture::new();
    let chinese = "这是一个用国标编码保存的日志，里面有不少常用的汉字。\n";
    let text = format!("{}{chinese}status: broken\n{chinese}", log("\n"));
    let path = bench.file("log", &encoding_rs::GBK.encode(&text).0);
    let seen = bench.run("file.edit", edit("status: broken", "状态：正常")).await;
    assert_eq!(seen.exit_code, Some(0), "{}", note(&seen));
    let wanted = text.replace("status: broken", "状态：正常");
    assert!(fs::read(&path).unwrap() == *encoding_rs::GBK.encode(&wanted).0);
    assert!(seen.change.unwrap().diff.contains("+状态：正常\n"));
}

#[tokio::test]
async fn a_file_that_changes_while_its_places_are_looked_for_is_said() {
    // On a busy machine the whole edit may fall into a pause of the writer.
    let mut refused = None;
    for _ in 0..20 {
        let bench = FileFixture::new();
        let path = bench.file("log", log("\n").as_bytes());
        // Grows as long as the edit is judged.
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let writer = std::thread::spawn(move || {
            let mut file = OpenOptions::new().append(true).open(path).unwrap();
            while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                file.write_all(b"more\n").unwrap();
            }
        });
        let seen = bench.run("file.edit", edit("line 399999 of it", "x")).await;
        drop(stop);
        writer.join().unwrap();
        let left: Vec<_> = fs::read_dir(&bench.place.workspace).unwrap().collect();
        assert_eq!(left.len(), 1, "nothing else remains");
        if seen.exit_code != Some(0) {
            refused = Some(note(&seen));
            break;
        }
    }
    let said = refused.expect("an edit is refused");
    assert!(said.contains("chang"), "{said}");
}
