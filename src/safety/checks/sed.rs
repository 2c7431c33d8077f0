//! `sed` scripts. Only what prints, deletes or replaces on the way to standard output is L0.

use crate::protocol::{Effect, Tier};
use crate::words::safety as words;

use super::super::args::{self, Part, Token};
use super::super::findings::Findings;
use super::super::judge::Call;
use super::operands;

/// `sed`: only printing, deleting and replacing on the way to standard output.
pub fn sed(call: &Call<'_>, tokens: &[Token<'_>], findings: &mut Findings) {
    let mut given = false;
    for token in tokens {
        if let Part::Flag { name, value: Some(value), .. } = &token.part
            && matches!(name.as_ref(), "-e" | "--expression")
        {
            given = true;
            sed_script(value, token.at, call, findings);
        }
    }
    let file = args::hit(tokens, "-f|--file").is_some();
    if let (false, Some((at, script))) = (given || file, operands(tokens).next()) {
        sed_script(script, at, call, findings);
    }
}

fn sed_script(script: &str, at: usize, call: &Call<'_>, findings: &mut Findings) {
    if !script.split([';', '\n']).all(|part| is_plain_sed(part.trim())) && !is_plain_sed(script) {
        call.find("script", Tier::L1, words::SED_SCRIPT, at, &[Effect::Write], findings);
    }
}

/// `ADDRESS[,ADDRESS][!]COMMAND`, where the command writes nothing and runs nothing; a
/// group may begin before it and end behind it.
fn is_plain_sed(part: &str) -> bool {
    let rest = sed_address(part);
    let rest = rest.strip_prefix(',').map_or(rest, |rest| sed_address(rest.trim_start()));
    let rest = rest.trim_start().trim_start_matches('!').trim_start();
    if let Some(inner) = rest.strip_prefix('{') {
        return is_plain_sed(inner.trim_start());
    }
    let kind = rest.chars().next();
    match (kind, rest.get(1..)) {
        (Some('s'), Some(body)) => is_plain_substitution(body),
        // Letter by letter: it has no flags that could write.
        (Some('y'), Some(body)) => both_halves(body) == Some(""),
        _ => {
            let rest = rest.trim_end_matches(['}', ' ']);
            rest.is_empty() && sed_address(part).len() == part.len()
                || ["p", "d", "q", "=", "l", "P", "D", "n", "N", "g", "G", "h", "H", "x"]
                    .contains(&rest)
        }
    }
}

fn sed_address(text: &str) -> &str {
    if let Some(body) = text.strip_prefix('/') {
        return pattern(body, '/').map_or(text, |rest| rest.trim_start_matches('I'));
    }
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '~' | '+'));
    if rest.len() == text.len() { text.strip_prefix('$').unwrap_or(text) } else { rest }
}

fn is_plain_substitution(body: &str) -> bool {
    both_halves(body).is_some_and(|flags| flags.chars().all(|c| "gpIi0123456789".contains(c)))
}

/// What follows `/…/…/`, or the same with another sign in the place of `/`.
fn both_halves(body: &str) -> Option<&str> {
    let sign = body.chars().next().filter(|sign| "/|#,@:!%_+~".contains(*sign))?;
    delimited(pattern(body.get(1..)?, sign)?, sign)
}

/// What follows a pattern. Programs differ in whether its end may stand in brackets, and
/// with that in what the next command is; a pattern where it does is not understood.
fn pattern(text: &str, sign: char) -> Option<&str> {
    let rest = delimited(text, sign)?;
    let pattern = text.get(..text.len() - rest.len())?;
    let (open, closed) = (pattern.rfind('['), pattern.rfind(']'));
    (open.is_none() || closed > open.map(|open| open + 1)).then_some(rest)
}

/// What follows the next such sign that no backslash protects.
fn delimited(text: &str, sign: char) -> Option<&str> {
    let mut protected = false;
    for (at, c) in text.char_indices() {
        match c {
            '\n' => return None,
            _ if protected => protected = false,
            '\\' => protected = true,
            _ if c == sign => return text.get(at + 1..),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sed_scripts_that_only_print_are_told_from_those_that_write() {
        for good in [
            "1,40p",
            "5p",
            "$p",
            "/foo/p",
            "/a\\/b/,/c/p",
            "s/a/b/",
            "s/a/b/gI",
            "1,3d;5q",
            "2,$p",
            "10q",
            "1~2p",
            "/x/!d",
            "=",
            "y/abc/def/",
            "s|a|b|",
            "s#a/b#c#g",
            "s/[a-z]/x/g",
            "2{p;q}",
            "/x/{s/a/b/;p;}",
        ] {
            assert!(good.split(';').all(is_plain_sed), "{good}");
        }
        for bad in [
            "w out",
            "s/a/b/w out",
            "s/a/b/e",
            "1e id",
            "e id",
            "r /etc/passwd",
            "1!w x",
            "s|a|b|w x",
            "/x/w out",
            "s/a/b/;w x",
            "1,3{w x",
            "R f",
            "W f",
            "y/a/b/w x",
            "y,a,b,w x",
            "s|a|b|e",
            "s/[/]/g;s/w x/p/g",
            "s|[|]|g;s|w x|p|g",
            "/[/]/p;/w x/p",
            "sxaxbx",
            "s\\a\\b\\",
            "2",
            "{w x}",
            "2{e}",
            "w}",
        ] {
            assert!(!bad.split(';').all(is_plain_sed), "{bad}");
        }
    }
}
