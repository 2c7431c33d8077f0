//! Colours by meaning: the screen never names a colour, but the meaning of what it draws.
//!
//! Themes are TOML files under `themes/`. A meaning that is missing, misspelt or has an invalid
//! colour gives an error with its line and name, so that users can fix their own files. The number
//! of colours of the terminal is decided once, when a theme is read. The list of themes, and the
//! choice that `auto` makes, are in `registry`.

use ratatui::style::{Modifier, Style};

use crate::symbols::LineStyle;
use avocet_config::keys::THEMES;
use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::{PlanState, Tier};

mod background;
mod downsample;
mod parse;
mod program;
mod registry;

pub use background::Background;
pub use downsample::Depth;
pub use registry::{AUTO, ThemeRegistry, ThemeSource};

/// The built-in themes: name and source.
const BUILT_IN: &[(&str, &str)] = &[
    ("dark", include_str!("../../themes/dark.toml")),
    ("light", include_str!("../../themes/light.toml")),
    ("high-contrast", include_str!("../../themes/high-contrast.toml")),
    ("colorblind", include_str!("../../themes/colorblind.toml")),
    ("16-colors", include_str!("../../themes/16-colors.toml")),
];
/// Without `auto`, which is one of them.
const NAMES: &[&str] = THEMES.split_at(1).1;

/// Styles by meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    pub text: Style,
    pub dim: Style,
    pub accent: Style,
    /// Messages of the user.
    pub user: Style,
    pub ok: Style,
    pub warn: Style,
    pub danger: Style,
    pub info: Style,
    pub border: Style,
    pub selection: Style,
    /// Panels. Without a background, lines take their place.
    pub surface: Style,
    /// A row of a panel that stands out.
    pub raised: Style,
    pub bar: BarColors,
    pub markup: Markup,
    pub change: DiffColors,
    /// How its lines are drawn: a fact of the terminal, that no file says.
    pub lines: LineStyle,
}

/// The bar at the left of a panel, by whose it is; only the background counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarColors {
    pub user: Style,
    pub input: Style,
    pub question: Style,
    /// A question of high risk.
    pub danger: Style,
}

/// Elements of Markdown.
#[derive(Clone, Debug, PartialEq)]
pub struct Markup {
    pub heading: Style,
    pub strong: Style,
    pub emph: Style,
    pub struck: Style,
    /// Inline code.
    pub code: Style,
    /// Code blocks.
    pub block: Style,
    pub link: Style,
    pub quote: Style,
    /// Bullets, numbers and boxes of a list.
    pub marker: Style,
    pub syntax: Syntax,
}

/// Elements of code; applied on top of [`Markup::block`].
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
pub struct DiffColors {
    pub added: Style,
    pub removed: Style,
    pub hunk: Style,
    /// Behind a whole row; without it the row's text has the colour of its sign.
    pub added_row: Style,
    pub removed_row: Style,
    /// The words that differ.
    pub added_word: Style,
    pub removed_word: Style,
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

    /// Parses a theme file. The error names the meaning and its problem.
    pub fn parse(toml: &str, depth: Depth) -> Result<Theme, LocalizedText> {
        parse::parse_theme(toml, depth)
    }

    /// Whether panels are painted; otherwise lines mark them.
    pub fn has_surfaces(&self) -> bool {
        self.surface.bg.is_some()
    }

    /// The selected row of a list in a panel.
    pub fn chosen(&self) -> Style {
        if self.has_surfaces() { self.raised.add_modifier(Modifier::BOLD) } else { self.selection }
    }

    /// The style of a tier. Its name is always shown too.
    pub fn tier(&self, tier: Tier) -> Style {
        match tier {
            Tier::L0 => self.ok,
            Tier::L1 => self.warn,
            Tier::L2 => self.danger,
        }
    }

    /// The style of an item of a plan.
    pub fn plan_item(&self, state: PlanState) -> Style {
        match state {
            PlanState::Pending => self.text,
            PlanState::Doing => self.accent.add_modifier(Modifier::BOLD),
            PlanState::Done => self.dim,
        }
    }
}

/// Without a file: the terminal's own colours, bold and underline.
impl Default for Theme {
    fn default() -> Theme {
        let style = Style::new();
        let bold = style.add_modifier(Modifier::BOLD);
        Theme {
            text: style,
            dim: style.add_modifier(Modifier::DIM),
            accent: style,
            user: bold,
            ok: style,
            warn: style,
            danger: bold,
            info: style,
            border: style,
            selection: style.add_modifier(Modifier::REVERSED),
            surface: style,
            raised: style,
            bar: BarColors::default(),
            markup: Markup {
                heading: bold,
                strong: bold,
                emph: style.add_modifier(Modifier::ITALIC),
                struck: style.add_modifier(Modifier::CROSSED_OUT),
                code: style,
                block: style,
                link: style.add_modifier(Modifier::UNDERLINED),
                quote: style,
                marker: style,
                syntax: Syntax::default(),
            },
            change: DiffColors {
                added: style,
                removed: style,
                hunk: style,
                added_row: style,
                removed_row: style,
                added_word: bold,
                removed_word: bold,
            },
            lines: LineStyle::default(),
        }
    }
}

#[cfg(test)]
mod tests;
