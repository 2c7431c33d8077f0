//! The settings in their files, for `/config`, the editor of settings, and a session that takes over
//! what changed in them.

use super::settings::{ReloadedSettings, SettingsAccess};
use super::trust::TrustPrompt;
use avocet_core::i18n::{Lang, LocalizedText, session as phrases};
use avocet_core::protocol::{Event, Notice, Page, PageRow};

/// The settings in their files, if they may change while the session runs.
pub(super) struct SessionSettings {
    access: Option<Box<dyn SettingsAccess>>,
}

impl SessionSettings {
    pub fn new(access: Option<Box<dyn SettingsAccess>>) -> SessionSettings {
        SessionSettings { access }
    }

    /// What changed in the files. Costs one look at each of them.
    pub fn reload(&mut self) -> Option<ReloadedSettings> {
        self.access.as_mut()?.reload()
    }

    /// The folder's own settings count, or do not any more.
    pub fn set_trusted(&mut self, is_trusted: bool) -> Option<ReloadedSettings> {
        self.access.as_mut()?.set_trusted(is_trusted)
    }

    pub fn trust_prompt(&mut self) -> Option<TrustPrompt> {
        self.access.as_mut()?.trust_prompt()
    }

    /// `/config`: what changed in the files, and the answer.
    pub fn configure(
        &mut self,
        key: Option<String>,
        value: Option<&str>,
        lang: Lang,
    ) -> (Vec<ReloadedSettings>, Event) {
        let Some(access) = &mut self.access else {
            return (Vec::new(), Event::Notice(Notice::error(phrases::CONFIG_UNAVAILABLE)));
        };
        let mut changes = Vec::from_iter(access.reload());
        let lang = changes.first().and_then(|live| live.lang).unwrap_or(lang);
        let words = key.unwrap_or_default();
        let (key, value) = match words.strip_prefix("unset ").map(str::trim) {
            Some(key) => (key, None),
            None if value.is_some() => (words.as_str(), value),
            None => {
                let page = settings_page(access.as_ref(), &words, lang);
                return (changes, Event::Page(Box::new(page)));
            }
        };
        let notice = set(access.as_mut(), key, value, &mut changes);
        (changes, Event::Notice(notice))
    }

    /// The editor of settings.
    pub fn edit(
        &mut self,
        key: Option<String>,
        value: Option<&str>,
    ) -> (Vec<ReloadedSettings>, Event) {
        let mut changes = Vec::from_iter(self.reload());
        let mut said = None;
        let mut rows = Vec::new();
        if let Some(access) = &mut self.access {
            said = key.map(|key| set(access.as_mut(), &key, value, &mut changes));
            rows = access.editable();
        }
        (changes, Event::Settings { rows, said })
    }
}

/// Writes a setting, and says what became of it.
fn set(
    access: &mut dyn SettingsAccess,
    key: &str,
    value: Option<&str>,
    changes: &mut Vec<ReloadedSettings>,
) -> Notice {
    match access.set(key, value) {
        Ok(say) => {
            changes.extend(access.reload());
            let notice = Notice::info(say);
            match setting_hint(access, key) {
                None => notice,
                Some(hint) => notice.with_hint(hint),
            }
        }
        Err(why) => Notice::error(why),
    }
}

/// The settings whose names begin so, with where each comes from.
fn settings_page(settings: &dyn SettingsAccess, beginning: &str, lang: Lang) -> Page {
    let mut rows = settings.rows(beginning, lang);
    if rows.is_empty() {
        rows.push(PageRow::line(phrases::CONFIG_NO_KEY.with("key", beginning)));
    }
    Page { title: phrases::CONFIG.into(), rows }
}

/// Why a setting that was written does not count yet.
fn setting_hint(settings: &dyn SettingsAccess, key: &str) -> Option<LocalizedText> {
    match settings.overridden_by(key) {
        Some(origin) => Some(phrases::CONFIG_OVERRIDDEN.with("origin", origin)),
        None => avocet_config::keys::timing(key).hint().map(LocalizedText::from),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Arc;

    use futures_util::FutureExt;

    use super::*;
    use crate::script_places::ScriptPlaces;
    use avocet_core::protocol::SettingRow;
    use avocet_core::protocol::budget::SpendLimits;
    use avocet_safety::Policy;

    /// Files that change as often as is listed, each time to this language.
    struct ChangingFiles(VecDeque<Lang>);

    impl SettingsAccess for ChangingFiles {
        fn reload(&mut self) -> Option<ReloadedSettings> {
            let page = || Page { title: phrases::CONFIG.into(), rows: vec![] };
            self.0.pop_front().map(|lang| ReloadedSettings {
                policy: Policy::default(),
                max_steps: None,
                max_subagents: 0,
                spend_limits: SpendLimits::default(),
                check: Vec::new(),
                screen: Vec::new(),
                lang: Some(lang),
                models: None,
                tools: None,
                find_scripts: Arc::new(|_| ScriptPlaces::default()),
                doctor: Arc::new(move |_| async move { page() }.boxed()),
                platforms: Arc::new(page),
                notices: Vec::new(),
            })
        }

        fn set_trusted(&mut self, _: bool) -> Option<ReloadedSettings> {
            self.reload()
        }

        fn trust_prompt(&mut self) -> Option<TrustPrompt> {
            None
        }

        fn policy(&self) -> Policy {
            Policy::default()
        }

        fn rows(&self, beginning: &str, lang: Lang) -> Vec<PageRow> {
            let row = || PageRow::line(format!("{beginning} in {lang:?}"));
            (beginning != "unknown").then(row).into_iter().collect()
        }

        fn editable(&self) -> Vec<SettingRow> {
            Vec::new()
        }

        fn overridden_by(&self, key: &str) -> Option<LocalizedText> {
            (key == "model").then(|| phrases::CONFIG.into())
        }

        fn set(&mut self, key: &str, value: Option<&str>) -> Result<LocalizedText, LocalizedText> {
            match value {
                Some("wrong") => Err(phrases::CONFIG_UNAVAILABLE.into()),
                _ => Ok(phrases::CONFIG_NO_KEY.with("key", key)),
            }
        }
    }

    fn changing(langs: &[Lang]) -> SessionSettings {
        SessionSettings::new(Some(Box::new(ChangingFiles(langs.iter().copied().collect()))))
    }

    fn sentence(event: &Event) -> String {
        match event {
            Event::Notice(notice) => notice.say.text(Lang::En),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_setting_is_written_to_the_files_as_they_are_and_what_changed_counts() {
        let mut settings = changing(&[Lang::En, Lang::Zh]);
        let (changes, event) = settings.configure(Some("lang".into()), Some("zh"), Lang::En);
        let written = phrases::CONFIG_NO_KEY.with("key", "lang").text(Lang::En);
        assert_eq!((changes.len(), sentence(&event)), (2, written.clone()));
        let (changes, event) = settings.configure(Some("unset lang".into()), None, Lang::En);
        assert_eq!((changes.len(), sentence(&event)), (0, written), "nothing else changed");
    }

    #[test]
    fn a_wrong_value_changes_nothing() {
        let (changes, event) =
            changing(&[]).configure(Some("lang".into()), Some("wrong"), Lang::En);
        assert!(changes.is_empty());
        assert_eq!(sentence(&event), phrases::CONFIG_UNAVAILABLE.text(Lang::En));
    }

    #[test]
    fn the_page_speaks_the_language_that_was_just_set_and_names_what_it_does_not_know() {
        let (changes, page) = changing(&[Lang::Zh]).configure(Some("web".into()), None, Lang::En);
        assert_eq!(changes.len(), 1);
        assert!(sentence(&page).contains("web in Zh"), "{page:?}");
        let page = settings_page(&ChangingFiles(VecDeque::new()), "unknown", Lang::En);
        assert_eq!(page.rows, [PageRow::line(phrases::CONFIG_NO_KEY.with("key", "unknown"))]);
    }

    #[test]
    fn the_editor_says_what_became_of_a_setting() {
        let (changes, event) = changing(&[Lang::En]).edit(Some("model".into()), Some("other"));
        assert_eq!(changes.len(), 1);
        let Event::Settings { said: Some(notice), .. } = event else { panic!("{event:?}") };
        let origin = LocalizedText::from(phrases::CONFIG);
        assert_eq!(notice.hint, Some(phrases::CONFIG_OVERRIDDEN.with("origin", origin)));
    }

    #[test]
    fn without_files_nothing_is_read_or_written() {
        let mut settings = SessionSettings::new(None);
        assert!(settings.reload().is_none() && settings.set_trusted(true).is_none());
        let (_, event) = settings.configure(Some("lang".into()), Some("zh"), Lang::En);
        assert_eq!(sentence(&event), phrases::CONFIG_UNAVAILABLE.text(Lang::En));
        assert_eq!(settings.edit(None, None).1, Event::Settings { rows: vec![], said: None });
    }
}
