//! Approved steps that attack from within the sandbox: each is run as the user approved it, and
//! must reach nothing beyond the workspace and what its own program needs.

use std::collections::BTreeMap;
use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use avocet::i18n::Lang;
use avocet::protocol::{
    Observation, Requires, SandboxDenial, SandboxMode, SandboxStatus, Step, StepAction,
};
use avocet::safety::{
    self, ClearedStep, Policy, PolicyContext, SessionOpening, Verdict, Workspace,
};
use avocet::tools::exec::{ChildEnvironment, Exec, Setup};
use avocet::tools::sandbox::{Sandbox, SandboxPaths};
use avocet::tools::system::System;
use avocet::tools::{RunControl, Tool};
use pretty_assertions::assert_eq;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use crate::support::skip::{Reason, skip};
use crate::support::wait::wide_limits;

mod git;
mod guarded;
mod honest;
mod outliving;
mod toolchains;

/// A workspace in a home that is full of what steps must not reach.
struct Wall {
    root: tempfile::TempDir,
    exec: Exec,
    variables: Vec<String>,
    mode: SandboxMode,
    /// The folder that is worked in.
    folder: &'static str,
}

const VARIABLES: &[(&str, &str)] = &[
    ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMIK7MDENGbPxRfiCYzzz"),
    ("GITHUB_TOKEN", "ghp_0123456789abcdefghijABCDEFGHIJ012345"),
    ("DATABASE_URL", "postgres://ada:hunter2hunter2@db.example/x"),
    ("SSH_AUTH_SOCK", "/tmp/ssh-x/agent.1"),
    ("TMUX", "/tmp/tmux-0/default,1,0"),
    ("XDG_RUNTIME_DIR", "/run/user/0"),
    ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/0/bus"),
    ("WAYLAND_DISPLAY", "wayland-0"),
    ("DISPLAY", ":97"),
    ("PLAIN", "plain-value"),
];

impl Wall {
    /// `None` where this machine holds nothing.
    fn new() -> Option<Wall> {
        Wall::in_mode(SandboxMode::Work)
    }

    fn in_mode(mode: SandboxMode) -> Option<Wall> {
        Wall::in_folder(mode, "home/code/shop")
    }

    fn in_folder(mode: SandboxMode, folder: &'static str) -> Option<Wall> {
        let root = crate::support::temp_dir();
        fs::create_dir_all(root.path().join("home/code/shop")).unwrap();
        let exec = Wall::exec(&root.path().join(folder), root.path(), mode, &[])?;
        let secret = VARIABLES.iter().take(3).map(|(name, _)| (*name).to_owned());
        Some(Wall { root, exec, variables: secret.collect(), mode, folder })
    }

    /// Puts folders in front of the user's `PATH`.
    fn set_path(&mut self, folders: &[&Path]) {
        let workspace = self.workspace();
        self.exec = Wall::exec(&workspace, self.root.path(), self.mode, folders).unwrap();
    }

    fn exec(ws: &Path, root: &Path, mode: SandboxMode, folders: &[&Path]) -> Option<Exec> {
        let at = root.canonicalize().unwrap();
        let ws = ws.canonicalize().unwrap();
        let home = at.join("home");
        let path = std::env::var_os("PATH").unwrap();
        let folders = folders.iter().map(|folder| folder.to_path_buf());
        let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).unwrap();
        let system = System::new(&ws, &home, &[]).with_user_path(Some(path.clone().into()));
        let paths = SandboxPaths {
            workspace: ws,
            home: home.clone(),
            programs: system.folders().to_vec(),
            path: system.path_folders(),
            own: vec![at.join("own")],
            ..SandboxPaths::default()
        };
        let sandbox = Arc::new(Sandbox::new(mode, paths));
        if sandbox.status() == SandboxStatus::Absent {
            return None;
        }
        let mut user = BTreeMap::from([("HOME".into(), home.into()), ("PATH".into(), path)]);
        user.extend(VARIABLES.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        let environment =
            ChildEnvironment { user, path: system.child_path(), ..ChildEnvironment::default() };
        let exec = Exec::new(Setup {
            shell: "/bin/sh".into(),
            environment,
            limits: wide_limits(),
            redactor: None,
            lang: Lang::En,
        });
        Some(exec.with_sandbox(sandbox))
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    fn home(&self, name: &str) -> PathBuf {
        self.at("home").join(name)
    }

    fn workspace(&self) -> PathBuf {
        self.at(self.folder)
    }

    fn write(&self, path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn approved(&self, words: &[&str]) -> ClearedStep {
        self.approved_under(&Policy::default(), words)
    }

    fn approved_under(&self, policy: &Policy, words: &[&str]) -> ClearedStep {
        self.cleared(policy, words).unwrap_or_else(|| panic!("refused: {words:?}"))
    }

    /// The step as the user approves it; `None`: it is refused.
    fn cleared(&self, policy: &Policy, words: &[&str]) -> Option<ClearedStep> {
        let mut place = Workspace::new(self.workspace(), self.home(""));
        place.home = self.at("home");
        place.secret_variables.clone_from(&self.variables);
        let system = System::new(&place.workspace, &place.home, &[]);
        let scene = PolicyContext { policy, place: &place, world: &system };
        let work = StepAction::exec(words[0], &words[1..]);
        let step = Step { id: "cmd_001".into(), work, requires: Requires::default(), cwd: None };
        match safety::assess(step, scene) {
            Verdict::Run(cleared) => Some(cleared),
            Verdict::Ask(held) => Some(held.approve()),
            Verdict::Refuse(_) => None,
        }
    }

    async fn run(&self, words: &[&str]) -> Observation {
        self.run_cleared(self.approved(words)).await
    }

    async fn run_cleared(&self, cleared: ClearedStep) -> Observation {
        let (output, _live) = unbounded_channel();
        let watch = RunControl::new(CancellationToken::new(), output);
        self.exec.run(cleared, watch).await
    }

    /// Code of the project, as an approved step runs it.
    async fn script(&self, text: &str) -> Observation {
        self.write(&self.workspace().join("attack.sh"), text);
        self.run(&["bash", "attack.sh"]).await
    }
}

/// Places of secrets in a home, as the programs of this world keep them.
#[rustfmt::skip]
const SECRETS: &[&str] = &[
    ".ssh/id_ed25519", ".ssh/config", ".gnupg/private-keys-v1.d/x.key", ".aws/credentials", ".aws/sso/cache/x.json",
    ".kube/config", ".docker/config.json", ".config/gh/hosts.yml", ".netrc", ".npmrc", ".git-credentials", ".pypirc",
    ".config/gcloud/credentials.db", ".config/gcloud/application_default_credentials.json", ".azure/msal_token_cache.json",
    ".codex/auth.json", ".claude/.credentials.json", ".claude.json", ".gemini/oauth_creds.json", ".slothtool/registry.json",
    ".pulumi/credentials.json", ".minikube/client.key", ".terraform.d/credentials.tfrc.json", ".vault-token",
    ".config/Code/User/globalStorage/state.vscdb", ".config/Cursor/User/globalStorage/state.vscdb",
    ".config/github-copilot/apps.json", ".local/share/opencode/auth.json", ".config/goose/secrets.yaml",
    ".config/sops/age/keys.txt", ".config/containers/auth.json", ".config/stripe/config.toml", ".config/hcloud/cli.toml",
    ".config/scw/config.yaml", ".fly/config.yml", ".local/share/com.vercel.cli/auth.json", ".config/netlify/config.json",
    ".wrangler/config/default.toml", ".config/ngrok/ngrok.yml", ".cloudflared/cert.pem", ".oci/config", ".databrickscfg",
    ".snowsql/config", ".kaggle/kaggle.json", ".cache/huggingface/token", ".gradle/gradle.properties", ".sbt/.credentials",
    ".config/pypoetry/auth.toml", ".m2/settings-security.xml", ".m2/settings.xml", "snap/firefox/common/x",
    ".var/app/org.mozilla.firefox/x", ".mozilla/firefox/x/cookies.sqlite", ".config/chromium/Default/Cookies",
    ".config/microsoft-edge/x", ".config/vivaldi/x", ".config/opera/x", ".config/google-chrome/Default/Login Data",
    ".local/share/TelegramDesktop/tdata/x", ".config/Element/x", ".config/Signal/x", ".config/solana/id.json",
    ".config/wireguard/wg0.conf", ".config/restic/password", ".config/borg/keys/x", ".local/share/fish/fish_history",
    ".local/share/atuin/history.db", ".bash_history", ".zsh_history", ".python_history", ".Xauthority",
    "other/.env", "other/src/main.rs", "notes.txt", ".config/unknown-tool/config.json", ".unknown-tool/token",
    "Documents/x.pdf", ".bashrc", ".profile", ".local/share/keyrings/login.keyring", ".cargo/credentials.toml",
    ".gem/credentials", ".composer/auth.json", ".nuget/NuGet/NuGet.Config", ".hex/hex.config", ".pgpass", ".my.cnf",
    ".config/rclone/rclone.conf", ".config/op/config", ".config/avocet/config.toml", ".thunderbird/x", ".android/adbkey",
    ".cache/mozilla/x", ".local/state/x", ".cache/thumbnails/x", ".config/obs-studio/x", ".password-store/x.gpg",
    ".config/github-copilot/hosts.json", ".config/zed/settings.json", ".continue/config.json", ".codeium/config.json", ".aider.conf.yml",
    ".config/Code/User/settings.json", ".cursor/mcp.json", ".config/doctl/config.yaml", ".config/heroku/auth.json", ".config/vercel/auth.json",
    ".config/wrangler/config/default.toml", ".config/.wrangler/x", ".ngrok2/ngrok.yml", ".config/configstore/firebase-tools.json", ".boto", ".s3cfg",
    ".config/argocd/config", ".config/helm/registry/config.json", ".config/hub", ".config/glab-cli/config.yml", ".config/git/credentials",
    ".terraformrc", ".vault", ".config/linode-cli", ".config/exercism/user.json", ".config/1Password/x", ".config/Bitwarden/data.json", ".config/keepassxc/x",
    ".local/share/gnome-keyring/x", ".local/share/kwalletd/kdewallet.kwl", ".pki/nssdb/key4.db", ".config/BraveSoftware/x", ".config/discord/Local Storage/x",
    ".config/Slack/Cookies", ".config/teams/x", ".config/zoomus.conf", ".config/skypeforlinux/x", ".local/share/evolution/x", ".config/filezilla/sitemanager.xml",
    ".config/remmina/x.remmina", ".config/nordvpn/x", ".electrum/wallets/default", ".bitcoin/wallet.dat", ".ethereum/keystore/x", ".monero/x",
    ".mysql_history", ".psql_history", ".sqlite_history", ".node_repl_history", ".rediscli_history", ".lesshst", ".viminfo", ".local/share/nvim/shada/main.shada",
    ".mylogin.cnf", ".config/pgcli/history", ".dbshell", ".mongorc.js", ".config/mycli/x", ".jupyter/jupyter_server_config.json", ".config/dart/pub-credentials.json",
    ".conan2/credentials.json", ".ivy2/.credentials", ".bundle/config", ".config/composer/auth.json", ".config/NuGet/NuGet.Config", ".yarnrc.yml", ".cargo/credentials",
];

/// What programs read or run when they are started the next time.
#[rustfmt::skip]
const RUN_LATER: &[&str] = &[
    ".claude/settings.json", ".claude/CLAUDE.md", ".codex/config.toml", ".gemini/settings.json", ".slothtool/registry.json",
    ".gradle/init.d/x.gradle", ".gradle/wrapper/x", ".gradle/native/x", ".m2/wrapper/x", ".m2/settings.xml", ".julia/config/startup.jl",
    ".sbt/1.0/plugins/x.sbt", ".local/share/uv/tools/x/bin/x", ".local/share/pipx/venvs/x/bin/x", ".cargo/bin/x", ".cargo/config.toml",
    ".cache/pypoetry/virtualenvs/x/bin/python", ".cache/pre-commit/x", ".pub-cache/bin/x", ".dotnet/tools/x", ".mix/escripts/x",
    ".opam/x", ".nimble/bin/x", ".pulumi/bin/x", ".stack/programs/x", ".conda/envs/x/bin/python", ".gem/ruby/x/bin/x",
    ".npm/_npx/x", ".yarn/berry/x", ".cache/bazelisk/x", ".cache/coursier/arc/x", ".rustup/toolchains/x", "go/bin/x", "go/pkg/mod/x",
    ".local/bin/x", ".bashrc", ".profile", ".config/autostart/x.desktop", ".gitconfig", ".config/git/config", "other/Makefile",
    ".ccache/ccache.conf", ".ssh/authorized_keys", ".config/systemd/user/x.service", ".nvm/x", ".pyenv/shims/x", ".bun/bin/x", "x",
];

#[tokio::test]
async fn code_of_the_project_reads_no_secret_of_the_home_and_no_other_project() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    let mut script = String::new();
    for name in SECRETS {
        wall.write(&wall.home(name), "SECRET");
        script +=
            &format!("cat '{0}' >/dev/null 2>&1 && echo 'READ {0}'\n", wall.home(name).display());
    }
    wall.write(&wall.at("elsewhere/x"), "SECRET");
    script += &format!("cat '{}' && echo 'READ elsewhere'\n", wall.at("elsewhere/x").display());
    script += "echo done\n";
    assert_eq!(wall.script(&script).await.stdout, "done\n");
}

#[tokio::test]
async fn code_of_the_project_writes_nothing_that_runs_later() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    let mut script = String::new();
    for name in RUN_LATER {
        let path = wall.home(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        script += &format!("(echo x >> '{0}') 2>/dev/null && echo 'WROTE {0}'\n", path.display());
    }
    // No cache of another program either: the next build would take it for what it fetched.
    for name in [".cargo/registry/x", ".npm/_cacache/x", ".m2/repository/x", ".cache/go-build/x"] {
        let path = wall.home(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        script += &format!("(echo x > '{0}') 2>/dev/null && echo 'WROTE {0}'\n", path.display());
    }
    script += "echo done; touch inside \"$TMPDIR/own\"\n";
    assert_eq!(wall.script(&script).await.stdout, "done\n");
    assert!(wall.workspace().join("inside").exists());
}

#[tokio::test]
async fn words_of_other_programs_in_a_line_open_nothing_to_it() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    let key = wall.home(".ssh/id_ed25519");
    for name in [".ssh/id_ed25519", ".aws/credentials", ".netrc", ".npmrc", ".config/gh/hosts.yml"]
    {
        wall.write(&wall.home(name), "SECRET");
    }
    let evil = format!(
        "#!/bin/sh\ncat {0} {1}/.aws/credentials {1}/.netrc {1}/.npmrc {1}/.config/gh/hosts.yml 2>/dev/null\n\
         echo x 2>/dev/null > {1}/OUT\necho done\n",
        key.display(),
        wall.at("home").display()
    );
    wall.write(&wall.workspace().join("evil.sh"), &evil);
    for line in [
        "false && rpm -q x; ./evil.sh",
        "if false; then pacman -Q; fi; ./evil.sh",
        "pkg --version >/dev/null 2>&1; ./evil.sh",
        "installer >/dev/null 2>&1; ./evil.sh",
        "if false; then git push; fi; ./evil.sh",
        "false && aws s3 ls; ./evil.sh",
        "false && kubectl get x; ./evil.sh",
        "false && gh pr list; ./evil.sh",
        "false && npm view x; ./evil.sh",
    ] {
        let seen = wall.run(&["bash", "-c", line]).await;
        assert_eq!(seen.stdout, "done\n", "{line}");
        assert!(!wall.home("OUT").exists(), "{line}");
    }
}

#[tokio::test]
async fn secrets_and_sockets_of_the_session_are_in_the_environment_of_no_other_program() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    let seen = wall.script("env").await;
    assert!(seen.stdout.contains("PLAIN=plain-value"), "{}", seen.stdout);
    for (name, value) in VARIABLES.iter().filter(|(name, _)| *name != "PLAIN") {
        assert!(!seen.stdout.contains(name) && !seen.stdout.contains(value), "{}", seen.stdout);
    }
}

#[tokio::test]
async fn an_opening_for_the_session_is_for_one_command_and_never_for_credentials() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    wall.write(&wall.at("out/x"), "");
    wall.write(&wall.home(".ssh/config"), "");
    let (new, key) = (wall.at("out/new"), wall.home(".ssh/id_new"));
    let text = format!("(echo x > {}); echo x > {}; exit 1\n", new.display(), key.display());
    for name in ["job.sh", "other.sh"] {
        wall.write(&wall.workspace().join(name), &text);
    }
    let command = ["bash", "job.sh"];
    let seen = wall.run(&command).await;
    let denied = seen.denied.expect("it met the wall");
    assert_eq!(denied.writes, [new.display().to_string()], "{}", seen.stderr);
    // As if the question had named the key.
    let writes = [&new, &key].map(|path| path.display().to_string()).into();
    let opening = SessionOpening {
        command: StepAction::exec("bash", &["job.sh"]),
        cwd: wall.workspace(),
        denied: SandboxDenial { writes, ..SandboxDenial::default() },
    };
    let policy = Policy { opened: vec![opening], ..Policy::default() };
    wall.run_cleared(wall.approved_under(&policy, &["bash", "other.sh"])).await;
    assert!(!new.exists());
    let seen = wall.run_cleared(wall.approved_under(&policy, &command)).await;
    assert!(new.exists() && !key.exists(), "{}", seen.stderr);
}

#[tokio::test]
async fn only_a_step_that_was_approved_without_the_sandbox_runs_without_it() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    wall.write(&wall.at("out/x"), "outside");
    let text = format!("cat {}\n", wall.at("out/x").display());
    assert_eq!(wall.script(&text).await.stdout, "");
    let cleared = wall.approved(&["bash", "attack.sh"]).into_needs_approval();
    let seen = wall.run_cleared(cleared.approve_without_sandbox()).await;
    assert_eq!((seen.stdout.as_str(), seen.denied), ("outside", None));
    assert_eq!(wall.script(&text).await.stdout, "");
}

#[tokio::test]
async fn files_beside_sockets_of_other_programs_are_closed() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    let others = [
        wall.at("tmux-0/default"),
        wall.at("ssh-x/agent.1"),
        wall.home(".gnupg/S.gpg-agent"),
        wall.home(".local/share/tmux/x"),
    ];
    for path in &others {
        wall.write(path, "socket");
    }
    let reads = others.map(|path| format!("cat {0} >/dev/null 2>&1 && echo {0}\n", path.display()));
    let seen = wall.script(&format!("{}echo done", reads.concat())).await;
    assert_eq!(seen.stdout, "done\n", "{}", seen.stderr);
}

/// What the README says of sockets that have a path, tried with real ones.
#[tokio::test]
async fn of_sockets_outside_only_those_with_a_path_are_reached_by_code_that_has_the_network() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    if !Path::new("/usr/bin/python3").exists() {
        return skip(Reason::NotInstalled("python3"));
    }
    let path = wall.at("outside.socket");
    let _listener = UnixListener::bind(&path).unwrap();
    let name = format!("avocet-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _abstract = UnixListener::bind_addr(&address).unwrap();
    let code = |address: &str| {
        format!(
            "import socket\ntry:\n  socket.socket(socket.AF_UNIX).connect({address})\n  print('reached')\nexcept OSError:\n  print('closed')\n"
        )
    };
    wall.write(
        &wall.workspace().join("path.py"),
        &code(&format!("{:?}", path.display().to_string())),
    );
    wall.write(&wall.workspace().join("abstract.py"), &code(&format!("'\\0{name}'")));
    let by_name = if restricts_signals() { "closed\n" } else { "reached\n" };
    for (script, expected) in [("path.py", "reached\n"), ("abstract.py", by_name)] {
        let seen = wall.run(&["python3", script]).await;
        assert_eq!(seen.stdout, expected, "{script}: {}", seen.stderr);
    }
}

#[tokio::test]
async fn terminals_devices_and_other_processes_stay_closed() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    // A terminal of ours, as another window of the user is.
    let pair = portable_pty::native_pty_system();
    let pair = pair.openpty(portable_pty::PtySize::default()).unwrap();
    let name = pair.master.tty_name().unwrap();
    let name = name.display();
    let own = std::process::id();
    let script = format!(
        "(echo painted > {name}) 2>/dev/null && echo TERMINAL\n\
         (: < {name}) 2>/dev/null && echo READ-TERMINAL\n\
         (: < /dev/kmsg) 2>/dev/null && echo KMSG\n\
         mknod device c 1 11 2>/dev/null && echo DEVICE\n\
         mknod block b 8 0 2>/dev/null && echo BLOCK\n\
         cat /proc/{own}/environ >/dev/null 2>&1 && echo ENVIRON\n\
         cat /proc/{own}/maps >/dev/null 2>&1 && echo MAPS\n\
         cat /proc/1/environ >/dev/null 2>&1 && echo INIT\n\
         unshare -U true 2>/dev/null && echo NAMESPACE\n\
         grep -q '^CapEff:.*00000000000004\\(c7\\|cf\\|00\\)' /proc/self/status || grep CapEff /proc/self/status\n\
         echo done > /dev/null; echo done\n"
    );
    let seen = wall.script(&script).await;
    let lines: Vec<&str> = seen.stdout.lines().filter(|line| !line.starts_with("CapEff")).collect();
    assert_eq!(lines, ["done"], "{}", seen.stderr);
    for line in seen.stdout.lines().filter_map(|line| line.strip_prefix("CapEff:")) {
        let bits = u64::from_str_radix(line.trim(), 16).unwrap();
        // CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, SETGID, SETUID, NET_BIND_SERVICE.
        assert_eq!(bits & !0b100_1100_1111, 0, "{line}");
    }
}

#[tokio::test]
async fn signals_reach_only_the_steps_own_processes() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    let own = std::process::id();
    let seen = wall
        .script(&format!(
            "kill -0 {own} 2>/dev/null && echo REACHED\nsleep 60 & kill $! && echo done\n"
        ))
        .await;
    assert!(seen.stdout.contains("done"), "{}", seen.stdout);
    assert_eq!(seen.stdout.contains("REACHED"), !restricts_signals());
}

/// Kernels before 6.12 restrict neither signals nor sockets without a path.
fn restricts_signals() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.trim().parse::<u32>().ok());
    (numbers.next().unwrap(), numbers.next().unwrap()) >= (6, 12)
}

#[tokio::test]
async fn a_view_of_its_own_of_the_machine_cannot_be_made() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    let Some(python) = ["/usr/bin/python3"].iter().find(|path| Path::new(path).exists()) else {
        return skip(Reason::NotInstalled("python3"));
    };
    // `clone` with new users, mounts, networks, processes; and `clone3`.
    let code = r#"
import ctypes, os, errno, threading
libc = ctypes.CDLL(None, use_errno=True)
clone, clone3 = (56, 435) if os.uname().machine == "x86_64" else (220, 435)
for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000, 0x8000000, 0x4000000, 0x2000000, 0x10000000 | 0x20000):
    pid = libc.syscall(clone, flag | 17, 0, 0, 0, 0)
    if pid == 0: os._exit(0)
    if pid > 0: print("CLONED", hex(flag))
    elif ctypes.get_errno() != errno.EPERM: print("OTHER", ctypes.get_errno())
args = (ctypes.c_uint64 * 8)(0x10000000, 0, 0, 0, 17, 0, 0, 0)
pid = libc.syscall(clone3, args, 64)
if pid == 0: os._exit(0)
if pid > 0: print("CLONED3")
thread = threading.Thread(target=lambda: print("thread"))
thread.start(); thread.join()
os.waitpid(os.spawnv(os.P_NOWAIT, "/bin/true", ["true"]), 0)
print("done")
"#;
    wall.write(&wall.workspace().join("a.py"), code);
    let seen = wall.run(&[python, "a.py"]).await;
    assert_eq!(seen.stdout, "thread\ndone\n", "{}", seen.stderr);
}

#[tokio::test]
async fn a_chain_of_processes_does_not_outlive_its_step() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    if !Path::new("/usr/bin/python3").exists() {
        return skip(Reason::NotInstalled("python3"));
    }
    // Each starts the next in a session of its own, and ends.
    let chain = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    while True:\n        time.sleep(PAUSE)\n        if os.fork(): os._exit(0)\n        open('beat', 'w').write(str(time.time()))\n";
    for pause in ["0.01", "0.001", "0"] {
        wall.write(&wall.workspace().join("chain.py"), &chain.replace("PAUSE", pause));
        wall.run(&["/usr/bin/python3", "chain.py"]).await;
        let beat = || fs::read_to_string(wall.workspace().join("beat")).unwrap_or_default();
        // What is left would write again well within this time.
        let before = beat();
        let until = std::time::Instant::now() + std::time::Duration::from_millis(500);
        while std::time::Instant::now() < until {
            tokio::task::yield_now().await;
        }
        assert_eq!(beat(), before, "{pause}");
    }
}

#[tokio::test]
async fn only_the_cache_of_the_step_is_made_and_an_unused_one_is_removed() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    let listed = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).map(|all| all.flatten().collect::<Vec<_>>());
        let mut names: Vec<String> = entries
            .unwrap_or_default()
            .iter()
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        names
    };
    wall.write(
        &wall.workspace().join("Makefile"),
        "all:\n\t@mkdir -p $(HOME)/.cache/ccache/x && echo made\n",
    );
    let seen = wall.run(&["make"]).await;
    assert_eq!(seen.stdout, "made\n", "{}", seen.stderr);
    assert_eq!(listed(&wall.at("home")), [".cache", "code"]);
    assert_eq!(listed(&wall.home(".cache")), ["ccache"]);
    fs::remove_dir_all(wall.home(".cache")).unwrap();
    wall.write(&wall.workspace().join("Makefile"), "all:\n\t@echo nothing\n");
    wall.run(&["make"]).await;
    // It is removed beside what follows.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while listed(&wall.at("home")) != ["code"] {
        assert!(std::time::Instant::now() < until, "{:?}", listed(&wall.home(".cache")));
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn debuggers_work_on_the_steps_own_processes() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    for (program, args) in [
        ("/usr/bin/strace", &["-o", "out", "true"][..]),
        ("/usr/bin/gdb", &["-batch", "-nx", "-ex", "run", "true"]),
    ] {
        if !Path::new(program).exists() {
            skip(Reason::NotInstalled("a debugger"));
            continue;
        }
        let seen = wall.run(&[&[program], args].concat()).await;
        assert_eq!(seen.exit_code, Some(0), "{program}: {} {}", seen.stdout, seen.stderr);
        assert!(
            !seen.stdout.contains("not permitted") && !seen.stderr.contains("not permitted"),
            "{program}: {}",
            seen.stderr
        );
    }
}

#[tokio::test]
async fn no_step_leaves_a_program_that_runs_with_the_rights_of_its_owner() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    let script = "umask 0; cp /bin/cat a; chmod 4755 a; chmod u+s a; install -m 4755 a b\n\
        cp -p /usr/bin/su /bin/su /usr/bin/passwd .; tar --mode=4755 -cf t.tar a; mkdir out; tar -xpf t.tar -C out\n\
        perl -MFcntl -e 'sysopen(F, \"c$_\", O_CREAT | O_WRONLY, $_) for 04755, 02755'\n\
        mkdir -m 2775 d; chmod 755 a; chmod 1777 out; mknod e p\n\
        find . -perm -4000; find . -perm -2000; echo done\n";
    let seen = wall.script(script).await;
    assert_eq!(seen.stdout, "./d\ndone\n", "{}", seen.stderr);
    let mode = |name: &str| fs::metadata(wall.workspace().join(name)).unwrap().permissions().mode();
    assert_eq!((mode("a") & 0o7777, mode("out") & 0o7777), (0o755, 0o1777));
}
