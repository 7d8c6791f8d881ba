/** The commands about combos. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { list } from "../../../cli/tree/verbs.ts"

const fromList = from(() => import("./list.ts"))
const fromAuto = from(() => import("./auto.ts"))
const fromCreate = from(() => import("./create.ts"))
const fromEdit = from(() => import("./edit.ts"))
const fromSwitch = from(() => import("./switch.ts"))
const fromDelete = from(() => import("./delete.ts"))

const combo = group(
  "combo",
  "Combos: names that stand for several models, with a strategy.",
  [
    fromList("list", "comboList", "List the combos.", {
      ...list,
      examples: ["combo list", "combo list --json"]
    }),
    fromAuto("auto", "comboAuto", "List the automatic ids and what each would choose from.", {
      examples: ["combo auto --json"]
    }),
    fromCreate("create", "comboCreate", "Make a combo, a name under which several models answer.", {
      aliases: ["add", "new"],
      examples: ["combo create fast groq/llama-3.3-70b-versatile openai/gpt-4o-mini"]
    }),
    fromEdit("show", "comboShow", "Show a combo: its targets, its strategy and settings.", {
      aliases: ["get"],
      examples: ["combo show fast"]
    }),
    fromEdit("edit", "comboEdit", "Change a combo: name, strategy, targets, weights, settings.", {
      aliases: ["update", "set"],
      examples: ["combo edit fast --strategy round-robin --add openai/gpt-4o-mini", "combo edit fast --active no"]
    }),
    fromSwitch("switch", "comboSwitch", "Make another target the first of a combo; the others keep their order.", {
      examples: ["combo switch fast openai/gpt-4o-mini"]
    }),
    fromDelete("delete", "comboDelete", "Delete a combo that no other combo uses.", {
      aliases: ["remove", "rm"],
      examples: ["combo delete fast"]
    })
  ],
  {
    section: "Route",
    skill: "cli-routing",
    aliases: ["combos"],
    examples: ["combo create fast groq/llama-3.3-70b-versatile openai/gpt-4o-mini", "combo list"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [combo]
