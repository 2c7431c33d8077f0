//! Code is coloured later, and never with wrong colours.

use ratatui::style::{Color, Style};

use super::*;

const CODE: &str = "```rust\n// a comment\nfn main() {\n    let text = \"中文\";\n}\n```\n";

/// The style of the first cell of `text`.
fn style_of(screen: &mut Screen, text: &str) -> Style {
    let buf = screen.buffer();
    let found = (0..screen.height).find_map(|y| {
        let row = row(&buf, y);
        let (before, _) = row.split_once(text)?;
        let x = u16::try_from(crate::text::width(before)).ok()?;
        buf.cell((x, y)).map(|cell| cell.style())
    });
    found.unwrap_or_else(|| panic!("no {text}"))
}

fn paint(screen: &mut Screen, highlighter: &Highlighter) -> usize {
    screen.buffer();
    let mut painted = 0;
    while let Some(snippet) = screen.transcript.next_unhighlighted() {
        screen.transcript.add_highlight(highlighter.highlight(&snippet));
        screen.buffer();
        painted += 1;
        assert!(painted < 20, "it ends");
    }
    painted
}

#[test]
fn code_is_plain_first_and_coloured_later() {
    let mut screen = Screen::with_events([reply_finished(CODE)]);
    let syntax = screen.theme.markup.syntax.clone();
    let plain = screen.theme.markup.block;
    assert_eq!(style_of(&mut screen, "fn main").fg, plain.fg);
    assert_eq!(paint(&mut screen, &Highlighter::default()), 1);
    assert_eq!(style_of(&mut screen, "// a").fg, syntax.comment.fg);
    assert_eq!(style_of(&mut screen, "fn main").fg, syntax.keyword.fg);
    assert_eq!(style_of(&mut screen, "main").fg, syntax.function.fg);
    assert_eq!(style_of(&mut screen, "中文").fg, syntax.string.fg);
    let text = screen.text();
    assert_eq!(text.lines().count(), 5, "{text}");
}

#[test]
fn growing_code_keeps_the_colours_of_its_whole_lines() {
    let highlighter = Highlighter::default();
    let mut screen = Screen::with_events([delta("```rust\nfn main() {\n    let x = 1")]);
    let syntax = screen.theme.markup.syntax.clone();
    assert_eq!(paint(&mut screen, &highlighter), 1);
    assert_eq!(style_of(&mut screen, "fn main").fg, syntax.keyword.fg);
    screen.apply_all([delta("0;")]);
    assert_eq!(paint(&mut screen, &highlighter), 0, "half a line asks for nothing");
    assert_eq!(style_of(&mut screen, "fn main").fg, syntax.keyword.fg);
    screen.apply_all([delta("\n}\n```\n\nDone.")]);
    assert_eq!(paint(&mut screen, &highlighter), 1);
    assert_eq!(style_of(&mut screen, "10").fg, syntax.number.fg);
}

#[test]
fn a_comment_continues_in_the_next_piece() {
    let code = format!("```c\n/* begins\n{}ends */ int x;\n```\n", "inside\n".repeat(100));
    let mut screen = Screen::with_events([reply_finished(&code)]);
    let syntax = screen.theme.markup.syntax.clone();
    assert!(paint(&mut screen, &Highlighter::default()) > 0);
    assert_eq!(style_of(&mut screen, "ends").fg, syntax.comment.fg);
    assert_eq!(style_of(&mut screen, "int").fg, syntax.keyword.fg);
}

#[test]
fn an_unknown_language_is_requested_once() {
    let mut screen = Screen::with_events([
        reply_finished("```klingon\nqapla\n```\n"),
        reply_finished("```\nno language\n```\n"),
    ]);
    assert_eq!(paint(&mut screen, &Highlighter::default()), 1);
}

#[test]
fn colours_of_a_removed_text_are_ignored() {
    let mut screen = Screen::with_events([reply_finished(CODE)]);
    screen.buffer();
    let painted =
        Highlighter::default().highlight(&screen.transcript.next_unhighlighted().unwrap());
    screen.apply_all([Event::Cleared, reply_finished("```rust\nother()\n```\n")]);
    screen.buffer();
    screen.transcript.add_highlight(painted);
    let plain = screen.theme.markup.block;
    assert_eq!(style_of(&mut screen, "other").fg, plain.fg);
}

#[test]
fn an_address_is_underlined_and_shown_whole() {
    let answer = "See https://example.org/a_b and [this](https://c.d).";
    let mut screen = Screen::with_events([reply_finished(answer)]);
    let underlined = |screen: &mut Screen, text: &str| {
        style_of(screen, text).add_modifier.contains(ratatui::style::Modifier::UNDERLINED)
    };
    assert!(underlined(&mut screen, "https://example.org/a_b"));
    assert!(!underlined(&mut screen, "See") && !underlined(&mut screen, "and"));
    assert!(underlined(&mut screen, "this") && screen.text().contains("(https://c.d)"));
}

#[test]
fn code_in_a_list_or_a_quote_is_coloured_too() {
    let source = "- one\n\n  ```rust\n  fn one() {}\n  ```\n- two\n\n  ```python\n  def two(): pass\n  ```\n\n\
                  > ```rust\n> // quoted\n> ```\n";
    let mut screen = Screen::with_events([reply_finished(source)]);
    let syntax = screen.theme.markup.syntax.clone();
    assert_eq!(paint(&mut screen, &Highlighter::default()), 3);
    assert_eq!(style_of(&mut screen, "fn one").fg, syntax.keyword.fg);
    assert_eq!(style_of(&mut screen, "two()").fg, syntax.function.fg);
    assert_eq!(style_of(&mut screen, "// quoted").fg, syntax.comment.fg);
}

/// A step that ended with this output.
fn failed(stdout: &str) -> Event {
    let work = step("cmd_001", "cargo", &["test"]);
    let mut seen = observation(work, Tier::L1, Outcome::Ran);
    (seen.exit_code, seen.stdout) = (Some(1), stdout.to_owned());
    Event::StepFinished(Box::new(seen))
}

const COLORED: &str = "\x1b[1mrunning\x1b[0m\n\x1b[31mfailed\x1b[0m: \x1b[38;5;40mleft\x1b[0m \x1b[3;4mright\x1b[0m\x1b[2J\x1b]0;title\x07\x1b[?1049h\n";

#[test]
fn the_colours_of_a_program_are_shown_in_those_of_the_theme() {
    use ratatui::style::Modifier;
    let mut screen = Screen::with_events([failed(COLORED)]);
    let theme = screen.theme.clone();
    assert_eq!(style_of(&mut screen, "failed").fg, theme.danger.fg);
    assert_eq!(style_of(&mut screen, "left").fg, theme.ok.fg);
    let right = style_of(&mut screen, "right").add_modifier;
    assert!(right.contains(Modifier::ITALIC | Modifier::UNDERLINED), "{right:?}");
    screen.transcript.toggle_steps();
    assert!(style_of(&mut screen, "running").add_modifier.contains(Modifier::BOLD));
    let text = screen.text();
    let is_clean = text.lines().all(|line| !line.contains(char::is_control));
    assert!(is_clean && !text.contains("title"), "{text:?}");
}

#[test]
fn a_running_program_is_shown_in_the_colours_of_the_theme_too() {
    let work = step("cmd_001", "cargo", &["test"]);
    let output = |text: &str| output("cmd_001", text);
    let mut events = vec![step_started(work, Tier::L1)];
    // Pieces that end inside a sequence, and more than is kept.
    events.push(output("\x1b[32m"));
    events.extend((0..3_000).map(|nth| output(&format!("line {nth}\n"))));
    events.extend([output("all green \x1b[3"), output("1mthis red\n")]);
    let mut screen = Screen::with_events(events);
    let theme = screen.theme.clone();
    assert_eq!(style_of(&mut screen, "line 2999").fg, theme.ok.fg);
    assert_eq!(style_of(&mut screen, "all green").fg, theme.ok.fg);
    assert_eq!(style_of(&mut screen, "this red").fg, theme.danger.fg);
}

#[test]
fn without_colours_a_program_has_none_either() {
    let mut screen = Screen::with_events([failed(COLORED)]);
    screen.theme = Theme::built_in("dark", Depth::None).unwrap();
    for cell in &screen.buffer().content {
        assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset));
    }
    assert!(screen.text().contains("failed: left right"), "{}", screen.text());
}

#[test]
fn what_our_sentences_name_has_the_colour_of_code_and_backticks_where_there_are_no_colours() {
    let say = screen::NO_SUCH_THEME.with("name", "a`b").with("names", "`dark`");
    let mut screen = Screen::with_events([Event::Notice(Notice::error(say.clone()))]);
    let code = screen.theme.markup.code.fg;
    assert!(screen.text().contains("no theme a`b. Available: `dark`."), "{}", screen.text());
    assert_eq!(style_of(&mut screen, "a`b").fg, code);
    assert_ne!(style_of(&mut screen, "`dark`").fg, code);
    let mut plain = Screen::with_events([Event::Notice(Notice::error(say))]);
    plain.theme = Theme::built_in("dark", Depth::None).unwrap();
    assert!(plain.text().contains("no theme `a`b`. Available: `dark`."), "{}", plain.text());
}

#[test]
fn the_words_of_a_server_are_dim_beside_our_own() {
    use avocet_core::i18n::model;
    let ours = model::FAULTY.with("url", "http://x").with("status", 500);
    let why = model::SAYS.with("what", ours).with("said", "overloaded");
    for event in
        [turn_ended(TurnOutcome::Failed { why: why.clone() }), Event::Notice(Notice::error(why))]
    {
        let mut screen = Screen::with_events([event]);
        let theme = screen.theme.clone();
        assert_eq!(style_of(&mut screen, "failed (500)").fg, style_of(&mut screen, "again").fg);
        assert_ne!(style_of(&mut screen, "failed (500)").fg, theme.dim.fg);
        assert_eq!(style_of(&mut screen, "overloaded").fg, theme.dim.fg);
    }
}
