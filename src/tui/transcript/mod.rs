//! The conversation.
mod markdown;
mod paper;
mod text;
