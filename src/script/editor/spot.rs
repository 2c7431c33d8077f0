//! What is at a place of a text, as far as its line and the lines above it tell: scripts are often
//! incomplete while they are written.

use super::position::{EditorPosition, SourceLines};

/// The meaning of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpotKind {
    /// A key of the head, below these keys, the closest first.
    Key(Vec<String>),
    /// The value of a key of the head, with those above it, the closest first.
    Value(Vec<String>),
    /// `$name`.
    Call,
    /// The ID of a script.
    Script,
    Variable,
    Filter,
    /// The name of an input of the script that is called here.
    Input(String),
    /// The value of the second, an input of the first, a script.
    InputValue(String, String),
    /// A role that a message is addressed to.
    Role,
    /// A parameter of a mark, `[[NAME:parameter=1]]`.
    Parameter,
    /// The first word of a line of the body.
    LineStart,
    /// Plain text.
    Text,
}

/// A word of a line, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot<'a> {
    pub kind: SpotKind,
    pub word: &'a str,
    pub start: usize,
    pub end: usize,
}

/// Settings whose value, or the names below them, are scripts.
const SCRIPT_KEYS: &[&str] = &["type", "extends", "roles", "tools", "import", "export"];
/// Directives whose value is an expression or a name.
const VALUE_DIRECTIVES: &[&str] = &["$if", "$while", "$for", "$match", "$get", "$unset"];

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$')
}

fn is_id(letter: char) -> bool {
    is_word(letter) || matches!(letter, '-' | '.' | '/' | ':')
}

fn word_around(line: &str, at: usize, is_part: fn(char) -> bool) -> (usize, usize) {
    let (before, after) = line.split_at_checked(at).unwrap_or((line, ""));
    let start = before.trim_end_matches(is_part).len();
    let end = line.len() - after.trim_start_matches(is_part).len();
    (start, end)
}

/// The word at a place, and what it means there. `head` are the lines of the head.
pub fn spot_at<'a>(
    lines: &SourceLines<'a>,
    position: EditorPosition,
    head: Option<&std::ops::Range<u32>>,
) -> Spot<'a> {
    let line = lines.get(position.line);
    let byte = lines.byte_at(position);
    let in_head = head.is_some_and(|head| head.contains(&position.line));
    let of = |kind: SpotKind, (start, end): (usize, usize)| {
        let word = line.get(start..end).unwrap_or_default();
        Spot { kind, word, start, end }
    };
    let wide = word_around(line, byte, is_id);
    let plain = word_around(line, byte, is_word);
    let before_wide = line.get(..wide.0).unwrap_or_default();
    let before = line.get(..plain.0).unwrap_or_default();
    let word = line.get(plain.0..plain.1).unwrap_or_default();
    if in_head {
        return match head_kind(lines, position.line, before) {
            SpotKind::Value(keys) if is_script_value(&keys) => of(SpotKind::Script, wide),
            kind => of(kind, plain),
        };
    }
    if let Some(kind) = argument_kind(before) {
        return of(kind, plain);
    }
    let is_link = before_wide.trim_end().ends_with("->") || before_wide.ends_with("[[@");
    match word {
        _ if is_link && !word.starts_with('$') => of(SpotKind::Script, wide),
        _ if is_address(before) => of(SpotKind::Role, plain),
        _ if is_target(before_wide) => of(SpotKind::Script, wide),
        _ if word.starts_with('$') || before.ends_with("$|") => of(SpotKind::Call, plain),
        _ => of(body_kind(before), plain),
    }
}

/// What an argument of a script's call means that begins here.
fn argument_kind(before: &str) -> Option<SpotKind> {
    let (call, args) = before.rsplit_once('(').filter(|(_, args)| !args.contains(')'))?;
    let marks = ["->", "[[@"].into_iter().filter_map(|mark| call.rsplit_once(mark));
    let script = marks.map(|(_, script)| script.trim_start()).min_by_key(|it| it.len())?;
    if script.is_empty() || script.starts_with('$') || !script.chars().all(is_id) {
        return None;
    }
    let argument = args.rsplit(',').next()?.trim_start();
    match argument.split_once('=') {
        None => argument.is_empty().then(|| SpotKind::Input(script.to_owned())),
        Some((name, value)) => {
            let kind = || SpotKind::InputValue(script.to_owned(), name.trim_end().to_owned());
            value.trim().is_empty().then(kind)
        }
    }
}

/// Whether a message is addressed to the name that begins here; mail addresses are text.
fn is_address(before: &str) -> bool {
    let Some(before) = before.strip_suffix('@') else { return false };
    !before.ends_with("[[") && !before.ends_with(is_word)
}

/// Whether the value of a directive that names a script begins here.
fn is_target(before: &str) -> bool {
    let item = before.trim_start_matches([' ', '-']);
    let Some((directive, rest)) = item.split_once([':', '(']) else { return false };
    let names: &[&str] = match directive {
        "$exec" => &["id", "filename", "script"],
        "$tool" | "$pipe" => &["name"],
        _ => return false,
    };
    let rest = rest.trim_end_matches(['"', '\'']);
    let rest = rest.trim_end();
    let key = rest.strip_suffix([':', '=']).map(|rest| rest.trim_end());
    rest.is_empty()
        || key.is_some_and(|key| {
            names.iter().any(|name| key.trim_start_matches(['{', ' ', ',', '(']).ends_with(name))
        })
}

fn is_script_value(keys: &[String]) -> bool {
    keys.first().is_some_and(|key| SCRIPT_KEYS.contains(&key.as_str()))
        || keys.get(1).is_some_and(|key| key == "roles")
}

/// The keys of the head above the value at a place, the closest first.
pub(super) fn keys_above(lines: &SourceLines<'_>, position: EditorPosition) -> Vec<String> {
    let line = lines.get(position.line);
    let (start, _) = word_around(line, lines.byte_at(position), is_word);
    match head_kind(lines, position.line, line.get(..start).unwrap_or_default()) {
        SpotKind::Value(keys) | SpotKind::Key(keys) => keys,
        _ => Vec::new(),
    }
}

/// The directive that a line of the body belongs to, if a key of it may begin there.
pub(super) fn directive_above(lines: &SourceLines<'_>, number: u32) -> Option<String> {
    let indent = indent_of(lines.get(number));
    let above = lines.iter().take(usize::try_from(number).unwrap_or(0)).rev();
    for (_, line) in above.filter(|(_, line)| !line.trim().is_empty()) {
        let other = indent_of(line);
        if other < indent || indent == 0 {
            return None;
        }
        if other == indent {
            if let Some(key) = key_of(line).filter(|key| key.starts_with('$')) {
                return Some(key);
            }
            if line.trim_start().starts_with('-') {
                return None;
            }
        }
    }
    None
}

fn head_kind(lines: &SourceLines<'_>, number: u32, before: &str) -> SpotKind {
    let (mut keys, own) = open_keys(before);
    let mut indent = indent_of(lines.get(number));
    for (_, line) in lines.iter().take(usize::try_from(number).unwrap_or(0)).rev() {
        let other = indent_of(line);
        if other < indent && !line.trim().is_empty() && !line.starts_with("---") {
            indent = other;
            keys.extend(key_of(line));
        }
    }
    match own {
        Some(own) => SpotKind::Value([vec![own], keys].concat()),
        // An item of a list is a value: the key of the list is known.
        None if before.trim_start().starts_with('-') && !before.contains('{') => {
            SpotKind::Value(keys)
        }
        None => SpotKind::Key(keys),
    }
}

/// The keys whose braces are open at the end of a text, the closest first, and the key whose value
/// begins there.
fn open_keys(before: &str) -> (Vec<String>, Option<String>) {
    let mut stack: Vec<Option<String>> = Vec::new();
    let mut word = String::new();
    let mut key: Option<String> = None;
    for letter in before.chars() {
        match letter {
            ':' => key = Some(std::mem::take(&mut word)).filter(|it| !it.is_empty()).or(key),
            '{' => {
                stack.push(key.take());
                word.clear();
            }
            '}' => {
                stack.pop();
                key = None;
            }
            ',' => {
                key = None;
                word.clear();
            }
            letter if is_word(letter) => word.push(letter),
            _ => word.clear(),
        }
    }
    (stack.into_iter().rev().flatten().collect(), key)
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '-']).len()
}

fn key_of(line: &str) -> Option<String> {
    let (key, _) = line.split_once(':')?;
    let key = key.trim_start_matches([' ', '-']).trim_matches(['"', '\'']);
    key.chars().all(is_word).then(|| key.to_owned()).filter(|key| !key.is_empty())
}

fn body_kind(before: &str) -> SpotKind {
    let is_open = |open: &str, close: &str| {
        before.rfind(open).is_some_and(|at| before.rfind(close).is_none_or(|end| end < at))
    };
    if is_open("{{", "}}") || is_open("{%", "%}") {
        let trimmed = before.trim_end();
        return if trimmed.ends_with('|') && !trimmed.ends_with("||") {
            SpotKind::Filter
        } else {
            SpotKind::Variable
        };
    }
    let mark = before.rsplit_once("[[").map(|(_, mark)| mark).filter(|_| is_open("[[", "]]"));
    let options =
        mark.filter(|mark| !mark.starts_with(['@', '/'])).and_then(|mark| mark.split_once(':'));
    if options.is_some_and(|(_, options)| {
        !options.contains('|') && (options.trim().is_empty() || options.trim_end().ends_with(','))
    }) {
        return SpotKind::Parameter;
    }
    let item = before.trim_start_matches([' ', '-']);
    let first = item.split_once(':').map(|(key, _)| key);
    let is_value = first.is_some_and(|key| {
        VALUE_DIRECTIVES.contains(&key) || key.starts_with("$set") || key.starts_with("$push")
    });
    let is_head_of_line = item.trim_start_matches(['"', '\'']).is_empty();
    match () {
        () if is_open("[[", "]]") || is_value || before.contains("?=") => SpotKind::Variable,
        () if is_open("(", ")") && item.starts_with('$') => SpotKind::Variable,
        () if is_open("(", ")") && item.starts_with("->") => SpotKind::Variable,
        () if is_head_of_line => SpotKind::LineStart,
        () => SpotKind::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The spot at `|` of a text.
    fn spot(text: &str) -> (SpotKind, String) {
        let before = text.split('|').next().unwrap();
        let line = u32::try_from(before.matches('\n').count()).unwrap();
        let last = before.rsplit('\n').next().unwrap();
        let character = u32::try_from(last.encode_utf16().count()).unwrap();
        let text = text.replacen('|', "", 1);
        let lines = SourceLines::new(&text);
        let head = text.starts_with("---\n").then(|| {
            let end = text.split('\n').skip(1).position(|line| line == "---");
            1..end.map_or(u32::MAX, |end| u32::try_from(end + 1).unwrap())
        });
        let found = spot_at(&lines, EditorPosition { line, character }, head.as_ref());
        (found.kind, found.word.to_owned())
    }

    fn keys(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_word_of_the_body_is_told_by_what_is_before_it() {
        for (text, kind, word) in [
            ("$se|t: {a: 1}", SpotKind::Call, "$set"),
            ("user: \"[[@trans|lator(a=1)]]\"", SpotKind::Script, "translator"),
            ("user: \"[[@$ec|ho(1)]]\"", SpotKind::Call, "$echo"),
            ("-> my-scri|pt -> $print", SpotKind::Script, "my-script"),
            ("-> my-script -> $pri|nt", SpotKind::Call, "$print"),
            ("user: \"你好 {{na|me}}\"", SpotKind::Variable, "name"),
            ("user: \"{{name}} na|me\"", SpotKind::Text, "name"),
            ("user: \"[[A|B]]\"", SpotKind::Variable, "AB"),
            ("- $if: \"cou|nt > 1\"", SpotKind::Variable, "count"),
            ("$echo: \"?=a + b|c\"", SpotKind::Variable, "bc"),
            ("us|er: x", SpotKind::LineStart, "user"),
            ("assistant: \"[[A:temp|erature=1]]\"", SpotKind::Parameter, "temperature"),
            ("$exec: {id: my-sc|ript}", SpotKind::Script, "my-script"),
            ("- $exec: my-sc|ript", SpotKind::Script, "my-script"),
            ("$pipe: {name: my-sc|ript, a: 1}", SpotKind::Script, "my-script"),
            ("$exec: {id: a, args: {content: so|me}}", SpotKind::Text, "some"),
            ("", SpotKind::LineStart, ""),
        ] {
            let text = if text.contains('|') { text.to_owned() } else { format!("{text}|") };
            assert_eq!(spot(&text), (kind, word.to_owned()), "{text}");
        }
        assert_eq!(
            spot("user: \"{{name ¦ up|per}}\"".replace('¦', "\u{7c}").as_str()).0,
            SpotKind::Variable,
            "the first bar is the place"
        );
    }

    #[test]
    fn a_key_of_the_head_knows_the_keys_above_it() {
        for (text, kind, word) in [
            ("---\nti|tle: x\n---\n", SpotKind::Key(vec![]), "title"),
            ("---\nparameters:\n  temp|", SpotKind::Key(keys(&["parameters"])), "temp"),
            ("---\nparameters: {te|", SpotKind::Key(keys(&["parameters"])), "te"),
            ("---\ninput:\n  - name: {re|", SpotKind::Key(keys(&["name", "input"])), "re"),
            ("---\ninput: [{name: {re|", SpotKind::Key(keys(&["name", "input"])), "re"),
            ("---\nrun_mode: se|", SpotKind::Value(keys(&["run_mode"])), "se"),
            ("---\ntype: ch|ar\n---\n", SpotKind::Script, "char"),
            ("---\ntools:\n  - my-to|ol\n", SpotKind::Script, "my-tool"),
            ("---\nroles:\n  ana: role-a|na\n", SpotKind::Script, "role-ana"),
        ] {
            assert_eq!(spot(text), (kind, word.to_owned()), "{text}");
        }
    }
}
