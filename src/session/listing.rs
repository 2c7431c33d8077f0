//! Pages that list saved sessions, for the terminal and for commands without a screen.

use super::persistence::format_time;
use avocet_core::i18n::{common, plural, session as phrases};
use avocet_core::protocol::{Page, PageRow};
use avocet_store::{Listed, SessionHit};

/// Saved sessions as a page, and the number of those left out.
pub fn list_page(listed: Vec<Listed>, more: usize) -> Page {
    let mut rows: Vec<PageRow> = listed
        .into_iter()
        .map(|one| {
            let turns = plural(one.turns as usize, phrases::TURNS_ONE, phrases::TURNS);
            let about = match one.model {
                Some(model) => phrases::LISTED_WITH_MODEL.with("model", model),
                None => phrases::LISTED.into(),
            };
            let about = about
                .with("when", format_time(one.updated))
                .with("title", one.title)
                .with("turns", turns)
                .with("folder", one.folder);
            PageRow::pair(one.id, about)
        })
        .collect();
    if rows.is_empty() {
        rows.push(PageRow::line(phrases::NO_SESSIONS));
    }
    if more > 0 {
        rows.push(PageRow::line(phrases::MORE_SESSIONS.with("n", more)));
    }
    Page { title: common::SESSIONS.into(), rows }
}

/// Hits in saved sessions, as a page with a maximum length.
pub fn hits_page(looked_for: &str, hits: Vec<SessionHit>, most: usize) -> Page {
    let more = hits.len() > most;
    let mut rows: Vec<PageRow> = hits
        .into_iter()
        .take(most)
        .map(|hit| {
            let about = phrases::HIT
                .with("when", format_time(hit.at))
                .with("title", hit.title)
                .with("around", hit.around);
            PageRow::pair(hit.id, about)
        })
        .collect();
    if rows.is_empty() {
        rows.push(PageRow::line(phrases::NO_HITS));
    }
    if more {
        rows.push(PageRow::line(phrases::MORE_HITS.with("n", most)));
    }
    Page { title: phrases::HITS.with("words", looked_for.trim()), rows }
}
