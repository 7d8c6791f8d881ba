/** `gateway resilience status` */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { RateLimitStatus } from "../../rateLimits/routes.ts"
import { Breakers, type BreakerView } from "../routes.ts"
import { ResilienceSettings } from "../entity.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import {
  accountColumns,
  accountWords,
  breakerColumns,
  breakerWords,
  hasMoved,
  isOut,
  lockoutColumns,
  span
} from "../../../cli/output/resilience.ts"
import { fields } from "../../../cli/output/Table.ts"

const Status = Schema.Struct({ ...Breakers.fields, ...RateLimitStatus.fields, settings: ResilienceSettings })

const counted = (breakers: ReadonlyArray<BreakerView>) => {
  const inState = (state: BreakerView["state"]): number => breakers.filter((breaker) => breaker.state === state).length
  return {
    closed: inState("CLOSED"),
    degraded: inState("DEGRADED"),
    open: inState("OPEN"),
    halfOpen: inState("HALF_OPEN")
  }
}

const onOff = (isOn: boolean): string => (isOn ? "on" : "off")

const summary = ({ breakers, lockouts, overview, settings }: typeof Status.Type): string => {
  const { customBannedSignals, modelLockout, requestQueue, retry, timeouts } = settings
  return fields([
    ["Breakers", breakerWords(counted(breakers))],
    ["Connections", accountWords(overview)],
    ["Models", `${lockouts.length} locked; lockouts are ${onOff(modelLockout.enabled)}`],
    [
      "Timeouts",
      `connect ${span(timeouts.connectMs)}, first content ${span(timeouts.firstByteMs)}, idle ${span(timeouts.idleMs)}, total ${span(timeouts.totalMs)}`
    ],
    ["Same target again", `${Output.counted(retry.maxRetries, "time")}`],
    ["Request queue", onOff(requestQueue.enabled)],
    ["Own ban texts", String(customBannedSignals.length)]
  ])
}

export const resilienceStatus = Command.make("status", Client.connection, (flags) =>
  Effect.gen(function* () {
    const to = yield* Client.target(flags)
    const resilience = yield* Client.group(to, "resilience")
    const limits = yield* Client.group(to, "rateLimits")
    const status: typeof Status.Type = {
      ...(yield* resilience.breakers().pipe(Client.orExplain(to))),
      ...(yield* limits.status().pipe(Client.orExplain(to))),
      settings: yield* resilience.get().pipe(Client.orExplain(to))
    }
    const breakers = Output.rows(status.breakers, breakerColumns, "")
    const text = Effect.gen(function* () {
      yield* Output.print(summary(status))
      yield* Output.section(status.breakers.filter(hasMoved), breakerColumns)
      yield* Output.section(status.connections.filter(isOut), accountColumns)
      yield* Output.section(status.lockouts, lockoutColumns)
    })
    yield* Output.result({ schema: Status, value: status, text, csv: breakers, name: to.url })
  })
)
