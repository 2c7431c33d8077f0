//! Saved conversations in the real program: resumed, listed, searched, exported, forked and
//! rewound.

use std::fs;
use std::path::PathBuf;
use std::process::Output;
use std::time::Instant;

use serde_json::Value;

use crate::disk::Disk;
use crate::support::bench::TestDir;
use crate::support::pty::Screen;
use crate::support::server::{Reply, Server};
use crate::support::skip::{Reason, skip};
use crate::support::wait::{PATIENCE, assert_quick, wait_until};
use avocet::protocol::Event;
use avocet::store::{Database, Store};

trait PersistenceDir {
    fn store(&self) -> Store;
    fn file(&self) -> PathBuf;
    fn run(&self, args: &[&str]) -> Output;
    fn ask(&self, server: &Server, args: &[&str]) -> Output;
    fn screen(&self, server: &Server, args: &[&str]) -> Screen;
    fn listed(&self) -> Vec<Value>;
    fn first_id(&self) -> String;
    fn has_growing(&self, words: &str) -> bool;
}

impl PersistenceDir for TestDir {
    fn store(&self) -> Store {
        Store::in_folder(self.root.path().join("avocet/data"))
    }

    fn file(&self) -> PathBuf {
        self.store().file().unwrap()
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn ask(&self, server: &Server, args: &[&str]) -> Output {
        let url = server.base_url();
        self.run(&[&["--base-url", &url, "--model", "loop-1"], args].concat())
    }

    fn screen(&self, server: &Server, args: &[&str]) -> Screen {
        let url = server.base_url();
        let work = self.work();
        let fixed = ["--trust", work.to_str().unwrap(), "--base-url", &url, "--model", "loop-1"];
        Screen::start(&[&fixed, args].concat(), &self.envs(), &work, (100, 30))
    }

    fn listed(&self) -> Vec<Value> {
        let out = self.run(&["session", "list", "--json"]);
        out_of(&out).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn first_id(&self) -> String {
        self.listed()[0]["id"].as_str().unwrap().to_owned()
    }

    /// Whether the file has these words of a reply that is still growing.
    fn has_growing(&self, words: &str) -> bool {
        let Ok((disk, _)) = Database::open(&self.store()) else { return false };
        let work = self.work().canonicalize().unwrap();
        let Ok(Some(known)) = disk.last_in_folder(work.to_str().unwrap()) else { return false };
        let Ok(page) = disk.events(known.key, 0, i64::MAX) else { return false };
        let has = |event: &Event| matches!(event, Event::Delta { text } if text.contains(words));
        page.events.iter().any(|kept| has(&kept.event))
    }
}

fn out_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn exits(output: &Output, code: i32) {
    let (out, err) = (out_of(output), err_of(output));
    assert_eq!(output.status.code(), Some(code), "stdout: {out}\nstderr: {err}");
}

fn last_sent(server: &Server) -> String {
    server.requests().last().unwrap().json()["messages"].to_string()
}

#[track_caller]
fn leave(screen: &mut Screen) {
    screen.wait_until_idle();
    // Both at once: the second one counts for three seconds only, which a busy machine may exceed.
    screen.press("\x03\x03");
    screen.wait_for_exit();
}

#[test]
fn a_headless_run_continues_the_last_session() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Noted: 42."), Reply::chat("It was 42.")]);
    let none = bench.ask(&server, &["-c", "-p", "go on"]);
    exits(&none, 2);
    assert!(err_of(&none).contains("No conversation has been saved"), "{}", err_of(&none));
    exits(&bench.ask(&server, &["-p", "remember the number 42"]), 0);
    let second = bench.ask(&server, &["-c", "-p", "which number?"]);
    exits(&second, 0);
    assert_eq!(out_of(&second), "It was 42.\n");
    let sent = last_sent(&server);
    for words in ["remember the number 42", "Noted: 42.", "which number?"] {
        assert!(sent.contains(words), "{words}: {sent}");
    }
    let listed = bench.listed();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (listed[0]["title"].as_str(), listed[0]["turns"].as_u64()),
        (Some("remember the number 42"), Some(2))
    );
}

#[test]
fn no_save_saves_nothing() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Hi.")]);
    exits(&bench.ask(&server, &["--no-save", "-p", "hello"]), 0);
    assert!(!bench.file().exists());
    exits(&bench.ask(&server, &["--no-save", "-c", "-p", "hello"]), 2);
}

#[test]
fn saved_conversations_are_listed_searched_shown_exported_and_deleted() {
    let bench = TestDir::new();
    let token = format!("ghp_{}", "aB3d".repeat(9));
    let server = Server::start(vec![
        Reply::chat("登录页面已经修好了。"),
        Reply::chat(&format!("The token {token} is in the file.")),
    ]);
    exits(&bench.ask(&server, &["-p", "请修复登录页面"]), 0);
    exits(&bench.ask(&server, &["-p", "what is in <the> file?"]), 0);
    for words in ["修", "登录", "登录页面"] {
        let found = out_of(&bench.run(&["session", "search", words]));
        assert!(found.contains("请修复登录页面"), "{words}: {found}");
    }
    assert!(bench.listed().iter().all(|one| one["model"] == "loop-1"), "{:?}", bench.listed());
    let list = out_of(&bench.run(&["session", "list"]));
    assert!(list.contains("1 turn, loop-1,"), "{list}");
    let nothing = bench.run(&["session", "search", "狗"]);
    assert!(out_of(&nothing).contains("No saved conversation matches"), "{}", out_of(&nothing));
    let ids: Vec<String> =
        bench.listed().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
    let shown = out_of(&bench.run(&["session", "show", &ids[1]]));
    assert!(shown.contains("请修复登录页面") && shown.contains("已经修好了"), "{shown}");
    for (ending, holds) in [("md", "## You"), ("json", "turn_started"), ("html", "&lt;the&gt;")] {
        let file = format!("talk.{ending}");
        exits(&bench.run(&["session", "export", &ids[0], &file]), 0);
        let text = fs::read_to_string(bench.work().join(&file)).unwrap();
        assert!(text.contains(holds), "{text}");
        assert!(!text.contains(&token) && text.contains("secret:github-token"), "{text}");
    }
    let again = bench.run(&["session", "export", &ids[0], "talk.md"]);
    exits(&again, 1);
    assert!(err_of(&again).contains("already exists"), "{}", err_of(&again));
    let bytes = fs::read(bench.file()).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains(&token));
    exits(&bench.run(&["session", "delete", &ids[0], "zzzz"]), 1);
    assert_eq!(bench.listed().len(), 2, "all or none");
    exits(&bench.run(&["session", "delete", &ids[0]]), 0);
    assert_eq!(bench.listed().len(), 1);
    exits(&bench.run(&["session", "show", &ids[0]]), 1);
}

#[test]
fn a_session_open_in_another_window_is_not_written_to() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("One."), Reply::chat("Copy.")]);
    exits(&bench.ask(&server, &["-p", "hello there"]), 0);
    let id = bench.first_id();
    let _held = bench.store().lock(&id).unwrap().unwrap();
    for args in [&["-c", "-p", "go on"][..], &["-p", "go on", "resume", &id]] {
        let refused = bench.ask(&server, args);
        exits(&refused, 1);
        assert!(err_of(&refused).contains("another window"), "{}", err_of(&refused));
    }
    exits(&bench.run(&["session", "delete", &id]), 1);
    // A window may read it, and go on in a copy.
    let mut screen = bench.screen(&server, &["-c"]);
    screen.wait_for("hello there");
    screen.wait_for("it is read-only here");
    screen.press("more");
    screen.wait_for("› more");
    screen.press("\r");
    screen.wait_until_gone("› more");
    screen.press("/fork 另一份\r");
    screen.wait_for("This is now a copy");
    screen.press("more\r");
    screen.wait_for("Copy.");
    leave(&mut screen);
    let turns: Vec<u64> = bench.listed().iter().map(|one| one["turns"].as_u64().unwrap()).collect();
    assert_eq!(turns, [2, 1]);
    assert_eq!(bench.listed()[0]["title"], "另一份");
}

#[test]
fn a_killed_window_is_restored() {
    let bench = TestDir::new();
    let half = Reply::text(r#"{"type":"chat","message":"A long answer begins and then "#, 4);
    let server = Server::start(vec![
        Reply::chat("First answer."),
        Reply::cmd("I run it.", "ls", &["-a"]),
        Reply::chat("Listed."),
        half.hang_after(4),
        Reply::chat("Going on."),
    ]);
    let mut screen = bench.screen(&server, &[]);
    screen.wait_for("loop-1");
    screen.press("first question\r");
    screen.wait_for("First answer.");
    screen.press("list the files\r");
    screen.wait_for("Listed.");
    screen.wait_until_idle();
    screen.press("tell me more\r");
    screen.wait_for("and then");
    wait_until("what grows is written within a moment", || bench.has_growing("and then"));
    screen.signal("KILL");
    screen.wait_for_exit();

    let mut again = bench.screen(&server, &["-c"]);
    for text in ["first question", "First answer.", "ls -a", "Listed.", "and then"] {
        again.wait_for(text);
    }
    again.wait_for("Avocet ended before this turn did.");
    again.wait_for("Continued: first question");
    again.press("go on\r");
    again.wait_for("Going on.");
    let sent = last_sent(&server);
    for words in ["first question", "First answer.", "list the files", "and then", "interrupted"] {
        assert!(sent.contains(words), "{words}: {sent}");
    }
    leave(&mut again);
    // It was mended once, and is not broken any more.
    let mut third = bench.screen(&server, &["-c"]);
    third.wait_for("Going on.");
    third.wait_for("Avocet ended before this turn did.");
    leave(&mut third);
}

#[test]
fn turns_are_rewound_and_their_text_can_be_sent_again() {
    let bench = TestDir::new();
    let server = Server::start(vec![
        Reply::chat("Alpha."),
        Reply::chat("Beta."),
        Reply::chat("Gamma."),
        Reply::chat("Delta."),
    ]);
    let mut screen = bench.screen(&server, &[]);
    screen.wait_for("loop-1");
    for (words, answer) in [("one\r", "Alpha."), ("two\r", "Beta."), ("three\r", "Gamma.")] {
        screen.press(words);
        screen.wait_for(answer);
        screen.wait_until_idle();
    }
    // Twice within a second. A report of the focus follows: by itself, the second one waits for the
    // rest of a sequence.
    screen.press("\x1b\x1b\x1b[I");
    screen.wait_for("Go back to before");
    screen.press("tw");
    screen.wait_for("1/1");
    screen.press("\r");
    screen.wait_until_gone("Beta.");
    screen.wait_until_gone("Gamma.");
    screen.wait_for("two");
    screen.press(" again\r");
    screen.wait_for("Delta.");
    let sent = last_sent(&server);
    assert!(sent.contains("Alpha.") && sent.contains("two again"), "{sent}");
    assert!(!sent.contains("Beta.") && !sent.contains("three"), "{sent}");
    leave(&mut screen);
    let shown = out_of(&bench.run(&["session", "show", &bench.first_id()]));
    assert!(shown.contains("Delta.") && !shown.contains("Gamma."), "{shown}");
}

#[test]
fn a_rewind_asks_what_to_undo_and_the_model_is_told_of_the_files() {
    for (key, file, told) in [
        ("1", "one\n", "these files are as they were before them"),
        ("\x1b[B\r", "1\n", "Files that you changed in it stay changed"),
        ("files\r", "one\n", "these files are as they were before them"),
    ] {
        let bench = TestDir::new();
        let path = bench.work().join("a.txt");
        fs::write(&path, "one\n").unwrap();
        let data = serde_json::json!({ "commands": [
            { "tool": "file.edit", "input": { "path": "a.txt", "old": "one", "new": "1" } }
        ] });
        let edit = serde_json::json!({ "type": "cmd", "message": "I mend it.", "data": data });
        let server = Server::start(vec![
            Reply::chat("Alpha."),
            Reply::text(&edit.to_string(), 1),
            Reply::chat("Beta."),
            Reply::chat("Gamma."),
        ]);
        let mut screen = bench.screen(&server, &[]);
        screen.wait_for("loop-1");
        screen.press("hello\r");
        screen.wait_for("Alpha.");
        screen.wait_until_idle();
        screen.press("change it\r");
        screen.answer("Apply this edit", "y");
        screen.wait_for("Beta.");
        screen.wait_until_idle();
        screen.press("/rewind 1\r");
        screen.wait_for("What to undo");
        screen.press(key);
        screen.wait_until_gone("What to undo");
        screen.wait_for(if file == "1\n" { "Files stay as they are" } else { "Restored 1 file." });
        screen.wait_until_idle();
        assert_eq!(fs::read_to_string(&path).unwrap(), file);
        screen.press("\x15and now\r");
        screen.wait_for("Gamma.");
        let sent = last_sent(&server);
        assert!(sent.contains(told) && sent.contains("a.txt"), "{sent}");
        assert_eq!(sent.contains("Beta."), key.starts_with("files"), "{sent}");
        leave(&mut screen);
    }
}

#[test]
fn a_saved_conversation_is_chosen_from_a_list_that_can_be_searched() {
    let bench = TestDir::new();
    let server = Server::start(vec![
        Reply::chat("数据库迁移完成。"),
        Reply::chat("Built."),
        Reply::chat("Renamed fine."),
    ]);
    exits(&bench.ask(&server, &["-p", "迁移数据库"]), 0);
    exits(&bench.ask(&server, &["-p", "build it"]), 0);
    let mut screen = bench.screen(&server, &["resume"]);
    screen.wait_for("Saved conversations");
    screen.wait_for("build it");
    // Beside each stands the model that it had.
    let rows = screen.text();
    let row = rows.lines().find(|row| row.contains("build it")).unwrap();
    assert!(row.contains("loop-1"), "{rows}");
    // And below them the last words of the chosen one, also of a short list.
    screen.wait_for("Built.");
    screen.press("完成");
    screen.wait_for("1/1");
    screen.wait_until_gone("build it");
    screen.press("\r");
    screen.wait_until_gone("Saved conversations");
    screen.wait_for("数据库迁移完成。");
    screen.press("/rename 数据库的工作\r");
    screen.wait_for("Conversation renamed: 数据库的工作");
    screen.press("/new\r");
    screen.wait_until_gone("数据库迁移完成。");
    screen.press("another one\r");
    screen.wait_for("Renamed fine.");
    leave(&mut screen);
    let titles: Vec<String> =
        bench.listed().iter().map(|one| one["title"].as_str().unwrap().to_owned()).collect();
    assert_eq!(titles, ["another one", "build it", "数据库的工作"]);
}

#[test]
fn a_disk_error_is_reported_and_the_conversation_continues() {
    let bench = TestDir::new();
    // A folder stands where the file belongs.
    fs::create_dir_all(bench.file()).unwrap();
    fs::create_dir_all(bench.root.path().join("home")).unwrap();
    let server = Server::start(vec![Reply::chat("Hello."), Reply::chat("Still here.")]);
    let mut screen = bench.screen(&server, &[]);
    screen.wait_for("loop-1");
    screen.press("hi\r");
    screen.wait_for("Hello.");
    screen.wait_for("cannot be saved right now");
    screen.press("and now?\r");
    screen.wait_for("Still here.");
    assert_eq!(screen.text().matches("cannot be saved right now").count(), 1, "{}", screen.text());
    // The note has the file and what is wrong with it; the lowest line says it all the time.
    assert!(screen.text().contains("sessions.db") && screen.text().contains("directory"));
    assert!(screen.text().lines().last().unwrap_or_default().contains("not saved"));
    screen.press("/status\r");
    screen.wait_for("This session");
    let headless = bench.ask(&server, &["-c", "-p", "go on"]);
    exits(&headless, 1);
    // Nothing is lost without a word.
    screen.press("/new\r");
    screen.wait_for("would lose it");
    screen.press("\x04");
    screen.wait_for("Choose another path");
    screen.press("\x1b");
    screen.wait_until_gone("Choose another path");
    screen.press("\x04");
    screen.wait_for("Choose another path");
    screen.press("1");
    screen.wait_for_exit();
    let home = fs::read_dir(bench.root.path().join("home")).unwrap().flatten();
    let files: Vec<String> = home.filter_map(|file| fs::read_to_string(file.path()).ok()).collect();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    assert!(file.contains("Hello.") && file.contains("Still here."), "{file}");
}

#[test]
fn unsaved_work_is_written_elsewhere_on_exit_when_the_database_is_locked() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Hello."), Reply::chat("Never kept.")]);
    let mut screen = bench.screen(&server, &[]);
    screen.wait_for("Ask anything");
    screen.press("one\r");
    screen.wait_for("Hello.");
    screen.wait_until_idle();
    let other = rusqlite::Connection::open(bench.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    screen.press("two and\r\x04");
    let since = Instant::now();
    screen.wait_for_exit();
    let took = since.elapsed();
    assert!(took < PATIENCE, "{took:?}");
    let said = String::from_utf8_lossy(&screen.raw()).into_owned();
    assert!(said.contains("could not be saved"), "{said}");
    let data = fs::read_dir(bench.root.path().join("avocet/data")).unwrap().flatten();
    let mut texts = data.filter(|file| file.path().extension().is_some_and(|md| md == "md"));
    let text = fs::read_to_string(texts.next().unwrap().path()).unwrap();
    assert!(text.contains("one") && text.contains("two and"), "{text}");
    println!("left after {took:?}");
}

#[test]
fn plain_mode_asks_before_unsaved_work_is_discarded() {
    let place = |bench: &TestDir| bench.root.path().join("elsewhere.md");
    // The first choices are places of the program's own; the others come last.
    for (leave, answers) in [
        ("/exit\r", &["1"][..]),
        ("\x04", &["OTHER", "", "OTHER", "PLACE"]),
        ("\x03", &["nonsense", "LOSE"]),
    ] {
        let bench = TestDir::new();
        // A folder is where the file belongs.
        fs::create_dir_all(bench.file()).unwrap();
        fs::create_dir_all(bench.root.path().join("home")).unwrap();
        let server = Server::start(vec![Reply::chat("Hello.")]);
        let mut screen = bench.screen(&server, &["--linear"]);
        screen.wait_for("/exit quits");
        screen.press("one\r");
        screen.wait_for("Hello.");
        screen.wait_for("cannot be saved right now");
        // The sign that a line is read: the turn is over.
        screen.wait_for_column(2);
        screen.press(leave);
        screen.wait_for("If you quit now");
        screen.wait_for("Type the number of a choice");
        // Staying is possible as long as nothing was chosen.
        let number = |screen: &Screen, words: &str| {
            let text = screen.text();
            let line = text.lines().rev().find(|line| line.contains(words)).expect(&text);
            line.trim().split(':').next().unwrap().to_owned()
        };
        let stay = number(&screen, ": Stay");
        screen.press(&format!("{stay}\r"));
        screen.press("/help\r");
        screen.wait_until_gone("Type the number of a choice");
        screen.press(leave);
        screen.wait_for("Type the number of a choice");
        for answer in answers {
            let line = match *answer {
                "OTHER" => number(&screen, "Choose another path"),
                "LOSE" => number(&screen, "Quit without saving"),
                "PLACE" => place(&bench).display().to_string(),
                other => other.to_owned(),
            };
            screen.press(&format!("{line}\r"));
            if *answer == "OTHER" {
                screen.wait_for("Type the path of a file");
            }
        }
        assert_eq!(screen.wait_for_exit(), 0, "{leave:?}: {}", screen.text());
        let home = fs::read_dir(bench.root.path().join("home")).unwrap().flatten();
        let mut files: Vec<PathBuf> = home.map(|file| file.path()).collect();
        files.extend(Some(place(&bench)).filter(|file| file.exists()));
        files.retain(|file| file.extension().is_some_and(|ending| ending == "md"));
        assert_eq!(files.len(), usize::from(leave != "\x03"), "{leave:?}: {files:?}");
        for file in files {
            assert!(fs::read_to_string(file).unwrap().contains("Hello."));
        }
    }
}

#[test]
fn a_noninteractive_run_that_cannot_be_saved_fails_and_says_so() {
    let bench = TestDir::new();
    // A folder is where the file belongs.
    fs::create_dir_all(bench.file()).unwrap();
    for way in [&["-p", "one"][..], &["--json", "-p", "one"], &["--linear", "-p", "one"]] {
        let server = Server::start(vec![Reply::chat("Hello.")]);
        let done = bench.ask(&server, way);
        exits(&done, 1);
        assert!(out_of(&done).contains("Hello."), "{way:?}: {}", out_of(&done));
        assert!(err_of(&done).contains("not saved"), "{way:?}: {}", err_of(&done));
    }
}

#[test]
fn a_locked_database_does_not_delay_exiting() {
    assert_quick("the end", || {
        let bench = TestDir::new();
        let server = Server::start(vec![Reply::chat("Hello."), Reply::chat("Never kept.")]);
        let mut screen = bench.screen(&server, &["--linear"]);
        screen.wait_for("/exit quits");
        screen.press("one\r");
        screen.wait_for("Hello.");
        let other = rusqlite::Connection::open(bench.file()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        screen.press("two and\r");
        screen.wait_for("Never kept.");
        let since = Instant::now();
        screen.signal("TERM");
        screen.wait_for_exit();
        let took = since.elapsed();
        let said = String::from_utf8_lossy(&screen.raw()).into_owned();
        assert!(said.contains("could not be saved"), "{said}");
        took
    });
}

#[test]
fn a_database_locked_from_the_start_delays_a_run_by_at_most_three_seconds() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Hello.")]);
    exits(&bench.ask(&server, &["-p", "one"]), 0);
    for held in [
        "BEGIN IMMEDIATE",
        "BEGIN EXCLUSIVE",
        "PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; CREATE TABLE held(a)",
    ] {
        let other = rusqlite::Connection::open(bench.file()).unwrap();
        other.execute_batch(held).unwrap();
        for way in [&["-p", "one"][..], &["--json", "-p", "one"], &["--linear", "-p", "one"]] {
            assert_quick(&format!("{held}, {way:?}"), || {
                let server = Server::start(vec![Reply::chat("Hello.")]);
                let since = Instant::now();
                let done = bench.ask(&server, way);
                let took = since.elapsed();
                exits(&done, 1);
                let (out, err) = (out_of(&done), err_of(&done));
                assert!(out.contains("Hello."), "{held}, {way:?}: {out}");
                assert!(err.contains("was not saved"), "{way:?}: {err}");
                assert!(err.contains("sessions.db"), "{way:?}: {err}");
                // With `--json` the warning is an event.
                assert!((out + &err).contains("cannot be saved right now"), "{way:?}: {err}");
                took
            });
        }
    }
}

#[test]
fn no_command_prints_a_password_in_an_address() {
    let bench = TestDir::new();
    let with = |address: &str| address.replace("http://", "http://me:s3cretpw@") + "?key=s3cretpw";
    let heard = Server::start(vec![Reply::chat("Hello."), Reply::chat("Hello.")]);
    let settings = bench.root.path().join("avocet/config.toml");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    for address in [with(&heard.base_url()), with("http://127.0.0.1:9/v1")] {
        let profile = format!("[profiles.one]\nbase_url = \"{address}\"\n");
        for (file, given) in [(profile.as_str(), &[][..]), ("", &["--base-url", &address][..])] {
            fs::write(&settings, file).unwrap();
            for command in [
                &["config", "get"][..],
                &["config", "get", "--json"],
                &["config", "get", "profiles.one.base_url"],
                &["doctor"],
                &["doctor", "--json"],
                &["model", "list"],
                &["model", "list", "--json"],
                &["-p", "hi"],
                &["--json", "-p", "hi"],
            ] {
                let done = bench.run(&[given, command].concat());
                let said = out_of(&done) + &err_of(&done);
                assert!(!said.contains("s3cretpw"), "{given:?} {command:?}: {said}");
            }
        }
    }
    fs::remove_file(settings).unwrap();
    let address = with(&heard.base_url());
    let work = bench.work().display().to_string();
    let args = ["--trust", &work, "--base-url", &address, "--model", "loop-1"];
    let mut screen = Screen::start(&args, &bench.envs(), &bench.work(), (100, 30));
    screen.wait_for("Ask anything");
    screen.press("/status\r");
    screen.wait_for("127.0.0.1");
    leave(&mut screen);
    assert!(!String::from_utf8_lossy(&screen.raw()).contains("s3cretpw"));
}

#[test]
fn an_unreadable_file_is_named_with_the_cause() {
    let bench = TestDir::new();
    let root = bench.root.path().join("avocet");
    for name in ["config.toml", "data/trust.json", "data/sessions.db", "data/approvals"] {
        let path = root.join(name);
        for fault in ["folder", "loop"] {
            if fault == "folder" && name.ends_with("approvals") {
                continue;
            }
            let _ = fs::remove_dir_all(&root);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match fault {
                "folder" => fs::create_dir(&path).unwrap(),
                _ => std::os::unix::fs::symlink(&path, &path).unwrap(),
            }
            let server = Server::start(vec![Reply::chat("Hello.")]);
            let done = bench.ask(&server, &["-p", "hi"]);
            let said = err_of(&done);
            let named = said.lines().any(|line| line.contains(&*path.to_string_lossy()));
            assert!(named, "{name}, {fault}: {said}");
            assert!(out_of(&done).contains("Hello."), "{name}, {fault}: {}", out_of(&done));
            let cause = ["is a directory", "not a regular file", "symbolic links"];
            assert!(cause.iter().any(|cause| said.contains(cause)), "{name}, {fault}: {said}");
            assert!(path.is_dir() || path.is_symlink(), "{name}, {fault}: it stays as it was");
        }
    }
}

#[test]
fn settings_that_cannot_be_read_are_not_printed_as_if_they_were_none() {
    let bench = TestDir::new();
    let file = bench.root.path().join("avocet/config.toml");
    for fault in ["folder", "loop", "torn"] {
        let _ = fs::remove_file(&file).or_else(|_| fs::remove_dir(&file));
        match fault {
            "folder" => fs::create_dir(&file).unwrap(),
            "loop" => std::os::unix::fs::symlink(&file, &file).unwrap(),
            _ => fs::write(&file, "mode = \"low").unwrap(),
        }
        for args in
            [&["config", "get", "mode"][..], &["config", "get"], &["config", "get", "--json"]]
        {
            let done = bench.command(args).output().unwrap();
            exits(&done, 2);
            assert_eq!(out_of(&done), "", "{fault}, {args:?}");
            assert!(err_of(&done).contains(&*file.to_string_lossy()), "{}", err_of(&done));
        }
        exits(&bench.command(&["config", "path"]).output().unwrap(), 0);
    }
}

#[test]
fn what_keeps_history_and_drafts_from_being_saved_is_named_with_the_cause() {
    for (name, fault, cause) in [
        ("state", "file", "not a directory"),
        ("state", "loop", "symbolic links"),
        ("state/history", "folder", "is a directory"),
        ("state/history", "loop", "symbolic links"),
        ("state/drafts", "file", "not a directory"),
        ("state/drafts", "loop", "symbolic links"),
    ] {
        let bench = TestDir::new();
        let path = bench.root.path().join("avocet").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match fault {
            "folder" => fs::create_dir(&path).unwrap(),
            "file" => fs::write(&path, "mine").unwrap(),
            _ => std::os::unix::fs::symlink(&path, &path).unwrap(),
        }
        let server = Server::start(vec![]);
        let mut screen = bench.screen(&server, &[]);
        screen.wait_for("will not be saved");
        let shown: String = screen.text().split_whitespace().collect();
        let told = format!("`{}`isnotwritable:", path.display());
        let told = shown.split(&told).nth(1).unwrap_or_default();
        assert!(told.contains(&cause.replace(' ', "")), "{name}, {fault}: {}", screen.text());
        leave(&mut screen);
        assert!(path.symlink_metadata().is_ok(), "{name}, {fault}: it stays as it was");
    }
}

#[test]
fn an_extension_that_cannot_be_read_is_named_with_the_cause() {
    let bench = TestDir::new();
    for (folder, list) in [("bots", ["bot", "list"]), ("commands", ["command", "list"])] {
        let file = bench.root.path().join("avocet").join(folder).join("mine.toml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&file, &file).unwrap();
        let done = bench.command(&list).output().unwrap();
        let said = format!("{}{}", out_of(&done), err_of(&done));
        assert!(said.contains("mine.toml") && said.contains("symbolic links"), "{list:?}: {said}");
    }
}

#[test]
fn a_damaged_file_is_set_aside_and_its_readable_rows_are_kept() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Kept safe."), Reply::chat("Yes.")]);
    exits(&bench.ask(&server, &["-p", "keep this"]), 0);
    // A clean end leaves all of it in the one file.
    assert!(!bench.file().with_extension("db-wal").exists());
    let mut bytes = fs::read(bench.file()).unwrap();
    bytes[..64].fill(0);
    fs::write(bench.file(), bytes).unwrap();
    let mut screen = bench.screen(&server, &["-c"]);
    screen.wait_for("was damaged");
    screen.wait_for("Kept safe.");
    screen.press("still there?\r");
    screen.wait_for("Yes.");
    leave(&mut screen);
    assert!(bench.root.path().join("avocet/data/sessions.damaged-1.db").exists());
}

#[test]
fn the_screen_appears_before_the_conversation_is_loaded() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Noted: 42.")]);
    exits(&bench.ask(&server, &["-p", "remember the number 42"]), 0);
    // Nobody opens the file as long as this is held.
    let gate = fs::File::options().append(true).open(bench.file().with_file_name("sessions.lock"));
    let gate = gate.unwrap();
    gate.lock().unwrap();
    let mut screen = bench.screen(&server, &["-c"]);
    screen.wait_for("Ask anything");
    screen.press("typed meanwhile");
    screen.wait_for("typed meanwhile");
    assert!(!screen.text().contains("Noted: 42."), "{}", screen.text());
    gate.unlock().unwrap();
    screen.wait_for("Noted: 42.");
    assert!(screen.text().contains("typed meanwhile"), "{}", screen.text());
    screen.press("\x15");
    leave(&mut screen);
}

#[test]
fn on_a_full_disk_the_session_continues_and_is_saved_once_space_is_free() {
    let bench = TestDir::new();
    let Some(disk) = Disk::mount(&bench.path("avocet/data"), "size=400k") else {
        return skip(Reason::NoMount);
    };
    let long = "a long answer ".repeat(30_000);
    let server = Server::start(vec![
        Reply::chat("Short."),
        Reply::chat(&long),
        Reply::chat("Still here."),
        Reply::chat("And after."),
    ]);
    let mut screen = bench.screen(&server, &[]);
    screen.wait_for("Ask anything");
    screen.press("first\r");
    screen.wait_for("Short.");
    screen.press("second\r");
    screen.wait_for("cannot be saved right now");
    screen.press("third\r");
    screen.wait_for("Still here.");
    // Nobody has to say anything for it to be tried again.
    disk.remount("size=8m");
    screen.wait_for("is saved again");
    screen.press("fourth\r");
    screen.wait_for("And after.");
    leave(&mut screen);
    let id = bench.first_id();
    let shown = bench.run(&["session", "show", &id]);
    exits(&shown, 0);
    for words in ["Short.", long.trim_end(), "Still here.", "And after."] {
        assert!(out_of(&shown).contains(words), "{}", words.split_at(5).0);
    }
}

#[test]
fn a_full_disk_does_not_delay_exiting() {
    let bench = TestDir::new();
    let data = bench.root.path().join("avocet/data");
    let Some(_disk) = Disk::mount(&data, "size=64k") else { return skip(Reason::NoMount) };
    assert!(fs::write(data.join("full"), vec![b'x'; 1 << 20]).is_err(), "there was room");
    for (way, begun) in [(&[][..], "Ask anything"), (&["--linear"][..], "/exit quits")] {
        assert_quick(&format!("{way:?}"), || {
            let server = Server::start(vec![Reply::chat("Hello.")]);
            let mut screen = bench.screen(&server, way);
            screen.wait_for(begun);
            screen.press("one\r");
            screen.wait_for("Hello.");
            let since = Instant::now();
            screen.signal("TERM");
            screen.wait_for_exit();
            let took = since.elapsed();
            let said = String::from_utf8_lossy(&screen.raw()).into_owned();
            assert!(said.contains("could not be saved"), "{way:?}: {said}");
            took
        });
    }
    for way in [&["-p", "one"][..], &["--json", "-p", "one"]] {
        assert_quick(&format!("{way:?}"), || {
            let server = Server::start(vec![Reply::chat("Hello.")]);
            let since = Instant::now();
            let done = bench.ask(&server, way);
            let took = since.elapsed();
            exits(&done, 1);
            let said = out_of(&done) + &err_of(&done);
            assert!(said.contains("cannot be saved right now"), "{way:?}: {said}");
            took
        });
    }
}

#[test]
fn a_read_only_disk_is_reported_and_nothing_is_lost() {
    let bench = TestDir::new();
    let Some(disk) = Disk::mount(&bench.path("avocet/data"), "size=4000k") else {
        return skip(Reason::NoMount);
    };
    let server = Server::start(vec![
        Reply::chat("The first."),
        Reply::chat("The second."),
        Reply::chat("The third."),
    ]);
    exits(&bench.ask(&server, &["-p", "one"]), 0);
    disk.remount("ro");
    let said = bench.ask(&server, &["-p", "two"]);
    exits(&said, 1);
    assert_eq!(out_of(&said), "The second.\n");
    assert!(err_of(&said).contains("cannot be saved right now"), "{}", err_of(&said));
    disk.remount("rw");
    exits(&bench.ask(&server, &["-c", "-p", "three"]), 0);
    assert!(last_sent(&server).contains("The first."), "{}", last_sent(&server));
}

#[test]
fn a_folder_removed_during_a_session_is_recreated_with_the_whole_session() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("The first."), Reply::chat("The second.")]);
    let mut screen = bench.screen(&server, &[]);
    screen.wait_for("Ask anything");
    screen.press("one\r");
    screen.wait_for("The first.");
    fs::remove_dir_all(bench.root.path().join("avocet/data")).unwrap();
    screen.press("two\r");
    screen.wait_for("Everything was written to");
    screen.wait_for("The second.");
    leave(&mut screen);
    let shown = bench.run(&["session", "show", &bench.first_id()]);
    assert!(out_of(&shown).contains("The first.") && out_of(&shown).contains("The second."));
}

#[test]
fn every_reading_command_repairs_a_damaged_file_and_says_so() {
    for args in [
        &["session", "list"][..],
        &["session", "search", "Kept"],
        &["session", "show", "ID"],
        &["session", "export", "ID"],
        &["-c", "-p", "go on"],
    ] {
        let bench = TestDir::new();
        let long = "Kept safe. ".repeat(3_000);
        let replies = [Reply::chat(&long), Reply::chat(&long), Reply::chat("Yes.")];
        let server = Server::start(replies.to_vec());
        exits(&bench.ask(&server, &["-p", "keep this"]), 0);
        let id = bench.first_id();
        exits(&bench.ask(&server, &["-c", "-p", "and this"]), 0);
        // All but the first pages and the last ones, so that opening it finds nothing wrong.
        let mut bytes = fs::read(bench.file()).unwrap();
        let pages = bytes.len() / 4096;
        for page in 19..pages - 1 {
            bytes[page * 4096..(page + 1) * 4096].fill(0);
        }
        fs::write(bench.file(), bytes).unwrap();
        let args: Vec<&str> =
            args.iter().map(|arg| if *arg == "ID" { &id } else { *arg }).collect();
        let done = bench.ask(&server, &args);
        let said = format!("{}{}", out_of(&done), err_of(&done));
        let aside = bench.file().with_file_name("sessions.damaged-1.db").exists();
        // Where nothing of what is gone was needed, there is nothing to be said.
        assert!(said.contains("was damaged") == aside, "{args:?}: {said}");
        assert!(!said.contains("malformed"), "{args:?}: {said}");
    }
}

#[test]
fn a_session_goes_on_in_a_file_that_replaces_its_own() {
    let bench = TestDir::new();
    let server = Server::start(vec![
        Reply::chat("Elsewhere."),
        Reply::chat("The first."),
        Reply::chat("The second."),
    ]);
    exits(&bench.ask(&server, &["-p", "zero"]), 0);
    let backup = bench.root.path().join("backup.db");
    fs::copy(bench.file(), &backup).unwrap();
    let mut screen = bench.screen(&server, &[]);
    screen.wait_for("Ask anything");
    screen.press("one\r");
    screen.wait_for("The first.");
    screen.wait_until_idle();
    fs::rename(&backup, bench.file()).unwrap();
    screen.press("two\r");
    screen.wait_for("was replaced by another file");
    screen.wait_for("The second.");
    leave(&mut screen);
    assert_eq!(bench.listed().len(), 2);
    let shown = || out_of(&bench.run(&["session", "show", &bench.first_id()]));
    assert!(shown().contains("The second.") && !shown().contains("The first."), "{}", shown());
    let mut files = fs::read_dir(bench.file().parent().unwrap()).unwrap().flatten();
    let aside = files.find(|file| file.file_name().to_string_lossy().contains(".replaced-"));
    fs::copy(aside.unwrap().path(), bench.file()).unwrap();
    assert!(shown().contains("The first."), "{}", shown());
}
