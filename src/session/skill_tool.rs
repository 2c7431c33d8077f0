//! Skills in a session: the tool by which a model enters one, the policy's verdict on that, and the
//! skills that stay in view (002 §2.2). The model chooses from the list in the system prompt; there
//! are no keywords here.
//!
//! The model gets the text of a skill with its shell lines unexpanded: they run only when the user
//! types `/name`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::job::ModelJobs;
use super::script_places::ModelScript;
use avocet_config::extensions::skill_list::BUDGET;
use avocet_config::extensions::{ExtensionLibrary, Skill};
use avocet_core::i18n::{Lang, LocalizedText, prompt as phrases};
use avocet_core::prompt::template::{Template, TemplateValues};
use avocet_core::protocol::{Observation, Outcome, Step, StepAction};
use avocet_mcp::ToolCatalog;
use avocet_safety::{
    ClearedStep, Contents, Machine, McpToolInfo, PathKind, Program, SKILL_TOOL, SkillInfo,
    ToolRestriction,
};
use avocet_tools::{RunControl, Tool, ToolSpec, Toolbox};

/// The maximum length of a skill's text for a model, in bytes.
const MAX_LENGTH: usize = 24 * 1024;
/// The maximum number of skills that stay in view; the latest are kept.
const KEPT: usize = 3;
/// The maximum length of a skill's text in view, in bytes.
const PINNED: usize = 6 * 1024;

/// The tool `skill`.
struct SkillTool {
    library: Arc<ExtensionLibrary>,
}

impl Tool for SkillTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: SKILL_TOOL,
            about: phrases::SKILL_ABOUT,
            prompt: "skill: enter one of the skills below, input {\"name\",\"args\"}; its text comes back, then \
         follow it",
        }
    }

    fn run(&self, step: ClearedStep, _: RunControl) -> BoxFuture<'static, Observation> {
        let library = Arc::clone(&self.library);
        async move {
            let judged = step.judgement();
            let step = judged.step.clone();
            let risk = judged.risk.clone();

            let cwd = judged.cwd.display().to_string();
            let mut observation = Observation::not_run(step.clone(), cwd, risk, Outcome::Ran);
            let text = tokio::task::spawn_blocking(move || expand_skill(&library, &step)).await;
            match text {
                Ok(Ok(text)) => {
                    observation.truncated = text.len() > MAX_LENGTH;
                    observation.stdout = avocet_core::text::cut_middle(&text, MAX_LENGTH);
                    observation.exit_code = Some(0);
                }
                Ok(Err(why)) => {
                    observation.stderr = why.text(Lang::En);
                    observation.exit_code = Some(1);
                    observation.note = Some(why);
                }
                Err(error) => observation.stderr = error.to_string(),
            }
            observation
        }
        .boxed()
    }
}

/// The name and the arguments that a step asks for.
pub(super) fn skill_call(action: &StepAction) -> Option<(&str, &str)> {
    let StepAction::Tool { name, input } = action else { return None };
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    (name == SKILL_TOOL).then(|| Some((text("name")?, text("args").unwrap_or_default())))?
}

fn expand_skill(library: &ExtensionLibrary, step: &Step) -> Result<String, LocalizedText> {
    let (name, args) = skill_call(&step.work).unwrap_or_default();
    let skill = library.skill(name).map_err(|_| phrases::SKILL_UNKNOWN.with("name", name))?;
    let root = skill.root().display().to_string();
    let text = template(skill)?.fill_without_shell(&TemplateValues::new(args, Some(root.clone())));
    Ok(format!(
        "Skill {name}. Its files lie in {root}; read them when its text asks for them. A line as !`…` in it was not run: propose it as a step if you need it.\n\n{}",
        text.trim()
    ))
}

fn template(skill: &Skill) -> Result<Template, LocalizedText> {
    Template::parse(&skill.body()?, skill.template_form())
}

const GUIDE: &str = include_str!("../../assets/prompts/skills.md");

/// The system prompt with its section on skills: the list of skills, and those in view.
pub(super) fn with_skill_section(
    prompt: String,
    library: &ExtensionLibrary,
    active: &ActiveSkills,
) -> String {
    let mut out = prompt;
    let list = library.skills.skills_prompt(BUDGET);
    if !list.is_empty() {
        out.push_str(&format!("\n\n{}\n{list}", GUIDE.trim_end()));
    }
    for (name, text) in &active.0 {
        out.push_str(&format!("\n\nActive skill {name}:\n{text}"));
    }
    out
}

/// The tools of a session, and the tool that enters skills if there are any.
pub(super) fn toolbox(tools: &Toolbox, library: &Arc<ExtensionLibrary>) -> Toolbox {
    if library.skills.is_empty() {
        tools.clone()
    } else {
        tools.with_tool(Arc::new(SkillTool { library: Arc::clone(library) }))
    }
}

/// Combines the machine and the known skills.
pub(super) struct MachineWithSkills {
    pub world: Arc<dyn Machine>,
    pub library: Arc<ExtensionLibrary>,
    pub model_scripts: Arc<Vec<ModelScript>>,
    pub jobs_of_model: ModelJobs,
    pub server_tools: Arc<ToolCatalog>,
}

impl Machine for MachineWithSkills {
    fn base(&self) -> Option<&dyn Machine> {
        Some(&*self.world)
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        self.world.resolve(path)
    }

    fn kind(&self, path: &Path) -> PathKind {
        self.world.kind(path)
    }

    fn program(&self, name: &str) -> Option<Program> {
        self.world.program(name)
    }

    fn read(&self, path: &Path, most: usize) -> Contents {
        self.world.read(path, most)
    }

    fn has_script(&self, script: &str) -> bool {
        self.model_scripts.iter().any(|offered| offered.id == script)
    }

    fn is_job_of_model(&self, id: u64) -> bool {
        self.jobs_of_model.contains(id)
    }

    fn mcp_tool(&self, name: &str) -> Option<McpToolInfo> {
        let offered = self.server_tools.get(name)?;
        Some(McpToolInfo {
            server: offered.server.clone(),
            tool: offered.tool.name.clone(),
            is_said_read_only: offered.tool.is_said_read_only,
        })
    }

    fn skill(&self, name: &str) -> Option<SkillInfo> {
        let skill = self.library.skill(name).ok()?;
        // A skill that cannot be read is never entered; the tool says why.
        let shell = template(skill)
            .map(|template| template.shell_lines().map(|line| line.source().to_owned()).collect());
        Some(SkillInfo {
            open: !skill.disable_model_invocation,
            tools: skill.allowed_tools.clone(),
            shell: shell.unwrap_or_default(),
        })
    }
}

/// The tools that this skill allows for the rest of the turn; `None`: it names none.
pub(super) fn skill_restriction(library: &ExtensionLibrary, name: &str) -> Option<ToolRestriction> {
    let skill = library.skill(name).ok()?;
    let tools = skill.allowed_tools.clone();
    (!tools.is_empty()).then(|| ToolRestriction { skill: name.to_owned(), tools })
}

/// The skills in view: their texts are part of the system prompt, so that compressing the
/// conversation does not remove them.
#[derive(Debug, Default)]
pub struct ActiveSkills(Vec<(String, String)>);

impl ActiveSkills {
    /// Puts a skill in view, and drops the oldest if there are too many.
    pub fn enter(&mut self, name: &str, text: &str) {
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), avocet_core::text::cut_middle(text, PINNED)));
        if self.0.len() > KEPT {
            self.0.remove(0);
        }
    }
}
