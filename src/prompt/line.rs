//! What one typed line means, before any model sees it (002 §2.1).
//!
//! | typed | meaning |
//! |---|---|
//! | `/name args…` | a command; the name decides later which kind |
//! | `!cmd`, `! cmd`, `` !`cmd` `` | a line for the user's shell |
//! | `!!cmd` | the same, and its output is kept out of the context |
//! | `\/`, `\!`, `\@` | the plain character |
//! | anything else | a message |
//!
//! `/` begins a command only where a name follows at once and no second `/` stands in
//! that name, so `/usr/bin/env is missing` is a message. Only the first line is looked
//! at: a pasted text that has `/x` or `!x` further down is a message as a whole.

/// What the line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intent {
    Empty,
    Message {
        text: String,
    },
    /// A slash command, a user's command or a skill. `args` is the rest as typed.
    Command {
        name: String,
        args: String,
    },
    /// A line for the shell. `keep`: its output goes into the context.
    Shell {
        line: String,
        keep: bool,
    },
}

/// Reads what was typed. Never fails: what is nothing else is a message.
pub fn read(typed: &str) -> Intent {
    let line = typed.trim();
    if line.is_empty() {
        return Intent::Empty;
    }
    command(line).or_else(|| shell(line)).unwrap_or_else(|| Intent::Message { text: plain(line) })
}

fn command(line: &str) -> Option<Intent> {
    let rest = line.strip_prefix('/')?;
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (name, args) = rest.split_at_checked(end)?;
    is_name(name).then(|| Intent::Command { name: name.to_owned(), args: args.trim().to_owned() })
}

/// A letter or digit first, in any script, then also `.`, `_`, `-` and `:`.
fn is_name(name: &str) -> bool {
    name.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '?')
        && name.chars().all(|c| c.is_alphanumeric() || "._-:?".contains(c))
}

fn shell(line: &str) -> Option<Intent> {
    let rest = line.strip_prefix('!')?;
    let (rest, keep) = match rest.strip_prefix('!') {
        Some(rest) => (rest, false),
        None => (rest, true),
    };
    let rest = rest.trim();
    let rest = rest
        .strip_prefix('`')
        .and_then(|inner| inner.strip_suffix('`'))
        .filter(|inner| !inner.contains('`'))
        .unwrap_or(rest)
        .trim();
    (!rest.is_empty()).then(|| Intent::Shell { line: rest.to_owned(), keep })
}

/// Takes the escapes away: `\/` and `\!` at the start, `\@` anywhere.
fn plain(line: &str) -> String {
    let line = line.strip_prefix('\\').filter(|rest| rest.starts_with(['/', '!'])).unwrap_or(line);
    line.replace(r"\@", "@")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Intent {
        Intent::Message { text: text.into() }
    }

    fn command(name: &str, args: &str) -> Intent {
        Intent::Command { name: name.into(), args: args.into() }
    }

    fn shell(line: &str, keep: bool) -> Intent {
        Intent::Shell { line: line.into(), keep }
    }

    #[test]
    fn each_form_means_what_the_table_says() {
        let cases = [
            ("hello world", message("hello world")),
            ("  \n ", Intent::Empty),
            ("/help", command("help", "")),
            ("/commit -m 'wip'", command("commit", "-m 'wip'")),
            ("/summarize focus\non risks", command("summarize", "focus\non risks")),
            ("/创建 新的", command("创建", "新的")),
            ("!ls -la", shell("ls -la", true)),
            ("! npm test", shell("npm test", true)),
            ("!`ls -la`", shell("ls -la", true)),
            ("!!env", shell("env", false)),
            ("!echo `date` `pwd`", shell("echo `date` `pwd`", true)),
        ];
        for (typed, meant) in cases {
            assert_eq!(read(typed), meant, "{typed:?}");
        }
    }

    #[test]
    fn a_path_at_the_start_is_a_message() {
        assert_eq!(read("/usr/bin/env is missing"), message("/usr/bin/env is missing"));
        assert_eq!(read("/ what is this"), message("/ what is this"));
        assert_eq!(read("//comment"), message("//comment"));
    }

    #[test]
    fn an_escape_gives_the_plain_character() {
        assert_eq!(read(r"\/help is a command"), message("/help is a command"));
        assert_eq!(read(r"\!important"), message("!important"));
        assert_eq!(read(r"write to me\@example.org"), message("write to me@example.org"));
        assert_eq!(read(r"\d is a digit"), message(r"\d is a digit"));
    }

    #[test]
    fn a_lonely_mark_is_a_message() {
        assert_eq!(read("!"), message("!"));
        assert_eq!(read("!!"), message("!!"));
        assert_eq!(read("/"), message("/"));
    }
}
