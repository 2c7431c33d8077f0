//! Checks `awk` programs. Only computing and printing to standard output is L0.
//!
//! The programs called awk differ: in where a regular expression ends, in what `/` means
//! after a bracket, in what their builtins reach. Anything that two of them could read
//! differently is not understood here, and so is asked about.

use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect;

use super::super::findings::Findings;
use super::super::spec::{ArgToken, ProgramCall, flag_values, operands};
use super::super::wrappers;

/// `awk`: a program that reads its operands and prints, no more.
pub fn awk(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let program = operands(tokens).next();
    let odd = program.filter(|(_, program)| !is_plain_awk(program));
    let mut set = flag_values(tokens, "-v");
    if let Some((at, _)) = odd.or_else(|| set.find(|(_, value)| !is_plain_assignment(value))) {
        call.ask("script", phrases::RUNS_AWK, at, RUNS, findings);
        wrappers::scan_arguments(call, tokens, findings);
    }
}

const RUNS: &[Effect] = &[Effect::Exec, Effect::Write];

/// `name=value`, where the value is text and nothing else in any of them.
fn is_plain_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, value)| {
        let settable = !RESERVED.contains(&name) && name != "FILENAME";
        is_name(name) && settable && !value.starts_with('@')
    })
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text.chars().all(is_word)
}

pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The previous token: it decides what a `/` begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastToken {
    /// An operator, an opening bracket, the start of a statement: an operand follows.
    Open,
    /// A number, a text, a variable, a closed bracket: an operator follows.
    Closed,
    /// The next token may be either, depending on the awk.
    Doubtful,
}

struct AwkParser<'a> {
    rest: &'a str,
    last: LastToken,
    /// Inside a statement that prints, where `>` would be a file.
    prints: bool,
    /// For each open round bracket, whether it is that of `if`, `while` or `for`.
    brackets: Vec<bool>,
    /// The next round bracket is that of a condition.
    condition: bool,
}

/// Whether a program is made of known parts only.
fn is_plain_awk(program: &str) -> bool {
    let mut parser = AwkParser {
        rest: program,
        last: LastToken::Open,
        prints: false,
        brackets: Vec::new(),
        condition: false,
    };
    while let Some(c) = parser.rest.chars().next() {
        if parser.read_part(c).is_none() {
            return false;
        }
    }
    parser.brackets.is_empty()
}

impl<'a> AwkParser<'a> {
    /// Reads one part; `None`: it is not understood.
    fn read_part(&mut self, c: char) -> Option<()> {
        match c {
            ' ' | '\t' => self.skip(1),
            '\n' | ';' | '{' | '}' => self.end_statement(c),
            '"' => self.text(),
            '/' => self.slash(),
            '(' => {
                self.brackets.push(std::mem::take(&mut self.condition));
                self.last = LastToken::Open;
                self.skip(1)
            }
            ')' => {
                let condition = self.brackets.pop()?;
                // A statement may begin after a condition, which only some awks know.
                self.last = if condition { LastToken::Doubtful } else { LastToken::Closed };
                self.skip(1)
            }
            ']' => self.skip_as(LastToken::Closed, 1),
            '[' | ',' | '?' | ':' | '~' | '^' | '%' => self.skip_as(LastToken::Open, 1),
            '0'..='9' => self.number(),
            '.' if self.rest.get(1..)?.starts_with(|c: char| c.is_ascii_digit()) => self.number(),
            // A field; what follows the sign is an operand of its own.
            '$' => self.skip_as(LastToken::Doubtful, 1),
            '|' if self.rest.starts_with("||") => self.skip_as(LastToken::Open, 2),
            '&' if self.rest.starts_with("&&") => self.skip_as(LastToken::Open, 2),
            '>' => self.greater(),
            '<' | '=' | '!' | '*' => self.skip_as(LastToken::Open, 1),
            '+' | '-' => {
                let twice = self.rest.get(1..)?.starts_with(c);
                self.skip_as(
                    if twice { LastToken::Doubtful } else { LastToken::Open },
                    1 + usize::from(twice),
                )
            }
            c if c.is_ascii_alphabetic() || c == '_' => self.word(),
            _ => None,
        }
    }

    /// The end of a statement. After an operator or a comma it continues on the next line.
    fn end_statement(&mut self, sign: char) -> Option<()> {
        let within = !self.brackets.is_empty();
        match sign {
            '\n' if within => return None,
            '\n' if self.last == LastToken::Open => {}
            // After some words one of them reads on.
            '\n' if self.last == LastToken::Doubtful && self.prints => return None,
            '\n' if self.last == LastToken::Doubtful => {}
            '{' | '}' if within => return None,
            ';' if within => self.last = LastToken::Open,
            _ => {
                self.prints = false;
                self.last = LastToken::Open;
            }
        }
        self.skip(1)
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.rest = self.rest.get(bytes..)?;
        Some(())
    }

    fn skip_as(&mut self, last: LastToken, bytes: usize) -> Option<()> {
        self.last = last;
        self.skip(bytes)
    }

    /// Greater than; after `print` it would name a file.
    fn greater(&mut self) -> Option<()> {
        if self.prints || self.rest.starts_with(">>") {
            return None;
        }
        self.skip_as(LastToken::Open, 1)
    }

    fn number(&mut self) -> Option<()> {
        let digits = |text: &str| text.find(|c: char| !(c.is_ascii_digit() || c == '.'));
        let end = digits(self.rest).unwrap_or(self.rest.len());
        // `1x` are two things to an awk, and the second could be anything.
        match self.rest.get(end..)?.chars().next() {
            Some(c) if is_word(c) => None,
            Some(_) | None => self.skip_as(LastToken::Closed, end),
        }
    }

    fn text(&mut self) -> Option<()> {
        let end = closing_delimiter(self.rest.get(1..)?, '"')?;
        self.skip_as(LastToken::Closed, end + 2)
    }

    /// A division, or a regular expression.
    fn slash(&mut self) -> Option<()> {
        match self.last {
            LastToken::Closed => self.skip_as(LastToken::Open, 1),
            LastToken::Open => {
                let body = self.rest.get(1..)?;
                let end = closing_delimiter(body, '/')?;
                // `/=` is an operator to some.
                if body.starts_with('=') || !has_plain_brackets(body.get(..end)?) {
                    return None;
                }
                self.skip_as(LastToken::Doubtful, end + 2)
            }
            LastToken::Doubtful => None,
        }
    }

    fn word(&mut self) -> Option<()> {
        let end = self.rest.find(|c: char| !is_word(c)).unwrap_or(self.rest.len());
        let word = self.rest.get(..end)?;
        if RESERVED.contains(&word) {
            return None;
        }
        let behind = self.rest.get(end..)?.trim_start_matches([' ', '\t']);
        let called = behind.starts_with('(');
        let (last, known) = match word {
            // Its value may be shown and compared; what setting it does, awks do not agree on.
            "FILENAME" => {
                let is_set = behind.starts_with(['=', '+', '-', '*', '/', '%', '^']);
                (LastToken::Closed, !called && (behind.starts_with("==") || !is_set))
            }
            "print" | "printf" => {
                self.prints = true;
                (LastToken::Open, true)
            }
            "if" | "while" | "for" => {
                self.condition = true;
                (LastToken::Doubtful, called)
            }
            _ if KEYWORDS.contains(&word) => (LastToken::Doubtful, true),
            _ if BUILTINS.contains(&word) => (LastToken::Doubtful, called || word == "length"),
            // A variable; one that is called is a function not defined here.
            _ => (LastToken::Closed, !called),
        };
        known.then_some(())?;
        self.skip_as(last, end)
    }
}

/// The end of a text that began before; `\` protects the character after it.
pub(super) fn closing_delimiter(text: &str, sign: char) -> Option<usize> {
    let mut protected = false;
    for (at, c) in text.char_indices() {
        match c {
            '\n' => return None,
            _ if protected => protected = false,
            '\\' => protected = true,
            c if c == sign => return Some(at),
            _ => {}
        }
    }
    None
}

/// Whether the brackets of a regular expression end where every awk takes them to end.
fn has_plain_brackets(body: &str) -> bool {
    let mut rest = body;
    while let Some(at) = rest.find(['[', '\\']) {
        let Some(behind) = rest.get(at + 1..) else { return false };
        if rest.get(at..).is_some_and(|rest| rest.starts_with('\\')) {
            // A protected character opens nothing, and awks agree on it outside of
            // brackets.
            let next = behind.chars().next().map_or(0, char::len_utf8);
            rest = behind.get(next..).unwrap_or_default();
            continue;
        }
        let set = behind.strip_prefix('^').unwrap_or(behind);
        let Some(end) = set_end(set) else { return false };
        rest = set.get(end..).unwrap_or_default();
    }
    !rest.contains('[')
}

/// Where a set of characters ends: its `]` is not the first in it, nothing in it is
/// protected, and nothing opens in it but a class such as `[:digit:]`.
fn set_end(set: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = set.get(at..)?;
        match rest.chars().next()? {
            ']' if at > 0 => return Some(at + 1),
            ']' | '\\' => return None,
            '[' => {
                let class = rest.strip_prefix("[:")?;
                let end = class.find(":]")?;
                class.get(..end)?.chars().all(|c| c.is_ascii_lowercase()).then_some(())?;
                at += end + 4;
            }
            c => at += c.len_utf8(),
        }
    }
}

/// Words that reach beyond the input text, whatever surrounds them.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "system", "getline", "ENVIRON", "ARGV", "ARGC", "PROCINFO", "SYMTAB", "FUNCTAB", "function",
    "func", "close", "use", "namespace", "awk", "include", "load", "eval",
];

#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "BEGIN", "END", "BEGINFILE", "ENDFILE", "else", "do", "in", "next", "nextfile", "exit",
    "delete", "break", "continue",
];

const BUILTINS: &[&str] = &[
    "length", "substr", "index", "split", "sub", "gsub", "gensub", "match", "sprintf", "sin",
    "cos", "atan2", "exp", "log", "sqrt", "int", "rand", "srand", "tolower", "toupper", "strftime",
    "systime", "mktime", "strtonum", "and", "or", "xor", "lshift", "rshift", "compl", "patsplit",
    "typeof", "isarray",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_print_and_count_are_plain() {
        for program in [
            "{print $1}",
            "{ print $1, $NF }",
            "NR>=10 && NR<=20",
            "NR==5",
            "/error/",
            "/^fn [a-z_]+/ {n++} END {print n}",
            "{s+=$1} END{print s}",
            "{ sum += $3 } END { print sum/NR }",
            "END { print (a+b)/2 }",
            "!seen[$0]++",
            "BEGIN{FS=\":\"} {print $1}",
            "$3 > 100 {print $1}",
            "{ if ($3 > 10) print $1; else print $2 }",
            "{a[$1]++} END {for (k in a) print k, a[k]}",
            "length > 80",
            "length($0) > 80 { print FNR \": \" $0 }",
            "{ printf \"%-20s %s\\n\", $1, $2 }",
            "$1 ~ /^[0-9]+$/",
            "{gsub(/ +/, \" \"); print}",
            "NF",
            "1",
            "{print substr($0, 1, 10)}",
            "/a/,/b/",
            "{ print toupper($1) }",
            "$2 == \"x\" || $2 != \"y\"",
            "{ for (i = 1; i <= NF; i++) s += $i } END { print s }",
            "/[[:digit:]]+/ { print }",
            "/x/ {print FILENAME \":\" FNR \": \" $0}",
            "{n[FILENAME]++} END {for (f in n) print f, n[f]}",
            "FILENAME == \"a.txt\"",
        ] {
            assert!(is_plain_awk(program), "{program}");
        }
    }

    #[test]
    fn programs_that_could_do_more_are_not() {
        for program in [
            "BEGIN{system(\"id\")}",
            "BEGIN { system (\"id\") }",
            "{print > \"out\"}",
            "{print >> \"out\"}",
            "{print $1 > $2}",
            "{print($1) > \"x\"}",
            "{printf \"x\" > \"/dev/stderr\"}",
            "{print | \"sh\"}",
            "{print |& \"sh\"}",
            "BEGIN{\"id\" | getline x; print x}",
            "BEGIN{while ((getline line < \"/etc/passwd\") > 0) print line}",
            "BEGIN{print ENVIRON[\"HOME\"]}",
            "BEGIN{ARGV[1]=\"/etc/passwd\"; ARGC=2}",
            "BEGIN{FILENAME=\"x\"}",
            "BEGIN{FILENAME = \"x\"}",
            "BEGIN{FILENAME += 1}",
            "{print > FILENAME}",
            "{while ((getline x < FILENAME) > 0) print x}",
            "@load \"filefuncs\"",
            "@include \"x\"",
            "BEGIN{f=\"system\"; @f(\"id\")}",
            "function f(x) {return x} BEGIN{f(1)}",
            "BEGIN{PROCINFO[\"x\"]=1}",
            "BEGIN{SYMTAB[\"x\"]=1}",
            // A text in one awk is code in another.
            "{if (x) /\"/; system(\"id\") #\"/}",
            "/[/]\"/; system(\"id\") #/",
            "/[]/]\"/",
            "/[\\]/]x/",
            "x++ /\"/ 1",
            "length /\"/ 2",
            "$/x/",
            "/a/ /\"/",
            "{print \"open}",
            "{print 1 # a note\n}",
            "{print \\\n1}",
            "{print (1}",
            "{print 1)}",
            "f(1)",
            "f (1)",
            "`id`",
            "1system(\"id\")",
            "BEGIN{x=0x1system(\"id\")}",
            "{print $1,\n\"x\" > \"out\"}",
            "{print $1 &&\n\"x\" > \"out\"}",
            "{print ($1\n) > \"out\"}",
            "{print \"x\" in\na > \"out\"}",
            "BEGIN{print (1)in\na > \"out\"}",
            "{print (1;2) > \"out\"}",
            "{if (x)\n/\"/; system(\"id\") #\"/}",
            "/=\"/ {print}",
            "{print é}",
            "close(\"x\")",
        ] {
            assert!(!is_plain_awk(program), "{program}");
        }
    }

    #[test]
    fn only_plain_names_are_assigned() {
        assert!(is_plain_assignment("n=5") && is_plain_assignment("FS=:"));
        for text in ["n", "ENVIRON=1", "FILENAME=x", "1=2", "x=@/a/", "a b=1"] {
            assert!(!is_plain_assignment(text), "{text}");
        }
    }
}
