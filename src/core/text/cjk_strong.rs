//! Bold text next to Chinese, Japanese and Korean letters. CommonMark takes `**注意：**请` for plain
//! text, because a `**` between a mark and a letter opens and closes nothing; these languages
//! have no blank there, and models write it all the time.

use pulldown_cmark::{CowStr, Event, Tag, TagEnd};

/// The events of a text with the bold that its parser left as `**`.
pub fn with_cjk_strong<'a>(
    events: impl Iterator<Item = Event<'a>>,
) -> impl Iterator<Item = Event<'a>> {
    let mut events = events.peekable();
    let mut is_code = false;
    std::iter::from_fn(move || {
        let mut line = vec![events.next()?];
        match &line[..] {
            [Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock)] => is_code = true,
            [Event::End(TagEnd::CodeBlock | TagEnd::HtmlBlock)] => is_code = false,
            _ => {}
        }
        while !is_code && line.last().is_some_and(is_inline) {
            let Some(next) = events.next_if(is_inline) else { break };
            line.push(next);
        }
        let pairs_again = !is_code && (line.iter().any(has_stars) || has_nested_strong(&line));
        Some(if pairs_again { strong(&line).unwrap_or(line) } else { line })
    })
    .flatten()
}

fn has_stars(event: &Event<'_>) -> bool {
    matches!(event, Event::Text(text) if text.contains('*'))
}

/// A mark that opened nothing may have closed at the next one that opens: `**一：**二**“三”**`.
fn has_nested_strong(line: &[Event<'_>]) -> bool {
    let mut depth = 0_usize;
    line.iter().any(|event| {
        match event {
            Event::Start(Tag::Strong) => depth += 1,
            Event::End(TagEnd::Strong) => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 1
    })
}

fn is_inline(event: &Event<'_>) -> bool {
    match event {
        Event::Start(tag) => matches!(
            tag,
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. }
        ),
        Event::End(tag) => matches!(
            tag,
            TagEnd::Emphasis
                | TagEnd::Strong
                | TagEnd::Strikethrough
                | TagEnd::Link
                | TagEnd::Image
        ),
        Event::Text(_) | Event::Code(_) | Event::SoftBreak => true,
        _ => false,
    }
}

/// A part of a line.
enum Piece<'a> {
    /// A `**`, and whether the parser took it for the beginning or the end of bold text.
    Stars {
        parsed: bool,
    },
    Other(Event<'a>),
}

/// A `**` of a line: its place, its depth, and the characters beside it.
struct Stars {
    at: usize,
    parsed: bool,
    depth: usize,
    before: Option<char>,
    after: Option<char>,
}

/// Pairs the marks of a line again, as they come; `None`: bold text would be lost.
fn strong<'a>(line: &[Event<'a>]) -> Option<Vec<Event<'a>>> {
    let pieces = split_at_stars(line);
    let mut out: Vec<Event<'a>> = Vec::with_capacity(pieces.len());
    let mut open: Option<Stars> = None;
    let (mut depth, mut unpaired) = (0_usize, 0_usize);
    for (nth, piece) in pieces.iter().enumerate() {
        let parsed = match piece {
            Piece::Other(event) => {
                match event {
                    Event::Start(_) => depth += 1,
                    Event::End(_) => depth = depth.saturating_sub(1),
                    _ => {}
                }
                // Left without its opener, it is nothing any more.
                open = open.filter(|stars| depth >= stars.depth);
                out.push(event.clone());
                continue;
            }
            Piece::Stars { parsed } => *parsed,
        };
        let (ahead, behind) = pieces.split_at(nth);
        let stars = Stars {
            at: out.len(),
            parsed,
            depth,
            before: ahead.iter().rev().find_map(|piece| text_of(piece)?.chars().next_back()),
            after: behind.iter().skip(1).find_map(|piece| text_of(piece)?.chars().next()),
        };
        unpaired += usize::from(parsed);
        out.push(Event::Text(CowStr::Borrowed("**")));
        let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
        match open.take() {
            Some(opener) if opener.depth == depth && !is_space(stars.before) => {
                let has_text = stars.at > opener.at + 1;
                let is_cjk_pair = [opener.before, stars.after].into_iter().flatten().any(is_cjk);
                if has_text && (is_cjk_pair || opener.parsed && parsed) {
                    out.splice(opener.at..=opener.at, [Event::Start(Tag::Strong)]);
                    out.splice(stars.at..=stars.at, [Event::End(TagEnd::Strong)]);
                    unpaired -= usize::from(opener.parsed) + usize::from(parsed);
                }
            }
            kept => open = (!is_space(stars.after)).then_some(stars).or(kept),
        }
    }
    (unpaired == 0).then_some(out)
}

/// The events with each `**` by itself, and texts side by side as one.
fn split_at_stars<'a>(line: &[Event<'a>]) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let flush = |text: &mut String, pieces: &mut Vec<Piece<'a>>| {
        for (nth, part) in text.split("**").enumerate() {
            if nth > 0 {
                pieces.push(Piece::Stars { parsed: false });
            }
            if !part.is_empty() {
                pieces.push(Piece::Other(Event::Text(part.to_owned().into())));
            }
        }
        text.clear();
    };
    for event in line {
        if let Event::Text(more) = event {
            text.push_str(more);
            continue;
        }
        flush(&mut text, &mut pieces);
        pieces.push(match event {
            Event::Start(Tag::Strong) | Event::End(TagEnd::Strong) => Piece::Stars { parsed: true },
            other => Piece::Other(other.clone()),
        });
    }
    flush(&mut text, &mut pieces);
    pieces
}

/// What a part shows, if it shows anything.
fn text_of<'p>(piece: &'p Piece<'_>) -> Option<&'p str> {
    match piece {
        Piece::Other(Event::Text(text) | Event::Code(text)) => Some(text),
        Piece::Other(Event::SoftBreak) => Some("\n"),
        _ => None,
    }
}

/// A letter of a language that is written without blanks, or a mark of it.
fn is_cjk(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ffef}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::Parser;

    use super::*;

    /// Bold as `<b>`.
    fn shown(markdown: &str) -> String {
        let show = |event| match event {
            Event::Start(Tag::Strong) => "<b>".to_owned(),
            Event::End(TagEnd::Strong) => "</b>".to_owned(),
            Event::Start(Tag::Link { .. }) => "[".to_owned(),
            Event::End(TagEnd::Link) => "]".to_owned(),
            Event::Text(text) => text.to_string(),
            Event::Code(text) => format!("`{text}`"),
            Event::SoftBreak => "\n".to_owned(),
            _ => String::new(),
        };
        with_cjk_strong(Parser::new(markdown)).map(show).collect()
    }

    #[test]
    fn bold_next_to_chinese_letters_and_marks_is_bold() {
        let cases = [
            ("**注意：**请", "<b>注意：</b>请"),
            ("请**“注意”**看", "请<b>“注意”</b>看"),
            (
                "这是**重点（很重要）**的，**两处。**都有",
                "这是<b>重点（很重要）</b>的，<b>两处。</b>都有",
            ),
            ("用**`cargo test`**运行", "用<b>`cargo test`</b>运行"),
            ("见**[说明](x)。**再看", "见<b>[说明]。</b>再看"),
            ("**첫째:**다음", "<b>첫째:</b>다음"),
            ("**一\n二。**三", "<b>一\n二。</b>三"),
            ("**一。**二 *三* **四**", "<b>一。</b>二 三 <b>四</b>"),
            ("**注意：**请检查**“价格”**的", "<b>注意：</b>请检查<b>“价格”</b>的"),
            ("**注意：**请检查**“价格”**", "<b>注意：</b>请检查<b>“价格”</b>"),
        ];
        for (markdown, html) in cases {
            assert_eq!(shown(markdown), html, "{markdown}");
        }
    }

    #[test]
    fn what_is_no_bold_stays_as_it_is_written() {
        let cases = [
            "2 ** 3 ** 4",
            "a**b.**c",
            "请 ** 看 ** 吗",
            "只有一个**开头",
            "`**注意：**请`",
            "**",
            "四个****",
        ];
        assert_eq!(shown("```\n**注意：**请\n```"), "**注意：**请\n");
        for markdown in cases {
            assert_eq!(shown(markdown), markdown, "{markdown}");
        }
        assert_eq!(shown("a.**b**c.**d **e** f"), "a.<b>b</b>c.**d <b>e</b> f");
        assert_eq!(shown("- **一。\n- 二。**三"), "**一。二。**三", "not over two items");
    }
}
