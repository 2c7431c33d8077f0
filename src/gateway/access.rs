//! Decides who may talk to the gateway and what they may do: the allow-list of each platform, users
//! who were paired by a one-time code, admins and users. Pure: the clock and the dice are given.
//!
//! An empty list admits no user. Only the ids of the platform count, never a name.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::platform::{Incoming, IncomingKind};
use avocet_config::gateway::PlatformSettings;
use avocet_core::protocol::{Category, ChatPlatform};
use avocet_present::commands::ApprovalSpan;

/// What a user who may talk may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessRole {
    /// Talks, and answers the questions of their own turns that are not of high risk.
    User,
    /// Also changes settings, and answers every question.
    Admin,
}

impl AccessRole {
    pub fn name(self) -> &'static str {
        match self {
            AccessRole::User => "user",
            AccessRole::Admin => "admin",
        }
    }
}

/// The users who were paired, and the code that is open. This is what is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roster {
    #[serde(default)]
    pub users: Vec<PairedUser>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairing: Option<Pairing>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairedUser {
    pub platform: ChatPlatform,
    pub id: String,
    pub role: AccessRole,
    /// In seconds since 1970.
    pub paired_at: u64,
}

/// An open code; only its hash is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairing {
    /// `None`: on any platform.
    pub platform: Option<ChatPlatform>,
    pub role: AccessRole,
    pub salt: String,
    pub hash: String,
    /// In seconds since 1970.
    pub expires_at: u64,
    pub tries_left: u32,
}

/// How long a code is valid, in seconds.
pub const CODE_LIFE: u64 = 600;
/// How many wrong codes close it, from all senders together.
pub const CODE_TRIES: u32 = 5;
/// Without letters that look like others: 5 bits a letter.
const LETTERS: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const CODE_LENGTH: usize = 8;

impl Pairing {
    /// A new code, and what is stored of it. The first bytes become the code, the rest the salt.
    pub fn open(
        random: [u8; 24],
        platform: Option<ChatPlatform>,
        role: AccessRole,
        now: u64,
    ) -> (Pairing, String) {
        let (of_code, of_salt) = random.split_at(CODE_LENGTH);
        let letters = of_code.iter().filter_map(|byte| LETTERS.get(usize::from(byte % 32)));
        let code: String = letters.map(|letter| char::from(*letter)).collect();
        let salt: String = of_salt.iter().map(|byte| format!("{byte:02x}")).collect();
        let pairing = Pairing {
            platform,
            role,
            hash: hash(&salt, &code),
            salt,
            expires_at: now.saturating_add(CODE_LIFE),
            tries_left: CODE_TRIES,
        };
        let (first, second) = code.split_at(CODE_LENGTH / 2);
        (pairing, format!("{first}-{second}"))
    }

    fn is_open(&self, platform: ChatPlatform, now: u64) -> bool {
        self.tries_left > 0
            && now < self.expires_at
            && self.platform.is_none_or(|wanted| wanted == platform)
    }

    fn fits(&self, code: &str) -> bool {
        let hash = hash(&self.salt, code);
        // Every byte is compared, so that the time does not tell how many were right.
        let differences = self.hash.bytes().zip(hash.bytes()).map(|(one, two)| one ^ two);
        self.hash.len() == hash.len() && differences.fold(0, |all, one| all | one) == 0
    }
}

fn hash(salt: &str, code: &str) -> String {
    let digest = Sha256::digest(format!("{salt}:{code}"));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The code in a message: its last word, in any case, with or without the hyphen.
fn typed_code(kind: &IncomingKind) -> Option<String> {
    let text = match kind {
        IncomingKind::Text { text } => text,
        IncomingKind::Command { args, options, .. } => {
            options.last().map_or(args, |option| &option.value)
        }
        IncomingKind::Button { .. }
        | IncomingKind::Files { .. }
        | IncomingKind::Edited
        | IncomingKind::Moved { .. }
        | IncomingKind::Suggest { .. } => {
            return None;
        }
    };
    // A longer text is a message, and is not looked through.
    let word = text.split_whitespace().last().filter(|_| text.len() <= 64)?;
    let code: String = word.chars().filter(|c| *c != '-').collect::<String>().to_uppercase();
    let is_code = code.len() == CODE_LENGTH && code.bytes().all(|byte| LETTERS.contains(&byte));
    is_code.then_some(code)
}

/// What is done with something that came from a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    Admitted(AccessRole),
    /// The code was right: the sender may talk from now on.
    Paired(AccessRole),
    /// It was not meant for the program.
    Ignored,
    /// Neither was this, but its sender may talk: an answer to an open question counts.
    Overheard(AccessRole),
    Refused(AccessRefusal),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessRefusal {
    /// Neither on the allow-list nor paired.
    Unknown,
    WrongCode {
        tries_left: u32,
    },
}

impl Roster {
    /// Decides about one delivery. A wrong code uses up a try; a right one pairs its sender.
    pub fn admit(
        &mut self,
        platform: ChatPlatform,
        settings: &PlatformSettings,
        incoming: &Incoming,
        now: u64,
    ) -> Admission {
        if incoming.sender.is_bot {
            return Admission::Ignored;
        }
        let id = incoming.sender.id.0.as_str();
        let role = self.role(platform, settings, id);
        if incoming.is_group && is_overheard(settings, incoming) {
            return role.map_or(Admission::Ignored, Admission::Overheard);
        }
        // In a group others would read the code.
        let code = typed_code(&incoming.kind).filter(|_| !incoming.is_group);
        match (role, code) {
            // Only the right one is a code here: any other word is a message.
            (Some(role), Some(code)) if !self.fits_open_code(platform, &code, now) => {
                Admission::Admitted(role)
            }
            (_, Some(code)) => self.try_code(platform, id, &code, now),
            (Some(role), None) => Admission::Admitted(role),
            (None, None) => Admission::Refused(AccessRefusal::Unknown),
        }
    }

    fn fits_open_code(&self, platform: ChatPlatform, code: &str, now: u64) -> bool {
        let open = self.pairing.as_ref().filter(|one| one.is_open(platform, now));
        open.is_some_and(|pairing| pairing.fits(code))
    }

    /// The role of a user; `None`: may not talk.
    pub fn role(
        &self,
        platform: ChatPlatform,
        settings: &PlatformSettings,
        id: &str,
    ) -> Option<AccessRole> {
        let paired = self.users.iter().find(|user| user.platform == platform && user.id == id);
        let listed = |list: &[String], role| list.iter().any(|known| known == id).then_some(role);
        let of_settings = listed(&settings.admins, AccessRole::Admin)
            .or(listed(&settings.allow, AccessRole::User));
        of_settings.max(paired.map(|user| user.role)).filter(|_| !id.is_empty())
    }

    fn try_code(&mut self, platform: ChatPlatform, id: &str, code: &str, now: u64) -> Admission {
        let Some(pairing) = self.pairing.as_mut().filter(|one| one.is_open(platform, now)) else {
            return Admission::Refused(AccessRefusal::Unknown);
        };
        if pairing.fits(code) {
            let known = self.users.iter().find(|user| user.platform == platform && user.id == id);
            let role = known.map_or(pairing.role, |user| user.role.max(pairing.role));
            self.pairing = None;
            self.users.retain(|user| user.platform != platform || user.id != id);
            self.users.push(PairedUser { platform, id: id.to_owned(), role, paired_at: now });
            return Admission::Paired(role);
        }
        pairing.tries_left -= 1;
        let tries_left = pairing.tries_left;
        if tries_left == 0 {
            self.pairing = None;
        }
        Admission::Refused(AccessRefusal::WrongCode { tries_left })
    }

    /// Removes a paired user; false if there is none.
    pub fn remove(&mut self, platform: ChatPlatform, id: &str) -> bool {
        let before = self.users.len();
        self.users.retain(|user| user.platform != platform || user.id != id);
        self.users.len() < before
    }
}

/// A message of a group that neither mentions the bot nor is a command.
fn is_overheard(settings: &PlatformSettings, incoming: &Incoming) -> bool {
    let is_message =
        matches!(incoming.kind, IncomingKind::Text { .. } | IncomingKind::Files { .. });
    is_message && settings.mention_required && !incoming.is_addressed
}

/// Commands that everyone who may talk may use.
pub const FLOOR: &[&str] = &["help", "whoami"];

/// Whether a command may be used; `listed` are the ones that the settings leave to users, and if
/// there are none, users may use all that change no settings.
pub fn may_use(role: AccessRole, name: &str, category: Category, listed: &[&str]) -> bool {
    let is_listed = listed.contains(&name);
    match role {
        AccessRole::Admin => true,
        AccessRole::User if FLOOR.contains(&name) => true,
        AccessRole::User if listed.is_empty() => category != Category::Configuration,
        AccessRole::User => is_listed,
    }
}

/// An answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenAnswer {
    No,
    Yes { is_high_risk: bool, span: ApprovalSpan },
}

/// Whether a question may be answered so: users answer those of their own turns, for this once and
/// if the risk is not high. They may always say no to them.
pub fn may_answer(role: AccessRole, is_own: bool, answer: GivenAnswer) -> bool {
    let is_small = match answer {
        GivenAnswer::No => true,
        GivenAnswer::Yes { is_high_risk, span } => !is_high_risk && span == ApprovalSpan::Once,
    };
    role == AccessRole::Admin || is_own && is_small
}

#[cfg(test)]
mod tests;
