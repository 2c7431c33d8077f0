//! What the rows of a question say, and how few of them there are.

use super::asking::{row, screen_with, text, writes};
use super::*;
use avocet_core::protocol::Change;

#[test]
fn whole_words_of_a_long_command_share_rows() {
    let message = "Show two digits in prices and pad the receipt to 32 columns";
    let args = ["commit", "--all", "--signoff", "-m", message, "--", "a b.rs", "src/price.rs"];
    let mut state = screen_with(step_question(StepAction::exec("git", &args), risk(Tier::L1)));
    let shown = text(&mut state, SIZE);
    let rows: Vec<&str> = shown.lines().map(str::trim).collect();
    let at = rows.iter().position(|row| *row == "$ git commit --all --signoff -m");
    let at = at.unwrap_or_else(|| panic!("{shown}"));
    assert_eq!(rows[at + 1], format!("'{message}' --"), "{shown}");
    assert_eq!(rows[at + 2], "'a b.rs' src/price.rs", "{shown}");
}

#[test]
fn a_change_is_asked_about_as_what_it_is_and_its_file_is_named_once() {
    let is = |text: &str| Some(text.to_owned());
    let cases = [
        (None, is("2"), "Create a.txt?"),
        (is("1"), None, "Delete a.txt?"),
        (is("1"), is("2"), "Apply this edit to a.txt?"),
    ];
    for (before, after, title) in cases {
        let mut judged = risk(Tier::L1);
        judged.reasons[0].say = avocet_core::i18n::safety::TOOL_WRITES.with("path", "a.txt");
        judged.effects = vec![protocol::Effect::Write];
        let protocol::Event::Asked(mut ask) = writes(3, judged) else { panic!("asks") };
        let Question::Step(StepQuestion { change: Some(change), .. }) = &mut ask.question else {
            panic!("a step")
        };
        (change.before, change.after) = (before, after);
        let mut state = screen_with(protocol::Event::Asked(ask));
        let shown = text(&mut state, SIZE);
        assert!(
            shown.lines().any(|row| row.trim() == format!("{title} +3 -0")),
            "{title}\n{shown}"
        );
        assert!(!shown.contains("Writes `a.txt`"), "{shown}");
    }
}

#[test]
fn a_name_with_hidden_characters_is_escaped_once() {
    let protocol::Event::Asked(mut ask) = writes(1, risk(Tier::L1)) else { panic!("asks") };
    let Question::Step(StepQuestion { change: Some(change), .. }) = &mut ask.question else {
        panic!("a step")
    };
    change.diff = change.diff.replace("a.txt", r"a\u{202e}b.txt");
    let mut state = screen_with(protocol::Event::Asked(ask));
    let shown = text(&mut state, SIZE);
    assert_eq!(shown.matches(r"a\u{202e}b.txt").count(), 1, "the title\n{shown}");
}

#[test]
fn a_reason_that_does_not_fit_the_head_has_rows_and_the_head_names_what_leaves() {
    for (effect, leaves) in [(protocol::Effect::Exec, false), (protocol::Effect::Send, true)] {
        let mut judged = risk(Tier::L1);
        let program = "p".repeat(60);
        judged.reasons[0].say = avocet_core::i18n::safety::WRITES_FILES.with("program", program);
        judged.reasons[0].arg = None;
        judged.effects = vec![effect];
        let mut state = screen_with(step_question(StepAction::exec("touch", &["a"]), judged));
        let head = row(&mut state, "Run this?");
        assert_eq!(head.contains("may send to other machines"), leaves, "{head}");
        assert!(!head.contains("ppp") && row(&mut state, "why").contains("ppp"), "{head}");
    }
}

#[test]
fn a_step_that_is_asked_about_again_has_no_number() {
    for (rule, has_number) in [("touch", true), (protocol::SandboxDenial::RULE, false)] {
        let mut judged = risk(Tier::L1);
        rule.clone_into(&mut judged.rule);
        let protocol::Event::Asked(mut ask) =
            step_question(StepAction::exec("touch", &["a"]), judged)
        else {
            panic!("asks")
        };
        let Question::Step(asked) = &mut ask.question else { panic!("a step") };
        (asked.number, asked.of) = (2, 2);
        let mut state = screen_with(protocol::Event::Asked(ask));
        assert_eq!(text(&mut state, SIZE).contains("2 of 2"), has_number, "{rule}");
    }
}

/// A question about this change of `/w/NAME`.
fn asks_to_change(name: &str, change: Change) -> State {
    let protocol::Event::Asked(mut ask) = writes(3, risk(Tier::L1)) else { panic!("asks") };
    let Question::Step(asked) = &mut ask.question else { panic!("a step") };
    asked.change = Some(Change { path: format!("/w/{name}"), ..change });
    screen_with(protocol::Event::Asked(ask))
}

#[test]
fn the_title_of_an_edit_names_its_file_and_the_diff_follows_at_once() {
    let change = |name: &str| {
        let diff = format!("--- {name}\n+++ {name}\n@@ -1 +1,2 @@\n-one\n+two\n+three\n");
        Change { added: 2, removed: 1, diff, ..Change::default() }
    };
    let mut state = asks_to_change("a.txt", change("a.txt"));
    let shown = text(&mut state, SIZE);
    let mut rows = shown.lines().skip_while(|row| !row.contains("Apply this edit to"));
    let title = rows.next().expect("the title");
    assert!(title.contains("a.txt? +2 -1"), "{shown}");
    assert!(
        rows.next().is_some_and(|row| row.contains("-one") || row.contains("- one")),
        "{shown}"
    );
    // A name that the title has no room for has a row of its own.
    let long = format!("{}.txt", "n".repeat(50));
    let mut state = asks_to_change(&long, change(&long));
    let shown = text(&mut state, SIZE);
    assert!(shown.contains(&format!("{long}  +2 -1")), "{shown}");
}

#[test]
fn a_title_always_names_its_file() {
    let change = Change { after: Some("one\n".to_owned()), ..Change::default() };
    let mut state = asks_to_change("a.txt", change);
    for width in 24..=80 {
        let shown = text(&mut state, (width, 8));
        assert!(shown.lines().any(|row| row.contains("Create") && row.contains("xt?")), "{shown}");
    }
}

#[test]
fn an_empty_file_can_be_approved() {
    let change = Change { after: Some(String::new()), ..Change::default() };
    let mut state = asks_to_change("a.txt", change);
    assert!(row(&mut state, "/w/a.txt").contains("+0 -0"));
    assert_eq!(answer_at(&mut state, "y", 5_000), decides(Decision::Approve));
}
