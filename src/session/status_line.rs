//! What a program of the user adds to the status line. It gets the session as JSON, at most once a
//! second, and only when something changed.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::sync::watch;

use avocet_core::protocol::SessionInfo;
use avocet_core::text::{cut, one_line};
use avocet_safety::sanitize::{CarriageReturnMode, clean};

/// Gives the JSON to the program; `None`: it failed, or took too long.
pub type RunStatusCommand = Arc<dyn Fn(String) -> BoxFuture<'static, Option<String>> + Send + Sync>;

const INTERVAL: Duration = Duration::from_secs(1);
/// The most of its line that is shown, in characters.
const LENGTH: usize = 120;

#[derive(Default)]
pub struct StatusLine {
    run: Option<RunStatusCommand>,
    latest: Option<watch::Sender<String>>,
}

impl StatusLine {
    pub fn new(run: Option<RunStatusCommand>) -> StatusLine {
        StatusLine { run, latest: None }
    }

    /// Follows the session; `show` takes each line, and says whether the session goes on.
    pub(super) fn start(&mut self, show: impl Fn(String) -> bool + Send + 'static) {
        let Some(run) = self.run.take() else { return };
        let (sender, mut latest) = watch::channel(String::new());
        self.latest = Some(sender);
        tokio::spawn(async move {
            while latest.changed().await.is_ok() {
                let json = latest.borrow_and_update().clone();
                let line = run(json).await.unwrap_or_default();
                let line = one_line(&clean(&line, CarriageReturnMode::EndsLine));
                let line = cut(&line, LENGTH).to_owned();
                if !show(line) {
                    return;
                }
                tokio::time::sleep(INTERVAL).await;
            }
        });
    }

    pub(super) fn update(&self, info: &SessionInfo) {
        let Some(latest) = &self.latest else { return };
        let Ok(mut value) = serde_json::to_value(info) else { return };
        value["context_percent"] = json!(info.context.percent);
        value["changed_files"] = json!(info.changed_files);
        let json = value.to_string();
        latest.send_if_modified(|known| {
            let is_new = *known != json;
            if is_new {
                *known = json;
            }
            is_new
        });
    }
}
