//! Finds comments that replace text: "rest of the file unchanged". Written to a file, they lose it.

use std::sync::LazyLock;

use regex::Regex;

/// A comment, or nothing but dots, by its words.
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)
        (?:\.{3}|…).*\b(?:rest|existing|unchanged|remaining|remainder|same|previous|other|omitted|elided|truncated|as\ before|keep|more|code|methods?|functions?|lines?|content)\b
        | \b(?:rest|existing|unchanged|remaining|remainder|same|previous|other|omitted|as\ before|code|methods?|functions?|content)\b.*(?:\.{3}|…)
        | \b(?:rest|remainder)\ of\ (?:the\ |this\ |your\ )?(?:\w+\ )?(?:file|code|class|function|method|module|component|implementation|content|script|document)\b
        | ^(?:the\ )?(?:existing|remaining|original|previous)\ (?:code|content|implementation|methods?|functions?|lines)(?:\ (?:here|unchanged|continues?|remains?.*|stays?.*|goes\ here|follows|above|below))*$
        | ^(?:\w+\ )?(?:is\ |are\ |remains?\ |stays?\ )?unchanged$
        | ^(?:same|unchanged)\ as\ (?:before|above|original|previously).*$
        | (?:其余|剩余|其他|原有|现有|以下|后续).*(?:代码|内容|部分|方法|函数).*(?:不变|省略|保持|相同|\.{3}|…)
        | (?:代码|内容|部分|其余).*(?:不变|省略)$",
    )
    .ok()
});

const MARKS: &[&str] = &["//", "#", "/*", "--", "<!--", "{/*", ";", "%", "*", "\"\"\"", "(*"];

/// The first line of the new text that replaces text by a placeholder, if the old one has no such line.
pub fn find<'a>(old: &str, new: &'a str) -> Option<&'a str> {
    let lines = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
    let shrinks = lines(new) < lines(old);
    let mut stands = new.lines().map(str::trim).filter(|line| is_placeholder(line, shrinks));
    stands.find(|line| !old.lines().any(|own| own.trim() == *line))
}

fn is_placeholder(line: &str, shrinks: bool) -> bool {
    let dots = |text: &str| !text.is_empty() && text.trim_matches(['.', '…']).is_empty();
    let Some(rest) = MARKS.iter().find_map(|mark| line.strip_prefix(mark)) else {
        let inner = line.trim_matches(['[', ']', '(', ')', '<', '>']);
        return ["... ", "… "].iter().any(|dots| inner.starts_with(dots))
            && WORDS.as_ref().is_some_and(|words| words.is_match(line));
    };
    let words = rest.trim_matches(|c: char| c.is_whitespace() || "/*#-<>!{}()[]:;%\"".contains(c));
    let count = words.chars().count();
    if dots(words) && count >= 1 && (words.contains("...") || words.contains('…')) {
        return shrinks;
    }
    // A longer comment says something of its own.
    count <= 90
        && WORDS.as_ref().is_some_and(|known| {
            known.is_match(words.trim_end_matches('.')) || known.is_match(words)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_that_stand_for_text_are_found() {
        let old = "a\nb\nc\nd\n";
        for line in [
            "# ... rest of the file unchanged ...",
            "// ... existing code ...",
            "  // ... rest unchanged ...",
            "/* unchanged */",
            "// (rest of methods ...)",
            "<!-- rest of the file -->",
            "{/* ... existing content ... */}",
            "-- ... same as before",
            "// Existing code remains unchanged",
            "// Remaining methods",
            "... rest of the code ...",
            "# 其余代码保持不变",
            "// ...",
        ] {
            assert_eq!(find(old, &format!("a\n{line}\n")), Some(line.trim()), "{line}");
        }
    }

    #[test]
    fn comments_that_say_something_stay() {
        let old = "a\nb\nc\nd\n";
        for line in [
            "...",
            "# The rest is computed by the caller",
            "// Keep the other handlers sorted by name",
            "# unchanged since 2.0: callers rely on it",
            "let rest = items[1..]; // everything else",
            "// the existing code path needs a lock",
            "## Remaining work",
            "fn f(...) { rest }",
            "x = [...rest, other]",
            "...props.other,",
            "/// Returns the remaining bytes.",
        ] {
            assert_eq!(find(old, &format!("a\n{line}\n")), None, "{line}");
        }
        assert_eq!(find("x\n// ... existing code ...\n", "y\n// ... existing code ...\n"), None);
        assert_eq!(find("a\n", "a\n// ...\nb\nc\n"), None, "it replaces nothing");
    }
}
