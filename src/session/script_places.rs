//! The script folders: which scripts can be named, and which of them a model may run.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use avocet_core::i18n::{LocalizedText, script_run as phrases};
use avocet_core::protocol::{ScriptDetails, ScriptInput};
use avocet_script::built_in;
use avocet_script::manifest::Manifest;
use avocet_script::manifest::input::DeclaredInput;
use avocet_script::source::{
    ENDINGS, MAX_ENTRIES, ScriptEntry, ScriptLibrary, SourceFiles, is_script, stem,
};

/// The maximum number of names offered.
const MAX_NAMES: usize = 200;
/// The maximum number of files read from one folder.
const MAX_FILES: usize = 200;
/// The maximum length of a script's line of help, in bytes.
const MAX_HELP: usize = 512;
/// The types of scripts that others are made of, which are not run by themselves.
const PARTS: [&str; 3] = ["type", "char", "lib"];
/// The maximum size of a script or module, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Finds the script folders and what scripts may use; true: with the folders of the project.
pub type FindScripts = Arc<dyn Fn(bool) -> ScriptPlaces + Send + Sync>;

/// The script folders, and the trusted ones among them, with links resolved; and what the scripts
/// may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptPlaces {
    pub folders: Vec<PathBuf>,
    pub trusted: Vec<PathBuf>,
    /// The variables of the environment that scripts may read.
    pub environment: BTreeMap<String, String>,
    /// How long a run may take.
    pub time_limit: Option<Duration>,
    /// Opens the sealed ones for a run.
    pub opener: SealOpener,
}

/// Opens sealed scripts; `None`: nothing here does.
#[derive(Clone, Default)]
pub struct SealOpener(pub Option<OpenSealed>);

/// The text of a sealed script, which may need a key of the keyring. Blocks.
pub type OpenSealed = Arc<dyn Fn(&Path) -> Result<String, LocalizedText> + Send + Sync>;

// All that a program has are the same.
impl PartialEq for SealOpener {
    fn eq(&self, other: &SealOpener) -> bool {
        self.0.is_some() == other.0.is_some()
    }
}

impl Eq for SealOpener {}

impl fmt::Debug for SealOpener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SealOpener").field(&self.0.is_some()).finish()
    }
}

impl ScriptPlaces {
    /// The scripts for a run.
    pub(super) fn library(self) -> ScriptLibrary {
        let disk = DiskFiles { trusted: self.trusted, opener: self.opener };
        ScriptLibrary::new(Arc::new(disk), self.folders, built_in::SCRIPTS)
    }

    /// The scripts as they can be listed: sealed ones stay closed.
    fn closed_library(&self) -> ScriptLibrary {
        ScriptPlaces { opener: SealOpener::default(), ..self.clone() }.library()
    }

    /// The scripts that can be named: those of the working folder, of these folders, and the
    /// built-in ones; and how many more there are. Blocks; reads only names.
    pub fn names(&self, cwd: &Path) -> (Vec<String>, usize) {
        let disk = DiskFiles::default();
        let folders = std::iter::once(cwd).chain(self.folders.iter().map(PathBuf::as_path));
        let files = folders.flat_map(|folder| disk.list(folder));
        let found = files.filter(|entry| !entry.is_folder && is_script(&entry.name));
        let found = found.map(|entry| stem(&entry.name).to_owned());
        let built_in = built_in::SCRIPTS.iter().map(|(id, _)| (*id).to_owned());
        let mut names: Vec<String> = Vec::new();
        let found: Vec<String> = found.collect();
        let more = found.len().saturating_sub(MAX_NAMES);
        for name in found.into_iter().take(MAX_NAMES).chain(built_in) {
            let is_plain = !name.is_empty()
                && !name.contains(|sign: char| sign.is_whitespace() || sign.is_control());
            if is_plain && !names.contains(&name) {
                names.push(name);
            }
        }
        (names, more)
    }

    /// Whether a folder of scripts has a script of this name.
    pub fn has_command(&self, name: &str) -> bool {
        let is_file = |folder: &PathBuf| {
            ENDINGS.iter().any(|ending| folder.join(format!("{name}{ending}")).is_file())
        };
        !name.contains('/') && self.folders.iter().any(is_file)
    }

    /// What each of these scripts says of itself. Blocks; reads the scripts.
    pub fn details(&self, cwd: &Path, names: &[String]) -> Vec<ScriptDetails> {
        let library = self.closed_library();
        let details = |name: &String| {
            let loaded = library.find(name, cwd).and_then(|it| Manifest::load(it, &library));
            let Ok(shape) = loaded else {
                // A run reports its fault.
                let named = ScriptDetails { name: name.clone(), ..ScriptDetails::default() };
                let is_command = self.has_command(name);
                return is_command.then_some(ScriptDetails { is_command, ..named });
            };
            let is_command = self.folders.contains(&shape.origin.folder);
            let is_part = shape.text_setting("type").is_some_and(|kind| PARTS.contains(&kind));
            let title = shape.text_setting("title").or(shape.text_setting("description"));
            let title = title.unwrap_or_default().lines().next().unwrap_or_default();
            Some(ScriptDetails {
                name: name.clone(),
                is_command: is_command && !is_part,
                title: avocet_core::text::cut_middle(title, MAX_HELP),
                inputs: shape
                    .inputs
                    .iter()
                    .filter(|it| !it.is_hidden())
                    .map(|input| input_details(&shape, input))
                    .collect(),
            })
        };
        names.iter().filter_map(details).collect()
    }
}

fn input_details(manifest: &Manifest, input: &DeclaredInput) -> ScriptInput {
    let about = |name: &str| input.about.get(name).and_then(Value::as_str).unwrap_or_default();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let line = about("description").lines().next().unwrap_or_default();
    ScriptInput {
        name: input.name.clone(),
        kind: about("type").to_owned(),
        required: input.required && manifest.own_value(input).is_none(),
        choices: input.choices.iter().map(text).collect(),
        about: avocet_core::text::cut_middle(line, MAX_HELP),
    }
}

/// A script that may run as a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelScript {
    pub id: String,
    /// One line: its usage and its purpose.
    pub help: String,
}

/// The trusted scripts of the script folders that have a description. Blocks.
pub(super) fn find_model_scripts(places: &ScriptPlaces) -> Vec<ModelScript> {
    let library = places.closed_library();
    let mut scripts: Vec<ModelScript> = Vec::new();
    for folder in &places.folders {
        let files = library.files().list(folder);
        for file in files.iter().filter(|it| !it.is_folder && is_script(&it.name)).take(MAX_FILES) {
            let Ok(source) = library.find(&file.name, folder) else { continue };
            let Ok(shape) = Manifest::load(source, &library) else { continue };
            let help = shape.help().filter(|_| shape.origin.trusted);
            if let Some(help) = help.filter(|help| scripts.iter().all(|it| it.id != help.id)) {
                let line = help.text().lines().next().unwrap_or_default().replacen("- @", "- ", 1);
                scripts.push(ModelScript {
                    id: help.id,
                    help: avocet_core::text::cut_middle(&line, MAX_HELP),
                });
            }
        }
    }
    scripts
}

/// The scripts on the disk. Links are followed, and the target's path counts.
#[derive(Clone, Debug, Default)]
pub struct DiskFiles {
    /// Folders whose scripts the user trusts, links resolved.
    pub trusted: Vec<PathBuf>,
    pub opener: SealOpener,
}

impl SourceFiles for DiskFiles {
    fn read(&self, path: &Path) -> Result<Option<String>, LocalizedText> {
        let Some(bytes) = self.read_bytes(path)? else { return Ok(None) };
        let name = path.display().to_string();
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(phrases::NOT_TEXT.with("name", name)),
        }
    }

    fn read_bytes(&self, path: &Path) -> Result<Option<Vec<u8>>, LocalizedText> {
        let fault = |error: std::io::Error| {
            let name = path.display().to_string();
            phrases::UNREADABLE.with("name", name).with("why", error.to_string())
        };
        match fs::metadata(path) {
            Ok(about) if about.is_file() => {}
            // A pipe or a device would never end; a folder is not a script.
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => return Ok(None),
            Err(error) => return Err(fault(error)),
        }
        let mut bytes = Vec::new();
        let file = fs::File::open(path).map_err(fault)?;
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(fault)?;
        if bytes.len() as u64 > MAX_BYTES {
            Err(phrases::TOO_LONG.with("most", MAX_BYTES >> 20))
        } else {
            Ok(Some(bytes))
        }
    }

    fn list(&self, folder: &Path) -> Vec<ScriptEntry> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
        let mut entries: Vec<ScriptEntry> = entries
            .filter_map(Result::ok)
            // One more than are searched says that there are too many.
            .take(MAX_ENTRIES + 1)
            .map(|entry| ScriptEntry {
                name: entry.file_name().to_string_lossy().into_owned(),
                // Linked folders are not searched: a link may form a cycle.
                is_folder: entry.file_type().is_ok_and(|kind| kind.is_dir()),
            })
            .collect();
        entries.sort_by(|left, right| left.name.cmp(&right.name));
        entries
    }

    fn is_trusted(&self, path: &Path) -> bool {
        let Ok(real) = path.canonicalize() else { return false };
        self.trusted.iter().any(|folder| real.starts_with(folder))
    }

    fn open_sealed(&self, path: &Path) -> Result<String, LocalizedText> {
        match &self.opener.0 {
            Some(open) => open(path),
            None => Err(phrases::SEALED.with("name", path.display().to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_applies_to_the_target_of_a_link() {
        let root = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
        let real = root.path().canonicalize().unwrap();
        let (inside, outside) = (real.join("in"), real.join("out"));
        for folder in [&inside, &outside] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("a.ai.yaml"), "user: x").unwrap();
        }
        let disk = DiskFiles { trusted: vec![inside.clone()], ..DiskFiles::default() };
        assert!(disk.is_trusted(&inside.join("a.ai.yaml")));
        assert!(!disk.is_trusted(&outside.join("a.ai.yaml")));
        assert!(!disk.is_trusted(&inside.join("../out/a.ai.yaml")));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outside.join("a.ai.yaml"), inside.join("b.ai.yaml"))
                .unwrap();
            assert!(!disk.is_trusted(&inside.join("b.ai.yaml")));
        }
        assert_eq!(disk.read(&inside.join("none.ai.yaml")).unwrap(), None);
        assert_eq!(disk.read(&inside).unwrap(), None);
        let names: Vec<String> = disk.list(&real).into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["in", "out"]);
    }
}
