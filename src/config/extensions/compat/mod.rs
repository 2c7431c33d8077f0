//! Files written for other agents, read in place and never written.
//!
//! Formats that are the same as ours (`.r9s`, `.agents/skills`, `.claude/skills`) have no file in
//! here: only the folder differs, and is listed in [`search_path`](super::search_path).

pub mod claude;
pub mod gemini;
