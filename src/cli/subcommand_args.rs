//! The arguments of subcommands that have no file of their own.

use clap::{Args, Subcommand};

#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct LoginOptions {
    /// The provider's name, or the server's URL.
    pub provider: Option<String>,
    /// Read the key from standard input.
    #[arg(long)]
    pub key_stdin: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum ModelCommand {
    /// List the server's models and the built-in ones.
    #[command(after_help = "Example:\n  avocet model list --base-url http://127.0.0.1:11434/v1")]
    List,
    /// Show what is known of a model: context, tools, prices.
    #[command(after_help = "Example:\n  avocet model show gpt-6-sol")]
    Show {
        /// Its name; without one, the model in use.
        name: Option<String>,
    },
    /// Make a small request, and report its speed and which dialects work.
    #[command(after_help = "Example:\n  avocet model test --base-url http://127.0.0.1:8080/v1")]
    Test {
        /// Its name; without one, the model in use.
        name: Option<String>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum PluginCommand {
    /// List the installed plugins.
    #[command(after_help = "Example:\n  avocet plugin list --json")]
    List,
    /// Run a plugin in this terminal.
    #[command(after_help = "Example:\n  avocet plugin run loc src --top 5")]
    Run {
        /// Its name, as `plugin list` shows it, and the arguments passed to it unchanged.
        // One list: whatever follows the name is the plugin's, `--help` and `--json` too.
        #[arg(
            value_names = ["ALIAS", "ARGS"],
            num_args = 1..,
            required = true,
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        words: Vec<String>,
    },
}
