/** The commands about API keys. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { scopeLines } from "../../../domain/ScopeTexts.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const terms = { heading: "Scopes", lines: scopeLines }

const key = group(
  "key",
  "API keys of this gateway, for clients and for people who manage it.",
  [
    command(
      "list",
      "List the API keys.",
      () => import("./list.ts"),
      (m) => m.keysList,
      {
        ...list,
        examples: ["key list", "key list -o csv"]
      }
    ),
    command(
      "add",
      "Make an API key. Its secret is shown once, alone on stdout.",
      () => import("./add.ts"),
      (m) => m.keysAdd,
      {
        ...add,
        terms,
        examples: [
          "key add laptop",
          "key add agent --scope read:health --scope read:usage",
          "key add ops --scope manage --local",
          "key add office --schedule 1-5@08:00-18:00@Europe/Zurich --ip 192.0.2.0/24"
        ]
      }
    ),
    command(
      "remove",
      "Remove an API key.",
      () => import("./remove.ts"),
      (m) => m.keysRemove,
      {
        ...remove,
        examples: ["key remove laptop", "key remove laptop --yes"]
      }
    ),
    command(
      "show",
      "Show an API key: what it may do, its limits and its use.",
      () => import("./change.ts"),
      (m) => m.keyShow,
      { aliases: ["get"], examples: ["key show laptop"] }
    ),
    command(
      "edit",
      "Change an API key: name, scopes, models, addresses, schedule, limits.",
      () => import("./change.ts"),
      (m) => m.keyEdit,
      {
        aliases: ["update", "set"],
        terms,
        examples: ["key edit laptop --rate-limit 60/60", "key edit laptop --expires 2030-01-31T00:00:00Z"]
      }
    ),
    command(
      "rotate",
      "Give an API key another secret. It is shown once, alone on stdout.",
      () => import("./change.ts"),
      (m) => m.keyRotate,
      { examples: ["key rotate laptop --overlap 86400", "key rotate laptop --yes"] }
    ),
    command(
      "enable",
      "Let an API key work again.",
      () => import("./change.ts"),
      (m) => m.keyEnable,
      { examples: ["key enable laptop"] }
    ),
    command(
      "disable",
      "Keep an API key, but refuse it.",
      () => import("./change.ts"),
      (m) => m.keyDisable,
      { examples: ["key disable laptop"] }
    )
  ],
  { section: "Connect", skill: "cli-keys", aliases: ["keys"], examples: ["key add laptop", "key list"] }
)

export const commands: ReadonlyArray<TreeNode> = [key]
