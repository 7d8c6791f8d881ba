/**
 * Memories of API keys. Key and content are encrypted as one value. The full-text index (FTS5) holds a keyed hash of every word instead of
 * the word, so that a copy of the database file reveals neither; it can be searched for whole words only, which is enough.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createHmac } from "node:crypto"
import type { ContentPermission } from "../../contract/domain/ContentPermission.ts"
import {
  maxBytesPerKey,
  maxEntriesPerKey,
  type Memory,
  type MemoryFilter,
  memorySources,
  memoryTypes
} from "./entity.ts"
import { MaybeText, Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import { sealedColumn } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as Table from "../../store/engine/Table.ts"
import { byEngine } from "../../store/engine/Engine.ts"

/**
 * Error of a key that has as many entries, or bytes of them, as it may, and none that was extracted and may be removed.
 */
export class MemoryFull extends Data.TaggedError("MemoryFull")<{}> {}

/** Memory with the words by which it is found. */
export interface IndexedMemory {
  readonly memory: Memory
  readonly terms: ReadonlyArray<string>
}

export interface Saved {
  readonly memory: Memory
  /** True when its content has changed. */
  readonly isChanged: boolean
}

export type MemoryStamp = Pick<Memory, "id" | "updatedAtMs">

export interface MemoryCounts {
  readonly entries: number
  readonly bytes: number
  /** Rows of the index; the same as `entries` when it is whole. */
  readonly indexed: number
}

export class MemoryRepo extends Context.Tag("gateway/subjects/memory/MemoryRepo")<
  MemoryRepo,
  {
    /**
     * Adds it, or replaces the content of the one with its owner, type and key, whose id it then has; one that was added stays as it is when
     * the new one was extracted. Extracted ones that were not used for longest are removed for it.
     */
    readonly save: (
      permission: ContentPermission,
      indexed: IndexedMemory
    ) => Effect.Effect<Saved, MemoryFull | StoreError>
    /** Null when there is none with this id. */
    readonly get: (id: string) => Effect.Effect<Memory | null, StoreError>
    /** Replaces it, its key included; false when there is none with its id, or another has the key. */
    readonly replace: (permission: ContentPermission, indexed: IndexedMemory) => Effect.Effect<boolean, StoreError>
    readonly remove: (id: string) => Effect.Effect<boolean, StoreError>
    /** Newest first. */
    readonly ids: (filter: MemoryFilter) => Effect.Effect<ReadonlyArray<string>, StoreError>
    /** Lists the memories with the time at which each was written last. */
    readonly stamps: (filter: MemoryFilter) => Effect.Effect<ReadonlyArray<MemoryStamp>, StoreError>
    /** Finds memories in the order of the ids; those that are gone or cannot be decrypted are left out. */
    readonly byIds: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Memory>, StoreError>
    /** Lists the memories that hold any of the words, the best match first. */
    readonly search: (
      filter: MemoryFilter,
      terms: ReadonlyArray<string>,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Memory>, StoreError>
    readonly used: (ids: ReadonlyArray<string>, atMs: number) => Effect.Effect<void, StoreError>
    /** Removes those not used since, and those that lost their content; how many. */
    readonly removeUnused: (beforeMs: number) => Effect.Effect<number, StoreError>
    readonly counts: Effect.Effect<MemoryCounts, StoreError>
    /** Makes the index of these rows anew. */
    readonly index: (indexed: ReadonlyArray<IndexedMemory>) => Effect.Effect<void, StoreError>
  }
>() {}

const Row = Schema.Struct({
  seq: Whole,
  id: Text,
  owner: Text,
  type: Schema.Literal(...memoryTypes),
  source: Schema.Literal(...memorySources),
  keyHash: Text,
  content: MaybeText,
  sessionId: MaybeText,
  bytes: Whole,
  createdAtMs: Whole,
  updatedAtMs: Whole,
  lastUsedAtMs: Whole
})
type Row = typeof Row.Type

const Sealed = Schema.parseJson(Schema.Struct({ key: Schema.String, content: Schema.String }))
const Sums = Schema.Tuple(Schema.Struct({ entries: Schema.Number, bytes: Schema.Number }))
const Count = Schema.Tuple(Schema.Struct({ indexed: Schema.Number }))
const Owners = Schema.Array(Schema.Struct({ owner: Schema.String }))
const Matches = Schema.Array(Schema.Struct({ id: Schema.String, score: Schema.Number }))
const Stamps = Schema.Array(Schema.Struct({ id: Schema.String, updatedAtMs: Schema.Number }))
const Ids = Schema.Array(Schema.Struct({ id: Schema.String }))
const Oldest = Schema.Array(Schema.Struct({ seq: Schema.Number, bytes: Schema.Number }))

const ownerOf = (apiKeyId: string | null): string => apiKeyId ?? ""

const bytesOf = ({ content, key }: Memory): number => Buffer.byteLength(key) + Buffer.byteLength(content)

const services = Effect.all({ sql: SqlClient.SqlClient, secrets: Secrets })
type Services = Effect.Effect.Success<typeof services>

const columnsOf = ({ secrets, sql }: Services) => ({
  table: Table.make(sql, "memories", Row),
  sealed: sealedColumn(secrets, "memories", "content", Sealed),
  hashKey: Redacted.value(secrets.subKey("memory-index"))
})
type Deps = Services & ReturnType<typeof columnsOf>

const hash = ({ hashKey }: Deps, prefix: string, text: string): string =>
  prefix + createHmac("sha256", hashKey).update(`${prefix}\0${text}`).digest("hex").slice(0, 20)

/** Hashes the words of an owner: equal words of others are other terms, so that a search reads nothing of theirs. */
const termsOf = (deps: Deps, owner: string, words: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(words)].map((word) => hash(deps, "t", `${owner}\0${word}`))

const opened = ({ sealed }: Deps, { content, owner, ...row }: Row): ReadonlyArray<Memory> => {
  const { value } = sealed.open(row.id, content)
  if (value === null) return []
  const { createdAtMs, id, lastUsedAtMs, sessionId, source, type, updatedAtMs } = row
  const apiKeyId = owner === "" ? null : owner
  return [{ id, apiKeyId, type, source, ...value, sessionId, createdAtMs, updatedAtMs, lastUsedAtMs }]
}

const where = ({ sql }: Deps, { apiKeyId, sessionId, type }: MemoryFilter): Fragment =>
  sql.and([
    sql`content IS NOT NULL`,
    ...(apiKeyId === undefined ? [] : [sql`memories.owner = ${ownerOf(apiKeyId)}`]),
    ...(type === undefined ? [] : [sql`type = ${type}`]),
    ...(sessionId === undefined ? [] : [sql`session_id = ${sessionId}`])
  ])

const valuesOf = (deps: Deps, memory: Memory) => ({
  type: memory.type,
  source: memory.source,
  keyHash: hash(deps, "k", memory.key),
  content: deps.sealed.seal(memory.id, { key: memory.key, content: memory.content }),
  sessionId: memory.sessionId,
  bytes: bytesOf(memory),
  updatedAtMs: Math.trunc(memory.updatedAtMs),
  lastUsedAtMs: Math.trunc(memory.lastUsedAtMs)
})

/** Hashed words as Postgres keeps them. */
const termsIn = (sql: SqlClient.SqlClient, hashed: string): Fragment =>
  sql`array_to_tsvector(array_remove(string_to_array(${hashed}, ' '), ''))`

const reindex = (deps: Deps, seq: number, owner: string, terms: ReadonlyArray<string>) => {
  const { sql } = deps
  const hashed = termsOf(deps, owner, terms).join(" ")
  return byEngine(sql, {
    sqlite: Effect.zipRight(
      sql`DELETE FROM memory_index WHERE rowid = ${seq}`,
      sql`INSERT INTO memory_index (rowid, terms) VALUES (${seq}, ${hashed})`
    ),
    postgres: sql`INSERT INTO memory_index (seq, terms) VALUES (${seq}, ${termsIn(sql, hashed)})
      ON CONFLICT (seq) DO UPDATE SET terms = excluded.terms`
  })
}

/** No row has this number. */
const noRow = -1

/** Removes extracted ones, the one used longest ago first, until there is space for `bytes`; `replaced` is the row that is replaced. */
const makeRoom = Effect.fnUntraced(function* ({ sql }: Deps, owner: string, bytes: number, replaced: number | null) {
  const [sums] = yield* Effect.flatMap(
    sql`SELECT count(*) AS entries, coalesce(sum(bytes), 0) AS bytes FROM memories WHERE owner = ${owner}`,
    Schema.decodeUnknown(Sums)
  )
  let tooMany = sums.entries + (replaced === null ? 1 : 0) - maxEntriesPerKey
  let tooLarge = sums.bytes + bytes - maxBytesPerKey
  if (tooMany <= 0 && tooLarge <= 0) return
  const oldest = yield* Effect.flatMap(
    sql`SELECT seq, bytes FROM memories WHERE owner = ${owner} AND source = 'extracted' AND seq <> ${replaced ?? noRow} ORDER BY last_used_at_ms, seq`,
    Schema.decodeUnknown(Oldest)
  )
  const gone: Array<number> = []
  for (const each of oldest) {
    if (tooMany <= 0 && tooLarge <= 0) break
    gone.push(each.seq)
    tooMany -= 1
    tooLarge -= each.bytes
  }
  if (tooMany > 0 || tooLarge > 0) return yield* new MemoryFull()
  yield* sql`DELETE FROM memories WHERE ${sql.in("seq", gone)}`
})

const save = Effect.fn("MemoryRepo.save")(
  (deps: Deps, _permission: ContentPermission, { memory, terms }: IndexedMemory) =>
    Effect.gen(function* () {
      const owner = ownerOf(memory.apiKeyId)
      const at = deps.sql`WHERE owner = ${owner} AND type = ${memory.type} AND key_hash = ${hash(deps, "k", memory.key)}`
      const known = yield* deps.table.first("MemoryRepo.save", at)
      yield* makeRoom(deps, owner, bytesOf(memory) - (known?.bytes ?? 0), known?.seq ?? null)
      if (known !== null) {
        const before = opened(deps, known)[0]
        // What people wrote is not replaced by what rules have found.
        if (before?.source === "added" && memory.source === "extracted") return { memory: before, isChanged: false }
        const kept: Memory = { ...memory, id: known.id, createdAtMs: known.createdAtMs }
        yield* deps.sql`UPDATE memories SET ${deps.sql.update(valuesOf(deps, kept))} WHERE seq = ${known.seq}`
        yield* reindex(deps, known.seq, owner, terms)
        return { memory: kept, isChanged: before?.content !== kept.content }
      }
      const row = { id: memory.id, owner, createdAtMs: Math.trunc(memory.createdAtMs), ...valuesOf(deps, memory) }
      const [stored] = yield* deps.sql<{ seq: number }>`INSERT INTO memories ${deps.sql.insert(row)} RETURNING seq`
      if (stored !== undefined) yield* reindex(deps, stored.seq, owner, terms)
      return { memory, isChanged: false }
    }).pipe(
      deps.sql.withTransaction,
      Effect.mapError((error) => (error instanceof MemoryFull ? error : Table.named("MemoryRepo.save")(error)))
    )
)

const replace = Effect.fn("MemoryRepo.replace")(
  (deps: Deps, _permission: ContentPermission, { memory, terms }: IndexedMemory) =>
    Effect.gen(function* () {
      const owner = ownerOf(memory.apiKeyId)
      const taken = yield* deps.sql`
        SELECT 1 FROM memories WHERE owner = ${owner} AND type = ${memory.type} AND key_hash = ${hash(deps, "k", memory.key)}
          AND id <> ${memory.id}`
      if (taken.length > 0) return false
      const [stored] = yield* deps.sql<{ seq: number }>`
        UPDATE memories SET ${deps.sql.update(valuesOf(deps, memory))} WHERE id = ${memory.id} RETURNING seq`
      if (stored === undefined) return false
      yield* reindex(deps, stored.seq, owner, terms)
      return true
    }).pipe(deps.sql.withTransaction, Effect.mapError(Table.named("MemoryRepo.replace")))
)

const byIds = Effect.fn("MemoryRepo.byIds")((deps: Deps, ids: ReadonlyArray<string>) =>
  Effect.map(
    ids.length === 0
      ? Effect.succeed([])
      : deps.table.select("MemoryRepo.byIds", deps.sql`WHERE ${deps.sql.in("id", ids)}`),
    (rows) => {
      const found = new Map(rows.flatMap((row) => opened(deps, row)).map((memory) => [memory.id, memory]))
      return ids.flatMap((id) => found.get(id) ?? [])
    }
  )
)

const matches = (deps: Deps, owner: string, filter: MemoryFilter, words: ReadonlyArray<string>, limit: number) => {
  const { sql } = deps
  const terms = termsOf(deps, owner, words)
  const wanted = where(deps, { ...filter, apiKeyId: owner === "" ? null : owner })
  const order = sql`ORDER BY score, memories.last_used_at_ms DESC, memories.seq DESC LIMIT ${limit}`
  return byEngine(sql, {
    sqlite: sql`
      SELECT memories.id, bm25(memory_index) AS score FROM memory_index JOIN memories ON memories.seq = memory_index.rowid
      WHERE memory_index MATCH ${terms.join(" OR ")} AND ${wanted} ${order}`,
    // The same measure: BM25 with FTS5's constants (https://www.sqlite.org/fts5.html#the_bm25_function). A term is in a memory once.
    postgres: sql`
      WITH whole AS MATERIALIZED (SELECT COUNT(*) AS n, AVG(length(terms))::float8 AS average FROM memory_index),
        weights AS MATERIALIZED (
          SELECT term, GREATEST(ln((n - found + 0.5) / (found + 0.5)), 1e-6)::float8 AS weight FROM (
            SELECT term, (SELECT COUNT(*) FROM memory_index WHERE memory_index.terms @@ term::tsquery) AS found
            FROM unnest(tsvector_to_array(${termsIn(sql, terms.join(" "))})) AS each_term(term)
          ) AS counted CROSS JOIN whole
        )
      SELECT memories.id, -(SELECT SUM(weight) FROM weights WHERE memory_index.terms @@ term::tsquery)
          * 2.2 / (1 + 1.2 * (0.25 + 0.75 * length(memory_index.terms) / (SELECT average FROM whole))) AS score
      FROM memory_index JOIN memories ON memories.seq = memory_index.seq
      WHERE memory_index.terms @@ ${terms.join(" | ")}::tsquery AND ${wanted} ${order}`
  }).pipe(Effect.flatMap(Schema.decodeUnknown(Matches)))
}

const search = Effect.fn("MemoryRepo.search")(
  (deps: Deps, filter: MemoryFilter, words: ReadonlyArray<string>, limit: number) =>
    Effect.gen(function* () {
      if (words.length === 0) return []
      const owners =
        filter.apiKeyId !== undefined
          ? [{ owner: ownerOf(filter.apiKeyId) }]
          : yield* Effect.flatMap(deps.sql`SELECT DISTINCT owner FROM memories`, Schema.decodeUnknown(Owners))
      const found = yield* Effect.forEach(owners, ({ owner }) =>
        Effect.zipRight(owners.length > 1 ? Effect.yieldNow() : Effect.void, matches(deps, owner, filter, words, limit))
      )
      const best = found.flat().toSorted((one, other) => one.score - other.score)
      return best.slice(0, limit).map(({ id }) => id)
    }).pipe(
      Effect.mapError(Table.named("MemoryRepo.search")),
      Effect.flatMap((ids) => byIds(deps, ids))
    )
)

const ids = Effect.fn("MemoryRepo.ids")((deps: Deps, filter: MemoryFilter) =>
  deps.sql`SELECT id FROM memories WHERE ${where(deps, filter)} ORDER BY seq DESC`.pipe(
    Effect.flatMap(Schema.decodeUnknown(Ids)),
    Effect.mapBoth({ onFailure: Table.named("MemoryRepo.ids"), onSuccess: (rows) => rows.map(({ id }) => id) })
  )
)

const stamps = Effect.fn("MemoryRepo.stamps")((deps: Deps, filter: MemoryFilter) =>
  deps.sql`SELECT id, updated_at_ms FROM memories WHERE ${where(deps, filter)} ORDER BY last_used_at_ms DESC`.pipe(
    Effect.flatMap(Schema.decodeUnknown(Stamps)),
    Effect.mapError(Table.named("MemoryRepo.stamps"))
  )
)

const counts = ({ sql }: Deps) =>
  Effect.all([
    Effect.flatMap(
      sql`SELECT count(*) AS entries, coalesce(sum(bytes), 0) AS bytes FROM memories`,
      Schema.decodeUnknown(Sums)
    ),
    Effect.flatMap(sql`SELECT count(*) AS indexed FROM memory_index`, Schema.decodeUnknown(Count))
  ]).pipe(
    Effect.mapBoth({
      onFailure: Table.named("MemoryRepo.counts"),
      onSuccess: ([[sums], [{ indexed }]]) => ({ ...sums, indexed })
    }),
    Effect.withSpan("MemoryRepo.counts")
  )

const index = Effect.fn("MemoryRepo.index")((deps: Deps, indexed: ReadonlyArray<IndexedMemory>) =>
  Effect.forEach(
    indexed,
    ({ memory, terms }) =>
      Effect.flatMap(deps.sql<{ seq: number }>`SELECT seq FROM memories WHERE id = ${memory.id}`, ([row]) =>
        row === undefined ? Effect.void : reindex(deps, row.seq, ownerOf(memory.apiKeyId), terms)
      ),
    { discard: true }
  ).pipe(deps.sql.withTransaction, Effect.mapError(Table.named("MemoryRepo.index")))
)

const remove = Effect.fn("MemoryRepo.remove")(({ sql, table }: Deps, id: string) =>
  table.remove("MemoryRepo.remove", sql`id = ${id}`)
)

const used = Effect.fn("MemoryRepo.used")(({ sql }: Deps, used: ReadonlyArray<string>, atMs: number) =>
  used.length === 0
    ? Effect.void
    : sql`UPDATE memories SET last_used_at_ms = max(last_used_at_ms, ${Math.trunc(atMs)}) WHERE ${sql.in("id", used)}`.pipe(
        Effect.asVoid,
        Effect.mapError(Table.named("MemoryRepo.used"))
      )
)

const removeUnused = Effect.fn("MemoryRepo.removeUnused")(({ sql }: Deps, beforeMs: number) =>
  sql`DELETE FROM memories WHERE last_used_at_ms < ${Math.trunc(beforeMs)} OR content IS NULL RETURNING 1`.pipe(
    Effect.mapBoth({ onFailure: Table.named("MemoryRepo.removeUnused"), onSuccess: (rows) => rows.length })
  )
)

export const make = Effect.gen(function* () {
  const all = yield* services
  const deps: Deps = { ...all, ...columnsOf(all) }

  return MemoryRepo.of({
    save: (permission, memory) => save(deps, permission, memory),
    replace: (permission, memory) => replace(deps, permission, memory),
    byIds: (ids) => byIds(deps, ids),
    search: (filter, words, limit) => search(deps, filter, words, limit),
    ids: (filter) => ids(deps, filter),
    stamps: (filter) => stamps(deps, filter),
    counts: counts(deps),
    index: (indexed) => index(deps, indexed),
    get: (id) => Effect.map(byIds(deps, [id]), ([memory]) => memory ?? null),
    remove: (id) => remove(deps, id),
    used: (ids, atMs) => used(deps, ids, atMs),
    removeUnused: (beforeMs) => removeUnused(deps, beforeMs)
  })
})

export const layer: Layer.Layer<MemoryRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(MemoryRepo, make)
