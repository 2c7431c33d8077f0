//! Parses the syntax inside one text of a script: prefixes, addressees, marks, calls. Nothing here
//! runs a call, asks a model or renders a template.
//!
//! The author's text is parsed once, by [`Draft::read`]. A result from elsewhere enters as
//! [`Piece::Given`], and [`Draft::settle`] makes a [`Settled`] text that is never parsed again. So
//! a reply, a file or an argument that contains `[[AI]]` or `{{x}}` stays text.

pub mod args;
mod ask;
pub mod bias;
mod message_text;
pub mod interpolation;
pub mod prefix;
mod placeholder;
pub mod json5;
pub mod roles;
pub mod delimiters;

pub use ask::{Placeholder, ChoiceMatch};
pub use bias::Bias;
pub use message_text::{MessageText, TextSpan, RenderedText, RenderedSpan};
pub use placeholder::{CallMark, PlaceholderMark, RegexMark};
