//! What an editor shows of a script: its faults, what can be written at a place, what a name means,
//! and where it comes from. Nothing of the script runs. Protocols and processes are elsewhere: this
//! takes a text and gives plain data.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::check::{self, KnownNames, ScriptFaultSeverity};
use super::error::LocatedError;
use super::manifest::Manifest;
use super::source::{
    ScriptEntry, ScriptLibrary, ScriptOrigin, ScriptSource, SourceFiles, normalize_path, stem,
};
use super::syntax;
use avocet_core::i18n::{Lang, Localize, LocalizedText, PhraseValue};
pub use complete::{Completion, CompletionKind};
pub use describe::HoverText;
use position::SourceLines;
pub use position::{EditorPosition, EditorRange, replace_range};
use spot::{Spot, spot_at};

mod complete;
mod describe;
mod position;
mod spot;

/// The text of a script as its editor has it, and the library around it.
pub struct EditedScript<'a> {
    path: &'a Path,
    text: &'a str,
    library: &'a ScriptLibrary,
    lines: SourceLines<'a>,
    /// The lines of the head; up to the end of the text while it is not closed.
    head: Option<Range<u32>>,
}

/// A fault and the part of the text that it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct EditorFault {
    pub range: EditorRange,
    pub severity: ScriptFaultSeverity,
    pub message: LocalizedText,
    /// A word of it, and what was probably meant.
    pub fix: Option<(EditorRange, String)>,
}

impl<'a> EditedScript<'a> {
    pub fn new(path: &'a Path, text: &'a str, library: &'a ScriptLibrary) -> EditedScript<'a> {
        let lines = SourceLines::new(text);
        let head = head_lines(&lines);
        EditedScript { path, text, library, lines, head }
    }

    fn load(&self, text: &str) -> Result<Manifest, LocatedError> {
        Manifest::read(self.source(text)?, self.library)
    }

    fn source(&self, text: &str) -> Result<ScriptSource, LocatedError> {
        let file = self.path.display().to_string();
        let document = syntax::parse(&file, text)?;
        let name = self.path.file_name().map(|name| name.to_string_lossy().into_owned());
        let own = document.front_matter.get("_id").and_then(|id| id.as_text()).map(str::to_owned);
        let origin = ScriptOrigin {
            folder: self.path.parent().unwrap_or(Path::new("")).to_owned(),
            id: own.unwrap_or_else(|| stem(&name.unwrap_or_default()).to_owned()),
            trusted: self.library.files().is_trusted(self.path),
            is_sealed: false,
            package: None,
            is_built_in: false,
            acts_for: None,
            file,
        };
        Ok(ScriptSource { origin, document })
    }

    /// All faults, as `--check` finds them.
    pub async fn faults(&self) -> Vec<EditorFault> {
        let faults = match self.source(self.text) {
            Ok(source) => check::check_alone(source, self.library).await,
            Err(fault) => vec![fault],
        };
        let own = self.path.display().to_string();
        let of = |error: LocatedError| {
            let severity = check::severity(&error);
            match &error.location {
                Some(at) if at.file == own => {
                    let range = self.lines.range_of(at.position);
                    let fix = self.fix(range.start, &error.message);
                    EditorFault { range, severity, message: error.message, fix }
                }
                // A fault of another file is reported at the beginning, with its place.
                _ => {
                    let range = self.lines.range(0, 0, 0);
                    EditorFault { range, severity, message: error.localized(), fix: None }
                }
            }
        };
        faults.into_iter().map(of).collect()
    }

    /// The word that a fault at a place is about, if it is near to another one.
    fn fix(
        &self,
        position: EditorPosition,
        message: &LocalizedText,
    ) -> Option<(EditorRange, String)> {
        let near = message.value("near")?.text(Lang::En);
        let about = match message.value("what") {
            Some(PhraseValue::Say(about)) => about,
            _ => message,
        };
        let wrong = about.value("name").or(about.value("value"))?.text(Lang::En);
        let start = self.lines.byte_at(position);
        let rest = self.lines.get(position.line).get(start..)?;
        let at = start + rest.find(&wrong).filter(|_| !wrong.is_empty())?;
        Some((self.lines.range(position.line, at, at + wrong.len()), near))
    }

    /// What the script declares; while a line is being written, without that line.
    fn manifest(&self, without: u32) -> Option<Manifest> {
        if let Ok(manifest) = self.load(self.text) {
            return Some(manifest);
        }
        let lines = self.lines.iter().map(|(at, line)| if at == without { "" } else { line });
        self.load(&lines.collect::<Vec<_>>().join("\n")).ok()
    }

    fn names(&self, manifest: Option<&Manifest>) -> KnownNames {
        manifest.map(|manifest| KnownNames::of(manifest, self.library)).unwrap_or_default()
    }

    fn spot(&self, position: EditorPosition) -> Spot<'a> {
        spot_at(&self.lines, position, self.head.as_ref())
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// What the script of a name declares.
    fn called(&self, name: &str, manifest: Option<&Manifest>) -> Option<Manifest> {
        Manifest::load(self.find_script(name, manifest)?, self.library).ok()
    }

    /// The script of a name, as seen from this one.
    fn find_script(&self, name: &str, manifest: Option<&Manifest>) -> Option<ScriptSource> {
        let role = manifest.and_then(|manifest| manifest.roles().get(name).cloned());
        let name = role.as_ref().and_then(|role| role.as_str()).unwrap_or(name);
        self.library.find(name, self.folder()).ok()
    }
}

/// The lines between the two `---`; they may be missing below.
fn head_lines(lines: &SourceLines<'_>) -> Option<Range<u32>> {
    let mut content =
        lines.iter().skip_while(|(_, line)| line.trim().is_empty() || line.starts_with('#'));
    let (begin, _) = content.next().filter(|(_, line)| line.trim_end() == "---")?;
    let end = content.find(|(_, line)| line.starts_with("---"));
    Some(begin + 1..end.map_or(u32::MAX, |(end, _)| end))
}

/// Files as they are in the editor, where it has them, otherwise as they are on the disk.
pub struct EditedFiles<F> {
    pub disk: F,
    pub open: BTreeMap<PathBuf, Arc<str>>,
}

impl<F: SourceFiles> SourceFiles for EditedFiles<F> {
    fn read(&self, path: &Path) -> Result<Option<String>, LocalizedText> {
        match self.open.get(&normalize_path(path)) {
            Some(text) => Ok(Some(text.to_string())),
            None => self.disk.read(path),
        }
    }

    fn read_bytes(&self, path: &Path) -> Result<Option<Vec<u8>>, LocalizedText> {
        match self.open.get(&normalize_path(path)) {
            Some(text) => Ok(Some(text.as_bytes().to_vec())),
            None => self.disk.read_bytes(path),
        }
    }

    fn list(&self, folder: &Path) -> Vec<ScriptEntry> {
        self.disk.list(folder)
    }

    fn is_trusted(&self, path: &Path) -> bool {
        self.disk.is_trusted(path)
    }
}
