/**
 * Stored answers. An entry that cannot be read (another version, damage, another encryption key) is no answer, and is
 * removed.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { ContentPermission } from "../../contract/domain/ContentPermission.ts"
import { type CachedAnswer, cacheVersion, type KeptMeaning, type Meaning } from "./entity.ts"
import { MaybeText, Text, Vector, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import { sealedColumn } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as Table from "../../store/engine/Table.ts"
import { withoutWaiting } from "../../store/engine/WriteQueue.ts"

export interface CacheSize {
  readonly entries: number
  readonly bytes: number
}

export interface CacheBounds {
  readonly maxEntries: number
  readonly maxBytes: number
  readonly nowMs: number
  /** Space that is freed beyond that, once entries have to go: so that not each answer has to. */
  readonly spare?: CacheSize
}

export interface MeaningsPage {
  readonly bucket: string
  readonly nowMs: number
  readonly offset: number
  readonly limit: number
}

export class AnswerCacheRepo extends Context.Tag("gateway/subjects/cache/AnswerCacheRepo")<
  AnswerCacheRepo,
  {
    /** Null when there is none that can be read and has not expired. */
    readonly get: (key: string, nowMs: number) => Effect.Effect<CachedAnswer | null, StoreError>
    /** Replaces what had the key. `meaning`: null where it is found by its key only. */
    readonly put: (
      permission: ContentPermission,
      key: string,
      owner: string,
      answer: CachedAnswer,
      meaning: Meaning | null
    ) => Effect.Effect<void, StoreError>
    /** Lists the entries with a meaning in the bucket that can be read and have not expired, the newest first. */
    readonly meanings: (page: MeaningsPage) => Effect.Effect<ReadonlyArray<KeptMeaning>, StoreError>
    /** Removes what has expired, and the oldest beyond the bounds; how much is left. */
    readonly trim: (bounds: CacheBounds) => Effect.Effect<CacheSize, StoreError>
    readonly remove: (key: string) => Effect.Effect<void, StoreError>
    /** Removes all; how many. */
    readonly clear: Effect.Effect<number, StoreError>
    readonly count: Effect.Effect<number, StoreError>
  }
>() {}

const Row = Schema.Struct({
  key: Text,
  owner: Text,
  version: Whole,
  content: MaybeText,
  bucket: MaybeText,
  meaning: MaybeText,
  bytes: Whole,
  createdAtMs: Whole,
  expiresAtMs: Whole
})

const Sealed = Schema.parseJson(
  Schema.Struct({
    form: Schema.Literal("whole", "stream"),
    variant: Schema.String,
    contentType: Schema.String,
    body: Schema.String,
    hasToolCalls: Schema.Boolean,
    provider: Schema.String,
    model: Schema.String,
    costNanoUsd: Schema.Number
  })
)

const SealedMeaning = Schema.parseJson(
  Schema.Struct({
    wording: Schema.Struct({ exact: Schema.String, words: Schema.Array(Schema.String) }),
    vector: Vector
  })
)
const Meanings = Schema.Array(
  Schema.Struct({ key: Text, meaning: Text, createdAtMs: Schema.Number, expiresAtMs: Schema.Number })
)

const Counts = Schema.Tuple(Schema.Struct({ entries: Schema.Number }))
const Oldest = Schema.Array(Schema.Struct({ key: Schema.String, bytes: Schema.Number }))
const Totals = Schema.Tuple(Schema.Struct({ entries: Schema.Number, bytes: Schema.Number }))

/** Rows that are looked at together. */
const mostTrimmed = 1_000

const noSpare: CacheSize = { entries: 0, bytes: 0 }

const services = Effect.all({ sql: SqlClient.SqlClient, secrets: Secrets })
type Services = Effect.Effect.Success<typeof services>

const columnsOf = ({ secrets, sql }: Services) => ({
  table: Table.make(sql, "answer_cache", Row),
  sealed: sealedColumn(secrets, "answer_cache", "content", Sealed),
  sealedMeaning: sealedColumn(secrets, "answer_cache", "meaning", SealedMeaning)
})
type Deps = Services & ReturnType<typeof columnsOf>

const trimmed = Table.named("answerCache.trim")

const remove = ({ sql, table }: Deps, key: string) => table.remove("answerCache.remove", sql`key = ${key}`)

const get = Effect.fn("AnswerCacheRepo.get")(function* (deps: Deps, key: string, nowMs: number) {
  const row = yield* deps.table.first("answerCache.get", deps.sql`WHERE key = ${key}`)
  if (row === null) return null
  const isRead = row.version === cacheVersion && row.createdAtMs <= nowMs && nowMs < row.expiresAtMs
  const value = isRead ? deps.sealed.open(key, row.content).value : null
  if (value === null) {
    // A request waits for this: while another process holds the database the entry stays, and is no answer next time either.
    yield* Effect.ignore(withoutWaiting(remove(deps, key)))
    return null
  }
  const { createdAtMs, expiresAtMs } = row
  return { ...value, body: Buffer.from(value.body, "base64"), createdAtMs, expiresAtMs }
})

interface Entry {
  readonly key: string
  readonly owner: string
  readonly answer: CachedAnswer
  readonly meaning: Meaning | null
}

const put = Effect.fn("AnswerCacheRepo.put")(function* (
  { sealed, sealedMeaning, sql }: Deps,
  _permission: ContentPermission,
  { answer, key, meaning, owner }: Entry
) {
  const { body, createdAtMs, expiresAtMs, ...facts } = answer
  const content = sealed.seal(key, { ...facts, body: body.toString("base64") })
  const [created, expires] = [Math.trunc(createdAtMs), Math.trunc(expiresAtMs)]
  const bucket = meaning?.bucket ?? null
  const meant = sealedMeaning.seal(key, meaning)
  yield* sql`INSERT INTO answer_cache
      (key, owner, version, content, bucket, meaning, bytes, created_at_ms, expires_at_ms)
      VALUES (${key}, ${owner}, ${cacheVersion}, ${content}, ${bucket}, ${meant}, ${body.length}, ${created},
        ${expires})
      ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, version = excluded.version, content = excluded.content,
        bucket = excluded.bucket, meaning = excluded.meaning, bytes = excluded.bytes, created_at_ms = excluded.created_at_ms,
        expires_at_ms = excluded.expires_at_ms`.pipe(Effect.mapError(Table.named("answerCache.put")))
})

const meanings = Effect.fn("AnswerCacheRepo.meanings")(function* (
  { sealedMeaning, sql }: Deps,
  { bucket, limit, nowMs, offset }: MeaningsPage
) {
  const now = Math.trunc(nowMs)
  const rows = yield* sql`SELECT key, meaning, created_at_ms, expires_at_ms FROM answer_cache
      WHERE bucket = ${bucket} AND meaning IS NOT NULL AND version = ${cacheVersion} AND expires_at_ms > ${now}
        AND created_at_ms <= ${now}
      ORDER BY created_at_ms DESC, key LIMIT ${limit} OFFSET ${offset}`.pipe(
    Effect.flatMap(Schema.decodeUnknown(Meanings)),
    Effect.mapError(Table.named("answerCache.meanings"))
  )
  return rows.flatMap(({ meaning, ...facts }) => {
    const { value } = sealedMeaning.open(facts.key, meaning)
    return value === null || value.vector.length === 0 ? [] : [{ ...facts, ...value }]
  })
})

const size = ({ sql }: Deps) =>
  sql`SELECT COUNT(*) AS entries, COALESCE(SUM(bytes), 0) AS bytes FROM answer_cache`.pipe(
    Effect.flatMap(Schema.decodeUnknown(Totals)),
    Effect.map(([total]): CacheSize => total),
    Effect.mapError(trimmed)
  )

// The owner with the most loses its oldest: first what is furthest behind the newest of its owner.
const oldest = ({ sql }: Deps) =>
  sql`SELECT key, bytes FROM (
      SELECT key, bytes, created_at_ms,
        ROW_NUMBER() OVER (PARTITION BY owner ORDER BY created_at_ms DESC, key) AS place
      FROM answer_cache
    ) AS placed ORDER BY place DESC, created_at_ms LIMIT ${mostTrimmed}`.pipe(
    Effect.flatMap(Schema.decodeUnknown(Oldest)),
    Effect.mapError(trimmed)
  )

/** Removes the oldest until no more than `most` is left; how much that is. */
const shrink = Effect.fnUntraced(function* (deps: Deps, before: CacheSize, most: CacheSize) {
  let { bytes, entries } = before
  while (entries > most.entries || bytes > most.bytes) {
    const rows = yield* oldest(deps)
    if (rows.length === 0) return { entries: 0, bytes: 0 }
    for (const row of rows) {
      if (entries <= most.entries && bytes <= most.bytes) break
      yield* remove(deps, row.key)
      entries -= 1
      bytes -= row.bytes
    }
  }
  return { entries, bytes }
})

const trim = Effect.fn("AnswerCacheRepo.trim")(function* (deps: Deps, bounds: CacheBounds) {
  const { maxBytes, maxEntries, nowMs, spare = noSpare } = bounds
  yield* deps.sql`DELETE FROM answer_cache WHERE expires_at_ms <= ${Math.trunc(nowMs)}`.pipe(Effect.mapError(trimmed))
  const before = yield* size(deps)
  if (before.entries <= maxEntries && before.bytes <= maxBytes) return before
  return yield* shrink(deps, before, {
    entries: Math.max(0, maxEntries - spare.entries),
    bytes: Math.max(0, maxBytes - spare.bytes)
  })
})

const count = ({ sql }: Deps) =>
  sql`SELECT COUNT(*) AS entries FROM answer_cache`.pipe(
    Effect.flatMap(Schema.decodeUnknown(Counts)),
    Effect.map(([{ entries }]) => entries),
    Effect.mapError(Table.named("answerCache.count"))
  )

const clear = (deps: Deps) =>
  Effect.tap(count(deps), () => Effect.mapError(deps.sql`DELETE FROM answer_cache`, Table.named("answerCache.clear")))

export const make = Effect.gen(function* () {
  const all = yield* services
  const deps: Deps = { ...all, ...columnsOf(all) }

  return AnswerCacheRepo.of({
    get: (key, nowMs) => get(deps, key, nowMs),
    put: (permission, key, owner, answer, meaning) => put(deps, permission, { key, owner, answer, meaning }),
    meanings: (page) => meanings(deps, page),
    remove: (key) => Effect.asVoid(remove(deps, key)),
    trim: (bounds) => trim(deps, bounds),
    clear: clear(deps),
    count: count(deps)
  })
})

export const layer: Layer.Layer<AnswerCacheRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(
  AnswerCacheRepo,
  make
)
