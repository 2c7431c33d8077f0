//! `/rewind`: back to before a turn, with the chat, the files, or both. The chat is rewound first,
//! so that restoring files is a turn after the remaining ones; `undo` restores them, and `saved`
//! records it. The model is told what it could not know: which files were restored, and which still
//! contain changes that it has forgotten.

use std::sync::Arc;

use super::run::Session;
use super::undo::{Changed, Since, Whose, changes, since};
use crate::context::history::TurnRecord;
use crate::protocol::{Event, Notice, Rewind};
use crate::words::{LocalizedText, session as words};

/// The maximum number of paths named to the model.
const NAMED: usize = 50;

impl Session {
    pub(super) async fn rewind(
        &mut self,
        turn: u64,
        what: Option<Rewind>,
    ) -> Result<(), LocalizedText> {
        let changed = since(&changes(self.past.record()), Since::turn(turn));
        match what {
            None if changed.is_empty() => self.rewind_chat(turn, &changed).await,
            None => {
                let files = changed.len();
                self.outbox.send(Event::RewindAsked { turn, files }).await;
                Ok(())
            }
            Some(Rewind::Chat) => self.rewind_chat(turn, &changed).await,
            Some(Rewind::Files) => {
                self.put_back_since(Since::turn(turn), REWIND).await;
                Ok(())
            }
            Some(Rewind::Both) => self.rewind_both(turn).await,
        }
    }

    async fn rewind_chat(&mut self, turn: u64, changed: &[Changed]) -> Result<(), LocalizedText> {
        let Behind { undone, events, .. } = self.behind(turn, changed);
        self.forget_from(turn, Rewind::Chat, events).await?;
        if changed.is_empty() && undone.is_empty() {
            return Ok(());
        }
        let before = turn.saturating_sub(1);
        let redactor = &self.guard.redactor;
        let holds = self.past.history.contains_turn(before);
        Arc::make_mut(&mut self.past.history).append_to_turn(
            before,
            left(changed, &undone),
            |text| {
                *text = redactor.mask(text).into_owned();
            },
        );
        match holds {
            true => self.saved.remember(before, &self.past.history).await,
            // The turn before it was summed up long ago.
            false => self.saved.remember_all(before, &self.past.history).await,
        }
        if !changed.is_empty() {
            self.say(Notice::info(words::REWIND_LEFT.with("n", changed.len()))).await;
        }
        Ok(())
    }

    /// The chat is rewound first, and the file changes of its turns can be undone until then, even
    /// if the program ends in between.
    async fn rewind_both(&mut self, turn: u64) -> Result<(), LocalizedText> {
        if self.cannot_undo() {
            return Err(words::UNDO_BUSY.into());
        }
        let from = Since::turn(turn);
        let changed = since(&changes(self.past.record()), from);
        let (mut whose, back) = self.restores(from).await;
        let Behind { stayed, events, .. } = self.behind(turn, &changed);
        self.forget_from(turn, Rewind::Both, events).await?;
        if !back.is_empty() {
            whose.stays = stayed;
            whose.left.push(turn);
            self.put_back(whose, back, REWIND);
        }
        Ok(())
    }

    /// The record about files that replaces the forgotten turns: files restored in one of them stay
    /// restored, and the changes to other files can still be undone.
    fn behind(&mut self, turn: u64, changed: &[Changed]) -> Behind {
        let record = self.past.record();
        let is_it =
            |event: &Event| matches!(event, Event::TurnStarted { turn: n, .. } if *n == turn);
        let start = record.iter().rposition(is_it).unwrap_or(record.len());
        let stood = changes(record);
        let mut before = changes(record.get(..start).unwrap_or_default());
        let (mut whose, mut undone) = (Whose::default(), Vec::new());
        before.retain(|change| {
            let stands = stood.iter().any(|one| one.left == change.left && one.turn == change.turn);
            if !stands {
                let numbers = if change.left { &mut whose.left } else { &mut whose.turns };
                numbers.push(change.turn);
                undone.push(change.path.clone());
            }
            stands
        });
        before.retain(|change| change.left && change.turn == turn);
        let mut events = Vec::new();
        if whose != Whose::default() {
            events.push(Event::Undone { turns: whose.turns, kept_files_of: whose.left });
        }
        if !changed.is_empty() {
            let all: Vec<Changed> = before.iter().chain(changed).cloned().collect();
            let all = since(&all, Since { turn: 0, own: false });
            let files = all.iter().map(Changed::told).collect();
            events.push(Event::FilesKept { turn, files });
        }
        undone.sort();
        undone.dedup();
        Behind { stayed: before, undone, events }
    }
}

/// The record that replaces forgotten turns.
struct Behind {
    /// Changes that were kept when the chat was rewound to this turn earlier.
    stayed: Vec<Changed>,
    /// Files that were restored in them.
    undone: Vec<String>,
    events: Vec<Event>,
}

/// The name of the turn that restores files.
const REWIND: &str = "/rewind";

/// The report to the model about files whose changes it has forgotten.
fn left(changed: &[Changed], undone: &[String]) -> TurnRecord {
    let mut kept = TurnRecord::default();
    let changed: Vec<&str> = changed.iter().map(|one| one.path.as_str()).collect();
    if !changed.is_empty() {
        kept.add_user(&format!(
            "(The user took back what was said after this. Files that you changed in it stay changed: {}.)",
            named(&changed)
        ));
    }
    let undone: Vec<&str> = undone.iter().map(String::as_str).collect();
    if !undone.is_empty() {
        kept.add_user(&format!(
            "(The user took back your changes to these files, which are as they were before them: {}.)",
            named(&undone)
        ));
    }
    kept
}

fn named(paths: &[&str]) -> String {
    let first = paths.get(..NAMED).unwrap_or(paths).join(", ");
    match paths.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
