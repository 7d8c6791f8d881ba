/** `gateway skills`. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { list } from "../../../cli/tree/verbs.ts"

const skills = group(
  "skills",
  "Pages that tell agents how to use and operate the gateway.",
  [
    command(
      "list",
      "List the skills.",
      () => import("./show.ts"),
      (m) => m.skillsList,
      { ...list, examples: ["skills list --category api", "skills list --json"] }
    ),
    command(
      "show",
      "Print the page of a skill.",
      () => import("./show.ts"),
      (m) => m.skillsShow,
      { aliases: ["get", "read"], examples: ["skills show gw-providers", "skills show cli-setup"] }
    ),
    command(
      "coverage",
      "Show which routes and commands the skills tell of.",
      () => import("./show.ts"),
      (m) => m.skillsCoverage,
      { examples: ["skills coverage", "skills coverage --json"] }
    ),
    command(
      "generate",
      "Write the skills as files, to publish or to add words of your own.",
      () => import("./generate.ts"),
      (m) => m.skillsGenerate,
      {
        aliases: ["write"],
        examples: ["skills generate --dry-run", "skills generate --out ./skills", "skills generate --only gw-providers"]
      }
    )
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
