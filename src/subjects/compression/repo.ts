/** Whole outputs of tools, encrypted. Their id is a keyed hash of owner and text, so that the same output has the same id each time. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createHmac } from "node:crypto"
import type { ContentPermission } from "../../contract/domain/ContentPermission.ts"
import { MaybeText, Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import { sealedColumn } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as Table from "../../store/engine/Table.ts"

export interface RawOutput {
  readonly id: string
  /** Null: of a caller without an API key. */
  readonly apiKeyId: string | null
  readonly content: string
  /** Number of bytes of the content as UTF-8. */
  readonly bytes: number
  readonly createdAtMs: number
}

export class RawOutputRepo extends Context.Tag("gateway/subjects/compression/RawOutputRepo")<
  RawOutputRepo,
  {
    /** Hot: 24 hexadecimal digits. */
    readonly idOf: (apiKeyId: string | null, content: string) => string
    /**
     * Adds it, or notes that it is used again; the owner's outputs that were not used for longest are removed for it.
     */
    readonly save: (
      permission: ContentPermission,
      output: RawOutput,
      maxBytesPerKey: number,
      nowMs: number
    ) => Effect.Effect<void, StoreError>
    /** Null: there is none, or it cannot be decrypted. */
    readonly get: (id: string) => Effect.Effect<RawOutput | null, StoreError>
    /** Removes those not used since; how many. */
    readonly removeUnused: (beforeMs: number) => Effect.Effect<number, StoreError>
  }
>() {}

const Row = Schema.Struct({
  id: Text,
  owner: Text,
  content: MaybeText,
  bytes: Whole,
  createdAtMs: Whole,
  lastUsedAtMs: Whole
})

const idChars = 24
const Sum = Schema.Tuple(Schema.Struct({ bytes: Schema.Number }))
const Oldest = Schema.Array(Schema.Struct({ id: Schema.String, bytes: Schema.Number }))

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* Secrets
  const table = Table.make(sql, "raw_outputs", Row)
  const sealed = sealedColumn(secrets, "raw_outputs", "content", Schema.String)
  const hashKey = Redacted.value(secrets.subKey("raw-output-ids"))

  /** Removes the owner's outputs that were not used for longest until there is space for `bytes`. */
  const makeRoom = Effect.fnUntraced(function* (owner: string, bytes: number, most: number) {
    const [sum] = yield* Effect.flatMap(
      sql`SELECT coalesce(sum(bytes), 0) AS bytes FROM raw_outputs WHERE owner = ${owner}`,
      Schema.decodeUnknown(Sum)
    )
    let tooMany = sum.bytes + bytes - most
    if (tooMany <= 0) return
    const oldest = yield* Effect.flatMap(
      sql`SELECT id, bytes FROM raw_outputs WHERE owner = ${owner} ORDER BY last_used_at_ms, id LIMIT 1000`,
      Schema.decodeUnknown(Oldest)
    )
    const gone: Array<string> = []
    for (const each of oldest) {
      if (tooMany <= 0) break
      gone.push(each.id)
      tooMany -= each.bytes
    }
    yield* sql`DELETE FROM raw_outputs WHERE ${sql.in("id", gone)}`
  })

  const save = Effect.fn("RawOutputRepo.save")(
    (_permission: ContentPermission, output: RawOutput, most: number, nowMs: number) =>
      Effect.gen(function* () {
        const at = Math.trunc(nowMs)
        const known = yield* sql`UPDATE raw_outputs SET last_used_at_ms = ${at} WHERE id = ${output.id} RETURNING 1`
        if (known.length > 0 || output.bytes > most) return
        const owner = output.apiKeyId ?? ""
        yield* makeRoom(owner, output.bytes, most)
        const { bytes, id } = output
        const content = sealed.seal(id, output.content)
        const row = { id, owner, content, bytes, createdAtMs: Math.trunc(output.createdAtMs), lastUsedAtMs: at }
        yield* sql`INSERT INTO raw_outputs ${sql.insert(row)}`
      }).pipe(sql.withTransaction, Effect.mapError(Table.named("RawOutputRepo.save")))
  )

  const get = Effect.fn("RawOutputRepo.get")((id: string) =>
    Effect.map(table.first("RawOutputRepo.get", sql`WHERE id = ${id}`), (row): RawOutput | null => {
      const value = row === null ? null : sealed.open(row.id, row.content).value
      if (row === null || value === null) return null
      const { bytes, createdAtMs, owner } = row
      return { id, apiKeyId: owner === "" ? null : owner, content: value, bytes, createdAtMs }
    })
  )

  return RawOutputRepo.of({
    idOf: (apiKeyId, content) =>
      createHmac("sha256", hashKey)
        .update(`${apiKeyId ?? ""}\0${content}`)
        .digest("hex")
        .slice(0, idChars),
    save,
    get,
    removeUnused: Effect.fn("RawOutputRepo.removeUnused")((beforeMs: number) =>
      sql`DELETE FROM raw_outputs WHERE last_used_at_ms < ${Math.trunc(beforeMs)} RETURNING 1`.pipe(
        Effect.mapBoth({ onFailure: Table.named("RawOutputRepo.removeUnused"), onSuccess: (rows) => rows.length })
      )
    )
  })
})

export const layer: Layer.Layer<RawOutputRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(RawOutputRepo, make)
