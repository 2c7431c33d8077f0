//! What a request is made of: the system prompt and the window over the history.
//! Pure; sending it is `model`'s.

pub mod digest;
pub mod system;
pub mod window;
