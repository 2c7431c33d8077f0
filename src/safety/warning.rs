//! The forms in a shell line that are shown to the user by a short name.
//!
//! A name is stable, and says nothing about how grave it is: that is the tier's.

use avocet_core::protocol::Effect;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Warning {
    Delete,
    Elevated,
    Network,
    Secret,
    Exec,
    Write,
    RedirectWrite,
    OutsideWorkspace,
    Substitution,
    Expansion,
    Eval,
    Alias,
    Function,
    HereDoc,
    Subshell,
    Background,
    MultiLine,
    ControlChars,
    EnvAssign,
    PipeToShell,
    PathProgram,
    Resource,
    TemplateArgs,
}

impl Warning {
    pub fn name(self) -> &'static str {
        match self {
            Warning::Delete => "delete",
            Warning::Elevated => "elevated",
            Warning::Network => "network",
            Warning::Secret => "secret",
            Warning::Exec => "exec",
            Warning::Write => "write",
            Warning::RedirectWrite => "redirect-write",
            Warning::OutsideWorkspace => "outside-workspace",
            Warning::Substitution => "substitution",
            Warning::Expansion => "expansion",
            Warning::Eval => "eval",
            Warning::Alias => "alias",
            Warning::Function => "function",
            Warning::HereDoc => "here-doc",
            Warning::Subshell => "subshell",
            Warning::Background => "background",
            Warning::MultiLine => "multi-line",
            Warning::ControlChars => "control-chars",
            Warning::EnvAssign => "env-assign",
            Warning::PipeToShell => "pipe-to-shell",
            Warning::PathProgram => "path-program",
            Warning::Resource => "resource",
            Warning::TemplateArgs => "template-args",
        }
    }

    /// The warning for an effect, if it has one.
    pub fn from_effect(effect: Effect) -> Option<Warning> {
        match effect {
            Effect::Read | Effect::Send | Effect::Terminal | Effect::Irreversible => None,
            Effect::Write => Some(Warning::Write),
            Effect::Delete => Some(Warning::Delete),
            Effect::Exec => Some(Warning::Exec),
            Effect::Network => Some(Warning::Network),
            Effect::Elevate => Some(Warning::Elevated),
            Effect::Secret => Some(Warning::Secret),
            Effect::Outside => Some(Warning::OutsideWorkspace),
            Effect::Resource => Some(Warning::Resource),
        }
    }
}
