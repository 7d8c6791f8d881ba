/** The health of targets in the running gateway (`health/Health`): over the stored states, and telling the events of breakers. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createHash } from "node:crypto"
import * as Events from "../../../observe/Events.ts"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import * as Catalog from "../../providers/Catalog.ts"
import * as Breakers from "../../resilience/breaker/Breakers.ts"
import * as Cooldowns from "../../resilience/cooldown/Cooldowns.ts"
import * as Lockouts from "../../resilience/lockout/Lockouts.ts"
import { makeSuspicions } from "../../resilience/failure/Suspicions.ts"
import * as Settings from "../../resilience/Settings.ts"
import { Replica } from "../../state/Replica.ts"
import { type BreakerNews, type Health, makeHealth } from "./Health.ts"

export type { Call, Unready } from "./Health.ts"
export { breakerReportOf, classOf } from "./Health.ts"

export class TargetHealth extends Context.Tag("gateway/plane/routing/health/TargetHealth")<
  TargetHealth,
  Health & {
    /** Waits until everything that was learned outlives a crash. */
    readonly flush: Effect.Effect<void>
  }
>() {}

export const make = Effect.gen(function* () {
  const breakers = yield* Breakers.Breakers
  const catalog = yield* Catalog.Catalog
  const cooldowns = yield* Cooldowns.Cooldowns
  const lockouts = yield* Lockouts.Lockouts
  const settings = yield* Settings.Settings
  const events = yield* Events.Events

  // A new key in the environment is a new account: what the old one did wrong is not its fault.
  for (const { apiKey, id, source } of catalog.current().connections) {
    if (source !== "env" || apiKey === null) continue
    const fingerprint = createHash("sha256").update(Redacted.value(apiKey)).digest("hex")
    if (cooldowns.credentialIs(id, fingerprint)) lockouts.clear({ connectionId: id })
  }

  /**
   * Times at which a provider's breaker first opened, in epoch milliseconds; a failed probe opens it again and again.
   */
  const openedMs = new LruMap<string, number>({ capacity: Breakers.capacity })
  for (const { openedAtMs, provider } of breakers.list(yield* Clock.currentTimeMillis, () => "apikey")) {
    if (openedAtMs !== null) openedMs.set(provider, openedAtMs)
  }

  const reported = ({ after, before, call, counted, failures }: BreakerNews): void => {
    const { account, model } = call.target
    const provider = account.spec.id
    const atMs = call.endedMs
    if (after === "OPEN" && openedMs.peek(provider) === undefined) openedMs.set(provider, atMs)
    if (counted !== null) {
      const { reason, status } = counted
      const breaker = { consecutiveFailures: failures, circuitState: after }
      const where = { provider, model, connectionId: account.connection.id }
      events.publish({ type: "provider.error", atMs, ...where, status, reason, ...breaker })
    }
    if (after === "CLOSED" && before === "HALF_OPEN") {
      const sinceMs = openedMs.peek(provider)
      const recoveredAfterMs = sinceMs === undefined ? null : Math.max(0, atMs - sinceMs)
      events.publish({ type: "provider.recovered", atMs, provider, recoveredAfterMs })
    }
    if (after === "CLOSED") openedMs.delete(provider)
  }

  const { shared } = yield* Replica
  const own = makeSuspicions()
  const health = makeHealth({
    suspicions: {
      weigh: shared("suspicion.weigh", own.weigh, own.changes),
      clear: shared("suspicion.clear", own.clear, own.changes),
      changes: own.changes
    },
    breakers,
    cooldowns,
    lockouts,
    settings: settings.current,
    accountsOf: (provider) => catalog.current().byProvider.get(provider) ?? [],
    reported
  })
  return TargetHealth.of({
    ...health,
    flush: cooldowns.flush.pipe(Effect.zipRight(breakers.flush), Effect.zipRight(lockouts.flush))
  })
})

export const layer: Layer.Layer<
  TargetHealth,
  never,
  Breakers.Breakers | Catalog.Catalog | Cooldowns.Cooldowns | Lockouts.Lockouts | Settings.Settings | Events.Events
> = Layer.effect(TargetHealth, make)
