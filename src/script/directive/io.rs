//! Directives that reach outside the script: other scripts, and steps that the policy judges.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::super::error::{CallResult, ErrorCause, ScriptFlow, ScriptResult, quoted};
use super::super::manifest::input::ScriptArgs;
use super::super::permission::CallNames;
use super::super::program_output::ProgramOutput;
use super::super::run::arguments::ArgValues;
use super::super::run::builtin_tools;
use super::super::run::frame::{Frame, ScriptRun};
use super::super::run::scope::{text_of, texts_of};
use super::super::settings::AGENT_KEYS;
use super::super::source;
use super::memory;
use avocet_core::i18n::{Localize, script_run as phrases};
use avocet_core::protocol::{ApprovalMode, StepAction};

/// `$exec: {id, args}` runs another script; `$exec: {program, args}` runs a program, without a
/// shell. Its value is the output, or with `check: false` `{code, stdout, stderr}`.
pub async fn exec(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    if args.get("program").is_some() {
        let args = args.to_map();
        let is_checked = builtin_tools::is_checked(&args);
        let done = run_own_step(run, frame, "exec", args).await;
        return Ok(Some(match builtin_tools::step_value(done, is_checked)? {
            Value::String(text) => Value::from(text.trim_end_matches(['\r', '\n'])),
            value => value,
        }));
    }
    let named = ["id", "filename", "script"];
    let name = named.iter().find_map(|key| args.get(key)).or(args.first());
    let name = name.filter(|name| name.is_string()).map(text_of).ok_or(phrases::EXEC_NEEDS)?;
    let args = match args.get("args") {
        Some(args) => ScriptArgs::from_value(args.clone()),
        None => {
            let mut rest = args.to_map();
            named.iter().for_each(|key| drop(rest.shift_remove(*key)));
            ScriptArgs::from(rest)
        }
    };
    run.call_script(frame, &name, args).await.map(Some)
}

/// `$agent: {task, tools, mode, agent}` is a turn of the agent, within what the user lets it do.
pub async fn agent(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let task = args.get("task").or(args.first()).and_then(Value::as_str);
    let task = task.filter(|task| !task.trim().is_empty()).ok_or(phrases::AGENT_NEEDS)?;
    let mut input = args.to_map();
    input.insert("task".to_owned(), task.into());
    input.retain(|name, value| AGENT_KEYS.contains(&&**name) && !value.is_null());
    let mode = input.get("mode").map(text_of);
    if let Some(mode) = mode.filter(|mode| ApprovalMode::parse(mode).is_none()) {
        let what = phrases::SETTING_VALUE.with("name", "mode").with("value", quoted(&mode));
        return Err(what.with("list", ApprovalMode::NAMES.join(", ")).into());
    }
    let permission = frame.step_question(&CallNames::new("agent", []), &input)?;
    run.limits.count_model_call()?;
    let action = StepAction::Tool { name: "task".to_owned(), input: Value::Object(input) };
    let done = run.host.run_step(action, permission).await?;
    run.limits.add_usage(done.usage);
    Ok(Some(Value::String(done.stdout)))
}

/// `$pipe: name` passes the last result to a function.
pub async fn pipe(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let name = args.text("name").unwrap_or_default();
    let name = name.strip_prefix('$').unwrap_or(&name).to_owned();
    let latest = frame.values.latest.clone();
    // The name is the first argument, unless it has its key.
    let first = usize::from(args.get("name").is_none());
    let mut values = ArgValues { named: args.to_map(), ..ArgValues::default() };
    values.named.shift_remove("name");
    if !matches!(args.positional.as_slice(), [Value::Object(_)]) {
        values.positional = args.positional.into_iter().skip(first).collect();
    }
    values.add_latest(&latest);
    if frame.bindings.has_function(&name) {
        run.call_function(frame, &name, values).await
    } else {
        run.call_script(frame, &name, values.into_script_args()).await.map(Some)
    }
}

/// `$ready` has nothing to wait for.
pub fn ready(_: &mut Frame, _: ArgValues) -> CallResult {
    Ok(None)
}

/// One of the program's own tools as a step of the script itself: its permissions may deny it, and
/// only the safety policy clears it.
async fn run_own_step(
    run: &mut ScriptRun,
    frame: &Frame,
    tool: &str,
    args: Map<String, Value>,
) -> ScriptResult<ProgramOutput> {
    let tool = builtin_tools::find(tool).ok_or(phrases::STEP_BROKEN)?;
    let permission = frame.step_question(&tool.call_names(tool.id), &args)?;
    Ok(run.host.run_step(tool.step_action(&args)?, permission).await?)
}

/// `$writeFile: {path, content}` writes a whole file, as a step. Text is written as it is, any other
/// value as JSON.
pub async fn write_file(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let mut unnamed = args.positional.iter().filter(|value| !value.is_object());
    let path = args.get("path").or_else(|| unnamed.next()).and_then(Value::as_str);
    let path = expand_variables(&run.host.environment(), path.ok_or(phrases::WRITE_NEEDS)?)?;
    let content = args.get("content").or_else(|| unnamed.next());
    // In a chain, the last result is written.
    let content = content.or_else(|| Some(&frame.values.latest).filter(|latest| !latest.is_null()));
    let content = match content.ok_or(phrases::WRITE_NEEDS)? {
        Value::String(text) => text.clone(),
        value => format!("{}\n", serde_json::to_string_pretty(value).unwrap_or_default()),
    };
    let step = [("path", path), ("content", content)];
    let step = step.map(|(name, value)| (name.to_owned(), Value::String(value)));
    run_own_step(run, frame, "file.write", step.into_iter().collect()).await?;
    Ok(None)
}

/// `$listFilenames: {dir, extname, recursive}` returns the names of the files below a folder, as a
/// step. An `extname` may have two parts: `.ai.yaml`.
pub async fn list_filenames(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let folder = args.text("dir").unwrap_or_else(|| ".".to_owned());
    let folder = expand_variables(&run.host.environment(), &folder)?;
    let ends = texts_of(args.get("extname"));
    let mut input = Map::from_iter([("path".to_owned(), Value::from(folder))]);
    if args.get("recursive") == Some(&Value::Bool(false)) {
        input.insert("depth".to_owned(), Value::from(1));
    }
    let listed = match run_own_step(run, frame, "file.list", input).await {
        Ok(listed) => listed.stdout,
        // A folder that does not exist has no files, as in the published engine; a note says why.
        Err(ScriptFlow::Failed(failure)) if failure.cause == ErrorCause::Script => {
            run.host.emit_note(failure.localized());
            String::new()
        }
        Err(halt) => return Err(halt),
    };
    let is_file = |name: &&str| !name.ends_with(['/', '@']);
    let files = listed.lines().filter(is_file);
    let wanted = files.filter(|name| ends.is_empty() || ends.iter().any(|end| name.ends_with(end)));
    Ok(Some(wanted.map(Value::from).collect()))
}

/// `$isDir: path` tells whether there is a folder, as a step.
pub async fn is_dir(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let path = args.text("path").or_else(|| args.text("content")).ok_or(phrases::FILE_NEEDS)?;
    let path = expand_variables(&run.host.environment(), &path)?;
    let input = [("path", Value::from(path.as_str())), ("depth", Value::from(1))];
    let input = input.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
    match run_own_step(run, frame, "file.list", input).await {
        // Of a file, the list is its own name.
        Ok(listed) => {
            let listed = listed.stdout;
            Ok(Some(Value::Bool(!path.ends_with(listed.trim_end()) || listed.is_empty())))
        }
        Err(ScriptFlow::Failed(failure)) if failure.cause == ErrorCause::Script => {
            Ok(Some(Value::Bool(false)))
        }
        Err(halt) => Err(halt),
    }
}

/// A path with its `$NAME`, `${NAME}` and the `~/` in front of it replaced. Only variables that the
/// user lists may be read.
fn expand_variables(environment: &Map<String, Value>, path: &str) -> ScriptResult<String> {
    let value = |name: &str| match environment.get(name) {
        Some(value) => Ok(text_of(value)),
        None => Err(ScriptFlow::from(phrases::VARIABLE_CLOSED.with("name", quoted(name)))),
    };
    let home = path.strip_prefix("~/");
    let mut out = match home {
        Some(_) => value("HOME")? + "/",
        None => String::new(),
    };
    let mut rest = home.unwrap_or(path);
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let open = after.strip_prefix('{');
        let text = open.unwrap_or(after);
        let end = text.find(|c: char| !c.is_ascii_uppercase() && !c.is_ascii_digit() && c != '_');
        let (name, after_name) = text.split_at(end.unwrap_or(text.len()));
        let closed = if open.is_some() { after_name.strip_prefix('}') } else { Some(after_name) };
        let is_name = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
        match closed.filter(|_| is_name) {
            Some(after) => {
                out.push_str(&value(name)?);
                rest = after;
            }
            None => {
                out.push('$');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// `$readFile: path`, as a step that the safety policy judges. A relative path is first resolved
/// against the script's folder. `pack://id` is read from the knowledge store.
pub async fn read_file(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let path = args.text("path").ok_or(phrases::FILE_NEEDS)?;
    if let Some(known) = read_pack_value(run, frame, &path).await? {
        return Ok(Some(known));
    }
    let path = expand_variables(&run.host.environment(), &path)?;
    let found = resolve_path(run, frame, &path).display().to_string();
    let mut input = Map::from_iter([("path".to_owned(), Value::from(path))]);
    for name in ["start", "end"] {
        if let Some(value) = args.named.get(name) {
            input.insert(name.to_owned(), value.clone());
        }
    }
    // The rules know the path as it is written; what they forbid is forbidden where it was found.
    let names = CallNames::new("file.read", []).denied_as(["readFile", "file"]);
    let permission = frame.step_question(&names, &input)?;
    input.insert("path".to_owned(), Value::from(found));
    frame.check_not_forbidden(&names, &input)?;
    let tool = StepAction::Tool { name: "file.read".to_owned(), input: Value::Object(input) };
    Ok(Some(Value::String(run.host.run_step(tool, permission).await?.stdout)))
}

/// The value of a `pack://` address; `None` if the path is not one.
async fn read_pack_value(run: &mut ScriptRun, frame: &Frame, path: &str) -> CallResult {
    let Some(key) = memory::pack_key(frame, path) else { return Ok(None) };
    let known = run.host.load_value(key).await?;
    known
        .map(Some)
        .ok_or_else(|| ScriptFlow::from(phrases::NO_KNOWLEDGE.with("name", quoted(path))))
}

/// The file in the script's folder if it exists there, otherwise the path as written.
fn resolve_path(run: &ScriptRun, frame: &Frame, path: &str) -> PathBuf {
    let near = source::normalize_path(&frame.manifest.origin.folder.join(path));
    let name = near.file_name().map(|name| name.to_string_lossy().into_owned());
    let folder = near.parent().unwrap_or(Path::new(""));
    let listed = run.library.files().list(folder);
    if listed.iter().any(|entry| Some(&entry.name) == name.as_ref()) {
        near
    } else {
        PathBuf::from(path)
    }
}

/// `$fetchUrl: address`, as a step that asks.
pub async fn fetch_url(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let url = args.text("url").ok_or(phrases::URL_NEEDS)?;
    if let Some(known) = read_pack_value(run, frame, &url).await? {
        return Ok(Some(known));
    }
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(phrases::NO_URL.with("url", quoted(&url)).into());
    }
    let args = ["-fsSL", "--max-time", "30", "--max-filesize", "8000000", "--", &url];
    let work = StepAction::exec("curl", &args);
    let judged = json!({ "url": url, "program": "curl", "args": args });
    let names = CallNames::new("fetchUrl", ["url"]).denied_as(["exec"]);
    let permission = frame.step_question(&names, judged.as_object().unwrap_or(&Map::new()))?;
    let text = run.host.run_step(work, permission).await?.stdout;
    Ok(Some(Value::String(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_a_path_are_read_only_if_the_user_lists_them() {
        let listed = [("HOME", "/home/ann"), ("USER", "ann")];
        let listed = listed.map(|(name, value)| (name.to_owned(), Value::from(value)));
        let listed = listed.into_iter().collect();
        let read = |path: &str| expand_variables(&listed, path);
        for (path, expanded) in [
            ("$HOME/x", "/home/ann/x"),
            ("${HOME}x/$USER", "/home/annx/ann"),
            ("~/a~/b", "/home/ann/a~/b"),
            ("cost$.txt", "cost$.txt"),
            ("$lower/${HOME", "$lower/${HOME"),
        ] {
            assert_eq!(read(path).unwrap(), expanded);
        }
        let ScriptFlow::Failed(failure) = read("$API_KEY").unwrap_err() else { panic!("failed") };
        assert!(failure.to_string().contains("scripts.environment"), "{failure}");
    }
}
