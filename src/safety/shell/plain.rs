//! Reads lines of which nothing is left to the shell: commands with known words, joined by
//! operators. Such a line can be judged command by command, and is written again from what was
//! judged: the shell gets no word to expand, and whatever this reader and the shell would
//! understand differently cannot happen.

use std::path::{Path, PathBuf};

use super::super::{PathKind, PolicyContext, paths, wrappers};
use super::ast::{ForLoop, Joint, Redirect, Script, ShellWord, Simple, Trait};
use super::condition::read_condition;
use super::cwd::Folders;
use super::expand::{Expander, KnownWord};
use super::gaps::{GapReader, Token};
use super::parser::parse;
use super::variables::{ShellVariables, is_free_name};
use avocet_core::text::quote_literal;

/// A line in the order in which it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlainLine(pub Vec<PlainPart>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlainPart {
    /// Operators, and what the shell does itself: text for the shell.
    Text(String),
    Command(PlainCommand),
}

/// A command whose words are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainCommand {
    /// As it is in the line.
    pub text: String,
    pub name: String,
    pub args: Vec<String>,
    /// For the shell, where the shell itself does it; `None`: a program is started.
    pub shown: Option<String>,
    /// Variables in front of it, for the shell.
    pub sets: String,
    /// Where its output goes, for the shell.
    pub redirects: String,
    /// The folders it may run in.
    pub folders: Vec<PathBuf>,
    /// Whether a pattern found some of its words.
    pub has_found_names: bool,
}

/// How many commands, and how long a line, in bytes.
const MOST_COMMANDS: usize = 64;
/// How many commands it may become, with those of a loop once for each value.
const MOST_WRITTEN: usize = 400;
const MOST_LINE: usize = 16 * 1024;

/// What a shell does itself instead of starting a program of that name.
#[rustfmt::skip]
const BUILTINS: &[&str] = &[
    ".", "alias", "bg", "bind", "break", "builtin", "caller", "chdir", "command", "compgen", "complete",
    "compopt", "continue", "coproc", "declare", "dirs", "disown", "enable", "eval", "exec", "export",
    "fc", "fg", "getopts", "hash", "help", "history", "jobs", "kill", "let", "local", "logout",
    "mapfile", "popd", "pushd", "read", "readarray", "readonly", "return", "shift", "shopt", "source",
    "suspend", "times", "trap", "type", "typeset", "ulimit", "umask", "unalias", "unset", "wait",
];
/// What it does itself and only shows or compares words, with rows as the programs have.
const SHOWING: &[&str] = &["echo", "printf", "test", "[", "[[", "true", "false", "pwd"];
/// Settings that end a line early, or print its commands.
const SETTINGS: &[&str] = &["pipefail", "errexit", "nounset", "xtrace"];

/// Reads a line that is run in `folder`; `None`: some of it is only known to the shell.
pub fn read_plain(
    line: &str,
    is_bash: bool,
    folder: &Path,
    scene: PolicyContext<'_>,
) -> Option<PlainLine> {
    if line.len() > MOST_LINE {
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
    let tokens = read_tokens(line, &script, is_bash)?;
    let has_groups = tokens.iter().any(|token| matches!(token, Token::Group(_) | Token::For(_)));
    let mut writer = PlainWriter {
        scene,
        has_groups,
        folders: Folders::new(folder.to_owned()),
        line: PlainLine::default(),
        open: None,
        certain: true,
        depth: 0,
        variables: ShellVariables::default(),
        written: None,
        finds_names: false,
        count: 0,
    };
    writer.write(&tokens)?;
    writer.close(false)?;
    let has_pipe = script.commands.iter().any(|simple| simple.seat.after == Joint::Pipe);
    if writer.line.0.is_empty() || has_pipe && writer.line.prints_settings() {
        return None;
    }
    Some(writer.line)
}

impl PlainLine {
    /// Whether it prints settings of git, whose addresses may hold a key: the mask knows them as
    /// they are, not as another program writes them.
    fn prints_settings(&self) -> bool {
        self.0.iter().any(|part| match part {
            PlainPart::Text(_) => false,
            PlainPart::Command(command) => {
                command.name.ends_with("git")
                    && command
                        .args
                        .iter()
                        .any(|arg| ["config", "remote", "var"].contains(&arg.as_str()))
            }
        })
    }
}

/// A part of the line that was read as words.
#[derive(Clone, Copy)]
enum Hole<'s> {
    Word(&'s Simple),
    Set(&'s Simple),
    For(&'s ForLoop),
    Target(&'s Redirect),
}

/// The line in tokens: its words, and what is between them.
fn read_tokens<'s>(line: &str, script: &'s Script, is_bash: bool) -> Option<Vec<Token<'s>>> {
    let letters: Vec<char> = line.chars().collect();
    let mut holes: Vec<((usize, usize), Hole<'s>)> = Vec::new();
    for simple in &script.commands {
        if simple.fed.is_some() {
            return None;
        }
        holes.extend(simple.words.iter().map(|word| (word.span, Hole::Word(simple))));
        holes.extend(simple.sets.iter().map(|set| (set.word.span, Hole::Set(simple))));
        holes.extend(simple.redirects.iter().map(|one| (one.target.span, Hole::Target(one))));
    }
    holes.extend(script.loops.iter().map(|one| (one.span, Hole::For(one))));
    holes.sort_by_key(|(span, _)| *span);
    let mut reader = GapReader { is_bash, tokens: Vec::new() };
    let mut done = 0;
    for ((start, end), hole) in holes {
        if start >= end {
            return None;
        }
        let gap: String = letters.get(done..start)?.iter().collect();
        let redirect = match hole {
            Hole::Target(redirect) => Some(redirect),
            Hole::Word(_) | Hole::Set(_) | Hole::For(_) => None,
        };
        reader.read(&gap, redirect)?;
        match hole {
            Hole::Word(simple) | Hole::Set(simple) => reader.tokens.push(Token::Command(simple)),
            Hole::For(one) => reader.tokens.push(Token::For(one)),
            Hole::Target(_) => {}
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

/// Writes a line again, following the folders it may be in.
struct PlainWriter<'a> {
    scene: PolicyContext<'a>,
    has_groups: bool,
    folders: Folders,
    line: PlainLine,
    /// The command that is being written, and where its redirections go.
    open: Option<OpenPlain<'a>>,
    /// Whether the next command runs whatever the others do.
    certain: bool,
    /// How many forms are around the next command.
    depth: usize,
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
            values.extend(self.expander("").expand(word)?);
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
            Token::Redirect(text) => match (&mut self.open, self.line.0.last_mut()) {
                (Some(open), _) => open.redirects.push_str(&format!(" {text}")),
                // After a form.
                (None, Some(PlainPart::Text(group))) if ends_form(group) => {
                    group.push_str(&format!(" {text}"));
                }
                (None, _) => return None,
            },
            Token::Input(redirect) => {
                let text = self.input(redirect)?;
                self.open.as_mut()?.redirects.push_str(&text);
            }
            Token::Operator(text) => {
                self.close(*text == " | ")?;
                self.push_text(text);
            }
            Token::Group(text) => {
                self.close(false)?;
                match *text {
                    "( " | "{ " | "if " => self.depth += 1,
                    " )" | "}" | "fi" => self.depth = self.depth.checked_sub(1)?,
                    _ => {}
                }
                self.push_text(text);
            }
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
            // A loop takes its own.
            Token::For(_) | Token::Do | Token::Done => return None,
        }
        Some(())
    }

    /// A file that is read, for the shell.
    fn input(&self, redirect: &Redirect) -> Option<String> {
        let input = self.expander("").expand_one(&redirect.target)?.text;
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

    fn expander(&self, name: &str) -> Expander<'_> {
        let shows = SHOWING.contains(&name) || name == "exit";
        let folder = self.folders.only();
        Expander { scene: self.scene, folder, variables: &self.variables, shows }
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
        self.written = Some(simple);
        self.count += 1;
        let is_after_form =
            matches!(self.line.0.last(), Some(PlainPart::Text(text)) if ends_form(text));
        if is_after_form || self.count > MOST_WRITTEN {
            return None;
        }
        match simple.words.first() {
            Some(name) if name.is_keyword("[[") => self.write_condition(simple, redirects),
            Some(_) => self.write_command(simple, redirects, certain),
            None if redirects.is_empty() => self.assign(simple, happens && self.depth == 0),
            None => None,
        }
    }

    /// `certain`: it runs whatever the others do.
    fn write_command(&mut self, simple: &Simple, redirects: String, certain: bool) -> Option<()> {
        let (name, rest) = simple
            .words
            .split_first()
            .filter(|(name, _)| !name.has(Trait::Coded) && !self.uses_own_variable(name))?;
        let expander = self.expander(&name.text);
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
        if name == "cd" && redirects.contains('<') {
            return None;
        }
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
        match part {
            PlainPart::Text(_) if !simple.sets.is_empty() => return None,
            PlainPart::Text(text) => self.push_text(&text),
            command @ PlainPart::Command(_) => self.line.0.push(command),
        }
        Some(())
    }

    /// Variables that are set for what follows: it gets the values, and the shell nothing.
    fn assign(&mut self, simple: &Simple, happens: bool) -> Option<()> {
        for set in &simple.sets {
            let value = self.expander("").assigned(set)?;
            self.variables.set(&set.name, happens.then_some(value));
        }
        self.push_text(":");
        self.certain = happens;
        Some(())
    }

    /// Whether a word is made of a variable of the line.
    fn uses_own_variable(&self, word: &ShellWord) -> bool {
        let name =
            |written: &str| written.trim_start_matches('$').trim_matches(['{', '}']).to_owned();
        word.variables.iter().any(|variable| self.variables.has(&name(&variable.written)))
    }

    /// `[[ … ]]`, judged as a `test`.
    fn write_condition(&mut self, simple: &Simple, redirects: String) -> Option<()> {
        let (_, rest) = simple.words.split_first().filter(|_| simple.sets.is_empty())?;
        let (args, shown) = read_condition(rest, self.expander("[["))?;
        self.line.0.push(PlainPart::Command(PlainCommand {
            text: simple.text.clone(),
            name: "test".to_owned(),
            args,
            shown: Some(shown),
            sets: String::new(),
            redirects,
            folders: self.folders.iter().cloned().collect(),
            has_found_names: false,
        }));
        Some(())
    }

    /// `cd` to a folder that may be worked in. One that is there is entered for certain, unless
    /// the command may not run at all: then it is the only one from there on.
    fn change_folder(&mut self, args: &[String], certain: bool) -> Option<bool> {
        let ([to] | [_, to]) = args else { return None };
        if args.len() == 2 && args.first().is_some_and(|first| first != "--") {
            return None;
        }
        if to.is_empty() || to.starts_with('-') {
            return None;
        }
        let home = &self.scene.place.home;
        let target = |here: &Path| paths::normalize(&paths::absolute(to, here, home));
        let world = self.scene.world;
        let mut is_there = true;
        for folder in self.folders.iter() {
            let real = world.resolve(&target(folder));
            // What is there is another thing for each process.
            let is_of_process = ["/proc", "/dev"].iter().any(|place| real.starts_with(place));
            if is_of_process || !self.scene.place.can_read(&real) {
                return None;
            }
            is_there &= world.kind(&real) == PathKind::Folder;
        }
        self.folders.change_to(target);
        let is_entered = certain && is_there;
        if is_entered {
            self.folders.settle();
            self.certain = true;
        }
        (!self.folders.is_lost()).then_some(is_entered)
    }
}

fn ends_form(text: &str) -> bool {
    text.ends_with([')', '}']) || text.ends_with("fi")
}

/// Who does what a command says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runner {
    /// The shell, and there is nothing to judge in it.
    Shell,
    /// The shell, by words that are judged as those of the program of that name.
    Showing,
    Program,
}

/// Who runs a command of this name; `None`: it is none of the harmless ones of the shell.
fn who_runs(name: &str, args: &[String]) -> Option<Runner> {
    let settings = || {
        let letters = |arg: &str| {
            arg.strip_prefix(['-', '+'])
                .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| "euxo".contains(c)))
        };
        !args.is_empty() && args.iter().all(|arg| letters(arg) || SETTINGS.contains(&arg.as_str()))
    };
    let is_status = |arg: &String| arg == "${?}" || arg.bytes().all(|b| b.is_ascii_digit());
    match name {
        "cd" => Some(Runner::Shell),
        ":" => args.is_empty().then_some(Runner::Shell),
        "exit" => (args.len() < 2 && args.iter().all(is_status)).then_some(Runner::Shell),
        "set" => settings().then_some(Runner::Shell),
        // A name with a subscript is evaluated: `test -v 'a[$(x)]'`, `printf -v 'a[$(x)]' y`.
        "test" | "[" if args.iter().any(|arg| arg == "-v" || arg == "-R") => None,
        "printf" if !only_prints(args) => None,
        name if SHOWING.contains(&name) => Some(Runner::Showing),
        _ if shell_lookup_line(name, args).is_some() => Some(Runner::Shell),
        _ if BUILTINS.contains(&name) => None,
        _ => Some(Runner::Program),
    }
}

/// Whether the format of a `printf` only prints: `%n` sets the variable that is named for it, and
/// `-v` another one.
fn only_prints(args: &[String]) -> bool {
    let format = match args {
        [first, format, ..] if first == "--" => format,
        [format, ..] if !format.starts_with('-') => format,
        _ => return args.is_empty(),
    };
    let mut is_literal = false;
    format.split('%').skip(1).all(|rest| {
        // `%%`: what is between the two is empty, and what follows is text.
        let was_literal = is_literal;
        is_literal = rest.is_empty() && !was_literal;
        let kind = rest.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #.".contains(c));
        was_literal || is_literal || kind.starts_with(['s', 'd', 'i', 'u', 'x', 'X', 'c', 'b', 'f'])
    })
}

/// The variables in front of a command, which only change languages and colours.
fn written_sets(simple: &Simple) -> Option<String> {
    let mut written = String::new();
    for set in &simple.sets {
        let is_plain = set.word.text == format!("{}={}", set.name, set.value)
            && set.word.variables.is_empty()
            && !set.word.needs_expansion()
            && !set.word.has(Trait::Coded)
            && wrappers::is_harmless_variable(&set.name, &set.value);
        if !is_plain {
            return None;
        }
        written += &format!("{}={} ", set.name, quote_literal(&set.value));
    }
    Some(written)
}

/// The line that a shell is given for a question about names of programs.
pub fn shell_lookup_line(name: &str, args: &[String]) -> Option<&'static str> {
    let plain = |name: &String| {
        name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+".contains(c))
    };
    let (first, rest) = args.split_first()?;
    match name {
        "type" if args.iter().all(plain) => Some("type \"$@\""),
        "command" if ["-v", "-V"].contains(&first.as_str()) && !rest.is_empty() => {
            rest.iter().all(plain).then_some("command \"$@\"")
        }
        _ => None,
    }
}
