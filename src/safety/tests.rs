//! Tests of the policy as users meet it, on a made-up machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::grant::suggest_grant;
use super::policy::PolicyRule;
use super::*;
use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::{Effect, Requires, Risk, StepAction};

mod closed;
mod day;
mod forms;
mod launch;
mod lines;
mod modes;
mod needs;
mod pieces;
mod places;
mod planted;
mod reading;
mod remembered;
mod scripted;
mod sending;
mod servers;
mod shelves;
mod web;

/// A made-up machine: `/w` is the workspace, `/h` the home.
#[derive(Default)]
struct Fake {
    links: BTreeMap<&'static str, &'static str>,
    /// The contents of `/w/.git/config`.
    settings: &'static str,
}

impl Machine for Fake {
    fn resolve(&self, path: &Path) -> PathBuf {
        let path = paths::normalize(path);
        for (link, target) in &self.links {
            if let Ok(rest) = path.strip_prefix(link) {
                return paths::normalize(&Path::new(target).join(rest));
            }
        }
        path
    }

    fn kind(&self, path: &Path) -> PathKind {
        // `/h` has no credentials.
        let missing = path.starts_with("/missing")
            || ["/h/.", "/h/_netrc", "/run/docker.sock", "/var/run/docker.sock"]
                .iter()
                .any(|start| path.to_string_lossy().starts_with(start));
        if missing { PathKind::Missing } else { PathKind::Folder }
    }

    fn program(&self, name: &str) -> Option<Program> {
        let path = match Path::new(name).strip_prefix("/bin") {
            Ok(_) => PathBuf::from(name),
            Err(_) if name.contains('/') => return None,
            Err(_) => Path::new("/bin").join(name),
        };
        Some(Program { path, device: 1, inode: 1, modified: 1, link: None })
    }

    fn read(&self, path: &Path, _: usize) -> Contents {
        match path.to_str() {
            Some("/w/.git/config") => Contents::Bytes(self.settings.into()),
            Some(_) | None => Contents::Missing,
        }
    }

    fn has_script(&self, script: &str) -> bool {
        script == "known"
    }
}

fn world() -> Fake {
    let links = [
        ("/w/link_ssh", "/h/.ssh"),
        ("/w/link_key", "/h/.ssh/id_rsa"),
        ("/w/notes_link.txt", "/outside/secret.txt"),
        ("/w/link_etc", "/etc"),
    ];
    Fake { links: links.into_iter().collect(), settings: "" }
}

fn place() -> Workspace {
    Workspace::new("/w", "/h")
}

fn step(program: &str, args: &[&str]) -> Step {
    let work = StepAction::exec(program, args);
    Step { id: String::new(), work, requires: Requires::default(), cwd: None }
}

fn assess_with(step: Step, policy: &Policy, place: &Workspace) -> Verdict {
    assess(step, PolicyContext { policy, place, world: &world() })
}

fn verdict(program: &str, args: &[&str]) -> Verdict {
    assess_with(step(program, args), &Policy::default(), &place())
}

/// The rule that would be offered to remember.
fn suggested_rule(verdict: &Verdict) -> Option<String> {
    let (policy, place, world) = (Policy::default(), place(), world());
    let policy_cx = PolicyContext { policy: &policy, place: &place, world: &world };
    suggest_grant(verdict.judgement(), policy_cx).map(|grant| grant.rule.to_string())
}

fn risk(program: &str, args: &[&str]) -> Risk {
    verdict(program, args).judgement().risk.clone()
}

fn tier(program: &str, args: &[&str]) -> Tier {
    risk(program, args).tier
}

/// The words of an example; single quotes keep blanks together.
fn words_of(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            out.push(part.to_owned());
        } else {
            out.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    out
}

fn line(line: &str) -> Risk {
    let words = words_of(line);
    let (program, args) = words.split_first().unwrap();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    risk(program, &args)
}

fn check_examples(spec: &spec::Spec, wrong: &mut Vec<String>) {
    for keeps in spec.examples.keeps {
        let found = line(keeps);
        if found.tier != spec.tier {
            wrong.push(format!(
                "keeps {:?}: `{keeps}` is {:?} by {}",
                spec.tier, found.tier, found.rule
            ));
        }
    }
    for raised in spec.examples.raised {
        let found = line(raised);
        if found.tier <= spec.tier {
            wrong.push(format!("raised: `{raised}` is only {:?} by {}", found.tier, found.rule));
        }
    }
    if spec.tier == Tier::L0 && spec.examples.keeps.is_empty() {
        wrong.push(format!("`{}` has no example", spec.names));
    }
    spec.subs.iter().for_each(|sub| check_examples(sub, wrong));
}

#[test]
fn every_row_keeps_its_examples() {
    let mut wrong = Vec::new();
    rules::all().for_each(|spec| check_examples(spec, &mut wrong));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_name_is_in_two_rows() {
    fn names(specs: &[&spec::Spec], wrong: &mut Vec<String>) {
        let mut seen = std::collections::BTreeSet::new();
        for spec in specs {
            for name in spec.names.split_ascii_whitespace() {
                if !seen.insert(name) {
                    wrong.push(name.to_owned());
                }
            }
            names(&spec.subs.iter().collect::<Vec<_>>(), wrong);
        }
    }
    let mut wrong = Vec::new();
    names(&rules::all().collect::<Vec<_>>(), &mut wrong);
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn rules_of(risk: &Risk) -> Vec<&str> {
    risk.reasons.iter().map(|reason| reason.rule.as_str()).collect()
}

fn policy(change: impl FnOnce(&mut Policy)) -> Policy {
    let mut policy = Policy::default();
    change(&mut policy);
    policy
}

fn rule(text: &str) -> PolicyRule {
    PolicyRule::parse(text).unwrap()
}

#[test]
fn l0_runs_l1_asks_and_l2_is_refused() {
    assert!(matches!(verdict("git", &["status"]), Verdict::Run(_)));
    assert!(matches!(verdict("git", &["commit"]), Verdict::Ask(_)));
    assert!(matches!(verdict("git", &["reset", "--hard"]), Verdict::Refuse(_)));
}

#[test]
fn everyday_reads_never_ask() {
    for (program, args) in [
        ("ls", &["-la", "src"][..]),
        ("cat", &["src/main.rs"]),
        ("rg", &["-n", "TODO", "src"]),
        ("grep", &["-rn", "x", "."]),
        ("git", &["status", "--short"]),
        ("git", &["diff", "--stat"]),
        ("git", &["log", "--oneline", "-n", "5"]),
        ("head", &["-n", "20", "f"]),
        ("sed", &["-n", "1,40p", "f"]),
        ("find", &[".", "-name", "*.rs", "-type", "f"]),
        ("wc", &["-l", "f"]),
        ("tree", &["-L", "2"]),
    ] {
        assert_eq!(tier(program, args), Tier::L0, "{program} {args:?}");
    }
}

#[test]
fn a_verdict_names_its_rule_the_argument_and_all_reasons_highest_risk_first() {
    let risk = risk("env", &["A=b", "git", "reset", "--hard"]);
    assert_eq!(risk.rule, "git.reset.hard");
    assert_eq!(risk.reasons[0].arg, Some(3));
    assert!(rules_of(&risk).contains(&"env.variable"));
    let tiers: Vec<Tier> = risk.reasons.iter().map(|reason| reason.tier).collect();
    assert!(tiers.is_sorted_by(|a, b| a >= b), "{tiers:?}");
    assert!(risk.effects.contains(&Effect::Delete) && risk.effects.is_sorted());
}

#[test]
fn a_reason_inside_a_shell_string_points_at_the_string() {
    let risk = risk("timeout", &["5", "bash", "-c", "ls && rm -rf x"]);
    assert_eq!(risk.rule, "rm.force_recursive");
    assert_eq!(risk.reasons[0].arg, Some(3));
}

#[test]
fn a_tool_proposed_as_a_program_is_refused_with_the_way_to_propose_it() {
    for name in ["file.edit", "plugin.run", "config.json_patch"] {
        let refused = risk(name, &["src/main.rs"]);
        assert_eq!((refused.tier, refused.rule.as_str()), (Tier::L2, "program.tool"));
        let said = refused.main_reason().unwrap().to_string();
        assert!(said.contains(&format!("\"tool\": \"{name}\"")), "{said}");
    }
}

#[test]
fn an_unknown_program_is_refused_with_the_line_that_would_add_it() {
    let refused = risk("frobnicate", &["build"]);
    assert_eq!((refused.tier, refused.rule.as_str()), (Tier::L2, "program.unknown"));
    assert!(refused.main_reason().unwrap().to_string().contains("\"+frobnicate\""));
    let confirm = policy(|p| p.unknown_program = Unknown::Confirm);
    let asked = assess_with(step("frobnicate", &[]), &confirm, &place());
    assert!(matches!(asked, Verdict::Ask(_)));
    let added = policy(|p| p.allowed_programs = vec!["+frobnicate".into()]);
    let asked = assess_with(step("frobnicate", &[]), &added, &place());
    assert_eq!(asked.judgement().risk.rule, "program.added");
    let taken = policy(|p| p.allowed_programs = vec!["-ls".into()]);
    assert!(matches!(assess_with(step("ls", &[]), &taken, &place()), Verdict::Refuse(_)));
}

#[test]
fn a_program_of_the_workspace_asks_and_one_from_elsewhere_is_refused() {
    assert_eq!(risk("./evil.sh", &[]).rule, "program.path");
    assert_eq!(tier("./ls", &[]), Tier::L1);
    assert_eq!(risk("/tmp/ls", &[]).rule, "program.outside");
    assert_eq!(tier("/bin/ls", &[]), Tier::L0);
    let listed = policy(|p| p.allowed_programs = vec!["+/opt/x/tool".into()]);
    let asked = assess_with(step("/opt/x/tool", &[]), &listed, &place());
    assert!(matches!(asked, Verdict::Ask(_)));
}

#[test]
fn requirements_of_the_model_only_raise_the_tier() {
    let with = |change: fn(&mut Requires)| {
        let mut step = step("ls", &[]);
        change(&mut step.requires);
        assess_with(step, &Policy::default(), &place()).judgement().risk.tier
    };
    assert_eq!(with(|_| {}), Tier::L0);
    assert_eq!(with(|r| r.confirm = true), Tier::L1);
    assert_eq!(with(|r| r.network = true), Tier::L1);
    assert_eq!(with(|r| r.write = true), Tier::L1);
    assert_eq!(with(|r| r.elevated = true), Tier::L2);
}

#[test]
fn switched_off_effects_are_refused() {
    let offline = policy(|p| p.limits.network = Limit::Refuse);
    let refused = assess_with(step("curl", &["https://x"]), &offline, &place());
    assert_eq!(refused.judgement().risk.rule, "limit.network");
    assert!(matches!(assess_with(step("ls", &[]), &offline, &place()), Verdict::Run(_)));
    let frozen = policy(|p| p.limits.write = Limit::Refuse);
    assert!(matches!(assess_with(step("touch", &["a"]), &frozen, &place()), Verdict::Refuse(_)));
    assert!(matches!(assess_with(step("rm", &["a"]), &frozen, &place()), Verdict::Refuse(_)));
}

#[test]
fn a_lifted_refusal_is_a_marked_question_and_never_a_run() {
    let lifted = policy(|p| {
        p.lift = vec!["git.reset.hard".into()];
        p.allowed = vec![rule("git reset *")];
    });
    let verdict = assess_with(step("git", &["reset", "--hard"]), &lifted, &place());
    assert!(matches!(verdict, Verdict::Ask(_)));
    assert!(verdict.judgement().risk.lifted);
    assert_eq!(suggested_rule(&verdict), None);
}

#[test]
fn allow_sudo_asks_about_sudo_and_not_about_the_command_in_it() {
    let sudo = policy(|p| p.limits.elevate = Limit::Ask);
    let asked = assess_with(step("sudo", &["ls"]), &sudo, &place());
    assert!(matches!(asked, Verdict::Ask(_)) && asked.judgement().risk.lifted);
    let refused = assess_with(step("sudo", &["rm", "-rf", "/"]), &sudo, &place());
    assert!(matches!(refused, Verdict::Refuse(_)) && !refused.judgement().risk.lifted);
    assert!(matches!(assess_with(step("reboot", &[]), &sudo, &place()), Verdict::Refuse(_)));
}

#[test]
fn in_a_folder_that_is_not_trusted_plain_reading_runs_and_everything_else_asks() {
    let place = Workspace { trusted: false, ..place() };
    let allowed = policy(|p| p.allowed = vec![rule("npm test *"), rule("touch a")]);
    for line in ["ls -la", "cat a.txt", "grep -rn x .", "rg x", "find . -name x", "head a | wc"] {
        let words: Vec<&str> = line.split(" | ").next().unwrap().split(' ').collect();
        let verdict = assess_with(step(words[0], &words[1..]), &allowed, &place);
        assert!(matches!(verdict, Verdict::Run(_)), "{line}");
    }
    for (program, args) in [
        ("npm", &["test"][..]),
        ("touch", &["a"]),
        ("git", &["status"]),
        ("git", &["log"]),
        ("env", &["git", "status"]),
        ("find", &[".", "-delete"]),
        ("cat", &[".env"]),
        ("npm", &["ls"]),
    ] {
        let verdict = assess_with(step(program, args), &allowed, &place);
        assert!(matches!(verdict, Verdict::Ask(_)), "{program} {args:?}");
        assert!(rules_of(&verdict.judgement().risk).contains(&"folder.untrusted"));
    }
}

#[test]
fn an_allowed_rule_runs_an_l1_and_says_so() {
    let allowed = policy(|p| p.allowed = vec![rule("cargo test *")]);
    let verdict = assess_with(step("cargo", &["test", "x"]), &allowed, &place());
    assert!(matches!(verdict, Verdict::Run(_)));
    assert_eq!(verdict.judgement().risk.tier, Tier::L1);
    assert!(rules_of(&verdict.judgement().risk).contains(&"allowed"));
    assert!(matches!(assess_with(step("cargo", &["run"]), &allowed, &place()), Verdict::Ask(_)));
}

#[test]
fn an_allowed_rule_never_runs_an_l2_nor_secrets_by_an_open_rule() {
    let allowed = policy(|p| p.allowed = vec![rule("git push *"), rule("cat *"), rule("rm a")]);
    let with = |program, args: &[&str]| assess_with(step(program, args), &allowed, &place());
    assert!(matches!(with("git", &["push", "--force"]), Verdict::Refuse(_)));
    assert!(matches!(with("git", &["push", "origin"]), Verdict::Run(_)));
    assert!(matches!(with("cat", &[".env"]), Verdict::Ask(_)));
    assert!(matches!(with("rm", &["a"]), Verdict::Run(_)));
}

#[test]
fn a_deny_rule_wins_and_applies_inside_wrappers() {
    let denied = policy(|p| {
        p.denied = vec![rule("git status *"), rule("make *")];
        p.allowed = vec![rule("make")];
        p.lift = vec!["denied".into()];
    });
    for (program, args) in [
        ("git", &["status"][..]),
        ("make", &[]),
        ("/bin/git", &["status"]),
        ("env", &["git", "status"]),
        ("bash", &["-c", "make x"]),
    ] {
        let verdict = assess_with(step(program, args), &denied, &place());
        assert!(matches!(verdict, Verdict::Refuse(_)), "{program} {args:?}");
        assert_eq!(verdict.judgement().risk.rule, "denied");
    }
}

#[test]
fn the_folder_a_step_runs_in_is_judged() {
    let in_folder = |cwd: &str| {
        let step = Step { cwd: Some(cwd.into()), ..step("ls", &[]) };
        let verdict = assess_with(step, &Policy::default(), &place());
        (verdict.judgement().risk.rule.clone(), verdict.judgement().cwd.clone())
    };
    assert_eq!(in_folder("src"), ("ls".into(), "/w/src".into()));
    assert_eq!(in_folder("/w/src/.."), ("ls".into(), "/w".into()));
    assert_eq!(in_folder(".."), ("cwd.outside".into(), "/".into()));
    assert_eq!(in_folder("link_ssh"), ("cwd.missing".into(), "/h/.ssh".into()));
    assert_eq!(in_folder("/w-evil"), ("cwd.outside".into(), "/w-evil".into()));
    assert_eq!(in_folder("/missing"), ("cwd.missing".into(), "/missing".into()));
    let ssh = Step { cwd: Some("~/.ssh".into()), ..step("cat", &["id_rsa"]) };
    let verdict = assess_with(ssh, &Policy::default(), &place());
    assert!(rules_of(&verdict.judgement().risk).contains(&"path.secret"));
}

#[test]
fn an_unknown_tool_is_a_fault_of_form_and_no_danger() {
    let work = StepAction::Tool { name: "nope".into(), input: serde_json::json!({}) };
    let step = Step { work, ..step("", &[]) };
    let verdict = assess_with(step, &Policy::default(), &place());
    assert!(matches!(verdict, Verdict::Run(_)));
    assert_eq!(verdict.judgement().risk.rule, "tool.unknown");
    let task = verdict.judgement().task.clone();
    assert!(matches!(task, Some(ToolTask::Fault(fault)) if fault.is_form));
}

fn shell_verdict(line: &str) -> Verdict {
    let (policy, place) = (Policy::default(), place());
    assess_shell("", line, PolicyContext { policy: &policy, place: &place, world: &world() })
}

#[test]
fn a_line_the_user_typed_runs_unless_it_is_l2() {
    for line in ["ls | wc -l", "npm test", "nobody-knows x", "echo x > out", "cd src && ls"] {
        assert!(matches!(shell_verdict(line), Verdict::Run(_)), "{line}");
    }
    for line in ["rm -rf build", "ls; sudo ls", "echo $(git reset --hard)", "dd if=a of=b"] {
        let verdict = shell_verdict(line);
        assert!(matches!(verdict, Verdict::Ask(_)), "{line}");
        assert_eq!(verdict.judgement().risk.tier, Tier::L2, "{line}");
    }
    assert!(matches!(shell_verdict("ls \0"), Verdict::Refuse(_)));
}

#[test]
fn each_command_of_a_line_has_its_own_tier() {
    let verdict = shell_verdict("git status | rm -rf build && cat .env");
    let pieces: Vec<(&str, Tier)> =
        verdict.judgement().pieces.iter().map(|p| (p.text.as_str(), p.risk.tier)).collect();
    assert_eq!(
        pieces,
        [("git status", Tier::L0), ("rm -rf build", Tier::L2), ("cat .env", Tier::L1)]
    );
}

#[test]
fn lines_that_only_read_are_l0_and_others_are_not() {
    for line in [
        "git diff --staged | head -n 200",
        "rg TODO 2>/dev/null | wc -l",
        "ls # x",
        "[ -f a ] && cat a || echo none",
        "cat <<E\nx\nE",
    ] {
        assert_eq!(shell_verdict(line).judgement().risk.tier, Tier::L0, "{line}");
    }
    for line in [
        "git log > out.txt",
        "cat $x",
        "cat < .env",
        "A=b ls",
        "cat .e*",
        "$cmd x",
        "/bin/r? x",
        "source x",
        "ls \u{1b}[2K",
        "echo 'open",
        "bash <<E\nx\nE",
        "",
        "cat {.env,a}",
        "ls >&/h/x",
        "exec 3<>/dev/tcp/x/80",
        "cat *.pem",
    ] {
        assert!(shell_verdict(line).judgement().risk.tier > Tier::L0, "{line}");
    }
}

#[test]
fn an_unknown_option_does_not_hide_the_command_after_it() {
    for line in [
        "bwrap --dev-bind / / rm -rf x",
        "nohup --zq y rm -rf x",
        "xargs --zq y rm -rf",
        "timeout --zq y 5 rm -rf x",
        "env --zq y rm -rf x",
        "flock --zq y x rm -rf z",
    ] {
        assert!(rules_of(&self::line(line)).contains(&"rm.force_recursive"), "{line}");
    }
}

#[test]
fn wrappers_nested_too_deep_are_refused() {
    let mut args = vec!["env"; 40];
    args.extend(["ls"]);
    assert_eq!(tier("env", &args), Tier::L2);
    let mut args = vec!["--x"; 1000];
    args.extend(["env"; 1000]);
    assert!(tier("nohup", &args) >= Tier::L1);
}

/// One place a path can lead to, its expected classification, and how serious that is.
const NAMED: &[(&str, Tier, &str)] = &[
    ("a.rs", Tier::L0, "file.read"),
    ("src/../a.rs", Tier::L0, "file.read"),
    ("/w/a.rs", Tier::L0, "file.read"),
    ("/etc/hosts", Tier::L0, "file.read"),
    (".env", Tier::L1, "path.sensitive"),
    ("key.pem", Tier::L1, "path.sensitive"),
    (".git/config", Tier::L1, "path.sensitive"),
    ("../other/a.rs", Tier::L1, "path.outside"),
    ("~/notes.txt", Tier::L1, "path.outside"),
    ("~/.ssh/id_rsa", Tier::L1, "path.secret"),
    ("/h/.aws/credentials", Tier::L1, "path.secret"),
    ("/etc/shadow", Tier::L1, "path.secret"),
    ("/proc/self/environ", Tier::L1, "path.secret"),
    ("link_key", Tier::L1, "path.secret"),
    ("notes_link.txt", Tier::L1, "path.secret"),
    ("link_etc/hosts", Tier::L1, "path.outside"),
];

#[test]
fn a_file_the_user_mentions_is_judged_like_one_the_model_reads() {
    let skill = ToolRestriction { skill: "x".into(), tools: vec!["Bash".into()] };
    for narrowed in [None, Some(skill)] {
        let policy = Policy { narrowed: narrowed.clone(), ..Policy::default() };
        let (place, world) = (place(), world());
        let policy_cx = PolicyContext { policy: &policy, place: &place, world: &world };
        for (path, tier, rule) in NAMED {
            let mention = assess_mention("a", path, policy_cx);
            let risk = mention.judgement().risk.clone();
            assert_eq!((risk.tier, risk.rule.as_str()), (*tier, *rule), "{path}");
            // Nothing the user names is refused, and only plain reading is unasked.
            assert_eq!(matches!(mention, Verdict::Run(_)), *tier == Tier::L0, "{path}");
            assert!(!matches!(mention, Verdict::Refuse(_)), "{path}");
            if narrowed.is_none() {
                let work = StepAction::Tool {
                    name: "file.read".into(),
                    input: serde_json::json!({ "path": path }),
                };
                let step = Step { id: "a".into(), work, requires: Requires::default(), cwd: None };
                let read = assess(step, policy_cx);
                assert_eq!(
                    (&read.judgement().risk, &read.judgement().task),
                    (&risk, &mention.judgement().task)
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_words_are_judged_without_a_panic_and_never_harmless(
        program in any::<String>(), args in proptest::collection::vec(any::<String>(), 0..6)
    ) {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        prop_assume!(rules::find(&program).is_none());
        prop_assert!(tier(&program, &args) > Tier::L0);
    }

    #[test]
    fn any_line_is_judged_without_a_panic(line in "[a-z $`'\"\\\\(){}<>|&;#=\\n-]{0,60}") {
        let verdict = shell_verdict(&line);
        prop_assert!(!verdict.judgement().risk.reasons.is_empty());
    }

    #[test]
    fn any_args_of_a_known_program_are_judged_without_a_panic(
        at in 0usize..200, args in proptest::collection::vec("[-=./~a-z\u{e9}\u{4e2d}]{0,12}", 0..6)
    ) {
        let spec = rules::all().nth(at % rules::all().count()).unwrap();
        let name = spec.names.split(' ').next().unwrap().trim_end_matches('*');
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let risk = risk(name, &args);
        prop_assert_eq!(Some(risk.tier), risk.reasons.iter().map(|r| r.tier).max());
    }
}
