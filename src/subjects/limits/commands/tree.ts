/** The commands about budgets and token limits of API keys. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { list, remove } from "../../../cli/tree/verbs.ts"

const tokens = group(
  "tokens",
  "How many tokens API keys may use.",
  [
    command(
      "list",
      "List the token limits and what is used of them.",
      () => import("./tokens.ts"),
      (m) => m.tokensList,
      { ...list, examples: ["budget tokens list"] }
    ),
    command(
      "set",
      "Set a token limit of a key: in all, of a provider or of a model.",
      () => import("./tokens.ts"),
      (m) => m.tokensSet,
      {
        aliases: ["add"],
        examples: [
          "budget tokens set laptop 1000000",
          "budget tokens set laptop 50000 --of openai/gpt-4o --every daily"
        ]
      }
    ),
    command(
      "remove",
      "Remove a token limit.",
      () => import("./tokens.ts"),
      (m) => m.tokensRemove,
      { ...remove, examples: ["budget tokens remove 0199 --yes"] }
    )
  ],
  { examples: ["budget tokens list"] }
)

const budget = group(
  "budget",
  "What API keys may spend, what they have spent, and the ledger.",
  [
    command(
      "list",
      "List the budgets and what is spent of them.",
      () => import("./budgets.ts"),
      (m) => m.budgetList,
      { ...list, examples: ["budget list", "budget list --json"] }
    ),
    command(
      "show",
      "Show what a key may spend and has spent.",
      () => import("./budgets.ts"),
      (m) => m.budgetShow,
      { aliases: ["get"], examples: ["budget show laptop"] }
    ),
    command(
      "set",
      "Set the budget of a key, in USD per day, week and month.",
      () => import("./budgets.ts"),
      (m) => m.budgetSet,
      {
        examples: [
          "budget set laptop --daily 5 --monthly 80",
          "budget set ops --daily 5 --reset-time 06:00 --tz Europe/Zurich"
        ]
      }
    ),
    command(
      "remove",
      "Remove the budget of a key.",
      () => import("./budgets.ts"),
      (m) => m.budgetRemove,
      { ...remove, examples: ["budget remove laptop --yes"] }
    ),
    tokens,
    command(
      "ledger",
      "Show what was reserved and booked, call by call.",
      () => import("./ledger.ts"),
      (m) => m.budgetLedger,
      { examples: ["budget ledger --key laptop", "budget ledger --request 0199aa…"] }
    )
  ],
  {
    section: "Watch",
    skill: "cli-cost-usage",
    aliases: ["budgets"],
    examples: ["budget set laptop --daily 5", "budget list"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [budget]
