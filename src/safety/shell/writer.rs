//! Reads lines of which nothing is left to the shell: commands with known words, joined by
//! operators. Such a line can be judged command by command, and is written again from what was
//! judged: the shell gets no word to expand, and whatever this reader and the shell would
//! understand differently cannot happen.

use std::path::{Path, PathBuf};

use super::super::warning::Warning;
use super::super::{PolicyContext, paths};
use super::ast::PlainFunctions;
use super::ast::{InputText, Joint, Redirect, Script, ShellWord, Simple, Trait};
use super::condition::{Condition, read_condition};
use super::cwd::Folders;
use super::expand::{Expander, ExpansionContext, Substituted};
use super::gaps::{Token, read_tokens};
use super::known::KnownWord;
use super::parser::parse;
use super::plain::{PlainCommand, PlainLine, PlainSegment, ends_form};
use super::runner::{exported, is_of_shell, is_read, is_showing};
use super::substitution::inside;
use super::unknown::{Demand, UNKNOWN, prelude};
use super::variables::{ShellVariables, made_name};
use super::xargs;

/// How many commands, and how long a line, in bytes.
const MAX_COMMANDS: usize = 64;
/// How many commands it may become, with those of a loop once for each value.
const MAX_WRITTEN: usize = 400;
const MAX_LINE: usize = 16 * 1024;

/// Reads a line that is run in `folder`; `None`: some of it is only known to the shell.
pub fn read_plain(
    line: &str,
    is_bash: bool,
    folder: &Path,
    policy_cx: PolicyContext<'_>,
) -> Option<PlainLine> {
    let read = |variables| {
        let folders = Folders::new(folder.to_owned());
        let shell = LineShell { is_bash, level: 0 };
        read_within(
            line,
            LineContext {
                policy_cx,
                shell,
                folders,
                variables,
                functions: PlainFunctions::default(),
            },
        )
    };
    // What is counted is known only to the shell; it may be enough that the others are known.
    let counted = || read(ShellVariables::counting(&parse(line)));
    let mut line = read(ShellVariables::default()).or_else(counted)?;
    let texts = line.0.iter().map(|part| match part {
        PlainSegment::Text(text) => text.clone(),
        PlainSegment::Command(PlainCommand { shown, unknown, .. }) => {
            format!("{shown:?}{unknown:?}")
        }
    });
    let tests = prelude(&texts.collect::<String>(), &policy_cx.place.workspace)?;
    if !tests.is_empty() {
        line.0.insert(0, PlainSegment::Text(tests));
    }
    (!line.0.is_empty()).then_some(line)
}

/// Where a line is read: by itself, or in a substitution.
struct LineContext<'a> {
    policy_cx: PolicyContext<'a>,
    shell: LineShell,
    folders: Folders,
    variables: ShellVariables,
    /// Those that were defined before.
    functions: PlainFunctions,
}

/// What takes a line.
#[derive(Clone, Copy)]
pub(super) struct LineShell {
    pub is_bash: bool,
    /// How many substitutions are around it.
    level: usize,
}

const MAX_LEVELS: usize = 4;

fn is_understood(script: &Script) -> bool {
    script.opaque.is_none()
        && script.functions.len() == script.bodies.len()
        && !script.forms.contains(&Warning::Resource)
        && !script.commands.is_empty()
        && script.commands.len() <= MAX_COMMANDS
}

fn read_within(line: &str, context: LineContext<'_>) -> Option<PlainLine> {
    let LineContext { policy_cx, shell, folders, variables, functions } = context;
    let is_ours = line.contains(UNKNOWN) || line.contains("${avocet_");
    if line.len() > MAX_LINE || shell.level > MAX_LEVELS || is_ours {
        return None;
    }
    let script = parse(line);
    if !is_understood(&script) {
        return None;
    }
    let tokens = read_tokens(line, &script, shell.is_bash)?;
    let mut writer = PlainWriter {
        policy_cx,
        shell,
        folders,
        around: Vec::new(),
        line: PlainLine::default(),
        open: None,
        certain: true,
        depth: 0,
        repeated: 0,
        variables,
        written: None,
        finds_names: false,
        count: 0,
        functions,
        certain_depth: 0,
    };
    writer.write(&tokens)?;
    writer.close(false)?;
    let is_substituted =
        shell.level > 0 || script.commands.iter().any(|simple| simple.seat.substituted);
    let has_pipe = script.commands.iter().any(|simple| simple.seat.after == Joint::Pipe);
    let hides_settings = is_substituted && writer.line.prints_settings()
        || has_pipe && writer.line.rewrites_settings();
    (!hides_settings).then_some(writer.line)
}

/// Writes a line again, following the folders it may be in.
pub(super) struct PlainWriter<'a> {
    pub(super) policy_cx: PolicyContext<'a>,
    pub(super) shell: LineShell,
    pub(super) folders: Folders,
    /// Those in front of each subshell around the next command: what it does to them ends with it.
    around: Vec<Folders>,
    pub(super) line: PlainLine,
    /// The command that is being written, and where its redirections go.
    pub(super) open: Option<OpenPlain<'a>>,
    /// Whether the next command runs whatever the others do.
    pub(super) certain: bool,
    /// How many forms are around the next command.
    pub(super) depth: usize,
    /// How many of them are run again and again.
    pub(super) repeated: usize,
    pub(super) variables: ShellVariables,
    /// The command that was written last.
    pub(super) written: Option<&'a Simple>,
    /// Whether a pattern found the values of a loop.
    pub(super) finds_names: bool,
    /// How many commands were written.
    count: usize,
    /// Those that were defined before.
    pub(super) functions: PlainFunctions,
    /// How many of the forms around it are certain to run what is in them.
    pub(super) certain_depth: usize,
}

/// The command that is being written, and where its redirections go.
pub(super) struct OpenPlain<'a> {
    simple: &'a Simple,
    streams: Streams,
}

/// What a command is written with.
#[derive(Default)]
pub(super) struct Given {
    pub words: Vec<KnownWord>,
    /// What the shell runs before it, and keeps what that prints.
    pub lines: Vec<PlainLine>,
    /// What the shell runs beside it, and lets it read as a file.
    pub files: Vec<PlainLine>,
    /// The head of a loop around it.
    pub around: &'static str,
    pub tests: Vec<String>,
    /// What of that may be the content of a file.
    pub told: Vec<String>,
    /// What feeds it the text of the line.
    pub input: String,
}

/// Where a command reads and writes.
#[derive(Default)]
pub(super) struct Streams {
    pub redirects: String,
    /// What the shell makes sure of before.
    pub tests: Vec<String>,
}

impl<'a> PlainWriter<'a> {
    pub(super) fn write(&mut self, tokens: &[Token<'a>]) -> Option<()> {
        let mut rest = tokens;
        while let Some((token, behind)) = rest.split_first() {
            rest = behind;
            match token {
                Token::For(header) => rest = self.write_loop(header, rest)?,
                Token::Function(body) => {
                    let is_alone = rest.first().is_none_or(|token| *token == Token::Operator("\n"));
                    self.define(body).filter(|()| is_alone)?;
                }
                token => self.push(token)?,
            }
        }
        Some(())
    }

    fn push(&mut self, token: &Token<'a>) -> Option<()> {
        match token {
            Token::Command(simple) => match &self.open {
                Some(open) if std::ptr::eq(open.simple, *simple) => {}
                Some(_) => return None,
                None if self.written.is_some_and(|last| std::ptr::eq(last, *simple)) => {
                    return None;
                }
                None => {
                    self.folders.start_command(simple.seat.after);
                    self.open = Some(OpenPlain { simple, streams: Streams::default() });
                }
            },
            Token::Redirect(text) => self.push_redirect(&format!(" {text}"), ends_form)?,
            Token::Input(redirect) => {
                self.push_input(redirect)?;
            }
            Token::Operator(text) => {
                self.close(*text == " | ")?;
                self.push_text(text);
            }
            Token::Group(text) => self.push_group(text)?,
            Token::Prefix(text) => {
                if self.open.is_some() {
                    return None;
                }
                self.push_text(text);
            }
            Token::ConditionEnd => {
                let name = self.open.as_ref()?.simple.words.first()?;
                return name.is_keyword("[[").then_some(());
            }
            Token::Do => {
                self.close(false)?;
                self.written = None;
                self.push_text("do ");
            }
            Token::Done => {
                self.close(false)?;
                self.depth = self.depth.checked_sub(1)?;
                self.repeated = self.repeated.checked_sub(1)?;
                self.push_text("done");
            }
            Token::Case(head) => self.write_case(head)?,
            Token::Patterns(words) => self.write_patterns(words)?,
            Token::Sum(sum) => self.write_sum(&sum.text)?,
            // These are taken with what comes after them.
            Token::For(_) | Token::Function(_) => return None,
        }
        Some(())
    }

    /// Where a command reads or writes, or the form that was closed, if it is one that may.
    fn push_redirect(&mut self, text: &str, may: impl Fn(&str) -> bool) -> Option<()> {
        match (&mut self.open, self.line.0.last_mut()) {
            (Some(open), _) => open.streams.redirects.push_str(text),
            (None, Some(PlainSegment::Text(group))) if may(group) => group.push_str(text),
            (None, _) => return None,
        }
        Some(())
    }

    fn push_group(&mut self, text: &'static str) -> Option<()> {
        self.close(false)?;
        match text {
            "( " | "{ " | "if " | "while " | "until " => self.depth += 1,
            " )" | "}" | "fi" | "esac\n}" => self.depth = self.depth.checked_sub(1)?,
            _ => {}
        }
        match text {
            "( " => self.around.push(self.folders.clone()),
            " )" => self.folders = self.around.pop()?,
            "while " | "until " => self.repeated += 1,
            _ => {}
        }
        self.push_text(text);
        Some(())
    }

    /// A file that is read, or what is run beside, for the shell.
    fn push_input(&mut self, redirect: &Redirect) -> Option<()> {
        if redirect.target.has(Trait::Process) {
            let mut files = self.run_beside(std::iter::once(&redirect.target))?;
            let at_loop = |part: &PlainSegment| matches!(part, PlainSegment::Text(text) if text.ends_with("done"));
            if self.open.is_some() || !self.line.0.last().is_some_and(at_loop) {
                return None;
            }
            self.push_text(" < <( ");
            self.push_line(files.pop()?);
            self.push_text(" )");
            return Some(());
        }
        let mut input = self.expander("<", &[]).expand_one(&redirect.target)?;
        if self.variables.are_told_in(&input, &[]) {
            return None;
        }
        let is_read = |folder: &PathBuf| {
            paths::classify(&input.text, folder, self.policy_cx).read_risk().is_none()
        };
        if !self.folders.iter().all(is_read) {
            return None;
        }
        if input.is_unknown() {
            input.keep_whole();
            let test = Demand::Name.test(&input.quoted());
            self.open
                .as_mut()
                .filter(|_| self.folders.only_plain(self.policy_cx))?
                .streams
                .tests
                .push(test);
        }
        self.push_redirect(&format!(" <{}", input.quoted()), |group| group.ends_with("done"))
    }

    pub(super) fn push_text(&mut self, text: &str) {
        match self.line.0.last_mut() {
            _ if text.is_empty() => {}
            Some(PlainSegment::Text(before)) => {
                // The two would be one word.
                let is_word =
                    text.starts_with(|c: char| c.is_alphanumeric() || "{}!:'".contains(c));
                if ends_form(before) && is_word {
                    before.push(' ');
                }
                before.push_str(text);
            }
            Some(PlainSegment::Command(_)) | None => {
                self.line.0.push(PlainSegment::Text(text.to_owned()));
            }
        }
    }

    pub(super) fn expander<'e>(&'e self, name: &str, made: &'e [Substituted]) -> Expander<'e> {
        let shows = is_showing(name) || name == "exit";
        let compares = ["test", "[", "[[", "exit"].contains(&name);
        let takes = !name.is_empty() && !is_of_shell(name);
        Expander { context: self.expansion(), made, shows, compares, takes }
    }

    fn expansion(&self) -> ExpansionContext<'_> {
        let folder = self.folders.only();
        ExpansionContext { policy_cx: self.policy_cx, folder, variables: &self.variables }
    }

    /// The substitutions of words, and those among them that the shell runs.
    pub(super) fn substitute<'w>(
        &self,
        words: impl Iterator<Item = &'w ShellWord>,
    ) -> Option<(Vec<Substituted>, Vec<PlainLine>)> {
        let mut made: Vec<Substituted> = Vec::new();
        let mut lines = Vec::new();
        for written in words.flat_map(ShellWord::substitutions) {
            if made.iter().any(|one| one.written == written) {
                continue;
            }
            let line = inside(written)?;
            let known = self.expansion().evaluate(line);
            let name = lines.len().to_string();
            let mut is_listing = false;
            if known.is_none() {
                let line = self.read_inner(line)?;
                is_listing = line.is_listing();
                lines.push(line);
            }
            made.push(Substituted { written: written.to_owned(), known, name, is_listing });
        }
        Some((made, lines))
    }

    /// A line inside this one.
    pub(super) fn read_inner(&self, line: &str) -> Option<PlainLine> {
        self.read_with(line, self.variables.clone(), self.functions.clone())
    }

    pub(super) fn read_with(
        &self,
        line: &str,
        variables: ShellVariables,
        functions: PlainFunctions,
    ) -> Option<PlainLine> {
        let folders = Folders::new(self.folders.only()?.to_owned());
        let shell = LineShell { level: self.shell.level + 1, ..self.shell };
        read_within(
            line,
            LineContext { policy_cx: self.policy_cx, shell, folders, variables, functions },
        )
    }

    /// The lines of `<(…)` among the words.
    pub(super) fn run_beside<'w>(
        &self,
        words: impl Iterator<Item = &'w ShellWord>,
    ) -> Option<Vec<PlainLine>> {
        let read = |word: &ShellWord| {
            let is_whole = self.shell.is_bash && word.plain.is_empty() && !word.has(Trait::Quoted);
            let line = word.text.strip_prefix("<(").filter(|_| is_whole)?.strip_suffix(')')?;
            self.read_inner(line)
        };
        words.filter(|word| word.has(Trait::Process)).map(read).collect()
    }

    /// Keeps what commands print in variables of the shell.
    pub(super) fn write_substitutions(&mut self, lines: Vec<PlainLine>) {
        for (at, line) in lines.into_iter().enumerate() {
            self.write_substitution(at, line);
            self.push_text(" || :\n");
        }
    }

    pub(super) fn write_substitution(&mut self, at: usize, line: PlainLine) {
        self.push_text(&format!("{}=\"$( ", made_name(&at.to_string())));
        self.push_line(line);
        self.push_text(" )\"");
    }

    pub(super) fn push_line(&mut self, line: PlainLine) {
        for part in line.0 {
            match part {
                PlainSegment::Text(text) => self.push_text(&text),
                command @ PlainSegment::Command(_) => {
                    self.count += 1;
                    self.line.0.push(command);
                }
            }
        }
    }

    /// Ends the open command; `is_piped`: what it writes goes to another one.
    pub(super) fn close(&mut self, is_piped: bool) -> Option<()> {
        let Some(OpenPlain { simple, streams }) = self.open.take() else { return Some(()) };
        let happens = match simple.seat.after {
            Joint::Next => true,
            Joint::And => self.certain,
            Joint::Or | Joint::Pipe => false,
        } && !is_piped;
        let certain = happens && self.depth == 0;
        self.certain = false;
        self.written = Some(simple);
        self.count += 1;
        let is_after_form =
            matches!(self.line.0.last(), Some(PlainSegment::Text(text)) if ends_form(text));
        if is_after_form || self.count > MAX_WRITTEN {
            return None;
        }
        let Streams { redirects, tests } = streams;
        let is_plain = redirects.is_empty() && tests.is_empty();
        match simple.words.first() {
            Some(name) if name.is_keyword("[[") && tests.is_empty() => {
                self.write_condition(simple, redirects)
            }
            Some(_) if let Some(exported) = exported(simple).filter(|_| is_plain) => {
                self.assign(&exported, happens && self.depth == self.certain_depth)
            }
            Some(_) if is_read(simple) && tests.is_empty() => self.write_read(simple, &redirects),
            Some(name)
                if name.is_keyword("xargs")
                    && xargs::as_search(&self.line, simple, &redirects).is_none() =>
            {
                self.write_xargs(simple, redirects)
            }
            Some(_) => self.write_command(simple, Streams { redirects, tests }, certain),
            None if is_plain => self.assign(simple, happens && self.depth == self.certain_depth),
            None => None,
        }
    }

    /// The text that the line itself feeds to a command.
    pub(super) fn input_text(&self, simple: &Simple, made: &[Substituted]) -> Option<String> {
        let expander = self.expander("echo", made);
        let (known, end) = match &simple.input {
            None => return Some(String::new()),
            Some(InputText::Lines(text)) => (KnownWord::literal(text), ""),
            Some(InputText::Word(word)) => (expander.fill_unsplit(word)?, "\\n"),
            Some(InputText::Expanding(word)) => (expander.fill_whole(word)?, ""),
        };
        Some(format!("printf '%s{end}' {} | ", known.quoted()))
    }

    /// `[[ … ]]`, judged as a `test`.
    fn write_condition(&mut self, simple: &Simple, redirects: String) -> Option<()> {
        let (_, rest) = simple.words.split_first().filter(|_| simple.sets.is_empty())?;
        let (made, lines) = self.substitute(rest.iter())?;
        let Condition { asked: args, shown, tests } =
            read_condition(rest, self.expander("[[", &made))?;
        if !tests.is_empty() && !self.folders.only_plain(self.policy_cx) {
            return None;
        }
        let is_late = !lines.is_empty() && rest.iter().any(ShellWord::shows_status);
        let part = PlainSegment::Command(PlainCommand {
            text: simple.text.clone(),
            name: "test".to_owned(),
            args,
            shown: Some(shown),
            unknown: Vec::new(),
            sets: String::new(),
            redirects,
            folders: self.folders.iter().cloned().collect(),
            has_found_names: false,
        });
        let given = Given { lines, tests, ..Given::default() };
        if is_late { None } else { self.write_part(simple, part, given) }
    }

    /// `cd` to a folder that may be worked in. One that is there is entered for certain, unless
    /// the command may not run at all: then it is the only one from there on.
    pub(super) fn change_folder(&mut self, args: &[String], certain: bool) -> Option<bool> {
        let ([to] | [_, to]) = args else { return None };
        if args.len() == 2 && args.first().is_some_and(|first| first != "--") {
            return None;
        }
        if to.is_empty() || to.starts_with('-') || self.repeated > 0 {
            return None;
        }
        let is_there = self.folders.enter(to, self.policy_cx)?;
        let is_entered = certain && is_there;
        if is_entered {
            self.folders.settle();
            self.certain = true;
        }
        (!self.folders.is_lost()).then_some(is_entered)
    }
}
