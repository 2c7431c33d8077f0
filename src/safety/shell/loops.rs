//! Writes loops, and the branches of `case`: what is compared there runs nothing.

use super::ast::{CaseHead, ForLoop, Joint, ShellWord, Trait};
use super::condition::written_pattern;
use super::expand::told_names;
use super::gaps::Token;
use super::known::KnownWord;
use super::variables::is_free_name;
use super::writer::PlainWriter;

impl<'a> PlainWriter<'a> {
    /// A loop is its body once for each value, and the shell gets no variable; where only the
    /// shell will know the values, it is a loop of the shell. Returns what comes after it.
    pub(super) fn write_loop<'t>(
        &mut self,
        for_loop: &ForLoop,
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
        let is_free = is_free_name(&for_loop.name) && !self.variables.is_array(&for_loop.name);
        if *first != Token::Do || self.open.is_some() || !is_free {
            return None;
        }
        self.folders.start_command(Joint::Or);
        // A remark, and no more words.
        if for_loop.words.iter().any(|word| word.text.starts_with('#') && !word.has(Trait::Quoted))
        {
            return None;
        }
        let (made, lines) = self.substitute(for_loop.words.iter())?;
        let values = |name: &str| -> Option<Vec<KnownWord>> {
            let expander = self.expander(name, &made);
            let values = for_loop.words.iter().map(|word| expander.expand(word));
            values.collect::<Option<Vec<_>>>().map(|values| values.concat())
        };
        let listed = values("for");
        let is_told = |word: &KnownWord| self.variables.are_told_in(word, &told_names(&made));
        let is_listing = listed.as_ref().is_some_and(|values| !values.iter().any(is_told));
        let values = listed.or_else(|| values("echo"))?;
        let around = self.finds_names;
        self.finds_names |= for_loop.words.iter().any(|word| word.has(Trait::Pattern));
        self.depth += 1;
        if values.iter().any(KnownWord::is_unknown) {
            self.push_text("{ ");
            self.write_substitutions(lines);
            self.variables.mark_listed(&for_loop.name, is_listing, self.repeated > 0)?;
            self.write_shell_loop(&for_loop.name, &values, body)?;
        } else {
            self.write_each(&for_loop.name, values, body)?;
        }
        self.push_text("}");
        self.depth -= 1;
        self.finds_names = around;
        self.written = None;
        tokens.get(end + 1..)
    }

    fn write_each(
        &mut self,
        name: &str,
        words: Vec<KnownWord>,
        tokens: &[Token<'a>],
    ) -> Option<()> {
        if self.variables.is_made(name) {
            return None;
        }
        let leaves = |token: &Token<'_>| match token {
            Token::Command(simple) => simple.words.first().is_some_and(is_leaving),
            _ => false,
        };
        // One that is left early is a loop of the shell with a branch for each value.
        if tokens.iter().any(leaves) {
            return self.write_branches(name, words, tokens);
        }
        let before = self.variables.clone();
        let around = std::mem::replace(&mut self.certain_depth, self.depth);
        self.push_text(if words.is_empty() { "{ :\n" } else { "{ " });
        for value in words {
            self.write_round(name, value, tokens)?;
            self.push_text("\n");
        }
        self.certain_depth = around;
        self.variables.forget_changes(&before);
        self.variables.set(name, None);
        Some(())
    }

    fn write_round(&mut self, name: &str, word: KnownWord, tokens: &[Token<'a>]) -> Option<()> {
        self.variables.set(name, Some(word.shown.is_none().then_some(word.text)?));
        self.written = None;
        self.write(tokens)?;
        self.close(false)
    }

    fn write_branches(
        &mut self,
        name: &str,
        words: Vec<KnownWord>,
        tokens: &[Token<'a>],
    ) -> Option<()> {
        let before = self.variables.clone();
        let numbers: String = (0..words.len()).map(|at| format!(" {at}")).collect();
        self.push_text(&format!(
            "{{ for avocet__each in{numbers}\ndo case \"${{avocet__each}}\" in\n"
        ));
        for (at, value) in words.into_iter().enumerate() {
            self.push_text(&format!("{at}) "));
            self.write_round(name, value, tokens)?;
            self.push_text("\n;;\n");
        }
        self.push_text("esac\ndone\n");
        self.variables.forget_changes(&before);
        self.variables.set(name, None);
        Some(())
    }

    fn write_shell_loop(
        &mut self,
        name: &str,
        words: &[KnownWord],
        tokens: &[Token<'a>],
    ) -> Option<()> {
        let shown: Vec<String> = words.iter().map(KnownWord::quoted).collect();
        let own = self.variables.make_single(name)?;
        self.push_text(&format!("set -f\nfor {own} in {}\ndo ", shown.join(" ")));
        self.repeated += 1;
        self.written = None;
        self.write(tokens)?;
        self.close(false)?;
        self.repeated -= 1;
        self.push_text("\ndone\n");
        Some(())
    }

    /// `case WORD in`: the word is only compared.
    pub(super) fn write_case(&mut self, head: &CaseHead) -> Option<()> {
        self.close(false)?;
        let (made, lines) = self.substitute(std::iter::once(&head.word))?;
        let word = self.expander("[[", &made).fill_unsplit(&head.word)?;
        self.folders.start_command(Joint::Or);
        self.depth += 1;
        self.push_text("{ ");
        self.write_substitutions(lines);
        self.push_text(&format!("case {} in\n", word.quoted()));
        Some(())
    }

    /// The patterns of a branch.
    pub(super) fn write_patterns(&mut self, words: &[ShellWord]) -> Option<()> {
        self.close(false)?;
        let written: Option<Vec<String>> = words.iter().map(written_pattern).collect();
        self.push_text(&format!("{}) ", written?.join("|")));
        self.written = None;
        Some(())
    }
}

fn is_leaving(word: &ShellWord) -> bool {
    ["break", "continue"].contains(&word.text.as_str())
}
