//! Real files for the policy to judge: a workspace with the files that the cases name, a home with
//! fake secrets, and folders outside both.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use avocet::protocol::{Requires, Risk, Step, StepAction, Tier};
use avocet::safety::{Machine, Policy, PolicyContext, Workspace, assess};
use avocet::tools::system::System;

/// A workspace with what the cases speak of, a home with secrets that are none, and
/// folders outside of both.
pub struct PolicyFixture {
    _temp: tempfile::TempDir,
    pub ws: PathBuf,
    pub home: PathBuf,
    pub system: System,
    pub policy: Policy,
}

const FILES: &[(&str, &str)] = &[
    ("ws/README.md", "# demo\nline two\nTODO one\n"),
    ("ws/a.txt", "b\na\na\n"),
    ("ws/b.txt", "a\nc\n"),
    ("ws/a.bin", "\u{1}\u{2}"),
    ("ws/data.json", "{\"a\":1}"),
    ("ws/package.json", "{\"name\":\"demo\"}"),
    ("ws/config.yaml", "a: 1\n"),
    ("ws/src/main.rs", "fn main() {}\n"),
    ("ws/src2/main.rs", "fn main() { }\n"),
    ("ws/Cargo.toml", "[package]\n"),
    ("ws/docs/rm-rf.md", "how not to\n"),
    ("ws/sudo.md", "x\n"),
    ("ws/.env", "OPENAI_API_KEY=sk-FAKE\n"),
    ("ws/.env.example", "OPENAI_API_KEY=\n"),
    ("ws/.env.local", "X=FAKE\n"),
    ("ws/server.pem", "FAKE\n"),
    ("ws/packages/x.js", "function ensureJsonObject(){}\n"),
    ("ws/rgrc", "--pre=./evil.sh\n"),
    ("ws/x.tar", ""),
    ("ws/x.tar.gz", ""),
    ("ws/.git/config", "[core]\n"),
    ("ws-evil/notes.txt", "sibling\n"),
    ("outside/secret.txt", "FAKE-OUTSIDE-SECRET\n"),
    ("home/.ssh/id_rsa", "FAKE-KEY-id_rsa\n"),
    ("home/.ssh/config", "Host x\n"),
    ("home/.aws/credentials", "[default]\n"),
    ("home/.netrc", "machine x\n"),
    ("home/.npmrc", "FAKE\n"),
    ("home/.git-credentials", "FAKE\n"),
    ("home/.docker/config.json", "{}"),
    ("home/.kube/config", "token: FAKE\n"),
    ("home/.config/gh/hosts.yml", "FAKE\n"),
    ("home/.bash_history", "FAKE\n"),
    ("home/.bashrc", "# bashrc\n"),
    ("home/.gnupg/secring.gpg", "FAKE\n"),
];
const PROGRAMS: &[&str] = &["ws/evil.sh", "ws/ls", "ws/bin/git"];

impl PolicyFixture {
    pub fn new() -> PolicyFixture {
        let temp = crate::support::temp_dir();
        let root = temp.path().canonicalize().unwrap();
        for (name, text) in FILES {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        for name in PROGRAMS {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "#!/bin/sh\nexit 0\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let (ws, home) = (root.join("ws"), root.join("home"));
        symlink("/etc", ws.join("link_etc")).unwrap();
        symlink(home.join(".ssh"), ws.join("link_ssh")).unwrap();
        symlink(home.join(".ssh/id_rsa"), ws.join("link_key")).unwrap();
        symlink("../outside/secret.txt", ws.join("notes_link.txt")).unwrap();
        let system = System::new(&ws, &home, &[]);
        PolicyFixture { _temp: temp, ws, home, system, policy: Policy::default() }
    }

    pub fn filled(&self, text: &str) -> String {
        text.replace("{WS}", &self.ws.to_string_lossy())
            .replace("{HOME}", &self.home.to_string_lossy())
    }

    pub fn risk_in(&self, cwd: &Path, program: &str, args: Vec<String>) -> Risk {
        let place = Workspace {
            cwd: self.system.resolve(&self.ws.join(cwd)),
            ..Workspace::new(self.ws.clone(), self.home.clone())
        };
        let scene = PolicyContext { policy: &self.policy, place: &place, world: &self.system };
        let work = StepAction::Exec { program: program.to_owned(), args };
        let step = Step { id: String::new(), work, requires: Requires::default(), cwd: None };
        assess(step, scene).judgement().risk.clone()
    }

    pub fn risk(&self, program: &str, args: &[&str]) -> Risk {
        self.risk_in(&self.ws, program, args.iter().map(|arg| (*arg).to_owned()).collect())
    }

    pub fn tier(&self, program: &str, args: &[String]) -> Tier {
        self.risk_in(&self.ws, program, args.to_vec()).tier
    }
}
