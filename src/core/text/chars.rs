//! Tables of the characters that hide, join or decorate; no decisions are made here.

use unicode_width::UnicodeWidthChar as _;

/// Characters that take no cell, reorder the line, end it, or are noncharacters.
#[rustfmt::skip]
const HIDDEN: &[(char, char)] = &[
    ('\u{0}',     '\u{8}'),     // C0, without tab and line feed
    ('\u{b}',     '\u{1f}'),
    ('\u{7f}',    '\u{9f}'),    // DEL and C1, NEL among them
    ('\u{ad}',    '\u{ad}'),    // soft hyphen
    ('\u{34f}',   '\u{34f}'),   // grapheme joiner
    ('\u{61c}',   '\u{61c}'),   // Arabic letter mark
    ('\u{115f}',  '\u{1160}'),  // Hangul fillers
    ('\u{17b4}',  '\u{17b5}'),  // Khmer inherent vowels
    ('\u{180b}',  '\u{180f}'),  // Mongolian selectors
    ('\u{200b}',  '\u{200f}'),  // zero width, direction marks
    ('\u{2028}',  '\u{202e}'),  // line and paragraph ends, overrides
    ('\u{2060}',  '\u{206f}'),  // word joiner, invisible operators, isolates
    ('\u{3164}',  '\u{3164}'),  // Hangul filler
    ('\u{fdd0}',  '\u{fdef}'),  // no characters
    ('\u{fe00}',  '\u{fe0f}'),  // variation selectors
    ('\u{feff}',  '\u{feff}'),  // byte order mark
    ('\u{ffa0}',  '\u{ffa0}'),  // half-width filler
    ('\u{fff0}',  '\u{fffb}'),  // interlinear annotation
    ('\u{fffe}',  '\u{ffff}'),
    ('\u{13430}', '\u{1345f}'), // Egyptian joiners
    ('\u{1bca0}', '\u{1bca3}'), // shorthand controls
    ('\u{1d159}', '\u{1d159}'), // a note without a head
    ('\u{1d173}', '\u{1d17a}'), // musical controls
    ('\u{e0000}', '\u{e0fff}'), // tags, more selectors
];

/// Pictures that may be joined into one. Wider than the standard's list, which does no
/// harm: it only lets a joiner appear between two of them.
#[rustfmt::skip]
const EMOJI: &[(char, char)] = &[
    ('\u{a9}',    '\u{a9}'),
    ('\u{ae}',    '\u{ae}'),
    ('\u{203c}',  '\u{203c}'),
    ('\u{2049}',  '\u{2049}'),
    ('\u{2122}',  '\u{2122}'),
    ('\u{2139}',  '\u{2139}'),
    ('\u{2194}',  '\u{21aa}'),
    ('\u{231a}',  '\u{23ff}'),
    ('\u{24c2}',  '\u{24c2}'),
    ('\u{25aa}',  '\u{25fe}'),
    ('\u{2600}',  '\u{27bf}'),
    ('\u{2934}',  '\u{2935}'),
    ('\u{2b05}',  '\u{2b55}'),
    ('\u{3030}',  '\u{303d}'),
    ('\u{3297}',  '\u{3299}'),
    ('\u{1f000}', '\u{1faff}'),
];

/// Spaces that look like a space or like none.
#[rustfmt::skip]
const SPACES: &[(char, char)] = &[
    ('\u{a0}',   '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3000}', '\u{3000}'),
];

#[rustfmt::skip]
const PRIVATE: &[(char, char)] = &[
    ('\u{e000}',  '\u{f8ff}'),
    ('\u{f0000}', '\u{10ffff}'),
];

pub fn is_hidden(c: char) -> bool {
    // Every plane ends with two noncharacters.
    is_in_table(HIDDEN, c) || u32::from(c) & 0xfffe == 0xfffe
}

pub fn is_emoji(c: char) -> bool {
    is_in_table(EMOJI, c)
}

pub fn is_lookalike_space(c: char) -> bool {
    is_in_table(SPACES, c)
}

pub fn is_private(c: char) -> bool {
    is_in_table(PRIVATE, c)
}

/// Takes no cell of its own.
pub fn is_combining(c: char) -> bool {
    c >= '\u{300}' && c.width() == Some(0)
}

fn is_in_table(table: &[(char, char)], c: char) -> bool {
    let after = table.partition_point(|(_, last)| *last < c);
    table.get(after).is_some_and(|(first, _)| *first <= c)
}
