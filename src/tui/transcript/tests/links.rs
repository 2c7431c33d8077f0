//! Links on the screen, their addresses for the terminal, and the times of events.

use ratatui::style::Style;

use super::*;
use crate::transcript::Hyperlink;

/// The links: the text of their cells, and the address.
fn visible_links(screen: &mut Screen) -> Vec<(String, String)> {
    let (buf, links) = screen.draw();
    let read = |anchor: &Hyperlink| {
        let row = anchor.columns.clone().map(|x| buf[(x, anchor.y)].symbol().to_owned());
        (row.collect(), anchor.address.to_string())
    };
    links.iter().filter(|link| link.is_visible(&buf)).map(read).collect()
}

fn pair(text: &str, address: &str) -> (String, String) {
    (text.to_owned(), address.to_owned())
}

#[test]
fn a_link_has_the_address_it_shows() {
    let mut screen = Screen::with_events([reply_finished(
        "Read [the docs](https://a.b/docs) or https://c.d/e, not [this](javascript:x).",
    )]);
    let found = visible_links(&mut screen);
    let docs = "https://a.b/docs";
    assert_eq!(
        found,
        [pair("the docs", docs), pair(docs, docs), pair("https://c.d/e", "https://c.d/e")]
    );
    assert!(screen.text().contains("this (javascript:x)"), "it is shown all the same");
}

#[test]
fn a_text_that_claims_to_be_another_address_is_not_linked() {
    let source = "M405 [https://github.com/a](https://evil.example/a) M405";
    let mut screen = Screen::with_events([reply_finished(source)]);
    let evil = "https://evil.example/a";
    assert_eq!(visible_links(&mut screen), [pair(evil, evil)]);
    assert!(screen.text().contains("https://github.com/a (https://evil.example/a)"));
}

#[test]
fn links_in_lists_tables_and_broken_lines_cover_their_text() {
    let mut screen = Screen::with_events([reply_finished(
        "1. see\tthe [中文 page](https://a.b/1)\n\n\
         | a | b |\n|---|---:|\n| x | [two](https://a.b/2) |\n| y | a much wider cell |\n",
    )]);
    let found = visible_links(&mut screen);
    assert_eq!(found[0], pair("中 文  page", "https://a.b/1"), "wide cells count twice");
    assert!(found.contains(&pair("two", "https://a.b/2")), "{found:?}");
    screen.width = 30;
    let text: String = visible_links(&mut screen).into_iter().map(|(text, _)| text).collect();
    assert!(text.contains("https://a.b/1") && text.contains("two"), "{text}");
}

#[test]
fn covered_cells_are_not_links() {
    let mut screen = Screen::with_events([reply_finished("[docs](https://a.b)")]);
    let (mut buf, links) = screen.draw();
    let visible = |buf: &Buffer| links.iter().filter(|link| link.is_visible(buf)).count();
    assert_eq!(visible(&buf), 2);
    buf.set_string(2, 0, "a list", Style::new());
    assert_eq!(visible(&buf), 1);
}

#[test]
fn a_target_defined_further_down_is_found() {
    let mut screen = Screen::with_events([delta("See [the docs][d] and [rest].\n\nMore.\n\n")]);
    assert!(visible_links(&mut screen).is_empty());
    screen.apply_all([delta("- a\n- b\n\n[D]: https://a.b/d\n[rest]: https://a.b/r\n\nEnd.\n")]);
    let leads: Vec<String> = visible_links(&mut screen).into_iter().map(|(text, _)| text).collect();
    assert_eq!(leads, ["the docs", "https://a.b/d", "rest", "https://a.b/r"]);
    let text = screen.text();
    assert!(!text.contains("[D]") && text.contains("the docs (https://a.b/d)"), "{text}");
}

#[test]
fn times_follow_their_events_and_take_space() {
    let mut screen = Screen::new(80, 20);
    screen.apply_all([turn_started("a question")]);
    screen.transcript.set_time(61 * 60_000);
    screen.apply_all([reply_finished(&"word ".repeat(30))]);
    let plain = screen.text();
    screen.clock = Some(14 * 3_600_000 + 3 * 60_000);
    let rows = screen.rows();
    assert!(rows[0].starts_with("› a question") && rows[0].ends_with("14:03"), "{rows:?}");
    assert!(rows[2].contains("word") && rows[2].ends_with("15:04"), "{rows:?}");
    assert_eq!(rows.iter().filter(|row| row.contains(':')).count(), 2);
    screen.clock = None;
    assert_eq!(screen.text(), plain);
    (screen.clock, screen.width) = (Some(0), 30);
    assert!(!screen.text().contains(':'), "no room");
}
