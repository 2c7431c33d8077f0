//! The MCP servers that a client names, as definitions of its user.

use agent_client_protocol_schema::v1::{HttpHeader, McpServer};

use avocet_mcp::{RemoteServer, ServerDefinition, ServerTransport, StdioServer};

/// The most servers of a client.
const MAX_SERVERS: usize = 50;

/// The definitions of those that are known.
pub fn definitions(servers: Vec<McpServer>) -> Vec<ServerDefinition> {
    servers.into_iter().take(MAX_SERVERS).filter_map(definition).collect()
}

fn definition(server: McpServer) -> Option<ServerDefinition> {
    let (name, transport) = match server {
        McpServer::Stdio(server) => {
            let env = server.env.into_iter().map(|variable| (variable.name, variable.value));
            let stdio = StdioServer {
                command: server.command.to_string_lossy().into_owned(),
                args: server.args,
                env: env.collect(),
                ..StdioServer::default()
            };
            (server.name, ServerTransport::Stdio(stdio))
        }
        McpServer::Http(server) => {
            (server.name, ServerTransport::Http(remote(server.url, server.headers)))
        }
        McpServer::Sse(server) => {
            (server.name, ServerTransport::Sse(remote(server.url, server.headers)))
        }
        _ => return None,
    };
    Some(ServerDefinition::of_editor(name, transport))
}

fn remote(url: String, headers: Vec<HttpHeader>) -> RemoteServer {
    let headers = headers.into_iter().map(|header| (header.name, header.value)).collect();
    RemoteServer { url, headers }
}
