//! Makes the calls that a timeline asks for.

use super::platform::{ChatAddress, MessageId, Platform, PlatformError, PostContent};
use super::timeline::{ChatOperation, ServiceCall};

/// Makes one call; a new message comes with its id.
pub async fn perform(
    platform: &dyn Platform,
    address: &ChatAddress,
    ServiceCall { kind, new, .. }: &ServiceCall,
) -> Result<Option<MessageId>, PlatformError> {
    let content = match kind {
        ChatOperation::Send(text) => PostContent::Text(text),
        ChatOperation::Ask(question) => PostContent::Question(question),
        ChatOperation::Upload(file) => PostContent::File(file),
        ChatOperation::Edit(message, text) => {
            return platform.edit(address, message, text).await.map(|()| None);
        }
    };
    platform.send(address, content, new).await.map(Some)
}
