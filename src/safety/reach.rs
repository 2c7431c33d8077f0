//! Decides which arguments of a program a remembered rule covers.
//!
//! The forms are in a table of their own; this reads them. It is strict: where an argument
//! could mean anything else, the rule does not cover it and the step asks.

use super::rules;
use super::rules::remembered::{FORMS, Operand, Rest, RuleForm, RuleReach};
use avocet_core::text::short_name;

/// The form that counts for a command, and how many of its arguments are words of it.
#[derive(Clone, Copy, Debug)]
pub struct MatchedForm {
    pub reach: RuleReach,
    pub words: usize,
    /// The words of the form, the program first.
    start: &'static str,
}

/// The kinds of words an operand may be, seen from the command's folder.
pub trait OperandScope {
    /// A file or folder of the workspace that holds no credentials.
    fn is_inside(&self, text: &str) -> bool;
    /// One that steers programs.
    fn is_steering_file(&self, text: &str) -> bool;
    /// The same of a folder.
    fn is_steering_folder(&self, text: &str) -> bool;
    /// A program of this name is in the `node_modules/.bin` of the folder.
    fn has_local_program(&self, name: &str) -> bool;
}

/// The longest matching form; for a command without one, a rule the user wrote may allow
/// plain words.
pub fn match_form(program: &str, args: &[String]) -> MatchedForm {
    let short = short_name(program);
    let own = rules::find(short).map_or(short, |(_, own)| own);
    let fitting = FORMS.iter().filter_map(|form| {
        let words = matched_words(form.start, own, args)?;
        Some(MatchedForm { reach: form.reach, words, start: form.start })
    });
    let form = MatchedForm { reach: RuleReach::ExactOr(Rest::PLAIN), words: 0, start: "" };
    // Of two that are as long the later one counts.
    fitting.fold(
        form,
        |best, next| {
            if best.start.is_empty() || next.words >= best.words { next } else { best }
        },
    )
}

/// Whether `*` after the first `fixed` arguments covers the others. `by_hand`: the user
/// wrote the rule.
pub fn star_covers(
    program: &str,
    args: &[String],
    fixed: usize,
    by_hand: bool,
    context: &dyn OperandScope,
) -> bool {
    let governed = match_form(program, args);
    let rest = match governed.reach {
        RuleReach::Open(rest) => rest,
        RuleReach::ByHand(rest) | RuleReach::ExactOr(rest) if by_hand => rest,
        RuleReach::Exact | RuleReach::ExactOr(_) | RuleReach::Script | RuleReach::Local => {
            return args.len() == fixed;
        }
        RuleReach::Nothing | RuleReach::ByHand(_) => return false,
    };
    !star_covers_sub_commands(&governed, program, fixed)
        && is_program_present(&governed, args, context)
        && {
            let args = Args { args, from: governed.words, fixed, rest: &rest, context };
            args.are_covered()
        }
}

/// Whether a form of a table covers a whole command, words and arguments.
pub fn is_command_covered(
    forms: &[RuleForm],
    program: &str,
    args: &[String],
    context: &dyn OperandScope,
) -> bool {
    forms.iter().any(|form| {
        let (Some(words), RuleReach::Open(rest)) =
            (matched_words(form.start, program, args), form.reach)
        else {
            return false;
        };
        let is_here =
            !rest.local || args.first().is_some_and(|name| context.has_local_program(name));
        is_here && Args { args, from: words, fixed: words, rest: &rest, context }.are_covered()
    })
}

/// Whether `*` would cover a sub-command as well.
pub fn star_covers_sub_commands(form: &MatchedForm, program: &str, fixed: usize) -> bool {
    let mut missing = form.start.split(' ').skip(1 + fixed);
    let named = missing.all(|word| word == "?");
    !named || (fixed == 0 && form.words == 0 && has_sub_commands(program))
}

/// Whether the program of the form is here, where the form requires it.
pub fn is_program_present(form: &MatchedForm, args: &[String], context: &dyn OperandScope) -> bool {
    let asks = match form.reach {
        RuleReach::Open(rest) | RuleReach::ByHand(rest) | RuleReach::ExactOr(rest) => rest.local,
        RuleReach::Local => true,
        RuleReach::Exact | RuleReach::Script | RuleReach::Nothing => false,
    };
    !asks || args.first().is_some_and(|name| context.has_local_program(name))
}

fn has_sub_commands(program: &str) -> bool {
    rules::find(short_name(program)).is_some_and(|(spec, _)| !spec.subs.is_empty())
}

/// How many arguments are words of the form, if it fits.
fn matched_words(start: &str, program: &str, args: &[String]) -> Option<usize> {
    let mut words = start.split(' ');
    let named = words.next()?.split('|').any(|name| name == program);
    if !named {
        return None;
    }
    let mut at = 0;
    for word in words {
        let arg = args.get(at)?;
        let same = match word {
            "?" => is_plain_name(arg),
            word => word.split('|').any(|one| one == arg),
        };
        if !same {
            return None;
        }
        at += 1;
    }
    Some(at)
}

fn is_plain_name(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':');
    text.starts_with(|c: char| c.is_alphanumeric() || c == '_') && text.chars().all(plain)
}

struct Args<'a> {
    args: &'a [String],
    /// The first that is not a word of the form.
    from: usize,
    /// So many the rule names itself.
    fixed: usize,
    rest: &'a Rest,
    context: &'a dyn OperandScope,
}

impl Args<'_> {
    fn are_covered(&self) -> bool {
        let mut flags = self.rest.flags;
        let mut values = self.rest.values;

        let mut at = self.from;
        let mut operands = 0;
        let mut options = true;

        while let Some(arg) = self.args.get(at) {
            let own = at < self.fixed;
            if !options || !arg.starts_with('-') || arg == "-" {
                if !own && !self.accepts_operand(arg, operands) {
                    return false;
                }
                operands += 1;
                at += 1;
            } else if arg == "--" {
                match self.rest.behind {
                    Some(behind) => (flags, values) = behind,
                    None => options = false,
                }
                at += 1;
            } else {
                match (option_shape(arg, flags, values), own) {
                    (Some(OptionShape::Alone), _) => at += 1,
                    // A word that begins like an option may be taken for one.
                    (Some(OptionShape::WithNext), _) => match self.args.get(at + 1) {
                        Some(value) if at + 1 < self.fixed || !value.starts_with('-') => at += 2,
                        _ => return false,
                    },
                    // The argument after an unknown option may be its value.
                    (None, true) if at + 1 < self.fixed || arg.contains('=') => at += 1,
                    (None, true) => return self.args.len() == self.fixed,
                    (None, false) => return false,
                }
            }
        }
        true
    }

    fn accepts_operand(&self, text: &str, before: usize) -> bool {
        match self.rest.operands {
            Operand::None => false,
            Operand::Name => is_name(text),
            Operand::Inside => is_local_word(text) && self.context.is_inside(file_part(text)),
            Operand::Changed => {
                is_local_word(text)
                    && self.context.is_inside(text)
                    && !self.context.is_steering_file(text)
            }
            Operand::ChangedFolder => {
                is_local_word(text)
                    && self.context.is_inside(text)
                    && !self.context.is_steering_folder(text)
            }
            Operand::Remote if before == 0 => is_plain_name(text) && !text.contains(':'),
            Operand::Remote => is_name(text),
        }
    }
}

enum OptionShape {
    Alone,
    WithNext,
}

/// How many arguments an option of the lists takes up; `None`: it is not in them.
fn option_shape(arg: &str, flags: &str, values: &str) -> Option<OptionShape> {
    let listed = |list: &str, name: &str| list.split_ascii_whitespace().any(|own| own == name);
    if listed(flags, arg) {
        return Some(OptionShape::Alone);
    }
    if listed(values, arg) {
        return Some(OptionShape::WithNext);
    }
    if let Some((name, _)) = arg.split_once('=') {
        return listed(values, name).then_some(OptionShape::Alone);
    }
    let letters = arg.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
    let (first, digits) = letters.split_at_checked(1)?;
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return listed(values, &format!("-{first}")).then_some(OptionShape::Alone);
    }
    // `-am`: letters one by one, the last of which may take the next argument.
    let last = letters.chars().next_back()?;
    let before = letters.chars().rev().skip(1);
    let known = before.into_iter().all(|letter| listed(flags, &format!("-{letter}")));
    match format!("-{last}") {
        last if known && listed(flags, &last) => Some(OptionShape::Alone),
        last if known && listed(values, &last) => Some(OptionShape::WithNext),
        _ => None,
    }
}

/// The file of `tests/a.py::test_b` and of `a_test.rb:12`.
fn file_part(text: &str) -> &str {
    let text = text.split("::").next().unwrap_or(text);
    match text.rsplit_once(':') {
        Some((file, line)) if !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit()) => file,
        _ => text,
    }
}

/// No URL, no place in a version control system, no file of arguments, no pathspec.
fn is_local_word(text: &str) -> bool {
    let start = text.starts_with(['@', ':', '+', '~', '$']);
    // `example.org/x@latest`; a folder may be called `@types`.
    let versioned = text
        .char_indices()
        .any(|(at, c)| c == '@' && text.get(..at).is_some_and(|before| !before.ends_with('/')));
    let remote = versioned || file_part(text).contains(':') || text.starts_with("git+");
    !text.is_empty() && !start && !remote && !text.contains(char::is_control)
}

fn is_name(text: &str) -> bool {
    let single = text.replace("::", "").contains(':');
    let start = text.starts_with(['/', '.', '@', ':', '+', '~', '$', '\\']);
    !text.is_empty() && !start && !single && !text.contains(['=', '\0']) && !text.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_names_a_program_of_the_tables_and_no_word_twice() {
        let mut wrong = Vec::new();
        for form in FORMS {
            let mut words = form.start.split(' ');
            let programs = words.next().unwrap().split('|');
            wrong.extend(programs.filter(|name| rules::find(name).is_none()));
            for word in words {
                let mut names: Vec<&str> = word.split('|').collect();
                names.sort_unstable();
                wrong.extend(names.windows(2).filter(|two| two[0] == two[1]).map(|two| two[0]));
            }
        }
        assert_eq!(wrong, [""; 0]);
    }

    #[test]
    fn letters_of_a_cluster_are_all_known_and_the_last_may_take_a_value() {
        let shape = |arg| option_shape(arg, "-a -q --quiet", "-m --message -j");
        assert!(matches!(shape("-am"), Some(OptionShape::WithNext)));
        assert!(matches!(shape("-qa"), Some(OptionShape::Alone)));
        assert!(matches!(shape("-j4"), Some(OptionShape::Alone)));
        assert!(matches!(shape("--message=x"), Some(OptionShape::Alone)));
        for arg in ["-ax", "-ma", "-mx", "--mess=x", "--quiet=1", "-F", "-é"] {
            assert!(shape(arg).is_none(), "{arg}");
        }
    }
}
