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
    Report {
        line: "go test ./...",
        stdout: "--- FAIL: TestPads (0.00s)\n    --- FAIL: TestPads/two (0.00s)\n        price_test.go:12: got 1.5,\n            want 1.50\n--- FAIL: TestSum (0.00s)\n    sum_test.go:9: got 1\nFAIL\nFAIL\texample.com/price\t0.002s\nok  \texample.com/other\t0.001s\n",
        stderr: "",
        counts: [0, 2, 0],
        failures: &[("TestPads/two", "price_test.go", 12, "got 1.5,\nwant 1.50"), ("TestSum", "sum_test.go", 9, "got 1")],
    },
    Report {
        line: "go test -v .",
        stdout: "=== RUN   TestWorks\n    price_test.go:5: fine\n--- PASS: TestWorks (0.00s)\n=== RUN   TestPads\n=== RUN   TestPads/two\n    price_test.go:12: got 1.5\n--- FAIL: TestPads (0.00s)\n    --- FAIL: TestPads/two (0.00s)\nFAIL\nexit status 1\nFAIL\texample.com/price\t0.002s\n",
        stderr: "",
        counts: [1, 1, 0],
        failures: &[("TestPads/two", "price_test.go", 12, "got 1.5")],
    },
    Report {
        line: "python3 -m unittest -v",
        stdout: "",
        stderr: "test_pads (test_price.PriceTest.test_pads) ... FAIL\n\n======================================================================\nFAIL: test_pads (test_price.PriceTest.test_pads)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/w/test_price.py\", line 7, in test_pads\n    self.assertEqual(price(1.5), \"1.50\")\n    ~~~~~~~~~~~~~~~~^^^^^^\nAssertionError: '1.5' != '1.50'\n- 1.5\n+ 1.50\n?    +\n\n\n======================================================================\nERROR: test_sum (test_price.PriceTest)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/w/test_price.py\", line 9, in test_sum\n    total([])\n  File \"/w/price.py\", line 2, in total\n    return items[0]\nIndexError: list index out of range\n\n----------------------------------------------------------------------\nRan 4 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)\n",
        counts: [1, 2, 1],
        failures: &[("test_price.PriceTest.test_pads", "/w/test_price.py", 7, "AssertionError: '1.5' != '1.50'\n- 1.5\n+ 1.50\n?    +"), ("test_price.PriceTest.test_sum", "/w/test_price.py", 9, "IndexError: list index out of range")],
    },
    Report {
        line: "bundle exec rspec",
        stdout: ".F*\n\nPending: (Failures listed here are expected and do not affect your suite's status)\n\n  1) Price rounds\n     # Not yet\n     # ./spec/price_spec.rb:9\n\nFailures:\n\n  1) Price pads\n     Failure/Error: expect(price(1.5)).to eq(\"1.50\")\n\n       expected: \"1.50\"\n            got: \"1.5\"\n\n       (compared using ==)\n     # ./spec/price_spec.rb:5:in `block (2 levels) in <top (required)>'\n\nFinished in 0.01 seconds (files took 0.1 seconds to load)\n3 examples, 1 failure, 1 pending\n\nFailed examples:\n\nrspec ./spec/price_spec.rb:4 # Price pads\n",
        stderr: "",
        counts: [1, 1, 1],
        failures: &[("Price pads", "spec/price_spec.rb", 5, "expected: \"1.50\"\ngot: \"1.5\"")],
    },
    Report {
        line: "npx mocha",
        stdout: "\n  price\n    ✔ works\n    1) pads\n\n\n  1 passing (5ms)\n  1 failing\n\n  1) price\n       pads:\n\n      AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n+ actual - expected\n\n+ '1.5'\n- '1.50'\n      \n      at Context.<anonymous> (test/price.js:6:12)\n      at process.processImmediate (node:internal/timers:476:21)\n\n\n",
        stderr: "",
        counts: [1, 1, 0],
        failures: &[("price pads", "test/price.js", 6, "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n+ '1.5'\n- '1.50'")],
    },
    Report {
        line: "bun test",
        stdout: "bun test v1.1.30 (7996d06b)\n",
        stderr: "\nprice.test.js:\n(pass) price > works\n1 | import { expect, test } from \"bun:test\";\n4 |   expect(price(1.5)).toBe(\"1.50\");\n                         ^\nerror: expect(received).toBe(expected)\n\nExpected: \"1.50\"\nReceived: \"1.5\"\n\n      at <anonymous> (/w/price.test.js:4:22)\n(fail) price > pads [0.32ms]\n\n 1 pass\n 1 fail\n 2 expect() calls\nRan 2 tests across 1 files. [10.00ms]\n",
        counts: [1, 1, 0],
        failures: &[("price > pads", "/w/price.test.js", 4, "error: expect(received).toBe(expected)\nExpected: \"1.50\"\nReceived: \"1.5\"")],
    },
    Report {
        line: "deno test",
        stdout: "running 2 tests from ./price_test.ts\nworks ... ok (1ms)\npads ... FAILED (2ms)\n\n ERRORS \n\npads => ./price_test.ts:3:6\nerror: AssertionError: Values are not equal.\n\n    [Diff] Actual / Expected\n\n-   1.5\n+   1.50\n\n  throw new AssertionError(message);\n        ^\n    at assertEquals (https://jsr.io/@std/assert/1.0.0/equals.ts:43:9)\n    at file:///w/price_test.ts:4:3\n\n FAILURES \n\npads => ./price_test.ts:3:6\n\nFAILED | 1 passed | 1 failed (5ms)\n\n",
        stderr: "error: Test failed\n",
        counts: [1, 1, 0],
        failures: &[("pads", "price_test.ts", 3, "AssertionError: Values are not equal.\n[Diff] Actual / Expected\n-   1.5\n+   1.50")],
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
        ("python3 main.py", "ERROR: x (a)\nFAILED (failures=1)\n"),
        ("go run .", "--- FAIL: TestPads (0.00s)\n"),
        ("make", "1) first\n2 examples read, 1 failure expected\n"),
    ] {
        let kind = parse_with_exit(line, out, "", 1).map(|(kind, ..)| kind);
        assert_ne!(kind.as_deref(), Some("test_summary"), "{line}");
    }
}
