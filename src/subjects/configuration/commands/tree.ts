/** `gateway apply` and `export`. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"

const fromApply = from(() => import("./apply.ts"))
const fromExport = from(() => import("./export.ts"))
const fromImport = from(() => import("./import.ts"))

const apply = fromApply("apply", "applyCommand", "Make a gateway have what a file declares; see export and import.", {
  section: "Settings",
  skill: "cli-setup",
  examples: ["apply -f gateway.yaml --dry-run", "apply -f gateway.yaml --yes --prune", "apply --schema"]
})

const exported = fromExport(
  "export",
  "exportCommand",
  "Print the configuration as a file for 'apply', without secrets.",
  { section: "Settings", skill: "cli-setup", besides: true, examples: ["export > gateway.yaml", "export --json"] }
)

const imported = group(
  "import",
  "Take over the configuration of another gateway.",
  [
    fromImport("litellm", "importLitellm", "Take over providers, model groups and fallbacks of LiteLLM.", {
      examples: ["import litellm config.yaml --dry-run", "import litellm config.yaml --print > gateway.yaml"]
    }),
    fromImport("omniroute", "importOmniRoute", "Take over connections, combos, aliases and prices of OmniRoute.", {
      examples: ["import omniroute ~/.omniroute --dry-run", "import omniroute export.json --with-secrets"]
    }),
    fromImport("env", "importEnv", "Make connections of the providers' keys in the environment.", {
      examples: ["import env --dry-run", "import env --file .env --yes"]
    }),
    fromImport("ollama", "importOllama", "Connect a running Ollama with its models.", {
      examples: ["import ollama --dry-run", "import ollama http://192.168.1.5:11434"]
    })
  ],
  { section: "Settings", skill: "cli-setup", besides: true, examples: ["import litellm config.yaml --dry-run"] }
)

export const commands: ReadonlyArray<TreeNode> = [apply, exported, imported]
