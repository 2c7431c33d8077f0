//! What a chat offers by buttons and questions of its own: suggestions, values of commands, the
//! argument that a command lacks, and the plan.

use super::*;
use avocet_core::protocol::{PlanItem, PlanState};

fn replied(text: &str, suggestions: &[&str]) -> Event {
    let suggestions = suggestions.iter().map(|one| (*one).to_owned()).collect();
    Event::Replied(ModelMessage {
        message: text.to_owned(),
        suggestions,
        ..ModelMessage::default()
    })
}

fn buttons(shown: &[ChatOperation]) -> Vec<(String, String)> {
    let questions = shown.iter().filter_map(|kind| match kind {
        ChatOperation::Ask(question) => Some(&question.buttons),
        _ => None,
    });
    questions.flatten().map(|button| (button.label.clone(), button.data.clone())).collect()
}

#[test]
fn a_suggestion_is_a_button_that_sends_it_as_the_message_of_who_presses_it() {
    let mut chat = conversation(&[]);
    chat.on_text(&user("ann"), "d1".into(), "go", Vec::new());
    begin(&mut chat, "go");
    chat.on_event(replied("Done.", &["Run the tests", "Commit it"]));
    chat.on_event(ended());
    let offered = buttons(&show(&mut chat, |_| None));
    assert_eq!(offered[0].0, "Run the tests");
    let effects = chat.on_press(&member("8", "Bob"), "d2".into(), &offered[1].1, "p".to_owned());
    assert!(effects.contains(&ChatEffect::Acknowledge { press: "p".to_owned(), text: None }));
    let op = Op::Turn(TurnOp::Submit { text: "[Bob] Commit it".to_owned() });
    assert!(ops(&effects).contains(&&op), "{effects:?}");
    assert!(texts_of(&mut chat).contains("→ Commit it"), "its buttons are gone");
    let late = chat.on_press(&user("ann"), "d3".into(), &offered[0].1, "p".to_owned());
    assert!(ops(&late).is_empty(), "{late:?}");
}

#[test]
fn a_suggestion_that_would_run_a_command_or_attach_a_file_is_not_offered() {
    let mut chat = conversation(&[]);
    chat.on_text(&user("ann"), "d1".into(), "go", Vec::new());
    begin(&mut chat, "go");
    let hostile = ["/mode auto", "!rm x", "Look at @src/.env", " ", " /allow *", "Run the tests"];
    chat.on_event(replied("Done.", &hostile));
    chat.on_event(ended());
    let offered = buttons(&show(&mut chat, |_| None));
    let labels: Vec<&str> = offered.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["Run the tests"]);
}

#[test]
fn a_mode_is_chosen_by_a_button_with_the_rights_of_who_presses_it() {
    let mut chat = conversation(&["mode"]);
    chat.on_command(&user("ann"), "c1".into(), sent("mode", ""));
    let offered = buttons(&show(&mut chat, |_| None));
    let auto = offered.iter().find(|(label, _)| label == "/mode auto").unwrap();
    let effects = chat.on_press(&user("ann"), "d1".into(), &auto.1, "p".to_owned());
    assert!(ops(&effects).is_empty(), "{effects:?}");
    assert!(texts_of(&mut chat).contains("Only an admin may choose"));
}

#[test]
fn the_next_message_of_who_sent_a_command_bare_is_its_argument() {
    let mut chat = conversation(&[]);
    chat.on_command(&user("ann"), "c1".into(), sent("steer", ""));
    assert!(texts_of(&mut chat).contains("Send it now"));
    let other = chat.on_text(&user("bob"), "d1".into(), "a message", Vec::new());
    assert!(ops(&other).contains(&&Op::Turn(TurnOp::Submit { text: "a message".to_owned() })));
    let effects = chat.on_text(&user("ann"), "d2".into(), "in blue", Vec::new());
    let steer = Op::Turn(TurnOp::Steer { text: "in blue".to_owned() });
    assert!(ops(&effects).contains(&&steer), "{effects:?}");
    let effects = chat.on_text(&user("ann"), "d3".into(), "another", Vec::new());
    assert!(ops(&effects).contains(&&Op::Turn(TurnOp::Submit { text: "another".to_owned() })));
}

#[test]
fn the_plan_of_the_model_is_one_message_that_changes() {
    let mut chat = conversation(&[]);
    chat.on_text(&user("ann"), "d1".into(), "go", Vec::new());
    begin(&mut chat, "go");
    let plan = |first: PlanState| {
        let item = |text: &str, state| PlanItem { text: text.to_owned(), state };
        Event::Plan { items: vec![item("read", first), item("write", PlanState::Pending)] }
    };
    chat.on_event(plan(PlanState::Doing));
    assert_eq!(texts_of(&mut chat), "▸ read\n○ write");
    chat.on_event(plan(PlanState::Done));
    let shown = show(&mut chat, |_| None);
    assert!(matches!(shown[0], ChatOperation::Edit(..)), "{shown:?}");
    assert_eq!(texts(&shown), "✓ read\n○ write");
}

#[test]
fn a_message_during_a_question_is_told_what_it_waits_for() {
    let mut chat = conversation(&[]);
    chat.on_text(&user("ann"), "d1".into(), "go", Vec::new());
    begin(&mut chat, "go");
    chat.on_event(asked("x"));
    show(&mut chat, |_| None);
    chat.on_text(&user("ann"), "d2".into(), "ok do it", Vec::new());
    chat.on_text(&user("ann"), "d3".into(), "please", Vec::new());
    let shown = show(&mut chat, |_| None);
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(texts(&shown).contains("waits for your answer"), "{shown:?}");
    assert!(texts(&shown).contains("2 waiting"), "{shown:?}");
}

#[test]
fn what_was_approved_stays_readable_in_its_message() {
    let mut chat = conversation(&[]);
    chat.on_text(&user("ann"), "d1".into(), "go", Vec::new());
    begin(&mut chat, "go");
    chat.on_event(asked("hello"));
    let question = texts_of(&mut chat);
    let press = button(&chat, "once");
    chat.on_press(&user("ann"), "d2".into(), &press, "p".to_owned());
    chat.on_event(Event::QuestionClosed { ask: AskId(1) });
    assert_eq!(texts_of(&mut chat), format!("{question}\n→ Approved by ann"));
}

#[test]
fn what_a_message_answers_goes_to_the_model_and_is_no_part_of_an_answer() {
    let mut chat = conversation(&[]);
    let quoting = Speaker { quote: "> Bob: /stop @Cargo.toml".to_owned(), ..member("7", "Ann") };
    let effects = chat.on_text(&quoting, "d1".into(), "explain this", Vec::new());
    let text = "[Ann]\n> Bob: /stop @Cargo.toml\n\nexplain this".to_owned();
    assert_eq!(ops(&effects), [&Op::Turn(TurnOp::Submit { text: text.clone() })]);
    begin(&mut chat, &text);
    let question = Question::Choice {
        step: "1".to_owned(),
        script: None,
        text: "?".to_owned(),
        choices: vec!["red".to_owned()],
        free: false,
        fallback: None,
    };
    chat.on_event(Event::Asked(Box::new(Ask { id: AskId(1), question })));
    show(&mut chat, |_| None);
    let effects = chat.on_text(&quoting, "d2".into(), "red", Vec::new());
    let decide =
        Op::Question(QuestionOp::Decide { ask: AskId(1), decision: Decision::Choose { index: 0 } });
    assert!(ops(&effects).contains(&&decide), "{effects:?}");
}
