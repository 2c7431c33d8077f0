//! What a long diff costs: opening it, and a frame at each page of it, on one column and side by
//! side, in the question about a change and in `/diff`.

#![allow(clippy::unwrap_used, reason = "benches")]

use std::fmt::Write as _;

use avocet::protocol::{
    Ask, AskId, Change, Event, Question, Requires, Risk, SessionInfo, Step, StepAction,
    StepQuestion, Tier,
};
use avocet::tui::transcript::Highlighter;
use avocet::tui::{
    self, QUIET, ScreenConfig, ScreenInput, State, TerminalCaps, TimedInput, theme::Depth,
};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use divan::Bencher;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

const ROWS: usize = 5_000;
/// One column, and side by side.
const WIDTHS: [u16; 2] = [100, 200];

/// A change of so many rows: one in four takes the place of another.
fn change() -> Change {
    let mut diff = String::from("--- src/price.rs\n+++ src/price.rs\n");
    let (mut added, mut removed, mut rows, mut line) = (0, 0, 0, 1);
    while rows < ROWS {
        let _ = writeln!(diff, "@@ -{line},6 +{line},6 @@ impl Price {{");
        for at in line..line + 4 {
            let _ = writeln!(diff, "     let value_{at} = self.items.get({at}).map(Item::cents);");
        }
        let _ = writeln!(diff, "-    total += value_{line}.unwrap_or(0);");
        let _ = writeln!(diff, "-    // 这一行保持不变");
        let _ = writeln!(diff, "+    total += value_{line}.unwrap_or_default() * count;");
        let _ = writeln!(diff, "+    // 这一行已经改变");
        (added, removed, rows, line) = (added + 2, removed + 2, rows + 8, line + 40);
    }
    Change {
        path: "/work/src/price.rs".into(),
        before: Some("a".into()),
        after: Some("b".into()),
        added,
        removed,
        diff,
        ..Change::default()
    }
}

fn in_the_view() -> Event {
    Event::Changes { session: vec![change()], uncommitted: Some(Vec::new()) }
}

fn in_the_question() -> Event {
    let input = serde_json::json!({"path": "src/price.rs", "edits": [{"old": "a", "new": "b"}]});
    let work = StepAction::Tool { name: "file.edit".into(), input };
    let step = Step { id: "cmd_001".into(), work, requires: Requires::default(), cwd: None };
    let (rule, reasons, effects) = ("file.edit".into(), Vec::new(), Vec::new());
    let risk = Risk { tier: Tier::L1, rule, reasons, effects, lifted: false };
    let change = Some(change());
    let question = StepQuestion { change, ..StepQuestion::new(step, risk, "/work") };
    Event::Asked(Box::new(Ask { id: AskId(1), question: Question::Step(question) }))
}

struct Bench {
    state: State,
    terminal: Terminal<TestBackend>,
    now: u64,
}

impl Bench {
    fn new(width: u16) -> Bench {
        let config = ScreenConfig {
            facts: SessionInfo { cwd: "/work".into(), trusted: true, ..SessionInfo::default() },
            theme: "dark".into(),
            terminal_caps: TerminalCaps { depth: Depth::True, ..TerminalCaps::default() },
            ..ScreenConfig::default()
        };
        let terminal = Terminal::new(TestBackend::new(width, 50)).unwrap();
        let mut bench = Bench { state: State::new(config), terminal, now: 0 };
        bench.draw();
        bench
    }

    fn input(&mut self, input: ScreenInput) {
        tui::update(&mut self.state, TimedInput { at: self.now, input });
    }

    fn open(&mut self, event: Event) {
        self.input(ScreenInput::Session(Box::new(event)));
        self.now += QUIET;
        self.draw();
    }

    fn draw(&mut self) {
        let (state, now) = (&mut self.state, self.now);
        self.terminal.draw(|frame| drop(tui::draw_frame(state, frame, now))).unwrap();
    }

    /// With its syntax colours, as it is a moment after it was opened.
    fn colour(&mut self) {
        let highlighter = Highlighter::default();
        while let Some(snippet) = self.state.next_unhighlighted() {
            let painted = highlighter.highlight(&snippet);
            self.input(ScreenInput::Highlighted(Box::new(painted)));
        }
        self.draw();
    }

    /// To the next page, and from the end back to the start.
    fn turn_page(&mut self, pages: u32) {
        let code = if pages.is_multiple_of(150) { KeyCode::Home } else { KeyCode::PageDown };
        self.input(ScreenInput::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        self.now += 1;
        self.draw();
    }
}

fn pages(bencher: Bencher<'_, '_>, width: u16, event: Event) {
    let mut bench = Bench::new(width);
    bench.open(event);
    bench.colour();
    let mut turned = 0;
    bencher.bench_local(|| {
        turned += 1;
        bench.turn_page(turned);
    });
}

fn opening(bencher: Bencher<'_, '_>, width: u16, event: impl Fn() -> Event) {
    bencher.with_inputs(|| (Bench::new(width), event())).bench_local_values(
        |(mut bench, event)| {
            bench.open(event);
            bench
        },
    );
}

#[divan::bench(args = WIDTHS)]
fn a_page_of_the_view(bencher: Bencher<'_, '_>, width: u16) {
    pages(bencher, width, in_the_view());
}

#[divan::bench(args = WIDTHS)]
fn a_page_of_the_question(bencher: Bencher<'_, '_>, width: u16) {
    pages(bencher, width, in_the_question());
}

#[divan::bench(args = WIDTHS)]
fn opening_the_view(bencher: Bencher<'_, '_>, width: u16) {
    opening(bencher, width, in_the_view);
}

#[divan::bench(args = WIDTHS)]
fn opening_the_question(bencher: Bencher<'_, '_>, width: u16) {
    opening(bencher, width, in_the_question);
}

/// A frame in which nothing changed.
#[divan::bench(args = WIDTHS)]
fn the_same_frame_of_the_view(bencher: Bencher<'_, '_>, width: u16) {
    let mut bench = Bench::new(width);
    bench.open(in_the_view());
    bench.colour();
    bencher.bench_local(|| bench.draw());
}
