//! Markdown: where a growing text may be cut (`split`), and how a piece of it is
//! set (`set`). A piece is a whole block of the top level, so pieces are set alone.

use pulldown_cmark::Options;

mod code;
mod link;
mod set;
mod split;
mod table;

pub(super) use code::{Code, bars, nested, set as set_code};
pub(super) use link::Targets;
pub(super) use set::set;
pub(super) use split::{Fence, Found, Kind, split};

/// What models write: the common core, tables, task lists, struck text.
const OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_TASKLISTS).union(Options::ENABLE_STRIKETHROUGH);
