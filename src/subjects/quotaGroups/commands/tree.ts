/** The commands about quota sharing. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const quotaGroups = group(
  "groups",
  "Groups of connections that share their quota by weight.",
  [
    command(
      "list",
      "List the quota groups.",
      () => import("./groups.ts"),
      (m) => m.quotaGroupsList,
      {
        ...list,
        examples: ["quota groups list --json"]
      }
    ),
    command(
      "add",
      "Make a quota group of connections with weights.",
      () => import("./groups.ts"),
      (m) => m.quotaGroupsAdd,
      {
        ...add,
        examples: ["quota groups add team work=3 spare=1"]
      }
    ),
    command(
      "remove",
      "Delete a quota group.",
      () => import("./groups.ts"),
      (m) => m.quotaGroupsRemove,
      {
        ...remove,
        examples: ["quota groups remove team"]
      }
    ),
    command(
      "show",
      "Show a quota group and what its keys have used.",
      () => import("./groups.ts"),
      (m) => m.quotaGroupsShow,
      { aliases: ["get"], examples: ["quota groups show team"] }
    ),
    command(
      "edit",
      "Change the name, the connections or the keys of a group.",
      () => import("./groups.ts"),
      (m) => m.quotaGroupsEdit,
      { aliases: ["update", "set"], examples: ["quota groups edit team --member work=3 --member spare=1"] }
    )
  ],
  { aliases: ["group"], examples: ["quota groups list"] }
)

const quota = group(
  "quota",
  "What is left of quotas, and who shares them.",
  [
    command(
      "show",
      "Show what is left of the quotas of the connections.",
      () => import("./show.ts"),
      (m) => m.quotaShow,
      { aliases: ["list"], examples: ["quota", "quota show --json"] }
    ),
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
