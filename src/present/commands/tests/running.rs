//! What is offered while a turn runs.

use super::*;

#[test]
fn what_a_running_turn_refuses_is_offered_only_to_those_who_name_it() {
    let names = |fixture: &CommandFixture, line: &str| {
        let found = complete(&fixture.call(), line).into_iter();
        found.map(|candidate| candidate.text).collect::<Vec<_>>()
    };
    let (all, running) = (names(&fixture(), "/"), names(&busy(), "/"));
    assert!(all.contains(&"/rewind".into()) && !running.contains(&"/rewind".into()), "{running:?}");
    assert!(running.contains(&"/steer".into()) && running.contains(&"/help".into()));
    for line in running {
        let outcome = dispatch(&busy().call(), &line);
        let refusal = i18n::commands::BUSY;
        let is_refused =
            matches!(&outcome, CommandOutcome::Say(why) if why.say.phrase() == refusal);
        assert!(!is_refused, "{line}: {outcome:?}");
    }
    assert_eq!(names(&busy(), "/rewi"), ["/rewind"]);
}
