import * as SqlClient from "@effect/sql/SqlClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as PluginRepo from "../../../src/subjects/plugins/repo.ts"
import { reposInMemory } from "./fixtures.ts"

const plugin: PluginRepo.NewPlugin = {
  name: "one",
  version: "1.0.0",
  manifest: { name: "one" },
  integrity: "sha256-x",
  source: "local",
  status: "installed",
  granted: ["network"],
  defined: { priority: null, enabled: true, hooks: ["onRequest"], strategies: [] },
  plain: { count: 3 },
  secret: Redacted.make({ key: "the-secret-key" }),
  installedAtMs: 5,
  updatedAtMs: 5,
  lastError: null
}

layer(PluginRepo.layer.pipe(Layer.provideMerge(reposInMemory)))("PluginRepo", (it) => {
  it.effect("keeps plugins with their secret settings encrypted", () =>
    Effect.gen(function* () {
      const repo = yield* PluginRepo.PluginRepo
      const sql = yield* SqlClient.SqlClient
      assert.isTrue(yield* repo.isEmpty)
      yield* repo.insert(plugin)
      assert.strictEqual((yield* Effect.flip(repo.insert(plugin)))._tag, "AlreadyStored")
      assert.deepStrictEqual(yield* repo.get("one"), { ...plugin, locked: false })
      assert.notInclude(JSON.stringify(yield* sql`SELECT * FROM plugins`), "the-secret-key")
      yield* repo.setState("one", { status: "active", granted: [], lastError: "x" }, 9)
      yield* repo.setValues("one", {}, { key: "another" }, 10)
      const changed = yield* repo.get("one")
      assert.deepInclude(changed, { status: "active", granted: [], lastError: "x", plain: {}, updatedAtMs: 10 })
      assert.deepStrictEqual(changed === null ? null : Redacted.value(changed.secret), { key: "another" })
      assert.isTrue(yield* repo.replace({ ...plugin, version: "2.0.0" }))
      assert.isFalse(yield* repo.replace({ ...plugin, name: "two" }))
      assert.isTrue(yield* repo.remove("one"))
      assert.isFalse(yield* repo.remove("one"))
    })
  )

  it.effect("keeps secrets that cannot be read when the rest is replaced", () =>
    Effect.gen(function* () {
      const repo = yield* PluginRepo.PluginRepo
      const sql = yield* SqlClient.SqlClient
      yield* repo.insert(plugin)
      yield* sql`UPDATE plugins SET secrets = 'of another key'`
      const stored = yield* repo.get("one")
      assert.isTrue(stored?.locked)
      yield* repo.replace({ ...plugin, secret: Redacted.make({}) })
      assert.deepStrictEqual(yield* sql`SELECT secrets FROM plugins`, [{ secrets: "of another key" }])
    })
  )
})
