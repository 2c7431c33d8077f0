//! Reads a project with the tools of its language, as steps that run by themselves: in the
//! sandbox they say what they say outside, and whatever a repository holds, they start nothing
//! of it and show nothing from elsewhere. What this machine lacks is left out, and said.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use avocet::protocol::{SandboxMode, SandboxStatus};
use avocet::safety::Verdict;

use crate::programs::{ProgramFixture, run};
use crate::support::skip::{Reason, skip};

/// What lies outside, and in files of credentials.
const CLOSED: &str = "CLOSED_TO_STEPS";

/// A workspace in a folder of its own, with a home.
struct Project {
    root: tempfile::TempDir,
    desk: ProgramFixture,
}

impl Project {
    /// `real`: with the home of who runs the test, where the toolchains are.
    fn new(real: bool) -> Project {
        let root = crate::support::temp_dir();
        let home = root.path().join("home");
        fs::create_dir(&home).unwrap();
        let own = std::env::home_dir().filter(|_| real).unwrap_or(home);
        let desk = ProgramFixture::at(root.path(), &own, &[]);
        Project { root, desk }
    }

    /// The home, where it is one of its own.
    fn home(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("home")
    }

    /// A place beside the workspace.
    fn beside(&self, name: &str) -> PathBuf {
        self.desk.workspace.with_file_name(name)
    }

    fn canary(&self) -> PathBuf {
        self.beside("canary")
    }

    /// A file of the workspace, that may be started.
    fn write(&self, name: &str, text: &str) {
        let path = self.desk.workspace.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Files that leave a trace where they are run, as what `EVIL` stands for in the text.
    fn plant(&self, files: &[(&str, &str)]) {
        let evil = self.desk.workspace.join("evil.sh");
        let mark = self.canary();
        self.write("evil.sh", &format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\n", mark.display()));
        for (name, text) in files {
            let text = text.replace("EVIL", &evil.to_string_lossy());
            self.write(name, &text.replace("CANARY", &mark.to_string_lossy()));
        }
    }

    fn git(&self, folder: &str, args: &[&str]) {
        let mut git = Command::new("git");
        let folder = self.desk.workspace.join(folder);
        fs::create_dir_all(&folder).unwrap();
        let identity =
            ["-c", "user.name=x", "-c", "user.email=x@y", "-c", "protocol.file.allow=always"];
        let done = git.current_dir(folder).args(identity).args(args).output().unwrap();
        assert!(done.status.success(), "{args:?}: {done:?}");
    }

    /// A repository with another one in it.
    fn repository(&self) {
        self.git("../inner", &["init", "-q"]);
        self.git("../inner", &["commit", "-q", "--allow-empty", "-m", "x"]);
        self.git("", &["init", "-q"]);
        self.git("", &["submodule", "--quiet", "add", "../inner", "inner"]);
        self.git("", &["commit", "-qm", "y"]);
    }

    /// Runs each line inside and outside, where it runs by itself and its program is here.
    /// Answers with those that ask.
    async fn attack<'a>(&self, lines: &[&'a str]) -> Vec<&'a str> {
        let ((held, shelter), (free, _)) =
            (self.desk.exec(SandboxMode::Read), self.desk.exec(SandboxMode::Off));
        if shelter == SandboxStatus::Absent {
            skip(Reason::NoSandbox);
        }
        let mut asks = Vec::new();
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            let judge = || match self.desk.judge(&words) {
                Verdict::Run(cleared) => Some(cleared),
                Verdict::Ask(_) | Verdict::Refuse(_) => None,
            };
            let Some(cleared) = judge() else {
                asks.push(*line);
                continue;
            };
            if cleared.judgement().program.is_none() {
                skip(Reason::OneOfMany(words[0]));
                continue;
            }
            run(&free, cleared).await;
            assert!(!self.canary().exists(), "{line}: {:?}", fs::read_to_string(self.canary()));
            let seen = run(&held, judge().unwrap()).await;
            assert!(!self.canary().exists(), "{line} in the sandbox");
            let said = format!("{}{}", seen.stdout, seen.stderr);
            assert!(shelter == SandboxStatus::Absent || !said.contains(CLOSED), "{line}: {said}");
        }
        asks
    }
}

const PACKAGE: &str =
    "{\"name\": \"x\", \"version\": \"1.0.0\", \"dependencies\": {\"dep\": \"1.0.0\"}}";
const NPM_LINES: &[&str] = &[
    "npm ls",
    "npm ls --json --all",
    "npm explain dep",
    "npm root",
    "npm prefix",
    "npm pkg get name",
    "npm config get registry",
    "npm config list",
];
const CARGO_LINES: &[&str] = &[
    "cargo metadata --no-deps --format-version 1",
    "cargo locate-project",
    "cargo read-manifest",
    "cargo pkgid",
    "cargo fmt --check",
    "cargo fmt --all -- --check",
    "rustfmt --check src/main.rs",
];
const MANIFEST: &str = "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const LOCK: &str = "version = 3\n\n[[package]]\nname = \"x\"\nversion = \"0.1.0\"\n";
const MODULE: &str = "module example.com/x\n\ngo 1.18\n";
const GO: &str = "package main\n\n// Foo is shown.\nfunc Foo() {\n}\n\nfunc main() {}\n";

#[tokio::test]
async fn a_project_is_read_in_the_sandbox_as_outside() {
    let project = Project::new(false);
    project.write("package.json", PACKAGE);
    project.write("node_modules/dep/package.json", "{\"name\": \"dep\", \"version\": \"1.0.0\"}");
    project.write("go.mod", MODULE);
    project.write("main.go", GO);
    project.write("run.sh", "#!/bin/sh\necho $x\n");
    project.write("version.txt", "v1.2 --help\n");
    let home = project.home();
    let home = home.to_string_lossy();
    project.write(&format!("{home}/.gitconfig"), "[user]\n\tname = x\n");
    project.write(&format!("{home}/.m2/repository/x/Lib.java"), "class Lib {}\n");
    project.write(&format!("{home}/go/pkg/mod/y/y.go"), "package y\n");
    project.repository();
    let sources = [
        format!("cat {home}/.gitconfig"),
        format!("cat {home}/.m2/repository/x/Lib.java"),
        format!("ls {home}/.m2/repository"),
        format!("grep -rn package {home}/go/pkg/mod"),
        format!("find {home}/.m2/repository -name Lib.java"),
    ];
    let lines = [
        "ls ..",
        "ls /",
        "ls /usr/bin",
        "ls -la /usr/lib",
        "npm ls",
        "npm ls --json",
        "npm explain dep",
        "npm root",
        "npm pkg get name",
        "npm config get registry",
        "python3 -m json.tool a.json",
        "python3 -m json.tool --indent 1 a.json",
        "go doc fmt.Println",
        "go doc Foo",
        "gofmt -l .",
        "gofmt -d main.go",
        "shellcheck run.sh",
        "git submodule status",
        "git remote show",
        "rg -o v[0-9.]+ version.txt",
        "rg -o -e --[a-z]+ version.txt",
        "awk {print(FILENAME)} a.txt",
    ];
    let lines: Vec<&str> = lines.into_iter().chain(sources.iter().map(String::as_str)).collect();
    assert!(project.desk.assert_same_in_sandbox(&lines).await >= 10);
}

#[tokio::test]
async fn a_rust_project_is_read_in_the_sandbox_as_outside() {
    let project = Project::new(true);
    project.write("Cargo.toml", MANIFEST);
    project.write("Cargo.lock", LOCK);
    project.write("src/main.rs", "fn main(){}\n");
    let mut lines = CARGO_LINES.to_vec();
    lines.extend([
        "rustc --explain E0308",
        "rustup show",
        "rustup show active-toolchain",
        "rustup which rustc",
    ]);
    assert!(project.desk.assert_same_in_sandbox(&lines).await >= 1);
}

#[tokio::test]
async fn npm_runs_nothing_of_a_project_it_reads() {
    let project = Project::new(false);
    let scripts = "{\"name\": \"x\", \"version\": \"1.0.0\", \"packageManager\": \"npm@9.9.9\", \"workspaces\": [\"w\"],\
         \"scripts\": {\"prels\": \"EVIL\", \"ls\": \"EVIL\", \"list\": \"EVIL\", \"config\": \"EVIL\", \"root\": \"EVIL\"},\
         \"config\": {\"script-shell\": \"EVIL\"}, \"bin\": \"EVIL\", \"dependencies\": {\"dep\": \"*\", \"far\": \"*\"}}";
    project.plant(&[
        ("package.json", scripts),
        ("w/package.json", scripts),
        (
            "node_modules/dep/package.json",
            "{\"name\": \"dep\", \"version\": \"1.0.0\", \"scripts\": {\"install\": \"EVIL\"}}",
        ),
        ("node_modules/.bin/npm", "#!/bin/sh\necho x >> CANARY\n"),
        ("node_modules/.bin/node", "#!/bin/sh\necho x >> CANARY\n"),
        ("node_modules/npm/bin/npm-cli.js", "require('fs').appendFileSync('CANARY', 'x')"),
        ("npm.js", "require('fs').appendFileSync('CANARY', 'x')"),
        ("binding.gyp", "{}"),
        (".pnpmfile.cjs", "require('fs').appendFileSync('CANARY', 'x')"),
        (".yarnrc.yml", "yarnPath: EVIL\n"),
        (".node-version", "../../evil\n"),
        (".env", CLOSED),
    ]);
    let outside = project.beside("far");
    fs::create_dir(&outside).unwrap();
    fs::write(
        outside.join("package.json"),
        format!("{{\"name\": \"far\", \"version\": \"1.0.0\", \"x\": \"{CLOSED}\"}}"),
    )
    .unwrap();
    symlink(&outside, project.desk.workspace.join("node_modules/far")).unwrap();
    assert_eq!(project.attack(NPM_LINES).await, Vec::<&str>::new());
    // Settings name programs, scripts to load and other files of settings.
    project.plant(&[(
        ".npmrc",
        "node-options=--require EVIL\nonload-script=EVIL\nuserconfig=/etc/shadow\n",
    )]);
    assert_eq!(project.attack(NPM_LINES).await, NPM_LINES);
}

#[tokio::test]
async fn npm_settings_of_the_user_are_asked_about() {
    let project = Project::new(false);
    project.write(&project.home().join(".npmrc").to_string_lossy(), CLOSED);
    assert_eq!(project.attack(NPM_LINES).await, ["npm config get registry", "npm config list"]);
}

#[tokio::test]
async fn cargo_runs_nothing_of_a_project_it_reads() {
    let project = Project::new(true);
    let settings = "[build]\nrustc = \"EVIL\"\nrustc-wrapper = \"EVIL\"\nrustc-workspace-wrapper = \"EVIL\"\nrustdoc = \"EVIL\"\n\
         [env]\nRUSTFMT = { value = \"EVIL\", force = true }\nRUSTC = { value = \"EVIL\", force = true }\nPATH = { value = \"/\", force = true }\n\
         [registry]\nglobal-credential-providers = [\"EVIL\"]\n[net]\ngit-fetch-with-cli = true\n\
         [target.'cfg(all())']\nrunner = \"EVIL\"\nlinker = \"EVIL\"\n";
    project.plant(&[
        (
            "Cargo.toml",
            &format!(
                "{MANIFEST}build = \"build.rs\"\n[dependencies]\nfar = {{ path = \"../far\" }}\n"
            ),
        ),
        ("Cargo.lock", LOCK),
        ("build.rs", "fn main() { std::fs::write(\"CANARY\", \"x\").unwrap(); }"),
        (
            "src/main.rs",
            "#[path = \"../.env\"]\nmod a;\n#[path = \"../../far/b.rs\"]\nmod b;\nfn main(){}\n",
        ),
        (".env", CLOSED),
        ("rustfmt.toml", "license_template_path = \".env\"\n"),
        (".cargo/config.toml", settings),
        ("cargo", "#!/bin/sh\necho x >> CANARY\n"),
        ("cargo-fmt", "#!/bin/sh\necho x >> CANARY\n"),
        ("rustfmt", "#!/bin/sh\necho x >> CANARY\n"),
        ("../far/b.rs", &format!("fn {CLOSED}( ){{}}\n")),
    ]);
    assert_eq!(project.attack(CARGO_LINES).await, Vec::<&str>::new());
    let formats: Vec<&str> =
        CARGO_LINES.iter().copied().filter(|line| line.starts_with("cargo fmt")).collect();
    for alias in [
        "[alias]\nfmt = [\"run\"]\n",
        "[\"\\u0061lias\"]\nfmt = \"run\"\n",
        "include = [\"other.toml\"]\n",
    ] {
        project.plant(&[
            (".cargo/config.toml", alias),
            (".cargo/other.toml", "[alias]\nfmt = \"run\"\n"),
        ]);
        assert_eq!(project.attack(CARGO_LINES).await, formats, "{alias}");
    }
}

#[tokio::test]
async fn no_toolchain_of_a_project_is_run() {
    let project = Project::new(true);
    project.plant(&[
        ("Cargo.toml", MANIFEST),
        ("Cargo.lock", LOCK),
        ("src/main.rs", "fn main() {}\n"),
        ("tc/bin/cargo", "#!/bin/sh\necho x >> CANARY\n"),
        ("tc/bin/rustc", "#!/bin/sh\necho x >> CANARY\n"),
        ("tc/bin/rustfmt", "#!/bin/sh\necho x >> CANARY\n"),
    ]);
    let lines: Vec<&str> = CARGO_LINES.iter().copied().chain(["rustup show"]).collect();
    let chosen = format!("[toolchain]\npath = {:?}\n", project.desk.workspace.join("tc"));
    project.plant(&[("rust-toolchain.toml", &chosen)]);
    assert_eq!(project.attack(&lines).await, lines);
    // In an empty folder the file of the project counts for nothing.
    assert!(project.attack(&["rustc --explain E0308", "rustup which rustc"]).await.is_empty());
    fs::remove_file(project.desk.workspace.join("rust-toolchain.toml")).unwrap();
    project.plant(&[("rust-toolchain", &project.desk.workspace.join("tc").to_string_lossy())]);
    assert_eq!(project.attack(&lines).await, lines);
}

#[tokio::test]
async fn python_loads_no_module_of_the_folder() {
    let project = Project::new(false);
    let code = "open('CANARY', 'a').write('x')\n";
    let names = [
        "json.py",
        "json/__init__.py",
        "json/tool.py",
        "sitecustomize.py",
        "usercustomize.py",
        "encodings/__init__.py",
        "argparse.py",
        "re.py",
        "runpy.py",
        "site.py",
    ];
    let files: Vec<(&str, &str)> = names.iter().map(|name| (*name, code)).collect();
    project.plant(&files);
    project.plant(&[("python3._pth", ".\n"), ("pyvenv.cfg", "home = .\n"), (".pythonrc", code)]);
    let lines = ["python3 -m json.tool a.json", "python3 -m json.tool --sort-keys a.json"];
    assert!(project.attack(&lines).await.is_empty());
    let asked = [
        "python3 -m json.tool a.json b.json",
        "python3 json.py -m json.tool",
        "python3 -c 1 -m json.tool",
        "python3 -m json",
        "python3 -m json.tool ../x.json",
        "python3 -m json.tool .env",
    ];
    assert_eq!(project.attack(&asked).await, asked);
}

#[tokio::test]
async fn go_runs_nothing_of_a_module_it_reads() {
    let project = Project::new(false);
    project.plant(&[
        ("go.mod", "module example.com/x\n\ngo 1.18\n\nrequire example.com/far v1.0.0\n\nreplace example.com/far => ../far\n"),
        ("go.work", "go 1.18\n\nuse .\nuse ../far\n"),
        ("main.go", "package main\n\n// #cgo pkg-config: evil\n// #cgo CFLAGS: -fplugin=EVIL\nimport \"C\"\n\n//go:generate EVIL\n\n// Foo is shown.\nfunc Foo() {}\n\nfunc main() {}\n"),
        ("go.env", "GOFLAGS=-toolexec=EVIL\nGOTOOLCHAIN=path\n"),
        ("go", "#!/bin/sh\necho x >> CANARY\n"),
        ("pkg-config", "#!/bin/sh\necho x >> CANARY\n"),
        ("../far/go.mod", "module example.com/far\n"),
        ("../far/far.go", &format!("package far\n\n// {CLOSED}\nfunc Far() {{}}\n")),
    ]);
    project.git("", &["init", "-q"]);
    project.git(
        "",
        &["config", "core.fsmonitor", &project.desk.workspace.join("evil.sh").to_string_lossy()],
    );
    let outside = project.beside("far").join("far.go");
    symlink(&outside, project.desk.workspace.join("linked.go")).unwrap();
    let lines = [
        "go doc fmt.Println",
        "go doc Foo",
        "go doc",
        "go doc -all .",
        "go doc example.com/far",
        "gofmt -l .",
        "gofmt -d main.go",
    ];
    assert!(project.attack(&lines).await.is_empty());
    let asked = [
        "go doc ../far",
        "go list ./...",
        "gofmt -w .",
        "gofmt -l ..",
        "gofmt -d linked.go",
        "gofmt -cpuprofile x -l .",
    ];
    assert_eq!(project.attack(&asked).await, asked);
}

#[tokio::test]
async fn shellcheck_shows_nothing_of_the_files_a_script_names() {
    let project = Project::new(false);
    project.plant(&[
        ("run.sh", "#!/bin/bash\nsource ./.env\n. ../far.sh\n. ./evil.sh\necho $x\n"),
        (".shellcheckrc", "external-sources=true\nenable=all\nsource-path=/\n"),
        (".env", &format!("{CLOSED}=(\n")),
        ("../far.sh", &format!("echo ${CLOSED} `\n")),
    ]);
    let lines = ["shellcheck run.sh", "shellcheck -x run.sh", "shellcheck -s bash -f gcc run.sh"];
    assert!(project.attack(&lines).await.is_empty());
    let asked = [
        "shellcheck -a run.sh",
        "shellcheck .env",
        "shellcheck --rcfile=x run.sh",
        "shellcheck ../far.sh",
    ];
    assert_eq!(project.attack(&asked).await, asked);
}

#[tokio::test]
async fn submodules_with_settings_that_start_programs_are_asked_about() {
    let line = ["git submodule status"];
    let project = Project::new(false);
    project.plant(&[]);
    project.repository();
    assert!(project.attack(&line).await.is_empty());
    let evil = project.desk.workspace.join("evil.sh");
    let settings = project.desk.workspace.join(".git/modules/inner/config");
    let plain = fs::read_to_string(&settings).unwrap();
    for (section, key) in [("core", "fsmonitor"), ("core", "sshCommand"), ("diff", "external")] {
        let more = format!("{plain}[{section}]\n\t{key} = {}\n", evil.display());
        fs::write(&settings, more).unwrap();
        assert_eq!(project.attack(&line).await, line, "{section}.{key}");
    }
    fs::write(&settings, &plain).unwrap();
    assert!(project.attack(&line).await.is_empty());
    // A submodule that leads to another repository.
    let pointer = project.desk.workspace.join("inner/.git");
    fs::write(&pointer, format!("gitdir: {}\n", project.beside("inner").join(".git").display()))
        .unwrap();
    assert_eq!(project.attack(&line).await, line);
}

#[test]
fn what_lies_in_a_home_beside_the_sources_is_asked_about() {
    let project = Project::new(false);
    let home = project.home();
    let asks = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        matches!(project.desk.judge(&words), Verdict::Ask(_))
    };
    for (path, asked) in [
        (".cargo/registry/src/x/lib.rs", false),
        (".cargo/credentials.toml", true),
        (".gitconfig", false),
        (".git-credentials", true),
        ("notes.txt", true),
        (".m2/repository/x.pom", false),
        (".m2/settings.xml", true),
    ] {
        let path = Path::new(&home).join(path);
        assert_eq!(asks(&format!("cat {}", path.display())), asked, "{path:?}");
    }
    // A link out of the sources leads where it leads.
    let sources = home.join(".cargo/registry/src");
    fs::create_dir_all(&sources).unwrap();
    fs::create_dir_all(home.join(".ssh")).unwrap();
    symlink(home.join(".ssh"), sources.join("x")).unwrap();
    symlink(home.join("notes.txt"), sources.join("y")).unwrap();
    for link in ["x/id_rsa", "y"] {
        assert!(asks(&format!("cat {}", sources.join(link).display())), "{link}");
    }
}
