/** `gateway guardrails`. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"

const guardrails = group(
  "guardrails",
  "What must not pass, in requests and answers.",
  [
    command(
      "test",
      "Show what is found in a text, and what would be sent of it.",
      () => import("./test.ts"),
      (m) => m.guardrailsTest,
      {
        aliases: ["try"],
        examples: ["guardrails test jane@example.com --json", "guardrails test --offline 192.0.2.7"]
      }
    ),
    command(
      "show",
      "Show detectors, patterns and rules.",
      () => import("./settings.ts"),
      (m) => m.guardrailsShow,
      { aliases: ["get", "list"], examples: ["guardrails show"] }
    ),
    command(
      "set",
      "Change them; they are in force at once.",
      () => import("./settings.ts"),
      (m) => m.guardrailsSet,
      { examples: ["guardrails set 'disabledDetectors=[\"ip\"]'"] }
    )
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
