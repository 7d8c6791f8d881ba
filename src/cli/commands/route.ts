/** `gateway route …`: why requests go where they go. */
import * as Command from "@effect/cli/Command"
import { about } from "../Flags.ts"
import { routeDecision } from "./route/decision.ts"
import { routeExplain } from "./route/explain.ts"
import { routeReplay } from "./route/replay.ts"
import { routeSimulate } from "./route/simulate.ts"

export const routeCommand = Command.make("route").pipe(
  Command.withDescription(about("See why a running gateway routes as it does.", "route explain auto/fast")),
  Command.withSubcommands([routeExplain, routeDecision, routeSimulate, routeReplay])
)
