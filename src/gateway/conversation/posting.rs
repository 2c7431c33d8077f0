//! Texts, pages and files of the program itself.

use super::super::platform::OutgoingFile;
use super::super::split;
use super::super::terminal_names::terminal_names;
use super::super::timeline::{PostBody, PostKey};
use super::ChatConversation;
use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::{Notice, NoticeLevel};
use avocet_present::commands::PageRow;
use avocet_present::page;
use avocet_safety::sanitize::{TextSource, clean};

/// A page of more messages is sent as a file.
const PAGE: usize = 10;

impl ChatConversation {
    /// A sentence of the program.
    pub fn say(&mut self, say: impl Into<LocalizedText>) {
        let lang = self.options.lang;
        let text = clean(&say.into().text(lang), TextSource::Text);
        let answering = self.timeline.answering.clone();
        if answering.is_none() {
            self.timeline.answering.clone_from(&self.running);
        }
        for part in split::split(&terminal_names(&text, lang), &self.options.limits) {
            self.timeline.post(PostBody::Plain(part));
        }
        self.timeline.answering = answering;
    }

    pub(super) fn post_markdown(&mut self, text: &str) {
        for part in split::split(text, &self.options.limits) {
            self.timeline.post(PostBody::Markdown(part));
        }
    }

    pub(super) fn post_notice(&mut self, notice: &Notice) {
        let lang = self.options.lang;
        let mark = match notice.level {
            NoticeLevel::Info => "",
            NoticeLevel::Warning | NoticeLevel::Error => "⚠ ",
        };
        let hint = notice.hint.iter().map(|hint| format!("\n{}", hint.text(lang)));
        let text = format!("{mark}{}{}", notice.say.text(lang), hint.collect::<String>());
        self.post_markdown(&clean(&terminal_names(&text, lang), TextSource::Text));
    }

    pub(super) fn post_page(&mut self, title: &LocalizedText, rows: &[PageRow]) {
        let lang = self.options.lang;
        let shown = |text: &str| clean(&terminal_names(text, lang), TextSource::Text);
        let parts = split::split(&shown(&page::markdown(title, rows, lang)), &self.options.limits);
        if parts.len() > PAGE {
            self.post_file("page.txt", shown(&page::plain(title, rows, lang)));
            return;
        }
        for part in parts {
            self.timeline.post(PostBody::Markdown(part));
        }
    }

    /// Sends a text as a file.
    pub(super) fn post_file(&mut self, name: &str, text: String) -> PostKey {
        let file = OutgoingFile {
            name: name.to_owned(),
            media_type: "text/plain; charset=utf-8".to_owned(),
            bytes: text.into(),
            caption: String::new(),
        };
        self.timeline.post(PostBody::File(file))
    }
}
