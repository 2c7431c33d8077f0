//! What the files of commands and skills say of themselves as slash commands: other names, their
//! place in menus, where they work, and their arguments.

use super::yaml::YamlNode;
use crate::toml_schema::TomlKind::{Choice, Count, List, Text};
use crate::toml_schema::{ListKind, SettingKey, TomlValue};
use avocet_core::prompt::template::{Template, TemplateForm};
use avocet_core::protocol::{Availability, Category, CommandArgument, CommandTraits, WhileBusy};
use avocet_core::text::one_line;

const REACHES: &[&str] = &["everywhere", "terminal", "gateway"];
const BUSY: &[&str] = &["now", "wait", "refuse"];
/// Maximum number of separate arguments; platforms show fewer.
const MAX_ARGUMENTS: usize = 25;
/// The name of an argument whose hint has another form.
const WHOLE: &str = "arguments";

/// The keys in a TOML file; front matter has the same, with `-` in place of `_`.
pub const KEYS: [SettingKey; 10] = [
    SettingKey::of_extension("argument_hint", Text),
    // As front matter spells it.
    SettingKey::of_extension("argument-hint", Text),
    SettingKey::of_extension("args_hint", Text),
    SettingKey::of_extension("aliases", List(ListKind::Names)),
    SettingKey::of_extension("category", Choice(Category::CODES)),
    SettingKey::of_extension("reach", Choice(REACHES)),
    SettingKey::of_extension("setting", Text),
    SettingKey::of_extension("busy", Choice(BUSY)),
    SettingKey::of_extension("priority", Count { min: 1, max: 255 }),
    SettingKey::of_extension("arguments.*", Text),
];

/// Collects the keys of one file.
#[derive(Clone, Debug, Default)]
pub struct TraitsReader {
    traits: CommandTraits,
    hint: String,
    setting: String,
    abouts: Vec<(String, String)>,
}

impl TraitsReader {
    /// Takes a value of a TOML file, already checked against [`KEYS`]; false: it is not one of them.
    pub fn take(&mut self, path: &str, value: &TomlValue) -> bool {
        match (path, value) {
            ("aliases", TomlValue::List(names)) => self.set_aliases(names.iter().cloned()),
            ("priority", TomlValue::Count(count)) => {
                self.traits.priority = u8::try_from(*count).unwrap_or(u8::MAX);
            }
            (path, TomlValue::Text(text)) => return self.take_text(path, text),
            _ => return false,
        }
        true
    }

    /// Takes a value of front matter. One that is not valid narrows: such a command works only in
    /// the terminal.
    pub fn take_yaml(&mut self, key: &str, node: &YamlNode) -> bool {
        match (key, node) {
            ("argument-hint", node) => self.hint = hint(node),
            ("aliases", YamlNode::List(items)) => {
                self.set_aliases(items.iter().map(YamlNode::flat));
            }
            ("aliases", node) => {
                let names = node.flat();
                let names = names.split([',', ' ']).filter(|name| !name.is_empty());
                self.set_aliases(names.map(str::to_owned));
            }
            ("arguments", YamlNode::Map(pairs)) => {
                self.abouts.extend(pairs.iter().map(|(name, node)| (name.clone(), node.flat())));
            }
            ("priority", node) => {
                self.traits.priority = node.flat().trim().parse().unwrap_or(u8::MAX);
            }
            (key, node) => return self.take_text(key, &node.flat()),
        }
        true
    }

    fn take_text(&mut self, key: &str, text: &str) -> bool {
        let traits = &mut self.traits;
        match key {
            "argument_hint" | "argument-hint" | "args_hint" => text.clone_into(&mut self.hint),
            "category" => traits.category = Category::from_code(text).unwrap_or_default(),
            "reach" => {
                traits.reach = match text {
                    "everywhere" => Availability::Everywhere,
                    "gateway" => Availability::GatewayOnly,
                    _ => Availability::LocalOnly,
                };
            }
            "setting" => text.clone_into(&mut self.setting),
            "busy" => {
                traits.busy = match text {
                    "now" => WhileBusy::Now,
                    "wait" => WhileBusy::Wait,
                    _ => WhileBusy::Refuse,
                };
            }
            key => match key.strip_prefix("arguments.") {
                Some(name) => self.abouts.push((name.to_owned(), text.to_owned())),
                None => return false,
            },
        }
        true
    }

    fn set_aliases(&mut self, names: impl Iterator<Item = String>) {
        // Those that cannot be typed are dropped where that is reported.
        self.traits.aliases = names.map(|name| name.trim_start_matches('/').to_owned()).collect();
    }

    /// Without a hint in the file, a template that inserts arguments has one all the same.
    pub fn infer_hint(&mut self, template: &str, form: TemplateForm) {
        let takes_args = || Template::parse(template, form).is_ok_and(|found| found.has_args());
        if self.hint.is_empty() && takes_args() {
            self.hint = format!("[{WHOLE}]");
        }
    }

    /// The hint, and the rest.
    pub fn finish(self) -> (String, CommandTraits) {
        let TraitsReader { mut traits, hint, setting, abouts } = self;
        if !setting.is_empty() {
            traits.reach = Availability::LocalUnless(setting);
        }
        traits.arguments = arguments(&hint, &abouts);
        (hint, traits)
    }
}

/// Reads `<city> [days] [fast|slow]`. A hint of another form is one optional text.
fn arguments(hint: &str, abouts: &[(String, String)]) -> Vec<CommandArgument> {
    let about = |name: &str| {
        let named = abouts.iter().find(|(known, _)| known == name);
        named.map(|(_, about)| about.clone()).unwrap_or_default()
    };
    let mut rest = hint.trim();
    let mut arguments: Vec<CommandArgument> = Vec::new();
    while !rest.is_empty() {
        let close = match rest.chars().next() {
            Some('<') => '>',
            Some('[') => ']',
            _ => break,
        };
        let Some((inside, after)) = rest.get(1..).and_then(|rest| rest.split_once(close)) else {
            break;
        };
        let parts: Vec<String> = inside.split('|').map(|part| part.trim().to_owned()).collect();
        let (name, choices) = match parts.len() {
            1 => (inside.trim().trim_end_matches(['.', '…']).to_owned(), Vec::new()),
            _ => (format!("choice{}", arguments.len() + 1), parts),
        };
        // A required argument after an optional one cannot be distinguished from it.
        let is_required = close == '>' && arguments.iter().all(|before| before.is_required);
        arguments.push(CommandArgument { about: about(&name), name, is_required, choices });
        rest = after.trim_start();
    }
    let is_plain = rest.is_empty()
        && arguments.len() <= MAX_ARGUMENTS
        && arguments.iter().all(|argument| !argument.name.is_empty());
    if is_plain {
        arguments
    } else {
        vec![CommandArgument {
            name: WHOLE.to_owned(),
            about: hint.trim().to_owned(),
            ..CommandArgument::default()
        }]
    }
}

/// `[file]` is a list to YAML.
fn hint(node: &YamlNode) -> String {
    match node {
        YamlNode::List(_) => format!("[{}]", one_line(&node.flat())),
        YamlNode::Text(_) | YamlNode::Map(_) => one_line(&node.flat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(hint: &str) -> Vec<String> {
        let one = |argument: &CommandArgument| {
            let mark = if argument.is_required { "!" } else { "?" };
            format!("{}{mark}{}", argument.name, argument.choices.join("/"))
        };
        arguments(hint, &[]).iter().map(one).collect()
    }

    #[test]
    fn a_hint_tells_required_optional_and_chosen_arguments_apart() {
        assert_eq!(shown("<city> [days...]"), ["city!", "days?"]);
        assert_eq!(shown("[fast|slow] [name]"), ["choice1?fast/slow", "name?"]);
        assert_eq!(shown("[a] <b>"), ["a?", "b?"]);
        assert_eq!(shown(""), [""; 0]);
        for odd in ["add [id] | remove", "<open", "text", "<>"] {
            assert_eq!(shown(odd), ["arguments?"], "{odd}");
        }
    }

    #[test]
    fn a_reach_that_is_not_known_narrows() {
        let mut reader = TraitsReader::default();
        assert!(reader.take_yaml("reach", &YamlNode::Text("galaxy".to_owned())));
        assert!(!reader.take_yaml("colour", &YamlNode::Text("blue".to_owned())));
        assert_eq!(reader.finish().1.reach, Availability::LocalOnly);
    }
}
