//! The marks of a text, from the author's words to the message sent.

use proptest::prelude::*;

use super::super::bias::BiasAmount;
use super::*;

/// The pieces in one line: the author's text unchanged, marks in angle brackets.
fn shown(draft: &MessageText) -> String {
    draft
        .pieces()
        .iter()
        .map(|piece| match piece {
            TextSpan::Own(text) => text.clone(),
            TextSpan::Given(text) => format!("<given {text}>"),
            TextSpan::Mark { mark: PlaceholderMark::Ask(ask), .. } => format!("<ask {}>", ask.name),
            TextSpan::Mark { mark: PlaceholderMark::Invoke(call), .. } => {
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
            TextSpan::Mark { mark: PlaceholderMark::Pattern(p), .. } => {
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

fn read(text: &str) -> String {
    shown(&MessageText::read(text))
}

#[test]
fn isdk_065_a_name_in_double_brackets_waits_for_a_reply() {
    assert_eq!(read("讲个笑话：[[JOKE]] 希望您喜欢！"), "讲个笑话：<ask JOKE> 希望您喜欢！");
    assert_eq!(read("[[答案_1]][[B]]"), "<ask 答案_1><ask B>");
    assert_eq!(read("[[[A]]]"), "[<ask A>]");
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
        assert_eq!(read(text), text);
    }
}

#[test]
fn a_backslash_keeps_the_brackets() {
    assert_eq!(read("\\[[A]] and [[B]] \\((x:1))"), "[[A]] and <ask B> ((x:1))");
}

#[test]
fn isdk_071_a_call_keeps_its_arguments_as_written() {
    assert_eq!(read("[[@calculator(5+2)]]"), "<run calculator 5+2>");
    assert_eq!(
        read("[[@lib/my-tool_2(a=\"x]]\", b=f(1, 2))]]"),
        "<run lib/my-tool_2 a=\"x]]\"|b=f(1, 2)>"
    );
    assert_eq!(read("[[@file(don't.txt)]]"), "<run file don't.txt>");
    assert_eq!(read("[[@文件]]"), "<run 文件 >");
}

#[test]
fn isdk_072_a_dollar_calls_a_directive() {
    assert_eq!(read("[[@$echo]] [[@$inc(3)]]"), "<do echo > <do inc 3>");
}

#[test]
fn isdk_076_the_pattern_goes_up_to_the_last_slash() {
    assert_eq!(
        read("[[/<RESULT>(.+)</RESULT>/:Answer]]"),
        "<find <RESULT>(.+)</RESULT>  Answer ->"
    );
    assert_eq!(read("[[/[^\\]]+]]/i:A:2]] x"), "<find [^\\]]+]] i A 2> x");
    assert_eq!(read("[[/(?<k>\\w)=(\\w)/:a.b:k]]"), "<find (?<k>\\w)=(\\w)  a.b k>");
    assert_eq!(read("[[/a/:A]] [[/b/:B]]"), "<find a  A -> <find b  B ->");
}

#[test]
fn isdk_110_bias_marks_leave_the_text_and_are_kept() {
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
        let at = draft
            .next_invoke()
            .map(|(at, _)| at)
            .or(draft.next_pattern().map(|(at, _)| at))
            .unwrap();
        draft.fill(at, value);
        draft.settle().text()
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
    let (at, _) = draft.next_invoke().unwrap();
    draft.fill(at, "[[B]] {{b}} [[@g]] ((x:1))");
    assert!(draft.next_invoke().is_none());
    let sealed = draft.seal();
    assert!(!sealed.template().contains("{{b}}"));
    let rendered = sealed.template().replace("{{a}}", "[[C]] {{c}}");
    let mut settled = sealed.open(&rendered);
    let (at, ask) = settled.next_ask().unwrap();
    assert_eq!(ask.name, "A");
    assert_eq!(settled.before(at), "[[C]] {{c}} [[B]] {{b}} [[@g]] ((x:1)) ");
    settled.fill(at, "[[D]]");
    assert!(settled.next_ask().is_none());
    assert_eq!(settled.text(), "[[C]] {{c}} [[B]] {{b}} [[@g]] ((x:1)) [[D]]");
}

#[test]
fn a_mark_inside_a_template_loop_appears_once_per_iteration() {
    let sealed = MessageText::read("x[[A]]").seal();
    let rendered = sealed.template().repeat(2);
    assert_eq!(sealed.open(&rendered).shards().len(), 4);
}

#[test]
fn a_placeholder_in_foreign_text_reveals_nothing() {
    let sealed = MessageText::read("{{a}}[[A]]").seal();
    let rendered = sealed.template().replace("{{a}}", "\u{FDD0}0000000000000000.0\u{FDD1}");
    assert_eq!(sealed.open(&rendered).shards().len(), 2);
}

#[test]
fn a_text_full_of_openings_is_parsed_in_time() {
    let text = "[[@a(((".repeat(100_000);
    assert_eq!(MessageText::read(&text).settle().text(), text);
    let text = "[[/a/".repeat(50_000) + "]]";
    assert_eq!(MessageText::read(&text).settle().text().len(), text.len());
}

proptest! {
    #[test]
    fn any_text_is_parsed_and_nothing_is_lost(text in "[\\[\\](){}@$/:|,='\"\\\\ a-cA-C0-9\n字]{0,80}") {
        let draft = MessageText::read(&text);
        if draft.bias().is_empty() && !text.contains('\\') {
            prop_assert_eq!(draft.settle().text(), text);
        }
    }

    #[test]
    fn every_reader_takes_any_text(text in "\\PC{0,60}", marks in "[\\[\\](){}@$/:|,='\"#~!?+>\\-. a1]{0,60}") {
        for text in [text, marks] {
            let _ = super::super::args::read(&text);
            let _ = super::super::args::call(&text);
            let _ = super::super::args::chain(&text);
            let _ = super::super::relaxed::read(&text);
            let _ = super::super::roles::key(&text);
            let _ = super::super::roles::leading(&text, |_| true);
            let _ = super::super::lead::read(&text, super::super::lead::PrefixPosition::Message);
            let _ = MessageText::read(&format!("[[A:{text}]] [[@a({text})]] [[/{text}/:A]] (({text}:1))"));
        }
    }
}
