//! What each setting does, in a line.

use avocet_core::i18n::{Phrase, settings as w};

/// By its path in the table of settings; the platforms of the gateway have theirs together.
#[rustfmt::skip]
const ABOUT: &[(&str, Phrase)] = &[
    ("profile",                           w::PROFILE),
    ("mode",                              w::MODE),
    ("lang",                              w::LANG),
    ("theme",                             w::THEME),
    ("vim",                               w::VIM),
    ("motion",                            w::MOTION),
    ("timestamps",                        w::TIMESTAMPS),
    ("show_thinking",                     w::SHOW_THINKING),
    ("show_pictures",                     w::SHOW_PICTURES),
    ("enter_while_busy",                  w::ENTER_WHILE_BUSY),
    ("color",                             w::COLOR),
    ("notify",                            w::NOTIFY),
    ("log",                               w::LOG),
    ("models.*.window",                   w::MODEL_WINDOW),
    ("models.*.output",                   w::MODEL_OUTPUT),
    ("models.*.tools",                    w::MODEL_TOOLS),
    ("models.*.images",                   w::MODEL_IMAGES),
    ("models.*.price_input",              w::MODEL_PRICE_INPUT),
    ("models.*.price_output",             w::MODEL_PRICE_OUTPUT),
    ("models.*.price_cached",             w::MODEL_PRICE_CACHED),
    ("models.*.price_written",            w::MODEL_PRICE_WRITTEN),
    ("profiles.*.provider",               w::PROFILE_PROVIDER),
    ("profiles.*.dialect",                w::PROFILE_DIALECT),
    ("profiles.*.effort",                 w::PROFILE_EFFORT),
    ("profiles.*.prompt",                 w::PROFILE_PROMPT),
    ("profiles.*.shell_tool",             w::PROFILE_SHELL_TOOL),
    ("profiles.*.base_url",               w::PROFILE_BASE_URL),
    ("profiles.*.api_key_env",            w::PROFILE_API_KEY_ENV),
    ("profiles.*.api_key_command",        w::PROFILE_API_KEY_COMMAND),
    ("profiles.*.low",                    w::PROFILE_LOW),
    ("profiles.*.high",                   w::PROFILE_HIGH),
    ("profiles.*.fallback",               w::PROFILE_FALLBACK),
    ("profiles.*.mode",                   w::PROFILE_MODE),
    ("folders.*.mode",                    w::FOLDER_MODE),
    ("safety.mode",                       w::SAFETY_MODE),
    ("key_store",                         w::KEY_STORE),
    ("plain_http_hosts",                  w::PLAIN_HTTP_HOSTS),
    ("safety.allowed_programs",           w::ALLOWED_PROGRAMS),
    ("safety.unknown_program",            w::UNKNOWN_PROGRAM),
    ("safety.allow_network",              w::ALLOW_NETWORK),
    ("safety.allow_write",                w::ALLOW_WRITE),
    ("safety.allow_sudo",                 w::ALLOW_SUDO),
    ("safety.lift",                       w::LIFT),
    ("safety.allow",                      w::ALLOW),
    ("safety.deny",                       w::DENY),
    ("safety.sandbox",                    w::SANDBOX),
    ("safety.max_auto_steps_per_turn",    w::MAX_STEPS),
    ("safety.program_folders",            w::PROGRAM_FOLDERS),
    ("safety.config_files",               w::CONFIG_FILES),
    ("scripts.environment",               w::SCRIPT_ENVIRONMENT),
    ("project.check",                     w::PROJECT_CHECK),
    ("limits.idle_timeout_s",             w::IDLE_TIMEOUT),
    ("limits.piece_timeout_s",            w::PIECE_TIMEOUT),
    ("limits.cost.turn",                  w::COST_TURN),
    ("limits.cost.session",               w::COST_SESSION),
    ("limits.cost.run",                   w::COST_RUN),
    ("limits.tokens.turn",                w::TOKENS_TURN),
    ("limits.tokens.session",             w::TOKENS_SESSION),
    ("limits.tokens.run",                 w::TOKENS_RUN),
    ("limits.script_timeout_s",           w::SCRIPT_TIMEOUT),
    ("limits.step_timeout_s",             w::STEP_TIMEOUT),
    ("gateway.*.enabled",                 w::GATEWAY_ENABLED),
    ("gateway.*.token_env",               w::GATEWAY_TOKEN_ENV),
    ("gateway.*.app_token_env",           w::GATEWAY_APP_TOKEN_ENV),
    ("gateway.*.allow",                   w::GATEWAY_ALLOW),
    ("gateway.*.admins",                  w::GATEWAY_ADMINS),
    ("gateway.*.mention",                 w::GATEWAY_MENTION),
    ("gateway.*.api_url",                 w::GATEWAY_API_URL),
    ("gateway.user_commands",             w::GATEWAY_USER_COMMANDS),
    ("gateway.menu_first",                w::GATEWAY_MENU_FIRST),
    ("gateway.folder",                    w::GATEWAY_FOLDER),
    ("gateway.max_sessions",              w::GATEWAY_MAX_SESSIONS),
    ("gateway.max_connections",           w::GATEWAY_MAX_CONNECTIONS),
    ("gateway.max_queued",                w::GATEWAY_MAX_QUEUED),
    ("gateway.max_waiting_mb",            w::GATEWAY_MAX_WAITING),
    ("gateway.max_file_mb",               w::GATEWAY_MAX_FILE),
    ("gateway.session_idle_s",            w::GATEWAY_SESSION_IDLE),
    ("display.tool_progress_command",     w::TOOL_PROGRESS),
];

/// What a setting does, by its path in the table.
pub fn of(path: &str) -> Option<Phrase> {
    let of_platform = path.strip_prefix("gateway.").and_then(|rest| rest.split_once('.'));
    let shared = of_platform.map(|(_, name)| format!("gateway.*.{name}"));
    let wanted = shared.as_deref().unwrap_or(path);
    ABOUT.iter().find(|(known, _)| *known == wanted).map(|(_, about)| *about)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::KEYS;

    #[test]
    fn every_setting_of_the_file_says_what_it_does() {
        for key in KEYS.iter().filter(|key| key.elsewhere.is_none()) {
            assert!(of(key.path).is_some(), "{}", key.path);
        }
        for (path, _) in ABOUT {
            let used = KEYS.iter().any(|key| of(key.path) == of(path) || key.path == *path);
            assert!(used, "there is no setting {path}");
        }
    }
}
