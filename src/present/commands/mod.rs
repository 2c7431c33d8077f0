//! Slash commands: the input that the user addresses to the program instead of the model.
//!
//! One table ([`table::COMMANDS`]) has a row for each command, including its function. Dispatch,
//! checking of arguments, completion, help and the manual's table are derived from the rows; custom
//! commands and skills complement them as data (`Extensions`). A command returns a
//! [`CommandOutcome`], which is data: it does not depend on a surface and never calls the session.
//! The model cannot see or call any of this.

pub use avocet_core::protocol::{Availability, Category, PageRow, Surface, WhileBusy};

mod command;
mod complete;
mod configuration;
mod custom;
mod dispatch;
mod goals;
mod help;
mod info;
mod manual;
mod registry;
mod session;
pub mod table;
#[cfg(test)]
mod tests;

pub use command::{
    ApprovalSpan, ChatAction, CommandContext, CommandOption, CommandOutcome, OptionValues,
    SlashCommand, UiAction, ValueSource,
};
pub use complete::{Candidate, complete, typed_argument, typed_folder};
pub use configuration::{effort_choices, effort_in_use, efforts_page, model_rows};
pub use custom::{NO_BOT, bots_page, omitted_skill_rows, run_op, sections as kept_sections};
pub use dispatch::{canonical_name, dispatch, dispatch_over_question, find};
pub use goals::goal_to_set;
pub use help::{by_category, commands_table, page as help_page, topic_rows, with_aliases};
pub use info::permission_rows;
pub use info::worktrees_op;
pub use manual::{ManualTopic, TOPICS, find_topic, markdown_table};
pub use registry::{CalledRows, CommandRow, CommandRowArgument, RowOrigin, rows};
pub use session::REVIEW;

use command::{refusal, shorten};

/// Every name and alias of the table.
pub fn built_in_names() -> Vec<&'static str> {
    table::COMMANDS.iter().flat_map(SlashCommand::names).collect()
}
