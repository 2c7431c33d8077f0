//! HTML as Markdown.
//!
//! A page may be made to keep a parser busy for hours or to end the process: elements a million deep,
//! a tag with a million attributes. Such a page is given without its tags instead.

use htmd::HtmlToMarkdown;
use htmd::options::{BulletListMarker, Options};

/// Elements inside each other, and attributes of one.
const MAX_DEPTH: usize = 250;
const MAX_ATTRIBUTES: usize = 500;

/// Elements without text for a reader. What looks like tags in them is not counted.
const REMOVED: &[&str] = &["script", "style", "svg", "noscript", "template"];

/// Elements that have no end, or may have none.
#[rustfmt::skip]
const WITHOUT_END: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
    "p", "li", "dt", "dd", "option", "tr", "td", "th", "thead", "tbody", "tfoot", "html", "head", "body",
];

pub fn to_markdown(html: &str) -> String {
    let html = without_elements(html);
    let converted = is_shallow(&html).then(|| convert(&html)).flatten();
    converted.unwrap_or_else(|| without_tags(&html))
}

fn convert(html: &str) -> Option<String> {
    let options = Options {
        bullet_list_marker: BulletListMarker::Dash,
        ul_bullet_spacing: 1,
        ol_number_spacing: 1,
        ..Options::default()
    };
    let converter = HtmlToMarkdown::builder()
        .options(options)
        .skip_tags(vec![
            "head", "title", "iframe", "object", "canvas", "audio", "video", "button", "select",
        ])
        .build();
    let markdown = converter.convert(html).ok()?;
    Some(match title(html) {
        Some(title) => format!("Title: {title}\n\n{}", markdown.trim_start()),
        None => markdown,
    })
}

/// A page without the elements that say nothing to a reader; one without an end goes to the end.
fn without_elements(html: &str) -> String {
    let lower = html.to_ascii_lowercase();
    let mut out = String::with_capacity(html.len());
    let mut at = 0;
    while let Some((start, name)) = next_removed(&lower, at) {
        out.push_str(html.get(at..start).unwrap_or_default());
        let end = format!("</{name}");
        let rest = lower.get(start..).unwrap_or_default();
        let Some(closed) = rest.find(&end) else { return out };
        let tail = rest
            .get(closed..)
            .unwrap_or_default()
            .find('>')
            .map_or(rest.len(), |to| closed + to + 1);
        at = start + tail;
    }
    out.push_str(html.get(at..).unwrap_or_default());
    out
}

/// Where the next such element begins, and its name.
fn next_removed(lower: &str, from: usize) -> Option<(usize, &'static str)> {
    let rest = lower.get(from..)?;
    rest.match_indices('<').find_map(|(at, _)| {
        let tag = rest.get(at + 1..)?;
        let name = REMOVED.iter().find(|name| {
            let after = tag.strip_prefix(**name).map(|after| after.chars().next());
            after.is_some_and(|next| next.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '-'))
        })?;
        Some((from + at, *name))
    })
}

/// What the scan of a page is in.
#[derive(Clone, Copy)]
enum Scan {
    Text,
    Tag,
    Quoted(u8),
}

/// Whether a parser needs little time and stack for a page. It counts more than a parser would.
fn is_shallow(html: &str) -> bool {
    let bytes = html.as_bytes();
    let mut scan = Scan::Text;
    let mut depth = 0_usize;
    let mut attributes = 0_usize;
    let mut before = 0;
    for (at, byte) in bytes.iter().enumerate() {
        match (scan, *byte) {
            (Scan::Text, b'<') => {
                let tag = html.get(at + 1..).unwrap_or_default();
                match tag.strip_prefix('/') {
                    Some(tag) if counts(tag) => depth = depth.saturating_sub(1),
                    None if counts(tag) => depth += 1,
                    _ => {}
                }
                if tag.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') {
                    scan = Scan::Tag;
                    attributes = 0;
                }
            }
            (Scan::Tag, b'>') => scan = Scan::Text,
            (Scan::Tag, quote @ (b'"' | b'\'')) if before == b'=' => scan = Scan::Quoted(quote),
            (Scan::Tag, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' | b'/' | b'"' | b'\'') => {
                attributes += 1
            }
            (Scan::Quoted(quote), byte) if byte == quote => {
                scan = Scan::Tag;
                attributes += 1;
            }
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            before = *byte;
        }
        if depth > MAX_DEPTH || attributes > MAX_ATTRIBUTES {
            return false;
        }
    }
    true
}

/// Whether what follows a `<` is an element that others can be in.
fn counts(tag: &str) -> bool {
    let end = tag.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tag.len()).min(16);
    let name = tag.get(..end).unwrap_or_default().to_ascii_lowercase();
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && !WITHOUT_END.contains(&name.as_str())
}

fn without_tags(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some((text, tag)) = rest.split_once('<') {
        out.push_str(text);
        rest = tag.split_once('>').map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}

/// The title of a page, on one line.
fn title(html: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let start = lower.find("<title")?;
    let from = start + lower.get(start..)?.find('>')? + 1;
    let to = from + lower.get(from..)?.find("</title")?;
    let title = htmd::convert(html.get(from..to)?).ok()?;
    Some(avocet_core::text::one_line(title.trim())).filter(|title| !title.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_keeps_its_title_its_text_and_its_links() {
        let page = "<!doctype html><html><head><title>A &amp; B\n C</title><style>p{}</style>\
            <script>if (a < b) { '</p>' }</script></head><body><h1>Head</h1><p>See \
            <a href=\"/x?a=1&amp;b=2\">this</a>.<ul><li>one<li>two</ul><pre><code>a &lt; b</code></pre>\
            <svg><title>no</title><path d=\"M 1 2\"/></svg><table><tr><th>k<th>v<tr><td>1<td>2</table>";
        let shown = to_markdown(page);
        for part in ["Title: A & B C\n", "# Head", "[this](/x?a=1&b=2)", "- one", "a < b", "| k"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        for part in ["if (a", "p{}", "no"] {
            assert!(!shown.contains(part), "{part}: {shown}");
        }
    }

    #[test]
    fn a_page_made_to_exhaust_the_parser_is_given_without_its_tags() {
        let attributes: String = (0..100_000).map(|n| format!(" a{n}")).collect();
        for (name, page) in [
            ("deep", "<div>".repeat(200_000)),
            ("deep, as if closed", "<div/>".repeat(200_000)),
            ("formatted", (0..100_000).map(|n| format!("<b id={n}>")).collect()),
            ("in tables", "<table><tr><td>".repeat(100_000)),
            ("attributes", format!("<a{attributes}>")),
            ("attributes behind quotes", format!("<a ' x=\">\"{attributes}>")),
        ] {
            let shown = to_markdown(&format!("{page}text"));
            assert!(!is_shallow(&page) && shown.ends_with("text"), "{name}");
        }
    }

    #[test]
    fn a_wide_page_is_converted() {
        let page = format!("<ul>{}</ul>", "<li><p>a <b>b</b><br>".repeat(5_000));
        assert!(is_shallow(&page));
        assert!(to_markdown(&page).contains("**b**"));
    }
}
