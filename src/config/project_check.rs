//! Guesses from the files of a project which command checks it after a change.

use std::path::Path;

/// A file that tells how a project is checked, and the command that does it.
struct Guess {
    file: &'static str,
    command: &'static [&'static str],
}

const fn guess(file: &'static str, command: &'static [&'static str]) -> Guess {
    Guess { file, command }
}

/// The first that fits; nearer ones before those that many projects have.
const GUESSES: &[Guess] = &[
    guess("Cargo.toml", &["cargo", "check"]),
    guess("go.mod", &["go", "vet", "./..."]),
    guess("deno.json", &["deno", "check", "."]),
    guess("tsconfig.json", &["npx", "tsc", "--noEmit"]),
    guess("mix.exs", &["mix", "compile"]),
    guess("pom.xml", &["mvn", "-q", "compile"]),
    guess("build.gradle", &["gradle", "-q", "classes"]),
    guess("build.gradle.kts", &["gradle", "-q", "classes"]),
    guess("build.zig", &["zig", "build", "check"]),
    guess("Package.swift", &["swift", "build"]),
    guess("pubspec.yaml", &["dart", "analyze"]),
    guess("stack.yaml", &["stack", "build", "--fast"]),
    guess("Directory.Build.props", &["dotnet", "build", "--nologo"]),
    guess("eslint.config.js", &["npx", "eslint", "."]),
    guess("eslint.config.mjs", &["npx", "eslint", "."]),
    guess(".rubocop.yml", &["rubocop", "--lint"]),
    guess("phpstan.neon", &["phpstan", "analyse", "--no-progress"]),
    guess("pyrightconfig.json", &["pyright"]),
    guess("mypy.ini", &["mypy", "."]),
    guess("ruff.toml", &["ruff", "check"]),
    guess("pyproject.toml", &["ruff", "check"]),
    guess("pyproject.toml", &["pyflakes", "."]),
    guess("setup.py", &["ruff", "check"]),
    guess("setup.py", &["pyflakes", "."]),
    guess("requirements.txt", &["ruff", "check"]),
    guess("requirements.txt", &["pyflakes", "."]),
];

/// The command for the project in this folder, if its program is on this machine.
pub fn guess_check(
    folder: &Path,
    is_installed: impl Fn(&str) -> bool,
) -> Option<&'static [&'static str]> {
    let fits = |guess: &&Guess| {
        folder.join(guess.file).is_file()
            && guess.command.first().is_some_and(|program| is_installed(program))
    };
    GUESSES.iter().find(fits).map(|guess| guess.command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_each_kind_of_project_names_its_check() {
        for Guess { file, command } in GUESSES {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(file), "").unwrap();
            assert_eq!(guess_check(folder.path(), |name| name == command[0]), Some(*command));
        }
    }

    #[test]
    fn a_project_is_checked_by_what_its_files_name_and_the_machine_has() {
        let folder = tempfile::tempdir().unwrap();
        let check = |installed: &[&str]| {
            guess_check(folder.path(), |program| installed.contains(&program))
                .map(|words| words.join(" "))
        };
        let all = ["cargo", "go", "npx", "ruff", "pyflakes"];
        assert_eq!(check(&all), None);
        std::fs::write(folder.path().join("pyproject.toml"), "").unwrap();
        assert_eq!(check(&["pyflakes"]).as_deref(), Some("pyflakes ."));
        assert_eq!(check(&all).as_deref(), Some("ruff check"));
        std::fs::write(folder.path().join("tsconfig.json"), "{}").unwrap();
        assert_eq!(check(&all).as_deref(), Some("npx tsc --noEmit"));
        assert_eq!(check(&["go"]), None, "its program is not here");
        std::fs::write(folder.path().join("Cargo.toml"), "").unwrap();
        assert_eq!(check(&all).as_deref(), Some("cargo check"));
    }
}
