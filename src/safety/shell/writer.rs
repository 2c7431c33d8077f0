//! Reads lines of which nothing is left to the shell: commands with known words, joined by
//! operators. Such a line can be judged command by command, and is written again from what was
//! judged: the shell gets no word to expand, and whatever this reader and the shell would
//! understand differently cannot happen.

use std::path::{Path, PathBuf};

use super::super::{PolicyContext, paths};
use super::ast::{ForLoop, InputText, Joint, Redirect, Set, ShellWord, Simple, Trait};
use super::condition::read_condition;
use super::cwd::Folders;
use super::expand::{Expander, ExpansionContext, KnownWord, Substituted};
use super::gaps::{Token, read_tokens};
use super::parser::parse;
use super::plain::{PlainCommand, PlainLine, PlainPart, ends_form};
use super::runner::{
    Runner, exported, is_read, is_showing, only_shows_unknown, who_runs, written_sets,
};
use super::substitution::inside;
use super::variables::{ShellVariables, is_free_name, made_name};
use super::xargs;
use avocet_core::text::quote_literal;

/// How many commands, and how long a line, in bytes.
const MOST_COMMANDS: usize = 64;
/// How many commands it may become, with those of a loop once for each value.
const MOST_WRITTEN: usize = 400;
const MOST_LINE: usize = 16 * 1024;

/// Reads a line that is run in `folder`; `None`: some of it is only known to the shell.
pub fn read_plain(
    line: &str,
    is_bash: bool,
    folder: &Path,
    scene: PolicyContext<'_>,
) -> Option<PlainLine> {
    let folders = Folders::new(folder.to_owned());
    let variables = ShellVariables::default();
    let line = read_within(
        line,
        LineContext { scene, shell: LineShell { is_bash, level: 0 }, folders, variables },
    )?;
    (!line.0.is_empty()).then_some(line)
}

/// Where a line is read: by itself, or in a substitution.
struct LineContext<'a> {
    scene: PolicyContext<'a>,
    shell: LineShell,
    folders: Folders,
    variables: ShellVariables,
}

/// What takes a line.
#[derive(Clone, Copy)]
struct LineShell {
    is_bash: bool,
    /// How many substitutions are around it.
    level: usize,
}

const MOST_LEVELS: usize = 4;

fn read_within(line: &str, context: LineContext<'_>) -> Option<PlainLine> {
    let LineContext { scene, shell, folders, variables } = context;
    if line.len() > MOST_LINE || shell.level > MOST_LEVELS {
        return None;
    }
    let script = parse(line);
    let known = script.opaque.is_none()
        && script.functions.is_empty()
        && !script.commands.is_empty()
        && script.commands.len() <= MOST_COMMANDS;
    if !known {
        return None;
    }
    let tokens = read_tokens(line, &script, shell.is_bash)?;
    let has_groups = tokens.iter().any(|token| matches!(token, Token::Group(_) | Token::For(_)));
    let mut writer = PlainWriter {
        scene,
        shell,
        has_groups,
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
    };
    writer.write(&tokens)?;
    writer.close(false)?;
    let goes_on = |simple: &Simple| simple.seat.after == Joint::Pipe || simple.seat.substituted;
    let has_pipe = shell.level > 0 || script.commands.iter().any(goes_on);
    (!has_pipe || !writer.line.prints_settings()).then_some(writer.line)
}

/// Writes a line again, following the folders it may be in.
struct PlainWriter<'a> {
    scene: PolicyContext<'a>,
    shell: LineShell,
    has_groups: bool,
    folders: Folders,
    /// Those in front of each subshell around the next command: what it does to them ends with it.
    around: Vec<Folders>,
    line: PlainLine,
    /// The command that is being written, and where its redirections go.
    open: Option<OpenPlain<'a>>,
    /// Whether the next command runs whatever the others do.
    certain: bool,
    /// How many forms are around the next command.
    depth: usize,
    /// How many of them are run again and again.
    repeated: usize,
    variables: ShellVariables,
    /// The command that was written last.
    written: Option<&'a Simple>,
    /// Whether a pattern found the values of a loop.
    finds_names: bool,
    /// How many commands were written.
    count: usize,
}

struct OpenPlain<'a> {
    simple: &'a Simple,
    redirects: String,
}

impl<'a> PlainWriter<'a> {
    fn write(&mut self, tokens: &[Token<'a>]) -> Option<()> {
        let mut rest = tokens;
        while let Some((token, behind)) = rest.split_first() {
            rest = behind;
            match token {
                Token::For(header) => rest = self.write_loop(header, rest)?,
                token => self.push(token)?,
            }
        }
        Some(())
    }

    /// A loop is its body once for each value: the shell gets no variable. Returns what comes
    /// after it.
    fn write_loop<'t>(
        &mut self,
        header: &ForLoop,
        tokens: &'t [Token<'a>],
    ) -> Option<&'t [Token<'a>]> {
        let begin = tokens.iter().position(|token| *token != Token::Operator("\n"))?;
        let mut depth = 0_usize;
        let end = tokens.iter().position(|token| {
            match token {
                Token::Do => depth += 1,
                Token::Done => depth = depth.saturating_sub(1),
                _ => {}
            }
            *token == Token::Done && depth == 0
        })?;
        let (first, body) = tokens.get(begin..end)?.split_first()?;
        if *first != Token::Do || self.open.is_some() || !is_free_name(&header.name) {
            return None;
        }
        self.folders.start_command(Joint::Or);
        let mut values = Vec::new();
        for word in &header.words {
            // A remark, and no more words.
            if word.text.starts_with('#') && !word.has(Trait::Quoted) {
                return None;
            }
            let (made, lines) = self.substitute(std::iter::once(word))?;
            let known = lines.is_empty().then(|| self.expander("", &made).expand(word))?;
            values.extend(known?);
        }
        if self.variables.is_made(&header.name) {
            return None;
        }
        let around = self.finds_names;
        self.finds_names |= header.words.iter().any(|word| word.has(Trait::Pattern));
        self.depth += 1;
        self.push_text(if values.is_empty() { "{ :\n" } else { "{ " });
        for value in values {
            self.variables.set(&header.name, Some(value.shown.is_none().then_some(value.text)?));
            self.written = None;
            self.write(body)?;
            self.close(false)?;
            self.push_text("\n");
        }
        self.push_text("}");
        self.variables.set(&header.name, None);
        self.depth -= 1;
        self.finds_names = around;
        self.written = None;
        tokens.get(end + 1..)
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
                    self.open = Some(OpenPlain { simple, redirects: String::new() });
                }
            },
            Token::Redirect(text) => self.push_redirect(&format!(" {text}"), ends_form)?,
            Token::Input(redirect) => {
                let text = self.input(redirect)?;
                self.push_redirect(&text, |group| group.ends_with("done"))?;
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
                self.written.take().filter(|last| is_read(last))?;
                self.push_text("do ");
            }
            Token::Done => {
                self.close(false)?;
                self.depth = self.depth.checked_sub(1)?;
                self.repeated = self.repeated.checked_sub(1)?;
                self.push_text("done");
            }
            // It takes its own body.
            Token::For(_) => return None,
        }
        Some(())
    }

    /// Where a command reads or writes, or the form that was closed, if it is one that may.
    fn push_redirect(&mut self, text: &str, may: impl Fn(&str) -> bool) -> Option<()> {
        match (&mut self.open, self.line.0.last_mut()) {
            (Some(open), _) => open.redirects.push_str(text),
            (None, Some(PlainPart::Text(group))) if may(group) => group.push_str(text),
            (None, _) => return None,
        }
        Some(())
    }

    fn push_group(&mut self, text: &'static str) -> Option<()> {
        self.close(false)?;
        match text {
            "( " | "{ " | "if " | "while " => self.depth += 1,
            " )" | "}" | "fi" => self.depth = self.depth.checked_sub(1)?,
            _ => {}
        }
        match text {
            "( " => self.around.push(self.folders.clone()),
            " )" => self.folders = self.around.pop()?,
            "while " => self.repeated += 1,
            _ => {}
        }
        self.push_text(text);
        Some(())
    }

    /// A file that is read, for the shell.
    fn input(&self, redirect: &Redirect) -> Option<String> {
        let input = self.expander("", &[]).expand_one(&redirect.target)?.text;
        let is_read =
            |folder: &PathBuf| paths::classify(&input, folder, self.scene).read_risk().is_none();
        self.folders.iter().all(is_read).then(|| format!(" <{}", quote_literal(&input)))
    }

    fn push_text(&mut self, text: &str) {
        match self.line.0.last_mut() {
            Some(PlainPart::Text(before)) => {
                // The two would be one word.
                let is_word =
                    text.starts_with(|c: char| c.is_alphanumeric() || "{}!:'".contains(c));
                if ends_form(before) && is_word {
                    before.push(' ');
                }
                before.push_str(text);
            }
            Some(PlainPart::Command(_)) | None => {
                self.line.0.push(PlainPart::Text(text.to_owned()));
            }
        }
    }

    fn expander<'e>(&'e self, name: &str, made: &'e [Substituted]) -> Expander<'e> {
        let shows = is_showing(name) || name == "exit";
        let compares = ["test", "[", "[[", "exit"].contains(&name);
        Expander { context: self.expansion(), made, shows, compares }
    }

    fn expansion(&self) -> ExpansionContext<'_> {
        let folder = self.folders.only();
        ExpansionContext { scene: self.scene, folder, variables: &self.variables }
    }

    /// The substitutions of words, and those among them that the shell runs.
    fn substitute<'w>(
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
            if known.is_none() {
                let folders = Folders::new(self.folders.only()?.to_owned());
                let variables = self.variables.clone();
                let shell = LineShell { level: self.shell.level + 1, ..self.shell };
                let context = LineContext { scene: self.scene, shell, folders, variables };
                lines.push(read_within(line, context)?);
            }
            made.push(Substituted { written: written.to_owned(), known, name });
        }
        Some((made, lines))
    }

    /// Keeps what a command prints in a variable of the shell.
    fn write_substitution(&mut self, at: usize, line: PlainLine) {
        self.push_text(&format!("{}=\"$( ", made_name(&at.to_string())));
        for part in line.0 {
            match part {
                PlainPart::Text(text) => self.push_text(&text),
                command @ PlainPart::Command(_) => {
                    self.count += 1;
                    self.line.0.push(command);
                }
            }
        }
        self.push_text(" )\"");
    }

    /// Ends the open command; `is_piped`: what it writes goes to another one.
    fn close(&mut self, is_piped: bool) -> Option<()> {
        let Some(OpenPlain { simple, redirects }) = self.open.take() else { return Some(()) };
        let happens = match simple.seat.after {
            Joint::Next => true,
            Joint::And => self.certain,
            Joint::Or | Joint::Pipe => false,
        } && !is_piped;
        let certain = happens && !self.has_groups;
        self.certain = false;
        let awaits_body = self.written.is_some_and(is_read);
        self.written = Some(simple);
        self.count += 1;
        let is_after_form =
            matches!(self.line.0.last(), Some(PlainPart::Text(text)) if ends_form(text));
        if is_after_form || awaits_body || self.count > MOST_WRITTEN {
            return None;
        }
        match simple.words.first() {
            Some(name) if name.is_keyword("[[") => self.write_condition(simple, redirects),
            Some(_) if let Some(exported) = exported(simple).filter(|_| redirects.is_empty()) => {
                self.assign(&exported, happens && self.depth == 0)
            }
            Some(_) if is_read(simple) => self.write_read(simple, &redirects),
            Some(_) => self.write_command(simple, redirects, certain),
            None if redirects.is_empty() => self.assign(simple, happens && self.depth == 0),
            None => None,
        }
    }

    /// `certain`: it runs whatever the others do.
    fn write_command(&mut self, simple: &Simple, redirects: String, certain: bool) -> Option<()> {
        let (name, rest) = simple.words.split_first().filter(|(name, _)| {
            let is_made = name.has(Trait::Coded) || name.has(Trait::Substitution);
            !is_made && !self.variables.are_in(name)
        })?;
        if let Some(search) = xargs::as_search(&self.line, simple, &redirects) {
            // In place of the two and the sign between them.
            let kept = self.line.0.len().saturating_sub(2);
            self.line.0.truncate(kept);
            self.line.0.push(PlainPart::Command(search));
            return Some(());
        }
        let (made, lines) = self.substitute(rest.iter())?;
        let expander = self.expander(&name.text, &made);
        // A name is written as it is.
        let name = expander.expand_one(name).filter(|name| name.shown.is_none())?.text;
        if rest.iter().any(|word| word.text.is_empty() && !word.has(Trait::Quoted)) {
            return None;
        }
        let mut words: Vec<KnownWord> = Vec::new();
        for word in rest {
            words.extend(expander.expand(word)?);
        }
        let args: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        // Where its input cannot be opened, a `cd` changes nothing and the line goes on.
        let fed = usize::from(redirects.contains('<')) + usize::from(simple.input.is_some());
        let is_known = only_shows_unknown(&name, &words);
        let is_late = !lines.is_empty() && rest.iter().any(ShellWord::shows_status);
        if fed > usize::from(name != "cd") || !is_known || is_late {
            return None;
        }
        let splits = words.iter().any(|word| word.is_split());
        let is_entered = name == "cd" && self.change_folder(&args, certain)?;
        let shown = || {
            let shown = words.iter().map(|word| format!(" {}", word.quoted()));
            let shown = quote_literal(&name) + &shown.collect::<String>();
            // Nothing runs elsewhere if it fails all the same.
            if is_entered { format!("{{ {shown} || exit 1\n}}") } else { shown }
        };
        let part = match who_runs(&name, &args)? {
            Runner::Shell => PlainPart::Text(shown() + &redirects),
            runner => PlainPart::Command(PlainCommand {
                text: simple.text.clone(),
                shown: (runner == Runner::Showing).then(shown),
                sets: written_sets(simple)?,
                redirects,
                folders: self.folders.iter().cloned().collect(),
                has_found_names: self.finds_names
                    || rest.iter().any(|word| word.has(Trait::Pattern)),
                name,
                args,
            }),
        };
        self.write_part(simple, part, lines, splits)
    }

    /// Writes a command after what it is fed, and in a shell of its own where something is put in
    /// that only the shell knows.
    fn write_part(
        &mut self,
        simple: &Simple,
        part: PlainPart,
        lines: Vec<PlainLine>,
        splits: bool,
    ) -> Option<()> {
        let is_grouped = splits || !lines.is_empty();
        let is_bare = simple.sets.is_empty() && simple.input.is_none() && !is_grouped;
        self.write_input(simple, is_grouped)?;
        if is_grouped {
            self.push_text("( ");
            for (at, line) in lines.into_iter().enumerate() {
                self.write_substitution(at, line);
                self.push_text(" || :\n");
            }
            // What is printed without quotes is split, and finds no names.
            self.push_text("set -f\n");
        }
        match part {
            PlainPart::Text(_) if !is_bare => return None,
            PlainPart::Text(text) => self.push_text(&text),
            command @ PlainPart::Command(_) => self.line.0.push(command),
        }
        if is_grouped {
            self.push_text(" )");
        }
        Some(())
    }

    /// The text that the line itself feeds to a command.
    fn write_input(&mut self, simple: &Simple, is_grouped: bool) -> Option<()> {
        let text = match &simple.input {
            None => return Some(()),
            Some(_) if is_grouped => return None,
            Some(InputText::Lines(text)) => text.clone(),
            Some(InputText::Word(word)) => {
                let known = self.expander("", &[]).fill_unsplit(word)?;
                known.shown.is_none().then_some(known.text + "\n")?
            }
            Some(InputText::Expanding(_)) => return None,
        };
        self.push_text(&format!("printf '%s' {} | ", quote_literal(&text)));
        Some(())
    }

    /// `read`, as the condition of a loop: the shell keeps each line in variables.
    fn write_read(&mut self, simple: &Simple, redirects: &str) -> Option<()> {
        let is_condition =
            matches!(self.line.0.last(), Some(PlainPart::Text(text)) if text.ends_with("while "));
        let split = match simple.sets.as_slice() {
            [] => "",
            [Set { name, word, .. }] if name == "IFS" && word.text == "IFS=" => "IFS= ",
            _ => return None,
        };
        let is_plain = is_condition && redirects.is_empty() && simple.input.is_none();
        let (_, rest) = simple.words.split_first().filter(|_| is_plain)?;
        let is_option = |word: &&ShellWord| word.is_keyword("-r");
        let mut written = format!("{split}read -r");
        for word in rest.iter().filter(|word| !is_option(word)) {
            let is_name = !word.has(Trait::Quoted) && !word.needs_expansion();
            written += " ";
            written += &self.variables.make(&word.text).filter(|_| is_name)?;
        }
        self.push_text(&written);
        rest.iter().any(|word| !is_option(&word)).then_some(())
    }

    /// Variables that are set for what follows: it gets the values, and the shell nothing.
    fn assign(&mut self, simple: &Simple, happens: bool) -> Option<()> {
        let (made, lines) = self.substitute(simple.sets.iter().map(|set| &set.word))?;
        let is_later = |set: &Set| self.variables.is_made(&set.name) || set.word.shows_status();
        if !lines.is_empty() || simple.sets.iter().any(is_later) {
            return self.assign_later(simple, &made, lines);
        }
        for set in &simple.sets {
            let value = self.expander("", &made).assigned(set).filter(|_| self.repeated == 0)?;
            self.variables.set(&set.name, happens.then_some(value));
        }
        self.push_text(":");
        self.certain = happens;
        Some(())
    }

    /// Variables with values that only the shell will know.
    fn assign_later(
        &mut self,
        simple: &Simple,
        made: &[Substituted],
        lines: Vec<PlainLine>,
    ) -> Option<()> {
        for (at, line) in lines.into_iter().enumerate() {
            self.write_substitution(at, line);
            self.push_text(" ");
        }
        for Set { name, word, .. } in &simple.sets {
            let known = self.expander("echo", made).fill_unsplit(word)?;
            let value = known.quoted();
            let own = self.variables.make(name)?;
            let value = value.strip_prefix(&format!("'{name}="))?;
            self.push_text(&format!("{own}='{value} "));
        }
        Some(())
    }

    /// `[[ … ]]`, judged as a `test`.
    fn write_condition(&mut self, simple: &Simple, redirects: String) -> Option<()> {
        let (_, rest) = simple.words.split_first().filter(|_| simple.sets.is_empty())?;
        let (made, lines) = self.substitute(rest.iter())?;
        let (args, shown) = read_condition(rest, self.expander("[[", &made))?;
        let is_late = !lines.is_empty() && rest.iter().any(ShellWord::shows_status);
        let part = PlainPart::Command(PlainCommand {
            text: simple.text.clone(),
            name: "test".to_owned(),
            args,
            shown: Some(shown),
            sets: String::new(),
            redirects,
            folders: self.folders.iter().cloned().collect(),
            has_found_names: false,
        });
        if is_late { None } else { self.write_part(simple, part, lines, false) }
    }

    /// `cd` to a folder that may be worked in. One that is there is entered for certain, unless
    /// the command may not run at all: then it is the only one from there on.
    fn change_folder(&mut self, args: &[String], certain: bool) -> Option<bool> {
        let ([to] | [_, to]) = args else { return None };
        if args.len() == 2 && args.first().is_some_and(|first| first != "--") {
            return None;
        }
        if to.is_empty() || to.starts_with('-') || self.repeated > 0 {
            return None;
        }
        let is_there = self.folders.enter(to, self.scene)?;
        let is_entered = certain && is_there;
        if is_entered {
            self.folders.settle();
            self.certain = true;
        }
        (!self.folders.is_lost()).then_some(is_entered)
    }
}
