//! One table of dialogues, `tests/fixtures/questions.txt`, for the screen, plain lines, chats and
//! headless runs: the same answers to the same question come to the same verdict.

use std::sync::Arc;

use avocet::cli::args::ApprovalFlags;
use avocet::cli::headless::{HeadlessEffect, HeadlessTurn, Options};
use avocet::cli::messages::Printer;
use avocet::cli::plain::{PlainEffect, PlainSession};
use avocet::gateway::question::{AnswerOutcome, ChatQuestion};
use avocet::i18n::{Lang, common, safety as why};
use avocet::present::choices::QuestionChoice;
use avocet::present::flow::QuestionFlow;
use avocet::present::{ChoicePick, YES};
use avocet::protocol::{
    ApprovalMode, ApprovalScope, Ask, AskId, Change, Decision, Effect, Event, Op, PlanItem,
    Question, QuestionOp, Reason, RemainingStep, Requires, Risk, SandboxDenial, SessionInfo, Step,
    StepAction, StepQuestion, Tier, TurnOp, TurnOrigin,
};
use avocet::safety::redact::Redactor;
use avocet::tui::{self, ScreenConfig, ScreenEffect, ScreenInput, State, TimedInput};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

/// Between two answers a user pauses; the letters of a word follow each other.
const PAUSE: u64 = 1_500;
const GAP: u64 = 90;

#[test]
fn every_frontend_comes_to_the_same_verdict_by_the_same_answers() {
    let table = include_str!("../fixtures/questions.txt");
    let rows = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut driven = 0;
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [question, marked, answers, verdict, frontends] = cells[..] else { panic!("{row}") };
        let flow = QuestionFlow::new(&ask(question).question);
        let first = flow.marked().map_or("", |choice| name(choice.pick));
        assert_eq!(first, marked, "{row}");
        for frontend in frontends.split(' ') {
            let decided = match frontend {
                "screen" => on_screen(question, &flow, answers),
                "plain" => in_lines(question, &flow, answers),
                "chat" => in_chat(question, answers),
                "headless" => headless(question),
                other => panic!("no frontend is called {other}"),
            };
            assert_eq!(shown(decided.as_ref()), verdict, "{frontend}: {row}");
            driven += 1;
        }
    }
    assert!(driven > 100, "{driven}");
}

fn reason(rule: &str) -> Reason {
    Reason { rule: rule.into(), tier: Tier::L1, say: why::GIT_PUSHES.into(), arg: None }
}

fn risk(rules: &[&str], effects: &[Effect]) -> Risk {
    Risk {
        tier: Tier::L1,
        rule: rules[0].into(),
        reasons: rules.iter().map(|rule| reason(rule)).collect(),
        effects: effects.to_vec(),
        lifted: false,
    }
}

fn of_step(work: StepAction, risk: Risk) -> StepQuestion {
    let step = Step { id: "cmd_001".into(), work, requires: Requires::default(), cwd: None };
    StepQuestion { rule: Some("x *".into()), ..StepQuestion::new(step, risk, "/w") }
}

fn step_question(name: &str) -> Option<StepQuestion> {
    let inside = || risk(&["npm.test", "sandbox.work"], &[Effect::Exec]);
    let test = || StepAction::exec("npm", &["test"]);
    Some(match name {
        "inside" => of_step(test(), inside()),
        "leaves" => of_step(
            StepAction::exec("git", &["push"]),
            risk(&["git.push", "sandbox.work"], &[Effect::Network, Effect::Send]),
        ),
        "grave" => of_step(StepAction::exec("rm", &["-r", "x"]), Risk { lifted: true, ..inside() }),
        "edit" => StepQuestion {
            change: Some(Change {
                path: "a.rs".into(),
                diff: "--- a.rs\n+++ a.rs\n@@ -1 +1 @@\n-a\n+b\n".into(),
                ..Change::default()
            }),
            ..of_step(
                StepAction::Tool { name: "file.edit".into(), input: serde_json::json!({}) },
                risk(&["file.write"], &[Effect::Write]),
            )
        },
        "list" => StepQuestion {
            of: 2,
            rest: vec![RemainingStep {
                id: "cmd_002".into(),
                work: test(),
                risk: inside(),
                change: None,
            }],
            ..of_step(test(), inside())
        },
        "denied" => of_step(test(), Risk { rule: SandboxDenial::RULE.into(), ..inside() }),
        "typed" => {
            of_step(StepAction::Shell { line: "make x".into() }, risk(&["make.x"], &[Effect::Exec]))
        }
        _ => return None,
    })
}

fn ask(name: &str) -> Ask {
    if let Some(step) = step_question(name) {
        return Ask { id: AskId(7), question: Question::Step(step) };
    }
    let question = match name {
        "plan" => {
            Question::Plan { step: "cmd_001".into(), items: vec![PlanItem::parse("write it")] }
        }
        "call" => Question::ScriptCall { text: "May it call `x`?".into() },
        "choice" => Question::Choice {
            step: "cmd_001".into(),
            script: None,
            text: "Which?".into(),
            choices: vec!["red".into(), "blue".into()],
            free: true,
            fallback: None,
        },
        "limit" => Question::Pause { why: avocet::i18n::agent::LIMIT.with("n", 25) },
        "trust" => Question::Trust {
            folder: "/w".into(),
            above: Some("/".into()),
            because: common::CONTINUE_ASK.into(),
            found: Vec::new(),
        },
        other => panic!("no question is called {other}"),
    };
    Ask { id: AskId(7), question }
}

/// The word of the table for a choice.
fn name(pick: ChoicePick) -> &'static str {
    use ChoicePick as Pick;
    match pick {
        Pick::Run | Pick::Continue | Pick::Each => "yes",
        Pick::All => "all",
        Pick::AcceptEdits => "edits",
        Pick::Session => "session",
        Pick::Project => "project",
        Pick::TrustFirst | Pick::Trust => "trust",
        Pick::TrustAbove => "parent",
        Pick::WithoutSandbox => "unconfined",
        Pick::RejectWithReason => "why",
        Pick::Reject => "no",
        Pick::Edit => "edit",
        Pick::Stop => "stop",
        Pick::Answer(_) => "answer",
    }
}

/// What one answer of the table is.
enum Answer {
    Choice(String),
    Text(String),
}

fn answers(cell: &str) -> Vec<Answer> {
    let parts = cell.split('"').enumerate();
    let answer = |(at, part): (usize, &str)| -> Vec<Answer> {
        match at % 2 {
            1 => vec![Answer::Text(part.to_owned())],
            _ => part.split_whitespace().map(|word| Answer::Choice(word.to_owned())).collect(),
        }
    };
    parts.flat_map(answer).collect()
}

/// The choice with this word; where yes is usual, the one row that says no takes words.
fn choice(flow: &QuestionFlow, word: &str) -> Option<QuestionChoice> {
    let word = if word == "YES" { "yes" } else { word };
    let choices = &flow.offer.choices;
    let named = choices.iter().find(|choice| name(choice.pick) == word);
    let no = || choices.iter().find(|choice| word == "no" && choice.letter == 'n');
    named.or_else(no).copied()
}

fn shown(decision: Option<&Decision>) -> String {
    match decision {
        None => "-".into(),
        Some(Decision::Approve) => "approve".into(),
        // What an option answers opens nothing that only a user may open.
        Some(Decision::ApproveAll { steps }) if steps.is_empty() => "approve".into(),
        Some(Decision::ApproveAll { .. }) => "approve all".into(),
        Some(Decision::Remember(ApprovalScope::Session)) => "remember session".into(),
        Some(Decision::Remember(ApprovalScope::Project)) => "remember project".into(),
        Some(Decision::Reject { word: None }) => "reject".into(),
        Some(Decision::Reject { word: Some(word) }) => format!("reject: {word}"),
        Some(Decision::Stop) => "stop".into(),
        Some(Decision::AcceptPlan { mode: ApprovalMode::Edits, .. }) => "accept edits".into(),
        Some(Decision::AcceptPlan { .. }) => "accept plan".into(),
        Some(Decision::Answer { text }) => format!("answer: {text}"),
        Some(Decision::Choose { index }) => format!("choice {}", index + 1),
        Some(Decision::TrustParent) => "trust parent".into(),
        Some(Decision::WithoutSandbox) => "without sandbox".into(),
        Some(Decision::NotAsked { .. }) => "declined".into(),
        Some(other) => format!("{other:?}"),
    }
}

// The frontends

struct Screen {
    state: State,
    terminal: Terminal<TestBackend>,
    now: u64,
    decided: Option<Decision>,
}

impl Screen {
    fn input(&mut self, input: ScreenInput) {
        for effect in tui::update(&mut self.state, TimedInput { at: self.now, input }) {
            if let ScreenEffect::Send(Op::Question(QuestionOp::Decide { decision, .. })) = effect {
                assert_eq!(self.decided.replace(decision), None, "one question, one answer");
            }
        }
        let (state, now) = (&mut self.state, self.now);
        self.terminal.draw(|frame| drop(tui::draw_frame(state, frame, now))).unwrap();
    }

    fn key(&mut self, code: KeyCode) {
        self.input(ScreenInput::Tick);
        self.input(ScreenInput::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    fn wait(&mut self, ms: u64) {
        self.now += ms;
        self.input(ScreenInput::Tick);
    }
}

fn on_screen(question: &str, flow: &QuestionFlow, cell: &str) -> Option<Decision> {
    let terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    let state = State::new(ScreenConfig::default());
    let mut screen = Screen { state, terminal, now: 0, decided: None };
    let started =
        Event::TurnStarted { turn: 1, text: "go".into(), origin: TurnOrigin::Typed, submit: None };
    screen.input(ScreenInput::Session(Box::new(started)));
    screen.wait(60_000);
    screen.input(ScreenInput::Session(Box::new(Event::Asked(Box::new(ask(question))))));
    screen.wait(PAUSE);
    for answer in answers(cell) {
        match answer {
            Answer::Text(text) => {
                text.chars().for_each(|c| screen.key(KeyCode::Char(c)));
                screen.key(KeyCode::Enter);
            }
            Answer::Choice(word) if word == "enter" => screen.key(KeyCode::Enter),
            Answer::Choice(word) if word.starts_with("word:") => {
                for letter in word["word:".len()..].replace('_', " ").chars() {
                    screen.key(KeyCode::Char(letter));
                    screen.now += GAP;
                }
            }
            Answer::Choice(word) => {
                let choice = choice(flow, &word);
                let letter = match (choice, word.as_str()) {
                    (Some(choice), "YES") => choice.letter,
                    (Some(choice), _) => choice.letter.to_ascii_lowercase(),
                    (None, word) => word.chars().next().unwrap(),
                };
                screen.key(KeyCode::Char(letter));
            }
        }
        screen.wait(PAUSE);
    }
    screen.decided
}

fn in_lines(question: &str, flow: &QuestionFlow, cell: &str) -> Option<Decision> {
    let mut plain = PlainSession::new(SessionInfo::default(), Lang::En, str::to_owned);
    plain.on_event(Event::Asked(Box::new(ask(question))));
    let mut decided = None;
    for answer in answers(cell) {
        // As a word; where it has none, by its letter.
        let lines = match answer {
            Answer::Text(text) => vec![text],
            Answer::Choice(word) if word == "YES" => vec![YES.to_owned()],
            Answer::Choice(word) => match choice(flow, &word) {
                Some(choice) => vec![choice.letter.to_ascii_lowercase().to_string()],
                None => vec![word],
            },
        };
        for line in lines {
            for effect in plain.on_line(&line) {
                if let PlainEffect::Send(Op::Question(QuestionOp::Decide { decision, .. })) = effect
                {
                    decided = Some(decision);
                }
            }
        }
    }
    decided
}

fn in_chat(question: &str, cell: &str) -> Option<Decision> {
    let chat = ChatQuestion::new(ask(question), "k7m2p9q4".into(), Some("7".into()));
    let mut decided = None;
    for answer in answers(cell) {
        let button = |word: &str| match word {
            "yes" => match chat.press("once", true) {
                AnswerOutcome::NotAnAnswer => chat.press("go", true),
                answer => answer,
            },
            word => chat.press(word, true),
        };
        let answered = match answer {
            Answer::Text(text) => chat.typed(&text, true),
            Answer::Choice(word) if word == "YES" => chat.typed("YES k7m2", true),
            Answer::Choice(word) => button(&word),
        };
        if let AnswerOutcome::Decided(decision) = answered {
            decided = Some(decision);
        }
    }
    decided
}

fn headless(question: &str) -> Option<Decision> {
    let steps = Some("--approve-steps");
    let options = Options {
        json: false,
        approved: ApprovalFlags { template_commands: true, steps, ..ApprovalFlags::default() },
        has_user: false,
        schema: None,
        printer: Printer { lang: Lang::En, clean: str::to_owned, width: None },
        clean: str::to_owned,
        secrets: Arc::new(Redactor::new([("NONE", "hunter2hunter2")], [7; 16])),
    };
    let mut turn = HeadlessTurn::new(&options, &Op::Turn(TurnOp::Submit { text: "go".into() }));
    let effects = turn.on_event(&Event::Asked(Box::new(ask(question))));
    effects.into_iter().find_map(|effect| match effect {
        HeadlessEffect::Send(Op::Question(QuestionOp::Decide { decision, .. })) => Some(decision),
        _ => None,
    })
}
