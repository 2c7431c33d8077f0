//! Checks that the table of slash commands is consistent and complete in the shells.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use avocet::commands::table::COMMANDS;
use avocet::commands::{
    Availability, CommandContext, CommandOutcome, OptionValues, SlashCommand, Surface, dispatch,
    find,
};
use avocet::i18n::{Lang, PhraseValue, sandbox as held};
use avocet::protocol::{Extensions, NoticeLevel, PageRow, SandboxStatus, SessionInfo};

#[test]
fn names_and_aliases_are_unique() {
    let mut seen = BTreeSet::new();
    for name in COMMANDS.iter().flat_map(SlashCommand::names) {
        assert!(seen.insert(name), "`{name}` stands twice");
    }
}

#[test]
fn every_name_fits_every_platform() {
    for name in COMMANDS.iter().flat_map(SlashCommand::names) {
        let of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!((1..=32).contains(&name.len()) && name.chars().all(of_name), "`{name}`");
    }
}

#[test]
fn every_description_is_one_short_line() {
    for command in COMMANDS {
        for lang in [Lang::En, Lang::Zh] {
            let about = command.about.text(lang);
            let length = about.chars().count();
            assert!((1..=100).contains(&length) && !about.contains('\n'), "{}", command.name);
            assert!(!about.ends_with(['.', '。']), "{}: a line, not a sentence", command.name);
        }
    }
}

fn is_wrong(line: &str) -> bool {
    let facts = SessionInfo::default();
    let call = CommandContext {
        facts: &facts,
        models: &[],
        themes: &["dark".to_owned()],
        extensions: &Extensions::default(),
        folders: &[],

        argument_values: None,
        surface: Surface::Local,
        busy: false,
    };
    matches!(dispatch(&call, line), CommandOutcome::Say(notice) if notice.level == NoticeLevel::Error)
}

#[test]
fn every_command_accepts_exactly_what_its_usage_line_shows() {
    for command in COMMANDS {
        if command.reach == Availability::GatewayOnly {
            assert!(is_wrong(&format!("/{}", command.name)), "{}: not here", command.name);
            continue;
        }
        // A number is needed where the usage line says `n`.
        let words = if command.options.first().is_some_and(|option| option.name == "n") {
            "1 2"
        } else {
            "中 x"
        };
        let (bare, more) = (format!("/{}", command.name), format!("/{} {words}", command.name));
        assert!(command.usage().starts_with(&bare));
        let Some(first) = command.options.first() else {
            assert!(!is_wrong(&bare) && is_wrong(&more), "{bare}");
            continue;
        };
        assert_eq!(is_wrong(&bare), first.is_required, "{bare}");
        match first.values {
            OptionValues::OneOf(choices) if first.is_required => {
                assert!(is_wrong(&more), "{bare}");
                for choice in choices {
                    assert!(!is_wrong(&format!("{bare} {choice}")), "{bare} {choice}");
                }
            }
            _ => assert!(!first.is_required || !is_wrong(&more), "{bare}"),
        }
    }
}

#[test]
fn status_shows_which_steps_run_in_the_sandbox() {
    for (shelter, said) in [
        (SandboxStatus::Held, held::IS_WORK),
        (SandboxStatus::ReadOnly, held::IS_READ),
        (SandboxStatus::Absent, held::IS_ABSENT),
        (SandboxStatus::Off, held::IS_OFF),
    ] {
        let facts = SessionInfo { shelter, ..SessionInfo::default() };
        let call = CommandContext {
            facts: &facts,
            models: &[],
            themes: &[],
            extensions: &Extensions::default(),
            folders: &[],

            argument_values: None,
            surface: Surface::Local,
            busy: false,
        };
        let CommandOutcome::Page { rows, .. } = dispatch(&call, "/status") else {
            panic!("a page")
        };
        let is_said = |row: &PageRow| matches!(row, PageRow::Pair { value, .. } if *value == PhraseValue::from(said));
        assert!(rows.iter().any(is_said), "{shelter:?}");
    }
}

#[test]
fn the_commands_of_a_first_session_exist() {
    let wanted = "help new reset clear exit quit q model mode stop interrupt queue status \
                  permissions allow deny lang theme tools copy export doctor version";
    for name in wanted.split_whitespace() {
        assert!(find(name).is_some(), "/{name}");
    }
}

/// The words that bash offers for the last of these.
fn completed(words: &[&str]) -> String {
    let folder = crate::support::temp_dir();
    let script = folder.path().join("avocet.bash");
    let avocet = Command::new(env!("CARGO_BIN_EXE_avocet")).args(["completions", "bash"]).output();
    fs::write(&script, avocet.unwrap().stdout).unwrap();
    let [.., before, last] = words else { panic!("two words") };
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let asked = format!(
        "source '{}'; COMP_WORDS=({}); COMP_CWORD={}; _avocet avocet '{last}' '{before}'; \
         echo \"${{COMPREPLY[*]}}\"",
        script.display(),
        quoted.join(" "),
        words.len() - 1,
    );
    let shell = Command::new("bash").args(["--norc", "-c", &asked]).output().unwrap();
    String::from_utf8(shell.stdout).unwrap()
}

#[test]
fn bash_completes_themes_and_only_the_options_that_concern_a_command() {
    let themes = completed(&["avocet", "--theme", ""]);
    assert!(themes.contains("high-contrast") && themes.contains("auto"), "{themes}");
    let run = completed(&["avocet", "run", "--m"]);
    assert!(run.contains("--model") && run.contains("--max-cost"), "{run}");
    let man = completed(&["avocet", "man", "--"]);
    assert!(man.contains("--dir") && man.contains("--lang"), "{man}");
    for unrelated in ["--theme", "--model", "--yes", "--json"] {
        assert!(!man.contains(unrelated), "{man}");
    }
}
