//! The plugins, as the system prompt names them.

use std::path::Path;

use avocet_safety::Machine;
use avocet_safety::tools::PluginRegistry;
use avocet_tools::Toolbox;

/// The maximum number of plugins that are named.
const MAX_PLUGINS: usize = 50;

/// The plugins that the model may run, by name; what each can do it asks the plugin.
pub(super) fn plugin_section(tools: &Toolbox, home: &Path, world: &dyn Machine) -> String {
    let is_offered = tools.iter().any(|tool| tool.spec().name == "plugin.run");
    // A broken registry is reported where a plugin is listed or run.
    let registry = is_offered.then(|| PluginRegistry::read(home, world));
    let registry = registry.and_then(Result::ok).flatten().unwrap_or_default();
    let is_plain = |alias: &&str| {
        alias.len() <= 64 && alias.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    let aliases = registry.entries.iter().map(|entry| entry.alias.as_str()).filter(is_plain);
    let aliases: Vec<&str> = aliases.take(MAX_PLUGINS).collect();
    if aliases.is_empty() {
        String::new()
    } else {
        format!("\n\nPlugins (tool plugin.run): {}", aliases.join(", "))
    }
}
