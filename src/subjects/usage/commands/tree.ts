/** The commands about usage over time and about the running gateway. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { remove } from "../../../cli/tree/verbs.ts"

const usage = group(
  "usage",
  "What was used, by provider, model, connection, key or day.",
  [
    command(
      "show",
      "Show what was used over a range of time.",
      () => import("./usage.ts"),
      (m) => m.usageShow,
      { aliases: ["list"], examples: ["usage show --by model --range 30d", "usage show --by key --json"] }
    ),
    command(
      "purge",
      "Delete the log of single requests; sums stay.",
      () => import("./purge.ts"),
      (m) => m.usagePurge,
      { ...remove, examples: ["usage purge --before 2035-01-01"] }
    )
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
    command(
      "show",
      "Show what requests cost, by model and day by day.",
      () => import("./cost/show.ts"),
      (m) => m.costShow,
      { aliases: ["list"], examples: ["cost show --range 7d --json"] }
    ),
    command(
      "reconcile",
      "Compare a provider's bill with the ledger, by day and model.",
      () => import("./cost/reconcile.ts"),
      (m) => m.costReconcile,
      {
        aliases: ["check"],
        examples: ["cost reconcile costs.json", "cost reconcile claude_api_cost_2035_01.csv --json"]
      }
    )
  ],
  {
    section: "Watch",
    skill: "cli-cost-usage",
    aliases: ["costs"],
    otherwise: { name: "show", takesWords: false },
    examples: ["cost", "cost --range 7d", "cost reconcile costs.json"]
  }
)

const sessions = command(
  "sessions",
  "List who has used the gateway in the last minutes.",
  () => import("./live.ts"),
  (m) => m.sessionsCommand,
  // The help of the program fits one screen without it.
  { section: "Watch", skill: "cli-cost-usage", hidden: true, aliases: ["session"], examples: ["sessions"] }
)

const telemetry = command(
  "telemetry",
  "Show how long requests take, by provider and phase.",
  () => import("./live.ts"),
  (m) => m.telemetryCommand,
  { section: "Watch", skill: "cli-health", hidden: true, aliases: ["latency"], examples: ["telemetry --minutes 15"] }
)

const cache = group(
  "cache",
  "What is kept to answer again.",
  [
    command(
      "show",
      "Show what the caches hold.",
      () => import("./live.ts"),
      (m) => m.cacheShow,
      { aliases: ["stats", "list"], examples: ["cache show --json"] }
    ),
    command(
      "clear",
      "Remove everything from the caches.",
      () => import("./live.ts"),
      (m) => m.cacheClear,
      { ...remove, examples: ["cache clear"] }
    ),
    command(
      "measure",
      "Measure how well a model judges the semantic cache.",
      () => import("./cacheMeasure.ts"),
      (m) => m.cacheMeasure,
      { examples: ["cache measure -m openai/text-embedding-3-small"] }
    )
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
