//! The types of a row of the policy tables. The rows are in `rules/`.
//!
//! A row that promises L0 is a proof: its flags are an allow-list, its operands have a
//! kind, and anything not listed raises the step to a question. `dangers` name the forms
//! that need a warning; they are looked for with the permissive grammar, so that an
//! abbreviation or a cluster does not hide one.

use crate::i18n::Phrase;
use crate::protocol::{Effect, Tier};

use super::args::ArgToken;
use super::command::Invocation;
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
pub type Check = fn(&Invocation<'_>, &[ArgToken<'_>], &mut Findings);

#[derive(Clone, Copy)]
pub struct Grammar {
    /// Harmless flags without a value: `-a --all`. `*`: every option is harmless. `-NUM`
    /// matches `-20`.
    pub flags: &'static str,
    /// Harmless flags with a value: `-k=text --key=text`; `--color=?text` takes one only
    /// after `=`. A value that is an argument of its own is judged as an operand too,
    /// except those of the kind `sure`. Kinds: see [`super::args::ValueKind`].
    pub values: &'static str,
    pub order: ArgOrder,
    pub operands: Operands,
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
            grammar: Grammar { flags: "", values: "", order: ArgOrder::Gnu, operands },
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
        let why = crate::i18n::safety::ONLY_READS;
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

    pub const fn dangers(mut self, dangers: &'static [Danger]) -> Spec {
        self.dangers = dangers;
        self
    }

    pub const fn subs(mut self, subs: &'static [Spec]) -> Spec {
        self.subs = subs;
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
