//! Lines for a shell on a real machine: which run by themselves, and how they are judged beside
//! their own pieces.

use std::fs;

use avocet::protocol::Tier;

use crate::policy_fixture::PolicyFixture;

const LINES: &str = include_str!("../fixtures/shell/lines.txt");

/// A line of the table with its verdict.
fn cases() -> impl Iterator<Item = (&'static str, String)> {
    let lines = LINES.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| {
        let (verdict, line) = line.split_once("  ").or(line.split_once(' ')).unwrap();
        // `\\` is a backslash.
        let parts = line.split("\\\\").map(|part| {
            part.replace("\\n", "\n").replace("\\r", "\r").replace("\\u202e", "\u{202e}")
        });
        (verdict, parts.collect::<Vec<_>>().join("\\"))
    })
}

fn tier(fixture: &PolicyFixture, line: &str) -> Tier {
    fixture.risk("bash", &["-lc", line]).tier
}

#[test]
fn a_line_runs_by_itself_exactly_if_the_table_says_so() {
    let fixture = PolicyFixture::new();
    let mut wrong = Vec::new();
    let mut count = 0;
    for (verdict, line) in cases() {
        let expected = match verdict {
            "runs" => Tier::L0,
            "asks" => Tier::L1,
            "refused" => Tier::L2,
            other => panic!("{other}"),
        };
        let risk = fixture.risk("bash", &["-lc", &line]);
        if risk.tier != expected {
            wrong.push(format!("{verdict} {line:?} is {:?} by {}", risk.tier, risk.rule));
        }
        count += 1;
    }
    assert!(count > 200, "{count}");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn names_that_a_pattern_finds_are_judged_as_if_they_were_typed() {
    let fixture = PolicyFixture::new();
    for line in ["ls src/*", "cat *.md", "cat src/*", "wc -l */main.rs", "ls s*2"] {
        assert_eq!(tier(&fixture, line), Tier::L0, "{line}");
    }
    // A file that is an option, a key among the files, a folder that leads out.
    fs::write(fixture.ws.join("--pre=x"), "").unwrap();
    fs::write(fixture.ws.join("src/id_rsa"), "").unwrap();
    for line in ["rg foo *", "cat src/*", "cat link_etc/*", "cat */id_rsa", "cat link_*/config"] {
        assert!(tier(&fixture, line) > Tier::L0, "{line}");
    }
    // Quoted, it is the pattern itself.
    assert_eq!(tier(&fixture, "rg foo './*'"), Tier::L0);
}
