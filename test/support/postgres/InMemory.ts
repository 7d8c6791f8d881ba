/** The layers that stand in the place of those over SQLite in memory (`inPlace.ts`). Without a server every test of them fails and says so. */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ReadWorker } from "../../../src/store/engine/ReadWorker.ts"
import { layerEmpty } from "./Schemas.ts"
import { postgresUrl } from "./Server.ts"

export const sql: Layer.Layer<SqlClient.SqlClient> = Layer.unwrapEffect(
  Effect.map(Effect.promise(postgresUrl), (url) =>
    url === null ? Layer.die(new Error("There is no server of Postgres: set TEST_POSTGRES_URL")) : layerEmpty(url)
  )
)

/** Imported late: its module imports the one that this layer stands in. */
export const reads: Layer.Layer<ReadWorker, never, SqlClient.SqlClient> = Layer.unwrapEffect(
  Effect.map(
    Effect.promise(() => import("../../../src/store/engine/postgres/Reads.ts")),
    ({ layer }) => layer
  )
)
