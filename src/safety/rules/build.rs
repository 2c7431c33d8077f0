//! Programs that build, test, install, or run what the project defines.

use super::super::spec::{Danger, Spec};
use super::super::{checks, wrappers};
use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect::{
    Delete, Elevate, Exec, Irreversible, Network, Secret, Send, Write,
};

const BUILD: &[avocet_core::protocol::Effect] = &[Exec, Write];
const INSTALL: &[avocet_core::protocol::Effect] = &[Exec, Write, Network];
const FAR: &[avocet_core::protocol::Effect] = &[Network, Send, Irreversible];

#[rustfmt::skip]
pub(super) const ROWS: &[Spec] = &[
    Spec::ask("npm pnpm yarn cnpm", phrases::RUNS_PROJECT, INSTALL).posix().flags("-s --silent -q --quiet -w -r --recursive").values("-C=text --prefix=text --filter=text -F=text --workspace=text --cwd=text")
        .check(wrappers::npm)
        .subs(&[
            Spec::ask("install i ci add update up upgrade dedupe rebuild link", phrases::INSTALLS, INSTALL).keeps(&["npm install left-pad", "npm ci"]),
            Spec::ask("uninstall remove rm un prune unlink", phrases::INSTALLS, &[Write, Exec, Delete]).keeps(&["npm uninstall x"]),
            Spec::ask("run run-script test t start stop restart build dev lint format check exec x dlx create init", phrases::RUNS_PROJECT, INSTALL).keeps(&["npm test", "npm run build", "yarn build"]),
            Spec::refuse("publish unpublish deprecate", phrases::PUBLISHES, FAR).keeps(&["npm publish"]),
            Spec::refuse("login logout adduser token owner access", phrases::LOGS_IN, &[Secret, Network]).keeps(&["npm login"]),
            Spec::ask("ls list ll la outdated view info why explain audit config pkg root bin prefix doctor fund search", phrases::READS_PROJECT, &[Network]).keeps(&["npm ls ./x", "npm config set a b", "npm pkg set a=b", "npm outdated"]),
        ])
        .keeps(&["npm", "npm nobody"]),
    Spec::ask("npx pnpx bunx uvx pipx dlx corepack volta nvm fnm asdf mise rtx pyenv rbenv nodenv goenv jenv sdk conda mamba micromamba nix nix-shell nix-env nix-build nix-store guix devbox direnv rustup brew port apt-cache snap flatpak mas winget scoop choco", phrases::RUNS_FETCHED, INSTALL).check(wrappers::dash_c).values("-c=text --call=text -p=text --package=text")
        .keeps(&["npx eslint .", "npx -c id", "rustup update", "brew install x"]).raised(&["npx -c 'rm -rf build'"]),
    Spec::ask("apt apt-get aptitude dpkg yum dnf zypper rpm pacman yay paru apk emerge xbps-install eopkg pkg pkgin opkg swupd slackpkg installpkg softwareupdate installer", phrases::CHANGES_PACKAGES, &[Write, Network, Elevate]).keeps(&["apt install x", "pacman -Syu", "apt update"]),
    Spec::ask("node nodejs deno bun ts-node tsx", phrases::RUNS_CODE, INSTALL).check(wrappers::scan_arguments).quiet(&["--version", "-v"]).keeps(&["node x.js", "node -e 1", "bun -e 1"]),
    Spec::ask("python python2 python3 python3.* python2.* pypy pypy3 ipython jupyter", phrases::RUNS_CODE, INSTALL).check(wrappers::scan_arguments).quiet(&["--version", "-V", "-VV"])
        .keeps(&["python3 -c 1", "python3 x.py", "python3 -m json.tool a.json b.json", "python3 x.py -m json.tool", "python -m http.server"]),
    Spec::ask("perl ruby php lua luajit Rscript R julia java groovy scala kotlin ghci runghc runhaskell irb swift elixir racket guile sbcl clisp ocaml octave gnuplot node-gyp pwsh powershell raku dart crystal nim jshell m4 bc dc gforth wasmtime wasmer maxima sage", phrases::RUNS_CODE, INSTALL).check(wrappers::scan_arguments)
        .quiet(&["--version"])
        .keeps(&["perl -e 1", "ruby x.rb", "java -jar x.jar", "Rscript -e 1", "php -r 1"]),
    // These take `--version` for a file, or read settings of the folder before it.
    Spec::ask("osascript tclsh wish expect iex erl escript janet bb clojure clj cscript wscript qjs d8 mono csi fsi matlab cmd sqlcl processing scheme chicken gosh forth tcc", phrases::RUNS_CODE, INSTALL).check(wrappers::scan_arguments)
        .keeps(&["tclsh x.tcl", "tclsh --version", "expect --version", "escript --version", "bb --version"]),
    Spec::ask("pip pip2 pip3 pip3.* pipenv poetry uv pdm hatch rye easy_install twine flit", phrases::INSTALLS, INSTALL).posix().subs(&[
        Spec::refuse("publish upload", phrases::PUBLISHES, FAR).keeps(&["poetry publish", "twine upload x"]),
    ]).keeps(&["pip install x", "uv sync", "pip list --outdated"]),
    Spec::ask("cargo cross", phrases::RUNS_PROJECT, INSTALL).posix().flags("-q -v -vv --quiet --verbose --offline --frozen --locked").values("--config=text -C=text -Z=text --color=text")
        .subs(&[
            Spec::refuse("publish yank owner", phrases::PUBLISHES, FAR).keeps(&["cargo publish"]).raised(&[]),
            Spec::refuse("login logout", phrases::LOGS_IN, &[Secret, Network]).keeps(&["cargo login"]),
            Spec::ask("install uninstall add remove rm update fetch vendor generate-lockfile", phrases::INSTALLS, INSTALL).keeps(&["cargo install x", "cargo add serde"]),
            Spec::ask("build b check c test t run r bench doc clippy fix miri nextest expand llvm-cov package rustc rustdoc watch insta tarpaulin", phrases::BUILDS, BUILD).keeps(&["cargo build", "cargo test x"]),
            Spec::ask("fmt clean new init tree metadata locate-project pkgid read-manifest audit deny machete outdated", phrases::RUNS_PROJECT, BUILD).keeps(&["cargo fmt", "cargo fmt -p --check", "cargo fmt -- --config-path x --check", "cargo metadata", "cargo metadata --no-deps -Zunstable-options", "cargo --config x.toml metadata --no-deps", "cargo +nightly fmt --check"]),
        ])
        .keeps(&["cargo", "cargo nobody"]),
    Spec::ask("rustc rustfmt rustdoc clippy-driver miri bindgen cbindgen wasm-pack trunk sqlx diesel sea-orm-cli tauri", phrases::RUNS_PROJECT, BUILD).keeps(&["rustc main.rs", "rustc --explain x", "rustfmt main.rs", "rustc -C linker=./evil.sh main.rs"]),
    Spec::ask("go gofmt goimports golangci-lint gopls dlv staticcheck", phrases::RUNS_PROJECT, INSTALL).posix().subs(&[
        Spec::ask("build run test vet fmt generate mod get install list env version tool clean work doc bug fix", phrases::BUILDS, INSTALL).keeps(&["go build ./...", "go mod tidy", "go vet -vettool=./evil ./...", "go version -m x"]),
    ]).keeps(&["go nobody"]),
    // Asked for their version they load the project too, look for it in the folders above,
    // or fetch the version it names.
    Spec::ask("bazel bazelisk buck buck2 pants premake5 b2 xmake bmake tox nox waf mage mvnw gradlew", phrases::RUNS_PROJECT, BUILD)
        .keeps(&["bazel build //...", "bazel --version", "bazelisk --version", "pants --version", "premake5 --version", "b2 --version", "xmake --version", "bmake --version", "./gradlew test"]),
    Spec::ask("make gmake ninja cmake ctest meson scons task rake invoke earthly dagger autoconf automake autoreconf configure libtool gyp nmake msbuild xbuild ant", phrases::RUNS_PROJECT, BUILD)
        .quiet(&["--version"]).keeps(&["make", "make -n", "make SHELL=./evil.sh", "cmake ."]),
    Spec::ask("gcc g++ cc c++ clang clang++ gcc-* g++-* clang-* ld as gas lld gold mold ccache sccache distcc nasm yasm javac kotlinc scalac ghc gnatmake gfortran ocamlopt ocamlc swiftc zig nvcc emcc emconfigure emmake strip objcopy ranlib install_name_tool codesign patchelf protoc flatc thrift capnp bison flex yacc lex swig moc qmake glslc valac vala fpc dmd ldc2 gdc solc moonc", phrases::RUNS_PROJECT, BUILD)
        .quiet(&["--version"]).keeps(&["gcc a.c", "ld a.o"]),
    Spec::ask("pytest py.test nosetests unittest coverage mypy pyright ruff black isort flake8 pylint bandit pre-commit autopep8 yapf pyflakes pycodestyle sphinx-build mkdocs django-admin flask gunicorn uvicorn celery alembic cookiecutter streamlit pyinstaller nuitka cython vulture codespell djlint", phrases::RUNS_PROJECT, BUILD).keeps(&["pytest -q"]),
    Spec::ask("tsc eslint prettier jest vitest mocha ava tap cypress playwright webpack vite rollup esbuild parcel turbo nx lerna rush babel swc next nuxt astro remix gatsby ng vue react-scripts storybook biome oxlint stylelint tslint standard xo dprint nodemon pm2 forever concurrently karma grunt gulp tailwindcss postcss sass svelte-kit expo react-native prisma typeorm knex sequelize graphql-codegen changeset semantic-release commitlint husky lint-staged serve http-server live-server json-server markdownlint cspell depcheck ncu tsup unbuild zx", phrases::RUNS_PROJECT, BUILD)
        .keeps(&["tsc --noEmit", "eslint ."]),
    Spec::ask("mvn gradle sbt lein mill gem bundle bundler rails rspec rubocop jekyll composer phpunit phpstan artisan symfony pest php-cs-fixer mix rebar3 hex stack cabal dotnet nuget paket dune opam esy shards flutter pub fvm xcodebuild xcrun pod carthage fastlane swiftlint swiftformat cpan cpanm carton luarocks nimble zef conan vcpkg spack hugo zola quarto ktlint detekt checkstyle spotbugs clang-format clang-tidy cppcheck shellcheck shfmt hadolint yamllint actionlint tflint golint buf sqlfluff vale typos taplo pdflatex xelatex latexmk tex latex bibtex doxygen asciidoctor godot unity arduino-cli platformio pio west idf.py", phrases::RUNS_PROJECT, INSTALL).posix().subs(&[
        Spec::refuse("publish deploy:deploy push", phrases::PUBLISHES, FAR).keeps(&["gem push x", "mix publish"]),
    ]).keeps(&["mvn test", "bundle exec rspec", "dotnet build", "mix deps.get"]),
    Spec::ask("slothtool avocet ai loc", phrases::RUNS_AGENT, INSTALL).keeps(&["slothtool update x"]),
    Spec::ask("codex claude gemini aider opencode goose crush cursor cursor-agent amp q llm ollama llama-cli llama-server sgpt aichat mods hermes qwen kimi droid windsurf zed", phrases::RUNS_AGENT, INSTALL).keeps(&["codex exec x"]),
    Spec::ask("systemd-analyze stow chezmoi yadm ghq tmuxinator tmux screen zellij byobu dtach abduco", phrases::RUNS_ELSEWHERE, &[Exec]).check(wrappers::dash_c).keeps(&["tmux new"]),
    Spec::ask("hyperfine entr watchexec cargo-watch reflex modd onchange chokidar", phrases::RUNS_PROGRAM_GIVEN, &[Exec]).check(wrappers::judge_joined_operands).keeps(&["hyperfine ls"]).raised(&["hyperfine 'rm -rf build'"]),
    Spec::ask("qemu-system-* virsh virt-install VBoxManage multipass limactl colima orb vmrun", phrases::STEERS_CONTAINERS, &[Exec, Write]).check(checks::destroys).keeps(&["virsh list"]).raised(&["multipass delete x"])
        .dangers(&[Danger::ask("snapshot", &["-snapshot"], phrases::STARTS_PROGRAM, &[Exec])]),
];
