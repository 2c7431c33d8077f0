//! Tests questions to language servers.

use serde_json::{Value, json};

use super::*;
use crate::tools::{CodeLookup, is_replaced};

fn judged(name: &str, input: Value) -> Verdict {
    let work = StepAction::Tool { name: name.into(), input };
    let step = Step { id: String::new(), work, requires: Requires::default(), cwd: None };
    assess(step, PolicyContext { policy: &Policy::default(), place: &place(), world: &world() })
}

#[test]
fn questions_about_code_of_the_workspace_run_by_themselves() {
    for name in ["code.definition", "code.references", "code.hover"] {
        let verdict = judged(name, json!({ "path": "src/a.rs", "symbol": "x", "line": 3 }));
        assert!(matches!(verdict, Verdict::Run(_)), "{name}");
        let Some(ToolTask::Code(task)) = &verdict.judgement().task else { panic!("{name}") };
        assert_eq!((task.line, task.symbol.as_str()), (Some(3), "x"));
        assert_eq!(task.path.as_deref(), Some(Path::new("/w/src/a.rs")));
    }
    for input in [json!({ "path": "src/a.rs" }), json!({ "query": "x" })] {
        let verdict = judged("code.symbols", input);
        let Some(ToolTask::Code(task)) = &verdict.judgement().task else { panic!() };
        assert_eq!(task.lookup, CodeLookup::Symbols);
    }
}

#[test]
fn nothing_outside_is_asked_about() {
    for input in [
        json!({ "path": "/etc/passwd", "symbol": "root", "new_name": "x" }),
        json!({ "path": "src/a.rs", "symbol": "a\nb", "new_name": "x" }),
        json!({ "path": "src/a.rs", "new_name": "x" }),
    ] {
        let verdict = judged("code.rename", input.clone());
        assert!(matches!(verdict.judgement().task, Some(ToolTask::Fault(_))), "{input}");
    }
}

#[test]
fn only_a_renaming_becomes_another_step() {
    let step = |name: &str| StepAction::Tool { name: name.into(), input: json!({}) };
    assert!(is_replaced(&step("code.rename")));
    assert!(!is_replaced(&step("code.hover")) && !is_replaced(&step("file.edit")));
}
