//! What users ask of the jobs of a session, and what they are shown of them.

use std::path::PathBuf;
use std::sync::Arc;

use super::job_board::{JobBoard, read_file};
use super::persistence::SessionStore;
use super::recall_tool::pages;
use super::session_effects::Effects;
use avocet_core::i18n::{LocalizedText, session as phrases};
use avocet_core::protocol::{Event, JobRequest, Notice, Page, PageRow};
use avocet_safety::redact::Redactor;

impl JobBoard {
    /// What the user asks of the jobs; what is asked of the running turn and of its steps is not
    /// theirs.
    pub(super) async fn handle(
        &mut self,
        request: JobRequest,
        redactor: &Arc<Redactor>,
    ) -> Effects {
        let done = match request {
            JobRequest::List => {
                let page = Page { title: phrases::JOBS.into(), rows: self.rows() };
                return vec![Event::Page(Box::new(page)).into()];
            }
            JobRequest::Show { id, page } => self.output(id).await.map(|output| {
                let title = phrases::JOB_OUTPUT.with("id", id);
                Some(output_page(title, &output, page, &format!("/jobs {id}")))
            }),
            JobRequest::Stop { id } => self.stop(id).map(|()| None),
            JobRequest::Keep { id } => self.keep(id, redactor).map(|()| None),
            JobRequest::Background | JobRequest::Output { .. } => Ok(None),
        };
        match done {
            Ok(page) => page.into_iter().map(Into::into).collect(),
            Err(why) => vec![Notice::error(why).into()],
        }
    }
}

/// The id of the step of this number.
pub(super) fn step_id(step: u64) -> String {
    format!("cmd_{step:03}")
}

/// A page of what a step wrote: from its file, or of the conversation.
pub(super) async fn step_output(
    step: u64,
    page: Option<usize>,
    file: Option<PathBuf>,
    store: &SessionStore,
    record: &[Event],
    redactor: &Redactor,
) -> Event {
    let id = step_id(step);
    let saved = match file {
        Some(file) => read_file(file).await,
        None => None,
    };
    let output = match saved {
        Some(output) => Ok(output),
        None => store.part(&id, record, redactor).await,
    };
    match output {
        Ok(output) => {
            let title = phrases::STEP_OUTPUT.with("step", id);
            output_page(title, &output, page, &format!("/output {step}"))
        }
        Err(_) => {
            let hint = match store.step_numbers(record).await {
                Some((from, to)) => phrases::STEP_NUMBERS.with("from", from).with("to", to),
                None => phrases::NO_STEPS.into(),
            };
            let say = phrases::NO_STEP_OUTPUT.with("n", step);
            Event::Notice(Notice::error(say).with_hint(hint))
        }
    }
}

/// A page of an output, the last one unless another is named.
fn output_page(title: LocalizedText, output: &str, page: Option<usize>, command: &str) -> Event {
    let pages = pages(output);
    let number = page.unwrap_or(pages.len()).clamp(1, pages.len());
    let shown = pages.get(number - 1).copied().unwrap_or_default();
    let mut rows: Vec<PageRow> = shown.lines().map(PageRow::line).collect();
    if rows.is_empty() {
        rows.push(PageRow::line(phrases::OUTPUT_EMPTY));
    }
    if let Some(missing) = page.filter(|page| *page > pages.len()) {
        let say = phrases::OUTPUT_NO_PAGE.with("n", missing).with("of", pages.len());
        rows.push(PageRow::line(say));
    }
    if pages.len() > 1 {
        let say = phrases::OUTPUT_PAGE.with("n", number).with("of", pages.len());
        rows.push(PageRow::line(say.with("command", command)));
    }
    Event::Page(Box::new(Page { title, rows }))
}
