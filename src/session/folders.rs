//! Folders that the user adds to a session, `/add-dir` and `--add-dir`, and its mode: which steps ask.

use std::path::PathBuf;

use super::persistence::Replay;
use super::state::Session;
use avocet_core::i18n::{LocalizedText, session as phrases};
use avocet_core::protocol::{ApprovalMode, Event, Notice, PromptSize, SandboxStatus, Topic};
use avocet_core::text::visible;
use avocet_safety::{Machine, PathKind, Workspace, absolute};

/// The folder that a text names, with links resolved, if it may be added.
///
/// # Errors
/// A sentence with the reason.
pub fn resolve_added_folder(
    text: &str,
    workspace: &Workspace,
    world: &dyn Machine,
) -> Result<PathBuf, LocalizedText> {
    let folder = world.resolve(&absolute(text, &workspace.cwd, &workspace.home));
    let shown = folder.display().to_string();
    if world.kind(&folder) != PathKind::Folder {
        return Err(phrases::ADD_NO_FOLDER.with("path", shown));
    }
    match workspace.reason_not_to_add(&folder) {
        Some(why) => Err(why.with("path", shown)),
        None => Ok(folder),
    }
}

impl Session {
    pub(super) async fn add_folder(&mut self, text: &str) {
        let notice =
            match resolve_added_folder(text, &self.security.place, self.security.world.as_ref()) {
                Err(why) => Notice::error(why),
                Ok(folder) => {
                    let path = folder.display().to_string();
                    if self.security.place.contains(&folder) {
                        Notice::info(phrases::ADD_KNOWN.with("path", path))
                    } else {
                        self.security.place.added.push(folder);
                        self.info.added.push(path.clone());
                        self.store
                            .recorder()
                            .append(&Event::FolderAdded { path: path.clone() })
                            .await;
                        self.tell_servers_of_folders();
                        self.send_info().await;
                        Notice::info(phrases::ADDED_FOLDER.with("path", path))
                    }
                }
            };
        self.notify(notice).await;
    }

    /// A new session keeps the folders that were added to the one before it.
    pub(super) async fn record_folders(&mut self) {
        let added = self.security.place.added.iter().skip(self.command_line_folders);
        let paths: Vec<String> = added.map(|folder| folder.display().to_string()).collect();
        let recorder = self.store.recorder();
        for path in paths {
            recorder.append(&Event::FolderAdded { path }).await;
        }
        if !self.info.approval.is_default() {
            recorder.append(&Event::ApprovalModeSet { mode: self.info.approval }).await;
        }
    }

    /// Which steps ask from now on. Saved: a resumed session goes on in its mode.
    pub(super) async fn set_approval_mode(&mut self, mode: ApprovalMode) {
        if let Some(notice) = self.reason_against(mode) {
            // A frontend may show it already.
            self.send_info().await;
            return self.notify(notice).await;
        }
        self.apply_approval_mode(mode);
        self.store.recorder().append(&Event::ApprovalModeSet { mode }).await;
        self.send_info().await;
    }

    /// Why a mode cannot answer anything here: nothing would hold what it lets run.
    fn reason_against(&self, mode: ApprovalMode) -> Option<Notice> {
        use SandboxStatus::{Held, Unknown};
        let place = &self.security.place;
        let shelter = self.info.shelter;

        match mode {
            ApprovalMode::Auto if !place.trusted => {
                Some(Notice::warning(phrases::AUTO_UNTRUSTED).with_hint(phrases::TRUST_HOW))
            }
            ApprovalMode::Auto if ![Held, Unknown].contains(&shelter) => {
                Some(Notice::warning(phrases::AUTO_NO_SANDBOX))
            }
            ApprovalMode::Ask | ApprovalMode::Edits | ApprovalMode::Auto | ApprovalMode::Plan => {
                None
            }
        }
    }

    /// Goes back to questions where it turns out that the mode cannot answer them.
    pub(super) async fn leave_unheld_mode(&mut self) {
        if let Some(notice) = self.reason_against(self.info.approval) {
            self.set_approval_mode(ApprovalMode::Ask).await;
            self.notify(notice).await;
        }
    }

    fn apply_approval_mode(&mut self, mode: ApprovalMode) {
        self.info.approval = mode;
        self.security.policy.approval = mode;
        self.policy.send_replace(self.security.policy.clone());
    }

    /// The mode of the resumed session, unless the command line named one; that of the settings if
    /// it never had one of its own.
    pub(super) async fn restore_approval_mode(&mut self, approval_mode: Option<ApprovalMode>) {
        let mode = match self.command_line_mode {
            Some(_) => Some(self.info.approval),
            // Whose words go on in a chat is not known yet.
            None if self.store.replay == Replay::End => {
                approval_mode.filter(|mode| !mode.answers())
            }
            None => approval_mode.or(Some(self.mode_of_settings)),
        };
        let mode = mode.unwrap_or_default();
        if mode != self.info.approval {
            self.apply_approval_mode(mode);
            self.send_info().await;
        }
        if self.command_line_mode.is_some() && approval_mode != Some(mode) {
            self.store.recorder().append(&Event::ApprovalModeSet { mode }).await;
        }
        if self.reason_against(mode).is_some() {
            self.leave_unheld_mode().await;
        } else if mode != ApprovalMode::Ask {
            let say = phrases::MODE_AGAIN.with("mode", LocalizedText::from(mode.label()));
            let notice = Notice::info(say).with_hint(mode.about()).with_topic(Topic::Resumed);
            self.notify(notice).await;
        }
    }

    /// The plan that the user accepted is carried out in this mode.
    pub(super) async fn leave_plan_mode(&mut self, mode: ApprovalMode) {
        self.conversation.is_planning = false;
        self.set_approval_mode(mode).await;
    }

    /// What the model is told of the mode with the message of a turn.
    pub(super) fn mode_note(&mut self) -> &'static str {
        let plans = self.info.approval == ApprovalMode::Plan;
        let planned = std::mem::replace(&mut self.conversation.is_planning, plans);
        match (plans, planned) {
            (true, _) => include_str!("../../assets/prompts/plan_mode.md").trim_end(),
            (false, true) => include_str!("../../assets/prompts/plan_mode_off.md").trim_end(),
            (false, false) => "",
        }
    }

    /// The branch, where it is another than the model knows. It follows the message: in the
    /// system prompt, each switch would change the beginning of every request.
    pub(super) fn branch_note(&mut self) -> String {
        let is_small = self.responder.connected.model.prompt_size() == PromptSize::Short;
        let branch = self.info.branch.clone().filter(|_| !is_small);
        if branch.is_none() || branch == self.conversation.told_branch {
            return String::new();
        }
        let name = branch.as_deref().map(visible).unwrap_or_default();
        self.conversation.told_branch = branch;
        format!("\n\n[Git branch: {name}]")
    }

    /// Replaces the added folders with those of the resumed session. Each is checked again: it may
    /// have been removed or replaced.
    pub(super) async fn restore_folders(&mut self, folders: &[String]) {
        self.security.place.added.truncate(self.command_line_folders);
        let mut again = Vec::new();
        let mut lost = Vec::new();

        for text in folders {
            match self.recheck_folder(text) {
                Ok(folder) if self.security.place.contains(&folder) => {}
                Ok(folder) => {
                    again.push(format!("`{text}`"));
                    self.security.place.added.push(folder);
                }
                Err(why) => lost.push(phrases::FOLDER_NOT_AGAIN.with("why", why)),
            }
        }
        let added = self.security.place.added.iter();
        let added: Vec<String> = added.map(|folder| folder.display().to_string()).collect();
        if self.info.added != added {
            self.info.added = added;
            self.send_info().await;
        }
        if !again.is_empty() {
            let say = phrases::FOLDERS_AGAIN.with("paths", again.join(", "));
            self.notify(Notice::info(say).with_topic(Topic::Resumed)).await;
        }
        for say in lost {
            self.notify(Notice::warning(say).with_topic(Topic::Resumed)).await;
        }
    }

    /// The folder itself was added: the user never saw the link that replaces it now.
    fn recheck_folder(&self, text: &str) -> Result<PathBuf, LocalizedText> {
        let folder =
            resolve_added_folder(text, &self.security.place, self.security.world.as_ref())?;
        if folder.as_os_str() == text {
            return Ok(folder);
        }
        let say = phrases::FOLDER_LEADS_ELSEWHERE.with("path", text);
        Err(say.with("target", folder.display().to_string()))
    }
}
