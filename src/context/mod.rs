//! What a request is made of, and what stays of a conversation when it grows long
//! (001 §8). Pure; reading files is `config`'s, sending is `model`'s.
//!
//! | file | decides |
//! |---|---|
//! | `history` | what is remembered: summary, latest turns, latest digests |
//! | `window` | what of it goes into a request, below two bounds; the ledger |
//! | `compact` | when it is too much: what is shortened, what is summed up |
//! | `digest` | how a result, or any text, is made shorter |
//! | `size` | bytes and estimated tokens |
//! | `notes` | what a project says of itself (AGENTS.md) |
//! | `system` | the system prompt |

pub mod compact;
pub mod digest;
pub mod history;
pub mod notes;
pub mod size;
pub mod system;
pub mod window;
