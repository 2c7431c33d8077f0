//! Finds what programs outside the system's folders need beside themselves: the libraries of the
//! installation that they belong to, wherever it is.
//!
//! An installation is known by its libraries. A project is none, whatever its folders are called:
//! of it a program opens its own folder and nothing else.

use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

use super::super::shelves::executable;
use super::programs::interpreters_of;
use super::readable_paths::SandboxPaths;
use avocet_safety as safety;

/// What of a folder of programs is looked through for links and scripts.
const MAX_ENTRIES: usize = 4_000;

/// Where systems keep programs and the interpreters that scripts of theirs name.
const PROGRAM_TREES: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix",
    "/gnu/store",
    "/snap",
    "/run/current-system",
    "/home/linuxbrew",
];

/// Names of folders of programs, beside which their libraries are.
const PROGRAM_FOLDERS: &[&str] = &["bin", "sbin", "Scripts", "condabin"];

/// Entries of an installation beside its programs.
const LIBRARIES: &[&str] = &[
    "lib",
    "lib32",
    "lib64",
    "libexec",
    "pkg",
    "share",
    "jre",
    "Frameworks",
    "pyvenv.cfg",
    "conda-meta",
];

/// Entries of a project's folder.
const OF_PROJECTS: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".env",
    ".envrc",
    "Cargo.toml",
    "package.json",
    "go.mod",
    "pyproject.toml",
    "Gemfile",
    "composer.json",
    "pom.xml",
    "build.gradle",
    "Makefile",
];

/// Version managers that keep toolchains beside the folder of their own programs, and the parts of
/// them that these need. Settings and keys are in others.
const MANAGERS: &[&str] = &[
    ".pyenv",
    ".rbenv",
    ".nodenv",
    ".goenv",
    ".jenv",
    ".plenv",
    ".asdf",
    ".local/share/mise",
    ".volta",
    ".sdkman",
    ".ghcup",
    ".juliaup",
    ".elan",
    ".dotnet",
];
const PARTS_OF_MANAGERS: &[&str] = &[
    "bin",
    "cabal",
    "candidates",
    "ghc",
    "hls",
    "host",
    "installs",
    "lib",
    "libexec",
    "packs",
    "plugins",
    "sdk",
    "shared",
    "shims",
    "stack",
    "toolchains",
    "tools",
    "version",
    "versions",
];

impl SandboxPaths {
    /// Every tree of programs.
    pub fn program_trees(&self) -> Vec<PathBuf> {
        let named = PROGRAM_TREES.iter().map(PathBuf::from).chain(self.programs.iter().cloned());
        named.filter_map(|tree| tree.canonicalize().ok()).collect()
    }

    /// What a program needs beside itself to run, where that is not the system's: `~/tools/x` for
    /// `~/tools/x/bin/x`, and the same of the interpreters that its first lines name.
    pub fn installations_of(&self, program: &Path) -> Vec<PathBuf> {
        Installations::new(self).of_program(program)
    }

    /// What the programs need that the user listed, and the toolchains of Go that `go` fetches.
    pub fn listed_installations(&self) -> Vec<PathBuf> {
        let installs = Installations::new(self);
        let listed = self.programs.iter().flat_map(|folder| installs.beside(folder));
        let fetched = entries(&self.home.join("sdk")).into_iter().map(|(path, _)| path);
        let fetched = fetched.filter(|path| executable(&path.join("bin/go")).is_some());
        listed.chain(fetched).collect()
    }

    /// What the programs of the user's `PATH` need: their folders, and what links and scripts in
    /// these lead to.
    pub fn programs_of_path(&self) -> Vec<PathBuf> {
        let installs = Installations::new(self);
        let folders = || self.path.iter().chain(&self.programs);
        let mut found: Vec<PathBuf> =
            folders().flat_map(|folder| installs.of_folder(folder)).collect();
        found.retain(|path| !installs.is_closed(path));
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Looks for installations, with the places that are none.
struct Installations<'a> {
    paths: &'a SandboxPaths,
    private: Vec<PathBuf>,
    /// Where a bare name is looked up.
    folders: Vec<PathBuf>,
}

impl<'a> Installations<'a> {
    fn new(paths: &'a SandboxPaths) -> Installations<'a> {
        let folders = paths.path.iter().chain(&paths.programs).cloned().collect();
        let mut private = paths.private_places();
        // Toolchains are in the home of root as in any other.
        private.retain(|place| place != Path::new("/root"));
        Installations { paths, private, folders }
    }

    fn of_program(&self, program: &Path) -> Vec<PathBuf> {
        let mut found = self.of_interpreters(program);
        // Also where the program is a link: a Python environment is around the link.
        let named = program.parent().and_then(|folder| folder.canonicalize().ok());
        let named = named.filter(|folder| !folder.starts_with(&self.paths.workspace));
        if let Some(folder) = named {
            found.extend(self.installation(&folder).into_iter().chain(self.of_manager(&folder)));
        }
        let Ok(real) = program.canonicalize() else { return found };
        let Some(folder) = real.parent() else { return found };
        // A link in the workspace says nothing of what the user meant.
        if program.starts_with(&self.paths.workspace) {
            found.extend(self.installation(folder));
        } else {
            found.extend(self.beside(folder));
        }
        found
    }

    /// What a version manager keeps for the programs of this folder, `~/.volta/tools` for
    /// `~/.volta/bin`.
    fn of_manager(&self, folder: &Path) -> Vec<PathBuf> {
        let is_manager = |root: &&Path| MANAGERS.iter().any(|name| root.ends_with(name));
        let root = folder.ancestors().take(2).find(is_manager);
        let parts = root.into_iter().flat_map(entries).map(|(path, _)| path);
        let is_part = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            PARTS_OF_MANAGERS.contains(&name) || name.starts_with("julia-")
        };
        parts.filter(|path| is_part(path) && !self.is_closed(path)).collect()
    }

    /// The installation of a folder of programs, with what it was made from.
    fn installation(&self, folder: &Path) -> Vec<PathBuf> {
        self.around(folder).into_iter().chain(self.base_of_environment(folder)).collect()
    }

    /// What the programs of a folder need beside themselves.
    fn beside(&self, folder: &Path) -> Vec<PathBuf> {
        let base = self.base_of_environment(folder);
        let around = match self.around(folder) {
            Some(root) => vec![root],
            None if is_program_folder(folder) => self.part_of_project(folder),
            None => Vec::new(),
        };
        around.into_iter().chain(base).collect()
    }

    /// The interpreters of a script, and their installations. The author of the script chose them,
    /// so nothing is opened that cannot be started.
    fn of_interpreters(&self, script: &Path) -> Vec<PathBuf> {
        let named = interpreters_of(script, &self.folders).into_iter();
        let real = named.filter_map(|path| path.canonicalize().ok());
        let programs = real.filter(|path| executable(path).is_some() && !self.is_closed(path));
        let all = programs.flat_map(|program| {
            let mut own = self.installation(program.parent().unwrap_or(&program));
            own.push(program);
            own
        });
        all.collect()
    }

    /// What the programs of a folder need.
    fn of_folder(&self, folder: &Path) -> Vec<PathBuf> {
        // What is in the workspace was put there by the project, links too.
        if folder.starts_with(&self.paths.workspace) {
            return Vec::new();
        }
        let mut found = self.beside(folder);
        let lists_programs = !found.iter().any(|open| folder.starts_with(open));
        for (entry, kind) in entries(folder) {
            if kind.is_symlink() {
                found.extend(self.of_link(&entry));
            } else if kind.is_file() && !is_of_system(folder) {
                found.extend(self.of_interpreters(&entry));
                let is_program = lists_programs && executable(&entry).is_some();
                found.extend(is_program.then_some(entry));
            }
        }
        found
    }

    /// The program that a link leads to, with what it needs.
    fn of_link(&self, link: &Path) -> Vec<PathBuf> {
        // Most lead to a neighbour.
        let is_neighbour = fs::read_link(link).is_ok_and(|to| to.components().count() == 1);
        let target = link.canonicalize().ok().filter(|_| !is_neighbour);
        let target =
            target.filter(|target| executable(target).is_some() && !self.is_closed(target));
        let Some(target) = target else { return Vec::new() };
        let mut found = self.of_interpreters(&target);
        found.extend(self.installation(target.parent().unwrap_or(&target)));
        found.push(target);
        found
    }

    /// The installation around a folder of programs.
    fn around(&self, folder: &Path) -> Option<PathBuf> {
        // What package managers fill, with links to the programs in it.
        let packages = folder.ancestors().take(5).find(|above| {
            above.ends_with("node_modules")
                || above.ends_with("vendor") && above.join("autoload.php").is_file()
        });
        let is_named = is_program_folder(folder);
        let root = packages.or_else(|| if is_named { folder.parent() } else { Some(folder) })?;
        let is_install =
            packages.is_some() || has_any(root, LIBRARIES) && !has_any(root, OF_PROJECTS);
        (is_install && !self.is_closed(root) && !self.holds_others(root)).then(|| root.to_owned())
    }

    /// The programs of a project's folder, and the libraries beside them.
    fn part_of_project(&self, folder: &Path) -> Vec<PathBuf> {
        let root = folder.parent().unwrap_or(folder);
        let libraries = LIBRARIES.iter().map(|name| root.join(name)).filter(|path| path.is_dir());
        let own = libraries.chain([folder.to_owned()]);
        own.filter(|path| !self.is_closed(path) && !self.holds_others(path)).collect()
    }

    /// The installation that a Python environment names as its own.
    fn base_of_environment(&self, folder: &Path) -> Option<PathBuf> {
        let text = fs::read_to_string(folder.parent()?.join("pyvenv.cfg")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("home"))?;
        let bin = Path::new(line.trim_start().strip_prefix('=')?.trim()).canonicalize().ok()?;
        executable(&bin.join("python3")).and_then(|_| self.around(&bin))
    }

    /// Whether a place is open already, or stays closed.
    fn is_closed(&self, path: &Path) -> bool {
        is_of_system(path)
            || path.starts_with(&self.paths.workspace)
            || self.private.iter().any(|place| path.starts_with(place))
            || safety::is_credential_path(path)
    }

    /// Whether a folder holds more than programs and what they need: the home, the workspace, a
    /// place that is private.
    fn holds_others(&self, folder: &Path) -> bool {
        let named = [&self.paths.home, &self.paths.workspace].into_iter().chain(&self.private);
        folder.parent().is_none() || named.into_iter().any(|place| place.starts_with(folder))
    }
}

fn is_program_folder(folder: &Path) -> bool {
    PROGRAM_FOLDERS.iter().any(|name| folder.ends_with(name))
}

fn is_of_system(path: &Path) -> bool {
    PROGRAM_TREES.iter().any(|tree| path.starts_with(tree))
}

fn has_any(folder: &Path, names: &[&str]) -> bool {
    names.iter().any(|name| folder.join(name).symlink_metadata().is_ok())
}

fn entries(folder: &Path) -> Vec<(PathBuf, FileType)> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    let kinds = found.filter_map(|entry| Some((entry.path(), entry.file_type().ok()?)));
    kinds.take(MAX_ENTRIES).collect()
}
