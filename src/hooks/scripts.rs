//! The files that the command of a hook names: what it runs is more than its line.

use std::path::{Path, PathBuf};

/// The regular files that a command names, in order, each once: all of them, since any may be what
/// runs. A relative name is one of the workspace.
pub fn named_files(command: &str, workspace: &Path, home: &Path) -> Vec<PathBuf> {
    let separators = |c: char| c.is_whitespace() || "'\";|&()<>=`".contains(c);
    // In quotes a variable may be followed by the rest of a path outside of them.
    let command = command.replace("}\"/", "}/").replace("DIR\"/", "DIR/");
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in command.split(separators).map(|word| expand(word, workspace, home)) {
        if !paths.contains(&path) && path.is_file() {
            paths.push(path);
        }
    }
    paths
}

fn expand(word: &str, workspace: &Path, home: &Path) -> PathBuf {
    const WORKSPACE: [&str; 6] = [
        "$CLAUDE_PROJECT_DIR/",
        "${CLAUDE_PROJECT_DIR}/",
        "$CRUSH_PROJECT_DIR/",
        "$GEMINI_PROJECT_DIR/",
        "${GEMINI_PROJECT_DIR}/",
        "$PWD/",
    ];
    const HOME: [&str; 3] = ["~/", "$HOME/", "${HOME}/"];
    let below = |names: &[&str]| names.iter().find_map(|name| word.strip_prefix(name));
    match (below(&WORKSPACE), below(&HOME)) {
        (Some(rest), _) => workspace.join(rest),
        (None, Some(rest)) => home.join(rest),
        (None, None) => workspace.join(word),
    }
}
