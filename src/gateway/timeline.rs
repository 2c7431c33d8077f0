//! What a chat should show, compared with what it shows: the next call that brings them together.
//! Pure; the clock and the service are the caller's.
//!
//! Messages are posts in order. A post may grow; however often it changes, one call at a time is
//! made, and it takes the latest text. A refusal to wait, a break or a markup that the service does
//! not accept changes only when and how the same post is tried again.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::edit_pace::EditPace;
use super::markup;
use super::platform::{
    Button, ButtonQuestion, DeliveryId, MessageId, NewMessage, Outgoing, OutgoingFile,
    PlatformError, PlatformLimits,
};
use avocet_core::i18n::{Lang, chat as w};

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
    new: NewMessage,
    /// How often its message was gone and it was sent again.
    resent: u32,
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
    /// When it was first looked at.
    seen: Option<Instant>,
}

/// One call for the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceCall {
    pub key: PostKey,
    pub kind: ChatOperation,
    pub new: NewMessage,
    body: PostBody,
}

/// What the chat service is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatOperation {
    Send(Outgoing),
    Edit(MessageId, Outgoing),
    Ask(ButtonQuestion),
    Upload(OutgoingFile),
}

/// What to do now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimelineAction {
    Call(Box<ServiceCall>),
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
    /// What new posts answer.
    pub answering: Option<DeliveryId>,
    /// A message of this chat can be changed a few times only: others will be alike.
    is_rationed: bool,
    /// Where the numbers of its messages begin, by which a service tells them apart.
    nonces: u64,
    posts: VecDeque<Post>,
    /// The messages of the last posts that are final and shown.
    sent: VecDeque<(PostKey, MessageId)>,
    next: u64,
    /// No call at all before this time.
    hold: Option<Instant>,
    pace: EditPace,
    /// Others speak in the chat too: the service takes fewer calls there.
    pub is_group: bool,
    marks: VecDeque<(PostKey, u64)>,
    reached: Vec<u64>,
    /// The post that says how many were left out.
    left_out: Option<(PostKey, usize)>,
}

/// A message begins with so many letters, in so much time, or with its end.
pub const FIRST_LENGTH: usize = 24;
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// Posts that wait at most; then the oldest are left out, and a post says how many.
const MAX_POSTS: usize = 256;

/// Messages of posts that are final, which are remembered.
const MAX_SENT: usize = 64;

/// How long a post is tried again while the service cannot be reached.
const MAX_FAILING: Duration = Duration::from_secs(6 * 3600);

/// How often a post is tried again whose token is refused.
const MAX_REFUSALS: u32 = 5;

/// The longest wait between two tries, and the longest that a service may ask for.
const MAX_WAIT: Duration = Duration::from_secs(30);
const MAX_HOLD: Duration = Duration::from_secs(3600);

impl Timeline {
    pub fn new(limits: PlatformLimits, lang: Lang) -> Timeline {
        Timeline {
            limits,
            lang,
            answering: None,
            is_rationed: false,
            nonces: fastrand::u64(..),
            posts: VecDeque::new(),
            sent: VecDeque::new(),
            next: 0,
            hold: None,
            pace: EditPace::default(),
            is_group: false,
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
        self.posts.push_back(Post {
            key,
            body,
            message,
            new: NewMessage {
                nonce: self.nonces.wrapping_add(key.0),
                tries: 0,
                answers: self.answering.clone(),
            },
            resent: 0,
            shown: None,
            settled,
            plain: false,
            begun: false,
            tries: 0,
            failing: None,
            seen: None,
        });
        if self.posts.len() > MAX_POSTS {
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

    /// The time before which no message that grows is changed.
    pub fn edits_from(&self, now: Instant) -> Option<Instant> {
        self.hold.max(self.pace.growing(self.base_pace())).filter(|from| *from > now)
    }

    fn base_pace(&self) -> Duration {
        if self.is_group { self.limits.group_pace } else { self.limits.edit_pace }
    }

    /// The next call; none may be under way. Questions, and the end of them, come before what only grows.
    pub fn next_call(&mut self, now: Instant) -> TimelineAction {
        if let Some(hold) = self.hold.filter(|hold| *hold > now) {
            return if self.is_idle() { TimelineAction::Idle } else { TimelineAction::Wait(hold) };
        }
        self.posts.iter_mut().for_each(|post| _ = post.seen.get_or_insert(now));
        let mut wait: Option<Instant> = None;
        let mut growing = None;
        let due = |post: &&Post| !post.is_shown() && !self.waits_for_its_end(post);
        for post in self.posts.iter().filter(due) {
            if let Some(from) = self.due_from(post).filter(|from| *from > now) {
                wait = Some(wait.map_or(from, |wait| wait.min(from)));
                continue;
            }
            let Some(call) = self.call(post) else { continue };
            if post.is_growing() {
                growing.get_or_insert(call);
            } else if growing.is_none() || post.is_urgent() {
                return TimelineAction::Call(Box::new(call));
            } else {
                break;
            }
        }
        match (growing, wait) {
            (Some(call), _) => TimelineAction::Call(Box::new(call)),
            (None, Some(wait)) => TimelineAction::Wait(wait),
            (None, None) => TimelineAction::Idle,
        }
    }

    /// From when on a post that is not shown may be.
    fn due_from(&self, post: &Post) -> Option<Instant> {
        match &post.message {
            None => post.begins_from(),
            // Its buttons answer nothing any more.
            Some(_) if post.is_closing() => self.pace.refused_until,
            Some(_) if post.settled => self.pace.ending(self.base_pace()),
            Some(_) => self.pace.growing(self.base_pace()),
        }
    }

    /// Where a message can be changed a few times only, a reply is not shown while it grows.
    fn waits_for_its_end(&self, post: &Post) -> bool {
        let is_question = matches!(post.body, PostBody::Question { .. });
        let is_rationed = match &post.message {
            Some(message) => self.is_rationed_message(message),
            None => self.is_rationed && !is_question,
        };
        is_rationed && !post.settled
    }

    fn is_rationed_message(&self, message: &MessageId) -> bool {
        self.limits.rationed.is_some_and(|begin| message.0.starts_with(begin))
    }

    fn call(&self, post: &Post) -> Option<ServiceCall> {
        let kind = match (&post.body, &post.message) {
            (PostBody::File(file), None) => ChatOperation::Upload(file.clone()),
            (PostBody::File(_), Some(_)) => return None,
            (PostBody::Question { text, buttons }, None) => ChatOperation::Ask(ButtonQuestion {
                text: Outgoing::plain(text),
                buttons: buttons.clone(),
            }),
            (body, message) => {
                let text = self.outgoing(body, post.plain);
                match message {
                    Some(message) => ChatOperation::Edit(message.clone(), text),
                    None => ChatOperation::Send(text),
                }
            }
        };
        let new = NewMessage { tries: post.new.tries + post.tries, ..post.new.clone() };
        Some(ServiceCall { key: post.key, kind, new, body: post.body.clone() })
    }

    fn outgoing(&self, body: &PostBody, plain: bool) -> Outgoing {
        match body {
            PostBody::Markdown(text) if !plain => self.rendered(text),
            PostBody::Markdown(text) | PostBody::Plain(text) | PostBody::Question { text, .. } => {
                Outgoing::plain(text.as_str())
            }
            PostBody::File(file) => Outgoing::plain(file.caption.as_str()),
        }
    }

    /// A text that its marks make too long for the service is shown as it was written.
    fn rendered(&self, text: &str) -> Outgoing {
        let most = self.limits.rendered.unwrap_or(usize::MAX);
        let dialect = self.limits.dialect;

        let fits = |shown: &String| self.limits.unit.count(shown) <= most;
        let shown = Some(markup::render(text, dialect)).filter(fits);
        match shown.or_else(|| Some(markup::code_block(text, dialect)).filter(fits)) {
            Some(shown) => Outgoing::native(shown),
            None => Outgoing::plain(text),
        }
    }

    /// Takes the answer of the service; a new message comes with its id.
    pub fn finish(
        &mut self,
        call: ServiceCall,
        answer: Result<Option<MessageId>, PlatformError>,
        now: Instant,
    ) -> PostResult {
        // A message does not put off an edit that waits already: it would never come.
        let is_edit = matches!(call.kind, ChatOperation::Edit(..));
        let is_upload = matches!(call.kind, ChatOperation::Upload(_));
        let base = self.base_pace();
        if is_edit || self.pace.ending(base).is_none_or(|from| from <= now) {
            self.pace.since = Some(now);
        }
        let result = match answer {
            Ok(message) => {
                self.pace.quicken(now);
                self.mark_shown(call, message)
            }
            Err(PlatformError::RateLimited { after }) => {
                self.wait_as_asked(after, is_edit, now);
                PostResult::Again
            }
            Err(PlatformError::Markup(_))
                if self.find(call.key).is_some_and(|post| !post.plain) =>
            {
                self.find(call.key).into_iter().for_each(|post| post.plain = true);
                PostResult::Again
            }
            Err(PlatformError::Network(why)) => self.retry_later(&call, why, now),
            // A chat may take texts and no files.
            Err(PlatformError::Gone) if is_edit && self.send_again(call.key) => PostResult::Again,
            Err(PlatformError::Gone) if !is_edit && !is_upload => PostResult::Lost,
            // The service may have trouble of its own: a token that was accepted is tried again.
            Err(PlatformError::Unauthorized)
                if self.find(call.key).is_some_and(|post| post.tries < MAX_REFUSALS) =>
            {
                self.retry_later(&call, PlatformError::Unauthorized.to_string(), now)
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

    fn wait_as_asked(&mut self, after: Duration, is_edit: bool, now: Instant) {
        let until = Some(now + after.min(MAX_HOLD));
        self.pace.slow_down(now);
        if is_edit && self.limits.limits_edits_apart {
            self.pace.refused_until = until;
        } else {
            self.hold = until;
        }
    }

    fn mark_shown(&mut self, call: ServiceCall, message: Option<MessageId>) -> PostResult {
        self.hold = None;
        self.is_rationed |= message.as_ref().is_some_and(|id| self.is_rationed_message(id));
        if let Some(post) = self.find(call.key) {
            post.message = message.or(post.message.take());
            // A try before may have sent an earlier text: an edit brings it up to date.
            let is_text = matches!(call.body, PostBody::Markdown(_) | PostBody::Plain(_));
            let is_found = call.new.tries > 0 && !matches!(call.kind, ChatOperation::Edit(..));
            post.shown = Some(call.body).filter(|_| !(is_text && is_found));
            post.new.tries = 0;
            (post.tries, post.failing) = (0, None);
        }
        PostResult::Shown
    }

    /// The message of a reply was deleted: what it shows is sent once more.
    fn send_again(&mut self, key: PostKey) -> bool {
        let rationed = self.limits.rationed;
        let Some(post) = self.find(key).filter(|post| post.resent == 0) else { return false };
        let is_rationed = rationed
            .zip(post.message.as_ref())
            .is_some_and(|(begin, message)| message.0.starts_with(begin));
        let is_reply = matches!(post.body, PostBody::Markdown(_)) && !is_rationed;
        if is_reply {
            self.show_anew(key);
        }
        is_reply
    }

    /// Its message is not there any more: another one shows it.
    pub fn show_anew(&mut self, key: PostKey) {
        if let Some(post) = self.find(key) {
            (post.message, post.shown, post.resent) = (None, None, 1);
            post.new.nonce = post.new.nonce.wrapping_add(1 << 32);
        }
    }

    fn retry_later(&mut self, call: &ServiceCall, why: String, now: Instant) -> PostResult {
        let Some(post) = self.find(call.key) else { return PostResult::Again };
        post.tries += 1;
        let since = *post.failing.get_or_insert(now);
        let wait = Duration::from_millis(250) * 2_u32.saturating_pow(post.tries.min(12) - 1);
        if now.duration_since(since) > MAX_FAILING {
            self.posts.retain(|post| post.key != call.key);
            return PostResult::Dropped(why);
        }
        self.hold = Some(now + wait.min(MAX_WAIT));
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
        self.sent.drain(..self.sent.len().saturating_sub(MAX_SENT));
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

impl Post {
    /// It does not begin with a few letters, unless nothing follows them for a while.
    fn begins_from(&self) -> Option<Instant> {
        let PostBody::Markdown(text) = &self.body else { return None };
        let is_short = text.chars().nth(FIRST_LENGTH - 1).is_none();
        self.seen.filter(|_| is_short && !self.settled && !self.begun).map(|at| at + FIRST_WAIT)
    }

    fn is_growing(&self) -> bool {
        self.message.is_some() && !self.settled && !self.is_closing()
    }

    fn is_urgent(&self) -> bool {
        matches!(self.body, PostBody::Question { .. }) || self.is_closing()
    }

    /// It shows buttons that it has no longer.
    fn is_closing(&self) -> bool {
        let is_question = |body: &PostBody| matches!(body, PostBody::Question { .. });
        self.shown.as_ref().is_some_and(is_question) && !is_question(&self.body)
    }
}

/// A space, or a character that may be markup.
fn is_mark(c: char) -> bool {
    c.is_whitespace() || c.is_ascii_punctuation()
}

#[cfg(test)]
mod tests;
