//! Directives that reach outside the script: other scripts, and steps that the policy judges.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::super::error::{CallResult, ScriptFlow, quoted};
use super::super::manifest::input::ScriptArgs;
use super::super::run::arguments::ArgValues;
use super::super::run::frame::{Frame, ScriptRun};
use super::super::run::scope::text_of;
use super::super::source;
use super::memory;
use crate::i18n::script_run as words;
use crate::protocol::StepAction;

/// `$exec: {id, args}` runs another script.
pub async fn exec(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let named = ["id", "filename", "script"];
    let name = named.iter().find_map(|key| args.get(key)).or(args.first());
    let name = name.filter(|name| name.is_string()).map(text_of).ok_or(words::EXEC_NEEDS)?;
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

/// `$pipe: name` passes the last result to a function.
pub async fn pipe(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let name = args.text("name").unwrap_or_default();
    let name = name.strip_prefix('$').unwrap_or(&name).to_owned();
    let latest = frame.values.latest.clone();
    let mut passed = ArgValues { named: args.named, ..ArgValues::default() };
    passed.named.shift_remove("name");
    passed.add_latest(&latest);
    if frame.imports.has_function(&name) {
        run.call_function(frame, &name, passed).await
    } else {
        run.call_script(frame, &name, passed.into_script_args()).await.map(Some)
    }
}

/// `$ready` has nothing to wait for.
pub fn ready(_: &mut Frame, _: ArgValues) -> CallResult {
    Ok(None)
}

/// `$readFile: path`, as a step that the safety policy judges. A relative path is first resolved
/// against the script's folder. `pack://id` is read from the knowledge store.
pub async fn read_file(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let path = args.text("path").ok_or(words::FILE_NEEDS)?;
    if let Some(known) = read_pack_value(run, frame, &path).await? {
        return Ok(Some(known));
    }
    let path = resolve_path(run, frame, &path);
    let mut input = Map::new();
    input.insert("path".to_owned(), Value::from(path.display().to_string()));
    for name in ["start", "end"] {
        if let Some(value) = args.named.get(name) {
            input.insert(name.to_owned(), value.clone());
        }
    }
    let work = StepAction::Tool { name: "file.read".to_owned(), input: Value::Object(input) };
    Ok(Some(Value::String(run.host.run_step(work).await?)))
}

/// The value of a `pack://` address; `None` if the path is not one.
async fn read_pack_value(run: &mut ScriptRun, frame: &Frame, path: &str) -> CallResult {
    let Some(key) = memory::pack_key(frame, path) else { return Ok(None) };
    let known = run.host.load_value(key).await?;
    known.map(Some).ok_or_else(|| ScriptFlow::from(words::NO_KNOWLEDGE.with("name", quoted(path))))
}

/// The file in the script's folder if it exists there, otherwise the path as written.
fn resolve_path(run: &ScriptRun, frame: &Frame, path: &str) -> PathBuf {
    let near = source::normalize_path(&frame.manifest.origin.folder.join(path));
    let name = near.file_name().map(|name| name.to_string_lossy().into_owned());
    let folder = near.parent().unwrap_or(Path::new(""));
    let listed = run.library.files().list(folder);
    match listed.iter().any(|entry| Some(&entry.name) == name.as_ref()) {
        true => near,
        false => PathBuf::from(path),
    }
}

/// `$fetchUrl: address`, as a step that asks.
pub async fn fetch_url(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let url = args.text("url").ok_or(words::URL_NEEDS)?;
    if let Some(known) = read_pack_value(run, frame, &url).await? {
        return Ok(Some(known));
    }
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(words::NO_URL.with("url", quoted(&url)).into());
    }
    let args = ["-fsSL", "--max-time", "30", "--max-filesize", "8000000", "--", &url];
    let work = StepAction::exec("curl", &args);
    let text = run.host.run_step(work).await?;
    Ok(Some(Value::String(text)))
}
