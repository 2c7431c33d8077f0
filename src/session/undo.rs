//! `/undo` restores files to their state before the last turns that changed them, and `/redo` makes
//! the changes again. Both are turns without a model: each file is judged, asked about if it was
//! changed since, written, shown, and reported to the model with the next message. Nothing of the
//! conversation is deleted.

use super::change_log::{
    AfterRestore, ChangeLog, ChangedFile, Restores, UndoPoint, UndoScope, changes, changes_since,
    first_of_last, undo_scope,
};
use super::session_effects::{Effects, SessionEffect};
use avocet_core::i18n::{Phrase, session as phrases};
use avocet_core::protocol::{Event, Notice};
use avocet_safety::tools::Restore;
use avocet_tools::file::Backups;

/// Undoes the file changes of the last `n` turns that changed files.
pub(super) fn undo(
    record: &[Event],
    backups: Option<&Backups>,
    n: usize,
    is_busy: bool,
) -> Effects {
    match first_of_last(&changes(record), n) {
        Some(from) => undo_since(record, backups, from, "/undo", is_busy),
        None => {
            let nothing = Notice::info(phrases::NOTHING_TO_UNDO);
            lost_notice(record, 0).into_iter().chain([nothing]).map(Into::into).collect()
        }
    }
}

/// Undoes the file changes from a place on. `text` names this in the conversation.
pub(super) fn undo_since(
    record: &[Event],
    backups: Option<&Backups>,
    point: UndoPoint,
    text: &'static str,
    is_busy: bool,
) -> Effects {
    if is_busy {
        return vec![Notice::warning(phrases::UNDO_BUSY).into()];
    }
    let (whose, back, notices) = restore_steps(record, backups, point);
    restore(text, AfterRestore::Undone(whose), back, notices, phrases::NOTHING_TO_UNDO)
}

/// Makes the changes again that were undone last.
pub(super) fn redo(record: &[Event], backups: Option<&Backups>, is_busy: bool) -> Effects {
    if is_busy {
        return vec![Notice::warning(phrases::UNDO_BUSY).into()];
    }
    let undone = ChangeLog::read(record).undone.pop().unwrap_or_default();
    let merged = changes_since(&undone, UndoPoint { turn: 0, is_own: false });
    let wanted = merged.into_iter().map(|it| (it.after.clone(), it));
    let (again, notices) = restores(wanted, backups);
    restore("/redo", AfterRestore::Redone, again, notices, phrases::NOTHING_TO_REDO)
}

/// The notices, and the turn that gives the files another content, if there are any.
fn restore(
    text: &'static str,
    after: AfterRestore,
    restores: Restores,
    notices: Vec<Notice>,
    nothing: Phrase,
) -> Effects {
    let effect = if restores.steps.is_empty() {
        Notice::info(nothing).into()
    } else {
        SessionEffect::restore(text, after, restores)
    };
    notices.into_iter().map(Into::into).chain([effect]).collect()
}

/// Which file changes exist from this place on, the steps that undo them, and what cannot be undone.
pub(super) fn restore_steps(
    events: &[Event],
    backups: Option<&Backups>,
    point: UndoPoint,
) -> (UndoScope, Restores, Vec<Notice>) {
    let all = changes(events);
    let back = changes_since(&all, point);
    let wanted = back.into_iter().map(|it| (it.before.clone(), it));
    let (back, notices) = restores(wanted, backups);
    let notices = lost_notice(events, point.turn).into_iter().chain(notices).collect();
    (undo_scope(&all, point), back, notices)
}

/// How many changes of these turns cannot be undone.
fn lost_notice(events: &[Event], from_turn: u64) -> Option<Notice> {
    let lost = ChangeLog::read(events).lost;
    let lost: usize = lost.iter().filter(|(turn, _)| *turn >= from_turn).map(|(_, n)| n).sum();
    (lost > 0).then(|| Notice::warning(phrases::UNDO_NOT_COVERED.with("n", lost)))
}

/// The steps that give files these contents, by their digests.
fn restores(
    wanted: impl Iterator<Item = (Option<String>, ChangedFile)>,
    backups: Option<&Backups>,
) -> (Restores, Vec<Notice>) {
    let mut restores = Restores::default();
    let mut notices = Vec::new();
    for (content, change) in wanted {
        let executable = change.executable;
        let now = if content == change.before { change.after } else { change.before };
        let content = match content {
            None => None,
            Some(digest) => match backups.and_then(|kept| kept.get(&digest)) {
                Some(bytes) => Some(bytes),
                None => {
                    let say = phrases::UNDO_LOST.with("path", change.path);
                    notices.push(Notice::warning(say));
                    restores.is_incomplete = true;
                    continue;
                }
            },
        };
        restores.steps.push(Restore { path: change.path, before: content, after: now, executable });
    }
    (restores, notices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_undone_or_redone_where_nothing_changed_or_a_turn_runs() {
        let word = |effects: Effects| match effects.as_slice() {
            [SessionEffect::Event(event)] => match &**event {
                Event::Notice(notice) => notice.say.phrase(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        let point = UndoPoint::turn(1);
        assert_eq!(word(undo(&[], None, 1, true)), phrases::NOTHING_TO_UNDO);
        assert_eq!(word(undo_since(&[], None, point, "", false)), phrases::NOTHING_TO_UNDO);
        assert_eq!(word(undo_since(&[], None, point, "", true)), phrases::UNDO_BUSY);
        assert_eq!(word(redo(&[], None, false)), phrases::NOTHING_TO_REDO);
        assert_eq!(word(redo(&[], None, true)), phrases::UNDO_BUSY);
    }
}
