import * as SqlClient from "@effect/sql/SqlClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { type StoredTunnel, TunnelRepo } from "../../../src/subjects/tunnels/repo.ts"
import { reposInMemory } from "./fixtures.ts"

const tunnel: StoredTunnel = {
  backend: "token",
  isEnabled: true,
  allowKeyless: false,
  options: { port: 443 },
  secret: Redacted.make("the-authtoken"),
  updatedAtMs: 5
}

layer(reposInMemory)("TunnelRepo", (it) => {
  it.effect("keeps a tunnel of each kind, with its secret encrypted", () =>
    Effect.gen(function* () {
      const repo = yield* TunnelRepo
      const sql = yield* SqlClient.SqlClient
      assert.isNull(yield* repo.get("token"))
      yield* repo.save(tunnel)
      yield* repo.save({ ...tunnel, backend: "mesh", secret: null })
      assert.deepStrictEqual(yield* repo.get("token"), tunnel)
      assert.notInclude(JSON.stringify(yield* sql`SELECT * FROM tunnels`), "the-authtoken")
      yield* repo.save({ ...tunnel, allowKeyless: true, options: {} })
      assert.deepStrictEqual(yield* repo.list, [
        { ...tunnel, backend: "mesh", secret: null },
        { ...tunnel, allowKeyless: true, options: {} }
      ])
    })
  )

  it.effect("keeps what is known of a tunnel that is not to be open any more", () =>
    Effect.gen(function* () {
      const repo = yield* TunnelRepo
      yield* repo.save(tunnel)
      yield* repo.disable("token", 9)
      yield* repo.disable("ssh", 9)
      assert.deepStrictEqual(yield* repo.get("token"), { ...tunnel, isEnabled: false, updatedAtMs: 9 })
      assert.isNull(yield* repo.get("ssh"))
    })
  )
})
