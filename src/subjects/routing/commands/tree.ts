/** The commands about routing. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"

const routeSettings = group(
  "settings",
  "Settings of routing that hold for every request.",
  [
    command(
      "show",
      "Show the settings, all or a part of them.",
      () => import("../../settings/commands/groups.ts"),
      (m) => m.routingShow,
      { aliases: ["list", "get"], examples: ["route settings show"] }
    ),
    command(
      "set",
      "Change settings; they are in force at once.",
      () => import("../../settings/commands/groups.ts"),
      (m) => m.routingSet,
      { examples: ["route settings set freeTierStrict=true"] }
    )
  ],
  {
    otherwise: { name: "show", takesWords: false },
    examples: ["route settings show", "route settings set freeTierStrict=true"]
  }
)

const route = group(
  "route",
  "See why requests go where they go, and try what would happen.",
  [
    command(
      "explain",
      "Show how a request would be routed. Nothing is sent.",
      () => import("./explain.ts"),
      (m) => m.routeExplain,
      {
        examples: ["route explain auto/fast"]
      }
    ),
    command(
      "decision",
      "Show why a request went where it went.",
      () => import("./decision.ts"),
      (m) => m.routeDecision,
      {
        examples: ["route decision 3f1c…"]
      }
    ),
    command(
      "simulate",
      "Simulate a combo with made-up upstreams. Nothing is sent.",
      () => import("./simulate.ts"),
      (m) => m.routeSimulate,
      {
        examples: [
          "route simulate my-combo --requests 10000 --seed 1",
          "route simulate my-combo --requests 1000 --scenario 429-daily-quota",
          "route simulate my-combo --fault openai=403-banned@60 --fault groq=503:0.2",
          "route simulate auto/fast --rate 50 --errors openai=0.05 --quota groq=30/60"
        ]
      }
    ),
    command(
      "replay",
      "Decide recorded requests anew by another combo. Nothing is sent.",
      () => import("./replay.ts"),
      (m) => m.routeReplay,
      {
        examples: ["route replay --since 24h --combo cheaper"]
      }
    ),
    routeSettings
  ],
  { section: "Route", skill: "cli-routing", aliases: ["routing"], examples: ["route explain auto/fast"] }
)

export const commands: ReadonlyArray<TreeNode> = [route]
