//! The events that hooks follow.

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookEvent {
    SessionStart,
    UserPromptSubmit,
    PreToolUse,
    PermissionRequest,
    PostToolUse,
    PreCompact,
    Stop,
    SubagentStop,
    Notification,
    SessionEnd,
}

const NAMES: [(HookEvent, &str); 10] = [
    (HookEvent::SessionStart, "SessionStart"),
    (HookEvent::UserPromptSubmit, "UserPromptSubmit"),
    (HookEvent::PreToolUse, "PreToolUse"),
    (HookEvent::PermissionRequest, "PermissionRequest"),
    (HookEvent::PostToolUse, "PostToolUse"),
    (HookEvent::PreCompact, "PreCompact"),
    (HookEvent::Stop, "Stop"),
    (HookEvent::SubagentStop, "SubagentStop"),
    (HookEvent::Notification, "Notification"),
    (HookEvent::SessionEnd, "SessionEnd"),
];

impl HookEvent {
    pub fn parse(name: &str) -> Option<HookEvent> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(event, _)| *event)
    }

    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(event, _)| *event == self).map_or("", |(_, name)| *name)
    }

    /// Whether its matcher means something.
    pub fn has_matcher(self) -> bool {
        !matches!(self, HookEvent::UserPromptSubmit | HookEvent::Stop)
    }

    /// Whether what a hook prints as plain text is for the model.
    pub(crate) fn takes_plain_text(self) -> bool {
        matches!(self, HookEvent::SessionStart | HookEvent::UserPromptSubmit)
    }
}
