//! Paths in the arguments of `git`: what is shown of files of credentials.
//!
//! Where paths are given, those files are left out at the start; who names one is asked.
//! Without paths a history is shown as it is, since leaving files out would leave out
//! commits too.

use crate::protocol::{Effect, Tier};
use crate::words::safety as words;

use super::super::args::{self, Part, Token};
use super::super::findings::{Findings, quoted};
use super::super::judge::Call;
use super::super::{Kind, sensitive};
use super::operands;

/// `git grep`: it reads every file of the tree.
pub fn git_grep(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    let given = args::hit(tokens, "-e|-f").is_some();
    aimed(call, tokens, usize::from(!given), findings);
    left_out(call, findings);
    super::recursive::splits(call, tokens, "-F|--fixed-strings", findings);
}

/// Programs that show differences, where they are told of which files.
pub fn git_paths(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    let paths = aimed(call, tokens, 0, findings);
    // It follows exactly one file, and no more may be said.
    let follows = args::hit(tokens, "--follow").is_some();
    if paths && !follows && shows_content(call, tokens) {
        left_out(call, findings);
    }
}

/// Whether more than names is shown: a log says no more unless it is asked to.
fn shows_content(call: &Call<'_>, tokens: &[Token<'_>]) -> bool {
    let quiet = [".log", ".whatchanged", ".reflog", ".list", ".shortlog", ".rev-list"];
    if !quiet.iter().any(|end| call.id.ends_with(end)) {
        return true;
    }
    tokens.iter().any(|token| match &token.part {
        Part::Flag { name, .. } => CONTENT.iter().any(|flag| name == flag),
        Part::Operand(_) => false,
    })
}

/// Options of a log that show what changed in files.
const CONTENT: &[&str] = &[
    "-p",
    "-u",
    "--patch",
    "--patch-with-raw",
    "--patch-with-stat",
    "-U",
    "--unified",
    "-c",
    "--cc",
    "--dd",
    "-m",
    "--diff-merges",
    "--remerge-diff",
    "-W",
    "--function-context",
    "--word-diff",
    "--word-diff-regex",
    "--color-words",
    "--binary",
    "--full-index",
];

/// Asks about patterns that are after credentials; true: files are told at all.
fn aimed(call: &Call<'_>, tokens: &[Token<'_>], skip: usize, findings: &mut Findings) -> bool {
    let end = args::end_of_options(call.args, tokens);
    let mut told = end + 1 < call.args.len();
    for (at, text) in operands(tokens).skip(skip) {
        let Some(pattern) = pattern(text) else { continue };
        let wild = pattern.contains(['*', '?', '[']);
        told |= wild || pattern.len() < text.len() || is_there(call, text);
        if wild && sensitive::aims_at_secrets(pattern) {
            let say = words::PATH_SENSITIVE.with("path", quoted(text));
            findings.add("path.sensitive", Tier::L1, say, call.seat.arg(at), &[Effect::Secret]);
        }
    }
    told
}

fn is_there(call: &Call<'_>, text: &str) -> bool {
    let kind = call.ground.scene.world.kind(&call.ground.cwd.join(text));
    matches!(kind, Kind::File | Kind::Folder)
}

/// A path without its magic, `:(top,icase)*.rs` or `:/src`; `None`: it is left out, or is
/// no path.
fn pattern(text: &str) -> Option<&str> {
    let Some(magic) = text.strip_prefix(':') else { return Some(text) };
    if let Some(long) = magic.strip_prefix('(') {
        let (words, rest) = long.split_once(')')?;
        return (!words.split(',').any(|word| word == "exclude")).then_some(rest);
    }
    let rest = magic.trim_start_matches(['/', '!', '^', ':']);
    let short = magic.get(..magic.len() - rest.len())?;
    (!short.contains(['!', '^'])).then_some(rest)
}

/// Leaves credentials out, wherever in the repository they lie.
fn left_out(call: &Call<'_>, findings: &mut Findings) {
    let pairs = sensitive::SENSITIVE_PAIRS.iter().map(|(folder, file)| format!("{folder}/{file}"));
    let folders = sensitive::secret_folders().map(|folder| format!("{folder}/**"));
    for glob in sensitive::sensitive_globs().chain(pairs).chain(folders) {
        let path = format!(":(top,exclude,icase,glob)**/{glob}");
        call.insert(call.args.len(), &path, findings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_magic_of_a_path_is_no_part_of_its_pattern() {
        for (text, found) in [
            ("*env", Some("*env")),
            (":(top,icase)*ENV", Some("*ENV")),
            (":/*env", Some("*env")),
            (":(exclude)*env", None),
            (":!*env", None),
            (":^*env", None),
            (":/!*env", None),
            ("::*env", Some("*env")),
            ("src", Some("src")),
            (":(", None),
        ] {
            assert_eq!(pattern(text), found, "{text}");
        }
    }
}
