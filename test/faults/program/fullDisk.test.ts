/** A disk that is full while a backup is written: nothing half is left, and the gateway serves on. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import * as Program from "../../support/Program.ts"
import * as SmallDisk from "../../support/SmallDisk.ts"
import { isOverPostgres, ofSqlite } from "../../support/postgres/Programs.ts"

const adminKey = "admin-key-of-the-program-tests"
const environment = { GATEWAY_ADMIN_KEY: adminKey }

describe.skipIf(isOverPostgres)(`a backup on a full disk${ofSqlite}`, () => {
  it.scopedLive("is refused with the reason, leaves nothing behind, and the gateway serves on", (context) =>
    Effect.gen(function* () {
      const dataDir = yield* Program.dataFolder
      const folder = join(dataDir, "backups")
      const isMounted = yield* SmallDisk.mounted(folder, 64)
      if (!isMounted) return context.skip("needs a user who may mount a small disk (root)")
      const program = yield* Program.start(environment, dataDir)
      const call = async (method: string, path: string, body?: unknown) => {
        const response = await fetch(program.url + path, {
          method,
          headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
        return { status: response.status, text: await response.text() }
      }
      yield* Effect.promise(async () => {
        assert.strictEqual((await call("POST", "/api/keys", { name: "before" })).status, 201)
        for (const [method, path] of [
          ["PUT", "/api/db-backups"],
          ["GET", "/api/db-backups/export"],
          ["PUT", "/api/db-backups"]
        ] as const) {
          const refused = await call(method, path)
          assert.isAtLeast(refused.status, 500, `${method} ${path}`)
          assert.include(refused.text, "disk is full")
          assert.deepStrictEqual(readdirSync(folder), [])
        }
        assert.strictEqual((await call("POST", "/api/keys", { name: "after" })).status, 201)
        const keys = JSON.parse((await call("GET", "/api/keys")).text).keys
        assert.sameMembers(
          keys.map(({ name }: { readonly name: string }) => name),
          ["before", "after"]
        )
      })
      yield* program.stop
    })
  )
})
