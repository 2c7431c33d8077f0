//! Says from the files of a folder what kind of project it is, and how it is tested.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A file that tells a language, and how its projects are tested.
struct Kind {
    file: &'static str,
    language: &'static str,
    test: &'static str,
}

const fn kind(file: &'static str, language: &'static str, test: &'static str) -> Kind {
    Kind { file, language, test }
}

#[rustfmt::skip]
const KINDS: &[Kind] = &[
    kind("Cargo.toml",            "Rust",       "cargo test"),
    kind("go.mod",                "Go",         "go test ./..."),
    kind("deno.json",             "TypeScript", "deno test"),
    kind("deno.jsonc",            "TypeScript", "deno test"),
    kind("tsconfig.json",         "TypeScript", ""),
    kind("package.json",          "JavaScript", ""),
    kind("pyproject.toml",        "Python",     ""),
    kind("setup.py",              "Python",     ""),
    kind("requirements.txt",      "Python",     ""),
    kind("pom.xml",               "Java",       "mvn test"),
    kind("build.gradle",          "Java",       "gradle test"),
    kind("build.gradle.kts",      "Kotlin",     "gradle test"),
    kind("build.sbt",             "Scala",      "sbt test"),
    kind("mix.exs",               "Elixir",     "mix test"),
    kind("rebar.config",          "Erlang",     "rebar3 eunit"),
    kind("Gemfile",               "Ruby",       ""),
    kind("composer.json",         "PHP",        ""),
    kind("Package.swift",         "Swift",      "swift test"),
    kind("pubspec.yaml",          "Dart",       "dart test"),
    kind("build.zig",             "Zig",        "zig build test"),
    kind("stack.yaml",            "Haskell",    "stack test"),
    kind("cabal.project",         "Haskell",    "cabal test"),
    kind("dune-project",          "OCaml",      "dune test"),
    kind("Directory.Build.props", "C#",         "dotnet test"),
    kind("global.json",           "C#",         "dotnet test"),
    kind("CMakeLists.txt",        "C or C++",   "ctest --test-dir build"),
    kind("meson.build",           "C or C++",   "meson test -C build"),
    kind("Project.toml",          "Julia",      ""),
    kind("DESCRIPTION",           "R",          ""),
];

/// Languages that are named.
const NAMED: usize = 3;
/// Bytes of a file that are looked at.
const MAX_LENGTH: u64 = 64 * 1024;

/// `git repository, Rust, tests: cargo test`; empty for a folder of no known kind.
pub fn describe_project(folder: &Path) -> String {
    let found = KINDS.iter().filter(|kind| folder.join(kind.file).is_file());
    let mut parts: Vec<&str> = Vec::new();
    let mut test = None;
    for kind in found {
        let is_known = parts.contains(&kind.language)
            || kind.language == "JavaScript" && parts.contains(&"TypeScript");
        if !is_known && parts.len() < NAMED {
            parts.push(kind.language);
        }
        let own = Some(kind.test).filter(|test| !test.is_empty());
        test = test.or_else(|| own.or_else(|| test_command(folder, kind.file)));
    }
    let test = test.or_else(|| has_make_test(folder).then_some("make test"));
    let is_repository = folder.ancestors().any(|folder| folder.join(".git").exists());
    let repository = is_repository.then(|| "git repository".to_owned());
    let languages = parts.into_iter().map(str::to_owned);
    let test = test.map(|test| format!("tests: {test}"));
    repository.into_iter().chain(languages).chain(test).collect::<Vec<_>>().join(", ")
}

/// What the file itself tells, or what is beside it.
fn test_command(folder: &Path, file: &str) -> Option<&'static str> {
    let is_there = |name: &str| folder.join(name).exists();
    let text = read_start(&folder.join(file));
    match file {
        "package.json" => {
            let package: serde_json::Value = serde_json::from_str(&text).ok()?;
            let script = package.get("scripts")?.get("test")?.as_str()?;
            let runs = !script.is_empty() && !script.contains("no test specified");
            let managers = [
                ("pnpm-lock.yaml", "pnpm test"),
                ("yarn.lock", "yarn test"),
                ("bun.lock", "bun run test"),
                ("bun.lockb", "bun run test"),
            ];
            let known = managers.iter().find(|(lock, _)| is_there(lock));
            runs.then(|| known.map_or("npm test", |(_, test)| test))
        }
        "pyproject.toml" | "setup.py" | "requirements.txt" => {
            let names = ["pytest.ini", "conftest.py", "tests/conftest.py", "tests/__init__.py"];
            let uses_pytest = text.contains("pytest") || names.iter().any(|name| is_there(name));
            let others =
                [("tox.ini", "tox"), ("noxfile.py", "nox"), ("manage.py", "python manage.py test")];
            let other = others.iter().find(|(name, _)| is_there(name)).map(|(_, test)| *test);
            uses_pytest.then_some("pytest").or(other)
        }
        "Gemfile" if is_there("spec") => Some("bundle exec rspec"),
        "Gemfile" if is_there("test") => Some("bundle exec rake test"),
        "composer.json" if is_there("phpunit.xml") || is_there("phpunit.xml.dist") => {
            Some("vendor/bin/phpunit")
        }
        _ => None,
    }
}

fn has_make_test(folder: &Path) -> bool {
    let files = ["Makefile", "GNUmakefile", "makefile"];
    let names_test =
        |name: &&str| read_start(&folder.join(name)).lines().any(|line| line.starts_with("test:"));
    files.iter().any(names_test)
}

/// The beginning of a plain file: opening a pipe would wait.
fn read_start(path: &Path) -> String {
    let mut bytes = Vec::new();
    if path.is_file()
        && let Ok(file) = File::open(path)
    {
        // What cannot be read tells nothing.
        let _ = file.take(MAX_LENGTH).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(files: &[(&str, &str)]) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        describe_project(folder.path())
    }

    #[test]
    fn a_project_is_described_by_its_files() {
        let tests = r#"{"scripts":{"test":"vitest"}}"#;
        for (files, expected) in [
            (vec![], ""),
            (vec![("notes.txt", "")], ""),
            (
                vec![(".git/HEAD", "ref: x"), ("Cargo.toml", "")],
                "git repository, Rust, tests: cargo test",
            ),
            (vec![("package.json", tests), ("tsconfig.json", "{}")], "TypeScript, tests: npm test"),
            (vec![("package.json", tests), ("pnpm-lock.yaml", "")], "JavaScript, tests: pnpm test"),
            (
                vec![(
                    "package.json",
                    r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#,
                )],
                "JavaScript",
            ),
            (vec![("package.json", "broken")], "JavaScript"),
            (vec![("pyproject.toml", "[tool.pytest.ini_options]")], "Python, tests: pytest"),
            (
                vec![("pyproject.toml", ""), ("Makefile", "all:\ntest:\n\tx\n")],
                "Python, tests: make test",
            ),
            (vec![("requirements.txt", "flask\n")], "Python"),
            (vec![("Gemfile", ""), ("spec/a.rb", "")], "Ruby, tests: bundle exec rspec"),
            (vec![("go.mod", ""), ("package.json", "{}")], "Go, JavaScript, tests: go test ./..."),
        ] {
            assert_eq!(describe(&files), expected);
        }
    }
}
