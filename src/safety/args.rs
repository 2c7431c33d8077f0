//! Splits arguments into options and operands, using the grammar of a row.
//!
//! One tokenizer with two kinds of callers. A check that proves safety takes only what the
//! row lists by its exact name (`ArgPart::Flag`); a check that looks for danger also takes
//! abbreviations and letters out of clusters ([`find_flag`]).

use std::borrow::Cow;

use super::spec::{ArgOrder, ArgPart, ArgToken, Spec, Takes, ValueKind};

/// Splits `args` by the grammar of `spec`.
pub fn parse<'a>(args: &'a [String], spec: &Spec) -> Vec<ArgToken<'a>> {
    let mut parser = ArgParser { args, spec, at: 0, out: Vec::with_capacity(args.len()) };
    let mut ended = false;
    while let Some(arg) = args.get(parser.at) {
        if ended || !arg.starts_with('-') || arg == "-" {
            parser.push(ArgPart::Operand(arg));
            parser.at += 1;
            ended |= spec.grammar.order == ArgOrder::Posix;
        } else if arg == "--" {
            ended = !parser.may_be_flag_value();
            parser.at += 1;
        } else {
            parser.option(arg);
        }
    }
    parser.out
}

/// The index of the `--` that ends the options, or the end of the arguments: options
/// inserted before it are read as options.
pub fn end_of_options(args: &[String], tokens: &[ArgToken<'_>]) -> usize {
    // They are in the order of the arguments.
    let taken = |at: usize| {
        let next = tokens.partition_point(|token| token.at < at);
        let before = next.checked_sub(1).and_then(|before| tokens.get(before));
        tokens.get(next).is_some_and(|token| token.at == at)
            || before.is_some_and(|token| token.separate && token.at + 1 == at)
    };
    let end = args.iter().enumerate().find(|(at, arg)| *arg == "--" && !taken(*at));
    end.map_or(args.len(), |(at, _)| at)
}

/// The first token that is one of the spellings, such as `-r|-R|--recursive`, read
/// permissively: any unambiguous-looking start of a long name counts.
pub fn find_flag<'t, 'a>(tokens: &'t [ArgToken<'a>], spellings: &str) -> Option<&'t ArgToken<'a>> {
    tokens.iter().find(|token| {
        let ArgPart::Flag { name, known, .. } = &token.part else { return false };
        spellings.split('|').map(|s| s.trim_end_matches('=')).any(|spelling| {
            let abbreviated = known.is_none()
                && name.len() > 2
                && name.starts_with("--")
                && spelling.starts_with(name.as_ref());
            name == spelling || abbreviated
        })
    })
}

struct ArgParser<'a, 's> {
    args: &'a [String],
    spec: &'s Spec,
    at: usize,
    out: Vec<ArgToken<'a>>,
}

impl<'a> ArgParser<'a, '_> {
    fn push(&mut self, part: ArgPart<'a>) {
        self.out.push(ArgToken { at: self.at, part, separate: false });
    }

    fn flag(
        &mut self,
        name: impl Into<Cow<'a, str>>,
        value: Option<&'a str>,
        known: Option<Takes>,
    ) {
        self.push(ArgPart::Flag { name: name.into(), value, known });
    }

    /// A flag whose value is the next argument, if there is one.
    fn flag_with_next_value(&mut self, name: impl Into<Cow<'a, str>>, known: Option<Takes>) {
        let value = self.args.get(self.at + 1).map(String::as_str);
        // Without its value it would take what is added at the start for one.
        self.flag(name, value, known);
        if let (Some(_), Some(token)) = (value, self.out.last_mut()) {
            token.separate = true;
            self.at += 1;
        }
    }

    /// A `--` after an unknown option may be its value, and then ends nothing.
    fn may_be_flag_value(&self) -> bool {
        matches!(
            self.out.last().map(|token| &token.part),
            Some(ArgPart::Flag { known: None, value: None, .. })
        )
    }

    fn option(&mut self, arg: &'a str) {
        let (name, attached) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (arg, None),
        };
        let digits = arg.strip_prefix('-').is_some_and(all_digits);
        if digits && flag_entry(self.spec, "-NUM").is_some() {
            self.flag(arg, None, Some(Takes::Nothing));
            self.at += 1;
        } else if name.starts_with("--") {
            self.long(name, attached, flag_entry(self.spec, name));
        } else if let (true, Some(known)) = (name.len() > 2, flag_entry(self.spec, name)) {
            self.long(name, attached, Some(known));
        } else {
            self.cluster(arg);
        }
    }

    fn long(&mut self, name: &'a str, attached: Option<&'a str>, known: Option<Takes>) {
        match (known, attached) {
            (Some(Takes::Value(_)), None) => self.flag_with_next_value(name, known),
            (Some(Takes::Nothing), Some(_)) if self.spec.grammar.flags != "*" => {
                self.flag(name, attached, None);
            }
            _ => self.flag(name, attached, known),
        }
        self.at += 1;
    }

    fn cluster(&mut self, arg: &'a str) {
        for (index, letter) in arg.char_indices().skip(1) {
            let name = format!("-{letter}");
            let rest = arg.get(index + letter.len_utf8()..).unwrap_or_default();
            let known = flag_entry(self.spec, &name);
            match known {
                // Where the rest of the cluster is letters too, nothing is hidden in a value.
                Some(Takes::Value(_) | Takes::Attached(_))
                    if self.spec.grammar.own_clusters && !rest.is_empty() && !all_digits(rest) =>
                {
                    self.flag(name, None, None);
                }
                Some(Takes::Value(_)) if rest.is_empty() => {
                    self.flag_with_next_value(name, known);
                    break;
                }
                Some(Takes::Value(_) | Takes::Attached(_)) => {
                    self.flag(name, (!rest.is_empty()).then_some(rest), known);
                    break;
                }
                Some(Takes::Nothing | Takes::Risky) | None => self.flag(name, None, known),
            }
        }
        self.at += 1;
    }
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The row's entry for a flag of exactly this name.
fn flag_entry(spec: &Spec, name: &str) -> Option<Takes> {
    let grammar = &spec.grammar;
    let listed = grammar.flags == "*" || grammar.flags.split_ascii_whitespace().any(|f| f == name);
    // Where a row has both entries, the next argument may be an operand, and is looked at
    // as one.
    flag_value_entry(grammar.values, name)
        .filter(|takes| !(listed && matches!(takes, Takes::Value(_))))
        .or_else(|| danger_entry(spec, name))
        .or_else(|| listed.then_some(Takes::Nothing))
}

fn flag_value_entry(values: &str, name: &str) -> Option<Takes> {
    values.split_ascii_whitespace().find_map(|entry| {
        let (own, kind) = entry.split_once('=')?;
        if own != name {
            return None;
        }
        Some(match kind.strip_prefix('?') {
            Some(kind) => Takes::Attached(value_kind(kind)),
            None => Takes::Value(value_kind(kind)),
        })
    })
}

fn value_kind(name: &str) -> ValueKind {
    match name {
        "path" => ValueKind::Path,
        "glob" => ValueKind::Glob,
        "sure" => ValueKind::Sure,
        _ => ValueKind::Text,
    }
}

fn danger_entry(spec: &Spec, name: &str) -> Option<Takes> {
    spec.dangers.iter().flat_map(|danger| danger.all).find_map(|spellings| {
        spellings.split('|').find_map(|spelling| match spelling.strip_suffix('=') {
            Some(own) if own == name => Some(Takes::Value(ValueKind::Danger)),
            None if spelling == name => Some(Takes::Risky),
            Some(_) | None => None,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::spec::{Danger, Operands};
    use super::*;
    use avocet_core::i18n::safety as phrases;

    const SORT: Spec = Spec::read("sort")
        .flags("-u -r --unique")
        .values("-k=text --key=text --color=?text")
        .operands(Operands::Reads(9))
        .dangers(&[Danger::ask("output", &["-o=|--output="], phrases::WRITES_A_FILE, &[])]);

    fn tokens(line: &str, spec: &Spec) -> Vec<String> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&args, spec)
            .into_iter()
            .map(|token| match token.part {
                ArgPart::Operand(text) => format!("{}:{text}", token.at),
                ArgPart::Flag { name, value, known } => {
                    let mark = if known.is_some() { "" } else { "?" };
                    format!("{}:{name}{mark}({})", token.at, value.unwrap_or_default())
                }
            })
            .collect()
    }

    #[test]
    fn clusters_values_and_operands_are_distinguished() {
        assert_eq!(
            tokens("-ruk2 a -oX b", &SORT),
            ["0:-r()", "0:-u()", "0:-k(2)", "1:a", "2:-o(X)", "3:b"]
        );
        assert_eq!(
            tokens("-k -u --key --unique -- -r", &SORT),
            ["0:-k(-u)", "2:--key(--unique)", "5:-r"]
        );
        assert_eq!(tokens("--color x --color=x", &SORT), ["0:--color()", "1:x", "2:--color(x)"]);
    }

    #[test]
    fn a_program_that_reads_clusters_in_its_own_way_hides_no_letter_in_a_value() {
        let own = SORT.own_clusters();
        assert_eq!(tokens("-kro X", &own), ["0:-k?()", "0:-r()", "0:-o(X)"]);
        assert_eq!(tokens("-k1o X", &own), ["0:-k?()", "0:-1?()", "0:-o(X)"]);
        assert_eq!(tokens("-rk2 a", &own), ["0:-r()", "0:-k(2)", "1:a"]);
        assert_eq!(tokens("-rk 2 a", &own), ["0:-r()", "0:-k(2)", "2:a"]);
    }

    #[test]
    fn an_abbreviation_is_unknown_to_the_strict_reader_and_seen_by_the_other() {
        assert_eq!(tokens("--outp=x --uniq", &SORT), ["0:--outp?(x)", "1:--uniq?()"]);
        let args = ["--outp=x".to_owned()];
        assert!(find_flag(&parse(&args, &SORT), "-o=|--output=").is_some());
        assert!(find_flag(&parse(&args, &SORT), "--other").is_none());
    }

    #[test]
    fn a_double_dash_after_an_unknown_flag_ends_nothing() {
        assert_eq!(tokens("-X -- -o x", &SORT), ["0:-X?()", "2:-o(x)"]);
        assert_eq!(tokens("-- -o x", &SORT), ["1:-o", "2:x"]);
    }

    #[test]
    fn options_end_at_the_first_operand_where_the_program_says_so() {
        assert_eq!(tokens("-u a -r", &SORT.posix()), ["0:-u()", "1:a", "2:-r"]);
    }
}
