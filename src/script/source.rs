//! Finds scripts: by path, by ID in folders, in packages, among the built-in ones. The search rules
//! are here; disk access goes through [`SourceFiles`].

use std::collections::{BTreeSet, VecDeque};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::error::LocatedError;
use super::syntax::{self, Document};
use avocet_config::suggest;
use avocet_core::i18n::{LocalizedText, script_run as phrases};

/// How a script begins that age has encrypted.
pub const SEAL: &str = "-----BEGIN AGE ENCRYPTED FILE-----";

/// How deep folders are searched, and how many entries are examined.
const MAX_DEPTH: usize = 4;
pub const MAX_ENTRIES: usize = 20_000;
/// The file name extensions of scripts.
pub const ENDINGS: &[&str] = &[".ai.yaml", ".ai.yml"];

/// Disk access of a search. Reads only.
pub trait SourceFiles: Send + Sync {
    /// The text of a file; `None` if it does not exist.
    fn read(&self, path: &Path) -> Result<Option<String>, LocalizedText>;
    /// The bytes of a file that is not text.
    fn read_bytes(&self, path: &Path) -> Result<Option<Vec<u8>>, LocalizedText>;
    /// The names in a folder, sorted; empty if it does not exist.
    fn list(&self, folder: &Path) -> Vec<ScriptEntry>;
    /// Whether the user trusts this path.
    fn is_trusted(&self, path: &Path) -> bool;
    /// The text of a sealed script, in memory only.
    fn open_sealed(&self, path: &Path) -> Result<String, LocalizedText> {
        Err(phrases::SEALED.with("name", path.display().to_string()))
    }
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptEntry {
    pub name: String,
    pub is_folder: bool,
}

/// The origin of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptOrigin {
    /// The name that messages use.
    pub file: String,
    /// The base of relative paths in it.
    pub folder: PathBuf,
    /// The name without its extension.
    pub id: String,
    pub trusted: bool,
    /// Its author sealed it, or a script that it is made of: its words are for the model alone.
    pub is_sealed: bool,
    /// The package it is the entry of.
    pub package: Option<String>,
    pub is_built_in: bool,
    /// The script that a built-in one works for: what it remembers is that script's.
    pub acts_for: Option<String>,
}

impl ScriptOrigin {
    /// The name of a file that the user does not have.
    pub fn built_in_file(&self) -> Option<&str> {
        self.is_built_in.then_some(self.file.as_str())
    }
}

/// A script that was found, with its text.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptSource {
    pub origin: ScriptOrigin,
    pub document: Document,
}

/// A built-in script: its ID and its text.
pub type BuiltIn = (&'static str, &'static str);

/// The places where scripts are searched.
#[derive(Clone)]
pub struct ScriptLibrary {
    files: Arc<dyn SourceFiles>,
    /// The folders given for this run (`-s`), then those of the settings.
    folders: Vec<PathBuf>,
    built_in: &'static [BuiltIn],
}

impl ScriptLibrary {
    pub fn new(
        files: Arc<dyn SourceFiles>,
        folders: Vec<PathBuf>,
        built_in: &'static [BuiltIn],
    ) -> ScriptLibrary {
        ScriptLibrary { files, folders, built_in }
    }

    /// The IDs of the built-in scripts.
    pub fn built_in(&self) -> impl Iterator<Item = &'static str> {
        self.built_in.iter().map(|(id, _)| *id)
    }

    /// The files of the scripts in a folder and below those of this run.
    pub fn paths(&self, from: &Path) -> Vec<PathBuf> {
        let given = self.folders.iter().map(|folder| (normalize_path(folder), 1));
        let mut budget = MAX_ENTRIES;
        self.walk(given.chain([(normalize_path(from), MAX_DEPTH)]).collect(), &mut budget)
    }

    /// The files of the scripts in a folder and below it, in order; `None`: it has too many
    /// entries.
    pub fn paths_below(&self, folder: &Path) -> Option<Vec<PathBuf>> {
        let mut budget = MAX_ENTRIES + 1;
        let mut paths = self.walk(vec![(normalize_path(folder), 1)], &mut budget);
        paths.sort();
        (budget > 0).then_some(paths)
    }

    /// The scripts of these folders, whose depths are given.
    fn walk(&self, mut open: Vec<(PathBuf, usize)>, budget: &mut usize) -> Vec<PathBuf> {
        let mut out = Vec::new();
        let mut seen = BTreeSet::new();
        while let Some((folder, depth)) = open.pop() {
            if !seen.insert(folder.clone()) {
                continue;
            }
            for entry in self.files.list(&folder).into_iter().take(*budget) {
                *budget -= 1;
                let path = folder.join(&entry.name);
                if entry.is_folder {
                    if depth < MAX_DEPTH && !entry.name.starts_with('.') {
                        open.push((path, depth + 1));
                    }
                } else if is_script(&entry.name) {
                    out.push(path)
                }
            }
        }
        out
    }

    pub fn files(&self) -> &dyn SourceFiles {
        self.files.as_ref()
    }

    /// The script a name refers to, as seen from a folder: a path, or an ID that is searched in
    /// that folder, in the given folders, and among the built-in scripts.
    pub fn find(&self, name: &str, from: &Path) -> Result<ScriptSource, LocatedError> {
        let name = name.trim();
        let asked = name.strip_prefix("ai:").unwrap_or(name);
        let (package, inner) = match asked.split_once('#') {
            Some((package, inner)) => (package, Some(inner)),
            None => (asked, None),
        };
        let missing =
            || LocatedError::new(phrases::NO_SCRIPT.with("name", super::error::quoted(name)));
        if package.is_empty() || package.contains('\0') {
            return Err(missing());
        }
        if let Some(inner) = inner {
            let folder = self.package_folder(package, from).ok_or_else(missing)?;
            return self.load_at(&normalize_path(&folder.join(inner)))?.ok_or_else(missing);
        }
        if let Some(source) = self.find_by_path(package, from)? {
            return Ok(source);
        }
        if let Some(source) = self.find_by_id(package, from)? {
            return Ok(source);
        }
        let has_extension = Path::new(package).extension().is_some() && !is_script(package);
        let path = normalize_path(&from.join(package));
        Err(if has_extension && matches!(self.files.read(&path), Ok(Some(_))) {
            LocatedError::new(phrases::NO_SCRIPT_FILE.with("name", super::error::quoted(name)))
        } else {
            missing()
        })
    }

    /// The same for a name that the user typed: the error names the ID that is nearly written so.
    pub fn find_typed(&self, name: &str, from: &Path) -> Result<ScriptSource, LocatedError> {
        let error = match self.find(name, from) {
            Err(error) if error.message.phrase() == phrases::NO_SCRIPT => error,
            found => return found,
        };
        let files = self.paths(from);
        let files = files.iter().filter_map(|path| path.file_name()?.to_str()).map(stem);
        let known = files.chain(self.built_in.iter().map(|(id, _)| *id));
        Err(match suggest::nearest(name, known).first().filter(|_| name.len() > 2) {
            Some(near) => {
                let what = phrases::NO_SCRIPT_NEAR.with("name", super::error::quoted(name));
                LocatedError::new(what.with("near", (*near).to_owned()))
            }
            None => error,
        })
    }

    /// The file an import names, as seen from a folder; it must be below that folder or below one
    /// of the given folders.
    pub fn resolve_import(&self, name: &str, from: &Path) -> PathBuf {
        match name.strip_prefix("ai:").unwrap_or(name).split_once('#') {
            Some((package, inner)) => match self.package_folder(package, from) {
                Some(folder) => normalize_path(&folder.join(inner)),
                None => normalize_path(&from.join(package).join(inner)),
            },
            None => normalize_path(&from.join(name)),
        }
    }

    fn find_by_path(&self, name: &str, from: &Path) -> Result<Option<ScriptSource>, LocatedError> {
        let path = normalize_path(&from.join(name));
        let is_file_name = ENDINGS.iter().any(|end| name.ends_with(end));
        let looks_like_path = is_file_name || name.contains(['/', '\\']) || name.starts_with('.');
        if !looks_like_path {
            return Ok(None);
        }
        if let Some(source) = self.load_at(&path)? {
            return Ok(Some(source));
        }
        for folder in &self.folders {
            if let Some(source) = self.load_at(&normalize_path(&folder.join(name)))? {
                return Ok(Some(source));
            }
        }
        Ok(None)
    }

    /// A file, the file with an extension added, or the entry of a folder.
    fn load_at(&self, path: &Path) -> Result<Option<ScriptSource>, LocatedError> {
        if ENDINGS.iter().any(|end| path.to_string_lossy().ends_with(end)) {
            return self.load(path, None);
        }
        for end in ENDINGS {
            let mut named = path.as_os_str().to_owned();
            named.push(end);
            if let Some(source) = self.load(Path::new(&named), None)? {
                return Ok(Some(source));
            }
        }
        self.load_package_entry(path)
    }

    /// The entry of a package: the file named like the folder, otherwise `index`.
    fn load_package_entry(&self, folder: &Path) -> Result<Option<ScriptSource>, LocatedError> {
        let Some(name) = folder.file_name().map(|name| name.to_string_lossy().into_owned()) else {
            return Ok(None);
        };
        for stem in [name.as_str(), "index"] {
            for end in ENDINGS {
                let path = folder.join(format!("{stem}{end}"));
                if let Some(source) = self.load(&path, Some(&name))? {
                    return Ok(Some(source));
                }
            }
        }
        Ok(None)
    }

    fn load(
        &self,
        path: &Path,
        package: Option<&str>,
    ) -> Result<Option<ScriptSource>, LocatedError> {
        let Some(text) = self.files.read(path).map_err(LocatedError::new)? else { return Ok(None) };
        let file = path.display().to_string();
        let is_sealed = text.starts_with(SEAL);
        let text =
            if is_sealed { self.files.open_sealed(path).map_err(LocatedError::new)? } else { text };
        let document = syntax::parse(&file, &text).map_err(|error| error.concealed(is_sealed))?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let stem = stem(&name.unwrap_or_default()).to_owned();
        let own = document.front_matter.get("_id").and_then(|id| id.as_text()).map(str::to_owned);
        let origin = ScriptOrigin {
            file,
            folder: path.parent().unwrap_or(Path::new("")).to_owned(),
            id: own.or(package.map(str::to_owned)).unwrap_or(stem),
            trusted: self.files.is_trusted(path),
            is_sealed,
            package: package.map(str::to_owned),
            is_built_in: false,
            acts_for: None,
        };
        Ok(Some(ScriptSource { origin, document }))
    }

    fn package_folder(&self, name: &str, from: &Path) -> Option<PathBuf> {
        let mut places = vec![normalize_path(&from.join(name))];
        places.extend(self.folders.iter().map(|folder| normalize_path(&folder.join(name))));
        places.into_iter().find(|folder| !self.files.list(folder).is_empty())
    }

    fn find_by_id(&self, id: &str, from: &Path) -> Result<Option<ScriptSource>, LocatedError> {
        let mut seen = BTreeSet::new();
        let mut budget = MAX_ENTRIES;
        // The script's own folder is searched first, without its sub-folders.
        let direct = std::iter::once(from).chain(self.folders.iter().map(PathBuf::as_path));
        for folder in direct {
            if let Some(source) = self.load_at(&normalize_path(&folder.join(id)))? {
                return Ok(Some(source));
            }
        }
        if let Some((_, text)) = self.built_in.iter().find(|(name, _)| *name == id) {
            return load_built_in(id, text, from).map(Some);
        }
        let mut unnamed = Vec::new();
        let folders: Vec<PathBuf> = self.folders.iter().map(|it| normalize_path(it)).collect();
        for folder in folders.iter().map(PathBuf::as_path).chain([from]) {
            // The script's own folder is searched deeply only if it was given as well.
            let is_given = folders.iter().any(|given| given == folder);
            let deep = if is_given { MAX_DEPTH } else { 1 };
            // The nearest folder comes first, and in it the first name.
            let mut open = VecDeque::from([(folder.to_owned(), 0)]);
            while let Some((folder, depth)) = open.pop_front() {
                if !seen.insert(folder.clone()) {
                    continue;
                }
                for entry in self.files.list(&folder) {
                    budget = budget.saturating_sub(1);
                    if budget == 0 {
                        return Ok(None);
                    }
                    let path = folder.join(&entry.name);
                    if entry.is_folder {
                        if entry.name == id
                            && let Some(source) = self.load_package_entry(&path)?
                        {
                            return Ok(Some(source));
                        }
                        if depth + 1 < deep && !entry.name.starts_with('.') {
                            open.push_back((path, depth + 1));
                        }
                    } else if is_script(&entry.name) {
                        if stem(&entry.name) == id {
                            return self.load(&path, None);
                        }
                        unnamed.push(path);
                    }
                }
            }
        }
        // No file has this name: one may still declare it as its `_id`.
        for path in unnamed {
            if let Ok(Some(source)) = self.load(&path, None)
                && source.origin.id == id
            {
                return Ok(Some(source));
            }
        }
        Ok(None)
    }
}

/// A built-in script; relative paths in it start from the caller's folder.
fn load_built_in(id: &str, text: &str, from: &Path) -> Result<ScriptSource, LocatedError> {
    let file = format!("{id}.ai.yaml");
    let document = syntax::parse(&file, text)?;
    let origin = ScriptOrigin {
        file,
        folder: from.to_owned(),
        id: id.to_owned(),
        trusted: true,
        is_sealed: false,
        package: None,
        is_built_in: true,
        acts_for: None,
    };
    Ok(ScriptSource { origin, document })
}

/// The name without a script's extension.
pub fn stem(name: &str) -> &str {
    ENDINGS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

pub fn is_script(name: &str) -> bool {
    ENDINGS.iter().any(|end| name.ends_with(end))
}

/// The path without `.` and `..`, as far as they can be resolved from the text alone.
pub fn normalize_path(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Files by their path; folders are those that the paths name.
    struct Files(BTreeMap<PathBuf, String>);

    impl SourceFiles for Files {
        fn read(&self, path: &Path) -> Result<Option<String>, LocalizedText> {
            Ok(self.0.get(path).cloned())
        }

        fn read_bytes(&self, _: &Path) -> Result<Option<Vec<u8>>, LocalizedText> {
            Ok(None)
        }

        fn list(&self, folder: &Path) -> Vec<ScriptEntry> {
            let below = self.0.keys().filter_map(|path| path.strip_prefix(folder).ok());
            let entries: BTreeMap<String, bool> = below
                .filter_map(|path| {
                    let mut parts = path.components();
                    let name = parts.next()?.as_os_str().to_string_lossy().into_owned();
                    Some((name, parts.next().is_some()))
                })
                .collect();
            entries.into_iter().map(|(name, is_folder)| ScriptEntry { name, is_folder }).collect()
        }

        fn is_trusted(&self, _: &Path) -> bool {
            true
        }
    }

    fn library(paths: &[&str]) -> ScriptLibrary {
        let text = |path: &&str| match path.split_once('=') {
            Some((path, id)) => (PathBuf::from(path), format!("---\n_id: {id}\n---\nuser: x\n")),
            None => (PathBuf::from(*path), "user: x\n".to_owned()),
        };
        let files = Files(paths.iter().map(text).collect());
        ScriptLibrary::new(Arc::new(files), vec![PathBuf::from("/lib")], &[])
    }

    #[test]
    fn an_id_is_found_in_sub_folders_of_the_search_paths_and_the_nearest_wins() {
        let library = library(&[
            "/home/own.ai.yaml",
            "/home/below/hidden_from_here.ai.yaml",
            "/lib/a/deep/er/translate.ai.yaml",
            "/lib/z/translate.ai.yaml",
            "/lib/b/other.ai.yml",
            "/lib/b/c/twice.ai.yaml",
            "/lib/b/d/twice.ai.yaml",
            "/lib/b/pack/pack.ai.yaml",
            "/lib/b/named.ai.yaml=by_its_id",
            "/lib/1/2/3/deepest.ai.yaml",
            "/lib/1/2/3/4/5/too_deep.ai.yaml",
            "/lib/.git/secret.ai.yaml",
        ]);
        let found = |id: &str| {
            let found = library.find(id, Path::new("/home"));
            found.map(|source| source.origin.file).unwrap_or_default()
        };
        for (id, file) in [
            ("own", "/home/own.ai.yaml"),
            ("translate", "/lib/z/translate.ai.yaml"),
            ("other", "/lib/b/other.ai.yml"),
            ("twice", "/lib/b/c/twice.ai.yaml"),
            ("pack", "/lib/b/pack/pack.ai.yaml"),
            ("by_its_id", "/lib/b/named.ai.yaml"),
            ("deepest", "/lib/1/2/3/deepest.ai.yaml"),
            ("b/other", "/lib/b/other.ai.yml"),
            ("too_deep", ""),
            ("secret", ""),
            ("hidden_from_here", ""),
            ("nothing", ""),
        ] {
            assert_eq!(found(id), file, "{id}");
        }
        let listed = library.paths(Path::new("/home"));
        assert!(listed.contains(&PathBuf::from("/lib/a/deep/er/translate.ai.yaml")));
        assert!(!listed.contains(&PathBuf::from("/lib/.git/secret.ai.yaml")));
    }

    #[test]
    fn a_folder_with_more_entries_than_are_looked_through_is_not_taken_for_a_part_of_it() {
        let names = |count: usize| -> Vec<String> {
            (0..count).map(|n| format!("/s/{}/{n}.ai.yaml", n % 2)).collect()
        };
        let found = |count: usize| {
            let names = names(count);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            library(&names).paths_below(Path::new("/s")).map(|paths| paths.len())
        };
        // The two folders count too.
        assert_eq!(found(MAX_ENTRIES - 2), Some(MAX_ENTRIES - 2));
        assert_eq!(found(MAX_ENTRIES - 1), None);
    }
}
