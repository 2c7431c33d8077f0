//! `/rewind`: back to before a turn, with the chat, the files, or both. The chat goes
//! first, so that putting files back is a turn behind what is left; that is `undo`'s, and
//! what is kept of it is `saved`'s. The model is told what it could not know: files that
//! are as they were, and files that still hold what it has forgotten.

use std::sync::Arc;

use super::run::Session;
use super::undo::{Changed, changes, since};
use crate::context::history::Kept;
use crate::protocol::{Event, Notice, Rewind};
use crate::words::{Say, session as words};

/// Paths that are named to the model.
const NAMED: usize = 50;

impl Session {
    pub(super) async fn rewind(&mut self, turn: u64, what: Option<Rewind>) -> Result<(), Say> {
        let changed = since(&changes(self.past.record()), turn);
        match what {
            None if changed.is_empty() => self.rewind_chat(turn, &changed).await,
            None => {
                let files = changed.len();
                self.outbox.send(Event::RewindAsked { turn, files }).await;
                Ok(())
            }
            Some(Rewind::Chat) => self.rewind_chat(turn, &changed).await,
            Some(Rewind::Files) => {
                self.put_back_since(turn, REWIND).await;
                Ok(())
            }
            Some(Rewind::Both) => self.rewind_both(turn).await,
        }
    }

    async fn rewind_chat(&mut self, turn: u64, changed: &[Changed]) -> Result<(), Say> {
        self.forget_from(turn, Rewind::Chat).await?;
        if changed.is_empty() {
            return Ok(());
        }
        let before = turn.saturating_sub(1);
        let redactor = &self.guard.redactor;
        Arc::make_mut(&mut self.past.history)
            .append(before, left(changed), |text| *text = redactor.mask(text).into_owned());
        self.saved.remember(before, &self.past.history).await;
        self.say(Notice::info(words::REWIND_LEFT.with("n", changed.len()))).await;
        Ok(())
    }

    /// What changed is read before it is forgotten.
    async fn rewind_both(&mut self, turn: u64) -> Result<(), Say> {
        if self.cannot_undo() {
            return Err(words::UNDO_BUSY.into());
        }
        let (turns, back) = self.restores(turn).await;
        self.forget_from(turn, Rewind::Both).await?;
        if !back.is_empty() {
            self.put_back(turns, back, REWIND);
        }
        Ok(())
    }
}

/// What the turn that puts files back is called.
const REWIND: &str = "/rewind";

/// What the model is told of files whose changes it has forgotten.
fn left(changed: &[Changed]) -> Kept {
    let paths: Vec<&str> = changed.iter().take(NAMED).map(|one| one.path.as_str()).collect();
    let more = match changed.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let mut kept = Kept::default();
    kept.user(&format!(
        "(The user took back what was said after this. Files that you changed in it stay changed: {}{more}.)",
        paths.join(", ")
    ));
    kept
}
