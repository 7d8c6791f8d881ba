/** The layers of the store over Postgres, loaded where the configuration names such a database (`store/Database`). */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import { AppConfig } from "../../platform/AppConfig.ts"
import { Backup, listIn, remove, trimIn } from "../Backup.ts"
import { BackedUpElsewhere, type StoreFailure } from "../Errors.ts"
import { usualOptions } from "../engine/postgres/Client.ts"
import { layerOf } from "./Database.ts"

export { layer as reads } from "../engine/postgres/Reads.ts"

/** Copies are made by the server's own tools. What an earlier database of the data folder has left is still listed. */
const backups: Layer.Layer<Backup, never, AppConfig> = Layer.effect(
  Backup,
  Effect.map(AppConfig, ({ dataDir }) => {
    const refused = Effect.fail(new BackedUpElsewhere({ what: "A backup" }))
    return Backup.of({
      make: () => refused,
      download: refused,
      list: listIn(dataDir),
      remove: ({ path }) => remove(path),
      trim: (reason, keep) => trimIn(dataDir, reason, keep)
    })
  })
)

/** The database and what belongs to it. */
export const database = (url: Redacted.Redacted): Layer.Layer<SqlClient.SqlClient | Backup, StoreFailure, AppConfig> =>
  Layer.merge(layerOf({ url, ...usualOptions }), backups)
