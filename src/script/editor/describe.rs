//! What a name means, and where it comes from.

use std::path::PathBuf;

use super::complete::key_table;
use super::spot::SpotKind;
use super::{EditedScript, EditorPosition, EditorRange};
use crate::check::GIVEN;
use crate::directive;
use crate::js::{function_name, function_source};
use crate::manifest::imports::strip_dollar;
use crate::manifest::{ImportKind, Manifest, Picks};
use crate::settings::{PARAMETERS, SettingSpec};
use crate::template::FILTERS;
use avocet_core::i18n::{PhraseValue, script_help as docs};

/// What is shown of a name: how it is written, and sentences about it.
#[derive(Clone, Debug, PartialEq)]
pub struct HoverText {
    pub range: EditorRange,
    pub code: String,
    pub about: Vec<PhraseValue>,
}

fn describe_setting(spec: &SettingSpec) -> (String, Vec<PhraseValue>) {
    let kinds = if spec.choices.is_empty() { spec.types } else { spec.choices };
    (format!("{}: {}", spec.name, kinds.join(" | ")), vec![spec.about.into()])
}

/// What a name belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameGroup {
    Variable,
    Function,
    /// A script, by its ID or as a role.
    Script,
}

impl NameGroup {
    fn of(kind: &SpotKind) -> Option<NameGroup> {
        match kind {
            SpotKind::Call | SpotKind::Filter => Some(NameGroup::Function),
            SpotKind::Script | SpotKind::Role | SpotKind::LineStart => Some(NameGroup::Script),
            SpotKind::Key(_)
            | SpotKind::Value(_)
            | SpotKind::Variable
            | SpotKind::InputValue(..) => Some(NameGroup::Variable),
            SpotKind::Input(_) | SpotKind::Parameter | SpotKind::Text => None,
        }
    }
}

impl EditedScript<'_> {
    /// What the name at a place means.
    pub fn hover(&self, position: EditorPosition) -> Option<HoverText> {
        let spot = self.spot(position);
        let manifest = self.manifest(u32::MAX);
        let manifest = manifest.as_ref();
        let (code, about) = match &spot.kind {
            SpotKind::Key(above) => match key_table(above).iter().find(|it| it.name == spot.word) {
                Some(row) => describe_setting(row),
                None => self.describe_variable(spot.word, manifest)?,
            },
            SpotKind::Parameter => {
                describe_setting(PARAMETERS.iter().find(|row| row.name == spot.word)?)
            }
            SpotKind::Call => self.describe_call(spot.word.trim_start_matches('$'), manifest)?,
            SpotKind::Script => self.describe_script(spot.word, manifest)?,
            SpotKind::Filter if FILTERS.contains(&spot.word) => {
                (format!("{{{{ … | {} }}}}", spot.word), Vec::new())
            }
            SpotKind::Filter => self.describe_call(spot.word, manifest)?,
            SpotKind::LineStart => self.describe_script(spot.word, manifest).filter(|_| {
                manifest.is_some_and(|manifest| manifest.roles().contains_key(spot.word))
            })?,
            SpotKind::Role => self.describe_script(spot.word, manifest)?,
            SpotKind::Input(script) => self.describe_input(script, spot.word, manifest)?,
            SpotKind::Variable | SpotKind::Text | SpotKind::Value(_) | SpotKind::InputValue(..) => {
                self.describe_variable(spot.word, manifest)?
            }
        };
        Some(HoverText {
            range: self.lines.range(position.line, spot.start, spot.end),
            code,
            about,
        })
    }

    /// Where the name at a place is defined: a file, and a place in it.
    pub fn definition(&self, position: EditorPosition) -> Option<(PathBuf, EditorRange)> {
        let spot = self.spot(position);
        let manifest = self.manifest(u32::MAX);
        let manifest = manifest.as_ref();
        let here = |range| Some((self.path.to_owned(), range));
        let name = spot.word.trim_start_matches('$');
        match spot.kind {
            SpotKind::Script | SpotKind::Role => self.script_file(spot.word, manifest),
            SpotKind::Input(script) => self.script_file(&script, manifest),
            SpotKind::Call | SpotKind::Filter => match self.function_line(name, manifest) {
                Some(line) => here(self.lines.range(line, 0, 0)),
                None => self.imported_file(name, manifest),
            },
            SpotKind::Key(_)
            | SpotKind::Variable
            | SpotKind::Text
            | SpotKind::Value(_)
            | SpotKind::InputValue(..) => here(self.place_set(name)?),
            SpotKind::Parameter => None,
            SpotKind::LineStart => {
                let is_role =
                    manifest.is_some_and(|manifest| manifest.roles().contains_key(spot.word));
                is_role.then(|| self.script_file(spot.word, manifest))?
            }
        }
    }

    fn describe_call(
        &self,
        name: &str,
        manifest: Option<&Manifest>,
    ) -> Option<(String, Vec<PhraseValue>)> {
        if let Some(row) = directive::find(name) {
            return Some((row.signature(), vec![row.about.into()]));
        }
        if let Some(line) = self.function_line(name, manifest) {
            let about = docs::HOVER_FUNCTION.with("line", line + 1);
            return Some((format!("${name}"), vec![about.into()]));
        }
        let known = self.names(manifest).functions.contains(name);
        known.then(|| (format!("${name}"), vec![docs::OWN_FUNCTION.into()]))
    }

    fn describe_script(
        &self,
        name: &str,
        manifest: Option<&Manifest>,
    ) -> Option<(String, Vec<PhraseValue>)> {
        let manifest = Manifest::load(self.find_script(name, manifest)?, self.library).ok()?;
        let title = manifest.text_setting("title").or(manifest.text_setting("description"));
        let title = title.map(|title| PhraseValue::from(title.lines().next().unwrap_or_default()));
        let about = title.into_iter().chain(manifest.interface().map(PhraseValue::from)).collect();
        Some((format!("-> {}", manifest.id()), about))
    }

    fn describe_input(
        &self,
        script: &str,
        name: &str,
        manifest: Option<&Manifest>,
    ) -> Option<(String, Vec<PhraseValue>)> {
        let called = self.called(script, manifest)?;
        let input = called.inputs.iter().find(|input| input.name == name)?;
        let about = input.about.get("description").and_then(|about| about.as_str());
        Some((format!("-> {script}({name}=…)"), about.into_iter().map(PhraseValue::from).collect()))
    }

    /// The places of the text that name the same variable, function, script or role.
    pub fn references(&self, position: EditorPosition) -> Vec<EditorRange> {
        let spot = self.spot(position);
        let name = spot.word.trim_start_matches('$');
        let mut found: Vec<EditorRange> = Vec::new();
        if name.is_empty() {
            return found;
        }
        let group = NameGroup::of(&spot.kind);
        found.extend(self.place_set(name).filter(|_| group == Some(NameGroup::Variable)));
        for (number, line) in self.lines.iter() {
            for (at, _) in line.match_indices(name) {
                let other = self.spot(self.lines.position(number, at));
                let is_same = other.word.trim_start_matches('$') == name;
                let range = self.lines.range(number, at, at + name.len());
                if is_same && group.is_some() && NameGroup::of(&other.kind) == group {
                    found.extend((!found.contains(&range)).then_some(range));
                }
            }
        }
        found.sort_by_key(|range| range.start);
        found
    }

    fn describe_variable(
        &self,
        name: &str,
        manifest: Option<&Manifest>,
    ) -> Option<(String, Vec<PhraseValue>)> {
        let input = manifest.and_then(|manifest| manifest.inputs.iter().find(|it| it.name == name));
        let said = input.and_then(|input| input.about.get("description")?.as_str());
        let mut values: Vec<PhraseValue> = said.into_iter().map(PhraseValue::from).collect();
        if let Some(range) = self.place_set(name) {
            values.push(docs::HOVER_SET_AT.with("line", range.start.line + 1).into());
        } else if GIVEN.contains(&name) {
            values.push(docs::HOVER_GIVEN.into());
        }
        (!values.is_empty()).then(|| (name.to_owned(), values))
    }

    fn script_file(
        &self,
        name: &str,
        manifest: Option<&Manifest>,
    ) -> Option<(PathBuf, EditorRange)> {
        let origin = self.find_script(name, manifest)?.origin;
        // A built-in script is not a file of the user's.
        (!origin.is_built_in).then(|| (PathBuf::from(origin.file), EditorRange::default()))
    }

    /// The file of the import that brings in a function.
    fn imported_file(
        &self,
        name: &str,
        manifest: Option<&Manifest>,
    ) -> Option<(PathBuf, EditorRange)> {
        let name = name.split('.').next().unwrap_or(name);
        let import = manifest?.imports.iter().find(|import| match &import.picks {
            Picks::All => true,
            Picks::Namespace => false,
            Picks::Alias(alias) => alias == name,
            Picks::Selected(picks) => {
                picks.iter().any(|pick| pick.alias.as_ref().unwrap_or(&pick.name) == name)
            }
        })?;
        match &import.kind {
            ImportKind::Script(script) => self.script_file(script, manifest),
            ImportKind::File(file) | ImportKind::Wasm(file) => {
                Some((self.library.resolve_import(file, self.folder()), EditorRange::default()))
            }
            ImportKind::Module(_) => None,
        }
    }

    /// The line of `!fn` that declares a function.
    fn function_line(&self, name: &str, manifest: Option<&Manifest>) -> Option<u32> {
        // Not yet YAML: the line below `!fn` names the function.
        let Some(manifest) = manifest else { return self.function_line_in_text(name) };
        let own = self.path.display().to_string();
        let declared = manifest.functions.iter().find(|function| {
            let found = function_source(&function.source).ok().and_then(function_name);
            let found = found.map(strip_dollar);
            let short = found.as_deref().map(|it| it.strip_prefix("template$").unwrap_or(it));
            short == Some(name) && function.location.file == own
        })?;
        Some(declared.location.position.line.saturating_sub(1))
    }

    fn function_line_in_text(&self, name: &str) -> Option<u32> {
        let lines: Vec<(u32, &str)> = self.lines.iter().collect();
        let declares = |pair: &&[(u32, &str)]| match pair {
            [(_, tag), (_, code)] if tag.trim_start_matches(['-', ' ']).starts_with("!fn") => {
                let found = function_source(code).ok().and_then(function_name);
                found.map(strip_dollar).as_deref() == Some(name)
            }
            _ => false,
        };
        lines.windows(2).find(declares).and_then(|pair| pair.first()).map(|(line, _)| *line)
    }

    /// The first place that gives a variable its value: an input, a setting, a mark, `$set`.
    fn place_set(&self, name: &str) -> Option<EditorRange> {
        if name.is_empty() {
            return None;
        }
        let (mut below_set, mut set_indent) = (false, 0);
        for (number, line) in self.lines.iter() {
            let indent = line.len() - line.trim_start().len();
            let in_head = self.head.as_ref().is_some_and(|head| head.contains(&number));
            if !line.trim().is_empty() && indent <= set_indent {
                below_set = false;
            }
            let is_set = ["$set", "$push", "$prompt"].iter().any(|word| line.contains(word));
            for (at, _) in line.match_indices(name) {
                let (before, rest) = line.split_at(at);
                let after = rest.strip_prefix(name).unwrap_or_default();
                let joins = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
                if before.ends_with(joins) || after.starts_with(joins) {
                    continue;
                }
                let is_key = after.trim_start().starts_with([':', '=']);
                let is_item = before.trim_end().ends_with(['-', '[', ',', '{', '(']);
                let sets = if in_head {
                    indent == 0 && at == 0 && is_key || is_item
                } else {
                    before.ends_with("[[")
                        || before.ends_with("this.")
                        || before.trim_end().ends_with("as:")
                        || is_set && (is_key || after.starts_with(')'))
                        || below_set && is_key && before.trim().is_empty()
                };
                if sets {
                    return Some(self.lines.range(number, at, at + name.len()));
                }
            }
            if is_set {
                (below_set, set_indent) = (true, indent);
            }
        }
        None
    }
}
