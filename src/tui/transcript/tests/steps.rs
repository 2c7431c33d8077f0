//! Steps that need no attention take one row, and failures say why.

use super::*;
use avocet_core::protocol::{Ask, AskId, LineRound, Question, Requires, StepQuestion};

fn tool(id: &str, name: &str, path: &str) -> Step {
    let input = serde_json::json!({ "path": path });
    let work = StepAction::Tool { name: name.into(), input };
    Step { id: id.into(), work, requires: Requires::default(), cwd: None }
}

fn done(step: Step, tier: Tier) -> Event {
    step_finished(Observation { exit_code: Some(0), ..observation(step, tier, Outcome::Ran) })
}

fn explored() -> Screen {
    let mut screen = Screen::new(100, 30);
    screen.apply_all([
        turn_started("look"),
        done(tool("1", "file.read", "src/cart.rs"), Tier::L0),
        step_ran(step("2", "git", &["log", "-1"]), 0, "needle in the output\n", ""),
        done(tool("3", "file.list", "src"), Tier::L0),
        done(tool("4", "file.edit", "src/cart.rs"), Tier::L1),
        done(tool("5", "file.read", "src/price.rs"), Tier::L0),
    ]);
    screen
}

#[test]
fn a_run_of_steps_that_only_look_is_one_row() {
    let text = explored().text();
    let row = text.lines().find(|row| row.contains("Explored 3 steps")).expect("the row");
    assert!(row.contains("read src/cart.rs, git log -1, listed src"), "{row}");
    assert!(row.starts_with('✓') && row.ends_with("3.7 s"), "{row}");
    assert!(!text.contains("needle") && !text.contains("\n✓ git log"), "{text}");
    // What changes something, and a single look, have their own rows; only the first says why.
    assert!(text.contains("✓ Edited src/cart.rs") && text.contains("allowed by policy"), "{text}");
    let alone = text.lines().find(|row| row.contains("Read src/price.rs")).expect("the row");
    assert!(!alone.contains("L0") && !alone.contains("safe"), "{alone}");
}

#[test]
fn a_run_of_steps_unfolds_by_mouse_by_key_and_by_search() {
    let row_of = |screen: &mut Screen, words: &str| {
        screen.rows().iter().position(|row| row.contains(words)).expect("the row") as u16
    };
    let mut screen = explored();
    let row = row_of(&mut screen, "Explored");
    assert!(screen.transcript.click(row));
    let text = screen.text();
    assert!(text.contains("✓ Read src/cart.rs") && text.contains("✓ git log -1"), "{text}");
    assert!(!text.contains("Explored") && !text.contains("needle"), "{text}");
    let row = row_of(&mut screen, "git log");
    assert!(screen.transcript.click(row) && screen.text().contains("needle"));

    let mut screen = explored();
    screen.transcript.toggle_steps();
    assert!(screen.text().contains("needle"), "{}", screen.text());
    screen.transcript.toggle_steps();
    assert!(screen.text().contains("Explored 3 steps"), "{}", screen.text());

    let mut screen = explored();
    screen.text();
    screen.transcript.search_for("needle");
    let text = (0..20).map(|_| screen.text()).last().expect("a frame");
    assert!(text.contains("needle in the output"), "{text}");
}

#[test]
fn steps_that_arrive_later_join_the_run() {
    let mut screen = Screen::new(100, 30);
    screen.apply_all([turn_started("look")]);
    for n in 1..=40 {
        let read = tool(&n.to_string(), "file.read", &format!("src/{n}.rs"));
        screen.apply_all([done(read, Tier::L0)]);
        screen.text();
    }
    let text = screen.text();
    assert!(text.contains("Explored 40 steps"), "{text}");
    assert_eq!(text.lines().count(), 3, "the message, a blank, the row\n{text}");
}

#[test]
fn a_step_that_was_asked_about_says_so_and_high_risk_stays_named() {
    let mut screen = Screen::new(100, 30);
    let install = step("1", "npm", &["install"]);
    let ask = |step: &Step, risk| {
        let question = StepQuestion::new(step.clone(), risk, "/w");
        Event::Asked(Box::new(Ask { id: AskId(1), question: Question::Step(question) }))
    };
    let grave = step("2", "rm", &["-rf", "build"]);
    let lifted = Risk { lifted: true, ..risk(Tier::L1) };
    screen.apply_all([
        turn_started("go"),
        ask(&install, risk(Tier::L1)),
        done(install, Tier::L1),
        ask(&grave, lifted.clone()),
    ]);
    let text = screen.text();
    let row = |word: &str| text.lines().find(|row| row.contains(word)).expect("the row").to_owned();
    assert!(row("npm install").contains("approved"), "{text}");
    assert!(row("rm -rf").contains("high risk"), "{text}");
}

#[test]
fn a_failing_step_shows_the_lines_that_say_why() {
    let out = "running 3 tests\ntest a ... ok\n\n---- b stdout ----\nthread 'b' panicked at \
               src/price.rs:14:9:\nassertion `left == right` failed\n  left: \"1.5\"\n right: \
               \"1.50\"\n\ntest result: FAILED. 2 passed; 1 failed\n";
    let err = "   Compiling shop v0.1.0\nerror: test failed, to rerun pass `--lib`\n";
    let mut screen = Screen::new(100, 30);
    screen.apply_all([turn_started("t"), step_ran(step("1", "cargo", &["test"]), 101, out, err)]);
    let text = screen.text();
    assert!(text.contains("panicked at src/price.rs:14:9"), "{text}");
    assert!(text.contains("left: \"1.5\"") && text.contains("right: \"1.50\""), "{text}");
    assert!(text.contains("+3 lines  Ctrl-O"), "{text}");
    assert!(!text.contains("Compiling") && !text.contains("to rerun"), "{text}");
}

#[test]
fn lines_of_both_streams_stand_in_the_order_they_came_in() {
    let mut seen = observation(step("1", "make", &[]), Tier::L0, Outcome::Ran);
    (seen.stdout, seen.stderr) = ("one\nfour\n".into(), "two\nthree\n".into());
    assert_eq!(seen.merged_output(), None, "the order is not known");
    seen.line_order = vec![LineRound(1, 2), LineRound(1, 0)];
    assert_eq!(seen.merged_output().as_deref(), Some("one\ntwo\nthree\nfour\n"));
    seen.exit_code = Some(0);
    let mut screen = Screen::new(80, 30);
    screen.apply_all([turn_started("t"), step_finished(seen)]);
    screen.transcript.toggle_steps();
    let text = screen.text();
    let at = |word: &str| text.find(word).expect(word);
    assert!(at("one") < at("two") && at("two") < at("three") && at("three") < at("four"));
    assert!(!text.contains("stderr"), "{text}");
}

#[test]
fn text_beside_a_stream_that_is_not_text_is_shown() {
    let mut seen = observation(step("1", "make", &[]), Tier::L0, Outcome::Ran);
    (seen.stdout, seen.stderr) = ("\0\0\0\0\0\n".into(), "over\n".into());
    seen.line_order = vec![LineRound(1, 1)];
    seen.exit_code = Some(0);
    let mut screen = Screen::new(80, 30);
    screen.apply_all([turn_started("t"), step_finished(seen)]);
    screen.transcript.toggle_steps();
    let text = screen.text();
    assert!(text.contains("(binary output, 6 bytes)") && text.contains("over"), "{text}");
}

#[test]
fn the_answer_to_a_question_of_the_model_stands_below_it() {
    let input = serde_json::json!({ "question": "Which database?" });
    let work = StepAction::Tool { name: "ask".into(), input };
    let step = Step { id: "1".into(), work, requires: Requires::default(), cwd: None };
    let mut seen = observation(step, Tier::L0, Outcome::Ran);
    (seen.exit_code, seen.stdout) = (Some(0), "Postgres: many writers".into());
    let mut screen = Screen::new(80, 30);
    screen.apply_all([turn_started("t"), step_finished(seen)]);
    let text = screen.text();
    assert!(text.contains("Asked Which database?") && text.contains("Postgres: many"), "{text}");
}
