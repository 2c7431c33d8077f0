//! Asks where to write an unsaved conversation before leaving, as numbered lines.

use super::{PlainEffect, PlainSession};
use crate::cli::Exit;
use crate::i18n::{LocalizedText, linear as w, screen as s};
use crate::protocol::{ExportFormat, Notice, NoticeLevel, Op};

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
pub enum LeaveAnswer {
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

    pub fn answer(&mut self, line: &str) -> LeaveAnswer {
        let line = line.trim();
        match self.stage {
            LeaveStage::Writing => LeaveAnswer::Lines(Vec::new()),
            LeaveStage::Path if line.is_empty() => LeaveAnswer::Lines(self.ask()),
            LeaveStage::Path => self.write(line.to_owned()),
            LeaveStage::Choice => self.choose(line),
        }
    }

    fn choose(&mut self, line: &str) -> LeaveAnswer {
        let Some(at) = line.parse::<usize>().ok().and_then(|number| number.checked_sub(1)) else {
            return LeaveAnswer::Lines(self.ask());
        };
        match self.paths.get(at) {
            Some(path) => self.write(path.clone()),
            None => match at - self.paths.len() {
                0 => {
                    self.stage = LeaveStage::Path;
                    LeaveAnswer::Lines(vec![w::LEAVE_PATH.into()])
                }
                1 => LeaveAnswer::Discard,
                2 => LeaveAnswer::Stay,
                _ => LeaveAnswer::Lines(self.ask()),
            },
        }
    }

    fn write(&mut self, path: String) -> LeaveAnswer {
        self.stage = LeaveStage::Writing;
        LeaveAnswer::Write(path)
    }

    /// True while a file is being written.
    pub fn is_writing(&self) -> bool {
        self.stage == LeaveStage::Writing
    }
}

impl PlainSession {
    /// Leaves, unless something would be lost: then it asks first.
    pub(super) fn leave(&mut self) -> Vec<PlainEffect> {
        let unsaved = self.facts.unsaved.as_ref().filter(|unsaved| !unsaved.elsewhere);
        let Some(unsaved) = unsaved.filter(|_| self.can_ask) else {
            self.knows_unsaved = self.can_ask && self.facts.unsaved.is_some();
            return vec![PlainEffect::End(Exit::Done)];
        };
        let mut leaving = LeaveQuestion::new(unsaved.why.clone(), unsaved.places.clone());
        let says = leaving.ask();
        self.leaving = Some(leaving);
        self.lines_and_prompt(says)
    }

    pub(super) fn answer_leaving(&mut self, answer: LeaveAnswer) -> Vec<PlainEffect> {
        match answer {
            LeaveAnswer::Write(path) => {
                vec![PlainEffect::Send(Op::Export { format: ExportFormat::Md, path: Some(path) })]
            }
            LeaveAnswer::Discard => {
                self.knows_unsaved = true;
                vec![PlainEffect::End(Exit::Done)]
            }
            LeaveAnswer::Stay => {
                self.leaving = None;
                self.prompt()
            }
            LeaveAnswer::Lines(says) if says.is_empty() => Vec::new(),
            LeaveAnswer::Lines(says) => self.lines_and_prompt(says),
        }
    }

    /// Reports a file that could not be written, and asks the question again.
    pub(super) fn on_notice(&mut self, notice: Notice) -> Vec<PlainEffect> {
        let failed = notice.level != NoticeLevel::Info;
        match &mut self.leaving {
            Some(leaving) if leaving.is_writing() && failed => {
                let says = leaving.ask();
                [PlainEffect::Notice(notice)]
                    .into_iter()
                    .chain(self.lines_and_prompt(says))
                    .collect()
            }
            _ => self.with_prompt(PlainEffect::Notice(notice)),
        }
    }
}
