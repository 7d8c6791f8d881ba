/** The commands about the configuration as a file. */
import { command } from "../../tree/Tree.ts"

export const apply = command(
  "apply",
  "Make a gateway have what a file declares; 'export' writes one.",
  () => import("../declared/apply.ts"),
  (m) => m.apply,
  {
    section: "Settings",
    examples: ["apply -f gateway.yaml --dry-run", "apply -f gateway.yaml --yes"]
  }
)

export const exportFile = command(
  "export",
  "Print the configuration as a file for 'apply', without secrets.",
  () => import("../declared/export.ts"),
  (m) => m.exportFile,
  { section: "Settings", besides: true, examples: ["export > gateway.yaml"] }
)
