//! What a remembered rule may cover, command by command: the arguments that `*` covers, or
//! that `*` is not allowed at all.
//!
//! A positive list, like the rows that promise L0: an option that is not named here, a
//! path that leads out, a URL or another root is never covered by `*`, so each of them
//! asks. The longest form that fits a command counts.

/// One form of a command line.
#[derive(Clone, Copy, Debug)]
pub struct RuleForm {
    /// Its first words. `a|b` matches either, `?` one plain name. The program is named as
    /// its row names it, and a file of the folder by its own name.
    pub start: &'static str,
    pub reach: RuleReach,
}

/// How far a rule of this form reaches.
#[derive(Clone, Copy, Debug)]
pub enum RuleReach {
    /// It is asked about each time, and `*` covers nothing.
    Nothing,
    /// It is asked about each time; a rule the user wrote covers the arguments listed here.
    ByHand(Rest),
    /// Exactly these arguments; a rule the user wrote covers the arguments listed here.
    ExactOr(Rest),
    /// Exactly these arguments.
    Exact,
    /// Exactly these arguments, where the program is in the `node_modules/.bin` of this
    /// folder.
    Local,
    /// Exactly these arguments, when the first one names a file.
    Script,
    /// The words of the form, then the arguments listed here.
    Open(Rest),
}

/// The arguments `*` covers.
#[derive(Clone, Copy, Debug)]
pub struct Rest {
    /// Options without a value.
    pub flags: &'static str,
    /// Options whose value is a plain text: `--jobs`, `-j`.
    pub values: &'static str,
    pub operands: Operand,
    /// Options after `--`, without and with a value; operands are as before it.
    pub behind: Option<(&'static str, &'static str)>,
    /// The program must be in the `node_modules/.bin` of this folder.
    pub local: bool,
}

/// The kinds of words that are not options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// There are none.
    None,
    /// A name: of a branch, a test, a task.
    Name,
    /// A name, or a path that stays in the workspace.
    Inside,
    /// The same, and no file that steers programs.
    Changed,
    /// The same of a folder, which may be called as some of these files are: `build`.
    ChangedFolder,
    /// First the name of a remote, then names.
    Remote,
}

impl Rest {
    /// Plain words and paths of the workspace, and no option: what `*` means for a
    /// program that has no form.
    pub const PLAIN: Rest = Rest::of(Operand::Inside);

    const fn of(operands: Operand) -> Rest {
        Rest { flags: "", values: "", operands, behind: Option::None, local: false }
    }

    const fn flags(mut self, flags: &'static str) -> Rest {
        self.flags = flags;
        self
    }

    const fn values(mut self, values: &'static str) -> Rest {
        self.values = values;
        self
    }

    const fn behind(mut self, flags: &'static str, values: &'static str) -> Rest {
        self.behind = Some((flags, values));
        self
    }

    const fn local(mut self) -> Rest {
        self.local = true;
        self
    }
}

const fn form(start: &'static str, reach: RuleReach) -> RuleForm {
    RuleForm { start, reach }
}

use Operand::{Changed, ChangedFolder, Inside, Name, None, Remote};
use RuleReach::{ByHand, Exact, ExactOr, Local, Nothing, Open, Script};

macro_rules! cargo_flags {
    () => {
        "-q --quiet -v -vv --verbose -r --release --all --workspace --lib --bins --tests --examples --benches --all-targets --all-features --no-default-features --offline --locked --frozen --keep-going "
    };
}
macro_rules! cargo_values {
    () => {
        "-p --package --bin --example --test --bench -F --features --exclude -j --jobs --profile --color --message-format "
    };
}
const CARGO: Rest = Rest::of(Name).flags(cargo_flags!()).values(cargo_values!());
const CARGO_TEST: Rest = Rest::of(Name)
    .flags(concat!(cargo_flags!(), "--no-run --no-fail-fast --doc"))
    .values(cargo_values!())
    .behind(
        "--nocapture --no-capture --show-output --ignored --include-ignored --exact --list -q --quiet",
        "--test-threads --skip --color --format",
    );
const PYTEST: Rest = Rest::of(Inside)
    .flags("-q -qq -v -vv -vvv -x -s -l --verbose --quiet --exitfirst --lf --last-failed --ff --failed-first --nf --sw --stepwise --co --collect-only --no-header --no-summary --strict-markers --showlocals --disable-warnings --cache-show --fixtures --markers -ra -rA -rs -rf -rx")
    .values("-k -m -n --maxfail --tb --durations --color --verbosity --capture --show-capture");
const UNITTEST: Rest = Rest::of(Inside)
    .flags("-v -q -f -b -c --verbose --quiet --failfast --buffer --locals")
    .values("-k -p --pattern");
const GO: Rest = Rest::of(Inside)
    .flags("-v -x -n -race -short -benchmem -cover -failfast -json -trimpath -a")
    .values("-run -skip -bench -count -timeout -parallel -cpu -list -tags -p -shuffle -covermode -benchtime");
/// The arguments an npm script may get.
const SCRIPT: Rest = Rest::of(Inside)
    .flags("-s --silent -q --quiet --if-present")
    .values("-w --workspace --filter -F")
    .behind(
        "--watch=false --watchAll=false --run --ci --coverage --no-coverage --coverage=false --verbose --silent --bail --passWithNoTests --runInBand -i --fix --check --noEmit",
        "-t --testNamePattern --grep -g --maxWorkers",
    );
const NODE_TOOL: Rest = Rest::of(Inside)
    .flags("--noEmit --fix --check --write --list-different --quiet --silent --verbose --ci --bail --coverage --no-coverage --runInBand --run --watch=false --watchAll=false --passWithNoTests --pretty --strict --skipLibCheck --version --help --no-color --color")
    .values("-t --testNamePattern --grep -g --maxWorkers --max-warnings --log-level --loglevel");
const PYTHON_TOOL: Rest = Rest::of(Inside)
    .flags("-q -v --quiet --verbose --check --diff --fix --no-fix --show-source --show-fixes --statistics --strict --no-cache --preview --unsafe-fixes --color --no-color --no-incremental --ignore-missing-imports")
    .values("--select --ignore --extend-ignore --extend-select --line-length -l --max-line-length --target-version -t --output-format --python-version -j --jobs");
const GRADLE: Rest = Rest::of(None)
    .flags("-q -i -s -w --quiet --info --warn --stacktrace --offline --rerun-tasks --continue --no-daemon --daemon --parallel --no-parallel --build-cache --no-build-cache --configuration-cache --no-configuration-cache --dry-run -m")
    .values("--tests --console --max-workers --warning-mode");
const MAVEN: Rest = Rest::of(None)
    .flags("-q -B -o -e -X -V -ntp -am -amd -fae -ff -fn -nsu --quiet --batch-mode --offline --errors --no-transfer-progress --also-make --fail-at-end --fail-fast --no-snapshot-updates -DskipTests -DskipITs")
    .values("-Dtest -Dit.test -pl --projects -T --threads -Dsurefire.failIfNoSpecifiedTests");
const DOTNET: Rest = Rest::of(None)
    .flags("--no-build --no-restore --nologo")
    .values("--filter -c --configuration -f --framework -v --verbosity");
const FILES: Rest = Rest::of(Inside);
const CHANGES: Rest = Rest::of(Changed);
const FORMATTED: Rest = CHANGES;
const STAGED: Rest = FILES.flags(
    "-A --all -u --update -v --verbose -n --dry-run -N --intent-to-add --no-all --ignore-errors",
);

#[rustfmt::skip]
pub const FORMS: &[RuleForm] = &[
    // Commands that run whatever they are given, or reach another machine.
    form("csh|tcsh|pwsh|powershell|env|xargs|sudo|su|doas|find|fd|fdfind|awk|gawk|mawk|nawk|sed|perl|tmux|screen|vim|vi|nvim|emacs|rm", Nothing),
    form("npx|bunx|pnpx|uvx|pipx|dlx", Nothing),
    form("docker|podman|nerdctl|buildah|docker-compose|podman-compose|kubectl|oc|helm|ssh|scp|sftp|ftp|rsync|curl|wget|nc|ncat|socat|telnet", Nothing),
    form("gh|glab|hub|aws|gcloud|az|terraform|tofu|twine", ByHand(Rest::of(Name))),
    form("sh|bash|zsh|dash|ash|ksh|fish|python|python2|python3|pypy|pypy3|node|nodejs|deno|bun|ruby|php|lua|luajit|Rscript|java|julia|groovy|tclsh|elixir|ts-node|tsx", Script),
    form("perl|osascript|ipython|jupyter", Nothing),

    // git. A sub-command that is not here may be an alias.
    form("git", Nothing),
    form("git add|stage", Open(STAGED)),
    form("git commit", Open(FILES
        .flags("-a --all -q --quiet -v --verbose -s --signoff --no-edit --allow-empty --dry-run --short --status --no-status")
        .values("-m --message --fixup --squash"))),
    form("git mv", Open(CHANGES.flags("-v -n -k --verbose --dry-run"))),
    form("git restore --staged|-S", Open(FILES.flags("-q --quiet"))),
    form("git branch", Open(Rest::of(Name).flags("-q --quiet --no-track"))),
    form("git tag", Open(Rest::of(Name).flags("-a --annotate -q").values("-m --message"))),
    form("git switch", Open(Rest::of(Name).flags("-q --quiet --detach --guess --no-guess --progress --no-progress").values("-c --create"))),
    form("git merge", Open(Rest::of(Name).flags("--ff --no-ff --ff-only --squash --no-commit --commit --no-edit -q --quiet -v --verbose --stat -n --no-stat --signoff"))),
    form("git revert", Open(Rest::of(Name).flags("--no-edit -n --no-commit -s --signoff"))),
    form("git stash", Exact),
    form("git stash push|save", Open(FILES.flags("-u --include-untracked -k --keep-index --no-keep-index -q --quiet -S --staged").values("-m --message"))),
    form("git stash pop|apply", Open(Rest::of(Name).flags("--index -q --quiet"))),
    form("git push", ByHand(Rest::of(Remote).flags("-u --set-upstream -q --quiet -v --verbose --tags --follow-tags -n --dry-run --porcelain --progress --no-progress --atomic"))),
    form("git fetch|pull", ExactOr(Rest::of(Remote).flags("-p --prune --all -t --tags --no-tags -q --quiet -v --verbose --ff-only"))),
    form("git config|submodule|bisect|rebase|clone|ls-remote|worktree|remote|am|cherry-pick|checkout|reset|restore|rm|apply|init|notes|gc|fsck|lfs|svn|archive|format-patch|replace|sparse-checkout|bundle|maintenance|update-index|update-ref|fetch-pack|http-fetch|read-tree|write-tree|commit-tree|repack|pack-refs|clean|verify-commit|verify-tag|subtree|range-diff|merge-file|checkout-index|request-pull|reflog|rerere|mergetool|difftool", Exact),

    // Package managers: a script of the project by its name, a test; all else exactly.
    form("npm|pnpm|yarn|cnpm", Exact),
    form("npm|pnpm|yarn|cnpm publish|unpublish|login|logout|owner|access|token", Nothing),
    form("npm|pnpm|yarn|cnpm test|t|tst", Open(SCRIPT)),
    form("npm|pnpm|yarn|cnpm run|run-script ?", Open(SCRIPT)),
    form("pnpm|yarn build|lint|format|check|typecheck", Open(SCRIPT)),
    form("bun test", Open(NODE_TOOL)),
    form("bun run ?", Open(SCRIPT)),
    form("deno test|lint|check|fmt", Open(Rest::of(Inside).flags("-q --quiet --no-run --fail-fast --check").values("--filter"))),
    form("node --test", Open(Rest::of(Inside).flags("--test-only").values("--test-name-pattern --test-concurrency --test-reporter"))),
    form("npx|bunx ?", Local),
    form("npx|bunx tsc|eslint|prettier|jest|vitest|mocha|ava|tap|stylelint|biome|tslint|oxlint|svelte-check|vue-tsc", Open(NODE_TOOL.local())),
    form("tsc|eslint|prettier|jest|vitest|mocha|ava|tap|stylelint|biome|tslint|oxlint|standard|xo", Open(NODE_TOOL)),

    // Python.
    form("python|python2|python3|pypy|pypy3 -c|-m", Nothing),
    form("python|python2|python3|pypy|pypy3 -m pytest", Open(PYTEST)),
    form("python|python2|python3|pypy|pypy3 -m unittest", Open(UNITTEST)),
    form("python|python2|python3|pypy|pypy3 -m mypy|ruff|black|flake8|isort|pylint|pyflakes|compileall", Open(PYTHON_TOOL)),
    form("pytest|py.test", Open(PYTEST)),
    form("ruff|mypy|pyright|black|isort|flake8|pylint|pyflakes|pycodestyle|vulture|codespell", Open(PYTHON_TOOL)),
    form("ruff check|format", Open(PYTHON_TOOL)),
    form("pip|pip2|pip3|pipenv|poetry|uv|pdm|hatch|rye|flit|easy_install", Exact),

    // Rust, Go, the JVM, .NET and others.
    form("cargo|cross", Exact),
    form("cargo|cross publish|login|logout|owner|yank", Nothing),
    form("cargo|cross build|b|check|c|doc|d", Open(CARGO)),
    form("cargo|cross test|t|bench", Open(CARGO_TEST)),
    form("cargo|cross nextest run", Open(CARGO_TEST)),
    form("cargo|cross clippy", Open(CARGO.behind("-Dwarnings", "-D -W -A -F"))),
    form("cargo fmt", Open(Rest::of(None).flags("--all --check -v -q --quiet --verbose").behind("--check", "").values("-p --package"))),
    form("go|gofmt|goimports|golangci-lint|dlv|staticcheck", Exact),
    form("go test|build|vet|fmt", Open(GO)),
    form("mvn|mvnw", Exact),
    form("mvn|mvnw test|compile|verify|package|validate|test-compile", Open(MAVEN)),
    form("gradle|gradlew", Exact),
    form("gradle|gradlew test|build|check|assemble|compileJava|compileKotlin|classes|testClasses", Open(GRADLE)),
    form("dotnet build|test", Open(DOTNET)),
    form("mix test|compile|format", Open(Rest::of(Inside).flags("--trace --stale --failed --check-formatted --warnings-as-errors").values("--seed --only --exclude"))),
    form("bundle exec rspec|rubocop", Open(Rest::of(Inside).flags("--fail-fast --color --no-color -a -A").values("-e --example --tag -t --seed --only"))),
    form("rspec|rubocop", Open(Rest::of(Inside).flags("--fail-fast --color --no-color -a -A").values("-e --example --tag -t --seed --only"))),
    form("rails test|spec", Open(FILES)),
    form("swift test|build", Open(Rest::of(None).flags("-v --verbose --parallel").values("--filter -c --configuration"))),
    form("make|gmake|bmake|ninja|cmake|ctest|meson|tox|nox|bazel|bazelisk|ant|scons|waf|pants|buck|buck2|earthly|mage", Exact),

    form("just|task|rake|invoke", ExactOr(Rest::of(Name))),

    // Small changes of files in the workspace.
    form("mkdir|touch|rmdir", ExactOr(CHANGES.flags("-p --parents -v --verbose"))),
    form("cp|mv", Exact),
];

/// Commands that change files and run nothing, as they are accepted with edits: nothing else of
/// them is, and what they take away or overwrite must come back with an undo.
#[rustfmt::skip]
pub const FILE_COMMANDS: &[RuleForm] = &[
    form("mkdir|rmdir", Open(Rest::of(ChangedFolder).flags("-p --parents -v --verbose"))),
    form("touch", Open(CHANGES)),
    form("cp", Open(CHANGES.flags("-r -R -a -p -f -n -u -v --recursive --archive --force --no-clobber --update --verbose"))),
    form("mv", Open(CHANGES.flags("-f -n -u -v --force --no-clobber --update --verbose"))),
    form("ln -s|--symbolic", Open(CHANGES.flags("-v --verbose"))),
    form("rm", Open(CHANGES.flags("-f -r -R -d -v --force --recursive --dir --verbose"))),
];

/// Those that are like them and always asked about where they name a path outside.
#[rustfmt::skip]
pub const EXACT_OUTSIDE: &[RuleForm] = &[
    form("install", Open(CHANGES.flags("-v -C -D -p").values("-m --mode"))),
    form("sed|gsed -i|--in-place", Open(CHANGES.flags("-E -r -n -s -z").values("-e --expression"))),
    form("zip", Open(CHANGES.flags("-0 -1 -9 -D -X -f -j -o -q -r -u -v -y --quiet --recurse-paths"))),
    form("cargo new", Open(Rest::of(ChangedFolder).flags("-q -v --bin --lib --quiet --verbose").values("--color --edition --name --vcs"))),
];

/// Commands of git that change neither a file nor what was committed.
pub const RECORDING: &[RuleForm] = &[
    form("git add|stage", Open(STAGED)),
    form("git checkout -b", Open(Rest::of(Name))),
    form("git switch -c|--create", Open(Rest::of(Name))),
];

/// Programs that only write files in another form. Code of the project may decide how, so
/// they are accepted only inside a sandbox.
#[rustfmt::skip]
pub const FORMATTERS: &[RuleForm] = &[
    form("prettier", Open(FORMATTED.flags("--write -w --check -c --list-different -l --no-color").values("--log-level"))),
    form("npx|bunx prettier", Open(FORMATTED.flags("--write -w --check -c --list-different -l --no-color").values("--log-level").local())),
    form("biome format", Open(FORMATTED.flags("--write"))),
    form("npx|bunx @biomejs/biome|biome format", Open(FORMATTED.flags("--write").local())),
    form("dprint fmt", Open(FORMATTED.flags("--diff"))),
    form("black", Open(FORMATTED.flags("-q -v --quiet --verbose --check --diff").values("-l --line-length -t --target-version"))),
    form("ruff format", Open(FORMATTED.flags("-q -v --quiet --verbose --check --diff").values("--line-length --target-version"))),
    form("isort", Open(FORMATTED.flags("-q -v --quiet --verbose --check --diff").values("--profile -l --line-length"))),
    form("autopep8 -i|--in-place", Open(FORMATTED.flags("-r --recursive -a --aggressive").values("--max-line-length"))),
    form("yapf -i|--in-place", Open(FORMATTED.flags("-r --recursive"))),
    form("gofmt -w", Open(FORMATTED.flags("-s -l -d"))),
    form("goimports -w", Open(FORMATTED.flags("-l -d"))),
    form("go fmt", Open(FORMATTED.flags("-n -x"))),
    form("cargo fmt", Open(Rest::of(None).flags("--all --check -v -q --quiet --verbose").behind("--check", "").values("-p --package"))),
    form("rustfmt", Open(FORMATTED.flags("--check -v -q --verbose --quiet").values("--edition --color"))),
    form("clang-format -i", Open(FORMATTED)),
    form("shfmt -w", Open(FORMATTED.flags("-s -l -d").values("-i"))),
    form("taplo fmt|format", Open(FORMATTED)),
    form("mix format", Open(FORMATTED.flags("--check-formatted"))),
    form("swiftformat", Open(FORMATTED)),
];

/// Sub-commands that are the same by another name, for rules that refuse: a rule for
/// `test` refuses `t` as well. A name without a partner is passed over.
pub const ALIKE: &[(&str, &str)] = &[
    ("cargo", "b=build c=check t=test r=run d=doc rm=remove"),
    ("cross", "b=build c=check t=test r=run d=doc rm=remove"),
    ("npm", NPM),
    ("cnpm", NPM),
    ("pnpm", NPM),
    ("yarn", NPM),
    (
        "git",
        "send-pack=push http-push=push fetch-pack=fetch http-fetch=fetch stage=add annotate=blame",
    ),
    ("docker", "container= image="),
    ("podman", "container= image="),
    ("nerdctl", "container= image="),
];
const NPM: &str = "t=test tst=test run-script=run rum=run urn=run i=install in=install ins=install inst=install insta=install instal=install isnt=install add=install \
     x=exec dlx=exec rm=uninstall un=uninstall r=uninstall remove=uninstall unlink=uninstall up=update upgrade=update udpate=update clean-install=ci ic=ci c=config \
     la=ls ll=ls list=ls innit=init create=init cit=install-ci-test sit=install-ci-test it=install-test ddp=dedupe author=owner adduser=login add-user=login";

/// Programs that take any start of a sub-command's name for it.
pub const ABBREVIATES: &[&str] = &["npm", "cnpm"];
