//! Splitting gives the same pieces however the text arrives.

use proptest::prelude::*;

use super::*;

fn text_from_chunks<'a>(chunks: impl IntoIterator<Item = &'a str>) -> StreamingText {
    let mut text = StreamingText::new(TextSyntax::Markdown);
    for chunk in chunks {
        text.source_mut().push_str(chunk);
        text.freeze_finished();
    }
    text
}

fn parts(text: &StreamingText) -> Vec<String> {
    (0..text.len())
        .map(|at| format!("{}{:?}", u8::from(text.has_blank_before(at)), text.part(at)))
        .collect()
}

#[test]
fn a_block_is_frozen_when_the_next_one_has_a_whole_line() {
    let mut text = text_from_chunks(["# Title\n\nFirst ", "paragraph.\n", "\nSec"]);
    assert_eq!(text.ends(), [9]);
    text.source_mut().push_str("ond.\n");
    text.freeze_finished();
    assert_eq!(text.ends(), [9, 27]);
    assert_eq!(text.len(), 3);
    text.finish();
    assert_eq!(text.ends().len(), 3);
}

#[test]
fn half_a_line_freezes_nothing() {
    // `#` alone would be a heading, `#b` belongs to the paragraph.
    let mut text = text_from_chunks(["foo\n#", "b\n"]);
    text.finish();
    assert_eq!(text.ends(), [7]);
}

#[test]
fn an_open_fence_is_the_tail_and_its_whole_lines_are_frozen() {
    let lines: String = (0..200).map(|n| format!("line {n}\n")).collect();
    let mut text = text_from_chunks(["```rust\n", &lines, "more"]);
    assert_eq!(text.ends().len(), 3);
    assert!(matches!(text.part(0), TextPart::Code { head: true, .. }));
    let TextPart::Code { code, head: false, .. } = text.part(text.len() - 1) else {
        panic!("no code")
    };
    assert!(code.ends_with("line 199\nmore"), "{code}");
    text.source_mut().push_str("\n```\n\nAfter.\n\n");
    text.freeze_finished();
    text.finish();
    assert_eq!(text.part(text.len() - 1), TextPart::Markdown("\nAfter.\n\n"));
    let code: String = (0..text.len())
        .filter_map(|at| match text.part(at) {
            TextPart::Code { code, .. } => Some(code),
            _ => None,
        })
        .collect();
    assert_eq!(code, format!("{lines}more\n"));
}

#[test]
fn a_long_list_is_split_between_items() {
    let list: String = (1..2000).map(|n| format!("{n}. item number {n}\n")).collect();
    let text = text_from_chunks([list.as_str()]);
    assert!(text.ends().len() > 10);
    assert!(text.source.len() - text.frozen < 100, "the tail is the last item");
    assert!((1..text.len()).all(|at| !text.has_blank_before(at)));
}

#[test]
fn an_endless_line_does_not_stay_in_the_tail() {
    let text = text_from_chunks(std::iter::repeat_n("风🙂", 30_000));
    assert!(text.source.len() - text.frozen <= TOO_LONG + LONG);
}

#[test]
fn a_replacement_is_a_new_edition() {
    let mut text = text_from_chunks(["old\n"]);
    let version = text.version(0);
    text.replace("new\n".into(), TextSyntax::Markdown);
    assert_ne!(text.version(0), version);
    let version = text.version(0);
    text.replace("new\n".into(), TextSyntax::Markdown);
    assert_eq!(text.version(0), version);
}

fn markdown() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "# Title",
        "text",
        "text with `code`",
        "",
        "",
        "- item",
        "  - nested",
        "1. one",
        "> quote",
        "```rust",
        "```",
        "~~~",
        "    indented",
        "| a | b |",
        "|---|---|",
        "***",
        "---",
        "===",
        "<div>",
        "#",
        "-",
        "   ```",
        "\n[a]: http://b\n",
        "\t- x",
        "$ * 中文，",
        "  ",
        "- [x] done",
    ]);
    prop::collection::vec(line, 0..40).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn pieces_do_not_depend_on_chunk_boundaries(source in markdown(), size in 1usize..9) {
        let chars: Vec<char> = source.chars().collect();
        let chunks: Vec<String> = chars.chunks(size).map(|chunk| chunk.iter().collect()).collect();
        let mut slow = text_from_chunks(chunks.iter().map(String::as_str));
        slow.finish();
        let fast = StreamingText::from_source(source, TextSyntax::Markdown);
        prop_assert_eq!(parts(&slow), parts(&fast));
    }

    #[test]
    fn pieces_cover_the_source(source in any::<String>()) {
        for form in [TextSyntax::Markdown, TextSyntax::Plain] {
            let text = StreamingText::from_source(source.clone(), form);
            let ends = text.ends();
            prop_assert!(ends.is_sorted());
            let at = ends.last().copied().unwrap_or_default();
            let rest = source.get(at..).unwrap();
            prop_assert!(rest.trim().is_empty() || form == TextSyntax::Markdown);
        }
    }
}
