/**
 * Stored answers: in memory, and behind that in the store, where they are written in the background. A store that fails costs a hit, never
 * a request.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import { makeLane } from "../../kernel/Lane.ts"
import type { ContentPermission } from "../../contract/domain/ContentPermission.ts"
import type { CachedAnswer, Meaning } from "../../subjects/cache/entity.ts"
import type { CacheSettings } from "../../subjects/settings/entity/CacheSettings.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import * as Timers from "../../platform/Timers.ts"
import type { StoreError } from "../../store/Errors.ts"
import { AnswerCacheRepo, type CacheSize } from "../../subjects/cache/repo.ts"
import { makeMeaningIndex, type MeaningIndex, type Near } from "./semantic/MeaningIndex.ts"

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

const services = Effect.all({ repo: AnswerCacheRepo, settings: GatewaySettings, timers: Timers.Timers })
type Services = Effect.Effect.Success<typeof services>

interface Deps extends Services {
  /** The bounds that the store was last brought to. */
  appliedBounds: { maxEntries: number; maxBytes: number }
  readonly run: (background: Effect.Effect<void>) => unknown
  kept: Memory
  /**
   * Number of clearings: an entry stored or read before the latest of them is dropped, also where its write or its read
   * is still in progress.
   */
  clears: number
  readonly meanings: MeaningIndex
  writes: number
  /**
   * Upper bound of the store's size: entries removed for another reason than its bounds are not subtracted. Null: not
   * measured yet.
   */
  stock: CacheSize | null
  readonly oneAtATime: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly writing: FiberSet.FiberSet<void>
  /** Number since the start. */
  hits: number
  misses: number
  semanticHits: number
}

const logged = Effect.catchAll((error: StoreError) =>
  Effect.logWarning("An answer could not be stored in the cache", error)
)

const isApplied = (deps: Deps): boolean => {
  const { maxBytes, maxEntries } = deps.settings.current().cache
  return deps.appliedBounds.maxBytes === maxBytes && deps.appliedBounds.maxEntries === maxEntries
}

/** Brings the store to bounds that are new: after the start, and when the settings change. */
const hold = (deps: Deps): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (isApplied(deps)) return Effect.void
    const { maxBytes, maxEntries } = deps.settings.current().cache
    deps.appliedBounds = { maxBytes, maxEntries }
    return Effect.map(deps.repo.trim({ maxBytes, maxEntries, nowMs: deps.timers.nowMs() }), (size) => {
      deps.stock = size
    })
  }).pipe(deps.oneAtATime, logged)

const memory = (deps: Deps): LruMap<string, CachedAnswer> => {
  const { run, settings } = deps
  const { maxBytes, maxEntries } = settings.current().cache
  if (!isApplied(deps)) run(hold(deps))
  const entries = Math.min(maxEntries, maxMemoryEntries)
  const bytes = Math.min(maxBytes, maxMemoryBytes)
  if (deps.kept.maxEntries !== entries || deps.kept.maxBytes !== bytes) deps.kept = memoryOf(entries, bytes)
  return deps.kept.answers
}

/** A clock that was set back makes an answer of the future: it is no answer any more. */
const isFresh = ({ timers }: Deps, { createdAtMs, expiresAtMs }: CachedAnswer): boolean => {
  const now = timers.nowMs()
  return createdAtMs <= now && now < expiresAtMs
}

const load = (deps: Deps, key: string, before: number): Effect.Effect<CachedAnswer | null> =>
  deps.repo.get(key, deps.timers.nowMs()).pipe(
    Effect.map((answer) => {
      if (answer === null || before !== deps.clears) return null
      memory(deps).set(key, answer)
      return answer
    }),
    Effect.catchAll((error) =>
      Effect.as(Effect.logWarning("The cache could not be read; the request goes on without it", error), null)
    )
  )

const find = (deps: Deps, key: string): Effect.Effect<CachedAnswer | null> =>
  Effect.suspend(() => {
    const answer = memory(deps).get(key)
    if (answer === undefined) return load(deps, key, deps.clears)
    if (isFresh(deps, answer)) return Effect.succeed(answer)
    memory(deps).delete(key)
    return Effect.succeed(null)
  })

const nearest = Effect.fn("AnswerCache.nearest")(function* (deps: Deps, meaning: Meaning, threshold: number) {
  const { meanings } = deps
  const near = yield* meanings.nearest(meaning, threshold)
  if (near === null) return null
  const answer = yield* find(deps, near.key)
  if (answer === null) meanings.remove(meaning.bucket, near.key)
  return answer === null ? null : { near, answer }
})

/**
 * Frees space before each write, so that the store is never beyond its bounds, and counts the bytes to be written.
 */
const makeRoom = (deps: Deps, bytes: number): Effect.Effect<void, StoreError> =>
  Effect.suspend(() => {
    const { maxBytes, maxEntries } = deps.settings.current().cache
    const most = { maxEntries: maxEntries - 1, maxBytes: maxBytes - bytes }
    deps.writes += 1
    const isFull = deps.stock === null || deps.stock.entries > most.maxEntries || deps.stock.bytes > most.maxBytes
    const left =
      isFull || deps.writes % trimEvery === 0
        ? deps.repo.trim({ ...most, nowMs: deps.timers.nowMs(), spare: spareOf({ maxBytes, maxEntries }) })
        : Effect.succeed(deps.stock)
    return Effect.map(left, (size) => {
      deps.stock = { entries: (size?.entries ?? 0) + 1, bytes: (size?.bytes ?? 0) + bytes }
    })
  })

/** An answer that is kept, with the question it answers. */
interface Entry {
  readonly permission: ContentPermission
  readonly key: string
  readonly owner: string
  readonly answer: CachedAnswer
  readonly meaning: Meaning | null
}

const store = (deps: Deps, { answer, key, meaning, owner, permission }: Entry, before: number): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (before !== deps.clears) return Effect.void
    // A write that waited for its turn while the cache was cleared comes too late.
    const undone = Effect.suspend(() => (before === deps.clears ? Effect.void : deps.repo.remove(key)))
    return Effect.zipRight(
      makeRoom(deps, answer.body.length),
      deps.repo.put(permission, key, owner, answer, meaning)
    ).pipe(Effect.zipRight(undone))
  }).pipe(deps.oneAtATime, logged)

const keep = (deps: Deps, entry: Entry): void => {
  const { answer, key, meaning } = entry
  const { meanings, run, settings, writing } = deps
  if (answer.body.length > settings.current().cache.maxBytes) return
  const answers = memory(deps)
  // One that is larger than the memory would empty it.
  if (answer.body.length <= deps.kept.maxBytes) answers.set(key, answer)
  else answers.delete(key)
  const { createdAtMs, expiresAtMs } = answer
  if (meaning !== null) meanings.add(meaning, { key, createdAtMs, expiresAtMs })
  const before = deps.clears
  run(Effect.flatMap(FiberSet.size(writing), (open) => (open > maxPending ? Effect.void : store(deps, entry, before))))
}

/** Removes all answers; how many. */
const clear = (deps: Deps): Effect.Effect<number> =>
  Effect.suspend(() => {
    const inMemory = memory(deps).size
    deps.clears += 1
    memory(deps).clear()
    deps.meanings.clear()
    return deps.repo.clear.pipe(
      Effect.map((stored) => Math.max(stored, inMemory)),
      Effect.catchAll((error) => Effect.as(Effect.logWarning("The cache could not be cleared", error), inMemory))
    )
  })

const count = (deps: Deps, outcome: "hit" | "semantic-hit" | "miss"): void => {
  if (outcome === "miss") deps.misses += 1
  else deps.hits += 1
  if (outcome === "semantic-hit") deps.semanticHits += 1
}

const counts = (deps: Deps): Effect.Effect<CacheCounts> => {
  const dbSize = Effect.catchAll(deps.repo.count, () => Effect.succeed(0))
  return Effect.map(Effect.zipRight(hold(deps), dbSize), (size) => {
    const { hits, misses, semanticHits } = deps
    const answers = memory(deps)
    return { memorySize: answers.size, memoryMaxSize: deps.kept.maxEntries, dbSize: size, hits, misses, semanticHits }
  })
}

/** The index of the questions in the store, which is read page by page. */
const storedMeanings = ({ repo, timers: { nowMs, soon } }: Services): MeaningIndex =>
  makeMeaningIndex({
    nowMs,
    page: (bucket, offset, limit) =>
      Effect.catchAll(repo.meanings({ bucket, nowMs: nowMs(), offset, limit }), (error) =>
        Effect.as(Effect.logWarning("Questions could not be read from the cache", error), [])
      ),
    pause: Effect.async((resume) => soon(() => resume(Effect.void)))
  })

export const make = Effect.gen(function* () {
  const all = yield* services
  const writing = yield* FiberSet.make<void>()
  const deps: Deps = {
    ...all,
    writing,
    run: yield* FiberSet.runtime(writing)<never>(),
    oneAtATime: makeLane(1).inTurn,
    meanings: storedMeanings(all),
    kept: memoryOf(0, 0),
    appliedBounds: { maxEntries: 0, maxBytes: 0 },
    stock: null,
    writes: 0,
    clears: 0,
    hits: 0,
    misses: 0,
    semanticHits: 0
  }
  return AnswerCache.of({
    find: (key) => find(deps, key),
    nearest: (meaning, threshold) => nearest(deps, meaning, threshold),
    keep: (permission, key, owner, answer, meaning) => keep(deps, { permission, key, owner, answer, meaning }),
    count: (outcome) => count(deps, outcome),
    counts: counts(deps),
    clear: clear(deps),
    stored: FiberSet.awaitEmpty(writing)
  })
})

export const layer: Layer.Layer<AnswerCache, never, Effect.Effect.Context<typeof services>> = Layer.scoped(
  AnswerCache,
  make
)
