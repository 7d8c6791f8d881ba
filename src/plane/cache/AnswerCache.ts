/**
 * Stored answers: in memory, and behind that in the store, where they are written in the background. A store that fails costs a hit, never
 * a request.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import type { ContentPermission } from "../../domain/ContentPermission.ts"
import type { CachedAnswer, Meaning } from "../../subjects/cache/entity.ts"
import type { CacheSettings } from "../../subjects/settings/entity/CacheSettings.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import * as Timers from "../../platform/Timers.ts"
import type { StoreError } from "../../store/Errors.ts"
import { AnswerCacheRepo, type CacheSize } from "../../subjects/cache/repo.ts"
import { makeMeaningIndex, type Near } from "./semantic/MeaningIndex.ts"

export interface CacheCounts {
  readonly memorySize: number
  readonly memoryMaxSize: number
  readonly dbSize: number
  /** Number since the start. */
  readonly hits: number
  readonly misses: number
  /** Number of the hits that were found by meaning. */
  readonly semanticHits: number
}

export class AnswerCache extends Context.Tag("gateway/plane/cache/AnswerCache")<
  AnswerCache,
  {
    /** Null when there is none; a store that fails has none. */
    readonly find: (key: string) => Effect.Effect<CachedAnswer | null>
    /** The kept question that means the same; null when there is none. The answer may be gone: then the index forgets it. */
    readonly nearest: (
      meaning: Meaning,
      threshold: number
    ) => Effect.Effect<{ readonly near: Near; readonly answer: CachedAnswer } | null>
    /** Hot: keeps the answer, and stores it in the background. What was kept under the key is replaced. `meaning`: of its question. */
    readonly keep: (
      permission: ContentPermission,
      key: string,
      owner: string,
      answer: CachedAnswer,
      meaning: Meaning | null
    ) => void
    /** Hot: counts what became of a request that the cache was asked for. */
    readonly count: (outcome: "hit" | "semantic-hit" | "miss") => void
    readonly counts: Effect.Effect<CacheCounts>
    /** Removes all answers; how many. */
    readonly clear: Effect.Effect<number>
    /** Completes when all that was kept so far is stored. */
    readonly stored: Effect.Effect<void>
  }
>() {}

/** Most entries in memory; the settings bound the store. */
const maxMemoryEntries = 500
const maxMemoryBytes = 16 * 1_048_576
/** Answers on their way to the store; beyond it they are kept in memory only. */
const maxPending = 200
/** Number of writes between two removals of expired entries. */
const trimEvery = 20
/** The part of the bounds that is made free when the store is full; with less than so many entries none. */
const sparePart = 1 / 20
const mostSpareEntries = 20

/** Computes the space that is freed at once, so that not each answer to a full store has to. */
const spareOf = ({ maxBytes, maxEntries }: Pick<CacheSettings, "maxBytes" | "maxEntries">): CacheSize => ({
  entries: Math.min(mostSpareEntries, Math.floor(maxEntries * sparePart)),
  bytes: Math.floor(maxBytes * sparePart)
})

interface Memory {
  readonly maxEntries: number
  readonly maxBytes: number
  readonly answers: LruMap<string, CachedAnswer>
}

const memoryOf = (maxEntries: number, maxBytes: number): Memory => ({
  maxEntries,
  maxBytes,
  answers: new LruMap({ capacity: maxEntries, maxWeight: maxBytes, weightOf: ({ body }) => body.length })
})

export const make = Effect.gen(function* () {
  const repo = yield* AnswerCacheRepo
  const settings = yield* GatewaySettings
  const { nowMs, soon } = yield* Timers.Timers
  const writing = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(writing)<never>()
  let kept = memoryOf(0, 0)
  const oneAtATime = (yield* Effect.makeSemaphore(1)).withPermits(1)
  let writes = 0
  /**
   * Upper bound of the store's size: entries removed for another reason than its bounds are not subtracted. Null: not
   * measured yet.
   */
  let stock: CacheSize | null = null
  /** The bounds that the store was last brought to. */
  let held = { maxEntries: 0, maxBytes: 0 }
  /**
   * Number of clearings: an entry stored or read before the latest of them is dropped, also where its write or its read
   * is still in progress.
   */
  let clears = 0
  let hits = 0
  let misses = 0
  let semanticHits = 0

  const meanings = makeMeaningIndex({
    nowMs,
    page: (bucket, offset, limit) =>
      Effect.catchAll(repo.meanings({ bucket, nowMs: nowMs(), offset, limit }), (error) =>
        Effect.as(Effect.logWarning("Questions could not be read from the cache", error), [])
      ),
    pause: Effect.async((resume) => soon(() => resume(Effect.void)))
  })

  const logged = Effect.catchAll((error: StoreError) =>
    Effect.logWarning("An answer could not be stored in the cache", error)
  )

  const isHeld = (): boolean => {
    const { maxBytes, maxEntries } = settings.current().cache
    return held.maxBytes === maxBytes && held.maxEntries === maxEntries
  }

  /** Brings the store to bounds that are new: after the start, and when the settings change. */
  const hold: Effect.Effect<void> = oneAtATime(
    Effect.suspend(() => {
      if (isHeld()) return Effect.void
      const { maxBytes, maxEntries } = settings.current().cache
      held = { maxBytes, maxEntries }
      return Effect.map(repo.trim({ maxBytes, maxEntries, nowMs: nowMs() }), (size) => {
        stock = size
      })
    })
  ).pipe(logged)

  const memory = (): LruMap<string, CachedAnswer> => {
    const { maxBytes, maxEntries } = settings.current().cache
    if (!isHeld()) run(hold)
    const entries = Math.min(maxEntries, maxMemoryEntries)
    const bytes = Math.min(maxBytes, maxMemoryBytes)
    if (kept.maxEntries !== entries || kept.maxBytes !== bytes) kept = memoryOf(entries, bytes)
    return kept.answers
  }

  /** A clock that was set back makes an answer of the future: it is no answer any more. */
  const isFresh = ({ createdAtMs, expiresAtMs }: CachedAnswer): boolean => {
    const now = nowMs()
    return createdAtMs <= now && now < expiresAtMs
  }

  const load = (key: string, before: number): Effect.Effect<CachedAnswer | null> =>
    repo.get(key, nowMs()).pipe(
      Effect.map((answer) => {
        if (answer === null || before !== clears) return null
        memory().set(key, answer)
        return answer
      }),
      Effect.catchAll((error) =>
        Effect.as(Effect.logWarning("The cache could not be read; the request goes on without it", error), null)
      )
    )

  const find = (key: string): Effect.Effect<CachedAnswer | null> =>
    Effect.suspend(() => {
      const answer = memory().get(key)
      if (answer === undefined) return load(key, clears)
      if (isFresh(answer)) return Effect.succeed(answer)
      memory().delete(key)
      return Effect.succeed(null)
    })

  const nearest: typeof AnswerCache.Service.nearest = Effect.fn("AnswerCache.nearest")(function* (meaning, threshold) {
    const near = yield* meanings.nearest(meaning, threshold)
    if (near === null) return null
    const answer = yield* find(near.key)
    if (answer === null) meanings.remove(meaning.bucket, near.key)
    return answer === null ? null : { near, answer }
  })

  /**
   * Frees space before each write, so that the store is never beyond its bounds, and counts the bytes to be written.
   */
  const makeRoom = (bytes: number): Effect.Effect<void, StoreError> =>
    Effect.suspend(() => {
      const { maxBytes, maxEntries } = settings.current().cache
      const most = { maxEntries: maxEntries - 1, maxBytes: maxBytes - bytes }
      writes += 1
      const isFull = stock === null || stock.entries > most.maxEntries || stock.bytes > most.maxBytes
      const left =
        isFull || writes % trimEvery === 0
          ? repo.trim({ ...most, nowMs: nowMs(), spare: spareOf({ maxBytes, maxEntries }) })
          : Effect.succeed(stock)
      return Effect.map(left, (size) => {
        stock = { entries: (size?.entries ?? 0) + 1, bytes: (size?.bytes ?? 0) + bytes }
      })
    })

  const store = (
    permission: ContentPermission,
    key: string,
    owner: string,
    answer: CachedAnswer,
    meaning: Meaning | null,
    before: number
  ): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (before !== clears) return Effect.void
      // A write that waited for its turn while the cache was cleared comes too late.
      const undone = Effect.suspend(() => (before === clears ? Effect.void : repo.remove(key)))
      return Effect.zipRight(makeRoom(answer.body.length), repo.put(permission, key, owner, answer, meaning)).pipe(
        Effect.zipRight(undone)
      )
    }).pipe(oneAtATime, logged)

  const keep: typeof AnswerCache.Service.keep = (permission, key, owner, answer, meaning) => {
    if (answer.body.length > settings.current().cache.maxBytes) return
    const answers = memory()
    // One that is larger than the memory would empty it.
    if (answer.body.length <= kept.maxBytes) answers.set(key, answer)
    else answers.delete(key)
    const { createdAtMs, expiresAtMs } = answer
    if (meaning !== null) meanings.add(meaning, { key, createdAtMs, expiresAtMs })
    const before = clears
    run(
      Effect.flatMap(FiberSet.size(writing), (open) =>
        open > maxPending ? Effect.void : store(permission, key, owner, answer, meaning, before)
      )
    )
  }

  const dbSize = Effect.catchAll(repo.count, () => Effect.succeed(0))

  const clear = Effect.suspend(() => {
    const inMemory = memory().size
    clears += 1
    memory().clear()
    meanings.clear()
    return repo.clear.pipe(
      Effect.map((stored) => Math.max(stored, inMemory)),
      Effect.catchAll((error) => Effect.as(Effect.logWarning("The cache could not be cleared", error), inMemory))
    )
  })

  return AnswerCache.of({
    find,
    nearest,
    keep,
    count: (outcome) => {
      if (outcome === "miss") misses += 1
      else hits += 1
      if (outcome === "semantic-hit") semanticHits += 1
    },
    counts: Effect.map(Effect.zipRight(hold, dbSize), (size) => {
      const answers = memory()
      return { memorySize: answers.size, memoryMaxSize: kept.maxEntries, dbSize: size, hits, misses, semanticHits }
    }),
    clear,
    stored: FiberSet.awaitEmpty(writing)
  })
})

export const layer: Layer.Layer<AnswerCache, never, AnswerCacheRepo | GatewaySettings | Timers.Timers> = Layer.scoped(
  AnswerCache,
  make
)
