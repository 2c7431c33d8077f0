//! Writes one command of a line, with what the shell puts into its words.

use super::ast::{ShellWord, Simple, Trait};
use super::expand::KnownWord;
use super::plain::{PlainCommand, PlainPart};
use super::runner::{Runner, is_of_shell, is_printing, only_shows_unknown, who_runs, written_sets};
use super::unknown::{Demand, demands};
use super::variables::made_name;
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
            self.line.0.push(PlainPart::Command(search));
            return Some(());
        }
        let files = self.run_beside(rest.iter())?;
        let (made, lines) = self.substitute(rest.iter())?;
        let expander = self.expander(&name.text, &made);
        // A name is written as it is.
        let name = expander.expand_one(name).filter(|name| name.shown.is_none())?.text;
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
        let is_late = !lines.is_empty() && rest.iter().any(ShellWord::shows_status);
        if fed > usize::from(name != "cd") || is_late {
            return None;
        }
        let args: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        let is_alone = lines.is_empty() && files.is_empty() && tests.is_empty();
        if let Some(line) = line_of_shell(&name, &args).filter(|_| is_alone && fed == 0) {
            let is_known = simple.sets.is_empty() && !words.iter().any(KnownWord::is_unknown);
            let inner = self.read_apart(line).filter(|_| is_known)?;
            self.push_text("( ");
            self.push_line(inner);
            self.push_text(&format!(" ){redirects}"));
            return Some(());
        }
        let is_entered = name == "cd" && self.change_folder(&args, certain)?;
        let given = Given { words, lines, files, tests, around: "" };
        self.write_given(simple, (&name, &redirects), given, is_entered)
    }

    /// `xargs PROGRAM`: the program gets what was printed as words.
    pub(super) fn write_xargs(&mut self, simple: &Simple, redirects: String) -> Option<()> {
        let invoked = Invoked::read(simple.words.get(1..)?).filter(|_| {
            simple.sets.is_empty() && simple.input.is_none() && !redirects.contains('<')
        })?;
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
            // A format, an operator or a name that the shell itself would take.
            if is_of_shell(name) {
                return None;
            }
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
            Runner::Shell => PlainPart::Text(shown() + redirects),
            runner => PlainPart::Command(PlainCommand {
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
        if !self.folders.only_plain(self.scene) {
            return None;
        }
        for (at, demand) in demands(name, args)? {
            let word = given.words.get_mut(at)?;
            let is_name = matches!(demand, Demand::Name | Demand::Names);
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
        part: PlainPart,
        given: Given,
    ) -> Option<()> {
        let Given { words, lines, files, around, tests } = given;
        let splits = words.iter().any(KnownWord::is_split);
        let is_grouped = splits || !lines.is_empty() || !tests.is_empty() || !around.is_empty();
        let is_bare = simple.sets.is_empty() && simple.input.is_none() && !is_grouped;
        self.write_input(simple, is_grouped)?;
        if is_grouped {
            self.push_text("( ");
            self.write_substitutions(lines);
            // What is printed without quotes is split, and finds no names.
            self.push_text("set -f\n");
            self.push_text(around);
            self.push_text(&tests.iter().map(|test| format!("{test} && ")).collect::<String>());
        }
        match part {
            PlainPart::Text(_) if !is_bare || !files.is_empty() => return None,
            PlainPart::Text(text) => self.push_text(&text),
            command @ PlainPart::Command(_) => self.line.0.push(command),
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

/// The line of a shell that is given one.
fn line_of_shell<'w>(name: &str, args: &'w [String]) -> Option<&'w str> {
    match args {
        [option, line] if ["-c", "-lc"].contains(&option.as_str()) => {
            ["bash", "sh"].contains(&name).then_some(line)
        }
        _ => None,
    }
}

/// The stream that a command reads of what is run beside it.
fn stream_number(at: usize) -> usize {
    10 + at
}
