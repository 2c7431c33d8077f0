//! `[[NAME:options]]`: the variable that receives the reply, and the restrictions on it.

use super::args::{self, Arg};
use super::delimiters;

/// Maximum number of choices in one mark.
const MOST_CHOICES: usize = 256;

/// A place for the model's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// The variable that receives the reply: `prompt.NAME`.
    pub name: String,
    /// Parameters of this one call, as expressions.
    pub params: Vec<Arg>,
    /// The only valid answers; empty if any answer is valid.
    pub choices: Vec<String>,
    pub pick: ChoiceMatch,
}

/// How a choice is picked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceMatch {
    /// Maximum number of choices to pick, at least 1.
    pub max: usize,
    /// True: picked at random here, without asking a model.
    pub random: bool,
    /// The separator between several picked choices.
    pub separator: String,
}

impl Default for ChoiceMatch {
    fn default() -> ChoiceMatch {
        ChoiceMatch { max: 1, random: false, separator: ", ".to_owned() }
    }
}

impl Placeholder {
    /// A mark without options.
    pub fn new(name: impl Into<String>) -> Placeholder {
        Placeholder {
            name: name.into(),
            params: Vec::new(),
            choices: Vec::new(),
            pick: ChoiceMatch::default(),
        }
    }

    /// Parses the text after the colon.
    pub(super) fn with_options(name: &str, options: &str) -> Placeholder {
        let mut ask = Placeholder::new(name);
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
                ask.add_choices(&list);
            } else if !ask.accept_option(part) {
                ask.params.extend(args::read(part));
            }
        }
        ask
    }

    /// `a|b|c`, and the options after a `:` that follows the last choice.
    fn add_choices(&mut self, list: &str) {
        let mut choices = delimiters::split_outside(list, '|');
        if let Some(last) = choices.pop() {
            let mut parts = delimiters::split_outside(last, ':');
            while parts.len() > 1 && parts.last().is_some_and(|part| self.accept_option(part)) {
                parts.pop();
            }
            let choice = parts.join(":");
            self.choices = choices
                .into_iter()
                .chain([choice.as_str()])
                .take(MOST_CHOICES)
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
        assert_eq!(ask.pick, ChoiceMatch::default());
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
    fn a_choice_may_contain_colons_and_commas() {
        assert_eq!(Placeholder::with_options("F", "|12:30|13:00").choices, ["12:30", "13:00"]);
        assert_eq!(
            Placeholder::with_options("F", "|red, dark|blue").choices,
            ["red, dark", "blue"]
        );
        assert_eq!(Placeholder::with_options("F", "|'a|b'|\"c:2\"").choices, ["a|b", "c:2"]);
    }
}
