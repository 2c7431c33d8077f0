//! The files of several programs, read in place.

use std::fs;
use std::path::Path;

use avocet_core::i18n::{Lang, Localize as _, PhraseValue};
use avocet_core::protocol::PageRow;

use super::*;

fn write(folder: &Path, file: &str, text: &str) {
    let file = folder.join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn read(home: &Path, workspace: &Path) -> ServerDefinitions {
    read_definitions(&DefinitionFolders {
        home: home.to_owned(),
        config_home: home.join(".config"),
        settings: home.join("avocet.toml"),
        workspace: Some(workspace.to_owned()),
        is_untrusted: false,
        first: Vec::new(),
    })
}

fn stdio(command: &str, args: &[&str], env: &[(&str, &str)]) -> ServerTransport {
    ServerTransport::Stdio(StdioServer {
        command: command.to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        ..StdioServer::default()
    })
}

fn remote(url: &str, headers: &[(&str, &str)]) -> RemoteServer {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    RemoteServer { url: url.to_owned(), headers: headers.collect() }
}

#[test]
fn each_program_s_file_is_read_as_it_writes_it() {
    let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (home, work) = (home.path(), work.path());
    write(home, "avocet.toml", "[mcp.a]\ncommand = \"a\"\nargs = [\"-x\"]\ntimeout = 5\n[ui]\n");
    write(
        home,
        ".claude.json",
        &json!({"mcpServers": {"b": {"type": "http", "url": "https://b", "headers": {"K": "${V}"}}},
            "projects": {work.to_str().unwrap(): {"mcpServers": {"c": {"command": "c", "env": {"N": 1}}}}}})
        .to_string(),
    );
    write(
        home,
        ".codex/config.toml",
        "[mcp_servers.d]\nurl = \"https://d\"\nbearer_token_env_var = \"T\"\nstartup_timeout_sec = 3\n\
         tool_timeout_sec = 4.5\nenabled_tools = [\"x\"]\n[mcp_servers.d.env_http_headers]\nH = \"W\"\n",
    );
    write(
        home,
        ".gemini/settings.json",
        r#"{"mcpServers": {"e": {"url": "https://e", "timeout": 2500}, // old
            "f": {"command": "f", "args": ["$HOME/x", "$$1"], "excludeTools": ["y"],},}}"#,
    );
    write(
        home,
        ".config/opencode/opencode.jsonc",
        r#"{"mcp": {/* local */ "g": {"type": "local", "command": ["g", "-y"], "environment": {"K": "{env:V}"}, "enabled": false}}}"#,
    );
    write(
        home,
        ".config/crush/crush.json",
        r#"{"mcp": {"h": {"type": "sse", "url": "https://h", "timeout": 7, "disabled": true}}}"#,
    );
    let found = read(home, work);
    assert_eq!(found.diagnostics, []);
    let transports: Vec<_> = found.servers.iter().map(|server| server.transport.clone()).collect();
    let bearer = [("Authorization", "Bearer ${T}"), ("H", "${W}")];
    assert_eq!(
        transports,
        [
            stdio("a", &["-x"], &[]),
            stdio("c", &[], &[("N", "1")]),
            ServerTransport::Http(remote("https://b", &[("K", "${V}")])),
            ServerTransport::Http(remote("https://d", &bearer)),
            ServerTransport::Sse(remote("https://e", &[])),
            stdio("f", &["${HOME}/x", "$$1"], &[]),
            stdio("g", &["-y"], &[("K", "${V}")]),
            ServerTransport::Sse(remote("https://h", &[])),
        ]
    );
    let of = |name: &str| found.servers.iter().find(|server| server.name == name).unwrap();
    assert_eq!(of("a").call_timeout, Duration::from_secs(5));
    assert_eq!(of("d").start_timeout, Duration::from_secs(3));
    assert_eq!(of("d").call_timeout, Duration::from_millis(4500));
    assert_eq!(of("e").call_timeout, Duration::from_millis(2500));
    assert!(of("d").tools.allows("x") && !of("d").tools.allows("y"));
    assert!(!of("f").tools.allows("y"));
    assert!(of("a").is_enabled && !of("g").is_enabled && !of("h").is_enabled);
}

#[test]
fn a_repository_s_servers_are_marked_and_never_replace_the_user_s() {
    let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (home, work) = (home.path(), work.path());
    write(home, "avocet.toml", "[mcp.same]\ncommand = \"mine\"\n[mcp.shared]\ncommand = \"s\"\n");
    write(work, ".git/HEAD", "");
    let servers = json!({"mcpServers": {"same": {"command": "theirs"}, "shared": {"command": "s"},
        "own": {"command": "o"}}});
    write(work, ".mcp.json", &servers.to_string());
    write(work, "sub/.agents/mcp.json", r#"{"inner": {"type": "local", "command": ["i"]}}"#);
    let found = read(home, &work.join("sub"));
    let origins: Vec<_> = found
        .servers
        .iter()
        .map(|server| (server.name.as_str(), server.origin.is_from_repository))
        .collect();
    assert_eq!(origins, [("same", false), ("shared", false), ("inner", true), ("own", true)]);
    let told: Vec<String> =
        found.diagnostics.iter().map(|diagnostic| diagnostic.localized().to_string()).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("`same`") && told[0].contains("avocet.toml"), "{told:?}");
    let closed = read_definitions(&DefinitionFolders {
        settings: home.join("avocet.toml"),
        ..DefinitionFolders::default()
    });
    assert_eq!(closed.servers.len(), 2, "no workspace, no files of it");
}

#[test]
fn what_cannot_be_used_is_named_and_costs_nothing_else() {
    let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (home, work) = (home.path(), work.path());
    write(home, ".gemini/settings.json", "{not json");
    write(home, "avocet.toml", "not = = toml");
    fs::create_dir_all(home.join(".claude.json")).unwrap();
    write(
        home,
        ".codex/config.toml",
        "[mcp_servers.t]\nurl = \"https://t\"\nbearer_token = \"sk\"\n",
    );
    let servers = json!({"mcpServers": {
        "ok": {"command": "ok"},
        "none": {}, "empty": {"command": ""}, "list": [1], "ws": {"type": "ws", "url": "wss://x"},
        "args": {"command": "x", "args": "one"}, "flag": {"command": "x", "disabled": "yes"},
        "helper": {"type": "http", "url": "https://x", "headersHelper": "x"},
        "a\u{1b}[2J": {"command": "x"}, "": {"command": "x"},
        "long": {"command": "x", "args": ["y".repeat(5000)]},
    }});
    write(work, ".mcp.json", &servers.to_string());
    let found = read(home, work);
    let names: Vec<_> = found.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["ok"]);
    let told: Vec<String> =
        found.diagnostics.iter().map(|diagnostic| diagnostic.localized().to_string()).collect();
    assert_eq!(told.len(), 13, "{told:#?}");
    assert!(told.iter().all(|line| !line.contains(char::is_control) && !line.contains("sk\"")));
}

#[test]
fn what_a_file_switches_off_elsewhere_is_off() {
    let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (home, work) = (home.path(), work.path());
    let server = json!({"command": "x"});
    let claude = json!({"mcpServers": {"a": server, "b": server},
        "projects": {work.to_str().unwrap(): {"disabledMcpServers": ["a"]}}});
    write(home, ".claude.json", &claude.to_string());
    let gemini = json!({"mcp": {"allowed": ["c", "d"], "excluded": ["d"]},
        "mcpServers": {"c": server, "d": server, "e": server}});
    write(home, ".gemini/settings.json", &gemini.to_string());
    let opencode = json!({"mcp": {"f": server, "g": server, "h": server},
        "tools": {"f*": false, "g_del*": false, "h*": true}});
    write(home, ".config/opencode/opencode.json", &opencode.to_string());
    let found = read(home, work);
    let on: Vec<&str> = found
        .servers
        .iter()
        .filter(|server| server.is_enabled)
        .map(|server| server.name.as_str())
        .collect();
    assert_eq!(on, ["b", "c", "g", "h"]);
    let tools = &found.servers.iter().find(|server| server.name == "g").unwrap().tools;
    assert!(tools.allows("read") && !tools.allows("delete"));
}

#[test]
fn the_newer_form_of_opencode_has_its_servers_one_key_deeper() {
    let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (home, work) = (home.path(), work.path());
    let newer = json!({"mcp": {"timeout": {"startup": 5}, "servers": {
        "a": {"type": "local", "command": ["a"]},
        "b": {"type": "remote", "url": "https://b", "disabled": true},
        "c": {"type": "local", "command": ["c"], "environment": {"K": "{file:~/k}"}},
    }}});
    write(work, ".opencode/opencode.jsonc", &newer.to_string());
    let older = json!({"mcp": {"servers": {"type": "local", "command": ["s"]}}});
    write(home, ".config/opencode/opencode.json", &older.to_string());
    let found = read(home, work);
    let names: Vec<_> = found.servers.iter().map(|it| (it.name.as_str(), it.is_enabled)).collect();
    assert_eq!(names, [("servers", true), ("a", true), ("b", false)]);
    let told: Vec<String> = found.diagnostics.iter().map(|it| it.localized().to_string()).collect();
    assert!(told.len() == 1 && told[0].contains("{file:…}"), "{told:?}");
}

#[test]
fn each_file_is_reported_with_what_is_used_of_it_and_what_is_not_and_why() {
    let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (home, work) = (home.path(), work.path());
    write(home, ".claude.json", r#"{"mcpServers": {"a": {"command": "a"}, "b": {}}}"#);
    write(home, ".codex/config.toml", "[mcp_servers.a]\ncommand = \"a\"\n");
    write(home, ".gemini/settings.json", "{}");
    write(work, ".mcp.json", r#"{"mcpServers": {"c": {"command": "c"}}}"#);
    let folders = DefinitionFolders {
        home: home.to_owned(),
        workspace: Some(work.to_owned()),
        is_untrusted: true,
        ..DefinitionFolders::default()
    };
    let read = read_definitions(&folders);
    let state = |_: &ServerDefinition| avocet_core::i18n::mcp_pages::STARTING.into();
    let english = |value: &PhraseValue| value.text(Lang::En);
    let rows: Vec<String> = file_rows(&read, &state)
        .iter()
        .map(|row| match row {
            PageRow::Pair { label, value } => format!("{}|{}", english(label), english(value)),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        "Claude Code|",
        "|`a`: starting",
        "|The MCP server `b`",
        "Codex|",
        "|The MCP server `a`",
        "Gemini CLI|",
        "|defines no MCP server",
        "Claude Code|",
        "|The MCP servers in",
    ];
    assert_eq!(rows.len(), expected.len(), "{rows:#?}");
    for (row, start) in rows.iter().zip(expected) {
        assert!(row.starts_with(start), "{row}");
    }
    assert!(rows[4].contains(".claude.json defines the same server"), "{rows:#?}");
    assert!(rows[8].contains("not trusted") && read.servers.len() == 1, "{rows:#?}");
}

#[test]
fn comments_inside_texts_stay() {
    let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text = "{\"mcpServers\": {\"x\": {\"url\": \"https://x/*a*/\", \"headers\": {\"a\": \"\\\"//,]\"},},\n// end\n}}";
    write(work.path(), ".mcp.json", text);
    let found = read(home.path(), work.path());
    let expected = remote("https://x/*a*/", &[("a", "\"//,]")]);
    assert_eq!(found.servers[0].transport, ServerTransport::Http(expected));
}
