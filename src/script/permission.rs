//! Decides what the model and the scripts it runs may call: the `permissions` of a script.
//!
//! A rule that denies wins over every rule that allows, in any order. A call that no rule matches
//! gets `defaultAction`; without one, the user is asked. This does not cover what a tool then does:
//! the policy judges each of its steps.

use globset::{GlobBuilder, GlobMatcher};
use serde_json::{Map, Value};

use super::error::{ScriptError, quoted};
use super::source;
use super::template::print;
use avocet_config::suggest;
use avocet_core::i18n::{LocalizedText, script as phrases, script_run as run_words};

/// Maximum number of rules in one script.
const MAX_RULES: usize = 1000;

/// The decision about one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallVerdict {
    Allow,
    Deny,
    Confirm,
}

impl CallVerdict {
    fn parse(name: &str) -> Result<CallVerdict, ScriptError> {
        match name {
            "allow" => Ok(CallVerdict::Allow),
            "deny" => Ok(CallVerdict::Deny),
            "confirm" => Ok(CallVerdict::Confirm),
            other => {
                let said = phrases::PERMISSION_ACTION.with("action", quoted(other));
                Err(with_nearest(said, other, &["allow", "deny", "confirm"]))
            }
        }
    }
}

/// The names of one call: the one it is written with, and every other of the same script or tool.
/// A rule about any of them is a rule about the call: a path or a second ID does not get around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallNames {
    written: String,
    own: Vec<String>,
    denied_as: Vec<String>,
}

impl CallNames {
    pub fn new<'a>(written: &str, others: impl IntoIterator<Item = &'a str>) -> CallNames {
        let others = others.into_iter().map(normalize_name);
        let own = std::iter::once(normalize_name(written)).chain(others).collect();
        CallNames { written: written.to_owned(), own, denied_as: Vec::new() }
    }

    /// Adds names under which the call can be forbidden or asked about, but not allowed.
    #[must_use]
    pub fn denied_as<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> CallNames {
        self.denied_as.extend(names.into_iter().map(normalize_name));
        self
    }

    /// As a sentence names the call.
    pub fn written(&self) -> &str {
        &self.written
    }

    fn has_own(&self, glob: &GlobMatcher) -> bool {
        self.own.iter().any(|name| glob.is_match(name))
    }

    fn has(&self, glob: &GlobMatcher) -> bool {
        self.has_own(glob) || self.denied_as.iter().any(|name| glob.is_match(name))
    }
}

/// A note for the user about `permissions` that do not do what they say: `overwriteAction` would
/// lift the rules below it, and is ignored for safety.
pub fn ignored_setting_note(permissions: &Value) -> Option<LocalizedText> {
    let overwrite = permissions.get("overwriteAction").filter(|action| !action.is_null());
    overwrite.map(|_| phrases::PERMISSION_OVERWRITE.into())
}

/// The parsed rules of a script.
#[derive(Clone, Debug)]
pub struct Rules {
    rules: Vec<Rule>,
    default: CallVerdict,
}

#[derive(Clone, Debug)]
struct Rule {
    name: GlobMatcher,
    action: CallVerdict,
    parameters: Vec<(String, Vec<Pattern>)>,
}

/// A glob for the value of a parameter.
#[derive(Clone, Debug)]
struct Pattern {
    glob: GlobMatcher,
    denies: bool,
}

impl Rules {
    /// Parses `permissions`. A rule that cannot be parsed is an error, never skipped: it might be
    /// the one that forbids.
    pub fn read(permissions: &Value) -> Result<Rules, ScriptError> {
        let Value::Object(map) = permissions else {
            return Err(phrases::PERMISSION_NO_MAP.into());
        };
        check_keys(map, KEYS)?;
        let ai = map.get("ai").filter(|ai| !ai.is_null());
        match ai {
            None => {}
            Some(Value::Object(ai)) => check_keys(ai, AI_KEYS)?,
            Some(_) => return Err(phrases::PERMISSION_NO_MAP.into()),
        }
        let calls = ai.and_then(|ai| ai.get("call"));
        let items: &[Value] = match calls {
            None | Some(Value::Null) => &[],
            Some(Value::Array(items)) => items,
            Some(one) => std::slice::from_ref(one),
        };
        if items.len() > MAX_RULES {
            return Err(phrases::PERMISSION_MANY.with("limit", MAX_RULES).into());
        }
        let mut rules = Vec::new();
        for item in items {
            rules.push(parse_rule(item)?);
        }
        let default = map.get("defaultAction").filter(|action| !action.is_null());
        let default = match default.or_else(|| ai.and_then(|ai| ai.get("defaultAction"))) {
            None | Some(Value::Null) => CallVerdict::Confirm,
            Some(action) => CallVerdict::parse(&print::text(action))?,
        };
        Ok(Rules { rules, default })
    }

    /// The decision about one call.
    pub fn judge(&self, names: &CallNames, args: &Map<String, Value>) -> CallVerdict {
        self.judge_by_rules(names, args).unwrap_or(self.default)
    }

    /// The decision of the rules about one call, without the default: a denial wins, then a rule
    /// that asks, then one that allows.
    pub fn judge_by_rules(
        &self,
        names: &CallNames,
        args: &Map<String, Value>,
    ) -> Option<CallVerdict> {
        let verdict = |rule: &Rule| {
            let verdict = rule.verdict(args)?;
            (verdict != CallVerdict::Allow || names.has_own(&rule.name)).then_some(verdict)
        };
        let rules = self.rules.iter().filter(|rule| names.has(&rule.name));
        let verdicts: Vec<CallVerdict> = rules.filter_map(verdict).collect();
        [CallVerdict::Deny, CallVerdict::Confirm, CallVerdict::Allow]
            .into_iter()
            .find(|verdict| verdicts.contains(verdict))
    }

    /// Whether a call is refused whatever its arguments are.
    pub fn forbids_always(&self, names: &CallNames) -> bool {
        let mut rules = self.rules.iter().filter(|rule| names.has(&rule.name)).peekable();
        match rules.peek() {
            None => self.default == CallVerdict::Deny,
            Some(_) => rules.any(|rule| rule.forbids(&Map::new())),
        }
    }

    /// Whether a rule forbids these arguments, whatever it allows.
    pub fn forbids(&self, names: &CallNames, args: &Map<String, Value>) -> bool {
        let mut rules = self.rules.iter().filter(|rule| names.has(&rule.name));
        rules.any(|rule| rule.forbids(args))
    }
}

/// The keys of `permissions`, of `ai` in it, and of a rule. Any other is an error: a misspelt one
/// would silently forbid nothing.
const KEYS: &[&str] = &["ai", "defaultAction", "overwriteAction"];
const AI_KEYS: &[&str] = &["call", "defaultAction", "overwriteAction"];
const RULE_KEYS: &[&str] = &["action", "parameters"];
const NAMED_RULE_KEYS: &[&str] = &["name", "action", "parameters"];

fn check_keys(map: &Map<String, Value>, known: &[&str]) -> Result<(), ScriptError> {
    let Some(name) = map.keys().find(|name| !known.contains(&name.as_str())) else {
        return Ok(());
    };
    let list = known.join(", ");
    let said = phrases::PERMISSION_KEY.with("name", quoted(name)).with("list", list);
    Err(with_nearest(said, name, known))
}

fn with_nearest(text: LocalizedText, name: &str, known: &[&str]) -> ScriptError {
    match suggest::nearest(name, known.iter().copied()).first() {
        Some(near) => run_words::DID_YOU_MEAN.with("what", text).with("near", quoted(near)).into(),
        None => text.into(),
    }
}

impl Rule {
    /// Whether a `!` pattern matches an argument, or the rule is a denial that applies.
    fn forbids(&self, args: &Map<String, Value>) -> bool {
        let is_forbidden = self.parameters.iter().any(|(name, patterns)| {
            let forms = args.get(name).map(normalized_forms).unwrap_or_default();
            let mut denying = patterns.iter().filter(|pattern| pattern.denies);
            denying.any(|pattern| forms.iter().any(|form| pattern.glob.is_match(form)))
        });
        let denies = self.action == CallVerdict::Deny;
        is_forbidden || (denies && self.verdict(args) == Some(CallVerdict::Deny))
    }

    /// `None` if the rule does not apply to these arguments.
    fn verdict(&self, args: &Map<String, Value>) -> Option<CallVerdict> {
        let mut fits = true;
        for (name, patterns) in &self.parameters {
            let forms = args.get(name).map(normalized_forms).unwrap_or_default();
            // A value is forbidden if a `!` pattern matches any of its forms.
            if patterns.iter().any(|pattern| {
                pattern.denies && forms.iter().any(|form| pattern.glob.is_match(form))
            }) {
                return Some(CallVerdict::Deny);
            }
            let mut wanted = patterns.iter().filter(|pattern| !pattern.denies).peekable();
            // All forms must be allowed: `/safe/../etc` is not in `/safe`.
            let allowed = wanted.peek().is_none()
                || (!forms.is_empty()
                    && forms
                        .iter()
                        .all(|form| patterns.iter().any(|p| !p.denies && p.glob.is_match(form))));
            fits &= allowed;
        }
        match (fits, self.action) {
            (true, action) => Some(action),
            // A rule that allows denies everything outside its parameters.
            (false, CallVerdict::Allow) if !self.parameters.is_empty() => Some(CallVerdict::Deny),
            (false, _) => None,
        }
    }
}

fn parse_rule(item: &Value) -> Result<Rule, ScriptError> {
    match item {
        Value::String(text) => {
            let (name, action) = match text.strip_prefix('!') {
                Some(name) => (name, CallVerdict::Deny),
                None => (text.as_str(), CallVerdict::Allow),
            };
            Ok(Rule { name: build_name_glob(name)?, action, parameters: Vec::new() })
        }
        Value::Object(map) => match (map.get("name"), map.iter().next()) {
            (Some(Value::String(name)), _) => {
                check_keys(map, NAMED_RULE_KEYS)?;
                parse_detailed_rule(name, map)
            }
            (None, Some((name, Value::Object(details)))) if map.len() == 1 => {
                check_keys(details, RULE_KEYS)?;
                parse_detailed_rule(name, details)
            }
            (None, Some((name, Value::String(action)))) if map.len() == 1 => {
                let details =
                    [("action".to_owned(), Value::from(action.as_str()))].into_iter().collect();
                parse_detailed_rule(name, &details)
            }
            _ => Err(phrases::PERMISSION_NO_NAME.with("rule", quoted(&item.to_string())).into()),
        },
        other => Err(phrases::PERMISSION_NO_NAME.with("rule", quoted(&other.to_string())).into()),
    }
}

fn parse_detailed_rule(name: &str, details: &Map<String, Value>) -> Result<Rule, ScriptError> {
    if name.starts_with('!') {
        return Err(phrases::PERMISSION_NEGATIVE.with("name", quoted(name)).into());
    }
    let action = match details.get("action") {
        None | Some(Value::Null) => CallVerdict::Allow,
        Some(action) => CallVerdict::parse(&print::text(action))?,
    };
    let mut parameters = Vec::new();
    let named = details.get("parameters").filter(|named| !named.is_null());
    if let Some(named) = named {
        let named = named.as_object().ok_or(phrases::PERMISSION_PARAMETERS)?;
        for (name, globs) in named {
            let globs = match globs {
                Value::Array(globs) => globs.clone(),
                one => vec![one.clone()],
            };
            let mut patterns = Vec::new();
            for text in globs.iter().map(print::text) {
                let (denies, text) = match text.strip_prefix('!') {
                    Some(rest) => (true, rest.to_owned()),
                    None => (false, text),
                };
                patterns.push(Pattern { glob: build_glob(&text)?, denies });
            }
            parameters.push((name.clone(), patterns));
        }
    }
    Ok(Rule { name: build_name_glob(name)?, action, parameters })
}

/// A glob for the name of a script or tool.
fn build_name_glob(text: &str) -> Result<GlobMatcher, ScriptError> {
    let text = without_decoration(text.trim());
    build_glob(text.strip_prefix("./").unwrap_or(text))
}

/// A star matches `/` as well, so that a folder's rule covers any depth below it.
fn build_glob(text: &str) -> Result<GlobMatcher, ScriptError> {
    let wrong = |error: globset::Error| {
        phrases::PERMISSION_GLOB.with("glob", quoted(text)).with("why", error.kind().to_string())
    };
    let built = GlobBuilder::new(text)
        .literal_separator(false)
        .backslash_escape(true)
        .build()
        .map_err(wrong)?;
    Ok(built.compile_matcher())
}

/// `$name`, `name.ai.yaml`, `./name` and `folder/../name` are the tool `name`.
fn normalize_name(name: &str) -> String {
    let name = name.trim();
    without_decoration(&normalize_path(name.strip_prefix("ai:").unwrap_or(name))).to_owned()
}

/// The name without `$` and the extension of a script.
fn without_decoration(name: &str) -> &str {
    let name = name.strip_prefix('$').filter(|rest| !rest.is_empty()).unwrap_or(name);
    source::stem(name)
}

/// The forms a value is matched in: unchanged, and as the path it may mean.
fn normalized_forms(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(normalized_forms).collect(),
        other => {
            let text = print::text(other);
            let path = normalize_path(&text);
            if path == text { vec![text] } else { vec![text, path] }
        }
    }
}

/// The path without `.`, `..`, and doubled or Windows separators, so that a detour meets the same
/// rule.
fn normalize_path(text: &str) -> String {
    let text = text.trim().replace('\\', "/");
    let text = text.strip_prefix("file://").unwrap_or(&text);
    if !text.contains('/') {
        return text.to_owned();
    }
    let rooted = text.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    let end = if text.ends_with('/') && !parts.is_empty() { "/" } else { "" };
    format!("{}{}{end}", if rooted { "/" } else { "" }, parts.join("/"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn verdict(permissions: Value, name: &str, args: Value) -> CallVerdict {
        let names = CallNames::new(name, []);
        Rules::read(&permissions).unwrap().judge(&names, args.as_object().unwrap())
    }

    fn call_rules(rules: Value) -> Value {
        json!({"ai": {"call": rules}})
    }

    /// ISDK-104, 107: globs allow, and unmatched calls are asked about.
    #[test]
    fn isdk_104_a_plain_text_is_a_glob_that_allows() {
        assert_eq!(verdict(call_rules(json!(["w*"])), "weather", json!({})), CallVerdict::Allow);
        assert_eq!(
            verdict(call_rules(json!(["weather"])), "$weather", json!({})),
            CallVerdict::Allow
        );
        assert_eq!(
            verdict(call_rules(json!(["weather.ai.yaml"])), "weather", json!({})),
            CallVerdict::Allow
        );
        assert_eq!(verdict(call_rules(json!(["w*"])), "search", json!({})), CallVerdict::Confirm);
        assert_eq!(verdict(json!({}), "search", json!({})), CallVerdict::Confirm);
        assert_eq!(
            verdict(json!({"defaultAction": "allow"}), "search", json!({})),
            CallVerdict::Allow
        );
        assert_eq!(
            verdict(json!({"ai": {"call": "w*", "defaultAction": "deny"}}), "search", json!({})),
            CallVerdict::Deny
        );
    }

    /// ISDK-105: a denial wins, in any order.
    #[test]
    fn isdk_105_a_denial_wins_over_rules_that_allow() {
        for rules in [
            json!(["!weather", "w*"]),
            json!(["w*", "!weather"]),
            json!(["w*", {"weather": {"action": "deny"}}]),
            json!([{"weather": "deny"}, "*"]),
        ] {
            assert_eq!(
                verdict(
                    json!({"ai": {"call": rules}, "defaultAction": "allow"}),
                    "weather",
                    json!({})
                ),
                CallVerdict::Deny
            );
        }
        assert_eq!(
            verdict(call_rules(json!(["*", {"name": "rm", "action": "confirm"}])), "rm", json!({})),
            CallVerdict::Confirm
        );
    }

    /// ISDK-106: rules with parameters.
    #[test]
    fn isdk_106_parameters_are_matched_and_normalised() {
        let rules = call_rules(
            json!(["w*", {"read_file": {"action": "allow", "parameters": {"file_path": ["!/dangerous/*", "/safe/*"]}}}]),
        );
        let read = |path: &str| verdict(rules.clone(), "read_file", json!({"file_path": path}));
        assert_eq!(read("/safe/a/b"), CallVerdict::Allow);
        assert_eq!(read("/safe/./a//b"), CallVerdict::Allow);
        for path in [
            "/dangerous/x",
            "/safe/../dangerous/x",
            "/safe/../etc/passwd",
            "//dangerous/x",
            "\\dangerous\\x",
            "/safe/../../dangerous/./x",
            "file:///dangerous/x",
            "/etc/passwd",
            "",
        ] {
            assert_eq!(read(path), CallVerdict::Deny, "{path}");
        }
        assert_eq!(verdict(rules.clone(), "read_file", json!({})), CallVerdict::Deny);
        assert_eq!(
            verdict(rules, "read_file", json!({"file_path": ["/safe/a", "/dangerous/b"]})),
            CallVerdict::Deny
        );
        let named =
            call_rules(json!([{"name": "read_file", "parameters": {"file_path": "/safe/*"}}]));
        assert_eq!(
            verdict(named, "read_file", json!({"file_path": "/safe/a"})),
            CallVerdict::Allow
        );
    }

    /// ISDK-108: `overwriteAction` lifts nothing, and a note says so.
    #[test]
    fn isdk_108_overwrite_action_is_ignored_with_a_note() {
        let rules = json!({"ai": {"call": ["w*", "!weather"]}, "overwriteAction": "allow"});
        assert_eq!(verdict(rules.clone(), "weather", json!({})), CallVerdict::Deny);
        assert_eq!(verdict(rules.clone(), "search", json!({})), CallVerdict::Confirm);
        assert!(ignored_setting_note(&rules).is_some());
        assert_eq!(ignored_setting_note(&call_rules(json!(["w*"]))), None);
    }

    #[test]
    fn a_rule_about_one_name_of_a_call_covers_the_others() {
        let judge = |rule: &str, written: &str, others: &[&str]| {
            let rules = json!({"ai": {"call": [rule]}, "defaultAction": "allow"});
            let names = CallNames::new(written, others.iter().copied());
            Rules::read(&rules).unwrap().judge(&names, &Map::new())
        };
        for (written, others) in [
            ("./t.ai.yaml", vec![]),
            ("sub/../t", vec![]),
            ("ai:t", vec![]),
            ("/home/u/t.ai.yml", vec!["t"]),
            ("u", vec!["u", "t"]),
        ] {
            assert_eq!(judge("!t", written, &others), CallVerdict::Deny, "{written}");
        }
        assert_eq!(judge("!./t.ai.yaml", "t", &[]), CallVerdict::Deny);
        assert_eq!(judge("!t", "u", &["u"]), CallVerdict::Allow);
        let step = |rule: &str| {
            let names = CallNames::new("file.write", []).denied_as(["writeFile"]);
            Rules::read(&call_rules(json!([rule]))).unwrap().judge(&names, &Map::new())
        };
        let verdicts = ["!w*", "w*", "file.*"].map(step);
        assert_eq!(verdicts, [CallVerdict::Deny, CallVerdict::Confirm, CallVerdict::Allow]);
    }

    #[test]
    fn the_pattern_of_a_parameter_is_matched_as_it_is_written() {
        let rules = call_rules(json!([{"read": {"parameters": {"path": ["/safe/*.ai.yaml"]}}}]));
        let read = |path: &str| verdict(rules.clone(), "read", json!({"path": path}));
        assert_eq!(read("/safe/a.ai.yaml"), CallVerdict::Allow);
        assert_eq!(read("/safe/secret.txt"), CallVerdict::Deny);
    }

    #[test]
    fn an_invalid_rule_is_an_error() {
        for (rules, part) in [
            (call_rules(json!([{"!a": {"action": "allow"}}])), "`!a`"),
            (call_rules(json!([{"action": "allow", "x": 1}])), "name"),
            (call_rules(json!(["a["])), "`a[`"),
            (call_rules(json!([{"a": {"action": "maybe"}}])), "`maybe`"),
            (call_rules(json!([5])), "name"),
            (json!("allow"), "map"),
            (json!({"ai": ["!a"]}), "map"),
            (json!({"ai": {"cal": ["!a"]}}), "Did you mean `call`?"),
            (json!({"defaultActon": "deny"}), "Did you mean `defaultAction`?"),
            (call_rules(json!([{"a": {"acton": "deny"}}])), "Did you mean `action`?"),
            (call_rules(json!([{"name": "a", "parametrs": {}}])), "Did you mean `parameters`?"),
            (call_rules(json!([{"a": {"parameters": ["/x"]}}])), "`parameters`"),
        ] {
            let fault = Rules::read(&rules).unwrap_err().to_string();
            assert!(fault.contains(part), "{fault}");
        }
    }
}
