//! Saved API keys: in the keyring of the system, or in a file that only the user can read where
//! there is none. The file also lists the servers whose keys are in the keyring, so that the keyring
//! is asked only for a key that was saved there.
//!
//! A key belongs to one server, named by scheme, host and port, and is returned for no other.

use std::path::{Path, PathBuf};
use std::time::Duration;

#[cfg(all(feature = "keyring", target_os = "macos"))]
use apple_native_keyring_store::keychain::Store;
#[cfg(all(feature = "keyring", not(target_os = "macos")))]
use dbus_secret_service_keyring_store::Store;
#[cfg(feature = "keyring")]
use keyring_core::api::CredentialStoreApi as _;
use toml_edit::{DocumentMut, InlineTable, Item, Value};

use super::{Secret, atomic_file, diagnostic};
use avocet_core::i18n::{Localize, LocalizedText, keys as phrases};

/// How long the keyring may take; it may ask the user to unlock it first.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// The name under which the keyring lists the keys.
const SERVICE: &str = "avocet";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    Keyring,
    File,
}

/// Why a key could not be read or saved. Never holds a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.localized())]
pub enum KeyStoreError {
    /// The file of keys cannot be read or written.
    File { file: PathBuf, why: LocalizedText },
    /// The keyring that holds the key does not answer.
    Keyring { why: String },
    /// The key was removed from the keyring by other means.
    Gone { server: String },
}

impl Localize for KeyStoreError {
    fn localized(&self) -> LocalizedText {
        match self {
            KeyStoreError::File { file, why } => phrases::FILE_FAILED
                .with("file", file.display().to_string())
                .with("why", why.clone()),
            KeyStoreError::Keyring { why } => phrases::KEYRING_FAILED.with("why", why.as_str()),
            KeyStoreError::Gone { server } => phrases::KEY_GONE.with("server", server.as_str()),
        }
    }
}

/// A keyring; an error says why it cannot be used.
pub trait Keyring: Send + Sync {
    fn read(&self, server: &str) -> Result<Option<String>, String>;
    fn save(&self, server: &str, key: &str) -> Result<(), String>;
    fn remove(&self, server: &str) -> Result<(), String>;
}

pub struct KeyStore {
    file: PathBuf,
    keyring: Option<Box<dyn Keyring>>,
}

impl KeyStore {
    /// Nothing is read or connected to before a key is needed.
    pub fn new(file: PathBuf, keyring: Option<Box<dyn Keyring>>) -> KeyStore {
        KeyStore { file, keyring }
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Where the key of a server is; `None` if none was saved. Reads only the file.
    pub fn place(&self, server: &str) -> Option<KeyPlace> {
        let document = self.open().ok()?;
        place_of(document.get(server)?)
    }

    /// The servers whose keys were saved.
    pub fn servers(&self) -> Vec<String> {
        let document = self.open().unwrap_or_default();
        let saved = document.iter().filter(|(_, entry)| place_of(entry).is_some());
        saved.map(|(server, _)| server.to_owned()).collect()
    }

    /// The key of a server, `None` if none was saved. May wait for the keyring.
    pub fn read(&self, server: &str) -> Result<Option<Secret>, KeyStoreError> {
        let document = self.open()?;
        let Some(entry) = document.get(server) else { return Ok(None) };
        match place_of(entry) {
            None => Ok(None),
            Some(KeyPlace::File) => Ok(entry.get("key").and_then(Item::as_str).map(Secret::new)),
            Some(KeyPlace::Keyring) => {
                let keyring = self.keyring.as_ref().ok_or_else(no_keyring)?;
                let key = keyring.read(server).map_err(|why| KeyStoreError::Keyring { why })?;
                let gone = || KeyStoreError::Gone { server: server.to_owned() };
                Ok(Some(Secret::new(key.ok_or_else(gone)?)))
            }
        }
    }

    /// Saves the key of a server, in the keyring if there is one. May wait for it.
    pub fn save(&self, server: &str, secret: &Secret) -> Result<KeyPlace, KeyStoreError> {
        let mut document = self.open()?;
        let in_keyring = self
            .keyring
            .as_ref()
            .is_some_and(|keyring| keyring.save(server, secret.expose()).is_ok());
        let mut entry = InlineTable::new();
        let place = if in_keyring {
            entry.insert("keyring", Value::from(true));
            KeyPlace::Keyring
        } else {
            entry.insert("key", Value::from(secret.expose()));
            KeyPlace::File
        };
        document.insert(server, Item::Value(Value::InlineTable(entry)));
        self.write(&document)?;
        Ok(place)
    }

    /// Removes the key of a server; `None` if none was saved.
    pub fn remove(&self, server: &str) -> Result<Option<KeyPlace>, KeyStoreError> {
        let mut document = self.open()?;
        let Some(place) = document.get(server).and_then(place_of) else { return Ok(None) };
        if place == KeyPlace::Keyring {
            let keyring = self.keyring.as_ref().ok_or_else(no_keyring)?;
            keyring.remove(server).map_err(|why| KeyStoreError::Keyring { why })?;
        }
        document.remove(server);
        self.write(&document)?;
        Ok(Some(place))
    }

    fn open(&self) -> Result<DocumentMut, KeyStoreError> {
        let failed = |why: LocalizedText| KeyStoreError::File { file: self.file.clone(), why };
        let text =
            atomic_file::read(&self.file).map_err(|_| failed(phrases::FILE_UNREADABLE.into()))?;
        // The parser's own message would quote the line, and with it the key.
        text.unwrap_or_default().parse().map_err(|_| failed(phrases::FILE_NOT_TOML.into()))
    }

    fn write(&self, document: &DocumentMut) -> Result<(), KeyStoreError> {
        atomic_file::write_unsynced(&self.file, &document.to_string()).map_err(|error| {
            KeyStoreError::File { file: self.file.clone(), why: diagnostic::io_reason(&error) }
        })
    }
}

fn place_of(entry: &Item) -> Option<KeyPlace> {
    let keyring = entry.get("keyring").and_then(Item::as_bool) == Some(true);
    let key = entry.get("key").and_then(Item::as_str);
    match (keyring, key) {
        (true, _) => Some(KeyPlace::Keyring),
        (false, Some(_)) => Some(KeyPlace::File),
        (false, None) => None,
    }
}

fn no_keyring() -> KeyStoreError {
    KeyStoreError::Keyring { why: "off".to_owned() }
}

/// The keyring of the system. Each call runs on a thread of its own and is given up after
/// `WAIT_TIMEOUT`, because a keyring may wait for a user who is not there.
#[cfg(feature = "keyring")]
#[derive(Debug)]
pub struct SystemKeyring;

#[cfg(feature = "keyring")]
impl Keyring for SystemKeyring {
    fn read(&self, server: &str) -> Result<Option<String>, String> {
        with_entry(server, |entry| match entry.get_password() {
            Err(keyring_core::Error::NoEntry) => Ok(None),
            read => read.map(Some),
        })
    }

    fn save(&self, server: &str, key: &str) -> Result<(), String> {
        let key = key.to_owned();
        with_entry(server, move |entry| entry.set_password(&key))
    }

    fn remove(&self, server: &str) -> Result<(), String> {
        with_entry(server, |entry| match entry.delete_credential() {
            Err(keyring_core::Error::NoEntry) => Ok(()),
            removed => removed,
        })
    }
}

#[cfg(feature = "keyring")]
fn with_entry<T: Send + 'static>(
    server: &str,
    run: impl FnOnce(&keyring_core::Entry) -> keyring_core::Result<T> + Send + 'static,
) -> Result<T, String> {
    let server = server.to_owned();
    let (sender, receiver) = std::sync::mpsc::channel();
    let work = move || {
        let done = Store::new()
            .and_then(|store| store.build(SERVICE, &server, None))
            .and_then(|entry| run(&entry));
        // After the deadline there is no receiver.
        let _ = sender.send(done.map_err(|error| error.to_string()));
    };
    let thread = std::thread::Builder::new().name("keyring".into()).spawn(work);
    thread.map_err(|error| error.to_string())?;
    receiver.recv_timeout(WAIT_TIMEOUT).map_err(|error| error.to_string())?
}

/// The keyring of the system, if the program is built with it.
pub fn system_keyring() -> Option<Box<dyn Keyring>> {
    #[cfg(feature = "keyring")]
    return Some(Box::new(SystemKeyring));
    #[cfg(not(feature = "keyring"))]
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A keyring in memory, which may be out of order.
    #[derive(Clone, Default)]
    struct TestKeyring {
        keys: Arc<Mutex<BTreeMap<String, String>>>,
        broken: bool,
        calls: Arc<Mutex<usize>>,
    }

    impl TestKeyring {
        fn keys(&self) -> Result<std::sync::MutexGuard<'_, BTreeMap<String, String>>, String> {
            *self.calls.lock().unwrap() += 1;
            if self.broken { Err("no D-Bus".into()) } else { Ok(self.keys.lock().unwrap()) }
        }
    }

    impl Keyring for TestKeyring {
        fn read(&self, server: &str) -> Result<Option<String>, String> {
            Ok(self.keys()?.get(server).cloned())
        }

        fn save(&self, server: &str, key: &str) -> Result<(), String> {
            self.keys()?.insert(server.into(), key.into());
            Ok(())
        }

        fn remove(&self, server: &str) -> Result<(), String> {
            self.keys()?.remove(server);
            Ok(())
        }
    }

    const SERVER: &str = "https://api.example.com";

    fn store(folder: &Path, keyring: &TestKeyring) -> KeyStore {
        KeyStore::new(folder.join("keys.toml"), Some(Box::new(keyring.clone())))
    }

    fn key(store: &KeyStore, server: &str) -> Option<String> {
        store.read(server).unwrap().map(|key| key.expose().to_owned())
    }

    #[test]
    fn a_key_in_the_keyring_is_not_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let keyring = TestKeyring::default();
        let store = store(folder.path(), &keyring);
        assert_eq!(store.save(SERVER, &Secret::new("sk-1")), Ok(KeyPlace::Keyring));
        let text = std::fs::read_to_string(store.file()).unwrap();
        assert!(text.contains(SERVER) && !text.contains("sk-1"), "{text}");
        assert_eq!(key(&store, SERVER).as_deref(), Some("sk-1"));
        assert_eq!(store.remove(SERVER), Ok(Some(KeyPlace::Keyring)));
        assert!(keyring.keys.lock().unwrap().is_empty());
        assert_eq!((store.place(SERVER), key(&store, SERVER)), (None, None));
    }

    #[test]
    fn without_a_keyring_the_key_is_in_a_file_of_the_user_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let broken = TestKeyring { broken: true, ..TestKeyring::default() };
        let store = store(&folder.path().join("data"), &broken);
        assert_eq!(store.save(SERVER, &Secret::new("sk-\"2\"")), Ok(KeyPlace::File));
        let mode = std::fs::metadata(store.file()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::set_permissions(store.file(), PermissionsExt::from_mode(0o644)).unwrap();
        store.save("http://127.0.0.1:1", &Secret::new("sk-3")).unwrap();
        let mode = std::fs::metadata(store.file()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "a readable file is closed again");
        assert_eq!(key(&store, SERVER).as_deref(), Some("sk-\"2\""));
        assert_eq!(store.servers(), [SERVER, "http://127.0.0.1:1"]);
        assert_eq!(store.remove(SERVER), Ok(Some(KeyPlace::File)));
        assert_eq!(store.servers(), ["http://127.0.0.1:1"]);
    }

    #[test]
    fn the_keyring_is_asked_only_for_keys_that_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let keyring = TestKeyring::default();
        let store = store(folder.path(), &keyring);
        assert_eq!((key(&store, SERVER), store.place(SERVER)), (None, None));
        assert_eq!(*keyring.calls.lock().unwrap(), 0);
        store.save(SERVER, &Secret::new("sk")).unwrap();
        assert_eq!(key(&store, "https://api.example.com.evil.example"), None);
        assert_eq!(store.place(SERVER), Some(KeyPlace::Keyring));
        assert_eq!(*keyring.calls.lock().unwrap(), 1, "only to save");
    }

    #[test]
    fn a_lost_key_and_a_torn_file_are_told_without_any_key() {
        let folder = tempfile::tempdir().unwrap();
        let keyring = TestKeyring::default();
        let store = store(folder.path(), &keyring);
        store.save(SERVER, &Secret::new("sk")).unwrap();
        keyring.keys.lock().unwrap().clear();
        assert_eq!(store.read(SERVER), Err(KeyStoreError::Gone { server: SERVER.into() }));
        std::fs::write(store.file(), "[x]\nkey = \"sk-secret\" oops").unwrap();
        let said = store.read(SERVER).unwrap_err().to_string();
        assert!(said.contains("keys.toml") && !said.contains("sk-secret"), "{said}");
        assert!(store.save(SERVER, &Secret::new("x")).is_err(), "a torn file is not replaced");
    }
}
