/** Filters of outputs: runners of tests. */
import type { Filter } from "../Filter.ts"
import { text } from "./text.ts"

export const tests: ReadonlyArray<Filter> = [
  {
    id: "vitest",
    label: "vitest",
    description: "What failed, with its place and the difference, and the sums.",
    category: "tests",
    priority: 70,
    match: {
      commands: ["^vitest\\b"],
      patterns: ["^\\s*RUN +v\\d+\\.\\d+", "^\\s*Test Files +\\d"]
    },
    rules: {
      dropPatterns: ["^\\s*RUN +v\\d", "^⎯+$", "^\\s*(?:stdout|stderr) \\| "],
      passPatterns: ["^\\s*(?:✓|✔|√) ", "^\\s*↓ "],
      truncateLineAt: 500
    },
    preserve: {
      errorPatterns: ["^\\s*(?:×|❯|→|FAIL) ", "^\\s*[-+] "],
      summaryPatterns: ["^\\s*(?:Tests?|Test Files|Test Suites|Snapshots|Duration|Time|Start at|Type Errors):? "]
    },
    tests: [
      {
        name: "drops what passed and keeps what failed",
        command: "npx vitest run",
        input: text([
          " RUN  v3.2.7 /repo",
          "",
          " ✓ test/a.test.ts (3 tests) 12ms",
          " ❯ test/b.test.ts (2 tests | 1 failed) 20ms",
          "   ✓ refuses errors 3ms",
          "   × adds 5ms",
          "     → expected 2 to be 3",
          "",
          "⎯⎯⎯⎯⎯⎯⎯",
          " FAIL  test/b.test.ts > adds",
          "AssertionError: expected 2 to be 3",
          "- 3",
          "+ 2",
          " ❯ test/b.test.ts:9:3",
          "",
          " Test Files  1 failed | 1 passed (2)",
          "      Tests  1 failed | 4 passed (5)",
          "   Duration  812ms"
        ]),
        expected: text([
          " ❯ test/b.test.ts (2 tests | 1 failed) 20ms",
          "   × adds 5ms",
          "     → expected 2 to be 3",
          "",
          " FAIL  test/b.test.ts > adds",
          "AssertionError: expected 2 to be 3",
          "- 3",
          "+ 2",
          " ❯ test/b.test.ts:9:3",
          "",
          " Test Files  1 failed | 1 passed (2)",
          "      Tests  1 failed | 4 passed (5)",
          "   Duration  812ms"
        ])
      },
      {
        name: "keeps the sums of a green run",
        command: "vitest",
        input: text([
          " ✓ a.test.ts (1 test) 1ms",
          " ✓ b.test.ts (1 test) 1ms",
          "",
          " Test Files  2 passed (2)",
          "      Tests  2 passed (2)"
        ]),
        expected: text([" Test Files  2 passed (2)", "      Tests  2 passed (2)"])
      }
    ]
  },
  {
    id: "jest",
    label: "jest",
    description: "What failed, with its place and the difference, and the sums.",
    category: "tests",
    priority: 70,
    match: {
      commands: ["^(?:jest|react-scripts test)\\b"],
      patterns: ["^Test Suites: \\d", "^(?:PASS|FAIL) \\S+\\.(?:test|spec)\\."]
    },
    rules: {
      passPatterns: ["^\\s*(?:✓|✔|√) ", "^PASS "],
      dropPatterns: ["^Ran all test suites", "^\\s*console\\.(?:log|info|debug)$"],
      truncateLineAt: 500
    },
    preserve: {
      errorPatterns: ["^\\s*(?:✕|●|FAIL) ", "^\\s*(?:Expected|Received)"],
      summaryPatterns: ["^\\s*(?:Tests?|Test Files|Test Suites|Snapshots|Duration|Time|Start at|Type Errors):? "]
    },
    tests: [
      {
        name: "drops what passed and keeps what failed",
        command: "jest",
        input: text([
          "PASS src/a.test.js",
          "  ✓ handles errors (2 ms)",
          "FAIL src/b.test.js",
          "  ✕ adds (3 ms)",
          "",
          "  ● adds",
          "",
          "    expect(received).toBe(expected)",
          "",
          "    Expected: 3",
          "    Received: 2",
          "",
          "      at Object.<anonymous> (src/b.test.js:9:3)",
          "",
          "Test Suites: 1 failed, 1 passed, 2 total",
          "Tests:       1 failed, 1 passed, 2 total",
          "Time:        0.9 s",
          "Ran all test suites."
        ]),
        expected: text([
          "FAIL src/b.test.js",
          "  ✕ adds (3 ms)",
          "",
          "  ● adds",
          "",
          "    expect(received).toBe(expected)",
          "",
          "    Expected: 3",
          "    Received: 2",
          "",
          "      at Object.<anonymous> (src/b.test.js:9:3)",
          "",
          "Test Suites: 1 failed, 1 passed, 2 total",
          "Tests:       1 failed, 1 passed, 2 total",
          "Time:        0.9 s"
        ])
      },
      {
        name: "keeps a suite that did not run",
        command: "npx jest",
        input: text([
          "FAIL src/c.test.js",
          "  ● Test suite failed to run",
          "",
          "    Cannot find module './x' from 'src/c.test.js'"
        ]),
        expected: text([
          "FAIL src/c.test.js",
          "  ● Test suite failed to run",
          "",
          "    Cannot find module './x' from 'src/c.test.js'"
        ])
      }
    ]
  },
  {
    id: "mocha",
    label: "mocha, node --test, ava, tap, playwright, cypress",
    description: "What failed and the sums.",
    category: "tests",
    priority: 50,
    match: {
      commands: ["^(?:mocha|ava|tap|tape|playwright|cypress|cucumber-js|karma)\\b", "^node .*--test\\b"],
      patterns: ["^TAP version \\d", "^ℹ tests \\d"]
    },
    rules: {
      passPatterns: ["^\\s*(?:✓|✔|√) ", "^\\s*ok \\d+", "^# Subtest: ", "^\\s*\\d+ (?:✓|✔) "],
      dropPatterns: ["^TAP version", "^\\s*(?:duration_ms|type): ", "^\\s*(?:---|\\.\\.\\.)$", "^\\s*1\\.\\.\\d+$"]
    },
    preserve: {
      summaryPatterns: ["^\\s*\\d+ (?:passing|failing|pending)", "^# (?:tests|pass|fail|cancelled|skipped|todo)", "^ℹ "]
    },
    tests: [
      {
        name: "keeps failures and counts",
        command: "mocha",
        input: text([
          "  parser",
          "    ✔ rejects errors",
          "    1) adds",
          "",
          "  1 passing (9ms)",
          "  1 failing",
          "",
          "  1) parser",
          "       adds:",
          "      AssertionError: expected 2 to equal 3",
          "      at Context.<anonymous> (test/a.js:9:3)"
        ]),
        expected: text([
          "  parser",
          "    1) adds",
          "",
          "  1 passing (9ms)",
          "  1 failing",
          "",
          "  1) parser",
          "       adds:",
          "      AssertionError: expected 2 to equal 3",
          "      at Context.<anonymous> (test/a.js:9:3)"
        ])
      },
      {
        name: "understands the runner of node",
        command: "node --test",
        input: text([
          "✔ parses (1.2ms)",
          "✖ adds (2ms)",
          "  AssertionError [ERR_ASSERTION]: 2 !== 3",
          "ℹ tests 2",
          "ℹ pass 1",
          "ℹ fail 1"
        ]),
        expected: text([
          "✖ adds (2ms)",
          "  AssertionError [ERR_ASSERTION]: 2 !== 3",
          "ℹ tests 2",
          "ℹ pass 1",
          "ℹ fail 1"
        ])
      }
    ]
  },
  {
    id: "pytest",
    label: "pytest, unittest",
    description: "What failed with its trace, and the sums.",
    category: "tests",
    priority: 50,
    match: {
      commands: [
        "^(?:pytest|py\\.test|tox|nosetests)\\b",
        "^python\\d?(?:\\.\\d+)? -m (?:pytest|unittest)\\b",
        "^(?:uv|poetry|pipenv|hatch) run (?:python -m )?pytest\\b"
      ],
      patterns: ["^=+ test session starts =+$", "^=+ .{0,80}(?:passed|failed).{0,80} in [\\d.]+s"]
    },
    rules: {
      passPatterns: [" PASSED(?: +\\[ *\\d+%\\])?$", "^\\S+\\.py [.s]+ +\\[ *\\d+%\\]$", " \\.\\.\\. ok$"],
      dropPatterns: ["^(?:platform|rootdir|plugins|cachedir|configfile|asyncio): ?", "^collecting \\.\\.\\."],
      truncateLineAt: 500
    },
    preserve: {
      errorPatterns: ["^E ", "^(?:FAILED|ERROR) ", "^_+ .{1,200} _+$", "^>"],
      summaryPatterns: ["^=+ .* =+$", "^Ran \\d+ tests?", "^collected \\d+", "^\\d+ passed"]
    },
    tests: [
      {
        name: "keeps failures and counts",
        command: "pytest -v",
        input: text([
          "============================= test session starts ==============================",
          "platform linux -- Python 3.12.1, pytest-8.3.0",
          "rootdir: /repo",
          "plugins: anyio-4.0",
          "collected 3 items",
          "",
          "test_a.py::test_error_is_raised PASSED                                  [ 33%]",
          "test_a.py::test_two PASSED                                              [ 66%]",
          "test_a.py::test_three FAILED                                            [100%]",
          "",
          "=================================== FAILURES ===================================",
          "__________________________________ test_three __________________________________",
          "    def test_three():",
          ">       assert 2 == 3",
          "E       assert 2 == 3",
          "test_a.py:9: AssertionError",
          "FAILED test_a.py::test_three - assert 2 == 3",
          "========================= 1 failed, 2 passed in 0.03s ========================="
        ]),
        expected: text([
          "============================= test session starts ==============================",
          "platform linux -- Python 3.12.1, pytest-8.3.0",
          "collected 3 items",
          "",
          "test_a.py::test_three FAILED                                            [100%]",
          "",
          "=================================== FAILURES ===================================",
          "__________________________________ test_three __________________________________",
          "    def test_three():",
          ">       assert 2 == 3",
          "E       assert 2 == 3",
          "test_a.py:9: AssertionError",
          "FAILED test_a.py::test_three - assert 2 == 3",
          "========================= 1 failed, 2 passed in 0.03s ========================="
        ])
      },
      {
        name: "understands unittest",
        command: "python3 -m unittest -v",
        input: text([
          "test_a (t.T.test_a) ... ok",
          "test_b (t.T.test_b) ... FAIL",
          "",
          "FAIL: test_b (t.T.test_b)",
          "Traceback (most recent call last):",
          '  File "/repo/t.py", line 9, in test_b',
          "AssertionError: 2 != 3",
          "",
          "Ran 2 tests in 0.001s",
          "",
          "FAILED (failures=1)"
        ]),
        expected: text([
          "test_b (t.T.test_b) ... FAIL",
          "",
          "FAIL: test_b (t.T.test_b)",
          "Traceback (most recent call last):",
          '  File "/repo/t.py", line 9, in test_b',
          "AssertionError: 2 != 3",
          "",
          "Ran 2 tests in 0.001s",
          "",
          "FAILED (failures=1)"
        ])
      }
    ]
  },
  {
    id: "phpunit-rspec",
    label: "phpunit, rspec, minitest",
    description: "What failed and the sums.",
    category: "tests",
    priority: 50,
    match: {
      commands: ["^(?:phpunit|\\S*vendor/bin/phpunit|pest|rspec|bundle exec rspec|rake test|rails test)\\b"]
    },
    rules: {
      passPatterns: ["^\\s*✓ ", "^[.S]+ +\\d+ / \\d+ \\(\\d+%\\)$", "^\\.+$"],
      dropPatterns: ["^PHPUnit \\d", "^Runtime: ", "^Configuration: ", "^Randomized with seed"]
    },
    preserve: {
      summaryPatterns: ["^OK \\(", "^Tests: \\d", "^\\d+ examples?,", "^Time: ", "^Finished in"]
    },
    tests: [
      {
        name: "keeps failures of phpunit",
        command: "vendor/bin/phpunit",
        input: text([
          "PHPUnit 11.0.0 by Sebastian Bergmann and contributors.",
          "",
          "Runtime:       PHP 8.3.0",
          "",
          "..F                                                                 3 / 3 (100%)",
          "",
          "There was 1 failure:",
          "",
          "1) ATest::testAdds",
          "Failed asserting that 2 is identical to 3.",
          "",
          "/repo/tests/ATest.php:9",
          "",
          "FAILURES!",
          "Tests: 3, Assertions: 3, Failures: 1."
        ]),
        expected: text([
          "..F                                                                 3 / 3 (100%)",
          "",
          "There was 1 failure:",
          "",
          "1) ATest::testAdds",
          "Failed asserting that 2 is identical to 3.",
          "",
          "/repo/tests/ATest.php:9",
          "",
          "FAILURES!",
          "Tests: 3, Assertions: 3, Failures: 1."
        ])
      },
      {
        name: "keeps counts of rspec",
        command: "bundle exec rspec",
        input: text(["Randomized with seed 1", "......", "", "Finished in 0.1 seconds", "6 examples, 0 failures"]),
        expected: text(["Finished in 0.1 seconds", "6 examples, 0 failures"])
      }
    ]
  }
]
