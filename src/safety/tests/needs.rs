//! The four lists of places, and which step they are opened to.

use std::collections::HashSet;

use super::*;
use crate::places::{self, UserPath, places_of};

/// A home with everything in it.
fn place() -> Workspace {
    let secret_variables = ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"].map(str::to_owned).into();
    Workspace { secret_variables, ..Workspace::new("/w", "/keys") }
}

fn judged(text: &str) -> Judgement {
    judged_under(&Policy::default(), text)
}

fn judged_under(policy: &Policy, text: &str) -> Judgement {
    let words = words_of(text);
    let (program, args) = words.split_first().unwrap();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    assess_with(step(program, &args), policy, &place()).judgement().clone()
}

fn piece(text: &str) -> Judgement {
    let (policy, place, world) = (Policy::default(), place(), world());
    let policy_cx = PolicyContext { policy: &policy, place: &place, world: &world };
    assess_template_command("cmd_001", text, policy_cx).judgement().clone()
}

fn opens_something(judged: &Judgement) -> bool {
    let needs = &judged.launch.needs;
    let lists = [&needs.homes, &needs.credentials, &needs.refreshed];
    lists.iter().any(|list| !list.is_empty())
        || !needs.variables.is_empty()
        || !needs.devices.is_empty()
        || needs.system
        || needs.signals
}

fn is_within(inner: &UserPath, outer: &UserPath) -> bool {
    inner.home_path().starts_with(outer.home_path()) && !outer.home.is_empty()
}

#[test]
fn each_place_is_in_exactly_one_list() {
    let mut seen = HashSet::new();
    for (list, rows) in places::lists() {
        let own: HashSet<PathBuf> =
            places_of(rows).filter(|at| !at.home.is_empty()).map(|at| at.home_path()).collect();
        for place in own {
            assert!(seen.insert(place.clone()), "{list}: {place:?} is in another list too");
        }
    }
}

#[test]
fn no_cache_is_at_above_or_below_a_home_or_a_credential() {
    for cache in places_of(places::CACHES) {
        for other in places_of(places::HOMES).chain(places_of(places::CREDENTIALS)) {
            assert!(
                !is_within(&cache, &other) && !is_within(&other, &cache),
                "{cache:?} {other:?}"
            );
        }
    }
}

/// What is run, or read as settings, below a home.
const RUN: &[&str] = &[
    ".gradle/init.d/x.gradle",
    ".gradle/wrapper/dists",
    ".gradle/native",
    ".gradle/gradle.properties",
    ".m2/wrapper",
    ".m2/settings.xml",
    ".julia/config/startup.jl",
    ".sbt/1.0/plugins",
    ".sbt/boot",
    ".local/share/uv/tools/ruff/bin/ruff",
    ".local/share/pipx/venvs/x/bin/x",
    ".cache/pypoetry/virtualenvs/x/bin/python",
    ".local/share/virtualenvs/x/bin/python",
    ".local/share/hatch/env/x/bin/python",
    ".cache/pre-commit/repo/x",
    ".pub-cache/bin/x",
    ".pub-cache/global_packages/x",
    ".dotnet/tools/x",
    ".mix/escripts/x",
    ".mix/archives/x",
    ".opam/default/bin/x",
    ".nimble/bin/x",
    ".pulumi/bin/pulumi",
    ".stack/programs/x",
    ".conda/envs/x/bin/python",
    ".gem/ruby/3.0.0/bin/x",
    ".local/share/gem/ruby/3.0.0/bin/x",
    ".npm/_npx/x",
    ".yarn/berry/index",
    ".cache/bazelisk/x",
    ".cache/bazel/x",
    ".cache/coursier/jvm/x",
    ".cache/coursier/arc/x",
    ".cargo/bin/x",
    ".cargo/config.toml",
    ".cargo/env",
    "go/bin/x",
    "go/pkg/mod/golang.org/toolchain/bin/go",
    ".rustup/toolchains/x/bin/rustc",
    ".bun/bin/bun",
    ".deno/bin/deno",
    ".cache/uv/environments-v2/x/bin/python",
    ".cache/node/corepack/x",
    ".cache/ms-playwright/x",
    ".cache/prisma/x",
    ".cache/mill/x",
    ".ccache/ccache.conf",
    ".ivy2/local/x",
    ".hex/hex.config",
    ".nuget/NuGet/NuGet.Config",
    ".nuget/plugins/x",
    ".conan2/extensions/x",
    ".android/adbkey",
    ".konan/x/bin/x",
    ".local/bin/x",
    ".local/share/pnpm/x",
    ".cache/pnpm/dlx/x",
    ".composer/vendor/bin/x",
    ".cabal/bin/x",
    ".bundle/config",
    ".config/x",
    ".cache/huggingface/token",
    ".cache/huggingface/modules/x.py",
    ".cache/torch/hub/x/hubconf.py",
    ".cache/pylint/x",
    ".swiftpm/configuration/x",
];

#[test]
fn no_cache_holds_what_is_run_or_read_as_settings() {
    for cache in places_of(places::CACHES).filter(|cache| !cache.home.is_empty()) {
        let path = cache.home_path();
        for run in RUN {
            assert!(!Path::new(run).starts_with(&path), "{path:?} holds {run}");
        }
        let names = ["bin", "plugins", "init.d", "wrapper", "envs", "tools", "config", "_npx"];
        assert!(
            !path.components().any(|part| names.iter().any(|name| part.as_os_str() == *name)),
            "{path:?}"
        );
        let own = path.ends_with(".pnpm-store");
        assert!(own || path.components().count() > 1, "{path:?} is a whole folder of the home");
    }
}

#[test]
fn a_command_gets_the_places_of_its_program_also_after_wrappers_that_keep_it() {
    for (text, place) in [
        ("git push", "~/.ssh"),
        ("git -C sub push origin main", "~/.ssh"),
        ("timeout 5 git push", "~/.ssh"),
        ("env LANG=C nice -n 5 git fetch", "~/.ssh"),
        ("aws s3 ls", "~/.aws"),
        ("kubectl get pods", "~/.kube"),
        ("gh pr list", "~/.config/gh"),
        ("docker ps", "~/.docker"),
        ("npm ci", "~/.npmrc"),
        ("cargo fetch", "~/.cargo/credentials"),
    ] {
        let judged = judged(text);
        let named = judged.launch.needs.credentials.iter().map(UserPath::display_path);
        assert!(named.clone().any(|name| name == place), "{text}: {:?}", named.collect::<Vec<_>>());
        assert!(judged.risk.effects.contains(&Effect::Secret), "{text}");
        let said = judged.risk.reasons.iter().find(|reason| reason.rule == "sandbox.credentials");
        assert!(said.unwrap().say.to_string().contains(place), "{text}");
    }
    assert!(judged("aws s3 ls").launch.needs.passes("AWS_SECRET_ACCESS_KEY"));
    assert!(!judged("git commit -m x").risk.effects.contains(&Effect::Secret));
    assert!(opens_something(&piece("git push")));
}

/// Steps that open something when they are alone.
const OPENING: &[&str] = &[
    "git push",
    "aws s3 ls",
    "kubectl get pods",
    "docker ps",
    "gh pr list",
    "npm view x",
    "rpm -q x",
    "pacman -Q",
    "ssh host",
    "gpg -d x",
    "uv tool list",
    "pkill x",
    "claude x",
];

/// Steps in which another is named without being the step.
const WRAPPED: &[&str] = &[
    "bash -c 'STEP; ./evil.sh'",
    "bash -c 'false && STEP; ./evil.sh'",
    "sh -c 'if false; then STEP; fi; ./evil.sh'",
    "bash -lc STEP",
    "bash -c STEP",
    "find . -exec STEP ;",
    "xargs STEP",
    "npx -c 'STEP; ./evil.sh'",
    "npm exec -c STEP",
    "watch STEP",
    "nohup STEP",
    "setsid STEP",
    "script -c 'STEP; ./evil.sh'",
    "parallel STEP",
    "flock x STEP",
    "env -S 'STEP; ./evil.sh'",
    "git rebase -x 'STEP' main",
    "git submodule foreach STEP",
    "busybox sh -c 'STEP'",
    "timeout 5 bash -c 'STEP; ./evil.sh'",
    "env PATH=. STEP",
    "env LD_PRELOAD=./x.so STEP",
    "hyperfine STEP",
    "entr STEP",
    "strace STEP",
    "stdbuf -oL STEP",
    "su -c STEP",
    "eval STEP",
    "command STEP x",
    "fd -x STEP",
    "time -o x bash -c STEP",
];

/// The same as lines of a shell.
const LINES: &[&str] = &[
    "STEP; ./evil.sh",
    "./evil.sh && STEP",
    "STEP | tee x",
    "STEP > x",
    "A=b STEP",
    "$(./evil.sh) && STEP",
    "STEP $(./evil.sh)",
    "if true; then STEP; fi",
    "STEP &\n./evil.sh",
];

#[test]
fn a_line_opens_nothing_to_its_commands() {
    for program in OPENING {
        for shape in WRAPPED {
            let text = shape.replace("STEP", program);
            let judged = judged(&text);
            if judged.risk.tier == Tier::L2 {
                continue;
            }
            assert!(!opens_something(&judged), "{text}: {:?}", judged.launch.needs);
        }
        for shape in LINES {
            let judged = piece(&shape.replace("STEP", program));
            assert!(!opens_something(&judged), "{shape}: {program}: {:?}", judged.launch.needs);
        }
    }
}

#[test]
fn an_argument_that_starts_a_program_or_a_program_of_the_folder_opens_nothing() {
    for text in [
        "git push --receive-pack=./evil.sh origin",
        "git push program --receive-pack=./evil.sh",
        "git fetch --upload-pack ./evil.sh x",
        "git -c core.sshCommand=./evil.sh push",
        "git -c alias.x=!./evil.sh push",
        "ssh -o ProxyCommand=./evil.sh host",
        "env GIT_SSH_COMMAND=./evil.sh git push",
        "env GIT_CONFIG_COUNT=1 git push",
        "env HOME=. git push",
        "env XDG_CONFIG_HOME=. git push",
        "env KUBECONFIG=x kubectl get pods",
        "git push --receive-pac=./evil.sh origin",
        "git fetch --upload-pac ./evil.sh x",
        "git ls-remote --exec=./evil.sh x",
        "ssh -vo ProxyCommand=./evil.sh host",
        "rsync -ae ./evil.sh a host:b",
        "scp -S ./evil.sh a host:b",
        "ssh-keygen -D ./evil.so",
        "kubectl --kubeconfig=x get pods",
        "docker --config x ps",
        "git clone -c core.sshCommand=./evil.sh ssh://host/x",
        "git clone -qccore.sshCommand=./evil.sh ssh://host/x",
        "git clone --template=./hooks https://example.com/x",
        "git --git-dir=evil.git push",
        "git --git-dir evil.git push",
        "sftp -b batch host",
        "go install -toolexec=./evil.sh ./...",
        "pip --python ./evil.sh install x",
        "cdk --app ./evil.sh synth",
        "sops exec-env x ./evil.sh",
        "gh alias set x !./evil.sh",
        "npm install --userconfig x",
        "hg push",
        "./git push",
        "/w/git push",
        "/w/bin/aws s3 ls",
        "cargo --config publish run",
        "cargo run",
        "npx evil",
        "uv run x.py",
        "npm run build",
        "npm --unknown ci run x",
        "go run .",
        "python3 x.py",
        "make",
        "node x.js",
    ] {
        let judged = judged(text);
        let needs = &judged.launch.needs;
        assert!(needs.credentials.is_empty() && !needs.system, "{text}: {needs:?}");
    }
}

#[test]
fn code_of_the_project_writes_no_cache_and_no_home() {
    for text in ["make", "bash x.sh", "./build.sh", "pytest", "just build"] {
        let needs = judged(text).launch.needs;
        let written: Vec<_> = needs.homes.iter().chain(&needs.refreshed).collect();
        assert!(written.is_empty(), "{text}: {written:?}");
        assert!(
            !needs.caches.iter().any(|at| at.home.starts_with(".npm") || at.home == ".cargo"),
            "{text}"
        );
    }
    let npm = judged("npm test").launch.needs;
    assert!(npm.caches.iter().any(|at| at.rest == "_cacache"));
    assert!(!npm.caches.iter().any(|at| at.home == ".cargo"));
}

#[test]
fn the_caches_of_a_program_are_made_in_a_fresh_home_and_no_others() {
    let made = |text: &str| -> Vec<String> {
        judged(text).launch.needs.made.iter().map(UserPath::display_path).collect()
    };
    let of_go = ["~/.cache/go-build", "~/go/pkg/mod", "~/go/pkg/sumdb"];
    for text in ["go build ./...", "go test ./...", "go vet", "go mod download"] {
        let mut found = made(text);
        found.sort_unstable();
        assert_eq!(found, of_go, "{text}");
    }
    for text in ["mvn package", "mvn -q test", "./mvnw package"] {
        assert!(made(text).contains(&"~/.m2/repository".to_owned()), "{text}: {:?}", made(text));
    }
    assert_eq!(made("git push"), [""; 0]);
}

#[test]
fn a_run_without_the_sandbox_is_a_question_of_its_own() {
    for text in ["apt install x", "rpm -i x.rpm", "pacman -S x", "timeout 5 apt-get install x"] {
        let judged = judged(text);
        assert!(judged.launch.needs.system, "{text}");
        assert!(judged.risk.is_high_risk() && !judged.risk.can_preapprove(), "{text}");
        assert!(!judged.risk.can_batch_approve(), "{text}");
    }
    // Words of a model lift nothing.
    let requires = Requires { elevated: true, ..Requires::default() };
    let step = Step { requires, ..step("make", &[]) };
    let policy = Policy {
        limits: EffectLimits { elevate: Limit::Ask, ..EffectLimits::default() },
        ..Policy::default()
    };
    let judged = assess_with(step, &policy, &place()).judgement().clone();
    assert!(!judged.launch.needs.system, "{judged:?}");
}

#[test]
fn no_rule_with_a_star_answers_what_may_use_credentials_or_runs_without_the_sandbox() {
    for (rule, text) in [
        ("git push *", "git push origin main"),
        ("git *", "git push"),
        ("aws *", "aws s3 ls"),
        ("npm ci *", "npm ci"),
        ("apt *", "apt install x"),
        ("docker *", "docker ps"),
        ("gh *", "gh pr list"),
    ] {
        let policy =
            Policy { allowed: vec![PolicyRule::parse(rule).unwrap()], ..Policy::default() };
        let words = words_of(text);
        let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        let verdict = assess_with(step(&words[0], &args), &policy, &place());
        assert!(matches!(verdict, Verdict::Ask(_)), "{rule}: {text}");
        assert_eq!(suggested_rule(&verdict), None, "{text}");
    }
}

#[test]
fn a_line_is_not_given_the_credentials_that_it_names() {
    let key = PathBuf::from("/keys/.ssh/config");
    assert!(judged("cat /keys/.ssh/config").launch.reads.contains(&key));
    for text in [
        "bash -c 'cat /keys/.ssh/config; ./evil.sh'",
        "find /keys/.ssh -exec ./evil.sh ;",
        "xargs cat /keys/.codex/auth.json",
    ] {
        let reads = judged(text).launch.reads;
        assert!(!reads.iter().any(|path| path.starts_with("/keys/.")), "{text}: {reads:?}");
    }
}

/// A machine whose repository has hooks.
struct Hooked;

impl Machine for Hooked {
    fn resolve(&self, path: &Path) -> PathBuf {
        paths::normalize(path)
    }

    fn kind(&self, path: &Path) -> PathKind {
        let hook = path.ends_with(".git/hooks/pre-push");
        if hook { PathKind::File } else { world().kind(path) }
    }

    fn program(&self, name: &str) -> Option<Program> {
        world().program(name)
    }

    fn read(&self, _: &Path, _: usize) -> Contents {
        Contents::Missing
    }
}

#[test]
fn a_step_that_may_use_credentials_names_the_hooks_that_run_beside_them() {
    let hooks_named = |line: &str, policy: &Policy| {
        let words = words_of(line);
        let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        let policy_cx = PolicyContext { policy, place: &place(), world: &Hooked };
        let verdict = assess(step(&words[0], &args), policy_cx);
        assert!(matches!(verdict, Verdict::Ask(_)), "{line}");
        let reasons = &verdict.judgement().risk.reasons;
        let named = reasons.iter().find(|reason| reason.rule == "sandbox.hooks");
        named.map(|reason| reason.say.to_string())
    };
    // No rule answers that, one without a star neither.
    let allowed = vec![PolicyRule::parse("git push").unwrap()];
    let policy = Policy { allowed, ..Policy::default() };
    for line in ["git push", "git -C sub push", "timeout 5 git push", "gh pr list"] {
        let said = hooks_named(line, &policy).unwrap_or_else(|| panic!("{line}"));
        assert!(said.contains("pre-push") && !said.contains("pre-commit"), "{said}");
    }
    assert_eq!(hooks_named("git commit -m x", &policy), None);
    // Whether they changed since the folder was trusted, as far as that is known.
    let said = |digest: Option<String>, line: &str| {
        let place = Workspace { trusted_hooks: digest, ..place() };
        let policy_cx = PolicyContext { policy: &policy, place: &place, world: &Hooked };
        let words = words_of(line);
        let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        let judged = assess(step(&words[0], &args), policy_cx).judgement().clone();
        let named = judged.risk.reasons.iter().find(|reason| reason.rule == "sandbox.hooks");
        named.expect("named").say.to_string()
    };
    let (policy_now, place_now) = (Policy::default(), place());
    let now =
        hooks_digest(PolicyContext { policy: &policy_now, place: &place_now, world: &Hooked });
    assert!(said(Some(now.clone()), "git push").contains("as they were"));
    assert!(said(Some("other".to_owned()), "git push").contains("have changed"));
    for (digest, line) in [(None, "git push"), (Some(now), "git -C sub push")] {
        let said = said(digest, line);
        assert!(!said.contains("changed") && !said.contains("as they were"), "{said}");
    }
    assert_eq!(hooks_named("aws s3 ls", &policy), None);
}

/// A machine whose repository has a remote beside it, in the workspace.
struct Near;

impl Machine for Near {
    fn resolve(&self, path: &Path) -> PathBuf {
        paths::normalize(path)
    }

    fn kind(&self, path: &Path) -> PathKind {
        let files = ["/w/.git/HEAD", "/w/.git/remotes/old", "/w/.git/branches/older"];
        let is_there = files.iter().any(|file| path == Path::new(file));
        if is_there || path.ends_with("near.git/HEAD") { PathKind::File } else { Hooked.kind(path) }
    }

    fn program(&self, name: &str) -> Option<Program> {
        world().program(name)
    }

    fn read(&self, path: &Path, _: usize) -> Contents {
        let settings =
            b"[remote \"near\"]\n\turl = near.git\n[remote \"far\"]\n\turl = git@host:x\n";
        let is_read = path.ends_with(".git/config");
        if is_read { Contents::Bytes(settings.to_vec()) } else { Contents::Missing }
    }
}

#[test]
fn a_push_to_a_repository_in_the_workspace_may_use_no_credentials() {
    let may_use = |line: &str| {
        let words = words_of(line);
        let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        let (policy, place) = (Policy::default(), place());
        let policy_cx = PolicyContext { policy: &policy, place: &place, world: &Near };
        let needs = assess(step(&words[0], &args), policy_cx).judgement().launch.needs.clone();
        assert_eq!(needs.pauses_others, !needs.credentials.is_empty(), "{line}");
        !needs.credentials.is_empty()
    };
    for line in [
        "git push near.git main",
        "git push ./near.git main",
        "git push file:///w/near.git main",
        "git push --repo=near.git",
        "git push near main",
        "git push -q near",
        "git push",
        "git push . HEAD:x",
        "git push old main",
        "git push older",
    ] {
        assert!(!may_use(line), "its hooks would run with them: {line}");
    }
    for line in ["git push far main", "git push -u far", "git push git@host:x main", "git pull"] {
        assert!(may_use(line), "{line}");
    }
}

#[test]
fn only_steps_made_for_it_change_settings_and_hooks_of_the_repository() {
    for text in
        ["git config user.name x", "git clone x", "timeout 5 git remote add x y", "npx husky"]
    {
        assert_eq!(judged(text).launch.needs.guarded, GuardedFiles::Nothing, "{text}");
    }
    for text in [
        "make",
        "npm test",
        "git commit -m x",
        "git push",
        "bash -c 'git config x y'",
        "find . -exec git config x y ;",
    ] {
        assert_eq!(judged(text).launch.needs.guarded, GuardedFiles::Followed, "{text}");
    }
}

#[test]
fn files_of_builds_are_guarded_where_a_rule_runs_builds_without_a_question() {
    let guarded = |rule: &str, line: &str| {
        let allowed = vec![PolicyRule::parse(rule).unwrap()];
        judged_under(&Policy { allowed, ..Policy::default() }, line).launch.needs.guarded
    };
    for rule in ["npm test *", "make", "git commit *", "./ci.sh"] {
        for (line, command) in [
            ("make all", "make.all"),
            ("npm install x", "npm.install"),
            ("timeout 9 cargo add x", "cargo.add"),
            ("bash -c 'npm install x'", ""),
        ] {
            let command = command.to_owned();
            let expected = GuardedFiles::FollowedAndBuilds { command };
            assert_eq!(guarded(rule, line), expected, "{rule}: {line}");
        }
        assert_eq!(guarded(rule, "git stash"), GuardedFiles::Repositories);
    }
    for rule in ["mkdir *", "file.write *"] {
        assert_eq!(guarded(rule, "make"), GuardedFiles::Followed, "{rule}");
    }
}

#[test]
fn a_tag_that_is_signed_reaches_what_signs_as_a_signed_commit_does() {
    // An agent that signs is reached by a socket.
    for line in [
        "git commit -S -m x",
        "git tag -s -m x v1",
        "git tag -sm x v1",
        "git tag -a -u me -m x v1",
        "git tag --local-user=me -m x v1",
        "git tag --sign v1 -m x",
    ] {
        assert!(judged(line).launch.needs.network, "{line}");
    }
    for line in ["git tag -a -m x v1", "git tag -m sum v1", "git tag -msum v1", "git tag -l -n5"] {
        assert!(!judged(line).launch.needs.network, "{line}");
    }
}
