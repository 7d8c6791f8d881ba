/** The ledger as it is read (`/api/usage/ledger`): a usage row is the entry of a request with one call, the others have a table. */
import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { ModelPrice } from "../../domain/Pricing.ts"
import { MaybeText, Text, Whole } from "../Columns.ts"
import type { StoreError } from "../Errors.ts"
import { moneyOf } from "../MoneyColumns.ts"
import * as Table from "../Table.ts"

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

export class LedgerRepo extends Context.Tag("gateway/store/LedgerRepo")<
  LedgerRepo,
  {
    /** Newest requests first, and of a request the latest call. `limit` is clamped to 1 to 1,000. */
    readonly page: (query: LedgerQuery) => Effect.Effect<LedgerPage, StoreError>
  }
>() {}

const mostPerPage = 1_000
/** Rows that one page compares with its filter: the database runs in the thread that answers requests. */
const mostLookedAt = 20_000

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
      const isFiltered = apiKeyId !== undefined && requestId === undefined
      const bound = isFiltered
        ? (yield* sql<{ readonly id: string }>`
            SELECT id FROM usage_log WHERE ${sql.and([sql`1 = 1`, ...ofRows])}
            ORDER BY id DESC LIMIT 1 OFFSET ${mostLookedAt - 1}`)[0]?.id
        : undefined
      const asked = (id: Fragment): ReadonlyArray<Fragment> => [
        ...(bound === undefined ? [] : [sql`${id} >= ${bound}`]),
        // The sign keeps the database from the index of the keys, which would have to be sorted for every page.
        ...(apiKeyId === undefined ? [] : [sql`+api_key_id = ${apiKeyId}`])
      ]
      const rows = yield* sql`
        SELECT * FROM (
          SELECT ${sql.literal(ofUsageRow)} FROM usage_log
          WHERE ${sql.and([sql`attempts = 1`, sql`provider IS NOT NULL`, ...ofRows, ...asked(sql`id`)])}
          ORDER BY id DESC LIMIT ${size + 1}
        ) UNION ALL SELECT * FROM (
          SELECT ${sql.literal(ofEntry)} FROM ledger_entries
          WHERE ${sql.and([sql`1 = 1`, ...ofEntries, ...asked(sql`request_id`)])}
          ORDER BY request_id DESC, attempt DESC LIMIT ${size + 1}
        ) ORDER BY request_id DESC, attempt DESC LIMIT ${size + 1}`
      const found = yield* decode(rows)
      const entries = found.slice(0, size)
      const last = entries.at(-1)
      if (found.length > size && last !== undefined) {
        return { entries, nextCursor: { requestId: last.requestId, attempt: last.attempt } }
      }
      return { entries, nextCursor: bound === undefined ? null : { requestId: bound, attempt: 1 } }
    },
    Effect.mapError(Table.named("LedgerRepo.page"))
  )

  return LedgerRepo.of({ page })
})

export const layer: Layer.Layer<LedgerRepo, never, SqlClient.SqlClient> = Layer.effect(LedgerRepo, make)
