//! Which message answers which command, and what completes them.

use super::*;
use avocet_core::protocol::{Image, Report, RuleOp, SessionOp};

/// The texts that are sent from now on, and the commands that they answer.
fn answers(chat: &mut ChatConversation) -> Vec<(String, Option<String>)> {
    let mut sent = Vec::new();
    while let TimelineAction::Call(call) = chat.view.next_call(std::time::Instant::now()) {
        chat.view.posts.timeline.begin(call.key);
        let text = texts(std::slice::from_ref(&call.kind));
        sent.push((text, call.new.answers.as_ref().map(|delivery| delivery.0.clone())));
        chat.view.posts.timeline.finish(*call, Ok(Some("9".into())), std::time::Instant::now());
    }
    sent
}

#[test]
fn each_command_is_answered_in_its_own_place_and_a_running_reply_takes_none() {
    let mut chat = conversation(&[]);
    chat.on_text(&user("ann"), "m1".into(), "go", Vec::new());
    begin(&mut chat, "go");
    let stop = chat.on_command(&user("ann"), "c1".into(), sent("stop", ""));
    assert!(matches!(ops(&stop).as_slice(), [Op::Turn(TurnOp::Stop)]));
    chat.on_command(&user("bob"), "c2".into(), sent("whoami", ""));
    chat.on_event(Event::Delta { text: "I am at it".into() });
    let ending = TurnOutcome::Stopped;
    chat.on_event(Event::TurnEnded { turn: 1, ending, usage: Usage::default(), elapsed_ms: 1 });
    chat.on_command(&user("ann"), "c3".into(), sent("status", ""));
    let sent = answers(&mut chat);
    let of = |words: &str| {
        let found = sent.iter().find(|(text, _)| text.contains(words));
        found.unwrap_or_else(|| panic!("{words}: {sent:?}")).1.as_deref()
    };
    assert_eq!(of("bob"), Some("c2"));
    assert_eq!(of("I am at it"), Some("m1"));
    assert_eq!(of("Stopped"), Some("c1"));
    assert!(sent.iter().any(|(_, answers)| *answers == Some("c3".into())), "{sent:?}");
    assert_eq!(chat.view.posts.open_commands.take(), ["c1".into(), "c2".into(), "c3".into()]);
    assert!(chat.view.posts.open_commands.take().is_empty());
}

#[test]
fn a_command_that_becomes_a_message_is_answered_by_its_turn() {
    let mut chat = conversation(&[]);
    chat.context.extensions = extensions(&["foo"]);
    chat.on_text(&user("ann"), "m1".into(), "go", Vec::new());
    begin(&mut chat, "go");
    chat.on_command(&user("ann"), "c2".into(), sent("foo", ""));
    chat.on_event(Event::Catalogue(Box::new(extensions(&["foo"]))));
    chat.on_event(Event::Replied(ModelMessage {
        message: "Of m1.".into(),
        ..ModelMessage::default()
    }));
    chat.on_event(ended());
    begin(&mut chat, "/foo");
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
fn a_stop_that_stops_nothing_tells_how_to_stop_a_thread_where_no_slash_is_taken() {
    for marks_commands in [false, true] {
        let mut chat = conversation(&[]);
        chat.context.options.limits.customs.marks_commands = marks_commands;
        chat.on_command(&user("ann"), "c1".into(), sent("stop", ""));
        assert_eq!(texts_of(&mut chat).contains("type `!stop` there"), marks_commands);
    }
}

#[test]
fn a_command_that_the_driver_answers_is_answered_in_its_place() {
    let mut chat = conversation(&[]);
    let effects = chat.on_command(&user("admin"), "c1".into(), sent("sethome", "/x"));
    assert!(effects.contains(&ChatEffect::SetHome("/x".to_owned(), "c1".into())), "{effects:?}");
    chat.on_command(&user("bob"), "c2".into(), sent("whoami", ""));
    chat.view.posts.answer("c1".into(), w::HOME_SET.with("folder", "/x"));
    let answered: Vec<_> = answers(&mut chat).into_iter().filter_map(|(_, to)| to).collect();
    assert_eq!(answered, ["c2", "c1"]);
}

#[test]
fn the_command_that_takes_all_others_is_completed_like_them() {
    let mut chat = conversation(&[]);
    chat.context.options.platform = ChatPlatform::Discord;
    for typed in ["stat", "/stat"] {
        assert!(
            chat.context.suggest("avocet", "command", typed, false).contains(&"status".to_owned()),
            "{typed}"
        );
    }
    assert!(
        chat.context.suggest("avocet", "command", "mode l", false).contains(&"mode low".to_owned())
    );
    assert!(chat.context.suggest("mode", "mode", "l", false).contains(&"low".to_owned()));
}

/// The user's commands: one in a folder that no one but admins may use, and others.
fn own_commands() -> Extensions {
    let mut all = extensions(&["ops:deploy-prod", "ops:adm", "git.commit", "weather"]);
    all.entries[1].traits.category = Category::Configuration;
    all.entries[3].traits.aliases = vec!["wth".to_owned()];
    let choices = (0..30).map(|n| format!("place {n}")).collect();
    let city = CommandArgument { name: "city".to_owned(), choices, ..CommandArgument::default() };
    all.entries[3].traits.arguments = vec![city];
    all
}

#[test]
fn a_command_is_of_admins_by_whatever_name_it_is_called() {
    for (listed, refused) in [
        (
            &["/clear", "wth"][..],
            &["ops:deploy-prod", "ops_deploy_prod", "deploy-prod", "git_commit"][..],
        ),
        (&[], &["ops:adm", "ops_adm", "adm", "OPS:ADM"]),
    ] {
        let mut chat = conversation(listed);
        chat.context.options.user_commands =
            listed.iter().map(|name| name.trim_start_matches('/').to_owned()).collect();
        chat.context.extensions = own_commands();
        for name in refused {
            chat.on_command(&user("bob"), "d1".into(), sent(name, ""));
            let effects = chat.on_event(Event::Catalogue(Box::new(own_commands())));
            assert!(ops(&effects).is_empty(), "{name}: {effects:?}");
            let said = texts_of(&mut chat);
            assert!(said.contains("Only an admin"), "{name}: {said}");
        }
        chat.on_command(&user("admin"), "d2".into(), sent(refused[2], ""));
        let effects = chat.on_event(Event::Catalogue(Box::new(own_commands())));
        assert!(matches!(ops(&effects)[..], [Op::Turn(TurnOp::Invoke { .. })]), "{effects:?}");
    }
}

#[test]
fn an_alias_in_the_list_of_users_means_its_command() {
    let mut chat = conversation(&["clear", "wth"]);
    chat.context.extensions = own_commands();
    let effects = chat.on_command(&user("bob"), "d1".into(), sent("new", ""));
    assert_eq!(ops(&effects).len(), 1, "{effects:?}");
    chat.on_command(&user("bob"), "d2".into(), sent("weather", ""));
    let effects = chat.on_event(Event::Catalogue(Box::new(own_commands())));
    assert!(matches!(ops(&effects)[..], [Op::Turn(TurnOp::Invoke { .. })]), "{effects:?}");
}

#[test]
fn the_first_help_lists_the_users_commands_and_explains_names_of_the_menu() {
    let mut chat = conversation(&[]);
    for (delivery, args, words) in
        [("d1", "", "/git.commit"), ("d2", "git_commit", "/git.commit"), ("d3", "WTH", "/weather")]
    {
        let effects = chat.on_command(&user("ann"), delivery.into(), sent("help", args));
        assert_eq!(ops(&effects), [&Op::Extension(ExtensionOp::RefreshExtensions)]);
        chat.on_event(Event::Catalogue(Box::new(own_commands())));
        let said = texts_of(&mut chat).replace('\\', "");
        assert!(said.contains(words), "{args}: {said}");
    }
}

#[test]
fn what_follows_the_name_of_the_bot_on_slack_is_a_command_or_a_message() {
    let mut chat = conversation(&[]);
    chat.context.options.platform = ChatPlatform::Slack;
    chat.context.options.limits.customs.umbrella_takes_messages = true;
    for (line, own) in [("Status", false), ("/STATUS", false), ("git-commit x", true)] {
        chat.on_command(&user("ann"), "d1".into(), sent("avocet", line));
        let effects = chat.on_event(Event::Catalogue(Box::new(own_commands())));
        let invoked = ops(&effects).iter().any(|op| matches!(op, Op::Turn(TurnOp::Invoke { .. })));
        assert!(invoked == own && !effects.iter().any(is_message), "{line}: {effects:?}");
        chat.on_event(ended());
    }
    chat.on_command(&user("ann"), "d2".into(), sent("avocet", "fix the sign"));
    let effects = chat.on_event(Event::Catalogue(Box::new(own_commands())));
    let text = "fix the sign".to_owned();
    assert!(ops(&effects).contains(&&Op::Turn(TurnOp::Submit { text })), "{effects:?}");
}

/// The modes that the effects set, in order.
fn modes_of(effects: &[ChatEffect]) -> Vec<ApprovalMode> {
    let mode = |op: &&Op| match op {
        Op::Rules(RuleOp::SetApprovalMode { mode }) => Some(*mode),
        _ => None,
    };
    ops(effects).iter().filter_map(mode).collect()
}

#[test]
fn a_user_who_is_no_admin_gets_no_mode_in_which_less_is_asked() {
    use ApprovalMode::{Ask, Auto, Edits, Plan};
    let mut chat = conversation(&["mode"]);
    for mode in [Edits, Auto] {
        let effects = chat.on_command(&user("bob"), "d1".into(), sent("mode", mode.name()));
        assert!(modes_of(&effects).is_empty(), "{effects:?}");
        let said = texts_of(&mut chat);
        assert!(said.contains("Only an admin") && !said.contains("sandbox"), "{said}");
    }
    for mode in [Plan, Ask] {
        let effects = chat.on_command(&user("bob"), "d2".into(), sent("mode", mode.name()));
        assert_eq!(modes_of(&effects), [mode]);
    }
    let effects = chat.on_command(&user("admin"), "d3".into(), sent("mode", "auto"));
    assert_eq!(modes_of(&effects), [Auto]);
    assert!(texts_of(&mut chat).contains("sandbox"), "the group is told");
}

#[test]
fn the_words_of_a_user_who_is_no_admin_are_never_carried_out_in_the_mode_of_an_admin() {
    let words: [fn(&mut ChatConversation) -> Vec<ChatEffect>; 3] = [
        |chat| chat.on_text(&user("bob"), "d2".into(), "remove it", Vec::new()),
        |chat| chat.on_command(&user("bob"), "d2".into(), sent("steer", "remove it")),
        |chat| chat.on_command(&user("bob"), "d2".into(), sent("retry", "")),
    ];
    for say in words {
        let mut chat = conversation(&["steer", "retry"]);
        chat.on_command(&user("admin"), "d1".into(), sent("mode", "auto"));
        let effects = say(&mut chat);
        let sent = ops(&effects);
        assert_eq!(modes_of(&effects), [ApprovalMode::Ask], "{effects:?}");
        assert!(
            matches!(sent[0], Op::Rules(RuleOp::SetApprovalMode { .. })) && sent.len() == 2,
            "{sent:?}"
        );
    }
    let mut chat = conversation(&[]);
    chat.on_command(&user("admin"), "d1".into(), sent("mode", "auto"));
    let effects = chat.on_text(&user("admin"), "d2".into(), "go", Vec::new());
    assert!(modes_of(&effects).is_empty(), "an admin goes on in it");
}

fn is_message(effect: &ChatEffect) -> bool {
    matches!(effect, ChatEffect::Send(Submission { op: Op::Turn(TurnOp::Submit { .. }), .. }))
}

#[test]
fn values_of_the_users_options_are_suggested_once_their_files_are_read() {
    let mut chat = conversation(&[]);
    chat.context.options.platform = ChatPlatform::Discord;
    let asked = |option: &str, typed: &str| SuggestQuery {
        command: "weather".to_owned(),
        option: option.to_owned(),
        typed: typed.to_owned(),
        query: "q".to_owned(),
    };
    assert_eq!(chat.on_suggest(asked("city", "place 2")), []);
    let effects = chat.on_event(Event::Catalogue(Box::new(own_commands())));
    let choices = |effects: &[ChatEffect]| {
        let found = effects.iter().find_map(|effect| match effect {
            ChatEffect::Suggest { choices, .. } => Some(choices.clone()),
            _ => None,
        });
        found.unwrap()
    };
    assert_eq!(choices(&effects).len(), 11, "2, and 20 to 29");
    assert!(effects.contains(&ChatEffect::ReadMenu), "they are not those of before");
    let again = chat.on_event(Event::Catalogue(Box::new(own_commands())));
    assert!(!again.contains(&ChatEffect::ReadMenu));
    assert_eq!(choices(&chat.on_suggest(asked("days", ""))), Vec::<String>::new());
    let page = SuggestQuery { command: "jobs".into(), ..asked("page", "") };
    assert_eq!(choices(&chat.on_suggest(page)), Vec::<String>::new());
}

#[test]
fn models_that_were_never_listed_are_asked_for_once_and_suggested_then() {
    let mut chat = conversation(&[]);
    chat.context.options.platform = ChatPlatform::Discord;
    chat.on_event(Event::Catalogue(Box::default()));
    let query = |typed: &str| SuggestQuery {
        command: "model".to_owned(),
        option: "name".to_owned(),
        typed: typed.to_owned(),
        query: "q".to_owned(),
    };
    let models = Op::Session(SessionOp::Report { report: Report::Models });
    assert_eq!(ops(&chat.on_suggest(query(""))), [&models]);
    let names = vec!["kimi-k2".to_owned(), "qwen3".to_owned()];
    chat.on_event(Event::Models { names, offers: Vec::new() });
    let effects = chat.on_suggest(query("k"));
    let choices = vec!["kimi-k2".to_owned()];
    assert_eq!(effects, [ChatEffect::Suggest { query: "q".to_owned(), choices }]);
}

#[test]
fn what_comes_after_a_command_that_waits_stays_after_it() {
    let mut chat = conversation(&[]);
    let catalogue = || Event::Catalogue(Box::new(own_commands()));
    let effects = chat.on_command(&user("ann"), "d1".into(), sent("weather", "Rome"));
    assert_eq!(ops(&effects), [&Op::Extension(ExtensionOp::RefreshExtensions)]);
    assert_eq!(chat.on_text(&user("ann"), "d2".into(), "and then?", Vec::new()), []);
    assert_eq!(
        chat.on_command(&user("ann"), "d3".into(), sent("stop", "")),
        [],
        "nothing runs yet"
    );
    let effects = chat.on_event(catalogue());
    let ran = ops(&effects);
    assert!(
        matches!(
            ran[..],
            [
                Op::Turn(TurnOp::Invoke { .. }),
                Op::Turn(TurnOp::Submit { .. }),
                Op::Turn(TurnOp::Stop)
            ]
        ),
        "{effects:?}"
    );
    // A turn that runs is stopped at once, whatever waits.
    begin(&mut chat, "/weather Rome");
    chat.on_command(&user("ann"), "d4".into(), sent("git.commit", ""));
    let effects = chat.on_command(&user("ann"), "d5".into(), sent("stop", ""));
    assert_eq!(ops(&effects), [&Op::Turn(TurnOp::Stop)]);
}

#[test]
fn a_command_that_waited_for_the_turn_is_checked_when_it_runs() {
    let waits = |category| {
        let mut all = extensions(&["rel"]);
        all.entries[0].traits.busy = WhileBusy::Wait;
        all.entries[0].traits.category = category;
        all
    };
    let mut chat = conversation(&[]);
    chat.context.extensions = waits(Category::Tools);
    chat.on_text(&user("bob"), "d1".into(), "go", Vec::new());
    begin(&mut chat, "go");
    chat.on_command(&user("bob"), "d2".into(), sent("rel", "now"));
    chat.on_event(Event::Catalogue(Box::new(waits(Category::Tools))));
    let effects = chat.on_event(ended());
    assert_eq!(
        ops(&effects),
        [&Op::Extension(ExtensionOp::RefreshExtensions)],
        "its file may have changed"
    );
    let effects = chat.on_event(Event::Catalogue(Box::new(waits(Category::Configuration))));
    assert!(ops(&effects).is_empty() && is_done(&effects, "d2"), "{effects:?}");
    assert!(texts_of(&mut chat).contains("Only an admin may use /rel"));
}

#[test]
fn a_listed_name_opens_no_command_that_is_not_called_so() {
    let mut chat = conversation(&["deploy-prod", "Weather"]);
    chat.context.extensions = own_commands();
    for name in ["deploy-prod", "ops:deploy-prod", "weather", "adm"] {
        chat.on_command(&user("bob"), "d1".into(), sent(name, ""));
        let effects = chat.on_event(Event::Catalogue(Box::new(own_commands())));
        assert!(ops(&effects).is_empty(), "{name}: {effects:?}");
        assert!(texts_of(&mut chat).contains("Only an admin"), "{name}");
    }
}

#[test]
fn a_chat_that_takes_no_messages_gets_one_sentence_about_it() {
    let mut chat = conversation(&[]);
    chat.view.posts.say(w::GREETING);
    chat.view.posts.say(w::HOME_IS.with("folder", "/x"));
    let mut calls = 0;
    while let TimelineAction::Call(call) = chat.view.next_call(std::time::Instant::now()) {
        calls += 1;
        assert!(calls < 10, "it does not end");
        chat.view.posts.timeline.begin(call.key);
        let (key, why) = (call.key, PlatformError::Refused("no rights".to_owned()));
        if let PostResult::Dropped(why) =
            chat.view.posts.timeline.finish(*call, Err(why), std::time::Instant::now())
        {
            chat.view.on_given_up(key, &why);
        }
    }
    assert!(calls <= 4, "{calls}");
}

#[test]
fn a_long_page_is_a_file() {
    let mut chat = conversation(&[]);
    let rows = (0..2_000).map(|n| PageRow::line(format!("line {n}"))).collect();
    let page = Page { title: w::GREETING.into(), rows };
    chat.on_event(Event::Page(Box::new(page)));
    let shown = show(&mut chat, |_| None);
    assert!(matches!(shown[..], [ChatOperation::Upload(_)]), "{}", texts(&shown));
}

#[test]
fn an_answer_that_a_question_does_not_have_is_said_so() {
    let mut chat = conversation(&[]);
    chat.on_text(&user("ann"), "m1".into(), "go", Vec::new());
    begin(&mut chat, "go");
    let choice = Question::Choice {
        step: String::new(),
        script: None,
        text: "Which?".to_owned(),
        choices: vec!["red".to_owned()],
        free: false,
        fallback: None,
    };
    chat.on_event(Event::Asked(Box::new(Ask { id: AskId(1), question: choice })));
    show(&mut chat, |_| None);
    chat.on_command(&user("ann"), "d1".into(), sent("approve", ""));
    assert!(texts_of(&mut chat).contains("not one of the answers"));
    chat.on_command(&user("ann"), "d2".into(), sent("forbid", "x"));
    let said = texts_of(&mut chat);
    assert!(said.contains("/approve") || said.contains("Only an admin"), "{said}");
}

fn rendered(path: &str) -> Event {
    let file = Image { mime: "text/plain".into(), data: String::new() };
    Event::Rendered { text: path.into(), images: vec![file] }
}

/// Answers the commands in the order in which they came: each begins a turn of its own.
#[test]
fn commands_that_wait_for_a_turn_run_one_after_another() {
    let mut chat = conversation(&[]);
    begin(&mut chat, "x");
    for (delivery, file) in [("d1", "a.txt"), ("d2", "b.txt")] {
        assert!(
            ops(&chat.on_command(&user("ann"), delivery.into(), sent("file", file))).is_empty()
        );
    }
    let render = |effects: &[ChatEffect]| match ops(effects).as_slice() {
        [Op::Turn(TurnOp::Render { prompt })] => prompt.shown.clone(),
        other => panic!("{other:?}"),
    };
    let effects = chat.on_event(ended());
    assert_eq!(render(&effects), "/file a.txt");
    assert!(!chat.is_idle(), "the other one waits");
    begin(&mut chat, "/file a.txt");
    chat.on_event(rendered("a.txt"));
    assert_eq!(render(&chat.on_event(ended())), "/file b.txt");
    begin(&mut chat, "/file b.txt");
    chat.on_event(rendered("b.txt"));
    assert!(ops(&chat.on_event(ended())).is_empty() && chat.is_idle());
    let shown = texts_of(&mut chat);
    assert!(shown.contains("[a.txt]") && shown.contains("[b.txt]"), "{shown}");
}
