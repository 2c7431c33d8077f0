//! What a question shows, and what it keeps for those who ask.

use super::asking::{row, screen_with, text, touches};
use super::*;

#[test]
fn details_of_a_question_wait_behind_a_key_except_with_high_risk() {
    let asks = |risk: Risk| {
        let protocol::Event::Asked(mut ask) = touches() else { panic!("asks") };
        let Question::Step(asked) = &mut ask.question else { panic!("a step") };
        (asked.resolved, asked.risk) = (Some("/usr/bin/touch".into()), risk);
        asked.expected = "a is there".into();
        screen_with(protocol::Event::Asked(ask))
    };
    let hidden = ["/usr/bin/touch", "test.rule", "a is there"];
    let mut state = asks(risk(Tier::L1));
    let shown = text(&mut state, SIZE);
    assert!(hidden.iter().all(|fact| !shown.contains(fact)), "{shown}");
    assert_eq!(press_at(&mut state, "d", 5_000), []);
    let shown = text(&mut state, SIZE);
    assert!(hidden.iter().all(|fact| shown.contains(fact)), "{shown}");
    assert_eq!(press_at(&mut state, "dy", 5_100), decides(Decision::Approve));
    let shown = text(&mut asks(Risk { lifted: true, ..risk(Tier::L1) }), SIZE);
    assert!(hidden.iter().all(|fact| shown.contains(fact)), "{shown}");
}

#[test]
fn a_lasting_choice_names_its_rule_and_another_folder_is_always_named() {
    let mut state = screen_with(touches());
    assert!(row(&mut state, "for this session").contains("`touch *`"));
    let protocol::Event::Asked(mut ask) = touches() else { panic!("asks") };
    let Question::Step(asked) = &mut ask.question else { panic!("a step") };
    asked.cwd = "/elsewhere".into();
    let mut state = screen_with(protocol::Event::Asked(ask));
    assert!(row(&mut state, "/elsewhere").contains("folder"));
}
