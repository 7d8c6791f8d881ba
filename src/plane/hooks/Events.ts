/**
 * The events of a request that it does not wait for. Callers look at `listens` first, so that no payload is made
 * for an event without a listener.
 */
import type { LimitFacts, InferenceError } from "../../contract/domain/Errors.ts"
import { describe } from "../../contract/domain/Errors.ts"
import type { RequestPayload } from "../../contract/domain/PluginPayload.ts"
import { nanoUsdPerUsd, type Outcome, type TokenCounts } from "../../contract/domain/Usage.ts"
import type { Hooks } from "../../agents/plugins/hooks/Hooks.ts"
import type { BreakerPhase } from "../resilience/breaker/Breaker.ts"
import type { Failure } from "../resilience/failure/FailureKind.ts"
import { decidedOf } from "../routing/records/DecisionRecords.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import type { AttemptRecord } from "../../subjects/routing/entity.ts"
import { apiKeyIdOf, type Exchange, type Work } from "../request/Exchange.ts"
import { isCallersOwn, runOf } from "./HookRuns.ts"

type Emitting = Pick<typeof Hooks.Service, "emit" | "listens">

/** Most candidates and places of an order that a plugin gets. */
const mostListed = 100

const namesOf = ({ account, model }: Target) => ({
  provider: account.spec.id,
  connectionId: account.connection.id,
  model
})

const isoOf = (atMs: number | null): string | null => (atMs === null ? null : new Date(atMs).toISOString())

export const tokensOf = ({ cacheRead, cacheWrite, in: read, out, reasoning }: TokenCounts) => ({
  in: read,
  out,
  cacheRead,
  cacheWrite,
  reasoning
})

export const usdOf = (nanoUsd: number): number => nanoUsd / nanoUsdPerUsd

const bodyOf = (work: Work) => (): Uint8Array => work.exchange.body

const modelSelect = ({ decision, envelope, resolution }: Work): RequestPayload<"onModelSelect"> => {
  const [first] = decision.order
  const { candidates, order } = decidedOf(resolution, decision, mostListed)
  return {
    requestedModel: envelope.model,
    strategy: decision.strategy,
    chosen: first === undefined ? null : namesOf(first),
    candidates: candidates.map(({ excluded, score, target: { account, model } }) => ({
      provider: account.spec.id,
      connectionId: account.connection.id,
      model,
      score,
      excluded: excluded?.rule ?? null
    })),
    order
  }
}

/** Emits the events of a decision: `onModelSelect`, and `onComboResolve` where a combo was asked for. */
export const decided = ({ emit, listens }: Emitting, work: Work): void => {
  const { exchange, resolution } = work
  if (!isCallersOwn(exchange)) return
  const run = runOf(exchange, work.envelope)
  const { combo } = resolution
  if (listens.onComboResolve && combo !== null) {
    const targets = resolution.targets.slice(0, mostListed).map(({ account, model }) => `${account.spec.id}/${model}`)
    const payload: RequestPayload<"onComboResolve"> = { combo: combo.name, strategy: resolution.strategy, targets }
    emit(run, "onComboResolve", payload, bodyOf(work))
  }
  const [first] = work.decision.order
  if (first !== undefined) run.provider = first.account.spec.id
  if (listens.onModelSelect) emit(run, "onModelSelect", modelSelect(work), bodyOf(work))
}

/** Refused by a limit of an API key: `onRateLimit`, or `onQuotaExhaust` where it is money or tokens. */
const limitReached = (
  { emit, listens }: Emitting,
  exchange: Exchange,
  { resetsAtMs, unit, window }: LimitFacts,
  retryAfterMs: number | null,
  envelope?: Work["envelope"]
): void => {
  const apiKeyId = apiKeyIdOf(exchange)
  if (unit === "requests" || unit === "sessions") {
    if (!listens.onRateLimit) return
    const payload: RequestPayload<"onRateLimit"> = {
      scope: "key",
      apiKeyId,
      provider: null,
      connectionId: null,
      window,
      retryAfterMs
    }
    return emit(runOf(exchange, envelope), "onRateLimit", payload)
  }
  if (!listens.onQuotaExhaust) return
  const payload: RequestPayload<"onQuotaExhaust"> = {
    provider: null,
    connectionId: null,
    model: null,
    apiKeyId,
    reason: unit === "usd" ? "budget" : "token_limit",
    resetAt: isoOf(resetsAtMs)
  }
  emit(runOf(exchange, envelope), "onQuotaExhaust", payload)
}

const unknownLimit: LimitFacts = { unit: "requests", window: null, resetsAtMs: null }

/** Emits the event of an error about limits. */
const refusedByLimit = (
  hooks: Emitting,
  exchange: Exchange,
  error: InferenceError,
  envelope?: Work["envelope"]
): void => {
  switch (error._tag) {
    case "LimitReached":
      return limitReached(hooks, exchange, error.limit ?? unknownLimit, error.retryAfterMs, envelope)
    case "TargetsUnavailable":
      if (error.isKeyLimit) limitReached(hooks, exchange, error.limit ?? unknownLimit, error.retryAfterMs, envelope)
      return
    case "QuotaShareUsed": {
      if (!hooks.listens.onQuotaExhaust) return
      const payload: RequestPayload<"onQuotaExhaust"> = {
        provider: null,
        connectionId: null,
        model: error.model,
        apiKeyId: apiKeyIdOf(exchange),
        reason: "quota_share",
        resetAt: isoOf(exchange.receivedMs + error.retryAfterMs)
      }
      return hooks.emit(runOf(exchange, envelope), "onQuotaExhaust", payload)
    }
    default:
  }
}

const attemptsOf = (attempts: ReadonlyArray<AttemptRecord>) =>
  attempts.map(({ model, provider, reason, status }) => ({ provider, model, status, reason }))

/** `onError`, for what has no error of its own. */
export const endedAsError = (
  { emit, listens }: Emitting,
  exchange: Exchange,
  facts: { readonly status: number; readonly code: string; readonly message: string },
  attempts: ReadonlyArray<AttemptRecord> = [],
  envelope?: Work["envelope"]
): void => {
  if (!listens.onError || !isCallersOwn(exchange)) return
  const { code, message, status } = facts
  const payload: RequestPayload<"onError"> = { status, code, message, attempts: attemptsOf(attempts) }
  emit(runOf(exchange, envelope), "onError", payload)
}

/**
 * Emits the events of a request that ends as an error: `onError`, and that of its limits. Plugins get none for a caller
 * whose key is not known.
 */
export const refused = (
  hooks: Emitting,
  exchange: Exchange,
  error: InferenceError,
  attempts: ReadonlyArray<AttemptRecord> = [],
  envelope?: Work["envelope"]
): void => {
  if (!isCallersOwn(exchange) || error._tag === "Unauthenticated" || error._tag === "SessionRefused") return
  refusedByLimit(hooks, exchange, error, envelope)
  endedAsError(hooks, exchange, describe(error), attempts, envelope)
}

export interface FailedAttempt {
  readonly work: Work
  readonly target: Target
  readonly failure: Failure
  readonly willRetry: boolean
  readonly circuitState: BreakerPhase
}

/** A call was not made, or is not to blame. */
const isNoError = ({ kind }: Failure): boolean => kind === "gateway_refusal" || kind === "cancelled"

/** `onProviderError`, also of requests of the gateway's own. */
export const attemptFailed = (
  { emit }: Emitting,
  { circuitState, failure, target, willRetry, work }: FailedAttempt
): void => {
  if (isNoError(failure)) return
  const payload: RequestPayload<"onProviderError"> = {
    ...namesOf(target),
    status: failure.answered ? failure.status : null,
    reason: failure.reason,
    attempt: Math.max(1, work.trail.attempts.length),
    willRetry,
    circuitState
  }
  emit(runOf(work.exchange, work.envelope), "onProviderError", payload, bodyOf(work), target.account.spec.id)
}

/** An upstream has said that a limit or a quota is used up: `onRateLimit` or `onQuotaExhaust`, also of requests of the gateway's own. */
export const upstreamLimited = ({ emit, listens }: Emitting, work: Work, target: Target, failure: Failure): void => {
  const { connectionId, model, provider } = namesOf(target)
  const isUsedUp = failure.kind === "quota_exhausted" || failure.kind === "credits_exhausted"
  if (isUsedUp && listens.onQuotaExhaust) {
    const payload: RequestPayload<"onQuotaExhaust"> = {
      provider,
      connectionId,
      model,
      apiKeyId: apiKeyIdOf(work.exchange),
      reason: failure.clientError?.kind === "insufficient_quota" ? "credits_exhausted" : failure.kind,
      resetAt: isoOf(failure.untilMs)
    }
    emit(runOf(work.exchange, work.envelope), "onQuotaExhaust", payload, undefined, provider)
  }
  if (!listens.onRateLimit || !failure.answered || (failure.kind !== "rate_limit" && failure.status !== 429)) return
  const payload: RequestPayload<"onRateLimit"> = {
    scope: failure.scope === "model" ? "model" : "connection",
    apiKeyId: null,
    provider,
    connectionId,
    window: null,
    retryAfterMs: failure.hintMs
  }
  emit(runOf(work.exchange, work.envelope), "onRateLimit", payload, undefined, provider)
}

/** `onStreamStart`, once per request. */
export const streamStarted = ({ emit }: Emitting, work: Work, target: Target, nowMonotonicMs: number): void => {
  const { envelope, exchange } = work
  const run = exchange.hooks
  if (run === undefined || run.hasStarted || !envelope.stream) return
  run.hasStarted = true
  run.provider = target.account.spec.id
  const payload: RequestPayload<"onStreamStart"> = {
    ...namesOf(target),
    ttftMs: Math.max(0, Math.round(nowMonotonicMs - exchange.startedMs))
  }
  emit(run, "onStreamStart", payload, bodyOf(work))
}

/** `onStreamEnd`, of what has started. */
export const streamEnded = (
  { emit, listens }: Emitting,
  { exchange }: Work,
  outcome: Outcome,
  bill: { readonly tokens: TokenCounts; readonly costNanoUsd: number; readonly latencyMs: number }
): void => {
  const run = exchange.hooks
  if (!listens.onStreamEnd || run === undefined || !run.hasStarted) return
  const payload: RequestPayload<"onStreamEnd"> = {
    outcome,
    tokens: tokensOf(bill.tokens),
    costUsd: usdOf(bill.costNanoUsd),
    latencyMs: bill.latencyMs
  }
  emit(run, "onStreamEnd", payload)
}
