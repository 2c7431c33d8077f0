//! Markdown: where a growing text may be split (`split`), and how a piece of it is laid out
//! (`layout`). A piece is a whole top-level block, so each piece is laid out separately.

mod code;
mod layout;
mod link;
mod split;
mod table;

pub(super) use code::{CodeLines, highlighted_line, layout as set_code, nested_code_blocks};
pub(super) use layout::layout;
pub(super) use link::Targets;
pub(super) use split::{Fence, MarkdownBlock, MarkdownBlockKind, split};
