//! Files that people keep for other agents, read where they lie and never written.
//!
//! What shares our own format (`.r9s`, `.agents/skills`, `.claude/skills`) has no file in
//! here: only the folder differs, and stands in [`places`](super::places).

pub mod claude;
pub mod gemini;
