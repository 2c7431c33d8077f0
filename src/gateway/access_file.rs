//! Keeps the roster of users in a file that only the user can read, and asks it about each delivery.
//! Every refusal is logged, with the id of the platform and without the message.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::access::{AccessRefusal, AccessRole, Admission, Pairing, Roster};
use super::platform::{Incoming, UserId};
use avocet_config::gateway::GatewaySettings;
use avocet_config::{atomic_file, diagnostic};
use avocet_core::i18n::{Localize, LocalizedText, gateway as phrases};
use avocet_core::protocol::ChatPlatform;

/// How many strangers get one answer each; further ones get none.
const MAX_TOLD: usize = 1_000;

/// Who may talk, with the file that holds the paired users.
#[derive(Debug)]
pub struct AccessGate {
    settings: GatewaySettings,
    file: PathBuf,
    /// Strangers who got their answer.
    told: BTreeSet<(ChatPlatform, UserId)>,
}

/// What to do with a delivery, and the sentence to answer with.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessAnswer {
    pub admission: Admission,
    /// `None`: silence.
    pub say: Option<LocalizedText>,
}

impl AccessGate {
    pub fn new(settings: GatewaySettings, file: PathBuf) -> AccessGate {
        AccessGate { settings, file, told: BTreeSet::new() }
    }

    /// Other settings count from now on.
    pub fn set_settings(&mut self, settings: GatewaySettings) {
        self.settings = settings;
    }

    /// Decides about one delivery. If the file cannot be read, only the settings count.
    pub fn admit(&mut self, platform: ChatPlatform, incoming: &Incoming) -> AccessAnswer {
        let mut roster = read(&self.file).unwrap_or_else(|why| {
            tracing::error!(file = %self.file.display(), ?why, "the users cannot be read");
            Roster::default()
        });
        let of_platform = self.settings.platform(platform).clone();
        let mut admission = roster.admit(platform, &of_platform, incoming, now());
        let uses_code = matches!(
            admission,
            Admission::Paired(_) | Admission::Refused(AccessRefusal::WrongCode { .. })
        );
        // Decided again under the lock, where another process may have changed it.
        if uses_code {
            let decided =
                change(&self.file, |roster| roster.admit(platform, &of_platform, incoming, now()));
            admission = decided.unwrap_or_else(|why| {
                tracing::error!(file = %self.file.display(), ?why, "the users cannot be saved");
                Admission::Refused(AccessRefusal::Unknown)
            });
        }
        let say = self.answer(platform, incoming, &admission);
        AccessAnswer { admission, say }
    }

    fn answer(
        &mut self,
        platform: ChatPlatform,
        incoming: &Incoming,
        admission: &Admission,
    ) -> Option<LocalizedText> {
        let id = incoming.sender.id.0.as_str();
        let platform_name = platform.name();
        match admission {
            Admission::Admitted(_) | Admission::Overheard(_) | Admission::Ignored => None,
            Admission::Paired(role) => {
                tracing::info!(platform = platform_name, id = ?id, role = role.name(), "paired");
                Some(phrases::PAIRED.with("role", role.localized()))
            }
            Admission::Refused(AccessRefusal::WrongCode { tries_left }) => {
                tracing::warn!(platform = platform_name, id = ?id, tries_left, "wrong code");
                Some(match tries_left {
                    0 => phrases::CODE_CLOSED.into(),
                    left => phrases::CODE_WRONG.with("n", u64::from(*left)),
                })
            }
            Admission::Refused(AccessRefusal::Unknown) => {
                tracing::warn!(platform = platform_name, id = ?id, "refused: not allowed");
                let stranger = (platform, incoming.sender.id.clone());
                let is_new =
                    !incoming.is_group && self.told.len() < MAX_TOLD && self.told.insert(stranger);
                let shown = avocet_core::text::cut(&avocet_core::text::one_line(id), 64);
                is_new.then(|| phrases::STRANGER.with("id", shown))
            }
        }
    }

    /// The role of a user now.
    pub fn role(&self, platform: ChatPlatform, id: &UserId) -> Option<AccessRole> {
        let roster = read(&self.file).unwrap_or_default();
        roster.role(platform, self.settings.platform(platform), &id.0)
    }

    pub fn user_commands(&self) -> &[String] {
        &self.settings.user_commands
    }
}

impl Localize for AccessRole {
    fn localized(&self) -> LocalizedText {
        match self {
            AccessRole::User => phrases::ROLE_USER.into(),
            AccessRole::Admin => phrases::ROLE_ADMIN.into(),
        }
    }
}

/// Opens a new code, in place of one that was open, and returns it.
pub fn open_pairing(
    file: &Path,
    platform: Option<ChatPlatform>,
    role: AccessRole,
) -> Result<String, LocalizedText> {
    let mut random = [0; 24];
    getrandom::fill(&mut random).map_err(|_| phrases::NO_RANDOM)?;
    let (pairing, code) = Pairing::open(random, platform, role, now());
    change(file, |roster| roster.pairing = Some(pairing))?;
    Ok(code)
}

/// The users who were paired.
pub fn read(file: &Path) -> Result<Roster, LocalizedText> {
    let unusable = || phrases::USERS_BROKEN.with("file", file.display().to_string());
    match atomic_file::read(file).map_err(|_| unusable())? {
        None => Ok(Roster::default()),
        Some(text) => serde_json::from_str(&text).map_err(|_| unusable()),
    }
}

/// Changes the file while it is locked. One that cannot be read is not overwritten.
pub fn change<T>(file: &Path, act: impl FnOnce(&mut Roster) -> T) -> Result<T, LocalizedText> {
    let failed = |error: &io::Error| {
        let why = diagnostic::io_reason(error);
        phrases::USERS_NOT_SAVED.with("file", file.display().to_string()).with("why", why)
    };
    let lock = atomic_file::lock(file).map_err(|error| failed(&error))?;
    let mut roster = read(file)?;
    let done = act(&mut roster);
    let text = serde_json::to_string_pretty(&roster).unwrap_or_default();
    atomic_file::write(file, &text).map_err(|error| failed(&error))?;
    drop(lock);
    Ok(done)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
