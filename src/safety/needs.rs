//! Collects what an approved step needs beyond the workspace: the caches its programs fill,
//! and the credentials they were made to use.
//!
//! A row applies to the policy rules that a judgement found, so a command inside a wrapper
//! or in a shell line counts too. A cache is writable for a row that names it, and for a
//! step that runs the project's own code, which may start any of these programs.
//! Credentials are open to the row that names them, and to nothing else.

use super::Assessment;
use super::policy::{Limit, Policy};
use avocet_core::i18n::{LocalizedText, Phrase, safety as words};
use avocet_core::protocol::{Effect, Reason, Risk, SandboxDenial, SandboxStatus, StepAction, Tier};

/// A place of the user: where a variable says, else below the home folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UserPath {
    /// Empty: no variable moves it.
    pub variable: &'static str,
    /// Below the home; empty: it has no place unless the variable is set. An absolute path
    /// is used as it is.
    pub home: &'static str,
    /// Below either of them.
    pub rest: &'static str,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// Rules separated by blanks: `cargo` speaks for `cargo.test` too, `npm.ci` for
    /// itself.
    pub rules: &'static str,
    pub caches: &'static [UserPath],
    pub credentials: &'static [UserPath],
}

/// The places one step may reach beyond the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// It may write here, and they are made where they are missing.
    pub own: Vec<UserPath>,
    /// It may write here, where they are.
    pub caches: Vec<UserPath>,
    pub credentials: Vec<UserPath>,
    pub network: bool,
    /// It is made to change the system, which no wall around the workspace allows.
    pub system: bool,
}

impl Needs {
    pub fn from_risk(risk: &Risk) -> Needs {
        let rules = || risk.reasons.iter().map(|reason| reason.rule.as_str());
        let runs_code = rules().any(runs_code) && risk.effects.contains(&Effect::Exec);
        let mut needs = Needs {
            network: runs_code || risk.effects.contains(&Effect::Network),
            system: risk.effects.contains(&Effect::Elevate),
            ..Needs::default()
        };
        for row in NEEDS {
            let named = rules().any(|rule| row.applies_to(rule));
            if named {
                needs.own.extend(row.caches);
                needs.credentials.extend(row.credentials);
            } else if runs_code {
                needs.caches.extend(row.caches.iter().filter(|spot| !is_tool(spot)));
            }
        }
        for list in [&mut needs.own, &mut needs.caches, &mut needs.credentials] {
            list.sort_unstable();
            list.dedup();
        }
        needs
    }
}

/// The sentence in a question about the sandbox around the step, or that there is none.
pub fn sandbox_reasons(judged: &Assessment, policy: &Policy) -> Vec<Reason> {
    // Of steps that only read the user is asked about the shell pieces of templates.
    let reads = judged.risk.tier == Tier::L0;
    let is_piece = matches!(judged.step.work, StepAction::Shell { .. });
    if judged.program.is_none() || (reads && !is_piece) {
        return Vec::new();
    }
    let reason = |rule: &str, say: LocalizedText| Reason {
        rule: rule.into(),
        tier: Tier::L1,
        say,
        arg: None,
    };
    let none = |say: Phrase| vec![reason("sandbox.none", say.into())];
    match policy.shelter {
        SandboxStatus::Unknown => return Vec::new(),
        SandboxStatus::Off => return none(words::SANDBOX_OFF),
        SandboxStatus::Absent => return none(words::SANDBOX_MISSING),
        SandboxStatus::ReadOnly if !reads => return none(words::SANDBOX_READ),
        SandboxStatus::ReadOnly | SandboxStatus::Held => {}
    }
    let needs = Needs::from_risk(&judged.risk);
    if needs.system {
        return vec![reason("sandbox.free", words::SANDBOX_FREE.into())];
    }
    let network = needs.network && policy.network != Limit::Refuse;
    let state = if network { words::SANDBOX_NETWORK_OPEN } else { words::SANDBOX_NETWORK_CLOSED };
    let held = if reads { words::SANDBOX_PIECE } else { words::SANDBOX_WORK };
    let mut said = vec![reason("sandbox.work", held.with("network", state))];
    if network && !judged.risk.effects.contains(&Effect::Network) {
        said.push(reason("sandbox.network", words::SANDBOX_NETWORK.into()));
    }
    if !needs.credentials.is_empty() {
        let mut places: Vec<String> =
            needs.credentials.iter().map(UserPath::display_path).collect();
        places.dedup();
        let say = words::SANDBOX_CREDENTIALS.with("places", places.join(", "));
        said.push(reason("sandbox.credentials", say));
    }
    said
}

/// The risk as a question shows it: with the openings in the sandbox around the step.
pub fn with_sandbox_reasons(judged: &Assessment, policy: &Policy) -> Risk {
    let mut risk = judged.risk.clone();
    risk.reasons.extend(sandbox_reasons(judged, policy));
    risk
}

/// The risk of running a step again without the sandbox, which denied it this.
pub fn unsandboxed_risk(judged: &Assessment, denied: &SandboxDenial) -> Risk {
    let mut risk = judged.risk.clone();
    let say = words::SANDBOX_DENIED.with("what", denied.denied_actions());
    let reason = Reason { rule: SandboxDenial::RULE.to_owned(), tier: Tier::L1, say, arg: None };
    risk.reasons.insert(0, reason);
    SandboxDenial::RULE.clone_into(&mut risk.rule);
    // A piece that only reads is one more question all the same.
    risk.tier = risk.tier.max(Tier::L1);
    risk
}

impl UserPath {
    /// As the user would write it.
    fn display_path(&self) -> String {
        let home = if self.home.starts_with('/') { String::new() } else { "~/".to_owned() };
        match self.rest {
            "" => format!("{home}{}", self.home),
            rest => format!("{home}{}/{rest}", self.home),
        }
    }
}

impl Need {
    fn applies_to(&self, rule: &str) -> bool {
        self.rules.split_ascii_whitespace().any(|own| {
            rule.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
}

/// Rules that start code the user did not write, and so may reach loopback or a registry;
/// git's own hooks and rules that only write files are not among them.
fn runs_code(rule: &str) -> bool {
    let first = rule.split('.').next().unwrap_or(rule);
    !LOCAL.contains(&first)
}

/// Programs that stay within the machine, whatever they start, and rules of the judgement
/// itself.
const LOCAL: &[&str] = &[
    "git", "tar", "zip", "path", "cwd", "requires", "allowed", "folder", "shell", "sandbox",
    "limit", "find", "sed", "awk", "sort", "xargs", "env", "timeout", "nice", "time", "mkdir",
    "touch", "cp", "mv", "ln", "rm", "chmod", "tee", "patch", "unzip", "gzip", "gunzip",
];

/// Whether a later step may start what is there: not a cache, though a row may fill it.
fn is_tool(spot: &UserPath) -> bool {
    TOOLS.contains(&(spot.home, spot.rest))
}

const TOOLS: &[(&str, &str)] = &[
    (".cargo", "bin"),
    (".cargo", ".crates.toml"),
    (".cargo", ".crates2.json"),
    (".rustup", ""),
    ("go", "bin"),
    (".bun", ""),
    (".deno", ""),
    (".local/bin", ""),
];

/// Every variable that moves one of the places.
pub fn variables() -> impl Iterator<Item = &'static str> {
    let spots = NEEDS.iter().flat_map(|row| row.caches.iter().chain(row.credentials));
    spots.map(|spot| spot.variable).filter(|name| !name.is_empty())
}

const fn home(home: &'static str) -> UserPath {
    UserPath { variable: "", home, rest: "" }
}

const fn movable(variable: &'static str, home: &'static str, rest: &'static str) -> UserPath {
    UserPath { variable, home, rest }
}

const fn row(
    rules: &'static str,
    caches: &'static [UserPath],
    credentials: &'static [UserPath],
) -> Need {
    Need { rules, caches, credentials }
}

const SSH: UserPath = home(".ssh");
const NETRC: UserPath = home(".netrc");
const GIT_STORE: UserPath = home(".git-credentials");
const GIT_CONFIG: UserPath = movable("XDG_CONFIG_HOME", ".config", "git/credentials");

#[rustfmt::skip]
const NEEDS: &[Need] = &[
    // Other machines.
    row("git.push git.pull git.fetch git.clone git.ls-remote git.submodule git.remote git.lfs git.svn git-lfs", &[], &[SSH, GIT_STORE, GIT_CONFIG, NETRC, movable("GH_CONFIG_DIR", ".config/gh", "")]),
    row("ssh scp sftp rsync sshfs mosh autossh ssh-copy-id ssh-keyscan ssh-add ssh-keygen hg svn ansible ansible-playbook", &[], &[SSH]),
    row("curl.credentials wget http https httpie ftp lftp", &[], &[NETRC]),
    row("gh", &[home(".cache/gh"), home(".local/state/gh")], &[movable("GH_CONFIG_DIR", ".config/gh", ""), SSH]),
    row("glab", &[], &[home(".config/glab-cli")]),
    row("hub", &[], &[home(".config/hub")]),
    row("rclone", &[home(".cache/rclone")], &[home(".config/rclone")]),

    // Containers and clouds.
    row("docker podman nerdctl buildah docker-compose podman-compose skopeo", &[movable("DOCKER_CONFIG", ".docker", "buildx"), home(".local/share/containers")],
        &[movable("DOCKER_CONFIG", ".docker", ""), home("/run/docker.sock"), home("/var/run/docker.sock")]),
    row("kubectl oc helm k9s kustomize kind minikube k3d argocd flux istioctl velero skaffold tilt stern kubectx kubens", &[home(".kube/cache"), home(".cache/helm"), home(".minikube")], &[movable("KUBECONFIG", ".kube/config", ""), home(".kube")]),
    row("aws eksctl sam cdk s3cmd s5cmd", &[home(".aws/cli"), home(".aws/sso")], &[home(".aws"), home(".s3cfg"), home(".boto")]),
    row("gcloud gsutil bq firebase", &[movable("CLOUDSDK_CONFIG", ".config/gcloud", "")], &[movable("CLOUDSDK_CONFIG", ".config/gcloud", ""), home(".boto")]),
    row("az azcopy", &[movable("AZURE_CONFIG_DIR", ".azure", "")], &[movable("AZURE_CONFIG_DIR", ".azure", "")]),
    row("terraform tofu terragrunt packer pulumi", &[home(".terraform.d/plugin-cache"), home(".pulumi")], &[home(".terraform.d"), home(".terraformrc"), home(".aws"), home(".azure"), home(".config/gcloud")]),
    row("doctl", &[], &[home(".config/doctl")]),
    row("heroku", &[], &[home(".config/heroku"), NETRC]),
    row("vault", &[], &[home(".vault-token")]),

    // Package managers and the programs they build.
    row("cargo cross rustc rustfmt rustdoc", &[movable("CARGO_HOME", ".cargo", "registry"), movable("CARGO_HOME", ".cargo", "git"), movable("CARGO_HOME", ".cargo", ".package-cache"), movable("CARGO_HOME", ".cargo", ".package-cache-mutate"), movable("CARGO_HOME", ".cargo", ".global-cache"), movable("CARGO_TARGET_DIR", "", "")], &[]),
    row("cargo.add cargo.update cargo.fetch cargo.vendor cargo.generate-lockfile cargo.publish", &[], &[movable("CARGO_HOME", ".cargo", "credentials"), movable("CARGO_HOME", ".cargo", "credentials.toml"), GIT_STORE]),
    row("cargo.install cargo.uninstall", &[movable("CARGO_HOME", ".cargo", "bin"), movable("CARGO_HOME", ".cargo", ".crates.toml"), movable("CARGO_HOME", ".cargo", ".crates2.json")], &[movable("CARGO_HOME", ".cargo", "credentials"), movable("CARGO_HOME", ".cargo", "credentials.toml")]),
    row("rustup", &[movable("RUSTUP_HOME", ".rustup", ""), movable("CARGO_HOME", ".cargo", "bin")], &[]),
    row("npm npx node nodejs tsc eslint prettier jest vitest playwright cypress webpack vite next turbo nx", &[movable("NPM_CONFIG_CACHE", ".npm", ""), movable("npm_config_cache", ".npm", ""), home(".node-gyp"), home(".cache/node-gyp"), home(".cache/node"), home(".cache/ms-playwright"), home(".cache/Cypress"), home(".cache/prisma"), home(".cache/turbo"), home(".cache/esbuild")], &[]),
    row("pnpm pnpx", &[home(".local/share/pnpm/store"), home(".cache/pnpm"), home(".local/state/pnpm"), home(".pnpm-store")], &[]),
    row("yarn", &[movable("YARN_CACHE_FOLDER", ".cache/yarn", ""), home(".yarn/berry")], &[]),
    row("npm.install npm.i npm.ci npm.add npm.update npm.up npm.upgrade npm.dedupe npm.publish npm.view npm.info npm.outdated npm.audit pnpm.install pnpm.i pnpm.add pnpm.update pnpm.up pnpm.outdated yarn.install yarn.add yarn.up yarn.upgrade yarn.outdated npx pnpx", &[], &[movable("NPM_CONFIG_USERCONFIG", ".npmrc", ""), home(".yarnrc.yml")]),
    row("bun bunx", &[home(".bun/install/cache"), home(".cache/bun")], &[]),
    row("bun.install bun.add", &[], &[home(".npmrc")]),
    row("deno", &[movable("DENO_DIR", ".cache/deno", "")], &[]),
    row("pip pip2 pip3 python python3 pytest tox nox pre-commit mypy ruff black", &[movable("PIP_CACHE_DIR", ".cache/pip", ""), home(".cache/pre-commit"), home(".cache/matplotlib"), home(".cache/huggingface"), home(".cache/torch"), home(".cache/pylint"), home(".local/share/virtualenv")], &[]),
    row("pip pip2 pip3", &[], &[NETRC]),
    row("twine flit", &[], &[home(".pypirc")]),
    row("uv uvx", &[movable("UV_CACHE_DIR", ".cache/uv", ""), home(".local/share/uv")], &[NETRC]),
    row("poetry", &[movable("POETRY_CACHE_DIR", ".cache/pypoetry", "")], &[home(".config/pypoetry"), home(".pypirc")]),
    row("pdm hatch rye pipenv pipx", &[home(".cache/pdm"), home(".cache/hatch"), home(".local/share/hatch"), home(".cache/pipenv"), home(".local/share/virtualenvs"), home(".cache/pipx"), home(".local/share/pipx")], &[home(".pypirc")]),
    row("conda mamba micromamba", &[home(".conda"), home(".cache/conda")], &[]),
    row("go gofmt golangci-lint gopls staticcheck", &[movable("GOMODCACHE", "go/pkg", ""), movable("GOPATH", "go", "pkg"), movable("GOCACHE", ".cache/go-build", ""), home(".cache/golangci-lint"), home(".cache/gopls"), home(".cache/staticcheck"), home(".config/go/telemetry")], &[]),
    row("go.install", &[movable("GOPATH", "go", "bin")], &[]),
    row("go.get go.mod go.install", &[], &[NETRC, GIT_STORE]),
    row("gradle gradlew mvn mvnw kotlinc", &[movable("GRADLE_USER_HOME", ".gradle", ""), home(".m2/repository"), home(".m2/wrapper"), home(".konan"), home(".android")], &[]),
    row("sbt mill lein scala", &[home(".ivy2"), home(".sbt"), home(".cache/coursier"), home(".cache/mill"), home(".m2/repository")], &[]),
    row("gem bundle bundler rails rspec", &[home(".bundle/cache"), home(".local/share/gem"), home(".cache/bundler"), home(".gem/ruby")], &[]),
    row("gem bundle bundler", &[], &[home(".gem/credentials")]),
    row("composer", &[movable("COMPOSER_CACHE_DIR", ".cache/composer", ""), home(".composer/cache")], &[home(".composer/auth.json"), home(".config/composer/auth.json")]),
    row("cabal stack ghc ghci", &[home(".cabal/packages"), home(".cabal/store"), home(".cache/cabal"), home(".local/state/cabal"), movable("STACK_ROOT", ".stack", "")], &[]),
    row("dotnet nuget paket msbuild", &[home(".nuget/packages"), home(".local/share/NuGet"), home(".dotnet"), home(".templateengine"), home(".cache/NuGet")], &[]),
    row("mix iex elixir rebar3", &[movable("MIX_HOME", ".mix", ""), movable("HEX_HOME", ".hex", ""), home(".cache/rebar3")], &[]),
    row("dart flutter pub", &[movable("PUB_CACHE", ".pub-cache", ""), home(".dart-tool")], &[]),
    row("swift xcodebuild pod", &[home(".swiftpm"), home(".cache/org.swift.swiftpm"), home(".cocoapods"), home("Library/Caches"), home("Library/Developer/Xcode/DerivedData")], &[]),
    row("zig", &[home(".cache/zig")], &[]),
    row("julia", &[movable("JULIA_DEPOT_PATH", ".julia", "")], &[]),
    row("opam dune ocaml", &[home(".opam"), home(".cache/dune")], &[]),
    row("nimble nim", &[home(".nimble"), home(".cache/nim")], &[]),
    row("conan vcpkg cmake", &[home(".conan"), home(".conan2"), home(".cache/vcpkg")], &[]),
    row("bazel bazelisk", &[home(".cache/bazel"), home(".cache/bazelisk")], &[]),
    row("ccache gcc g++ cc c++ clang clang++ make ninja", &[movable("CCACHE_DIR", ".cache/ccache", ""), home(".ccache")], &[]),
    row("sccache", &[movable("SCCACHE_DIR", ".cache/sccache", "")], &[]),

    // Keys, databases and other agents.
    row("gpg gpg2 gpgsm pass git-crypt sops", &[], &[movable("GNUPGHOME", ".gnupg", ""), home(".password-store")]),
    row("psql pg_dump pg_restore pgcli createdb dropdb", &[], &[movable("PGPASSFILE", ".pgpass", "")]),
    row("mysql mariadb mysqldump mycli", &[], &[home(".my.cnf")]),
    row("op", &[], &[home(".config/op")]),
    row("claude", &[home(".claude")], &[home(".claude"), home(".claude.json")]),
    row("codex", &[home(".codex")], &[home(".codex")]),
    row("gemini", &[home(".gemini")], &[home(".gemini")]),
    row("slothtool plugin", &[home(".slothtool")], &[home(".slothtool")]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::safety as words;
    use avocet_core::protocol::{Reason, Tier};

    fn needs(rules: &[&str], effects: &[Effect]) -> Needs {
        let reasons = rules.iter().map(|rule| Reason {
            rule: (*rule).to_owned(),
            tier: Tier::L1,
            say: words::RUNS_PROJECT.into(),
            arg: None,
        });
        Needs::from_risk(&Risk {
            tier: Tier::L1,
            rule: rules.first().copied().unwrap_or_default().to_owned(),
            reasons: reasons.collect(),
            effects: effects.to_vec(),
            lifted: false,
        })
    }

    fn holds(spots: &[UserPath], home: &str) -> bool {
        spots.iter().any(|spot| spot.home == home)
    }

    #[test]
    fn a_row_opens_its_own_credentials_and_no_others() {
        let push = needs(&["git.push"], &[Effect::Network]);
        assert!(holds(&push.credentials, ".ssh") && !holds(&push.credentials, ".aws"));
        let commit = needs(&["git.commit"], &[Effect::Write, Effect::Exec]);
        assert!(commit.credentials.is_empty() && !commit.network, "{commit:?}");
        let build = needs(&["cargo.build"], &[Effect::Exec, Effect::Write]);
        assert!(build.credentials.is_empty() && build.network, "{build:?}");
        assert!(!needs(&["docker"], &[Effect::Network]).credentials.is_empty());
    }

    #[test]
    fn code_of_the_project_may_fill_caches_and_put_no_program_anywhere() {
        let make = needs(&["make"], &[Effect::Exec, Effect::Write]);
        assert!(holds(&make.caches, ".npm") && holds(&make.caches, ".m2/repository"));
        let bin = |spot: &UserPath| is_tool(spot);
        assert!(!make.caches.iter().any(bin) && !make.own.iter().any(bin));
        assert!(needs(&["cargo.install"], &[Effect::Exec]).own.iter().any(bin));
        let mkdir = needs(&["mkdir"], &[Effect::Write]);
        assert_eq!(mkdir, Needs::default());
    }

    #[test]
    fn commands_that_change_the_system_are_known() {
        assert!(needs(&["apt"], &[Effect::Elevate, Effect::Network]).system);
        assert!(!needs(&["npm.ci"], &[Effect::Network, Effect::Exec]).system);
    }
}
