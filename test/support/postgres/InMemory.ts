/** The layers that stand in the place of those over SQLite in memory (`inPlace.ts`). Without a server every test of them fails and says so. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reads from "../../../src/store/engine/postgres/Reads.ts"
import { layerEmpty } from "./Schemas.ts"
import { postgresUrl } from "./Server.ts"

export const sql: Layer.Layer<SqlClient.SqlClient> = Layer.unwrapEffect(
  Effect.map(Effect.promise(postgresUrl), (url) =>
    url === null ? Layer.die(new Error("There is no server of Postgres: set TEST_POSTGRES_URL")) : layerEmpty(url)
  )
)

export const reads = Reads.layer
