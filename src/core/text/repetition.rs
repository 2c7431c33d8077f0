//! Finds text that repeats itself without end, as weak models write it.

/// The longest piece that is recognised, in bytes.
const MAX_LENGTH: usize = 400;
/// So often in a row a piece must occur at the end of the text.
const TIMES: usize = 20;
/// Shorter runs are lines, tables and blank space.
const MIN_LENGTH: usize = 1_600;

/// Whether the text ends in a piece of at most 400 bytes that is repeated at least 20 times over at
/// least 1,600 bytes.
pub fn ends_in_repetition(text: &str) -> bool {
    let bytes = text.as_bytes();
    let tail = bytes.get(bytes.len().saturating_sub(MAX_LENGTH * TIMES)..).unwrap_or(bytes);
    (1..=MAX_LENGTH).any(|period| {
        let span = MIN_LENGTH.max(period * TIMES);
        let Some(run) = tail.len().checked_sub(span).and_then(|from| tail.get(from..)) else {
            return false;
        };
        run.iter().zip(run.get(period..).unwrap_or_default()).all(|(one, next)| one == next)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_text_is_recognised_in_each_of_its_forms() {
        for piece in
            ["git-git-compare\", \"", "The answer is 4. ", " ", "\n", "中文重复的话。", "ab"]
        {
            let text = format!("It begins well. {}", piece.repeat(2_000));
            assert!(ends_in_repetition(&text), "{piece:?}");
            assert!(!ends_in_repetition(&format!("{text} and ends.")), "{piece:?}");
        }
    }

    #[test]
    fn ordinary_text_with_repetition_in_it_is_not() {
        let rows: String = (0..200).map(|row| format!("| {row} | value |\n")).collect();
        let code = "    assert!(true);\n".repeat(15);
        for text in [rows, code, "-".repeat(200), "=".repeat(1_500), String::new()] {
            assert!(!ends_in_repetition(&text), "{text}");
        }
    }
}
