//! Colours by meaning. A screen never names a colour, it names what a thing is.
//!
//! Themes are TOML files under `themes/`; a meaning that is missing, misspelt or has
//! no such colour is one sentence with its line and name, so that a user's own file can
//! be put right. How many colours the terminal has is decided once, when a theme is
//! read. Which themes there are, and which of them `auto` means, is the wardrobe's.

use ratatui::style::{Modifier, Style};

use crate::protocol::Tier;
use crate::words::Say;

mod ground;
mod paint;
mod read;
mod wardrobe;

pub use ground::Ground;
pub use paint::Depth;
pub use wardrobe::{AUTO, Source, Wardrobe};

/// The built-in themes: name and source.
const BUILT_IN: &[(&str, &str)] = &[
    ("dark", include_str!("../../themes/dark.toml")),
    ("light", include_str!("../../themes/light.toml")),
    ("high-contrast", include_str!("../../themes/high-contrast.toml")),
    ("colorblind", include_str!("../../themes/colorblind.toml")),
    ("16-colors", include_str!("../../themes/16-colors.toml")),
];
const NAMES: &[&str] = &["dark", "light", "high-contrast", "colorblind", "16-colors"];

/// Styles by meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    pub text: Style,
    pub dim: Style,
    pub accent: Style,
    /// What the person said.
    pub user: Style,
    pub ok: Style,
    pub warn: Style,
    pub danger: Style,
    pub info: Style,
    pub border: Style,
    pub selection: Style,
    pub markup: Markup,
    pub change: Change,
}

/// What Markdown marks.
#[derive(Clone, Debug, PartialEq)]
pub struct Markup {
    pub heading: Style,
    pub strong: Style,
    pub emph: Style,
    pub struck: Style,
    /// Code inside a line.
    pub code: Style,
    /// Code in a block of its own.
    pub block: Style,
    pub link: Style,
    pub quote: Style,
    /// Bullets, numbers, boxes of a list.
    pub marker: Style,
    pub syntax: Syntax,
}

/// What code consists of; laid over [`Markup::block`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Syntax {
    pub comment: Style,
    pub string: Style,
    pub keyword: Style,
    /// Numbers, constants, escapes.
    pub number: Style,
    /// Types, classes, attributes.
    pub kind: Style,
    pub function: Style,
}

/// Lines of a diff.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub added: Style,
    pub removed: Style,
    pub hunk: Style,
}

impl Theme {
    /// A built-in theme; `None` for a name that is not in [`Theme::names`].
    pub fn built_in(name: &str, depth: Depth) -> Option<Theme> {
        let (_, source) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
        Theme::parse(source, depth).ok()
    }

    /// The built-in themes, the default first.
    pub fn names() -> &'static [&'static str] {
        NAMES
    }

    /// Reads a theme file. The error names the meaning and what is wrong with it.
    pub fn parse(toml: &str, depth: Depth) -> Result<Theme, Say> {
        read::theme(toml, depth)
    }

    /// The style a tier is said in. Its word is always said beside it.
    pub fn tier(&self, tier: Tier) -> Style {
        match tier {
            Tier::L0 => self.ok,
            Tier::L1 => self.warn,
            Tier::L2 => self.danger,
        }
    }
}

/// Without any file: the terminal's own colours, weight and underline.
impl Default for Theme {
    fn default() -> Theme {
        let plain = Style::new();
        let bold = plain.add_modifier(Modifier::BOLD);
        Theme {
            text: plain,
            dim: plain.add_modifier(Modifier::DIM),
            accent: plain,
            user: bold,
            ok: plain,
            warn: plain,
            danger: bold,
            info: plain,
            border: plain,
            selection: plain.add_modifier(Modifier::REVERSED),
            markup: Markup {
                heading: bold,
                strong: bold,
                emph: plain.add_modifier(Modifier::ITALIC),
                struck: plain.add_modifier(Modifier::CROSSED_OUT),
                code: plain,
                block: plain,
                link: plain.add_modifier(Modifier::UNDERLINED),
                quote: plain,
                marker: plain,
                syntax: Syntax::default(),
            },
            change: Change { added: plain, removed: plain, hunk: plain },
        }
    }
}

#[cfg(test)]
mod tests;
