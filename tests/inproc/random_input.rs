//! Random typing, pasting, events and resizing in any order: the screen draws, and draws printable
//! cells only.

use avocet::i18n::{Lang, screen as phrases};
use avocet::protocol::{
    Ask, AskId, Event, ModelMessage, Notice, Observation, Outcome, Question, QueuedMessage, Reason,
    Requires, Risk, SessionInfo, Step, StepAction, StepQuestion, SubCommand, SubmitId, Tier,
    Truncation, TurnOrigin, TurnOutcome, Usage,
};
use avocet::tui::{self, ScreenConfig, ScreenInput, State};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEvent, MouseEventKind};
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

/// One thing that happens.
#[derive(Clone, Debug)]
enum RandomInput {
    Key(KeyCode, KeyModifiers),
    Paste(String),
    Wheel(bool, u16, u16),
    Heard(Box<Event>),
    Time(u64),
    Size(u16, u16),
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,40}",
        "[a-z 中文，。！\n]{0,60}",
        ".{0,30}",
        Just("\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}x\r\u{9b}31m".to_owned()),
        Just("```rust\nfn a() {}\n| a | b |\n|---|---|\n| 1 | 👍🏽 |\n".to_owned()),
        Just("👩‍👩‍👧‍👦 ⚠️ e\u{301}\u{301}\u{301} \u{200b}\u{feff}".to_owned()),
    ]
}

fn key() -> impl Strategy<Value = RandomInput> {
    let code = prop_oneof![
        6 => any::<char>().prop_map(KeyCode::Char),
        6 => prop::sample::select(vec!['/', '!', '?', 'y', 'n', 'w', 'e', 'x', 's', '1', ' ', '@', 'Y'])
            .prop_map(KeyCode::Char),
        6 => prop::sample::select(vec![
            KeyCode::Enter, KeyCode::Esc, KeyCode::Tab, KeyCode::BackTab, KeyCode::Backspace,
            KeyCode::Delete, KeyCode::Up, KeyCode::Down, KeyCode::Left, KeyCode::Right,
            KeyCode::Home, KeyCode::End, KeyCode::PageUp, KeyCode::PageDown, KeyCode::F(1),
            KeyCode::F(2),
        ]),
    ];
    let modifiers = prop::sample::select(vec![
        KeyModifiers::NONE,
        KeyModifiers::NONE,
        KeyModifiers::CONTROL,
        KeyModifiers::ALT,
        KeyModifiers::SHIFT,
    ]);
    (code, modifiers).prop_map(|(code, modifiers)| RandomInput::Key(code, modifiers))
}

fn risk(tier: Tier) -> Risk {
    let reason = Reason { rule: "r".into(), tier, say: phrases::HINT.into(), arg: Some(0) };
    Risk { tier, rule: "r".into(), reasons: vec![reason], effects: vec![], lifted: false }
}

fn step(text: &str) -> Step {
    let work =
        StepAction::Exec { program: "git".into(), args: vec![text.to_owned(), String::new()] };
    Step { id: "cmd_001".into(), work, requires: Requires::default(), cwd: None }
}

fn event() -> impl Strategy<Value = Event> {
    let tier = prop::sample::select(vec![Tier::L0, Tier::L1, Tier::L2]);
    (text(), tier, 0usize..16, 0u64..3).prop_map(|(text, tier, kind, id)| match kind {
        0 => Event::TurnStarted { turn: 1, text, origin: TurnOrigin::Typed, submit: None },
        1 => Event::ReplyStarted,
        2..=4 => Event::Delta { text },
        5 => Event::ReasoningDelta { text },
        6 => Event::Retrying { attempt: 1, of: 5, wait_ms: 900, why: phrases::HINT.into() },
        7 => Event::Replied(ModelMessage {
            message: text.clone(),
            markdown: tier != Tier::L0,
            suggestions: vec![text],
            error: tier == Tier::L2,
            cut: (tier == Tier::L1).then_some(Truncation::Broken),
            usage: None,
        }),
        8 => Event::StepStarted { step: step(&text), risk: risk(tier) },
        9 => Event::StepOutput { id: "cmd_001".into(), text },
        10 => {
            let mut seen =
                Observation::not_run(step(&text), text.clone(), risk(tier), Outcome::Ran);
            seen.stdout.clone_from(&text);
            seen.stderr = text;
            seen.exit_code = Some(1);
            Event::StepFinished(Box::new(seen))
        }
        11 => Event::Asked(Box::new(Ask {
            id: AskId(id),
            question: Question::Step(StepQuestion {
                resolved: Some(text.clone()),
                why: text.clone(),
                expected: text.clone(),
                of: 3,
                pieces: vec![SubCommand { text: text.clone(), risk: risk(tier) }],
                rule: Some(text.clone()),
                ..StepQuestion::new(step(&text), risk(tier), text.clone())
            }),
        })),
        12 => Event::QuestionClosed { ask: AskId(id) },
        13 => Event::Queued {
            messages: vec![
                QueuedMessage { id: SubmitId(1), text: text.clone() },
                QueuedMessage { id: SubmitId(2), text },
            ],
        },
        14 => Event::TurnEnded {
            turn: 1,
            ending: TurnOutcome::Cancelled,
            usage: Usage::default(),
            elapsed_ms: 90_000,
        },
        _ => Event::Notice(Notice::warning(phrases::HINT).with_hint(phrases::HINT)),
    })
}

fn random_input() -> impl Strategy<Value = RandomInput> {
    prop_oneof![
        8 => key(),
        1 => text().prop_map(RandomInput::Paste),
        1 => (any::<bool>(), 0u16..130, 0u16..50).prop_map(|(up, x, y)| RandomInput::Wheel(up, x, y)),
        6 => event().prop_map(|event| RandomInput::Heard(Box::new(event))),
        2 => (0u64..2_000).prop_map(RandomInput::Time),
        1 => (0u16..130, 0u16..50).prop_map(|(x, y)| RandomInput::Size(x, y)),
    ]
}

fn input(happening: RandomInput) -> Option<ScreenInput> {
    Some(match happening {
        RandomInput::Key(code, modifiers) => ScreenInput::Key(KeyEvent::new(code, modifiers)),
        RandomInput::Paste(text) => ScreenInput::Paste(text),
        RandomInput::Wheel(up, column, row) => ScreenInput::Mouse(MouseEvent {
            kind: if up { MouseEventKind::ScrollUp } else { MouseEventKind::ScrollDown },
            column,
            row,
            modifiers: KeyModifiers::NONE,
        }),
        RandomInput::Heard(event) => ScreenInput::Session(event),
        RandomInput::Time(_) => ScreenInput::Tick,
        RandomInput::Size(..) => return None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn the_screen_survives_any_input(
        happenings in prop::collection::vec(random_input(), 1..60),
        zh in any::<bool>(),
    ) {
        let lang = if zh { Lang::Zh } else { Lang::En };
        let facts = SessionInfo { lang, cwd: "/home/ada/中文 目录".into(), ..SessionInfo::default() };
        let mut state = State::new(ScreenConfig { lang, facts, theme: "dark".into(), ..ScreenConfig::default() });
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        let mut now = 0;
        for happening in happenings {
            match &happening {
                RandomInput::Time(ms) => now += ms,
                RandomInput::Size(x, y) => terminal = Terminal::new(TestBackend::new(*x, *y)).unwrap(),
                _ => {}
            }
            let input = input(happening).unwrap_or(ScreenInput::Resized);
            tui::update(&mut state, tui::TimedInput { at: now, input });
            let frame = terminal.draw(|frame| drop(tui::draw_frame(&mut state, frame, now))).unwrap();
            for cell in &frame.buffer.content {
                let bad = cell.symbol().chars().find(|c| {
                    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
                });
                prop_assert!(bad.is_none(), "{:?} on the screen", cell.symbol());
            }
        }
    }
}
