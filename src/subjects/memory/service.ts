/** Memories of callers, for people who run the gateway. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHash } from "node:crypto"
import { operatorsOwn } from "../../contract/domain/ContentPermission.ts"
import type { CreateMemory, PreviewMemory, UpdateMemory } from "./routes.ts"
import { ApiKeys } from "../auth/ApiKeys.ts"
import { maxEntriesPerKey, type Memory, type MemoryFilter } from "./entity.ts"
import { GatewaySettings } from "../flags/StoredFlags.ts"
import { blockOf } from "../../plane/memory/Block.ts"
import { Memories } from "../../plane/memory/Memories.ts"
import { mostRecalled } from "../../plane/memory/Recall.ts"
import { slugOf } from "../../plane/memory/SearchTerms.ts"
import type { StoreError } from "../../store/Errors.ts"
import type { MemoryCounts } from "./repo.ts"
import { estimateTexts } from "../../plane/tokens/TextEstimate.ts"
import * as Errors from "../Errors.ts"

export interface Preview {
  readonly memories: ReadonlyArray<Memory>
  /** Null: nothing would be put into the request. */
  readonly block: string | null
  readonly tokens: number
}

export class MemoryEntries extends Context.Tag("gateway/subjects/memory/MemoryEntries")<
  MemoryEntries,
  {
    /** Newest first. */
    readonly ids: (filter: MemoryFilter) => Effect.Effect<ReadonlyArray<string>, StoreError>
    readonly byIds: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Memory>, StoreError>
    /** The best match first. */
    readonly search: (filter: MemoryFilter, text: string) => Effect.Effect<ReadonlyArray<Memory>, StoreError>
    readonly get: (id: string) => Effect.Effect<Memory, Errors.EntityNotFound | StoreError>
    readonly create: (
      input: CreateMemory
    ) => Effect.Effect<Memory, Errors.InvalidInput | Errors.StateConflict | StoreError>
    readonly update: (
      id: string,
      input: UpdateMemory
    ) => Effect.Effect<Memory, Errors.EntityNotFound | Errors.StateConflict | StoreError>
    readonly remove: (id: string) => Effect.Effect<void, Errors.EntityNotFound | StoreError>
    readonly preview: (input: PreviewMemory) => Effect.Effect<Preview, Errors.InvalidInput | StoreError>
    readonly counts: Effect.Effect<MemoryCounts, StoreError>
    readonly reindex: Effect.Effect<number, StoreError>
  }
>() {}

const mostFound = 100

/** Equal contents have equal keys, and others have others. */
const defaultKey = (content: string): string =>
  `note:${slugOf(content)}-${createHash("sha256").update(content).digest("hex").slice(0, 8)}`

export const make = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const memories = yield* Memories
  const settings = yield* GatewaySettings

  const get = Effect.fn("MemoryEntries.get")(function* (id: string) {
    return (yield* memories.get(id)) ?? (yield* new Errors.EntityNotFound({ entity: "memory", id }))
  })

  const checkKey = (apiKeyId: string | null) =>
    Errors.refuseOne(
      apiKeyId === null || keys.list().some(({ id }) => id === apiKeyId)
        ? null
        : { field: "apiKeyId", message: "is the id of no API key" }
    )

  const create = Effect.fn("MemoryEntries.create")(function* (input: CreateMemory) {
    const { apiKeyId = null, content, key = defaultKey(content), sessionId = null, type = "factual" } = input
    yield* checkKey(apiKeyId)
    return yield* Effect.catchTag(
      // An operator who adds a memory wants it stored.
      memories.write(operatorsOwn, { apiKeyId, type, source: "added", key, content, sessionId }),
      "MemoryFull",
      () =>
        new Errors.StateConflict({
          code: "memory_full",
          message: `The memory of this API key is full: ${maxEntriesPerKey} entries, or 2 MiB. Remove some first.`
        })
    )
  })

  const update = Effect.fn("MemoryEntries.update")(function* (id: string, input: UpdateMemory) {
    const before = yield* get(id)
    const { content = before.content, key = before.key, sessionId = before.sessionId, type = before.type } = input
    const changed: Memory = { ...before, content, key, sessionId, type }
    if (!(yield* memories.replace(operatorsOwn, changed))) {
      return yield* Errors.conflict(`Another memory of this API key and type has the key '${key}'.`, "key")
    }
    return yield* get(id)
  })

  const remove = Effect.fn("MemoryEntries.remove")(function* (id: string) {
    if (!(yield* memories.remove(id))) return yield* new Errors.EntityNotFound({ entity: "memory", id })
  })

  const preview = Effect.fn("MemoryEntries.preview")(function* (input: PreviewMemory) {
    const { apiKeyId = null, maxTokens = settings.current().memory.maxTokens, query } = input
    yield* checkKey(apiKeyId)
    const found = yield* memories.search({ apiKeyId }, query, mostRecalled)
    const block = blockOf(found, maxTokens, estimateTexts)
    const isIn = new Set(block?.ids)
    return {
      memories: found.filter(({ id }) => isIn.has(id)),
      block: block?.text ?? null,
      tokens: block?.tokens ?? 0
    }
  })

  return MemoryEntries.of({
    ids: memories.ids,
    byIds: memories.byIds,
    search: (filter, text) => memories.search(filter, text, mostFound),
    get,
    create,
    update,
    remove,
    preview,
    counts: memories.counts,
    reindex: memories.reindex
  })
})

export const layer: Layer.Layer<MemoryEntries, never, ApiKeys | Memories | GatewaySettings> = Layer.effect(
  MemoryEntries,
  make
)
