/** The ledger as it is read (`/api/usage/ledger`): a usage row is the entry of a request with one call, the others have a table. */
import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { ModelPrice } from "../pricing/entity.ts"
import { MaybeText, Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import { moneyOf } from "../../store/usage/MoneyColumns.ts"
import * as Table from "../../store/engine/Table.ts"
import { type Condition, newestIds } from "../../store/usage/UsageFacetsSql.ts"
import { listed } from "../../store/engine/Engine.ts"

const Row = Schema.Struct({
  requestId: Text,
  attempt: Whole,
  apiKeyId: MaybeText,
  provider: MaybeText,
  connectionId: MaybeText,
  model: MaybeText,
  state: Schema.Literal("settled", "voided", "estimated"),
  reservedNanoUsd: Whole,
  settledNanoUsd: Schema.Number,
  price: Schema.NullOr(Schema.parseJson(ModelPrice)),
  createdAtMs: Whole,
  settledAtMs: Whole
})

/** An entry of a call that has ended. */
export type LedgerEntry = typeof Row.Type

/** The last entry of a page; the next one begins before it. */
export interface LedgerCursor {
  readonly requestId: string
  readonly attempt: number
}

export interface LedgerQuery {
  readonly limit: number
  readonly cursor: LedgerCursor | null
  readonly apiKeyId?: string
  readonly requestId?: string
}

export interface LedgerPage {
  readonly entries: ReadonlyArray<LedgerEntry>
  /** Null at the end. */
  readonly nextCursor: LedgerCursor | null
}

export class LedgerRepo extends Context.Tag("gateway/subjects/usage/LedgerRepo")<
  LedgerRepo,
  {
    /** Newest requests first, and of a request the latest call. `limit` is clamped to 1 to 1,000. */
    readonly page: (query: LedgerQuery) => Effect.Effect<LedgerPage, StoreError>
  }
>() {}

const mostPerPage = 1_000
/** Greater than what an id can hold. */
const lastCharacter = "\u{10ffff}"

/** Rows of one call of a key, by the index of the filters of the usage log. */
const idsOfKey = (apiKeyId: string, cursor: LedgerCursor | null, most: number): Condition =>
  newestIds({
    range: {
      leastId: "",
      // The row of a request is the entry of its first call.
      beforeId: cursor === null ? lastCharacter : `${cursor.requestId}${cursor.attempt > 1 ? "\u{1}" : ""}`,
      sinceMs: Number.MIN_SAFE_INTEGER,
      untilMs: Number.MAX_SAFE_INTEGER
    },
    most,
    facets: [{ sql: "api_key_id = ? AND calls = 1 AND provider <> ''", parameters: [apiKeyId] }],
    arms: [],
    rows: [],
    tail: [{ sql: "+api_key_id = ? AND attempts = 1 AND provider IS NOT NULL", parameters: [apiKeyId] }]
  })

/** A call that cost nothing and brought no answer is void. */
const ofUsageRow = `id AS request_id, 1 AS attempt, api_key_id, provider, connection_id, model,
  CASE WHEN cost_nano_usd = 0 AND cost_nano_parts = 0 AND outcome <> 'completed' AND tokens_in + tokens_out = 0 THEN 'voided'
    WHEN usage_source = 'upstream' THEN 'settled' ELSE 'estimated' END AS state,
  reserved_nano_usd, ${moneyOf("cost_nano_usd", "cost_nano_parts")} AS settled_nano_usd, price, timestamp_ms AS created_at_ms,
  timestamp_ms + latency_ms AS settled_at_ms`

const ofEntry = `request_id, attempt, api_key_id, provider, connection_id, model, state, reserved_nano_usd,
  ${moneyOf("COALESCE(settled_nano_usd, 0)", "settled_nano_parts")} AS settled_nano_usd, price, created_at_ms, COALESCE(settled_at_ms, created_at_ms) AS settled_at_ms`

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const decode = (rows: unknown) => Schema.decodeUnknown(Schema.Array(Row))(rows)

  const page = Effect.fn("LedgerRepo.page")(
    function* ({ apiKeyId, cursor, limit, requestId }: LedgerQuery) {
      const size = Math.min(Math.max(Math.trunc(limit), 1), mostPerPage)
      const range = (id: Fragment, attempt: Fragment): ReadonlyArray<Fragment> => [
        ...(cursor === null ? [] : [sql`(${id}, ${attempt}) < (${cursor.requestId}, ${cursor.attempt})`]),
        // So that the index of the ids is used.
        ...(cursor === null ? [] : [sql`${id} <= ${cursor.requestId}`]),
        ...(requestId === undefined ? [] : [sql`${id} = ${requestId}`])
      ]
      const ofRows = range(sql`id`, sql`1`)
      const ofEntries = range(sql`request_id`, sql`attempt`)
      const wanted = apiKeyId === undefined || requestId !== undefined ? null : idsOfKey(apiKeyId, cursor, size + 1)
      const ids = wanted === null ? null : yield* sql.unsafe<{ readonly id: string }>(wanted.sql, wanted.parameters)
      const ofKey: ReadonlyArray<Fragment> = apiKeyId === undefined ? [] : [sql`api_key_id = ${apiKeyId}`]
      const askedRows =
        ids === null
          ? ofKey
          : [
              sql`id IN (${listed(
                sql,
                ids.map(({ id }) => id)
              )})`
            ]
      const rows = yield* sql`
        SELECT * FROM (
          SELECT ${sql.literal(ofUsageRow)} FROM usage_log
          WHERE ${sql.and([sql`attempts = 1`, sql`provider IS NOT NULL`, ...ofRows, ...askedRows])}
          ORDER BY id DESC LIMIT ${size + 1}
        ) AS rows UNION ALL SELECT * FROM (
          SELECT ${sql.literal(ofEntry)} FROM ledger_entries
          WHERE ${sql.and([sql`1 = 1`, ...ofEntries, ...ofKey])}
          ORDER BY request_id DESC, attempt DESC LIMIT ${size + 1}
        ) AS entries ORDER BY request_id DESC, attempt DESC LIMIT ${size + 1}`
      const found = yield* decode(rows)
      const entries = found.slice(0, size)
      const last = entries.at(-1)
      const isCut = found.length > size && last !== undefined
      return { entries, nextCursor: isCut ? { requestId: last.requestId, attempt: last.attempt } : null }
    },
    Effect.mapError(Table.named("LedgerRepo.page"))
  )

  return LedgerRepo.of({ page })
})

export const layer: Layer.Layer<LedgerRepo, never, SqlClient.SqlClient> = Layer.effect(LedgerRepo, make)
