//! What users ask of the jobs of a session, and what they are shown of them.

use super::job::output_path;
use super::job_board::read_file;
use super::recall_tool::pages;
use super::state::Session;
use avocet_core::i18n::{LocalizedText, session as phrases};
use avocet_core::protocol::{Event, JobRequest, Notice, Page, PageRow};

impl Session {
    pub(super) async fn handle_job(&mut self, job: JobRequest) {
        match job {
            JobRequest::Background => {
                if let Some(running) = &self.running {
                    let _ = running.background.send(());
                }
            }
            JobRequest::List => {
                let rows = self.jobs.rows();
                let page = Page { title: phrases::JOBS.into(), rows };
                self.outbox.send(Event::Page(Box::new(page))).await;
            }
            JobRequest::Show { id, page } => match self.jobs.output(id).await {
                Ok(output) => {
                    let title = phrases::JOB_OUTPUT.with("id", id);
                    let page = output_page(title, &output, page, &format!("/jobs {id}"));
                    self.outbox.send(page).await;
                }
                Err(why) => self.notify(Notice::error(why)).await,
            },
            JobRequest::Stop { id } => {
                if let Err(why) = self.jobs.stop(id) {
                    self.notify(Notice::error(why)).await;
                }
            }
            JobRequest::Keep { id } => {
                if let Err(why) = self.jobs.keep(id, &self.security.redactor) {
                    self.notify(Notice::error(why)).await;
                }
            }
            JobRequest::Output { step, page } => self.show_output(step, page).await,
        }
    }

    async fn show_output(&mut self, step: u64, page: Option<usize>) {
        let id = format!("cmd_{step:03}");
        let path =
            self.resources.outputs.as_ref().map(|it| output_path(it, &self.info.session, &id));
        let saved = match path {
            Some(path) => read_file(path).await,
            None => None,
        };
        let output = match saved {
            Some(output) => Ok(output),
            None => self.store.part(&id, self.conversation.record(), &self.security.redactor).await,
        };
        match output {
            Ok(output) => {
                let title = phrases::STEP_OUTPUT.with("step", id);
                let page = output_page(title, &output, page, &format!("/output {step}"));
                self.outbox.send(page).await;
            }
            Err(_) => {
                let hint = match self.store.step_numbers(self.conversation.record()).await {
                    Some((from, to)) => phrases::STEP_NUMBERS.with("from", from).with("to", to),
                    None => phrases::NO_STEPS.into(),
                };
                let say = phrases::NO_STEP_OUTPUT.with("n", step);
                self.notify(Notice::error(say).with_hint(hint)).await;
            }
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
