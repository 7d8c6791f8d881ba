/** Filters of outputs: git. */
import type { Filter } from "../Filter.ts"
import { text } from "./text.ts"

export const git: ReadonlyArray<Filter> = [
  {
    id: "git-status",
    label: "git status",
    description: "Without the hints on how to stage and restore.",
    category: "git",
    priority: 50,
    match: {
      commands: ["^git (?:-C \\S+ )?status\\b"],
      patterns: ["^On branch \\S", "^HEAD detached at "]
    },
    rules: {
      dropPatterns: ['^ {2}\\(use "git ', '^\\(use "git ', "^no changes added to commit"]
    },
    preserve: {
      summaryPatterns: ["^Your branch", "^(?:both|deleted by|added by) "]
    },
    tests: [
      {
        name: "keeps files and what is to be done with them",
        command: "git status",
        input: text([
          "On branch main",
          "Your branch is ahead of 'origin/main' by 2 commits.",
          '  (use "git push" to publish your local commits)',
          "",
          "Changes not staged for commit:",
          '  (use "git add <file>..." to update what will be committed)',
          '  (use "git restore <file>..." to discard changes in working directory)',
          "\tmodified:   src/app.ts",
          "",
          "Untracked files:",
          '  (use "git add <file>..." to include in what will be committed)',
          "\tnotes.md",
          "",
          'no changes added to commit (use "git add" and/or "git commit -a")'
        ]),
        expected: text([
          "On branch main",
          "Your branch is ahead of 'origin/main' by 2 commits.",
          "",
          "Changes not staged for commit:",
          "\tmodified:   src/app.ts",
          "",
          "Untracked files:",
          "\tnotes.md"
        ])
      },
      {
        name: "keeps conflicts",
        command: "git -C /repo status",
        input: text([
          "On branch main",
          "You have unmerged paths.",
          '  (fix conflicts and run "git commit")',
          "",
          "Unmerged paths:",
          '  (use "git add <file>..." to mark resolution)',
          "\tboth modified:   src/a.ts"
        ]),
        expected: text([
          "On branch main",
          "You have unmerged paths.",
          '  (fix conflicts and run "git commit")',
          "",
          "Unmerged paths:",
          "\tboth modified:   src/a.ts"
        ])
      }
    ]
  },
  {
    id: "git-diff",
    label: "git diff, git show",
    description: "Without the lines of object ids; changed lines and their context stay as they are.",
    category: "git",
    priority: 50,
    match: {
      commands: ["^git (?:-C \\S+ )?(?:diff|show|stash show -p)\\b", "^diff "],
      patterns: ["^diff --git a/"],
      outputTypes: ["diff"]
    },
    rules: {
      deduplicate: false,
      dropPatterns: [
        "^index [0-9a-f]{7,40}\\.\\.[0-9a-f]{7,40}(?: \\d+)?$",
        "^(?:old|new) mode \\d+$",
        "^similarity index \\d+%$"
      ],
      maxLines: 600,
      maxChars: 48000
    },
    tests: [
      {
        name: "keeps every changed line",
        command: "git diff HEAD~1",
        input: text([
          "diff --git a/src/a.ts b/src/a.ts",
          "index 83db48f..bf269f4 100644",
          "--- a/src/a.ts",
          "+++ b/src/a.ts",
          "@@ -1,4 +1,4 @@",
          " const a = 1",
          "-const b = 2",
          "+const b = 3   ",
          " ",
          " ",
          " ",
          " export { a, b }"
        ]),
        expected: text([
          "diff --git a/src/a.ts b/src/a.ts",
          "--- a/src/a.ts",
          "+++ b/src/a.ts",
          "@@ -1,4 +1,4 @@",
          " const a = 1",
          "-const b = 2",
          "+const b = 3   ",
          " ",
          " ",
          " ",
          " export { a, b }"
        ])
      },
      {
        name: "keeps the commit of a show",
        command: "git show --stat HEAD",
        input: text([
          "commit 2e2761e3c0f3a7e3a2b6bb1a4a0e2a37a7b5cf5d",
          "Author: A <a@example.com>",
          "Date:   Mon Nov 23 13:33:34 2026 +0000",
          "",
          "    Fix the parser",
          "",
          " src/a.ts | 4 ++--",
          " 1 file changed, 2 insertions(+), 2 deletions(-)"
        ]),
        expected: text([
          "commit 2e2761e3c0f3a7e3a2b6bb1a4a0e2a37a7b5cf5d",
          "Author: A <a@example.com>",
          "Date:   Mon Nov 23 13:33:34 2026 +0000",
          "",
          "    Fix the parser",
          "",
          " src/a.ts | 4 ++--",
          " 1 file changed, 2 insertions(+), 2 deletions(-)"
        ])
      }
    ]
  },
  {
    id: "git-log",
    label: "git log",
    description: "Commits with subject, author and date; long histories are shortened in the middle.",
    category: "git",
    priority: 50,
    match: {
      commands: ["^git (?:-C \\S+ )?(?:log|reflog|shortlog)\\b"],
      patterns: ["^commit [0-9a-f]{40}"]
    },
    rules: {
      dropPatterns: ["^Merge: [0-9a-f ]+$"],
      replace: [
        {
          pattern: "^Author: +(.+)$",
          replacement: "Author: $1"
        }
      ],
      headLines: 80,
      tailLines: 20,
      truncateLineAt: 400
    },
    tests: [
      {
        name: "keeps object ids, and drops the lines of merges",
        command: "git log -2",
        input: text([
          "commit 2e2761e3c0f3a7e3a2b6bb1a4a0e2a37a7b5cf5d",
          "Merge: 48266e5 35d541c",
          "Author: A <a@example.com>",
          "Date:   Mon Nov 23 13:33:34 2026 +0000",
          "",
          "    Fix the parser",
          "",
          "commit 48266e5fd0f3a7e3a2b6bb1a4a0e2a37a7b5cf5d",
          "Author: B <b@example.com>",
          "Date:   Mon Nov 23 12:33:34 2026 +0000",
          "",
          "    Do not retry when the status is 404"
        ]),
        expected: text([
          "commit 2e2761e3c0f3a7e3a2b6bb1a4a0e2a37a7b5cf5d",
          "Author: A <a@example.com>",
          "Date:   Mon Nov 23 13:33:34 2026 +0000",
          "",
          "    Fix the parser",
          "",
          "commit 48266e5fd0f3a7e3a2b6bb1a4a0e2a37a7b5cf5d",
          "Author: B <b@example.com>",
          "Date:   Mon Nov 23 12:33:34 2026 +0000",
          "",
          "    Do not retry when the status is 404"
        ])
      },
      {
        name: "leaves one line for each commit as it is",
        command: "git log --oneline -3",
        input: text(["2e2761e Keep copies", "48266e5 Guard answers", "35d541c Replace data"]),
        expected: text(["2e2761e Keep copies", "48266e5 Guard answers", "35d541c Replace data"])
      }
    ]
  },
  {
    id: "git-add",
    label: "git add, git rm, git mv",
    description: "Nothing to say when it worked.",
    category: "git",
    priority: 50,
    match: {
      commands: ["^git (?:-C \\S+ )?(?:add|rm|mv|restore|reset|clean)\\b"]
    },
    rules: {
      dropPatterns: ["^hint: ", "^warning: in the working copy of .*, LF will be replaced"],
      collapsePatterns: ["^rm '", "^add '", "^Removing ", "^M\\t"],
      onEmpty: "ok"
    },
    tests: [
      {
        name: "shortens lists of removed files",
        command: "git rm -r old",
        input: text(["rm 'old/a.txt'", "rm 'old/b.txt'", "rm 'old/c.txt'", "rm 'old/d.txt'"]),
        expected: text(["rm 'old/a.txt'", "… 2 lines like these", "rm 'old/d.txt'"])
      },
      {
        name: "keeps what went wrong",
        command: "git add x",
        input: text(["fatal: pathspec 'x' did not match any files"]),
        expected: text(["fatal: pathspec 'x' did not match any files"])
      }
    ]
  },
  {
    id: "git-commit",
    label: "git commit, git merge, git rebase, git cherry-pick",
    description: "The commit and its sums, without a line for each new file.",
    category: "git",
    priority: 50,
    match: {
      commands: ["^git (?:-C \\S+ )?(?:commit|merge|rebase|cherry-pick|revert|am|apply)\\b"],
      patterns: ["^\\[\\S+ (?:\\(root-commit\\) )?[0-9a-f]{7,}\\] "]
    },
    rules: {
      dropPatterns: ["^hint: "],
      collapsePatterns: [
        "^ (?:create|delete) mode \\d+ ",
        "^ rename ",
        "^Rebasing \\(\\d+/\\d+\\)",
        "^ \\S.* \\| +(?:\\d+|Bin)"
      ]
    },
    tests: [
      {
        name: "keeps commit and sums",
        command: "git commit -m x",
        input: text([
          "[main 2e2761e] Keep copies",
          " 5 files changed, 120 insertions(+), 4 deletions(-)",
          " create mode 100644 a.ts",
          " create mode 100644 b.ts",
          " create mode 100644 c.ts",
          " create mode 100644 d.ts",
          " create mode 100644 e.ts"
        ]),
        expected: text([
          "[main 2e2761e] Keep copies",
          " 5 files changed, 120 insertions(+), 4 deletions(-)",
          " create mode 100644 a.ts",
          "… 3 lines like these",
          " create mode 100644 e.ts"
        ])
      },
      {
        name: "keeps conflicts",
        command: "git merge topic",
        input: text([
          "Auto-merging src/a.ts",
          "CONFLICT (content): Merge conflict in src/a.ts",
          "Automatic merge failed; fix conflicts and then commit the result."
        ]),
        expected: text([
          "Auto-merging src/a.ts",
          "CONFLICT (content): Merge conflict in src/a.ts",
          "Automatic merge failed; fix conflicts and then commit the result."
        ])
      }
    ]
  },
  {
    id: "git-push",
    label: "git push",
    description: "What was pushed and what was refused, without the progress.",
    category: "git",
    priority: 50,
    match: {
      commands: ["^git (?:-C \\S+ )?push\\b"]
    },
    rules: {
      dropPatterns: [
        "^(?:remote: )?(?:Enumerating|Counting|Compressing|Writing|Resolving|Unpacking) (?:objects|deltas)",
        "^Delta compression using",
        "^Total \\d+ \\(delta",
        "^remote: *$",
        "^hint: "
      ],
      onEmpty: "ok"
    },
    preserve: {
      summaryPatterns: ["^To \\S", "^ (?:[*+!-]| ) ", "https?://", "->"]
    },
    tests: [
      {
        name: "keeps refs and addresses",
        command: "git push",
        input: text([
          "Enumerating objects: 5, done.",
          "Counting objects: 100% (5/5), done.",
          "Delta compression using up to 2 threads",
          "Compressing objects: 100% (3/3), done.",
          "Writing objects: 100% (3/3), 320 bytes | 320.00 KiB/s, done.",
          "Total 3 (delta 2), reused 0 (delta 0), pack-reused 0",
          "remote: ",
          "remote: Create a pull request for 'x' on GitHub by visiting:",
          "remote:      https://github.com/o/r/pull/new/x",
          "To github.com:o/r.git",
          " * [new branch]      x -> x"
        ]),
        expected: text([
          "remote: Create a pull request for 'x' on GitHub by visiting:",
          "remote:      https://github.com/o/r/pull/new/x",
          "To github.com:o/r.git",
          " * [new branch]      x -> x"
        ])
      },
      {
        name: "keeps what was refused",
        command: "git push origin main",
        input: text([
          "To github.com:o/r.git",
          " ! [rejected]        main -> main (fetch first)",
          "error: failed to push some refs to 'github.com:o/r.git'",
          "hint: Updates were rejected because the remote contains work that you do not",
          "hint: have locally."
        ]),
        expected: text([
          "To github.com:o/r.git",
          " ! [rejected]        main -> main (fetch first)",
          "error: failed to push some refs to 'github.com:o/r.git'",
          "hint: Updates were rejected because the remote contains work that you do not"
        ])
      }
    ]
  },
  {
    id: "git-pull",
    label: "git pull, git fetch, git clone",
    description: "What came, without the progress.",
    category: "git",
    priority: 50,
    match: {
      commands: ["^git (?:-C \\S+ )?(?:pull|fetch|clone|submodule|remote update)\\b"]
    },
    rules: {
      dropPatterns: [
        "^(?:remote: )?(?:Enumerating|Counting|Compressing|Receiving|Resolving|Unpacking|Updating) (?:objects|deltas|files)",
        "^remote: Total \\d+"
      ],
      collapsePatterns: [
        "^ \\S.* \\| +(?:\\d+|Bin)",
        "^ \\* \\[new (?:branch|tag)\\]",
        "^ (?:create|delete) mode \\d+ "
      ],
      onEmpty: "ok"
    },
    tests: [
      {
        name: "keeps sums and shortens the list of files",
        command: "git pull",
        input: text([
          "remote: Enumerating objects: 50, done.",
          "remote: Counting objects: 100% (50/50), done.",
          "Receiving objects:  40% (20/50)\rReceiving objects: 100% (50/50), 12.00 KiB, done.",
          "From github.com:o/r",
          "   2e2761e..48266e5  main       -> origin/main",
          "Updating 2e2761e..48266e5",
          "Fast-forward",
          " a.ts | 2 +-",
          " b.ts | 4 ++--",
          " c.ts | 6 +++---",
          " d.ts | 2 +-",
          " 4 files changed, 7 insertions(+), 7 deletions(-)"
        ]),
        expected: text([
          "From github.com:o/r",
          "   2e2761e..48266e5  main       -> origin/main",
          "Updating 2e2761e..48266e5",
          "Fast-forward",
          " a.ts | 2 +-",
          "… 2 lines like these",
          " d.ts | 2 +-",
          " 4 files changed, 7 insertions(+), 7 deletions(-)"
        ])
      },
      {
        name: "keeps a failure",
        command: "git fetch",
        input: text(["fatal: unable to access 'https://github.com/o/r/': Could not resolve host: github.com"]),
        expected: text(["fatal: unable to access 'https://github.com/o/r/': Could not resolve host: github.com"])
      }
    ]
  },
  {
    id: "git-branch",
    label: "git branch, git tag, git remote, git stash",
    description: "Lists of refs.",
    category: "git",
    priority: 50,
    match: {
      commands: [
        "^git (?:-C \\S+ )?(?:branch|tag|remote|stash|worktree|checkout|switch|ls-files|blame|config|rev-parse)\\b"
      ]
    },
    rules: {
      collapsePatterns: ["^ {2}remotes/"],
      dropPatterns: ["^hint: "]
    },
    preserve: {
      summaryPatterns: ["^\\* "]
    },
    tests: [
      {
        name: "keeps the current branch and shortens remote ones",
        command: "git branch -a",
        input: text([
          "  fix-1",
          "* main",
          "  remotes/origin/HEAD -> origin/main",
          "  remotes/origin/a",
          "  remotes/origin/b",
          "  remotes/origin/c",
          "  remotes/origin/main"
        ]),
        expected: text([
          "  fix-1",
          "* main",
          "  remotes/origin/HEAD -> origin/main",
          "… 3 lines like these",
          "  remotes/origin/main"
        ])
      },
      {
        name: "leaves few tags as they are",
        command: "git tag",
        input: text(["v1.0.0", "v1.1.0", "v2.0.0"]),
        expected: text(["v1.0.0", "v1.1.0", "v2.0.0"])
      }
    ]
  }
]
