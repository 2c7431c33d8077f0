//! What AWS does in its own way: signed requests, and answers in binary frames.

mod frames;
mod signature;

pub(super) use frames::events;
pub(super) use signature::AwsKey;
