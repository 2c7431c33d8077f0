//! The arguments of `avocet script`, and what it prints: scripts, a new one, help.

use clap::{Args, Subcommand};

use std::path::PathBuf;

use avocet_core::i18n::{LocalizedText, script_help as phrases};
use avocet_script::reference::{CHAPTERS, EXAMPLES};

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum ScriptCommand {
    /// List the scripts that can be run by their ID.
    #[command(after_help = "Example:\n  avocet script list --json")]
    List(SearchFolders),
    /// Print a script's file.
    #[command(after_help = "Example:\n  avocet script show translator")]
    Show {
        /// A file, or the ID of a script in this folder, a folder of `-s`, or built in.
        script: String,
        #[command(flatten)]
        search: SearchFolders,
    },
    /// Write a new script: into your folder, or where a path says.
    #[command(after_help = "Examples:
  avocet script new greet
  avocet script new ./review.ai.yaml --like tools")]
    New {
        /// Its ID, or a path.
        name: String,
        /// Begin with the example of a chapter of `avocet help scripts`.
        #[arg(long, value_name = "CHAPTER")]
        like: Option<String>,
    },
    /// Check scripts, and all scripts of folders, without running them.
    #[command(after_help = "Example:\n  avocet script check .avocet/scripts --json")]
    Check(ScriptPaths),
    /// Run scripts with the replies of `NAME.replies.json` beside them, and compare.
    #[command(after_help = "Example:\n  avocet script test .avocet/scripts")]
    Test(ScriptPaths),
    /// Encrypt a script with age, for your own key and those of others.
    #[command(after_help = "Example:\n  avocet script seal review.ai.yaml --to age1…")]
    Seal(SealScript),
    /// Print a JSON Schema of the head of a script and of its directives.
    #[command(after_help = "Example:\n  avocet script schema > ai-yaml.schema.json")]
    Schema,
    /// Run a language server for editors on standard input and output.
    #[command(after_help = "Example:
  vim.lsp.start({ name = 'avocet', cmd = { 'avocet', 'script', 'lsp' } })   (in neovim)")]
    Lsp(SearchFolders),
}

/// What `avocet script seal` takes.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct SealScript {
    /// The script to encrypt.
    pub file: PathBuf,
    /// The public key of another person who may run it; may be given several times.
    #[arg(long, value_name = "KEY")]
    pub to: Vec<String>,
    /// Where to write it; beside the script as `NAME.sealed.ai.yaml` if left out.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Scripts, and folders of scripts.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct ScriptPaths {
    /// Files, folders, or IDs; this folder if there is none.
    #[arg(value_name = "PATH", default_value = ".")]
    pub paths: Vec<String>,
    #[command(flatten)]
    pub search: SearchFolders,
}

/// Where scripts are searched besides the usual folders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct SearchFolders {
    /// A folder to search for scripts; may be given several times.
    #[arg(short, long, value_name = "DIR")]
    pub search: Vec<PathBuf>,
}

/// The text of a new script without an example.
const STARTER: &str = "---
title: What it does, in one line
input:
  - content: {required: true, index: 0, description: the text}
---
system: You answer in one sentence.
---
user: \"{{content}}\"
assistant: \"[[ANSWER]]\"
";

/// The files of a new script: its own first, with its ending, then those it uses.
pub fn new_script_files(
    name: &str,
    like: Option<&str>,
) -> Result<Vec<(String, &'static str)>, LocalizedText> {
    let own = format!("{name}.ai.yaml");
    let Some(like) = like else { return Ok(vec![(own, STARTER)]) };
    let example = EXAMPLES.iter().find(|example| example.chapter == like);
    let files = example.ok_or_else(|| unknown_chapter(like))?.files.iter();
    let names = files.enumerate().map(|(at, (file, text))| match at {
        0 => (own.clone(), *text),
        _ => ((*file).to_owned(), *text),
    });
    Ok(names.collect())
}

pub fn unknown_chapter(name: &str) -> LocalizedText {
    phrases::UNKNOWN_CHAPTER.with("name", name)
}

pub fn known_chapters() -> LocalizedText {
    let names: Vec<&str> = CHAPTERS.iter().map(|chapter| chapter.name).collect();
    phrases::KNOWN_CHAPTERS.with("list", names.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_script_takes_the_files_of_its_example_and_its_own_name() {
        let files = new_script_files("mine", Some("groups")).unwrap();
        let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["mine.ai.yaml", "groups-ana.ai.yaml", "groups-bo.ai.yaml"]);
        assert!(new_script_files("mine", Some("nosuch")).is_err());
    }
}
