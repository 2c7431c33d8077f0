//! The dialogs of `/connect`, in the order in which they lead on: providers, a key, models.

use super::connect::{
    ConnectRequest, ConnectResult, Connecting, ListError, ListedModels, ProviderOffer,
};
use super::event::ScreenEffect;
use super::modal::{KeyEntry, Modal, Picker, PickerRow, Topic};
use super::state::State;
use avocet_config::Secret;
use avocet_core::i18n::{LocalizedText, screen as phrases};
use avocet_core::protocol::{ModelOffer, Notice};

/// Offers the providers, or goes on with the one that is named.
pub fn open(state: &mut State, named: Option<String>) -> Vec<ScreenEffect> {
    state.connecting = Connecting::default();
    state.modals.open(Modal::Picker(Box::new(Picker::new(Topic::Provider, Vec::new(), ""))));
    vec![ScreenEffect::Connect(ConnectRequest::Providers(named))]
}

/// A provider or one of its models was chosen.
pub fn choose(state: &mut State, topic: Topic, value: String) -> Vec<ScreenEffect> {
    match topic {
        Topic::Provider => choose_provider(state, &value),
        _ => choose_model(state, value),
    }
}

/// Its key is asked for, or its models.
fn choose_provider(state: &mut State, id: &str) -> Vec<ScreenEffect> {
    match state.connecting.providers.iter().find(|offer| offer.id == id).cloned() {
        Some(offer) => begin(state, offer),
        None if id.is_empty() => {
            state.composer.set_text("/connect https://", state.appearance.lang);
            Vec::new()
        }
        // An address that was typed into the filter.
        None => open(state, Some(id.to_owned())),
    }
}

fn begin(state: &mut State, offer: ProviderOffer) -> Vec<ScreenEffect> {
    state.connecting.chosen = Some(offer.clone());
    if offer.needs_key {
        open_key_entry(state, &offer, None);
        return Vec::new();
    }
    state.modals.open(Modal::Picker(Box::new(Picker::new(Topic::FirstModel, Vec::new(), ""))));
    let request = ConnectRequest::Models { provider: offer.id, key: None };
    vec![ScreenEffect::Connect(request)]
}

fn open_key_entry(state: &mut State, offer: &ProviderOffer, text: Option<LocalizedText>) {
    let mut entry = KeyEntry::new(offer);
    entry.note = text;
    state.modals.open(Modal::KeyEntry(Box::new(entry)));
}

pub fn enter_key(state: &State, secret: Secret) -> Vec<ScreenEffect> {
    let Some(offer) = &state.connecting.chosen else { return Vec::new() };
    let request = ConnectRequest::Models { provider: offer.id.clone(), key: Some(secret) };
    vec![ScreenEffect::Connect(request)]
}

fn choose_model(state: &State, model: String) -> Vec<ScreenEffect> {
    let Some(offer) = &state.connecting.chosen else { return Vec::new() };
    let request = ConnectRequest::Save { provider: offer.id.clone(), model };
    vec![ScreenEffect::Connect(request)]
}

pub fn apply_result(state: &mut State, result: ConnectResult) -> Vec<ScreenEffect> {
    match result {
        ConnectResult::Providers(named, offers) => set_providers(state, named, offers),
        ConnectResult::Models(listed) => {
            set_models(state, listed);
            Vec::new()
        }
        ConnectResult::Saved(Ok(saved)) => {
            for say in saved.said {
                state.transcript.add_notice(Notice::info(say));
            }
            vec![ScreenEffect::Send(saved.op)]
        }
        ConnectResult::Saved(Err(why)) => {
            state.transcript.add_notice(Notice::error(why));
            Vec::new()
        }
    }
}

fn set_providers(
    state: &mut State,
    named: Option<String>,
    offers: Vec<ProviderOffer>,
) -> Vec<ScreenEffect> {
    let row = |offer: &ProviderOffer| PickerRow {
        value: offer.id.clone(),
        label: offer.name.clone(),
        about: Some(offer.about.clone()),
        ..PickerRow::default()
    };
    let picker_row = PickerRow {
        label: phrases::OTHER_SERVER.text(state.appearance.lang).to_owned(),
        about: Some(phrases::OTHER_SERVER_ABOUT.into()),
        ..PickerRow::default()
    };
    let rows = offers.iter().map(row).chain([picker_row]).collect();
    state.connecting.providers = offers;
    // The user may have left it meanwhile.
    let Some(picker) = state.modals.picker_mut().filter(|it| it.topic() == Topic::Provider) else {
        return Vec::new();
    };
    picker.set_rows(rows);
    let is_named = |offer: &&ProviderOffer| named.as_ref().is_some_and(|name| offer.id == *name);
    let found = state.connecting.providers.iter().find(is_named).cloned();
    match found {
        Some(offer) => {
            state.modals.pop();
            begin(state, offer)
        }
        None => Vec::new(),
    }
}

fn set_models(state: &mut State, listed: ListedModels) {
    let Some(offer) = state.connecting.chosen.clone() else { return };
    let is_asked = match state.modals.key_entry_mut() {
        Some(entry) => entry.is_waiting,
        None => state.modals.picker_mut().is_some_and(|it| it.topic() == Topic::FirstModel),
    };
    if !is_asked {
        return;
    }
    match listed {
        Ok(models) if models.is_empty() => {
            state.modals.pop();
            let say = phrases::NO_MODELS_LISTED.with("name", offer.name.as_str());
            state.transcript.add_notice(Notice::error(say.with("id", offer.id)));
        }
        Ok(models) => {
            state.modals.pop();
            let rows = models.iter().map(|model| model_row(model, false)).collect();
            let picker = Picker::new(Topic::FirstModel, rows, "");
            state.modals.open(Modal::Picker(Box::new(picker)));
        }
        Err(why) => match (state.modals.key_entry_mut(), why) {
            (Some(entry), ListError::WantsKey(why) | ListError::Other(why)) => {
                entry.is_waiting = false;
                entry.note = Some(why);
            }
            (None, ListError::WantsKey(why)) => {
                state.modals.pop();
                open_key_entry(state, &offer, Some(why));
            }
            (None, ListError::Other(why)) => {
                state.modals.pop();
                state.transcript.add_notice(Notice::error(why));
            }
        },
    }
}

/// A model with what is known of it.
pub fn model_row(model: &ModelOffer, is_in_use: bool) -> PickerRow {
    let about = model.about(is_in_use);
    PickerRow { value: model.name.clone(), about, ..PickerRow::default() }
}
