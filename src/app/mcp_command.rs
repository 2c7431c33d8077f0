//! `avocet mcp`: lists, changes and tries the MCP servers of the settings. The user typed the
//! command, so no question is asked before a server is tried.

use toml_edit::{Array, Table, value};

use super::mcp::{FolderServers, SandboxedStarter};
use super::runtime::runtime;
use super::startup::Startup;
use super::step_runner::{exec, machine};
use super::subcommands::print_rows;
use crate::cli::Exit;
use crate::cli::mcp_command::{McpCommand, NewServer, definition_rows, facts_rows};
use avocet_config::edit::{self, EditError};
use avocet_core::i18n::{Localize, LocalizedText, mcp_pages as phrases};
use avocet_core::protocol::{Notice, PageRow};
use avocet_mcp::{
    McpError, McpEvent, McpServerFacts, ServerDefinition, ServerDefinitions, ServerLaunch,
    begin_login, start_server,
};
use avocet_session::mcp_servers::McpAccess;
use avocet_tools::read_tracker::ReadTracker;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Events of a server that is tried.
const EVENT_CAPACITY: usize = 64;

pub fn run_subcommand(startup: &Startup, command: McpCommand, json: bool) -> Exit {
    let servers = folder_servers(startup);
    let read = servers.reader(startup.trusted)();
    match command {
        McpCommand::List => print_rows(startup, &list_rows(startup, &servers, &read), json),
        McpCommand::Show { server } => match find(&read, &server) {
            Ok(definition) => {
                let state = servers.state(definition, startup.trusted);
                let rows = definition_rows(definition, Some(state));
                print_rows(startup, &rows, json)
            }
            Err(say) => startup.fail(&Notice::error(say), Exit::WrongUse),
        },
        McpCommand::Add(new) => add(startup, &new),
        McpCommand::Remove { server } => {
            match edit::remove_server(&startup.paths.settings(), &server) {
                Ok(true) => done(startup, phrases::REMOVED.with("name", server)),
                Ok(false) => {
                    let say = phrases::NOT_YOURS.with("name", server);
                    startup.fail(&Notice::error(say), Exit::WrongUse)
                }
                Err(error) => failed(startup, &error),
            }
        }
        McpCommand::Test { server } => match find(&read, &server) {
            Ok(definition) => test(startup, &servers, definition, json),
            Err(say) => startup.fail(&Notice::error(say), Exit::WrongUse),
        },
        McpCommand::Login { server } => match find(&read, &server) {
            Ok(definition) => login(startup, &servers, definition),
            Err(say) => startup.fail(&Notice::error(say), Exit::WrongUse),
        },
    }
}

fn folder_servers(startup: &Startup) -> FolderServers {
    let redactor = Arc::new(startup.redactor(true));
    let world = machine(startup, &ReadTracker::default(), &redactor);
    let starter = SandboxedStarter {
        exec: exec(startup, &world, &redactor),
        policy: startup.loaded.settings.policy(),
        place: startup.workspace(),
        world: Arc::new(world),
    };
    FolderServers::new(startup, starter, Vec::new(), false)
}

fn find<'a>(
    definitions: &'a ServerDefinitions,
    name: &str,
) -> Result<&'a ServerDefinition, LocalizedText> {
    let found = definitions.servers.iter().find(|definition| definition.name == name);
    found.ok_or_else(|| phrases::UNKNOWN_HERE.with("name", name))
}

fn list_rows(
    startup: &Startup,
    servers: &FolderServers,
    definitions: &ServerDefinitions,
) -> Vec<PageRow> {
    let each = definitions.servers.iter();
    let rows = each.flat_map(|server| {
        let state = servers.state(server, startup.trusted);
        definition_rows(server, Some(state))
    });
    let mut rows: Vec<PageRow> = rows.collect();
    if rows.is_empty() {
        rows.push(PageRow::line(phrases::NONE));
    }
    rows.extend(
        definitions
            .diagnostics
            .iter()
            .chain(&definitions.remarks)
            .map(|fault| PageRow::line(fault.localized())),
    );
    rows
}

fn add(startup: &Startup, new: &NewServer) -> Exit {
    let pairs = match new.pairs() {
        Ok(pairs) => pairs,
        Err(say) => return startup.fail(&Notice::error(say), Exit::WrongUse),
    };
    let mut table = Table::new();
    let mut names = Table::new();
    for (name, text) in pairs {
        names.insert(&name, value(text));
    }
    let names = value(names.into_inline_table());
    match (&new.url, new.command.split_first()) {
        (Some(url), _) => {
            table.insert("url", value(url));
            table.insert("headers", names);
        }
        (None, Some((command, args))) => {
            table.insert("command", value(command));
            table.insert("args", value(args.iter().collect::<Array>()));
            table.insert("env", names);
        }
        // The parser asks for one of them.
        (None, None) => {}
    }
    table.retain(|_, item| item.as_inline_table().is_none_or(|names| !names.is_empty()));
    match edit::set_server(&startup.paths.settings(), &new.server, table) {
        Ok(()) => done(startup, phrases::ADDED.with("name", new.server.as_str())),
        Err(error) => failed(startup, &error),
    }
}

fn done(startup: &Startup, text: LocalizedText) -> Exit {
    startup.fail(&Notice::info(text), Exit::Done)
}

fn failed(startup: &Startup, error: &EditError) -> Exit {
    startup.fail(&Notice::error(error.localized()), Exit::Failed)
}

fn test(
    startup: &Startup,
    servers: &FolderServers,
    definition: &ServerDefinition,
    json: bool,
) -> Exit {
    let tried = match runtime() {
        Ok(runtime) => runtime.block_on(try_server(startup, servers, definition.clone())),
        Err(error) => return startup.fail_io(&error),
    };
    match tried {
        Ok(facts) => print_rows(startup, &facts_rows(&definition.name, &facts), json),
        Err(error) => not_running(startup, definition, &error),
    }
}

fn not_running(startup: &Startup, definition: &ServerDefinition, error: &McpError) -> Exit {
    let say = phrases::FAILED_NOTICE.with("name", definition.name.as_str());
    startup.fail(&Notice::error(say.with("why", error.localized())), Exit::Failed)
}

/// Shows the address, and waits until the browser comes back from it.
fn login(startup: &Startup, servers: &FolderServers, definition: &ServerDefinition) -> Exit {
    let waiting = async {
        let definition = definition.clone().expand(&|name| servers.variable(name))?;
        let login = begin_login(definition, servers.keys()).await?;
        done(startup, phrases::OPEN_URL.with("url", login.url()));
        login.finish().await
    };
    let result = match runtime() {
        Ok(runtime) => runtime.block_on(waiting),
        Err(error) => return startup.fail_io(&error),
    };
    match result {
        Ok(()) => done(startup, phrases::LOGGED_IN.with("name", definition.name.as_str())),
        Err(error) => not_running(startup, definition, &error),
    }
}

async fn try_server(
    startup: &Startup,
    servers: &FolderServers,
    definition: ServerDefinition,
) -> Result<McpServerFacts, McpError> {
    let definition = definition.expand(&|name| servers.variable(name))?;
    let (events, mut received) = mpsc::channel(EVENT_CAPACITY);
    let folders = vec![startup.folder.clone()];
    let starter = servers.starter();
    let keys = servers.keys();

    let server = start_server(ServerLaunch { definition, folders, starter, keys }, events);
    let result = loop {
        match received.recv().await {
            Some((_, McpEvent::Started(facts))) => break Ok(facts),
            Some((_, McpEvent::Failed { error, .. })) => break Err(error),
            Some(_) => {}
            None => break Err(McpError::NotRunning),
        }
    };
    server.stop().await;
    result
}
