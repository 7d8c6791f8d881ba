/** The page of a skill about commands: their help and their examples. Pure. */
import type { CommandSkillId } from "../../subjects/skills/entity.ts"
import type { CommandText } from "../../platform/CommandIndex.ts"
import { emptyBlock } from "./CustomBlock.ts"
import { code, frontMatter, page, table } from "./Markdown.ts"
import { skillWords } from "./SkillTexts.ts"

const sectionOf = ({ examples, help, path }: CommandText): ReadonlyArray<string> => [
  `### gateway ${path.join(" ")}`,
  "",
  ...code("text", help),
  "",
  ...code("sh", examples.map((example) => `gateway ${example}`).join("\n"))
]

export const commandPage = (id: CommandSkillId, commands: ReadonlyArray<CommandText>): string => {
  const { description, name, notes, pitfalls } = skillWords[id]
  return page(
    frontMatter({ name: id, description }),
    ["<!-- Generated from the gateway's own commands. Write between the markers at the end; all else is replaced. -->"],
    [`# ${name}`],
    ["## Overview", "", description, ...notes.flatMap((note) => ["", note])],
    commands.length === 0
      ? ["This gateway has no commands of this kind."]
      : table(
          ["command", "what it does"],
          commands.map(({ path, summary }) => [`\`gateway ${path.join(" ")}\``, summary])
        ),
    [
      "## Authentication",
      "",
      "On the gateway's own machine the user who runs it needs no key. For a gateway elsewhere: `gateway login <url>` once, or `--url` with `--gateway-key` (`GATEWAY_URL`, `GATEWAY_ADMIN_KEY`)."
    ],
    ["## Endpoints", "", "Each command with its flags. `--json` gives the result for programs."],
    ...commands.map(sectionOf),
    [
      "## Pitfalls",
      "",
      ...[
        ...pitfalls,
        "Exit codes: 0 done, 1 failed, 2 wrong arguments, 3 no gateway answers, 4 not allowed, 5 rate limit, 124 no answer in time.",
        "Results go to stdout, everything else to stderr."
      ].map((text) => `- ${text}`)
    ],
    emptyBlock
  )
}
