//! `[[NAME:options]]`: the variable that receives the reply, and the restrictions on it.

use super::args::{self, Arg};
use super::delimiters;

/// Maximum number of choices in one mark.
const MAX_CHOICES: usize = 256;

/// A place for the model's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// The variable that receives the reply: `prompt.NAME`.
    pub name: String,
    /// Parameters of this one call, as expressions.
    pub params: Vec<Arg>,
    /// The only valid answers; empty if any answer is valid.
    pub choices: Vec<String>,
    pub pick: PickOptions,
}

/// How a choice is picked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PickOptions {
    /// Maximum number of choices to pick, at least 1.
    pub max: usize,
    /// True: picked at random here, without asking a model.
    pub random: bool,
    /// The separator between several picked choices.
    pub separator: String,
}

impl Default for PickOptions {
    fn default() -> PickOptions {
        PickOptions { max: 1, random: false, separator: ", ".to_owned() }
    }
}

impl Placeholder {
    /// A mark without options.
    pub fn new(name: impl Into<String>) -> Placeholder {
        Placeholder {
            name: name.into(),
            params: Vec::new(),
            choices: Vec::new(),
            pick: PickOptions::default(),
        }
    }

    /// Parses the text after the colon.
    pub(super) fn with_options(name: &str, options: &str) -> Placeholder {
        let mut placeholder = Placeholder::new(name);
        let mut parts = delimiters::split_outside(options, ',').into_iter().peekable();
        while let Some(part) = parts.next() {
            let part = part.trim();
            if let Some(list) = part.strip_prefix('|') {
                let mut list = list.to_owned();
                // A comma inside a choice does not end it: `|red, dark|blue`.
                while let Some(more) = parts.next_if(|more| more.contains('|')) {
                    list.push(',');
                    list.push_str(more);
                }
                placeholder.add_choices(&list);
            } else if !placeholder.accept_option(part) {
                placeholder.params.extend(parse_params(part));
            }
        }
        placeholder
    }

    /// `a|b|c`, and the options after a `:` that follows the last choice.
    fn add_choices(&mut self, list: &str) {
        let mut choices = delimiters::split_outside(list, '|');
        if let Some(last) = choices.pop() {
            let mut parts = delimiters::split_outside(last, ':');
            while parts.len() > 1 {
                let Some(part) = parts.last() else { break };
                match named_params(part) {
                    Some(params) => self.params.extend(params),
                    None if self.accept_option(part) => {}
                    None => break,
                }
                parts.pop();
            }
            let choice = parts.join(":");
            self.choices = choices
                .into_iter()
                .chain([choice.as_str()])
                .take(MAX_CHOICES)
                .map(unquoted)
                .collect();
            self.choices.retain(|choice| !choice.is_empty());
        }
    }

    /// Accepts `2`, `random`, `ai`, `type='random'` or a quoted separator; false for anything else.
    fn accept_option(&mut self, part: &str) -> bool {
        let part = part.trim();
        if let Some(separator) = delimiters::unquote(part) {
            self.pick.separator = separator;
        } else if let Some(most) =
            part.parse().ok().filter(|most| *most > 0 && !part.starts_with(['0', '+']))
        {
            self.pick.max = most;
        } else {
            let kind = match part.split_once('=') {
                Some((key, kind)) if key.trim() == "type" => unquoted(kind),
                Some(_) => return false,
                None => part.to_owned(),
            };
            match kind.as_str() {
                "random" => self.pick.random = true,
                "ai" | "AI" => self.pick.random = false,
                _ => return false,
            }
        }
        true
    }

    /// The instruction that lists the choices for the model.
    pub fn choice_instruction(&self) -> Vec<String> {
        if self.choices.is_empty() {
            return Vec::new();
        }
        let list: Vec<String> = self.choices.iter().map(|choice| format!("\"{choice}\"")).collect();
        let how_many = match self.pick.max {
            1 => "exactly one of these, and nothing else".to_owned(),
            most => format!(
                "at most {most} of these, separated by \"{}\", and nothing else",
                self.pick.separator
            ),
        };
        vec![format!("Answer with {how_many}: {}", list.join(", "))]
    }

    /// Some of the choices, by chance.
    pub fn pick_random(&self) -> String {
        let mut choices: Vec<&str> = self.choices.iter().map(String::as_str).collect();
        fastrand::shuffle(&mut choices);
        choices.truncate(self.pick.max);
        choices.join(&self.pick.separator)
    }

    /// The choices a reply names, spelled as listed.
    pub fn match_choices(&self, reply: &str) -> Option<String> {
        let bare = |text: &str| {
            let trimmed = text.trim().trim_matches(|c: char| {
                c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '.' | '。' | '*' | '“' | '”')
            });
            trimmed.to_lowercase()
        };
        let said = bare(reply);
        if let Some(choice) = self.choices.iter().find(|choice| bare(choice) == said) {
            return Some(choice.clone());
        }
        // The longest first, so that `red wine` is not taken for `red`.
        let mut by_length: Vec<&String> = self.choices.iter().collect();
        by_length.sort_by_key(|choice| std::cmp::Reverse(choice.len()));
        let mut rest = said;
        let mut found: Vec<(usize, &String)> = Vec::new();
        for choice in by_length {
            let word = bare(choice);
            if word.is_empty() {
                continue;
            }
            if let Some(at) = rest.find(&word) {
                found.push((at, choice));
                rest = rest.replace(&word, &"\u{0}".repeat(word.len()));
            }
        }
        found.sort_by_key(|(at, _)| *at);
        if found.is_empty() || (self.pick.max == 1 && found.len() > 1) {
            return None;
        }
        let names: Vec<&str> =
            found.into_iter().take(self.pick.max).map(|(_, it)| it.as_str()).collect();
        Some(names.join(&self.pick.separator))
    }
}

/// One parameter, or several with colons between them: `temperature=0.1:max_tokens=5`.
fn parse_params(part: &str) -> Vec<Arg> {
    let parts = delimiters::split_outside(part, ':');
    let named: Option<Vec<Vec<Arg>>> = parts.into_iter().map(named_params).collect();
    named.map_or_else(|| args::read(part), |named| named.into_iter().flatten().collect())
}

/// `name=value`, but not the type of a choice.
fn named_params(part: &str) -> Option<Vec<Arg>> {
    let params = args::read(part);
    let is_param = |arg: &Arg| arg.name.as_ref().is_some_and(|name| name != "type");
    (!params.is_empty() && params.iter().all(is_param)).then_some(params)
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    delimiters::unquote(text).unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ISDK-067: parameters of one call.
    #[test]
    fn isdk_067_options_are_parameters_of_that_call() {
        let ask = Placeholder::with_options("R", "temperature=0.01,top_p=0.8");
        let params: Vec<_> =
            ask.params.iter().map(|arg| (arg.name.as_deref(), arg.expr.as_str())).collect();
        assert_eq!(params, [(Some("temperature"), "0.01"), (Some("top_p"), "0.8")]);
        assert!(ask.choices.is_empty());
    }

    /// ISDK-068, 069, 070: choices, at random, several.
    #[test]
    fn isdk_068_bars_separate_choices_and_colons_set_options() {
        let ask = Placeholder::with_options("F", "|苹果|香蕉|橙子");
        assert_eq!(ask.choices, ["苹果", "香蕉", "橙子"]);
        assert_eq!(ask.pick, PickOptions::default());
        for options in
            ["|a|b:type='random'", "|a|b:random", "|a|b:type=random", "|a|b,type='random'"]
        {
            let ask = Placeholder::with_options("F", options);
            assert!(ask.pick.random, "{options}");
            assert_eq!(ask.choices, ["a", "b"], "{options}");
            assert!(ask.params.is_empty(), "{options}");
        }
        let ask = Placeholder::with_options("F", "|a|b|c:2:'; ', temperature=0.5");
        assert_eq!((ask.pick.max, ask.pick.separator.as_str()), (2, "; "));
        assert_eq!(ask.params.len(), 1);
    }

    #[test]
    fn parameters_may_follow_each_other_and_the_choices_after_a_colon() {
        let read = |options: &str| {
            let ask = Placeholder::with_options("F", options);
            let params = ask.params.into_iter();
            let params: Vec<String> =
                params.map(|arg| format!("{}={}", arg.name.unwrap(), arg.expr)).collect();
            (ask.choices, params)
        };
        let both = ["temperature=0.5".to_owned(), "top_p=1".to_owned()];
        assert_eq!(
            read("|a|b:temperature=0.5,top_p=1"),
            (vec!["a".into(), "b".into()], both.to_vec())
        );
        assert_eq!(read("temperature=0.5:top_p=1").1, both);
        assert_eq!(read("n=x ? 1 : 2").1, ["n=x ? 1 : 2"]);
    }

    #[test]
    fn a_choice_may_contain_colons_and_commas() {
        assert_eq!(Placeholder::with_options("F", "|12:30|13:00").choices, ["12:30", "13:00"]);
        assert_eq!(
            Placeholder::with_options("F", "|red, dark|blue").choices,
            ["red, dark", "blue"]
        );
        assert_eq!(Placeholder::with_options("F", "|'a|b'|\"c:2\"").choices, ["a|b", "c:2"]);
    }

    fn pick(options: &str, reply: &str) -> Option<String> {
        Placeholder::with_options("R", options).match_choices(reply)
    }

    #[test]
    fn isdk_068_a_choice_is_recognized_in_another_spelling_or_in_a_sentence() {
        assert_eq!(pick("|Yes|No", "yes."), Some("Yes".to_owned()));
        assert_eq!(pick("|Yes|No", " **\"NO\"** "), Some("No".to_owned()));
        assert_eq!(pick("|是|否", "是。"), Some("是".to_owned()));
        assert_eq!(pick("|red|red wine", "I take red wine, please"), Some("red wine".to_owned()));
        assert_eq!(pick("|red|blue", "green"), None);
        assert_eq!(pick("|red|blue", "red or blue"), None);
    }

    #[test]
    fn isdk_070_several_choices_stand_in_the_order_of_the_reply() {
        assert_eq!(pick("|a1|b2|c3:2:', '", "c3 and a1"), Some("c3, a1".to_owned()));
        assert_eq!(pick("|a1|b2|c3:2:', '", "c3, b2, a1"), Some("c3, b2".to_owned()));
        let told = |options: &str| Placeholder::with_options("R", options).choice_instruction();
        assert!(told("|a1|b2:2:', '")[0].contains("at most 2 of these, separated by \", \""));
        assert!(
            told("|a1|b2")[0].ends_with("exactly one of these, and nothing else: \"a1\", \"b2\"")
        );
        assert_eq!(told("temperature=1"), [] as [&str; 0]);
    }

    #[test]
    fn isdk_069_chance_picks_only_listed_choices_and_each_once() {
        let ask = Placeholder::with_options("R", "|a|b|c:random:2:'+'");
        for _ in 0..50 {
            let picked = ask.pick_random();
            let (one, other) = picked.split_once('+').unwrap();
            assert!(one != other && [one, other].iter().all(|it| "abc".contains(it)), "{picked}");
        }
    }
}
