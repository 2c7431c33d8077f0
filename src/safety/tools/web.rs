//! Judges what a model wants to read from the web.

use super::input::{InputError, InputFields, Names, find_field};
use super::schema::{FieldKind, FieldRow, optional, required};

use crate::findings::{Findings, excerpt};
use crate::policy::{Policy, PolicyRule};
use crate::refusal;
use crate::spec::JudgeContext;
use crate::web::{self, FetchTask, WebSearchTask};
use avocet_core::i18n::{LocalizedText, web as phrases};
use avocet_core::protocol::{Effect, StepAction, Tier};

const URL: Names = &["url", "uri", "address", "link", "href", "page"];
const FROM: Names = &["from", "start_index", "offset", "start"];

pub const FETCH_FIELDS: &[FieldRow] =
    &[required(URL, FieldKind::Text), optional(FROM, FieldKind::Number).says("byte to go on at")];

const QUERY: Names = &["query", "q", "search_query", "text", "search_term", "keywords"];

pub const SEARCH_FIELDS: &[FieldRow] = &[required(QUERY, FieldKind::Text)];

pub fn fetch(
    input: &InputFields<'_>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> Result<FetchTask, InputError> {
    let policy = context.policy_cx.policy;
    if policy.web.is_off {
        return Err(InputError::from(LocalizedText::from(phrases::OFF)));
    }
    let written = web::parse_address(input.text(URL)?)?;
    let from = input.number(FROM)?.unwrap_or_default();
    let host = web::host_label(&written);
    let mut asks = |rule: &str, say| findings.add(rule, Tier::L1, say, None, &[Effect::Network]);
    if !written.username().is_empty() || written.password().is_some() {
        asks("web.user", phrases::FETCHES_USER.with("host", excerpt(&host)));
    }
    if written.scheme() == "http" {
        asks("web.plain", phrases::FETCHES_PLAIN.into());
    }
    if let Some(port) = written.port() {
        asks("web.port", phrases::FETCHES_PORT.with("port", usize::from(port)));
    }
    asks(web::FETCH, phrases::FETCHES.with("host", excerpt(&host)));
    let url = web::without_user(written);
    let task = FetchTask {
        url,
        from,
        private_hosts: policy.web.private_hosts.clone(),
        allowed_hosts: allowed_hosts(policy),
    };
    task.check_host(&task.url)?;
    Ok(task)
}

/// Longer ones are refused by services.
const MAX_QUERY: usize = 400;

pub fn search(
    input: &InputFields<'_>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> Result<WebSearchTask, InputError> {
    let fault = |say: LocalizedText| InputError::from(say);
    let web = &context.policy_cx.policy.web;
    let settings = web.search.clone().ok_or_else(|| fault(phrases::SEARCH_OFF.into()))?;
    let words: Vec<&str> = input.text(QUERY)?.split_whitespace().collect();
    let query = words.join(" ");
    if query.is_empty() || query.chars().count() > MAX_QUERY {
        return Err(fault(phrases::SEARCH_LENGTH.with("most", MAX_QUERY)));
    }
    let url = settings.endpoint()?;
    let host = web::host_label(&url);
    let is_by_provider = settings.is_by_provider();
    let sends = if is_by_provider { phrases::SEARCHES_BY_PROVIDER } else { phrases::SEARCHES };
    let say = sends.with("host", host.as_str()).with("query", excerpt(&query));
    findings.add(web::SEARCH, Tier::L1, say, None, &[Effect::Network]);
    // An address of the user's own is named by it.
    let named = settings.address.is_some().then_some(host);
    let private_hosts = web.private_hosts.iter().cloned().chain(named).collect();
    let page = FetchTask { url, from: 0, private_hosts, allowed_hosts: Vec::new() };
    page.check_host(&page.url)?;
    Ok(WebSearchTask { query, settings, page })
}

/// The hosts that rules of the user allow.
fn allowed_hosts(policy: &Policy) -> Vec<String> {
    let is_refused = |rule: &PolicyRule| {
        let mut denied = policy.denied.iter();
        denied.any(|deny| refusal::refuses(deny, &rule.program, &rule.args))
    };
    let rules = policy.allow_rules().into_iter();
    let rules = rules.filter(|rule| is_host_rule(rule) && !is_refused(rule));
    rules.flat_map(|rule| rule.args).collect()
}

/// Whether a rule is about one host.
pub fn is_host_rule(rule: &PolicyRule) -> bool {
    rule.program == web::FETCH && !rule.open && rule.args.len() == 1
}

/// The host that a step reads from.
pub fn host_of(action: &StepAction) -> Option<String> {
    let StepAction::Tool { name, input } = action else { return None };
    let (_, text) = find_field(input.as_object()?, URL).filter(|_| name == web::FETCH)?;
    Some(web::host_label(&web::parse_address(text.as_str()?).ok()?))
}
