//! Checks a script before it runs: compiles what can be compiled, looks up every name, and reports
//! all faults with their places, in order.

use super::directive;
use super::error::{LocatedError, Location, SourcePosition, quoted};
use super::manifest::Manifest;
use super::run::dialogue::read_parts;
use super::run::is_builtin_tool;
use super::source::{self, ScriptLibrary};
use super::syntax::{ScriptNode, Tree, parse_separator};
use super::template::{self, Format};
use super::text::args::{self, CallExpr};
use super::text::prefix::{self, PrefixPosition, TextPrefix};
use super::text::{MessageText, PlaceholderMark, TextSpan, regex, roles};
use crate::i18n::{LocalizedText, script_run as words};
use code::CheckedExpression;
use names::named_entries;
pub use names::{GIVEN, KnownNames};
use settings::{setting_faults, with_near};

mod code;
mod names;
pub mod settings;

/// Maximum number of faults that are reported.
const MOST_FAULTS: usize = 200;

/// Checks a script and returns its faults in the order of their places. Nothing of it runs.
pub async fn check(manifest: &Manifest, library: &ScriptLibrary) -> Vec<LocatedError> {
    let mut checker = Checker {
        manifest,
        library,
        names: KnownNames::of(manifest, library),
        place: manifest.front_matter.position,
        faults: setting_faults(manifest),
        code: Vec::new(),
    };
    checker.check_links();
    for item in manifest.body.iter().filter(|item| *item.file == *manifest.origin.file) {
        checker.check_instruction(&item.node);
    }
    let Checker { mut faults, names, code, .. } = checker;
    faults.extend(manifest.output_fault());
    faults.extend(names.faults);
    faults.extend(code::compile(manifest, &code, &names.modules).await);
    let place = |fault: &LocatedError| {
        fault.location.as_ref().map(|at| (at.file.clone(), at.position.line, at.position.column))
    };
    faults.sort_by_key(place);
    faults.dedup_by(|a, b| a.location == b.location && a.message == b.message);
    faults.truncate(MOST_FAULTS);
    faults
}

struct Checker<'a> {
    manifest: &'a Manifest,
    library: &'a ScriptLibrary,
    names: KnownNames,
    /// The place of the node that is checked.
    place: SourcePosition,
    faults: Vec<LocatedError>,
    /// Expressions for the engine.
    code: Vec<CheckedExpression>,
}

impl Checker<'_> {
    fn fault(&mut self, what: impl Into<LocalizedText>) {
        let place = Location::new(&self.manifest.origin.file, self.place);
        self.faults.push(LocatedError::with_location(what, place));
    }

    /// Roles, tools and bases: the scripts that the settings name.
    fn check_links(&mut self) {
        let front = &self.manifest.front_matter;
        let inside = front.get("character").and_then(|node| node.get("roles"));
        for (_, script) in front.get("roles").or(inside).map_or(&[][..], ScriptNode::pairs) {
            self.place = script.position;
            if let Some(name) = script.as_text() {
                self.check_script(name);
            }
        }
        let tools = front.get("tools").cloned();
        for (name, place) in tools.iter().flat_map(named_entries) {
            self.place = place;
            match name.strip_prefix('$') {
                Some(route) => self.check_function(route),
                None if is_builtin_tool(&name) => {}
                None => self.check_tool(&name),
            }
        }
    }

    fn check_tool(&mut self, name: &str) {
        let Some(shape) = self.check_script(name) else { return };
        let has_title = shape.text_setting("title").or(shape.text_setting("description")).is_some();
        if !has_title && shape.exports.is_none() {
            self.fault(words::TOOL_NO_TITLE.with("name", quoted(name)));
        }
    }

    fn check_instruction(&mut self, node: &ScriptNode) {
        self.place = node.position;
        match &node.tree {
            Tree::Text(text) if node.tag.is_none() => self.check_line(text),
            Tree::Map(pairs) => self.check_map(pairs),
            Tree::List(_) => self.fault(words::LIST_ITEM),
            Tree::Text(_) | Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
        }
    }

    fn check_line(&mut self, text: &str) {
        if let Some(call) = args::parse_call(text).filter(|_| text.starts_with('$')) {
            self.check_call(&call);
        } else if text.starts_with("->") {
            match args::parse_chain(text) {
                Some(links) => links.iter().for_each(|link| match link.directive {
                    true => self.check_call(link),
                    false => drop(self.check_script(&link.name)),
                }),
                None => self.fault(words::NO_CHAIN.with("text", quoted(text))),
            }
        } else if parse_separator(text).is_none() {
            self.check_message(text);
        }
    }

    fn check_map(&mut self, pairs: &[(ScriptNode, ScriptNode)]) {
        let call =
            pairs.iter().find(|(key, _)| key.as_text().is_some_and(|it| it.starts_with('$')));
        if let Some((key, value)) = call {
            let name = key.as_text().unwrap_or_default();
            match args::parse_call(name) {
                Some(call) => {
                    self.check_call(&call);
                    self.check_arguments(&call, value, pairs);
                }
                None => self.fault(words::NO_CALL.with("name", quoted(name))),
            }
            return;
        }
        if pairs.iter().any(|(_, value)| value.as_text() == Some("$tool")) {
            return;
        }
        let of = |name: &str| pairs.iter().find(|(key, _)| key.as_text() == Some(name));
        match (pairs, of("role"), of("content")) {
            ([(role, content)], ..) => {
                let role = role.key_text().unwrap_or_default();
                self.check_addressees(&role);
                self.check_content(&role, content);
            }
            (_, Some((_, role)), Some((_, content))) => {
                self.check_content(&role.key_text().unwrap_or_default(), content);
            }
            _ => {
                let keys: Vec<String> =
                    pairs.iter().filter_map(|(key, _)| key.key_text()).collect();
                self.fault(words::UNKNOWN_OBJECT.with("keys", quoted(&keys.join(", "))));
            }
        }
    }

    fn check_addressees(&mut self, role: &str) {
        let known = self.manifest.roles();
        for to in roles::parse_key(role).1.into_iter().filter(|to| to.role != "all") {
            if !known.contains_key(&to.role) {
                let what = words::NO_ROLE_SCRIPT.with("role", quoted(&to.role));
                let near = with_near(what, &to.role, known.keys().map(String::as_str));
                self.fault(near);
            }
        }
    }

    fn check_content(&mut self, role: &str, content: &ScriptNode) {
        self.place = content.position;
        match &content.tree {
            Tree::Text(text) => self.check_message(text),
            Tree::Map(_) if role == "system" => self.check_values(content),
            Tree::List(_) if let Some(text) = parts_text(content) => self.check_message(&text),
            Tree::List(_) | Tree::Map(_) => {
                self.fault(words::CONTENT_NO_TEXT.with("role", quoted(role)));
            }
            _ => {}
        }
    }

    /// The value of a directive's key, and the keys beside it.
    fn check_arguments(
        &mut self,
        call: &CallExpr,
        value: &ScriptNode,
        pairs: &[(ScriptNode, ScriptNode)],
    ) {
        let all = value.pairs().iter().chain(pairs);
        let part = |name: &str| {
            let mut found = all.clone().filter(|(key, _)| key.as_text() == Some(name));
            found.next().map(|(_, node)| node)
        };
        match call.name.as_str() {
            name @ ("if" | "while") => {
                let condition = part(name).filter(|_| value.get(name).is_some()).unwrap_or(value);
                if let Some(text) = condition.as_text().filter(|_| call.args.is_empty()) {
                    self.place = condition.position;
                    self.check_expression(text.strip_prefix("?=").unwrap_or(text));
                }
                if name == "if" && part("then").is_none() && call.args.is_empty() {
                    self.fault(words::IF_NEEDS);
                }
            }
            "on" | "once" | "off" | "match" | "emit" => return,
            "for" => {}
            _ => {
                self.check_values(value);
                for (_, value) in pairs.iter().filter(|(_, other)| !std::ptr::eq(other, value)) {
                    self.check_values(value);
                }
            }
        }
        for name in ["then", "else", "do"] {
            match part(name).map(|block| (&block.tree, block)) {
                Some((Tree::List(items), _)) => {
                    items.iter().for_each(|item| self.check_instruction(item));
                }
                Some((_, block)) => self.check_instruction(block),
                None => {}
            }
        }
    }

    /// Arguments: every text in them is evaluated.
    fn check_values(&mut self, node: &ScriptNode) {
        match &node.tree {
            Tree::Text(text) if node.tag.is_none() => {
                self.place = node.position;
                match prefix::read(text, PrefixPosition::Value) {
                    (TextPrefix::Expression, expression) => self.check_expression(expression),
                    (TextPrefix::Now, template) => self.check_text(template),
                    (TextPrefix::Raw, _) => {}
                    _ if text.contains("[[@") || text.contains("[[/") => self.check_text(text),
                    _ => {}
                }
            }
            Tree::List(items) => items.iter().for_each(|item| self.check_values(item)),
            Tree::Map(pairs) => {
                let is_call = |key: &ScriptNode| {
                    key.as_text()
                        .is_some_and(|key| key.starts_with('$') && args::parse_call(key).is_some())
                };
                match pairs.iter().any(|(key, _)| is_call(key)) {
                    true => self.check_instruction(node),
                    false => pairs.iter().for_each(|(_, value)| self.check_values(value)),
                }
            }
            _ => {}
        }
    }

    fn check_message(&mut self, text: &str) {
        match prefix::read(text, PrefixPosition::Message) {
            (TextPrefix::Expression, expression) => self.check_expression(expression),
            (TextPrefix::Raw, _) => {}
            (_, rest) => self.check_text(rest),
        }
    }

    /// A text with marks and a template.
    fn check_text(&mut self, text: &str) {
        let draft = MessageText::read(text);
        for span in draft.spans().to_vec() {
            let TextSpan::Mark { mark, .. } = span else { continue };
            match mark {
                PlaceholderMark::Call(call) if call.directive => self.check_function(&call.name),
                PlaceholderMark::Call(call) => drop(self.check_script(&call.name)),
                PlaceholderMark::Regex(pattern) => {
                    if let Err(why) = regex::captures(&pattern.source, &pattern.flags, "") {
                        self.fault(why.0);
                    }
                    self.check_variable(&pattern.variable);
                }
                PlaceholderMark::Placeholder(_) => {}
            }
        }
        let format = self.manifest.text_setting("templateFormat").and_then(Format::parse);
        let is_raw = self.manifest.text_setting("formatStringStrategy") == Some("Raw");
        if format.unwrap_or_default() != Format::Hf || is_raw {
            return;
        }
        let sealed = draft.mask();
        match template::variables(sealed.template()) {
            Ok(names) => names.iter().for_each(|name| self.check_variable(name)),
            Err(why) => self.fault(why.0),
        }
    }

    fn check_variable(&mut self, path: &str) {
        let name = path.split(['.', '[']).next().unwrap_or(path);
        if !self.names.has_variable(name) {
            let what = words::VARIABLE_NOT_SET.with("name", quoted(name));
            let near = with_near(what, name, self.names.variables.iter().map(String::as_str));
            self.fault(near);
        }
    }

    fn check_expression(&mut self, text: &str) {
        if ["[[@", "[[/"].iter().any(|mark| text.trim_start().starts_with(mark)) {
            return self.check_text(text);
        }
        for name in names::called_functions(text) {
            self.check_function(name);
        }
        if !text.contains("{{") {
            let place = Location::new(&self.manifest.origin.file, self.place);
            self.code.push(CheckedExpression { text: text.trim().to_owned(), location: place });
        }
    }

    fn check_call(&mut self, call: &CallExpr) {
        self.check_function(&call.name);
    }

    fn check_function(&mut self, name: &str) {
        if directive::find(name).is_none() && !self.names.has_function(name) {
            let own = self.names.functions.iter().map(String::as_str);
            let what = directive::unknown_name_text(name, own);
            self.fault(what);
        }
    }

    /// The script of a name; a missing one is a fault.
    fn check_script(&mut self, name: &str) -> Option<Manifest> {
        let is_role = self.manifest.roles().contains_key(name);
        if name == self.manifest.id() || self.names.has_function(name) || is_role {
            return None;
        }
        let found = self.library.find(name, &self.manifest.origin.folder);
        match found.and_then(|source| Manifest::load(source, self.library)) {
            Ok(shape) => Some(shape),
            Err(_) if is_builtin_tool(name) => None,
            Err(failure) if failure.location.is_some() => {
                self.faults.push(failure);
                None
            }
            Err(failure) => {
                let ids = self.script_ids();
                let near = with_near(failure.message, name, ids.iter().map(String::as_str));
                self.fault(near);
                None
            }
        }
    }

    /// The IDs of the scripts beside this one, and of the built-in ones.
    fn script_ids(&self) -> Vec<String> {
        let beside = self.library.files().list(&self.manifest.origin.folder);
        let beside = beside.iter().filter(|entry| source::is_script(&entry.name));
        let built_in = self.library.built_in().map(str::to_owned);
        beside.map(|entry| source::stem(&entry.name).to_owned()).chain(built_in).collect()
    }
}

/// The text of a message of parts.
fn parts_text(content: &ScriptNode) -> Option<String> {
    read_parts(content.to_value().as_array()?).map(|(text, _)| text)
}
