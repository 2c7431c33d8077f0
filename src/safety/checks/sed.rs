//! Checks `sed` scripts. Only printing, deleting or replacing on the way to standard output
//! is L0.

use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect;

use super::super::WriteOpening;
use super::super::args;
use super::super::findings::Findings;
use super::super::spec::{ArgToken, ProgramCall, operands};
use super::awk::closing_delimiter;

/// `sed`: only printing, deleting and replacing on the way to standard output.
pub fn sed(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let mut given = false;
    for token in tokens {
        if let Some(script) = token.value_of("-e|--expression") {
            given = true;
            sed_script(script, token.at, call, findings);
        }
        // Where it takes no value this is the script.
        if let Some(value) = token.value_of("-l").filter(|_| token.separate)
            && !value.bytes().all(|byte| byte.is_ascii_digit())
        {
            sed_script(value, token.at + 1, call, findings);
        }
    }
    if call.supports_option("--sandbox") {
        call.insert(0, "--sandbox", findings);
    }
    let file = args::find_flag(tokens, "-f|--file").is_some();
    if let (false, Some((at, script))) = (given || file, operands(tokens).next()) {
        sed_script(script, at, call, findings);
    }
    if args::find_flag(tokens, "-i|-I|--in-place").is_some() {
        let files = operands(tokens).skip(usize::from(!given && !file));
        let outside = files.filter(|(_, text)| call.is_outside(text));
        outside
            .for_each(|(at, text)| call.check_output(text, at, WriteOpening::Replaced, findings));
    }
}

fn sed_script(script: &str, at: usize, call: &ProgramCall<'_>, findings: &mut Findings) {
    if !is_plain_script(script) {
        call.ask("script", phrases::SED_SCRIPT, at, &[Effect::Write], findings);
    }
}

/// How a program reads brackets in a pattern. Versions differ in it, and with that in
/// where the next command begins.
#[derive(Clone, Copy)]
enum Brackets {
    /// Not at all: a pattern ends at the next sign that no backslash protects.
    Blind,
    /// The delimiter may appear in them.
    Aware {
        /// A backslash protects in them too.
        escapes: bool,
        /// `[:alpha:]`, `[.x.]` and `[=x=]` may appear in them.
        classes: bool,
    },
}

const READINGS: &[Brackets] = &[
    Brackets::Blind,
    Brackets::Aware { escapes: false, classes: false },
    Brackets::Aware { escapes: false, classes: true },
    Brackets::Aware { escapes: true, classes: false },
    Brackets::Aware { escapes: true, classes: true },
];

/// Whether the script only prints, deletes and replaces, and every reading of its
/// brackets finds the same commands at the same places.
fn is_plain_script(script: &str) -> bool {
    let mut readings = READINGS.iter().map(|brackets| {
        let mut parser =
            SedParser { text: script, at: 0, brackets: *brackets, boundaries: Vec::new() };
        parser.script().then_some(parser.boundaries)
    });
    match readings.next().flatten() {
        Some(first) => readings.all(|marks| marks.as_ref() == Some(&first)),
        None => false,
    }
}

/// Parses a script with one of the two ways to read brackets; a command it does not know
/// makes it fail.
struct SedParser<'a> {
    text: &'a str,
    at: usize,
    brackets: Brackets,
    /// Where the parts of commands end.
    boundaries: Vec<usize>,
}

/// Commands of one letter that write nothing and run nothing. `D` starts over without
/// reading on, and may never end.
const PLAIN: &str = "pdq=lPnNgGhHx";

/// The flags that may follow a substitution.
const FLAGS: &str = "gpIiMm0123456789";

impl SedParser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> Option<char> {
        let next = self.rest().chars().next().filter(|c| wanted(*c))?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn skip(&mut self, wanted: impl Fn(char) -> bool) -> bool {
        let before = self.at;
        while self.take(&wanted).is_some() {}
        self.at > before
    }

    fn skip_blanks(&mut self) {
        self.skip(|c| c == ' ' || c == '\t');
    }

    /// All of it: commands, groups, and what divides them.
    fn script(&mut self) -> bool {
        let mut depth = 0_usize;
        loop {
            self.skip(|c| c.is_ascii_whitespace() || c == ';');
            if self.rest().is_empty() {
                return depth == 0;
            }
            if self.take(|c| c == '}').is_some() {
                match depth.checked_sub(1) {
                    Some(outer) => depth = outer,
                    None => return false,
                }
            } else {
                match self.command() {
                    Some(true) => {
                        depth += 1;
                        continue;
                    }
                    Some(false) => {}
                    None => return false,
                }
            }
            self.boundaries.push(self.at);
            self.skip_blanks();
            if !self.rest().is_empty() && !self.rest().starts_with([';', '}', '\n']) {
                return false;
            }
        }
    }

    /// One command with its addresses; true: a group begins.
    fn command(&mut self) -> Option<bool> {
        if self.address(false)? {
            self.skip_blanks();
            if self.take(|c| c == ',').is_some() {
                self.skip_blanks();
                self.address(true)?.then_some(())?;
            }
        }
        self.skip_blanks();
        while self.take(|c| c == '!').is_some() {
            self.skip_blanks();
        }
        self.boundaries.push(self.at);
        match self.take(|_| true)? {
            '{' => Some(true),
            's' => {
                self.substitution_parts(true)?;
                self.skip(|c| FLAGS.contains(c));
                Some(false)
            }
            // Letter by letter: it has no flags.
            'y' => self.substitution_parts(false).map(|()| false),
            letter => PLAIN.contains(letter).then_some(false),
        }
    }

    /// An address, if there is one: a number, `$`, a pattern. `None`: it is not understood.
    fn address(&mut self, second: bool) -> Option<bool> {
        if self.take(|c| c == '/').is_some() {
            self.pattern('/')?;
            self.skip(|c| c == 'I' || c == 'M');
            return Some(true);
        }
        if self.take(|c| c == '$').is_some() {
            return Some(true);
        }
        let relative = second && self.take(|c| c == '+' || c == '~').is_some();
        let number = self.skip(|c| c.is_ascii_digit());
        if relative && !number {
            return None;
        }
        if number && !relative && self.take(|c| c == '~').is_some() {
            self.skip(|c| c.is_ascii_digit()).then_some(())?;
        }
        Some(number)
    }

    /// The part after `s` or `y`: `/…/…/`, or the same with another delimiter.
    fn substitution_parts(&mut self, replaces: bool) -> Option<()> {
        let sign = self.take(|sign| "/|#,@:!%_+~".contains(sign))?;
        self.pattern(sign)?;
        if replaces { self.replacement(sign) } else { self.pattern(sign) }
    }

    /// Up to the sign that ends a replacement, where brackets mean nothing.
    fn replacement(&mut self, sign: char) -> Option<()> {
        self.at += closing_delimiter(self.rest(), sign)? + sign.len_utf8();
        self.boundaries.push(self.at);
        Some(())
    }

    /// Up to the sign that ends a pattern, by this reading of brackets.
    fn pattern(&mut self, sign: char) -> Option<()> {
        let Brackets::Aware { escapes, classes } = self.brackets else {
            return self.replacement(sign);
        };
        loop {
            match self.take(|c| c != '\n')? {
                c if c == sign => break,
                '\\' => drop(self.take(|c| c != '\n')?),
                '[' => self.bracket(escapes, classes)?,
                _ => {}
            }
        }
        self.boundaries.push(self.at);
        Some(())
    }

    /// The text between `[` and its `]`.
    fn bracket(&mut self, escapes: bool, classes: bool) -> Option<()> {
        self.take(|c| c == '^');
        let mut first = true;
        loop {
            match self.take(|c| c != '\n')? {
                ']' if !first => return Some(()),
                '\\' if escapes => drop(self.take(|c| c != '\n')?),
                '[' if classes => {
                    if let Some(kind) = self.take(|c| ":.=".contains(c)) {
                        let end = self.rest().find(&format!("{kind}]"))?;
                        self.at += end + 2;
                    }
                }
                _ => {}
            }
            first = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::too_many_lines, reason = "a table")]
    fn sed_scripts_that_only_print_are_distinguished_from_those_that_write() {
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
            "/x/,+3p",
            "/a/I,/b/ !{ s/x/y/ ; p }",
            "s/[[:space:]]*$//",
            "s/^[^:]*:[]x]//",
            "s,[^]]*,x,g",
            "s/[^\\/]*\\//x/",
            "1~2{p;n;d}",
            "/[0-9]\\{3\\}/p",
            "s/a\\/b/[/;p",
            "1!G;h;$!d",
            "p\n2d",
            "",
        ] {
            assert!(is_plain_script(good), "{good}");
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
            "1s|.*|xid|;1s,[^],],g;/,e#/p",
            "s,[^],],g;s,w sedout,p,g",
            "s/[[:alpha:]/]/g;s/w x/p/g",
            "s/[[.x.]/]/g;s/w x/p/g",
            "s/[[=x=]/]/g;s/w x/p/g",
            "s/[]/]/g;s/w x/p/g",
            "s/[\\]/]/g;s/w x/p/g",
            "s/[^]/]/g;s/e x/p/g",
            "/[^]/]/p;/w x/p",
            "/[[:digit:]/]/{p};s/w x/y/",
            "y/[/]/ab/;w x/y/",
            "s|[[|]|g;s|w x|p|g",
            "1,/[^]/]/p;s/w x//",
            "h;G;D",
            "s/a/b/;D",
            "{p",
            "{p}p",
            "2{p;q}}",
            "s/a/b/ w x",
            "\\xaxp",
            "+3p",
            "s/a/b\nw x/",
        ] {
            assert!(!is_plain_script(bad), "{bad}");
        }
    }
}
