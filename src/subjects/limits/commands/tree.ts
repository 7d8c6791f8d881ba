/** The commands about budgets and token limits of API keys. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { list, remove } from "../../../cli/tree/verbs.ts"

const fromTokens = from(() => import("./tokens.ts"))
const fromBudgets = from(() => import("./budgets.ts"))
const fromMe = from(() => import("./me.ts"))
const fromLedger = from(() => import("./ledger.ts"))

const tokens = group(
  "tokens",
  "How many tokens API keys may use.",
  [
    fromTokens("list", "tokensList", "List the token limits and what is used of them.", {
      ...list,
      examples: ["budget tokens list"]
    }),
    fromTokens("set", "tokensSet", "Set a token limit of a key: in all, of a provider or of a model.", {
      aliases: ["add"],
      examples: ["budget tokens set laptop 1000000", "budget tokens set laptop 50000 --of openai/gpt-4o --every daily"]
    }),
    fromTokens("remove", "tokensRemove", "Remove a token limit.", {
      ...remove,
      examples: ["budget tokens remove 0199 --yes"]
    })
  ],
  { examples: ["budget tokens list"] }
)

const budget = group(
  "budget",
  "What API keys may spend, what they have spent, and the ledger.",
  [
    fromBudgets("list", "budgetList", "List the budgets and what is spent of them.", {
      ...list,
      examples: ["budget list", "budget list --json"]
    }),
    fromBudgets("show", "budgetShow", "Show what a key may spend and has spent.", {
      aliases: ["get"],
      examples: ["budget show laptop"]
    }),
    fromBudgets("set", "budgetSet", "Set the budget of a key, in USD per day, week and month.", {
      examples: [
        "budget set laptop --daily 5 --monthly 80",
        "budget set ops --daily 5 --reset-time 06:00 --tz Europe/Zurich"
      ]
    }),
    fromBudgets("remove", "budgetRemove", "Remove the budget of a key.", {
      ...remove,
      examples: ["budget remove laptop --yes"]
    }),
    tokens,
    fromLedger("ledger", "budgetLedger", "Show what was reserved and booked, call by call.", {
      examples: ["budget ledger --key laptop", "budget ledger --request 0199aa…"]
    })
  ],
  {
    section: "Watch",
    skill: "cli-cost-usage",
    aliases: ["budgets"],
    examples: ["budget set laptop --daily 5", "budget list"]
  }
)

const me = fromMe("me", "meCommand", "Show what your key, or you, may spend and have used.", {
  section: "Start",
  skill: "cli-cost-usage",
  // The help of the program fits one screen without it; 'login' names it.
  besides: true,
  examples: ["me", "me --json"]
})

export const commands: ReadonlyArray<TreeNode> = [budget, me]
