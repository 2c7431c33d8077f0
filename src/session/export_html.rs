//! Markdown as HTML. Markup of the text itself, and links that a browser would run, stay text.

use avocet_core::text::with_cjk_strong;
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

pub fn from_markdown(markdown: &str) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut out = String::with_capacity(markdown.len() * 2);
    let mut links = Vec::new();
    for event in with_cjk_strong(Parser::new_ext(markdown, options)) {
        match event {
            Event::Start(tag) => out.push_str(&start(&tag, &mut links)),
            Event::End(tag) => out.push_str(&end(tag, &mut links)),
            Event::Code(text) => out.push_str(&format!("<code>{}</code>", escape(&text))),
            Event::SoftBreak => out.push('\n'),
            Event::HardBreak => out.push_str("<br>\n"),
            Event::Rule => out.push_str("<hr>\n"),
            Event::TaskListMarker(is_done) => out.push_str(if is_done { "[x] " } else { "[ ] " }),
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => out.push_str(&escape(&text)),
        }
    }
    out
}

/// Below the headings of the page.
fn heading(level: HeadingLevel) -> usize {
    (level as usize + 2).min(6)
}

fn is_safe(url: &str) -> bool {
    ["http://", "https://", "mailto:"].iter().any(|scheme| url.starts_with(scheme))
}

fn start(tag: &Tag<'_>, links: &mut Vec<bool>) -> String {
    match tag {
        Tag::Heading { level, .. } => format!("<h{}>", heading(*level)),
        Tag::List(Some(first)) => format!("<ol start=\"{first}\">\n"),
        Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => link(dest_url, links),
        Tag::CodeBlock(_) => "<pre><code>".to_owned(),
        Tag::Table(_) => "<table>\n".to_owned(),
        Tag::TableHead | Tag::TableRow => "<tr>".to_owned(),
        tag => element(&tag.to_end()).map_or(String::new(), |name| format!("<{name}>")),
    }
}

fn link(url: &CowStr<'_>, links: &mut Vec<bool>) -> String {
    links.push(is_safe(url));
    if is_safe(url) { format!("<a href=\"{}\">", escape(url)) } else { String::new() }
}

fn end(tag: TagEnd, links: &mut Vec<bool>) -> String {
    match tag {
        TagEnd::Heading(level) => format!("</h{}>\n", heading(level)),
        TagEnd::List(is_ordered) => if is_ordered { "</ol>\n" } else { "</ul>\n" }.to_owned(),
        TagEnd::Link | TagEnd::Image => {
            if links.pop() == Some(true) { "</a>" } else { "" }.to_owned()
        }
        TagEnd::CodeBlock => "</code></pre>\n".to_owned(),
        TagEnd::Table => "</table>\n".to_owned(),
        TagEnd::TableHead | TagEnd::TableRow => "</tr>\n".to_owned(),
        tag => match element(&tag) {
            Some(name @ ("em" | "strong" | "del" | "td")) => format!("</{name}>"),
            Some(name) => format!("</{name}>\n"),
            None => String::new(),
        },
    }
}

/// What has the same name at its beginning and its end.
fn element(tag: &TagEnd) -> Option<&'static str> {
    match tag {
        TagEnd::Paragraph => Some("p"),
        TagEnd::BlockQuote(_) => Some("blockquote"),
        TagEnd::List(false) => Some("ul"),
        TagEnd::Item => Some("li"),
        TagEnd::Emphasis => Some("em"),
        TagEnd::Strong => Some("strong"),
        TagEnd::Strikethrough => Some("del"),
        TagEnd::TableCell => Some("td"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_of_an_answer_is_shown_formatted_in_html() {
        let text = "# Fix\n\nRun `make -j` **now**:\n\n1. *one*\n2. two\n\n- [x] done\n\n\
                    ```sh\na < b\n```\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\
                    [docs](https://example.com/?a=1&b=2)";
        let page = from_markdown(text);
        for part in [
            "<h3>Fix</h3>",
            "<code>make -j</code> <strong>now</strong>",
            "<ol start=\"1\">\n<li><em>one</em></li>",
            "<ul><li>[x] done</li>",
            "<pre><code>a &lt; b\n</code></pre>",
            "<blockquote><p>quoted</p>",
            "<tr><td>1</td><td>2</td></tr>",
            "<a href=\"https://example.com/?a=1&amp;b=2\">docs</a>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        for raw in ["**", "```", "# Fix", "|"] {
            assert!(!page.contains(raw), "{raw}: {page}");
        }
    }

    #[test]
    fn nothing_in_a_text_becomes_an_element_or_a_script() {
        let text = "<script>x</script> <b>b</b>\n\n<img src=x onerror=y>\n\n\
                    [a](javascript:alert(1)) ![b](data:text/html,x) <javascript:x>\n\n\
                    [c](https://e.com/\"onclick=\"x)";
        let page = from_markdown(text);
        let tags = page.split('<').skip(1).map(|tag| tag.split(['>', ' ']).next().unwrap_or(""));
        let known = ["p", "/p", "a", "/a"];
        assert!(tags.clone().all(|tag| known.contains(&tag)), "{page}");
        assert!(!page.contains("href=\"javascript") && !page.contains("href=\"data"), "{page}");
        assert!(!page.contains("\"onclick"), "{page}");
    }
}
