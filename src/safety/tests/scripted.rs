//! Tests scripts as steps of the model.

use serde_json::json;

use super::*;

#[test]
fn a_script_that_is_known_runs_and_another_is_refused() {
    let tier = |input| {
        let work = StepAction::Tool { name: SCRIPT_TOOL.into(), input };
        let step = Step { work, ..step("", &[]) };
        assess_with(step, &Policy::default(), &place()).judgement().risk.tier
    };
    assert_eq!(tier(json!({"script": "known"})), Tier::L0);
    assert_eq!(tier(json!({"script": "known", "args": {"a": 1}})), Tier::L0);
    assert_eq!(tier(json!({"script": "known", "args": "text"})), Tier::L0);
    for wrong in [
        json!({"script": "other"}),
        json!({"script": 7}),
        json!({}),
        json!("known"),
        json!({"script": "known", "args": [1]}),
        json!({"script": "known", "cwd": "/"}),
    ] {
        assert_eq!(tier(wrong.clone()), Tier::L2, "{wrong}");
    }
}
