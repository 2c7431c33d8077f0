//! Every command takes the options of a run, but not every command has a use for them. A command's
//! help and its completion name those that change what it does.

use clap::{Arg, Command};

/// The options that concern a command and those below it; a command without a row starts a session
/// and uses all of them.
#[rustfmt::skip]
const RELATED: &[(&str, &[&str])] = &[
    ("session",     &["cwd", "yes", "json"]),
    ("script",      &["cwd", "trust", "json"]),
    ("policy",      &["mode", "cwd", "trust", "add_dir", "allow", "json"]),
    ("model",       &["model", "base_url", "profile", "cwd", "trust", "json"]),
    ("login",       &["model", "json"]),
    ("logout",      &["json"]),
    ("bot",         &["cwd", "trust", "yes", "json"]),
    ("skill",       &["cwd", "trust", "yes", "json"]),
    ("init-home",   &[]),
    ("config",      &["profile", "cwd", "trust", "json"]),
    ("plugin",      &["cwd", "json"]),
    ("gateway",     &["model", "base_url", "profile", "mode", "effort", "bot", "cwd", "trust", "add_dir", "json"]),
    ("doctor",      &["model", "base_url", "profile", "mode", "effort", "cwd", "trust", "add_dir", "json", "theme"]),
    ("mcp",         &["cwd", "trust", "yes", "json"]),
    ("worktrees",   &["cwd", "yes", "json"]),
    ("self",        &[]),
    ("import",      &["cwd", "yes", "json"]),
    ("review",      &["model", "base_url", "profile", "effort", "cwd", "trust", "add_dir", "max_steps", "max_cost"]),
    ("completions", &[]),
    ("man",         &[]),
    ("help",        &[]),
];

/// What every command's own words depend on.
const ALWAYS: &[&str] = &["lang", "no_color"];

/// The options that a command has no use for, of one that uses all others.
const UNRELATED: &[(&str, &[&str])] = &[
    ("run", &["output_schema", "input_format"]),
    ("eval", &["output_schema", "input_format", "worktree"]),
    ("batch", &["output_schema", "input_format", "worktree"]),
    ("acp", &["output_schema", "input_format"]),
    ("serve", &["output_schema", "input_format"]),
];

fn is_related(command: &str, option: &Arg) -> bool {
    let option = option.get_id().as_str();
    if UNRELATED.iter().any(|(name, options)| *name == command && options.contains(&option)) {
        return false;
    }
    let row = RELATED.iter().find(|(name, _)| *name == command);
    row.is_none_or(|(_, related)| related.contains(&option) || ALWAYS.contains(&option))
}

/// Hides the other options from the help of each command, which still takes them. The command must
/// have been built.
pub fn hide_unrelated(command: Command) -> Command {
    command.mut_subcommands(|below| {
        let name = below.get_name().to_owned();
        hide_below(below, &name)
    })
}

fn hide_below(command: Command, name: &str) -> Command {
    command
        .mut_args(
            |arg| if arg.is_global_set() && !is_related(name, &arg) { arg.hide(true) } else { arg },
        )
        .mut_subcommands(|below| hide_below(below, name))
}

/// The command for completion, which knows of no hidden options: each command has its own. It must
/// not have been built.
pub fn without_unrelated(command: Command) -> Command {
    let args: Vec<Arg> = command
        .get_arguments()
        .filter(|arg| arg.is_global_set())
        .map(|arg| arg.clone().global(false))
        .collect();
    command.mut_args(|arg| arg.global(false)).mut_subcommands(|below| {
        let name = below.get_name().to_owned();
        add_related(below, &name, &args)
    })
}

fn add_related(command: Command, name: &str, args: &[Arg]) -> Command {
    let has = |arg: &Arg| command.get_arguments().any(|own| own.get_id() == arg.get_id());
    let added_args: Vec<Arg> =
        args.iter().filter(|arg| is_related(name, arg) && !has(arg)).cloned().collect();
    command.args(added_args).mut_subcommands(|below| add_related(below, name, args))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn the_table_names_commands_and_options_that_exist() {
        let command = Cli::command();
        for (name, options) in RELATED {
            assert!(command.find_subcommand(name).is_some(), "{name}");
            for option in options.iter().chain(ALWAYS) {
                let known = command.get_arguments().find(|arg| arg.get_id() == option);
                assert!(known.is_some_and(Arg::is_global_set), "{name}: {option}");
            }
        }
    }

    #[test]
    fn a_page_of_help_names_only_the_options_that_concern_its_command() {
        let mut command = Cli::command();
        command.build();
        let mut command = hide_unrelated(command);
        let mut page = |name: &str| {
            let found = command.find_subcommand_mut(name).expect(name);
            found.render_help().to_string()
        };
        assert!(page("run").contains("--max-cost") && !page("run").contains("--output-schema"));
        assert!(page("session").contains("--json") && !page("session").contains("--theme"));
        let completions = page("completions");
        assert!(completions.contains("--lang"));
        for unrelated in ["--theme", "--json", "--model", "--yes"] {
            assert!(!completions.contains(unrelated), "{completions}");
        }
    }

    #[test]
    fn an_option_that_is_not_named_is_taken_all_the_same() {
        let args = ["avocet", "man", "--theme", "slate"];
        assert!(Cli::command().try_get_matches_from(args).is_ok());
    }
}
