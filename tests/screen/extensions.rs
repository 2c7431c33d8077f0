//! The question before a bot is deleted, on a terminal.

use std::fs;
use std::time::Duration;

use crate::support::bench::TestDir;
use crate::support::pty::Screen;

#[test]
fn what_was_typed_before_a_deletion_was_asked_about_is_no_answer() {
    let is_no_answer = |has_appeared: bool| {
        let bench = TestDir::new();
        fs::create_dir_all(bench.path("avocet/bots")).unwrap();
        fs::write(bench.path("avocet/bots/b.toml"), "").unwrap();
        let work = bench.work();
        let args = ["--trust", work.to_str().unwrap(), "bot", "delete", "b"];
        let mut screen = Screen::start(&args, &bench.envs(), &work, (100, 20));
        if has_appeared {
            screen.wait_for("b.toml");
        }
        screen.press("y\r");
        let is_ignored = screen.shows_within("is not taken as an answer", Duration::from_secs(3));
        assert!(!is_ignored || bench.path("avocet/bots/b.toml").exists());
        is_ignored
    };
    // Before the question is there, and while it has just appeared. On a busy machine the line may
    // come after that, and is an answer.
    for has_appeared in [false, true] {
        assert!((0..8).any(|_| is_no_answer(has_appeared)), "{has_appeared}");
    }
}
