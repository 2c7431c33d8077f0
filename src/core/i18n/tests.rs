use std::collections::BTreeSet;

use super::*;

fn placeholders(text: &str) -> BTreeSet<&str> {
    text.split('{')
        .skip(1)
        .filter_map(|part| part.split_once('}').map(|(name, _)| name))
        .map(|name| name.split(':').next().unwrap_or(name))
        .collect()
}

#[test]
fn json_for_other_programs_has_the_sentence_next_to_the_key() {
    let inner = protocol::UNKNOWN_WORD.with("key", "a.B");
    let say = protocol::UNKNOWN_WORD.with("key", inner);
    let value = serde_json::to_value([&say]).expect("plain data");
    let json = json_with_text(value, Lang::Zh);
    let read: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(read[0]["text"], say.text(Lang::Zh));
    assert!(read[0]["values"][0][1]["text"].is_string(), "{json}");
    // The printed JSON can be read back unchanged.
    assert_eq!(serde_json::from_str::<Vec<LocalizedText>>(&json).expect("a sentence"), [say]);
}

#[test]
fn only_sentences_of_the_catalogue_get_a_text() {
    let data = serde_json::json!({ "key": "mine", "values": [1] });
    let json = json_with_text(data.clone(), Lang::En);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&json).expect("JSON"), data);
}

#[test]
fn every_key_is_unique() {
    let mut seen = BTreeSet::new();
    for word in all() {
        assert!(seen.insert(word.key), "{} stands twice", word.key);
    }
}

#[test]
fn both_languages_have_the_same_placeholders() {
    for word in all() {
        assert!(!word.en.trim().is_empty(), "{}: no English", word.key);
        assert!(!word.zh.trim().is_empty(), "{}: no Chinese", word.key);
        assert_eq!(placeholders(word.en), placeholders(word.zh), "{}", word.key);
    }
}

#[test]
fn a_value_that_looks_like_a_placeholder_stays_as_it_is() {
    let word = Phrase { key: "t", en: "{a} and {b}", zh: "{a}与{b}" };
    let say = word.with("a", "{b}").with("b", "x");
    assert_eq!(say.text(Lang::En), "{b} and x");
    assert_eq!(say.text(Lang::Zh), "{b}与x");
}

#[test]
fn a_counted_word_agrees_with_its_number() {
    let word = Phrase { key: "t", en: "{n} {n:line was|lines were} cut", zh: "截去 {n} 行" };
    let said = |n: usize| word.with("n", n).text(Lang::En);
    assert_eq!((said(1).as_str(), said(0).as_str()), ("1 line was cut", "0 lines were cut"));
    assert_eq!(said(21), "21 lines were cut");
    assert_eq!(word.with("n", 1_usize).text(Lang::Zh), "截去 1 行");
}

/// Sentences in which the number is never one.
const NEVER_ONE: &[&str] = &[
    "safety.EDIT_AMBIGUOUS_NEAR",
    "safety.EDIT_LENIENT",
    "cli.MODEL_PRICES_LONG",
    "cli.MODEL_WINDOW",
    "guide.COUNTED_PART",
    "guide.FILE_HEAD",
    "linear.REWIND_WHAT",
    "protocol.TOO_MANY",
    "safety.EDIT_AMBIGUOUS",
    "safety.TOO_MANY_CHOICES",
    "safety.TOO_MANY_ITEMS",
    "screen.PANEL_TOO_NARROW",
    "session.FILES_CHANGED_MORE",
    "tools.LIST_CUT",
];

#[test]
fn a_number_that_may_be_one_does_not_stand_before_a_plural() {
    let keys: BTreeSet<&str> = all().map(|word| word.key).collect();
    // Others have a sentence of their own for one.
    let has_one = |key: &str| {
        let stem = key.trim_end_matches("_MANY");
        let bare = stem.trim_end_matches('S');
        let (area, name) = bare.split_once('.').unwrap_or(("", bare));
        let others = [
            format!("{key}_ONE"),
            format!("{stem}_ONE"),
            format!("{bare}_ONE"),
            format!("{area}.ONE_{name}"),
            format!("{}Y", bare.trim_end_matches("IE")),
            bare.trim_end_matches('E').to_owned(),
            bare.to_owned(),
        ];
        others.iter().any(|other| other != key && keys.contains(other.as_str()))
    };
    let plural = all().filter(|word| has_plain_plural(word.en)).map(|word| word.key);
    let wrong: Vec<&str> = plural.filter(|key| !has_one(key) && !NEVER_ONE.contains(key)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn has_plain_plural(text: &str) -> bool {
    text.split('{').skip(1).any(|part| {
        let Some((name, rest)) = part.split_once("} ") else { return false };
        let is_count = ["n", "count", "turns", "results", "files", "steps", "total", "users"];
        let word: String = rest.chars().take_while(|c| c.is_ascii_lowercase()).collect();
        is_count.contains(&name) && word.len() > 2 && word.ends_with('s')
    })
}

#[test]
fn backticks_of_our_own_words_mark_code_and_those_of_a_value_are_text() {
    let row = |en| Phrase { en, ..all().next().expect("the catalogue has rows") };
    let inner = row("{n:file|files} of `{name}`").with("n", 2).with("name", "a`b`c");
    let say = row("Say: {text}. {inner}").with("text", "`x` \u{fdd0}y").with("inner", inner);
    let code = |text: &str, is_code| SentencePart { text: text.to_owned(), is_code };
    assert_eq!(say.parts(Lang::En), [code("Say: `x` y. files of ", false), code("a`b`c", true)]);
    assert_eq!(say.text(Lang::En), "Say: `x` \u{fdd0}y. files of `a`b`c`");
    for phrase in all() {
        for text in [phrase.text(Lang::En), phrase.text(Lang::Zh)] {
            assert_eq!(text.matches('`').count() % 2, 0, "{text}");
        }
    }
}

#[test]
fn a_sentence_survives_a_round_trip_through_json() {
    let word = all().next().expect("the catalogue has rows");
    let say = word.with("a", "x").with("b", LocalizedText::from(word));
    let json = serde_json::to_string(&say).expect("plain data");
    assert_eq!(serde_json::from_str::<LocalizedText>(&json).expect("plain data"), say);
}

#[test]
fn a_sentence_of_another_version_is_still_read() {
    let say: LocalizedText = serde_json::from_str(r#"{"key":"a.GONE","values":[]}"#).expect("read");
    assert!(say.text(Lang::En).contains("a.GONE"), "{say}");
}

#[test]
fn the_language_is_parsed_from_lang() {
    assert_eq!(Lang::parse("zh_CN.UTF-8"), Some(Lang::Zh));
    assert_eq!(Lang::parse("en_US"), Some(Lang::En));
    assert_eq!(Lang::parse("C.UTF-8"), Some(Lang::En));
    assert_eq!(Lang::parse("fr_FR"), None);
}
