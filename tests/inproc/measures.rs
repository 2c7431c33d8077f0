//! How large the source is and how much of it is tests: `cargo test --test inproc measures:: -- --nocapture`
//! prints the table.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Where wrong behaviour costs a user most: the module, and what tests it from outside, cases
/// included.
const TESTED_FROM_OUTSIDE: &[(&str, &[&str])] = &[
    (
        "safety",
        &[
            "tests/cli/adversarial.rs",
            "tests/system/differential.rs",
            "tests/system/harmless_commands.rs",
            "tests/system/programs.rs",
            "tests/system/reading.rs",
            "tests/system/repositories.rs",
            "tests/inproc/masks.rs",
            "tests/inproc/risk.rs",
            "tests/system/sandbox.rs",
            "tests/screen/terminal_injection.rs",
            "tests/screen/terminal_programs.rs",
            "tests/system/wall.rs",
            "tests/system/wall",
            "tests/fixtures/day.txt",
            "tests/fixtures/reading.txt",
            "tests/fixtures/inject",
            "tests/fixtures/masks",
            "tests/fixtures/risk",
            "tests/fixtures/shell",
        ],
    ),
    (
        "script",
        &[
            "tests/inproc/isdk.rs",
            "tests/inproc/mutated_scripts.rs",
            "tests/inproc/script_steps.rs",
            "tests/cli/run_command.rs",
            "tests/cli/script_help.rs",
            "tests/cli/script_lsp.rs",
            "tests/inproc/scripts.rs",
            "tests/scripts",
            "tests/support/script_cases.rs",
        ],
    ),
    (
        "session",
        &[
            "tests/inproc/context.rs",
            "tests/inproc/dialogues.rs",
            "tests/dialogues",
            "tests/inproc/hooks.rs",
            "tests/cli/hooks.rs",
            "tests/cli/lsp.rs",
            "tests/inproc/extra_folders.rs",
            "tests/inproc/mcp.rs",
            "tests/cli/mcp.rs",
            "tests/inproc/prompts.rs",
            "tests/system/sandbox_approval.rs",
            "tests/screen/secrets.rs",
            "tests/inproc/goals.rs",
            "tests/inproc/session.rs",
            "tests/inproc/shell.rs",
            "tests/inproc/subagents.rs",
            "tests/screen/shutdown.rs",
            "tests/cli/suspension.rs",
        ],
    ),
    (
        "store",
        &[
            "tests/cli/backward_compatibility.rs",
            "tests/screen/crash_recovery.rs",
            "tests/screen/large_sessions.rs",
            "tests/screen/persistence.rs",
        ],
    ),
];

#[derive(Clone, Copy, Default)]
struct Lines {
    code: usize,
    unit_tests: usize,
    outside: usize,
}

impl Lines {
    fn ratio(self) -> f64 {
        (self.unit_tests + self.outside) as f64 / self.code.max(1) as f64
    }
}

fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.into()];
    }
    let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    entries.flat_map(|entry| files(&entry.unwrap().path())).collect()
}

fn lines_of(text: &str) -> Lines {
    let lines: Vec<&str> = text.lines().collect();
    // A module of tests inside the file stands at its end.
    let inside = lines.windows(2).position(|pair| {
        pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
    });
    let code = inside.unwrap_or(lines.len());
    Lines { code, unit_tests: lines.len() - code, outside: 0 }
}

fn measures() -> BTreeMap<String, Lines> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all: BTreeMap<String, Lines> = BTreeMap::new();
    for path in files(&root.join("src")) {
        let name = path.strip_prefix(root.join("src")).unwrap().to_string_lossy().into_owned();
        let module = name.split('/').next().unwrap().trim_end_matches(".rs").to_owned();
        let mut lines = lines_of(&fs::read_to_string(&path).unwrap());
        if name.contains("/tests/") || name.ends_with("tests.rs") {
            lines = Lines { unit_tests: lines.code + lines.unit_tests, ..Lines::default() };
        }
        let sum = all.entry(module).or_default();
        sum.code += lines.code;
        sum.unit_tests += lines.unit_tests;
    }
    for (module, outside) in TESTED_FROM_OUTSIDE {
        let outside = outside.iter().flat_map(|path| files(&root.join(path)));
        let count = |path: PathBuf| fs::read_to_string(path).unwrap_or_default().lines().count();
        all.get_mut(*module).unwrap().outside = outside.map(count).sum();
    }
    all
}

#[test]
fn what_costs_a_user_most_has_three_lines_of_tests_for_five_of_code() {
    let all = measures();
    println!("{:16}{:>8}{:>12}{:>10}{:>7}", "module", "code", "unit tests", "outside", "ratio");
    for (module, lines) in &all {
        let Lines { code, unit_tests, outside } = *lines;
        println!("{module:16}{code:8}{unit_tests:12}{outside:10}{:7.2}", lines.ratio());
    }
    let code: usize = all.values().map(|lines| lines.code).sum();
    println!("{:16}{code:8}", "all");
    for (module, _) in TESTED_FROM_OUTSIDE {
        let ratio = all[*module].ratio();
        assert!(ratio >= 0.6, "{module}: {ratio:.2} lines of tests for a line of code");
    }
}
