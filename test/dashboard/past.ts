/** Puts requests of past days into the log of a running gateway, as it would have written them. */
import Database from "better-sqlite3"
import { join } from "node:path"

export interface PastRequest {
  readonly atMs: number
  readonly keyId: string | null
  readonly provider: string
  readonly model: string
  readonly usd: number
  readonly combo?: string
  readonly cacheRead?: number
}

const nanoPerUsd = 1_000_000_000

/** An id in the order of time, as the gateway makes them. */
const idOf = (atMs: number, number: number): string => {
  const time = atMs.toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${number.toString(16).padStart(12, "0")}`
}

export const addPast = (dataDir: string, requests: ReadonlyArray<PastRequest>): void => {
  const database = new Database(join(dataDir, "gateway.sqlite"))
  try {
    database.exec("PRAGMA busy_timeout = 10000")
    database.exec("BEGIN IMMEDIATE")
    const insert = database.prepare(
      `INSERT INTO usage_log (id, timestamp_ms, request_id, api_key_id, requested_model, combo, provider, model, source_wire, streamed, outcome, status,
         latency_ms, attempts, tokens_in, tokens_out, tokens_cache_read, tokens_cache_write, tokens_reasoning, cost_nano_usd, priced, usage_source)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'chat', 0, 'completed', 200, 900, 1, 1000, 200, ?, 0, 0, ?, 1, 'upstream')`
    )
    for (const [number, { atMs, cacheRead = 0, combo = null, keyId, model, provider, usd }] of requests.entries()) {
      const id = idOf(atMs, number)
      insert.run(id, atMs, id, keyId, model, combo, provider, model, cacheRead, Math.round(usd * nanoPerUsd))
    }
    database.exec("COMMIT")
  } finally {
    database.close()
  }
}
