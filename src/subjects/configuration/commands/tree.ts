/** `gateway apply` and `export`. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"

const apply = command(
  "apply",
  "Make a gateway have what a file declares; see export and import.",
  () => import("./apply.ts"),
  (m) => m.applyCommand,
  {
    section: "Settings",
    skill: "cli-setup",
    examples: ["apply -f gateway.yaml --dry-run", "apply -f gateway.yaml --yes --prune", "apply --schema"]
  }
)

const exported = command(
  "export",
  "Print the configuration as a file for 'apply', without secrets.",
  () => import("./export.ts"),
  (m) => m.exportCommand,
  { section: "Settings", skill: "cli-setup", besides: true, examples: ["export > gateway.yaml", "export --json"] }
)

const imported = group(
  "import",
  "Take over the configuration of another gateway.",
  [
    command(
      "litellm",
      "Take over providers, model groups and fallbacks of LiteLLM.",
      () => import("./import.ts"),
      (m) => m.importLitellm,
      { examples: ["import litellm config.yaml --dry-run", "import litellm config.yaml --print > gateway.yaml"] }
    ),
    command(
      "omniroute",
      "Take over connections, combos, aliases and prices of OmniRoute.",
      () => import("./import.ts"),
      (m) => m.importOmniRoute,
      { examples: ["import omniroute ~/.omniroute --dry-run", "import omniroute export.json --with-secrets"] }
    ),
    command(
      "env",
      "Make connections of the providers' keys in the environment.",
      () => import("./import.ts"),
      (m) => m.importEnv,
      { examples: ["import env --dry-run", "import env --file .env --yes"] }
    ),
    command(
      "ollama",
      "Connect a running Ollama with its models.",
      () => import("./import.ts"),
      (m) => m.importOllama,
      { examples: ["import ollama --dry-run", "import ollama http://192.168.1.5:11434"] }
    )
  ],
  { section: "Settings", skill: "cli-setup", besides: true, examples: ["import litellm config.yaml --dry-run"] }
)

export const commands: ReadonlyArray<TreeNode> = [apply, exported, imported]
