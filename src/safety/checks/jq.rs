//! Checks `jq` filters. Only known functions are L0; the environment, other inputs and
//! modules are not among them.

use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect;

use super::super::args;
use super::super::findings::Findings;
use super::super::spec::{ArgToken, ProgramCall, operands};
use super::awk::is_word;

/// `jq`: a filter of known functions only; `env`, `input` and modules are not among
/// them.
pub fn jq(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let file = args::find_flag(tokens, "-f|--from-file").is_some();
    if let (false, Some((at, filter))) = (file, operands(tokens).next())
        && !is_plain_jq(filter)
    {
        call.ask("filter", phrases::JQ_FILTER, at, &[Effect::Secret], findings);
    }
}

pub(super) fn is_plain_jq(filter: &str) -> bool {
    let mut rest = filter;
    // The previous character, the previous one that is not blank, and the open brackets.
    let (mut before, mut last, mut open) = (' ', ' ', Vec::new());
    while let Some(c) = rest.chars().next() {
        let word_end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (word, tail) = rest.split_at_checked(word_end).unwrap_or((rest, ""));
        if c == '"' {
            let Some((tail, opens)) = rest.get(1..).and_then(jq_string) else { return false };
            open.extend(opens.then_some(FILLED));
            rest = tail;
            (before, last) = if opens { ('(', '(') } else { ('"', '"') };
            continue;
        } else if c.is_ascii_alphabetic() || c == '_' {
            let begins = open.last() == Some(&'{') && matches!(last, '{' | ',');
            let key =
                begins && tail.trim_start().starts_with([':', ',', '}']) && !tail.starts_with("::");
            let variable =
                before == '$' && word.chars().next().is_some_and(|c| c.is_ascii_lowercase());
            let plain = before == '.' || key || variable || before == '@';
            if !plain && (before == '$' || !JQ_WORDS.contains(&word)) {
                return false;
            }
            rest = tail;
        } else if c.is_ascii_digit() {
            rest = tail;
        } else if !" \t\n.[]{}()|,:;?=<>!+-*/%$@".contains(c) || rest.starts_with("::") {
            return false;
        } else {
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            match (c, open.last()) {
                ('(' | '[' | '{', _) => open.push(c),
                // The text continues after the interpolation.
                (')', Some(&FILLED)) => {
                    let Some((tail, opens)) = jq_string(rest) else { return false };
                    if !opens {
                        open.pop();
                    }
                    rest = tail;
                    (before, last) = if opens { ('(', '(') } else { ('"', '"') };
                    continue;
                }
                (')', Some('(')) | (']', Some('[')) | ('}', Some('{')) => drop(open.pop()),
                (')' | ']' | '}', _) => return false,
                _ => {}
            }
        }
        before = c;
        if !c.is_ascii_whitespace() {
            last = c;
        }
    }
    true
}

/// An open `\(` in a text.
const FILLED: char = '\\';

/// The rest of a text, and whether it is followed by a filter that fills it.
fn jq_string(text: &str) -> Option<(&str, bool)> {
    let mut protected = false;
    for (at, c) in text.char_indices() {
        match c {
            '(' if protected => return text.get(at + 1..).map(|rest| (rest, true)),
            _ if protected => protected = false,
            '\\' => protected = true,
            '"' => return text.get(at + 1..).map(|rest| (rest, false)),
            _ => {}
        }
    }
    None
}

/// The arguments without `--arg NAME VALUE` and `--argjson NAME VALUE`. `None` if there are none, or
/// if they cannot be separated safely: after `--`, or with an unusual name.
pub fn unnamed(args: &[String]) -> Option<Vec<String>> {
    let mut out = Vec::with_capacity(args.len());
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let name = args.get(at + 1).filter(|_| matches!(arg.as_str(), "--arg" | "--argjson"));
        if arg == "--" || name.is_some_and(|name| !is_variable(name)) {
            return None;
        }
        let given = name.is_some() && args.get(at + 2).is_some();
        out.extend((!given).then(|| arg.clone()));
        at += if given { 3 } else { 1 };
    }
    (out.len() < args.len()).then_some(out)
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_word)
}

#[rustfmt::skip]
const JQ_WORDS: &[&str] = &[
    "keys", "keys_unsorted", "length", "utf8bytelength", "map", "map_values", "select",
    "to_entries", "from_entries", "with_entries", "has", "in", "inside", "type", "sort", "sort_by",
    "group_by", "unique", "unique_by", "add", "any", "all", "first", "last", "nth", "join", "split",
    "test", "match", "capture", "scan", "sub", "gsub", "startswith", "endswith", "contains",
    "tostring", "tonumber", "not", "and", "or", "empty", "flatten", "reverse", "min", "max",
    "min_by", "max_by", "values", "nulls", "strings", "numbers", "objects", "arrays", "booleans",
    "iterables", "scalars", "index", "rindex", "indices", "range", "recurse", "paths", "leaf_paths",
    "del", "ascii_downcase", "ascii_upcase", "if", "then", "else", "elif", "end", "true", "false",
    "null", "as", "reduce", "foreach", "ltrimstr", "rtrimstr", "trim", "tojson", "fromjson",
    "limit", "floor", "ceil", "round", "sqrt", "abs", "error", "try", "catch", "ascii", "implode",
    "explode", "todate", "fromdate", "now", "transpose", "splits", "walk", "path", "isvalid",
    "infinite", "nan",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::too_many_lines, reason = "a table")]
    fn jq_filters_that_reach_the_environment_are_raised() {
        for good in [
            ".",
            ".a.b[0]",
            ".scripts | keys",
            "map(.x) | length",
            ".[] | select(.name == \"env\")",
            "{a: .b, c: 1}",
            "{name, env, c: .d , e }",
            "{ env : .b, input: .c }",
            "[.[] | {name: .a, size: (.b | length)}]",
            ". as {env: $x} | $x",
            ".env",
            ".a as $x | $x",
            "to_entries[] | .key",
            "[.[] | .\"a b\"]",
            "to_entries[] | \"\\(.key): \\(.value)\"",
            "\"a \\(.x | \"b \\(.y)\" | length) c\"",
            "{\"x\": \"\\(.a)\"}",
            ".a == $name",
        ] {
            assert!(is_plain_jq(good), "{good}");
        }
        for bad in [
            "env",
            "$ENV",
            "$ENV.PATH",
            "env.PATH",
            "\"\\(env)\"",
            "\"\\(.a)\" + env",
            "\"\\(\"\\(env)\")\"",
            "\"\\(.a) \\(input)\"",
            "\"\\(.a\"",
            "\"\\(.a]\"",
            "{\"\\(env: 1)\": 1}",
            ".a)",
            "input",
            "inputs",
            "import \"a\" as a; .",
            "include \"x\"; .",
            "m::f",
            ". # x",
            "$__prog_args",
            "getpath([\"a\"])",
            "halt",
            "input_filename",
            "{a: env}",
            "{a: env, b}",
            "[env, {a}]",
            "{a: 1}, env, {b}",
            "path(.[env:1])",
            ".[env:1]",
            ".[ env : 1]",
            ".[$ENV:1]",
            ".[input:]",
            ".[inputs:2]",
            ".[1:env]",
            "{a: .[env:1]}",
            "{a: (1, env:2)}",
            "[env:1]",
            "{(env): 1}",
            "{a: 1}, env:1",
            ".[halt:1]",
            ".[debug:1]",
            ".[input_filename:1]",
            "`",
        ] {
            assert!(!is_plain_jq(bad), "{bad}");
        }
    }
}
