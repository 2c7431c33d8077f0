//! Installing from an archive: what its checksum does not promise is not installed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sha2::{Digest as _, Sha256};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/dist/install.sh");
const NAME: &str = concat!("avocet-", env!("CARGO_PKG_VERSION"), "-some-target");

struct Release {
    root: tempfile::TempDir,
}

impl Release {
    /// A folder with an archive as the build script makes it, its program a script that says hello.
    fn new() -> Release {
        let release = Release { root: crate::support::temp_dir() };
        let inside = release.at(NAME);
        for folder in ["completions", "man"] {
            fs::create_dir_all(inside.join(folder)).unwrap();
        }
        for file in ["completions/avocet.bash", "completions/_avocet", "completions/avocet.fish"] {
            fs::write(inside.join(file), "# completes\n").unwrap();
        }
        fs::write(inside.join("man/avocet.1"), ".TH avocet 1\n").unwrap();
        let program = inside.join("avocet");
        fs::write(&program, "#!/bin/sh\necho avocet of the archive\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let archive = release.archive();
        let packed = Command::new("tar")
            .args(["-C", release.at("").to_str().unwrap(), "-czf", archive.to_str().unwrap(), NAME])
            .status();
        assert!(packed.unwrap().success());
        release.write_checksum(&fs::read(archive).unwrap());
        release
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn archive(&self) -> PathBuf {
        self.at(&format!("{NAME}.tar.gz"))
    }

    fn write_checksum(&self, bytes: &[u8]) {
        let sum: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let line = format!("{sum}  {NAME}.tar.gz\n");
        fs::write(self.at(&format!("{NAME}.tar.gz.sha256")), line).unwrap();
    }

    fn install(&self, from: &Path) -> Output {
        Command::new("sh")
            .arg(SCRIPT)
            .args(["--target", "some-target", "--from"])
            .arg(from)
            .arg("--prefix")
            .arg(self.at("prefix"))
            .output()
            .unwrap()
    }

    #[track_caller]
    fn refuses(&self, why: &str) {
        let output = self.install(self.root.path());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(why), "{said}");
        assert!(!self.at("prefix").exists(), "nothing is left of what was refused");
    }
}

#[test]
fn an_archive_is_installed_with_its_manual_and_completions_over_an_older_program() {
    let release = Release::new();
    for round in 1..=2 {
        let output = release.install(release.root.path());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{round}: {said}");
        assert!(said.starts_with("avocet of the archive is installed as"), "{said}");
    }
    for file in [
        "bin/avocet",
        "share/man/man1/avocet.1",
        "share/zsh/site-functions/_avocet",
        "share/fish/vendor_completions.d/avocet.fish",
        "share/bash-completion/completions/avocet",
    ] {
        assert!(release.at("prefix").join(file).is_file(), "{file}");
    }
    assert_eq!(fs::read_dir(release.at("prefix/bin")).unwrap().count(), 1);
}

#[test]
fn an_archive_that_differs_from_its_checksum_is_not_installed() {
    let release = Release::new();
    let mut bytes = fs::read(release.archive()).unwrap();
    bytes.push(0);
    fs::write(release.archive(), &bytes).unwrap();
    release.refuses("the checksum of");
    fs::write(release.at(&format!("{NAME}.tar.gz.sha256")), "<html>not found</html>\n").unwrap();
    release.refuses("holds no checksum");
    fs::remove_file(release.at(&format!("{NAME}.tar.gz.sha256"))).unwrap();
    release.refuses("sha256 could not be read");
    fs::remove_file(release.archive()).unwrap();
    release.refuses("could not be read");
}

#[test]
fn a_program_that_does_not_run_here_is_not_installed() {
    let release = Release::new();
    fs::write(release.at(NAME).join("avocet"), "#!/bin/sh\nexit 1\n").unwrap();
    let root = release.root.path().to_str().unwrap();
    let archive = release.archive();
    let packed = Command::new("tar").args(["-C", root, "-czf"]).arg(&archive).arg(NAME).status();
    assert!(packed.unwrap().success());
    release.write_checksum(&fs::read(archive).unwrap());
    release.refuses("does not run on this machine");
}

#[test]
fn an_archive_is_never_fetched_over_plain_http_from_another_host() {
    let release = Release::new();
    let output = release.install(Path::new("http://example.invalid/avocet"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("is not https"), "{said}");
}

/// The programs of the system that the script needs, and a `wget` like that of BusyBox.
fn small_system(release: &Release) -> PathBuf {
    let bin = release.at("bin");
    fs::create_dir(&bin).unwrap();
    for name in [
        "sh",
        "uname",
        "mktemp",
        "sed",
        "cut",
        "sha256sum",
        "tar",
        "gzip",
        "cp",
        "mv",
        "mkdir",
        "rm",
        "cat",
        "grep",
    ] {
        let found = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(name));
        let found = found.into_iter().find(|path| path.exists()).unwrap();
        std::os::unix::fs::symlink(found, bin.join(name)).unwrap();
    }
    let wget = format!(
        "#!/bin/sh\ncase $1 in --help) echo 'BusyBox v1.36' >&2; exit 1 ;; esac\n\
         [ \"$1 $2\" = '-q -O' ] && [ $# -eq 4 ] || exit 2\n\
         cp \"{}/${{4##*/}}\" \"$3\"\n",
        release.at("").display()
    );
    fs::write(bin.join("wget"), wget).unwrap();
    fs::set_permissions(bin.join("wget"), fs::Permissions::from_mode(0o755)).unwrap();
    bin
}

#[test]
fn the_wget_of_busybox_is_enough_on_this_machine_and_not_trusted_with_others() {
    let release = Release::new();
    let bin = small_system(&release);
    let install = |from: &str| {
        let mut command = Command::new(bin.join("sh"));
        command.arg(SCRIPT).args(["--target", "some-target", "--from", from, "--prefix"]);
        command.arg(release.at("prefix")).env_clear().env("PATH", &bin).output().unwrap()
    };
    let refused = install("https://example.invalid/releases");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("certificates"), "{said}");
    let done = install("http://127.0.0.1:1/releases");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && said.contains("is installed as"), "{said}");
}

#[test]
fn the_script_installs_the_version_it_comes_with() {
    let script = fs::read_to_string(SCRIPT).unwrap();
    let version = script.lines().find_map(|line| line.strip_prefix("version=")).unwrap();
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
}
