//! When a setting counts that is changed while a session runs.

use crate::i18n::{Phrase, session as words};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingTiming {
    /// The session, or its screen, takes it over.
    AtOnce,
    NextStart,
    /// When the gateway starts next.
    NextGateway,
}

use SettingTiming::{AtOnce, NextGateway, NextStart};

/// Each setting by its name, or, with a dot at the end, by the beginning of it.
#[rustfmt::skip]
const ROWS: &[(&str, SettingTiming)] = &[
    ("profile",                         NextStart),
    ("mode",                            AtOnce),
    ("lang",                            AtOnce),
    ("theme",                           AtOnce),
    ("vim",                             AtOnce),
    ("motion",                          AtOnce),
    ("timestamps",                      AtOnce),
    ("show_thinking",                   AtOnce),
    ("show_pictures",                   AtOnce),
    ("enter_while_busy",                AtOnce),
    ("color",                           NextStart),
    ("notify",                          NextStart),
    ("log",                             NextStart),
    ("models.",                         NextStart),
    ("model",                           NextStart),
    ("base_url",                        NextStart),
    ("effort",                          NextStart),
    ("api_key",                         NextStart),
    ("profiles.",                       NextStart),
    ("key_store",                       NextStart),
    ("plain_http_hosts",                NextStart),
    ("safety.allowed_programs",         AtOnce),
    ("safety.unknown_program",          AtOnce),
    ("safety.allow_network",            AtOnce),
    ("safety.allow_write",              AtOnce),
    ("safety.allow_sudo",               AtOnce),
    ("safety.lift",                     AtOnce),
    ("safety.allow",                    AtOnce),
    ("safety.deny",                     AtOnce),
    ("safety.sandbox",                  NextStart),
    ("safety.max_auto_steps_per_turn",  AtOnce),
    ("safety.program_folders",          NextStart),
    ("safety.config_files",             AtOnce),
    ("scripts.environment",             NextStart),
    ("project.check",                   AtOnce),
    ("limits.idle_timeout_s",           NextStart),
    ("limits.piece_timeout_s",          NextStart),
    ("limits.cost.",                    AtOnce),
    ("limits.tokens.",                  AtOnce),
    ("limits.script_timeout_s",         NextStart),
    ("limits.step_timeout_s",           NextStart),
    ("gateway.",                        NextGateway),
    ("display.",                        NextGateway),
];

/// What the screen takes over when it is set with `/config`; it does not look at the file.
const OF_THE_SCREEN: &[&str] = &[
    "mode",
    "lang",
    "theme",
    "vim",
    "motion",
    "timestamps",
    "show_thinking",
    "show_pictures",
    "enter_while_busy",
];

impl SettingTiming {
    /// For a setting that gets a value, or is removed from the file.
    pub fn of(key: &str, is_removed: bool) -> SettingTiming {
        if is_removed && OF_THE_SCREEN.contains(&key) {
            return NextStart;
        }
        let row =
            ROWS.iter().find(|(row, _)| *row == key || row.ends_with('.') && key.starts_with(row));
        row.map_or(NextStart, |(_, timing)| *timing)
    }

    /// A sentence for the user; nothing where it counts already.
    pub fn hint(self) -> Option<Phrase> {
        match self {
            AtOnce => None,
            NextStart => Some(words::CONFIG_NEXT_START),
            NextGateway => Some(words::CONFIG_NEXT_GATEWAY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keys::KEYS;

    #[test]
    fn every_setting_says_when_it_counts() {
        for key in KEYS {
            let rows: Vec<_> = ROWS
                .iter()
                .filter(|(row, _)| {
                    *row == key.path || row.ends_with('.') && key.path.starts_with(row)
                })
                .collect();
            assert_eq!(rows.len(), 1, "{}: {rows:?}", key.path);
        }
        for (row, _) in ROWS {
            let is_used = KEYS.iter().any(|key| key.path.starts_with(row));
            assert!(is_used, "there is no setting {row}");
        }
        assert_eq!(SettingTiming::of("vim", false), AtOnce);
        assert_eq!(SettingTiming::of("vim", true), NextStart);
        assert_eq!(SettingTiming::of("gateway.slack.allow", false), NextGateway);
    }
}
