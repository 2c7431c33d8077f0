//! Tests questions and rules about pages of the web.

use serde_json::json;

use super::*;
use crate::web::{SearchService, SearchSettings, WebSettings};
use avocet_core::protocol::ApprovalMode;
use avocet_core::secret::Secret;

fn fetch(url: &str, policy: &Policy) -> Verdict {
    let work = StepAction::Tool { name: "web.fetch".into(), input: json!({ "url": url }) };
    let step = Step { id: String::new(), work, requires: Requires::default(), cwd: None };
    assess(step, PolicyContext { policy, place: &place(), world: &world() })
}

fn allowing(rule: &str) -> Policy {
    Policy { allowed: vec![PolicyRule::parse(rule).unwrap()], ..Policy::default() }
}

fn runs(url: &str, policy: &Policy) -> bool {
    matches!(fetch(url, policy), Verdict::Run(_))
}

/// The rules that ask.
fn asking(url: &str) -> Vec<String> {
    let verdict = fetch(url, &Policy::default());
    assert!(matches!(verdict, Verdict::Ask(_)), "{url}");
    let reasons = verdict.judgement().risk.reasons.clone();
    reasons.into_iter().filter(|reason| reason.tier > Tier::L0).map(|reason| reason.rule).collect()
}

#[test]
fn a_page_asks_and_the_question_names_what_is_unusual() {
    assert_eq!(asking("https://docs.rs/serde"), ["web.fetch"]);
    assert_eq!(asking("http://docs.rs"), ["web.plain", "web.fetch"]);
    assert_eq!(asking("https://docs.rs:8443"), ["web.port", "web.fetch"]);
    assert_eq!(asking("https://docs.rs@evil.test"), ["web.user", "web.fetch"]);
}

#[test]
fn a_rule_covers_one_host() {
    let policy = allowing("web.fetch docs.rs");
    assert!(runs("https://docs.rs/a?b", &policy));
    for url in ["https://docs.rs:8443/", "https://evil.docs.rs/", "https://docs.rs@evil.test/"] {
        assert!(!runs(url, &policy), "{url}");
    }
    for rule in ["web.fetch", "web.fetch *", "web.fetch docs.rs *", "web.fetch docs.rs x"] {
        assert!(!runs("https://docs.rs/", &allowing(rule)), "{rule}");
    }
    for rule in ["web.fetch docs.rs", "web.fetch *"] {
        let denied = vec![PolicyRule::parse(rule).unwrap()];
        let refusing = Policy { denied, ..policy.clone() };
        assert!(matches!(fetch("https://docs.rs/", &refusing), Verdict::Refuse(_)), "{rule}");
    }
}

#[test]
fn a_remembered_host_is_read_again_unless_it_is_not_encrypted() {
    let (policy, place) = (Policy::default(), place());
    let world = world();
    let policy_cx = PolicyContext { policy: &policy, place: &place, world: &world };
    let grant = suggest_grant(fetch("https://docs.rs/a", &policy).judgement(), policy_cx).unwrap();
    assert_eq!(grant.rule.to_string(), "web.fetch docs.rs");
    assert_eq!(why_never_applies(&grant.rule, None, policy_cx), None);
    assert_eq!(describe_coverage(&grant.rule, None, Path::new("/w")).len(), 1);
    let granting = Policy { granted: vec![grant], ..Policy::default() };
    assert!(runs("https://docs.rs/b", &granting));
    assert!(!runs("http://docs.rs/b", &granting));
    assert!(!runs("https://crates.io", &granting));
    let user = fetch("https://u@docs.rs/", &policy);
    assert_eq!(suggest_grant(user.judgement(), policy_cx), None);
}

#[test]
fn no_mode_answers_for_a_page() {
    for approval in [ApprovalMode::Edits, ApprovalMode::Auto] {
        let policy = Policy { approval, ..Policy::default() };
        assert!(matches!(fetch("https://docs.rs", &policy), Verdict::Ask(_)), "{approval:?}");
    }
    let closed = Policy {
        limits: EffectLimits { network: Limit::Refuse, ..EffectLimits::default() },
        ..allowing("web.fetch docs.rs")
    };
    assert!(matches!(fetch("https://docs.rs", &closed), Verdict::Refuse(_)));
}

#[test]
fn an_address_that_is_not_read_is_a_fault_and_no_question() {
    let off = Policy {
        web: WebSettings { is_off: true, ..WebSettings::default() },
        ..allowing("web.fetch docs.rs")
    };
    for (url, policy) in [
        ("https://docs.rs", &off),
        ("https://169.254.169.254/latest", &Policy::default()),
        ("http://localhost:8080", &Policy::default()),
        ("file:///etc/passwd", &Policy::default()),
    ] {
        let verdict = fetch(url, policy);
        let task = verdict.judgement().task.clone();
        assert!(matches!(task, Some(ToolTask::Fault(_))), "{url}: {task:?}");
    }
    let web = WebSettings { private_hosts: vec!["localhost".into()], ..WebSettings::default() };
    let own = Policy { web, ..Policy::default() };
    assert!(matches!(fetch("http://localhost:8080", &own), Verdict::Ask(_)));
}

fn searching(address: Option<&str>, key: Option<&str>) -> Policy {
    let search = SearchSettings {
        service: SearchService::Brave,
        address: address.map(str::to_owned),
        key: key.map(Secret::new),
        key_variable: "BRAVE_API_KEY".into(),
    };
    let web = WebSettings { search: Some(search), ..WebSettings::default() };
    Policy { web, ..Policy::default() }
}

fn search(query: &str, policy: &Policy) -> Verdict {
    let work = StepAction::Tool { name: "web.search".into(), input: json!({ "query": query }) };
    let step = Step { id: String::new(), work, requires: Requires::default(), cwd: None };
    assess(step, PolicyContext { policy, place: &place(), world: &world() })
}

#[test]
fn a_query_asks_and_the_question_shows_it_and_where_it_goes() {
    let policy = searching(None, Some("k"));
    let verdict = search("rust  async", &policy);
    assert!(matches!(verdict, Verdict::Ask(_)));
    let reasons = &verdict.judgement().risk.reasons;
    let said = reasons[0].say.text(avocet_core::i18n::Lang::En);
    assert!(said.contains("rust async") && said.contains("api.search.brave.com"), "{said}");
    for approval in [ApprovalMode::Edits, ApprovalMode::Auto] {
        let policy = Policy { approval, ..policy.clone() };
        assert!(matches!(search("a", &policy), Verdict::Ask(_)), "{approval:?}");
    }
}

#[test]
fn a_rule_covers_every_query_and_another_refuses_them() {
    let asking = searching(None, Some("k"));
    let (place, world) = (place(), world());
    let policy_cx = PolicyContext { policy: &asking, place: &place, world: &world };
    let grant = suggest_grant(search("a", &asking).judgement(), policy_cx).unwrap();
    assert_eq!(grant.rule.to_string(), "web.search *");
    assert_eq!(why_never_applies(&grant.rule, None, policy_cx), None);
    assert_eq!(describe_coverage(&grant.rule, None, Path::new("/w")).len(), 1);
    let rules = vec![PolicyRule::parse("web.search *").unwrap()];
    let allowing = Policy { allowed: rules.clone(), ..asking.clone() };
    assert!(matches!(search("b", &allowing), Verdict::Run(_)));
    let denying = Policy { denied: rules, ..allowing };
    assert!(matches!(search("b", &denying), Verdict::Refuse(_)));
}

#[test]
fn a_query_to_the_server_of_the_model_names_it_and_needs_one_that_searches() {
    let mut policy = searching(Some("https://ignored.test"), None);
    if let Some(search) = &mut policy.web.search {
        search.service = SearchService::Provider;
        search.key_variable.clear();
    }
    policy.web.set_provider(Some("api.anthropic.com".into()));
    let verdict = search("a", &policy);
    assert!(matches!(verdict, Verdict::Ask(_)));
    let said = verdict.judgement().risk.reasons[0].say.text(avocet_core::i18n::Lang::En);
    assert!(said.contains("`api.anthropic.com`, the server of the model"), "{said}");
    policy.web.set_provider(None);
    let task = search("a", &policy).judgement().task.clone();
    assert!(matches!(task, Some(ToolTask::Fault(_))), "{task:?}");
}

#[test]
fn a_query_that_cannot_be_sent_is_a_fault_and_no_question() {
    let long = "x".repeat(401);
    let usual = searching(None, Some("k"));
    for (query, policy) in [
        ("a", &Policy::default()),
        ("a", &searching(None, None)),
        ("a", &searching(Some("http://box.test"), Some("k"))),
        ("a", &searching(Some("file:///x"), Some("k"))),
        (" ", &usual),
        (long.as_str(), &usual),
    ] {
        let verdict = search(query, policy);
        let task = verdict.judgement().task.clone();
        assert!(matches!(task, Some(ToolTask::Fault(_))), "{query}: {task:?}");
    }
    assert!(searching(Some("http://localhost:8888/"), Some("k")).web.can_search());
}
