/** The commands about issuers that sign people in. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const fromIssuers = from(() => import("./issuers.ts"))
const fromChange = from(() => import("./change.ts"))

const issuers = group(
  "issuers",
  "Directories that sign people in, by OpenID Connect or GitHub; see users.",
  [
    fromIssuers("list", "issuersList", "List the issuers.", {
      ...list,
      examples: ["issuers list", "issuers list --json"]
    }),
    fromChange("add", "issuersAdd", "Add an issuer.", {
      ...add,
      examples: [
        "issuers add Company --issuer https://login.example.com --client-id gateway",
        "issuers add GitHub --kind github --client-id app --client-secret-stdin < secret.txt"
      ]
    }),
    fromIssuers("show", "issuersShow", "Show an issuer, and the redirect address to register there.", {
      aliases: ["get"],
      examples: ["issuers show Company"]
    }),
    fromChange("edit", "issuersEdit", "Change an issuer: groups, domains, roles, its client.", {
      aliases: ["update", "set"],
      examples: [
        "issuers edit Company --group ai-leads=lead:Research --group ai-admins=admin",
        "issuers edit Company --domain example.com --default-role none"
      ]
    }),
    fromIssuers("test", "issuersTest", "Read what an issuer says of itself, and say what is wrong.", {
      examples: ["issuers test Company"]
    }),
    fromIssuers("enable", "issuerEnable", "Let people sign in by an issuer again.", {
      examples: ["issuers enable Company"]
    }),
    fromIssuers("disable", "issuerDisable", "Let nobody sign in by an issuer, and end its sessions.", {
      examples: ["issuers disable Company"]
    }),
    fromIssuers("remove", "issuersRemove", "Remove an issuer, and end its sessions.", {
      ...remove,
      examples: ["issuers remove Company --yes"]
    })
  ],
  {
    section: "Connect",
    skill: "cli-keys",
    besides: true,
    aliases: ["issuer"],
    examples: ["issuers list", "issuers test Company"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [issuers]
