/** Commands about breakers, cooldowns and lockouts. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"

const fromGroups = from(() => import("../../settings/commands/groups.ts"))
const fromStatus = from(() => import("./status.ts"))
const fromCooldowns = from(() => import("./cooldowns.ts"))
const fromReset = from(() => import("./reset.ts"))
const fromClear = from(() => import("./clear.ts"))

const resilienceSettings = group(
  "settings",
  "Timeouts, breakers, cooldowns, queues: the settings of resilience.",
  [
    fromGroups("show", "resilienceShow", "Show the settings, all or a part of them.", {
      aliases: ["list", "get"],
      examples: ["resilience settings show"]
    }),
    fromGroups("set", "resilienceSet", "Change settings; they are in force at once.", {
      examples: ["resilience settings set timeouts.totalMs=300000"]
    })
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
    fromStatus("status", "resilienceStatus", "Show breakers, connections that are out, locked models, settings.", {
      examples: ["resilience status", "resilience status --json"]
    }),
    fromCooldowns(
      "cooldowns",
      "resilienceCooldowns",
      "List the connections that cannot be used now, and the locked models.",
      {
        examples: ["resilience cooldowns --json"]
      }
    ),
    fromReset("reset", "resilienceReset", "Close the breaker of a provider, or all of them.", {
      examples: ["resilience reset", "resilience reset openai"]
    }),
    fromClear("clear", "resilienceClear", "Use connections again that cool down or are out, and unlock models.", {
      examples: [
        "resilience clear --all",
        "resilience clear --connection work",
        "resilience clear --provider openai --model gpt-4.1"
      ]
    }),
    resilienceSettings
  ],
  { section: "Watch", skill: "cli-resilience", examples: ["resilience status", "resilience clear --all"] }
)

export const commands: ReadonlyArray<TreeNode> = [resilience]
