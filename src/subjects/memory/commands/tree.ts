/** The commands about what is remembered of callers. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const memory = group(
  "memory",
  "What is remembered of callers and told to models.",
  [
    command(
      "list",
      "List what is remembered, the newest first.",
      () => import("./show.ts"),
      (m) => m.memoryList,
      { ...list, examples: ["memory list", "memory list --key laptop --json"] }
    ),
    command(
      "search",
      "Find memories by their words, the best match first.",
      () => import("./show.ts"),
      (m) => m.memorySearch,
      { aliases: ["find"], examples: ["memory search editor", "memory search editor --key laptop --json"] }
    ),
    command(
      "show",
      "Show a memory.",
      () => import("./show.ts"),
      (m) => m.memoryShow,
      { aliases: ["get"], examples: ["memory show preference:editor"] }
    ),
    command(
      "preview",
      "Show what a model would be told for a question.",
      () => import("./show.ts"),
      (m) => m.memoryPreview,
      { examples: ["memory preview 'Which editor?' --key laptop"] }
    ),
    command(
      "add",
      "Remember something.",
      () => import("./change.ts"),
      (m) => m.memoryAdd,
      { ...add, examples: ["memory add 'I use Helix.' --name preference:editor --key laptop"] }
    ),
    command(
      "edit",
      "Change a memory.",
      () => import("./change.ts"),
      (m) => m.memoryEdit,
      { aliases: ["update", "set"], examples: ["memory edit preference:editor --content Kakoune"] }
    ),
    command(
      "remove",
      "Forget a memory.",
      () => import("./change.ts"),
      (m) => m.memoryRemove,
      { ...remove, examples: ["memory remove preference:editor"] }
    ),
    command(
      "health",
      "Show the state of the memory and of its index.",
      () => import("./change.ts"),
      (m) => m.memoryHealth,
      { aliases: ["status"], examples: ["memory health", "memory health --reindex"] }
    )
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
