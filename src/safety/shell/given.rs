//! Writes one command of a line, with what the shell puts into its words.

use super::ast::PlainFunctions;
use super::ast::{ShellWord, Simple, Trait};
use super::expand::told_names;
use super::known::KnownWord;
use super::parser::parse;
use super::plain::{PlainCommand, PlainLine, PlainSegment};
use super::runner::{
    Runner, file_question, is_of_shell, is_printing, only_shows_unknown, who_runs, written_sets,
};
use super::unknown::{Demand, demands};
use super::variables::{ShellVariables, made_name};
use super::writer::{Given, PlainWriter, Streams};
use super::xargs::{self, Invoked};
use avocet_core::text::quote_literal;

impl PlainWriter<'_> {
    /// `certain`: it runs whatever the others do.
    pub(super) fn write_command(
        &mut self,
        simple: &Simple,
        streams: Streams,
        certain: bool,
    ) -> Option<()> {
        let Streams { redirects, tests } = streams;
        let (name, rest) = simple.words.split_first().filter(|(name, _)| {
            let is_made = name.has(Trait::Coded) || name.has(Trait::Substitution);
            !is_made && !self.variables.are_in(name)
        })?;
        if let Some(search) = xargs::as_search(&self.line, simple, &redirects) {
            // In place of the two and the sign between them.
            let kept = self.line.0.len().saturating_sub(2);
            self.line.0.truncate(kept);
            self.line.0.push(PlainSegment::Command(search));
            return Some(());
        }
        let files = self.run_beside(rest.iter())?;
        let (made, lines) = self.substitute(simple.expanded())?;
        let input = self.input_text(simple, &made)?;
        let expander = self.expander(&name.text, &made);
        // A name is written as it is.
        let name = expander.expand_one(name).filter(|name| name.shown.is_none())?.text;
        // A function is run in a shell of its own.
        let is_return = name == "return" && self.variables.arguments.is_some();
        let name = if is_return { "exit".to_owned() } else { name };
        if rest.iter().any(|word| word.text.is_empty() && !word.has(Trait::Quoted)) {
            return None;
        }
        let mut words: Vec<KnownWord> = Vec::new();
        let mut streams = (0..files.len()).map(stream_number);
        for word in rest {
            if word.has(Trait::Process) {
                words.push(KnownWord::shown(format!("/dev/fd/{}", streams.next()?)));
            } else {
                words.extend(expander.expand(word)?);
            }
        }
        // Where its input cannot be opened, a `cd` changes nothing and the line goes on.
        let fed = usize::from(redirects.contains('<')) + usize::from(simple.input.is_some());
        let is_late = !lines.is_empty() && simple.expanded().any(ShellWord::shows_status);
        if fed > usize::from(name != "cd") || is_late {
            return None;
        }
        let args: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        let is_alone = lines.is_empty() && files.is_empty() && tests.is_empty();
        let is_bare = is_alone && fed == 0 && simple.sets.is_empty();
        if let Some(inner) = self.line_inside(&name, &words)? {
            return self.write_inner(Some(inner).filter(|_| is_bare)?, &redirects);
        }
        let is_entered = name == "cd" && self.change_folder(&args, certain)?;
        let told = told_names(&made);
        let given = Given { words, lines, files, tests, told, input, around: "" };
        self.write_given(simple, (&name, &redirects), given, is_entered)
    }

    /// The line that a function or a shell runs; the inner `None`: it is none of them.
    fn line_inside(&self, name: &str, words: &[KnownWord]) -> Option<Option<PlainLine>> {
        if let Some(body) = self.functions.find(name) {
            return self.read_call(&body, words.to_vec()).map(Some);
        }
        let args = words.iter().map(|word| word.text.as_str());
        let called: Vec<&str> = std::iter::once(name).chain(args).collect();
        // Each command of the line has the time that all of them would have.
        let (limit, shell) = match called.as_slice() {
            ["timeout", time, shell @ ..] if is_seconds(time) => (Some(*time), shell),
            shell => (None, shell),
        };
        let ["bash" | "sh", "-c" | "-lc", line] = shell else { return Some(None) };
        let is_known = !words.iter().any(KnownWord::is_unknown);
        // The other shell knows none of the variables.
        let read = |variables| self.read_with(line, variables, PlainFunctions::default());
        let read = read(ShellVariables::default())
            .or_else(|| read(ShellVariables::counting(&parse(line))));
        let mut inner = read.filter(|_| is_known)?;
        limit.iter().for_each(|limit| inner.limit(limit));
        Some(Some(inner))
    }

    /// A line of which a shell of its own knows the variables.
    fn write_inner(&mut self, line: PlainLine, redirects: &str) -> Option<()> {
        self.push_text("( ");
        self.push_line(line);
        self.push_text(&format!(" ){redirects}"));
        Some(())
    }

    /// `xargs PROGRAM`: the program gets what was printed as phrases.
    pub(super) fn write_xargs(&mut self, simple: &Simple, redirects: String) -> Option<()> {
        let invoked = Invoked::read(simple.words.get(1..)?).filter(|_| {
            simple.sets.is_empty() && simple.input.is_none() && !redirects.contains('<')
        })?;
        if let Some(line) = invoked.shell_line() {
            let mut variables = ShellVariables::default();
            variables.mark_listed(xargs::EACH, self.line.feeds_listing(" | "), false)?;
            variables.make_single(xargs::EACH)?;
            let inner = self.read_with(&line, variables, PlainFunctions::default())?;
            self.push_text("( ");
            self.push_text(invoked.around(PlainLine::default())?.0);
            self.write_inner(inner, " </dev/null")?;
            self.push_text(&format!("\ndone ){redirects}"));
            return Some(());
        }
        let reader = if invoked.is_null { "tr '\\0' '\\n'" } else { "cat" };
        let (around, lines) = invoked.around(self.read_inner(reader)?)?;
        let (name, words) = invoked.words()?;
        if !is_printing(&name) && !self.line.feeds_listing(" | ") {
            return None;
        }
        let redirects = redirects + if lines.is_empty() { " </dev/null" } else { "" };
        let given = Given { words, lines, around, ..Given::default() };
        self.write_given(simple, (&name, &redirects), given, false)
    }

    fn write_given(
        &mut self,
        simple: &Simple,
        (name, redirects): (&str, &str),
        mut given: Given,
        is_entered: bool,
    ) -> Option<()> {
        let args: Vec<String> = given.words.iter().map(|word| word.text.clone()).collect();
        if !only_shows_unknown(name, &given.words) {
            self.demand(name, &args, &mut given)?;
        }
        let shown = || {
            let shown = given.words.iter().map(|word| format!(" {}", word.quoted()));
            let shown = quote_literal(name) + &shown.collect::<String>();
            // Nothing runs elsewhere if it fails all the same.
            if is_entered { format!("{{ {shown} || exit 1\n}}") } else { shown }
        };
        let unknown = given.words.iter().filter(|word| word.is_unknown()).map(KnownWord::quoted);
        let part = match who_runs(name, &args)? {
            Runner::Shell => PlainSegment::Text(shown() + redirects),
            runner => PlainSegment::Command(PlainCommand {
                text: simple.text.clone(),
                shown: (runner == Runner::Showing).then(shown),
                unknown: unknown.collect(),
                sets: written_sets(simple)?,
                redirects: redirects.to_owned(),
                folders: self.folders.iter().cloned().collect(),
                has_found_names: self.finds_names
                    || simple.words.iter().any(|word| word.has(Trait::Pattern)),
                name: name.to_owned(),
                args,
            }),
        };
        self.write_part(simple, part, given)
    }

    /// Adds what the shell makes sure of before a command gets words of which it alone will know
    /// a part.
    fn demand(&self, name: &str, args: &[String], given: &mut Given) -> Option<()> {
        if !self.folders.only_plain(self.policy_cx) {
            return None;
        }
        // A format, an operator or a name that the shell itself would take.
        let demands = match file_question(name, &given.words) {
            Some(at) => vec![(at, Demand::Name)],
            None if is_of_shell(name) => return None,
            None => demands(name, args)?,
        };
        for (at, demand) in demands {
            let word = given.words.get_mut(at)?;
            let is_name = matches!(demand, Demand::Name | Demand::Names);
            // What a file says may be a number, and no name; whether there is a file may be asked.
            let is_told = self.variables.are_told_in(word, &given.told);
            if is_told && demand != Demand::Number && !is_of_shell(name) {
                return None;
            }
            if word.shown.as_ref().is_some_and(|shown| shown.starts_with("/dev/fd/")) {
                is_name.then_some(())?;
            } else if let Some(variable) = word.split_variable().filter(|_| is_name) {
                if demand != Demand::Names {
                    return None;
                }
                let kept = made_name(&format!("_{at}"));
                given.tests.push(format!(
                    "{kept}=\"$( printf '%s\\n' \"{variable}\" | avocet_names )\" && {{ [ -n \"${{{kept}}}\" ] || [ -z \"{variable}\" ]\n}}"
                ));
                word.shown = Some(format!("${{{kept}}}"));
            } else {
                word.keep_whole();
                let tested = match demand {
                    Demand::Revision => word.bare_variables()?,
                    Demand::Name | Demand::Names => vec![word.quoted()],
                    Demand::Number => word.variables(),
                };
                given.tests.extend(tested.iter().map(|word| demand.test(word)));
                if demand == Demand::Number {
                    given.tests.push(Demand::test_whole(&word.quoted()));
                }
            }
        }
        Some(())
    }

    /// Writes a command after what it is fed, and in a shell of its own where something is put in
    /// that only the shell knows.
    pub(super) fn write_part(
        &mut self,
        simple: &Simple,
        part: PlainSegment,
        given: Given,
    ) -> Option<()> {
        let Given { words, lines, files, around, tests, input, .. } = given;
        let splits = words.iter().any(KnownWord::is_split);
        let is_grouped = splits || !lines.is_empty() || !tests.is_empty() || !around.is_empty();
        let is_bare = simple.sets.is_empty() && simple.input.is_none() && !is_grouped;
        if is_grouped {
            self.push_text("( ");
            self.write_substitutions(lines);
            // What is printed without quotes is split, and finds no names.
            self.push_text("set -f\n");
            self.push_text(around);
            self.push_text(&tests.iter().map(|test| format!("{test} && ")).collect::<String>());
        }
        self.push_text(&input);
        match part {
            PlainSegment::Text(_) if !is_bare || !files.is_empty() => return None,
            PlainSegment::Text(text) => self.push_text(&text),
            command @ PlainSegment::Command(_) => self.line.0.push(command),
        }
        for (at, line) in files.into_iter().enumerate() {
            self.push_text(&format!(" {}< <( ", stream_number(at)));
            self.push_line(line);
            self.push_text(" )");
        }
        if is_grouped {
            self.push_text(if around.ends_with("do ") { "\ndone )" } else { " )" });
        }
        Some(())
    }
}

fn is_seconds(text: &str) -> bool {
    let number = text.trim_end_matches(['s', 'm']);
    text.len() < 6 && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

/// The stream that a command reads of what is run beside it.
fn stream_number(at: usize) -> usize {
    10 + at
}
