//! Tests calls of tools of MCP servers, and the start of the programs of servers.

use serde_json::json;

use super::*;
use avocet_core::protocol::{ApprovalMode, SandboxStatus};

/// A machine with one server, `git`.
struct WithServer;

impl Machine for WithServer {
    fn resolve(&self, path: &Path) -> PathBuf {
        paths::normalize(path)
    }

    fn kind(&self, path: &Path) -> PathKind {
        let files = ["/opt/x/node_modules/a/dist/index.js", "/opt/y/src/main.py", "/opt/z.py"];
        let missing = ["/opt/y/src/package.json", "/opt/y/src/pyproject.toml", "/opt/gone"];
        let path = path.to_str().unwrap();
        match path {
            _ if files.contains(&path) => PathKind::File,
            _ if path.ends_with("node_modules") && !path.starts_with("/opt/x") => PathKind::Missing,
            _ if path.starts_with("/opt/package") || path.starts_with("/package") => {
                PathKind::Missing
            }
            _ if path.starts_with("/opt/pyproject") || path.starts_with("/pyproject") => {
                PathKind::Missing
            }
            _ if missing.contains(&path) => PathKind::Missing,
            _ => PathKind::Folder,
        }
    }

    fn program(&self, name: &str) -> Option<Program> {
        world().program(name)
    }

    fn untrusted_program_folder(&self, name: &str) -> Option<PathBuf> {
        (name == "uvx").then(|| "/h/.local/bin".into())
    }

    fn executable_at(&self, path: &Path) -> Option<Program> {
        Some(Program { path: path.to_owned(), device: 1, inode: 2, modified: 1, link: None })
    }

    fn read(&self, _: &Path, _: usize) -> Contents {
        Contents::Missing
    }

    fn mcp_tool(&self, name: &str) -> Option<McpToolInfo> {
        let tool = name.strip_prefix("mcp.git.").filter(|tool| *tool != "gone")?;
        Some(McpToolInfo {
            server: "git".into(),
            tool: tool.into(),
            is_said_read_only: tool == "log",
        })
    }
}

fn call(name: &str, policy: &Policy) -> Verdict {
    let work = StepAction::Tool { name: name.into(), input: json!({ "path": "/etc/passwd" }) };
    let step = Step { id: String::new(), work, requires: Requires::default(), cwd: None };
    let place = place();
    assess(step, PolicyContext { policy, place: &place, world: &WithServer })
}

fn allowing(rule: &str) -> Policy {
    Policy { allowed: vec![PolicyRule::parse(rule).unwrap()], ..Policy::default() }
}

fn server(program: &str, args: &[&str]) -> Verdict {
    let (policy, place) = (Policy::default(), place());
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    assess_server(
        program,
        &args,
        &ServerReach::default(),
        PolicyContext { policy: &policy, place: &place, world: &WithServer },
    )
}

#[test]
fn a_call_asks_whatever_the_server_says_of_it() {
    for tool in ["mcp.git.commit", "mcp.git.log"] {
        let verdict = call(tool, &Policy::default());
        assert!(matches!(verdict, Verdict::Ask(_)), "{tool}");
        let risk = &verdict.judgement().risk;
        assert_eq!((risk.tier, risk.rule.as_str()), (Tier::L1, tool));
    }
}

#[test]
fn no_mode_answers_for_a_call() {
    for approval in [ApprovalMode::Edits, ApprovalMode::Auto] {
        let policy = Policy { approval, shelter: SandboxStatus::Held, ..Policy::default() };
        assert!(matches!(call("mcp.git.commit", &policy), Verdict::Ask(_)), "{approval:?}");
    }
    let plan = Policy { approval: ApprovalMode::Plan, ..Policy::default() };
    assert!(matches!(call("mcp.git.log", &plan), Verdict::Refuse(_)));
}

#[test]
fn a_rule_covers_one_tool_with_any_input() {
    assert!(matches!(call("mcp.git.log", &allowing("mcp.git.log")), Verdict::Run(_)));
    for rule in ["mcp.git.commit", "mcp.git.lo", "mcp.git.*", "mcp.git.log x"] {
        assert!(matches!(call("mcp.git.log", &allowing(rule)), Verdict::Ask(_)), "{rule}");
    }
    let refusing = Policy { denied: allowing("mcp.git.log").allowed, ..allowing("mcp.git.log") };
    assert!(matches!(call("mcp.git.log", &refusing), Verdict::Refuse(_)));
}

#[test]
fn a_rule_refuses_or_asks_about_all_tools_of_a_server_and_allows_none() {
    let named = |rules: &[&str]| -> Vec<PolicyRule> {
        rules.iter().map(|rule| PolicyRule::parse(rule).unwrap()).collect()
    };
    let allowed = named(&["mcp.git.log", "mcp.git.*", "mcp.*"]);
    for rule in ["mcp.git.*", "mcp.git.l*", "mcp.*"] {
        let asked = Policy { allowed: allowed.clone(), asked: named(&[rule]), ..Policy::default() };
        assert!(matches!(call("mcp.git.log", &asked), Verdict::Ask(_)), "{rule}");
        let denied = Policy { denied: named(&[rule]), ..asked };
        assert!(matches!(call("mcp.git.log", &denied), Verdict::Refuse(_)), "{rule}");
    }
    let other = Policy { allowed, denied: named(&["mcp.gi.*", "mcp.git.p*"]), ..Policy::default() };
    assert!(matches!(call("mcp.git.log", &other), Verdict::Run(_)));
    assert!(matches!(call("mcp.git.commit", &other), Verdict::Ask(_)), "a star allows nothing");
}

#[test]
fn the_rule_that_is_offered_is_the_name_of_the_tool() {
    let (policy, place) = (Policy::default(), place());
    let policy_cx = PolicyContext { policy: &policy, place: &place, world: &WithServer };
    let grant = suggest_grant(call("mcp.git.log", &policy).judgement(), policy_cx).unwrap();
    assert_eq!(grant.rule.to_string(), "mcp.git.log");
    let granting = Policy { granted: vec![grant.clone()], ..Policy::default() };
    assert!(matches!(call("mcp.git.log", &granting), Verdict::Run(_)));
    assert!(matches!(call("mcp.git.commit", &granting), Verdict::Ask(_)));
    assert_eq!(why_never_applies(&grant.rule, None, policy_cx), None);
    assert_eq!(describe_coverage(&grant.rule, None, Path::new("/w")).len(), 1);
}

#[test]
fn a_tool_that_no_server_has_does_nothing() {
    for name in ["mcp.git.gone", "mcp.other.log"] {
        let verdict = call(name, &Policy::default());
        assert_eq!(verdict.judgement().risk.rule, "tool.unknown", "{name}");
    }
    assert!(matches!(call("mcp.find", &Policy::default()), Verdict::Run(_)));
}

#[test]
fn a_server_may_be_a_program_of_any_folder_and_runs_as_an_approved_step() {
    for program in ["mcp-server-git", "/opt/venv/bin/python", "npx", "uvx"] {
        let verdict = server(program, &["--stdio"]);
        assert!(matches!(verdict, Verdict::Ask(_)), "{program}: {:?}", verdict.judgement().risk);
        let judged = verdict.judgement();
        assert_eq!(judged.risk.tier, Tier::L1, "{program}");
        assert!(judged.launch.needs.network, "{program}");
    }
    let uvx = server("uvx", &[]);
    assert_eq!(uvx.judgement().program.as_ref().unwrap().path, Path::new("/h/.local/bin/uvx"));
}

#[test]
fn a_server_that_takes_over_the_system_does_not_start() {
    for (program, args) in [("sudo", &["x"][..]), ("rm", &["-rf", "/"]), ("a\0b", &[])] {
        assert!(matches!(server(program, args), Verdict::Refuse(_)), "{program}");
    }
}

#[test]
fn a_server_reaches_what_its_command_line_names_and_nothing_private() {
    let opened = |args: &[&str]| {
        let launch = server("node", args).judgement().launch.clone();
        let shown = |paths: &[PathBuf]| -> Vec<String> {
            paths.iter().map(|path| path.display().to_string()).collect()
        };
        (shown(&launch.readable), shown(&launch.writes))
    };
    let none: Vec<String> = Vec::new();
    assert_eq!(opened(&["/opt/data"]), (vec!["/opt/data".into()], vec!["/opt/data".into()]));
    let package = "/opt/x/node_modules/a/dist/index.js";
    assert_eq!(opened(&[package]), (vec!["/opt/x/node_modules".into()], none.clone()));
    assert_eq!(opened(&["/opt/y/src/main.py"]), (vec!["/opt/y".into()], none.clone()));
    for private in ["/", "/h", "/h/.ssh", "/h/.aws/credentials", "/opt/gone", "/w/sub", "relative"]
    {
        assert_eq!(opened(&[private]), (none.clone(), none.clone()), "{private}");
    }
}

#[test]
fn a_server_reaches_what_it_is_given_and_not_what_is_withheld() {
    let reach = ServerReach {
        is_offline: true,
        folders: vec!["/opt/more".into(), "/h/.ssh".into(), "relative".into()],
        closed: vec!["/opt/data".into()],
    };
    let (policy, place) = (Policy::default(), place());
    let context = PolicyContext { policy: &policy, place: &place, world: &WithServer };
    let args = ["/opt/data".to_owned(), "/opt/other".to_owned()];
    let verdict = assess_server("node", &args, &reach, context);
    let launch = &verdict.judgement().launch;
    assert!(!launch.needs.network);
    assert_eq!(launch.writes, ["/opt/other", "/opt/more"].map(PathBuf::from));
}
