//! What a server gets beyond what every step in the sandbox has: the user may withhold one of it.

use std::path::{Path, PathBuf};

use super::definition::{ServerDefinition, ServerTransport};
use avocet_core::i18n::{LocalizedText, mcp_pages as phrases};
use avocet_core::text::visible;

/// The most that the user can withhold by one answer.
const MAX_NEEDS: usize = 6;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerNeed {
    Network,
    /// One outside the workspace, which the definition names.
    Folder(PathBuf),
    /// A variable, or a header.
    Variable(String),
}

impl ServerNeed {
    /// What an answer calls it.
    pub fn describe(&self) -> LocalizedText {
        match self {
            ServerNeed::Network => phrases::NEED_NETWORK.into(),
            ServerNeed::Folder(folder) => {
                phrases::NEED_FOLDER.with("folder", visible(&folder.to_string_lossy()))
            }
            ServerNeed::Variable(name) => phrases::NEED_VARIABLE.with("name", name.as_str()),
        }
    }
}

impl ServerDefinition {
    /// What it would get, each of which may be withheld.
    pub fn needs(&self, workspace: &Path) -> Vec<ServerNeed> {
        let mut needs = Vec::new();
        if let ServerTransport::Stdio(server) = &self.transport {
            needs.extend((!server.reach.is_offline).then_some(ServerNeed::Network));
            let named = server.args.iter().map(PathBuf::from);
            let named = named.filter(|path| path.is_absolute() && path.is_dir());
            let named = named.chain(server.reach.folders.iter().cloned());
            let outside = named.filter(|path| !path.starts_with(workspace));
            let open = outside.filter(|path| !server.reach.closed.contains(path));
            needs.extend(open.map(ServerNeed::Folder));
        }
        let names = self.variable_names().into_iter();
        let names = names.filter(|name| self.withheld.as_ref() != Some(name));
        needs.extend(names.map(ServerNeed::Variable));
        needs.truncate(MAX_NEEDS);
        needs
    }

    /// What the user answered about it as a whole, or without one of its needs, and which.
    pub fn answered(
        &self,
        workspace: &Path,
        answer: impl Fn(&ServerDefinition) -> Option<bool>,
    ) -> (Option<bool>, Option<ServerNeed>) {
        let whole = answer(self);
        if whole.is_some() {
            return (whole, None);
        }
        let is_given = |need: &ServerNeed| answer(&self.clone().without(need)) == Some(true);
        let without = self.needs(workspace).into_iter().find(is_given);
        (without.as_ref().map(|_| true), without)
    }

    /// The same server without one of its needs: another definition, with answers of its own.
    #[must_use]
    pub fn without(mut self, need: &ServerNeed) -> ServerDefinition {
        match (&mut self.transport, need) {
            (ServerTransport::Stdio(server), ServerNeed::Network) => {
                server.reach.is_offline = true;
            }
            (ServerTransport::Stdio(server), ServerNeed::Folder(folder)) => {
                server.reach.folders.retain(|path| path != folder);
                server.reach.closed.push(folder.clone());
            }
            (ServerTransport::Stdio(server), ServerNeed::Variable(name)) => {
                server.env.remove(name);
            }
            (
                ServerTransport::Http(server) | ServerTransport::Sse(server),
                ServerNeed::Variable(name),
            ) => {
                server.headers.remove(name);
            }
            (ServerTransport::Http(_) | ServerTransport::Sse(_), _) => {}
        }
        if let ServerNeed::Variable(name) = need {
            self.withheld = Some(name.clone());
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::definition::StdioServer;
    use super::*;

    #[test]
    fn each_need_can_be_withheld_and_makes_another_definition() {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().to_str().unwrap();
        let args = ["/w/inside", outside, "/nowhere", "--key=${KEY}"];
        let mut stdio = StdioServer { command: "serve".to_owned(), ..StdioServer::default() };
        stdio.args = args.map(str::to_owned).to_vec();
        stdio.env.insert("TOKEN".to_owned(), "x".to_owned());
        stdio.reach.folders = vec!["/data".into()];
        let transport = ServerTransport::Stdio(stdio);
        let server = ServerDefinition::of_editor("x".to_owned(), transport);
        let needs = server.needs(Path::new("/w"));
        let folders = [folder.path(), Path::new("/data")];
        let [one, other] = folders.map(|folder| ServerNeed::Folder(folder.to_owned()));
        let variables = ["TOKEN", "KEY"].map(|name| ServerNeed::Variable(name.to_owned()));
        let [token, key] = variables;
        assert_eq!(needs, [ServerNeed::Network, one, other, token, key]);
        let mut hashes = BTreeSet::from([server.hash()]);
        for need in &needs {
            let less = server.clone().without(need);
            assert!(!less.needs(Path::new("/w")).contains(need), "{need:?}");
            hashes.insert(less.hash());
            let filled = less.expand(&|_| Some("secret".to_owned())).unwrap();
            let ServerTransport::Stdio(started) = filled.transport else { panic!("{need:?}") };
            assert_eq!(started.reach.is_offline, *need == ServerNeed::Network);
            assert_eq!(started.env.contains_key("TOKEN"), *need != needs[3]);
            let last = if *need == needs[4] { "--key=" } else { "--key=secret" };
            assert_eq!(started.args[3], last, "{need:?}");
        }
        assert_eq!(hashes.len(), needs.len() + 1);
    }
}
