//! JavaScript files that import each other: the imports of a module are found, read and passed to
//! the engine before it, each file once. Only files of the script's folder, and only if the user
//! trusts them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

use super::super::error::{LocatedError, ScriptResult, quoted};
use super::super::source::{self, SourceFiles};
use avocet_core::i18n::script_run as phrases;

/// Maximum number of files of one module, and of bytes in total.
const MAX_FILES: usize = 64;
const MAX_BYTES: usize = 4 << 20;

/// A file for the engine: its path below the folder, with `/`, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsFile {
    pub name: String,
    pub source: String,
}

/// An import of another file.
#[expect(clippy::unwrap_used, reason = "the pattern is fixed, and a test reads it")]
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:\bfrom|\bimport|\b(?:import|require)\s*\()\s*(?:"([^"\n]+)"|'([^'\n]+)')"#)
        .unwrap()
});

/// A package that is installed in `node_modules`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpmPackage {
    pub folder: PathBuf,
    /// The file that is imported.
    pub main: PathBuf,
}

impl NpmPackage {
    /// The `node_modules` that holds the package and its dependencies.
    pub fn root(&self) -> &Path {
        let name = Some(std::ffi::OsStr::new("node_modules"));
        self.folder.ancestors().find(|above| above.file_name() == name).unwrap_or(&self.folder)
    }
}

/// The package of this name in the `node_modules` of a folder or of one above it.
pub fn npm_package(disk: &dyn SourceFiles, from: &Path, name: &str) -> Option<NpmPackage> {
    let is_name = !name.is_empty() && !name.split('/').any(|part| part.is_empty() || part == "..");
    let folders = from.ancestors().filter(|_| is_name).take(MAX_DEPTH);
    let mut places = folders.map(|above| above.join("node_modules").join(name));
    let is_folder = |path: &PathBuf| !disk.list(path).is_empty() && disk.is_trusted(path);
    let Some(folder) = places.clone().find(is_folder) else {
        // A file of a package: `lodash/merge`.
        let is_file = |path: &PathBuf| matches!(disk.read(path), Ok(Some(_)));
        let main = places.find_map(|path| Some(with_extension(disk, path)).filter(is_file))?;
        let folder = main.parent()?.to_owned();
        return disk.is_trusted(&main).then_some(NpmPackage { folder, main });
    };
    let about = disk.read(&folder.join("package.json")).ok().flatten();
    let about: Value = about.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let exports = about.get("exports");
    let exports = exports.map(|it| it.get(".").unwrap_or(it));
    let exported = exports.and_then(|it| it.get("import").or(it.get("default")).or(Some(it)));
    let main = [about.get("module"), exported, about.get("main")].into_iter().flatten();
    let main = main.filter_map(Value::as_str).next().unwrap_or("index.js");
    let main = source::normalize_path(&folder.join(main));
    let with_end = |end: &str| {
        let mut path = main.clone().into_os_string();
        path.push(end);
        PathBuf::from(path)
    };
    let ends = ["", ".js", ".mjs", ".cjs", "/index.js"].into_iter().map(with_end);
    let main = ends.into_iter().find(|path| matches!(disk.read(path), Ok(Some(_))))?;
    main.starts_with(&folder).then_some(NpmPackage { folder, main })
}

/// How many folders are searched for `node_modules`.
const MAX_DEPTH: usize = 16;

/// The file at a path with all its imports, dependencies first.
pub fn read_js_files(
    disk: &dyn SourceFiles,
    own: &Path,
    path: &Path,
) -> ScriptResult<(PathBuf, Vec<JsFile>)> {
    let folder = if path.starts_with(own) {
        own.to_owned()
    } else {
        // A package of another folder has its own root.
        path.parent().unwrap_or(Path::new("")).to_owned()
    };
    let mut files = ModuleFiles {
        folder,
        in_progress: Vec::new(),
        visited: BTreeSet::new(),
        files: Vec::new(),
    };
    collect_files(disk, &mut files, path)?;
    Ok((files.folder, files.files))
}

fn collect_files(disk: &dyn SourceFiles, files: &mut ModuleFiles, path: &Path) -> ScriptResult {
    if !files.visited.insert(path.to_owned()) {
        return if files.in_progress.iter().any(|open| open == path) {
            Err(phrases::MODULE_CIRCLE.with("name", quoted(&files.relative_name(path))).into())
        } else {
            Ok(())
        };
    }
    if files.visited.len() > MAX_FILES {
        let name =
            files.in_progress.first().map_or_else(String::new, |first| files.relative_name(first));
        return Err(phrases::TOO_MANY_FILES
            .with("most", MAX_FILES)
            .with("name", quoted(&name))
            .into());
    }
    let text = disk
        .read(path)
        .map_err(LocatedError::new)?
        .ok_or_else(|| phrases::NO_FILE.with("name", quoted(&files.relative_name(path))))?;
    if !disk.is_trusted(path) {
        return Err(phrases::UNTRUSTED
            .with("file", path.display().to_string())
            .with("what", quoted(&files.relative_name(path)))
            .into());
    }
    if text.len() + files.files.iter().map(|file| file.source.len()).sum::<usize>() > MAX_BYTES {
        return Err(phrases::TOO_LONG.with("most", MAX_BYTES >> 20).into());
    }
    files.in_progress.push(path.to_owned());
    let mut source = text.clone();
    for named in imported_files(&text) {
        let Some(next) = imported_path(disk, files, path, &named)? else { continue };
        if !is_relative(&named) {
            // The engine finds files by their path from the one that imports them.
            let up = "../".repeat(files.relative_name(path).matches('/').count());
            source = with_import(&source, &named, &format!("./{up}{}", files.relative_name(&next)));
        }
        collect_files(disk, files, &next)?;
    }
    files.in_progress.pop();
    files.files.push(JsFile { name: files.relative_name(path), source });
    Ok(())
}

fn is_relative(named: &str) -> bool {
    named.starts_with("./") || named.starts_with("../")
}

/// The imported file; `None` for a module of the engine.
fn imported_path(
    disk: &dyn SourceFiles,
    files: &ModuleFiles,
    path: &Path,
    named: &str,
) -> ScriptResult<Option<PathBuf>> {
    let beside = path.parent().unwrap_or(Path::new(""));
    if !is_relative(named) {
        let package = npm_package(disk, beside, named).map(|package| package.main);
        return Ok(package.filter(|main| main.starts_with(&files.folder)));
    }
    let next = source::normalize_path(&beside.join(named));
    if !next.starts_with(&files.folder) {
        return Err(phrases::MODULE_OUTSIDE.with("name", quoted(named)).into());
    }
    Ok(Some(with_extension(disk, next)))
}

/// The file that is meant: CommonJS allows leaving out the extension.
fn with_extension(disk: &dyn SourceFiles, path: PathBuf) -> PathBuf {
    let found = ["", ".js", ".cjs", ".mjs", "/index.js"].iter().find_map(|end| {
        let mut full = path.clone().into_os_string();
        full.push(end);
        let full = PathBuf::from(full);
        matches!(disk.read(&full), Ok(Some(_))).then_some(full)
    });
    found.unwrap_or(path)
}

struct ModuleFiles {
    folder: PathBuf,
    /// The files whose imports are being read.
    in_progress: Vec<PathBuf>,
    visited: BTreeSet<PathBuf>,
    files: Vec<JsFile>,
}

impl ModuleFiles {
    fn relative_name(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.folder).unwrap_or(path);
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
        parts.join("/")
    }
}

/// The source with another name for what it imports.
fn with_import(source: &str, named: &str, name: &str) -> String {
    let renamed = NAMED.replace_all(source, |found: &Captures<'_>| {
        let is_meant = found.get(1).or(found.get(2)).is_some_and(|it| it.as_str() == named);
        if is_meant { found[0].replace(named, name) } else { found[0].to_owned() }
    });
    renamed.into_owned()
}

/// The files and packages a module imports, in order.
fn imported_files(source: &str) -> Vec<String> {
    let is_code =
        |line: &&str| !line.trim_start().starts_with("//") && !line.trim_start().starts_with('*');
    let code: Vec<&str> = source.lines().filter(is_code).collect();
    let code = code.join("\n");
    let all = NAMED.captures_iter(&code);
    all.filter_map(|found| found.get(1).or(found.get(2)).map(|it| it.as_str().to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_imports_of_a_module_are_found() {
        let source = "import a from './a.mjs'\nimport {\n  b,\n} from \"../b.mjs\";\nimport './c.mjs'\nexport * from './d.mjs'\nconst e = require('./e')\n// import x from './x.mjs'\n * from './y.mjs'\nimport path from 'path'\nconst s = 'from here'\nawait import('./f.mjs')\n";
        assert_eq!(
            imported_files(source),
            ["./a.mjs", "../b.mjs", "./c.mjs", "./d.mjs", "./e", "path", "./f.mjs"]
        );
    }
}
