//! Takes over settings of the screen that change while it is open.

use super::event::ScreenEffect;
use super::notify::NotifyMethod;
use super::pickers;
use super::state::State;
use super::submit;
use super::theme::Depth;
use avocet_config::{BusyInput, ShowThinking};
use avocet_core::i18n::input::{VIM_OFF, VIM_ON};
use avocet_core::protocol::{Notice, SessionInfo};

/// What the session says of itself, with the settings that are in force now.
pub fn set_facts(state: &mut State, info: SessionInfo) -> Vec<ScreenEffect> {
    let before = std::mem::replace(&mut state.facts, info);
    submit::set_lang(state, state.facts.lang);
    let mut effects = pickers::quit_after_export(state);
    // What the user changed on the screen alone stays, unless its setting changes.
    let changed = state.facts.screen.iter().filter(|setting| !before.screen.contains(setting));
    let changed: Vec<_> = changed.cloned().collect();
    // The first facts of a session are those that the screen began with.
    if !before.screen.is_empty() {
        effects.extend(changed.iter().flat_map(|(key, value)| set(state, key, value)));
    }
    effects
}

/// A value as the settings have it.
fn set(state: &mut State, key: &str, value: &str) -> Vec<ScreenEffect> {
    let is_on = value == "true";
    let query = match key {
        "theme" => {
            if let Err(why) = state.appearance.set_theme(value) {
                state.transcript.add_notice(Notice::error(why));
            }
            state.appearance.background_query().to_owned()
        }
        "color" => {
            let auto = state.appearance.auto_depth;
            state.appearance.set_depth(if value == "never" { Depth::None } else { auto });
            state.appearance.background_query().to_owned() + &show_pictures(state)
        }
        "show_pictures" => show_pictures(state),
        _ => {
            match key {
                "vim" if state.composer.vim_mode().is_some() != is_on => {
                    let say = if state.composer.set_vim(Some(is_on)) { VIM_ON } else { VIM_OFF };
                    state.transcript.add_notice(Notice::info(say));
                }
                "timestamps" => state.appearance.timestamps = is_on,
                "motion" => state.activity.set_still(!is_on),
                "show_thinking" => {
                    state
                        .transcript
                        .set_show_thinking(ShowThinking::parse(value).unwrap_or_default());
                }
                "enter_while_busy" => {
                    state.keys.enter_while_busy = BusyInput::parse(value).unwrap_or_default();
                }
                "notify" => {
                    state.presence.notify_method = match value {
                        "bell" => NotifyMethod::Bell,
                        "off" => NotifyMethod::Off,
                        _ => state.presence.auto_notify,
                    }
                }
                _ => {}
            }
            String::new()
        }
    };
    (!query.is_empty()).then_some(ScreenEffect::Query(query)).into_iter().collect()
}

/// The terminal is asked now; until it answers there are none. Without colours there are none
/// either.
fn show_pictures(state: &mut State) -> String {
    let is_wanted = ("show_pictures", "true".to_owned());
    let has_colours = state.appearance.depth != Depth::None;
    let query =
        state.display.graphics.set_on(has_colours && state.facts.screen.contains(&is_wanted));
    state.transcript.keep_images(state.display.graphics.is_on());
    state.transcript.pictures.set_graphics(state.display.graphics.graphics());
    query
}
