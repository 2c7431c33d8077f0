//! Repositories of all kinds inside the sandbox.

use pretty_assertions::assert_eq;

use super::*;

impl Wall {
    pub fn git(&self, folder: &Path, args: &[&str]) {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=x", "-c", "user.email=x@y", "-c", "protocol.file.allow=always"]);
        let output = git.args(args).current_dir(folder).env("HOME", self.at("")).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// A repository elsewhere with a commit.
    pub fn repository(&self, name: &str) -> PathBuf {
        let folder = self.home(name);
        fs::create_dir_all(&folder).unwrap();
        self.git(&folder, &["init", "-q", "-b", "main"]);
        fs::write(folder.join("a.txt"), "hello\n").unwrap();
        self.git(&folder, &["add", "-A"]);
        self.git(&folder, &["commit", "-qm", "one"]);
        folder
    }

    /// Reads run by themselves, writes as the user approves them.
    async fn git_works(&self, what: &str) {
        for args in [
            &["status"][..],
            &["log", "--oneline"],
            &["diff"],
            &["show", "HEAD"],
            &["blame", "a.txt"],
            &["grep", "hello"],
            &["branch"],
            &["ls-files"],
            &["rev-parse", "HEAD"],
            &["log", "-p", "-1"],
            &["stash", "list"],
            &["reflog"],
        ] {
            let words = [&["git"], args].concat();
            assert_eq!(
                self.approved(&words).judgement().risk.tier,
                avocet::protocol::Tier::L0,
                "{what} {args:?}"
            );
            let seen = self.run(&words).await;
            assert_eq!(seen.exit_code, Some(0), "{what} {args:?}: {}", seen.stderr);
        }
        fs::write(self.workspace().join("b.txt"), "new\n").unwrap();
        for args in [
            &["add", "b.txt"][..],
            &["commit", "-m", "two"],
            &["tag", "t"],
            &["branch", "x"],
            &["branch", "-d", "x"],
            &["pack-refs", "--all"],
            &["tag", "-d", "t"],
            &["merge", "HEAD"],
            &["stash"],
        ] {
            let words = [&["git"], args].concat();
            let seen = self.run(&words).await;
            assert_eq!(seen.exit_code, Some(0), "{what} {args:?}: {}", seen.stderr);
            assert!(!seen.stderr.contains("denied"), "{what} {args:?}: {}", seen.stderr);
        }
    }

    pub fn identity(&self) {
        fs::write(self.home(".gitconfig"), "[user]\nname = x\nemail = x@y\n").unwrap();
    }
}

#[tokio::test]
async fn git_works_in_a_linked_worktree() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    wall.identity();
    let main = wall.repository("main");
    fs::remove_dir(wall.workspace()).unwrap();
    wall.git(&main, &["worktree", "add", "-q", "-b", "side", &wall.workspace().to_string_lossy()]);
    wall.git_works("worktree").await;
    // The other tree is no part of it.
    wall.write(&main.join("private"), "SECRET");
    let seen = wall.script(&format!("cat {}/private; echo done", main.display())).await;
    assert_eq!(seen.stdout, "done\n");
}

#[tokio::test]
async fn code_of_the_project_leaves_settings_and_hooks_of_the_repository_as_they_were() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    let repository = wall.repository("code/shop");
    let config = fs::read(repository.join(".git/config")).unwrap();
    let seen = wall
        .script("git config core.fsmonitor ./evil.sh; echo evil > .git/hooks/pre-push; echo done")
        .await;
    assert_eq!(seen.stdout, "done\n", "{}", seen.stderr);
    assert_eq!(fs::read(repository.join(".git/config")).unwrap(), config);
    assert!(!repository.join(".git/hooks/pre-push").exists());
    let note = seen.note.unwrap().text(Lang::En).to_string();
    assert!(note.contains(".git/config, .git/hooks/pre-push"), "{note}");
    let seen = wall.run(&["git", "config", "user.name", "x"]).await;
    assert_eq!((seen.exit_code, seen.note), (Some(0), None));
    assert_ne!(fs::read(repository.join(".git/config")).unwrap(), config);
}

#[tokio::test]
async fn git_works_in_a_submodule() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    wall.identity();
    let (lib, main) = (wall.repository("lib"), wall.repository("code"));
    fs::remove_dir(wall.workspace()).unwrap();
    wall.git(&main, &["submodule", "--quiet", "add", &lib.to_string_lossy(), "shop"]);
    wall.git_works("submodule").await;
}

#[tokio::test]
async fn git_grep_works_in_every_repository_also_beside_a_password() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    let other = wall.repository("code/shop");
    for url in ["https://example.com/x.git", "https://ada:hunter2hunter2@example.com/x.git"] {
        wall.git(&other, &["config", "remote.origin.url", url]);
        let seen = wall.run(&["git", "grep", "hello"]).await;
        assert_eq!(
            (seen.exit_code, seen.stdout.as_str()),
            (Some(0), "a.txt:hello\n"),
            "{}",
            seen.stderr
        );
    }
    // What it does not need, a search does not meet.
    let seen = wall.run(&["grep", "-r", "hunter2", "."]).await;
    assert!(!seen.stdout.contains("hunter2"), "{}", seen.stdout);
}

#[tokio::test]
async fn commits_are_signed_with_the_users_key() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    let keygen = Path::new("/usr/bin/ssh-keygen");
    if !keygen.exists() {
        return skip(Reason::NotInstalled("ssh-keygen"));
    }
    let root = wall.repository("code/shop");
    let key = wall.home(".ssh/id_ed25519");
    fs::create_dir_all(key.parent().unwrap()).unwrap();
    let made = std::process::Command::new(keygen)
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(&key)
        .status();
    assert!(made.unwrap().success());
    let settings = format!(
        "[user]\nname = x\nemail = x@y\nsigningkey = {}.pub\n[gpg]\nformat = ssh\n[commit]\ngpgsign = true\n",
        key.display()
    );
    fs::write(wall.home(".gitconfig"), settings).unwrap();
    fs::write(root.join("b.txt"), "new\n").unwrap();
    for words in [&["git", "add", "b.txt"][..], &["git", "commit", "-m", "signed"]] {
        let seen = wall.run(words).await;
        assert_eq!(seen.exit_code, Some(0), "{words:?}: {}", seen.stderr);
    }
    let seen = wall.run(&["git", "cat-file", "-p", "HEAD"]).await;
    assert!(seen.stdout.contains("BEGIN SSH SIGNATURE"), "{}", seen.stdout);
}

#[tokio::test]
async fn commits_are_signed_by_gpg_whose_agent_starts_in_the_step() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    let [gpg, gpgconf] = ["gpg", "gpgconf"].map(|name| Path::new("/usr/bin").join(name));
    if !gpg.exists() || !gpgconf.exists() {
        return skip(Reason::NotInstalled("gpg-agent"));
    }
    let root = wall.repository("code/shop");
    let home = wall.home(".gnupg");
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
    let outside = |program: &Path, args: &[&str]| {
        let mut command = std::process::Command::new(program);
        // An agent that it starts is not taken for one of a step of another test.
        command.env("AVOCET_STEP", "none");
        let ran = command.arg("--homedir").arg(&home).args(args).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    };
    let key = ["--batch", "--passphrase", "", "--quick-gen-key", "x@y", "ed25519", "sign", "never"];
    outside(&gpg, &key);
    outside(&gpgconf, &["--kill", "all"]);
    let settings = "[user]\nname = x\nemail = x@y\nsigningkey = x@y\n[commit]\ngpgsign = true\n";
    fs::write(wall.home(".gitconfig"), settings).unwrap();
    wall.write(
        &root.join(".git/hooks/post-commit"),
        "#!/bin/sh\necho evil >> ~/.gnupg/gpg-agent.conf\n",
    );
    fs::write(root.join("b.txt"), "new\n").unwrap();
    for words in [&["git", "add", "b.txt"][..], &["git", "commit", "-m", "signed"]] {
        let seen = wall.run(words).await;
        assert_eq!(seen.exit_code, Some(0), "{words:?}: {}", seen.stderr);
    }
    outside(&gpgconf, &["--kill", "all"]);
    let seen = wall.run(&["git", "cat-file", "-p", "HEAD"]).await;
    assert!(seen.stdout.contains("BEGIN PGP SIGNATURE"), "{}", seen.stdout);
    assert!(!home.join("gpg-agent.conf").exists(), "a hook names no program to the agent");
    // Other steps have neither.
    let seen =
        wall.script("cat ~/.gnupg/pubring.kbx; echo evil > ~/.gnupg/gpg.conf; echo done").await;
    assert_eq!(seen.stdout, "done\n");
    assert!(!home.join("gpg.conf").exists());
}

#[tokio::test]
async fn a_hook_of_a_commit_opens_a_socket() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    if !Path::new("/usr/bin/python3").exists() {
        return skip(Reason::NotInstalled("python3"));
    }
    wall.identity();
    let root = wall.repository("code/shop");
    let hook = "#!/bin/sh\nexec /usr/bin/python3 -c 'import socket; socket.socket().bind((\"127.0.0.1\", 0))'\n";
    wall.write(&root.join(".git/hooks/pre-commit"), hook);
    fs::write(root.join("b.txt"), "new\n").unwrap();
    for words in [&["git", "add", "b.txt"][..], &["git", "commit", "-m", "two"]] {
        let seen = wall.run(words).await;
        assert_eq!(seen.exit_code, Some(0), "{words:?}: {}", seen.stderr);
    }
}

#[tokio::test]
async fn git_works_below_a_link_and_with_a_separate_git_folder() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    wall.identity();
    let root = wall.repository("code/shop");
    let elsewhere = wall.home("stores/shop.git");
    fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
    wall.git(&root, &["init", "-q", "--separate-git-dir", &elsewhere.to_string_lossy()]);
    // As git itself notes it for a tree that belongs to a folder elsewhere.
    wall.git(&root, &["config", "core.worktree", &root.to_string_lossy()]);
    wall.git_works("separate").await;
    wall.script("echo evil > $(git rev-parse --git-dir)/hooks/pre-push").await;
    assert!(!elsewhere.join("hooks/pre-push").exists());
}

/// A build may have put it there, under the name of a program that git starts.
#[tokio::test]
async fn no_program_of_the_project_runs_with_credentials_because_of_its_name() {
    let Some(mut wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    wall.identity();
    let root = wall.repository("code/shop");
    let key = wall.home(".ssh/id_ed25519");
    let bin = root.join(".venv/bin");
    wall.write(&key, "SECRET");
    let steals = format!("#!/bin/sh\ncat {} > {}/stolen\n", key.display(), root.display());
    for name in ["ssh", "own-tool"] {
        wall.write(&bin.join(name), &steals);
    }
    wall.set_path(&[&bin]);
    wall.git(&root, &["remote", "add", "origin", "ssh://127.0.0.1:1/x"]);
    wall.run(&["git", "push", "origin", "HEAD"]).await;
    assert!(!root.join("stolen").exists());
    // Other steps find it, without the key.
    wall.script("own-tool 2>/dev/null").await;
    assert_eq!(fs::read_to_string(root.join("stolen")).unwrap(), "");
}
