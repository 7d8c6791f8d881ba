/** The commands about the compression of prompts. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"

const compression = group(
  "compression",
  "How prompts are made smaller.",
  [
    command(
      "combos",
      "List the pipelines of engines that have a name.",
      () => import("./combos.ts"),
      (m) => m.compressionCombos,
      { examples: ["compression combos", "compression combos --json"] }
    ),
    command(
      "show",
      "Show whether requests are made smaller, and how.",
      () => import("./preview.ts"),
      (m) => m.compressionShow,
      { examples: ["compression show"] }
    ),
    command(
      "set",
      "Switch it on, or off, and choose how.",
      () => import("./preview.ts"),
      (m) => m.compressionSet,
      {
        examples: [
          "compression set --engine stacked",
          "compression set --engine rtk --from-tokens 20000",
          "compression set --off"
        ]
      }
    ),
    command(
      "preview",
      "Show what becomes of a text.",
      () => import("./preview.ts"),
      (m) => m.compressionPreview,
      { examples: ["compression preview --engine caveman 'really?'", "compression preview --json 'really?'"] }
    ),
    command(
      "stats",
      "Show what was saved, by mode.",
      () => import("./preview.ts"),
      (m) => m.compressionStats,
      { examples: ["compression stats", "compression stats --days 7 --json"] }
    ),
    command(
      "rules",
      "List the rules for prose.",
      () => import("./preview.ts"),
      (m) => m.compressionRules,
      { examples: ["compression rules", "compression rules --json"] }
    ),
    command(
      "filters",
      "List the filters for outputs of commands.",
      () => import("./rtk.ts"),
      (m) => m.compressionFilters,
      { examples: ["compression filters", "compression filters --json"] }
    ),
    command(
      "test",
      "Run the tests that filters bring with them.",
      () => import("./rtk.ts"),
      (m) => m.compressionTest,
      { examples: ["compression test", "compression test git-status"] }
    ),
    command(
      "raw",
      "Show a whole output of which a compressed request had a part.",
      () => import("./rtk.ts"),
      (m) => m.compressionRaw,
      { examples: ["compression raw 4f1c0e2a9b7d4c3e8f6a5b1d"] }
    )
  ],
  { section: "Settings", skill: "cli-compression", hidden: true, examples: ["compression filters", "compression test"] }
)

export const commands: ReadonlyArray<TreeNode> = [compression]
