//! What must hold for any bytes. A target feeds these with what the fuzzer finds, a test
//! of the ordinary suite with the seeds. Each panics when something does not hold.

use std::path::PathBuf;

use avocet::protocol::reply::{self, ParsedReply, Reply};
use avocet::protocol::streaming::Partial;
use avocet::protocol::{Requires, Risk, Step, StepAction, Tier};
use avocet::safety::sanitize::{CarriageReturnMode, Cleaner, clean};
use avocet::safety::tools::digest;
use avocet::safety::{
    self, Contents, Machine, PathKind, Policy, PolicyContext, PolicyRule, Program, Workspace,
    is_rule,
};
use avocet::script::syntax::{self, ScriptValue, Tree};
use avocet::script::text::{MessageText, args, json5};
use avocet::script::tool_protocol;
use avocet::text::escape;

#[path = "../../tests/support/machine.rs"]
mod machine;

use machine::TestMachine;

fn with_scene<T>(judge: impl FnOnce(PolicyContext<'_>) -> T) -> T {
    let folder = PathBuf::from("/w");
    let place = Workspace::new(folder, "/h");
    judge(PolicyContext { policy: &Policy::default(), place: &place, world: &TestMachine::EMPTY })
}

fn sound(risk: &Risk) {
    let worst = risk.reasons.iter().map(|reason| reason.tier).max();
    assert_eq!(Some(risk.tier), worst, "the gravest reason decides: {risk:?}");
    for reason in &risk.reasons {
        assert!(is_rule(&reason.rule), "{} is not listed", reason.rule);
    }
}

/// A program and its arguments, one a line: judged without a panic, never harmless with
/// a character in it that hides, and a rule read from it reads back.
pub fn arguments(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(rule) = PolicyRule::parse(&text) {
        let again = PolicyRule::parse(&rule.to_string());
        assert_eq!(again.as_ref().ok(), Some(&rule), "{rule} does not read back");
    }
    let mut words = text.split('\n').map(str::to_owned);
    let program = words.next().unwrap_or_default();
    let args: Vec<String> = words.collect();
    let hides = args.iter().any(|arg| arg.contains(safety::is_hidden));
    let work = StepAction::Exec { program, args };
    let step = Step { id: String::new(), work, requires: Requires::default(), cwd: None };
    let all = Requires {
        confirm: true,
        elevated: true,
        network: true,
        write: true,
        ..Requires::default()
    };
    let stricter = Step { requires: all, ..step.clone() };
    let risk = with_scene(|scene| safety::assess(step, scene).judgement().risk.clone());
    sound(&risk);
    assert!(!hides || risk.tier > Tier::L0, "{risk:?}");
    let worse = with_scene(|scene| safety::assess(stricter, scene).judgement().risk.tier);
    assert!(worse >= risk.tier, "asking for more made it milder");
}

/// A line for a shell: judged without a panic, and never milder than a part of it.
pub fn shell(data: &[u8]) {
    let line = String::from_utf8_lossy(data);
    let (risk, pieces) = with_scene(|scene| {
        let verdict = safety::assess_shell("", &line, scene);
        (verdict.judgement().risk.clone(), verdict.judgement().pieces.clone())
    });
    sound(&risk);
    for piece in &pieces {
        assert!(piece.risk.tier <= risk.tier, "{} is worse than the line", piece.text);
    }
    if risk.tier == Tier::L0 {
        assert!(!line.contains(safety::is_hidden), "{line:?}");
    }
}

/// Foreign text: nothing that controls a terminal is left, wherever it was cut.
pub fn cleaner(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let half = text.floor_char_boundary(text.len() / 2);
    for source in [CarriageReturnMode::EndsLine, CarriageReturnMode::OverwritesLine] {
        let whole = clean(&text, source);
        let controls = |c: char| c.is_control() && c != '\n' && c != '\t';
        assert!(!whole.contains(controls), "{whole:?}");
        assert!(!whole.contains(['\u{202e}', '\u{2066}', '\u{200b}', '\u{e0041}']), "{whole:?}");
        let mut cleaner = Cleaner::new(source);
        let mut pieces = String::new();
        let (first, second) = text.split_at(half);
        cleaner.push(first, &mut pieces);
        cleaner.push(second, &mut pieces);
        cleaner.finish(&mut pieces);
        assert_eq!(pieces, whole, "cut at {half}");
    }
    let escaped = escape(&text);
    assert!(!escaped.text.chars().any(char::is_control), "{:?}", escaped.text);
}

/// A model's answer: read without a panic, and what is shown while it grows is the
/// beginning of what it says in the end.
pub fn reply(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let reading = reply::read(&text);
    let _ = reply::first_object(&text);
    let mut growing = Partial::new();
    let half = text.floor_char_boundary(text.len() / 2);
    let (first, second) = text.split_at(half);
    let mut shown = growing.push(first);
    shown.push_str(&growing.push(second));
    let mut at_once = Partial::new();
    assert_eq!(at_once.push(&text), shown, "cut at {half}");
    if let ParsedReply::Valid { reply: Reply::Cmd { commands, .. }, .. } = reading {
        assert!(commands.len() <= reply::MAX_COMMANDS);
    }
}

/// A script: read, or refused with a place that is in it. Line ends make no difference, and
/// every node stands in the file.
pub fn script(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    // A carriage return alone ends a line, too.
    let ends = text.replace("\r\n", "\n");
    let lines = u32::try_from(ends.split(['\n', '\r']).count()).unwrap_or(u32::MAX);
    let read = syntax::parse("f", &text);
    match &read {
        Ok(document) => {
            within(&document.front_matter, lines);
            document.body.iter().for_each(|node| within(node, lines));
        }
        Err(failure) => {
            let spot = failure.location.as_ref().expect("a fault has a place");
            assert!(spot.position.line >= 1 && spot.position.column >= 1, "{failure}");
            assert!(spot.position.line <= lines + 1, "{failure} in {lines} lines");
        }
    }
    if !text.contains('\r') {
        let other = syntax::parse("f", &text.replace('\n', "\r\n"));
        assert_eq!(other, read, "with the other line ends it is another script");
    }
}

fn within(node: &ScriptValue, lines: u32) {
    assert!(node.position.line >= 1 && node.position.line <= lines + 1, "{:?}", node.position);
    match &node.tree {
        Tree::List(items) => items.iter().for_each(|item| within(item, lines)),
        Tree::Map(pairs) => pairs.iter().for_each(|(key, value)| {
            within(key, lines);
            within(value, lines);
        }),
        _ => {}
    }
}

/// Calls and their arguments, as an author and as a model writes them: read without a
/// panic, within the limits, and what is written back is read the same.
pub fn calls(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let given = args::read(&text);
    assert!(given.len() <= args::MAX_ARGUMENTS);
    for arg in &given {
        assert_eq!(arg.expr, arg.expr.trim(), "an argument keeps the space around it");
        assert!(arg.name.as_deref() != Some(""), "a name that is none");
    }
    for call in
        args::parse_call(&text).into_iter().chain(args::parse_chain(&text).into_iter().flatten())
    {
        assert!(!call.name.is_empty(), "a call of nothing");
    }
    if let Some(value) = json5::read(&text) {
        assert_eq!(json5::read(&value.to_string()), Some(value), "{text:?}");
    }
    let is_tool = |id: &str| id.starts_with(char::is_alphanumeric);
    for call in tool_protocol::parse_calls(&text, is_tool) {
        let is_plain = |name: &str| {
            name.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        };
        if call.args.iter().all(|(name, _)| name.as_deref().is_none_or(is_plain)) {
            let again = tool_protocol::parse_calls(&call.text(), is_tool);
            assert_eq!(
                again.as_slice(),
                std::slice::from_ref(&call),
                "{} does not read back",
                call.text()
            );
        }
    }
    let draft = MessageText::read(&text);
    if draft.bias().is_empty() && !text.contains('\\') {
        assert_eq!(draft.into_unrendered().text(), text, "a text lost something");
    }
}
