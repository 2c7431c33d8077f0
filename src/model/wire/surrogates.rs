//! Rejoins surrogate pairs that a server split: servers that count in UTF-16 cut an emoji in two,
//! so that one event ends with the escape of the first half and the next begins with the second.
//! Neither is valid JSON by itself.

/// Joins halves across the events of one answer.
#[derive(Debug, Default)]
pub(super) struct SurrogateJoiner {
    /// The first half at the end of the last event.
    first: Option<u16>,
}

impl SurrogateJoiner {
    /// The text of an event with each half joined to its other one, or replaced if there is none. A
    /// first half at the end of a string waits for the next event.
    pub fn join(&mut self, data: &str) -> String {
        let mut first = self.first.take();
        let mut out = String::with_capacity(data.len());
        let mut rest = data;
        while let Some(at) = rest.find('\\') {
            let (before, escape) = rest.split_at(at);
            out.push_str(before);
            let Some(code) = code(escape) else {
                let end = escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end);
                let (known, behind) = escape.split_at(end);
                out.push_str(known);
                rest = behind;
                continue;
            };
            let (known, behind) = escape.split_at(ESCAPE);
            rest = behind;
            match code {
                0xd800..=0xdbff if code_of_second(behind).is_some() => {
                    let (second, behind) = behind.split_at(ESCAPE);
                    out.extend([known, second]);
                    rest = behind;
                }
                0xd800..=0xdbff if behind.starts_with('"') => self.first = Some(code),
                0xdc00..=0xdfff if out.ends_with('"') && first.is_some() => {
                    let first = first.take().unwrap_or_default();
                    let whole = char::decode_utf16([first, code]).next();
                    out.push(whole.and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                0xd800..=0xdfff => out.push(char::REPLACEMENT_CHARACTER),
                _ => out.push_str(known),
            }
        }
        out.push_str(rest);
        out
    }

    /// True when the next event may begin with a second half.
    pub fn is_waiting(&self) -> bool {
        self.first.is_some()
    }
}

/// The length of `\u0000`.
const ESCAPE: usize = 6;

/// The code of the escape at the start of the text, if it has that form.
fn code(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

fn code_of_second(text: &str) -> Option<u16> {
    code(text).filter(|code| (0xdc00..=0xdfff).contains(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_split_across_two_events_is_rejoined() {
        let mut halves = SurrogateJoiner::default();
        assert_eq!(halves.join(r#"{"a":"x\ud83d"}"#), r#"{"a":"x"}"#);
        assert!(halves.is_waiting());
        assert_eq!(halves.join(r#"{"a":"\ude42 \n y"}"#), r#"{"a":"🙂 \n y"}"#);
        assert!(!halves.is_waiting());
    }

    #[test]
    fn a_lone_half_is_replaced_and_whole_pairs_stay() {
        let joined = |text: &str| SurrogateJoiner::default().join(text);
        assert_eq!(joined(r#""\ud83d\ude42""#), r#""\ud83d\ude42""#);
        assert_eq!(joined(r#""\ud83dx \ude42""#), "\"\u{fffd}x \u{fffd}\"");
        assert_eq!(joined(r#""\\ud83d" \"#), r#""\\ud83d" \"#);
        assert_eq!(joined("\"\\u12"), "\"\\u12");
        assert_eq!(joined("\"\\ü"), "\"\\ü");
    }
}
