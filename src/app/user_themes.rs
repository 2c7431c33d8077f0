//! The user's own themes, as files of a folder.

use avocet_config::{ConfigDiagnostic, Paths, themes};
use avocet_core::i18n::LocalizedText;
use avocet_tui::theme::{Background, Depth, ThemeRegistry, ThemeSource};

/// The themes, and the errors in their files.
pub fn read(paths: &Paths) -> (Vec<ThemeSource>, Vec<ConfigDiagnostic>) {
    let (files, problems) = themes::read(&paths.themes());
    let source = |file: themes::ThemeFile| ThemeSource { name: file.name, toml: file.text };
    (files.into_iter().map(source).collect(), problems)
}

/// Checks a setting before it is saved: only a theme that can be used may be chosen.
pub fn check_setting(paths: &Paths, key: &str, value: &str) -> Result<(), LocalizedText> {
    if key != "theme" {
        return Ok(());
    }
    let themes = ThemeRegistry::new(read(paths).0);
    themes.theme(value.trim(), Depth::True, Background::Dark).map(|_| ())
}
