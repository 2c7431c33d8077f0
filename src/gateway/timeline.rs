//! What a chat should show, compared with what it shows: the next call that brings them together.
//! Pure; the clock and the service are the caller's.
//!
//! Messages are posts in order. A post may grow; however often it changes, one call at a time is
//! made, and it takes the latest text. A refusal to wait, a break or a markup that the service does
//! not accept changes only when and how the same post is tried again.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::markup;
use super::platform::{
    Button, ButtonQuestion, MessageId, Outgoing, OutgoingFile, PlatformError, PlatformLimits,
};
use crate::i18n::{Lang, chat as w};

/// A post of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PostKey(u64);

/// What a post shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostBody {
    /// Markdown, within the limits of a message.
    Markdown(String),
    /// Shown exactly as it is.
    Plain(String),
    /// Plain text with buttons.
    Question {
        text: String,
        buttons: Vec<Button>,
    },
    File(OutgoingFile),
}

#[derive(Debug)]
struct Post {
    key: PostKey,
    body: PostBody,
    message: Option<MessageId>,
    /// The body as it was last accepted.
    shown: Option<PostBody>,
    /// It does not change any more.
    settled: bool,
    /// The service refused its markup.
    plain: bool,
    /// The service may have it.
    begun: bool,
    tries: u32,
    /// Since when it cannot be sent.
    failing: Option<Instant>,
}

/// One call for the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineCall {
    pub key: PostKey,
    pub kind: CallKind,
    body: PostBody,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallKind {
    Send(Outgoing),
    Edit(MessageId, Outgoing),
    Ask(ButtonQuestion),
    Upload(OutgoingFile),
}

/// What to do now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextCall {
    Call(Box<TimelineCall>),
    /// Nothing before this time.
    Wait(Instant),
    /// Everything is shown.
    Idle,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostResult {
    Shown,
    /// The same post is tried again later.
    Again,
    /// The service refuses this post for good, in its words.
    Dropped(String),
    /// The chat is gone, or the token: nothing can be shown any more.
    Lost,
}

#[derive(Debug)]
pub struct Timeline {
    limits: PlatformLimits,
    /// The language of its own sentence.
    pub lang: Lang,
    posts: VecDeque<Post>,
    /// The messages of the last posts that are final and shown.
    sent: VecDeque<(PostKey, MessageId)>,
    next: u64,
    /// No call at all before this time.
    hold: Option<Instant>,
    /// No edit before this time.
    edits_from: Option<Instant>,
    marks: VecDeque<(PostKey, u64)>,
    reached: Vec<u64>,
    /// The post that says how many were left out.
    left_out: Option<(PostKey, usize)>,
}

/// Posts that wait at most; then the oldest are left out, and a post says how many.
const MOST_POSTS: usize = 256;

/// Messages of posts that are final, which are remembered.
const MOST_SENT: usize = 64;

/// How long a post is tried again while the service cannot be reached.
const LONGEST_FAILING: Duration = Duration::from_secs(6 * 3600);

/// The longest wait between two tries, and the longest that a service may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
const LONGEST_HOLD: Duration = Duration::from_secs(3600);

impl Timeline {
    pub fn new(limits: PlatformLimits, lang: Lang) -> Timeline {
        Timeline {
            limits,
            lang,
            posts: VecDeque::new(),
            sent: VecDeque::new(),
            next: 0,
            hold: None,
            edits_from: None,
            marks: VecDeque::new(),
            reached: Vec::new(),
            left_out: None,
        }
    }

    pub fn limits(&self) -> &PlatformLimits {
        &self.limits
    }

    /// Adds a post that may still change.
    pub fn open(&mut self, body: PostBody) -> PostKey {
        self.push(body, None, false)
    }

    /// Adds a post that stays as it is.
    pub fn post(&mut self, body: PostBody) -> PostKey {
        self.push(body, None, true)
    }

    /// Takes a message over that was sent earlier, to change it.
    pub fn adopt(&mut self, message: MessageId, body: PostBody) -> PostKey {
        self.push(body, Some(message), true)
    }

    fn push(&mut self, body: PostBody, message: Option<MessageId>, settled: bool) -> PostKey {
        let key = PostKey(self.next);
        self.next += 1;
        let (shown, plain, begun, tries, failing) = (None, false, false, 0, None);
        let post = Post { key, body, message, shown, settled, plain, begun, tries, failing };
        self.posts.push_back(post);
        if self.posts.len() > MOST_POSTS {
            self.leave_out_oldest();
        }
        self.clear_shown();
        key
    }

    /// The first post that is left out becomes the one that says so. A question and its file stay.
    fn leave_out_oldest(&mut self) {
        let known = self.left_out.filter(|(key, _)| self.posts.iter().any(|post| post.key == *key));
        let is_question = |post: Option<&Post>| {
            post.is_some_and(|post| matches!(post.body, PostBody::Question { .. }))
        };
        let can_go = |at: usize, post: &Post| {
            let is_needed = is_question(Some(post)) || is_question(self.posts.get(at + 1));
            let is_unsent = post.settled && !post.begun && post.message.is_none();
            is_unsent && !is_needed && known.is_none_or(|(key, _)| key != post.key)
        };
        let found = self.posts.iter().enumerate().find(|(at, post)| can_go(*at, post));
        let Some((at, oldest)) = found.map(|(at, post)| (at, post.key)) else { return };
        let (key, count) = known.map_or((oldest, 1), |(key, count)| (key, count + 1));
        if key != oldest {
            self.posts.remove(at);
        }
        self.left_out = Some((key, count));
        let note = w::LEFT_OUT.with("n", count).text(self.lang);
        self.update(key, PostBody::Plain(note));
    }

    /// Changes a post; nothing if it is gone.
    pub fn update(&mut self, key: PostKey, body: PostBody) {
        if let Some(post) = self.find(key) {
            post.body = body;
        }
    }

    /// The post does not change any more.
    pub fn settle(&mut self, key: PostKey) {
        if let Some(post) = self.find(key) {
            post.settled = true;
        }
        self.clear_shown();
    }

    /// Removes a post that is not sent yet; an empty one stays away then.
    pub fn withdraw(&mut self, key: PostKey) {
        self.posts.retain(|post| post.key != key || post.message.is_some());
        self.clear_shown();
    }

    fn find(&mut self, key: PostKey) -> Option<&mut Post> {
        self.posts.iter_mut().find(|post| post.key == key)
    }

    /// The message of a post, once it is sent.
    pub fn message_of(&self, key: PostKey) -> Option<&MessageId> {
        match self.posts.iter().find(|post| post.key == key) {
            Some(post) => post.message.as_ref(),
            None => self.sent.iter().find(|(sent, _)| *sent == key).map(|(_, message)| message),
        }
    }

    /// The newest post.
    pub fn last_key(&self) -> Option<PostKey> {
        self.next.checked_sub(1).map(PostKey)
    }

    /// The call for a post is made now.
    pub fn begin(&mut self, key: PostKey) {
        self.find(key).into_iter().for_each(|post| post.begun = true);
    }

    /// Whether users may have seen a post.
    pub fn is_begun(&self, key: PostKey) -> bool {
        self.posts.iter().any(|post| post.key == key && post.begun)
    }

    /// Reports `token` through [`Timeline::take_reached`] once everything up to here is shown.
    pub fn mark(&mut self, token: u64) {
        self.marks.push_back((PostKey(self.next), token));
        self.clear_shown();
    }

    pub fn take_reached(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.reached)
    }

    pub fn is_idle(&self) -> bool {
        self.posts.iter().all(Post::is_shown)
    }

    /// The next call; none may be under way.
    pub fn next_call(&self, now: Instant) -> NextCall {
        if let Some(hold) = self.hold.filter(|hold| *hold > now) {
            return if self.is_idle() { NextCall::Idle } else { NextCall::Wait(hold) };
        }
        let paced = self.edits_from.filter(|from| *from > now);
        let mut wait = None;
        for post in self.posts.iter().filter(|post| !post.is_shown()) {
            match (&post.message, paced) {
                (Some(_), Some(from)) => wait = wait.or(Some(from)),
                _ => {
                    if let Some(call) = self.call(post) {
                        return NextCall::Call(Box::new(call));
                    }
                }
            }
        }
        wait.map_or(NextCall::Idle, NextCall::Wait)
    }

    fn call(&self, post: &Post) -> Option<TimelineCall> {
        let kind = match (&post.body, &post.message) {
            (PostBody::File(file), None) => CallKind::Upload(file.clone()),
            (PostBody::File(_), Some(_)) => return None,
            (PostBody::Question { text, buttons }, None) => CallKind::Ask(ButtonQuestion {
                text: Outgoing::plain(text),
                buttons: buttons.clone(),
            }),
            (body, message) => {
                let text = self.outgoing(body, post.plain);
                match message {
                    Some(message) => CallKind::Edit(message.clone(), text),
                    None => CallKind::Send(text),
                }
            }
        };
        Some(TimelineCall { key: post.key, kind, body: post.body.clone() })
    }

    fn outgoing(&self, body: &PostBody, plain: bool) -> Outgoing {
        match body {
            PostBody::Markdown(text) if !plain => {
                Outgoing::native(markup::render(text, self.limits.dialect))
            }
            PostBody::Markdown(text) | PostBody::Plain(text) | PostBody::Question { text, .. } => {
                Outgoing::plain(text.as_str())
            }
            PostBody::File(file) => Outgoing::plain(file.caption.as_str()),
        }
    }

    /// Takes the answer of the service; a new message comes with its id.
    pub fn finish(
        &mut self,
        call: TimelineCall,
        answer: Result<Option<MessageId>, PlatformError>,
        now: Instant,
    ) -> PostResult {
        // A message does not put off an edit that waits already: it would never come.
        let is_edit = matches!(call.kind, CallKind::Edit(..));
        if is_edit || self.edits_from.is_none_or(|from| from <= now) {
            self.edits_from = Some(now + self.limits.edit_pace);
        }
        let result = match answer {
            Ok(message) => {
                self.hold = None;
                if let Some(post) = self.find(call.key) {
                    post.message = message.or(post.message.take());
                    post.shown = Some(call.body);
                    (post.tries, post.failing) = (0, None);
                }
                PostResult::Shown
            }
            Err(PlatformError::RateLimited { after }) => {
                self.hold = Some(now + after.min(LONGEST_HOLD));
                PostResult::Again
            }
            Err(PlatformError::Markup(_))
                if self.find(call.key).is_some_and(|post| !post.plain) =>
            {
                self.find(call.key).into_iter().for_each(|post| post.plain = true);
                PostResult::Again
            }
            Err(PlatformError::Network(why)) => self.retry_later(&call, why, now),
            Err(PlatformError::Gone) if !matches!(call.kind, CallKind::Edit(..)) => {
                PostResult::Lost
            }
            Err(PlatformError::Unauthorized) => PostResult::Lost,
            Err(error) => {
                self.posts.retain(|post| post.key != call.key);
                PostResult::Dropped(error.to_string())
            }
        };
        self.clear_shown();
        result
    }

    fn retry_later(&mut self, call: &TimelineCall, why: String, now: Instant) -> PostResult {
        let Some(post) = self.find(call.key) else { return PostResult::Again };
        post.tries += 1;
        let since = *post.failing.get_or_insert(now);
        let wait = Duration::from_millis(250) * 2_u32.saturating_pow(post.tries.min(12) - 1);
        if now.duration_since(since) > LONGEST_FAILING {
            self.posts.retain(|post| post.key != call.key);
            return PostResult::Dropped(why);
        }
        self.hold = Some(now + wait.min(LONGEST_WAIT));
        PostResult::Again
    }

    /// Posts that are shown and final are forgotten, from the front.
    fn clear_shown(&mut self) {
        let sent = &mut self.sent;
        self.posts.retain(|post| {
            let is_final = post.settled && post.is_shown();
            if let Some(message) = post.message.as_ref().filter(|_| is_final) {
                sent.push_back((post.key, message.clone()));
            }
            !is_final
        });
        self.sent.drain(..self.sent.len().saturating_sub(MOST_SENT));
        // An open post that is shown blocks nothing.
        let waiting = self.posts.iter().find(|post| !(post.is_shown())).map(|post| post.key);
        while let Some((key, token)) = self.marks.front().copied() {
            if waiting.is_some_and(|waiting| waiting < key) {
                break;
            }
            self.reached.push(token);
            self.marks.pop_front();
        }
    }
}

impl Post {
    fn is_shown(&self) -> bool {
        match (&self.shown, &self.body) {
            (Some(shown), body) => shown == body,
            // Nothing to send yet: no text, or the marks that a text will begin with.
            (None, PostBody::Markdown(text)) if !self.settled => text.chars().all(is_mark),
            (None, PostBody::Markdown(text) | PostBody::Plain(text)) => text.trim().is_empty(),
            (None, _) => false,
        }
    }
}

/// A space, or a character that may be markup.
fn is_mark(c: char) -> bool {
    c.is_whitespace() || c.is_ascii_punctuation()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::platform::{MarkupDialect, MessageMarkup, TextUnit};

    fn timeline() -> Timeline {
        let limits = PlatformLimits {
            text: 4096,
            unit: TextUnit::Utf16,
            edit_pace: Duration::from_secs(1),
            typing: Duration::from_secs(5),
            label: 60,
            upload: 1 << 20,
            download: 1 << 20,
            dialect: MarkupDialect::TelegramV2,
        };
        Timeline::new(limits, Lang::En)
    }

    fn next(timeline: &Timeline, now: Instant) -> TimelineCall {
        match timeline.next_call(now) {
            NextCall::Call(call) => *call,
            other => panic!("{other:?}"),
        }
    }

    fn accept(timeline: &mut Timeline, now: Instant) -> CallKind {
        let call = next(timeline, now);
        let id = matches!(call.kind, CallKind::Edit(..))
            .then_some(())
            .map_or(Some("9".into()), |()| None);
        timeline.finish(call.clone(), Ok(id), now);
        call.kind
    }

    fn text(kind: &CallKind) -> &str {
        match kind {
            CallKind::Send(text) | CallKind::Edit(_, text) => &text.text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_growing_text_is_edited_at_the_pace_of_the_service_with_its_latest_state() {
        let (mut timeline, now) = (timeline(), Instant::now());
        let key = timeline.open(PostBody::Markdown(String::new()));
        assert_eq!(timeline.next_call(now), NextCall::Idle, "nothing to say yet");
        timeline.update(key, PostBody::Markdown("a".into()));
        assert!(matches!(accept(&mut timeline, now), CallKind::Send(_)));
        for word in ["a b", "a b c", "a b c d"] {
            timeline.update(key, PostBody::Markdown(word.into()));
        }
        let due = now + Duration::from_secs(1);
        assert_eq!(timeline.next_call(now), NextCall::Wait(due));
        assert_eq!(text(&accept(&mut timeline, due)), "a b c d");
        timeline.settle(key);
        assert_eq!(timeline.next_call(due), NextCall::Idle);
        assert!(timeline.posts.is_empty());
    }

    #[test]
    fn marks_wait_for_the_text_they_belong_to_unless_they_are_all_of_it() {
        let (mut timeline, now) = (timeline(), Instant::now());
        let key = timeline.open(PostBody::Markdown("**".into()));
        assert_eq!(timeline.next_call(now), NextCall::Idle);
        timeline.update(key, PostBody::Markdown("**Done".into()));
        assert!(matches!(accept(&mut timeline, now), CallKind::Send(_)));
        let key = timeline.open(PostBody::Markdown("...".into()));
        assert_eq!(timeline.next_call(now), NextCall::Idle);
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
        let call = next(&timeline, now);
        let after = Duration::from_secs(7);
        assert_eq!(
            timeline.finish(call, Err(PlatformError::RateLimited { after }), now),
            PostResult::Again
        );
        timeline.update(key, PostBody::Plain("one two".into()));
        assert_eq!(timeline.next_call(now), NextCall::Wait(now + after));
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
            assert_eq!(matches!(kind, CallKind::Edit(..)), half == 2, "{half}");
        }
    }

    #[test]
    fn a_wait_without_end_is_cut_and_nothing_overflows() {
        let (mut timeline, now) = (timeline(), Instant::now());
        timeline.post(PostBody::Plain("one".into()));
        let call = next(&timeline, now);
        let after = Duration::from_secs(u64::MAX);
        timeline.finish(call, Err(PlatformError::RateLimited { after }), now);
        assert_eq!(timeline.next_call(now), NextCall::Wait(now + LONGEST_HOLD));
    }

    #[test]
    fn the_message_of_a_post_is_known_also_when_it_is_final() {
        let (mut timeline, now) = (timeline(), Instant::now());
        let key = timeline.post(PostBody::Plain("one".into()));
        accept(&mut timeline, now);
        assert_eq!(timeline.message_of(key), Some(&"9".into()));
        for _ in 0..MOST_SENT {
            timeline.post(PostBody::Plain("more".into()));
            accept(&mut timeline, now);
        }
        assert_eq!(timeline.message_of(key), None, "only the last ones are remembered");
    }

    #[test]
    fn refused_markup_is_sent_again_as_plain_text() {
        let (mut timeline, now) = (timeline(), Instant::now());
        timeline.post(PostBody::Markdown("**a**".into()));
        let call = next(&timeline, now);
        let CallKind::Send(sent) = &call.kind else { panic!("{call:?}") };
        assert_eq!((sent.text.as_str(), sent.markup), ("*a*", MessageMarkup::Native));
        timeline.finish(call, Err(PlatformError::Markup("no".into())), now);
        let CallKind::Send(sent) = accept(&mut timeline, now) else { panic!() };
        assert_eq!((sent.text.as_str(), sent.markup), ("**a**", MessageMarkup::Plain));
    }

    #[test]
    fn a_break_is_tried_again_with_growing_pauses_and_not_for_ever() {
        let (mut timeline, mut now) = (timeline(), Instant::now());
        timeline.post(PostBody::Plain("a".into()));
        let mut waits = Vec::new();
        loop {
            let call = next(&timeline, now);
            match timeline.finish(call, Err(PlatformError::Network("x".into())), now) {
                PostResult::Again => {}
                PostResult::Dropped(_) => break,
                other => panic!("{other:?}"),
            }
            let NextCall::Wait(until) = timeline.next_call(now) else { panic!() };
            waits.push(until - now);
            now = until;
        }
        assert!(waits.is_sorted() && waits[11] == LONGEST_WAIT, "{waits:?}");
        let total: Duration = waits.iter().sum();
        assert!(total > LONGEST_FAILING && total < LONGEST_FAILING + 2 * LONGEST_WAIT);
        assert_eq!(timeline.next_call(now), NextCall::Idle);
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
        let call = next(&timeline, now);
        assert!(matches!(
            timeline.finish(call, Err(PlatformError::Gone), now),
            PostResult::Dropped(_)
        ));
        timeline.post(PostBody::Plain("y".into()));
        let call = next(&timeline, now);
        assert_eq!(timeline.finish(call, Err(PlatformError::Gone), now), PostResult::Lost);
    }

    #[test]
    fn posts_that_are_too_many_are_counted_in_the_place_of_the_first() {
        let (mut timeline, now) = (timeline(), Instant::now());
        let question = PostBody::Question { text: "Run it?".into(), buttons: Vec::new() };
        timeline.post(PostBody::Plain("0".into()));
        // The service may have the first one.
        let first = next(&timeline, now);
        timeline.begin(first.key);
        timeline.post(PostBody::Plain("its file".into()));
        timeline.open(question);
        for n in 1..=MOST_POSTS + 40 {
            timeline.post(PostBody::Plain(n.to_string()));
        }
        assert!(timeline.posts.len() <= MOST_POSTS + 1);
        timeline.finish(first, Ok(Some("1".into())), now);
        let mut shown = Vec::new();
        while let NextCall::Call(call) = timeline.next_call(now) {
            shown.push(match &call.kind {
                CallKind::Send(sent) => sent.text.clone(),
                CallKind::Ask(asked) => asked.text.text.clone(),
                other => panic!("{other:?}"),
            });
            timeline.finish(*call, Ok(Some("2".into())), now);
        }
        assert_eq!(shown[..2], ["its file", "Run it?"]);
        let numbers: Vec<usize> = shown.iter().filter_map(|text| text.parse().ok()).collect();
        let count = MOST_POSTS + 40 - numbers.len();
        assert!(count > 0 && shown[2].contains(&format!("{count} messages")), "{shown:?}");
        assert_eq!(numbers, (count + 1..=MOST_POSTS + 40).collect::<Vec<_>>());
    }
}
