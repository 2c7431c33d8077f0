//! Queued messages, selected one by one.

use super::*;
use avocet_core::protocol::SettingOp;

#[test]
fn up_on_an_empty_input_selects_a_queued_message() {
    let mut state = screen();
    receive(&mut state, started());
    receive(&mut state, waits(&["one", "two"]));
    assert_eq!(hold(&mut state, KeyCode::Up, KeyModifiers::NONE), []);
    let effects = hold(&mut state, KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(effects, [ScreenEffect::Send(Op::Turn(TurnOp::Unqueue { id: SubmitId(1) }))]);
    assert_eq!(state.composer.display_text(), "two");
}

#[test]
fn queued_messages_are_taken_out_one_by_one_and_typing_leaves_the_queue() {
    let mut state = screen();
    receive(&mut state, started());
    receive(&mut state, waits(&["one", "two"]));
    hold(&mut state, KeyCode::Up, KeyModifiers::NONE);
    hold(&mut state, KeyCode::Up, KeyModifiers::NONE);
    let effects = hold(&mut state, KeyCode::Delete, KeyModifiers::NONE);
    assert_eq!(effects, [ScreenEffect::Send(Op::Turn(TurnOp::Unqueue { id: SubmitId(0) }))]);
    press(&mut state, "x");
    assert_eq!(state.composer.display_text(), "x");
    assert!(!state.queue.has_selection());
    let kept = state.draft();
    assert_eq!((kept.shown.as_str(), kept.queue), ("x", vec!["two".to_owned()]));
}

#[test]
fn messages_queued_at_exit_are_queued_again_and_reported() {
    let draft =
        avocet_config::draft::SavedDraft { queue: vec!["next".into()], ..Default::default() };
    let mut state = State::new(ScreenConfig { draft, ..ScreenConfig::default() });
    assert_eq!(state.requeue_op(), Some(Op::Turn(TurnOp::SetQueue { texts: vec!["next".into()] })));
    hold(&mut state, KeyCode::Up, KeyModifiers::NONE);
    hold(&mut state, KeyCode::Delete, KeyModifiers::NONE);
    assert!(state.draft().is_empty());
}

#[test]
fn enter_in_an_empty_input_sends_restored_messages_only_when_nothing_runs() {
    let draft =
        avocet_config::draft::SavedDraft { queue: vec!["next".into()], ..Default::default() };
    let mut state = State::new(ScreenConfig { draft, ..ScreenConfig::default() });
    let enter = |state: &mut State| hold(state, KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(enter(&mut state), [ScreenEffect::Send(Op::Turn(TurnOp::RunQueue))]);
    receive(&mut state, started());
    assert_eq!(enter(&mut state), []);
}

#[test]
fn queued_messages_run_in_the_order_shown() {
    let mut state = screen();
    receive(&mut state, started());
    receive(&mut state, waits(&["one"]));
    let write = |state: &mut State, text: &str| {
        press(state, text);
        let key = if text.starts_with('/') { KeyCode::Enter } else { KeyCode::Tab };
        hold(state, key, KeyModifiers::NONE)
    };
    let sends =
        |effects: &[ScreenEffect]| effects.iter().any(|it| matches!(it, ScreenEffect::Send(_)));
    assert!(!sends(&write(&mut state, "/mode low")));
    assert!(!sends(&write(&mut state, "two")), "it stands behind the command");
    assert!(!sends(&write(&mut state, "/mode high")));
    assert!(!sends(&write(&mut state, "three")));
    assert_eq!(
        state.queue.pending(),
        (
            vec!["one".to_owned()],
            ["/mode low", "two", "/mode high", "three"].map(str::to_owned).to_vec(),
        )
    );
    // The session's own message comes first.
    assert!(!sends(&receive(&mut state, ended(1))));
    receive(&mut state, waits(&[]));
    receive(&mut state, started());
    let mode = |mode| ScreenEffect::Send(Op::Setting(SettingOp::SetMode { mode }));
    let text = |text: &str| ScreenEffect::Send(Op::Turn(TurnOp::Submit { text: text.into() }));
    assert_eq!(receive(&mut state, ended(1)), [mode(protocol::Mode::Low), text("two")]);
    receive(&mut state, started());
    assert_eq!(receive(&mut state, ended(1)), [mode(protocol::Mode::High), text("three")]);
    assert!(state.queue.is_empty());
}

#[test]
fn escape_stops_and_returns_the_queue_to_the_input() {
    let mut state = screen();
    receive(&mut state, started());
    receive(&mut state, waits(&["one", "two"]));
    press(&mut state, "/mode low\n");
    press(&mut state, "a draft");
    let stop = [
        ScreenEffect::Send(Op::Turn(TurnOp::SetQueue { texts: Vec::new() })),
        ScreenEffect::Send(Op::Turn(TurnOp::Stop)),
    ];
    assert_eq!(press(&mut state, "\x1b"), stop);
    assert_eq!(state.composer.display_text(), "one\ntwo\n/mode low\na draft");
    assert!(state.queue.is_empty());
    receive(&mut state, waits(&[]));
    assert_eq!(receive(&mut state, ended(1)), [], "nothing starts by itself");
}

#[test]
fn enter_steers_a_running_turn_and_tab_queues() {
    let mut state = screen();
    receive(&mut state, started());
    let steer = |text: &str| ScreenEffect::Send(Op::Turn(TurnOp::Steer { text: text.into() }));
    let submit = |text: &str| ScreenEffect::Send(Op::Turn(TurnOp::Submit { text: text.into() }));
    assert_eq!(press(&mut state, "one\n"), [steer("one")]);
    assert_eq!(press(&mut state, "two\t"), [submit("two")]);
    assert_eq!(state.queue.rows(), 1, "the message is shown until the model has read it");
    let id = state.queue.steered().first().map(|message| message.id);
    receive(&mut state, protocol::Event::Steered { text: "one".into(), submit: id });
    assert_eq!(state.queue.rows(), 0);
    receive(&mut state, ended(1));
    assert_eq!(press(&mut state, "three\n"), [submit("three")], "no turn runs");
}

#[test]
fn a_message_with_files_is_not_steered_and_says_that_it_waits() {
    let mut state = screen();
    receive(&mut state, started());
    let sent = press(&mut state, "see @src/lib.rs\n");
    assert!(
        matches!(sent[..], [ScreenEffect::Send(Op::Turn(TurnOp::SubmitPrompt { .. }))]),
        "{sent:?}"
    );
    assert!(state.transcript.plain_text().contains("waits for the end of the turn"));
}

#[test]
fn steering_that_was_not_read_returns_to_the_input() {
    let mut state = screen();
    receive(&mut state, started());
    press(&mut state, "one\n");
    assert_eq!(state.draft().queue, ["one"], "a crash does not lose it");
    press(&mut state, "\x1b");
    assert_eq!(state.composer.display_text(), "one");
}

#[test]
fn the_setting_turns_enter_and_tab_round() {
    let preferences = crate::Preferences {
        enter_while_busy: avocet_config::BusyInput::Queue,
        ..Default::default()
    };
    let mut state = State::new(ScreenConfig { preferences, ..ScreenConfig::default() });
    receive(&mut state, started());
    let submit = ScreenEffect::Send(Op::Turn(TurnOp::Submit { text: "one".into() }));
    assert_eq!(press(&mut state, "one\n"), [submit]);
    let steer = ScreenEffect::Send(Op::Turn(TurnOp::Steer { text: "two".into() }));
    assert_eq!(press(&mut state, "two\t"), [steer]);
}

#[test]
fn a_sent_message_is_saved_at_once() {
    let mut state = screen();
    for (typed, kept) in [("hello\n", "hello"), ("/version\n", "/version"), ("!ls\n", "!ls")] {
        let mut effects: Vec<ScreenEffect> = Vec::new();
        for c in typed.chars() {
            let code = if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) };
            effects.extend(update(&mut state, TimedInput::key(10_000, code)));
        }
        let is_kept = |effect: &ScreenEffect| matches!(effect, ScreenEffect::SaveHistory { line, .. } if line == kept);
        assert!(effects.iter().any(is_kept), "{effects:?}");
    }
}
