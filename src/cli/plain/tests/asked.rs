//! Questions as lines, and what is written around them.

use super::*;
use avocet_core::protocol::{Change, ParsedOutput};

#[test]
fn trust_is_asked_about_in_a_line_of_words() {
    let mut linear = linear();
    let answers = "[n]o (only reads run unasked), [t]rust the folder, [a]lso the parent folder, \
                   [x] quit";
    let lines = written(&linear.on_event(trust_question()));
    assert!(lines.iter().any(|line| line == answers), "{lines:?}");
    for answer in ["t", "trust", "2"] {
        let mut linear = asked_about_trust();
        linear.on_line(answer);
        assert_eq!(linear.on_line(answer), decides(Decision::Approve), "{answer}");
    }
    for answer in ["x", "quit", "stop", "4"] {
        assert_eq!(asked_about_trust().on_line(answer), decides(Decision::Stop), "{answer}");
    }
    let no = decides(Decision::Reject { word: None });
    for answer in ["n", "no", "1"] {
        assert_eq!(asked_about_trust().on_line(answer), no, "{answer}");
    }
}

#[test]
fn a_step_that_would_run_in_the_background_is_asked_about_as_such() {
    let Event::Asked(mut ask) = asks(risk(Tier::L1, false)) else { panic!("asks") };
    let Question::Step(asked) = &mut ask.question else { panic!("a step") };
    asked.step.requires.background = true;
    let lines = written(&linear().on_event(Event::Asked(ask)));
    assert!(lines.iter().any(|line| line.contains("in the background: git push")), "{lines:?}");
}

#[test]
fn what_a_lasting_choice_covers_is_read_out_in_two_sentences() {
    use avocet_core::i18n::rules;
    let Event::Asked(mut ask) = asks(risk(Tier::L1, false)) else { panic!("asks") };
    let Question::Step(asked) = &mut ask.question else { panic!("a step") };
    let covers = [rules::PINNED, rules::OPTIONS, rules::ASKS, rules::REASONS];
    asked.rule_covers = covers.map(LocalizedText::from).to_vec();
    let mut linear = linear();
    linear.on_event(Event::Asked(ask));
    let lines = written(&linear.on_line("s"));
    assert_eq!(lines.len(), 5, "{lines:?}");
    assert!(lines[1].contains("as long as") && lines[2].contains("still asks"), "{lines:?}");
}

#[test]
fn an_edit_is_named_once_and_only_one_of_several_steps_has_a_number() {
    for (of, first) in [(1, "A step needs your OK."), (2, "A step needs your OK, 1 of 2.")] {
        let mut judged = risk(Tier::L1, false);
        judged.reasons[0].say = avocet_core::i18n::safety::TOOL_WRITES.with("path", "a.txt");
        let Event::Asked(mut ask) = asks(judged) else { panic!("asks") };
        let Question::Step(asked) = &mut ask.question else { panic!("a step") };
        asked.of = of;
        let diff = "--- a.txt\n+++ a.txt\n@@ -0,0 +1 @@\n+one\n".into();
        asked.change = Some(Change { path: "/work/a.txt".into(), diff, ..Change::default() });
        let lines = written(&linear().on_event(Event::Asked(ask)));
        assert_eq!(lines[0], first);
        assert_eq!(lines.iter().filter(|line| line.contains("a.txt")).count(), 1, "{lines:?}");
    }
}

#[test]
fn what_only_read_is_one_line_and_a_line_of_the_user_shows_its_output() {
    let mut linear = linear();
    linear.on_event(started());
    let reads = [
        StepAction::exec("cat", &["a.txt"]),
        StepAction::Tool { name: "file.read".into(), input: serde_json::json!({ "path": "a" }) },
    ];
    let typed = StepAction::Shell { line: "cat a.txt".into() };
    for (work, code, lines, first) in [
        (reads[0].clone(), 0, 1, "Running: cat a.txt"),
        (reads[1].clone(), 0, 1, "Reading a"),
        (reads[0].clone(), 1, 4, "Running: cat a.txt"),
        (typed, 0, 4, "Running: cat a.txt"),
    ] {
        let risk = risk(Tier::L0, false);
        let step = Step { id: "cmd_001".into(), work, requires: Requires::default(), cwd: None };
        let before = Event::StepStarted { step: step.clone(), risk: risk.clone() };
        let observation = Observation {
            exit_code: Some(code),
            stdout: "one\ntwo\n".into(),
            ..Observation::not_run(step, "/work", risk, Came::Ran)
        };
        let mut shown = written(&linear.on_event(before));
        shown.extend(written(&linear.on_event(Event::StepFinished(Box::new(observation)))));
        assert_eq!((shown.len(), &*shown[0]), (lines, first), "{shown:?}");
    }
}

/// The lines about a step of the model that ended so.
fn lines_of(stdout: &str, code: i32, parsed: Option<ParsedOutput>) -> Vec<String> {
    let work = StepAction::exec("npm", &["test"]);
    let step = Step { id: "cmd_001".into(), work, requires: Requires::default(), cwd: None };
    let observation = Observation {
        exit_code: Some(code),
        stdout: stdout.into(),
        parsed,
        ..Observation::not_run(step, "/work", risk(Tier::L1, false), Came::Ran)
    };
    written(&linear().on_event(Event::StepFinished(Box::new(observation))))
}

#[test]
fn a_failing_test_is_read_out_by_its_name_and_its_place() {
    let failed = serde_json::json!({
        "failed": "formats two digits", "file": "/work/price.test.js", "line": 6,
        "message": "expected '1.50'\nactual '1.5'",
    });
    let counts = serde_json::json!({ "failed": 1 });
    let items = vec![counts, failed];
    let parsed = ParsedOutput { kind: "test_summary".into(), total: 3, items };
    let stdout = "noise\n".repeat(60);
    assert_eq!(
        lines_of(&stdout, 1, Some(parsed)),
        [
            "  formats two digits  price.test.js:6",
            "    expected '1.50'",
            "    actual '1.5'",
            "  and 57 more lines",
            "It ended with exit code 1."
        ]
    );
}

#[test]
fn of_other_output_only_the_lines_that_tell_are_read_out() {
    let stdout = "noise\n".repeat(60) + "error: no such thing\n  at a.rs:4\n";
    let lines = lines_of(&stdout, 1, None);
    assert_eq!(lines[..2], ["  error: no such thing", "    at a.rs:4"], "{lines:?}");
    assert_eq!(lines_of(&stdout, 0, None).len(), 10, "eight lines, how many more, and the end");
}

#[test]
fn what_comes_unasked_does_not_stand_behind_the_prompt() {
    let printer =
        crate::cli::messages::Printer { lang: Lang::En, clean: str::to_owned, width: None };
    let mut output = run::PlainOutput { out: Vec::new(), printer, is_prompting: false };
    let line = |text: &str| PlainEffect::Line(text.into());
    for effect in [PlainEffect::Prompt, PlainEffect::Prompt, line("trust?"), PlainEffect::Prompt] {
        output.write(&effect).unwrap();
    }
    output.is_prompting = false;
    output.write(&line("typed on")).unwrap();
    assert_eq!(String::from_utf8_lossy(&output.out), "> \ntrust?\n> typed on\n");
}
