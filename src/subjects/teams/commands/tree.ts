/** The commands about teams. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const fromTeams = from(() => import("./teams.ts"))

const teams = group(
  "teams",
  "Teams whose keys share their limits, in a tree; see users.",
  [
    fromTeams("list", "teamsList", "List the teams.", { ...list, examples: ["teams list", "teams list --json"] }),
    fromTeams("add", "teamsAdd", "Add a team.", {
      ...add,
      examples: ["teams add Research --daily 20", "teams add Vision --parent Research --member ada@example.com"]
    }),
    fromTeams("show", "teamsShow", "Show a team, and what is used of its limits.", {
      aliases: ["get"],
      examples: ["teams show Research"]
    }),
    fromTeams("edit", "teamsEdit", "Change a team: name, place, members, models, limits.", {
      aliases: ["update", "set"],
      examples: ["teams edit Research --daily 30 --monthly 400", "teams edit Research --model 'openai/*'"]
    }),
    fromTeams("remove", "teamsRemove", "Remove a team, whose keys are refused then.", {
      ...remove,
      examples: ["teams remove Research --yes"]
    }),
    fromTeams("content", "teamsContent", "Show prompt and answer of a request, where the team lets you.", {
      examples: ["teams content Research 01a21eda-cef3-7000-bd74-764fc44e3422"]
    })
  ],
  {
    section: "Connect",
    skill: "cli-keys",
    besides: true,
    aliases: ["team"],
    examples: ["teams add Research --daily 20", "teams list"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [teams]
