//! Harmless forms of programs that otherwise ask. Each is a proof of its own, next to the
//! row of its program: a command that does not match one of them in every part is judged by
//! the row.
//!
//! Questions about a version are answered from an empty folder, since many programs look
//! into their current folder first.

use super::super::checks;
use super::super::spec::Operands::{Lists, Named, None as No, PatternThenReads, Reads, Text};
use super::super::spec::Spec;
use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect::Exec;

const ANY: usize = usize::MAX;

/// A form, and what must be there for it.
pub struct CommandForm {
    pub spec: Spec,
    /// Options without which it is another form, each in one of its spellings: `-l|--list`.
    pub needs: &'static [&'static str],
    /// It runs in an empty folder of its own.
    pub empty_folder: bool,
    /// Added at the start, in front of the argument of this number.
    pub inserted: (usize, &'static [&'static str]),
}

const fn in_current_folder(spec: Spec, needs: &'static [&'static str]) -> CommandForm {
    CommandForm { spec, needs, empty_folder: false, inserted: (0, &[]) }
}

/// In an empty folder.
const fn in_empty_folder(spec: Spec, needs: &'static [&'static str]) -> CommandForm {
    CommandForm { empty_folder: true, ..in_current_folder(spec, needs) }
}

/// Exactly these arguments, in an empty folder.
const fn probe(names: &'static str, forms: &'static [&'static str]) -> CommandForm {
    let spec = Spec::read(names).quiet(forms).check(checks::needs_quiet);
    CommandForm { spec, needs: &[], empty_folder: true, inserted: (0, &[]) }
}

const fn probe_by(
    starts: &'static [&'static str],
    names: &'static str,
    forms: &'static [&'static str],
) -> CommandForm {
    let form = probe(names, forms);
    CommandForm { spec: form.spec.starts(starts), ..form }
}

const VERSION: &[&str] = &["--version", "--help"];
const VERSIONS: &[&str] = &["--version", "-V", "--help"];
const SHORT: &[&str] = &["--version", "-v", "--help"];
const NODE: &[&str] = &["env", "node", "nodejs"];
const PYTHON: &[&str] = &["python3"];
const JVM: &[&str] = &[
    "java", "sh", "bash", "env", "uname", "dirname", "readlink", "cat", "expr", "ls", "find",
    "basename", "sed", "tr", "cut", "head", "tail", "grep", "which", "id", "xargs",
];
/// The folder of the programs that Debian's wrappers of PostgreSQL start.
const OF_POSTGRESQL: &[&str] = &["lib/postgresql", "share/postgresql-common"];
const UNPACKS: &[&str] = &["gzip", "bzip2", "xz", "zstd", "lzip", "lzma", "compress"];
const FORMATS: &[&str] = &[
    "groff", "nroff", "troff", "grotty", "grops", "tbl", "gtbl", "eqn", "geqn", "pic", "refer",
    "soelim", "zsoelim", "preconv", "iconv", "col", "ul", "sed", "locale", "gzip", "gunzip",
    "zcat", "bzip2", "xz", "zstd", "lzip", "sh", "cat", "man", "mandoc", "apropos", "whatis",
];
/// What the commands of `cargo` are that are programs of their own.
const CARGO_TOOLS: &[&str] = &[
    "cargo-fmt",
    "rustfmt",
    "cargo-clippy",
    "clippy-driver",
    "cargo-nextest",
    "cargo-audit",
    "cargo-deny",
];
const PYENV: &[&str] =
    &["env", "bash", "readlink", "sort", "sed", "head", "cut", "tr", "cat", "dirname", "basename"];
/// What only reads of `pip`, and what keeps it from asking and going online.
const OF_PIP: &[Spec] = &[
    Spec::read("list").flags("-e -l -v --editable --local --user --not-required --exclude-editable --include-editable --verbose").values("--format=text --exclude=text"),
    Spec::read("show").flags("-f -v --files --verbose").operands(Text),
    Spec::read("freeze").flags("-l --local --user --all --exclude-editable").values("--exclude=text"),
    Spec::read("inspect").flags("--local --user").operands(No),
    Spec::read("check help").operands(No),
];
const QUIET_PIP: &[&str] = &["--disable-pip-version-check", "--no-input", "--no-cache-dir"];
/// Commands of git whose names cannot be aliases.
const GIT_NAMES: &str = "git.status git.diff git.log git.show git.branch git.tag git.add git.commit git.checkout git.switch git.restore git.reset git.merge git.rebase git.fetch git.pull git.push git.clone git.stash git.cherry-pick git.revert git.clean git.rm git.mv git.config git.remote git.worktree git.blame git.grep git.describe git.apply git.am git.gc git.reflog git.rev-parse git.ls-files git.ls-tree git.cat-file git.init git.bundle git.archive git.notes";
/// What those commands of git start that are scripts.
const GIT_SCRIPTS: &[&str] = &["sh", "basename", "sed", "uname", "cat", "grep", "tr", "git"];
/// The folder of man's own helpers.
const OF_MAN: &[&str] = &["lib/man-db", "libexec/man-db"];

/// The forms of a program.
pub fn of(name: &str) -> impl Iterator<Item = &'static CommandForm> {
    FORMS.iter().filter(move |form| form.spec.matching_name(name).is_some())
}

/// The ids of the sub-commands in forms: `pip.list`.
pub fn sub_command_ids() -> impl Iterator<Item = String> {
    let names = |names: &'static str| names.split_ascii_whitespace();
    FORMS.iter().flat_map(move |form| {
        let subs = form.spec.subs.iter().flat_map(move |sub| names(sub.names));
        subs.flat_map(move |sub| names(form.spec.names).map(move |own| format!("{own}.{sub}")))
    })
}

#[rustfmt::skip]
pub(super) const FORMS: &[CommandForm] = &[
    // Versions.
    probe("cargo", &["--version", "-V", "version", "-vV", "-Vv", "--version --verbose", "--list", "--help", "help", "build -h", "check -h", "test -h", "run -h", "bench -h", "doc -h", "add -h", "tree -h", "install -h"]),
    probe_by(NODE, "npm", &["root -g", "root --global", "prefix -g", "prefix --global"]),
    probe("rustc rustdoc rustfmt", &["--version", "-V", "-vV", "-Vv", "--version --verbose", "--verbose --version", "--print sysroot", "--print target-list", "--print target-features", "--print target-cpus", "--print cfg", "--help"]),
    probe("rustup", &["--version", "-V", "toolchain list", "target list", "target list --installed", "component list", "component list --installed", "which rustc", "which cargo", "show home", "show profile", "--help"]),
    probe_by(NODE, "npm npx yarn pnpm tsc eslint prettier jest vitest mocha webpack rollup ts-node nodemon", &["--version", "-v", "--help"]),
    probe("vite esbuild turbo biome deno bun", SHORT),
    probe_by(PYTHON, "pip pip2 pip3 pip3.* pipx pipenv poetry uv pdm hatch pytest mypy ruff black isort flake8 pylint pre-commit tox nox ansible aws conda mamba", VERSIONS),
    probe("go", &["version", "help", "env GOVERSION"]),
    probe("gofmt golangci-lint gopls dlv", VERSION),
    probe("terraform tofu packer vault consul nomad", &["version", "--version", "-version", "-v"]),
    probe("kubectl", &["version --client", "version --client=true", "version --client --short", "version --client -o json", "version --client -o yaml", "--help"]),
    probe("helm kind minikube hugo zig buf", &["version", "version --short", "--version", "--help"]),
    probe("docker docker-compose podman buildah nerdctl", SHORT),
    probe("gh glab hub", &["--version", "version"]),
    probe("sqlite3", &["--version", "-version"]),
    CommandForm { spec: Spec::read("psql pg_dump").quiet(&["--version", "-V"]).check(checks::needs_quiet).helpers(OF_POSTGRESQL), needs: &[], empty_folder: true, inserted: (0, &[]) },
    probe("mysql mariadb redis-cli mongosh duckdb", &["--version", "-V", "-v"]),
    probe("java javac jshell jar kotlin kotlinc groovy scala", &["--version", "-version"]),
    probe("openssl", &["version", "version -a", "--version"]),
    probe("ruby gem bundle bundler rspec rails php perl lua luajit composer", SHORT),
    probe("rake R Rscript julia ghc ghci cabal stack elixir erl mix nim crystal dart swift swiftc ocaml opam dotnet node-gyp", VERSION),
    probe("curl wget rsync ssh scp tmux screen vim vi nvim nano emacs ffmpeg ffprobe convert magick gpg gpg2", &["--version", "-V", "-version"]),
    probe("clang-format clang-tidy cppcheck shellcheck shfmt hadolint yamllint protoc flatc ccache sccache tokei cloc scc hyperfine pandoc dot doxygen just entr ag ack ugrep bat batcat tldr less more man zip unzip gzip bzip2 xz zstd 7z xmllint sqlfluff typos taplo", VERSIONS),
    probe("mkdocs sphinx-build django-admin flask gunicorn uvicorn celery alembic streamlit cython coverage", VERSION),
    probe("systemctl journalctl loginctl lsof netstat ip ping ldd gdb lldb strace ltrace perf", &["--version", "-V"]),

    probe_by(JVM, "mvn gradle sbt ant lein mill", &["--version", "-v", "-version", "--help"]),
    probe_by(PYTHON, "gcloud gsutil bq", &["--version", "-v", "version"]),
    probe_by(PYTHON, "az platformio pio west jupyter ipython meson conan scons", &["version", "--version", "-h"]),
    probe("ruby perl php lua luajit deno bun julia ghc cabal stack elixir mix nim crystal", &["-v", "-V", "--numeric-version"]),
    probe("dotnet", &["--info", "--list-sdks", "--list-runtimes"]),
    probe("zig nim crystal", &["version", "--version"]),
    probe("gcc g++ cc c++ clang clang++ gcc-* g++-* clang-* gfortran", &["--version", "-v", "-dumpversion", "-dumpmachine", "-dumpfullversion", "-print-search-dirs", "-print-libgcc-file-name", "-print-sysroot", "-print-multi-lib", "-print-multiarch", "-print-targets", "-print-resource-dir", "--print-resource-dir", "--help"]),
    probe("make gmake ninja cmake ctest", &["--version", "-v", "--help"]),
    probe("rustup", &["toolchain list -v", "override list", "doc --path"]),
    probe("rustc", &["--print target-libdir", "--print host-tuple", "-C help", "-W help"]),
    probe("rustfmt", &["--print-config default"]),
    probe_by(CARGO_TOOLS, "cargo", &["fmt --version", "clippy --version", "clippy -V", "nextest --version", "audit --version", "deny --version"]),
    probe("node nodejs", &["--help", "-h", "--v8-options"]),
    probe("golangci-lint gopls dlv staticcheck gitleaks", &["version", "-version"]),
    probe("kubectl", &["help", "options", "completion bash", "completion zsh"]),
    probe("java", &["-XshowSettings -version", "-XshowSettings:properties -version", "-XshowSettings:vm -version", "--list-modules", "-help", "--help"]),
    probe("cmake", &["--help-command-list", "--help-module-list", "--help-variable-list", "--help-property-list", "--help-policy-list", "-E capabilities"]),
    probe("uv", &["cache dir", "python dir", "tool dir", "help", "self version"]),
    probe("php", &["-m", "--modules", "--ini"]),
    probe("zig", &["env", "targets"]),
    probe("ld", &["--verbose"]),
    probe("yq ctags info", &["--version"]),
    probe("volta fnm asdf mise pyenv rbenv nodenv goenv jenv sdk brew nix", &["--version"]),
    probe("kustomize istioctl skaffold argocd flux eksctl k9s stern", &["version --client", "--version"]),
    probe("kustomize", &["version", "version --short"]),
    probe("pulumi doctl flyctl fly hcloud aws", &["--version", "version"]),
    probe("ollama zoxide fzf lazygit tig delta difft colordiff htop btop glances nvidia-smi arduino-cli gpg-agent age sops git-lfs", VERSIONS),
    probe("pg_ctl pg_restore mysqldump etcdctl influx", &["--version", "-V"]),
    probe("qemu-system-* multipass limactl colima virsh VBoxManage skopeo", VERSION),

    // What is installed.
    CommandForm {
        spec: Spec::ask("pip pip2 pip3 pip3.*", phrases::INSTALLS, &[Exec]).posix().starts(PYTHON).subs(OF_PIP),
        needs: &[], empty_folder: true, inserted: (0, QUIET_PIP),
    },
    // Only in an empty folder: a file of the project with the name of the module would be it.
    CommandForm {
        spec: Spec::ask("python python3 python3.*", phrases::INSTALLS, &[Exec]).posix().values("-m=text").check(checks::python_pip).subs(OF_PIP),
        needs: &["-m"], empty_folder: true, inserted: (2, QUIET_PIP),
    },
    CommandForm {
        spec: Spec::ask("conda mamba micromamba", phrases::INSTALLS, &[Exec]).posix().starts(PYTHON).subs(&[
            Spec::read("list").flags("-e -f -c --export --full-name --canonical --explicit --json --revisions").values("-n=text --name=text").operands(Text).check(checks::names_only),
            Spec::read("info").flags("-e --envs --json --base").operands(No),
            Spec::ask("env", phrases::INSTALLS, &[Exec]).posix().subs(&[Spec::read("list").flags("--json").operands(No)]),
        ]),
        needs: &[], empty_folder: true, inserted: (0, &[]),
    },
    CommandForm {
        spec: Spec::ask("gem", phrases::INSTALLS, &[Exec]).posix().starts(&["ruby"]).subs(&[
            Spec::read("list").flags("-l -a -d -i --local --all --details --no-versions --versions --installed").operands(Text).check(checks::names_only),
            Spec::read("contents which").operands(Text).check(checks::names_only),
        ]),
        needs: &[], empty_folder: true, inserted: (0, &[]),
    },
    CommandForm {
        spec: Spec::ask("go", phrases::RUNS_PROJECT, &[Exec]).posix().subs(&[
            Spec::read("env").flags("-json -changed").operands(Text).check(checks::names_only),
            Spec::read("help").operands(Text).check(checks::names_only),
        ]),
        needs: &[], empty_folder: true, inserted: (0, &[]),
    },

    // Commands that only report on a project or its toolchain, or check its format. They run none of
    // the project's code, and the sandbox denies them the files outside that it refers to.
    in_current_folder(Spec::read("npm.ls npm.list npm.ll npm.la").by_language().flags("-a --all -l --long --json -p --parseable -g --global --link --prod --production --dev --package-lock-only --workspaces").values("-w=text --workspace=text --depth=text --omit=text --include=text")
        .operands(Text).check(checks::npm_reads).starts(NODE), &[]),
    in_current_folder(Spec::read("npm.explain npm.why").by_language().flags("--json").operands(Text).check(checks::npm_reads).starts(NODE), &[]),
    // Alone it lists the scripts.
    in_current_folder(Spec::read("npm.run npm.run-script").by_language().flags("--json").operands(No).check(checks::npm_reads).starts(NODE), &[]),
    in_current_folder(Spec::read("npm.root npm.prefix").by_language().flags("-g --global").operands(No).check(checks::npm_reads).starts(NODE), &[]),
    in_current_folder(Spec::ask("npm.pkg", phrases::READS_PROJECT, &[Exec]).posix().starts(NODE).subs(&[Spec::read("get").by_language().flags("--json").operands(Text).check(checks::npm_reads)]), &[]),
    in_current_folder(Spec::ask("npm.config", phrases::READS_PROJECT, &[Exec]).posix().starts(NODE).subs(&[Spec::read("get list ls").by_language().flags("-g --global --json -l --long").operands(Text).check(checks::npm_setting)]), &[]),
    in_current_folder(Spec::read("cargo.metadata").by_language().flags("--no-deps -q --quiet -v --verbose --offline --locked --frozen --all-features --no-default-features").values("--format-version=text --manifest-path=path -F=text --features=text --color=text")
        .operands(No).check(checks::cargo_reads), &["--no-deps"]),
    in_current_folder(Spec::read("cargo.locate-project cargo.read-manifest").by_language().flags("--workspace -q --quiet -v --verbose --offline --locked --frozen").values("--message-format=text --manifest-path=path --color=text").operands(No).check(checks::cargo_reads), &[]),
    in_current_folder(Spec::read("cargo.pkgid").by_language().flags("-q --quiet -v --verbose --offline --locked --frozen").values("-p=text --package=text --manifest-path=path --color=text").operands(Text).check(checks::cargo_reads), &[]),
    in_current_folder(Spec::read("cargo.fmt").by_language().flags("--check --all -q --quiet -v --verbose").values("-p=text --package=text --manifest-path=path --message-format=text").operands(Text).check(checks::cargo_fmt)
        .starts(&["cargo-fmt", "rustfmt"]), &[]),
    in_current_folder(Spec::read("rustfmt").by_language().flags("--check -l --files-with-diff -q --quiet -v --verbose").values("--edition=text --style-edition=text --color=text --config-path=path").operands(Reads(ANY)).check(checks::rust_toolchain), &["--check"]),
    in_empty_folder(Spec::read("rustc").values("--explain=text").operands(No).check(checks::rustc_explain), &["--explain"]),
    in_empty_folder(Spec::ask("rustup", phrases::RUNS_FETCHED, &[Exec]).posix().subs(&[Spec::read("show").flags("-v --verbose").operands(Text).check(checks::rust_toolchain)]), &[]),
    in_current_folder(Spec::ask("go", phrases::RUNS_PROJECT, &[Exec]).posix().helpers(&["pkg/tool", "lib/go/pkg/tool"]).subs(&[Spec::read("doc").by_language().flags("-all -c -cmd -short -src -u").operands(Named)]), &[]),
    in_current_folder(Spec::read("gofmt").by_language().flags("-l -d -s -e").operands(Reads(ANY)).starts(&["diff"]), &[]),
    in_current_folder(Spec::read("shellcheck").by_language().flags("-x --external-sources --norc --list-optional").values("-f=text --format=text -s=text --shell=text -S=text --severity=text -e=text --exclude=text -i=text --include=text -o=text --enable=text -C=?text --color=?text -W=text --wiki-link-count=text -P=path --source-path=path")
        .operands(Reads(ANY)), &[]),
    in_current_folder(Spec::ask("go.mod go.work", phrases::RUNS_PROJECT, &[Exec]).posix().subs(&[Spec::read("edit").by_language().flags("-json -print").operands(Reads(1))]), &[]),
    in_current_folder(Spec::read("cmake").by_language().flags("-N -L -LA -LH -LAH").operands(Reads(1)), &["-N"]),
    in_empty_folder(Spec::read("cmake").values("--help-command=text --help-module=text --help-variable=text --help-property=text --help-policy=text").operands(No), &["--help-command|--help-module|--help-variable|--help-property|--help-policy"]),
    in_current_folder(Spec::read("cmake").by_language().flags("--list-presets").operands(No), &["--list-presets"]),
    in_empty_folder(Spec::read("gcc g++ cc c++ clang clang++ gcc-* g++-* clang-*").values("-print-file-name=text -print-prog-name=text").operands(No), &["-print-file-name|-print-prog-name"]),
    in_empty_folder(Spec::read("php").values("--ri=text --rf=text --rc=text --re=text").operands(No), &["--ri|--rf|--rc|--re"]),
    in_current_folder(Spec::ask("pyenv rbenv nodenv", phrases::RUNS_FETCHED, &[Exec]).posix().helpers(&["libexec"]).starts(PYENV).subs(&[Spec::read("versions version version-name version-origin root").by_language().flags("--bare --skip-aliases --skip-envs").operands(No)]), &[]),
    // Isolated: a file of the folder with the name of a module would be loaded.
    CommandForm {
        spec: Spec::read("python python3 python3.*").flags("--sort-keys --no-ensure-ascii --json-lines --no-indent --tab --compact -l --list -e --exact").values("-m=text --indent=text").operands(Reads(1)).check(checks::python_module),
        needs: &["-m"], empty_folder: false, inserted: (0, &["-I"]),
    },

    // The found files are read, one by one or together.
    in_current_folder(Spec::read("fd fdfind").by_language().flags("*").operands(Text).check(checks::fd_reads), &[]),

    // Linters and formatters that only say what they would change. Settings of the folder are
    // data to them.
    in_current_folder(Spec::read("yamllint").by_language().flags("-s --strict --no-warnings").values("-f=text --format=text").operands(Reads(ANY)).starts(PYTHON), &[]),
    in_current_folder(Spec::read("shfmt").flags("-d -l -s -sr -ci -bn -kp -f --diff --list --simplify").values("-i=text -ln=text").operands(Reads(ANY)).starts(&["diff"]), &["-d|-l|-f|--diff|--list"]),
    in_current_folder(Spec::read("codespell").by_language().flags("-c -f -q --count --check-filenames --hard-encoding-detection").values("-L=text --ignore-words-list=text -S=sure --skip=sure").operands(Reads(ANY)).starts(PYTHON), &[]),
    CommandForm {
        spec: Spec::ask("ruff", phrases::RUNS_PROJECT, &[Exec]).posix().subs(&[
            Spec::read("check").by_language().flags("--diff --no-fix --show-files --show-settings -q --quiet -v --verbose --statistics --preview --no-preview --respect-gitignore --exit-zero -e").values("--output-format=text --select=text --ignore=text --extend-select=text --target-version=text --line-length=text").operands(Reads(ANY)).check(checks::right_after),
        ]),
        needs: &[], empty_folder: false, inserted: (1, &["--no-cache", "--no-fix"]),
    },
    CommandForm {
        spec: Spec::ask("ruff", phrases::RUNS_PROJECT, &[Exec]).posix().subs(&[
            Spec::read("format").by_language().flags("--check --diff -q --quiet -v --verbose --preview --no-preview").values("--target-version=text --line-length=text").operands(Reads(ANY)).check(checks::checks_format),
        ]),
        needs: &[], empty_folder: false, inserted: (1, &["--no-cache"]),
    },
    in_empty_folder(Spec::ask("ruff", phrases::RUNS_PROJECT, &[Exec]).posix().subs(&[Spec::read("rule linter version").flags("--all").values("--output-format=text").operands(Text).check(checks::names_only)]), &[]),
    in_current_folder(Spec::read("isort").by_language().flags("-c --check --check-only --df --diff -q --quiet -v --verbose").values("--profile=text -l=text --line-length=text").operands(Reads(ANY)).starts(PYTHON), &["-c|--check|--check-only|--df|--diff"]),
    in_current_folder(Spec::read("pyflakes").operands(Reads(ANY)).starts(PYTHON), &[]),
    in_current_folder(Spec::read("pycodestyle").by_language().flags("-q --quiet -v --verbose --first --show-pep8 --statistics --count --benchmark").values("--exclude=sure --filename=text --select=text --ignore=text --max-line-length=text --max-doc-length=text --format=text").operands(Reads(ANY)).starts(PYTHON), &[]),
    in_current_folder(Spec::read("hadolint").flags("--no-color --no-fail -V --verbose").values("-f=text --format=text --ignore=text -t=text --failure-threshold=text -c=path --config=path").operands(Reads(ANY)), &[]),
    in_current_folder(Spec::read("actionlint").by_language().flags("-verbose -oneline -no-color").operands(Reads(ANY)).starts(&["shellcheck", "pyflakes", "python3"]), &[]),
    in_current_folder(Spec::ask("zig", phrases::RUNS_PROJECT, &[Exec]).posix().subs(&[Spec::read("fmt").flags("--check").operands(Reads(ANY)).check(checks::checks_format)]), &[]),
    in_current_folder(Spec::read("black").by_language().flags("--check --diff -q --quiet -v --verbose --fast --safe").values("-l=text --line-length=text -t=text --target-version=text").operands(Reads(ANY)).starts(PYTHON), &["--check|--diff"]),
    // Checked, and not run.
    in_current_folder(Spec::read("bash sh dash").posix().flags("-n").operands(Reads(1)), &["-n"]),
    in_current_folder(Spec::read("node nodejs").posix().by_language().flags("-c --check").operands(Reads(1)), &["-c|--check"]),
    in_current_folder(Spec::read("ruby").posix().by_language().flags("-c -w -wc").operands(Reads(1)), &["-c|-wc"]),
    CommandForm { spec: Spec::read("php").posix().by_language().flags("-l -n").operands(Reads(ANY)), needs: &["-l"], empty_folder: false, inserted: (0, &["-n"]) },
    in_current_folder(Spec::ask("terraform tofu", phrases::RUNS_PROJECT, &[Exec]).posix().subs(&[Spec::read("fmt").by_language().flags("-check -diff -recursive -no-color").operands(Reads(ANY)).starts(&["diff"]).check(checks::checks_format)]), &[]),

    // Counts, documents, pictures, tables.
    in_current_folder(Spec::read("tokei").flags("-f --files -C --compact --hidden --no-ignore --no-ignore-parent --no-ignore-dot --no-ignore-vcs").values("-e=sure --exclude=sure -o=text --output=text -s=text --sort=text -t=text --type=text -c=text --columns=text -n=text --num-format=text").operands(Reads(ANY)), &[]),
    in_current_folder(Spec::read("scc").flags("-c -d -a -w --by-file --no-cocomo --no-complexity --no-duplicates --no-gen --no-size --no-gitignore --no-ignore --no-large --wide --ci").values("-f=text --format=text -s=text --sort=text -i=text --include-ext=text -x=text --exclude-ext=text --exclude-dir=text").operands(Reads(ANY)), &[]),
    in_current_folder(Spec::read("cloc").by_language().flags("--quiet --by-file --by-file-by-lang --csv --json --yaml --md --hide-rate --skip-uniqueness --show-lang").values("--exclude-dir=text --include-lang=text --exclude-lang=text --include-ext=text --exclude-ext=text").operands(Reads(ANY)).starts(&["perl", "sh", "file"]), &[]),
    CommandForm { spec: Spec::read("xmllint").by_language().flags("--noout --format --html --recover --noblanks --nonet --huge --c14n --compact --nocatalogs --stream --nsclean --nocdata --debug").values("--xpath=sure --encode=text --pretty=text").operands(Reads(ANY)), needs: &[], empty_folder: false, inserted: (0, &["--nonet"]) },
    in_current_folder(Spec::read("tidy").flags("-q -e -i -quiet -errors -indent -xml -utf8 -asxml").operands(Reads(ANY)), &[]),
    in_current_folder(Spec::read("pdfinfo").flags("-box -js -struct -struct-text -rawdates -dests -isodates -url -meta -custom").values("-f=text -l=text -enc=text").operands(Reads(1)), &[]),
    in_current_folder(Spec::read("pdftotext").flags("-layout -raw -nopgbrk -q -htmlmeta -table -simple -bbox").values("-f=text -l=text -r=text -x=text -y=text -W=text -H=text -enc=text -eol=text").operands(Reads(2)).check(checks::to_output), &[]),
    in_current_folder(Spec::read("qpdf").argument_files().flags("--check --show-npages --show-xref --show-encryption --is-encrypted --requires-password --list-attachments --show-pages --check-linearization").operands(Reads(1)), &["--check|--show-npages|--show-xref|--show-encryption|--is-encrypted|--requires-password|--list-attachments|--show-pages|--check-linearization"]),
    CommandForm { spec: Spec::read("ffprobe").by_language().flags("-show_format -show_streams -show_chapters -show_programs -hide_banner -pretty -unit -sexagesimal -count_frames -count_packets -show_error").values("-v=text -loglevel=text -of=text -print_format=text -output_format=text -select_streams=text -show_entries=text -i=path").operands(Reads(1)), needs: &[], empty_folder: false, inserted: (0, &["-protocol_whitelist", "file,pipe"]) },
    in_current_folder(Spec::read("identify").by_language().flags("-verbose -ping -quiet").values("-format=sure").operands(Reads(ANY)).check(checks::no_coder), &[]),
    in_current_folder(Spec::read("csvcut csvlook csvstat csvgrep").by_language().flags("-n -H -l -i -t --names --no-header-row --linenumbers --invert-match --tabs --csv --mean --sum --count --min --max --median --type --nulls --unique --freq")
        .values("-c=text --columns=text -C=text --not-columns=text -d=text --delimiter=text -q=text -r=sure --regex=sure -m=sure --match=sure -e=text --encoding=text --max-rows=text --max-columns=text").operands(Reads(1)).starts(PYTHON), &[]),
    in_current_folder(Spec::read("gron").by_language().flags("-s -m -c -v -u -j --stream --monochrome --colorize --values --ungron --json --no-sort").operands(Reads(1)), &[]),
    in_current_folder(Spec::read("htmlq").flags("-t -p -w --text --pretty --ignore-whitespace").values("-a=text --attribute=text -f=path --filename=path").operands(Text), &[]),
    in_current_folder(Spec::read("pup").flags("-c -n -p --color --number --plain").values("-f=path --file=path -i=text --indent=text -l=text --limit=text").operands(Text), &[]),
    in_current_folder(Spec::read("colordiff").by_language().flags("-u -w -b -B -i -q -N").values("-U=text").operands(Reads(2)).starts(&["diff", "perl"]), &[]),
    in_current_folder(Spec::read("difft").flags("--skip-unchanged --check-only --exit-code").values("--display=text --color=text --context=text --width=text --background=text").operands(Reads(2)), &[]),
    in_current_folder(Spec::read("sqlite3").by_language().flags("-readonly -header -noheader -csv -json -line -list -column -box -table -markdown -batch -bail -quote -tabs -html -safe").values("-separator=text -nullvalue=text").operands(Named).check(checks::queries), &["-readonly"]),

    // The contents of an archive.
    in_current_folder(Spec::read("tar bsdtar gtar").check(checks::tar_lists).operands(Text).flags("*").starts(UNPACKS), &[]),
    in_current_folder(Spec::read("unzip").flags("-l -v -Z -t -p -q -qq -1 -h -z").operands(Reads(ANY)).check(checks::no_list_file), &["-l|-v|-Z|-t|-p"]),
    in_current_folder(Spec::read("zipinfo").flags("-1 -2 -s -m -l -v -h -t -T -z").operands(Reads(ANY)), &[]),
    in_current_folder(Spec::read("gzip").flags("-l -v -q -n -t --list --verbose --quiet --name --test").operands(Reads(ANY)), &["-l|--list|-t|--test"]),
    in_current_folder(Spec::read("gzip").flags("-d -c -q -v --decompress --uncompress --stdout --to-stdout --quiet").operands(Reads(ANY)), &["-d|--decompress|--uncompress", "-c|--stdout|--to-stdout"]),
    in_current_folder(Spec::read("gunzip").flags("-c -q -v --stdout --to-stdout --quiet").operands(Reads(ANY)).starts(&["gzip", "sh"]), &["-c|--stdout|--to-stdout"]),
    in_current_folder(Spec::read("zcat").flags("-q -v -f --quiet --force").operands(Reads(ANY)).starts(&["gzip", "sh"]), &[]),
    in_current_folder(Spec::read("zgrep").flags("-i -n -c -l -v -w -x -E -F -o -h -H -q -s").operands(PatternThenReads("")).check(checks::plain_files)
        .starts(&["grep", "gzip", "zcat", "sh", "bash", "sed", "expr", "printf"]), &[]),
    in_current_folder(Spec::read("bzcat xzcat zstdcat").operands(Reads(ANY)).starts(&["bzip2", "xz", "zstd", "lz4"]), &[]),
    in_current_folder(Spec::read("xz unxz lzma").flags("-l -t -v -q --list --test --verbose --quiet --robot").operands(Reads(ANY)), &["-l|--list|-t|--test"]),
    in_current_folder(Spec::read("xz bzip2 zstd").flags("-d -c -q -v --decompress --stdout --quiet").operands(Reads(ANY)), &["-d|--decompress", "-c|--stdout"]),
    in_current_folder(Spec::read("zstd").flags("-l -t -v -q --list --test").operands(Reads(ANY)), &["-l|--list|-t|--test"]),
    in_current_folder(Spec::ask("7z 7za 7zr", phrases::PACKS, &[Exec]).posix().subs(&[Spec::read("l t").flags("-slt -ba -bd").operands(Reads(ANY)).check(checks::no_list_file)]), &[]),
    in_current_folder(Spec::read("jar").check(checks::jar_lists).operands(Text).flags("*"), &[]),
    in_current_folder(Spec::read("ar").check(checks::ar_lists).operands(Text).flags("*"), &[]),

    // Pagers, which just print when there is no terminal to page in.
    in_current_folder(Spec::read("less").flags("-N -n -R -r -S -s -F -X -i -I -M -m -E -e -Q -q -NUM --LINE-NUMBERS --RAW-CONTROL-CHARS --chop-long-lines --quit-if-one-screen --no-init --ignore-case --IGNORE-CASE")
        .operands(Reads(ANY)).check(checks::no_pager_command), &[]),
    in_current_folder(Spec::read("more").flags("-d -f -l -p -c -s -u -NUM").operands(Reads(ANY)).check(checks::no_pager_command), &[]),
    in_current_folder(Spec::read("bat batcat").flags("-p -pp -n -A --plain --number --show-all -f --force-colorization --list-languages --list-themes --no-paging -P --squeeze-blank")
        .values("--paging=text -l=text --language=text --style=text --theme=text --color=text --decorations=text -r=text --line-range=text -H=text --highlight-line=text --tabs=text --wrap=text --terminal-width=text --italic-text=text")
        .operands(Reads(ANY)).check(checks::bat), &[]),
    in_empty_folder(Spec::read("man").flags("-a -f -k -w -W --all --whatis --apropos --where --path --no-hyphenation --nh --no-justification --nj -i -I").values("-s=text -S=text --sections=text")
        .operands(Text).check(checks::names_only).starts(FORMATS).helpers(OF_MAN), &[]),
    in_empty_folder(Spec::read("whatis apropos").flags("-r -w -l --regex --wildcard --long -e --exact -a --and").values("-s=text --sections=text --section=text").operands(Text).check(checks::names_only).starts(FORMATS).helpers(OF_MAN), &[]),

    // The machine.
    CommandForm { spec: Spec::read("lsof").flags("-P -n -t -l -a -R").values("-i=?text -s=?text -p=text -c=text -u=text").operands(Reads(ANY)).check(checks::lsof), needs: &["-i|-p|-c|-u|-t"], empty_folder: false, inserted: (0, &["-n"]) },
    CommandForm { spec: Spec::read("lsof").flags("-P -n -t -l -a").operands(Reads(ANY)).check(checks::lsof_files), needs: &[], empty_folder: false, inserted: (0, &["-n"]) },
    CommandForm { spec: Spec::read("netstat").flags("-t -u -l -n -p -a -r -i -s -x -e -4 -6 -o -W -w --tcp --udp --listening --numeric --programs --program --all --route --interfaces --statistics --extend --wide").operands(No), needs: &[], empty_folder: false, inserted: (0, &["-n"]) },
    in_current_folder(Spec::read("top").flags("-b -H -i -1").values("-n=text -o=text -p=text -u=text -U=text -w=?text -d=text -E=text -e=text").operands(No), &["-b", "-n"]),
    in_current_folder(Spec::read("journalctl").flags("-b -k -r -x -e -q -a -l -NUM --no-pager --boot --dmesg --reverse --quiet --utc --no-hostname --no-full --all --disk-usage --list-boots --user --system --catalog --pager-end --full")
        .values("-n=?text --lines=?text -u=text --unit=text --user-unit=text -p=text --priority=text -S=text --since=text -U=text --until=text -o=text --output=text -t=text --identifier=text -g=text --grep=text --case-sensitive=?text --boot=?text --output-fields=text -F=text --field=text")
        .operands(Text).check(checks::journalctl), &[]),
    in_current_folder(Spec::ask("systemctl", phrases::CHANGES_SERVICES, &[Exec]).posix().flags("--no-pager --user --system -q --quiet -l --full --plain --no-legend -a --all --failed").subs(&[
        // `status` shows the arguments of processes.
        Spec::read("is-active is-enabled is-failed is-system-running list-units list-unit-files list-timers list-sockets list-dependencies list-jobs get-default cat")
            .flags("--no-pager --user --system -q --quiet -l --full --plain --no-legend -a --all --failed --reverse -r --recursive").values("-n=text --lines=text -o=text --output=text -t=text --type=text --state=text").operands(Text).check(checks::units),
        // Without a property it shows the environment of the unit as well.
        Spec::read("show").flags("--no-pager --user --system --value -a --all").values("-p=text --property=text").operands(Text).check(checks::unit_properties),
    ]), &[]),
    in_current_folder(Spec::ask("ip", phrases::CHANGES_NETWORK, &[Exec]).posix().flags("-br -brief -4 -6 -s -stats -statistics -d -details -j -json -p -pretty -o -oneline -c -color -h -human").subs(&[
        Spec::read("address addr a link l route r neigh n neighbor neighbour rule ru maddress maddr").operands(Text).check(checks::ip_shows),
    ]), &[]),
    in_current_folder(Spec::read("getfacl").flags("-a -c -d -e -E -n -p -s -t --access --default --omit-header --all-effective --no-effective --absolute-names --numeric --tabular --skip-base").operands(Reads(ANY)), &[]),
    in_current_folder(Spec::read("lsattr").flags("-a -d -l -p -v").operands(Reads(ANY)), &[]),
    in_current_folder(Spec::read("getcap").flags("-v -n").operands(Reads(ANY)), &[]),
    in_current_folder(Spec::ask("getent", phrases::TELLS_MACHINE, &[Exec]).posix().subs(&[Spec::read("passwd group services protocols networks").operands(Text).check(checks::names_only)]), &[]),
    in_current_folder(Spec::read("dust").flags("-r -b -s -p -x -f -c").values("-n=text -d=text").operands(Reads(ANY)), &[]),
    in_current_folder(Spec::read("sysctl").flags("-a -A -X -n -N -e --all --values --names --ignore").operands(Text).check(checks::kernel_names), &[]),
    in_current_folder(Spec::read("crontab").flags("-l").operands(No), &["-l"]),
    in_current_folder(Spec::read("stty").quiet(&["-a", "--all", "size", "speed", "-g"]).check(checks::needs_quiet), &[]),
    in_current_folder(Spec::read("tput").quiet(&["cols", "lines", "colors"]).check(checks::needs_quiet), &[]),
    in_current_folder(Spec::read("tmux").quiet(&["ls", "list-sessions"]).check(checks::needs_quiet), &[]),
    in_current_folder(Spec::read("sleep").operands(Text).check(checks::short_time), &[]),
    in_current_folder(Spec::read("dpkg").flags("-l -L -S -s --list --listfiles --search --status").operands(Text).starts(&["dpkg-query"]), &["-l|-L|-S|-s|--list|--listfiles|--search|--status"]),
    in_current_folder(Spec::read("dpkg").quiet(&["--print-architecture", "--print-foreign-architectures"]).check(checks::needs_quiet), &[]),
    in_current_folder(Spec::read("dpkg").flags("-c -I --contents --info").operands(Reads(1)).starts(&["dpkg-deb", "tar", "gzip", "bzip2", "xz", "zstd"]), &["-c|-I|--contents|--info"]),
    in_current_folder(Spec::read("dpkg-query").flags("-W -l -L -S -s --show --list --listfiles --search --status").values("-f=text --showformat=text").operands(Text), &["-W|-l|-L|-S|-s|--show|--list|--listfiles|--search|--status"]),
    in_current_folder(Spec::ask("apt", phrases::INSTALLS, &[Exec]).posix().subs(&[
        Spec::read("list").flags("--installed --upgradable --upgradeable -a --all-versions --manual-installed").operands(Text).check(checks::names_only),
        Spec::read("show policy search depends rdepends").flags("-a --all-versions -f --full -n --names-only --installed").operands(Text).check(checks::names_only),
    ]), &[]),
    in_current_folder(Spec::ask("apt-cache", phrases::INSTALLS, &[Exec]).posix().subs(&[
        Spec::read("show showpkg policy search depends rdepends madison stats pkgnames").flags("-a --all-versions -f --full -n --names-only --installed").operands(Text).check(checks::names_only),
    ]), &[]),
    in_current_folder(Spec::read("rpm").flags("-q -a -i -l -f -c -d -R -s --query --all --info --list --file --configfiles --docfiles --requires --provides --changelog --last --state --nosignature --nodigest").operands(Lists), &["-q|--query"]),
    in_current_folder(Spec::read("pacman").flags("-Q -q -e -i -l -o -s -d -t -m -n -u --query --quiet --explicit --info --list --owns --search --deps --unrequired --foreign --native --upgrades").operands(Lists), &["-Q|--query"]),
    in_current_folder(Spec::ask("apk", phrases::INSTALLS, &[Exec]).posix().subs(&[
        Spec::read("info").flags("-a -v -e -L -d -s -R --all --verbose --installed --contents --description --size --depends").operands(Text).check(checks::names_only),
        Spec::read("list").flags("-I -v --installed --verbose").operands(Text).check(checks::names_only),
    ]), &[]),
    in_current_folder(Spec::read("ldconfig").flags("-p --print-cache").operands(No), &["-p|--print-cache"]),
    in_current_folder(Spec::read("update-alternatives").flags("--get-selections").values("--list=text --display=text --query=text").operands(No), &["--get-selections|--list|--display|--query"]),
    in_current_folder(Spec::read("ssh-keygen").flags("-l -v").values("-f=path -E=text").operands(No), &["-l", "-f"]),
    in_current_folder(Spec::read("systemctl").flags("--failed --no-pager --user --system -q --quiet -l --full --plain --no-legend -a --all").operands(No), &[]),
    in_current_folder(Spec::read("dmesg").flags("-T -x -k -u -t -e -P -r --ctime --decode --kernel --userspace --notime --reltime --nopager --raw").values("-l=text --level=text -f=text --facility=text --color=?text --time-format=text --since=text --until=text").operands(No), &[]),
    in_current_folder(Spec::read("who users").flags("-a -b -d -H -l -m -q -r -s -u -T -h -f -i --all --boot --heading --count --users --short --no-header").operands(No), &[]),
    in_current_folder(Spec::read("last").flags("-a -F -i -w -x -R -NUM --fulltimes --fullnames --nohostname --system").values("-n=text --limit=text -s=text -t=text -p=text --since=text --until=text").operands(Text).check(checks::names_only), &[]),
    in_current_folder(Spec::read("lspci").flags("-v -vv -vvv -k -n -nn -t -m -mm -D -b").values("-s=text -d=text").operands(No), &[]),
    in_current_folder(Spec::read("lsusb").flags("-v -t").values("-s=text -d=text").operands(No), &[]),
    in_current_folder(Spec::read("lsb_release").flags("-a -d -i -r -c -s -v --all --description --id --release --codename --short --version").operands(No).starts(&["python3", "getopt", "cut", "sed", "tr"]), &[]),
    in_current_folder(Spec::read("sw_vers findmnt ipcs").flags("-productName -productVersion -buildVersion -l -a -J -t -u -p -s -m -q --json --list --all").operands(No), &[]),

    // git. An included settings file is a file of its own, and may be anywhere.
    CommandForm {
        spec: Spec::read("git.config").flags("-l --list --get --get-all --get-regexp --get-urlmatch --show-origin --show-scope --global --local --system --worktree -z --null --name-only --bool --int --path --bool-or-int --no-includes")
            .values("--type=text --default=text").operands(Text).check(checks::git_setting),
        needs: &["-l|--list|--get|--get-all|--get-regexp|--get-urlmatch"], empty_folder: false, inserted: (0, &["--no-includes"]),
    },
    CommandForm {
        spec: Spec::read("git.config").flags("--show-origin --show-scope --global --local --system --worktree -z --null --bool --int --path --bool-or-int --no-includes")
            .values("--type=text --default=text").operands(Text).check(checks::git_one_setting),
        needs: &[], empty_folder: false, inserted: (0, &["--no-includes"]),
    },
    CommandForm {
        spec: Spec::ask("git.config", phrases::GIT_CONFIGURES, &[Exec]).posix().check(checks::git_setting).subs(&[
            Spec::read("get").flags("--all --show-names --show-origin --show-scope --global --local --system --worktree -z --null --bool --int").values("--type=text --default=text --url=text --value=text").operands(Text),
            Spec::read("list").flags("--show-names --name-only --show-origin --show-scope --global --local --system --worktree -z --null").operands(No),
        ]),
        needs: &[], empty_folder: false, inserted: (1, &["--no-includes"]),
    },
    // The names of its own commands cannot be aliases, and with this alone each prints its usage.
    in_current_folder(Spec::read(GIT_NAMES)
        .quiet(&["-h"]).check(checks::needs_quiet), &[]),
    in_current_folder(Spec::read("git.apply").flags("--stat --numstat --summary --check -R --reverse -v --verbose -z --unidiff-zero --ignore-whitespace --recount").values("-p=text").operands(Reads(ANY)), &["--stat|--numstat|--summary|--check"]),
    in_current_folder(Spec::read("git.hash-object").flags("--no-filters --stdin").values("-t=text").operands(Reads(ANY)), &[]),
    in_current_folder(Spec::ask("git.sparse-checkout", phrases::GIT_WRITES, &[Exec]).posix().subs(&[Spec::read("list").operands(No)]), &[]),
    in_current_folder(Spec::read("git.submodule").flags("-q --quiet").operands(No).starts(GIT_SCRIPTS).check(checks::git_submodules), &[]),
    in_current_folder(Spec::ask("git.submodule", phrases::GIT_RUNS, &[Exec]).posix().flags("-q --quiet").starts(GIT_SCRIPTS).subs(&[Spec::read("status").flags("--cached").operands(Named).check(checks::git_submodules)]), &[]),
    in_current_folder(Spec::read("git.diff").flags("--no-index -q --quiet --exit-code -w -b -a --text --stat --numstat --shortstat --name-only --name-status --summary --minimal --patience --histogram --ignore-all-space --ignore-space-change --ignore-blank-lines --no-color --no-prefix --no-ext-diff --no-textconv")
        .values("-U=?text --unified=?text --color=?text --word-diff=?text --stat=?text").operands(Reads(2)).check(checks::git_no_index), &["--no-index"]),
    in_current_folder(Spec::ask("git.remote", phrases::GIT_WRITES, &[Exec]).posix().subs(&[Spec::read("show").flags("-n").operands(Text).check(checks::without_query)]), &[]),
    in_current_folder(Spec::read("git.ls-remote").flags("--get-url -q --quiet").operands(Text).check(checks::names_only), &["--get-url"]),
    in_current_folder(Spec::read("git.clean").flags("-n -d -x -X -q --dry-run --quiet").values("-e=sure --exclude=sure").operands(Named), &["-n|--dry-run"]),
    in_current_folder(Spec::read("git.archive").quiet(&["-l", "--list"]).check(checks::needs_quiet), &[]),
    in_current_folder(Spec::ask("git.bundle", phrases::GIT_WRITES, &[Exec]).posix().subs(&[Spec::read("list-heads verify").flags("-q --quiet").operands(Reads(1))]), &[]),
    in_empty_folder(Spec::read(GIT_NAMES).flags("--help").operands(No).check(checks::right_after).starts(FORMATS).helpers(OF_MAN), &["--help"]),
    in_current_folder(Spec::read("git.fsck").flags("--full --no-full --strict --unreachable --dangling --no-dangling --connectivity-only -v --verbose --progress --no-progress --root --tags --cache --no-reflogs --name-objects").operands(No), &[]),
    in_empty_folder(Spec::read("git.help").flags("-a --all -g --guides -m --man --no-external-commands --no-aliases --no-verbose").operands(Text).check(checks::git_help).starts(FORMATS).helpers(OF_MAN), &[]),
    in_current_folder(Spec::read("git.range-diff").flags("--no-color --no-dual-color --left-only --right-only -s --no-patch --no-notes --stat").values("--creation-factor=text --color=?text --diff-algorithm=text").operands(Named).check(checks::git_range_diff), &[]),

    // Certificates and digests.
    in_current_folder(Spec::ask("openssl", phrases::SHOWS_SECRETS, &[Exec]).posix().subs(&[
        Spec::read("x509").flags("-noout -text -subject -issuer -dates -enddate -startdate -serial -fingerprint -purpose -modulus -email -hash -subject_hash -issuer_hash -ocsp_uri -pubkey -alias -sha1 -sha256 -sha384 -sha512 -md5")
            .values("-in=path -inform=text -ext=text -nameopt=text -certopt=text -checkend=text -checkhost=text -dateopt=text").operands(No).check(checks::openssl_input),
        Spec::read("req crl").flags("-noout -text -subject -issuer -verify -lastupdate -nextupdate -pubkey -modulus").values("-in=path -inform=text -nameopt=text").operands(No).check(checks::openssl_input),
        Spec::read("dgst sha1 sha224 sha256 sha384 sha512 md5").flags("-sha1 -sha224 -sha256 -sha384 -sha512 -md5 -sha3-256 -blake2b512 -r -hex -c").operands(Reads(ANY)),
        Spec::read("rand").flags("-hex -base64").operands(Text).check(checks::numbers_only),
        Spec::read("list").flags("-commands -digest-commands -cipher-commands -digest-algorithms -cipher-algorithms -public-key-algorithms -1").operands(No),
        Spec::read("ciphers").flags("-v -V -s -tls1_2 -tls1_3").operands(Text).check(checks::names_only),
    ]), &[]),

    // Data.
    in_current_folder(Spec::read("yq").by_language().flags("-r -P -C -M -j -c -e -N --prettyPrint --unwrapScalar --no-colors --colors --no-doc --raw-output --compact-output -y").values("-o=text --output-format=text -p=text --input-format=text -I=text --indent=text")
        .operands(Reads(ANY)).check(checks::yq).starts(&["jq", "python3"]), &[]),
];

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;

    #[test]
    fn every_form_belongs_to_a_program_with_a_row() {
        for form in FORMS {
            for name in form.spec.names.split_ascii_whitespace() {
                let program = name.split('.').next().unwrap();
                assert!(name.ends_with('*') || find(program).is_some(), "{name}");
            }
        }
    }
}
