//! What is known of the terminal and the machine around it before anything is drawn:
//! plain data, gathered by the caller. Nothing here asks the terminal.

use std::path::PathBuf;

use super::clipboard::Clipboard;
use super::event::Millis;
use super::ring::Ring;
use super::theme::{Depth, Ground};

#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    pub depth: Depth,
    /// What the background seems to be, until the terminal says so.
    pub ground: Ground,
    pub ring: Ring,
    /// How the clipboard can be reached.
    pub clipboard: Clipboard,
    /// The user's home, as `~` in a path that is typed.
    pub home: PathBuf,
    /// Whether the terminal may be told where links lead.
    pub links: bool,
    /// The clock on the wall when the screen starts, in milliseconds since 1970.
    pub clock: Millis,
}

/// Terminals that know links (OSC 8), by a part of the name they give themselves in
/// `TERM_PROGRAM` or `TERM`.
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
/// Variables by which others make themselves known.
const MARKS: &[&str] = &["WT_SESSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID", "DOMTERM"];
/// The first VTE and the first tmux that pass links on.
const VTE: u32 = 5_000;
const TMUX: (u32, u32) = (3, 4);

/// Whether links may be told to a terminal with these variables. Whoever says nothing is
/// told nothing; `FORCE_HYPERLINK` settles it.
pub fn knows_links(variable: impl Fn(&str) -> String) -> bool {
    let (program, term) =
        (variable("TERM_PROGRAM").to_lowercase(), variable("TERM").to_lowercase());
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

/// `3.4a` as its two numbers; what is none counts as 0.
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
    fn only_terminals_that_make_themselves_known_are_told_links() {
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
            assert_eq!(knows_links(variable), knows, "{set:?}");
        }
    }
}
