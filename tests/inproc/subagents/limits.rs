//! What limits the turns of agents, and counts to the turn that waits for them.

use super::*;

#[tokio::test]
async fn an_agent_that_meets_a_limit_says_so_in_its_result() {
    let list = cmd("ls", &[]);
    let other = cmd("ls", &["-a"]);
    let replies = [&*task("general", "Look."), &list, &other, DONE];
    let mut talk = start(&replies, |parts| parts.info.max_steps = Some(1));
    talk.client.submit("look").await;
    let (ask, question) = talk.client.next_question().await;
    let Question::Pause { why } = question else { panic!("{question:?}") };
    assert!(why.text(Lang::En).starts_with("general asks: "), "{}", why.text(Lang::En));
    let decision = Decision::Reject { word: None };
    talk.client.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    let events = talk.client.until_it_ends().await;
    let [seen] = observations(&events)[..] else { panic!("{events:#?}") };
    assert_eq!(seen.exit_code, Some(1));
    assert!(seen.stderr.starts_with("The agent `general` did not finish: "), "{}", seen.stderr);
    talk.client.close().await;
}

#[tokio::test]
async fn agents_that_run_at_the_same_time_count_to_one_limit() {
    let used = |reply: &str| format!("#! {{\"usage\":[30,30]}}\n{reply}");
    let list = used(&cmd("ls", &[]));
    let replies = [&*used(&two_tasks()), &list, &list, DONE, DONE, DONE];
    let mut talk = start(&replies, |parts| {
        parts.info.spend_limits.session.tokens = Some(150);
    });
    talk.client.submit("look").await;
    let mut all = Vec::new();
    let why = loop {
        let next = talk.client.next(|event| match event {
            Event::Asked(ask) => Some(Ok((ask.id, ask.question))),
            Event::TurnEnded { ending, .. } => Some(Err(ending)),
            _ => None,
        });
        match next.await {
            Ok((ask, Question::Pause { why })) => {
                all.push(why.text(Lang::En));
                let decision = Decision::Stop;
                talk.client.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
            }
            Ok(other) => panic!("{other:?}"),
            Err(TurnOutcome::Limit { why }) => break why.text(Lang::En),
            Err(ending) => panic!("{ending:?} {all:?}"),
        }
    };
    let most = "has used 180 tokens; `limits.tokens.session` allows 150.";
    assert!(why.ends_with(most), "{why}");
    assert!(all.iter().all(|why| why.ends_with(most)), "{all:?}");
    assert_eq!(all.len(), 3, "both agents and the turn: {all:?}");
    talk.client.close().await;
}

#[tokio::test]
async fn a_limit_that_the_user_lifts_is_lifted_for_all_agents_of_the_turn() {
    let used = |reply: &str| format!("#! {{\"usage\":[30,30]}}\n{reply}");
    let list = used(&cmd("ls", &[]));
    let tasks = used(&two_tasks());
    // Two agents at once reach it, a third one begins after that.
    let little = |reply: &str| format!("#! {{\"usage\":[1,1]}}\n{reply}");
    let done = little(DONE);
    let later = little(&task("general", "Look."));
    let replies = [&*tasks, &list, &list, &done, &done, &later, &done, &done];
    let mut talk = start(&replies, |parts| {
        parts.info.spend_limits.session.tokens = Some(150);
    });
    talk.client.submit("look").await;
    let mut asked = 0;
    loop {
        let next = talk.client.next(|event| match event {
            Event::Asked(ask) => Some(Some((ask.id, ask.question))),
            Event::TurnEnded { ending, .. } => {
                assert_eq!(ending, TurnOutcome::Done);
                Some(None)
            }
            _ => None,
        });
        let Some((ask, question)) = next.await else { break };
        assert!(matches!(question, Question::Pause { .. }), "{question:?}");
        asked += 1;
        let decision = Decision::Approve;
        talk.client.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    }
    assert_eq!(asked, 1);
    talk.client.close().await;
}

#[tokio::test]
async fn the_steps_of_an_agent_count_to_the_limit_of_the_turn_that_waits_for_it() {
    let list = |args: &[&str]| cmd("ls", args);
    let replies = [
        &*task("general", "Look."),
        &list(&[]),
        &list(&["-a"]),
        &chat("Looked."),
        &list(&["-l"]),
        DONE,
    ];
    let mut talk = start(&replies, |parts| parts.info.max_steps = Some(3));
    talk.client.submit("look").await;
    let (ask, question) = talk.client.next_question().await;
    let Question::Pause { why } = question else { panic!("{question:?}") };
    assert_eq!(why.text(Lang::En), "This turn has reached its step limit (3).");
    let decision = Decision::Approve;
    talk.client.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    let events = talk.client.until_it_ends().await;
    assert_eq!(observations(&events).len(), 1, "it goes on: {events:#?}");
    talk.client.close().await;

    // The turn has two of them, so its agent is asked about at its second.
    let replies =
        [&*list(&[]), &task("general", "Look."), &list(&["-a"]), &list(&["-l"]), DONE, DONE];
    let mut talk = start(&replies, |parts| parts.info.max_steps = Some(2));
    talk.client.submit("look").await;
    let (_, question) = talk.client.next_question().await;
    let Question::Pause { why } = question else { panic!("{question:?}") };
    let asked = "general asks: This turn has reached its step limit (2).";
    assert_eq!(why.text(Lang::En), asked);
    talk.client.close().await;
}
