/** The commands about combos. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { list } from "../../../cli/tree/verbs.ts"

const combo = group(
  "combo",
  "Combos: names that stand for several models, with a strategy.",
  [
    command(
      "list",
      "List the combos.",
      () => import("./list.ts"),
      (m) => m.comboList,
      {
        ...list,
        examples: ["combo list", "combo list --json"]
      }
    ),
    command(
      "auto",
      "List the automatic ids and what each would choose from.",
      () => import("./auto.ts"),
      (m) => m.comboAuto,
      {
        examples: ["combo auto --json"]
      }
    ),
    command(
      "create",
      "Make a combo, a name under which several models answer.",
      () => import("./create.ts"),
      (m) => m.comboCreate,
      {
        aliases: ["add", "new"],
        examples: ["combo create fast groq/llama-3.3-70b-versatile openai/gpt-4o-mini"]
      }
    ),
    command(
      "show",
      "Show a combo: its targets, its strategy and settings.",
      () => import("./edit.ts"),
      (m) => m.comboShow,
      { aliases: ["get"], examples: ["combo show fast"] }
    ),
    command(
      "edit",
      "Change a combo: name, strategy, targets, weights, settings.",
      () => import("./edit.ts"),
      (m) => m.comboEdit,
      {
        aliases: ["update", "set"],
        examples: ["combo edit fast --strategy round-robin --add openai/gpt-4o-mini", "combo edit fast --active no"]
      }
    ),
    command(
      "switch",
      "Make another target the first of a combo; the others keep their order.",
      () => import("./switch.ts"),
      (m) => m.comboSwitch,
      { examples: ["combo switch fast openai/gpt-4o-mini"] }
    ),
    command(
      "delete",
      "Delete a combo that no other combo uses.",
      () => import("./delete.ts"),
      (m) => m.comboDelete,
      {
        aliases: ["remove", "rm"],
        examples: ["combo delete fast"]
      }
    )
  ],
  {
    section: "Route",
    skill: "cli-routing",
    aliases: ["combos"],
    examples: ["combo create fast groq/llama-3.3-70b-versatile openai/gpt-4o-mini", "combo list"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [combo]
