/**
 * Works on batches: each in a fiber of its own, from the state that its row and its spool have, so that a batch goes on where the process
 * ended. What is known of a line is on disk before anything else is done with it; a line that was in progress is asked again.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { claimed, Claims, type ClaimsShape, disowned, ownedHere } from "../../plane/state/Claims.ts"
import type { Batch, BatchEnd, BatchProblem } from "./entity.ts"
import { Events } from "../../observe/Events.ts"
import { Files } from "../files/service.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { Timers } from "../../platform/Timers.ts"
import { batchesFolder } from "../../store/DataFolder.ts"
import { reasonOf, StoreError } from "../../store/Errors.ts"
import { BatchRepo } from "./repo.ts"
import { expired, failedLine } from "./BatchLines.ts"
import * as Rules from "./rules.ts"
import { type Endpoint, endpoints } from "./Endpoints.ts"
import { countLines, eachLine, Unworkable } from "./InputLines.ts"
import { LineAsker } from "./LineAsker.ts"
import { LineGate } from "./LineGate.ts"
import * as LineSpool from "./LineSpool.ts"
import { type HandedBatch, ProviderBatches } from "./provider/ProviderBatches.ts"
import { writeResults } from "./ResultFiles.ts"

export class BatchRunner extends Context.Tag("gateway/subjects/batches/BatchRunner")<
  BatchRunner,
  {
    /** Stores a new batch and begins it. */
    readonly start: (batch: Batch) => Effect.Effect<void, StoreError>
    /** The batch as it is now, where it is worked on. */
    readonly now: (batch: Batch) => Batch
    /** Ends the lines in progress; null when it is too late for that. */
    readonly cancel: (batch: Batch) => Effect.Effect<Batch | null, StoreError>
  }
>() {}

interface Live {
  /** Batch as it is stored, or about to be. */
  batch: Batch
  spool: LineSpool.LineSpool | null
  /** Counts that a provider that works on the lines has reported last. */
  atProvider: LineSpool.Counts | null
  readonly cancelled: Deferred.Deferred<void>
}

interface Outcome {
  readonly ending: BatchEnd
  readonly problems: ReadonlyArray<BatchProblem>
}

const completed: Outcome = { ending: "completed", problems: [] }
const failedBy = (problem: BatchProblem): Outcome => ({ ending: "failed", problems: [problem] })

const storageFailed = (code: string, what: string, error: StoreError): Outcome =>
  failedBy({
    code,
    message: `${what} (${reasonOf(error.cause)}). The gateway's log has the details.`,
    line: null,
    param: null
  })

/** A provider gives a batch up later than the gateway does, because it got it later; what it has answered until then is wanted. */
const providerGraceMs = 3_600_000

const saveAgain = Schedule.spaced("5 seconds")

const services = Effect.all({
  config: AppConfig,
  asker: LineAsker,
  events: Events,
  files: Files,
  gate: LineGate,
  providers: ProviderBatches,
  repo: BatchRepo,
  timers: Timers
})
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly spools: LineSpool.LineSpools
  readonly claims: ClaimsShape
  readonly live: Map<string, Live>
  readonly fibers: FiberMap.FiberMap<string>
}

/** Name of the claim on a batch. */
const workOf = (id: string): string => `batch ${id}`

const rest = ({ timers }: Deps) => Effect.async<void>((resume) => timers.soon(() => resume(Effect.void)))

/** Tells what the batch is now. */
const announce = (deps: Deps, { batch }: Live): void => {
  const { completed, failed, id, status, total } = now(deps, batch)
  const [state, done] = [status, completed + failed]
  deps.events.publish({ type: "job.changed", atMs: deps.timers.nowMs(), kind: "batch", id, state, done, total })
}

/** Stores what the batch has become, whenever the database takes it: nothing goes on before. */
const save = (deps: Deps, known: Live, batch: Batch): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { repo } = deps
    known.batch = batch
    return repo.save(batch).pipe(
      Effect.tapError((error) => Effect.logError("A batch could not be stored; it is tried again", error)),
      Effect.retry(saveAgain),
      Effect.orDie,
      Effect.zipRight(Effect.sync(() => announce(deps, known)))
    )
  })

/** Begins all lines that are not done, so many at once as may be, and waits for them. */
const askLines = (deps: Deps, known: Live, spool: LineSpool.LineSpool, endpoint: Endpoint) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { batch } = known
      const asked = yield* FiberSet.make<void, StoreError>()
      const ended = yield* Effect.makeLatch(false)
      let open = 0
      const hasRoom: Effect.Effect<void> = Effect.suspend(() => {
        if (open < deps.gate.maxConcurrency()) return Effect.void
        return Effect.flatMap(Effect.zipRight(ended.close, ended.await), () => hasRoom)
      })
      const over = Effect.suspend(() => {
        open -= 1
        return ended.open
      })
      const begin = eachLine(deps.files, batch, rest(deps), (number, line) => {
        if (spool.has(number)) return Effect.void
        if (line._tag === "Broken") return spool.append(failedLine(batch.id, number, line.customId, line.problem))
        const { body, customId } = line
        // What was answered is recorded, also when the batch is cancelled at this moment.
        const done = Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(restore(deps.asker.ask(batch, endpoint, { number, customId, body })), spool.append).pipe(
            Effect.zipLeft(Effect.sync(() => announce(deps, known)))
          )
        )
        return Effect.flatMap(hasRoom, () => {
          open += 1
          return FiberSet.run(asked, Effect.ensuring(done, over))
        })
      })
      const all = Effect.zipRight(begin, FiberSet.awaitEmpty(asked))
      yield* Effect.raceFirst(all, FiberSet.join(asked))
    })
  )

const handed = (deps: Deps, known: Live, spool: LineSpool.LineSpool): HandedBatch => ({
  batch: () => known.batch,
  save: (change) => Effect.suspend(() => save(deps, known, change(known.batch))),
  spool,
  told: ({ completed, failed }) => {
    known.atProvider = { completed, failed }
    announce(deps, known)
  }
})

const work = Effect.fnUntraced(function* (deps: Deps, known: Live, spool: LineSpool.LineSpool) {
  if (known.batch.status === "validating") {
    const total = yield* countLines(deps.files, known.batch, rest(deps))
    // It may have been cancelled meanwhile.
    if (known.batch.status === "validating") {
      yield* save(deps, known, Rules.begun(known.batch, total, yield* Clock.currentTimeMillis))
    }
  }
  const endpoint = endpoints.get(known.batch.endpoint)
  if (endpoint === undefined) {
    const message = `This gateway does not serve ${known.batch.endpoint} any more.`
    return yield* Effect.fail(new Unworkable("invalid_endpoint", message, "endpoint"))
  }
  const ended = yield* deps.providers.run(handed(deps, known, spool), endpoint)
  if (ended !== null) return ended
  yield* askLines(deps, known, spool, endpoint)
  return completed
})

/** The lines that were not asked in time. */
const recordExpired = (deps: Deps, batch: Batch, spool: LineSpool.LineSpool) =>
  eachLine(deps.files, batch, rest(deps), (number, line) => {
    if (spool.has(number)) return Effect.void
    return spool.append(failedLine(batch.id, number, line.customId, line._tag === "Broken" ? line.problem : expired))
  })

/** Ends what a provider may have of it. */
const withdraw = (deps: Deps, known: Live, spool: LineSpool.LineSpool): Effect.Effect<void> =>
  Effect.suspend(() => {
    const endpoint = endpoints.get(known.batch.endpoint)
    return known.batch.provider === null || endpoint === undefined
      ? Effect.void
      : deps.providers.cancel(handed(deps, known, spool), endpoint)
  })

const outcomeOf = (deps: Deps, known: Live, spool: LineSpool.LineSpool): Effect.Effect<Outcome> =>
  Effect.gen(function* () {
    const { batch } = known
    const cancelledNow = Effect.as(withdraw(deps, known, spool), {
      ending: "cancelled",
      problems: []
    } satisfies Outcome)
    if (batch.status === "cancelling") return yield* cancelledNow
    const leftNow = Effect.map(Clock.currentTimeMillis, (nowMs) => {
      const graceMs = known.batch.provider === null ? 0 : providerGraceMs
      return batch.expiresAtMs + graceMs - nowMs
    })
    const leftMs = yield* leftNow
    // It may have been handed over meanwhile.
    const tooLate = Effect.repeat(
      Effect.tap(leftNow, (ms) => Effect.sleep(Math.max(0, ms))),
      {
        until: (ms) => ms <= 0
      }
    ).pipe(Effect.as("expired" as const))
    const cancelled = Effect.as(Deferred.await(known.cancelled), "cancelled" as const)
    const stopped = Effect.raceFirst(tooLate, cancelled)
    const end = leftMs <= 0 ? "expired" : yield* Effect.raceFirst(work(deps, known, spool), stopped)
    if (end === "cancelled") return yield* cancelledNow
    if (end !== "expired") return end
    yield* withdraw(deps, known, spool)
    yield* recordExpired(deps, batch, spool)
    return { ending: "expired", problems: [] } satisfies Outcome
  }).pipe(
    Effect.catchTags({
      Unworkable: ({ problem }) => Effect.succeed(failedBy(problem)),
      StoreError: (error) =>
        Effect.as(
          Effect.logError(`The batch ${known.batch.id} cannot go on`, error),
          storageFailed("storage_failed", "What became of the lines could not be read or written", error)
        )
    })
  )

const finalize = Effect.fnUntraced(function* (deps: Deps, known: Live, spool: LineSpool.LineSpool) {
  if (known.batch.ending === null) {
    const outcome = yield* outcomeOf(deps, known, spool)
    const nowMs = yield* Clock.currentTimeMillis
    const isCancelled = known.batch.status === "cancelling"
    const ids = { outputFileId: deps.files.newId(nowMs), errorFileId: deps.files.newId(nowMs) }
    const how: Outcome = isCancelled ? { ...outcome, ending: "cancelled" } : outcome
    // The files' ids are stored before the files are there: after a crash it is known whether they were written.
    yield* save(deps, known, Rules.finalizing(known.batch, how, ids, nowMs))
  }
  const ending = known.batch.ending ?? "completed"
  const write = (isCompleted: boolean) => writeResults(deps.files, known.batch, spool, isCompleted)
  const written = yield* Effect.either(Effect.zipRight(write(true), write(false)))
  const nowMs = yield* Clock.currentTimeMillis
  if (written._tag === "Right") return yield* save(deps, known, Rules.ended(known.batch, ending, spool.counts(), nowMs))
  const error =
    written.left._tag === "StoreError"
      ? written.left
      : new StoreError({ operation: "BatchRunner.finalize", cause: written.left })
  yield* Effect.logError(`The results of the batch ${known.batch.id} could not be written`, error)
  const { outputFileId, owner } = known.batch
  // One of two files is not what was promised.
  if (outputFileId !== null) yield* Effect.ignore(deps.files.remove(owner, outputFileId))
  const { problems } = storageFailed("output_not_written", "The files with the results could not be written", error)
  const failed = { ...known.batch, problems, outputFileId: null, errorFileId: null }
  yield* save(deps, known, Rules.ended(failed, "failed", spool.counts(), nowMs))
})

const conduct = (deps: Deps, known: Live): Effect.Effect<void> => {
  const { id } = known.batch
  return Effect.scoped(
    Effect.gen(function* () {
      const spool = yield* deps.spools.open(id)
      known.spool = spool
      yield* finalize(deps, known, spool)
    })
  ).pipe(
    Effect.catchAll((error) =>
      Effect.gen(function* () {
        yield* Effect.logError(`The batch ${id} cannot be worked on`, error)
        const { problems } = storageFailed("storage_failed", "What became of the lines cannot be kept", error)
        const failed = { ...known.batch, problems, outputFileId: null, errorFileId: null }
        yield* save(deps, known, Rules.ended(failed, "failed", known.batch, yield* Clock.currentTimeMillis))
      })
    ),
    Effect.zipRight(deps.spools.remove(id)),
    Effect.zipRight(disowned(deps.claims, workOf(id))),
    Effect.zipRight(Effect.sync(() => deps.live.delete(id))),
    // The end of the gateway is no end of the batch.
    Effect.tapDefect((cause) => Effect.logError(`The batch ${id} broke off and goes on at the next start`, cause))
  )
}

const run = Effect.fnUntraced(function* (deps: Deps, batch: Batch) {
  const known: Live = { batch, spool: null, atProvider: null, cancelled: yield* Deferred.make<void>() }
  deps.live.set(batch.id, known)
  yield* FiberMap.run(deps.fibers, batch.id, conduct(deps, known))
})

const start = Effect.fn("BatchRunner.start")(function* (deps: Deps, batch: Batch) {
  yield* ownedHere(deps.claims, workOf(batch.id))
  yield* deps.repo.insert(batch)
  yield* run(deps, batch)
  const known = deps.live.get(batch.id)
  if (known !== undefined) announce(deps, known)
}, Effect.uninterruptible)

const now = ({ live }: Deps, batch: Batch): Batch => {
  const known = live.get(batch.id)
  if (known === undefined) return batch
  const { atProvider, batch: now, spool } = known
  if (spool === null) return now
  const { completed, failed } = spool.counts()
  const there = now.provider === null || now.ending !== null ? null : atProvider
  return {
    ...now,
    completed: Math.max(completed, there?.completed ?? 0),
    failed: Math.max(failed, there?.failed ?? 0)
  }
}

const cancel = Effect.fn("BatchRunner.cancel")(function* (deps: Deps, { id }: Batch) {
  const known = deps.live.get(id)
  if (known === undefined || !Rules.mayCancel(known.batch)) return null
  const before = known.batch
  known.batch = Rules.cancelling(before, yield* Clock.currentTimeMillis)
  yield* Effect.tapError(deps.repo.save(known.batch), () => Effect.sync(() => void (known.batch = before)))
  announce(deps, known)
  yield* Deferred.succeed(known.cancelled, undefined)
  return now(deps, known.batch)
}, Effect.uninterruptible)

/** Goes on with the batches that are not over; of several gateways the one that has their lines. */
const takeUp = Effect.fnUntraced(function* (deps: Deps) {
  const { repo, spools } = deps
  const open = yield* repo.open
  const ids = new Set(open.map(({ id }) => id))
  // Of batches that were over when the process ended.
  yield* Effect.forEach(
    (yield* spools.ids).filter((id) => !ids.has(id)),
    spools.remove,
    { discard: true }
  )
  const own = yield* Effect.filter(open, ({ id }) => deps.claims.own(workOf(id)))
  yield* Effect.forEach(own, (batch) => run(deps, batch), { discard: true })
})

export const make = Effect.gen(function* () {
  const all = yield* services
  const spools = yield* LineSpool.make(batchesFolder(all.config.dataDir))
  const live = new Map<string, Live>()
  const fibers = yield* FiberMap.make<string>()

  const claims = yield* Claims
  const deps: Deps = { ...all, claims, spools, live, fibers }
  yield* claimed("batches", takeUp(deps))

  return BatchRunner.of({
    start: (batch) => start(deps, batch),
    now: (batch) => now(deps, batch),
    cancel: (batch) => cancel(deps, batch)
  })
})

export const layer: Layer.Layer<
  BatchRunner,
  StoreError,
  AppConfig | BatchRepo | Events | Files | LineAsker | LineGate | ProviderBatches | Timers
> = Layer.scoped(BatchRunner, make)
