/** Filters of outputs: infrastructure and hosting. */
import type { Filter } from "../Filter.ts"
import { text } from "./text.ts"

export const infrastructure: ReadonlyArray<Filter> = [
  {
    id: "terraform",
    label: "terraform, tofu",
    description: "What changes and the sums, without refreshing.",
    category: "infrastructure",
    priority: 50,
    match: {
      commands: ["^(?:terraform|tofu|terragrunt|pulumi|cdk)\\b"]
    },
    rules: {
      dropPatterns: [
        ": Refreshing state\\.\\.\\.",
        ": Reading\\.\\.\\.$",
        ": Read complete after",
        ": Still (?:creating|destroying|modifying|reading)\\.\\.\\.",
        "^Terraform used the selected providers",
        "^- (?:Finding|Installing|Using previously-installed|Reusing) ",
        "^(?:Note: You didn't use|guarantee to take exactly)",
        "^─+$"
      ],
      maxLines: 300
    },
    preserve: {
      errorPatterns: ["^[│╷╵]", "Error:"],
      summaryPatterns: ["^Plan: ", "^Apply complete", "^No changes", "^ *# ", "^ *(?:[+~-]|-/\\+) "]
    },
    tests: [
      {
        name: "keeps changes and the plan",
        command: "terraform plan",
        input: text([
          "aws_s3_bucket.a: Refreshing state... [id=a]",
          "data.aws_region.r: Reading...",
          "data.aws_region.r: Read complete after 0s [id=eu-central-1]",
          "Terraform used the selected providers to generate the following execution plan.",
          "  # aws_s3_bucket.b will be created",
          '  + resource "aws_s3_bucket" "b" {',
          '      + bucket = "b"',
          "    }",
          "",
          "Plan: 1 to add, 0 to change, 0 to destroy.",
          "─────────────────"
        ]),
        expected: text([
          "  # aws_s3_bucket.b will be created",
          '  + resource "aws_s3_bucket" "b" {',
          '      + bucket = "b"',
          "    }",
          "",
          "Plan: 1 to add, 0 to change, 0 to destroy."
        ])
      },
      {
        name: "keeps errors",
        command: "terraform apply",
        input: text([
          "aws_s3_bucket.a: Still creating... [10s elapsed]",
          "╷",
          "│ Error: creating S3 Bucket (b): BucketAlreadyExists",
          '│   on main.tf line 1, in resource "aws_s3_bucket" "b":',
          "╵"
        ]),
        expected: text([
          "╷",
          "│ Error: creating S3 Bucket (b): BucketAlreadyExists",
          '│   on main.tf line 1, in resource "aws_s3_bucket" "b":',
          "╵"
        ])
      }
    ]
  },
  {
    id: "aws",
    label: "aws, gcloud, az",
    description: "Tables and texts; JSON is left to the engine for it.",
    category: "infrastructure",
    priority: 50,
    match: {
      commands: ["^(?:aws|gcloud|az|doctl|flyctl|fly|heroku|vercel|wrangler)\\b"]
    },
    rules: {
      dropPatterns: ["^Completed [\\d.]+ \\S+/[\\d.]+ \\S+ \\(", "^-{10,}$", "^[+|]-+[+|]$"],
      collapsePatterns: ["^(?:upload|download|copy|delete|move): "],
      truncateLineAt: 500
    },
    tests: [
      {
        name: "shortens lists of files",
        command: "aws s3 sync . s3://b",
        input: text([
          "Completed 1.0 KiB/4.0 KiB (10 KiB/s) with 3 file(s) remaining",
          "upload: ./a to s3://b/a",
          "upload: ./b to s3://b/b",
          "upload: ./c to s3://b/c",
          "upload: ./d to s3://b/d"
        ]),
        expected: text(["upload: ./a to s3://b/a", "… 2 lines like these", "upload: ./d to s3://b/d"])
      },
      {
        name: "keeps errors",
        command: "aws s3 ls",
        input: text(["An error occurred (AccessDenied) when calling the ListBuckets operation: Access Denied"]),
        expected: text(["An error occurred (AccessDenied) when calling the ListBuckets operation: Access Denied"])
      }
    ]
  },
  {
    id: "gh",
    label: "gh, glab",
    description: "Lists, checks and logs of jobs.",
    category: "infrastructure",
    priority: 50,
    match: {
      commands: ["^(?:gh|glab|hub)\\b"]
    },
    rules: {
      replace: [
        {
          pattern: "^(\\S+)\\t(\\S[^\\t]*)\\t\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d+Z ",
          replacement: "$1 $2 "
        },
        {
          pattern: "(\\S) {4,}",
          replacement: "$1   "
        }
      ],
      dropPatterns: ["##\\[(?:group|endgroup|debug)\\]", "^Showing \\d+ of \\d+"],
      truncateLineAt: 500
    },
    preserve: {
      errorPatterns: ["##\\[error\\]", "^X "]
    },
    tests: [
      {
        name: "drops times in logs of jobs, but not of failures",
        command: "gh run view 1 --log",
        input: text([
          "build\tRun npm ci\t2026-11-23T10:00:00.1234567Z ##[group]Run npm ci",
          "build\tRun npm ci\t2026-11-23T10:00:02.1234567Z added 12 packages in 2s",
          "build\tRun npm test\t2026-11-23T10:00:03.1234567Z ##[error]Process completed with exit code 1."
        ]),
        expected: text([
          "build Run npm ci added 12 packages in 2s",
          "build\tRun npm test\t2026-11-23T10:00:03.1234567Z ##[error]Process completed with exit code 1."
        ])
      },
      {
        name: "keeps checks",
        command: "gh pr checks",
        input: text([
          "build\tfail\t1m2s\thttps://github.com/o/r/actions/runs/1",
          "lint\tpass\t20s\thttps://github.com/o/r/actions/runs/2"
        ]),
        expected: text([
          "build\tfail\t1m2s\thttps://github.com/o/r/actions/runs/1",
          "lint\tpass\t20s\thttps://github.com/o/r/actions/runs/2"
        ])
      }
    ]
  },
  {
    id: "ansible",
    label: "ansible, ansible-playbook",
    description: "Tasks that changed or failed, and the recap.",
    category: "infrastructure",
    priority: 50,
    match: {
      commands: ["^ansible\\S*\\b"]
    },
    rules: {
      dropPatterns: ["^(?:ok|skipping): \\[", "^included: "],
      replace: [
        {
          pattern: "^((?:TASK|PLAY|PLAY RECAP|RUNNING HANDLER)[^*]*)\\*+$",
          replacement: "$1"
        }
      ],
      collapsePatterns: ["^TASK \\["]
    },
    preserve: {
      errorPatterns: ["^(?:fatal|failed|unreachable):"],
      summaryPatterns: ["ok=\\d+", "^changed: "]
    },
    tests: [
      {
        name: "keeps changes and the recap",
        command: "ansible-playbook a.yml",
        input: text([
          "PLAY [all] *********************************************************************",
          "TASK [Gathering Facts] *********************************************************",
          "ok: [a]",
          "ok: [b]",
          "TASK [install] *****************************************************************",
          "changed: [a]",
          'fatal: [b]: FAILED! => {"msg": "No package x"}',
          "PLAY RECAP *********************************************************************",
          "a : ok=2    changed=1    unreachable=0    failed=0"
        ]),
        expected: text([
          "PLAY [all]",
          "TASK [Gathering Facts]",
          "TASK [install]",
          "changed: [a]",
          'fatal: [b]: FAILED! => {"msg": "No package x"}',
          "PLAY RECAP",
          "a : ok=2    changed=1    unreachable=0    failed=0"
        ])
      },
      {
        name: "drops hosts without a change",
        command: "ansible all -m ping",
        input: text(["ok: [a]", "ok: [b]", "changed: [c]"]),
        expected: text(["changed: [c]"])
      }
    ]
  }
]
