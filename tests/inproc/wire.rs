//! What is on disk and what `--json` prints stays readable: every tag, field and catalogue
//! key that was ever written is recorded in `tests/fixtures/wire` and must read as before.
//!
//! The recorded lines are the contract. A type or a variant may be renamed in the code as
//! long as `#[serde(rename)]` keeps its name here; a line may be added, never changed.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::PathBuf;

use avocet::context::history::History;
use avocet::i18n;
use avocet::protocol::{
    Decision, Event, ExportFormat, ExtensionOp, ExtensionState, ModelOp, NoticeLevel, Op, Outcome,
    PageRow, Question, QuestionOp, Report, RuleOp, SavedOp, SessionOp, SettingOp, TurnOp,
    TurnOutcome,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Names the variant of a value, and lists the names of all variants. The match has no
/// wildcard: a new variant does not compile until it has a name here, and does not pass
/// until it has a recorded line.
macro_rules! variants {
    ($of:ident, $all:ident, $type:ident: $($variant:ident)*) => {
        fn $of(value: &$type) -> &'static str {
            match value {
                $($type::$variant { .. } => stringify!($variant),)*
            }
        }
        const $all: &[&str] = &[$(stringify!($variant)),*];
    };
}

variants! { event, EVENTS, Event:
    TurnStarted Attached Rendered Steered ReplyStarted Delta ReasoningDelta CallProgress ScriptMessage Retrying Repairing
    Replied StepStarted StepOutput StepFinished Asked Judged QuestionClosed Plan TerminalRequested TerminalReturned Undone
    FilesKept FilesChanged Redone Changes FolderAdded ApprovalModeSet GoalSet Queued Dropped TurnEnded Facts Notice Page SideAnswer Models Settings HistoryChunk RewindAsked Rewound
    Sessions Catalogue ArgumentValues Compacting Compacted SubagentStarted Subagent Cleared Closed
}
/// The same for an enum of enums.
macro_rules! nested_variants {
    ($of:ident, $all:ident, $type:ident: $($area:ident($inner:ident): $($variant:ident)*;)*) => {
        fn $of(value: &$type) -> &'static str {
            match value {
                $($($type::$area($inner::$variant { .. }) => stringify!($variant),)*)*
            }
        }
        const $all: &[&str] = &[$($(stringify!($variant)),*),*];
    };
}

nested_variants! { op, OPS, Op:
    Turn(TurnOp): Submit SubmitPrompt Render Shell SetQueue RunQueue Unqueue Steer Retry Undo Redo Stop Invoke RunScript
        Compress Recall Goal AskAside MergeWorktree ReadResults;
    Question(QuestionOp): Decide PreviewRisk;
    Model(ModelOp): SetModel Connect SetEffort SetBot;
    Rules(RuleOp): SetApprovalMode Allow Deny Revoke Trust AddFolder;
    Saved(SavedOp): New Export Resume ListSessions SearchSessions Fork Rename Rewind;
    Setting(SettingOp): SetMode SetLang Configure EditSettings;
    Extension(ExtensionOp): RefreshExtensions Mcp ShowMemory AddNote CompleteArgument;
    Session(SessionOp): Job Agent Worktrees Report Shutdown;
}
variants! { decision, DECISIONS, Decision:
    Approve ApproveAll Remember Trust TrustParent WithoutSandbox Edit AcceptPlan Choose Answer Fill Reject
    NotAsked Dismiss Stop
}
variants! { outcome, OUTCOMES, Outcome:
    Ran Declined Refused TimedOut Cancelled Edited Interrupted NotStarted
}
variants! { question, QUESTIONS, Question: Step Choice Form Plan ScriptCall Pieces Pause Trust }

fn fixture(name: &str) -> String {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/wire").join(name);
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Reads every recorded line, checks that it is written as it was read, and gives the values.
fn read<T: Serialize + DeserializeOwned + Debug>(name: &str) -> Vec<T> {
    let lines = fixture(name);
    let values = lines.lines().enumerate().map(|(at, line)| {
        let recorded: Value = serde_json::from_str(line).unwrap();
        let value: T = serde_json::from_value(recorded.clone())
            .unwrap_or_else(|error| panic!("{name}:{}: {error}\n{line}", at + 1));
        let written = serde_json::to_value(&value).unwrap();
        assert_eq!(written, recorded, "{name}:{} is written differently now", at + 1);
        value
    });
    values.collect()
}

fn covers<T>(values: &[T], name: fn(&T) -> &'static str, all: &[&'static str]) {
    let seen: BTreeSet<_> = values.iter().map(name).collect();
    let missing: Vec<_> = all.iter().filter(|name| !seen.contains(*name)).collect();
    assert!(missing.is_empty(), "no recorded line for {missing:?}");
}

#[test]
fn every_event_roundtrips_as_recorded() {
    let events = read::<Event>("event.jsonl");
    covers(&events, event, EVENTS);
    let levels = events.iter().filter_map(|event| match event {
        Event::Notice(notice) => Some(notice.level),
        _ => None,
    });
    assert!(
        [NoticeLevel::Info, NoticeLevel::Warning, NoticeLevel::Error]
            .into_iter()
            .eq(levels.take(3))
    );
    let states = events.iter().find_map(|event| match event {
        Event::Catalogue(catalogue) => Some(&catalogue.entries),
        _ => None,
    });
    assert!(matches!(
        states.unwrap().iter().map(|entry| &entry.state).collect::<Vec<_>>()[..],
        [
            ExtensionState::Usable,
            ExtensionState::Sensitive,
            ExtensionState::Hidden(_),
            ExtensionState::Broken(_)
        ]
    ));
    let rows = events.iter().find_map(|event| match event {
        Event::Page(page) => Some(&page.rows[..]),
        _ => None,
    });
    assert!(matches!(rows.unwrap(), [PageRow::Heading(_), PageRow::Pair { .. }, PageRow::Line(_)]));
}

#[test]
fn an_interruption_recorded_by_its_sentence_in_0_1_is_recognized() {
    let old = r#"{"event":"turn_ended","turn":1,"ending":{"failed":{"why":{"key":"session.INTERRUPTED","values":[]}}},"usage":{"input_tokens":0,"output_tokens":0,"estimated":false},"elapsed_ms":0}"#;
    let event: Event = serde_json::from_str(old).unwrap();
    assert!(
        matches!(event, Event::TurnEnded { ending: TurnOutcome::Interrupted, .. }),
        "{event:?}"
    );
}

#[test]
fn every_op_roundtrips_as_recorded() {
    let ops = read::<Op>("op.jsonl");
    covers(&ops, op, OPS);
    let formats: Vec<_> = ops
        .iter()
        .filter_map(|op| match op {
            Op::Saved(SavedOp::Export { format, .. }) => Some(*format),
            _ => None,
        })
        .collect();
    assert_eq!(formats, [ExportFormat::Md, ExportFormat::Json, ExportFormat::Html]);
    let reports: Vec<_> = ops
        .iter()
        .filter_map(|op| match op {
            Op::Session(SessionOp::Report { report }) => Some(*report),
            _ => None,
        })
        .collect();
    let all = [
        Report::Doctor,
        Report::Models,
        Report::Context,
        Report::Usage,
        Report::Changes,
        Report::Plugins,
        Report::Agents,
    ];
    assert_eq!(reports, all);
}

#[test]
fn every_decision_outcome_and_question_roundtrips_as_recorded() {
    covers(&read::<Decision>("decision.jsonl"), decision, DECISIONS);
    covers(&read::<Outcome>("outcome.jsonl"), outcome, OUTCOMES);
    covers(&read::<Question>("question.jsonl"), question, QUESTIONS);
}

#[test]
fn the_models_history_of_a_session_roundtrips_as_recorded() {
    assert_eq!(read::<History>("history.jsonl").len(), 1);
}

#[test]
fn every_phrase_key_ever_stored_still_exists() {
    let lost: Vec<_> = fixture("keys.txt")
        .lines()
        .filter(|key| i18n::find(key).is_none())
        .map(str::to_owned)
        .collect();
    assert!(lost.is_empty(), "add these to i18n::RENAMED: {lost:?}");
}

#[test]
fn no_renamed_key_shadows_an_existing_phrase() {
    for (new, olds) in i18n::RENAMED {
        assert!(i18n::all().any(|word| word.key == *new), "{olds:?}: there is no {new}");
        for old in *olds {
            assert!(i18n::all().all(|word| word.key != *old), "{old} is a key of today");
        }
    }
}

#[test]
#[ignore = "records the keys of today in tests/fixtures/wire/keys.txt"]
fn record_the_keys() {
    let mut keys: BTreeSet<String> = fixture("keys.txt").lines().map(str::to_owned).collect();
    keys.extend(i18n::all().map(|word| word.key.to_owned()));
    let text: String = keys.iter().map(|key| format!("{key}\n")).collect();
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/wire/keys.txt");
    std::fs::write(dir, text).unwrap();
}
