//! How a step ended, in lines: of its output only what tells.

use super::effect::PlainEffect;
use super::lines::PlainLines;
use avocet_core::i18n::{LocalizedText, Phrase, cli, linear as w};
use avocet_core::protocol::{Observation, Outcome as Came, Step, StepAction, Tier};
use avocet_present::outcome::{failed_tests, is_told, step_title, telling_lines, ways_out};

/// The maximum number of lines of output: of a command of the user, and of a step of the model.
const OUTPUT: usize = 40;
const EXCERPT: usize = 8;
/// The lines of the message of a failed test.
const MESSAGE: usize = 4;

impl PlainLines {
    pub(super) fn on_observation(&self, observation: &Observation) -> Vec<PlainEffect> {
        // What only read, for the model: its own line says what.
        let is_typed = matches!(observation.step.work, StepAction::Shell { .. });
        if !is_typed && observation.risk.tier == Tier::L0 && observation.succeeded() {
            return Vec::new();
        }
        let mut effects = self.output_lines(observation, is_typed);
        effects.push(match (observation.outcome, observation.shown_exit_code()) {
            (Came::Ran, _) if observation.runs_on() => self.say(note_or(observation, w::WORKED)),
            (Came::Ran | Came::Edited, Some(0)) => self.say(w::WORKED),
            (Came::Ran | Came::Edited, Some(code)) => self.say(w::EXITED.with("code", code)),
            (Came::Ran | Came::Edited, None) => self.say(w::KILLED),
            (Came::Declined, _) => self.step_line(w::DECLINED, &observation.step),
            (Came::Refused, _) => self.refusal_line(observation),
            (Came::TimedOut, _) => self.say(w::TIMED_OUT),
            (Came::Interrupted, _) => self.say(w::INTERRUPTED),
            (Came::NotStarted, _) => {
                let say = w::NOT_STARTED.with("step", step_title(&observation.step.work));
                self.say(say.with("why", note_or(observation, cli::NO_REASON)))
            }
            (Came::Cancelled, _) => self.step_line(w::CANCELLED, &observation.step),
        });
        effects.extend(observation.failure_note().map(|why| self.say(why.clone())));
        effects.extend(ways_out(observation).map(|ways| self.say(ways)));
        effects
    }

    /// The tests that failed, the lines that say why, or the first ones.
    fn output_lines(&self, observation: &Observation, is_typed: bool) -> Vec<PlainEffect> {
        let outputs = [&observation.stdout, &observation.stderr];
        let lines: Vec<&str> = outputs.into_iter().flat_map(|text| text.lines()).collect();
        let parsed = observation.parsed.as_ref();
        let tests = parsed.map(|parsed| failed_tests(parsed, &observation.cwd)).unwrap_or_default();
        let mut shown: Vec<String> = Vec::new();
        if is_typed {
            shown.extend(lines.iter().take(OUTPUT).map(|line| format!("  {line}")));
        } else if observation.succeeded() {
            shown.extend(lines.iter().take(EXCERPT).map(|line| format!("  {line}")));
        } else if tests.is_empty() {
            let told: Vec<&str> = lines.iter().copied().filter(|line| is_told(line)).collect();
            let telling = told.get(telling_lines(&told, EXCERPT).0).unwrap_or_default();
            shown.extend(telling.iter().map(|line| format!("  {line}")));
        } else {
            for test in tests.iter().take(MESSAGE) {
                shown.push(format!("  {}", test.name));
                shown.extend(test.said.iter().take(MESSAGE).map(|line| format!("    {line}")));
            }
        }
        let more = lines.len().saturating_sub(shown.len());
        let more = (more > 0).then(|| self.say(w::MORE_OUTPUT.with("n", more)));
        shown.iter().map(|line| self.line(line)).chain(more).collect()
    }

    fn step_line(&self, phrase: Phrase, step: &Step) -> PlainEffect {
        self.say(phrase.with("step", step_title(&step.work)))
    }

    fn refusal_line(&self, observation: &Observation) -> PlainEffect {
        let why = observation.risk.main_reason().cloned();
        let why = why.unwrap_or_else(|| cli::NO_REASON.into());
        self.say(w::REFUSED.with("step", step_title(&observation.step.work)).with("why", why))
    }
}

fn note_or(observation: &Observation, phrase: Phrase) -> LocalizedText {
    observation.note.clone().unwrap_or_else(|| phrase.into())
}
