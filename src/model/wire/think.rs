//! Takes the reasoning out of an answer that begins with it: `<think>…</think>`, as models write it
//! whose server does not separate it.

use super::super::Chunk;

/// The tags that a thought is written between.
const TAGS: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("<mm:think>", "</mm:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|thinking|>", "<|/thinking|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
    ("<|channel>thought", "<channel|>"),
    ("<|think|>", "<|/think|>"),
];

/// What begins an answer in the templates that mark it.
const ANSWERS: &[&str] =
    &["<|start|>assistant<|channel|>final<|message|>", "<|channel|>final<|message|>"];

/// Whether a text begins so, in capitals or not.
fn begins_with(text: &str, begin: &str) -> bool {
    text.get(..begin.len()).is_some_and(|text| text.eq_ignore_ascii_case(begin))
}

/// Where in the answer the text is.
#[derive(Debug, Default)]
enum Place {
    /// Nothing but white space, and perhaps a part of a tag, has come.
    #[default]
    Begin,
    /// In a thought that ends with this tag.
    Thought(&'static str),
    /// Between a thought and the answer.
    After,
    Answer,
}

/// Separates thoughts at the beginning of the text.
#[derive(Debug, Default)]
pub(super) struct ThoughtFilter {
    place: Place,
    held: String,
}

impl ThoughtFilter {
    /// Adds a chunk; those that can be passed on are appended.
    pub fn push(&mut self, chunk: Chunk, out: &mut impl Extend<Chunk>) {
        match chunk {
            Chunk::Text(text) if !matches!(self.place, Place::Answer) => {
                self.held.push_str(&text);
                self.split(out);
            }
            Chunk::Text(_)
            | Chunk::Thought(_)
            | Chunk::CallProgress { .. }
            | Chunk::Gap
            | Chunk::Usage(_) => {
                out.extend([chunk]);
            }
            other => {
                self.flush(out);
                out.extend([other]);
            }
        }
    }

    fn split(&mut self, out: &mut impl Extend<Chunk>) {
        loop {
            match self.place {
                Place::Answer => {
                    let text = std::mem::take(&mut self.held);
                    out.extend((!text.is_empty()).then_some(Chunk::Text(text)));
                    return;
                }
                Place::Begin | Place::After => {
                    let text = self.held.trim_start_matches('\u{feff}').trim_start();
                    let begun = TAGS.iter().find(|(open, _)| begins_with(text, open));
                    if let Some((open, close)) = begun {
                        self.held = text.get(open.len()..).unwrap_or_default().to_owned();
                        self.place = Place::Thought(close);
                    } else if let Some(rest) =
                        ANSWERS.iter().find_map(|mark| text.strip_prefix(mark))
                    {
                        self.held = rest.to_owned();
                        self.place = Place::Answer;
                    } else if TAGS
                        .iter()
                        .map(|tag| &tag.0)
                        .chain(ANSWERS)
                        .any(|mark| begins_with(mark, text))
                    {
                        return;
                    } else {
                        if matches!(self.place, Place::After) {
                            self.held = text.to_owned();
                        }
                        self.place = Place::Answer;
                    }
                }
                Place::Thought(close) => {
                    let Some((thought, rest)) = self.held.split_once(close) else {
                        // A part of the tag may have come.
                        let kept = (1..close.len())
                            .rev()
                            .find(|length| {
                                close.get(..*length).is_some_and(|part| self.held.ends_with(part))
                            })
                            .unwrap_or(0);
                        let tail = self.held.split_off(self.held.len() - kept);
                        let thought = std::mem::replace(&mut self.held, tail);
                        out.extend((!thought.is_empty()).then_some(Chunk::Thought(thought)));
                        return;
                    };
                    let (thought, rest) = (thought.to_owned(), rest.to_owned());
                    out.extend((!thought.is_empty()).then_some(Chunk::Thought(thought)));
                    self.held = rest;
                    self.place = Place::After;
                }
            }
        }
    }

    /// What is still held is passed on as what it is.
    fn flush(&mut self, out: &mut impl Extend<Chunk>) {
        let held = std::mem::take(&mut self.held);
        let is_blank = matches!(self.place, Place::After) && held.trim().is_empty();
        if held.is_empty() || is_blank {
            return;
        }
        out.extend([match self.place {
            Place::Thought(_) => Chunk::Thought(held),
            _ => Chunk::Text(held),
        }]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The thought and the text of an answer that comes in pieces of this many bytes.
    fn split(answer: &str, size: usize) -> (String, String) {
        let (mut filter, mut out) = (ThoughtFilter::default(), Vec::new());
        for piece in answer.as_bytes().chunks(size) {
            let piece = String::from_utf8(piece.to_vec()).expect("ASCII");
            filter.push(Chunk::Text(piece), &mut out);
        }
        filter.push(Chunk::Finished(None), &mut out);
        let (mut thought, mut text) = (String::new(), String::new());
        for chunk in out {
            match chunk {
                Chunk::Thought(more) => thought.push_str(&more),
                Chunk::Text(more) => text.push_str(&more),
                Chunk::Finished(None) => {}
                other => panic!("{other:?}"),
            }
        }
        (thought, text)
    }

    #[test]
    fn a_thought_at_the_beginning_is_taken_out_however_it_is_cut() {
        for (answer, thought, text) in [
            ("<think>a < b</think>\n\nYes.", "a < b", "Yes."),
            ("\n<thinking>a</thinking>b", "a", "b"),
            ("<think></think>b", "", "b"),
            ("<think>a</think>\n<think>b</think> c", "ab", "c"),
            ("<think>never closed", "never closed", ""),
            ("<think>cut </thi", "cut </thi", ""),
            (" plain <think>x</think>", "", " plain <think>x</think>"),
            ("<thin ice>", "", "<thin ice>"),
            ("<th", "", "<th"),
            ("[THINK]a[/THINK]b", "a", "b"),
            ("<Think>a</think>b", "a", "b"),
            ("<|START_THINKING|>a<|END_THINKING|>b", "a", "b"),
            ("<|channel|>analysis<|message|>a<|end|>b", "a", "b"),
            (
                "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b",
                "a",
                "b",
            ),
            ("<|channel|>final<|message|>b", "", "b"),
            ("<|channel>thought\na<channel|>b", "\na", "b"),
            ("", "", ""),
        ] {
            for size in [1, 2, 3, 5, 100] {
                let expected = (thought.to_owned(), text.to_owned());
                assert_eq!(split(answer, size), expected, "{answer:?} in {size}");
            }
        }
    }
}
