/** Filters of outputs: databases and queries. */
import type { Filter } from "../Filter.ts"
import { text } from "./text.ts"

export const data: ReadonlyArray<Filter> = [
  {
    id: "psql",
    label: "psql, mysql, sqlite3",
    description: "Rows and counts, with narrow columns.",
    category: "data",
    priority: 50,
    match: {
      commands: ["^(?:psql|mysql|mariadb|sqlite3|clickhouse-client|duckdb|pg_dump|mongosh|cqlsh)\\b"],
      patterns: ["^\\(\\d+ rows?\\)$"]
    },
    rules: {
      dropPatterns: ["^[+|-]{3,}$"],
      replace: [
        {
          pattern: "(\\S) {3,}",
          replacement: "$1  "
        }
      ],
      collapsePatterns: ["^(?:INSERT|UPDATE|DELETE|SET|CREATE|ALTER|COPY|GRANT)(?: .*)?$"],
      headLines: 90,
      tailLines: 30,
      truncateLineAt: 400
    },
    preserve: {
      errorPatterns: ["^(?:ERROR|FATAL|DETAIL|HINT|LINE \\d+):?"],
      summaryPatterns: ["^\\(\\d+ rows?\\)", "rows? in set", "^Query OK"]
    },
    tests: [
      {
        name: "keeps rows and their count",
        command: "psql -c 'select * from t'",
        input: text([
          " id |      name      ",
          "----+----------------",
          "  1 | a              ",
          "  2 | b              ",
          "(2 rows)"
        ]),
        expected: text([" id |  name", "  1 | a", "  2 | b", "(2 rows)"])
      },
      {
        name: "keeps errors",
        command: "psql",
        input: text(['ERROR:  relation "x" does not exist', "LINE 1: select * from x", "                      ^"]),
        expected: text(['ERROR:  relation "x" does not exist', "LINE 1: select * from x", "                      ^"])
      }
    ]
  },
  {
    id: "redis-cli",
    label: "redis-cli",
    description: "Values; long lists are shortened.",
    category: "data",
    priority: 50,
    match: {
      commands: ["^(?:redis-cli|valkey-cli|memcached-tool|etcdctl|consul|vault|kafka-\\S+|rabbitmqctl)\\b"],
      patterns: ["^redis_version:"]
    },
    rules: {
      dropPatterns: [
        "^# (?:Server|Clients|Memory|Persistence|Stats|Replication|CPU|Modules|Errorstats|Cluster|Keyspace)$",
        "^(?:redis_git_|redis_build_id|atomicvar_api|gcc_version|monotonic_clock|lru_clock|allocator_|rss_overhead|mem_fragmentation_bytes)"
      ],
      headLines: 90,
      tailLines: 30,
      truncateLineAt: 400
    },
    preserve: {
      errorPatterns: ["^\\(error\\)"]
    },
    tests: [
      {
        name: "drops what says nothing of the state",
        command: "redis-cli info",
        input: text([
          "# Server",
          "redis_version:8.0.0",
          "redis_git_sha1:00000000",
          "redis_build_id:abc",
          "uptime_in_seconds:120",
          "# Memory",
          "used_memory_human:1.20M",
          "allocator_active:1234"
        ]),
        expected: text(["redis_version:8.0.0", "uptime_in_seconds:120", "used_memory_human:1.20M"])
      },
      {
        name: "keeps errors",
        command: "redis-cli get x y",
        input: text(["(error) ERR wrong number of arguments for 'get' command"]),
        expected: text(["(error) ERR wrong number of arguments for 'get' command"])
      }
    ]
  },
  {
    id: "jq",
    label: "jq, yq, xmllint",
    description: "What was selected; long lists are shortened in the middle.",
    category: "data",
    priority: 50,
    match: {
      commands: ["^(?:jq|yq|xq|gojq|xmllint|dasel|mlr|csvkit|csvlook)\\b"]
    },
    rules: {
      deduplicate: false,
      headLines: 90,
      tailLines: 30,
      truncateLineAt: 1000,
      maxLines: 200
    },
    tests: [
      {
        name: "keeps values as they are",
        command: "jq -r '.[]' a.json",
        input: text(["a", "a", "a", "", "", "b"]),
        expected: text(["a", "a", "a", "", "", "b"])
      },
      {
        name: "keeps errors",
        command: "jq . a",
        input: text([
          'jq: error (at a:1): Cannot index number with "x"',
          "parse error: Invalid numeric literal at line 1, column 5"
        ]),
        expected: text([
          'jq: error (at a:1): Cannot index number with "x"',
          "parse error: Invalid numeric literal at line 1, column 5"
        ])
      }
    ]
  }
]
