//! The result of a compaction of the context: what was dropped, what was kept, and the ids with
//! which the user can restore it. An event like any other, and stored as one.

use serde::{Deserialize, Serialize};

use super::{Page, PageRow};
use crate::i18n::{LocalizedText, context as phrases};
use crate::text;

/// Maximum number of parts listed one by one.
const NAMED: usize = 6;

/// One compaction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compaction {
    /// What the user wanted to preserve above all.
    pub focus: Option<String>,
    /// Steps of the running turn were compacted, not past turns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub steps: bool,
    /// Bytes of past turns, or of the running one, before and after it.
    pub before: usize,
    pub after: usize,
    /// Parts that lost their middle.
    pub shortened: Vec<DroppedPart>,
    /// Turns or steps that are no longer sent. The summary replaces them; steps also without one.
    pub summed: Vec<DroppedPart>,
    /// `None`: nothing had to be summarised.
    pub summary: Option<CompactionSummary>,
    /// Turns and results that are still sent unchanged.
    pub turns: usize,
    pub results: usize,
}

/// A part that `/recall` restores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedPart {
    /// `turn_3`, `cmd_012`.
    pub id: String,
    /// The beginning of its text.
    pub about: String,
    /// Number of bytes it lost.
    pub bytes: usize,
}

/// The summary that replaces turns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionSummary {
    pub summary: String,
    pub facts: Vec<String>,
    pub tasks: Vec<String>,
    /// Tasks that were open before and no longer are.
    pub closed: Vec<String>,
}

impl Compaction {
    /// The result, in a sentence.
    pub fn localized(&self) -> LocalizedText {
        let say = if self.steps {
            phrases::STEPS_RECEIPT.with("n", self.summed.len() + self.shortened.len())
        } else {
            phrases::RECEIPT.into()
        };
        say.with("before", text::size(self.before)).with("after", text::size(self.after))
    }

    /// The parts that were summed up or shortened.
    fn add_part_rows(&self, rows: &mut Vec<PageRow>) {
        let summed = match self.summary {
            Some(_) => phrases::RECEIPT_SUMMED,
            None => phrases::RECEIPT_LEFT_OUT,
        };
        for (label, parts) in
            [(summed, &self.summed), (phrases::RECEIPT_SHORTENED, &self.shortened)]
        {
            for part in parts.iter().take(NAMED) {
                let about = phrases::RECEIPT_PART
                    .with("id", part.id.as_str())
                    .with("size", text::size(part.bytes))
                    .with("about", part.about.as_str());
                rows.push(PageRow::pair(label, about));
            }
            if parts.len() > NAMED {
                let last = parts.last().map_or("", |part| part.id.as_str());
                let more = phrases::RECEIPT_MORE.with("n", parts.len() - NAMED).with("last", last);
                rows.push(PageRow::pair(label, more));
            }
        }
    }

    /// The page for the user.
    pub fn page(&self) -> Page {
        let mut rows = Vec::new();
        if let Some(focus) = &self.focus {
            rows.push(PageRow::pair(phrases::RECEIPT_FOCUS, focus.as_str()));
        }
        self.add_part_rows(&mut rows);
        let kept = if self.steps {
            phrases::RECEIPT_STEPS_KEPT.into()
        } else {
            phrases::RECEIPT_KEPT_WHAT.with("turns", self.turns).with("results", self.results)
        };
        rows.push(PageRow::pair(phrases::RECEIPT_KEPT, kept));
        if let Some(summed) = &self.summary {
            rows.push(PageRow::pair(phrases::PART_SUMMARY, summed.summary.as_str()));
            let lists = [
                (phrases::RECEIPT_FACT, &summed.facts),
                (phrases::RECEIPT_TASK, &summed.tasks),
                (phrases::RECEIPT_CLOSED, &summed.closed),
            ];
            for (label, items) in lists {
                rows.extend(items.iter().map(|item| PageRow::pair(label, item.as_str())));
            }
        }
        if let Some(part) = self.summed.first().or(self.shortened.first()) {
            rows.push(PageRow::line(phrases::RECEIPT_RECALL.with("id", part.id.as_str())));
        }
        Page { title: self.localized(), rows }
    }
}
