//! Makes the calls that a timeline asks for.

use super::platform::{ChatAddress, MessageId, Platform, PlatformError};
use super::timeline::{CallKind, ServiceCall};

/// Makes one call; a new message comes with its id.
pub async fn perform(
    platform: &dyn Platform,
    address: &ChatAddress,
    ServiceCall { kind, new, .. }: &ServiceCall,
) -> Result<Option<MessageId>, PlatformError> {
    match kind {
        CallKind::Send(text) => platform.send(address, text, new).await.map(Some),
        CallKind::Edit(message, text) => platform.edit(address, message, text).await.map(|()| None),
        CallKind::Ask(question) => platform.ask(address, question, new).await.map(Some),
        CallKind::Upload(file) => platform.upload(address, file, new).await.map(Some),
    }
}
