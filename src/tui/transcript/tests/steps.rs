//! Steps that need no attention take one row, and failures say why.

use super::super::highlight::Highlighter;
use super::*;
use avocet_core::protocol::{
    Ask, AskId, LineRound, ParsedOutput, PlanItem, Question, Requires, StepQuestion,
};

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
    screen.transcript.search("needle");
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

fn tested(program: &str, args: &[&str], parsed: serde_json::Value) -> Observation {
    let items = parsed.as_array().cloned().expect("a list");
    let kind = "test_summary".to_owned();
    let parsed = Some(ParsedOutput { kind, total: 3, items });
    let step = step("1", program, args);
    let (exit_code, stdout) = (Some(1), "some\nlines\nof output\nerror: in it\nand\nmore\n".into());
    Observation { exit_code, stdout, parsed, ..observation(step, Tier::L1, Outcome::Ran) }
}

#[test]
fn a_failing_test_is_shown_by_its_name_and_its_place() {
    let counts = serde_json::json!({ "passed": 2, "failed": 1, "skipped": 0 });
    let failure = |name: &str, file: &str, message: &str| serde_json::json!({ "failed": name, "file": file, "line": 6, "message": message });
    let cases = [
        (
            vec![failure(
                "formats two digits",
                "/home/ana/avocet/price.test.js",
                "'1.5' !== '1.50'",
            )],
            vec!["formats two digits  price.test.js:6", "  '1.5' !== '1.50'", "+4 lines  Ctrl-O"],
        ),
        (
            vec![failure("src/a.test.ts > sums > adds", "src/a.test.ts", "")],
            vec!["sums > adds  src/a.test.ts:6", "error: in it"],
        ),
        (
            vec![failure("one", "a_test.go", "got 1"), failure("two", "a_test.go", "got 2")],
            vec!["one  a_test.go:6  got 1", "two  a_test.go:6  got 2"],
        ),
    ];
    for (failures, expected) in cases {
        let items = std::iter::once(counts.clone()).chain(failures).collect();
        let mut screen = Screen::new(100, 30);
        let seen = tested("npm", &["test"], items);
        screen.apply_all([turn_started("t"), step_finished(seen)]);
        let text = screen.text();
        assert!(text.contains("1 of 3 tests failed"), "{text}");
        for part in expected {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
    // A line that shows only the end of the output exits with the code of `tail`.
    let items = serde_json::json!([counts, failure("pads", "price.js", "no")]);
    let seen =
        Observation { exit_code: Some(0), ..tested("bash", &["-lc", "npm test | tail"], items) };
    let mut screen = Screen::new(100, 30);
    screen.apply_all([turn_started("t"), step_finished(seen)]);
    let text = screen.text();
    assert!(text.contains("✗ npm test | tail") && text.contains("pads  price.js:6"), "{text}");
}

#[test]
fn a_commit_is_shown_by_its_own_line() {
    let out = "[main 4b40020] Round prices\n 3 files changed, 12 insertions(+), 2 deletions(-)\n create mode 100644 a\n";
    for (program, args) in [
        ("git", vec!["commit", "-m", "Round prices"]),
        ("bash", vec!["-lc", "git add -A && git commit -m 'Round prices'"]),
    ] {
        let note = avocet_core::i18n::exec::LEFT_RUNNING.with("names", "git maintenance");
        let seen = Observation {
            exit_code: Some(0),
            stdout: out.into(),
            note: Some(note),
            ..observation(step("1", program, &args), Tier::L1, Outcome::Ran)
        };
        let mut screen = Screen::new(100, 30);
        screen.apply_all([turn_started("t"), step_finished(seen)]);
        let text = screen.text();
        assert!(
            text.contains("  [main 4b40020] Round prices, 3 files changed, 12 insert"),
            "{text}"
        );
        assert!(!text.contains("maintenance") && !text.contains("create mode"), "{text}");
    }
    let mut screen = Screen::new(100, 30);
    let out = "[x] [main] 4b40020 no\n[INFO] done\n";
    screen.apply_all([turn_started("t"), step_ran(step("1", "git", &["status"]), 0, out, "")]);
    assert!(!screen.text().contains("[INFO]"), "{}", screen.text());
}

#[test]
fn a_step_in_the_background_is_one_row() {
    let seen = Observation {
        note: Some(avocet_core::i18n::session::JOB_STARTED.with("id", 2)),
        stdout: "listening\n".into(),
        ..observation(step("1", "npm", &["run", "dev"]), Tier::L1, Outcome::Ran)
    };
    let requires = Requires { background: true, ..Requires::default() };
    let seen = Observation { step: Step { requires, ..seen.step.clone() }, ..seen };
    let mut screen = Screen::new(100, 30);
    screen.apply_all([turn_started("t"), step_finished(seen)]);
    let text = screen.text();
    let rows: Vec<&str> = text.lines().skip(2).collect();
    assert_eq!(rows.len(), 1, "{text}");
    assert!(rows[0].starts_with("▸ npm run dev") && rows[0].contains("job 2"), "{text}");
    screen.transcript.toggle_steps();
    assert!(screen.text().contains("/jobs stop 2 ends"), "{}", screen.text());
}

#[test]
fn what_a_step_read_is_shown_as_code_with_its_numbers() {
    let seen = Observation {
        exit_code: Some(0),
        stdout: "7\tfn main() {\n8\t    // \tdone\n9\t}\n".into(),
        ..observation(tool("1", "file.read", "src/main.rs"), Tier::L0, Outcome::Ran)
    };
    let mut screen = Screen::new(60, 30);
    screen.apply_all([turn_started("t"), step_finished(seen)]);
    screen.text();
    assert!(screen.transcript.next_unhighlighted().is_none(), "folded, it needs no colours");
    screen.transcript.toggle_steps();
    let text = screen.text();
    assert!(text.contains("7  fn main() {") && text.contains("8      //"), "{text}");
    let snippet = screen.transcript.next_unhighlighted().expect("code without colours");
    assert_eq!((snippet.language.as_str(), snippet.code.lines().count()), ("rs", 3));
    screen.transcript.add_highlight(Highlighter::default().highlight(&snippet));
    let buffer = screen.buffer();
    let row = (0..30).find(|y| row(&buffer, *y).contains("fn main")).expect("the row");
    let column = (0..60).find(|x| buffer[(*x, row)].symbol() == "f").expect("the word");
    assert_ne!(buffer[(column, row)].fg, buffer[(column - 3, row)].fg, "a keyword has a colour");
    assert!(screen.transcript.next_unhighlighted().is_none());
}

#[test]
fn a_step_approved_together_with_another_says_that_it_was_approved() {
    let mut screen = Screen::new(100, 30);
    screen.apply_all([turn_started("t")]);
    screen.transcript.approve_ahead(&["2".to_owned()]);
    screen.apply_all([done(step("2", "make", &[]), Tier::L1)]);
    let text = screen.text();
    assert!(text.contains("approved") && !text.contains("allowed"), "{text}");
}

#[test]
fn a_refusal_names_the_ways_out() {
    let refused = |step: Step, rule: &str| {
        let seen = observation(step, Tier::L2, Outcome::Refused);
        let risk = Risk { rule: rule.into(), ..seen.risk.clone() };
        let mut screen = Screen::new(100, 30);
        screen.apply_all([turn_started("t"), step_finished(Observation { risk, ..seen })]);
        screen.text()
    };
    let text = refused(step("1", "rm", &["-rf", "node_modules"]), "git.reset.hard");
    assert!(text.contains("type !rm -rf node_modules"), "{text}");
    let text = avocet_core::text::one_line(&text);
    assert!(text.contains("add git.reset.hard to the setting safety.lift"), "{text}");
    let text = refused(step("1", "rm", &["-rf", "node_modules"]), "denied");
    assert!(text.contains("!rm -rf node_modules.") && !text.contains("safety.lift"), "{text}");
    let text = refused(step("1", "bash", &["-lc", "rm -rf node_modules"]), "git.reset.hard");
    assert!(text.contains("type !rm -rf node_modules"), "{text}");
}

#[test]
fn a_line_for_a_shell_is_shown_as_the_line() {
    let mut screen = Screen::new(100, 30);
    let line = "sed -n '1,9p' src/cart.js | head -5";
    screen.apply_all([
        turn_started("look"),
        done(step("1", "bash", &["-lc", line]), Tier::L0),
        done(step("2", "/usr/bin/bash", &["-lc", "npm test && npm run build"]), Tier::L1),
        done(step("3", "bash", &["-x", "build.sh"]), Tier::L1),
    ]);
    let text = screen.text();
    assert!(text.contains(&format!("✓ {line} ")), "{text}");
    assert!(text.contains("✓ npm test && npm run build "), "{text}");
    assert!(text.contains("✓ bash -x build.sh "), "{text}");
}

#[test]
fn a_plan_that_is_asked_about_does_not_appear_twice() {
    let mut screen = Screen::new(100, 30);
    let items = vec![PlanItem::parse("Pad the receipt")];
    let question = Question::Plan { step: "1".into(), items: items.clone() };
    screen.apply_all([
        turn_started("plan it"),
        Event::Plan { items },
        Event::Asked(Box::new(Ask { id: AskId(1), question })),
    ]);
    let text = screen.text();
    assert!(text.contains("Plan: 0 done of 1") && !text.contains("Pad the receipt"), "{text}");
    screen.apply_all([Event::QuestionClosed { ask: AskId(1) }]);
    assert!(screen.text().contains("◦ Pad the receipt"), "{}", screen.text());
}

#[test]
fn a_rejected_edit_says_so_and_is_not_marked_as_a_failure() {
    let mut screen = Screen::new(100, 30);
    let edit = tool("1", "file.edit", "src/cart.rs");
    let seen = Observation { duration_ms: 0, ..observation(edit, Tier::L1, Outcome::Declined) };
    screen.apply_all([turn_started("edit it"), step_finished(seen)]);
    let text = screen.text();
    let row = text.lines().find(|row| row.contains("src/cart.rs")).expect("the row");
    assert!(row.starts_with("- ") && row.trim_end().ends_with("rejected"), "{row}");
}

#[test]
fn facts_and_code_end_at_one_edge_on_every_wide_screen() {
    for width in [120, 200] {
        let change = avocet_core::protocol::Change {
            diff: "@@ -1,2 +1,2 @@\n-one\n+two\n three\n".into(),
            ..avocet_core::protocol::Change::default()
        };
        let edit = tool("4", "file.edit", "src/cart.rs");
        let seen = Observation {
            exit_code: Some(0),
            change: Some(change),
            ..observation(edit, Tier::L1, Outcome::Ran)
        };
        let mut screen = Screen::new(width, 30);
        let out = "a\nb\nc\nd\ne\nf\n";
        screen.apply_all([
            turn_started("look"),
            done(tool("1", "file.read", "src/cart.rs"), Tier::L0),
            done(tool("3", "file.list", "src"), Tier::L0),
            step_ran(step("2", "make", &[]), 2, out, ""),
            step_finished(seen),
        ]);
        let rows = screen.rows();
        let ends: Vec<usize> = rows
            .iter()
            .filter(|row| row.ends_with(" s") || row.ends_with("Ctrl-O"))
            .map(|row| crate::text::width(row))
            .collect();
        assert_eq!(ends, [102; 4], "{}", rows.join("\n"));
    }
}

#[test]
fn a_step_that_a_mode_allowed_names_the_mode() {
    for (rule, allowed) in [
        ("mode.edits", "allowed in accept edits mode"),
        ("mode.auto", "allowed in auto mode"),
        ("file.write", "allowed by policy"),
    ] {
        let mut observation = observation(step("1", "touch", &["a"]), Tier::L1, Outcome::Ran);
        let say = common::FILES.with("n", 3);
        observation.exit_code = Some(0);
        observation.risk.reasons.push(Reason { rule: rule.into(), tier: Tier::L0, say, arg: None });
        let text = Screen::with_events([step_finished(observation)]).text();
        assert!(text.contains(allowed), "{rule}: {text}");
    }
}

#[test]
fn an_unfolded_step_names_its_folder_only_where_that_is_another() {
    for (cwd, names) in [(None, false), (Some("/home/ana/avocet/docs".into()), true)] {
        let step = Step { cwd, ..step("1", "ls", &[]) };
        let mut screen = Screen::with_events([turn_started("x"), step_ran(step, 0, "a\n", "")]);
        screen.transcript.toggle_steps();
        let text = screen.text();
        assert_eq!(text.contains("folder"), names, "{text}");
    }
}

#[test]
fn a_step_of_an_agent_that_was_asked_about_is_shown_to_its_end() {
    let push = step("cmd_001_001", "git", &["push"]);
    let look = step("cmd_001_002", "ls", &[]);
    let question = StepQuestion::new(push.clone(), risk(Tier::L1), "/home/ana");
    let of_agent = |step, outcome| Event::Subagent {
        agent: "cmd_001".into(),
        tokens: 1,
        happened: Box::new(step_finished(observation(step, Tier::L1, outcome))),
    };
    let mut screen = Screen::new(80, 30);
    screen.apply_all([
        turn_started("go"),
        Event::Asked(Box::new(Ask { id: AskId(1), question: Question::Step(question) })),
        of_agent(push, Outcome::Declined),
        of_agent(look, Outcome::Ran),
    ]);
    let text = screen.text();
    assert!(text.contains("git push") && text.contains("rejected"), "{text}");
    assert!(!text.contains("ls"), "the others stay with the agent: {text}");
}
