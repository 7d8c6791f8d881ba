/**
 * The blocks of memories that are in sessions. Texts are encrypted; a turn is known by a keyed hash of its name, because the name is a hash of
 * what was said, which a copy of the database would let others guess at.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createHmac } from "node:crypto"
import type { PlacedBlock } from "./entity.ts"
import { MaybeText, Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import { sealedColumn } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as Table from "../../store/engine/Table.ts"

export interface StoredBlock {
  /** Names the turn, see `plane/memory/Recall`. */
  readonly turn: string
  readonly apiKeyId: string | null
  readonly block: PlacedBlock
  /** Epoch milliseconds of the last request with the turn. */
  readonly lastUsedAtMs: number
}

export interface BlockBounds {
  /** Blocks that were not used since are removed. */
  readonly beforeMs: number
  readonly maxBlocks: number
  readonly maxBytes: number
}

export class MemoryBlockRepo extends Context.Tag("gateway/subjects/memory/MemoryBlockRepo")<
  MemoryBlockRepo,
  {
    /** Adds it, or replaces the one of its turn. Nothing is written where a memory that it holds is gone. */
    readonly save: (stored: StoredBlock) => Effect.Effect<void, StoreError>
    /** Lists the blocks of the turns that were used since, by turn; those that cannot be decrypted are left out. */
    readonly ofTurns: (
      turns: ReadonlyArray<string>,
      sinceMs: number
    ) => Effect.Effect<ReadonlyMap<string, PlacedBlock>, StoreError>
    readonly used: (turns: ReadonlyArray<string>, atMs: number) => Effect.Effect<void, StoreError>
    /** Removes all that hold the memory. */
    readonly forget: (memoryId: string) => Effect.Effect<void, StoreError>
    /** Removes what is over the bounds, those not used for longest first. */
    readonly trim: (bounds: BlockBounds) => Effect.Effect<void, StoreError>
  }
>() {}

const Row = Schema.Struct({ turn: Text, owner: Text, content: MaybeText, bytes: Whole, lastUsedAtMs: Whole })

const Sealed = Schema.parseJson(
  Schema.Struct({
    text: Schema.String,
    ids: Schema.Array(Schema.String),
    tokens: Schema.Number,
    place: Schema.Literal("before", "behindMark")
  })
)
const Totals = Schema.Tuple(Schema.Struct({ blocks: Schema.Number, bytes: Schema.Number }))
const Oldest = Schema.Array(Schema.Struct({ turn: Schema.String, bytes: Schema.Number }))

/** Rows that one trim looks at. */
const mostTrimmed = 1_000

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* Secrets
  const table = Table.make(sql, "memory_blocks", Row)
  const sealed = sealedColumn(secrets, "memory_blocks", "content", Sealed)
  const hashKey = Redacted.value(secrets.subKey("memory-turns"))
  const hashOf = (turn: string): string => createHmac("sha256", hashKey).update(turn).digest("base64url")

  const save = Effect.fn("MemoryBlockRepo.save")(({ apiKeyId, block, lastUsedAtMs, turn }: StoredBlock) =>
    Effect.gen(function* () {
      const ids = [...new Set(block.ids)]
      const known = yield* sql`SELECT 1 FROM memories WHERE ${sql.in("id", ids)}`
      if (known.length < ids.length) return
      const hash = hashOf(turn)
      yield* sql`DELETE FROM memory_blocks WHERE turn = ${hash}`
      const content = sealed.seal(hash, block)
      const bytes = Buffer.byteLength(block.text)
      const row = { turn: hash, owner: apiKeyId ?? "", content, bytes, lastUsedAtMs: Math.trunc(lastUsedAtMs) }
      yield* sql`INSERT INTO memory_blocks ${sql.insert(row)}`
      yield* sql`INSERT INTO memory_block_members ${sql.insert(ids.map((memoryId) => ({ memoryId, turn: hash })))}`
    }).pipe(sql.withTransaction, Effect.mapError(Table.named("MemoryBlockRepo.save")))
  )

  const ofTurns = Effect.fn("MemoryBlockRepo.ofTurns")((turns: ReadonlyArray<string>, sinceMs: number) => {
    const names = new Map(turns.map((turn) => [hashOf(turn), turn]))
    const at = sql`WHERE ${sql.in("turn", [...names.keys()])} AND last_used_at_ms >= ${Math.trunc(sinceMs)}`
    return Effect.map(
      names.size === 0 ? Effect.succeed([]) : table.select("MemoryBlockRepo.ofTurns", at),
      (rows): ReadonlyMap<string, PlacedBlock> =>
        new Map(
          rows.flatMap(({ content, turn }) => {
            const { value } = sealed.open(turn, content)
            const name = names.get(turn)
            return value === null || name === undefined ? [] : [[name, value]]
          })
        )
    )
  })

  const used = Effect.fn("MemoryBlockRepo.used")((turns: ReadonlyArray<string>, atMs: number) =>
    turns.length === 0
      ? Effect.void
      : sql`UPDATE memory_blocks SET last_used_at_ms = max(last_used_at_ms, ${Math.trunc(atMs)})
          WHERE ${sql.in("turn", turns.map(hashOf))}`.pipe(
          Effect.asVoid,
          Effect.mapError(Table.named("MemoryBlockRepo.used"))
        )
  )

  const forget = Effect.fn("MemoryBlockRepo.forget")((memoryId: string) =>
    sql`DELETE FROM memory_blocks WHERE turn IN (SELECT turn FROM memory_block_members WHERE memory_id = ${memoryId})`.pipe(
      Effect.asVoid,
      Effect.mapError(Table.named("MemoryBlockRepo.forget"))
    )
  )

  const trim = Effect.fn("MemoryBlockRepo.trim")(({ beforeMs, maxBlocks, maxBytes }: BlockBounds) =>
    Effect.gen(function* () {
      yield* sql`DELETE FROM memory_blocks WHERE last_used_at_ms < ${Math.trunc(beforeMs)} OR content IS NULL`
      const [totals] = yield* Effect.flatMap(
        sql`SELECT count(*) AS blocks, coalesce(sum(bytes), 0) AS bytes FROM memory_blocks`,
        Schema.decodeUnknown(Totals)
      )
      let { blocks, bytes } = totals
      if (blocks <= maxBlocks && bytes <= maxBytes) return
      const oldest = yield* Effect.flatMap(
        // The owner with the most loses what it used longest ago.
        sql`SELECT turn, bytes FROM (
            SELECT turn, bytes, last_used_at_ms,
              ROW_NUMBER() OVER (PARTITION BY owner ORDER BY last_used_at_ms DESC, turn DESC) AS place
            FROM memory_blocks
          ) AS placed ORDER BY place DESC, last_used_at_ms LIMIT ${mostTrimmed}`,
        Schema.decodeUnknown(Oldest)
      )
      const gone: Array<string> = []
      for (const each of oldest) {
        if (blocks <= maxBlocks && bytes <= maxBytes) break
        gone.push(each.turn)
        blocks -= 1
        bytes -= each.bytes
      }
      yield* sql`DELETE FROM memory_blocks WHERE ${sql.in("turn", gone)}`
    }).pipe(sql.withTransaction, Effect.mapError(Table.named("MemoryBlockRepo.trim")))
  )

  return MemoryBlockRepo.of({ save, ofTurns, used, forget, trim })
})

export const layer: Layer.Layer<MemoryBlockRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(
  MemoryBlockRepo,
  make
)
