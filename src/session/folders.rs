//! Folders that the user adds to a session, `/add-dir` and `--add-dir`, and its mode: which steps ask.

use std::path::PathBuf;

use super::Security;
use super::persistence::Replay;
use super::session_effects::{Effects, SessionEffect};
use avocet_core::i18n::{LocalizedText, session as phrases};
use avocet_core::protocol::{ApprovalMode, Event, Notice, SandboxStatus, SessionInfo, Topic};
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

impl Security {
    pub(super) fn add_folder(&mut self, text: &str, info: &mut SessionInfo) -> Effects {
        let folder = match resolve_added_folder(text, &self.place, self.world.as_ref()) {
            Err(why) => return vec![Notice::error(why).into()],
            Ok(folder) => folder,
        };
        let path = folder.display().to_string();
        if self.place.contains(&folder) {
            return vec![Notice::info(phrases::ADD_KNOWN.with("path", path)).into()];
        }
        self.place.added.push(folder);
        info.added.push(path.clone());
        vec![
            SessionEffect::record(Event::FolderAdded { path: path.clone() }),
            SessionEffect::FoldersChanged,
            SessionEffect::InfoChanged,
            Notice::info(phrases::ADDED_FOLDER.with("path", path)).into(),
        ]
    }

    /// A new session keeps the folders that were added to the one before it, and the mode.
    pub(super) fn record_folders(&self, info: &SessionInfo) -> Effects {
        let added = self.place.added.iter().skip(self.session.command_line_folders);
        let paths = added.map(|folder| folder.display().to_string());
        let mode = info.approval;
        let mode = (!mode.is_default()).then_some(Event::ApprovalModeSet { mode });
        let events = paths.map(|path| Event::FolderAdded { path }).chain(mode);
        events.map(SessionEffect::record).collect()
    }

    /// Which steps ask from now on. Saved: a resumed session goes on in its mode.
    pub(super) fn set_approval_mode(
        &mut self,
        mode: ApprovalMode,
        info: &mut SessionInfo,
    ) -> Effects {
        if let Some(notice) = self.reason_against(mode) {
            // A frontend may show it already.
            return vec![SessionEffect::InfoChanged, notice.into()];
        }
        self.apply_approval_mode(mode, info);
        vec![SessionEffect::record(Event::ApprovalModeSet { mode }), SessionEffect::InfoChanged]
    }

    /// Why a mode cannot answer anything here: nothing would hold what it lets run.
    fn reason_against(&self, mode: ApprovalMode) -> Option<Notice> {
        use SandboxStatus::{Held, Unknown};

        match mode {
            ApprovalMode::Auto if !self.place.trusted => {
                Some(Notice::warning(phrases::AUTO_UNTRUSTED).with_hint(phrases::TRUST_HOW))
            }
            ApprovalMode::Auto if ![Held, Unknown].contains(&self.policy.shelter) => {
                Some(Notice::warning(phrases::AUTO_NO_SANDBOX))
            }
            ApprovalMode::Ask | ApprovalMode::Edits | ApprovalMode::Auto | ApprovalMode::Plan => {
                None
            }
        }
    }

    /// Goes back to questions where it turns out that the mode cannot answer them.
    pub(super) fn leave_unheld_mode(&mut self, info: &mut SessionInfo) -> Effects {
        let Some(notice) = self.reason_against(info.approval) else { return Vec::new() };
        let mut effects = self.set_approval_mode(ApprovalMode::Ask, info);
        effects.push(notice.into());
        effects
    }

    fn apply_approval_mode(&mut self, mode: ApprovalMode, info: &mut SessionInfo) {
        info.approval = mode;
        self.policy.approval = mode;
        self.send_update();
    }

    /// The mode of the resumed session, unless the command line named one; that of the settings if
    /// it never had one of its own.
    pub(super) fn restore_approval_mode(
        &mut self,
        approval_mode: Option<ApprovalMode>,
        replay: Replay,
        info: &mut SessionInfo,
    ) -> Effects {
        let mode = match self.session.command_line_mode {
            Some(_) => Some(info.approval),
            // Whose words go on in a chat is not known yet.
            None if replay == Replay::End => approval_mode.filter(|mode| !mode.answers()),
            None => approval_mode.or(Some(self.session.mode_of_settings)),
        };
        let mode = mode.unwrap_or_default();
        let mut effects = Vec::new();
        if mode != info.approval {
            self.apply_approval_mode(mode, info);
            effects.push(SessionEffect::InfoChanged);
        }
        if self.session.command_line_mode.is_some() && approval_mode != Some(mode) {
            effects.push(SessionEffect::record(Event::ApprovalModeSet { mode }));
        }
        if self.reason_against(mode).is_some() {
            effects.extend(self.leave_unheld_mode(info));
        } else if mode != ApprovalMode::Ask {
            let say = phrases::MODE_AGAIN.with("mode", LocalizedText::from(mode.label()));
            let notice = Notice::info(say).with_hint(mode.about()).with_topic(Topic::Resumed);
            effects.push(notice.into());
        }
        effects
    }

    /// Replaces the added folders with those of the resumed session. Each is checked again: it may
    /// have been removed or replaced.
    pub(super) fn restore_folders(
        &mut self,
        folders: &[String],
        info: &mut SessionInfo,
    ) -> Effects {
        self.place.added.truncate(self.session.command_line_folders);
        let mut again = Vec::new();
        let mut notices = Vec::new();

        for text in folders {
            match self.recheck_folder(text) {
                Ok(folder) if self.place.contains(&folder) => {}
                Ok(folder) => {
                    again.push(format!("`{text}`"));
                    self.place.added.push(folder);
                }
                Err(why) => {
                    notices.push(Notice::warning(phrases::FOLDER_NOT_AGAIN.with("why", why)));
                }
            }
        }
        if !again.is_empty() {
            let say = phrases::FOLDERS_AGAIN.with("paths", again.join(", "));
            notices.insert(0, Notice::info(say));
        }
        let added = self.place.added.iter();
        let added: Vec<String> = added.map(|folder| folder.display().to_string()).collect();
        let has_changed = info.added != added;
        info.added = added;
        let notices = notices.into_iter().map(|notice| notice.with_topic(Topic::Resumed).into());
        has_changed.then_some(SessionEffect::InfoChanged).into_iter().chain(notices).collect()
    }

    /// The folder itself was added: the user never saw the link that replaces it now.
    fn recheck_folder(&self, text: &str) -> Result<PathBuf, LocalizedText> {
        let folder = resolve_added_folder(text, &self.place, self.world.as_ref())?;
        if folder.as_os_str() == text {
            return Ok(folder);
        }
        let say = phrases::FOLDER_LEADS_ELSEWHERE.with("path", text);
        Err(say.with("target", folder.display().to_string()))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::trust::TrustPrompt;
    use avocet_core::protocol::RuleOp;
    use avocet_safety::Policy;
    use avocet_safety::redact::Redactor;
    use avocet_tools::system::System;

    fn security(folder: &Path) -> Security {
        let no_secrets: [(&str, &str); 0] = [];
        let mut security = Security {
            policy: Policy::default(),
            place: Workspace::new(folder, folder.join("home")),
            world: Arc::new(System::new(folder, folder, &[])),
            redactor: Arc::new(Redactor::new(no_secrets, [7; 16])),
            keep_rule: Box::new(|_, _| Ok(())),
            session: Default::default(),
            trust: TrustPrompt::without_question(),
        };
        security.begin_session(None);
        security
    }

    fn recorded(effects: &[SessionEffect]) -> Vec<&Event> {
        let events = effects.iter().filter_map(|effect| match effect {
            SessionEffect::Record(event) => Some(&**event),
            _ => None,
        });
        events.collect()
    }

    #[test]
    fn a_mode_that_nothing_holds_is_left_and_the_running_turn_reads_it() {
        let root = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
        let mut security = security(root.path());
        let updates = security.updates();
        let mut info = SessionInfo::default();
        security.place.trusted = true;
        let effects = security.set_approval_mode(ApprovalMode::Auto, &mut info);
        assert_eq!(recorded(&effects), [&Event::ApprovalModeSet { mode: ApprovalMode::Auto }]);
        assert_eq!(updates.borrow().approval, ApprovalMode::Auto);

        security.set_sandbox_status(SandboxStatus::Off, &mut info);
        assert_eq!(updates.borrow().approval, ApprovalMode::Ask);
        assert_eq!((info.approval, info.shelter), (ApprovalMode::Ask, SandboxStatus::Off));
        let effects = security.set_approval_mode(ApprovalMode::Auto, &mut info);
        assert!(recorded(&effects).is_empty(), "it is refused: {effects:?}");
    }

    #[test]
    fn what_was_allowed_in_a_session_ends_with_it_and_what_was_refused_stays() {
        let root = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
        let mut security = security(root.path());
        let mut info = SessionInfo::default();
        security.handle(RuleOp::Allow { rule: "git push".into() }, &mut info);
        security.handle(RuleOp::Deny { rule: "git pull".into() }, &mut info);
        assert_eq!((info.allowed.len(), info.denied.len()), (1, 1), "{info:?}");
        security.end_session();
        security.publish(&mut info);
        assert_eq!((info.allowed.len(), info.denied.len()), (0, 1), "{info:?}");
    }

    #[test]
    fn an_added_folder_goes_with_the_session_and_one_that_is_gone_is_told() {
        let root = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (work, other) = (root.join("work"), root.join("other"));
        std::fs::create_dir_all(&work).unwrap();
        std::fs::create_dir_all(&other).unwrap();
        let mut security = security(&work);
        let mut info = SessionInfo::default();
        let path = other.display().to_string();
        let effects = security.add_folder(&path, &mut info);
        assert_eq!(recorded(&effects), [&Event::FolderAdded { path: path.clone() }]);
        assert_eq!(recorded(&security.record_folders(&info)).len(), 1);

        std::fs::remove_dir(&other).unwrap();
        let effects = security.restore_folders(&[path], &mut info);
        assert!(info.added.is_empty() && security.place.added.is_empty());
        assert_eq!(effects.len(), 2, "the info and a warning: {effects:?}");
    }
}
