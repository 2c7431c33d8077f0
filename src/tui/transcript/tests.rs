//! Tests of the visible conversation, fed by events alone.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::*;
use crate::theme::Depth;
use avocet_config::ShowThinking;
use avocet_core::i18n::{common, screen};
use avocet_core::protocol::{
    ModelMessage, Observation, Outcome, Reason, Risk, Step, StepAction, Tier, Truncation,
    TurnOrigin, TurnOutcome, Usage,
};

mod colours;
mod finding;
mod links;
mod overlays;
mod pictures;
mod places;
mod selecting;
mod steps;

/// One screen that shows a transcript.
struct Screen {
    transcript: Transcript,
    theme: Theme,
    lang: Lang,
    width: u16,
    height: u16,
    clock: Option<Millis>,
}

impl Screen {
    fn new(width: u16, height: u16) -> Screen {
        let theme = Theme::built_in("dark", Depth::True).unwrap();
        let (transcript, lang, clock) = (Transcript::default(), Lang::En, None);
        Screen { transcript, theme, lang, width, height, clock }
    }

    fn with_events(events: impl IntoIterator<Item = Event>) -> Screen {
        let mut screen = Screen::new(80, 40);
        screen.apply_all(events);
        screen
    }

    fn apply_all(&mut self, events: impl IntoIterator<Item = Event>) {
        for event in events {
            self.transcript.apply(&event);
        }
    }

    fn buffer(&mut self) -> Buffer {
        self.draw().0
    }

    fn draw(&mut self) -> (Buffer, Vec<Hyperlink>) {
        let area = Rect::new(0, 0, self.width, self.height);
        let mut buf = Buffer::empty(area);
        let (theme, lang, clock) = (&self.theme, self.lang, self.clock);
        let look =
            DrawOptions { theme, lang, steps_key: "Ctrl-O", elapsed_ms: 12_400, clock, cell: None };
        self.transcript.fit(area, &look);
        let links = self.transcript.draw(&mut buf).links;
        (buf, links)
    }

    /// The rows without trailing spaces, down to the last one used.
    fn rows(&mut self) -> Vec<String> {
        let buf = self.buffer();
        let mut rows: Vec<String> = (0..self.height).map(|y| row(&buf, y)).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    fn text(&mut self) -> String {
        self.rows().join("\n")
    }
}

fn row(buf: &Buffer, y: u16) -> String {
    let mut out = String::new();
    let mut skip = 0;
    for x in 0..buf.area.width {
        let symbol = buf.cell((x, y)).map_or("", |cell| cell.symbol());
        if skip == 0 {
            out.push_str(symbol);
            skip = crate::text::width(symbol).saturating_sub(1);
        } else {
            skip -= 1;
        }
    }
    out.trim_end().to_owned()
}

#[test]
fn reasoning_is_folded_whole_or_absent_as_the_setting_says() {
    let shown = |setting| {
        let mut screen = Screen::new(80, 40);
        screen.transcript = Transcript::new(setting);
        let events = [
            turn_started("hi"),
            Event::ReplyStarted,
            reasoning_delta("First I look.\nThen I think.\nIn the end I know."),
            delta("Well."),
            reply_finished("Well."),
        ];
        screen.apply_all(events);
        let text = screen.text();
        assert!(text.contains("Well."), "{text}");
        let unfolds = (0..8).any(|row| screen.transcript.click(row));
        (text.contains("Then I think."), unfolds)
    };
    assert_eq!(shown(ShowThinking::Folded), (false, true), "a line that unfolds");
    assert_eq!(shown(ShowThinking::Full), (true, true));
    assert_eq!(shown(ShowThinking::Off), (false, false));
}

fn turn_started(text: &str) -> Event {
    Event::TurnStarted { turn: 1, text: text.into(), origin: TurnOrigin::Typed, submit: None }
}

fn delta(text: &str) -> Event {
    Event::Delta { text: text.into() }
}

fn reasoning_delta(text: &str) -> Event {
    Event::ReasoningDelta { text: text.into() }
}

fn reply_finished(message: &str) -> Event {
    Event::Replied(ModelMessage {
        message: message.into(),
        markdown: true,
        ..ModelMessage::default()
    })
}

fn step(id: &str, program: &str, args: &[&str]) -> Step {
    let work = StepAction::exec(program, args);
    Step { id: id.into(), work, requires: avocet_core::protocol::Requires::default(), cwd: None }
}

fn risk(tier: Tier) -> Risk {
    let say = match tier {
        Tier::L0 => common::FILES.with("n", 3),
        Tier::L1 => screen::COUNT_MATCHES.with("n", 4),
        Tier::L2 => screen::CUT_BROKEN.into(),
    };
    let reasons = vec![Reason { rule: "some.rule".into(), tier, say, arg: None }];
    Risk { tier, rule: "some.rule".into(), reasons, effects: vec![], lifted: false }
}

fn step_started(step: Step, tier: Tier) -> Event {
    Event::StepStarted { step, risk: risk(tier) }
}

fn output(id: &str, text: &str) -> Event {
    Event::StepOutput { id: id.into(), text: text.into() }
}

fn observation(step: Step, tier: Tier, outcome: Outcome) -> Observation {
    Observation {
        duration_ms: 1_240,
        ..Observation::not_run(step, "/home/ana/avocet", risk(tier), outcome)
    }
}

fn step_finished(observation: Observation) -> Event {
    Event::StepFinished(Box::new(observation))
}

fn step_ran(step: Step, exit_code: i32, stdout: &str, stderr: &str) -> Event {
    step_finished(Observation {
        exit_code: Some(exit_code),
        stdout: stdout.into(),
        stderr: stderr.into(),
        ..observation(step, Tier::L0, Outcome::Ran)
    })
}

fn turn_ended(ending: TurnOutcome) -> Event {
    let usage = Usage::counted(3_210, 842);
    Event::TurnEnded { turn: 1, ending, usage, elapsed_ms: 72_000 }
}

fn truncated_reply(message: &str, cut: Truncation) -> Event {
    Event::Replied(ModelMessage {
        message: message.into(),
        markdown: true,
        cut: Some(cut),
        ..ModelMessage::default()
    })
}
