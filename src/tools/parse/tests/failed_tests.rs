//! What test runners report of a test that failed: its name, its place and what it says.

use super::*;

/// A report as a runner writes it, the counts that are read (passed, failed, skipped), and the
/// failures: name, file, line, message.
struct Report {
    line: &'static str,
    stdout: &'static str,
    stderr: &'static str,
    counts: [usize; 3],
    failures: &'static [(&'static str, &'static str, u64, &'static str)],
}

#[rustfmt::skip]
const REPORTS: &[Report] = &[
    Report {
        line: "cargo test",
        stdout: "running 2 tests\ntest price::works ... ok\ntest price::pads ... FAILED\n\nfailures:\n\n---- price::pads stdout ----\n\nthread 'price::pads' panicked at src/price.rs:14:9:\nassertion `left == right` failed\n  left: \"1.5\"\n right: \"1.50\"\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n\nfailures:\n    price::pads\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n",
        stderr: "error: test failed, to rerun pass `--lib`\n",
        counts: [1, 1, 0],
        failures: &[("price::pads", "src/price.rs", 14, "assertion `left == right` failed\n  left: \"1.5\"\n right: \"1.50\"")],
    },
    Report {
        line: "pytest -q",
        stdout: ".F\n=================================== FAILURES ===================================\n    def test_x():\n>       assert 1 == 2\nE       assert 1 == 2\n\ntests/test_a.py:12: AssertionError\n=========================== short test summary info ============================\nFAILED tests/test_a.py::test_x - assert 1 == 2\n1 failed, 1 passed in 0.12s\n",
        stderr: "",
        counts: [1, 1, 0],
        failures: &[("tests/test_a.py::test_x", "tests/test_a.py", 12, "assert 1 == 2")],
    },
    Report {
        line: "npx jest",
        stdout: "",
        stderr: "FAIL src/a.test.js\n  sums\n    ✓ works (1 ms)\n    ✕ adds (2 ms)\n\n  ● sums › adds\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 2\n    Received: 1\n\n      4 | test('adds', () => {\n    > 6 |   expect(add(1, 0)).toBe(2);\n        |                     ^\n\n      at toBe (node_modules/expect/build/index.js:1:2)\n      at Object.toBe (src/a.test.js:6:21)\n\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 2 passed, 3 total\n",
        counts: [2, 1, 0],
        failures: &[("sums › adds", "src/a.test.js", 6, "expect(received).toBe(expected) // Object.is equality\nExpected: 2\nReceived: 1")],
    },
    Report {
        line: "npm test",
        stdout: "\n> x@1.0.0 test\n> jest\n\n",
        stderr: "FAIL src/top.test.js\n  ● adds\n\n    boom\n\n      at Object.<anonymous> (src/top.test.js:3:9)\n\nTests:       1 failed, 1 total\n",
        counts: [0, 1, 0],
        failures: &[("adds", "src/top.test.js", 3, "boom")],
    },
    Report {
        line: "pnpm exec vitest run",
        stdout: " FAIL  src/a.test.ts > sums > adds\nAssertionError: expected 1 to be 2 // Object.is equality\n\n- Expected\n+ Received\n\n- 2\n+ 1\n\n ❯ src/a.test.ts:6:21\n      4| test('adds', () => {\n\n Test Files  1 failed (1)\n      Tests  1 failed | 2 passed | 1 skipped (4)\n",
        stderr: "",
        counts: [2, 1, 1],
        failures: &[("src/a.test.ts > sums > adds", "src/a.test.ts", 6, "AssertionError: expected 1 to be 2 // Object.is equality\n- 2\n+ 1")],
    },
    Report {
        line: "node --test",
        stdout: "TAP version 13\n# Subtest: price\n    # Subtest: pads\n    not ok 1 - pads\n      ---\n      duration_ms: 0.9\n      location: '/w/price.test.js:5:1'\n      failureType: 'testCodeFailure'\n      error: |-\n        Expected values to be strictly equal:\n        \n        '1.5' !== '1.50'\n        \n      code: 'ERR_ASSERTION'\n      name: 'AssertionError'\n      stack: |-\n        TestContext.<anonymous> (file:///w/price.test.js:6:10)\n        Test.run (node:internal/test_runner/test:796:25)\n      ...\n    1..1\nnot ok 1 - price\n  ---\n  failureType: 'subtestsFailed'\n  error: '1 subtest failed'\n  ...\nnot ok 2 - later # TODO\n  ---\n  error: 'not yet'\n  ...\n1..2\n# tests 1\n# pass 0\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 1\n",
        stderr: "",
        counts: [0, 1, 1],
        failures: &[("pads", "/w/price.test.js", 6, "Expected values to be strictly equal:\n'1.5' !== '1.50'")],
    },
    Report {
        line: "npm run test",
        stdout: "✔ works (0.5ms)\n▶ price\n  ✖ pads (1.2ms)\n✖ price (2ms)\nℹ tests 2\nℹ pass 1\nℹ fail 1\nℹ skipped 0\n\n✖ failing tests:\n\ntest at price.test.js:5:1\n✖ pads (1.2ms)\n  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n  '1.5' !== '1.50'\n\n      at TestContext.<anonymous> (file:///w/price.test.js:6:10)\n      at Test.run (node:internal/test_runner/test:796:25) {\n    generatedMessage: true,\n",
        stderr: "",
        counts: [1, 1, 0],
        failures: &[("pads", "/w/price.test.js", 6, "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n'1.5' !== '1.50'")],
    },
];

#[test]
fn a_failing_test_is_read_with_its_name_its_place_and_what_it_says() {
    for report in REPORTS {
        let parsed = parse_with_exit(report.line, report.stdout, report.stderr, 1);
        let (kind, total, items) = parsed.unwrap_or_else(|| panic!("{}", report.line));
        assert_eq!(kind, "test_summary", "{}", report.line);
        assert_eq!(total, report.counts.iter().sum::<usize>(), "{}", report.line);
        let [passed, failed, skipped] = report.counts;
        let counts = json!({ "passed": passed, "failed": failed, "skipped": skipped });
        let failures = report.failures.iter().map(|(name, file, line, message)| {
            let mut item = json!({ "failed": name, "file": file, "line": line });
            if !message.is_empty() {
                item["message"] = json!(message);
            }
            item
        });
        let expected: Vec<Value> = std::iter::once(counts).chain(failures).collect();
        assert_eq!(items, json!(expected), "{}", report.line);
    }
}

#[test]
fn what_is_not_a_report_of_tests_is_not_read_as_one() {
    for (line, out) in [
        ("npm start", "● started\nFAIL x\n"),
        ("npm run build", "built in 2s\n"),
        ("node server.js", "● started\nnot ok 1 - x\n"),
        ("python3 main.py", "FAILED a.py\n1 failed in 2s\n"),
    ] {
        let kind = parse_with_exit(line, out, "", 1).map(|(kind, ..)| kind);
        assert_ne!(kind.as_deref(), Some("test_summary"), "{line}");
    }
}
