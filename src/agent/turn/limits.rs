//! When a turn has to stop and ask: too many steps, the same step again, the same
//! failure again.

use crate::protocol::{Observation, Step, Work};
use crate::words::{Say, agent as words};

/// So many equal steps or failures in a row are a loop.
const LOOP: usize = 3;

#[derive(Debug)]
pub struct Limits {
    max_steps: usize,
    /// Steps that ran since the turn began or was told to go on.
    ran: usize,
    last: Option<Work>,
    same: usize,
    failed: Option<String>,
    failures: usize,
}

impl Limits {
    pub fn new(max_steps: usize) -> Limits {
        Limits { max_steps, ran: 0, last: None, same: 0, failed: None, failures: 0 }
    }

    /// Whether even a safe step is asked about.
    pub fn asks_at_each(&self) -> bool {
        self.max_steps == 0
    }

    /// Why to pause before this step, or before the next call of the model.
    pub fn pause(&self, next: Option<&Step>) -> Option<Say> {
        if let Some(program) = self.failed.as_ref().filter(|_| self.failures >= LOOP) {
            return Some(words::SAME_FAILURE.with("program", program.as_str()));
        }
        let next = next?;
        if self.max_steps > 0 && self.ran >= self.max_steps {
            return Some(words::LIMIT.with("n", self.ran));
        }
        let again = self.last.as_ref() == Some(&next.work) && self.same + 1 >= LOOP;
        again.then(|| words::SAME_STEP.with("step", one_line(&next.work)))
    }

    pub fn proposed(&mut self, work: &Work) {
        if self.last.as_ref() == Some(work) {
            self.same += 1;
        } else {
            self.last = Some(work.clone());
            self.same = 1;
        }
    }

    pub fn observed(&mut self, seen: &Observation) {
        self.ran += usize::from(seen.exit_code.is_some() || seen.duration_ms > 0);
        if seen.succeeded() {
            self.failed = None;
            self.failures = 0;
            return;
        }
        let kind = failure(seen);
        if self.failed.as_deref() == Some(kind) {
            self.failures += 1;
        } else {
            self.failed = Some(kind.to_owned());
            self.failures = 1;
        }
    }

    /// A person said to go on.
    pub fn start_over(&mut self) {
        *self = Limits::new(self.max_steps);
    }
}

/// What failed: the program, or the tool.
fn failure(seen: &Observation) -> &str {
    match &seen.step.work {
        Work::Exec { program, .. } => program,
        Work::Tool { name, .. } => name,
        Work::Shell { line } => line,
    }
}

/// A step on one line, to speak of it.
pub fn one_line(work: &Work) -> String {
    match work {
        Work::Exec { program, args } => {
            let mut words = vec![program.as_str()];
            words.extend(args.iter().map(String::as_str));
            words.join(" ")
        }
        Work::Tool { name, input } => format!("{name} {input}"),
        Work::Shell { line } => line.clone(),
    }
}
