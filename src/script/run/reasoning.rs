//! `shouldThink`: how a model is asked to reason, and how its reasoning is separated from its
//! answer.

use serde_json::Value;

use super::super::error::ScriptError;
use super::super::template::{self, Format};
use super::super::text::regex;
use super::scope::ScopeValues;

/// The settings of the reasoning for one answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ThinkPlan {
    pub mode: ThinkMode,
    pub visible: bool,
    think: Tag,
    answer: Tag,
    depth: Option<u64>,
    steps: Option<u64>,
    /// `None`: no instruction; otherwise the script's own words, or the default ones.
    custom_prompt: Option<Option<String>>,
    role: Option<String>,
    /// The template syntax of the script's own words.
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkMode {
    First,
    Last,
    Deep,
}

#[derive(Clone, Debug, PartialEq)]
enum Tag {
    Pair { start: String, end: String, given: bool },
    Pattern { source: String, group: &'static str },
}

/// Reads `shouldThink`; `None` if it is not set.
pub fn think_plan(values: &ScopeValues) -> Option<ThinkPlan> {
    let wanted = values.option("shouldThink")?;
    let empty = serde_json::Map::new();
    let (mode, map) = match &wanted {
        Value::Object(map) => (map.get("mode").cloned().unwrap_or(Value::Bool(true)), map),
        other => (other.clone(), &empty),
    };
    let mode = match &mode {
        Value::Bool(true) => ThinkMode::Last,
        Value::String(name) => match name.as_str() {
            "last" => ThinkMode::Last,
            "first" => ThinkMode::First,
            "deep" => ThinkMode::Deep,
            _ => return None,
        },
        _ => return None,
    };
    let prompts = map.get("defaultThinkPrompt").map(|it| it.get("prompt").unwrap_or(it));
    let key = match mode {
        ThinkMode::First => "firstThinkPrompt",
        ThinkMode::Last => "lastThinkPrompt",
        ThinkMode::Deep => "deepThinkPrompt",
    };
    let text = |key: &str| prompts.and_then(|it| it.get(key)).and_then(Value::as_str);
    let skips = map.get("skipDefaultPrompt").and_then(Value::as_bool) == Some(true);
    Some(ThinkPlan {
        mode,
        visible: map.get("visible").and_then(Value::as_bool).unwrap_or(false),
        think: parse_tag(map.get("thinkTag"), "Think", "think"),
        answer: parse_tag(map.get("answerTag"), "Answer", "answer"),
        depth: map.get("depth").and_then(Value::as_u64),
        steps: map.get("steps").and_then(Value::as_u64),
        custom_prompt: (!skips).then(|| text(key).map(str::to_owned)),
        role: text("rolePrompt").map(str::to_owned),
        format: template_format(values, map.get("defaultThinkPrompt")),
    })
}

fn template_format(values: &ScopeValues, own: Option<&Value>) -> Format {
    let own = own.and_then(|it| it.get("templateFormat")).cloned();
    let name = own.or_else(|| values.option("templateFormat"));
    name.as_ref().and_then(Value::as_str).and_then(Format::parse).unwrap_or_default()
}

fn parse_tag(value: Option<&Value>, default: &str, group: &'static str) -> Tag {
    let pair = |name: &str, given: bool| {
        let name = name.trim().trim_start_matches('<').trim_end_matches('>');
        Tag::Pair { start: format!("<{name}>"), end: format!("</{name}>"), given }
    };
    match value {
        Some(Value::Array(both)) => match (both.first(), both.get(1)) {
            (Some(Value::String(start)), Some(Value::String(end))) => {
                Tag::Pair { start: start.clone(), end: end.clone(), given: true }
            }
            _ => pair(default, false),
        },
        Some(Value::String(text)) => match regex_source(text) {
            Some(source) => Tag::Pattern { source, group },
            None => pair(text, true),
        },
        _ => pair(default, false),
    }
}

/// `/re/flags` as a pattern.
fn regex_source(text: &str) -> Option<String> {
    let (source, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    let flags: String = flags.chars().filter(|c| matches!(c, 'i' | 'm' | 's')).collect();
    Some(if flags.is_empty() { source.to_owned() } else { format!("(?{flags}){source}") })
}

impl ThinkPlan {
    /// How the model is to think (its role, then the instruction), with the script's own text
    /// rendered; empty if the script has none.
    pub fn prompt(&self, data: &Value) -> Result<Vec<String>, ScriptError> {
        let Some(own) = &self.custom_prompt else { return Ok(Vec::new()) };
        let render = |text: &String| template::render(self.format, text, data);
        let role = self.role.as_ref().map(render).transpose()?;
        let told = own.as_ref().map(render).transpose()?.unwrap_or_else(|| self.default_prompt());
        Ok(role.into_iter().chain([told]).collect())
    }

    fn default_prompt(&self) -> String {
        let think = self.think.description();
        let answer = self.answer.description();

        let mut text = match self.mode {
            ThinkMode::Last => format!(
                "Answer first. Then check the answer step by step between {think}, and correct it where it is wrong."
            ),
            ThinkMode::First => format!(
                "Think first, between {think}. Then give the final answer between {answer}."
            ),
            ThinkMode::Deep => format!(
                "Think long and in depth first, between {think}: take the question apart, consider other ways, check each step. Then give the final answer between {answer}."
            ),
        };
        if let Some(depth) = self.depth {
            text.push_str(&format!(" Go at most {depth} levels deep."));
        }
        if let Some(steps) = self.steps {
            text.push_str(&format!(" Take at most {steps} steps."));
        }
        text
    }

    /// Splits a model's text into the answer and the reasoning.
    pub fn split(&self, text: &str) -> (String, Option<String>) {
        if self.mode == ThinkMode::Last {
            return match self.think.find(text) {
                Some(found) => (found.rest.trim().to_owned(), Some(found.inside.trim().to_owned())),
                None => match self.think.split_open(text) {
                    Some((before, open)) => {
                        (before.trim().to_owned(), Some(open.trim().to_owned()))
                    }
                    None => (text.to_owned(), None),
                },
            };
        }
        let (rest, thinking) = match self.think.find(text) {
            Some(found) => (found.rest, Some(found.inside.trim().to_owned())),
            // The start tag is often part of the template, and the reply contains only the end tag.
            None => match self.think.end().and_then(|end| text.split_once(end)) {
                Some((thinking, rest)) => (rest.to_owned(), Some(thinking.trim().to_owned())),
                None => self.split_unclosed(text),
            },
        };
        let answer = match self.answer.find(&rest) {
            Some(found) => found.inside,
            None => match self.answer.start().and_then(|start| rest.split_once(start)) {
                Some((_, open)) => open.to_owned(),
                None => rest,
            },
        };
        (answer.trim().to_owned(), thinking)
    }
}

impl ThinkPlan {
    /// Thoughts that were cut, or never closed: they last to the answer, if there is one.
    fn split_unclosed(&self, text: &str) -> (String, Option<String>) {
        let Some((before, open)) = self.think.split_open(text) else {
            return (text.to_owned(), None);
        };
        let (thinking, answer) = match self.answer.split_open(open) {
            Some((thinking, _)) => open.split_at(thinking.len()),
            None => (open, ""),
        };
        (format!("{before}{answer}"), Some(thinking.trim().to_owned()))
    }
}

struct TagMatch {
    inside: String,
    rest: String,
}

impl Tag {
    fn description(&self) -> String {
        match self {
            Tag::Pair { start, end, .. } => format!("`{start}` and `{end}`"),
            Tag::Pattern { source, .. } => format!("what the pattern `{source}` finds"),
        }
    }

    fn start(&self) -> Option<&str> {
        match self {
            Tag::Pair { start, .. } => Some(start),
            Tag::Pattern { .. } => None,
        }
    }

    fn end(&self) -> Option<&str> {
        match self {
            Tag::Pair { end, .. } => Some(end),
            Tag::Pattern { .. } => None,
        }
    }

    /// A text before and after the start tag.
    fn split_open<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let Tag::Pair { start, given, .. } = self else { return None };
        let lower = || text.split_once(start.to_lowercase().as_str()).filter(|_| !given);
        text.split_once(start.as_str()).or_else(lower)
    }

    fn find(&self, text: &str) -> Option<TagMatch> {
        match self {
            Tag::Pair { start, end, given } => {
                let found = find_pair(text, start, end);
                // The default tags are also accepted in lower case.
                found.or_else(|| {
                    (!given)
                        .then(|| find_pair(text, &start.to_lowercase(), &end.to_lowercase()))
                        .flatten()
                })
            }
            Tag::Pattern { source, group } => {
                let found = regex::captures(source, "", text).ok()??;
                let whole = found.get(0)?;
                let inside = found.name(group).or_else(|| found.get(1)).unwrap_or(whole);
                let (before, rest) = text.split_at(whole.start());
                let after = rest.split_at(whole.end() - whole.start()).1;
                Some(TagMatch {
                    inside: inside.as_str().to_owned(),
                    rest: format!("{before}{after}"),
                })
            }
        }
    }
}

fn find_pair(text: &str, start: &str, end: &str) -> Option<TagMatch> {
    let (before, rest) = text.split_once(start)?;
    let (inside, after) = rest.split_once(end)?;
    Some(TagMatch { inside: inside.to_owned(), rest: format!("{before}{after}") })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plan_from(value: Value) -> Option<ThinkPlan> {
        let parameters = [("shouldThink".to_owned(), value)].into_iter().collect();
        think_plan(&ScopeValues { parameters, ..ScopeValues::default() })
    }

    /// ISDK-146: four modes and their short forms.
    #[test]
    fn isdk_146_modes_have_short_forms() {
        let mode = |value| plan_from(value).map(|plan| plan.mode);
        assert_eq!(mode(json!(true)), Some(ThinkMode::Last));
        assert_eq!(mode(json!("first")), Some(ThinkMode::First));
        assert_eq!(mode(json!({"mode": "deep"})), Some(ThinkMode::Deep));
        assert_eq!(mode(json!({})), Some(ThinkMode::Last));
        assert_eq!(
            [mode(json!(false)), mode(json!("off")), mode(json!({"mode": "off"}))],
            [None, None, None]
        );
    }

    /// ISDK-147: tags are names, pairs or patterns with groups.
    #[test]
    fn isdk_147_tags_separate_thinking_from_the_answer() {
        let split = |value, text: &str| plan_from(value).unwrap().split(text);
        let (answer, thinking) = split(json!("first"), "<Think>a b</Think>\n\n<Answer>c</Answer>");
        assert_eq!((answer.as_str(), thinking.as_deref()), ("c", Some("a b")));
        let (answer, _) = split(
            json!({"mode": "first", "thinkTag": "t", "answerTag": "a"}),
            "<t>x</t><a>4</a> end",
        );
        assert_eq!(answer, "4");
        let pattern = json!({
            "mode": "first",
            "thinkTag": "/<\\|channel\\|>analysis<\\|message\\|>(?<think>.*?)<\\|end\\|>/s",
            "answerTag": "/<\\|channel\\|>final<\\|message\\|>(?<answer>.*?)<\\|end\\|>/s",
        });
        let text = "<|channel|>analysis<|message|>hm\nhm<|end|><|channel|>final<|message|>7<|end|>";
        let (answer, thinking) = split(pattern, text);
        assert_eq!((answer.as_str(), thinking.as_deref()), ("7", Some("hm\nhm")));
        assert_eq!(split(json!("deep"), "plain").0, "plain");
        assert_eq!(split(json!("first"), "thought</think>4").0, "thought</think>4");
    }

    #[test]
    fn thoughts_that_are_cut_are_no_answer() {
        let split = |value, text: &str| plan_from(value).unwrap().split(text);
        let of = |answer: &str, thinking: &str| (answer.to_owned(), Some(thinking.to_owned()));
        assert_eq!(split(json!("first"), "<Think>hm I was cut"), of("", "hm I was cut"));
        assert_eq!(split(json!("deep"), "<think>hm"), of("", "hm"));
        assert_eq!(split(json!(true), "4. <Think>hm"), of("4.", "hm"));
        assert_eq!(split(json!("first"), "<Think>hm <Answer>4"), of("4", "hm"));
        assert_eq!(split(json!("first"), "<Think>hm <Answer>4</Answer>"), of("4", "hm"));
        let own = json!({"mode": "first", "thinkTag": "t"});
        assert_eq!(split(own, "<t>hm"), of("", "hm"));
    }

    /// ISDK-148: depth, steps and the script's own prompt.
    #[test]
    fn isdk_148_the_prompt_can_be_bounded_replaced_or_left_out() {
        let prompt = |value| plan_from(value).unwrap().prompt(&json!({})).unwrap().join("\n");
        assert!(prompt(json!({"mode": "deep", "depth": 3, "steps": 5})).contains("3 levels"));
        assert_eq!(prompt(json!({"mode": "first", "skipDefaultPrompt": true})), "");
        let own = json!({"mode": "first", "defaultThinkPrompt": {"prompt": {"firstThinkPrompt": "Hm first.", "rolePrompt": "R"}}});
        assert_eq!(prompt(own), "R\nHm first.");
    }
}
