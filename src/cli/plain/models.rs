//! The list of models, printed when it was asked for.

use super::{PlainEffect, PlainSession};
use avocet_core::i18n::session;
use avocet_core::protocol::{ModelOffer, Page};
use avocet_present::commands;

impl PlainSession {
    /// The models, if the user asked for them.
    pub(super) fn models_page(&mut self, offers: &[ModelOffer]) -> Vec<PlainEffect> {
        if !std::mem::take(&mut self.asked_models) {
            return Vec::new();
        }
        let rows = commands::model_rows(offers, &self.facts.model);
        self.with_prompt(PlainEffect::Page(Page { title: session::MODELS_HERE.into(), rows }))
    }
}
