/** Records the outcome of a call: in the health of its target, its speed and reliability, its quotas, and the decision record. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mayShowContent } from "../../contract/domain/ContentPermission.ts"
import { scrubber } from "../../kernel/secrets/Scrub.ts"
import { secretsOf } from "../providers/Catalog.ts"
import type { CallerText } from "../resilience/failure/Echo.ts"
import type { Failure } from "../resilience/failure/FailureKind.ts"
import { remembered } from "../resilience/failure/Remembered.ts"
import { Hooks } from "../../agents/plugins/hooks/Hooks.ts"
import * as HookEvents from "../hooks/Events.ts"
import * as Settings from "../resilience/Settings.ts"
import * as Timers from "../../platform/Timers.ts"
import { countedFor } from "../routing/decide/Candidates.ts"
import * as Engine from "../routing/decide/Engine.ts"
import * as QuotaWindows from "../routing/quota/QuotaWindows.ts"
import * as PerformanceStats from "../routing/stats/PerformanceStats.ts"
import { type Call, TargetHealth } from "../routing/health/TargetHealth.ts"
import type { AttemptResult } from "../attempt/AttemptResult.ts"
import type { Work } from "../request/Exchange.ts"
import { AccessTokens } from "./AccessTokens.ts"
import { callerTextOf } from "../attempt/CallerText.ts"
import { clientErrorOf } from "../attempt/ClientError.ts"
import { classifyFailure } from "../attempt/ClassifyFailure.ts"
import type { FailoverRun } from "./FailoverRun.ts"

const aborted: AttemptResult = { _tag: "Aborted", report: null, firstContentMs: null }

const note = (work: Work, call: Call, result: AttemptResult, failure: Failure | null, lost: boolean): void => {
  const { account, model } = call.target
  work.trail.called({
    provider: account.spec.id,
    connectionId: account.connection.id,
    model,
    status: failure === null ? (result._tag === "Aborted" ? null : 200) : failure.answered ? failure.status : null,
    outcome: result._tag === "Completed" ? "completed" : result._tag === "Aborted" ? "aborted" : "failed",
    reason: failure?.reason ?? (lost ? "hedge_lost" : result._tag === "Aborted" ? "client_left" : "ok"),
    startedMs: call.startedMs,
    latencyMs: call.endedMs - call.startedMs
  })
}

/**
 * Returns the text of a failure that others may read; for a key whose texts are not stored, none that the upstream
 * wrote.
 */
const kept = ({ work }: FailoverRun, sent: CallerText, { message, status }: Failure): string => {
  return mayShowContent(work.exchange.principal) === null ? `it answered with ${status}` : remembered(message, sent)
}

export class OutcomeRecorder extends Context.Tag("gateway/plane/failover/OutcomeRecorder")<
  OutcomeRecorder,
  {
    /** Hot: the call is over. `begunMs` is monotonic. Null when it was no failure. */
    readonly over: (
      run: FailoverRun,
      call: Call,
      result: AttemptResult,
      begunMs: number,
      lost: boolean
    ) => Failure | null
    /**
     * Records a call without a result: another target was faster, the gateway stops (`interrupted`), or the gateway
     * itself is at fault.
     */
    readonly cancelled: (run: FailoverRun, call: Call, interrupted: boolean) => void
  }
>() {}

export const make = Effect.gen(function* () {
  const engine = yield* Engine.Engine
  const hooks = yield* Hooks
  const health = yield* TargetHealth
  const quotas = yield* QuotaWindows.QuotaWindows
  const settings = yield* Settings.Settings
  const stats = yield* PerformanceStats.PerformanceStats
  const timers = yield* Timers.Timers
  const tokens = yield* AccessTokens

  /** Updates the target's health from the result. Null when it was no failure. */
  const learn = (run: FailoverRun, call: Call, result: AttemptResult): Failure | null => {
    if (result._tag === "Completed") {
      health.succeeded(call)
      return null
    }
    if (result._tag === "Aborted") {
      health.abandoned(call)
      return null
    }
    const { connection } = call.target.account
    const sent = callerTextOf(run.work, call.target)
    const raw = classifyFailure(result.failure, call.target, {
      canRefresh: tokens.canRefresh(connection) && !run.walk.hasRefreshed(call.target),
      contentBegan: result._tag === "Broken" && result.firstContentMs !== null,
      bannedTexts: settings.current().customBannedSignals,
      sent,
      nowMs: call.endedMs
    })
    // Providers repeat the key they were sent.
    const clean = scrubber(secretsOf(connection, call.target.account.spec))
    const classified = {
      ...raw,
      message: clean(raw.message),
      clientError: clientErrorOf(raw.kind, result.failure.words, clean)
    }
    const failure = run.walk.weigh(call.target, classified)
    health.failed(call, result.failure.words === null ? failure : { ...failure, message: kept(run, sent, failure) })
    return failure
  }

  /** Updates speed, reliability and quotas from the call. */
  const measure = (
    { policy, work }: FailoverRun,
    call: Call,
    result: AttemptResult,
    failure: Failure | null,
    begunMs: number
  ): void => {
    const { account, model } = call.target
    const ok =
      result._tag === "Completed" ? true : failure !== null && PerformanceStats.countsAsError(failure) ? false : null
    engine.ended(work.question, call.target, ok, call.endedMs)
    if (failure !== null) quotas.refused(account.connection.id, model, failure, call.endedMs)
    if (ok === null || !policy.measured) return
    const firstMs = result._tag === "Completed" ? result.firstContentMs : null
    stats.record({
      connectionId: account.connection.id,
      model,
      combo: countedFor(work.resolution),
      ok,
      latencyMs: timers.monotonicMs() - begunMs,
      ttftMs: firstMs === null ? null : firstMs - begunMs,
      outputTokens: result._tag === "Completed" ? (result.report.usage?.out ?? null) : null,
      atMs: call.endedMs
    })
  }

  return OutcomeRecorder.of({
    over: (run, call, result, begunMs, lost) => {
      const failure = learn(run, call, result)
      measure(run, call, result, failure, begunMs)
      note(run.work, call, result, failure, lost)
      if (hooks.listens.any && failure !== null) HookEvents.upstreamLimited(hooks, run.work, call.target, failure)
      return failure
    },
    cancelled: (run, call, interrupted) => {
      health.abandoned(call)
      if (interrupted) note(run.work, call, aborted, null, true)
    }
  })
})

export const layer: Layer.Layer<
  OutcomeRecorder,
  never,
  | Engine.Engine
  | Hooks
  | TargetHealth
  | QuotaWindows.QuotaWindows
  | Settings.Settings
  | PerformanceStats.PerformanceStats
  | Timers.Timers
  | AccessTokens
> = Layer.effect(OutcomeRecorder, make)
