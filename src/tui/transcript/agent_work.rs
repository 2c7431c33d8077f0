//! What a subagent did, inside the block of its task.

use super::block::{Block, BlockBody};
use super::builder::TranscriptBuilder;
use super::step_groups;
use avocet_core::i18n::agents as phrases;
use avocet_core::protocol::{Event, Notice, TurnOutcome};
use avocet_present::subagents::SubagentLine;

/// The most blocks that are kept of the work of a subagent.
const MAX_NESTED: usize = 400;

/// The block of its task says what a subagent does, and has in it all that happened; a step of it that
/// the user was asked about is shown by itself too, to its end.
pub(super) fn show_subagent(builder: &mut TranscriptBuilder, event: &Event) {
    let mut was_asked = false;
    if let Event::StepStarted { step, .. } = event.of_any_agent()
        && let Some((_, shown)) = builder.find(&step.id)
    {
        was_asked = shown.asked;
        builder.apply(event.of_any_agent());
    }
    if let Event::StepFinished(observation) = event.of_any_agent()
        && builder.find(&observation.step.id).is_some()
    {
        builder.finish_step(observation);
    }
    if let Event::SubagentStarted(info) = event
        && let Some((_, step)) = builder.find(&info.agent)
    {
        step.agent = Some(Box::new(SubagentLine::new(info)));
    }
    let Event::Subagent { agent, tokens, happened } = event else { return };
    let TranscriptBuilder { now, show_thinking, .. } = *builder;
    let of_agent = |block: &&mut Block| block.is_of_agent(agent);
    let Some(block) = builder.blocks.iter_mut().rev().find(of_agent) else { return };
    let blocks = std::mem::take(&mut block.nested);
    let mut nested = TranscriptBuilder { blocks, now, ..TranscriptBuilder::new(show_thinking) };
    nested.apply(happened);
    if let Event::StepStarted { step, .. } = &**happened
        && was_asked
        && let Some((_, step)) = nested.find(&step.id)
    {
        step.asked = true;
    }
    // Each of its steps has a row.
    let last = nested.blocks.len().saturating_sub(1);
    step_groups::unfold(&mut nested.blocks, last);
    drop_oldest(&mut nested);
    block.nested = nested.blocks;
    block.mark_changed();
    if let BlockBody::Step(step) = &mut block.body {
        step.agent.iter_mut().for_each(|line| line.apply(*tokens, happened));
    }
}

/// Where the first of the blocks were dropped, a line says so.
fn drop_oldest(nested: &mut TranscriptBuilder) {
    if nested.blocks.len() > MAX_NESTED {
        nested.blocks.drain(..=nested.blocks.len() - MAX_NESTED);
        nested.notice(Notice::info(phrases::EARLIER));
        nested.blocks.rotate_right(1);
    }
}

/// A subagent of an earlier run does not work any more.
pub(super) fn interrupt_subagents(blocks: &mut [Block]) {
    for block in blocks {
        if let BlockBody::Step(step) = &mut block.body
            && let Some(agent) = &mut step.agent
        {
            agent.end.get_or_insert((TurnOutcome::Interrupted, 0));
        }
    }
}
