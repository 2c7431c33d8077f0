//! The rules that the user chose to remember for a project: one file per folder, outside the
//! project, so that nothing in the project can write one.
//!
//! A rule is text as `/allow` takes it, with the terms it was given on: the folder inside the
//! project, the reasons and effects of the step, and the content of a program of the project. A
//! rule of an older version has no terms, and covers what a rule written by the user covers. An
//! unreadable file counts as an empty list and is reported: forgetting an approval costs a
//! question, inventing one could cost the work. Each change reads the file again, so that two
//! windows of one folder do not overwrite each other's rules.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::atomic_file;
use super::diagnostic::{ConfigDiagnostic, ConfigError};
use avocet_core::i18n::{self, Localize, LocalizedText};
use avocet_core::protocol::Effect;
use avocet_safety::{Grant, Pinned, PolicyRule, Terms};

const VERSION: u32 = 2;
const MAX_RULES: usize = 500;
/// The maximum length of a rule, in bytes.
const MAX_LENGTH: usize = 4096;

/// The remembered rules of one folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Approvals {
    file: PathBuf,
    contents: ApprovalsFile,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ApprovalsFile {
    version: u32,
    folder: String,
    allowed: Vec<ApprovalRow>,
    denied: Vec<String>,
    /// The MCP servers of the project, and its files with hooks, by the hash of what they define, and
    /// whether they may start.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    servers: BTreeMap<String, bool>,
}

/// A rule, and the terms it was given on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ApprovalRow {
    rule: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    given: Option<GrantTerms>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantTerms {
    /// Relative to the project; empty for the project itself.
    cwd: String,
    reasons: Vec<String>,
    effects: Vec<Effect>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program: Option<PinnedFile>,
    /// The file that an interpreter runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    script: Option<PinnedFile>,
}

/// A program of the project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PinnedFile {
    path: String,
    sha256: String,
}

/// The format of version 1: rules without terms.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ApprovalsV1 {
    version: u32,
    folder: String,
    allowed: Vec<String>,
    denied: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Allowed,
    Denied,
}

impl Approvals {
    /// Reads the rules in `store` for `folder`, whose links are resolved already. The sentence says
    /// why nothing is remembered although something should be, or that rules of an older version
    /// now cover less; this is reported once.
    pub fn open(store: &Path, folder: &Path) -> (Approvals, Option<LocalizedText>) {
        let folder = folder.to_string_lossy().into_owned();
        let file = store.join(format!("{}.json", file_name(&folder)));
        let servers = BTreeMap::new();
        let allowed = vec![];
        let denied = vec![];
        let approvals_file = ApprovalsFile { version: VERSION, folder, allowed, denied, servers };
        let mut approvals = Approvals { file, contents: approvals_file };
        let said = match approvals.read() {
            Ok(None) => None,
            Ok(Some(read)) => {
                approvals.contents = read.contents;
                let older = read.is_older_version.then_some(approvals.contents.allowed.len());
                let told = older.filter(|_| approvals.save().is_ok());
                told.filter(|count| *count > 0).map(narrowed_message)
            }
            Err(fault) => {
                let cause = ConfigDiagnostic::of_file(&approvals.file, fault).localized();
                Some(i18n::config::APPROVALS_BROKEN.with("file", cause))
            }
        };
        (approvals, said)
    }

    /// The rules that allow or those that refuse, as text.
    pub fn rules(&self, side: Side) -> Vec<String> {
        match side {
            Side::Allowed => self.contents.allowed.iter().map(|row| row.rule.clone()).collect(),
            Side::Denied => self.contents.denied.clone(),
        }
    }

    /// The allowing rules that have terms.
    pub fn grants(&self) -> Vec<Grant> {
        let folder = Path::new(&self.contents.folder);
        let rows = self.contents.allowed.iter().filter_map(|row| Some((row, row.given.as_ref()?)));
        let grant = |(row, given): (&ApprovalRow, &GrantTerms)| {
            let rule = PolicyRule::parse(&row.rule).ok()?;
            Some(Grant { rule, terms: given.to_terms(folder)? })
        };
        rows.filter_map(grant).collect()
    }

    /// The allowing rules that have no terms.
    pub fn rules_without_terms(&self) -> Vec<PolicyRule> {
        let rows = self.contents.allowed.iter().filter(|row| row.given.is_none());
        rows.filter_map(|row| PolicyRule::parse(&row.rule).ok()).collect()
    }

    /// Remembers a rule and removes it from the opposite list. Writes nothing if it is already
    /// there.
    pub fn remember(&mut self, side: Side, rule: &str, terms: Option<&Terms>) -> io::Result<()> {
        let given =
            terms.map(|terms| GrantTerms::from_terms(terms, Path::new(&self.contents.folder)));
        let row = ApprovalRow { rule: rule.to_owned(), given };
        self.change(|ApprovalsFile { allowed, denied, .. }| {
            if rule.trim().is_empty() || rule.len() > MAX_LENGTH {
                return false;
            }
            match side {
                Side::Allowed if !allowed.contains(&row) && allowed.len() < MAX_RULES => {
                    allowed.push(row.clone());
                    denied.retain(|other| other != rule);
                }
                Side::Denied
                    if !denied.iter().any(|one| one == rule) && denied.len() < MAX_RULES =>
                {
                    denied.push(rule.to_owned());
                    allowed.retain(|other| other.rule != rule);
                }
                Side::Allowed | Side::Denied => return false,
            }
            true
        })
    }

    /// Whether a server of the project may start, by the hash of its definition; `None`: the user
    /// was not asked.
    pub fn server(&self, hash: &str) -> Option<bool> {
        self.contents.servers.get(hash).copied()
    }

    /// Remembers whether a server of the project may start.
    pub fn remember_server(&mut self, hash: &str, is_allowed: bool) -> io::Result<()> {
        self.change(|ApprovalsFile { servers, .. }| {
            servers.len() < MAX_RULES
                && servers.insert(hash.to_owned(), is_allowed) != Some(is_allowed)
        })
    }

    /// Forgets a rule in both lists. Writes nothing if it is in neither.
    pub fn forget(&mut self, rule: &str) -> io::Result<()> {
        self.change(|ApprovalsFile { allowed, denied, .. }| {
            let before = allowed.len() + denied.len();
            allowed.retain(|known| known.rule != rule);
            denied.retain(|known| known != rule);
            allowed.len() + denied.len() != before
        })
    }

    /// Changes the current contents of the file, which another window may have written.
    fn change(&mut self, change: impl Fn(&mut ApprovalsFile) -> bool) -> io::Result<()> {
        let _lock = atomic_file::lock(&self.file)?;
        if let Ok(Some(read)) = self.read() {
            self.contents = read.contents;
        }
        if change(&mut self.contents) { self.save() } else { Ok(()) }
    }

    /// The contents of the file; `None` if there is none.
    fn read(&self) -> Result<Option<ParsedApprovals>, ConfigError> {
        let text = atomic_file::read(&self.file)?;
        let parsed = |text: String| parse(&text, &self.contents.folder);
        text.map(|text| parsed(text).ok_or(ConfigError::Damaged)).transpose()
    }

    fn save(&self) -> io::Result<()> {
        // An unreadable file is kept next to the new one, for the user to inspect.
        if self.read().is_err() && self.file.symlink_metadata().is_ok() {
            atomic_file::set_aside(&self.file)?;
        }
        let text = serde_json::to_string_pretty(&self.contents)?;
        atomic_file::write(&self.file, &format!("{text}\n"))
    }
}

impl GrantTerms {
    fn from_terms(terms: &Terms, folder: &Path) -> GrantTerms {
        let inside =
            |path: &Path| path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into();
        let named = |pinned: &Pinned| PinnedFile {
            path: inside(&pinned.path),
            sha256: pinned.digest.clone(),
        };
        GrantTerms {
            cwd: inside(&terms.folder),
            reasons: terms.reasons.clone(),
            effects: terms.effects.clone(),
            program: terms.pinned.as_ref().map(named),
            script: terms.script.as_ref().map(named),
        }
    }

    /// The terms; `None` if a folder would be outside the project.
    fn to_terms(&self, folder: &Path) -> Option<Terms> {
        let inside = |text: &str| {
            let plain = |part| matches!(part, Component::Normal(_));
            let path = Path::new(text);
            path.components().all(plain).then(|| match text {
                "" => folder.to_owned(),
                _ => folder.join(path),
            })
        };
        let pinned = |file: &PinnedFile| {
            let path = inside(&file.path).unwrap_or_else(|| PathBuf::from(&file.path));
            Pinned { path, digest: file.sha256.clone() }
        };
        let script = self.script.as_ref().map(pinned);
        let pinned = self.program.as_ref().map(pinned);

        let reasons = self.reasons.clone();
        let effects = self.effects.clone();

        Some(Terms { folder: inside(&self.cwd)?, reasons, effects, pinned, script })
    }
}

/// A plain file name made from any folder's path.
fn file_name(folder: &str) -> String {
    let digest = Sha256::digest(folder.as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The contents of a file, and whether an older version wrote it.
struct ParsedApprovals {
    contents: ApprovalsFile,
    is_older_version: bool,
}

fn parse(text: &str, folder: &str) -> Option<ParsedApprovals> {
    let (kept, older) = match serde_json::from_str::<ApprovalsFile>(text) {
        Ok(kept) => (kept, false),
        Err(_) => (upgrade_v1(serde_json::from_str(text).ok()?)?, true),
    };
    let rules = || kept.allowed.iter().map(|row| &row.rule).chain(&kept.denied);
    let sound = kept.version == VERSION
        && kept.folder == folder
        && rules().count() <= 2 * MAX_RULES
        && rules().all(|rule| rule.len() <= MAX_LENGTH);
    sound.then_some(ParsedApprovals { contents: kept, is_older_version: older })
}

fn upgrade_v1(approvals_v1: ApprovalsV1) -> Option<ApprovalsFile> {
    let ApprovalsV1 { version, folder, allowed, denied } = approvals_v1;
    let allowed = allowed.into_iter().map(|rule| ApprovalRow { rule, given: None }).collect();
    let servers = BTreeMap::new();
    (version == 1).then_some(ApprovalsFile { version: VERSION, folder, allowed, denied, servers })
}

fn narrowed_message(count: usize) -> LocalizedText {
    i18n::plural(count, i18n::rules::NARROWED, i18n::rules::NARROWED_MANY)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn open(store: &Path) -> (Approvals, Option<LocalizedText>) {
        Approvals::open(store, Path::new("/work/project"))
    }

    #[test]
    fn a_rule_is_remembered_for_its_folder_and_no_other() {
        let store = tempfile::tempdir().unwrap();
        let (mut approvals, said) = open(store.path());
        assert_eq!(said, None);
        approvals.remember(Side::Allowed, "git push *", None).unwrap();
        assert_eq!(open(store.path()).0.rules(Side::Allowed), ["git push *"]);
        let (other, _) = Approvals::open(store.path(), Path::new("/work/other"));
        assert_eq!(other.rules(Side::Allowed), [""; 0]);
    }

    #[test]
    fn a_rule_is_in_one_list_only() {
        let store = tempfile::tempdir().unwrap();
        let (mut approvals, _) = open(store.path());
        approvals.remember(Side::Allowed, "make", None).unwrap();
        approvals.remember(Side::Denied, "make", None).unwrap();
        assert_eq!(approvals.rules(Side::Allowed), [""; 0]);
        assert_eq!(approvals.rules(Side::Denied), ["make"]);
    }

    #[test]
    fn a_forgotten_rule_is_removed_from_the_file() {
        let store = tempfile::tempdir().unwrap();
        let (mut approvals, _) = open(store.path());
        approvals.remember(Side::Allowed, "make", None).unwrap();
        approvals.remember(Side::Allowed, "git add *", None).unwrap();
        approvals.forget("make").unwrap();
        approvals.forget("never kept").unwrap();
        assert_eq!(open(store.path()).0.rules(Side::Allowed), ["git add *"]);
    }

    #[test]
    fn an_unreadable_file_counts_as_empty_is_reported_and_kept() {
        let damages: [fn(&str) -> String; 5] = [
            |_| "{".into(),
            |text| text.replace("\"version\": 2", "\"version\": 3"),
            |text| text.replace("/work/project", "/elsewhere"),
            |text| text.replace("\"denied\"", "\"extra\": 1, \"denied\""),
            |text| text.replace("\"make\"", "7"),
        ];
        for damage in damages {
            let store = tempfile::tempdir().unwrap();
            let (mut approvals, _) = open(store.path());
            approvals.remember(Side::Allowed, "make", None).unwrap();
            let text = damage(&fs::read_to_string(&approvals.file).unwrap());
            fs::write(&approvals.file, &text).unwrap();
            let (mut again, said) = open(store.path());
            assert!(said.is_some() && again.rules(Side::Allowed).is_empty(), "{text}");
            again.remember(Side::Denied, "rm", None).unwrap();
            assert_eq!(fs::read_to_string(again.file.with_extension("broken")).unwrap(), text);
        }
    }

    #[test]
    fn a_second_unreadable_file_does_not_replace_the_first_that_was_set_aside() {
        let store = tempfile::tempdir().unwrap();
        let kept = |file: &Path, ending: &str| fs::read_to_string(file.with_extension(ending));
        for text in ["{first", "{second", "{third"] {
            let (mut approvals, _) = open(store.path());
            fs::create_dir_all(approvals.file.parent().unwrap()).unwrap();
            fs::write(&approvals.file, text).unwrap();
            approvals.remember(Side::Denied, text, None).unwrap();
        }
        let file = open(store.path()).0.file;
        assert_eq!(kept(&file, "broken").unwrap(), "{first");
        assert_eq!(kept(&file, "broken-2").unwrap(), "{second");
        assert_eq!(kept(&file, "broken-3").unwrap(), "{third");
    }

    #[test]
    fn a_rule_is_restored_with_its_terms() {
        let store = tempfile::tempdir().unwrap();
        let (mut approvals, _) = open(store.path());
        let pinned = Pinned { path: "/work/project/run.sh".into(), digest: "ab".into() };
        let terms = Terms {
            folder: "/work/project/web".into(),
            reasons: vec!["program.path".into()],
            effects: vec![Effect::Exec],
            pinned: Some(pinned.clone()),
            script: Some(Pinned { path: "/work/project/x.py".into(), ..pinned }),
        };
        approvals.remember(Side::Allowed, "./run.sh", Some(&terms)).unwrap();
        approvals.remember(Side::Allowed, "make", None).unwrap();
        let (again, said) = open(store.path());
        let rule = |text| PolicyRule::parse(text).unwrap();
        assert_eq!(again.grants(), [Grant { rule: rule("./run.sh"), terms }]);
        assert_eq!(again.rules_without_terms(), [rule("make")]);
        assert_eq!(said, None);
    }

    #[test]
    fn rules_of_an_older_version_are_kept_without_terms_and_reported_once() {
        let store = tempfile::tempdir().unwrap();
        let (approvals, _) = open(store.path());
        let text = r#"{"version":1,"folder":"/work/project","allowed":["cargo test *"],"denied":["rm *"]}"#;
        fs::create_dir_all(approvals.file.parent().unwrap()).unwrap();
        fs::write(&approvals.file, text).unwrap();
        let (older, said) = open(store.path());
        assert_eq!(said.map(|say| say.phrase()), Some(i18n::rules::NARROWED));
        assert_eq!(older.rules(Side::Allowed), ["cargo test *"]);
        assert_eq!(older.rules(Side::Denied), ["rm *"]);
        assert_eq!(older.grants(), []);
        let (again, said) = open(store.path());
        assert_eq!((again.rules(Side::Allowed), said), (older.rules(Side::Allowed), None));
    }

    #[test]
    fn concurrent_windows_do_not_lose_each_others_changes() {
        let store = tempfile::tempdir().unwrap();
        let mut windows: Vec<Approvals> = (0..4).map(|_| open(store.path()).0).collect();
        windows[0].remember(Side::Allowed, "gone", None).unwrap();
        std::thread::scope(|scope| {
            for (window, approvals) in windows.iter_mut().enumerate() {
                scope.spawn(move || {
                    for number in 0..5 {
                        let allowed = format!("w{window} n{number}");
                        approvals.remember(Side::Allowed, &allowed, None).unwrap();
                        let denied = format!("d{window} n{number}");
                        approvals.remember(Side::Denied, &denied, None).unwrap();
                    }
                    approvals.forget("gone").unwrap();
                });
            }
        });
        let (all, _) = open(store.path());
        assert_eq!((all.rules(Side::Allowed).len(), all.rules(Side::Denied).len()), (20, 20));
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let store = tempfile::tempdir().unwrap();
        let (mut approvals, _) = open(store.path());
        approvals.remember(Side::Allowed, "make", None).unwrap();
        assert_eq!(fs::metadata(&approvals.file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
