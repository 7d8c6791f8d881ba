/** `gateway skills`. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { list } from "../../../cli/tree/verbs.ts"

const fromShow = from(() => import("./show.ts"))
const fromGenerate = from(() => import("./generate.ts"))

const skills = group(
  "skills",
  "Pages that tell agents how to use and operate the gateway.",
  [
    fromShow("list", "skillsList", "List the skills.", {
      ...list,
      examples: ["skills list --category api", "skills list --json"]
    }),
    fromShow("show", "skillsShow", "Print the page of a skill.", {
      aliases: ["get", "read"],
      examples: ["skills show gw-providers", "skills show cli-setup"]
    }),
    fromShow("coverage", "skillsCoverage", "Show which routes and commands the skills tell of.", {
      examples: ["skills coverage", "skills coverage --json"]
    }),
    fromGenerate("generate", "skillsGenerate", "Write the skills as files, to publish or to add words of your own.", {
      aliases: ["write"],
      examples: ["skills generate --dry-run", "skills generate --out ./skills", "skills generate --only gw-providers"]
    })
  ],
  {
    section: "Use",
    skill: "cli-plugins-skills",
    besides: true,
    aliases: ["skill"],
    otherwise: { name: "list", takesWords: false },
    examples: ["skills list", "skills show gw-providers", "skills generate --out ./skills"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [skills]
