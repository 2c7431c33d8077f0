//! What waits in a chat while the files of the user's commands are read: commands that are not built
//! in, and what came after them.

use std::collections::VecDeque;

use super::super::menu::SentCommand;
use super::super::platform::DeliveryId;
use super::speaker::Speaker;
use avocet_core::protocol::Mention;

/// Something that a user sent.
#[derive(Clone, Debug)]
pub struct WaitingInput {
    pub speaker: Speaker,
    pub delivery: DeliveryId,
    pub words: WaitingWords,
}

#[derive(Clone, Debug)]
pub enum WaitingWords {
    /// As the service sent it.
    Command(SentCommand),
    Text(String, Vec<Mention>),
}

/// In the order in which it came.
#[derive(Debug, Default)]
pub struct WaitingInputs {
    inputs: VecDeque<WaitingInput>,
    /// How many of them were there when the command files were requested; 0: they were not.
    asked: usize,
}

impl WaitingInputs {
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &WaitingInput> {
        self.inputs.iter()
    }

    pub fn push(&mut self, speaker: &Speaker, delivery: DeliveryId, words: WaitingWords) {
        self.inputs.push_back(WaitingInput { speaker: speaker.clone(), delivery, words });
    }

    /// Whether the files are to be read now: for all that waits, unless they are being read already.
    pub fn ask(&mut self) -> bool {
        let is_new = self.asked == 0 && !self.inputs.is_empty();
        if is_new {
            self.asked = self.inputs.len();
        }
        is_new
    }

    /// The files were read: what came before that was asked for, and what needs no files after it.
    pub fn take(&mut self, needs_files: impl Fn(&WaitingWords) -> bool) -> Vec<WaitingInput> {
        let asked = std::mem::take(&mut self.asked).min(self.inputs.len());
        let more = self.inputs.iter().skip(asked).take_while(|one| !needs_files(&one.words));
        let count = asked + more.count();
        self.inputs.drain(..count).collect()
    }
}
