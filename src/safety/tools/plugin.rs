//! Judges `plugin.run` (001 §12.1): a plugin of slothtool, found in its registry, run by
//! `node`. The registry is read again for each judgement and never written.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::input::{InputFields, Names};
use super::schema::{FieldKind, FieldRow, optional, required};
use super::{TaskResult, ToolTask, excerpt};
use crate::findings::Findings;
use crate::paths;
use crate::spec::JudgeContext;
use crate::{Contents, Machine};
use avocet_core::i18n::{LocalizedText, safety as phrases};
use avocet_core::protocol::{Effect, Tier};

const ALIAS: Names = &["alias", "plugin", "name"];
const ARGS: Names = &["args", "arguments", "argv"];

pub const FIELDS: &[FieldRow] =
    &[required(ALIAS, FieldKind::Text), optional(ARGS, FieldKind::Texts)];
/// Of a registry and of a plugin's description, in bytes.
const MAX_BYTES: usize = 1024 * 1024;
/// Arguments that ask a plugin for its conversation.
const INTERACTIVE: &[&str] = &["-i", "--interactive"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginTask {
    pub alias: String,
    /// The script that `node` is given.
    pub bin: PathBuf,
    pub args: Vec<String>,
    /// It talks to the user and needs the terminal.
    pub interactive: bool,
}

impl PluginTask {
    /// The arguments for `node`.
    pub fn node_args(&self) -> Vec<String> {
        let bin = self.bin.to_string_lossy().into_owned();
        std::iter::once(bin).chain(self.args.iter().cloned()).collect()
    }
}

/// slothtool's record of its plugins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginRegistry {
    pub entries: Vec<PluginEntry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginEntry {
    pub alias: String,
    /// Of the package.
    pub name: String,
    pub version: String,
    pub bin: PathBuf,
}

impl PluginRegistry {
    /// Below a home folder.
    pub fn registry_path(home: &Path) -> PathBuf {
        home.join(".slothtool").join("registry.json")
    }

    /// As it is now; `None`: there is none.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn read(home: &Path, world: &dyn Machine) -> Result<Option<PluginRegistry>, LocalizedText> {
        let file = PluginRegistry::registry_path(home);
        let broken = |why: String| {
            phrases::REGISTRY_BROKEN.with("file", file.display().to_string()).with("why", why)
        };
        match world.read(&file, MAX_BYTES) {
            Contents::Missing => Ok(None),
            Contents::Unreadable => Err(broken("-".to_owned())),
            Contents::Bytes(bytes) => {
                let value: Value =
                    serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
                PluginRegistry::from_value(&value)
                    .map(Some)
                    .ok_or_else(|| broken("`plugins`".to_owned()))
            }
        }
    }

    /// An entry without a path cannot run.
    fn from_value(value: &Value) -> Option<PluginRegistry> {
        let plugins = value.get("plugins")?.as_object()?;
        let entry = |(alias, entry): (&String, &Value)| {
            let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
            let bin = Some(text("binPath")).filter(|bin| !bin.is_empty())?;
            Some(PluginEntry {
                alias: alias.clone(),
                name: text("name").to_owned(),
                version: text("version").to_owned(),
                bin: PathBuf::from(bin),
            })
        };
        Some(PluginRegistry { entries: plugins.iter().filter_map(entry).collect() })
    }

    /// By its alias, by the name of its package, or by the alias of that name.
    pub fn find(&self, name: &str) -> Option<&PluginEntry> {
        let by =
            |test: &dyn Fn(&PluginEntry) -> bool| self.entries.iter().find(|entry| test(entry));
        by(&|entry| entry.alias == name)
            .or_else(|| by(&|entry| entry.name == name))
            .or_else(|| by(&|entry| alias_of(&entry.name) == alias_of(name)))
    }
}

/// The alias of a package: without its scope, then without a leading `plugin-`.
pub fn alias_of(package: &str) -> &str {
    let bare = match package.split_once('/') {
        Some((scope, bare)) if scope.starts_with('@') => bare,
        _ => package,
    };
    bare.strip_prefix("plugin-").filter(|rest| !rest.is_empty()).unwrap_or(bare)
}

pub fn judge(
    input: &InputFields<'_>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> TaskResult {
    let policy_cx = context.policy_cx;
    let alias = input.text(ALIAS)?;
    let args = input.texts(ARGS)?;
    if args.iter().any(|arg| arg.contains('\0')) {
        return Err(LocalizedText::from(phrases::PATH_NUL).into());
    }
    let home = &policy_cx.place.home;
    let registry = PluginRegistry::read(home, policy_cx.world)?.ok_or_else(|| {
        phrases::NO_REGISTRY.with("file", PluginRegistry::registry_path(home).display().to_string())
    })?;
    let entry = registry.find(alias).ok_or_else(|| {
        let known: Vec<&str> = registry.entries.iter().map(|entry| entry.alias.as_str()).collect();
        phrases::NO_PLUGIN.with("alias", excerpt(alias)).with("known", excerpt(&known.join(", ")))
    })?;
    if policy_cx.world.program("node").is_none() {
        return Err(LocalizedText::from(phrases::NO_NODE).into());
    }
    let root = policy_cx.world.resolve(&home.join(".slothtool"));
    let bin = policy_cx.world.resolve(&root.join(&entry.bin));
    if !bin.starts_with(&root) {
        let say = phrases::PLUGIN_OUTSIDE
            .with("alias", excerpt(&entry.alias))
            .with("path", excerpt(&bin.to_string_lossy()));
        findings.add("plugin.outside", Tier::L2, say, None, &[Effect::Exec, Effect::Outside]);
    }
    // Its own code, with what it depends on.
    findings.launch.readable.push(root.clone());
    let say = phrases::PLUGIN_RUNS
        .with("alias", excerpt(&entry.alias))
        .with("name", excerpt(&entry.name))
        .with("version", excerpt(&entry.version));
    findings.add("plugin.run", Tier::L1, say, None, &[Effect::Exec]);
    for arg in &args {
        check_argument_path(arg, context, findings);
    }
    let interactive = wants_terminal(&bin, &root, &args, policy_cx.world);
    if interactive {
        findings.add(
            "plugin.interactive",
            Tier::L1,
            phrases::PLUGIN_TERMINAL,
            None,
            &[Effect::Terminal],
        );
    }
    Ok(ToolTask::Plugin(PluginTask { alias: entry.alias.clone(), bin, args, interactive }))
}

/// A plugin may read or write what its arguments name.
fn check_argument_path(arg: &str, context: &JudgeContext<'_>, findings: &mut Findings) {
    let value =
        arg.split_once('=').filter(|_| arg.starts_with('-')).map_or(arg, |(_, value)| value);
    if !paths::looks_like_path(value) {
        return;
    }
    let class = paths::classify(value, &context.cwd, context.policy_cx);
    if let Some((rule, why, effects)) = class.read_risk() {
        findings.add_repeated(rule, Tier::L1, why.with("path", excerpt(value)), effects);
    }
}

/// Whether it would talk: its package says that it can, and the arguments ask for it or
/// there are none.
fn wants_terminal(bin: &Path, root: &Path, args: &[String], world: &dyn Machine) -> bool {
    let folders = bin.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
    let package = folders.into_iter().find_map(|folder| {
        match world.read(&folder.join("package.json"), MAX_BYTES) {
            Contents::Bytes(bytes) => serde_json::from_slice::<Value>(&bytes).ok(),
            Contents::Missing | Contents::Unreadable => None,
        }
    });
    let Some(about) = package.map(|package| package["slothtool"].clone()) else { return false };
    about["interactive"] == Value::Bool(true)
        && (args.is_empty() || args.iter().any(|arg| asks_to_talk(arg, &about)))
}

/// Whether an argument asks for the conversation: by a usual flag, or by one that the package
/// names.
fn asks_to_talk(arg: &str, about: &Value) -> bool {
    let (flag, value) = arg.split_once('=').unwrap_or((arg, ""));
    let named = ["interactiveFlag", "interactiveFlags"].map(|name| match &about[name] {
        Value::Array(flags) => flags.iter().any(|own| own == flag),
        own => own == flag,
    });
    (INTERACTIVE.contains(&flag) || named.contains(&true)) && value != "false"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_has_neither_scope_nor_prefix() {
        for (package, alias) in [
            ("@holic512/plugin-ai", "ai"),
            ("plugin-loc", "loc"),
            ("@x/llm-base", "llm-base"),
            ("plain", "plain"),
            ("plugin-", "plugin-"),
        ] {
            assert_eq!(alias_of(package), alias);
        }
    }
}
