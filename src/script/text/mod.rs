//! Parses the syntax inside one text of a script: prefixes, addressees, marks, calls. Nothing here
//! runs a call, asks a model or renders a template.
//!
//! The author's text is parsed once, by [`Draft::read`]. A result from elsewhere enters as
//! [`Piece::Given`], and [`Draft::settle`] makes a [`Settled`] text that is never parsed again. So
//! a reply, a file or an argument that contains `[[AI]]` or `{{x}}` stays text.

pub mod args;
mod ask;
pub mod bias;
mod draft;
pub mod gaps;
pub mod lead;
mod marks;
pub mod relaxed;
pub mod roles;
pub mod scan;

pub use ask::{ChoiceMatch, Placeholder};
pub use bias::Bias;
pub use draft::{MessageText, RenderedSpan, RenderedText, TextSpan};
pub use marks::{CallMark, PlaceholderMark, RegexMark};
