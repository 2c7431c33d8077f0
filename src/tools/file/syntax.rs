//! Finds a syntax error that a change introduced into a JSON, TOML, YAML or Python file. Errors that
//! the file already had are not reported.

use std::path::Path;

use avocet_core::i18n::{LocalizedText, tools as phrases};

mod python;

/// The largest file that is checked, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// The parsers recurse, so deeper nesting could overflow the stack.
const MAX_DEPTH: usize = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    Json,
    Toml,
    Yaml,
    Python,
}

/// The first syntax error in a text.
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    /// Counted from 1.
    line: usize,
    why: String,
}

/// A sentence about a syntax error that the old content did not have.
pub fn new_fault(
    path: &Path,
    shown: &str,
    before: Option<&[u8]>,
    after: &[u8],
) -> Option<LocalizedText> {
    let syntax = Syntax::of(path)?;
    let text = checked_text(after)?;
    let fault = syntax.fault(text)?;
    let old = before.and_then(checked_text);
    let known = old.and_then(|old| Some((syntax.fault(old)?, old)));
    if known.is_some_and(|(known, old)| {
        known.why == fault.why && nth_line(old, known.line) == nth_line(text, fault.line)
    }) {
        return None;
    }
    let say = phrases::SYNTAX_FAULT.with("path", shown).with("format", syntax.name());
    Some(say.with("line", fault.line).with("why", fault.why))
}

fn checked_text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_BYTES)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    (deepest(text) <= MAX_DEPTH).then_some(text)
}

/// The maximum nesting depth of brackets.
fn deepest(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut most = 0;

    for byte in text.bytes() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

fn nth_line(text: &str, number: usize) -> &str {
    text.lines().nth(number.saturating_sub(1)).unwrap_or_default()
}

impl Syntax {
    fn of(path: &Path) -> Option<Syntax> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let extension = Path::new(&name).extension()?.to_str()?;
        match extension {
            "json" if !has_comments(path, &name) => Some(Syntax::Json),
            "ipynb" | "geojson" | "webmanifest" => Some(Syntax::Json),
            "toml" => Some(Syntax::Toml),
            "yaml" | "yml" => Some(Syntax::Yaml),
            "py" | "pyi" => Some(Syntax::Python),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Syntax::Json => "JSON",
            Syntax::Toml => "TOML",
            Syntax::Yaml => "YAML",
            Syntax::Python => "Python",
        }
    }

    fn fault(self, text: &str) -> Option<Fault> {
        match self {
            Syntax::Json => json_fault(text),
            Syntax::Toml => toml_fault(text),
            Syntax::Yaml => yaml_fault(text),
            Syntax::Python => python_fault(text),
        }
    }
}

/// JSON files whose programs accept comments and trailing commas.
fn has_comments(path: &Path, name: &str) -> bool {
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let is_config =
        ["tsconfig", "jsconfig", ".eslintrc", ".swcrc", "devcontainer", "api-extractor"];
    matches!(folder, Some(".vscode" | ".devcontainer" | ".zed"))
        || is_config.iter().any(|start| name.starts_with(start))
}

fn json_fault(text: &str) -> Option<Fault> {
    let error = serde_json::from_str::<serde::de::IgnoredAny>(text).err()?;
    let line = error.line();
    // The program that reads this file may accept comments.
    let is_comment = ["//", "/*", "#"].iter().any(|mark| nth_line(text, line).contains(mark));
    let why = error.to_string();
    let why = why.split_once(" at line ").map_or(why.as_str(), |(why, _)| why).to_owned();
    (!is_comment).then_some(Fault { line, why })
}

fn toml_fault(text: &str) -> Option<Fault> {
    let error = toml_edit::Document::parse(text).err()?;
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let line = text.get(..start).map_or(1, |before| before.matches('\n').count() + 1);
    Some(Fault { line, why: error.message().lines().collect::<Vec<_>>().join(", ") })
}

/// A template is not Python until it has been expanded, and some scripts of other programs have the
/// name of one.
fn python_fault(text: &str) -> Option<Fault> {
    let is_template = text.lines().any(|line| line.trim_start().starts_with("{%"));
    let first = text.lines().next().unwrap_or_default();
    let is_other = is_template || first.starts_with("#!") && !first.contains("py");
    let fault = if is_other { None } else { python::find_fault(text) };
    fault.map(|(line, why)| Fault { line, why })
}

fn yaml_fault(text: &str) -> Option<Fault> {
    // A template is not YAML until it has been expanded.
    if text.contains("{{") || text.contains("{%") {
        return None;
    }
    let error = saphyr_parser::Parser::new_from_str(text).find_map(Result::err)?;
    Some(Fault { line: error.marker().line().max(1), why: error.info().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::Lang;

    fn told(name: &str, before: Option<&str>, after: &str) -> Option<String> {
        let before = before.map(str::as_bytes);
        let say = new_fault(Path::new(name), name, before, after.as_bytes())?;
        Some(say.text(Lang::En))
    }

    #[test]
    fn a_fault_that_a_change_brings_is_said_with_its_line() {
        for (name, before, after, line) in [
            ("a.json", "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1\n  \"b\": 2\n}\n", "line 3"),
            ("a.toml", "a = 1\n", "a = 1\nb = [1,\nc = 2\n", "TOML"),
            ("Cargo.toml", "[a]\nx = 1\n", "[a]\nx = 1\nx = 2\n", "line 3"),
            ("a.yml", "a:\n  - b\n", "a:\n  - b\n c: d\n", "YAML"),
            ("a.yaml", "a: b\n", "a: \"b\nc: d\n", "YAML"),
            (
                "a.py",
                "def f(a):\n    return a\n",
                "def f(a)\n    return a\n",
                "line 1: expected ':'",
            ),
        ] {
            let said = told(name, Some(before), after).unwrap_or_default();
            assert!(said.contains(line) && said.contains(name), "{name}: {said}");
            assert_eq!(told(name, None, before), None, "{name}");
            assert!(told(name, None, after).is_some(), "{name}");
        }
    }

    #[test]
    fn a_fault_that_was_there_before_is_left_out_and_another_one_is_said() {
        let broken = "{\n  \"a\": 1\n  \"b\": 2,\n  \"c\": 3\n}\n";
        let elsewhere = broken.replace("\"c\": 3", "\"c\": 4");
        assert_eq!(told("a.json", Some(broken), &elsewhere), None);
        let mended_to_another = broken.replace("1\n", "1,\n").replace("2,", "2");
        assert!(told("a.json", Some(broken), &mended_to_another).is_some());
        let moved = format!("\n\n{broken}");
        assert_eq!(told("a.json", Some(broken), &moved), None);
    }

    #[test]
    fn files_of_other_programs_and_templates_are_not_judged() {
        for (name, text) in [
            ("tsconfig.json", "{ // strict\n \"a\": 1, }"),
            (".vscode/settings.json", "{ \"a\": 1, }"),
            ("a.json", "{\n  // why\n  \"a\": 1\n}"),
            ("chart.yaml", "a: {{ .Values.b }}\n- c\n"),
            ("a.txt", "{"),
            ("a.py", "{% if x %}\nif\n"),
            ("b.py", "#!/bin/sh\nif true; then ls; fi\n"),
            ("deep.json", &"[".repeat(100_000)),
        ] {
            assert_eq!(told(name, None, text), None, "{name}");
        }
        let latin = new_fault(Path::new("a.json"), "a.json", None, b"{\xff");
        assert_eq!(latin, None);
    }
}
