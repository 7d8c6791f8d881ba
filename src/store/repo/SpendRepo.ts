/** What API keys have used, for their limits: sums over the usage log. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreError } from "../Errors.ts"
import * as Table from "../Table.ts"

/** Requests that arrived from `sinceMs` on and before `untilMs` (epoch milliseconds). */
export interface SpendQuery {
  readonly apiKeyId: string
  readonly sinceMs: number
  readonly untilMs: number
  readonly provider?: string
  readonly model?: string
}

export interface Spend {
  readonly requests: number
  /** Of prompts and answers. */
  readonly tokens: number
  readonly costNanoUsd: number
}

export class SpendRepo extends Context.Tag("gateway/store/SpendRepo")<
  SpendRepo,
  {
    readonly sum: (query: SpendQuery) => Effect.Effect<Spend, StoreError>
    /** Arrival times (epoch milliseconds) of the key's newest requests that were not refused by a limit; the newest first. */
    readonly arrivals: (
      apiKeyId: string,
      sinceMs: number,
      limit: number
    ) => Effect.Effect<ReadonlyArray<number>, StoreError>
  }
>() {}

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const sum = Effect.fn("SpendRepo.sum")(({ apiKeyId, model, provider, sinceMs, untilMs }: SpendQuery) =>
    sql<Spend>`
      SELECT COUNT(*) AS requests, COALESCE(SUM(tokens_in + tokens_out), 0) AS tokens,
        COALESCE(SUM(cost_nano_usd), 0) AS cost_nano_usd
      FROM usage_log
      WHERE ${sql.and([
        sql`api_key_id = ${apiKeyId}`,
        sql`timestamp_ms >= ${sinceMs}`,
        sql`timestamp_ms < ${untilMs}`,
        ...(provider === undefined ? [] : [sql`provider = ${provider}`]),
        ...(model === undefined ? [] : [sql`model = ${model}`])
      ])}`.pipe(
      Effect.mapBoth({
        onFailure: Table.named("SpendRepo.sum"),
        onSuccess: ([row]) => row ?? { requests: 0, tokens: 0, costNanoUsd: 0 }
      })
    )
  )

  const arrivals = Effect.fn("SpendRepo.arrivals")((apiKeyId: string, sinceMs: number, limit: number) =>
    sql<{ readonly timestampMs: number }>`
      SELECT timestamp_ms FROM usage_log
      WHERE api_key_id = ${apiKeyId} AND timestamp_ms >= ${sinceMs} AND NOT (attempts = 0 AND status = 429)
      ORDER BY timestamp_ms DESC LIMIT ${limit}`.pipe(
      Effect.mapBoth({
        onFailure: Table.named("SpendRepo.arrivals"),
        onSuccess: (rows) => rows.map(({ timestampMs }) => timestampMs)
      })
    )
  )

  return SpendRepo.of({ sum, arrivals })
})

export const layer: Layer.Layer<SpendRepo, never, SqlClient.SqlClient> = Layer.effect(SpendRepo, make)
