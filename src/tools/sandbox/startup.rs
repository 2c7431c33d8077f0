//! What is run by itself in a home: at the start of the session, or by the user's programs. It counts
//! where the home is worked in, or is in a folder that is.

use std::path::{Path, PathBuf};

/// What runs at the start of the user's session.
#[rustfmt::skip]
const OF_SESSION: &[&str] = &[
    ".config/autostart", ".config/systemd", ".config/environment.d", ".config/fish", ".config/zsh",
    ".config/plasma-workspace", ".config/git", ".config/nvim", ".local/share/applications",
    ".local/share/dbus-1", ".local/share/systemd", "Library/LaunchAgents", ".ssh",
];

/// What programs of the user run when they start, and folders of programs.
#[rustfmt::skip]
const OF_PROGRAMS: &[&str] = &[
    "bin", ".local/bin", ".local/lib", ".local/share/bash-completion", ".local/share/nautilus", ".local/share/nvim",
    ".config/Code", ".config/Cursor", ".config/Thunar", ".config/VSCodium", ".config/bash", ".config/containers", ".config/direnv", ".config/elvish",
    ".config/emacs", ".config/gdb", ".config/helix", ".config/hypr", ".config/i3", ".config/kitty", ".config/mise", ".config/nushell", ".config/pip", ".config/powershell",
    ".config/starship.toml", ".config/sway", ".config/tmux", ".config/user-tmpfiles.d", ".config/vim", ".config/wezterm", ".config/xonsh", ".config/zed",
    ".bash_completion", ".forward", ".julia/config", ".procmailrc", ".screenrc", ".wezterm.lua", ".xonshrc", ".Xresources",
];

/// Whether it is one of these places in this home, or is called as one.
pub(super) fn is_of_session(path: &Path, home: &Path) -> bool {
    OF_SESSION.iter().any(|name| path.ends_with(name) || path.starts_with(home.join(name)))
}

/// All of them, in this home.
pub(super) fn places(home: &Path) -> impl Iterator<Item = PathBuf> {
    OF_SESSION.iter().chain(OF_PROGRAMS).map(|name| home.join(name))
}
