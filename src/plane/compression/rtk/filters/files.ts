/** Filters of outputs: files and searches in them. */
import type { Filter } from "../Filter.ts"
import { text } from "./text.ts"

export const files: ReadonlyArray<Filter> = [
  {
    id: "ls",
    label: "ls",
    description: "Names, with size and time where they are asked for; long lists are shortened in the middle.",
    category: "files",
    priority: 50,
    match: {
      commands: ["^(?:ls|ll|exa|eza|dir)\\b"],
      outputTypes: ["listing"]
    },
    rules: {
      dropPatterns: ["^total \\d+", "^[dl-][rwxsStT-]{9}[.+@]? .* \\.\\.?$"],
      replace: [
        {
          pattern:
            "^([bcdlps-][rwxsStT-]{9})[.+@]? +\\d+ +\\S+ +\\S+ +(\\d+(?:\\.\\d+)?[KMGT]?) +(\\S+ +\\d+ +[\\d:]+|\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d(?::\\S+ \\S+)?) ",
          replacement: "$1 $2 $3 "
        }
      ],
      headLines: 100,
      tailLines: 20
    },
    tests: [
      {
        name: "drops links and owners",
        command: "ls -la",
        input: text([
          "total 24",
          "drwxr-xr-x  4 user user  4096 Nov 23 10:00 .",
          "drwxr-xr-x 12 user user  4096 Nov 20 09:00 ..",
          "-rw-r--r--  1 user user  1204 Nov 23 10:00 README.md",
          "drwxr-xr-x  2 user user  4096 Nov 23 10:00 src"
        ]),
        expected: text(["-rw-r--r-- 1204 Nov 23 10:00 README.md", "drwxr-xr-x 4096 Nov 23 10:00 src"])
      },
      {
        name: "keeps what cannot be listed",
        command: "ls x",
        input: text(["ls: cannot access 'x': No such file or directory"]),
        expected: text(["ls: cannot access 'x': No such file or directory"])
      }
    ]
  },
  {
    id: "find",
    label: "find, fd, git ls-files",
    description: "Paths; long lists are shortened in the middle.",
    category: "files",
    priority: 60,
    match: {
      commands: ["^(?:find|fd|fdfind|locate|git ls-files|rg --files)\\b"]
    },
    rules: {
      dropPatterns: ["/node_modules/.+/", "/\\.git/(?:objects|logs|refs)/", "/__pycache__/"],
      headLines: 100,
      tailLines: 20
    },
    tests: [
      {
        name: "drops what packages contain",
        command: "find . -name '*.json'",
        input: text([
          "./package.json",
          "./node_modules/a/package.json",
          "./node_modules/a/lib/b/c.json",
          "./.git/objects/00/ab12",
          "./src/a.json"
        ]),
        expected: text(["./package.json", "./src/a.json"])
      },
      {
        name: "keeps what is refused",
        command: "find / -name x",
        input: text(["find: '/srv/private': Permission denied", "/srv/u/x"]),
        expected: text(["find: '/srv/private': Permission denied", "/srv/u/x"])
      }
    ]
  },
  {
    id: "tree",
    label: "tree",
    description: "The tree; long ones are shortened in the middle.",
    category: "files",
    priority: 60,
    match: {
      commands: ["^(?:tree|lsd --tree|eza --tree|exa --tree)\\b"],
      patterns: ["^[│ ]*[├└]── "]
    },
    rules: {
      headLines: 110,
      tailLines: 10
    },
    preserve: {
      summaryPatterns: ["^\\d+ director(?:y|ies)"]
    },
    tests: [
      {
        name: "keeps the sums",
        command: "tree",
        input: text([".", "├── a.ts", "├── src", "│   └── b.ts", "└── c.ts", "", "2 directories, 3 files"]),
        expected: text([".", "├── a.ts", "├── src", "│   └── b.ts", "└── c.ts", "", "2 directories, 3 files"])
      },
      {
        name: "keeps errors",
        command: "tree x",
        input: text(["x  [error opening dir]", "", "0 directories, 0 files"]),
        expected: text(["x  [error opening dir]", "", "0 directories, 0 files"])
      }
    ]
  },
  {
    id: "cat",
    label: "cat, head, tail, sed -n, less, bat",
    description: "Contents of files stay as they are; only very long ones are shortened, with the whole text kept.",
    category: "files",
    priority: 50,
    match: {
      commands: [
        "^(?:cat|head|tail|sed|awk|less|more|bat|nl|strings|xxd|od|hexdump|cut|tr|sort|uniq|tac|column|paste)\\b"
      ]
    },
    rules: {
      stripAnsi: false,
      deduplicate: false,
      headLines: 600,
      tailLines: 200,
      maxLines: 1200,
      maxChars: 80000
    },
    tests: [
      {
        name: "changes nothing in code",
        command: "cat a.py",
        input: text(["def f(x):", "    return x   ", "", "", "", "# a", "# a", "# a", "# a"]),
        expected: text(["def f(x):", "    return x   ", "", "", "", "# a", "# a", "# a", "# a"])
      },
      {
        name: "leaves control characters in what was read",
        command: "tail -n 2 a.log",
        input: text(["\u001b[31mred\u001b[0m", "a\rb"]),
        expected: text(["\u001b[31mred\u001b[0m", "a\rb"])
      }
    ]
  },
  {
    id: "grep",
    label: "grep, rg, ag, git grep",
    description: "Matches with file and line; those in generated files are dropped.",
    category: "files",
    priority: 60,
    match: {
      commands: ["^(?:grep|egrep|fgrep|zgrep|rg|ag|ack|ugrep|git grep)\\b"]
    },
    rules: {
      dropPatterns: [
        "^Binary file .* matches$",
        "^(?:\\./)?(?:\\S*/)?(?:node_modules|\\.git|dist|__pycache__)/.*\\.min\\.(?:js|css):"
      ],
      truncateLineAt: 300,
      headLines: 100,
      tailLines: 20
    },
    tests: [
      {
        name: "keeps file, line and text",
        command: "grep -rn foo src",
        input: text(["src/a.ts:3:const foo = 1", "src/b.ts:9:  foo()", "Binary file src/c.bin matches"]),
        expected: text(["src/a.ts:3:const foo = 1", "src/b.ts:9:  foo()"])
      },
      {
        name: "shortens lines of generated files",
        command: "rg foo",
        input: text([
          "dist/a.js:1:xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxfoo"
        ]),
        expected: text([
          "dist/a.js:1:xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxfoo"
        ])
      }
    ]
  },
  {
    id: "wc-diff",
    label: "wc, stat, file, md5sum, tar, zip",
    description: "Lists of files.",
    category: "files",
    priority: 50,
    match: {
      commands: ["^(?:wc|stat|file|md5sum|sha\\d+sum|tar|zip|unzip|gzip|7z|rsync|scp|sftp)\\b"]
    },
    rules: {
      collapsePatterns: ["^(?: +)?(?:inflating|extracting|creating|adding): ", "^[ax] \\S+$"],
      dropPatterns: ["^sending incremental file list$", "^\\s+[\\d,]+ +\\d+% +"],
      headLines: 80,
      tailLines: 40
    },
    preserve: {
      summaryPatterns: [" total$", "^(?:sent|total size) "]
    },
    tests: [
      {
        name: "shortens what was unpacked",
        command: "unzip a.zip",
        input: text([
          "Archive:  a.zip",
          "  inflating: a.txt",
          "  inflating: b.txt",
          "  inflating: c.txt",
          "  inflating: d.txt"
        ]),
        expected: text(["Archive:  a.zip", "  inflating: a.txt", "… 2 lines like these", "  inflating: d.txt"])
      },
      {
        name: "keeps totals",
        command: "wc -l a b",
        input: text(["  10 a", "  20 b", "  30 total"]),
        expected: text(["  10 a", "  20 b", "  30 total"])
      }
    ]
  }
]
