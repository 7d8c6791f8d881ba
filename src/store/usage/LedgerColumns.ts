/** The columns of a ledger entry, as they are written. */
import type { UsageRow } from "../../contract/domain/Usage.ts"
import type { Column } from "../engine/Columns.ts"
import { nanoColumn, partsColumn } from "./MoneyColumns.ts"

const columns = [
  "request_id",
  "attempt",
  "api_key_id",
  "provider",
  "connection_id",
  "model",
  "state",
  "reserved_nano_usd",
  "settled_nano_usd",
  "settled_nano_parts",
  "price",
  "created_at_ms",
  "settled_at_ms"
]

/** An entry that exists already is skipped, so that a repeat does no harm. */
export const insertEntry = `INSERT INTO ledger_entries (${columns.join(",")}) VALUES (${columns.map(() => "?").join(",")}) ON CONFLICT DO NOTHING`

/** The parameters of `insertEntry` for each call of a request. */
export const entriesOf = ({ apiKeyId, calls, requestId }: UsageRow): ReadonlyArray<ReadonlyArray<Column>> =>
  (calls ?? []).map((call) => [
    requestId,
    call.attempt,
    apiKeyId,
    call.provider,
    call.connectionId,
    call.model,
    call.state,
    call.reservedNanoUsd,
    nanoColumn(call.settledNanoUsd),
    partsColumn(call.settledNanoUsd),
    call.price === null ? null : JSON.stringify(call.price),
    Math.trunc(call.createdAtMs),
    Math.trunc(call.settledAtMs)
  ])
