//! `/worktrees`: lists, shows and removes the worktrees of the project, and merges one, which is a
//! turn without a model: a line for the user's shell that the user is asked about.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::job_place::BackgroundUse;
use super::persistence::format_time;
use super::shell_turn;
use super::state::Session;
use super::turn_messages::FinishedTurn;
use super::turn_scope::TurnScope;
use crate::context::history::TurnRecord;
use avocet_core::i18n::{LocalizedText, Phrase, worktrees as phrases};
use avocet_core::protocol::{
    Event, Notice, Page, PageRow, TurnOrigin, TurnOutcome, Usage, WorktreeRequest,
};
use avocet_safety::redact::Redactor;
use avocet_safety::{self as safety, Verdict};
use avocet_tools::git_worktree::{WorktreeRepository, WorktreeState, branch_of, shortened};

/// Git is asked while everything else goes on.
pub(super) fn answer_request(session: &Session, request: WorktreeRequest) {
    let folder = session.security.place.cwd.clone();
    let redactor = Arc::clone(&session.security.redactor);
    let mut outbox = session.outbox.clone();
    tokio::spawn(async move {
        let event = match request {
            WorktreeRequest::List => page(list(&folder).await.map(|mut rows| {
                rows.push(PageRow::line(if rows.is_empty() {
                    phrases::NONE
                } else {
                    phrases::HOW
                }));
                rows
            })),
            WorktreeRequest::Show { name } => page(show(&folder, &name, &redactor).await),
            WorktreeRequest::Remove { name, with_files } => {
                let removed = remove(&folder, &name, with_files).await;
                Event::Notice(removed.map_or_else(Notice::warning, Notice::info))
            }
        };
        outbox.send(event).await;
    });
}

pub(super) async fn start_merge(session: &mut Session, name: String) {
    if session.is_undo_blocked() {
        return session.notify(Notice::warning(phrases::MERGE_BUSY)).await;
    }
    let folder = session.security.place.cwd.clone();
    session.start_turn(|scope| merge(folder, name, scope));
}

fn page(rows: Result<Vec<PageRow>, LocalizedText>) -> Event {
    let rows = rows.unwrap_or_else(|why| vec![PageRow::line(why)]);
    Event::Page(Box::new(Page { title: phrases::TITLE.into(), rows }))
}

/// One row each.
///
/// # Errors
/// The folder has no repository.
pub async fn list(folder: &Path) -> Result<Vec<PageRow>, LocalizedText> {
    let repository = WorktreeRepository::find(folder).await?;
    let mut rows = Vec::new();
    for name in repository.names().await {
        let about = repository.state(&name).await.map(|state| describe(&name, &state));
        rows.push(PageRow::pair(name, about.unwrap_or_else(|why| why)));
    }
    Ok(rows)
}

fn describe(name: &str, state: &WorktreeState) -> LocalizedText {
    let phrase = match state {
        WorktreeState { is_gone: true, .. } => phrases::ROW_GONE,
        WorktreeState { is_in_use: true, .. } => phrases::ROW_IN_USE,
        WorktreeState { .. } => phrases::ROW,
    };
    let text = phrase.with("commits", state.commits.len()).with("branch", branch_of(name));
    text.with("files", state.uncommitted.len()).with("when", format_time(state.made_ms))
}

async fn show(
    folder: &Path,
    name: &str,
    redactor: &Redactor,
) -> Result<Vec<PageRow>, LocalizedText> {
    let repository = WorktreeRepository::find(folder).await?;
    let state = repository.state(name).await?;
    let mut rows = vec![
        PageRow::pair(name, describe(name, &state)),
        PageRow::pair(phrases::BRANCH, branch_of(name)),
    ];
    let parts: [(Phrase, Vec<String>); 3] = [
        (phrases::COMMITS, state.commits),
        (phrases::CHANGES, repository.diff_stat(name).await),
        (phrases::UNCOMMITTED, state.uncommitted),
    ];
    for (label, list) in parts.into_iter().filter(|(_, list)| !list.is_empty()) {
        rows.push(PageRow::Heading(label.into()));
        let text = redactor.mask(&shortened(&list)).into_owned();
        rows.extend(text.lines().map(PageRow::line));
    }
    Ok(rows)
}

/// Removes one, and says so. `with_files`: also with files that are in no commit.
///
/// # Errors
/// What would be lost, or why it cannot be removed.
pub async fn remove(
    folder: &Path,
    name: &str,
    with_files: bool,
) -> Result<LocalizedText, LocalizedText> {
    WorktreeRepository::find(folder).await?.remove(name, with_files).await?;
    Ok(phrases::REMOVED.with("name", name))
}

/// The names of those that can be removed with no loss.
///
/// # Errors
/// The folder has no repository.
pub async fn removable(folder: &Path) -> Result<Vec<String>, LocalizedText> {
    let repository = WorktreeRepository::find(folder).await?;
    let mut names = Vec::new();
    for name in repository.names().await {
        if repository.check_removal(&name, false).await.is_ok() {
            names.push(name);
        }
    }
    Ok(names)
}

async fn merge(folder: PathBuf, name: String, mut scope: TurnScope) -> FinishedTurn {
    scope.begin(format!("/worktrees merge {name}"), TurnOrigin::Command);
    let line = match WorktreeRepository::find(&folder).await {
        Ok(repository) => repository.merge_line(&name).await,
        Err(why) => Err(why),
    };
    let line = line
        .and_then(|line| line.ok_or_else(|| phrases::NOTHING_TO_MERGE.with("name", name.as_str())));
    let line = match line {
        Ok(line) => line,
        Err(why) => {
            scope.events.emit(Event::Notice(Notice::warning(why))).await;
            return scope.end(TurnOutcome::Done, TurnRecord::default(), Usage::default()).await;
        }
    };
    let id = scope.next_step_id();
    let verdict = match safety::assess_shell(&id, &line, scope.policy_context()) {
        Verdict::Run(cleared) => Verdict::Ask(cleared.into_needs_approval()),
        verdict => verdict,
    };
    let (ending, observation) =
        shell_turn::run_or_ask(verdict, BackgroundUse::Never, &mut scope).await;
    let record = shell_turn::turn_record(&line, &observation);
    scope.end(ending, record, Usage::default()).await
}
