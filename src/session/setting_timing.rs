//! When a setting counts that is changed while a session runs.

use avocet_core::i18n::{Phrase, session as words};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingTiming {
    /// The session, its screen or the running gateway takes it over.
    AtOnce,
    /// A running turn goes on with the model that it began with.
    NextTurn,
    NextStart,
    /// When the gateway starts next.
    NextGateway,
}

use SettingTiming::{AtOnce, NextGateway, NextStart, NextTurn};

/// Each setting by its name, or, with a dot at the end, by the beginning of it.
#[rustfmt::skip]
const ROWS: &[(&str, SettingTiming)] = &[
    ("profile",                         NextTurn),
    ("mode",                            NextTurn),
    ("lang",                            AtOnce),
    ("theme",                           AtOnce),
    ("vim",                             AtOnce),
    ("motion",                          AtOnce),
    ("timestamps",                      AtOnce),
    ("show_thinking",                   AtOnce),
    ("show_pictures",                   AtOnce),
    ("enter_while_busy",                AtOnce),
    ("color",                           AtOnce),
    ("notify",                          AtOnce),
    ("log",                             AtOnce),
    ("models.",                         NextTurn),
    // Of the command line and the environment, which stay as they are while the program runs.
    ("model",                           NextStart),
    ("base_url",                        NextStart),
    ("effort",                          NextStart),
    ("api_key",                         NextStart),
    // A running session has the mode that it was given.
    ("profiles.*.mode",                 NextStart),
    ("profiles.",                       NextTurn),
    ("folders.",                        NextStart),
    ("key_store",                       NextTurn),
    ("plain_http_hosts",                NextTurn),
    ("safety.allowed_programs",         AtOnce),
    ("safety.unknown_program",          AtOnce),
    ("safety.allow_network",            AtOnce),
    ("safety.allow_write",              AtOnce),
    ("safety.allow_sudo",               AtOnce),
    ("safety.lift",                     AtOnce),
    ("safety.allow",                    AtOnce),
    ("safety.deny",                     AtOnce),
    ("safety.sandbox",                  AtOnce),
    ("safety.mode",                     NextStart),
    ("safety.max_auto_steps_per_turn",  AtOnce),
    ("safety.program_folders",          AtOnce),
    ("safety.config_files",             AtOnce),
    ("scripts.environment",             AtOnce),
    ("project.check",                   AtOnce),
    ("limits.idle_timeout_s",           AtOnce),
    ("limits.piece_timeout_s",          AtOnce),
    ("limits.cost.",                    AtOnce),
    ("limits.tokens.",                  AtOnce),
    ("limits.script_timeout_s",         AtOnce),
    ("limits.step_timeout_s",           AtOnce),
    // Who may talk is looked up for each message.
    ("gateway.telegram.allow",          AtOnce),
    ("gateway.telegram.admins",         AtOnce),
    ("gateway.telegram.mention",        AtOnce),
    ("gateway.slack.allow",             AtOnce),
    ("gateway.slack.admins",            AtOnce),
    ("gateway.slack.mention",           AtOnce),
    ("gateway.discord.allow",           AtOnce),
    ("gateway.discord.admins",          AtOnce),
    ("gateway.discord.mention",         AtOnce),
    // Its platforms are connected, and its queues made, when it starts.
    ("gateway.",                        NextGateway),
    ("display.",                        NextGateway),
];

impl SettingTiming {
    pub fn of(key: &str) -> SettingTiming {
        let is_of = |row: &str| {
            let named = row
                .split_once('*')
                .is_some_and(|(before, after)| key.starts_with(before) && key.ends_with(after));
            row == key || named || row.ends_with('.') && key.starts_with(row)
        };
        let row = ROWS.iter().find(|(row, _)| is_of(row));
        row.map_or(NextStart, |(_, timing)| *timing)
    }

    /// When it counts, in any case.
    pub fn label(self) -> Phrase {
        match self {
            AtOnce => words::CONFIG_AT_ONCE,
            NextTurn => words::CONFIG_NEXT_TURN,
            NextStart => words::CONFIG_NEXT_START,
            NextGateway => words::CONFIG_NEXT_GATEWAY,
        }
    }

    /// A sentence for the user; nothing where it counts already.
    pub fn hint(self) -> Option<Phrase> {
        match self {
            AtOnce | NextTurn => None,
            NextStart => Some(words::CONFIG_NEXT_START),
            NextGateway => Some(words::CONFIG_NEXT_GATEWAY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_config::keys::KEYS;

    #[test]
    fn every_setting_says_when_it_counts() {
        for key in KEYS {
            let named = ROWS.iter().filter(|(row, _)| *row == key.path).count();
            let begun = |row: &str| row.ends_with('.') && key.path.starts_with(row);
            let begun = ROWS.iter().filter(|(row, _)| begun(row)).count();
            // A row of its own precedes that of its group.
            assert!(named == 1 || (named, begun) == (0, 1), "{}: {named} and {begun}", key.path);
        }
        for (row, _) in ROWS {
            let is_used = KEYS.iter().any(|key| key.path.starts_with(row));
            assert!(is_used, "there is no setting {row}");
        }
        assert_eq!(SettingTiming::of("profiles.work.high"), NextTurn);
        assert_eq!(SettingTiming::of("gateway.slack.allow"), AtOnce);
        assert_eq!(SettingTiming::of("gateway.slack.enabled"), NextGateway);
    }
}
