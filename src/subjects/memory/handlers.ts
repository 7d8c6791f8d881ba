/** `/api/memory` and `/api/settings/memory`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Memory as MemoryGroup } from "./routes.ts"
import type { MemoryQuery, MemoryView } from "./routes.ts"
import type { Memory, MemoryFilter } from "./entity.ts"
import { GatewaySettings } from "../flags/StoredFlags.ts"
import { MemoryEntries } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { iso } from "../../entry/handling/Views.ts"

const viewOf = ({ createdAtMs, lastUsedAtMs, updatedAtMs, ...memory }: Memory): MemoryView => ({
  ...memory,
  createdAt: iso(createdAtMs),
  updatedAt: iso(updatedAtMs),
  lastUsedAt: iso(lastUsedAtMs)
})

const viewed = <E>(memory: Effect.Effect<Memory, E>) => Effect.map(memory, (each) => ({ memory: viewOf(each) }))

const filterOf = ({ apiKeyId, q: _q, ...others }: MemoryQuery): MemoryFilter => ({
  ...others,
  ...(apiKeyId === undefined ? {} : { apiKeyId: apiKeyId === "none" ? null : apiKeyId })
})

/** Each has to be decrypted. */
const mostAtOnce = 1_000

export const layer = HttpApiBuilder.group(contractOf(MemoryGroup), "memory", (handlers) =>
  Effect.map(Effect.all([MemoryEntries, GatewaySettings]), ([entries, settings]) => {
    const list = (query: MemoryQuery) =>
      Effect.gen(function* () {
        const filter = filterOf(query)
        if (query.q !== undefined && query.q.trim() !== "") {
          const { items, nextCursor, total } = yield* paged(yield* entries.search(filter, query.q), ({ id }) => id)
          return { memories: items.map(viewOf), nextCursor, total }
        }
        const { items, nextCursor, total } = yield* paged(yield* entries.ids(filter), (id) => id, mostAtOnce)
        return { memories: (yield* entries.byIds(items)).map(viewOf), nextCursor, total }
      })
    return handlers
      .handle("list", ({ urlParams }) => answered(list(urlParams)))
      .handle("create", ({ payload }) => answered(viewed(entries.create(payload))))
      .handle("health", () =>
        answered(
          Effect.map(entries.counts, (counts) => {
            const { enabled, model, strategy } = settings.current().memory
            return {
              enabled,
              ok: counts.indexed === counts.entries,
              engine: "fts5" as const,
              vectors: strategy !== "exact" && model !== null,
              ...counts
            }
          })
        )
      )
      .handle("reindex", () => answered(Effect.map(entries.reindex, (indexed) => ({ indexed }))))
      .handle("preview", ({ payload }) =>
        answered(
          Effect.map(entries.preview(payload), ({ memories, ...told }) => ({ memories: memories.map(viewOf), ...told }))
        )
      )
      .handle("get", ({ path }) => answered(viewed(entries.get(path.id))))
      .handle("update", ({ path, payload }) => answered(viewed(entries.update(path.id, payload))))
      .handle("patch", ({ path, payload }) => answered(viewed(entries.update(path.id, payload))))
      .handle("remove", ({ path }) => answered(entries.remove(path.id)))
      .handle("settings", () => Effect.sync(() => settings.current().memory))
      .handle("setSettings", ({ payload }) =>
        answered(Effect.map(settings.patch({ memory: payload }), ({ memory }) => memory))
      )
  })
)
