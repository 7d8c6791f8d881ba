/** The commands about usage over time and about the running gateway. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { remove } from "../../../cli/tree/verbs.ts"

const fromUsage = from(() => import("./usage.ts"))
const fromSeries = from(() => import("./series.ts"))
const fromPurge = from(() => import("./purge.ts"))
const fromShow = from(() => import("./cost/show.ts"))
const fromBill = from(() => import("./cost/bill.ts"))
const fromReconcile = from(() => import("./cost/reconcile.ts"))
const fromLive = from(() => import("./live.ts"))
const fromCacheMeasure = from(() => import("./cacheMeasure.ts"))

const usage = group(
  "usage",
  "What was used, by provider, model, connection, key or day.",
  [
    fromUsage("show", "usageShow", "Show what was used over a range of time.", {
      aliases: ["list"],
      examples: ["usage show --by model --range 30d", "usage show --by key --json"]
    }),
    fromSeries("series", "usageSeries", "Show usage step by step, split and filtered, with a small chart.", {
      aliases: ["chart"],
      examples: [
        "usage series --by provider --from 7d",
        "usage series --by model --step day --timezone Europe/Zurich --from 30d --json"
      ]
    }),
    fromSeries("breakdown", "usageBreakdown", "Show what was used by two of model, key, provider, combo and others.", {
      aliases: ["by"],
      examples: ["usage breakdown --by model --and apiKey --from 30d", "usage breakdown --by combo --json"]
    }),
    fromSeries("facets", "usageFacets", "List values that requests can be filtered by, with how many have them.", {
      examples: ["usage facets --field model", "usage facets --status 5xx --json"]
    }),
    fromPurge("purge", "usagePurge", "Delete the log of single requests; sums stay.", {
      ...remove,
      examples: ["usage purge --before 2035-01-01"]
    })
  ],
  {
    section: "Watch",
    skill: "cli-cost-usage",
    otherwise: { name: "show", takesWords: false },
    examples: ["usage", "usage --by model --range 30d", "usage --by day --from 2035-01-01 --timezone Europe/Zurich"]
  }
)

const cost = group(
  "cost",
  "What requests cost, and whether the provider billed the same.",
  [
    fromShow("show", "costShow", "Show what requests cost, by model and day by day.", {
      aliases: ["list"],
      examples: ["cost show --range 7d --json", "cost show --by person,team --month 2035-01"]
    }),
    fromBill("close", "costClose", "Close a month: its bill stays as it is from then on.", {
      examples: ["cost close 2025-01 --yes", "cost close 2025-01 --timezone Europe/Zurich --yes"]
    }),
    fromBill("closed", "costClosed", "List the months that were closed, with their checksums.", {
      examples: ["cost closed", "cost closed --json"]
    }),
    fromReconcile("reconcile", "costReconcile", "Compare a provider's bill with the ledger, by day and model.", {
      aliases: ["check"],
      examples: ["cost reconcile costs.json", "cost reconcile claude_api_cost_2035_01.csv --json"]
    })
  ],
  {
    section: "Watch",
    skill: "cli-cost-usage",
    aliases: ["costs"],
    otherwise: { name: "show", takesWords: false },
    examples: ["cost", "cost --range 7d", "cost --by person,team --month 2035-01", "cost reconcile costs.json"]
  }
)

const sessions = fromLive(
  "sessions",
  "sessionsCommand",
  "List who has used the gateway in the last minutes.",
  // The help of the program fits one screen without it.
  { section: "Watch", skill: "cli-cost-usage", hidden: true, aliases: ["session"], examples: ["sessions"] }
)

const telemetry = fromLive("telemetry", "telemetryCommand", "Show how long requests take, by provider and phase.", {
  section: "Watch",
  skill: "cli-health",
  hidden: true,
  aliases: ["latency"],
  examples: ["telemetry --minutes 15"]
})

const cache = group(
  "cache",
  "What is kept to answer again.",
  [
    fromLive("show", "cacheShow", "Show what the caches hold.", {
      aliases: ["stats", "list"],
      examples: ["cache show --json"]
    }),
    fromLive("clear", "cacheClear", "Remove everything from the caches.", { ...remove, examples: ["cache clear"] }),
    fromCacheMeasure("measure", "cacheMeasure", "Measure how well a model judges the semantic cache.", {
      examples: ["cache measure -m openai/text-embedding-3-small"]
    })
  ],
  {
    section: "Watch",
    skill: "cli-compression",
    hidden: true,
    otherwise: { name: "show", takesWords: false },
    examples: ["cache show", "cache clear", "cache measure"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [usage, cost, sessions, telemetry, cache]
