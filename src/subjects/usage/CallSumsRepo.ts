/**
 * Cost of calls to a provider by day and model, read on the reading thread, to be compared with its bill: each call counts at the model that
 * was asked, where the usage log has one row for all calls of a request. Of days whose rows were deleted only the sums are left.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type CallReason, callReasons } from "../../contract/domain/CallReason.ts"
import { nanoUsdParts } from "../../contract/domain/Usage.ts"
import {
  type ReadRefused,
  type ReadRow,
  type ReadStatement,
  type ReadValue,
  ReadWorker
} from "../../store/engine/ReadWorker.ts"
import { dayMs } from "../../store/usage/UsageSumsSql.ts"
import { idAt } from "./repo.ts"

/** Whole days in UTC, epoch milliseconds. */
export interface CallSumsQuery {
  readonly provider: string
  readonly connectionId?: string
  readonly sinceMs: number
  readonly untilMs: number
}

export interface ReasonSums {
  readonly reason: CallReason
  readonly calls: number
  readonly costNanoUsd: number
  /** The newest first, at most `mostIds`. */
  readonly requestIds: ReadonlyArray<string>
}

export interface CallSums {
  /** Beginning of the day. */
  readonly startMs: number
  readonly model: string
  readonly calls: number
  readonly costNanoUsd: number
  /** `sums`: the rows of the day were deleted, so that nothing else is known of them. */
  readonly source: "calls" | "sums"
  readonly reasons: ReadonlyArray<ReasonSums>
}

export class CallSumsRepo extends Context.Tag("gateway/subjects/usage/CallSumsRepo")<
  CallSumsRepo,
  {
    /** The latest day first. `isCut`: there are more than `mostSums`. */
    readonly sums: (
      query: CallSumsQuery
    ) => Effect.Effect<{ readonly sums: ReadonlyArray<CallSums>; readonly isCut: boolean }, ReadRefused>
  }
>() {}

export const mostIds = 5
export const mostSums = 10_000

interface Part {
  readonly sql: string
  readonly parameters: ReadonlyArray<ReadValue>
}

/** Rows are deleted in the order of their ids: days behind that of the oldest row are whole. Without a deletion all days are. */
const oldestBy = (last: string): string =>
  `SELECT (SELECT MIN(seq) FROM usage_log) AS first_seq, (SELECT timestamp_ms FROM usage_log ORDER BY id LIMIT 1) AS first_ms, (${last}) AS last_seq`

const oldest: ReadStatement = {
  sql: oldestBy("SELECT seq FROM sqlite_sequence WHERE name = 'usage_log'"),
  postgres: oldestBy("SELECT last_value FROM usage_log_seq_seq WHERE is_called"),
  parameters: []
}

/** Finds the time from which on rows are complete. */
const wholeSince = ([row = {}]: ReadonlyArray<ReadRow>, untilMs: number): number => {
  const isWhole = row["first_seq"] === 1 || row["last_seq"] === null || row["last_seq"] === undefined
  if (isWhole) return 0
  return row["first_ms"] === null ? untilMs : (Math.floor(Number(row["first_ms"]) / dayMs) + 1) * dayMs
}

const scope = ({ connectionId, provider }: CallSumsQuery, table = ""): Part => ({
  sql: `${table}provider = ?${connectionId === undefined ? "" : ` AND ${table}connection_id = ?`}`,
  parameters: connectionId === undefined ? [provider] : [provider, connectionId]
})

const hourMs = 3_600_000

/** Each call with its cost and, where its cost may be another than the provider's, why. */
const callsOf = (query: CallSumsQuery, sinceMs: number): Part => {
  const rows = scope(query)
  const entries = scope(query, "e.")
  const reason = (state: { readonly voided: string; readonly unpriced: string; readonly settled: string }): string =>
    `CASE WHEN ${state.voided} THEN 'voided' WHEN ${state.unpriced} THEN 'unpriced' WHEN ${state.settled} THEN NULL
      WHEN outcome = 'aborted' THEN 'aborted' WHEN outcome = 'failed' THEN 'failed' ELSE 'estimated' END`
  return {
    sql: `SELECT timestamp_ms / ${dayMs} * ${dayMs} AS start_ms, id AS request_id, model, cost_nano_usd AS nano, cost_nano_parts AS parts,
        ${reason({ voided: "1 = 0", unpriced: "priced = 0 AND tokens_in + tokens_out > 0", settled: "usage_source = 'upstream'" })} AS reason
      FROM usage_log WHERE attempts = 1 AND ${rows.sql} AND id >= ? AND id < ? AND timestamp_ms >= ? AND timestamp_ms < ?
      UNION ALL
      SELECT e.created_at_ms / ${dayMs} * ${dayMs}, e.request_id, e.model, COALESCE(e.settled_nano_usd, 0), e.settled_nano_parts,
        ${reason({ voided: "e.state = 'voided'", unpriced: "e.price IS NULL", settled: "e.state = 'settled'" })}
      FROM ledger_entries AS e LEFT JOIN usage_log AS u ON u.id = e.request_id
      WHERE ${entries.sql} AND e.created_at_ms >= ? AND e.created_at_ms < ?`,
    parameters: [
      ...rows.parameters,
      idAt(sinceMs),
      idAt(query.untilMs + hourMs),
      sinceMs,
      query.untilMs,
      ...entries.parameters,
      sinceMs,
      query.untilMs
    ]
  }
}

const totals = "TOTAL(nano) AS nano, TOTAL(parts) AS parts"

const costIn = (row: ReadRow): number => Number(row["nano"] ?? 0) + Number(row["parts"] ?? 0) / nanoUsdParts

const keyOf = (row: ReadRow): string => JSON.stringify([row["start_ms"], row["model"]])

const reasonIn = Schema.decodeUnknownSync(Schema.Literal(...callReasons))
const idsIn = Schema.decodeUnknownSync(Schema.parseJson(Schema.Array(Schema.String)))

const sumsIn = (row: ReadRow, source: CallSums["source"], reasons: ReadonlyArray<ReasonSums>): CallSums => ({
  startMs: Number(row["start_ms"]),
  model: String(row["model"] ?? ""),
  calls: Number(row["calls"] ?? 0),
  costNanoUsd: costIn(row),
  source,
  reasons
})

export const make = Effect.map(ReadWorker, (worker) => {
  const sums = Effect.fn("CallSumsRepo.sums")(function* (query: CallSumsQuery) {
    const [found = []] = yield* worker.read([oldest])
    const wholeMs = Math.min(query.untilMs, Math.max(query.sinceMs, wholeSince(found, query.untilMs)))
    const calls = callsOf(query, wholeMs)
    const deleted = scope(query)
    const newestFirst = `GROUP BY start_ms, model ORDER BY start_ms DESC, nano DESC, COALESCE(model, '') LIMIT ${mostSums + 1}`
    const [known = [], explained = [], before = []] = yield* worker.read([
      {
        sql: `SELECT start_ms, model, COUNT(*) AS calls, ${totals} FROM (${calls.sql}) AS calls ${newestFirst}`,
        parameters: calls.parameters
      },
      {
        sql: `SELECT start_ms, model, reason, COUNT(*) AS calls, ${totals}, json_group_array(request_id ORDER BY request_id DESC) FILTER (WHERE n <= ${mostIds}) AS ids
          FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY start_ms, model, reason ORDER BY request_id DESC) AS n
            FROM (${calls.sql}) AS calls WHERE reason IS NOT NULL) AS explained
          GROUP BY start_ms, model, reason ORDER BY start_ms DESC, COALESCE(model, ''), reason LIMIT ${mostSums}`,
        parameters: calls.parameters
      },
      {
        sql: `SELECT start_ms, model, SUM(requests) AS calls, TOTAL(cost_nano_usd) AS nano, TOTAL(cost_nano_parts) AS parts FROM usage_days
          WHERE ${deleted.sql} AND start_ms >= ? AND start_ms < ? ${newestFirst}`,
        parameters: [...deleted.parameters, query.sinceMs, wholeMs]
      }
    ])
    const reasons = new Map<string, Array<ReasonSums>>()
    for (const row of explained) {
      const one: ReasonSums = {
        reason: reasonIn(row["reason"]),
        calls: Number(row["calls"]),
        costNanoUsd: costIn(row),
        requestIds: idsIn(row["ids"])
      }
      const others = reasons.get(keyOf(row))
      if (others === undefined) reasons.set(keyOf(row), [one])
      else others.push(one)
    }
    const all = [
      ...known.map((row) => sumsIn(row, "calls", reasons.get(keyOf(row)) ?? [])),
      ...before.map((row) => sumsIn(row, "sums", []))
    ]
    return { sums: all.slice(0, mostSums), isCut: all.length > mostSums }
  })
  return CallSumsRepo.of({ sums })
})

export const layer: Layer.Layer<CallSumsRepo, never, ReadWorker> = Layer.effect(CallSumsRepo, make)
