/** The health of targets in a simulation: the gateway's own (`health/Health`) over states of its own, all fresh. */
import type { ResilienceSettings } from "../../subjects/resilience/entity.ts"
import type { BreakerPhase } from "../../plane/resilience/breaker/Breaker.ts"
import { type Guarded, makeBreakerStates } from "../../plane/resilience/breaker/BreakerStates.ts"
import { makeCooldownStates } from "../../plane/resilience/cooldown/CooldownStates.ts"
import type { Failure } from "../../plane/resilience/failure/FailureKind.ts"
import { makeQuotaHolds } from "../../plane/resilience/lockout/QuotaHolds.ts"
import { makeLockoutStates } from "../../plane/resilience/lockout/LockoutStates.ts"
import { type Call, type Health, makeHealth } from "../../plane/routing/health/Health.ts"
import type { Target } from "../../plane/routing/resolve/ModelResolver.ts"

/** Changes by an ended call. */
export interface Change {
  readonly cooled: boolean
  readonly opened: boolean
}

export interface SimulatedHealth extends Health {
  readonly phaseOf: (provider: Guarded, nowMs: number) => BreakerPhase
  /** The call is over; `failure` null when it was answered. */
  readonly ended: (call: Call, failure: Failure | null) => Change
}

type HealthSettings = Pick<ResilienceSettings, "providerBreaker" | "connectionCooldown" | "modelLockout">

const nothing = (): void => {}

/** `targets` are all there are: a failure of scope `provider` concerns those of the same one. */
export const simulatedHealth = (settings: HealthSettings, targets: ReadonlyArray<Target>): SimulatedHealth => {
  const accounts = [...new Set(targets.map(({ account }) => account))]
  let opened = false
  const breakers = makeBreakerStates({ profiles: () => settings.providerBreaker, initial: [], changed: nothing })
  const cooldowns = makeCooldownStates({ initial: [], changed: nothing })
  const health = makeHealth({
    breakers,
    cooldowns,
    lockouts: makeLockoutStates(() => settings.modelLockout, makeQuotaHolds([], nothing)),
    settings: () => settings,
    accountsOf: (provider) => accounts.filter(({ spec }) => spec.id === provider),
    reported: ({ after, before }) => {
      opened ||= after === "OPEN" && before !== "OPEN"
    }
  })

  const ended = (call: Call, failure: Failure | null): Change => {
    const { id } = call.target.account.connection
    const before = cooldowns.healthOf(id)
    opened = false
    if (failure === null) health.succeeded(call)
    else health.failed(call, failure)
    const after = cooldowns.healthOf(id)
    const isLonger = after.rateLimitedUntilMs !== before.rateLimitedUntilMs || after.testStatus !== before.testStatus
    return { cooled: failure !== null && isLonger, opened }
  }

  return { ...health, phaseOf: breakers.phaseOf, ended }
}
