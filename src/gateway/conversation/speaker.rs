//! Who speaks in a chat.

use super::super::platform::UserId;

/// Who speaks, as the gateway knows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaker {
    pub id: UserId,
    pub name: String,
    pub is_admin: bool,
}
