//! `avocet self update`: installs a newer release over a program that `install.sh` installed. Only
//! the key is trusted: it has signed the checksums and, in the comment, the version.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use minisign_verify::{PublicKey, Signature};
use sha2::{Digest, Sha256};
use tokio::runtime::Runtime;

use super::extensions::report_info;
use super::runtime::screen_runtime;
use super::startup::Startup;
use crate::cli::Exit;
use crate::cli::self_command::UpdateOptions;
use avocet_core::i18n::{LocalizedText, Phrase, PhraseValue, config, self_update as phrases};
use avocet_core::protocol::Notice;
use avocet_model::net::{HttpClient, HttpRequest};
use avocet_tools::exec::run_with_terminal;

/// Where `install.sh` writes the address that the program came from, below the prefix.
const ORIGIN: &str = "share/avocet/from";
/// The script that installs an archive; a release is installed as it was the first time.
const INSTALL: &str = include_str!("../../assets/dist/install.sh");
/// The key of the releases, as the program was built.
const KEY: Option<&str> = option_env!("AVOCET_RELEASE_KEY");
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The maximum size of the checksums and of an archive, in MiB.
const SUMS_MIB: usize = 1;
const ARCHIVE_MIB: usize = 256;
const ARCHIVE_TIME: Duration = Duration::from_secs(600);
const REDIRECTS: usize = 5;

/// `self update`.
pub fn run(startup: &Startup, options: &UpdateOptions) -> Exit {
    match update(startup, options) {
        Ok(say) => report_info(startup, say),
        Err(why) => startup.fail(&Notice::error(why), Exit::Failed),
    }
}

fn update(startup: &Startup, options: &UpdateOptions) -> Result<LocalizedText, LocalizedText> {
    let program = std::env::current_exe().and_then(fs::canonicalize).unwrap_or_default();
    let Installation { prefix, origin } = Installation::of(&program)
        .ok_or_else(|| phrases::NOT_OURS.with("program", program.display().to_string()))?;
    let key = options.key.as_deref().or(KEY).ok_or(phrases::NO_KEY)?;
    let key = PublicKey::from_base64(key.trim()).map_err(|_| phrases::BAD_KEY.with("key", key))?;
    let from = match &options.from {
        Some(from) => whole_address(from, &startup.folder),
        None => origin,
    };
    let source = ReleaseSource::open(&from)?;
    let release = Release::read(&source, &key)?;
    let versions =
        |say: Phrase| say.with("found", release.version.as_str()).with("version", VERSION);
    if !is_newer(&release.version, VERSION) {
        return Ok(versions(phrases::NOT_NEWER).with("from", from));
    }
    if options.check {
        return Ok(versions(phrases::AVAILABLE));
    }
    let failed =
        |error: io::Error| versions(phrases::NOT_INSTALLED).with("why", error.to_string().trim());
    let archive = release.archive(&source)?;
    let folder = prefix.join(format!("share/avocet/update-{}", std::process::id()));
    let installed = install(&folder, &prefix, &release, &archive);
    // What is left of it is of no use.
    let _ = fs::remove_dir_all(&folder);
    let status = installed.map_err(failed)?;
    if !status.success() {
        return Err(failed(io::Error::other(format!("install.sh: {status}"))));
    }
    fs::write(prefix.join(ORIGIN), format!("{from}\n")).map_err(failed)?;
    Ok(versions(phrases::INSTALLED).with("program", program.display().to_string()))
}

/// A folder from the working folder on, so that it is found again from another.
fn whole_address(from: &str, folder: &Path) -> String {
    let is_address = from.contains("://");
    if is_address { from.to_owned() } else { folder.join(from).display().to_string() }
}

/// Where `install.sh` installed a program, and from what.
struct Installation {
    prefix: PathBuf,
    origin: String,
}

impl Installation {
    fn of(program: &Path) -> Option<Installation> {
        let bin = program.parent().filter(|bin| bin.ends_with("bin"))?;
        let prefix = bin.parent()?.to_owned();
        let origin = fs::read_to_string(prefix.join(ORIGIN)).ok()?.trim().to_owned();
        Some(Installation { prefix, origin })
    }
}

/// Runs the script on the archive, which has been verified. It says itself what is wrong.
fn install(
    folder: &Path,
    prefix: &Path,
    release: &Release,
    archive: &[u8],
) -> io::Result<ExitStatus> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join(&release.file), archive)?;
    let sum = format!("{}  {}\n", release.sum, release.file);
    fs::write(folder.join(format!("{}.sha256", release.file)), sum)?;
    let script = folder.join("install.sh");
    fs::write(&script, INSTALL)?;
    let args = [
        script.display().to_string(),
        "--version".to_owned(),
        release.version.clone(),
        "--target".to_owned(),
        release.target.clone(),
        "--from".to_owned(),
        folder.display().to_string(),
        "--prefix".to_owned(),
        prefix.display().to_string(),
    ];
    run_with_terminal(Path::new("/bin/sh"), &args, folder)
}

/// A release for this machine, as its signature names it.
struct Release {
    version: String,
    target: String,
    file: String,
    sum: String,
}

impl Release {
    fn read(source: &ReleaseSource, key: &PublicKey) -> Result<Release, LocalizedText> {
        let sums = source.get("SHA256SUMS", SUMS_MIB)?;
        let signature = source.get("SHA256SUMS.minisig", SUMS_MIB)?;
        let from = || source.name.as_str();
        let unsigned = || phrases::BAD_SIGNATURE.with("from", from());
        let signature =
            Signature::decode(&String::from_utf8_lossy(&signature)).map_err(|_| unsigned())?;
        key.verify(&sums, &signature, false).map_err(|_| unsigned())?;
        let named = signature.trusted_comment().strip_prefix("avocet ").map(str::trim);
        let version = named.filter(|version| numbers(version).is_some());
        let version = version.ok_or_else(|| phrases::NO_VERSION.with("from", from()))?;
        let sums = String::from_utf8_lossy(&sums);
        targets()
            .into_iter()
            .find_map(|target| {
                let file = format!("avocet-{version}-{target}.tar.gz");
                let mut lines = sums.lines().filter_map(|line| line.split_once("  "));
                let (sum, _) = lines.find(|(_, name)| *name == file)?;
                let sum = sum.to_ascii_lowercase();
                Some(Release { version: version.to_owned(), target, file, sum })
            })
            .ok_or_else(|| {
                let machine = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
                phrases::NO_ARCHIVE.with("from", from()).with("machine", machine)
            })
    }

    fn archive(&self, source: &ReleaseSource) -> Result<Vec<u8>, LocalizedText> {
        let archive = source.get(&self.file, ARCHIVE_MIB)?;
        let digest = Sha256::digest(&archive);
        let found: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        if found == self.sum {
            return Ok(archive);
        }
        let bad = phrases::BAD_SUM.with("file", self.file.as_str());
        Err(bad.with("found", found).with("expected", self.sum.as_str()))
    }
}

/// The targets whose programs run here, the first that a release has counts.
fn targets() -> Vec<String> {
    let systems: &[&str] = match std::env::consts::OS {
        "macos" => &["apple-darwin"],
        _ => &["unknown-linux-musl", "unknown-linux-gnu"],
    };
    systems.iter().map(|system| format!("{}-{system}", std::env::consts::ARCH)).collect()
}

/// The numbers of a version, `1.2.3`.
fn numbers(version: &str) -> Option<Vec<u64>> {
    let numbers: Option<Vec<u64>> = version.split('.').map(|part| part.parse().ok()).collect();
    numbers.filter(|numbers| numbers.len() == 3)
}

fn is_newer(found: &str, version: &str) -> bool {
    numbers(found) > numbers(version)
}

/// A folder, or the address of one, that holds a release.
struct ReleaseSource {
    name: String,
    /// `None`: it is a folder.
    client: Option<(Runtime, HttpClient)>,
}

impl ReleaseSource {
    fn open(from: &str) -> Result<ReleaseSource, LocalizedText> {
        let name = from.trim_end_matches('/').to_owned();
        if !name.contains("://") {
            return Ok(ReleaseSource { name, client: None });
        }
        let unreadable = |why: String| {
            phrases::UNREADABLE.with("file", "SHA256SUMS").with("from", from).with("why", why)
        };
        if !is_safe(&name) {
            return Err(phrases::NOT_ENCRYPTED.with("from", from));
        }
        let runtime = screen_runtime().map_err(|error| unreadable(error.to_string()))?;
        let client = HttpClient::new(&name, None).map_err(|error| unreadable(error.to_string()))?;
        Ok(ReleaseSource { name, client: Some((runtime, client)) })
    }

    /// `most`: the size that it may have, in MiB.
    fn get(&self, file: &str, most: usize) -> Result<Vec<u8>, LocalizedText> {
        let read = match &self.client {
            Some((runtime, client)) => runtime.block_on(download(client, file, most)),
            None => read_file(&Path::new(&self.name).join(file), most),
        };
        read.map_err(|why| {
            let say = phrases::UNREADABLE.with("file", file).with("from", self.name.as_str());
            say.with("why", why)
        })
    }
}

fn read_file(path: &Path, most: usize) -> Result<Vec<u8>, PhraseValue> {
    let failed = |error: io::Error| PhraseValue::from(error.to_string());
    let mut bytes = Vec::new();
    let cap = (most << 20) as u64;
    // A pipe would be waited for.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(LocalizedText::from(config::IO_NOT_A_FILE).into());
    }
    fs::File::open(path).map_err(failed)?.take(cap + 1).read_to_end(&mut bytes).map_err(failed)?;
    let is_too_large = bytes.len() as u64 > cap;
    if is_too_large { Err(phrases::TOO_LARGE.with("most", most).into()) } else { Ok(bytes) }
}

/// Follows what a host of releases answers with: the address of the file itself.
async fn download(client: &HttpClient, file: &str, most: usize) -> Result<Vec<u8>, PhraseValue> {
    let mut address = file.to_owned();
    for _ in 0..=REDIRECTS {
        let request = HttpRequest {
            timeout: ARCHIVE_TIME,
            body_cap: most << 20,
            ..HttpRequest::get(address.as_str())
        };
        let answer = client.send(request).await;
        let answer = answer.map_err(|error| PhraseValue::from(error.to_string()))?;
        match (answer.status, answer.header("location")) {
            (300..400, Some(next)) if is_safe(next) => next.clone_into(&mut address),
            (300..400, _) => break,
            _ if answer.is_success() => return Ok(answer.body.to_vec()),
            (code, _) => return Err(phrases::STATUS.with("code", usize::from(code)).into()),
        }
    }
    Err(phrases::REDIRECTS.into())
}

/// Whether what is read there is encrypted on its way, or does not leave this machine.
fn is_safe(address: &str) -> bool {
    let local =
        ["http://127.0.0.1:", "http://127.0.0.1/", "http://localhost:", "http://localhost/"];
    address.starts_with("https://") || local.iter().any(|start| address.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_newer_by_its_numbers() {
        for (found, version, newer) in [
            ("0.10.0", "0.9.9", true),
            ("1.0.0", "0.9.9", true),
            ("0.9.9", "0.9.9", false),
            ("0.9.8", "0.9.9", false),
            ("latest", "0.9.9", false),
            ("2", "0.9.9", false),
        ] {
            assert_eq!(is_newer(found, version), newer, "{found} {version}");
        }
    }

    #[test]
    fn only_what_is_encrypted_or_stays_here_is_read() {
        assert!(is_safe("https://example.com/releases"));
        assert!(is_safe("http://127.0.0.1:8000/releases"));
        assert!(!is_safe("http://example.com/releases"));
        assert!(!is_safe("http://127.0.0.1.example.com/releases"));
        assert!(!is_safe("file:///etc"));
    }
}
