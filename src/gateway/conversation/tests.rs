//! What a conversation makes of several users, of what waits, and of what could not be shown.

use std::time::Duration;

use std::time::SystemTime;

use super::reply_view::ChatState;
use super::*;
use crate::ledger::BegunTurn;
use crate::menu::SentCommand;
use crate::platform::{ChatAddress, PlatformError, PlatformLimits};
use crate::timeline::{ChatOperation, PostResult, TimelineAction};
use avocet_core::protocol::{
    ApprovalMode, Ask, AskId, Category, ChatPlatform, CommandArgument, CommandTraits, Decision,
    Event, Extension, ExtensionKind, ExtensionOp, ExtensionState, ModelMessage, ModelOp, Notice,
    Page, Question, QuestionOp, Requires, Risk, Step, StepAction, StepQuestion, Submission,
    SubmitId, Tier, TurnOp, TurnOrigin, TurnOutcome, Usage, WhileBusy,
};
use avocet_present::commands::PageRow;

mod commands;
mod offers;

fn conversation(user_commands: &[&str]) -> ChatConversation {
    let options = ChatOptions {
        platform: ChatPlatform::Telegram,
        address: ChatAddress { chat: "c".into(), thread: None, user: None },
        lang: Lang::En,
        limits: PlatformLimits::for_tests(1_000),
        open: Vec::new(),
        menu_first: Vec::new(),
        user_commands: user_commands.iter().map(|name| (*name).to_owned()).collect(),
        most_queued: 10,
        question_time: None,
        started: SystemTime::UNIX_EPOCH,
    };
    ChatConversation::new(options, SessionInfo::default(), ChatRecovery::default())
}

/// A chat that begins after the program ended in the middle of a turn.
fn recovering(begun: BegunMessage) -> ChatConversation {
    let options = conversation(&[]).context.options;
    let recovery = ChatRecovery { begun: vec![begun], ..ChatRecovery::default() };
    ChatConversation::new(options, SessionInfo::default(), recovery)
}

fn begun() -> BegunMessage {
    let turn = BegunTurn { submit: Some(SubmitId(7)), text: "go".to_owned() };
    BegunMessage { delivery: "d1".into(), turn, by: "ann".into() }
}

fn history(replies: &[&str], ending: TurnOutcome) -> Event {
    let replied = |text: &&str| {
        Event::Replied(ModelMessage { message: (*text).to_owned(), ..ModelMessage::default() })
    };
    let mut events = vec![started("go", Some(SubmitId(7)))];
    events.extend(replies.iter().map(replied));
    events.push(Event::TurnEnded { turn: 1, ending, usage: Usage::default(), elapsed_ms: 1 });
    Event::HistoryChunk { at: vec![0; events.len()], events, more: false }
}

fn user(id: &str) -> Speaker {
    Speaker {
        id: id.into(),
        name: id.to_owned(),
        is_admin: id == "admin",
        is_in_group: false,
        quote: String::new(),
    }
}

fn sent(name: &str, args: &str) -> SentCommand {
    SentCommand { name: name.to_owned(), args: args.to_owned(), options: Vec::new() }
}

fn extensions(names: &[&str]) -> Extensions {
    let entry = |name: &&str| Extension {
        kind: ExtensionKind::Command,
        name: (*name).to_owned(),
        about: String::new(),
        hint: String::new(),
        from: w::NEEDS_TERMINAL.into(),
        state: ExtensionState::Usable,
        traits: CommandTraits::default(),
    };
    Extensions { entries: names.iter().map(entry).collect(), ..Extensions::default() }
}

fn started(text: &str, submit: Option<SubmitId>) -> Event {
    Event::TurnStarted { turn: 1, text: text.to_owned(), origin: TurnOrigin::Typed, submit }
}

/// The turn of the oldest message with this text begins, else that of the oldest command.
fn begin(chat: &mut ChatConversation, text: &str) -> Vec<ChatEffect> {
    let message =
        chat.inbox.steers.iter().chain(&chat.inbox.submitted).find(|one| one.text == text);
    let command = chat.inbox.starters.first().map(|(id, _)| *id);
    let submit = message.map(|one| one.id).or(command);
    chat.on_event(started(text, submit))
}

/// The same user in a chat where others speak too.
fn member(id: &str, name: &str) -> Speaker {
    Speaker { name: name.to_owned(), is_in_group: true, ..user(id) }
}

/// The deliveries whose turns began, and their texts.
fn begun_of(effects: &[ChatEffect]) -> Vec<(&str, &str)> {
    let begun = effects.iter().filter_map(|effect| match effect {
        ChatEffect::Begun { delivery, text, .. } => Some((delivery.0.as_str(), text.as_str())),
        _ => None,
    });
    begun.collect()
}

fn ended() -> Event {
    let (ending, usage) = (TurnOutcome::Done, Usage::default());
    Event::TurnEnded { turn: 1, ending, usage, elapsed_ms: 1 }
}

/// The question of a step; its command may be longer than a message.
fn asked(word: &str) -> Event {
    let work = StepAction::Exec { program: "echo".to_owned(), args: vec![word.to_owned()] };
    let step = Step { id: "1".into(), work, requires: Requires::default(), cwd: None };
    let risk = Risk {
        tier: Tier::L1,
        rule: "x".into(),
        reasons: Vec::new(),
        effects: Vec::new(),
        lifted: false,
    };
    let question = Question::Step(StepQuestion::new(step, risk, "/w"));
    Event::Asked(Box::new(Ask { id: AskId(1), question }))
}

fn ops(effects: &[ChatEffect]) -> Vec<&Op> {
    let sent = effects.iter().filter_map(|effect| match effect {
        ChatEffect::Send(submission) => Some(&submission.op),
        _ => None,
    });
    sent.collect()
}

fn is_done(effects: &[ChatEffect], delivery: &str) -> bool {
    effects.contains(&ChatEffect::Done(delivery.into()))
}

/// What the chat shows from now on; each call gets this answer.
fn show(
    chat: &mut ChatConversation,
    mut answer: impl FnMut(&ChatOperation) -> Option<PlatformError>,
) -> Vec<ChatOperation> {
    let (now, mut shown) = (std::time::Instant::now(), Vec::new());
    while let TimelineAction::Call(call) = chat.view.next_call(now) {
        chat.view.posts.timeline.begin(call.key);
        let (key, kind) = (call.key, call.kind.clone());
        let is_new = !matches!(kind, ChatOperation::Edit(..));
        let result = answer(&kind).map_or(Ok(is_new.then(|| "9".into())), Err);
        shown.push(kind);
        if let PostResult::Dropped(_) = chat.view.posts.timeline.finish(*call, result, now) {
            chat.view.on_dropped(key);
        }
    }
    shown
}

fn texts(shown: &[ChatOperation]) -> String {
    let text = |kind: &ChatOperation| match kind {
        ChatOperation::Send(text) | ChatOperation::Edit(_, text) => text.text.clone(),
        ChatOperation::Ask(question) => question.text.text.clone(),
        ChatOperation::Upload(file) => format!("[{}]", file.name),
    };
    shown.iter().map(text).collect::<Vec<_>>().join("\n")
}

fn texts_of(chat: &mut ChatConversation) -> String {
    texts(&show(chat, |_| None))
}

fn button(chat: &ChatConversation, choice: &str) -> String {
    let ChatState::Asking(open) = &chat.view.state else { panic!("no question is open") };
    format!("q.{}.{choice}", open.question.nonce())
}

#[test]
fn every_own_command_of_a_batch_runs_in_its_order() {
    let mut chat = conversation(&[]);
    let effects = chat.on_command(&user("ann"), "d1".into(), sent("foo", "x"));
    assert_eq!(effects, [ChatEffect::Send(Op::Extension(ExtensionOp::RefreshExtensions).into())]);
    assert_eq!(chat.on_command(&user("ann"), "d2".into(), sent("bar", "x")), []);
    assert!(!chat.is_idle(), "they wait");
    let catalogue = || Event::Catalogue(Box::new(extensions(&["foo", "bar"])));
    let mut effects = chat.on_event(catalogue());
    assert!(
        effects.contains(&ChatEffect::Send(Op::Extension(ExtensionOp::RefreshExtensions).into())),
        "for the second one"
    );
    effects.retain(|effect| {
        *effect != ChatEffect::Send(Op::Extension(ExtensionOp::RefreshExtensions).into())
    });
    effects.extend(chat.on_event(catalogue()));
    let names: Vec<_> = ops(&effects)
        .into_iter()
        .map(|op| match op {
            Op::Turn(TurnOp::Invoke { name, .. }) => name.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(names, ["foo", "bar"]);
    assert!(!is_done(&effects, "d1") && !is_done(&effects, "d2"), "nothing is answered yet");
    let begun = begin(&mut chat, "/foo x");
    assert_eq!(begun_of(&begun), [("d1", "/foo x")]);
}

#[test]
fn a_command_that_waited_has_the_rights_of_its_sender_and_not_of_the_last_speaker() {
    let mut chat = conversation(&["stop"]);
    chat.on_command(&user("ann"), "d1".into(), sent("foo", "1"));
    chat.on_command(&user("admin"), "d2".into(), sent("whoami", ""));
    let effects = chat.on_event(Event::Catalogue(Box::new(extensions(&["foo"]))));
    assert!(is_done(&effects, "d1") && ops(&effects).is_empty(), "{effects:?}");
    assert!(texts_of(&mut chat).contains("Only an admin may use /foo."));
}

#[test]
fn a_command_that_is_deferred_has_the_rights_of_its_sender_and_is_kept_until_it_runs() {
    let mut chat = conversation(&[]);
    chat.on_text(&user("ann"), "d1".into(), "hello", Vec::new());
    begin(&mut chat, "hello");
    let effects = chat.on_command(&user("admin"), "d2".into(), sent("model", "m2"));
    assert!(effects.is_empty(), "{effects:?}");
    chat.on_command(&user("ann"), "d3".into(), sent("status", ""));
    let effects = chat.on_event(ended());
    let model = Op::Model(ModelOp::SetModel { name: "m2".to_owned() });
    assert!(is_done(&effects, "d2") && ops(&effects) == [&model], "{effects:?}");
}

#[test]
fn a_bystander_does_not_take_over_the_question_of_a_turn_by_a_command() {
    let mut chat = conversation(&[]);
    chat.on_text(&user("ann"), "d1".into(), "make it", Vec::new());
    begin(&mut chat, "make it");
    for (at, name) in ["usage", "context", "jobs", "diff", "retry"].iter().enumerate() {
        chat.on_command(&user("bob"), format!("b{at}").as_str().into(), sent(name, ""));
    }
    chat.on_event(asked("hi"));
    show(&mut chat, |_| None);
    let once = button(&chat, "once");
    let effects = chat.view.on_press(&user("bob"), "p1".into(), &once, "1".to_owned());
    assert!(ops(&effects).is_empty(), "{effects:?}");
    let effects = chat.view.on_press(&user("ann"), "p2".into(), &once, "2".to_owned());
    let decided = Op::Question(QuestionOp::Decide { ask: AskId(1), decision: Decision::Approve });
    assert_eq!(ops(&effects), [&decided]);
}

#[test]
fn the_turn_of_a_command_is_its_senders_also_if_another_sent_one_meanwhile() {
    let mut chat = conversation(&[]);
    let mut may_approve = |senders: &[&str], presser: &str| {
        for sender in senders {
            chat.on_command(&user(sender), "d".into(), sent("retry", ""));
        }
        begin(&mut chat, "again");
        chat.on_event(asked("hi"));
        show(&mut chat, |_| None);
        let once = button(&chat, "once");
        let effects = chat.view.on_press(&user(presser), "p".into(), &once, "1".to_owned());
        chat.on_event(Event::QuestionClosed { ask: AskId(1) });
        for submit in chat.inbox.starters.iter().map(|(id, _)| *id).collect::<Vec<_>>() {
            chat.on_event(Event::Dropped { submit });
        }
        chat.on_event(ended());
        !ops(&effects).is_empty()
    };
    assert!(may_approve(&["bob"], "bob"));
    assert!(!may_approve(&["bob"], "ann"));
    assert!(!may_approve(&["ann", "bob"], "bob"), "the first one began it");
    assert!(may_approve(&["ann", "bob"], "ann"));
    assert!(may_approve(&["ann", "bob"], "admin"));
}

#[test]
fn words_of_queue_and_steer_are_done_once_they_reached_a_turn() {
    let mut chat = conversation(&[]);
    chat.on_text(&user("ann"), "d1".into(), "one", Vec::new());
    begin(&mut chat, "one");
    let effects = chat.on_command(&user("ann"), "d2".into(), sent("queue", "two"));
    assert_eq!(ops(&effects), [&Op::Turn(TurnOp::Submit { text: "two".to_owned() })]);
    assert!(texts_of(&mut chat).contains("Queued: 1"), "it is confirmed");
    for (delivery, words) in [("d3", "be brief"), ("d4", "be kind")] {
        let effects = chat.on_command(&user("ann"), delivery.into(), sent("steer", words));
        assert_eq!(ops(&effects), [&Op::Turn(TurnOp::Steer { text: words.to_owned() })]);
    }
    let submit = chat.inbox.steers.front().map(|one| one.id);
    let effects = chat.on_event(Event::Steered { text: "be brief".to_owned(), submit });
    assert_eq!(effects, [ChatEffect::Done("d3".into())]);
    chat.on_event(ended());
    // What the turn did not read comes before what waited.
    let begun = begin(&mut chat, "be kind");
    assert_eq!(begun_of(&begun), [("d4", "be kind")]);
    chat.on_event(ended());
    let begun = begin(&mut chat, "two");
    assert_eq!(begun_of(&begun), [("d2", "two")]);
}

#[test]
fn the_message_that_is_starting_does_not_count_as_waiting() {
    let mut chat = conversation(&[]);
    chat.on_text(&user("ann"), "d1".into(), "one", Vec::new());
    chat.on_text(&user("ann"), "d2".into(), "two", Vec::new());
    assert!(texts_of(&mut chat).contains("Queued: 1 waiting."));
}

#[test]
fn a_folder_is_not_changed_while_a_message_is_about_to_begin() {
    let mut chat = conversation(&[]);
    chat.on_text(&user("admin"), "d1".into(), "do it", Vec::new());
    let effects = chat.on_command(&user("admin"), "d2".into(), sent("sethome", "../other"));
    assert_eq!(effects, [ChatEffect::Done("d2".into())]);
}

#[test]
fn a_message_to_a_conversation_that_another_process_has_is_refused_once_and_not_kept() {
    let mut chat = conversation(&[]);
    let effects = chat.on_text(&user("ann"), "d1".into(), "delete it", Vec::new());
    assert_eq!(ops(&effects).len(), 1, "it is not known yet");
    let facts = SessionInfo { read_only: true, ..SessionInfo::default() };
    let effects = chat.on_event(Event::Facts(Box::new(facts)));
    assert_eq!(effects, [ChatEffect::Done("d1".into())]);
    for _ in 0..2 {
        let notice = Notice::warning(w::NEEDS_TERMINAL);
        chat.on_event(Event::Notice(notice.with_topic(avocet_core::protocol::Topic::ReadOnly)));
    }
    let said = texts_of(&mut chat);
    assert_eq!(said.matches("open in a terminal").count(), 1, "{said}");
    assert!(chat.is_idle() && chat.info().read_only);
}

#[test]
fn a_file_that_became_unusable_leaves_no_message_that_waits() {
    let mut chat = conversation(&[]);
    chat.on_event(Event::Catalogue(Box::new(extensions(&["foo"]))));
    chat.on_command(&user("ann"), "d1".into(), sent("foo", ""));
    chat.on_event(Event::Catalogue(Box::new(extensions(&["foo"]))));
    chat.on_event(Event::Notice(Notice::error(w::NEEDS_TERMINAL)));
    let submit = chat.inbox.submitted.front().expect("a message that waits").id;
    let effects = chat.on_event(Event::Dropped { submit });
    assert_eq!(effects, [ChatEffect::Done("d1".into())]);
    assert!(chat.is_idle());
}

#[test]
fn free_words_in_a_group_answer_only_as_the_one_who_was_asked() {
    let mut chat = conversation(&[]);
    chat.on_text(&user("ann"), "d1".into(), "choose", Vec::new());
    begin(&mut chat, "choose");
    let question = Question::Choice {
        step: "1".into(),
        script: None,
        text: "Which?".into(),
        choices: vec!["red".into(), "blue".into()],
        free: true,
        fallback: None,
    };
    chat.on_event(Event::Asked(Box::new(Ask { id: AskId(1), question })));
    show(&mut chat, |_| None);
    for (speaker, words) in [("bob", "red"), ("bob", "green"), ("admin", "lunch?")] {
        let effects = chat.view.on_overheard(&user(speaker), "o".into(), words);
        assert_eq!(effects, [ChatEffect::Done("o".into())], "{speaker}: {words}");
    }
    let effects = chat.view.on_overheard(&user("admin"), "o".into(), "Blue");
    let blue = Decision::Choose { index: 1 };
    assert_eq!(
        ops(&effects),
        [&Op::Question(QuestionOp::Decide { ask: AskId(1), decision: blue })]
    );
    // Nothing else that is overheard reaches the session.
    chat.on_event(Event::QuestionClosed { ask: AskId(1) });
    let effects = chat.view.on_overheard(&user("ann"), "o".into(), "thanks");
    assert_eq!(effects, [ChatEffect::Done("o".into())]);
}

#[test]
fn a_question_whose_file_is_refused_is_shown_in_messages() {
    let mut chat = conversation(&[]);
    begin(&mut chat, "x");
    let word = "z".repeat(2_500);
    chat.on_event(asked(&word));
    let shown = show(&mut chat, |kind| {
        matches!(kind, ChatOperation::Upload(_)).then(|| PlatformError::Refused("413".to_owned()))
    });
    assert!(matches!(shown.first(), Some(ChatOperation::Upload(_))), "{shown:?}");
    let Some(ChatOperation::Ask(question)) = shown.last() else { panic!("{shown:?}") };
    assert!(question.text.text.contains("in the messages above"), "{question:?}");
    assert!(question.buttons.iter().any(|button| button.data.ends_with(".once")));
    assert!(texts(&shown).replace('\n', "").contains(&word), "all of it is shown");
}

#[test]
fn a_question_that_could_not_be_shown_whole_can_only_be_refused() {
    let mut chat = conversation(&[]);
    begin(&mut chat, "x");
    chat.on_event(asked(&"z".repeat(100_000)));
    let shown = show(&mut chat, |kind| {
        matches!(kind, ChatOperation::Upload(_)).then(|| PlatformError::Refused("413".to_owned()))
    });
    let Some(ChatOperation::Ask(question)) = shown.last() else { panic!("{shown:?}") };
    assert!(question.text.text.contains("cannot be approved here"), "{question:?}");
    assert!(question.buttons.iter().all(|button| !button.data.ends_with(".once")));
    let once = button(&chat, "once");
    let effects = chat.view.on_press(&user("admin"), "p".into(), &once, "1".to_owned());
    assert!(ops(&effects).is_empty(), "{effects:?}");
    let effects = chat.on_command(&user("admin"), "d".into(), sent("approve", ""));
    assert!(ops(&effects).is_empty(), "{effects:?}");
    let no = button(&chat, "no");
    let effects = chat.view.on_press(&user("admin"), "p".into(), &no, "1".to_owned());
    assert_eq!(ops(&effects).len(), 1);
}

#[test]
fn a_stop_while_files_are_fetched_stops_that_and_not_the_next_turn() {
    let mut chat = conversation(&[]);
    chat.fetching = FetchState::Fetching;
    let effects = chat.on_command(&user("ann"), "d1".into(), sent("stop", ""));
    assert_eq!(effects, [ChatEffect::Done("d1".into()), ChatEffect::StopFetch]);
}

#[test]
fn sentences_name_the_terminal_where_their_command_works_only_there() {
    let mut chat = conversation(&[]);
    chat.view.posts.notice(&Notice::warning(avocet_core::i18n::session::WOULD_LOSE_HINT));
    let said = texts_of(&mut chat);
    assert!(said.contains("in the terminal"), "{said}");
}

#[test]
fn a_command_that_a_chat_does_not_have_is_not_called_one_of_the_terminal_twice() {
    for name in ["trust", "theme"] {
        let mut chat = conversation(&[]);
        chat.on_command(&user("admin"), "d1".into(), sent(name, ""));
        let said = texts_of(&mut chat);
        assert!(said.contains("is not available here"), "{said}");
        assert!(!said.contains("(in the terminal)"), "{said}");
    }
}

#[test]
fn a_waiting_command_lets_the_messages_before_it_begin_first() {
    let mut chat = conversation(&[]);
    begin(&mut chat, "x");
    chat.on_command(&user("ann"), "d1".into(), sent("file", "a.txt"));
    chat.on_text(&user("ann"), "d2".into(), "then this", Vec::new());
    assert!(ops(&chat.on_event(ended())).is_empty(), "a message is about to begin");
    begin(&mut chat, "then this");
    assert!(matches!(ops(&chat.on_event(ended())).as_slice(), [Op::Turn(TurnOp::Render { .. })]));
}

#[test]
fn the_first_command_of_telegram_greets_and_a_language_answers_in_itself() {
    let mut chat = conversation(&[]);
    assert!(is_done(&chat.on_command(&user("ann"), "d1".into(), sent("start", "")), "d1"));
    chat.on_command(&user("admin"), "d2".into(), sent("lang", "zh"));
    let shown = texts_of(&mut chat);
    assert!(shown.contains("Send a message to begin") && shown.contains("使用中文"), "{shown}");
}

#[test]
fn a_reply_that_is_in_the_session_is_sent_again_whole_after_a_restart() {
    let mut chat = recovering(begun());
    chat.on_event(history(&["I look first.", "It is done"], TurnOutcome::Done));
    let shown = texts_of(&mut chat);
    assert!(shown.contains("After a restart") && shown.contains("It is done"), "{shown}");
    assert!(!shown.contains("I look first") && !shown.contains("restarted while"), "{shown}");
    assert_eq!(chat.view.posts.take_finished(), [ChatEffect::Done("d1".into())]);
}

#[test]
fn what_a_restart_interrupted_is_said_after_what_was_done() {
    let mut chat = recovering(begun());
    chat.on_event(history(&["I look first."], TurnOutcome::Interrupted));
    let shown = texts_of(&mut chat);
    assert!(shown.contains("I look first") && shown.contains("restarted while"), "{shown}");
    // Nothing was done, or its session could not be opened.
    let mut chat = recovering(begun());
    chat.on_event(history(&[], TurnOutcome::Interrupted));
    let mut other = recovering(begun());
    other.on_event(Event::Catalogue(Box::new(extensions(&[]))));
    for chat in [&mut chat, &mut other] {
        let shown = texts_of(chat);
        assert!(shown.contains("restarted while") && !shown.contains("After a"), "{shown}");
        assert_eq!(chat.view.posts.take_finished(), [ChatEffect::Done("d1".into())]);
    }
}

#[test]
fn a_message_whose_turn_an_older_version_noted_is_not_sent_again() {
    let turn = |submit| BegunTurn { submit, text: "go".to_owned() };
    let mut chat = recovering(BegunMessage { turn: turn(None), ..begun() });
    let effects = chat.on_event(history(&["The answer."], TurnOutcome::Done));
    assert!(ops(&effects).is_empty(), "{effects:?}");
    assert_eq!(chat.view.posts.take_finished(), [ChatEffect::Done("d1".into())]);
    // One whose turn is not in the session is.
    let mut chat = recovering(BegunMessage { turn: turn(Some(SubmitId(8))), ..begun() });
    let effects = chat.on_event(history(&["The answer."], TurnOutcome::Done));
    assert!(
        ops(&effects).contains(&&Op::Turn(TurnOp::Submit { text: "go".to_owned() })),
        "{effects:?}"
    );
}

#[test]
fn a_message_whose_turn_is_not_in_the_session_is_submitted_again() {
    let mut chat = recovering(begun());
    let chunk = Event::HistoryChunk { at: Vec::new(), events: Vec::new(), more: false };
    let effects = chat.on_event(chunk);
    assert_eq!(ops(&effects), [&Op::Turn(TurnOp::Submit { text: "go".to_owned() })]);
    assert!(show(&mut chat, |_| None).is_empty());
}

#[test]
fn a_sticker_is_answered_with_what_can_be_read_and_is_no_answer_to_a_question() {
    let mut chat = conversation(&[]);
    let effects = chat.on_text(&user("ann"), "d1".into(), " ", Vec::new());
    assert_eq!(effects, [ChatEffect::Done("d1".into())]);
    assert!(texts_of(&mut chat).contains("I can read text, images and files"));
    chat.on_text(&user("ann"), "d2".into(), "make it", Vec::new());
    begin(&mut chat, "make it");
    chat.on_event(asked("hi"));
    show(&mut chat, |_| None);
    let effects = chat.on_text(&user("ann"), "d3".into(), "", Vec::new());
    assert_eq!(effects, [ChatEffect::Done("d3".into())], "the question is open still");
}

#[test]
fn a_reply_that_grows_is_split_only_when_its_messages_may_be_changed() {
    let mut chat = conversation(&[]);
    let mut options = chat.context.options.clone();
    options.limits.edit_pace = Duration::from_secs(1);
    chat.view.posts.timeline = Timeline::new(options.limits, Lang::En);
    chat.on_text(&user("ann"), "d1".into(), "tell me", Vec::new());
    begin(&mut chat, "tell me");
    let (now, delta) = (std::time::Instant::now(), || Event::Delta {
        text: "these are 28 letters of it. ".into(),
    });
    chat.on_event(delta());
    let TimelineAction::Call(call) = chat.view.next_call(now) else {
        panic!("the first words are shown")
    };
    chat.view.posts.timeline.finish(*call, Ok(Some("9".into())), now);
    for _ in 0..10_000 {
        chat.on_event(delta());
        assert_eq!(chat.view.next_call(now), TimelineAction::Wait(now + Duration::from_secs(1)));
        assert!(chat.view.reply.as_ref().unwrap().is_behind(), "it was not split");
    }
    let TimelineAction::Call(call) = chat.view.next_call(now + Duration::from_secs(1)) else {
        panic!()
    };
    assert!(matches!(call.kind, ChatOperation::Send(_) | ChatOperation::Edit(..)));
    assert!(!chat.view.reply.as_ref().unwrap().is_behind());
}

#[test]
fn the_model_is_told_who_speaks_in_a_group_and_not_in_a_private_chat() {
    let text_of = |speaker: Speaker| {
        let mut chat = conversation(&[]);
        let effects = chat.on_text(&speaker, "d1".into(), "what is MY colour?", Vec::new());
        let Op::Turn(TurnOp::Submit { text }) = ops(&effects)[0].clone() else { panic!() };
        text
    };
    assert_eq!(text_of(member("8", "Bob")), "[Bob] what is MY colour?");
    assert_eq!(text_of(member("8", "Bob] [Ann")), "[Bob Ann] what is MY colour?");
    assert_eq!(text_of(member("U8", "")), "[U8] what is MY colour?", "Slack sends no name");
    assert_eq!(text_of(user("ann")), "what is MY colour?");
}

#[test]
fn words_for_the_running_turn_of_a_group_carry_the_name_too() {
    let mut chat = conversation(&[]);
    chat.on_text(&member("7", "Ann"), "d1".into(), "begin", Vec::new());
    begin(&mut chat, "[Ann] begin");
    let effects = chat.on_command(&member("8", "Bob"), "d2".into(), sent("steer", "in blue"));
    let steer = Op::Turn(TurnOp::Steer { text: "[Bob] in blue".to_owned() });
    assert!(ops(&effects).contains(&&steer), "{effects:?}");
}
