/** `gateway guardrails`. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"

const fromTest = from(() => import("./test.ts"))
const fromSettings = from(() => import("./settings.ts"))

const guardrails = group(
  "guardrails",
  "What must not pass, in requests and answers.",
  [
    fromTest("test", "guardrailsTest", "Show what is found in a text, and what would be sent of it.", {
      aliases: ["try"],
      examples: ["guardrails test jane@example.com --json", "guardrails test --offline 192.0.2.7"]
    }),
    fromSettings("show", "guardrailsShow", "Show detectors, patterns and rules.", {
      aliases: ["get", "list"],
      examples: ["guardrails show"]
    }),
    fromSettings("set", "guardrailsSet", "Change them; they are in force at once.", {
      examples: ["guardrails set 'disabledDetectors=[\"ip\"]'"]
    })
  ],
  {
    section: "Settings",
    skill: "cli-policy-audit",
    hidden: true,
    aliases: ["guardrail"],
    examples: ["guardrails test jane@example.com", "guardrails show"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [guardrails]
