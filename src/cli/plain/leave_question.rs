//! The question where to write an unsaved conversation, as numbered lines.

use avocet_core::i18n::{LocalizedText, linear as w, screen as s};

#[derive(Debug)]
pub struct LeaveQuestion {
    why: LocalizedText,
    paths: Vec<String>,
    stage: LeaveStage,
}

/// What the next line is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeaveStage {
    /// The number of a choice.
    Choice,
    /// The path of a file.
    Path,
    /// Nothing: a file is being written.
    Writing,
}

/// The result of reading a line.
#[derive(Clone, Debug, PartialEq)]
pub enum UnsavedAnswer {
    /// Write the conversation to this file, then leave.
    Write(String),
    /// Leave and lose the conversation.
    Discard,
    Stay,
    /// Show all of these lines and ask the user again.
    Lines(Vec<LocalizedText>),
}

impl LeaveQuestion {
    pub fn new(why: LocalizedText, places: Vec<String>) -> LeaveQuestion {
        LeaveQuestion { why, paths: places, stage: LeaveStage::Choice }
    }

    /// The whole question.
    pub fn ask(&mut self) -> Vec<LocalizedText> {
        self.stage = LeaveStage::Choice;
        let places = self.paths.iter().map(|path| s::LEAVE_WRITE.with("path", path.as_str()));
        let rest = [s::LEAVE_OTHER.into(), s::LEAVE_LOSE.into(), w::LEAVE_STAY.into()];
        let choices =
            (1..).zip(places.chain(rest)).map(|(number, choice): (usize, LocalizedText)| {
                w::CHOICE.with("n", number).with("choice", choice)
            });
        let title = w::LEAVE_TITLE.with("why", self.why.clone());
        [title].into_iter().chain(choices).chain([w::HOW.into()]).collect()
    }

    pub fn answer(&mut self, line: &str) -> UnsavedAnswer {
        let line = line.trim();
        match self.stage {
            LeaveStage::Writing => UnsavedAnswer::Lines(Vec::new()),
            LeaveStage::Path if line.is_empty() => UnsavedAnswer::Lines(self.ask()),
            LeaveStage::Path => self.write(line.to_owned()),
            LeaveStage::Choice => self.choose(line),
        }
    }

    fn choose(&mut self, line: &str) -> UnsavedAnswer {
        let Some(at) = line.parse::<usize>().ok().and_then(|number| number.checked_sub(1)) else {
            return UnsavedAnswer::Lines(self.ask());
        };
        match self.paths.get(at) {
            Some(path) => self.write(path.clone()),
            None => match at - self.paths.len() {
                0 => {
                    self.stage = LeaveStage::Path;
                    UnsavedAnswer::Lines(vec![w::LEAVE_PATH.into()])
                }
                1 => UnsavedAnswer::Discard,
                2 => UnsavedAnswer::Stay,
                _ => UnsavedAnswer::Lines(self.ask()),
            },
        }
    }

    fn write(&mut self, path: String) -> UnsavedAnswer {
        self.stage = LeaveStage::Writing;
        UnsavedAnswer::Write(path)
    }

    /// True while a file is being written.
    pub fn is_writing(&self) -> bool {
        self.stage == LeaveStage::Writing
    }
}
