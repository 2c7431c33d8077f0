//! Queries of a service for what could follow while an option of a command is typed.

/// The service asks what could follow.
#[derive(Clone, Debug)]
pub struct SuggestQuery {
    pub command: String,
    pub option: String,
    pub typed: String,
    /// What the answer is for.
    pub query: String,
}

/// What was asked before the user's commands were read.
#[derive(Debug, Default)]
pub struct Suggesting {
    pub has_commands: bool,
    /// The models were asked for.
    pub has_models: bool,
    pub waiting: Vec<SuggestQuery>,
}

impl Suggesting {
    /// The user's commands are known: what waited for them.
    pub fn take(&mut self) -> Vec<SuggestQuery> {
        self.has_commands = true;
        std::mem::take(&mut self.waiting)
    }
}
