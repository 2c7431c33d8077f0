//! The files and folders of a project that configure programs and agents: the commands they
//! run and the instructions they read. One list, for rules that are remembered, for the
//! trust in a folder, and for what a project says about itself.
//!
//! A name counts anywhere in a path, in upper or lower case, since file systems differ in
//! that.

use std::path::{Component, Path};

/// The kind of program or agent that follows such a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteeredBy {
    /// Avocet itself, once the folder is trusted.
    Avocet,
    /// Agents, as instructions.
    Agents,
    /// Builds, tests, hooks, editors and shells.
    Tools,
}

use SteeredBy::{Agents, Avocet, Tools};

/// The notes of a project, of which a folder's first counts.
pub const NOTES: [&str; 4] = ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md"];

/// Notes read beside them, for what is not shared with the project.
pub const LOCAL_NOTES: &str = "CLAUDE.local.md";

/// Names, each of one component or of several in a row. `*` at one end matches any start or
/// end.
#[rustfmt::skip]
const STEERING: &[(SteeredBy, &str)] = &[
    (Avocet, ".avocet .agents .claude .gemini .codex .mcp.json .ai.yaml .ai"),
    (Agents, "AGENTS.md AGENTS.override.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md CONVENTIONS.md"),
    (Agents, ".cursor .cursorrules .cursorignore .windsurf .windsurfrules .clinerules .roo .roorules .roomodes .kilocode .amazonq .junie .continue .augment .opencode opencode.json .crush.json .aider* .goosehints .rules"),
    (Agents, ".github/copilot-instructions.md .github/instructions .github/prompts .github/chatmodes .github/agents copilot-instructions.md"),
    (Tools, ".git .githooks .husky .gitattributes .gitmodules .gitconfig .lefthook* lefthook* .pre-commit-config.* .overcommit.yml"),
    (Tools, ".github/workflows .github/actions .gitlab-ci.yml .circleci .travis.yml .drone.yml Jenkinsfile azure-pipelines.yml bitbucket-pipelines.yml .buildkite .woodpecker*"),
    (Tools, ".vscode .idea .fleet .zed .devcontainer *.code-workspace .vimrc .exrc .nvimrc .nvim.lua .lvimrc .emacs .dir-locals.el .tmux.conf .tmux .gdbinit .lldbinit .envrc .direnv .bashrc .bash_profile .profile .zshrc .zshenv .inputrc"),
    (Tools, ".cargo Cargo.toml build.rs rust-toolchain rust-toolchain.toml go.mod go.work .golangci.*"),
    (Tools, "conftest.py setup.py setup.cfg pyproject.toml tox.ini toxfile.py noxfile.py pytest.ini .pytest.ini sitecustomize.py usercustomize.py requirements*.txt Pipfile pyvenv.cfg *.pth .python-version .mypy.ini mypy.ini .pylintrc pylintrc .flake8"),
    (Tools, "package.json .npmrc .yarnrc* .yarn .pnp.* .pnpmfile.* pnpm-workspace.yaml .nvmrc .node-version bunfig.toml deno.json deno.jsonc lerna.json nx.json turbo.json"),
    (Tools, "jest.config.* vitest.config.* vitest.workspace.* vite.config.* webpack.config.* rollup.config.* eslint.config.* .eslintrc* .prettierrc* prettier.config.* babel.config.* .babelrc* .swcrc postcss.config.* tailwind.config.* next.config.* nuxt.config.* svelte.config.* astro.config.* playwright.config.* cypress.config.* karma.conf.* gulpfile.* gruntfile.* .mocharc* .nycrc* .stylelintrc* stylelint.config.*"),
    (Tools, "Makefile makefile GNUmakefile BSDmakefile *.mk *.mak CMakeLists.txt CMakePresets.json CMakeUserPresets.json *.cmake meson.build build.ninja justfile .justfile Taskfile.* Rakefile *.rake Gemfile .bundle SConstruct wscript Tiltfile Procfile .bazelrc .bazelversion BUILD.bazel WORKSPACE MODULE.bazel"),
    (Tools, "*.gradle *.gradle.kts gradle.properties gradle-wrapper.* gradlew gradlew.bat mvnw mvnw.cmd pom.xml .mvn build.sbt *.sbt build.xml Directory.Build.* nuget.config global.json mix.exs rebar.config composer.json phpunit.xml* Package.swift *.podspec Podfile build.zig"),
    (Tools, ".tool-versions .mise.toml mise.toml .sdkmanrc .editorconfig-checker .terraformrc"),
];

/// What the file at a path steers, seen from the workspace; `None`: nothing.
pub fn steered_by(path: &Path) -> Option<SteeredBy> {
    let parts: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect();
    let here = |pattern: &str| {
        let names: Vec<String> = pattern.split('/').map(str::to_lowercase).collect();
        parts
            .windows(names.len())
            .any(|run| run.iter().zip(&names).all(|(a, b)| matches_name(b, a)))
    };
    let named = |(_, names): &&(SteeredBy, &str)| names.split_ascii_whitespace().any(here);
    STEERING.iter().find(named).map(|(reader, _)| *reader)
}

/// The names that some reader looks for, as they are written.
pub fn file_names(of: SteeredBy) -> impl Iterator<Item = &'static str> {
    let lists = STEERING.iter().filter(move |(reader, _)| *reader == of);
    lists.flat_map(|(_, names)| names.split_ascii_whitespace())
}

/// The files that notes take in, as they are named: words that begin with `@`, outside of code.
pub fn imported_names(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        // What is between backquotes is code as well.
        let plain = line.split('`').step_by(2).filter(|_| !in_code);
        for word in plain.flat_map(str::split_whitespace) {
            let named = word.strip_prefix('@').filter(|named| named.contains(['/', '.']));
            found.extend(named.map(|it| it.trim_end_matches(['.', ',', ';', ':', ')'])));
        }
    }
    found
}

fn matches_name(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_steers_anywhere_in_a_path_and_in_any_case() {
        for path in [
            "AGENTS.md",
            "a/b/agents.MD",
            "CLAUDE.md",
            ".agents/skills/x/SKILL.md",
            ".Avocet/x",
            ".husky/pre-commit",
            ".github/Workflows/ci.yml",
            ".github/copilot-instructions.md",
            ".cargo/config.toml",
            "sub/.cargo/config",
            "crates/a/build.rs",
            "tests/conftest.py",
            "web/package.json",
            "x/rules.mk",
            "app/build.gradle.kts",
            ".cursor/rules/x",
            ".git/hooks/pre-commit",
        ] {
            assert!(steered_by(Path::new(path)).is_some(), "{path}");
        }
        for path in ["src/main.rs", "README.md", "docs/agents.txt", "github/workflows/x", "a.git"] {
            assert_eq!(steered_by(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn descriptions_of_a_project_steer() {
        for name in NOTES {
            assert_eq!(steered_by(Path::new(name)), Some(SteeredBy::Agents), "{name}");
        }
    }
}
