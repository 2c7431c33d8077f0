//! Tests the read-only commands of a working day: local and harmless ones run by
//! themselves, and those that reach a network, a daemon or the project's own code ask.

use super::*;

const DAY: &str = include_str!("../../../tests/fixtures/day.txt");

/// Of a hundred harmless ones, how many may ask.
const MOST: usize = 2;

fn count_questions(kind: &str) -> (usize, Vec<String>) {
    let place = Workspace { readable: vec!["/m".into()], ..Workspace::new("/m/apps/shop", "/h") };
    let commands: Vec<&str> =
        DAY.lines().filter_map(|line| line.strip_prefix(kind).map(str::trim)).collect();
    let asks = commands.iter().filter(|command| {
        let words = words_of(command);
        let (program, args) = words.split_first().unwrap();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let verdict = assess_with(step(program, &args), &Policy::default(), &place);
        verdict.assessment().risk.tier > Tier::L0
    });
    (commands.len(), asks.map(|command| (*command).to_owned()).collect())
}

#[test]
fn almost_no_harmless_command_of_a_day_asks() {
    let (all, asks) = count_questions("local");
    assert!(all > 480, "{all}");
    assert!(asks.len() * 100 <= all * MOST, "{} of {all}:\n{}", asks.len(), asks.join("\n"));
}

#[test]
fn reaching_a_network_a_daemon_or_the_projects_code_asks() {
    let (all, asks) = count_questions("asks");
    assert_eq!(all, asks.len(), "of {all} only: {asks:?}");
}
