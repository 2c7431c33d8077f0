//! Finds out whether a step of git signs what it records, and with which program: it needs the
//! user's keys then, or the agent that holds them.

use super::Contents;
use super::repository::{self, GitSetting};
use super::spec::JudgeContext;

/// Sub-commands that record a commit or a tag.
const RECORDS: &[&str] =
    &["commit", "merge", "rebase", "cherry-pick", "revert", "am", "tag", "pull"];

/// The most of a settings file that is read, in bytes.
const MOST: usize = 256 * 1024;

/// The rule by which keys are opened to it: `git-signs.gpg`; `None`: it signs nothing.
pub fn signing_rule(sub: &str, args: &[String], ground: &JudgeContext<'_>) -> Option<&'static str> {
    if !RECORDS.contains(&sub) {
        return None;
    }
    let (world, home) = (ground.scene.world, &ground.scene.place.home);
    let files = [".gitconfig", ".config/git/config"].map(|name| world.read(&home.join(name), MOST));
    let mut settings: Vec<GitSetting> = files
        .into_iter()
        .filter_map(|file| match file {
            Contents::Bytes(bytes) => repository::parse(&bytes),
            Contents::Missing | Contents::Unreadable => None,
        })
        .flatten()
        .collect();
    let here = repository::read(world, &world.resolve(&ground.cwd));
    settings.extend(here.settings.into_iter().map(|(setting, _)| setting));
    let value = |section: &str, name: &str| {
        let fits = |setting: &&GitSetting| setting.section == section && setting.name == name;
        settings.iter().rev().find(fits).map(|setting| setting.value.to_ascii_lowercase())
    };
    let is_on = |section: &str| {
        value(section, "gpgsign")
            .is_some_and(|value| ["true", "yes", "on", "1", ""].contains(&value.as_str()))
    };
    let asked = args.iter().any(|arg| {
        arg.starts_with("-S")
            || arg.starts_with("--gpg-sign")
            || sub == "tag" && ["-s", "-u", "--sign"].contains(&arg.as_str())
    });
    let off = args.iter().any(|arg| arg == "--no-gpg-sign");
    let set = if sub == "tag" { is_on("tag") } else { is_on("commit") };
    let signs = asked || set && !off;
    signs.then(|| match value("gpg", "format").as_deref() {
        Some("ssh") => "git-signs.ssh",
        _ => "git-signs.gpg",
    })
}
