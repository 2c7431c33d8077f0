//! Finds the patch in a step that runs `apply_patch`, by itself or by the line of a shell.

const PROGRAMS: [&str; 2] = ["apply_patch", "applypatch"];
const SHELLS: [&str; 3] = ["bash", "sh", "zsh"];
const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// The patch, and the folder that the line goes to first.
pub(super) fn find(program: &str, args: &[String]) -> Option<(String, Option<String>)> {
    let name = program.rsplit('/').next().unwrap_or(program);
    match args {
        [patch] if PROGRAMS.contains(&name) && patch.contains(BEGIN) => Some((patch.clone(), None)),
        [flag, line] if SHELLS.contains(&name) && matches!(flag.as_str(), "-lc" | "-c") => {
            let (folder, rest) = leading_folder(line.trim());
            let rest = PROGRAMS.iter().find_map(|name| rest.strip_prefix(name))?.trim_start();
            let patch = document(rest).or_else(|| quoted(rest))?;
            patch.contains(BEGIN).then(|| (patch.to_owned(), folder.map(str::to_owned)))
        }
        _ => None,
    }
}

/// Whether a text is a patch from its first line to its last.
pub(super) fn is_whole(text: &str) -> bool {
    text.starts_with(BEGIN) && text.ends_with(END)
}

/// `cd FOLDER && REST`, with a folder that a shell reads as it is written.
fn leading_folder(line: &str) -> (Option<&str>, &str) {
    let plain = |folder: &str| folder.chars().all(|c| c.is_alphanumeric() || "/._-+@".contains(c));
    let parts = line.strip_prefix("cd ").and_then(|rest| rest.split_once("&&"));
    match parts.map(|(folder, rest)| (folder.trim(), rest.trim_start())) {
        Some((folder, rest)) if !folder.is_empty() && plain(folder) => (Some(folder), rest),
        _ => (None, line),
    }
}

/// The text of `<<WORD` to a last line with that word.
fn document(rest: &str) -> Option<&str> {
    let rest = rest.strip_prefix("<<")?;
    let (word, body) = rest.strip_prefix('-').unwrap_or(rest).split_once('\n')?;
    let word = word.trim().trim_matches(['\'', '"']);
    let body = body.strip_suffix(word)?.strip_suffix('\n')?;
    let is_whole = !word.is_empty() && !body.lines().any(|line| line == word);
    is_whole.then_some(body)
}

/// A text in single quotes, which a shell reads as it is.
fn quoted(rest: &str) -> Option<&str> {
    let text = rest.strip_prefix('\'')?.strip_suffix('\'')?;
    (!text.contains('\'')).then_some(text)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_patch_is_found_in_every_way_to_run_it() {
        let patch = "*** Begin Patch\n*** End Patch";
        let find = |program: &str, args: &[&str]| {
            super::find(program, &args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
        };
        let found = Some((patch.to_owned(), None));
        assert_eq!(find("apply_patch", &[patch]), found);
        for line in [
            format!("apply_patch <<'EOF'\n{patch}\nEOF\n"),
            format!("apply_patch << PATCH\n{patch}\nPATCH"),
            format!("apply_patch '{patch}'"),
        ] {
            assert_eq!(find("bash", &["-lc", &line]), found, "{line}");
        }
        let line = format!("cd sub && apply_patch <<'EOF'\n{patch}\nEOF");
        assert_eq!(find("bash", &["-lc", &line]), Some((patch.to_owned(), Some("sub".into()))));
        for line in [
            format!("apply_patch <<'EOF'\n{patch}\nEOF\nrm x"),
            format!("apply_patch <<'A'\n{patch}\nB"),
            "apply_patch <<'EOF'\nx\nEOF".to_owned(),
        ] {
            assert_eq!(find("bash", &["-lc", &line]), None, "{line}");
        }
    }
}
