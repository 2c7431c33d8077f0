use super::*;
use crate::cli::run_mode::{RunMode, Terminals};
use crate::cli::shell_files::{completions, manual_page, write_manual};

const TERMINAL: Terminals = Terminals { stdin: true, stdout: true };
const PIPED: Terminals = Terminals { stdin: false, stdout: false };

fn parse(line: &[&str]) -> Result<Cli, clap::Error> {
    Cli::parse_from_args(std::iter::once("avocet").chain(line.iter().copied()))
}

fn way(line: &[&str], ends: Terminals) -> Result<RunMode, UsageError> {
    parse(line).unwrap().run_mode(ends)
}

#[test]
fn the_clap_definition_is_valid() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_shows_an_example_in_its_help() {
    fn walk(command: &clap::Command) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.contains("Example"), "{} has no example", command.get_name());
        for line in help.lines().filter(|line| line.contains("avocet")) {
            assert!(line.starts_with("  "), "{line}");
        }
        command.get_subcommands().for_each(walk);
    }
    walk(&Cli::command());
}

#[test]
fn arguments_select_the_screen_or_a_single_turn() {
    let screen = |prompt: Option<&str>, bot: Option<&str>| {
        Ok(RunMode::Screen { prompt: prompt.map(Into::into), bot: bot.map(Into::into) })
    };
    let print = |prompt: Option<&str>, bot: Option<&str>, piped| {
        Ok(RunMode::Print { prompt: prompt.map(Into::into), bot: bot.map(Into::into), piped })
    };
    let only_out = Terminals { stdin: true, stdout: false };
    let cases: &[(&[&str], Terminals, Result<RunMode, UsageError>)] = &[
        (&[], TERMINAL, screen(None, None)),
        (&["fix it"], TERMINAL, screen(Some("fix it"), None)),
        (&["--bot", "b"], TERMINAL, screen(None, Some("b"))),
        (&["chat", "b"], TERMINAL, screen(None, Some("b"))),
        (&["chat", "b", "--bot", "b"], TERMINAL, screen(None, Some("b"))),
        (&["chat", "b", "--bot", "c"], TERMINAL, Err(UsageError::TwoBots)),
        (&["-p", "hi"], TERMINAL, print(Some("hi"), None, false)),
        (&["-p", "doctor"], TERMINAL, print(Some("doctor"), None, false)),
        (&["-p"], PIPED, print(None, None, true)),
        (&["-p", "--json", "hi"], PIPED, print(Some("hi"), None, true)),
        (&["-p", "a", "b"], TERMINAL, Err(UsageError::TwoPrompts)),
        (&["hi", "doctor"], TERMINAL, Err(UsageError::PromptAndCommand)),
        (&["hi", "chat", "b"], TERMINAL, screen(Some("hi"), Some("b"))),
        (&["chat", "b"], PIPED, print(None, Some("b"), true)),
        (&["hi"], PIPED, print(Some("hi"), None, true)),
        (&["hi"], only_out, print(Some("hi"), None, false)),
        (&[], only_out, Err(UsageError::NoTerminal)),
        (&["--json"], TERMINAL, Err(UsageError::OnlyHeadless { option: "--json" })),
    ];
    for (line, ends, expected) in cases {
        assert_eq!(&way(line, *ends), expected, "{line:?} {ends:?}");
    }
}

#[test]
fn options_work_before_and_after_the_subcommand() {
    for line in [["-y", "chat", "b"], ["chat", "-y", "b"], ["chat", "b", "-y"]] {
        assert!(parse(&line).unwrap().run.yes, "{line:?}");
    }
}

#[test]
fn y_approves_steps_only_where_it_means_approve_steps() {
    let cases: &[(&[&str], bool, Option<&str>)] = &[
        (&["-p", "hi"], false, None),
        (&["-p", "hi", "-y"], true, Some("-y")),
        (&["-p", "hi", "--approve-steps"], false, Some("--approve-steps")),
        (&["-p", "hi", "-y", "--approve-steps"], true, Some("--approve-steps")),
        (&["-y", "hi"], true, Some("-y")),
        (&["-p", "hi", "-y", "resume", "k7m2"], true, Some("-y")),
        (&["chat", "b", "-y"], true, None),
        (&["-p", "hi", "chat", "b", "-y"], true, None),
        (&["chat", "b", "-y", "--approve-steps"], true, Some("--approve-steps")),
        (&["command", "run", "x", "-y"], true, None),
        (&["-y", "command", "render", "x"], true, None),
        (&["command", "run", "x", "--approve-steps"], false, Some("--approve-steps")),
        (&["run", "x", "-y"], true, Some("-y")),
    ];
    for (line, pieces, steps) in cases {
        let approved = parse(line).unwrap().approval_flags();
        assert_eq!(
            approved,
            ApprovalFlags { template_commands: *pieces, steps: *steps, secrets: false, all: false },
            "{line:?}"
        );
    }
    let named = parse(&["-p", "hi", "-y", "--approve-secrets"]).unwrap().approval_flags();
    assert_eq!(
        named,
        ApprovalFlags { template_commands: true, steps: Some("-y"), secrets: true, all: false }
    );
    let only = Err(UsageError::OnlyHeadless { option: "--approve-steps" });
    assert_eq!(way(&["--approve-steps"], TERMINAL), only);
    assert_eq!(way(&["chat", "b", "--approve-steps"], TERMINAL), only);
}

#[test]
fn options_become_settings() {
    let cli = parse(&["--model", "m", "--mode", "low", "--no-color", "--lang", "zh"]).unwrap();
    let expected = [("model", "m"), ("mode", "low"), ("lang", "zh"), ("color", "never")];
    assert_eq!(cli.settings(), expected.map(|(key, value)| (key, value.to_owned())));
}

#[test]
fn policy_explain_takes_the_command_after_two_dashes_verbatim() {
    let explain = |batch: Option<&str>, words: &[&str]| {
        Ok(RunMode::Policy(PolicyCommand::Explain {
            batch: batch.map(Into::into),
            tool: None,
            args: None,
            words: words.iter().map(|word| (*word).to_owned()).collect(),
        }))
    };
    let line = ["policy", "explain", "--json", "--", "git", "log", "--json", "-p"];
    assert_eq!(way(&line, TERMINAL), explain(None, &["git", "log", "--json", "-p"]));
    assert!(parse(&line).unwrap().run.json);
    assert_eq!(way(&["policy", "explain", "--batch", "-"], PIPED), explain(Some("-"), &[]));
    let tool = ["policy", "explain", "--tool", "plan", "--args", "{}"];
    let Ok(RunMode::Policy(PolicyCommand::Explain { tool, args, .. })) = way(&tool, TERMINAL)
    else {
        panic!("a tool is judged")
    };
    assert_eq!((tool.as_deref(), args.as_deref()), (Some("plan"), Some("{}")));
}

#[test]
fn a_usage_error_differs_from_a_request_for_help() {
    let args = ["policy", "explain", "--args", "{}"];
    for line in [&["--nope"][..], &["--mode", "fast"], &["policy", "explain"], &["config"], &args] {
        assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line:?}");
    }
    for line in [["--help"], ["--version"]] {
        assert_eq!(parse(&line).unwrap_err().exit_code(), 0, "{line:?}");
    }
}

#[test]
fn a_value_may_begin_with_a_dash() {
    let expected =
        ConfigCommand::Set { key: "safety.allowed_programs".into(), value: "-curl".into() };
    let line = ["config", "set", "safety.allowed_programs", "-curl"];
    assert_eq!(way(&line, TERMINAL), Ok(RunMode::Config(expected)));
}

#[test]
fn each_shell_gets_a_script() {
    for shell in CompletionShell::value_variants() {
        let script = String::from_utf8(completions(*shell)).unwrap();
        assert!(script.contains("completions"), "{shell:?}");
    }
}

#[test]
fn a_misspelt_command_is_answered_with_the_nearest_and_never_sent() {
    for (word, nearest) in [("sesion", "session"), ("doctr", "doctor"), ("modle", "model")] {
        let misspelt = UsageError::MisspeltCommand { given: word.into(), nearest: nearest.into() };
        assert_eq!(way(&[word], TERMINAL), Err(misspelt.clone()), "{word}");
        assert_eq!(way(&[word], PIPED), Err(misspelt.clone()), "{word}");
        assert_eq!(Cli::misspelt_command(word), Some(misspelt));
    }
    for message in ["hi", "why", "fix", "sesion?", "fix the sesion", "继续", "-x", "Doctr"] {
        assert_eq!(Cli::misspelt_command(message), None, "{message}");
    }
    assert!(way(&["-p", "sesion"], TERMINAL).is_ok(), "the way that the sentence names");
}

#[test]
fn a_word_of_other_programs_is_done_or_answered_and_never_sent() {
    for word in ["connect", "auth", "setup", "login"] {
        let login = RunMode::Login(LoginOptions { provider: None, key_stdin: false });
        assert_eq!(way(&[word], TERMINAL), Ok(login), "{word}");
    }
    for word in ["update", "upgrade", "exit", "quit"] {
        for ends in [TERMINAL, PIPED] {
            let answered = way(&[word], ends);
            assert!(matches!(answered, Err(UsageError::WordOfOthers(_))), "{word}: {answered:?}");
        }
    }
    let version = Cli::parse_from_args(["avocet", "version"]).unwrap_err();
    assert_eq!(version.kind(), clap::error::ErrorKind::DisplayVersion);
    assert!(way(&["update the docs"], TERMINAL).is_ok());
}

#[test]
fn the_manual_describes_the_program_and_each_command() {
    let page = String::from_utf8(manual_page().unwrap()).unwrap();
    assert!(page.contains(".TH avocet 1") && page.contains("avocet\\-doctor(1)"), "{page}");
    let folder = tempfile::tempdir().unwrap();
    let man = folder.path().join("man1");
    write_manual(&man).unwrap();
    for name in ["avocet.1", "avocet-doctor.1", "avocet-session-list.1"] {
        assert!(man.join(name).is_file(), "{name}");
    }
}

#[test]
fn a_prompt_of_several_words_may_begin_with_a_dash() {
    for text in ["--help me", "- one\n- two", "-v means what?"] {
        for option in ["-p", "--print"] {
            assert_eq!(parse(&[option, text, "--json"]).unwrap().print, Some(Some(text.into())));
        }
    }
    assert_eq!(parse(&["-p", "--json"]).unwrap().print, Some(None));
    assert!(parse(&["-p", "--hlep"]).is_err());
}
