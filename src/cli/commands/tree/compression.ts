/** The commands about the compression of prompts. */
import { command, group } from "../../tree/Tree.ts"

export const compression = group(
  "compression",
  "How prompts are made smaller.",
  [
    command(
      "filters",
      "List the filters for outputs of commands.",
      () => import("../compression/rtk.ts"),
      (m) => m.compressionFilters,
      { examples: ["compression filters", "compression filters --json"] }
    ),
    command(
      "test",
      "Run the tests that filters bring with them.",
      () => import("../compression/rtk.ts"),
      (m) => m.compressionTest,
      { examples: ["compression test", "compression test git-status"] }
    ),
    command(
      "raw",
      "Show a whole output of which a compressed request had a part.",
      () => import("../compression/rtk.ts"),
      (m) => m.compressionRaw,
      { examples: ["compression raw 4f1c0e2a9b7d4c3e8f6a5b1d"] }
    )
  ],
  { section: "Settings", hidden: true, examples: ["compression filters", "compression test"] }
)
