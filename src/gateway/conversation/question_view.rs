//! A question that is open in a chat: where it is shown, and how it is answered. The part that its
//! message has no room for follows it; a text that was not shown is not approved.

use super::super::platform::{
    ButtonQuestion, ButtonStyle, MessageId, Outgoing, OutgoingFile, PlatformLimits, TextUnit,
};
use super::super::question::{AnswerOutcome, ButtonData, ChatQuestion};
use super::super::timeline::{PostBody, PostKey};
use super::effect::ChatEffect;
use super::posts::{ChatPosts, text_file};
use super::speaker::{Speaker, display_name};
use avocet_core::i18n::{LocalizedText, chat as w};
use avocet_core::protocol::AskId;

/// Messages that may show a question in place of its file.
const MAX_PARTS: usize = 8;

#[derive(Debug)]
pub struct QuestionView {
    pub question: ChatQuestion,
    post: PostKey,
    /// The posts that show what its own message has no room for.
    shown_by: Vec<PostKey>,
    /// That is a file.
    has_file: bool,
    /// How it was answered, and by whom.
    answered: Option<(LocalizedText, String)>,
    /// No turn of the session waits for it.
    pub is_outside_turn: bool,
}

/// A question for an admin who is not in the chat.
#[derive(Debug)]
pub struct ReferredQuestion {
    pub nonce: String,
    pub question: ButtonQuestion,
    /// The whole of it, if its message has no room for that.
    pub file: Option<OutgoingFile>,
}

/// What comes of an answer: a step to the session, or a sentence for the user.
pub type AnswerResult = Result<Option<ChatEffect>, LocalizedText>;

impl QuestionView {
    pub fn open(question: ChatQuestion, has_admin: bool, posts: &mut ChatPosts) -> QuestionView {
        let (text, whole) = question.message(posts.lang(), &posts.limits());
        let file = whole.map(|whole| posts.file("question.txt", whole));
        let buttons = question.buttons(posts.lang(), &posts.limits(), has_admin);
        debug_assert!(buttons.iter().any(|button| button.style == ButtonStyle::Refuse));
        let post = posts.timeline.open(PostBody::Question { text, buttons });
        let has_file = file.is_some();
        QuestionView {
            question,
            post,
            shown_by: file.into_iter().collect(),
            has_file,
            is_outside_turn: false,
            answered: None,
        }
    }

    /// The message that shows it, once it is sent.
    pub fn message<'a>(&self, posts: &'a ChatPosts) -> Option<&'a MessageId> {
        posts.timeline.message_of(self.post)
    }

    /// The question as an admin sees it elsewhere, if only one may approve it. High risk takes a word
    /// in the chat itself.
    pub fn for_admin(&self, name: &str, posts: &ChatPosts) -> Option<ReferredQuestion> {
        if !self.question.is_of_operator() || self.question.is_high_risk() {
            return None;
        }
        let lang = posts.lang();
        let (text, whole) = self.question.message(lang, &posts.limits());
        let asks = w::ASKS_ELSEWHERE.with("name", name).text(lang);
        let buttons = self.question.buttons(lang, &posts.limits(), true);
        Some(ReferredQuestion {
            nonce: self.question.nonce().to_owned(),
            question: ButtonQuestion { text: Outgoing::plain(format!("{asks}\n{text}")), buttons },
            file: whole.map(|whole| text_file("question.txt", whole)),
        })
    }

    /// The question, as long as no one has answered it.
    pub fn unanswered(&self) -> Option<AskId> {
        self.answered.is_none().then(|| self.question.id())
    }

    fn awaits(&self, speaker: &Speaker) -> bool {
        self.answered.is_none() && self.question.may_answer(&speaker.id, speaker.is_admin)
    }

    /// Others talk in a group as well: free words are the answer of the one who was asked.
    pub fn may_be_answered_by(&self, speaker: &Speaker, text: &str) -> bool {
        self.question.is_asker(&speaker.id) || !self.question.is_free_answer(text)
    }

    /// A message as an answer, if it is one.
    pub fn typed(&self, speaker: &Speaker, text: &str, posts: &ChatPosts) -> Option<AnswerOutcome> {
        // A question that was not shown yet cannot be what this answers.
        if text.trim().is_empty() || !self.awaits(speaker) || !posts.timeline.is_begun(self.post) {
            return None;
        }
        let answer = self.question.typed(text, speaker.is_admin);
        (answer != AnswerOutcome::NotAnAnswer).then_some(answer)
    }

    /// What a button answers, or the sentence for the user who pressed it.
    pub fn press(
        &self,
        speaker: &Speaker,
        data: ButtonData,
    ) -> Result<AnswerOutcome, LocalizedText> {
        if self.answered.is_some() || data.nonce != self.question.nonce() {
            return Err(w::TOO_LATE.into());
        }
        if !self.awaits(speaker) {
            speaker.log_refusal("the question of another user");
            return Err(w::NOT_YOURS.into());
        }
        match self.question.press(data.choice, speaker.is_admin) {
            AnswerOutcome::AdminOnly => {
                speaker.log_refusal("only an admin may decide that");
                Err(w::ADMIN_ONLY.into())
            }
            AnswerOutcome::Unread => Err(w::QUESTION_UNREAD.into()),
            AnswerOutcome::NotAnAnswer => Err(w::TOO_LATE.into()),
            answer => Ok(answer),
        }
    }

    /// What `/approve` or `/deny` answers.
    pub fn command(
        &mut self,
        speaker: &Speaker,
        answer: impl FnOnce(&ChatQuestion) -> AnswerOutcome,
        posts: &ChatPosts,
    ) -> AnswerResult {
        if self.answered.is_some() || !posts.timeline.is_begun(self.post) {
            return Err(w::NO_QUESTION.into());
        }
        if !self.awaits(speaker) {
            speaker.log_refusal("the question of another user");
            return Err(w::NOT_YOURS.into());
        }
        match answer(&self.question) {
            AnswerOutcome::NotAnAnswer => Err(w::NO_SUCH_ANSWER.into()),
            answer => self.apply(answer, speaker),
        }
    }

    pub fn apply(&mut self, answer: AnswerOutcome, speaker: &Speaker) -> AnswerResult {
        match answer {
            AnswerOutcome::Decided(decision) => {
                let outcome = self.question.outcome(&decision);
                self.answered = Some((outcome, speaker.name.clone()));
                Ok(Some(ChatEffect::decide(self.question.id(), decision)))
            }
            AnswerOutcome::AdminOnly => {
                speaker.log_refusal("only an admin may decide that");
                Err(w::ADMIN_ONLY.into())
            }
            AnswerOutcome::Unread => Err(w::QUESTION_UNREAD.into()),
            AnswerOutcome::WordNeeded => {
                let word = format!("{} {}", avocet_present::YES, self.question.code());
                Err(w::WORD_NEEDED.with("word", word))
            }
            AnswerOutcome::NotAnAnswer => Ok(None),
        }
    }

    pub fn show_again(&self, posts: &mut ChatPosts) {
        posts.timeline.show_anew(self.post);
    }

    /// It takes no more answers: its post says what came of it.
    pub fn close(&self, posts: &mut ChatPosts) {
        let summary = self.question.closed(posts.lang(), &posts.limits());
        let text = match &self.answered {
            Some((outcome, name)) => w::CLOSED_BY
                .with("summary", summary)
                .with("outcome", outcome.clone())
                .with("name", display_name(name)),
            None => w::CLOSED.with("summary", summary),
        };
        posts.timeline.update(self.post, PostBody::Plain(text.text(posts.lang())));
        posts.timeline.settle(self.post);
    }

    /// A post was given up. True if the question needed it: the whole text follows in messages then,
    /// and if those fail too, the question can only be refused.
    pub fn on_dropped(&mut self, key: PostKey, has_admin: bool, posts: &mut ChatPosts) -> bool {
        if !self.shown_by.contains(&key) {
            return false;
        }
        let was_file = self.shown_by.len() == 1 && self.has_file;
        self.has_file = false;
        let parts = plain_parts(&self.question.text(posts.lang()), &posts.limits());
        // The question itself comes after them.
        posts.timeline.withdraw(self.post);
        let note = if was_file && parts.len() <= MAX_PARTS {
            let parts = parts.into_iter().map(|part| posts.timeline.post(PostBody::Plain(part)));
            self.shown_by = parts.collect();
            w::QUESTION_ABOVE
        } else {
            self.question.refuse_only();
            self.shown_by.clear();
            w::QUESTION_UNREAD
        };
        let text = self.question.short(posts.lang(), &posts.limits(), note);
        let buttons = self.question.buttons(posts.lang(), &posts.limits(), has_admin);
        self.post = posts.timeline.open(PostBody::Question { text, buttons });
        true
    }

    /// A question that is not shown cannot be answered.
    pub fn on_given_up(&self, post: PostKey) -> Option<ChatEffect> {
        let is_lost = self.post == post && self.answered.is_none();
        let reject = || ChatEffect::decide(self.question.id(), self.question.reject(None));
        is_lost.then(reject)
    }
}

/// The text in messages, cut anywhere and changed nowhere.
fn plain_parts(text: &str, limits: &PlatformLimits) -> Vec<String> {
    let width = |c: char| match limits.unit {
        TextUnit::Chars => 1,
        TextUnit::Utf16 => c.len_utf16(),
    };
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut used = 0;

    for c in text.chars() {
        if used + width(c) > limits.text {
            parts.push(std::mem::take(&mut part));
            used = 0;
        }
        part.push(c);
        used += width(c);
    }
    parts.push(part);
    parts
}
