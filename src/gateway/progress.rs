//! The steps of a turn as one message that changes: what runs, and what came of it. Pure.

use super::timeline::{PostBody, PostKey, Timeline};
use avocet_core::i18n::{Lang, LocalizedText, chat as w};
use avocet_core::protocol::{Observation, Outcome, Step};
use avocet_core::text::{cut, one_line};
use avocet_present::outcome::step_title;
use avocet_safety::sanitize::{CarriageReturnMode, clean};

/// Steps that are shown; earlier ones are counted.
const MAX_STEPS: usize = 8;
/// Longest line, in characters.
const MAX_LENGTH: usize = 160;

#[derive(Debug, Default)]
pub struct ProgressPost {
    post: Option<PostKey>,
    /// The id of a step, and its line.
    lines: Vec<(String, String)>,
}

impl ProgressPost {
    pub fn start(&mut self, step: &Step, lang: Lang, timeline: &mut Timeline) {
        let line = w::STEP_RUNS.with("step", command(step, lang)).text(lang);
        self.lines.push((step.id.clone(), line));
        self.show(lang, timeline);
    }

    /// What a subagent does, in the line of its task.
    pub fn update(&mut self, id: &str, text: &LocalizedText, lang: Lang, timeline: &mut Timeline) {
        let text =
            cut(&one_line(&clean(&text.text(lang), CarriageReturnMode::EndsLine)), MAX_LENGTH);
        if let Some((_, line)) = self.lines.iter_mut().find(|(known, _)| known == id) {
            *line = w::STEP_RUNS.with("step", text).text(lang);
            self.show(lang, timeline);
        }
    }

    pub fn end(&mut self, observation: &Observation, lang: Lang, timeline: &mut Timeline) {
        let id = &observation.step.id;
        let Some((_, line)) = self.lines.iter_mut().find(|(known, _)| known == id) else { return };
        let ran = matches!(observation.outcome, Outcome::Ran | Outcome::Edited);
        let word =
            if ran && observation.exit_code == Some(0) { w::STEP_DONE } else { w::STEP_FAILED };
        *line = word.with("step", command(&observation.step, lang)).text(lang);
        self.show(lang, timeline);
    }

    /// A step that the policy refused: it is shown whatever else is.
    pub fn refuse(&mut self, observation: &Observation, lang: Lang, timeline: &mut Timeline) {
        let why = observation.risk.main_reason().map(|why| why.text(lang)).unwrap_or_default();
        let why = cut(&one_line(&clean(&why, CarriageReturnMode::EndsLine)), MAX_LENGTH);
        let line = w::STEP_REFUSED.with("step", command(&observation.step, lang)).with("why", why);
        let id = observation.step.id.clone();
        let line = line.text(lang);

        match self.lines.iter_mut().find(|(known, _)| *known == id) {
            Some((_, shown)) => *shown = line,
            None => self.lines.push((id, line)),
        }
        self.show(lang, timeline);
    }

    fn show(&mut self, lang: Lang, timeline: &mut Timeline) {
        let before = self.lines.len().saturating_sub(MAX_STEPS);
        let head = (before > 0).then(|| w::STEPS_BEFORE.with("n", before).text(lang));
        let lines = self.lines.iter().skip(before).map(|(_, line)| line.clone());
        let body = PostBody::Plain(head.into_iter().chain(lines).collect::<Vec<_>>().join("\n"));
        match self.post {
            Some(post) => timeline.update(post, body),
            None => self.post = Some(timeline.open(body)),
        }
    }

    /// What follows comes below: later steps get a message of their own.
    pub fn close(&mut self, timeline: &mut Timeline) {
        self.post.take().into_iter().for_each(|post| timeline.settle(post));
        self.lines.clear();
    }
}

fn command(step: &Step, lang: Lang) -> String {
    cut(
        &one_line(&clean(&step_title(&step.work).text(lang), CarriageReturnMode::EndsLine)),
        MAX_LENGTH,
    )
}
