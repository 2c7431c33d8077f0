//! Directives that reach outside the script: other scripts, and steps that the policy judges.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::super::fault::quoted;
use super::super::run::calls::ArgValues;
use super::super::run::values::text_of;
use super::super::run::{Frame, ScriptFlow, ScriptRun};
use super::super::shape::input::ScriptArgs;
use super::super::source;
use super::{DirectiveCall, DirectiveResult, memory};
use crate::protocol::StepAction;
use crate::words::script_run as words;

/// `$exec: {id, args}` runs another script.
pub fn exec<'a>(
    run: &'a mut ScriptRun,
    frame: &'a mut Frame,
    given: DirectiveCall<'a>,
) -> DirectiveResult<'a> {
    Box::pin(async move {
        let named = ["id", "filename", "script"];
        let name = named.iter().find_map(|key| given.passed.get(key)).or(given.passed.first());
        let name = name.filter(|name| name.is_string()).map(text_of).ok_or(words::EXEC_NEEDS)?;
        let args = match given.passed.get("args") {
            Some(args) => ScriptArgs::of(args.clone()),
            None => {
                let mut rest = given.passed.map();
                named.iter().for_each(|key| drop(rest.shift_remove(*key)));
                ScriptArgs { by_place: Vec::new(), named: rest }
            }
        };
        run.script(frame, &name, args).await.map(Some)
    })
}

/// `$pipe: name` passes the last result to a function.
pub fn pipe<'a>(
    run: &'a mut ScriptRun,
    frame: &'a mut Frame,
    given: DirectiveCall<'a>,
) -> DirectiveResult<'a> {
    Box::pin(async move {
        let name = given.passed.text("name").unwrap_or_default();
        let name = name.strip_prefix('$').unwrap_or(&name).to_owned();
        let latest = frame.values.latest.clone();
        let mut passed = ArgValues { named: given.passed.named, ..ArgValues::default() };
        passed.named.shift_remove("name");
        passed.pipe(&latest);
        if frame.reach.has_function(&name) {
            run.function(frame, &name, passed).await
        } else {
            run.script(frame, &name, passed.for_script()).await.map(Some)
        }
    })
}

/// `$ready` has nothing to wait for.
pub fn ready<'a>(
    _: &'a mut ScriptRun,
    _: &'a mut Frame,
    _: DirectiveCall<'a>,
) -> DirectiveResult<'a> {
    Box::pin(async move { Ok(None) })
}

/// `$readFile: path`, as a step that the safety policy judges. A relative path is first resolved
/// against the script's folder. `pack://id` is read from the knowledge store.
pub fn read_file<'a>(
    run: &'a mut ScriptRun,
    frame: &'a mut Frame,
    given: DirectiveCall<'a>,
) -> DirectiveResult<'a> {
    Box::pin(async move {
        let path = given.passed.text("path").ok_or(words::FILE_NEEDS)?;
        if let Some(known) = known(run, frame, &path).await? {
            return Ok(Some(known));
        }
        let path = beside(run, frame, &path);
        let mut input = Map::new();
        input.insert("path".to_owned(), Value::from(path.display().to_string()));
        for name in ["start", "end"] {
            if let Some(value) = given.passed.named.get(name) {
                input.insert(name.to_owned(), value.clone());
            }
        }
        let work = StepAction::Tool { name: "file.read".to_owned(), input: Value::Object(input) };
        Ok(Some(Value::String(run.host.step(work).await?)))
    })
}

/// The value of a `pack://` address; `None` if the path is not one.
async fn known(
    run: &mut ScriptRun,
    frame: &Frame,
    path: &str,
) -> Result<Option<Value>, ScriptFlow> {
    let Some(key) = memory::key_of(frame, path) else { return Ok(None) };
    let known = run.host.knowledge(key).await?;
    known.map(Some).ok_or_else(|| ScriptFlow::from(words::NO_KNOWLEDGE.with("name", quoted(path))))
}

/// The file in the script's folder if it exists there, otherwise the path as written.
fn beside(run: &ScriptRun, frame: &Frame, path: &str) -> PathBuf {
    let near = source::clean(&frame.shape.origin.folder.join(path));
    let name = near.file_name().map(|name| name.to_string_lossy().into_owned());
    let folder = near.parent().unwrap_or(Path::new(""));
    let listed = run.library.files().list(folder);
    match listed.iter().any(|entry| Some(&entry.name) == name.as_ref()) {
        true => near,
        false => PathBuf::from(path),
    }
}

/// `$fetchUrl: address`, as a step that asks.
pub fn fetch_url<'a>(
    run: &'a mut ScriptRun,
    frame: &'a mut Frame,
    given: DirectiveCall<'a>,
) -> DirectiveResult<'a> {
    Box::pin(async move {
        let url = given.passed.text("url").ok_or(words::URL_NEEDS)?;
        if let Some(known) = known(run, frame, &url).await? {
            return Ok(Some(known));
        }
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(words::NO_URL.with("url", quoted(&url)).into());
        }
        let args = ["-fsSL", "--max-time", "30", "--max-filesize", "8000000", "--", &url];
        let work = StepAction::exec("curl", &args);
        let text = run.host.step(work).await?;
        Ok(Some(Value::String(text)))
    })
}
