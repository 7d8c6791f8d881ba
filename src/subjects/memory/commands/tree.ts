/** The commands about what is remembered of callers. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const fromShow = from(() => import("./show.ts"))
const fromChange = from(() => import("./change.ts"))

const memory = group(
  "memory",
  "What is remembered of callers and told to models.",
  [
    fromShow("list", "memoryList", "List what is remembered, the newest first.", {
      ...list,
      examples: ["memory list", "memory list --key laptop --json"]
    }),
    fromShow("search", "memorySearch", "Find memories by their words, the best match first.", {
      aliases: ["find"],
      examples: ["memory search editor", "memory search editor --key laptop --json"]
    }),
    fromShow("show", "memoryShow", "Show a memory.", { aliases: ["get"], examples: ["memory show preference:editor"] }),
    fromShow("preview", "memoryPreview", "Show what a model would be told for a question.", {
      examples: ["memory preview 'Which editor?' --key laptop"]
    }),
    fromChange("add", "memoryAdd", "Remember something.", {
      ...add,
      examples: ["memory add 'I use Helix.' --name preference:editor --key laptop"]
    }),
    fromChange("edit", "memoryEdit", "Change a memory.", {
      aliases: ["update", "set"],
      examples: ["memory edit preference:editor --content Kakoune"]
    }),
    fromChange("remove", "memoryRemove", "Forget a memory.", {
      ...remove,
      examples: ["memory remove preference:editor"]
    }),
    fromChange("health", "memoryHealth", "Show the state of the memory and of its index.", {
      aliases: ["status"],
      examples: ["memory health", "memory health --reindex"]
    })
  ],
  {
    section: "Settings",
    skill: "cli-compression",
    hidden: true,
    aliases: ["memories"],
    examples: ["memory list", "memory search editor", "memory add 'I use Helix.'"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [memory]
