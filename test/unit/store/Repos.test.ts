import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { healthy } from "../../../src/subjects/connections/entity.ts"
import type { AlreadyStored, StoreError } from "../../../src/store/Errors.ts"
import { AliasRepo } from "../../../src/subjects/aliases/repo.ts"
import { ApiKeyRepo } from "../../../src/subjects/keys/repo.ts"
import { ComboRepo } from "../../../src/subjects/combos/repo.ts"
import { ConnectionRepo } from "../../../src/subjects/connections/repo.ts"
import { NodeRepo } from "../../../src/subjects/nodes/repo.ts"
import { type DeclaredModel, ProviderModelRepo } from "../../../src/subjects/models/repo.ts"
import { QuotaGroupRepo } from "../../../src/subjects/quotaGroups/repo.ts"
import type { Session } from "../../../src/subjects/auth/entity.ts"
import { SessionRepo } from "../../../src/subjects/auth/repo.ts"
import { SettingsRepo } from "../../../src/subjects/settings/repo.ts"
import { apiKey, bareConnection, combo, connection, node, reposInMemory } from "./fixtures.ts"
/** What a write collides with. */
const conflictOf = (write: Effect.Effect<unknown, AlreadyStored | StoreError>) =>
  Effect.map(Effect.flip(write), (error) => (error._tag === "AlreadyStored" ? error.what : error.message))

describe("ConnectionRepo", () => {
  it.effect("keeps every field, oldest first", () =>
    Effect.gen(function* () {
      const repo = yield* ConnectionRepo
      yield* repo.insert(bareConnection)
      yield* repo.insert(connection)
      assert.deepStrictEqual(yield* repo.list, [
        { ...connection, locked: false },
        { ...bareConnection, locked: false }
      ])
      const changed = { ...bareConnection, name: "other", models: ["x"], priority: 9, updatedAtMs: 5 }
      assert.isTrue(yield* repo.update(changed))
      assert.deepStrictEqual(yield* repo.get("c2"), { ...changed, locked: false })
      assert.isTrue(yield* repo.remove("c2"))
      assert.isFalse(yield* repo.remove("c2"))
      assert.isNull(yield* repo.get("c2"))
      assert.isFalse(yield* repo.update(changed))
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("writes health without touching the rest", () =>
    Effect.gen(function* () {
      const repo = yield* ConnectionRepo
      yield* repo.insert(connection)
      assert.isTrue(yield* repo.updateHealth("c1", { ...healthy, testStatus: "active", rateLimitedUntilMs: 12.7 }))
      assert.deepStrictEqual(yield* repo.get("c1"), {
        ...connection,
        ...healthy,
        testStatus: "active",
        rateLimitedUntilMs: 12,
        locked: false
      })
      assert.isFalse(yield* repo.updateHealth("nobody", healthy))
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("names a row that no longer fits as a StoreError", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* ConnectionRepo
      yield* repo.insert(connection)
      yield* sql`UPDATE connections SET test_status = 'nonsense'`
      const error = yield* Effect.flip(repo.list)
      assert.strictEqual(error._tag, "StoreError")
      assert.strictEqual(error.operation, "ConnectionRepo.list")
    }).pipe(Effect.provide(reposInMemory))
  )
})

describe("NodeRepo", () => {
  it.effect("keeps every field and one node per prefix", () =>
    Effect.gen(function* () {
      const repo = yield* NodeRepo
      const other = {
        ...node,
        id: "n2",
        prefix: "other",
        headers: null,
        wires: null,
        modelsPath: "/m",
        createdAtMs: 30
      }
      yield* repo.insert(node)
      yield* repo.insert(other)
      assert.deepStrictEqual(yield* repo.list, [
        { ...node, locked: false },
        { ...other, locked: false }
      ])
      assert.strictEqual(yield* conflictOf(repo.insert({ ...node, id: "n3" })), "prefix")
      assert.deepStrictEqual(yield* conflictOf(repo.update({ ...other, prefix: "lab" })), "prefix")
      assert.isTrue(yield* repo.update({ ...other, name: "renamed" }))
      assert.strictEqual((yield* repo.get("n2"))?.name, "renamed")
      assert.isTrue(yield* repo.remove("n2"))
      assert.isNull(yield* repo.get("n2"))
    }).pipe(Effect.provide(reposInMemory))
  )
})

describe("ComboRepo", () => {
  it.effect("keeps every field and one combo per name", () =>
    Effect.gen(function* () {
      const repo = yield* ComboRepo
      yield* repo.insert(combo)
      assert.deepStrictEqual(yield* repo.get("k1"), combo)
      assert.strictEqual(yield* conflictOf(repo.insert({ ...combo, id: "k2" })), "name")
      assert.strictEqual(yield* conflictOf(repo.insert({ ...combo, name: "x" })), "id")
      const changed = { ...combo, strategy: "fusion" as const, targets: [], config: {}, isActive: false }
      assert.isTrue(yield* repo.update(changed))
      assert.deepStrictEqual(yield* repo.list, [changed])
      assert.isTrue(yield* repo.remove("k1"))
      assert.deepStrictEqual(yield* repo.list, [])
    }).pipe(Effect.provide(reposInMemory))
  )
})

describe("AliasRepo", () => {
  it.effect("keeps one meaning per alias", () =>
    Effect.gen(function* () {
      const repo = yield* AliasRepo
      yield* repo.set({ alias: "b", model: "x/1" })
      yield* repo.set({ alias: "a", model: "x/2" })
      yield* repo.set({ alias: "b", model: "x/3" })
      assert.deepStrictEqual(yield* repo.list, [
        { alias: "a", model: "x/2" },
        { alias: "b", model: "x/3" }
      ])
      assert.isTrue(yield* repo.remove("b"))
      assert.isFalse(yield* repo.remove("b"))
    }).pipe(Effect.provide(reposInMemory))
  )
})

describe("QuotaGroupRepo", () => {
  const group = {
    id: "g1",
    name: "team",
    members: [
      { connectionId: "c1", weight: 2.5 },
      { connectionId: "c2", weight: 1 }
    ],
    allocations: [{ apiKeyId: "k1", weight: 3 }],
    restricted: true,
    createdAtMs: 1,
    updatedAtMs: 2
  }

  it.effect("keeps every field and one group per name", () =>
    Effect.gen(function* () {
      const repo = yield* QuotaGroupRepo
      yield* repo.insert(group)
      assert.deepStrictEqual(yield* repo.get("g1"), group)
      assert.strictEqual(yield* conflictOf(repo.insert({ ...group, id: "g2" })), "name")
      const changed = { ...group, name: "crew", allocations: [] }
      assert.isTrue(yield* repo.update(changed))
      assert.deepStrictEqual(yield* repo.list, [changed])
      assert.isTrue(yield* repo.remove("g1"))
      assert.isFalse(yield* repo.remove("g1"))
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("forgets connections and keys that are gone, everywhere", () =>
    Effect.gen(function* () {
      const repo = yield* QuotaGroupRepo
      const other = {
        ...group,
        id: "g2",
        name: "untouched",
        members: [{ connectionId: "c3", weight: 1 }],
        allocations: []
      }
      yield* repo.insert(group)
      yield* repo.insert(other)
      yield* repo.dropConnection("c1")
      yield* repo.dropApiKey("k1")
      assert.deepStrictEqual(yield* repo.list, [
        { ...group, members: [{ connectionId: "c2", weight: 1 }], allocations: [] },
        other
      ])
      yield* repo.dropConnection("c2")
      assert.deepStrictEqual((yield* repo.get("g1"))?.members, [])
    }).pipe(Effect.provide(reposInMemory))
  )
})

describe("ApiKeyRepo", () => {
  it.effect("keeps every field and finds a key by its hash", () =>
    Effect.gen(function* () {
      const repo = yield* ApiKeyRepo
      yield* repo.insert(apiKey)
      assert.deepStrictEqual(yield* repo.byHash(apiKey.hash), apiKey)
      assert.isNull(yield* repo.byHash("0"))
      assert.strictEqual(yield* conflictOf(repo.insert({ ...apiKey, id: "a2" })), "hash")
      const changed = { ...apiKey, allowedModels: null, expiresAtMs: null, scopes: [], isActive: false }
      assert.isTrue(yield* repo.update(changed))
      assert.deepStrictEqual(yield* repo.get("a1"), changed)
      assert.deepStrictEqual(yield* repo.list, [changed])
      assert.isTrue(yield* repo.remove("a1"))
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("notes last use of many keys at once, never backwards", () =>
    Effect.gen(function* () {
      const repo = yield* ApiKeyRepo
      yield* repo.insert(apiKey)
      yield* repo.insert({ ...apiKey, id: "a2", hash: "2" })
      yield* repo.insert({ ...apiKey, id: "a3", hash: "3" })
      yield* repo.touchLastUsed(
        new Map([
          ["a1", 500],
          ["a2", 600],
          ["gone", 1]
        ])
      )
      yield* repo.touchLastUsed(new Map([["a1", 400]]))
      assert.deepStrictEqual(
        (yield* repo.list).map((key) => [key.id, key.lastUsedAtMs]),
        [
          ["a1", 500],
          ["a2", 600],
          ["a3", null]
        ]
      )
    }).pipe(Effect.provide(reposInMemory))
  )
})

describe("SessionRepo", () => {
  it.effect("keeps, renews and ends sessions", () =>
    Effect.gen(function* () {
      const repo = yield* SessionRepo
      const session: Session = {
        idHash: "h1",
        createdAtMs: 1,
        lastSeenAtMs: 2,
        expiresAtMs: 100,
        via: "code",
        address: "127.0.0.1",
        userAgent: "Browser/1",
        userId: null,
        issuerId: "i1"
      }
      yield* repo.insert(session)
      yield* repo.insert({ ...session, idHash: "h2", createdAtMs: 5, expiresAtMs: 200 })
      assert.isTrue(yield* repo.update({ ...session, lastSeenAtMs: 50 }))
      assert.deepStrictEqual(yield* repo.get("h1"), { ...session, lastSeenAtMs: 50 })
      yield* repo.removeExpired(100)
      assert.deepStrictEqual(
        (yield* repo.list).map((found) => found.idHash),
        ["h2"]
      )
      assert.isFalse(yield* repo.remove("h1"))
      yield* repo.removeAll
      assert.deepStrictEqual(yield* repo.list, [])
    }).pipe(Effect.provide(reposInMemory))
  )
})

describe("SettingsRepo", () => {
  it.effect("keeps JSON values by namespace", () =>
    Effect.gen(function* () {
      const repo = yield* SettingsRepo
      const values = new Map<string, unknown>([
        ["__proto__", { a: [1, null, "ü"] }],
        ["text", "a'b\"c"],
        ["zero", 0],
        ["off", false]
      ])
      yield* repo.setAll("pricing", values)
      yield* repo.set("other", "text", 1)
      assert.deepStrictEqual(new Map([...(yield* repo.list("pricing"))].sort()), new Map([...values].sort()))
      yield* repo.set("pricing", "text", { now: "object" })
      assert.deepStrictEqual(yield* repo.get("pricing", "text"), { now: "object" })
      assert.isNull(yield* repo.get("pricing", "missing"))
      assert.isTrue(yield* repo.remove("pricing", "text"))
      assert.isFalse(yield* repo.remove("pricing", "text"))
      assert.strictEqual(yield* repo.clear("pricing"), 3)
      assert.strictEqual(yield* repo.get("other", "text"), 1)
    }).pipe(Effect.provide(reposInMemory))
  )
})

describe("ProviderModelRepo", () => {
  it.effect("keeps declarations by provider and model", () =>
    Effect.gen(function* () {
      const repo = yield* ProviderModelRepo
      const model: DeclaredModel = {
        provider: "openai",
        modelId: "m-1",
        name: "Model One",
        contextLength: 128_000,
        maxOutputTokens: null,
        capabilities: { vision: false, toolCalling: true },
        hidden: true
      }
      yield* repo.insert(model)
      yield* repo.insert({ ...model, provider: "lab" })
      assert.deepStrictEqual(yield* repo.get("openai", "m-1"), model)
      assert.strictEqual(yield* conflictOf(repo.insert(model)), "provider, modelId")
      assert.isTrue(yield* repo.update({ ...model, hidden: false, capabilities: {} }))
      assert.deepStrictEqual(
        (yield* repo.list).map((found) => [found.provider, found.hidden]),
        [
          ["lab", true],
          ["openai", false]
        ]
      )
      assert.isTrue(yield* repo.remove("lab", "m-1"))
      assert.isFalse(yield* repo.remove("lab", "m-1"))
    }).pipe(Effect.provide(reposInMemory))
  )
})
