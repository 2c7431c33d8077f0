//! The window's title: the folder, and whether the session works or asks.

use super::event::ScreenEffect;
use super::state::State;
use super::text;
use avocet_core::i18n::screen as phrases;

/// The title, if it has changed.
pub fn refresh(state: &mut State) -> Option<ScreenEffect> {
    let title = title(state);
    if state.appearance.title == title {
        return None;
    }
    state.appearance.title.clone_from(&title);
    Some(ScreenEffect::Title(title))
}

fn title(state: &State) -> String {
    let folder = state.facts.cwd.rsplit('/').find(|part| !part.is_empty()).unwrap_or("/");
    // It is part of a terminal sequence and must not end it.
    let folder: String =
        text::single_line(folder).chars().filter(|c| !c.is_control()).take(60).collect();
    let lang = state.appearance.lang;
    let title = match (state.modals.has_question(), state.activity.is_busy()) {
        (true, _) => phrases::TITLE_ASKS,
        (false, true) => phrases::TITLE_WORKS,
        (false, false) => phrases::TITLE_IDLE,
    };
    title.with("folder", folder).text(lang)
}
