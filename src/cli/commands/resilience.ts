/** `gateway resilience …`: what a running gateway holds back, and how to let it go on. */
import * as Command from "@effect/cli/Command"
import { about } from "../Flags.ts"
import { resilienceClear } from "./resilience/clear.ts"
import { resilienceCooldowns } from "./resilience/cooldowns.ts"
import { resilienceReset } from "./resilience/reset.ts"
import { resilienceStatus } from "./resilience/status.ts"

export const resilienceCommand = Command.make("resilience").pipe(
  Command.withDescription(
    about("See which providers, connections and models a gateway holds back, and reset them.", "resilience status")
  ),
  Command.withSubcommands([resilienceStatus, resilienceReset, resilienceCooldowns, resilienceClear])
)
