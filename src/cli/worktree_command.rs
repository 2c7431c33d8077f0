//! The arguments of `avocet worktrees`.

use clap::Subcommand;

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum WorktreeCommand {
    /// List the worktrees of this folder's repository.
    #[command(after_help = "Example:\n  avocet worktrees list --json")]
    List,
    /// Remove a worktree and its branch; with -y also with files that are in no commit.
    #[command(after_help = "Example:\n  avocet worktrees remove fix")]
    Remove {
        /// The name of a worktree.
        name: String,
    },
    /// Remove all worktrees that have nothing of their own; asks first.
    #[command(after_help = "Example:\n  avocet worktrees prune -y")]
    Prune,
}
