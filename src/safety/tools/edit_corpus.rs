//! Holds the edits that models write with slips to what a careful person would make of them, class
//! by class, and random slips to the only place they can mean.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::ToolTask;
use super::edit::{TextEdit, apply};
use super::tests::FakeFiles;
use crate::Verdict;
use avocet_core::protocol::reply::read_call;
use avocet_core::protocol::{StepAction, ToolCall};

const CASES: &str = include_str!("../../../tests/fixtures/edits/cases.jsonl");

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    right: usize,
    refused: usize,
    wrong: usize,
}

enum Outcome {
    Right,
    Refused,
    Wrong(String),
}

fn bytes(case: &Value, field: &str) -> Option<Vec<u8>> {
    STANDARD.decode(case[field].as_str()?).ok()
}

fn assess(case: &Value, files: &FakeFiles) -> Verdict {
    let file = case["file"].as_str().unwrap_or_default();
    let path = case["path"].as_str().unwrap_or("{f}").replace("{f}", file);
    let path = path.replace("{upper}", &file.to_uppercase());
    match case["kind"].as_str() {
        Some("write") => {
            files.assess("file.write", json!({ "path": path, "content": case["write"] }))
        }
        Some("edit") => files.assess("file.edit", json!({ "path": path, "edits": case["edits"] })),
        _ => {
            let raw = &case["raw"];
            let arguments = raw["args"].to_string().replace("{f}", file);
            let name = raw["tool"].as_str().unwrap_or_default().to_owned();
            let call = ToolCall { id: "1".into(), name, arguments, opaque: None };
            let step = read_call(&call).expect("it is read");
            match step.work {
                StepAction::Tool { name, input } => files.assess(&name, input),
                StepAction::Exec { program, .. } => {
                    files.assess("exec", json!({ "program": program }))
                }
                StepAction::Shell { .. } => unreachable!("no call is a line of the user"),
            }
        }
    }
}

fn outcome(case: &Value) -> Outcome {
    let file = format!("/w/{}", case["file"].as_str().unwrap_or_default());
    let content = bytes(case, "content");
    let text = content.as_deref().map(String::from_utf8_lossy);
    let there: Vec<(&str, &str)> = text.iter().map(|text| (file.as_str(), text.as_ref())).collect();
    let verdict = assess(case, &FakeFiles::with(&there));
    let Some(ToolTask::Change(write)) = &verdict.judgement().task else { return Outcome::Refused };
    let after = write.after.as_deref().unwrap_or_default();
    let after = String::from_utf8_lossy(after).into_owned();
    let loose = |text: &str| {
        if case["loose_ends"] == json!(true) { text.replace("\r\n", "\n") } else { text.to_owned() }
    };
    let any = case["want_any"].as_array().into_iter().flatten();
    let any = any.filter_map(|want| STANDARD.decode(want.as_str()?).ok());
    let mut wanted = bytes(case, "want").into_iter().chain(any);
    if wanted.any(|want| loose(&String::from_utf8_lossy(&want)) == loose(&after)) {
        return Outcome::Right;
    }
    if let (Some(like), Some(meant)) = (case["want_like"].as_str(), case["true_old"].as_str()) {
        let (before, behind) =
            text.as_deref().and_then(|text| text.split_once(meant)).unwrap_or_default();
        if after.contains(like) && after.starts_with(before) && after.ends_with(behind.trim_start())
        {
            return Outcome::Right;
        }
    }
    Outcome::Wrong(after)
}

/// Cases that are refused at most, by class: of the others every one is right.
#[rustfmt::skip]
const REFUSED: &[(&str, usize)] = &[
    // Dots for what is left out, a new text that is not there, and text that was rewritten.
    ("elided", 3), ("format", 1), ("spacing", 1), ("quote-kind", 1), ("wrapped", 2),
    // The name of a file in other letters: the near names are listed.
    ("path", 1),
];

#[test]
fn edits_with_slips_are_made_or_refused_class_by_class() {
    let mut classes: BTreeMap<String, Counts> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let counts = classes.entry(case["class"].as_str().unwrap_or_default().into()).or_default();
        let has_wish = case["want"].is_string()
            || case["want_any"].is_array()
            || case["want_like"].is_string();
        match outcome(&case) {
            Outcome::Right => counts.right += 1,
            Outcome::Refused if !has_wish => counts.right += 1,
            Outcome::Refused => counts.refused += 1,
            Outcome::Wrong(after) => {
                counts.wrong += 1;
                wrong.push((case["id"].to_string(), after));
            }
        }
    }
    for (class, counts) in &classes {
        let most = REFUSED.iter().find(|(known, _)| known == class).map_or(0, |(_, most)| *most);
        assert!(counts.refused <= most, "{class}: {counts:?}");
    }
    assert_eq!(wrong, []);
}

/// What a model may do to a text that it copies.
#[derive(Clone, Copy, Debug)]
enum Mistake {
    TrailingBlank,
    LostTrailing,
    Indent(isize),
    TabsToBlanks,
    BlanksToTabs,
    Straight,
    Decomposed,
    Numbers,
    LostEmptyLine,
    ExtraEmptyLine,
    Fence,
    Marks,
    Entities,
    Escaped,
}

fn each_line(text: &str, change: impl Fn(usize, &str) -> String) -> String {
    text.split_inclusive('\n')
        .enumerate()
        .map(|(at, line)| {
            let content = line.trim_end_matches('\n');
            change(at, content) + line.get(content.len()..).unwrap_or_default()
        })
        .collect()
}

fn mistaken(text: &str, mistake: Mistake, mark: char) -> String {
    match mistake {
        Mistake::TrailingBlank => each_line(text, |_, line| format!("{line} ")),
        Mistake::LostTrailing => each_line(text, |_, line| line.trim_end().to_owned()),
        Mistake::Indent(by) if by > 0 => {
            each_line(
                text,
                |_, line| if line.is_empty() { String::new() } else { format!("    {line}") },
            )
        }
        Mistake::Indent(_) => {
            each_line(text, |_, line| line.strip_prefix("  ").unwrap_or(line).to_owned())
        }
        Mistake::TabsToBlanks => text.replace('\t', "    "),
        Mistake::BlanksToTabs => text.replace("  ", "\t"),
        Mistake::Straight => text.replace('’', "'").replace('—', "-").replace('\u{a0}', " "),
        Mistake::Decomposed => text.replace('é', "e\u{301}"),
        Mistake::Numbers => each_line(text, |at, line| format!("{}\t{line}", at + 7)),
        Mistake::LostEmptyLine => text.replacen("\n\n", "\n", 1),
        Mistake::ExtraEmptyLine => text.replacen('\n', "\n\n", 1),
        Mistake::Fence => format!("```\n{text}```"),
        Mistake::Marks => each_line(text, |_, line| format!("{mark}{line}")),
        Mistake::Entities => text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"),
        Mistake::Escaped => text.replace('\\', "\\\\").replace('"', "\\\""),
    }
}

fn any_mistake() -> impl Strategy<Value = Mistake> {
    prop_oneof![
        Just(Mistake::TrailingBlank),
        Just(Mistake::LostTrailing),
        Just(Mistake::Indent(1)),
        Just(Mistake::Indent(-1)),
        Just(Mistake::TabsToBlanks),
        Just(Mistake::BlanksToTabs),
        Just(Mistake::Straight),
        Just(Mistake::Decomposed),
        Just(Mistake::Numbers),
        Just(Mistake::LostEmptyLine),
        Just(Mistake::ExtraEmptyLine),
        Just(Mistake::Fence),
        Just(Mistake::Marks),
        Just(Mistake::Entities),
        Just(Mistake::Escaped),
    ]
}

/// Lines of so few kinds that many are alike.
fn any_line() -> impl Strategy<Value = String> {
    let indent = prop_oneof![Just(""), Just("  "), Just("    "), Just("\t"), Just("\t\t")];
    let content = prop_oneof![
        Just("a"),
        Just("b = 1"),
        Just("it’s"),
        Just("it's"),
        Just("café — x"),
        Just("}"),
        Just(""),
        Just("if a < b && c"),
        Just("s = \"\\n\""),
        Just("a  b"),
        Just("12\tx"),
        Just("- y"),
    ];
    let trail = prop_oneof![4 => Just(""), 1 => Just(" "), 1 => Just("\u{a0}")];
    let line = (indent, content, trail);
    line.prop_map(|(indent, content, trail)| match content {
        "" => String::new(),
        content => format!("{indent}{content}{trail}"),
    })
}

#[test]
fn an_edit_that_fits_two_places_which_overlap_is_refused() {
    let file = "a  b \n}\na  b\n}\na\n";
    let edit =
        |old: &str| TextEdit { old: old.into(), new: format!("{old}\nx"), ..TextEdit::default() };
    assert!(apply(file, &[edit("a  b \n} \na ")]).is_err());
    let alone = "}\na  b\n}\na\n";
    assert!(apply(alone, &[edit("a  b \n} \na ")]).is_ok());
}

#[test]
fn an_edit_counts_as_made_only_where_its_whole_text_is_in_one_place() {
    let file = "export function total(items) {\n  return items.length;\n}\n";
    let fault = |old: &str, new: &str| {
        let edit = TextEdit { old: old.into(), new: new.into(), ..TextEdit::default() };
        apply(file, &[edit]).unwrap_err().say.to_string()
    };
    let made = fault("items.size", "items.length");
    assert!(made.contains("`new` already"), "{made}");
    for (old, new) in [("nothing like this", "x"), ("sum(rows)", "items"), ("count", "}\n")] {
        let fault = fault(old, new);
        assert!(!fault.contains("`new` already"), "{old}: {fault}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// Whatever the file and the slips: an edit is made where it was meant, or not at all.
    #[test]
    fn an_edit_with_slips_is_never_made_at_another_place(
        lines in prop::collection::vec(any_line(), 3..14),
        start in 0usize..12,
        length in 1usize..5,
        first in any_mistake(),
        second in prop::option::of(any_mistake()),
        crlf in any::<bool>(),
        ends in any::<bool>(),
    ) {
        let start = start.min(lines.len() - 1);
        let end = (start + length).min(lines.len());
        prop_assume!(lines[start..end].iter().any(|line| !line.trim().is_empty()));
        let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let (mut before, meant, mut after) = (text(&lines[..start]), text(&lines[start..end]), text(&lines[end..]));
        let new = format!("{meant}MARKED\n");
        let slip = |text: &str, mark| {
            let once = mistaken(text, first, mark);
            second.map_or(once.clone(), |second| mistaken(&once, second, mark))
        };
        let (mut old, mut new) = (slip(&meant, '-'), slip(&new, '+'));
        if !ends {
            old = old.trim_end_matches('\n').to_owned();
            new = new.trim_end_matches('\n').to_owned();
        }
        let mut file = format!("{before}{meant}{after}");
        if crlf {
            [&mut before, &mut after, &mut file].into_iter().for_each(|text| *text = text.replace('\n', "\r\n"));
        }
        // A text that the slips made the exact copy of another place means that one.
        let is_copy = file.replace("\r\n", "\n").contains(&old) || file.contains(&old);
        prop_assume!(!old.is_empty());
        let edit = TextEdit { old: old.clone(), new, ..TextEdit::default() };
        if let (false, Ok(done)) = (is_copy, apply(&file, &[edit])) {
            let (before, after) = (before.trim_end(), after.trim_start());
            let at = done.text.find("MARKED");
            prop_assert!(
                done.text.starts_with(before)
                    && done.text.ends_with(after)
                    && at.is_some_and(|at| at >= before.len() && at <= done.text.len() - after.len()),
                "file {file:?}\nold {old:?}\nbecame {:?}", done.text
            );
        }
    }
}
