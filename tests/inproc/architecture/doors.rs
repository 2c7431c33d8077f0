//! Which files may name what, by path, inline, imported or under another name.

use super::syntax::Code;

/// The lines of a file that name one of `forbidden`, each a path such as `std::process::Command`
/// or the name of a crate.
pub fn lines_naming(code: &Code, forbidden: &[&str]) -> Vec<(usize, String)> {
    let imports = code.imports.iter().map(|import| (&import.path, import.path.segments.clone()));
    let paths = code.paths.iter().map(|path| (path, code.expand(path)));
    let names = |segments: &[String]| {
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        forbidden.iter().any(|path| {
            let path: Vec<&str> = path.split("::").collect();
            segments.starts_with(&path)
        })
    };
    let mut found: Vec<(usize, String)> = imports
        .chain(paths)
        .filter(|(_, segments)| names(segments))
        .map(|(path, segments)| (path.line, segments.join("::")))
        .collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        lines_naming(&Code::of(&syn::parse_file(text).unwrap()), &["std::process::Command"]).len()
    }

    #[test]
    fn a_door_is_seen_inline_imported_and_under_another_name() {
        assert_eq!(found("fn f() { std::process::Command::new(\"a\"); }"), 1);
        assert_eq!(found("use std::process::Command;"), 1);
        assert_eq!(found("use std::process as p;\nfn f() { p::Command::new(\"a\"); }"), 1);
        assert_eq!(found("use std::{io, process};\nfn f() -> process::Command { todo() }"), 1);
        assert_eq!(found("fn f() { vec![::std::process::Command::new(\"a\")]; }"), 1);
    }

    #[test]
    fn what_only_sounds_like_a_door_or_stands_in_a_test_is_none() {
        assert_eq!(found("struct Command; fn f() { Command::new(); }"), 0);
        assert_eq!(found("// std::process::Command\nfn f() { let _ = \"process::Command\"; }"), 0);
        assert_eq!(found("#[cfg(test)]\nmod t { use std::process::Command; }"), 0);
    }
}
