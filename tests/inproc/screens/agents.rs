//! The screen with subagents: what each does, its work, and what a key does to one.

use super::*;
use avocet::protocol::{
    AgentRequest, BackgroundAgents, Page, PageRow, SessionOp, SubagentInfo, TurnOp,
};

fn task(agent: &str, name: &str, about: &str, background: bool) -> Vec<Event> {
    let input = serde_json::json!({ "description": about, "prompt": "x", "agent": name });
    let work = StepAction::Tool { name: "task".into(), input };
    let info = SubagentInfo {
        agent: agent.into(),
        name: name.into(),
        about: about.into(),
        model: "qwen3-coder".into(),
        folder: match name {
            "general" => "/home/ada/code/shop".into(),
            name => format!("/home/ada/code/shop/.avocet/worktrees/{name}"),
        },
        tools: (name == "explore").then(|| vec!["file.read".into(), "file.search".into()]),
        background,
        ..SubagentInfo::default()
    };
    let begins = Event::StepStarted { step: step(agent, work), risk: reads() };
    let mut events = vec![begins, Event::SubagentStarted(Box::new(info))];
    if background {
        events.push(task_ends(agent, Outcome::Ran, "It works in the background."));
    }
    events
}

/// The result of a task.
fn task_ends(agent: &str, outcome: Outcome, stdout: &str) -> Event {
    let work = StepAction::Tool { name: "task".into(), input: serde_json::json!({}) };
    let not_run = Observation::not_run(step(agent, work), "/", reads(), outcome);
    Event::StepFinished(Box::new(Observation {
        exit_code: (outcome == Outcome::Ran).then_some(0),
        stdout: stdout.into(),
        duration_ms: 9_000,
        ..not_run
    }))
}

fn of(agent: &str, tokens: u64, happened: Event) -> Event {
    Event::Subagent { agent: agent.into(), tokens, happened: Box::new(happened) }
}

fn ends(agent: &str, ending: TurnOutcome) -> Event {
    let usage = Usage::default();
    of(agent, 5_000, Event::TurnEnded { turn: 1, ending, usage, elapsed_ms: 9_000 })
}

fn reads_file(agent: &str, nth: usize, path: &str) -> [Event; 2] {
    let id = format!("{agent}_{nth:03}");
    let work =
        StepAction::Tool { name: "file.read".into(), input: serde_json::json!({ "path": path }) };
    let step = step(&id, work);
    let begins = Event::StepStarted { step: step.clone(), risk: reads() };
    let not_run = Observation::not_run(step, "/", reads(), Outcome::Ran);
    let observation = Observation { exit_code: Some(0), ..not_run };
    [begins, Event::StepFinished(Box::new(observation))]
        .map(|event| of(agent, 1_200 * nth as u64, event))
}

/// Three agents: the first reads, the second was stopped, the third works in the background.
fn three_agents(lang: Lang, size: (u16, u16)) -> Screen {
    let mut screen = Screen::new(lang, size);
    screen.receives([started("Look at the cart, the tests and the docs.")]);
    screen.receives(task("cmd_003", "general", "Update the docs", true));
    screen.receives(task("cmd_001", "explore", "Find the callers", false));
    screen.receives(task("cmd_002", "review", "Review the tests", false));
    screen.receives(reads_file("cmd_001", 1, "src/cart.rs"));
    screen.receives(reads_file("cmd_002", 1, "tests/cart.rs"));
    screen.receives(reads_file("cmd_003", 1, "docs/cart.md"));
    screen.receives([of("cmd_001", 2_400, says("Two callers so far."))]);
    screen.receives(reads_file("cmd_001", 2, "src/receipt.rs"));
    screen.receives([
        ends("cmd_002", TurnOutcome::Cancelled),
        task_ends("cmd_002", Outcome::Cancelled, ""),
    ]);
    screen.waits(7_000);
    screen
}

#[test]
fn each_agent_has_a_row_and_one_unfolds_to_all_that_it_did() {
    for (lang, name) in [(Lang::En, "en"), (Lang::Zh, "zh")] {
        for (size, wide) in [((80, 24), ""), ((120, 40), "_wide")] {
            let mut screen = three_agents(lang, size);
            insta::assert_snapshot!(format!("agents_{name}{wide}"), screen.picture());
            screen.press(KeyCode::Up, KeyModifiers::NONE);
            screen.types("\n");
            insta::assert_snapshot!(format!("agents_work_{name}{wide}"), screen.picture());
        }
    }
}

#[test]
fn x_stops_the_selected_agent_and_typed_text_goes_to_it() {
    let mut screen = three_agents(Lang::En, (80, 24));
    let op = |agent: &str, request| Op::Session(SessionOp::Agent { agent: agent.into(), request });
    screen.press(KeyCode::Up, KeyModifiers::NONE);
    screen.types("x");
    assert_eq!(screen.sent, [op("cmd_001", AgentRequest::Stop)], "the last that began");
    screen.press(KeyCode::Up, KeyModifiers::NONE);
    screen.types("only in src\n");
    let text = "only in src".to_owned();
    assert_eq!(screen.sent[1], op("cmd_003", AgentRequest::Steer { text }));
    screen.press(KeyCode::Up, KeyModifiers::NONE);
    screen.receives([ends("cmd_001", TurnOutcome::Done)]);
    screen.types("and now\n");
    let text = "and now".to_owned();
    assert_eq!(
        screen.sent[2],
        Op::Turn(TurnOp::Steer { text }),
        "the selected one ended, so it is the turn again"
    );
}

#[test]
fn escape_leaves_an_agent_before_it_stops_the_turn() {
    let mut screen = three_agents(Lang::En, (80, 24));
    screen.press(KeyCode::Up, KeyModifiers::NONE);
    screen.press(KeyCode::Esc, KeyModifiers::NONE);
    assert_eq!(screen.sent, []);
    screen.press(KeyCode::Esc, KeyModifiers::NONE);
    assert_eq!(screen.sent, [Op::Turn(TurnOp::Stop)]);
}

#[test]
fn a_result_starts_a_turn_only_while_the_user_types_nothing_and_no_question_is_open() {
    let unread = || {
        let agents = BackgroundAgents { running: 0, unread: 1 };
        Event::Facts(Box::new(SessionInfo { agents, ..facts(Lang::En) }))
    };
    let mut screen = three_agents(Lang::En, (80, 24));
    screen.receives([unread()]);
    assert_eq!(screen.sent, [], "a turn runs");
    screen.types("half a sen");
    screen.receives([ended(), unread()]);
    assert_eq!(screen.sent, [], "the user is typing");
    screen.press(KeyCode::Char('u'), KeyModifiers::CONTROL);
    assert_eq!(screen.sent, [Op::Turn(TurnOp::ReadResults)]);

    let mut screen = three_agents(Lang::En, (80, 24));
    screen.receives([ended(), asks_to_install(), unread()]);
    assert_eq!(screen.sent, [], "a question is open");
}

#[test]
fn events_of_four_agents_keep_a_bounded_number_of_blocks() {
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen.receives([started("Look.")]);
    for agent in ["cmd_001", "cmd_002", "cmd_003", "cmd_004"] {
        screen.receives(task(agent, "explore", "Look", false));
    }
    for nth in 1..1_000 {
        for agent in ["cmd_001", "cmd_002", "cmd_003", "cmd_004"] {
            for event in reads_file(agent, nth, "src/cart.rs") {
                screen.input(ScreenInput::Session(Box::new(event)));
            }
        }
    }
    screen.press(KeyCode::Up, KeyModifiers::NONE);
    assert_eq!(screen.picture().matches("999 steps").count(), 8, "{}", screen.picture());
    screen.types("\n");
    let work = screen.picture();
    assert!(work.contains("src/cart.rs"), "{work}");
    assert!(work.contains("What it did before is not shown here any more."), "{work}");
}

#[test]
fn an_agent_that_ended_is_shown_so_while_the_others_work() {
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen.receives([started("Look.")]);
    screen.receives(task("cmd_001", "explore", "Find the callers", false));
    screen.receives(task("cmd_002", "review", "Review the tests", false));
    screen.receives(task("cmd_003", "general", "Write the docs", false));
    screen.receives([ends("cmd_001", TurnOutcome::Done), ends("cmd_002", TurnOutcome::Cancelled)]);
    screen.waits(60_000);
    let rows = screen.picture();
    let row = |of: &str| rows.lines().find(|line| line.contains(of)).unwrap_or_default();
    assert!(row("explore: ").starts_with("✓ ") && row("explore: ").contains("9 s"), "{rows}");
    assert!(row("review: ").starts_with("- ") && row("review: ").contains("9 s"), "{rows}");
    assert!(rows.contains("The user stopped the agent review."), "{rows}");
    assert!(row("general: ").starts_with("▸ ") && row("general: ").contains("1 m 0 s"), "{rows}");
}

#[test]
fn a_step_of_an_agent_that_the_user_approved_is_shown_so_in_its_work() {
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen.receives([started("Look.")]);
    screen.receives(task("cmd_001", "general", "Install", false));
    let asks = asks_to_install();
    let Event::Asked(ask) = &asks else { panic!("{asks:?}") };
    let Question::Step(question) = &ask.question else { panic!("{ask:?}") };
    let (step, risk) = (question.step.clone(), question.risk.clone());
    let id = ask.id;
    screen.receives([asks]);
    let not_run = Observation::not_run(step.clone(), "/", risk.clone(), Outcome::Ran);
    let seen = Observation { exit_code: Some(0), ..not_run };
    screen.receives([
        Event::QuestionClosed { ask: id },
        of("cmd_001", 10, Event::StepStarted { step, risk }),
        of("cmd_001", 10, Event::StepFinished(Box::new(seen))),
    ]);
    assert!(screen.picture().contains("Running task"), "it goes on: {}", screen.picture());
    screen.press(KeyCode::Up, KeyModifiers::NONE);
    screen.types("\n");
    let work = screen.picture();
    assert_eq!(work.matches("approved").count(), 2, "{work}");
    assert!(!work.contains("allowed by policy"), "{work}");
}

#[test]
fn the_answer_to_a_side_question_goes_into_the_input_only_if_the_user_asks() {
    let answer = || {
        let title = avocet::i18n::side::TITLE.with("question", "why?");
        let rows = vec![PageRow::line("Because."), PageRow::line("It is so.")];
        Event::SideAnswer(Box::new(Page { title, rows }))
    };
    let mut screen = Screen::new(Lang::En, (80, 24));
    screen.receives([answer()]);
    assert!(screen.picture().contains("Because."), "{}", screen.picture());
    screen.press(KeyCode::Esc, KeyModifiers::NONE);
    assert!(!screen.picture().contains("Because."), "it is kept nowhere: {}", screen.picture());
    screen.receives([answer()]);
    screen.types("i");
    let input = screen.picture();
    assert!(input.contains("By the way: why?") && input.contains("It is so."), "{input}");
    assert_eq!(screen.sent, [], "nothing is sent before the user does");
}
