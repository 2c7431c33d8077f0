//! Finds where a repository leads git to files outside it.
//!
//! Git prints what it finds there: lines of a log, of a list of references it cannot
//! read, of another repository altogether. A clone brings none of this along; an archive
//! or a shared folder does.

use std::path::{Path, PathBuf};

use super::super::paths::{self, PathClass};
use super::super::{Contents, FileKind, Machine, PolicyContext};
use super::settings::GitSetting;
use super::{MOST, RepositorySettings, SingleLine, read_single_line};

/// Settings whose value is a file that git reads, and may print.
const FILES: &[(&str, &str)] = &[
    ("blame", "ignorerevsfile"),
    ("mailmap", "file"),
    ("core", "excludesfile"),
    ("core", "attributesfile"),
    ("diff", "orderfile"),
    ("commit", "template"),
    ("format", "signaturefile"),
    ("fsck", "skiplist"),
    ("fetch", "skiplist"),
    ("receive", "skiplist"),
];

/// Folders of a repository that no step which only reads looks into, and repositories of
/// their own.
const UNREAD: &[&str] = &["hooks", "modules", "lfs", "annex"];

/// Entries of a repository's own folder that are looked at for links.
const MAX_ENTRIES: usize = 8_000;

/// Every place where the repository of `tree` leads out of itself, and where to.
pub fn find_outside_links(
    world: &dyn Machine,
    tree: &Path,
    own: &Path,
    common: &Path,
) -> Vec<(PathBuf, PathBuf)> {
    let real_tree = world.resolve(tree);
    let real_own = world.resolve(own);

    let real_common = world.resolve(common);
    let inside = |path: &Path| path.starts_with(&real_own) || path.starts_with(&real_common);
    let mut out = Vec::new();
    if !real_own.starts_with(&real_tree) && !is_linked_back(world, &real_tree, &real_own) {
        out.push((tree.join(".git"), real_own.clone()));
    }
    if !real_own.starts_with(&real_common) {
        out.push((own.join("commondir"), real_common.clone()));
    }
    let (links, whole) = find_links(world, &real_own, &real_common);
    let led = links.into_iter().map(|link| (world.resolve(&link), link));
    out.extend(led.filter(|(target, _)| !inside(target)).map(|(target, link)| (link, target)));
    if !whole {
        out.push((real_own.clone(), PathBuf::from("/")));
    }
    out.extend(alternates(world, &real_common).into_iter().filter(|(_, to)| !inside(to)));
    out
}

/// The folders of a repository outside its tree, where the repository itself says that they belong
/// to it: of a further working tree or of a submodule.
pub fn linked_places(world: &dyn Machine, tree: &Path, own: &Path, common: &Path) -> Vec<PathBuf> {
    let [tree, own, common] = [tree, own, common].map(|path| world.resolve(path));
    // Both are of one repository, and that names the tree: a tree cannot name another's.
    let is_of_one = own == common || own.starts_with(common.join("worktrees"));
    if !is_of_one || own.starts_with(&tree) || !is_linked_back(world, &tree, &own) {
        return Vec::new();
    }
    vec![common]
}

/// Whether a repository elsewhere says itself that it belongs to this tree: as a further
/// working tree, or as a submodule.
fn is_linked_back(world: &dyn Machine, tree: &Path, own: &Path) -> bool {
    if let SingleLine::Text(text) = read_single_line(world, &own.join("gitdir")) {
        return world.resolve(&own.join(text)) == tree.join(".git");
    }
    let Contents::Bytes(bytes) = world.read(&own.join("config"), MOST) else { return false };
    let entries = super::settings::parse(&bytes).unwrap_or_default();
    entries.iter().any(|entry| {
        (entry.section.as_str(), entry.name.as_str()) == ("core", "worktree")
            && world.resolve(&own.join(&entry.value)) == tree
    })
}

/// The links in a repository's folders; false: there were too many entries to look at.
fn find_links(world: &dyn Machine, own: &Path, common: &Path) -> (Vec<PathBuf>, bool) {
    let mut folders = vec![common.to_owned()];
    if !own.starts_with(common) {
        folders.push(own.to_owned());
    }
    let mut links = Vec::new();
    let mut left = MAX_ENTRIES;

    while let Some(folder) = folders.pop() {
        let entries = world.entries(&folder, left + 1);
        if entries.len() > left {
            return (links, false);
        }
        left -= entries.len();
        for (path, kind) in entries {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            match kind {
                FileKind::Link => links.push(path),
                FileKind::Folder if !is_skipped_folder(name, &folder) => folders.push(path),
                FileKind::File | FileKind::Folder | FileKind::Other => {}
            }
        }
    }
    (links, true)
}

/// Loose objects are in folders of two digits.
fn is_skipped_folder(name: &str, folder: &Path) -> bool {
    let object = name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    UNREAD.contains(&name) || object && folder.ends_with("objects")
}

/// Other repositories whose objects this one shows as its own.
fn alternates(world: &dyn Machine, common: &Path) -> Vec<(PathBuf, PathBuf)> {
    let objects = common.join("objects");
    let file = objects.join("info/alternates");
    match world.read(&file, MOST) {
        Contents::Missing => Vec::new(),
        Contents::Unreadable => vec![(file, PathBuf::from("/"))],
        Contents::Bytes(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
            lines.map(|line| (file.clone(), world.resolve(&objects.join(line)))).collect()
        }
    }
}

/// Those paths that a step may not read unasked, as they are written.
pub fn forbidden_targets(
    settings: &RepositorySettings,
    policy_cx: PolicyContext<'_>,
) -> impl Iterator<Item = String> {
    let closed = settings.outside_links.iter().filter(move |(_, to)| {
        let class = paths::classify(&to.to_string_lossy(), Path::new("/"), policy_cx);
        !matches!(class, PathClass::Inside | PathClass::Public) || !policy_cx.place.can_read(to)
    });
    closed.map(|(from, to)| format!("{} -> {}", from.display(), to.display()))
}

/// Whether a setting names a file that is not of the working tree.
pub fn names_outside_file(
    setting: &GitSetting,
    settings: &RepositorySettings,
    policy_cx: PolicyContext<'_>,
) -> bool {
    let key = (setting.section.as_str(), setting.name.as_str());
    let inside = |tree: &Path| {
        matches!(
            paths::classify(&setting.value, tree, policy_cx),
            PathClass::Inside | PathClass::Public
        )
    };
    FILES.contains(&key)
        && !setting.value.is_empty()
        && setting.value != "/dev/null"
        && !settings.work_trees.iter().any(|(tree, _)| inside(tree))
}
