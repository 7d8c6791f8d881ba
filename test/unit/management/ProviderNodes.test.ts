import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Connections } from "../../../src/subjects/connections/service.ts"
import { ProviderNodes } from "../../../src/subjects/nodes/service.ts"
import { ModelLists } from "../../../src/plane/providers/ModelLists.ts"
import { QuotaWindows } from "../../../src/plane/routing/quota/QuotaWindows.ts"
import { noThinkingPrefix } from "../../../src/plane/routing/resolve/ModelIds.ts"
import { ConnectionRepo } from "../../../src/subjects/connections/repo.ts"
import { key, layerOf, learnRates, nodeWithConnection } from "./support.ts"

const input = (prefix: string) =>
  ({ name: prefix, prefix, type: "openai-compatible", baseUrl: "https://models.example/v1" }) as const

describe("ProviderNodes", () => {
  it.scoped("take no prefix that means something else already", () =>
    Effect.gen(function* () {
      const nodes = yield* ProviderNodes
      for (const prefix of ["auto", "Combo", "qtSd", noThinkingPrefix.slice(0, -1)]) {
        assert.strictEqual((yield* Effect.flip(nodes.create(input(prefix))))._tag, "InvalidInput", prefix)
      }
      assert.strictEqual((yield* Effect.flip(nodes.create(input("openai"))))._tag, "StateConflict")
      yield* nodes.create(input("lab"))
      assert.strictEqual((yield* Effect.flip(nodes.create(input("lab"))))._tag, "StateConflict")
    }).pipe(Effect.provide(layerOf()))
  )

  it.scoped("keep their prefix while they have connections", () =>
    Effect.gen(function* () {
      const nodes = yield* ProviderNodes
      const { node } = yield* nodeWithConnection("lab")
      assert.strictEqual((yield* Effect.flip(nodes.update(node.id, { prefix: "desk" })))._tag, "StateConflict")
    }).pipe(Effect.provide(layerOf()))
  )

  it.scoped("forget with a new key what was observed with the former one", () =>
    Effect.gen(function* () {
      const { connection, node } = yield* nodeWithConnection("lab")
      const quotas = yield* QuotaWindows
      yield* learnRates(connection.id)
      assert.isNotEmpty(quotas.rates(connection.id, "m", 0))
      yield* (yield* ProviderNodes).update(node.id, { baseUrl: "https://other.example/v1", apiKey: key("second-key") })
      assert.isEmpty(quotas.rates(connection.id, "m", 0))
    }).pipe(Effect.provide(layerOf()))
  )

  it.scoped("take their connections along, with all that was observed of them", () =>
    Effect.gen(function* () {
      const { connection, node } = yield* nodeWithConnection("lab")
      const quotas = yield* QuotaWindows
      const lists = yield* ModelLists
      yield* learnRates(connection.id)
      yield* lists.failed(connection.id, "https://models.example/v1/models", "no answer")
      yield* (yield* ProviderNodes).remove(node.id)
      assert.isEmpty(yield* (yield* ConnectionRepo).list)
      assert.isEmpty(yield* (yield* Connections).list)
      assert.isEmpty(quotas.rates(connection.id, "m", 0))
      assert.isNull(lists.stateOf(connection.id))
    }).pipe(Effect.provide(layerOf()))
  )
})
