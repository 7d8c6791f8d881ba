/** Filters of outputs: packages of JavaScript. */
import type { Filter } from "../Filter.ts"
import { text } from "./text.ts"

export const packagesJs: ReadonlyArray<Filter> = [
  {
    id: "npm-install",
    label: "npm install, npm ci",
    description: "What was added and what is deprecated or vulnerable, without the progress.",
    category: "packages-js",
    priority: 50,
    match: {
      commands: ["^npm (?:i|install|ci|add|uninstall|remove|rm|update|up|prune|dedupe|link)\\b"],
      patterns: ["^added \\d+ packages?", "^npm warn "]
    },
    rules: {
      dropPatterns: [
        "^npm notice",
        "^npm http",
        "^npm timing",
        "^npm (?:silly|verb|sill)",
        "^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]",
        "^ {2}run .npm fund. for details"
      ],
      collapsePatterns: [
        "^npm warn deprecated",
        "^npm WARN deprecated",
        "^npm warn EBADENGINE",
        "^(?:add|remove|change) \\S+ \\d"
      ]
    },
    preserve: {
      summaryPatterns: ["^(?:added|removed|changed|up to date|audited) ", "vulnerabilit"]
    },
    tests: [
      {
        name: "keeps counts and shortens warnings",
        command: "npm ci",
        input: text([
          "npm warn deprecated inflight@1.0.6: This module leaks memory.",
          "npm warn deprecated rimraf@3.0.2: Rimraf versions prior to v4 are no longer supported",
          "npm warn deprecated glob@7.2.3: Glob versions prior to v9 are no longer supported",
          "npm warn deprecated q@1.5.1: use native promises",
          "npm http fetch GET 200 https://registry.example/a 12ms",
          "",
          "added 412 packages, and audited 413 packages in 8s",
          "",
          "61 packages are looking for funding",
          "  run `npm fund` for details",
          "",
          "3 moderate severity vulnerabilities"
        ]),
        expected: text([
          "npm warn deprecated inflight@1.0.6: This module leaks memory.",
          "… 2 lines like these",
          "npm warn deprecated q@1.5.1: use native promises",
          "",
          "added 412 packages, and audited 413 packages in 8s",
          "",
          "61 packages are looking for funding",
          "",
          "3 moderate severity vulnerabilities"
        ])
      },
      {
        name: "keeps errors",
        command: "npm install",
        input: text([
          "npm error code ERESOLVE",
          "npm error ERESOLVE unable to resolve dependency tree",
          "npm error",
          "npm error Found: react@19.0.0",
          "npm error A complete log of this run can be found in: /srv/u/.npm/_logs/x.log"
        ]),
        expected: text([
          "npm error code ERESOLVE",
          "npm error ERESOLVE unable to resolve dependency tree",
          "npm error",
          "npm error Found: react@19.0.0",
          "npm error A complete log of this run can be found in: /srv/u/.npm/_logs/x.log"
        ])
      }
    ]
  },
  {
    id: "npm-run",
    label: "npm run, npm start, npm exec",
    description: "The output of the script, without npm's own lines.",
    category: "packages-js",
    priority: 40,
    match: {
      commands: ["^npm (?:run|run-script|start|exec|x|stop|restart)\\b", "^node --run\\b"]
    },
    rules: {
      dropPatterns: [
        "^npm notice",
        "^npm http",
        "^npm timing",
        "^npm (?:silly|verb|sill)",
        "^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]",
        "^> \\S+@\\d\\S* \\S+",
        "^> "
      ],
      collapsePatterns: ["^\\s*(?:✓|✔|√) "]
    },
    tests: [
      {
        name: "drops the header of the script",
        command: "npm run build",
        input: text(["", "> gateway@0.1.0 build", "> node bin/build.mjs", "", "built in 1.2 s", "dist/main.js 812 kB"]),
        expected: text(["built in 1.2 s", "dist/main.js 812 kB"])
      },
      {
        name: "keeps how it ended",
        command: "npm run lint",
        input: text([
          "> a@1.0.0 lint",
          "> eslint .",
          "",
          "src/a.ts:1:2: error x",
          "npm error Lifecycle script `lint` failed with error:",
          "npm error code 1"
        ]),
        expected: text([
          "src/a.ts:1:2: error x",
          "npm error Lifecycle script `lint` failed with error:",
          "npm error code 1"
        ])
      }
    ]
  },
  {
    id: "npm-test",
    label: "npm test",
    description: "What failed, and the sums of the runner.",
    category: "packages-js",
    priority: 60,
    match: {
      commands: ["^(?:npm|pnpm|yarn|bun)(?: run)? (?:t|tst|test\\S*)\\b"]
    },
    rules: {
      dropPatterns: [
        "^npm notice",
        "^npm http",
        "^npm timing",
        "^npm (?:silly|verb|sill)",
        "^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]",
        "^> \\S+@\\d\\S* \\S+",
        "^> "
      ],
      passPatterns: ["^\\s*(?:✓|✔|√) ", "^ok \\d+", "^PASS ", "^\\s*\\S+ \\| +100 \\| +100 \\| +100 \\| +100 \\|"],
      truncateLineAt: 500
    },
    preserve: {
      summaryPatterns: [
        "^\\s*(?:Tests?|Test Files|Test Suites|Snapshots|Duration|Time|Start at):? ",
        "^# (?:tests|pass|fail|cancelled|skipped|todo|suites|duration_ms)"
      ]
    },
    tests: [
      {
        name: "drops passed tests and keeps the sums",
        command: "npm test",
        input: text([
          "> a@1.0.0 test",
          "> vitest run",
          "",
          " ✓ test/a.test.ts (12 tests) 30ms",
          " ✓ refuses errors",
          " × test/b.test.ts > adds",
          "   → expected 2 to be 3",
          "",
          " Test Files  1 failed | 1 passed (2)",
          "      Tests  1 failed | 12 passed (13)",
          "   Duration  1.20s"
        ]),
        expected: text([
          "> a@1.0.0 test",
          "",
          " × test/b.test.ts > adds",
          "   → expected 2 to be 3",
          "",
          " Test Files  1 failed | 1 passed (2)",
          "      Tests  1 failed | 12 passed (13)",
          "   Duration  1.20s"
        ])
      },
      {
        name: "understands TAP",
        command: "npm test",
        input: text([
          "TAP version 13",
          "ok 1 - parses",
          "not ok 2 - fails when empty",
          "  ---",
          "  at: src/a.ts:3:4",
          "  ...",
          "# tests 2",
          "# pass 1",
          "# fail 1"
        ]),
        expected: text([
          "TAP version 13",
          "not ok 2 - fails when empty",
          "  ---",
          "  at: src/a.ts:3:4",
          "  ...",
          "# tests 2",
          "# pass 1",
          "# fail 1"
        ])
      }
    ]
  },
  {
    id: "npm-ls",
    label: "npm ls, npm outdated, npm view",
    description: "The tree of dependencies, shortened in the middle.",
    category: "packages-js",
    priority: 50,
    match: {
      commands: ["^(?:npm|pnpm|yarn) (?:ls|list|la|ll|outdated|view|info|show|explain|why|query)\\b"]
    },
    rules: {
      replace: [
        {
          pattern: " deduped$",
          replacement: ""
        }
      ],
      dropPatterns: ["UNMET OPTIONAL DEPENDENCY"],
      headLines: 90,
      tailLines: 10
    },
    preserve: {
      errorPatterns: ["UNMET DEPENDENCY", " (?:invalid|extraneous)"]
    },
    tests: [
      {
        name: "drops optional ones that are absent",
        command: "npm ls --all",
        input: text([
          "a@1.0.0 /repo",
          "├── effect@3.22.4",
          "│ └── fast-check@3.23.2",
          "├── UNMET OPTIONAL DEPENDENCY bufferutil@^4.0.1",
          "└─┬ vitest@3.2.7",
          "  └── effect@3.22.4 deduped"
        ]),
        expected: text([
          "a@1.0.0 /repo",
          "├── effect@3.22.4",
          "│ └── fast-check@3.23.2",
          "└─┬ vitest@3.2.7",
          "  └── effect@3.22.4"
        ])
      },
      {
        name: "keeps what is missing",
        command: "npm ls x",
        input: text([
          "a@1.0.0 /repo",
          "└── UNMET DEPENDENCY x@^1.0.0",
          "npm error missing: x@^1.0.0, required by a@1.0.0"
        ]),
        expected: text([
          "a@1.0.0 /repo",
          "└── UNMET DEPENDENCY x@^1.0.0",
          "npm error missing: x@^1.0.0, required by a@1.0.0"
        ])
      }
    ]
  },
  {
    id: "npm-audit",
    label: "npm audit",
    description: "Vulnerabilities by package, without the repeated ways to fix them.",
    category: "packages-js",
    priority: 50,
    match: {
      commands: ["^(?:npm|pnpm|yarn) audit\\b"]
    },
    rules: {
      dropPatterns: ["^# npm audit report$", "^To address (?:all )?issues", "^ {2}npm audit fix"],
      collapsePatterns: ["^ {2}node_modules/"]
    },
    preserve: {
      errorPatterns: ["[Ss]everity", "GHSA-", "CVE-"]
    },
    tests: [
      {
        name: "keeps package, severity and advisory",
        command: "npm audit",
        input: text([
          "# npm audit report",
          "",
          "braces  <3.0.3",
          "Severity: high",
          "Uncontrolled resource consumption in braces - https://github.com/advisories/GHSA-grv7-fg5c-xmjg",
          "fix available via `npm audit fix`",
          "node_modules/braces",
          "",
          "1 high severity vulnerability",
          "",
          "To address all issues, run:",
          "  npm audit fix"
        ]),
        expected: text([
          "braces  <3.0.3",
          "Severity: high",
          "Uncontrolled resource consumption in braces - https://github.com/advisories/GHSA-grv7-fg5c-xmjg",
          "fix available via `npm audit fix`",
          "node_modules/braces",
          "",
          "1 high severity vulnerability"
        ])
      },
      {
        name: "says that there are none",
        command: "npm audit",
        input: text(["found 0 vulnerabilities"]),
        expected: text(["found 0 vulnerabilities"])
      }
    ]
  },
  {
    id: "pnpm",
    label: "pnpm install, pnpm add",
    description: "What was added, without the progress.",
    category: "packages-js",
    priority: 30,
    match: {
      commands: ["^pnpm\\b"]
    },
    rules: {
      dropPatterns: [
        "^npm notice",
        "^npm http",
        "^npm timing",
        "^npm (?:silly|verb|sill)",
        "^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]",
        "^Progress: ",
        "^Packages: \\+\\d+$",
        "^[+-]+$",
        "^Lockfile is up to date",
        "^Already up to date",
        "^\\s*╭|^\\s*╰|^\\s*│"
      ],
      onEmpty: "ok"
    },
    preserve: {
      summaryPatterns: ["^Done in ", "^(?:dependencies|devDependencies):", "^[+-] \\S"]
    },
    tests: [
      {
        name: "keeps packages and time",
        command: "pnpm install",
        input: text([
          "Lockfile is up to date, resolution step is skipped",
          "Progress: resolved 1, reused 0, downloaded 0, added 0",
          "Packages: +120",
          "++++++++++++++++++++++++",
          "Progress: resolved 120, reused 120, downloaded 0, added 120, done",
          "",
          "dependencies:",
          "+ effect 3.22.4",
          "",
          "Done in 2.1s"
        ]),
        expected: text(["dependencies:", "+ effect 3.22.4", "", "Done in 2.1s"])
      },
      {
        name: "keeps errors",
        command: "pnpm add x",
        input: text([
          "Progress: resolved 1, reused 0",
          " ERR_PNPM_FETCH_404  GET https://registry.example/x: Not Found - 404"
        ]),
        expected: text([" ERR_PNPM_FETCH_404  GET https://registry.example/x: Not Found - 404"])
      }
    ]
  },
  {
    id: "yarn",
    label: "yarn install, yarn add, bun install",
    description: "What was added and the warnings, without the steps.",
    category: "packages-js",
    priority: 30,
    match: {
      commands: ["^(?:yarn|bun)\\b"]
    },
    rules: {
      dropPatterns: [
        "^\\[\\d/\\d\\] ",
        "^yarn (?:install|add|run) v\\d",
        "^\\$ ",
        "^➤ YN0000: [┌└│]",
        "^➤ YN0013",
        "^info (?:No lockfile|Direct dependencies|All dependencies)"
      ],
      collapsePatterns: ["^├─ ", "^➤ YN0002", "^warning "]
    },
    preserve: {
      summaryPatterns: ["^success ", "^Done in ", "^➤ YN0000: (?:·|Done)"]
    },
    tests: [
      {
        name: "keeps how it ended",
        command: "yarn install",
        input: text([
          "yarn install v1.22.22",
          "[1/4] Resolving packages...",
          "[2/4] Fetching packages...",
          "warning a > b@1.0.0: no longer maintained",
          "[3/4] Linking dependencies...",
          "success Saved lockfile.",
          "Done in 3.20s."
        ]),
        expected: text(["warning a > b@1.0.0: no longer maintained", "success Saved lockfile.", "Done in 3.20s."])
      },
      {
        name: "keeps errors",
        command: "yarn add x",
        input: text([
          "[1/4] Resolving packages...",
          'error An unexpected error occurred: "https://registry.example/x: Not found".'
        ]),
        expected: text(['error An unexpected error occurred: "https://registry.example/x: Not found".'])
      }
    ]
  }
]
