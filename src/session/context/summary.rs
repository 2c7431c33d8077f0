//! What a model wrote down of a part of the conversation, which is not sent any more.

use serde::{Deserialize, Serialize};

use avocet_core::protocol::CompactionSummary;

/// A short summary of old turns (001 §8.4).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Summary {
    pub summary: String,
    pub key_facts: Vec<String>,
    pub open_tasks: Vec<String>,
}

impl From<Summary> for CompactionSummary {
    fn from(summary: Summary) -> CompactionSummary {
        let Summary { summary, key_facts: facts, open_tasks: tasks } = summary;
        CompactionSummary { summary, facts, tasks, closed: Vec::new() }
    }
}

impl Summary {
    pub fn is_empty(&self) -> bool {
        self.summary.is_empty() && self.key_facts.is_empty() && self.open_tasks.is_empty()
    }

    /// The text for the model; empty if there is none.
    pub fn text(&self) -> String {
        self.text_under("Earlier in this conversation (a summary):")
    }

    /// The same under another title.
    pub(super) fn text_under(&self, title: &str) -> String {
        if self.is_empty() {
            return String::new();
        }
        let mut out = format!("{title}\n");
        out.push_str(&self.summary);
        for (title, items) in [("Facts", &self.key_facts), ("Open tasks", &self.open_tasks)] {
            if !items.is_empty() {
                out.push_str(&format!("\n{title}:\n- {}", items.join("\n- ")));
            }
        }
        out
    }
}
