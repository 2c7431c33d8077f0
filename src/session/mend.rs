//! What a turn that broke off leaves behind: how it ends on the screen, and what of it
//! the model is told. Pure; the events come from the store.
//!
//! A step is written down before it starts, so of one that was begun and not finished
//! nobody knows what came of it, and one that was only asked about never ran.

use crate::agent::turn::said::Said;
use crate::context::window::{Bounds, History};
use crate::protocol::reply::Proposal;
use crate::protocol::{
    Cut, Ending, Event, Message, Observation, Origin, Outcome, Question, Replied, Risk, Step,
    Usage,
};
use crate::store::{Piece, Remembered};
use crate::words::session as words;

/// Bytes of a step's last output that are kept of one that broke off.
const TAIL: usize = 16 * 1024;

/// What is missing behind the last turn of these; empty when it came to its end.
pub fn closing(events: &[Event], cwd: &str) -> Vec<Event> {
    let begun = events.iter().rposition(|event| matches!(event, Event::TurnStarted { .. }));
    let Some(begun) = begun else { return Vec::new() };
    let Some((Event::TurnStarted { turn, .. }, rest)) =
        events.get(begun..).and_then(<[Event]>::split_first)
    else {
        return Vec::new();
    };
    if rest.iter().any(|event| matches!(event, Event::TurnEnded { .. })) {
        return Vec::new();
    }
    let mut open = Open::default();
    rest.iter().for_each(|event| open.take(event));
    let mut out = Vec::new();
    if !open.reply.is_empty() {
        let cut = Some(Cut::Broken);
        out.push(Event::Replied(Replied {
            message: open.reply,
            markdown: true,
            cut,
            ..Replied::default()
        }));
    }
    out.extend(open.steps.into_iter().map(|step| Event::Observed(Box::new(step.seen(cwd)))));
    let ending = Ending::Failed { why: words::INTERRUPTED.into() };
    out.push(Event::TurnEnded { turn: *turn, ending, usage: Usage::default(), elapsed_ms: 0 });
    out
}

/// What is not finished yet.
#[derive(Default)]
struct Open {
    /// The reply as far as it grew.
    reply: String,
    steps: Vec<OpenStep>,
}

struct OpenStep {
    step: Step,
    risk: Risk,
    began: bool,
    output: String,
}

impl Open {
    fn take(&mut self, event: &Event) {
        match event {
            Event::ReplyStarted
            | Event::Retrying { .. }
            | Event::Repairing { .. }
            | Event::Replied(_) => self.reply.clear(),
            Event::Delta { text } => self.reply.push_str(text),
            Event::Asked(ask) => {
                if let Question::Step { step, risk, .. } = &ask.question {
                    self.step(step, risk, false);
                }
            }
            Event::StepStarted { step, risk } => self.step(step, risk, true),
            Event::StepOutput { id, text } => {
                if let Some(open) = self.steps.iter_mut().find(|open| open.step.id == *id) {
                    open.output.push_str(text);
                }
            }
            Event::Observed(seen) => self.steps.retain(|open| open.step.id != seen.step.id),
            _ => {}
        }
    }

    fn step(&mut self, step: &Step, risk: &Risk, began: bool) {
        self.steps.retain(|open| open.step.id != step.id);
        let (step, risk) = (step.clone(), risk.clone());
        self.steps.push(OpenStep { step, risk, began, output: String::new() });
    }
}

impl OpenStep {
    fn seen(self, cwd: &str) -> Observation {
        let cwd = self.step.cwd.clone().unwrap_or_else(|| cwd.to_owned());
        let (outcome, note) = match self.began {
            true => (Outcome::Interrupted, words::STEP_INTERRUPTED),
            false => (Outcome::Cancelled, words::STEP_NOT_BEGUN),
        };
        let start = self.output.floor_char_boundary(self.output.len().saturating_sub(TAIL));
        let stdout = self.output.split_at(start).1.to_owned();
        let seen = Observation::not_run(self.step, cwd, self.risk, outcome);
        Observation { truncated: start > 0, stdout, note: Some(note.into()), ..seen }
    }
}

/// The messages of a turn, made from what happened in it. Those of a turn that came to
/// its end are kept as they were; this is for one that did not.
pub fn messages(events: &[Event]) -> Vec<Message> {
    let Some(Event::TurnStarted { text, origin, .. }) = events.first() else { return Vec::new() };
    if *origin == Origin::Shell {
        return shell(text, events);
    }
    let mut heard = Heard { said: Said::new(text), reply: None, seen: Vec::new() };
    for event in events.iter().skip(1) {
        match event {
            Event::Replied(replied) => {
                if heard.settle() {
                    heard.said.go_on();
                }
                heard.reply = Some(replied.clone());
            }
            Event::Observed(seen) => heard.seen.push((**seen).clone()),
            Event::Steered { text } => {
                heard.settle();
                heard.said.steered(text);
            }
            _ => {}
        }
    }
    heard.settle();
    heard.said.interrupted();
    heard.said.messages().to_vec()
}

struct Heard {
    said: Said,
    reply: Option<Replied>,
    seen: Vec<Observation>,
}

impl Heard {
    /// Puts a reply down with what came of it; true when it wanted steps.
    fn settle(&mut self) -> bool {
        let seen = std::mem::take(&mut self.seen);
        match self.reply.take() {
            Some(reply) if !seen.is_empty() => {
                let proposal = |seen: &Observation| Proposal {
                    work: seen.step.work.clone(),
                    requires: seen.step.requires,
                };
                let proposals: Vec<Proposal> = seen.iter().map(proposal).collect();
                self.said.cmd(&reply.message, None, &proposals);
            }
            Some(reply) if reply.error => self.said.error(&reply.message),
            Some(reply) => self.said.chat(&reply.message),
            None => {}
        }
        self.said.results(&seen);
        !seen.is_empty()
    }
}

fn shell(text: &str, events: &[Event]) -> Vec<Message> {
    if text.starts_with("!!") {
        return Vec::new();
    }
    let seen = events.iter().find_map(|event| match event {
        Event::Observed(seen) => Some(super::shell::kept(seen)),
        _ => None,
    });
    seen.unwrap_or_default()
}

/// The history as it goes to the model, from what was kept of it.
pub fn history(kept: &[Remembered], broken: &[(u64, Piece)], cwd: &str) -> History {
    let mut history = History::default();
    for one in kept {
        match one {
            Remembered::Whole { history: json, .. } => {
                // What cannot be read any more leaves what came before it.
                if let Ok(whole) = serde_json::from_str(json) {
                    history = whole;
                }
            }
            Remembered::Turn { turn, messages } => {
                let kept = messages.as_ref().and_then(|json| serde_json::from_str(json).ok());
                let made = || {
                    let piece = broken.iter().find(|(broken, _)| broken == turn);
                    piece.map(|(_, piece)| {
                        let mut events: Vec<Event> =
                            piece.events.iter().map(|kept| kept.event.clone()).collect();
                        events.extend(closing(&events, cwd));
                        self::messages(&events)
                    })
                };
                let messages: Vec<Message> = kept.or_else(made).unwrap_or_default();
                if !messages.is_empty() {
                    history.push(messages, Bounds::default());
                }
            }
        }
    }
    history
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::window;
    use crate::protocol::{Ask, AskId, Role, Tier, Work};

    fn started(text: &str, origin: Origin) -> Event {
        Event::TurnStarted { turn: 3, text: text.into(), origin }
    }

    fn step(id: &str) -> Step {
        let work = Work::exec("cargo", &["test"]);
        Step { id: id.into(), work, requires: Default::default(), cwd: None }
    }

    fn risk() -> Risk {
        let (reasons, effects) = (Vec::new(), Vec::new());
        Risk { tier: Tier::L1, rule: "x".into(), reasons, effects, lifted: false }
    }

    fn begun(id: &str) -> Event {
        Event::StepStarted { step: step(id), risk: risk() }
    }

    fn replied(message: &str) -> Event {
        Event::Replied(Replied { message: message.into(), ..Replied::default() })
    }

    fn seen(id: &str) -> Event {
        let seen = Observation::not_run(step(id), "/w", risk(), Outcome::Ran);
        Event::Observed(Box::new(Observation { exit_code: Some(0), ..seen }))
    }

    fn outcomes(events: &[Event]) -> Vec<Outcome> {
        let outcome = |event: &Event| match event {
            Event::Observed(seen) => Some(seen.outcome),
            _ => None,
        };
        events.iter().filter_map(outcome).collect()
    }

    #[test]
    fn a_turn_that_came_to_its_end_needs_nothing() {
        let ended = Event::TurnEnded {
            turn: 3,
            ending: Ending::Done,
            usage: Usage::default(),
            elapsed_ms: 0,
        };
        assert_eq!(closing(&[started("x", Origin::Typed), replied("y"), ended], "/w"), []);
        assert_eq!(closing(&[], "/w"), []);
    }

    #[test]
    fn a_reply_that_was_growing_is_kept_as_cut_off() {
        let delta = |text: &str| Event::Delta { text: text.into() };
        let events =
            [started("x", Origin::Typed), Event::ReplyStarted, delta("half an "), delta("answer")];
        let closing = closing(&events, "/w");
        let Some(Event::Replied(reply)) = closing.first() else { panic!("{closing:?}") };
        assert_eq!((reply.message.as_str(), reply.cut), ("half an answer", Some(Cut::Broken)));
        assert!(matches!(closing.last(), Some(Event::TurnEnded { turn: 3, .. })));
    }

    #[test]
    fn a_step_that_ran_has_an_unknown_outcome_and_one_that_was_asked_about_never_ran() {
        let ask = Question::Pause { why: words::INTERRUPTED.into() };
        let output = Event::StepOutput { id: "cmd_002".into(), text: "line\n".into() };
        let asked = Question::Step {
            step: step("cmd_003"),
            risk: risk(),
            resolved: None,
            cwd: "/w".into(),
            why: String::new(),
            expected: String::new(),
            number: 1,
            of: 1,
            pieces: Vec::new(),
            rule: None,
            rest: Vec::new(),
        };
        let events = [
            started("x", Origin::Typed),
            replied("steps"),
            begun("cmd_001"),
            seen("cmd_001"),
            Event::Asked(Box::new(Ask { id: AskId(1), question: ask })),
            begun("cmd_002"),
            output,
            Event::Asked(Box::new(Ask { id: AskId(2), question: asked })),
        ];
        let closing = closing(&events, "/w");
        assert_eq!(outcomes(&closing), [Outcome::Interrupted, Outcome::Cancelled]);
        let Some(Event::Observed(seen)) = closing.first() else { panic!("{closing:?}") };
        assert_eq!((seen.stdout.as_str(), seen.cwd.as_str()), ("line\n", "/w"));
        assert!(seen.tool_result()["note"].as_str().is_some_and(|n| n.contains("outcome unknown")));
    }

    #[test]
    fn the_model_hears_what_happened_in_the_words_it_knows() {
        let mut events = vec![
            started("fix it", Origin::Typed),
            Event::ReplyStarted,
            replied("First a look."),
            begun("cmd_001"),
            seen("cmd_001"),
            Event::Steered { text: "quickly".into() },
            replied("Now the change."),
            begun("cmd_002"),
        ];
        events.extend(closing(&events, "/w"));
        let messages = messages(&events);
        let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
        assert_eq!(roles, [Role::User, Role::Assistant, Role::User, Role::Assistant, Role::User]);
        assert!(messages[1].content.contains("\"type\":\"cmd\""), "{}", messages[1].content);
        assert!(messages[2].content.ends_with("quickly"), "{}", messages[2].content);
        let last = &messages[4].content;
        assert!(last.contains("\"outcome\":\"interrupted\""), "{last}");
        assert!(last.ends_with(r#"{"_event":"interrupted"}"#), "{last}");
    }

    #[test]
    fn the_next_request_is_valid_wherever_a_turn_broke_off() {
        let all = [
            started("fix it", Origin::Typed),
            Event::ReplyStarted,
            Event::Delta { text: "First".into() },
            replied("First a look."),
            begun("cmd_001"),
            seen("cmd_001"),
            Event::ReplyStarted,
            replied("Done."),
        ];
        for len in 1..=all.len() {
            let mut events = all[..len].to_vec();
            events.extend(closing(&events, "/w"));
            let mut history = History::default();
            history.push(messages(&events), Bounds::default());
            let sent =
                window::request("system", &history, &[Message::user("go on")], Bounds::default());
            assert!(sent.windows(2).all(|pair| pair[0].role != pair[1].role), "{len}: {sent:?}");
            assert_eq!(sent.last().map(|last| last.role), Some(Role::User));
        }
    }

    #[test]
    fn a_line_that_was_kept_from_the_model_stays_so() {
        let events = [started("!!ls", Origin::Shell), begun("cmd_001"), seen("cmd_001")];
        assert_eq!(messages(&events), []);
        let events = [started("!ls", Origin::Shell), begun("cmd_001"), seen("cmd_001")];
        assert_eq!(messages(&events).len(), 1);
        assert_eq!(messages(&[]), []);
    }

    #[test]
    fn the_history_is_what_was_kept_and_what_can_be_made() {
        let turn = |turn, text: &str| Remembered::Turn {
            turn,
            messages: Some(format!(r#"[{{"role":"user","content":"{text}"}}]"#)),
        };
        let mut whole = History::default();
        whole.push(vec![Message::user("all before")], Bounds::default());
        let whole = serde_json::to_string(&whole).expect("plain data");
        let kept = [
            turn(1, "forgotten"),
            Remembered::Whole { turn: 1, history: whole },
            turn(2, "second"),
            Remembered::Turn { turn: 3, messages: None },
        ];
        let event = started("third", Origin::Typed);
        let piece = Piece {
            events: vec![crate::store::Kept { seq: 1, at: 0, event }],
            ..Piece::default()
        };
        let history = history(&kept, &[(3, piece)], "/w");
        let sent = window::request("s", &history, &[Message::user("now")], Bounds::default());
        let text = &sent[1].content;
        assert!(text.starts_with("all before\n\nsecond\n\nthird"), "{text}");
    }
}
