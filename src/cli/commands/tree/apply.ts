/** `gateway apply` and `export`. */
import { command } from "../../tree/Tree.ts"

export const apply = command(
  "apply",
  "Make a gateway have what a file declares; 'export' writes one.",
  () => import("../apply/apply.ts"),
  (m) => m.applyCommand,
  {
    section: "Settings",
    examples: ["apply -f gateway.yaml --dry-run", "apply -f gateway.yaml --yes --prune", "apply --schema"]
  }
)

export const exported = command(
  "export",
  "Print the configuration as a file for 'apply', without secrets.",
  () => import("../apply/export.ts"),
  (m) => m.exportCommand,
  { section: "Settings", besides: true, examples: ["export > gateway.yaml", "export --json"] }
)
