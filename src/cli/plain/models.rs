//! The list of models, printed when it was asked for.

use super::{PlainEffect, PlainSession};
use crate::commands;
use crate::i18n::session;
use crate::protocol::{ModelOffer, Page};

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
