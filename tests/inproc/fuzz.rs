//! Replays the seeds of the fuzz targets, and each of them cut short and doubled: what
//! must hold for any bytes stands in `fuzz/src/holds.rs`.

use std::fs;
use std::path::Path;

#[path = "../../fuzz/src/holds.rs"]
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
fn the_argument_seeds_pass() {
    replay("arguments", holds::arguments);
}

#[test]
fn the_shell_line_seeds_pass() {
    replay("shell", holds::shell);
}

#[test]
fn the_sanitizer_seeds_pass() {
    replay("cleaner", holds::cleaner);
}

#[test]
fn the_reply_seeds_pass() {
    replay("reply", holds::reply);
}

#[test]
fn the_script_seeds_pass() {
    replay("script", holds::script);
}

#[test]
fn the_call_seeds_pass() {
    replay("calls", holds::calls);
}
