//! Replays the seeds of the fuzz targets, and each of them cut short and doubled: what
//! must hold for any bytes stands in `fuzz/src/holds.rs`.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

#[path = "../fuzz/src/holds.rs"]
mod holds;

fn replay(target: &str, holds: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut seeds: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    seeds.sort();
    assert!(seeds.len() >= 8, "{target} has {} seeds", seeds.len());
    for seed in seeds {
        let bytes = fs::read(&seed).unwrap();
        holds(&bytes);
        let step = (bytes.len() / 12).max(1);
        for cut in (0..bytes.len()).step_by(step) {
            holds(&bytes[..cut]);
            holds(&bytes[cut..]);
        }
        holds(&bytes.repeat(2));
    }
}

#[test]
fn the_seeds_of_arguments_hold() {
    replay("arguments", holds::arguments);
}

#[test]
fn the_seeds_of_shell_lines_hold() {
    replay("shell", holds::shell);
}

#[test]
fn the_seeds_of_the_cleaner_hold() {
    replay("cleaner", holds::cleaner);
}

#[test]
fn the_seeds_of_replies_hold() {
    replay("reply", holds::reply);
}

#[test]
fn the_seeds_of_scripts_hold() {
    replay("script", holds::script);
}

#[test]
fn the_seeds_of_calls_hold() {
    replay("calls", holds::calls);
}
