//! Writes what a line gives to variables: values, numbers that it counts, and lines that it reads.

use super::ast::{InputText, Joint, Set, ShellWord, Simple, Trait};
use super::expand::{Substituted, told_names};
use super::plain::{PlainLine, PlainSegment};
use super::variables::is_free_name;
use super::writer::PlainWriter;
use avocet_core::text::quote_literal;

impl PlainWriter<'_> {
    /// `read`, as the condition of a loop or from a file or a text: the shell keeps each line in
    /// variables.
    pub(super) fn write_read(&mut self, simple: &Simple, redirects: &str) -> Option<()> {
        let is_condition = matches!(self.line.0.last(), Some(PlainSegment::Text(text)) if text.ends_with("while "));
        let split = match simple.sets.as_slice() {
            [] => String::new(),
            [Set { name, value, word, elements: None }]
                if name == "IFS" && !word.needs_expansion() =>
            {
                let is_sign = value.len() < 2 && value.chars().all(|c| ",:;|/= \t".contains(c));
                is_sign.then(|| format!("IFS={} ", quote_literal(value)))?
            }
            _ => return None,
        };
        let input = match &simple.input {
            Some(InputText::Word(word)) if self.shell.is_bash && redirects.is_empty() => {
                word.substitutions().next().is_none().then_some(())?;
                format!(" <<< {}", self.expander("echo", &[]).fill_unsplit(word)?.quoted())
            }
            Some(_) => return None,
            None => redirects.to_owned(),
        };
        // Of a loop each round would begin again.
        if is_condition != input.is_empty() || !is_condition && !input.contains(" <") {
            return None;
        }
        let (_, rest) = simple.words.split_first()?;
        let is_option = |word: &&ShellWord| word.is_keyword("-r");
        let is_listing = self.line.feeds_listing(" | while ");
        let mut written = format!("{split}read -r");
        for word in rest.iter().filter(|word| !is_option(word)) {
            let is_name = !word.has(Trait::Quoted) && !word.needs_expansion();
            written += " ";
            if word.is_keyword("_") {
                written += "avocet__rest";
                continue;
            }
            let is_repeated = self.repeated > usize::from(is_condition);
            self.variables.mark_listed(&word.text, is_listing, is_repeated)?;
            written += &self.variables.make(&word.text).filter(|_| is_name)?;
        }
        self.push_text(&(written + &input));
        rest.iter().any(|word| !is_option(&word)).then_some(())
    }

    /// Variables that are set for what follows: it gets the values, and the shell nothing.
    pub(super) fn assign(&mut self, simple: &Simple, happens: bool) -> Option<()> {
        let is_array = |set: &Set| set.elements.is_some() || self.variables.is_array(&set.name);
        if simple.sets.iter().any(is_array) {
            return self.assign_array(simple, happens);
        }
        let (made, lines) = self.substitute(simple.sets.iter().map(|set| &set.word))?;
        let is_later = |set: &Set| {
            let known = self.expander("echo", &made).fill_unsplit(&set.word);
            self.variables.is_kept(&set.name) || known.is_some_and(|known| known.shown.is_some())
        };
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

    /// An array of words that are known, which is set once and whatever else happens.
    fn assign_array(&mut self, simple: &Simple, happens: bool) -> Option<()> {
        let [Set { name, word, elements: Some(elements), .. }] = simple.sets.as_slice() else {
            return None;
        };
        let is_odd = |word: &ShellWord| word.text.starts_with(['#', '[']);
        let is_plain = self.shell.is_bash && happens && self.depth == 0 && is_free_name(name);
        if !is_plain
            || word.text.strip_suffix('=') != Some(name.as_str())
            || self.variables.has(name)
            || elements.iter().any(is_odd)
        {
            return None;
        }
        let expander = self.expander("", &[]);
        let values = elements.iter().map(|word| expander.expand(word));
        let values = values.collect::<Option<Vec<_>>>()?.concat();
        let is_known = values.iter().all(|value| value.shown.is_none());
        self.finds_names |= elements.iter().any(|word| word.has(Trait::Pattern));
        self.variables.arrays.push(Some((name.clone(), values)).filter(|_| is_known)?);
        self.push_text(":");
        self.certain = true;
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
            let text = known.text.strip_prefix(name.as_str())?;
            let is_number = text.trim_start_matches('=').bytes().all(|b| b.is_ascii_digit());
            // A number, or nothing but what is one, or a list.
            let is_listing = is_number && !self.variables.are_told_in(&known, &told_names(made))
                || word.substitutions().next().is_some()
                    && made.iter().all(|one| one.known.is_some() || one.is_listing);
            self.variables.mark_listed(name, is_listing, self.repeated > 0)?;
            // In a sum it would be evaluated.
            if known.shown.is_none() && text.contains(['[', '$', '`']) {
                return None;
            }
            let own = self.variables.make(name)?;
            let sign = if text.starts_with("+=") && self.shell.is_bash { "+=" } else { "=" };
            let value = known.quoted();
            let value = value.strip_prefix(&format!("'{name}{sign}"))?;
            self.push_text(&format!("{own}{sign}'{value} "));
        }
        Some(())
    }

    /// `((…))`: what it gives to a variable, and whether that is other than zero.
    pub(super) fn write_sum(&mut self, text: &str) -> Option<()> {
        self.close(false)?;
        self.folders.start_command(Joint::Or);
        self.certain = false;
        self.written = None;
        let text = text.trim();
        let step = ["++", "--"].into_iter().find_map(|sign| {
            let after =
                text.strip_suffix(sign).map(|name| (name, if sign == "++" { 1 } else { -1 }));
            after.or_else(|| Some((text.strip_prefix(sign)?, 0)).filter(|_| sign == "++"))
        });
        let given = text
            .split_once('=')
            .filter(|(name, value)| !name.contains(['<', '>', '!']) && !value.starts_with('='));
        let (name, sum, back) = match (step, given) {
            (Some((name, back)), _) => {
                let sign = if back < 0 { '-' } else { '+' };
                (name.trim(), format!("{name} {sign} 1"), back)
            }
            (None, Some((name, value))) => match name.trim_end().strip_suffix(['+', '-', '*']) {
                Some(bare) => {
                    let sign = name.trim_end().get(bare.len()..)?;
                    (bare.trim(), format!("{bare} {sign} ({value})"), 0)
                }
                None => (name.trim(), value.to_owned(), 0),
            },
            (None, None) => {
                let sum = self.expander("echo", &[]).sum(text)?;
                self.push_text(&format!("{{ [ \"$(({sum}))\" -ne 0 ]\n}}"));
                return Some(());
            }
        };
        let sum = self.expander("echo", &[]).sum(&sum)?;
        self.variables.mark_listed(name, true, true)?;
        let own = self.variables.make(name)?;
        self.push_text(&format!(
            "{{ {own}=\"$(({sum}))\" && [ \"$(($(avocet_digits \"${{{own}}}\" -) - ({back})))\" -ne 0 ]\n}}"
        ));
        Some(())
    }
}
