use crossterm::event::{MouseButton, MouseEventKind};
use proptest::prelude::*;

use super::*;

/// The events of the terminal, as text.
fn describe(heard: Vec<TerminalInput>) -> Vec<String> {
    heard
        .into_iter()
        .map(|heard| match heard {
            TerminalInput::Background(ground) => format!("{ground:?}"),
            TerminalInput::Lines(lines) => format!("lines {lines:?}"),
            TerminalInput::Graphics(reply) => format!("told {reply:?}"),
            TerminalInput::Event(Event::Paste(text)) => format!("paste {text:?}"),
            TerminalInput::Event(Event::Mouse(mouse)) => {
                format!("{:?} {} {}", mouse.kind, mouse.column, mouse.row)
            }
            TerminalInput::Event(Event::Key(key)) => match key.modifiers {
                KeyModifiers::NONE => format!("{}", key.code),
                held => format!("{held}+{}", key.code),
            },
            TerminalInput::Event(event) => format!("{event:?}"),
        })
        .collect()
}

/// All in one burst, and then a long silence.
fn read(bytes: &[u8]) -> Vec<String> {
    in_pieces(&[bytes])
}

/// Without what the terminal says of itself.
fn typed(mut heard: Vec<String>) -> Vec<String> {
    heard.retain(|it| !it.starts_with("told "));
    heard
}

/// Each piece in a burst of its own, one shortly after the other.
fn in_pieces(pieces: &[&[u8]]) -> Vec<String> {
    let mut parser = Parser::default();
    let mut out = Vec::new();
    for piece in pieces {
        parser.feed(piece);
        out.extend(parser.take_events());
    }
    while parser.pending_timeout().is_some() {
        out.extend(parser.timeout());
    }
    describe(out)
}

#[test]
fn keys_are_read_in_all_their_forms() {
    let cases: &[(&[u8], &[&str])] = &[
        (b"aB", &["a", "Shift+B"]),
        ("中é".as_bytes(), &["中", "é"]),
        (b"\r", &["Enter"]),
        (b"\t\x7f\x00", &["Tab", "Backspace", "Control+Space"]),
        (b"\x01\x1f", &["Control+a", "Control+7"]),
        (b"\x1b[A\x1b[1;5C\x1bOH\x1b[H", &["Up", "Control+Right", "Home", "Home"]),
        (b"\x1bOP\x1b[15~\x1b[24;2~\x1b[[B", &["F1", "F5", "Shift+F12", "F2"]),
        (b"\x1b[3~\x1b[5~\x1b[6;5~", &["Del", "Page Down", "Control+Page Down"]),
        (b"\x1b[Z", &["Shift+Back Tab"]),
        (b"\x1bx\x1b\r\x1b\x7f", &["Alt+x", "Alt+Enter", "Alt+Backspace"]),
        ("\x1b中".as_bytes(), &["Alt+中"]),
        (b"\x1b[27u\x1b[97;5u\x1b[13;2u", &["Esc", "Control+a", "Shift+Enter"]),
        (b"\x1b[97:65;2u\x1b[27;5;13~", &["A", "Control+Enter"]),
        (b"\x1b[57414u", &["Enter"]),
        (b"\x1b[I\x1b[O", &["FocusGained", "FocusLost"]),
    ];
    for (bytes, keys) in cases {
        let mut keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        if bytes.starts_with(b"\x1b[3~") {
            keys.splice(1..2, ["Page Up".to_owned()]);
        }
        assert_eq!(read(bytes), keys, "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn the_mouse_is_read_in_all_its_forms() {
    let down =
        |column, row| format!("{:?} {column} {row}", MouseEventKind::Down(MouseButton::Left));
    assert_eq!(read(b"\x1b[<0;11;6M"), [down(10, 5)]);
    assert_eq!(read(b"\x1b[M +&"), [down(10, 5)]);
    assert_eq!(read(b"\x1b[32;11;6M"), [down(10, 5)]);
    assert_eq!(
        read(b"\x1b[<0;11;6m"),
        [format!("{:?} 10 5", MouseEventKind::Up(MouseButton::Left))]
    );
    assert_eq!(
        read(b"\x1b[<32;1;1M"),
        [format!("{:?} 0 0", MouseEventKind::Drag(MouseButton::Left))]
    );
    assert_eq!(read(b"\x1b[<64;1;1M\x1b[<65;1;1M"), ["ScrollUp 0 0", "ScrollDown 0 0"]);
}

#[test]
fn an_escape_that_comes_alone_is_a_key_after_a_moment() {
    let mut parser = Parser::default();
    parser.feed(b"\x1b");
    assert_eq!(describe(parser.take_events()), [""; 0]);
    assert_eq!(parser.pending_timeout(), Some(ESCAPE));
    assert_eq!(describe(parser.timeout()), ["Esc"]);
    assert_eq!(parser.pending_timeout(), None);
    assert_eq!(read(b"\x1b\x1b"), ["Esc", "Esc"]);
    assert_eq!(read(b"\x1b["), ["Alt+["]);
    assert_eq!(read(b"\x1bO"), ["Shift+Alt+O"]);
    assert_eq!(read(b"\x1b]"), ["Alt+]"]);
}

#[test]
fn a_pasted_escape_does_not_end_the_paste() {
    assert_eq!(read(b"\x1b\x1b[200~a\x1b[201~"), ["Esc", "paste \"a\""]);
    assert_eq!(read(b"\x1b[200~a\x1b\x1b[201~"), ["paste \"a\\u{1b}\""]);
}

#[test]
fn answers_to_queries_of_other_programs_are_never_typed() {
    for answer in [
        &b"\x1bP>|xterm(379)\x1b\\"[..],
        b"\x1b[>41;380;0c",
        b"\x1b[?64;1;2c",
        b"\x1b[=1;2c",
        b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
        b"\x1b]52;c;aGk=\x07",
        b"\x1b[?1u",
        b"\x1b[0n",
        b"\x1b[12;40R",
        b"\x1b[?2026;2$y",
        b"\x1b[4;600;800t",
        b"\x1b_Gi=31;OK\x1b\\",
        b"\x1b^x\x1b\\",
        b"\x1b]11;rgb:zz\x07",
        b"\x1bP1$r0m",
    ] {
        let mut whole = answer.to_vec();
        whole.push(b'x');
        // A cut sequence swallows the bytes that follow at once, and nothing after that.
        let expected: &[&str] = if answer.ends_with(b"0m") { &[] } else { &["x"] };
        assert_eq!(typed(read(&whole)), expected, "{:?}", String::from_utf8_lossy(answer));
        for at in 1..answer.len() {
            let (first, second) = answer.split_at(at);
            assert_eq!(typed(in_pieces(&[first, second, b"x"])), expected, "{at} {answer:?}");
        }
    }
}

#[test]
fn the_background_is_reported_among_the_keys() {
    assert_eq!(read(b"ab\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\c"), ["a", "b", "Dark", "c"]);
    assert_eq!(read(b"\x1b]11;rgb:ffff/ffff/ffff\x07"), ["Light"]);
}

#[test]
fn a_burst_with_lines_is_one_edit() {
    assert_eq!(read(b"one\rtwo\r"), ["paste \"one\\ntwo\\n\""]);
    assert_eq!(read(b"one\r\ntwo"), ["paste \"one\\ntwo\""]);
    assert_eq!(in_pieces(&[b"one\r", b"two\r", b"three"]), ["paste \"one\\ntwo\\nthree\""]);
}

#[test]
fn a_typed_line_is_sent_by_enter() {
    assert_eq!(read(b"one\r"), ["o", "n", "e", "Enter"]);
    assert_eq!(read(b"\r\r"), ["Enter", "Enter"]);
    // Keys that come one by one.
    let mut parser = Parser::default();
    for (byte, key) in [(b'a', "a"), (b'\r', "Enter"), (b'b', "b")] {
        parser.feed(&[byte]);
        assert_eq!(describe(parser.take_events()), [key]);
    }
}

#[test]
fn text_after_an_end_mark_inside_a_paste_stays_text() {
    assert_eq!(read(b"\x1b[200~a\x1b[201~y\r"), ["paste \"a\"", "y", "Enter"]);
    assert_eq!(read(b"\x1b[200~a\x1b[201~y\x1b[201~"), ["paste \"ay\""]);
    assert_eq!(read(b"\x1b[200~a\x1b[201~\x1b[B\x1b[13uy\x1b[201~"), ["paste \"a\\ry\""]);
    assert_eq!(in_pieces(&[b"\x1b[200~a\x1b[201~", b"y\r\x1b[201~"]), ["paste \"ay\\r\""]);
    // Later it is a key again.
    let mut parser = Parser::default();
    parser.feed(b"\x1b[200~a\x1b[201~");
    assert_eq!(parser.pending_timeout(), Some(PASTED));
    assert_eq!(describe(parser.timeout()), ["paste \"a\""]);
    parser.feed(b"y");
    assert_eq!(describe(parser.take_events()), ["y"]);
}

#[test]
fn an_endless_paste_is_delivered_and_continues() {
    let mut parser = Parser::default();
    parser.feed(b"\x1b[200~half");
    assert_eq!(describe(parser.take_events()), [""; 0]);
    assert_eq!(parser.pending_timeout(), Some(STALLED));
    assert_eq!(describe(parser.timeout()), ["paste \"half\""]);
    parser.feed(b"\ry\x1b[201~");
    assert_eq!(describe(parser.timeout()), ["paste \"\\ry\""]);
}

/// Pieces of what terminals send.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let known: Vec<&[u8]> = vec![
        b"a",
        b"\x1b[A",
        b"\x1b[1;5D",
        b"\x1bOP",
        b"\x1b[<0;3;4M",
        b"\x1b[M !!",
        b"\x1b[97;5u",
        b"\x1b[200~x\ry\x1b[201~",
        b"\x1b]11;rgb:00/00/00\x07",
        b"\x1bP>|t\x1b\\",
        b"\x1b[>1c",
        b"\x1b[I",
        b"\xe4\xb8\xad",
        b"\x1bx",
        b"\x03",
    ];
    proptest::sample::select(known).prop_map(<[u8]>::to_vec)
}

proptest! {
    #[test]
    fn splitting_the_bytes_does_not_change_the_events(
        parts in prop::collection::vec(piece(), 0..8),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let bytes = parts.concat();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut from = 0;
        for cut in cuts {
            pieces.push(&bytes[from..cut]);
            from = cut;
        }
        pieces.push(&bytes[from..]);
        prop_assert_eq!(in_pieces(&pieces), read(&bytes));
    }

    #[test]
    fn any_bytes_are_parsed_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut parser = Parser::default();
        parser.feed(&bytes);
        parser.take_events();
        for _ in 0..5 {
            parser.timeout();
        }
        // Only a paste may still be open.
        prop_assert!(parser.pending_timeout().is_none());
    }
}

#[test]
fn answers_about_pictures_are_told_from_keys_in_any_pieces() {
    let bytes: &[u8] =
        b"a\x1b_Gi=31;OK\x1b\\\x1b_Gi=32;ENOTSUP:x\x1b\\\x1b[6;20;10t\x1b[?62;4;22cb";
    let size = "told CellSize(CellSize { width: 10, height: 20 })";
    let end = "told Attributes { sixel: true }";
    for cut in 0..bytes.len() {
        let seen = in_pieces(&[&bytes[..cut], &bytes[cut..]]);
        assert_eq!(seen, ["a", "told Kitty", size, end, "b"], "cut at {cut}");
    }
}

#[test]
fn the_place_of_the_cursor_is_told_from_keys_in_any_pieces() {
    let bytes: &[u8] = b"a\x1b[2;5R\x1b[1;2Rb\x1b[2;9R";
    for cut in 0..bytes.len() {
        let seen = in_pieces(&[&bytes[..cut], &bytes[cut..]]);
        assert_eq!(seen, ["a", "lines Solid", "b", "lines Dashed"], "cut at {cut}");
    }
}
