//! Finds the folders of programs that belong to a project or to a toolchain manager: a
//! Python environment, `node_modules/.bin`, the shims of nvm or pyenv.
//!
//! None of them is trusted: a delivered folder may hold any of these. They are
//! distinguished so that a question can say what they are, and so that what runs is the
//! file that was named, not the one it links to.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use avocet_safety::{LinkIdentity, OwnProgram, Program, Shelf};

/// Where such folders may be, links resolved, and the folders of the user's own `PATH`.
#[derive(Clone, Debug, Default)]
pub struct ToolchainDirs {
    /// The workspace and the repository around it.
    pub roots: Vec<PathBuf>,
    pub home: PathBuf,
    /// Folders of the workspace that the user listed themselves.
    pub listed: Vec<PathBuf>,
    /// The user's `PATH`, and the folders of their toolchain managers.
    pub path: Vec<PathBuf>,
    pub managers: Vec<PathBuf>,
}

/// A toolchain manager: the variable that moves its folder, its place in a home otherwise,
/// and the folder of programs in it. `*` matches one name.
type Manager = (&'static str, &'static str, &'static [&'static str]);

#[rustfmt::skip]
const MANAGERS: &[Manager] = &[
    ("NVM_DIR",       ".nvm",              &["versions/node/*/bin"]),
    ("FNM_DIR",       ".local/share/fnm",  &["node-versions/*/installation/bin", "aliases/*/bin"]),
    ("",              ".fnm",              &["node-versions/*/installation/bin", "aliases/*/bin"]),
    ("VOLTA_HOME",    ".volta",            &["bin", "tools/image/*/*/bin"]),
    ("PYENV_ROOT",    ".pyenv",            &["shims", "bin", "versions/*/bin"]),
    ("RBENV_ROOT",    ".rbenv",            &["shims", "bin", "versions/*/bin"]),
    ("NODENV_ROOT",   ".nodenv",           &["shims", "bin", "versions/*/bin"]),
    ("GOENV_ROOT",    ".goenv",            &["shims", "bin", "versions/*/bin"]),
    ("JENV_ROOT",     ".jenv",             &["shims", "bin"]),
    ("ASDF_DATA_DIR", ".asdf",             &["shims", "bin", "installs/*/*/bin"]),
    ("MISE_DATA_DIR", ".local/share/mise", &["shims", "installs/*/*/bin"]),
    ("SDKMAN_DIR",    ".sdkman",           &["candidates/*/*/bin"]),
    ("PNPM_HOME",     ".local/share/pnpm", &["."]),
    ("BUN_INSTALL",   ".bun",              &["bin"]),
    ("DENO_INSTALL",  ".deno",             &["bin"]),
    ("PERLBREW_ROOT", "perl5/perlbrew",    &["bin", "perls/*/bin"]),
    ("PIXI_HOME",     ".pixi",             &["bin", "envs/*/bin"]),
    ("",              ".rvm",              &["bin", "gems/*/bin", "rubies/*/bin"]),
    ("",              "sdk",               &["*/bin"]),
    ("",              ".nix-profile",      &["bin"]),
    ("",              ".linuxbrew",        &["bin"]),
];

/// Further folders of programs that are known in another home; in the user's own they are trusted.
#[rustfmt::skip]
const OF_OTHER_HOMES: &[(&str, &[&str])] = &[
    (".cargo",           &["bin"]),
    (".rustup",          &["toolchains/*/bin"]),
    (".ghcup",           &["bin"]),
    (".opam",            &["*/bin"]),
    (".juliaup",         &["bin"]),
    (".dotnet",          &[".", "tools"]),
    (".local/share/uv",  &["python/*/bin", "tools/*/bin"]),
];

/// The variables that move the folders of toolchain managers.
pub fn variables() -> impl Iterator<Item = &'static str> {
    MANAGERS.iter().map(|(variable, ..)| *variable).filter(|variable| !variable.is_empty())
}

impl ToolchainDirs {
    /// The program of such a folder that a path names. The file itself may be a link, and
    /// stays the one that is meant.
    pub fn find_at(&self, path: &Path) -> Option<OwnProgram> {
        self.find(path, find_interpreter)
    }

    fn find(&self, path: &Path, interpreter: FindInterpreter) -> Option<OwnProgram> {
        let folder = fs::canonicalize(path.parent()?).ok()?;
        let kind = self.dir_kind(&folder, interpreter)?;
        let program = unresolved_program(&folder.join(path.file_name()?))?;
        Some(OwnProgram { program, folder, kind })
    }

    /// The program a bare name refers to in the user's own `PATH`, where one of these
    /// folders comes before every trusted one that has it.
    pub fn find_named(&self, name: &str, is_trusted: impl Fn(&Path) -> bool) -> Option<OwnProgram> {
        for folder in &self.path {
            if !folder.is_absolute() || executable(&folder.join(name)).is_none() {
                continue;
            }
            // The Python of the system is not an environment.
            let is_trusted = fs::canonicalize(folder).is_ok_and(|folder| is_trusted(&folder));
            let interpreter: FindInterpreter = if is_trusted { |_| None } else { find_interpreter };
            let found = self.find(&folder.join(name), interpreter);
            if found.is_some() || is_trusted {
                return found;
            }
        }
        None
    }

    fn dir_kind(&self, folder: &Path, interpreter: FindInterpreter) -> Option<Shelf> {
        let inside = self.roots.iter().any(|root| folder.starts_with(root));
        if self.listed.iter().any(|listed| listed == folder) {
            return Some(Shelf::Listed);
        }
        if !inside && !is_folder_safe_from_others(folder) {
            return None;
        }
        if is_venv(folder) {
            Some(Shelf::Venv)
        } else if inside && folder.ends_with("node_modules/.bin") {
            Some(Shelf::NodeModules)
        } else if inside && folder.ends_with("vendor/bin") {
            Some(Shelf::Vendor)
        } else if self.belongs_to_manager(folder) || !inside && self.is_of_other_home(folder) {
            Some(Shelf::Manager)
        } else {
            let found = interpreter(folder).filter(|_| !inside)?;
            Some(if found == "python3" { Shelf::Venv } else { Shelf::Toolchain })
        }
    }

    /// Whether the folder is one of a toolchain manager of another user, or in a folder that is
    /// shared as one.
    fn is_of_other_home(&self, folder: &Path) -> bool {
        let managers = MANAGERS.iter().map(|(_, root, forms)| (*root, *forms));
        let hidden = managers.filter(|(root, _)| root.starts_with('.'));
        let mut known = hidden.chain(OF_OTHER_HOMES.iter().copied());
        let fits = |root: &Path, forms: &[&str]| {
            folder
                .strip_prefix(root)
                .is_ok_and(|rest| forms.iter().any(|form| matches_pattern(rest, form)))
        };
        !folder.starts_with(&self.home)
            && known.any(|(name, forms)| {
                folder.ancestors().any(|root| root.ends_with(name) && fits(root, forms))
            })
    }

    fn belongs_to_manager(&self, folder: &Path) -> bool {
        let roots = MANAGERS.iter().map(|(_, root, forms)| (self.home.join(root), *forms));
        // A variable says where; which manager it is of does not matter to the form.
        let moved = self
            .managers
            .iter()
            .flat_map(|root| MANAGERS.iter().map(move |(_, _, forms)| (root.clone(), *forms)));
        // Most are not there: one look at each is less than resolving its path.
        roots.chain(moved).filter(|(root, _)| root.exists()).any(|(root, forms)| {
            let root = fs::canonicalize(&root).unwrap_or(root);
            let rest = folder.strip_prefix(&root);
            rest.is_ok_and(|rest| forms.iter().any(|form| matches_pattern(rest, form)))
        })
    }
}

/// Whether the parts of a path are those of a form.
fn matches_pattern(rest: &Path, form: &str) -> bool {
    let form: Vec<&str> = form.split('/').filter(|part| *part != ".").collect();
    let parts: Vec<Component<'_>> = rest.components().collect();
    parts.len() == form.len()
        && parts.iter().zip(form).all(|(part, form)| form == "*" || part.as_os_str() == form)
}

/// `bin` beside the file that makes a folder a Python environment, or beside conda's.
fn is_venv(folder: &Path) -> bool {
    let named = folder.ends_with("bin") || folder.ends_with("Scripts");
    let beside = |name: &str| folder.parent().map(|parent| parent.join(name));
    let python = beside("pyvenv.cfg").is_some_and(|file| file.is_file());
    named && (python || beside("conda-meta").is_some_and(|meta| meta.is_dir()))
}

/// The interpreter or compiler that a folder is the installation of.
type FindInterpreter = fn(&Path) -> Option<&'static str>;

/// Programs that run or build projects, by which an installation is known.
#[rustfmt::skip]
const INTERPRETERS: &[&str] = &[
    "python3", "node", "ruby", "perl", "php", "lua", "Rscript", "julia", "java", "kotlinc", "scala", "gradle", "mvn",
    "go", "rustc", "zig", "dart", "dotnet", "erl", "elixir", "ghc", "ocaml", "swift", "racket", "guile",
    "gcc", "clang", "cmake", "deno", "bun",
];

/// The interpreter of a folder that has its library beside it: an installation by pyenv, conda or
/// uv in another home, in `/opt` or in `/tmp`, an unpacked archive of Node or Go.
fn find_interpreter(folder: &Path) -> Option<&'static str> {
    let root = if folder.ends_with("bin") { folder.parent()? } else { folder };
    let has_library = root.join("lib").is_dir();
    let mut all = INTERPRETERS.iter().copied().filter(|_| has_library);
    all.find(|name| executable(&folder.join(name)).is_some())
}

fn is_folder_safe_from_others(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|meta| is_safe_from_others(&meta))
}

/// The program as it is named, with its target where it is a link.
fn unresolved_program(path: &Path) -> Option<Program> {
    let program = executable(path)?;
    let meta = fs::symlink_metadata(path).ok()?;
    let link = meta.is_symlink().then(|| LinkIdentity {
        device: meta.dev(),
        inode: meta.ino(),
        modified: i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec()),
    });
    Some(Program { link, ..program })
}

pub(super) fn executable(path: &Path) -> Option<Program> {
    let meta = fs::metadata(path).ok()?;
    let runs = meta.is_file() && meta.mode() & 0o111 != 0;
    runs.then(|| Program {
        path: path.to_owned(),
        device: meta.dev(),
        inode: meta.ino(),
        modified: i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec()),
        link: None,
    })
}

/// Whether only root and the user may change it.
pub(super) fn is_safe_from_others(meta: &Metadata) -> bool {
    let owned = meta.uid() == 0 || meta.uid() == rustix::process::geteuid().as_raw();
    // The groups of root, and of administrators on macOS, may become root anyway.
    let admin = meta.gid() == 0 || (cfg!(target_os = "macos") && meta.gid() == 80);
    owned && meta.mode() & 0o002 == 0 && (admin || meta.mode() & 0o020 == 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::super::system::System;
    use super::*;
    use avocet_safety::Machine as _;

    struct ToolchainFixture {
        _temp: tempfile::TempDir,
        root: PathBuf,
    }

    impl ToolchainFixture {
        fn new() -> ToolchainFixture {
            let temp = tempfile::tempdir().unwrap();
            let root = temp.path().canonicalize().unwrap();
            for folder in ["home", "ws", "sys"] {
                fs::create_dir_all(root.join(folder)).unwrap();
            }
            ToolchainFixture { _temp: temp, root }
        }

        fn program(&self, path: &str) -> PathBuf {
            let path = self.root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        }

        fn venv(&self, folder: &str) -> PathBuf {
            let python = self.root.join(folder).join("bin/python");
            fs::create_dir_all(python.parent().unwrap()).unwrap();
            fs::write(self.root.join(folder).join("pyvenv.cfg"), "home = /usr/bin\n").unwrap();
            symlink("/bin/sh", &python).unwrap();
            python
        }

        fn system(&self, path: &[&str]) -> System {
            let path = path.iter().map(|folder| self.root.join(folder));
            let path = std::env::join_paths(path).unwrap();
            System::new(&self.root.join("ws"), &self.root.join("home"), &[self.root.join("sys")])
                .with_user_path(Some(path.into()))
        }
    }

    #[test]
    fn a_program_of_an_environment_is_not_replaced_by_the_target_of_its_link() {
        let desk = ToolchainFixture::new();
        let python = desk.venv("ws/.venv");
        let own = desk.system(&[]).own_program(&python.to_string_lossy()).unwrap();
        assert_eq!((own.kind, &own.program.path), (Shelf::Venv, &python));
        let target = fs::metadata("/bin/sh").unwrap();
        assert_eq!((own.program.device, own.program.inode), (target.dev(), target.ino()));
        let link = fs::symlink_metadata(&python).unwrap();
        assert_eq!(own.program.link.map(|link| link.inode), Some(link.ino()));
    }

    #[test]
    fn folders_of_a_project_are_known_by_their_contents() {
        let desk = ToolchainFixture::new();
        desk.venv("ws/api/venv");
        desk.program("ws/node_modules/.bin/tsc");
        desk.program("ws/vendor/bin/phpunit");
        desk.program("ws/bin/tool");
        desk.program("home/.pyenv/shims/python");
        desk.program("home/.nvm/versions/node/v22.1.0/bin/node");
        desk.program("home/.volta/bin/yarn");
        desk.program("home/bin/own");
        let other = [
            "other/.nvm/versions/node/v22.1.0/bin/npm",
            "other/.volta/bin/yarn",
            "other/.local/share/fnm/node-versions/v20/installation/bin/node",
            "other/.asdf/shims/ruby",
            "other/.local/share/mise/installs/go/1.22/bin/go",
            "other/.rbenv/shims/ruby",
            "other/.pyenv/versions/3.12/bin/pip",
            "other/.sdkman/candidates/java/21/bin/java",
            "other/.deno/bin/deno",
            "other/.bun/bin/bun",
            "other/.cargo/bin/cargo",
            "other/.rustup/toolchains/stable/bin/cargo",
            "other/.local/share/uv/python/cpython-3.12/bin/python3",
        ];
        for path in other.iter().chain(&["other/.ssh/bin/x", "ws/.volta/bin/yarn"]) {
            desk.program(path);
        }
        let system = desk.system(&[]);
        let kind = |path: &str| {
            system.own_program(&desk.root.join(path).to_string_lossy()).map(|own| own.kind)
        };
        for (path, expected) in [
            ("ws/api/venv/bin/python", Some(Shelf::Venv)),
            ("ws/node_modules/.bin/tsc", Some(Shelf::NodeModules)),
            ("ws/vendor/bin/phpunit", Some(Shelf::Vendor)),
            ("home/.pyenv/shims/python", Some(Shelf::Manager)),
            ("home/.nvm/versions/node/v22.1.0/bin/node", Some(Shelf::Manager)),
            ("home/.volta/bin/yarn", Some(Shelf::Manager)),
            ("ws/bin/tool", None),
            ("home/bin/own", None),
            ("ws/node_modules/.bin/missing", None),
            ("other/.ssh/bin/x", None),
            ("ws/.volta/bin/yarn", None),
        ] {
            assert_eq!(kind(path), expected, "{path}");
        }
        for path in other {
            assert_eq!(kind(path), Some(Shelf::Manager), "{path}");
        }
    }

    #[test]
    fn a_folder_of_the_workspace_that_the_user_listed_is_not_dropped() {
        let desk = ToolchainFixture::new();
        let tool = desk.program("ws/tools/lint");
        let listed = [desk.root.join("ws/tools")];
        let system = System::new(&desk.root.join("ws"), &desk.root.join("home"), &listed);
        let own = system.own_program(&tool.to_string_lossy()).unwrap();
        assert_eq!(own.kind, Shelf::Listed);
    }

    #[test]
    fn a_bare_name_means_an_environment_that_comes_first_in_the_users_path() {
        let desk = ToolchainFixture::new();
        let python = desk.venv("ws/.venv");
        desk.program("sys/python");
        desk.program("ws/evil/python");
        let named =
            |path: &[&str]| desk.system(path).own_program("python").map(|own| own.program.path);
        assert_eq!(named(&["ws/.venv/bin", "sys"]), Some(python.clone()));
        assert_eq!(named(&["sys", "ws/.venv/bin"]), None);
        assert_eq!(named(&[]), None);
        assert_eq!(named(&["ws/evil", "sys"]), None, "no folder that is known");
        assert_eq!(named(&["ws/evil", "ws/.venv/bin"]), Some(python));
        let relative = System::new(&desk.root.join("ws"), &desk.root.join("home"), &[])
            .with_user_path(Some("node_modules/.bin:.venv/bin".into()));
        assert!(relative.own_program("python").is_none());
    }

    #[test]
    fn an_environment_outside_the_workspace_counts_only_if_nobody_else_can_change_it() {
        let desk = ToolchainFixture::new();
        desk.venv("away/venv");
        desk.venv("home/envs/a");
        desk.program("opt/python/bin/python3");
        desk.program("opt/python/bin/pytest");
        fs::create_dir_all(desk.root.join("opt/python/lib")).unwrap();
        desk.program("opt/tool/bin/python3");
        let system = desk.system(&[]);
        let kind = |path: &str| {
            system.own_program(&desk.root.join(path).to_string_lossy()).map(|own| own.kind)
        };
        for (path, expected) in [
            ("away/venv/bin/python", Some(Shelf::Venv)),
            ("home/envs/a/bin/python", Some(Shelf::Venv)),
            ("opt/python/bin/python3", Some(Shelf::Venv)),
            ("opt/python/bin/pytest", Some(Shelf::Venv)),
            ("opt/tool/bin/python3", None),
        ] {
            assert_eq!(kind(path), expected, "{path}");
        }
        let trusted =
            System::new(&desk.root.join("ws"), &desk.root, &[desk.root.join("opt/python/bin")]);
        let path = Some(desk.root.join("opt/python/bin"));
        assert!(trusted.with_user_path(path).own_program("pytest").is_none());
        let named = desk.system(&["opt/python/bin"]).own_program("pytest");
        assert_eq!(named.map(|own| own.kind), Some(Shelf::Venv));
        for folder in ["away/venv/bin", "opt/python/bin"] {
            let open = fs::Permissions::from_mode(0o777);
            fs::set_permissions(desk.root.join(folder), open).unwrap();
        }
        assert_eq!(kind("away/venv/bin/python"), None);
        assert_eq!(kind("opt/python/bin/pytest"), None);
    }

    #[test]
    fn a_folder_the_user_listed_comes_before_the_systems() {
        let desk = ToolchainFixture::new();
        let own = desk.program("sys/ls");
        assert_eq!(desk.system(&[]).program("ls").map(|program| program.path), Some(own));
    }

    #[test]
    fn the_programs_of_the_system_are_there_where_the_workspace_is_the_whole_machine() {
        let system = System::new(Path::new("/"), Path::new("/nonexistent"), &[]);
        assert!(system.program("ls").is_some());
    }
}
