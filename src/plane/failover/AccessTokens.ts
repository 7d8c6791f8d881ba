/** OAuth access tokens for calls: refreshed before a call when they have expired, and once after a refusal. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Connection } from "../../subjects/connections/entity.ts"
import * as Timers from "../../platform/Timers.ts"
import type { RefreshFailed } from "../providers/oauth/RefreshFailed.ts"
import * as TokenRefresh from "../providers/oauth/TokenRefresh.ts"
import type { Failure } from "../resilience/failure/FailureKind.ts"
import { proven } from "../resilience/failure/Suspicions.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import * as TargetHealth from "../routing/health/TargetHealth.ts"
import { type AttemptFailure, ownFailure } from "../attempt/AttemptResult.ts"

export class AccessTokens extends Context.Tag("gateway/plane/failover/AccessTokens")<
  AccessTokens,
  {
    /** Hot. */
    readonly canRefresh: (connection: Connection) => boolean
    /** Hot: the account signs in with tokens that run out. */
    readonly mayBeStale: (target: Target) => boolean
    /** The target with a token that is good for now; why there is none and no call may be made. An account that is gone stays as it is. */
    readonly fresh: (target: Target) => Effect.Effect<Either.Either<Target, AttemptFailure>>
    /** The target with a new token in place of one that was refused; what the refusal has turned out to be when there is none. */
    readonly renew: (target: Target, refusal: Failure) => Effect.Effect<Either.Either<Target, Failure>>
  }
>() {}

/** The refusal as what it turned out to be. It is the token endpoint that says so now. */
const afterRefresh = (refused: Failure, failed: RefreshFailed, nowMs: number): Failure => {
  const refusal = proven(refused)
  if (failed._tag !== "RefreshTransient") {
    const message = failed._tag === "RefreshDead" ? failed.message : refusal.message
    return { ...refusal, kind: "auth_expired", exhausts: "connection", message }
  }
  // What the provider said of the old token is not what is wrong now.
  const { clientError: _refused, ...rest } = refusal
  return {
    ...rest,
    kind: "token_refresh_failed",
    place: "call",
    status: 503,
    answered: false,
    reason: "token_refresh_failed",
    rule: "cause_token_refresh_failed",
    scope: "connection",
    exhausts: "connection",
    untilMs: nowMs + failed.retryAfterMs,
    message: failed.message
  }
}

/** Makes the failure of a call that is not made: the token has expired, and there is no new one. */
const withoutToken = (failed: RefreshFailed): AttemptFailure => {
  switch (failed._tag) {
    case "RefreshDead":
      return ownFailure(401, "login_expired", failed.message)
    case "RefreshTransient":
      return { ...ownFailure(503, "token_refresh_failed", failed.message), waitMs: failed.retryAfterMs }
    case "RefreshImpossible":
      return ownFailure(401, "token_expired", `The access token has expired. ${failed.message}`)
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

  const renew = (target: Target, refusal: Failure): Effect.Effect<Either.Either<Target, Failure>> => {
    const { connection } = target.account
    const used = connection.oauth === null ? null : Redacted.value(connection.oauth.accessToken)
    return Effect.match(tokens.refresh(connection.id, used), {
      onSuccess: () => Either.fromNullable(current(target), () => refusal),
      onFailure: (failed) => {
        const nowMs = timers.nowMs()
        const failure = afterRefresh(refusal, failed, nowMs)
        health.failed({ target, startedMs: nowMs, endedMs: nowMs, probe: false }, failure)
        return Either.left(failure)
      }
    })
  }

  return AccessTokens.of({
    canRefresh: tokens.canRefresh,
    mayBeStale: ({ account }) => account.connection.authType === "oauth",
    fresh: (target) =>
      Effect.match(tokens.ensureFresh(target.account.connection), {
        onSuccess: () => Either.right(current(target) ?? target),
        onFailure: (failed) => Either.left(withoutToken(failed))
      }),
    renew
  })
})

export const layer: Layer.Layer<
  AccessTokens,
  never,
  TargetHealth.TargetHealth | Timers.Timers | TokenRefresh.TokenRefresh
> = Layer.effect(AccessTokens, make)
