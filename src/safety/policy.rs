//! What the user decided about the policy: settings and remembered rules.

/// The user's settings, as data. Project settings may only make it stricter.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Changes to the built-in allow-list: `+name`, `-name`; a list with a plain name
    /// replaces it.
    pub allowed_programs: Vec<String>,
    pub unknown_program: Unknown,
    pub network: Limit,
    pub write: Limit,
    pub elevate: Limit,
    /// Rule ids whose L2 becomes a question.
    pub lift: Vec<String>,
    /// What runs without asking, when it is L1.
    pub allowed: Vec<Rule>,
    /// What is refused, before anything else.
    pub denied: Vec<Rule>,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            allowed_programs: Vec::new(),
            unknown_program: Unknown::Refuse,
            network: Limit::Ask,
            write: Limit::Ask,
            elevate: Limit::Refuse,
            lift: Vec::new(),
            allowed: Vec::new(),
            denied: Vec::new(),
        }
    }
}

/// What happens to a program that is not on the allow-list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    Refuse,
    Confirm,
}

/// What happens to a step with an effect the user may switch off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Ask,
    Refuse,
}

/// A remembered rule: a program and the start of its args, `git push *`, or exactly
/// these args, `git push`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub program: String,
    pub args: Vec<String>,
    /// True when more args may follow (`*` at the end).
    pub open: bool,
}
