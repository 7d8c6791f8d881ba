/** The commands about the compression of prompts. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"

const fromCombos = from(() => import("./combos.ts"))
const fromPreview = from(() => import("./preview.ts"))
const fromRtk = from(() => import("./rtk.ts"))

const compression = group(
  "compression",
  "How prompts are made smaller.",
  [
    fromCombos("combos", "compressionCombos", "List the pipelines of engines that have a name.", {
      examples: ["compression combos", "compression combos --json"]
    }),
    fromPreview("show", "compressionShow", "Show whether requests are made smaller, and how.", {
      examples: ["compression show"]
    }),
    fromPreview("set", "compressionSet", "Switch it on, or off, and choose how.", {
      examples: [
        "compression set --engine stacked",
        "compression set --engine rtk --from-tokens 20000",
        "compression set --off"
      ]
    }),
    fromPreview("preview", "compressionPreview", "Show what becomes of a text.", {
      examples: ["compression preview --engine caveman 'really?'", "compression preview --json 'really?'"]
    }),
    fromPreview("stats", "compressionStats", "Show what was saved, by mode.", {
      examples: ["compression stats", "compression stats --days 7 --json"]
    }),
    fromPreview("rules", "compressionRules", "List the rules for prose.", {
      examples: ["compression rules", "compression rules --json"]
    }),
    fromRtk("filters", "compressionFilters", "List the filters for outputs of commands.", {
      examples: ["compression filters", "compression filters --json"]
    }),
    fromRtk("test", "compressionTest", "Run the tests that filters bring with them.", {
      examples: ["compression test", "compression test git-status"]
    }),
    fromRtk("raw", "compressionRaw", "Show a whole output of which a compressed request had a part.", {
      examples: ["compression raw 4f1c0e2a9b7d4c3e8f6a5b1d"]
    })
  ],
  { section: "Settings", skill: "cli-compression", hidden: true, examples: ["compression filters", "compression test"] }
)

export const commands: ReadonlyArray<TreeNode> = [compression]
