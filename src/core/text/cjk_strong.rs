//! Bold, struck and italic text next to Chinese, Japanese and Korean letters. CommonMark takes
//! `**注意：**请` for plain text, because a `**` between a mark and a letter opens and closes
//! nothing; these languages have no blank there, and models write it all the time.

use pulldown_cmark::{CowStr, Event, Tag, TagEnd};

/// How a text is set off.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Strong,
    Strikethrough,
    Emphasis,
}

impl Mark {
    const ALL: [Mark; 3] = [Mark::Strong, Mark::Strikethrough, Mark::Emphasis];

    fn text(self) -> &'static str {
        match self {
            Mark::Strong => "**",
            Mark::Strikethrough => "~~",
            Mark::Emphasis => "*",
        }
    }

    fn tag(self) -> Tag<'static> {
        match self {
            Mark::Strong => Tag::Strong,
            Mark::Strikethrough => Tag::Strikethrough,
            Mark::Emphasis => Tag::Emphasis,
        }
    }

    fn is_edge(self, event: &Event<'_>) -> bool {
        match event {
            Event::Start(tag) => *tag == self.tag(),
            Event::End(tag) => *tag == self.tag().to_end(),
            _ => false,
        }
    }

    /// Where it is in a text. A `*` beside another is part of a `**`.
    fn places(self, text: &str) -> Vec<usize> {
        let bytes = text.as_bytes();
        let is_star = |at: Option<usize>| at.and_then(|at| bytes.get(at)) == Some(&b'*');
        let alone = |at: &usize| !is_star(at.checked_sub(1)) && !is_star(Some(at + 1));
        let places = text.match_indices(self.text()).map(|(at, _)| at);
        places.filter(|at| self != Mark::Emphasis || alone(at)).collect()
    }
}

/// The events of a text with the marks that its parser left as `**`, `~~` and `*`.
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
        for mark in Mark::ALL.into_iter().filter(|_| !is_code) {
            if line.iter().any(has_sign) || has_nested(&line, mark) {
                line = pair_again(&line, mark).unwrap_or(line);
            }
        }
        Some(line)
    })
    .flatten()
}

/// The parser may cut a mark into its signs.
fn has_sign(event: &Event<'_>) -> bool {
    matches!(event, Event::Text(text) if text.contains(['*', '~']))
}

/// A mark that opened nothing may have closed at the next one that opens: `**一：**二**“三”**`.
fn has_nested(events: &[Event<'_>], mark: Mark) -> bool {
    let mut depth = 0_usize;
    events.iter().filter(|event| mark.is_edge(event)).any(|event| {
        let opens = matches!(event, Event::Start(_));
        depth = if opens { depth + 1 } else { depth.saturating_sub(1) };
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
    /// A mark, and whether the parser took it for the beginning or the end of such a text.
    Mark {
        parsed: bool,
    },
    Other(Event<'a>),
}

/// A mark of a line: its place, its depth, and the characters beside it.
struct PlacedMark {
    at: usize,
    parsed: bool,
    depth: usize,
    before: Option<char>,
    after: Option<char>,
}

/// Pairs the marks of a line again, as they come; `None`: a text set off would be lost.
fn pair_again<'a>(events: &[Event<'a>], mark: Mark) -> Option<Vec<Event<'a>>> {
    let pieces = split_at_marks(events, mark);
    let mut out: Vec<Event<'a>> = Vec::with_capacity(pieces.len());
    let mut placed_mark: Option<PlacedMark> = None;
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
                placed_mark = placed_mark.filter(|opener| depth >= opener.depth);
                out.push(event.clone());
                continue;
            }
            Piece::Mark { parsed } => *parsed,
        };
        let (ahead, behind) = pieces.split_at(nth);
        let placed = PlacedMark {
            at: out.len(),
            parsed,
            depth,
            before: ahead.iter().rev().find_map(|piece| text_of(piece)?.chars().next_back()),
            after: behind.iter().skip(1).find_map(|piece| text_of(piece)?.chars().next()),
        };
        unpaired += usize::from(parsed);
        out.push(Event::Text(CowStr::Borrowed(mark.text())));
        let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
        // A footnote is marked by a `*` as well: `价格*，数量*。`.
        let is_footnote =
            mark == Mark::Emphasis && placed.after.is_some_and(|c| CLOSING.contains(c));
        let may_open = !is_space(placed.after) && !is_footnote;
        match placed_mark.take() {
            Some(opener) if opener.depth == depth && !is_space(placed.before) => {
                let has_text = placed.at > opener.at + 1;
                let is_cjk_pair = [opener.before, placed.after].into_iter().flatten().any(is_cjk);
                if has_text && (is_cjk_pair || opener.parsed && parsed) {
                    out.splice(opener.at..=opener.at, [Event::Start(mark.tag())]);
                    out.splice(placed.at..=placed.at, [Event::End(mark.tag().to_end())]);
                    unpaired -= usize::from(opener.parsed) + usize::from(parsed);
                }
            }
            kept => placed_mark = may_open.then_some(placed).or(kept),
        }
    }
    (unpaired == 0).then_some(out)
}

/// Marks that end something.
const CLOSING: &str = "，。、；：？！）》」』】”’…,.;:?!)";

/// The events with each mark by itself, and texts side by side as one.
fn split_at_marks<'a>(events: &[Event<'a>], mark: Mark) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let flush = |text: &mut String, pieces: &mut Vec<Piece<'a>>| {
        let mut start = 0;
        for at in mark.places(text).into_iter().map(Some).chain([None]) {
            let part = text.get(start..at.unwrap_or(text.len())).unwrap_or_default();
            if !part.is_empty() {
                pieces.push(Piece::Other(Event::Text(part.to_owned().into())));
            }
            if let Some(at) = at {
                pieces.push(Piece::Mark { parsed: false });
                start = at + mark.text().len();
            }
        }
        text.clear();
    };
    for event in events {
        if let Event::Text(more) = event {
            text.push_str(more);
            continue;
        }
        flush(&mut text, &mut pieces);
        let is_edge = mark.is_edge(event);
        pieces.push(match event {
            _ if is_edge => Piece::Mark { parsed: true },
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
    use pulldown_cmark::{Options, Parser};

    use super::*;

    /// Bold as `<b>`, struck as `<s>`, italic as `<i>`.
    fn shown(markdown: &str) -> String {
        let show = |event| match event {
            Event::Start(Tag::Strong) => "<b>".to_owned(),
            Event::End(TagEnd::Strong) => "</b>".to_owned(),
            Event::Start(Tag::Strikethrough) => "<s>".to_owned(),
            Event::End(TagEnd::Strikethrough) => "</s>".to_owned(),
            Event::Start(Tag::Emphasis) => "<i>".to_owned(),
            Event::End(TagEnd::Emphasis) => "</i>".to_owned(),
            Event::Start(Tag::Link { .. }) => "[".to_owned(),
            Event::End(TagEnd::Link) => "]".to_owned(),
            Event::Text(text) => text.to_string(),
            Event::Code(text) => format!("`{text}`"),
            Event::SoftBreak => "\n".to_owned(),
            _ => String::new(),
        };
        let parser = Parser::new_ext(markdown, Options::ENABLE_STRIKETHROUGH);
        with_cjk_strong(parser).map(show).collect()
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
            ("**一。**二 *三* **四**", "<b>一。</b>二 <i>三</i> <b>四</b>"),
            ("**注意：**请检查**“价格”**的", "<b>注意：</b>请检查<b>“价格”</b>的"),
            ("**注意：**请检查**“价格”**", "<b>注意：</b>请检查<b>“价格”</b>"),
        ];
        for (markdown, html) in cases {
            assert_eq!(shown(markdown), html, "{markdown}");
        }
    }

    #[test]
    fn struck_and_italic_text_next_to_chinese_letters_and_marks_is_set_off_too() {
        let cases = [
            ("~~旧的：~~新的", "<s>旧的：</s>新的"),
            ("改~~“旧”~~新", "改<s>“旧”</s>新"),
            ("*注意：*请", "<i>注意：</i>请"),
            ("请*“注意”*看", "请<i>“注意”</i>看"),
            ("**重：**和*轻：*和~~无：~~完", "<b>重：</b>和<i>轻：</i>和<s>无：</s>完"),
            ("**重*轻：*重：**完", "<b>重<i>轻：</i>重：</b>完"),
        ];
        for (markdown, html) in cases {
            assert_eq!(shown(markdown), html, "{markdown}");
        }
        for markdown in
            ["价格*，数量*。", "3*4，5 * 6", "只有~~一个：", "a*b.*c", "见*.rs，再见*.md"]
        {
            assert_eq!(shown(markdown), markdown, "{markdown}");
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
