/** Checks whether a key for a provider and account could be registered and used now, and if not, why. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Catalog } from "../../plane/providers/Catalog.ts"
import type { BreakerView } from "../../plane/resilience/breaker/Breakers.ts"
import { QuotaWindows } from "../../plane/routing/quota/QuotaWindows.ts"
import type { QuotaView } from "../../plane/routing/quota/QuotaState.ts"
import type { StoreError } from "../../store/Errors.ts"
import { IssueLimits, scopesOf } from "../issueLimits/service.ts"
import { type AccountState, Resilience } from "../resilience/service.ts"

export type QuotaProblemCode =
  | "PROVIDER_UNKNOWN"
  | "PROVIDER_NOT_CONNECTED"
  | "PROVIDER_CIRCUIT_OPEN"
  | "ACCOUNT_UNKNOWN"
  | "ACCOUNT_INACTIVE"
  | "ACCOUNT_UNAVAILABLE"
  | "ACCOUNT_COOLING_DOWN"
  | "ACCOUNT_QUOTA_EXHAUSTED"
  | "PROVIDER_QUOTA_EXCEEDED"
  | "ACCOUNT_QUOTA_EXCEEDED"
  | "MAX_ACTIVE_KEYS_EXCEEDED"

export interface QuotaProblem {
  readonly errorCode: QuotaProblemCode
  /** A sentence for a person. */
  readonly reason: string
}

export interface QuotaCheck {
  /** Null: allowed. */
  readonly problem: QuotaProblem | null
  readonly provider: string
  readonly accountId: string | null
  readonly checkedAtMs: number
}

export class QuotaChecks extends Context.Tag("gateway/subjects/registeredKeys/QuotaChecks")<
  QuotaChecks,
  {
    /** `accountId` null: one account of the provider that can be used suffices. */
    readonly check: (provider: string, accountId: string | null) => Effect.Effect<QuotaCheck, StoreError>
  }
>() {}

const problem = (errorCode: QuotaProblemCode, reason: string): QuotaProblem => ({ errorCode, reason })

const inSeconds = (ms: number): string => `${Math.max(1, Math.ceil(ms / 1_000))} s`

const breakerProblem = (breaker: BreakerView | undefined): QuotaProblem | null =>
  breaker?.state === "OPEN" && (breaker.retryAfterMs ?? 0) > 0
    ? problem(
        "PROVIDER_CIRCUIT_OPEN",
        `The circuit breaker of ${breaker.provider} is open; it is tried again in ${inSeconds(breaker.retryAfterMs ?? 0)}.`
      )
    : null

/** Describes the problem that keeps one account from serving. Pure. */
export const accountProblem = (
  { connection, health, remainingMs, standing }: AccountState,
  quotas: ReadonlyArray<QuotaView>
): QuotaProblem | null => {
  const name = `The connection '${connection.name}'`
  if (standing === "inactive") return problem("ACCOUNT_INACTIVE", `${name} is switched off.`)
  if (standing === "terminal") {
    const words = {
      banned: "is banned",
      expired: "has an expired credential",
      credits_exhausted: "has no credits left"
    }
    const state = health.testStatus
    const what = state in words ? words[state as keyof typeof words] : "cannot be used"
    return problem("ACCOUNT_UNAVAILABLE", `${name} ${what}; give it another credential, or test it again.`)
  }
  if (standing === "cooling") {
    return problem("ACCOUNT_COOLING_DOWN", `${name} cools down for ${inSeconds(remainingMs ?? 0)} more.`)
  }
  const used = quotas.find(({ remaining }) => remaining !== null && remaining <= 0)
  if (used === undefined) return null
  const until = used.resetAtMs === null ? "" : ` until ${new Date(used.resetAtMs).toISOString()}`
  return problem("ACCOUNT_QUOTA_EXHAUSTED", `The ${used.window} quota of '${connection.name}' is used up${until}.`)
}

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog
  const resilience = yield* Resilience
  const quotas = yield* QuotaWindows
  const limits = yield* IssueLimits

  const healthProblem = Effect.fnUntraced(function* (provider: string, accountId: string | null) {
    const specOf = catalog.current().provider
    const nowMs = yield* Clock.currentTimeMillis
    const accounts = (yield* resilience.accounts).filter(
      ({ connection }) =>
        specOf(connection.provider)?.id === provider && (accountId === null || connection.id === accountId)
    )
    if (accounts.length === 0) {
      return accountId === null
        ? problem("PROVIDER_NOT_CONNECTED", `There is no connection of ${provider}; add one first.`)
        : problem("ACCOUNT_UNKNOWN", `${provider} has no connection with the id '${accountId}'.`)
    }
    const broken = breakerProblem((yield* resilience.breakers).find((breaker) => breaker.provider === provider))
    if (broken !== null) return broken
    const problems = accounts.map((account) => accountProblem(account, quotas.report(account.connection, nowMs).quotas))
    // One that can be used suffices; an account that was named is the only one.
    return problems.includes(null) ? null : (problems[0] ?? null)
  })

  const problemOf = Effect.fnUntraced(function* (provider: string | null, given: string, accountId: string | null) {
    if (provider === null) {
      return problem("PROVIDER_UNKNOWN", `'${given}' is neither a known provider nor the prefix of a node.`)
    }
    const unhealthy = yield* healthProblem(provider, accountId)
    if (unhealthy !== null) return unhealthy
    const reached = yield* limits.exhausted(scopesOf(provider, accountId))
    return reached === null ? null : problem(reached.code, reached.message)
  })

  return QuotaChecks.of({
    check: Effect.fn("QuotaChecks.check")(function* (given: string, accountId: string | null) {
      const provider = catalog.current().provider(given)?.id ?? null
      const found = yield* problemOf(provider, given, accountId)
      const checkedAtMs = yield* Clock.currentTimeMillis
      return { problem: found, provider: provider ?? given, accountId, checkedAtMs }
    })
  })
})

export const layer: Layer.Layer<QuotaChecks, never, Catalog | IssueLimits | QuotaWindows | Resilience> = Layer.effect(
  QuotaChecks,
  make
)
