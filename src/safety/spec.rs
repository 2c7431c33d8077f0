//! The types of a row of the policy tables, and of the call that it judges. The rows are in
//! `rules/`.
//!
//! A row that promises L0 is a proof: its flags are an allow-list, its operands have a
//! kind, and anything not listed raises the step to a question. `dangers` name the forms
//! that need a warning; they are looked for with the permissive grammar, so that an
//! abbreviation or a cluster does not hide one.

use std::borrow::Cow;
use std::path::PathBuf;

use avocet_core::i18n::Phrase;
use avocet_core::protocol::{Effect, SubCommand, Tier};

use super::PolicyContext;
use super::findings::Findings;

/// One program, or one sub-command of a program.
#[derive(Clone, Copy)]
pub struct Spec {
    /// Names that share the row, separated by blanks. `mkfs.*` matches every name that
    /// begins with `mkfs.`.
    pub names: &'static str,
    /// The tier when nothing else is found.
    pub tier: Tier,
    /// Why it is not L0; for an L0 row the sentence that says it only reads.
    pub why: Phrase,
    pub effects: &'static [Effect],
    pub grammar: Grammar,
    pub dangers: &'static [Danger],
    pub subs: &'static [Spec],
    /// Argument lists that are harmless as a whole, such as `--version`.
    pub quiet: &'static [&'static str],
    pub check: Option<Check>,
    /// Whether `@FILE` means arguments read from a file.
    pub argument_files: bool,
    /// Whether the proof that it is harmless rests on a language in an argument or on a
    /// repository's settings: then it is a proof only as long as a sandbox restricts the
    /// step as well.
    pub by_language: bool,
    /// Programs it starts by itself, by name.
    pub starts: &'static [&'static str],
    /// Folders or files of helpers it starts, relative to the folder above its own.
    pub helpers: &'static [&'static str],
    /// Lines that keep the row's own tier, and lines that are raised above L0.
    pub examples: Examples,
}

/// The check a row adds beyond flags and operands. It may only add findings.
pub type Check = fn(&ProgramCall<'_>, &[ArgToken<'_>], &mut Findings);

#[derive(Clone, Copy)]
pub struct Grammar {
    /// Harmless flags without a value: `-a --all`. `*`: every option is harmless. `-NUM`
    /// matches `-20`.
    pub flags: &'static str,
    /// Harmless flags with a value: `-k=text --key=text`; `--color=?text` takes one only
    /// after `=`. A value that is an argument of its own is judged as an operand too,
    /// except those of the kind `sure`. Kinds: see [`ValueKind`].
    pub values: &'static str,
    pub order: ArgOrder,
    pub operands: Operands,
    /// Whether the program reads clusters in a way of its own, such as `tree`, which takes
    /// the value of `-L` from the next argument and goes on with the letters after it. Then
    /// a letter with a value in front of other letters is not understood, and those are
    /// options as well.
    pub own_clusters: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgOrder {
    /// Options may follow operands.
    Gnu,
    /// The first operand ends the options.
    Posix,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands {
    /// No operands are allowed; one raises the step.
    None,
    /// Words that are not files.
    Text,
    /// Files it reads, at most so many.
    Reads(usize),
    /// Files and folders whose names it lists.
    Lists,
    /// A pattern, unless one of these flags gave it, then files it reads.
    PatternThenReads(&'static str),
    /// Files it makes, changes or removes.
    Writes,
    /// Files it reads, and last the one it writes.
    ReadsThenWrites,
    /// Words that may name files it reads, alone or after a `:`.
    Named,
    /// Anything; what looks like a path is looked at.
    Loose,
    /// So many operands of its own, then a command.
    Command(usize),
}

/// A form of a program that needs a warning.
#[derive(Clone, Copy)]
pub struct Danger {
    /// The last part of the rule id: `hard` in `git.reset.hard`.
    pub id: &'static str,
    pub tier: Tier,
    /// Each entry must be there in one of its spellings: `-r|-R|--recursive`. A
    /// spelling that ends in `=` takes a value.
    pub all: &'static [&'static str],
    pub why: Phrase,
    pub effects: &'static [Effect],
}

#[derive(Clone, Copy)]
pub struct Examples {
    pub keeps: &'static [&'static str],
    pub raised: &'static [&'static str],
}

impl Spec {
    const fn new(
        names: &'static str,
        tier: Tier,
        why: Phrase,
        effects: &'static [Effect],
        operands: Operands,
    ) -> Spec {
        Spec {
            names,
            tier,
            why,
            effects,
            grammar: Grammar {
                flags: "",
                values: "",
                order: ArgOrder::Gnu,
                operands,
                own_clusters: false,
            },
            dangers: &[],
            subs: &[],
            quiet: &[],
            check: None,
            argument_files: false,
            by_language: false,
            starts: &[],
            helpers: &[],
            examples: Examples { keeps: &[], raised: &[] },
        }
    }

    /// A program that only reads, as long as everything about the step is listed.
    pub const fn read(names: &'static str) -> Spec {
        let why = avocet_core::i18n::safety::ONLY_READS;
        Spec::new(names, Tier::L0, why, &[Effect::Read], Operands::None)
    }

    /// A program that is always asked about.
    pub const fn ask(names: &'static str, why: Phrase, effects: &'static [Effect]) -> Spec {
        Spec::new(names, Tier::L1, why, effects, Operands::Loose)
    }

    /// A program that is refused.
    pub const fn refuse(names: &'static str, why: Phrase, effects: &'static [Effect]) -> Spec {
        Spec::new(names, Tier::L2, why, effects, Operands::Loose)
    }

    pub const fn flags(mut self, flags: &'static str) -> Spec {
        self.grammar.flags = flags;
        self
    }

    pub const fn values(mut self, values: &'static str) -> Spec {
        self.grammar.values = values;
        self
    }

    pub const fn operands(mut self, operands: Operands) -> Spec {
        self.grammar.operands = operands;
        self
    }

    pub const fn posix(mut self) -> Spec {
        self.grammar.order = ArgOrder::Posix;
        self
    }

    pub const fn own_clusters(mut self) -> Spec {
        self.grammar.own_clusters = true;
        self
    }

    pub const fn dangers(mut self, dangers: &'static [Danger]) -> Spec {
        self.dangers = dangers;
        self
    }

    pub const fn subs(mut self, specs: &'static [Spec]) -> Spec {
        self.subs = specs;
        self
    }

    pub const fn quiet(mut self, forms: &'static [&'static str]) -> Spec {
        self.quiet = forms;
        self
    }

    pub const fn check(mut self, check: Check) -> Spec {
        self.check = Some(check);
        self
    }

    /// `@FILE` means arguments read from a file.
    pub const fn argument_files(mut self) -> Spec {
        self.argument_files = true;
        self
    }

    /// Programs it starts by itself, by name.
    pub const fn starts(mut self, names: &'static [&'static str]) -> Spec {
        self.starts = names;
        self
    }

    /// Folders or files of helpers it starts, relative to the folder above its own:
    /// `lib/git-core`.
    pub const fn helpers(mut self, places: &'static [&'static str]) -> Spec {
        self.helpers = places;
        self
    }

    /// The proof that it is harmless rests on a language in an argument, or on a
    /// repository's settings.
    pub const fn by_language(mut self) -> Spec {
        self.by_language = true;
        self
    }

    /// Lines that keep the row's own tier.
    pub const fn keeps(mut self, lines: &'static [&'static str]) -> Spec {
        self.examples.keeps = lines;
        self
    }

    /// Lines that are raised above it.
    pub const fn raised(mut self, lines: &'static [&'static str]) -> Spec {
        self.examples.raised = lines;
        self
    }

    /// The row of a sub-command, and the name it has there.
    pub fn sub(&self, name: &str) -> Option<(&'static Spec, &'static str)> {
        self.subs.iter().find_map(|sub| sub.matching_name(name).map(|own| (sub, own)))
    }

    /// The name in the row that `name` matches, if it does.
    pub fn matching_name(&self, name: &str) -> Option<&'static str> {
        self.names.split_ascii_whitespace().find_map(|own| match own.strip_suffix('*') {
            Some(start) => name.starts_with(start).then(|| start.trim_end_matches(['.', '-'])),
            None => (own == name).then_some(own),
        })
    }
}

impl Danger {
    pub const fn ask(
        id: &'static str,
        all: &'static [&'static str],
        why: Phrase,
        effects: &'static [Effect],
    ) -> Danger {
        Danger { id, tier: Tier::L1, all, why, effects }
    }

    pub const fn refuse(
        id: &'static str,
        all: &'static [&'static str],
        why: Phrase,
        effects: &'static [Effect],
    ) -> Danger {
        Danger { id, tier: Tier::L2, all, why, effects }
    }
}

/// An argument as the grammar of a row reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgToken<'a> {
    /// Index into the arguments.
    pub at: usize,
    pub part: ArgPart<'a>,
    /// Whether its value is the next argument.
    pub separate: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgPart<'a> {
    Flag { name: Cow<'a, str>, value: Option<&'a str>, known: Option<Takes> },
    Operand(&'a str),
}

/// The values that a flag of the row takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    Value(ValueKind),
    /// A value only after `=`, or attached to the letter.
    Attached(ValueKind),
    /// No value, and it is listed among the dangers.
    Risky,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `text`: a word, a number, a pattern.
    Text,
    /// `path`: a file it reads.
    Path,
    /// `sure`: a pattern or a script, which every version of the program takes as the
    /// value and never as a file.
    Sure,
    /// `glob`: a pattern of file names.
    Glob,
    /// The value of a danger.
    Danger,
}

impl<'a> ArgToken<'a> {
    pub fn operand(&self) -> Option<&'a str> {
        match self.part {
            ArgPart::Operand(text) => Some(text),
            ArgPart::Flag { .. } => None,
        }
    }

    pub fn flag(&self) -> Option<&str> {
        match &self.part {
            ArgPart::Flag { name, .. } => Some(name),
            ArgPart::Operand(_) => None,
        }
    }

    /// The value of one of these flags, by its exact name: `-e|--regexp`.
    pub fn value_of(&self, names: &str) -> Option<&'a str> {
        match &self.part {
            ArgPart::Flag { name, value, .. } if names.split('|').any(|one| one == name) => *value,
            ArgPart::Flag { .. } | ArgPart::Operand(_) => None,
        }
    }

    /// An option the row does not list.
    pub fn is_unknown(&self) -> bool {
        matches!(self.part, ArgPart::Flag { known: None, .. })
    }
}

/// Whether an unknown option may take the next argument.
pub fn is_doubtful(tokens: &[ArgToken<'_>]) -> bool {
    tokens.iter().any(|t| matches!(t.part, ArgPart::Flag { known: None, value: None, .. }))
}

/// The values of these flags, each with the index of its flag.
pub fn flag_values<'a>(
    tokens: &[ArgToken<'a>],
    names: &'static str,
) -> impl Iterator<Item = (usize, &'a str)> {
    tokens.iter().filter_map(move |token| Some((token.at, token.value_of(names)?)))
}

/// The operands among the tokens, each with its index into the arguments.
pub fn operands<'a>(tokens: &[ArgToken<'a>]) -> impl Iterator<Item = (usize, &'a str)> {
    tokens.iter().filter_map(|token| token.operand().map(|text| (token.at, text)))
}

/// Where a command is judged, and what judges the commands and lines inside it.
#[derive(Clone, Debug)]
pub struct JudgeContext<'a> {
    pub policy_cx: PolicyContext<'a>,
    pub cwd: PathBuf,
    /// Whether it is one of several commands of a line: what it prints may go on to others.
    pub in_line: bool,
    pub judges: &'static Judges,
}

/// What a check calls back, so that a hidden command meets the same tables.
#[derive(Debug)]
pub struct Judges {
    pub find_row: fn(&str) -> Option<(&'static Spec, &'static str)>,
    pub judge_row: fn(&Spec, &ProgramCall<'_>, &mut Findings),
    pub judge_command: CommandJudge,
    pub judge_line:
        fn(&str, ArgPosition, usize, &JudgeContext<'_>, &mut Findings) -> Vec<SubCommand>,
}

type CommandJudge =
    fn(&str, Option<usize>, &[String], ArgPosition, usize, &JudgeContext<'_>, &mut Findings);

impl JudgeContext<'_> {
    /// The row of a program, if it has one.
    pub fn row(&self, name: &str) -> Option<&'static Spec> {
        (self.judges.find_row)(name).map(|(spec, _)| spec)
    }
}

/// A command that has a row in the tables.
#[derive(Clone, Debug)]
pub struct ProgramCall<'a> {
    /// The rule id of its row: `git.reset`.
    pub id: String,
    pub name: &'a str,
    pub args: &'a [String],
    pub seat: ArgPosition,
    pub depth: usize,
    pub context: &'a JudgeContext<'a>,
}

/// Where a command's arguments are in the step that is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgPosition {
    /// The first of them is this argument of the step.
    From(usize),
    /// They are a part of this argument.
    Within(usize),
    /// The step has no arguments: it is a shell line.
    Line,
}

impl ArgPosition {
    /// The argument of the step that `at` refers to.
    pub fn arg(self, at: usize) -> Option<usize> {
        match self {
            ArgPosition::From(first) => Some(first + at),
            ArgPosition::Within(arg) => Some(arg),
            ArgPosition::Line => None,
        }
    }

    /// The seat of what is inside the argument `at`.
    pub fn within(self, at: usize) -> ArgPosition {
        self.arg(at).map_or(ArgPosition::Line, ArgPosition::Within)
    }

    /// The seat of what begins at `at`.
    pub fn offset_by(self, at: usize) -> ArgPosition {
        match self {
            ArgPosition::From(first) => ArgPosition::From(first + at),
            ArgPosition::Within(_) | ArgPosition::Line => self,
        }
    }
}
