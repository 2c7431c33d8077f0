//! The screen in a real terminal: whatever it switches on it switches off again.
//!
//! The program under test is this test itself, started again in a pty with one of the ignored tests
//! below: each is a small session around [`avocet::tui::run()`].

use std::path::Path;
use std::time::Duration;

use crate::support::pty::{Modes, Screen};
use crate::support::test_name;
use avocet::protocol::{
    Event, ModelMessage, Op, SessionInfo, Submission, TurnOp, TurnOrigin, TurnOutcome, Usage,
};
use avocet::tui::{self, ScreenConfig, terminal};
use tokio::sync::mpsc;

fn start(child: &str, size: (u16, u16)) -> Screen {
    let child = test_name(module_path!(), child);
    let args = [child.as_str(), "--exact", "--ignored", "--nocapture", "--test-threads=1"];
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    Screen::start_program(std::env::current_exe().unwrap(), &args, &[("", ""); 0], here, size)
}

#[test]
fn a_question_gets_an_answer_and_ctrl_c_leaves() {
    let mut screen = start("child_echoes", (80, 24));
    screen.wait_for("Ask anything");
    assert!(screen.modes().alternate && screen.modes().paste && screen.modes().mouse);
    screen.press("hello 中文");
    screen.wait_for("hello 中文");
    screen.wait_for_cursor((12, 21));
    screen.press("\r");
    screen.wait_for("You said: hello 中文");
    screen.wait_until_idle();
    // It is asked for three seconds: a busy machine may miss it, and then it is asked again.
    let is_asked = (0..5).any(|_| {
        screen.press("\x03");
        screen.shows_within("Press Ctrl-C again", Duration::from_secs(4))
    });
    assert!(is_asked, "{}", screen.text());
    // If the first one is too old for the second by now, these are two.
    screen.press("\x03\x03");
    screen.wait_for("UserQuit: left");
    screen.wait_for_exit();
    assert_eq!(screen.modes(), Modes::default());
}

#[test]
fn a_panic_restores_the_terminal_before_it_is_reported() {
    let mut screen = start("child_panics", (80, 24));
    screen.wait_for("a defect of ours");
    screen.wait_for_exit();
    assert_eq!(screen.modes(), Modes::default());
    let raw = String::from_utf8_lossy(&screen.raw()).into_owned();
    let left = raw.find("\x1b[?1049l").unwrap();
    assert!(left < raw.find("a defect of ours").unwrap(), "told on the normal screen");
    assert!(raw.contains("\x1b[<1u"), "the keyboard is as it was");
}

#[test]
fn a_signal_ends_the_session_and_restores_the_terminal() {
    for (signal, number) in [("TERM", 15), ("HUP", 1)] {
        let mut screen = start("child_echoes", (80, 24));
        screen.wait_for("Ask anything");
        screen.press("a draft");
        screen.wait_for("a draft");
        screen.signal(signal);
        screen.wait_for(&format!("signal {number}, draft `a draft`"));
        screen.wait_for_exit();
        assert_eq!(screen.modes(), Modes::default(), "{signal}");
    }
}

#[test]
fn many_resizes_end_in_a_clean_frame() {
    let mut screen = start("child_echoes", (80, 24));
    screen.wait_for("Ask anything");
    for size in [(3, 2), (200, 50), (40, 10), (1, 1), (0, 0), (19, 3), (120, 8), (100, 30)] {
        screen.resize(size);
    }
    screen.press("still here");
    screen.wait_for("still here");
    screen.press("\r");
    screen.wait_for("You said: still here");
    assert_eq!(screen.text().lines().filter(|line| line.contains("You said")).count(), 1);
    screen.press("\x04");
    screen.wait_for_exit();
}

#[test]
fn a_terminal_without_a_size_is_handled() {
    let mut screen = start("child_echoes", (0, 0));
    screen.wait_for_bytes("\x1b[?1049h");
    screen.resize((80, 24));
    screen.wait_for("Ask anything");
    screen.press("\x04");
    screen.wait_for_exit();
}

#[test]
fn a_big_paste_is_one_unit_and_sends_nothing() {
    let mut screen = start("child_echoes", (80, 24));
    screen.wait_for("Ask anything");
    screen.paste(&"a line\r".repeat(132));
    screen.wait_for("[pasted 132 lines]");
    screen.press("\r");
    screen.wait_for("132 lines came");
    screen.press("\x04");
    screen.wait_for_exit();
}

#[test]
#[ignore = "the program of the other tests"]
fn child_echoes() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (ops, inbox) = mpsc::channel(16);
    let (outbox, events) = mpsc::channel(64);
    let session = std::thread::spawn(move || echo(inbox, &outbox));
    let facts =
        SessionInfo { model: "echo".into(), cwd: "/tmp/shop".into(), ..SessionInfo::default() };
    let config = ScreenConfig { facts, ..ScreenConfig::default() };
    let keep: tui::SaveSettingFn = std::sync::Arc::new(|_, _| Ok(()));
    let exit = runtime.block_on(tui::run(config, ops, events, keep)).unwrap();
    session.join().unwrap();
    match exit.cause {
        tui::Cause::Signal(number) => println!("signal {number}, draft `{}`", exit.draft.shown),
        cause => println!("{cause:?}: left"),
    }
}

/// A session that says back what it is told.
fn echo(mut inbox: mpsc::Receiver<Submission>, outbox: &mpsc::Sender<Event>) {
    while let Some(submission) = inbox.blocking_recv() {
        let Op::Turn(TurnOp::Submit { text }) = submission.op else { continue };
        let lines = text.lines().count();
        let message = match lines {
            1 => format!("You said: {text}"),
            _ => format!("{lines} lines came"),
        };
        let events = [
            Event::TurnStarted { turn: 1, text, origin: TurnOrigin::Typed, submit: None },
            Event::Replied(ModelMessage { message, ..ModelMessage::default() }),
            Event::TurnEnded {
                turn: 1,
                ending: TurnOutcome::Done,
                usage: Usage::default(),
                elapsed_ms: 1,
            },
        ];
        events.into_iter().for_each(|event| drop(outbox.blocking_send(event)));
    }
}

#[test]
#[ignore = "the program of the other tests"]
fn child_panics() {
    let _screen = terminal::Screen::enter(false, avocet::tools::exec::Watchdog::default()).unwrap();
    panic!("a defect of ours");
}
