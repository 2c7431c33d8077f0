//! Decides what a step needs beyond the workspace.
//!
//! A cache is writable for a row that names it, wherever the command is in the step. All
//! else belongs to one command, never to the line it is part of: homes of programs,
//! credentials, devices, secret variables and a run without the sandbox are for a step that
//! *is* that program, started directly, and starts nothing else by its arguments.

use super::findings::Findings;
use super::needs::{GuardedFiles, Needs, matches_name};
use super::places::{self, PlaceRow, UserPath, is_named};
use super::policy::{Limit, Policy};
use super::signing::{find_hooks, pushes_into_workspace, signing_rule};
use super::spec::{
    ArgPart, ArgToken, JudgeContext, Operands, Takes, ValueKind, is_doubtful, operands,
};
use super::{Judgement, PathKind, ShellScriptCommand, args, grant, paths, pieces, rules, shell};
use avocet_core::i18n::{LocalizedText, Phrase, safety as phrases};
use avocet_core::protocol::{Effect, Reason, Risk, SandboxDenial, SandboxStatus, StepAction, Tier};
use avocet_core::text::short_name;

/// The rule of a step that may use credentials, and that of one that is not sandboxed.
pub const CREDENTIALS: &str = "sandbox.credentials";
const FREE: &str = "sandbox.free";
/// The rule of a step in which hooks of the repository meet credentials.
const HOOKS: &str = "sandbox.hooks";

/// Programs that show interfaces, routes and sockets.
const SHOW_NETWORK: &str = "ip hostname ss";

/// Programs that change the settings and hooks of a repository, or those that a shell follows, as the
/// user asks them to.
const STEERS: &str = "git.config git.remote git.submodule git.clone git.init git.worktree git.lfs \
    git.svn git.sparse-checkout git.maintenance git.flow git-lfs gh glab hub jj husky npx.husky \
    pre-commit lefthook npx.lefthook overcommit asdf.local asdf.set rtx.use mise.use mise.set mise.unset";
/// Programs that bring other versions of files.
const VERSIONS: &str = "git hg svn jj sl bzr";
/// Those that bring none: what changes files then is a hook.
const RECORDS: &str =
    "git.commit git.push git.fetch git.tag git.add git.notes git.gc hg.commit hg.push";

/// What `git tag` starts to sign, as `git commit` does.
const SIGNS_TAG: &str = "git.tag.sign";

/// Programs that end other processes.
const KILLS: &str = "kill pkill killall skill fuser xkill";

impl Needs {
    /// Finds them, and adds the findings of those that need an approval of their own.
    pub fn find(action: &StepAction, context: &JudgeContext<'_>, findings: &mut Findings) -> Needs {
        let runs_code = findings.rule_ids().any(runs_code) && findings.has(Effect::Exec);
        let mut needs =
            Needs { network: runs_code || findings.has(Effect::Network), ..Needs::default() };
        for row in places::CACHES {
            if findings.rule_ids().any(|rule| row.applies_to(rule))
                || is_wrapper_script(row, action)
            {
                needs.caches.extend(row.places);
                needs.made.extend(row.places.first());
            }
        }
        let direct = direct_command(action, findings);
        needs.netlink = direct.as_ref().is_some_and(|rule| is_named(SHOW_NETWORK, &rule.full));
        let is_line = context.in_line || direct.is_none() || pieces::shell_line(action).is_some();
        let direct = direct.filter(|_| !is_line);
        needs.guarded = match &direct {
            Some(rule) if is_named(STEERS, &rule.full) => GuardedFiles::Nothing,
            Some(rule) if is_named(RECORDS, &rule.full) => GuardedFiles::Followed,
            Some(rule) if is_named(VERSIONS, &rule.full) => GuardedFiles::Repositories,
            _ if context.policy_cx.policy.runs_builds_unasked() => {
                GuardedFiles::FollowedAndBuilds { command: build_command(direct.as_ref(), action) }
            }
            _ if context.policy_cx.place.contains(&context.policy_cx.place.home) => {
                GuardedFiles::FollowedAndHome { command: build_command(direct.as_ref(), action) }
            }
            _ => GuardedFiles::Followed,
        };
        if let Some(rule) = &direct
            && findings.tier() > Tier::L0
        {
            needs.open(rule, context, findings);
        }
        // What a line names would be open to all of its commands, and an argument of a program
        // that runs code to that code.
        if is_line || findings.has(Effect::Exec) {
            findings.launch.reads.retain(|path| !paths::is_private(path, context.policy_cx.place));
        }
        for list in [&mut needs.caches, &mut needs.made, &mut needs.homes, &mut needs.credentials] {
            list.sort_unstable();
            list.dedup();
        }
        needs
    }

    /// What is opened to the step because it is this program.
    fn open(&mut self, command: &CommandRule, context: &JudgeContext<'_>, findings: &mut Findings) {
        let rule = command.full.as_str();
        let named = |rows: &'static [PlaceRow]| {
            rows.iter()
                .filter(move |row| row.applies_to(rule))
                .flat_map(|row| row.places.iter().copied())
        };
        let signing = command.git_sub().and_then(|sub| signing_rule(sub, &command.args, context));
        let place = context.policy_cx.place;
        let is_there = |user_path: &UserPath| {
            let path = user_path.resolve(&place.home, &place.moved);
            path.is_some_and(|path| context.policy_cx.world.kind(&path) != PathKind::Missing)
        };
        self.homes.extend(named(places::HOMES).chain(named(places::BASE)));
        for row in places::HOMES.iter().chain(places::BASE).filter(|row| row.applies_to(rule)) {
            self.made.extend(row.places.first());
        }
        let is_local = rule == "git.push" && pushes_into_workspace(&command.args, context);
        let reaches_others =
            !rule.starts_with("git.") || findings.has(Effect::Network) && !is_local;
        if reaches_others {
            self.credentials.extend(named(places::CREDENTIALS).filter(&is_there));
            self.refreshed.extend(named(places::REFRESHED));
        }
        let keys = places::CREDENTIALS
            .iter()
            .filter(|row| signing.is_some_and(|rule| row.applies_to(rule)));
        self.credentials.extend(keys.flat_map(|row| row.places.iter().copied()).filter(&is_there));
        let refreshed =
            places::REFRESHED.iter().filter(|row| signing.is_some_and(|rule| row.applies_to(rule)));
        self.refreshed.extend(refreshed.flat_map(|row| row.places.iter().copied()));
        let devices = places::DEVICES.iter().filter(|(rules, _)| is_named(rules, rule));
        self.devices.extend(devices.flat_map(|(_, devices)| devices.iter().copied()));
        let variables = places::VARIABLES.iter().filter(|(rules, _)| {
            !is_local && is_named(rules, rule) || signing.is_some_and(|rule| is_named(rules, rule))
        });
        self.variables.extend(variables.flat_map(|(_, names)| names.split_ascii_whitespace()));
        self.signals = is_named(KILLS, rule);
        self.system = findings.iter().any(|finding| {
            finding.effects.contains(&Effect::Elevate) && command.is_own(&finding.reason.rule)
        });
        let runs_git = is_named("git gh glab hub git-lfs", &command.name);
        let hooks = runs_git.then(|| find_hooks(&command.args, &context.cwd, context.policy_cx));
        let hooks = hooks.filter(|hooks| !hooks.names.is_empty());
        // What runs code of the project by its nature, and the hooks that the question names, find
        // programs as builds do.
        let is_trusted = self.system || !self.credentials.is_empty() || !self.variables.is_empty();
        self.hides_programs = is_trusted && hooks.is_none() && !findings.has(Effect::Exec);
        // Hooks run code as a build does, and an agent that signs is reached by a socket.
        self.network |= hooks.is_some() || signing.is_some();
        if self.uses_credentials(&place.secret_variables) {
            self.pauses_others = runs_git && rule != "git.clone";
            let say = phrases::SANDBOX_CREDENTIALS
                .with("places", self.credential_names(&place.secret_variables));
            findings.add(CREDENTIALS, Tier::L1, say, None, &[Effect::Secret]);
            if let Some(hooks) = hooks {
                let say = hooks.named(context.policy_cx);
                findings.add(HOOKS, Tier::L1, say, None, &[Effect::Secret]);
            }
        }
        if self.system {
            findings.add(FREE, Tier::L1, phrases::SANDBOX_FREE, None, &[Effect::Elevate]);
        }
    }
}

/// The name of the command in the table of those that change files of builds.
fn build_command(command_rule: Option<&CommandRule>, action: &StepAction) -> String {
    match (command_rule, action) {
        (Some(rule), _) => rule.full.clone(),
        // It belongs to the project, and is made to write the files of its builds.
        (None, StepAction::Exec { program, .. })
            if ["configure", "autogen.sh"].contains(&short_name(program)) =>
        {
            short_name(program).to_owned()
        }
        (None, _) => String::new(),
    }
}

/// `./gradlew` and `./mvnw` belong to the project; they fill the caches that their programs do.
fn is_wrapper_script(row: &PlaceRow, action: &StepAction) -> bool {
    let StepAction::Exec { program, .. } = action else { return false };
    let name = short_name(program);
    ["gradlew", "mvnw"].contains(&name) && row.applies_to(name)
}

/// The program and sub-command that the step is, as a rule: `git.push`. `None`: it is more than
/// one command, a program of the project's own, or starts something by its arguments.
fn direct_command(action: &StepAction, findings: &Findings) -> Option<CommandRule> {
    let words: Vec<String>;
    let (program, given) = match action {
        StepAction::Exec { program, args } => (program.as_str(), args.as_slice()),
        // A piece of a template with one plain command.
        StepAction::Shell { line } => {
            let [only]: [shell::PipelineCommand; 1] =
                shell::pipeline_commands(line).try_into().ok()?;
            if !only.sets.is_empty() || only.has_input || only.has_output {
                return None;
            }
            words = only.words;
            let (program, given) = words.split_first()?;
            (program.as_str(), given)
        }
        StepAction::Tool { .. } => return None,
    };
    let (name, given) = without_wrappers(program, given)?;
    let starts_others = rules::find(name)
        .is_some_and(|(spec, _)| matches!(spec.grammar.operands, Operands::Command(_)));
    if is_configured(name, given) || starts_others && !ELEVATES.contains(&name) || name == "xargs" {
        return None;
    }
    let rule = CommandRule::new(name, given);
    let foreign = findings.iter().filter(|finding| finding.reason.tier > Tier::L0).any(|finding| {
        let id = finding.reason.rule.as_str();
        grant::OF_FOLDER.contains(&id)
            || id.starts_with("program.")
            || id.starts_with("shell.")
            || finding.effects.contains(&Effect::Exec) && !rule.is_own(id) && id != SIGNS_TAG
    });
    // What it starts runs with its rights, and the user was asked about all of it.
    (!foreign || ELEVATES.contains(&name)).then_some(rule)
}

/// Whether its arguments name settings, which name programs that it starts: `-o ProxyCommand=…`.
fn is_configured(name: &str, given: &[String]) -> bool {
    let rows = CONFIGURED.iter().filter(|(programs, ..)| is_named(programs, name));
    let mut rows = rows.map(|(_, letters, words)| (letters, words));
    let mut own = given.iter().filter(|arg| !arg.starts_with('-'));
    let is_starter = own.next().is_some_and(|first| {
        STARTERS.iter().any(|(programs, subs)| is_named(programs, name) && is_named(subs, first))
    });
    if is_starter {
        return true;
    }
    rows.any(|(letters, words)| {
        given.iter().any(|arg| match (arg.strip_prefix("--"), arg.strip_prefix('-')) {
            (Some(long), _) => {
                let long = long.split('=').next().unwrap_or_default();
                // Many programs take the beginning of a word.
                !long.is_empty() && words.split(' ').any(|word| word.starts_with(long))
            }
            // Letters can be joined: `-vo`. Some programs have words after one dash.
            (None, Some(short)) => {
                let word = short.split('=').next().unwrap_or_default();
                short.contains(|c: char| letters.contains(c))
                    || words.split(' ').any(|own| own == word)
            }
            (None, None) => false,
        })
    })
}

/// Programs, and the letters and words of their options that name settings or programs.
#[rustfmt::skip]
const CONFIGURED: &[(&str, &str, &str)] = &[
    ("git", "", "receive-pack upload-pack exec config git-dir work-tree"),
    ("ssh scp sftp sshfs autossh", "oFSDI", ""),
    ("sftp", "b", ""),
    ("ssh-add ssh-keygen ssh-copy-id ssh-keyscan", "oFsSDwP", ""),
    ("rsync", "eM", "rsh"),
    ("mosh", "", "ssh client server"),
    ("ansible ansible-playbook", "M", "module-path playbook-dir ssh-common-args ssh-extra-args sftp-extra-args scp-extra-args connection-password-file vault-password-file become-password-file"),
    ("kubectl oc helm k9s kustomize kubectx kubens argocd flux istioctl", "", "kubeconfig post-renderer enable-exec enable-alpha-plugins"),
    ("docker podman nerdctl buildah skopeo", "", "config"),
    ("npm npx pnpm yarn bun", "", "userconfig globalconfig script-shell node-options"),
    ("cargo", "", "config"),
    ("go", "", "toolexec exec vettool"),
    ("pip pip2 pip3", "", "python"),
    ("cdk", "a", "app"),
    ("terraform tofu terragrunt", "", "plugin-dir"),
    ("restic borg rclone", "o", "option rsh password-command remote-path sftp-command"),
    ("aws eksctl sam cdk", "", "config-file"),
    ("gcloud gsutil bq", "o", "configuration flags-file bigqueryrc"),
    ("gpg gpg2 gpgsm", "", "homedir options agent-program dirmngr-program pinentry-program photo-viewer keyserver-options exec-path"),
    ("curl wget", "K", "config"),
];

/// Programs, and those of their sub-commands that start what the next words name.
const STARTERS: &[(&str, &str)] = &[
    ("sops", "exec-env exec-file"),
    ("op", "run"),
    ("gh", "alias extension"),
    ("helm", "plugin"),
    ("firebase", "emulators:exec"),
];

/// The command after wrappers that keep it what it is; `None` where that is not certain.
fn without_wrappers<'a>(
    mut name: &'a str,
    mut given: &'a [String],
) -> Option<(&'a str, &'a [String])> {
    loop {
        let short = short_name(name);
        let own = match short {
            "env" => {
                let sets = given.iter().map_while(|arg| arg.split_once('='));
                // Others move homes and settings, or name what is started.
                let plain =
                    |(name, _): (&str, &str)| HARMLESS.iter().any(|row| matches_name(row, name));
                if !sets.clone().all(plain) {
                    return None;
                }
                sets.count()
            }
            "timeout" | "gtimeout" | "nice" | "time" | "gtime" => {
                let (spec, _) = rules::find(short)?;
                let tokens = args::parse(given, spec);
                let Operands::Command(own) = spec.grammar.operands else { return None };
                if is_doubtful(&tokens) {
                    return None;
                }
                operands(&tokens).nth(own)?.0
            }
            _ => return Some((short, given)),
        };
        let (next, rest) = given.get(own..)?.split_first()?;
        (name, given) = (next.as_str(), rest);
    }
}

/// Variables that change what a program says and not what it does.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "CI", "NO_COLOR", "FORCE_COLOR", "CLICOLOR*", "COLUMNS",
    "LINES", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION",
];

/// The command that a step is, as the tables name it.
struct CommandRule {
    /// The id of its row, and that of the sub-command's.
    name: String,
    sub: Option<String>,
    /// With the first word, whether the tables know it as a sub-command or not: `npx.playwright`.
    full: String,
    args: Vec<String>,
}

impl CommandRule {
    /// `cargo.add` for `cargo +nightly add x`. A word after an option that the tables do not know
    /// may be its value.
    fn new(program: &str, given: &[String]) -> CommandRule {
        let Some((spec, name)) = rules::find(program) else {
            let name = program.to_owned();
            return CommandRule { full: name.clone(), name, sub: None, args: given.to_vec() };
        };
        let given = match given.first() {
            Some(first) if first.starts_with('+') => given.get(1..).unwrap_or_default(),
            _ => given,
        };
        let tokens = args::parse(given, spec);
        let known = tokens.iter().take_while(|token| !token.is_unknown());
        let first = known.filter_map(ArgToken::operand).next().unwrap_or_default();
        let plain = first.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        let sub = spec.sub(first).map(|(_, own)| format!("{name}.{own}"));
        let full = match first {
            word if plain && !word.is_empty() => format!("{name}.{word}"),
            _ => name.to_owned(),
        };
        CommandRule { name: name.to_owned(), sub, full, args: given.to_vec() }
    }

    fn git_sub(&self) -> Option<&str> {
        self.full.strip_prefix("git.")
    }

    /// Whether a finding is that of its row, and not of an option or an argument.
    fn is_own(&self, id: &str) -> bool {
        id == self.name || self.sub.as_deref() == Some(id)
    }
}

/// Whether a command of a line opens files that its words name, or may: what is open to another
/// command of the line is open to it.
pub fn opens_named_files(command: &ShellScriptCommand) -> bool {
    let Some((spec, _)) = rules::find(short_name(&command.program)) else { return true };
    let tokens = args::parse(&command.args, spec);
    let given = operands(&tokens).count();
    let names = match spec.grammar.operands {
        Operands::None | Operands::Text | Operands::Lists => false,
        Operands::PatternThenReads(flags) => {
            given > usize::from(args::find_flag(&tokens, flags).is_none())
        }
        _ => given > 0,
    };
    let by_option = tokens.iter().any(|token| {
        !matches!(
            token.part,
            ArgPart::Operand(_)
                | ArgPart::Flag {
                    known: Some(
                        Takes::Nothing
                            | Takes::Value(ValueKind::Text | ValueKind::Sure)
                            | Takes::Attached(ValueKind::Text | ValueKind::Sure)
                    ),
                    ..
                }
        )
    });
    names || by_option || spec.by_language || command.redirects.contains('<')
}

/// Programs that run others with more rights, or by a manager of services.
const ELEVATES: &[&str] = &["sudo", "doas", "pkexec", "su", "run0", "systemd-run"];

/// The sentence in a question about the sandbox around the step, or that there is none.
pub fn sandbox_reasons(judgement: &Judgement, policy: &Policy) -> Vec<Reason> {
    // Of steps that only read the user is asked about the shell pieces of templates.
    let reads = judgement.risk.tier == Tier::L0;
    let is_piece = matches!(judgement.step.work, StepAction::Shell { .. });
    if judgement.program.is_none() || (reads && !is_piece) {
        return Vec::new();
    }
    let reason = |rule: &str, text: LocalizedText| Reason {
        rule: rule.into(),
        tier: Tier::L1,
        say: text,
        arg: None,
    };
    let none = |phrase: Phrase| vec![reason("sandbox.none", phrase.into())];
    match policy.shelter {
        SandboxStatus::Unknown => return Vec::new(),
        SandboxStatus::Off => return none(phrases::SANDBOX_OFF),
        SandboxStatus::Absent => return none(phrases::SANDBOX_MISSING),
        SandboxStatus::ReadOnly if !reads => return none(phrases::SANDBOX_READ),
        SandboxStatus::ReadOnly | SandboxStatus::Held => {}
    }
    let needs = &judgement.launch.needs;
    if needs.system {
        return Vec::new();
    }
    let opened = Some(&judgement.launch.opened).filter(|opened| opened.is_offered());
    let network = needs.network && policy.limits.network != Limit::Refuse;
    let state =
        if network { phrases::SANDBOX_NETWORK_OPEN } else { phrases::SANDBOX_NETWORK_CLOSED };
    let held = if reads {
        phrases::SANDBOX_PIECE
    } else if judgement.launch.named.is_empty() || is_piece {
        phrases::SANDBOX_WORK
    } else {
        phrases::SANDBOX_NAMED
    };
    let mut said = vec![reason("sandbox.work", held.with("network", state))];
    if network && !judgement.risk.effects.contains(&Effect::Network) {
        said.push(reason("sandbox.network", phrases::SANDBOX_NETWORK.into()));
    }
    if !needs.homes.is_empty() {
        let places: Vec<String> = needs.homes.iter().map(UserPath::display_path).collect();
        let say = phrases::SANDBOX_HOMES.with("places", places.join(", "));
        said.push(reason("sandbox.homes", say));
    }
    said.extend(opened.map(|opened| {
        reason("sandbox.opened", phrases::SANDBOX_OPENED.with("what", opened.denied_actions()))
    }));
    said
}

/// The risk as a question shows it: with the openings in the sandbox around the step.
pub fn with_sandbox_reasons(judgement: &Judgement, policy: &Policy) -> Risk {
    let mut risk = judgement.risk.clone();
    risk.reasons.extend(sandbox_reasons(judgement, policy));
    risk
}

/// The risk of running a step again with this opened, which the sandbox denied it.
pub fn opening_risk(judgement: &Judgement, denied: &SandboxDenial) -> Risk {
    let mut risk = judgement.risk.clone();
    let say = phrases::SANDBOX_DENIED.with("what", denied.denied_actions());
    let reason = Reason { rule: SandboxDenial::RULE.to_owned(), tier: Tier::L1, say, arg: None };
    risk.reasons.insert(0, reason);
    SandboxDenial::RULE.clone_into(&mut risk.rule);
    if !denied.reads.is_empty() || !denied.writes.is_empty() {
        risk.effects.push(Effect::Outside);
    }
    if denied.network {
        risk.effects.push(Effect::Network);
    }
    risk.effects.sort_unstable();
    risk.effects.dedup();
    // A piece that only reads is one more question all the same.
    risk.tier = risk.tier.max(Tier::L1);
    risk
}

/// The risk of running a step that the sandbox denied something without it: a question of its own.
pub fn unsandboxed_risk(judgement: &Judgement) -> Risk {
    let mut risk = judgement.risk.clone();
    let rule = SandboxDenial::WITHOUT.to_owned();
    let say = phrases::SANDBOX_WITHOUT.into();

    risk.reasons.insert(0, Reason { rule: rule.clone(), tier: Tier::L1, say, arg: None });
    risk.rule = rule;
    risk.effects.extend([Effect::Secret, Effect::Outside]);
    risk.effects.sort_unstable();
    risk.effects.dedup();
    risk.tier = risk.tier.max(Tier::L1);
    risk
}

/// The risk of keeping a change that a step made and that was put back.
pub fn keeping_risk(risk: &Risk) -> Risk {
    let mut risk = risk.clone();
    let rule = SandboxDenial::PUT_BACK.to_owned();
    let say = phrases::SANDBOX_PUT_BACK.into();
    risk.reasons.insert(0, Reason { rule: rule.clone(), tier: Tier::L1, say, arg: None });
    risk.rule = rule;
    risk.tier = risk.tier.max(Tier::L1);
    risk
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
