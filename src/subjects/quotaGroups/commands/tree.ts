/** The commands about quota sharing. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const fromGroups = from(() => import("./groups.ts"))
const fromShow = from(() => import("./show.ts"))

const quotaGroups = group(
  "groups",
  "Groups of connections that share their quota by weight.",
  [
    fromGroups("list", "quotaGroupsList", "List the quota groups.", {
      ...list,
      examples: ["quota groups list --json"]
    }),
    fromGroups("add", "quotaGroupsAdd", "Make a quota group of connections with weights.", {
      ...add,
      examples: ["quota groups add team work=3 spare=1"]
    }),
    fromGroups("remove", "quotaGroupsRemove", "Delete a quota group.", {
      ...remove,
      examples: ["quota groups remove team"]
    }),
    fromGroups("show", "quotaGroupsShow", "Show a quota group and what its keys have used.", {
      aliases: ["get"],
      examples: ["quota groups show team"]
    }),
    fromGroups("edit", "quotaGroupsEdit", "Change the name, the connections or the keys of a group.", {
      aliases: ["update", "set"],
      examples: ["quota groups edit team --member work=3 --member spare=1"]
    })
  ],
  { aliases: ["group"], examples: ["quota groups list"] }
)

const quota = group(
  "quota",
  "What is left of quotas, and who shares them.",
  [
    fromShow("show", "quotaShow", "Show what is left of the quotas of the connections.", {
      aliases: ["list"],
      examples: ["quota", "quota show --json"]
    }),
    quotaGroups
  ],
  {
    section: "Route",
    skill: "cli-routing",
    aliases: ["quotas"],
    otherwise: { name: "show", takesWords: false },
    examples: ["quota", "quota groups list"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [quota]
