//! Tests of the screen's behaviour by keys and events; only questions need a frame first.

use avocet_core::protocol;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;
use crate::draw_frame;
use crate::state::ScreenConfig;
use avocet_core::i18n::{Lang, Phrase};
use avocet_core::protocol::{
    ApprovalScope, Ask, AskId, Decision, ExtensionOp, ModelMessage, ModelOp, Question, QuestionOp,
    QueuedMessage, Reason, Requires, Risk, SettingOp, Step, StepAction, StepQuestion, SubmitId,
    Tier, TurnOrigin, TurnOutcome, Usage,
};

mod answering;
mod asking;
mod config_editor;
mod copying;
mod early_keys;
mod failures;
mod focus;
mod palette;
mod pictures;
mod question;
mod question_rows;
mod queueing;
mod settings;
mod start_page;
mod typed_words;
mod typing;
mod writing;

const SIZE: (u16, u16) = (80, 24);

fn screen() -> State {
    State::new(ScreenConfig { history: vec!["earlier".into()], ..ScreenConfig::default() })
}

/// Each character is a key; `\n` Enter, `\t` Tab, `\x1b` Esc, `\x08` Backspace.
fn press(state: &mut State, keys: &str) -> Vec<ScreenEffect> {
    press_at(state, keys, 10_000)
}

fn press_at(state: &mut State, keys: &str, at: Millis) -> Vec<ScreenEffect> {
    keys.chars()
        .flat_map(|c| {
            let code = match c {
                '\n' => KeyCode::Enter,
                '\t' => KeyCode::Tab,
                '\x1b' => KeyCode::Esc,
                '\x08' => KeyCode::Backspace,
                c => KeyCode::Char(c),
            };
            visible_effects(update(state, TimedInput::key(at, code)))
        })
        .collect()
}

/// Presses keys, and lets the time pass in which a word would go on.
fn answer_at(state: &mut State, keys: &str, at: Millis) -> Vec<ScreenEffect> {
    let mut effects = press_at(state, keys, at);
    let at = at + crate::guard::WORD;
    effects.extend(visible_effects(update(state, TimedInput { at, input: ScreenInput::Tick })));
    effects
}

fn hold(state: &mut State, code: KeyCode, modifiers: KeyModifiers) -> Vec<ScreenEffect> {
    visible_effects(update(state, TimedInput::key(10_000, KeyEvent::new(code, modifiers))))
}

fn paste(state: &mut State, text: &str) -> Vec<ScreenEffect> {
    update(state, TimedInput { at: 10_000, input: ScreenInput::Paste(text.into()) })
}

fn ctrl_c(state: &mut State, at: Millis) -> Vec<ScreenEffect> {
    visible_effects(update(
        state,
        TimedInput::key(at, KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)),
    ))
}

fn receive(state: &mut State, event: protocol::Event) -> Vec<ScreenEffect> {
    visible_effects(update(state, TimedInput::session(1_000, event)))
}

const STOP: ScreenEffect = ScreenEffect::Send(Op::Turn(TurnOp::Stop));

/// Effects without the window title, history entries, and file searches.
fn visible_effects(effects: Vec<ScreenEffect>) -> Vec<ScreenEffect> {
    let quiet = |effect: &ScreenEffect| {
        matches!(
            effect,
            ScreenEffect::Title(_)
                | ScreenEffect::SaveHistory { .. }
                | ScreenEffect::Send(Op::Extension(ExtensionOp::RefreshExtensions))
        )
    };
    effects.into_iter().filter(|effect| !quiet(effect)).collect()
}

fn draw(state: &mut State, (width, height): (u16, u16)) {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a test terminal");
    terminal.draw(|frame| drop(draw_frame(state, frame, 10_000))).expect("a frame");
}

fn sends(text: &str) -> Vec<ScreenEffect> {
    vec![ScreenEffect::Send(Op::Turn(TurnOp::Submit { text: text.into() }))]
}

fn decides(decision: Decision) -> Vec<ScreenEffect> {
    vec![ScreenEffect::Send(Op::Question(QuestionOp::Decide { ask: AskId(7), decision }))]
}

/// Messages that wait, with ids from 0 on.
fn waits(texts: &[&str]) -> protocol::Event {
    let ids = (0..).map(SubmitId);
    let texts = texts.iter().map(|text| (*text).to_owned());
    let messages = ids.zip(texts).map(|(id, text)| QueuedMessage { id, text }).collect();
    protocol::Event::Queued { messages }
}

fn started() -> protocol::Event {
    protocol::Event::TurnStarted {
        turn: 1,
        text: "go".into(),
        origin: TurnOrigin::Typed,
        submit: None,
    }
}

fn ended(elapsed_ms: u64) -> protocol::Event {
    let (ending, usage) = (TurnOutcome::Done, Usage::default());
    protocol::Event::TurnEnded { turn: 1, ending, usage, elapsed_ms }
}

const WHY: Phrase = Phrase { key: "test.why", en: "writes", zh: "会写入" };

fn risk(tier: Tier) -> Risk {
    let reason = Reason { rule: "test.rule".into(), tier, say: WHY.into(), arg: Some(0) };
    Risk { tier, rule: "test.rule".into(), reasons: vec![reason], effects: vec![], lifted: false }
}

fn step_question(work: StepAction, risk: Risk) -> protocol::Event {
    let step = Step { id: "cmd_001".into(), work, requires: Requires::default(), cwd: None };
    let question = Question::Step(StepQuestion {
        pieces: vec![],
        rule: Some("touch *".into()),
        ..StepQuestion::new(step, risk, "/w")
    });
    protocol::Event::Asked(Box::new(Ask { id: AskId(7), question }))
}

/// A question that has been on the screen for a while.
fn screen_with_question(risk: Risk) -> State {
    let mut state = screen();
    receive(&mut state, started());
    receive(&mut state, step_question(StepAction::exec("touch", &["a"]), risk));
    draw(&mut state, SIZE);
    state
}

#[test]
fn enter_sends_and_empties_the_input() {
    let mut state = screen();
    assert_eq!(press(&mut state, "hello\n"), sends("hello"));
    assert!(state.composer.is_empty());
    assert_eq!(press(&mut state, "\n"), []);
}

#[test]
fn a_line_can_be_broken_in_every_way() {
    let mut state = screen();
    press(&mut state, "a");
    hold(&mut state, KeyCode::Char('j'), KeyModifiers::CONTROL);
    press(&mut state, "b");
    hold(&mut state, KeyCode::Enter, KeyModifiers::ALT);
    press(&mut state, "c");
    hold(&mut state, KeyCode::Enter, KeyModifiers::SHIFT);
    press(&mut state, "d\\\ne");
    assert_eq!(press(&mut state, "\n"), sends("a\nb\nc\nd\ne"));
}

#[test]
fn a_pasted_command_is_plain_text() {
    let mut state = screen();
    let log = format!("!rm -rf /\n{}", "x\n".repeat(50));
    update(&mut state, TimedInput { at: 0, input: ScreenInput::Paste(log.clone()) });
    assert_eq!(press(&mut state, "\n"), sends(&log));
}

#[test]
fn a_paste_too_large_for_a_message_is_refused() {
    let mut state = screen();
    update(&mut state, TimedInput { at: 0, input: ScreenInput::Paste("x".repeat(PASTE + 1)) });
    assert!(state.composer.is_empty());
    assert!(!state.transcript.is_empty(), "it is said");
}

#[test]
fn the_wheel_scrolls_and_end_returns() {
    let mut state = screen();
    for n in 0..40 {
        state.transcript.add_notice(Notice::info(phrases::SECONDS.with("s", n)));
    }
    draw(&mut state, SIZE);
    let wheel = |kind| {
        ScreenInput::Mouse(MouseEvent { kind, column: 1, row: 1, modifiers: KeyModifiers::NONE })
    };
    update(&mut state, TimedInput { at: 0, input: wheel(MouseEventKind::ScrollUp) });
    assert!(!state.transcript.is_following());
    hold(&mut state, KeyCode::End, KeyModifiers::CONTROL);
    assert!(state.transcript.is_following());
}

#[test]
fn the_mouse_can_be_left_to_the_terminal() {
    let mut state = screen();
    assert_eq!(hold(&mut state, KeyCode::F(2), KeyModifiers::NONE), [ScreenEffect::ReleaseMouse]);
    assert_eq!(hold(&mut state, KeyCode::F(2), KeyModifiers::NONE), [ScreenEffect::CaptureMouse]);
}

#[test]
fn a_shell_line_goes_to_the_shell() {
    let mut state = screen();
    let shell =
        |keep| vec![ScreenEffect::Send(Op::Turn(TurnOp::Shell { line: "ls".into(), keep }))];
    assert_eq!(press(&mut state, "!ls\n"), shell(true));
    assert_eq!(press(&mut state, "!!ls\n"), shell(false));
}

#[test]
fn ctrl_c_clears_then_stops_then_asks_then_quits() {
    let mut state = screen();
    receive(&mut state, started());
    press(&mut state, "a draft");
    assert_eq!(ctrl_c(&mut state, 2_000), []);
    assert!(state.composer.is_empty());
    assert_eq!(ctrl_c(&mut state, 2_100), [ScreenEffect::Send(Op::Turn(TurnOp::Stop))]);
    receive(&mut state, ended(10));
    assert_eq!(ctrl_c(&mut state, 2_200), []);
    assert_eq!(ctrl_c(&mut state, 2_300), [ScreenEffect::Quit]);
}

#[test]
fn a_late_second_ctrl_c_asks_again() {
    let mut state = screen();
    ctrl_c(&mut state, 0);
    assert_eq!(ctrl_c(&mut state, 3_500), []);
    press_at(&mut state, "x\x08", 3_600);
    assert_eq!(ctrl_c(&mut state, 3_700), []);
}

#[test]
fn esc_stops_the_turn_at_once_and_does_nothing_without_one() {
    let mut state = screen();
    assert_eq!(press(&mut state, "\x1b"), []);
    receive(&mut state, started());
    press(&mut state, "a draft");
    assert_eq!(press(&mut state, "\x1b"), [ScreenEffect::Send(Op::Turn(TurnOp::Stop))]);
    assert_eq!(state.composer.display_text(), "a draft");
}

#[test]
fn ctrl_d_quits_only_from_an_empty_input() {
    let mut state = screen();
    press(&mut state, "ab");
    hold(&mut state, KeyCode::Home, KeyModifiers::NONE);
    assert_eq!(hold(&mut state, KeyCode::Char('d'), KeyModifiers::CONTROL), []);
    assert_eq!(state.composer.display_text(), "b");
    press(&mut state, "\x08");
    hold(&mut state, KeyCode::Char('d'), KeyModifiers::CONTROL);
    assert_eq!(hold(&mut state, KeyCode::Char('d'), KeyModifiers::CONTROL), [ScreenEffect::Quit]);
}

#[test]
fn up_and_down_step_through_the_history() {
    let mut state = screen();
    press(&mut state, "dra");
    hold(&mut state, KeyCode::Up, KeyModifiers::NONE);
    assert_eq!(state.composer.display_text(), "earlier");
    hold(&mut state, KeyCode::Down, KeyModifiers::NONE);
    assert_eq!(state.composer.display_text(), "dra");
}

#[test]
fn tab_cycles_through_the_suggestions_until_something_is_typed() {
    let mut state = screen();
    let suggestions = vec!["one".to_owned(), "two".to_owned()];
    receive(&mut state, started());
    receive(
        &mut state,
        protocol::Event::Replied(ModelMessage { suggestions, ..ModelMessage::default() }),
    );
    receive(&mut state, ended(10));
    press(&mut state, "\t\t");
    assert_eq!(state.composer.display_text(), "two");
    press(&mut state, "!\t");
    assert_eq!(state.composer.display_text(), "two!");
    ctrl_c(&mut state, 0);
    hold(&mut state, KeyCode::Char('1'), KeyModifiers::ALT);
    assert_eq!(press(&mut state, "\n"), sends("one"));
}

#[test]
fn a_long_turn_notifies_only_without_focus() {
    let mut state = screen();
    receive(&mut state, started());
    assert_eq!(receive(&mut state, ended(60_000)), []);
    update(&mut state, TimedInput { at: 0, input: ScreenInput::FocusLost });
    receive(&mut state, started());
    assert_eq!(
        receive(&mut state, ended(60_000)),
        [ScreenEffect::Notify(crate::notify::NotifyMethod::Bell, "Avocet is done.")]
    );
    receive(&mut state, started());
    assert_eq!(receive(&mut state, ended(600)), []);
}

#[test]
fn nothing_wakes_an_idle_screen() {
    let mut state = screen();
    assert_eq!(state.next_wakeup(500), None);
    receive(&mut state, started());
    assert_eq!(state.next_wakeup(500), Some(625));
    receive(&mut state, step_question(StepAction::exec("touch", &["a"]), risk(Tier::L1)));
    assert_eq!(state.next_wakeup(1_000), Some(1_700), "it says then that it takes keys");
    assert_eq!(state.next_wakeup(1_700), None, "a question moves nothing");
    receive(&mut state, protocol::Event::QuestionClosed { ask: AskId(7) });
    receive(&mut state, ended(10));
    assert_eq!(state.next_wakeup(500), None);
    ctrl_c(&mut state, 1_000);
    assert_eq!(state.next_wakeup(1_000), Some(4_000));
    update(&mut state, TimedInput { at: 4_000, input: ScreenInput::Tick });
    assert_eq!(state.next_wakeup(4_000), None);
}

#[test]
fn a_slash_opens_the_palette_and_enter_runs_the_selected_command() {
    let mut state = screen();
    press(&mut state, "/vers");
    assert!(state.palette.is_open());
    assert_eq!(press(&mut state, "\n"), []);
    assert!(!state.transcript.is_empty(), "the version is told");
    assert!(state.composer.is_empty());
}

#[test]
fn a_message_that_was_not_sent_returns_to_an_empty_input() {
    for (typed, left) in [("", "go"), ("already more", "already more")] {
        let mut state = screen();
        receive(&mut state, started());
        press(&mut state, typed);
        let ending = TurnOutcome::Unsent { why: WHY.into() };
        let usage = Usage::default();
        receive(&mut state, protocol::Event::TurnEnded { turn: 1, ending, usage, elapsed_ms: 1 });
        assert_eq!(state.composer.display_text(), left);
    }
}

#[test]
fn a_command_that_needs_an_argument_asks_for_it() {
    let mut state = screen();
    press(&mut state, "/lang\n");
    assert_eq!(state.composer.display_text(), "/lang ");
    assert!(state.palette.is_open());
    let effects = press(&mut state, "zh\n");
    let lang = avocet_core::i18n::Lang::Zh;
    assert!(
        effects.contains(&ScreenEffect::Send(Op::Setting(SettingOp::SetLang { lang }))),
        "{effects:?}"
    );
}

#[test]
fn free_text_arguments_are_sent_as_typed() {
    let mut state =
        State::new(ScreenConfig { models: vec!["gpt-4o".into()], ..ScreenConfig::default() });
    let effects = press(&mut state, "/model gpt-4\n");
    assert_eq!(
        effects,
        [ScreenEffect::Send(Op::Model(ModelOp::SetModel { name: "gpt-4".into() }))]
    );
    press(&mut state, "/model gpt-4");
    hold(&mut state, KeyCode::Down, KeyModifiers::NONE);
    let effects = press(&mut state, "\n");
    assert_eq!(
        effects,
        [ScreenEffect::Send(Op::Model(ModelOp::SetModel { name: "gpt-4o".into() }))]
    );
}

#[test]
fn the_palette_over_an_empty_input_leaves_it_empty() {
    let mut state = screen();
    hold(&mut state, KeyCode::Char('p'), KeyModifiers::CONTROL);
    press(&mut state, "\x1b");
    assert_eq!(state.composer.display_text(), "");
    hold(&mut state, KeyCode::Char('p'), KeyModifiers::CONTROL);
    press(&mut state, "version\n");
    press(&mut state, "/ver\x1b");
    assert_eq!(state.composer.display_text(), "/ver", "what was typed by hand stays");
}

#[test]
fn the_palette_over_a_draft_restores_it() {
    let mut state = screen();
    press(&mut state, "half a thought");
    hold(&mut state, KeyCode::Char('p'), KeyModifiers::CONTROL);
    assert_eq!(state.composer.display_text(), "/");
    press(&mut state, "\x1b");
    assert_eq!(state.composer.display_text(), "half a thought");
    hold(&mut state, KeyCode::Char('p'), KeyModifiers::CONTROL);
    press(&mut state, "version\n");
    assert_eq!(state.composer.display_text(), "half a thought");
}

#[test]
fn a_command_that_must_wait_runs_when_the_turn_is_over() {
    let mut state = screen();
    receive(&mut state, started());
    assert_eq!(press(&mut state, "/mode low\n"), []);
    let effects = receive(&mut state, ended(10));
    assert_eq!(
        effects,
        [ScreenEffect::Send(Op::Setting(SettingOp::SetMode { mode: protocol::Mode::Low }))]
    );
}

#[test]
fn an_unknown_command_is_never_sent() {
    let mut state = screen();
    let early = Op::Turn(TurnOp::Invoke {
        name: "nope-nope".into(),
        args: String::new(),
        mentions: vec![],
    });
    assert_eq!(
        press(&mut state, "/nope-nope\n"),
        [ScreenEffect::Send(early)],
        "nothing is read yet"
    );
    receive(&mut state, protocol::Event::Catalogue(Box::default()));
    assert_eq!(press(&mut state, "/nope-nope\n"), []);
    assert!(!state.transcript.is_empty(), "it is said");
}

#[test]
fn the_language_changes_immediately() {
    let mut state = screen();
    press(&mut state, "/lang zh\n");
    assert_eq!(state.appearance.lang, Lang::Zh);
}

#[test]
fn every_screen_size_can_be_drawn() {
    let mut state = screen_with_question(risk(Tier::L1));
    for size in [(0, 0), (1, 1), (0, 9), (9, 0), (24, 5), (20, 4), (39, 9), (300, 3), (21, 100)] {
        draw(&mut state, size);
    }
    receive(&mut state, ended(10));
    press(&mut state, "/");
    for size in [(0, 0), (1, 1), (20, 4), (12, 40), (39, 9), (300, 100)] {
        draw(&mut state, size);
    }
    press(&mut state, "\x1b\x08?");
    for size in [(0, 0), (1, 1), (20, 4), (12, 40), (300, 100)] {
        draw(&mut state, size);
    }
}
