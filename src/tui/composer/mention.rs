//! Mentions of files, `@src/lib.rs` and `@"a b.rs"`: which one is being typed, and which are units.
//! It does not read the files.

use avocet_core::prompt::mention::{can_begin_after, find, parse};

/// A mention that is being typed: everything from its `@` to the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionDraft {
    /// Row and column of the `@`, in characters.
    pub at: (usize, usize),
    /// Characters from the `@` to the cursor.
    pub len: usize,
    /// The text after the `@`, without an opening quote.
    pub query: String,
}

/// The mentions that were chosen from the list: each is deleted as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions(Vec<String>);

impl Mentions {
    /// Makes a path a unit; returns its mention as it is put into the input.
    pub fn add(&mut self, path: &str) -> String {
        let reads_back =
            parse(path).is_some_and(|(mention, len)| len == path.len() && mention.path == path);
        let mention = if reads_back { format!("@{path}") } else { format!("@\"{path}\"") };
        if !self.0.contains(&mention) {
            self.0.push(mention.clone());
        }
        mention
    }

    /// Makes the mentions of an earlier text units again: all that look like a path.
    pub fn add_from_text(&mut self, text: &str) {
        for found in find(text) {
            if found.mention.path.contains(['/', '.', ' ']) {
                self.add(&found.mention.path);
            }
        }
    }

    /// The mentions in one line, as byte ranges.
    pub fn ranges(&self, line: &str) -> Vec<(usize, usize)> {
        let found = self.0.iter().flat_map(|mention| {
            line.match_indices(mention.as_str()).map(|(at, found)| (at, at + found.len()))
        });
        let mut places: Vec<_> = found
            .filter(|(from, to)| {
                let before = line.get(..*from).and_then(|text| text.chars().next_back());
                let behind = line.get(*to..).and_then(|text| text.chars().next());
                can_begin_after(before) && !behind.is_some_and(is_path_char)
            })
            .collect();
        places.sort_unstable();
        places
    }
}

/// The mention that contains the cursor or ends at it, if there is one. `column` is in characters.
/// Paths outside the folder are not completed.
pub fn mention_at(line: &str, row: usize, column: usize) -> Option<MentionDraft> {
    let before: Vec<char> = line.chars().take(column).collect();
    let signs = before.iter().enumerate().rev().filter(|(_, c)| **c == '@');
    for (at, _) in signs {
        let previous = at.checked_sub(1).and_then(|at| before.get(at)).copied();
        let text: String = before.get(at + 1..)?.iter().collect();
        if !can_begin_after(previous) {
            continue;
        }
        let query = match text.strip_prefix('"') {
            Some(quoted) if !quoted.contains('"') => quoted,
            None if !text.contains(char::is_whitespace) => text.as_str(),
            Some(_) | None => continue,
        };
        let outside = query.starts_with(['/', '~']) || query.split('/').any(|part| part == "..");
        let len = column.min(before.len()) - at;
        return (!outside).then(|| MentionDraft { at: (row, at), len, query: query.to_owned() });
    }
    None
}

/// Whether a path may continue with this character.
fn is_path_char(behind: char) -> bool {
    behind.is_ascii_alphanumeric() || "/._-\"".contains(behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(line: &str) -> Option<String> {
        mention_at(line, 0, line.chars().count()).map(|mention| mention.query)
    }

    #[test]
    fn a_mention_begins_at_the_start_of_a_word() {
        let cases = [
            ("@", Some("")),
            ("look at @src/li", Some("src/li")),
            ("看看@文", Some("文")),
            ("(@a", Some("a")),
            ("@\"a b", Some("a b")),
            ("me@home", None),
            ("\\@plain", None),
            ("@src done", None),
            ("@\"a b\" x", None),
            ("@\"a b\"", None),
            ("@/etc/passwd", None),
            ("@~/x", None),
            ("@../x", None),
            ("a@b @c", Some("c")),
            ("", None),
        ];
        for (line, wanted) in cases {
            assert_eq!(query(line).as_deref(), wanted, "{line}");
        }
    }

    #[test]
    fn only_text_before_the_cursor_counts() {
        let mention = mention_at("见 @ab cd", 3, 4).expect("a mention");
        assert_eq!(mention, MentionDraft { at: (3, 2), len: 2, query: "a".into() });
    }

    #[test]
    fn mentions_of_an_earlier_text_are_units_again() {
        let mut mentions = Mentions::default();
        let text =
            "see @src/a.rs:10-20, (@b/), @\"c d\" and @README.md, not @home, me@a.b or @Override";
        mentions.add_from_text(text);
        let found: Vec<&str> =
            mentions.ranges(text).into_iter().filter_map(|(from, to)| text.get(from..to)).collect();
        assert_eq!(found, ["@src/a.rs", "@b/", "@\"c d\"", "@README.md"]);
    }

    #[test]
    fn a_mention_is_a_unit_only_when_it_is_a_separate_word() {
        let mut mentions = Mentions::default();
        assert_eq!(mentions.add("src/a"), "@src/a");
        assert_eq!(mentions.add("a b.rs"), "@\"a b.rs\"");
        for path in [
            "it's.txt",
            "a,b.txt",
            "说明（一）.md",
            "wow!",
            "x:10",
            "$HOME",
            "src/",
            ".",
            "a(1).txt",
        ] {
            let mention = mentions.add(path);
            let read: Vec<String> =
                find(&mention).into_iter().map(|found| found.mention.path).collect();
            assert_eq!(read, [path], "{mention}");
        }
        assert_eq!(mentions.ranges("@src/a, @src/a.rs x@src/a @\"a b.rs\""), [(0, 6), (26, 35)]);
        assert_eq!(mentions.ranges("看@src/a:10-20"), [(3, 9)]);
    }
}
