//! The hooks of a session: which of them run, and the page that lists them.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::hook_runner::{HookNews, HookReport, HookReporter, HookRunner, StartReply};
use avocet_core::i18n::{Localize, LocalizedText, hooks as phrases, mcp_pages};
use avocet_core::protocol::{Notice, Page, PageRow};
use avocet_hooks::{ActiveHooks, HookCall, HookEvent, HookFile, HookFiles, HookFolders, HookReply};
use avocet_safety::{Policy, PolicyContext, PolicyRule};
use avocet_tools::Tool;

/// What a session needs for hooks; provided by `app`.
pub trait HookAccess: Send {
    /// Reads the files, those of the project only in a trusted folder.
    fn read(&self, is_trusted: bool) -> HookFiles;

    fn folders(&self) -> HookFolders;

    /// What the user answered about a file of this project, by its hash; `None`: nothing yet.
    fn answer(&self, hash: &str) -> Option<bool>;

    /// Saves the answer.
    ///
    /// # Errors
    /// A sentence with the reason.
    fn save_answer(&mut self, hash: &str, is_allowed: bool) -> Result<(), LocalizedText>;

    /// Runs programs, also while Avocet ends.
    fn exec(&self) -> Arc<dyn Tool>;

    /// A folder for the conversation, which hooks may read; made when it is first asked for.
    fn transcripts(&self) -> Option<PathBuf>;

    /// Whether a user is there to be asked, and whose next message comes later.
    fn has_user(&self) -> bool;
}

/// The hooks of a script.
#[derive(Clone)]
pub struct ScriptHooks {
    pub(super) runner: HookRunner,
    /// Ends the turn, which a hook may want.
    pub(super) turn: CancellationToken,
}

impl ScriptHooks {
    /// Those of a script that runs without a session. What the files of other programs deny is
    /// denied to it as well.
    pub fn without_session(
        access: Option<Box<dyn HookAccess>>,
        is_trusted: bool,
        policy: &mut Policy,
    ) -> ScriptHooks {
        let mut hooks = SessionHooks::new(access, Arc::new(drop));
        hooks.read_files(is_trusted);
        hooks.tighten(policy);
        ScriptHooks { runner: hooks.runner(String::new()), turn: CancellationToken::new() }
    }
}

/// The hooks of a session.
pub struct SessionHooks {
    pub(super) access: Option<Box<dyn HookAccess>>,
    pub(super) read: HookFiles,
    /// The rules that files of other programs added to those of the session.
    denied: Vec<PolicyRule>,
    pub(super) active: Arc<ActiveHooks>,
    /// Questions that were put off: they come back with the next session.
    pub(super) put_off: Vec<String>,
    /// No user can be asked, and a notice says so.
    pub(super) is_told: bool,
    /// The last run of each.
    reports: Vec<HookReport>,
    /// Gets what becomes of them.
    reporter: HookReporter,
    /// How the session started, until its hooks have started.
    pub(super) source: Option<&'static str>,
    pub(super) start: Option<StartReply>,
}

/// Whether the hooks of a file run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HookFileState {
    Untrusted,
    Unanswered,
    Declined,
    Changed,
    Active,
}

impl SessionHooks {
    /// None is read yet.
    pub fn new(access: Option<Box<dyn HookAccess>>, reporter: HookReporter) -> SessionHooks {
        SessionHooks {
            access,
            reporter,
            read: HookFiles::default(),
            denied: Vec::new(),
            active: Arc::default(),
            put_off: Vec::new(),
            is_told: false,
            reports: Vec::new(),
            source: Some("startup"),
            start: None,
        }
    }

    pub(super) fn has_user(&self) -> bool {
        self.access.as_ref().is_some_and(|access| access.has_user())
    }

    fn state(&self, file: &HookFile, is_trusted: bool) -> HookFileState {
        let Some(access) = &self.access else { return HookFileState::Untrusted };
        let answer =
            if file.origin.is_from_repository { access.answer(&file.hash) } else { Some(true) };
        match answer {
            // A program of the folder may take the place of the one that is meant.
            _ if !is_trusted => HookFileState::Untrusted,
            None => HookFileState::Unanswered,
            Some(false) => HookFileState::Declined,
            Some(true) if !file.is_unchanged(&access.folders()) => HookFileState::Changed,
            Some(true) => HookFileState::Active,
        }
    }

    /// The next file of the project that the user is to be asked about.
    pub(super) fn unanswered(&self, is_trusted: bool) -> Option<&HookFile> {
        self.read.files.iter().find(|file| {
            self.state(file, is_trusted) == HookFileState::Unanswered
                && !self.put_off.contains(&file.hash)
        })
    }

    pub(super) fn file(&self, hash: &str) -> Option<&HookFile> {
        self.read.files.iter().find(|file| file.hash == hash)
    }

    /// A few small files, and without any only their absence.
    pub(super) fn read_files(&mut self, is_trusted: bool) {
        let Some(access) = &self.access else { return };
        self.read = access.read(is_trusted);
        self.update_active(is_trusted);
    }

    pub(super) fn update_active(&mut self, is_trusted: bool) {
        let is_active = |file: &&HookFile| self.state(file, is_trusted) == HookFileState::Active;
        let files: Vec<HookFile> = self.read.files.iter().filter(is_active).cloned().collect();
        let folders = self.access.as_ref().map(|access| access.folders()).unwrap_or_default();
        self.active = Arc::new(ActiveHooks { files, folders });
    }

    /// Denies in a policy what the files of other programs deny, as long as they do, and asks about
    /// what they ask about; true if that changed it.
    pub(super) fn tighten(&mut self, policy: &mut Policy) -> bool {
        let parsed = |rules: &[(PathBuf, String)]| -> Vec<PolicyRule> {
            rules.iter().filter_map(|(_, rule)| PolicyRule::parse(rule).ok()).collect()
        };
        let asked = parsed(&self.read.asked);
        let asks_else = std::mem::replace(&mut policy.asked, asked) != policy.asked;
        let mut now = parsed(&self.read.denied);
        let before = std::mem::take(&mut self.denied);
        let count = policy.denied.len();
        policy.denied.retain(|rule| !before.contains(rule) || now.contains(rule));
        let has_lost = policy.denied.len() < count;
        // What the user denied as well is the user's.
        now.retain(|rule| before.contains(rule) || !policy.denied.contains(rule));
        let rules: Vec<PolicyRule> =
            now.iter().filter(|rule| !policy.denied.contains(rule)).cloned().collect();
        let has_changed = has_lost || asks_else || !rules.is_empty();
        policy.denied.extend(rules);
        self.denied = now;
        has_changed
    }

    /// Where the conversation is written before hooks run, if there are any.
    pub(super) fn transcript_path(&self) -> Option<PathBuf> {
        let access = self.access.as_ref().filter(|_| !self.active.files.is_empty());
        Some(access?.transcripts()?.join("transcript.jsonl"))
    }

    /// Another conversation begins.
    pub(super) fn restart(&mut self, source: &'static str) {
        self.source = Some(source);
        self.start = None;
    }

    /// The user decided about the hooks of a file of the project; `None`: put off.
    pub(super) fn decide(
        &mut self,
        hash: String,
        is_allowed: Option<bool>,
        is_trusted: bool,
    ) -> Option<Notice> {
        let Some(is_allowed) = is_allowed else {
            self.put_off.push(hash);
            return None;
        };
        let saved = self.access.as_mut()?.save_answer(&hash, is_allowed);
        self.update_active(is_trusted);
        saved.err().map(|why| Notice::warning(mcp_pages::NOT_SAVED.with("why", why)))
    }

    /// Starts those of the session itself; `None`: none follows.
    pub(super) fn run(
        &self,
        call: &HookCall,
        session: String,
        context: PolicyContext<'_>,
    ) -> Option<impl Future<Output = HookReply> + Send + use<>> {
        let runner = self.runner(session);
        let cancel = CancellationToken::new();
        runner.follows(call).then(|| runner.run(call, context, &cancel))
    }

    /// Runs those that may run now.
    pub(super) fn runner(&self, session: String) -> HookRunner {
        HookRunner {
            active: Arc::clone(&self.active),
            exec: self.access.as_ref().map(|access| access.exec()),
            session,
            transcript: self.transcript_path(),
            report: Arc::clone(&self.reporter),
            start: self.start.clone(),
            end: HookEvent::Stop,
            put_off: 0,
        }
    }

    pub(super) fn handle_news(&mut self, news: HookNews) {
        match news {
            HookNews::StartHeard => self.start = None,
            // Dropped, it is not waited for.
            HookNews::TranscriptNeeded(_) => {}
            HookNews::Ran(report) => {
                self.reports.retain(|known| known.hook != report.hook);
                self.reports.push(*report);
            }
        }
    }

    /// `/hooks`.
    pub(super) fn page(&self, is_trusted: bool) -> Page {
        let mut rows = Vec::new();
        for file in &self.read.files {
            rows.push(PageRow::heading(file.origin.file.display().to_string()));
            let state = match self.state(file, is_trusted) {
                HookFileState::Active => phrases::STATE_ON,
                HookFileState::Untrusted => phrases::STATE_UNTRUSTED,
                HookFileState::Unanswered => phrases::STATE_WAITS,
                HookFileState::Declined => phrases::STATE_DECLINED,
                HookFileState::Changed => phrases::STATE_CHANGED,
            };
            for hook in &file.hooks {
                let event = match hook.matcher.as_str() {
                    "" => hook.event.name().to_owned(),
                    matcher => {
                        format!("{} {}", hook.event.name(), avocet_core::text::visible(matcher))
                    }
                };
                rows.push(PageRow::pair(event, hook.label()));
                rows.push(PageRow::pair("", state));
                let ran = self.reports.iter().find(|report| report.hook == *hook);
                rows.extend(ran.map(|ran| PageRow::pair(phrases::LAST_RUN, ran.end.clone())));
            }
        }
        rows.extend(self.read.rule_rows());
        let is_empty = rows.is_empty();
        rows.extend(self.read.diagnostics.iter().map(|fault| PageRow::line(fault.localized())));
        if is_empty {
            rows.push(PageRow::line(phrases::NONE));
        }
        Page { title: phrases::TITLE.into(), rows }
    }
}
