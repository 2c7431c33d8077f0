//! Completes an interrupted turn: how it ends on the screen, and what the model learns of it. Pure;
//! the events come from the store.
//!
//! A step is recorded before it starts, so the result of a step that started and did not finish is
//! unknown, and a step that was only asked about never ran.

use super::persistence::events_of;
use crate::context::history::{History, Outline, ReplyKind, TurnRecord};
use avocet_core::i18n::{common, session as phrases};
use avocet_core::protocol::{
    Event, ModelMessage, Observation, Outcome, Question, Risk, Step, StepQuestion, Truncation,
    TurnOrigin, TurnOutcome, Usage,
};
use avocet_store::{EventPage, Remembered};

/// The maximum length of the last output kept from an interrupted step, in bytes.
const TAIL: usize = 128 * 1024;

/// The events missing after the last turn of these; empty if it ended.
pub fn closing_events(events: &[Event], cwd: &str) -> Vec<Event> {
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
    let mut open = OpenTurn::default();
    rest.iter().for_each(|event| open.apply(event));
    let mut out = Vec::new();
    if !open.reply.is_empty() {
        let cut = Some(Truncation::Broken);
        out.push(Event::Replied(ModelMessage {
            message: open.reply,
            markdown: true,
            cut,
            ..ModelMessage::default()
        }));
    }
    out.extend(
        open.steps
            .into_iter()
            .map(|step| Event::StepFinished(Box::new(step.into_observation(cwd)))),
    );
    let ending = TurnOutcome::Interrupted;
    out.push(Event::TurnEnded { turn: *turn, ending, usage: Usage::default(), elapsed_ms: 0 });
    out
}

/// The parts that have not finished.
#[derive(Default)]
struct OpenTurn {
    /// The reply so far.
    reply: String,
    steps: Vec<OpenStep>,
}

struct OpenStep {
    step: Step,
    risk: Risk,
    began: bool,
    output: String,
}

impl OpenTurn {
    fn apply(&mut self, event: &Event) {
        match event {
            Event::ReplyStarted
            | Event::Retrying { .. }
            | Event::Repairing { .. }
            | Event::Replied(_) => self.reply.clear(),
            Event::Delta { text } => self.reply.push_str(text),
            Event::Asked(ask) => {
                if let Question::Step(StepQuestion { step, risk, .. }) = &ask.question {
                    self.open_step(step, risk, false);
                }
            }
            Event::StepStarted { step, risk } => self.open_step(step, risk, true),
            Event::StepOutput { id, text } => {
                if let Some(open) = self.steps.iter_mut().find(|open| open.step.id == *id) {
                    open.output.push_str(text);
                }
            }
            Event::StepFinished(observation) => {
                self.steps.retain(|open| open.step.id != observation.step.id)
            }
            Event::Subagent { happened, .. }
                if matches!(**happened, Event::StepStarted { .. } | Event::StepFinished(_)) =>
            {
                self.apply(happened)
            }
            _ => {}
        }
    }

    fn open_step(&mut self, step: &Step, risk: &Risk, began: bool) {
        self.steps.retain(|open| open.step.id != step.id);
        let step = step.clone();
        let risk = risk.clone();

        self.steps.push(OpenStep { step, risk, began, output: String::new() });
    }
}

impl OpenStep {
    fn into_observation(self, cwd: &str) -> Observation {
        let cwd = self.step.cwd.clone().unwrap_or_else(|| cwd.to_owned());
        let (outcome, note) = if self.began {
            (Outcome::Interrupted, common::INTERRUPTED)
        } else {
            (Outcome::Cancelled, phrases::STEP_NOT_BEGUN)
        };
        let start = self.output.floor_char_boundary(self.output.len().saturating_sub(TAIL));
        let stdout = self.output.split_at(start).1.to_owned();
        let observation = Observation::not_run(self.step, cwd, self.risk, outcome);
        Observation { truncated: start > 0, stdout, note: Some(note.into()), ..observation }
    }
}

/// The history entries of a turn, made from its events. A turn that ended keeps its own entries;
/// this is for a turn that was interrupted or whose entries are lost.
pub fn turn_record(events: &[Event]) -> TurnRecord {
    let Some(Event::TurnStarted { text, origin, .. }) = events.first() else {
        return TurnRecord::default();
    };
    if *origin == TurnOrigin::Shell {
        return shell_record(text, events);
    }
    let mut record = TurnRecord::default();
    record.add_user(text);
    let mut reply: Option<(bool, String)> = None;
    let mut observations: Vec<Observation> = Vec::new();
    for event in events.iter().skip(1) {
        match event {
            Event::Replied(replied) => {
                add_reply(&mut record, &mut reply, &mut observations);
                reply = Some((replied.error, replied.message.clone()));
            }
            Event::StepFinished(one) => observations.push((**one).clone()),
            Event::Plan { items } => record.set_plan(items),
            Event::Steered { text, .. } => {
                add_reply(&mut record, &mut reply, &mut observations);
                record.add_user(text);
            }
            _ => {}
        }
    }
    add_reply(&mut record, &mut reply, &mut observations);
    let ending = events.iter().rev().find_map(|event| match event {
        Event::TurnEnded { ending, .. } => Some(ending),
        _ => None,
    });
    match ending {
        // Its entries could not be saved, for example on a full disk.
        Some(TurnOutcome::Cancelled) => record.mark_cancelled(),
        Some(TurnOutcome::Interrupted) | None => record.mark_interrupted(),
        Some(_) => {}
    }
    record
}

/// Adds a reply with its results.
fn add_reply(
    record: &mut TurnRecord,
    reply: &mut Option<(bool, String)>,
    observations: &mut Vec<Observation>,
) {
    match reply.take() {
        Some((_, message)) if !observations.is_empty() => {
            record.add_reply(ReplyKind::Cmd, &message)
        }
        Some((true, message)) => record.add_reply(ReplyKind::Error, &message),
        Some((false, message)) => record.add_reply(ReplyKind::Chat, &message),
        None => {}
    }
    record.add_steps(&std::mem::take(observations));
}

fn shell_record(text: &str, events: &[Event]) -> TurnRecord {
    let line = text.trim_start_matches('!');
    let record = events.iter().find_map(|event| match event {
        Event::StepFinished(observation) => Some(super::shell_turn::turn_record(line, observation)),
        _ => None,
    });
    record.filter(|_| !text.starts_with("!!")).unwrap_or_default()
}

/// The history for the model, from the saved entries.
pub fn rebuild_history(
    remembered: &[Remembered],
    broken: &[(u64, EventPage)],
    cwd: &str,
) -> History {
    let mut history = History::default();
    for one in remembered {
        match one {
            Remembered::Whole { history: json, .. } => {
                // An entry that can no longer be read keeps those before it.
                if let Ok(outline) = serde_json::from_str::<Outline>(json) {
                    history = outline.restore_onto(history);
                } else if let Ok(whole) = serde_json::from_str(json) {
                    history = whole;
                }
            }
            Remembered::Turn { turn, left: Some(json) } => {
                history.restore_turn(*turn, serde_json::from_str(json).unwrap_or_default());
            }
            Remembered::Turn { turn, left: None } => {
                let events = broken.iter().find(|(broken, _)| broken == turn);
                let events = events.map(|(_, piece)| events_of(piece)).unwrap_or_default();
                let closing = closing_events(&events, cwd);
                let events: Vec<Event> = events.into_iter().chain(closing).collect();
                // It was masked when it was saved.
                history.push(*turn, turn_record(&events), |_| {});
            }
        }
    }
    history
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::compact;
    use crate::context::history::Summary;
    use crate::context::window::{self, Bounds};
    use avocet_core::protocol::{Ask, AskId, Message, Role, StepAction, Tier};

    fn started(text: &str, origin: TurnOrigin) -> Event {
        Event::TurnStarted { turn: 3, text: text.into(), origin, submit: None }
    }

    fn step(id: &str) -> Step {
        let work = StepAction::exec("cargo", &["test"]);
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
        Event::Replied(ModelMessage { message: message.into(), ..ModelMessage::default() })
    }

    fn observation(id: &str) -> Event {
        let observation = Observation::not_run(step(id), "/w", risk(), Outcome::Ran);
        Event::StepFinished(Box::new(Observation { exit_code: Some(0), ..observation }))
    }

    fn outcomes(events: &[Event]) -> Vec<Outcome> {
        let outcome = |event: &Event| match event {
            Event::StepFinished(observation) => Some(observation.outcome),
            _ => None,
        };
        events.iter().filter_map(outcome).collect()
    }

    #[test]
    fn a_finished_turn_needs_no_closing_events() {
        let ended = Event::TurnEnded {
            turn: 3,
            ending: TurnOutcome::Done,
            usage: Usage::default(),
            elapsed_ms: 0,
        };
        assert_eq!(
            closing_events(&[started("x", TurnOrigin::Typed), replied("y"), ended], "/w"),
            []
        );
        assert_eq!(closing_events(&[], "/w"), []);
    }

    #[test]
    fn an_incomplete_reply_is_kept_and_marked_as_truncated() {
        let delta = |text: &str| Event::Delta { text: text.into() };
        let events = [
            started("x", TurnOrigin::Typed),
            Event::ReplyStarted,
            delta("half an "),
            delta("answer"),
        ];
        let closing = closing_events(&events, "/w");
        let Some(Event::Replied(reply)) = closing.first() else { panic!("{closing:?}") };
        assert_eq!(
            (reply.message.as_str(), reply.cut),
            ("half an answer", Some(Truncation::Broken))
        );
        assert!(matches!(closing.last(), Some(Event::TurnEnded { turn: 3, .. })));
    }

    #[test]
    fn a_step_that_ran_has_an_unknown_outcome_and_one_that_was_asked_about_never_ran() {
        let ask = Question::Pause { why: phrases::INTERRUPTED.into() };
        let output = Event::StepOutput { id: "cmd_002".into(), text: "line\n".into() };
        let asked = Question::Step(StepQuestion::new(step("cmd_003"), risk(), "/w"));
        let events = [
            started("x", TurnOrigin::Typed),
            replied("steps"),
            begun("cmd_001"),
            observation("cmd_001"),
            Event::Asked(Box::new(Ask { id: AskId(1), question: ask })),
            begun("cmd_002"),
            output,
            Event::Asked(Box::new(Ask { id: AskId(2), question: asked })),
        ];
        let closing = closing_events(&events, "/w");
        assert_eq!(outcomes(&closing), [Outcome::Interrupted, Outcome::Cancelled]);
        let Some(Event::StepFinished(observation)) = closing.first() else { panic!("{closing:?}") };
        assert_eq!((observation.stdout.as_str(), observation.cwd.as_str()), ("line\n", "/w"));
        assert!(
            observation.tool_result()["note"]
                .as_str()
                .is_some_and(|n| n.contains("outcome unknown"))
        );
    }

    /// The next messages to the model, after the system prompt.
    fn sent(history: &History) -> Vec<Message> {
        let turn = [Message::user("go on")];
        let parts = window::RequestParts {
            system: "s",
            tools: crate::context::size::ContextSize::default(),
            notes: "",
            history,
            turn: &turn,
        };
        let messages = window::request(parts, Bounds::default()).0;
        messages.into_iter().filter(|message| message.role != Role::System).collect()
    }

    fn after(events: &[Event]) -> History {
        let mut events = events.to_vec();
        events.extend(closing_events(&events, "/w"));
        let mut history = History::default();
        history.push(3, turn_record(&events), |_| {});
        history
    }

    #[test]
    fn the_model_reads_what_happened_in_familiar_words() {
        let history = after(&[
            started("fix it", TurnOrigin::Typed),
            Event::ReplyStarted,
            replied("First a look."),
            begun("cmd_001"),
            observation("cmd_001"),
            Event::Steered { text: "quickly".into(), submit: None },
            replied("Now the change."),
            begun("cmd_002"),
        ]);
        let sent = sent(&history);
        let roles: Vec<Role> = sent.iter().map(|message| message.role).collect();
        assert_eq!(roles, [Role::User, Role::Assistant, Role::User, Role::Assistant, Role::User]);
        assert!(sent[1].text().contains("cargo test"), "{}", sent[1].text());
        assert_eq!(sent[2].text(), "quickly");
        let last = &sent[3].text();
        assert!(last.contains("Now the change.") && last.contains("interrupted"), "{last}");
    }

    #[test]
    fn the_next_request_is_valid_wherever_a_turn_broke_off() {
        let all = [
            started("fix it", TurnOrigin::Typed),
            Event::ReplyStarted,
            Event::Delta { text: "First".into() },
            replied("First a look."),
            begun("cmd_001"),
            observation("cmd_001"),
            Event::ReplyStarted,
            replied("Done."),
        ];
        for len in 1..=all.len() {
            let sent = sent(&after(&all[..len]));
            assert!(sent.windows(2).all(|pair| pair[0].role != pair[1].role), "{len}: {sent:?}");
            assert_eq!(sent.last().map(|last| last.role), Some(Role::User));
            assert!(sent[0].text().starts_with("fix it"), "{len}: {sent:?}");
        }
    }

    #[test]
    fn a_finished_turn_is_not_called_interrupted_when_its_entries_are_lost() {
        let ended = |ending: TurnOutcome| {
            let usage = Usage::default();
            Event::TurnEnded { turn: 3, ending, usage, elapsed_ms: 0 }
        };
        let said = |ending: TurnOutcome| {
            let events = [started("fix it", TurnOrigin::Typed), replied("Done."), ended(ending)];
            let sent = sent(&after(&events));
            sent.iter().map(Message::text).collect::<String>()
        };
        assert!(!said(TurnOutcome::Done).contains("interrupted"));
        assert!(said(TurnOutcome::Cancelled).contains("(cancelled by the user)"));
    }

    #[test]
    fn a_private_shell_line_stays_hidden_from_the_model() {
        let line =
            |text| [started(text, TurnOrigin::Shell), begun("cmd_001"), observation("cmd_001")];
        assert!(turn_record(&line("!!ls")).is_empty());
        assert!(!turn_record(&line("!ls")).is_empty());
        assert!(turn_record(&[]).is_empty());
    }

    #[test]
    fn the_history_consists_of_saved_entries_and_those_made_from_events() {
        let mut whole = History::default();
        whole.push(1, turn_record(&[started("all before", TurnOrigin::Typed)]), |_| {});
        let mut second = History::default();
        second.push(
            2,
            turn_record(&[started("second", TurnOrigin::Typed), replied("yes")]),
            |_| {},
        );
        let remembered = [
            Remembered::Turn { turn: 1, left: Some("{}".into()) },
            Remembered::Whole {
                turn: 1,
                history: serde_json::to_string(&whole).expect("plain data"),
            },
            Remembered::Turn {
                turn: 2,
                left: Some(serde_json::to_string(&second.turn_snapshot(2)).expect("plain data")),
            },
            Remembered::Turn { turn: 3, left: None },
        ];
        let event = started("third", TurnOrigin::Typed);
        let piece = EventPage {
            events: vec![avocet_store::StoredEvent { seq: 1, at: 0, event }],
            ..EventPage::default()
        };
        let history = rebuild_history(&remembered, &[(3, piece)], "/w");
        assert_eq!(history.turns(), 3);
        let text = sent(&history).iter().map(|one| one.text()).collect::<String>();
        let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
        assert!(at("all before") < at("second") && at("second") < at("third"), "{text}");
    }
    #[test]
    fn a_summary_is_restored_with_the_turns_kept_after_it() {
        let mut before = History::default();
        for turn in 1..=4 {
            let words = format!("words of {turn}");
            before.push(
                turn,
                turn_record(&[started(&words, TurnOrigin::Typed), replied("yes")]),
                |_| {},
            );
        }
        let turn = |turn: u64| Remembered::Turn {
            turn,
            left: Some(serde_json::to_string(&before.turn_snapshot(turn)).expect("plain data")),
        };
        let mut summed = before.clone();
        let plan = compact::plan(&summed, Bounds::default(), compact::CompactionTrigger::Manual)
            .expect("a plan");
        let summary = Summary { summary: "We counted.".into(), ..Summary::default() };
        compact::apply(&mut summed, plan, summary);
        let outline = serde_json::to_string(&summed.outline()).expect("plain data");
        assert!(!outline.contains("words of"), "{outline}");
        let whole = Remembered::Whole { turn: 4, history: outline };
        let again = rebuild_history(&[turn(4), whole], &[], "/w");
        assert_eq!(again, summed);
        // Turns before it, which a summary replaces, are not restored.
        let outline = serde_json::to_string(&summed.outline()).expect("plain data");
        let whole = Remembered::Whole { turn: 4, history: outline };
        assert_eq!(rebuild_history(&[turn(1), turn(2), turn(4), whole], &[], "/w"), summed);
    }
}
