//! What can be chosen from a list, and what a choice does: themes are tried on while
//! the mark moves, a model is set when it is taken.

use super::event::{Effect, Millis};
use super::modal::{Choice, Choose, Modal, Row, Topic};
use super::state::State;
use super::submit;
use super::theme::{AUTO, Theme};
use crate::commands::NO_BOT;
use crate::protocol::{Op, Report};
use crate::words::{Say, Word, screen as words};

/// What the built-in themes are for.
const ABOUT: &[(&str, Word)] = &[
    (AUTO, words::THEME_AUTO),
    ("dark", words::THEME_DARK),
    ("light", words::THEME_LIGHT),
    ("high-contrast", words::THEME_HIGH_CONTRAST),
    ("colorblind", words::THEME_COLORBLIND),
    ("16-colors", words::THEME_SIXTEEN),
];

pub fn themes(state: &mut State) {
    let about = |name: &str| {
        let row = ABOUT.iter().find(|(known, _)| *known == name);
        let about = Say::from(row.map_or(words::THEME_OWN, |(_, about)| *about));
        Some(match name == state.dress.worn {
            true => words::THEME_WORN.with("about", about),
            false => about,
        })
    };
    let names = state.dress.wardrobe.names().iter();
    let rows = names.map(|name| Row { value: name.clone(), about: about(name) }).collect();
    let choose = Choose::new(Topic::Theme, rows, &state.dress.worn);
    state.modals.open(Modal::Choose(Box::new(choose)));
}

/// The models as far as they are known; else the server is asked for them.
pub fn models(state: &mut State) -> Vec<Effect> {
    let choose = Choose::new(Topic::Model, model_rows(state), &state.facts.model);
    state.modals.open(Modal::Choose(Box::new(choose)));
    match state.known.models.is_empty() {
        true => vec![Effect::Send(Op::Report { report: Report::Models })],
        false => Vec::new(),
    }
}

fn model_rows(state: &State) -> Vec<Row> {
    let about = |name: &String| (*name == state.facts.model).then(|| words::CHOOSE_NOW.into());
    state.known.models.iter().map(|name| Row { value: name.clone(), about: about(name) }).collect()
}

/// The server said which models it has.
pub fn models_came(state: &mut State) {
    let rows = model_rows(state);
    if let Some(choose) = state.modals.choosing()
        && choose.topic() == Topic::Model
    {
        choose.fill(rows);
    }
}

/// The bots, and going on without one.
pub fn bots(state: &mut State) {
    let now = state.facts.bot.as_deref().unwrap_or(NO_BOT);
    let about = |name: &str, about: Say| match name == now {
        true => words::CHOOSE_BOT_NOW.with("about", about),
        false => about,
    };
    let none = Row { value: NO_BOT.to_owned(), about: Some(about(NO_BOT, words::BOT_NONE.into())) };
    let bots = state.known.kept.bots.iter().map(|(name, text)| {
        let text = words::CHOOSE_BOT.with("about", text.as_str());
        Row { value: name.clone(), about: Some(about(name, text)) }
    });
    let rows: Vec<Row> = bots.chain([none]).collect();
    let choose = Choose::new(Topic::Bot, rows, now);
    state.modals.open(Modal::Choose(Box::new(choose)));
}

pub fn chose(state: &mut State, topic: Topic, choice: Choice, at: Millis) -> Vec<Effect> {
    let is_over = !matches!(choice, Choice::Marked(_));
    if is_over {
        state.modals.pop(at);
    }
    match (topic, choice) {
        (Topic::Theme, Choice::Marked(name)) => try_on(state, &name),
        (Topic::Theme, Choice::Taken(name)) => {
            // What cannot be had leaves what was worn, also in view.
            let worn = state.dress.worn.clone();
            let _ = state.dress.put_on(&worn);
            return submit::set_theme(state, &name);
        }
        (Topic::Theme, Choice::Left) => {
            let worn = state.dress.worn.clone();
            let _ = state.dress.put_on(&worn);
        }
        (Topic::Bot, Choice::Taken(name)) => {
            let named = state.known.kept.bots.iter().any(|(bot, _)| *bot == name);
            let name = (named || name != NO_BOT).then_some(name);
            return vec![Effect::Send(Op::SetBot { name })];
        }
        (Topic::Bot, Choice::Marked(_) | Choice::Left) => {}
        (Topic::Model, Choice::Taken(name)) => return vec![Effect::Send(Op::SetModel { name })],
        (Topic::Model, Choice::Marked(_) | Choice::Left) => {}
    }
    Vec::new()
}

/// Changes what is seen, not what is worn.
fn try_on(state: &mut State, name: &str) {
    let dress = &mut state.dress;
    let tried: Result<Theme, Say> = dress.wardrobe.theme(name, dress.depth, dress.ground);
    let said = match tried {
        Ok(theme) => {
            dress.theme = theme;
            None
        }
        Err(why) => Some(why),
    };
    if let Some(choose) = state.modals.choosing() {
        choose.said = said;
    }
}
