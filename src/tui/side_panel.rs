//! The panel at the right of a wide screen: the plan, the files that were changed, the jobs. Its
//! plan is also pinned in one row over the input while a turn follows it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::draw::{self, DrawContext};
use super::symbols::{DOING, plan_sign};
use super::{status, text};
use avocet_core::i18n::{screen as phrases, session};
use avocet_core::protocol::{Change, Event, PlanItem, PlanState, SessionInfo};

/// Columns of the panel, and the narrowest screen that has one.
pub const WIDTH: u16 = 44;
pub const FROM: u16 = 120;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SidePanel {
    pub is_open: bool,
    plan: Vec<PlanItem>,
    /// The turn that made the plan, or worked on it last.
    plan_turn: u64,
    changed: Vec<ChangedFile>,
    /// The turn that runs, or ran last.
    turn: u64,
}

/// A change of a file; what several turns did to it is added up.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ChangedFile {
    turn: u64,
    path: String,
    added: usize,
    removed: usize,
}

impl SidePanel {
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::TurnStarted { turn, .. } => self.turn = *turn,
            Event::Plan { items } => {
                self.plan.clone_from(items);
                self.plan_turn = self.turn;
            }
            Event::Undone { turns, except, .. } => {
                let stays = |path: &String| except.contains(path);
                self.changed.retain(|file| !turns.contains(&file.turn) || stays(&file.path));
            }
            Event::Rewound { turn, .. } => self.changed.retain(|file| file.turn < *turn),
            Event::FilesKept { turn, files } => {
                for file in files {
                    self.add_change(*turn, file);
                }
            }
            Event::FilesChanged { files, .. } => {
                for file in files {
                    self.add_change(self.turn, file);
                }
            }
            Event::StepFinished(seen) => {
                for file in seen.change.iter().flat_map(Change::files) {
                    self.add_change(self.turn, &file);
                }
            }
            Event::Cleared => *self = SidePanel { is_open: self.is_open, ..SidePanel::default() },
            _ => {}
        }
    }

    fn add_change(&mut self, turn: u64, change: &Change) {
        let Change { path, added, removed, .. } = change.clone();
        self.changed.push(ChangedFile { turn, path, added, removed });
    }

    /// The changed files, each once.
    fn files(&self) -> Vec<ChangedFile> {
        let mut files: Vec<ChangedFile> = Vec::new();
        for change in &self.changed {
            match files.iter_mut().find(|file| file.path == change.path) {
                Some(file) => {
                    file.added += change.added;
                    file.removed += change.removed;
                }
                None => files.push(change.clone()),
            }
        }
        files
    }

    /// How many files were changed.
    pub fn changed_files(&self) -> usize {
        self.files().len()
    }

    /// Whether an item of this turn's plan is still to be done.
    pub fn has_open_plan(&self) -> bool {
        self.plan_turn == self.turn && self.plan.iter().any(|item| item.state != PlanState::Done)
    }

    /// The plan in one row: how far it is, and what is under way.
    pub fn draw_plan_row(&self, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) {
        let theme = cx.theme;
        let done = self.plan.iter().filter(|item| item.state == PlanState::Done).count();
        let head = phrases::PLAN_PINNED.with("done", done).with("of", self.plan.len());
        let head = head.text(cx.lang);
        let doing = self.plan.iter().find(|item| item.state == PlanState::Doing);
        let next = doing.or_else(|| self.plan.iter().find(|item| item.state != PlanState::Done));
        let room = usize::from(area.width).saturating_sub(text::width(&head) + 8);
        let said = next.map(|item| text::elide_end(&item.text, room)).unwrap_or_default();
        let line = Line::from(vec![
            Span::styled(head, theme.dim),
            Span::styled(format!("  {DOING} "), theme.accent),
            Span::styled(said, theme.text),
        ]);
        draw::line(area, buf, 2, area.width.into(), &line);
    }

    pub fn draw(&self, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>, info: &SessionInfo) {
        let inner = Rect {
            x: area.x + 2,
            y: area.y + 1,
            width: area.width.saturating_sub(4),
            height: area.height.saturating_sub(1),
        };
        let width = usize::from(inner.width);
        let mut lines = self.plan_lines(cx, width);
        lines.extend(self.changed_lines(cx, width, &info.cwd));
        lines.extend(job_lines(cx, width, info));
        if let Some(percent) = info.context.percent {
            let gauge = status::gauge(percent);
            let say = phrases::STATUS_CONTEXT.with("gauge", gauge).with("percent", percent);
            lines.push(Line::styled(say.text(cx.lang), cx.theme.dim));
        }
        draw::lines(inner, buf, &lines);
        draw::panel(area, buf, cx.theme, cx.theme.surface);
    }

    fn plan_lines(&self, cx: &DrawContext<'_>, width: usize) -> Vec<Line<'static>> {
        let theme = cx.theme;
        let row = |item: &PlanItem| {
            let text = text::elide_end(&item.text, width.saturating_sub(2));
            Line::styled(format!("{} {text}", plan_sign(item.state)), theme.plan_item(item.state))
        };
        section(phrases::PANEL_PLAN.text(cx.lang), self.plan.iter().map(row).collect(), cx)
    }

    fn changed_lines(&self, cx: &DrawContext<'_>, width: usize, cwd: &str) -> Vec<Line<'static>> {
        let row = |file: &ChangedFile| {
            let counts = [format!(" +{}", file.added), format!(" -{}", file.removed)];
            let taken = counts.iter().map(String::len).sum();
            let path = file
                .path
                .strip_prefix(cwd)
                .map_or(file.path.as_str(), |rest| rest.trim_start_matches('/'));
            let [added, removed] = counts;
            Line::from(vec![
                Span::styled(text::elide_middle(path, width.saturating_sub(taken)), cx.theme.text),
                Span::styled(added, cx.theme.change.added),
                Span::styled(removed, cx.theme.change.removed),
            ])
        };
        section(phrases::PANEL_CHANGED.text(cx.lang), self.files().iter().map(row).collect(), cx)
    }
}

fn job_lines(cx: &DrawContext<'_>, width: usize, info: &SessionInfo) -> Vec<Line<'static>> {
    let running = info.jobs.iter().filter(|job| job.is_running());
    let row = |job: &avocet_core::protocol::JobInfo| {
        let label = phrases::JOB_ROW.with("id", job.id).text(cx.lang);
        let room = width.saturating_sub(text::width(&label) + 1);
        Line::from(vec![
            Span::styled(format!("{label} "), cx.theme.accent),
            Span::styled(text::elide_end(&text::single_line(&job.line), room), cx.theme.text),
        ])
    };
    section(session::JOBS.text(cx.lang), running.map(row).collect(), cx)
}

/// A heading, its rows or that there are none, and a blank line.
fn section(
    heading: &'static str,
    rows: Vec<Line<'static>>,
    cx: &DrawContext<'_>,
) -> Vec<Line<'static>> {
    let bold = cx.theme.text.add_modifier(Modifier::BOLD);
    let mut lines = vec![Line::styled(heading, bold)];
    if rows.is_empty() {
        lines.push(Line::styled(phrases::PANEL_NONE.text(cx.lang), cx.theme.dim))
    } else {
        lines.extend(rows)
    }
    lines.push(Line::default());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::protocol::{TurnOrigin, TurnOutcome, Usage};

    #[test]
    fn a_plan_is_followed_only_by_the_turn_that_works_on_it() {
        let started = |turn| Event::TurnStarted {
            turn,
            text: String::new(),
            origin: TurnOrigin::Typed,
            submit: None,
        };
        let item = PlanItem { text: "Run the tests".into(), state: PlanState::Doing };
        let plan = Event::Plan { items: vec![item] };
        let (ending, usage) = (TurnOutcome::Done, Usage::default());
        let ended = Event::TurnEnded { turn: 1, ending, usage, elapsed_ms: 0 };
        let mut panel = SidePanel::default();
        for event in [started(1), plan.clone(), ended] {
            panel.apply(&event);
        }
        panel.apply(&started(2));
        assert!(!panel.has_open_plan(), "the next turn is about something else");
        assert_eq!(panel.plan.len(), 1, "the panel still shows it");
        panel.apply(&plan);
        assert!(panel.has_open_plan());
    }
}
