//! Builds requests from a conversation, and keeps it small as it grows (001 §8). Pure; `config`
//! reads files, `model` sends.
//!
//! | file | decides |
//! |---|---|
//! | `history` | what is remembered: summary, latest turns, latest digests |
//! | `request` | what is sent: by `window`, or the conversation as it was |
//! | `window` | what of it goes into a request, within two bounds; the ledger |
//! | `compact` | when it is too long: what is shortened, what is summarised |
//! | `turn_compaction` | the same within a running turn |
//! | `shorten` | how a result, or any text, is shortened |
//! | `size`, `message_size` | bytes and estimated tokens |
//! | `summary` | what a model wrote down of a part |
//! | `system` | the system prompt |

pub mod compact;
pub mod history;
pub mod message_size;
pub mod request;
pub mod shorten;
pub mod size;
mod summary;
pub mod system;
pub mod turn_compaction;
pub mod window;
