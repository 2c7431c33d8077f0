//! Builds the environment of a child.
//!
//! A step that runs by itself (L0) starts from nothing and gets a short list; a step the
//! user approved gets their own environment without the variables that make programs load
//! or run something else. Our provider keys go to no child. Names are left out rather than
//! set to nothing: git fails on an empty `GIT_EXTERNAL_DIFF`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use avocet_safety::{self as safety, Needs, matches_name};

/// The variables of a child, by name.
pub type Variables = BTreeMap<OsString, OsString>;

/// The sources of children's environments. Filled by `config`.
#[derive(Clone, Debug, Default)]
pub struct ChildEnvironment {
    /// The user's own, as the process was started with.
    pub user: Variables,
    /// `PATH` for L0 steps: trusted folders only.
    pub path: OsString,
    /// Names that hold keys of our own models; no child sees them.
    pub own_keys: Vec<String>,
    /// Further names the user lets through to L0 steps.
    pub keep: Vec<String>,
    /// Variables this machine sets for L0 steps: a private `TMPDIR`, `RUSTUP_TOOLCHAIN`.
    pub set: Vec<(String, String)>,
}

/// Which of the environments a step gets.
#[derive(Clone, Copy, Debug)]
pub(super) enum EnvironmentKind<'a> {
    /// It runs without the user's approval.
    Automatic,
    /// The user approved exactly this: without the secrets and sockets that its program does
    /// not need.
    Approved(&'a Needs),
    /// A line of the user for their own shell.
    User,
}

/// Ways to other programs of the user's session.
#[rustfmt::skip]
const SESSION: &[&str] = &[
    "TMUX", "TMUX_PANE", "TMUX_TMPDIR", "STY", "ZELLIJ*", "DBUS_*", "SSH_AUTH_SOCK", "SSH_AGENT_PID",
    "SSH_CONNECTION", "SSH_TTY", "GPG_AGENT_INFO", "GPG_TTY", "XDG_RUNTIME_DIR", "WAYLAND_*",
    "DISPLAY", "XAUTHORITY", "ICEAUTHORITY", "SESSION_MANAGER", "PULSE_SERVER", "VSCODE_IPC_*",
    "VSCODE_GIT_*", "NVIM", "NVIM_LISTEN_ADDRESS", "KITTY_LISTEN_ON", "WEZTERM_UNIX_SOCKET",
    "ALACRITTY_SOCKET", "I3SOCK", "SWAYSOCK", "HYPRLAND_*", "KONSOLE_DBUS_*",
];

/// Copied for L0. `*` at the end matches any rest. The homes of cargo and rustup are the
/// user's own settings, as the home folder is.
const COPIED: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_*",
    "TZ",
    "XDG_*",
    "CARGO_HOME",
    "RUSTUP_HOME",
];

/// Set for L0: nothing pages, asks, edits, locks, colours or goes online. The two
/// empty ones keep git from asking a program the repository names.
const SET: &[(&str, &str)] = &[
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_EDITOR", "true"),
    ("EDITOR", "true"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS", ""),
    ("NO_COLOR", "1"),
    ("LESSSECURE", "1"),
    ("LESSHISTFILE", "-"),
    ("BAT_PAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("COREPACK_ENABLE_NETWORK", "0"),
    ("CHECKPOINT_DISABLE", "1"),
    ("NO_UPDATE_NOTIFIER", "1"),
    ("npm_config_update_notifier", "false"),
    ("GH_NO_UPDATE_NOTIFIER", "1"),
    ("DENO_NO_UPDATE_CHECK", "1"),
    ("PULUMI_SKIP_UPDATE_CHECK", "true"),
    ("FLY_NO_UPDATE_CHECK", "1"),
    ("SKAFFOLD_UPDATE_CHECK", "false"),
    ("MISE_HIDE_UPDATE_WARNING", "1"),
    ("DOTNET_CLI_TELEMETRY_OPTOUT", "1"),
    ("AZURE_CORE_COLLECT_TELEMETRY", "false"),
    ("CLOUDSDK_CORE_DISABLE_USAGE_REPORTING", "true"),
    ("CARGO_NET_OFFLINE", "true"),
];

/// Never copied from the user: each makes some program load or run the file it names.
#[rustfmt::skip]
const DENIED: &[&str] = &[
    "LD_*", "DYLD_*",
    "GIT_EXTERNAL_DIFF", "GIT_SSH*", "GIT_PROXY_COMMAND", "GIT_CONFIG*", "GIT_EXEC_PATH", "GIT_DIR",
    "GIT_WORK_TREE", "GIT_ATTR_SOURCE", "GIT_TEMPLATE_DIR",
    "BASH_ENV", "BASH_FUNC_*", "ENV", "ZDOTDIR", "PROMPT_COMMAND", "PS4", "SHELLOPTS",
    "BASHOPTS", "IFS", "CDPATH",
];

/// Not copied for L0, whatever the settings keep: each names something a build or a program
/// loads. Approved steps, and lines the user typed, have them as in the user's own shell.
#[rustfmt::skip]
const BUILDS: &[&str] = &[
    "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PERL5OPT", "PERL5LIB", "PERL5DB", "RUBYOPT", "RUBYLIB",
    "NODE_OPTIONS", "NODE_PATH", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "MAVEN_OPTS",
    "RIPGREP_CONFIG_PATH", "LESSOPEN", "LESSCLOSE", "LESSEDIT", "MANOPT", "GREP_OPTIONS",
    "TAR_OPTIONS", "TAPE", "RSYNC_RSH", "CURL_HOME", "WGETRC",
    "RUSTC_WRAPPER", "RUSTC", "CARGO_BUILD_*", "CC", "CXX", "MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS",
];

/// An editor for the terminal would wait for keys until the time limit. Instead, a program accepts the
/// text, so `git rebase --continue` keeps its message, and another refuses a list of commits to
/// rebase, which would be taken unread. Both are settings of git: `-c` overrides them.
const NO_EDITOR: &[(&str, &str)] = &[
    ("VISUAL", "true"),
    ("EDITOR", "true"),
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "core.editor"),
    ("GIT_CONFIG_VALUE_0", "true"),
    ("GIT_CONFIG_KEY_1", "sequence.editor"),
    ("GIT_CONFIG_VALUE_1", "false"),
];

impl ChildEnvironment {
    /// Whether the user's editor is one for the terminal, as it is where none is set.
    pub(super) fn edits_in_terminal(&self) -> bool {
        let names = ["GIT_EDITOR", "VISUAL", "EDITOR"];
        let mut set = names.iter().filter_map(|name| self.user.get(OsStr::new(name))?.to_str());
        set.next().is_none_or(safety::edits_in_terminal)
    }

    /// Puts something that ends in the place of an editor that would wait for a terminal.
    pub(super) fn replace_editor(&self, variables: &mut Variables) {
        if self.edits_in_terminal() {
            variables.extend(NO_EDITOR.iter().map(|(name, value)| (name.into(), value.into())));
            for before_settings in ["GIT_EDITOR", "GIT_SEQUENCE_EDITOR"] {
                variables.remove(OsStr::new(before_settings));
            }
        }
    }

    /// All variables of a child.
    pub(super) fn variables(&self, kind: EnvironmentKind<'_>) -> Variables {
        match kind {
            EnvironmentKind::Automatic => self.automatic(),
            EnvironmentKind::Approved(needs) => self.approved(|name, value| {
                let session = SESSION.iter().any(|row| matches_name(row, name));
                let kept = self.keep.iter().any(|row| row == name) || needs.passes(name);
                kept || !(session || safety::redact::is_secret_variable(name, value))
            }),
            EnvironmentKind::User => self.approved(|_, _| true),
        }
    }

    fn automatic(&self) -> Variables {
        let kept = |name: &str, _: &str| {
            let session = SESSION.iter().any(|row| matches_name(row, name));
            let named = COPIED.iter().any(|row| matches_name(row, name)) && !session
                || self.keep.iter().any(|row| row == name);
            named && !BUILDS.iter().any(|row| matches_name(row, name))
        };
        let mut out = self.copy_user_variables(kept);
        out.insert("PATH".into(), self.path.clone());
        for (name, value) in SET {
            out.insert(name.into(), value.into());
        }
        for (name, value) in &self.set {
            out.insert(name.into(), value.into());
        }
        out
    }

    fn approved(&self, kept: impl Fn(&str, &str) -> bool) -> Variables {
        let mut out = self.copy_user_variables(kept);
        if let Some(path) = out.get_mut(OsStr::new("PATH")) {
            *path = absolute_only(path);
        }
        out
    }

    /// The user's variables that are passed on, without the denied ones and ours. Names
    /// that are not UTF-8 cannot be compared with a table and are left out.
    fn copy_user_variables(&self, kept: impl Fn(&str, &str) -> bool) -> Variables {
        let passes = |name: &OsString, value: &OsString| {
            name.to_str().is_some_and(|name| {
                kept(name, &value.to_string_lossy())
                    && !DENIED.iter().any(|row| matches_name(row, name))
                    && !self.own_keys.iter().any(|own| own == name)
            })
        };
        let user = self.user.iter().filter(|(name, value)| passes(name, value));
        user.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// Leaves the folders of the project out of `PATH`.
pub(super) fn hide_programs(variables: &mut Variables, workspace: &Path) {
    let path = variables.get_mut(OsStr::new("PATH")).filter(|_| workspace.is_absolute());
    let Some(path) = path else { return };
    let is_outside =
        |folder: &PathBuf| !folder.canonicalize().is_ok_and(|real| real.starts_with(workspace));
    *path =
        std::env::join_paths(std::env::split_paths(path).filter(is_outside)).unwrap_or_default();
}

/// A `PATH` without `.`, empty and other relative folders: those depend on the step's
/// current folder.
fn absolute_only(path: &OsStr) -> OsString {
    let folders = std::env::split_paths(path).filter(|folder: &PathBuf| folder.is_absolute());
    std::env::join_paths(folders).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> ChildEnvironment {
        let user = [
            ("HOME", "/home/u"),
            ("LC_ALL", "C.UTF-8"),
            ("PATH", "/bin:.::relative:/usr/bin"),
            ("LD_PRELOAD", "/x.so"),
            ("GIT_EXTERNAL_DIFF", "x"),
            ("GIT_SSH_COMMAND", "x"),
            ("GIT_AUTHOR_NAME", "U"),
            ("OPENAI_API_KEY", "sk"),
            ("DOCKER_HOST", "tcp://x"),
            ("MINE", "1"),
            ("https_proxy", "http://x"),
            ("CC", "clang"),
            ("NODE_OPTIONS", "--max-old-space-size=8192"),
            ("CARGO_BUILD_JOBS", "2"),
        ];
        ChildEnvironment {
            user: user.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            path: "/usr/bin:/bin".into(),
            own_keys: vec!["OPENAI_API_KEY".into()],
            keep: ["MINE", "OPENAI_API_KEY", "LD_PRELOAD", "CC"].map(String::from).into(),
            set: vec![("TMPDIR".into(), "/private".into())],
        }
    }

    fn get<'v>(variables: &'v Variables, name: &str) -> Option<&'v str> {
        variables.get(OsStr::new(name)).and_then(|value| value.to_str())
    }

    #[test]
    fn an_automatic_step_gets_the_short_list() {
        let variables = environment().variables(EnvironmentKind::Automatic);
        assert_eq!(get(&variables, "HOME"), Some("/home/u"));
        assert_eq!(get(&variables, "LC_ALL"), Some("C.UTF-8"));
        assert_eq!(get(&variables, "PATH"), Some("/usr/bin:/bin"));
        assert_eq!(get(&variables, "MINE"), Some("1"));
        assert_eq!(get(&variables, "TMPDIR"), Some("/private"));
        assert_eq!(get(&variables, "PAGER"), Some("cat"));
        for name in
            ["DOCKER_HOST", "https_proxy", "GIT_AUTHOR_NAME", "OPENAI_API_KEY", "LD_PRELOAD"]
        {
            assert_eq!(get(&variables, name), None, "{name}");
        }
    }

    #[test]
    fn an_approved_step_gets_the_users_environment_without_the_dangerous_part() {
        let needs = Needs::default();
        let variables = environment().variables(EnvironmentKind::Approved(&needs));
        assert_eq!(get(&variables, "PATH"), Some("/bin:/usr/bin"));
        for name in ["GIT_AUTHOR_NAME", "DOCKER_HOST", "https_proxy", "MINE"] {
            assert!(get(&variables, name).is_some(), "{name}");
        }
        for name in ["LD_PRELOAD", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "OPENAI_API_KEY"] {
            assert_eq!(get(&variables, name), None, "{name}");
        }
    }

    #[test]
    fn ways_to_the_users_session_reach_only_a_step_whose_row_names_them() {
        let names = [
            "TMUX",
            "DBUS_SESSION_BUS_ADDRESS",
            "SSH_AUTH_SOCK",
            "XDG_RUNTIME_DIR",
            "WAYLAND_DISPLAY",
            "DISPLAY",
            "GPG_AGENT_INFO",
            "XAUTHORITY",
            "ZELLIJ_SESSION_NAME",
        ];
        let user = names.iter().map(|name| ((*name).into(), "/run/x".into())).collect();
        let environment = ChildEnvironment { user, ..environment() };
        let reaches = |kind| -> Vec<String> {
            let variables = environment.variables(kind);
            names
                .iter()
                .filter(|name| get(&variables, name).is_some())
                .map(|name| (*name).into())
                .collect()
        };
        assert_eq!(reaches(EnvironmentKind::Automatic), [""; 0]);
        let nothing = Needs::default();
        assert_eq!(reaches(EnvironmentKind::Approved(&nothing)), [""; 0]);
        let needs = Needs { variables: vec!["SSH_AUTH_SOCK", "DBUS_*"], ..Needs::default() };
        let expected = ["DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK"];
        assert_eq!(reaches(EnvironmentKind::Approved(&needs)), expected);
        assert_eq!(reaches(EnvironmentKind::User), names);
    }

    #[test]
    fn the_users_build_variables_reach_only_approved_steps() {
        let (alone, approved) = (
            environment().variables(EnvironmentKind::Automatic),
            environment().variables(EnvironmentKind::Approved(&Needs::default())),
        );
        for name in ["CC", "NODE_OPTIONS", "CARGO_BUILD_JOBS"] {
            assert_eq!(get(&alone, name), None, "{name}");
            assert!(get(&approved, name).is_some(), "{name}");
        }
    }

    #[test]
    fn every_denied_name_is_covered_by_its_row_and_rows_are_unique() {
        let rows: Vec<&str> = DENIED.iter().chain(BUILDS).copied().collect();
        for (index, row) in rows.iter().enumerate() {
            assert!(matches_name(row, &row.replace('*', "X")), "{row}");
            assert!(!rows.iter().skip(index + 1).any(|other| other == row), "{row}");
        }
        assert!(!matches_name("CC", "CCACHE_DIR"));
    }
}
