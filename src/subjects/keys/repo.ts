/** Gateway API keys: only the hash and the prefix are stored. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type ApiKey, endpointCategories, RateLimit } from "./entity.ts"
import { Flag, SharedJson, MaybeText, MaybeWhole, Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"
import * as Records from "../../store/engine/Records.ts"

export class ApiKeyRepo extends Context.Tag("gateway/subjects/keys/ApiKeyRepo")<
  ApiKeyRepo,
  Records.Records<ApiKey, ApiKey> & {
    /** `hash` is the SHA-256 of the secret, lower-case hex. */
    readonly byHash: (hash: string) => Effect.Effect<ApiKey | null, StoreError>
    /** Records when keys were last used (id → epoch ms), all in one statement. A time never goes back. */
    readonly touchLastUsed: (lastUsedAtMs: ReadonlyMap<string, number>) => Effect.Effect<void, StoreError>
  }
>() {}

const Texts = SharedJson(Schema.Array(Text))

const Schedule = Schema.Struct({
  enabled: Schema.Boolean,
  from: Text,
  until: Text,
  days: Schema.Array(Schema.Number),
  tz: Text
})

const OldSecret = Schema.Struct({ hash: Text, untilMs: Schema.Number })

const Row = Schema.Struct({
  id: Text,
  name: Text,
  prefix: Text,
  hash: Text,
  oldSecrets: SharedJson(Schema.Array(OldSecret)),
  scopes: Texts,
  allowedModels: Schema.NullOr(Texts),
  blockedModels: Texts,
  allowedEndpoints: SharedJson(Schema.Array(Schema.Literal(...endpointCategories))),
  allowedCombos: Texts,
  allowedProviders: Texts,
  allowedConnections: Texts,
  ipAllowlist: Texts,
  expiresAtMs: MaybeWhole,
  rateLimits: SharedJson(Schema.Array(RateLimit)),
  maxRequestsPerDay: MaybeWhole,
  maxRequestsPerMinute: MaybeWhole,
  maxSessions: MaybeWhole,
  accessSchedule: Schema.NullOr(SharedJson(Schedule)),
  noLog: Flag,
  isActive: Flag,
  userId: MaybeText,
  teamId: MaybeText,
  ownedSinceMs: MaybeWhole,
  createdAtMs: Whole,
  lastUsedAtMs: MaybeWhole
})

const oldestFirst = (one: ApiKey, other: ApiKey): number =>
  one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1)

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "api_keys", Row)

  const list = Effect.withSpan(
    Effect.map(table.all("ApiKeyRepo.list"), (keys) => keys.toSorted(oldestFirst)),
    "ApiKeyRepo.list"
  )
  const { get, insert, update, remove } = Records.make(sql, { name: "ApiKeyRepo", table: "api_keys", row: Row })
  const byHash = Effect.fn("ApiKeyRepo.byHash")((hash: string) =>
    table.first("ApiKeyRepo.byHash", sql`WHERE hash = ${hash}`)
  )

  const touchLastUsed = Effect.fn("ApiKeyRepo.touchLastUsed")((lastUsedAtMs: ReadonlyMap<string, number>) =>
    sql`
      UPDATE api_keys SET last_used_at_ms = MAX(COALESCE(last_used_at_ms, 0), CAST(used.value AS BIGINT))
      FROM json_each(${JSON.stringify(Object.fromEntries(lastUsedAtMs))}) AS used
      WHERE api_keys.id = used.key`.pipe(Effect.asVoid, Effect.mapError(Table.named("ApiKeyRepo.touchLastUsed")))
  )
  return ApiKeyRepo.of({ list, get, byHash, insert, update, remove, touchLastUsed })
})

export const layer: Layer.Layer<ApiKeyRepo, never, SqlClient.SqlClient> = Layer.effect(ApiKeyRepo, make)
