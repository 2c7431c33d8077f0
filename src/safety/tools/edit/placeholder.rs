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
        | ^(?:keep|leave|retain|preserve|use|include)\ (?:all\ |the\ |your\ |this\ )*(?:existing|original|remaining|rest|current|previous|same|other|above)\ (?:of\ the\ |of\ your\ )?(?:code|content|implementation|logic|methods?|functions?|lines|imports?|body|file|class|definitions?|fields|tests?)(?:\ (?:here|as\ (?:is|before|it\ (?:is|was))|unchanged|intact|the\ same|in\ place|untouched|below|above))*$
        | ^(?:your|the|all)?\ ?(?:existing|original|remaining|previous|other)\ (?:code|implementation|logic|methods?|functions?|imports?|tests?|classes|body)\ (?:goes\ )?(?:here|unchanged|as\ (?:is|before)|above|below|omitted.*|continues?)$
        | ^(?:code\ |implementation\ |content\ )?(?:is\ |remains?\ )?(?:omitted|elided|truncated|snipped)(?:\ for\ (?:brevity|clarity))?$
        | ^(?:no\ changes?|nothing\ changes)\ (?:here|below|above|needed|to\ .*|in\ .*)$
        | ^(?:code|implementation|logic)\ (?:stays|remains)\ (?:the\ same|as\ (?:is|before)|unchanged)$
        | ^snip$
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
        return is_bare_placeholder(line);
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

/// A line without a mark of a comment: between dots or brackets, or nothing but an order to keep
/// what is there.
fn is_bare_placeholder(line: &str) -> bool {
    let is_known = |text: &str| WORDS.as_ref().is_some_and(|words| words.is_match(text));
    let inner = line.trim_matches(['[', ']', '(', ')', '<', '>', '{', '}']).trim();
    let words = inner.trim_matches(['.', '…']).trim();
    let begins = inner.starts_with(['.', '…']);
    let ends = inner.ends_with(['.', '…']);

    let is_between = begins && (ends || inner.starts_with("... ") || inner.starts_with("… "));
    let is_bracketed =
        line.starts_with(['[', '(', '{']) && line.ends_with([']', ')', '}']) && words.contains(' ');
    let orders = ["keep", "leave", "retain", "preserve"];
    let first = words.split(' ').next().unwrap_or_default().to_lowercase();
    is_between && is_known(line)
        || (is_bracketed || orders.contains(&first.as_str())) && is_known(words)
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
            "…existing code…",
            "...existing code...",
            "[... existing code ...]",
            "[rest of the file unchanged]",
            "// Keep the existing implementation",
            "Keep the existing implementation",
            "# keep all existing imports as is",
            "// Leave the rest of the class unchanged",
            "# your existing code here",
            "// code omitted for brevity",
            "/* snip */",
            "// no changes below",
            "// Implementation remains the same",
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
            "keep_existing(implementation);",
            "// Keep the existing connection open",
            "// no changes are lost here",
            "(rest)",
            "<Unchanged />",
            "[existing]",
            "yield ...",
            "leave = True",
        ] {
            assert_eq!(find(old, &format!("a\n{line}\n")), None, "{line}");
        }
        assert_eq!(find("x\n// ... existing code ...\n", "y\n// ... existing code ...\n"), None);
        assert_eq!(find("a\n", "a\n// ...\nb\nc\n"), None, "it replaces nothing");
    }
}
