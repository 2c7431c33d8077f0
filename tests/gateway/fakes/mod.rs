//! The chat services as the tests play them.

pub mod discord;
pub mod feishu;
pub mod service;
pub mod slack;
pub mod telegram;
