//! The blocks of what a subagent did, inside the block of its task.

use super::block::{Block, BlockBody};
use super::time::ArrivalTime;
use avocet_core::i18n::agents as phrases;
use avocet_core::protocol::{Notice, TurnOutcome};

/// The most blocks that are kept of the work of a subagent.
const MAX_NESTED: usize = 400;

/// Drops the oldest of too many blocks; a line in their place says so.
pub(super) fn drop_oldest(blocks: &mut Vec<Block>, now: ArrivalTime) {
    if blocks.len() > MAX_NESTED {
        let notice = Notice::info(phrases::EARLIER);
        let first = Block::new(BlockBody::Notice(notice), now);
        blocks.drain(..=blocks.len() - MAX_NESTED);
        blocks.insert(0, first);
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
