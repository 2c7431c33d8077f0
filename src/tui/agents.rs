//! The subagents that run: those in the background have a row over the input, and Up selects one of
//! all, to be looked at, written to or stopped.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Millis;
use super::activity::format_duration;
use super::draw::{self, DrawContext};
use super::keys::KeyAction;
use super::symbols::{CHOSEN, NOT_CHOSEN};
use super::text;
use avocet_core::protocol::{AgentRequest, Event, Op, SessionOp, SubagentInfo};
use avocet_present::subagents::SubagentLine;

/// Rows that are shown; while one is selected, more.
const SHOWN: usize = 3;
const SELECTING: usize = 8;
/// How often the seconds change.
const SECOND: Millis = 1_000;

#[derive(Debug, Default)]
pub struct AgentList {
    /// Each with the time of its begin.
    running: Vec<(SubagentLine, Millis)>,
    /// It stays selected after its end, so that what is typed to it goes nowhere else.
    selected: Option<SubagentInfo>,
}

/// The result of a key while one is selected.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentKeyOutcome {
    Stay,
    /// Shows what it did, or hides it.
    Toggle(String),
    Send(Op),
    /// Up from the first: nothing is selected any more.
    Above,
    /// The key has another meaning.
    Pass,
}

impl AgentList {
    pub fn apply(&mut self, event: &Event, now: Millis) {
        match event {
            Event::SubagentStarted(info) => self.running.push((SubagentLine::new(info), now)),
            Event::Subagent { agent, tokens, happened } => {
                let of_it = self.running.iter_mut().filter(|(line, _)| line.info.agent == *agent);
                of_it.for_each(|(line, _)| line.apply(*tokens, happened));
                self.running.retain(|(line, _)| line.is_running());
            }
            Event::Cleared => *self = AgentList::default(),
            _ => {}
        }
    }

    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    pub fn next_wakeup(&self, now: Millis) -> Option<Millis> {
        (!self.is_empty()).then_some(now + SECOND)
    }

    /// Selects the last one; false if none runs.
    pub fn select_last(&mut self) -> bool {
        self.selected = self.running.last().map(|(line, _)| line.info.clone());
        self.selected.is_some()
    }

    pub fn selected(&self) -> Option<&SubagentInfo> {
        self.selected.as_ref()
    }

    /// Takes the selection away; `None`: there was none.
    pub fn deselect(&mut self) -> Option<SubagentInfo> {
        self.selected.take()
    }

    /// One that ended is not selected any more.
    pub fn forget_ended(&mut self) {
        if self.position().is_none() {
            self.selected = None;
        }
    }

    fn position(&self) -> Option<usize> {
        let agent = &self.selected.as_ref()?.agent;
        self.running.iter().position(|(line, _)| line.info.agent == *agent)
    }

    /// A key while one is selected and nothing is typed.
    pub fn act(&mut self, action: Option<KeyAction>) -> AgentKeyOutcome {
        self.forget_ended();
        let Some(at) = self.position() else { return AgentKeyOutcome::Pass };
        let select = |at: usize| self.running.get(at).map(|(line, _)| line.info.clone());
        let agent = self.selected.as_ref().map(|info| info.agent.clone()).unwrap_or_default();
        match action {
            Some(KeyAction::Previous) if at == 0 => {
                self.selected = None;
                return AgentKeyOutcome::Above;
            }
            Some(KeyAction::Previous) => self.selected = select(at - 1),
            Some(KeyAction::Next) => self.selected = select(at + 1),
            Some(KeyAction::Accept) => return AgentKeyOutcome::Toggle(agent),
            Some(KeyAction::Remove) => {
                let request = AgentRequest::Stop;
                let op = Op::Session(SessionOp::Agent { agent, request });
                return AgentKeyOutcome::Send(op);
            }
            Some(KeyAction::Close) => self.selected = None,
            _ => return AgentKeyOutcome::Pass,
        }
        AgentKeyOutcome::Stay
    }

    fn shown(&self) -> Vec<&(SubagentLine, Millis)> {
        match self.position() {
            Some(at) => {
                let first = (at + 1).saturating_sub(SELECTING);
                self.running.iter().skip(first).take(SELECTING).collect()
            }
            None => {
                let background = self.running.iter().filter(|(line, _)| line.info.background);
                background.take(SHOWN).collect()
            }
        }
    }

    pub fn rows(&self) -> u16 {
        u16::try_from(self.shown().len()).unwrap_or_default()
    }

    pub fn draw(&self, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) {
        let room = usize::from(area.width).saturating_sub(5);
        let selected = self.selected.as_ref().map(|info| info.agent.as_str());
        let row = |(line, began): &&(SubagentLine, Millis)| {
            let elapsed = format_duration(cx.now.saturating_sub(*began), cx.lang);
            let facts = format!("  {}  {elapsed}", line.counts().text(cx.lang));
            let is_selected = selected == Some(line.info.agent.as_str());
            let sign = if is_selected { CHOSEN } else { NOT_CHOSEN };
            let style = if is_selected { cx.theme.selection } else { cx.theme.text };
            let title = text::single_line(&line.title().text(cx.lang));
            let title = text::elide_middle(&title, room.saturating_sub(text::width(&facts)));
            Line::from(vec![
                Span::styled(format!("  {sign}"), cx.theme.accent),
                Span::styled(title, style),
                Span::styled(facts, cx.theme.dim),
            ])
        };
        let lines: Vec<Line<'static>> = self.shown().iter().map(row).collect();
        draw::lines(area, buf, &lines);
    }
}
