//! Sealed scripts: the user's `age` encrypts them for keys, and opens them with the key that the
//! keyring holds. The text is only ever in memory.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::key_source::{self, key_store};
use super::startup::Startup;
use super::subcommands::print_text;
use crate::cli::Exit;
use crate::cli::script_command::SealScript;
use avocet_config::key_store::KeyStore;
use avocet_config::{Environment, Secret, atomic_file};
use avocet_core::i18n::{Localize, LocalizedText, common, script_help as phrases, script_run};
use avocet_core::protocol::Notice;
use avocet_script::source::{SEAL, stem};
use avocet_session::script_places::{FindScripts, ScriptPlaces, SealOpener};
use avocet_tools::exec::key_command;

/// The entry of the key among the saved ones.
const ENTRY: &str = "sealed-scripts";
/// How long `age` may take.
const PATIENCE: Duration = Duration::from_secs(30);

impl Startup {
    /// The folders of scripts, for callers that learn later whether the folder is trusted.
    pub fn script_folder_finder(&self) -> FindScripts {
        let own = self.paths.scripts();
        let folder = self.folder.clone();

        let given = self.trust.trusted_folder.clone();
        let allowed = self.loaded.settings.script_environment.iter();
        let environment: BTreeMap<String, String> = allowed
            .filter_map(|name| Some((name.clone(), self.environment.get(name)?.to_owned())))
            .collect();
        let time_limit = self.loaded.settings.limits.script_timeout;
        let opener = opener(self);
        Arc::new(move |trusted| {
            let workspace = trusted.then(|| folder.clone());
            let folders =
                workspace.iter().map(|folder| folder.join(".avocet/scripts")).chain([own.clone()]);
            let trusted = workspace.iter().chain(&given).chain([&own]);
            ScriptPlaces {
                folders: folders.collect(),
                trusted: trusted.filter_map(|folder| folder.canonicalize().ok()).collect(),
                environment: environment.clone(),
                time_limit,
                opener: opener.clone(),
            }
        })
    }
}

/// Opens sealed scripts with the saved key. The keyring is asked when a script is opened.
fn opener(startup: &Startup) -> SealOpener {
    let store = key_store(startup);
    let environment = startup.environment.clone();
    SealOpener(Some(Arc::new(move |path| {
        let file = path.display().to_string();
        let failed = |why: LocalizedText| {
            script_run::NOT_OPENED.with("name", file.as_str()).with("why", why)
        };
        let key = store.read(ENTRY).map_err(|error| failed(error.localized()))?;
        let key = key.ok_or_else(|| failed(phrases::SEAL_NO_KEY.into()))?;
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let args = ["--decrypt", "--identity", "-", &real.display().to_string()];
        run_age(&environment, "age", &args, key.expose()).map_err(failed)
    })))
}

/// `script seal FILE`
pub fn seal(startup: &Startup, seal: &SealScript, json: bool) -> Exit {
    match seal_file(startup, seal) {
        Ok((file, keys)) if json => {
            print_text(startup, &format!("{}\n", json!({ "file": file, "keys": keys })))
        }
        Ok((file, keys)) => {
            let say = phrases::SEAL_DONE.with("keys", keys.join(", ")).with("file", file);
            startup.fail(&Notice::info(say), Exit::Done)
        }
        Err(why) => startup.fail(&Notice::error(why), Exit::Failed),
    }
}

/// The file that was written, and the public keys that open it, the user's own first.
fn seal_file(startup: &Startup, seal: &SealScript) -> Result<(String, Vec<String>), LocalizedText> {
    let path = startup.folder.join(&seal.file);
    let shown = path.display().to_string();
    let unread = |why: std::io::Error| {
        script_run::UNREADABLE.with("name", shown.as_str()).with("why", why.to_string())
    };
    let text = std::fs::read_to_string(&path).map_err(unread)?;
    if text.starts_with(SEAL) {
        return Err(phrases::SEAL_ALREADY.with("file", shown));
    }
    let own = own_public_key(&startup.environment, &key_store(startup))?;
    let keys: Vec<String> = [own].into_iter().chain(seal.to.iter().cloned()).collect();
    let named = keys.iter().flat_map(|key| ["--recipient", key.as_str()]);
    let args: Vec<&str> = ["--encrypt", "--armor"].into_iter().chain(named).collect();
    let sealed = run_age(&startup.environment, "age", &args, &text)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let beside = path.with_file_name(format!("{}.sealed.ai.yaml", stem(&name)));
    let file = seal.output.as_ref().map_or(beside, |output| startup.folder.join(output));
    let shown = file.display().to_string();
    match atomic_file::create(&file, &sealed) {
        Ok(()) => Ok((shown, keys)),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(phrases::NEW_EXISTS.with("file", shown))
        }
        Err(error) => Err(common::NOT_WRITTEN.with("file", shown).with("why", error.to_string())),
    }
}

/// The public key of the user, whose secret one is made and saved the first time.
fn own_public_key(environment: &Environment, store: &KeyStore) -> Result<String, LocalizedText> {
    let saved = store.read(ENTRY).map_err(|error| error.localized())?;
    let secret = match saved {
        Some(secret) => secret,
        None => {
            let made = run_age(environment, "age-keygen", &[], "")?;
            let line = made.lines().find(|line| line.starts_with("AGE-SECRET-KEY-"));
            let secret =
                Secret::new(line.ok_or_else(|| LocalizedText::from(phrases::SEAL_NO_KEY))?);
            store.save(ENTRY, &secret).map_err(|error| error.localized())?;
            secret
        }
    };
    let public = run_age(environment, "age-keygen", &["-y"], secret.expose())?;
    Ok(public.trim().to_owned())
}

/// What a program of age prints. Waits for it on a thread of its own, as the caller may be within
/// a runtime.
fn run_age(
    environment: &Environment,
    program: &str,
    args: &[&str],
    input: &str,
) -> Result<String, LocalizedText> {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let command = key_source::user_command(environment, program, &args, PATIENCE);
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|_| LocalizedText::from(script_run::STEP_BROKEN))?;
        runtime.block_on(key_command::filter(&command, input.as_bytes()))
    };
    let done = std::thread::scope(|scope| scope.spawn(work).join());
    let done = done.unwrap_or_else(|_| Err(script_run::STEP_BROKEN.into()));
    done.map_err(|why| phrases::SEAL_NO_AGE.with("program", program).with("why", why))
}
