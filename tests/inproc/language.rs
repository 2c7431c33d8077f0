//! Measures how the code reads. Each figure may only get better: type names with several meanings,
//! comments in translated idiom, long functions.
//!
//! `cargo test --test inproc language:: -- --nocapture` prints the figures.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use avocet::i18n::{self, Phrase};

/// Comment lines with an idiom of [`IDIOMS`]; lower it when there are fewer.
const MOST_IDIOMS: usize = 82;

/// Lines of 99 in 100 functions. That none has more than 60 is held by clippy.
const LONGEST_OF_MOST: usize = 45;

/// Words that a maintainer would not use in these senses, each as a whole word.
const IDIOMS: &[&str] = &[
    "stand",
    "stands",
    "stood",
    "lie",
    "lies",
    "behind",
    "nobody",
    "somebody",
    "whoever",
    "a person",
    "the person",
    "people",
    "is no",
    "told",
    "said",
    "anew",
    "taken back",
];

struct Source {
    path: String,
    /// Without the tests at its end.
    text: String,
}

fn sources() -> Vec<Source> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, files);
            } else if path.extension().is_some_and(|end| end == "rs") {
                files.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    files.sort();
    let of = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
        let path = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        Source { path, text }
    };
    let is_test =
        |source: &Source| source.path.contains("/tests") || source.path.contains("_tests");
    files.into_iter().map(of).filter(|source| !is_test(source)).collect()
}

/// The name that a line declares as a public type.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(inside) => inside.split_once(')')?.1,
        None => rest,
    };
    let mut words = rest.split_whitespace();
    let is_type = ["struct", "enum", "trait", "type"].contains(&words.next()?);
    let name = words.next()?.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    is_type.then_some(name)
}

#[test]
fn no_new_public_type_has_the_name_of_another() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources() {
        for name in source.text.lines().filter_map(public_type) {
            places.entry(name.to_owned()).or_default().push(source.path.clone());
        }
    }
    let (names, types) = (places.len(), places.values().map(Vec::len).sum::<usize>());
    places.retain(|_, files| files.len() > 1);
    println!(
        "{types} public types share {names} names; {} names are used twice or more",
        places.len()
    );
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/language/homonyms.txt");
    let known: Vec<String> = fs::read_to_string(list).unwrap().lines().map(str::to_owned).collect();
    let new: Vec<_> = places.iter().filter(|(name, _)| !known.contains(name)).collect();
    assert!(new.is_empty(), "give these names that say what they belong to: {new:#?}");
    let mended: Vec<_> = known.iter().filter(|name| !places.contains_key(*name)).collect();
    assert!(mended.is_empty(), "take these out of homonyms.txt, it may only shrink: {mended:?}");
}

fn has_idiom(comment: &str) -> bool {
    let comment = comment.to_lowercase();
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '`';
    IDIOMS.iter().any(|idiom| {
        comment.match_indices(idiom).any(|(at, _)| {
            let before = comment.get(..at).and_then(|text| text.chars().next_back());
            let after = comment.get(at + idiom.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
    })
}

#[test]
fn comments_do_not_gain_translated_idioms() {
    let (mut comments, mut idioms) = (0, 0);
    let mut files: Vec<(usize, String)> = Vec::new();
    for source in sources() {
        let lines = source.text.lines().map(str::trim_start).filter(|line| line.starts_with("//"));
        let lines: Vec<_> = lines.collect();
        let found = lines.iter().filter(|line| has_idiom(line)).count();
        comments += lines.len();
        idioms += found;
        files.push((found, source.path));
    }
    files.sort_unstable_by(|one, two| two.cmp(one));
    println!("{idioms} of {comments} comment lines have an idiom; most in {:?}", &files[..5]);
    assert!(idioms <= MOST_IDIOMS, "{idioms} comment lines have an idiom, {MOST_IDIOMS} may");
}

/// English sentences that stand for two things, which Chinese tells apart.
const TWO_MEANINGS: &[&str] =
    &["Session", "yours", "refused", ", ", "{n} of {of}", "Run", "no", "set", "Read"];

#[test]
fn a_sentence_stands_once_in_the_catalogue() {
    let mut rows: BTreeMap<&str, Vec<Phrase>> = BTreeMap::new();
    for phrase in i18n::all() {
        rows.entry(phrase.en).or_default().push(phrase);
    }
    for (en, same) in rows.into_iter().filter(|(_, same)| same.len() > 1) {
        let keys: Vec<_> = same.iter().map(|phrase| phrase.key).collect();
        assert!(TWO_MEANINGS.contains(&en), "make these one phrase of `common`: {keys:?} {en:?}");
        let chinese: BTreeSet<_> = same.iter().map(|phrase| phrase.zh).collect();
        assert_eq!(chinese.len(), same.len(), "both languages say the same: {keys:?}");
    }
}

/// The lengths of all functions, by the indent of their first and last lines.
fn functions(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let is_function = code.contains("fn ")
            && !code.starts_with("//")
            // A trait's function without a body.
            && !code.ends_with(';')
            && code.split("fn ").next().is_some_and(|before| {
                before.split_whitespace().all(|word| {
                    word.starts_with("pub")
                        || ["async", "const", "super)", "crate)"].contains(&word)
                })
            });
        if !is_function {
            continue;
        }
        let end = format!("{}}}", " ".repeat(line.len() - code.len()));
        let length = lines[at..].iter().position(|line| *line == end || line.ends_with("{}"));
        // As clippy counts: without comments and empty lines.
        let is_code = |line: &&&str| !line.trim().is_empty() && !line.trim().starts_with("//");
        let count = |length: usize| lines[at..=at + length].iter().filter(is_code).count();
        out.extend(length.map(|length| (count(length), code.to_owned())));
    }
    out
}

#[test]
fn functions_stay_short() {
    let mut all: Vec<_> = sources().iter().flat_map(|source| functions(&source.text)).collect();
    all.sort_unstable();
    let of_most = all[all.len() * 99 / 100].0;
    let lines: usize = sources().iter().map(|source| source.text.lines().count()).sum();
    println!(
        "{} functions; 99 of 100 have at most {of_most} lines; {lines} lines in all",
        all.len()
    );
    assert!(of_most <= LONGEST_OF_MOST, "{of_most}");
}

#[test]
fn the_counters_recognize_what_they_count() {
    assert_eq!(public_type("    pub(super) struct Found<'a> {"), Some("Found"));
    assert_eq!(public_type("pub enum Way {"), Some("Way"));
    assert_eq!(public_type("struct Private;"), None);
    assert!(has_idiom("/// What stands there.") && has_idiom("// That is no number."));
    assert!(!has_idiom("/// It understands lists; `told` is a variable."));
    let text = "fn a() {\n    b();\n}\n\nimpl X {\n    pub fn c() {}\n}\n";
    assert_eq!(functions(text).iter().map(|one| one.0).collect::<Vec<_>>(), [3, 1]);
}
