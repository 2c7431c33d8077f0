//! The placeholders of both syntaxes, and the values for them.

use crate::prompt::args;

pub(super) const ARGS: &str = "{{args}}";
/// Names of the folder of a skill.
const ROOTS: &[&str] = &["${SKILL_ROOT}", "${CLAUDE_SKILL_DIR}"];
const ARGUMENTS: &str = "$ARGUMENTS";

/// The syntax of the placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateForm {
    /// `{{args}}`, `!{…}`, `@{…}`.
    Braces,
    /// `$1`, `$ARGUMENTS`, `${SKILL_ROOT}`, `` !`…` ``, `@path`.
    Markdown,
    /// The same for a text that does not say that it takes arguments: there `$1` may be code, a
    /// cell or a sum of money.
    Unnumbered,
}

/// A placeholder for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgPlaceholder {
    /// All arguments, as they were typed.
    All,
    /// One of them, counted from 1.
    Nth(usize),
    /// The folder of the skill.
    Root,
}

/// The values to insert.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplateValues {
    pub(super) all: String,
    words: Vec<String>,
    root: Option<String>,
}

impl TemplateValues {
    /// `root`: the folder of the skill, if there is one.
    pub fn new(args: &str, root: Option<String>) -> TemplateValues {
        TemplateValues { all: args.trim().to_owned(), words: args::split(args), root }
    }

    pub(super) fn get(&self, placeholder: ArgPlaceholder) -> &str {
        let found = match placeholder {
            ArgPlaceholder::All => Some(&self.all),
            ArgPlaceholder::Nth(n) => n.checked_sub(1).and_then(|at| self.words.get(at)),
            ArgPlaceholder::Root => self.root.as_ref(),
        };
        found.map_or("", String::as_str)
    }
}

/// The placeholder for an argument at the start of `text`, and its length.
pub(super) fn placeholder(text: &str, form: TemplateForm) -> Option<(ArgPlaceholder, usize)> {
    match form {
        TemplateForm::Braces => text.starts_with(ARGS).then_some((ArgPlaceholder::All, ARGS.len())),
        TemplateForm::Markdown | TemplateForm::Unnumbered => markdown(text),
    }
}

fn markdown(text: &str) -> Option<(ArgPlaceholder, usize)> {
    let rest = text.strip_prefix('$')?;
    if let Some(root) = ROOTS.iter().find(|root| text.starts_with(**root)) {
        return Some((ArgPlaceholder::Root, root.len()));
    }
    if let Some(behind) = text.strip_prefix(ARGUMENTS) {
        let goes_on = behind.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        return (!goes_on).then_some((ArgPlaceholder::All, ARGUMENTS.len()));
    }
    let mut chars = rest.chars();
    let digit = chars.next()?.to_digit(10).filter(|digit| *digit > 0)?;
    let (next, after) = (chars.next(), chars.next());
    let digit_at = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    // `$10` and `$1.50` are sums of money.
    let money = digit_at(next) || (matches!(next, Some('.' | ',')) && digit_at(after));
    // `$2M`, `$1st`.
    let goes_on = next.is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    (!money && !goes_on).then_some((ArgPlaceholder::Nth(usize::try_from(digit).ok()?), 2))
}
