//! The search path: folders of the project, of the user, and of other agents, in order of
//! precedence. Nothing in here reads a file.

use std::path::{Path, PathBuf};

use super::ExtensionFileKind;
use crate::{Paths, paths};
use avocet_core::i18n::{self, Localize, LocalizedText};

/// One folder of the search path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchDir {
    pub folder: PathBuf,
    pub kind: ExtensionFileKind,
    pub owner: Owner,
    /// The folders links may lead to; empty: any.
    pub link_targets: Vec<PathBuf>,
}

/// The owner of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    pub maker: Maker,
    /// True for a file of the project, false for one of the user.
    pub project: bool,
}

/// The agent whose format a folder has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    Avocet,
    R9s,
    /// `.agents`, which several agents share.
    Agents,
    Claude,
    Gemini,
    /// A plugin of slothtool.
    Plugin,
}

impl Localize for Owner {
    fn localized(&self) -> LocalizedText {
        use i18n::library as w;
        let name = match self.maker {
            Maker::Avocet if self.project => return w::OF_PROJECT.into(),
            Maker::Avocet => return w::OF_USER.into(),
            Maker::Plugin => return w::OF_PLUGIN.into(),
            Maker::R9s => ".r9s",
            Maker::Agents => ".agents",
            Maker::Claude => ".claude",
            Maker::Gemini => ".gemini",
        };
        if self.project { w::OF_PROJECT_IN } else { w::OF_USER_IN }.with("name", name)
    }
}

/// All folders, in order of precedence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPath {
    pub list: Vec<SearchDir>,
    /// Names of built-in commands, which no other command may take; in lower case.
    pub built_in: Vec<String>,
    /// What the folder contains that cannot be used until it is trusted.
    pub untrusted_note: Option<LocalizedText>,
}

/// The folders of other agents in a project or in the user's home.
const FOREIGN: &[(&str, ExtensionFileKind, Maker)] = &[
    (".agents/skills", ExtensionFileKind::Skill, Maker::Agents),
    (".claude/skills", ExtensionFileKind::Skill, Maker::Claude),
    (".claude/commands", ExtensionFileKind::Command, Maker::Claude),
    (".gemini/commands", ExtensionFileKind::Command, Maker::Gemini),
];
/// Further ones in the user's home only.
const OF_HOME: &[(&str, ExtensionFileKind, Maker)] = &[
    (".r9s/bots", ExtensionFileKind::Bot, Maker::R9s),
    (".r9s/commands", ExtensionFileKind::Command, Maker::R9s),
];
const OWN: &[(&str, ExtensionFileKind)] = &[
    ("bots", ExtensionFileKind::Bot),
    ("commands", ExtensionFileKind::Command),
    ("skills", ExtensionFileKind::Skill),
];

/// Number of names in a folder that may be entries, including sub-folders.
fn entries(folder: &Path, depth: usize) -> usize {
    const MAX_FOLDERS: usize = 500;
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_FOLDERS);
    let visible = names.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    let skills = folder.ends_with("skills");
    let count = |entry: std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() && !skills && depth < 4 => entries(&entry.path(), depth + 1),
        Ok(_) => 1,
        Err(_) => 0,
    };
    visible.map(count).sum()
}

impl SearchPath {
    /// `project` is the working folder, if it is trusted: nothing is read from an untrusted folder.
    pub fn new(paths: &Paths, project: Option<&Path>, built_in: &[&str]) -> SearchPath {
        let roots = project.map(paths::project_roots).unwrap_or_default();
        let within: Vec<PathBuf> = roots
            .iter()
            .flat_map(|root| paths::STEERING.iter().map(|name| root.join(name)))
            .collect();
        let of_project = |folder: PathBuf, kind, maker| {
            let owner = Owner { maker, project: true };
            SearchDir { folder, kind, owner, link_targets: within.clone() }
        };
        let of_person = |folder: PathBuf, kind, maker| {
            let owner = Owner { maker, project: false };
            SearchDir { folder, kind, owner, link_targets: Vec::new() }
        };
        let mut list = Vec::new();
        for root in roots.iter().rev() {
            let own = OWN.iter().map(|(name, kind)| (root.join(".avocet").join(name), *kind));
            list.extend(own.map(|(folder, kind)| of_project(folder, kind, Maker::Avocet)));
        }
        let own = OWN.iter().map(|(name, kind)| (paths.config.join(name), *kind));
        list.extend(own.map(|(folder, kind)| of_person(folder, kind, Maker::Avocet)));
        for root in roots.iter().rev() {
            let foreign = FOREIGN.iter();
            list.extend(
                foreign.map(|(name, kind, maker)| of_project(root.join(name), *kind, *maker)),
            );
        }
        let foreign = OF_HOME.iter().chain(FOREIGN);
        list.extend(
            foreign.map(|(name, kind, maker)| of_person(paths.home.join(name), *kind, *maker)),
        );
        SearchPath {
            list: dedup_folders(list),
            built_in: built_in.iter().map(|name| name.to_lowercase()).collect(),
            untrusted_note: None,
        }
    }

    /// The same folders, and last those of the plugins that the user installed.
    #[must_use]
    pub fn with_plugins(mut self, roots: impl IntoIterator<Item = PathBuf>) -> SearchPath {
        let owner = Owner { maker: Maker::Plugin, project: false };
        for root in roots {
            let own = OWN.iter().filter(|(_, kind)| *kind != ExtensionFileKind::Bot);
            self.list.extend(own.map(|(name, kind)| SearchDir {
                folder: root.join(name),
                kind: *kind,
                owner,
                link_targets: vec![root.clone()],
            }));
        }
        self
    }

    /// The same folders, and a note about the contents of an untrusted folder. Only names are
    /// counted; no file is opened.
    #[must_use]
    pub fn with_untrusted(self, folder: &Path) -> SearchPath {
        let own = OWN.iter().map(|(name, kind)| (Path::new(".avocet").join(name), *kind));
        let foreign = FOREIGN.iter().map(|(name, kind, _)| (PathBuf::from(name), *kind));
        let all: Vec<(PathBuf, ExtensionFileKind)> = own.chain(foreign).collect();
        let count = |kind: ExtensionFileKind| -> usize {
            let of_kind = all.iter().filter(|(_, known)| *known == kind);
            of_kind.map(|(name, _)| entries(&folder.join(name), 0)).sum()
        };
        let counts = [
            (
                count(ExtensionFileKind::Skill),
                i18n::library::WAIT_SKILL,
                i18n::library::WAIT_SKILLS,
            ),
            (
                count(ExtensionFileKind::Command),
                i18n::library::WAIT_COMMAND,
                i18n::library::WAIT_COMMANDS,
            ),
            (count(ExtensionFileKind::Bot), i18n::library::WAIT_BOT, i18n::library::WAIT_BOTS),
        ];
        let mut found = counts.into_iter().filter(|(count, ..)| *count > 0);
        let said = |(count, one, many): (usize, i18n::Phrase, i18n::Phrase)| {
            i18n::plural(count, one, many)
        };
        let first = found.next().map(said);
        let what = found.fold(first, |what, next| {
            what.map(|what| i18n::library::WAIT_AND.with("one", what).with("other", said(next)))
        });
        let waiting = what.map(|what| i18n::library::WAITING.with("what", what));
        SearchPath { untrusted_note: waiting, ..self }
    }

    pub fn of_kind(&self, kind: ExtensionFileKind) -> impl Iterator<Item = &SearchDir> {
        self.list.iter().filter(move |place| place.kind == kind)
    }

    /// The user's own folder.
    pub fn user_folder(&self, kind: ExtensionFileKind) -> PathBuf {
        let owner = Owner { maker: Maker::Avocet, project: false };
        let mut places = self.of_kind(kind);
        places
            .find(|place| place.owner == owner)
            .map(|place| place.folder.clone())
            .unwrap_or_default()
    }

    pub fn is_built_in(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.built_in.contains(&name)
    }
}

/// If the working folder is the home folder, the same folder is listed twice; it then counts as the
/// user's, not the project's.
fn dedup_folders(dirs: Vec<SearchDir>) -> Vec<SearchDir> {
    let personal: Vec<PathBuf> = dirs
        .iter()
        .filter(|place| !place.owner.project)
        .map(|place| place.folder.clone())
        .collect();
    dirs.into_iter()
        .filter(|place| !place.owner.project || !personal.contains(&place.folder))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(places: &SearchPath, kind: ExtensionFileKind, root: &Path) -> Vec<String> {
        let shown = |place: &SearchDir| {
            let inside = place.folder.strip_prefix(root).unwrap();
            inside.display().to_string()
        };
        places.of_kind(kind).map(shown).collect()
    }

    #[test]
    fn the_project_comes_before_the_user_and_both_before_other_agents() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("repo/deep");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir_all(root.path().join("repo/.git")).unwrap();
        let paths = Paths::with_root(&root.path().join("own"), root.path().join("home"));
        let places = SearchPath::new(&paths, Some(&deep), &[]);
        assert_eq!(
            folders(&places, ExtensionFileKind::Command, root.path()),
            [
                "repo/deep/.avocet/commands",
                "repo/.avocet/commands",
                "own/commands",
                "repo/deep/.claude/commands",
                "repo/deep/.gemini/commands",
                "repo/.claude/commands",
                "repo/.gemini/commands",
                "home/.r9s/commands",
                "home/.claude/commands",
                "home/.gemini/commands",
            ]
        );
        let stranger = SearchPath::new(&paths, None, &[]);
        assert_eq!(
            folders(&stranger, ExtensionFileKind::Bot, root.path()),
            ["own/bots", "home/.r9s/bots"]
        );
        assert!(stranger.list.iter().all(|place| !place.owner.project));
    }

    #[test]
    fn in_the_home_folder_each_folder_is_listed_once() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::with_root(&home.path().join("own"), home.path().to_owned());
        let places = SearchPath::new(&paths, Some(home.path()), &[]);
        let skills: Vec<_> =
            places.of_kind(ExtensionFileKind::Skill).map(|place| place.owner).collect();
        let claude = Owner { maker: Maker::Claude, project: false };
        assert_eq!(skills.iter().filter(|owner| **owner == claude).count(), 1);
        assert_eq!(skills.iter().filter(|owner| owner.maker == Maker::Claude).count(), 1);
    }
}
