/** OAuth access tokens for calls: refreshed before a call when they have expired, and once after a refusal. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Connection } from "../../domain/Connection.ts"
import * as Timers from "../../platform/Timers.ts"
import type { RefreshFailed } from "../../providers/oauth/RefreshFailed.ts"
import * as TokenRefresh from "../../providers/oauth/TokenRefresh.ts"
import type { Failure } from "../../resilience/failure/FailureKind.ts"
import { proven } from "../../resilience/failure/Suspicions.ts"
import type { Target } from "../../routing/resolve/ModelResolver.ts"
import * as TargetHealth from "../../routing/health/TargetHealth.ts"

export class AccessTokens extends Context.Tag("gateway/inference/failover/AccessTokens")<
  AccessTokens,
  {
    /** Hot. */
    readonly canRefresh: (connection: Connection) => boolean
    /** Hot: the account signs in with tokens that run out. */
    readonly mayBeStale: (target: Target) => boolean
    /** The target with a token that is good for now; null when the account is gone. */
    readonly fresh: (target: Target) => Effect.Effect<Target | null>
    /** The target with a new token in place of one that was refused; null when there is none to be had. */
    readonly renew: (target: Target, refusal: Failure) => Effect.Effect<Target | null>
  }
>() {}

/** The refusal as what it turned out to be. It is the token endpoint that says so now. */
const afterRefresh = (refused: Failure, failed: RefreshFailed, nowMs: number): Failure => {
  const refusal = proven(refused)
  if (failed._tag !== "RefreshTransient") {
    const message = failed._tag === "RefreshDead" ? failed.message : refusal.message
    return { ...refusal, kind: "auth_expired", exhausts: "connection", message }
  }
  const untilMs = failed.retryAfterMs === null ? null : nowMs + failed.retryAfterMs
  return {
    ...refusal,
    kind: "rate_limit",
    scope: "connection",
    exhausts: "connection",
    untilMs,
    message: failed.message
  }
}

export const make = Effect.gen(function* () {
  const health = yield* TargetHealth.TargetHealth
  const timers = yield* Timers.Timers
  const tokens = yield* TokenRefresh.TokenRefresh

  const current = (target: Target): Target | null => {
    const account = tokens.current(target.account.connection.id)
    return account === null ? null : { ...target, account }
  }

  const renew = (target: Target, refusal: Failure): Effect.Effect<Target | null> => {
    const { connection } = target.account
    const used = connection.oauth === null ? null : Redacted.value(connection.oauth.accessToken)
    return Effect.match(tokens.refresh(connection.id, used), {
      onSuccess: () => current(target),
      onFailure: (failed) => {
        const nowMs = timers.nowMs()
        health.failed({ target, startedMs: nowMs, endedMs: nowMs, probe: false }, afterRefresh(refusal, failed, nowMs))
        return null
      }
    })
  }

  return AccessTokens.of({
    canRefresh: tokens.canRefresh,
    mayBeStale: ({ account }) => account.connection.authType === "oauth",
    fresh: (target) => Effect.map(tokens.ensureFresh(target.account.connection), () => current(target)),
    renew
  })
})

export const layer: Layer.Layer<
  AccessTokens,
  never,
  TargetHealth.TargetHealth | Timers.Timers | TokenRefresh.TokenRefresh
> = Layer.effect(AccessTokens, make)
