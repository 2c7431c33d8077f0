//! Scripts as steps of the agent: which scripts the model may run, and how one runs inside a turn.
//! The script is one step of the turn; its own actions are steps too, each judged and, if needed,
//! approved by the user.
//!
//! Not here: `/run`, which is a turn of its own (`script`).

use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::script_places::ModelScript;
use super::script_turn::{ScriptListener, ScriptOutcome, display_value, play, spawn_script};
use super::turn_scope::TurnScope;
use avocet_core::i18n::{Lang, prompt, session as phrases};
use avocet_core::protocol::{Event, Notice, Observation, Outcome, StepAction};
use avocet_safety::{ClearedStep, SCRIPT_TOOL};
use avocet_script::manifest::input::ScriptArgs;
use avocet_script::{RunRequest, ScriptEvent};
use avocet_tools::{RunControl, Tool, ToolSpec};

/// The maximum length of their list in the system prompt, in bytes.
const BUDGET: usize = 2 * 1024;
/// The maximum length of one run's output for the model, in bytes.
const MAX_LENGTH: usize = 64 * 1024;
/// The system prompt with its section on scripts.
pub(super) fn with_script_section(prompt: String, scripts: &[ModelScript]) -> String {
    if scripts.is_empty() {
        return prompt;
    }
    let mut out =
        format!("{prompt}\n\nScripts (tool {SCRIPT_TOOL}); use one when it does what is asked:");
    let mut left = BUDGET;
    for (at, script) in scripts.iter().enumerate() {
        match left.checked_sub(script.help.len() + 1) {
            Some(rest) => left = rest,
            None => {
                out.push_str(&format!("\n- … {} more", scripts.len() - at));
                break;
            }
        }
        out.push('\n');
        out.push_str(&script.help);
    }
    out
}

/// The script and the arguments that a step asks for.
pub(super) fn script_call(action: &StepAction) -> Option<(&str, ScriptArgs)> {
    let StepAction::Tool { name, input } = action else { return None };
    let script = input.get("script").and_then(Value::as_str).filter(|_| name == SCRIPT_TOOL)?;
    let args = match input.get("args").cloned() {
        Some(Value::String(text)) => ScriptArgs::parse(&text).unwrap_or_default(),
        args => ScriptArgs::from_value(args.unwrap_or(Value::Null)),
    };
    Some((script, args))
}

/// The tool `script.run`. The turn runs it, since a script may ask the user.
pub(super) struct ScriptRunTool;

impl Tool for ScriptRunTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: SCRIPT_TOOL,
            about: prompt::SCRIPT_ABOUT,
            prompt: "script.run: run one of the scripts below, input {\"script\",\"args\":{…}}; what it prints \
         and its result come back",
        }
    }

    fn run(&self, step: ClearedStep, _: RunControl) -> BoxFuture<'static, Observation> {
        let judged = step.judgement();
        let cwd = judged.cwd.display().to_string();
        let mut observation =
            Observation::not_run(judged.step.clone(), cwd, judged.risk.clone(), Outcome::Ran);
        observation.note = Some(phrases::SCRIPT_BROKE.into());
        std::future::ready(observation).boxed()
    }
}

/// A script that runs as a step.
struct ScriptStep<'h> {
    scope: &'h mut TurnScope,
    id: String,
    /// What it printed.
    text: String,
}

/// Runs a script as a step of the turn.
pub(super) async fn run(scope: &mut TurnScope, cleared: ClearedStep) -> Observation {
    let judged = cleared.judgement();
    let (step, risk) = (judged.step.clone(), judged.risk.clone());
    let (script, args) = script_call(&step.work)
        .map_or_else(Default::default, |(script, args)| (script.to_owned(), args));
    let from = scope.judge.folder().to_owned();
    let mut observation = Observation::not_run(
        step.clone(),
        judged.cwd.display().to_string(),
        risk.clone(),
        Outcome::Ran,
    );
    scope.events.emit(Event::StepStarted { step: step.clone(), risk }).await;
    let started = Instant::now();
    let request = RunRequest { script, from, args, streams: false, asks_inputs: false };
    let numbers = (format!("{}_", step.id), 0);
    let (world, inbox) =
        scope.script_host(Some(Arc::clone(&scope.context.responder.model)), numbers);
    let library = scope.context.scripts.places.clone().library();
    let mut step = ScriptStep { scope, id: step.id, text: String::new() };
    let came = play(&mut step, spawn_script(request, library, world), inbox).await;
    let text = step.text;
    let (text, why) = match came {
        ScriptOutcome::Ended(Ok(value))
            if value.is_empty() || text.trim_end().ends_with(value.trim()) =>
        {
            (text, None)
        }
        ScriptOutcome::Ended(Ok(value)) => (format!("{text}{value}"), None),
        ScriptOutcome::Ended(Err(why)) => (text, Some(why)),
        ScriptOutcome::Cancelled | ScriptOutcome::Stopped => {
            observation.outcome = Outcome::Cancelled;
            (text, None)
        }
    };
    observation.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    observation.truncated = text.len() > MAX_LENGTH;
    observation.stdout = avocet_core::text::cut_middle(&text, MAX_LENGTH);
    observation.exit_code =
        (observation.outcome == Outcome::Ran).then_some(i32::from(why.is_some()));
    if let Some(why) = why {
        observation.stderr = why.text(Lang::En);
        observation.note = Some(why);
    }
    scope.context.redactor.mask_output(&mut observation);
    observation
}

impl ScriptListener for ScriptStep<'_> {
    fn scope(&mut self) -> &mut TurnScope {
        self.scope
    }

    async fn handle_event(&mut self, script_event: ScriptEvent) {
        let event = match script_event {
            ScriptEvent::Print(value) => {
                let text = format!("{}\n", display_value(&value));
                if self.text.len() < MAX_LENGTH * 2 {
                    self.text.push_str(&text);
                }
                Event::StepOutput { id: self.id.clone(), text }
            }
            ScriptEvent::TokensUsed(usage) => {
                return self.scope.account.add_extra(usage, &self.scope.shared.spending);
            }
            ScriptEvent::StepStarted(began) => {
                let (step, risk) = *began;
                Event::StepStarted { step, risk }
            }
            ScriptEvent::Output(id, text) => Event::StepOutput { id, text },
            ScriptEvent::StepFinished(observation) => Event::StepFinished(observation),
            ScriptEvent::Note(say) => Event::Notice(Notice::warning(say)),
            ScriptEvent::Delta(_)
            | ScriptEvent::Message(..)
            | ScriptEvent::Reasoning(_)
            | ScriptEvent::AnswerStarted(_)
            | ScriptEvent::AnswerEnded
            | ScriptEvent::ModelCallStarted
            | ScriptEvent::ScriptCalled(_) => return,
        };
        self.scope.events.emit(event).await;
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::super::script_places::{ScriptPlaces, find_model_scripts};
    use super::*;

    #[test]
    fn scripts_with_a_description_are_offered_within_the_budget() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().canonicalize().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        write("rain.ai.yaml", "---\ntitle: tells the weather\ninput: [place]\n---\nuser: q\n");
        write("mute.ai.yaml", "user: q\n");
        write("broken.ai.yaml", "---\ntitle: x\n---\nuser: a: b\n");
        let places = |trusted: &[&Path]| ScriptPlaces {
            folders: vec![folder.clone()],
            trusted: trusted.iter().map(|path| path.to_path_buf()).collect(),
            ..ScriptPlaces::default()
        };
        let offered = find_model_scripts(&places(&[&folder]));
        assert_eq!(offered.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["rain"]);
        assert!(find_model_scripts(&places(&[])).is_empty());
        let prompt = with_script_section("P".to_owned(), &offered);
        assert!(prompt.ends_with("\n- rain(place=…): tells the weather"), "{prompt}");
        assert_eq!(with_script_section("P".to_owned(), &[]), "P");
        let many: Vec<ModelScript> = (0..200)
            .map(|n| ModelScript {
                id: format!("s{n}"),
                help: format!("- s{n}: {}", "x".repeat(60)),
            })
            .collect();
        let prompt = with_script_section(String::new(), &many);
        assert!(prompt.len() < BUDGET + 200 && prompt.contains("more"), "{}", prompt.len());
    }

    #[test]
    fn a_step_names_a_script_and_its_arguments() {
        let work = |input| StepAction::Tool { name: SCRIPT_TOOL.into(), input };
        let named = work(json!({"script": "a", "args": {"x": 1}}));
        assert_eq!(script_call(&named), Some(("a", ScriptArgs::from_value(json!({"x": 1})))));
        let text = work(json!({"script": "a", "args": "{x: 1}"}));
        assert_eq!(script_call(&text), script_call(&named));
        assert_eq!(script_call(&StepAction::exec("ls", &[])), None);
    }
}
