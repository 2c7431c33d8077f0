//! `avocet policy explain`: what the policy says about a command, without running it.
//!
//! Functions over parts; reading arguments and printing is the caller's.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::prompt::template;
use crate::protocol::{Requires, Risk, Row, Step, Tier, Work};
use crate::safety::{self, Judged, Place, Policy, Scene, Verdict, World};
use crate::tools::world::System;
use crate::words::{Lang, safety as words};

/// The verdict on one command, for people: several lines, no newline at the end.
pub fn explain_one(program: &str, args: &[String], scene: Scene<'_>, lang: Lang) -> String {
    let verdict = judge(program, args, scene);
    let judged = verdict.judged();
    let outcome = match &verdict {
        Verdict::Run(_) => words::EXPLAIN_RUNS,
        Verdict::Ask(_) => words::EXPLAIN_ASKS,
        Verdict::Refuse(_) => words::EXPLAIN_REFUSED,
    };
    let found = judged.program.as_ref().map(|program| program.path.to_string_lossy());
    let found = found.unwrap_or(words::EXPLAIN_NOT_FOUND.text(lang).into());
    let mut lines = vec![
        format!("{} · {} · {}", judged.risk.tier.name(), outcome.text(lang), judged.risk.rule),
        format!("{}: {program} ({found})", words::EXPLAIN_PROGRAM.text(lang)),
        format!("{}: {}", words::EXPLAIN_FOLDER.text(lang), judged.cwd.display()),
    ];
    lines.extend(judged.risk.reasons.iter().map(|reason| {
        let say = reason.say.text(lang);
        let arg = reason.arg.map_or(String::new(), |arg| {
            format!(" ({})", words::EXPLAIN_ARG.with("number", arg + 1).text(lang))
        });
        format!("  {} · {} · {say}{arg}", reason.tier.name(), reason.rule)
    }));
    let effects = effects(&judged.risk);
    lines.push(format!("{}: {}", words::EXPLAIN_EFFECTS.text(lang), effects.join(", ")));
    let lines: Vec<String> = lines.iter().map(|line| visible(line)).collect();
    lines.join("\n")
}

/// The verdict on one command, as an answer of the batch without its `id`.
pub fn explain_json(program: &str, args: &[String], scene: Scene<'_>, lang: Lang) -> Value {
    let verdict = judge(program, args, scene);
    let mut answer = described(verdict.judged(), lang);
    let path = verdict.judged().program.as_ref().map(|program| program.path.to_string_lossy());
    answer["program"] = json!(path);
    answer["cwd"] = json!(verdict.judged().cwd);
    answer
}

/// Answers each line of `reader` with one line of JSON, written out at once.
///
/// In: `{"id", "program", "args", "cwd", "workspace", "home", "trusted"?}`, or `"shell"`
/// in place of `program`, with the text for its `{{args}}` in `args`; folders that are
/// left out are those of `here`. Out: `{"id", "tier", "rule", "reasons": [{"rule",
/// "tier", "text", "arg"?}], …}`, for a shell line also `programs`, `warnings`, `opaque`
/// and `pieces`, or `{"id", "error"}` for a line that is no such object; the next line is
/// read all the same. Fails only when reading or writing does.
pub fn explain_batch(
    mut reader: impl BufRead,
    mut writer: impl Write,
    policy: &Policy,
    here: &Place,
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
            answer(&line, policy, here, lang)
        } else {
            json!({ "id": null, "error": words::BATCH_TOO_LONG.text(lang) })
        };
        serde_json::to_writer(&mut writer, &answer)?;
        writer.write_all(b"\n")?;
        writer.flush()?;
    }
}

#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    id: Value,
    program: Option<String>,
    args: Option<Args>,
    shell: Option<String>,
    cwd: Option<PathBuf>,
    workspace: Option<PathBuf>,
    home: Option<PathBuf>,
    trusted: Option<bool>,
}

/// The arguments of a program, or those of the template a shell line comes from.
#[derive(Deserialize)]
#[serde(untagged)]
enum Args {
    Words(Vec<String>),
    Text(String),
}

fn answer(line: &[u8], policy: &Policy, here: &Place, lang: Lang) -> Value {
    let asked: Asked = match serde_json::from_slice(line) {
        Ok(asked) => asked,
        Err(error) => return failure(line, &error.to_string(), lang),
    };
    let workspace = asked.workspace.as_deref().unwrap_or(&here.workspace);
    let home = asked.home.as_deref().unwrap_or(&here.home);
    let cwd = asked.cwd.as_deref().or(asked.workspace.as_deref()).unwrap_or(&here.cwd);
    let system = System::new(workspace, home, &[]);
    let place = Place {
        workspace: system.real(workspace),
        home: system.real(home),
        cwd: system.real(&workspace.join(cwd)),
        trusted: asked.trusted.unwrap_or(true),
    };
    let scene = Scene { policy, place: &place, world: &system };
    let mut answer = match (&asked.program, &asked.shell, &asked.args) {
        (Some(_), _, Some(Args::Text(_))) => return failure(line, "`args` is no list", lang),
        (Some(program), _, Some(Args::Words(args))) => {
            described(judge(program, args, scene).judged(), lang)
        }
        (Some(program), _, None) => described(judge(program, &[], scene).judged(), lang),
        (None, Some(shell), Some(Args::Text(args))) => {
            described_line(shell, Some(args), scene, lang)
        }
        (None, Some(shell), Some(Args::Words(_)) | None) => {
            described_line(shell, None, scene, lang)
        }
        (None, None, _) => return failure(line, "missing field `program`", lang),
    };
    answer["id"] = asked.id;
    answer
}

fn failure(line: &[u8], error: &str, lang: Lang) -> Value {
    let id = serde_json::from_slice::<Value>(line).ok().and_then(|v| v.get("id").cloned());
    json!({ "id": id, "error": words::BATCH_NOT_JSON.with("error", error).text(lang) })
}

fn judge(program: &str, args: &[String], scene: Scene<'_>) -> Verdict {
    let work = Work::Exec { program: program.to_owned(), args: args.to_vec() };
    let step = Step { id: String::new(), work, requires: Requires::default(), cwd: None };
    safety::assess(step, scene)
}

fn described(judged: &Judged, lang: Lang) -> Value {
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
    json!({
        "id": null,
        "tier": judged.risk.tier,
        "rule": judged.risk.rule,
        "reasons": reasons,
        "effects": judged.risk.effects,
    })
}

/// The answer on a line. With `args` it is a piece of a template: judged with them in it
/// as text, and as it would be if only the quotes of the template held them.
fn described_line(line: &str, args: Option<&str>, scene: Scene<'_>, lang: Lang) -> Value {
    let lines = match args {
        // Where the arguments cannot stand safely, only what they could do counts.
        Some(args) => std::iter::once(line.replace("{{args}}", args))
            .chain(template::filled_line(line, args))
            .collect(),
        None => vec![line.to_owned()],
    };
    let verdicts = lines.iter().map(|line| safety::assess_shell("", line, scene));
    let verdicts: Vec<Verdict> = verdicts.collect();
    let worst = verdicts.iter().map(Verdict::judged).rev().max_by_key(|judged| judged.risk.tier);
    let Some(judged) = worst else { return Value::Null };
    let mut answer = described(judged, lang);
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

/// The names of the effects, as they stand in JSON.
fn effects(risk: &Risk) -> Vec<String> {
    let names = risk.effects.iter().filter_map(|effect| serde_json::to_value(effect).ok());
    names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// A line in which every control character shows as what it is.
fn visible(line: &str) -> String {
    line.chars()
        .flat_map(|c| {
            let hidden = c.is_control() || safety::is_hidden(c);
            let escaped = hidden.then(|| c.escape_unicode());
            escaped.into_iter().flatten().chain((!hidden).then_some(c))
        })
        .collect()
}

const MOST_LINE: usize = 4 * 1024 * 1024;

/// Reads up to the next newline. False: the line was too long, and its rest was skipped.
/// An empty line that is whole is the end.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut whole = true;
    loop {
        let part = reader.fill_buf()?;
        let (taken, ended) = match part.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (part.len(), part.is_empty()),
        };
        if line.len() + taken <= MOST_LINE {
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

/// Every program of the tables, by the tier it gets when nothing else is found.
pub fn list() -> Vec<Row> {
    let tiers =
        [(Tier::L0, words::LIST_L0), (Tier::L1, words::LIST_L1), (Tier::L2, words::LIST_L2)];
    let mut rows = Vec::new();
    for (tier, heading) in tiers {
        rows.push(Row::heading(heading));
        for known in safety::known().filter(|known| known.tier == tier) {
            let first = known.names.split(' ').next().unwrap_or(known.names);
            rows.push(Row::pair(known.names, known.why.with("program", first)));
        }
    }
    rows
}

/// Every rule, gravest first, by its id with the tier it brings and why.
pub fn rules() -> Vec<Row> {
    let tiers =
        [(Tier::L2, words::RULES_L2), (Tier::L1, words::RULES_L1), (Tier::L0, words::RULES_L0)];
    let known = safety::rule_ids();
    let mut rows = Vec::new();
    for (tier, heading) in tiers {
        rows.push(Row::heading(heading));
        for rule in known.iter().filter(|rule| rule.tier == tier) {
            let firm = tier == Tier::L2 && !rule.lifts;
            let word = if firm { words::RULE_FIRM } else { words::RULE_LINE };
            let line = word.with("tier", tier.name()).with("why", rule.why.clone());
            rows.push(Row::pair(rule.id.as_str(), line));
        }
    }
    rows
}

/// The folders of a session in `folder`, links resolved.
pub fn place(folder: &Path, home: &Path, trusted: bool, world: &dyn World) -> Place {
    let folder = world.real(folder);
    Place { workspace: folder.clone(), home: world.real(home), cwd: folder, trusted }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(input: &[u8]) -> Vec<Value> {
        let temp = tempfile::tempdir().unwrap();
        let system = System::new(temp.path(), temp.path(), &[]);
        let here = place(temp.path(), temp.path(), true, &system);
        let mut out = Vec::new();
        explain_batch(input, &mut out, &Policy::default(), &here, Lang::En).unwrap();
        out.split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    #[test]
    fn the_list_names_each_program_in_its_reason() {
        for lang in [Lang::En, Lang::Zh] {
            for row in list() {
                let Row::Pair { label, value } = row else { continue };
                let (label, why) = (label.text(lang), value.text(lang));
                assert!(!why.contains('{'), "{label}: {why}");
            }
        }
    }

    #[test]
    fn every_rule_has_an_id_of_its_own_and_a_reason_without_gaps() {
        let mut seen = std::collections::BTreeSet::new();
        for row in rules() {
            let Row::Pair { label, value } = row else { continue };
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
        let mut input = vec![b'x'; MOST_LINE + 10];
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
    fn an_untrusted_folder_raises_every_program() {
        let out = batch(b"{\"id\":1,\"program\":\"pwd\",\"trusted\":false}\n");
        assert_eq!(out[0]["tier"], "L1");
        assert_eq!(out[0]["rule"], "folder.untrusted");
    }

    #[test]
    fn people_read_the_tier_the_rule_and_no_control_characters() {
        let temp = tempfile::tempdir().unwrap();
        let system = System::new(temp.path(), temp.path(), &[]);
        let here = place(temp.path(), temp.path(), true, &system);
        let policy = Policy::default();
        let scene = Scene { policy: &policy, place: &here, world: &system };
        let args = ["--output=\u{1b}[2J\u{202e}x".to_owned(), "a".to_owned()];
        let text = explain_one("sort", &args, scene, Lang::En);
        assert!(text.starts_with("L1 · asks first · "), "{text}");
        assert!(text.contains("sort.output") && text.contains("argument 1"), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
        assert!(explain_one("pwd", &[], scene, Lang::Zh).contains("直接运行"));
    }
}
