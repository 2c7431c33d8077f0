//! The available themes: the built-in ones and the user's own, which may replace a built-in one by
//! name. Reads no files: the caller supplies the sources.

use super::{Background, Depth, Theme};
use avocet_core::i18n::{LocalizedText, screen};

/// The name of the theme that follows the terminal's background.
pub const AUTO: &str = "auto";

/// A theme of the user: its name and its TOML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThemeSource {
    pub name: String,
    pub toml: String,
}

#[derive(Clone, Debug, Default)]
pub struct ThemeRegistry {
    user_themes: Vec<ThemeSource>,
    names: Vec<String>,
}

impl ThemeRegistry {
    pub fn new(sources: Vec<ThemeSource>) -> ThemeRegistry {
        let built_in = [AUTO].iter().chain(Theme::names()).map(|name| (*name).to_owned());
        let mut names: Vec<String> = built_in.collect();
        for source in &sources {
            if !names.contains(&source.name) {
                names.push(source.name.clone());
            }
        }
        ThemeRegistry { user_themes: sources, names }
    }

    /// Every available name, `auto` first.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The theme of that name on a terminal with this background.
    ///
    /// # Errors
    /// A sentence for an unknown name, or for an invalid file.
    pub fn theme(
        &self,
        name: &str,
        depth: Depth,
        background: Background,
    ) -> Result<Theme, LocalizedText> {
        let name = if name == AUTO { background.theme_name() } else { name };
        if let Some(own) = self.user_themes.iter().find(|own| own.name == name) {
            return Theme::parse(&own.toml, depth)
                .map_err(|why| screen::THEME_BROKEN.with("name", name).with("why", why));
        }
        Theme::built_in(name, depth).ok_or_else(|| {
            screen::NO_SUCH_THEME.with("name", name).with("names", self.names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::Lang;

    fn registry() -> ThemeRegistry {
        let own = |name: &str, toml: &str| ThemeSource { name: name.into(), toml: toml.into() };
        let sea = include_str!("../../../themes/light.toml").replace("#2856c4", "#005f87");
        ThemeRegistry::new(vec![own("sea", &sea), own("dark", &sea), own("torn", "text = 3\n")])
    }

    #[test]
    fn a_user_theme_is_added_or_replaces_a_built_in_one() {
        let wardrobe = registry();
        let names = wardrobe.names().join(" ");
        assert_eq!(names, "auto dark light high-contrast colorblind 16-colors sea torn");
        let worn = |name| wardrobe.theme(name, Depth::True, Background::Dark).unwrap();
        assert_eq!(worn("sea"), worn("dark"));
        assert_ne!(worn("sea"), worn("light"));
    }

    #[test]
    fn auto_follows_the_background() {
        let wardrobe = ThemeRegistry::new(Vec::new());
        for (ground, name) in [(Background::Dark, "dark"), (Background::Light, "light")] {
            let auto = wardrobe.theme(AUTO, Depth::True, ground);
            assert_eq!(auto, wardrobe.theme(name, Depth::True, Background::Dark));
        }
    }

    #[test]
    fn an_unavailable_theme_says_why() {
        let why = |name| match registry().theme(name, Depth::True, Background::Dark) {
            Ok(_) => String::new(),
            Err(say) => say.text(Lang::En),
        };
        let torn = why("torn");
        assert!(torn.contains("`torn`") && torn.contains("line 1"), "{torn}");
        assert!(why("nope").contains("Available: auto, dark"), "{}", why("nope"));
    }
}
