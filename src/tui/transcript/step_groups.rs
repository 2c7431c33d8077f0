//! Finds the runs of steps that only looked at something: one row is for all of them until the
//! user unfolds it.

use super::block::{Block, BlockBody};
use super::step::{Fold, StepBlock};
use super::step_run::{RunSummary, StepRun};
use crate::text;
use avocet_present::outcome::{VerbForm, step_name};

/// Steps that are named in the row.
const NAMED: usize = 12;
/// Columns of the name of one.
const NAME: usize = 40;

/// Finds the run around the step with this id, after it finished.
pub(super) fn group_around(blocks: &mut [Block], id: &str) {
    let is_it = |block: &Block| matches!(&block.body, BlockBody::Step(step) if step.id == id);
    let Some(at) = blocks.iter().rposition(is_it) else { return };
    let quiet_before = blocks.iter().take(at + 1).rev().take_while(|block| is_quiet(block)).count();
    let quiet_after = blocks.iter().skip(at + 1).take_while(|block| is_quiet(block)).count();
    if quiet_before > 0 {
        group(blocks.get_mut(at + 1 - quiet_before..at + 1 + quiet_after).unwrap_or_default());
    }
}

/// Shows each step of the run that this block is in; false if it is in none.
pub(super) fn unfold(blocks: &mut [Block], at: usize) -> bool {
    let in_run = |block: &Block| {
        matches!(&block.body, BlockBody::Step(step)
            if matches!(step.run, StepRun::First(_) | StepRun::Later))
    };
    if !blocks.get(at).is_some_and(|block| in_run(block) && block.fold == Fold::Auto) {
        return false;
    }
    let later = |block: &Block| matches!(&block.body, BlockBody::Step(step) if matches!(step.run, StepRun::Later));
    let above = blocks.iter().take(at + 1).rev().take_while(|block| later(block)).count();
    let first = at.saturating_sub(above);
    let mut run = blocks.iter_mut().skip(first);
    if let Some(head) = run.next() {
        set_run(head, StepRun::Unfolded);
    }
    for block in run.take_while(|block| later(block)) {
        set_run(block, StepRun::Unfolded);
    }
    true
}

/// Folds all runs again.
pub(super) fn regroup(blocks: &mut [Block]) {
    for block in blocks.iter_mut() {
        if matches!(&block.body, BlockBody::Step(step) if matches!(step.run, StepRun::Unfolded)) {
            set_run(block, StepRun::Alone);
        }
    }
    for run in blocks.chunk_by_mut(|one, other| is_quiet(one) && is_quiet(other)) {
        if run.iter().all(is_quiet) {
            group(run);
        }
    }
}

fn is_quiet(block: &Block) -> bool {
    matches!(&block.body, BlockBody::Step(step)
        if step.is_quiet() && !matches!(step.run, StepRun::Unfolded))
}

fn group(blocks: &mut [Block]) {
    let summary = summarise(blocks);
    let [first, later @ ..] = blocks else { return };
    let is_run = !later.is_empty();
    set_run(first, if is_run { StepRun::First(Box::new(summary)) } else { StepRun::Alone });
    later.iter_mut().for_each(|block| set_run(block, StepRun::Later));
}

fn summarise(blocks: &[Block]) -> RunSummary {
    let steps = || blocks.iter().filter_map(step_of);
    let name = |step: &StepBlock| {
        let (verb, subject) = step_name(&step.work, VerbForm::Done);
        (verb, text::elide_middle(&subject, NAME), step.total())
    };
    RunSummary {
        steps: blocks.len(),
        duration_ms: steps().map(StepBlock::duration_ms).sum(),
        names: steps().take(NAMED).map(name).collect(),
    }
}

fn step_of(block: &Block) -> Option<&StepBlock> {
    match &block.body {
        BlockBody::Step(step) => Some(step),
        _ => None,
    }
}

/// The block is laid out again only if that changes it.
fn set_run(block: &mut Block, run: StepRun) {
    let BlockBody::Step(step) = &mut block.body else { return };
    let same = match (&step.run, &run) {
        (StepRun::First(one), StepRun::First(other)) => one == other,
        (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
    };
    if !same {
        step.run = run;
        block.mark_changed();
    }
}
