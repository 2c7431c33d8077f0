//! Counts the questions of a whole task in each mode.

use super::*;

/// A task from the first look to the commit: what is read, changed, tested and recorded.
fn thirty_steps() -> Vec<Vec<Step>> {
    let read = |path: &str| tool("file.read", serde_json::json!({ "path": path }));
    let find = |text: &str| tool("file.search", serde_json::json!({ "query": text }));
    let edit = |path: &str| {
        let input = serde_json::json!({ "path": path, "old": "text", "new": "other" });
        tool("file.edit", input)
    };
    let write = || {
        let input = serde_json::json!({ "path": "tests/new.test.js", "content": "test();\n" });
        tool("file.write", input)
    };
    let test = || step_of("node --test tests/limit.test.js");
    let one = |step: Step| vec![step];
    vec![
        vec![
            step_of("ls -la"),
            read("a.txt"),
            step_of("git status --short"),
            step_of("git log --oneline -5"),
        ],
        vec![find("text"), read("src/main.rs"), find("other")],
        vec![read("b.txt"), step_of("wc -l src/main.rs"), read("docs/guide.md")],
        one(test()),
        one(edit("src/main.rs")),
        one(edit("src/util/x.rs")),
        one(test()),
        one(write()),
        one(test()),
        one(edit("a.txt")),
        one(test()),
        one(edit("docs/guide.md")),
        one(edit("b.txt")),
        one(step_of("npm run check:lint")),
        one(step_of("npx tsc -p tsconfig.js.json")),
        one(step_of("node examples/pizza.js --chese")),
        vec![step_of("git diff --stat"), step_of("git diff src")],
        one(test()),
        one(step_of("git checkout -b fix/suggestions")),
        vec![step_of("git add -A"), step_of("git commit -m 'Show three'")],
        vec![step_of("git log -1 --stat"), step_of("git status --short")],
    ]
}

/// How often it is asked, where a user lets be remembered what is offered, and approves the rest of
/// a list with its first step.
fn count_questions(approval: ApprovalMode) -> usize {
    let mut policy = policy(approval, SandboxStatus::Held);
    let (place, mut questions) = (place(), 0);
    for list in thirty_steps() {
        let mut asked = false;
        for step in list {
            let machine = Project::default();
            let policy_cx = PolicyContext { policy: &policy, place: &place, world: &machine };
            let verdict = assess(step, policy_cx);
            assert!(!matches!(verdict, Verdict::Refuse(_)), "{verdict:?}");
            if matches!(verdict, Verdict::Ask(_)) {
                questions += usize::from(!asked);
                asked = true;
                let grants = suggest_grants(verdict.judgement(), policy_cx);
                policy.granted.extend(grants);
            }
        }
    }
    questions
}

#[test]
fn a_task_of_thirty_steps_asks_seldom_and_in_auto_never() {
    let steps: usize = thirty_steps().iter().map(Vec::len).sum();
    assert!(steps >= 30, "{steps}");
    let asked = [ApprovalMode::Ask, ApprovalMode::Edits, ApprovalMode::Auto].map(count_questions);
    assert_eq!(asked, [8, 5, 0]);
}
