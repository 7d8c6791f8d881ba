/** Commands about breakers, cooldowns and lockouts. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"

const resilienceSettings = group(
  "settings",
  "Timeouts, breakers, cooldowns, queues: the settings of resilience.",
  [
    command(
      "show",
      "Show the settings, all or a part of them.",
      () => import("../../settings/commands/groups.ts"),
      (m) => m.resilienceShow,
      { aliases: ["list", "get"], examples: ["resilience settings show"] }
    ),
    command(
      "set",
      "Change settings; they are in force at once.",
      () => import("../../settings/commands/groups.ts"),
      (m) => m.resilienceSet,
      { examples: ["resilience settings set timeouts.totalMs=300000"] }
    )
  ],
  {
    otherwise: { name: "show", takesWords: false },
    examples: ["resilience settings show", "resilience settings set timeouts.totalMs=300000"]
  }
)

const resilience = group(
  "resilience",
  "What is held back after failures, and how to let it go on.",
  [
    command(
      "status",
      "Show breakers, connections that are out, locked models, settings.",
      () => import("./status.ts"),
      (m) => m.resilienceStatus,
      {
        examples: ["resilience status", "resilience status --json"]
      }
    ),
    command(
      "cooldowns",
      "List the connections that cannot be used now, and the locked models.",
      () => import("./cooldowns.ts"),
      (m) => m.resilienceCooldowns,
      {
        examples: ["resilience cooldowns --json"]
      }
    ),
    command(
      "reset",
      "Close the breaker of a provider, or all of them.",
      () => import("./reset.ts"),
      (m) => m.resilienceReset,
      {
        examples: ["resilience reset", "resilience reset openai"]
      }
    ),
    command(
      "clear",
      "Use connections again that cool down or are out, and unlock models.",
      () => import("./clear.ts"),
      (m) => m.resilienceClear,
      {
        examples: [
          "resilience clear --all",
          "resilience clear --connection work",
          "resilience clear --provider openai --model gpt-4.1"
        ]
      }
    ),
    resilienceSettings
  ],
  { section: "Watch", skill: "cli-resilience", examples: ["resilience status", "resilience clear --all"] }
)

export const commands: ReadonlyArray<TreeNode> = [resilience]
