//! Whole turns, told in `tests/dialogues/*.md`: what a person types, what the model
//! answers, what people decide and what steps print; and the events that must come of
//! it. Each heading is a case of its own. `UPDATE=1` rewrites `events` and `sent`.
//!
//! | block | holds |
//! |---|---|
//! | `user` | one turn a line |
//! | `limit` | the limit of steps (25 where it is left out) |
//! | `model` | the replies in order, between `---`; a first line `cut: length`, `cut: broken`, `cancel` or `fails` makes it one of those |
//! | `decisions` | one a line: `approve`, `reject`, `reject: word`, `edit: git log`, `remember: session`, `answer: text`, `save: text` (the file changes meanwhile), `stop`, `cancel` |
//! | `observations` | what steps gave, between `---`: `exit 0`, `timed out`, `cancel` or `not started`, then the output; `exit 0` where it is left out |
//! | `files` | files of the folder, a line each: a name, then the text with `\\n` |
//! | `check` | the project's check, behind changes of files |
//! | `events` | what surfaces were told, one a line |
//! | `sent` | the messages of the last request, without the system prompt |

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use avocet::agent::drive::drive;
use avocet::agent::turn::{Turn, TurnStart};
use avocet::agent::{Host, ModelRequest};
use avocet::context::window::{Bounds, History, RequestParts, request};
use avocet::i18n::Lang;
use avocet::model::{ModelError, ModelReply};
use avocet::protocol::budget::Budget;
use avocet::protocol::{
    ApprovalScope, Decision, Dialect, Event, Message, Observation, Outcome, Question, StepAction,
    StepQuestion, Truncation, TurnOutcome,
};
use avocet::safety::tools::digest;
use avocet::safety::{
    ClearedStep, Contents, Machine, PathKind, Policy, PolicyContext, PolicyRule, Program, Workspace,
};
use pretty_assertions::assert_str_eq;
use tokio_util::sync::CancellationToken;

#[test]
fn dialogues() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dialogues");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "md"));
    files.sort();
    assert!(files.len() >= 3, "the dialogues are there");
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let now: String = cases(&text).iter().map(|case| transcript_of(case)).collect();
        if updates() {
            fs::write(&path, &now).unwrap();
        } else {
            assert_str_eq!(text, now, "{} (UPDATE=1 rewrites it)", path.display());
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a switch of this test")]
fn updates() -> bool {
    std::env::var_os("UPDATE").is_some()
}

// The file

/// A heading and all below it; what stands before the first heading is a case as well.
fn cases(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut fence = None;
    for line in text.split_inclusive('\n') {
        let ticks = line.chars().take_while(|c| *c == '`').count();
        fence = match fence {
            None if ticks >= 3 => Some(ticks),
            Some(open) if ticks == open && line.trim_end().len() == ticks => None,
            same => same,
        };
        if fence.is_none() && line.starts_with("# ") {
            out.push(String::new());
        }
        out.last_mut().unwrap().push_str(line);
    }
    out
}

/// The blocks of a case by name.
fn block(case: &str, name: &str) -> Option<String> {
    let mut lines = case.lines();
    while let Some(line) = lines.next() {
        let ticks = line.chars().take_while(|c| *c == '`').count();
        if ticks < 3 {
            continue;
        }
        let (fence, tag) = line.split_at(ticks);
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != fence).collect();
        if tag == name {
            return Some(body.join("\n"));
        }
    }
    None
}

/// The case with its expectations as they came out.
fn transcript_of(case: &str) -> String {
    if block(case, "user").is_none() {
        return case.to_owned();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let stage = runtime.block_on(play(case));
    let mut out = case.to_owned();
    for (name, now) in [("events", &stage.events), ("sent", &stage.sent)] {
        let Some(before) = block(case, name) else { continue };
        let fence = if before.contains("```") || now.contains("```") { "````" } else { "```" };
        for old in ["```", "````"] {
            let block = format!(
                "{old}{name}\n{before}{}{old}\n",
                if before.is_empty() { "" } else { "\n" }
            );
            let new = format!("{fence}{name}\n{now}{fence}\n");
            if out.contains(&format!("\n{block}")) {
                out = out.replace(&block, &new);
                break;
            }
        }
    }
    out
}

// The stage

async fn play(case: &str) -> DialogueHost {
    let limit = block(case, "limit").map_or(25, |text| text.trim().parse().unwrap());
    let mut stage = DialogueHost::new(case);
    let mut next_step = 1;
    for (turn, text) in block(case, "user").unwrap().lines().enumerate() {
        let start = TurnStart {
            text: text.to_owned(),
            images: Vec::new(),
            max_steps: Some(limit),
            step_counter: Default::default(),
            check: block(case, "check").map(|line| {
                let words: Vec<&str> = line.trim().split(' ').collect();
                StepAction::exec(words[0], &words[1..])
            }),
            budget: Budget::default(),
            next_step,
            is_small_model: false,
            dialect: Dialect::Json,
            hooks: std::sync::Arc::default(),
            agent: None,
        };
        stage.note(format!("turn {}: {text}", turn + 1));
        stage.cancel = CancellationToken::new();
        let cancel = stage.cancel.clone();
        let ended = drive(Turn::new(start), &mut stage, cancel).await;
        next_step = ended.next_step;
        stage.note(match ended.ending {
            TurnOutcome::Limit { why } => format!("ended at a limit: {why}"),
            TurnOutcome::Failed { why } => format!("failed: {why}"),
            other => format!("ended: {other:?}"),
        });
        stage.history.push(turn as u64 + 1, ended.record, |_| {});
    }
    for (what, left) in [
        ("replies", stage.replies.len()),
        ("decisions", stage.decisions.len()),
        ("observations", stage.observations.len()),
    ] {
        assert_eq!(left, 0, "{what} left over in:\n{case}");
    }
    stage
}

/// A host that plays from the blocks of a case and writes down what it is told.
struct DialogueHost {
    replies: VecDeque<String>,
    decisions: VecDeque<String>,
    observations: VecDeque<String>,
    history: History,
    heard: Option<ModelReply>,
    cancel: CancellationToken,
    policy: Policy,
    place: Workspace,
    machine: TestMachine,
    events: String,
    sent: String,
}

impl DialogueHost {
    fn new(case: &str) -> DialogueHost {
        let parts = |name| -> VecDeque<String> {
            block(case, name)
                .map(|text| text.split("\n---\n").map(str::to_owned).collect())
                .unwrap_or_default()
        };
        DialogueHost {
            replies: parts("model"),
            decisions: block(case, "decisions")
                .map(|text| text.lines().map(str::to_owned).collect())
                .unwrap_or_default(),
            observations: parts("observations"),
            history: History::default(),
            heard: None,
            cancel: CancellationToken::new(),
            policy: Policy::default(),
            machine: TestMachine { files: files(case) },
            place: Workspace::new("/work", "/home/ann"),
            events: String::new(),
            sent: String::new(),
        }
    }

    fn note(&mut self, line: impl std::fmt::Display) {
        writeln!(self.events, "{line}").unwrap();
    }
}

impl Host for DialogueHost {
    fn policy_context(&mut self) -> PolicyContext<'_> {
        PolicyContext { policy: &self.policy, place: &self.place, world: &self.machine }
    }

    async fn call_model(&mut self, call: ModelRequest) -> Result<ModelReply, ModelError> {
        self.note(if call.repair { "call again" } else { "call" });
        let parts = RequestParts {
            system: "",
            tools: avocet::context::size::ContextSize::default(),
            notes: "",
            history: &self.history,
            turn: &call.messages,
        };
        let (messages, _) = request(parts, Bounds::default());
        self.sent = messages.iter().skip(1).map(shown).collect();
        let reply = self.replies.pop_front().expect("a reply for each call");
        let (first, rest) = reply.split_once('\n').unwrap_or((&reply, ""));
        let answer = |text: &str, cut| ModelReply { cut, ..ModelReply::from_text(text) };
        match first {
            "cut: length" => Ok(answer(rest, Some(Truncation::Length))),
            "cut: broken" => Ok(answer(rest, Some(Truncation::Broken))),
            "fails" => Err(ModelError::Address { given: "nowhere".into() }),
            "cancel" => {
                self.heard = Some(answer(rest, None)).filter(|_| !rest.is_empty());
                self.cancel.cancel();
                std::future::pending().await
            }
            _ => Ok(answer(&reply, None)),
        }
    }

    fn partial_answer(&mut self) -> Option<ModelReply> {
        self.heard.take()
    }

    async fn ask(&mut self, events: Vec<Event>, question: Question) -> Option<Decision> {
        for event in events {
            self.emit(event).await;
        }
        match &question {
            Question::Step(StepQuestion { step, risk, number, of, rule, .. }) => {
                let rule = rule.as_ref().map_or(String::new(), |rule| format!(" (rule: {rule})"));
                let (tier, line) = (risk.tier.name(), line(&step.work));
                self.note(format!("ask {number}/{of} {tier} {} {line}{rule}", step.id));
            }
            Question::ScriptCall { text } => self.note(format!("script asks: {text}")),
            Question::Trust { folder, .. } => self.note(format!("trust: {folder}")),
            Question::Form { fields, .. } => self.note(format!("form of {}", fields.len())),
            Question::Plan { items, .. } => self.note(format!("plan of {}", items.len())),
            Question::Choice { text, choices, .. } => {
                self.note(format!("question: {text} {choices:?}"));
            }
            Question::Pieces { of, pieces, .. } => {
                let lines: Vec<&str> = pieces.iter().map(|piece| piece.line.as_str()).collect();
                self.note(format!("pieces of {of}: {}", lines.join(" | ")));
            }
            Question::Pause { why } => self.note(format!("pause: {}", why.text(Lang::En))),
        }
        let decision = self.decisions.pop_front().expect("a decision for each question");
        self.note(format!("  {decision}"));
        Some(match decision.split_once(": ").unwrap_or((&decision, "")) {
            ("approve", _) => Decision::Approve,
            ("stop", _) => Decision::Stop,
            ("reject", "") => Decision::Reject { word: None },
            ("reject", word) => Decision::Reject { word: Some(word.to_owned()) },
            ("remember", "session") => Decision::Remember(ApprovalScope::Session),
            ("remember", "project") => Decision::Remember(ApprovalScope::Project),
            ("answer", text) => Decision::Answer { text: text.to_owned() },
            ("save", text) => {
                // Somebody else writes to the file while the question stands.
                self.machine.files.insert("/work/a.txt".into(), text.replace("\\n", "\n"));
                Decision::Approve
            }
            ("edit", line) if line.starts_with('{') => Decision::Edit(StepAction::Tool {
                name: "file.edit".into(),
                input: serde_json::from_str(line).unwrap(),
            }),
            ("edit", line) => {
                let words: Vec<&str> = line.split(' ').collect();
                Decision::Edit(StepAction::exec(words[0], &words[1..]))
            }
            ("cancel", _) => {
                self.cancel.cancel();
                self.note("the question is taken back");
                return None;
            }
            other => panic!("what is {other:?}?"),
        })
    }

    async fn run(&mut self, step: ClearedStep) -> Observation {
        let judged = step.judgement();
        let (step, cwd) = (judged.step.clone(), judged.cwd.display().to_string());
        self.note(format!("run {} {} {}", judged.risk.tier.name(), step.id, line(&step.work)));
        let change = judged.change().cloned();
        let canned = self.observations.pop_front().unwrap_or_else(|| "exit 0".to_owned());
        let (first, output) = canned.split_once('\n').unwrap_or((&canned, ""));
        let mut seen = Observation::not_run(step, cwd, judged.risk.clone(), Outcome::Ran);
        output.clone_into(&mut seen.stdout);
        seen.duration_ms = 5;
        if let Some(change) = change.filter(|_| first.starts_with("exit 0")) {
            self.note(format!("  +{} -{}", change.added, change.removed));
            seen.change = Some(change);
        }
        match first.split_once(' ').unwrap_or((first, "")) {
            ("exit", code) => seen.exit_code = Some(code.parse().unwrap()),
            ("timed", _) => seen.outcome = Outcome::TimedOut,
            ("not", _) => {}
            ("cancel", _) => {
                self.cancel.cancel();
                seen.outcome = Outcome::Cancelled;
            }
            other => panic!("what is {other:?}?"),
        }
        seen
    }

    async fn emit(&mut self, event: Event) {
        if let Some(line) = told(&event) {
            self.note(line);
        }
    }

    fn remember(&mut self, rule: String, scope: ApprovalScope) {
        self.note(format!("remember for the {scope:?}: {rule}").to_lowercase());
        self.policy.allowed.push(PolicyRule::parse(&rule).expect("an offered rule can be read"));
    }
}

/// An event on one line; `None` for what a session adds by itself.
fn told(event: &Event) -> Option<String> {
    Some(match event {
        Event::Repairing { fault } => format!("repairing: {}", fault.text(Lang::En)),
        Event::Replied(replied) => {
            let mut marks = String::new();
            let suggestions = format!(" {:?}", replied.suggestions);
            let cut = replied.cut.map(|cut| format!(" (cut: {cut:?})")).unwrap_or_default();
            for (mark, stands) in [
                (" (error)", replied.error),
                (" (plain)", !replied.markdown),
                (cut.as_str(), replied.cut.is_some()),
                (suggestions.as_str(), !replied.suggestions.is_empty()),
            ] {
                marks.push_str(if stands { mark } else { "" });
            }
            format!("replied: {}{marks}", replied.message)
        }
        Event::StepFinished(seen) => {
            let exit = seen.exit_code.map_or(String::new(), |code| format!(" exit {code}"));
            let note = seen.note.as_ref().map_or(String::new(), |note| format!(": {note}"));
            let (id, outcome) = (&seen.step.id, seen.outcome.name());
            let rule = match seen.outcome {
                Outcome::Refused => format!(" ({})", seen.risk.rule),
                _ => String::new(),
            };
            format!("{outcome}{exit} {} {id}{rule}{note}", seen.risk.tier.name())
        }
        Event::Notice(notice) => format!("notice: {}", notice.say),
        Event::Plan { items } => {
            let items: Vec<String> =
                items.iter().map(|item| format!("{} ({:?})", item.text, item.state)).collect();
            format!("plan: {}", items.join(", "))
        }
        other => panic!("a turn tells no {other:?}"),
    })
}

fn shown(message: &Message) -> String {
    format!("{:?}: {}\n", message.role, message.text())
}

fn line(work: &StepAction) -> String {
    match work {
        StepAction::Exec { program, args } => {
            std::iter::once(program).chain(args).cloned().collect::<Vec<_>>().join(" ")
        }
        StepAction::Tool { name, input } => format!("{name} {input}"),
        StepAction::Shell { line } => line.clone(),
    }
}

/// The files of a case: a line each, its name, then its text with `\n` for line ends.
fn files(case: &str) -> BTreeMap<PathBuf, String> {
    let lines = block(case, "files").unwrap_or_default();
    let file = |line: &str| {
        let (name, text) = line.split_once(' ').unwrap();
        (Path::new("/work").join(name), text.replace("\\n", "\n"))
    };
    lines.lines().map(file).collect()
}

#[path = "../support/machine.rs"]
mod machine;

use machine::TestMachine;
