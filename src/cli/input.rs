//! Reads piped text and adds it to the prompt.

use std::io::{self, BufRead, Read};
use std::sync::mpsc;
use std::time::Duration;

/// The maximum size read from standard input, in bytes.
pub const MAX_LENGTH: usize = 256 * 1024;

/// Piped text, decoded lossily.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipedText {
    pub text: String,
    /// True if there was more text, which was not read.
    pub truncated: bool,
}

/// Reads until the end of the input or the limit.
pub fn read(input: impl Read) -> io::Result<PipedText> {
    let mut bytes = Vec::new();
    input.take(MAX_LENGTH as u64 + 1).read_to_end(&mut bytes)?;
    let cut = bytes.len() > MAX_LENGTH;
    bytes.truncate(MAX_LENGTH);
    if cut {
        // Do not cut inside a character.
        let broken = bytes.utf8_chunks().last().is_some_and(|last| !last.invalid().is_empty());
        if broken {
            let tail = bytes.utf8_chunks().last().map_or(0, |last| last.invalid().len());
            bytes.truncate(MAX_LENGTH - tail);
        }
    }
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if cut {
        text.push_str("\n[the input was longer and is cut here]");
    }
    Ok(PipedText { text, truncated: cut })
}

/// How long piped text is waited for that nothing depends on.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(2);

/// Piped input once its first byte is there, or its end. A parent may hold the pipe open and never
/// write to it: if it is silent for so long, `on_silence` says whether to wait on; `None` if not.
pub fn open(
    mut input: impl Read + Send + 'static,
    patience: Duration,
    on_silence: impl FnOnce() -> bool,
) -> io::Result<Option<Box<dyn Read + Send>>> {
    let (to, first) = mpsc::channel();
    // Ends with the program where the pipe stays silent.
    std::thread::spawn(move || {
        let mut head = vec![0; 8 * 1024];
        let read = input.read(&mut head).map(|length| {
            head.truncate(length);
            Box::new(io::Cursor::new(head).chain(input)) as Box<dyn Read + Send>
        });
        // The wait for it has ended.
        let _ = to.send(read);
    });
    let read = match first.recv_timeout(patience) {
        Ok(read) => Some(read),
        Err(_) if on_silence() => first.recv().ok(),
        Err(_) => None,
    };
    read.transpose()
}

/// The message: the prompt, then the piped text. `None` when both are blank.
pub fn join_message(prompt: Option<&str>, piped: Option<&str>) -> Option<String> {
    let prompt = prompt.map(str::trim).filter(|text| !text.is_empty());
    let piped = piped.map(|text| text.trim_end_matches(['\r', '\n']));
    let piped = piped.filter(|text| !text.trim().is_empty());
    match (prompt, piped) {
        (Some(prompt), Some(piped)) => Some(format!("{prompt}\n\n{piped}")),
        (prompt, piped) => prompt.or(piped).map(str::to_owned),
    }
}

/// The whole input, unchanged; `None` when it is longer than `most` bytes.
pub fn read_bytes(input: impl Read, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    input.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= most).then_some(bytes))
}

/// The answer to a yes/no question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmation {
    Yes,
    No,
    /// There is no user to ask.
    NoUser,
}

/// Reads a line as yes or no; an empty line means `usual`, and the end of the input means that
/// there is no user.
pub fn read_confirmation(mut input: impl BufRead, usual: bool) -> Confirmation {
    let mut line = String::new();
    let read = (&mut input).take(1_000).read_line(&mut line);
    match (read, line.trim().to_lowercase().as_str()) {
        (Ok(0) | Err(_), _) => Confirmation::NoUser,
        (Ok(_), "y" | "yes" | "是" | "好") => Confirmation::Yes,
        (Ok(_), "") if usual => Confirmation::Yes,
        (Ok(_), _) => Confirmation::No,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn piped_text_follows_the_prompt() {
        assert_eq!(join_message(Some("look"), Some("a\nb\n")).unwrap(), "look\n\na\nb");
        assert_eq!(join_message(None, Some("a\n")).unwrap(), "a");
        assert_eq!(join_message(Some(" look "), Some("\n")).unwrap(), "look");
        assert_eq!(join_message(Some(" "), None), None);
    }

    #[test]
    fn a_pipe_that_stays_open_and_silent_is_not_waited_for() {
        let (silent, _held) = io::pipe().unwrap();
        assert!(open(silent, Duration::ZERO, || false).unwrap().is_none());
        let (input, mut other_end) = io::pipe().unwrap();
        let long = Duration::from_secs(600);
        std::thread::spawn(move || other_end.write_all(&b"a\n".repeat(20_000)));
        let mut text = String::new();
        open(input, Duration::ZERO, || true).unwrap().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text.len(), 40_000);
        let mut none = String::new();
        open(io::empty(), long, || false).unwrap().unwrap().read_to_string(&mut none).unwrap();
        assert_eq!(none, "");
    }

    #[test]
    fn only_an_explicit_yes_confirms() {
        for (line, usual, expected) in [
            ("y\n", false, Confirmation::Yes),
            ("YES", false, Confirmation::Yes),
            ("是\n", false, Confirmation::Yes),
            ("\n", true, Confirmation::Yes),
            ("\n", false, Confirmation::No),
            ("yo\n", true, Confirmation::No),
            ("", true, Confirmation::NoUser),
        ] {
            assert_eq!(read_confirmation(line.as_bytes(), usual), expected, "{line:?}");
        }
    }

    #[test]
    fn endless_input_is_truncated_and_marked() {
        let piped = read(io::repeat(b'x')).unwrap();
        assert!(piped.truncated && piped.text.ends_with("is cut here]"));
        assert!(piped.text.len() < MAX_LENGTH + 100);
    }

    #[test]
    fn truncation_never_splits_a_character() {
        let text = format!("x{}", "中".repeat(MAX_LENGTH / 3 + 1));
        assert!(!read(text.as_bytes()).unwrap().text.contains('\u{fffd}'));
    }

    #[test]
    fn invalid_utf8_is_decoded_lossily() {
        let piped = read(&b"a\xffb"[..]).unwrap();
        assert_eq!(piped, PipedText { text: "a\u{fffd}b".into(), truncated: false });
    }
}
