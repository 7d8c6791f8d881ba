/** `gateway resilience cooldowns` */
import { RateLimitStatus } from "../../rateLimits/routes.ts"
import * as Output from "../../../cli/output/Output.ts"
import { accountColumns, isOut, lockoutColumns } from "../../../cli/output/resilience.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const Cooldowns = RateLimitStatus.pick("connections", "lockouts")

export const resilienceCooldowns = asking("cooldowns", "rateLimits", {}, function* (client) {
  const status = yield* client.status()
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
