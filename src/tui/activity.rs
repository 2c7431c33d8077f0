//! The line over the input: the current activity of the session, and its duration. It has no clock:
//! times come with the events.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::draw::{self, DrawContext};
use super::symbols::SPINNER;
use super::theme::Theme;
use super::{Millis, text};
use crate::i18n::{Lang, context, screen as words};
use crate::protocol::{Event, Step, Tier};

/// The time between two frames of the spinner: eight per second.
pub const FRAME: Millis = 125;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Activity {
    doing: ActivityKind,
    /// The start of this activity.
    since: Millis,
    /// The start of the turn.
    turn_started_at: Millis,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum ActivityKind {
    #[default]
    Idle,
    Thinking,
    Writing,
    Running {
        command: String,
        tier: Tier,
    },
    Asking,
    Retrying {
        attempt: u32,
        of: u32,
        until: Millis,
    },
    Repairing,
    Compacting,
    Stopping,
}

impl Activity {
    pub fn is_busy(&self) -> bool {
        self.doing != ActivityKind::Idle
    }

    /// True while something moves by itself and the line must be redrawn.
    pub fn is_animated(&self) -> bool {
        !matches!(self.doing, ActivityKind::Idle | ActivityKind::Asking)
    }

    pub fn is_stopping(&self) -> bool {
        self.doing == ActivityKind::Stopping
    }

    /// The duration of this activity.
    pub fn elapsed(&self, now: Millis) -> Millis {
        now.saturating_sub(self.since)
    }

    pub fn spinner(&self, now: Millis) -> usize {
        usize::try_from(now.saturating_sub(self.turn_started_at) / FRAME).unwrap_or(0)
    }

    /// The user asked to stop.
    pub fn set_stopping(&mut self, now: Millis) {
        if self.is_busy() {
            self.set_kind(ActivityKind::Stopping, now);
        }
    }

    /// Applies an event. While stopping, only the end counts.
    pub fn apply(&mut self, event: &Event, now: Millis) {
        let doing = match event {
            Event::TurnStarted { .. } => {
                self.turn_started_at = now;
                ActivityKind::Thinking
            }
            Event::ReplyStarted | Event::ReasoningDelta { .. } | Event::QuestionClosed { .. } => {
                ActivityKind::Thinking
            }
            Event::StepFinished(_) | Event::Replied(_) => ActivityKind::Thinking,
            Event::Delta { .. } => ActivityKind::Writing,
            Event::Retrying { attempt, of, wait_ms, why: _ } => {
                ActivityKind::Retrying { attempt: *attempt, of: *of, until: now + wait_ms }
            }
            Event::Repairing { .. } => ActivityKind::Repairing,
            Event::Compacting => ActivityKind::Compacting,
            Event::Compacted(_) => ActivityKind::Thinking,
            Event::StepStarted { step, risk } => running(step, risk.tier),
            Event::Asked(_) => ActivityKind::Asking,
            Event::TurnEnded { .. } | Event::Closed => ActivityKind::Idle,
            Event::StepOutput { .. }
            | Event::Steered { .. }
            | Event::Attached { .. }
            | Event::Rendered { .. }
            | Event::Judged { .. }
            | Event::Plan { .. }
            | Event::Undone { .. }
            | Event::FilesKept { .. }
            | Event::FolderAdded { .. }
            | Event::TerminalRequested { .. }
            | Event::TerminalReturned
            | Event::Queued { .. }
            | Event::Facts(_)
            | Event::Notice(_)
            | Event::Page(_)
            | Event::Models { .. }
            | Event::HistoryChunk { .. }
            | Event::RewindAsked { .. }
            | Event::Rewound { .. }
            | Event::Sessions { .. }
            | Event::Catalogue(_)
            | Event::Cleared => return,
        };
        let ends = doing == ActivityKind::Idle || matches!(event, Event::TurnStarted { .. });
        let held = self.doing == ActivityKind::Stopping || self.doing == ActivityKind::Idle;
        if ends || !held {
            self.set_kind(doing, now);
        }
    }

    fn set_kind(&mut self, doing: ActivityKind, now: Millis) {
        if self.doing != doing {
            (self.doing, self.since) = (doing, now);
        }
    }

    /// The activity and its seconds; empty while idle.
    pub fn line(&self, now: Millis, theme: &Theme, lang: Lang, width: usize) -> Line<'static> {
        let (said, style) = match &self.doing {
            ActivityKind::Idle => return Line::default(),
            ActivityKind::Asking => (words::DOING_ASKING.text(lang).to_owned(), theme.warn),
            ActivityKind::Thinking => (words::DOING_THINKING.text(lang).to_owned(), theme.accent),
            ActivityKind::Writing => (words::DOING_WRITING.text(lang).to_owned(), theme.accent),
            ActivityKind::Repairing => (words::DOING_REPAIRING.text(lang).to_owned(), theme.warn),
            ActivityKind::Compacting => (context::COMPACTING.text(lang).to_owned(), theme.accent),
            ActivityKind::Stopping => (words::DOING_STOPPING.text(lang).to_owned(), theme.warn),
            ActivityKind::Running { command, tier } => (
                words::DOING_RUNNING.with("command", command.clone()).text(lang),
                theme.tier(*tier),
            ),
            ActivityKind::Retrying { attempt, of, until } => (
                words::DOING_RETRYING
                    .with("attempt", *attempt)
                    .with("of", *of)
                    .with("seconds", until.saturating_sub(now).div_ceil(1_000))
                    .text(lang),
                theme.warn,
            ),
        };
        let sign = match self.doing {
            ActivityKind::Asking => "?",
            _ => SPINNER.get(self.spinner(now) % SPINNER.len()).copied().unwrap_or("*"),
        };
        let elapsed = self.elapsed(now);
        let time = if elapsed < 1_000 { String::new() } else { format_duration(elapsed, lang) };
        let room = width.saturating_sub(text::width(&time) + 5);
        Line::from(vec![
            Span::styled(format!("{sign} "), style),
            Span::styled(text::elide_middle(&said, room), theme.text),
            Span::styled(format!("  {time}"), theme.dim),
        ])
    }

    /// Draws the line; what is on the right (a hint, lines below) keeps its place.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, pen: &DrawContext<'_>, right: &Line<'_>) {
        let width = usize::from(area.width);
        let right_at = width.saturating_sub(right.width() + 1);
        draw::line(area, buf, right_at, width.saturating_sub(1), right);
        let room = right_at.saturating_sub(3);
        draw::line(area, buf, 0, right_at, &self.line(pen.now, pen.theme, pen.lang, room));
    }
}

fn running(step: &Step, tier: Tier) -> ActivityKind {
    ActivityKind::Running { command: step.work.command_line(), tier }
}

/// `4 s`, `2 min 05 s`.
pub fn format_duration(ms: Millis, lang: Lang) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0..60 => words::SECONDS.with("s", seconds).text(lang),
        _ => words::MINUTES
            .with("m", seconds / 60)
            .with("s", format!("{:02}", seconds % 60))
            .text(lang),
    }
}
