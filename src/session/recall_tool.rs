//! The tool by which a model reads a part of the conversation again that was shortened or left
//! out: a step or a turn, in pages.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use super::turn_messages::TurnMessage;
use avocet_core::i18n::{Lang, LocalizedText, context as phrases};
use avocet_core::protocol::{Observation, Outcome};
use avocet_safety::{ClearedStep, Judgement, RecallTask, ToolTask};
use avocet_tools::{RunControl, Tool, ToolSpec};

/// Bytes of a page.
const PAGE: usize = 8 * 1024;

/// The tool `recall`.
pub(super) struct RecallTool {
    pub session: UnboundedSender<TurnMessage>,
}

impl Tool for RecallTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "recall",
            about: phrases::ABOUT_RECALL_TOOL,
            prompt: "recall {id, page?}: all of an earlier step (cmd_012) or turn (turn_3) that was shortened \
         or left out",
        }
    }

    fn run(&self, step: ClearedStep, _: RunControl) -> BoxFuture<'static, Observation> {
        let session = self.session.clone();
        async move {
            let judged = step.judgement();
            let read = match &judged.task {
                Some(ToolTask::Recall(task)) => read(&session, task).await,
                Some(ToolTask::Fault(fault)) => Err(fault.say.clone()),
                _ => Err(phrases::NO_PART_YET.into()),
            };
            answer(judged, read)
        }
        .boxed()
    }
}

/// The observation of a tool that the session itself answers.
pub(super) fn answer(judged: &Judgement, done: Result<String, LocalizedText>) -> Observation {
    let cwd = judged.cwd.display().to_string();
    let mut seen =
        Observation::not_run(judged.step.clone(), cwd, judged.risk.clone(), Outcome::Ran);
    seen.exit_code = Some(i32::from(done.is_err()));
    match done {
        Ok(text) => seen.stdout = text,
        Err(why) => {
            seen.stderr = why.text(Lang::En);
            seen.note = Some(why);
        }
    }
    seen
}

async fn read(
    session: &UnboundedSender<TurnMessage>,
    task: &RecallTask,
) -> Result<String, LocalizedText> {
    let (reply, answer) = oneshot::channel();
    // A closed session needs no answer.
    let _ = session.send(TurnMessage::PartRequested { id: task.id.clone(), reply });
    let text = answer.await.map_err(|_| LocalizedText::from(phrases::NO_PART_YET))??;
    page(&text, task)
}

/// A page of a text, with what follows.
fn page(text: &str, task: &RecallTask) -> Result<String, LocalizedText> {
    let pages = pages(text);
    let id = task.id.as_str();
    let Some(shown) = pages.get(task.page.saturating_sub(1)) else {
        return Err(phrases::NO_PAGE.with("id", id).with("n", pages.len()));
    };
    Ok(match pages.len() {
        1 => (*shown).to_owned(),
        of => format!("[{id}, page {} of {of}]\n{shown}", task.page.max(1)),
    })
}

/// The text in pages that end with a line where possible.
pub(super) fn pages(text: &str) -> Vec<&str> {
    let mut pages = Vec::new();
    let mut rest = text;
    while rest.len() > PAGE {
        let most = rest.floor_char_boundary(PAGE);
        let (page, _) = rest.split_at(most);
        let end = page.rfind('\n').map_or(most, |line| line + 1);
        let (page, after) = rest.split_at(end);
        pages.push(page);
        rest = after;
    }
    pages.push(rest);
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_a_text_are_the_text() {
        let line = "0123456789 汉字 and more\n";
        for text in [String::new(), "short".into(), line.repeat(2_000), "汉".repeat(20_000)] {
            let pages = pages(&text);
            assert_eq!(pages.concat(), text);
            assert!(pages.iter().all(|page| page.len() <= PAGE));
        }
        let task = |page| RecallTask { id: "cmd_001".into(), page };
        let long = line.repeat(2_000);
        assert!(page(&long, &task(2)).is_ok_and(|text| text.starts_with("[cmd_001, page 2 of ")));
        assert_eq!(page("short", &task(1)), Ok("short".to_owned()));
        assert!(page("short", &task(2)).is_err());
    }
}
