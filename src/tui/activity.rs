//! The line over the input: the current activity of the session, and its duration. It has no clock:
//! times come with the events.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::draw::{self, DrawContext};
use super::symbols::{DONE, SPINNER};
use super::theme::Theme;
use super::{Millis, text};
use avocet_core::i18n::{Lang, context, screen as phrases};
use avocet_core::protocol::reply::{tool_name, wire_name};
use avocet_core::protocol::{Event, Step, Tier};
use avocet_core::text::size;
use avocet_present::outcome::typed_line;

/// The time between two frames of the spinner: eight per second; without motion only the seconds
/// change.
const FRAME: Millis = 125;
const STILL: Millis = 1_000;
/// How long the end of a turn takes to settle, and each of its colours.
const SETTLING: Millis = 300;
const SHADE: Millis = 100;
/// A shorter turn needs no such end.
const SETTLED_FROM: Millis = 1_000;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Activity {
    doing: ActivityKind,
    /// The step that runs on while an agent asks.
    waiting_kind: Option<ActivityKind>,
    /// The start of this activity.
    since: Millis,
    /// The start of the turn.
    turn_started_at: Millis,
    /// Nothing moves but the seconds.
    is_still: bool,
    /// When the last turn ended, and how long it took.
    ended: Option<(Millis, Millis)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum ActivityKind {
    #[default]
    Idle,
    Thinking,
    Writing,
    /// A long call of a tool is on its way.
    Calling {
        tool: String,
        bytes: usize,
    },
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
    pub fn new(is_still: bool) -> Activity {
        Activity { is_still, ..Activity::default() }
    }

    pub fn set_still(&mut self, is_still: bool) {
        self.is_still = is_still;
    }

    /// When its line changes by itself; `None`: it does not.
    pub fn next_wakeup(&self, now: Millis) -> Option<Millis> {
        let settling = self.settling(now).map(|shade| now + SHADE - shade % SHADE);
        let frame = if self.is_still { STILL } else { FRAME };
        self.is_animated().then_some(now + frame).or(settling)
    }

    /// How long ago the turn ended that settles.
    fn settling(&self, now: Millis) -> Option<Millis> {
        let (at, _) = self.ended?;
        let since = now.saturating_sub(at);
        (!self.is_still && !self.is_busy() && since < SETTLING).then_some(since)
    }

    /// The end of a turn, from the colour of what acts to that of what may be skipped.
    fn settling_line(&self, now: Millis, theme: &Theme, lang: Lang) -> Line<'static> {
        let (Some(since), Some((_, took))) = (self.settling(now), self.ended) else {
            return Line::default();
        };
        let style = match since / SHADE {
            0 => theme.accent,
            1 => theme.text,
            _ => theme.dim,
        };
        Line::styled(format!("{DONE} {}", format_duration(took, lang)), style)
    }

    pub fn is_busy(&self) -> bool {
        self.doing != ActivityKind::Idle
    }

    /// True while something moves by itself and the line must be redrawn.
    pub fn is_animated(&self) -> bool {
        !matches!(self.doing, ActivityKind::Idle | ActivityKind::Asking)
    }

    pub fn is_running_step(&self) -> bool {
        matches!(self.doing, ActivityKind::Running { .. })
    }

    pub fn is_stopping(&self) -> bool {
        self.doing == ActivityKind::Stopping
    }

    /// The duration of this activity.
    pub fn elapsed(&self, now: Millis) -> Millis {
        now.saturating_sub(self.since)
    }

    pub fn spinner(&self, now: Millis) -> usize {
        if self.is_still {
            0
        } else {
            usize::try_from(now.saturating_sub(self.turn_started_at) / FRAME).unwrap_or(0)
        }
    }

    /// The user asked to stop.
    pub fn set_stopping(&mut self, now: Millis) {
        if self.is_busy() {
            self.set_kind(ActivityKind::Stopping, now);
        }
    }

    /// Applies an event. While stopping, only the end counts.
    #[allow(clippy::too_many_lines, reason = "a row for each event")]
    pub fn apply(&mut self, event: &Event, now: Millis) {
        let doing = match event {
            Event::TurnStarted { .. } => {
                self.turn_started_at = now;
                ActivityKind::Thinking
            }
            Event::ReplyStarted | Event::ReasoningDelta { .. } => ActivityKind::Thinking,
            Event::QuestionClosed { .. } => {
                self.waiting_kind.take().unwrap_or(ActivityKind::Thinking)
            }
            Event::StepFinished(_) | Event::Replied(_) => ActivityKind::Thinking,
            Event::Delta { .. } => ActivityKind::Writing,
            Event::CallProgress { name, bytes } => {
                ActivityKind::Calling { tool: tool_name(&wire_name(name)), bytes: *bytes }
            }
            Event::Retrying { attempt, of, wait_ms, why: _ } => {
                ActivityKind::Retrying { attempt: *attempt, of: *of, until: now + wait_ms }
            }
            Event::Repairing { .. } => ActivityKind::Repairing,
            Event::Compacting => ActivityKind::Compacting,
            Event::Compacted(_) => ActivityKind::Thinking,
            Event::StepStarted { step, risk } => running(step, risk.tier),
            Event::Asked(_) => {
                let is_running = self.is_running_step();
                self.waiting_kind = Some(self.doing.clone()).filter(|_| is_running);
                ActivityKind::Asking
            }
            Event::TurnEnded { .. } => {
                let took = now.saturating_sub(self.turn_started_at);
                self.ended = Some((now, took)).filter(|_| took >= SETTLED_FROM);
                ActivityKind::Idle
            }
            Event::Closed => ActivityKind::Idle,
            // The others begin and end nothing.
            _ => return,
        };
        let ends = doing == ActivityKind::Idle || matches!(event, Event::TurnStarted { .. });
        let held = self.doing == ActivityKind::Stopping || self.doing == ActivityKind::Idle;
        if ends || !held {
            self.set_kind(doing, now);
        }
    }

    fn set_kind(&mut self, kind: ActivityKind, now: Millis) {
        let grows = matches!(
            (&self.doing, &kind),
            (ActivityKind::Calling { .. }, ActivityKind::Calling { .. })
        );
        if self.doing != kind && !grows {
            self.since = now;
        }
        self.doing = kind;
    }

    /// The activity and its seconds; empty while idle.
    pub fn line(&self, now: Millis, theme: &Theme, lang: Lang, width: usize) -> Line<'static> {
        let (said, style) = match &self.doing {
            ActivityKind::Idle => return self.settling_line(now, theme, lang),
            ActivityKind::Asking => (phrases::DOING_ASKING.text(lang).to_owned(), theme.warn),
            ActivityKind::Thinking => (phrases::DOING_THINKING.text(lang).to_owned(), theme.accent),
            ActivityKind::Writing => (phrases::DOING_WRITING.text(lang).to_owned(), theme.accent),
            ActivityKind::Calling { tool, bytes } => (
                phrases::DOING_CALLING
                    .with("tool", tool.clone())
                    .with("size", size(*bytes))
                    .text(lang),
                theme.accent,
            ),
            ActivityKind::Repairing => (phrases::DOING_REPAIRING.text(lang).to_owned(), theme.warn),
            ActivityKind::Compacting => (context::COMPACTING.text(lang).to_owned(), theme.accent),
            ActivityKind::Stopping => (phrases::DOING_STOPPING.text(lang).to_owned(), theme.warn),
            ActivityKind::Running { command, tier } => (
                phrases::DOING_RUNNING.with("command", command.clone()).text(lang),
                theme.tier(*tier),
            ),
            ActivityKind::Retrying { attempt, of, until } => (
                phrases::DOING_RETRYING
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
    pub fn draw(&self, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>, right_line: &Line<'_>) {
        let width = usize::from(area.width);
        let right_at = width.saturating_sub(right_line.width() + 1);
        draw::line(area, buf, right_at, width.saturating_sub(1), right_line);
        let room = right_at.saturating_sub(3);
        draw::line(area, buf, 0, right_at, &self.line(cx.now, cx.theme, cx.lang, room));
    }
}

fn running(step: &Step, tier: Tier) -> ActivityKind {
    ActivityKind::Running { command: typed_line(&step.work), tier }
}

/// `4 s`, `2 min 05 s`.
pub fn format_duration(ms: Millis, lang: Lang) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0..60 => phrases::SECONDS.with("s", seconds).text(lang),
        _ => phrases::MINUTES
            .with("m", seconds / 60)
            .with("s", format!("{:02}", seconds % 60))
            .text(lang),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::protocol::{TurnOrigin, TurnOutcome, Usage};

    fn after_a_turn(is_still: bool, took: Millis) -> Activity {
        let mut activity = Activity::new(is_still);
        let started = Event::TurnStarted {
            turn: 1,
            text: String::new(),
            origin: TurnOrigin::Typed,
            submit: None,
        };
        activity.apply(&started, 0);
        let (ending, usage) = (TurnOutcome::Done, Usage::default());
        activity.apply(&Event::TurnEnded { turn: 1, ending, usage, elapsed_ms: took }, took);
        activity
    }

    fn line(activity: &Activity, now: Millis) -> Line<'static> {
        activity.line(now, &Theme::default(), Lang::En, 80)
    }

    #[test]
    fn the_end_of_a_turn_settles_within_three_hundred_milliseconds() {
        let (activity, theme) = (after_a_turn(false, 14_000), Theme::default());
        for (since, style) in [(0, theme.accent), (100, theme.text), (299, theme.dim)] {
            let line = line(&activity, 14_000 + since);
            assert_eq!((line.to_string(), line.style), ("✓ 14 s".to_owned(), style), "{since}");
        }
        assert_eq!(activity.next_wakeup(14_120), Some(14_200));
        assert_eq!((line(&activity, 14_300).width(), activity.next_wakeup(14_300)), (0, None));
        assert_eq!(after_a_turn(false, 400).next_wakeup(400), None, "a short turn just ends");
    }

    #[test]
    fn a_long_call_shows_its_tool_and_its_size_while_it_grows() {
        let mut activity = Activity::new(true);
        let text = String::new();
        activity.apply(
            &Event::TurnStarted { turn: 1, text, origin: TurnOrigin::Typed, submit: None },
            0,
        );
        for (bytes, now) in [(2_048, 1_000), (51_200, 4_000)] {
            activity.apply(&Event::CallProgress { name: "file_write".into(), bytes }, now);
        }
        let line = line(&activity, 4_000).to_string();
        assert!(
            line.contains("file.write") && line.contains("50") && line.contains("3 s"),
            "{line}"
        );
    }

    #[test]
    fn without_motion_only_the_seconds_change() {
        let activity = after_a_turn(true, 14_000);
        assert_eq!((line(&activity, 14_000).width(), activity.next_wakeup(14_000)), (0, None));
        let mut activity = Activity::new(true);
        let text = String::new();
        activity.apply(
            &Event::TurnStarted { turn: 2, text, origin: TurnOrigin::Typed, submit: None },
            0,
        );
        assert_eq!((activity.spinner(500), activity.spinner(900)), (0, 0));
        assert_eq!(activity.next_wakeup(500), Some(1_500));
    }
}
