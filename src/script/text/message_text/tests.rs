//! The marks of a text, from the author's words to the message sent.

use proptest::prelude::*;

use super::super::bias::BiasAmount;
use super::*;

/// The pieces in one line: the author's text unchanged, marks in angle brackets.
fn shown(draft: &MessageText) -> String {
    draft
        .spans()
        .iter()
        .map(|piece| match piece {
            TextSpan::Author(text) => text.clone(),
            TextSpan::Literal(text) => format!("<given {text}>"),
            TextSpan::Mark { mark: PlaceholderMark::Placeholder(ask), .. } => {
                format!("<ask {}>", ask.name)
            }
            TextSpan::Mark { mark: PlaceholderMark::Call(call), .. } => {
                let args: Vec<_> = call
                    .args
                    .iter()
                    .map(|arg| {
                        arg.name
                            .as_ref()
                            .map_or(arg.expr.clone(), |name| format!("{name}={}", arg.expr))
                    })
                    .collect();
                format!(
                    "<{} {} {}>",
                    if call.directive { "do" } else { "run" },
                    call.name,
                    args.join("|")
                )
            }
            TextSpan::Mark { mark: PlaceholderMark::Regex(p), .. } => {
                format!(
                    "<find {} {} {} {}>",
                    p.source,
                    p.flags,
                    p.variable,
                    p.group.as_deref().unwrap_or("-")
                )
            }
        })
        .collect()
}

fn parse_and_show(text: &str) -> String {
    shown(&MessageText::read(text))
}

#[test]
fn isdk_065_a_name_in_double_brackets_waits_for_a_reply() {
    assert_eq!(
        parse_and_show("讲个笑话：[[JOKE]] 希望您喜欢！"),
        "讲个笑话：<ask JOKE> 希望您喜欢！"
    );
    assert_eq!(parse_and_show("[[答案_1]][[B]]"), "<ask 答案_1><ask B>");
    assert_eq!(parse_and_show("[[[A]]]"), "[<ask A>]");
}

#[test]
fn text_that_only_looks_like_a_mark_is_text() {
    for text in [
        "if [[ -f x ]]; then",
        "[[1, 2], [3]]",
        "[[\"a\"]]",
        "[[A",
        "[[]]",
        "[[A B]]",
        "[[A:\n]]",
        "[[@]]",
        "[[@a(]]",
        "[[//:A]]",
        "[[/a/:]]",
        "[[$x]]",
        "[A]",
        "((a))",
        "((x:1",
        "(defun f ((x:int)) x)",
        "\\",
        "\\(",
        "plain [text]",
    ] {
        assert_eq!(parse_and_show(text), text);
    }
}

#[test]
fn a_backslash_keeps_the_brackets() {
    assert_eq!(parse_and_show("\\[[A]] and [[B]] \\((x:1))"), "[[A]] and <ask B> ((x:1))");
}

#[test]
fn isdk_071_a_call_keeps_its_arguments_as_written() {
    assert_eq!(parse_and_show("[[@calculator(5+2)]]"), "<run calculator 5+2>");
    assert_eq!(
        parse_and_show("[[@lib/my-tool_2(a=\"x]]\", b=f(1, 2))]]"),
        "<run lib/my-tool_2 a=\"x]]\"|b=f(1, 2)>"
    );
    assert_eq!(parse_and_show("[[@file(don't.txt)]]"), "<run file don't.txt>");
    assert_eq!(parse_and_show("[[@文件]]"), "<run 文件 >");
}

#[test]
fn isdk_072_a_dollar_calls_a_directive() {
    assert_eq!(parse_and_show("[[@$echo]] [[@$inc(3)]]"), "<do echo > <do inc 3>");
}

#[test]
fn isdk_076_the_pattern_extends_to_the_last_slash() {
    assert_eq!(
        parse_and_show("[[/<RESULT>(.+)</RESULT>/:Answer]]"),
        "<find <RESULT>(.+)</RESULT>  Answer ->"
    );
    assert_eq!(parse_and_show("[[/[^\\]]+]]/i:A:2]] x"), "<find [^\\]]+]] i A 2> x");
    assert_eq!(parse_and_show("[[/(?<k>\\w)=(\\w)/:a.b:k]]"), "<find (?<k>\\w)=(\\w)  a.b k>");
    assert_eq!(parse_and_show("[[/a/:A]] [[/b/:B]]"), "<find a  A -> <find b  B ->");
}

#[test]
fn isdk_110_bias_marks_are_removed_from_the_text_and_recorded() {
    let draft = MessageText::read("Write ((!bad:false)) a ((happy:20%)) line");
    assert_eq!(shown(&draft), "Write a happy line");
    assert_eq!(
        draft.bias().iter().map(|bias| bias.by).collect::<Vec<_>>(),
        [BiasAmount::Never, BiasAmount::Share(0.2)]
    );
}

/// ISDK-073, 080: one space each side.
#[test]
fn isdk_073_extra_spaces_around_a_result_are_removed() {
    let filled = |text: &str, value: &str| {
        let mut draft = MessageText::read(text);
        let at =
            draft.next_call().map(|(at, _)| at).or(draft.next_pattern().map(|(at, _)| at)).unwrap();
        draft.fill(at, value);
        draft.into_unrendered().text()
    };
    assert_eq!(filled("is   [[@f]]   ok", "7"), "is 7 ok");
    assert_eq!(filled("is [[@f]] ok", "7"), "is 7 ok");
    assert_eq!(filled("is [[@f]] ok", ""), "is ok");
    assert_eq!(filled("是[[@f]]。", "7"), "是7。");
    assert_eq!(filled("a:\n    [[/x/:V]]", "7"), "a:\n    7");
    assert_eq!(filled("[[@f]] ok", ""), "ok");
}

#[test]
fn filled_in_text_is_never_parsed_again() {
    let mut draft = MessageText::read("{{a}} [[@f]] [[A]]");
    let (at, _) = draft.next_call().unwrap();
    draft.fill(at, "[[B]] {{b}} [[@g]] ((x:1))");
    assert!(draft.next_call().is_none());
    let sealed = draft.mask();
    assert!(!sealed.template().contains("{{b}}"));
    let rendered = sealed.template().replace("{{a}}", "[[C]] {{c}}");
    let mut settled = sealed.unmask(&rendered);
    let (at, ask) = settled.next_placeholder().unwrap();
    assert_eq!(ask.name, "A");
    assert_eq!(settled.text_before(at), "[[C]] {{c}} [[B]] {{b}} [[@g]] ((x:1)) ");
    settled.fill(at, "[[D]]");
    assert!(settled.next_placeholder().is_none());
    assert_eq!(settled.text(), "[[C]] {{c}} [[B]] {{b}} [[@g]] ((x:1)) [[D]]");
}

#[test]
fn a_mark_inside_a_template_loop_appears_once_per_iteration() {
    let sealed = MessageText::read("x[[A]]").mask();
    let rendered = sealed.template().repeat(2);
    assert_eq!(sealed.unmask(&rendered).spans().len(), 4);
}

#[test]
fn a_forged_mask_in_foreign_text_is_not_replaced() {
    let sealed = MessageText::read("{{a}}[[A]]").mask();
    let rendered = sealed.template().replace("{{a}}", "\u{FDD0}0000000000000000.0\u{FDD1}");
    assert_eq!(sealed.unmask(&rendered).spans().len(), 2);
}

#[test]
fn a_text_full_of_openings_is_parsed_in_time() {
    let text = "[[@a(((".repeat(100_000);
    assert_eq!(MessageText::read(&text).into_unrendered().text(), text);
    let text = "[[/a/".repeat(50_000) + "]]";
    assert_eq!(MessageText::read(&text).into_unrendered().text().len(), text.len());
}

proptest! {
    #[test]
    fn any_text_is_parsed_and_nothing_is_lost(text in "[\\[\\](){}@$/:|,='\"\\\\ a-cA-C0-9\n字]{0,80}") {
        let draft = MessageText::read(&text);
        if draft.bias().is_empty() && !text.contains('\\') {
            prop_assert_eq!(draft.into_unrendered().text(), text);
        }
    }

    #[test]
    fn every_reader_takes_any_text(text in "\\PC{0,60}", marks in "[\\[\\](){}@$/:|,='\"#~!?+>\\-. a1]{0,60}") {
        for text in [text, marks] {
            let _ = super::super::args::read(&text);
            let _ = super::super::args::parse_call(&text);
            let _ = super::super::args::parse_chain(&text);
            let _ = super::super::json5::read(&text);
            let _ = super::super::roles::parse_key(&text);
            let _ = super::super::roles::parse_leading(&text, |_| true);
            let _ = super::super::prefix::parse_prefix(&text, super::super::prefix::PrefixPosition::Message);
            let _ = MessageText::read(&format!("[[A:{text}]] [[@a({text})]] [[/{text}/:A]] (({text}:1))"));
        }
    }
}
