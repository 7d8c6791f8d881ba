/** Filters of outputs: compilers, linters and bundlers of JavaScript. */
import type { Filter } from "../Filter.ts"
import { text } from "./text.ts"

export const checksJs: ReadonlyArray<Filter> = [
  {
    id: "tsc",
    label: "tsc",
    description: "Every error with its place.",
    category: "checks-js",
    priority: 60,
    match: {
      commands: ["^(?:tsc|vue-tsc|tsgo)\\b", "^npm run types?(?:check)?\\b"],
      patterns: ["\\(\\d+,\\d+\\): error TS\\d+", ":\\d+:\\d+ - error TS\\d+"]
    },
    rules: {
      dropPatterns: ["^> ", "^\\s*~+\\s*$"],
      truncateLineAt: 600
    },
    preserve: {
      errorPatterns: ["error TS\\d+", "^Found \\d+ error"]
    },
    tests: [
      {
        name: "keeps errors and drops underlining",
        command: "npx tsc --noEmit --pretty",
        input: text([
          "src/a.ts:3:7 - error TS2322: Type 'string' is not assignable to type 'number'.",
          "",
          '3 const a: number = "x"',
          "        ~",
          "",
          "Found 1 error in src/a.ts:3"
        ]),
        expected: text([
          "src/a.ts:3:7 - error TS2322: Type 'string' is not assignable to type 'number'.",
          "",
          '3 const a: number = "x"',
          "",
          "Found 1 error in src/a.ts:3"
        ])
      },
      {
        name: "keeps plain errors",
        command: "tsc -p .",
        input: text([
          "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.",
          "src/b.ts(9,1): error TS2304: Cannot find name 'x'."
        ]),
        expected: text([
          "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.",
          "src/b.ts(9,1): error TS2304: Cannot find name 'x'."
        ])
      }
    ]
  },
  {
    id: "eslint",
    label: "eslint",
    description: "Every finding with its place, and the sum.",
    category: "checks-js",
    priority: 50,
    match: {
      commands: ["^(?:eslint|standard|xo|tslint)\\b"],
      patterns: ["^\\s+\\d+:\\d+ +(?:error|warning) {2}"]
    },
    rules: {
      dropPatterns: ["^\\(node:\\d+\\)", "^Browserslist: ", "potentially fixable with the"],
      truncateLineAt: 400
    },
    preserve: {
      errorPatterns: ["^\\s+\\d+:\\d+ +(?:error|warning) ", "^/", "^✖ "]
    },
    tests: [
      {
        name: "keeps file, place and rule",
        command: "npx eslint src",
        input: text([
          "/repo/src/a.ts",
          "  1:7   error    'a' is assigned a value but never used  no-unused-vars",
          "  9:1   warning  Unexpected console statement           no-console",
          "",
          "✖ 2 problems (1 error, 1 warning)",
          "  0 errors and 1 warning potentially fixable with the `--fix` option."
        ]),
        expected: text([
          "/repo/src/a.ts",
          "  1:7   error    'a' is assigned a value but never used  no-unused-vars",
          "  9:1   warning  Unexpected console statement           no-console",
          "",
          "✖ 2 problems (1 error, 1 warning)",
          "  0 errors and 1 warning potentially fixable with the `--fix` option."
        ])
      },
      {
        name: "drops warnings of the runtime",
        command: "eslint .",
        input: text([
          "(node:12) ESLintRCWarning: You are using an eslintrc configuration file",
          "/repo/a.js",
          "  2:1  error  Parsing error: Unexpected token"
        ]),
        expected: text(["/repo/a.js", "  2:1  error  Parsing error: Unexpected token"])
      }
    ]
  },
  {
    id: "oxlint",
    label: "oxlint, biome",
    description: "Every finding with its place, without the drawn frame.",
    category: "checks-js",
    priority: 50,
    match: {
      commands: ["^(?:oxlint|biome|deno lint)\\b"],
      patterns: ["^\\s*[×⚠] [a-z-]+\\([a-z-]+\\): "]
    },
    rules: {
      dropPatterns: ["^\\s*[╭╰]─*[─╯]?$", "^\\s*│?\\s*·\\s*$", "^\\s*·\\s*[─┬]+$"],
      maxLines: 300
    },
    preserve: {
      errorPatterns: ["^\\s*[×⚠!] ", "^\\s*╭─\\[", "^Found \\d+", "help:"]
    },
    tests: [
      {
        name: "keeps rule, place and sum",
        command: "oxlint src",
        input: text([
          "  ⚠ eslint(no-unused-vars): Variable 'a' is declared but never used.",
          "   ╭─[src/a.ts:1:7]",
          " 1 │ const a = 1",
          "   ·       ┬",
          "   ·       ╰── 'a' is declared here",
          "   ╰────",
          "  help: Consider removing this declaration.",
          "",
          "Found 1 warning and 0 errors."
        ]),
        expected: text([
          "  ⚠ eslint(no-unused-vars): Variable 'a' is declared but never used.",
          "   ╭─[src/a.ts:1:7]",
          " 1 │ const a = 1",
          "   ·       ╰── 'a' is declared here",
          "  help: Consider removing this declaration.",
          "",
          "Found 1 warning and 0 errors."
        ])
      },
      {
        name: "leaves a clean run as it is",
        command: "oxlint",
        input: text([
          "Found 0 warnings and 0 errors.",
          "Finished in 31ms on 300 files with 120 rules using 2 threads."
        ]),
        expected: text([
          "Found 0 warnings and 0 errors.",
          "Finished in 31ms on 300 files with 120 rules using 2 threads."
        ])
      }
    ]
  },
  {
    id: "prettier",
    label: "prettier, oxfmt, gofmt, black, ruff format",
    description: "Files that differ, and the sum; files that are right are counted.",
    category: "checks-js",
    priority: 50,
    match: {
      commands: ["^(?:prettier|oxfmt|gofmt|black|ruff|isort|rustfmt|dprint|cargo fmt)\\b"]
    },
    rules: {
      collapsePatterns: ["\\(unchanged\\)$", "^\\S+ \\d+(?:\\.\\d+)?m?s$"],
      dropPatterns: ["^Checking formatting\\.\\.\\.$"]
    },
    preserve: {
      errorPatterns: ["^\\[(?:warn|error)\\]", "^would reformat", "^reformatted"]
    },
    tests: [
      {
        name: "keeps files that differ",
        command: "prettier --check .",
        input: text([
          "Checking formatting...",
          "[warn] src/a.ts",
          "[warn] src/b.ts",
          "[warn] Code style issues found in 2 files. Run Prettier with --write to fix."
        ]),
        expected: text([
          "[warn] src/a.ts",
          "[warn] src/b.ts",
          "[warn] Code style issues found in 2 files. Run Prettier with --write to fix."
        ])
      },
      {
        name: "counts files that did not change",
        command: "prettier --write .",
        input: text([
          "a.ts 30ms (unchanged)",
          "b.ts 4ms (unchanged)",
          "c.ts 5ms (unchanged)",
          "d.ts 6ms (unchanged)",
          "e.ts 7ms"
        ]),
        expected: text(["a.ts 30ms (unchanged)", "… 2 lines like these", "d.ts 6ms (unchanged)", "e.ts 7ms"])
      }
    ]
  },
  {
    id: "bundler",
    label: "vite, webpack, rollup, rolldown, esbuild, next, turbo",
    description: "What was built and what failed, with few of the files.",
    category: "checks-js",
    priority: 50,
    match: {
      commands: ["^(?:vite|webpack|rollup|rolldown|esbuild|next|nuxt|astro|parcel|turbo|nx|tsup|tsdown|ng)\\b"]
    },
    rules: {
      collapsePatterns: [
        "^(?:dist|build|\\.next|\\.output|out)/\\S+ +\\d",
        "^asset \\S+ \\d",
        "^[├│] [○●ƒλ] ",
        "^\\s*modules by path"
      ],
      dropPatterns: ["^transforming", "^rendering chunks", "^computing gzip size", "^<s> \\[webpack\\.Progress\\]"]
    },
    preserve: {
      summaryPatterns: ["built in", "^✓ ", "compiled", "modules transformed"]
    },
    tests: [
      {
        name: "keeps sums and the first and last file",
        command: "vite build",
        input: text([
          "vite v7.1.0 building for production...",
          "transforming...",
          "✓ 420 modules transformed.",
          "rendering chunks...",
          "computing gzip size...",
          "dist/index.html  0.46 kB",
          "dist/assets/a-1.js  10.00 kB",
          "dist/assets/b-2.js  20.00 kB",
          "dist/assets/c-3.js  30.00 kB",
          "✓ built in 1.52s"
        ]),
        expected: text([
          "vite v7.1.0 building for production...",
          "✓ 420 modules transformed.",
          "dist/index.html  0.46 kB",
          "… 2 lines like these",
          "dist/assets/c-3.js  30.00 kB",
          "✓ built in 1.52s"
        ])
      },
      {
        name: "keeps errors",
        command: "webpack",
        input: text([
          "asset main.js 10 KiB [emitted]",
          "ERROR in ./src/a.js 3:7",
          "Module not found: Error: Can't resolve './b'",
          "webpack 5.99.0 compiled with 1 error in 120 ms"
        ]),
        expected: text([
          "asset main.js 10 KiB [emitted]",
          "ERROR in ./src/a.js 3:7",
          "Module not found: Error: Can't resolve './b'",
          "webpack 5.99.0 compiled with 1 error in 120 ms"
        ])
      }
    ]
  }
]
