/** The commands about routing. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"

const fromGroups = from(() => import("../../settings/commands/groups.ts"))
const fromExplain = from(() => import("./explain.ts"))
const fromDecision = from(() => import("./decision.ts"))
const fromSimulate = from(() => import("./simulate.ts"))
const fromReplay = from(() => import("./replay.ts"))

const routeSettings = group(
  "settings",
  "Settings of routing that hold for every request.",
  [
    fromGroups("show", "routingShow", "Show the settings, all or a part of them.", {
      aliases: ["list", "get"],
      examples: ["route settings show"]
    }),
    fromGroups("set", "routingSet", "Change settings; they are in force at once.", {
      examples: ["route settings set freeTierStrict=true"]
    })
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
    fromExplain("explain", "routeExplain", "Show how a request would be routed. Nothing is sent.", {
      examples: ["route explain auto/fast", "route explain --combo-file cheaper.json"]
    }),
    fromDecision("decision", "routeDecision", "Show why a request went where it went.", {
      examples: ["route decision 3f1c…"]
    }),
    fromSimulate("simulate", "routeSimulate", "Simulate a combo with made-up upstreams. Nothing is sent.", {
      examples: [
        "route simulate my-combo --requests 10000 --seed 1",
        "route simulate my-combo --requests 1000 --scenario 429-daily-quota",
        "route simulate my-combo --fault openai=403-banned@60 --fault groq=503:0.2",
        "route simulate --combo-file cheaper.json --compare-with my-combo",
        "route simulate auto/fast --rate 50 --errors openai=0.05 --quota groq=30/60"
      ]
    }),
    fromReplay("replay", "routeReplay", "Decide recorded requests anew by another combo. Nothing is sent.", {
      examples: [
        "route replay --since 24h --combo cheaper",
        "route replay --since 7d --combo-file cheaper.json --compare-with my-combo"
      ]
    }),
    routeSettings
  ],
  { section: "Route", skill: "cli-routing", aliases: ["routing"], examples: ["route explain auto/fast"] }
)

export const commands: ReadonlyArray<TreeNode> = [route]
