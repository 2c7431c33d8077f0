//! What is left on the normal screen when the full screen was left: what the conversation was, what
//! it did, and how to go on with it.

use super::state::State;
use super::text;
use avocet_core::i18n::{LocalizedText, agents, cli, plural, screen as phrases};
use avocet_core::text::format_count;

/// Its lines; none without a conversation that can be resumed.
pub fn lines(state: &State) -> Vec<LocalizedText> {
    let facts = &state.facts;
    if facts.session.is_empty() || facts.turns == 0 || facts.unsaved.is_some() {
        return Vec::new();
    }
    let usage = facts.usage;
    let tokens = phrases::STATUS_TOKENS
        .with("in", format_count(usage.input_tokens))
        .with("out", format_count(usage.output_tokens));
    let mut said = match state.display.side_panel.changed_files() {
        0 => tokens,
        files => phrases::EXIT_FILES
            .with("files", plural(files, phrases::START_CHANGED_ONE, phrases::START_CHANGED))
            .with("tokens", tokens),
    };
    if !usage.cost.is_zero() {
        said = phrases::EXIT_COST.with("said", said).with("cost", usage.cost.to_string());
    }
    let title = Some(text::single_line(&facts.title)).filter(|title| !title.is_empty());
    let title = title.map(|title| cli::DOCTOR_LINE.with("text", title));
    let resume = phrases::EXIT_RESUME.with("id", facts.session.as_str());
    let stopped = Some(facts.agents.running).filter(|n| *n > 0);
    let stopped = stopped.map(|n| agents::QUIT_STOPPED.with("n", n));
    title.into_iter().chain([said]).chain(stopped).chain([resume]).collect()
}
