//! The arguments of `avocet self`.

use clap::{Args, Subcommand};

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum SelfCommand {
    /// Install a newer release over this one, once its signature and checksum have been compared.
    #[command(after_help = "Example:\n  avocet self update --check")]
    Update(UpdateOptions),
}

#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct UpdateOptions {
    /// The folder or address of the release; without it, the one that this program came from.
    #[arg(long, value_name = "FOLDER_OR_URL")]
    pub from: Option<String>,
    /// The public key of minisign that has to have signed it; without it, the one built in.
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Only say whether there is a newer one.
    #[arg(long)]
    pub check: bool,
}
