//! The same command looks the same wherever it is shown.

use std::sync::Arc;

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use crate::cli::args::ApprovalFlags;
use crate::cli::headless::{HeadlessEffect, HeadlessTurn, Options, StderrLine};
use crate::cli::messages::Printer;
use crate::cli::plain::{PlainEffect, PlainSession};
use avocet_core::i18n::{Lang, agent};
use avocet_core::protocol::{
    Event, ExportFormat, Observation, Outcome, Requires, Risk, SessionInfo, Step, StepAction, Tier,
};
use avocet_safety::editable;
use avocet_safety::redact::Redactor;
use avocet_session::context::shorten;
use avocet_session::export;
use avocet_tui::{ScreenConfig, ScreenInput, State, TimedInput, draw_frame, update};

fn on_screen(event: Event) -> String {
    let mut state = State::new(ScreenConfig::default());
    update(&mut state, TimedInput { at: 0, input: ScreenInput::Session(Box::new(event)) });
    let mut terminal = Terminal::new(TestBackend::new(120, 30)).unwrap();
    let drawn = terminal.draw(|frame| drop(draw_frame(&mut state, frame, 0))).unwrap();
    drawn.buffer.content().iter().map(ratatui::buffer::Cell::symbol).collect()
}

fn in_plain_mode(event: Event) -> String {
    let mut session = PlainSession::new(SessionInfo::default(), Lang::En, str::to_owned);
    let line = |effect| match effect {
        PlainEffect::Line(line) => Some(line),
        _ => None,
    };
    session.on_event(event).into_iter().filter_map(line).collect()
}

fn printed(event: &Event) -> String {
    let printer = Printer { lang: Lang::En, clean: str::to_owned, width: None };
    let options = Options {
        json: false,
        approved: ApprovalFlags::default(),
        has_user: false,
        schema: None,
        printer,
        clean: str::to_owned,
        secrets: Arc::new(Redactor::new([("NONE", "hunter2hunter2")], [7; 16])),
    };
    let line = |effect| match effect {
        HeadlessEffect::Tell(StderrLine::Line(say)) => Some(say.text(Lang::En)),
        _ => None,
    };
    HeadlessTurn::new(
        &options,
        &avocet_core::protocol::Op::Turn(avocet_core::protocol::TurnOp::Stop),
    )
    .on_event(event)
    .into_iter()
    .filter_map(line)
    .collect()
}

#[test]
fn a_command_is_the_same_text_wherever_it_is_shown() {
    let work = StepAction::exec("git", &["commit", "-m", "it's\n\u{202e}a \\n", "", "^x~ y"]);
    let line = r"git commit -m $'it\'s\n\u{202e}a \\n' '' '^x~ y'";
    let step =
        Step { id: "cmd_001".into(), work: work.clone(), requires: Requires::default(), cwd: None };
    let (reasons, effects) = (Vec::new(), Vec::new());
    let risk = Risk { tier: Tier::L1, rule: "x".into(), reasons, effects, lifted: false };
    let started = Event::StepStarted { step: step.clone(), risk: risk.clone() };
    let seen = Observation::not_run(step, "/w", risk, Outcome::Declined);
    let finished = Event::StepFinished(Box::new(seen.clone()));
    let texts = [
        ("editable form", editable::to_text(&work)),
        ("notice", agent::SAME_STEP.with("step", work.short_line()).text(Lang::En)),
        ("screen", on_screen(finished.clone())),
        ("plain mode", in_plain_mode(started.clone())),
        ("-p", printed(&started)),
        ("export", export::render("", &[finished], ExportFormat::Md, Lang::En)),
        ("context", shorten::run_summary(&seen)),
    ];
    for (place, text) in texts {
        assert!(text.contains(line), "{place}: {text}");
    }
}
