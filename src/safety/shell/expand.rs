//! Expands the words of a line as the shell would, where everything that decides it is known:
//! variables of our own list, `~`, braces, and the names that a pattern finds in the workspace.
//! Anything else is only known to the shell.

use std::path::{Path, PathBuf};

use super::super::{FileKind, PathKind, PolicyContext, paths, sensitive};
use super::ast::{Set, ShellWord, Trait, VariableUse, plain_substitution};
use super::brace_expansion;
use super::known::KnownWord;
use super::unknown::UNKNOWN;
use super::variables::{ShellVariables, is_free_name, is_one_word, made_name};
use avocet_core::text::quote_literal;

/// Entries of a folder that are looked at, and names that a pattern may find.
const MAX_ENTRIES: usize = 2000;
const MAX_NAMES: usize = 500;

/// Variables that only show something, for what the shell itself prints or compares.
const SHOWN: &[&str] = &[
    "USER",
    "LOGNAME",
    "PATH",
    "SHELL",
    "LANG",
    "TERM",
    "UID",
    "EUID",
    "HOSTNAME",
    "BASH_VERSION",
    "OSTYPE",
    "CI",
    "NODE_ENV",
    "VIRTUAL_ENV",
    "DISPLAY",
    "EDITOR",
    "PAGER",
    "JAVA_HOME",
    "GOPATH",
];

/// A substitution of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Substituted {
    /// As it is written.
    pub written: String,
    /// What it prints, if that is known.
    pub known: Option<String>,
    /// The variable that the shell keeps it in, if not.
    pub name: String,
    /// Whether it prints a list of names, revisions or numbers.
    pub is_listing: bool,
}

/// The variables among them that may hold the content of a file.
pub fn told_names(made: &[Substituted]) -> Vec<String> {
    let told = made.iter().filter(|one| one.known.is_none() && !one.is_listing);
    told.map(|one| one.name.clone()).collect()
}

/// Where words are expanded.
#[derive(Clone, Copy)]
pub struct ExpansionContext<'a> {
    pub policy_cx: PolicyContext<'a>,
    /// The folder of the command, where it can be only one.
    pub folder: Option<&'a Path>,
    /// Those that the line itself has set.
    pub variables: &'a ShellVariables,
}

/// What words are expanded by.
#[derive(Clone, Copy)]
pub struct Expander<'a> {
    pub context: ExpansionContext<'a>,
    /// What the substitutions of the words become.
    pub made: &'a [Substituted],
    /// Whether the shell itself takes the words, and only shows or compares them.
    pub shows: bool,
    /// The same, and it compares: a word stays one.
    pub compares: bool,
    /// Whether it is a program, whose words are looked at once more.
    pub takes: bool,
}

impl Expander<'_> {
    /// The words that a word becomes; `None`: only the shell knows.
    pub fn expand(&self, word: &ShellWord) -> Option<Vec<KnownWord>> {
        use Trait::{Braces, Coded, Pattern, Process, Quoted, QuotedSign, Variable};
        if word.has(Process) || word.has(Coded) && !word.text.chars().all(is_read_alike) {
            return None;
        }
        let spreads = word.has(Braces) || word.has(Pattern);
        if let Some(words) = self.split_known(word) {
            return words;
        }
        if word.has(Variable) || !word.variables.is_empty() {
            let known = self.fill_variables(word)?;
            if !spreads {
                return Some(vec![known]);
            }
            // No sign of the pattern comes from a value.
            let signs = |text: &str| text.matches(['*', '?', '[', '{']).count();
            let is_plain = known.shown.is_none() && signs(&known.text) == signs(&word.plain);
            let is_odd = word.has(Braces) || word.has(QuotedSign);
            let found = self.find_names(&known.text).filter(|_| is_plain && !is_odd)?;
            return Some(found.into_iter().map(KnownWord::literal).collect());
        }
        let starts_at_home = word.text.starts_with('~');
        if !spreads && !starts_at_home {
            return Some(vec![KnownWord::literal(&word.text)]);
        }
        // Which of the signs is quoted is not known here.
        if word.has(QuotedSign) || word.has(Quoted) && word.has(Braces) {
            return None;
        }
        let texts = if word.has(Braces) { spread(&word.text)? } else { vec![word.text.clone()] };
        let mut known = Vec::new();
        for text in texts {
            let text = if text.starts_with('~') { self.below_home(&text)? } else { text };
            if text.contains(['*', '?', '[']) {
                known.extend(self.find_names(&text)?.into_iter().map(KnownWord::literal));
            } else {
                known.push(KnownWord::literal(text));
            }
        }
        Some(known)
    }

    /// The words of a substitution without quotes that is a word by itself, where what it prints
    /// is known; the inner `None`: the shell would make more of them.
    fn split_known(&self, word: &ShellWord) -> Option<Option<Vec<KnownWord>>> {
        let [only] = word.variables.as_slice() else { return None };
        let all = self.context.variables.all_of(&only.written);
        if let Some(all) = all.filter(|_| only.written == word.text) {
            let is_known = |word: &KnownWord| only.is_quoted || is_one_word(&word.text);
            return Some(all.iter().all(is_known).then(|| all.clone()));
        }
        let known = self.made.iter().find(|one| one.written == only.written)?.known.as_ref()?;
        let is_whole = !only.is_quoted && only.written == word.text;
        let words = known.split_ascii_whitespace();
        let literal = |word: &str| is_one_word(word).then(|| KnownWord::literal(word));
        is_whole.then(|| words.map(literal).collect())
    }

    /// The only word that a word becomes.
    pub fn expand_one(&self, word: &ShellWord) -> Option<KnownWord> {
        let [only]: [KnownWord; 1] = self.expand(word)?.try_into().ok()?;
        Some(only)
    }

    /// The text of a word that is neither split nor matched with names: a value, or what is
    /// compared.
    pub fn fill_unsplit(&self, word: &ShellWord) -> Option<KnownWord> {
        if word.has(Trait::Process) || word.has(Trait::Coded) || word.text.contains('~') {
            return None;
        }
        self.fill_whole(word)
    }

    /// The same of a text in which `~` is a letter.
    pub fn fill_whole(&self, word: &ShellWord) -> Option<KnownWord> {
        if word.variables.is_empty() {
            return (!word.has(Trait::Variable)).then(|| KnownWord::literal(&word.text));
        }
        let mut whole = word.clone();
        whole.variables.iter_mut().for_each(|variable| variable.is_quoted = true);
        self.fill_variables(&whole)
    }

    /// The value that a variable is given.
    pub fn assigned(&self, set: &Set) -> Option<String> {
        let known = self.fill_unsplit(&set.word).filter(|known| known.shown.is_none())?;
        let value = known.text.strip_prefix(&set.name)?.strip_prefix('=')?;
        is_free_name(&set.name).then(|| value.to_owned())
    }

    fn below_home(&self, text: &str) -> Option<String> {
        let rest = text.strip_prefix('~')?;
        let known = rest.is_empty() || rest.starts_with('/');
        known
            .then(|| plain_path(&self.context.policy_cx.place.home))
            .flatten()
            .map(|home| home + rest)
    }

    fn fill_variables(&self, word: &ShellWord) -> Option<KnownWord> {
        // A `~` in front may be quoted or not.
        if word.variables.is_empty() || word.text.starts_with('~') {
            return None;
        }
        let mut text = String::new();
        let mut shown = String::new();
        let mut stays = false;
        let mut done = 0_usize;

        // Nothing in quotes would be a word of its own beside what is split.
        let quoted = |text: &str| if text.is_empty() { String::new() } else { quote_literal(text) };
        for variable in &word.variables {
            let before = word.text.get(done..variable.at)?;
            let (value, kept) = self.value_of(variable)?;
            text += &format!("{before}{value}");
            stays |= kept.is_some();
            shown += &quoted(before);
            shown += &kept.unwrap_or_else(|| quoted(&value));
            done = variable.at + variable.written.len();
        }
        let rest = word.text.get(done..)?;
        shown += &quoted(rest);
        Some(KnownWord { text: text + rest, shown: stays.then_some(shown) })
    }

    /// The value of a variable, and what the shell is given where it is left to find it: the
    /// status of a command is some number.
    fn value_of(&self, variable: &VariableUse) -> Option<(String, Option<String>)> {
        let written = variable.written.as_str();
        if written.starts_with("$((") {
            return self.arithmetic_for_shell(written);
        }
        if written.starts_with("$(") {
            return self.substituted(variable);
        }
        let inside = written.strip_prefix('$')?;
        let inside = inside.strip_prefix('{').map_or(Some(inside), |it| it.strip_suffix('}'))?;
        if let Some(name) = inside.strip_prefix('#').filter(|name| is_free_name(name)) {
            return self.length_of(name);
        }
        let end = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '?');
        let (name, cut) = inside.split_at_checked(end.unwrap_or(inside.len()))?;
        let kept = Some(format!("\"${{{name}{cut}}}\""));
        match name {
            "PIPESTATUS" if self.shows && is_place(cut) => Some(("0".to_owned(), kept)),
            _ if !cut.is_empty()
                && !is_cut(cut)
                && !is_fallback(cut)
                && replaced(cut).is_none() =>
            {
                None
            }
            name if name.bytes().all(|b| b.is_ascii_digit()) => self.argument(name, cut, variable),
            name if self.context.variables.is_made(name) => {
                let (text, kept) = self.shown_later(name, variable)?;
                Some((text, kept.map(|kept| kept.replace('}', &format!("{cut}}}")))))
            }
            name if self.context.variables.has(name) => {
                let value = self.context.variables.value_of(name, variable)?;
                Some((without_cut(&value, cut), None))
            }
            "HOME" | "PWD" => {
                let home = &*self.context.policy_cx.place.home;
                let path = if name == "HOME" { home } else { self.context.folder? };
                Some((without_cut(&plain_path(path)?, cut), None))
            }
            "?" if self.shows && cut.is_empty() => Some(("0".to_owned(), kept)),
            name if self.shows && SHOWN.contains(&name) => Some((written.to_owned(), kept)),
            _ => None,
        }
    }

    /// `${#x}`: how many letters a value has.
    fn length_of(&self, name: &str) -> Option<(String, Option<String>)> {
        if self.context.variables.is_made(name) {
            let kept = format!("\"${{#{}}}\"", made_name(name));
            return (self.shows || self.takes).then_some((UNKNOWN.to_owned(), Some(kept)));
        }
        let variable_use = VariableUse { at: 0, written: String::new(), is_quoted: true };
        let value = self.context.variables.value_of(name, &variable_use)?;
        value.is_ascii().then(|| (value.len().to_string(), None))
    }

    /// One of the words that a function was called with.
    fn argument(
        &self,
        name: &str,
        cut: &str,
        variable: &VariableUse,
    ) -> Option<(String, Option<String>)> {
        let at = name.parse::<usize>().ok()?.checked_sub(1)?;
        let given = self.context.variables.arguments.as_deref().unwrap_or_default().get(at);
        let KnownWord { text, shown } = given.cloned().unwrap_or(KnownWord::literal(""));
        let value = without_cut(&text, cut);
        let is_one = variable.is_quoted || is_one_word(&value);
        (is_one && (shown.is_none() || cut.is_empty())).then_some((value, shown))
    }

    fn arithmetic_for_shell(&self, written: &str) -> Option<(String, Option<String>)> {
        let sum = self.sum(written.strip_prefix("$((")?.strip_suffix("))")?)?;
        let shown = if self.takes {
            format!("\"$(avocet_digits \"$(({sum}))\")\"")
        } else {
            format!("\"$(({sum}))\"")
        };
        (self.shows || self.takes).then_some((UNKNOWN.to_owned(), Some(shown)))
    }

    /// What the shell works out: of numbers, and of variables that it looks at before. Anything
    /// else would be evaluated.
    pub fn sum(&self, text: &str) -> Option<String> {
        let mut sum = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if let Some(written) = plain_substitution(rest) {
                let made = self.made.iter().find(|one| one.written == written)?;
                sum += &match &made.known {
                    Some(known) => {
                        Some(known.clone()).filter(|known| !known.is_empty() && is_number(known))?
                    }
                    None => format!("$(avocet_digits \"${{{}}}\" -)", made_name(&made.name)),
                };
                rest = rest.get(written.len()..)?;
                continue;
            }
            if rest.starts_with("++") || rest.starts_with("--") {
                return None;
            }
            let is_name = |c: char| c.is_ascii_alphanumeric() || "_${}".contains(c);
            let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len()).max(first.len_utf8());
            let (word, behind) = rest.split_at_checked(length)?;
            rest = behind;
            let name = word.trim_start_matches('$').trim_matches(['{', '}']);
            if is_number(word) || " \n\t+-*/%()<>!".contains(word) {
                sum += word;
            } else if ["=", "&", "|"].contains(&word) && rest.starts_with(word) {
                rest = rest.get(1..)?;
                sum += &word.repeat(2);
            } else if word == "=" && sum.ends_with(['<', '>', '!']) {
                sum += word;
            } else if self.context.variables.is_made(name) {
                sum += &format!("$(avocet_digits \"${{{}}}\" -)", made_name(name));
            } else {
                let variable_use = VariableUse { at: 0, written: String::new(), is_quoted: true };
                let value = self.context.variables.value_of(name, &variable_use)?;
                sum += is_number(&value).then_some(value.as_str()).filter(|it| !it.is_empty())?;
            }
        }
        Some(sum)
    }

    /// What a substitution becomes: its text, or a variable that the shell sets before.
    fn substituted(&self, variable: &VariableUse) -> Option<(String, Option<String>)> {
        let made = self.made.iter().find(|one| one.written == variable.written)?;
        match &made.known {
            Some(text) => (variable.is_quoted || is_one_word(text)).then(|| (text.clone(), None)),
            None => self.shown_later(&made.name, variable),
        }
    }

    /// A value that only the shell will know.
    fn shown_later(&self, name: &str, variable: &VariableUse) -> Option<(String, Option<String>)> {
        let is_one = variable.is_quoted || self.compares || self.context.variables.is_single(name);
        let name = made_name(name);
        let kept = if is_one { format!("\"${{{name}}}\"") } else { format!("${{{name}}}") };
        (self.shows || self.takes).then_some((UNKNOWN.to_owned(), Some(kept)))
    }

    /// The names that a pattern finds, sorted; the pattern itself where it finds none.
    fn find_names(&self, pattern: &str) -> Option<Vec<String>> {
        if pattern.contains('[') && !has_plain_lists(pattern) {
            return None;
        }
        let folder = self.context.folder?;
        let (text, root) = match pattern.strip_prefix('/') {
            Some(_) => ("/".to_owned(), PathBuf::from("/")),
            None => (String::new(), folder.to_owned()),
        };
        let mut found = vec![(text, root)];
        let mut parts = pattern.trim_start_matches('/').split('/').peekable();
        let mut searched = false;
        while let Some(part) = parts.next() {
            let is_last = parts.peek().is_none();
            let end = if is_last { "" } else { "/" };
            if part.contains(['*', '?', '[']) {
                searched = true;
                found = self.find_in(&found, part, is_last)?;
            } else {
                found.iter_mut().for_each(|(text, path)| {
                    text.push_str(part);
                    path.push(part);
                });
                found.retain(|(_, path)| {
                    !searched || self.context.policy_cx.world.kind(path) != PathKind::Missing
                });
            }
            found.iter_mut().for_each(|(text, _)| text.push_str(end));
        }
        let mut names: Vec<String> = found.into_iter().map(|(text, _)| text).collect();
        names.sort_unstable();
        Some(if names.is_empty() { vec![pattern.to_owned()] } else { names })
    }

    /// The entries of the folders that one part of a pattern fits. Files with a dot in front
    /// are found by no part, and those that begin as an option are judged as one.
    fn find_in(
        &self,
        folders: &[(String, PathBuf)],
        part: &str,
        is_last: bool,
    ) -> Option<Vec<(String, PathBuf)>> {
        if part.starts_with('.') {
            return None;
        }
        let world = self.context.policy_cx.world;
        let mut found = Vec::new();
        for (text, folder) in folders {
            let real = world.resolve(folder);
            if !paths::is_readable(&real, self.context.policy_cx.place) {
                return None;
            }
            let entries = world.entries(&real, MAX_ENTRIES + 1);
            if entries.len() > MAX_ENTRIES {
                return None;
            }
            for (path, kind) in entries {
                let name = path.file_name()?.to_str()?;
                let fits = sensitive::matches_glob(part.as_bytes(), name.as_bytes());
                let leads = || kind == FileKind::Folder || world.kind(&path) == PathKind::Folder;
                if name.starts_with('.') || !fits || !(is_last || leads()) {
                    continue;
                }
                // A sign is more than one byte there.
                if part.contains(['?', '[']) && !name.is_ascii() {
                    return None;
                }
                found.push((format!("{text}{name}"), folder.join(name)));
            }
            if found.len() > MAX_NAMES {
                return None;
            }
        }
        Some(found)
    }
}

/// Whether the rest of `${x%.py}` takes a beginning or an end away.
fn is_cut(text: &str) -> bool {
    let pattern = text.trim_start_matches(['%', '#']);
    (1..3).contains(&(text.len() - pattern.len()))
        && (text.starts_with('%') || !text.contains('%'))
        && (text.starts_with('#') || !text.contains('#'))
        && pattern.chars().all(|c| c.is_ascii_alphanumeric() || "._-/*?".contains(c))
}

/// Whether the rest of `${x:-y}` is a plain text in place of nothing.
fn is_fallback(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/ ".contains(c);
    text.strip_prefix(":-").is_some_and(|text| text.chars().all(plain))
}

/// What `${x/y/z}` or `${x//y/z}` looks for and puts in its place, where both are plain, and whether
/// everywhere.
fn replaced(text: &str) -> Option<(&str, &str, bool)> {
    let rest = text.strip_prefix('/')?;
    let everywhere = rest.strip_prefix('/');
    let rest = everywhere.unwrap_or(rest);
    let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_plain = !from.is_empty() && from.chars().all(plain);
    let is_whole = to.chars().all(|c| plain(c) || c == '/');
    (is_plain && is_whole).then_some((from, to, everywhere.is_some()))
}

/// Whether the rest of `${x[0]}` is the place of one, or all of them.
fn is_place(text: &str) -> bool {
    let place = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    place.is_some_and(|place| {
        place == "@" || place.len() == 1 && place.bytes().all(|b| b.is_ascii_digit())
    })
}

/// A value without what such a cut takes away.
fn without_cut(value: &str, cut: &str) -> String {
    if let Some(fallback) = cut.strip_prefix(":-") {
        return if value.is_empty() { fallback } else { value }.to_owned();
    }
    match replaced(cut) {
        Some((from, to, true)) => return value.replace(from, to),
        Some((from, to, false)) => return value.replacen(from, to, 1),
        None => {}
    }
    let pattern = cut.trim_start_matches(['%', '#']);
    let fits = |part: &str| sensitive::matches_glob(pattern.as_bytes(), part.as_bytes());
    let parts = value.char_indices().map(|(at, _)| at).chain([value.len()]);
    let parts = parts.filter_map(|at| value.split_at_checked(at));
    let of_end = cut.starts_with('%');
    let mut kept = parts.filter_map(|(before, behind)| {
        let (kept, taken) = if of_end { (before, behind) } else { (behind, before) };
        fits(taken).then_some(kept)
    });
    let is_longest = cut.len() - pattern.len() == 2;
    // An end is the longest where it is found first, a beginning where it is found last.
    let kept = if of_end == is_longest { kept.next() } else { kept.next_back() };
    kept.filter(|_| !cut.is_empty()).unwrap_or(value).to_owned()
}

/// Whether `[…]` only lists letters, which means the same everywhere.
fn has_plain_lists(pattern: &str) -> bool {
    let lists = pattern.split('[').skip(1);
    lists.map(|rest| rest.split_once(']')).all(|list| {
        list.is_some_and(|(inside, _)| {
            !inside.is_empty() && inside.bytes().all(|b| b.is_ascii_alphanumeric())
        })
    })
}

/// The words of braces that are not nested and list words or numbers: `{a,b}`, `{1..3}`.
fn spread(text: &str) -> Option<Vec<String>> {
    let nested = text.split('}').any(|part| part.matches('{').count() > 1);
    let words = brace_expansion::expand(text);
    (!nested && !words.iter().any(|word| word.contains(['{', '}']))).then_some(words)
}

/// A path that a shell takes as one word, quoted or not.
fn plain_path(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    let plain = |c: char| c.is_alphanumeric() || "/._-+@,".contains(c);
    text.chars().all(plain).then(|| text.to_owned())
}

/// A letter that every reader of `$'…'` takes for the same.
fn is_read_alike(letter: char) -> bool {
    matches!(letter, ' '..='~' | '\t' | '\n')
}

/// A number that no shell takes for one to another base.
fn is_number(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'))
}
