//! The steps that run in the background: one row each over the input.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::draw::{self, DrawContext};
use super::text;
use avocet_core::i18n::screen as phrases;
use avocet_core::protocol::JobInfo;

/// Rows that are shown; the other jobs are counted.
const SHOWN: usize = 3;

fn running(jobs: &[JobInfo]) -> impl Iterator<Item = &JobInfo> {
    jobs.iter().filter(|job| job.is_running())
}

pub fn rows(jobs: &[JobInfo]) -> u16 {
    u16::try_from(running(jobs).count().min(SHOWN)).unwrap_or_default()
}

pub fn draw(jobs: &[JobInfo], area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) {
    let room = usize::from(area.width).saturating_sub(3);
    let all = running(jobs).count();
    let mut lines = Vec::new();
    for (at, job) in running(jobs).take(SHOWN).enumerate() {
        let label = phrases::JOB_ROW.with("id", job.id).text(cx.lang);
        let mut more = String::new();
        for port in &job.ports {
            more += &format!(" :{port}");
        }
        if at + 1 == SHOWN && all > SHOWN {
            more += &phrases::JOBS_MORE.with("n", all - SHOWN).text(cx.lang);
        }
        let used = text::width(&label) + text::width(&more) + 2;
        let line = text::elide_end(&text::single_line(&job.line), room.saturating_sub(used));
        lines.push(Line::from(vec![
            Span::styled(format!("  {label} "), cx.theme.accent),
            Span::styled(line, cx.theme.text),
            Span::styled(more, cx.theme.dim),
        ]));
    }
    draw::lines(area, buf, &lines);
}
