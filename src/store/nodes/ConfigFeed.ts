/**
 * Reads which rows of the configuration were changed by whatever node, without losing one: a mark is the oldest transaction that was under way
 * at a reading. What it and later ones have written is read again the next time, and what was seen of it already is left out.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { gathered } from "../ConfigChangesRepo.ts"
import { named } from "../engine/Table.ts"
import type { StoreError } from "../Errors.ts"
import type { ChangedRows } from "../Snapshots.ts"

/** A place in the changes. */
export interface ConfigMark {
  /** Every transaction before it had ended, and its changes were read. */
  readonly transactionId: number
  /** Changes of later ones that were read. */
  readonly seen: ReadonlySet<number>
  /** The highest number of a change that was read. */
  readonly lastSeq: number
}

export interface ConfigNews {
  readonly mark: ConfigMark
  /** By table; null: more than is still kept. */
  readonly changes: ReadonlyMap<string, ChangedRows> | null
}

interface Row {
  readonly oldest: number
  /** The lowest number that is kept. */
  readonly first: number | null
  readonly last: number | null
  readonly transactionId: number | null
  readonly seq: number | null
  readonly name: string | null
  readonly id: string | null
}

/** One statement, and so one snapshot: the oldest transaction that is under way, and what is visible. */
const statement = (since: string): string =>
  `SELECT now.oldest, now.first, now.last, c.transaction_id, c.seq, c.name, c.id
    FROM (SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) AS oldest,
      (SELECT MIN(seq) FROM config_changes) AS first, (SELECT MAX(seq) FROM config_changes) AS last) AS now
    LEFT JOIN config_changes AS c ON c.transaction_id >= ${since} ORDER BY c.seq`

/** Finds what is new in the rows that were read behind a mark. Pure. */
export const newsOf = (rows: ReadonlyArray<Row>, before: ConfigMark): ConfigNews => {
  const found = rows.flatMap(({ id, name, seq, transactionId }) =>
    seq === null || name === null || transactionId === null ? [] : [{ id, name, seq, transactionId }]
  )
  const transactionId = rows[0]?.oldest ?? before.transactionId
  const fresh = found.filter(({ seq }) => !before.seen.has(seq))
  const lastSeq = fresh.reduce((last, { seq }) => Math.max(last, seq), before.lastSeq)
  const mark = {
    transactionId,
    seen: new Set(found.flatMap((each) => (each.transactionId >= transactionId ? [each.seq] : []))),
    lastSeq
  }
  // Only the latest are kept: what stood between may have been removed unread.
  const isCut = (rows[0]?.first ?? 0) > before.lastSeq + 1
  const [first] = fresh
  if (first === undefined) return { mark, changes: new Map() }
  return { mark, changes: isCut ? null : gathered(fresh, first.seq - 1).changes }
}

const nothingSeen: ReadonlySet<number> = new Set()

export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const read = (since: number, operation: string): Effect.Effect<ReadonlyArray<Row>, StoreError> =>
    Effect.mapError(
      sql.unsafe<Row>(statement("?"), [since]) as Effect.Effect<ReadonlyArray<Row>, SqlError>,
      named(operation)
    )
  return {
    /** The mark of now: what is read afterwards is as of then, or newer. */
    begin: Effect.map(read(Number.MAX_SAFE_INTEGER, "ConfigFeed.begin"), (rows): ConfigMark => ({
      transactionId: rows[0]?.oldest ?? 0,
      seen: nothingSeen,
      lastSeq: rows[0]?.last ?? 0
    })),
    since: (mark: ConfigMark): Effect.Effect<ConfigNews, StoreError> =>
      Effect.map(read(mark.transactionId, "ConfigFeed.since"), (rows) => newsOf(rows, mark))
  }
})
