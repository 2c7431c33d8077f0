//! The syntax tree of a shell line. Parsing it is up to `read`, judging it to the parent
//! module.

use super::super::warning::Warning;
use avocet_core::i18n::{Phrase as Say, safety as phrases};

/// A line, taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// In the order they begin in the line.
    pub commands: Vec<Simple>,
    /// Why the line cannot be understood as a whole, if so.
    pub opaque: Option<Say>,
    /// The forms in it: here-documents, subshells, substitutions.
    pub forms: Vec<Warning>,
    /// Names the line gives to functions of its own.
    pub functions: Vec<String>,
    /// Variables its forms give a value: of loops, of arithmetic, `{fd}>`.
    pub names: Vec<String>,
    /// Where its here-documents are, and where they are announced, in characters.
    pub documents: Vec<(usize, usize)>,
    /// Its `for … in …`, but those in substitutions.
    pub loops: Vec<ForLoop>,
    /// The same of its `case … in` and of the patterns of branches.
    pub cases: Vec<CaseHead>,
    pub patterns: Vec<CasePatterns>,
    /// The same of its `((…))` that are commands, and of the functions it defines in braces.
    pub sums: Vec<Sum>,
    pub bodies: Vec<FunctionBody>,
    /// How many commands were begun.
    pub(super) begun: usize,
}

/// One simple command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simple {
    /// As it appears in the line.
    pub text: String,
    pub words: Vec<ShellWord>,
    pub sets: Vec<Set>,
    pub redirects: Vec<Redirect>,
    /// The text of a here-document or here-string it is fed.
    pub fed: Option<String>,
    /// The same, for a reader that must know exactly what it is.
    pub input: Option<InputText>,
    pub seat: CommandPosition,
}

/// The position of a simple command among the others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CommandPosition {
    /// Where its text begins, in characters.
    pub start: usize,
    /// Its number, in the order they were begun.
    pub serial: usize,
    /// The operator in front of it.
    pub after: Joint,
    /// True when it reads what another command writes.
    pub piped: bool,
    /// True inside a function of its own name.
    pub recursive: bool,
    /// True inside a substitution, where what it prints becomes a part of a word.
    pub substituted: bool,
}

/// What a command is fed by the line itself.
#[derive(Clone, Debug, PartialEq)]
pub enum InputText {
    /// `<<< WORD`.
    Word(ShellWord),
    /// A here-document of which nothing expands.
    Lines(String),
    /// One of which something does.
    Expanding(ShellWord),
}

/// What a command follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Joint {
    /// A new list begins: `;`, the end of a line, a form.
    #[default]
    Next,
    /// `&&` after a simple command, which has succeeded then.
    And,
    /// Whatever came before may have happened or not: `||`, and `&&` after a form.
    Or,
    Pipe,
}

/// `for NAME in WORD…`, up to its last word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForLoop {
    pub name: String,
    pub words: Vec<ShellWord>,
    /// Where it begins and ends in the text that was read, in characters.
    pub span: (usize, usize),
}

/// `case WORD in`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaseHead {
    pub word: ShellWord,
    /// Where it begins and ends in the text that was read, in characters.
    pub span: (usize, usize),
}

/// The patterns of a branch, up to their parenthesis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CasePatterns {
    pub words: Vec<ShellWord>,
    /// Where they begin and end in the text that was read, in characters.
    pub span: (usize, usize),
}

/// What is between `((` and `))`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sum {
    pub text: String,
    /// Where it begins and ends in the text that was read, in characters.
    pub span: (usize, usize),
}

/// `NAME() { TEXT }`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FunctionBody {
    pub name: String,
    pub text: String,
    /// Where it begins and ends in the text that was read, in characters.
    pub span: (usize, usize),
}

/// A variable that is set in front of a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Set {
    pub name: String,
    pub value: String,
    /// Both as one word.
    pub word: ShellWord,
    /// Those of an array.
    pub elements: Option<Vec<ShellWord>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Redirect {
    pub way: RedirectKind,
    pub target: ShellWord,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    Read,
    Write,
    Both,
}

/// One word, without its quotes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShellWord {
    /// Expansions in it are kept as written: `a$x`.
    pub text: String,
    /// The same without what expands: `a`.
    pub plain: String,
    pub traits: Vec<Trait>,
    /// Where it begins and ends in the text that was read, in characters.
    pub span: (usize, usize),
    /// The variables and substitutions in it, in order.
    pub variables: Vec<VariableUse>,
}

/// A variable or a substitution in a word, as it is written: `$HOME`, `$(ls)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableUse {
    /// Where it begins in the text of the word, in bytes.
    pub at: usize,
    pub written: String,
    /// Whether it is in double quotes, where nothing splits its value.
    pub is_quoted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trait {
    /// A part of it is quoted.
    Quoted,
    /// `$'…'`: letters may be written as numbers.
    Coded,
    Variable,
    Substitution,
    /// `<(…)`, `>(…)`.
    Process,
    /// `{a,b}`.
    Braces,
    /// `*`, `?`, `[…]`.
    Pattern,
    /// One of the signs of braces, patterns or homes in quotes.
    QuotedSign,
}

impl ShellWord {
    pub fn has(&self, which: Trait) -> bool {
        self.traits.contains(&which)
    }

    pub fn add_trait(&mut self, which: Trait) {
        if !self.has(which) {
            self.traits.push(which);
        }
    }

    /// Whether a part of it is only known when the shell runs.
    pub fn needs_expansion(&self) -> bool {
        use Trait::{Braces, Process, Substitution, Variable};
        self.traits.iter().any(|t| matches!(t, Variable | Substitution | Process | Braces))
    }

    /// The substitutions of commands in it and in its sums, as they are written.
    pub fn substitutions(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().flat_map(|variable| {
            let written = variable.written.as_str();
            let is_sum = written.starts_with("$((");
            let starts = written.match_indices("$(").skip(usize::from(is_sum));
            let in_sum = starts.filter_map(move |(at, _)| plain_substitution(written.get(at..)?));
            let whole = (written.starts_with("$(") && !is_sum).then_some(written);
            whole.into_iter().chain(in_sum.filter(move |_| is_sum))
        })
    }

    /// Whether it shows the status of the command before.
    pub fn shows_status(&self) -> bool {
        let shows = |written: &str| {
            ["$?", "${?}"].contains(&written) || written.starts_with("${PIPESTATUS")
        };
        self.variables.iter().any(|variable| shows(&variable.written))
    }

    /// Whether it is exactly this word of the shell's grammar.
    pub fn is_keyword(&self, keyword: &str) -> bool {
        self.text == keyword && !self.has(Trait::Quoted) && !self.needs_expansion()
    }
}

impl Simple {
    /// The words that the shell expands after the name, with the text that the line feeds to it.
    pub fn expanded(&self) -> impl Iterator<Item = &ShellWord> {
        let input = self.input.iter().filter_map(|input| match input {
            InputText::Word(word) | InputText::Expanding(word) => Some(word),
            InputText::Lines(_) => None,
        });
        self.words.iter().skip(1).chain(input)
    }
}

impl Script {
    pub fn mark_opaque(&mut self, why: Say) {
        self.opaque.get_or_insert(why);
    }

    /// A quote, an escape or a form whose end is missing makes the line opaque.
    pub fn expect_closed(&mut self, is_closed: bool) {
        if !is_closed {
            self.mark_opaque(phrases::SHELL_UNFINISHED);
        }
    }

    pub fn add_form(&mut self, warning: Warning) {
        if !self.forms.contains(&warning) {
            self.forms.push(warning);
        }
    }
}

/// The substitution that a text begins with, if nothing in it is quoted or nested.
pub fn plain_substitution(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("$(")?;
    let end = inside.find(|c: char| "()'\"\\`$#\n".contains(c))?;
    inside.get(end..)?.starts_with(')').then(|| text.get(..end + "$()".len())).flatten()
}
