/** Filters of outputs: outputs of unknown commands, by how they look. */
import type { Filter } from "../Filter.ts"
import { text } from "./text.ts"

export const shapes: ReadonlyArray<Filter> = [
  {
    id: "shape-test",
    label: "Outputs of unknown test runners",
    description: "What failed and the sums.",
    category: "shapes",
    priority: 5,
    match: {
      outputTypes: ["test"]
    },
    rules: {
      passPatterns: ["^\\s*(?:✓|✔|√) ", "^ok \\d+", "^PASS ", "(?:::| \\.\\.\\. ).* ?(?:PASSED|ok)$"],
      truncateLineAt: 500
    },
    tests: [
      {
        name: "drops what passed",
        input: text([" ✓ a fails well", " ✓ b", "✗ c", "ok 4 - d", "3 passed, 1 failed"]),
        expected: text(["✗ c", "3 passed, 1 failed"])
      },
      {
        name: "keeps the place",
        input: text([" ✓ a", " ✓ b", " ✓ c", " ✗ d", "   at src/d.ts:3:4"]),
        expected: text([" ✗ d", "   at src/d.ts:3:4"])
      }
    ]
  },
  {
    id: "shape-build",
    label: "Outputs of unknown builds",
    description: "What failed, without the steps.",
    category: "shapes",
    priority: 5,
    match: {
      outputTypes: ["build"]
    },
    rules: {
      collapsePatterns: [
        "^\\s*(?:Compiling|Building|Downloading|Linking|Checking) ",
        "^\\[ *\\d+%\\] ",
        "^\\[\\d+/\\d+\\] ",
        "^(?:gcc|g\\+\\+|cc|clang) "
      ],
      truncateLineAt: 500
    },
    tests: [
      {
        name: "shortens the steps",
        input: text(["[1/4] a", "[2/4] b", "[3/4] c", "[4/4] d", "done"]),
        expected: text(["[1/4] a", "… 2 lines like these", "[4/4] d", "done"])
      },
      {
        name: "keeps errors between them",
        input: text(["Compiling a", "Compiling b", "error: x is not defined", "Compiling c"]),
        expected: text(["Compiling a", "Compiling b", "error: x is not defined", "Compiling c"])
      }
    ]
  },
  {
    id: "shape-log",
    label: "Logs of unknown programs",
    description: "Failures, and the last lines; checks of health are dropped.",
    category: "shapes",
    priority: 5,
    match: {
      outputTypes: ["log"]
    },
    rules: {
      dropPatterns: [
        '"(?:GET|HEAD) /(?:health|healthz|livez|readyz|ready|ping|metrics|favicon\\.ico)[^"]{0,100}" (?:200|204)'
      ],
      headLines: 20,
      tailLines: 100,
      truncateLineAt: 500
    },
    tests: [
      {
        name: "keeps failures and drops checks of health",
        input: text([
          "2026-11-23T10:00:00Z INFO started",
          '2026-11-23T10:00:01Z "GET /healthz HTTP/1.1" 200',
          "2026-11-23T10:00:02Z ERROR no connection",
          "2026-11-23T10:00:03Z INFO stopped"
        ]),
        expected: text([
          "2026-11-23T10:00:00Z INFO started",
          "2026-11-23T10:00:02Z ERROR no connection",
          "2026-11-23T10:00:03Z INFO stopped"
        ])
      },
      {
        name: "counts lines that repeat",
        input: text([
          "2026-11-23T10:00:00Z INFO retry",
          "2026-11-23T10:00:00Z INFO retry",
          "2026-11-23T10:00:00Z INFO retry",
          "2026-11-23T10:00:00Z INFO retry",
          "2026-11-23T10:00:00Z INFO retry",
          "2026-11-23T10:00:01Z INFO done"
        ]),
        expected: text(["2026-11-23T10:00:00Z INFO retry (×5)", "2026-11-23T10:00:01Z INFO done"])
      }
    ]
  },
  {
    id: "shape-table",
    label: "Tables of unknown programs",
    description: "Rows with narrow columns; long tables are shortened in the middle.",
    category: "shapes",
    priority: 5,
    match: {
      outputTypes: ["table"]
    },
    rules: {
      replace: [
        {
          pattern: "(\\S) {4,}",
          replacement: "$1   "
        }
      ],
      headLines: 60,
      tailLines: 60,
      truncateLineAt: 300
    },
    tests: [
      {
        name: "narrows columns",
        input: text([
          "NAME          STATE     AGE",
          "row-1        up        1d",
          "row-2        up        2d",
          "row-3        up        3d",
          "row-4        up        4d",
          "row-5        up        5d",
          "row-6        up        6d",
          "row-7        up        7d",
          "row-8        up        8d",
          "row-9        up        9d",
          "row-10        up        10d"
        ]),
        expected: text([
          "NAME   STATE   AGE",
          "row-1   up   1d",
          "row-2   up   2d",
          "row-3   up   3d",
          "row-4   up   4d",
          "row-5   up   5d",
          "row-6   up   6d",
          "row-7   up   7d",
          "row-8   up   8d",
          "row-9   up   9d",
          "row-10   up   10d"
        ])
      },
      {
        name: "keeps rows that failed",
        input: text(["NAME          STATE     AGE", "a             up        1d", "b             failed    2d"]),
        expected: text(["NAME   STATE   AGE", "a   up   1d", "b   failed   2d"])
      }
    ]
  }
]
