/**
 * Runs of evaluations: each in a fiber of its own that ends with the gateway. What became of a case is stored when it is known, so that a run
 * that breaks off keeps what it has; a run that was running when the process ended is failed at the next start.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import { type Lane, makeLane } from "../../kernel/Lane.ts"
import { ApiKeys } from "../auth/ApiKeys.ts"
import { innerRefusalOf } from "../auth/KeyPolicy.ts"
import { keylessPrincipal } from "../auth/KnownCallers.ts"
import { mayKeepContent, onFile } from "../../contract/domain/ContentPermission.ts"
import type { Principal } from "../keys/entity.ts"
import type { EvalCase, EvalResult, EvalRun } from "./entity.ts"
import { Events } from "../../observe/Events.ts"
import { InnerRequests } from "../../plane/InnerRequests.ts"
import { StopSignal } from "../../plane/request/StopSignal.ts"
import { isOutOfTurn, turnOf } from "../../plane/jobs/OrderedTurns.ts"
import { KeyLimits } from "../../plane/ledger/KeyLimits.ts"
import { EvalScores } from "../../plane/routing/stats/EvalScores.ts"
import { Claims, type ClaimsShape, disowned, ownedHere } from "../../plane/state/Claims.ts"
import type { StoreError } from "../../store/Errors.ts"
import { EvalRepo } from "./repo.ts"
import { UsageRepo } from "../usage/repo.ts"
import { UsageJournal } from "../../store/usage/UsageJournal.ts"
import { bodyOf, readAnswer } from "./Questions.ts"

export interface PlannedCase {
  readonly case: EvalCase
  /** Null: the answer passes; else why not. */
  readonly grade: (answer: string) => string | null
}

/** A run to begin with, and its cases in their order. */
export interface PlannedRun {
  readonly run: EvalRun
  readonly cases: ReadonlyArray<PlannedCase>
}

export class EvalRunner extends Context.Tag("gateway/subjects/evals/EvalRunner")<
  EvalRunner,
  {
    /** Stores the runs and begins them; false when too many run already. */
    readonly start: (runs: ReadonlyArray<PlannedRun>) => Effect.Effect<boolean, StoreError>
    /** Ends a run as cancelled, and the calls that it has in progress; false when it does not run. */
    readonly cancel: (id: string) => Effect.Effect<boolean>
  }
>() {}

/** Runs at once. */
export const maxRunning = 8
/** Questions at once, of all runs. */
export const maxAsking = 4
/** Runs that are kept, and for how long. */
export const mostKept = 200
export const keptMs = 90 * 86_400_000
/** Characters of an answer that are judged: far more than it may have tokens. */
const maxJudgedChars = 100_000
/** Characters of an answer that are kept. */
export const maxOutputChars = 8_000
const maxReasonChars = 500

const stopped = "The gateway was stopped while the run was under way. Start the run again."
const cancelled = "It was cancelled."

/** Reason for which a run cannot go on. */
class CannotGoOn extends Data.TaggedError("CannotGoOn")<{ readonly reason: string }> {}

const clip = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text)

/** Nothing of an answer, neither of the upstream's own words. */
const withoutContent = (result: EvalResult, status: number): EvalResult => ({
  ...result,
  output: null,
  reason: result.answered || result.reason === null ? result.reason : `The request failed with the status ${status}.`
})

const services = Effect.all({
  events: Events,
  inner: InnerRequests,
  keys: ApiKeys,
  limits: KeyLimits,
  journal: UsageJournal,
  repo: EvalRepo,
  scores: EvalScores,
  stop: StopSignal,
  usage: UsageRepo
})
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly claims: ClaimsShape
  readonly asking: Lane
  readonly cancelling: Set<string>
  readonly running: FiberMap.FiberMap<string>
  readonly starting: Lane
}

/** Judged for every question: a key may be revoked while a run is in progress. */
const principalOf = (
  { keys }: Deps,
  { apiKeyId, caller }: EvalRun,
  nowMs: number
): Effect.Effect<Principal, CannotGoOn> => {
  if (apiKeyId === null) return Effect.succeed(keylessPrincipal(caller))
  const key = keys.get(apiKeyId)
  if (key === null) return new CannotGoOn({ reason: "The API key of the run was removed." })
  const problem = innerRefusalOf(key, nowMs, "chat")
  return problem === null ? Effect.succeed({ _tag: "Key", key }) : new CannotGoOn({ reason: problem })
}

/** Null: the turn of the run's key has not come. */
const ask = Effect.fnUntraced(function* (
  deps: Deps,
  run: EvalRun,
  position: number,
  { case: asked, grade }: PlannedCase
) {
  if (deps.stop.isStopping()) return yield* new CannotGoOn({ reason: stopped })
  const principal = yield* principalOf(deps, run, yield* Clock.currentTimeMillis)
  // Other questions of the key may have come first.
  if (principal._tag === "Key" && deps.limits.pauseMs(principal.key) > 0) return null
  const answer = yield* deps.inner.ask({
    behalf: { principal, madeFor: "order", category: "chat" },
    path: "/evals",
    body: bodyOf(run.target.id, asked.input.messages)
  })
  if (isOutOfTurn(answer.error)) return null
  // What the end of the gateway has cut off says nothing of the model.
  if (deps.stop.isStopping() && answer.status !== 200) return yield* new CannotGoOn({ reason: stopped })
  const read = readAnswer(answer.status, answer.body)
  const answered = read._tag === "Answered"
  const reason = answered ? grade(read.text.slice(0, maxJudgedChars)) : read.reason
  yield* deps.journal.catchUp
  const row = yield* deps.usage.get(answer.requestId)
  const result: EvalResult = {
    position,
    caseId: asked.id,
    name: asked.name,
    passed: reason === null,
    answered,
    latencyMs: Math.round(answer.latencyMs),
    output: answered ? clip(read.text, maxOutputChars) : null,
    reason: reason === null ? null : clip(reason, maxReasonChars),
    requestId: answer.requestId,
    provider: row?.provider ?? null,
    model: row?.model ?? null,
    costNanoUsd: row?.costNanoUsd ?? 0
  }
  const kept = onFile(mayKeepContent(principal), result, (whole) => withoutContent(whole, answer.status))
  yield* deps.repo.addResult(run.id, kept)
  return kept.row
})

/**
 * Asks a question when the key's rates allow it: a refusal by a rate does not count against the model, and the
 * question waits, and its place with it.
 */
const askInTurn = Effect.fnUntraced(function* (deps: Deps, run: EvalRun, position: number, planned: PlannedCase) {
  const { apiKeyId } = run
  const turn = turnOf(deps.limits, () => (apiKeyId === null ? null : deps.keys.get(apiKeyId)))
  for (;;) {
    yield* turn
    const result = yield* deps.asking.inTurn(ask(deps, run, position, planned))
    if (result !== null) return result
  }
})

/** Returns the reason for which a run without a single answer failed; null for a run that has one. */
const unanswered = (results: ReadonlyArray<EvalResult>): string | null =>
  results.some(({ answered }) => answered) ? null : `No question was answered. ${results.at(-1)?.reason ?? ""}`.trim()

/** Tells how far a run is. */
const announce = ({ events }: Deps, { run }: PlannedRun, state: string, done: number, total: number) =>
  Effect.map(Clock.currentTimeMillis, (atMs) =>
    events.publish({ type: "job.changed", atMs, kind: "evaluation", id: run.id, state, done, total })
  )

/** Name of the claim on a run. */
const workOf = (id: string): string => `evaluation ${id}`

const finish = (
  { claims, repo, scores }: Deps,
  id: string,
  status: "completed" | "failed" | "cancelled",
  reason: string | null
) =>
  Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    yield* repo.finish(id, status, reason, nowMs)
    yield* disowned(claims, workOf(id))
    yield* repo.prune(mostKept, nowMs - keptMs)
    yield* scores.refresh
  }).pipe(Effect.catchAll((error) => Effect.logError("The end of an evaluation could not be stored", error)))

const conduct = (deps: Deps, planned: PlannedRun) => {
  const { cases, run } = planned
  let done = 0
  const tell = (state: string) => announce(deps, planned, state, done, cases.length)
  const over = (status: "completed" | "failed" | "cancelled", reason: string | null) =>
    Effect.zipRight(finish(deps, run.id, status, reason), tell(status))
  const asked = Effect.forEach(
    cases,
    (each, position) =>
      Effect.tap(askInTurn(deps, run, position, each), () => {
        done += 1
        return tell("running")
      }),
    { concurrency: maxAsking }
  )
  return Effect.zipRight(tell("running"), asked).pipe(
    Effect.map(unanswered),
    Effect.catchTags({
      CannotGoOn: ({ reason }) => Effect.succeed(reason),
      StoreError: (error) =>
        Effect.as(Effect.logError("An evaluation could not be stored", error), "The database could not be used.")
    }),
    Effect.onExit((exit) => {
      if (Exit.isSuccess(exit)) {
        return exit.value === null ? over("completed", null) : over("failed", exit.value)
      }
      if (deps.cancelling.has(run.id)) return over("cancelled", cancelled)
      const reason = Exit.isInterrupted(exit)
        ? stopped
        : "It broke off by an error of the gateway; its log has the details."
      return over("failed", reason)
    }),
    Effect.tapErrorCause((cause) => Effect.logError("An evaluation broke off", cause))
  )
}

const start = Effect.fn("EvalRunner.start")(
  function* (deps: Deps, runs: ReadonlyArray<PlannedRun>) {
    if ((yield* FiberMap.size(deps.running)) + runs.length > maxRunning) return false
    yield* Effect.forEach(runs, ({ run }) => ownedHere(deps.claims, workOf(run.id)), { discard: true })
    yield* deps.repo.addRuns(runs.map(({ run }) => run))
    yield* Effect.forEach(runs, (each) => FiberMap.run(deps.running, each.run.id, conduct(deps, each)), {
      discard: true
    })
    return true
    // A caller that is interrupted between the two steps would leave a stored run whose questions are never asked.
  },
  Effect.uninterruptible,
  (effect, { starting }) => starting.inTurn(effect)
)

const cancel = Effect.fn("EvalRunner.cancel")(function* ({ cancelling, running }: Deps, id: string) {
  if (!(yield* FiberMap.has(running, id))) return false
  cancelling.add(id)
  // It waits for the end of the fiber.
  yield* Effect.ensuring(
    FiberMap.remove(running, id),
    Effect.sync(() => cancelling.delete(id))
  )
  return true
})

export const make = Effect.gen(function* () {
  const all = yield* services
  const asking = makeLane(maxAsking)
  const starting = makeLane(1)
  const running = yield* FiberMap.make<string>()
  const cancelling = new Set<string>()

  const claims = yield* Claims
  // A worker has none: those that run are the owner's.
  const found = claims.holds("evaluations") ? yield* all.repo.running : []
  const ended = yield* Effect.filter(found, (id) => claims.own(workOf(id)))
  yield* all.repo.failRunning(ended, stopped, yield* Clock.currentTimeMillis)
  yield* Effect.forEach(ended, (id) => disowned(claims, workOf(id)), { discard: true })
  const deps: Deps = { ...all, claims, asking, cancelling, running, starting }

  return EvalRunner.of({ start: (runs) => start(deps, runs), cancel: (id) => cancel(deps, id) })
})

export const layer: Layer.Layer<
  EvalRunner,
  StoreError,
  ApiKeys | EvalRepo | Events | EvalScores | InnerRequests | KeyLimits | StopSignal | UsageJournal | UsageRepo
> = Layer.scoped(EvalRunner, make)
