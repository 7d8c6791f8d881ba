/** Installed plugins. Values of their secret settings are encrypted. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { ConfigValue, type ConfigValues, PluginHook, PluginPermission, PluginSource, PluginStatus } from "./entity.ts"
import { Json, MaybeText, Text, Whole } from "../../store/engine/Columns.ts"
import type { AlreadyStored, StoreError } from "../../store/Errors.ts"
import { sealedColumn, SecretText } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as Table from "../../store/engine/Table.ts"

const Values = Schema.Record({ key: Text, value: ConfigValue })

/** Definition by its code when it was installed. */
const Defined = Schema.Struct({
  priority: Schema.NullOr(Schema.Number),
  enabled: Schema.Boolean,
  hooks: Schema.Array(PluginHook),
  strategies: Schema.Array(Text)
})

const Row = Schema.Struct({
  name: Text,
  version: Text,
  manifest: Json(Schema.Unknown),
  integrity: Text,
  source: PluginSource,
  status: PluginStatus,
  granted: Json(Schema.Array(PluginPermission)),
  defined: Json(Defined),
  configValues: Json(Values),
  secrets: MaybeText,
  installedAtMs: Whole,
  updatedAtMs: Whole,
  lastError: MaybeText
})
type Row = typeof Row.Type

export interface StoredPlugin extends Omit<Row, "configValues" | "secrets"> {
  /** Settings that are no secrets. */
  readonly plain: ConfigValues
  /** Secret settings; none where they cannot be decrypted. */
  readonly secret: Redacted.Redacted<ConfigValues>
  /** The secrets cannot be decrypted with the key in use. */
  readonly locked: boolean
}

export type NewPlugin = Omit<StoredPlugin, "locked">

/** Columns that are changed alone, while the rest may change as well. */
export type PluginState = Pick<StoredPlugin, "status" | "granted" | "lastError">

export class PluginRepo extends Context.Tag("gateway/subjects/plugins/PluginRepo")<
  PluginRepo,
  {
    /** Lists by name. */
    readonly list: Effect.Effect<ReadonlyArray<StoredPlugin>, StoreError>
    readonly get: (name: string) => Effect.Effect<StoredPlugin | null, StoreError>
    readonly isEmpty: Effect.Effect<boolean, StoreError>
    readonly insert: (plugin: NewPlugin) => Effect.Effect<void, StoreError | AlreadyStored>
    /** Replaces the row but for secrets that are locked; false when there is none. */
    readonly replace: (plugin: NewPlugin) => Effect.Effect<boolean, StoreError>
    readonly setState: (name: string, state: PluginState, nowMs: number) => Effect.Effect<void, StoreError>
    readonly setValues: (
      name: string,
      plain: ConfigValues,
      secret: ConfigValues,
      nowMs: number
    ) => Effect.Effect<void, StoreError>
    readonly remove: (name: string) => Effect.Effect<boolean, StoreError>
  }
>() {}

const SecretValues = Schema.parseJson(Values)

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const sealing = yield* Secrets
  const table = Table.make(sql, "plugins", Row)
  const secrets = sealedColumn(sealing, "plugins", "secrets", SecretText)
  const encode = Schema.encodeSync(SecretValues)
  const decode = Schema.decodeSync(SecretValues)

  const seal = (name: string, values: ConfigValues): string | null =>
    Object.keys(values).length === 0 ? null : secrets.seal(name, Redacted.make(encode(values)))

  const toPlugin = ({ configValues, secrets: sealed, ...row }: Row): StoredPlugin => {
    const { locked, value } = secrets.open(row.name, sealed)
    return {
      ...row,
      plain: configValues,
      secret: Redacted.make(value === null ? {} : decode(Redacted.value(value))),
      locked
    }
  }

  const toRow = ({ plain, secret, ...plugin }: NewPlugin): Row => ({
    ...plugin,
    configValues: plain,
    secrets: seal(plugin.name, Redacted.value(secret))
  })

  const first = (operation: string, name: string) => table.first(operation, sql`WHERE name = ${name}`)

  return PluginRepo.of({
    list: Effect.map(table.select("PluginRepo.list", sql`ORDER BY name`), (rows) => rows.map(toPlugin)),
    get: Effect.fn("PluginRepo.get")((name: string) =>
      Effect.map(first("PluginRepo.get", name), (row) => (row === null ? null : toPlugin(row)))
    ),
    isEmpty: sql`SELECT 1 FROM plugins LIMIT 1`.pipe(
      Effect.mapBoth({ onFailure: Table.named("PluginRepo.isEmpty"), onSuccess: (rows) => rows.length === 0 })
    ),
    insert: Effect.fn("PluginRepo.insert")((plugin: NewPlugin) => table.insert("PluginRepo.insert", toRow(plugin))),
    replace: Effect.fn("PluginRepo.replace")(function* (plugin: NewPlugin) {
      const before = yield* first("PluginRepo.replace", plugin.name)
      if (before === null) return false
      const row = toRow(plugin)
      const isLocked = secrets.open(plugin.name, before.secrets).locked
      return yield* Effect.catchTag(
        table.update("PluginRepo.replace", sql`name = ${plugin.name}`, {
          ...row,
          secrets: row.secrets === null && isLocked ? before.secrets : row.secrets
        }),
        "AlreadyStored",
        (error) => Effect.die(error)
      )
    }),
    setState: Effect.fn("PluginRepo.setState")((name: string, state: PluginState, nowMs: number) =>
      sql`UPDATE plugins SET ${sql.update({
        status: state.status,
        granted: JSON.stringify(state.granted),
        lastError: state.lastError,
        updatedAtMs: Math.trunc(nowMs)
      })} WHERE name = ${name}`.pipe(Effect.asVoid, Effect.mapError(Table.named("PluginRepo.setState")))
    ),
    setValues: Effect.fn("PluginRepo.setValues")(
      (name: string, plain: ConfigValues, secret: ConfigValues, nowMs: number) =>
        sql`UPDATE plugins SET ${sql.update({
          configValues: JSON.stringify(plain),
          secrets: seal(name, secret),
          updatedAtMs: Math.trunc(nowMs)
        })} WHERE name = ${name}`.pipe(Effect.asVoid, Effect.mapError(Table.named("PluginRepo.setValues")))
    ),
    remove: Effect.fn("PluginRepo.remove")((name: string) => table.remove("PluginRepo.remove", sql`name = ${name}`))
  })
})

export const layer: Layer.Layer<PluginRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(PluginRepo, make)
