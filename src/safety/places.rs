//! The places of a user's home and system that a step may reach beyond the workspace: four
//! lists, each place in exactly one of them. What is in none is closed, for reading too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A place of the user: where a variable says, else below the home folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UserPath {
    /// Empty: no variable moves it.
    pub variable: &'static str,
    /// Below the home; empty: it has no place unless the variable is set. An absolute path
    /// is used as it is.
    pub home: &'static str,
    /// Below either of them.
    pub rest: &'static str,
}

impl UserPath {
    /// Below the home, wherever a variable moves it.
    pub fn home_path(&self) -> PathBuf {
        Path::new(self.home).join(self.rest)
    }

    /// Whether a path below the home is in it.
    pub fn holds(&self, below_home: &Path) -> bool {
        let inner = below_home.strip_prefix(self.home);
        !self.home.is_empty() && inner.is_ok_and(|inner| inner.starts_with(self.rest))
    }

    /// Where it is on this machine; `None`: nowhere.
    pub fn resolve(&self, home: &Path, moved: &BTreeMap<String, PathBuf>) -> Option<PathBuf> {
        let moved = moved.get(self.variable).cloned();
        let base = moved.or_else(|| (!self.home.is_empty()).then(|| home.join(self.home)))?;
        Some(if self.rest.is_empty() { base } else { base.join(self.rest) })
    }

    /// As the user would write it.
    pub fn display_path(&self) -> String {
        let path = self.home_path();
        let path = path.to_string_lossy();
        let path = path.trim_end_matches('/');
        if path.starts_with('/') { path.to_owned() } else { format!("~/{path}") }
    }
}

/// Places, and the programs they are opened to.
#[derive(Clone, Copy, Debug)]
pub struct PlaceRow {
    /// Programs and sub-commands separated by blanks: `cargo` speaks for `cargo.test` too,
    /// `npm.ci` for itself.
    pub rules: &'static str,
    pub places: &'static [UserPath],
}

impl PlaceRow {
    pub fn applies_to(&self, rule: &str) -> bool {
        is_named(self.rules, rule)
    }
}

/// Whether a list of rules names one, or a part above it.
pub fn is_named(rules: &str, rule: &str) -> bool {
    rules.split_ascii_whitespace().any(|own| {
        rule.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

const fn home(home: &'static str) -> UserPath {
    UserPath { variable: "", home, rest: "" }
}

const fn movable(variable: &'static str, home: &'static str, rest: &'static str) -> UserPath {
    UserPath { variable, home, rest }
}

const fn row(rules: &'static str, paths: &'static [UserPath]) -> PlaceRow {
    PlaceRow { rules, places: paths }
}

/// The trees of the system that every step may read.
#[rustfmt::skip]
pub const SYSTEM: &[&str] = &[
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu/store", "/snap",
    "/run/current-system", "/run/opengl-driver", "/home/linuxbrew", "/proc", "/sys",
    "/var/cache/man", "/var/cache/fontconfig", "/var/cache/ldconfig", "/var/lib/dpkg",
    "/var/lib/apt/lists", "/var/lib/apt/extended_states", "/var/cache/apt/pkgcache.bin",
    "/var/cache/apt/srcpkgcache.bin", "/var/lib/rpm", "/var/lib/pacman", "/var/lib/apk",
    "/var/lib/texmf", "/var/lib/ghc", "/var/lib/gems", "/var/lib/dbus/machine-id",
    "/var/lib/command-not-found", "/var/lib/ca-certificates", "/run/systemd/resolve", "/run/resolvconf",
    "/run/NetworkManager/resolv.conf", "/run/nscd", "/run/utmp", "/var/log/wtmp", "/var/log/lastlog",
];

/// Those of them whose files anybody may read: libraries with their sources, documentation. The
/// folders of programs are not among them.
#[rustfmt::skip]
pub const LIBRARIES: &[&str] = &[
    "/usr/include", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/share", "/usr/src",
    "/usr/local/include", "/usr/local/lib", "/usr/local/lib64", "/usr/local/share", "/usr/local/src", "/usr/local/go/src",
    "/lib", "/lib32", "/lib64", "/nix/store",
];

/// Folders full of programs. A step that runs by itself does not read those it may not start, or the
/// loader would start them for it; of these it reads only the file that it names.
#[rustfmt::skip]
pub const PROGRAMS: &[&str] = &[
    "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/games", "/bin", "/sbin",
];

/// Folders whose names are harmless.
#[rustfmt::skip]
pub const LISTED: &[&str] = &[
    "/", "/tmp", "/private/tmp", "/var/tmp", "/private/var/tmp", "/opt", "/etc", "/var", "/var/log", "/var/lib", "/srv", "/mnt", "/media", "/sys", "/usr", "/usr/bin", "/usr/sbin", "/usr/local",
    "/usr/local/bin", "/usr/local/sbin", "/bin", "/sbin",
];

/// Toolchains and settings that every step may read. A row that names programs is written by
/// these, where the step is one of them.
#[rustfmt::skip]
pub const BASE: &[PlaceRow] = &[
    row("", &[home(".gitconfig"), movable("XDG_CONFIG_HOME", ".config", "git/config"), movable("XDG_CONFIG_HOME", ".config", "git/ignore"), movable("XDG_CONFIG_HOME", ".config", "git/attributes"),
        home(".gitignore"), home(".gitignore_global"), home(".gitattributes"), home(".mailmap"), home(".ignore"),
        home(".tool-versions"), home(".asdfrc"), home(".node-version"), home(".nvmrc"), home(".python-version"), home(".ruby-version"), home(".java-version"), home(".go-version"), home(".sdkmanrc"), home(".inputrc"), home(".terminfo"),
        home(".shellcheckrc"), movable("XDG_CONFIG_HOME", ".config", "shellcheckrc")]),
    row("", &[movable("CARGO_HOME", ".cargo", "config"), movable("CARGO_HOME", ".cargo", "config.toml"), movable("CARGO_HOME", ".cargo", "env")]),
    row("cargo.install cargo.uninstall rustup", &[movable("CARGO_HOME", ".cargo", "bin"), movable("CARGO_HOME", ".cargo", ".crates.toml"), movable("CARGO_HOME", ".cargo", ".crates2.json")]),
    row("rustup", &[movable("RUSTUP_HOME", ".rustup", "")]),
    row("nvm fnm volta", &[movable("NVM_DIR", ".nvm", ""), movable("FNM_DIR", ".local/share/fnm", ""), movable("VOLTA_HOME", ".volta", ""), movable("N_PREFIX", "", "")]),
    row("perlbrew cpanm", &[movable("PERLBREW_ROOT", "", ""), home("perl5")]),
    row("pixi", &[movable("PIXI_HOME", ".pixi", "bin"), movable("PIXI_HOME", ".pixi", "envs")]),
    row("pyenv", &[movable("PYENV_ROOT", ".pyenv", "")]),
    row("rbenv", &[movable("RBENV_ROOT", ".rbenv", "")]),
    row("nodenv", &[movable("NODENV_ROOT", ".nodenv", "")]),
    row("goenv", &[movable("GOENV_ROOT", ".goenv", "")]),
    row("asdf mise rtx", &[movable("ASDF_DATA_DIR", ".asdf", ""), movable("MISE_DATA_DIR", ".local/share/mise", ""), home(".local/share/rtx")]),
    row("", &[movable("PLENV_ROOT", ".plenv", ""), movable("PHPENV_ROOT", ".phpenv", ""), movable("JENV_ROOT", ".jenv", ""), movable("TFENV_ROOT", ".tfenv", ""),
        movable("PROTO_HOME", ".proto", ""), movable("SDKMAN_DIR", ".sdkman", ""), movable("JABBA_HOME", ".jabba", ""), movable("JAVA_HOME", "", ""), movable("JDK_HOME", "", ""), home(".jdks"),
        movable("GOROOT", "", ""), home(".local/bin"), home(".local/lib"), home(".local/include"), home(".local/share/man"), movable("VIRTUAL_ENV", "", ""), movable("CONDA_PREFIX", "", ""), movable("CONDA_ROOT", "", ""),
        home(".rvm"), home(".ghcup"), home(".juliaup"), home(".elan"), home(".foundry"), home(".swiftly"), home(".wasmtime"), home(".zvm"), home(".nix-profile"), home(".npm-global"), home("go/src")]),
    row("go golangci-lint gopls", &[movable("GOMODCACHE", "go/pkg/mod", "")]),
    row("go golangci-lint gopls", &[movable("GOPATH", "go", "pkg/sumdb")]),
    row("go.install", &[movable("GOPATH", "go", "bin")]),
    row("go.env", &[movable("XDG_CONFIG_HOME", ".config", "go")]),
    row("pipx", &[home(".local/share/pipx"), home(".local/pipx")]),
    row("uv.python uv.venv uv.sync", &[home(".local/share/uv/python")]),
    row("uv.tool", &[home(".local/share/uv/tools")]),
    row("poetry", &[movable("POETRY_CACHE_DIR", ".cache/pypoetry", "virtualenvs")]),
    row("pipenv", &[home(".local/share/virtualenvs")]),
    row("hatch", &[home(".local/share/hatch/env")]),
    row("conda mamba micromamba", &[home(".conda/envs"), home(".conda/pkgs"), home("miniconda3"), home("anaconda3"), home("miniforge3"), home("mambaforge"), movable("MAMBA_ROOT_PREFIX", "micromamba", "")]),
    row("julia", &[home(".julia/config"), home(".julia/environments"), home(".julia/bin"), home(".julia/registries"), home(".julia/juliaup")]),
    row("opam", &[movable("OPAMROOT", ".opam", "")]),
    row("stack", &[movable("STACK_ROOT", ".stack", "programs"), movable("STACK_ROOT", ".stack", "snapshots")]),
    row("cabal", &[home(".cabal/store"), home(".cabal/bin"), home(".local/state/cabal/store")]),
    row("gem bundle bundler", &[movable("GEM_HOME", ".local/share/gem", ""), home(".gem/ruby")]),
    row("dotnet", &[movable("DOTNET_ROOT", ".dotnet", "")]),
    row("bun.upgrade", &[movable("BUN_INSTALL", ".bun", "bin")]),
    row("deno.install deno.upgrade", &[movable("DENO_INSTALL", ".deno", "")]),
    row("pnpm.setup pnpm.env", &[movable("PNPM_HOME", ".local/share/pnpm", "")]),
    row("corepack", &[home(".cache/node")]),
    row("playwright npx.playwright", &[home(".cache/ms-playwright"), home("Library/Caches/ms-playwright")]),
    row("cypress npx.cypress", &[home(".cache/Cypress"), home("Library/Caches/Cypress")]),
    row("prisma npx.prisma", &[home(".cache/prisma")]),
    row("mix", &[movable("MIX_HOME", ".mix", "")]),
    row("dart.pub flutter.pub", &[movable("PUB_CACHE", ".pub-cache", "bin"), movable("PUB_CACHE", ".pub-cache", "global_packages")]),
    row("nimble", &[home(".nimble")]),
    row("bazel bazelisk", &[home(".cache/bazel"), home(".cache/bazelisk")]),
    row("gradle", &[home(".konan")]),
];

/// Folders that hold only what is found again by content or version, and nothing that runs
/// by itself. A step whose row names one writes there, and makes the first of them where it
/// is missing; every step that runs code reads them.
#[rustfmt::skip]
pub const CACHES: &[PlaceRow] = &[
    row("cargo cross rustc rustfmt rustdoc", &[movable("CARGO_HOME", ".cargo", "registry"), movable("CARGO_HOME", ".cargo", "git"), movable("CARGO_HOME", ".cargo", ".package-cache"), movable("CARGO_HOME", ".cargo", ".package-cache-mutate"), movable("CARGO_HOME", ".cargo", ".global-cache"), movable("CARGO_TARGET_DIR", "", "")]),
    row("npm npx node nodejs", &[movable("NPM_CONFIG_CACHE", ".npm", "_cacache"), movable("npm_config_cache", ".npm", "_logs"), movable("npm_config_cache", ".npm", "_update-notifier-last-checked"), home(".cache/node-gyp"), home("Library/Caches/node-gyp")]),
    row("pnpm pnpx", &[home(".local/share/pnpm/store"), home(".pnpm-store"), home("Library/pnpm/store")]),
    row("yarn", &[movable("YARN_CACHE_FOLDER", ".cache/yarn", ""), home(".yarn/berry/cache"), home("Library/Caches/Yarn")]),
    row("turbo npx.turbo", &[home(".cache/turbo")]),
    row("bun bunx", &[home(".bun/install/cache")]),
    row("deno", &[movable("DENO_DIR", ".cache/deno", "deps"), movable("DENO_DIR", ".cache/deno", "gen"), movable("DENO_DIR", ".cache/deno", "npm"), movable("DENO_DIR", ".cache/deno", "remote")]),
    row("pip pip2 pip3 python python3", &[movable("PIP_CACHE_DIR", ".cache/pip", ""), home("Library/Caches/pip")]),
    row("python python3 pytest jupyter ipython", &[home(".cache/matplotlib"), home(".cache/huggingface/hub"), home(".cache/huggingface/datasets"), home(".cache/torch/hub/checkpoints")]),
    row("poetry", &[movable("POETRY_CACHE_DIR", ".cache/pypoetry", "cache"), movable("POETRY_CACHE_DIR", ".cache/pypoetry", "artifacts")]),
    row("pdm hatch pipenv", &[home(".cache/pdm"), home(".cache/hatch"), home(".cache/pipenv")]),
    row("go gofmt golangci-lint gopls staticcheck", &[movable("GOCACHE", ".cache/go-build", ""), home("Library/Caches/go-build"), home(".cache/golangci-lint"), home(".cache/staticcheck")]),
    // It does not start without one of its own.
    row("gopls", &[home(".cache/gopls"), home("Library/Caches/gopls")]),
    row("mvn mvnw gradle gradlew sbt mill lein scala kotlinc", &[home(".m2/repository")]),
    row("gradle gradlew kotlinc", &[movable("GRADLE_USER_HOME", ".gradle", "caches"), home(".android/build-cache")]),
    row("sbt mill lein scala", &[home(".ivy2/cache"), home(".cache/coursier/v1")]),
    row("gem bundle bundler rails rspec", &[home(".bundle/cache"), home(".cache/bundler")]),
    row("composer", &[movable("COMPOSER_CACHE_DIR", ".cache/composer", ""), home(".composer/cache")]),
    row("cabal ghc ghci", &[home(".cabal/packages"), home(".cache/cabal")]),
    row("dotnet nuget paket msbuild", &[home(".nuget/packages"), home(".local/share/NuGet/v3-cache"), home(".local/share/NuGet/http-cache")]),
    row("mix iex elixir rebar3", &[movable("HEX_HOME", ".hex", "packages"), home(".cache/rebar3/hex")]),
    row("dart flutter pub", &[movable("PUB_CACHE", ".pub-cache", "hosted"), movable("PUB_CACHE", ".pub-cache", "hosted-hashes"), movable("PUB_CACHE", ".pub-cache", "git"), movable("PUB_CACHE", ".pub-cache", "_temp")]),
    row("swift xcodebuild", &[home(".cache/org.swift.swiftpm"), home(".swiftpm/cache"), home("Library/Caches/org.swift.swiftpm"), home("Library/Developer/Xcode/DerivedData")]),
    row("pod", &[home(".cocoapods/repos"), home("Library/Caches/CocoaPods")]),
    row("zig", &[home(".cache/zig")]),
    row("julia", &[home(".julia/packages"), home(".julia/artifacts"), home(".julia/compiled")]),
    row("dune ocaml", &[home(".cache/dune")]),
    row("nim nimble", &[home(".cache/nim")]),
    row("conan vcpkg cmake", &[home(".conan2/p"), home(".conan/data"), home(".cache/vcpkg/archives"), home(".cache/vcpkg/registries")]),
    row("ccache gcc g++ cc c++ clang clang++ make ninja cmake", &[home(".cache/ccache")]),
    row("sccache", &[movable("SCCACHE_DIR", ".cache/sccache", "")]),
    row("helm", &[home(".cache/helm/repository")]),
    row("rclone", &[home(".cache/rclone")]),
];

/// Settings, state and installed tools: open for reading and writing to the program itself,
/// started directly.
#[rustfmt::skip]
pub const HOMES: &[PlaceRow] = &[
    row("npx npm.exec npm.x", &[movable("NPM_CONFIG_CACHE", ".npm", "_npx")]),
    row("pnpm pnpx", &[home(".cache/pnpm"), home(".local/state/pnpm"), home(".config/pnpm")]),
    row("uv uvx", &[movable("UV_CACHE_DIR", ".cache/uv", ""), home(".config/uv")]),
    row("pip pip3", &[home(".pip"), home(".config/pip")]),
    row("pre-commit", &[home(".cache/pre-commit")]),
    row("virtualenv", &[home(".local/share/virtualenv")]),
    row("pdm rye", &[home(".config/pdm"), home(".rye")]),
    row("conda mamba micromamba", &[home(".condarc"), home(".cache/conda"), home(".conda/environments.txt")]),
    row("gradle", &[movable("GRADLE_USER_HOME", ".gradle", "native"), movable("GRADLE_USER_HOME", ".gradle", "daemon"), movable("GRADLE_USER_HOME", ".gradle", "wrapper"), movable("GRADLE_USER_HOME", ".gradle", "jdks"), movable("GRADLE_USER_HOME", ".gradle", "notifications"), movable("GRADLE_USER_HOME", ".gradle", ".tmp")]),
    row("mvn", &[home(".m2/wrapper")]),
    row("sbt", &[home(".sbt/boot"), home(".sbt/1.0"), home(".sbt/repositories"), home(".ivy2/local")]),
    row("mill", &[home(".cache/mill")]),
    row("lein", &[home(".lein")]),
    row("stack", &[movable("STACK_ROOT", ".stack", "config.yaml"), movable("STACK_ROOT", ".stack", "pantry"), movable("STACK_ROOT", ".stack", "stack.sqlite3"), movable("STACK_ROOT", ".stack", "global-project"), movable("STACK_ROOT", ".stack", "setup-exe-cache"), movable("STACK_ROOT", ".stack", "setup-exe-src")]),
    row("cabal", &[home(".cabal/config"), home(".config/cabal")]),
    row("dotnet", &[home(".templateengine")]),
    row("dart flutter", &[home(".dart-tool"), home(".config/flutter")]),
    row("conan", &[home(".conan2/profiles"), home(".conan2/global.conf"), home(".conan2/settings.yml"), home(".conan2/remotes.json"), home(".conan2/extensions")]),
    row("ccache", &[home(".ccache"), home(".config/ccache")]),
    row("gh", &[home(".cache/gh"), home(".local/state/gh"), home(".local/share/gh")]),
    row("podman buildah skopeo", &[home(".local/share/containers")]),
    row("helm", &[home(".config/helm/repositories.yaml"), home(".local/share/helm")]),
    row("nvim vim vi", &[home(".vim"), home(".vimrc"), home(".config/nvim"), home(".local/share/nvim"), home(".local/state/nvim")]),
    row("tmux", &[home(".tmux.conf"), home(".config/tmux")]),
];

/// Keys, tokens, cookies and histories. Open to the programs of a row for reading, where the
/// step is one of them and may use credentials; a row without programs is open to none.
#[rustfmt::skip]
pub const CREDENTIALS: &[PlaceRow] = &[
    // Other machines.
    row("git.push git.pull git.fetch git.clone git.ls-remote git.submodule git.remote git.lfs git.svn git-lfs ssh scp sftp rsync sshfs mosh autossh ssh-copy-id ssh-keyscan ssh-add ssh-keygen ansible ansible-playbook gh git-signs.ssh", &[home(".ssh")]),
    row("git.push git.pull git.fetch git.clone git.ls-remote git.submodule git.remote git.lfs git-lfs cargo.add cargo.update cargo.fetch go.get go.mod go.install", &[home(".git-credentials"), movable("XDG_CONFIG_HOME", ".config", "git/credentials")]),
    row("git.push git.pull git.fetch git.clone git.ls-remote git.submodule git.remote git.lfs git-lfs curl wget http https httpie ftp lftp pip pip2 pip3 uv.sync uv.add uv.lock uv.pip uv.publish heroku go.get go.mod go.install", &[home(".netrc"), home("_netrc")]),
    row("git.push git.pull git.fetch git.clone git.ls-remote git.submodule git.lfs gh", &[movable("GH_CONFIG_DIR", ".config/gh", "")]),
    row("glab", &[home(".config/glab-cli")]),
    row("hub", &[home(".config/hub")]),
    row("rclone", &[home(".config/rclone")]),
    row("restic borg", &[home(".config/restic"), home(".config/borg"), home(".restic")]),

    // Containers and clouds.
    row("docker podman nerdctl buildah docker-compose podman-compose skopeo", &[movable("DOCKER_CONFIG", ".docker", ""), home(".config/containers"), home("/run/docker.sock"), home("/var/run/docker.sock")]),
    row("kubectl oc helm k9s kustomize kind minikube k3d argocd flux istioctl velero skaffold tilt stern kubectx kubens", &[movable("KUBECONFIG", ".kube/config", ""), home(".kube")]),
    row("minikube", &[home(".minikube")]),
    row("argocd", &[home(".config/argocd")]),
    row("helm", &[home(".config/helm/registry")]),
    row("aws eksctl sam cdk s3cmd s5cmd terraform tofu terragrunt packer", &[home(".aws")]),
    row("s3cmd s5cmd gsutil", &[home(".s3cfg"), home(".boto")]),
    row("gcloud gsutil bq firebase terraform tofu terragrunt packer", &[movable("CLOUDSDK_CONFIG", ".config/gcloud", ""), home(".gsutil")]),
    row("firebase", &[home(".config/configstore/firebase-tools.json")]),
    row("az azcopy terraform tofu terragrunt packer", &[movable("AZURE_CONFIG_DIR", ".azure", "")]),
    row("terraform tofu terragrunt packer", &[home(".terraform.d"), home(".terraformrc")]),
    row("pulumi", &[home(".pulumi")]),
    row("doctl", &[home(".config/doctl")]),
    row("heroku", &[home(".config/heroku")]),
    row("vault", &[home(".vault-token"), home(".vault")]),
    row("fly flyctl", &[home(".fly")]),
    row("vercel", &[home(".config/vercel"), home(".vercel"), home(".local/share/com.vercel.cli")]),
    row("netlify", &[home(".netlify"), home(".config/netlify")]),
    row("wrangler", &[home(".wrangler"), home(".config/.wrangler")]),
    row("ngrok cloudflared", &[home(".ngrok2"), home(".config/ngrok"), home(".cloudflared")]),
    row("oci", &[home(".oci")]),
    row("hcloud", &[home(".config/hcloud")]),
    row("scw", &[home(".config/scw")]),
    row("stripe", &[home(".config/stripe")]),
    row("databricks", &[home(".databrickscfg"), home(".databricks")]),
    row("snowsql snow", &[home(".snowsql"), home(".snowflake"), home(".config/snowflake")]),
    row("kaggle", &[home(".kaggle"), home(".config/kaggle")]),
    row("huggingface-cli hf", &[home(".cache/huggingface/token"), home(".cache/huggingface/stored_tokens"), home(".huggingface")]),

    // Package managers.
    row("cargo.add cargo.update cargo.fetch cargo.vendor cargo.generate-lockfile cargo.publish cargo.owner cargo.yank cargo.login", &[movable("CARGO_HOME", ".cargo", "credentials"), movable("CARGO_HOME", ".cargo", "credentials.toml")]),
    row("npm.install npm.i npm.ci npm.add npm.update npm.up npm.upgrade npm.dedupe npm.publish npm.view npm.info npm.outdated npm.audit pnpm.install pnpm.i pnpm.add pnpm.update pnpm.up pnpm.outdated pnpm.publish yarn.install yarn.add yarn.up yarn.upgrade yarn.outdated bun.install bun.add", &[movable("NPM_CONFIG_USERCONFIG", ".npmrc", "")]),
    row("yarn.install yarn.add yarn.up yarn.upgrade yarn.outdated", &[home(".yarnrc.yml"), home(".yarnrc")]),
    row("twine flit poetry pdm hatch rye", &[home(".pypirc"), home(".config/pypoetry")]),
    row("mvn", &[home(".m2/settings.xml"), home(".m2/settings-security.xml"), home(".m2/extensions.xml"), home(".m2/toolchains.xml")]),
    row("gradle", &[movable("GRADLE_USER_HOME", ".gradle", "gradle.properties"), movable("GRADLE_USER_HOME", ".gradle", "init.d")]),
    row("sbt", &[home(".sbt/.credentials"), home(".ivy2/.credentials")]),
    row("gem bundle bundler", &[home(".gem/credentials"), home(".bundle/config"), home(".local/share/gem/credentials")]),
    row("composer", &[home(".composer/auth.json"), home(".config/composer/auth.json")]),
    row("dotnet nuget", &[home(".nuget/NuGet"), home(".config/NuGet")]),
    row("mix", &[home(".hex/hex.config")]),
    row("dart flutter", &[home(".config/dart")]),
    row("conan", &[home(".conan2/credentials.json"), home(".conan2/.conan.db")]),
    row("adb", &[home(".android/adbkey"), home(".android/debug.keystore")]),

    // Keys and databases.
    row("gpg gpg2 gpgsm pass git-crypt sops git-signs.gpg", &[movable("GNUPGHOME", ".gnupg", "")]),
    row("gpg gpg2 pass", &[home(".password-store")]),
    row("sops age", &[home(".config/sops"), home(".config/age"), home(".age")]),
    row("psql pg_dump pg_restore pgcli createdb dropdb", &[movable("PGPASSFILE", ".pgpass", "")]),
    row("mysql mariadb mysqldump mycli", &[home(".my.cnf"), home(".mylogin.cnf")]),
    row("op", &[home(".config/op")]),

    // Other agents.
    row("claude", &[home(".claude"), home(".claude.json"), home(".config/claude")]),
    row("codex", &[home(".codex")]),
    row("gemini", &[home(".gemini")]),
    row("opencode", &[home(".local/share/opencode"), home(".config/opencode")]),
    row("goose", &[home(".config/goose"), home(".local/share/goose")]),
    row("slothtool plugin", &[home(".slothtool")]),
    row("", &[home(".r9s"), home(".config/github-copilot"), home(".cursor"), home(".config/Cursor"), home(".config/Code"), home(".aider.conf.yml"), home(".continue"), home(".codeium"), home(".config/zed")]),

    // Open to no program.
    row("", &[home(".config/avocet"), home(".local/share/avocet"), home(".local/state/avocet")]),
    row("", &[home(".mozilla"), home(".thunderbird"), home(".cache/mozilla"), home(".config/google-chrome"), home(".cache/google-chrome"), home(".config/chromium"), home(".config/BraveSoftware"), home(".config/microsoft-edge"), home(".config/vivaldi"), home(".config/opera"), home("snap/firefox"), home("snap/chromium"), home("snap/brave"), home("snap/thunderbird"), home(".var/app"),
        home("Library/Keychains"), home("Library/Cookies"), home("Library/Messages"), home("Library/Application Support/Google/Chrome"), home("Library/Application Support/Firefox")]),
    row("", &[home(".config/Signal"), home(".config/Slack"), home(".config/discord"), home(".config/Element"), home(".local/share/TelegramDesktop")]),
    row("", &[home(".electrum"), home(".bitcoin"), home(".ethereum"), home(".config/solana"), home(".config/wireguard")]),
    row("", &[home(".local/share/keyrings"), home(".local/share/kwalletd"), home(".pki"), home(".cert"), home(".gitconfig.local"), home(".Xauthority"), home(".ICEauthority")]),
    row("", &[home(".viminfo"), home(".lesshst"), home(".python_history"), home(".node_repl_history"), home(".psql_history"), home(".mysql_history"), home(".sqlite_history"), home(".local/share/fish"), home(".local/share/atuin"), home(".julia/logs")]),
];

/// Places of credentials that their program writes: what it refreshes by itself.
#[rustfmt::skip]
pub const REFRESHED: &[PlaceRow] = &[
    // Locks and sockets, and what their agent keeps.
    row("gpg gpg2 gpgsm git-signs.gpg", &[movable("GNUPGHOME", ".gnupg", ""), movable("XDG_RUNTIME_DIR", "", "gnupg")]),
    row("aws eksctl sam cdk", &[home(".aws/cli"), home(".aws/sso")]),
    row("kubectl oc helm k9s", &[home(".kube/cache")]),
    row("docker", &[movable("DOCKER_CONFIG", ".docker", "buildx")]),
    row("gcloud gsutil bq", &[movable("CLOUDSDK_CONFIG", ".config/gcloud", "")]),
    row("az azcopy", &[movable("AZURE_CONFIG_DIR", ".azure", "")]),
    row("minikube", &[home(".minikube")]),
    row("pulumi", &[home(".pulumi")]),
    row("terraform tofu terragrunt", &[home(".terraform.d/plugin-cache")]),
    row("claude", &[home(".claude"), home(".claude.json")]),
    row("codex", &[home(".codex")]),
    row("gemini", &[home(".gemini")]),
    row("opencode", &[home(".local/share/opencode")]),
    row("goose", &[home(".local/share/goose")]),
    row("slothtool plugin", &[home(".slothtool")]),
];

/// Devices beyond those of every step.
#[rustfmt::skip]
pub const DEVICES: &[(&str, &[&str])] = &[
    ("python python3 pytest jupyter ipython torchrun accelerate ollama llama-cli llama-server nvidia-smi rocm-smi ffmpeg blender vulkaninfo glxinfo clinfo", &["/dev/dri", "/dev/kfd", "/dev/nvidia*"]),
    ("ffmpeg ffplay aplay arecord sox play rec mpv", &["/dev/snd"]),
    ("qemu-system-* virsh virt-install VBoxManage", &["/dev/kvm"]),
];

/// Variables that only steps of these programs get: sockets and displays of the user's
/// session, and by `*` secrets of these names.
#[rustfmt::skip]
pub const VARIABLES: &[(&str, &str)] = &[
    ("git.push git.pull git.fetch git.clone git.ls-remote git.submodule git.remote git.lfs git-signs.ssh ssh scp sftp rsync mosh autossh ssh-add ansible ansible-playbook", "SSH_AUTH_SOCK SSH_AGENT_PID"),
    ("gpg gpg2 git-signs.gpg pass sops", "GPG_TTY GPG_AGENT_INFO"),
    ("tmux", "TMUX TMUX_PANE TMUX_TMPDIR"),
    ("notify-send gdbus dbus-send busctl", "DBUS_* XDG_RUNTIME_DIR"),
    ("podman systemctl systemd-run loginctl journalctl", "XDG_RUNTIME_DIR DBUS_*"),
    ("aws eksctl sam cdk s3cmd s5cmd terraform tofu terragrunt packer pulumi", "AWS_*"),
    ("gcloud gsutil bq firebase terraform tofu terragrunt packer pulumi", "GOOGLE_* CLOUDSDK_* GCP_* GCLOUD_* FIREBASE_*"),
    ("az azcopy terraform tofu terragrunt packer pulumi", "AZURE_* ARM_*"),
    ("terraform tofu terragrunt packer", "TF_* PKR_*"),
    ("pulumi", "PULUMI_*"),
    ("gh hub git.push git.pull git.fetch git.clone", "GH_* GITHUB_*"),
    ("glab git.push git.pull git.fetch git.clone", "GITLAB_*"),
    ("docker podman skopeo buildah docker-compose", "DOCKER_* REGISTRY_*"),
    ("kubectl helm k9s oc", "KUBE* HELM_*"),
    ("npm pnpm yarn bun", "NPM_* NODE_AUTH_TOKEN YARN_*"),
    ("cargo.publish cargo.add cargo.update cargo.fetch cargo.owner cargo.yank cargo.login", "CARGO_REGISTR*"),
    ("twine flit poetry hatch pdm uv.publish uv.sync uv.add", "TWINE_* FLIT_* POETRY_* HATCH_* PDM_* UV_*"),
    ("psql pg_dump pg_restore pgcli createdb", "PG*"),
    ("mysql mariadb mysqldump mycli", "MYSQL_*"),
    ("redis-cli", "REDISCLI_*"),
    ("vault", "VAULT_*"),
    ("op", "OP_*"),
    ("heroku", "HEROKU_*"),
    ("vercel", "VERCEL_*"),
    ("netlify", "NETLIFY_*"),
    ("wrangler", "CLOUDFLARE_* CF_*"),
    ("fly flyctl", "FLY_*"),
    ("doctl", "DIGITALOCEAN_*"),
    ("hcloud", "HCLOUD_*"),
    ("stripe", "STRIPE_*"),
    ("sentry-cli", "SENTRY_*"),
    ("claude", "ANTHROPIC_* CLAUDE_*"),
    ("codex", "OPENAI_* CODEX_*"),
    ("gemini", "GEMINI_* GOOGLE_*"),
    ("aider opencode goose llm", "OPENAI_* ANTHROPIC_* GEMINI_* OPENROUTER_* DEEPSEEK_*"),
    ("ansible ansible-playbook", "ANSIBLE_*"),
    ("restic borg", "RESTIC_* BORG_* AWS_*"),
    ("rclone", "RCLONE_*"),
    ("huggingface-cli hf", "HF_* HUGGING*"),
];

/// Every list, for tests and for callers that look for a place in any of them.
pub fn lists() -> [(&'static str, &'static [PlaceRow]); 4] {
    [("base", BASE), ("caches", CACHES), ("homes", HOMES), ("credentials", CREDENTIALS)]
}

/// Every place of a list.
pub fn places_of(rows: &'static [PlaceRow]) -> impl Iterator<Item = UserPath> {
    rows.iter().flat_map(|row| row.places.iter().copied())
}

/// Every variable that moves one of the places.
pub fn variables() -> impl Iterator<Item = &'static str> {
    let all = lists().into_iter().flat_map(|(_, rows)| places_of(rows));
    all.chain(places_of(REFRESHED)).map(|place| place.variable).filter(|name| !name.is_empty())
}
