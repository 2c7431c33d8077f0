//! Tests the tools on real files: what is written, byte for byte, and what is refused.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;

use super::*;
use crate::Toolbox;
use crate::system::System;
use avocet_core::i18n::Lang;
use avocet_core::protocol::{Requires, Step, StepAction};
use avocet_safety::{Policy, PolicyContext, Verdict, Workspace, assess};

mod large;

struct FileFixture {
    root: PathBuf,
    _temp: tempfile::TempDir,
    world: System,
    place: Workspace,
    desk: FileToolState,
}

impl FileFixture {
    fn new() -> FileFixture {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let workspace = root.join("w");
        fs::create_dir_all(&workspace).unwrap();
        fs::create_dir_all(root.join("h")).unwrap();
        let desk = FileToolState {
            backups: Some(Backups::new(root.join("undo"))),
            ..FileToolState::default()
        };
        let world = System::new(&workspace, &root.join("h"), &[])
            .with_read_tracker(desk.read_tracker.clone());
        let place = Workspace::new(workspace, root.join("h"));
        FileFixture { root, _temp: temp, world, place, desk }
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.place.workspace.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    fn judged(&self, name: &str, input: Value) -> Verdict {
        let work = StepAction::Tool { name: name.into(), input };
        let step = Step { id: "x".into(), work, requires: Requires::default(), cwd: None };
        let policy = Policy::default();
        assess(step, PolicyContext { policy: &policy, place: &self.place, world: &self.world })
    }

    /// Judged, approved, run.
    async fn run(&self, name: &str, input: Value) -> Observation {
        let cleared = match self.judged(name, input) {
            Verdict::Run(cleared) => cleared,
            Verdict::Ask(held) => held.approve(),
            Verdict::Refuse(refused) => panic!("refused: {:?}", refused.judgement().risk),
        };
        self.work(cleared).await
    }

    async fn work(&self, cleared: ClearedStep) -> Observation {
        let tools = Toolbox::new(all(&self.desk));
        let tool = tools.find(&cleared.judgement().step.work).expect("the tool").clone();
        let (output, _) = unbounded_channel();
        tool.run(cleared, RunControl::new(CancellationToken::new(), output)).await
    }
}

fn note(observation: &Observation) -> String {
    observation.note.as_ref().map(|note| note.text(Lang::En)).unwrap_or_default()
}

#[tokio::test]
async fn a_change_keeps_every_other_byte_and_the_rights() {
    let bench = FileFixture::new();
    let before = "\u{feff}one\r\n\t\u{a0}two \\u00e9\r\nthree".as_bytes();
    let path = bench.file("a.txt", before);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
    let seen = bench.run("file.edit", json!({"path": "a.txt", "old": "two", "new": "2"})).await;
    assert_eq!(seen.exit_code, Some(0), "{}", note(&seen));
    assert_eq!(fs::read(&path).unwrap(), "\u{feff}one\r\n\t\u{a0}2 \\u00e9\r\nthree".as_bytes());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o751);
    let change = seen.change.expect("a change");
    assert_eq!((change.added, change.removed), (1, 1));
    let kept = bench.desk.backups.clone().unwrap();
    assert_eq!(kept.get(&change.before.unwrap()).as_deref(), Some(before));
    let left: Vec<_> = fs::read_dir(&bench.place.workspace).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing is left behind");
}

#[tokio::test]
async fn a_new_file_gets_its_folders() {
    let bench = FileFixture::new();
    let seen = bench.run("file.write", json!({"path": "a/b/c.rs", "content": "x\n"})).await;
    assert_eq!(seen.exit_code, Some(0), "{}", note(&seen));
    assert_eq!(fs::read(bench.place.workspace.join("a/b/c.rs")).unwrap(), b"x\n");
    assert_eq!(seen.change.unwrap().before, None);
}

#[tokio::test]
async fn a_file_that_changed_after_the_question_is_not_overwritten() {
    let bench = FileFixture::new();
    let path = bench.file("a", b"one\n");
    let Verdict::Ask(held) = bench.judged("file.write", json!({"path": "a", "content": "two\n"}))
    else {
        panic!("asks")
    };
    fs::write(&path, "mine\n").unwrap();
    let seen = bench.work(held.approve()).await;
    assert_eq!(seen.exit_code, Some(3));
    assert!(note(&seen).contains("not overwritten"));
    assert_eq!(fs::read(&path).unwrap(), b"mine\n");

    let Verdict::Ask(held) = bench.judged("file.write", json!({"path": "new", "content": "x"}))
    else {
        panic!("asks")
    };
    bench.file("new", b"came meanwhile");
    assert_eq!(bench.work(held.approve()).await.exit_code, Some(3));
}

#[tokio::test]
async fn a_link_created_after_the_question_is_not_followed() {
    let bench = FileFixture::new();
    bench.file("dir/a", b"one\n");
    let away = bench.root.join("away");
    fs::create_dir_all(&away).unwrap();
    fs::write(away.join("a"), "one\n").unwrap();
    let edit = || json!({"path": "dir/a", "old": "one", "new": "two"});
    let Verdict::Ask(held) = bench.judged("file.edit", edit()) else { panic!("asks") };
    fs::rename(bench.place.workspace.join("dir"), bench.place.workspace.join("old")).unwrap();
    symlink(&away, bench.place.workspace.join("dir")).unwrap();
    let seen = bench.work(held.approve()).await;
    assert_eq!(seen.exit_code, Some(2), "{}", note(&seen));
    assert_eq!(fs::read(away.join("a")).unwrap(), b"one\n");
    assert!(matches!(bench.judged("file.edit", edit()), Verdict::Refuse(_)));
    assert!(matches!(bench.judged("file.read", json!({"path": "dir/a"})), Verdict::Ask(_)));
}

#[tokio::test]
async fn a_change_that_was_tampered_with_is_not_written() {
    let bench = FileFixture::new();
    let path = bench.file("a", b"one\n");
    let Verdict::Ask(held) = bench.judged("file.write", json!({"path": "a", "content": "two\n"}))
    else {
        panic!("asks")
    };
    let cleared = held.approve().tampered(|judged| {
        if let Some(ToolTask::Change(write)) = &mut judged.task {
            write.change.after = Some("0".into());
        }
    });
    assert_eq!(bench.work(cleared).await.outcome, Outcome::Refused);
    assert_eq!(fs::read(&path).unwrap(), b"one\n");
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_reported_and_left_alone() {
    let bench = FileFixture::new();
    let path = bench.file("a", b"one\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let seen = bench.run("file.edit", json!({"path": "a", "old": "one", "new": "two"})).await;
    assert!(note(&seen).contains("read-only"), "{}", note(&seen));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(bench.root.join("undo"), "no folder").unwrap();
    let seen = bench.run("file.edit", json!({"path": "a", "old": "one", "new": "two"})).await;
    assert!(note(&seen).contains("could not be backed up"), "{}", note(&seen));
    assert_eq!(fs::read(&path).unwrap(), b"one\n");
}

#[tokio::test]
async fn a_read_numbers_the_lines_and_reports_the_omitted_ones() {
    let bench = FileFixture::new();
    let text: String = (1..=2_400).map(|n| format!("line {n}\n")).collect();
    bench.file("long", text.as_bytes());
    let seen = bench.run("file.read", json!({"path": "long"})).await;
    assert!(seen.stdout.starts_with("1\tline 1\n2\tline 2\n"));
    assert!(seen.truncated && note(&seen) == "Lines 1 to 2000 of 2400.", "{}", note(&seen));
    let seen = bench.run("file.read", json!({"path": "long", "from": 2399, "to": 5000})).await;
    assert_eq!(seen.stdout, "2399\tline 2399\n2400\tline 2400\n");
    assert!(!seen.truncated);
    let seen = bench.run("file.read", json!({"path": "long", "from": 2401})).await;
    assert!(note(&seen).contains("past its end"));
    bench.file("wide", &[b'x'; 200_000]);
    let seen = bench.run("file.read", json!({"path": "wide"})).await;
    assert!(seen.stdout.len() < 2_000);
    bench.file("empty", b"");
    assert_eq!(note(&bench.run("file.read", json!({"path": "empty"})).await), "The file is empty.");
}

#[tokio::test]
async fn a_binary_file_is_reported_with_its_size_and_a_similar_name_is_suggested() {
    let bench = FileFixture::new();
    bench.file("a.gz", b"\x1f\x8b\x08\0\0\0\0\0");
    bench.file("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    bench.file("latin", b"caf\xe9");
    bench.file("data", b"caf\xe9\x01");
    let said = note(&bench.run("file.read", json!({"path": "a.gz"})).await);
    assert!(said.contains("gzip data, 8 bytes"), "{said}");
    let said = note(&bench.run("file.read", json!({"path": "a.png"})).await);
    assert!(said.contains("a.png is an image that cannot be read"), "{said}");
    assert_eq!(bench.run("file.read", json!({"path": "latin"})).await.stdout, "1\tcafé\n");
    let said = note(&bench.run("file.read", json!({"path": "data"})).await);
    assert!(said.contains("another encoding"), "{said}");
    let edit = json!({"path": "data", "old": "caf", "new": "x"});
    assert!(note(&bench.run("file.edit", edit).await).contains("is not text in an encoding"));
    let said = note(&bench.run("file.read", json!({"path": "latni"})).await);
    assert!(said.contains("Next to it: latin"), "{said}");
    let listed = bench.run("file.read", json!({"path": "."})).await.stdout;
    assert!(listed.lines().any(|name| name == "latin"), "a folder is listed: {listed}");
}

fn tree(bench: &FileFixture) {
    for (name, text) in [
        ("src/a.rs", "fn needle() {}\nother\n"),
        ("src/deep/b.rs", "// Needle\nneedle needle\n"),
        ("docs/c.md", "no\n"),
        ("target/x.rs", "needle\n"),
        (".hidden", "needle\n"),
        ("server.pem", "needle\n"),
        (".gitignore", "target/\n"),
    ] {
        bench.file(name, text.as_bytes());
    }
    bench.file("bin", b"\0\0needle\n");
    let out = bench.root.join("out");
    fs::create_dir_all(&out).unwrap();
    fs::write(out.join("s"), "needle\n").unwrap();
    symlink(&out, bench.place.workspace.join("link")).unwrap();
}

#[tokio::test]
async fn a_search_stays_inside_and_skips_ignored_secret_and_binary_files() {
    let bench = FileFixture::new();
    tree(&bench);
    let seen = bench.run("file.search", json!({"query": "needle"})).await;
    assert_eq!(seen.stdout, "src/a.rs:1: fn needle() {}\nsrc/deep/b.rs:2: needle needle\n");
    assert_eq!(seen.parsed.as_ref().unwrap().total, 2);
    let input = json!({"query": "NEEDLE", "ignore_case": true, "glob": "*.rs", "path": "src/deep"});
    let seen = bench.run("file.search", input).await;
    assert_eq!(seen.stdout, "src/deep/b.rs:1: // Needle\nsrc/deep/b.rs:2: needle needle\n");
    let input = json!({"pattern": "^fn \\w+", "context": 1});
    let seen = bench.run("file.search", input).await;
    assert_eq!(seen.stdout, "src/a.rs:1: fn needle() {}\nsrc/a.rs:2- other\n");
    let seen = bench.run("file.search", json!({"pattern": "needle()("})).await;
    assert!(note(&seen).contains("searched for literally") && seen.exit_code == Some(0));
    assert!(note(&seen).contains("No line has `needle()(` in"), "{}", note(&seen));
}

#[tokio::test]
async fn a_search_gives_lines_files_or_counts_and_says_when_there_is_nothing() {
    let bench = FileFixture::new();
    tree(&bench);
    let seen = bench.run("file.search", json!({"query": "fn|two", "mode": "files"})).await;
    assert_eq!(seen.stdout, "src/a.rs\n");
    let counts = json!({"query": "needle", "output_mode": "count", "type": "rust"});
    assert_eq!(bench.run("file.search", counts).await.stdout, "src/a.rs: 1\nsrc/deep/b.rs: 1\n");
    let lines = json!({"query": "needle.*other", "multiline": true});
    let seen = bench.run("file.search", lines).await;
    assert_eq!(seen.stdout, "src/a.rs:1: fn needle() {}\nsrc/a.rs:2: other\n");
    let seen = bench.run("file.search", json!({"query": "nothing\\d"})).await;
    assert!(note(&seen).starts_with("No line matches /nothing\\d/ in "), "{}", note(&seen));
    assert_eq!(seen.exit_code, Some(0));
    let seen = bench.run("file.search", json!({"query": "fn needle()", "literal": true})).await;
    assert_eq!(seen.stdout, "src/a.rs:1: fn needle() {}\n");
    let seen = bench.run("file.search", json!({"query": "x", "type": "klingon"})).await;
    assert!(note(&seen).contains("no type `klingon`"), "{}", note(&seen));
}

#[tokio::test]
async fn a_patch_of_several_files_is_made_whole_or_not_at_all() {
    let bench = FileFixture::new();
    bench.file("a", b"one\ntwo\n");
    bench.file("b", b"three\n");
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n one\n-two\n+2\n*** Add File: c\n+new\n*** Delete File: b\n*** End Patch";
    let seen = bench.run("file.edit", json!({"patch": patch})).await;
    let change = seen.change.clone().expect("files change");
    assert_eq!((change.files().len(), change.added, change.removed), (3, 2, 2));
    let read = |name: &str| fs::read_to_string(bench.place.workspace.join(name)).ok();
    assert_eq!(
        (read("a"), read("b"), read("c")),
        (Some("one\n2\n".into()), None, Some("new\n".into()))
    );
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-one\n+1\n*** Update File: c\n@@\n-old\n+x\n*** End Patch";
    let seen = bench.run("file.edit", json!({"patch": patch})).await;
    assert!(note(&seen).contains("Nothing was changed"), "{}", note(&seen));
    assert_eq!(read("a").as_deref(), Some("one\n2\n"));
    // A file that cannot be written gives the others their contents back.
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-one\n+1\n*** Update File: c\n@@\n-new\n+x\n*** End Patch";
    fs::set_permissions(bench.place.workspace.join("c"), fs::Permissions::from_mode(0o444))
        .unwrap();
    let seen = bench.run("file.edit", json!({"patch": patch})).await;
    assert!(note(&seen).contains("read-only"), "{}", note(&seen));
    assert_eq!((read("a"), read("c")), (Some("one\n2\n".into()), Some("new\n".into())));
}

#[tokio::test]
async fn an_edit_of_a_file_that_is_not_there_names_those_beside_it() {
    let bench = FileFixture::new();
    bench.file("config.toml", b"a = 1\n");
    let input = json!({"path": "confg.toml", "old": "a", "new": "b"});
    let seen = bench.run("file.edit", input).await;
    assert!(note(&seen).contains("config.toml"), "{}", note(&seen));
}

#[tokio::test]
async fn a_search_finds_text_in_other_encodings_and_shows_it_readably() {
    let bench = FileFixture::new();
    let text = "第一行：这是一个用国标编码保存的文件，里面有常用的汉字。\n第二行：配置选项 key=1\n";
    let (gbk, _, _) = encoding_rs::GBK.encode(text);
    fs::write(bench.place.workspace.join("gbk.txt"), gbk).unwrap();
    let utf16: Vec<u8> = "\u{feff}配置 two\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(bench.place.workspace.join("utf16.txt"), utf16).unwrap();
    let seen = bench.run("file.search", json!({"query": "配置"})).await;
    assert!(seen.stdout.contains("gbk.txt:2: 第二行：配置选项 key=1\n"), "{}", seen.stdout);
    assert!(seen.stdout.contains("utf16.txt:1: 配置 two\n"), "{}", seen.stdout);
    let seen = bench.run("file.search", json!({"query": "key="})).await;
    assert_eq!(seen.stdout, "gbk.txt:2: 第二行：配置选项 key=1\n");
}

#[tokio::test]
async fn a_list_has_names_with_their_kinds() {
    let bench = FileFixture::new();
    tree(&bench);
    let seen = bench.run("file.list", json!({})).await;
    let expected =
        "bin\ndocs/\ndocs/c.md\nlink@\nserver.pem\nsrc/\nsrc/a.rs\nsrc/deep/\nsrc/deep/b.rs\n";
    assert_eq!(seen.stdout, expected);
    let seen = bench.run("file.list", json!({"glob": "**/*.rs", "path": "src"})).await;
    assert_eq!(seen.stdout, "a.rs\ndeep/b.rs\n");
    let seen = bench.run("file.list", json!({"depth": 1, "all": true})).await;
    assert!(seen.stdout.contains(".hidden\n") && seen.stdout.contains("target/\n"));
    let said = note(&bench.run("file.list", json!({"path": "sr"})).await);
    assert!(said.contains("Next to it: src"), "{said}");
}

#[tokio::test]
async fn a_patched_settings_file_leaves_a_copy_and_no_more_than_ten() {
    let bench = FileFixture::new();
    let file = bench.place.home.join(".slothtool/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "{\n\t\"n\": 0,\n\t\"z\": [1, 2]\n}").unwrap();
    for n in 1..=12 {
        let input = json!({"path": "~/.slothtool/settings.json", "set": {"n": n}});
        let seen = bench.run("config.json_patch", input).await;
        assert_eq!(seen.exit_code, Some(0), "{}", note(&seen));
        // Copies are named by the time.
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\n\t\"n\": 12,\n\t\"z\": [1, 2]\n}");
    let copies = fs::read_dir(file.parent().unwrap()).unwrap().count() - 1;
    assert_eq!(copies, 10);
}

#[test]
fn prompts_are_one_short_line_each() {
    for row in ROWS {
        assert!(row.prompt.len() <= 130 && !row.prompt.contains('\n'), "{}", row.name);
        assert!(row.prompt.starts_with(row.name));
    }
    assert!(Path::new("/").is_absolute());
}

#[tokio::test]
async fn a_text_in_another_encoding_is_read_and_edited_and_keeps_it() {
    let bench = FileFixture::new();
    let text = "第一行：配置文件的说明\r\n第二行：这里保存了用户的名称和地址\r\n";
    let bytes = encoding_rs::GBK.encode(text).0.into_owned();
    let path = bench.file("gbk.txt", &bytes);
    let seen = bench.run("file.read", json!({"path": "gbk.txt"})).await;
    assert_eq!(
        seen.stdout,
        text.replace("\r\n", "\n").replace("第一", "1\t第一").replace("第二", "2\t第二")
    );
    let edit = json!({"path": "gbk.txt", "old": "用户的名称", "new": "新的名称"});
    let seen = bench.run("file.edit", edit).await;
    assert_eq!(seen.exit_code, Some(0), "{}", note(&seen));
    let diff = seen.change.unwrap().diff;
    assert!(diff.contains("+第二行：这里保存了新的名称和地址"), "{diff}");
    let expected = text.replace("用户的名称", "新的名称");
    assert_eq!(fs::read(&path).unwrap(), *encoding_rs::GBK.encode(&expected).0);
    // What the encoding has no bytes for is refused, and nothing is written.
    let edit = json!({"path": "gbk.txt", "old": "新的名称", "new": "名称\u{1f600}\u{0e01}"});
    let before = fs::read(&path).unwrap();
    let seen = bench.run("file.edit", edit).await;
    assert_eq!(fs::read(&path).unwrap(), before, "{}", note(&seen));
    let utf16: Vec<u8> = "\u{feff}one\ntwo\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let path = bench.file("w.txt", &utf16);
    bench.run("file.edit", json!({"path": "w.txt", "old": "two", "new": "2"})).await;
    let expected: Vec<u8> = "\u{feff}one\n2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(fs::read(&path).unwrap(), expected);
}

#[tokio::test]
async fn any_lines_of_a_large_file_are_read() {
    let bench = FileFixture::new();
    let lines: String = (1..=3_000_000).map(|n| format!("line {n}\n")).collect();
    bench.file("large.log", lines.as_bytes());
    let read = |from: usize| {
        bench.run("file.read", json!({"path": "large.log", "from": from, "to": from + 1}))
    };
    let seen = read(2_400_000).await;
    assert_eq!(seen.stdout, "2400000\tline 2400000\n2400001\tline 2400001\n");
    assert!(note(&seen).contains("3000000"), "{}", note(&seen));
    let seen = read(3_000_001).await;
    assert!(note(&seen).contains("3000000 lines"), "{}", note(&seen));
}

#[tokio::test]
async fn what_is_no_file_is_named_and_neither_waited_for_nor_replaced() {
    let bench = FileFixture::new();
    let path = |name: &str| bench.place.workspace.join(name);
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, path("pipe"), rustix::fs::FileType::Fifo, mode, 0)
        .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
    for name in ["pipe", "socket"] {
        for (tool, input) in [
            ("file.read", json!({"path": name})),
            ("file.edit", json!({"path": name, "old": "a", "new": "b"})),
            ("file.write", json!({"path": name, "content": "x"})),
        ] {
            let said = match bench.judged(tool, input.clone()) {
                Verdict::Refuse(refused) => format!("{:?}", refused.judgement().task),
                _ => note(&bench.run(tool, input).await),
            };
            assert!(said.contains("is a pipe, a socket or a device"), "{tool} {name}: {said}");
        }
        assert!(!path(name).symlink_metadata().unwrap().is_file(), "{name}");
    }
}

#[test]
fn a_link_that_leads_out_asks_the_same_for_a_program_and_for_the_tool() {
    let bench = FileFixture::new();
    fs::write(bench.root.join("outside.txt"), "x").unwrap();
    symlink("../outside.txt", bench.place.workspace.join("out.txt")).unwrap();
    let work = StepAction::exec("cat", &["out.txt"]);
    let step = Step { id: "x".into(), work, requires: Requires::default(), cwd: None };
    let policy = Policy::default();
    let scene = PolicyContext { policy: &policy, place: &bench.place, world: &bench.world };
    for verdict in [assess(step, scene), bench.judged("file.read", json!({"path": "out.txt"}))] {
        let Verdict::Ask(held) = verdict else { panic!("{verdict:?}") };
        assert_eq!(held.judgement().risk.rule, "path.outside");
    }
}

#[tokio::test]
async fn a_file_with_two_names_keeps_both() {
    let bench = FileFixture::new();
    let path = bench.file("one", b"before\n");
    let other = bench.place.workspace.join("other");
    fs::hard_link(&path, &other).unwrap();
    bench.run("file.edit", json!({"path": "one", "old": "before", "new": "after"})).await;
    assert_eq!(fs::read(&other).unwrap(), b"after\n");
}

#[tokio::test]
async fn images_and_documents_are_handed_to_the_model_and_a_notebook_is_read_as_cells() {
    let bench = FileFixture::new();
    let mut image = Vec::new();
    let mut encoder = png::Encoder::new(&mut image, 3, 2);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header().unwrap().write_image_data(&[0, 50, 100, 150, 200, 250]).unwrap();
    bench.file("a.png", &image);
    bench.file("a.pdf", b"%PDF-1.4 and more");
    let seen = bench.run("file.read", json!({"path": "a.png"})).await;
    assert_eq!((seen.exit_code, seen.images[0].mime.as_str()), (Some(0), "image/png"));
    assert_eq!(note(&seen), "`a.png` is an image of 3x2; it follows.");
    let seen = bench.run("file.read", json!({"path": "a.pdf"})).await;
    assert!(seen.images[0].is_document() && note(&seen).contains("17 bytes"));
    let cell = json!({"cell_type": "code", "source": ["1 + 2"], "outputs": []});
    let notebook = format!("{}\n", json!({"cells": [cell], "nbformat": 4}));
    bench.file("a.ipynb", notebook.as_bytes());
    let seen = bench.run("file.read", json!({"path": "a.ipynb"})).await;
    assert_eq!(seen.stdout, "[code 1]\n1 + 2\n");
    assert!(note(&seen).contains("A notebook of 1 cell,"));
    let seen = bench.run("file.read", json!({"path": "a.ipynb", "to": 1})).await;
    assert!(seen.stdout.starts_with("1\t{\"cells\""), "its JSON, for an edit: {}", seen.stdout);
}

#[tokio::test]
async fn an_edit_says_which_fault_it_brought_and_keeps_still_about_those_before() {
    let bench = FileFixture::new();
    let path = bench.file("a.json", b"{\n  \"a\": 1\n}\n");
    bench.run("file.read", json!({"path": "a.json"})).await;
    let edit = |old: &str, new: &str| json!({"path": "a.json", "old": old, "new": new});
    let seen = bench.run("file.edit", edit("1", "1\n  \"b\": 2")).await;
    assert_eq!(seen.exit_code, Some(0), "it is made all the same");
    assert!(note(&seen).contains("`a.json` is not valid JSON now, line 3"), "{}", note(&seen));
    let seen = bench.run("file.edit", edit("2", "3")).await;
    let still = seen.note.as_ref().map(|note| note.text(Lang::En)).unwrap_or_default();
    assert!(!still.contains("JSON") || still.contains("line 3"), "{still}");
    let seen = bench.run("file.edit", edit("1\n", "1,\n")).await;
    assert!(seen.note.is_none_or(|note| !note.text(Lang::En).contains("not valid")));
    assert_eq!(fs::read(&path).unwrap(), b"{\n  \"a\": 1,\n  \"b\": 3\n}\n");
    let patch = "*** Begin Patch\n*** Add File: b.toml\n+a = [1,\n+b = 2\n*** Add File: c.txt\n+x\n\
                 *** End Patch";
    let seen = bench.run("file.edit", json!({"patch": patch})).await;
    assert!(note(&seen).contains("`b.toml` is not valid TOML now"), "{}", note(&seen));
}
