//! Reads hooks in place, from our settings and from the files of other programs. Nothing fails as a
//! whole: what cannot be used is named with its file and its reason.

use std::io::Read;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use avocet_config::files_beside::with_files_beside;
use avocet_config::foreign_file::{read_text, without_comments};
use avocet_config::paths::project_roots;
use avocet_core::i18n::{Localize, LocalizedText, Phrase, hooks as phrases, mcp};
use avocet_core::protocol::PageRow;
use avocet_core::text::{one_line, visible};

use super::definition::HookProgram::{Avocet, Claude, Codex, Crush, Gemini};
use super::definition::{Hook, HookFile, HookOrigin, HookProgram};
use super::entry::hooks_of;
use super::permissions::permissions_of;
use super::scripts::named_files;

/// The most that is read of a file, and of a file that a command names.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Where to look.
#[derive(Clone, Debug, Default)]
pub struct HookFolders {
    pub home: PathBuf,
    /// `~/.config`, or where the user has it.
    pub config_home: PathBuf,
    /// Our own settings.
    pub settings: PathBuf,
    /// The folder of the session.
    pub workspace: PathBuf,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookFiles {
    /// In the order in which they count; none without hooks.
    pub files: Vec<HookFile>,
    /// What the permissions of a file deny, as rules of ours.
    pub denied: Vec<(PathBuf, String)>,
    /// What they ask about.
    pub asked: Vec<(PathBuf, String)>,
    pub diagnostics: Vec<HookDiagnostic>,
}

/// What of a file is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookDiagnostic {
    pub file: PathBuf,
    pub why: LocalizedText,
}

impl Localize for HookDiagnostic {
    fn localized(&self) -> LocalizedText {
        let file = visible(&self.file.display().to_string());
        phrases::IN_FILE.with("file", file).with("why", self.why.clone())
    }
}

/// Reads the user's files, and those of the workspace if it is trusted.
pub fn read_hooks(folders: &HookFolders, is_trusted: bool) -> HookFiles {
    let mut hook_files = HookFiles::default();
    for origin in files(folders, is_trusted) {
        match read_document(&origin) {
            Ok(None) => {}
            Ok(Some(document)) => {
                let (hooks, mut faults) = hooks_of(&document, &origin);
                let file = origin.file.clone();
                if origin.program == Claude {
                    let folder = file.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
                    let permissions = permissions_of(&document, folder);
                    let of_file = |rules: Vec<String>| {
                        rules.into_iter().map(|rule| (file.clone(), rule)).collect::<Vec<_>>()
                    };
                    hook_files.denied.extend(of_file(permissions.denied));
                    hook_files.asked.extend(of_file(permissions.asked));
                    faults.extend(permissions.faults);
                }
                let faults = faults.into_iter();
                hook_files
                    .diagnostics
                    .extend(faults.map(|why| HookDiagnostic { file: file.clone(), why }));
                if !hooks.is_empty() {
                    let hash = hash(&hooks, folders);
                    hook_files.files.push(HookFile { origin, hooks, hash });
                }
            }
            Err(why) => hook_files.diagnostics.push(HookDiagnostic { file: origin.file, why }),
        }
    }
    hook_files
}

impl HookFiles {
    /// The rules that files of other programs add.
    pub fn rule_rows(&self) -> Vec<PageRow> {
        let denied = self.denied.iter().map(|rule| (rule, phrases::DENIES));
        let all = denied.chain(self.asked.iter().map(|rule| (rule, phrases::ASKS_BY)));
        let row = |((file, rule), what): (&(PathBuf, String), Phrase)| {
            let said = phrases::IN_FILE.with("file", file.display().to_string());
            PageRow::pair(rule.as_str(), said.with("why", what))
        };
        all.map(row).collect()
    }
}

impl HookFile {
    /// Whether the files that its commands name are still what the user was asked about.
    pub fn is_unchanged(&self, folders: &HookFolders) -> bool {
        !self.origin.is_from_repository || hash(&self.hooks, folders) == self.hash
    }
}

fn files(folders: &HookFolders, is_trusted: bool) -> Vec<HookOrigin> {
    let HookFolders { home, config_home, settings, workspace } = folders;
    let user = [
        (Avocet, settings.clone()),
        (Claude, home.join(".claude/settings.json")),
        (Codex, home.join(".codex/hooks.json")),
        (Codex, home.join(".codex/config.toml")),
        (Gemini, home.join(".gemini/settings.json")),
        (Crush, config_home.join("crush/crush.json")),
    ];
    const REPOSITORY: [(HookProgram, &str); 8] = [
        (Avocet, ".avocet/config.toml"),
        (Claude, ".claude/settings.json"),
        (Claude, ".claude/settings.local.json"),
        (Codex, ".codex/hooks.json"),
        (Codex, ".codex/config.toml"),
        (Gemini, ".gemini/settings.json"),
        (Crush, "crush.json"),
        (Crush, ".crush.json"),
    ];
    let roots = if is_trusted { project_roots(workspace) } else { Vec::new() };
    let repository = roots.iter().flat_map(|root| {
        REPOSITORY.iter().map(|(program, file)| (*program, root.join(file), true))
    });
    let user = user.into_iter().map(|(program, file)| (program, file, false));
    let mut origins: Vec<HookOrigin> = Vec::new();
    for (program, file, is_from_repository) in user.chain(repository) {
        // A workspace may be the home.
        if origins.iter().all(|origin| origin.file != file) {
            origins.push(HookOrigin { program, file, is_from_repository });
        }
    }
    origins
}

fn read_document(origin: &HookOrigin) -> Result<Option<Value>, LocalizedText> {
    let Some(text) = read_text(&origin.file, MAX_FILE_BYTES)? else { return Ok(None) };
    let syntax = |why: &str| mcp::BAD_SYNTAX.with("why", one_line(why));
    if origin.file.extension().is_some_and(|extension| extension == "toml") {
        // The loader of the settings names the fault of our own file.
        return Ok(toml::from_str(&text).ok());
    }
    let document = serde_json::from_str(&without_comments(&text));
    document.map(Some).map_err(|error| syntax(&error.to_string()))
}

fn hash(hooks: &[Hook], folders: &HookFolders) -> String {
    let rows: Vec<Value> = hooks
        .iter()
        .map(|hook| {
            let scripts = named_files(&hook.command, &folders.workspace, &folders.home);
            let inside =
                scripts.into_iter().filter(|path| path.starts_with(&folders.workspace)).collect();
            let bound = with_files_beside(inside, &folders.workspace);
            let contents: Vec<String> = bound.iter().map(|path| file_digest(path)).collect();
            json!([hook.event.name(), hook.matcher, hook.command, hook.timeout.as_secs(), contents])
        })
        .collect();
    hex(&Sha256::digest(Value::from(rows).to_string()))
}

/// Of a file that is too long to be read as a whole, also when it changed.
fn file_digest(path: &Path) -> String {
    let read = || {
        let file = std::fs::File::open(path)?;
        let meta = file.metadata()?;
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
        if meta.len() > MAX_FILE_BYTES {
            let numbers = [meta.len().cast_signed(), meta.ctime(), meta.ctime_nsec()];
            bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        }
        Ok(hex(&Sha256::digest(&bytes)))
    };
    read().unwrap_or_else(|error: std::io::Error| error.to_string())
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
