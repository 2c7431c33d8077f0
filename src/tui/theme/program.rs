//! The colours of a program's output in the colours of a theme.

use ratatui::style::{Modifier, Style};

use super::Theme;
use avocet_core::text::{ProgramColor, ProgramStyle};

impl Theme {
    /// What `base` becomes where a program asked for a style: of its colours the theme has one with
    /// the same meaning, which is readable on the theme's background. Where a theme has no colours,
    /// only bold, italic and underlined text is distinguished.
    pub fn program(&self, base_style: Style, program_style: ProgramStyle) -> Style {
        let mut style = base_style;
        if let Some(color) = program_style.color {
            let own = match color {
                ProgramColor::Red => self.danger,
                ProgramColor::Green => self.ok,
                ProgramColor::Yellow => self.warn,
                ProgramColor::Blue => self.accent,
                ProgramColor::Magenta => self.markup.code,
                ProgramColor::Cyan => self.info,
                ProgramColor::Strong => self.text,
                ProgramColor::Faint => self.dim,
            };
            style.fg = own.fg;
        }
        let modifiers = [
            (program_style.is_bold, Modifier::BOLD),
            (program_style.is_italic, Modifier::ITALIC),
            (program_style.is_underlined, Modifier::UNDERLINED),
        ];
        let set = modifiers.into_iter().filter(|(is_set, _)| *is_set);
        set.fold(style, |style, (_, modifier)| style.add_modifier(modifier))
    }
}
