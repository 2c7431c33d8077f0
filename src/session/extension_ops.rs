//! Keeps a session's extensions up to date, and carries out the ops about them.

use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use super::extensions::{ExtensionCache, ExtensionScan};
use super::mcp_servers::McpServers;
use super::session_effects::{Effects, SessionEffect};
use super::turn_messages::TurnMessage;
use avocet_config::extensions::{ExtensionFileKind, ExtensionLibrary, expand};
use avocet_core::i18n::{LocalizedText, commands, library, mcp_pages, session as phrases};
use avocet_core::protocol::{
    CommandArgument, CommandTraits, Event, Extension, ExtensionKind, ExtensionState, Extensions,
    Notice, Prompt, ScriptDetails, ScriptInput, WhileBusy,
};
use avocet_core::text;
use avocet_mcp::{OfferedPrompt, PromptArgument, ServerOffers};
use avocet_safety::Workspace;

/// How long a session leaves the machine to the first frame and the first keys before it reads the
/// extensions, unless they are needed sooner.
const AFTER: Duration = Duration::from_millis(60);

/// The maximum number of names that are told at once.
const NAMED: usize = 5;

/// Names that went to something else.
fn clash_notice(texts: &[LocalizedText]) -> Option<Notice> {
    let (first, rest) = texts.split_first()?;
    let all = rest.iter().take(NAMED - 1).fold(first.clone(), |all, next| {
        library::AND_ALSO.with("first", all).with("more", next.clone())
    });
    let notice = Notice::warning(phrases::CLASHES.with("n", texts.len()).with("names", all));
    Some(notice.with_hint(phrases::CLASHES_HINT))
}

/// Files that cannot be used, of the user and of the project.
fn broken_notice(extensions: &Extensions, before_extensions: &Extensions) -> Option<Notice> {
    let of = |extensions: &Extensions| -> Vec<LocalizedText> {
        let why = |extension: &Extension| match &extension.state {
            ExtensionState::Broken(why) => Some(why.clone()),
            _ => None,
        };
        let bots = extensions.broken_bots.iter().map(|(_, why)| why.clone());
        extensions.entries.iter().filter_map(why).chain(bots).collect()
    };
    let broken = of(extensions);
    let known = of(before_extensions);

    let first = broken.first().filter(|_| broken != known)?;
    let notice = Notice::warning(phrases::BROKEN_FILE.with("why", first.clone()));
    Some(match broken.len() {
        1 => notice,
        n => notice.with_hint(phrases::BROKEN_MORE.with("n", n - 1)),
    })
}

/// A prompt of a server as a command.
fn server_prompt(offered: &OfferedPrompt) -> Extension {
    let given = &offered.prompt.arguments;
    let hint = |argument: &PromptArgument| {
        let name = &argument.name;
        if argument.is_required { format!("<{name}>") } else { format!("[{name}]") }
    };
    let argument = |argument: &PromptArgument| CommandArgument {
        name: argument.name.clone(),
        about: text::one_line(&argument.description),
        is_required: argument.is_required,
        choices: Vec::new(),
    };
    Extension {
        kind: ExtensionKind::Prompt,
        name: offered.name.clone(),
        about: text::one_line(&offered.prompt.description),
        hint: given.iter().map(hint).collect::<Vec<_>>().join(" "),
        from: mcp_pages::OF_SERVER.with("name", offered.server.as_str()),
        state: ExtensionState::Usable,
        traits: CommandTraits {
            aliases: vec![offered.alias.clone()],
            arguments: given.iter().map(argument).collect(),
            ..CommandTraits::default()
        },
    }
}

/// A script of a folder of scripts as a command. Commands and skills of its name come first.
fn script_command(details: &ScriptDetails, before: &ExtensionLibrary) -> Extension {
    let is_taken = [ExtensionFileKind::Command, ExtensionFileKind::Skill]
        .iter()
        .any(|kind| before.files.iter().any(|it| it.kind == *kind && it.name == details.name));
    let inputs = || details.inputs.iter();
    let named = |input: &ScriptInput| match (input.required, details.inputs.len()) {
        (true, 1) => format!("<{}>", input.name),
        (false, 1) => format!("[{}]", input.name),
        _ => format!("{}: …", input.name),
    };
    let hint = inputs().map(named).collect::<Vec<_>>().join(", ");
    let argument = |input: &ScriptInput| CommandArgument {
        name: input.name.clone(),
        about: input.about.clone(),
        is_required: input.required,
        choices: input.choices.clone(),
    };
    Extension {
        kind: ExtensionKind::Script,
        name: details.name.clone(),
        about: text::one_line(&details.title),
        hint: if details.inputs.len() > 1 { format!("{{{hint}}}") } else { hint },
        from: commands::SCRIPTS.into(),
        state: match () {
            () if before.places().is_built_in(&details.name) => {
                ExtensionState::Hidden(library::SHADOWED_BUILT_IN.into())
            }
            () if is_taken => ExtensionState::Hidden(library::SCRIPT_BEHIND_COMMAND.into()),
            () => ExtensionState::Usable,
        },
        traits: CommandTraits {
            busy: WhileBusy::Refuse,
            arguments: inputs().map(argument).collect(),
            ..CommandTraits::default()
        },
    }
}

/// Schedules the first read for after the start.
pub(super) fn schedule_first_scan(messages: UnboundedSender<TurnMessage>) {
    tokio::spawn(async move {
        tokio::time::sleep(AFTER).await;
        // A closed session needs no extensions.
        let _ = messages.send(TurnMessage::RefreshExtensions);
    });
}

impl ExtensionCache {
    /// The start is over: reads, unless that was requested earlier.
    pub(super) fn refresh_at_start(
        &mut self,
        workspace: &Workspace,
        messages: &UnboundedSender<TurnMessage>,
    ) {
        if self.scan_number == 0 {
            self.refresh(workspace, messages);
        }
    }

    /// Starts a read; its result also comes as a message, for a session that does not wait.
    pub(super) fn refresh(
        &mut self,
        workspace: &Workspace,
        messages: &UnboundedSender<TurnMessage>,
    ) {
        let messages = messages.clone();
        self.start_scan(workspace.trusted, workspace.cwd.clone(), move |number, looked| {
            // A closed session needs no extensions.
            let _ = messages.send(TurnMessage::ExtensionsScanned { number, looked });
        });
    }

    /// Takes over the result of a read that nothing waited for.
    pub(super) fn finish_scan(
        &mut self,
        number: u64,
        scan: ExtensionScan,
        offers: &ServerOffers,
    ) -> Effects {
        let is_awaited = number == self.scan_number && self.pending_scan.take().is_some();
        if is_awaited { self.take_over(scan, offers) } else { Effects::new() }
    }

    /// Takes over the result of a read. Reports it if it is new or was requested.
    pub(super) fn take_over(&mut self, scan: ExtensionScan, offers: &ServerOffers) -> Effects {
        if !std::mem::take(&mut self.is_requested) && self.is_same(&scan) {
            return Vec::new();
        }
        let before = self.library.extensions();
        let ExtensionScan { library, scripts } = scan;
        let more = (scripts.more != self.scripts.more).then_some(scripts.more);
        (self.library, self.scripts) = (library, scripts);
        let catalogue = Box::new(self.all(offers));
        let clashes = (catalogue.clashes != before.clashes).then(|| catalogue.clashes.clone());
        let clashes = clashes.and_then(|clashes| clash_notice(&clashes));
        let broken = broken_notice(&catalogue, &before);
        let more = more.filter(|more| *more > 0);
        let more = more.map(|more| Notice::info(phrases::MORE_SCRIPTS.with("n", more)));
        let notices = broken.into_iter().chain(clashes).chain(more).map(Into::into);
        [SessionEffect::ToolsChanged, Event::Catalogue(catalogue).into()]
            .into_iter()
            .chain(notices)
            .collect()
    }

    /// A command or a skill, expanded from the current file, or a prompt of a server.
    pub(super) fn prompt(
        &self,
        name: &str,
        args: &str,
        servers: &McpServers,
    ) -> Result<Prompt, LocalizedText> {
        match expand::by_name(&self.library, name, args) {
            Err(_) if servers.may_offer_prompt(name) => Ok(Prompt::of_server(name, args)),
            prompt => prompt,
        }
    }

    /// What users can type: the extensions, and the prompts and resources of MCP servers.
    pub(super) fn all(&self, offers: &ServerOffers) -> Extensions {
        let mut extensions = Extensions {
            scripts: self.scripts.names.clone(),
            script_details: self.scripts.details.clone(),
            resources: offers.resources().iter().map(|offered| offered.name.clone()).collect(),
            ..self.library.extensions()
        };
        let scripts = self.scripts.details.iter().filter(|details| details.is_command);
        let scripts = scripts.map(|details| script_command(details, &self.library));
        extensions.entries.extend(scripts);
        extensions.entries.extend(offers.prompts().iter().map(server_prompt));
        extensions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::Lang;

    fn broken(why: &'static str) -> Extension {
        Extension {
            kind: ExtensionKind::Command,
            name: "torn".into(),
            about: String::new(),
            hint: String::new(),
            from: library::AND_ALSO.into(),
            state: ExtensionState::Broken(library::AND_ALSO.with("first", why).with("more", "")),
            traits: CommandTraits::default(),
        }
    }

    #[test]
    fn files_that_cannot_be_used_are_reported_once() {
        let of = |entries: Vec<Extension>| Extensions { entries, ..Extensions::default() };
        let (none, one) = (of(vec![]), of(vec![broken("torn.toml: line 1")]));
        let notice = broken_notice(&one, &none).unwrap();
        assert!(notice.say.text(Lang::En).contains("torn.toml: line 1"));
        assert_eq!(notice.hint, None);
        assert_eq!((broken_notice(&one, &one), broken_notice(&none, &one)), (None, None));
        let more = of(vec![broken("a"), broken("b"), broken("c")]);
        let hint = broken_notice(&more, &one).unwrap().hint.unwrap().text(Lang::En);
        assert!(hint.starts_with("2 more"), "{hint}");
        let broken_bots = vec![("bad".to_owned(), library::AND_ALSO.into())];
        let bot = Extensions { broken_bots, ..Extensions::default() };
        assert!(broken_notice(&bot, &none).is_some() && broken_notice(&bot, &bot).is_none());
    }
}
