//! Lines of text, made safe for the terminal.

use super::effect::PlainEffect;
use crate::cli::Clean;
use avocet_core::i18n::{Lang, LocalizedText};

#[derive(Debug)]
pub(super) struct PlainLines {
    pub lang: Lang,
    pub clean: Clean,
}

impl PlainLines {
    pub fn say(&self, say: impl Into<LocalizedText>) -> PlainEffect {
        self.line(&say.into().text(self.lang))
    }

    pub fn line(&self, text: &str) -> PlainEffect {
        PlainEffect::Line((self.clean)(text))
    }
}
