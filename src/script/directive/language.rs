//! `$detectLang`: the language of a text, by its letters and its most frequent words.

use serde_json::Value;

use super::super::error::CallResult;
use super::super::run::arguments::ArgValues;
use super::super::run::frame::Frame;

/// Letters of one language alone, or of the one that they most likely are.
const LETTERS: &[(&str, &[std::ops::RangeInclusive<char>])] = &[
    ("Japanese", &['\u{3040}'..='\u{30ff}']),
    ("Korean", &['\u{1100}'..='\u{11ff}', '\u{ac00}'..='\u{d7af}']),
    ("Chinese", &['\u{3400}'..='\u{4dbf}', '\u{4e00}'..='\u{9fff}']),
    ("Russian", &['\u{400}'..='\u{4ff}']),
    ("Greek", &['\u{370}'..='\u{3ff}']),
    ("Arabic", &['\u{600}'..='\u{6ff}']),
    ("Hebrew", &['\u{590}'..='\u{5ff}']),
    ("Hindi", &['\u{900}'..='\u{97f}']),
    ("Thai", &['\u{e00}'..='\u{e7f}']),
];

/// Frequent words of languages in Latin letters, the most likely language first.
const WORDS: &[(&str, &[&str])] = &[
    ("English", &["the", "and", "of", "is", "to", "in", "that", "you", "my", "i", "it", "what"]),
    ("Spanish", &["el", "la", "los", "que", "y", "es", "una", "por", "mi", "con", "está", "qué"]),
    ("French", &["le", "la", "les", "et", "est", "une", "des", "je", "que", "dans", "vous", "mon"]),
    ("German", &["der", "die", "das", "und", "ist", "ein", "nicht", "ich", "mit", "zu", "wie"]),
    ("Italian", &["il", "che", "di", "e", "è", "una", "per", "non", "sono", "con", "mio", "gli"]),
    ("Portuguese", &["o", "que", "e", "é", "uma", "não", "para", "com", "meu", "você", "os"]),
];

/// `$detectLang: text` returns the English name of the language.
pub fn detect_language(_: &mut Frame, args: ArgValues) -> CallResult {
    let text = args.text("content").unwrap_or_default();
    Ok(Some(Value::from(language_of(&text))))
}

fn language_of(text: &str) -> &'static str {
    let count = |ranges: &[std::ops::RangeInclusive<char>]| {
        text.chars().filter(|c| ranges.iter().any(|range| range.contains(c))).count()
    };
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    // A Chinese letter says as much as a few Latin ones; Japanese texts have both kinds.
    let by_letters = LETTERS.iter().find(|(_, ranges)| count(ranges) * 5 > letters);
    if let Some((name, _)) = by_letters {
        return name;
    }
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let hits = |known: &[&str]| words.iter().filter(|word| known.contains(&word.as_str())).count();
    // Of equal counts the first row wins.
    let best = WORDS.iter().rev().max_by_key(|(_, known)| hits(known));
    best.map_or("English", |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_a_sentence_is_found() {
        for (text, language) in [
            ("I love my motherland and my hometown.", "English"),
            ("我爱我的祖国和故乡。", "Chinese"),
            ("请打开 README.md 文件", "Chinese"),
            ("これは本です", "Japanese"),
            ("안녕하세요", "Korean"),
            ("Где библиотека?", "Russian"),
            ("¿Dónde está la biblioteca?", "Spanish"),
            ("Je ne sais pas où est la gare", "French"),
            ("Ich weiß nicht, wo der Bahnhof ist", "German"),
            ("", "English"),
        ] {
            assert_eq!(language_of(text), language, "{text}");
        }
    }
}
