//! The worktrees below a folder that is worked in. A session that works in one guards its files; of
//! those that are not in use they are guarded here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::git_worktree::is_in_use;
use avocet_safety::steering::WORKTREES;

/// The worktree below a root in which a path is.
pub(super) fn worktree_of<'a>(root: &Path, path: &'a Path) -> Option<&'a Path> {
    let inside = path.ancestors().take_while(|above| *above != root);
    let is_one = |above: &&Path| above.parent().is_some_and(|it| it.ends_with(WORKTREES));
    inside.filter(is_one).last()
}

/// The worktrees that were met, and whether their files are guarded.
pub(super) struct UnusedWorktrees<'a> {
    /// Those that were unused before the step; `None`: it is not begun.
    before: Option<&'a BTreeSet<PathBuf>>,
    met: BTreeMap<PathBuf, bool>,
}

impl<'a> UnusedWorktrees<'a> {
    pub fn new(before: Option<&'a BTreeSet<PathBuf>>) -> UnusedWorktrees<'a> {
        UnusedWorktrees { before, met: BTreeMap::new() }
    }

    /// Whether a file below a root is guarded here.
    pub fn allow(&mut self, root: &Path, path: &Path) -> bool {
        let Some(worktree) = worktree_of(root, path) else { return true };
        if let Some(known) = self.met.get(worktree) {
            return *known;
        }
        // The files of a new one, or of one that was removed, are not a step's change.
        let was_unused = self.before.is_none_or(|before| before.contains(worktree));
        let is_unused = was_unused && worktree.is_dir() && !is_in_use(worktree);
        self.met.insert(worktree.to_owned(), is_unused);
        is_unused
    }

    pub fn unused(self) -> BTreeSet<PathBuf> {
        self.met.into_iter().filter_map(|(path, is_unused)| is_unused.then_some(path)).collect()
    }
}
