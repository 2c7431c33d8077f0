//! Loads every file of every folder, with its state: loaded, shadowed by another one, or refused
//! for a reason.
//!
//! A broken file keeps its name: it is not silently replaced by another one further down.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::compat::{claude, gemini};
use super::{
    AgentDefinition, Bot, CustomCommand, ExtensionFileKind, ExtensionSource, LookupError, Owner,
    SearchDir, SearchPath, Skill, SkillsContext, TemplateMarks, agent, bot, command, name, scan,
    skill, skill_list, toml_message,
};
use crate::keys::KEYS;
use crate::toml_schema::TomlKind;
use crate::{ConfigError, atomic_file};
use avocet_core::i18n::{Localize, LocalizedText, library as w};
use avocet_core::protocol::{
    Availability, CommandArgument, CommandTraits, Extension, ExtensionKind, ExtensionState,
    Extensions,
};
use avocet_core::text;
use avocet_safety::sanitize;

/// Everything found in all folders at one time.
#[derive(Clone, Debug, Default)]
pub struct ExtensionLibrary {
    pub agents: Vec<AgentDefinition>,
    pub bots: Vec<Bot>,
    pub commands: Vec<CustomCommand>,
    pub skills: SkillsContext,
    /// Every file, in order of precedence.
    pub files: Vec<LoadedFile>,
    /// The folders that were not fully searched, one sentence each.
    pub cut: Vec<LocalizedText>,
    places: SearchPath,
    stamps: Vec<scan::FileStamp>,
}

/// The state of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedFile {
    pub kind: ExtensionFileKind,
    pub name: String,
    pub path: PathBuf,
    pub owner: Owner,
    pub state: LoadState,
}

#[derive(Clone, Debug, PartialEq)]
pub enum LoadState {
    /// With its harmless oddities.
    Loaded {
        remarks: Vec<LocalizedText>,
    },
    Shadowed {
        by: ShadowedBy,
    },
    Refused {
        because: LocalizedText,
    },
}

impl LoadState {
    /// The spelling in JSON.
    pub fn code(&self) -> &'static str {
        match self {
            LoadState::Loaded { .. } => "loaded",
            LoadState::Shadowed { .. } => "shadowed",
            LoadState::Refused { .. } => "refused",
        }
    }
}

/// What has the name instead.
#[derive(Clone, Debug, PartialEq)]
pub enum ShadowedBy {
    File(PathBuf),
    /// A built-in command.
    BuiltIn,
}

impl Localize for LoadState {
    fn localized(&self) -> LocalizedText {
        match self {
            LoadState::Loaded { remarks } => match remarks.split_first() {
                None => w::LOADED.into(),
                Some((first, rest)) => {
                    let first = w::LOADED_BUT.with("remark", first.clone());
                    rest.iter().fold(first, |said, more| {
                        w::AND_ALSO.with("first", said).with("more", more.clone())
                    })
                }
            },
            LoadState::Shadowed { by: ShadowedBy::File(path) } => {
                w::SHADOWED.with("file", path.display().to_string())
            }
            LoadState::Shadowed { by: ShadowedBy::BuiltIn } => w::SHADOWED_BUILT_IN.into(),
            LoadState::Refused { because } => w::REFUSED.with("why", because.clone()),
        }
    }
}

impl ExtensionLibrary {
    /// Loads all kinds.
    pub fn load(path: &SearchPath) -> ExtensionLibrary {
        ExtensionLibrary::load_kinds(path, &ExtensionFileKind::ALL)
    }

    /// Loads these kinds.
    pub fn load_kinds(path: &SearchPath, kinds: &[ExtensionFileKind]) -> ExtensionLibrary {
        let mut loading = ExtensionLoader {
            library: ExtensionLibrary { places: path.clone(), ..ExtensionLibrary::default() },
            claimed_names: BTreeMap::new(),
        };
        for place in path.list.iter().filter(|place| kinds.contains(&place.kind)) {
            loading.load_folder(place);
        }
        if kinds.contains(&ExtensionFileKind::Agent) {
            loading.add_built_in_agents();
        }
        loading.library
    }

    /// True if no file was changed, added or removed since it was loaded. Costs one `stat` for each
    /// of them.
    pub fn is_current(&self) -> bool {
        self.stamps.iter().all(scan::FileStamp::is_unchanged)
    }

    pub fn places(&self) -> &SearchPath {
        &self.places
    }

    /// The user's own folder.
    pub fn user_folder(&self, kind: ExtensionFileKind) -> PathBuf {
        self.places.user_folder(kind)
    }

    pub fn bot(&self, name: &str) -> Result<&Bot, LookupError> {
        let found = self.bots.iter().find(|bot| bot.name == name);
        found.ok_or_else(|| self.lookup_error(ExtensionFileKind::Bot, name))
    }

    pub fn agent(&self, name: &str) -> Result<&AgentDefinition, LookupError> {
        let found = self.agents.iter().find(|agent| agent.name == name);
        found.ok_or_else(|| self.lookup_error(ExtensionFileKind::Agent, name))
    }

    /// A command; for one in a folder, the last part of its name is enough if it is unique.
    pub fn command(&self, name: &str) -> Result<&CustomCommand, LookupError> {
        let whole = self.commands.iter().find(|command| command.name == name);
        let found = whole.or_else(|| {
            let last = |command: &&CustomCommand| command.name.rsplit(':').next() == Some(name);
            let mut ends = self.commands.iter().filter(last);
            ends.next().filter(|_| ends.next().is_none())
        });
        found.ok_or_else(|| self.lookup_error(ExtensionFileKind::Command, name))
    }

    pub fn skill(&self, name: &str) -> Result<&Skill, LookupError> {
        self.skills.find(name).ok_or_else(|| self.lookup_error(ExtensionFileKind::Skill, name))
    }

    fn lookup_error(&self, kind: ExtensionFileKind, name: &str) -> LookupError {
        let mut files = self.files.iter().filter(|file| file.kind == kind);
        let broken = files.clone().find_map(|file| match &file.state {
            LoadState::Refused { because } if file.name == name => Some(because.clone()),
            _ => None,
        });
        let usable = match kind {
            ExtensionFileKind::Command => name::is_usable_path(name),
            ExtensionFileKind::Agent | ExtensionFileKind::Bot | ExtensionFileKind::Skill => {
                name::is_usable(kind, name)
            }
        };
        match broken {
            _ if !usable => LookupError::bad_name(kind, name),
            Some(because) => LookupError::Broken { because },
            None => {
                let hidden = files.any(|file| {
                    file.name == name
                        && file.state == LoadState::Shadowed { by: ShadowedBy::BuiltIn }
                });
                if hidden {
                    let because = w::SHADOWED_NAME.with("name", name);
                    return LookupError::Broken { because };
                }
                let loaded = self.files.iter().filter(|file| {
                    file.kind == kind && matches!(file.state, LoadState::Loaded { .. })
                });
                LookupError::none(kind, name, loaded.map(|file| file.name.as_str()), &self.places)
            }
        }
    }

    /// The list for the frontends: commands, then skills, then the names of bots.
    pub fn extensions(&self) -> Extensions {
        let mut extensions: Vec<Extension> = Vec::new();
        for command in &self.commands {
            extensions.push(Extension {
                kind: ExtensionKind::Command,
                name: command.name.clone(),
                about: display_line(&command.description),
                hint: display_line(&command.argument_hint),
                from: command.owner.localized(),
                state: ExtensionState::Usable,
                traits: display_traits(&command.traits),
            });
        }
        // A set, because there may be thousands of skills.
        let commands: BTreeSet<&str> = self.commands.iter().map(|it| it.name.as_str()).collect();
        for skill in self.skills.iter() {
            let taken = commands.contains(skill.name.as_str());
            let state = match () {
                () if self.places.is_built_in(&skill.name) => {
                    ExtensionState::Hidden(w::SHADOWED_BUILT_IN.into())
                }
                () if taken => ExtensionState::Hidden(w::SKILL_BEHIND_COMMAND.into()),
                () if skill.disable_model_invocation => ExtensionState::Sensitive,
                () => ExtensionState::Usable,
            };
            extensions.push(Extension {
                kind: ExtensionKind::Skill,
                name: skill.name.clone(),
                about: display_line(&skill.description),
                hint: display_line(&skill.argument_hint),
                from: skill.owner.localized(),
                state,
                traits: display_traits(&skill.traits),
            });
        }
        let mut clashes = self.clashes(&extensions);
        clashes.extend(drop_unusable_aliases(&mut extensions, &self.places));
        clashes.extend(unknown_settings(&extensions));
        extensions.extend(self.files.iter().filter_map(unusable));
        let bots = self.bots.iter().map(|bot| (bot.name.clone(), display_line(&bot.description)));
        let untold = self.skills.omitted(skill_list::BUDGET);
        Extensions {
            entries: extensions,
            bots: bots.collect(),
            broken_bots: self.files.iter().filter_map(broken_bot).collect(),
            scripts: Vec::new(),
            inputs: Vec::new(),
            script_details: Vec::new(),
            resources: Vec::new(),
            untold,
            waiting: self.places.untrusted_note.clone(),
            clashes,
        }
    }

    /// The commands and skills whose name something else has.
    fn clashes(&self, extensions: &[Extension]) -> Vec<LocalizedText> {
        let clash = |name: &str, why: LocalizedText| {
            w::CLASH.with("name", name::display_name(name)).with("why", why)
        };
        let hidden = extensions.iter().filter_map(|entry| match &entry.state {
            ExtensionState::Hidden(why) => Some(clash(&entry.name, why.clone())),
            _ => None,
        });
        // Those that can be typed.
        let shadowed = self.files.iter().filter(|file| {
            matches!(file.kind, ExtensionFileKind::Command | ExtensionFileKind::Skill)
        });
        let shadowed = shadowed.filter_map(|file| match &file.state {
            // The same file, found by a link.
            LoadState::Shadowed { by: ShadowedBy::File(by) }
                if by.canonicalize().ok() == file.path.canonicalize().ok() =>
            {
                None
            }
            state @ LoadState::Shadowed { .. } => Some(clash(&file.name, state.localized())),
            LoadState::Loaded { .. } | LoadState::Refused { .. } => None,
        });
        hidden.chain(shadowed).collect()
    }
}

/// Removes the aliases that cannot be typed, and those that a built-in command or an earlier entry
/// has, and says so.
fn drop_unusable_aliases(extensions: &mut [Extension], path: &SearchPath) -> Vec<LocalizedText> {
    let mut taken: BTreeSet<String> = extensions
        .iter()
        .filter(|entry| entry.can_be_typed())
        .map(|entry| entry.name.to_lowercase())
        .collect();
    let mut dropped = Vec::new();
    for entry in extensions.iter_mut().filter(|entry| entry.can_be_typed()) {
        let name = entry.name.clone();
        entry.traits.aliases.retain(|alias| {
            let lower = alias.to_lowercase();
            if lower == name.to_lowercase() {
                return false;
            }
            let why = match () {
                () if !name::is_usable(ExtensionFileKind::Command, alias) => w::ALIAS_UNUSABLE,
                () if path.is_built_in(alias) || !taken.insert(lower) => w::ALIAS_DROPPED,
                () => return true,
            };
            let say = why.with("alias", name::display_name(alias));
            dropped.push(say.with("name", name.as_str()));
            false
        });
    }
    dropped
}

/// The settings that would open a command to chats, but are no switches.
fn unknown_settings(extensions: &[Extension]) -> Vec<LocalizedText> {
    let is_switch =
        |setting: &str| KEYS.iter().any(|key| key.path == setting && key.kind == TomlKind::Flag);
    let unknown = extensions.iter().filter_map(|entry| match &entry.traits.reach {
        Availability::LocalUnless(setting) if !is_switch(setting) => {
            let say = w::NO_SUCH_SWITCH.with("name", entry.name.as_str());
            Some(say.with("setting", name::display_name(setting)))
        }
        _ => None,
    });
    unknown.collect()
}

/// A command or skill that takes up its name but cannot be used.
fn unusable(file: &LoadedFile) -> Option<Extension> {
    let kind = match file.kind {
        ExtensionFileKind::Command => ExtensionKind::Command,
        ExtensionFileKind::Skill => ExtensionKind::Skill,
        ExtensionFileKind::Agent | ExtensionFileKind::Bot => return None,
    };
    let state = match &file.state {
        LoadState::Refused { because } => ExtensionState::Broken(because.clone()),
        LoadState::Shadowed { by: ShadowedBy::BuiltIn } => {
            ExtensionState::Hidden(w::SHADOWED_BUILT_IN.into())
        }
        LoadState::Shadowed { by: ShadowedBy::File(_) } | LoadState::Loaded { .. } => return None,
    };
    let about = display_line(&file.path.display().to_string());
    let name = name::display_name(&file.name);
    let from = file.owner.localized();

    let hint = String::new();
    let traits = CommandTraits::default();

    Some(Extension { kind, name, about, hint, from, state, traits })
}

/// The name of a bot that cannot be used, and why.
fn broken_bot(file: &LoadedFile) -> Option<(String, LocalizedText)> {
    match &file.state {
        LoadState::Refused { because } if file.kind == ExtensionFileKind::Bot => {
            Some((name::display_name(&file.name), because.clone()))
        }
        _ => None,
    }
}

/// Longest text in a list, in characters.
const ABOUT: usize = 200;

/// Text of a file as one displayable line.
fn display_line(foreign: &str) -> String {
    text::cut(
        &text::one_line(&sanitize::clean(foreign, sanitize::CarriageReturnMode::EndsLine)),
        ABOUT,
    )
}

/// The arguments as they may be shown.
fn display_traits(traits: &CommandTraits) -> CommandTraits {
    let shown = |argument: &CommandArgument| CommandArgument {
        name: display_line(&argument.name),
        about: display_line(&argument.about),
        is_required: argument.is_required,
        choices: argument.choices.iter().map(|choice| display_line(choice)).collect(),
    };
    CommandTraits { arguments: traits.arguments.iter().map(shown).collect(), ..traits.clone() }
}

struct ExtensionLoader {
    library: ExtensionLibrary,
    /// The file that already has each name.
    claimed_names: BTreeMap<(ExtensionFileKind, String), PathBuf>,
}

impl ExtensionLoader {
    fn load_folder(&mut self, dir: &SearchDir) {
        let look = scan::scan_folder(dir);
        self.library.stamps.extend(look.stamps);
        self.library.cut.extend(look.cut);
        for (found, because) in look.refused {
            self.record(dir, found.name, found.path, LoadState::Refused { because });
        }
        for found in look.files {
            let state = match dir.kind {
                // Both declare their own names, so they are parsed first.
                ExtensionFileKind::Skill => {
                    self.load_skill(dir, found);
                    continue;
                }
                ExtensionFileKind::Agent => {
                    self.load_agent(dir, found);
                    continue;
                }
                ExtensionFileKind::Bot | ExtensionFileKind::Command => {
                    match self.is_free(dir.kind, &found.name) {
                        Err(state) => state,
                        Ok(()) => self.load_text(dir, &found),
                    }
                }
            };
            self.record(dir, found.name, found.path, state);
        }
    }

    /// Parses a bot or a command.
    fn load_text(&mut self, dir: &SearchDir, file: &scan::ScannedFile) -> LoadState {
        let remarks = match text_of(&file.path) {
            Ok(text) if dir.kind == ExtensionFileKind::Bot => {
                bot::read(&file.path, &file.name, dir.owner, &text).map(|bot| {
                    self.library.bots.push(bot);
                    Vec::new()
                })
            }
            Ok(text) => {
                parse_command(&file.path, &file.name, dir.owner, &text).map(|(command, remarks)| {
                    self.library.commands.push(command);
                    remarks
                })
            }
            Err(because) => Err(because),
        };
        match remarks {
            Ok(remarks) => LoadState::Loaded { remarks },
            Err(because) => LoadState::Refused { because },
        }
    }

    fn load_agent(&mut self, dir: &SearchDir, file: scan::ScannedFile) {
        let scan::ScannedFile { name, path } = file;
        let read = text_of(&path).and_then(|text| agent::read(&path, &name, dir.owner, &text));
        let (name, state) = match read {
            Err(because) => (name, LoadState::Refused { because }),
            Ok((agent, remarks)) => {
                let name = agent.name.clone();
                match self.is_free(ExtensionFileKind::Agent, &name) {
                    Err(state) => (name, state),
                    Ok(()) => {
                        self.library.agents.push(agent);
                        (name, LoadState::Loaded { remarks })
                    }
                }
            }
        };
        self.record(dir, name, path, state);
    }

    /// Last, so that a file of the user may take their place.
    fn add_built_in_agents(&mut self) {
        for (agent, path) in AgentDefinition::built_in() {
            let state = match self.is_free(ExtensionFileKind::Agent, &agent.name) {
                Err(state) => state,
                Ok(()) => LoadState::Loaded { remarks: Vec::new() },
            };
            let name = agent.name.clone();
            let owner = Owner { maker: ExtensionSource::BuiltIn, project: false };
            if matches!(state, LoadState::Loaded { .. }) {
                self.library.agents.push(agent);
            }
            let kind = ExtensionFileKind::Agent;
            self.library.files.push(LoadedFile { kind, name, path, owner, state });
        }
    }

    fn load_skill(&mut self, dir: &SearchDir, file: scan::ScannedFile) {
        let (name, state) = match skill::read(&file.path, dir.owner) {
            Err(because) => (file.name, LoadState::Refused { because }),
            Ok((skill, mut remarks)) => {
                let name = skill.name.clone();
                if self.library.places.is_built_in(&name) {
                    remarks.push(w::SHADOWED_BUILT_IN.into());
                } else if self
                    .claimed_names
                    .contains_key(&(ExtensionFileKind::Command, name.clone()))
                {
                    remarks.push(w::SKILL_BEHIND_COMMAND.into());
                }
                match self.claimed_names.get(&(ExtensionFileKind::Skill, name.clone())) {
                    Some(by) => (name, LoadState::Shadowed { by: ShadowedBy::File(by.clone()) }),
                    None => {
                        self.library.skills.register(skill);
                        (name, LoadState::Loaded { remarks })
                    }
                }
            }
        };
        self.record(dir, name, file.path, state);
    }

    fn is_free(&self, kind: ExtensionFileKind, name: &str) -> Result<(), LoadState> {
        if kind == ExtensionFileKind::Command && self.library.places.is_built_in(name) {
            return Err(LoadState::Shadowed { by: ShadowedBy::BuiltIn });
        }
        match self.claimed_names.get(&(kind, name.to_owned())) {
            Some(by) => Err(LoadState::Shadowed { by: ShadowedBy::File(by.clone()) }),
            None => Ok(()),
        }
    }

    fn record(&mut self, dir: &SearchDir, name: String, path: PathBuf, state: LoadState) {
        if !matches!(state, LoadState::Shadowed { .. }) {
            self.claimed_names.entry((dir.kind, name.clone())).or_insert_with(|| path.clone());
        }
        let kind = dir.kind;
        let owner = dir.owner;

        self.library.files.push(LoadedFile { kind, name, path, owner, state });
    }
}

fn text_of(path: &Path) -> Result<String, LocalizedText> {
    let read = atomic_file::read(path).map_err(|fault| toml_message(path, fault))?;
    read.ok_or_else(|| toml_message(path, ConfigError::NotAFile))
}

/// Parses a command in any of the formats.
pub fn parse_command(
    file: &Path,
    name: &str,
    owner: Owner,
    text: &str,
) -> Result<(CustomCommand, Vec<LocalizedText>), LocalizedText> {
    match owner.maker {
        ExtensionSource::Claude => claude::read(file, name, owner, text),
        ExtensionSource::Gemini => gemini::read(file, name, owner, text),
        _ => command::read(file, name, owner, TemplateMarks::Toml, text)
            .map(|(command, _)| (command, Vec::new())),
    }
}
