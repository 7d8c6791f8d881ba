/** The commands about people. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const fromUsers = from(() => import("./users.ts"))

const users = group(
  "users",
  "People whose keys share their limits; see teams.",
  [
    fromUsers("list", "usersList", "List the people.", { ...list, examples: ["users list", "users list --json"] }),
    fromUsers("add", "usersAdd", "Add a person.", {
      ...add,
      examples: [
        "users add Ada --email ada@example.com",
        "users add Bo --email bo@example.com --role lead --monthly 50"
      ]
    }),
    fromUsers("show", "usersShow", "Show a person, and what is used of the limits.", {
      aliases: ["get"],
      examples: ["users show ada@example.com"]
    }),
    fromUsers("edit", "usersEdit", "Change a person: name, e-mail, role, state, limits.", {
      aliases: ["update", "set"],
      examples: ["users edit ada@example.com --state suspended", "users edit Ada --daily 5"]
    }),
    fromUsers("remove", "usersRemove", "Remove a person, whose keys are refused then.", {
      ...remove,
      examples: ["users remove ada@example.com --yes"]
    }),
    fromUsers("export", "usersExport", "Print everything that is kept of a person.", {
      examples: ["users export ada@example.com > ada.json"]
    }),
    fromUsers("erase", "usersErase", "Erase a person: keys, sessions and name; sums stay.", {
      examples: ["users erase ada@example.com --yes"]
    })
  ],
  {
    section: "Connect",
    skill: "cli-keys",
    besides: true,
    aliases: ["user"],
    examples: ["users add Ada --email ada@example.com", "users list"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [users]
