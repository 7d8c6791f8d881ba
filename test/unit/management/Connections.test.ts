import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Connections } from "../../../src/subjects/connections/service.ts"
import { QuotaGroups } from "../../../src/subjects/quotaGroups/service.ts"
import { Catalog } from "../../../src/plane/providers/Catalog.ts"
import { Cooldowns } from "../../../src/plane/resilience/cooldown/Cooldowns.ts"
import { Lockouts } from "../../../src/plane/resilience/lockout/Lockouts.ts"
import { ConnectionRepo } from "../../../src/subjects/connections/repo.ts"
import { fail, hold, key, layerOf, nodeWithConnection } from "./support.ts"

describe("Connections", () => {
  it.scoped("are in the catalogue before the caller is answered", () =>
    Effect.gen(function* () {
      const { connection } = yield* (yield* Connections).create({ provider: "openai", apiKey: key("sk-1") })
      const { byConnection } = (yield* Catalog).current()
      assert.isTrue(byConnection.has(connection.id))
    }).pipe(Effect.provide(layerOf()))
  )

  it.scoped("of a provider that is not known are refused, and nothing is stored", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip((yield* Connections).create({ provider: "nowhere", apiKey: key("sk-1") }))
      assert.strictEqual(error._tag, "InvalidInput")
      assert.deepStrictEqual(yield* (yield* ConnectionRepo).list, [])
    }).pipe(Effect.provide(layerOf()))
  )

  it.scoped("of the environment can be seen, not changed or removed", () =>
    Effect.gen(function* () {
      const connections = yield* Connections
      const [observed] = yield* connections.list
      const { id = "" } = observed?.connection ?? {}
      assert.strictEqual(observed?.connection.source, "env")
      assert.strictEqual((yield* connections.get(id)).connection.provider, "openai")
      assert.strictEqual((yield* Effect.flip(connections.update(id, { name: "mine" })))._tag, "ReadOnly")
      assert.strictEqual((yield* Effect.flip(connections.remove(id)))._tag, "ReadOnly")
      assert.strictEqual((yield* Effect.flip(connections.remove("nobody")))._tag, "EntityNotFound")
    }).pipe(Effect.provide(layerOf({ OPENAI_API_KEY: "sk-environment" })))
  )

  it.scoped("of a node are limited to one while the flag is off", () =>
    Effect.gen(function* () {
      yield* nodeWithConnection("lab")
      const error = yield* Effect.flip((yield* Connections).create({ provider: "lab", apiKey: key("second") }))
      assert.strictEqual(error._tag, "StateConflict")
    }).pipe(Effect.provide(layerOf()))
  )

  it.scoped("keep the health that came in meanwhile, and lose it with their credential", () =>
    Effect.gen(function* () {
      const connections = yield* Connections
      const { connection } = yield* connections.create({ provider: "openai", apiKey: key("sk-1") })
      yield* fail(connection.id)
      yield* hold(connection.provider, connection.id)
      const renamed = yield* connections.update(connection.id, { name: "renamed" })
      assert.strictEqual(renamed.health.testStatus, "expired")
      assert.strictEqual((yield* (yield* ConnectionRepo).get(connection.id))?.testStatus, "expired")
      assert.lengthOf((yield* Lockouts).list(0), 1)
      const rekeyed = yield* connections.update(connection.id, { apiKey: key("sk-2") })
      assert.strictEqual(rekeyed.health.testStatus, "unknown")
      assert.lengthOf((yield* Lockouts).list(0), 0)
    }).pipe(Effect.provide(layerOf()))
  )

  it.scoped("leave their quota groups when they are removed", () =>
    Effect.gen(function* () {
      const connections = yield* Connections
      const groups = yield* QuotaGroups
      const first = yield* connections.create({ provider: "openai", apiKey: key("sk-1") })
      const second = yield* connections.create({ provider: "openai", apiKey: key("sk-2") })
      const members = [first, second].map(({ connection }) => ({ connectionId: connection.id, weight: 1 }))
      const { group } = yield* groups.create({ name: "team", members })
      yield* fail(first.connection.id)
      yield* connections.remove(first.connection.id)
      assert.deepStrictEqual((yield* groups.get(group.id)).group.members, members.slice(1))
      assert.strictEqual((yield* Cooldowns).healthOf(first.connection.id).testStatus, "unknown")
    }).pipe(Effect.provide(layerOf()))
  )

  it.scoped("are checked without asking a provider", () =>
    Effect.gen(function* () {
      const connections = yield* Connections
      const whole = yield* connections.create({ provider: "openai", apiKey: key("sk-1") })
      yield* (yield* ConnectionRepo).insert({ ...whole.connection, id: "orphan", provider: "gone" })
      yield* (yield* Catalog).refresh
      const checked = yield* connections.checkAll({ offline: true })
      assert.deepStrictEqual(
        checked.map(({ connection, problems }) => [connection.connection.id, problems]),
        [
          [whole.connection.id, []],
          ["orphan", ["The provider 'gone' is not known."]]
        ]
      )
    }).pipe(Effect.provide(layerOf()))
  )
})
