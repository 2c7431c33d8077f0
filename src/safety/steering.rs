//! The files and folders of a project that configure programs and agents: the commands they
//! run and the instructions they read. One list, for rules that are remembered, for the
//! trust in a folder, and for what a project says about itself.
//!
//! A name counts anywhere in a path, in upper or lower case, since file systems differ in
//! that.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Component, Path};
use std::sync::LazyLock;

use avocet_core::text::chars::is_hidden;

/// The kind of program or agent that follows such a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteeredBy {
    /// Avocet itself, once the folder is trusted.
    Avocet,
    /// Agents, as instructions.
    Agents,
    /// Version control, CI, editors and shells: they follow it by themselves, outside of any step.
    Surroundings,
    /// Builds and tests.
    Tools,
}

use SteeredBy::{Agents, Avocet, Surroundings, Tools};

/// The notes of a project, of which a folder's first counts.
pub const NOTES: [&str; 4] = ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md"];

/// Notes read beside them, for what is not shared with the project.
pub const LOCAL_NOTES: &str = "CLAUDE.local.md";

/// The worktrees of a project, below its folder. What is in them steers nothing in the project.
pub const WORKTREES: &str = ".avocet/worktrees";

/// Names, each of one component or of several in a row. One `*` matches any text.
#[rustfmt::skip]
const STEERING: &[(SteeredBy, &str)] = &[
    (Avocet, ".avocet .agents .claude .gemini .codex .mcp.json .ai.yaml .ai"),
    (Agents, "AGENTS.md AGENT.md AGENTS.override.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md WARP.md CRUSH.md JULES.md CONVENTIONS.md replit.md mcp.json"),
    (Agents, ".cursor .cursorrules .cursorignore .windsurf .windsurfrules .cline .clinerules .roo .roorules .roomodes .kilocode .amazonq .junie .continue .augment .opencode opencode.json opencode.jsonc .crush .crush.json crush.json .aider* .goose .goosehints .rules"),
    (Agents, ".kiro .trae .qwen .factory .openhands .devin .warp .rovodev .aiassistant .lingma .codebuddy .void .pearai .tabnine .sourcegraph .agent .amp .grok .pi .qodo .ruler .rulesync .zencoder .kilocodemodes .coderabbit.yaml .coderabbit.yml sweep.yaml"),
    (Agents, ".github/copilot-instructions.md .github/instructions .github/prompts .github/chatmodes .github/agents copilot-instructions.md"),
    (Surroundings, ".git git~1 *.git/config *.git/hooks *.git/info .githooks .husky .gitattributes .gitmodules .gitconfig .lefthook* lefthook* .pre-commit-config.* .pre-commit-hooks.* .overcommit.yml .lintstaged* lint-staged.* .commitlint* commitlint.* .trunk .lfsconfig .gitlint simple-git-hooks.* .simple-git-hooks.* captainhook.json grumphp.yml prek.toml"),
    (Surroundings, ".hg .hgrc .hgsub .svn .bzr .jj .jjconfig.toml .sl .fossil-settings .pijul"),
    (Surroundings, ".github/workflows .github/actions .github/dependabot.* action.yml action.yaml .gitea .forgejo .gitlab-ci* .gitlab/ci .gitlab/agents .circleci .travis.yml .drone.* .cirrus.* appveyor.* .appveyor* cloudbuild.* buildspec.y* .semaphore .teamcity .build.yml .builds Jenkinsfile* azure-pipelines* .azure-pipelines .azuredevops bitbucket-pipelines.yml .buildkite .woodpecker* .tekton .zuul* zuul.* .vela.* .codefresh codefresh.yml wercker.yml bitrise.yml codemagic.yaml Earthfile .readthedocs.* .gitpod* .codesandbox .replit .idx netlify.toml vercel.json fly.toml render.yaml heroku.yml wrangler.* firebase.json"),
    (Surroundings, ".vscode .idea .fleet .zed .devcontainer* .vs .nova .settings .theia .helix .externalToolBuilders .projectile *.code-workspace *.sublime-project *.sublime-build .vim .vimrc _vimrc .gvimrc _gvimrc .exrc _exrc .nvimrc .nvim.lua .lvimrc .emacs* .dir-locals* .ycm_extra_conf.py .clangd .neoconf.json rust-analyzer.toml .rust-analyzer.toml rust-project.json"),
    (Surroundings, ".tmux.conf .tmux .gdbinit* .lldbinit* .envrc .direnv .autoenv* .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .oh-my-zsh .tcshrc .cshrc .login .logout .kshrc .mkshrc .inputrc .xinitrc .xsession* .xprofile .pam_environment .config .mise* mise.toml mise.*.toml mise/config.toml mise/config.*.toml mise-tasks .tool-versions rust-toolchain rust-toolchain.toml"),
    (Surroundings, ".pdbrc* .Rprofile .Renviron renv/activate.R .ghci .irbrc .pryrc .ocamlinit .iex.exs .jshell* .jupyter .ipython ipython_config.py .pythonrc* .pythonstartup .erlang .sbclrc .guile .lambda* .psqlrc .sqliterc .duckdbrc .curlrc .wgetrc *.desktop gpg.conf gpg-agent.conf gpgsm.conf dirmngr.conf scdaemon.conf"),
    (Tools, "Dockerfile* *.dockerfile Containerfile* docker-compose* docker-bake.* compose.yml compose.yaml compose.*.yml compose.*.yaml podman-compose* Vagrantfile ansible.cfg skaffold.yaml supervisord.conf *.nix flake.lock"),
    (Tools, ".cargo Cargo.toml Cross.toml Trunk.toml Makefile.toml build.rs go.mod go.work magefile.go .air.toml .goreleaser* .golangci.*"),
    (Tools, "conftest.py setup.py setup.cfg pyproject.toml tox.ini tox.toml toxfile.py noxfile.py fabfile.py dodo.py hatch.toml hatch_build.py pdm.toml .pdm.toml poetry.toml uv.toml pip.conf pip.ini environment.yml environment.yaml .coveragerc pytest.ini .pytest.ini sitecustomize.py usercustomize.py requirements*.txt Pipfile pyvenv.cfg *.pth .python-version .mypy.ini mypy.ini .pylintrc pylintrc pylintrc.toml .flake8"),
    (Tools, "package.json .npmrc .yarnrc* .yarn .pnp.* .pnpmfile.* pnpm-workspace.yaml .nvmrc .node-version bunfig.toml deno.json deno.jsonc lerna.json nx.json turbo.json angular.json project.json nodemon.json rush.json"),
    (Tools, "*.config.js *.config.ts *.config.mjs *.config.mts *.config.cjs *.config.cts *.config.json *.conf.js *.conf.ts *.conf.mjs *.conf.cjs vitest.workspace.* .eslintrc* .prettierrc* .babelrc* .swcrc gulpfile.* gruntfile.* knexfile.* Brocfile.* ember-cli-build.* config-overrides.* .mocharc* .nycrc* .taprc .stylelintrc* .releaserc* .storybook .parcelrc"),
    (Tools, "Makefile makefile GNUmakefile BSDmakefile Makefile.am Makefile.in Makefile.PL Build.PL configure.ac configure.in *.mk *.mak CMakeLists.txt CMakePresets.json CMakeUserPresets.json *.cmake meson.build meson_options.txt build.ninja justfile .justfile Taskfile.* Rakefile *.rake Gemfile *.gemspec .bundle .rspec .rubocop* Guardfile Dangerfile Capfile Fastfile Thorfile Brewfile Berksfile config.ru SConstruct SConscript wscript Tiltfile Procfile* .bazelrc .bazelversion BUILD.bazel WORKSPACE.bazel WORKSPACE.bzlmod MODULE.bazel *.bzl .buckconfig BUCK conanfile.* vcpkg.json xmake.lua premake*.lua *.pro *.pri"),
    (Tools, "*.gradle *.gradle.kts gradle.properties gradle-wrapper.* gradlew gradlew.bat mvnw mvnw.cmd pom.xml .mvn .sbtopts .jvmopts build.sbt *.sbt build.sc ivy.xml build.xml project.clj deps.edn bb.edn shadow-cljs.edn"),
    (Tools, "*.csproj *.fsproj *.vbproj *.vcxproj *.sln *.slnx *.props *.targets *.rsp Directory.Build.* Directory.Packages.* nuget.config global.json *.cake"),
    (Tools, "mix.exs .formatter.exs .credo.exs rebar.config* composer.json phpunit.xml* .php-cs-fixer* phpstan.neon* .user.ini .htaccess Package.swift *.podspec Podfile *.xcconfig *.pbxproj *.xcscheme .swiftlint.yml build.zig build.zig.zon Setup.hs Setup.lhs *.cabal cabal.project* stack.yaml package.yaml hie.yaml dune-project dune-workspace *.opam *.nimble *.nims nim.cfg shard.yml dub.json dub.sdl pubspec.yaml analysis_options.yaml cpanfile .perlcriticrc .proverc *.rockspec .luarc.json"),
    (Tools, ".sdkmanrc .ruby-version .java-version .editorconfig-checker .terraformrc terragrunt.hcl"),
    (Tools, "node_modules/.bin .venv/bin venv/bin .venv/Scripts venv/Scripts vendor/bin vendor/bundle .bin"),
];

/// The same for files whose names are also common names of folders.
const STEERING_FILES: &str = "build workspace configure dune buck autogen.sh bootstrap.sh";

/// A program in a folder of programs: sources there have other endings.
const PROGRAM_ENDINGS: &[&str] = &["", "sh", "bash", "zsh", "cmd", "bat", "ps1", "exe"];

/// What the file at a path steers, seen from the workspace; `None`: nothing.
pub fn steered_by(path: &Path) -> Option<SteeredBy> {
    let parts: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(plain_name(&name.to_string_lossy())),
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
    let listed = STEERING.iter().find(named).map(|(reader, _)| *reader);
    let by_form = || parts.iter().any(|name| is_startup_file(name)) || is_program(&parts);
    listed.or_else(|| by_form().then_some(Tools))
}

/// Whether a path of the workspace steers something: a folder may be called as some files are that
/// do.
pub fn steers(path: &Path, is_folder: bool) -> bool {
    let name = path.file_name().map(|name| plain_name(&name.to_string_lossy()));
    let is_of_files = |name: &String| STEERING_FILES.split(' ').any(|own| own == name);
    match path.parent() {
        Some(above) if is_folder && name.as_ref().is_some_and(is_of_files) => {
            steered_by(above).is_some()
        }
        _ => steered_by(path).is_some(),
    }
}

/// What an entry of a folder steers by its name in the lists.
pub fn listed_as(folder: Option<&str>, name: &str) -> Option<SteeredBy> {
    let name = plain_name(name);
    let SteeringIndex { exact, patterns, nested } = &*LISTED;
    let below = |above: &str| folder.is_some_and(|folder| matches_name(above, &plain_name(folder)));
    let of_pattern = || patterns.iter().find(|(_, pattern)| matches_name(pattern, &name));
    let of_nested =
        || nested.iter().find(|(_, (above, own))| matches_name(own, &name) && below(above));
    exact
        .get(&name)
        .copied()
        .or_else(|| of_nested().map(|(reader, _)| *reader))
        .or_else(|| of_pattern().map(|(reader, _)| *reader))
}

/// Whether a file below the workspace only says what a build or a test runs.
pub fn is_build_file(path: &Path) -> bool {
    let names: Vec<Cow<'_, str>> = path.iter().map(OsStr::to_string_lossy).collect();
    let above = std::iter::once(None).chain(names.iter().map(|name| Some(&**name)));
    let mut readers = above.zip(&names).filter_map(|(folder, name)| listed_as(folder, name));
    readers.next() == Some(Tools) && readers.all(|reader| reader == Tools)
}

/// Whether a build or a test of a folder takes it in from any folder below.
pub fn is_collected(path: &Path) -> bool {
    let name = path.file_name().map(|name| plain_name(&name.to_string_lossy()));
    name.is_some_and(|name| COLLECTED.contains(&name.as_str()))
}

/// Files that are followed wherever they are, without being named above.
const COLLECTED: &[&str] = &["conftest.py", "build", "build.bazel", "project.json"];

/// Whether a build made it.
pub fn is_build_output(path: &Path) -> bool {
    let is_output =
        |name: &OsStr| OUTPUTS.iter().any(|own| matches_name(own, &name.to_string_lossy()));
    path.parent().is_some_and(|above| above.iter().any(is_output))
}

/// Folders of what builds make.
const OUTPUTS: &[&str] = &["build", "dist", "out", "output", "_build", "cmake-build-*", "bazel-*"];

/// The names so arranged that thousands of files are compared with them.
struct SteeringIndex {
    exact: HashMap<String, SteeredBy>,
    patterns: Vec<(SteeredBy, String)>,
    /// With the folder above.
    nested: Vec<(SteeredBy, (String, String))>,
}

static LISTED: LazyLock<SteeringIndex> = LazyLock::new(|| {
    let mut listed =
        SteeringIndex { exact: HashMap::new(), patterns: Vec::new(), nested: Vec::new() };
    let rows = STEERING.iter();
    let names = rows.flat_map(|(reader, names)| {
        names.split_ascii_whitespace().map(|name| (*reader, name.to_lowercase()))
    });
    for (reader, name) in names {
        match name.split_once('/') {
            Some((above, own)) => listed.nested.push((reader, (above.to_owned(), own.to_owned()))),
            None if name.contains('*') => listed.patterns.push((reader, name)),
            None => drop(listed.exact.entry(name).or_insert(reader)),
        }
    }
    listed
});

/// Commands that are made to change the files of a build, and the names of those files; `*`: any.
#[rustfmt::skip]
const CHANGES_BUILDS: &[(&str, &str)] = &[
    ("npm.install npm.i npm.add npm.uninstall npm.remove npm.rm npm.un npm.update npm.up npm.upgrade npm.dedupe npm.audit npm.init npm.create npm.pkg npm.version npm.set npm.config npm.link npx.npm-check-updates npx.ncu ncu", "package.json .npmrc"),
    ("pnpm.install pnpm.i pnpm.add pnpm.remove pnpm.rm pnpm.update pnpm.up pnpm.init pnpm.import pnpm.patch pnpm.patch-commit pnpm.config corepack.use corepack.up", "package.json .npmrc pnpm-workspace.yaml"),
    ("yarn.install yarn.add yarn.remove yarn.up yarn.upgrade yarn.init yarn.set yarn.config yarn.plugin yarn.dedupe yarn.import yarn.version", "package.json .npmrc .yarnrc* .yarn .pnp.*"),
    ("bun.install bun.add bun.remove bun.update bun.init deno.add deno.remove deno.init", "package.json bunfig.toml deno.json deno.jsonc"),
    ("cargo.add cargo.remove cargo.rm cargo.upgrade cargo.init cargo.fix", "Cargo.toml build.rs"),
    ("go.mod go.get go.work", "go.mod go.work"),
    ("poetry.add poetry.remove poetry.init poetry.version poetry.config pdm.add pdm.remove pdm.init pdm.config uv.add uv.remove uv.init uv.version uv.venv uv.python uv.pip hatch.version pipenv.install pipenv.uninstall pyenv.local", "pyproject.toml poetry.toml pdm.toml .pdm.toml Pipfile requirements*.txt .python-version"),
    ("bundle.add bundle.remove bundle.init bundle.config bundle.install", "Gemfile .bundle"),
    ("composer.require composer.remove composer.update composer.install composer.init composer.config", "composer.json bin"),
    ("dotnet.add dotnet.remove dotnet.sln", "*.csproj *.fsproj *.vbproj *.sln *.slnx"),
    ("dart.pub flutter.pub swift.package pod.init", "pubspec.yaml Package.swift Podfile"),
    ("cmake meson ccmake autoconf automake autoreconf libtoolize configure autogen.sh qmake premake5 xmake", "Makefile makefile Makefile.in *.mk *.cmake build.ninja"),
    ("volta.pin nodenv.local rbenv.local rustup.override", ".nvmrc .node-version .ruby-version package.json rust-toolchain.toml"),
    ("eslint prettier biome standard dprint npx.eslint npx.prettier npx.biome npx.standard npx.dprint", "package.json .eslintrc* .prettierrc* *.config.js *.config.ts *.config.mjs *.config.cjs *.config.json"),
    // What lays out a project, and what only changes the look of files.
    ("cargo.new cargo.generate npm.create npm.init npx.create-* npx.degit npx.sv npx.nx npx.ng npx.storybook ng.new rails.new dotnet.new django-admin.startproject cookiecutter copier", "*"),
    ("cargo.fmt rustfmt gofmt goimports black isort ruff.format yapf autopep8 clang-format shfmt taplo mix.format", "*"),
];

/// Whether a command, `npm.install`, is made to change a file of a build.
pub fn is_changed_by(command: &str, path: &Path) -> bool {
    let named = |list: &str, name: &str| {
        list.split_ascii_whitespace().any(|own| matches_name(&own.to_lowercase(), name))
    };
    let mut rows = CHANGES_BUILDS.iter().filter(|(commands, _)| {
        let first = command.split('.').next().unwrap_or_default();
        named(commands, command) || named(commands, first)
    });
    let parts = || path.iter().map(|name| plain_name(&name.to_string_lossy()));
    rows.any(|(_, names)| parts().any(|name| named(names, &name)))
}

/// `.eslintrc`, `.pdbrc.py`: what a program reads as it starts, by the custom of its name.
fn is_startup_file(name: &str) -> bool {
    name.strip_prefix('.').is_some_and(|rest| rest.ends_with("rc") || rest.contains("rc."))
}

/// A file that is itself run by its name.
fn is_program(parts: &[String]) -> bool {
    let Some((file, folders)) = parts.split_last() else { return false };
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    STEERING_FILES.split(' ').any(|name| name == file)
        || folders.last().is_some_and(|folder| folder == "bin" || folder == "sbin")
            && PROGRAM_ENDINGS.contains(&ending)
}

/// The name as file systems and readers may take it: in lower case, without characters that
/// cannot be seen, and in letters of the usual width. Blanks and dots at the end count for
/// nothing on some systems.
fn plain_name(name: &str) -> String {
    let plain = name.chars().filter(|c| !c.is_control() && !is_hidden(*c)).map(|c| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{2024}' | '\u{fe52}' => '.',
        '\u{17f}' => 's',
        c => c,
    });
    let plain: String = plain.flat_map(char::to_lowercase).collect();
    match plain.trim_end_matches([' ', '.']) {
        "" => plain,
        trimmed => trimmed.to_owned(),
    }
}

/// The names that some reader looks for, as they are written.
pub fn file_names(steered_by: SteeredBy) -> impl Iterator<Item = &'static str> {
    let lists = STEERING.iter().filter(move |(reader, _)| *reader == steered_by);
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
    fn what_a_shell_or_an_editor_follows_by_itself_is_no_file_of_builds() {
        for path in ["mise.toml", "a/.mise.local.toml", "rust-toolchain.toml", "rust-analyzer.toml"]
        {
            assert_eq!(steered_by(Path::new(path)), Some(Surroundings), "{path}");
            assert!(!is_build_file(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn what_programs_read_or_run_by_its_name_steers() {
        for paths in [
            ".gitea/workflows/x.yml .forgejo/x appveyor.yml .cirrus.yml cloudbuild.yaml buildspec.yml",
            ".semaphore/x.yml .gitlab/ci/x.yml .teamcity/settings.kts .build.yml Jenkinsfile.release",
            "azure-pipelines.nightly.yaml action.yml sub/action.yaml Earthfile .gitlab-ci-x.yml",
            ".hg/hgrc .jj/repo/config.toml x.git/config a/x.git/hooks/post-update",
            ".pdbrc .pdbrc.py .Rprofile .ghci .irbrc .pryrc .ocamlinit .iex.exs .jshell .zprofile .zlogin",
            ".bash_login .bash_aliases .bash_logout .tcshrc .cshrc .kshrc .xinitrc .autoenv.zsh .vim/x",
            "_vimrc .dir-locals-2.el .config/fish/config.fish .config/systemd/user/x.service .anyrc .any.rc.toml",
            ".devcontainer.json .mise.local.toml mise.dev.toml shell.nix flake.nix default.nix devenv.nix",
            "Dockerfile Dockerfile.dev docker-compose.dev.yml compose.yaml compose.x.yml Vagrantfile ansible.cfg",
            "lint-staged.config.js .lintstagedrc commitlint.config.ts .huskyrc rspack.config.js ava.config.js",
            "knexfile.js drizzle.config.ts angular.json x.csproj x.props x.targets BUILD x/y.bzl WORKSPACE",
            "configure Setup.hs x.cabal Makefile.PL .rspec .rubocop.yml Dangerfile Guardfile .trunk/x",
            "node_modules/.bin/tsc .venv/bin/python venv/bin/x vendor/bin/x bin/setup bin/x.sh a/bin/rails",
            "AGENT.md WARP.md .kiro/x .trae/rules/x mcp.json x/mcp.json crush.json x/crush.json",
        ] {
            for path in paths.split(' ') {
                assert!(steered_by(Path::new(path)).is_some(), "{path}");
            }
        }
    }

    #[test]
    fn an_entry_of_a_folder_is_found_by_its_name() {
        for (folder, name) in [
            ("", ".git"),
            ("web", "claude.MD"),
            (".github", "workflows"),
            ("x", ".envrc"),
            ("x", ".VSCode"),
            ("x", "a.code-workspace"),
            ("x", ".Rprofile"),
        ] {
            assert!(listed_as(Some(folder), name).is_some(), "{folder}/{name}");
        }
        for (folder, name) in [("x", "workflows"), ("x", "main.rs"), ("", ".gitignore")] {
            assert_eq!(listed_as(Some(folder), name), None, "{folder}/{name}");
        }
    }

    #[test]
    fn only_what_builds_alone_follow_is_a_file_of_a_build() {
        for path in ["Makefile", "web/package.json", "a/.cargo/config.toml", "dist/Makefile"] {
            let path = Path::new(path);
            assert!(is_build_file(path), "{path:?}");
            assert_eq!(is_build_output(path), path.starts_with("dist"), "{path:?}");
        }
        for path in [".vscode/package.json", ".git/config", "AGENTS.md", "src/lib.rs"] {
            assert!(!is_build_file(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn package_managers_generators_and_formatters_change_the_files_that_are_theirs() {
        for (command, path) in [
            ("npm.install", "web/package.json"),
            ("npm.add", "package.json"),
            ("yarn.set", ".yarn/releases/yarn.cjs"),
            ("cargo.add", "crates/a/Cargo.toml"),
            ("npx.create-vite", "vite.config.ts"),
            ("npx.prettier", "web/package.json"),
            ("prettier", "package.json"),
            ("cmake", "Makefile"),
            ("uv.add", "pyproject.toml"),
        ] {
            assert!(is_changed_by(command, Path::new(path)), "{command} {path}");
        }
        for (command, path) in [
            ("", "package.json"),
            ("npm.test", "package.json"),
            ("npm.run", ".npmrc"),
            ("npm.install", "Makefile"),
            ("cargo.test", "Cargo.toml"),
            ("cargo.add", ".cargo/config.toml"),
            ("npx.jest", "package.json"),
            ("poetry.run", "pyproject.toml"),
            ("make", "Makefile"),
        ] {
            assert!(!is_changed_by(command, Path::new(path)), "{command} {path}");
        }
    }

    #[test]
    fn names_that_only_look_or_count_as_another_steer_like_it() {
        for path in [
            ".g\u{200c}it/config",
            "Make\u{200b}file",
            "\u{ff2d}akefile",
            "package.json ",
            ".vscode./x",
            ".ba\u{17f}hrc",
            "GIT~1/config",
            "Makefile\u{fe0f}",
        ] {
            assert!(steered_by(Path::new(path)).is_some(), "{path:?}");
        }
    }

    #[test]
    fn the_files_of_an_ordinary_day_steer_nothing() {
        for paths in [
            "src/lib.rs src/bin/tool.rs src/build/mod.rs src/workspace/mod.rs tests/x.rs benches/x.rs",
            "app/models/user.rb lib/x.py x/__init__.py app.py manage.py index.html style.css src/App.tsx",
            "cmd/x/main.go internal/a_test.go src/main/java/a/B.java web/src/config.ts src/config/x.ts",
            "docs/index.md CHANGELOG.md LICENSE notes.txt data/x.json x.yaml x.toml schema.sql x.proto",
            ".gitignore .dockerignore .prettierignore .editorconfig src/rc.rs rc.d/x a.git src/dune/x.ml",
            "bin/cli.js bin/main.dart include/x.h scripts/run.py build/x.txt workspace/a.txt \u{8bf4}\u{660e}\u{ff08}1\u{ff09}.md",
        ] {
            for path in paths.split(' ') {
                assert_eq!(steered_by(Path::new(path)), None, "{path}");
            }
        }
    }

    #[test]
    fn descriptions_of_a_project_steer() {
        for name in NOTES {
            assert_eq!(steered_by(Path::new(name)), Some(SteeredBy::Agents), "{name}");
        }
    }
}
