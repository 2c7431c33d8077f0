//! Asks where to write an unsaved conversation before leaving, as numbered lines.

use crate::words::{LocalizedText, linear as w, screen as s};

#[derive(Debug)]
pub struct Leaving {
    why: LocalizedText,
    places: Vec<String>,
    next: Next,
}

/// What the next line is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The number of a choice.
    Choice,
    /// The path of a file.
    Path,
    /// Nothing: a file is being written.
    Written,
}

/// The result of reading a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Write the conversation to this file, then leave.
    Write(String),
    /// Leave and lose the conversation.
    Lose,
    Stay,
    /// Show all of these lines and ask the user again.
    Lines(Vec<LocalizedText>),
}

impl Leaving {
    pub fn new(why: LocalizedText, places: Vec<String>) -> Leaving {
        Leaving { why, places, next: Next::Choice }
    }

    /// The whole question.
    pub fn ask(&mut self) -> Vec<LocalizedText> {
        self.next = Next::Choice;
        let places = self.places.iter().map(|path| s::LEAVE_WRITE.with("path", path.as_str()));
        let rest = [s::LEAVE_OTHER.into(), s::LEAVE_LOSE.into(), w::LEAVE_STAY.into()];
        let choices =
            (1..).zip(places.chain(rest)).map(|(number, choice): (usize, LocalizedText)| {
                w::CHOICE.with("n", number).with("choice", choice)
            });
        let title = w::LEAVE_TITLE.with("why", self.why.clone());
        [title].into_iter().chain(choices).chain([w::HOW.into()]).collect()
    }

    pub fn answer(&mut self, line: &str) -> Answer {
        let line = line.trim();
        match self.next {
            Next::Written => Answer::Lines(Vec::new()),
            Next::Path if line.is_empty() => Answer::Lines(self.ask()),
            Next::Path => self.write(line.to_owned()),
            Next::Choice => self.choose(line),
        }
    }

    fn choose(&mut self, line: &str) -> Answer {
        let Some(at) = line.parse::<usize>().ok().and_then(|number| number.checked_sub(1)) else {
            return Answer::Lines(self.ask());
        };
        match self.places.get(at) {
            Some(path) => self.write(path.clone()),
            None => match at - self.places.len() {
                0 => {
                    self.next = Next::Path;
                    Answer::Lines(vec![w::LEAVE_PATH.into()])
                }
                1 => Answer::Lose,
                2 => Answer::Stay,
                _ => Answer::Lines(self.ask()),
            },
        }
    }

    fn write(&mut self, path: String) -> Answer {
        self.next = Next::Written;
        Answer::Write(path)
    }

    /// True while a file is being written.
    pub fn is_writing(&self) -> bool {
        self.next == Next::Written
    }
}
