/** The commands about API keys. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { scopeLines } from "../../../contract/domain/ScopeTexts.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const fromList = from(() => import("./list.ts"))
const fromAdd = from(() => import("./add.ts"))
const fromRemove = from(() => import("./remove.ts"))
const fromChange = from(() => import("./change.ts"))

const terms = { heading: "Scopes", lines: scopeLines }

const key = group(
  "key",
  "API keys, for clients and people; see users, teams, issuers.",
  [
    fromList("list", "keysList", "List the API keys.", {
      ...list,
      examples: ["key list", "key list -o csv"]
    }),
    fromAdd("add", "keysAdd", "Make an API key. Its secret is shown once, alone on stdout.", {
      ...add,
      terms,
      examples: [
        "key add laptop",
        "key add agent --scope read:health --scope read:usage",
        "key add ops --scope manage --local",
        "key add office --schedule 1-5@08:00-18:00@Europe/Zurich --ip 192.0.2.0/24"
      ]
    }),
    fromRemove("remove", "keysRemove", "Remove an API key.", {
      ...remove,
      examples: ["key remove laptop", "key remove laptop --yes"]
    }),
    fromChange("show", "keyShow", "Show an API key: what it may do, its limits and its use.", {
      aliases: ["get"],
      examples: ["key show laptop"]
    }),
    fromChange("edit", "keyEdit", "Change an API key: name, scopes, models, addresses, schedule, limits.", {
      aliases: ["update", "set"],
      terms,
      examples: ["key edit laptop --rate-limit 60/60", "key edit laptop --expires 2030-01-31T00:00:00Z"]
    }),
    fromChange("rotate", "keyRotate", "Give an API key another secret. It is shown once, alone on stdout.", {
      examples: ["key rotate laptop --overlap 86400", "key rotate laptop --yes"]
    }),
    fromChange("enable", "keyEnable", "Let an API key work again.", { examples: ["key enable laptop"] }),
    fromChange("disable", "keyDisable", "Keep an API key, but refuse it.", { examples: ["key disable laptop"] })
  ],
  { section: "Connect", skill: "cli-keys", aliases: ["keys"], examples: ["key add laptop", "key list"] }
)

export const commands: ReadonlyArray<TreeNode> = [key]
