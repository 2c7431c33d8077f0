//! The files of a workspace that the settings of git name: hooks in a folder of the project, a
//! settings file that is included, a program. Who changes one changes what git does.

use std::path::{Path, PathBuf};

use super::super::{Contents, PolicyContext};
use super::settings::{self, GitSetting};
use super::{MOST, read};

/// Settings whose file is only read as text.
const HARMLESS: &[(&str, &str)] = &[
    ("commit", "template"),
    ("core", "excludesfile"),
    ("core", "worktree"),
    ("blame", "ignorerevsfile"),
    ("diff", "orderfile"),
    ("format", "signaturefile"),
    ("mailmap", "file"),
];

/// Where the user's and the machine's own settings are.
const OF_USER: &[&str] = &[".gitconfig", ".config/git/config"];
const OF_MACHINE: &str = "/etc/gitconfig";

/// Whether the settings of the repository around a file, or of the user, name it. The path is
/// absolute, and its links are resolved.
pub fn is_named_by_settings(path: &Path, policy_cx: PolicyContext<'_>) -> bool {
    let Some(folder) = path.parent() else { return false };
    let found = read(policy_cx.world, folder);
    let trees: Vec<PathBuf> = found.work_trees.iter().map(|(tree, _)| tree.clone()).collect();
    let of_user = user_settings(policy_cx);
    let all = found.settings.iter().chain(&of_user);
    let mut named =
        all.filter(|(entry, _)| !HARMLESS.contains(&(entry.section.as_str(), entry.name.as_str())));
    named.any(|(entry, from)| {
        trees.iter().chain([from]).any(|base| names(entry, base, path, policy_cx))
    })
}

fn user_settings(policy_cx: PolicyContext<'_>) -> Vec<(GitSetting, PathBuf)> {
    let own = OF_USER.iter().map(|file| policy_cx.place.home.join(file));
    let mut out = Vec::new();
    for file in own.chain([PathBuf::from(OF_MACHINE)]) {
        let Contents::Bytes(bytes) = policy_cx.world.read(&file, MOST) else { continue };
        let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
        let entries = settings::parse(&bytes).unwrap_or_default();
        out.extend(entries.into_iter().map(|entry| (entry, folder.clone())));
    }
    out
}

/// A value may be a folder of hooks, a file, or a command in which words are files.
fn names(setting: &GitSetting, base: &Path, path: &Path, policy_cx: PolicyContext<'_>) -> bool {
    let is_at = |text: &str| {
        let text = text.strip_prefix("%(prefix)/").unwrap_or(text);
        policy_cx.resolve(text, base)
    };
    if (setting.section.as_str(), setting.name.as_str()) == ("core", "hookspath") {
        let hooks = is_at(&setting.value);
        return !setting.value.is_empty() && path.starts_with(&hooks);
    }
    let words = setting.value.split(|c: char| c.is_whitespace() || "!;&|<>()'\"=".contains(c));
    let mut texts = words.chain([setting.value.as_str()]).filter(|text| !text.is_empty());
    texts.any(|text| is_at(text) == path)
}
