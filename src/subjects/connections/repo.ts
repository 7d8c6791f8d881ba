/** Provider connections. API key, OAuth tokens and extra headers are encrypted. */
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import {
  AccountTier,
  AuthType,
  type Connection,
  type ConnectionHealth,
  DeclaredQuota,
  type OAuthTokens,
  TestStatus
} from "./entity.ts"
import { StoredTransport } from "../../contract/domain/Transport.ts"
import { WireName } from "../../contract/domain/Wire.ts"
import { Flag, Json, MaybeText, MaybeWhole, Text, Whole } from "../../store/engine/Columns.ts"
import type { AlreadyStored, StoreError } from "../../store/Errors.ts"
import * as RememberedRows from "../../store/engine/RememberedRows.ts"
import { SecretHeaders, SecretText, sealedColumn, type Stored } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as Table from "../../store/engine/Table.ts"

/** A connection from the database, never one from the environment. */
export type StoredConnection = Stored<Connection>

/** The result of a token refresh. */
export type RenewedTokens = Pick<OAuthTokens, "accessToken" | "refreshToken" | "expiresAtMs">

export class ConnectionRepo extends Context.Tag("gateway/subjects/connections/ConnectionRepo")<
  ConnectionRepo,
  {
    /** Oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<StoredConnection>, StoreError>
    readonly get: (id: string) => Effect.Effect<StoredConnection | null, StoreError>
    readonly insert: (connection: Connection) => Effect.Effect<void, StoreError | AlreadyStored>
    /**
     * Replaces the record. A locked secret is kept unless a new one is given. Tokens that came from this repository are not written: the
     * row keeps its own, which may have been refreshed meanwhile. False when there is no such id.
     */
    readonly update: (connection: Connection) => Effect.Effect<boolean, StoreError | AlreadyStored>
    /** Writes only what was observed; false when there is no such id. */
    readonly updateHealth: (id: string, health: ConnectionHealth) => Effect.Effect<boolean, StoreError>
    /**
     * Writes only the renewed tokens, if the row still holds one of the refresh tokens they replace; false when it does not, because an
     * operator's change wins.
     */
    readonly updateTokens: (
      id: string,
      replaced: ReadonlyArray<Redacted.Redacted>,
      tokens: RenewedTokens
    ) => Effect.Effect<boolean, StoreError>
    readonly remove: (id: string) => Effect.Effect<boolean, StoreError>
  }
>() {}

/** The columns of what was observed. */
export const Health = Schema.Struct({
  testStatus: TestStatus,
  rateLimitedUntilMs: MaybeWhole,
  lastError: MaybeText,
  lastErrorType: MaybeText,
  errorCode: MaybeText,
  backoffLevel: Whole
})

const Row = Schema.Struct({
  id: Text,
  provider: Text,
  name: Text,
  authType: AuthType,
  apiKey: MaybeText,
  oauth: MaybeText,
  baseUrl: MaybeText,
  wires: Schema.NullOr(Json(Schema.Array(WireName))),
  defaultModel: MaybeText,
  models: Json(Schema.Array(Text)),
  priority: Schema.Number,
  tier: Schema.NullOr(AccountTier),
  maxConcurrent: MaybeWhole,
  headers: MaybeText,
  quotas: Json(Schema.Array(DeclaredQuota)),
  isActive: Flag,
  proxyEnabled: Flag,
  transport: MaybeText,
  ...Health.fields,
  createdAtMs: Whole,
  updatedAtMs: Whole
})
type Row = typeof Row.Type

const OAuth = Schema.parseJson(
  Schema.Struct({
    accessToken: SecretText,
    refreshToken: Schema.NullOr(SecretText),
    expiresAtMs: Schema.NullOr(Schema.Number),
    clientId: MaybeText,
    clientSecret: Schema.NullOr(SecretText),
    tokenUrl: MaybeText
  })
)

const isSqlError = (error: unknown): error is SqlError => Predicate.isTagged(error, "SqlError")

const encodeHealth = (row: typeof Health.Type) => Schema.encode(Health)(row)

const services = Effect.all({ sql: SqlClient.SqlClient, secrets: Secrets })
type Services = Effect.Effect.Success<typeof services>

const columnsOf = ({ secrets, sql }: Services) => ({
  table: Table.make(sql, "connections", Row),
  apiKey: sealedColumn(secrets, "connections", "api_key", SecretText),
  oauth: sealedColumn(secrets, "connections", "oauth", OAuth),
  headers: sealedColumn(secrets, "connections", "headers", SecretHeaders),
  transport: sealedColumn(secrets, "connections", "transport", StoredTransport),
  /** Token sets read from here: one of them in an update is the caller's copy, not a change. */
  handedOut: new WeakSet<OAuthTokens>()
})
type Columns = Services & ReturnType<typeof columnsOf>
type Deps = Columns & { readonly rows: RememberedRows.RememberedRows<StoredConnection> }

const toStored = ({ apiKey, handedOut, headers, oauth, transport }: Columns, row: Row): StoredConnection => {
  const opened = {
    apiKey: apiKey.open(row.id, row.apiKey),
    oauth: oauth.open(row.id, row.oauth),
    headers: headers.open(row.id, row.headers),
    transport: transport.open(row.id, row.transport)
  }
  if (opened.oauth.value !== null) handedOut.add(opened.oauth.value)
  return {
    ...row,
    apiKey: opened.apiKey.value,
    oauth: opened.oauth.value,
    headers: opened.headers.value,
    transport: opened.transport.value,
    source: "db",
    locked: opened.apiKey.locked || opened.oauth.locked || opened.headers.locked || opened.transport.locked
  }
}

/** The row of `connection`, to be written over `before`, if there is one. */
const toRow = (
  { apiKey, handedOut, headers, oauth, transport }: Columns,
  connection: Connection,
  before: Row | null
): Row => ({
  ...connection,
  apiKey: apiKey.reseal(connection.id, connection.apiKey, before?.apiKey ?? null),
  oauth:
    before !== null && connection.oauth !== null && handedOut.has(connection.oauth)
      ? before.oauth
      : oauth.reseal(connection.id, connection.oauth, before?.oauth ?? null),
  headers: headers.reseal(connection.id, connection.headers, before?.headers ?? null),
  transport: transport.reseal(connection.id, connection.transport, before?.transport ?? null)
})

const rowOf = ({ sql, table }: Columns, operation: string, id: string) => table.first(operation, sql`WHERE id = ${id}`)

const get = Effect.fn("ConnectionRepo.get")(function* (deps: Columns, id: string) {
  const row = yield* rowOf(deps, "ConnectionRepo.get", id)
  return row === null ? null : toStored(deps, row)
})

const list = ({ rows }: Deps) => Effect.withSpan(rows.list, "ConnectionRepo.list")

const insert = Effect.fn("ConnectionRepo.insert")((deps: Deps, connection: Connection) =>
  deps.rows.writing(connection.id)(deps.table.insert("ConnectionRepo.insert", toRow(deps, connection, null)))
)

/** Runs reads and writes without another write between them. */
const atomically =
  ({ sql }: Deps, operation: string) =>
  <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, Exclude<E, SqlError> | StoreError> =>
    Effect.mapError(sql.withTransaction(work), (error) =>
      isSqlError(error) ? Table.named(operation)(error) : (error as Exclude<E, SqlError>)
    )

const update = Effect.fn("ConnectionRepo.update")(
  function* (deps: Deps, connection: Connection) {
    const before = yield* rowOf(deps, "ConnectionRepo.update", connection.id)
    if (before === null) return false
    return yield* deps.table.update(
      "ConnectionRepo.update",
      deps.sql`id = ${connection.id}`,
      toRow(deps, connection, before)
    )
  },
  (work, deps) => atomically(deps, "ConnectionRepo.update")(work),
  (work, deps, connection) => deps.rows.writing(connection.id)(work)
)

const updateTokens = Effect.fn("ConnectionRepo.updateTokens")(
  function* (deps: Deps, id: string, replaced: ReadonlyArray<Redacted.Redacted>, tokens: RenewedTokens) {
    const operation = "ConnectionRepo.updateTokens"
    const row = yield* rowOf(deps, operation, id)
    const stored = row === null ? null : deps.oauth.open(id, row.oauth).value
    const held = stored?.refreshToken ?? null
    if (stored === null || held === null) return false
    if (!replaced.some((token) => Redacted.value(token) === Redacted.value(held))) return false
    const { accessToken, expiresAtMs, refreshToken } = tokens
    const sealed = deps.oauth.seal(id, { ...stored, accessToken, refreshToken, expiresAtMs })
    yield* Effect.mapError(deps.sql`UPDATE connections SET oauth = ${sealed} WHERE id = ${id}`, Table.named(operation))
    return true
  },
  (work, deps) => atomically(deps, "ConnectionRepo.updateTokens")(work),
  (work, deps, id) => deps.rows.writing(id)(work)
)

const updateHealth = Effect.fn("ConnectionRepo.updateHealth")(
  ({ rows, sql }: Deps, id: string, health: ConnectionHealth) =>
    encodeHealth(health).pipe(
      Effect.flatMap((columns) => sql`UPDATE connections SET ${sql.update(columns)} WHERE id = ${id} RETURNING 1`),
      Effect.mapBoth({ onFailure: Table.named("ConnectionRepo.updateHealth"), onSuccess: (hits) => hits.length > 0 }),
      rows.writing(id)
    )
)

const remove = Effect.fn("ConnectionRepo.remove")(({ rows, sql, table }: Deps, id: string) =>
  rows.writing(id)(table.remove("ConnectionRepo.remove", sql`id = ${id}`))
)

export const make = Effect.gen(function* () {
  const all = yield* services
  const columns = { ...all, ...columnsOf(all) }
  const rows = RememberedRows.make({
    keyOf: (row: StoredConnection) => row.id,
    all: Effect.map(columns.table.select("ConnectionRepo.list", all.sql`ORDER BY created_at_ms, id`), (found) =>
      found.map((row) => toStored(columns, row))
    ),
    one: (id) => get(columns, id),
    order: (a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1),
    watched: { table: "connections", isKeyed: true }
  })
  const deps: Deps = { ...columns, rows }

  return ConnectionRepo.of({
    list: list(deps),
    get: (id) => get(deps, id),
    insert: (connection) => insert(deps, connection),
    update: (connection) => update(deps, connection),
    updateHealth: (id, health) => updateHealth(deps, id, health),
    updateTokens: (id, replaced, tokens) => updateTokens(deps, id, replaced, tokens),
    remove: (id) => remove(deps, id)
  })
})

export const layer: Layer.Layer<ConnectionRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(
  ConnectionRepo,
  make
)
