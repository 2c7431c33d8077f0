//! Prints the policy's verdict on a command or on a step of another tool, without running it
//! (`avocet policy explain`).
//!
//! The caller parses arguments and prints; these functions take only what they need.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use avocet_core::i18n::{Lang, LocalizedText, common, safety as phrases};
use avocet_core::prompt::template;
use avocet_core::protocol::{PageRow, Requires, Risk, Step, StepAction, Tier};
use avocet_core::text::visible;
use avocet_safety::{
    self as safety, Judgement, Machine, PolicyContext, ToolTask, Verdict, Workspace,
};
use avocet_tools::system::System;

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum PolicyCommand {
    /// Judge one command or one step of another tool, or many as JSON lines.
    #[command(after_help = "Examples:
  avocet policy explain -- rm -rf build
  avocet policy explain --json -- git status
  avocet policy explain --tool file.write --args '{\"path\":\"a.txt\",\"content\":\"hi\"}'
  avocet policy explain --batch - < steps.jsonl")]
    Explain {
        /// Read JSON lines from a file, or from standard input for `-`, and answer each.
        #[arg(long, value_name = "FILE|-", conflicts_with_all = ["words", "tool"])]
        batch: Option<PathBuf>,
        /// Judge this tool, such as `file.edit`, `plugin.run` or `config.json_patch`.
        #[arg(long, value_name = "NAME", conflicts_with = "words")]
        tool: Option<String>,
        /// Its input, as a JSON object.
        #[arg(long, value_name = "JSON", requires = "tool")]
        args: Option<String>,
        /// The program and its arguments, after `--`.
        #[arg(last = true, value_name = "PROGRAM ARGS", required_unless_present_any = ["batch", "tool"])]
        words: Vec<String>,
    },
    /// List every rule by its id, as `[safety] lift` names it, with its tier and reason.
    #[command(after_help = "Example:\n  avocet policy rules --json")]
    Rules,
    /// List what you allowed and refused in this folder, and what each rule covers.
    #[command(after_help = "Example:\n  avocet policy permissions")]
    Permissions,
    /// List the programs the policy knows.
    #[command(after_help = "Example:\n  avocet policy list")]
    List,
}

/// The step for a command.
pub fn command(program: &str, args: &[String]) -> StepAction {
    StepAction::Exec { program: program.to_owned(), args: args.to_vec() }
}

/// The step for a tool, from its input as JSON; empty input counts as `{}`.
///
/// # Errors
/// When the input is not a JSON object, or its effect depends on a conversation.
pub fn tool(name: &str, input: Option<&str>) -> Result<StepAction, LocalizedText> {
    let bad = |error: String| phrases::EXPLAIN_NO_OBJECT.with("error", error);
    let read = input.map_or(Ok(Value::Object(Map::new())), serde_json::from_str);
    match read {
        Err(error) => Err(bad(error.to_string())),
        Ok(Value::Object(fields)) => tool_step(name, fields),
        Ok(other) => Err(bad(other.to_string())),
    }
}

fn tool_step(name: &str, input: Map<String, Value>) -> Result<StepAction, LocalizedText> {
    if name == safety::SKILL_TOOL {
        return Err(phrases::EXPLAIN_SKILL.into());
    }
    Ok(StepAction::Tool { name: name.to_owned(), input: Value::Object(input) })
}

/// The verdict on one step, for users: several lines, without a newline at the end.
pub fn explain_one(action: &StepAction, cx: PolicyContext<'_>, lang: Lang) -> String {
    let verdict = judge(action, cx);
    let judged = verdict.judgement();
    let outcome = match &verdict {
        Verdict::Run(_) => phrases::EXPLAIN_RUNS,
        Verdict::Ask(_) => phrases::EXPLAIN_ASKS,
        Verdict::Refuse(_) => phrases::EXPLAIN_REFUSED,
    };
    let mut lines = vec![
        format!("{} · {} · {}", judged.risk.tier.name(), outcome.text(lang), judged.risk.rule),
        step_title(action, judged, lang),
        format!("{}: {}", common::FOLDER.text(lang), judged.cwd.display()),
    ];
    lines.extend(judged.risk.distinct_reasons().map(|reason| {
        let say = reason.say.text(lang);
        let arg = reason.arg.map_or(String::new(), |arg| {
            format!(" ({})", phrases::EXPLAIN_ARG.with("number", arg + 1).text(lang))
        });
        format!("  {} · {} · {say}{arg}", reason.tier.name(), reason.rule)
    }));
    let effects = effect_names(&judged.risk);
    lines.push(format!("{}: {}", phrases::EXPLAIN_EFFECTS.text(lang), effects.join(", ")));
    lines.extend(outcome_lines(judged, lang));
    let lines: Vec<String> = lines.iter().map(|line| visible(line)).collect();
    lines.join("\n")
}

/// The judged step: the program with its path, or the tool.
fn step_title(action: &StepAction, judged: &Judgement, lang: Lang) -> String {
    let found = judged.program.as_ref().map(|program| program.path.to_string_lossy());
    match action {
        StepAction::Tool { name, .. } => {
            let by = found.map_or(String::new(), |path| format!(" ({path})"));
            format!("{}: {name}{by}", phrases::EXPLAIN_TOOL.text(lang))
        }
        StepAction::Exec { program, .. } | StepAction::Shell { line: program } => {
            let found = found.unwrap_or(phrases::EXPLAIN_NOT_FOUND.text(lang).into());
            format!("{}: {program} ({found})", common::PROGRAM.text(lang))
        }
    }
}

/// The result that a step of a tool would have: the error in its input, or the change to the file.
fn outcome_lines(judged: &Judgement, lang: Lang) -> Vec<String> {
    match &judged.task {
        Some(ToolTask::Fault(fault)) => {
            let say = fault.say.text(lang);
            vec![format!("{}: {say}", phrases::EXPLAIN_FAULT.text(lang))]
        }
        Some(task) => {
            let Some(change) = task.change() else { return Vec::new() };
            let sum = format!("{} +{} -{}", change.path, change.added, change.removed);
            let title = format!("{}: {sum}", phrases::EXPLAIN_CHANGE.text(lang));
            std::iter::once(title).chain(change.diff.lines().map(str::to_owned)).collect()
        }
        None => Vec::new(),
    }
}

/// The verdict on one step, as an answer of the batch without its `id`.
pub fn explain_json(action: &StepAction, cx: PolicyContext<'_>, lang: Lang) -> Value {
    let verdict = judge(action, cx);
    let mut answer = assessment_json(verdict.judgement(), lang);
    let path = verdict.judgement().program.as_ref().map(|program| program.path.to_string_lossy());
    answer["program"] = json!(path);
    answer["cwd"] = json!(verdict.judgement().cwd);
    answer
}

/// Answers each line of `reader` with one line of JSON, written out at once.
///
/// In: `{"id", "program", "args", "cwd", "workspace", "home", "trusted"?}`, or `"shell"`
/// in place of `program`, with the text for its `{{args}}` in `args`; folders that are
/// left out are those of `here`; or `"tool"` with its input, an object, in `args`. Out: `{"id",
/// "tier", "rule", "reasons": [{"rule", "tier", "text", "arg"?}], …}`, for a shell line also
/// `programs`, `warnings`, `opaque` and `pieces`, for a tool also `tool` and what would come of it
/// (`change` or `fault`), or `{"id", "error"}` for any other line; the next line is
/// read all the same. Fails only when reading or writing does.
pub fn explain_batch(
    mut reader: impl BufRead,
    mut writer: impl Write,
    policy: &safety::Policy,
    workspace: &Workspace,
    lang: Lang,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        let whole = read_line(&mut reader, &mut line)?;
        if line.is_empty() && whole {
            return Ok(());
        }
        if whole && line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let answer = if whole {
            answer_batch_line(&line, policy, workspace, lang)
        } else {
            json!({ "id": null, "error": phrases::BATCH_TOO_LONG.text(lang) })
        };
        serde_json::to_writer(&mut writer, &answer)?;
        writer.write_all(b"\n")?;
        writer.flush()?;
    }
}

#[derive(Deserialize)]
struct BatchRequest {
    #[serde(default)]
    id: Value,
    program: Option<String>,
    tool: Option<String>,
    args: Option<BatchArgs>,
    shell: Option<String>,
    cwd: Option<PathBuf>,
    workspace: Option<PathBuf>,
    home: Option<PathBuf>,
    trusted: Option<bool>,
}

/// The arguments of a program, those of the template that a shell line comes from, or the input of
/// a tool.
#[derive(Deserialize)]
#[serde(untagged)]
enum BatchArgs {
    Words(Vec<String>),
    Text(String),
    Input(Map<String, Value>),
}

fn answer_batch_line(line: &[u8], policy: &safety::Policy, here: &Workspace, lang: Lang) -> Value {
    let request: BatchRequest = match serde_json::from_slice(line) {
        Ok(asked) => asked,
        Err(error) => return error_json(line, &error.to_string(), lang),
    };
    let workspace = request.workspace.as_deref().unwrap_or(&here.workspace);
    let home = request.home.as_deref().unwrap_or(&here.home);
    let cwd = request.cwd.as_deref().or(request.workspace.as_deref()).unwrap_or(&here.cwd);
    let system = System::new(workspace, home, &[]);
    let workspace = Workspace {
        cwd: system.resolve(&workspace.join(cwd)),
        ..workspace_in(workspace, home, request.trusted.unwrap_or(true), &system)
    };
    let cx = PolicyContext { policy, place: &workspace, world: &system };
    let judged = |action: &StepAction| Ok(assessment_json(judge(action, cx).judgement(), lang));
    let answered = match (&request.program, &request.tool, &request.shell, &request.args) {
        (Some(program), None, _, Some(BatchArgs::Words(args))) => judged(&command(program, args)),
        (Some(program), None, _, None) => judged(&command(program, &[])),
        (Some(_), None, _, Some(_)) => Err("`args` is no list".to_owned()),
        (None, Some(name), _, Some(BatchArgs::Input(input))) => tool_step(name, input.clone())
            .map_err(|say| say.text(lang))
            .and_then(|work| judged(&work)),
        (None, Some(name), _, None) => {
            tool(name, None).map_err(|say| say.text(lang)).and_then(|work| judged(&work))
        }
        (None, Some(_), _, Some(_)) => Err("`args` is no object".to_owned()),
        (None, None, Some(shell), Some(BatchArgs::Text(args))) => {
            Ok(shell_line_json(shell, Some(args), cx, lang))
        }
        (None, None, Some(shell), _) => Ok(shell_line_json(shell, None, cx, lang)),
        (Some(_), Some(_), _, _) => Err("`program` and `tool` stand together".to_owned()),
        (None, None, None, _) => Err("missing field `program`".to_owned()),
    };
    let mut answer = match answered {
        Ok(answer) => answer,
        Err(why) => return error_json(line, &why, lang),
    };
    answer["id"] = request.id;
    answer
}

fn error_json(line: &[u8], error: &str, lang: Lang) -> Value {
    let id = serde_json::from_slice::<Value>(line).ok().and_then(|v| v.get("id").cloned());
    json!({ "id": id, "error": phrases::BATCH_NOT_JSON.with("error", error).text(lang) })
}

fn judge(action: &StepAction, cx: PolicyContext<'_>) -> Verdict {
    let id = String::new();
    let requires = Requires::default();

    safety::assess(Step { id, work: action.clone(), requires, cwd: None }, cx)
}

fn assessment_json(judged: &Judgement, lang: Lang) -> Value {
    let reasons: Vec<Value> = judged
        .risk
        .reasons
        .iter()
        .map(|reason| {
            let mut out = json!({
                "rule": reason.rule,
                "tier": reason.tier,
                "text": reason.say.text(lang),
            });
            if let Some(arg) = reason.arg {
                out["arg"] = json!(arg);
            }
            out
        })
        .collect();
    let mut out = json!({
        "id": null,
        "tier": judged.risk.tier,
        "rule": judged.risk.rule,
        "reasons": reasons,
        "effects": judged.risk.effects,
    });
    if let StepAction::Tool { name, .. } = &judged.step.work {
        out["tool"] = json!(name);
    }
    match &judged.task {
        Some(ToolTask::Fault(fault)) => out["fault"] = json!(fault.say.text(lang)),
        Some(task) => {
            if let Some(change) = task.change() {
                out["change"] = json!(change);
            }
        }
        None => {}
    }
    out
}

/// The answer to a line. With `args` it is a shell command of a template and judged twice, with the
/// arguments as quoted text and as if only the quotes of the template contained them: the worse
/// counts.
fn shell_line_json(line: &str, args: Option<&str>, cx: PolicyContext<'_>, lang: Lang) -> Value {
    let lines = match args {
        // If the arguments cannot be inserted safely, only what they could do counts.
        Some(args) => std::iter::once(line.replace("{{args}}", args))
            .chain(template::fill_line(line, args))
            .collect(),
        None => vec![line.to_owned()],
    };
    let verdicts = lines.iter().map(|line| safety::assess_shell("", line, cx));
    let verdicts: Vec<Verdict> = verdicts.collect();
    let worst = verdicts.iter().map(Verdict::judgement).rev().max_by_key(|judged| judged.risk.tier);
    let Some(judged) = worst else { return Value::Null };
    let mut answer = assessment_json(judged, lang);
    let mut warnings = judged.seen.warnings.clone();
    if args.is_some() || line.contains("{{args}}") {
        warnings.push(safety::Warning::TemplateArgs);
    }
    let names: Vec<&str> = warnings.iter().map(|warning| warning.name()).collect();
    answer["programs"] = json!(judged.seen.programs);
    answer["warnings"] = json!(names);
    answer["opaque"] = json!(judged.seen.opaque);
    let pieces = judged.pieces.iter().map(
        |piece| json!({ "text": piece.text, "tier": piece.risk.tier, "rule": piece.risk.rule }),
    );
    answer["pieces"] = pieces.collect();
    answer
}

/// The names of the effects, as JSON spells them.
fn effect_names(risk: &Risk) -> Vec<String> {
    let names = risk.effects.iter().filter_map(|effect| serde_json::to_value(effect).ok());
    names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

const MAX_LINE: usize = 4 * 1024 * 1024;

/// Reads up to the next newline. False if the line was too long and its rest was skipped. An empty
/// line that is complete is the end of the input.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut whole = true;
    loop {
        let part = reader.fill_buf()?;
        let (taken, ended) = match part.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (part.len(), part.is_empty()),
        };
        if line.len() + taken <= MAX_LINE {
            line.extend_from_slice(part.get(..taken).unwrap_or_default());
        } else {
            whole = false;
        }
        reader.consume(taken);
        if ended {
            return Ok(whole);
        }
    }
}

/// Every program of the tables, by its tier when nothing else is found.
pub fn list() -> Vec<PageRow> {
    let tiers =
        [(Tier::L0, phrases::LIST_L0), (Tier::L1, phrases::LIST_L1), (Tier::L2, phrases::LIST_L2)];
    let mut rows = Vec::new();
    for (tier, heading) in tiers {
        rows.push(PageRow::heading(heading));
        for known in safety::known_programs().filter(|known| known.tier == tier) {
            let first = known.names.split(' ').next().unwrap_or(known.names);
            rows.push(PageRow::pair(known.names, known.why.with("program", first)));
        }
    }
    rows
}

/// Every rule by id, highest risk first, with its tier and its reason.
pub fn rules() -> Vec<PageRow> {
    let tiers = [
        (Tier::L2, phrases::RULES_L2),
        (Tier::L1, phrases::RULES_L1),
        (Tier::L0, phrases::RULES_L0),
    ];
    let known = safety::rule_ids();
    let mut rows = Vec::new();
    for (tier, heading) in tiers {
        rows.push(PageRow::heading(heading));
        for rule in known.iter().filter(|rule| rule.tier == tier) {
            let firm = tier == Tier::L2 && !rule.lifts;
            let word = if firm { phrases::RULE_FIRM } else { phrases::RULE_LINE };
            let line = word.with("tier", tier.name()).with("why", rule.why.clone());
            rows.push(PageRow::pair(rule.id.as_str(), line));
        }
    }
    rows
}

/// The folders of a session in `folder`, with links resolved.
pub fn workspace_in(folder: &Path, home: &Path, trusted: bool, world: &dyn Machine) -> Workspace {
    let folder = world.resolve(folder);
    let home = world.resolve(home);

    let readable = world.enclosing_repository(&folder, &home).into_iter().collect();
    Workspace { trusted, readable, ..Workspace::new(folder, home) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(input: &[u8]) -> Vec<Value> {
        let temp = tempfile::tempdir().unwrap();
        let system = System::new(temp.path(), temp.path(), &[]);
        let here = workspace_in(temp.path(), temp.path(), true, &system);
        let mut out = Vec::new();
        explain_batch(input, &mut out, &safety::Policy::default(), &here, Lang::En).unwrap();
        out.split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    #[test]
    fn the_list_names_each_program_in_its_reason() {
        for lang in [Lang::En, Lang::Zh] {
            for row in list() {
                let PageRow::Pair { label, value } = row else { continue };
                let (label, why) = (label.text(lang), value.text(lang));
                assert!(!why.contains('{'), "{label}: {why}");
            }
        }
    }

    #[test]
    fn every_rule_has_an_id_of_its_own_and_a_reason_without_gaps() {
        let mut seen = std::collections::BTreeSet::new();
        for row in rules() {
            let PageRow::Pair { label, value } = row else { continue };
            let id = label.text(Lang::En);
            for lang in [Lang::En, Lang::Zh] {
                assert!(!value.text(lang).contains('{'), "{id}: {}", value.text(lang));
            }
            let why = value.text(Lang::En);
            assert!(seen.insert((id.clone(), why)), "{id} stands twice");
        }
        assert!(seen.iter().any(|(id, why)| id == "git.reset.hard" && why.starts_with("L2")));
    }

    #[test]
    fn each_line_gets_one_answer_with_its_id() {
        let out = batch(b"{\"id\":1,\"program\":\"git\",\"args\":[\"reset\",\"--hard\"]}\n{\"id\":\"b\",\"program\":\"pwd\",\"args\":[]}");
        assert_eq!(out[0]["id"], 1);
        assert_eq!(out[0]["tier"], "L2");
        assert_eq!(out[0]["rule"], "git.reset.hard");
        assert_eq!(out[0]["reasons"][0]["arg"], 1);
        assert_eq!(out[1]["id"], "b");
        assert_eq!(out[1]["tier"], "L0");
        assert!(out[1]["reasons"][0].get("arg").is_none());
    }

    #[test]
    fn a_bad_line_is_answered_and_the_next_one_read() {
        let out = batch(b"nonsense\n{\"id\":7}\n\n\xff\xfe\n{\"id\":2,\"program\":\"pwd\"}\n");
        assert_eq!(out.len(), 4);
        assert!(out[0]["error"].is_string() && out[2]["error"].is_string());
        assert_eq!(out[1]["id"], 7);
        assert!(out[1]["error"].is_string());
        assert_eq!(out[3]["tier"], "L0");
    }

    #[test]
    fn a_line_without_end_is_refused_and_the_next_one_read() {
        let mut input = vec![b'x'; MAX_LINE + 10];
        input.extend_from_slice(b"\n{\"id\":2,\"program\":\"pwd\"}\n");
        let out = batch(&input);
        assert!(out[0]["error"].is_string());
        assert_eq!(out[1]["id"], 2);
    }

    #[test]
    fn a_shell_line_names_its_programs() {
        let out = batch(b"{\"id\":1,\"shell\":\"git status | rm -rf build\"}\n");
        assert_eq!(out[0]["tier"], "L2");
        assert_eq!(out[0]["programs"], json!(["git", "rm"]));
        assert_eq!(out[0]["opaque"], false);
    }

    #[test]
    fn an_untrusted_folder_raises_the_tier_of_programs_that_read_its_settings() {
        let out =
            batch(b"{\"id\":1,\"program\":\"git\",\"args\":[\"status\"],\"trusted\":false}\n");
        assert_eq!(out[0]["tier"], "L1");
        assert_eq!(out[0]["rule"], "folder.untrusted");
    }

    #[test]
    fn users_read_the_tier_the_rule_and_no_control_characters() {
        let temp = tempfile::tempdir().unwrap();
        let system = System::new(temp.path(), temp.path(), &[]);
        let here = workspace_in(temp.path(), temp.path(), true, &system);
        let policy = safety::Policy::default();
        let scene = PolicyContext { policy: &policy, place: &here, world: &system };
        let args = ["--output=\u{1b}[2J\u{202e}x".to_owned(), "a".to_owned()];
        let text = explain_one(&command("sort", &args), scene, Lang::En);
        assert!(text.starts_with("L1 · asks first · "), "{text}");
        assert!(text.contains("sort.output") && text.contains("argument 1"), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
        assert!(explain_one(&command("pwd", &[]), scene, Lang::Zh).contains("直接运行"));
    }

    #[test]
    fn a_step_of_a_tool_is_judged_by_its_input() {
        let out = batch(
            concat!(
                r#"{"id":1,"tool":"file.write","args":{"path":"a.txt","content":"one\n"}}"#,
                "\n",
                r#"{"id":2,"tool":"file.read","args":{"path":"/etc/shadow"}}"#,
                "\n",
                r#"{"id":3,"tool":"config.json_patch","args":{"path":"a.json","set":{}}}"#,
                "\n",
                r#"{"id":4,"tool":"plan","args":{"items":["x"]}}"#,
                "\n",
                r#"{"id":5,"tool":"nope"}"#,
                "\n",
                r#"{"id":6,"tool":"skill","args":{"name":"x"}}"#,
                "\n",
                r#"{"id":7,"tool":"plan","args":["x"]}"#,
                "\n",
                r#"{"id":8,"tool":"file.edit","args":{"path":"none.txt","edits":[]}}"#,
                "\n",
                r#"{"id":9,"tool":"plan","program":"ls"}"#,
                "\n",
            )
            .as_bytes(),
        );
        let tier = |at: usize| out[at]["tier"].as_str().unwrap_or("none").to_owned();
        assert_eq!(
            (tier(0), tier(1), tier(3), tier(4)),
            ("L1".into(), "L1".into(), "L0".into(), "L0".into())
        );
        assert_eq!(
            (&out[0]["tool"], &out[0]["change"]["added"]),
            (&json!("file.write"), &json!(1))
        );
        assert!(out[0]["change"]["diff"].as_str().unwrap().contains("+one"), "{}", out[0]);
        assert_ne!(tier(2), "L0", "{}", out[2]);
        for (at, id) in [(5, 6), (6, 7), (8, 9)] {
            assert!(out[at]["error"].is_string() && out[at]["id"] == id, "{}", out[at]);
        }
        assert!(out[7]["fault"].is_string(), "{}", out[7]);
    }

    #[test]
    fn users_read_the_change_to_the_file() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("a.txt"), "one\n").unwrap();
        let system = System::new(temp.path(), temp.path(), &[]);
        let here = workspace_in(temp.path(), temp.path(), true, &system);
        let policy = safety::Policy::default();
        let scene = PolicyContext { policy: &policy, place: &here, world: &system };
        let input = r#"{"path":"a.txt","edits":[{"find":"one","replace":"two\u001b[2J"}]}"#;
        let text = explain_one(&tool("file.edit", Some(input)).unwrap(), scene, Lang::En);
        assert!(text.starts_with("L1 · asks first · ") && text.contains("file.edit"), "{text}");
        assert!(
            text.contains("-one") && text.contains("+two") && !text.contains('\u{1b}'),
            "{text}"
        );
        let fault = tool("file.edit", Some("{}")).unwrap();
        assert!(explain_one(&fault, scene, Lang::En).contains("this input would do nothing: "));
        assert!(tool("file.edit", Some("[1]")).is_err() && tool("skill", None).is_err());
    }
}
