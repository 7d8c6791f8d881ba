/** `gateway resilience cooldowns` */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { RateLimitStatus } from "../../../api/Groups/RateLimits.ts"
import * as Client from "../../Client.ts"
import { json } from "../../Flags.ts"
import * as Output from "../../output/Output.ts"
import { accountColumns, isOut, lockoutColumns } from "../../output/resilience.ts"

const Cooldowns = RateLimitStatus.pick("connections", "lockouts")

export const resilienceCooldowns = Command.make("cooldowns", { ...Client.connection, json }, (flags) =>
  Effect.gen(function* () {
    const to = yield* Client.target(flags)
    const client = yield* Client.group(to, "rateLimits")
    const status = yield* client.status().pipe(Client.orExplain(to))
    const connections = status.connections.filter(isOut)
    const { lockouts } = status
    if (flags.json) return yield* Output.json(Cooldowns, { connections, lockouts })
    yield* Output.rows(connections, accountColumns, "Every connection can be used.")
    if (connections.length > 0 && lockouts.length > 0) yield* Output.print("")
    yield* Output.rows(lockouts, lockoutColumns, "No model is locked.")
  })
)
