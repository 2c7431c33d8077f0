//! `find … | xargs PROGRAM`, which is `find … -exec PROGRAM {} +`: so what is found is left out and
//! judged as it is there, and no name is taken for two. After anything else it is the program with
//! what was printed in its words.

use super::ast::{ShellWord, Simple, Trait};
use super::known::KnownWord;
use super::plain::{PlainCommand, PlainLine, PlainSegment};
use super::unknown::UNKNOWN;
use avocet_core::text::quote_literal;

/// The variable of such a line.
pub const EACH: &str = "xargs_each";

/// Whether a command is an `xargs` that only its pipe feeds.
fn is_plain(simple: &Simple) -> bool {
    let is_xargs = simple.words.first().is_some_and(|name| name.is_keyword("xargs"));
    is_xargs && simple.sets.is_empty() && simple.input.is_none()
}

/// The search that does what it does together with the `find` in front of it.
pub fn as_search(line: &PlainLine, simple: &Simple, redirects: &str) -> Option<PlainCommand> {
    let [.., PlainSegment::Command(search), PlainSegment::Text(joint)] = line.0.as_slice() else {
        return None;
    };
    let is_search = joint == " | " && search.name == "find" && search.sets.is_empty();
    let is_quiet = ["", " 2>/dev/null"].contains(&search.redirects.as_str());
    if !is_plain(simple) || !is_search || !is_quiet || redirects.contains('<') {
        return None;
    }
    let invoked = Invoked::read(simple.words.get(1..)?)?;
    let Invoked { is_null, is_each, .. } = invoked;
    let command = invoked.search_command()?;
    let (starts, tests) = split_search(&search.args, is_null)?;
    let mut args = starts.to_vec();
    if !tests.is_empty() {
        args.push("(".to_owned());
        args.extend_from_slice(tests);
        args.push(")".to_owned());
    }
    args.push("-exec".to_owned());
    args.extend(command);
    args.push(if is_each { ";" } else { "+" }.to_owned());
    Some(PlainCommand {
        text: format!("{} | {}", search.text, simple.text),
        args,
        redirects: format!("{}{redirects}", search.redirects),
        ..search.clone()
    })
}

/// The places and the tests of a search that prints what it finds, and does nothing else.
fn split_search(args: &[String], is_null: bool) -> Option<(&[String], &[String])> {
    let begins = |arg: &String| {
        let is_option = arg.starts_with('-') && !["-H", "-P", "--"].contains(&arg.as_str());
        is_option || ["(", ")", "!", ","].contains(&arg.as_str())
    };
    let (starts, tests) = args.split_at(args.iter().position(begins).unwrap_or(args.len()));
    let (tests, is_printed) = match tests.split_last() {
        Some((last, tests)) if last == "-print0" && is_null => (tests, true),
        Some((last, tests)) if last == "-print" && !is_null => (tests, true),
        Some(_) | None => (tests, false),
    };
    let acts = |arg: &String| {
        let acting = ["-print", "-exec", "-ok", "-fprint", "-fls", "-ls", "-delete", "-quit"];
        acting.iter().any(|action| arg.starts_with(action))
    };
    // Only what the last of several alternatives finds would be printed.
    let is_alternative = |arg: &String| ["-o", "-or", ","].contains(&arg.as_str());
    let is_odd = tests.iter().any(acts) || is_printed && tests.iter().any(is_alternative);
    (!is_odd && is_printed >= is_null).then_some((starts, tests))
}

/// The options and the program of an `xargs`.
#[derive(Default)]
pub struct Invoked {
    pub is_null: bool,
    /// Whether the program is started once for each name.
    is_each: bool,
    /// Whether it is started for so many names at a time.
    is_batched: bool,
    /// What a name is filled in for.
    gap: Option<String>,
    command: Vec<String>,
}

impl Invoked {
    pub fn read(words: &[ShellWord]) -> Option<Invoked> {
        let is_known = |word: &ShellWord| {
            word.variables.is_empty()
                && !word.needs_expansion()
                && !word.has(Trait::Pattern)
                && !word.has(Trait::Coded)
                && !word.text.starts_with('~')
        };
        let mut rest = words.iter().all(is_known).then_some(words)?;
        let mut invoked = Invoked::default();
        while let [option, behind @ ..] = rest
            && option.text.starts_with('-')
        {
            let text = option.text.as_str();
            let value = behind.first().map(|word| word.text.as_str());
            let is_number =
                |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            let mut taken = 0;
            match text {
                "-0" | "--null" => invoked.is_null = true,
                "-r" | "--no-run-if-empty" => {}
                "-n" | "-L" | "-P" if value.is_some_and(is_number) => {
                    taken = 1;
                    invoked.is_each |= text != "-P" && value == Some("1");
                    invoked.is_batched |= text != "-P" && value != Some("1");
                }
                "-n1" | "-L1" => invoked.is_each = true,
                "-I" => {
                    taken = 1;
                    invoked.gap = Some(value?.to_owned());
                }
                _ => {
                    let gap = text.strip_prefix("-I").filter(|gap| !gap.is_empty())?;
                    invoked.gap = Some(gap.to_owned());
                }
            }
            rest = behind.get(taken..)?;
        }
        invoked.command = rest.iter().map(|word| word.text.clone()).collect();
        if invoked.command.is_empty() {
            invoked.command.push("echo".to_owned());
        }
        invoked.is_each |= invoked.gap.is_some();
        Some(invoked)
    }

    /// The program as `find` starts it, with `{}` in place of what is found: nothing but a whole
    /// word is filled in, and none of them ends the action.
    fn search_command(&self) -> Option<Vec<String>> {
        let gap = self.gap.as_deref();
        let is_whole = |text: &str| {
            gap == Some(text) || !text.contains("{}") && !gap.is_some_and(|gap| text.contains(gap))
        };
        let texts = self.command.iter().map(String::as_str);
        if !texts.clone().all(|text| is_whole(text) && text != ";") {
            return None;
        }
        let fill = |text: &str| if gap == Some(text) { "{}" } else { text }.to_owned();
        let found = gap.is_none().then(|| "{}".to_owned());
        Some(texts.map(fill).chain(found).collect())
    }

    /// The loop around the program, and what is read before: lines one by one, or all.
    pub fn around(&self, line: PlainLine) -> Option<(&'static str, Vec<PlainLine>)> {
        match (&self.gap, self.is_each) {
            _ if self.is_batched => None,
            (Some(_), _) if self.is_null => None,
            (Some(_), _) => Some((
                "while read -r avocet_xargs_each || [ -n \"${avocet_xargs_each}\" ]\ndo ",
                Vec::new(),
            )),
            (None, true) if self.is_null => {
                Some(("IFS='\n'\nfor avocet_xargs_each in ${avocet_0}\ndo ", vec![line]))
            }
            (None, true) => Some(("for avocet_xargs_each in ${avocet_0}\ndo ", vec![line])),
            (None, false) if self.is_null => Some(("IFS='\n'\n", vec![line])),
            (None, false) => Some(("", vec![line])),
        }
    }

    /// The line that is run for each name, with a variable where the name is put into it.
    pub fn shell_line(&self) -> Option<String> {
        let gap = self.gap.as_deref().filter(|_| !self.is_null)?;
        let [shell, option, line] = self.command.as_slice() else { return None };
        let is_shell = ["sh", "bash"].contains(&shell.as_str()) && option == "-c";
        // What a quote keeps from the shell would be the name all the same.
        let is_sign = gap.chars().all(|c| c.is_ascii_punctuation());
        let is_plain = is_shell && is_sign && !line.contains(['\'', '\\', '$', '`']);
        is_plain.then(|| line.replace(gap, &format!("${{{EACH}}}")))
    }

    /// The name of the program, and its words.
    pub fn words(&self) -> Option<(String, Vec<KnownWord>)> {
        let (name, args) = self.command.split_first()?;
        let fill = |text: &String| match self.gap.as_deref() {
            Some(gap) if text.contains(gap) => {
                let parts = text.split(gap).map(quote_literal).collect::<Vec<_>>();
                let shown = Some(parts.join("\"${avocet_xargs_each}\""));
                KnownWord { text: text.replace(gap, UNKNOWN), shown }
            }
            _ => KnownWord { text: text.clone(), shown: None },
        };
        let found = match (&self.gap, self.is_each) {
            (Some(_), _) => None,
            (None, true) => Some(KnownWord::shown("\"${avocet_xargs_each}\"".to_owned())),
            (None, false) => Some(KnownWord::shown("${avocet_0}".to_owned())),
        };
        // A letter may be anywhere.
        let is_letters = |gap: &String| gap.chars().all(|c| c.is_ascii_alphanumeric());
        if self.gap.as_ref().is_some_and(is_letters) {
            return None;
        }
        let is_named = !self.gap.as_ref().is_some_and(|gap| name.contains(gap.as_str()));
        is_named.then(|| (name.clone(), args.iter().map(fill).chain(found).collect()))
    }
}
