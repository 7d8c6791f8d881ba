import { assert, describe, it } from "@effect/vitest"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Repos from "../../../../src/store/Repos.generated.ts"
import * as Secrets from "../../../../src/store/secrets/Secrets.ts"
import { SettingsRepo } from "../../../../src/subjects/settings/repo.ts"
import { ApiKeyRepo } from "../../../../src/subjects/keys/repo.ts"
import { layerEmpty } from "../../../support/postgres/Schemas.ts"
import { postgresUrl } from "../../../support/postgres/Server.ts"
import { apiKey } from "../fixtures.ts"

const url = await postgresUrl()
console.log(url)
describe("settings over Postgres", () => {
  it.effect("works", () => Effect.gen(function* () {
    const t0 = performance.now()
    const sql = yield* SqlClient.SqlClient
    const settings = yield* SettingsRepo
    yield* settings.set("a", "b", { x: "y\0z" })
    assert.deepStrictEqual(yield* settings.get("a", "b"), { x: "y\0z" })
    const keys = yield* ApiKeyRepo
    yield* keys.insert(apiKey)
    assert.deepStrictEqual(yield* keys.list, [apiKey])
    console.log(performance.now() - t0)
    console.log(yield* sql`select * from config_changes`)
  }).pipe(Effect.provide(Repos.layer.pipe(Layer.provideMerge(Layer.merge(layerEmpty(url ?? ""), Secrets.layerTest))))))
})
