//! Finds out what a step of git does beside the user's keys: whether it signs what it records, and
//! with which program, and which hooks it may run.

use std::path::{Path, PathBuf};

use super::repository::{self, GitSetting, HOOKS, RepositorySettings};
use super::spec::JudgeContext;
use super::tools::digest;
use super::{Contents, PathKind, PolicyContext, paths};
use avocet_core::i18n::{LocalizedText, safety as phrases};

/// Sub-commands that record a commit or a tag.
const RECORDS: &[&str] =
    &["commit", "merge", "rebase", "cherry-pick", "revert", "am", "tag", "pull"];

/// The most of a settings file that is read, in bytes.
const MAX_BYTES: usize = 256 * 1024;
/// The same of a hook.
const MAX_HOOK: usize = 4 * 1024 * 1024;

/// The settings of the user and then of the repository: the last one of a name counts.
fn read_settings(
    args: &[String],
    cwd: &Path,
    policy_cx: PolicyContext<'_>,
) -> (Vec<GitSetting>, RepositorySettings) {
    let world = policy_cx.world;
    let home = &policy_cx.place.home;

    let files =
        [".gitconfig", ".config/git/config"].map(|name| world.read(&home.join(name), MAX_BYTES));
    let of_user = files.into_iter().filter_map(|file| match file {
        Contents::Bytes(bytes) => repository::parse(&bytes),
        Contents::Missing | Contents::Unreadable => None,
    });
    let mut settings: Vec<GitSetting> = of_user.flatten().collect();
    let mut folder = cwd.to_owned();
    let mut words = args.iter();
    while words.next().is_some_and(|word| word == "-C") {
        folder.push(words.next().map_or("", String::as_str));
    }
    let here = repository::read(world, &world.resolve(&folder));
    settings.extend(here.settings.iter().map(|(setting, _)| setting.clone()));
    (settings, here)
}

/// The hooks of a repository.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RepositoryHooks {
    folder: PathBuf,
    /// Those that are there, by name: they run with what is opened to the step.
    pub names: Vec<&'static str>,
}

/// Finds the hooks that a command of git may run.
pub fn find_hooks(args: &[String], cwd: &Path, policy_cx: PolicyContext<'_>) -> RepositoryHooks {
    let (settings, here) = read_settings(args, cwd, policy_cx);
    let Some((tree, objects)) = here.work_tree() else { return RepositoryHooks::default() };
    let names_folder = |setting: &&GitSetting| {
        (setting.section.as_str(), setting.name.as_str()) == ("core", "hookspath")
    };
    let folder = match settings.iter().rev().find(names_folder) {
        Some(setting) => paths::absolute(&setting.value, tree, &policy_cx.place.home),
        None => objects.with_file_name("hooks"),
    };
    let is_there = |name: &&str| policy_cx.world.kind(&folder.join(name)) == PathKind::File;
    let names = HOOKS.iter().copied().filter(is_there).collect();
    RepositoryHooks { folder, names }
}

/// Whether a push may go to a repository in the workspace: its hooks are files of the project.
pub fn pushes_into_workspace(args: &[String], context: &JudgeContext<'_>) -> bool {
    let policy_cx = context.policy_cx;
    let (settings, here) = read_settings(args, &context.cwd, policy_cx);
    let tree = here.work_tree().map_or(context.cwd.as_path(), |(tree, _)| tree);
    let given = args.iter().skip_while(|arg| *arg != "push").skip(1);
    let named: Vec<&str> = given
        .filter_map(|arg| match arg.strip_prefix('-') {
            Some(option) => option.split_once('=').map(|(_, value)| value),
            None => Some(arg.as_str()),
        })
        .collect();
    let is_remote = |setting: &&GitSetting| {
        setting.section == "remote" && ["url", "pushurl"].contains(&setting.name.as_str())
    };
    let is_of = |setting: &GitSetting, name: &str| setting.subsection.as_deref() == Some(name);
    let urls = settings.iter().filter(is_remote);
    let mut names = named.iter().copied();
    let chosen = names.find(|name| urls.clone().any(|url| is_of(url, name)));
    let urls = urls.filter(|url| match chosen {
        Some(name) => is_of(url, name),
        // Another address is given, or the repository says which.
        None => named.is_empty(),
    });
    // Without an address a branch says which, by a name that may be that of a folder.
    let of_branches = settings.iter().filter(|setting| {
        let is_remote = ["remote", "pushremote", "pushdefault"].contains(&setting.name.as_str());
        named.is_empty() && is_remote && ["branch", "remote"].contains(&setting.section.as_str())
    });
    // Git still reads remotes of an older form from files.
    let is_in_file = |name: &str| {
        let file = |folder: &str| tree.join(".git").join(folder).join(name);
        let is_file = |folder| policy_cx.world.kind(&file(folder)) == PathKind::File;
        ["remotes", "branches"].into_iter().any(is_file)
    };
    let is_repository = |place: &str| {
        let place = place.strip_prefix("file://").unwrap_or(place);
        [tree, &context.cwd].into_iter().any(|folder| {
            let path =
                policy_cx.world.resolve(&paths::absolute(place, folder, &policy_cx.place.home));
            let marks = ["HEAD", ".git/HEAD", ".git"];
            policy_cx.place.contains(&path)
                && marks.iter().any(|name| policy_cx.world.kind(&path.join(name)) == PathKind::File)
        })
    };
    let urls = urls.chain(of_branches).map(|setting| setting.value.as_str());
    named.iter().copied().chain(["origin"]).any(is_in_file)
        || named.iter().copied().chain(urls).any(is_repository)
}

impl RepositoryHooks {
    /// The sentence that names them, and says whether they changed since the folder was trusted.
    pub fn named(&self, policy_cx: PolicyContext<'_>) -> LocalizedText {
        let say = match &policy_cx.place.trusted_hooks {
            // Of another repository nothing is known.
            Some(known)
                if find_hooks(&[], &policy_cx.place.workspace, policy_cx).folder == self.folder =>
            {
                if *known == self.digest(policy_cx) {
                    phrases::SANDBOX_HOOKS_SAME
                } else {
                    phrases::SANDBOX_HOOKS_CHANGED
                }
            }
            Some(_) | None => phrases::SANDBOX_HOOKS,
        };
        say.with("hooks", self.names.join(", "))
    }

    fn digest(&self, policy_cx: PolicyContext<'_>) -> String {
        let content = |name: &&str| match policy_cx.world.read(&self.folder.join(name), MAX_HOOK) {
            Contents::Bytes(bytes) => format!("{name} {}\n", digest(&bytes)),
            Contents::Missing | Contents::Unreadable => format!("{name}\n"),
        };
        digest(self.names.iter().map(content).collect::<String>().as_bytes())
    }
}

/// The hooks of the workspace's repository as they are, to tell later whether they changed.
pub fn hooks_digest(policy_cx: PolicyContext<'_>) -> String {
    find_hooks(&[], &policy_cx.place.workspace, policy_cx).digest(policy_cx)
}

/// The rule by which keys are opened to it: `git-signs.gpg`; `None`: it signs nothing.
pub fn signing_rule(
    sub: &str,
    args: &[String],
    context: &JudgeContext<'_>,
) -> Option<&'static str> {
    if !RECORDS.contains(&sub) {
        return None;
    }
    let (settings, _) = read_settings(args, &context.cwd, context.policy_cx);
    let value = |section: &str, name: &str| {
        let fits = |setting: &&GitSetting| setting.section == section && setting.name == name;
        settings.iter().rev().find(fits).map(|setting| setting.value.to_ascii_lowercase())
    };
    let is_on = |section: &str| {
        value(section, "gpgsign")
            .is_some_and(|value| ["true", "yes", "on", "1", ""].contains(&value.as_str()))
    };
    let asked = args.iter().any(|arg| {
        arg.starts_with("-S") || arg.starts_with("--gpg-sign") || sub == "tag" && signs_tag(arg)
    });
    let off = args.iter().any(|arg| arg == "--no-gpg-sign");
    let set = if sub == "tag" { is_on("tag") } else { is_on("commit") };
    let signs = asked || set && !off;
    signs.then(|| match value("gpg", "format").as_deref() {
        Some("ssh") => "git-signs.ssh",
        _ => "git-signs.gpg",
    })
}

/// `-s`, `-sm`, `-uKEY`, `--local-user=KEY`: letters may be joined, until one that takes a value.
fn signs_tag(arg: &str) -> bool {
    match (arg.strip_prefix("--"), arg.strip_prefix('-')) {
        (Some(long), _) => {
            long == "sign" || long.split('=').next().is_some_and(|name| name == "local-user")
        }
        (None, Some(letters)) => {
            let mut letters = letters.chars().take_while(|letter| !"mFn".contains(*letter));
            letters.any(|letter| letter == 's' || letter == 'u')
        }
        (None, None) => false,
    }
}
