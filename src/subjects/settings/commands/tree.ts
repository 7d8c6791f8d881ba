/** The commands about settings and flags. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { list } from "../../../cli/tree/verbs.ts"

const fromFlags = from(() => import("../../flags/commands.ts"))
const fromOrigins = from(() => import("./origins.ts"))
const fromGroups = from(() => import("./groups.ts"))

const flags = group(
  "flags",
  "Feature flags: switches of the gateway.",
  [
    fromFlags("list", "flagsList", "List the flags with their values and who set them.", {
      ...list,
      examples: ["flags list", "flags list -o wide"]
    }),
    fromFlags("show", "flagsShow", "Show a flag: what it does, its value and its values.", {
      aliases: ["get"],
      examples: ["flags show REQUIRE_API_KEY"]
    }),
    fromFlags("set", "flagsSet", "Set a flag.", { examples: ["flags set REQUIRE_API_KEY true"] }),
    fromFlags("unset", "flagsUnset", "Let a flag go back to its default, or all of them.", {
      aliases: ["clear", "reset"],
      examples: ["flags unset REQUIRE_API_KEY", "flags unset --all"]
    })
  ],
  { aliases: ["flag"], examples: ["flags list", "flags set REQUIRE_API_KEY true"] }
)

const ipFilter = group(
  "ip-filter",
  "Which addresses the gateway answers.",
  [
    fromGroups("show", "ipFilterShow", "Show it.", { aliases: ["get"], examples: ["settings ip-filter show"] }),
    fromGroups("set", "ipFilterSet", "Change it; it is in force at once.", {
      examples: ["settings ip-filter set enabled=true mode=whitelist 'whitelist=[\"10.0.0.0/8\"]'"]
    })
  ],
  { otherwise: { name: "show", takesWords: false }, examples: ["settings ip-filter show"] }
)

const thinkingBudget = group(
  "thinking-budget",
  "How much models that can think may do so.",
  [
    fromGroups("show", "thinkingBudgetShow", "Show it.", {
      aliases: ["get"],
      examples: ["settings thinking-budget show"]
    }),
    fromGroups("set", "thinkingBudgetSet", "Change it; it is in force at once.", {
      examples: ["settings thinking-budget set mode=custom customBudget=4096"]
    })
  ],
  { otherwise: { name: "show", takesWords: false }, examples: ["settings thinking-budget show"] }
)

const systemPrompt = group(
  "system-prompt",
  "Texts around the system text of every conversation.",
  [
    fromGroups("show", "systemPromptShow", "Show it.", { aliases: ["get"], examples: ["settings system-prompt show"] }),
    fromGroups("set", "systemPromptSet", "Change it; it is in force at once.", {
      examples: ["settings system-prompt set enabled=true 'prefixPrompt=Answer in English.'"]
    })
  ],
  { otherwise: { name: "show", takesWords: false }, examples: ["settings system-prompt show"] }
)

const settings = group(
  "settings",
  "Settings of the gateway as a whole, and its feature flags; see api.",
  [
    fromGroups("show", "gatewayShow", "Show the settings, all or a part of them.", {
      aliases: ["list", "get"],
      examples: ["settings show"]
    }),
    fromGroups("set", "gatewaySet", "Change settings; they are in force at once.", {
      examples: ["settings set decisions.retentionDays=14"]
    }),
    fromOrigins("origins", "originsShow", "Show what is set, by whom, and what it would be otherwise.", {
      examples: ["settings origins", "settings origins --all"]
    }),
    ipFilter,
    thinkingBudget,
    systemPrompt,
    flags
  ],
  {
    section: "Settings",
    skill: "cli-policy-audit",
    otherwise: { name: "show", takesWords: false },
    examples: ["settings show", "settings set decisions.retentionDays=14"]
  }
)

/** Flags are also a group within `settings`. */
export const commands: ReadonlyArray<TreeNode> = [settings, { ...flags, hidden: true, skill: "cli-policy-audit" }]
