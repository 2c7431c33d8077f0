//! Reads what is between the words of a line: operators, forms and redirections. Anything
//! else there, and the line is not understood.

use super::ast::{
    CaseHead, ForLoop, FunctionBody, Redirect, RedirectKind, Script, ShellWord, Simple, Sum,
};

/// A part of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'s> {
    /// A word of this command.
    Command(&'s Simple),
    /// An operator, as the shell is given it.
    Operator(&'static str),
    /// The beginning or the end of a form.
    Group(&'static str),
    /// `for NAME in WORD…`; its body is between `do` and `done`.
    For(&'s ForLoop),
    /// `case WORD in`.
    Case(&'s CaseHead),
    /// The patterns of a branch.
    Patterns(&'s [ShellWord]),
    /// `((…))`.
    Sum(&'s Sum),
    /// `NAME() { … }`.
    Function(&'s FunctionBody),
    /// The beginning of a body.
    Do,
    /// The end of a body.
    Done,
    /// `]]`.
    ConditionEnd,
    /// `!` and `time`.
    Prefix(&'static str),
    /// Streams that are joined, or written to nothing.
    Redirect(String),
    /// A file that is read.
    Input(&'s Redirect),
}

/// A part of the line that was read as phrases.
#[derive(Clone, Copy)]
enum Hole<'s> {
    Word(&'s Simple),
    Set(&'s Simple),
    For(&'s ForLoop),
    Case(&'s CaseHead),
    Patterns(&'s [ShellWord]),
    Sum(&'s Sum),
    Function(&'s FunctionBody),
    Target(&'s Redirect),
    /// A here-document: its command has the text.
    Document,
}

/// The parts of a line that were read as phrases, in order.
fn find_holes(script: &Script, is_bash: bool) -> Option<Vec<((usize, usize), Hole<'_>)>> {
    let mut holes = Vec::new();
    // Those in a substitution are a part of its word.
    for simple in script.commands.iter().filter(|simple| !simple.seat.substituted) {
        if simple.fed.is_some() && simple.words.is_empty() {
            return None;
        }
        holes.extend(simple.words.iter().map(|word| (word.span, Hole::Word(simple))));
        holes.extend(simple.sets.iter().map(|set| (set.word.span, Hole::Set(simple))));
        holes.extend(simple.redirects.iter().map(|one| (one.target.span, Hole::Target(one))));
    }
    holes.extend(script.documents.iter().map(|span| (*span, Hole::Document)));
    holes.extend(script.loops.iter().map(|one| (one.span, Hole::For(one))));
    holes.extend(script.cases.iter().map(|head| (head.span, Hole::Case(head))));
    let patterns = script.patterns.iter();
    holes.extend(patterns.map(|one| (one.span, Hole::Patterns(&one.words))));
    holes.extend(script.sums.iter().filter(|_| is_bash).map(|sum| (sum.span, Hole::Sum(sum))));
    // What is in a function is read where it is called.
    holes.extend(script.bodies.iter().map(|body| (body.span, Hole::Function(body))));
    let is_inside = |(start, end): (usize, usize)| {
        script.bodies.iter().any(|body| body.span.0 <= start && end < body.span.1)
    };
    holes.retain(|(span, _)| !is_inside(*span));
    holes.sort_by_key(|(span, _)| *span);
    Some(holes)
}

/// The line in tokens: its words, and what is between them.
pub(super) fn read_tokens<'s>(
    line: &str,
    script: &'s Script,
    is_bash: bool,
) -> Option<Vec<Token<'s>>> {
    let letters: Vec<char> = line.chars().collect();
    let mut reader = GapReader { is_bash, tokens: Vec::new() };
    let mut done = 0;
    for ((start, end), hole) in find_holes(script, is_bash)? {
        if start >= end {
            return None;
        }
        let gap: String = letters.get(done..start)?.iter().collect();
        let redirect = match hole {
            Hole::Target(redirect) => Some(redirect),
            _ => None,
        };
        reader.read(&gap, redirect)?;
        match hole {
            Hole::Word(simple) | Hole::Set(simple) => reader.tokens.push(Token::Command(simple)),
            Hole::For(one) => reader.tokens.push(Token::For(one)),
            Hole::Case(head) => reader.tokens.push(Token::Case(head)),
            Hole::Patterns(words) => reader.tokens.push(Token::Patterns(words)),
            Hole::Sum(sum) => reader.tokens.push(Token::Sum(sum)),
            Hole::Function(body) => reader.tokens.push(Token::Function(body)),
            Hole::Target(_) | Hole::Document => {}
        }
        // The elements of an array.
        if matches!(hole, Hole::Set(_)) && letters.get(end) == Some(&'(') {
            return None;
        }
        done = end;
    }
    let gap: String = letters.get(done..)?.iter().collect();
    reader.read(&gap, None)?;
    Some(reader.tokens)
}

#[derive(Debug)]
struct GapReader<'s> {
    is_bash: bool,
    tokens: Vec<Token<'s>>,
}

impl<'s> GapReader<'s> {
    /// Reads the text in front of a word, or of the target of a redirection.
    fn read(&mut self, gap: &str, redirect: Option<&'s Redirect>) -> Option<()> {
        let mut rest = gap;
        loop {
            rest = rest.trim_start_matches([' ', '\t']);
            let first = match rest.chars().next() {
                Some(first) => first,
                None => return redirect.is_none().then_some(()),
            };
            if let Some(behind) = rest.strip_prefix("\\\n") {
                rest = behind;
            } else if first == '#' {
                rest = rest.find('\n').and_then(|end| rest.get(end..)).unwrap_or_default();
            } else if let Some((sign, token)) = self.sign(rest) {
                self.tokens.extend(token);
                rest = rest.get(sign.len()..)?;
            } else {
                match self.redirection(rest, redirect)? {
                    Some(behind) => rest = behind,
                    // It was the one in front of the target.
                    None => return Some(()),
                }
            }
        }
    }

    /// An operator or a word of the grammar at the start of a text.
    fn sign(&self, text: &str) -> Option<(&'static str, Vec<Token<'s>>)> {
        const SIGNS: &[(&str, Option<Token<'static>>)] = &[
            ("&&", Some(Token::Operator(" && "))),
            ("||", Some(Token::Operator(" || "))),
            ("|&", None),
            ("|", Some(Token::Operator(" | "))),
            (";;", Some(Token::Operator("\n;;\n"))),
            (";", Some(Token::Operator("\n"))),
            ("\n", Some(Token::Operator("\n"))),
            ("(", Some(Token::Group("( "))),
            (")", Some(Token::Group(" )"))),
            ("{", Some(Token::Group("{ "))),
            ("}", Some(Token::Group("}"))),
            ("!", Some(Token::Prefix("! "))),
            ("if", Some(Token::Group("if "))),
            ("then", Some(Token::Group("then "))),
            ("elif", Some(Token::Group("elif "))),
            ("else", Some(Token::Group("else "))),
            ("fi", Some(Token::Group("fi"))),
            ("esac", Some(Token::Group("esac\n}"))),
            ("while", Some(Token::Group("while "))),
            ("until", Some(Token::Group("until "))),
            ("do", Some(Token::Do)),
            ("done", Some(Token::Done)),
            // The end of a command that `[[` begins.
            ("]]", Some(Token::ConditionEnd)),
            ("time -p", Some(Token::Prefix("time -p "))),
            ("time", Some(Token::Prefix("time "))),
        ];
        const ENDS: [char; 9] = [' ', '\t', '\n', ';', '|', '&', ')', '<', '>'];
        let is_word = |sign: &str| sign.starts_with(['{', '}', '!', ']']) || is_letters(sign);
        let (sign, token) = SIGNS.iter().find(|(sign, _)| {
            text.strip_prefix(sign).is_some_and(|behind| {
                !is_word(sign) || behind.is_empty() || behind.starts_with(ENDS)
            })
        })?;
        let behind = text.get(sign.len()..)?;
        let known = match *sign {
            ";" | ";;" => !behind.starts_with([';', '&']),
            "|" => !behind.starts_with(['|', '&']),
            "time" | "time -p" | "|&" | "]]" => self.is_bash,
            _ => true,
        };
        let tokens = match token {
            Some(token) => vec![token.clone()],
            // Both streams go on.
            None => vec![Token::Redirect("2>&1".to_owned()), Token::Operator(" | ")],
        };
        known.then_some((*sign, tokens))
    }

    /// A redirection at the start of a text: the rest of the text, or `None` where its target is
    /// the word that comes next.
    fn redirection<'t>(
        &mut self,
        text: &'t str,
        target: Option<&'s Redirect>,
    ) -> Option<Option<&'t str>> {
        if let Some(behind) = text.strip_prefix("&>") {
            let redirect = target.filter(|one| self.is_bash && writes_to_nothing(one))?;
            let is_next = behind.strip_prefix('>').unwrap_or(behind).trim().is_empty();
            self.tokens.push(Token::Redirect(format!(">{} 2>&1", redirect.target.text)));
            return is_next.then_some(None);
        }
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (stream, behind) = text.split_at_checked(digits)?;
        if let Some(behind) = behind.strip_prefix(">&") {
            let to = behind.get(..1).filter(|to| ["1", "2"].contains(to))?;
            let behind = behind.get(1..)?;
            let ends = !behind.starts_with(|c: char| c.is_alphanumeric() || c == '-');
            if !ends || !["", "1", "2"].contains(&stream) {
                return None;
            }
            self.tokens.push(Token::Redirect(format!("{stream}>&{to}")));
            return Some(Some(behind));
        }
        let redirect = target?;
        if let Some(behind) = behind.strip_prefix('>') {
            let is_next = behind.strip_prefix('>').unwrap_or(behind).trim().is_empty();
            let known = is_next && ["", "1", "2"].contains(&stream) && writes_to_nothing(redirect);
            self.tokens.push(Token::Redirect(format!("{stream}>{}", redirect.target.text)));
            return known.then_some(None);
        }
        let behind = behind.strip_prefix('<')?;
        let known = behind.trim().is_empty()
            && ["", "0"].contains(&stream)
            && redirect.way == RedirectKind::Read;
        self.tokens.push(Token::Input(redirect));
        known.then_some(None)
    }
}

fn is_letters(sign: &str) -> bool {
    sign.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Whether what is redirected goes nowhere.
fn writes_to_nothing(redirect: &Redirect) -> bool {
    let target = &redirect.target;
    redirect.way == RedirectKind::Write && target.text == "/dev/null" && target.variables.is_empty()
}
