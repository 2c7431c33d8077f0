//! Parses the syntax inside one text of a script: prefixes, addressees, marks, calls. Nothing here
//! runs a call, asks a model or renders a template.
//!
//! The author's text is parsed once, by [`MessageText::read`]. A result from elsewhere enters as
//! [`TextSpan::Literal`], and [`MessageText::into_unrendered`] makes a [`RenderedText`] text that
//! is never parsed again. So a reply, a file or an argument that contains `[[AI]]` or `{{x}}` stays
//! text.

pub mod args;
mod ask;
pub mod bias;
pub mod delimiters;
pub mod interpolation;
pub mod json5;
pub mod mentions;
mod message_text;
mod placeholder;
pub mod prefix;
pub mod regex;
pub mod roles;

pub use ask::{PickOptions, Placeholder};
pub use bias::Bias;
pub use message_text::{MessageText, RenderedSpan, RenderedText, TextSpan};
pub use placeholder::{CallMark, PlaceholderMark, RegexPlaceholder};
