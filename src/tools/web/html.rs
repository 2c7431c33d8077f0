//! HTML as Markdown.
//!
//! A page may be made to keep a parser busy for hours or to end the process: elements a million deep,
//! which comments and quotes hide from a look beforehand. So a page is rewritten first, with tags
//! that match, to a certain depth, and only that is parsed.

use htmd::HtmlToMarkdown;
use htmd::options::{BulletListMarker, Options};

/// Elements inside each other. What is deeper keeps its text.
const MAX_DEPTH: usize = 200;

/// Elements without text for a reader, and those whose content is not HTML.
const REMOVED: &[&str] = &[
    "script", "style", "svg", "noscript", "template", "title", "iframe", "object", "canvas",
    "audio", "video", "button", "select", "noembed", "noframes",
];
/// Elements whose content is text.
const TEXTS: &[&str] = &["textarea", "xmp"];
/// Elements that are only what they contain, or change how the rest is parsed.
const IGNORED: &[&str] = &[
    "html",
    "head",
    "body",
    "meta",
    "link",
    "base",
    "frameset",
    "frame",
    "plaintext",
    "math",
    "applet",
    "marquee",
    "image",
];
/// Elements that have no end.
const WITHOUT_END: &[&str] =
    &["area", "br", "col", "embed", "hr", "img", "input", "source", "track", "wbr"];
/// The parts of a table. Nothing else is directly in one.
const OF_TABLE: &[&str] = &["thead", "tbody", "tfoot", "tr", "td", "th", "caption", "colgroup"];
const CELLS: &[&str] = &["td", "th", "caption"];
/// Elements that no end of another reaches out of.
const SCOPES: &[&str] = &["table", "td", "th", "caption"];
/// Elements that end an open paragraph.
#[rustfmt::skip]
const BLOCKS: &[&str] = &[
    "address", "article", "aside", "blockquote", "center", "details", "dialog", "dir", "div", "dl", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "li",
    "listing", "main", "menu", "nav", "ol", "p", "pre", "search", "section", "summary", "table", "ul", "dd", "dt",
];
/// Implied end tags: elements whose start ends an open one of the second list, unless one of the
/// third list is open inside it.
const IMPLIED_END_TAGS: &[(&[&str], &[&str], &[&str])] = &[
    (BLOCKS, &["p"], SCOPES),
    (&["li"], &["li"], &["ul", "ol", "menu", "td", "th", "caption"]),
    (&["dt", "dd"], &["dt", "dd"], &["dl", "td", "th", "caption"]),
    (&["td", "th", "tr", "thead", "tbody", "tfoot", "caption"], CELLS, &["table"]),
    (&["tr", "thead", "tbody", "tfoot", "caption"], &["tr"], &["table"]),
    (&["thead", "tbody", "tfoot", "caption"], &["thead", "tbody", "tfoot", "colgroup"], &["table"]),
];
/// Attributes that say something, of these elements.
const ATTRIBUTES: &[(&str, &str)] = &[
    ("a", "href"),
    ("a", "title"),
    ("img", "src"),
    ("img", "alt"),
    ("img", "title"),
    ("ol", "start"),
];

pub fn to_markdown(html: &str) -> String {
    let lower = html.to_ascii_lowercase();
    let mut page = PageWriter {
        html,
        lower: &lower,
        at: 0,
        out: String::new(),
        open: Vec::new(),
        title: None,
    };
    page.write();
    let options = Options {
        bullet_list_marker: BulletListMarker::Dash,
        ul_bullet_spacing: 1,
        ol_number_spacing: 1,
        ..Options::default()
    };
    let markdown = HtmlToMarkdown::builder().options(options).build().convert(&page.out);
    let markdown = markdown.unwrap_or_default();
    match page.title.and_then(title) {
        Some(title) => format!("Title: {title}\n\n{}", markdown.trim_start()),
        None => markdown,
    }
}

/// The title of a page, on one line.
fn title(text: &str) -> Option<String> {
    let title = htmd::convert(&text.replace('<', "&lt;")).ok()?;
    Some(avocet_core::text::one_line(title.trim())).filter(|title| !title.is_empty())
}

/// A page as it is rewritten.
struct PageWriter<'a> {
    html: &'a str,
    /// The same in small letters.
    lower: &'a str,
    at: usize,
    out: String,
    open: Vec<&'a str>,
    title: Option<&'a str>,
}

impl<'a> PageWriter<'a> {
    fn write(&mut self) {
        while let Some(found) = self.rest().find('<') {
            let text = self.take(found);
            self.out.push_str(text);
            let is_letter = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic());
            match self.rest().get(1..).unwrap_or_default() {
                rest if rest.starts_with("!--") => {
                    self.take(2);
                    self.take_past("-->");
                }
                rest if is_letter(rest) => self.write_tag(),
                rest if rest.strip_prefix('/').is_some_and(is_letter) => {
                    self.take(2);
                    let name = self.take_name();
                    self.take_past(">");
                    let is_of_table = name == "table" || OF_TABLE.contains(&name);
                    self.close(|open| open == name, if is_of_table { &["table"] } else { SCOPES });
                }
                rest if rest.starts_with(['!', '?', '/']) => self.take_past(">"),
                _ => {
                    self.take(1);
                    self.out.push_str("&lt;");
                }
            }
        }
        let text = self.take(usize::MAX);
        self.out.push_str(text);
    }

    fn rest(&self) -> &'a str {
        self.html.get(self.at..).unwrap_or_default()
    }

    /// So many bytes of it, or all that is left.
    fn take(&mut self, bytes: usize) -> &'a str {
        let rest = self.rest();
        let taken = rest.get(..bytes).unwrap_or(rest);
        self.at += taken.len();
        taken
    }

    /// All up to a mark, and the mark.
    fn take_past(&mut self, mark: &str) {
        let end = self.rest().find(mark).map_or(usize::MAX, |at| at + mark.len());
        self.take(end);
    }

    fn take_name(&mut self) -> &'a str {
        let rest = self.lower.get(self.at..).unwrap_or_default();
        let name = rest.split(|c: char| c.is_ascii_whitespace() || "/>".contains(c)).next();
        let name = name.unwrap_or_default();
        self.at += name.len();
        name
    }

    fn write_tag(&mut self) {
        self.take(1);
        let name = self.take_name();
        let attributes = self.take_attributes(name);
        if REMOVED.contains(&name) || TEXTS.contains(&name) {
            self.write_raw(name);
            return;
        }
        for (_, ends, within) in
            IMPLIED_END_TAGS.iter().filter(|(starts, ..)| starts.contains(&name))
        {
            self.close(|open| ends.contains(&open), within);
        }
        let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric());
        let mut around = self.open.iter().rev();
        let around = around.find(|open| CELLS.contains(open) || **open == "table");
        let is_in_table = around == Some(&"table");
        if !is_plain || IGNORED.contains(&name) || is_in_table && !OF_TABLE.contains(&name) {
            return;
        }
        let has_end = !WITHOUT_END.contains(&name);
        if has_end && self.open.len() >= MAX_DEPTH {
            return;
        }
        self.out.extend(["<", name, &attributes, ">"]);
        if has_end {
            self.open.push(name);
        }
    }

    /// What its content is, up to its end.
    fn write_raw(&mut self, name: &str) {
        let rest = self.lower.get(self.at..).unwrap_or_default();
        let content = self.take(rest.find(&format!("</{name}")).unwrap_or(usize::MAX));
        self.take_past(">");
        if name == "title" && self.title.is_none() {
            self.title = Some(content);
        } else if TEXTS.contains(&name) {
            self.out.push_str(&content.replace('<', "&lt;"));
        }
    }

    /// Those of a tag that are kept, up to its end.
    fn take_attributes(&mut self, tag: &str) -> String {
        let mut kept = String::new();
        loop {
            let rest = self.rest();
            self.at += rest.len()
                - rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/').len();
            if self.rest().is_empty() || self.rest().starts_with('>') {
                self.take(1);
                return kept;
            }
            let named = self.lower.get(self.at..).unwrap_or_default();
            let is_end = |c: char| c.is_ascii_whitespace() || "/>=".contains(c);
            let length = named.char_indices().skip(1).find(|(_, c)| is_end(*c));
            let name = named.get(..length.map_or(named.len(), |(at, _)| at)).unwrap_or_default();
            self.at += name.len();
            let value = self.take_value();
            let start = format!(" {name}=\"");
            if ATTRIBUTES.contains(&(tag, name)) && !kept.contains(&start) {
                kept.extend([&start, value.replace('"', "&quot;").as_str(), "\""]);
            }
        }
    }

    fn take_value(&mut self) -> &'a str {
        let rest = self.rest().trim_ascii_start();
        let Some(value) = rest.strip_prefix('=').map(str::trim_ascii_start) else { return "" };
        self.at = self.html.len() - value.len();
        match value.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                self.take(1);
                let taken = self.take(self.rest().find(quote).unwrap_or(usize::MAX));
                self.take(1);
                taken
            }
            _ => {
                let is_end = |c: char| c.is_ascii_whitespace() || c == '>';
                self.take(self.rest().find(is_end).unwrap_or(usize::MAX))
            }
        }
    }

    /// Ends the innermost such element with all in it, unless one of the others is around it.
    fn close(&mut self, is_it: impl Fn(&str) -> bool, within: &[&str]) {
        let stops = |open: &&str| is_it(open) || within.contains(open);
        let Some(found) = self.open.iter().rposition(stops) else { return };
        if self.open.get(found).is_some_and(|open| is_it(open)) {
            for name in self.open.split_off(found).into_iter().rev() {
                self.out.extend(["</", name, ">"]);
            }
        }
    }
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
    fn a_page_made_to_exhaust_the_parser_keeps_its_text() {
        let attributes: String = (0..100_000).map(|n| format!(" a{n}")).collect();
        let deep = "<div>".repeat(200_000);
        for (name, page) in [
            ("deep", deep.clone()),
            ("deep, as if closed", "<div/>".repeat(200_000)),
            ("deep, with ends of others", "<div></i>".repeat(100_000)),
            ("deep, with ends in comments", "<div><!--</div>-->".repeat(100_000)),
            ("behind a quote in a comment", format!("<!--<a x=\"-->{deep}")),
            ("behind a quote in an end", format!("</ x=\">{deep}")),
            ("behind a quote in a text", format!("<textarea><a x=\"</textarea>{deep}")),
            ("behind a quote in a title", format!("<title><a x=\"</title>{deep}")),
            ("in the title", format!("<title>{deep}</title>")),
            ("in a title in a quote", format!("<p a=\"<title>{deep}</title>\">")),
            ("formatted", (0..100_000).map(|n| format!("<b id={n}>")).collect()),
            ("formatted, closed early", "<p><b><u><i>x</p>".repeat(20_000)),
            ("formatted in tables", "<table><b><i><tr></table><p>x".repeat(20_000)),
            ("in tables", "<table><tr><td>".repeat(100_000)),
            ("attributes", format!("<a{attributes}>")),
            ("the same attribute", format!("<a{}>", " href=x".repeat(100_000))),
            ("attributes behind quotes", format!("<a ' x=\">\"{attributes}>")),
        ] {
            let shown = to_markdown(&format!("{page}text"));
            assert!(shown.contains("text"), "{name}");
            assert!(shown.len() < 4 * page.len(), "{name}");
        }
    }

    #[test]
    fn a_wide_page_is_converted() {
        let page = format!("<ul>{}</ul>", "<li><p>a <b>b</b><br>".repeat(5_000));
        let shown = to_markdown(&page);
        assert_eq!(shown.matches("**b**").count(), 5_000);
        let page = format!("<table><tr><th>k<th>v{}</table>", "<tr><td>1<td>2".repeat(5_000));
        assert_eq!(to_markdown(&page).matches("| 1").count(), 5_000);
    }

    #[test]
    fn ends_that_are_missing_or_of_others_leave_the_rest_as_it_is() {
        for (page, wanted) in [
            ("<p>a<p>b</div>c", "a\n\nbc"),
            ("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
            ("<b>a</p>b</b> c", "**ab** c"),
            ("1 < 2 <3> <!x> <?y> </ z> 4", "1 < 2 <3> 4"),
            ("<my-tag>a</my-tag><textarea><b></textarea>", "a<b>"),
        ] {
            assert_eq!(to_markdown(page).trim().replace('\\', ""), wanted, "{page}");
        }
    }
}
