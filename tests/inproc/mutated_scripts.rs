//! Scripts that were damaged at random: neither the check, nor what an editor asks, nor a run may
//! panic or hang. A slice of them runs with every test, all ten thousand by `tests/strain.sh`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use crate::script_replay::{Disk, play_in};
use crate::support::script_cases::{ScriptCase, script_cases_of};
use avocet::script::built_in;
use avocet::script::editor::{EditedFiles, EditedScript, EditorPosition};
use avocet::script::manifest::Manifest;
use avocet::script::reference::EXAMPLES;
use avocet::script::source::ScriptLibrary;
use serde_json::{Value, json};

/// How long one script may take, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// What is inserted: the signs of the language, and letters that are long in one encoding or another.
const PIECES: &[&str] = &[
    "---\n",
    "***",
    "[[",
    "]]",
    "[[@",
    "[[/",
    "{{",
    "}}",
    "{%",
    "%}",
    "$",
    "$if",
    "$for: ",
    "$while: \"true\"",
    "->",
    "-> ",
    "|",
    "|-",
    "!fn |-\n",
    "?=",
    "#:",
    "#+[",
    "((",
    "))",
    "@all ",
    "\"",
    "'",
    ": ",
    "\n",
    "\n  ",
    "\n- ",
    "\t",
    "\r\n",
    "\u{feff}",
    "\0",
    "你好",
    "😀",
    "\u{301}",
    "&a ",
    "*a",
    "<<: ",
    "~",
    "type: ",
    "tools: ",
    "input: [",
    "import: ",
    "roles: {",
    "shouldThink: ",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    ",",
    "1e999",
    "-1",
    "\\",
];

/// The same numbers for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides.max(1)).unwrap()).unwrap()
    }

    fn place(&mut self, text: &str) -> usize {
        let mut at = self.roll(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

fn sources() -> Vec<String> {
    let mut out: Vec<String> = EXAMPLES
        .iter()
        .flat_map(|example| example.files)
        .chain(built_in::SCRIPTS)
        .map(|(_, text)| (*text).to_owned())
        .collect();
    let cases = script_cases_of("reference.md");
    let scripts = cases.iter().flat_map(ScriptCase::files);
    let scripts = scripts.filter(|(name, _)| *name == "script.ai.yaml");
    out.extend(scripts.map(|(_, text)| text.to_owned()));
    out
}

/// A script with one to four parts removed, repeated, exchanged or inserted.
fn damaged(seed: u64, sources: &[String]) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for _ in 0..8 {
        dice.roll(2);
    }
    let mut text = sources[dice.roll(sources.len())].clone();
    for _ in 0..=dice.roll(4) {
        let (one, other) = (dice.place(&text), dice.place(&text));
        let (from, to) = (one.min(other), one.max(other));
        let to = if dice.roll(3) > 0 {
            text.floor_char_boundary(to.min(from + 12)).max(from)
        } else {
            to
        };
        let part = text[from..to].to_owned();
        match dice.roll(5) {
            0 => text.replace_range(from..to, ""),
            1 => text.insert_str(to, &part),
            2 => text.insert_str(dice.place(&text.clone()), &part),
            3 => {
                let donor = &sources[dice.roll(sources.len())];
                let at = dice.place(donor);
                let end = donor.floor_char_boundary((at + 40).min(donor.len()));
                text.insert_str(from, &donor[at..end.max(at)]);
            }
            _ => text.insert_str(from, PIECES[dice.roll(PIECES.len())]),
        }
    }
    text
}

/// Everything that is done with the text of a script.
fn examine(seed: u64, text: &str, folder: &Path, runtime: &tokio::runtime::Runtime) {
    let path = folder.join("damaged.ai.yaml");
    let open: BTreeMap<PathBuf, Arc<str>> = [(path.clone(), Arc::from(text))].into();
    let files = EditedFiles { disk: Disk { trusted: true }, open };
    let library = ScriptLibrary::new(Arc::new(files), Vec::new(), built_in::SCRIPTS);
    let script = EditedScript::new(&path, text, &library);
    let faults = runtime.block_on(script.faults());
    let lines = u32::try_from(text.split('\n').count()).unwrap();
    for fault in &faults {
        assert!(fault.range.start <= fault.range.end && fault.range.start.line < lines.max(1));
        assert!(!fault.message.to_string().is_empty());
    }
    if let Ok(source) = library.find("damaged.ai.yaml", folder)
        && let Ok(manifest) = Manifest::load(source, &library)
    {
        drop(manifest.interface());
        drop(manifest.help());
    }
    let mut dice = Dice(seed | 1);
    for _ in 0..3 {
        let line = u32::try_from(dice.roll(usize::try_from(lines).unwrap() + 1)).unwrap();
        let at = EditorPosition { line, character: u32::try_from(dice.roll(40)).unwrap() };
        let (range, _) = script.completions(at);
        assert!(range.start <= range.end);
        drop(script.hover(at));
        drop(script.definition(at));
    }
}

fn run_damaged(text: &str, folder: &Path) {
    fs::write(folder.join("damaged.ai.yaml"), text).unwrap();
    let replies: Vec<Value> = (0..6).map(|at| json!(format!("reply {at}"))).collect();
    let came = play_in(folder, "damaged.ai.yaml", json!("text"), &replies, (true, false), &[]).0;
    drop(came.map_err(|failure| failure.to_string()));
}

/// All these seeds; each `runs`th of those also runs.
fn examine_all(seeds: std::ops::Range<u64>, runs: u64) {
    let (began, each) = mpsc::channel();
    let work = thread::Builder::new().stack_size(64 << 20).spawn(move || {
        let sources = sources();
        assert!(sources.len() > 60, "{}", sources.len());
        let folder = crate::support::temp_dir();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for seed in seeds {
            let text = damaged(seed, &sources);
            began.send((seed, text.clone())).unwrap();
            examine(seed, &text, folder.path(), &runtime);
            if seed % runs == 0 {
                run_damaged(&text, folder.path());
            }
        }
    });
    let work = work.unwrap();
    let mut last = (0, String::new());
    loop {
        match each.recv_timeout(PATIENCE) {
            Ok(now) => last = now,
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("seed {} hangs:\n{}", last.0, last.1),
        }
    }
    assert!(work.join().is_ok(), "seed {} panics:\n{}", last.0, last.1);
}

#[test]
fn damaged_scripts_neither_panic_nor_hang() {
    examine_all(0..100, 5);
}

#[test]
#[ignore = "strain: minutes of damaged scripts"]
fn ten_thousand_damaged_scripts_neither_panic_nor_hang() {
    examine_all(0..10_000, 1);
}
