import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Connections } from "../../../src/subjects/connections/service.ts"
import { Resilience } from "../../../src/subjects/resilience/service.ts"
import { SettingsChanges } from "../../../src/subjects/settings/service.ts"
import { SystemHealth } from "../../../src/subjects/system/SystemHealth.ts"
import { fail, hold, key, layerOf } from "./support.ts"

const connected = Effect.gen(function* () {
  const connections = yield* Connections
  const first = yield* connections.create({ provider: "openai", name: "first", apiKey: key("sk-1") })
  const second = yield* connections.create({ provider: "openai", name: "second", apiKey: key("sk-2") })
  return [first.connection, second.connection] as const
})

describe("Resilience", () => {
  it.scoped("resets only what is troubled, and counts it", () =>
    Effect.gen(function* () {
      const resilience = yield* Resilience
      const [first, second] = yield* connected
      yield* fail(first.id)
      assert.strictEqual(yield* resilience.clearCooldowns({ connectionId: second.id }), 0)
      assert.strictEqual(yield* resilience.clearCooldowns({ all: true }), 1)
      assert.strictEqual((yield* Effect.flip(resilience.clearCooldowns({})))._tag, "InvalidInput")
      const both = resilience.clearCooldowns({ all: true, connectionId: first.id })
      assert.strictEqual((yield* Effect.flip(both))._tag, "InvalidInput")
      const unknown = yield* Effect.flip(resilience.clearCooldowns({ connectionId: "nobody" }))
      assert.strictEqual(unknown._tag, "EntityNotFound")
    }).pipe(Effect.provide(layerOf()))
  )

  it.scoped("unlocks a model at the connection that is named, by id or name", () =>
    Effect.gen(function* () {
      const resilience = yield* Resilience
      const [first, second] = yield* connected
      yield* hold("openai", first.id)
      yield* hold("openai", second.id)
      const [lock] = yield* resilience.lockouts
      assert.include(["first", "second"], lock?.connection)
      const one = { provider: "openai", model: "m" }
      assert.strictEqual(yield* resilience.clearLockouts({ ...one, connection: "first" }), 1)
      assert.strictEqual(yield* resilience.clearLockouts(one), 1)
      const unknown = yield* Effect.flip(resilience.clearLockouts({ ...one, connection: "nobody" }))
      assert.strictEqual(unknown._tag, "EntityNotFound")
      assert.strictEqual((yield* Effect.flip(resilience.clearLockouts({ provider: "openai" })))._tag, "InvalidInput")
    }).pipe(Effect.provide(layerOf()))
  )

  it.scoped("resets the breakers of providers it knows", () =>
    Effect.gen(function* () {
      const resilience = yield* Resilience
      assert.strictEqual(yield* resilience.resetBreakers("openai"), 0)
      assert.strictEqual((yield* Effect.flip(resilience.resetBreakers("nowhere")))._tag, "InvalidInput")
    }).pipe(Effect.provide(layerOf()))
  )
})

describe("SystemHealth", () => {
  it.scoped("is degraded when no active connection can be used", () =>
    Effect.gen(function* () {
      const health = yield* SystemHealth
      assert.strictEqual((yield* health.report).status, "ok")
      const [first, second] = yield* connected
      yield* fail(first.id)
      assert.strictEqual((yield* health.report).status, "ok")
      yield* (yield* Connections).update(second.id, { isActive: false })
      const { connections, status } = yield* health.report
      assert.strictEqual(status, "degraded")
      assert.deepStrictEqual(connections, { total: 2, available: 0, cooling: 0, terminal: 1, inactive: 1 })
    }).pipe(Effect.provide(layerOf()))
  )
})

describe("SettingsChanges", () => {
  it.scoped("take no leaderboard from an address that may not be called", () =>
    Effect.gen(function* () {
      const { routing } = yield* SettingsChanges
      const error = yield* Effect.flip(routing({ leaderboardUrl: "http://169.254.169.254/scores" }))
      assert.include(error.message, "leaderboardUrl: ")
      const { leaderboardUrl } = yield* routing({ leaderboardUrl: "https://scores.example/v1" })
      assert.strictEqual(leaderboardUrl, "https://scores.example/v1")
    }).pipe(Effect.provide(layerOf()))
  )
})
