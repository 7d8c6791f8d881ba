import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Connections } from "../../../src/subjects/connections/service.ts"
import { Keys } from "../../../src/subjects/keys/service.ts"
import { ProviderModels } from "../../../src/subjects/models/service.ts"
import { QuotaGroups } from "../../../src/subjects/quotaGroups/service.ts"
import { key, layerOf } from "./support.ts"

describe("Keys", () => {
  it.scoped("are not made with a time in the past, but end with one", () =>
    Effect.gen(function* () {
      const keys = yield* Keys
      const past = "1970-01-01T00:00:00.000Z"
      const error = yield* Effect.flip(keys.create({ name: "laptop", expiresAt: past }))
      assert.strictEqual(error.message, "expiresAt: must be in the future")
      const { key: made } = yield* keys.create({ name: "laptop" })
      assert.strictEqual((yield* keys.update(made.id, { expiresAt: past })).expiresAtMs, 0)
      assert.isNull((yield* keys.update(made.id, { expiresAt: null })).expiresAtMs)
      assert.strictEqual((yield* Effect.flip(keys.update("nobody", { name: "x" })))._tag, "EntityNotFound")
    }).pipe(Effect.provide(layerOf()))
  )

  it.scoped("leave their quota groups when they are removed, which admits no other key", () =>
    Effect.gen(function* () {
      const groups = yield* QuotaGroups
      const keys = yield* Keys
      const { connection } = yield* (yield* Connections).create({ provider: "openai", apiKey: key("sk-1") })
      const { key: made } = yield* keys.create({ name: "laptop" })
      const members = [{ connectionId: connection.id, weight: 1 }]
      const allocations = [{ apiKeyId: made.id, weight: 1 }]
      const { group } = yield* groups.create({ name: "team", members, allocations })
      assert.isTrue(group.restricted)
      yield* keys.remove(made.id)
      const after = yield* groups.get(group.id)
      assert.isEmpty(after.group.allocations)
      assert.isTrue(after.group.restricted)
    }).pipe(Effect.provide(layerOf()))
  )
})

describe("QuotaGroups", () => {
  it.scoped("name connections and keys that are there, each once", () =>
    Effect.gen(function* () {
      const groups = yield* QuotaGroups
      const { connection } = yield* (yield* Connections).create({ provider: "openai", apiKey: key("sk-1") })
      const member = { connectionId: connection.id, weight: 1 }
      const refusal = (input: Parameters<typeof groups.create>[0]) =>
        Effect.map(Effect.flip(groups.create(input)), ({ message }) => message)
      assert.strictEqual(
        yield* refusal({ name: "team", members: [member, { connectionId: "gone", weight: 1 }] }),
        "members.1.connectionId: there is no such connection"
      )
      assert.strictEqual(
        yield* refusal({ name: "team", members: [member, member] }),
        "members.1.connectionId: is a member already"
      )
      assert.strictEqual(
        yield* refusal({ name: "team", members: [member], allocations: [{ apiKeyId: "gone", weight: 1 }] }),
        "allocations.0.apiKeyId: there is no such API key"
      )
      yield* groups.create({ name: "team", members: [member] })
      assert.strictEqual(yield* refusal({ name: "team", members: [member] }), "There is already a group named 'team'.")
    }).pipe(Effect.provide(layerOf()))
  )
})

describe("ProviderModels", () => {
  it.scoped("are declared anew, or changed where something is given", () =>
    Effect.gen(function* () {
      const models = yield* ProviderModels
      const one = { provider: "openai", modelId: "gpt-x" }
      yield* models.declare({ ...one, name: "X", capabilities: { vision: true } })
      const changed = yield* models.change({ ...one, capabilities: { reasoning: true }, hidden: true })
      assert.deepStrictEqual(changed.capabilities, { vision: true, reasoning: true })
      assert.strictEqual(changed.name, "X")
      const anew = yield* models.declare(one)
      assert.deepStrictEqual([anew.name, anew.capabilities, anew.hidden], [null, {}, false])
      yield* models.remove(one.provider, one.modelId)
      assert.strictEqual((yield* Effect.flip(models.remove("gone", "m")))._tag, "EntityNotFound")
    }).pipe(Effect.provide(layerOf()))
  )
})
