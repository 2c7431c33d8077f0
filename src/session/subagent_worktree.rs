//! The worktree of a subagent: made before it begins, and reported, or removed again if nothing was
//! changed, when it ends.

use std::sync::Arc;

use super::turn_scope::TurnScope;
use super::worktree_access::FolderTools;
use avocet_config::extensions::AgentDefinition;
use avocet_core::i18n::{Lang, LocalizedText, agents, safety, worktrees as phrases};
use avocet_core::protocol::{ApprovalMode, Observation, SubagentInfo};
use avocet_safety::SubagentTask;
use avocet_tools::git_worktree::{Worktree, WorktreeRepository, name_from};

/// What a language server knows is the folder of the session.
const OF_FOLDER: &[&str] =
    &["code.symbols", "code.definition", "code.references", "code.hover", "code.rename"];

pub(super) struct SubagentWorktree {
    worktree: Worktree,
    tools: FolderTools,
}

impl SubagentWorktree {
    /// Makes one if the task or the definition says so.
    pub async fn open(
        scope: &TurnScope,
        task: &SubagentTask,
        definition: &AgentDefinition,
    ) -> Result<Option<SubagentWorktree>, LocalizedText> {
        if !task.worktree && !definition.worktree {
            return Ok(None);
        }
        let refuses = !scope.judge.is_trusted() || scope.judge.mode() == ApprovalMode::Plan;
        let access = scope.shared.worktrees.as_ref().filter(|_| !refuses);
        let access = access.ok_or(phrases::NO_AGENT_HERE)?;
        let make = async {
            let repository = WorktreeRepository::find(scope.judge.folder()).await?;
            repository.create(&name_from(&task.description), &access.copied).await
        };
        let made = scope.context.cancel.run_until_cancelled(make).await;
        let stopped = || agents::STOPPED.with("name", definition.name.as_str());
        let worktree = made.unwrap_or_else(|| Err(stopped()))?;
        let tools = (access.tools_in)(&worktree.path);
        Ok(Some(SubagentWorktree { worktree, tools }))
    }

    /// The turn works in it from now on. Returns what its task says of that.
    pub fn enter(&self, turn: &mut TurnScope, info: &mut SubagentInfo) -> String {
        let FolderTools { place, world, tools } = &self.tools;
        turn.judge.set_folder(place.clone(), Arc::clone(world));
        let context = &mut turn.context;
        let tools = context.tools.replacing(tools).without(OF_FOLDER);
        context.tools = tools.with_checker(None);
        context.system.tools = context.tools.clone();
        info.folder = self.worktree.path.display().to_string();
        context.system.cwd.clone_from(&info.folder);
        let notices = self.worktree.notices();
        let about: Vec<String> = notices.iter().map(|notice| notice.text(Lang::En)).collect();
        format!("\n\n(You work in a git worktree, {}. {})", info.folder, about.join(" "))
    }

    /// Says in the result what was done in it.
    pub async fn end(self, observation: &mut Observation, written: &[&str]) {
        let name = self.worktree.name.clone();
        let branch = self.worktree.branch();
        let report = self.worktree.finish(written).await;
        if report.is_some() {
            let place = phrases::OF_AGENT.with("name", name.as_str()).with("branch", branch);
            observation.note = Some(match observation.note.take() {
                Some(note) => safety::NOTES.with("first", note).with("next", place),
                None => place,
            });
        }
        let report = report.unwrap_or_else(|| {
            format!("Nothing was changed in the worktree {name}, and it was removed.")
        });
        observation.stdout = format!("{}\n\n{report}", observation.stdout).trim().to_owned();
    }
}
