//! What a typed line means. (Stand-in until the real one is merged.)

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intent {
    Empty,
    Message { text: String },
    Command { name: String, args: String },
    Shell { line: String, keep: bool },
}

pub fn read(line: &str) -> Intent {
    let trimmed = line.trim();
    if trimmed.is_empty() {
        return Intent::Empty;
    }
    if let Some(rest) = trimmed.strip_prefix('/') {
        let (name, args) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        return Intent::Command { name: name.into(), args: args.trim().into() };
    }
    if let Some(rest) = trimmed.strip_prefix("!!") {
        return Intent::Shell { line: rest.trim().into(), keep: false };
    }
    if let Some(rest) = trimmed.strip_prefix('!') {
        return Intent::Shell { line: rest.trim().into(), keep: true };
    }
    Intent::Message { text: trimmed.into() }
}
