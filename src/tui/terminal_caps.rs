//! The capabilities of the terminal and the machine, known before anything is drawn: plain data,
//! gathered by the caller. Nothing here queries the terminal.

use std::path::PathBuf;

use super::clipboard::Clipboard;
use super::notify::NotifyMethod;
use super::picture::PictureSupport;
use super::theme::{Background, Depth};
use super::time::Millis;

#[derive(Clone, Debug, Default)]
pub struct TerminalCaps {
    pub depth: Depth,
    /// The colours without a setting.
    pub auto_depth: Depth,
    /// The assumed background, until the terminal reports it.
    pub background: Background,
    pub notify_method: NotifyMethod,
    /// The same without a setting.
    pub auto_notify: NotifyMethod,
    /// The ways to reach the clipboard.
    pub clipboard: Clipboard,
    /// The user's home, for `~` in a typed path.
    pub home: PathBuf,
    /// Whether links may be sent to the terminal.
    pub supports_links: bool,
    /// Whether the terminal may be asked for pictures.
    pub pictures: PictureSupport,
    /// The wall-clock time when the screen starts, in milliseconds since 1970.
    pub clock: Millis,
}

/// Terminals that support links (OSC 8), by a part of their name in `TERM_PROGRAM` or `TERM`.
const KNOWN: &[&str] = &[
    "iterm",
    "wezterm",
    "ghostty",
    "kitty",
    "foot",
    "alacritty",
    "contour",
    "vscode",
    "hyper",
    "mintty",
    "rio",
    "zed",
    "warp",
];
/// Variables by which other terminals identify themselves.
const MARKS: &[&str] = &["WT_SESSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID", "DOMTERM"];
/// The first versions of VTE and tmux that pass links on.
const VTE: u32 = 5_000;
const TMUX: (u32, u32) = (3, 4);

/// Whether links may be sent to a terminal with these variables. An unidentified terminal gets
/// none; `FORCE_HYPERLINK` overrides.
pub fn supports_links(variable: impl Fn(&str) -> String) -> bool {
    let program = variable("TERM_PROGRAM").to_lowercase();
    let term = variable("TERM").to_lowercase();

    match variable("FORCE_HYPERLINK").as_str() {
        "" => {}
        forced => return forced != "0",
    }
    if program == "tmux" {
        return version(&variable("TERM_PROGRAM_VERSION")) >= TMUX;
    }
    if !variable("TMUX").is_empty() || !variable("STY").is_empty() || term.starts_with("screen") {
        return false;
    }
    KNOWN.iter().any(|name| program.contains(name) || term.contains(name))
        || MARKS.iter().any(|name| !variable(name).is_empty())
        || variable("VTE_VERSION").parse::<u32>().is_ok_and(|version| version >= VTE)
}

/// `3.4a` as its two numbers; a part that is not a number counts as 0.
fn version(text: &str) -> (u32, u32) {
    let number = |part: Option<&str>| {
        let digits: String = part.unwrap_or("").chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    };
    let mut parts = text.split('.');
    (number(parts.next()), number(parts.next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_terminals_that_identify_themselves_get_links() {
        let cases: [(&[(&str, &str)], bool); 10] = [
            (&[("TERM", "xterm-256color")], false),
            (&[("TERM", "xterm-kitty")], true),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")], true),
            (&[("VTE_VERSION", "6800")], true),
            (&[("VTE_VERSION", "4200")], false),
            (&[("WT_SESSION", "x")], true),
            (&[("TERM_PROGRAM", "tmux"), ("TERM_PROGRAM_VERSION", "3.4"), ("TMUX", "x")], true),
            (&[("TERM_PROGRAM", "tmux"), ("TERM_PROGRAM_VERSION", "3.3a"), ("TMUX", "x")], false),
            (&[("TERM", "screen-256color"), ("VTE_VERSION", "6800")], false),
            (&[("TERM", "xterm-kitty"), ("FORCE_HYPERLINK", "0")], false),
        ];
        for (set, knows) in cases {
            let variable = |name: &str| {
                let found = set.iter().find(|(set, _)| *set == name);
                found.map_or(String::new(), |(_, value)| (*value).to_owned())
            };
            assert_eq!(supports_links(variable), knows, "{set:?}");
        }
    }
}
