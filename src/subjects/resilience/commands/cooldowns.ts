/** `gateway resilience cooldowns` */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { RateLimitStatus } from "../../rateLimits/routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import { accountColumns, isOut, lockoutColumns } from "../../../cli/output/resilience.ts"

const Cooldowns = RateLimitStatus.pick("connections", "lockouts")

export const resilienceCooldowns = Command.make("cooldowns", Client.connection, (flags) =>
  Effect.gen(function* () {
    const to = yield* Client.target(flags)
    const client = yield* Client.group(to, "rateLimits")
    const status = yield* client.status().pipe(Client.orExplain(to))
    const connections = status.connections.filter(isOut)
    const { lockouts } = status
    yield* Output.list({
      schema: Cooldowns,
      value: { connections, lockouts },
      rows: connections,
      columns: accountColumns,
      empty: "Every connection can be used."
    })
    if (lockouts.length === 0) yield* Output.remark("No model is locked.")
    else yield* Output.section(lockouts, lockoutColumns)
  })
)
