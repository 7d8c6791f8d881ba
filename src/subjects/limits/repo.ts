/** Budgets and token limits of API keys, and the notices of their windows. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type Budget, LimitScope, LimitThreshold, ResetInterval, type TokenLimit } from "./entity.ts"
import { Flag, Text, Whole } from "../../store/engine/Columns.ts"
import type { AlreadyStored, StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"

const BudgetRow = Schema.Struct({
  apiKeyId: Text,
  dailyLimitNanoUsd: Whole,
  weeklyLimitNanoUsd: Whole,
  monthlyLimitNanoUsd: Whole,
  warningThreshold: Schema.Number,
  resetInterval: ResetInterval,
  resetTime: Text,
  timeZone: Text,
  createdAtMs: Whole,
  updatedAtMs: Whole
})

const TokenLimitRow = Schema.Struct({
  id: Text,
  apiKeyId: Text,
  scopeType: LimitScope,
  scopeValue: Text,
  tokenLimit: Whole,
  resetInterval: ResetInterval,
  resetTime: Text,
  timeZone: Text,
  enabled: Flag,
  createdAtMs: Whole,
  updatedAtMs: Whole
})

const NoticeRow = Schema.Struct({ limitId: Text, windowStartMs: Whole, threshold: LimitThreshold })

/** Latest window with a notice of a limit, and its last notice. */
export type LimitNotice = typeof NoticeRow.Type

export class LimitRepo extends Context.Tag("gateway/subjects/limits/LimitRepo")<
  LimitRepo,
  {
    readonly budgets: Effect.Effect<ReadonlyArray<Budget>, StoreError>
    /** Stores a key's budget, replacing the one it had. */
    readonly putBudget: (budget: Budget) => Effect.Effect<void, StoreError>
    /** False when there is none. */
    readonly removeBudget: (apiKeyId: string) => Effect.Effect<boolean, StoreError>
    /** Oldest first. */
    readonly tokenLimits: Effect.Effect<ReadonlyArray<TokenLimit>, StoreError>
    readonly insertTokenLimit: (limit: TokenLimit) => Effect.Effect<void, StoreError | AlreadyStored>
    /** False when there is none. */
    readonly updateTokenLimit: (limit: TokenLimit) => Effect.Effect<boolean, StoreError | AlreadyStored>
    /** False when there is none. */
    readonly removeTokenLimit: (id: string) => Effect.Effect<boolean, StoreError>
    /** Everything that belongs to a key. */
    readonly removeKey: (apiKeyId: string) => Effect.Effect<void, StoreError>
    readonly notices: Effect.Effect<ReadonlyArray<LimitNotice>, StoreError>
    readonly putNotice: (notice: LimitNotice) => Effect.Effect<void, StoreError>
  }
>() {}

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const budgets = Table.make(sql, "budgets", BudgetRow)
  const tokenLimits = Table.make(sql, "token_limits", TokenLimitRow)
  const notices = Table.make(sql, "limit_notices", NoticeRow)

  const putBudget = Effect.fn("LimitRepo.putBudget")((budget: Budget) =>
    Schema.encode(BudgetRow)(budget).pipe(
      Effect.flatMap(
        (row) =>
          sql`INSERT INTO budgets ${sql.insert(row)} ON CONFLICT (api_key_id) DO UPDATE SET ${sql.update(row, ["apiKeyId", "createdAtMs"])}`
      ),
      Effect.asVoid,
      Effect.mapError(Table.named("LimitRepo.putBudget"))
    )
  )

  const putNotice = Effect.fn("LimitRepo.putNotice")(({ limitId, threshold, windowStartMs }: LimitNotice) =>
    sql`
      INSERT INTO limit_notices (limit_id, window_start_ms, threshold) VALUES (${limitId}, ${windowStartMs}, ${threshold})
      ON CONFLICT (limit_id) DO UPDATE SET window_start_ms = excluded.window_start_ms, threshold = excluded.threshold
      WHERE excluded.window_start_ms > limit_notices.window_start_ms
        OR (excluded.window_start_ms = limit_notices.window_start_ms AND excluded.threshold = 'limit')`.pipe(
      Effect.asVoid,
      Effect.mapError(Table.named("LimitRepo.putNotice"))
    )
  )

  const removeKey = Effect.fn("LimitRepo.removeKey")((apiKeyId: string) =>
    sql
      .withTransaction(
        Effect.zipRight(
          sql`DELETE FROM budgets WHERE api_key_id = ${apiKeyId}`,
          sql`DELETE FROM token_limits WHERE api_key_id = ${apiKeyId}`
        )
      )
      .pipe(Effect.asVoid, Effect.mapError(Table.named("LimitRepo.removeKey")))
  )

  return LimitRepo.of({
    budgets: Effect.withSpan(
      Effect.map(budgets.all("LimitRepo.budgets"), (all) =>
        all.toSorted((one, other) => (one.apiKeyId < other.apiKeyId ? -1 : 1))
      ),
      "LimitRepo.budgets"
    ),
    putBudget,
    removeBudget: Effect.fn("LimitRepo.removeBudget")((apiKeyId: string) =>
      budgets.remove("LimitRepo.removeBudget", sql`api_key_id = ${apiKeyId}`)
    ),
    tokenLimits: Effect.withSpan(
      tokenLimits.select("LimitRepo.tokenLimits", sql`ORDER BY created_at_ms, id`),
      "LimitRepo.tokenLimits"
    ),
    insertTokenLimit: Effect.fn("LimitRepo.insertTokenLimit")((limit: TokenLimit) =>
      tokenLimits.insert("LimitRepo.insertTokenLimit", limit)
    ),
    updateTokenLimit: Effect.fn("LimitRepo.updateTokenLimit")((limit: TokenLimit) =>
      tokenLimits.update("LimitRepo.updateTokenLimit", sql`id = ${limit.id}`, limit)
    ),
    removeTokenLimit: Effect.fn("LimitRepo.removeTokenLimit")((id: string) =>
      tokenLimits.remove("LimitRepo.removeTokenLimit", sql`id = ${id}`)
    ),
    removeKey,
    notices: Effect.withSpan(notices.select("LimitRepo.notices", sql`ORDER BY limit_id`), "LimitRepo.notices"),
    putNotice
  })
})

export const layer: Layer.Layer<LimitRepo, never, SqlClient.SqlClient> = Layer.effect(LimitRepo, make)
