/** The commands about settings and flags. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { list } from "../../../cli/tree/verbs.ts"

const flags = group(
  "flags",
  "Feature flags: switches of the gateway.",
  [
    command(
      "list",
      "List the flags with their values and who set them.",
      () => import("../../flags/commands.ts"),
      (m) => m.flagsList,
      { ...list, examples: ["flags list", "flags list -o wide"] }
    ),
    command(
      "show",
      "Show a flag: what it does, its value and its values.",
      () => import("../../flags/commands.ts"),
      (m) => m.flagsShow,
      { aliases: ["get"], examples: ["flags show REQUIRE_API_KEY"] }
    ),
    command(
      "set",
      "Set a flag.",
      () => import("../../flags/commands.ts"),
      (m) => m.flagsSet,
      { examples: ["flags set REQUIRE_API_KEY true"] }
    ),
    command(
      "unset",
      "Let a flag go back to its default, or all of them.",
      () => import("../../flags/commands.ts"),
      (m) => m.flagsUnset,
      { aliases: ["clear", "reset"], examples: ["flags unset REQUIRE_API_KEY", "flags unset --all"] }
    )
  ],
  { aliases: ["flag"], examples: ["flags list", "flags set REQUIRE_API_KEY true"] }
)

const ipFilter = group(
  "ip-filter",
  "Which addresses the gateway answers.",
  [
    command(
      "show",
      "Show it.",
      () => import("./groups.ts"),
      (m) => m.ipFilterShow,
      { aliases: ["get"], examples: ["settings ip-filter show"] }
    ),
    command(
      "set",
      "Change it; it is in force at once.",
      () => import("./groups.ts"),
      (m) => m.ipFilterSet,
      { examples: ["settings ip-filter set enabled=true mode=whitelist 'whitelist=[\"10.0.0.0/8\"]'"] }
    )
  ],
  { otherwise: { name: "show", takesWords: false }, examples: ["settings ip-filter show"] }
)

const thinkingBudget = group(
  "thinking-budget",
  "How much models that can think may do so.",
  [
    command(
      "show",
      "Show it.",
      () => import("./groups.ts"),
      (m) => m.thinkingBudgetShow,
      { aliases: ["get"], examples: ["settings thinking-budget show"] }
    ),
    command(
      "set",
      "Change it; it is in force at once.",
      () => import("./groups.ts"),
      (m) => m.thinkingBudgetSet,
      { examples: ["settings thinking-budget set mode=custom customBudget=4096"] }
    )
  ],
  { otherwise: { name: "show", takesWords: false }, examples: ["settings thinking-budget show"] }
)

const systemPrompt = group(
  "system-prompt",
  "Texts around the system text of every conversation.",
  [
    command(
      "show",
      "Show it.",
      () => import("./groups.ts"),
      (m) => m.systemPromptShow,
      { aliases: ["get"], examples: ["settings system-prompt show"] }
    ),
    command(
      "set",
      "Change it; it is in force at once.",
      () => import("./groups.ts"),
      (m) => m.systemPromptSet,
      { examples: ["settings system-prompt set enabled=true 'prefixPrompt=Answer in English.'"] }
    )
  ],
  { otherwise: { name: "show", takesWords: false }, examples: ["settings system-prompt show"] }
)

const settings = group(
  "settings",
  "Settings of the gateway as a whole, and its feature flags.",
  [
    command(
      "show",
      "Show the settings, all or a part of them.",
      () => import("./groups.ts"),
      (m) => m.gatewayShow,
      { aliases: ["list", "get"], examples: ["settings show"] }
    ),
    command(
      "set",
      "Change settings; they are in force at once.",
      () => import("./groups.ts"),
      (m) => m.gatewaySet,
      { examples: ["settings set decisions.retentionDays=14"] }
    ),
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
