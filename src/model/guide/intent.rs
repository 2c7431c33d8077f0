//! Recognises the user's request by phrases, in English and Chinese.
//!
//! A table, tried from the top: the first row with a phrase in the request decides. A search names
//! its subject, so searches come first; only after them do single words such as "test" count.

/// A request the guide can handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GuideIntent {
    Hello,
    Help,
    Changes,
    History,
    Find { text: String, place: Option<String> },
    Show { file: String, lines: Option<(u32, u32)> },
    List { place: Option<String> },
    Count { file: Option<String>, kind: Option<&'static str> },
    Tests,
    Connect,
    Tiers,
    Run(Vec<String>),
    Other,
}

/// Only the beginning is read: the rest is an attachment.
const MAX_LENGTH: usize = 500;

/// Phrases, and how to parse a request that contains one. `None`: the next row is tried.
type IntentRow = (&'static [&'static str], fn(&PhraseMatch<'_>) -> Option<GuideIntent>);

#[rustfmt::skip]
const WISHES: &[IntentRow] = &[
    // Work on the code is for a model, whatever else the request mentions.
    (&["fix", "edit", "change", "make", "write", "create", "add", "implement", "refactor", "rename", "move", "delete", "remove", "replace", "update", "improve", "optimise", "optimize", "translate", "explain", "describe", "review", "propose", "summarise", "summarize", "why", "修复", "修改", "改一下", "写", "新建", "创建", "添加", "增加", "实现", "重构", "重命名", "删除", "替换", "优化", "翻译", "解释", "评审", "总结", "为什么"], work),
    (&["find", "search", "grep", "rg", "look for", "where is", "where are", "查找", "搜索", "搜一下", "找", "在哪"], find),
    (&["run", "execute", "运行", "执行", "跑"], run),
    (&["connect", "api key", "openai", "ollama", "llama.cpp", "llama-server", "lm studio", "vllm", "real model", "connection", "连接", "接入", "连上", "密钥", "配置模型"], |_| Some(GuideIntent::Connect)),
    (&["tier", "tiers", "l0", "l1", "l2", "safe", "safety", "risk", "risks", "permission", "permissions", "级别", "等级", "风险", "安全", "权限"], |_| Some(GuideIntent::Tiers)),
    (&["help", "what can you do", "who are you", "how do i use", "帮助", "你能做什么", "能做什么", "你是谁", "怎么用"], |_| Some(GuideIntent::Help)),
    (&["changed", "changes", "change", "diff", "git status", "status", "modified", "uncommitted", "改了什么", "变化", "变更", "改动", "修改了"], |_| Some(GuideIntent::Changes)),
    (&["commit", "commits", "history", "log", "git log", "提交", "历史"], history),
    (&["count", "how many lines", "lines of code", "loc", "wc", "how long", "how big", "多少行", "行数", "统计", "几行"], count),
    (&["test", "tests", "测试"], tests),
    (&["show", "open", "read", "cat", "print", "view", "display", "head", "显示", "打开", "查看", "看看", "看一下", "看", "读"], show),
    (&["list", "ls", "files", "folder", "directory", "tree", "what is here", "what's here", "列出", "文件", "目录"], list),
    (&["hi", "hello", "hey", "good morning", "thanks", "thank you", "你好", "您好", "早上好", "谢谢"], |_| Some(GuideIntent::Hello)),
    // A bare file name is a request to show it.
    (&[""], show),
];

pub(super) fn parse_intent(request: &str) -> GuideIntent {
    let first = request.trim().lines().next().unwrap_or_default();
    let text: String = first.chars().take(MAX_LENGTH).collect();
    for (phrases, make) in WISHES {
        let found = phrases.iter().filter_map(|phrase| PhraseMatch::match_phrase(&text, phrase));
        // The earliest phrase is the one that was meant.
        let line = found.min_by_key(|line| (line.before.len(), line.after.len()));
        if let Some(wish) = line.and_then(|line| make(&line)) {
            return wish;
        }
    }
    GuideIntent::Other
}

/// A request with one phrase found in it.
struct PhraseMatch<'a> {
    text: &'a str,
    before: &'a str,
    phrase: &'a str,
    after: &'a str,
}

impl<'a> PhraseMatch<'a> {
    /// A Latin phrase matches whole words only, a Chinese one anywhere.
    fn match_phrase(text: &'a str, phrase: &str) -> Option<PhraseMatch<'a>> {
        text.char_indices().map(|(start, _)| start).find_map(|start| {
            let (before, rest) = text.split_at_checked(start)?;
            let (phrase, after) = rest
                .split_at_checked(phrase.len())
                .filter(|(head, _)| head.eq_ignore_ascii_case(phrase))?;
            let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
            let latin = phrase.is_ascii();
            let whole = !inside(before.chars().next_back()) && !inside(after.chars().next());
            (phrase.is_empty() || !latin || whole).then_some(PhraseMatch {
                text,
                before,
                phrase,
                after,
            })
        })
    }

    fn has(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| PhraseMatch::match_phrase(self.text, phrase).is_some())
    }

    /// The words of the request, without punctuation around them.
    fn words(&self) -> impl Iterator<Item = &'a str> {
        let ends = |c: char| matches!(c, ',' | ';' | '?' | '!' | '，' | '。' | '？' | '！' | '；');
        let quote = |c: char| QUOTES.iter().any(|(open, close)| c == *open || c == *close);
        let part = move |c: char| c.is_whitespace() || (!c.is_ascii() && !c.is_alphanumeric());
        let words = self.text.split(part);
        // `@src/main.rs` is the input's form for a file.
        words
            .map(move |word| word.trim_matches(ends).trim_start_matches('@').trim_matches(quote))
            .filter(|word| !word.is_empty())
    }

    /// The first word that looks like a file.
    fn file(&self) -> Option<String> {
        self.words().filter_map(latin_part).find_map(file_name)
    }

    /// The place after "in", or before "里".
    fn place(&self) -> Option<String> {
        let place = self
            .text
            .rsplit_once(" in ")
            .map(|(_, place)| place)
            .or_else(|| self.text.split_once('在').map(|(_, place)| place))?;
        latin_part(place.trim()).and_then(as_path)
    }
}

const QUOTES: &[(char, char)] =
    &[('`', '`'), ('"', '"'), ('\'', '\''), ('“', '”'), ('「', '」'), ('『', '』'), ('《', '》')];

/// The text inside the first pair of quotes.
fn quoted(text: &str) -> Option<&str> {
    let (_, open, rest) = text.char_indices().find_map(|(at, c)| {
        let close = QUOTES.iter().find(|(open, _)| *open == c)?.1;
        // An apostrophe inside a word does not open a quote.
        let before = text.get(..at)?.chars().next_back();
        let word = c == '\'' && before.is_some_and(char::is_alphanumeric);
        (!word).then_some((at, close, text.get(at + c.len_utf8()..)?))
    })?;
    rest.split_once(open).map(|(inner, _)| inner).filter(|inner| !inner.trim().is_empty())
}

/// The Latin run of a word: `src/main.rs` of `看看src/main.rs吧`.
fn latin_part(word: &str) -> Option<&str> {
    let start = word.find(|c: char| c.is_ascii_graphic())?;
    let rest = word.get(start..)?;
    let end = rest.find(|c: char| !c.is_ascii_graphic()).unwrap_or(rest.len());
    rest.get(..end)
}

fn as_path(word: &str) -> Option<String> {
    let word =
        word.trim_matches(|c| matches!(c, '?' | '!' | ',' | '.' | '`' | '"')).trim_end_matches('/');
    let common = ["the", "this", "here", "all", "my", "it", "which", "files"];
    (!word.is_empty() && !common.contains(&word) && !word.starts_with('-')).then(|| word.to_owned())
}

/// Files that users name without a dot.
const KNOWN: &[(&str, &str)] = &[
    ("readme", "README.md"),
    ("makefile", "Makefile"),
    ("dockerfile", "Dockerfile"),
    ("license", "LICENSE"),
    ("gitignore", ".gitignore"),
];

fn file_name(word: &str) -> Option<String> {
    let word = word.trim_end_matches(['.', ',', '?', '!', ':']);
    let path = word.split_once(':').map_or(word, |(path, _)| path);
    let known = KNOWN.iter().find(|(name, _)| name.eq_ignore_ascii_case(path));
    if let Some((name, file)) = known {
        // Written with capitals, the name is meant literally.
        return Some(if path == *name { (*file).to_owned() } else { path.to_owned() });
    }
    let dotted = path.rsplit_once('.').is_some_and(|(_, ext)| {
        (1..=8).contains(&ext.len()) && ext.chars().all(|c| c.is_ascii_alphanumeric())
    });
    let slashed = path.contains('/') && !path.contains("//");
    ((dotted || slashed) && !path.starts_with('-')).then(|| path.to_owned())
}

/// A request that begins with the verb, after a word of courtesy.
fn work(phrase_match: &PhraseMatch<'_>) -> Option<GuideIntent> {
    let mut before = phrase_match.before.trim().to_lowercase();
    for courtesy in ["please", "can you", "could you", "you", "帮我", "请", "把"] {
        before = before.trim_end_matches(courtesy).trim_end_matches([' ', ',', '，']).to_owned();
    }
    // "改了什么" asks what was done.
    let is_past = phrase_match.after.starts_with('了');
    (before.is_empty() && !is_past).then_some(GuideIntent::Other)
}

fn find(phrase_match: &PhraseMatch<'_>) -> Option<GuideIntent> {
    if let Some(text) = quoted(phrase_match.text) {
        return Some(GuideIntent::Find { text: text.to_owned(), place: phrase_match.place() });
    }
    let place = phrase_match.place();
    let named = phrase_match.phrase == "在哪";
    let rest = if named { phrase_match.before } else { phrase_match.after };
    let rest = rest.split(" in ").next().unwrap_or(rest);
    let mut text =
        rest.trim_matches(|c: char| c.is_whitespace() || "?？!！。，：:里中".contains(c));
    for filler in FILLERS {
        text = text.strip_prefix(filler).unwrap_or(text).trim_start();
    }
    (!text.is_empty()).then(|| GuideIntent::Find { text: text.to_owned(), place })
}

/// Words before the search text, in the order users write them.
const FILLERS: &[&str] = &[
    "for ",
    "me ",
    "all ",
    "every ",
    "the ",
    "uses of ",
    "use of ",
    "word ",
    "text ",
    "function ",
    "一下",
    "所有",
    "包含",
];

fn run(phrase_match: &PhraseMatch<'_>) -> Option<GuideIntent> {
    if phrase_match.has(&["test", "tests", "测试"]) {
        return Some(GuideIntent::Tests);
    }
    let words = split(phrase_match.after.trim().trim_matches('`'));
    // "How does it run?" and "run it" are not commands.
    let program = |word: &String| {
        word.chars().all(|c| c.is_ascii_graphic()) && !NO_PROGRAMS.contains(&word.as_str())
    };
    let starts = phrase_match.before.trim().is_empty() && words.first().is_some_and(program);
    starts.then_some(GuideIntent::Run(words))
}

/// Words that begin a sentence and not a command.
const NO_PROGRAMS: &[&str] = &["it", "this", "that", "the", "a", "my", "all", "again"];

/// Words as the user types them: separated by spaces, held together by quotes. No shell parses
/// them.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut open: Option<char> = None;
    for c in text.chars() {
        match (open, c) {
            (Some(quote), c) if c == quote => open = None,
            (None, '"' | '\'') => {
                open = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn history(phrase_match: &PhraseMatch<'_>) -> Option<GuideIntent> {
    (phrase_match.file().is_none() || phrase_match.has(&["git log"]))
        .then_some(GuideIntent::History)
}

fn tests(phrase_match: &PhraseMatch<'_>) -> Option<GuideIntent> {
    phrase_match.file().is_none().then_some(GuideIntent::Tests)
}

/// What users call the files of a language, and their extensions.
const KINDS: &[(&[&str], &str)] = &[
    (&["rust"], ".rs"),
    (&["python"], ".py"),
    (&["javascript"], ".js"),
    (&["typescript"], ".ts"),
    (&["go", "golang"], ".go"),
    (&["java"], ".java"),
    (&["c++"], ".cpp"),
    (&["markdown", "docs"], ".md"),
];

fn count(phrase_match: &PhraseMatch<'_>) -> Option<GuideIntent> {
    let kind = KINDS.iter().find(|(names, _)| phrase_match.has(names)).map(|(_, end)| *end);
    Some(GuideIntent::Count { file: phrase_match.file(), kind })
}

fn show(phrase_match: &PhraseMatch<'_>) -> Option<GuideIntent> {
    let file = phrase_match.file().or_else(|| only_word(phrase_match))?;
    let is_range = |text: &&str| text.contains('-') || text.contains("to") || text.contains('到');
    let behind = phrase_match.text.split_once(file.as_str()).map_or("", |(_, rest)| rest);
    Some(GuideIntent::Show { lines: Some(behind).filter(is_range).and_then(range), file })
}

/// `show Procfile`: a single word after the verb is the file.
fn only_word(phrase_match: &PhraseMatch<'_>) -> Option<String> {
    let mut words = phrase_match.after.split_whitespace();
    let word =
        words.next().filter(|_| words.next().is_none() && phrase_match.before.trim().is_empty())?;
    let word = word.trim_end_matches(['?', '!', '.']);
    let name = word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    (name && !phrase_match.phrase.is_empty() && !word.starts_with('-') && !word.is_empty())
        .then(|| word.to_owned())
}

/// The two numbers of `:10-40`, `lines 10 to 40`, `第10到40行`.
fn range(text: &str) -> Option<(u32, u32)> {
    let mut numbers =
        text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok());
    let (from, to): (u32, u32) = (numbers.next()?, numbers.next()?);
    (from >= 1 && from <= to).then_some((from, to))
}

fn list(phrase_match: &PhraseMatch<'_>) -> Option<GuideIntent> {
    let place = phrase_match.place().or_else(|| phrase_match.file());
    Some(GuideIntent::List { place: place.filter(|place| place != ".") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seek(text: &str, place: Option<&str>) -> GuideIntent {
        GuideIntent::Find { text: text.into(), place: place.map(Into::into) }
    }

    fn file(file: &str, lines: Option<(u32, u32)>) -> GuideIntent {
        GuideIntent::Show { file: file.into(), lines }
    }

    fn words(words: &[&str]) -> GuideIntent {
        GuideIntent::Run(words.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn requests_are_understood_in_both_languages() {
        let cases = [
            ("Hello!", GuideIntent::Hello),
            ("你好", GuideIntent::Hello),
            ("what can you do?", GuideIntent::Help),
            ("你能做什么？", GuideIntent::Help),
            ("What changed?", GuideIntent::Changes),
            ("改了什么", GuideIntent::Changes),
            ("show me the diff", GuideIntent::Changes),
            ("show the recent commits", GuideIntent::History),
            ("最近的提交", GuideIntent::History),
            ("find TODO", seek("TODO", None)),
            ("search for fn main in src", seek("fn main", Some("src"))),
            ("find \"connect a model\" in src/model/", seek("connect a model", Some("src/model"))),
            ("where is Turn defined?", seek("Turn defined", None)),
            ("查找 TODO", seek("TODO", None)),
            ("在 src 里查找 TODO", seek("TODO", Some("src"))),
            ("搜索「连接」", seek("连接", None)),
            ("assess 在哪里？", seek("assess", None)),
            ("show src/main.rs", file("src/main.rs", None)),
            ("show me the readme", file("README.md", None)),
            ("Cargo.toml", file("Cargo.toml", None)),
            ("show Procfile", file("Procfile", None)),
            ("show src/lib.rs:10-40", file("src/lib.rs", Some((10, 40)))),
            ("show src/lib.rs lines 3 to 9", file("src/lib.rs", Some((3, 9)))),
            ("看看src/lib.rs的第3到9行", file("src/lib.rs", Some((3, 9)))),
            ("list files", GuideIntent::List { place: None }),
            ("list the files in src", GuideIntent::List { place: Some("src".into()) }),
            ("列出文件", GuideIntent::List { place: None }),
            ("how many lines of rust?", GuideIntent::Count { file: None, kind: Some(".rs") }),
            ("count lines of a.py", GuideIntent::Count { file: Some("a.py".into()), kind: None }),
            ("统计行数", GuideIntent::Count { file: None, kind: None }),
            ("run the tests", GuideIntent::Tests),
            ("运行测试", GuideIntent::Tests),
            ("How do I connect a model?", GuideIntent::Connect),
            ("怎么连接 Ollama？", GuideIntent::Connect),
            ("what are the tiers?", GuideIntent::Tiers),
            ("有哪些安全级别？", GuideIntent::Tiers),
            ("run git commit -m 'two words'", words(&["git", "commit", "-m", "two words"])),
            ("运行 ls -la", words(&["ls", "-la"])),
            ("this is the latest, localhost", GuideIntent::Other),
            ("write me a poem", GuideIntent::Other),
            ("make a file hello.txt with hi", GuideIntent::Other),
            ("fix the TODO in price.rs", GuideIntent::Other),
            ("explain src/cart.rs", GuideIntent::Other),
            ("Please rename the tests", GuideIntent::Other),
            ("请解释 src/cart.rs", GuideIntent::Other),
            ("修改了什么", GuideIntent::Changes),
            ("find \"fix me\"", seek("fix me", None)),
            (include_str!("../../../assets/prompts/init.md"), GuideIntent::Other),
            ("", GuideIntent::Other),
        ];
        for (request, expected) in cases {
            assert_eq!(parse_intent(request), expected, "{request}");
        }
    }

    #[test]
    fn strange_input_is_merely_not_understood() {
        for request in
            ["'", "\"", "`", "run", "find", "find \"", "show", "在", "：", "\u{0}", "👍 in "]
        {
            let _ = parse_intent(request);
        }
        assert_eq!(parse_intent("run"), GuideIntent::Other);
    }
}
