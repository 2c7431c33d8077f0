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
        Some(if !is_code && line.iter().any(has_stars) { strong(&line) } else { line })
    })
    .flatten()
}

fn has_stars(event: &Event<'_>) -> bool {
    matches!(event, Event::Text(text) if text.contains('*'))
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

/// A `**` in a line of events: its place, its depth, and the characters beside it.
struct Stars {
    at: usize,
    depth: usize,
    before: Option<char>,
    after: Option<char>,
}

fn strong<'a>(line: &[Event<'a>]) -> Vec<Event<'a>> {
    let pieces = split_at_stars(line);
    let mut out: Vec<Event<'a>> = Vec::with_capacity(pieces.len());
    let mut open: Option<Stars> = None;
    let mut depth = 0;
    for (nth, piece) in pieces.iter().enumerate() {
        match piece {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = usize::saturating_sub(depth, 1),
            _ => {}
        }
        // Left without its opener, it is nothing any more.
        if open.as_ref().is_some_and(|stars| depth < stars.depth) {
            open = None;
        }
        if !is_stars(piece) {
            out.push(piece.clone());
            continue;
        }
        let (ahead, behind) = pieces.split_at(nth);
        let stars = Stars {
            at: out.len(),
            depth,
            before: ahead.iter().rev().find_map(|event| text_of(event)?.chars().next_back()),
            after: behind.iter().skip(1).find_map(|event| text_of(event)?.chars().next()),
        };
        out.push(piece.clone());
        let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
        match open.take() {
            Some(opener) if opener.depth == depth && !is_space(stars.before) => {
                let has_text = stars.at > opener.at + 1;
                if has_text && [opener.before, stars.after].into_iter().flatten().any(is_cjk) {
                    out.splice(opener.at..=opener.at, [Event::Start(Tag::Strong)]);
                    out.splice(stars.at..=stars.at, [Event::End(TagEnd::Strong)]);
                }
            }
            kept => open = (!is_space(stars.after)).then_some(stars).or(kept),
        }
    }
    out
}

/// The events with each `**` of a text as an event of its own, and texts side by side as one.
fn split_at_stars<'a>(line: &[Event<'a>]) -> Vec<Event<'a>> {
    let mut out = Vec::new();
    let mut text = String::new();
    let flush = |text: &mut String, out: &mut Vec<Event<'a>>| {
        for (nth, part) in text.split("**").enumerate() {
            if nth > 0 {
                out.push(Event::Text(CowStr::Borrowed("**")));
            }
            if !part.is_empty() {
                out.push(Event::Text(part.to_owned().into()));
            }
        }
        text.clear();
    };
    for event in line {
        match event {
            Event::Text(more) => text.push_str(more),
            other => {
                flush(&mut text, &mut out);
                out.push(other.clone());
            }
        }
    }
    flush(&mut text, &mut out);
    out
}

/// What an event shows, if it shows anything.
fn text_of<'e>(event: &'e Event<'_>) -> Option<&'e str> {
    match event {
        Event::Text(text) | Event::Code(text) => Some(text),
        Event::SoftBreak => Some("\n"),
        _ => None,
    }
}

fn is_stars(event: &Event<'_>) -> bool {
    matches!(event, Event::Text(text) if text.as_ref() == "**")
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
        assert_eq!(shown("- **一。\n- 二。**三"), "**一。二。**三", "not over two items");
    }
}
