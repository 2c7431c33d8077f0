//! Only the user can approve a step that runs outside the sandbox or can read credentials: no option,
//! no mode, no `*` rule and no chat user who is not an admin can.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use avocet::cli::args::ApprovalFlags;
use avocet::cli::headless::{HeadlessEffect, HeadlessTurn, Options};
use avocet::cli::messages::Printer;
use avocet::gateway::question::{AnswerOutcome, ChatQuestion};
use avocet::i18n::Lang;
use avocet::protocol::{
    ApprovalMode, Ask, AskId, Decision, Event, Op, Question, QuestionOp, Requires, Risk, Step,
    StepAction, StepQuestion, TemplateCommand, TurnOp,
};
use avocet::safety::redact::Redactor;
use avocet::safety::{
    Contents, EffectLimits, Limit, Machine, PathKind, Policy, PolicyContext, PolicyRule, Program,
    Verdict, Workspace, assess, assess_template_command,
};
use avocet::tools::system::System;

/// Each step, with a rule that would match it.
const STEPS: &[(&str, &str)] = &[
    ("sudo apt install x", "sudo *"),
    ("sudo mount /dev/sdb1 /mnt", "sudo *"),
    ("apt install x", "apt *"),
    ("apt-get install x", "apt-get install *"),
    ("mount /dev/sdb1 /mnt", "mount *"),
    ("rpm -i x.rpm", "rpm *"),
    ("systemctl restart nginx", "systemctl *"),
    ("systemctl --user restart x", "systemctl *"),
    ("service nginx restart", "service *"),
    ("systemd-run --user make", "systemd-run *"),
    ("crontab job.txt", "crontab *"),
    ("at -f job.sh now", "at *"),
    ("docker run -v /:/host alpine", "docker *"),
    ("docker run -v /etc:/e alpine", "docker run *"),
    ("git push", "git push *"),
    ("git push origin main", "git push *"),
    ("gh pr create", "gh *"),
    ("gh pr create --fill", "gh pr create *"),
    ("aws s3 ls", "aws *"),
    ("aws s3 cp a s3://b", "aws s3 cp *"),
    ("kubectl get pods", "kubectl *"),
    ("ssh host ls", "ssh *"),
    ("npm publish", "npm *"),
    ("docker ps", "docker *"),
    ("gpg -d x", "gpg *"),
    ("env LANG=C gh pr create", "env *"),
    ("timeout 5 aws s3 ls", "timeout *"),
];

/// A machine on which every program and every credential file exists.
struct Everything;

impl Machine for Everything {
    fn resolve(&self, path: &Path) -> PathBuf {
        path.components().collect()
    }

    fn kind(&self, path: &Path) -> PathKind {
        if path.starts_with("/w") { PathKind::Folder } else { PathKind::File }
    }

    fn program(&self, name: &str) -> Option<Program> {
        let path = Path::new("/usr/bin").join(name);
        (!name.contains('/')).then_some(Program {
            path,
            device: 1,
            inode: 1,
            modified: 1,
            link: None,
        })
    }

    fn read(&self, _: &Path, _: usize) -> Contents {
        Contents::Missing
    }
}

/// The most permissive settings.
fn lenient() -> Policy {
    let lift = ["apt.install", "mount", "sudo"].map(str::to_owned).into();
    Policy {
        limits: EffectLimits { elevate: Limit::Ask, ..EffectLimits::default() },
        lift,
        ..Policy::default()
    }
}

fn step(line: &str) -> Step {
    let words: Vec<&str> = line.split(' ').collect();
    let work = StepAction::exec(words[0], &words[1..]);
    Step { id: "cmd_001".to_owned(), work, requires: Requires::default(), cwd: None }
}

fn judge(line: &str, policy: &Policy) -> Verdict {
    in_place(line, |place, world| assess(step(line), PolicyContext { policy, place, world }))
}

/// A command of git is judged in a repository, in a home with keys.
fn in_place<T>(line: &str, judge: impl FnOnce(&Workspace, &dyn Machine) -> T) -> T {
    if !line.starts_with("git ") {
        return judge(&Workspace::new("/w", "/h"), &Everything);
    }
    let root = crate::support::temp_dir();
    let home = root.path().canonicalize().unwrap();
    let workspace = home.join("w");
    fs::create_dir_all(home.join(".ssh")).unwrap();
    fs::write(home.join(".ssh/id_ed25519"), "FAKE\n").unwrap();
    let made = Command::new("git").args(["init", "-q"]).arg(&workspace).status();
    assert!(made.unwrap().success());
    let world = System::new(&workspace, &home, &[]);
    judge(&Workspace::new(workspace, home), &world)
}

/// The risk of a step that needs approval.
fn risk(line: &str) -> Risk {
    let verdict = judge(line, &lenient());
    assert!(!matches!(verdict, Verdict::Run(_)), "{line}");
    verdict.judgement().risk.clone()
}

fn piece(line: &str) -> TemplateCommand {
    let policy = lenient();
    let risk = in_place(line, |place, world| {
        let scene = PolicyContext { policy: &policy, place, world };
        assess_template_command("cmd_001", line, scene).judgement().risk.clone()
    });
    TemplateCommand { id: "cmd_001".into(), line: line.into(), risk, commands: vec![] }
}

fn question(line: &str) -> Ask {
    let question = Question::Step(StepQuestion::new(step(line), risk(line), "/w"));
    Ask { id: AskId(1), question }
}

fn options(approved: ApprovalFlags, has_user: bool) -> Options {
    Options {
        json: false,
        approved,
        has_user,
        schema: None,
        printer: Printer { lang: Lang::En, clean: str::to_owned, width: None },
        clean: str::to_owned,
        secrets: Arc::new(Redactor::new([("NONE", "hunter2hunter2")], [7; 16])),
    }
}

/// What a headless run decides without a user.
fn decisions(ask: Ask, approved: ApprovalFlags, has_user: bool) -> Vec<Decision> {
    let options = options(approved, has_user);
    let mut turn = HeadlessTurn::new(&options, &Op::Turn(TurnOp::Submit { text: "go".into() }));
    let effects = turn.on_event(&Event::Asked(Box::new(ask)));
    effects
        .into_iter()
        .filter_map(|effect| match effect {
            HeadlessEffect::Send(Op::Question(QuestionOp::Decide { decision, .. })) => {
                Some(decision)
            }
            _ => None,
        })
        .collect()
}

const YES: ApprovalFlags = ApprovalFlags {
    template_commands: true,
    steps: Some("--approve-steps"),
    secrets: false,
    all: false,
};

fn approves(decision: &Decision) -> bool {
    matches!(decision, Decision::Approve | Decision::ApproveAll { .. } | Decision::Remember(_))
}

#[test]
fn the_option_that_approves_steps_approves_none_of_them() {
    for (line, _) in STEPS {
        for has_user in [false, true] {
            let decided = decisions(question(line), YES, has_user);
            assert!(!decided.is_empty() && !decided.iter().any(approves), "{line}: {decided:?}");
        }
    }
    let decided = decisions(question("mkdir x"), YES, false);
    assert_eq!(decided, [Decision::ApproveAll { steps: vec![] }], "others are");
}

#[test]
fn the_option_that_approves_the_pieces_of_a_template_approves_none_of_them() {
    let ask = |pieces: Vec<TemplateCommand>| Ask {
        id: AskId(1),
        question: Question::Pieces { of: "/x".into(), cwd: "/w".into(), pieces },
    };
    for (line, _) in STEPS {
        for has_user in [false, true] {
            let decided = decisions(ask(vec![piece(line)]), YES, has_user);
            assert!(!decided.iter().any(approves), "{line}: {decided:?}");
            // With a user at the terminal, the question is asked.
            assert_eq!(decided.is_empty(), has_user, "{line}: {decided:?}");
        }
        assert!(!piece(line).can_preapprove(false), "{line}");
    }
    let decided = decisions(ask(vec![piece("mkdir x")]), YES, false);
    assert!(decided.iter().all(approves) && !decided.is_empty(), "others are: {decided:?}");
}

#[test]
fn no_mode_answers_them() {
    for approval in [ApprovalMode::Ask, ApprovalMode::Edits, ApprovalMode::Plan] {
        for (line, _) in STEPS {
            let verdict = judge(line, &Policy { approval, ..lenient() });
            assert!(!matches!(verdict, Verdict::Run(_)), "{approval:?}: {line}");
        }
    }
}

#[test]
fn no_rule_with_a_star_answers_them() {
    for (line, rule) in STEPS {
        let rule = PolicyRule::parse(rule).unwrap();
        assert_eq!(rule.matches_line(line), Some(true), "{rule}");
        let verdict = judge(line, &Policy { allowed: vec![rule.clone()], ..lenient() });
        assert!(!matches!(verdict, Verdict::Run(_)), "{rule}: {line}");
    }
}

#[test]
fn they_are_never_one_of_several_that_are_approved_at_once() {
    for (line, _) in STEPS {
        assert!(!risk(line).can_batch_approve(), "{line}");
    }
}

#[test]
fn a_user_of_a_chat_who_is_no_admin_approves_none_of_them() {
    for (line, _) in STEPS {
        let chat = ChatQuestion::new(question(line), "k7m2p9q4".into(), Some("7".into()));
        let mut answers: Vec<AnswerOutcome> = ["once", "go", "all", "session", "project", "edits"]
            .iter()
            .flat_map(|pick| [chat.press(pick, false), chat.approve(pick, false)])
            .collect();
        let typed = ["y", "yes", "YES", "once", "1", "YES k7m2", "YES K7M2"];
        answers.extend(typed.iter().map(|text| chat.typed(text, false)));
        for answer in answers {
            let approved =
                matches!(&answer, AnswerOutcome::Decided(decision) if approves(decision));
            assert!(!approved, "{line}: {answer:?}");
        }
    }
    let chat = ChatQuestion::new(question("mkdir x"), "k7m2p9q4".into(), Some("7".into()));
    assert_eq!(
        chat.press("once", false),
        AnswerOutcome::Decided(Decision::Approve),
        "others they do"
    );
}

#[test]
fn what_runs_without_the_sandbox_takes_the_deliberate_approval() {
    for line in [
        "sudo apt install x",
        "apt install x",
        "rpm -i x.rpm",
        "sudo mount /dev/sdb1 /mnt",
        "systemctl restart nginx",
        "systemctl --user stop x",
        "systemctl daemon-reload",
        "timeout 5 systemctl start x",
        "service nginx restart",
        "launchctl load x.plist",
        "systemd-run --user make",
        "crontab job.txt",
        "crontab -e",
        "at -f job.sh now",
        "docker run -v /:/host alpine",
    ] {
        assert!(risk(line).is_high_risk(), "{line}");
    }
    for line in ["git push", "systemctl status nginx", "systemctl --user show x"] {
        assert!(!risk(line).is_high_risk(), "{line}");
    }
}
