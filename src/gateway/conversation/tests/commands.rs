//! Which message answers which command, and what completes them.

use super::*;

/// The texts that are sent from now on, and the commands that they answer.
fn answers(chat: &mut ChatConversation) -> Vec<(String, Option<String>)> {
    let mut sent = Vec::new();
    while let NextCall::Call(call) = chat.next_call(std::time::Instant::now()) {
        chat.timeline.begin(call.key);
        let text = texts(std::slice::from_ref(&call.kind));
        sent.push((text, call.new.answers.as_ref().map(|delivery| delivery.0.clone())));
        chat.timeline.finish(*call, Ok(Some("9".into())), std::time::Instant::now());
    }
    sent
}

#[test]
fn each_command_is_answered_in_its_own_place_and_a_running_reply_takes_none() {
    let mut chat = conversation(&[]);
    chat.on_text(&user("ann"), "m1".into(), "go", Vec::new());
    chat.on_event(started("go"));
    let stop = chat.on_command(&user("ann"), "c1".into(), sent("stop", ""));
    assert!(matches!(ops(&stop).as_slice(), [Op::Stop]));
    chat.on_command(&user("bob"), "c2".into(), sent("whoami", ""));
    chat.on_event(Event::Delta { text: "I am at it".into() });
    let ending = TurnOutcome::Stopped;
    chat.on_event(Event::TurnEnded { turn: 1, ending, usage: Usage::default(), elapsed_ms: 1 });
    chat.on_command(&user("ann"), "c3".into(), sent("help", ""));
    let sent = answers(&mut chat);
    let of = |words: &str| {
        let found = sent.iter().find(|(text, _)| text.contains(words));
        found.unwrap_or_else(|| panic!("{words}: {sent:?}")).1.as_deref()
    };
    assert_eq!(of("bob"), Some("c2"));
    assert_eq!(of("I am at it"), Some("m1"));
    assert_eq!(of("Stopped"), Some("c1"));
    assert!(sent.iter().any(|(_, answers)| *answers == Some("c3".into())), "{sent:?}");
    assert_eq!(chat.take_commands(), ["c1".into(), "c2".into(), "c3".into()]);
    assert!(chat.take_commands().is_empty());
}

#[test]
fn a_command_that_becomes_a_message_is_answered_by_its_turn() {
    let mut chat = conversation(&[]);
    chat.extensions = extensions(&["foo"]);
    chat.on_text(&user("ann"), "m1".into(), "go", Vec::new());
    chat.on_event(started("go"));
    chat.on_command(&user("ann"), "c2".into(), sent("foo", ""));
    chat.on_event(Event::Catalogue(Box::new(extensions(&["foo"]))));
    chat.on_event(Event::Replied(ModelMessage {
        message: "Of m1.".into(),
        ..ModelMessage::default()
    }));
    chat.on_event(ended());
    chat.on_event(started("/foo"));
    chat.on_event(Event::Replied(ModelMessage {
        message: "Of foo.".into(),
        ..ModelMessage::default()
    }));
    let sent = answers(&mut chat);
    let answered: Vec<_> =
        sent.iter().filter_map(|(text, to)| Some((text.as_str(), to.as_deref()?))).collect();
    let expected = [("Queued", "c2"), ("Of m1", "m1"), ("Of foo", "c2")];
    assert_eq!(answered.len(), 3, "{sent:?}");
    for ((text, to), (words, of)) in answered.iter().zip(expected) {
        assert!(text.contains(words) && *to == of, "{sent:?}");
    }
}

#[test]
fn a_command_that_the_driver_answers_is_answered_in_its_place() {
    let mut chat = conversation(&[]);
    let effects = chat.on_command(&user("admin"), "c1".into(), sent("sethome", "/x"));
    assert!(effects.contains(&ChatEffect::SetHome("/x".to_owned(), "c1".into())), "{effects:?}");
    chat.on_command(&user("bob"), "c2".into(), sent("whoami", ""));
    chat.answer("c1".into(), w::HOME_SET.with("folder", "/x"));
    let answered: Vec<_> = answers(&mut chat).into_iter().filter_map(|(_, to)| to).collect();
    assert_eq!(answered, ["c2", "c1"]);
}

#[test]
fn the_command_that_takes_all_others_is_completed_like_them() {
    let mut chat = conversation(&[]);
    chat.options.platform = ChatPlatform::Discord;
    for typed in ["stat", "/stat"] {
        assert!(chat.suggest("avocet", "command", typed).contains(&"status".to_owned()), "{typed}");
    }
    assert!(chat.suggest("avocet", "command", "mode l").contains(&"mode low".to_owned()));
    assert!(chat.suggest("mode", "mode", "l").contains(&"low".to_owned()));
}
