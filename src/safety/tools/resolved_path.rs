//! What a path in the input of a tool leads to.

use std::path::PathBuf;

use super::super::findings::{Findings, excerpt};
use super::super::paths::{self, PathClass};
use super::super::spec::JudgeContext;
use super::super::user_rules::{self, FileAccess};
use super::super::{PathKind, Workspace};
use super::input::{InputError, MissingFile};
use avocet_core::i18n::{LocalizedText, Phrase, safety as words};
use avocet_core::protocol::{Effect, Tier};
use avocet_core::text::path_text;

/// A place in the file system as it was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPath {
    /// Absolute, links resolved.
    pub path: PathBuf,
    /// Relative to the workspace if it is inside, else absolute.
    pub shown: String,
    /// Whether it is in the workspace.
    pub inside: bool,
}

impl ResolvedPath {
    /// A path whose links are resolved.
    pub(super) fn new(path: PathBuf, workspace: &Workspace) -> ResolvedPath {
        let inside = workspace.contains(&path);
        let shown = match path.strip_prefix(&workspace.workspace) {
            Ok(inner) if inner.as_os_str().is_empty() => ".".to_owned(),
            Ok(inner) => path_text(inner).into_owned(),
            Err(_) => path_text(&path).into_owned(),
        };
        ResolvedPath { path, shown, inside }
    }

    pub(super) fn missing_error(&self) -> InputError {
        let missing = MissingFile { path: self.path.clone(), shown: self.shown.clone() };
        InputError { missing: Some(Box::new(missing)), ..self.say(words::TOOL_NO_FILE).into() }
    }

    /// A sentence about it.
    pub(super) fn say(&self, phrase: Phrase) -> LocalizedText {
        phrase.with("path", excerpt(&self.shown))
    }
}

/// The target of a path. Nothing is written through a link out of the workspace; reading
/// through a link is judged by its target, as for `cat`.
pub(super) fn resolve_path(
    text: &str,
    access: FileAccess,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> Result<(ResolvedPath, PathClass), InputError> {
    if text.contains('\0') {
        return Err(LocalizedText::from(words::PATH_NUL).into());
    }
    let policy_cx = context.policy_cx;
    let text = meant_path(text, context);
    let written = policy_cx.named_path(text, &context.cwd);
    let path = policy_cx.world.resolve(&written);
    let class = paths::classify(text, &context.cwd, policy_cx)
        .max(paths::classify_written(written.clone(), policy_cx));
    user_rules::check_written(access, &written, None, context, findings);
    let path = ResolvedPath::new(path, policy_cx.place);
    if access == FileAccess::Writes
        && policy_cx.place.contains(&paths::normalize(&written))
        && !path.inside
    {
        let say = words::PATH_LINK
            .with("path", excerpt(text))
            .with("target", excerpt(&path_text(&path.path)));
        findings.add("path.link", Tier::L2, say, None, &[Effect::Outside]);
    }
    Ok((path, class))
}

/// The path without what models write beside it, where only that one leads to a file: quotes, the `a/`
/// of a diff, a `/` or an `@` before it, lines after it.
fn meant_path<'a>(text: &'a str, context: &JudgeContext<'_>) -> &'a str {
    let policy_cx = context.policy_cx;
    let exists = |text: &str| {
        let path = policy_cx.world.resolve(&policy_cx.named_path(text, &context.cwd));
        !text.is_empty() && policy_cx.world.kind(&path) != PathKind::Missing
    };
    let bare = text.trim().trim_matches(['`', '"', '\'']).trim_start_matches("file://");
    let inner = ["a/", "b/", "/", "@"].iter().find_map(|prefix| bare.strip_prefix(prefix));
    let is_lines = |lines: &str| lines.bytes().all(|byte| b"L0123456789-".contains(&byte));
    let ends = [':', '#'].iter().filter_map(|sign| bare.rsplit_once(*sign));
    let without_lines = ends.filter(|(_, lines)| is_lines(lines)).map(|(path, _)| path);
    let mut others = [Some(bare), inner].into_iter().flatten().chain(without_lines);
    if exists(text) { text } else { others.find(|other| exists(other)).unwrap_or(text) }
}

/// The place of a path that is read.
pub(super) fn resolve_read(
    text: &str,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> Result<ResolvedPath, InputError> {
    let (spot, class) = resolve_path(text, FileAccess::Reads, context, findings)?;
    match class.read_risk() {
        Some((rule, why, effects)) => {
            findings.add(rule, Tier::L1, spot.say(why), None, effects);
        }
        None => {
            findings.add("file.read", Tier::L0, spot.say(words::TOOL_READS), None, &[Effect::Read]);
        }
    }
    Ok(spot)
}
