use super::*;
use crate::platform::MessageMarkup;

fn timeline() -> Timeline {
    let edit_pace = Duration::from_secs(1);
    Timeline::new(PlatformLimits { edit_pace, ..PlatformLimits::for_tests(4096) }, Lang::En)
}

fn next(timeline: &mut Timeline, now: Instant) -> ServiceCall {
    match timeline.next_call(now) {
        TimelineAction::Call(call) => *call,
        other => panic!("{other:?}"),
    }
}

fn accept(timeline: &mut Timeline, now: Instant) -> ChatOperation {
    let call = next(timeline, now);
    let id = matches!(call.kind, ChatOperation::Edit(..))
        .then_some(())
        .map_or(Some("9".into()), |()| None);
    timeline.finish(call.clone(), Ok(id), now);
    call.kind
}

fn text(kind: &ChatOperation) -> &str {
    match kind {
        ChatOperation::Send(text) | ChatOperation::Edit(_, text) => &text.text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_growing_text_is_edited_at_the_pace_of_the_service_with_its_latest_state() {
    let (mut timeline, now) = (timeline(), Instant::now());
    let key = timeline.open(PostBody::Markdown(String::new()));
    assert_eq!(timeline.next_call(now), TimelineAction::Idle, "nothing to say yet");
    let start = "a reply that is not so short: a";
    timeline.update(key, PostBody::Markdown(start.into()));
    assert!(matches!(accept(&mut timeline, now), ChatOperation::Send(_)));
    for word in ["b", "b c", "b c d"] {
        timeline.update(key, PostBody::Markdown(format!("{start} {word}")));
    }
    let due = now + Duration::from_secs(1);
    assert_eq!(timeline.next_call(now), TimelineAction::Wait(due));
    assert_eq!(text(&accept(&mut timeline, due)), format!("{start} b c d"));
    timeline.settle(key);
    assert_eq!(timeline.next_call(due), TimelineAction::Idle);
    assert!(timeline.posts.is_empty());
}

#[test]
fn a_few_letters_are_first_shown_after_a_second_with_more_of_them_or_at_the_end() {
    let now = Instant::now();
    let few = || {
        let mut timeline = timeline();
        let key = timeline.open(PostBody::Markdown("You sa".into()));
        assert_eq!(timeline.next_call(now), TimelineAction::Wait(now + FIRST_WAIT));
        (timeline, key)
    };
    let (mut timeline, _) = few();
    assert_eq!(text(&accept(&mut timeline, now + FIRST_WAIT)), "You sa");
    let (mut timeline, key) = few();
    timeline.update(key, PostBody::Markdown("You said twenty four now".into()));
    assert_eq!(text(&accept(&mut timeline, now)), "You said twenty four now");
    let (mut timeline, key) = few();
    timeline.settle(key);
    assert_eq!(text(&accept(&mut timeline, now)), "You sa");
}

#[test]
fn marks_wait_for_the_text_they_belong_to_unless_they_are_all_of_it() {
    let (mut timeline, now) = (timeline(), Instant::now());
    let key = timeline.open(PostBody::Markdown("**".into()));
    assert_eq!(timeline.next_call(now), TimelineAction::Idle);
    timeline.update(key, PostBody::Markdown("**Done, and it is all there".into()));
    assert!(matches!(accept(&mut timeline, now), ChatOperation::Send(_)));
    let key = timeline.open(PostBody::Markdown("...".into()));
    assert_eq!(timeline.next_call(now), TimelineAction::Idle);
    timeline.settle(key);
    assert_eq!(text(&accept(&mut timeline, now)), "\\.\\.\\.");
}

#[test]
fn new_messages_keep_their_order_and_do_not_wait_for_an_edit() {
    let (mut timeline, now) = (timeline(), Instant::now());
    let key = timeline.open(PostBody::Plain("one".into()));
    accept(&mut timeline, now);
    timeline.update(key, PostBody::Plain("one!".into()));
    timeline.post(PostBody::Plain("two".into()));
    timeline.post(PostBody::Plain("three".into()));
    assert_eq!(text(&accept(&mut timeline, now)), "two");
    assert_eq!(text(&accept(&mut timeline, now)), "three");
    assert_eq!(text(&accept(&mut timeline, now + Duration::from_secs(1))), "one!");
}

#[test]
fn a_wait_that_the_service_asks_for_is_kept_and_then_the_latest_text_is_sent() {
    let (mut timeline, now) = (timeline(), Instant::now());
    let key = timeline.open(PostBody::Plain("one".into()));
    let call = next(&mut timeline, now);
    let after = Duration::from_secs(7);
    assert_eq!(
        timeline.finish(call, Err(PlatformError::RateLimited { after }), now),
        PostResult::Again
    );
    timeline.update(key, PostBody::Plain("one two".into()));
    assert_eq!(timeline.next_call(now), TimelineAction::Wait(now + after));
    assert_eq!(text(&accept(&mut timeline, now + after)), "one two");
}

#[test]
fn an_edit_comes_at_its_time_however_many_messages_are_sent_meanwhile() {
    let (mut timeline, now) = (timeline(), Instant::now());
    let reply = timeline.open(PostBody::Plain("one".into()));
    accept(&mut timeline, now);
    timeline.update(reply, PostBody::Plain("one two".into()));
    for half in 1..=3 {
        timeline.post(PostBody::Plain(half.to_string()));
        let kind = accept(&mut timeline, now + Duration::from_millis(500) * half);
        assert_eq!(matches!(kind, ChatOperation::Edit(..)), half == 2, "{half}");
    }
}

#[test]
fn a_wait_without_end_is_cut_and_nothing_overflows() {
    let (mut timeline, now) = (timeline(), Instant::now());
    timeline.post(PostBody::Plain("one".into()));
    let call = next(&mut timeline, now);
    let after = Duration::from_secs(u64::MAX);
    timeline.finish(call, Err(PlatformError::RateLimited { after }), now);
    assert_eq!(timeline.next_call(now), TimelineAction::Wait(now + MAX_HOLD));
}

#[test]
fn the_message_of_a_post_is_known_also_when_it_is_final() {
    let (mut timeline, now) = (timeline(), Instant::now());
    let key = timeline.post(PostBody::Plain("one".into()));
    accept(&mut timeline, now);
    assert_eq!(timeline.message_of(key), Some(&"9".into()));
    for _ in 0..MAX_SENT {
        timeline.post(PostBody::Plain("more".into()));
        accept(&mut timeline, now);
    }
    assert_eq!(timeline.message_of(key), None, "only the last ones are remembered");
}

#[test]
fn refused_markup_is_sent_again_as_plain_text() {
    let (mut timeline, now) = (timeline(), Instant::now());
    timeline.post(PostBody::Markdown("**a**".into()));
    let call = next(&mut timeline, now);
    let ChatOperation::Send(sent) = &call.kind else { panic!("{call:?}") };
    assert_eq!((sent.text.as_str(), sent.markup), ("*a*", MessageMarkup::Native));
    timeline.finish(call, Err(PlatformError::Markup("no".into())), now);
    let ChatOperation::Send(sent) = accept(&mut timeline, now) else { panic!() };
    assert_eq!((sent.text.as_str(), sent.markup), ("**a**", MessageMarkup::Plain));
}

#[test]
fn a_break_is_tried_again_with_growing_pauses_and_not_for_ever() {
    let (mut timeline, mut now) = (timeline(), Instant::now());
    timeline.post(PostBody::Plain("a".into()));
    let mut waits = Vec::new();
    loop {
        let call = next(&mut timeline, now);
        match timeline.finish(call, Err(PlatformError::Network("x".into())), now) {
            PostResult::Again => {}
            PostResult::Dropped(_) => break,
            other => panic!("{other:?}"),
        }
        let TimelineAction::Wait(until) = timeline.next_call(now) else { panic!() };
        waits.push(until - now);
        now = until;
    }
    assert!(waits.is_sorted() && waits[11] == MAX_WAIT, "{waits:?}");
    let total: Duration = waits.iter().sum();
    assert!(total > MAX_FAILING && total < MAX_FAILING + 2 * MAX_WAIT);
    assert_eq!(timeline.next_call(now), TimelineAction::Idle);
}

#[test]
fn a_token_that_is_refused_for_a_moment_loses_no_message_and_one_that_is_revoked_ends_the_chat() {
    let (mut timeline, mut now) = (timeline(), Instant::now());
    timeline.post(PostBody::Plain("a".into()));
    for _ in 0..MAX_REFUSALS {
        let call = next(&mut timeline, now);
        let refused = timeline.finish(call, Err(PlatformError::Unauthorized), now);
        assert_eq!(refused, PostResult::Again);
        let TimelineAction::Wait(until) = timeline.next_call(now) else { panic!("no pause") };
        now = until;
    }
    let call = next(&mut timeline, now);
    let again = timeline.finish(call, Err(PlatformError::Unauthorized), now);
    assert_eq!(again, PostResult::Lost);
}

#[test]
fn a_mark_is_reached_when_everything_before_it_is_shown() {
    let (mut timeline, now) = (timeline(), Instant::now());
    timeline.mark(1);
    assert_eq!(timeline.take_reached(), [1]);
    timeline.post(PostBody::Plain("a".into()));
    timeline.post(PostBody::Plain("b".into()));
    timeline.mark(2);
    timeline.post(PostBody::Plain("c".into()));
    accept(&mut timeline, now);
    assert!(timeline.take_reached().is_empty());
    accept(&mut timeline, now);
    assert_eq!(timeline.take_reached(), [2]);
}

#[test]
fn a_message_that_is_gone_is_given_up_and_a_chat_that_is_gone_loses_all() {
    let (mut timeline, now) = (timeline(), Instant::now());
    timeline.adopt("5".into(), PostBody::Plain("x".into()));
    let call = next(&mut timeline, now);
    assert!(matches!(timeline.finish(call, Err(PlatformError::Gone), now), PostResult::Dropped(_)));
    timeline.post(PostBody::Plain("y".into()));
    let call = next(&mut timeline, now);
    assert_eq!(timeline.finish(call, Err(PlatformError::Gone), now), PostResult::Lost);
}

#[test]
fn posts_that_are_too_many_are_counted_in_the_place_of_the_first() {
    let (mut timeline, now) = (timeline(), Instant::now());
    let question = PostBody::Question { text: "Run it?".into(), buttons: Vec::new() };
    timeline.post(PostBody::Plain("0".into()));
    // The service may have the first one.
    let first = next(&mut timeline, now);
    timeline.begin(first.key);
    timeline.post(PostBody::Plain("its file".into()));
    timeline.open(question);
    for n in 1..=MAX_POSTS + 40 {
        timeline.post(PostBody::Plain(n.to_string()));
    }
    assert!(timeline.posts.len() <= MAX_POSTS + 1);
    timeline.finish(first, Ok(Some("1".into())), now);
    let mut shown = Vec::new();
    while let TimelineAction::Call(call) = timeline.next_call(now) {
        shown.push(match &call.kind {
            ChatOperation::Send(sent) => sent.text.clone(),
            ChatOperation::Ask(asked) => asked.text.text.clone(),
            other => panic!("{other:?}"),
        });
        timeline.finish(*call, Ok(Some("2".into())), now);
    }
    assert_eq!(shown[..2], ["its file", "Run it?"]);
    let numbers: Vec<usize> = shown.iter().filter_map(|text| text.parse().ok()).collect();
    let count = MAX_POSTS + 40 - numbers.len();
    assert!(count > 0 && shown[2].contains(&format!("{count} messages")), "{shown:?}");
    assert_eq!(numbers, (count + 1..=MAX_POSTS + 40).collect::<Vec<_>>());
}

#[test]
fn a_text_that_its_marks_make_too_long_is_shown_as_it_was_written() {
    use crate::platform::MarkupDialect;
    let limits = PlatformLimits {
        rendered: Some(200),
        dialect: MarkupDialect::Discord,
        ..PlatformLimits::for_tests(150)
    };
    let (mut timeline, now) = (Timeline::new(limits, Lang::En), Instant::now());
    let names = "snake_case_of_a_name ".repeat(7);
    let names = names.trim_end();
    timeline.post(PostBody::Markdown(names.to_owned()));
    let ChatOperation::Send(sent) = accept(&mut timeline, now) else { panic!() };
    assert_eq!((sent.text, sent.markup), (names.replace('_', "\\_"), MessageMarkup::Native));
    let marks = "a_|b ".repeat(30);
    timeline.post(PostBody::Markdown(marks.trim_end().to_owned()));
    let ChatOperation::Send(sent) = accept(&mut timeline, now) else { panic!() };
    assert_eq!(sent.text, format!("```\n{}\n```", marks.trim_end()));
    assert_eq!(sent.markup, MessageMarkup::Native);
}

#[test]
fn a_chat_that_takes_no_files_takes_texts_all_the_same() {
    let (mut timeline, now) = (timeline(), Instant::now());
    timeline.post(PostBody::File(OutgoingFile {
        name: "answer.md".into(),
        media_type: "text/markdown".into(),
        bytes: "x".into(),
        caption: String::new(),
        is_picture: false,
    }));
    timeline.post(PostBody::Plain("below it".into()));
    let call = next(&mut timeline, now);
    let result = timeline.finish(call, Err(PlatformError::Gone), now);
    assert!(matches!(result, PostResult::Dropped(_)), "{result:?}");
    assert_eq!(text(&accept(&mut timeline, now)), "below it");
}

#[test]
fn where_a_message_can_be_changed_a_few_times_only_a_reply_is_shown_at_its_end() {
    let now = Instant::now();
    let limits = PlatformLimits { rationed: Some("few:"), ..PlatformLimits::for_tests(4096) };
    let mut timeline = Timeline::new(limits, Lang::En);
    let answer = |timeline: &mut Timeline| {
        let call = next(timeline, now);
        let id = matches!(call.kind, ChatOperation::Send(_) | ChatOperation::Ask(_))
            .then(|| "few:1".into());
        timeline.finish(call.clone(), Ok(id), now);
        call.kind
    };
    let first = timeline.open(PostBody::Plain("The".into()));
    assert!(matches!(answer(&mut timeline), ChatOperation::Send(_)), "not known yet");
    for text in ["The beginning", "The beginning and"] {
        timeline.update(first, PostBody::Plain(text.into()));
        assert_eq!(timeline.next_call(now), TimelineAction::Idle);
    }
    let question = PostBody::Question { text: "Run it?".into(), buttons: Vec::new() };
    let question = timeline.open(question);
    assert!(matches!(answer(&mut timeline), ChatOperation::Ask(_)));
    timeline.settle(first);
    assert_eq!(text(&answer(&mut timeline)), "The beginning and");
    timeline.update(question, PostBody::Plain("Answered.".into()));
    timeline.settle(question);
    assert_eq!(text(&answer(&mut timeline)), "Answered.");
    let second = timeline.open(PostBody::Plain("More".into()));
    assert_eq!(timeline.next_call(now), TimelineAction::Idle);
    timeline.settle(second);
    assert_eq!(text(&answer(&mut timeline)), "More");
}

#[test]
fn a_message_that_a_try_before_has_sent_shows_the_latest_text_in_the_end() {
    let (mut timeline, now) = (timeline(), Instant::now());
    let key = timeline.open(PostBody::Plain("He".into()));
    let lost = next(&mut timeline, now);
    timeline.finish(lost.clone(), Err(PlatformError::Network("broken".into())), now);
    timeline.update(key, PostBody::Plain("Hello".into()));
    timeline.settle(key);
    let later = now + Duration::from_secs(5);
    let again = next(&mut timeline, later);
    assert_eq!((again.new.nonce, again.new.tries), (lost.new.nonce, 1));
    // The service knows the number, and shows what it got first.
    timeline.finish(again, Ok(Some("5".into())), later);
    let edit = next(&mut timeline, later + Duration::from_secs(2));
    assert!(
        matches!(&edit.kind, ChatOperation::Edit(id, text) if id.0 == "5" && text.text == "Hello")
    );
    timeline.finish(edit, Ok(None), later);
    assert!(timeline.posts.is_empty());
}

#[test]
fn a_reply_whose_message_was_deleted_is_sent_once_more() {
    let (mut timeline, now) = (timeline(), Instant::now());
    let key = timeline.open(PostBody::Markdown("one of four and twenty or more".into()));
    let first = next(&mut timeline, now);
    timeline.finish(first.clone(), Ok(Some("5".into())), now);
    let mut at = now;
    for number in 0..2 {
        timeline.update(key, PostBody::Markdown(format!("one two {number}")));
        at += Duration::from_secs(2);
        let edit = next(&mut timeline, at);
        assert!(matches!(edit.kind, ChatOperation::Edit(..)));
        let result = timeline.finish(edit, Err(PlatformError::Gone), at);
        if number == 1 {
            assert!(matches!(result, PostResult::Dropped(_)), "it is deleted again");
            break;
        }
        assert_eq!(result, PostResult::Again);
        let again = next(&mut timeline, at);
        assert!(matches!(again.kind, ChatOperation::Send(_)));
        assert_ne!(again.new.nonce, first.new.nonce, "another message");
        timeline.finish(again, Ok(Some("6".into())), at);
    }
}

#[test]
fn a_reply_begins_with_24_letters_after_a_second_or_with_its_end() {
    let (mut timeline, now) = (timeline(), Instant::now());
    let due = now + Duration::from_secs(1);
    let key = timeline.open(PostBody::Markdown("You sa".into()));
    assert_eq!(timeline.next_call(now), TimelineAction::Wait(due));
    assert_eq!(text(&accept(&mut timeline, due)), "You sa", "nothing more came");
    timeline.settle(key);
    let key = timeline.open(PostBody::Markdown("Heard".into()));
    assert!(matches!(timeline.next_call(due), TimelineAction::Wait(_)));
    timeline.update(key, PostBody::Markdown("Heard and understood, sir".into()));
    assert_eq!(text(&accept(&mut timeline, due)), "Heard and understood, sir");
    let key = timeline.open(PostBody::Markdown("Yes".into()));
    timeline.settle(key);
    assert_eq!(text(&accept(&mut timeline, due)), "Yes");
}

/// A long reply that grows, and is edited at once.
fn growing(timeline: &mut Timeline, now: Instant) -> PostKey {
    let key = timeline.open(PostBody::Markdown("A reply that is growing".repeat(2)));
    accept(timeline, now);
    key
}

#[test]
fn edits_are_rarer_in_a_group_and_after_each_refusal_and_become_frequent_again() {
    let limits = PlatformLimits {
        edit_pace: Duration::from_secs(1),
        group_pace: Duration::from_secs(3),
        ..PlatformLimits::for_tests(4096)
    };
    let mut timeline = Timeline::new(limits, Lang::En);
    let mut now = Instant::now();
    timeline.is_group = true;
    let key = growing(&mut timeline, now);
    let mut edits = 0;
    let mut waited = |timeline: &mut Timeline, now: &mut Instant, answer| {
        edits += 1;
        timeline.update(key, PostBody::Markdown(format!("This is the text of edit {edits}")));
        let begun = *now;
        if let TimelineAction::Wait(due) = timeline.next_call(*now) {
            *now = due;
        }
        let call = next(timeline, *now);
        timeline.finish(call, answer, *now);
        now.duration_since(begun).as_secs()
    };
    let refused = || Err(PlatformError::RateLimited { after: Duration::from_secs(40) });
    assert_eq!(waited(&mut timeline, &mut now, Ok(None)), 3);
    assert_eq!(waited(&mut timeline, &mut now, refused()), 3);
    assert_eq!(waited(&mut timeline, &mut now, Ok(None)), 40, "the service names a time");
    assert_eq!(waited(&mut timeline, &mut now, Ok(None)), 6);
    now += Duration::from_secs(61);
    waited(&mut timeline, &mut now, Ok(None));
    assert_eq!(waited(&mut timeline, &mut now, Ok(None)), 3);
}

#[test]
fn questions_and_what_ends_do_not_wait_for_a_reply_that_grows() {
    let limits = PlatformLimits { limits_edits_apart: true, ..*timeline().limits() };
    let (mut timeline, now) = (Timeline::new(limits, Lang::En), Instant::now());
    let key = growing(&mut timeline, now);
    let buttons = Vec::new();
    let question =
        timeline.open(PostBody::Question { text: "Run it?".into(), buttons: buttons.clone() });
    timeline.update(key, PostBody::Markdown("It has grown meanwhile, by a word".into()));
    assert!(matches!(accept(&mut timeline, now), ChatOperation::Ask(_)));
    timeline.update(question, PostBody::Plain("Run it? Approved".into()));
    assert_eq!(text(&accept(&mut timeline, now)), "Run it? Approved");
    let due = now + Duration::from_secs(2);
    let call = next(&mut timeline, due);
    let refused = Err(PlatformError::RateLimited { after: Duration::from_secs(40) });
    timeline.finish(call, refused, due);
    timeline.post(PostBody::Plain("A new message".into()));
    assert_eq!(text(&accept(&mut timeline, due)), "A new message", "only edits are refused");
}
