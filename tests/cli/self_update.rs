//! `avocet self update`, from a folder and from a server: what is not signed with the key changes
//! nothing. The fixtures are releases of 9.9.9 and 0.0.1 whose program is a script.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server, nobody};

/// The key that signed the fixtures, and one that did not.
const KEY: &str = "RWT+z1D0kbLH5EEK39tmk0nAINzv2PclZitfbmmJ8nDYj0+Cxn1mfwku";
const OTHER_KEY: &str = "RWSi5YpMb5vdu81WCSIww+pUxR/RfbPf+2l/D8McsqWDmPt+aAFsk2b2";

const RELEASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");

/// A program as `install.sh` installs it from a folder.
struct Installed {
    bench: TestDir,
    program: PathBuf,
}

impl Installed {
    fn new() -> Installed {
        let bench = TestDir::new();
        let program = bench.path("prefix/bin/avocet");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        let built = env!("CARGO_BIN_EXE_avocet");
        fs::hard_link(built, &program).or_else(|_| fs::copy(built, &program).map(drop)).unwrap();
        let installed = Installed { bench, program };
        installed.came_from(&format!("{RELEASES}/release"));
        installed
    }

    fn came_from(&self, origin: &str) {
        let folder = self.bench.path("prefix/share/avocet");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("from"), format!("{origin}\n")).unwrap();
    }

    fn update(&self, args: &[&str]) -> Output {
        let mut command = Command::new(&self.program);
        command.args(["self", "update"]).args(args).current_dir(self.bench.work());
        command.env_clear().envs(self.bench.envs()).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("LANG", "en_US.UTF-8").output().unwrap()
    }

    /// What it says; the program is the same as before.
    #[track_caller]
    fn refuses(&self, args: &[&str], why: &str) {
        let size = fs::metadata(&self.program).unwrap().len();
        let done = self.update(args);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success() && said.contains(why), "{said}");
        assert_eq!(fs::metadata(&self.program).unwrap().len(), size);
        let left: Vec<_> = fs::read_dir(self.bench.path("prefix/share/avocet")).unwrap().collect();
        assert_eq!(left.len(), 1, "only the file with its origin is left: {left:?}");
    }
}

fn copy_release(to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(format!("{RELEASES}/release")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

#[test]
fn a_newer_release_replaces_the_program_its_manual_and_completions() {
    let installed = Installed::new();
    let checked = installed.update(&["--key", KEY, "--check"]);
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(checked.status.success() && said.contains("Avocet 9.9.9 is available"), "{said}");
    assert!(fs::metadata(&installed.program).unwrap().len() > 1_000_000, "nothing was changed");

    let done = installed.update(&["--key", KEY]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && said.contains("Avocet 9.9.9 is installed"), "{said}");
    assert_eq!(fs::read_to_string(&installed.program).unwrap(), "#!/bin/sh\necho avocet 9.9.9\n");
    let share = installed.bench.path("prefix/share");
    assert!(share.join("man/man1/avocet.1").exists());
    let origin = fs::read_to_string(share.join("avocet/from")).unwrap();
    assert_eq!(origin, format!("{RELEASES}/release\n"), "the next one comes from there, too");
    assert_eq!(fs::read_dir(share.join("avocet")).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn only_what_the_key_signed_is_installed() {
    let installed = Installed::new();
    installed.refuses(&["--key", OTHER_KEY], "is not signed with the release key");
    installed.refuses(&["--key", "none"], "`none` is not a public key");

    let folder = installed.bench.path("release");
    copy_release(&folder);
    let from = folder.to_str().unwrap();
    let sums = folder.join("SHA256SUMS");
    let signed = fs::read_to_string(&sums).unwrap();
    fs::write(&sums, signed.replacen('a', "b", 1)).unwrap();
    installed.refuses(&["--key", KEY, "--from", from], "is not signed with the release key");

    // Another archive under the name of a signed one.
    fs::write(&sums, signed).unwrap();
    for file in fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "gz") {
            fs::write(path, "not what was signed").unwrap();
        }
    }
    installed.refuses(&["--key", KEY, "--from", from], "The checksum of `avocet-9.9.9-");

    fs::remove_file(folder.join("SHA256SUMS.minisig")).unwrap();
    installed.refuses(&["--key", KEY, "--from", from], "`SHA256SUMS.minisig`");
}

#[test]
fn pipes_circles_of_links_and_large_files_change_nothing() {
    let installed = Installed::new();
    let folder = installed.bench.path("odd");
    fs::create_dir_all(&folder).unwrap();
    let sums = folder.join("SHA256SUMS");
    let refuses = |why| {
        installed.refuses(&["--key", KEY, "--from", folder.to_str().unwrap()], why);
        fs::remove_file(&sums).unwrap();
    };
    assert!(Command::new("mkfifo").arg(&sums).status().unwrap().success());
    refuses("not a regular file");
    std::os::unix::fs::symlink(&sums, &sums).unwrap();
    refuses("Too many levels of symbolic links");
    fs::File::create(&sums).unwrap().set_len(2 << 30).unwrap();
    refuses("more than 1 MiB");
}

#[test]
fn an_older_release_is_not_installed_though_the_key_signed_it() {
    let installed = Installed::new();
    installed.came_from(&format!("{RELEASES}/release-old"));
    let done = installed.update(&["--key", KEY]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && said.contains("there is nothing to update"), "{said}");
    assert!(fs::metadata(&installed.program).unwrap().len() > 1_000_000);
}

#[test]
fn a_program_that_something_else_installed_is_left_to_it() {
    let installed = Installed::new();
    fs::remove_file(installed.bench.path("prefix/share/avocet/from")).unwrap();
    let done = installed.update(&["--key", KEY]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success() && said.contains("was not installed by install.sh"), "{said}");
}

#[test]
fn an_address_that_is_not_encrypted_is_not_asked() {
    let installed = Installed::new();
    let args = ["--key", KEY, "--from", "http://example.invalid/releases"];
    installed.refuses(&args, "is not an https address or a folder");
}

const FILES: [&str; 4] = [
    "/v1/SHA256SUMS",
    "/v1/SHA256SUMS.minisig",
    "/v1/avocet-9.9.9-x86_64-unknown-linux-musl.tar.gz",
    "/v1/avocet-9.9.9-aarch64-unknown-linux-musl.tar.gz",
];

#[test]
fn a_release_is_read_from_the_address_that_a_server_leads_to() {
    let file = |path: &'static str| {
        let name = path.trim_start_matches("/v1/");
        (path, Reply::status(200).body(fs::read(format!("{RELEASES}/release/{name}")).unwrap()))
    };
    let files = Server::start_with_pages(Vec::new(), FILES.map(file).into());
    let base = files.base_url();
    let led = |path: &'static str| {
        let name = path.trim_start_matches("/v1/");
        (path, Reply::status(302).header("Location", &format!("{base}/{name}")))
    };
    let latest = Server::start_with_pages(Vec::new(), FILES.map(led).into());
    let installed = Installed::new();
    let done = installed.update(&["--key", KEY, "--from", &latest.base_url()]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && said.contains("Avocet 9.9.9 is installed"), "{said}");
    let origin = installed.bench.path("prefix/share/avocet/from");
    assert_eq!(fs::read_to_string(origin).unwrap().trim(), latest.base_url());
    assert_eq!(files.lookups().len(), 3, "the sums, their signature and one archive");
}

#[test]
fn a_server_that_has_no_release_or_leads_to_an_open_address_changes_nothing() {
    let installed = Installed::new();
    let open = Reply::status(302).header("Location", "http://example.invalid/SHA256SUMS");
    let server = Server::start_with_pages(Vec::new(), vec![("/v1/SHA256SUMS", open)]);
    let address = server.base_url();
    installed.refuses(&["--key", KEY, "--from", &address], "leads from one address to the next");
    let nothing = format!("{address}/nothing");
    installed.refuses(&["--key", KEY, "--from", &nothing], "the server answers with 404");
    installed.refuses(&["--key", KEY, "--from", &nobody()], "the server cannot be reached");
}
