/**
 * The memories of API keys: stored, found by their words, and deleted when they were not used for long. Behind the routes of the memory, and
 * behind the feature that puts memories into requests.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { claimed } from "../../plane/state/Claims.ts"
import type { ContentPermission } from "../../contract/domain/ContentPermission.ts"
import type { Memory, MemoryFilter } from "../../subjects/memory/entity.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { IdGen } from "../../platform/IdGen.ts"
import type { StoreError } from "../../store/Errors.ts"
import { MemoryBlockRepo } from "../../subjects/memory/MemoryBlockRepo.ts"
import { type MemoryCounts, type MemoryFull, MemoryRepo } from "../../subjects/memory/repo.ts"
import { MemoryVectorRepo } from "../../subjects/memory/MemoryVectorRepo.ts"
import { fused, makeMeantSearch, type MeantSearch } from "./Meanings.ts"
import { makeSessionBlocks, type SessionBlocks } from "./SessionBlocks.ts"
import { wordsOf } from "./SearchTerms.ts"

export type WrittenMemory = Pick<Memory, "apiKeyId" | "type" | "source" | "key" | "content" | "sessionId">

export class Memories extends Context.Tag("gateway/plane/memory/Memories")<
  Memories,
  {
    /** Blocks in sessions that go on. */
    readonly blocks: SessionBlocks
    /** Adds it, or replaces the one with its owner, type and key. */
    readonly write: (
      permission: ContentPermission,
      written: WrittenMemory
    ) => Effect.Effect<Memory, MemoryFull | StoreError>
    /** Null when there is none. */
    readonly get: (id: string) => Effect.Effect<Memory | null, StoreError>
    /** False when there is none with its id, or another of its owner and type has its key. */
    readonly replace: (permission: ContentPermission, memory: Memory) => Effect.Effect<boolean, StoreError>
    /** No later request gets it. False when there is none. */
    readonly remove: (id: string) => Effect.Effect<boolean, StoreError>
    /** Newest first. */
    readonly ids: (filter: MemoryFilter) => Effect.Effect<ReadonlyArray<string>, StoreError>
    readonly byIds: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Memory>, StoreError>
    /** Lists the memories that have a word of the text, the best first. */
    readonly search: (
      filter: MemoryFilter,
      text: string,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Memory>, StoreError>
    /**
     * Finds memories as the setting `memory.strategy` has it: by words, by meaning, or both; by words where there are
     * no vectors.
     */
    readonly recall: (search: Omit<MeantSearch, "minSimilarity">) => Effect.Effect<ReadonlyArray<Memory>, StoreError>
    /** Notes that the memories were put into a request. */
    readonly used: (ids: ReadonlyArray<string>) => Effect.Effect<void, StoreError>
    readonly counts: Effect.Effect<MemoryCounts, StoreError>
    /** Makes the index anew; how many memories it then has. */
    readonly reindex: Effect.Effect<number, StoreError>
    /** Forgets what was not used for `retentionDays`; how many. */
    readonly sweep: Effect.Effect<number, StoreError>
  }
>() {}

/** Words of a memory in the index. */
const indexedWords = 400
/** Words of a question that are searched for. */
export const askedWords = 32
const rowsAtOnce = 200
const dayMs = 86_400_000
const sweepEvery = "1 hour"

const termsOf = ({ content, key }: Pick<Memory, "key" | "content">): ReadonlyArray<string> =>
  wordsOf(`${key} ${content}`, indexedWords)

export const make = Effect.gen(function* () {
  const ids = yield* IdGen
  const repo = yield* MemoryRepo
  const settings = yield* GatewaySettings
  const meant = makeMeantSearch(repo, yield* MemoryVectorRepo)
  const blocks = makeSessionBlocks(yield* MemoryBlockRepo, yield* FiberSet.makeRuntime<never>())

  const write = Effect.fn("Memories.write")(function* (permission: ContentPermission, written: WrittenMemory) {
    const nowMs = yield* Clock.currentTimeMillis
    const id = ids.next(nowMs)
    const memory = { id, ...written, createdAtMs: nowMs, updatedAtMs: nowMs, lastUsedAtMs: nowMs }
    const saved = yield* repo.save(permission, { memory, terms: termsOf(written) })
    // What is learned again says nearly the same; what a person writes takes the place of what it said.
    if (saved.isChanged && written.source === "added") yield* blocks.forget(saved.memory.id)
    return saved.memory
  })

  const replace = Effect.fn("Memories.replace")(function* (permission: ContentPermission, memory: Memory) {
    const nowMs = yield* Clock.currentTimeMillis
    const changed = { ...memory, updatedAtMs: nowMs, lastUsedAtMs: nowMs }
    const isDone = yield* repo.replace(permission, { memory: changed, terms: termsOf(memory) })
    if (isDone) yield* blocks.forget(memory.id)
    return isDone
  })

  const reindex = Effect.gen(function* () {
    const all = yield* repo.ids({})
    for (let at = 0; at < all.length; at += rowsAtOnce) {
      const memories = yield* repo.byIds(all.slice(at, at + rowsAtOnce))
      yield* repo.index(memories.map((memory) => ({ memory, terms: termsOf(memory) })))
      yield* Effect.yieldNow()
    }
    return all.length
  }).pipe(Effect.withSpan("Memories.reindex"))

  const sweep = Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
    Effect.zipLeft(repo.removeUnused(nowMs - settings.current().memory.retentionDays * dayMs), blocks.sweep(nowMs))
  ).pipe(Effect.withSpan("Memories.sweep"))

  const search = (filter: MemoryFilter, text: string, limit: number) =>
    repo.search(filter, wordsOf(text, askedWords), limit)

  const recall = Effect.fn("Memories.recall")(function* (asked: Omit<MeantSearch, "minSimilarity">) {
    const { minSimilarity, strategy } = settings.current().memory
    const { filter, limit, text } = asked
    const byMeaning = strategy === "exact" ? null : yield* meant({ ...asked, minSimilarity })
    if (byMeaning === null) return yield* search(filter, text, limit)
    if (strategy === "semantic") return yield* repo.byIds(byMeaning)
    const byWords = (yield* search(filter, text, limit)).map(({ id }) => id)
    return yield* repo.byIds(fused([byWords, byMeaning], limit))
  })

  return Memories.of({
    blocks,
    write,
    replace,
    reindex,
    sweep,
    get: repo.get,
    remove: (id) => Effect.tap(repo.remove(id), () => blocks.forget(id)),
    ids: repo.ids,
    byIds: repo.byIds,
    search,
    recall,
    used: (used) => Effect.flatMap(Clock.currentTimeMillis, (nowMs) => repo.used(used, nowMs)),
    counts: repo.counts
  })
})

const swept = Effect.tap(make, ({ sweep }) => {
  const again = Effect.catchAll(sweep, (error) => Effect.logError("The memory could not be swept", error))
  return Effect.forkScoped(claimed("memories", Effect.repeat(again, Schedule.spaced(sweepEvery))))
})

export const layer: Layer.Layer<
  Memories,
  never,
  GatewaySettings | IdGen | MemoryBlockRepo | MemoryRepo | MemoryVectorRepo
> = Layer.scoped(Memories, swept)
