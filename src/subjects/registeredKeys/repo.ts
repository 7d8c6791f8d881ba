/** Registered keys, as far as they are more than API keys, and the limits on issuing them. Counts are made from the rows, so that they hold over restarts. */
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import {
  dayMs,
  hourMs,
  type IssueCounts,
  type IssueLimits,
  type IssueScope,
  noIssueLimits,
  type Registration
} from "./entity.ts"
import { MaybeText, MaybeWhole, Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"

export class RegisteredKeyRepo extends Context.Tag("gateway/subjects/registeredKeys/RegisteredKeyRepo")<
  RegisteredKeyRepo,
  {
    /** Lists the registrations whose API key exists, oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<Registration>, StoreError>
    /** Null when it was not registered, or its API key was deleted. */
    readonly get: (keyId: string) => Effect.Effect<Registration | null, StoreError>
    readonly byIdempotencyHash: (hash: string) => Effect.Effect<Registration | null, StoreError>
    readonly insert: (registration: Registration) => Effect.Effect<void, StoreError>
    /** Notes when a key was revoked; the first time counts. */
    readonly revoke: (keyId: string, nowMs: number) => Effect.Effect<void, StoreError>
    /** Removes what no longer counts of keys that were deleted: their idempotency key, and after a day the row. */
    readonly tidy: (nowMs: number) => Effect.Effect<void, StoreError>
    readonly limitsOf: (scope: IssueScope) => Effect.Effect<IssueLimits, StoreError>
    readonly setLimits: (scope: IssueScope, limits: IssueLimits) => Effect.Effect<void, StoreError>
    /** False when there were none. */
    readonly removeLimits: (scope: IssueScope) => Effect.Effect<boolean, StoreError>
    readonly countsOf: (scope: IssueScope, nowMs: number) => Effect.Effect<IssueCounts, StoreError>
    /** Returns when the `n`th newest key was issued, `n` from 1; null when there are fewer. */
    readonly nthNewestMs: (scope: IssueScope, n: number) => Effect.Effect<number | null, StoreError>
    /** Runs reads and writes without another write between them; a failure undoes all of them. */
    readonly atomically: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E | StoreError>
  }
>() {}

const Row = Schema.Struct({
  keyId: Text,
  provider: Text,
  accountId: MaybeText,
  idempotencyHash: MaybeText,
  issuedAtMs: Whole,
  revokedAtMs: MaybeWhole
})

const LimitRow = Schema.Struct({
  scope: Schema.Literal("provider", "account"),
  subject: Text,
  maxActiveKeys: MaybeWhole,
  dailyIssueLimit: MaybeWhole,
  hourlyIssueLimit: MaybeWhole
})

const Counts = Schema.Tuple(
  Schema.Struct({ activeKeys: Schema.Number, dailyIssued: Schema.Number, hourlyIssued: Schema.Number })
)
const Times = Schema.Array(Schema.Struct({ issuedAtMs: Schema.Number }))

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "registered_keys", Row)
  const limits = Table.make(sql, "issue_limits", LimitRow)

  const exists = sql`key_id IN (SELECT id FROM api_keys)`
  const of = ({ scope, subject }: IssueScope) =>
    scope === "provider" ? sql`provider = ${subject}` : sql`account_id = ${subject}`
  const at = ({ scope, subject }: IssueScope) => sql`scope = ${scope} AND subject = ${subject}`

  const insert = Effect.fn("RegisteredKeyRepo.insert")((registration: Registration) =>
    Effect.catchTag(table.insert("RegisteredKeyRepo.insert", registration), "AlreadyStored", Effect.die)
  )
  const revoke = Effect.fn("RegisteredKeyRepo.revoke")((keyId: string, nowMs: number) =>
    sql`UPDATE registered_keys SET revoked_at_ms = ${Math.trunc(nowMs)} WHERE key_id = ${keyId} AND revoked_at_ms IS NULL`.pipe(
      Effect.asVoid,
      Effect.mapError(Table.named("RegisteredKeyRepo.revoke"))
    )
  )
  const tidy = Effect.fn("RegisteredKeyRepo.tidy")((nowMs: number) =>
    Effect.zipRight(
      sql`DELETE FROM registered_keys WHERE issued_at_ms <= ${Math.trunc(nowMs) - dayMs} AND NOT ${exists}`,
      sql`UPDATE registered_keys SET idempotency_hash = NULL WHERE idempotency_hash IS NOT NULL AND NOT ${exists}`
    ).pipe(Effect.asVoid, Effect.mapError(Table.named("RegisteredKeyRepo.tidy")))
  )
  const limitsOf = Effect.fn("RegisteredKeyRepo.limitsOf")((scope: IssueScope) =>
    Effect.map(
      limits.first("RegisteredKeyRepo.limitsOf", sql`WHERE ${at(scope)}`),
      (row): IssueLimits => row ?? noIssueLimits
    )
  )
  const setLimits = Effect.fn("RegisteredKeyRepo.setLimits")((scope: IssueScope, given: IssueLimits) =>
    sql`
      INSERT INTO issue_limits ${sql.insert({ ...scope, ...given })}
      ON CONFLICT (scope, subject) DO UPDATE SET
        max_active_keys = excluded.max_active_keys,
        daily_issue_limit = excluded.daily_issue_limit,
        hourly_issue_limit = excluded.hourly_issue_limit`.pipe(
      Effect.asVoid,
      Effect.mapError(Table.named("RegisteredKeyRepo.setLimits"))
    )
  )
  const countsOf = Effect.fn("RegisteredKeyRepo.countsOf")((scope: IssueScope, nowMs: number) => {
    const now = Math.trunc(nowMs)
    const since = (ms: number) =>
      sql`(SELECT count(*) FROM registered_keys WHERE ${of(scope)} AND issued_at_ms > ${now - ms})`
    return sql`
      SELECT ${since(dayMs)} AS daily_issued, ${since(hourMs)} AS hourly_issued,
        (SELECT count(*) FROM registered_keys JOIN api_keys ON api_keys.id = key_id
          WHERE ${of(scope)} AND is_active = 1 AND (expires_at_ms IS NULL OR expires_at_ms > ${now})) AS active_keys`.pipe(
      Effect.flatMap(Schema.decodeUnknown(Counts)),
      Effect.mapBoth({ onFailure: Table.named("RegisteredKeyRepo.countsOf"), onSuccess: ([counts]) => counts })
    )
  })
  const nthNewestMs = Effect.fn("RegisteredKeyRepo.nthNewestMs")((scope: IssueScope, n: number) =>
    sql`
      SELECT issued_at_ms FROM registered_keys WHERE ${of(scope)}
      ORDER BY issued_at_ms DESC LIMIT 1 OFFSET ${n - 1}`.pipe(
      Effect.flatMap(Schema.decodeUnknown(Times)),
      Effect.mapBoth({
        onFailure: Table.named("RegisteredKeyRepo.nthNewestMs"),
        onSuccess: ([row]) => row?.issuedAtMs ?? null
      })
    )
  )

  return RegisteredKeyRepo.of({
    list: Effect.withSpan(
      table.select("RegisteredKeyRepo.list", sql`WHERE ${exists} ORDER BY issued_at_ms, key_id`),
      "RegisteredKeyRepo.list"
    ),
    get: Effect.fn("RegisteredKeyRepo.get")((keyId: string) =>
      table.first("RegisteredKeyRepo.get", sql`WHERE key_id = ${keyId} AND ${exists}`)
    ),
    byIdempotencyHash: Effect.fn("RegisteredKeyRepo.byIdempotencyHash")((hash: string) =>
      table.first("RegisteredKeyRepo.byIdempotencyHash", sql`WHERE idempotency_hash = ${hash} AND ${exists}`)
    ),
    insert,
    revoke,
    tidy,
    limitsOf,
    setLimits,
    removeLimits: Effect.fn("RegisteredKeyRepo.removeLimits")((scope: IssueScope) =>
      limits.remove("RegisteredKeyRepo.removeLimits", at(scope))
    ),
    countsOf,
    nthNewestMs,
    atomically: <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E | StoreError> =>
      Effect.mapError(sql.withTransaction(work), (error: E | SqlError): E | StoreError =>
        Predicate.isTagged(error, "SqlError") ? Table.named("RegisteredKeyRepo.atomically")(error) : (error as E)
      )
  })
})

export const layer: Layer.Layer<RegisteredKeyRepo, never, SqlClient.SqlClient> = Layer.effect(RegisteredKeyRepo, make)
