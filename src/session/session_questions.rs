//! Questions that do not belong to a turn: whether the folder is trusted, those about MCP servers,
//! hooks and the goal, and what servers ask. They are asked one after the other.

use std::collections::VecDeque;

use avocet_core::protocol::{Ask, AskId, Event, Question};
use avocet_mcp::{McpQuestion, McpQuestionId, ServerNeed};

/// Their numbers are such that no turn reaches them.
const FIRST_ASK: u64 = 1 << 40;

/// A question to the user.
#[derive(Debug, PartialEq)]
pub(super) enum SessionQuestion {
    /// Is the folder trusted?
    Trust,
    /// May this server of the project start, and with all of this?
    Start(String, Vec<ServerNeed>),
    /// A server asks something itself.
    Asked(String, McpQuestion),
    /// May the hooks of a file of the project run? By its hash.
    Hooks(String),
    /// Should the work towards the goal of a resumed session go on?
    Goal,
}

impl SessionQuestion {
    fn is_of(&self, server: &str, id: McpQuestionId) -> bool {
        matches!(self, SessionQuestion::Asked(of, question) if of == server && question.id == id)
    }
}

/// What the user is asked, and what waits for that.
#[derive(Debug)]
pub(super) struct SessionQuestions {
    /// Whether the folder is trusted, which is asked at once.
    trust: Option<AskId>,
    open: Option<(AskId, SessionQuestion)>,
    waiting: VecDeque<SessionQuestion>,
    next_ask: u64,
}

impl SessionQuestions {
    pub fn new() -> SessionQuestions {
        SessionQuestions { trust: None, open: None, waiting: VecDeque::new(), next_ask: FIRST_ASK }
    }

    /// The one that messages wait for.
    pub fn open(&self) -> Option<AskId> {
        self.trust.or(self.open.as_ref().map(|(ask, _)| *ask))
    }

    pub fn is_empty(&self) -> bool {
        self.open().is_none() && self.waiting.is_empty()
    }

    pub fn push(&mut self, question: SessionQuestion) {
        self.waiting.push_back(question);
    }

    pub fn ask_trust(&mut self, id: AskId, question: Question) -> Event {
        self.trust = Some(id);
        Event::Asked(Box::new(Ask { id, question }))
    }

    /// Asks what waits next, while nothing else is asked. What `form` has no question for is gone.
    pub fn ask_next(
        &mut self,
        mut form: impl FnMut(&SessionQuestion) -> Option<Question>,
    ) -> Option<Event> {
        while self.open().is_none() {
            let next = self.waiting.pop_front()?;
            let Some(question) = form(&next) else { continue };
            let id = AskId(self.next_ask);
            self.next_ask += 1;
            self.open = Some((id, next));
            return Some(Event::Asked(Box::new(Ask { id, question })));
        }
        None
    }

    /// The question that is answered; `None`: it belongs to a turn.
    pub fn take(&mut self, ask: AskId) -> Option<SessionQuestion> {
        match self.trust.take_if(|trust| *trust == ask) {
            Some(_) => Some(SessionQuestion::Trust),
            None => self.open.take_if(|(open, _)| *open == ask).map(|(_, question)| question),
        }
    }

    /// A server takes its question back, which is closed if it was open.
    pub fn withdraw(&mut self, server: &str, id: McpQuestionId) -> Option<Event> {
        self.waiting.retain(|waits| !waits.is_of(server, id));
        let (ask, _) = self.open.take_if(|(_, open)| open.is_of(server, id))?;
        Some(Event::QuestionClosed { ask })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yes_or_no(_: &SessionQuestion) -> Option<Question> {
        Some(Question::ScriptCall { text: "?".into() })
    }

    fn id_of(event: Option<Event>) -> Option<AskId> {
        match event? {
            Event::Asked(ask) => Some(ask.id),
            Event::QuestionClosed { ask } => Some(ask),
            _ => None,
        }
    }

    fn of_server(id: u64) -> SessionQuestion {
        let id = McpQuestionId(id);
        let question = McpQuestion { id, message: "?".into(), fields: Vec::new(), url: None };
        SessionQuestion::Asked("tickets".into(), question)
    }

    #[test]
    fn questions_are_asked_one_after_the_other() {
        let mut questions = SessionQuestions::new();
        questions.push(SessionQuestion::Start("tickets".into(), Vec::new()));
        questions.push(SessionQuestion::Goal);
        let first = id_of(questions.ask_next(yes_or_no)).unwrap();
        assert_eq!(questions.open(), Some(first));
        assert_eq!(questions.ask_next(yes_or_no), None, "one is open");
        assert_eq!(questions.take(AskId(first.0 + 1)), None, "no such question");
        assert_eq!(
            questions.take(first),
            Some(SessionQuestion::Start("tickets".into(), Vec::new()))
        );
        let second = id_of(questions.ask_next(yes_or_no)).unwrap();
        assert_ne!(first, second);
        assert_eq!(questions.take(first), None, "a late answer to the first");
        assert_eq!(questions.take(second), Some(SessionQuestion::Goal));
        assert!(questions.is_empty());
    }

    #[test]
    fn what_is_gone_is_not_asked() {
        let mut questions = SessionQuestions::new();
        questions.push(SessionQuestion::Hooks("gone".into()));
        questions.push(SessionQuestion::Goal);
        let form = |question: &SessionQuestion| match question {
            SessionQuestion::Goal => yes_or_no(question),
            _ => None,
        };
        let asked = id_of(questions.ask_next(form)).unwrap();
        assert_eq!(questions.take(asked), Some(SessionQuestion::Goal));
        assert_eq!(questions.ask_next(form), None);
    }

    #[test]
    fn the_question_of_trust_leaves_another_open_and_others_wait_for_it() {
        let mut questions = SessionQuestions::new();
        questions.push(SessionQuestion::Goal);
        let goal = id_of(questions.ask_next(yes_or_no)).unwrap();
        let question = yes_or_no(&SessionQuestion::Trust).unwrap();
        assert_eq!(id_of(Some(questions.ask_trust(AskId(1), question))), Some(AskId(1)));
        assert_eq!(questions.open(), Some(AskId(1)));
        questions.push(of_server(1));
        assert_eq!(questions.take(goal), Some(SessionQuestion::Goal));
        assert_eq!(questions.ask_next(yes_or_no), None, "trust is still asked");
        assert_eq!(questions.take(AskId(1)), Some(SessionQuestion::Trust));
        let asked = id_of(questions.ask_next(yes_or_no)).unwrap();
        assert_eq!(questions.take(asked), Some(of_server(1)));
    }

    #[test]
    fn a_server_takes_back_what_it_asked_or_was_to_ask() {
        let mut questions = SessionQuestions::new();
        questions.push(of_server(1));
        questions.push(of_server(2));
        questions.push(of_server(3));
        let open = id_of(questions.ask_next(yes_or_no)).unwrap();
        assert_eq!(questions.withdraw("tickets", McpQuestionId(2)), None, "it only waits");
        assert_eq!(questions.withdraw("mail", McpQuestionId(1)), None, "of another server");
        let closed = questions.withdraw("tickets", McpQuestionId(1));
        assert_eq!(id_of(closed), Some(open));
        let asked = id_of(questions.ask_next(yes_or_no)).unwrap();
        assert_eq!(questions.take(asked), Some(of_server(3)));
    }
}
