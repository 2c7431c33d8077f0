//! Tests the read-only commands of a working day: local and harmless ones run by
//! themselves, and those that reach a network, a daemon or the project's own code ask. The same
//! for those with which a project and its dependencies are read.

use super::*;

const DAY: &str = include_str!("../../../tests/fixtures/day.txt");

/// Of a hundred harmless ones, how many may ask.
const MOST: usize = 2;

/// Local, harmless commands by class: what it takes to know a project and its dependencies.
const READING: &str = include_str!("../../../tests/fixtures/reading.txt");

fn count_questions<'a>(
    commands: impl Iterator<Item = &'a str>,
    place: &Workspace,
) -> (usize, Vec<String>) {
    let commands: Vec<&str> = commands.map(str::trim).collect();
    let asks = commands.iter().filter_map(|command| {
        let words = words_of(command);
        let (program, args) = words.split_first().unwrap();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let verdict = assess_with(step(program, &args), &Policy::default(), place);
        let risk = &verdict.judgement().risk;
        (risk.tier > Tier::L0).then(|| format!("{command} ({})", risk.rule))
    });
    (commands.len(), asks.collect())
}

fn questions_of_a_day(kind: &str) -> (usize, Vec<String>) {
    let place = Workspace { readable: vec!["/m".into()], ..Workspace::new("/m/apps/shop", "/h") };
    count_questions(DAY.lines().filter_map(|line| line.strip_prefix(kind)), &place)
}

#[test]
fn almost_no_harmless_command_of_a_day_asks() {
    let (all, asks) = questions_of_a_day("local");
    assert!(all > 480, "{all}");
    assert!(asks.len() * 100 <= all * MOST, "{} of {all}:\n{}", asks.len(), asks.join("\n"));
}

#[test]
fn reaching_a_network_a_daemon_or_the_projects_code_asks() {
    let (all, asks) = questions_of_a_day("asks");
    assert_eq!(all, asks.len(), "of {all} only: {asks:?}");
}

#[test]
fn almost_no_reading_command_of_a_project_asks() {
    let place = Workspace::new("/h/code/shop", "/h");
    let lines = READING.lines().filter(|line| !line.starts_with('#'));
    let (all, asks) =
        count_questions(lines.filter_map(|line| Some(line.split_once(' ')?.1)), &place);
    assert!(all >= 265, "{all}");
    assert!(asks.len() * 100 <= all * MOST, "{} of {all}:\n{}", asks.len(), asks.join("\n"));
}

/// What looks like one of them, and is more.
#[test]
fn names_of_the_home_credentials_and_other_projects_ask() {
    let place = Workspace::new("/h/code/shop", "/h");
    let asked = [
        "ls /h",
        "ls ~",
        "ls ../..",
        "ls -R ..",
        "ls ../other",
        "ls /home/other",
        "ls /etc/ssh",
        "ls /tmp/x",
        "cat ../other/README.md",
        "cat /tmp/x.log",
        "cat /etc/passwd",
        "cat /h/.cargo/credentials.toml",
        "cat /h/.config/git/credentials",
        "cat /h/.npmrc",
        "cat /h/.m2/settings.xml",
        "cat /h/.cache/huggingface/token",
        "cat /h/.cargo/registry/src/x/tests/server.pem",
        "cat /h/go/pkg/mod/x@v1/.env",
        "cat /h/.gradle/gradle.properties",
        "cat /h/.local/bin/deploy",
        "cat /h/.bash_history",
        "cat /usr/bin/git",
        "cat /usr/local/etc/app.conf",
        "cat /opt/app/config.yml",
        "find / -name x",
        "rg x /h/code",
    ];
    let (all, asks) = count_questions(asked.into_iter(), &place);
    assert_eq!(all, asks.len(), "of {all} only: {asks:?}");
}
