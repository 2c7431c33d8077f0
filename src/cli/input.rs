//! Reads piped text and adds it to the prompt.

use std::io::{self, BufRead, Read};

/// The maximum size read from standard input, in bytes.
pub const LONGEST: usize = 256 * 1024;

/// Piped text, decoded lossily.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipedText {
    pub text: String,
    /// True if there was more text, which was not read.
    pub cut: bool,
}

/// Reads until the end of the input or the limit.
pub fn read(input: impl Read) -> io::Result<PipedText> {
    let mut bytes = Vec::new();
    input.take(LONGEST as u64 + 1).read_to_end(&mut bytes)?;
    let cut = bytes.len() > LONGEST;
    bytes.truncate(LONGEST);
    if cut {
        // Do not cut inside a character.
        let broken = bytes.utf8_chunks().last().is_some_and(|last| !last.invalid().is_empty());
        if broken {
            let tail = bytes.utf8_chunks().last().map_or(0, |last| last.invalid().len());
            bytes.truncate(LONGEST - tail);
        }
    }
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if cut {
        text.push_str("\n[the input was longer and is cut here]");
    }
    Ok(PipedText { text, cut })
}

/// The message: the prompt, then the piped text. `None` when both are blank.
pub fn message(prompt: Option<&str>, piped: Option<&str>) -> Option<String> {
    let prompt = prompt.map(str::trim).filter(|text| !text.is_empty());
    let piped = piped.map(|text| text.trim_end_matches(['\r', '\n']));
    let piped = piped.filter(|text| !text.trim().is_empty());
    match (prompt, piped) {
        (Some(prompt), Some(piped)) => Some(format!("{prompt}\n\n{piped}")),
        (prompt, piped) => prompt.or(piped).map(str::to_owned),
    }
}

/// The whole input, unchanged; `None` when it is longer than `most` bytes.
pub fn bytes(input: impl Read, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    input.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= most).then_some(bytes))
}

/// The answer to a yes/no question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmed {
    Yes,
    No,
    /// There is no user to ask.
    Nobody,
}

/// Reads a line as yes or no; an empty line means `usual`, and the end of the input means that
/// there is no user.
pub fn confirmed(mut input: impl BufRead, usual: bool) -> Confirmed {
    let mut line = String::new();
    let read = (&mut input).take(1_000).read_line(&mut line);
    match (read, line.trim().to_lowercase().as_str()) {
        (Ok(0) | Err(_), _) => Confirmed::Nobody,
        (Ok(_), "y" | "yes" | "是" | "好") => Confirmed::Yes,
        (Ok(_), "") if usual => Confirmed::Yes,
        (Ok(_), _) => Confirmed::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piped_text_follows_the_prompt() {
        assert_eq!(message(Some("look"), Some("a\nb\n")).unwrap(), "look\n\na\nb");
        assert_eq!(message(None, Some("a\n")).unwrap(), "a");
        assert_eq!(message(Some(" look "), Some("\n")).unwrap(), "look");
        assert_eq!(message(Some(" "), None), None);
    }

    #[test]
    fn only_a_clear_yes_is_one() {
        for (line, usual, expected) in [
            ("y\n", false, Confirmed::Yes),
            ("YES", false, Confirmed::Yes),
            ("是\n", false, Confirmed::Yes),
            ("\n", true, Confirmed::Yes),
            ("\n", false, Confirmed::No),
            ("yo\n", true, Confirmed::No),
            ("", true, Confirmed::Nobody),
        ] {
            assert_eq!(confirmed(line.as_bytes(), usual), expected, "{line:?}");
        }
    }

    #[test]
    fn an_endless_input_is_cut_and_says_so() {
        let piped = read(io::repeat(b'x')).unwrap();
        assert!(piped.cut && piped.text.ends_with("is cut here]"));
        assert!(piped.text.len() < LONGEST + 100);
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        let text = format!("x{}", "中".repeat(LONGEST / 3 + 1));
        assert!(!read(text.as_bytes()).unwrap().text.contains('\u{fffd}'));
    }

    #[test]
    fn bytes_that_are_no_text_are_decoded_lossily() {
        let piped = read(&b"a\xffb"[..]).unwrap();
        assert_eq!(piped, PipedText { text: "a\u{fffd}b".into(), cut: false });
    }
}
